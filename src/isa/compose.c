#include "isa/compose.h"

#include <string.h>

smma_composition smma_no_steps(void) {
  return (smma_composition){.widen = SMMA_NO_FORMAT,
                            .product_limit = SMMA_NONE,
                            .slices_b = 1,
                            .block_rounding = SMMA_ROUND_TOWARD_ZERO,
                            .phases = 1,
                            .zero_product = SMMA_OWN_EXPONENT};
}

static smma_cut cut_at(int bits, smma_rounding rounding, int zero_exponent) {
  smma_cut cut = SMMA_WHOLE_TERMS;
  cut.bits = bits;
  cut.rounding = rounding;
  cut.zero_exponent = zero_exponent;
  return cut;
}

smma_step smma_exact_step(int count, smma_format output) {
  return (smma_step)SMMA_EXACT_STEP(count, output, SMMA_ROUND_NEAREST_EVEN, .join = SMMA_JOIN_APART);
}

/* Returns a step that adds `count` nodes in a chain of blocks of `block` nodes. */
static smma_step chain(int count, int block, smma_start start, smma_format output) {
  smma_step step = smma_exact_step(block, output);
  step.window = count;
  step.join = SMMA_JOIN_CHAIN;
  step.start = start;
  return step;
}

static smma_step truncating_chain(const smma_t_fdpa *p, int count, int block, smma_start start) {
  smma_step step = chain(count, block, start, p->output);
  step.term = step.accumulator = cut_at(p->alignment_bits, SMMA_ROUND_TOWARD_ZERO, p->zero_exponent);
  step.rounding = p->rounding;
  step.zero_sign = SMMA_ZERO_ALWAYS_POSITIVE;
  return step;
}

static void add(smma_composition *to, smma_step step) {
  if (step.join != SMMA_JOIN_CHAIN)
    step.accumulator = step.term; /* without a chain there is no accumulator, so its keys have no effect */
  to->step[to->steps++] = step;
}

/* ---- From an algorithm's parameters to a composition ---- */

static void compose_fp8_by_fp16(const smma_operation *o, smma_composition *to) {
  smma_step step = truncating_chain(&o->rule.with.t_fdpa, o->k, smma_block_of(o), SMMA_START_ZERO);
  to->widen = SMMA_F16;
  step.turn = smma_dealt_products(o);
  add(to, step);
  add(to, chain(1, 1, SMMA_START_C, o->d));
}

/* Composes GST-FDPA. The products of a group are multiples of 2^-fraction and have an exponent of at least 0. */
static void compose_gst_fdpa(const smma_operation *o, smma_composition *to) {
  const smma_gst_fdpa *p = &o->rule.with.gst_fdpa;
  const int fraction = smma_encoding_of(o->a).fraction_bits + smma_encoding_of(o->b).fraction_bits;
  smma_step group = smma_exact_step(p->group, SMMA_NO_FORMAT);
  group.window = o->k;
  group.reference = 0;
  group.term = cut_at(fraction, SMMA_ROUND_TOWARD_ZERO, SMMA_NO_EXPONENT);
  group.zero_sign = SMMA_ZERO_POSITIVE;
  to->scaled_step = 1;
  add(to, group);
  add(to, truncating_chain(&p->fused, o->k / p->group, o->k / p->group, SMMA_START_C));
}

static void compose_e_fdpa(const smma_operation *o, smma_composition *to) {
  smma_step step = chain(o->k, smma_block_of(o), SMMA_START_C, o->d);
  step.zero_sign = SMMA_ZERO_POSITIVE;
  add(to, step);
}

static void compose_ftz_addmul(const smma_operation *o, smma_composition *to) {
  const int pairwise = o->rule.with.ftz_addmul.pairwise;
  smma_step product = smma_exact_step(1, SMMA_F32), pairs = smma_exact_step(2, SMMA_F32);
  smma_step sum = chain(o->k / pairwise, 1, SMMA_START_C, SMMA_F32);
  to->subnormal_a = to->subnormal_b = to->subnormal_c = SMMA_SUBNORMALS_TO_POSITIVE_ZERO;
  product.window = o->k;
  pairs.window = pairwise;
  pairs.join = SMMA_JOIN_TREE;
  product.subnormal_outputs = pairs.subnormal_outputs = sum.subnormal_outputs = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  add(to, product);
  add(to, pairs);
  add(to, sum);
}

static void compose_fma(const smma_operation *o, smma_composition *to) {
  smma_step step = chain(o->k, 1, SMMA_START_C, o->d);
  step.rounding = o->rule.with.fma.rounding;
  step.overflow = smma_is_directed(step.rounding) ? SMMA_SUM_BY_DIRECTION : SMMA_SUM_TO_INFINITY;
  add(to, step);
}

static void compose_ftz_fma(const smma_operation *o, smma_composition *to) {
  smma_step step = chain(o->k, 1, SMMA_START_C, SMMA_F32);
  to->subnormal_a = to->subnormal_b = to->subnormal_c = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  step.descending = 1;
  step.narrow_bits = smma_encoding_of(SMMA_F32).fraction_bits;
  step.narrow_rounding = SMMA_ROUND_NEAREST_EVEN;
  step.narrow_subnormals = 0;
  step.subnormal_outputs = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  step.early_underflow = 1;
  add(to, step);
}

/* Composes TR-FDPA and GTR-FDPA: sums the products among themselves (GTR-FDPA: even and odd products separately), then
   adds c. */
static bool compose_tr_fdpa(const smma_operation *o, smma_composition *to) {
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  const int block = smma_block_of(o), bits = p->sum_bits + (p->revision > 1);
  const bool apart = o->rule.algorithm == SMMA_GTR_FDPA && block > 1;
  smma_step products = smma_exact_step(apart ? block / 2 : block, SMMA_NO_FORMAT), halves = products;
  smma_step sum = chain(o->k / block, 1, SMMA_START_C, SMMA_F32);
  if (apart && block % 2) return false;
  to->product_limit = 128;
  to->limit_joins = p->revision == 1;
  products.term = cut_at(p->alignment_bits, SMMA_ROUND_TOWARD_ZERO, SMMA_NO_EXPONENT);
  products.turn = apart ? 1 : block;
  products.window = block;
  products.zero_sign = SMMA_ZERO_POSITIVE;
  add(to, products);
  if (apart) {
    halves = smma_exact_step(2, SMMA_NO_FORMAT);
    halves.term = cut_at(p->alignment_bits, SMMA_ROUND_DOWN, SMMA_NO_EXPONENT);
    halves.window = 2 * (o->k / block);
    halves.zero_sign = SMMA_ZERO_POSITIVE;
    add(to, halves);
  }
  sum.term = cut_at(bits, SMMA_ROUND_DOWN, SMMA_NO_EXPONENT);
  sum.accumulator = cut_at(p->alignment_bits, SMMA_ROUND_DOWN, SMMA_OWN_EXPONENT);
  if (o->rule.algorithm == SMMA_GTR_FDPA) sum.accumulator.drop = p->alignment_bits + 1;
  if (p->revision > 1) {
    sum.narrow_bits = p->sum_bits;
    sum.narrow_rounding = SMMA_ROUND_DOWN;
  }
  sum.zero_sign = SMMA_ZERO_POSITIVE;
  add(to, sum);
  return true;
}

static void compose_integer(const smma_operation *o, smma_composition *to) {
  smma_step step = chain(o->k, smma_block_of(o), SMMA_START_C, o->d);
  step.turn = smma_dealt_products(o);
  step.reference = 0;
  step.term = step.accumulator = cut_at(0, SMMA_ROUND_TOWARD_ZERO, SMMA_NO_EXPONENT);
  step.width = smma_encoding_of(o->d).bits;
  step.width_overflow = o->rule.with.integer.overflow;
  to->product = o->rule.with.integer.product;
  add(to, step);
}

/* Returns a chain that aligns the accumulator by its leading bit, with p->c_bits bits below it, and rounds the sum to
   the output format; for BF16, first to FP32, then toward zero. */
static smma_step chain_below_c(const smma_operation *o, int count, int take) {
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  const int least = smma_minimum_exponent(smma_encoding_of(p->output));
  smma_step step = chain(count, take, SMMA_START_C, p->output);
  step.stride = p->stride;
  step.term = step.accumulator = cut_at(p->alignment_bits, SMMA_ROUND_TOWARD_ZERO, SMMA_NO_EXPONENT);
  step.accumulator.brings = SMMA_BRINGS_NORMALIZED;
  step.accumulator.offset = p->alignment_bits - p->c_bits;
  step.accumulator.least = least + step.accumulator.offset;
  step.accumulator.zero_exponent = least;
  step.narrow_bits = smma_encoding_of(p->output == SMMA_F16 ? SMMA_F16 : SMMA_F32).fraction_bits;
  step.narrow_rounding = SMMA_ROUND_NEAREST_EVEN;
  if (p->output == SMMA_BF16) step.rounding = SMMA_ROUND_TOWARD_ZERO;
  step.overflow = p->overflow;
  step.zero_sign = SMMA_ZERO_POSITIVE;
  return step;
}

static void compose_c_fdpa(const smma_operation *o, smma_composition *to) {
  smma_step step = chain_below_c(o, o->k, smma_block_of(o));
  to->subnormal_a = smma_c_fdpa_subnormals(o->a);
  to->subnormal_b = smma_c_fdpa_subnormals(o->b);
  to->subnormal_c = smma_c_fdpa_subnormals(o->d);
  step.opposing = SMMA_OPPOSING_COMPLEMENT;
  if (to->subnormal_c != SMMA_SUBNORMALS_KEPT) {
    step.narrow_subnormals = 0;
    step.early_underflow = 1;
    step.subnormal_outputs = SMMA_SUBNORMALS_TO_POSITIVE_ZERO;
  }
  add(to, step);
}

static void compose_gd_fdpa(const smma_operation *o, smma_composition *to) {
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  const int block = smma_block_of(o), group = smma_minimum(p->group, block);
  smma_step groups = smma_exact_step(group, SMMA_NO_FORMAT);
  smma_step sum = chain_below_c(o, o->k / group, block / group);
  groups.window = o->k;
  groups.term = cut_at(p->alignment_bits, SMMA_ROUND_DOWN, SMMA_NO_EXPONENT);
  groups.zero_sign = SMMA_ZERO_POSITIVE;
  sum.term.rounding = sum.accumulator.rounding = SMMA_ROUND_DOWN;
  sum.accumulator.drop = p->c_bits;
  add(to, groups);
  add(to, sum);
}

smma_composition smma_compose_g_fdpa(const smma_g_fdpa *g, int k, smma_format d) {
  const bool last = g->c_joins == SMMA_C_JOINS_LAST;
  smma_composition p = smma_no_steps();
  smma_step step = chain(k, g->block, last ? SMMA_START_ZERO : SMMA_START_C, g->output),
            join = chain(1, 1, SMMA_START_C, d);
  p.subnormal_a = p.subnormal_b = p.subnormal_c = g->subnormal_inputs;
  step.turn = g->interleave;
  step.accumulator = cut_at(g->alignment_bits + g->sticky_bit,
                            g->sticky_bit ? SMMA_ROUND_TO_ODD : g->alignment_rounding, g->zero_exponent);
  step.term = step.accumulator;
  if (g->product_exponent == SMMA_EXPONENT_NORMALIZED) step.term.brings = SMMA_BRINGS_NORMALIZED;
  step.rounding = g->rounding;
  join.rounding = g->c_rounding;
  step.overflow = join.overflow = g->overflow;
  step.subnormal_outputs = join.subnormal_outputs = g->subnormal_outputs;
  step.zero_sign = join.zero_sign = g->zero_sign;
  add(&p, step);
  if (last) add(&p, join);
  return p;
}

bool smma_compose(const smma_operation *o, smma_composition *to) {
  *to = smma_no_steps();
  switch (o->rule.algorithm) {
    case SMMA_FMA: compose_fma(o, to); break;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA: add(to, truncating_chain(&o->rule.with.t_fdpa, o->k, smma_block_of(o), SMMA_START_C)); break;
    case SMMA_GST_FDPA: compose_gst_fdpa(o, to); break;
    case SMMA_E_FDPA: compose_e_fdpa(o, to); break;
    case SMMA_FTZ_ADDMUL: compose_ftz_addmul(o, to); break;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: return compose_tr_fdpa(o, to);
    case SMMA_FP8_BY_FP16: compose_fp8_by_fp16(o, to); break;
    case SMMA_FTZ_FMA: compose_ftz_fma(o, to); break;
    case SMMA_INTEGER: compose_integer(o, to); break;
    case SMMA_C_FDPA: compose_c_fdpa(o, to); break;
    case SMMA_GD_FDPA: compose_gd_fdpa(o, to); break;
    case SMMA_COMPOSITION: *to = o->rule.with.composition; break;
  }
  return true;
}

/* ---- From a composition to the algorithm's parameters ---- */

static smma_t_fdpa truncating_of(const smma_step *s) {
  return (smma_t_fdpa){s->term.bits, s->take, s->term.zero_exponent, s->output, s->rounding};
}

static smma_c_fdpa below_c_of(const smma_composition *p) {
  const smma_step *last = &p->step[p->steps - 1];
  const int group = p->steps > 1 ? p->step[0].take : last->take;
  return (smma_c_fdpa){.alignment_bits = last->term.bits,
                       .c_bits = last->term.bits - last->accumulator.offset,
                       .block = p->steps > 1 ? group * last->take : group,
                       .stride = last->stride,
                       .output = last->output,
                       .overflow = last->overflow,
                       .group = group};
}

static smma_tr_fdpa rounding_down_of(const smma_composition *p) {
  const smma_step *last = &p->step[p->steps - 1];
  const int revision = last->narrow_bits == SMMA_NONE ? 1 : 2;
  return (smma_tr_fdpa){p->step[0].term.bits, last->term.bits - (revision > 1), p->step[0].window, revision};
}

/* Sets the parameters of the rule's algorithm to those that it must have if it composes to these steps. The caller
   checks whether it does. */
static void guess(const smma_composition *p, smma_rule *rule) {
  switch (rule->algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16: rule->with.t_fdpa = truncating_of(&p->step[0]); break;
    case SMMA_GST_FDPA: rule->with.gst_fdpa = (smma_gst_fdpa){p->step[0].take, truncating_of(&p->step[1])}; break;
    case SMMA_E_FDPA: rule->with.e_fdpa.block = p->step[0].take; break;
    case SMMA_FTZ_ADDMUL: rule->with.ftz_addmul.pairwise = p->step[1].window; break;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: rule->with.tr_fdpa = rounding_down_of(p); break;
    case SMMA_INTEGER:
      rule->with.integer.overflow = p->step[0].width_overflow;
      rule->with.integer.product = p->product;
      rule->with.integer.two_stages = p->step[0].take < p->step[0].window;
      break;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: rule->with.c_fdpa = below_c_of(p); break;
    case SMMA_FMA: rule->with.fma.rounding = p->step[0].rounding; break;
    case SMMA_FTZ_FMA:
    case SMMA_COMPOSITION: break;
  }
}

/* Reports whether the algorithm needs scale factors if and only if the operation has them, and supports the operation's
   NaN policy. */
static bool goes_with(smma_algorithm algorithm, const smma_operation *o) {
  const bool needs_scales = algorithm == SMMA_ST_FDPA || algorithm == SMMA_GST_FDPA;
  if ((o->scale_block > 0) != needs_scales) return false;
  if (algorithm == SMMA_FTZ_FMA) return o->rule.nan == SMMA_NAN_OPERAND;
  if (algorithm == SMMA_FMA && o->rule.nan == SMMA_NAN_B_SUM_A) return true;
  return smma_has_one_nan(o->rule.nan) ||
         ((algorithm == SMMA_C_FDPA || algorithm == SMMA_GD_FDPA) && smma_marks_nan(o->rule.nan));
}

static bool are_allowed(const smma_rule *rule) {
  for (const smma_key *key = NULL; (key = smma_next_key(rule->algorithm, key));)
    if (key->of_rule && !smma_key_allows(key, smma_key_of_rule(rule, key))) return false;
  return true;
}

bool smma_recognise(const smma_operation *o, smma_rule *rule) {
  const smma_composition *p = &o->rule.with.composition;
  smma_operation other = *o;
  smma_composition composed;
  for (smma_algorithm algorithm = SMMA_FMA; algorithm < SMMA_COMPOSITION; algorithm++) {
    other.rule = (smma_rule){.algorithm = algorithm, .nan = o->rule.nan};
    guess(p, &other.rule);
    if (!goes_with(algorithm, o) || !are_allowed(&other.rule) || smma_block_of(&other) < 1 ||
        o->k % smma_block_of(&other) || !smma_compose(&other, &composed) || !smma_same_composition(&composed, p))
      continue;
    *rule = other.rule;
    return true;
  }
  return false;
}

/* ---- Steps as data: their numbers of nodes, and the keys that a text must contain ---- */

int smma_composition_nodes(const smma_composition *p, int k, int step) {
  int count = smma_product_nodes(p, k);
  for (const smma_step *s = p->step; s < p->step + step && count > 0; s++) {
    if (s->take < 1 || s->window < 1 || count % s->take) return 0;
    switch (s->join) {
      case SMMA_JOIN_APART: count /= s->take; break;
      case SMMA_JOIN_TREE: count /= s->window; break;
      case SMMA_JOIN_CHAIN: count = s->chains; break;
    }
  }
  return count;
}

bool smma_step_key_is_told(const smma_composition *p, int k, int step, const smma_key *key) {
  const smma_step *s = &p->step[step];
  int otherwise = key->otherwise;
  if (key->member == offsetof(smma_step, window)) otherwise = smma_composition_nodes(p, k, step);
  if (key->like) otherwise = smma_key_of_step(s, smma_find_step_key(key->like, strlen(key->like)));
  return otherwise == SMMA_KEY_REQUIRED || smma_key_of_step(s, key) != otherwise;
}

bool smma_same_composition(const smma_composition *x, const smma_composition *y) {
  if (x->steps != y->steps || x->subnormal_a != y->subnormal_a || x->subnormal_b != y->subnormal_b ||
      x->subnormal_c != y->subnormal_c || x->widen != y->widen || x->product_limit != y->product_limit ||
      x->limit_joins != y->limit_joins || x->scaled_step != y->scaled_step || x->product != y->product ||
      x->slice_a != y->slice_a || x->slice_b != y->slice_b || x->slices_b != y->slices_b ||
      x->block_bits_a != y->block_bits_a || x->block_bits_b != y->block_bits_b ||
      x->block_elements != y->block_elements || x->block_rounding != y->block_rounding ||
      x->first_phase != y->first_phase || x->phases != y->phases || x->zero_product != y->zero_product)
    return false;
  for (int step = 0; step < x->steps; step++)
    for (const smma_key *key = NULL; (key = smma_next_step_key(key));)
      if (smma_key_of_step(&x->step[step], key) != smma_key_of_step(&y->step[step], key)) return false;
  return true;
}
