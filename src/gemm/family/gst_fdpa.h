/* GST-FDPA with F = 35: MXFP4 and NVFP4. Scale factors belong to parts of 16 or 32 elements, one or two of the model's
   groups: groups of one part have the same exponent, so as long as nothing is cut they may be summed together.

   Numbers of E2M1 are whole halves of magnitude up to 12; sums of products are added four at a time in bytes, those of
   A raised by 12 to make them unsigned. A part's term is g sA sB 2^(eA + eB - fraction), with g such a sum, sA and sB
   the significands of its scales, and `fraction` the fraction bits of both scales and two for the halves.

   Even runs of steps: within them, the exponents of a row's and a column's parts that are not zero spread so little
   that every term is a whole multiple of a unit, 2^(x - fraction), x the sum of the least exponents, with sA sB 2^(eA +
   eB - x) in 15 bits; and |c| is below 2^29 units. Then sums stay below 2^31 units (GST_EVEN_STEPS) and are made in 32
   bits. emax is at most x + 30 - fraction or x + 14, so F bits below it are finer than a unit: no term is cut. A whole
   c is not either, and rounding is a conversion. A c with a fraction is not cut if its exponent is at least emax - F +
   23: gst_add_fractions.

   Other steps: emax and the least exponent are found for each element. Terms whose exponents are at least emax - F +
   fraction are whole multiples of 2^(emax - F) and not cut; c is cut in its encoding; the sum has at most 49 bits,
   since 64 products are below 2^14 quarters and two significands below 4: it is exact in binary64. A wider spread, a
   great emax and a c that is not finite are left to the core. */
#ifndef SMMA_GEMM_FAMILY_GST_FDPA_H
#define SMMA_GEMM_FAMILY_GST_FDPA_H

#include "gemm/family/words.h"
#include "gemm/pack.h"

enum {
  GST_K = 64,
  GST_QUADS = GST_K / 4, /* fours of elements */
  GST_GROUP = 16,        /* rows that are packed together */
  GST_RAISE = 12,
  GST_F = 35,
  GST_GREATEST = 100,  /* emax; nothing overflows */
  GST_UNIT_LIMIT = 45, /* least exponents of even rows and columns have no greater magnitude */
  GST_UNEVEN = 64,     /* a spread above every limit */
  GST_EVEN_STEPS = 4,  /* 4 times 64 products of at most 144, times 2^15, and 2^29 are below 2^31 */
  GST_EVEN_C = 1 << 29
};

/* How the numbers of one step of `width` rows or columns lie: codes by fours of elements, the rest by parts. Offsets in
   bytes. */
typedef struct {
  size_t scale;    /* binary64; zero where a part is */
  size_t start;    /* of columns: what takes the raise of A out of the sum of a part */
  size_t weight;   /* scales over 2^least exponent as integers, two parts a word */
  size_t exponent; /* of the scales */
  size_t nonzero;  /* one bit an element; none where the scale is zero */
  size_t least;    /* exponent of all parts that are not zero, of all packed steps */
  size_t spread;   /* to the greatest; GST_UNEVEN where rows or columns may not be in an even run */
  size_t bytes;
} gst_layout;

static inline gst_layout gst_layout_of(size_t width, size_t parts) {
  gst_layout l;
  l.scale = width * GST_K;
  l.start = l.scale + width * parts * 8;
  l.weight = l.start + width * parts * 4;
  l.exponent = l.weight + width * parts * 2;
  l.nonzero = l.exponent + width * parts * 4;
  l.least = l.nonzero + width * parts * 4;
  l.spread = l.least + width * 4;
  l.bytes = l.spread + width * 4;
  return l;
}

/* The greatest spread that is even: 1 << 14 and 15 * 15 << 7 have 15 bits. `fraction_bits` of one scale factor. */
static inline int gst_even_spread(int fraction_bits) { return fraction_bits == 0 ? 14 : 7; }

static size_t gst_parts(const smma_operation *o) { return (size_t)(o->k / o->scale_block); }

static size_t gst_bytes(const smma_operation *o) { return gst_layout_of(1, gst_parts(o)).bytes; }

static bool gst_takes(const smma_operation *o) {
  const smma_gst_fdpa *p = &o->rule.with.gst_fdpa;
  return o->rule.algorithm == SMMA_GST_FDPA && o->k == GST_K && p->group == 16 && p->fused.alignment_bits == GST_F &&
         (o->scale_block == 16 || o->scale_block == 32) && o->a == SMMA_E2M1 && o->b == SMMA_E2M1 &&
         p->fused.output == SMMA_F32 && p->fused.rounding == SMMA_ROUND_TOWARD_ZERO &&
         p->fused.zero_exponent <= -GST_F - 2 * GST_UNIT_LIMIT && (o->scale == SMMA_UE8M0 || o->scale == SMMA_UE4M3);
}

/* ---- Packing ---- */

/* Where the encodings of rows or columns first..first + width - 1 of one step come from. */
typedef struct {
  const smma_operation *operation;
  const smma_view *view;
  bool of_a;
  size_t first, width, present; /* those within the matrix */
  size_t step;
} gst_fetch;

/* The element at `k` of the first line. */
static const unsigned char *gst_from(const gst_fetch *f, size_t k) {
  return (const unsigned char *)f->view->data + f->first * f->view->line_stride + k * f->view->k_stride;
}

/* Rows of A, columns of B whose elements follow each other. */
static void gst_fetch_along_k(const gst_fetch *f, uint32_t *quad) {
  size_t k = f->step * GST_K, length = f->view->count - k, apart = f->view->line_stride;
  if (length > GST_K) length = GST_K;
  for (size_t v = 0; v < f->present; v++) {
    uint32_t line[GST_QUADS] = {0};
    const unsigned char *from = gst_from(f, k) + v * apart;
    if (f->first + v + f->width < f->view->lines) __builtin_prefetch(from + f->width * apart);
    if (length == GST_K)
      memcpy(line, from, GST_K);
    else
      memcpy(line, from, length);
    for (size_t q = 0; q < GST_QUADS; q++) quad[q * f->width + v] = line[q];
  }
}

/* Those of which one element each lies side by side. */
static void gst_fetch_across_k(const gst_fetch *f, uint32_t *quad) {
  static const unsigned char behind[SMMA_MOST_VECTORS];
  for (size_t q = 0; q < GST_QUADS; q++) {
    const unsigned char *line[4];
    for (size_t i = 0; i < 4; i++) {
      size_t k = f->step * GST_K + 4 * q + i;
      line[i] = k < f->view->count ? gst_from(f, k) : behind;
    }
    for (size_t v = 0; v < f->present; v++)
      quad[q * f->width + v] =
          line[0][v] | (uint32_t)line[1][v] << 8 | (uint32_t)line[2][v] << 16 | (uint32_t)line[3][v] << 24;
  }
}

/* The view's factor. */
static void gst_scale_codes(double factor, size_t count, uint8_t *code) {
  uint8_t scaled[16];
  for (unsigned i = 0; i < 16; i++) scaled[i] = (uint8_t)smma_scaled(SMMA_E2M1, i, factor);
  for (size_t i = 0; i < count; i++) code[i] = scaled[code[i] & 15];
}

/* Encodings to halves, plus `raise`. */
static void gst_decode(size_t count, uint8_t raise, const uint8_t *code, uint8_t *out) {
  for (size_t i = 0; i < count; i++) {
    uint8_t m = code[i] & 7, magnitude = (uint8_t)(m + (m > 4) + (m > 5) + 3 * (m > 6));
    out[i] = (uint8_t)(code[i] & 8 ? raise - magnitude : raise + magnitude);
  }
}

/* The bits of elements that are not zero, and what cancels the raise. */
static void gst_sum_up(const gst_layout *l, size_t width, size_t parts, const uint32_t *quad, unsigned char *out) {
  const size_t quads = GST_QUADS / parts;
  int32_t *start = (int32_t *)(out + l->start), *nonzero = (int32_t *)(out + l->nonzero);
  for (size_t part = 0; part < parts; part++)
    for (size_t v = 0; v < width; v += LANES) {
      const vi fields = vi_set(0x07070707);
      vi sum = vi_set(0), bits = vi_set(0);
      for (size_t q = part * quads; q < (part + 1) * quads; q++) {
        vi magnitude = vi_and(vi_load((const int32_t *)quad + q * width + v), fields);
        bits = vi_or(vi_shift_right(bits, 1), vi_and(vi_add(magnitude, vi_set(0x7f7f7f7f)), vi_set((int)0x80808080)));
        sum = vi_dot4(sum, vb_repeat(GST_RAISE * 0x01010101u), vb_load(out + (q * width + v) * 4));
      }
      vi_store(nonzero + part * width + v, bits);
      vi_store(start + part * width + v, vi_subtract(vi_set(0), sum));
    }
}

/* The scale factors of one step, by parts; behind the matrix zero. */
static void gst_fetch_scales(const gst_fetch *f, size_t parts, uint8_t *code) {
  const size_t block = (size_t)f->operation->scale_block, first = f->step * parts;
  const size_t all = (f->view->count + block - 1) / block;
  memset(code, 0, parts * f->width);
  for (size_t v = 0; v < f->present; v++)
    for (size_t part = 0; part < parts && first + part < all; part++)
      code[part * f->width + v] = f->view->scale[(f->first + v) * all + first + part];
}

/* Values and exponents of the scale factors; a NaN counts as zero here and sets the flag. */
static void gst_take_scales(const gst_fetch *f, const gst_layout *l, size_t parts, unsigned char *out,
                            unsigned char *special) {
  const smma_encoding e = smma_encoding_of(f->operation->scale);
  const int fraction_bits = e.fraction_bits, bias = e.bias;
  const uint32_t largest = (uint32_t)smma_largest_fields(e), ones = largest + 1; /* of both formats */
  const uint32_t least = (uint32_t)(smma_minimum_exponent(e) + bias), fraction = (1u << fraction_bits) - 1;
  uint8_t code[4 * SMMA_MOST_VECTORS];
  double *restrict scale = (double *)(out + l->scale);
  int32_t *restrict exponent = (int32_t *)(out + l->exponent), *restrict nonzero = (int32_t *)(out + l->nonzero);
  gst_fetch_scales(f, parts, code);
  for (size_t i = 0; i < parts * f->width; i++) {
    uint32_t fields = code[i] & ones, field = fields >> fraction_bits;
    int32_t raised = (int32_t)(field < least ? least : field), hidden = field < least ? 0 : 1 << fraction_bits;
    int32_t significand = (int32_t)(fields & fraction) + hidden;
    uint64_t bits = (uint64_t)(raised - bias - fraction_bits + 1023) << 52;
    double unit;
    memcpy(&unit, &bits, sizeof unit);
    nonzero[i] &= -((significand != 0) & (fields <= largest));
    exponent[i] = raised - bias;
    scale[i] = unit * (significand & -(nonzero[i] != 0));
  }
  for (size_t part = 0; part < parts; part++)
    for (size_t v = 0; v < f->width; v++) special[v] |= (code[part * f->width + v] & ones) > largest;
}

static void gst_pack_step(const gst_fetch *f, const gst_layout *l, size_t parts, unsigned char *out,
                          unsigned char *special) {
  uint32_t quad[GST_QUADS * SMMA_MOST_VECTORS];
  const size_t count = GST_K * f->width;
  if (f->present < f->width) memset(quad, 0, count);
  if (smma_is_along_k(f->view))
    gst_fetch_along_k(f, quad);
  else
    gst_fetch_across_k(f, quad);
  if (f->view->factor != 1) gst_scale_codes(f->view->factor, count, (uint8_t *)quad);
  gst_decode(count, f->of_a ? GST_RAISE : 0, (const uint8_t *)quad, out);
  gst_sum_up(l, f->width, parts, quad, out);
  gst_take_scales(f, l, parts, out, special);
}

/* The least exponent and the spread over all steps, `apart` bytes each, and the weights that follow. */
static void gst_weigh(const gst_layout *l, size_t width, size_t parts, size_t steps, size_t apart, int fraction_bits,
                      unsigned char *out) {
  int32_t least[SMMA_MOST_VECTORS], greatest[SMMA_MOST_VECTORS];
  double unit[SMMA_MOST_VECTORS];
  const int even = gst_even_spread(fraction_bits);
  for (size_t v = 0; v < width; v++) least[v] = INT32_MAX, greatest[v] = INT32_MIN;
  for (size_t step = 0; step < steps; step++) {
    const int32_t *exponent = (const int32_t *)(out + step * apart + l->exponent);
    const int32_t *nonzero = (const int32_t *)(out + step * apart + l->nonzero);
    for (size_t part = 0; part < parts; part++)
      for (size_t v = 0; v < width; v++) {
        int32_t x = exponent[part * width + v];
        bool counts = nonzero[part * width + v] != 0;
        least[v] = counts && x < least[v] ? x : least[v];
        greatest[v] = counts && x > greatest[v] ? x : greatest[v];
      }
  }
  for (size_t v = 0; v < width; v++) {
    if (least[v] > greatest[v]) least[v] = greatest[v] = 0;
    greatest[v] -= least[v];
    if (least[v] < -GST_UNIT_LIMIT || least[v] > GST_UNIT_LIMIT || greatest[v] > even) greatest[v] = GST_UNEVEN;
    unit[v] = greatest[v] == GST_UNEVEN ? 0 : smma_power_of_two(fraction_bits - least[v]);
  }
  for (size_t step = 0; step < steps; step++, out += apart) {
    const double *scale = (const double *)(out + l->scale);
    int16_t *weight = (int16_t *)(out + l->weight);
    for (size_t part = 0; part < parts; part++)
      for (size_t v = 0; v < width; v++)
        weight[(part / 2 * width + v) * 2 + part % 2] = (int16_t)(int)(scale[part * width + v] * unit[v]);
    memcpy(out + l->least, least, width * 4);
    memcpy(out + l->spread, greatest, width * 4);
  }
}

static void gst_pack(const smma_pack *pack, size_t width) {
  const smma_plan *p = pack->plan;
  const size_t parts = gst_parts(&p->operation);
  const gst_layout l = gst_layout_of(width, parts);
  int fraction_bits = smma_encoding_of(p->operation.scale).fraction_bits;
  gst_fetch f = {&p->operation, smma_view_of(p, pack->of_a), pack->of_a, 0, width, 0, 0};
  for (size_t done = 0; done < pack->count; done += width) {
    unsigned char *out = (unsigned char *)pack->out + done / width * l.bytes;
    size_t apart = pack->count / width * l.bytes;
    f.first = pack->first + done;
    f.present = smma_lines_present(f.view, f.first, width);
    for (size_t step = 0; step < pack->steps; step++) {
      f.step = pack->step + step;
      gst_pack_step(&f, &l, parts, out + step * apart, pack->special + done);
    }
    gst_weigh(&l, width, parts, pack->steps, apart, fraction_bits, out);
  }
}

static void gst_pack_rows(const smma_pack *pack) { gst_pack(pack, GST_GROUP); }
static void gst_pack_columns(const smma_pack *pack) { gst_pack(pack, PANEL); }

/* ---- Running ---- */

/* What does not change within a run. */
typedef struct {
  gst_layout row, column;
  size_t row_step;   /* bytes from a step to the next */
  int fraction_bits; /* of a term */
  int spread;        /* the greatest that is even */
  int zero_exponent;
} gst_constants;

static inline __attribute__((always_inline)) gst_constants gst_constants_of(const smma_run *r, size_t parts) {
  const smma_operation *o = &r->plan->operation;
  gst_constants t;
  t.row = gst_layout_of(GST_GROUP, parts);
  t.column = gst_layout_of(PANEL, parts);
  t.row_step = r->packed_rows / GST_GROUP * t.row.bytes;
  t.fraction_bits = 2 + 2 * smma_encoding_of(o->scale).fraction_bits;
  t.spread = gst_even_spread(smma_encoding_of(o->scale).fraction_bits);
  t.zero_exponent = o->rule.with.gst_fdpa.fused.zero_exponent;
  return t;
}

/* Where in the run a step of some rows and vectors is; a and b begin with the first row and column, in arrays of words
   of 32 bits. */
typedef struct {
  const smma_run *run;
  const gst_constants *constants;
  const unsigned char *a, *b;
  size_t row, column, step;
} gst_part;

/* The sum of one part's products in quarters. a: the row's first four elements of the step, b: the vector's. */
static inline __attribute__((always_inline)) vi gst_dot(size_t parts, size_t part, vi sum, const unsigned char *a,
                                                        const unsigned char *b) {
  const size_t quads = GST_QUADS / parts;
  for (size_t q = part * quads; q < (part + 1) * quads; q++)
    sum = vi_dot4(sum, vb_repeat(((const uint32_t *)a)[q * GST_GROUP]), vb_load(b + q * PANEL * 4));
  return sum;
}

/* c toward zero at F bits below emax, in its encoding; `exponent` is c's. */
static inline vi gst_cut_c(vi c, vi exponent, vi emax) {
  vi bits = vi_subtract(vi_subtract(emax, exponent), vi_set(GST_F - 23));
  vi kept = vi_and(c, vi_shift_left_by(vi_set(-1), vi_max(bits, vi_set(0))));
  return vi_select(vi_less(vi_set(23), bits), vi_set(0), kept);
}

/* One row, one vector, one step of any operands. */
static __attribute__((noinline)) void gst_step(const gst_part *p, size_t parts, size_t i, size_t v) {
  const gst_constants *t = p->constants;
  const unsigned char *a = p->a + i * 4, *b = p->b + v * LANES * 4;
  const int32_t *row_exponent = (const int32_t *)(a + t->row.exponent);
  const int32_t *row_nonzero = (const int32_t *)(a + t->row.nonzero);
  const int32_t *exponent = (const int32_t *)(b + t->column.exponent);
  const int32_t *nonzero = (const int32_t *)(b + t->column.nonzero);
  const size_t row = p->row + i, column = p->column + v * LANES;
  const double *row_scale = (const double *)(a + t->row.scale + row % GST_GROUP * 4);
  const double *scale = (const double *)(b + t->column.scale + column * 4);
  float *accumulator = (float *)p->run->accumulator + row * PANEL + column, start[LANES];
  vf c = vf_load(accumulator);
  vi c_exponent = vi_subtract(vi_max(vi_shift_right(vi_shift_left(vf_bits(c), 1), 24), vi_set(1)), vi_set(127));
  vi emax = vi_select(vf_equal(c, vf_set(0)), vi_set(t->zero_exponent), c_exponent), emin = vi_set(INT32_MAX);
  vf cut;
  vd low, high;
  vm rare;
  for (size_t part = 0; part < parts; part++) {
    vi both = vi_and(vi_set(row_nonzero[part * GST_GROUP]), vi_load(nonzero + part * PANEL));
    vi x = vi_add(vi_set(row_exponent[part * GST_GROUP]), vi_load(exponent + part * PANEL));
    vm zero = vi_equal(both, vi_set(0));
    emax = vi_max(emax, vi_select(zero, vi_set(t->zero_exponent), x));
    emin = vi_min(emin, vi_select(zero, vi_set(INT32_MAX), x));
  }
  rare = vm_or(vi_less(vi_set(GST_GREATEST), emax), vi_less(emin, vi_subtract(emax, vi_set(GST_F - t->fraction_bits))));
  cut = vf_add(vi_as_float(gst_cut_c(vf_bits(c), c_exponent, emax)), vf_set(0)); /* no sum is -0 then */
  low = vd_low(cut), high = vd_high(cut);
  for (size_t part = 0; part < parts; part++) {
    vi sum = vi_load((const int32_t *)(b + t->column.start) + part * PANEL);
    vd s = vd_set(row_scale[part * GST_GROUP] * 0.25);
    sum = gst_dot(parts, part, sum, a, b);
    low = vd_fma(vd_multiply(vd_low_int(sum), vd_load(scale + part * PANEL)), s, low);
    high = vd_fma(vd_multiply(vd_high_int(sum), vd_load(scale + part * PANEL + LANES / 2)), s, high);
  }
  vf_store(start, c);
  vf_store(accumulator, vf_narrow(low, high));
  if (vm_bits(rare)) smma_compute_lanes(p->run, row, column, p->step, vm_bits(rare), start, accumulator);
}

enum { GST_ROWS = 2 * ROWS, GST_VECTORS = 2 }; /* that are computed together */

/* The sum of a row's and a vector's numbers at these offsets. a: the row's, b: the vector's. */
static inline vi gst_sum_of(size_t row_offset, size_t column_offset, const unsigned char *a, const unsigned char *b) {
  return vi_add(vi_set(*(const int32_t *)(a + row_offset)), vi_load((const int32_t *)(b + column_offset)));
}

/* 2^(x - fraction) for one row and one vector; 2^(fraction - x). */
static inline vf gst_unit(const gst_constants *t, const unsigned char *a, const unsigned char *b) {
  vi x = gst_sum_of(t->row.least, t->column.least, a, b);
  return vi_as_float(vi_shift_left(vi_add(x, vi_set(127 - t->fraction_bits)), 23));
}
static inline vf gst_unit_scale(const gst_constants *t, const unsigned char *a, const unsigned char *b) {
  vi x = gst_sum_of(t->row.least, t->column.least, a, b);
  return vi_as_float(vi_shift_left(vi_subtract(vi_set(127 + t->fraction_bits), x), 23));
}

/* c in units, and whether it is whole everywhere. False if some lane may not be in an even run. */
static inline __attribute__((always_inline)) bool gst_begin(const gst_constants *t, const unsigned char *a,
                                                            const unsigned char *b, const float *accumulator,
                                                            vf c[GST_ROWS][GST_VECTORS], bool *whole) {
  vm even = vi_equal(vi_set(0), vi_set(0)), all_whole = even;
  UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++) {
    const unsigned char *x = a + i * 4, *y = b + v * LANES * 4;
    vf before = vf_load(accumulator + i * PANEL + v * LANES), units = vf_multiply(before, gst_unit_scale(t, x, y));
    vi magnitude = vi_and(vf_bits(units), vi_set(INT32_MAX));
    vm small = vi_less(magnitude, vf_bits(vf_set(GST_EVEN_C)));
    vm exact = vf_equal(vf_multiply(units, gst_unit(t, x, y)), before);
    vm near = vi_less(gst_sum_of(t->row.spread, t->column.spread, x, y), vi_set(t->spread + 1));
    even = vm_and(even, vm_and(near, vm_and(small, exact)));
    all_whole = vm_and(all_whole, vf_equal(vi_to_float(vf_truncate(units)), units));
    c[i][v] = units;
  }
  *whole = vm_bits(all_whole) == (1ull << LANES) - 1;
  return vm_bits(even) == (1ull << LANES) - 1;
}

static inline __attribute__((always_inline)) void gst_end(const gst_constants *t, const unsigned char *a,
                                                          const unsigned char *b, float *accumulator,
                                                          const vf c[GST_ROWS][GST_VECTORS]) {
  UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++) {
    vf d = vf_multiply(c[i][v], gst_unit(t, a + i * 4, b + v * LANES * 4));
    vf_store(accumulator + i * PANEL + v * LANES, d);
  }
}

/* The sums of one part's products in quarters. */
static inline __attribute__((always_inline)) void gst_even_dots(size_t parts, size_t part, const unsigned char *a,
                                                                const unsigned char *b, const int32_t *start,
                                                                vi g[GST_ROWS][GST_VECTORS]) {
  const size_t quads = GST_QUADS / parts;
  UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++) g[i][v] =
      vi_load(start + part * PANEL + v * LANES);
  for (size_t q = part * quads; q < (part + 1) * quads; q++) {
    vb y[GST_VECTORS];
    UNROLL for (size_t v = 0; v < GST_VECTORS; v++) y[v] = vb_load(b + (q * PANEL + v * LANES) * 4);
    UNROLL for (size_t i = 0; i < GST_ROWS; i++) {
      vb x = vb_repeat(((const uint32_t *)a)[q * GST_GROUP + i]);
      UNROLL for (size_t v = 0; v < GST_VECTORS; v++) g[i][v] = vi_dot4(g[i][v], x, y[v]);
    }
  }
}

/* Adds one step's terms in units, two parts at a time. */
static inline __attribute__((always_inline)) void gst_even_sum(const gst_constants *t, size_t parts,
                                                               const unsigned char *a, const unsigned char *b,
                                                               vi sum[GST_ROWS][GST_VECTORS]) {
  const int32_t *start = (const int32_t *)(b + t->column.start);
  const int32_t *row_weight = (const int32_t *)(a + t->row.weight);
  const int32_t *weight = (const int32_t *)(b + t->column.weight);
  for (size_t pair = 0; pair < parts / 2; pair++) {
    vi low[GST_ROWS][GST_VECTORS], high[GST_ROWS][GST_VECTORS];
    gst_even_dots(parts, 2 * pair, a, b, start, low);
    gst_even_dots(parts, 2 * pair + 1, a, b, start, high);
    UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++) {
      vi both = vi_or(vi_and(low[i][v], vi_set(0xffff)), vi_shift_left(high[i][v], 16));
      vi w = vh_multiply(vi_set(row_weight[pair * GST_GROUP + i]), vi_load(weight + pair * PANEL + v * LANES));
      sum[i][v] = vi_dot2(sum[i][v], both, w);
    }
  }
}

/* c after a step, in units, from c before and the sum of its whole part and the terms; by gst_step where c may be cut.
   d is the sum toward zero and `rest` what that left. Where rest is zero, d + fraction is rounded once. Elsewhere the
   sum has more than 24 bits, rest its sign and at least the magnitude 1: rest + fraction has that sign too, however it
   is rounded, and a magnitude below the last place of d, so the result is d. */
static __attribute__((noinline)) void gst_add_fractions(const gst_part *p, size_t parts, vi sum[GST_ROWS][GST_VECTORS],
                                                        vf c[GST_ROWS][GST_VECTORS]) {
  const gst_constants *t = p->constants;
  float *accumulator = (float *)p->run->accumulator + p->row * PANEL + p->column;
  UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++) {
    const unsigned char *a = p->a + i * 4, *b = p->b + v * LANES * 4;
    vf fraction = vf_subtract(c[i][v], vi_to_float(vf_truncate(c[i][v]))), d = vi_to_float(sum[i][v]);
    vf rest = vi_to_float(vi_subtract(sum[i][v], vf_truncate(d)));
    vi spread = gst_sum_of(t->row.spread, t->column.spread, a, b);
    vi least = vi_shift_left(vi_add(spread, vi_set(127 + t->fraction_bits - (GST_F - 23))), 23);
    vm cut = vi_less(vi_and(vf_bits(c[i][v]), vi_set(INT32_MAX)), least);
    cut = vm_and_not(cut, vf_equal(fraction, vf_set(0)));
    if (vm_bits(cut)) {
      float *at = accumulator + i * PANEL + v * LANES;
      vf_store(at, vf_multiply(c[i][v], gst_unit(t, a, b)));
      gst_step(p, parts, i, v);
      c[i][v] = vf_multiply(vf_load(at), gst_unit_scale(t, a, b));
    } else {
      c[i][v] = vf_add(d, vf_add(rest, fraction));
    }
  }
}

/* At most GST_EVEN_STEPS steps, to `last`, of the part. */
static inline __attribute__((always_inline)) void gst_steps(gst_part p, size_t parts, size_t last) {
  const gst_constants *t = p.constants;
  float *accumulator = (float *)p.run->accumulator + p.row * PANEL + p.column;
  vf c[GST_ROWS][GST_VECTORS];
  bool whole, even;
  for (size_t i = 0; i < GST_ROWS && p.row + GST_ROWS < p.run->rows; i++)
    UNROLL for (size_t v = 0; v < GST_VECTORS; v++)
        __builtin_prefetch(accumulator + (GST_ROWS + i) * PANEL + v * LANES, 1);
  even = gst_begin(t, p.a, p.b, accumulator, c, &whole);
  for (; p.step < last; p.step++, p.a += t->row_step, p.b += t->column.bytes) {
    vi sum[GST_ROWS][GST_VECTORS];
    if (!even) {
      UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++)
          gst_step(&p, parts, i, v);
      continue;
    }
    UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++) sum[i][v] =
        vf_truncate(c[i][v]);
    gst_even_sum(t, parts, p.a, p.b, sum);
    if (whole) {
      UNROLL for (size_t i = 0; i < GST_ROWS; i++) UNROLL for (size_t v = 0; v < GST_VECTORS; v++) c[i][v] =
          vi_to_float(sum[i][v]);
    } else {
      vf state[GST_ROWS][GST_VECTORS];
      vi sums[GST_ROWS][GST_VECTORS];
      memcpy(state, c, sizeof c), memcpy(sums, sum, sizeof sum);
      gst_add_fractions(&p, parts, sums, state);
      memcpy(c, state, sizeof c);
    }
  }
  if (even) gst_end(t, p.a - t->row_step, p.b - t->column.bytes, accumulator, c);
}

static inline __attribute__((always_inline)) void gst_panel(const smma_run *r, size_t parts) {
  const gst_constants t = gst_constants_of(r, parts);
  for (size_t first = r->first; first < r->last; first += GST_EVEN_STEPS) {
    size_t last = r->last - first > GST_EVEN_STEPS ? first + GST_EVEN_STEPS : r->last;
    const unsigned char *a = (const unsigned char *)r->a + first * t.row_step;
    const unsigned char *b = (const unsigned char *)r->b + first * t.column.bytes;
    for (size_t column = 0; column < PANEL; column += GST_VECTORS * LANES)
      for (size_t row = 0; row < r->rows; row += GST_ROWS) {
        const unsigned char *group = a + row / GST_GROUP * t.row.bytes;
        gst_part p = {r, &t, group + row % GST_GROUP * 4, b + column * 4, row, column, first};
        gst_steps(p, parts, last);
      }
  }
}

static void gst_run(const smma_run *r) {
  if (gst_parts(&r->plan->operation) == 4)
    gst_panel(r, 4);
  else
    gst_panel(r, 2);
}

static const smma_kernel_family gst_fdpa_family = {
    gst_takes, PANEL, gst_bytes, gst_bytes, gst_pack_rows, gst_pack_columns, gst_run, SMMA_MODE_TOWARD_ZERO};

#endif
