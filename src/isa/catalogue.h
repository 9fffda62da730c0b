/* Finding instructions: by architecture or GPU, by name or alias, by formats. */
#ifndef SMMA_ISA_CATALOGUE_H
#define SMMA_ISA_CATALOGUE_H

#include "isa/find.h"
#include "isa/format_name.h"
#include "isa/instruction.h"

/* All instructions, architecture by architecture. NULL past the last. */
size_t smma_catalogue_count(void);
const smma_instruction *smma_catalogue_at(size_t index);

/* smma_find_arch, writing one line with the nearest names if there is none. */
smma_arch_id smma_resolve_arch(const char *gpu_or_arch, char *message, size_t size);

/* Of a GPU without a model: the experiment that asks it how it computes, through instructions of the nearest
   architecture; NULL if there is none, or the GPU has a model. */
const char *smma_experiment_of_gpu(const char *name, smma_arch_id *nearest);

/* The instruction of that canonical name or alias, or NULL with one line (none if `size` is 0) that says why and what
   is near. A name that fits several instructions means the first if they all compute the same function. */
const smma_instruction *smma_resolve_name(const char *gpu_or_arch, const char *name, char *message, size_t size);

/* The instruction of that name on every architecture that has it: fills `found` and returns their number; on 0, one
   line as above. */
size_t smma_resolve_everywhere(const char *name, const smma_instruction *found[SMMA_ARCH_COUNT], char *message,
                               size_t size);

/* The first instruction of the catalogue that computes the same function, or NULL. */
const smma_instruction *smma_catalogue_twin(const smma_instruction *instruction);

/* "RNE", "RZ", "RD", "RU", "RNA" (ties away from zero). */
const char *smma_rounding_name(smma_rounding direction);

/* "toward zero". */
const char *smma_rounding_words(smma_rounding direction);

/* "RZ-FP32", "RNE-BF16". */
void smma_rounding_to_text(smma_rounding direction, smma_format format, char *text, size_t size);

/* The model's name ("T-FDPA") and its parameters in the symbols of docs/algorithms: name and value of the i-th, or
   false past the last. A step of a composition is one: "step1", "take:8,join:chain,...". SMMA_PARAMETER_SIZE bytes hold
   any value. */
enum { SMMA_PARAMETER_SIZE = 1024 };
const char *smma_model_name(const smma_rule *rule);
bool smma_parameter(const smma_rule *rule, int i, const char **name, char *value, size_t size);

/* Describes the rule by both: "T-FDPA F=25 L=16". Returns `text`; SMMA_RULE_WORDS_SIZE bytes hold any. */
enum { SMMA_RULE_WORDS_SIZE = 4096 };
const char *smma_rule_words(const smma_rule *rule, char *text, size_t size);

#endif
