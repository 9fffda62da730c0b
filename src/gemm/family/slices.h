/* Products of slices of significands (Tenstorrent's MVMUL, docs/algorithms/mvmul.md), in integers: any exponents, and
   encodings of infinities and NaN as numbers.

   A slice of a has 7 bits, one of b 5 bits, so their product p is below 2^12. Let s be the distance of its exponent
   below E, the greatest of its group, in which a phase lowers all exponents alike. The term is p 2^-s to nearest, ties
   away from zero. Twice the term is 2 p 2^-s, rounded down, plus 1, without its last bit. Two terms are computed in the
   halves of a lane; the products by their signs, 1 or -1, are added up in the lane. Twice a sum of eight terms is below
   2^16.

   The sums of both groups and d are aligned to R, the greatest of their exponents, in units of 2^(R - 23): a sum is
   below 2^28 units, and all three together are below 2^30. Each is rounded after a division that leaves one bit more.
 */
#ifndef SMMA_GEMM_FAMILY_SLICES_H
#define SMMA_GEMM_FAMILY_SLICES_H

#include "gemm/family/words.h"
#include "gemm/pack.h"

enum {
  SLICES_K = 16,
  SLICES_GROUP = 8, /* products whose sum is one node */
  SLICES_PAIRS = SLICES_K / 2,
  SLICES_OF_A = 7, /* bits of a slice */
  SLICES_OF_B = 5,
  SLICES_BITS = 11,   /* bits of a significand; significands of BF16 end in zeros */
  SLICES_TERM = 10,   /* a term is a multiple of 2^(E - 10) */
  SLICES_SUM = 23,    /* an aligned sum is a multiple of 2^(R - 23) ... */
  SLICES_AGAIN = 13,  /* ... or, for D of 16 bits, of 2^(R - 10) */
  SLICES_RAISE = 512, /* added to the exponent field of a number other than zero */
  SLICES_ROWS = 4,    /* rows that are computed together */
  SLICES_NONE = -1000 /* the exponent of a sum that takes no part in the alignment */
};

/* The words of a pair of packed numbers: both slices; exponent fields, 0 for zero and raised by SLICES_RAISE otherwise;
   signs. */
enum { SLICES_FIRST, SLICES_SECOND, SLICES_FIELDS, SLICES_SIGNS, SLICES_ITEMS };
enum { SLICES_WORDS = SLICES_PAIRS * SLICES_ITEMS };

/* Parameters of an operation. */
typedef struct {
  int phases;
  int bias;      /* the sum of the biases of a and b */
  int least;     /* the least exponent of a sum and of D */
  int zero;      /* exponent of a group of zeros in the first phase; SLICES_NONE: it is not aligned */
  int minus_one; /* a sum of -1 unit counts as -2^minus_one units; 0: it does not */
  smma_format d;
} slices_rule;

static bool slices_read(smma_format format) { return format == SMMA_BF16 || format == SMMA_TF32 || format == SMMA_F16; }

static bool slices_is_cut(const smma_cut *cut, int bits, smma_rounding rounding, int zero_exponent, int again) {
  return cut->brings == SMMA_BRINGS_OWN && cut->offset == 0 && cut->least == SMMA_NONE &&
         cut->zero_exponent == zero_exponent && cut->bits == bits && cut->rounding == rounding &&
         cut->drop == SMMA_NONE && cut->again == again;
}

static bool slices_is_step(const smma_step *s, int take, smma_join join) {
  return s->take == take && s->turn == take && s->join == join && s->chains == 1 && s->stride == 1 && !s->descending &&
         s->reference == SMMA_NONE && s->reference_multiple == 1 && !s->cancelled_is_zero &&
         s->opposing == SMMA_OPPOSING_EXACT && s->width == SMMA_NONE;
}

static bool slices_multiply(const smma_composition *p) {
  const smma_subnormal_policy flushed = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  return p->subnormal_a == flushed && p->subnormal_b == flushed && p->subnormal_c == flushed &&
         p->widen == SMMA_NO_FORMAT && p->product_limit == SMMA_NONE && p->scaled_step == 0 &&
         p->product == SMMA_PRODUCT_MULTIPLIED && p->block_bits_a == 0 && p->block_bits_b == 0 &&
         p->slice_a == SLICES_OF_A && p->slice_b == SLICES_OF_B && p->slices_b == 2 && p->first_phase == 0 &&
         p->phases >= 1 && p->phases <= 4;
}

static bool slices_are_groups(const smma_step *s, int zero_exponent) {
  return slices_is_step(s, SLICES_GROUP, SMMA_JOIN_APART) &&
         slices_is_cut(&s->term, SLICES_TERM, SMMA_ROUND_NEAREST_AWAY, zero_exponent, 0) && s->minus_one_shift == 0 &&
         s->narrow_bits == SMMA_NONE && s->output == SMMA_NO_FORMAT;
}

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

/* The items of one number. Slices of A are doubled. Signs are 0 and 0xfffe for numbers of A, 1 and 0xffff for those of
   B: each other's exclusive or is 1 or -1. */
typedef struct {
  uint32_t item[SLICES_ITEMS];
} slices_number;

static inline slices_number slices_decode(const smma_decoder *d, bool of_a, uint32_t code) {
  const uint32_t x = code >> d->ignored, fields = x & d->fields_mask, field = fields >> d->fraction_bits;
  const uint32_t hidden = 1u << d->fraction_bits, nonzero = -(uint32_t)(field != 0);
  const uint32_t significand = (((fields & (hidden - 1)) | hidden) << (SLICES_BITS - 1 - d->fraction_bits)) & nonzero;
  const uint32_t negative = -(x >> d->sign_at & 1) & 0xfffe;
  return (slices_number){{of_a ? significand >> 4 << 1 : significand >> 6,
                          of_a ? (significand & 15) << 4 : significand >> 1 & 31, (field + SLICES_RAISE) & nonzero,
                          of_a ? negative : negative ^ 1}};
}

/* Packs one step of `f->vectors` lines. Word i of line v is written to out[i * word + v * line]. */
static inline __attribute__((always_inline)) void slices_pack_step(const smma_fetch *f, const smma_decoder *d,
                                                                   size_t word, size_t line, uint32_t *out) {
  uint32_t code[SLICES_K * SMMA_MOST_VECTORS];
  smma_fetch_codes(f, code);
  for (size_t pair = 0; pair < SLICES_PAIRS; pair++)
    for (size_t v = 0; v < f->vectors; v++) {
      const slices_number even = slices_decode(d, f->of_a, code[2 * pair * f->vectors + v]);
      const slices_number odd = slices_decode(d, f->of_a, code[(2 * pair + 1) * f->vectors + v]);
      for (size_t i = 0; i < SLICES_ITEMS; i++)
        out[(pair * SLICES_ITEMS + i) * word + v * line] = even.item[i] | odd.item[i] << 16;
    }
}

/* Each row's steps follow each other. */
static void slices_pack_rows(const smma_pack *pack) {
  enum { TOGETHER = 16 };
  const smma_decoder d = smma_decoder_of(pack->view->format);
  uint32_t *out = pack->out;
  for (size_t row = 0; row < pack->count; row += TOGETHER)
    for (size_t step = 0; step < pack->steps; step++) {
      const smma_fetch f = {pack->multiplier, pack->view,        true, pack->first + row,
                            TOGETHER,         pack->step + step, 0,    SLICES_K};
      slices_pack_step(&f, &d, 1, pack->steps * SLICES_WORDS, out + (row * pack->steps + step) * SLICES_WORDS);
    }
}

static void slices_pack_columns(const smma_pack *pack) {
  const smma_decoder d = smma_decoder_of(pack->view->format);
  uint32_t *out = pack->out;
  for (size_t step = 0; step < pack->steps; step++, out += SLICES_WORDS * PANEL) {
    const smma_fetch f = {pack->multiplier, pack->view, false, pack->first, PANEL, pack->step + step, 0, SLICES_K};
    slices_pack_step(&f, &d, PANEL, 1, out);
  }
}

/* ---- Sums ---- */

/* A group of one row and LANES columns, whatever the phase. */
typedef struct {
  vi below[SLICES_GROUP / 2], sign[SLICES_GROUP / 2]; /* distance of each product's exponent from the greatest; signs */
  vi exponent;                                        /* the greatest in the first phase */
} slices_group;

static inline vi slices_row_word(const int32_t *a, int pair, int item) { return vi_set(a[pair * SLICES_ITEMS + item]); }

static inline vi slices_column_word(const int32_t *b, int pair, int item) {
  return vi_load(b + (pair * SLICES_ITEMS + item) * PANEL);
}

static inline __attribute__((always_inline)) slices_group slices_compare(const slices_rule *rule, const int32_t *a,
                                                                         const int32_t *b) {
  slices_group g;
  vi most = vi_set(0), fields;
  UNROLL for (int i = 0; i < SLICES_GROUP / 2; i++) {
    g.below[i] = vi_add(slices_row_word(a, i, SLICES_FIELDS), slices_column_word(b, i, SLICES_FIELDS));
    most = vh_max(most, g.below[i]);
    g.sign[i] = vi_xor(slices_row_word(a, i, SLICES_SIGNS), slices_column_word(b, i, SLICES_SIGNS));
  }
  most = vh_max(most, vi_or(vi_shift_left(most, 16), vi_shift_right(most, 16)));
  UNROLL for (int i = 0; i < SLICES_GROUP / 2; i++) g.below[i] = vh_subtract(most, g.below[i]);
  fields = vi_subtract(vi_and(most, vi_set(0xffff)), vi_set(2 * SLICES_RAISE));
  g.exponent = vi_select(vi_less(fields, vi_set(0)), vi_set(rule->zero), vi_subtract(fields, vi_set(rule->bias)));
  return g;
}

/* Returns twice the sum of a group's terms; `of_a` and `of_b` are the slices of the phase. */
static inline __attribute__((always_inline)) vi slices_sum(const slices_group *g, const int32_t *a, const int32_t *b,
                                                           int of_a, int of_b) {
  vi sum = vi_set(0);
  UNROLL for (int i = 0; i < SLICES_GROUP / 2; i++) {
    const vi twice = vh_multiply(slices_row_word(a, i, of_a), slices_column_word(b, i, of_b));
    const vi rounded = vi_add(vh_shift_right_by(twice, g->below[i]), vi_set(0x10001));
    sum = vi_dot2(sum, vi_and(rounded, vi_set((int32_t)0xfffefffe)), g->sign[i]);
  }
  return sum;
}

/* Returns x 2^-n to nearest, ties up; n >= 0. */
static inline vi slices_round_up(vi x, vi n) {
  return vi_shift_down_by(vi_add(vi_shift_down_by(vi_shift_left(x, 1), n), vi_set(1)), vi_set(1));
}

/* Returns the sum of a group, given twice, in units of 2^(R - 23), or 2^(R - 10) for D of 16 bits. */
static inline vi slices_align(vi twice, vi below, bool again) {
  const vi aligned = slices_round_up(vi_shift_left(twice, SLICES_SUM - SLICES_TERM - 1), below);
  return again ? slices_round_up(aligned, vi_set(SLICES_AGAIN)) : aligned;
}

static inline vi slices_signed(vi magnitude, vi negative) { return vi_subtract(vi_xor(magnitude, negative), negative); }

/* Returns a sum of units of 2^(R - 23) or 2^(R - 10) in D's precision, as binary32 without the exponent R. */
static inline __attribute__((always_inline)) vi slices_narrow(smma_format d, vi magnitude) {
  const vi exponents = vi_set(255 << 23);
  vi half;
  if (d == SMMA_BF16)
    return vi_and(vi_add(vf_bits(vi_to_float(magnitude)), vi_set(0x8000)), vi_set((int32_t)0xffff0000));
  if (d == SMMA_F16)
    return vi_and(vi_add(vf_bits(vi_to_float(magnitude)), vi_set(0x1000)), vi_set((int32_t)0xffffe000));
  half = vf_truncate(vf_multiply(vi_as_float(vi_and(vf_bits(vi_to_float(magnitude)), exponents)), vf_set(0x1p-24f)));
  return vf_bits(vi_to_float(vi_add(magnitude, half)));
}

/* Returns d for the sums of both groups, whose exponents are `exponent`; a sum that brings no exponent is 0. */
static inline __attribute__((always_inline)) vf slices_add(const slices_rule *rule, smma_format format,
                                                           const vi exponent[2], const vi sum[2], vf d) {
  const bool again = format != SMMA_F32;
  const int unit = again ? SLICES_SUM - SLICES_AGAIN : SLICES_SUM;
  const vi bits = vf_bits(d), least = vi_set(rule->least), negative = vi_shift_down_by(bits, vi_set(31));
  const vi own = vi_subtract(vi_shift_right(vi_and(bits, vi_set(255 << 23)), 23), vi_set(127));
  const vm zero = vi_less(own, least);
  const vi of_d = vi_select(zero, vi_set(SLICES_NONE), own);
  const vi significand = vi_or(vi_and(bits, vi_set(0x7fffff)), vi_set(0x800000));
  const vi most = vi_max(vi_max(exponent[0], exponent[1]), of_d);
  const int greatest = format == SMMA_F16 ? 127 + 16 : 254, overflow = format == SMMA_F16 ? 0x47ffe000 : 255 << 23;
  vi total = slices_round_up(vi_select(zero, vi_set(0), significand), vi_subtract(most, of_d)), magnitude, result,
     field;
  if (again) total = slices_round_up(total, vi_set(SLICES_AGAIN));
  total = slices_signed(total, negative);
  UNROLL for (int g = 0; g < 2; g++) total = vi_add(total, slices_align(sum[g], vi_subtract(most, exponent[g]), again));
  if (rule->minus_one) total = vi_select(vi_equal(total, vi_set(-1)), vi_set(-(1 << rule->minus_one)), total);
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

/* Adds the products of one step to d. */
static inline __attribute__((always_inline)) vf slices_step(const slices_rule *rule, smma_format format,
                                                            const int32_t *a, const int32_t *b, vf d) {
  enum { A_GROUP = SLICES_WORDS / 2, B_GROUP = SLICES_WORDS / 2 * PANEL };
  const slices_group group[2] = {slices_compare(rule, a, b), slices_compare(rule, a + A_GROUP, b + B_GROUP)};
  for (int phase = 0; phase < rule->phases; phase++) {
    const int of_a = phase / 2, of_b = phase % 2;
    const vi lower = vi_set(of_a * SLICES_OF_A + of_b * SLICES_OF_B), least = vi_set(rule->least);
    vi exponent[2], sum[2];
    UNROLL for (int g = 0; g < 2; g++) {
      vm lost;
      exponent[g] = vi_subtract(group[g].exponent, lower);
      sum[g] = slices_sum(&group[g], a + g * A_GROUP, b + g * B_GROUP, of_a, of_b);
      lost = vi_less(exponent[g], least);
      exponent[g] = vi_select(lost, vi_set(SLICES_NONE), exponent[g]);
      sum[g] = vi_select(lost, vi_set(0), sum[g]);
    }
    d = slices_add(rule, format, exponent, sum, d);
  }
  return d;
}

/* Computes SLICES_ROWS rows at a time, so that processors overlap their dependent operations. */
static inline __attribute__((always_inline)) void slices_run_in(smma_format format, const smma_run *r) {
  const slices_rule rule = slices_rule_of(&r->multiplier->operation);
  for (size_t v = 0; v < PANEL; v += LANES)
    for (size_t row = 0; row < r->rows; row += SLICES_ROWS) {
      const int32_t *a = (const int32_t *)r->a + (row * r->packed_steps + r->first) * SLICES_WORDS;
      const int32_t *b = (const int32_t *)r->b + r->first * SLICES_WORDS * PANEL + v;
      float *accumulator = (float *)r->accumulator + row * PANEL + v;
      for (size_t step = r->first; step < r->last; step++, a += SLICES_WORDS, b += SLICES_WORDS * PANEL)
        for (size_t i = 0; i < SLICES_ROWS; i++) {
          float *d = accumulator + i * PANEL;
          vf_store(d, slices_step(&rule, format, a + i * r->packed_steps * SLICES_WORDS, b, vf_load(d)));
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
