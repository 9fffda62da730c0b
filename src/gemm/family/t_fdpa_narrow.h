/* T-FDPA with F = 13 (FP8 on Ada and Hopper): terms in 16 bits, two to a lane.

   The significand of a product, a multiple of 2^-6 below 4, times 2^13 fits 15 bits and is an exact product of two
   integers; shifting it right by emax - e truncates. Signs are applied, and pairs added, by one multiplication with
   +1 and -1. Everything adds up exactly in 32 bits, and as binary32, whose lowest 10 bits RZ-E8M13 clears. Exponents
   are compared, and zeros told, by codes as in t_fdpa.h. The exponent of a zero, -21 or less, does not matter: terms of
   these formats and FP16 are multiples of 2^-32, which F = 13 does not cut at such an emax. */
enum { NARROW_BITS = 13, NARROW_SIGN = 0xfffe /* turns +1 and -1 of 16 bits into each other */ };

static bool t_fdpa_narrow_takes(const smma_operation *o) {
  return o->rule.algorithm == SMMA_T_FDPA && o->rule.with.t_fdpa.alignment_bits == NARROW_BITS &&
         smma_encoding_of(o->a).bits == 8 && smma_encoding_of(o->b).bits == 8 && smma_block_of(o) % 2 == 0 &&
         smma_block_of(o) <= 32;
}

/* What is packed for a block of L products. Rows: for each pair of products its significands, codes and sign masks, two
   to a word; then L codes. Columns: for each pair the same of PANEL columns, signs as +1 or -1; then codes as in
   t_fdpa.h. */
static inline size_t t_fdpa_narrow_row_block(size_t length) { return length * 7; }
static inline size_t t_fdpa_narrow_column_block(size_t length) { return length * 7; }

static size_t t_fdpa_narrow_row_bytes(const smma_operation *o) {
  return t_fdpa_blocks(o) * t_fdpa_narrow_row_block((size_t)smma_block_of(o));
}

static size_t t_fdpa_narrow_column_bytes(const smma_operation *o) {
  return t_fdpa_blocks(o) * t_fdpa_narrow_column_block((size_t)smma_block_of(o));
}

/* Significands as integers with the format's fraction bits, codes, and signs. */
typedef struct {
  uint32_t significand[SMMA_MOST_PRODUCTS * SMMA_MOST_VECTORS], negative[SMMA_MOST_PRODUCTS * SMMA_MOST_VECTORS];
  uint8_t code[SMMA_MOST_PRODUCTS * SMMA_MOST_VECTORS];
} t_fdpa_narrow_packed;

static void t_fdpa_narrow_decode(const smma_fetch *f, const smma_decoder *d, t_fdpa_narrow_packed *b,
                                 unsigned char *special) {
  uint32_t code[SMMA_MOST_PRODUCTS * SMMA_MOST_VECTORS];
  float value[SMMA_MOST_PRODUCTS * SMMA_MOST_VECTORS];
  size_t count = (size_t)f->length * f->vectors;
  smma_fetch_codes(f, code);
  smma_decode_codes(d, (size_t)f->length, f->vectors, code, value, b->code, special);
  for (size_t i = 0; i < count; i++) {
    uint32_t fields = code[i] & d->fields_mask, field = fields >> d->fraction_bits;
    uint32_t fraction = fields & ((1u << d->fraction_bits) - 1);
    uint32_t significand = fraction | (uint32_t)(field != 0) << d->fraction_bits;
    b->significand[i] = b->code[i] ? significand : 0;
    b->negative[i] = code[i] >> d->sign_at & 1;
    b->code[i] = (uint8_t)(b->code[i] ? b->code[i] + 63 : 0);
  }
}

static inline uint32_t t_fdpa_narrow_pair(uint32_t even, uint32_t odd) { return (even & 0xffff) | odd << 16; }

static void t_fdpa_narrow_pack_rows(const smma_pack *pack) {
  const smma_operation *o = &pack->plan->operation;
  const smma_decoder d = smma_decoder_of(o->a);
  size_t blocks = t_fdpa_blocks(o), length = (size_t)smma_block_of(o), bytes = t_fdpa_narrow_row_block(length);
  int fraction_bits = smma_encoding_of(o->a).fraction_bits + smma_encoding_of(o->b).fraction_bits;
  smma_fetch f = {pack->plan, true, 0, 16, 0, 0, (int)length};
  t_fdpa_narrow_packed b;
  for (size_t block = 0; block < pack->steps * blocks; block++)
    for (size_t row = 0; row < pack->count; row += f.vectors) {
      unsigned char *out = (unsigned char *)pack->out + (block * pack->count + row) * bytes;
      f.first = pack->first + row, f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
      t_fdpa_narrow_decode(&f, &d, &b, pack->special + row);
      for (size_t v = 0; v < f.vectors; v++, out += bytes) {
        uint32_t *word = (uint32_t *)out;
        for (size_t i = 0; i < length; i += 2) {
          size_t even = i * f.vectors + v, odd = even + f.vectors;
          uint32_t significands = t_fdpa_narrow_pair(b.significand[even], b.significand[odd]);
          *word++ = significands << (NARROW_BITS - fraction_bits);
          *word++ = t_fdpa_narrow_pair(b.code[even], b.code[odd]);
          *word++ = t_fdpa_narrow_pair(b.negative[even] * NARROW_SIGN, b.negative[odd] * NARROW_SIGN);
        }
        t_fdpa_gather_codes(&b.code[v], length, f.vectors, (unsigned char *)word);
      }
    }
}

static void t_fdpa_narrow_pack_columns(const smma_pack *pack) {
  const smma_operation *o = &pack->plan->operation;
  const smma_decoder d = smma_decoder_of(o->b);
  size_t blocks = t_fdpa_blocks(o), length = (size_t)smma_block_of(o);
  smma_fetch f = {pack->plan, false, pack->first, PANEL, 0, 0, (int)length};
  t_fdpa_narrow_packed b;
  for (size_t block = 0; block < pack->steps * blocks; block++) {
    uint32_t *word = (uint32_t *)((unsigned char *)pack->out + block * PANEL * t_fdpa_narrow_column_block(length));
    f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
    t_fdpa_narrow_decode(&f, &d, &b, pack->special);
    for (size_t i = 0; i < length; i += 2, word += 3 * PANEL)
      for (size_t v = 0; v < PANEL; v++) {
        size_t even = i * PANEL + v, odd = even + PANEL;
        word[v] = t_fdpa_narrow_pair(b.significand[even], b.significand[odd]);
        word[PANEL + v] = t_fdpa_narrow_pair(b.code[even], b.code[odd]);
        word[2 * PANEL + v] = t_fdpa_narrow_pair(1 - 2 * b.negative[even], 1 - 2 * b.negative[odd]);
      }
    t_fdpa_interleave_codes(b.code, length, (unsigned char *)word);
  }
}

/* `d` holds the results of ROWS rows, right where emax is in its window; the core computes the others. */
static __attribute__((noinline)) void t_fdpa_narrow_fix(const smma_run *r, const t_fdpa_constants *t, bool to_half,
                                                        const int32_t *code, size_t row, size_t block, float *d) {
  float *accumulator = (float *)r->accumulator + row * PANEL;
  for (size_t i = 0; i < ROWS * PANEL; i++) {
    uint32_t bits;
    int c_exponent, emax;
    memcpy(&bits, accumulator + i, sizeof bits);
    c_exponent = (int)(bits >> 23 & 255);
    if (to_half && c_exponent && c_exponent < 127 + F16_LEAST) c_exponent = 127 + F16_LEAST;
    emax = code[i] + t->code_bias > c_exponent ? code[i] + t->code_bias : c_exponent;
    if (emax > 127 + T_FDPA_GREATEST)
      smma_compute_lanes(r, row + i / PANEL, i % PANEL, block, 1, accumulator + i, d + i);
  }
  memcpy(accumulator, d, ROWS * PANEL * sizeof *d);
}

/* ROWS rows, one panel, one block. `to_half`: rho is RNE-FP16. */
static inline __attribute__((always_inline)) void t_fdpa_narrow_rows(const smma_run *r, const t_fdpa_constants *t,
                                                                     int length, bool to_half, const unsigned char *a,
                                                                     const unsigned char *b, size_t row, size_t block) {
  const size_t row_bytes = t_fdpa_narrow_row_block((size_t)length);
  const int32_t *columns = (const int32_t *)b;
  float *accumulator = (float *)r->accumulator + row * PANEL;
  vi code[ROWS][4], sum[ROWS][4], exponent[ROWS][4], rare = vi_set(0);
  t_fdpa_compare(length, a + length * 6, row_bytes, b + (size_t)length * PANEL * 6, code);
  UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < 4; v++) {
    vi c = vf_bits(vf_load(accumulator + (i * 4 + v) * LANES)), emax;
    vi c_exponent = vi_shift_right(vi_shift_left(c, 1), 24);
    if (to_half) c_exponent = t_fdpa_half_exponent(c_exponent);
    emax = vi_max(code[i][v], vi_subtract(c_exponent, vi_set(t->code_bias)));
    rare = vi_or(rare, vi_subtract(vi_set(127 + T_FDPA_GREATEST - t->code_bias), emax));
    exponent[i][v] = vi_or(emax, vi_shift_left(emax, 16));
    sum[i][v] = vi_set(0);
  }
  for (int k = 0; k < length / 2; k++) {
    vi significand[ROWS], row_code[ROWS], sign[ROWS];
    UNROLL for (int i = 0; i < ROWS; i++) {
      const int32_t *word = (const int32_t *)(a + (size_t)i * row_bytes) + k * 3;
      significand[i] = vi_set(word[0]), row_code[i] = vi_set(word[1]), sign[i] = vi_set(word[2]);
    }
    UNROLL for (int v = 0; v < 4; v++) {
      const int32_t *at = columns + k * 3 * PANEL + v * LANES;
      vi y = vi_keep(vi_load(at)), y_code = vi_keep(vi_load(at + PANEL));
      vi y_sign = vi_keep(vi_load(at + 2 * PANEL));
      UNROLL for (int i = 0; i < ROWS; i++) {
        vi shift = vh_subtract(vh_subtract(exponent[i][v], row_code[i]), y_code);
        vi term = vh_shift_right_by(vh_multiply(significand[i], y), shift);
        sum[i][v] = vi_keep(vi_dot2(sum[i][v], term, vi_xor(sign[i], y_sign)));
      }
    }
  }
  UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < 4; v++) {
    vf c = vf_load(accumulator + (i * 4 + v) * LANES), scale, d;
    vi emax = vi_and(exponent[i][v], vi_set(0xffff));
    scale = vi_as_float(vi_shift_left(vi_subtract(vi_set(254 + NARROW_BITS - t->code_bias), emax), 23));
    d = vi_to_float(vi_add(sum[i][v], vf_truncate(vf_multiply(c, scale))));
    d = vf_multiply(d, vi_as_float(vi_subtract(vi_set(254 << 23), vf_bits(scale))));
    if (to_half) {
      d = vf_round_to_half(d);
    } else { /* c may only now become a zero, whose sign the addition sees to */
      d = vi_as_float(vi_and(vf_bits(d), vi_set(~0x3ff)));
      c = vi_as_float(vi_and(vf_bits(c), vi_set(~0x3ff)));
    }
    d = vf_add_where(vi_less(code[i][v], vi_set(T_FDPA_ZERO_CODES)), c, vf_set(0), d);
    sum[i][v] = vf_bits(d);
  }
  if (vi_any_negative(rare)) {
    float d[ROWS * PANEL];
    int32_t codes[ROWS * PANEL];
    UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < 4; v++) {
      vf_store(d + (i * 4 + v) * LANES, vi_as_float(sum[i][v]));
      vi_store(codes + (i * 4 + v) * LANES, code[i][v]);
    }
    t_fdpa_narrow_fix(r, t, to_half, codes, row, block, d);
    return;
  }
  UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < 4; v++)
      vf_store(accumulator + (i * 4 + v) * LANES, vi_as_float(sum[i][v]));
}

static inline __attribute__((always_inline)) void t_fdpa_narrow_panel(const smma_run *r, int length, bool to_half) {
  const smma_operation *o = &r->plan->operation;
  const t_fdpa_constants t = t_fdpa_constants_of(o);
  const size_t blocks = t_fdpa_blocks(o), row_bytes = t_fdpa_narrow_row_block((size_t)length);
  for (size_t chunk = 0; chunk < r->rows; chunk += T_FDPA_CHUNK) {
    size_t end = chunk + T_FDPA_CHUNK < r->rows ? chunk + T_FDPA_CHUNK : r->rows;
    for (size_t block = r->first * blocks; block < r->last * blocks; block++) {
      const unsigned char *a = (const unsigned char *)r->a + (block * r->rows + chunk) * row_bytes;
      const unsigned char *b = (const unsigned char *)r->b + block * PANEL * t_fdpa_narrow_column_block((size_t)length);
      for (size_t row = chunk; row < end; row += ROWS, a += ROWS * row_bytes)
        t_fdpa_narrow_rows(r, &t, length, to_half, a, b, row, block);
    }
  }
}

static void t_fdpa_narrow_run(const smma_run *r) {
  int length = smma_block_of(&r->plan->operation);
  if (r->plan->operation.d == SMMA_FORMAT_f16)
    t_fdpa_narrow_panel(r, length, true);
  else if (length == 32)
    t_fdpa_narrow_panel(r, 32, false);
  else
    t_fdpa_narrow_panel(r, length, false);
}

static const smma_kernel_family t_fdpa_narrow_family = {t_fdpa_narrow_takes,     PANEL,
                                                        t_fdpa_narrow_row_bytes, t_fdpa_narrow_column_bytes,
                                                        t_fdpa_narrow_pack_rows, t_fdpa_narrow_pack_columns,
                                                        t_fdpa_narrow_run,       SMMA_MODE_TOWARD_ZERO};
