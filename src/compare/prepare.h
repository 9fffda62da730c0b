/* Targets made ready for a study: with their plans, rounding modes, and matrices in the formats of their instructions.
 */
#ifndef SMMA_COMPARE_PREPARE_H
#define SMMA_COMPARE_PREPARE_H

#include "compare/plans.h"
#include "compare/target.h"
#include "isa/formats.h"
#include "product/take.h"

/* A target and its matrices. */
typedef struct {
  char label[512];                    /* as given */
  char inputs[SMMA_INPUTS_TEXT_SIZE]; /* formats of A and B */
  const smma_instruction *instruction;
  smma_format rounded; /* format to which D is rounded because no instruction has it; or SMMA_NO_FORMAT */
  smma_target_plan plan;
  smma_target_rounding rounding;
  smma_tensor a, b, c, scale_a, scale_b, bias, d;
  float factor[2]; /* of the tensors A and B (smma_blocks), which multiply the result; 0: not yet computed */
} smma_prepared_target;

typedef struct {
  smma_prepared_target *target;
  size_t count;
  bool has_plans;                                 /* plans are given */
  const smma_notes *notes;                        /* receives notes on conversions */
  smma_product_target product[SMMA_MOST_TARGETS]; /* each target for a study; smma_plan_targets adds the plan */
} smma_prepared_targets;

/* Adds one target. Fails if memory runs out. */
bool smma_add_target(smma_prepared_targets *x, const char *label, const smma_instruction *instruction,
                     smma_error *error);

/* Sets the targets' plans and rounding modes from lists, which may be NULL. */
bool smma_plan_targets(smma_prepared_targets *x, const char *plans, const char *roundings, smma_error *error);

/* Fails if two targets are the same. */
bool smma_refuse_same_targets(const smma_prepared_targets *x, smma_error *error);

/* Fails if a product of this K cannot follow the plan of a target. */
bool smma_check_plans(const smma_prepared_targets *x, size_t k, smma_error *error);

/* Returns the receiver of notes on the conversion of a target's A and B. Returns NULL if an earlier target converts
   them in the same way, so that each note appears once. */
const smma_notes *smma_notes_of_target(const smma_prepared_targets *x, const smma_prepared_target *target);

/* Fails if elements of A or B could have two meanings for a target's instruction (smma_check_meaning), or are encodings
   that the targets would read in several formats. The message about several formats ends with `remedy`. */
bool smma_check_meanings(const smma_prepared_targets *x, const smma_tensor *a, const smma_tensor *b,
                         const char *const path[2], const char *remedy, smma_error *error);

/* Fails if A B is not a product. `of_a` and `of_b` are words after the names of the files, such as " transposed", and
   `hint` ends the message. */
bool smma_check_inner(const smma_tensor *a, const smma_tensor *b, const char *const path[2], const char *of_a,
                      const char *of_b, const char *hint, smma_error *error);

/* Sets a target's A and B from the matrices of files: as stored if the instruction can take them so, otherwise rounded,
   or quantised if the instruction is block-scaled. */
bool smma_convert_operands(const smma_prepared_targets *x, smma_prepared_target *target, const smma_tensor *a,
                           const smma_tensor *b, const char *const path[2], smma_error *error);

/* Computes the tensor factors of a target from the whole matrices, for a study that later quantises only parts of
   them. */
bool smma_find_factors(smma_prepared_target *target, const smma_tensor *a, const smma_tensor *b,
                       const char *const path[2], smma_error *error);

/* Fills `product` of a target with the target's matrices, with `numbers`, and with alpha times the factors. */
void smma_describe_target(smma_prepared_targets *x, size_t target, const smma_gemm_arguments *numbers);

void smma_free_targets(smma_prepared_targets *x);

#endif
