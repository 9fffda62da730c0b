/* T-FDPA with F from 23 to 25, ST-FDPA, and the blocks of FP8 through FP16: each product is truncated once. Also T-FDPA
   with F = 13, unless the machine has fast 16-bit halves (t_fdpa_narrow.h).

   A product p = a b is exact in binary32, because significands have at most 11 bits. Its term, p truncated at F bits
   below emax, is the integer trunc(p 2^(F - emax)). It is computed by adding a number to the exponent field of p and
   converting to an integer. The packed values of rows are scaled so that this number is `top` minus emax; top is 32
   above the exponent of a product without deficit. The number is positive unless c is extremely large, and it takes a
   zero product to a number below one. 16 terms add up in 32 bits, together with the term of c unless the row's
   significands are great. If a sum of 32 terms overflows, its sign shows it.

   If every product is zero, so are the terms, and the result is c, unless c is so small that these terms' alignment
   would truncate it (T_FDPA_ZERO_SPAN).

   Three functions compute a row. t_fdpa_rows is fast, and correct for usual operands: all exponents stay within
   [T_FDPA_LEAST, T_FDPA_GREATEST], where nothing overflows or is subnormal. t_fdpa_row_with_care computes exponents as
   integers and accepts any c and bases. t_fdpa_row_of_any also accepts any exponents, for which it reads the operands
   again. An infinite accumulator stays infinite. */
#ifndef SMMA_GEMM_FAMILY_T_FDPA_H
#define SMMA_GEMM_FAMILY_T_FDPA_H

#include <float.h>

#include "gemm/family/deficits_compare.h"

/* The exponents of products here are those of exponent fields. A subnormal is less than a normal number with the same
   field. So if the normal number's term truncates to 0, the subnormal's term does, too. */
enum {
  T_FDPA_LEAST = -100,    /* least emax: 2^(emax - F) is normal in binary32 */
  T_FDPA_GREATEST = 120,  /* greatest emax: sums stay finite */
  T_FDPA_HEADROOM = 32,   /* `top` minus the exponent of a product without deficit */
  T_FDPA_ZERO_SPAN = 63,  /* if all products are zero, the result is c down to this many binades below deficit_top */
  T_FDPA_NEVER_GREAT = 8, /* up to this number of products, 32 bits hold the sum of their terms and the term of c */
  T_FDPA_HALF = 16,       /* products whose terms add up in 32 bits */
  T_FDPA_LOST = 64,       /* a term whose exponent is this far below emax is 0 */
  T_FDPA_NONE = -1000,    /* the exponent of a zero: any product with it is 0 */
  F16_LEAST = -14,        /* the least exponent of normal FP16 numbers */
  NARROW_BITS = 13,       /* F of Ada's and Hopper's FP8 */
  NARROW_CUT = ~0x3ff     /* the bits of a binary32 number that RZ-E8M13 retains */
};

/* Reports whether an operation is T-FDPA with F = 13 (FP8 on Ada and Hopper). */
static bool t_fdpa_is_narrow(const smma_operation *o) {
  return o->rule.algorithm == SMMA_T_FDPA && o->rule.with.t_fdpa.alignment_bits == NARROW_BITS &&
         smma_encoding_of(o->a).bits == 8 && smma_encoding_of(o->b).bits == 8 &&
         (smma_block_of(o) == 16 || smma_block_of(o) == 32);
}

static inline bool t_fdpa_takes(const smma_operation *o) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  const int length = smma_block_of(o);
  switch (o->rule.algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA: break;
    default: return false;
  }
  if (t_fdpa_is_narrow(o)) return !FAST_HALVES;
  if (p->alignment_bits < 23 || p->alignment_bits > 25) return false;
  if (length == 32) return smma_encoding_of(o->a).bits <= 8 && smma_encoding_of(o->b).bits <= 8;
  return length == 4 || length == 8 || length == 16;
}

/* Constants of a run. */
typedef struct {
  int length;         /* products of a block */
  int top;            /* exponent of a product without deficit and bases, plus T_FDPA_HEADROOM, as a binary32 field */
  int alignment_bits; /* F */
  int zero_exponent;  /* e_zero */
  int32_t retained;   /* mask of the bits of a binary32 result that D's rounding retains; not used for FP16 */
  float most_weight;  /* the greatest sum of a row's significands with which 32 bits hold the terms of its block */
  bool based;         /* vectors have bases: `wide`, or there are scale factors */
  bool wide;          /* formats with 8 exponent bits */
  bool to_half;       /* D is FP16 */
} t_fdpa_constants;

static t_fdpa_constants t_fdpa_constants_of(const smma_operation *o) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  t_fdpa_constants t;
  t.length = smma_block_of(o);
  t.top = 127 + T_FDPA_HEADROOM + deficit_top(o);
  t.alignment_bits = p->alignment_bits;
  t.zero_exponent = p->zero_exponent;
  t.retained = p->output == SMMA_E8M13 ? NARROW_CUT : -1;
  /* A term is below 2 * 2^F times the row's significand, and the term of c is below 2 * 2^F. Blocks of more than 16
     products have significands of at most 5 bits: each half has 16 terms below 3.8 * 2^F. */
  t.most_weight = t.length > T_FDPA_HALF ? FLT_MAX : smma_power_of_two(30 - p->alignment_bits) - 1;
  t.wide = deficit_is_wide(o);
  t.based = t.wide || o->scale_block;
  t.to_half = p->output == SMMA_F16;
  return t;
}

static inline void t_fdpa_pack_rows(const smma_pack *pack) {
  const t_fdpa_constants t = t_fdpa_constants_of(&pack->multiplier->operation);
  deficit_pack_rows(pack, smma_power_of_two(t.alignment_bits - (t.top - 127)));
}

static inline void t_fdpa_pack_columns(const smma_pack *pack) { deficit_pack_columns(pack, false); }

/* Returns the exponent field of each c at its position in binary32; `exponents` is the mask of the field. If D is FP16
   (`to_half`), the field of a nonzero c is at least that of FP16's least normal number, because FP16 subnormals, which
   are normal in binary32, have its exponent. */
static inline vi t_fdpa_exponent(bool to_half, vf c, vi exponents) {
  vi exponent = vi_and(vf_bits(c), exponents);
  if (!to_half) return exponent;
  return vi_select(vi_equal(exponent, vi_set(0)), exponent, vi_max(exponent, vi_set((127 + F16_LEAST) << 23)));
}

/* Returns d, which is `sum` rounded toward zero, with its last bit set where d is not exact. */
static inline vf t_fdpa_remember_cut(vf d, vi sum) {
  vm exact = vi_equal(vf_truncate(d), sum);
  return vi_as_float(vi_select(exact, vf_bits(d), vi_or(vf_bits(d), vi_set(1))));
}

/* ---- Operands that are not usual ---- */

/* Returns emax from the greatest exponents of products. A nonzero c never has an exponent below e_zero. */
static inline vi t_fdpa_greatest(const t_fdpa_constants *t, vf c, vi products) {
  const vi field = vi_shift_right(t_fdpa_exponent(t->to_half, c, vi_set(255 << 23)), 23);
  const vi exponent = vi_subtract(vi_max(field, vi_set(1)), vi_set(127)), zero = vi_set(t->zero_exponent);
  return vi_max(products, vi_select(vi_equal(vi_shift_left(vf_bits(c), 1), vi_set(0)), zero, exponent));
}

/* Returns the term of c, whose significand has 24 bits: c truncated at F bits below emax. */
static inline vi t_fdpa_term_of_c(int alignment_bits, vf c, vi emax) {
  const vi bits = vf_bits(c), one = vi_set(1), sign = vi_shift_down_by(bits, vi_set(31));
  const vi field = vi_shift_right(vi_and(bits, vi_set(255 << 23)), 23);
  const vi significand = vi_or(vi_and(bits, vi_set(0x7fffff)), vi_shift_left(vi_min(field, one), 23));
  const vi cut = vi_subtract(vi_add(emax, vi_set(127 + 25 - alignment_bits)), vi_max(field, one));
  const vi magnitude = vi_shift_down_by(vi_shift_left(significand, 25 - 23), vi_max(cut, vi_set(0)));
  return vi_subtract(vi_xor(magnitude, sign), sign);
}

/* Returns d * 2^n, rounded toward zero, or to odd if `to_odd`; infinity if it overflows. d is 0 or of magnitude at
   least 1. */
static inline vf t_fdpa_scale(vf d, vi n, bool to_odd) {
  const vi bits = vf_bits(d), infinity = vi_set(255 << 23), sign = vi_and(bits, vi_set(INT32_MIN));
  const vi field = vi_add(vi_shift_right(vi_and(bits, infinity), 23), n);
  const vm subnormal = vi_less(field, vi_set(1));
  vi scaled = vi_add(bits, vi_shift_left(n, 23));
  scaled = vi_select(vi_less(vi_set(254), field), vi_or(sign, infinity), scaled);
  if (vm_bits(subnormal)) {
    const vi significand = vi_or(vi_and(bits, vi_set(0x7fffff)), vi_set(0x800000));
    const vi cut = vi_max(vi_subtract(vi_set(1), field), vi_set(0));
    vi kept = vi_shift_down_by(significand, cut);
    if (to_odd) kept = vi_select(vi_equal(vi_shift_left_by(kept, cut), significand), kept, vi_or(kept, vi_set(1)));
    scaled = vi_select(subnormal, vi_or(sign, kept), scaled);
  }
  return vf_select(vf_equal(d, vf_set(0)), d, vi_as_float(scaled));
}

/* Returns d from two sums of terms of products, which each fit in 32 bits. `great`: their total with the term of c may
   not fit. An infinite c stays. */
static inline vf t_fdpa_finish(const t_fdpa_constants *t, bool great, vi sum, vi rest, vi emax, vf c) {
  const vi exponents = vi_set(255 << 23), one = vi_set(1);
  const vi others = vi_add(rest, t_fdpa_term_of_c(t->alignment_bits, c, emax));
  vi n = vi_subtract(emax, vi_set(t->alignment_bits)), total = vi_add(sum, others);
  vf d;
  if (great) { /* halves a sum of 33 bits; its last bit becomes sticky */
    const vm wrapped = vi_less(vi_overflow(total, sum, others), vi_set(0));
    const vi halved = vi_or(vi_shift_right(total, 1), vi_and(sum, vi_set(INT32_MIN)));
    total = vi_select(wrapped, vi_or(halved, vi_and(total, one)), total);
    n = vi_select(wrapped, vi_add(n, one), n);
  }
  d = vi_to_float(total);
  if (t->to_half) d = t_fdpa_remember_cut(d, total);
  d = t_fdpa_scale(d, n, false);
  d = t->to_half ? vf_round_to_half(d) : vi_as_float(vi_and(vf_bits(d), vi_set(t->retained)));
  d = t_fdpa_positive_zero(d);
  return vf_select(vi_equal(vi_and(vf_bits(c), exponents), exponents), c, d);
}

/* Reports whether the sum of the terms of a row's block may need more than 32 bits. */
static inline bool t_fdpa_is_great(const t_fdpa_constants *t, const unsigned char *a) {
  return deficit_row_weight(t->length, a) > t->most_weight;
}

/* Reports whether one of PANEL accumulators is finite. */
static inline bool t_fdpa_has_finite(const float *c) {
  const vi exponents = vi_set(255 << 23);
  unsigned finite = 0;
  for (int v = 0; v < 4; v++) finite |= vm_bits(vi_less(vi_and(vf_bits(vf_load(c + v * LANES)), exponents), exponents));
  return finite != 0;
}

/* Returns the sum of the terms of products first..last - 1 of one row and one vector of columns. `shift` is added to
   the exponent fields of products. */
static inline vi t_fdpa_terms(int first, int last, const unsigned char *a, const float *column_value, vi shift) {
  vi sum = vi_set(0);
  for (int k = first; k < last; k++) {
    vf p = vf_multiply(vi_as_float(vi_set((int32_t)*deficit_row_word(a, k))), vf_load(column_value + k * PANEL));
    sum = vi_add(sum, vf_truncate(vi_as_float(vi_add(vf_bits(p), shift))));
  }
  return sum;
}

/* Updates a row's accumulators by one block. Sums of bytes that are not certain must belong to zero products. `least`
   are the least sums; `great` is as in t_fdpa_finish. */
static inline void t_fdpa_row_with_care(const t_fdpa_constants *t, const unsigned char *a, const unsigned char *b,
                                        vb least, bool great, float *accumulator) {
  const int length = t->length, half = length < T_FDPA_HALF ? length : T_FDPA_HALF;
  const float *column_value = (const float *)b;
  for (int v = 0; v < 4; v++, accumulator += LANES, column_value += LANES) {
    const vf c = vf_load(accumulator);
    const vi bases = vi_add(vi_set(deficit_row_base(length, a)), vi_load(deficit_column_bases(length, b) + v * LANES));
    const vi top = vi_add(vi_set(t->top - 127), bases), byte = vi_shift_right(vb_pick(least, v, vb_picker(v)), 22);
    const vi exponent = vi_subtract(vi_subtract(top, vi_set(T_FDPA_HEADROOM)), vi_shift_right(byte, 1));
    const vm zero = vi_less(vi_set(DEFICIT_CERTAIN), byte);
    const vi emax = t_fdpa_greatest(t, c, vi_select(zero, vi_set(T_FDPA_NONE), exponent));
    const vi shift = vi_max(vi_min(vi_subtract(top, emax), vi_set(T_FDPA_HEADROOM + T_FDPA_ZERO_SPAN)), vi_set(0));
    const vi sum = t_fdpa_terms(0, half, a, column_value, vi_shift_left(shift, 23));
    const vi rest = t_fdpa_terms(half, length, a, column_value, vi_shift_left(shift, 23));
    vf_store(accumulator, t_fdpa_finish(t, great, sum, rest, emax, c));
  }
}

/* Signed significands and exponents of a block's operands. That of index k of vector v is entry k * vectors + v. A zero
   has the significand 1 and the exponent T_FDPA_NONE. */
typedef struct {
  float significand[T_FDPA_HALF * SMMA_MOST_VECTORS];
  int32_t exponent[T_FDPA_HALF * SMMA_MOST_VECTORS];
} t_fdpa_numbers;

/* Decodes one block of `vectors` rows of A (or columns of B), from D's row (or column) `first` on. */
static __attribute__((noinline)) void t_fdpa_decode(const smma_run *r, bool of_a, size_t first, size_t vectors,
                                                    size_t block, t_fdpa_numbers *x) {
  const smma_operation *o = &r->multiplier->operation;
  const size_t blocks = deficit_blocks(o), length = (size_t)smma_block_of(o);
  const smma_fetch f = {.multiplier = r->multiplier,
                        .view = smma_view_of(r->multiplier, of_a),
                        .of_a = of_a,
                        .first = first,
                        .vectors = vectors,
                        .step = r->step + block / blocks,
                        .block = (int)(block % blocks),
                        .length = (int)length};
  const smma_decoder d = smma_decoder_of(of_a ? o->a : o->b);
  uint32_t code[T_FDPA_HALF * SMMA_MOST_VECTORS];
  uint8_t field[T_FDPA_HALF * SMMA_MOST_VECTORS];
  unsigned char special[SMMA_MOST_VECTORS] = {0};
  smma_fetch_codes(&f, code);
  smma_decode_codes(&d, length, vectors, code, x->significand, field, special);
  for (size_t i = 0; i < length * vectors; i += LANES) {
    const vf value = vf_load(x->significand + i);
    const vi exponent = vi_and(vf_bits(value), vi_set(255 << 23)), one = vi_set(127 << 23);
    const vm zero = vf_equal(value, vf_set(0)), subnormal = vi_equal(exponent, vi_set(0));
    const vf normal = vi_as_float(vi_or(vi_and_not(vf_bits(value), vi_set(255 << 23)), one));
    const vf signed_one = vi_as_float(vi_or(vi_and(vf_bits(value), vi_set(INT32_MIN)), one));
    const vf significand = vf_select(subnormal, vf_subtract(normal, signed_one), normal);
    const vi unbiased = vi_subtract(vi_max(vi_shift_right(exponent, 23), vi_set(1)), vi_set(127));
    vf_store(x->significand + i, vf_select(zero, vf_set(1), significand));
    vi_store(x->exponent + i, vi_select(zero, vi_set(T_FDPA_NONE), unbiased));
  }
}

/* Decoded operands of one block. They are decoded when they are first needed. */
typedef struct {
  bool columns_there; /* `columns` is decoded */
  size_t group;       /* first row of the group in `rows`; SIZE_MAX if none is decoded */
  t_fdpa_numbers rows, columns;
} t_fdpa_decoded;

/* Updates a row's accumulators by one block of any finite operands with 8 exponent bits. It computes the exponent of
   each product. */
static inline void t_fdpa_row_of_any(const smma_run *r, const t_fdpa_constants *t, t_fdpa_decoded *x, size_t row,
                                     size_t block, bool great, float *accumulator) {
  const int length = t->length;
  const size_t at = row % DEFICIT_GROUP;
  if (!x->columns_there) t_fdpa_decode(r, false, r->column, PANEL, block, &x->columns);
  if (x->group != row - at) t_fdpa_decode(r, true, r->row + row - at, DEFICIT_GROUP, block, &x->rows);
  x->columns_there = true, x->group = row - at;
  for (int v = 0; v < 4; v++) {
    const vf c = vf_load(accumulator + v * LANES);
    const float *of_row = x->rows.significand + at, *of_column = x->columns.significand + v * LANES;
    const int32_t *row_exponent = x->rows.exponent + at, *column_exponent = x->columns.exponent + v * LANES;
    vi emax = vi_set(2 * T_FDPA_NONE), sum = vi_set(0), bits;
    for (int k = 0; k < length; k++)
      emax = vi_max(emax, vi_add(vi_set(row_exponent[k * DEFICIT_GROUP]), vi_load(column_exponent + k * PANEL)));
    emax = t_fdpa_greatest(t, c, emax);
    bits = vi_subtract(vi_set(t->alignment_bits), emax);
    for (int k = 0; k < length; k++) {
      vi exponent = vi_add(vi_set(row_exponent[k * DEFICIT_GROUP]), vi_load(column_exponent + k * PANEL));
      vi shift = vi_max(vi_add(exponent, bits), vi_set(-T_FDPA_LOST));
      vf p = vf_multiply(vf_set(of_row[k * DEFICIT_GROUP]), vf_load(of_column + k * PANEL));
      sum = vi_add(sum, vf_truncate(vi_as_float(vi_add(vf_bits(p), vi_shift_left(shift, 23)))));
    }
    vf_store(accumulator + v * LANES, t_fdpa_finish(t, great, sum, vi_set(0), emax, c));
  }
}

/* Updates a row's accumulators by one block that t_fdpa_rows cannot compute. Does nothing if all accumulators are
   infinite. `decoded` is NULL if exponents have fewer than 8 bits. */
static __attribute__((noinline)) void t_fdpa_row_otherwise(const smma_run *r, const t_fdpa_constants *t,
                                                           const unsigned char *a, const unsigned char *b,
                                                           const uint8_t *least, t_fdpa_decoded *decoded, size_t row,
                                                           size_t block, float *accumulator) {
  const vb bytes = vb_min(vb_load(least), vb_repeat(DEFICIT_ZERO * 0x01010101));
  const vb certain = vb_repeat(DEFICIT_CERTAIN * 0x01010101);
  const int32_t *range = deficit_column_bases(t->length, b) + PANEL;
  const bool great = t->length > T_FDPA_HALF || t_fdpa_is_great(t, a);
  if (!t_fdpa_has_finite(accumulator)) return;
  if (!decoded || deficit_tells_zeros(t->length, a, range) || !vb_any_less(certain, bytes))
    t_fdpa_row_with_care(t, a, b, bytes, great, accumulator);
  else
    t_fdpa_row_of_any(r, t, decoded, row, block, great, accumulator);
}

/* ---- Usual operands ---- */

/* Constants as vectors. Loops over rows hold them in registers, because compilers cannot see their values. All vi are
   exponent fields. Let x be the number that is added to the exponent fields of products. */
typedef struct {
  vi top;            /* x is top - emax */
  vi exponents;      /* the mask of an exponent field */
  vi scale, one;     /* the field of 2^(F - emax) is y = scale - top + x, that of 2^(emax - F) is one - y */
  vi most;           /* the x for emax = e_zero */
  vb picker[4];      /* for vb_pick */
  vb certain, zero;  /* DEFICIT_CERTAIN and DEFICIT_ZERO in all bytes */
  uint32_t headroom; /* twice T_FDPA_HEADROOM in each of four bytes */
} t_fdpa_words;

static inline t_fdpa_words t_fdpa_words_of(const t_fdpa_constants *t) {
  t_fdpa_words w;
  w.top = vi_keep(vi_set((int32_t)((uint32_t)t->top << 23)));
  w.exponents = vi_keep(vi_set(255 << 23));
  w.scale = vi_keep(vi_set((int32_t)((uint32_t)(254 + t->alignment_bits) << 23)));
  w.one = vi_keep(vi_set(254 << 23));
  w.most = vi_keep(vi_set((t->top - 127 - t->zero_exponent) << 23));
  for (int v = 0; v < 4; v++) w.picker[v] = vb_keep(vb_picker(v));
  w.certain = vb_keep(vb_repeat(DEFICIT_CERTAIN * 0x01010101));
  w.zero = vb_keep(vb_repeat(DEFICIT_ZERO * 0x01010101));
  w.headroom = 2 * T_FDPA_HEADROOM * 0x01010101;
  return w;
}

/* Adds the terms of products first..last - 1 of one row and four vectors of columns to `sum`. `shift` is added to the
   exponent fields of products. */
static inline __attribute__((always_inline)) void t_fdpa_add(int first, int last, const unsigned char *a,
                                                             const unsigned char *b, const vi shift[4], vi sum[4]) {
  const float *column_value = (const float *)b;
  UNROLL for (int k = first; k < last; k++) {
    vf x = vi_as_float(vi_set((int32_t)*deficit_row_word(a, k)));
    vi term[4];
    UNROLL for (int v = 0; v < 4; v++) term[v] =
        in_order(vf_bits(vf_multiply(x, vf_load(column_value + (k * 4 + v) * LANES))));
    UNROLL for (int v = 0; v < 4; v++) term[v] = in_order(vi_add(term[v], shift[v]));
    UNROLL for (int v = 0; v < 4; v++) term[v] = in_order(vf_truncate(vi_as_float(term[v])));
    UNROLL for (int v = 0; v < 4; v++) sum[v] = vi_keep(vi_add(sum[v], term[v]));
  }
}

/* The state of one row and four vectors of columns within a block of usual operands. */
typedef struct {
  vi shift[4]; /* what is added to the exponent fields of products */
  vi sum[4];   /* sum of the terms of the first products */
  vi rest[4];  /* sum of the terms of products from T_FDPA_HALF on, and of c */
  vi care;     /* has a negative lane if the row cannot be computed in this way */
} t_fdpa_row;

/* Begins a row: finds the shifts, and whether a c is too great. `top` is t_fdpa_words.top plus the columns' bases. Here
   and below, `length`, `based` (there are bases), `to_half` (rho is RNE-FP16) and `cut` (rho is RZ-E8M13) are constants
   in the inlined copies. */
static inline __attribute__((always_inline)) t_fdpa_row t_fdpa_begin(const t_fdpa_words *w, int length, bool based,
                                                                     bool to_half, const unsigned char *a,
                                                                     const vi top[4], vb least,
                                                                     const float *accumulator) {
  const vb bytes = vb_add_four(least, &w->headroom);
  t_fdpa_row x;
  x.care = vi_set(0);
  UNROLL for (int v = 0; v < 4; v++) {
    const vi exponent = t_fdpa_exponent(to_half, vf_load(accumulator + v * LANES), w->exponents);
    const vi room = based ? vi_add(vi_subtract(vi_set(deficit_row_base_field(length, a)), exponent), top[v])
                          : vi_subtract(top[v], exponent);
    x.care = vi_or(x.care, room);
    x.shift[v] = vi_min(vb_pick(bytes, v, w->picker[v]), room);
    if (to_half) x.shift[v] = vi_min(x.shift[v], w->most);
    x.sum[v] = x.rest[v] = vi_set(0);
  }
  return x;
}

/* Ends a row: adds the terms of c and rounds the results to d. `offset` is t_fdpa_words.scale minus `top`. `halves`:
   `sum` and `rest` together may need more than 32 bits; if they do, x->care shows it. */
static inline __attribute__((always_inline)) void t_fdpa_end(const t_fdpa_words *w, int length, bool halves, bool based,
                                                             bool to_half, const unsigned char *a, const vi offset[4],
                                                             t_fdpa_row *x, const float *accumulator, vf d[4]) {
  vi scale[4], total[4];
  if (based) offset = read_again(offset), a = read_again(a);
  accumulator = read_again(accumulator);
  UNROLL for (int v = 0; v < 4; v++) {
    vf c = vf_load(accumulator + v * LANES);
    scale[v] = x->shift[v];
    if (based) scale[v] = vi_subtract(scale[v], vi_set(deficit_row_base_field(length, a)));
    scale[v] = vi_add(scale[v], offset[v]);
    x->rest[v] = vi_add(x->rest[v], vf_truncate(vf_multiply(c, vi_as_float(scale[v]))));
  }
  UNROLL for (int v = 0; v < 4; v++) {
    total[v] = vi_add(x->sum[v], x->rest[v]);
    if (halves) x->care = vi_or(x->care, vi_overflow(total[v], x->sum[v], x->rest[v]));
    d[v] = vi_to_float(total[v]);
    if (to_half) d[v] = t_fdpa_remember_cut(d[v], total[v]);
    d[v] = vf_multiply(d[v], vi_as_float(vi_subtract(w->one, scale[v])));
    if (to_half) d[v] = t_fdpa_positive_zero(vf_round_to_half(d[v]));
  }
}

/* Updates the accumulators of `count` rows, at most ROWS, by one block of usual operands. Returns false without effect
   if a c or a sum is too great. */
static inline __attribute__((always_inline)) bool t_fdpa_rows(const t_fdpa_words *w, int count, int length, bool based,
                                                              bool to_half, bool cut, const unsigned char *a,
                                                              const unsigned char *b, const vi top[4],
                                                              const vi offset[4], const vb *least, float *accumulator) {
  const bool halves = length > T_FDPA_HALF && !cut;     /* terms of F = 13 and 32 products add up in 32 bits */
  const bool waits = REGISTERS < 32 && halves && based; /* the first sums are in memory while the second ones grow */
  t_fdpa_row x[ROWS];
  vf d[ROWS][4];
  vi care = vi_set(0);
  UNROLL for (int i = 0; i < count; i++) {
    x[i] = t_fdpa_begin(w, length, based, to_half, a + i * 4, top, least[i], accumulator + i * PANEL);
    care = vi_or(care, x[i].care);
  }
  if (vi_any_negative(care)) return false;
  UNROLL for (int i = 0; i < count; i++) {
    int32_t first[4 * LANES];
    const int32_t *again = read_again(first);
    t_fdpa_add(0, length < T_FDPA_HALF ? length : T_FDPA_HALF, a + i * 4, b, x[i].shift, x[i].sum);
    UNROLL for (int v = 0; waits && v < 4; v++) vi_store(first + v * LANES, x[i].sum[v]);
    t_fdpa_add(T_FDPA_HALF, length, a + i * 4, b, x[i].shift, halves ? x[i].rest : x[i].sum);
    UNROLL for (int v = 0; waits && v < 4; v++) x[i].sum[v] = vi_load(again + v * LANES);
  }
  UNROLL for (int i = 0; i < count; i++) {
    t_fdpa_end(w, length, halves, based, to_half, a + i * 4, offset, &x[i], accumulator + i * PANEL, d[i]);
    care = vi_or(care, x[i].care);
  }
  if (halves && vi_any_negative(care)) return false;
  UNROLL for (int i = 0; i < count; i++) UNROLL for (int v = 0; v < 4; v++) {
    if (cut) d[i][v] = vi_as_float(vi_and(vf_bits(d[i][v]), vi_set(NARROW_CUT)));
    vf_store(accumulator + i * PANEL + v * LANES, d[i][v]);
  }
  return true;
}

/* Returns the lanes whose c is nonzero, but so small that the alignment of zero products would truncate it. `bases` is
   the greatest sum of a row's base and a column's. */
static inline vm t_fdpa_is_low(const t_fdpa_constants *t, int bases, vf c) {
  const int least = t->top - T_FDPA_HEADROOM - T_FDPA_ZERO_SPAN + bases;
  const vi magnitude = vi_and(vf_bits(c), vi_set(INT32_MAX));
  return vm_and(vi_less(vi_set(0), magnitude), vi_less(magnitude, vi_set(least << 23)));
}

/* Reports whether t_fdpa_is_low holds for one of PANEL accumulators. */
static inline bool t_fdpa_has_low_c(const t_fdpa_constants *t, int bases, const float *c) {
  vm low;
  c = read_again(c);
  low = t_fdpa_is_low(t, bases, vf_load(c));
  UNROLL for (int v = 1; v < 4; v++) low = vm_or(low, t_fdpa_is_low(t, bases, vf_load(c + v * LANES)));
  return vm_bits(low) != 0;
}

/* The range of rows' bases with which t_fdpa_rows can compute every product of a block. */
typedef struct {
  int least, greatest;
} t_fdpa_bases;

static inline t_fdpa_bases t_fdpa_bases_of(const t_fdpa_constants *t, const int32_t *range) {
  const int top = t->top - T_FDPA_HEADROOM - 127;
  return (t_fdpa_bases){T_FDPA_LEAST + DEFICIT_MOST - top - range[0],
                        T_FDPA_GREATEST - T_FDPA_HEADROOM - top - range[1]};
}

/* Reports whether a row is usual, so that t_fdpa_rows can compute it unless it returns false. `range` is as in
   deficit_tells_zeros. */
static inline __attribute__((always_inline)) bool t_fdpa_is_usual(const t_fdpa_constants *t, const t_fdpa_words *w,
                                                                  int length, bool based, const unsigned char *a,
                                                                  const int32_t *range, const t_fdpa_bases *bases,
                                                                  vb least, const float *c) {
  const int base = deficit_row_base(length, a);
  if (length > T_FDPA_NEVER_GREAT && t_fdpa_is_great(t, a)) return false;
  if (based && (base < bases->least || base > bases->greatest)) return false;
  if (!vb_any_less(w->certain, least)) return true;
  return deficit_tells_zeros(length, a, range) && !t_fdpa_has_low_c(t, base + range[1], c);
}

/* Updates the accumulators of `rows` rows, from `first` on, by one block. There are at most DEFICIT_CHUNK rows, so that
   their accumulators stay in the first-level cache from block to block. */
static inline __attribute__((always_inline)) void t_fdpa_block(const smma_run *r, const t_fdpa_constants *t,
                                                               const t_fdpa_words *w, int length, bool based,
                                                               bool to_half, bool cut, size_t first, size_t rows,
                                                               size_t block, float *accumulator) {
  const size_t row_bytes = deficit_row_block((size_t)length);
  const int count = based ? 1 : ROWS; /* as many as fit in registers */
  const unsigned char *a = (const unsigned char *)r->a + (block * r->packed_rows + first) * row_bytes;
  const unsigned char *b = (const unsigned char *)r->b + block * PANEL * deficit_column_block((size_t)length);
  const int32_t *range = deficit_column_bases(length, b) + PANEL;
  const t_fdpa_bases bases = t_fdpa_bases_of(t, range);
  deficit_chunk least;
  t_fdpa_decoded decoded;
  vi top[4], offset[4];
  decoded.columns_there = false, decoded.group = SIZE_MAX;
  UNROLL for (int v = 0; v < 4; v++) {
    top[v] = w->top;
    if (based) top[v] = vi_add(top[v], vi_shift_left(vi_load(deficit_column_bases(length, b) + v * LANES), 23));
    offset[v] = vi_subtract(w->scale, top[v]);
  }
  deficit_compare_rows(length, false, a, length, row_bytes, r->packed_rows * row_bytes, b + (size_t)length * 4 * PANEL,
                       rows, &least);
  for (size_t row = 0; row < rows; row += (size_t)count, accumulator += count * PANEL) {
    const unsigned char *of_row = deficit_row(a, row_bytes, row);
    w = read_again(w); /* its constants stay in memory; the compiler would compute them in each row */
    bool usual = true;
    vb x[ROWS];
    UNROLL for (int i = 0; i < count; i++) {
      x[i] = vb_min(vb_load(least.of[0][row + i]), w->zero);
      usual &= t_fdpa_is_usual(t, w, length, based, of_row + i * 4, range, &bases, x[i], accumulator + i * PANEL);
    }
    if (usual && t_fdpa_rows(w, count, length, based, to_half, cut, of_row, b, top, offset, x, accumulator)) continue;
    for (int i = 0; i < count; i++)
      t_fdpa_row_otherwise(r, t, of_row + i * 4, b, least.of[0][row + i], based ? &decoded : NULL,
                           first + row + (size_t)i, block, accumulator + i * PANEL);
  }
}

static inline __attribute__((always_inline)) void t_fdpa_panel(const smma_run *r, int length, bool based, bool to_half,
                                                               bool cut) {
  const t_fdpa_constants t = t_fdpa_constants_of(&r->multiplier->operation);
  const t_fdpa_words w = t_fdpa_words_of(&t);
  const size_t blocks = deficit_blocks(&r->multiplier->operation);
  for (size_t row = 0; row < r->rows; row += DEFICIT_CHUNK) {
    const size_t rows = deficit_chunk_rows(r, row);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      t_fdpa_block(r, &t, &w, length, based, to_half, cut, row, rows, block, (float *)r->accumulator + row * PANEL);
  }
}

/* One function per shape, because compilers allocate registers for each function separately. */
#define T_FDPA_SHAPE(NAME, LENGTH, BASED, TO_HALF, CUT) \
  static void NAME(const smma_run *r) { t_fdpa_panel(r, LENGTH, BASED, TO_HALF, CUT); }
T_FDPA_SHAPE(t_fdpa_run_4, 4, false, false, false)
T_FDPA_SHAPE(t_fdpa_run_8, 8, false, false, false)
T_FDPA_SHAPE(t_fdpa_run_16, 16, false, false, false)
T_FDPA_SHAPE(t_fdpa_run_32, 32, false, false, false)
T_FDPA_SHAPE(t_fdpa_run_based_4, 4, true, false, false)
T_FDPA_SHAPE(t_fdpa_run_based_8, 8, true, false, false)
T_FDPA_SHAPE(t_fdpa_run_based_16, 16, true, false, false)
T_FDPA_SHAPE(t_fdpa_run_based_32, 32, true, false, false)
T_FDPA_SHAPE(t_fdpa_run_to_half_4, 4, false, true, false)
T_FDPA_SHAPE(t_fdpa_run_to_half_8, 8, false, true, false)
T_FDPA_SHAPE(t_fdpa_run_to_half_16, 16, false, true, false)
T_FDPA_SHAPE(t_fdpa_run_to_half_32, 32, false, true, false)
T_FDPA_SHAPE(t_fdpa_run_cut_16, 16, false, false, true)
T_FDPA_SHAPE(t_fdpa_run_cut_32, 32, false, false, true)

static inline void t_fdpa_run(const smma_run *r) {
  static void (*const run[4][4])(const smma_run *) = {
      {t_fdpa_run_4, t_fdpa_run_8, t_fdpa_run_16, t_fdpa_run_32},
      {t_fdpa_run_based_4, t_fdpa_run_based_8, t_fdpa_run_based_16, t_fdpa_run_based_32},
      {t_fdpa_run_to_half_4, t_fdpa_run_to_half_8, t_fdpa_run_to_half_16, t_fdpa_run_to_half_32},
      {NULL, NULL, FAST_HALVES ? NULL : t_fdpa_run_cut_16, FAST_HALVES ? NULL : t_fdpa_run_cut_32},
  };
  const t_fdpa_constants t = t_fdpa_constants_of(&r->multiplier->operation);
  const int kind = t.based ? 1 : t.to_half ? 2 : t.retained == NARROW_CUT ? 3 : 0;
  run[kind][t.length == 4 ? 0 : t.length == 8 ? 1 : t.length == 16 ? 2 : 3](r);
}

#endif
