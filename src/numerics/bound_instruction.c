/* Chooses the form of an instruction's sum, and bounds the sum by the function for this form. */
#include <math.h>

#include "isa/instruction.h"
#include "numerics/bound.h"
#include "numerics/bound_forms.h"

enum { LANES = SMMA_BOUND_LANES };

/* The form of an instruction's sum (bound_forms.h), with its parameters. */
typedef struct {
  enum { NO_BOUND, BLOCKS, APART, CHAIN, ONE_BY_ONE, PAIRWISE, PAIRS, STEPS } form;
  smma_g_fdpa g;    /* for CHAIN */
  smma_pairs pairs; /* for PAIRS */
} bound_choice;

/* Reports whether the operation is a composition that is G-FDPA, if exponents may also be coarse, in formats whose
   products a double can hold. If so, sets `*g` to its parameters. */
static bool is_chain(const smma_operation *o, smma_g_fdpa *g) {
  smma_composition p;
  if (o->rule.algorithm != SMMA_COMPOSITION || smma_is_integer(o->a) || smma_is_integer(o->b) ||
      smma_is_integer(o->d) || smma_bound_is_wide(o->a) || smma_bound_is_wide(o->b))
    return false;
  p = o->rule.with.composition;
  p.step[0].reference_multiple = 1;
  return smma_is_g_fdpa(&p, o->k, o->d, g);
}

/* Reports whether all products are aligned together and rounded, and then c is added. */
static bool joins_c_last(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  const smma_step *s = &p->step[0], *last = &p->step[1];
  return p->steps == 2 && p->widen == SMMA_NO_FORMAT && p->product_limit == SMMA_NONE && p->scaled_step == 0 &&
         p->product == SMMA_PRODUCT_MULTIPLIED && p->subnormal_a == p->subnormal_b && !smma_bound_is_wide(o->a) &&
         !smma_bound_is_wide(o->b) && !smma_is_integer(o->a) && !smma_is_integer(o->b) && s->take == o->k &&
         s->join == SMMA_JOIN_APART && s->reference == SMMA_NONE && s->width == SMMA_NONE &&
         s->narrow_bits == SMMA_NONE && s->least_reference == SMMA_NONE && s->minus_one_shift == 0 &&
         smma_has_whole_products(p) && smma_aligns_alike(s) && s->overflow == SMMA_SUM_TO_INFINITY &&
         s->output == last->output && s->subnormal_outputs == last->subnormal_outputs &&
         smma_is_exact_step(last, 1, SMMA_JOIN_CHAIN) && last->start == SMMA_START_C;
}

/* Accounts for a subnormal c that the unit reads as zero. */
static void flush_accumulator(const smma_bound_rounding *r, double slack, smma_bound_sum *s) {
  const smma_bound_rounding flush = {.least = r->least, .ulp = 0, .limit = INFINITY, .flushes = true};
  for (int j = 0; j < LANES; j++) smma_bound_round(s, j, slack, &flush);
}

static bound_choice choose_of_composition(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  bound_choice x = {.form = NO_BOUND};
  if (is_chain(o, &x.g)) {
    x.form = CHAIN;
  } else if (smma_is_sum_of_pairs(p, &x.pairs) && o->k % 2 == 0 && !o->scale_block) {
    x.form = PAIRS;
  } else if (joins_c_last(o)) {
    x.form = CHAIN;
    x.g = smma_g_fdpa_of(p);
  } else if (smma_bound_has_exact_sums(o)) {
    x.form = STEPS;
  }
  return x;
}

static bound_choice choose(const smma_operation *o) {
  switch (o->rule.algorithm) {
    case SMMA_FMA:
    case SMMA_FTZ_FMA: return (bound_choice){.form = ONE_BY_ONE};
    case SMMA_FTZ_ADDMUL: return (bound_choice){.form = PAIRWISE};
    case SMMA_FP8_BY_FP16: return (bound_choice){.form = APART};
    case SMMA_COMPOSITION: return choose_of_composition(o);
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_GST_FDPA:
    case SMMA_E_FDPA:
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA:
    case SMMA_INTEGER: return (bound_choice){.form = BLOCKS};
    default: return (bound_choice){.form = NO_BOUND};
  }
}

bool smma_bound_is_known(const smma_operation *o) { return choose(o).form != NO_BOUND; }

bool smma_has_bound(const smma_instruction *instruction) {
  const smma_operation o = smma_operation_of(instruction);
  return smma_bound_is_known(&o);
}

/* Reports whether the rule reads subnormal C as zero. */
static bool flushes_c(const smma_operation *o) {
  const smma_rule *r = &o->rule;
  if (r->algorithm == SMMA_COMPOSITION) return r->with.composition.subnormal_c != SMMA_SUBNORMALS_KEPT;
  return smma_bound_flushes_factors(r) ||
         (r->algorithm == SMMA_C_FDPA && smma_c_fdpa_subnormals(o->d) != SMMA_SUBNORMALS_KEPT);
}

/* Adds the products exactly, because no bound of the unit's sum is known. */
static void add_without_bound(const smma_operation *o, const smma_bound_rounding *rounding, const smma_bound_factor *a,
                              const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  smma_bound_add_one_by_one(o, rounding, a, b, slack, s);
  for (int j = 0; j < LANES; j++) s->below[j] = s->above[j] = INFINITY;
}

void smma_bound_step(const smma_operation *o, const smma_bound_factor *a, const smma_bound_factors *b, double slack,
                     smma_bound_sum *s) {
  const bound_choice x = choose(o);
  const bool flushes = flushes_c(o);
  smma_bound_rounding rounding =
      smma_bound_rounding_to(o->d, o->rule.algorithm == SMMA_FMA ? o->rule.with.fma.rounding : SMMA_ROUND_NEAREST_EVEN);
  if (flushes) flush_accumulator(&rounding, slack, s);
  if (x.form == PAIRS) rounding = smma_bound_rounding_to(x.pairs.output, x.pairs.rounding);
  rounding.flushes = flushes;
  switch (x.form) {
    case NO_BOUND: add_without_bound(o, &rounding, a, b, slack, s); return;
    case BLOCKS: smma_bound_add_blocks(o, NULL, a, b, slack, s); return;
    case APART: smma_bound_add_apart(o, NULL, a, b, slack, &rounding, s); return;
    case CHAIN: smma_bound_add_chain(o, &x.g, a, b, slack, s); return;
    case ONE_BY_ONE: smma_bound_add_one_by_one(o, &rounding, a, b, slack, s); return;
    case PAIRWISE: smma_bound_add_pairwise(o, &rounding, a, b, slack, s); return;
    case PAIRS: smma_bound_add_pairs(o, &x.pairs, &rounding, a, b, slack, s); return;
    case STEPS: smma_bound_add_steps(o, a, b, slack, s); return;
  }
}
