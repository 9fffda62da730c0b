/* Every input of small units. Compares the core, and the operation written as a composition, with the fixed-point model
   (fixed_model.h), bit for bit; and checks the statements of docs/rules.md about each rule, whose table is the expected
   result. Arguments: the families to run (default: all). SOFTMMA_EXHAUSTIVE_UNITS sets the number of units of each
   family; 0: all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixed_model.h"
#include "isa/catalogue.h"
#include "isa/compose.h"
#include "isa/format_name.h"
#include "random.h"
#include "softmma/softmma.h"

#ifndef EXHAUSTIVE_UNITS
#define EXHAUSTIVE_UNITS 12
#endif

/* Number of values of c for a function of the catalogue. */
#ifndef FEW_C
#define FEW_C 4
#endif

enum { MOST_FREE = 4, MOST_REPORTS = 5, MOST_DIGITS = 2 * MOST_FREE + 3 };
#define NOT_ORDERED INT64_MIN /* the key of NaN */

/* ---- Statements about a rule ---- */

typedef enum { IN_C, IN_PRODUCTS, BY_VALUES, NEGATED, IN_BLOCK, ANY_ORDER, SWAPPED, PROPERTIES } property;

typedef struct {
  const char *rule; /* its row of docs/rules.md */
  bool catalogue; /* functions of the catalogue: few values of c, so that some counterexamples to a statement are missed
                   */
  uint64_t units, inputs, compositions, bounds;
  uint64_t checked[PROPERTIES][2], violated[PROPERTIES][2]; /* [1]: a proof from the unit's parameters exists */
  double reached;                                           /* the largest error, as a share of its bound */
} summary;

static summary summaries[64];
static int summary_count;

static summary *summary_of(const char *rule, bool catalogue) {
  for (int i = 0; i < summary_count; i++)
    if (strcmp(summaries[i].rule, rule) == 0 && summaries[i].catalogue == catalogue) return &summaries[i];
  if (summary_count == 64) abort();
  summaries[summary_count].rule = rule;
  summaries[summary_count].catalogue = catalogue;
  return &summaries[summary_count++];
}

/* ---- Units ---- */

typedef struct {
  smma_format format;
  int count;
  uint64_t *code; /* in order of value, NaN last */
  fixed_number *exact;
  smma_number *core;
  int *negative; /* index of -x for each number x; -1 if the list has no -x, for example for FNUZ's only zero, and for
                    -8 in s4 */
} list;

typedef struct {
  const char *rule;
  smma_operation core, composed;
  bool has_core, has_composed, catalogue;
  fixed_model model;
  int free, at[MOST_FREE]; /* at: the `free` elements that take every value of a and b; all other elements are +0 */
  const uint64_t *some_a, *some_b, *some_c, *some_scales;
  int count_a, count_b, count_c, count_scales; /* numbers of the listed encodings; 0: every encoding */
  bool proved[PROPERTIES]; /* properties that follow from the unit's parameters, although the rule does not have them in
                              general */
} unit;

static smma_format F(const char *name) {
  const smma_format format = smma_format_from_text(name);
  if (format == SMMA_NO_FORMAT) {
    printf("no format: %s\n", name);
    exit(1);
  }
  return format;
}

static int bits_of(smma_format format) { return smma_encoding_of(format).bits; }

/* ---- Lists of encodings ---- */

static const fixed_number *sorted; /* qsort passes no context */

static int by_value(const void *left, const void *right) {
  const fixed_number *x = &sorted[*(const int *)left], *y = &sorted[*(const int *)right];
  const int class_x = x->class == NOT_A_NUMBER ? 2 : x->class == INFINITE ? (x->negative ? -1 : 1) : 0;
  const int class_y = y->class == NOT_A_NUMBER ? 2 : y->class == INFINITE ? (y->negative ? -1 : 1) : 0;
  if (class_x != class_y) return class_x < class_y ? -1 : 1;
  if (class_x == 0) {
    const fixed u = fixed_value(x), v = fixed_value(y);
    if (u != v) return u < v ? -1 : 1;
    if (x->negative != y->negative) return x->negative ? -1 : 1;
  }
  return x->code < y->code ? -1 : x->code > y->code;
}

static void *room(size_t count, size_t size) {
  void *p = calloc(count, size);
  if (!p) abort();
  return p;
}

static list list_of(smma_format format, const fixed_format *f, const uint64_t *some, int count) {
  list l = {.format = format};
  l.count = count ? count : 1 << bits_of(format);
  int *order = room((size_t)l.count, sizeof *order);
  fixed_number *exact = room((size_t)l.count, sizeof *exact);
  l.code = room((size_t)l.count, sizeof *l.code);
  l.exact = room((size_t)l.count, sizeof *l.exact);
  l.core = room((size_t)l.count, sizeof *l.core);
  l.negative = room((size_t)l.count, sizeof *l.negative);
  for (int i = 0; i < l.count; i++) {
    order[i] = i;
    exact[i] = fixed_decode(f, count ? some[i] : (uint64_t)i);
  }
  sorted = exact;
  qsort(order, (size_t)l.count, sizeof *order, by_value);
  for (int i = 0; i < l.count; i++) {
    l.exact[i] = exact[order[i]];
    l.code[i] = l.exact[i].code;
    l.core[i] = smma_decode(smma_encoding_of(format), l.code[i]);
    l.negative[i] = -1;
  }
  for (int i = 0; i < l.count; i++)
    for (int j = 0; j < l.count && l.negative[i] < 0; j++) {
      const fixed_number *x = &l.exact[i], *y = &l.exact[j];
      if (f->fields.specials == OF_INTEGERS) {
        if (x->class == FINITE && y->class == FINITE && x->significand == -y->significand) l.negative[i] = j;
      } else if (f->fields.is_signed && (x->code ^ y->code) == f->sign) {
        l.negative[i] = j;
      }
    }
  free(order);
  free(exact);
  return l;
}

static void free_list(list *l) {
  free(l->code);
  free(l->exact);
  free(l->core);
  free(l->negative);
}

/* ---- One unit ---- */

/* The number of an input is in mixed radix: scale factors of a and b, then a and b of each free element, then c. */
typedef struct {
  const unit *u;
  list a, b, c, scale;
  int digits;
  const list *of[MOST_DIGITS];
  size_t place[MOST_DIGITS], inputs;
  int64_t *key; /* keys of d in the order of values; both zeros have key 0 */
} walk;

enum { DIGIT_SCALES = 2 };

static int first_factor(const walk *w) {
  return w->u->core.scale_block || w->u->composed.scale_block ? DIGIT_SCALES : 0;
}
static int digit_a(const walk *w, int i) { return first_factor(w) + 2 * i; }
static int digit_b(const walk *w, int i) { return first_factor(w) + 2 * i + 1; }
static int digit_c(const walk *w) { return w->digits - 1; }
static int digit(const walk *w, size_t input, int d) { return (int)(input / w->place[d] % (size_t)w->of[d]->count); }

static size_t with_digit(const walk *w, size_t input, int d, int value) {
  return input + ((size_t)value - (size_t)digit(w, input, d)) * w->place[d];
}

static void start(walk *w, const unit *u) {
  const fixed_model *m = &u->model;
  memset(w, 0, sizeof *w);
  w->u = u;
  w->a = list_of(m->o.a, &m->a, u->some_a, u->count_a);
  w->b = list_of(m->o.b, &m->b, u->some_b, u->count_b);
  w->c = list_of(m->o.c, &m->c, u->some_c, u->count_c);
  if (m->o.scale_block) {
    w->scale = list_of(m->o.scale, &m->scale, u->some_scales, u->count_scales);
    w->of[w->digits++] = &w->scale;
    w->of[w->digits++] = &w->scale;
  }
  for (int i = 0; i < u->free; i++) {
    w->of[w->digits++] = &w->a;
    w->of[w->digits++] = &w->b;
  }
  w->of[w->digits++] = &w->c;
  w->inputs = 1;
  for (int d = w->digits - 1; d >= 0; d--) {
    w->place[d] = w->inputs;
    w->inputs *= (size_t)w->of[d]->count;
  }
}

static void finish(walk *w) {
  free_list(&w->a);
  free_list(&w->b);
  free_list(&w->c);
  if (w->u->model.o.scale_block) free_list(&w->scale);
  free(w->key);
}

static void print_unit(const unit *u) {
  const smma_operation *o = &u->model.o;
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  const smma_operation *shown = u->has_core ? &u->core : &u->composed;
  printf("%s: %s a=%s", u->rule, smma_model_name(&shown->rule), smma_format_text(o->a));
  printf(" b=%s", smma_format_text(o->b));
  printf(" c=%s", smma_format_text(o->c));
  printf(" d=%s k=%d", smma_format_text(o->d), o->k);
  for (int i = 0; smma_parameter(&shown->rule, i, &name, value, sizeof value); i++) printf(" %s=%s", name, value);
  printf("\n");
}

static void print_input(const walk *w, size_t input) {
  printf(" ");
  if (first_factor(w))
    printf(" scale-a %" PRIx64 " scale-b %" PRIx64, w->scale.code[digit(w, input, 0)],
           w->scale.code[digit(w, input, 1)]);
  for (int i = 0; i < w->u->free; i++)
    printf(" k=%d %" PRIx64 "*%" PRIx64, w->u->at[i], w->a.code[digit(w, input, digit_a(w, i))],
           w->b.code[digit(w, input, digit_b(w, i))]);
  printf(" c %" PRIx64, w->c.code[digit(w, input, digit_c(w))]);
}

/* ---- Comparison ---- */

static int reports;
static uint64_t failures;
static bool few_units; /* some counterexamples are missed */

static bool may_report(void) {
  failures++;
  return reports++ < MOST_REPORTS;
}

static bool same(const fixed_model *m, uint64_t expected, uint64_t got) {
  if (expected == got) return true;
  return m->o.rule.nan == SMMA_NAN_QUIET && fixed_decode(&m->d, expected).class == NOT_A_NUMBER &&
         fixed_decode(&m->d, got).class == NOT_A_NUMBER;
}

static void compare(const walk *w, const char *what, size_t input, uint64_t expected, uint64_t got) {
  if (same(&w->u->model, expected, got) || !may_report()) return;
  print_unit(w->u);
  print_input(w, input);
  printf(": expected %" PRIx64 ", %s has %" PRIx64 "\n", expected, what, got);
}

/* Checks both statements of docs/rules.md about the distance from the exact sum, for finite results whose sums do not
   overflow. */
static void check_bound(const walk *w, summary *s, size_t input, const fixed_number *d, const fixed_error *e) {
  const fixed difference = fixed_value(d) - e->exact, bound = difference < 0 ? e->below : e->above;
  const fixed distance = difference < 0 ? -difference : difference;
  s->bounds++;
  if (distance && bound) {
    const double part = (double)distance / (double)bound;
    if (part > s->reached) s->reached = part;
  }
  if (distance <= bound || !may_report()) return;
  print_unit(w->u);
  print_input(w, input);
  printf(": further from the exact sum than docs/rules.md says, %g of it\n", (double)distance / (double)bound);
}

/* Returns the key of a value. The order of values is that of the encodings of their magnitudes. */
static int64_t order_of(const fixed_model *m, uint64_t d, const fixed_number *x, const fixed_error *e) {
  if (e->nan || x->class == NOT_A_NUMBER) return NOT_ORDERED;
  if (m->d.fields.specials == OF_INTEGERS) return x->significand;
  return x->negative ? -(int64_t)(d & ~m->d.sign) : (int64_t)d;
}

/* Runs all values of c with the same factors. */
static void walk_c(walk *w, summary *s, size_t input, const smma_operands *core, const fixed_number *a,
                   const fixed_number *b, const fixed_number *x, const fixed_number *y) {
  const unit *u = w->u;
  for (int i = 0; i < w->c.count; i++, input++) {
    fixed_error e;
    const uint64_t d = fixed_dot_add(&u->model, a, b, w->c.code[i], x, y, &e);
    const fixed_number result = fixed_decode(&u->model.d, d);
    if (u->has_core) compare(w, "the core", input, d, smma_dot_add(&u->core, *core, w->c.code[i]));
    if (u->has_composed) compare(w, "its composition", input, d, smma_dot_add(&u->composed, *core, w->c.code[i]));
    if (!e.special && !e.overflows && result.class == FINITE) check_bound(w, s, input, &result, &e);
    if (w->key) w->key[input] = order_of(&u->model, d, &result, &e);
  }
}

static void walk_all(walk *w, summary *s) {
  const smma_operation *o = &w->u->model.o;
  const fixed_format *scale_format = &w->u->model.scale;
  smma_decoded core;
  fixed_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], x[SMMA_MAXIMUM_K], y[SMMA_MAXIMUM_K];
  const uint64_t one = o->scale_block ? smma_encode_one(smma_encoding_of(o->scale), false) : 0;
  for (int k = 0; k < o->k; k++) {
    a[k] = fixed_decode(&w->u->model.a, 0);
    b[k] = fixed_decode(&w->u->model.b, 0);
    core.a[k] = smma_decode(smma_encoding_of(o->a), 0);
    core.b[k] = smma_decode(smma_encoding_of(o->b), 0);
  }
  for (int i = 0; i < smma_scale_count(o->k, o->scale_block); i++) {
    x[i] = y[i] = fixed_decode(scale_format, one);
    core.scale_a[i] = core.scale_b[i] = smma_decode(smma_encoding_of(o->scale), one);
  }
  const smma_operands operands = smma_operands_of(&core);
  for (size_t input = 0; input < w->inputs; input += (size_t)w->c.count) {
    if (o->scale_block) {
      const int i = digit(w, input, 0), j = digit(w, input, 1);
      x[0] = w->scale.exact[i];
      y[0] = w->scale.exact[j];
      core.scale_a[0] = w->scale.core[i];
      core.scale_b[0] = w->scale.core[j];
    }
    for (int i = 0; i < w->u->free; i++) {
      const int k = w->u->at[i], in_a = digit(w, input, digit_a(w, i)), in_b = digit(w, input, digit_b(w, i));
      a[k] = w->a.exact[in_a];
      b[k] = w->b.exact[in_b];
      core.a[k] = w->a.core[in_a];
      core.b[k] = w->b.core[in_b];
    }
    walk_c(w, s, input, &operands, a, b, x, y);
  }
}

/* ---- Properties ---- */

static void hold(summary *s, const unit *u, property p, bool holds) {
  s->checked[p][u->proved[p]]++;
  s->violated[p][u->proved[p]] += !holds;
}

/* Returns the sign of a number's value: +1, -1 or 0. */
static int sign_of(const fixed_number *x) {
  if (x->class == INFINITE) return x->negative ? -1 : 1;
  return x->significand > 0 ? 1 : x->significand < 0 ? -1 : 0;
}

static bool in_order(int64_t x, int64_t y, int direction) {
  return direction > 0 ? x <= y : direction < 0 ? x >= y : x == y;
}

static bool both_ordered(const walk *w, size_t first, size_t second) {
  return w->key[first] != NOT_ORDERED && w->key[second] != NOT_ORDERED;
}

/* Checks the step to the next larger value of one operand; `by` is the operand that multiplies it. */
static void check_step(const walk *w, summary *s, property p, size_t input, int d, const fixed_number *by) {
  const list *l = w->of[d];
  const int i = digit(w, input, d);
  if (i + 1 == l->count || l->exact[i + 1].class == NOT_A_NUMBER || l->exact[i].class == NOT_A_NUMBER) return;
  if (by && by->class == NOT_A_NUMBER) return;
  const bool equal = l->exact[i].class == FINITE && l->exact[i + 1].class == FINITE &&
                     fixed_value(&l->exact[i]) == fixed_value(&l->exact[i + 1]);
  const size_t next = input + w->place[d];
  if (both_ordered(w, input, next))
    hold(s, w->u, p, in_order(w->key[input], w->key[next], equal ? 0 : by ? sign_of(by) : 1));
}

/* A pair of factors, with their product and the first pair in the lists' order that has the same product. */
typedef struct {
  fixed product;
  int at, a, b;
} pair;

static int by_product(const void *left, const void *right) {
  const pair *x = left, *y = right;
  if (x->product != y->product) return x->product < y->product ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

static int by_place(const void *left, const void *right) {
  const pair *x = left, *y = right;
  return x->at < y->at ? -1 : x->at > y->at;
}

static pair *representatives(const walk *w) {
  const int count = w->a.count * w->b.count;
  pair *pairs = room((size_t)count, sizeof *pairs);
  int finite = 0, others = count;
  for (int i = 0; i < count; i++) {
    const fixed_number *a = &w->a.exact[i / w->b.count], *b = &w->b.exact[i % w->b.count];
    pair *p = a->class == FINITE && b->class == FINITE ? &pairs[finite++] : &pairs[--others];
    *p = (pair){fixed_product(a, b), i, i / w->b.count, i % w->b.count};
  }
  qsort(pairs, (size_t)finite, sizeof *pairs, by_product);
  for (int i = 1; i < finite; i++)
    if (pairs[i].product == pairs[i - 1].product) pairs[i].a = pairs[i - 1].a, pairs[i].b = pairs[i - 1].b;
  qsort(pairs, (size_t)count, sizeof *pairs, by_place);
  return pairs;
}

/* Returns the fused sum that takes a product. Blocks that are processed one after another are numbered in that order.
 */
static int block_of(const unit *u, int k) {
  const smma_operation *o = &u->model.o;
  if (u->model.kind == FIXED_PAIRS) return k / 2;
  if (u->model.kind == FIXED_CHAINS) return 0;
  if (u->model.kind == FIXED_G_FDPA) return k / u->model.g_fdpa.interleave % (o->k / u->model.g_fdpa.block);
  switch (o->rule.algorithm) {
    case SMMA_FP8_BY_FP16: return k % 4 / 2;
    case SMMA_INTEGER: return o->rule.with.integer.two_stages ? k % 16 / 8 : 0;
    case SMMA_GST_FDPA: return 0;
    case SMMA_FTZ_FMA: return k;
    default: return k / smma_block_limit(&o->rule, o->k);
  }
}

static size_t exchanged(const walk *w, size_t input, int d, int e) {
  const int i = digit(w, input, d), j = digit(w, input, e);
  return with_digit(w, with_digit(w, input, d, j), e, i);
}

static void check_order(const walk *w, summary *s, size_t input) {
  for (int i = 0; i < w->u->free; i++)
    for (int j = 0; j < i; j++) {
      const size_t other =
          exchanged(w, exchanged(w, input, digit_a(w, i), digit_a(w, j)), digit_b(w, i), digit_b(w, j));
      const int shared = w->u->model.o.scale_block;
      if (shared && w->u->at[i] / shared != w->u->at[j] / shared) continue;
      if (other <= input || !both_ordered(w, input, other)) continue;
      const bool equal = w->key[input] == w->key[other];
      if (block_of(w->u, w->u->at[i]) == block_of(w->u, w->u->at[j])) hold(s, w->u, IN_BLOCK, equal);
      hold(s, w->u, ANY_ORDER, equal);
    }
}

static void check_swapped(const walk *w, summary *s, size_t input) {
  size_t other = input;
  if (w->a.format != w->b.format || w->a.count != w->b.count) return;
  for (int i = 0; i < w->u->free; i++) other = exchanged(w, other, digit_a(w, i), digit_b(w, i));
  if (first_factor(w)) other = exchanged(w, other, 0, 1);
  if (other > input && both_ordered(w, input, other)) hold(s, w->u, SWAPPED, w->key[input] == w->key[other]);
}

/* Checks negation: c and the factors of one side that have a sign. */
static void check_negated(const walk *w, summary *s, size_t input) {
  const bool wraps =
      w->u->model.d.fields.specials == OF_INTEGERS && w->u->model.o.rule.with.integer.overflow == SMMA_INTEGER_WRAPS;
  const int c = w->c.negative[digit(w, input, digit_c(w))];
  size_t other;
  if (c < 0) return;
  other = with_digit(w, input, digit_c(w), c);
  for (int i = 0; i < w->u->free; i++) {
    const int a = w->a.negative[digit(w, input, digit_a(w, i))], b = w->b.negative[digit(w, input, digit_b(w, i))];
    if (a >= 0)
      other = with_digit(w, other, digit_a(w, i), a);
    else if (b >= 0)
      other = with_digit(w, other, digit_b(w, i), b);
    else
      return;
  }
  if (!both_ordered(w, input, other)) return;
  const int64_t negated = wraps ? (int32_t)(uint32_t)-w->key[other] : -w->key[other];
  hold(s, w->u, NEGATED, w->key[input] == negated);
}

static void check_properties(const walk *w, summary *s) {
  pair *first = representatives(w);
  for (size_t input = 0; input < w->inputs; input++) {
    check_step(w, s, IN_C, input, digit_c(w), NULL);
    for (int i = 0; i < w->u->free; i++) {
      const int a = digit_a(w, i), b = digit_b(w, i), in_a = digit(w, input, a), in_b = digit(w, input, b);
      const pair p = first[in_a * w->b.count + in_b];
      check_step(w, s, IN_PRODUCTS, input, a, &w->b.exact[in_b]);
      check_step(w, s, IN_PRODUCTS, input, b, &w->a.exact[in_a]);
      if (p.a == in_a && p.b == in_b) continue;
      const size_t other = with_digit(w, with_digit(w, input, a, p.a), b, p.b);
      if (both_ordered(w, input, other)) hold(s, w->u, BY_VALUES, w->key[input] == w->key[other]);
    }
    check_negated(w, s, input);
    check_order(w, s, input);
    check_swapped(w, s, input);
  }
  free(first);
}

enum { MOST_KEYS = 1 << 23 };

static void prove(unit *u);

static void check(unit *u) {
  summary *s = summary_of(u->rule, u->catalogue);
  walk w;
  fixed_prepare(&u->model);
  prove(u);
  start(&w, u);
  if (w.inputs <= MOST_KEYS) w.key = room(w.inputs, sizeof *w.key);
  walk_all(&w, s);
  if (w.key) check_properties(&w, s);
  s->units++;
  s->inputs += w.inputs;
  if (u->has_composed) s->compositions += w.inputs;
  finish(&w);
}

/* ---- Families of units ---- */

static size_t pick(size_t *n, size_t count) {
  const size_t chosen = *n % count;
  *n /= count;
  return chosen;
}

#define PICK(n, values) values[pick(n, sizeof values / sizeof *values)]

static unit new_unit(const char *rule, smma_algorithm algorithm, smma_format a, smma_format b, smma_format d, int k) {
  unit u;
  memset(&u, 0, sizeof u);
  u.rule = rule;
  u.core.rule.algorithm = algorithm;
  u.core.rule.nan = SMMA_NAN_QUIET;
  u.core.a = a;
  u.core.b = b;
  u.core.c = u.core.d = d;
  u.core.scale = SMMA_NO_FORMAT;
  u.core.k = k;
  u.has_core = true;
  u.free = k;
  for (int i = 0; i < k && i < MOST_FREE; i++) u.at[i] = i;
  return u;
}

/* Sets the operation's composition, and the model of this composition. */
static void finish_unit(unit *u) {
  u->model.o = u->core;
  u->composed = u->core;
  u->composed.rule.algorithm = SMMA_COMPOSITION;
  memset(&u->composed.rule.with, 0, sizeof u->composed.rule.with);
  u->has_composed = smma_compose(&u->core, &u->composed.rule.with.composition);
}

/* Replaces FP32 or FP16 in the composition by a narrow format, which the algorithm itself does not allow. */
static void narrow(unit *u, smma_format from, smma_format to) {
  const smma_encoding wide = smma_encoding_of(from), narrow = smma_encoding_of(to);
  const int higher = smma_minimum_exponent(narrow) - smma_minimum_exponent(wide);
  smma_composition *p = &u->composed.rule.with.composition;
  for (int i = 0; i < p->steps; i++) {
    smma_step *s = &p->step[i];
    const bool of_c = s->accumulator.brings == SMMA_BRINGS_NORMALIZED;
    if (s->output == from) s->output = to;
    if (s->narrow_bits == wide.fraction_bits) s->narrow_bits = narrow.fraction_bits;
    if (of_c && s->accumulator.least != SMMA_NONE) s->accumulator.least += higher;
    if (of_c && s->accumulator.zero_exponent == smma_minimum_exponent(wide)) s->accumulator.zero_exponent += higher;
  }
  u->has_core = false;
  u->composed.c = u->composed.d = u->model.o.c = u->model.o.d = to;
}

/* Factors of 3 and 4 bits, with every kind of special values, zeros, subnormals, and different exponents. */
static const char *const three_bits[] = {"e2m0-finite", "e1m1-finite", "e2m0-fnuz"};
static const char *const four_bits[] = {"e2m1", "e2m1-ieee", "e3m0-nan", "e2m1-fnuz", "e2m1-nan", "e1m2-finite"};
static const char *const accumulators[] = {"e3m2-ieee",       "e3m2", "e2m3-ieee", "e3m1-bias1-ieee", "e3m2-fnuz",
                                           "e4m1-bias6-ieee", "e2m3", "e3m2-nan",  "e2m2-bias-1-ieee"};

/* Picks formats of factors: mostly three bits, four bits once in forty times; half of the time the same format. */
static void pick_factors(size_t *n, smma_format *a, smma_format *b) {
  const bool wide = pick(n, 40) == 39;
  const char *const *names = wide ? four_bits : three_bits;
  const size_t count = wide ? 6 : 3, i = pick(n, count);
  *a = F(names[i]);
  *b = pick(n, 2) == 0 ? *a : F(names[(i + 1 + pick(n, count - 1)) % count]);
}

/* Picks the two of four elements that take every value. */
static void pick_places(unit *u, size_t *n) {
  static const int places[][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}};
  const size_t i = pick(n, 4);
  u->free = 2;
  u->at[0] = places[i][0];
  u->at[1] = places[i][1];
}

/* Picks three elements that take every value of a, and three values of b. */
static void pick_three(unit *u, size_t *n) {
  static const int places[][3] = {{0, 1, 2}, {1, 2, 3}, {0, 2, 3}};
  static const uint64_t of_three_bits[] = {1, 3, 6}, of_four_bits[] = {1, 5, 11};
  const size_t i = pick(n, 3);
  if (bits_of(u->core.a) > 3 || pick(n, 2) == 0) {
    pick_places(u, n);
    return;
  }
  u->free = 3;
  for (int j = 0; j < 3; j++) u->at[j] = places[i][j];
  u->some_b = bits_of(u->core.b) > 3 ? of_four_bits : of_three_bits;
  u->count_b = 3;
}

static smma_nan_policy nan_of(smma_format d) {
  return smma_encoding_of(d).specials == SMMA_SPECIALS_IEEE ? SMMA_NAN_ALL_ONES : SMMA_NAN_QUIET;
}

static const smma_rounding five_roundings[] = {SMMA_ROUND_NEAREST_EVEN, SMMA_ROUND_TOWARD_ZERO, SMMA_ROUND_DOWN,
                                               SMMA_ROUND_UP, SMMA_ROUND_NEAREST_AWAY};

/* Reports whether d can represent the NaN of both factors. */
static bool has_room_for_nan(smma_format d, smma_format a, smma_format b) {
  const int bits = smma_encoding_of(d).fraction_bits;
  return smma_encoding_of(d).specials == SMMA_SPECIALS_IEEE && smma_encoding_of(a).fraction_bits <= bits &&
         smma_encoding_of(b).fraction_bits <= bits;
}

static bool make_fma(size_t n, unit *u) {
  smma_format a, b;
  const smma_rounding direction = PICK(&n, five_roundings);
  const bool nearest = direction == SMMA_ROUND_NEAREST_EVEN || direction == SMMA_ROUND_NEAREST_AWAY;
  pick_factors(&n, &a, &b);
  *u = new_unit(nearest || direction == SMMA_ROUND_TOWARD_ZERO ? "FMA" : "FMA, rounding down or up", SMMA_FMA, a, b,
                F(PICK(&n, accumulators)), 2);
  u->core.rule.with.fma.rounding = direction;
  if (has_room_for_nan(u->core.d, a, b)) u->core.rule.nan = SMMA_NAN_B_SUM_A;
  finish_unit(u);
  return true;
}

static smma_t_fdpa pick_truncation(size_t *n, smma_format output) {
  static const int bits[] = {0, 1, 2, 3, 4, 7, 10}, zero[] = {-9, -2, 0, 3};
  static const smma_rounding roundings[] = {SMMA_ROUND_TOWARD_ZERO, SMMA_ROUND_NEAREST_EVEN};
  smma_t_fdpa p = {.output = output};
  p.alignment_bits = PICK(n, bits);
  p.zero_exponent = PICK(n, zero);
  p.rounding = PICK(n, roundings);
  p.block = 1 + (int)pick(n, 2);
  return p;
}

static bool make_t_fdpa(size_t n, unit *u) {
  smma_format a, b;
  const smma_format d = F(PICK(&n, accumulators));
  const smma_t_fdpa p = pick_truncation(&n, d);
  pick_factors(&n, &a, &b);
  *u = new_unit("T-FDPA", SMMA_T_FDPA, a, b, d, 2);
  u->core.rule.nan = nan_of(d);
  u->core.rule.with.t_fdpa = p;
  finish_unit(u);
  return true;
}

/* 2^-2, 2^3, NaN, 1; 0, 0.875 * 2^-6, NaN, 1.125 * 2. */
static const uint64_t powers[] = {125, 130, 255, 127}, ue4m3[] = {0, 7, 0x7f, 0x41};

static bool make_st_fdpa(size_t n, unit *u) {
  const smma_format d = F(PICK(&n, accumulators));
  smma_format a, b;
  pick_factors(&n, &a, &b);
  *u = new_unit("ST-FDPA", SMMA_ST_FDPA, a, b, d, 2);
  u->core.rule.nan = nan_of(d);
  u->core.rule.with.t_fdpa = pick_truncation(&n, d);
  u->core.scale = SMMA_UE8M0;
  u->core.scale_block = 1 + (int)pick(&n, 2);
  u->some_scales = powers;
  u->count_scales = 2;
  finish_unit(u);
  return true;
}

/* Makes a unit with four groups of one product, two groups of two, or one group of four. Some have three products that
   change places between the groups, and only one scale factor. */
static bool make_gst_fdpa(size_t n, unit *u) {
  const smma_format d = F(PICK(&n, accumulators));
  const smma_t_fdpa p = pick_truncation(&n, d);
  *u = new_unit("GST-FDPA", SMMA_GST_FDPA, SMMA_E2M1, SMMA_E2M1, d, 4);
  static const uint64_t some[] = {0, 1, 2, 3, 5, 7, 9, 10, 15}; /* 0, 0.5, 1, 1.5, 3, 6, -0.5, -1, -6 */
  u->some_a = u->some_b = some;
  u->count_a = (int)(sizeof some / sizeof *some);
  u->count_b = 3;
  const bool three = pick(&n, 3) == 0;
  if (!three) pick_places(u, &n);
  u->free = three ? 3 : 2;
  for (int j = 0; three && j < 3; j++) u->at[j] = j;
  u->core.rule.nan = nan_of(d);
  u->core.rule.with.gst_fdpa.group = 1 << pick(&n, 3);
  u->core.rule.with.gst_fdpa.fused = p;
  u->core.rule.with.gst_fdpa.fused.block = SMMA_MAXIMUM_K / u->core.rule.with.gst_fdpa.group;
  u->core.scale_block = 4;
  u->core.scale = pick(&n, 2) ? SMMA_UE8M0 : SMMA_UE4M3;
  u->count_scales = three ? 1 : 4;
  u->some_scales = (u->core.scale == SMMA_UE8M0 ? powers : ue4m3) + (three ? 3 : 0);
  finish_unit(u);
  return true;
}

/* Lists encodings of c in FP32, for operations that only have FP32 results. They are numbers with bits in the range of
   these products, and special values. */
static int codes_of_f32(uint64_t *code, int least, int greatest, int step) {
  static const uint64_t fractions[] = {0, 1, 0x200000, 0x400000, 0x555555, 0x7fffff};
  static const uint64_t others[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffa00001};
  int count = 0;
  for (int e = least; e <= greatest; e += step)
    for (int i = 0; i < 12; i++)
      code[count++] = (i % 2 ? UINT64_C(1) << 31 : 0) | (uint64_t)(e + 127) << 23 | fractions[i / 2];
  for (int i = 0; i < 6; i++) code[count++] = others[i];
  return count;
}

static uint64_t f32_near[512], f32_far[1024];
static int near_count, far_count;

static void use_f32(unit *u) {
  u->some_c = f32_near;
  u->count_c = near_count;
}

static bool make_e_fdpa(size_t n, unit *u) {
  smma_format a, b;
  const bool native = pick(&n, 6) == 5;
  const smma_format d = F(PICK(&n, accumulators));
  const int block = 1 + (int)pick(&n, 2);
  pick_factors(&n, &a, &b);
  *u = new_unit("E-FDPA", SMMA_E_FDPA, a, b, SMMA_F32, 2);
  u->core.rule.with.e_fdpa.block = block;
  finish_unit(u);
  native ? use_f32(u) : narrow(u, SMMA_F32, d);
  return true;
}

static bool make_ftz_addmul(size_t n, unit *u) {
  const bool native = pick(&n, 8) == 7, four = pick(&n, 2);
  smma_format a, b;
  const smma_format d = F(PICK(&n, accumulators));
  pick_factors(&n, &a, &b);
  *u = new_unit("FTZ-AddMul", SMMA_FTZ_ADDMUL, a, b, SMMA_F32, 4);
  u->core.rule.with.ftz_addmul.pairwise = four ? 4 : 2;
  pick_three(u, &n);
  finish_unit(u);
  native ? use_f32(u) : narrow(u, SMMA_F32, d);
  return true;
}

/* A NaN operand is made quiet in d's format, so its format must not have more fraction bits than d. Therefore only
   units in FP32 take NaN. */
static bool make_ftz_fma(size_t n, unit *u) {
  static const char *const finite[] = {"e2m0-finite", "e1m1-finite", "e2m1"};
  static const char *const outputs[] = {"e3m2", "e2m3", "e3m1-bias1-finite", "e4m1-bias6-finite"};
  const bool native = pick(&n, 6) == 5;
  smma_format a, b;
  const smma_format d = F(PICK(&n, outputs));
  pick_factors(&n, &a, &b);
  if (!native) a = b = F(PICK(&n, finite));
  *u = new_unit("FTZ-FMA", SMMA_FTZ_FMA, a, b, SMMA_F32, 2);
  u->core.rule.nan = SMMA_NAN_OPERAND;
  finish_unit(u);
  native ? use_f32(u) : narrow(u, SMMA_F32, d);
  return true;
}

static bool make_tr_fdpa(size_t n, unit *u) {
  static const int bits[] = {0, 1, 2, 3, 5}, more[] = {0, 1, 3, 6};
  const bool native = pick(&n, 8) == 7, halves = pick(&n, 2);
  smma_format a, b;
  const smma_format d = F(PICK(&n, accumulators));
  smma_tr_fdpa p = {.revision = 1 + (int)pick(&n, 2), .block = 1 << pick(&n, 3)};
  p.alignment_bits = PICK(&n, bits);
  p.sum_bits = p.alignment_bits + PICK(&n, more);
  pick_factors(&n, &a, &b);
  if (native) p.sum_bits += 23;
  *u = new_unit(halves ? "GTR-FDPA" : "TR-FDPA", halves ? SMMA_GTR_FDPA : SMMA_TR_FDPA, a, b, SMMA_F32, 4);
  u->core.rule.with.tr_fdpa = p;
  pick_three(u, &n);
  finish_unit(u);
  if (native)
    use_f32(u);
  else
    narrow(u, SMMA_F32, d);
  return u->has_composed;
}

/* Makes a unit with K = 8, whose operands take ten encodings each. */
static bool make_fp8_by_fp16(size_t n, unit *u) {
  static const uint64_t e4m3[] = {0, 0x80, 1, 0x39, 0x38, 0x3c, 0x40, 0x7f, 0x88, 0xbc};
  static const uint64_t e5m2[] = {0, 0x80, 1, 3, 0x3c, 0x3f, 0x7b, 0x7c, 0x84, 0xbc};
  static const uint64_t f16[] = {0,      0x8000, 1,      0x3ff,  0x400,  0x2e66, 0x3c00, 0x3c01,
                                 0x3fff, 0x4900, 0x7bff, 0x7c00, 0x7e00, 0x8001, 0x83ff, 0x8400,
                                 0xae66, 0xbc00, 0xbc01, 0xbfff, 0xc900, 0xfbff, 0xfc00};
  static const int places[][2] = {{0, 1}, {0, 2}, {1, 3}, {0, 4}, {2, 3}, {1, 6}};
  static const int bits[] = {0, 4, 9, 13, 25};
  const bool half = pick(&n, 2);
  const smma_format a = pick(&n, 2) ? SMMA_E4M3 : SMMA_E5M2, b = pick(&n, 2) ? SMMA_E4M3 : SMMA_E5M2;
  const size_t place = pick(&n, 6);
  *u = new_unit("FP8-by-FP16", SMMA_FP8_BY_FP16, a, b, half ? SMMA_F16 : SMMA_F32, 8);
  u->core.rule.with.t_fdpa = (smma_t_fdpa){PICK(&n, bits), 4, half ? -21 : -133, u->core.d,
                                           half ? SMMA_ROUND_NEAREST_EVEN : SMMA_ROUND_TOWARD_ZERO};
  u->some_a = a == SMMA_E4M3 ? e4m3 : e5m2;
  u->some_b = b == SMMA_E4M3 ? e4m3 : e5m2;
  u->count_a = u->count_b = 10;
  u->free = 2;
  u->at[0] = places[place][0];
  u->at[1] = places[place][1];
  if (half) {
    u->some_c = f16;
    u->count_c = (int)(sizeof f16 / sizeof *f16);
  } else {
    u->some_c = f32_near;
    u->count_c = near_count < 40 ? near_count : 40;
  }
  finish_unit(u);
  return true;
}

static bool make_integer(size_t n, unit *u) {
  static const char *const formats[] = {"s4", "u4", "s3", "s2", "u3"};
  static const uint64_t c[] = {0,          1,          0xffffffff, 100,        0x7fffffff, 0x7ffffffe, 0x7fffffc0,
                               0x7fffff88, 0x7fffff00, 0x80000000, 0x80000001, 0x80000040, 0x80000078, 0x80000100};
  static const int places[][2] = {{0, 1}, {0, 8}, {7, 9}, {8, 15}};
  const size_t how = pick(&n, 3), place = pick(&n, 4);
  const smma_format a = F(PICK(&n, formats));
  const smma_format b = pick(&n, 2) ? a : F(PICK(&n, formats));
  static const char *const rules[] = {"INTEGER, wraps", "INTEGER, clamped", "INTEGER, clamped in two stages"};
  *u = new_unit(rules[how], SMMA_INTEGER, a, b, SMMA_S32, 16);
  u->core.rule.with.integer.overflow = how ? SMMA_INTEGER_SATURATES : SMMA_INTEGER_WRAPS;
  u->core.rule.with.integer.two_stages = how == 2;
  u->free = 2;
  u->at[0] = places[place][0];
  u->at[1] = places[place][1];
  u->some_c = c;
  u->count_c = (int)(sizeof c / sizeof *c);
  finish_unit(u);
  return true;
}

/* Makes compositions with a narrow format instead of FP16 or FP32 results, and units with other formats. */
static bool make_opposing(size_t n, unit *u, bool groups) {
  static const int bits[] = {0, 1, 2, 3, 5}, bits_of_c[] = {0, 1, 3, 6};
  static const smma_format wide[] = {SMMA_F32, SMMA_F16, SMMA_BF16};
  const bool native = pick(&n, 4) == 3, as_f32 = pick(&n, 2) && !groups;
  const smma_format d = F(PICK(&n, accumulators)), own = PICK(&n, wide);
  smma_c_fdpa p = {.stride = 1 + (int)pick(&n, 2), .group = 1 << pick(&n, 2)};
  smma_format a, b;
  p.alignment_bits = PICK(&n, bits);
  p.c_bits = PICK(&n, bits_of_c);
  p.block = groups ? p.group << pick(&n, 2) : 1 << pick(&n, 2);
  p.output = native ? own : as_f32 ? SMMA_F32 : SMMA_F16;
  p.overflow = pick(&n, 3) ? SMMA_SUM_TO_INFINITY : SMMA_SUM_SATURATES;
  const int k = pick(&n, 2) ? 4 : 2;
  p.block = smma_minimum(p.block, k);
  p.group = smma_minimum(p.group, p.block);
  if (k / p.block % p.stride) p.stride = 1;
  pick_factors(&n, &a, &b);
  if (native) a = b = SMMA_E2M1;
  *u = new_unit(groups ? "GD-FDPA" : "C-FDPA", groups ? SMMA_GD_FDPA : SMMA_C_FDPA, a, b, p.output, k);
  u->core.rule.with.c_fdpa = p;
  u->core.rule.nan = native ? (pick(&n, 2) ? SMMA_NAN_BY_SOURCE : SMMA_NAN_MARKED) : SMMA_NAN_QUIET;
  if (k == 4) groups ? pick_three(u, &n) : pick_places(u, &n);
  finish_unit(u);
  u->model.as_f32 = as_f32 && !native;
  if (!native) {
    narrow(u, p.output, d);
    return true;
  }
  static const uint64_t f16[] = {0,      0x8000, 1,      0x3ff,  0x400,  0x2e66, 0x3c00, 0x3c01,
                                 0x3fff, 0x4900, 0x7bff, 0x7c00, 0x7e01, 0x8001, 0x83ff, 0x8400,
                                 0xae66, 0xbc00, 0xbc01, 0xbfff, 0xc900, 0xfbff, 0xfc00};
  static const uint64_t bf16[] = {0,      0x8000, 0x3e01, 0x3f7f, 0x3f80, 0x3f81, 0x4055, 0x41ff, 0x7f80, 0x7f81,
                                  0x7fc0, 0xbe01, 0xbf7f, 0xbf80, 0xbf81, 0xc055, 0xc1ff, 0xff80, 0xffc3};
  if (own == SMMA_F32) {
    u->some_c = f32_near;
    u->count_c = near_count < 40 ? near_count : 40;
  } else {
    u->some_c = own == SMMA_F16 ? f16 : bf16;
    u->count_c = (int)(own == SMMA_F16 ? sizeof f16 / sizeof *f16 : sizeof bf16 / sizeof *bf16);
  }
  return true;
}

static bool make_c_fdpa(size_t n, unit *u) { return make_opposing(n, u, false); }
static bool make_gd_fdpa(size_t n, unit *u) { return make_opposing(n, u, true); }

/* Makes a unit for one of the three rows of docs/rules.md: sums are exact, or c is aligned in the first block, or c is
   added last. */
static bool make_general(size_t n, unit *u, const char *rule, bool exact, bool last) {
  static const int bits[] = {0, 1, 2, 3, 5}, zeros[] = {SMMA_NO_EXPONENT, -2, 1};
  static const smma_subnormal_policy policies[] = {SMMA_SUBNORMALS_KEPT, SMMA_SUBNORMALS_TO_SIGNED_ZERO,
                                                   SMMA_SUBNORMALS_TO_POSITIVE_ZERO};
  static const smma_sum_overflow overflows[] = {SMMA_SUM_TO_INFINITY, SMMA_SUM_SATURATES, SMMA_SUM_BY_DIRECTION};
  const smma_format d = F(PICK(&n, accumulators));
  const bool few = last && pick(&n, 2);                     /* few bits, in one block: products are truncated away */
  const size_t how = exact ? 0 : few ? 2 : 1 + pick(&n, 3); /* 1: with a sticky bit */
  smma_format a, b;
  smma_g_fdpa p = {.output = d}, again;
  p.rounding = PICK(&n, five_roundings);
  p.alignment_bits = how ? PICK(&n, bits) : SMMA_EXACT_ALIGNMENT;
  p.sticky_bit = how == 1;
  p.alignment_rounding = how < 2 ? SMMA_ROUND_TOWARD_ZERO : PICK(&n, five_roundings);
  p.product_exponent = how && pick(&n, 2) ? SMMA_EXPONENT_NORMALIZED : SMMA_EXPONENT_OF_FACTORS;
  p.zero_exponent = how ? PICK(&n, zeros) : SMMA_NO_EXPONENT;
  p.c_joins = last || (exact && pick(&n, 2)) ? SMMA_C_JOINS_LAST : SMMA_C_JOINS_FIRST;
  if (p.c_joins == SMMA_C_JOINS_LAST) p.c_rounding = PICK(&n, five_roundings);
  p.overflow = PICK(&n, overflows);
  p.subnormal_inputs = PICK(&n, policies);
  p.subnormal_outputs = PICK(&n, policies);
  p.zero_sign = pick(&n, 2) ? SMMA_ZERO_IEEE : n % 2 ? SMMA_ZERO_ALWAYS_POSITIVE : SMMA_ZERO_POSITIVE;
  p.block = 1 << pick(&n, 3);
  p.interleave = p.block >> (int)pick(&n, 2);
  if (p.interleave == 0) p.interleave = 1;
  if (few) {
    p.alignment_bits = 0;
    p.block = p.interleave = 4;
  }
  pick_factors(&n, &a, &b);
  *u = new_unit(rule, SMMA_COMPOSITION, a, b, d, 4);
  u->core.rule.nan = nan_of(d);
  u->core.rule.with.composition = smma_compose_g_fdpa(&p, 4, d);
  pick_three(u, &n);
  finish_unit(u);
  u->has_composed = false; /* the composition would be the same again */
  u->model.kind = FIXED_G_FDPA;
  u->model.g_fdpa = p;
  if (smma_is_g_fdpa(&u->core.rule.with.composition, 4, d, &again) && memcmp(&p, &again, sizeof p) == 0) return true;
  printf("%s: the composition is not taken for what it is\n", rule);
  failures++;
  return false;
}

static bool make_g_exact(size_t n, unit *u) { return make_general(n, u, "G-FDPA, exact", true, false); }
static bool make_g_fdpa(size_t n, unit *u) { return make_general(n, u, "G-FDPA, aligned", false, false); }
static bool make_g_last(size_t n, unit *u) { return make_general(n, u, "G-FDPA, aligned, c last", false, true); }

/* Makes a composition of the catalogue with a narrow d. */
static void compose_named(unit *u, const smma_named_rule *named, smma_format d) {
  u->core.rule = named->rule;
  u->model.o = u->composed = u->core;
  u->model.o.rule.nan = u->composed.rule.nan = SMMA_NAN_QUIET;
  u->has_composed = true;
  narrow(u, SMMA_F32, d);
}

static bool make_pairs(size_t n, unit *u) {
  static const struct {
    const smma_named_rule *rule;
    bool fused, wide;
    smma_rounding rounding;
    smma_subnormal_policy subnormals;
  } rules[] = {
      {&smma_rule_arm_bf16, false, false, SMMA_ROUND_TO_ODD, SMMA_SUBNORMALS_TO_SIGNED_ZERO},
      {&smma_rule_arm_fused_pairs, true, false, SMMA_ROUND_NEAREST_EVEN, SMMA_SUBNORMALS_KEPT},
      {&smma_rule_arm_pairs_f32, false, false, SMMA_ROUND_NEAREST_EVEN, SMMA_SUBNORMALS_KEPT},
      {&smma_rule_power_bf16, true, true, SMMA_ROUND_NEAREST_EVEN, SMMA_SUBNORMALS_KEPT},
  };
  const size_t i = pick(&n, 4);
  smma_format a, b;
  const smma_format d = F(PICK(&n, accumulators));
  pick_factors(&n, &a, &b);
  *u = new_unit("sums of pairs", SMMA_COMPOSITION, a, b, SMMA_F32, 4);
  pick_three(u, &n);
  compose_named(u, rules[i].rule, d);
  if (rules[i].wide) u->composed.rule.with.composition.step[0].narrow_bits = smma_encoding_of(d).fraction_bits;
  u->model.kind = FIXED_PAIRS;
  u->model.fused = rules[i].fused;
  u->model.wide = rules[i].wide;
  u->model.rounding = rules[i].rounding;
  u->model.subnormals = rules[i].subnormals;
  return true;
}

static bool make_chains(size_t n, unit *u) {
  const bool kept = pick(&n, 2);
  smma_format a, b;
  const smma_format d = F(PICK(&n, accumulators));
  pick_factors(&n, &a, &b);
  *u = new_unit("sums in two chains", SMMA_COMPOSITION, a, b, SMMA_F32, 4);
  pick_three(u, &n);
  compose_named(u, kept ? &smma_rule_x86_amx_f16 : &smma_rule_x86_amx_bf16, d);
  u->composed.rule.with.composition.step[0].window = u->composed.k;
  u->model.kind = FIXED_CHAINS;
  u->model.subnormals = kept ? SMMA_SUBNORMALS_KEPT : SMMA_SUBNORMALS_TO_SIGNED_ZERO;
  return true;
}

/* ---- Properties proved with enough bits ---- */

static int fraction_bits(smma_format format) { return smma_encoding_of(format).fraction_bits; }

/* Reports whether 2^bits is at least the number of terms. With this number of bits below the largest exponent, a step
   of c or of a product never costs the other terms more than it adds (docs/rules.md). */
static bool are_enough(int bits, int terms) { return bits >= 0 && 1 << smma_minimum(bits, 20) >= terms; }

static void prove_truncation(unit *u) {
  const smma_operation *o = &u->core;
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  const int block = smma_block_of(o), bits = p->alignment_bits;
  const bool zeros = p->zero_exponent <= smma_minimum_exponent(smma_encoding_of(o->d));
  u->proved[IN_C] = zeros && are_enough(bits - fraction_bits(o->d), block);
  u->proved[IN_PRODUCTS] = zeros && are_enough(bits - fraction_bits(o->a) - fraction_bits(o->b), block) &&
                           (block == o->k || u->proved[IN_C]);
}

/* Scale factors have up to six fraction bits. The exponent of a group depends on the scale factors alone. */
static void prove_groups(unit *u) {
  const smma_operation *o = &u->core;
  const smma_t_fdpa *p = &o->rule.with.gst_fdpa.fused;
  const int groups = o->k / o->rule.with.gst_fdpa.group, bits = p->alignment_bits;
  const int finest = fraction_bits(o->a) + fraction_bits(o->b) + 2 * fraction_bits(o->scale);
  const bool zeros = p->zero_exponent <= smma_minimum_exponent(smma_encoding_of(o->d));
  u->proved[IN_C] = zeros && are_enough(bits - fraction_bits(o->d), groups);
  u->proved[IN_PRODUCTS] = zeros && are_enough(bits - finest, groups);
}

static void prove_tr(unit *u) {
  const smma_operation *o = &u->core;
  const int bits = o->rule.with.tr_fdpa.alignment_bits - fraction_bits(o->a) - fraction_bits(o->b);
  u->proved[IN_PRODUCTS] = are_enough(bits, smma_block_of(o) + 1);
}

static void prove_gd(unit *u) {
  const smma_operation *o = &u->core;
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  const int block = smma_block_of(o), groups = block / smma_minimum(p->group, block);
  u->proved[IN_C] = groups == 1 || are_enough(p->c_bits - fraction_bits(u->model.o.d), groups);
  u->proved[IN_PRODUCTS] = are_enough(p->alignment_bits - fraction_bits(o->a) - fraction_bits(o->b), block + 1) &&
                           (block == o->k || u->proved[IN_C]);
}

/* Monotonicity in c needs no condition, because c is added last. The result of the first half is c of the second. */
static void prove_fp8(unit *u) {
  const smma_t_fdpa *p = &u->core.rule.with.t_fdpa;
  u->proved[IN_PRODUCTS] = are_enough(p->alignment_bits - fraction_bits(u->core.d), p->block) &&
                           are_enough(p->alignment_bits - 2 * fraction_bits(SMMA_F16), p->block);
}

static void prove(unit *u) {
  if (u->model.kind != FIXED_RULE) return;
  switch (u->core.rule.algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA: prove_truncation(u); break;
    case SMMA_GST_FDPA: prove_groups(u); break;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: prove_tr(u); break;
    case SMMA_GD_FDPA: prove_gd(u); break;
    case SMMA_C_FDPA: u->proved[NEGATED] = u->free == u->core.k && smma_block_of(&u->core) == u->core.k; break;
    case SMMA_FP8_BY_FP16: prove_fp8(u); break;
    default: break;
  }
}

/* ---- The catalogue ---- */

/* Returns the row of docs/rules.md for an operation of the catalogue. */
static const char *row_of(const smma_operation *o) {
  switch (o->rule.algorithm) {
    case SMMA_T_FDPA: return "T-FDPA";
    case SMMA_ST_FDPA: return "ST-FDPA";
    case SMMA_GST_FDPA: return "GST-FDPA";
    case SMMA_FP8_BY_FP16: return "FP8-by-FP16";
    case SMMA_GTR_FDPA: return "GTR-FDPA";
    case SMMA_GD_FDPA: return "GD-FDPA";
    case SMMA_INTEGER:
      if (o->rule.with.integer.two_stages) return "INTEGER, clamped in two stages";
      return o->rule.with.integer.overflow == SMMA_INTEGER_SATURATES ? "INTEGER, clamped" : "INTEGER, wraps";
    default: break;
  }
  return NULL;
}

/* Makes function number n of the catalogue, if its factors have at most 8 bits: K unchanged, one element (two for short
   factors) with every value of a and b, and values of c near and far that differ for each function. */
static bool make_catalogue(size_t n, unit *u) {
  static const uint64_t integers[] = {0, 1, 0xffffffff, 0x7fffffff, 0x7fffc001, 0x80000000, 0x80003fff};
  static uint64_t some[FEW_C];
  const smma_instruction *i;
  uint64_t state = n;
  for (size_t index = 0; (i = smma_catalogue_at(index)); index++) {
    const smma_operation o = smma_operation_of(i);
    if (smma_catalogue_twin(i) != i || bits_of(o.a) > 8 || bits_of(o.b) > 8 || i->sparse) continue;
    if (smma_products_of(&o.rule) != SMMA_PRODUCT_MULTIPLIED || o.rule.algorithm == SMMA_COMPOSITION)
      continue; /* the page covers neither */
    if (n-- > 0) continue;
    memset(u, 0, sizeof *u);
    u->rule = row_of(&o);
    if (!u->rule) {
      printf("%s has no row in docs/rules.md\n", i->name);
      exit(1);
    }
    u->core = u->model.o = o;
    u->has_core = u->catalogue = true;
    u->free = bits_of(o.a) + bits_of(o.b) <= 8 ? 2 : 1;
    u->at[1] = o.k / 2 + 1;
    if (o.scale_block) {
      u->some_scales = o.scale == SMMA_UE8M0 ? powers : ue4m3;
      u->count_scales = bits_of(o.a) + bits_of(o.b) > 12 ? 1 : 2;
    }
    const int bits = u->free * (bits_of(o.a) + bits_of(o.b)) + 2 * (u->count_scales / 2);
    u->some_c = some;
    u->count_c = bits > 14 ? (FEW_C + 3) / 4 : FEW_C;
    for (int j = 0; j < u->count_c; j++)
      some[j] = o.c == SMMA_S32   ? integers[random_below(&state, 7)] + random_below(&state, 3)
                : o.c == SMMA_F32 ? f32_far[random_below(&state, (unsigned)far_count)]
                                  : random_below(&state, 1 << 16);
    return true;
  }
  return false;
}

/* ---- The page docs/rules.md ---- */

static char *page;

static void read_page(const char *path) {
  FILE *f = fopen(path, "rb");
  long size;
  if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
    printf("%s: cannot be read\n", path);
    exit(1);
  }
  page = room((size_t)size + 1, 1);
  if (fread(page, 1, (size_t)size, f) != (size_t)size) exit(1);
  fclose(f);
}

/* Reads the table cells of a rule in docs/rules.md. A cell is "yes", "no", "if" (with enough bits) or "-" (no
   statement). */
static bool read_row(const char *rule, char cell[PROPERTIES][8]) {
  char start_of_row[80];
  snprintf(start_of_row, sizeof start_of_row, "\n| %s |", rule);
  const char *at = strstr(page, start_of_row);
  if (!at) return false;
  at += strlen(start_of_row);
  for (int p = 0; p < PROPERTIES; p++) {
    int length = 0;
    if (sscanf(at, " %7[a-z-]%n", cell[p], &length) != 1) return false;
    at = strchr(at + length, '|');
    if (!at++) return false;
  }
  return true;
}

static const char *verdict(const summary *s, property p) {
  if (s->checked[p][0] + s->checked[p][1] == 0) return "-";
  if (s->violated[p][0] + s->violated[p][1] == 0) return "yes";
  return s->checked[p][1] && !s->violated[p][1] ? "if" : "no";
}

static void report(const summary *s) {
  static const char *const names[PROPERTIES] = {"monotone in c", "in products", "by values", "negated",
                                                "in a block",    "any order",   "swapped"};
  char cell[PROPERTIES][8];
  printf("%-32s %4" PRIu64 " %s %10" PRIu64 " inputs, %.3f of the bound:", s->rule, s->units,
         s->catalogue ? "functions" : "units", s->inputs, s->reached);
  for (property p = 0; p < PROPERTIES; p++) printf(" %s", verdict(s, p));
  printf("\n");
  if (!read_row(s->rule, cell)) {
    printf("  docs/rules.md has no row of it\n");
    failures++;
    return;
  }
  for (property p = 0; p < PROPERTIES; p++) {
    const bool holds = !s->violated[p][1] && (!s->violated[p][0] || strcmp(cell[p], "yes") != 0);
    if (s->catalogue || few_units ? holds : strcmp(verdict(s, p), cell[p]) == 0) continue;
    printf("  %s: docs/rules.md says %s, all inputs %s: violated by %" PRIu64 " of %" PRIu64
           ", where it is proved by %" PRIu64 " of %" PRIu64 "\n",
           names[p], cell[p], verdict(s, p), s->violated[p][0], s->checked[p][0], s->violated[p][1], s->checked[p][1]);
    failures++;
  }
}

/* ---- All ---- */

typedef struct {
  const char *name;
  bool (*make)(size_t n, unit *u); /* the n-th */
  size_t share; /* how many percent of each family's requested units are tested; 0: all units of the family */
} family;

static const family families[] = {
    {"fma", make_fma, 60},
    {"t-fdpa", make_t_fdpa, 300},
    {"st-fdpa", make_st_fdpa, 100},
    {"gst-fdpa", make_gst_fdpa, 150},
    {"e-fdpa", make_e_fdpa, 40},
    {"ftz-addmul", make_ftz_addmul, 100},
    {"ftz-fma", make_ftz_fma, 60},
    {"tr-fdpa", make_tr_fdpa, 400},
    {"fp8-by-fp16", make_fp8_by_fp16, 80},
    {"integer", make_integer, 200},
    {"c-fdpa", make_c_fdpa, 100},
    {"gd-fdpa", make_gd_fdpa, 150},
    {"g-fdpa", make_g_fdpa, 120},
    {"g-fdpa", make_g_exact, 80},
    {"g-fdpa", make_g_last, 120},
    {"pairs", make_pairs, 120},
    {"chains", make_chains, 120},
    {"catalogue", make_catalogue, 0},
};

/* Runs `wanted` random units of the family. */
static void run(const family *f, size_t wanted) {
  unit u;
  if (f->share == 0) {
    for (size_t n = 0; f->make(n, &u); n += few_units ? 8 : 1) check(&u);
    return;
  }
  for (size_t i = 0; i < wanted * f->share / 100; i++)
    if (f->make(mixed_bits(i + 1), &u)) check(&u);
}

/* Checks that the test detects mistakes: in units of each family with parameters, the core has one bit more. */
static void check_notices(void) {
  static bool (*const makers[])(size_t, unit *) = {make_t_fdpa, make_gst_fdpa, make_tr_fdpa,
                                                   make_c_fdpa, make_gd_fdpa,  make_g_fdpa};
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    const uint64_t before = failures;
    bool noticed = false;
    unit u;
    reports = MOST_REPORTS;
    for (size_t n = 1; n < 40 && !noticed; n++) {
      if (!makers[i](mixed_bits(n), &u) || !u.has_core) continue;
      switch (u.core.rule.algorithm) {
        case SMMA_T_FDPA: u.core.rule.with.t_fdpa.alignment_bits++; break;
        case SMMA_GST_FDPA: u.core.rule.with.gst_fdpa.fused.alignment_bits++; break;
        case SMMA_TR_FDPA:
        case SMMA_GTR_FDPA: u.core.rule.with.tr_fdpa.alignment_bits++; break;
        case SMMA_C_FDPA:
        case SMMA_GD_FDPA: u.core.rule.with.c_fdpa.c_bits++; break;
        default: u.core.rule.with.composition.step[0].rounding = SMMA_ROUND_TOWARD_ZERO; break;
      }
      u.has_composed = false;
      u.rule = "a mistake";
      check(&u);
      noticed = failures > before;
    }
    failures = before + !noticed;
    if (!noticed) printf("a mistake in the core is not noticed: maker %zu\n", i);
  }
  summary_count = reports = 0;
  memset(summaries, 0, sizeof summaries);
}

int main(int argc, char **argv) {
  const char *text = getenv("SOFTMMA_EXHAUSTIVE_UNITS");
  const size_t wanted = text ? (size_t)strtoull(text, NULL, 10) : EXHAUSTIVE_UNITS;
  few_units = wanted < EXHAUSTIVE_UNITS;
  near_count = codes_of_f32(f32_near, -3, 4, 1);
  far_count = codes_of_f32(f32_far, -45, 33, 3);
  read_page(RULES_PAGE);
  check_notices();
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    bool named = argc == 1;
    for (int j = 1; j < argc; j++) named |= strcmp(argv[j], families[i].name) == 0;
    if (named) run(&families[i], wanted);
  }
  for (int i = 0; i < summary_count; i++) report(&summaries[i]);
  printf("%" PRIu64 " failures\n", failures);
  return failures ? 1 : 0;
}
