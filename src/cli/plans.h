/* The plans of --plan (how a library sums a product around an instruction) and the modes of --round-in. */
#ifndef SMMA_CLI_PLANS_H
#define SMMA_CLI_PLANS_H

#include "cli/cli.h"

/* Returns the plan of a file, or of a library that --plan can name without further options. Ends the program with one
   line if the plan does not exist. The caller frees it. */
smma_plan *smma_require_plan(const char *text, const smma_instruction *instruction);

/* The plan of one target. */
typedef struct {
  char text[512];  /* as given; empty if --plan is not given */
  smma_plan *plan; /* NULL for one chain of instructions */
} smma_target_plan;

/* Fills the plans of `count` targets. `list` has one plan for all targets, or one for each, separated by commas. "none"
   is one chain of instructions, and so is every plan if `list` is NULL. On an error, ends the program with one line. */
void smma_require_plans(const char *list, const smma_instruction *const *instruction, size_t count,
                        smma_target_plan *plans);

/* Ends the program with one line if two targets have the same name, instruction and plan. */
void smma_refuse_same_target(const char *label, const smma_instruction *instruction, const smma_target_plan *plan,
                             const char *other_label, const smma_instruction *other_instruction,
                             const smma_target_plan *other_plan);

/* How a target's A and B are rounded to its instruction's formats. */
typedef struct {
  smma_rounding a, b;
} smma_target_rounding;

static inline bool smma_same_rounding(smma_target_rounding x, smma_target_rounding y) {
  return x.a == y.a && x.b == y.b;
}

/* An entry for a command's table of options. */
#define SMMA_ROUND_IN_OPTION(text, argument)                                                                        \
  {                                                                                                                 \
    "round-in", 0, POPT_ARG_STRING, text, 0,                                                                        \
        "how A and B are rounded to the instruction's formats: nearest-even, nearest-away, toward-zero, "           \
        "toward-negative, toward-positive, or default, the plan's or the library's way: nearest-away for tf32 (on " \
        "Hopper nearest-even), toward-zero for XF32 of AMD, nearest-even for other formats (default: default)",     \
        argument                                                                                                    \
  }

/* Sets `rounding` of `count` targets from --round-in. `list` has one mode for all targets, or one for each, separated
   by commas. If it is NULL, and for "default", smma_operand_rounding decides. On an error, ends the program with one
   line. */
void smma_require_roundings(const char *list, const smma_instruction *const *instruction, const smma_target_plan *plans,
                            size_t count, smma_target_rounding *rounding);

/* Ends the program with one line if a product of this K cannot follow the plan. */
void smma_check_plan(const smma_target_plan *plan, const smma_instruction *instruction, size_t k);

/* Ends the program with one line: the plan cannot use the value of the option, and what to add to the plan. */
_Noreturn void smma_die_no_place(const char *option, const char *plan);

#endif
