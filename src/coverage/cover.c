#include "coverage/cover.h"

#include <stdlib.h>
#include <string.h>

#include "host/draw.h"
#include "host/thread.h"
#include "rows/generate.h"

/* ROUND: number of rows that are tried before their new events are recorded. MOST_NEW: most new events that are
   recorded for one row. RECENT: number of the latest finds, of which half of the mutated rows are made. */
enum { ROUND = 4096, MOST_NEW = 48, RECENT = 48 };

/* ---- Mutating one number ---- */

static uint64_t mask_of(smma_encoding f) {
  return smma_low_bits(~(uint64_t)0, f.bits) & ~smma_low_bits(~(uint64_t)0, f.ignored_bits);
}

static uint64_t special(uint64_t *state, smma_encoding f) {
  const uint64_t normal = (uint64_t)1 << f.fraction_bits, greatest = smma_largest_fields(f);
  const uint64_t fields[] = {0, 1, normal - 1, normal, greatest, greatest + 1, smma_low_bits(~(uint64_t)0, 62)};
  const bool negative = smma_draw_below(state, 2);
  return smma_sign_and_fields(f, negative, fields[smma_draw_below(state, 7)]);
}

static uint64_t with_fraction(uint64_t *state, smma_encoding f, uint64_t code) {
  const uint64_t ones = smma_low_bits(~(uint64_t)0, f.fraction_bits) << f.ignored_bits;
  const uint64_t bit =
      (uint64_t)1 << (f.ignored_bits + (f.fraction_bits ? smma_draw_below(state, f.fraction_bits) : 0));
  switch (smma_draw_below(state, 5)) {
    case 0: return code & ~ones;
    case 1: return code | ones;
    case 2: return (code & ~ones) | (bit & ones);
    case 3: return (code & ~ones) | (smma_draw(state) & ones);
    default: return code ^ (bit & ones);
  }
}

static uint64_t negated(smma_encoding f, uint64_t code) {
  if (f.specials == SMMA_SPECIALS_INTEGER) return 0 - code;
  return f.sign_bits ? code ^ (uint64_t)1 << (f.bits - 1) : code;
}

static uint64_t changed(uint64_t *state, smma_format format, uint64_t code) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t step = (uint64_t)1 << (f.fraction_bits + f.ignored_bits);
  switch (smma_draw_below(state, 8)) {
    case 0: code = smma_draw(state); break;
    case 1: code = special(state, f); break;
    case 2: code = negated(f, code); break;
    case 3: code = with_fraction(state, f, code); break;
    case 4: code += (uint64_t)1 << f.ignored_bits; break;
    case 5: code -= (uint64_t)1 << f.ignored_bits; break;
    case 6: code += step * (unsigned)(1 + smma_draw_below(state, 4)); break;
    default: code -= step * (unsigned)(1 + smma_draw_below(state, 4)); break;
  }
  return code & mask_of(f);
}

/* ---- Mutating a row ---- */

typedef struct {
  const smma_instruction *instruction;
  uint64_t *state;
  smma_row *row;
} change;

static int some_k(const change *c) { return smma_draw_below(c->state, c->instruction->k); }

/* Copies a random product of a row, or its negative, to a random place. */
static void copy_product(const change *c, const smma_row *from, bool negate) {
  const int source = some_k(c), target = some_k(c);
  const uint64_t a = from->a[source];
  c->row->b[target] = from->b[source];
  c->row->a[target] =
      negate ? negated(smma_encoding_of(c->instruction->a), a) & mask_of(smma_encoding_of(c->instruction->a)) : a;
}

static void keep_few(const change *c) {
  const int k = c->instruction->k, first = some_k(c), count = 1 + smma_draw_below(c->state, 3);
  for (int i = 0; i < k; i++)
    if ((i - first + k) % k >= count)
      c->row->a[i] = smma_sign_and_fields(smma_encoding_of(c->instruction->a), smma_draw_below(c->state, 8) == 0, 0);
}

/* Doubles or halves every element of a by adding 1 to its exponent field or subtracting 1. */
static void scale_a(const change *c) {
  const smma_encoding f = smma_encoding_of(c->instruction->a);
  const uint64_t step = (uint64_t)1 << (f.fraction_bits + f.ignored_bits);
  const bool down = smma_draw_below(c->state, 2);
  for (int i = 0; i < c->instruction->k; i++)
    c->row->a[i] = (down ? c->row->a[i] - step : c->row->a[i] + step) & mask_of(f);
}

/* Makes all products equal, with fractions of all ones. */
static void crowd(const change *c) {
  const smma_instruction *i = c->instruction;
  const smma_encoding a = smma_encoding_of(i->a), b = smma_encoding_of(i->b);
  const uint64_t ones_a = smma_low_bits(~(uint64_t)0, a.fraction_bits) << a.ignored_bits;
  const uint64_t ones_b = smma_low_bits(~(uint64_t)0, b.fraction_bits) << b.ignored_bits;
  const int one = some_k(c);
  for (int k = 0; k < i->k; k++) c->row->a[k] = c->row->a[one] | ones_a, c->row->b[k] = c->row->b[one] | ones_b;
}

/* Sets c to the sum of the products, or to one of them, with either sign, converted to the format of c. */
static void follow(const change *c) {
  const smma_instruction *i = c->instruction;
  const smma_operation o = smma_operation_of(i);
  const smma_encoding f = smma_encoding_of(i->c);
  smma_row products = *c->row;
  const int one = smma_draw_below(c->state, 2) ? some_k(c) : -1;
  uint64_t d;
  products.c = 0;
  for (int k = 0; k < i->k && one >= 0; k++)
    if (k != one) products.a[k] = 0;
  d = smma_reformat(i->d, i->c, o.rule.nan, smma_row_compute(&o, &products));
  c->row->c = (smma_draw_below(c->state, 4) ? negated(f, d) : d) & mask_of(f);
}

static void change_scale(const change *c) {
  const smma_instruction *i = c->instruction;
  uint64_t *scale = smma_draw_below(c->state, 2) ? c->row->scale_a : c->row->scale_b;
  const int count = smma_scale_count(i->k, i->scale_block);
  uint64_t *one;
  if (!count) return;
  one = &scale[smma_draw_below(c->state, count)];
  *one = changed(c->state, i->scale, *one);
}

static void change_row(const change *c, const smma_row *other) {
  const smma_instruction *i = c->instruction;
  smma_row *row = c->row;
  const int k = some_k(c);
  switch (smma_draw_below(c->state, 15)) {
    case 0:
    case 1:
    case 2: row->a[k] = changed(c->state, i->a, row->a[k]); break;
    case 3:
    case 4: row->b[k] = changed(c->state, i->b, row->b[k]); break;
    case 5:
    case 6: row->c = changed(c->state, i->c, row->c); break;
    case 7: copy_product(c, row, true); break;
    case 8: copy_product(c, row, false); break;
    case 9: copy_product(c, other, smma_draw_below(c->state, 2)); break;
    case 10: keep_few(c); break;
    case 11: scale_a(c); break;
    case 12: follow(c); break;
    case 13: crowd(c); break;
    default: change_scale(c); break;
  }
}

/* Sets `row` to a copy of one of the first `count` rows, with a preference for the last ones, and mutates it 1 to 8
   times. */
static void like(const smma_rows *rows, size_t count, uint64_t *state, smma_row *row) {
  const bool recent = count > RECENT && smma_draw_below(state, 2);
  const size_t at = recent ? count - 1 - (size_t)smma_draw_below(state, RECENT) : (size_t)(smma_draw(state) % count);
  const int changes = 1 << smma_draw_below(state, 4);
  smma_row other;
  smma_rows_get(rows, at, row);
  smma_rows_get(rows, (size_t)(smma_draw(state) % count), &other);
  for (int n = 0; n < changes; n++) change_row(&(change){rows->instruction, state, row}, &other);
}

void smma_cover_row(const smma_cover *cover, uint64_t seed, uint64_t index, smma_row *row) {
  uint64_t state = seed ^ index * UINT64_C(0xd1342543de82ef95);
  like(&cover->rows, cover->count, &state, row);
}

/* ---- The search ---- */

/* One tried row, and the events in it that had not happened before the round. */
typedef struct {
  const bool *reached;
  int count;
  uint32_t event[MOST_NEW];
  smma_row row;
} trial;

static void note(void *context, size_t event) {
  trial *t = context;
  if (t->reached[event] || t->count == MOST_NEW) return;
  for (int i = 0; i < t->count; i++)
    if (t->event[i] == event) return;
  t->event[t->count++] = (uint32_t)event;
}

typedef struct {
  const smma_event_space *space;
  const smma_instruction *instruction;
  uint64_t seed;
  smma_cover *cover;
  smma_rows found; /* rows that made an event happen for the first time */
  size_t finds;
  trial *trial;
} search;

static void try_row(const search *s, uint64_t index, trial *t) {
  const smma_operation o = smma_operation_of(s->instruction);
  uint64_t state = s->seed ^ index * UINT64_C(0xd1342543de82ef95);
  t->reached = s->cover->reached;
  t->count = 0;
  memset(&t->row, 0, sizeof t->row);
  if (index < ROUND || !s->finds || smma_draw_below(&state, 16) == 0)
    smma_generate_row(&o, s->seed, index, (smma_row_kind)(index % SMMA_ROWS_OF_GEN), &t->row);
  else
    like(&s->found, s->finds, &state, &t->row);
  t->row.d = smma_watch_row(s->space, &t->row, &(smma_event_watcher){note, t});
}

static void reach(void *context, size_t event) {
  smma_cover *cover = context;
  cover->events += !cover->reached[event];
  cover->reached[event] = true;
}

/* Adds each of the `count` rows of a round that made an event happen for the first time to the finds. Returns false
   when memory is short. */
static bool keep(search *s, int count) {
  for (int n = 0; n < count; n++) {
    const trial *t = &s->trial[n];
    bool first = false;
    for (int e = 0; e < t->count; e++) first = first || !s->cover->reached[t->event[e]];
    if (!first) continue;
    smma_watch_row(s->space, &t->row, &(smma_event_watcher){reach, s->cover});
    if (s->finds == s->found.capacity && !smma_rows_grow(&s->found, 2 * s->finds)) return false;
    smma_rows_put(&s->found, s->finds++, &t->row);
  }
  return true;
}

static bool run(search *s, uint64_t tries, smma_cover_watcher *watcher, void *context) {
  smma_cover *cover = s->cover;
  while (cover->tries < tries && cover->events + cover->excluded < s->space->events) {
    const int count = tries - cover->tries < ROUND ? (int)(tries - cover->tries) : ROUND;
#pragma omp parallel for schedule(static) num_threads(smma_default_threads())
    for (int n = 0; n < count; n++) try_row(s, cover->tries + (uint64_t)n, &s->trial[n]);
    if (!keep(s, count)) return false;
    cover->tries += (uint64_t)count;
    if (watcher && watcher(cover->tries, cover->events, context)) break;
  }
  return true;
}

/* ---- Selecting a small cover ---- */

static void mark(void *context, size_t event) { ((bool *)context)[event] = true; }

static size_t count_new(const bool *has, const bool *done, size_t events) {
  size_t count = 0;
  for (size_t e = 0; e < events; e++) count += has[e] && !done[e];
  return count;
}

/* Selects the cover's rows from the finds, greedily: each time the row with the most events that no selected row has. A
   row's number of new events can only fall, so its last known value is an upper bound. Returns false when memory is
   short. */
static bool choose(search *s) {
  const size_t events = s->space->events, finds = s->finds;
  bool *has = calloc(finds * events, 1), *done = calloc(events, 1);
  size_t *bound = malloc(finds * sizeof *bound);
  const bool ok = has && done && bound && smma_rows_allocate(s->instruction, finds, &s->cover->rows);
  for (size_t r = 0; ok && r < finds; r++) {
    smma_row row;
    smma_rows_get(&s->found, r, &row);
    smma_watch_row(s->space, &row, &(smma_event_watcher){mark, has + r * events});
    bound[r] = events;
  }
  while (ok) {
    size_t best = 0, most = 0;
    for (size_t r = 0; r < finds; r++) {
      if (bound[r] <= most) continue;
      bound[r] = count_new(has + r * events, done, events);
      if (bound[r] > most) most = bound[r], best = r;
    }
    if (most == 0) break;
    for (size_t e = 0; e < events; e++) done[e] = done[e] || has[best * events + e];
    smma_rows_copy(&s->cover->rows, s->cover->count++, &s->found, best, 1);
  }
  free(has);
  free(done);
  free(bound);
  return ok;
}

bool smma_cover_find(const smma_event_space *space, const smma_instruction *instruction, uint64_t seed, uint64_t tries,
                     smma_cover_watcher *watcher, void *context, smma_cover *cover) {
  search s = {.space = space, .instruction = instruction, .seed = seed, .cover = cover};
  bool ok;
  *cover = (smma_cover){.reached = calloc(space->events, 1)};
  s.trial = malloc(ROUND * sizeof *s.trial);
  for (size_t e = 0; e < space->events; e++) cover->excluded += smma_event_excluded(space, e) != NULL;
  ok = cover->reached && s.trial && smma_rows_allocate(instruction, 256, &s.found);
  ok = ok && run(&s, tries, watcher, context) && choose(&s);
  smma_rows_free(&s.found);
  free(s.trial);
  if (!ok) smma_cover_free(cover);
  return ok;
}

void smma_cover_free(smma_cover *cover) {
  smma_rows_free(&cover->rows);
  free(cover->reached);
  cover->reached = NULL;
}
