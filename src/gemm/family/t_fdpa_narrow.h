/* T-FDPA with F = 13 (FP8 on Ada and Hopper) on machines with fast 16-bit halves: terms have 16 bits, two per lane.

   The significand of a product is a multiple of 2^-8 below 4. Times 2^13 it fits in 15 bits and is an exact product of
   two integers. Shifting it right, by the product's deficit minus that of emax, truncates it. vi_dot2 multiplies terms
   by their signs, +1 or -1, and adds pairs of them. All terms add up exactly in 32 bits and in binary32, of which
   RZ-E8M13 clears the last 10 bits. The exponent e_zero of zeros, which is -21 or less, does not matter: products of
   these formats, and FP16 numbers, are multiples of 2^-32, which F = 13 does not truncate at such an emax. */
#ifndef SMMA_GEMM_FAMILY_T_FDPA_NARROW_H
#define SMMA_GEMM_FAMILY_T_FDPA_NARROW_H

#include "gemm/family/t_fdpa.h"

/* Converts 16-bit +1 and -1 into each other by exclusive or. */
enum { NARROW_SIGN = 0xfffe };

static bool t_fdpa_narrow_takes(const smma_operation *o) { return FAST_HALVES && t_fdpa_is_narrow(o); }

/* Layout of a packed block of L products.
   - Rows, in groups as in deficits.h: for each pair of products three words per row, whose halves belong to the two
     products: significands; deficits plus T_FDPA_HEADROOM; sign masks (NARROW_SIGN or 0). Then bytes as in deficits.h.
   - Columns: for each pair the same words of PANEL columns, but deficits as they are, and signs as +1 or -1. Then
     bytes as in deficits.h.
   t_fdpa_narrow_row_block and t_fdpa_narrow_column_block return the bytes of one row and of one column. */
static inline size_t t_fdpa_narrow_row_block(size_t length) { return length * 10; }
static inline size_t t_fdpa_narrow_column_block(size_t length) { return length * 7; }

static inline size_t t_fdpa_narrow_row_bytes(const smma_operation *o) {
  return deficit_blocks(o) * t_fdpa_narrow_row_block((size_t)smma_block_of(o));
}

static inline size_t t_fdpa_narrow_column_bytes(const smma_operation *o) {
  return deficit_blocks(o) * t_fdpa_narrow_column_block((size_t)smma_block_of(o));
}

/* LANES decoded numbers. */
typedef struct {
  vi significand; /* as integers, in units of the format's last fraction bit */
  vi byte;        /* bytes of deficits */
  vi negative;    /* 1 for negative numbers, else 0 */
} t_fdpa_narrow_numbers;

/* Decodes LANES encodings. `careful`: some numbers may be infinite or NaN; they become zero. `present` is all ones in
   lanes inside the matrix, and 0 in others, whose deficits become 0. */
static inline __attribute__((always_inline)) t_fdpa_narrow_numbers t_fdpa_narrow_decode(const deficit_decoder *d,
                                                                                        bool careful, vi present,
                                                                                        vi x) {
  const vi hidden = vi_shift_left_by(vi_set(1), d->fraction_bits);
  const deficit_number n = deficit_decode(d, false, false, careful, x, NULL, deficit_origin_of(d, false, NULL));
  vm special;
  const vi fields = careful ? deficit_fields(d, x, &special) : vi_and(x, d->fields);
  const vi normal = vi_or(vi_and(fields, vi_subtract(hidden, vi_set(1))), hidden);
  return (t_fdpa_narrow_numbers){vi_select(vi_less(fields, hidden), fields, normal), vi_and(n.byte, present),
                                 vi_shift_right(vi_shift_left_by(x, d->to_sign), 31)};
}

/* Returns words with `even` in their lower and `odd` in their upper halves. */
static inline vi t_fdpa_narrow_pair(vi even, vi odd) {
  return vi_or(vi_and(even, vi_set(0xffff)), vi_shift_left(odd, 16));
}

/* Packs one block of a group of rows. `shift` scales their significands, so that those of products have 13 fraction
   bits. */
static void t_fdpa_narrow_pack_row_block(const smma_fetch *f, const deficit_decoder *d, int shift, int32_t *out,
                                         unsigned char *special) {
  const size_t length = (size_t)f->length;
  const size_t present = smma_lines_present(f->view, f->first, DEFICIT_GROUP);
  const vi headroom = vi_set(T_FDPA_HEADROOM * 0x10001), sign = vi_set(NARROW_SIGN), up = vi_set(shift);
  uint32_t code[DEFICIT_LONGEST * DEFICIT_GROUP];
  int32_t greatest[DEFICIT_GROUP], *byte = out + length / 2 * 3 * DEFICIT_GROUP;
  const deficit_block b = {(const unsigned char *)code, 4, DEFICIT_GROUP * 4, length};
  smma_fetch_codes(f, code);
  deficit_greatest_careful(d, 4, DEFICIT_GROUP / LANES, &b, greatest, special);
  for (size_t v = 0; v < DEFICIT_GROUP / LANES; v++, out += LANES, byte += LANES) {
    const vi mask = deficit_present(present, v);
    for (size_t i = 0; i < length; i += 2) {
      const int32_t *x = (const int32_t *)code + i * DEFICIT_GROUP + v * LANES;
      const t_fdpa_narrow_numbers even = t_fdpa_narrow_decode(d, true, mask, vi_load(x));
      const t_fdpa_narrow_numbers odd = t_fdpa_narrow_decode(d, true, mask, vi_load(x + DEFICIT_GROUP));
      int32_t *word = out + i / 2 * 3 * DEFICIT_GROUP;
      const vi deficits = t_fdpa_narrow_pair(vi_shift_right(even.byte, 1), vi_shift_right(odd.byte, 1));
      vi_store(word, vi_shift_left_by(t_fdpa_narrow_pair(even.significand, odd.significand), up));
      vi_store(word + DEFICIT_GROUP, vi_add(deficits, headroom));
      vi_store(word + 2 * DEFICIT_GROUP,
               vh_multiply(t_fdpa_narrow_pair(even.negative, odd.negative), vi_or(sign, vi_shift_left(sign, 16))));
      vi_store(byte + i * DEFICIT_GROUP, deficit_repeat(even.byte));
      vi_store(byte + (i + 1) * DEFICIT_GROUP, deficit_repeat(odd.byte));
    }
  }
}

static inline void t_fdpa_narrow_pack_rows(const smma_pack *pack) {
  const smma_operation *o = &pack->multiplier->operation;
  const deficit_decoder d = deficit_decoder_of(o, o->a);
  size_t blocks = deficit_blocks(o), length = (size_t)smma_block_of(o), bytes = t_fdpa_narrow_row_block(length);
  const int shift = NARROW_BITS - smma_encoding_of(o->a).fraction_bits - smma_encoding_of(o->b).fraction_bits;
  smma_fetch f = {pack->multiplier, pack->view, true, 0, DEFICIT_GROUP, 0, 0, (int)length};
  for (size_t row = 0; row < pack->count; row += DEFICIT_GROUP)
    for (size_t block = 0; block < pack->steps * blocks; block++) {
      unsigned char *out = (unsigned char *)pack->out + (block * pack->count + row) * bytes;
      f.first = pack->first + row, f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
      t_fdpa_narrow_pack_row_block(&f, &d, shift, (int32_t *)out, pack->special + row);
    }
}

/* Decodes and packs one block of the first `vectors` SIMD vectors of a panel's columns. `bytes`, the size of an
   encoding, and `careful` are constants in the inlined copies. */
static inline __attribute__((always_inline)) void t_fdpa_narrow_decode_columns(const deficit_decoder *d, size_t bytes,
                                                                               bool careful, size_t vectors,
                                                                               const deficit_block *b, const vi *mask,
                                                                               int32_t *out) {
  int32_t *byte = out + b->length / 2 * 3 * PANEL;
  for (size_t i = 0; i < b->length; i += 2, out += 3 * PANEL, byte += 2 * LANES) {
    const unsigned char *even_code = b->code + i * b->step, *odd_code = even_code + b->step;
    vi even_word = vi_set(0), odd_word = vi_set(0);
    UNROLL for (size_t v = vectors; v-- > 0;) {
      const vi x = deficit_load(d, bytes, even_code + v * LANES * bytes);
      const vi y = deficit_load(d, bytes, odd_code + v * LANES * bytes);
      const t_fdpa_narrow_numbers even = t_fdpa_narrow_decode(d, careful, mask[v], x);
      const t_fdpa_narrow_numbers odd = t_fdpa_narrow_decode(d, careful, mask[v], y);
      const vi negative = t_fdpa_narrow_pair(even.negative, odd.negative);
      int32_t *word = out + v * LANES;
      vi_store(word, t_fdpa_narrow_pair(even.significand, odd.significand));
      vi_store(word + PANEL, t_fdpa_narrow_pair(vi_shift_right(even.byte, 1), vi_shift_right(odd.byte, 1)));
      vi_store(word + 2 * PANEL, vh_subtract(vi_set(0x10001), vi_shift_left(negative, 1)));
      even_word = vi_or(vi_shift_left(even_word, 8), even.byte);
      odd_word = vi_or(vi_shift_left(odd_word, 8), odd.byte);
    }
    vi_store(byte, even_word);
    vi_store(byte + LANES, odd_word);
  }
}

/* Packs one block of a panel. */
static void t_fdpa_narrow_pack_column_block(const smma_fetch *f, const deficit_decoder *d, int32_t *out,
                                            unsigned char *special) {
  const size_t present = smma_lines_present(f->view, f->first, PANEL), vectors = (present + LANES - 1) / LANES;
  uint32_t fetched[DEFICIT_LONGEST * PANEL];
  int32_t greatest[PANEL];
  const deficit_block b = deficit_block_of(f, fetched);
  vi mask[4];
  UNROLL for (size_t v = 0; v < 4; v++) mask[v] = vi_set(-1);
  if (b.code == (const unsigned char *)fetched) {
    for (size_t v = 0; v < 4; v++) mask[v] = deficit_present(present, v);
    memset(out, 0, b.length * t_fdpa_narrow_column_block(1) * PANEL);
    deficit_greatest_careful(d, 4, vectors, &b, greatest, special);
    t_fdpa_narrow_decode_columns(d, 4, true, vectors, &b, mask, out);
    return;
  }
  smma_prefetch_ahead(f->view, b.code, b.length, b.step, PANEL);
  if (deficit_greatest_columns(d, 1, &b, greatest, special))
    t_fdpa_narrow_decode_columns(d, 1, true, 4, &b, mask, out);
  else
    t_fdpa_narrow_decode_columns(d, 1, false, 4, &b, mask, out);
}

static inline void t_fdpa_narrow_pack_columns(const smma_pack *pack) {
  const smma_operation *o = &pack->multiplier->operation;
  const deficit_decoder d = deficit_decoder_of(o, o->b);
  size_t blocks = deficit_blocks(o), length = (size_t)smma_block_of(o);
  smma_fetch f = {pack->multiplier, pack->view, false, pack->first, PANEL, 0, 0, (int)length};
  for (size_t block = 0; block < pack->steps * blocks; block++) {
    unsigned char *out = (unsigned char *)pack->out + block * PANEL * t_fdpa_narrow_column_block(length);
    f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
    t_fdpa_narrow_pack_column_block(&f, &d, (int32_t *)out, pack->special);
  }
}

/* Stores the results d of one row, or c, truncated to D's precision, in two cases: c is so far above the products that
   they truncate to zero (also if c is infinite), or all products are zero and c is low (t_fdpa_is_low). `least` are the
   row's least sums of bytes. */
static __attribute__((noinline)) void t_fdpa_narrow_fix(const t_fdpa_constants *t, const uint8_t *least,
                                                        float *accumulator, const float *d) {
  for (int v = 0; v < 4; v++) {
    const vf c = vf_load(accumulator + v * LANES);
    const vf cut = vf_add(vi_as_float(vi_and(vf_bits(c), vi_set(NARROW_CUT))), vf_set(0)); /* -0 counts as +0 */
    const vi sum = vi_shift_right(vb_pick(vb_load(least), v, vb_picker(v)), 22);
    const vm low = vm_and(vi_less(vi_set(DEFICIT_CERTAIN), sum), t_fdpa_is_low(t, 0, c));
    const vm high = vi_less(vi_set(t->top), vi_shift_right(vi_and(vf_bits(c), vi_set(255 << 23)), 23));
    vf_store(accumulator + v * LANES, vf_select(vm_or(low, high), cut, vf_load(d + v * LANES)));
  }
}

/* Updates the accumulators of ROWS rows by one block. `to_half`: rho is RNE-FP16. */
static inline __attribute__((always_inline)) void t_fdpa_narrow_rows(const t_fdpa_constants *t, const t_fdpa_words *w,
                                                                     int length, bool to_half, const unsigned char *a,
                                                                     const unsigned char *b,
                                                                     const uint8_t (*least)[PANEL],
                                                                     float *accumulator) {
  const int32_t *columns = (const int32_t *)b;
  const vi headroom = vi_set(T_FDPA_HEADROOM << 23);
  vi sum[ROWS][4], deficit[ROWS][4], care[ROWS];
  UNROLL for (int i = 0; i < ROWS; i++) {
    const vb x = vb_load(least[i]), bytes = vb_min(x, w->zero);
    care[i] = vi_set(0);
    if (vb_any_less(w->certain, x) && t_fdpa_has_low_c(t, 0, accumulator + i * PANEL)) care[i] = vi_set(-1);
    UNROLL for (int v = 0; v < 4; v++) {
      vi room = vi_subtract(w->top, t_fdpa_exponent(to_half, vf_load(accumulator + (i * 4 + v) * LANES), w->exponents));
      care[i] = vi_or(care[i], room);
      room = vi_shift_right(vi_min(vi_add(vb_pick(bytes, v, w->picker[v]), headroom), room), 23);
      deficit[i][v] = vi_or(room, vi_shift_left(room, 16));
      sum[i][v] = vi_set(0);
    }
  }
  for (int k = 0; k < length / 2; k++) {
    vi significand[ROWS], row_deficit[ROWS], sign[ROWS];
    UNROLL for (int i = 0; i < ROWS; i++) {
      significand[i] = vi_set((int32_t)*deficit_row_word(a + i * 4, k * 3));
      row_deficit[i] = vi_set((int32_t)*deficit_row_word(a + i * 4, k * 3 + 1));
      sign[i] = vi_set((int32_t)*deficit_row_word(a + i * 4, k * 3 + 2));
    }
    UNROLL for (int v = 0; v < 4; v++) {
      const int32_t *at = columns + k * 3 * PANEL + v * LANES;
      vi y = vi_keep(vi_load(at)), y_deficit = vi_keep(vi_load(at + PANEL));
      vi y_sign = vi_keep(vi_load(at + 2 * PANEL));
      UNROLL for (int i = 0; i < ROWS; i++) {
        vi shift = vh_subtract(y_deficit, vh_subtract(deficit[i][v], row_deficit[i]));
        vi term = vh_shift_right_by(vh_multiply(significand[i], y), shift);
        sum[i][v] = vi_keep(vi_dot2(sum[i][v], term, vi_xor(sign[i], y_sign)));
      }
    }
  }
  UNROLL for (int i = 0; i < ROWS; i++) {
    float *c = accumulator + i * PANEL;
    vf d[4];
    UNROLL for (int v = 0; v < 4; v++) {
      vi scale = vi_add(vi_shift_left(deficit[i][v], 23), vi_subtract(w->scale, w->top));
      vi total = vi_add(sum[i][v], vf_truncate(vf_multiply(vf_load(c + v * LANES), vi_as_float(scale))));
      d[v] = vf_multiply(vi_to_float(total), vi_as_float(vi_subtract(w->one, scale)));
      d[v] = to_half ? vf_round_to_half(d[v]) : vi_as_float(vi_and(vf_bits(d[v]), vi_set(NARROW_CUT)));
      d[v] = t_fdpa_positive_zero(d[v]);
    }
    if (vi_any_negative(care[i])) {
      float results[PANEL];
      UNROLL for (int v = 0; v < 4; v++) vf_store(results + v * LANES, d[v]);
      t_fdpa_narrow_fix(t, least[i], c, results);
    } else {
      UNROLL for (int v = 0; v < 4; v++) vf_store(c + v * LANES, d[v]);
    }
  }
}

static inline __attribute__((always_inline)) void t_fdpa_narrow_panel(const smma_run *r, int length, bool to_half) {
  const smma_operation *o = &r->multiplier->operation;
  const t_fdpa_constants t = t_fdpa_constants_of(o);
  const t_fdpa_words w = t_fdpa_words_of(&t);
  const size_t blocks = deficit_blocks(o), row_bytes = t_fdpa_narrow_row_block((size_t)length);
  for (size_t first = 0; first < r->rows; first += DEFICIT_CHUNK) {
    const size_t rows = deficit_chunk_rows(r, first);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++) {
      const unsigned char *a = (const unsigned char *)r->a + (block * r->packed_rows + first) * row_bytes;
      const unsigned char *b = (const unsigned char *)r->b + block * PANEL * t_fdpa_narrow_column_block((size_t)length);
      deficit_chunk least;
      deficit_compare_rows(length, false, a, length / 2 * 3, row_bytes, r->packed_rows * row_bytes,
                           b + (size_t)length * 6 * PANEL, rows, &least);
      for (size_t row = 0; row < rows; row += ROWS)
        t_fdpa_narrow_rows(&t, &w, length, to_half, deficit_row(a, row_bytes, row), b, &least.of[0][row],
                           (float *)r->accumulator + (first + row) * PANEL);
    }
  }
}

static void t_fdpa_narrow_run_16(const smma_run *r) { t_fdpa_narrow_panel(r, 16, false); }
static void t_fdpa_narrow_run_32(const smma_run *r) { t_fdpa_narrow_panel(r, 32, false); }
static void t_fdpa_narrow_run_to_half_16(const smma_run *r) { t_fdpa_narrow_panel(r, 16, true); }
static void t_fdpa_narrow_run_to_half_32(const smma_run *r) { t_fdpa_narrow_panel(r, 32, true); }

static inline void t_fdpa_narrow_run(const smma_run *r) {
  static void (*const run[2][2])(const smma_run *) = {{t_fdpa_narrow_run_16, t_fdpa_narrow_run_32},
                                                      {t_fdpa_narrow_run_to_half_16, t_fdpa_narrow_run_to_half_32}};
  run[r->multiplier->operation.d == SMMA_F16][smma_block_of(&r->multiplier->operation) == 32](r);
}

#endif
