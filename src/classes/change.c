#include "classes/change.h"

#include <stdlib.h>
#include <string.h>

#include "core/generated.h"
#include "core/range.h"
#include "infer/parameter.h"
#include "isa/compose.h"

/* ---- Operands and results ---- */

typedef enum {
  OF_PRODUCT,
  OF_PRODUCT_OF_A,
  OF_PRODUCT_OF_B,
  OF_PRODUCT_OF_EITHER,
  OF_A,
  OF_B,
  OF_SCALE_A,
  OF_SCALE_B,
  OF_C,
  OF_D,
  OF_D_OF_FINITE
} target;

typedef enum {
  IS_ANY,
  IS_SUBNORMAL,
  IS_NEGATIVE_SUBNORMAL,
  IS_LEAST,
  IS_NEGATIVE,
  IS_NEGATIVE_ZERO,
  IS_POSITIVE_ZERO,
  IS_GREATEST,
  IS_INFINITE,
  IS_NAN
} condition;

typedef enum {
  TO_ZERO,
  TO_NEGATED,
  TO_GREATEST,
  TO_INFINITE,
  TO_NOT_A_NUMBER,
  TO_UNSIGNED,
  TO_ONE,
  TO_FIRST
} replacement;

typedef struct {
  target of;
  condition is;
  replacement to;
  const char *everywhere, *at; /* in words; NULL: there is only one place */
} number_change;

static const number_change numbers[] = {
#define NUMBER_CHANGE(of, is, to, everywhere, at) {OF_##of, IS_##is, TO_##to, everywhere, at},
#include "classes/number.def"
#undef NUMBER_CHANGE
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static bool has_condition(condition c, smma_encoding f, smma_number x) {
  const bool subnormal = f.exponent_bits && smma_is_subnormal(x);
  switch (c) {
    case IS_ANY: return true;
    case IS_SUBNORMAL: return subnormal;
    case IS_NEGATIVE_SUBNORMAL: return subnormal && x.negative;
    case IS_LEAST: return subnormal && x.significand == 1;
    case IS_NEGATIVE: return x.kind == SMMA_FINITE && x.negative;
    case IS_NEGATIVE_ZERO: return x.kind == SMMA_ZERO && x.negative;
    case IS_POSITIVE_ZERO: return x.kind == SMMA_ZERO && !x.negative;
    case IS_GREATEST: {
      const smma_number greatest = smma_decode(f, smma_greatest_of(f));
      return x.kind == SMMA_FINITE && x.exponent == greatest.exponent && x.significand == greatest.significand;
    }
    case IS_INFINITE: return x.kind == SMMA_INFINITE;
    case IS_NAN: return x.kind == SMMA_NAN;
  }
  return false;
}

/* Returns the replacement of `x`. TO_FIRST replaces every scale factor by `first`, the vector's first one. */
static smma_number number_to(replacement to, smma_encoding f, smma_number x, smma_number first) {
  smma_number y = x;
  switch (to) {
    case TO_ZERO: return smma_decode(f, smma_sign_and_fields(f, x.negative, 0));
    case TO_NEGATED: y.negative = !x.negative; return y;
    case TO_GREATEST:
      y = smma_decode(f, smma_greatest_of(f));
      y.negative = x.negative;
      return y;
    case TO_UNSIGNED:
      y.significand = (UINT64_C(1) << f.bits) - x.significand;
      y.negative = 0;
      return y;
    case TO_ONE: return smma_decode(f, smma_encode_one(f, false));
    case TO_FIRST: return first;
    case TO_INFINITE:
    case TO_NOT_A_NUMBER: break; /* for results only */
  }
  return x;
}

static uint64_t code_to(replacement to, smma_encoding f, smma_nan_policy nan, uint64_t x) {
  const uint64_t sign = (uint64_t)(f.sign_bits != 0) << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  switch (to) {
    case TO_ZERO: return smma_sign_and_fields(f, (x & sign) != 0, 0);
    case TO_NEGATED: return smma_negated(f, x);
    case TO_GREATEST: return (x & sign) | smma_largest_fields(f) << f.ignored_bits;
    case TO_INFINITE: return (x & sign) | (smma_largest_fields(f) + 1) << f.ignored_bits;
    case TO_NOT_A_NUMBER: return smma_nan_of(f, nan);
    case TO_UNSIGNED:
    case TO_ONE:
    case TO_FIRST: break; /* for operands only */
  }
  return x;
}

/* Returns the number of indices (k or scale factor) at which the change can occur, or 0 if the formats do not have the
   number that it replaces. */
static int places_of(const number_change *n, const smma_instruction *i) {
  const smma_encoding d = smma_encoding_of(i->d);
  const bool integers = smma_is_fixed_point(i->a), infinite = smma_has_infinity(d);
  if (n->is == IS_NEGATIVE) return integers && smma_encoding_of(n->of == OF_A ? i->a : i->b).sign_bits ? i->k : 0;
  if (integers && n->is != IS_ANY) return 0;
  switch (n->of) {
    case OF_SCALE_A:
    case OF_SCALE_B: return smma_scale_count(i->k, i->scale_block);
    case OF_C: return 1;
    case OF_D:
    case OF_D_OF_FINITE:
      if (n->to == TO_INFINITE && !infinite) return 0;
      return d.sign_bits || n->to != TO_NEGATED;
    default: return i->k;
  }
}

/* ---- The list ---- */

typedef struct {
  smma_change *list;
  size_t count, capacity;
  bool failed;
} changes;

static void add(changes *c, smma_change x) {
  if (c->count == c->capacity) {
    const size_t capacity = c->capacity ? 2 * c->capacity : 1024;
    smma_change *larger = realloc(c->list, capacity * sizeof *larger);
    if (!larger) c->failed = true;
    if (!larger) return;
    c->list = larger;
    c->capacity = capacity;
  }
  c->list[c->count++] = x;
}

static long distance(const smma_change *x) {
  const bool number = smma_parameter_is_number(x->key) && abs(x->was) < 10000 && abs(x->value) < 10000;
  return number ? labs((long)x->value - x->was) : 100000;
}

/* Sorts changes by the distance of their value from the model's, nearest first. Changes with equal distances keep their
   order. */
static void sort_nearest(smma_change *x, size_t count) {
  for (size_t n = 1; n < count; n++) {
    const smma_change now = x[n];
    size_t at = n;
    for (; at > 0 && distance(&x[at - 1]) > distance(&now); at--) x[at] = x[at - 1];
    x[at] = now;
  }
}

static void add_key(changes *c, const smma_instruction *i, smma_change_sort sort, int step, const smma_key *key,
                    int was) {
  int value[SMMA_MOST_VALUES];
  const int count = smma_parameter_values(i, key, was, value);
  const size_t first = c->count;
  for (int n = 0; n < count; n++)
    add(c, (smma_change){.sort = sort, .step = step, .key = key, .was = was, .value = value[n]});
  if (!c->failed) sort_nearest(c->list + first, c->count - first);
}

/* Reports whether the instruction's own rule has a parameter of the key's name, so that the change is listed already.
 */
static bool is_of_rule(const smma_instruction *i, const smma_key *key) {
  const smma_key *own = smma_find_key(smma_algorithm_of(&i->rule->rule), key->key, strlen(key->key));
  return own && own->of_rule;
}

static void add_steps(changes *c, const smma_instruction *i, const smma_composition *p) {
  smma_custom custom = smma_custom_of(i);
  custom.named.rule.algorithm = SMMA_COMPOSITION;
  custom.named.rule.with.composition = *p;
  for (int step = p->steps - 1; step >= 0; step--)
    for (const smma_key *key = NULL; (key = smma_next_step_key(key));) {
      const smma_step *s = &p->step[step];
      if (smma_parameter_is_idle(s, key)) continue;
      add_key(c, i, SMMA_CHANGED_STEP, step, key, smma_key_of_step(s, key));
      if (s->join == SMMA_JOIN_CHAIN && smma_parameter_of_accumulator(key))
        add_key(c, i, SMMA_CHANGED_BOTH, step, key, smma_key_of_step(s, key));
    }
  for (const smma_key *key = NULL; (key = smma_parameter_next_of_whole(key));)
    if (!is_of_rule(i, key)) add_key(c, i, SMMA_CHANGED_STEP, -1, key, smma_custom_get(&custom, key));
}

smma_change *smma_changes_of(const smma_instruction *i, size_t *count) {
  const smma_custom custom = smma_custom_of(i);
  const smma_algorithm algorithm = smma_algorithm_of(&i->rule->rule);
  const smma_operation o = smma_operation_of(i);
  smma_composition p;
  changes c = {0};
  for (const smma_key *key = NULL; (key = smma_next_key(algorithm, key));)
    if (key->of_rule) add_key(&c, i, SMMA_CHANGED_RULE, -1, key, smma_custom_get(&custom, key));
  if (smma_compose(&o, &p)) add_steps(&c, i, &p);
  for (int n = 0; n < NUMBERS; n++) {
    const int places = places_of(&numbers[n], i);
    if (places) add(&c, (smma_change){.sort = SMMA_CHANGED_NUMBER, .number = n, .place = -1});
    for (int place = 0; places > 1 && place < places; place++)
      if (numbers[n].to != TO_FIRST || place)
        add(&c, (smma_change){.sort = SMMA_CHANGED_NUMBER, .number = n, .place = place});
  }
  if (c.failed) free(c.list);
  *count = c.failed ? 0 : c.count;
  return c.failed ? NULL : c.list;
}

const char *smma_change_words(const smma_change *x, char *text, size_t size) {
  char value[32], was[32];
  *text = 0;
  if (x->sort == SMMA_CHANGED_NUMBER) {
    const number_change *n = &numbers[x->number];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    smma_append_text(text, size, x->place < 0 ? n->everywhere : n->at, x->place);
#pragma GCC diagnostic pop
    return text;
  }
  if (x->step >= 0) smma_append_text(text, size, "step %d: ", x->step + 1);
  smma_append_text(text, size, "%s is %s instead of %s", x->key->key,
                   smma_key_value(x->key, x->value, value, sizeof value),
                   smma_key_value(x->key, x->was, was, sizeof was));
  if (x->sort == SMMA_CHANGED_BOTH) smma_append_text(text, size, ", of accumulators, too");
  return text;
}

/* ---- A model with changes ---- */

/* Sets keys of the rule first, then keys of its composition. */
static bool set_keys(smma_custom *custom, const smma_change *x, int count) {
  bool composed = custom->named.rule.algorithm == SMMA_COMPOSITION;
  smma_composition *p = &custom->named.rule.with.composition;
  for (int n = 0; n < count; n++)
    if (x[n].sort == SMMA_CHANGED_RULE) smma_custom_set(custom, x[n].key, x[n].value);
  for (int n = 0; n < count; n++) {
    if (x[n].sort != SMMA_CHANGED_STEP && x[n].sort != SMMA_CHANGED_BOTH) continue;
    if (!composed) {
      smma_instruction i = custom->instruction;
      smma_operation o;
      smma_composition made;
      i.rule = &custom->named;
      o = smma_operation_of(&i);
      if (!smma_compose(&o, &made)) return false;
      *p = made;
      custom->named.rule.algorithm = SMMA_COMPOSITION;
      composed = true;
    }
    if (x[n].step >= p->steps) return false;
    if (x[n].step < 0)
      smma_custom_set(custom, x[n].key, x[n].value);
    else
      smma_parameter_set(&p->step[x[n].step], x[n].key, x[n].value, x[n].sort == SMMA_CHANGED_BOTH);
  }
  return true;
}

static bool same_place(const smma_change *x, const smma_change *y) {
  return x->sort != SMMA_CHANGED_NUMBER && y->sort != SMMA_CHANGED_NUMBER && x->key == y->key && x->step == y->step;
}

bool smma_changed_custom(const smma_instruction *i, const smma_change *x, int count, smma_custom *custom) {
  smma_custom_fault fault;
  *custom = smma_custom_of(i);
  custom->instruction.name = "changed";
  return set_keys(custom, x, count) && smma_custom_check(custom, &fault);
}

bool smma_changed_make(const smma_instruction *i, const smma_change *x, int count, smma_changed *changed) {
  smma_custom custom;
  int keys = 0;
  changed->numbers = 0;
  for (int n = 0; n < count; n++) {
    for (int other = 0; other < n; other++)
      if (same_place(&x[n], &x[other])) return false;
    if (x[n].sort == SMMA_CHANGED_NUMBER)
      changed->number[changed->numbers++] = x[n];
    else
      keys++;
  }
  changed->operation = smma_operation_of(i);
  if (!keys) return true;
  if (!smma_changed_custom(i, x, count, &custom)) return false;
  changed->operation = smma_custom_operation(&custom);
  return true;
}

/* The numbers of a test vector, which changes may alter. */
typedef struct {
  smma_decoded of;
  uint64_t c;
} altered_operands;

static bool is_finite_row(const smma_operation *o, const altered_operands *x) {
  const int scales = smma_scale_count(o->k, o->scale_block);
  bool finite = smma_decode(smma_encoding_of(o->c), x->c).kind <= SMMA_FINITE;
  for (int k = 0; k < o->k; k++) finite = finite && x->of.a[k].kind <= SMMA_FINITE && x->of.b[k].kind <= SMMA_FINITE;
  for (int n = 0; n < scales; n++)
    finite = finite && x->of.scale_a[n].kind <= SMMA_FINITE && x->of.scale_b[n].kind <= SMMA_FINITE;
  return finite;
}

static void alter_numbers(const number_change *n, smma_format format, smma_number *x, int count, int place) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_number first = count ? x[0] : smma_zero();
  for (int k = place < 0 ? 0 : place; k < (place < 0 ? count : place + 1); k++)
    if (has_condition(n->is, f, x[k])) x[k] = number_to(n->to, f, x[k], first);
}

static void alter_products(const number_change *n, const smma_operation *o, altered_operands *x, int place) {
  const smma_encoding a = smma_encoding_of(o->a), b = smma_encoding_of(o->b);
  for (int k = place < 0 ? 0 : place; k < (place < 0 ? o->k : place + 1); k++) {
    const bool of_a = n->of != OF_PRODUCT_OF_B && has_condition(n->is, a, x->of.a[k]);
    const bool of_b = n->of != OF_PRODUCT_OF_A && n->of != OF_PRODUCT && has_condition(n->is, b, x->of.b[k]);
    if (!of_a && !of_b) continue;
    if (n->to == TO_ZERO)
      x->of.a[k] = smma_decode(a, 0), x->of.b[k] = smma_decode(b, 0);
    else
      x->of.a[k] = number_to(n->to, a, x->of.a[k], x->of.a[k]);
  }
}

static void alter(const smma_change *change, const smma_operation *o, altered_operands *x) {
  const number_change *n = &numbers[change->number];
  const int scales = smma_scale_count(o->k, o->scale_block), place = change->place;
  const smma_encoding c = smma_encoding_of(o->c);
  switch (n->of) {
    case OF_PRODUCT:
    case OF_PRODUCT_OF_A:
    case OF_PRODUCT_OF_B:
    case OF_PRODUCT_OF_EITHER: alter_products(n, o, x, place); break;
    case OF_A: alter_numbers(n, o->a, x->of.a, o->k, place); break;
    case OF_B: alter_numbers(n, o->b, x->of.b, o->k, place); break;
    case OF_SCALE_A: alter_numbers(n, o->scale, x->of.scale_a, scales, place); break;
    case OF_SCALE_B: alter_numbers(n, o->scale, x->of.scale_b, scales, place); break;
    case OF_C:
      if (has_condition(n->is, c, smma_decode(c, x->c))) x->c = code_to(n->to, c, o->rule.nan, x->c);
      break;
    case OF_D:
    case OF_D_OF_FINITE: break;
  }
}

static uint64_t compute(const smma_changed *m, const altered_operands *row) {
  const smma_operation *o = &m->operation;
  const smma_encoding d = smma_encoding_of(o->d);
  altered_operands x = *row;
  uint64_t result;
  for (int n = 0; n < m->numbers; n++) alter(&m->number[n], o, &x);
  result = smma_dot_add(o, smma_operands_of(&x.of), x.c);
  for (int n = 0; n < m->numbers; n++) {
    const number_change *change = &numbers[m->number[n].number];
    if (change->of != OF_D && change->of != OF_D_OF_FINITE) continue;
    if (change->of == OF_D_OF_FINITE && !is_finite_row(o, row)) continue;
    if (has_condition(change->is, d, smma_decode(d, result))) result = code_to(change->to, d, o->rule.nan, result);
  }
  return result;
}

uint64_t smma_changed_sample(const smma_changed *m, const smma_samples *s, size_t i) {
  const smma_operation *o = &m->operation;
  const size_t k = (size_t)o->k, scales = (size_t)smma_scale_count(o->k, o->scale_block);
  const smma_number *number = s->number + i * s->per_row;
  altered_operands x;
  if (!m->numbers) return smma_sample_computed(s, o, i);
  memcpy(x.of.a, number, k * sizeof *number);
  memcpy(x.of.b, number + k, k * sizeof *number);
  memcpy(x.of.scale_a, number + 2 * k, scales * sizeof *number);
  memcpy(x.of.scale_b, number + 2 * k + scales, scales * sizeof *number);
  x.c = smma_load(s->rows.layout.part[SMMA_PART_C].bytes, s->rows.part[SMMA_PART_C], i);
  return compute(m, &x);
}

uint64_t smma_changed_row(const smma_changed *m, const smma_row *row) {
  altered_operands x = {.c = row->c};
  if (!m->numbers) return smma_row_compute(&m->operation, row);
  smma_row_decode(&m->operation, row, &x.of);
  return compute(m, &x);
}
