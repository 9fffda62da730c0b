/* Packs operands with exponents as deficits, for fast comparison of the exponents of products (deficits_compare.h).

   The deficit of a nonzero operand is the distance of its exponent field (1 for subnormals) below the greatest possible
   field. For most formats the greatest possible field is all ones, and the base is 0. For formats with 8 exponent bits
   (bf16, tf32) it is the greatest field of the operand's vector in the block (a row of A or a column of B). The
   exponent of that field is then the vector's base, by which values are scaled. Exponents of scale factors are added to
   bases. The exponent of a product is then deficit_top + its bases - its deficits.

   A byte holds twice the deficit, so that half of a sum is one instruction away from an exponent field. Deficits
   above 63 are stored as 63. The byte of a zero is odd. A sum of two bytes is certain if neither is of a zero or of
   a deficit stored as 63; zeros have a byte greater than any certain sum. */
#ifndef SMMA_GEMM_FAMILY_DEFICITS_H
#define SMMA_GEMM_FAMILY_DEFICITS_H

#include "gemm/family/words.h"
#include "gemm/pack.h"

/* Deficits, and all bounds of them here and in the families, count exponent fields. The leading bit of a subnormal
   with f fraction bits is up to f binades below its field; that of a product of two subnormals up to 2 f. A family
   that needs numbers or products not to vanish, or to be normal in binary32, adds these. */
enum {
  DEFICIT_LONGEST = 64, /* the longest block */
  DEFICIT_GROUP = 16,   /* rows that are packed together */
  DEFICIT_MOST = 63,    /* greater deficits are stored as 63; no family then retains more than the sign of a product */
  DEFICIT_CERTAIN = 2 * 62, /* the greatest sum of two bytes that is certain */
  DEFICIT_ZERO = 127,       /* the byte of a zero */
  DEFICIT_COMMON_SPAN =
      24 /* columns share a base if the exponent fields of their greatest numbers are within this span */
};

/* Bounds twice the sum of the greatest deficits of a row and of its columns. Deficits count exponent fields, and the
   leading bit of a subnormal BF16 number is up to 7 binades below its field. A packed number of deficit d is thus at
   least 2^-(d + 7). If rows are packed with a unit of 2^24 or more, a product is at least 2^(24 - d - 14). Within the
   bound both are at least 2^-149 and do not vanish. */
enum { DEFICIT_VISIBLE = 2 * (149 - 7) };

static bool deficit_is_wide(const smma_operation *o) { return smma_encoding_of(o->a).exponent_bits == 8; }

/* Returns the format that determines the operands' exponents. */
static smma_encoding deficit_encoding(const smma_operation *o, smma_format format) {
  return smma_encoding_of(o->rule.algorithm == SMMA_FP8_BY_FP16 ? SMMA_F16 : format);
}

static int deficit_greatest_field(smma_encoding e) { return (1 << e.exponent_bits) - 1; }

/* Returns the exponent of a product whose deficits and bases are 0. */
static inline int deficit_top(const smma_operation *o) {
  const smma_encoding a = deficit_encoding(o, o->a), b = deficit_encoding(o, o->b);
  if (deficit_is_wide(o)) return 0;
  return deficit_greatest_field(a) - a.bias + deficit_greatest_field(b) - b.bias;
}

/* Layout of a packed block of L products. Rows, in groups of DEFICIT_GROUP: L times the group's values; L times a
   byte per row, repeated four times; the rows' bases as differences of exponent fields, and as numbers; the sums of
   their significands' magnitudes; twice the greatest deficits of their nonzero numbers. Columns, PANEL wide: L
   vectors of values; L vectors of bytes, with column v LANES + i in byte v of lane i; the bases; then the least and
   the greatest base, twice the greatest deficit of a nonzero number, and an unused word. */
static inline size_t deficit_row_block(size_t length) { return length * 8 + 16; }
static inline size_t deficit_column_block(size_t length) { return length * 5 + 5; }

static size_t deficit_blocks(const smma_operation *o) { return (size_t)smma_blocks_per_step(o); }

static inline size_t deficit_row_bytes(const smma_operation *o) {
  return deficit_blocks(o) * deficit_row_block((size_t)smma_block_of(o));
}

static inline size_t deficit_column_bytes(const smma_operation *o) {
  return deficit_blocks(o) * deficit_column_block((size_t)smma_block_of(o));
}

/* Returns the i-th packed word of a row whose first word is at `a`. */
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

/* Returns the address of a row's words; a row takes `row_bytes` bytes. */
static inline const unsigned char *deficit_row(const unsigned char *a, size_t row_bytes, size_t row) {
  return a + row / DEFICIT_GROUP * DEFICIT_GROUP * row_bytes + row % DEFICIT_GROUP * 4;
}

static inline const int32_t *deficit_column_bases(int length, const unsigned char *b) {
  return (const int32_t *)(b + (size_t)length * PANEL * 5);
}

/* Reports whether every sum of two bytes is certain, except sums in which a byte belongs to a zero. `range` points to
   the words after the columns' bases. */
static inline bool deficit_tells_zeros(int length, const unsigned char *a, const int32_t *range) {
  return deficit_row_most(length, a) + range[2] <= DEFICIT_CERTAIN;
}

/* A decoder of columns in vectors, LANES encodings at a time. */
typedef struct {
  vi fields, largest, nan, ignored, to_float, to_sign, fraction_bits, greatest;
  vf unit;
  bool has_nan; /* has a NaN whose other fields are those of a zero */
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

/* The encodings of a block of columns: `bytes` each, `step` bytes from one k to the next. */
typedef struct {
  const unsigned char *code;
  size_t bytes, step, length;
} deficit_block;

/* Returns the fields of finite numbers; others count as zero. */
static inline vi deficit_fields(const deficit_decoder *d, vi x, vm *special) {
  const vi fields = vi_and(x, d->fields);
  *special = vm_or(vi_less(d->largest, fields), vi_equal(x, d->nan));
  return vi_select(*special, vi_set(0), fields);
}

/* Stores the exponent fields of the greatest numbers; 127 for zeros. */
static inline void deficit_store_greatest(const deficit_decoder *d, vi most, int32_t *greatest) {
  const vi field = vi_max(vi_shift_down_by(most, d->fraction_bits), vi_set(1));
  vi_store(greatest, vi_select(vi_equal(most, vi_set(0)), vi_set(127), field));
}

/* Finds the greatest exponent fields of finite numbers, and flags columns with infinities or NaN. */
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

/* Like deficit_greatest_careful, but returns true only if the exponent fields show that all numbers are finite. */
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

/* Reports whether some numbers are infinite or NaN, and finds the greatest exponent fields. */
static inline __attribute__((always_inline)) bool deficit_greatest_columns(const deficit_decoder *d, size_t bytes,
                                                                           const deficit_block *b, int32_t *greatest,
                                                                           unsigned char *special) {
  if (deficit_greatest_finite(d, bytes, b, greatest)) return false;
  deficit_greatest_careful(d, bytes, 4, b, greatest, special);
  return true;
}

/* Origin of the values and bytes of vectors: twice the exponent field of deficit 0, and, for vectors with bases,
   2^(127 - that field), which may be subnormal. */
typedef struct {
  vi top;
  vf unit;
} deficit_origin;

static inline deficit_origin deficit_origin_of(const deficit_decoder *d, bool wide, const int32_t *greatest) {
  const vi top = wide ? vi_load(greatest) : d->greatest;
  const vi unit = vi_max(vi_shift_left(vi_subtract(vi_set(254), top), 23), vi_set(1 << 22));
  return (deficit_origin){vi_shift_left(top, 1), vi_as_float(unit)};
}

/* A number's value, its byte, and twice its deficit without saturation; the last is 0 for zero. */
typedef struct {
  vf value;
  vi byte, twice;
} deficit_number;

/* Decodes numbers. `careful` must be set if some may be infinite or NaN. */
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

/* Returns all ones in the lanes of the v-th vector that are inside the matrix. */
static inline vi deficit_present(size_t present, size_t v) {
  int32_t mask[LANES];
  for (size_t lane = 0; lane < LANES; lane++) mask[lane] = -(v * LANES + lane < present);
  return vi_load(mask);
}

/* Returns where the encodings of a block are. If the matrix contains all of them, they stay in its memory. Otherwise
   they are copied to `code`, in whole vectors up to the last column inside the matrix. */
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

/* Adds the exponents of the scale factors, which are powers of two in one byte, to the bases. Absent factors are 1.
   Flags NaN. */
#define deficit_take_scales SMMA_OF_KERNEL(deficit_take_scales)
void deficit_take_scales(const smma_fetch *f, int32_t *base, unsigned char *special);

/* Packs columns. `shared`: with one base for all columns, if they are similar. */
#define deficit_pack_columns SMMA_OF_KERNEL(deficit_pack_columns)
void deficit_pack_columns(const smma_pack *pack, bool shared);

/* Packs rows, with values times `unit`. */
#define deficit_pack_rows SMMA_OF_KERNEL(deficit_pack_rows)
void deficit_pack_rows(const smma_pack *pack, float unit);

#endif
