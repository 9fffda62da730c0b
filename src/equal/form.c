#include "equal/form.h"

#include <math.h>

#include "isa/compose.h"

/* Range of all finite nonzero terms of one kind: the exponents that they bring to alignment, and the exponent of the
   last bit. */
typedef struct {
  int least, greatest, last;
} reach;

static reach reach_of(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const int least = smma_minimum_exponent(f);
  return (reach){least, (int)(smma_largest_fields(f) >> f.fraction_bits) - f.bias, least - f.fraction_bits};
}

static int least_of(int x, int y) { return x < y ? x : y; }

static reach product_of(reach x, reach y) {
  return (reach){x.least + y.least, x.greatest + y.greatest, x.last + y.last};
}

static reach joined(reach x, reach y) {
  return (reach){least_of(x.least, y.least), smma_maximum(x.greatest, y.greatest), least_of(x.last, y.last)};
}

/* Returns the range of products, scaled if the operation has scale factors. A normalised product is below 2^4 times
   the powers of two of its factors. */
static reach reach_of_products(const smma_operation *o, bool normalized) {
  reach r = product_of(reach_of(o->a), reach_of(o->b));
  if (o->scale_block) r = product_of(r, product_of(reach_of(o->scale), reach_of(o->scale)));
  if (normalized) r = (reach){r.last, r.greatest + 3, r.last};
  return r;
}

/* Returns the range of sums, which are encodings of d, and of c if it is a term. */
static reach reach_of_sums(const smma_operation *o, smma_format output, bool with_c) {
  const reach d = reach_of(o->d), sum = reach_of(output), c = reach_of(o->c);
  return (reach){d.least, d.greatest, with_c ? least_of(sum.last, c.last) : sum.last};
}

/* ---- Chains ---- */

/* Reports whether the operation is G-FDPA, and fills `g` with its parameters if it is. */
static bool as_chain(const smma_operation *o, smma_g_fdpa *g) {
  smma_composition p;
  const bool same_nan = smma_has_one_nan(o->rule.nan) || o->rule.nan == SMMA_NAN_B_SUM_A;
  if (smma_is_fixed_point(o->a) || smma_is_fixed_point(o->b) || smma_is_integer(o->d) || !same_nan) return false;
  if (!smma_compose(o, &p) || !smma_is_g_fdpa(&p, o->k, o->d, g)) return false;
  if (o->k == g->block) g->interleave = g->block;
  return true;
}

int smma_last_bit_of_products(const smma_operation *o) { return reach_of_products(o, false).last; }

int smma_last_bit_of_sums(const smma_operation *o) {
  const smma_algorithm algorithm = o->rule.algorithm;
  smma_format output = o->d;
  smma_g_fdpa g;
  if (as_chain(o, &g)) output = g.output;
  if (algorithm == SMMA_FP8_BY_FP16) output = o->rule.with.t_fdpa.output;
  if (algorithm == SMMA_GST_FDPA) output = o->rule.with.gst_fdpa.fused.output;
  if (algorithm == SMMA_C_FDPA || algorithm == SMMA_GD_FDPA) output = o->rule.with.c_fdpa.output;
  return reach_of_sums(o, output, true).last;
}

/* Returns the range of all terms of a block. */
static reach reach_of_terms(const smma_operation *o, const smma_g_fdpa *g) {
  return joined(reach_of_products(o, g->product_exponent == SMMA_EXPONENT_NORMALIZED),
                reach_of_sums(o, g->output, g->c_joins == SMMA_C_JOINS_FIRST));
}

/* Reports whether no sum of a block rounds to zero: all terms are multiples of the least result, either as operands
   or after alignment. */
static bool general_rounds_to_no_zero(const smma_operation *o, const smma_g_fdpa *g) {
  const reach terms = reach_of_terms(o, g);
  const int last = reach_of(g->output).last;
  const bool finite = g->alignment_bits != SMMA_EXACT_ALIGNMENT;
  return terms.last >= last || (finite && terms.least - g->alignment_bits - g->sticky_bit >= last);
}

/* Removes the zero exponent from the form if it has no effect. It has one only if it can be the greatest exponent and
   then truncates bits of other terms. */
static void leave_out_zero_exponent(reach terms, smma_form *form) {
  smma_g_fdpa *g = &form->chain;
  if (g->zero_exponent == SMMA_NO_EXPONENT) return;
  form->zero_is_least = g->zero_exponent <= terms.least;
  form->zero_without_bits = g->zero_exponent - g->alignment_bits <= terms.last;
  if (form->zero_is_least || form->zero_without_bits) g->zero_exponent = SMMA_NO_EXPONENT;
}

/* Makes the alignment exact in the form if even the greatest possible exponent truncates no bit. */
static void leave_out_alignment(reach terms, smma_form *form) {
  smma_g_fdpa *g = &form->chain;
  if (g->alignment_bits == SMMA_EXACT_ALIGNMENT) return;
  form->exact = smma_maximum(terms.greatest, g->zero_exponent) - g->alignment_bits <= terms.last;
  if (!form->exact) return;
  g->alignment_bits = SMMA_EXACT_ALIGNMENT;
  g->alignment_rounding = SMMA_ROUND_TOWARD_ZERO;
  g->sticky_bit = 0;
  g->product_exponent = SMMA_EXPONENT_OF_FACTORS;
  g->zero_exponent = SMMA_NO_EXPONENT;
}

/* Reports whether the ends of instructions cannot be observed. They can if c is added after the sum, if blocks take
   k in turns over the instruction, or if c is read differently from a block's result. */
static bool general_is_chained(const smma_g_fdpa *g) {
  const bool in_order = g->interleave == g->block, first = g->c_joins == SMMA_C_JOINS_FIRST;
  const bool c_as_it_is = g->subnormal_inputs == SMMA_SUBNORMALS_KEPT || g->subnormal_inputs == g->subnormal_outputs;
  return in_order && first && c_as_it_is;
}

/* ---- Other rules ---- */

enum { FTZ_LEAST_LAST_BIT = -102 };

/* Reports whether FTZ-AddMul never produces a sum of -0 between instructions; each instruction reads c = -0 as +0.
   The condition is that no sum is subnormal before it is flushed. If all products are multiples of 2^p, p >= -102,
   then d + s is zero, or d is less than half of |s| >= 2^p, or d and therefore the sum is a multiple of 2^(p - 24)
   >= 2^-126. */
static bool flushes_no_sum(const smma_operation *o) { return smma_last_bit_of_products(o) >= FTZ_LEAST_LAST_BIT; }

static bool is_unsigned(smma_format format) { return smma_is_integer(format) && !smma_encoding_of(format).sign_bits; }

/* Reports whether sums that are clamped once and sums that are clamped after every step are the same. This is so if
   sums wrap, and if no product is negative, because sums then only grow. */
static bool clamps_alike(const smma_operation *o) {
  return o->rule.with.integer.overflow == SMMA_INTEGER_WRAPS || (is_unsigned(o->a) && is_unsigned(o->b));
}

/* Reports whether the ends of instructions cannot be observed; then sets `*step` to a step of the chain. */
static bool is_chained(const smma_operation *o, int *step) {
  switch (o->rule.algorithm) {
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: *step = smma_block_of(o); return true;
    case SMMA_FTZ_ADDMUL: *step = o->rule.with.ftz_addmul.pairwise; return flushes_no_sum(o);
    case SMMA_INTEGER: *step = 1; return clamps_alike(o);
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: *step = smma_block_of(o); return o->rule.with.c_fdpa.stride == 1;
    default: break;
  }
  return false;
}

static void set_block(smma_rule *r, int block) {
  if (r->algorithm == SMMA_FP8_BY_FP16) r->with.t_fdpa.block = block;
  if (r->algorithm == SMMA_TR_FDPA || r->algorithm == SMMA_GTR_FDPA) r->with.tr_fdpa.block = block;
  if (r->algorithm == SMMA_C_FDPA || r->algorithm == SMMA_GD_FDPA) {
    r->with.c_fdpa.block = block;
    r->with.c_fdpa.group = smma_minimum(r->with.c_fdpa.group, block);
  }
}

smma_form smma_form_of(const smma_operation *o) {
  smma_form form = {.rule = o->rule};
  if (o->rule.nan != SMMA_NAN_NUMBERS) form.rule.nan = SMMA_NAN_QUIET;
  if (smma_any_order(o)) form.rule.with.integer.two_stages = 0;
  form.is_chain = as_chain(o, &form.chain);
  form.block = form.is_chain ? form.chain.block : smma_block_of(o);
  if (!form.is_chain) {
    set_block(&form.rule, smma_block_of(o));
    form.chained = is_chained(o, &form.step);
    if (!form.chained) form.step = o->k;
    return form;
  }
  const reach terms = reach_of_terms(o, &form.chain);
  form.chained = general_is_chained(&form.chain);
  form.step = form.chained ? form.chain.block : o->k;
  leave_out_zero_exponent(terms, &form);
  if (form.chain.zero_sign == SMMA_ZERO_ALWAYS_POSITIVE && general_rounds_to_no_zero(o, &form.chain))
    form.chain.zero_sign = SMMA_ZERO_POSITIVE;
  leave_out_alignment(terms, &form);
  return form;
}

bool smma_same_form(const smma_form *x, const smma_form *y) {
  if (x->step != y->step || x->is_chain != y->is_chain) return false;
  if (!x->is_chain) return smma_same_rule(&x->rule, &y->rule);
  for (const smma_key *key = NULL; (key = smma_next_key(SMMA_KEYS_OF_G_FDPA, key));)
    if (key->of_chain && smma_key_of_chain(&x->chain, key) != smma_key_of_chain(&y->chain, key)) return false;
  return true;
}

bool smma_same_nan(smma_nan_policy x, smma_nan_policy y) {
  const bool numbers = x == SMMA_NAN_NUMBERS || y == SMMA_NAN_NUMBERS;
  return x == y || (!numbers && (x == SMMA_NAN_QUIET || y == SMMA_NAN_QUIET));
}

/* ---- Zeros after the last product ---- */

/* Reports whether alignment leaves a sum unchanged when only zeros are added: the sum's own exponent, or the
   exponent that zeros bring, keeps all of its bits. */
static bool alignment_keeps_sums(const smma_operation *o, const smma_g_fdpa *g) {
  const reach sum = reach_of_sums(o, g->output, false);
  if (g->alignment_bits == SMMA_EXACT_ALIGNMENT) return true;
  return g->alignment_bits >= smma_encoding_of(g->output).fraction_bits &&
         (g->zero_exponent <= sum.least || g->zero_exponent - g->alignment_bits <= sum.last);
}

/* Reports whether a sum of zeros of both signs, or an exact zero of other terms, is +0; by IEEE 754, a sum of zeros is
   -0 only if all are -0. `began_off`: the sum does not start from -0. */
static bool exact_zero_is_positive(const smma_g_fdpa *g, bool began_off) {
  return g->zero_sign != SMMA_ZERO_IEEE || (began_off && g->rounding != SMMA_ROUND_DOWN);
}

static bool general_has_no_negative_zero(const smma_operation *o, const smma_g_fdpa *g, bool began_off) {
  return g->zero_sign == SMMA_ZERO_ALWAYS_POSITIVE ||
         (exact_zero_is_positive(g, began_off) && general_rounds_to_no_zero(o, g));
}

static bool general_joins_plainly(const smma_g_fdpa *g) {
  return g->c_joins == SMMA_C_JOINS_FIRST && g->interleave == g->block && g->subnormal_inputs == SMMA_SUBNORMALS_KEPT &&
         g->subnormal_outputs == SMMA_SUBNORMALS_KEPT;
}

static bool general_keeps_sums(const smma_operation *o, const smma_g_fdpa *g) {
  return general_joins_plainly(g) && alignment_keeps_sums(o, g) && general_has_no_negative_zero(o, g, false);
}

/* Reports whether adding zeros keeps sums of TR-FDPA and GTR-FDPA: c keeps its 23 fraction bits, and sums of products
   are no smaller than 2^(e - F2 - 1). */
static bool tr_keeps_sums(const smma_operation *o) {
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  return p->alignment_bits >= 23 && reach_of_products(o, false).least - p->sum_bits - 1 >= reach_of(SMMA_F32).last;
}

/* Reports whether adding zeros keeps sums of GD-FDPA: the previous sum keeps its fraction bits, and is not -0, as the
   upper half of a negative FP32 number may be. Does not hold for C-FDPA, where zeros may oppose the sum. */
static bool gd_keeps_sums(const smma_operation *o) {
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  return p->output != SMMA_BF16 && p->c_bits >= smma_encoding_of(p->output).fraction_bits;
}

/* Reports whether a sum that overflows becomes a NaN. If the sum is negative, this NaN has a sign; the NaN of the next
   step does not. */
static bool overflows_to_nan(const smma_operation *o) {
  return smma_encoding_of(o->d).specials == SMMA_SPECIALS_ONE_NAN && o->rule.nan != SMMA_NAN_QUIET;
}

bool smma_zeros_add_nothing(const smma_operation *o) {
  const smma_form form = smma_form_of(o);
  if (form.is_chain) return !overflows_to_nan(o) && general_keeps_sums(o, &form.chain);
  switch (form.rule.algorithm) {
    case SMMA_INTEGER: return true;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: return tr_keeps_sums(o);
    case SMMA_GD_FDPA: return gd_keeps_sums(o);
    case SMMA_FTZ_ADDMUL: return flushes_no_sum(o);
    default: break;
  }
  return false;
}

bool smma_any_order(const smma_operation *o) { return o->rule.algorithm == SMMA_INTEGER && clamps_alike(o); }

/* ---- Sums other than -0 ---- */

bool smma_is_off_negative_zero(const smma_operation *o, bool began_off) {
  const smma_form form = smma_form_of(o);
  const smma_g_fdpa *g = &form.chain;
  if (form.rule.algorithm == SMMA_INTEGER) return true;
  if (form.is_chain) return general_joins_plainly(g) && general_has_no_negative_zero(o, g, began_off);
  return smma_zeros_add_nothing(o) && began_off;
}

bool smma_zeros_keep_sums(const smma_operation *o) {
  const smma_form form = smma_form_of(o);
  const smma_g_fdpa *g = &form.chain;
  if (!form.is_chain) return smma_zeros_add_nothing(o);
  return !overflows_to_nan(o) && general_joins_plainly(g) && alignment_keeps_sums(o, g) &&
         exact_zero_is_positive(g, true);
}

bool smma_zeros_in_block_are_idle(const smma_operation *o, bool began_off) {
  const smma_form form = smma_form_of(o);
  const smma_g_fdpa *g = &form.chain;
  if (form.rule.algorithm == SMMA_INTEGER) return true;
  if (!form.is_chain || !general_joins_plainly(g) || !exact_zero_is_positive(g, began_off)) return false;
  return g->alignment_bits == SMMA_EXACT_ALIGNMENT || g->zero_exponent == SMMA_NO_EXPONENT;
}

/* ---- Exact sums ---- */

/* Returns the greatest magnitude of a finite format's numbers; infinity for formats with infinities or NaN. */
static double greatest_of(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_number x = smma_decode(f, smma_largest_fields(f));
  if (f.specials == SMMA_SPECIALS_INTEGER) return ldexp(1, smma_minimum_exponent(f));
  return f.specials == SMMA_SPECIALS_FINITE ? ldexp((double)x.significand, x.exponent - x.fraction_bits) : INFINITY;
}

static double greatest_sum(const smma_operation *o, size_t products) {
  return o->scale_block ? INFINITY : (double)products * greatest_of(o->a) * greatest_of(o->b);
}

static int last_bit(const smma_operation *o) {
  return o->rule.algorithm == SMMA_INTEGER ? 0 : smma_last_bit_of_products(o);
}

bool smma_holds_sums(const smma_operation *o, size_t products, smma_format format) {
  const double most = greatest_sum(o, products);
  const smma_encoding f = smma_encoding_of(format);
  const reach r = reach_of(format);
  if (format == SMMA_S32) return most < 0x1p31;
  return last_bit(o) >= r.last && most <= ldexp(1, last_bit(o) + f.fraction_bits + 1) && most < ldexp(1, r.greatest);
}

bool smma_sums_are_exact(const smma_operation *o, size_t products) {
  const smma_form form = smma_form_of(o);
  const smma_g_fdpa *g = &form.chain;
  const double most = greatest_sum(o, products);
  if (smma_products_of(&form.rule) != SMMA_PRODUCT_MULTIPLIED)
    return false; /* sums may be exact, but not of products */
  if (form.rule.algorithm == SMMA_INTEGER) return smma_holds_sums(o, products, SMMA_S32);
  if (!form.is_chain || !general_joins_plainly(g) || !isfinite(most)) return false;
  if (!exact_zero_is_positive(g, true) || !smma_holds_sums(o, products, g->output) ||
      !smma_holds_sums(o, products, o->d))
    return false;
  return g->alignment_bits == SMMA_EXACT_ALIGNMENT ||
         smma_maximum(ilogb(most), g->zero_exponent) - g->alignment_bits <= last_bit(o);
}
