/* The targets of a command that takes several, with their plans and each target's own matrices. */
#ifndef SMMA_CLI_TARGETS_H
#define SMMA_CLI_TARGETS_H

#include "cli/matrices.h"
#include "cli/plans.h"
#include "cli/target.h"
#include "compare/target.h"

/* A target and its matrices, in the formats of its instruction. */
typedef struct {
  char label[512];                         /* as given */
  char inputs[SMMA_INPUTS_TEXT_SIZE];      /* formats of A and B */
  char shown[SMMA_INPUTS_TEXT_SIZE + 520]; /* the formats, with the plan and the rounding mode if given */
  const smma_instruction *instruction;
  smma_format rounded; /* D is rounded to it, because no instruction has it (smma_choice); or SMMA_NO_FORMAT */
  smma_target_plan plan;
  smma_target_rounding rounding;
  smma_tensor a, b, c, scale_a, scale_b, bias, d;
  float factor[2]; /* of the tensors A and B (smma_blocks), which multiply the result; 0: not yet computed */
} smma_command_target;

typedef struct {
  smma_command_target *target;
  size_t count;
  bool has_plans;                                 /* --plan was given */
  smma_product_target product[SMMA_MOST_TARGETS]; /* each target for a study; smma_plan_targets adds the plan */
} smma_command_targets;

/* Adds the targets of --on, whose names are separated by commas. Ends the program with one line if there are none or
   more than `most`. */
void smma_require_targets(smma_command_targets *x, const char *list, size_t most, const smma_choice *choice);

/* Takes the formats and instructions out of the labels: for a command that shows them beside the labels. */
void smma_label_by_gpu(smma_command_targets *x);

/* Adds one target. */
void smma_add_target(smma_command_targets *x, const char *label, const smma_instruction *instruction);

/* Sets the targets' plans from --plan and their rounding modes from --round-in. A list may be NULL. */
void smma_plan_targets(smma_command_targets *x, const char *plans, const char *roundings);

/* Ends the program with one line if two targets are the same. */
void smma_refuse_same_targets(const smma_command_targets *x);

/* Ends the program with one line if a target cannot use what the options give: members of `given` that differ from
   their defaults, and pointers that are not NULL. */
void smma_check_places(const smma_command_targets *x, const smma_gemm_arguments *given, const char *option_of_c);

/* Ends the program with one line if a product of this K cannot follow the plan of a target. */
void smma_check_plans(const smma_command_targets *x, size_t k);

/* Reports whether an earlier target rounds A and B in the same way, so that the note has been printed. */
bool smma_is_rounding_noted(const smma_command_targets *x, const smma_command_target *target);

/* Sets a target's A and B from the matrices of files: as stored if the instruction can take them so, otherwise rounded,
   or quantised if the instruction is block-scaled. */
void smma_convert_operands(const smma_command_targets *x, smma_command_target *target, const smma_tensor *a,
                           const smma_tensor *b, const char *const path[2]);

/* Sets the factors of a target whose matrices will be quantised, from the whole matrices: for a command that then
   quantises parts of them. */
void smma_find_factors(smma_command_target *target, const smma_tensor *a, const smma_tensor *b,
                       const char *const path[2]);

/* Fills `product` of a target with the target's matrices, with `numbers`, and with alpha times the factors. */
void smma_describe_target(smma_command_targets *x, size_t target, const smma_gemm_arguments *numbers);

void smma_free_targets(smma_command_targets *x);

#endif
