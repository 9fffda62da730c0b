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

/* Splits a target "GPU:MORE": copies the name of the GPU, and returns the text after the colon, or NULL. Features that
   AMD's drivers append, as in "gfx942:sramecc+:xnack-", belong to the name. */
#define SMMA_GPU_TEXT_SIZE 256
const char *smma_split_target(const char *target, char gpu[SMMA_GPU_TEXT_SIZE]);

/* Like smma_find_arch; if there is no such architecture, the error names the nearest one. */
smma_arch_id smma_resolve_arch(const char *gpu_or_arch, smma_error *error);

/* Returns the name of the experiment that shows how a GPU without a model computes, and in `*nearest` the architecture
   through whose instructions it runs. Returns NULL if there is no experiment or the GPU has a model. */
const char *smma_experiment_of_gpu(const char *name, smma_arch_id *nearest);

/* Returns the candidate rules of an architecture's instruction without a model whose name ends with these formats, as
   ".s32.s8.s8" (d, a, b). Returns NULL if the architecture is not known to have one. */
const char *smma_candidates_for_formats(smma_arch_id arch, const char *formats);

/* Returns the instruction of that canonical name or alias, or NULL with an error that states the reason and similar
   names. If a name fits several instructions that all compute the same function, returns the first. */
const smma_instruction *smma_resolve_name(const char *gpu_or_arch, const char *name, smma_error *error);

/* Finds the instruction of that name on every architecture that has it: fills `found` and returns their number. If the
   number is 0, sets the error, which must not be NULL. */
size_t smma_resolve_everywhere(const char *name, const smma_instruction *found[SMMA_ARCH_COUNT], smma_error *error);

/* Returns the first instruction of the catalogue that computes the same function, or NULL. */
const smma_instruction *smma_catalogue_twin(const smma_instruction *instruction);

/* Returns "RNE", "RZ", "RD", "RU" or "RNA" (ties away from zero). */
const char *smma_rounding_name(smma_rounding direction);

/* Returns for example "toward zero". */
const char *smma_rounding_words(smma_rounding direction);

/* Writes for example "RZ-FP32" or "RNE-BF16". */
void smma_rounding_to_text(smma_rounding direction, smma_format format, char *text, size_t size);

/* The first returns the model's name ("T-FDPA"). The second returns name and value of its i-th parameter, in the
   symbols of docs/algorithms, or false past the last. A step of a composition is a parameter: "step1",
   "take:8,join:chain,...". SMMA_PARAMETER_SIZE bytes hold any value. */
enum { SMMA_PARAMETER_SIZE = 1024 };
const char *smma_model_name(const smma_rule *rule);
bool smma_parameter(const smma_rule *rule, int i, const char **name, char *value, size_t size);

/* Describes the rule by its name and parameters: "T-FDPA F=25 L=16". Returns `text`; SMMA_RULE_WORDS_SIZE bytes hold
   any description. */
enum { SMMA_RULE_WORDS_SIZE = 4096 };
const char *smma_rule_words(const smma_rule *rule, char *text, size_t size);

#endif
