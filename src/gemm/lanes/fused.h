/* Lane functions of the algorithms that align products and sum them as integers. `n` is the number of lanes, a constant
   in all callers. An array has one entry for each lane. */
#ifndef SMMA_GEMM_LANES_FUSED_H
#define SMMA_GEMM_LANES_FUSED_H

#include "gemm/element.h"
#include "gemm/lanes/number.h"

/* Constants of an operation, computed once for all lanes. */
typedef struct {
  const smma_operation *operation;
  lane_format a, b, d, scale; /* for decoding a, b, accumulators and scale factors */
  lane_output out;            /* for encoding results in D's format */
  int32_t fraction_bits;      /* of a product: the sum of those of a and b */
} lane_rule;

LANE_BODY lane_rule lane_rule_of(const smma_operation *o) {
  return (lane_rule){.operation = o,
                     .a = lane_format_of(o->a),
                     .b = lane_format_of(o->b),
                     .d = lane_format_of(o->d),
                     .scale = lane_format_of(o->scale_block ? o->scale : SMMA_UE8M0),
                     .out = lane_output_of(o->d, o->rule.nan),
                     .fraction_bits = smma_encoding_of(o->a).fraction_bits + smma_encoding_of(o->b).fraction_bits};
}

/* A term in each lane. Its magnitude is significand * 2^(exponent - bits), where `bits` is an argument of the function
   that makes the term. */
typedef struct {
  uint64_t significand[SMMA_LANES];
  int32_t exponent[SMMA_LANES];
  int32_t negative[SMMA_LANES]; /* -1 if the term is negative, else 0 */
} lane_term;

/* The terms of a sum in each lane. */
typedef struct {
  int32_t exponent[SMMA_LANES]; /* the greatest exponent of the terms */
  int32_t specials[SMMA_LANES]; /* the infinities and NaN among the terms: a mask of HAS_NAN ... */
  lane_term term[SMMA_MAXIMUM_K + 1];
} lane_terms;

/* Returns floor(x * 2^n), for the same n in all lanes. */
LANE_BODY uint64_t lane_scaled(uint64_t x, int32_t n) { return x << lane_maximum(n, 0) >> lane_maximum(-n, 0); }

/* Gives an FP8 number the significand and exponent that it has as an FP16 number: subnormals of E4M3 become normal. */
LANE_BODY lane_number lane_widen_to_f16(lane_format f, lane_number x) {
  const uint32_t one = UINT32_C(1) << f.fraction_bits;
  const int32_t zeros = (x.significand < one) + (x.significand < one >> 1) + (x.significand < one >> 2);
  const int32_t shift = lane_minimum(zeros, x.exponent + 14);
  x.significand <<= shift;
  x.exponent -= shift;
  return x;
}

/* What happens to factors before the multiplication. Callers pass a constant, so that compilers remove the other
   cases. */
typedef enum {
  LANE_PLAIN,  /* nothing */
  LANE_SCALED, /* their scale factors are applied */
  LANE_WIDENED /* they are converted to FP16 */
} lane_factors;

/* The product of a scale factor of a and a scale factor of b, in each lane. Both are powers of two. */
typedef struct {
  int32_t exponent[SMMA_LANES], kind[SMMA_LANES];
} lane_scale;

/* Computes the product of a's and b's scale factor number s. */
LANE_BODY void lane_scale_at(const lane_rule *r, const smma_lanes *x, int s, int n, lane_scale *out) {
  for (int i = 0; i < n; i++) {
    const lane_number a = lane_decode(r->scale, x->scale_a.code[s][i]),
                      b = lane_decode(r->scale, x->scale_b.code[s][i]);
    out->exponent[i] = a.exponent + b.exponent;
    out->kind[i] = lane_product_kind(a.kind, b.kind);
  }
}

/* Computes product k as a term, truncated to a multiple of 2^(exponent - bits). A zero product gets the exponent
   `none`. If the product is infinite or NaN, its bit is set in `specials`. `scale` is read for LANE_SCALED only. */
LANE_BODY void lane_product(const lane_rule *r, const smma_lanes *x, int k, lane_factors factors,
                            const lane_scale *scale, int32_t bits, int32_t none, int n, lane_term *out,
                            int32_t *specials) {
  const int32_t up = bits - r->fraction_bits;
  for (int i = 0; i < n; i++) {
    lane_number a = lane_decode(r->a, x->a.code[k][i]), b = lane_decode(r->b, x->b.code[k][i]);
    if (factors == LANE_WIDENED) a = lane_widen_to_f16(r->a, a), b = lane_widen_to_f16(r->b, b);
    int32_t kind = lane_product_kind(a.kind, b.kind), exponent = a.exponent + b.exponent;
    if (factors == LANE_SCALED) {
      exponent += scale->exponent[i];
      kind = lane_product_kind(kind, scale->kind[i]);
    }
    const uint32_t negative = a.negative ^ b.negative;
    out->significand[i] = lane_scaled((uint64_t)a.significand * b.significand, up);
    out->exponent[i] = kind == SMMA_ZERO ? none : exponent;
    out->negative[i] = -(int32_t)negative;
    specials[i] |= lane_specials(kind, negative);
  }
}

/* Decodes the accumulator d as a term, as lane_product does for a product. */
LANE_BODY void lane_c(const lane_rule *r, const uint32_t *d, int32_t bits, int32_t none, int n, lane_term *out,
                      int32_t *specials) {
  const int32_t up = bits - (int32_t)r->d.fraction_bits;
  for (int i = 0; i < n; i++) {
    const lane_number c = lane_decode(r->d, d[i]);
    out->significand[i] = lane_scaled(c.significand, up);
    out->exponent[i] = c.kind == SMMA_ZERO ? none : c.exponent;
    out->negative[i] = -(int32_t)c.negative;
    specials[i] |= lane_specials(c.kind, c.negative);
  }
}

/* Finds the greatest exponent of every `stride`-th term from `first` on, below `count`; SMMA_NO_EXPONENT if there is no
   term. */
LANE_BODY void lane_greatest(const lane_term *term, int first, int count, int stride, int n, int32_t *greatest) {
  for (int i = 0; i < n; i++) greatest[i] = SMMA_NO_EXPONENT;
  for (int t = first; t < count; t += stride)
    for (int i = 0; i < n; i++) greatest[i] = lane_maximum(greatest[i], term[t].exponent[i]);
}

/* Computes the sum of every `stride`-th term from `first` on, below `count`, in units of 2^(exponent - bits). Each term
   is truncated to whole units first. `exponent` must not be less than the exponent of a term. */
LANE_BODY void lane_sum(const lane_term *term, int first, int count, int stride, const int32_t *exponent, int n,
                        int64_t *sum) {
  for (int i = 0; i < n; i++) sum[i] = 0;
  for (int t = first; t < count; t += stride)
    for (int i = 0; i < n; i++) {
      const int64_t aligned = (int64_t)lane_shift_right(term[t].significand[i], exponent[i] - term[t].exponent[i]);
      const int64_t negative = term[t].negative[i];
      sum[i] += (aligned ^ negative) - negative;
    }
}

/* Computes the sum of `count` terms and c as smma_t_fdpa_sum does. `d` holds c, then the result. */
LANE_BODY void lane_t_fdpa_sum(const lane_rule *r, const smma_t_fdpa *p, int count, int n, lane_terms *x, uint32_t *d) {
  const lane_output out = lane_output_of(p->output, r->operation->rule.nan);
  int64_t sum[SMMA_LANES];
  lane_c(r, d, p->alignment_bits, p->zero_exponent, n, &x->term[count], x->specials);
  lane_greatest(x->term, 0, count + 1, 1, n, x->exponent);
  lane_sum(x->term, 0, count + 1, 1, x->exponent, n, sum);
  for (int i = 0; i < n; i++) {
    const uint32_t finite = lane_encode_sum(out, p->rounding, sum[i], x->exponent[i] - p->alignment_bits);
    d[i] = lane_with_specials(out, x->specials[i], lane_positive_zero(out, finite));
  }
}

/* Computes one block of T-FDPA, ST-FDPA or FP8 by FP16. Here and below, `d` holds the accumulator before the block,
   then the result. */
LANE_BODY void lane_t_fdpa(const lane_rule *r, const smma_lanes *x, int block, lane_factors factors, int n,
                           uint32_t *d) {
  const smma_operation *o = r->operation;
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  const int count = smma_block_of(o);
  lane_terms terms;
  lane_scale scale = {{0}, {0}};
  for (int i = 0; i < n; i++) terms.specials[i] = 0;
  for (int t = 0, s = -1; t < count; t++) {
    const int k = smma_product_index(o, block, t);
    if (factors == LANE_SCALED && s != k / o->scale_block) s = k / o->scale_block, lane_scale_at(r, x, s, n, &scale);
    lane_product(r, x, k, factors, &scale, p->alignment_bits, p->zero_exponent, n, &terms.term[t], terms.specials);
  }
  lane_t_fdpa_sum(r, p, count, n, &terms, d);
}

/* Computes the sum of a group of GST-FDPA, times both scale factors, as a term. Elements are integers, in units of
   1/2. */
LANE_BODY void lane_group(const lane_rule *r, const smma_lanes *x, int group, int n, lane_term *out,
                          int32_t *specials) {
  const smma_operation *o = r->operation;
  const smma_gst_fdpa *p = &o->rule.with.gst_fdpa;
  const int first = group * p->group, s = first / o->scale_block;
  const int32_t up = p->fused.alignment_bits - r->fraction_bits - 2 * (int32_t)r->scale.fraction_bits;
  const int32_t none = p->fused.zero_exponent;
  const lane_format f = r->scale;
  int32_t sum[SMMA_LANES] = {0}, any[SMMA_LANES] = {0};
  for (int k = first; k < first + p->group; k++)
    for (int i = 0; i < n; i++) {
      const lane_number a = lane_decode(r->a, x->a.code[k][i]), b = lane_decode(r->b, x->b.code[k][i]);
      const int32_t product = (int32_t)(a.significand << a.exponent) * (int32_t)(b.significand << b.exponent);
      sum[i] += a.negative ^ b.negative ? -product : product;
      any[i] |= product;
    }
  for (int i = 0; i < n; i++) {
    const lane_number y = lane_decode(f, x->scale_a.code[s][i]), z = lane_decode(f, x->scale_b.code[s][i]);
    const int32_t scale = lane_product_kind(y.kind, z.kind);
    const uint32_t zero = (scale == SMMA_ZERO) | ((scale == SMMA_FINITE) & (any[i] == 0));
    const int32_t negative = -(sum[i] < 0), magnitude = (sum[i] ^ negative) - negative;
    out->significand[i] = lane_scaled((uint64_t)magnitude * (y.significand * z.significand), up);
    out->exponent[i] = (int32_t)lane_select(zero, (uint32_t)none, (uint32_t)(y.exponent + z.exponent));
    out->negative[i] = negative;
    specials[i] |= lane_specials(scale, 0);
  }
}

LANE_BODY void lane_gst_fdpa(const lane_rule *r, const smma_lanes *x, int n, uint32_t *d) {
  const smma_gst_fdpa *p = &r->operation->rule.with.gst_fdpa;
  const int count = r->operation->k / p->group;
  lane_terms terms;
  for (int i = 0; i < n; i++) terms.specials[i] = 0;
  for (int g = 0; g < count; g++) lane_group(r, x, g, n, &terms.term[g], terms.specials);
  lane_t_fdpa_sum(r, &p->fused, count, n, &terms, d);
}

/* ---- TR-FDPA and GTR-FDPA ---- */

/* Sets the bits of infinities in `specials` for products of 2^128 or more. Both factors of such a product are normal,
   so its significand is at least 2^bits. */
LANE_BODY void lane_overflow(const lane_term *term, int32_t bits, int n, int32_t *specials) {
  for (int i = 0; i < n; i++) {
    const bool infinite =
        (term->exponent[i] > 127) | ((term->exponent[i] == 127) & (term->significand[i] >> (bits + 1) != 0));
    specials[i] |= lane_specials(infinite ? SMMA_INFINITE : SMMA_FINITE, (uint32_t)term->negative[i] & 1);
  }
}

/* Returns sum * 2^(exponent - F), the sum of the products, in units of 2^(emax - bits), rounded down. emax is the
   common exponent of this sum and c. */
LANE_BODY int64_t lane_align_products(const smma_tr_fdpa *p, int64_t sum, int32_t exponent, int32_t emax, int bits) {
  const int32_t shift = emax - exponent - (bits - p->alignment_bits), left = lane_maximum(-shift, 0) & 63;
  return (int64_t)((uint64_t)lane_shift_down(sum, lane_maximum(shift, 0)) << left);
}

/* Encodes total * 2^exponent, rounded to nearest even. In revision 2 it is first rounded down to F2 fraction bits. */
LANE_BODY uint32_t lane_finish_down(const smma_tr_fdpa *p, lane_output out, int64_t total, int32_t exponent) {
  const int64_t negative = total < 0;
  const uint64_t x = lane_magnitude(total), first = p->revision > 1;
  const lane_rounded r = lane_round(p->sum_bits, out.least, SMMA_ROUND_DOWN, negative, x, exponent);
  return lane_encode(out, SMMA_ROUND_NEAREST_EVEN, negative, lane_select_64(first, r.kept, x),
                     (int32_t)lane_select((uint32_t)first, (uint32_t)r.last, (uint32_t)exponent));
}

/* Computes one block of TR-FDPA or GTR-FDPA, which sums products of even and of odd k apart. */
LANE_BODY void lane_tr_fdpa(const lane_rule *r, const smma_lanes *x, int block, int n, uint32_t *d) {
  const smma_operation *o = r->operation;
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  const bool apart = o->rule.algorithm == SMMA_GTR_FDPA;
  const lane_output out = r->out;
  const lane_format of_d = r->d;
  const int count = smma_block_of(o), bits = p->sum_bits + (p->revision > 1), F = p->alignment_bits;
  lane_terms terms;
  int64_t sum[SMMA_LANES], odd[SMMA_LANES];
  int32_t overflow[SMMA_LANES], emax[SMMA_LANES], odd_emax[SMMA_LANES];
  for (int i = 0; i < n; i++) terms.specials[i] = overflow[i] = 0;
  for (int t = 0; t < count; t++) {
    lane_product(r, x, smma_product_index(o, block, t), LANE_PLAIN, NULL, F, SMMA_NO_EXPONENT, n, &terms.term[t],
                 terms.specials);
    lane_overflow(&terms.term[t], F, n, overflow);
  }
  lane_greatest(terms.term, 0, count, 1 + apart, n, emax);
  lane_sum(terms.term, 0, count, 1 + apart, emax, n, sum);
  if (apart) {
    lane_greatest(terms.term, 1, count, 2, n, odd_emax);
    lane_sum(terms.term, 1, count, 2, odd_emax, n, odd);
    for (int i = 0; i < n; i++) {
      const int32_t both = lane_maximum(emax[i], odd_emax[i]);
      sum[i] = lane_shift_down(sum[i], both - emax[i]) + lane_shift_down(odd[i], both - odd_emax[i]);
      emax[i] = both;
    }
  }
  for (int i = 0; i < n; i++) {
    const lane_number c = lane_decode(of_d, d[i]);
    const int32_t of_c = lane_specials(c.kind, c.negative), all = lane_maximum(emax[i], c.exponent);
    const int32_t below = all - c.exponent, shift = below + (int32_t)of_d.fraction_bits - F;
    const int64_t significand = (int64_t)((uint64_t)c.significand << (lane_maximum(-shift, 0) & 63));
    const int64_t aligned = lane_shift_down(lane_signed(significand, c.negative), lane_maximum(shift, 0));
    const int64_t added = aligned & -(int64_t)(!apart | (below <= F + 1));
    const int64_t products = lane_align_products(p, sum[i], emax[i], all, bits);
    const uint32_t finite = lane_finish_down(p, out, products + added * ((int64_t)1 << (bits - F)), all - bits);
    const int32_t before = terms.specials[i] | of_c, counts = -((p->revision > 1) | !before);
    d[i] = lane_with_specials(out, before | (overflow[i] & counts), finite);
  }
}

/* ---- E-FDPA ---- */

/* Number of fraction bits, below the greatest exponent, that terms keep. It is far above 24, so a truncated term is far
   below the greatest. */
enum { EXACT_BITS = 52 };

/* Computes the exact sum, rounded once. First all terms are rounded down and added to an integer s. If `lost` terms
   were inexact, the exact sum lies between s and s + lost. If s is not tiny and both bounds round to the same number,
   this is the result. Otherwise sets `rare`: the core must compute the lane. */
LANE_BODY void lane_e_fdpa(const lane_rule *r, const smma_lanes *x, int block, int n, uint32_t *d, int32_t *rare) {
  const smma_operation *o = r->operation;
  const int count = smma_block_of(o);
  const lane_output out = r->out;
  lane_terms terms;
  for (int i = 0; i < n; i++) terms.specials[i] = 0;
  for (int t = 0; t < count; t++)
    lane_product(r, x, smma_product_index(o, block, t), LANE_PLAIN, NULL, EXACT_BITS, SMMA_NO_EXPONENT, n,
                 &terms.term[t], terms.specials);
  lane_c(r, d, EXACT_BITS, SMMA_NO_EXPONENT, n, &terms.term[count], terms.specials);
  lane_greatest(terms.term, 0, count + 1, 1, n, terms.exponent);
  int64_t sum[SMMA_LANES] = {0}, lost[SMMA_LANES] = {0};
  for (int t = 0; t <= count; t++)
    for (int i = 0; i < n; i++) {
      const int32_t shift = terms.exponent[i] - terms.term[t].exponent[i];
      const uint64_t significand = terms.term[t].significand[i], kept = lane_shift_right(significand, shift);
      const int64_t negative = terms.term[t].negative[i];
      const int64_t cut = kept << (uint64_t)(shift < 63 ? shift : 63) != significand;
      sum[i] += (((int64_t)kept ^ negative) - negative) + (cut & negative ? -1 : 0);
      lost[i] += cut;
    }
  for (int i = 0; i < n; i++) {
    const int32_t exponent = terms.exponent[i] - EXACT_BITS - 1;
    const int64_t low = 2 * sum[i] + (lost[i] > 0), high = 2 * sum[i] + (lost[i] > 0 ? 2 * lost[i] - 1 : 0);
    const uint32_t least = lane_encode_sum(out, SMMA_ROUND_NEAREST_EVEN, low, exponent);
    const uint32_t greatest = lane_encode_sum(out, SMMA_ROUND_NEAREST_EVEN, high, exponent);
    const bool known = (least == greatest) & (lane_magnitude(low) >> 32 != 0);
    rare[i] |= (lost[i] > 0) & !known & !terms.specials[i];
    d[i] = lane_with_specials(out, terms.specials[i], least);
  }
}

/* ---- C-FDPA and GD-FDPA ---- */

/* The accumulators of all lanes. */
typedef struct {
  uint32_t significand[SMMA_LANES], negative[SMMA_LANES];
  int32_t exponent[SMMA_LANES], kind[SMMA_LANES];
} lane_numbers;

LANE_BODY lane_number lane_number_at(const lane_numbers *x, int i) {
  return (lane_number){x->significand[i], x->negative[i], x->exponent[i], x->kind[i]};
}

/* Returns x, or zero if x is subnormal and `flushes`. */
LANE_BODY lane_number lane_kept(lane_format f, bool flushes, lane_number x) {
  const uint32_t leading = x.significand >> f.fraction_bits, kept = -(leading | !flushes);
  x.significand &= kept;
  x.kind &= (int32_t)kept; /* SMMA_ZERO is 0 */
  return x;
}

/* Computes product k as lane_product does, with subnormal factors as zeros if `flushes_a` or `flushes_b`. Sets `marked`
   if a factor is NaN. */
LANE_BODY void lane_marked_product(const lane_rule *r, const smma_lanes *x, int k, bool flushes_a, bool flushes_b,
                                   int n, lane_term *out, int32_t *specials, int32_t *marked) {
  const int32_t up = r->operation->rule.with.c_fdpa.alignment_bits - r->fraction_bits;
  for (int i = 0; i < n; i++) {
    const lane_number a = lane_kept(r->a, flushes_a, lane_decode(r->a, x->a.code[k][i]));
    const lane_number b = lane_kept(r->b, flushes_b, lane_decode(r->b, x->b.code[k][i]));
    const int32_t kind = lane_product_kind(a.kind, b.kind);
    const uint32_t negative = a.negative ^ b.negative;
    out->significand[i] = lane_scaled((uint64_t)a.significand * b.significand, up);
    out->exponent[i] = kind == SMMA_ZERO ? SMMA_NO_EXPONENT : a.exponent + b.exponent;
    out->negative[i] = -(int32_t)negative;
    specials[i] |= lane_specials(kind, negative);
    marked[i] |= (a.kind == SMMA_NAN) | (b.kind == SMMA_NAN);
  }
}

/* Returns the magnitude of x, negated if `negative`, in units of 2^unit, rounded down. */
LANE_BODY int64_t lane_in_units(lane_format f, lane_number x, uint32_t negative, int32_t unit) {
  const int32_t shift = unit - x.exponent + (int32_t)f.fraction_bits;
  const int64_t significand = (int64_t)((uint64_t)x.significand << (lane_maximum(-shift, 0) & 63));
  return lane_shift_down(lane_signed(significand, negative), lane_maximum(shift, 0));
}

/* Encodes a result of magnitude |sum| * 2^unit, negative if `negative`, as smma_c_fdpa_round does. */
LANE_BODY uint32_t lane_c_fdpa_round(const smma_c_fdpa *p, lane_output out, bool flushes, int64_t negative, int64_t sum,
                                     int32_t unit) {
  const bool halved = p->output == SMMA_BF16, saturates = p->overflow == SMMA_SUM_SATURATES;
  const uint64_t x = lane_magnitude(sum);
  const lane_rounded f32 = lane_round(23, -1000, SMMA_ROUND_NEAREST_EVEN, negative, x, unit);
  const uint32_t normal = !flushes | (f32.top + (int32_t)(f32.kept >> 24) >= -126);
  const uint32_t d = lane_encode(out, SMMA_ROUND_NEAREST_EVEN, negative, x, unit), magnitude = d & ~out.sign;
  const uint32_t result = (d - (saturates & (magnitude == out.infinity))) >> (halved ? 16 : 0);
  return result & -((magnitude != 0) & normal);
}

/* Returns `finite`, or the infinity or NaN that the rule returns if a term is infinite or NaN. `products` and `of_c`
   are the masks of such terms. `marked`: a factor is NaN. `c` is the accumulator's encoding. */
LANE_BODY uint32_t lane_by_source(const lane_rule *r, bool marks, uint32_t marked_nan, int32_t products, int32_t of_c,
                                  int32_t marked, uint32_t c, uint32_t finite) {
  const uint32_t quiet = UINT32_C(1) << (r->out.fraction_bits - 1);
  const int32_t made = (products & HAS_NAN) | (products == (HAS_INFINITY | HAS_NEGATIVE_INFINITY));
  const uint32_t d = lane_with_specials(r->out, products | of_c, finite);
  const uint32_t keeps = marks & (of_c == HAS_NAN) & (made == 0), of_factor = marks & (uint32_t)marked;
  return lane_select(of_factor, marked_nan, lane_select(keeps, c | quiet, d));
}

/* Adds products to `sum` in units of 2^(top - F), truncated. A product whose sign is not that of c is added as the
   complement of its magnitude. */
LANE_BODY void lane_add_opposing(const lane_terms *x, int count, const lane_numbers *c, const int32_t *top, int n,
                                 int64_t *sum) {
  for (int t = 0; t < count; t++)
    for (int i = 0; i < n; i++) {
      const int64_t term = (int64_t)lane_shift_right(x->term[t].significand[i], top[i] - x->term[t].exponent[i]);
      sum[i] += term ^ ((int64_t)x->term[t].negative[i] ^ -(int64_t)c->negative[i]);
    }
}

/* Adds the sums of groups of products to `sum`. Each product is rounded down in its group's units, then each group's
   sum in units of 2^(top - F). */
LANE_BODY void lane_add_groups(const lane_terms *x, int count, int group, const int32_t *top, int n, int64_t *sum) {
  for (int first = 0; first < count; first += group) {
    int32_t greatest[SMMA_LANES];
    int64_t of_group[SMMA_LANES] = {0};
    lane_greatest(x->term, first, first + group, 1, n, greatest);
    for (int t = first; t < first + group; t++)
      for (int i = 0; i < n; i++) {
        const int64_t negative = x->term[t].negative[i];
        const int64_t significand = ((int64_t)x->term[t].significand[i] ^ negative) - negative;
        of_group[i] += lane_shift_down(significand, greatest[i] - x->term[t].exponent[i]);
      }
    for (int i = 0; i < n; i++) sum[i] += lane_shift_down(of_group[i], top[i] - greatest[i]);
  }
}

/* Computes one block of C-FDPA or GD-FDPA. */
LANE_BODY void lane_c_fdpa(const lane_rule *r, const smma_lanes *x, int block, int n, uint32_t *d) {
  const smma_operation *o = r->operation;
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  const bool opposing = o->rule.algorithm == SMMA_C_FDPA;
  const bool flushes_a = opposing && smma_c_fdpa_subnormals(o->a) != SMMA_SUBNORMALS_KEPT;
  const bool flushes_b = opposing && smma_c_fdpa_subnormals(o->b) != SMMA_SUBNORMALS_KEPT;
  const bool flushes_d = opposing && smma_c_fdpa_subnormals(o->d) != SMMA_SUBNORMALS_KEPT;
  const lane_format of_d = r->d;
  const lane_output out = lane_output_of(p->output == SMMA_BF16 ? SMMA_F32 : p->output, o->rule.nan);
  const bool marks = smma_marks_nan(o->rule.nan);
  const uint32_t marked_nan = (uint32_t)smma_marked_nan(smma_encoding_of(o->d));
  const int count = smma_block_of(o);
  lane_terms terms;
  lane_numbers c;
  int32_t top[SMMA_LANES], lead[SMMA_LANES], marked[SMMA_LANES] = {0};
  int64_t sum[SMMA_LANES] = {0};
  uint32_t finite[SMMA_LANES];
  for (int i = 0; i < n; i++) terms.specials[i] = 0;
  for (int t = 0; t < count; t++)
    lane_marked_product(r, x, smma_product_index(o, block, t), flushes_a, flushes_b, n, &terms.term[t], terms.specials,
                        marked);
  lane_greatest(terms.term, 0, count, 1, n, terms.exponent);
  for (int i = 0; i < n; i++) {
    const lane_number y = lane_kept(of_d, flushes_d, lane_decode(of_d, d[i]));
    const int32_t leading = lane_leading_bit(y.significand) + y.exponent - (int32_t)of_d.fraction_bits;
    c.significand[i] = y.significand, c.negative[i] = y.negative, c.exponent[i] = y.exponent, c.kind[i] = y.kind;
    lead[i] = lane_maximum(leading, r->out.least);
    top[i] = lane_maximum(terms.exponent[i], lead[i] - p->c_bits + p->alignment_bits);
  }
  if (opposing)
    lane_add_opposing(&terms, count, &c, top, n, sum);
  else
    lane_add_groups(&terms, count, smma_minimum(p->group, count), top, n, sum);
  for (int i = 0; i < n; i++) {
    const int32_t unit = top[i] - p->alignment_bits;
    const int64_t of_c = lane_in_units(of_d, lane_number_at(&c, i), c.negative[i] & !opposing, unit);
    sum[i] += of_c & -(int64_t)(opposing | (lead[i] >= unit));
  }
  for (int i = 0; i < n; i++) {
    const uint32_t turned = opposing & c.negative[i]; /* C-FDPA adds magnitudes relative to the sign of c */
    const uint32_t any = (terms.exponent[i] != SMMA_NO_EXPONENT) | (c.kind[i] != SMMA_ZERO);
    const int64_t negative = (int64_t)((uint64_t)sum[i] >> 63 ^ turned);
    finite[i] = -any & lane_c_fdpa_round(p, out, flushes_d, negative, sum[i], top[i] - p->alignment_bits);
  }
  for (int i = 0; i < n; i++)
    d[i] = lane_by_source(r, marks, marked_nan, terms.specials[i], lane_specials(c.kind[i], c.negative[i]), marked[i],
                          d[i], finite[i]);
}

/* ---- INTEGER ---- */

LANE_BODY void lane_integer_sum(const smma_operation *o, const smma_lanes *x, int n, uint32_t *d) {
  const bool saturates = o->rule.with.integer.overflow == SMMA_INTEGER_SATURATES;
  const bool is_xor = o->rule.with.integer.product == SMMA_PRODUCT_XOR;
  const smma_integer_code a = smma_integer_code_of(o->a), b = smma_integer_code_of(o->b);
  int32_t sum[SMMA_LANES] = {0};
  for (int k = 0; k < o->k; k++)
    for (int i = 0; i < n; i++)
      sum[i] += is_xor ? smma_integer_value(a, x->a.code[k][i] ^ x->b.code[k][i])
                       : smma_integer_value(a, x->a.code[k][i]) * smma_integer_value(b, x->b.code[k][i]);
  for (int i = 0; i < n; i++) {
    const int64_t exact = (int64_t)sum[i] + (int32_t)d[i];
    const int64_t clamped = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
    d[i] = (uint32_t)(saturates ? clamped : exact);
  }
}

#endif
