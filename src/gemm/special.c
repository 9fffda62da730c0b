#include "gemm/special.h"

#include <math.h>

#include "gemm/element.h"
#include "gemm/pack.h"
#include "gemm/row.h"
#include "host/count.h"

enum { GROUP = 16 }; /* rows and columns that are classified together */

static size_t round_up(size_t x, size_t unit) { return (x + unit - 1) / unit * unit; }

const smma_kernel_family *smma_special_family(const smma_operation *o, const char *kernel) {
  const smma_operation classes = {.rule = {.algorithm = SMMA_FMA}, .a = SMMA_F32, .b = SMMA_F32, .d = SMMA_F32, .k = 1};
  const smma_kernel_family *family;
  const char *name;
  if (!smma_is_fused(o) || o->rule.algorithm == SMMA_INTEGER) return NULL;
  return smma_choose_kernel(&classes, kernel, &family, &name) ? family : NULL;
}

/* ---- Working memory ---- */

/* Returns how many elements of K share a class: those of one scale factor if only the scale factor can be NaN, else
   1. */
static size_t elements_of_class(const smma_operation *o) {
  const bool finite = smma_encoding_of(o->a).specials == SMMA_SPECIALS_FINITE &&
                      smma_encoding_of(o->b).specials == SMMA_SPECIALS_FINITE;
  return finite && o->scale_block ? (size_t)o->scale_block : 1;
}

/* Working memory: `sum` holds the sums of products of classes, in panels of columns like a family's accumulators.
   `line` holds classes of one line along K; `a` and `b` hold packed classes. */
typedef struct {
  size_t rows, columns, unit, depth; /* depth: classes in a section of K; unit: elements per class */
  float *sum, *a, *b, *line;
} workspace;

/* Returns a workspace that has only its sizes. */
static workspace sizes_of(const smma_multiplier *p, size_t rows, size_t columns) {
  const size_t k = (size_t)p->operation.k, unit = elements_of_class(&p->operation);
  return (workspace){.rows = round_up(rows, GROUP),
                     .columns = round_up(columns, p->classes->columns),
                     .unit = unit,
                     .depth = smma_steps_at_once(p) * k / unit};
}

size_t smma_special_space(const smma_multiplier *p, size_t rows, size_t columns) {
  workspace w;
  if (!p->classes) return 0;
  w = sizes_of(p, rows, columns);
  return w.rows * w.columns + (w.rows + w.columns + GROUP + p->classes->columns) * w.depth;
}

static workspace workspace_of(const smma_special *s) {
  workspace w = sizes_of(s->multiplier, s->rows, s->columns);
  w.sum = s->space, w.a = w.sum + w.rows * w.columns, w.b = w.a + w.rows * w.depth, w.line = w.b + w.columns * w.depth;
  return w;
}

/* ---- Classes ---- */

/* Values for comparing the encodings of a format. */
typedef struct {
  smma_decoder format;
  uint32_t infinity; /* fields of infinity; all ones if the format has none */
} classifier;

static float class_of(const classifier *c, uint32_t code) {
  const smma_decoder *f = &c->format;
  const uint32_t x = code >> f->ignored, fields = x & f->fields_mask;
  uint32_t bits = fields ? UINT32_C(127) << 23 : 0;
  float result;
  bits = fields > f->largest || x == f->nan ? UINT32_C(0x7fc00000) : bits;
  bits = fields == c->infinity ? UINT32_C(255) << 23 : bits;
  bits |= (x >> f->sign_at & 1) << 31;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* In callers for which speed matters, `bytes` of an encoding and `step` are constants. */
static inline __attribute__((always_inline)) void classify_as(const classifier *c, size_t bytes, const void *data,
                                                              size_t first, size_t step, size_t count, float *out) {
  const classifier f = *c;
  for (size_t i = 0; i < count; i++) out[i] = class_of(&f, (uint32_t)smma_load(bytes, data, first + i * step));
}

/* Stores the classes of `count` elements of a line, from k on; 0 outside the matrix. */
static void classify(const smma_view *x, size_t line, size_t k, size_t count, float *out) {
  const smma_encoding e = smma_encoding_of(x->format);
  classifier c = {smma_decoder_of(x->format), ~UINT32_C(0)};
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

/* Sets classes to NaN where the scale factor is NaN. */
static void classify_scales(const smma_multiplier *p, bool of_a, size_t line, size_t k, size_t count, size_t unit,
                            float *out) {
  const size_t each = (size_t)p->operation.scale_block / unit;
  smma_number scale[SMMA_DEPTH];
  smma_decode_scales(p, of_a, line, k, count, scale);
  for (size_t i = 0; i < count / unit; i++)
    if (scale[i / each].kind == SMMA_NAN) out[i] = NAN;
}

/* Packs the classes of `count` rows (columns) of the tile, from `first` on, for `steps` steps from `step` on, and pads
   them with zeros. */
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
  const smma_multiplier classes = {.operation.k = 1};
  const smma_pack into = {&classes, &lines, of_a, 0, of_a ? GROUP : p->classes->columns, 0, depth, out, NULL};
  for (size_t i = 0; i < count; i++) {
    float *at = w.line + i * depth;
    if (w.unit == 1)
      classify(smma_view_of(p, of_a), origin + first + i, step * k, elements, at);
    else
      for (size_t x = 0; x < depth; x++) at[x] = 1;
    if (p->operation.scale_block) classify_scales(p, of_a, origin + first + i, step * k, elements, w.unit, at);
  }
  (of_a ? p->classes->pack_rows : p->classes->pack_columns)(&into);
}

static bool any_of(const unsigned char *flag, size_t first, size_t count, size_t all) {
  return memchr(flag + first, 1, smma_least(count, all - first)) != NULL;
}

void smma_special_add(smma_special *s, size_t step, size_t steps, const unsigned char *rows,
                      const unsigned char *columns) {
  const smma_kernel_family *family = s->multiplier->classes;
  const workspace w = workspace_of(s);
  const size_t width = family->columns, depth = steps * (size_t)s->multiplier->operation.k / w.unit;
  const smma_multiplier classes = {.operation.k = 1};
  if (!s->any) memset(w.sum, 0, w.rows * w.columns * sizeof *w.sum);
  s->any = true;
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
        if (!s->any) memset(w.sum, 0, w.rows * w.columns * sizeof *w.sum);
        s->any = true;
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

static void start(const smma_special *s, size_t i, size_t j, float *accumulator) {
  *accumulator = 0;
  if (s->from_c) smma_start_row(s->multiplier, s->row + i, s->column + j, 1, accumulator);
}

/* Reports whether a step may make a NaN whatever its accumulator is. If subnormal factors are read as zeros (C-FDPA
   with wide exponents), infinity times a subnormal is NaN, which classes do not show. */
static bool may_make_nan(const smma_special *s, size_t i, size_t j, size_t step) {
  const size_t k = (size_t)s->multiplier->operation.k;
  float a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], sum = 0;
  classify(smma_view_of(s->multiplier, true), s->row + i, step * k, k, a);
  classify(smma_view_of(s->multiplier, false), s->column + j, step * k, k, b);
  if (smma_is_finite_row(a, k) && smma_is_finite_row(b, k)) return false;
  for (size_t n = 0; n < k; n++) sum += a[n] * b[n];
  return isnan(sum) || (s->multiplier->operation.rule.algorithm == SMMA_C_FDPA &&
                        smma_encoding_of(s->multiplier->operation.a).exponent_bits > 5);
}

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Determines which NaN element (i, j) is, if NaN of factors differ from NaN of accumulators. The last step whose
   factors alone make a NaN decides; if there is no such step, c or infinities of both signs do. */
static void settle_marked(const smma_special *s, size_t i, size_t j, size_t last, float *accumulator) {
  const float other =
      float_of(0x7fe10000); /* a NaN that no unit returns: positive, with a payload that FP16 and BF16 can represent */
  for (size_t step = last; step-- > s->step;) {
    if (!may_make_nan(s, i, j, step)) continue;
    *accumulator = other;
    run_core(s, i, j, step, 1, accumulator);
    if (memcmp(accumulator, &other, sizeof other) != 0) return;
  }
  start(s, i, j, accumulator);
  if (isnan(*accumulator))
    run_core(s, i, j, s->step, 1, accumulator);
  else
    *accumulator = float_of((uint32_t)smma_nan_of(smma_encoding_of(SMMA_F32), s->multiplier->operation.rule.nan));
}

/* Reports whether the operation has RDNA's NaN policy. */
static bool has_marked_nan(const smma_operation *o) {
  const bool opposing = o->rule.algorithm == SMMA_C_FDPA || o->rule.algorithm == SMMA_GD_FDPA;
  return opposing && smma_marks_nan(o->rule.nan) && !o->scale_block;
}

/* Sets the accumulator of element (i, j), whose products of classes sum to `special`, to its infinity or NaN. */
static void settle(const smma_special *s, size_t i, size_t j, float special, size_t last) {
  const smma_nan_policy policy = s->multiplier->operation.rule.nan;
  float *accumulator = s->accumulator + smma_accumulator_index(s->packed_rows, s->panel, i, j);
  if (isnan(special) && smma_has_one_nan(policy)) {
    *accumulator = float_of((uint32_t)smma_nan_of(smma_encoding_of(SMMA_F32), policy));
  } else if (isnan(special) && has_marked_nan(&s->multiplier->operation)) {
    settle_marked(s, i, j, last, accumulator);
  } else if (!isnan(special) && (is_finite(*accumulator) || *accumulator == special)) {
    *accumulator = special;
  } else { /* the family's sum is infinite, too, so the order decides; it also decides among different NaN */
    start(s, i, j, accumulator);
    run_core(s, i, j, s->step, last - s->step, accumulator);
  }
}

void smma_special_settle(smma_special *s, size_t last) {
  const workspace w = workspace_of(s);
  const size_t width = s->multiplier->classes->columns;
  for (size_t j = 0; s->any && j < s->columns; j += width)
    for (size_t i = 0; i < s->rows; i++) {
      const float *sum = w.sum + smma_accumulator_index(w.rows, width, i, j);
      const size_t count = smma_least(s->columns - j, width);
      for (size_t x = 0; x < count; x++)
        if (!is_finite(sum[x])) settle(s, i, j + x, sum[x], last);
    }
  s->any = false, s->from_c = false, s->step = last;
}
