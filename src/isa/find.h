/* Finds an architecture by the name of a GPU, and an instruction by its name or an alias. The single header contains
   this file, alias.c and find.c; therefore they are also valid C++, allocate no memory, and use only string.h of the C
   library. */
#ifndef SMMA_ISA_FIND_H
#define SMMA_ISA_FIND_H

#include <stddef.h>

#include "isa/type.h"

/* Size of the longest name, including its terminating zero. */
#define SMMA_NAME_SIZE 192

/* The name of a GPU, of a compiler target, or of an extension of a CPU. */
typedef struct {
  const char *name;
  smma_arch_id arch;
  const char *prefixes; /* an extension has only instructions whose names have one of these prefixes; else NULL */
} smma_gpu;

/* smma_gpus are the GPUs with a model, in the order of gpus.def. smma_gpus_without_model are the GPUs without a model,
   each with the nearest architecture by generation, in the order of gpus.def, then of unmodelled.def. */
extern const smma_gpu smma_gpus[], smma_gpus_without_model[];
extern const size_t smma_gpu_count, smma_gpu_without_model_count;

/* Calls `visit` with each alias of the instruction until `visit` returns true. Returns whether it did. */
typedef bool smma_alias_visitor(const char *alias, void *context);
bool smma_each_alias(const smma_instruction *instruction, smma_alias_visitor *visit, void *context);

/* Writes the normal form of an instruction's name, in which names are compared: lower case, without blanks, and with
   qualifiers ("kind::f16", "block_scale") moved to the end, so that both orders in use match. Writes at most `size`
   bytes; the form is empty if the name is too long. */
void smma_normal_form(const char *name, char *form, size_t size);

/* How a query fits an instruction. The query may be the instruction's name or one of its aliases, or the beginning of a
   name or alias ("HMMA.16816"). */
typedef enum { SMMA_FITS_NOTHING, SMMA_FITS_BEGINNING, SMMA_FITS_NAME } smma_name_fit;

/* A name to be found. */
typedef struct {
  char form[SMMA_NAME_SIZE]; /* its normal form */
  smma_name_fit fit;         /* the best fit that smma_find_index found */
  bool begins;               /* working memory of smma_name_fit_of */
} smma_query;

/* Returns how the query fits the instruction. */
smma_name_fit smma_name_fit_of(const smma_instruction *instruction, smma_query *query);

/* Finds the first instruction of an architecture that fits the query: by canonical name, otherwise by alias, otherwise
   by the beginning of either. Reports whether there is one. Sets `*index` to its index in the architecture's table, and
   `*ambiguous` to whether another instruction fits equally well and computes a different function. */
bool smma_find_index(smma_arch_id arch, smma_query *query, size_t *index, bool *ambiguous);

/* Writes a GPU's name in the form in which such names are compared: lower case, without blanks, hyphens, underscores
   and a final "TC" or "MC". */
void smma_squeeze(const char *name, char *out, size_t size);

/* Returns the part of a GPU's name after the vendor and brand: "RTX 4090" of "NVIDIA GeForce RTX 4090". */
const char *smma_without_brand(const char *name);

/* Returns the GPU with this name, or NULL. Sets `*has_model` to whether it has a model. Drivers append words to a name
   ("NVIDIA A100-SXM4-80GB", "gfx942:sramecc+"), so words are removed from the end until the name is known. */
const smma_gpu *smma_find_gpu(const char *name, bool *has_model);

/* Returns the architecture with this name, or the architecture of the GPU with this name; SMMA_ARCH_COUNT if there is
   no such architecture, and no such GPU with a model. */
smma_arch_id smma_find_arch(const char *gpu_or_arch);

/* Returns the prefixes of the names of the instructions that an extension of a CPU, such as AMX, has, separated by
   spaces. Returns NULL for any other name, and for NULL: a GPU or architecture has all instructions of its table. */
const char *smma_prefixes_of(const char *gpu_or_arch);

/* Reports whether an instruction's name has one of the prefixes. NULL: true. */
bool smma_has_a_prefix(const char *instruction, const char *prefixes);

/* Reports whether the GPU or architecture has this instruction of its architecture's table. To ask about many, call
   smma_prefixes_of once: the search for the GPU takes some microseconds. */
bool smma_gpu_has(const char *gpu_or_arch, const char *instruction);

#endif
