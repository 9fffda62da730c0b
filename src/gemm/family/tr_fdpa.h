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

   Exponents are compared as deficits: how far a nonzero operand's exponent field (1 for subnormals) is below the
   greatest that it may have, 31, or with 8 exponent bits (bf16, tf32) that of its row or column; there, the base is the
   latter's exponent, and values are scaled by it. Bytes hold twice the deficit, so that half of a sum, the deficit of
   edot, is one instruction away from an exponent field. Deficits above 63 are held as 63. */
#include "gemm/pack.h"

enum {
  TR_HEADROOM = 5,
  TR_UNIT = 24 + TR_HEADROOM,
  TR_LONGEST = 16,      /* block */
  TR_CHUNK = 32,        /* rows that are in the first cache at a time */
  TR_NARROW_FIELD = 31, /* the greatest exponent field but for bf16 and tf32 */
  TR_MOST_DEFICIT = 63,
  TR_CERTAIN = 2 * 62,   /* the greatest sum of two bytes that neither a zero nor an excessive deficit is in */
  TR_ZERO = 127,         /* the byte of a zero, odd, unlike others */
  TR_LEAST = -97,        /* of G: the least whose unit 2^(G - 29) is a normal number */
  TR_CALM = 120,         /* below 2^120, accumulators stay finite within a run */
  TR_COMMON_SPAN = 24,   /* columns whose greatest exponents span so many binades share a base */
  TR_LEAST_BASE = -40,   /* of a row and a column, added: then E of a certain sum is not below TR_LEAST */
  TR_GREATEST_BASE = 110 /* and not above TR_CALM */
};

/* What is constant where the work is inlined. */
typedef struct {
  int length;
  bool grouped, wide; /* GTR-FDPA; formats with 8 exponent bits */
  int revision;
} tr_shape;

/* What does not change within a run. */
typedef struct {
  tr_shape shape;
  int top; /* edot + 5, biased as in binary32, for a deficit of 0 and bases of 0 */
} tr_constants;

static bool tr_is_wide(const smma_operation *o) { return smma_encoding_of(o->a).exponent_bits == 8; }

static bool tr_fdpa_takes(const smma_operation *o) {
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  const int length = smma_block_of(o);
  switch (o->rule.algorithm) {
    case SMMA_TR_FDPA: return p->alignment_bits == 24 && p->sum_bits == 31 && (length == 8 || length == 4);
    case SMMA_GTR_FDPA: return p->alignment_bits == 24 && p->sum_bits == 31 && length == 16 && !tr_is_wide(o);
    default: return false;
  }
}

/* The exponent of a product whose deficit is 0, relative to bases. */
static int tr_greatest_exponent(const smma_operation *o) {
  if (tr_is_wide(o)) return 0;
  return 2 * TR_NARROW_FIELD - smma_encoding_of(o->a).bias - smma_encoding_of(o->b).bias;
}

static tr_constants tr_constants_of(const smma_operation *o) {
  tr_constants t;
  t.shape.length = smma_block_of(o);
  t.shape.grouped = o->rule.algorithm == SMMA_GTR_FDPA;
  t.shape.wide = tr_is_wide(o);
  t.shape.revision = o->rule.with.tr_fdpa.revision;
  t.top = 127 + TR_HEADROOM + tr_greatest_exponent(o);
  return t;
}

/* What is packed for a block of L products. Rows: L values, so scaled that a product p of deficit d is found as
   p 2^(24 - d); L times a byte repeated four times; the base as a difference of exponent fields, and as it is; 8 bytes
   of nothing. Columns, each PANEL wide: L vectors of values; L of bytes, where byte v of lane i is that of column
   v LANES + i; the bases. */
static inline size_t tr_row_block(size_t length) { return length * 8 + 16; }
static inline size_t tr_column_block(size_t length) { return length * 5 + 4; }

static size_t tr_blocks(const smma_operation *o) { return (size_t)smma_blocks_per_step(o); }
static size_t tr_row_bytes(const smma_operation *o) { return tr_blocks(o) * tr_row_block((size_t)smma_block_of(o)); }
static size_t tr_column_bytes(const smma_operation *o) {
  return tr_blocks(o) * tr_column_block((size_t)smma_block_of(o));
}

/* Values, exponent fields and then bytes, and bases of `vectors` vectors of one block. */
typedef struct {
  float value[TR_LONGEST * SMMA_MOST_VECTORS];
  uint8_t byte[TR_LONGEST * SMMA_MOST_VECTORS];
  int32_t base[SMMA_MOST_VECTORS];
} tr_packed;

/* Of each vector; 127 for zeros. */
static void tr_greatest_fields(const smma_fetch *f, const uint8_t *field, uint8_t *greatest) {
  memset(greatest, 0, f->vectors);
  for (size_t i = 0; i < (size_t)f->length; i++)
    for (size_t v = 0; v < f->vectors; v++) {
      uint8_t x = field[i * f->vectors + v];
      greatest[v] = x > greatest[v] ? x : greatest[v];
    }
  for (size_t v = 0; v < f->vectors; v++) greatest[v] = greatest[v] ? greatest[v] : 127;
}

/* Has all vectors take the greatest of these, if they are similar. */
static void tr_share_greatest(size_t vectors, uint8_t *greatest) {
  uint8_t most = 0, least = 255;
  for (size_t v = 0; v < vectors; v++) {
    most = greatest[v] > most ? greatest[v] : most;
    least = greatest[v] < least ? greatest[v] : least;
  }
  if (most - least <= TR_COMMON_SPAN) memset(greatest, most, vectors);
}

static void tr_decode(const smma_fetch *f, const smma_decoder *d, tr_packed *b, unsigned char *special) {
  uint32_t code[TR_LONGEST * SMMA_MOST_VECTORS];
  uint8_t greatest[SMMA_MOST_VECTORS];
  float unit[SMMA_MOST_VECTORS];
  const bool wide = tr_is_wide(&f->plan->operation);
  smma_fetch_codes(f, code);
  smma_decode_codes(d, (size_t)f->length, f->vectors, code, b->value, b->byte, special);
  memset(greatest, TR_NARROW_FIELD, sizeof greatest);
  if (wide) tr_greatest_fields(f, b->byte, greatest);
  if (wide && !f->of_a) tr_share_greatest(f->vectors, greatest);
  for (size_t v = 0; v < f->vectors; v++) {
    b->base[v] = wide ? greatest[v] - 127 : 0;
    unit[v] = b->base[v] == 127 ? 0x1p-127f : smma_power_of_two(-b->base[v]);
  }
  for (size_t i = 0; i < (size_t)f->length; i++)
    for (size_t v = 0; v < f->vectors; v++) {
      uint8_t *x = &b->byte[i * f->vectors + v];
      int deficit = greatest[v] - *x;
      deficit = deficit > TR_MOST_DEFICIT ? TR_MOST_DEFICIT : deficit;
      *x = (uint8_t)(*x ? 2 * deficit : TR_ZERO);
      b->value[i * f->vectors + v] *= unit[v];
    }
}

static void tr_pack_rows(const smma_pack *pack) {
  const smma_operation *o = &pack->plan->operation;
  const smma_decoder d = smma_decoder_of(o->a);
  const float unit = smma_power_of_two(24 - tr_greatest_exponent(o));
  size_t blocks = tr_blocks(o), length = (size_t)smma_block_of(o), bytes = tr_row_block(length);
  smma_fetch f = {pack->plan, true, 0, 16, 0, 0, (int)length};
  tr_packed b;
  for (size_t block = 0; block < pack->steps * blocks; block++)
    for (size_t row = 0; row < pack->count; row += f.vectors) {
      unsigned char *out = (unsigned char *)pack->out + (block * pack->count + row) * bytes;
      f.first = pack->first + row, f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
      tr_decode(&f, &d, &b, pack->special + row);
      for (size_t v = 0; v < f.vectors; v++, out += bytes) {
        float *value = (float *)out;
        uint32_t *word = (uint32_t *)out + length;
        for (size_t i = 0; i < length; i++) {
          value[i] = b.value[i * f.vectors + v] * unit;
          word[i] = b.byte[i * f.vectors + v] * 0x01010101u;
        }
        word[length] = (uint32_t)b.base[v] << 23;
        word[length + 1] = (uint32_t)b.base[v];
      }
    }
}

/* One of each four columns LANES apart to each word. */
static void tr_interleave(size_t length, const uint8_t *restrict byte, unsigned char *restrict out) {
  uint32_t word[LANES];
  for (size_t i = 0; i < length; i++, byte += PANEL, out += PANEL) {
    for (size_t lane = 0; lane < LANES; lane++)
      word[lane] = byte[lane] | (uint32_t)byte[LANES + lane] << 8 | (uint32_t)byte[2 * LANES + lane] << 16 |
                   (uint32_t)byte[3 * LANES + lane] << 24;
    memcpy(out, word, sizeof word);
  }
}

static void tr_pack_columns(const smma_pack *pack) {
  const smma_operation *o = &pack->plan->operation;
  const smma_decoder d = smma_decoder_of(o->b);
  size_t blocks = tr_blocks(o), length = (size_t)smma_block_of(o), count = length * PANEL;
  smma_fetch f = {pack->plan, false, pack->first, PANEL, 0, 0, (int)length};
  tr_packed b;
  for (size_t block = 0; block < pack->steps * blocks; block++) {
    unsigned char *out = (unsigned char *)pack->out + block * PANEL * tr_column_block(length);
    f.step = pack->step + block / blocks, f.block = (int)(block % blocks);
    tr_decode(&f, &d, &b, pack->special);
    memcpy(out, b.value, count * 4);
    tr_interleave(length, b.byte, out + count * 4);
    memcpy(out + count * 5, b.base, PANEL * 4);
  }
}

/* Constants as vectors, which loops over rows keep in registers because compilers cannot look through them. */
typedef struct {
  vi top[4];                 /* edot + 5 for a deficit of 0, as exponent fields, of four vectors of columns */
  vi exponents, scale, unit; /* of c: its exponent's bits; 2^(29 - G) is scale - G; 2^(G - 29) is G + unit */
  vi word, one;              /* 32, 1 */
  vb picker[4], certain;
} tr_words;

static inline tr_words tr_words_of(const tr_constants *t, int base) {
  tr_words w;
  w.top[0] = vi_keep(vi_set((int32_t)((uint32_t)(t->top + base) << 23)));
  w.top[1] = w.top[2] = w.top[3] = w.top[0];
  w.exponents = vi_keep(vi_set(255 << 23));
  w.scale = vi_keep(vi_set((int32_t)((254u + TR_UNIT) << 23)));
  w.unit = vi_keep(vi_set(-(TR_UNIT << 23)));
  w.word = vi_keep(vi_set(32));
  w.one = vi_keep(vi_set(1));
  for (int v = 0; v < 4; v++) w.picker[v] = vb_keep(vb_picker(v));
  w.certain = vb_keep(vb_repeat(TR_CERTAIN * 0x01010101));
  return w;
}

/* The bytes of columns. */
typedef struct {
  vb of[TR_LONGEST];
} tr_columns;

static inline __attribute__((always_inline)) tr_columns tr_load_columns(tr_shape s, const unsigned char *b) {
  tr_columns c;
  UNROLL for (int k = 0; k < s.length; k++) c.of[k] = vb_load(b + (size_t)(s.length * 4 + k) * PANEL);
  return c;
}

/* The least sums of bytes with a row, whose words start at `word`: of all products, or of those of even and odd k. */
static inline __attribute__((always_inline)) void tr_compare(tr_shape s, const uint32_t *word,
                                                             const tr_columns *columns, vb least[2]) {
  least[0] = vb_add_four(columns->of[0], &word[0]);
  least[1] = s.grouped ? vb_add_four(columns->of[1], &word[1]) : least[0];
  UNROLL for (int k = 1 + s.grouped; k < s.length; k++) least[s.grouped & k] =
      vb_min(least[s.grouped & k], vb_add_four(columns->of[k], &word[k]));
}

/* Of one row and four vectors of columns: t, and the deficit of edot and edot + 5 as exponent fields. */
typedef struct {
  vi sum[4], deficit[4], top[4];
} tr_sums;

/* Every `stride`-th product from `first` on. A product that is zero becomes a number below one half. */
static inline __attribute__((always_inline)) tr_sums tr_sum(const tr_words *w, int first, int length, int stride,
                                                            const unsigned char *a, const unsigned char *b, vb least) {
  const int32_t *row_value = (const int32_t *)a;
  const float *column_value = (const float *)b;
  tr_sums r;
  UNROLL for (int v = 0; v < 4; v++) r.deficit[v] = vb_pick(least, v, w->picker[v]), r.sum[v] = vi_set(0);
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
                                                                 const unsigned char *b, const vb least[2]) {
  if (!s.grouped) return tr_sum(w, 0, s.length, 1, a, b, least[0]);
  return tr_join(w, tr_sum(w, 0, s.length, 2, a, b, least[0]), tr_sum(w, 1, s.length, 2, a, b, least[1]));
}

/* c at 29 bits below G. GTR: c counts as zero if its exponent is below edot - 25. */
static inline __attribute__((always_inline)) vi tr_align(tr_shape s, vf c, vf scale) {
  vf scaled;
  if (!s.grouped) return vf_floor_product(c, scale);
  scaled = vf_multiply(c, scale);
  return vi_select(vi_less(vf_bits(scaled), vf_bits(vf_set(-0.5f))), vi_set(0), vf_floor(scaled));
}

/* The sum with its last bit set where bits of `cut` are kept. Of x and y, x has the higher leading bit where x without
   the bits of y is above y. */
static inline __attribute__((always_inline)) vi tr_take_note(tr_shape s, const tr_words *w, vi sum, vi cut) {
  vi magnitude;
  if (s.revision == 1) return vi_or(sum, vi_shift_right(cut, 30));
  magnitude = vi_magnitude(sum);
  if (s.grouped) cut = vi_and(cut, vi_set((int32_t)0xe0000000));
  return vi_or_where(vi_above(vi_and_not(cut, magnitude), magnitude), sum, w->one, sum);
}

/* d from t and c. A shift by 32 - 32 or more leaves nothing of t, and what it cuts does not matter: c is even then, and
   further from a tie than t. */
static inline __attribute__((always_inline)) void tr_add(tr_shape s, const tr_words *w, const tr_sums *t,
                                                         const float *c, vf d[4]) {
  vi exponent[4], below[4], sum[4];
  UNROLL for (int v = 0; v < 4; v++) {
    vf start = vf_load(c + v * LANES);
    exponent[v] = vi_max(vi_and(vf_bits(start), w->exponents), t->top[v]);
    below[v] = vi_shift_right(vi_subtract(exponent[v], t->top[v]), 23);
    sum[v] = tr_align(s, start, vi_as_float(vi_subtract(w->scale, exponent[v])));
  }
  UNROLL for (int v = 0; v < 4; v++) sum[v] = vi_add(sum[v], vi_shift_down_by(t->sum[v], below[v]));
  UNROLL for (int v = 0; v < 4; v++) sum[v] =
      tr_take_note(s, w, sum[v], vi_shift_left_by(t->sum[v], vi_subtract(w->word, below[v])));
  UNROLL for (int v = 0; v < 4; v++) d[v] = vf_multiply(vi_to_float(sum[v]), vi_as_float(vi_add(exponent[v], w->unit)));
}

/* Whether all are below 2^120 in magnitude. */
static bool tr_are_calm(const float *accumulator, size_t count) {
  vi care = vi_set(0);
  for (size_t i = 0; i < count; i += LANES) {
    vi c = vi_and(vf_bits(vf_load(accumulator + i)), vi_set(INT32_MAX));
    care = vi_or(care, vi_subtract(vi_set(((127 + TR_CALM) << 23) - 1), c));
  }
  return !vi_any_negative(care);
}

/* Bytes that are odd where all products are zero. */
static inline __attribute__((always_inline)) vb tr_compare_zeros(tr_shape s, const uint32_t *word,
                                                                 const tr_columns *columns) {
  vb all = vb_repeat(-1);
  UNROLL for (int k = 0; k < s.length; k++) all = vb_and(all, vb_or(columns->of[k], vb_repeat((int32_t)word[k])));
  return all;
}

/* The lanes that the core must compute: c is special, or there are products and their exponents are out of range or may
   be lower. `top` is edot + 5 for a deficit of 0. Where all products are `zero`, c is the result. */
static inline vm tr_rare(tr_shape s, vi deficit, vi top, vm zero, vf c) {
  vi exponent = vi_shift_right(vi_shift_left(vf_bits(c), 1), 24);
  vm rare;
  deficit = vi_shift_right(deficit, 23);
  top = vi_subtract(top, deficit);
  rare = vm_or(vi_less(vi_max(exponent, top), vi_set(127 + TR_LEAST)), vi_less(vi_set(127 + TR_CALM), top));
  if (s.wide) rare = vm_or(rare, vi_less(vi_set(TR_CERTAIN / 2), deficit));
  return vm_or(vi_equal(exponent, vi_set(255)), vm_and_not(rare, zero));
}

/* One row of any operands. `a` are that row's packed operands of the block, `b` the columns'. Returns whether the
   accumulators are calm then. */
static inline __attribute__((always_inline)) bool tr_compute_with_care(const smma_run *r, const tr_constants *t,
                                                                       tr_shape s, const unsigned char *a,
                                                                       const unsigned char *b, size_t row,
                                                                       size_t block) {
  const uint32_t *word = (const uint32_t *)a + s.length;
  const int32_t *column_base = (const int32_t *)(b + (size_t)s.length * PANEL * 5);
  const tr_columns columns = tr_load_columns(s, b);
  const vb zeros = tr_compare_zeros(s, word, &columns);
  float *accumulator = (float *)r->accumulator + row * PANEL;
  tr_words w = tr_words_of(t, 0);
  tr_sums sums;
  vb least[2];
  vi top[4];
  vf d[4];
  tr_compare(s, word, &columns, least);
  if (s.grouped) least[0] = vb_min(least[0], w.certain), least[1] = vb_min(least[1], w.certain);
  for (int v = 0; v < 4; v++) {
    vi base = s.wide ? vi_add(vi_set((int32_t)word[s.length + 1]), vi_load(column_base + v * LANES)) : vi_set(0);
    top[v] = vi_add(vi_set(t->top), base);
    w.top[v] = vi_shift_left(top[v], 23);
  }
  sums = tr_products(s, &w, a, b, least);
  tr_add(s, &w, &sums, accumulator, d);
  for (int v = 0; v < 4; v++) {
    vf c = vf_load(accumulator + v * LANES);
    vm zero = vi_has(vb_pick(zeros, v, w.picker[v]), vi_set(1 << 22));
    vm rare = tr_rare(s, sums.deficit[v], top[v], zero, c);
    vf_store(accumulator + v * LANES, vf_add_where(zero, c, vf_set(0), d[v]));
    if (vm_bits(rare)) {
      float start[LANES];
      vf_store(start, c);
      smma_compute_lanes(r, row, (size_t)v * LANES, block, vm_bits(rare), start, accumulator + v * LANES);
    }
  }
  return tr_are_calm(accumulator, PANEL);
}

/* Rows of one block, at most TR_CHUNK, and what each pass over them leaves for the next: passes are short chains of
   dependent operations, of which processors overlap those of several rows. */
typedef struct {
  _Alignas(64) uint8_t least[2][TR_CHUNK][PANEL];
  _Alignas(64) int32_t sum[TR_CHUNK][PANEL];
  _Alignas(64) int32_t top[TR_CHUNK][PANEL];
  size_t count, row[TR_CHUNK];         /* rows that tr_add may do as they are */
  size_t other_count, other[TR_CHUNK]; /* the others */
} tr_passes;

/* First pass: accumulators are `calm`, `base` is that of all columns, and E is within range; no element has only
   products that are zero or whose exponents may be lower. */
static inline __attribute__((always_inline)) void tr_compare_rows(tr_shape s, const tr_words *w, const unsigned char *a,
                                                                  const unsigned char *b, size_t rows, int base,
                                                                  bool calm, tr_passes *p) {
  const tr_columns columns = tr_load_columns(s, b);
  size_t count = 0, other_count = 0;
  for (size_t row = 0; row < rows; row++, a += tr_row_block((size_t)s.length)) {
    const uint32_t *word = (const uint32_t *)a + s.length;
    const int bases = base + (s.wide ? (int32_t)word[s.length + 1] : 0);
    vb least[2];
    tr_compare(s, word, &columns, least);
    p->other[other_count] = p->row[count] = row;
    if (!calm || bases < TR_LEAST_BASE || bases > TR_GREATEST_BASE ||
        vb_any_less(w->certain, vb_min(least[0], least[1]))) {
      other_count++;
      continue;
    }
    /* GTR: a half of zeros has no exponent, and may take any that is not above the other's. */
    vb_store(p->least[0][count], s.grouped ? vb_min(least[0], w->certain) : least[0]);
    if (s.grouped) vb_store(p->least[1][count], vb_min(least[1], w->certain));
    count++;
  }
  p->count = count;
  p->other_count = other_count;
}

/* Second pass: t. */
static inline __attribute__((always_inline)) void tr_multiply_rows(tr_shape s, const tr_words *w,
                                                                   const unsigned char *a, const unsigned char *b,
                                                                   size_t count, tr_passes *p) {
  for (size_t i = 0; i < count; i++) {
    const unsigned char *x = a + p->row[i] * tr_row_block((size_t)s.length);
    const vb least[2] = {vb_load(p->least[0][i]), vb_load(p->least[s.grouped][i])};
    tr_words of_row = *w;
    tr_sums sums;
    if (s.wide) {
      of_row.top[0] = vi_add(w->top[0], vi_set(((const int32_t *)x)[2 * s.length]));
      of_row.top[1] = of_row.top[2] = of_row.top[3] = of_row.top[0];
    }
    sums = tr_products(s, &of_row, x, b, least);
    UNROLL for (int v = 0; v < 4; v++) {
      vi_store(p->sum[i] + v * LANES, sums.sum[v]);
      vi_store(p->top[i] + v * LANES, sums.top[v]);
    }
  }
}

/* Third pass: c. */
static inline __attribute__((always_inline)) void tr_add_rows(tr_shape s, const tr_words *w, size_t count,
                                                              const tr_passes *p, float *accumulator) {
  for (size_t i = 0; i < count; i++) {
    float *c = accumulator + p->row[i] * PANEL;
    tr_sums sums;
    vf d[4];
    UNROLL for (int v = 0; v < 4; v++) {
      sums.sum[v] = vi_load(p->sum[i] + v * LANES);
      sums.top[v] = vi_load(p->top[i] + v * LANES);
    }
    tr_add(s, w, &sums, c, d);
    UNROLL for (int v = 0; v < 4; v++) vf_store(c + v * LANES, d[v]);
  }
}

/* The base that all columns share, or one that is out of range. */
static int tr_common_base(tr_shape s, const unsigned char *b) {
  const int32_t *base = (const int32_t *)(b + (size_t)s.length * PANEL * 5);
  vi differs = vi_set(0);
  if (!s.wide) return 0;
  for (size_t j = 0; j < PANEL; j += LANES) differs = vi_or(differs, vi_xor(vi_load(base + j), vi_set(base[0])));
  return vm_bits(vi_has(differs, vi_set(-1))) ? TR_LEAST_BASE - 256 : base[0];
}

/* One block of `rows` rows from `first` on; returns whether their accumulators are calm behind it. */
static inline __attribute__((always_inline)) bool tr_block(const smma_run *r, const tr_constants *t, tr_shape s,
                                                           size_t first, size_t rows, size_t block, bool calm) {
  const size_t row_bytes = tr_row_block((size_t)s.length);
  const unsigned char *a = (const unsigned char *)r->a + (block * r->rows + first) * row_bytes;
  const unsigned char *b = (const unsigned char *)r->b + block * PANEL * tr_column_block((size_t)s.length);
  const int base = tr_common_base(s, b);
  const tr_words w = tr_words_of(t, base);
  tr_passes p;
  tr_compare_rows(s, &w, a, b, rows, base, calm, &p);
  tr_multiply_rows(s, &w, a, b, p.count, &p);
  tr_add_rows(s, &w, p.count, &p, (float *)r->accumulator + first * PANEL);
  for (size_t i = 0; i < p.other_count; i++)
    if (!tr_compute_with_care(r, t, s, a + p.other[i] * row_bytes, b, first + p.other[i], block)) calm = false;
  return calm;
}

static inline __attribute__((always_inline)) void tr_panel(const smma_run *r, const tr_constants *t, tr_shape s) {
  size_t blocks = tr_blocks(&r->plan->operation);
  for (size_t row = 0; row < r->rows; row += TR_CHUNK) {
    size_t rows = r->rows - row < TR_CHUNK ? r->rows - row : TR_CHUNK;
    bool calm = tr_are_calm((const float *)r->accumulator + row * PANEL, rows * PANEL);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      calm = tr_block(r, t, s, row, rows, block, calm);
  }
}

static inline __attribute__((always_inline)) void tr_run_revision(const smma_run *r, const tr_constants *t,
                                                                  int revision) {
  if (t->shape.grouped)
    tr_panel(r, t, (tr_shape){16, true, false, revision});
  else if (t->shape.wide && t->shape.length == 8)
    tr_panel(r, t, (tr_shape){8, false, true, revision});
  else if (t->shape.wide)
    tr_panel(r, t, (tr_shape){4, false, true, revision});
  else if (t->shape.length == 8)
    tr_panel(r, t, (tr_shape){8, false, false, revision});
  else
    tr_panel(r, t, (tr_shape){4, false, false, revision});
}

static void tr_fdpa_run(const smma_run *r) {
  const tr_constants t = tr_constants_of(&r->plan->operation);
  if (t.shape.revision == 1)
    tr_run_revision(r, &t, 1);
  else
    tr_run_revision(r, &t, 2);
}

static const smma_kernel_family tr_fdpa_family = {tr_fdpa_takes, PANEL,           tr_row_bytes, tr_column_bytes,
                                                  tr_pack_rows,  tr_pack_columns, tr_fdpa_run,  SMMA_MODE_NEAREST};
