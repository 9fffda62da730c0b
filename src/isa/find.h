/* Finding an architecture by the name of a GPU, and an instruction by its name or an alias. The single header has this
   file, alias.c and find.c, too: they are also C++, allocate nothing and need of the C library only string.h. */
#ifndef SMMA_ISA_FIND_H
#define SMMA_ISA_FIND_H

#include <stddef.h>

#include "isa/type.h"

/* The longest name, with its ending zero. */
#define SMMA_NAME_SIZE 192

/* The name of a GPU or compiler target, with its architecture. */
typedef struct {
  const char *name;
  smma_arch_id arch;
} smma_gpu;

/* Those that have a model, and those without one, each with the nearest architecture by generation: in the order of
   gpus.def, then of unmodelled.def. */
extern const smma_gpu smma_gpus[], smma_gpus_without_model[];
extern const size_t smma_gpu_count, smma_gpu_without_model_count;

/* Calls `visit` with each alias of the instruction until it returns true; returns whether it did. */
typedef bool smma_alias_visitor(const char *alias, void *context);
bool smma_each_alias(const smma_instruction *instruction, smma_alias_visitor *visit, void *context);

/* The form in which names are compared: lower case, with qualifiers ("kind::f16", "block_scale") moved behind the rest,
   so that both orders in use match. `form` takes at most `size` bytes; it is empty for a name that is too long. */
void smma_normal_form(const char *name, char *form, size_t size);

/* The normal form of a name that is being looked for, whole or as the beginning of one ("HMMA.16816"). */
typedef struct {
  char form[SMMA_NAME_SIZE];
  bool beginning;
} smma_query;

/* Returns whether the query fits the instruction's name or one of its aliases. */
bool smma_answers_to(const smma_instruction *instruction, smma_query *query);

/* Finds the first instruction of an architecture that fits the query: by canonical name, else by alias, else by the
   beginning of either. Returns whether there is one; `*index` is its place in the architecture's table, and
   `*ambiguous` says whether other instructions fit, too, and compute differently. */
bool smma_find_index(smma_arch_id arch, smma_query *query, size_t *index, bool *ambiguous);

/* Writes a GPU's name as names of GPUs are compared: lower case, without blanks, hyphens and underscores. */
void smma_squeeze(const char *name, char *out, size_t size);

/* Returns the name behind a vendor's brand: "NVIDIA GeForce RTX 4090" is "RTX 4090". */
const char *smma_without_brand(const char *name);

/* Returns the GPU of that name, one that has a model or one that has none, or NULL. Drivers print more behind a name
   ("NVIDIA A100-SXM4-80GB", "gfx942:sramecc+"): words are taken away from the end until one is known. */
const smma_gpu *smma_find_gpu(const char *name, bool *has_model);

/* SMMA_ARCH_COUNT if there is no such architecture or GPU. */
smma_arch_id smma_find_arch(const char *gpu_or_arch);

#endif
