/* The plans of targets (how a library sums a product around an instruction) and how targets round A and B, as lists
   that a user writes. */
#ifndef SMMA_COMPARE_PLANS_H
#define SMMA_COMPARE_PLANS_H

#include "host/error.h"
#include "softmma/softmma.h"

/* A command line that writes a plan of cuBLASLt, for messages. */
extern const char smma_example_of_cublaslt[];

/* Reports whether the name is that of a plan of cuBLASLt, or begins as one, and is not that of a JSON file. */
bool smma_is_cublaslt(const char *name);

/* Returns the plan of a file, or of a library that needs no further options, or NULL with a message. The caller frees
   it. */
smma_plan *smma_named_plan(const char *text, const smma_instruction *instruction, smma_error *error);

/* The plan of one target. */
typedef struct {
  char text[512];  /* as given; empty if no plans are given */
  smma_plan *plan; /* NULL for one chain of instructions */
} smma_target_plan;

/* Fills the plans of `count` targets. `list` has one plan for all targets, or one plan for each target, separated by
   commas. "none" means one chain of instructions. If `list` is NULL, every target has one chain. If the function fails,
   it frees all plans. */
bool smma_target_plans(const char *list, const smma_instruction *const *instruction, size_t count,
                       smma_target_plan *plans, smma_error *error);

/* Fails if a product of this K cannot follow the plan. */
bool smma_check_target_plan(const smma_target_plan *plan, const smma_instruction *instruction, size_t k,
                            smma_error *error);

/* How a target's A and B are rounded to its instruction's formats. */
typedef struct {
  smma_rounding a, b;
} smma_target_rounding;

/* Sets `rounding` of `count` targets. `list` has one mode for all targets, or one mode for each target, separated by
   commas. If the mode is "default", or if `list` is NULL, smma_operand_rounding returns the mode. */
bool smma_target_roundings(const char *list, const smma_instruction *const *instruction, const smma_target_plan *plans,
                           size_t count, smma_target_rounding *rounding, smma_error *error);

#endif
