#include "gemm/family/deficits.h"

void deficit_take_scales(const smma_fetch *f, int32_t *base, unsigned char *special) {
  const smma_multiplier *p = f->multiplier;
  const smma_encoding format = smma_encoding_of(p->operation.scale);
  const uint32_t largest = (uint32_t)smma_largest_fields(format);
  const size_t block = (size_t)p->operation.scale_block, along = (p->with.k + block - 1) / block;
  const size_t k = f->step * (size_t)p->operation.k + (size_t)(f->block * f->length);
  const size_t present = smma_lines_present(f->view, f->first, f->vectors);
  const unsigned char *code = (const unsigned char *)smma_view_of(p, f->of_a)->scale + f->first * along + k / block;
  if (k >= p->with.k) return;
  for (size_t v = 0; v < present; v++, code += along) {
    if (*code > largest)
      special[v] = 1;
    else
      base[v] += *code - format.bias;
  }
}

/* Returns the greatest number of a vector, at least 0. */
static inline int32_t deficit_greatest_lane(vi x) {
  int32_t lanes[LANES], result = 0;
  vi_store(lanes, x);
  for (int lane = 0; lane < LANES; lane++) result = lanes[lane] > result ? lanes[lane] : result;
  return result;
}

/* Decodes a block of a panel and stores its values and bytes. `greatest` holds the exponent field of each column that
   has the deficit 0 if columns have bases (`wide`). Returns twice the greatest deficit of a nonzero number if `wide`,
   else 0. `bytes`, `wide`, `to_f16` and `careful` are constants in the inlined copies. */
static inline __attribute__((always_inline)) int32_t deficit_decode_columns(const deficit_decoder *d, size_t bytes,
                                                                            bool wide, bool to_f16, bool careful,
                                                                            const deficit_block *b,
                                                                            const int32_t *greatest,
                                                                            unsigned char *out) {
  const unsigned char *code = b->code;
  unsigned char *byte = out + b->length * 4 * PANEL;
  vi most = vi_set(0);
  deficit_origin origin[4];
  UNROLL for (int v = 0; v < 4; v++) origin[v] = deficit_origin_of(d, wide, greatest + v * LANES);
  for (size_t i = 0; i < b->length; i++, code += b->step, out += 4 * PANEL, byte += PANEL) {
    vi word = vi_set(0);
    UNROLL for (int v = 3; v >= 0; v--) {
      const unsigned char *at = code + (size_t)v * LANES * bytes;
      const bool is_half = bytes == 2 && !wide; /* the only format of 2 bytes with fewer than 8 exponent bits */
      const vi x = deficit_load(d, bytes, at);
      const deficit_number n = deficit_decode(d, wide, to_f16, careful, x, is_half ? at : NULL, origin[v]);
      if (wide) most = vi_max(most, n.twice);
      word = vi_or(vi_shift_left(word, 8), n.byte);
      vf_store((float *)out + v * LANES, n.value);
    }
    vi_store((int32_t *)byte, word);
  }
  return wide ? deficit_greatest_lane(most) : 0;
}

/* Does the same as deficit_decode_columns for fetched encodings. Only `present` columns are in the matrix. The others
   get values of 0 and bytes of 0 (deficit 0), so that their exponents are certain. */
static int32_t deficit_decode_fetched(const deficit_decoder *d, bool wide, bool to_f16, const deficit_block *b,
                                      size_t present, const int32_t *greatest, unsigned char *out) {
  const size_t values = b->length * 4 * PANEL;
  vi most = vi_set(0);
  memset(out, 0, values + b->length * PANEL);
  for (size_t v = 0; v * LANES < present; v++) {
    const deficit_origin origin = deficit_origin_of(d, wide, greatest + v * LANES);
    const vi mask = deficit_present(present, v);
    for (size_t i = 0; i < b->length; i++) {
      const vi x = deficit_load(d, 4, b->code + i * b->step + v * LANES * 4);
      const deficit_number n = deficit_decode(d, wide, to_f16, true, x, NULL, origin);
      int32_t *word = (int32_t *)(out + values + i * PANEL);
      if (wide) most = vi_max(most, n.twice);
      vi_store(word, vi_or(vi_load(word), vi_shift_left_by(vi_and(n.byte, mask), vi_set((int32_t)(8 * v)))));
      vf_store((float *)out + i * PANEL + v * LANES, n.value);
    }
  }
  return deficit_greatest_lane(most);
}

/* `greatest` holds the greatest exponent field of each column of a panel. If the fields differ by at most
   DEFICIT_COMMON_SPAN, replaces each by the greatest of them, so that all columns share a base. */
static void deficit_share_columns(int32_t *greatest) {
  int32_t most = 0, least = 255;
  for (size_t v = 0; v < PANEL; v++) {
    most = greatest[v] > most ? greatest[v] : most;
    least = greatest[v] < least ? greatest[v] : least;
  }
  for (size_t v = 0; v < PANEL && most - least <= DEFICIT_COMMON_SPAN; v++) greatest[v] = most;
}

/* Calls deficit_decode_columns with constant arguments, so that each combination has its own inlined copy. */
static int32_t deficit_decode_block(const deficit_decoder *d, bool wide, bool to_f16, bool careful,
                                    const deficit_block *b, const int32_t *greatest, unsigned char *out) {
  if (careful) {
    if (wide && b->bytes == 2) return deficit_decode_columns(d, 2, true, false, true, b, greatest, out);
    if (wide) return deficit_decode_columns(d, 4, true, false, true, b, greatest, out);
    if (to_f16) return deficit_decode_columns(d, 1, false, true, true, b, greatest, out);
    if (b->bytes == 2) return deficit_decode_columns(d, 2, false, false, true, b, greatest, out);
    return deficit_decode_columns(d, 1, false, false, true, b, greatest, out);
  }
  if (wide && b->bytes == 2) return deficit_decode_columns(d, 2, true, false, false, b, greatest, out);
  if (wide) return deficit_decode_columns(d, 4, true, false, false, b, greatest, out);
  if (to_f16) return deficit_decode_columns(d, 1, false, true, false, b, greatest, out);
  if (b->bytes == 2) return deficit_decode_columns(d, 2, false, false, false, b, greatest, out);
  return deficit_decode_columns(d, 1, false, false, false, b, greatest, out);
}

/* Calls deficit_greatest_columns with a constant size of encodings. */
static bool deficit_greatest_block(const deficit_decoder *d, const deficit_block *b, int32_t *greatest,
                                   unsigned char *special) {
  if (b->bytes == 1) return deficit_greatest_columns(d, 1, b, greatest, special);
  if (b->bytes == 2) return deficit_greatest_columns(d, 2, b, greatest, special);
  return deficit_greatest_columns(d, 4, b, greatest, special);
}

/* Packs one block of a panel; `shared` is as in deficit_pack_columns. */
static void deficit_pack_column_block(const smma_fetch *f, const deficit_decoder *d, bool shared, unsigned char *out,
                                      unsigned char *special) {
  const smma_operation *o = &f->multiplier->operation;
  const bool wide = deficit_is_wide(o), to_f16 = o->rule.algorithm == SMMA_FP8_BY_FP16;
  const size_t length = (size_t)f->length, present = smma_lines_present(f->view, f->first, PANEL);
  uint32_t fetched[DEFICIT_LONGEST * PANEL];
  int32_t greatest[PANEL], base[PANEL], range[3];
  const deficit_block b = deficit_block_of(f, fetched);
  if (b.code == (const unsigned char *)fetched) {
    for (size_t v = 0; v < PANEL; v++) greatest[v] = 127;
    deficit_greatest_careful(d, 4, (present + LANES - 1) / LANES, &b, greatest, special);
    if (wide && shared) deficit_share_columns(greatest);
    range[2] = deficit_decode_fetched(d, wide, to_f16, &b, present, greatest, out);
  } else {
    bool careful;
    smma_prefetch_ahead(f->view, b.code, length, b.step, PANEL * b.bytes);
    careful = deficit_greatest_block(d, &b, greatest, special);
    if (wide && shared) deficit_share_columns(greatest);
    range[2] = deficit_decode_block(d, wide, to_f16, careful, &b, greatest, out);
  }
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

void deficit_pack_columns(const smma_pack *pack, bool shared) {
  const smma_operation *o = &pack->multiplier->operation;
  const deficit_decoder d = deficit_decoder_of(o, o->b);
  size_t blocks = deficit_blocks(o), length = (size_t)smma_block_of(o);
  smma_fetch f = {pack->multiplier, pack->view, false, pack->first, PANEL, 0, 0, (int)length};
  for (size_t block = 0; block < pack->steps * blocks; block++) {
    unsigned char *out = (unsigned char *)pack->out + block * PANEL * deficit_column_block(length);
    f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
    deficit_pack_column_block(&f, &d, shared, out, pack->special);
  }
}

/* Returns the significands of the magnitudes, from 1 to below 2; 0 for zeros. */
static inline vf deficit_weight(vf value) {
  const vi significand = vi_or(vi_and(vf_bits(value), vi_set(0x7fffff)), vi_set(127 << 23));
  return vf_select(vf_equal(value, vf_set(0)), vf_set(0), vi_as_float(significand));
}

/* Packs one block of a group of rows. All values are multiplied by `unit`. */
static void deficit_pack_row_block(const smma_fetch *f, const deficit_decoder *d, float unit, int32_t *out,
                                   unsigned char *special) {
  const smma_operation *o = &f->multiplier->operation;
  const bool wide = deficit_is_wide(o), to_f16 = o->rule.algorithm == SMMA_FP8_BY_FP16;
  const size_t length = (size_t)f->length, count = length * DEFICIT_GROUP;
  const size_t present = smma_lines_present(f->view, f->first, DEFICIT_GROUP);
  uint32_t code[DEFICIT_LONGEST * DEFICIT_GROUP];
  int32_t greatest[DEFICIT_GROUP], *base = out + 2 * count + DEFICIT_GROUP;
  const deficit_block b = {(const unsigned char *)code, 4, DEFICIT_GROUP * 4, length};
  smma_fetch_codes(f, code);
  deficit_greatest_careful(d, 4, DEFICIT_GROUP / LANES, &b, greatest, special);
  for (size_t v = 0; v < DEFICIT_GROUP / LANES; v++, out += LANES) {
    const deficit_origin origin = deficit_origin_of(d, wide, greatest + v * LANES);
    const vi mask = deficit_present(present, v);
    vf weight = vf_set(0);
    vi most = vi_set(0);
    for (size_t i = 0; i < count; i += DEFICIT_GROUP) {
      const vi x = deficit_load(d, 4, (const unsigned char *)(code + i + v * LANES));
      const deficit_number n = deficit_decode(d, wide, to_f16, true, x, NULL, origin);
      weight = vf_add(weight, deficit_weight(n.value));
      if (wide) most = vi_max(most, n.twice);
      vf_store((float *)out + i, vf_multiply(n.value, vf_set(unit)));
      vi_store(out + count + i, deficit_repeat(vi_and(n.byte, mask)));
    }
    vf_store((float *)out + 2 * count + 2 * DEFICIT_GROUP, weight);
    vi_store(out + 2 * count + 3 * DEFICIT_GROUP, most);
  }
  for (size_t v = 0; v < DEFICIT_GROUP; v++) base[v] = wide ? greatest[v] - 127 : 0;
  if (o->scale_block) deficit_take_scales(f, base, special);
  for (size_t v = 0; v < DEFICIT_GROUP; v++) base[v - DEFICIT_GROUP] = (int32_t)((uint32_t)base[v] << 23);
}

void deficit_pack_rows(const smma_pack *pack, float unit) {
  const smma_operation *o = &pack->multiplier->operation;
  const deficit_decoder d = deficit_decoder_of(o, o->a);
  size_t blocks = deficit_blocks(o), length = (size_t)smma_block_of(o), bytes = deficit_row_block(length);
  smma_fetch f = {pack->multiplier, pack->view, true, 0, DEFICIT_GROUP, 0, 0, (int)length};
  for (size_t row = 0; row < pack->count; row += DEFICIT_GROUP)
    for (size_t block = 0; block < pack->steps * blocks; block++) {
      unsigned char *out = (unsigned char *)pack->out + (block * pack->count + row) * bytes;
      f.first = pack->first + row, f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
      deficit_pack_row_block(&f, &d, unit, (int32_t *)out, pack->special + row);
    }
}
