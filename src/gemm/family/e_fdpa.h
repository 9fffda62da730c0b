/* E-FDPA: c plus two or four products of FP16 or BF16, exactly, then RNE-FP32. The sum is a chain of fused
   multiply-adds in binary64, whose products are exact.

   Some blocks that follow each other make a run. Within one, |a| is below 2^(ea + 1) and a multiple of 2^la for every a
   of a row that is not zero, and so for b; c before lies between 2^ec and 2^(ec + 1) and is a multiple of 2^(ec - 23).
   With T = ea + eb + 2 + log2(products of a run), every partial sum is below 2^X, X = max(ec + 1, T) + 1, but for what
   rounding to 24 bits adds, and a multiple of 2^q, q = min(la + lb, ec - 23): sums of multiples are, and rounding to
   fewer bits leaves them so. So every chain is exact where X - q <= 52, that is
     T - (la + lb) <= 51       (products among each other)
     ec <= la + lb + 50        (c above the products)
     c = 0 or ec >= T - 28     (c below the products)
   which is compared in encodings of |c|: with limits that are exponents, plus 127, in the exponent's place. Values are
   multiples of 2^-149 there, so no sum that is not zero rounds to zero.

   Elsewhere a chain errs by at most L 2^-53 M, M the sum of all magnitudes; the result is found if both ends of an
   interval that is 2^-50 M wide to both sides round alike, and left to the core otherwise. */
#ifndef SMMA_GEMM_FAMILY_E_FDPA_H
#define SMMA_GEMM_FAMILY_E_FDPA_H

#include "gemm/family/words.h"
#include "gemm/pack.h"

enum {
  E_FDPA_GROUP = 16,    /* rows that are packed together */
  E_FDPA_AT_ONCE = 32,  /* products whose columns stay close to the processor */
  E_FDPA_LEAST = -74,   /* least la */
  E_FDPA_RAISE = 88,    /* two of it are 126 + 51 - 1: see e_fdpa_doubt */
  E_FDPA_MOST = 127,    /* sums of two limits are below the exponent of infinity */
  E_FDPA_NEVER = 1 << 9 /* ea: whatever eb, T is above every limit */
};

/* What is packed for a block of L products of `width` rows or columns: L times their values; the greatest magnitude of
   each; and, with the first block of a run, the limits of each that come from la and the exponents ea (for columns, eb
   of the panel). In doubles, of which two numbers of 32 bits make one. */
static inline size_t e_fdpa_block(size_t length, size_t width) { return (length + 2) * width; }

/* log2 of the products of a run: fewer of FP16, whose products have more bits. */
static inline int e_fdpa_run_log2(size_t length) { return length == 4 ? 3 : 5; }
static inline size_t e_fdpa_run_blocks(size_t length) { return ((size_t)1 << e_fdpa_run_log2(length)) / length; }

static size_t e_fdpa_bytes(const smma_operation *o) {
  return (size_t)smma_blocks_per_step(o) * e_fdpa_block((size_t)smma_block_of(o), 8);
}

static bool e_fdpa_takes(const smma_operation *o) {
  int length = smma_block_of(o);
  return o->rule.algorithm == SMMA_E_FDPA && (length == 2 || length == 4) && o->a == o->b &&
         (o->a == SMMA_F16 || o->a == SMMA_BF16);
}

/* ---- Packing ---- */

/* The least la and the greatest ea of a run. */
typedef struct {
  int32_t low[SMMA_MOST_VECTORS], high[SMMA_MOST_VECTORS];
} e_fdpa_range;

static void e_fdpa_begin_range(size_t width, e_fdpa_range *range) {
  for (size_t v = 0; v < width; v++) range->low[v] = E_FDPA_MOST, range->high[v] = -E_FDPA_MOST;
}

/* The values of one block, in binary32. */
static void e_fdpa_extend_range(smma_encoding e, size_t count, size_t width, const float *value, e_fdpa_range *range) {
  const int fraction_bits = e.fraction_bits, least = smma_minimum_exponent(e) - fraction_bits;
  for (size_t i = 0; i < count; i += width)
    for (size_t v = 0; v < width; v++) {
      int32_t bits, exponent, last, low = range->low[v], high = range->high[v];
      memcpy(&bits, &value[i + v], sizeof bits);
      bits &= INT32_MAX;
      exponent = (bits >> 23) - 127;
      last = exponent - fraction_bits > least ? exponent - fraction_bits : least;
      range->low[v] = bits && last < low ? last : low;
      range->high[v] = bits && exponent > high ? exponent : high;
    }
}

/* Limits and exponents, two of each width. */
static void e_fdpa_end_range(bool of_a, size_t width, const e_fdpa_range *range, int32_t *out) {
  int32_t high = -E_FDPA_MOST;
  for (size_t v = 0; v < width; v++) {
    int32_t limit = range->low[v] + E_FDPA_RAISE;
    bool never = range->low[v] < E_FDPA_LEAST;
    out[v] = (never ? 0 : limit > E_FDPA_MOST ? E_FDPA_MOST : limit) * (1 << 23);
    out[width + v] = never ? E_FDPA_NEVER : range->high[v];
    high = out[width + v] > high ? out[width + v] : high;
  }
  for (size_t v = 0; v < width && !of_a; v++) out[width + v] = high;
}

static void e_fdpa_take_values(size_t length, size_t width, const float *value, double *out) {
  double *greatest = out + length * width;
  for (size_t v = 0; v < width; v++) greatest[v] = 0;
  for (size_t i = 0; i < length; i++)
    for (size_t v = 0; v < width; v++) {
      double x = (double)value[i * width + v], magnitude = x < 0 ? -x : x;
      out[i * width + v] = x;
      greatest[v] = magnitude > greatest[v] ? magnitude : greatest[v];
    }
}

/* Rows or columns f->first.. of all steps, whose blocks lie `apart` doubles apart. */
static void e_fdpa_pack_group(const smma_pack *pack, smma_fetch *f, size_t apart, double *out, unsigned char *special) {
  const smma_operation *o = &pack->plan->operation;
  const smma_format format = pack->of_a ? o->a : o->b;
  const smma_decoder d = smma_decoder_of(format);
  size_t blocks = (size_t)smma_blocks_per_step(o), length = (size_t)f->length, count = length * f->vectors;
  size_t all = pack->steps * blocks, at_once = e_fdpa_run_blocks(length);
  for (size_t first = 0; first < all; first += at_once) {
    e_fdpa_range range;
    e_fdpa_begin_range(f->vectors, &range);
    for (size_t block = first; block < all && block < first + at_once; block++) {
      uint32_t code[4 * SMMA_MOST_VECTORS];
      float value[4 * SMMA_MOST_VECTORS];
      uint8_t exponent[4 * SMMA_MOST_VECTORS];
      f->step = pack->step + block / blocks, f->block = (int)(block % blocks);
      smma_fetch_codes(f, code);
      smma_decode_codes(&d, length, f->vectors, code, value, exponent, special);
      e_fdpa_extend_range(smma_encoding_of(format), count, f->vectors, value, &range);
      e_fdpa_take_values(length, f->vectors, value, out + block * apart);
    }
    e_fdpa_end_range(pack->of_a, f->vectors, &range, (int32_t *)(out + first * apart + count + f->vectors));
  }
}

static void e_fdpa_pack(const smma_pack *pack, size_t width) {
  size_t length = (size_t)smma_block_of(&pack->plan->operation), bytes = e_fdpa_block(length, width);
  smma_fetch f = {pack->plan, pack->of_a, 0, width, 0, 0, (int)length};
  for (size_t done = 0; done < pack->count; done += width) {
    f.first = pack->first + done;
    e_fdpa_pack_group(pack, &f, pack->count / width * bytes, (double *)pack->out + done / width * bytes,
                      pack->special + done);
  }
}

static void e_fdpa_pack_rows(const smma_pack *pack) { e_fdpa_pack(pack, E_FDPA_GROUP); }
static void e_fdpa_pack_columns(const smma_pack *pack) { e_fdpa_pack(pack, PANEL); }

/* ---- Running ---- */

enum { E_FDPA_ROWS = 2 * ROWS, E_FDPA_VECTORS = 2 }; /* that are computed together */

/* E_FDPA_ROWS rows and E_FDPA_VECTORS vectors for blocks of one run; the packed values of the first of each in the
   first block. */
typedef struct {
  const smma_run *run;
  size_t row, column, block, blocks;
  const double *a, *b;
  size_t a_apart, b_apart;                 /* from block to block */
  const int32_t *row_limit, *column_limit; /* exponents one width behind */
} e_fdpa_part;

/* Negative in the lanes whose chains may not be exact. `top` is T + 126 in the exponent's place: limit - top and
   limit - |c| are the first two of the three conditions above. */
static inline vi e_fdpa_doubt(vf c, int32_t top, vi limit) {
  const int32_t bottom = top - (27 << 23);
  vi x = vi_and(vf_bits(c), vi_set(INT32_MAX)), unless_zero = vi_and(vi_add(x, vi_set(-1)), vi_set(INT32_MAX));
  vi high = vi_subtract(limit, vi_max(x, vi_set(top)));
  vi low = vi_subtract(unless_zero, vi_set(bottom > 0 ? bottom : 0));
  return vi_or(high, low);
}

static inline vi e_fdpa_doubt_at(const e_fdpa_part *p, size_t length, size_t i, size_t v, vf c) {
  int top = p->row_limit[E_FDPA_GROUP + i] + p->column_limit[PANEL] + 2 + e_fdpa_run_log2(length) + 126;
  vi limit = vi_add(vi_set(p->row_limit[i]), vi_load(p->column_limit + v * LANES));
  return e_fdpa_doubt(c, (top > 255 ? 255 : top < 0 ? 0 : top) << 23, limit);
}

/* One block of one row and one vector, from an interval around its chain where `doubtful`. c is not -0. */
static inline vf e_fdpa_interval(size_t length, const double *a, const double *b, vf c, vm doubtful, vm *missed) {
  vf magnitude = vi_as_float(vi_and(vf_bits(c), vi_set(INT32_MAX))), below, above;
  vd low = vd_low(c), high = vd_high(c), low_error, high_error, part = vd_set(0x1p-50);
  vd most = vd_set((double)length * a[length * E_FDPA_GROUP]);
  low_error = vd_multiply(vd_fma(most, vd_load(b + length * PANEL), vd_low(magnitude)), part);
  high_error = vd_multiply(vd_fma(most, vd_load(b + length * PANEL + LANES / 2), vd_high(magnitude)), part);
  for (size_t k = 0; k < length; k++) {
    vd x = vd_set(a[k * E_FDPA_GROUP]);
    low = vd_fma(x, vd_load(b + k * PANEL), low);
    high = vd_fma(x, vd_load(b + k * PANEL + LANES / 2), high);
  }
  below = vf_narrow(vd_subtract(low, low_error), vd_subtract(high, high_error));
  above = vf_narrow(vd_add(low, low_error), vd_add(high, high_error));
  *missed = vm_and_not(doubtful, vm_and(vi_equal(vf_bits(below), vf_bits(above)), vf_equal(below, above)));
  return vf_select(doubtful, below, vf_narrow(low, high));
}

/* One row and one vector, where some lanes may be doubtful. */
static __attribute__((noinline)) vf e_fdpa_with_care(const e_fdpa_part *p, size_t length, size_t i, size_t v, vf c) {
  const double *a = p->a + i, *b = p->b + v * LANES;
  vm doubtful = vi_less(e_fdpa_doubt_at(p, length, i, v, c), vi_set(0)), missed;
  for (size_t block = p->block; block < p->block + p->blocks; block++, a += p->a_apart, b += p->b_apart) {
    float start[LANES], result[LANES];
    vf_store(start, c);
    c = vf_add(c, vf_set(0)); /* -0 counts as +0 */
    c = e_fdpa_interval(length, a, b, c, doubtful, &missed);
    if (!vm_bits(missed)) continue;
    vf_store(result, c);
    smma_compute_lanes(p->run, p->row + i, p->column + v * LANES, block, vm_bits(missed), start, result);
    c = vf_load(result);
  }
  return c;
}

/* Every chain is exact. */
static inline __attribute__((always_inline)) void e_fdpa_exact(const e_fdpa_part *p, size_t length,
                                                               vf c[E_FDPA_ROWS][E_FDPA_VECTORS]) {
  const double *a = p->a, *b = p->b;
  UNROLL for (size_t i = 0; i < E_FDPA_ROWS; i++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++) c[i][v] =
      vf_add(c[i][v], vf_set(0)); /* no chain gives -0 then */
  for (size_t block = 0; block < p->blocks; block++, a += p->a_apart, b += p->b_apart) {
    vd low[E_FDPA_ROWS][E_FDPA_VECTORS], high[E_FDPA_ROWS][E_FDPA_VECTORS];
    UNROLL for (size_t i = 0; i < E_FDPA_ROWS; i++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++)
        low[i][v] = vd_low(c[i][v]),
        high[i][v] = vd_high(c[i][v]);
    UNROLL for (size_t k = 0; k < length; k++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++) {
      vd y = vd_load(b + k * PANEL + v * LANES), z = vd_load(b + k * PANEL + v * LANES + LANES / 2);
      UNROLL for (size_t i = 0; i < E_FDPA_ROWS; i++) {
        vd x = vd_set(a[k * E_FDPA_GROUP + i]);
        low[i][v] = vd_fma(x, y, low[i][v]);
        high[i][v] = vd_fma(x, z, high[i][v]);
      }
    }
    UNROLL for (size_t i = 0; i < E_FDPA_ROWS; i++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++) c[i][v] =
        vf_narrow(low[i][v], high[i][v]);
  }
}

/* `length` is a constant where this is inlined. */
static inline __attribute__((always_inline)) void e_fdpa_part_of_run(const e_fdpa_part *p, size_t length,
                                                                     vf c[E_FDPA_ROWS][E_FDPA_VECTORS]) {
  vi doubt = vi_set(0);
  UNROLL for (size_t i = 0; i < E_FDPA_ROWS; i++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++) doubt =
      vi_or(doubt, e_fdpa_doubt_at(p, length, i, v, c[i][v]));
  if (!vi_any_negative(doubt)) {
    e_fdpa_exact(p, length, c);
    return;
  }
  UNROLL for (size_t i = 0; i < E_FDPA_ROWS; i++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++) c[i][v] =
      e_fdpa_with_care(p, length, i, v, c[i][v]);
}

/* E_FDPA_ROWS rows and E_FDPA_VECTORS vectors for blocks first..last - 1. */
static inline __attribute__((always_inline)) void e_fdpa_rows(const smma_run *r, size_t length, size_t row,
                                                              size_t column, size_t first, size_t last) {
  const size_t a_block = e_fdpa_block(length, E_FDPA_GROUP), b_block = e_fdpa_block(length, PANEL);
  const size_t run = e_fdpa_run_blocks(length), a_apart = r->packed_rows / E_FDPA_GROUP * a_block;
  const double *a = (const double *)r->a + row / E_FDPA_GROUP * a_block, *b = (const double *)r->b;
  float *accumulator = (float *)r->accumulator + row * PANEL + column;
  vf c[E_FDPA_ROWS][E_FDPA_VECTORS];
  UNROLL for (size_t i = 0; i < E_FDPA_ROWS; i++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++) c[i][v] =
      vf_load(accumulator + i * PANEL + v * LANES);
  for (size_t block = first, end; block < last; block = end) {
    const size_t i = row % E_FDPA_GROUP, start = block / run * run;
    e_fdpa_part p = {r,
                     row,
                     column,
                     block,
                     0,
                     a + block * a_apart + i,
                     b + block * b_block + column,
                     a_apart,
                     b_block,
                     (const int32_t *)(a + start * a_apart + (length + 1) * E_FDPA_GROUP) + i,
                     (const int32_t *)(b + start * b_block + (length + 1) * PANEL) + column};
    end = start + run < last ? start + run : last;
    p.blocks = end - block;
    e_fdpa_part_of_run(&p, length, c);
  }
  UNROLL for (size_t i = 0; i < E_FDPA_ROWS; i++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++)
      vf_store(accumulator + i * PANEL + v * LANES, c[i][v]);
}

static inline __attribute__((always_inline)) void e_fdpa_panel(const smma_run *r, size_t length) {
  const size_t blocks = (size_t)smma_blocks_per_step(&r->plan->operation), at_once = E_FDPA_AT_ONCE / length;
  for (size_t first = r->first * blocks, last; first < r->last * blocks; first = last) {
    last = (first / at_once + 1) * at_once;
    if (last > r->last * blocks) last = r->last * blocks;
    for (size_t column = 0; column < PANEL; column += E_FDPA_VECTORS * LANES)
      for (size_t row = 0; row < r->rows; row += E_FDPA_ROWS) e_fdpa_rows(r, length, row, column, first, last);
  }
}

static void e_fdpa_run(const smma_run *r) {
  if (smma_block_of(&r->plan->operation) == 4)
    e_fdpa_panel(r, 4);
  else
    e_fdpa_panel(r, 2);
}

static const smma_kernel_family e_fdpa_family = {
    e_fdpa_takes,        PANEL,      e_fdpa_bytes,     e_fdpa_bytes, e_fdpa_pack_rows,
    e_fdpa_pack_columns, e_fdpa_run, SMMA_MODE_NEAREST};

#endif
