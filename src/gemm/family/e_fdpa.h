/* E-FDPA: the exact sum of c and two or four products of FP16 or BF16, rounded to FP32 (RNE). The sum is a chain of
   fused multiply-adds in binary64, whose products are exact.

   Several consecutive blocks make a run. Within a run, |a| is below 2^(ea + 1) and a multiple of 2^la for every nonzero
   a of a row, and likewise for b with eb and lb. The accumulator c before the run lies between 2^ec and 2^(ec + 1) and
   is a multiple of 2^(ec - 23). Let T = ea + eb + 2 + log2(products of a run). Every partial sum is below 2^X with
   X = max(ec + 1, T) + 1, apart from what rounding to 24 bits adds. It is also a multiple of 2^q with
   q = min(la + lb, ec - 23), because sums of multiples are multiples, and rounding to fewer bits preserves this.
   So every chain is exact if X - q <= 52, that is
     T - (la + lb) <= 51       (products among each other)
     ec <= la + lb + 50        (c above the products)
     c = 0 or ec >= T - 28     (c below the products)
   The code compares these limits, as binary32 exponent fields, with the encoding of |c|. If the conditions hold, all
   values are multiples of 2^-149, so no nonzero sum rounds to zero.

   Otherwise a chain of FP16 has an error of hardly more than 2^-51 (|c| + P), where c is the accumulator before the
   run and P the sum of the magnitudes of a row, times the column's greatest magnitude. If both ends of the interval
   +-2^-50 (|c| + P) around the chain's sum round to the same number, this is the result. Otherwise, and always for
   BF16, whose sums are often ties, a slower method rounds exact sums to odd in binary64. These round to binary32 as the
   exact sums do. */
#ifndef SMMA_GEMM_FAMILY_E_FDPA_H
#define SMMA_GEMM_FAMILY_E_FDPA_H

#include "gemm/family/words.h"
#include "gemm/pack.h"

/* ea and eb are exponents of leading bits, la and lb those of last bits. For a subnormal, la is that of the format's
   least number. (A subnormal BF16 number is read with the exponent -127 minus its fraction bits, which is below its
   last bit.) */
enum {
  E_FDPA_GROUP = 16,    /* rows that are packed together */
  E_FDPA_RUN_LOG2 = 5,  /* log2 of the number of products in a run; the columns of a run stay in a fast cache */
  E_FDPA_LEAST = -74,   /* the least la and lb with which a chain can be exact: products are multiples of 2^-148 */
  E_FDPA_RAISE = 88,    /* added to la and to lb in limits; for e_fdpa_doubt, twice this is 126 + 51 - 1 */
  E_FDPA_MOST = 127,    /* the greatest limit: the sum of two limits is below the exponent of infinity */
  E_FDPA_NEVER = 1 << 9 /* with this value of ea, T is above every limit, whatever eb is */
};

/* Returns the size, in doubles, of a packed block of L products for `width` rows or columns. Its layout is: L times the
   values as doubles; then three arrays of 32-bit numbers, which are filled in the first block of a run only:
   - for columns the greatest magnitudes, for rows the sums of magnitudes times 2^-50 (their product is 2^-50 P);
   - the limits that result from la or lb;
   - for rows the exponents ea, for columns the greatest eb of the panel. */
static inline size_t e_fdpa_block(size_t length, size_t width) { return (length + 2) * width; }

/* Returns the number of blocks in a run. */
static inline size_t e_fdpa_run_blocks(size_t length) { return ((size_t)1 << E_FDPA_RUN_LOG2) / length; }

static size_t e_fdpa_bytes(const smma_operation *o) {
  return (size_t)smma_blocks_per_step(o) * e_fdpa_block((size_t)smma_block_of(o), 8);
}

static bool e_fdpa_takes(const smma_operation *o) {
  int length = smma_block_of(o);
  return o->rule.algorithm == SMMA_E_FDPA && (length == 2 || length == 4) && o->a == o->b &&
         (o->a == SMMA_F16 || o->a == SMMA_BF16);
}

/* ---- Packing ---- */

/* What is known of the numbers of each row or column in a run. */
typedef struct {
  int32_t low[SMMA_MOST_VECTORS]; /* the least exponent of a last bit: la or lb */
  float most[SMMA_MOST_VECTORS];  /* the greatest magnitude */
  float sum[SMMA_MOST_VECTORS];   /* the sum of magnitudes */
} e_fdpa_range;

static void e_fdpa_begin_range(size_t width, e_fdpa_range *range) {
  for (size_t v = 0; v < width; v++) range->low[v] = E_FDPA_MOST, range->most[v] = range->sum[v] = 0;
}

/* Returns the exponent of a magnitude; -127 below 2^-126. */
static inline int32_t e_fdpa_exponent(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (bits >> 23) - 127;
}

/* Extends the range by the values of one block, in binary32. */
static void e_fdpa_extend_range(smma_encoding e, size_t count, size_t width, const float *value, e_fdpa_range *range) {
  const int fraction_bits = e.fraction_bits, least = smma_minimum_exponent(e) - fraction_bits;
  for (size_t i = 0; i < count; i += width)
    for (size_t v = 0; v < width; v++) {
      const float magnitude = value[i + v] < 0 ? -value[i + v] : value[i + v];
      int32_t last = e_fdpa_exponent(magnitude) - fraction_bits, low = range->low[v];
      last = last > least ? last : least;
      range->low[v] = magnitude > 0 && last < low ? last : low;
      range->most[v] = magnitude > range->most[v] ? magnitude : range->most[v];
      range->sum[v] += magnitude;
    }
}

/* Stores the arrays of a run's first block at `out`. */
static void e_fdpa_end_range(bool of_a, size_t width, const e_fdpa_range *range, double *out) {
  float *most = (float *)(out + width / 2);
  int32_t *limit = (int32_t *)(out + width), *exponent = limit + width, high = -E_FDPA_MOST;
  for (size_t v = 0; v < width; v++) {
    const int32_t raised = range->low[v] + E_FDPA_RAISE;
    const bool never = range->low[v] < E_FDPA_LEAST;
    most[v] = of_a ? range->sum[v] * smma_power_of_two(-50) : range->most[v];
    limit[v] = (never ? 0 : raised > E_FDPA_MOST ? E_FDPA_MOST : raised) * (1 << 23);
    exponent[v] = never ? E_FDPA_NEVER : e_fdpa_exponent(range->most[v]);
    high = exponent[v] > high ? exponent[v] : high;
  }
  for (size_t v = 0; v < width && !of_a; v++) exponent[v] = high;
}

/* Packs the rows of a group, or the columns of a panel, for all steps. Blocks are `apart` doubles apart. */
static void e_fdpa_pack_group(const smma_pack *pack, smma_fetch *f, size_t apart, double *out, unsigned char *special) {
  const smma_operation *o = &pack->multiplier->operation;
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
      for (size_t i = 0; i < count; i++) out[block * apart + i] = (double)value[i];
    }
    e_fdpa_end_range(pack->of_a, f->vectors, &range, out + first * apart + count);
  }
}

static void e_fdpa_pack(const smma_pack *pack, size_t width) {
  size_t length = (size_t)smma_block_of(&pack->multiplier->operation), bytes = e_fdpa_block(length, width);
  smma_fetch f = {pack->multiplier, pack->view, pack->of_a, 0, width, 0, 0, (int)length};
  for (size_t done = 0; done < pack->count; done += width) {
    f.first = pack->first + done;
    e_fdpa_pack_group(pack, &f, pack->count / width * bytes, (double *)pack->out + done / width * bytes,
                      pack->special + done);
  }
}

static void e_fdpa_pack_rows(const smma_pack *pack) { e_fdpa_pack(pack, E_FDPA_GROUP); }
static void e_fdpa_pack_columns(const smma_pack *pack) { e_fdpa_pack(pack, PANEL); }

/* ---- Running ---- */

/* Rows and vectors of columns that are computed at a time. The chains of E_FDPA_IN_REGISTERS rows are in registers
   while a block is added. With few registers there is a second such set of rows, because a processor adds a block to
   one set while it rounds the other. */
enum {
  E_FDPA_IN_REGISTERS = 2 * ROWS,
  E_FDPA_ROWS = (REGISTERS < 32 ? 2 : 1) * E_FDPA_IN_REGISTERS,
  E_FDPA_VECTORS = 2
};

/* E_FDPA_ROWS rows and E_FDPA_VECTORS vectors of columns, for `blocks` blocks of one run. The pointers are to the data
   of the first row and of the first vector. */
typedef struct {
  size_t blocks;
  const double *a, *b;                     /* values in the first block */
  size_t a_apart, b_apart;                 /* distances between blocks, in doubles */
  const float *row_most, *column_most;     /* sums of magnitudes times 2^-50; greatest magnitudes */
  const int32_t *row_limit, *column_limit; /* limits; exponents follow them in the layout */
} e_fdpa_part;

/* Returns a vector whose lanes are negative if their chain may be inexact. `top` is T + 126 as an exponent field. The
   first two of the three conditions at the head of this file are limit - top >= 0 and limit - |c| >= 0. */
static inline vi e_fdpa_doubt(vf c, int32_t top, vi limit) {
  const int32_t bottom = top - (27 << 23);
  vi x = vi_and(vf_bits(c), vi_set(INT32_MAX)), unless_zero = vi_and(vi_add(x, vi_set(-1)), vi_set(INT32_MAX));
  vi high = vi_subtract(limit, vi_max(x, vi_set(top)));
  vi low = vi_subtract(unless_zero, vi_set(bottom > 0 ? bottom : 0));
  return vi_or(high, low);
}

/* Returns the same for row i and the v-th vector of columns. */
static inline vi e_fdpa_doubt_at(const e_fdpa_part *p, size_t i, size_t v, vf c) {
  int top = p->row_limit[E_FDPA_GROUP + i] + p->column_limit[PANEL] + 2 + E_FDPA_RUN_LOG2 + 126;
  vi limit = vi_add(vi_set(p->row_limit[i]), vi_load(p->column_limit + v * LANES));
  return e_fdpa_doubt(c, (top > 255 ? 255 : top < 0 ? 0 : top) << 23, limit);
}

/* The accumulators of an e_fdpa_part, in registers. */
typedef struct {
  vf at[E_FDPA_ROWS][E_FDPA_VECTORS];
} e_fdpa_tile;

/* Returns the sum of c and two products, numbers of at most 24 bits, rounded to odd. The two of greatest magnitude are
   added first. If this sum is inexact, the third number is below 2^-27 of the greatest. If the greatest is within the
   range of binary32, the third then cannot change the result. If the greatest is a product below 2^-126, c is 0. If it
   is above 2^128, the result is infinite. */
static inline vd e_fdpa_sum_two(const double *a, const double *b, vd c) {
  vd p = vd_multiply(vd_set(a[0]), vd_load(b)), q = vd_multiply(vd_set(a[E_FDPA_GROUP]), vd_load(b + PANEL));
  vd most = vd_greater(p, q), rest = vd_lesser(p, q);
  return vd_add_odd(vd_add_odd(most, vd_greater(rest, c)), vd_lesser(rest, c));
}

/* Returns the sum of c and four products of FP16, rounded to odd. Products are multiples of 2^-48 below 2^32. Each is
   divided into a multiple of 2^-10, which is added to `high`, and a rest. The rests are added to `low`, which stays
   below 2^-8. Both sums are exact. Then `high` and `low` are added to a sum and its error, and c to this sum, which
   leaves a second error. Both errors are exact or far below the sum. */
static inline vd e_fdpa_sum_four(const double *a, const double *b, vd c) {
  const vd anchor = vd_set(0x1.8p42);
  vd high = anchor, low = vd_set(0), sum, error, part;
  for (size_t k = 0; k < 4; k++) {
    vd x = vd_set(a[k * E_FDPA_GROUP]), y = vd_load(b + k * PANEL), before = high;
    high = vd_fma(x, y, before);
    low = vd_add(low, vd_fma(x, y, vd_subtract(before, high)));
  }
  high = vd_subtract(high, anchor);
  sum = vd_add(high, low);
  low = vd_subtract(low, vd_subtract(sum, high));
  high = sum;
  sum = vd_add(c, high);
  part = vd_subtract(sum, c);
  error = vd_add(vd_subtract(c, vd_subtract(sum, part)), vd_subtract(high, part));
  return vd_replace_nan(vd_add_odd(sum, vd_add_odd(error, low)), c); /* c is infinite in these lanes */
}

/* Returns the sum of c and a block of `length` products, rounded to odd. */
static inline vd e_fdpa_sum(size_t length, const double *a, const double *b, vd c) {
  return length == 2 ? e_fdpa_sum_two(a, b, c) : e_fdpa_sum_four(a, b, c);
}

/* Returns the accumulators of one row and one vector of columns after one block of any finite operands; they were c. */
static inline __attribute__((always_inline)) vf e_fdpa_next(size_t length, const double *a, const double *b, vf c) {
  vf x = vf_add(c, vf_set(0)); /* -0 counts as +0 */
  return vf_narrow(e_fdpa_sum(length, a, b, vd_low(x)), e_fdpa_sum(length, a, b + LANES / 2, vd_high(x)));
}

#define E_FDPA_EACH(i, v) \
  UNROLL for (size_t i = 0; i < E_FDPA_ROWS; i++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++)

/* Half the widths of the intervals of LANES chains, in binary64: of the lower lanes and of the upper ones. */
typedef struct {
  vd low, high;
} e_fdpa_error;

/* Returns half the widths for row i and the v-th vector of columns; 0 for chains that are exact. */
static inline e_fdpa_error e_fdpa_error_of(const e_fdpa_part *p, size_t i, size_t v, vf c) {
  const vm doubtful = vi_less(e_fdpa_doubt_at(p, i, v, c), vi_set(0));
  const vf magnitude = vi_as_float(vi_and(vf_bits(c), vi_set(INT32_MAX)));
  const vf most = vf_multiply(vf_set(p->row_most[i]), vf_load(p->column_most + v * LANES));
  const vf error = vf_select(doubtful, vf_fma(magnitude, vf_set(0x1p-50f), most), vf_set(0));
  return (e_fdpa_error){vd_low(error), vd_high(error)};
}

/* Computes every chain. If `enclosed`, also computes intervals, and sets the lanes of `differ` to nonzero numbers if
   the ends of their interval round to different numbers. */
static inline __attribute__((always_inline)) void e_fdpa_chains(const e_fdpa_part *p, size_t length, bool enclosed,
                                                                e_fdpa_tile *c,
                                                                vi differ[E_FDPA_ROWS][E_FDPA_VECTORS]) {
  const double *a = p->a, *b = p->b;
  e_fdpa_error error[E_FDPA_ROWS][E_FDPA_VECTORS];
  vd low[E_FDPA_ROWS][E_FDPA_VECTORS], high[E_FDPA_ROWS][E_FDPA_VECTORS];
  E_FDPA_EACH(i, v) {
    const vf start = vf_add(c->at[i][v], vf_set(0)); /* so that no chain gives -0 */
    if (enclosed) error[i][v] = e_fdpa_error_of(p, i, v, c->at[i][v]), differ[i][v] = vi_set(0);
    low[i][v] = vd_low(start), high[i][v] = vd_high(start);
  }
  for (size_t block = 0; block < p->blocks; block++, a += p->a_apart, b += p->b_apart) {
    UNROLL for (size_t row = 0; row < E_FDPA_ROWS; row += E_FDPA_IN_REGISTERS) {
      const size_t end = row + E_FDPA_IN_REGISTERS;
      UNROLL for (size_t k = 0; k < length; k++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++) {
        vd y = vd_load(b + k * PANEL + v * LANES), z = vd_load(b + k * PANEL + v * LANES + LANES / 2);
        UNROLL for (size_t i = row; i < end; i++) {
          vd x = vd_set(a[k * E_FDPA_GROUP + i]);
          low[i][v] = vd_fma(x, y, low[i][v]);
          high[i][v] = vd_fma(x, z, high[i][v]);
        }
      }
      UNROLL for (size_t i = row; i < end; i++) UNROLL for (size_t v = 0; v < E_FDPA_VECTORS; v++) {
        if (enclosed) {
          const e_fdpa_error e = error[i][v];
          const vf above = vf_narrow(vd_add(low[i][v], e.low), vd_add(high[i][v], e.high));
          const vf below = vf_narrow(vd_subtract(low[i][v], e.low), vd_subtract(high[i][v], e.high));
          differ[i][v] = vi_or(differ[i][v], vi_xor(vf_bits(above), vf_bits(below)));
          low[i][v] = vd_low(below), high[i][v] = vd_high(below);
        } else {
          low[i][v] = vd_to_float(low[i][v]), high[i][v] = vd_to_float(high[i][v]);
        }
      }
    }
  }
  E_FDPA_EACH(i, v) c->at[i][v] = vf_narrow(low[i][v], high[i][v]);
}

/* Returns the accumulators after one block of four products of FP16; they were c. Adds them as a chain. Each addition
   has an error of at most 2^-53 of its sum. If the interval of these errors rounds to more than one number, the exact
   sum is rounded instead. */
static inline vf e_fdpa_four_enclosed(const double *a, const double *b, vf c) {
  const vf x = vf_add(c, vf_set(0));
  const vd share = vd_set(0x1p-50);
  vd low = vd_low(x), high = vd_high(x), low_error = low, high_error = high;
  vf least, most;
  UNROLL for (size_t k = 0; k < 4; k++) {
    low = vd_fma(vd_set(a[k * E_FDPA_GROUP]), vd_load(b + k * PANEL), low);
    high = vd_fma(vd_set(a[k * E_FDPA_GROUP]), vd_load(b + k * PANEL + LANES / 2), high);
    low_error = vd_greater(low_error, low), high_error = vd_greater(high_error, high);
  }
  low_error = vd_multiply(low_error, share), high_error = vd_multiply(high_error, share);
  least = vf_narrow(vd_subtract(low, low_error), vd_subtract(high, high_error));
  most = vf_narrow(vd_add(low, low_error), vd_add(high, high_error));
  return vm_bits(vi_has(vi_xor(vf_bits(least), vf_bits(most)), vi_set(-1))) ? e_fdpa_next(4, a, b, c) : least;
}

/* Returns the accumulators of row i and the v-th vector after all blocks of a part with FP16 operands. */
static __attribute__((noinline)) vf e_fdpa_four_with_care(const e_fdpa_part *p, size_t i, size_t v, vf c) {
  for (size_t block = 0; block < p->blocks; block++)
    c = e_fdpa_four_enclosed(p->a + block * p->a_apart + i, p->b + block * p->b_apart + v * LANES, c);
  return c;
}

/* Computes a part with FP16 operands whose chains may be inexact. */
static __attribute__((noinline)) void e_fdpa_four(const e_fdpa_part *p, e_fdpa_tile *c) {
  e_fdpa_tile x = *c;
  vi differ[E_FDPA_ROWS][E_FDPA_VECTORS];
  e_fdpa_chains(p, 4, true, &x, differ);
  E_FDPA_EACH(i, v) {
    const bool alike = !vm_bits(vi_has(differ[i][v], vi_set(-1)));
    c->at[i][v] = alike ? x.at[i][v] : e_fdpa_four_with_care(p, i, v, c->at[i][v]);
  }
}

/* Computes a part with BF16 operands whose chains may be inexact. */
static __attribute__((noinline)) void e_fdpa_two(const e_fdpa_part *p, e_fdpa_tile *c) {
  const double *a = p->a, *b = p->b;
  for (size_t block = 0; block < p->blocks; block++, a += p->a_apart, b += p->b_apart)
    for (size_t i = 0; i < E_FDPA_ROWS; i++)
      for (size_t v = 0; v < E_FDPA_VECTORS; v++) c->at[i][v] = e_fdpa_next(2, a + i, b + v * LANES, c->at[i][v]);
}

/* Computes a part; `length` is a constant in the inlined copies. */
static inline __attribute__((always_inline)) void e_fdpa_part_of_run(const e_fdpa_part *p, size_t length,
                                                                     e_fdpa_tile *c) {
  vi doubt = vi_set(0);
  E_FDPA_EACH(i, v) doubt = vi_or(doubt, e_fdpa_doubt_at(p, i, v, c->at[i][v]));
  if (vi_any_negative(doubt)) {
    e_fdpa_tile x = *c;
    (length == 4 ? e_fdpa_four : e_fdpa_two)(p, &x);
    *c = x;
  } else {
    e_fdpa_chains(p, length, false, c, NULL);
  }
}

/* Computes E_FDPA_ROWS rows and E_FDPA_VECTORS vectors for blocks first..last - 1. */
static inline __attribute__((always_inline)) void e_fdpa_rows(const smma_run *r, size_t length, size_t row,
                                                              size_t column, size_t first, size_t last) {
  const size_t a_block = e_fdpa_block(length, E_FDPA_GROUP), b_block = e_fdpa_block(length, PANEL);
  const size_t run = e_fdpa_run_blocks(length), a_apart = r->packed_rows / E_FDPA_GROUP * a_block;
  const double *a = (const double *)r->a + row / E_FDPA_GROUP * a_block, *b = (const double *)r->b;
  float *accumulator = (float *)r->accumulator + row * PANEL + column;
  e_fdpa_tile c;
  E_FDPA_EACH(i, v) c.at[i][v] = vf_load(accumulator + i * PANEL + v * LANES);
  for (size_t block = first, end; block < last; block = end) {
    const size_t i = row % E_FDPA_GROUP, start = block / run * run;
    const double *of_rows = a + start * a_apart + length * E_FDPA_GROUP,
                 *of_columns = b + start * b_block + length * PANEL;
    e_fdpa_part p;
    end = start + run < last ? start + run : last;
    p = (e_fdpa_part){end - block,
                      a + block * a_apart + i,
                      b + block * b_block + column,
                      a_apart,
                      b_block,
                      (const float *)(of_rows + E_FDPA_GROUP / 2) + i,
                      (const float *)(of_columns + PANEL / 2) + column,
                      (const int32_t *)(of_rows + E_FDPA_GROUP) + i,
                      (const int32_t *)(of_columns + PANEL) + column};
    e_fdpa_part_of_run(&p, length, &c);
  }
  E_FDPA_EACH(i, v) vf_store(accumulator + i * PANEL + v * LANES, c.at[i][v]);
}

static inline __attribute__((always_inline)) void e_fdpa_panel(const smma_run *r, size_t length) {
  const size_t blocks = (size_t)smma_blocks_per_step(&r->multiplier->operation), at_once = e_fdpa_run_blocks(length);
  for (size_t first = r->first * blocks, last; first < r->last * blocks; first = last) {
    last = (first / at_once + 1) * at_once;
    if (last > r->last * blocks) last = r->last * blocks;
    for (size_t column = 0; column < PANEL; column += E_FDPA_VECTORS * LANES)
      for (size_t row = 0; row < r->rows; row += E_FDPA_ROWS) e_fdpa_rows(r, length, row, column, first, last);
  }
}

static void e_fdpa_run(const smma_run *r) {
  if (smma_block_of(&r->multiplier->operation) == 4)
    e_fdpa_panel(r, 4);
  else
    e_fdpa_panel(r, 2);
}

#endif
