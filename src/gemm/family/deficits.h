/* Operands packed with exponents as deficits, which is how those of products are compared (deficits_compare.h).

   The deficit of a nonzero operand is how far its exponent field (1 for subnormals) is below the greatest that it may
   have: all ones, or with 8 exponent bits (bf16, tf32) that of its vector in the block, a row of A or a column of B,
   whose exponent is then the vector's base, by which values are scaled. Exponents of scale factors are added to bases.
   So the exponent of a product is deficit_top + its bases - its deficits.

   Bytes hold twice the deficit, so that half of a sum is one instruction away from an exponent field. Deficits above 63
   are held as 63; the byte of a zero is odd, and more than the sum of two bytes may be that are certain: neither of a
   zero nor of a deficit that was cut. */
#ifndef SMMA_GEMM_FAMILY_DEFICITS_H
#define SMMA_GEMM_FAMILY_DEFICITS_H

#include "gemm/family/words.h"
#include "gemm/pack.h"

/* Deficits, and so every bound of them here and in the families, count exponent fields. The leading bit of a subnormal
   with f fraction bits is up to f binades below its field, and that of a product of two up to 2 f: a family that needs
   a number or a product not to vanish, or to be normal in binary32, adds that. */
enum {
  DEFICIT_LONGEST = 32,     /* block */
  DEFICIT_GROUP = 16,       /* rows that are packed together */
  DEFICIT_MOST = 63,        /* deficits above it are held as it; a product is then cut to nothing by each family */
  DEFICIT_CERTAIN = 2 * 62, /* the greatest sum of two bytes that is certain */
  DEFICIT_ZERO = 127,       /* the byte of a zero */
  DEFICIT_COMMON_SPAN = 24  /* columns share a base if the exponent fields of their greatest numbers span so many */
};

static bool deficit_is_wide(const smma_operation *o) { return smma_encoding_of(o->a).exponent_bits == 8; }

/* The format whose exponents the operands of `format` have. */
static smma_encoding deficit_encoding(const smma_operation *o, smma_format format) {
  return smma_encoding_of(o->rule.algorithm == SMMA_FP8_BY_FP16 ? SMMA_F16 : format);
}

static int deficit_greatest_field(smma_encoding e) { return (1 << e.exponent_bits) - 1; }

/* The exponent of a product whose deficits and bases are 0. */
static inline int deficit_top(const smma_operation *o) {
  const smma_encoding a = deficit_encoding(o, o->a), b = deficit_encoding(o, o->b);
  if (deficit_is_wide(o)) return 0;
  return deficit_greatest_field(a) - a.bias + deficit_greatest_field(b) - b.bias;
}

/* What is packed for a block of L products. Rows, in groups of DEFICIT_GROUP: L times the group's values; L times a
   byte of each, repeated four times; their bases as differences of exponent fields, and as they are; the sums of their
   significands' magnitudes; twice the greatest deficits of their numbers that are not zero. Columns, each PANEL wide: L
   vectors of values; L of bytes, where byte v of lane i is that of column v LANES + i; the bases; the least and the
   greatest base, twice the greatest deficit of a number that is not zero, and nothing. */
static inline size_t deficit_row_block(size_t length) { return length * 8 + 16; }
static inline size_t deficit_column_block(size_t length) { return length * 5 + 5; }

static size_t deficit_blocks(const smma_operation *o) { return (size_t)smma_blocks_per_step(o); }

static inline size_t deficit_row_bytes(const smma_operation *o) {
  return deficit_blocks(o) * deficit_row_block((size_t)smma_block_of(o));
}

static inline size_t deficit_column_bytes(const smma_operation *o) {
  return deficit_blocks(o) * deficit_column_block((size_t)smma_block_of(o));
}

/* The i-th of the words that are packed for a row, whose first is at `a`. */
static inline const uint32_t *deficit_row_word(const unsigned char *a, int i) {
  return (const uint32_t *)a + i * DEFICIT_GROUP;
}

static inline int32_t deficit_row_base_field(int length, const unsigned char *a) {
  return (int32_t)*deficit_row_word(a, 2 * length);
}
static inline int32_t deficit_row_base(int length, const unsigned char *a) {
  return (int32_t)*deficit_row_word(a, 2 * length + 1);
}
static inline float deficit_row_weight(int length, const unsigned char *a) {
  return *(const float *)deficit_row_word(a, 2 * length + 2);
}
static inline int32_t deficit_row_most(int length, const unsigned char *a) {
  return (int32_t)*deficit_row_word(a, 2 * length + 3);
}

/* Where the words of a row start, in rows that take so many bytes. */
static inline const unsigned char *deficit_row(const unsigned char *a, size_t row_bytes, size_t row) {
  return a + row / DEFICIT_GROUP * DEFICIT_GROUP * row_bytes + row % DEFICIT_GROUP * 4;
}

static inline const int32_t *deficit_column_bases(int length, const unsigned char *b) {
  return (const int32_t *)(b + (size_t)length * PANEL * 5);
}

/* Whether a sum of two bytes is certain unless one is that of a zero. `range`: behind the columns' bases. */
static inline bool deficit_tells_zeros(int length, const unsigned char *a, const int32_t *range) {
  return deficit_row_most(length, a) + range[2] <= DEFICIT_CERTAIN;
}

/* A decoder of columns in vectors, LANES encodings at a time. */
typedef struct {
  vi fields, largest, nan, ignored, to_float, to_sign, fraction_bits, greatest;
  vf unit;
  bool has_nan; /* whose fields are those of a zero */
} deficit_decoder;

static inline deficit_decoder deficit_decoder_of(const smma_operation *o, smma_format format) {
  const smma_decoder d = smma_decoder_of(format);
  deficit_decoder w;
  w.fields = vi_set((int32_t)d.fields_mask), w.largest = vi_set((int32_t)d.largest), w.nan = vi_set((int32_t)d.nan);
  w.ignored = vi_set(d.ignored), w.to_float = vi_set(23 - d.fraction_bits), w.to_sign = vi_set(31 - d.sign_at);
  w.fraction_bits = vi_set(d.fraction_bits), w.unit = vf_set(d.unit);
  w.greatest = vi_set(deficit_greatest_field(deficit_encoding(o, format))), w.has_nan = d.nan != ~0u;
  return w;
}

static inline __attribute__((always_inline)) vi deficit_load(const deficit_decoder *d, size_t bytes,
                                                             const unsigned char *code) {
  if (bytes == 1) return vi_load_bytes(code);
  return bytes == 2 ? vi_load_halves(code) : vi_shift_down_by(vi_load((const int32_t *)code), d->ignored);
}

/* The encodings of a block of columns: `bytes` each, those of one k `step` bytes from those of the next. */
typedef struct {
  const unsigned char *code;
  size_t bytes, step, length;
} deficit_block;

/* The fields of numbers that are finite; others count as zero. */
static inline vi deficit_fields(const deficit_decoder *d, vi x, vm *special) {
  const vi fields = vi_and(x, d->fields);
  *special = vm_or(vi_less(d->largest, fields), vi_equal(x, d->nan));
  return vi_select(*special, vi_set(0), fields);
}

/* Exponent fields of the greatest numbers; 127 for zeros. */
static inline void deficit_store_greatest(const deficit_decoder *d, vi most, int32_t *greatest) {
  const vi field = vi_max(vi_shift_down_by(most, d->fraction_bits), vi_set(1));
  vi_store(greatest, vi_select(vi_equal(most, vi_set(0)), vi_set(127), field));
}

/* The greatest exponent fields of finite numbers; flags where some are not finite. */
static inline __attribute__((always_inline)) void deficit_greatest_careful(const deficit_decoder *d, size_t bytes,
                                                                           size_t vectors, const deficit_block *b,
                                                                           int32_t *greatest, unsigned char *special) {
  for (size_t v = 0; v < vectors; v++) {
    vi most = vi_set(0);
    unsigned found = 0;
    for (size_t i = 0; i < b->length; i++) {
      vm is_special;
      const vi x = deficit_load(d, bytes, b->code + i * b->step + v * LANES * bytes);
      most = vi_max(most, deficit_fields(d, x, &is_special));
      found |= vm_bits(is_special);
    }
    for (int lane = 0; found; lane++, found >>= 1) special[v * LANES + lane] |= found & 1;
    deficit_store_greatest(d, most, greatest + v * LANES);
  }
}

/* The same, and true, if all numbers are finite and that is all that fields say. */
static inline __attribute__((always_inline)) bool deficit_greatest_finite(const deficit_decoder *d, size_t bytes,
                                                                          const deficit_block *b, int32_t *greatest) {
  vi most[4] = {vi_set(0), vi_set(0), vi_set(0), vi_set(0)}, all;
  for (size_t i = 0; i < b->length; i++) UNROLL for (int v = 0; v < 4; v++) {
      const vi x = deficit_load(d, bytes, b->code + i * b->step + (size_t)v * LANES * bytes);
      most[v] = vi_max(most[v], vi_and(x, d->fields));
    }
  all = vi_max(vi_max(most[0], most[1]), vi_max(most[2], most[3]));
  UNROLL for (int v = 0; v < 4; v++) deficit_store_greatest(d, most[v], greatest + v * LANES);
  return !d->has_nan && !vm_bits(vi_less(d->largest, all));
}

/* Whether some numbers are not finite. */
static inline __attribute__((always_inline)) bool deficit_greatest_columns(const deficit_decoder *d, size_t bytes,
                                                                           const deficit_block *b, int32_t *greatest,
                                                                           unsigned char *special) {
  if (deficit_greatest_finite(d, bytes, b, greatest)) return false;
  deficit_greatest_careful(d, bytes, 4, b, greatest, special);
  return true;
}

/* What values and bytes of vectors are relative to: twice the exponent field of deficit 0, and 2^(127 - that field),
   which may be subnormal, where vectors have bases. */
typedef struct {
  vi top;
  vf unit;
} deficit_origin;

static inline deficit_origin deficit_origin_of(const deficit_decoder *d, bool wide, const int32_t *greatest) {
  const vi top = wide ? vi_load(greatest) : d->greatest;
  const vi unit = vi_max(vi_shift_left(vi_subtract(vi_set(254), top), 23), vi_set(1 << 22));
  return (deficit_origin){vi_shift_left(top, 1), vi_as_float(unit)};
}

/* A number's value, its byte, and twice its deficit, as it is, where the number is not zero, else 0. */
typedef struct {
  vf value;
  vi byte, twice;
} deficit_number;

/* `careful`: some may not be finite. */
static inline __attribute__((always_inline)) deficit_number deficit_decode(const deficit_decoder *d, bool wide,
                                                                           bool to_f16, bool careful, vi x,
                                                                           deficit_origin origin) {
  const vi sign = vi_and(vi_shift_left_by(x, d->to_sign), vi_set(INT32_MIN));
  vi fields = vi_and(x, d->fields), field, twice, deficit;
  vm special, zero;
  vf value;
  if (careful) fields = deficit_fields(d, x, &special);
  value = vf_multiply(vi_as_float(vi_or(sign, vi_shift_left_by(fields, d->to_float))), d->unit);
  field = vi_shift_down_by(fields, d->fraction_bits);
  if (to_f16) field = vi_subtract(vi_and(vi_shift_right(vf_bits(value), 23), vi_set(255)), vi_set(112));
  twice = deficit = vi_subtract(origin.top, vi_shift_left(vi_max(field, vi_set(1)), 1));
  if (wide) deficit = vi_min(deficit, vi_set(2 * DEFICIT_MOST)), value = vf_multiply(value, origin.unit);
  zero = vi_equal(fields, vi_set(0));
  return (deficit_number){value, vi_select(zero, vi_set(DEFICIT_ZERO), deficit), vi_select(zero, vi_set(0), twice)};
}

/* All ones in the lanes of the v-th vector that are there. */
static inline vi deficit_present(size_t present, size_t v) {
  int32_t mask[LANES];
  for (size_t lane = 0; lane < LANES; lane++) mask[lane] = -(v * LANES + lane < present);
  return vi_load(mask);
}

/* The encodings of the fetch's block: where they lie in the view if they are whole, or fetched to `code`, whole vectors
   so far as columns are there. */
static inline deficit_block deficit_block_of(const smma_fetch *f, uint32_t *code) {
  const smma_operation *o = &f->multiplier->operation;
  const smma_view *x = f->view;
  const size_t k = f->step * (size_t)o->k + (size_t)smma_block_in_order(o, f->block) * (size_t)f->length;
  const size_t bytes = smma_bytes_of(x->format);
  smma_fetch there = *f;
  if (x->factor == 1 && x->line_step == 1 && smma_lines_present(x, f->first, PANEL) == PANEL &&
      smma_dealt_products(o) == f->length && k + (size_t)f->length <= x->count)
    return (deficit_block){(const unsigned char *)x->data + smma_element(x, f->first, k) * bytes, bytes,
                           x->k_step * bytes, (size_t)f->length};
  there.vectors = (smma_lines_present(x, f->first, PANEL) + LANES - 1) / LANES * LANES;
  smma_fetch_codes(&there, code);
  return (deficit_block){(const unsigned char *)code, 4, there.vectors * 4, (size_t)f->length};
}

static inline vi deficit_repeat(vi byte) {
  const vi half = vi_or(byte, vi_shift_left(byte, 8));
  return vi_or(half, vi_shift_left(half, 16));
}

/* Packs columns. `shared`: with one base, if they are similar. */
#define deficit_pack_columns SMMA_OF_KERNEL(deficit_pack_columns)
void deficit_pack_columns(const smma_pack *pack, bool shared);

/* Packs rows, their values times `unit`. */
#define deficit_pack_rows SMMA_OF_KERNEL(deficit_pack_rows)
void deficit_pack_rows(const smma_pack *pack, float unit);

#endif
