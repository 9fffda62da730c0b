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

enum {
  DEFICIT_LONGEST = 32, /* block */
  DEFICIT_GROUP = 16,   /* rows that are packed together */
  DEFICIT_MOST = 63,
  DEFICIT_CERTAIN = 2 * 62, /* the greatest sum of two bytes that is certain */
  DEFICIT_ZERO = 127,       /* the byte of a zero */
  DEFICIT_COMMON_SPAN = 24  /* columns whose greatest exponents span so many binades may share a base */
};

static bool deficit_is_wide(const smma_operation *o) { return smma_encoding_of(o->a).exponent_bits == 8; }

/* The format whose exponents the operands of `format` have. */
static smma_encoding deficit_encoding(const smma_operation *o, smma_format format) {
  return smma_encoding_of(o->rule.algorithm == SMMA_FP8_BY_FP16 ? SMMA_F16 : format);
}

static int deficit_greatest_field(smma_encoding e) { return (1 << e.exponent_bits) - 1; }

/* The exponent of a product whose deficits and bases are 0. */
static int deficit_top(const smma_operation *o) {
  const smma_encoding a = deficit_encoding(o, o->a), b = deficit_encoding(o, o->b);
  if (deficit_is_wide(o)) return 0;
  return deficit_greatest_field(a) - a.bias + deficit_greatest_field(b) - b.bias;
}

/* What is packed for a block of L products. Rows, in groups of DEFICIT_GROUP: L times the group's values; L times a
   byte of each, repeated four times; their bases as differences of exponent fields, and as they are; the sums of their
   significands' magnitudes; the greatest bytes of their numbers that are not zero. Columns, each PANEL wide: L vectors
   of values; L of bytes, where byte v of lane i is that of column v LANES + i; the bases; the least and the greatest
   base, the greatest byte of a number that is not zero, and nothing. */
static inline size_t deficit_row_block(size_t length) { return length * 8 + 16; }
static inline size_t deficit_column_block(size_t length) { return length * 5 + 5; }

static size_t deficit_blocks(const smma_operation *o) { return (size_t)smma_blocks_per_step(o); }

static size_t deficit_row_bytes(const smma_operation *o) {
  return deficit_blocks(o) * deficit_row_block((size_t)smma_block_of(o));
}

static size_t deficit_column_bytes(const smma_operation *o) {
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

/* Encodings, values, exponent fields and then bytes, bases and weights of `vectors` vectors of one block. */
typedef struct {
  uint32_t code[DEFICIT_LONGEST * SMMA_MOST_VECTORS];
  float value[DEFICIT_LONGEST * SMMA_MOST_VECTORS];
  uint8_t byte[DEFICIT_LONGEST * SMMA_MOST_VECTORS];
  int32_t base[SMMA_MOST_VECTORS];
  float weight[SMMA_MOST_VECTORS];
  uint8_t most[SMMA_MOST_VECTORS];
} deficit_packed;

/* Exponent fields as FP16 would have them, in which subnormals of E4M3 are normal. */
static void deficit_widen_to_f16(size_t count, deficit_packed *b) {
  for (size_t i = 0; i < count; i++) {
    uint32_t bits;
    int field;
    memcpy(&bits, &b->value[i], sizeof bits);
    field = (int)(bits >> 23 & 255) - 112;
    b->byte[i] = (uint8_t)(b->byte[i] == 0 ? 0 : field > 1 ? field : 1);
  }
}

/* Of each vector; 127 for zeros. */
static inline __attribute__((always_inline)) void deficit_greatest_fields(size_t length, size_t vectors,
                                                                          const uint8_t *field, uint8_t *greatest) {
  memset(greatest, 0, vectors);
  for (size_t i = 0; i < length; i++)
    for (size_t v = 0; v < vectors; v++) {
      uint8_t x = field[i * vectors + v];
      greatest[v] = x > greatest[v] ? x : greatest[v];
    }
  for (size_t v = 0; v < vectors; v++) greatest[v] = greatest[v] ? greatest[v] : 127;
}

/* Has all vectors take the greatest of these, if they are similar. */
static void deficit_share_greatest(size_t vectors, uint8_t *greatest) {
  uint8_t most = 0, least = 255;
  for (size_t v = 0; v < vectors; v++) {
    most = greatest[v] > most ? greatest[v] : most;
    least = greatest[v] < least ? greatest[v] : least;
  }
  if (most - least <= DEFICIT_COMMON_SPAN) memset(greatest, most, vectors);
}

/* Exponents of the scale factors, to the bases. */
static void deficit_take_scales(const smma_fetch *f, int32_t *base, unsigned char *special) {
  const smma_plan *p = f->plan;
  size_t block = (size_t)p->operation.scale_block, at = (size_t)(f->block * f->length);
  const size_t present = smma_lines_present(f->view, f->first, f->vectors);
  for (size_t v = 0; v < present; v++) {
    smma_number scale[SMMA_MAXIMUM_K];
    smma_decode_scales(p, f->of_a, f->first + v, f->step * (size_t)p->operation.k + at, block, scale);
    if (scale[0].kind == SMMA_FINITE)
      base[v] += scale[0].exponent;
    else
      special[v] = 1;
  }
}

/* Exponent fields to bytes, none above `greatest`, of each vector. */
static inline __attribute__((always_inline)) void deficit_to_bytes(size_t length, size_t vectors,
                                                                   const uint8_t *restrict greatest,
                                                                   uint8_t *restrict byte) {
  for (size_t i = 0; i < length; i++, byte += vectors)
    for (size_t v = 0; v < vectors; v++) {
      uint8_t deficit = (uint8_t)(greatest[v] - byte[v]);
      deficit = deficit > DEFICIT_MOST ? DEFICIT_MOST : deficit;
      byte[v] = byte[v] ? (uint8_t)(2 * deficit) : DEFICIT_ZERO;
    }
}

/* The greatest bytes of numbers that are not zero. */
static inline __attribute__((always_inline)) void deficit_find_most(size_t length, size_t vectors,
                                                                    const uint8_t *restrict byte,
                                                                    uint8_t *restrict most) {
  for (size_t i = 0; i < length; i++, byte += vectors)
    for (size_t v = 0; v < vectors; v++) {
      const uint8_t x = byte[v] == DEFICIT_ZERO ? 0 : byte[v];
      most[v] = x > most[v] ? x : most[v];
    }
}

/* Values to what they are without the bases of their vectors. */
static inline __attribute__((always_inline)) void deficit_take_bases(size_t length, size_t vectors,
                                                                     const uint8_t *greatest, deficit_packed *b) {
  float unit[SMMA_MOST_VECTORS];
  for (size_t v = 0; v < vectors; v++) {
    b->base[v] = greatest[v] - 127;
    unit[v] = greatest[v] == 254 ? 0x1p-127f : smma_power_of_two(127 - greatest[v]);
  }
  for (size_t i = 0; i < length; i++)
    for (size_t v = 0; v < vectors; v++) b->value[i * vectors + v] *= unit[v];
}

/* Sums of significands' magnitudes. */
static void deficit_weigh(size_t length, size_t vectors, deficit_packed *b) {
  const float *value = b->value;
  memset(b->weight, 0, vectors * sizeof b->weight[0]);
  for (size_t i = 0; i < length; i++, value += vectors)
    for (size_t v = 0; v < vectors; v++) {
      uint32_t bits, is_not_zero = -(uint32_t)(value[v] != 0);
      float significand;
      memcpy(&bits, &value[v], sizeof bits);
      bits = ((bits & 0x7fffff) | 127 << 23) & is_not_zero;
      memcpy(&significand, &bits, sizeof bits);
      b->weight[v] += significand;
    }
}

/* What lies behind the matrix counts as zeros of deficit 0, about whose exponents nothing is uncertain. */
static void deficit_clear_behind(const smma_fetch *f, deficit_packed *b) {
  const size_t present = smma_lines_present(f->view, f->first, f->vectors);
  for (size_t i = 0; i < (size_t)f->length; i++)
    for (size_t v = present; v < f->vectors; v++) b->byte[i * f->vectors + v] = 0;
}

/* `vectors` is that of `f`, as a constant. */
static inline __attribute__((always_inline)) void deficit_decode_vectors(const smma_fetch *f, size_t vectors,
                                                                         const smma_decoder *d, bool shared,
                                                                         deficit_packed *b, unsigned char *special) {
  const smma_operation *o = &f->plan->operation;
  const size_t length = (size_t)f->length;
  uint8_t greatest[SMMA_MOST_VECTORS];
  smma_decode_codes(d, length, vectors, b->code, b->value, b->byte, special);
  if (o->rule.algorithm == SMMA_FP8_BY_FP16) deficit_widen_to_f16(length * vectors, b);
  memset(greatest, deficit_greatest_field(deficit_encoding(o, f->of_a ? o->a : o->b)), vectors);
  if (deficit_is_wide(o)) {
    deficit_greatest_fields(length, vectors, b->byte, greatest);
    if (shared) deficit_share_greatest(vectors, greatest);
  }
  memset(b->base, 0, vectors * sizeof b->base[0]);
  deficit_to_bytes(length, vectors, greatest, b->byte);
  memset(b->most, 0, sizeof b->most);
  if (!deficit_is_wide(o)) return;
  deficit_take_bases(length, vectors, greatest, b);
  deficit_find_most(length, vectors, b->byte, b->most);
}

/* `shared`: vectors should have one base where they can. */
static void deficit_decode(const smma_fetch *f, const smma_decoder *d, bool shared, deficit_packed *b,
                           unsigned char *special) {
  smma_fetch_codes(f, b->code);
  if (f->vectors == PANEL)
    deficit_decode_vectors(f, PANEL, d, shared, b, special);
  else
    deficit_decode_vectors(f, DEFICIT_GROUP, d, shared, b, special);
  if (f->plan->operation.scale_block) deficit_take_scales(f, b->base, special);
  deficit_clear_behind(f, b);
}

/* Bytes, each repeated four times. */
static void deficit_repeat(size_t count, const uint8_t *restrict byte, unsigned char *restrict out) {
  uint32_t *word = (uint32_t *)out;
  for (size_t i = 0; i < count; i++) word[i] = byte[i] * 0x01010101u;
}

/* Rows, their values times `unit`. */
static void deficit_pack_rows(const smma_pack *pack, float unit) {
  const smma_operation *o = &pack->plan->operation;
  const smma_decoder d = smma_decoder_of(o->a);
  size_t blocks = deficit_blocks(o), length = (size_t)smma_block_of(o), bytes = deficit_row_block(length);
  smma_fetch f = {pack->plan, pack->view, true, 0, DEFICIT_GROUP, 0, 0, (int)length};
  deficit_packed b;
  for (size_t row = 0; row < pack->count; row += DEFICIT_GROUP)
    for (size_t block = 0; block < pack->steps * blocks; block++) {
      unsigned char *out = (unsigned char *)pack->out + (block * pack->count + row) * bytes;
      const size_t count = length * DEFICIT_GROUP;
      f.first = pack->first + row, f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
      deficit_decode(&f, &d, false, &b, pack->special + row);
      deficit_weigh(length, DEFICIT_GROUP, &b);
      for (size_t i = 0; i < count; i++) ((float *)out)[i] = b.value[i] * unit;
      deficit_repeat(count, b.byte, out + count * 4);
      out += count * 8;
      for (size_t v = 0; v < DEFICIT_GROUP; v++) ((uint32_t *)out)[v] = (uint32_t)b.base[v] << 23;
      memcpy(out + DEFICIT_GROUP * 4, b.base, DEFICIT_GROUP * 4);
      memcpy(out + DEFICIT_GROUP * 8, b.weight, DEFICIT_GROUP * 4);
      out += DEFICIT_GROUP * 12;
      for (size_t v = 0; v < DEFICIT_GROUP; v++) ((uint32_t *)out)[v] = b.most[v];
    }
}

/* One of each four columns LANES apart to each word. */
static void deficit_interleave(size_t length, const uint8_t *restrict byte, unsigned char *restrict out) {
  uint32_t word[LANES];
  for (size_t i = 0; i < length; i++, byte += PANEL, out += PANEL) {
    for (size_t lane = 0; lane < LANES; lane++)
      word[lane] = byte[lane] | (uint32_t)byte[LANES + lane] << 8 | (uint32_t)byte[2 * LANES + lane] << 16 |
                   (uint32_t)byte[3 * LANES + lane] << 24;
    memcpy(out, word, sizeof word);
  }
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

/* The greatest exponent fields of finite numbers in columns; flags where some are not finite. */
static inline __attribute__((always_inline)) void deficit_greatest_careful(const deficit_decoder *d, size_t bytes,
                                                                           const deficit_block *b, int32_t *greatest,
                                                                           unsigned char *special) {
  UNROLL for (int v = 0; v < 4; v++) {
    vi most = vi_set(0);
    unsigned found = 0;
    for (size_t i = 0; i < b->length; i++) {
      vm is_special;
      const vi x = deficit_load(d, bytes, b->code + i * b->step + (size_t)v * LANES * bytes);
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
  deficit_greatest_careful(d, bytes, b, greatest, special);
  return true;
}

/* Values and bytes; returns the greatest byte of a number that is not zero if `wide`, else 0. `bytes`, `wide`, `to_f16`
   and `careful` (some may not be finite) are constants where this is inlined. `greatest`: the exponent fields of
   deficit 0. */
static inline __attribute__((always_inline)) int32_t deficit_decode_columns(const deficit_decoder *d, size_t bytes,
                                                                            bool wide, bool to_f16, bool careful,
                                                                            const deficit_block *b,
                                                                            const int32_t *greatest,
                                                                            unsigned char *out) {
  const unsigned char *code = b->code;
  unsigned char *byte = out + b->length * 4 * PANEL;
  int32_t most_of[LANES], result = 0;
  vi most = vi_set(0), top[4];
  vf unit[4];
  UNROLL for (int v = 0; v < 4; v++) {
    top[v] = wide ? vi_load(greatest + v * LANES) : d->greatest;
    /* 2^(127 - top), which may be subnormal. */
    unit[v] = vi_as_float(vi_max(vi_shift_left(vi_subtract(vi_set(254), top[v]), 23), vi_set(1 << 22)));
    top[v] = vi_shift_left(top[v], 1);
  }
  for (size_t i = 0; i < b->length; i++, code += b->step, out += 4 * PANEL, byte += PANEL) {
    vi word = vi_set(0);
    UNROLL for (int v = 3; v >= 0; v--) {
      const vi x = deficit_load(d, bytes, code + (size_t)v * LANES * bytes);
      const vi sign = vi_and(vi_shift_left_by(x, d->to_sign), vi_set(INT32_MIN));
      vi fields = vi_and(x, d->fields), field, deficit;
      vm special, zero;
      vf value;
      if (careful) fields = deficit_fields(d, x, &special);
      value = vf_multiply(vi_as_float(vi_or(sign, vi_shift_left_by(fields, d->to_float))), d->unit);
      field = vi_shift_down_by(fields, d->fraction_bits);
      if (to_f16) field = vi_subtract(vi_and(vi_shift_right(vf_bits(value), 23), vi_set(255)), vi_set(112));
      deficit = vi_subtract(top[v], vi_shift_left(vi_max(field, vi_set(1)), 1));
      if (wide) deficit = vi_min(deficit, vi_set(2 * DEFICIT_MOST)), value = vf_multiply(value, unit[v]);
      zero = vi_equal(fields, vi_set(0));
      if (wide) most = vi_max(most, vi_select(zero, most, deficit));
      word = vi_or(vi_shift_left(word, 8), vi_select(zero, vi_set(DEFICIT_ZERO), deficit));
      vf_store((float *)out + v * LANES, value);
    }
    vi_store((int32_t *)byte, word);
  }
  vi_store(most_of, most);
  for (int lane = 0; lane < LANES; lane++) result = most_of[lane] > result ? most_of[lane] : result;
  return result;
}

/* Has all columns take the greatest of these, if they are similar. */
static void deficit_share_columns(int32_t *greatest) {
  int32_t most = 0, least = 255;
  for (size_t v = 0; v < PANEL; v++) {
    most = greatest[v] > most ? greatest[v] : most;
    least = greatest[v] < least ? greatest[v] : least;
  }
  for (size_t v = 0; v < PANEL && most - least <= DEFICIT_COMMON_SPAN; v++) greatest[v] = most;
}

/* What lies behind the matrix: see deficit_clear_behind. */
static void deficit_clear_columns(size_t present, size_t length, unsigned char *byte) {
  for (size_t i = 0; i < length; i++)
    for (size_t v = present; v < PANEL; v++) byte[i * PANEL + v % LANES * 4 + v / LANES] = 0;
}

/* The encodings of the fetch's block: where they lie in the view if they are whole, or fetched to `code`. */
static inline deficit_block deficit_block_of(const smma_fetch *f, uint32_t *code) {
  const smma_operation *o = &f->plan->operation;
  const smma_view *x = f->view;
  const size_t k = f->step * (size_t)o->k + (size_t)f->block * (size_t)f->length;
  const size_t bytes = smma_container_bytes(smma_encoding_of(x->format));
  if (x->factor == 1 && x->line_step == 1 && smma_lines_present(x, f->first, PANEL) == PANEL &&
      smma_dealt_products(o) == f->length && k + (size_t)f->length <= x->count)
    return (deficit_block){(const unsigned char *)x->data + smma_element(x, f->first, k) * bytes, bytes,
                           x->k_step * bytes, (size_t)f->length};
  smma_fetch_codes(f, code);
  return (deficit_block){(const unsigned char *)code, 4, PANEL * 4, (size_t)f->length};
}

/* As the other, for encodings of any size. */
static int32_t deficit_decode_block(const deficit_decoder *d, bool wide, bool to_f16, bool careful,
                                    const deficit_block *b, const int32_t *greatest, unsigned char *out) {
  if (careful) {
    if (wide && b->bytes == 2) return deficit_decode_columns(d, 2, true, false, true, b, greatest, out);
    if (wide) return deficit_decode_columns(d, 4, true, false, true, b, greatest, out);
    if (to_f16 && b->bytes == 1) return deficit_decode_columns(d, 1, false, true, true, b, greatest, out);
    if (to_f16) return deficit_decode_columns(d, 4, false, true, true, b, greatest, out);
    if (b->bytes == 2) return deficit_decode_columns(d, 2, false, false, true, b, greatest, out);
    if (b->bytes == 1) return deficit_decode_columns(d, 1, false, false, true, b, greatest, out);
    return deficit_decode_columns(d, 4, false, false, true, b, greatest, out);
  }
  if (wide && b->bytes == 2) return deficit_decode_columns(d, 2, true, false, false, b, greatest, out);
  if (wide) return deficit_decode_columns(d, 4, true, false, false, b, greatest, out);
  if (to_f16 && b->bytes == 1) return deficit_decode_columns(d, 1, false, true, false, b, greatest, out);
  if (to_f16) return deficit_decode_columns(d, 4, false, true, false, b, greatest, out);
  if (b->bytes == 2) return deficit_decode_columns(d, 2, false, false, false, b, greatest, out);
  if (b->bytes == 1) return deficit_decode_columns(d, 1, false, false, false, b, greatest, out);
  return deficit_decode_columns(d, 4, false, false, false, b, greatest, out);
}

/* Exponents and special numbers. */
static bool deficit_look_at_block(const deficit_decoder *d, const deficit_block *b, int32_t *greatest,
                                  unsigned char *special) {
  if (b->bytes == 1) return deficit_greatest_columns(d, 1, b, greatest, special);
  if (b->bytes == 2) return deficit_greatest_columns(d, 2, b, greatest, special);
  return deficit_greatest_columns(d, 4, b, greatest, special);
}

/* One block. `shared`: with one base, if the columns are similar. */
static void deficit_pack_column_block(const smma_fetch *f, const deficit_decoder *d, bool shared, unsigned char *out,
                                      unsigned char *special) {
  const smma_operation *o = &f->plan->operation;
  const bool wide = deficit_is_wide(o), to_f16 = o->rule.algorithm == SMMA_FP8_BY_FP16;
  const size_t length = (size_t)f->length, present = smma_lines_present(f->view, f->first, PANEL);
  uint32_t fetched[DEFICIT_LONGEST * PANEL];
  int32_t greatest[PANEL], base[PANEL], range[3];
  const deficit_block b = deficit_block_of(f, fetched);
  bool careful;
  if (b.code != (const unsigned char *)fetched) smma_ask_ahead(f->view, b.code, length, b.step, PANEL * b.bytes);
  careful = deficit_look_at_block(d, &b, greatest, special);
  if (wide && shared) deficit_share_columns(greatest);
  range[2] = deficit_decode_block(d, wide, to_f16, careful, &b, greatest, out);
  if (present < PANEL) deficit_clear_columns(present, length, out + length * PANEL * 4);
  for (size_t v = 0; v < PANEL; v++) base[v] = wide ? greatest[v] - 127 : 0;
  if (o->scale_block) deficit_take_scales(f, base, special);
  range[0] = range[1] = base[0];
  for (size_t v = 1; v < PANEL; v++) {
    range[0] = base[v] < range[0] ? base[v] : range[0];
    range[1] = base[v] > range[1] ? base[v] : range[1];
  }
  out += length * PANEL * 5;
  memcpy(out, base, PANEL * 4);
  memcpy(out + PANEL * 4, range, sizeof range);
}

static void deficit_pack_columns(const smma_pack *pack, bool shared) {
  const smma_operation *o = &pack->plan->operation;
  const deficit_decoder d = deficit_decoder_of(o, o->b);
  size_t blocks = deficit_blocks(o), length = (size_t)smma_block_of(o);
  smma_fetch f = {pack->plan, pack->view, false, pack->first, PANEL, 0, 0, (int)length};
  for (size_t block = 0; block < pack->steps * blocks; block++) {
    unsigned char *out = (unsigned char *)pack->out + block * PANEL * deficit_column_block(length);
    f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
    deficit_pack_column_block(&f, &d, shared, out, pack->special);
  }
}

#endif
