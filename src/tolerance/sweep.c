#include "tolerance/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/custom.h"
#include "tolerance/accurate.h"

static const char *const names[SMMA_SWEEP_PARAMETER] = {[SMMA_SWEEP_K] = "k",
                                                        [SMMA_SWEEP_SPLIT_K] = "split_k",
                                                        [SMMA_SWEEP_PROMOTE_EVERY] = "promote_every",
                                                        [SMMA_SWEEP_DATA] = "data",
                                                        [SMMA_SWEEP_FORMAT] = "format",
                                                        [SMMA_SWEEP_WORDS] = "words",
                                                        [SMMA_SWEEP_MARKIDIS] = "markidis",
                                                        [SMMA_SWEEP_SLICES] = "slices"};

/* ---- The text of a sweep ---- */

static bool is_doubled(smma_sweep_kind kind) { return kind <= SMMA_SWEEP_PROMOTE_EVERY; }

/* Returns the kind of a name. Corrects other spellings: K, in, formats, and hyphens instead of underscores. */
static smma_sweep_kind kind_of(char name[SMMA_SWEPT_SIZE]) {
  for (char *c = name; *c; c++) *c = *c == '-' ? '_' : *c;
  if (strcmp(name, "K") == 0) strcpy(name, "k");
  if (strcmp(name, "in") == 0 || strcmp(name, "formats") == 0) strcpy(name, "format");
  for (int kind = 0; kind < SMMA_SWEEP_PARAMETER; kind++)
    if (strcmp(name, names[kind]) == 0) return (smma_sweep_kind)kind;
  return SMMA_SWEEP_PARAMETER;
}

static bool add_value(smma_sweep *s, const char *value, size_t length, smma_error *error) {
  if (s->values == SMMA_MOST_SWEPT) return smma_fail(error, "sweep: more than %d values", SMMA_MOST_SWEPT);
  if (!length || length >= SMMA_SWEPT_SIZE)
    return smma_fail(error, "sweep: '%.*s' is no value of %s", length ? 40 : 0, value, s->name);
  memcpy(s->value[s->values], value, length);
  s->value[s->values][length] = 0;
  for (size_t i = 0; i < s->values; i++)
    if (strcmp(s->value[i], s->value[s->values]) == 0) return smma_fail(error, "sweep: %s is given twice", s->value[i]);
  s->values++;
  return true;
}

static bool add_range(smma_sweep *s, const char *text, size_t length, smma_error *error) {
  long long from, to;
  char number[24];
  int used = 0;
  if (sscanf(text, "%lld..%lld%n", &from, &to, &used) != 2 || (size_t)used != length)
    return smma_fail(error, "sweep: '%.*s' is no range of whole numbers; for example %s=64..16384", (int)length, text,
                     s->name);
  if (from > to || (is_doubled(s->kind) && from < 1) || from < -100000 || to > 1 << 30)
    return smma_fail(error, "sweep: the range %.*s is empty or too large", (int)length, text);
  for (long long x = from; x <= to; x = is_doubled(s->kind) ? 2 * x : x + 1) {
    snprintf(number, sizeof number, "%lld", x);
    if (!add_value(s, number, strlen(number), error)) return false;
  }
  return true;
}

static bool check_formats(const smma_sweep *s, smma_error *error) {
  smma_formats formats;
  smma_error why;
  for (size_t v = 0; s->kind == SMMA_SWEEP_FORMAT && v < s->values; v++)
    if (smma_formats_from_text(s->value[v], SMMA_NO_FORMAT, &formats, &why) != SMMA_OK)
      return smma_fail(error, "sweep: %s", why.text);
  return true;
}

bool smma_sweep_parse(const char *text, smma_sweep *s, smma_error *error) {
  const size_t length = strcspn(text, "=");
  *s = (smma_sweep){.values = 0};
  if (!length || length >= SMMA_SWEPT_SIZE || !text[length] || !text[length + 1])
    return smma_fail(error, "sweep: '%.60s' is not NAME=VALUES; for example k=64..16384 or alignment_bits=10..25",
                     text);
  memcpy(s->name, text, length);
  s->kind = kind_of(s->name);
  for (text += length + 1;; text++) {
    const size_t part = strcspn(text, ",");
    const char *dots = strstr(text, "..");
    if (!(dots && dots < text + part ? add_range : add_value)(s, text, part, error)) return false;
    text += part;
    if (!*text) return check_formats(s, error);
  }
}

bool smma_sweep_is_accurate(const smma_sweep *s) {
  return s->kind == SMMA_SWEEP_WORDS || s->kind == SMMA_SWEEP_MARKIDIS || s->kind == SMMA_SWEEP_SLICES;
}

/* ---- One product of the sweep ---- */

/* The request and the target of one row, and the instruction that was made for it. */
typedef struct {
  smma_tolerance_request request;
  smma_product_target target;
  const smma_instruction *made;
} point;

/* Reads a whole number of at least 1. */
static bool read_count(const smma_sweep *s, const char *text, size_t most, size_t *count, smma_error *error) {
  char *end;
  const unsigned long long x = strtoull(text, &end, 10);
  if (strspn(text, "0123456789") != strlen(text) || x < 1 || x > most)
    return smma_fail(error, "sweep: %s = '%s' is not a number from 1 to %zu", s->name, text, most);
  *count = (size_t)x;
  return true;
}

static bool set_k(const smma_sweep_request *r, const char *text, point *p, smma_error *error) {
  smma_gemm_arguments *g = &p->target.product;
  size_t k;
  if (!read_count(&r->sweep, text, (size_t)1 << 30, &k, error)) return false;
  if (g->a && k > g->k) return smma_fail(error, "sweep: k = %zu: %s and %s have K = %zu", k, r->of.a, r->of.b, g->k);
  p->target.whole_k = g->a ? g->k : 0;
  if (g->a) g->k = k;
  p->request.k = k;
  return true;
}

static bool set_parameter(const smma_sweep *s, const char *text, point *p, smma_error *error) {
  smma_error why;
  p->made = smma_custom_with(p->target.instruction, s->name, text, &why);
  p->target.instruction = p->made;
  return p->made ||
         smma_fail(error, "sweep: %s%s", why.text,
                   why.status == SMMA_NOT_FOUND
                       ? "; other quantities are k, format, data, split_k, promote_every, slices, words, markidis"
                       : "");
}

/* Makes the point of a target at a value. */
static bool make_point(const smma_sweep_request *r, size_t value, size_t target, point *p, smma_error *error) {
  const smma_sweep *s = &r->sweep;
  const char *text = s->value[value];
  smma_gemm_arguments *g = &p->target.product;
  smma_error why;
  *p = (point){.request = r->of, .target = r->of.target[target]};
  p->request.targets = 1, p->request.target = &p->target, p->request.margin = 1, p->request.watch = NULL;
  if ((s->kind == SMMA_SWEEP_SPLIT_K || s->kind == SMMA_SWEEP_PROMOTE_EVERY) && g->plan)
    return smma_fail(error, "sweep: %s: the plan of %s has no place for it", s->name, p->target.label);
  if (s->kind == SMMA_SWEEP_SPLIT_K && g->split_k > 1)
    return smma_fail(error, "split_k: the sweep gives it; leave it out");
  if (s->kind == SMMA_SWEEP_PROMOTE_EVERY && g->promote_every)
    return smma_fail(error, "promote_every: the sweep gives it; leave it out");
  switch (s->kind) {
    case SMMA_SWEEP_K: return set_k(r, text, p, error);
    case SMMA_SWEEP_SPLIT_K: return read_count(s, text, SIZE_MAX, &g->split_k, error);
    case SMMA_SWEEP_PROMOTE_EVERY: return read_count(s, text, SIZE_MAX, &g->promote_every, error);
    case SMMA_SWEEP_DATA:
      if (g->a) return smma_fail(error, "sweep: data: the matrices are given; leave them out");
      return smma_data_from_text(text, &p->request.data, &why) || smma_fail(error, "sweep: %s", why.text);
    case SMMA_SWEEP_PARAMETER: return set_parameter(s, text, p, error);
    default: return true;
  }
}

/* ---- The whole ---- */

bool smma_sweep_has(const smma_sweep_request *r, size_t value, size_t target) {
  const smma_instruction *i = r->of.target[target].instruction;
  smma_formats f;
  if (r->sweep.kind != SMMA_SWEEP_FORMAT) return true;
  return smma_formats_from_text(r->sweep.value[value], i->d, &f, NULL) == SMMA_OK && f.a == i->a && f.b == i->b &&
         f.scale_block == i->scale_block && (!f.scale_block || f.scale == i->scale);
}

/* Calls `use` with every point of the sweep, target by target. */
static bool each_point(const smma_sweep_request *r, smma_sweep_result *x,
                       bool (*use)(smma_sweep_result *x, point *p, size_t value, size_t target, smma_error *error),
                       smma_error *error) {
  bool good = true;
  for (size_t target = 0; good && target < r->of.targets; target++)
    for (size_t value = 0; good && value < r->sweep.values; value++) {
      point p;
      if (!smma_sweep_has(r, value, target)) continue;
      good = make_point(r, value, target, &p, error) && use(x, &p, value, target, error);
      if (p.made) smma_custom_release(p.made);
    }
  return good;
}

static bool check_point(smma_sweep_result *x, point *p, size_t value, size_t target, smma_error *error) {
  const smma_sweep_request *r = x->request;
  (void)target;
  x->count++;
  return smma_sweep_is_accurate(&r->sweep) ? smma_accurate_check(r, value, p->target.instruction, error)
                                           : smma_tolerance_check(&p->request, error);
}

static bool measure_point(smma_sweep_result *x, point *p, size_t value, size_t target, smma_error *error) {
  smma_sweep_row *row = &x->row[x->count];
  smma_tolerance_result found;
  *row = (smma_sweep_row){.value = value, .target = target};
  if (!smma_tolerance_measure(&p->request, &found, error)) return false;
  x->m = found.m, x->n = found.n, x->rows = found.rows, x->columns = found.columns;
  row->k = found.k, row->error = found.target[0];
  memcpy(row->exact, found.exact, sizeof row->exact);
  x->count++;
  return true;
}

static bool measure_accurate(smma_sweep_result *x, point *p, size_t value, size_t target, smma_error *error) {
  smma_sweep_row *row = &x->row[x->count];
  *row = (smma_sweep_row){.value = value, .target = target};
  if (!smma_accurate_measure(x, p->target.instruction, row, error)) return false;
  x->count++;
  return true;
}

static bool count_point(smma_sweep_result *x, point *p, size_t value, size_t target, smma_error *error) {
  const smma_tolerance_request *of = &x->request->of;
  const size_t all = x->request->sweep.kind == SMMA_SWEEP_FORMAT ? of->targets : of->targets * x->request->sweep.values;
  const bool done = smma_sweep_is_accurate(&x->request->sweep) ? measure_accurate(x, p, value, target, error)
                                                               : measure_point(x, p, value, target, error);
  if (done && of->watch && of->watch(x->count, all, of->context)) return smma_fail(error, "interrupted");
  return done;
}

/* Fails if no target has results for a value: in a sweep over formats, one that all GPUs lack. */
static bool check_values(const smma_sweep_request *r, smma_error *error) {
  for (size_t v = 0; v < r->sweep.values; v++) {
    bool has = false;
    for (size_t t = 0; t < r->of.targets; t++) has = has || smma_sweep_has(r, v, t);
    if (!has) return smma_fail(error, "sweep: no target has %s", r->sweep.value[v]);
  }
  return true;
}

bool smma_sweep_run(const smma_sweep_request *request, smma_sweep_result *x, smma_error *error) {
  *x = (smma_sweep_result){.request = request};
  if (!check_values(request, error) || !each_point(request, x, check_point, error)) return false;
  x->row = calloc(x->count + 1, sizeof *x->row);
  x->count = 0;
  return x->row ? each_point(request, x, count_point, error) : smma_no_memory(error);
}

void smma_sweep_free(smma_sweep_result *x) {
  free(x->row);
  x->row = NULL;
}
