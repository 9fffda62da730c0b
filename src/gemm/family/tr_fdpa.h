/* TR-FDPA and GTR-FDPA with F of 24 and F2 of 31 (CDNA 3): truncated products, then an addition that rounds down.

   Names as in docs/algorithms: t is the sum of the products, truncated at 24 bits below their greatest exponent edot;
   E is the greater of edot and the exponent of c. A product a b is exact in binary32; its term trunc(a b 2^(24 - edot))
   is found by adding to the exponent field and converting. 16 terms stay below 3.6 * 2^28 (8: 2^29) in magnitude.

   Everything then happens in units of 2^(G - 29), where G is the greater of E and edot + 5.
   - G = edot + 5: the unit is that of t, so t is exact, and so is c unless its exponent is below edot, where the
     rule rounds it down to just this unit. The sum is below 2^31 units: both roundings of the model leave it alone.
   - G > edot + 5: c is exact, an integer from 2^29 on, below 2^30. The rule rounds t down at 32 bits below E and then
     (revision 2) the sum to 32 significant bits, so of the bits of t that are cut below the unit, it keeps three if
     the sum is below 2^29 units, two below 2^30, else one. That is: the bits in which the cut part, read as a 32-bit
     fraction, exceeds the leading bit of the sum (GTR: but no more than three). Revision 1 rounds t down at 31 bits
     below E and keeps two. What is kept only matters by not being zero: t is less than half of c, so that the sum has
     27 bits or more and a bit of it that is below the rounding position takes note.
   The sum is converted to binary32, RNE, and scaled back.

   Exponents are compared as deficits: how far an operand's exponent is below the greatest that its code (t_fdpa.h)
   may mean, at most 63. Bytes hold twice the deficit, so that half of a sum, the deficit of edot, is one instruction
   away from an exponent field; a zero has an odd byte above all others. */
enum {
  TR_HEADROOM = 5,
  TR_UNIT = 24 + TR_HEADROOM,
  TR_CHUNK = 32,     /* rows whose accumulators stay in the first cache from block to block */
  TR_NARROW_CODE = 64 + 30, /* the greatest code without wide exponents: these have at most 5 bits */
  TR_WIDE_CODE = 127,
  TR_ZERO = 127,     /* of a zero operand: sums with it are at least this, all others at most 2 * 62, or 2 * 63 is in */
  TR_CERTAIN = 2 * 62, /* the greatest sum of which no part was raised */
  TR_LEAST = -97,    /* of G: the least whose unit 2^(G - 29) is a normal number */
  TR_CALM = 120,     /* below 2^120, accumulators stay finite within a run */
  TR_BASE_SPAN = 24, /* binades that the greatest exponents of columns with one base span */
  TR_LEAST_BASE = -40, TR_GREATEST_BASE = 110 /* of two bases whose products need no check of their exponents */
};

/* What is constant where rows are inlined. */
typedef struct {
  int length;
  bool grouped, wide; /* GTR-FDPA; formats with 8 exponent bits */
  int revision;
} tr_shape;

/* What does not change within a run. */
typedef struct {
  tr_shape shape;
  int top; /* this and bases, minus the deficit of edot, is edot + 5, biased as in binary32 */
} tr_constants;

static bool tr_fdpa_takes(const smma_operation *o) {
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  bool grouped = o->rule.algorithm == SMMA_GTR_FDPA;
  int length = smma_block_of(o);
  if (o->rule.algorithm != SMMA_TR_FDPA && !grouped) return false;
  if (p->alignment_bits != 24 || p->sum_bits != 31) return false;
  return grouped ? length == 16 && !t_fdpa_has_wide_exponents(o->a) : length == 8 || length == 4;
}

/* The exponent of a product whose deficit is 0; relative to bases for wide formats. */
static int tr_greatest_exponent(const smma_operation *o) {
  if (t_fdpa_has_wide_exponents(o->a)) return 0;
  return smma_minimum_exponent(smma_encoding_of(o->a)) + smma_minimum_exponent(smma_encoding_of(o->b)) +
         2 * (TR_NARROW_CODE - 64);
}

static tr_constants tr_constants_of(const smma_operation *o) {
  tr_constants t;
  t.shape.length = smma_block_of(o);
  t.shape.grouped = o->rule.algorithm == SMMA_GTR_FDPA;
  t.shape.wide = t_fdpa_has_wide_exponents(o->a);
  t.shape.revision = o->rule.with.tr_fdpa.revision;
  t.top = 127 + TR_HEADROOM + tr_greatest_exponent(o);
  return t;
}

/* What is packed for a block of L products. Rows: L values, so scaled that a product p of deficit d is found as
   p 2^(24 - d); L times four equal deficits; the base as a difference of exponent fields and as it is; 8 bytes of
   nothing. Columns, each PANEL wide: L vectors of values; L of deficits, where byte v of lane i is that of column
   v LANES + i; the bases. */
static inline size_t tr_row_block(size_t length) { return length * 8 + 16; }
static inline size_t tr_column_block(size_t length) { return length * 5 + 4; }

static size_t tr_row_bytes(const smma_operation *o) {
  return t_fdpa_blocks(o) * tr_row_block((size_t)smma_block_of(o));
}

static size_t tr_column_bytes(const smma_operation *o) {
  return t_fdpa_blocks(o) * tr_column_block((size_t)smma_block_of(o));
}

static void tr_take_deficits(smma_format_id format, size_t count, uint8_t *code) {
  int greatest = t_fdpa_has_wide_exponents(format) ? TR_WIDE_CODE : TR_NARROW_CODE;
  for (size_t i = 0; i < count; i++) code[i] = (uint8_t)(code[i] ? 2 * (greatest - code[i]) : TR_ZERO);
}

static void tr_pack_rows(const smma_pack *pack) {
  const smma_operation *o = &pack->plan->operation;
  const smma_decoder d = smma_decoder_of(o->a);
  const float unit = smma_power_of_two(24 - tr_greatest_exponent(o));
  size_t blocks = t_fdpa_blocks(o), length = (size_t)smma_block_of(o), bytes = tr_row_block(length);
  smma_fetch f = {pack->plan, true, 0, 16, 0, 0, (int)length};
  t_fdpa_packed b;
  for (size_t block = 0; block < pack->steps * blocks; block++)
    for (size_t row = 0; row < pack->count; row += f.vectors) {
      unsigned char *out = (unsigned char *)pack->out + (block * pack->count + row) * bytes;
      f.first = pack->first + row, f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
      t_fdpa_decode(&f, &d, o->a, &b, pack->special + row);
      tr_take_deficits(o->a, length * f.vectors, b.code);
      for (size_t v = 0; v < f.vectors; v++, out += bytes) {
        float *value = (float *)out;
        uint32_t *codes = (uint32_t *)out + length;
        for (size_t i = 0; i < length; i++) {
          value[i] = b.value[i * f.vectors + v] * unit;
          codes[i] = b.code[i * f.vectors + v] * 0x01010101u;
        }
        codes[length] = (uint32_t)b.base[v] << 23;
        codes[length + 1] = (uint32_t)b.base[v];
      }
    }
}

/* Has all columns share the greatest of their bases, if none is far below. Columns of zeros have the least. */
static void tr_share_base(size_t length, t_fdpa_packed *b) {
  int32_t greatest = -127;
  for (size_t v = 0; v < PANEL; v++)
    if (b->base[v] > greatest) greatest = b->base[v];
  for (size_t v = 0; v < PANEL; v++)
    if (b->base[v] > -127 && b->base[v] < greatest - TR_BASE_SPAN) return;
  for (size_t v = 0; v < PANEL; v++) {
    int less = greatest - b->base[v];
    float unit = smma_power_of_two(less < 126 ? -less : 0);
    b->base[v] = greatest;
    for (size_t i = v; less && i < length * PANEL; i += PANEL) {
      int code = b->code[i] - less;
      b->value[i] *= unit;
      b->code[i] = (uint8_t)(b->code[i] == 0 ? 0 : code < 64 ? 64 : code);
    }
  }
}

static void tr_pack_columns(const smma_pack *pack) {
  const smma_operation *o = &pack->plan->operation;
  const smma_decoder d = smma_decoder_of(o->b);
  size_t blocks = t_fdpa_blocks(o), length = (size_t)smma_block_of(o), count = length * PANEL;
  smma_fetch f = {pack->plan, false, pack->first, PANEL, 0, 0, (int)length};
  t_fdpa_packed b;
  for (size_t block = 0; block < pack->steps * blocks; block++) {
    unsigned char *out = (unsigned char *)pack->out + block * PANEL * tr_column_block(length), *codes = out + count * 4;
    f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
    t_fdpa_decode(&f, &d, o->b, &b, pack->special);
    if (t_fdpa_has_wide_exponents(o->b)) tr_share_base(length, &b);
    tr_take_deficits(o->b, count, b.code);
    memcpy(out, b.value, count * 4);
    for (size_t i = 0; i < length; i++)
      for (size_t lane = 0; lane < LANES; lane++)
        for (size_t v = 0; v < 4; v++) *codes++ = b.code[i * PANEL + v * LANES + lane];
    memcpy(out + count * 5, b.base, PANEL * 4);
  }
}

/* Constants as vectors, which the loop over rows keeps in registers: as such they are opaque to compilers. */
typedef struct {
  vi top[4];                 /* edot + 5 where deficits are 0, as exponent fields, of four vectors of columns */
  vi exponents, scale, unit; /* of c: its exponent's bits; 2^(29 - G) is scale - G; 2^(G - 29) is G + unit */
  vi word, one;              /* 32, 1 */
  vb pick[4], certain;       /* vb_picker; TR_CERTAIN */
} tr_words;

static inline tr_words tr_words_of(const tr_constants *t, int base) {
  tr_words w;
  w.top[0] = w.top[1] = w.top[2] = w.top[3] = vi_keep(vi_set((int32_t)((uint32_t)(t->top + base) << 23)));
  w.exponents = vi_keep(vi_set(255 << 23));
  w.scale = vi_keep(vi_set((int32_t)((254u + TR_UNIT) << 23)));
  w.unit = vi_keep(vi_set(-(TR_UNIT << 23)));
  w.word = vi_keep(vi_set(32));
  w.one = vi_keep(vi_set(1));
  for (int v = 0; v < 4; v++) w.pick[v] = vb_keep(vb_picker(v));
  w.certain = vb_keep(vb_repeat(TR_CERTAIN * 0x01010101u));
  return w;
}

/* The least sums of deficits: of all products, or of those of even and of odd k. */
static inline __attribute__((always_inline)) void tr_compare(tr_shape s, const uint32_t *row_code,
                                                             const unsigned char *column_code, vb least[2]) {
  least[0] = least[1] = vb_repeat(UINT32_MAX);
  UNROLL for (int k = 0; k < s.length; k++) {
    vb sum = vb_add_four(vb_load(column_code + k * PANEL), &row_code[k]);
    least[s.grouped & k] = vb_min(least[s.grouped & k], sum);
  }
}

/* Of one row and four vectors of columns: t, the deficits of edot as exponent fields, and edot + 5. */
typedef struct {
  vi sum[4], deficit[4], top[4];
} tr_sums;

/* Every `stride`-th product from `first` on. A product that is zero becomes a number far below one. */
static inline __attribute__((always_inline)) tr_sums tr_sum(const tr_words *w, int first, int length, int stride,
                                                            const unsigned char *a, const unsigned char *b, vb least) {
  const int32_t *row_value = (const int32_t *)a;
  const float *column_value = (const float *)b;
  tr_sums r;
  UNROLL for (int v = 0; v < 4; v++) r.sum[v] = vi_set(0);
  UNROLL for (int v = 0; v < 4; v++) r.deficit[v] = vb_pick(least, v, w->pick[v]);
  UNROLL for (int k = first; k < length; k += stride) {
    vf x = vi_as_float(vi_set(row_value[k]));
    UNROLL for (int v = 0; v < 4; v++) {
      vf p = vf_multiply(x, vf_load(column_value + (k * 4 + v) * LANES));
      vi term = vf_truncate(vi_as_float(vi_add(vf_bits(p), r.deficit[v])));
      r.sum[v] = k == first ? term : vi_keep(vi_add(r.sum[v], term));
    }
  }
  UNROLL for (int v = 0; v < 4; v++) r.top[v] = vi_subtract(w->top[v], r.deficit[v]);
  return r;
}

/* The sums of even and of odd k, rounded down at 24 bits below the greater exponent. */
static inline __attribute__((always_inline)) tr_sums tr_join(const tr_words *w, tr_sums even, tr_sums odd) {
  tr_sums r;
  UNROLL for (int v = 0; v < 4; v++) {
    r.deficit[v] = vi_min(even.deficit[v], odd.deficit[v]);
    even.sum[v] = vi_shift_down_by(even.sum[v], vi_shift_right(vi_subtract(even.deficit[v], r.deficit[v]), 23));
    odd.sum[v] = vi_shift_down_by(odd.sum[v], vi_shift_right(vi_subtract(odd.deficit[v], r.deficit[v]), 23));
    r.sum[v] = vi_add(even.sum[v], odd.sum[v]);
    r.top[v] = vi_subtract(w->top[v], r.deficit[v]);
  }
  return r;
}

static inline __attribute__((always_inline)) tr_sums tr_products(tr_shape s, const tr_words *w, const unsigned char *a,
                                                                 const unsigned char *b, const vb *least) {
  if (!s.grouped) return tr_sum(w, 0, s.length, 1, a, b, least[0]);
  return tr_join(w, tr_sum(w, 0, s.length, 2, a, b, least[0]), tr_sum(w, 1, s.length, 2, a, b, least[1]));
}

/* c at 29 bits below G. GTR: c counts as zero if it is below half of the last of 24 bits. */
static inline __attribute__((always_inline)) vi tr_align(tr_shape s, vf c, vf scale) {
  vf scaled;
  if (!s.grouped) return vf_floor_product(c, scale);
  scaled = vf_multiply(c, scale);
  return vi_select(vi_less(vf_bits(scaled), vf_bits(vf_set(-0.5f))), vi_set(0), vf_floor(scaled));
}

/* The sum with its last bit set where bits of `cut` are kept. */
static inline __attribute__((always_inline)) vi tr_take_note(tr_shape s, const tr_words *w, vi sum, vi cut) {
  vi magnitude;
  if (s.revision == 1) return vi_or(sum, vi_shift_right(cut, 30));
  magnitude = vi_magnitude(sum);
  if (s.grouped) cut = vi_and(cut, vi_set((int32_t)0xe0000000));
  return vi_select(vi_above(vi_and_not(cut, magnitude), magnitude), vi_or(sum, w->one), sum);
}

/* d from t and c. */
static inline __attribute__((always_inline)) void tr_add(tr_shape s, const tr_words *w, const tr_sums *t, const float *c,
                                                         vf *d) {
  vi exponent[4], below[4], sum[4];
  UNROLL for (int v = 0; v < 4; v++) {
    vf start = vf_load(c + v * LANES);
    exponent[v] = vi_max(vi_and(vf_bits(start), w->exponents), t->top[v]);
    below[v] = vi_shift_right(vi_subtract(exponent[v], t->top[v]), 23);
    sum[v] = tr_align(s, start, vi_as_float(vi_subtract(w->scale, exponent[v])));
  }
  UNROLL for (int v = 0; v < 4; v++) sum[v] = vi_add(sum[v], vi_shift_down_by(t->sum[v], below[v]));
  UNROLL for (int v = 0; v < 4; v++)
    sum[v] = tr_take_note(s, w, sum[v], vi_shift_left_by(t->sum[v], vi_subtract(w->word, below[v])));
  UNROLL for (int v = 0; v < 4; v++)
    d[v] = vf_multiply(vi_to_float(sum[v]), vi_as_float(vi_add(exponent[v], w->unit)));
}

/* Whether c is below 2^120 in all of them. */
static bool tr_are_calm(const float *accumulator, size_t count) {
  vi care = vi_set(0);
  for (size_t i = 0; i < count; i += LANES) {
    vi c = vi_and(vf_bits(vf_load(accumulator + i)), vi_set(INT32_MAX));
    care = vi_or(care, vi_subtract(vi_set(((127 + TR_CALM) << 23) - 1), c));
  }
  return !vi_any_negative(care);
}

/* Bytes that are odd where all products are zero. */
static vb tr_compare_zeros(tr_shape s, const uint32_t *row_code, const unsigned char *column_code) {
  vb all = vb_repeat(UINT32_MAX);
  for (int k = 0; k < s.length; k++)
    all = vb_and(all, vb_or(vb_load(column_code + k * PANEL), vb_repeat(row_code[k])));
  return all;
}

/* The lanes that the core must compute: c is special, or there are products and their exponents are out of range or
   may have been raised. Where all products are `zero`, c is the result. */
static vm tr_rare(tr_shape s, vi deficit, vi greatest, vm zero, vf c) {
  vi exponent = vi_shift_right(vi_shift_left(vf_bits(c), 1), 24), top = vi_subtract(greatest, deficit);
  vm rare = vm_or(vi_less(vi_max(exponent, top), vi_set(127 + TR_LEAST)), vi_less(vi_set(127 + TR_CALM), top));
  if (s.wide) rare = vm_or(rare, vi_less(vi_set(TR_CERTAIN / 2), deficit));
  return vm_or(vi_equal(exponent, vi_set(255)), vm_and_not(rare, zero));
}

/* One row of one block's packed operands: `a` that row, `b` the columns. Whether its accumulators are calm then. */
static __attribute__((noinline)) bool tr_compute_with_care(const smma_run *r, const tr_constants *t,
                                                           const unsigned char *a, const unsigned char *b, size_t row,
                                                           size_t block) {
  const tr_shape s = t->shape;
  const uint32_t *row_code = (const uint32_t *)a + s.length;
  const unsigned char *column_code = b + (size_t)s.length * PANEL * 4;
  const int32_t *column_base = (const int32_t *)(b + (size_t)s.length * PANEL * 5);
  const vb zeros = tr_compare_zeros(s, row_code, column_code);
  float *accumulator = (float *)r->accumulator + row * PANEL;
  tr_words w = tr_words_of(t, 0);
  tr_sums sums;
  vi greatest[4];
  vb least[2];
  vf d[4];
  tr_compare(s, row_code, column_code, least);
  if (s.grouped) least[0] = vb_min(least[0], w.certain), least[1] = vb_min(least[1], w.certain);
  for (int v = 0; v < 4; v++) {
    greatest[v] = vi_set(t->top);
    if (!s.wide) continue;
    greatest[v] = vi_add(vi_set(t->top + (int32_t)row_code[s.length + 1]), vi_load(column_base + v * LANES));
    w.top[v] = vi_shift_left(greatest[v], 23);
  }
  sums = tr_products(s, &w, a, b, least);
  tr_add(s, &w, &sums, accumulator, d);
  for (int v = 0; v < 4; v++) {
    vf c = vf_load(accumulator + v * LANES);
    vm zero = vi_equal(vi_and(vb_pick(zeros, v, w.pick[v]), vi_set(1 << 22)), vi_set(1 << 22));
    vm rare = tr_rare(s, vi_shift_right(sums.deficit[v], 23), greatest[v], zero, c);
    vf_store(accumulator + v * LANES, vf_add_where(zero, c, vf_set(0), d[v]));
    if (vm_bits(rare)) {
      float start[LANES];
      vf_store(start, c);
      smma_compute_lanes(r, row, (size_t)v * LANES, block, vm_bits(rare), start, accumulator + v * LANES);
    }
  }
  return tr_are_calm(accumulator, PANEL);
}

/* Rows of one block of which tr_add may do without care: accumulators are calm, all columns share their base, E is
   within range, and no element has only products that are zero or whose exponents were raised. */
typedef struct {
  size_t count, row[TR_CHUNK];
  uint8_t least[TR_CHUNK][2][PANEL];
} tr_usual;

/* Adds the row, or not. */
static inline __attribute__((always_inline)) bool tr_is_usual(tr_shape s, const tr_words *w, const unsigned char *a,
                                                              const unsigned char *b, size_t row, tr_usual *usual) {
  vb least[2];
  tr_compare(s, (const uint32_t *)a + s.length, b + (size_t)s.length * PANEL * 4, least);
  if (vb_any_less(w->certain, s.grouped ? vb_min(least[0], least[1]) : least[0])) return false;
  if (s.grouped) { /* a half of zeros has some exponent that is not above the other's */
    vb_store(usual->least[usual->count][0], vb_min(least[0], w->certain));
    vb_store(usual->least[usual->count][1], vb_min(least[1], w->certain));
  } else {
    vb_store(usual->least[usual->count][0], least[0]);
  }
  usual->row[usual->count++] = row;
  return true;
}

static inline __attribute__((always_inline)) tr_sums tr_usual_products(tr_shape s, const tr_words *w,
                                                                       const unsigned char *a, const unsigned char *b,
                                                                       const tr_usual *usual, size_t i) {
  const unsigned char *x = a + usual->row[i] * tr_row_block((size_t)s.length);
  vb least[2] = {vb_load(usual->least[i][0]), vb_load(usual->least[i][s.grouped])};
  tr_words of_row = *w;
  if (s.wide) {
    vi top = vi_add(w->top[0], vi_set(((const int32_t *)x)[2 * s.length]));
    UNROLL for (int v = 0; v < 4; v++) of_row.top[v] = top;
  }
  return tr_products(s, &of_row, x, b, least);
}

static inline __attribute__((always_inline)) void tr_usual_add(tr_shape s, const tr_words *w, const tr_sums *sums,
                                                               float *accumulator) {
  vf d[4];
  tr_add(s, w, sums, accumulator, d);
  UNROLL for (int v = 0; v < 4; v++) vf_store(accumulator + v * LANES, d[v]);
}

/* The products of each row come before the addition of the one before, so that both are under way together. */
static inline __attribute__((always_inline)) void tr_compute(tr_shape s, const tr_words *w, const unsigned char *a,
                                                             const unsigned char *b, const tr_usual *usual,
                                                             float *accumulator) {
  tr_sums sums;
  if (!usual->count) return;
  sums = tr_usual_products(s, w, a, b, usual, 0);
  for (size_t i = 1; i < usual->count; i++) {
    tr_sums next = tr_usual_products(s, w, a, b, usual, i);
    tr_usual_add(s, w, &sums, accumulator + usual->row[i - 1] * PANEL);
    sums = next;
  }
  tr_usual_add(s, w, &sums, accumulator + usual->row[usual->count - 1] * PANEL);
}

/* The base that all columns share, or one that is out of range. */
static int tr_common_base(tr_shape s, const int32_t *base) {
  vi differs = vi_set(0);
  if (!s.wide) return 0;
  for (size_t j = 0; j < PANEL; j += LANES) {
    vi other = vi_xor(vi_load(base + j), vi_set(base[0]));
    differs = vi_or(differs, vi_or(other, vi_subtract(vi_set(0), other)));
  }
  return vi_any_negative(differs) ? -1000 : base[0];
}

/* One block for the rows first..last - 1, at most TR_CHUNK; returns whether they are calm behind it. */
static inline __attribute__((always_inline)) bool tr_block(const smma_run *r, const tr_constants *t, tr_shape s,
                                                           size_t first, size_t last, size_t block, bool calm) {
  const size_t row_bytes = tr_row_block((size_t)s.length);
  const unsigned char *a = (const unsigned char *)r->a + block * r->rows * row_bytes;
  const unsigned char *b = (const unsigned char *)r->b + block * PANEL * tr_column_block((size_t)s.length);
  const int base = tr_common_base(s, (const int32_t *)(b + (size_t)s.length * PANEL * 5));
  const tr_words w = tr_words_of(t, base);
  size_t left[TR_CHUNK], count = 0;
  tr_usual usual;
  usual.count = 0;
  for (size_t row = first; row < last; row++) {
    const unsigned char *x = a + row * row_bytes;
    int bases = base + (s.wide ? (int)((const uint32_t *)x)[2 * s.length + 1] : 0);
    bool within = calm && bases >= TR_LEAST_BASE && bases <= TR_GREATEST_BASE;
    if (!within || !tr_is_usual(s, &w, x, b, row, &usual)) left[count++] = row;
  }
  tr_compute(s, &w, a, b, &usual, r->accumulator);
  for (size_t i = 0; i < count; i++)
    if (!tr_compute_with_care(r, t, a + left[i] * row_bytes, b, left[i], block)) calm = false;
  return calm;
}

static inline __attribute__((always_inline)) void tr_panel(const smma_run *r, const tr_constants *t, int length,
                                                           bool grouped, bool wide, int revision) {
  const tr_shape s = {length, grouped, wide, revision};
  size_t blocks = t_fdpa_blocks(&r->plan->operation);
  for (size_t row = 0; row < r->rows; row += TR_CHUNK) {
    size_t last = row + TR_CHUNK < r->rows ? row + TR_CHUNK : r->rows;
    bool calm = tr_are_calm((const float *)r->accumulator + row * PANEL, (last - row) * PANEL);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      calm = tr_block(r, t, s, row, last, block, calm);
  }
}

static inline __attribute__((always_inline)) void tr_run_revision(const smma_run *r, const tr_constants *t,
                                                                  int revision) {
  if (t->shape.grouped)
    tr_panel(r, t, 16, true, false, revision);
  else if (t->shape.wide && t->shape.length == 8)
    tr_panel(r, t, 8, false, true, revision);
  else if (t->shape.wide)
    tr_panel(r, t, 4, false, true, revision);
  else if (t->shape.length == 8)
    tr_panel(r, t, 8, false, false, revision);
  else
    tr_panel(r, t, 4, false, false, revision);
}

static void tr_fdpa_run(const smma_run *r) {
  const tr_constants t = tr_constants_of(&r->plan->operation);
  if (t.shape.revision == 1)
    tr_run_revision(r, &t, 1);
  else
    tr_run_revision(r, &t, 2);
}

static const smma_kernel_family tr_fdpa_family = {tr_fdpa_takes, PANEL,        tr_row_bytes,    tr_column_bytes,
                                                  tr_pack_rows,  tr_pack_columns, tr_fdpa_run, SMMA_MODE_NEAREST};
