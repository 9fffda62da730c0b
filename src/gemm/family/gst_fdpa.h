/* GST-FDPA with F = 35: MXFP4 and NVFP4. A scale factor belongs to one or two of the model's groups.

   E2M1 numbers are integers in units of 1/2, of magnitude up to 12. Products are summed four at a time from bytes; A's
   elements are raised by 12 to make them unsigned. A group's term is g sA sB 2^(eA + eB - fraction). Here g is the sum
   of the group's products, sA and sB are the significands of its scale factors as integers, eA and eB their exponents,
   and `fraction` is the number of fraction bits of both scale factors, plus two for the halves.

   Any operands: terms are exact in binary64. emax is found for each element. Adding 2^(emax + 17), with the term's
   sign, and subtracting it again truncates a term to a multiple of 2^(emax - F), because 16 products and two
   significands are below 2^12. The sum has at most 49 bits and is exact, too. For UE4M3, gst_enclose is tried first:
   two sums that enclose the result and need no emax.

   Even runs of steps: the exponents of a row's and a column's nonzero groups spread so little that every term is an
   integer multiple of a unit 2^(x - fraction). Here x is the sum of the least exponents, sA sB 2^(eA + eB - x) has
   15 bits, and terms are below 2^27 units. c is low if |c| is below 2^30 units. Then sums stay below 2^31 units
   (GST_EVEN_STEPS) and are computed in 32 bits. emax is at most x + 30 - fraction or x + 14, so that F bits below emax
   are finer than a unit, and no term is truncated. A low c that is an integer is not truncated either, and rounding is
   a conversion; a low c with a fraction is not truncated if gst_is_fine. A c that is not low determines emax. It
   truncates terms, each in 32 bits; from 2^63 units on it truncates all of them to zero. */
#ifndef SMMA_GEMM_FAMILY_GST_FDPA_H
#define SMMA_GEMM_FAMILY_GST_FDPA_H

#include <float.h>

#include "gemm/family/words.h"
#include "gemm/pack.h"

/* The exponent of a scale factor is that of its field, also if the scale factor is subnormal (UE4M3). A subnormal
   significand is below 1, so upper bounds of terms hold. Its last bit is where that of a normal one is, so lower bounds
   of units hold, too. Elements are integers in units of 1/2, subnormal or not. */
enum {
  GST_K = 64,                         /* products of a step */
  GST_GROUPS = 4,                     /* groups of a step */
  GST_QUADS = GST_K / 4,              /* quads of a step: four elements each, in one 32-bit word */
  GST_DEPTH = GST_QUADS / GST_GROUPS, /* quads of a group */
  GST_LINES = 16,                     /* rows that are packed together */
  GST_RAISE = 12,                     /* added to A's elements to make them unsigned */
  GST_F = 35,                         /* F */
  GST_PLACE = 52 - GST_F,             /* 2^(emax + GST_PLACE) has the last bit 2^(emax - F) in binary64 */
  GST_LEAST_EXPONENT = -300,          /* lower bound of terms' exponents: below that of every nonzero term */
  GST_UNIT_LIMIT = 38, /* bounds the magnitude of least exponents of even rows and columns: a step's sum is below 2^102
                          and a c that is not low does not overflow */
  GST_UNEVEN = 64,     /* greater than the spread of any even run */
  GST_EVEN_STEPS = 4,  /* the most steps of an even run: 4 * 64 products of at most 144, times 225 << 7, plus 2^30 are
                          below 2^31 */
  GST_EVEN_C = 1 << 30 /* a low c is below this number of units */
};

/* Layout of one packed step of `width` rows or columns: offsets in bytes. At offset 0 are the elements as bytes, in
   quads. The following items exist once per group, except `least` and `spread`, which exist once per row or column. */
typedef struct {
  size_t start;    /* for columns: start of the group's sum, -GST_RAISE times the sum of the group's elements */
  size_t weight;   /* scale factor divided by 2^least, as an integer; two groups per word */
  size_t least;    /* least exponent of all nonzero groups in all packed steps */
  size_t spread;   /* greatest minus least exponent; at least GST_UNEVEN if no run can be even because of `least` */
  size_t scale;    /* half the scale factor, in binary64; 0 if the group is zero */
  size_t exponent; /* exponent of the scale factor */
  size_t nonzero;  /* one bit per element: whether it is not zero; all 0 if the scale factor is zero */
  size_t bytes;    /* size of the step */
} gst_layout;

static inline gst_layout gst_layout_of(size_t width) {
  gst_layout l;
  l.start = width * GST_K;
  l.weight = l.start + width * GST_GROUPS * 4;
  l.least = l.weight + width * GST_GROUPS * 2;
  l.spread = l.least + width * 4;
  l.scale = l.spread + width * 4;
  l.exponent = l.scale + width * GST_GROUPS * 8;
  l.nonzero = l.exponent + width * GST_GROUPS * 4;
  l.bytes = l.nonzero + width * GST_GROUPS * 4;
  return l;
}

/* Returns the greatest spread, of a row and a column together, of an even run. The product of both weights must have at
   most 15 bits: 1 << 14 if scale factors have no fraction bits, 15 * 15 << 7 if they have three. */
static inline int gst_even_spread(int fraction_bits) { return fraction_bits == 0 ? 14 : 7; }

static size_t gst_bytes(const smma_operation *o) {
  (void)o;
  return gst_layout_of(1).bytes;
}

static bool gst_takes(const smma_operation *o) {
  const smma_gst_fdpa *p = &o->rule.with.gst_fdpa;
  return o->rule.algorithm == SMMA_GST_FDPA && o->k == GST_K && p->group == 16 && p->fused.alignment_bits == GST_F &&
         (o->scale_block == 16 || o->scale_block == 32) && o->a == SMMA_E2M1 && o->b == SMMA_E2M1 &&
         p->fused.output == SMMA_F32 && p->fused.rounding == SMMA_ROUND_TOWARD_ZERO &&
         p->fused.zero_exponent <= -GST_F - 2 * GST_UNIT_LIMIT && (o->scale == SMMA_UE8M0 || o->scale == SMMA_UE4M3);
}

/* ---- Packing ---- */

/* A request to fetch one step of rows or columns first..first + width - 1. */
typedef struct {
  const smma_operation *operation;
  const smma_view *view;
  bool of_a;
  size_t first, width, present; /* `present` of these rows or columns are inside the matrix */
  size_t step;
} gst_fetch;

/* Stores the encodings of the rows or columns inside the matrix as quads; elements beyond K are +0. */
static void gst_fetch_codes(const gst_fetch *f, uint32_t *quad) {
  static const unsigned char behind[SMMA_MOST_VECTORS];
  const smma_view *x = f->view;
  for (size_t q = 0; q < GST_QUADS; q++) {
    const unsigned char *line[4];
    for (size_t i = 0; i < 4; i++) {
      const size_t k = f->step * GST_K + 4 * q + i;
      line[i] = k < x->count && f->present ? (const unsigned char *)x->data + smma_element(x, f->first, k) : behind;
    }
    for (size_t v = 0; v < f->present; v++)
      quad[q * f->width + v] =
          line[0][v] | (uint32_t)line[1][v] << 8 | (uint32_t)line[2][v] << 16 | (uint32_t)line[3][v] << 24;
  }
}

/* Multiplies encodings by the view's factor, by a table of all 16. */
static void gst_scale_codes(double factor, size_t count, uint8_t *code) {
  uint8_t scaled[16];
  for (unsigned i = 0; i < 16; i++) scaled[i] = (uint8_t)smma_scaled(SMMA_E2M1, i, factor);
  for (size_t i = 0; i < count; i++) code[i] = scaled[code[i] & 15];
}

/* Converts encodings to integers in units of 1/2, plus `raise`. */
static void gst_decode(size_t count, uint8_t raise, const uint8_t *code, uint8_t *out) {
  for (size_t i = 0; i < count; i++) {
    uint8_t m = code[i] & 7, magnitude = (uint8_t)(m + (m > 4) + (m > 5) + 3 * (m > 6));
    out[i] = (uint8_t)(code[i] & 8 ? raise - magnitude : raise + magnitude);
  }
}

/* Stores for each group the mask of nonzero elements and the start of its sum. The start cancels the GST_RAISE that is
   added to every element of A. `quad` holds the encodings, `out` the packed elements. */
static void gst_sum_up(const gst_layout *l, size_t width, const uint32_t *quad, unsigned char *out) {
  int32_t *start = (int32_t *)(out + l->start), *nonzero = (int32_t *)(out + l->nonzero);
  for (size_t group = 0; group < GST_GROUPS; group++)
    for (size_t v = 0; v < width; v += LANES) {
      const vi fields = vi_set(0x07070707);
      vi sum = vi_dots_begin(vi_set(0)), bits = vi_set(0);
      for (size_t q = group * GST_DEPTH; q < (group + 1) * GST_DEPTH; q++) {
        vi magnitude = vi_and(vi_load((const int32_t *)quad + q * width + v), fields);
        bits = vi_or(vi_shift_right(bits, 1), vi_and(vi_add(magnitude, vi_set(0x7f7f7f7f)), vi_set((int)0x80808080)));
        sum = vi_dots_add(sum, vb_repeat(GST_RAISE * 0x01010101u), vb_load(out + (q * width + v) * 4));
      }
      vi_store(nonzero + group * width + v, bits);
      vi_store(start + group * width + v, vi_subtract(vi_set(0), vi_dots_end(sum)));
    }
}

/* Fetches the encoding of each group's scale factor; 0 outside the matrix. */
static void gst_fetch_scales(const gst_fetch *f, uint8_t *code) {
  const size_t block = (size_t)f->operation->scale_block, groups = block * GST_GROUPS / GST_K;
  const size_t first = f->step * GST_K / block, all = (f->view->count + block - 1) / block;
  memset(code, 0, GST_GROUPS * f->width);
  for (size_t v = 0; v < f->present; v++)
    for (size_t group = 0; group < GST_GROUPS && first + group / groups < all; group++)
      code[group * f->width + v] = f->view->scale[(f->first + v) * all + first + group / groups];
}

/* Stores values and exponents of the scale factors. Clears the masks of groups whose scale factor is zero or NaN. A NaN
   also sets the flag of its row or column. */
static void gst_take_scales(const gst_fetch *f, const gst_layout *l, unsigned char *out, unsigned char *special) {
  const smma_encoding e = smma_encoding_of(f->operation->scale);
  const int fraction_bits = e.fraction_bits, bias = e.bias;
  const uint32_t largest = (uint32_t)smma_largest_fields(e), ones = largest + 1; /* the same in both formats */
  const uint32_t least = (uint32_t)(smma_minimum_exponent(e) + bias), fraction = (1u << fraction_bits) - 1;
  uint8_t code[GST_GROUPS * SMMA_MOST_VECTORS];
  double *restrict scale = (double *)(out + l->scale);
  int32_t *restrict exponent = (int32_t *)(out + l->exponent), *restrict nonzero = (int32_t *)(out + l->nonzero);
  gst_fetch_scales(f, code);
  for (size_t i = 0; i < GST_GROUPS * f->width; i++) {
    uint32_t fields = code[i] & ones, field = fields >> fraction_bits;
    int32_t raised = (int32_t)(field < least ? least : field), hidden = field < least ? 0 : 1 << fraction_bits;
    int32_t significand = (int32_t)(fields & fraction) + hidden;
    uint64_t bits = (uint64_t)(raised - bias - fraction_bits - 1 + 1023) << 52;
    double half_unit;
    memcpy(&half_unit, &bits, sizeof half_unit);
    nonzero[i] &= -((significand != 0) & (fields <= largest));
    exponent[i] = raised - bias;
    scale[i] = half_unit * (significand & -(nonzero[i] != 0));
  }
  for (size_t group = 0; group < GST_GROUPS; group++)
    for (size_t v = 0; v < f->width; v++) special[v] |= (code[group * f->width + v] & ones) > largest;
}

/* Packs one step, except `weight`, `least` and `spread`. */
static void gst_pack_step(const gst_fetch *f, const gst_layout *l, unsigned char *out, unsigned char *special) {
  uint32_t quad[GST_QUADS * SMMA_MOST_VECTORS];
  const size_t count = GST_K * f->width;
  if (f->present < f->width) memset(quad, 0, count);
  gst_fetch_codes(f, quad);
  if (f->view->factor != 1) gst_scale_codes(f->view->factor, count, (uint8_t *)quad);
  gst_decode(count, f->of_a ? GST_RAISE : 0, (const uint8_t *)quad, out);
  gst_sum_up(l, f->width, quad, out);
  gst_take_scales(f, l, out, special);
}

/* Stores the least exponent and the spread over all steps, which are `apart` bytes apart, and the weights, which follow
   from them. */
static void gst_weigh(const gst_layout *l, size_t width, size_t steps, size_t apart, int fraction_bits,
                      unsigned char *out) {
  int32_t least[SMMA_MOST_VECTORS], greatest[SMMA_MOST_VECTORS];
  double unit[SMMA_MOST_VECTORS];
  const int even = gst_even_spread(fraction_bits);
  for (size_t v = 0; v < width; v++) least[v] = INT32_MAX, greatest[v] = INT32_MIN;
  for (size_t step = 0; step < steps; step++) {
    const int32_t *exponent = (const int32_t *)(out + step * apart + l->exponent);
    const int32_t *nonzero = (const int32_t *)(out + step * apart + l->nonzero);
    for (size_t group = 0; group < GST_GROUPS; group++)
      for (size_t v = 0; v < width; v++) {
        int32_t x = exponent[group * width + v];
        bool counts = nonzero[group * width + v] != 0;
        least[v] = counts && x < least[v] ? x : least[v];
        greatest[v] = counts && x > greatest[v] ? x : greatest[v];
      }
  }
  for (size_t v = 0; v < width; v++) {
    if (least[v] > greatest[v]) least[v] = greatest[v] = 0;
    greatest[v] -= least[v];
    if (least[v] < -GST_UNIT_LIMIT || least[v] > GST_UNIT_LIMIT) greatest[v] += GST_UNEVEN;
    unit[v] = greatest[v] > even ? 0 : smma_power_of_two(fraction_bits + 1 - least[v]);
  }
  for (size_t step = 0; step < steps; step++, out += apart) {
    const double *scale = (const double *)(out + l->scale);
    int16_t *weight = (int16_t *)(out + l->weight);
    for (size_t group = 0; group < GST_GROUPS; group++)
      for (size_t v = 0; v < width; v++)
        weight[(group / 2 * width + v) * 2 + group % 2] = (int16_t)(int)(scale[group * width + v] * unit[v]);
    memcpy(out + l->least, least, width * 4);
    memcpy(out + l->spread, greatest, width * 4);
  }
}

static void gst_pack(const smma_pack *pack, size_t width) {
  const smma_multiplier *p = pack->multiplier;
  const gst_layout l = gst_layout_of(width);
  int fraction_bits = smma_encoding_of(p->operation.scale).fraction_bits;
  gst_fetch f = {&p->operation, pack->view, pack->of_a, 0, width, 0, 0};
  for (size_t done = 0; done < pack->count; done += width) {
    unsigned char *out = (unsigned char *)pack->out + done / width * l.bytes;
    size_t apart = pack->count / width * l.bytes;
    f.first = pack->first + done;
    f.present = smma_lines_present(f.view, f.first, width);
    for (size_t step = 0; step < pack->steps; step++) {
      f.step = pack->step + step;
      gst_pack_step(&f, &l, out + step * apart, pack->special + done);
    }
    gst_weigh(&l, width, pack->steps, apart, fraction_bits, out);
  }
}

static void gst_pack_rows(const smma_pack *pack) { gst_pack(pack, GST_LINES); }
static void gst_pack_columns(const smma_pack *pack) { gst_pack(pack, PANEL); }

/* ---- Running ---- */

/* Constants of a run. */
typedef struct {
  gst_layout row, column;
  size_t row_step;   /* bytes from one step to the next */
  int fraction_bits; /* `fraction` in the comment at the head of this file */
  int spread;        /* the greatest spread of an even run: see gst_even_spread */
  int zero_exponent; /* e_zero, or GST_LEAST_EXPONENT if that is greater */
  bool encloses;     /* whether gst_enclose is tried */
} gst_constants;

static gst_constants gst_constants_of(const smma_run *r) {
  const smma_operation *o = &r->multiplier->operation;
  const int zero_exponent = o->rule.with.gst_fdpa.fused.zero_exponent;
  gst_constants t;
  t.row = gst_layout_of(GST_LINES);
  t.column = gst_layout_of(PANEL);
  t.row_step = r->packed_rows / GST_LINES * t.row.bytes;
  t.fraction_bits = 2 + 2 * smma_encoding_of(o->scale).fraction_bits;
  t.spread = gst_even_spread(smma_encoding_of(o->scale).fraction_bits);
  t.encloses = o->scale == SMMA_UE4M3;
  t.zero_exponent = zero_exponent < GST_LEAST_EXPONENT ? GST_LEAST_EXPONENT : zero_exponent;
  return t;
}

/* Rows and vectors of columns that are computed at a time. */
enum { GST_ROWS = REGISTERS < 32 ? ROWS : 2 * ROWS, GST_VECTORS = REGISTERS < 32 ? 4 : 2 };

/* Computes the sums g of one group's products, in units of 1/4, for GST_ROWS rows and GST_VECTORS vectors of columns,
   as vi_dots_add returns them. `a` and `b` are the addresses of the first quads, in the step, of the first row and of
   the first column. */
static inline __attribute__((always_inline)) void gst_dots(const gst_layout *column, size_t group,
                                                           const unsigned char *a, const unsigned char *b,
                                                           vi g[GST_ROWS][GST_VECTORS]) {
  const int32_t *start = (const int32_t *)(b + column->start) + group * PANEL;
  UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++) g[i][v] =
      vi_dots_begin(vi_load(start + v * LANES));
  for (size_t q = group * GST_DEPTH; q < (group + 1) * GST_DEPTH; q++) {
    vb y[GST_VECTORS];
    UNROLL for (size_t v = 0; v < GST_VECTORS; v++) y[v] = vb_load(b + (q * PANEL + v * LANES) * 4);
    UNROLL for (size_t i = 0; i < GST_ROWS; i++) {
      vb x = vb_repeat(((const uint32_t *)a)[q * GST_LINES + i]);
      UNROLL for (size_t v = 0; v < GST_VECTORS; v++) g[i][v] = in_order(vi_dots_add(g[i][v], x, y[v]));
    }
  }
}

/* ---- Any operands ---- */

/* Returns the sums of an item of a row and items of LANES columns. `a` and `b` are the addresses of their first quads;
   both items have these offsets in the layout. */
static inline vi gst_sum_of(size_t row_offset, size_t column_offset, const unsigned char *a, const unsigned char *b) {
  return vi_add(vi_set(*(const int32_t *)(a + row_offset)), vi_load((const int32_t *)(b + column_offset)));
}

/* Returns the exact product x y, truncated to a multiple of the last bit of `place`. `place` must be a power of two
   greater than the product. */
static inline vd gst_cut(vd x, vd y, vd place) {
  vd beside = vd_signed_as(place, x);
  return vd_subtract(vd_multiply_add(x, y, beside), beside);
}

/* Returns the lanes in which d has the greatest finite magnitude. */
static inline vm gst_is_greatest(vf d) {
  return vi_equal(vi_and(vf_bits(d), vi_set(INT32_MAX)), vf_bits(vf_set(FLT_MAX)));
}

/* Returns d with infinities where the sum overflowed. The mode rounds toward zero, so d is the greatest number there,
   as it is for sums just below 2^128. `low` and `high` are the sums. */
static inline vf gst_overflow(vf d, vd low, vd high) {
  vi reduced = vf_bits(vf_narrow(vd_multiply(low, vd_set(0x1p-64)), vd_multiply(high, vd_set(0x1p-64))));
  vm finite = vi_less(vi_and(reduced, vi_set(INT32_MAX)), vf_bits(vf_set(0x1p64f)));
  vi infinite = vi_or(vi_and(vf_bits(d), vi_set(INT32_MIN)), vi_set(0x7f800000));
  return vf_select(finite, d, vi_as_float(infinite));
}

/* Returns c after one step, for one row and one vector of columns. An infinite c stays. `a` and `b` are the addresses
   of the first quads, `row_scale` and `scale` those of the first scale factors. `g` has the sums of products. */
static __attribute__((noinline)) vf gst_add_terms(const gst_constants *t, const unsigned char *a,
                                                  const double *row_scale, const unsigned char *b, const double *scale,
                                                  const vi g[GST_GROUPS], vf c) {
  const int32_t *row_exponent = (const int32_t *)(a + t->row.exponent);
  const int32_t *row_nonzero = (const int32_t *)(a + t->row.nonzero);
  const int32_t *exponent = (const int32_t *)(b + t->column.exponent);
  const int32_t *nonzero = (const int32_t *)(b + t->column.nonzero);
  const vd one = vd_set(1);
  vi field = vi_shift_right(vi_shift_left(vf_bits(c), 1), 24);
  vi c_exponent = vi_subtract(vi_max(field, vi_set(1)), vi_set(127)), zero = vi_set(t->zero_exponent);
  vi emax = vi_select(vf_equal(c, vf_set(0)), zero, c_exponent);
  vd low_place, high_place, low, high;
  vf d;
  UNROLL for (size_t group = 0; group < GST_GROUPS; group++) {
    vm counts = vi_has(vi_set(row_nonzero[group * GST_LINES]), vi_load(nonzero + group * PANEL));
    vi x = vi_add(vi_set(row_exponent[group * GST_LINES]), vi_load(exponent + group * PANEL));
    emax = vi_max(emax, vi_select(counts, x, zero));
  }
  low_place = vd_low_power(vi_add(emax, vi_set(GST_PLACE)));
  high_place = vd_high_power(vi_add(emax, vi_set(GST_PLACE)));
  low = gst_cut(vd_low(c), one, low_place), high = gst_cut(vd_high(c), one, high_place);
  UNROLL for (size_t group = 0; group < GST_GROUPS; group++) {
    vd s = vd_set(row_scale[group * GST_LINES]);
    vd low_scale = vd_multiply(s, vd_load(scale + group * PANEL));
    vd high_scale = vd_multiply(s, vd_load(scale + group * PANEL + LANES / 2));
    low = vd_add(low, gst_cut(vd_low_int(g[group]), low_scale, low_place));
    high = vd_add(high, gst_cut(vd_high_int(g[group]), high_scale, high_place));
  }
  d = vf_narrow(low, high);
  return vm_bits(gst_is_greatest(d)) ? gst_overflow(d, low, high) : d;
}

/* Tries to compute c after one step, with arguments as in gst_add_terms. Two sums enclose the sum of truncated terms:
   those of terms rounded down and up at F bits below an exponent that is at least emax. Returns false if the two sums
   round to different numbers. The exponents of scale factors must be those of UE4M3. */
static inline __attribute__((always_inline)) bool gst_enclose(const gst_constants *t, const unsigned char *a,
                                                              const double *row_scale, const unsigned char *b,
                                                              const double *scale, const vi g[GST_GROUPS], vf *c) {
  const vi most =
      vi_add(gst_sum_of(t->row.least, t->column.least, a, b), gst_sum_of(t->row.spread, t->column.spread, a, b));
  const vi field = vi_shift_right(vi_shift_left(vf_bits(*c), 1), 24);
  const vi place = vi_add(vi_max(vi_subtract(field, vi_set(127)), most), vi_set(GST_PLACE));
  const vd low_place = vd_multiply(vd_low_power(place), vd_set(1.5));
  const vd high_place = vd_multiply(vd_high_power(place), vd_set(1.5));
  vd low_down = vd_add(vd_low(*c), low_place), high_down = vd_add(vd_high(*c), high_place);
  vd low_up = vd_subtract(vd_low(*c), low_place), high_up = vd_subtract(vd_high(*c), high_place);
  vf down, up;
  UNROLL for (size_t group = 0; group < GST_GROUPS; group++) {
    const vd s = vd_set(row_scale[group * GST_LINES]);
    const vd low_scale = vd_multiply(s, vd_load(scale + group * PANEL));
    const vd high_scale = vd_multiply(s, vd_load(scale + group * PANEL + LANES / 2));
    const vd low = vd_low_int(g[group]), high = vd_high_int(g[group]);
    low_down = vd_multiply_add(low, low_scale, low_down), high_down = vd_multiply_add(high, high_scale, high_down);
    low_up = vd_multiply_add(low, low_scale, low_up), high_up = vd_multiply_add(high, high_scale, high_up);
  }
  down = vf_narrow(vd_subtract(low_down, low_place), vd_subtract(high_down, high_place));
  up = vf_narrow(vd_add(low_up, low_place), vd_add(high_up, high_place));
  *c = down;
  return !vm_bits(vm_or(vi_has(vi_xor(vf_bits(down), vf_bits(up)), vi_set(-1)), gst_is_greatest(down)));
}

/* Computes one step for GST_ROWS rows and GST_VECTORS vectors of any operands. */
static __attribute__((noinline)) void gst_step(const gst_constants *t, const unsigned char *a, const double *row_scale,
                                               const unsigned char *b, const double *scale, float *accumulator) {
  vi g[GST_GROUPS][GST_ROWS][GST_VECTORS];
  UNROLL for (size_t group = 0; group < GST_GROUPS; group++) gst_dots(&t->column, group, a, b, g[group]);
  UNROLL for (size_t v = 0; v < GST_VECTORS; v++) UNROLL for (size_t i = 0; i < GST_ROWS; i++) {
    vi sums[GST_GROUPS];
    float *at = accumulator + i * PANEL + v * LANES;
    const unsigned char *x = a + i * 4, *y = b + v * LANES * 4;
    vf c = vf_load(at);
    UNROLL for (size_t group = 0; group < GST_GROUPS; group++) sums[group] = vi_dots_end(g[group][i][v]);
    if (!t->encloses || !gst_enclose(t, x, row_scale + i, y, scale + v * LANES, sums, &c))
      c = gst_add_terms(t, x, row_scale + i, y, scale + v * LANES, sums, vf_load(at));
    vf_store(at, t_fdpa_positive_zero(c));
  }
}

/* ---- Even runs ---- */

/* For one row and one vector of columns, gst_unit returns the unit 2^(x - fraction), and gst_unit_scale its inverse. */
static inline vf gst_unit(const gst_constants *t, const unsigned char *a, const unsigned char *b) {
  vi x = gst_sum_of(t->row.least, t->column.least, a, b);
  return vi_as_float(vi_shift_left(vi_add(x, vi_set(127 - t->fraction_bits)), 23));
}
static inline vf gst_unit_scale(const gst_constants *t, const unsigned char *a, const unsigned char *b) {
  vi x = gst_sum_of(t->row.least, t->column.least, a, b);
  return vi_as_float(vi_shift_left(vi_subtract(vi_set(127 + t->fraction_bits), x), 23));
}

/* Reports whether a condition holds in every lane. */
static inline bool gst_all(vm x) { return vm_bits(x) == (1ull << LANES) - 1; }

/* Returns the lanes in which |c| is below `limit`; c is in units. */
static inline vm gst_is_below(vf c, float limit) {
  return vi_less(vi_and(vf_bits(c), vi_set(INT32_MAX)), vf_bits(vf_set(limit)));
}
/* gst_is_low returns the lanes in which c is low, gst_changes those in which it does not truncate all terms to zero. */
static inline vm gst_is_low(vf c) { return gst_is_below(c, GST_EVEN_C); }
static inline vm gst_changes(vf c) { return gst_is_below(c, 0x1p63f); }

#define GST_EACH(i, v) UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++)

/* The kinds of c. The kind of a run is the last one that occurs among its c. */
typedef enum {
  GST_WHOLE,     /* low, an integer number of units */
  GST_FRACTIONS, /* low, with a fraction */
  GST_HIGH,      /* not low */
  GST_NONE       /* the run is not even */
} gst_kind;

/* Loads all c in units and returns the kind of the run. In a run of kind GST_HIGH, c is 0 for elements that the run
   does not change. */
static inline __attribute__((always_inline)) gst_kind gst_begin(const gst_constants *t, const unsigned char *a,
                                                                const unsigned char *b, const float *accumulator,
                                                                vf c[GST_ROWS][GST_VECTORS]) {
  const vm always = vi_equal(vi_set(0), vi_set(0));
  vm whole = always, low = always;
  GST_EACH(i, v) {
    const unsigned char *x = a + i * 4, *y = b + v * LANES * 4;
    vf before = vf_load(accumulator + i * PANEL + v * LANES), units = vf_multiply(before, gst_unit_scale(t, x, y));
    vm small = gst_is_low(units), exact = vf_equal(vf_multiply(units, gst_unit(t, x, y)), before);
    vm near = vi_less(gst_sum_of(t->row.spread, t->column.spread, x, y), vi_set(t->spread + 1));
    if (!gst_all(vm_and_not(near, vm_and_not(small, exact)))) return GST_NONE;
    low = vm_and(low, small);
    whole = vm_and(whole, vf_equal(vi_to_float(vf_truncate(units)), units));
    c[i][v] = units;
  }
  if (gst_all(low)) return gst_all(whole) ? GST_WHOLE : GST_FRACTIONS;
  GST_EACH(i, v) c[i][v] = vf_select(gst_changes(c[i][v]), c[i][v], vf_set(0));
  return GST_HIGH;
}

/* Reports whether no step truncates a c: every low c is a multiple of 2^(emax - F) for the greatest emax that terms can
   have. Then all later c are, too. */
static __attribute__((noinline)) bool gst_is_fine(const gst_constants *t, const unsigned char *a,
                                                  const unsigned char *b, const float *accumulator) {
  vm fine = vi_equal(vi_set(0), vi_set(0));
  UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++) {
    const unsigned char *x = a + i * 4, *y = b + v * LANES * 4;
    vf c = vf_multiply(vf_load(accumulator + i * PANEL + v * LANES), gst_unit_scale(t, x, y));
    vi spread = gst_sum_of(t->row.spread, t->column.spread, x, y), sign = vi_and(vf_bits(c), vi_set(INT32_MIN));
    vi place = vi_shift_left(vi_add(spread, vi_set(127 + t->fraction_bits - (GST_F - 23))), 23);
    vf beside = vi_as_float(vi_or(place, sign));
    vm multiple = vf_equal(vf_subtract(vf_add(c, beside), beside), c);
    fine = vm_and(fine, vm_or(multiple, vi_less(place, vi_xor(vf_bits(c), sign))));
  }
  return gst_all(fine);
}

/* Stores the accumulators from c in units. Elements that a run of kind GST_HIGH does not change stay. */
static inline __attribute__((always_inline)) void gst_end(const gst_constants *t, const unsigned char *a,
                                                          const unsigned char *b, gst_kind kind, float *accumulator,
                                                          const vf c[GST_ROWS][GST_VECTORS]) {
  GST_EACH(i, v) {
    const unsigned char *x = a + i * 4, *y = b + v * LANES * 4;
    float *at = accumulator + i * PANEL + v * LANES;
    vf d = vf_multiply(c[i][v], gst_unit(t, x, y));
    if (kind == GST_HIGH) d = vf_select(gst_changes(vf_multiply(vf_load(at), gst_unit_scale(t, x, y))), d, vf_load(at));
    vf_store(at, t_fdpa_positive_zero(d));
  }
}

/* Returns c after a step. `sum` is the sum of c before the step, truncated to an integer, and of the terms. d is `sum`
   rounded toward zero, `rest` is what d lacks, and `fraction` is what truncation removed from c. If rest is zero,
   d + fraction is rounded once. Otherwise `sum` has more than 24 bits, and rest has its sign and is not below 1 in
   magnitude. Then rest + fraction has this sign, too, however it is rounded, and a magnitude below the last bit of d.
   So the result is d. */
static inline vf gst_add_fraction(vf c, vi sum) {
  vf fraction = vf_subtract(c, vi_to_float(vf_truncate(c))), d = vi_to_float(sum);
  vf rest = vi_to_float(vi_subtract(sum, vf_truncate(d)));
  return vf_add(d, vf_add(rest, fraction));
}

/* How c truncates terms: to multiples of `up` units. `down` is the inverse of `up`. Both are 1 if c truncates none. */
typedef struct {
  vf down, up;
} gst_cuts;

static inline gst_cuts gst_cuts_of(vf c) {
  const vi exponent = vi_max(vi_and(vf_bits(c), vi_set(0x7f800000)), vi_set((127 + GST_F) << 23));
  const vi up = vi_subtract(exponent, vi_set(GST_F << 23));
  return (gst_cuts){vi_as_float(vi_subtract(vi_set(254 << 23), up)), vi_as_float(up)};
}

/* Returns a truncated term in multiples of gst_cuts.up. The term is the product of the lower halves of g and `weight`,
   and has at most 20 significant bits. */
static inline vi gst_cut_term(vi g, vi weight, vf down) {
  return vf_truncate(vf_multiply(vi_to_float(vi_dot2(vi_set(0), vi_and(g, vi_set(0xffff)), weight)), down));
}

/* Returns c after a step whose truncated terms have this sum, below 2^28 in multiples of `up`. If c is not low, the
   last bits of c and of the result are at least 2^6 of these multiples. So the bits of the sum below 2^5 are first
   rounded to odd, which leaves 23 bits. */
static inline vf gst_add_cut(vf c, vi sum, vf up) {
  const vm low = gst_is_low(c);
  const vf base = vf_select(low, c, vf_set(0));
  const vi sticky = vi_or(sum, vi_add(vi_and(sum, vi_set(31)), vi_set(31)));
  const vf high = vf_multiply_add(vi_to_float(vi_and_not(sticky, vi_set(31))), up, c);
  return vf_select(low, gst_add_fraction(base, vi_add(vf_truncate(base), sum)), high);
}

/* Updates all c, in units, by one step of an even run of this kind. Terms are added two groups at a time. */
static inline __attribute__((always_inline)) void gst_even_step(const gst_constants *t, const unsigned char *a,
                                                                const unsigned char *b, gst_kind kind,
                                                                vf c[GST_ROWS][GST_VECTORS]) {
  const int32_t *row_weight = (const int32_t *)(a + t->row.weight);
  const int32_t *weight = (const int32_t *)(b + t->column.weight);
  vi sum[GST_ROWS][GST_VECTORS];
  gst_cuts cut[GST_ROWS][GST_VECTORS];
  GST_EACH(i, v) {
    sum[i][v] = kind == GST_HIGH ? vi_set(0) : vf_truncate(c[i][v]);
    if (kind == GST_HIGH) cut[i][v] = gst_cuts_of(c[i][v]);
  }
  for (size_t pair = 0; pair < GST_GROUPS / 2; pair++) {
    vi low[GST_ROWS][GST_VECTORS], high[GST_ROWS][GST_VECTORS];
    gst_dots(&t->column, 2 * pair, a, b, low);
    gst_dots(&t->column, 2 * pair + 1, a, b, high);
    GST_EACH(i, v) {
      vi w = vh_multiply(vi_set(row_weight[pair * GST_LINES + i]), vi_load(weight + pair * PANEL + v * LANES));
      if (kind == GST_HIGH) {
        const vf down = cut[i][v].down;
        sum[i][v] = vi_add(sum[i][v], gst_cut_term(vi_dots_end(low[i][v]), w, down));
        sum[i][v] = vi_add(sum[i][v], gst_cut_term(vi_dots_end(high[i][v]), vi_shift_right(w, 16), down));
      } else {
        sum[i][v] = vi_dots_weigh(sum[i][v], low[i][v], high[i][v], w);
      }
    }
  }
  GST_EACH(i, v) {
    if (kind == GST_HIGH)
      c[i][v] = gst_add_cut(c[i][v], sum[i][v], cut[i][v].up);
    else
      c[i][v] = kind == GST_WHOLE ? vi_to_float(sum[i][v]) : gst_add_fraction(c[i][v], sum[i][v]);
  }
}

static inline __attribute__((always_inline)) void gst_even_steps(const gst_constants *t, size_t steps,
                                                                 const unsigned char *a, const unsigned char *b,
                                                                 gst_kind kind, vf c[GST_ROWS][GST_VECTORS]) {
  for (size_t step = 0; step < steps; step++)
    gst_even_step(t, a + step * t->row_step, b + step * t->column.bytes, kind, c);
}

/* Computes `steps` steps, at most GST_EVEN_STEPS, for GST_ROWS rows and GST_VECTORS vectors: single steps until the
   remaining ones are an even run. `a` and `b` are the addresses of the first quads of the first row and column in the
   first step; `row_scale` and `scale` those of their first scale factors. */
static inline __attribute__((always_inline)) void gst_steps(const gst_constants *t, size_t steps,
                                                            const unsigned char *a, const double *row_scale,
                                                            const unsigned char *b, const double *scale,
                                                            float *accumulator) {
  vf c[GST_ROWS][GST_VECTORS];
  gst_kind kind;
  while ((kind = gst_begin(t, a, b, accumulator, c)) == GST_NONE ||
         (kind != GST_WHOLE && !gst_is_fine(t, a, b, accumulator))) {
    gst_step(t, a, row_scale, b, scale, accumulator);
    if (--steps == 0) return;
    a += t->row_step, row_scale += t->row_step / sizeof *row_scale;
    b += t->column.bytes, scale += t->column.bytes / sizeof *scale;
  }
  if (kind == GST_WHOLE)
    gst_even_steps(t, steps, a, b, GST_WHOLE, c);
  else if (kind == GST_FRACTIONS)
    gst_even_steps(t, steps, a, b, GST_FRACTIONS, c);
  else
    gst_even_steps(t, steps, a, b, GST_HIGH, c);
  gst_end(t, a, b, kind, accumulator, c);
}

static void gst_run(const smma_run *r) {
  const gst_constants t = gst_constants_of(r);
  for (size_t first = r->first; first < r->last; first += GST_EVEN_STEPS) {
    const size_t steps = r->last - first < GST_EVEN_STEPS ? r->last - first : GST_EVEN_STEPS;
    const unsigned char *a = (const unsigned char *)r->a + first * t.row_step;
    const unsigned char *b = (const unsigned char *)r->b + first * t.column.bytes;
    for (size_t column = 0; column < PANEL; column += GST_VECTORS * LANES)
      for (size_t row = 0; row < r->rows; row += GST_ROWS) {
        const unsigned char *group = a + row / GST_LINES * t.row.bytes;
        const double *row_scale = (const double *)(group + t.row.scale) + row % GST_LINES;
        const double *scale = (const double *)(b + t.column.scale) + column;
        float *accumulator = (float *)r->accumulator + row * PANEL + column;
        for (size_t i = GST_ROWS; i < 2 * GST_ROWS && row + GST_ROWS < r->rows; i++)
          UNROLL for (size_t v = 0; v < GST_VECTORS; v++) __builtin_prefetch(accumulator + i * PANEL + v * LANES, 1);
        gst_steps(&t, steps, group + row % GST_LINES * 4, row_scale, b + column * 4, scale, accumulator);
      }
  }
}

#endif
