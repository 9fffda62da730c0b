/* Products of slices of significands (Tenstorrent's MVMUL, docs/algorithms/mvmul.md). Encodings of infinities and NaN
   are numbers.

   A slice of a has 7 bits, one of b 5 bits, so their product p is below 2^12 units of its own last bit. Its term is p,
   rounded to nearest, ties away from zero, to a multiple of u = 2^(E - 10). E is the greatest exponent of the group's
   products. In each phase all exponents are lower by the same number.

   Usual operands have exponents within SLICES_USUAL. Their slices are packed as binary32, those of a times 1 + 2^-13. A
   fused multiply-add then adds p (1 + 2^-13) to a sum of terms, which starts at 1.5 * 2^23 u, so that its last bit is
   u. It rounds to nearest. The numbers that it rounds are never ties: p is m times a power of two not above u, with
   m <= 127 * 31, and the added m 2^-13 is greater than zero and less than half of p's last bit. So a p that is a tie is
   rounded away from zero, and no other p is moved across a tie.

   Other operands are computed in integers. Let s be the distance of a product's exponent below E. Twice the term is
   2 p 2^-s, rounded down, plus 1, without its last bit. The two halves of a lane hold two such numbers. They are
   multiplied by their signs, 1 or -1, and added up in the lane. Twice a sum of eight terms is below 2^16.

   The sums of both groups and d are aligned to R, the greatest of their exponents, in units of 2^(R - 23). A sum is
   below 2^28 units, and all three together are below 2^30. */
#ifndef SMMA_GEMM_FAMILY_SLICES_H
#define SMMA_GEMM_FAMILY_SLICES_H

#include "gemm/family/words.h"
#include "gemm/pack.h"

enum {
  SLICES_K = 16,               /* products of a step */
  SLICES_GROUP = 8,            /* products of a group */
  SLICES_PAIRS = SLICES_K / 2, /* pairs of numbers of a step, which share words */
  SLICES_OF_A = 7,             /* bits of a slice of a */
  SLICES_OF_B = 5,             /* bits of a slice of b */
  SLICES_BITS = 11,            /* bits of a significand; those of BF16 end in zeros */
  SLICES_TERM = 10,            /* a term is a multiple of 2^(E - 10) */
  SLICES_SUM = 23,             /* an aligned sum is a multiple of 2^(R - 23) */
  SLICES_AGAIN = 13,           /* this many bits fewer for D of 16 bits: a multiple of 2^(R - 10) */
  SLICES_RAISE = 512,          /* added to the exponent field of a number other than zero */
  SLICES_ROWS = 4,             /* rows that are computed together */
  SLICES_NONE = -1000          /* stands for the exponent of a sum that has no influence on R */
};

/* Bounds of usual operands and accumulators. Sums of usual products have exponents of at least -48 - 12, so that
   accumulators are multiples of 2^-83 once a product was added. They stay finite within a run. */
enum {
  SLICES_USUAL = 24,                    /* the greatest magnitude of an operand's exponent */
  SLICES_LEAST = -83,                   /* the least exponent of a nonzero accumulator */
  SLICES_GREATEST = 100,                /* the greatest exponent of an accumulator */
  SLICES_USUAL_NONE = SLICES_LEAST - 4, /* SLICES_NONE in sums of usual operands: no phase lowers it below -99 */
  /* Added to the encoding of 2^E, gives the encoding of 1.5 * 2^23 u. */
  SLICES_START = (SLICES_SUM - SLICES_TERM) << 23 | 1 << 22
};

/* Positions of the packed words of one step. A pair of numbers shares a word, except for values. */
enum {
  SLICES_FIELDS = 0,                            /* exponent fields: 0 for zero, otherwise raised by SLICES_RAISE */
  SLICES_VALUES = SLICES_FIELDS + SLICES_PAIRS, /* values of the first slices, then of the second ones */
  SLICES_FIRST = SLICES_VALUES + 2 * SLICES_K,  /* first slices as integers */
  SLICES_SECOND = SLICES_FIRST + SLICES_PAIRS,  /* second slices as integers */
  SLICES_SIGNS = SLICES_SECOND + SLICES_PAIRS,  /* signs: see slices_numbers */
  SLICES_UNUSUAL = SLICES_SIGNS + SLICES_PAIRS, /* not 0 if a number of the step is not usual */
  SLICES_WORDS                                  /* number of words */
};

/* Parameters of an operation. */
typedef struct {
  int phases;
  int bias;      /* the sum of the biases of a and b */
  int least;     /* the least exponent of a sum and of D */
  int zero;      /* the exponent of the sum of a group of zeros in the first phase; or SLICES_NONE */
  int minus_one; /* a sum of -1 unit counts as -2^minus_one units; 0: it does not */
  smma_format d;
} slices_rule;

static bool slices_read(smma_format format) { return format == SMMA_BF16 || format == SMMA_TF32 || format == SMMA_F16; }

/* Reports whether a step rounds its terms (or its accumulator) with these parameters. */
static bool slices_is_cut(const smma_cut *cut, int bits, smma_rounding rounding, int zero_exponent, int again) {
  return cut->brings == SMMA_BRINGS_OWN && cut->offset == 0 && cut->least == SMMA_NONE &&
         cut->zero_exponent == zero_exponent && cut->bits == bits && cut->rounding == rounding &&
         cut->drop == SMMA_NONE && cut->again == again;
}

/* Reports whether a step adds `take` terms at a time in one sum, joined as `join` says, without a fixed reference, a
   width or a special treatment of signs. Callers check its roundings. */
static bool slices_is_step(const smma_step *s, int take, smma_join join) {
  return s->take == take && s->turn == take && s->join == join && s->chains == 1 && s->stride == 1 && !s->descending &&
         s->reference == SMMA_NONE && s->reference_multiple == 1 && !s->cancelled_is_zero &&
         s->opposing == SMMA_OPPOSING_EXACT && s->width == SMMA_NONE;
}

/* Reports whether a composition multiplies slices of these sizes. */
static bool slices_multiply(const smma_composition *p) {
  const smma_subnormal_policy flushed = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  return p->subnormal_a == flushed && p->subnormal_b == flushed && p->subnormal_c == flushed &&
         p->widen == SMMA_NO_FORMAT && p->product_limit == SMMA_NONE && p->scaled_step == 0 &&
         p->product == SMMA_PRODUCT_MULTIPLIED && p->block_bits_a == 0 && p->block_bits_b == 0 &&
         p->slice_a == SLICES_OF_A && p->slice_b == SLICES_OF_B && p->slices_b == 2 && p->first_phase == 0 &&
         p->phases >= 1 && p->phases <= 4;
}

/* Reports whether a step adds the products of each group. */
static bool slices_are_groups(const smma_step *s, int zero_exponent) {
  return slices_is_step(s, SLICES_GROUP, SMMA_JOIN_APART) &&
         slices_is_cut(&s->term, SLICES_TERM, SMMA_ROUND_NEAREST_AWAY, zero_exponent, 0) && s->minus_one_shift == 0 &&
         s->narrow_bits == SMMA_NONE && s->output == SMMA_NO_FORMAT;
}

/* Reports whether a step adds the sums of both groups to the accumulator, with results in the format d. */
static bool slices_are_added(const smma_step *s, int zero_exponent, smma_format d) {
  const int again = d == SMMA_F32 ? 0 : SLICES_AGAIN;
  return slices_is_step(s, 2, SMMA_JOIN_CHAIN) && s->start == SMMA_START_C &&
         slices_is_cut(&s->term, SLICES_SUM, SMMA_ROUND_NEAREST_UP, zero_exponent, again) &&
         slices_is_cut(&s->accumulator, SLICES_SUM, SMMA_ROUND_NEAREST_AWAY, SMMA_NO_EXPONENT, again) &&
         (s->minus_one_shift == 0 || (d == SMMA_F32 && s->minus_one_shift > 0 && s->minus_one_shift < 30)) &&
         s->narrow_bits == smma_encoding_of(d).fraction_bits && !s->narrow_subnormals &&
         s->narrow_rounding == SMMA_ROUND_NEAREST_AWAY && s->output == d &&
         s->overflow == (d == SMMA_F16 ? SMMA_SUM_SATURATES : SMMA_SUM_TO_INFINITY) &&
         s->subnormal_outputs == SMMA_SUBNORMALS_TO_POSITIVE_ZERO && s->early_underflow &&
         s->zero_sign == SMMA_ZERO_ALWAYS_POSITIVE;
}

static bool slices_takes(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  const int least = smma_minimum_exponent(smma_encoding_of(o->d));
  const bool brings_zeros = p->zero_product != SMMA_OWN_EXPONENT;
  const int zero_exponent = brings_zeros ? SMMA_OWN_EXPONENT : SMMA_NO_EXPONENT;
  if (o->rule.algorithm != SMMA_COMPOSITION || p->steps != 2 || o->rule.nan != SMMA_NAN_NUMBERS ||
      o->scale_block != 0 || o->k != SLICES_K || !slices_read(o->a) || o->b != o->a || o->c != o->d ||
      (o->d != SMMA_F32 && o->d != SMMA_F16 && o->d != SMMA_BF16))
    return false;
  /* No nonzero product is below the exponent of zeros, and that is not below the least exponent. */
  if (brings_zeros && (o->a != SMMA_F16 || p->zero_product > -28 || p->zero_product < least + 12)) return false;
  return slices_multiply(p) && slices_are_groups(&p->step[0], zero_exponent) &&
         slices_are_added(&p->step[1], zero_exponent, o->d) && p->step[0].least_reference == least &&
         p->step[1].least_reference == least;
}

static slices_rule slices_rule_of(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  return (slices_rule){.phases = p->phases,
                       .bias = 2 * smma_encoding_of(o->a).bias,
                       .least = p->step[1].least_reference,
                       .zero = p->zero_product == SMMA_OWN_EXPONENT ? SLICES_NONE : p->zero_product,
                       .minus_one = p->step[1].minus_one_shift,
                       .d = o->d};
}

/* ---- Packing ---- */

static size_t slices_bytes(const smma_operation *o) {
  (void)o;
  return SLICES_WORDS * sizeof(uint32_t);
}

/* Constants for decoding. */
typedef struct {
  smma_decoder of;
  int bias;
  bool of_a;
} slices_decoder;

static inline slices_decoder slices_decoder_of(const smma_pack *pack) {
  const smma_format format = pack->view->format;
  return (slices_decoder){smma_decoder_of(format), smma_encoding_of(format).bias, pack->of_a};
}

/* What is packed of LANES numbers. */
typedef struct {
  vi field;         /* exponent field: 0 for zero, otherwise raised by SLICES_RAISE */
  vi first, second; /* slices as integers; those of A are doubled */
  vi sign;          /* 0 or 0xfffe for numbers of A, 1 or 0xffff for those of B: a xor b is 1 or -1 in 16 bits */
  vi unusual;       /* 1 if the number is not usual */
  vf value[2];      /* values of both slices; correct only if the number is usual */
} slices_numbers;

/* Returns words with the numbers `even` in their lower and `odd` in their upper halves. */
static inline vi slices_pair(vi even, vi odd) { return vi_or(even, vi_shift_left(odd, 16)); }

/* Returns count * 2^exponent in binary32, with this sign bit. */
static inline vf slices_value(vi count, vi sign, vi exponent) {
  const vf unit = vi_as_float(vi_shift_left(vi_add(exponent, vi_set(127)), 23));
  return vi_as_float(vi_xor(vf_bits(vf_multiply(vi_to_float(count), unit)), sign));
}

/* Returns a slice of A times 1 + 2^-13, as an integer in units of 2^-13. */
static inline vi slices_raised(vi slice) { return vi_add(slice, vi_shift_left(slice, 13)); }

/* Decodes LANES encodings. Subnormals become zeros. */
static inline __attribute__((always_inline)) slices_numbers slices_decode(const slices_decoder *d, vi code) {
  const int fraction_bits = d->of.fraction_bits;
  const vi hidden = vi_set(1 << fraction_bits), zero = vi_set(0), x = vi_shift_down_by(code, vi_set(d->of.ignored));
  const vi fields = vi_and(x, vi_set((int32_t)d->of.fields_mask));
  const vi field = vi_shift_down_by(fields, vi_set(fraction_bits)), exponent = vi_subtract(field, vi_set(d->bias));
  const vi whole = vi_or(vi_and(fields, vi_subtract(hidden, vi_set(1))), hidden);
  const vm nonzero = vi_less(zero, field);
  const vi significand = vi_select(nonzero, vi_shift_left_by(whole, vi_set(SLICES_BITS - 1 - fraction_bits)), zero);
  const vi sign = vi_and(vi_shift_left_by(x, vi_set(31 - d->of.sign_at)), vi_set(INT32_MIN));
  const vi negative = vi_and(vi_shift_down_by(sign, vi_set(31)), vi_set(0xfffe));
  const vi last_bit = vi_subtract(exponent, vi_set(SLICES_BITS - 1 + (d->of_a ? 13 : 0)));
  slices_numbers n;
  n.field = vi_select(nonzero, vi_add(field, vi_set(SLICES_RAISE)), zero);
  n.unusual = vi_select(nonzero, vi_shift_right(vi_subtract(vi_set(SLICES_USUAL), vi_magnitude(exponent)), 31), zero);
  if (d->of_a) {
    const vi upper = vi_and(significand, vi_set(0x7f0)), lower = vi_and(significand, vi_set(0xf));
    n.first = vi_shift_right(upper, 3), n.second = vi_shift_left(lower, 4), n.sign = negative;
    n.value[0] = slices_value(slices_raised(upper), sign, last_bit);
    n.value[1] = slices_value(slices_raised(lower), sign, last_bit);
  } else {
    const vi upper = vi_and(significand, vi_set(0x7c0)), lower = vi_and(significand, vi_set(0x3e));
    n.first = vi_shift_right(upper, 6), n.second = vi_shift_right(lower, 1), n.sign = vi_xor(negative, vi_set(1));
    n.value[0] = slices_value(upper, sign, last_bit);
    n.value[1] = slices_value(lower, sign, last_bit);
  }
  return n;
}

/* Packs one step of LANES lines. Encodings are `stride` apart along K. Word i of line v becomes out[i * width + v]. */
static inline __attribute__((always_inline)) void slices_pack_lines(const slices_decoder *d, const uint32_t *code,
                                                                    size_t stride, size_t width, int32_t *out) {
  vi unusual = vi_set(0);
  for (size_t pair = 0; pair < SLICES_PAIRS; pair++) {
    const slices_numbers even = slices_decode(d, vi_load((const int32_t *)code + 2 * pair * stride));
    const slices_numbers odd = slices_decode(d, vi_load((const int32_t *)code + (2 * pair + 1) * stride));
    vi_store(out + (SLICES_FIELDS + pair) * width, slices_pair(even.field, odd.field));
    vi_store(out + (SLICES_FIRST + pair) * width, slices_pair(even.first, odd.first));
    vi_store(out + (SLICES_SECOND + pair) * width, slices_pair(even.second, odd.second));
    vi_store(out + (SLICES_SIGNS + pair) * width, slices_pair(even.sign, odd.sign));
    unusual = vi_or(unusual, vi_or(even.unusual, odd.unusual));
    for (size_t slice = 0; slice < 2; slice++) {
      int32_t *value = out + (SLICES_VALUES + slice * SLICES_K + 2 * pair) * width;
      vi_store(value, vf_bits(even.value[slice]));
      vi_store(value + width, vf_bits(odd.value[slice]));
    }
  }
  vi_store(out + SLICES_UNUSUAL * width, unusual);
}

/* Packs rows. The words of a row are contiguous, one step after the other. */
static void slices_pack_rows(const smma_pack *pack) {
  enum { TOGETHER = 16 };
  const slices_decoder d = slices_decoder_of(pack);
  int32_t *out = pack->out, words[SLICES_WORDS * TOGETHER];
  uint32_t code[SLICES_K * TOGETHER];
  for (size_t row = 0; row < pack->count; row += TOGETHER)
    for (size_t step = 0; step < pack->steps; step++) {
      const smma_fetch f = {pack->multiplier, pack->view,        true, pack->first + row,
                            TOGETHER,         pack->step + step, 0,    SLICES_K};
      smma_fetch_codes(&f, code);
      for (size_t v = 0; v < TOGETHER; v += LANES) slices_pack_lines(&d, code + v, TOGETHER, TOGETHER, words + v);
      for (size_t v = 0; v < TOGETHER; v++)
        for (size_t i = 0; i < SLICES_WORDS; i++)
          out[((row + v) * pack->steps + step) * SLICES_WORDS + i] = words[i * TOGETHER + v];
    }
}

/* Packs columns in groups of LANES: the words of a group are contiguous in each step, interleaved. */
static void slices_pack_columns(const smma_pack *pack) {
  const slices_decoder d = slices_decoder_of(pack);
  int32_t *out = pack->out;
  uint32_t code[SLICES_K * PANEL];
  for (size_t step = 0; step < pack->steps; step++) {
    const smma_fetch f = {pack->multiplier, pack->view, false, pack->first, PANEL, pack->step + step, 0, SLICES_K};
    smma_fetch_codes(&f, code);
    for (size_t v = 0; v < PANEL; v += LANES, out += SLICES_WORDS * LANES)
      slices_pack_lines(&d, code + v, PANEL, LANES, out);
  }
}

/* ---- Sums of integers ---- */

/* The packed words of one group of a step, of one row and of LANES columns. */
typedef struct {
  const int32_t *a, *b;
} slices_operands;

static inline slices_operands slices_group_of(const int32_t *a, const int32_t *b, int group) {
  return (slices_operands){a + group * (SLICES_GROUP / 2), b + group * (SLICES_GROUP / 2) * LANES};
}

/* Return word `item` (a position in the layout) of a pair, of the row in all lanes, and of the columns. */
static inline vi slices_row_word(slices_operands x, int item, int pair) { return vi_set(x.a[item + pair]); }
static inline vi slices_column_word(slices_operands x, int item, int pair) {
  return vi_load(x.b + (item + pair) * LANES);
}

/* Stores the sums of the exponent fields of both factors, for a pair of products in each word. Returns the greatest sum
   of the group in both halves of a lane. */
static inline __attribute__((always_inline)) vi slices_greatest(slices_operands x, vi sums[SLICES_GROUP / 2]) {
  vi most = vi_set(0);
  UNROLL for (int i = 0; i < SLICES_GROUP / 2; i++) {
    sums[i] = vi_add(slices_row_word(x, SLICES_FIELDS, i), slices_column_word(x, SLICES_FIELDS, i));
    most = vh_max(most, sums[i]);
  }
  return vh_max(most, vi_or(vi_shift_left(most, 16), vi_shift_right(most, 16)));
}

/* Returns the greatest exponent of the group's products in the first phase, from the greatest sum of fields; `none` if
   all products are zero. No nonzero product has an exponent below `none`. */
static inline vi slices_exponent(const slices_rule *rule, vi most, vi none) {
  const vi field = vi_subtract(vi_and(most, vi_set(0xffff)), vi_set(2 * SLICES_RAISE));
  return vi_max(vi_subtract(field, vi_set(rule->bias)), none);
}

/* What all phases of a group have in common, for one row and LANES columns. */
typedef struct {
  vi below[SLICES_GROUP / 2]; /* distance of each product's exponent below the greatest */
  vi sign[SLICES_GROUP / 2];  /* sign of each product, 1 or -1 */
  vi exponent;                /* the greatest exponent in the first phase, or the rule's for a group of zeros */
} slices_group;

static inline __attribute__((always_inline)) slices_group slices_compare(const slices_rule *rule, slices_operands x) {
  slices_group g;
  const vi most = slices_greatest(x, g.below);
  UNROLL for (int i = 0; i < SLICES_GROUP / 2; i++) {
    g.below[i] = vh_subtract(most, g.below[i]);
    g.sign[i] = vi_xor(slices_row_word(x, SLICES_SIGNS, i), slices_column_word(x, SLICES_SIGNS, i));
  }
  g.exponent = vi_subtract(vi_and(most, vi_set(0xffff)), vi_set(2 * SLICES_RAISE));
  g.exponent =
      vi_select(vi_less(g.exponent, vi_set(0)), vi_set(rule->zero), vi_subtract(g.exponent, vi_set(rule->bias)));
  return g;
}

/* Returns the sum of a group's terms in units of u. The phase multiplies slices `of_a` and `of_b`: 0 is the first
   slice, 1 the second. */
static inline __attribute__((always_inline)) vi slices_sum(const slices_group *g, slices_operands x, int of_a,
                                                           int of_b) {
  const int a = of_a ? SLICES_SECOND : SLICES_FIRST, b = of_b ? SLICES_SECOND : SLICES_FIRST;
  vi sum = vi_set(0);
  UNROLL for (int i = 0; i < SLICES_GROUP / 2; i++) {
    const vi twice = vh_multiply(slices_row_word(x, a, i), slices_column_word(x, b, i));
    const vi rounded = vi_add(vh_shift_right_by(twice, g->below[i]), vi_set(0x10001));
    sum = vi_dot2(sum, vi_and(rounded, vi_set((int32_t)0xfffefffe)), g->sign[i]);
  }
  return vi_shift_down_by(sum, vi_set(1));
}

/* Returns x * 2^-n, rounded to nearest, ties up; n >= 0. */
static inline vi slices_round_up(vi x, vi n) {
  return vi_shift_down_by(vi_add(vi_shift_down_by(vi_shift_left(x, 1), n), vi_set(1)), vi_set(1));
}

/* Returns the sum of a group, rounded to units of 2^(R - 23), and then to units of 2^(R - 10) if `again` (D of 16
   bits). `below` is the distance of the group's exponent below R. */
static inline vi slices_align(vi sum, vi below, bool again) {
  const vi aligned = slices_round_up(vi_shift_left(sum, SLICES_SUM - SLICES_TERM), below);
  return again ? slices_round_up(aligned, vi_set(SLICES_AGAIN)) : aligned;
}

/* Returns the magnitude, negated in lanes in which `negative` is -1 (it is 0 in others). */
static inline vi slices_signed(vi magnitude, vi negative) { return vi_subtract(vi_xor(magnitude, negative), negative); }

/* Returns a total below 2^30 in binary32, rounded to nearest, ties away from zero. It is divided into its last 8 bits
   and the rest, which are both exact in binary32. 2^-32 of the rest is added to the last 8 bits: a number with the
   total's sign and below 1, which turns ties away from zero, but does not change any total below 2^24. */
static inline vf slices_round_away(vi total) {
  const vi last = vi_and(total, vi_set(0xff));
  const vf upper = vi_to_float(vi_subtract(total, last));
  return vf_add(upper, vf_fma(upper, vf_set(0x1p-32f), vi_to_float(last)));
}

/* Returns the magnitude of a sum, in units of 2^(R - 23) or 2^(R - 10), rounded to D's precision: the encoding in
   binary32 of the number of units. */
static inline __attribute__((always_inline)) vi slices_narrow(smma_format d, vi magnitude) {
  if (d == SMMA_BF16)
    return vi_and(vi_add(vf_bits(vi_to_float(magnitude)), vi_set(0x8000)), vi_set((int32_t)0xffff0000));
  if (d == SMMA_F16)
    return vi_and(vi_add(vf_bits(vi_to_float(magnitude)), vi_set(0x1000)), vi_set((int32_t)0xffffe000));
  return vf_bits(slices_round_away(magnitude));
}

/* Returns the total. Where it is -1, returns the number that Wormhole uses instead: -2^minus_one. */
static inline vi slices_minus_one(const slices_rule *rule, vi total) {
  if (!rule->minus_one) return total;
  return vi_select(vi_equal(total, vi_set(-1)), vi_set(-(1 << rule->minus_one)), total);
}

/* The sums of both groups, and their exponents, which determine R. */
typedef struct {
  vi exponent[2], sum[2];
} slices_sums;

/* Returns the sums, with 0 and SLICES_NONE for each sum whose exponent is below D's least exponent. */
static inline slices_sums slices_lose(const slices_rule *rule, slices_sums x) {
  UNROLL for (int g = 0; g < 2; g++) {
    const vm lost = vi_less(x.exponent[g], vi_set(rule->least));
    x.exponent[g] = vi_select(lost, vi_set(SLICES_NONE), x.exponent[g]);
    x.sum[g] = vi_select(lost, vi_set(0), x.sum[g]);
  }
  return x;
}

/* Returns d plus the sums, rounded to D's format; d is held in binary32. */
static inline __attribute__((always_inline)) vf slices_add(const slices_rule *rule, smma_format format, slices_sums x,
                                                           vf d) {
  const bool again = format != SMMA_F32;
  const int unit = again ? SLICES_SUM - SLICES_AGAIN : SLICES_SUM;
  const vi bits = vf_bits(d), least = vi_set(rule->least), negative = vi_shift_down_by(bits, vi_set(31));
  const vi own = vi_subtract(vi_shift_right(vi_and(bits, vi_set(255 << 23)), 23), vi_set(127));
  const vm zero = vi_less(own, least);
  const vi of_d = vi_select(zero, vi_set(SLICES_NONE), own);
  const vi significand = vi_or(vi_and(bits, vi_set(0x7fffff)), vi_set(0x800000));
  const vi most = vi_max(vi_max(x.exponent[0], x.exponent[1]), of_d);
  const int greatest = format == SMMA_F16 ? 127 + 16 : 254, overflow = format == SMMA_F16 ? 0x47ffe000 : 255 << 23;
  vi total = slices_round_up(vi_select(zero, vi_set(0), significand), vi_subtract(most, of_d)), magnitude, result,
     field;
  if (again) total = slices_round_up(total, vi_set(SLICES_AGAIN));
  total = slices_signed(total, negative);
  UNROLL for (int g = 0; g < 2; g++) total =
      vi_add(total, slices_align(x.sum[g], vi_subtract(most, x.exponent[g]), again));
  total = slices_minus_one(rule, total);
  magnitude = vi_magnitude(total);
  result = slices_narrow(format, magnitude);
  field = vi_add(vi_shift_right(result, 23), vi_subtract(most, vi_set(unit)));
  result = vi_add(result, vi_shift_left(vi_subtract(most, vi_set(unit)), 23));
  result = vi_select(vi_less(vi_set(greatest), field), vi_set(overflow), result);
  result = vi_or(result, vi_and(total, vi_set(INT32_MIN)));
  return vi_as_float(vi_select(
      vm_or(vi_equal(total, vi_set(0)), vm_or(vi_less(field, vi_set(rule->least + 127)), vi_less(most, least))),
      vi_set(0), result));
}

/* Returns d after one step of one row and LANES columns. */
static inline __attribute__((always_inline)) vf slices_step(const slices_rule *rule, smma_format format,
                                                            const int32_t *a, const int32_t *b, vf d) {
  const slices_operands operands[2] = {slices_group_of(a, b, 0), slices_group_of(a, b, 1)};
  const slices_group group[2] = {slices_compare(rule, operands[0]), slices_compare(rule, operands[1])};
  for (int phase = 0; phase < rule->phases; phase++) {
    const int of_a = phase / 2, of_b = phase % 2;
    const vi lower = vi_set(of_a * SLICES_OF_A + of_b * SLICES_OF_B);
    slices_sums x;
    UNROLL for (int g = 0; g < 2; g++) {
      x.exponent[g] = vi_subtract(group[g].exponent, lower);
      x.sum[g] = slices_sum(&group[g], operands[g], of_a, of_b);
    }
    d = slices_add(rule, format, slices_lose(rule, x), d);
  }
  return d;
}

/* ---- Sums of usual operands ---- */

/* Returns x, which has at most 15 bits, rounded to nearest, ties up. */
static inline vi slices_nearest_up(vf x) { return vf_floor(vf_add(x, vf_set(0.5f))); }

/* Returns x rounded to nearest, ties away from zero. It adds the number just below 1/2 and truncates. Adding 1/2 itself
   would be wrong for odd numbers from 2^23 on, and for the number just below 1/2. Ties still reach the next integer,
   because the addition rounds. */
static inline vi slices_nearest_away(vf x) {
  const vi sign = vi_and(vf_bits(x), vi_set(INT32_MIN));
  return vf_truncate(vf_add(x, vi_as_float(vi_or(sign, vf_bits(vf_set(0x1.fffffep-2f))))));
}

/* Does the same as slices_add for usual operands and D in FP32. Here exponents are exponent fields of binary32, and
   sums are values. */
static inline __attribute__((always_inline)) vf slices_add_usual(const slices_rule *rule, const vi exponent[2],
                                                                 const vf sum[2], vf d) {
  const vi most = vi_max(vi_max(exponent[0], exponent[1]), vi_and(vf_bits(d), vi_set(255 << 23)));
  const vf scale = vi_as_float(vi_subtract(vi_set((int32_t)((254u + SLICES_SUM) << 23)), most));
  const vf unit = vi_as_float(vi_subtract(most, vi_set(SLICES_SUM << 23)));
  vi total = slices_nearest_away(vf_multiply(d, scale));
  UNROLL for (int g = 0; g < 2; g++) total = vi_add(total, slices_nearest_up(vf_multiply(sum[g], scale)));
  total = slices_minus_one(rule, total);
  return vf_multiply(slices_round_away(total), unit);
}

/* Returns the same address, hidden from the compiler: otherwise gcc computes it again for each element. */
static inline const float *slices_keep(const float *p) {
  __asm__("" : "+r"(p));
  return p;
}

/* Adds the products of one step to the accumulators d of SLICES_ROWS rows and LANES columns. Rows are `row_words` words
   apart. */
static inline __attribute__((always_inline)) void slices_step_usual(const slices_rule *rule, smma_format format,
                                                                    const int32_t *a, size_t row_words,
                                                                    const int32_t *b, vf d[SLICES_ROWS]) {
  const vi none = vi_set(rule->zero < SLICES_USUAL_NONE ? SLICES_USUAL_NONE : rule->zero);
  vi first[SLICES_ROWS][2]; /* exponents in the first phase, as exponent fields of binary32 */
  UNROLL for (size_t i = 0; i < SLICES_ROWS; i++) UNROLL for (int g = 0; g < 2; g++) {
    vi sums[SLICES_GROUP / 2];
    const vi most = slices_greatest(slices_group_of(a + i * row_words, b, g), sums);
    first[i][g] = vi_shift_left(vi_add(slices_exponent(rule, most, none), vi_set(127)), 23);
  }
  for (int phase = 0; phase < rule->phases; phase++) {
    const int of_a = phase / 2, of_b = phase % 2, lower = of_a * SLICES_OF_A + of_b * SLICES_OF_B;
    const float *y = (const float *)b + (SLICES_VALUES + of_b * SLICES_K) * LANES, *x[SLICES_ROWS];
    vi exponent[SLICES_ROWS][2];
    vf start[SLICES_ROWS][2], sum[SLICES_ROWS][2];
    UNROLL for (size_t i = 0; i < SLICES_ROWS; i++) x[i] =
        slices_keep((const float *)a + i * row_words + SLICES_VALUES + of_a * SLICES_K);
    UNROLL for (size_t i = 0; i < SLICES_ROWS; i++) UNROLL for (int g = 0; g < 2; g++) {
      exponent[i][g] = vi_subtract(first[i][g], vi_set(lower << 23));
      start[i][g] = vi_as_float(vi_add(exponent[i][g], vi_set(SLICES_START)));
      sum[i][g] = start[i][g];
    }
    UNROLL for (int k = 0; k < SLICES_GROUP; k++) UNROLL for (int g = 0; g < 2; g++) {
      const vf column = vf_load(y + (g * SLICES_GROUP + k) * LANES);
      UNROLL for (size_t i = 0; i < SLICES_ROWS; i++) sum[i][g] =
          vf_fma(vf_set(x[i][g * SLICES_GROUP + k]), column, sum[i][g]);
    }
    UNROLL for (size_t i = 0; i < SLICES_ROWS; i++) {
      if (format == SMMA_F32) {
        UNROLL for (int g = 0; g < 2; g++) sum[i][g] = vf_subtract(sum[i][g], start[i][g]);
        d[i] = slices_add_usual(rule, exponent[i], sum[i], d[i]);
      } else {
        slices_sums s;
        UNROLL for (int g = 0; g < 2; g++) {
          s.exponent[g] = vi_subtract(vi_shift_right(exponent[i][g], 23), vi_set(127));
          s.sum[g] = vi_subtract(vf_bits(sum[i][g]), vf_bits(start[i][g]));
        }
        d[i] = slices_add(rule, format, slices_lose(rule, s), d[i]);
      }
    }
  }
}

/* Returns the lanes whose accumulators are not usual: neither zero nor within the bounds. */
static inline vm slices_are_unusual(vf d) {
  const vi magnitude = vi_and(vf_bits(d), vi_set(INT32_MAX));
  const vm outside = vm_or(vi_less(magnitude, vi_set((127 + SLICES_LEAST) << 23)),
                           vi_less(vi_set((127 + SLICES_GREATEST) << 23), magnitude));
  return vm_and_not(outside, vi_equal(magnitude, vi_set(0)));
}

/* Returns 1 in the lanes of columns that are not usual in a step of the run. */
static inline vi slices_unusual_columns(const int32_t *b, size_t steps) {
  vi unusual = vi_set(0);
  for (size_t step = 0; step < steps; step++)
    unusual = vi_or(unusual, vi_load(b + step * SLICES_WORDS * PANEL + SLICES_UNUSUAL * LANES));
  return unusual;
}

/* Reports whether SLICES_ROWS rows are usual in all steps of the run. */
static inline bool slices_are_usual_rows(const int32_t *a, size_t row_words, size_t steps) {
  int32_t unusual = 0;
  for (size_t i = 0; i < SLICES_ROWS; i++)
    for (size_t step = 0; step < steps; step++) unusual |= a[i * row_words + step * SLICES_WORDS + SLICES_UNUSUAL];
  return !unusual;
}

/* Computes a run with D in this format. SLICES_ROWS rows of LANES columns are computed together, so that processors
   overlap the dependent operations of several rows. */
static inline __attribute__((always_inline)) void slices_run_in(smma_format format, const smma_run *r) {
  const slices_rule rule = slices_rule_of(&r->multiplier->operation);
  const size_t row_words = r->packed_steps * SLICES_WORDS, steps = r->last - r->first;
  const int32_t *rows = (const int32_t *)r->a + r->first * SLICES_WORDS;
  bool usual_rows[SMMA_TILE_ROWS / SLICES_ROWS];
  for (size_t row = 0; row < r->rows; row += SLICES_ROWS)
    usual_rows[row / SLICES_ROWS] = slices_are_usual_rows(rows + row * row_words, row_words, steps);
  for (size_t v = 0; v < PANEL; v += LANES) {
    const int32_t *b = (const int32_t *)r->b + SLICES_WORDS * (r->first * PANEL + v);
    const bool usual_columns = !vm_bits(vi_has(slices_unusual_columns(b, steps), vi_set(1)));
    for (size_t row = 0; row < r->rows; row += SLICES_ROWS) {
      const int32_t *a = rows + row * row_words;
      float *accumulator = (float *)r->accumulator + row * PANEL + v;
      vf d[SLICES_ROWS];
      vm unusual = vi_less(vi_set(0), vi_set(0)); /* no lane is set */
      UNROLL for (size_t i = 0; i < SLICES_ROWS; i++) {
        d[i] = vf_load(accumulator + i * PANEL);
        unusual = vm_or(unusual, slices_are_unusual(d[i]));
        __builtin_prefetch(accumulator + (i + SLICES_ROWS) * PANEL);
      }
      if (usual_columns && usual_rows[row / SLICES_ROWS] && !vm_bits(unusual))
        for (size_t step = 0; step < steps; step++)
          slices_step_usual(&rule, format, a + step * SLICES_WORDS, row_words, b + step * SLICES_WORDS * PANEL, d);
      else
        for (size_t step = 0; step < steps; step++)
          for (size_t i = 0; i < SLICES_ROWS; i++)
            d[i] = slices_step(&rule, format, a + i * row_words + step * SLICES_WORDS, b + step * SLICES_WORDS * PANEL,
                               d[i]);
      UNROLL for (size_t i = 0; i < SLICES_ROWS; i++) vf_store(accumulator + i * PANEL, d[i]);
    }
  }
}

static void slices_run_f32(const smma_run *r) { slices_run_in(SMMA_F32, r); }
static void slices_run_f16(const smma_run *r) { slices_run_in(SMMA_F16, r); }
static void slices_run_bf16(const smma_run *r) { slices_run_in(SMMA_BF16, r); }

static void slices_run(const smma_run *r) {
  switch (r->multiplier->operation.d) {
    case SMMA_F16: slices_run_f16(r); break;
    case SMMA_BF16: slices_run_bf16(r); break;
    default: slices_run_f32(r); break;
  }
}

#endif
