/* Finds instructions: by architecture or GPU, by name or alias, by formats. */
#ifndef SMMA_ISA_CATALOGUE_H
#define SMMA_ISA_CATALOGUE_H

#include "isa/find.h"
#include "isa/format_name.h"
#include "isa/instruction.h"
#include "softmma/status.h"

/* smma_catalogue_count returns the number of instructions of all architectures. smma_catalogue_at returns one of them,
   in the order of architectures, or NULL if the index is too large. */
size_t smma_catalogue_count(void);
const smma_instruction *smma_catalogue_at(size_t index);

/* Splits a target "GPU:MORE": copies the name of the GPU to `gpu`, and returns the text after the colon, or NULL if
   there is no colon. Features that AMD's drivers append, as in "gfx942:sramecc+:xnack-", belong to the GPU's name. */
#define SMMA_GPU_TEXT_SIZE 256
const char *smma_split_target(const char *target, char gpu[SMMA_GPU_TEXT_SIZE]);

/* Works like smma_find_arch; if there is no such architecture or GPU, also sets the error, which names the nearest
   names or says why there is no model. */
smma_arch_id smma_resolve_arch(const char *gpu_or_arch, smma_error *error);

/* Returns the name of the experiment that shows how a GPU without a model computes, and sets `*nearest` to the
   architecture whose instructions the experiment uses. Returns NULL if there is no experiment or the GPU has a
   model. */
const char *smma_experiment_of_gpu(const char *name, smma_arch_id *nearest);

/* Returns a text with the candidate rules for an instruction that the architecture has but that has no model. `formats`
   are the formats of d, a and b that end the instruction's name, as in ".s32.s8.s8". Returns NULL if no such
   instruction is known. */
const char *smma_candidates_for_formats(smma_arch_id arch, const char *formats);

/* Returns the instruction with this canonical name or alias, or NULL with an error that states the reason and similar
   names. If a name fits several instructions that all compute the same function, returns the first. */
const smma_instruction *smma_resolve_name(const char *gpu_or_arch, const char *name, smma_error *error);

/* Finds the instruction with this name on every architecture that has one: fills `found` and returns the number of
   instructions. If the number is 0, sets the error, which must not be NULL. */
size_t smma_resolve_everywhere(const char *name, const smma_instruction *found[SMMA_ARCH_COUNT], smma_error *error);

/* Returns the first instruction of the catalogue that computes the same function as this one, or NULL. */
const smma_instruction *smma_catalogue_twin(const smma_instruction *instruction);

/* Returns the short name of a rounding mode: "RNE", "RZ", "RD", "RU", "RNA" (ties away from zero) or others. */
const char *smma_rounding_name(smma_rounding direction);

/* Returns a rounding mode in words, for example "toward zero". */
const char *smma_rounding_words(smma_rounding direction);

/* Writes a rounding mode and the format to which it rounds, for example "RZ-FP32" or "RNE-BF16". */
void smma_rounding_to_text(smma_rounding direction, smma_format format, char *text, size_t size);

/* Enough bytes for the value of any parameter. */
enum { SMMA_PARAMETER_SIZE = 1024 };

/* smma_model_name returns the name of the rule's algorithm, for example "T-FDPA". smma_parameter sets name and value of
   parameter i, in the symbols of docs/algorithms; it returns false past the last parameter. A step of a composition is
   a parameter: "step1", "take:8,join:chain,...". */
const char *smma_model_name(const smma_rule *rule);
bool smma_parameter(const smma_rule *rule, int i, const char **name, char *value, size_t size);

/* Enough bytes for the description of any rule. */
enum { SMMA_RULE_WORDS_SIZE = 4096 };

/* Describes the rule by its algorithm's name and its parameters: "T-FDPA F=25 L=16". Returns `text`. */
const char *smma_rule_words(const smma_rule *rule, char *text, size_t size);

#endif
