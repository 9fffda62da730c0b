/* What --plan names: the plan of a library's product around an instruction. */
#ifndef SMMA_CLI_PLANS_H
#define SMMA_CLI_PLANS_H

#include "cli/cli.h"

/* A file, or the name of a library whose plan needs nothing else. Ends the program with one line if there is no such
   thing; the caller frees it. */
smma_plan *smma_require_plan(const char *text, const smma_instruction *instruction);

/* One of a list of targets' plans. */
typedef struct {
  char text[512];  /* as given; empty without --plan */
  smma_plan *plan; /* NULL: one chain */
} smma_target_plan;

/* The plans of `count` targets: `list` is one for all of them, or one for each, between commas; "none" is one chain,
   and so are all without a list (NULL). Ends the program with one line. */
void smma_require_plans(const char *list, const smma_instruction *const *instruction, size_t count,
                        smma_target_plan *plans);

/* Ends the program with one line if two targets have one name, instruction and plan. */
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

/* A row of a command's table of options. */
#define SMMA_ROUND_IN_OPTION(text, argument)                                                               \
  {                                                                                                        \
    "round-in", 0, POPT_ARG_STRING, text, 0,                                                               \
        "how A and B are rounded to the unit's formats: nearest-even, nearest-away, toward-zero, "         \
        "toward-negative, toward-positive; default (without it): as the plan or the unit's library, tf32 " \
        "nearest-away (Hopper nearest-even, XF32 of AMD toward-zero), other formats nearest-even",         \
        argument                                                                                           \
  }

/* Sets `rounding` of `count` targets from --round-in: `list` is one mode for all of them, or one for each, between
   commas; without a list (NULL), and for "default", smma_operand_rounding decides. Ends the program with one line. */
void smma_require_roundings(const char *list, const smma_instruction *const *instruction, const smma_target_plan *plans,
                            size_t count, smma_target_rounding *rounding);

/* Ends the program with one line if a product of this K cannot follow the plan. */
void smma_check_plan(const smma_target_plan *plan, const smma_instruction *instruction, size_t k);

/* Ends the program with one line: the plan has no place for what an option gives, and what to write into it. */
_Noreturn void smma_die_no_place(const char *option, const char *plan);

#endif
