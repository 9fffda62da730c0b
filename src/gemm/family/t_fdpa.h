/* T-FDPA with F of 23 to 25, ST-FDPA, and the blocks of FP8 through FP16: one truncation a product.

   A product p = a b is exact in binary32: significands have at most 11 bits. Its term, p at F bits below emax, is the
   integer trunc(p 2^(F - emax)), and terms of up to 16 products and c add up in 32 bits but for rare sums, which are
   found by their sign. Exponents are compared first, in bytes: an operand's code is its exponent above the least, plus
   64, and 0 for zero, so that a sum of two codes is below 128 exactly where the product is zero.

   Formats with 8 exponent bits (bf16, tf32) are scaled by 2^-base for each vector and block, where the base is 10 if all
   exponents are usual, and else so that the greatest becomes 0 or -1: codes are 127 plus the exponent then, at least 64.
   A greatest sum of codes that is not above 64 + 127 may come from an exponent that was raised to 64; the core computes
   these. So it does wherever emax leaves [LEAST, GREATEST], within which nothing here overflows or is subnormal. Where
   every product is zero, c is the result.

   Blocks take one of two ways: t_fdpa_rows, which is fast and right for usual operands and knows where it is not, and
   t_fdpa_row_with_care. */
#include "gemm/pack.h"

enum {
  T_FDPA_LEAST = -100,
  T_FDPA_GREATEST = 120,
  T_FDPA_ZERO_CODES = 128, /* sums of codes below have a zero operand */
  T_FDPA_RAISED_CODES = 64 + 127,
  T_FDPA_USUAL_BASE = 10, /* of vectors whose exponents are from -40 to 10: no code of these was raised, and no shift */
  T_FDPA_USUAL_SPAN = 50, /* F - emax for products scaled by bases, at most 25 + 2 * 50, makes a zero one or more */
  F16_LEAST = -14,
  T_FDPA_CHUNK = 32, /* rows whose accumulators stay in the first cache from block to block */
  T_FDPA_HALF = 16   /* products whose terms add up in 32 bits */
};

/* What is packed for a block of L products. Rows: L values, L codes, the base. Columns, PANEL of them: L vectors of
   values; L / 4 vectors of words, each four codes of one column; the bases. A base is what must be added to the
   exponents that codes mean. */
static inline size_t t_fdpa_row_block(size_t length) { return length * 5 + 4; }
static inline size_t t_fdpa_column_block(size_t length) { return length * 5 + 4; }

static size_t t_fdpa_blocks(const smma_operation *o) { return (size_t)smma_blocks_per_step(o); }

static size_t t_fdpa_row_bytes(const smma_operation *o) {
  return t_fdpa_blocks(o) * t_fdpa_row_block((size_t)smma_block_of(o));
}

static size_t t_fdpa_column_bytes(const smma_operation *o) {
  return t_fdpa_blocks(o) * t_fdpa_column_block((size_t)smma_block_of(o));
}

static bool t_fdpa_has_wide_exponents(smma_format_id format) { return smma_encoding_of(format).exponent_bits == 8; }

static bool t_fdpa_takes(const smma_operation *o) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  switch (o->rule.algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA: break;
    default: return false;
  }
  return p->alignment_bits >= 23 && p->alignment_bits <= 25 && smma_block_of(o) <= 32;
}

/* Values, codes and bases of `vectors` vectors of one block. */
typedef struct {
  float value[SMMA_MOST_PRODUCTS * SMMA_MOST_VECTORS];
  uint8_t code[SMMA_MOST_PRODUCTS * SMMA_MOST_VECTORS];
  int32_t base[SMMA_MOST_VECTORS];
} t_fdpa_packed;

/* The base, as an exponent field, of a vector whose exponent fields lie between these. */
static inline uint8_t t_fdpa_base_of(uint8_t least, uint8_t greatest) {
  const uint8_t usual = 127 + T_FDPA_USUAL_BASE;
  if (greatest <= usual && (greatest == 0 || least >= usual - T_FDPA_USUAL_SPAN)) return usual;
  return greatest == usual ? usual + 1 : greatest;
}

/* Exponent fields to codes, values to what these mean, for formats with 8 exponent bits. */
static void t_fdpa_rebase(size_t length, size_t vectors, t_fdpa_packed *b) {
  uint8_t greatest[SMMA_MOST_VECTORS] = {0}, least[SMMA_MOST_VECTORS];
  float unit[SMMA_MOST_VECTORS];
  memset(least, 255, sizeof least);
  for (size_t i = 0; i < length; i++)
    for (size_t v = 0; v < vectors; v++) {
      uint8_t field = b->code[i * vectors + v];
      greatest[v] = field > greatest[v] ? field : greatest[v];
      least[v] = (uint8_t)(field - 1) < least[v] ? (uint8_t)(field - 1) : least[v]; /* 255 for zero */
    }
  for (size_t v = 0; v < vectors; v++) {
    greatest[v] = t_fdpa_base_of((uint8_t)(least[v] + 1), greatest[v]);
    b->base[v] = greatest[v] - 127;
    unit[v] = greatest[v] == 254 ? 0x1p-127f : smma_power_of_two(127 - greatest[v]);
  }
  for (size_t i = 0; i < length; i++)
    for (size_t v = 0; v < vectors; v++) {
      uint8_t field = b->code[i * vectors + v];
      int code = 127 - greatest[v] + field;
      b->value[i * vectors + v] *= unit[v];
      b->code[i * vectors + v] = (uint8_t)(field == 0 ? 0 : code < 64 ? 64 : code);
    }
}

/* Exponents of the scale factors, which the base adds to every product's. */
static void t_fdpa_take_scales(const smma_fetch *f, t_fdpa_packed *b, unsigned char *special) {
  const smma_plan *p = f->plan;
  size_t block = (size_t)p->operation.scale_block, at = (size_t)(f->block * f->length);
  for (size_t v = 0; v < f->vectors; v++) {
    smma_number scale[SMMA_MAXIMUM_K];
    size_t present = f->of_a ? p->with.m : p->with.n;
    b->base[v] = 0;
    if (f->first + v >= present) continue;
    smma_decode_scales(p, f->of_a, f->first + v, f->step * (size_t)p->operation.k + at, block, scale);
    if (scale[0].kind == SMMA_FINITE)
      b->base[v] = scale[0].exponent;
    else
      special[v] = 1;
  }
}

/* Exponent fields as FP16 would have them, in which subnormals of E4M3 are normal. */
static void t_fdpa_widen_to_f16(size_t count, t_fdpa_packed *b) {
  for (size_t i = 0; i < count; i++) {
    uint32_t bits;
    int field;
    memcpy(&bits, &b->value[i], sizeof bits);
    field = (int)(bits >> 23 & 255) - 112;
    b->code[i] = (uint8_t)(b->code[i] == 0 ? 0 : field > 1 ? field : 1);
  }
}

static void t_fdpa_decode(const smma_fetch *f, const smma_decoder *d, smma_format_id format, t_fdpa_packed *b,
                          unsigned char *special) {
  uint32_t code[SMMA_MOST_PRODUCTS * SMMA_MOST_VECTORS];
  size_t length = (size_t)f->length, count = length * f->vectors;
  smma_fetch_codes(f, code);
  smma_decode_codes(d, length, f->vectors, code, b->value, b->code, special);
  if (t_fdpa_has_wide_exponents(format)) {
    t_fdpa_rebase(length, f->vectors, b);
    return;
  }
  if (f->plan->operation.rule.algorithm == SMMA_FP8_BY_FP16) t_fdpa_widen_to_f16(count, b);
  for (size_t i = 0; i < count; i++) b->code[i] = (uint8_t)(b->code[i] ? b->code[i] + 63 : 0);
  if (f->plan->operation.scale_block)
    t_fdpa_take_scales(f, b, special);
  else
    memset(b->base, 0, f->vectors * sizeof b->base[0]);
}

/* The codes of one of `vectors` vectors, which lie that far apart. */
static void t_fdpa_gather_codes(const uint8_t *code, size_t length, size_t vectors, unsigned char *out) {
  for (size_t i = 0; i < length; i++) out[i] = code[i * vectors];
}

/* Codes of PANEL columns, four of each column to a word. */
static void t_fdpa_interleave_codes(const uint8_t *restrict code, size_t length, unsigned char *restrict out) {
  uint32_t word[PANEL];
  for (size_t i = 0; i < length; i += 4, code += 4 * PANEL, out += sizeof word) {
    for (size_t v = 0; v < PANEL; v++)
      word[v] = code[v] | (uint32_t)code[PANEL + v] << 8 | (uint32_t)code[2 * PANEL + v] << 16 |
                (uint32_t)code[3 * PANEL + v] << 24;
    memcpy(out, word, sizeof word);
  }
}

static void t_fdpa_pack_rows(const smma_pack *pack) {
  const smma_operation *o = &pack->plan->operation;
  const smma_decoder d = smma_decoder_of(o->a);
  size_t blocks = t_fdpa_blocks(o), length = (size_t)smma_block_of(o), bytes = t_fdpa_row_block(length);
  smma_fetch f = {pack->plan, true, 0, 16, 0, 0, (int)length};
  t_fdpa_packed b;
  for (size_t block = 0; block < pack->steps * blocks; block++)
    for (size_t row = 0; row < pack->count; row += f.vectors) {
      unsigned char *out = (unsigned char *)pack->out + (block * pack->count + row) * bytes;
      f.first = pack->first + row, f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
      t_fdpa_decode(&f, &d, o->a, &b, pack->special + row);
      for (size_t v = 0; v < f.vectors; v++, out += bytes) {
        float *value = (float *)out;
        for (size_t i = 0; i < length; i++) value[i] = b.value[i * f.vectors + v];
        t_fdpa_gather_codes(&b.code[v], length, f.vectors, out + length * 4);
        memcpy(out + length * 5, &b.base[v], 4);
      }
    }
}

static void t_fdpa_pack_columns(const smma_pack *pack) {
  const smma_operation *o = &pack->plan->operation;
  const smma_decoder d = smma_decoder_of(o->b);
  size_t blocks = t_fdpa_blocks(o), length = (size_t)smma_block_of(o), count = length * PANEL;
  smma_fetch f = {pack->plan, false, pack->first, PANEL, 0, 0, (int)length};
  t_fdpa_packed b;
  for (size_t block = 0; block < pack->steps * blocks; block++) {
    unsigned char *out = (unsigned char *)pack->out + block * PANEL * t_fdpa_column_block(length);
    f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
    t_fdpa_decode(&f, &d, o->b, &b, pack->special);
    memcpy(out, b.value, count * 4);
    t_fdpa_interleave_codes(b.code, length, out + count * 4);
    memcpy(out + count * 5, b.base, PANEL * 4);
  }
}

/* What does not change within a run. */
typedef struct {
  int code_bias;      /* a sum of codes plus this is a biased exponent */
  int least_exponent; /* biased: below, the core computes */
  int alignment_bits; /* F */
  int length;         /* of a block */
  bool based, wide, to_half;
} t_fdpa_constants;

static t_fdpa_constants t_fdpa_constants_of(const smma_operation *o) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  bool by_f16 = o->rule.algorithm == SMMA_FP8_BY_FP16;
  int least_a = smma_minimum_exponent(smma_encoding_of(by_f16 ? SMMA_FORMAT_f16 : o->a));
  int least_b = smma_minimum_exponent(smma_encoding_of(by_f16 ? SMMA_FORMAT_f16 : o->b));
  bool wide = t_fdpa_has_wide_exponents(o->a);
  t_fdpa_constants c;
  c.code_bias = 127 + (wide ? -2 * 127 : least_a + least_b - 2 * 64);
  c.least_exponent = 127 + (p->zero_exponent > T_FDPA_LEAST ? p->zero_exponent : T_FDPA_LEAST);
  c.alignment_bits = p->alignment_bits;
  c.length = smma_block_of(o);
  c.based = wide || o->scale_block;
  c.wide = wide;
  c.to_half = p->output == SMMA_FORMAT_f16;
  return c;
}

/* The exponent that c has in FP16, whose subnormals are normal in binary32; 0 for zero. */
static inline vi t_fdpa_half_exponent(vi exponent) {
  vm is_zero = vi_equal(exponent, vi_set(0));
  return vi_select(is_zero, exponent, vi_max(exponent, vi_set(127 + F16_LEAST)));
}

/* d is a sum rounded toward zero; where bits were cut, its last one is set. */
static inline vf t_fdpa_remember_cut(vf d, vi sum) {
  vm exact = vi_equal(vf_truncate(d), sum);
  return vi_as_float(vi_select(exact, vf_bits(d), vi_or(vf_bits(d), vi_set(1))));
}

static inline int32_t t_fdpa_word(const unsigned char *at) {
  int32_t x;
  memcpy(&x, at, sizeof x);
  return x;
}

/* The greatest sum of codes of one row with the v-th LANES columns of the panel. */
static vi t_fdpa_compare_one(int length, const unsigned char *row_code, const unsigned char *column_code, int v) {
  vb codes = vb_zero();
  for (int k = 0; k < length; k += 4)
    codes =
        vb_max(codes, vb_add(vb_repeat(t_fdpa_word(row_code + k)), vb_load(column_code + k * PANEL + v * LANES * 4)));
  return vb_greatest_of_four(codes);
}

/* One row, one panel, one block of any operands: a lane that this cannot compute goes to the core. */
static void t_fdpa_row_with_care(const smma_run *r, const t_fdpa_constants *t, const unsigned char *a,
                                 const unsigned char *b, size_t row, size_t block) {
  const int length = t->length;
  const bool based = t->based, wide = t->wide, to_half = t->to_half;
  const float *row_value = (const float *)a, *column_value = (const float *)b;
  const int32_t *column_base = (const int32_t *)(b + (size_t)length * PANEL * 5);
  const int F = t->alignment_bits;
  const bool checked = length >= T_FDPA_HALF; /* the sum may leave 32 bits */
  float *accumulator = (float *)r->accumulator + row * PANEL;
  vf scale[4], unit[4];
  vi sum[4], aligned_c[4];
  vm zero[4], rare[4];
  for (int v = 0; v < 4; v++) {
    vf c = vf_load(accumulator + v * LANES), c_scale;
    vi code = t_fdpa_compare_one(length, a + length * 4, b + length * PANEL * 4, v), base, emax, c_exponent;
    vi exponent = vi_add(code, vi_set(t->code_bias));
    c_exponent = vi_shift_right(vi_shift_left(vf_bits(c), 1), 24);
    if (to_half) c_exponent = t_fdpa_half_exponent(c_exponent);
    if (based) {
      base = vi_add(vi_set(t_fdpa_word(a + length * 5)), vi_load(column_base + v * LANES));
      exponent = vi_add(exponent, base);
    }
    emax = vi_max(exponent, c_exponent);
    zero[v] = vi_less(code, vi_set(T_FDPA_ZERO_CODES));
    rare[v] = vi_less(vi_set(127 + T_FDPA_GREATEST), emax);
    if (based || to_half) {
      vm low = vi_less(emax, vi_set(t->least_exponent));
      if (wide) low = vm_or(low, vi_less(code, vi_set(T_FDPA_RAISED_CODES + 1)));
      rare[v] = vm_or(rare[v], vm_and_not(low, zero[v]));
    }
    c_scale = vi_as_float(vi_shift_left(vi_subtract(vi_set(254 + F), emax), 23));
    aligned_c[v] = vf_truncate(vf_multiply(c, c_scale));
    unit[v] = vi_as_float(vi_subtract(vi_set(254 << 23), vf_bits(c_scale)));
    scale[v] = c_scale;
    if (based) {
      vi biased = vi_subtract(vi_add(base, vi_set(254 + F)), emax);
      scale[v] = vi_as_float(vi_shift_left(vi_max(biased, vi_set(0)), 23));
    }
    sum[v] = checked ? vi_set(0) : aligned_c[v];
  }
  for (int k = 0; k < length; k++) {
    vf x = vf_set(row_value[k]);
    for (int v = 0; v < 4; v++) {
      vf p = vf_multiply(x, vf_load(column_value + (k * 4 + v) * LANES));
      vi term = vf_truncate(vf_multiply(p, scale[v]));
      if (k < T_FDPA_HALF)
        sum[v] = vi_keep(vi_add(sum[v], term));
      else
        aligned_c[v] = vi_keep(vi_add(aligned_c[v], term));
    }
  }
  for (int v = 0; v < 4; v++) {
    vf c = vf_load(accumulator + v * LANES), d;
    vi total = checked ? vi_add(sum[v], aligned_c[v]) : sum[v];
    if (checked) {
      vi overflow = vi_and(vi_xor(total, sum[v]), vi_xor(total, aligned_c[v]));
      rare[v] = vm_or(rare[v], vi_less(overflow, vi_set(0)));
    }
    d = vi_to_float(total);
    if (to_half) d = t_fdpa_remember_cut(d, total);
    d = vf_multiply(d, unit[v]);
    if (to_half) d = vf_round_to_half(d);
    d = vf_add_where(zero[v], c, vf_set(0), d);
    vf_store(accumulator + v * LANES, d);
    if (vm_bits(rare[v])) {
      float start[LANES];
      vf_store(start, c);
      smma_compute_lanes(r, row, (size_t)v * LANES, block, vm_bits(rare[v]), start, accumulator + v * LANES);
    }
  }
}

/* The greatest sum of codes of ROWS rows, whose codes start at `row_code`, with every column of the panel. */
static inline __attribute__((always_inline)) void t_fdpa_compare(int length, const unsigned char *row_code,
                                                                 size_t row_bytes, const unsigned char *column_code,
                                                                 vi greatest[ROWS][4]) {
  vb codes[ROWS][4];
  UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < 4; v++) codes[i][v] = vb_zero();
  for (int k = 0; k < length; k += 4) {
    vb row[ROWS];
    UNROLL for (int i = 0; i < ROWS; i++) row[i] = vb_repeat(t_fdpa_word(row_code + (size_t)i * row_bytes + k));
    UNROLL for (int v = 0; v < 4; v++) {
      vb column = vb_keep(vb_load(column_code + k * PANEL + v * LANES * 4));
      UNROLL for (int i = 0; i < ROWS; i++) codes[i][v] = vb_max(codes[i][v], vb_add(row[i], column));
    }
  }
  UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < 4; v++) greatest[i][v] =
      vb_greatest_of_four(codes[i][v]);
}

static __attribute__((noinline)) void t_fdpa_rows_with_care(const smma_run *r, const t_fdpa_constants *t,
                                                            const unsigned char *a, const unsigned char *b, size_t row,
                                                            size_t block) {
  for (size_t i = 0; i < ROWS; i++)
    t_fdpa_row_with_care(r, t, a + i * t_fdpa_row_block((size_t)t->length), b, row + i, block);
}

/* F - emax; where it is negative, or `*care` becomes so, the row needs care. */
static inline __attribute__((always_inline)) vi t_fdpa_room(const t_fdpa_constants *t, bool to_half, bool low, vi c,
                                                            vi code, vi bias, vi *care) {
  vi c_exponent = vi_shift_right(vi_shift_left(c, 1), 24), exponent = vi_add(code, bias), emax;
  if (to_half) c_exponent = t_fdpa_half_exponent(c_exponent);
  emax = vi_max(exponent, c_exponent);
  if (low) {
    vi under = vi_subtract(emax, vi_set(t->least_exponent));
    *care = vi_or(*care, vi_and_not(under, vi_subtract(code, vi_set(T_FDPA_ZERO_CODES))));
  }
  return vi_subtract(vi_set(127 + t->alignment_bits), emax);
}

/* sum += the terms of products first..last - 1; `shift` adds F - emax to exponent fields. */
static inline __attribute__((always_inline)) void t_fdpa_add(int first, int last, const unsigned char *a,
                                                             size_t row_bytes, const float *column_value,
                                                             vi shift[ROWS][4], vi sum[ROWS][4]) {
  for (int k = first; k < last; k++) {
    vf x[ROWS];
    UNROLL for (int i = 0; i < ROWS; i++) x[i] = vf_set(((const float *)(a + (size_t)i * row_bytes))[k]);
    UNROLL for (int v = 0; v < 4; v++) {
      vf y = vf_keep(vf_load(column_value + (k * 4 + v) * LANES));
      UNROLL for (int i = 0; i < ROWS; i++) {
        vi scaled = vi_add(vf_bits(vf_multiply(x[i], y)), shift[i][v]);
        sum[i][v] = vi_keep(vi_add(sum[i][v], vf_truncate(vi_as_float(scaled))));
      }
    }
  }
}

/* ROWS rows, one panel, one block of operands as they usually are: emax at most F, so that scaling is an addition to
   the exponent field; a product that is zero becomes a number far below one. Rows with anything else are left to
   t_fdpa_row_with_care. `length`, `based` (bases differ), `wide` (all bases are the usual one) and `to_half` (rho is
   RNE-FP16) are constants where this is inlined. Bit 0 of `shift` says that every product is zero: the sum, which it
   may change, is not used then. */
static inline __attribute__((always_inline)) void t_fdpa_rows(const smma_run *r, const t_fdpa_constants *t, int length,
                                                              bool based, bool wide, bool to_half,
                                                              const unsigned char *a, const unsigned char *b,
                                                              size_t row, size_t block) {
  const size_t row_bytes = t_fdpa_row_block((size_t)length);
  const int32_t *column_base = (const int32_t *)(b + (size_t)length * PANEL * 5);
  const bool checked = length >= T_FDPA_HALF; /* the sum may leave 32 bits */
  const int usual = wide ? 2 * T_FDPA_USUAL_BASE : 0;
  float *accumulator = (float *)r->accumulator + row * PANEL;
  vi shift[ROWS][4], sum[ROWS][4], more[ROWS][4], care = vi_set(0);
  vf d[ROWS][4];
  t_fdpa_compare(length, a + length * 4, row_bytes, b + (size_t)length * PANEL * 4, shift);
  UNROLL for (int i = 0; i < ROWS; i++) {
    vi row_base = vi_set(t_fdpa_word(a + (size_t)i * row_bytes + length * 5));
    UNROLL for (int v = 0; v < 4; v++) {
      vi code = shift[i][v], bias = vi_set(t->code_bias + usual), base = vi_set(usual), room;
      if (based) {
        base = vi_add(row_base, vi_load(column_base + v * LANES));
        bias = vi_add(bias, base);
      }
      room = t_fdpa_room(t, to_half, based || to_half, vf_bits(vf_load(accumulator + (i * 4 + v) * LANES)), code, bias,
                         &care);
      care = vi_or(care, room);
      if (based || wide) care = vi_or(care, room = vi_add(room, base));
      room = vi_shift_left(room, 23);
      shift[i][v] = vi_or_where(vi_less(code, vi_set(T_FDPA_ZERO_CODES)), room, vi_set(1), room);
      sum[i][v] = more[i][v] = vi_set(0);
    }
  }
  if (vi_any_negative(care)) {
    t_fdpa_rows_with_care(r, t, a, b, row, block);
    return;
  }
  t_fdpa_add(0, length < T_FDPA_HALF ? length : T_FDPA_HALF, a, row_bytes, (const float *)b, shift, sum);
  if (length > T_FDPA_HALF) t_fdpa_add(T_FDPA_HALF, length, a, row_bytes, (const float *)b, shift, more);
  UNROLL for (int i = 0; i < ROWS; i++) {
    vi row_base = vi_set(t_fdpa_word(a + (size_t)i * row_bytes + length * 5));
    UNROLL for (int v = 0; v < 4; v++) {
      vf c = vf_load(accumulator + (i * 4 + v) * LANES);
      vi total, rest = more[i][v], c_shift = shift[i][v];
      if (based) {
        vi base = vi_add(row_base, vi_load(column_base + v * LANES));
        c_shift = vi_subtract(c_shift, vi_shift_left(base, 23));
      }
      if (wide) c_shift = vi_subtract(c_shift, vi_set(usual << 23));
      rest = vi_add(rest, vf_truncate(vi_as_float(vi_add(vf_bits(c), c_shift))));
      total = vi_add(sum[i][v], rest);
      if (checked) care = vi_or(care, vi_overflow(total, sum[i][v], rest));
      d[i][v] = vi_to_float(total);
      if (to_half) d[i][v] = t_fdpa_remember_cut(d[i][v], total);
      d[i][v] = vf_multiply(d[i][v], vi_as_float(vi_subtract(vi_set(127 << 23), c_shift)));
      if (to_half) d[i][v] = vf_round_to_half(d[i][v]);
      d[i][v] = vf_add_where(vi_has(shift[i][v], vi_set(1)), c, vf_set(0), d[i][v]);
    }
  }
  if (checked && vi_any_negative(care)) {
    t_fdpa_rows_with_care(r, t, a, b, row, block);
    return;
  }
  UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < 4; v++)
      vf_store(accumulator + (i * 4 + v) * LANES, d[i][v]);
}

/* Whether all columns, or ROWS rows, have the usual base. */
static inline bool t_fdpa_columns_are_usual(const int32_t *base) {
  vi differs = vi_set(0);
  for (int v = 0; v < 4; v++) differs = vi_or(differs, vi_xor(vi_load(base + v * LANES), vi_set(T_FDPA_USUAL_BASE)));
  return !vm_bits(vi_has(differs, differs));
}

static inline bool t_fdpa_rows_are_usual(const unsigned char *base, size_t row_bytes) {
  for (size_t i = 0; i < ROWS; i++)
    if (t_fdpa_word(base + i * row_bytes) != T_FDPA_USUAL_BASE) return false;
  return true;
}

static inline __attribute__((always_inline)) void t_fdpa_panel(const smma_run *r, int length, bool based, bool wide,
                                                               bool to_half) {
  const smma_operation *o = &r->plan->operation;
  const t_fdpa_constants t = t_fdpa_constants_of(o);
  const size_t blocks = t_fdpa_blocks(o), row_bytes = t_fdpa_row_block((size_t)length), bases = (size_t)length * 5;
  for (size_t chunk = 0; chunk < r->rows; chunk += T_FDPA_CHUNK) {
    size_t end = chunk + T_FDPA_CHUNK < r->rows ? chunk + T_FDPA_CHUNK : r->rows;
    for (size_t block = r->first * blocks; block < r->last * blocks; block++) {
      const unsigned char *a = (const unsigned char *)r->a + (block * r->rows + chunk) * row_bytes;
      const unsigned char *b = (const unsigned char *)r->b + block * PANEL * t_fdpa_column_block((size_t)length);
      bool usual = !wide || t_fdpa_columns_are_usual((const int32_t *)(b + bases * PANEL));
      for (size_t row = chunk; row < end; row += ROWS, a += ROWS * row_bytes)
        if (usual && (!wide || t_fdpa_rows_are_usual(a + bases, row_bytes)))
          t_fdpa_rows(r, &t, length, based, wide, to_half, a, b, row, block);
        else
          t_fdpa_rows_with_care(r, &t, a, b, row, block);
    }
  }
}

static void t_fdpa_run(const smma_run *r) {
  const smma_operation *o = &r->plan->operation;
  int length = smma_block_of(o);
  bool wide = t_fdpa_has_wide_exponents(o->a), to_half = o->rule.with.t_fdpa.output == SMMA_FORMAT_f16;
  if (wide) switch (length) {
      case 4: t_fdpa_panel(r, 4, false, true, false); break;
      case 8: t_fdpa_panel(r, 8, false, true, false); break;
      default: t_fdpa_panel(r, 16, false, true, false); break;
    }
  else if (o->scale_block)
    t_fdpa_panel(r, 32, true, false, false);
  else if (to_half)
    t_fdpa_panel(r, length, false, false, true);
  else
    switch (length) {
      case 4: t_fdpa_panel(r, 4, false, false, false); break;
      case 8: t_fdpa_panel(r, 8, false, false, false); break;
      case 16: t_fdpa_panel(r, 16, false, false, false); break;
      default: t_fdpa_panel(r, 32, false, false, false); break;
    }
}

static const smma_kernel_family t_fdpa_family = {
    t_fdpa_takes,        PANEL,      t_fdpa_row_bytes,     t_fdpa_column_bytes, t_fdpa_pack_rows,
    t_fdpa_pack_columns, t_fdpa_run, SMMA_MODE_TOWARD_ZERO};
