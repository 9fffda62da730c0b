#include "equal/sums.h"

#include <stdlib.h>
#include <string.h>

#include "equal/form.h"
#include "host/order.h"
#include "isa/compose.h"

/* The kinds of expressions. A kind is the first word of an expression; its operands follow, then indices k, as
   listed. */
enum {
  POSITIVE_ZERO,
  START,   /* C */
  BLOCK,   /* a fused sum: the previous sum, k of each product */
  SET,     /* an exact sum: k of each product */
  ADDED,   /* total, part */
  SCALED,  /* `with`, number of the part, total, part */
  ROUNDED, /* format, sum */
};

void smma_sums_free(smma_sums *s) {
  free(s->word), free(s->end), free(s->facts), free(s->slot);
  *s = (smma_sums){0};
}

/* ---- Storing each expression once ---- */

static size_t hash_of(const size_t *word, size_t count) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < count; i++) hash = (hash ^ word[i] ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(hash ^ hash >> 32);
}

static const size_t *words_of(const smma_sums *s, size_t sum, size_t *count) {
  const size_t first = sum ? s->end[sum - 1] : 0;
  *count = s->end[sum] - first;
  return s->word + first;
}

/* Returns the slot of an expression, or the slot where it belongs. */
static size_t find_slot(const smma_sums *s, const size_t *word, size_t count) {
  size_t at = hash_of(word, count) & (s->slots - 1);
  for (; s->slot[at]; at = (at + 1) & (s->slots - 1)) {
    size_t length;
    const size_t *other = words_of(s, s->slot[at] - 1, &length);
    if (length == count && memcmp(word, other, count * sizeof *word) == 0) break;
  }
  return at;
}

static bool grow(void **memory, size_t size) {
  void *more = realloc(*memory, size);
  if (more) *memory = more;
  return more;
}

static bool make_slots(smma_sums *s) {
  size_t *slot = calloc(4 * s->room, sizeof *slot);
  if (!slot) return false;
  free(s->slot);
  s->slot = slot, s->slots = 4 * s->room;
  for (size_t i = 0; i < s->count; i++) {
    size_t count;
    const size_t *word = words_of(s, i, &count);
    slot[find_slot(s, word, count)] = i + 1;
  }
  return true;
}

static bool make_room(smma_sums *s, size_t words) {
  if (s->count == s->room) {
    s->room = s->room ? 2 * s->room : 256;
    if (!grow((void **)&s->end, s->room * sizeof *s->end) || !grow((void **)&s->facts, s->room * sizeof *s->facts) ||
        !make_slots(s))
      return false;
  }
  if (s->words + words <= s->word_room) return true;
  s->word_room = 2 * (s->words + words);
  return grow((void **)&s->word, s->word_room * sizeof *s->word);
}

static bool put(smma_sums *s, const size_t *word, size_t count, smma_sum_facts facts, size_t *sum) {
  size_t at;
  if (!make_room(s, count)) return false;
  at = find_slot(s, word, count);
  if (!s->slot[at]) {
    memcpy(s->word + s->words, word, count * sizeof *word);
    s->words += count;
    s->end[s->count] = s->words;
    s->facts[s->count] = facts;
    s->slot[at] = ++s->count;
  }
  *sum = s->slot[at] - 1;
  return true;
}

/* ---- Blocks ---- */

typedef struct {
  smma_sums *sums;
  const smma_operation *operation;
  smma_form form;
  smma_composition composition; /* the operation as a composition */
  bool any_order;               /* the products of a sum are added at once, so no NaN depends on their order */
  bool off[2], idle[2]; /* results of smma_is_off_negative_zero and smma_zeros_in_block_are_idle; index 1: the previous
                           sum is known not to be -0 */
  bool keep, add_nothing; /* results of smma_zeros_keep_sums and smma_zeros_add_nothing */
  size_t *place;          /* the expression in the accumulator, then in each register */
} sum_builder;

/* Sorts the k of the products that the first step adds in one sum, because its terms have no order; absent products
   come last. */
static void sort_step(const sum_builder *m, const size_t *k, size_t *sorted) {
  const smma_step *s = &m->composition.step[0];
  size_t of_group[SMMA_MAXIMUM_K];
  memcpy(sorted, k, (size_t)m->operation->k * sizeof *k);
  for (int group = 0; m->any_order && group < m->operation->k / s->take; group++) {
    for (int i = 0; i < s->take; i++) of_group[i] = k[smma_dealt_index(s->take, s->turn, s->window, group, i)];
    qsort(of_group, (size_t)s->take, sizeof *of_group, smma_order_sizes);
    for (int i = 0; i < s->take; i++) sorted[smma_dealt_index(s->take, s->turn, s->window, group, i)] = of_group[i];
  }
}

/* Adds products to the previous sum; leaves the sum unchanged if no product counts. */
static bool add_block(const sum_builder *m, size_t *sum, const size_t *k, size_t count) {
  const smma_sum_facts before = m->sums->facts[*sum];
  size_t word[SMMA_MAXIMUM_K + 2] = {BLOCK, *sum}, used = 2, products = 0;
  for (size_t i = 0; i < count; i++) {
    products += k[i] != SMMA_NO_PRODUCT;
    if (k[i] != SMMA_NO_PRODUCT || !m->idle[before.off]) word[used++] = k[i];
  }
  if (products == 0 && (before.off ? m->keep : m->add_nothing && before.kind == BLOCK)) return true;
  return put(m->sums, word, used, (smma_sum_facts){BLOCK, m->operation->d, m->off[before.off]}, sum);
}

static bool do_step(const sum_builder *m, const size_t *k) {
  const size_t step = (size_t)m->form.step, all = (size_t)m->operation->k;
  size_t sorted[SMMA_MAXIMUM_K];
  sort_step(m, k, sorted);
  for (size_t first = 0; first < all; first += step)
    if (!add_block(m, m->place, sorted + first, step)) return false;
  return true;
}

/* ---- Tasks between steps ---- */

static bool round_to(smma_sums *s, int format, size_t *sum) {
  const size_t word[] = {ROUNDED, (size_t)format, *sum};
  if (format == SMMA_STORED_AS_IS || (int)s->facts[*sum].format == format || s->facts[*sum].kind == POSITIVE_ZERO)
    return true;
  return put(s, word, 3, (smma_sum_facts){ROUNDED, (smma_format)format, false}, sum);
}

/* Adds a part to a total. +0 plus a sum other than -0 is that sum. Additions commute, unless the operands decide
   which NaN is returned. */
static bool add(const sum_builder *m, const smma_task *t, size_t part, size_t *total) {
  smma_sums *s = m->sums;
  const smma_sum_facts x = s->facts[*total], y = s->facts[part];
  const bool turn = smma_has_one_nan(m->operation->rule.nan) && part < *total;
  const size_t added[] = {ADDED, turn ? part : *total, turn ? *total : part};
  const size_t scaled[] = {SCALED, (size_t)t->with, t->k, *total, part};
  const smma_format outer = smma_outer_format(m->operation->d);
  if (t->with != SMMA_WITH_ADD) return put(s, scaled, 5, (smma_sum_facts){SCALED, outer, false}, total);
  if (y.kind == POSITIVE_ZERO && x.off) return true;
  if (x.kind == POSITIVE_ZERO && y.off) return *total = part, true;
  return put(s, added, 3, (smma_sum_facts){ADDED, outer, x.off || y.off}, total);
}

static bool do_task(const sum_builder *m, const smma_task *t) {
  size_t zero, *place = m->place - SMMA_IN_ACCUMULATOR, *to = &place[t->to], from = place[t->from];
  const size_t word = POSITIVE_ZERO;
  if (!put(m->sums, &word, 1, (smma_sum_facts){POSITIVE_ZERO, m->operation->d, true}, &zero)) return false;
  if (t->kind == SMMA_TASK_CLEAR) return *to = zero, true;
  if (!round_to(m->sums, t->stored, &from)) return false;
  if (t->kind == SMMA_TASK_MOVE)
    *to = from;
  else if (!add(m, t, from, to))
    return false;
  if (t->from == SMMA_IN_ACCUMULATOR) place[SMMA_IN_ACCUMULATOR] = zero;
  return round_to(m->sums, t->total, to);
}

static bool follow(const sum_builder *m, const smma_schedule *s, bool c_counts, size_t *sum) {
  const size_t start = c_counts ? START : POSITIVE_ZERO, zero = POSITIVE_ZERO;
  size_t *place = m->place - SMMA_IN_ACCUMULATOR, task = 0;
  for (size_t i = 0; i <= s->registers; i++)
    if (!put(m->sums, &zero, 1, (smma_sum_facts){POSITIVE_ZERO, m->operation->d, true}, &m->place[i])) return false;
  if (!put(m->sums, &start, 1, (smma_sum_facts){(int)start, m->operation->c, !c_counts}, &place[s->start]))
    return false;
  for (size_t step = 0; step <= s->steps; step++) {
    for (; task < s->tasks && s->task[task].step == step; task++)
      if (!do_task(m, &s->task[task])) return false;
    if (step < s->steps && !do_step(m, s->k + step * s->k_per_step)) return false;
  }
  *sum = place[s->result];
  return true;
}

/* ---- Exact sums ---- */

static size_t products_of(const smma_schedule *s) {
  size_t products = 0;
  for (size_t i = 0; i < s->steps * s->k_per_step; i++) products += s->k[i] != SMMA_NO_PRODUCT;
  return products;
}

bool smma_schedule_is_exact(const smma_operation *o, const smma_schedule *s, size_t k) {
  bool exact = smma_sums_are_exact(o, k) && smma_holds_sums(o, k, smma_outer_format(o->d));
  for (size_t i = 0; exact && i < s->tasks; i++) {
    const smma_task *t = &s->task[i];
    exact = t->with == SMMA_WITH_ADD &&
            (t->stored == SMMA_STORED_AS_IS || smma_holds_sums(o, k, (smma_format)t->stored)) &&
            (t->total == SMMA_STORED_AS_IS || smma_holds_sums(o, k, (smma_format)t->total));
  }
  return exact;
}

/* Adds an exact sum, for which only the set of products matters. */
static bool put_set(smma_sums *sums, const smma_operation *o, const smma_schedule *s, size_t *sum) {
  const size_t count = products_of(s);
  size_t *word = malloc((count + 1) * sizeof *word), used = 1;
  bool done = word;
  if (!done) return false;
  word[0] = SET;
  for (size_t i = 0; i < s->steps * s->k_per_step; i++)
    if (s->k[i] != SMMA_NO_PRODUCT) word[used++] = s->k[i];
  qsort(word + 1, count, sizeof *word, smma_order_sizes);
  done = put(sums, word, used, (smma_sum_facts){SET, o->d, true}, sum);
  free(word);
  return done;
}

bool smma_sums_add(smma_sums *sums, const smma_operation *o, const smma_schedule *s, size_t k, bool c_counts,
                   size_t *sum) {
  const bool wraps = o->rule.algorithm == SMMA_INTEGER && o->rule.with.integer.overflow == SMMA_INTEGER_WRAPS;
  sum_builder m = {.sums = sums, .operation = o, .form = smma_form_of(o)};
  bool done;
  m.any_order = smma_compose(o, &m.composition) && smma_has_whole_products(&m.composition) &&
                o->rule.nan != SMMA_NAN_OPERAND && o->rule.nan != SMMA_NAN_B_SUM_A;
  if (wraps || (!c_counts && smma_schedule_is_exact(o, s, k))) return put_set(sums, o, s, sum);
  for (int off = 0; off < 2; off++) {
    m.off[off] = smma_is_off_negative_zero(o, off);
    m.idle[off] = smma_zeros_in_block_are_idle(o, off);
  }
  m.keep = smma_zeros_keep_sums(o), m.add_nothing = smma_zeros_add_nothing(o);
  m.place = malloc((s->registers + 1) * sizeof *m.place);
  done = m.place && follow(&m, s, c_counts, sum);
  free(m.place);
  return done;
}
