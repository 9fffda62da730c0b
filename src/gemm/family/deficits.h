/* Packs operands with their exponents as deficits, for fast comparison of the exponents of products
   (deficits_compare.h).

   A vector is a row of A or a column of B within a block. The deficit of a nonzero operand is the distance of its
   exponent field (1 for subnormals) below a greatest field. For most formats the greatest field is all ones, and
   vectors have the base 0. For formats with 8 exponent bits (BF16, TF32) the greatest field is that of the vector's
   numbers. The exponent of this field is then the vector's base, and the vector's values are divided by 2^base.
   Exponents of scale factors are added to bases. The exponent of a product is deficit_top plus both bases minus both
   deficits.

   A byte holds twice the deficit: vb_pick turns the sum of two bytes, which is twice the deficit of a product, into an
   exponent field. Deficits above 63 are stored as 63; a zero has the byte DEFICIT_ZERO. A sum of two bytes is certain
   if it is at most DEFICIT_CERTAIN. Then it is the sum of the true deficits, because the bytes of zeros and of deficits
   stored as 63 are greater. */
#ifndef SMMA_GEMM_FAMILY_DEFICITS_H
#define SMMA_GEMM_FAMILY_DEFICITS_H

#include "gemm/family/words.h"
#include "gemm/pack.h"

/* Deficits, and all bounds of them here and in the families, count exponent fields. The leading bit of a subnormal
   with f fraction bits is up to f binades below its field; that of a product of two subnormals up to 2 f. If numbers or
   products of a family must not vanish, or must be normal in binary32, its bounds take these binades into account. */
enum {
  DEFICIT_LONGEST = 64, /* the most products of a block */
  DEFICIT_GROUP = 16,   /* rows that are packed together */
  DEFICIT_MOST = 63,    /* greater deficits are stored as 63; no family then retains more than the sign of a product */
  DEFICIT_CERTAIN = 2 * 62, /* the greatest sum of two bytes that is certain */
  DEFICIT_ZERO = 127,       /* the byte of a zero */
  DEFICIT_COMMON_SPAN = 24  /* columns can share a base if their greatest exponent fields differ by at most this */
};

/* No product of BF16 vanishes in binary32 if twice the sum of the greatest deficits of its row and its column is at
   most DEFICIT_VISIBLE. The leading bit of a subnormal BF16 number is up to 7 binades below its field, so a packed
   number of deficit d is at least 2^-(d + 7). If rows are packed with a unit of 2^24 or more, a product of deficit d is
   at least 2^(24 - d - 14). Within the bound both are at least 2^-149. */
enum { DEFICIT_VISIBLE = 2 * (149 - 7) };

/* Reports whether the operands' formats have 8 exponent bits, so that vectors have bases. */
static bool deficit_is_wide(const smma_operation *o) { return smma_encoding_of(o->a).exponent_bits == 8; }

/* Returns the encoding that determines exponents: FP16's if the operation widens its operands, else `format`'s. */
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

/* Layout of a packed block of L products. All words have 32 bits.
   - Rows, in groups of DEFICIT_GROUP. Each item has one word per row: L times the values; L times the byte, repeated
     four times; the bases as differences of exponent fields; the bases as integers; the sums of the magnitudes of
     significands; twice the greatest deficits of nonzero numbers.
   - Columns, in panels: L times the values, one word per column; L times the bytes, one vector with column
     v LANES + i in byte v of lane i; the bases, one word per column; the least and the greatest base; twice the
     greatest deficit of a nonzero number; unused words.
   deficit_row_block and deficit_column_block return the bytes of one row and one column in this layout. */
static inline size_t deficit_row_block(size_t length) { return length * 8 + 16; }
static inline size_t deficit_column_block(size_t length) { return length * 5 + 5; }

static size_t deficit_blocks(const smma_operation *o) { return (size_t)smma_blocks_per_step(o); }

static inline size_t deficit_row_bytes(const smma_operation *o) {
  return deficit_blocks(o) * deficit_row_block((size_t)smma_block_of(o));
}

static inline size_t deficit_column_bytes(const smma_operation *o) {
  return deficit_blocks(o) * deficit_column_block((size_t)smma_block_of(o));
}

/* Returns the address of item i of a row whose first item is at `a`. */
static inline const uint32_t *deficit_row_word(const unsigned char *a, int i) {
  return (const uint32_t *)a + i * DEFICIT_GROUP;
}

/* Return the items of a row that follow its bytes, in the order of the layout. */
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

/* Returns the address of the first item of row `row`. `a` is that of row 0; a row has `row_bytes` bytes. */
static inline const unsigned char *deficit_row(const unsigned char *a, size_t row_bytes, size_t row) {
  return a + row / DEFICIT_GROUP * DEFICIT_GROUP * row_bytes + row % DEFICIT_GROUP * 4;
}

/* Returns the bases of a packed block of columns; the block's other words follow them. */
static inline const int32_t *deficit_column_bases(int length, const unsigned char *b) {
  return (const int32_t *)(b + (size_t)length * PANEL * 5);
}

/* Reports whether every sum of two bytes of nonzero numbers is certain, so that other sums show zero products. `range`
   is the address of the words after the columns' bases. */
static inline bool deficit_tells_zeros(int length, const unsigned char *a, const int32_t *range) {
  return deficit_row_most(length, a) + range[2] <= DEFICIT_CERTAIN;
}

/* The members of smma_decoder as SIMD vectors, for decoding LANES encodings at a time. */
typedef struct {
  vi fields, largest, nan, ignored, fraction_bits;
  vi to_float, to_sign; /* left shifts of the fields and of the sign bit to their positions in binary32 */
  vi greatest;          /* the greatest field, for vectors with the base 0 */
  vi rebias, normal;    /* `normal` is the fields of the least normal number */
  vf minus_least;
  bool as_binary32; /* `rebias` is 0: exponents have 8 bits */
  bool has_nan;     /* the format has a NaN with the fields of a zero */
} deficit_decoder;

static inline __attribute__((always_inline)) deficit_decoder deficit_decoder_of(const smma_operation *o,
                                                                                smma_format format) {
  const smma_decoder d = smma_decoder_of(format);
  deficit_decoder w;
  w.fields = vi_set((int32_t)d.fields_mask), w.largest = vi_set((int32_t)d.largest), w.nan = vi_set((int32_t)d.nan);
  w.ignored = vi_set(d.ignored), w.to_float = vi_set(23 - d.fraction_bits), w.to_sign = vi_set(31 - d.sign_at);
  w.fraction_bits = vi_set(d.fraction_bits), w.rebias = vi_set((int32_t)d.rebias);
  w.normal = vi_set((int32_t)(1u << d.fraction_bits)), w.minus_least = vf_set(-d.least), w.as_binary32 = d.rebias == 0;
  w.greatest = vi_set(deficit_greatest_field(deficit_encoding(o, format))), w.has_nan = d.nan != ~0u;
  return w;
}

/* Loads LANES encodings of `bytes` bytes, without ignored bits. */
static inline __attribute__((always_inline)) vi deficit_load(const deficit_decoder *d, size_t bytes,
                                                             const unsigned char *code) {
  if (bytes == 1) return vi_load_bytes(code);
  return bytes == 2 ? vi_load_halves(code) : vi_shift_down_by(vi_load((const int32_t *)code), d->ignored);
}

/* The encodings of a block of vectors: each has `bytes` bytes, and those with the same k are contiguous. `step` is the
   distance in bytes from one k to the next. */
typedef struct {
  const unsigned char *code;
  size_t bytes, step, length;
} deficit_block;

/* Returns the fields of LANES numbers; those of infinities and NaN become 0. Sets `*special` in their lanes. */
static inline vi deficit_fields(const deficit_decoder *d, vi x, vm *special) {
  const vi fields = vi_and(x, d->fields);
  *special = vm_or(vi_less(d->largest, fields), vi_equal(x, d->nan));
  return vi_select(*special, vi_set(0), fields);
}

/* Stores the greatest exponent field of each vector. `most` holds the greatest fields of its numbers. A vector of zeros
   gets 127, so that its base is 0. */
static inline void deficit_store_greatest(const deficit_decoder *d, vi most, int32_t *greatest) {
  const vi field = vi_max(vi_shift_down_by(most, d->fraction_bits), vi_set(1));
  vi_store(greatest, vi_select(vi_equal(most, vi_set(0)), vi_set(127), field));
}

/* Finds the greatest exponent field of each vector's finite numbers, and flags the vectors with infinities or NaN.
   `vectors` is the number of SIMD vectors that hold a block's vectors. */
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

/* Finds the greatest exponent field of each column as if all numbers were finite. Returns whether it is known that they
   are; otherwise `greatest` may be wrong. */
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

/* Finds the greatest exponent field of each column's finite numbers. Returns false if all numbers are known to be
   finite. Otherwise flags the columns with infinities or NaN. */
static inline __attribute__((always_inline)) bool deficit_greatest_columns(const deficit_decoder *d, size_t bytes,
                                                                           const deficit_block *b, int32_t *greatest,
                                                                           unsigned char *special) {
  if (deficit_greatest_finite(d, bytes, b, greatest)) return false;
  deficit_greatest_careful(d, bytes, 4, b, greatest, special);
  return true;
}

/* The numbers relative to which values and bytes of LANES vectors are stored. */
typedef struct {
  vi top;  /* twice the greatest field, which has the deficit 0 */
  vf unit; /* 2^-base, which may be subnormal; used only if vectors have bases */
} deficit_origin;

static inline deficit_origin deficit_origin_of(const deficit_decoder *d, bool wide, const int32_t *greatest) {
  const vi top = wide ? vi_load(greatest) : d->greatest;
  const vi unit = vi_max(vi_shift_left(vi_subtract(vi_set(254), top), 23), vi_set(1 << 22));
  return (deficit_origin){vi_shift_left(top, 1), vi_as_float(unit)};
}

/* LANES decoded numbers. */
typedef struct {
  vf value;
  vi byte;  /* the byte to pack */
  vi twice; /* twice the deficit, also if it is above 63; 0 for zero */
} deficit_number;

/* Decodes LANES encodings. `wide`: vectors have bases, by which values are scaled, and deficits may exceed 63.
   `to_f16`: exponent fields are those that the values have in FP16. `careful`: some numbers may be infinite or NaN;
   they become zero. `half` is where the encodings are in memory if they are FP16 in 2 bytes each, otherwise NULL. */
static inline __attribute__((always_inline)) deficit_number deficit_decode(const deficit_decoder *d, bool wide,
                                                                           bool to_f16, bool careful, vi x,
                                                                           const unsigned char *half,
                                                                           deficit_origin origin) {
  vi fields = vi_and(x, d->fields), field, twice, deficit;
  vm special, zero;
  vf value;
  if (careful) fields = deficit_fields(d, x, &special);
  if (half) {
    value = vf_load_half(half);
    if (careful) value = vf_select(special, vf_set(0), value);
  } else { /* as in smma_decode_codes */
    const vi sign = vi_and(vi_shift_left_by(x, d->to_sign), vi_set(INT32_MIN));
    vi bits = vi_shift_left_by(fields, d->to_float);
    if (!wide || !d->as_binary32) {
      value = vi_as_float(vi_add(bits, d->rebias));
      bits = vf_bits(vf_select(vi_less(fields, d->normal), vf_multiply_add(value, vf_set(2), d->minus_least), value));
    }
    value = vi_as_float(vi_or(bits, sign));
  }
  field = vi_shift_down_by(fields, d->fraction_bits);
  if (to_f16) field = vi_subtract(vi_and(vi_shift_right(vf_bits(value), 23), vi_set(255)), vi_set(112));
  twice = deficit = vi_subtract(origin.top, vi_shift_left(vi_max(field, vi_set(1)), 1));
  if (wide) deficit = vi_min(deficit, vi_set(2 * DEFICIT_MOST)), value = vf_multiply(value, origin.unit);
  zero = vi_equal(fields, vi_set(0));
  return (deficit_number){value, vi_select(zero, vi_set(DEFICIT_ZERO), deficit), vi_select(zero, vi_set(0), twice)};
}

/* Returns all ones in the lanes of the v-th SIMD vector whose columns (or rows) are inside the matrix; `present` of
   them are. */
static inline vi deficit_present(size_t present, size_t v) {
  int32_t mask[LANES];
  for (size_t lane = 0; lane < LANES; lane++) mask[lane] = -(v * LANES + lane < present);
  return vi_load(mask);
}

/* Returns the location of the encodings of a block of columns. If the matrix contains all of them, contiguous for each
   k and unscaled, they are read from its memory. Otherwise they are copied to `code`, in whole SIMD vectors up to the
   last column inside the matrix. */
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

/* Returns each lane's byte in all four bytes of the lane. */
static inline vi deficit_repeat(vi byte) {
  const vi half = vi_or(byte, vi_shift_left(byte, 8));
  return vi_or(half, vi_shift_left(half, 16));
}

/* Adds the exponents of scale factors, which are powers of two in one byte, to the bases of the fetch's vectors.
   Outside the matrix scale factors are 1. Flags vectors whose scale factor is NaN. */
#define deficit_take_scales SMMA_OF_KERNEL(deficit_take_scales)
void deficit_take_scales(const smma_fetch *f, int32_t *base, unsigned char *special);

/* Packs columns. `shared`: the columns of a panel get a common base, if they can share one (DEFICIT_COMMON_SPAN). */
#define deficit_pack_columns SMMA_OF_KERNEL(deficit_pack_columns)
void deficit_pack_columns(const smma_pack *pack, bool shared);

/* Packs rows. All values are multiplied by `unit`. */
#define deficit_pack_rows SMMA_OF_KERNEL(deficit_pack_rows)
void deficit_pack_rows(const smma_pack *pack, float unit);

#endif
