#include "gemm/special.h"

#include <math.h>

#include "gemm/element.h"
#include "gemm/pack.h"

enum { GROUP = 64 }; /* the most rows at a time */

/* Classes of rows and columns, packed and in lines along K; sums of their products with a panel of columns. */
typedef struct {
  size_t unit, depth; /* elements of a class; classes of a run at most */
  float *b, *a, *line, *sum;
  uint16_t *row, *column; /* of the tile, which they are of */
} workspace;

static size_t least(size_t x, size_t y) { return x < y ? x : y; }
static size_t round_up(size_t x, size_t unit) { return (x + unit - 1) / unit * unit; }

/* Of how many elements of K one class is: all of a scale factor's where only that can be NaN. */
static size_t elements_of_class(const smma_operation *o) {
  const bool finite = smma_encoding_of(o->a).specials == SMMA_SPECIALS_FINITE &&
                      smma_encoding_of(o->b).specials == SMMA_SPECIALS_FINITE;
  return finite && o->scale_block ? (size_t)o->scale_block : 1;
}

/* The floats that it takes, if `all` is not NULL. */
static workspace workspace_in(const smma_plan *p, float *space, size_t *all) {
  const size_t k = (size_t)p->operation.k, width = p->classes->columns;
  const size_t rows = least(round_up(p->with.m, 16), GROUP);
  const size_t columns = round_up(least(p->with.n, SMMA_TILE_COLUMNS), width);
  workspace w = {.unit = elements_of_class(&p->operation)};
  w.depth = least(SMMA_DEPTH / k, p->steps) * k / w.unit;
  w.b = space, w.a = w.b + columns * w.depth, w.sum = w.a + rows * w.depth, w.line = w.sum + rows * width;
  w.column = (uint16_t *)(w.line + (rows > width ? rows : width) * w.depth), w.row = w.column + columns;
  if (all) *all = (size_t)((float *)(w.row + round_up(rows, 2)) - space);
  return w;
}

size_t smma_special_space(const smma_plan *p) {
  size_t all = 0;
  if (p->classes) workspace_in(p, NULL, &all);
  return round_up(all, 16);
}

const smma_kernel_family *smma_special_family(const smma_operation *o, const char *kernel) {
  const smma_operation classes = {.rule = {.algorithm = SMMA_FMA}, .a = SMMA_F32, .b = SMMA_F32, .d = SMMA_F32, .k = 1};
  const smma_kernel_family *family;
  const char *name;
  if (!smma_is_fused(o) || o->rule.algorithm == SMMA_INTEGER || o->rule.nan == SMMA_NAN_OPERAND) return NULL;
  return smma_choose_kernel(&classes, kernel, &family, &name) ? family : NULL;
}

/* ---- Classes ---- */

/* What the encodings of a format are compared with. */
typedef struct {
  smma_decoder format;
  uint32_t infinity; /* fields; none has those of all ones */
} classifier;

static float class_of(const classifier *c, uint32_t code) {
  const smma_decoder *f = &c->format;
  const uint32_t x = code >> f->ignored, fields = x & f->fields_mask;
  uint32_t bits = fields ? UINT32_C(127) << 23 : 0;
  float result;
  bits = (fields > f->largest) | (x == f->nan) ? UINT32_C(0x7fc00000) : bits;
  bits = fields == c->infinity ? UINT32_C(255) << 23 : bits;
  bits |= (x >> f->sign_at & 1) << 31;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* `bytes` of an encoding and `step` are constants where this matters. */
static inline __attribute__((always_inline)) void classify_as(const classifier *c, size_t bytes, const void *data,
                                                              size_t first, size_t step, size_t count, float *out) {
  const classifier f = *c;
  for (size_t i = 0; i < count; i++) out[i] = class_of(&f, (uint32_t)smma_load(bytes, data, first + i * step));
}

/* The classes of `count` elements of a line, from k on; 0 behind the matrix. */
static void classify(const smma_view *x, size_t line, size_t k, size_t count, float *out) {
  const smma_encoding e = smma_encoding_of(x->format);
  classifier c = {smma_decoder_of(x->format), ~UINT32_C(0)};
  const size_t first = line * x->line_stride + k * x->k_stride, bytes = smma_container_bytes(e);
  const size_t present = k < x->count ? least(x->count - k, count) : 0;
  if (e.specials == SMMA_SPECIALS_IEEE) c.infinity = c.format.largest + 1;
  for (size_t i = present; i < count; i++) out[i] = 0;
  if (x->factor != 1)
    for (size_t i = 0; i < present; i++)
      out[i] =
          class_of(&c, (uint32_t)smma_scaled(x->format, smma_load(bytes, x->data, first + i * x->k_stride), x->factor));
  else if (x->k_stride != 1)
    classify_as(&c, bytes, x->data, first, x->k_stride, present, out);
  else if (bytes == 1)
    classify_as(&c, 1, x->data, first, 1, present, out);
  else if (bytes == 2)
    classify_as(&c, 2, x->data, first, 1, present, out);
  else
    classify_as(&c, bytes, x->data, first, 1, present, out);
}

/* NaN where scale factors are. */
static void classify_scales(const smma_plan *p, bool of_a, size_t line, size_t k, size_t count, size_t unit,
                            float *out) {
  const size_t each = (size_t)p->operation.scale_block / unit;
  smma_number scale[SMMA_DEPTH];
  smma_decode_scales(p, of_a, line, k, count, scale);
  for (size_t i = 0; i < count / unit; i++)
    if (scale[i / each].kind == SMMA_NAN) out[i] = NAN;
}

/* What a run multiplies: chosen rows by chosen columns. */
typedef struct {
  const smma_core_run *run;
  const float *before;
  smma_number *core;
  workspace w;
  smma_plan classes;
} product;

/* Packs those of `count` rows (columns) of the run into `out`, behind them zeros to a multiple of `round`. */
static void pack(product *p, bool of_a, const uint16_t *chosen, size_t count, size_t round, float *out) {
  const smma_core_run *r = p->run;
  const smma_plan *plan = r->plan;
  const size_t k = r->step * (size_t)plan->operation.k, elements = r->steps * (size_t)plan->operation.k;
  const smma_kernel_family *family = plan->classes;
  const smma_view lines = {p->w.line, SMMA_F32, count, p->w.depth, p->w.depth, 1, 1, NULL};
  const smma_pack into = {&p->classes, of_a, 0, round_up(count, round), 0, p->w.depth, out, NULL};
  for (size_t i = 0; i < count; i++) {
    const size_t line = (of_a ? r->row : r->column) + chosen[i];
    float *at = p->w.line + i * p->w.depth;
    if (p->w.unit == 1)
      classify(smma_view_of(plan, of_a), line, k, elements, at);
    else
      for (size_t x = 0; x < p->w.depth; x++) at[x] = 1;
    if (plan->operation.scale_block) classify_scales(plan, of_a, line, k, elements, p->w.unit, at);
  }
  if (of_a)
    p->classes.a = lines, family->pack_rows(&into);
  else
    p->classes.b = lines, family->pack_columns(&into);
}

/* ---- Results ---- */

static bool is_finite(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (bits << 1) < UINT32_C(255) << 24;
}

/* Element (i, j), which the family has summed without its special operands and with 0 for a special accumulator, which
   was `before`; its products of classes add up to `class`. */
static void combine(const smma_core_run *r, size_t i, size_t j, float class, float before, smma_number *core) {
  const smma_rule *rule = &r->plan->operation.rule;
  const size_t at = smma_accumulator_index(r->packed_rows, r->panel, i, j);
  float *accumulator = (float *)r->accumulator + at;
  float special = class;
  smma_core_run one = *r;
  if (!is_finite(before)) special += before;
  if (is_finite(special)) return;
  if (isnan(special)) {
    const uint32_t nan = (uint32_t)smma_nan_of(smma_encoding_of(SMMA_F32), rule->nan);
    memcpy(accumulator, &nan, sizeof nan);
  } else if (is_finite(*accumulator) || *accumulator == special) {
    *accumulator = special;
  } else { /* whether the sum becomes infinite depends on what comes first */
    *accumulator = before;
    one.accumulator = accumulator, one.row += i, one.column += j;
    one.rows = one.columns = 1, one.special_rows = one.special_columns = NULL;
    smma_run_core(&one, core);
  }
}

/* The space's rows, `rows` of them, by its columns, which are packed. */
static void multiply(product *p, size_t rows, size_t columns) {
  const smma_core_run *r = p->run;
  const smma_kernel_family *family = r->plan->classes;
  const size_t width = family->columns;
  workspace *w = &p->w;
  pack(p, true, w->row, rows, 16, w->a);
  for (size_t first = 0; first < columns; first += width) {
    smma_run run = {.plan = &p->classes, .a = w->a, .b = w->b + first * w->depth, .accumulator = w->sum};
    run.rows = run.packed_rows = round_up(rows, 16), run.packed_steps = run.last = w->depth;
    memset(w->sum, 0, run.rows * width * sizeof *w->sum);
    family->run(&run);
    for (size_t i = 0; i < rows; i++)
      for (size_t x = 0; x < least(columns - first, width); x++) {
        const size_t j = w->column[first + x], at = smma_accumulator_index(r->packed_rows, r->panel, w->row[i], j);
        combine(r, w->row[i], j, w->sum[i * width + x], p->before[at], p->core);
      }
  }
}

/* Rows whose flag is `flag` by columns: all, or those whose flag is set. */
static void multiply_chosen(product *p, bool flag, bool all_columns) {
  const smma_core_run *r = p->run;
  const size_t width = r->plan->classes->columns;
  size_t columns = 0, rows = 0;
  workspace *w = &p->w;
  for (size_t j = 0; j < r->columns; j++)
    if (all_columns || r->special_columns[j]) w->column[columns++] = (uint16_t)j;
  if (columns == 0 || !memchr(r->special_rows, flag, r->rows)) return;
  for (size_t j = 0; j < columns; j += width)
    pack(p, false, w->column + j, least(columns - j, width), width, w->b + j * w->depth);
  for (size_t i = 0; i < r->rows; i++) {
    if (r->special_rows[i] == flag) w->row[rows++] = (uint16_t)i;
    if (rows == GROUP || (rows && i + 1 == r->rows)) multiply(p, rows, columns), rows = 0;
  }
}

void smma_run_special(const smma_core_run *r, const float *before, float *space, smma_number *core) {
  product p = {.run = r, .before = before, .core = core, .w = workspace_in(r->plan, space, NULL)};
  p.w.depth = r->steps * (size_t)r->plan->operation.k / p.w.unit;
  p.classes.operation.k = 1;
  multiply_chosen(&p, true, true);
  multiply_chosen(&p, false, false);
}

/* ---- Accumulators ---- */

bool smma_hide_special(size_t count, float *accumulator, float *before) {
  uint32_t any = 0;
  for (size_t i = 0; i < count; i++) {
    before[i] = accumulator[i];
    any |= !is_finite(before[i]);
    accumulator[i] = is_finite(before[i]) ? before[i] : 0;
  }
  return any != 0;
}

void smma_restore_special(const smma_core_run *r, const float *before, smma_number *core) {
  for (size_t i = 0; i < r->rows; i++) {
    if (r->special_rows[i]) continue;
    for (size_t panel = 0; panel < r->columns; panel += r->panel) {
      const size_t count = r->columns - panel < r->panel ? r->columns - panel : r->panel;
      const float *x = before + smma_accumulator_index(r->packed_rows, r->panel, i, panel);
      uint32_t any = 0;
      for (size_t j = 0; j < count; j++) any |= !is_finite(x[j]);
      for (size_t j = 0; any && j < count; j++)
        if (!is_finite(x[j]) && !r->special_columns[panel + j]) combine(r, i, panel + j, 0, x[j], core);
    }
  }
}
