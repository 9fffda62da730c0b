#include "gemm/special.h"

#include <math.h>

#include "gemm/element.h"
#include "gemm/pack.h"
#include "gemm/row.h"
#include "host/count.h"

/* Number of rows whose classes are packed together. */
enum { GROUP = 16 };

static size_t round_up(size_t x, size_t unit) { return (x + unit - 1) / unit * unit; }

/* Reports whether the family of an operation counts NaN and infinities as zero. Families of FMA, FTZ-AddMul, FTZ-FMA
   and compositions with exact terms compute them. Integers have none, nor have units that read all encodings as
   numbers. */
static bool counts_specials_as_zero(const smma_operation *o) {
  if (o->rule.nan == SMMA_NAN_NUMBERS) return false;
  if (o->rule.algorithm == SMMA_COMPOSITION) return o->rule.with.composition.step[0].term.bits != SMMA_EXACT_ALIGNMENT;
  return smma_is_fused(o) && o->rule.algorithm != SMMA_INTEGER;
}

const smma_kernel_family *smma_special_family(const smma_operation *o, const char *kernel) {
  const smma_operation classes = {
      .rule = {.algorithm = SMMA_FMA}, .a = SMMA_F32, .b = SMMA_F32, .c = SMMA_F32, .d = SMMA_F32, .k = 1};
  const smma_kernel_family *family;
  const char *name;
  if (!counts_specials_as_zero(o)) return NULL;
  return smma_choose_kernel(&classes, kernel, &family, &name) ? family : NULL;
}

/* ---- Working memory ---- */

/* Reports whether all encodings of a format are numbers. */
static bool has_only_numbers(smma_format format) {
  return smma_encoding_of(format).specials == SMMA_SPECIALS_FINITE || smma_is_fixed_point(format);
}

/* Returns the number of elements along K that share a class. If only scale factors can be NaN, these are the elements
   that share a scale factor. Otherwise each element has its own class. */
static size_t elements_of_class(const smma_operation *o) {
  const bool finite = has_only_numbers(o->a) && has_only_numbers(o->b);
  return finite && o->scale_block ? (size_t)o->scale_block : 1;
}

/* The classes of up to 64 elements of a line. Bit i of each member belongs to element i, in the order in which blocks
   multiply elements. */
typedef struct {
  uint64_t nan, infinite, zero, negative;
} class_bits;

/* The origin of the NaN of an element of D: that of the last block whose products make a NaN. */
typedef enum {
  SOURCE_NONE,  /* no block has made a NaN */
  SOURCE_MADE,  /* an invalid operation: 0 times infinity, or infinities of both signs added */
  SOURCE_FACTOR /* a factor that is NaN */
} nan_source;

/* Working memory. `words`, `bits` and `source` are used only if a NaN from a factor differs from other NaN. */
typedef struct {
  size_t rows, columns;  /* size of the tile, rounded up to whole groups of rows and whole panels */
  size_t unit;           /* elements that share a class */
  size_t depth;          /* classes of a line in a section of K */
  size_t words;          /* class_bits of a line in a section of K */
  float *sum;            /* sums of the products of classes, in panels of columns like a family's accumulators */
  float *a, *b;          /* packed classes */
  float *line;           /* classes of the lines that are packed next */
  class_bits *bits;      /* `words` entries for each row, then for each column */
  unsigned char *source; /* a nan_source for each element, row by row */
} workspace;

/* Reports whether a NaN that comes from a NaN factor differs from other NaN, as on RDNA. */
static bool has_marked_nan(const smma_operation *o) {
  const bool opposing = o->rule.algorithm == SMMA_C_FDPA || o->rule.algorithm == SMMA_GD_FDPA;
  return opposing && smma_marks_nan(o->rule.nan) && !o->scale_block;
}

/* Returns how many steps share an entry of class_bits, which has one bit in each member for each element along K. */
static size_t steps_of_word(const smma_operation *o) { return o->k > 64 ? 1 : 64 / (size_t)o->k; }

/* Returns how many entries of class_bits `steps` steps take. A step with more than 64 elements takes several. */
static size_t words_of(const smma_operation *o, size_t steps) {
  const size_t of_step = ((size_t)o->k + 63) / 64, together = steps_of_word(o);
  return (steps + together - 1) / together * of_step;
}

/* Returns a workspace whose sizes are set and whose pointers are NULL. */
static workspace sizes_of(const smma_multiplier *p, size_t rows, size_t columns) {
  const size_t k = (size_t)p->operation.k, unit = elements_of_class(&p->operation);
  return (workspace){.rows = round_up(rows, GROUP),
                     .columns = round_up(columns, p->classes->columns),
                     .unit = unit,
                     .depth = smma_steps_at_once(p) * k / unit,
                     .words = has_marked_nan(&p->operation) ? words_of(&p->operation, smma_steps_at_once(p)) : 0};
}

/* Returns how many floats the arrays `bits` and `source` take. */
static size_t marked_space(const workspace *w) {
  if (!w->words) return 0;
  return ((w->rows + w->columns) * w->words * sizeof(class_bits) + w->rows * w->columns) / sizeof(float);
}

size_t smma_special_space(const smma_multiplier *p, size_t rows, size_t columns) {
  workspace w;
  if (!p->classes) return 0;
  w = sizes_of(p, rows, columns);
  return marked_space(&w) + w.rows * w.columns + (w.rows + w.columns + GROUP + p->classes->columns) * w.depth;
}

static workspace workspace_of(const smma_special *s) {
  workspace w = sizes_of(s->multiplier, s->rows, s->columns);
  w.bits = (class_bits *)s->space, w.source = (unsigned char *)(w.bits + (w.rows + w.columns) * w.words);
  w.sum = s->space + marked_space(&w), w.a = w.sum + w.rows * w.columns, w.b = w.a + w.rows * w.depth,
  w.line = w.b + w.columns * w.depth;
  return w;
}

/* ---- Classes ---- */

/* Constants for finding the class of an encoding. */
typedef struct {
  smma_decoder format;
  uint32_t infinity; /* fields of infinity; all ones if the format has none */
  uint32_t least;    /* fields of the least number that does not count as zero */
} classifier;

/* Returns the class of an encoding: 0, 1, an infinity or NaN, with the encoding's sign. */
static float class_of(const classifier *c, uint32_t code) {
  const smma_decoder *f = &c->format;
  const uint32_t x = code >> f->ignored, fields = x & f->fields_mask;
  uint32_t bits = fields >= c->least ? UINT32_C(127) << 23 : 0;
  float result;
  bits = fields > f->largest || x == f->nan ? UINT32_C(0x7fc00000) : bits;
  bits = fields == c->infinity ? UINT32_C(255) << 23 : bits;
  bits |= (x >> f->sign_at & 1) << 31;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* Stores the classes of `count` encodings, which are `step` apart, from index `first` on. In the calls for which speed
   matters, `bytes` and `step` are constants. */
static inline __attribute__((always_inline)) void classify_as(const classifier *c, size_t bytes, const void *data,
                                                              size_t first, size_t step, size_t count, float *out) {
  const classifier f = *c;
  for (size_t i = 0; i < count; i++) out[i] = class_of(&f, (uint32_t)smma_load(bytes, data, first + i * step));
}

/* Stores the classes of `count` elements of a line, from index k on. The class is 0 for elements outside the matrix,
   and for subnormals if `flushes`. */
static void classify(const smma_view *x, bool flushes, size_t line, size_t k, size_t count, float *out) {
  const smma_encoding e = smma_encoding_of(x->format);
  classifier c = {smma_decoder_of(x->format), ~UINT32_C(0), flushes ? UINT32_C(1) << e.fraction_bits : 1};
  const size_t first = smma_element(x, line, k), bytes = smma_container_bytes(e);
  const size_t present = k < x->count ? smma_least(x->count - k, count) : 0;
  if (smma_has_infinity(e)) c.infinity = c.format.largest + 1;
  for (size_t i = present; i < count; i++) out[i] = 0;
  if (x->factor != 1)
    for (size_t i = 0; i < present; i++)
      out[i] =
          class_of(&c, (uint32_t)smma_scaled(x->format, smma_load(bytes, x->data, first + i * x->k_step), x->factor));
  else if (x->k_step != 1)
    classify_as(&c, bytes, x->data, first, x->k_step, present, out);
  else if (bytes == 1)
    classify_as(&c, 1, x->data, first, 1, present, out);
  else if (bytes == 2)
    classify_as(&c, 2, x->data, first, 1, present, out);
  else
    classify_as(&c, bytes, x->data, first, 1, present, out);
}

/* Sets the classes of elements whose scale factor is NaN to NaN. `unit` elements share a class. */
static void classify_scales(const smma_multiplier *p, bool of_a, size_t line, size_t k, size_t count, size_t unit,
                            float *out) {
  const size_t each = (size_t)p->operation.scale_block / unit;
  smma_number scale[SMMA_DEPTH];
  smma_decode_scales(p, of_a, line, k, count, scale);
  for (size_t i = 0; i < count / unit; i++)
    if (scale[i / each].kind == SMMA_NAN) out[i] = NAN;
}

/* Stores the classes of a line's `steps` steps, which are at `at`, as bits: element by element, as blocks multiply
   them. */
static void store_bits(const smma_operation *o, const float *at, size_t steps, class_bits *out) {
  const size_t k = (size_t)o->k, length = (size_t)smma_block_of(o), together = steps_of_word(o);
  int order[SMMA_MAXIMUM_K];
  for (size_t x = 0; x < k; x++) order[x] = smma_product_index(o, (int)(x / length), (int)(x % length));
  memset(out, 0, words_of(o, steps) * sizeof *out);
  for (size_t step = 0; step < steps; step++)
    for (size_t x = 0; x < k; x++) {
      const size_t bit = step % together * k + x;
      class_bits *word = out + (k > 64 ? step * ((k + 63) / 64) : step / together) + bit / 64;
      uint32_t class;
      memcpy(&class, at + step * k + (size_t)order[x], sizeof class);
      word->nan |= (uint64_t)(class << 1 > UINT32_C(255) << 24) << bit % 64;
      word->infinite |= (uint64_t)(class << 1 == UINT32_C(255) << 24) << bit % 64;
      word->zero |= (uint64_t)(class << 1 == 0) << bit % 64;
      word->negative |= (uint64_t)(class >> 31) << bit % 64;
    }
}

/* Packs the classes of `count` rows (or columns) of the tile, from `first` on, for `steps` steps from `step` on. Pads
   them with zeros to a whole group of rows (or panel). Also stores them as bits, if the workspace has room for bits. */
static void pack(const smma_special *s, bool of_a, size_t first, size_t count, size_t step, size_t steps, float *out) {
  const smma_multiplier *p = s->multiplier;
  const size_t k = (size_t)p->operation.k, elements = steps * k, origin = of_a ? s->row : s->column;
  const workspace w = workspace_of(s);
  const size_t depth = elements / w.unit;
  const smma_view lines = {.data = w.line,
                           .format = SMMA_F32,
                           .lines = count,
                           .count = depth,
                           .line_step = depth,
                           .k_step = 1,
                           .panel = SIZE_MAX,
                           .factor = 1};
  const bool flushes = p->operation.rule.algorithm == SMMA_C_FDPA &&
                       smma_c_fdpa_subnormals(smma_view_of(p, of_a)->format) != SMMA_SUBNORMALS_KEPT;
  const smma_multiplier classes = {.operation.k = 1};
  const smma_pack into = {&classes, &lines, of_a, 0, of_a ? GROUP : p->classes->columns, 0, depth, out, NULL};
  for (size_t i = 0; i < count; i++) {
    float *at = w.line + i * depth;
    if (w.unit == 1)
      classify(smma_view_of(p, of_a), flushes, origin + first + i, step * k, elements, at);
    else
      for (size_t x = 0; x < depth; x++) at[x] = 1;
    if (p->operation.scale_block) classify_scales(p, of_a, origin + first + i, step * k, elements, w.unit, at);
    if (w.words) store_bits(&p->operation, at, steps, w.bits + (of_a ? first + i : w.rows + first + i) * w.words);
  }
  (of_a ? p->classes->pack_rows : p->classes->pack_columns)(&into);
}

/* Reports whether one of `count` flags, from `first` on, is set; there are `all` flags. */
static bool any_of(const unsigned char *flag, size_t first, size_t count, size_t all) {
  return memchr(flag + first, 1, smma_least(count, all - first)) != NULL;
}

/* Returns the lowest bit of each block of `length` (2 or 4) bits, set if any bit of the block is set. Other bits are
   0. */
static inline uint64_t blocks_with(uint64_t bits, int length) {
  bits |= bits >> 1;
  return length == 2 ? bits & UINT64_C(0x5555555555555555) : (bits | bits >> 2) & UINT64_C(0x1111111111111111);
}

/* Returns the source of the last NaN that products of a row and a column make, or `before` if they make none. */
static inline unsigned char last_source(class_bits a, class_bits b, int length, unsigned char before) {
  const uint64_t infinite = a.infinite | b.infinite, negative = a.negative ^ b.negative;
  const uint64_t factors = blocks_with(a.nan | b.nan, length);
  const uint64_t made = blocks_with((a.infinite & b.zero) | (a.zero & b.infinite), length) |
                        (blocks_with(infinite & negative, length) & blocks_with(infinite & ~negative, length));
  if (!(factors | made)) return before;
  return factors >= (made & ~factors) ? SOURCE_FACTOR : SOURCE_MADE; /* the later block has the higher bit */
}

/* Updates w->source of each element by the products of the `steps` steps whose classes are in w->bits. */
static void find_sources(const smma_special *s, const workspace *w, size_t steps) {
  const smma_operation *o = &s->multiplier->operation;
  const int length = smma_block_of(o);
  const size_t words = words_of(o, steps);
  for (size_t i = 0; i < s->rows; i++) {
    unsigned char *source = w->source + i * w->columns;
    for (size_t word = 0; word < words; word++) {
      const class_bits a = w->bits[i * w->words + word], *b = w->bits + w->rows * w->words + word;
      if (length == 2)
        for (size_t j = 0; j < s->columns; j++) source[j] = last_source(a, b[j * w->words], 2, source[j]);
      else
        for (size_t j = 0; j < s->columns; j++) source[j] = last_source(a, b[j * w->words], 4, source[j]);
    }
  }
}

/* Sets the sums of classes to zero, unless there are sums already. */
static void start_sums(smma_special *s, const workspace *w) {
  if (s->any) return;
  memset(w->sum, 0, w->rows * w->columns * sizeof *w->sum);
  if (w->words) memset(w->source, SOURCE_NONE, w->rows * w->columns);
  s->any = true;
}

void smma_special_add(smma_special *s, size_t step, size_t steps, const unsigned char *rows,
                      const unsigned char *columns) {
  const smma_kernel_family *family = s->multiplier->classes;
  const workspace w = workspace_of(s);
  const size_t width = family->columns, depth = steps * (size_t)s->multiplier->operation.k / w.unit;
  const smma_multiplier classes = {.operation.k = 1};
  start_sums(s, &w);
  for (size_t i = 0; i < s->rows; i += GROUP)
    pack(s, true, i, smma_least(s->rows - i, GROUP), step, steps, w.a + i * depth);
  for (size_t j = 0; j < s->columns; j += width) {
    const bool of_columns = any_of(columns, j, width, s->columns);
    pack(s, false, j, smma_least(s->columns - j, width), step, steps, w.b + j * depth);
    for (size_t i = 0; i < s->rows; i += GROUP) {
      smma_run run = {.multiplier = &classes, .a = w.a + i * depth, .b = w.b + j * depth};
      if (!of_columns && !any_of(rows, i, GROUP, s->rows)) continue;
      run.accumulator = w.sum + smma_accumulator_index(w.rows, width, i, j);
      run.rows = run.packed_rows = GROUP, run.packed_steps = run.last = depth;
      family->run(&run);
    }
  }
  if (w.words) find_sources(s, &w, steps);
}

/* ---- Accumulators ---- */

static bool is_finite(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (bits << 1) < UINT32_C(255) << 24;
}

void smma_special_take(smma_special *s) {
  const workspace w = workspace_of(s);
  for (size_t first = 0; first < s->columns; first += s->panel)
    for (size_t i = 0; i < s->rows; i++) {
      float *accumulator = s->accumulator + smma_accumulator_index(s->packed_rows, s->panel, i, first);
      const size_t count = smma_least(s->columns - first, s->panel);
      if (smma_is_finite_row(accumulator, count)) continue;
      for (size_t x = 0; x < count; x++) {
        if (is_finite(accumulator[x])) continue;
        start_sums(s, &w);
        w.sum[smma_accumulator_index(w.rows, s->multiplier->classes->columns, i, first + x)] = accumulator[x];
        accumulator[x] = 0;
      }
    }
}

/* Computes `steps` steps of element (i, j) from `step` on with the core. `*accumulator` is the value before the first
   step, and becomes the result. */
static void run_core(const smma_special *s, size_t i, size_t j, size_t step, size_t steps, float *accumulator) {
  const smma_multiplier *p = s->multiplier;
  const smma_core_run one = {p, accumulator, s->row + i, s->column + j, 1, 1, 1, s->panel, step, steps};
  smma_run_core(&one, s->core);
}

/* Sets the accumulator of element (i, j) to its value before step s->step: 0, or the value that comes from C. */
static void start(const smma_special *s, size_t i, size_t j, float *accumulator) {
  *accumulator = 0;
  if (s->from_c) smma_start_row(s->multiplier, s->row + i, s->column + j, 1, accumulator);
}

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The NaN that products make, in the outer format, indexed by nan_source. */
typedef struct {
  float nan[SOURCE_FACTOR + 1];
} marked_nans;

static marked_nans marked_nans_of(const smma_multiplier *p) {
  const smma_encoding d = smma_encoding_of(p->operation.d);
  const float made = float_of((uint32_t)smma_widen(p, smma_nan_of(d, p->operation.rule.nan)));
  return (marked_nans){{made, made, float_of((uint32_t)smma_widen(p, smma_marked_nan(d)))}};
}

/* Sets the accumulator of element (i, j) to its NaN, for rules in which a NaN from a factor differs from other NaN. If
   `source` is SOURCE_NONE, no block's products made the NaN: then c is NaN, or infinities of both signs were added. */
static void settle_marked(const smma_special *s, const marked_nans *nans, size_t i, size_t j, nan_source source,
                          float *accumulator) {
  uint32_t bits;
  *accumulator = nans->nan[source];
  if (source != SOURCE_NONE || !s->from_c || !s->multiplier->with.c) return;
  start(s, i, j, accumulator);
  memcpy(&bits, accumulator, sizeof bits);
  *accumulator = isnan(*accumulator) ? float_of(bits | UINT32_C(1) << 22) : nans->nan[SOURCE_MADE];
}

/* Sets the accumulator of element (i, j) to its infinity or NaN after `last` steps. `special`, an infinity or NaN, is
   the sum of the element's products of classes. */
static void settle(const smma_special *s, const workspace *w, const marked_nans *nans, size_t i, size_t j,
                   float special, size_t last) {
  const smma_nan_policy policy = s->multiplier->operation.rule.nan;
  float *accumulator = s->accumulator + smma_accumulator_index(s->packed_rows, s->panel, i, j);
  if (isnan(special) && smma_has_one_nan(policy)) {
    *accumulator = float_of((uint32_t)smma_nan_of(smma_encoding_of(SMMA_F32), policy));
  } else if (isnan(special) && w->words) {
    settle_marked(s, nans, i, j, w->source[i * w->columns + j], accumulator);
  } else if (!isnan(special) && (is_finite(*accumulator) || *accumulator == special)) {
    *accumulator = special;
  } else { /* the order decides: the family's sum is infinite, too, or there are several NaN */
    start(s, i, j, accumulator);
    run_core(s, i, j, s->step, last - s->step, accumulator);
  }
}

void smma_special_settle(smma_special *s, size_t last) {
  const workspace w = workspace_of(s);
  const marked_nans nans = marked_nans_of(s->multiplier);
  const size_t width = s->multiplier->classes->columns;
  for (size_t j = 0; s->any && j < s->columns; j += width)
    for (size_t i = 0; i < s->rows; i++) {
      const float *sum = w.sum + smma_accumulator_index(w.rows, width, i, j);
      const size_t count = smma_least(s->columns - j, width);
      for (size_t x = 0; x < count; x++)
        if (!is_finite(sum[x])) settle(s, &w, &nans, i, j + x, sum[x], last);
    }
  s->any = false, s->from_c = false, s->step = last;
}
