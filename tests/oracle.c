/* The oracle. Every finite value is an integer count of a fixed unit. Sums therefore need no alignment, and "truncate
   at F bits below E" is a division of that integer. Sources: MMA-Sim, section IV and appendix A; OCP MX, section 5;
   IEEE 754-2019, sections 5.4 and 6.3; Intel SDM, VDPBF16PS. */
#include "oracle.h"

#include "oracle_number.h"

/* Products and sums are multiples of 2^-2304. */
#define SUM_UNIT (2 * OPERAND_UNIT)

static struct {
  bool ready;
  quantity a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], scale_a[SMMA_MAXIMUM_ROUNDED_K], scale_b[SMMA_MAXIMUM_ROUNDED_K];
  quantity term[SMMA_MAXIMUM_K + 1]; /* terms of one block; c is the last */
  quantity pair[2];                  /* operands of an IEEE addition */
  quantity greatest;                 /* largest finite number of a format */
  mpz_t sum, part, aligned, quotient;
  mpz_t one; /* the number 1, in the unit of sums */
} work;

static void prepare_quantities(quantity *q, int count) {
  for (int i = 0; i < count; i++) mpz_init2(q[i].value, 2 * SUM_UNIT);
}

static void prepare(void) {
  if (work.ready) return;
  prepare_quantities(work.a, SMMA_MAXIMUM_K);
  prepare_quantities(work.b, SMMA_MAXIMUM_K);
  prepare_quantities(work.scale_a, SMMA_MAXIMUM_ROUNDED_K);
  prepare_quantities(work.scale_b, SMMA_MAXIMUM_ROUNDED_K);
  prepare_quantities(work.term, SMMA_MAXIMUM_K + 1);
  prepare_quantities(work.pair, 2);
  prepare_quantities(&work.greatest, 1);
  mpz_inits(work.sum, work.part, work.aligned, work.quotient, work.one, NULL);
  mpz_setbit(work.one, SUM_UNIT);
  work.ready = true;
}

bool oracle_is_nan(smma_format format, uint64_t encoding) {
  prepare();
  oracle_decode(&work.pair[0], format, encoding);
  return work.pair[0].class == NOT_A_NUMBER;
}

/* Decodes an operand of the sum, c, to units of a sum. */
static void decode_summand(quantity *q, smma_format format, uint64_t encoding) {
  oracle_decode(q, format, encoding);
  mpz_mul_2exp(q->value, q->value, OPERAND_UNIT);
}

/* Rounding. */

/* Returns floor(log2 |x|) of a nonzero sum. */
static int exponent_of(const mpz_t x) { return (int)mpz_sizeinbase(x, 2) - 1 - SUM_UNIT; }

/* Rounds x to a multiple of 2^last. */
static void round_at(mpz_t x, int last, smma_rounding direction) {
  if (last > -SUM_UNIT) oracle_round(x, (mp_bitcnt_t)(last + SUM_UNIT), direction);
}

/* The results that replace a sum beyond the largest number, and a subnormal sum. */
typedef struct {
  smma_sum_overflow overflow;
  smma_subnormal_policy subnormal_outputs;
} policies;

static uint64_t zero_of(const policies *p, smma_format format, bool negative) {
  const layout f = oracle_layout(format);
  return oracle_sign_bit(
      format, negative && !oracle_has_no_minus_zero(&f) && p->subnormal_outputs != SMMA_SUBNORMALS_TO_POSITIVE_ZERO);
}

static bool saturates(const policies *p, smma_rounding direction, bool negative) {
  if (p->overflow != SMMA_SUM_BY_DIRECTION) return p->overflow == SMMA_SUM_SATURATES;
  switch (direction) {
    case SMMA_ROUND_TOWARD_ZERO: return true;
    case SMMA_ROUND_DOWN: return !negative;
    case SMMA_ROUND_UP: return negative;
    default: return false;
  }
}

/* Rounds x once and returns the encoding. Overwrites x. */
static uint64_t encode_by(const policies *p, mpz_t x, smma_format format, smma_rounding direction, bool negative_zero) {
  layout f = oracle_layout(format);
  int least = oracle_layout(format).least_exponent, top;
  bool negative = mpz_sgn(x) < 0;
  uint64_t largest;
  if (mpz_sgn(x) == 0) return zero_of(p, format, negative_zero);
  round_at(x, smma_maximum(exponent_of(x), least) - f.fraction_bits, direction);
  if (mpz_sgn(x) == 0) return zero_of(p, format, negative);
  largest = oracle_greatest(format);
  decode_summand(&work.greatest, format, largest);
  if (mpz_cmpabs(x, work.greatest.value) > 0)
    return saturates(p, direction, negative) ? oracle_sign_bit(format, negative) | largest
                                             : oracle_infinity(format, negative);
  top = exponent_of(x);
  if (top < least && p->subnormal_outputs != SMMA_SUBNORMALS_KEPT) return zero_of(p, format, negative);
  mpz_tdiv_q_2exp(x, x, (mp_bitcnt_t)(smma_maximum(top, least) - f.fraction_bits + SUM_UNIT));
  return oracle_sign_bit(format, negative) |
         (mpz_get_ui(x) + ((uint64_t)smma_maximum(top - least, 0) << f.fraction_bits)) << f.low_bits;
}

/* Rounds x once and returns the encoding. If x is zero, it is -0 if `negative_zero`. Overwrites x. */
static uint64_t encode(mpz_t x, smma_format format, smma_rounding direction, bool negative_zero) {
  static const policies plainly = {.overflow = SMMA_SUM_TO_INFINITY, .subnormal_outputs = SMMA_SUBNORMALS_KEPT};
  return encode_by(&plainly, x, format, direction, negative_zero);
}

/* Computes the encoding of the sum if it is NaN or infinite; otherwise returns false. */
static bool special_sum(const quantity *term, int count, smma_format format, smma_nan_policy policy, uint64_t *d) {
  bool nan = false, infinite[2] = {false, false};
  for (int i = 0; i < count; i++) {
    nan = nan || term[i].class == NOT_A_NUMBER;
    if (term[i].class == INFINITE) infinite[term[i].negative] = true;
  }
  if (nan || (infinite[0] && infinite[1]))
    *d = oracle_nan(format, policy);
  else
    *d = oracle_infinity(format, infinite[1]);
  return nan || infinite[0] || infinite[1];
}

/* Products. */

static void multiply(quantity *p, const quantity *a, const quantity *b) {
  bool nan = a->class == NOT_A_NUMBER || b->class == NOT_A_NUMBER;
  bool infinite = a->class == INFINITE || b->class == INFINITE;
  bool zero = (a->class == FINITE && mpz_sgn(a->value) == 0) || (b->class == FINITE && mpz_sgn(b->value) == 0);
  p->class = nan || (infinite && zero) ? NOT_A_NUMBER : infinite ? INFINITE : FINITE;
  p->negative = a->negative != b->negative;
  p->exponent = a->exponent + b->exponent;
  mpz_mul(p->value, a->value, b->value);
}

/* Multiplies a product by scale factors that are powers of two. Bound: the result is a multiple of 2^-(32 + 254), so
   the division is exact. */
static void scale_by_powers(quantity *p, const quantity *scale_a, const quantity *scale_b) {
  int shift = scale_a->exponent + scale_b->exponent;
  if (scale_a->class == NOT_A_NUMBER || scale_b->class == NOT_A_NUMBER) p->class = NOT_A_NUMBER;
  p->exponent += shift;
  if (shift >= 0)
    mpz_mul_2exp(p->value, p->value, (mp_bitcnt_t)shift);
  else
    mpz_tdiv_q_2exp(p->value, p->value, (mp_bitcnt_t)-shift);
}

/* Sets the exponent that a value has in a wider format. */
static void normalize(quantity *q, int unit, smma_format wider) {
  if (mpz_sgn(q->value) != 0)
    q->exponent = smma_maximum((int)mpz_sizeinbase(q->value, 2) - 1 - unit, oracle_layout(wider).least_exponent);
}

/* Truncated sums: T-FDPA, ST-FDPA, GST-FDPA, FP8-by-FP16. */

/* Sets the exponent with which a zero term takes part in the alignment. */
static void set_zero_exponent(quantity *term, int zero_exponent) {
  if (mpz_sgn(term->value) == 0) term->exponent = zero_exponent;
}

static uint64_t truncated_sum(const smma_t_fdpa *p, smma_nan_policy nan, const quantity *term, int count) {
  const layout output = oracle_layout(p->output);
  int emax = NO_EXPONENT;
  uint64_t d;
  if (special_sum(term, count, p->output, nan, &d)) return d;
  for (int i = 0; i < count; i++) emax = smma_maximum(emax, term[i].exponent);
  mpz_set_ui(work.sum, 0);
  for (int i = 0; i < count; i++) {
    mpz_set(work.aligned, term[i].value);
    round_at(work.aligned, emax - p->alignment_bits, SMMA_ROUND_TOWARD_ZERO);
    mpz_add(work.sum, work.sum, work.aligned);
  }
  d = encode(work.sum, p->output, p->rounding, false);
  return !oracle_has_no_minus_zero(&output) && d == oracle_sign_bit(p->output, true) ? 0 : d;
}

/* Sets the accumulator term: c, or the result of the previous block. */
static void set_accumulator(quantity *term, const smma_operation *o, uint64_t encoding, int zero_exponent) {
  decode_summand(term, o->d, encoding);
  set_zero_exponent(term, zero_exponent);
}

static uint64_t t_fdpa(const smma_operation *o, uint64_t d) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  int block = smma_minimum(p->block, o->k);
  for (int start = 0; start < o->k; start += block) {
    for (int i = 0; i < block; i++) {
      int k = start + i;
      multiply(&work.term[i], &work.a[k], &work.b[k]);
      if (o->rule.algorithm == SMMA_ST_FDPA)
        scale_by_powers(&work.term[i], &work.scale_a[k / o->scale_block], &work.scale_b[k / o->scale_block]);
      set_zero_exponent(&work.term[i], p->zero_exponent);
    }
    set_accumulator(&work.term[block], o, d, p->zero_exponent);
    d = truncated_sum(p, o->rule.nan, work.term, block + 1);
  }
  return d;
}

/* Computes the term of the products from g * group on: their exact sum times both scale factors. Its exponent is that
   of the scale factors alone. If the products cancel, the exponent still takes part in alignment; if all products or a
   scale factor are zero, it does not. */
static void scaled_group(const smma_operation *o, int g) {
  const smma_gst_fdpa *p = &o->rule.with.gst_fdpa;
  quantity *term = &work.term[g];
  int first = g * p->group, s = first / o->scale_block;
  bool all_zero = true;
  mpz_set_ui(work.sum, 0);
  for (int k = first; k < first + p->group; k++) {
    mpz_mul(work.part, work.a[k].value, work.b[k].value);
    all_zero = all_zero && mpz_sgn(work.part) == 0;
    mpz_add(work.sum, work.sum, work.part);
  }
  multiply(term, &work.scale_a[s], &work.scale_b[s]);
  if (all_zero || mpz_sgn(term->value) == 0) term->exponent = p->fused.zero_exponent;
  mpz_mul(term->value, term->value, work.sum);
  mpz_tdiv_q_2exp(term->value, term->value, SUM_UNIT); /* exact: a multiple of 2^-(2 + 254) */
}

static uint64_t gst_fdpa(const smma_operation *o, uint64_t c) {
  const smma_gst_fdpa *p = &o->rule.with.gst_fdpa;
  int groups = o->k / p->group;
  for (int g = 0; g < groups; g++) scaled_group(o, g);
  set_accumulator(&work.term[groups], o, c, p->fused.zero_exponent);
  return truncated_sum(&p->fused, o->rule.nan, work.term, groups + 1);
}

/* Returns work.pair[0] + work.pair[1]; each is a product or a number. An exact zero is -0 only for -0 + -0; when
   rounding down, for everything except +0 + +0. */
static uint64_t pair_sum_in(smma_format format, smma_nan_policy nan, smma_rounding direction) {
  static const policies as_ieee = {.overflow = SMMA_SUM_BY_DIRECTION, .subnormal_outputs = SMMA_SUBNORMALS_KEPT};
  const quantity *x = &work.pair[0], *y = &work.pair[1];
  uint64_t d;
  if (special_sum(work.pair, 2, format, nan, &d)) return d;
  mpz_add(work.sum, x->value, y->value);
  return encode_by(&as_ieee, work.sum, format, direction,
                   direction == SMMA_ROUND_DOWN ? x->negative || y->negative : x->negative && y->negative);
}

static uint64_t pair_sum(smma_format format, smma_nan_policy nan) {
  return pair_sum_in(format, nan, SMMA_ROUND_NEAREST_EVEN);
}

static uint64_t add(uint64_t x, uint64_t y, smma_format format, smma_nan_policy nan) {
  decode_summand(&work.pair[0], format, x);
  decode_summand(&work.pair[1], format, y);
  return pair_sum(format, nan);
}

/* Computes two blocks: first the products with k mod 4 < 2, then the products with k mod 4 >= 2. */
static uint64_t fp8_by_fp16(const smma_operation *o, uint64_t c) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  uint64_t d = 0;
  for (int k = 0; k < o->k; k++) {
    normalize(&work.a[k], OPERAND_UNIT, SMMA_F16);
    normalize(&work.b[k], OPERAND_UNIT, SMMA_F16);
  }
  for (int upper = 0; upper < 2; upper++) {
    int count = 0;
    for (int k = 0; k < o->k; k++)
      if ((k % 4 >= 2) == (upper == 1)) {
        multiply(&work.term[count], &work.a[k], &work.b[k]);
        set_zero_exponent(&work.term[count++], p->zero_exponent);
      }
    set_accumulator(&work.term[count], o, d, p->zero_exponent);
    d = truncated_sum(p, o->rule.nan, work.term, count + 1);
  }
  return add(d, c, o->d, o->rule.nan);
}

/* Sums of a block and c that are rounded once. */

static uint64_t e_fdpa(const smma_operation *o, uint64_t d) {
  int block = smma_minimum(o->rule.with.e_fdpa.block, o->k);
  for (int start = 0; start < o->k; start += block) {
    decode_summand(&work.term[block], SMMA_F32, d);
    mpz_set(work.sum, work.term[block].value);
    for (int i = 0; i < block; i++) {
      multiply(&work.term[i], &work.a[start + i], &work.b[start + i]);
      mpz_add(work.sum, work.sum, work.term[i].value);
    }
    if (!special_sum(work.term, block + 1, SMMA_F32, o->rule.nan, &d))
      d = encode(work.sum, SMMA_F32, SMMA_ROUND_NEAREST_EVEN, false);
  }
  return d;
}

/* TR-FDPA and GTR-FDPA. */

/* Replaces products that overflow by infinities. Source: MMA-Sim, IV-F, step 2. For revision 1 also step 1, by which
   infinite operands take precedence. */
static void overflow_to_infinity(const smma_operation *o, quantity *term, int count) {
  uint64_t unused;
  if (o->rule.with.tr_fdpa.revision == 1 && special_sum(term, count + 1, SMMA_F32, o->rule.nan, &unused)) return;
  for (quantity *p = term; p < term + count; p++)
    if (p->class == FINITE && mpz_sgn(p->value) != 0 && exponent_of(p->value) >= 128) p->class = INFINITE;
}

/* Adds to `sum` every step-th product from the first, truncated below their own largest exponent. Returns this
   exponent. */
static int sum_products(mpz_t sum, const quantity *term, int first, int step, int count, int bits) {
  int greatest = NO_EXPONENT;
  mpz_set_ui(sum, 0);
  for (int i = first; i < count; i += step)
    if (mpz_sgn(term[i].value) != 0) greatest = smma_maximum(greatest, term[i].exponent);
  for (int i = first; i < count; i += step) {
    mpz_set(work.aligned, term[i].value);
    round_at(work.aligned, greatest - bits, SMMA_ROUND_TOWARD_ZERO);
    mpz_add(sum, sum, work.aligned);
  }
  return greatest;
}

/* Adds both halves, rounded down below their common exponent. */
static int sum_halves(mpz_t sum, const quantity *term, int count, int bits) {
  int even = sum_products(sum, term, 0, 2, count, bits);
  int odd = sum_products(work.part, term, 1, 2, count, bits);
  int common = smma_maximum(even, odd);
  round_at(sum, common - bits, SMMA_ROUND_DOWN);
  round_at(work.part, common - bits, SMMA_ROUND_DOWN);
  mpz_add(sum, sum, work.part);
  return common;
}

static uint64_t rounded_down_sum(const smma_operation *o, quantity *term, int count) {
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  bool grouped = o->rule.algorithm == SMMA_GTR_FDPA;
  quantity *c = &term[count];
  uint64_t d;
  int edot, emax;
  if (special_sum(term, count + 1, SMMA_F32, o->rule.nan, &d)) return d;
  edot = grouped ? sum_halves(work.sum, term, count, p->alignment_bits)
                 : sum_products(work.sum, term, 0, 1, count, p->alignment_bits);
  emax = smma_maximum(edot, mpz_sgn(c->value) == 0 ? -126 : c->exponent);
  round_at(work.sum, emax - (p->revision == 1 ? p->sum_bits : p->sum_bits + 1), SMMA_ROUND_DOWN);
  if (grouped && c->exponent < emax - p->alignment_bits - 1) mpz_set_ui(c->value, 0);
  round_at(c->value, emax - p->alignment_bits, SMMA_ROUND_DOWN);
  mpz_add(work.sum, work.sum, c->value);
  if (p->revision != 1 && mpz_sgn(work.sum) != 0)
    round_at(work.sum, smma_maximum(exponent_of(work.sum), -126) - p->sum_bits, SMMA_ROUND_DOWN);
  return encode(work.sum, SMMA_F32, SMMA_ROUND_NEAREST_EVEN, false);
}

static uint64_t tr_fdpa(const smma_operation *o, uint64_t d) {
  int block = smma_minimum(o->rule.with.tr_fdpa.block, o->k);
  for (int start = 0; start < o->k; start += block) {
    for (int i = 0; i < block; i++) multiply(&work.term[i], &work.a[start + i], &work.b[start + i]);
    decode_summand(&work.term[block], SMMA_F32, d);
    overflow_to_infinity(o, work.term, block);
    d = rounded_down_sum(o, work.term, block);
  }
  return d;
}

/* RDNA 3 (C-FDPA) and RDNA 4 (GD-FDPA). */

static bool has_exponents_of_f32(smma_format format) { return oracle_layout(format).least_exponent == -126; }

/* Handles special values in this order: NaN factors, NaN products, NaN c, infinities together with c. */
static bool rdna_special(const smma_operation *o, const int *k, int count, uint64_t before, uint64_t *d) {
  const smma_format output = o->rule.with.c_fdpa.output;
  uint64_t of_products;
  if (!special_sum(work.term, count + 1, output, o->rule.nan, d)) return false;
  if (o->rule.nan != SMMA_NAN_BY_SOURCE && o->rule.nan != SMMA_NAN_MARKED) return true;
  if (oracle_is_nan(output, *d))
    *d = o->rule.nan == SMMA_NAN_MARKED ? oracle_marked_nan(output)
                                        : oracle_nan(output, SMMA_NAN_QUIET) | oracle_sign_bit(output, true);
  for (int i = 0; i < count; i++)
    if (work.a[k[i]].class == NOT_A_NUMBER || work.b[k[i]].class == NOT_A_NUMBER) {
      *d = oracle_marked_nan(output);
      return true;
    }
  special_sum(work.term, count, output, SMMA_NAN_QUIET, &of_products);
  if (work.term[count].class == NOT_A_NUMBER && !oracle_is_nan(output, of_products))
    *d = before | oracle_nan(output, SMMA_NAN_QUIET);
  return true;
}

/* Returns floor(log2 |c|), but at least the smallest exponent of the output; a zero c has this exponent. */
static int rdna_exponent_of_c(const smma_c_fdpa *p, const quantity *c) {
  const int least = oracle_layout(p->output).least_exponent;
  return mpz_sgn(c->value) ? smma_maximum(exponent_of(c->value), least) : least;
}

/* Converts work.sum from units to units of the grid's last bit. RDNA 3 adds the complements of opposing magnitudes. */
static bool rdna3_sum(const smma_c_fdpa *p, int count) {
  const quantity *c = &work.term[count];
  int grid = NO_EXPONENT;
  bool zero = mpz_sgn(c->value) == 0;
  mpz_set_ui(work.sum, 0);
  for (int i = 0; i < count; i++)
    if (mpz_sgn(work.term[i].value)) grid = smma_maximum(grid, work.term[i].exponent), zero = false;
  if (zero) return false;
  grid = smma_maximum(grid - p->alignment_bits, rdna_exponent_of_c(p, c) - p->c_bits);
  for (int i = 0; i <= count; i++) {
    mpz_abs(work.aligned, work.term[i].value);
    round_at(work.aligned, grid, SMMA_ROUND_TOWARD_ZERO);
    if (work.term[i].negative == c->negative) {
      mpz_add(work.sum, work.sum, work.aligned);
    } else {
      mpz_sub(work.sum, work.sum, work.aligned);
      mpz_set_ui(work.aligned, 0);
      mpz_setbit(work.aligned, (mp_bitcnt_t)(SUM_UNIT + grid));
      mpz_sub(work.sum, work.sum, work.aligned);
    }
  }
  if (c->negative) mpz_neg(work.sum, work.sum);
  return true;
}

static void rdna4_sum(const smma_c_fdpa *p, int count) {
  quantity *c = &work.term[count];
  const int group = smma_minimum(p->group, count), least = rdna_exponent_of_c(p, c);
  int grid = least - p->c_bits;
  for (int first = 0; first < count; first += group) {
    int greatest = NO_EXPONENT;
    for (int i = first; i < first + group; i++)
      if (mpz_sgn(work.term[i].value)) greatest = smma_maximum(greatest, work.term[i].exponent);
    if (greatest != NO_EXPONENT) grid = smma_maximum(grid, greatest - p->alignment_bits);
    for (int i = first; greatest != NO_EXPONENT && i < first + group; i++)
      round_at(work.term[i].value, greatest - p->alignment_bits, SMMA_ROUND_DOWN);
  }
  mpz_set(work.sum, c->value);
  round_at(work.sum, grid, SMMA_ROUND_DOWN);
  if (grid > least) mpz_set_ui(work.sum, 0);
  for (int first = 0; first < count; first += group) {
    mpz_set_ui(work.aligned, 0);
    for (int i = first; i < first + group; i++) mpz_add(work.aligned, work.aligned, work.term[i].value);
    round_at(work.aligned, grid, SMMA_ROUND_DOWN);
    mpz_add(work.sum, work.sum, work.aligned);
  }
}

static uint64_t rdna_output(const smma_c_fdpa *p, bool flushes) {
  const smma_format format = p->output == SMMA_BF16 ? SMMA_F32 : p->output;
  uint64_t d;
  if (flushes && mpz_sgn(work.sum)) {
    round_at(work.sum, exponent_of(work.sum) - 23, SMMA_ROUND_NEAREST_EVEN);
    if (exponent_of(work.sum) < -126) return 0;
  }
  d = encode(work.sum, format, SMMA_ROUND_NEAREST_EVEN, false);
  if (d == oracle_sign_bit(format, true)) d = 0;
  if (p->overflow == SMMA_SUM_SATURATES && (d | oracle_sign_bit(format, true)) == oracle_infinity(format, true)) d--;
  return p->output == SMMA_BF16 ? d >> 16 : d;
}

static uint64_t rdna_step(const smma_operation *o, const int *k, int count, uint64_t before) {
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  const bool third = o->rule.algorithm == SMMA_C_FDPA;
  quantity *c = &work.term[count];
  uint64_t d;
  for (int i = 0; i < count; i++) multiply(&work.term[i], &work.a[k[i]], &work.b[k[i]]);
  decode_summand(c, p->output, before);
  if (third && has_exponents_of_f32(p->output) && c->class == FINITE && mpz_sgn(c->value) &&
      exponent_of(c->value) < -126)
    mpz_set_ui(c->value, 0);
  if (rdna_special(o, k, count, before, &d)) return d;
  if (third && !rdna3_sum(p, count)) return 0;
  if (!third) rdna4_sum(p, count);
  return rdna_output(p, third && has_exponents_of_f32(p->output));
}

static uint64_t rdna(const smma_operation *o, uint64_t d) {
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  const int block = smma_minimum(p->block, o->k);
  int k[SMMA_MAXIMUM_K];
  for (int i = 0; i < o->k && o->rule.algorithm == SMMA_C_FDPA; i++) {
    if (has_exponents_of_f32(o->a)) oracle_flush(&work.a[i], o->a, SMMA_SUBNORMALS_TO_SIGNED_ZERO);
    if (has_exponents_of_f32(o->b)) oracle_flush(&work.b[i], o->b, SMMA_SUBNORMALS_TO_SIGNED_ZERO);
  }
  for (int first = 0; first < p->stride; first++)
    for (int at = first; at < o->k / block; at += p->stride) {
      for (int i = 0; i < block; i++) k[i] = at * block + i;
      d = rdna_step(o, k, block, d);
    }
  return d;
}

/* FMA, and operations that flush subnormals. */

/* Returns an operand's NaN in a format: its sign, its fraction on the left, and the bit that makes a NaN quiet. */
static uint64_t quiet_nan(smma_format to, const quantity *q, smma_format format, uint64_t encoding) {
  const layout f = oracle_layout(format), into = oracle_layout(to);
  const uint64_t fraction = (encoding >> f.low_bits) % (UINT64_C(1) << f.fraction_bits);
  return oracle_sign_bit(to, q->negative) | oracle_nan(to, SMMA_NAN_QUIET) |
         fraction << (into.fraction_bits - f.fraction_bits) << into.low_bits;
}

/* If several operands are NaN, a step returns that of b, otherwise that of the sum, otherwise that of a, as recorded on
   an H100. A NaN that the step makes has a sign. */
static uint64_t fma_chain(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t d) {
  for (int k = 0; k < o->k; k++) {
    const uint64_t before = d;
    multiply(&work.pair[0], &work.a[k], &work.b[k]);
    decode_summand(&work.pair[1], o->d, d);
    d = pair_sum_in(o->d, o->rule.nan, o->rule.with.fma.rounding);
    if (o->rule.nan != SMMA_NAN_B_SUM_A || !oracle_is_nan(o->d, d)) continue;
    if (work.b[k].class == NOT_A_NUMBER)
      d = quiet_nan(o->d, &work.b[k], o->b, b[k]);
    else if (work.pair[1].class == NOT_A_NUMBER)
      d = quiet_nan(o->d, &work.pair[1], o->d, before);
    else if (work.a[k].class == NOT_A_NUMBER)
      d = quiet_nan(o->d, &work.a[k], o->a, a[k]);
    else
      d |= oracle_sign_bit(o->d, true);
  }
  return d;
}

static uint64_t flushed(uint64_t f32) { return (f32 >> 23 & 0xff) == 0 ? f32 & 0x80000000 : f32; }

static uint64_t flushing_add(uint64_t x, uint64_t y) { return flushed(add(x, y, SMMA_F32, SMMA_NAN_QUIET)); }

static uint64_t flushing_multiply(const quantity *a, const quantity *b) {
  quantity *product = &work.pair[0];
  uint64_t d;
  multiply(product, a, b);
  if (special_sum(product, 1, SMMA_F32, SMMA_NAN_QUIET, &d)) return d;
  return flushed(encode(product->value, SMMA_F32, SMMA_ROUND_NEAREST_EVEN, product->negative));
}

/* Returns the sum of products by halves: (p0 + p1) + (p2 + p3). */
static uint64_t pairwise_sum(const quantity *a, const quantity *b, int count) {
  if (count == 1) return flushing_multiply(a, b);
  return flushing_add(pairwise_sum(a, b, count / 2), pairwise_sum(a + count / 2, b + count / 2, count / 2));
}

/* Source: MMA-Sim, section IV-B: a, b and c below the least normal number become +0. */
static uint64_t ftz_addmul(const smma_operation *o, uint64_t c) {
  int pairwise = o->rule.with.ftz_addmul.pairwise;
  uint64_t d = (flushed(c) & 0x7fffffff) == 0 ? 0 : c;
  for (int k = 0; k < o->k; k++) {
    oracle_flush(&work.a[k], o->a, SMMA_SUBNORMALS_TO_POSITIVE_ZERO);
    oracle_flush(&work.b[k], o->b, SMMA_SUBNORMALS_TO_POSITIVE_ZERO);
  }
  for (int k = 0; k < o->k; k += pairwise) d = flushing_add(d, pairwise_sum(&work.a[k], &work.b[k], pairwise));
  return d;
}

/* Reports whether work.pair, rounded to 24 bits with unlimited exponent, is below the smallest normal number. The x86
   instruction flushes such sums, as recorded on a Zen 5. work.part receives the rounded sum. */
static bool tiny_sum(void) {
  if (work.pair[0].class != FINITE || work.pair[1].class != FINITE) return false;
  mpz_add(work.part, work.pair[0].value, work.pair[1].value);
  if (mpz_sgn(work.part) == 0) return false;
  round_at(work.part, exponent_of(work.part) - 23, SMMA_ROUND_NEAREST_EVEN);
  return exponent_of(work.part) < -126;
}

/* Computes a step without NaN operands. NaN results of 0 * infinity and infinity - infinity are negative. */
static uint64_t flushing_fma(const quantity *a, const quantity *b) {
  multiply(&work.pair[0], a, b);
  if (tiny_sum()) return oracle_sign_bit(SMMA_F32, mpz_sgn(work.part) < 0);
  uint64_t d = pair_sum(SMMA_F32, SMMA_NAN_QUIET);
  return d == 0x7fc00000 ? 0xffc00000 : d;
}

/* NaN results are as recorded on a Zen 4: the first NaN among a, b and the addend of a step. */
static uint64_t ftz_fma(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t c) {
  uint64_t d = flushed(c);
  for (int k = o->k - 1; k >= 0; k--) {
    oracle_flush(&work.a[k], o->a, SMMA_SUBNORMALS_TO_SIGNED_ZERO);
    oracle_flush(&work.b[k], o->b, SMMA_SUBNORMALS_TO_SIGNED_ZERO);
    decode_summand(&work.pair[1], SMMA_F32, d);
    if (work.a[k].class == NOT_A_NUMBER)
      d = quiet_nan(SMMA_F32, &work.a[k], o->a, a[k]);
    else if (work.b[k].class == NOT_A_NUMBER)
      d = quiet_nan(SMMA_F32, &work.b[k], o->b, b[k]);
    else if (work.pair[1].class == NOT_A_NUMBER)
      d = quiet_nan(SMMA_F32, &work.pair[1], SMMA_F32, d);
    else
      d = flushing_fma(&work.a[k], &work.b[k]);
  }
  return d;
}

/* Integers. Source: PTX ISA, mma: a sum out of range wraps; with .satfinite it is clamped. Single bits are combined by
   xor or and, and counted. */

static void add_pair(const smma_operation *o, int k) {
  if (o->rule.with.integer.product == SMMA_PRODUCT_MULTIPLIED)
    mpz_addmul(work.sum, work.a[k].value, work.b[k].value);
  else if (mpz_cmp(work.a[k].value, work.b[k].value) != 0)
    mpz_add(work.sum, work.sum, work.one);
}

/* Returns c plus the products of stage 0 or 1 (eight of each sixteen), or of all products for stage -1. */
static uint64_t integer_stage(const smma_operation *o, uint64_t c, int stage) {
  decode_summand(&work.term[0], SMMA_S32, c);
  mpz_set(work.sum, work.term[0].value);
  for (int k = 0; k < o->k; k++)
    if (stage < 0 || k % 16 / 8 == stage) add_pair(o, k);
  mpz_tdiv_q_2exp(work.sum, work.sum, SUM_UNIT);
  if (o->rule.with.integer.overflow == SMMA_INTEGER_SATURATES && mpz_cmp_si(work.sum, INT32_MAX) > 0) return 0x7fffffff;
  if (o->rule.with.integer.overflow == SMMA_INTEGER_SATURATES && mpz_cmp_si(work.sum, INT32_MIN) < 0) return 0x80000000;
  mpz_fdiv_r_2exp(work.sum, work.sum, 32);
  return mpz_get_ui(work.sum);
}

static uint64_t integer(const smma_operation *o, uint64_t c) {
  if (!o->rule.with.integer.two_stages) return integer_stage(o, c, -1);
  return integer_stage(o, integer_stage(o, c, 0), 1);
}

/* Entry. */

/* Returns c in the format of d; only f16 to f32 occurs. */
static uint64_t widened(const smma_operation *o, uint64_t c) {
  quantity *x = &work.pair[0];
  uint64_t special;
  if (o->c == o->d) return c;
  decode_summand(x, o->c, c);
  if (special_sum(x, 1, o->d, o->rule.nan, &special)) return special;
  return encode(x->value, o->d, SMMA_ROUND_NEAREST_EVEN, x->negative);
}

static uint64_t rule_dot_add(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t c,
                             const uint64_t *scale_a, const uint64_t *scale_b) {
  if (o->rule.algorithm == SMMA_COMPOSITION) return oracle_composition(o, a, b, c, scale_a, scale_b);
  prepare();
  for (int k = 0; k < o->k; k++) {
    oracle_decode(&work.a[k], o->a, a[k]);
    oracle_decode(&work.b[k], o->b, b[k]);
  }
  for (int s = 0; o->scale_block > 0 && s < o->k / o->scale_block; s++) {
    oracle_decode(&work.scale_a[s], o->scale, scale_a[s]);
    oracle_decode(&work.scale_b[s], o->scale, scale_b[s]);
  }
  c = widened(o, c);
  switch (o->rule.algorithm) {
    case SMMA_FMA: return fma_chain(o, a, b, c);
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA: return t_fdpa(o, c);
    case SMMA_GST_FDPA: return gst_fdpa(o, c);
    case SMMA_E_FDPA: return e_fdpa(o, c);
    case SMMA_FTZ_ADDMUL: return ftz_addmul(o, c);
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: return tr_fdpa(o, c);
    case SMMA_FP8_BY_FP16: return fp8_by_fp16(o, c);
    case SMMA_FTZ_FMA: return ftz_fma(o, a, b, c);
    case SMMA_INTEGER: return integer(o, c);
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: return rdna(o, c);
    case SMMA_COMPOSITION: break;
  }
  return 0;
}

/* If a format without infinity gives NaN for sums that overflow, the unit's NaN has no sign. */
uint64_t oracle_dot_add(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t c,
                        const uint64_t *scale_a, const uint64_t *scale_b) {
  const uint64_t d = rule_dot_add(o, a, b, c, scale_a, scale_b);
  const bool has_several = o->rule.nan > SMMA_NAN_DEFAULT;
  if (has_several || !oracle_is_nan(o->d, d) || oracle_layout(o->d).specials != ALL_ONES) return d;
  return oracle_nan(o->d, o->rule.nan);
}
