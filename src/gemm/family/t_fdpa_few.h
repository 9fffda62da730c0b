/* T-FDPA of few rows, with factors in FP16 or BF16. Columns are not packed, because packing would decode each number
   for only a few uses.

   Of two numbers, the one with the greater fields has the greater magnitude. The fields of FP16 and BF16 leave room
   in 16 bits for the sum with one more exponent field. So the greatest sum of b's fields (without its sign) and a's
   exponent field gives the exponent of the greatest product; a lane computes two columns. If a or b is zero, or b is
   subnormal, the sum does not give the product's exponent; it only shows that this is at most one above the exponent of
   the other factor. This matters only if all products are that small. Then few_row_otherwise computes the row. Products
   and sums are as in t_fdpa.h; for BF16 they are scaled by the greatest exponent of the row in the block. */
#ifndef SMMA_GEMM_FAMILY_T_FDPA_FEW_H
#define SMMA_GEMM_FAMILY_T_FDPA_FEW_H

#include <limits.h>

#include "gemm/family/t_fdpa.h"

enum {
  FEW_ROWS_BLOCK = 16, /* the most products of a block */
  /* `top` minus the exponent of the row: top is far above the exponents of usual columns. */
  FEW_ROWS_TOP = 65,
  /* The most that emax may be below top. Within it, products whose terms do not truncate to 0 are normal in binary32,
     and subnormal products and zeros have terms below 1. */
  FEW_ROWS_SPAN = 120,
  /* The most by which an exponent field may be below the greatest of its row. Within it, a normal number of a row is
     packed as 2^(-86 + F - 65) or more, which is normal in binary32. The leading bit of a subnormal BF16 number is up
     to 7 binades lower: it is packed as a subnormal, but exactly, because its last bit is 2^-133. */
  FEW_ROWS_DEFICIT = 86
};

static bool few_takes(const smma_operation *o) {
  return t_fdpa_takes(o) && o->rule.algorithm == SMMA_T_FDPA && o->a == o->b && (o->a == SMMA_F16 || o->a == SMMA_BF16);
}

/* A packed block of a row. */
typedef struct {
  float value[FEW_ROWS_BLOCK]; /* the values, times 2^(F - top) */
  /* Exponent fields, at the position of the format's exponent field in both halves of a word. */
  int32_t exponent[FEW_ROWS_BLOCK];
  int32_t top;         /* as in t_fdpa.h; top, least and most are biased as in binary32 */
  int32_t least, most; /* the range of emax with which the block is usual; empty if most < least */
  int32_t unused;
} few_row;

static size_t few_row_bytes(const smma_operation *o) { return (size_t)smma_blocks_per_step(o) * sizeof(few_row); }

static size_t few_column_bytes(const smma_operation *o) {
  (void)o;
  return 0;
}

/* Constants of an operation. */
typedef struct {
  smma_encoding encoding;
  smma_decoder decoder;
  t_fdpa_constants t;
} few_constants;

static few_constants few_constants_of(const smma_operation *o) {
  return (few_constants){smma_encoding_of(o->a), smma_decoder_of(o->a), t_fdpa_constants_of(o)};
}

/* Packs a block of a row from values and exponent fields. After the block's products both are 0. */
static void few_pack_block(const few_constants *x, const float *value, const uint8_t *field, few_row *row) {
  const smma_encoding e = x->encoding;
  int greatest = 0, least = 255, base;
  float weight = 0, unit;
  for (int k = 0; k < FEW_ROWS_BLOCK; k++) {
    uint32_t bits;
    float significand;
    greatest = field[k] > greatest ? field[k] : greatest;
    least = field[k] && field[k] < least ? field[k] : least;
    memcpy(&bits, &value[k], sizeof bits);
    bits = value[k] != 0 ? (bits & 0x7fffff) | 127 << 23 : 0;
    memcpy(&significand, &bits, sizeof bits);
    weight += significand;
  }
  base = x->t.wide && greatest ? greatest - 127 : 0;
  unit = base == 127 ? 0x1p-127f : smma_power_of_two(-base);
  for (int k = 0; k < FEW_ROWS_BLOCK; k++) {
    row->value[k] = value[k] * unit * smma_power_of_two(x->t.alignment_bits - FEW_ROWS_TOP);
    row->exponent[k] = (int32_t)((uint32_t)field[k] << e.fraction_bits) * 0x10001;
  }
  row->top = 127 + FEW_ROWS_TOP + base;
  row->least = greatest + 1 - 2 * e.bias + 127;
  row->least = row->least > row->top - FEW_ROWS_SPAN ? row->least : row->top - FEW_ROWS_SPAN;
  row->least = row->least > 127 + T_FDPA_LEAST ? row->least : 127 + T_FDPA_LEAST;
  row->most = row->top < 127 + T_FDPA_GREATEST ? row->top : 127 + T_FDPA_GREATEST;
  if (weight > x->t.most_weight || (x->t.wide && greatest - least > FEW_ROWS_DEFICIT)) row->most = -1;
}

/* Packs rows. The blocks of a row are contiguous. */
static void few_pack_rows(const smma_pack *pack) {
  const few_constants x = few_constants_of(&pack->multiplier->operation);
  const size_t blocks = deficit_blocks(&pack->multiplier->operation);
  const size_t rows = smma_lines_present(pack->view, pack->first, SMMA_FEW_ROWS);
  few_row *out = pack->out;
  smma_fetch f = {pack->multiplier, pack->view, true, 0, 1, 0, 0, x.t.length};
  for (size_t i = 0; i < rows; i++)
    for (size_t block = 0; block < pack->steps * blocks; block++) {
      uint32_t code[FEW_ROWS_BLOCK] = {0};
      float value[FEW_ROWS_BLOCK];
      uint8_t field[FEW_ROWS_BLOCK];
      unsigned char special[FEW_ROWS_BLOCK] = {0};
      f.first = pack->first + i, f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
      smma_fetch_codes(&f, code);
      smma_decode_codes(&x.decoder, 1, FEW_ROWS_BLOCK, code, value, field, special);
      for (int k = 0; k < FEW_ROWS_BLOCK; k++) pack->special[i] |= special[k];
      few_pack_block(&x, value, field, out++);
    }
}

/* ---- Columns ---- */

/* A block of PANEL columns. In arrays the entries of one k are contiguous. */
typedef struct {
  const unsigned char *code; /* encodings: in the matrix, or `copy` */
  uint16_t greatest[PANEL];  /* greatest fields of each column, without signs */
  uint16_t product[PANEL];   /* greatest sums of a column's fields and a row's exponent fields */
  /* Fields, and values: filled if there are several rows. */
  _Alignas(64) uint16_t magnitude[FEW_ROWS_BLOCK * PANEL];
  float value[FEW_ROWS_BLOCK * PANEL];
  uint16_t copy[FEW_ROWS_BLOCK * PANEL]; /* used if the encodings in the matrix are not contiguous or not complete */
} few_columns;

/* A block packed as in t_fdpa.h, for rows that are not usual. It is packed when it is first needed. */
typedef struct {
  bool packed;
  t_fdpa_decoded decoded;
  _Alignas(64) unsigned char a[DEFICIT_GROUP * (FEW_ROWS_BLOCK * 8 + 16)], b[PANEL * (FEW_ROWS_BLOCK * 5 + 5)];
} few_careful;

/* The location of a run's columns. */
typedef struct {
  bool whole;                /* all PANEL columns are in the matrix, unscaled, and contiguous for each k */
  const unsigned char *code; /* the encodings of the run's first step, if `whole` */
  size_t step;               /* bytes from one k to the next */
  size_t count;              /* number of indices k, from the first step on, that are inside the matrix */
} few_source;

static few_source few_source_of(const smma_run *r) {
  const smma_view *x = r->view;
  const size_t bytes = sizeof(uint16_t), k = r->step * (size_t)r->multiplier->operation.k;
  few_source s = {.step = x->k_step * bytes, .count = k < x->count ? x->count - k : 0};
  s.whole = x->factor == 1 && x->line_step == 1 && smma_lines_present(x, r->column, PANEL) == PANEL;
  if (s.whole && s.count) s.code = (const unsigned char *)x->data + smma_element(x, r->column, k) * bytes;
  return s;
}

/* Copies a block. NaN and infinities become zero and set the flag of their column. Absent elements are +0. */
static __attribute__((noinline)) void few_copy(const smma_run *r, const few_constants *x, size_t block,
                                               few_columns *columns) {
  const size_t blocks = deficit_blocks(&r->multiplier->operation);
  const smma_fetch f = {.multiplier = r->multiplier,
                        .view = r->view,
                        .first = r->column,
                        .vectors = PANEL,
                        .step = r->step + block / blocks,
                        .block = (int)(block % blocks),
                        .length = x->t.length};
  const uint32_t mask = x->decoder.fields_mask, largest = x->decoder.largest;
  uint32_t code[FEW_ROWS_BLOCK * PANEL];
  smma_fetch_codes(&f, code);
  for (size_t i = 0; i < (size_t)x->t.length * PANEL; i++) {
    const bool special = (code[i] & mask) > largest;
    columns->copy[i] = (uint16_t)(special ? 0 : code[i]);
    r->special[i % PANEL] |= special;
  }
  columns->code = (const unsigned char *)columns->copy;
}

/* Sets columns->code to the encodings of a block. Copies them if they are not contiguous or not all in the matrix. */
static inline __attribute__((always_inline)) void few_find(const smma_run *r, const few_constants *x,
                                                           const few_source *s, size_t length, size_t block,
                                                           few_columns *columns) {
  const size_t line = PANEL * sizeof columns->copy[0], k = block * length;
  const unsigned char *code;
  if (!s->whole || k + length > s->count) {
    few_copy(r, x, block, columns);
    return;
  }
  code = s->code + k * s->step;
  smma_prefetch_ahead(r->view, code, length, s->step, line);
  columns->code = code;
  if (s->step == line) return;
  for (size_t i = 0; i < length; i++) memcpy(columns->copy + i * PANEL, code + i * s->step, line);
  columns->code = (const unsigned char *)columns->copy;
}

/* Loads LANES numbers: FP16 if `half`, otherwise BF16. */
static inline vf few_load(bool half, const void *code) {
  return half ? vf_load_half(code) : vi_as_float(vi_shift_left(vi_load_halves(code), 16));
}

/* Finds the greatest fields of each column. If there is only `one` row, also finds its greatest sums of fields.
   Otherwise stores the fields without signs, and the values, for all rows. */
static inline __attribute__((always_inline)) void few_scan(bool one, bool half, int length, const few_row *row,
                                                           few_columns *c) {
  const vi mask = vi_keep(vi_set(0x7fff7fff));
  vi greatest[2], product[2];
  UNROLL for (int h = 0; h < 2; h++) greatest[h] = product[h] = vi_set(0);
  UNROLL for (int k = 0; k < length; k++) {
    const unsigned char *code = c->code + k * PANEL * 2;
    UNROLL for (int h = 0; h < 2; h++) {
      const vi x = vi_and(vi_load((const int32_t *)code + h * LANES), mask);
      greatest[h] = vh_max(greatest[h], x);
      if (one)
        product[h] = vh_max(product[h], vi_add(x, vi_set(row->exponent[k])));
      else
        vi_store((int32_t *)c->magnitude + (k * 2 + h) * LANES, x);
    }
    UNROLL for (int v = 0; v < 4 && !one; v++)
        vf_store(c->value + (k * 4 + v) * LANES, few_load(half, code + v * LANES * 2));
  }
  UNROLL for (int h = 0; h < 2; h++) {
    vi_store((int32_t *)c->greatest + h * LANES, greatest[h]);
    if (one) vi_store((int32_t *)c->product + h * LANES, product[h]);
  }
}

/* Finds the greatest sums of fields for one of several rows. */
static inline __attribute__((always_inline)) void few_compare(int length, const few_row *row, few_columns *c) {
  vi product[2];
  UNROLL for (int h = 0; h < 2; h++) product[h] = vi_set(0);
  UNROLL for (int k = 0; k < length; k++) UNROLL for (int h = 0; h < 2; h++) {
    const vi x = vi_load((const int32_t *)c->magnitude + (k * 2 + h) * LANES);
    product[h] = vh_max(product[h], vi_add(x, vi_set(row->exponent[k])));
  }
  UNROLL for (int h = 0; h < 2; h++) vi_store((int32_t *)c->product + h * LANES, product[h]);
}

/* Reports whether a number of a block is infinite or NaN. */
static inline bool few_has_special(const few_constants *x, const few_columns *c) {
  vi over = vi_set(0);
  UNROLL for (int v = 0; v < 4; v++) over =
      vi_or(over, vi_subtract(vi_set((int32_t)x->decoder.largest), vi_load_halves(c->greatest + v * LANES)));
  return vi_any_negative(over);
}

/* ---- Rows ---- */

/* Begins a row, as t_fdpa_begin does. Sets y.care if emax is not known or not in the row's range. */
static inline __attribute__((always_inline)) t_fdpa_row few_begin(const few_constants *x, const t_fdpa_words *w,
                                                                  bool half, bool to_half, const few_row *row,
                                                                  const few_columns *c, const float *accumulator) {
  const vi top = vi_set(row->top), bias = vi_set(127 - 2 * (half ? 15 : 127));
  t_fdpa_row y;
  y.care = vi_set(0);
  UNROLL for (int v = 0; v < 4; v++) {
    const vi field = vi_shift_right(t_fdpa_exponent(to_half, vf_load(accumulator + v * LANES), w->exponents), 23);
    const vi products = vi_load_halves(c->product + v * LANES), columns = vi_load_halves(c->greatest + v * LANES);
    const vi product =
        half ? vi_shift_right(products, 10) : vi_shift_right(products, 7); /* clang's NEON intrinsics need constants */
    const vi column = half ? vi_shift_right(columns, 10) : vi_shift_right(columns, 7);
    const vi least = vi_max(vi_set(row->least), vi_add(vi_add(column, vi_set(1)), bias));
    vi emax = vi_max(vi_add(product, bias), field);
    if (to_half) emax = vi_max(emax, vi_set(127 + x->t.zero_exponent));
    y.care = vi_or(y.care, vi_or(vi_subtract(emax, least), vi_subtract(vi_set(row->most), emax)));
    y.shift[v] = vi_shift_left(vi_subtract(top, emax), 23);
    y.sum[v] = y.rest[v] = vi_set(0);
  }
  return y;
}

/* Adds the terms of all products, as t_fdpa_add does. */
static inline __attribute__((always_inline)) void few_add(bool one, bool half, int length, const few_row *row,
                                                          const few_columns *c, const vi shift[4], vi sum[4]) {
  UNROLL for (int k = 0; k < length; k++) {
    const unsigned char *code = c->code + k * PANEL * 2;
    const vf x = vf_set(row->value[k]);
    UNROLL for (int v = 0; v < 4; v++) {
      const vf y = one ? few_load(half, code + v * LANES * 2) : vf_load(c->value + (k * 4 + v) * LANES);
      const vf p = vf_multiply(x, y);
      sum[v] = vi_keep(vi_add(sum[v], vf_truncate(vi_as_float(vi_add(vf_bits(p), shift[v])))));
    }
  }
}

/* Updates a row's accumulators by a block that is not usual, as t_fdpa.h does. It packs the block as if it were a whole
   instruction step. */
static __attribute__((noinline)) void few_row_otherwise(const smma_run *r, const few_constants *x, few_careful *y,
                                                        size_t row, size_t block, float *accumulator) {
  const int length = x->t.length;
  const unsigned char *a = y->a + row * 4;
  uint8_t least[PANEL];
  if (!y->packed) {
    const size_t step = r->step * deficit_blocks(&r->multiplier->operation) + block;
    smma_multiplier multiplier = *r->multiplier;
    unsigned char special[DEFICIT_GROUP] = {0};
    multiplier.operation.k = length;
    t_fdpa_pack_rows(&(smma_pack){&multiplier, &multiplier.a, true, r->row, DEFICIT_GROUP, step, 1, y->a, special});
    t_fdpa_pack_columns(&(smma_pack){&multiplier, r->view, false, r->column, PANEL, step, 1, y->b, r->special});
    y->decoded.columns_there = false, y->decoded.group = SIZE_MAX;
    y->packed = true;
  }
  vb_store(least, deficit_compare_row(length, false, a, y->b).of[0]);
  t_fdpa_row_otherwise(r, &x->t, a, y->b, least, x->t.based ? &y->decoded : NULL, row, block, accumulator);
}

/* Updates all rows' accumulators by one block; `one`: there is only one row. */
static inline __attribute__((always_inline)) void few_block(const smma_run *r, const few_constants *x,
                                                            const few_source *source, const t_fdpa_words *w, bool one,
                                                            bool half, int length, bool to_half, size_t block) {
  const size_t all = r->packed_steps * deficit_blocks(&r->multiplier->operation);
  const few_row *row = (const few_row *)r->a + block;
  float *accumulator = r->accumulator;
  few_columns columns;
  few_careful careful;
  careful.packed = false;
  few_find(r, x, source, (size_t)length, block, &columns);
  few_scan(one, half, length, row, &columns);
  if (few_has_special(x, &columns)) {
    few_copy(r, x, block, &columns);
    few_scan(one, half, length, row, &columns);
  }
  for (size_t i = 0; i < (one ? 1 : r->rows); i++, row += all, accumulator += PANEL) {
    t_fdpa_row y;
    vi offset[4];
    vf d[4];
    if (!one) few_compare(length, row, &columns);
    y = few_begin(x, w, half, to_half, row, &columns, accumulator);
    if (vi_any_negative(y.care)) {
      few_row_otherwise(r, x, &careful, i, block, accumulator);
      continue;
    }
    few_add(one, half, length, row, &columns, y.shift, y.sum);
    UNROLL for (int v = 0; v < 4; v++) offset[v] = vi_subtract(w->scale, vi_set((int32_t)((uint32_t)row->top << 23)));
    t_fdpa_end(w, length, false, false, to_half, NULL, offset, &y, accumulator, d);
    UNROLL for (int v = 0; v < 4; v++) vf_store(accumulator + v * LANES, d[v]);
  }
}

static inline __attribute__((always_inline)) void few_panel(const smma_run *r, bool half, int length, bool to_half) {
  const few_constants x = few_constants_of(&r->multiplier->operation);
  const few_source source = few_source_of(r);
  const t_fdpa_words w = t_fdpa_words_of(&x.t);
  const size_t blocks = deficit_blocks(&r->multiplier->operation);
  for (size_t block = r->first * blocks; block < r->last * blocks; block++)
    if (r->rows == 1)
      few_block(r, &x, &source, &w, true, half, length, to_half, block);
    else
      few_block(r, &x, &source, &w, false, half, length, to_half, block);
}

#define FEW_ROWS_SHAPE(NAME, HALF, LENGTH, TO_HALF) \
  static void NAME(const smma_run *r) { few_panel(r, HALF, LENGTH, TO_HALF); }
FEW_ROWS_SHAPE(few_run_bf16_4, false, 4, false)
FEW_ROWS_SHAPE(few_run_bf16_8, false, 8, false)
FEW_ROWS_SHAPE(few_run_bf16_16, false, 16, false)
FEW_ROWS_SHAPE(few_run_f16_4, true, 4, false)
FEW_ROWS_SHAPE(few_run_f16_8, true, 8, false)
FEW_ROWS_SHAPE(few_run_f16_16, true, 16, false)
FEW_ROWS_SHAPE(few_run_to_half_4, true, 4, true)
FEW_ROWS_SHAPE(few_run_to_half_8, true, 8, true)
FEW_ROWS_SHAPE(few_run_to_half_16, true, 16, true)

static void few_run(const smma_run *r) {
  static void (*const run[3][3])(const smma_run *) = {{few_run_bf16_4, few_run_bf16_8, few_run_bf16_16},
                                                      {few_run_f16_4, few_run_f16_8, few_run_f16_16},
                                                      {few_run_to_half_4, few_run_to_half_8, few_run_to_half_16}};
  const t_fdpa_constants t = t_fdpa_constants_of(&r->multiplier->operation);
  run[t.wide ? 0 : t.to_half ? 2 : 1][t.length == 4 ? 0 : t.length == 8 ? 1 : 2](r);
}

#endif
