#include "unit/alike.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/draw.h"

enum { EVERYWHERE_ROWS = 4096, EVERYWHERE = 4, SMALL_BATCHES = 3, LARGEST_SMALL = 31 };

/* The state of a check. `order` gives the test vector at each place of the current batch. */
typedef struct {
  smma_unit *unit;
  const smma_rows *rows;
  size_t count;
  smma_rows asked;
  size_t *order;
  size_t *seen; /* the order of the batch in which a vector first had a different result */
  smma_alikeness *alikeness;
  smma_error *error;
} checker;

/* Runs a batch: the first `batch` vectors of an order. The results are in c->asked. */
static bool run(checker *c, const size_t *order, size_t batch) {
  for (size_t i = 0; i < batch; i++) smma_rows_copy(&c->asked, i, c->rows, order[i], 1);
  memset(c->asked.part[SMMA_PART_D], 0, batch * c->rows->layout.part[SMMA_PART_D].bytes);
  const smma_batch view = smma_rows_batch(&c->asked, 0, batch, NULL);
  c->alikeness->calls++;
  return smma_unit_run(c->unit, c->rows->instruction, &view, c->error);
}

static bool are_alike(const checker *c, uint64_t one, uint64_t other) {
  const smma_encoding d = smma_encoding_of(c->rows->instruction->d);
  return one == other || (smma_decode(d, one).kind == SMMA_NAN && smma_decode(d, other).kind == SMMA_NAN);
}

/* Runs the first `batch` vectors of the current order and counts the results that differ from the vectors' first
   results. `again` is true if the batch is the original one. */
static bool ask(checker *c, size_t batch, bool again) {
  smma_alikeness *a = c->alikeness;
  if (!run(c, c->order, batch)) return false;
  a->asked += batch;
  for (size_t i = 0; i < batch; i++) {
    const uint64_t first = smma_rows_result(c->rows, c->order[i]), now = smma_rows_result(&c->asked, i);
    if (are_alike(c, first, now)) {
      a->other_nans += first != now;
      continue;
    }
    if (a->not_repeated + a->not_alike == 0) {
      a->at_once = again, a->row = c->order[i], a->place = i, a->batch = batch;
      memcpy(c->seen, c->order, batch * sizeof *c->seen);
    }
    *(again ? &a->not_repeated : &a->not_alike) += 1;
  }
  return true;
}

static void shuffle(checker *c) {
  uint64_t counter = 1;
  for (size_t i = c->count; i > 1; i--) {
    const size_t j = smma_draw(&counter) % i, held = c->order[i - 1];
    c->order[i - 1] = c->order[j];
    c->order[j] = held;
  }
}

/* Runs all vectors in their original order, in reverse, shifted by one place, and in random order. */
static bool ask_all(checker *c) {
  for (size_t i = 0; i < c->count; i++) c->order[i] = i;
  if (!ask(c, c->count, true)) return false;
  for (size_t i = 0; i < c->count; i++) c->order[i] = c->count - 1 - i;
  if (!ask(c, c->count, false)) return false;
  for (size_t i = 0; i < c->count; i++) c->order[i] = (i + 1) % c->count;
  if (!ask(c, c->count, false)) return false;
  shuffle(c);
  return ask(c, c->count, false);
}

static const size_t small_sizes[] = {1, 2, 3, LARGEST_SMALL};

enum { SMALL_SIZES = sizeof small_sizes / sizeof small_sizes[0] };

/* Runs a few small batches of vectors chosen at random. */
static bool ask_small(checker *c) {
  uint64_t counter = 2;
  for (size_t s = 0; s < SMALL_SIZES; s++)
    for (int n = 0; n < SMALL_BATCHES; n++) {
      const size_t batch = small_sizes[s] < c->count ? small_sizes[s] : c->count;
      for (size_t i = 0; i < batch; i++) c->order[i] = smma_draw(&counter) % c->count;
      if (!ask(c, batch, false)) return false;
    }
  return true;
}

/* For each of EVERYWHERE vectors, runs two batches: the vector is at every even position of the first and every odd
   position of the second, with other vectors between. For the last of them, all positions have the vector. */
static bool ask_everywhere(checker *c) {
  const size_t places = c->count < EVERYWHERE_ROWS ? c->count : EVERYWHERE_ROWS;
  for (size_t n = 0; n < EVERYWHERE; n++) {
    const size_t row = (2 * n + 1) * c->count / (2 * EVERYWHERE);
    for (size_t parity = 0; parity < 2; parity++) {
      for (size_t i = 0; i < places; i++)
        c->order[i] = i % 2 == parity || n + 1 == EVERYWHERE ? row : (row + i) % c->count;
      if (!ask(c, places, false)) return false;
    }
  }
  return true;
}

/* ---- Cause of a second result ---- */

/* A batch that has the vectors from position `from` to position `to` of an order. The vector with two results is at
   `place`, and copies of it fill all other positions. */
typedef struct {
  const size_t *order;
  size_t batch, place;
  size_t from, to; /* range of the vectors at their places in the order */
} setting;

enum { ASKED = 8 };

static bool ask_setting(checker *c, const setting *s, uint64_t *d) {
  for (size_t i = 0; i < s->batch; i++) c->order[i] = i >= s->from && i < s->to ? s->order[i] : c->alikeness->row;
  if (!run(c, c->order, s->batch)) return false;
  c->alikeness->asked_why += s->batch;
  *d = smma_rows_result(&c->asked, s->place);
  return true;
}

/* Sets `*always` to whether the vector always has one result in one setting and another result in the other. Runs the
   settings in the order 0 1 1 0 1 0 0 1, because a unit may depend on its number of calls. Returns false if the unit
   fails. */
static bool differ(checker *c, const setting *one, const setting *other, bool *always) {
  const setting *const both[] = {one, other};
  uint64_t first[2] = {0, 0};
  *always = true;
  for (unsigned n = 0; n < ASKED && *always; n++) {
    const int which = __builtin_parity(n);
    uint64_t d;
    if (!ask_setting(c, both[which], &d)) return false;
    if (n < 2) first[which] = d;
    *always = are_alike(c, d, first[which]);
  }
  *always = *always && !are_alike(c, first[0], first[1]);
  return true;
}

/* In a setting that changes the vector's result, searches for a single other vector that causes the change. Sets the
   cause in c->alikeness. Returns false if the unit fails. */
static bool find_neighbour(checker *c, setting s) {
  smma_alikeness *a = c->alikeness;
  const setting alone = {s.order, s.batch, s.place, 0, 0};
  uint64_t as_seen;
  bool always;
  if (!ask_setting(c, &s, &as_seen)) return false;
  while (s.to - s.from > 1) {
    const size_t middle = s.from + (s.to - s.from) / 2, to = s.to;
    uint64_t d;
    s.to = middle;
    if (!ask_setting(c, &s, &d)) return false;
    if (!are_alike(c, d, as_seen)) s.from = middle, s.to = to;
  }
  if (!differ(c, &s, &alone, &always)) return false;
  a->by = always ? SMMA_UNLIKE_BY_NEIGHBOUR : SMMA_UNLIKE_BY_SEVERAL;
  a->neighbour = s.order[s.from];
  a->neighbour_place = s.from;
  return true;
}

/* Finds the cause and sets it in c->alikeness. First repeats the batches of both results, then tries the vector's
   places among copies of itself, and last searches for another vector that causes the difference. `identity` has room
   for the original order. */
static bool explain(checker *c, size_t *identity) {
  smma_alikeness *a = c->alikeness;
  const setting as_seen[] = {{identity, c->count, a->row, 0, c->count}, {c->seen, a->batch, a->place, 0, a->batch}};
  const setting alone[] = {{identity, c->count, a->row, 0, 0}, {c->seen, a->batch, a->place, 0, 0}};
  bool always;
  for (size_t i = 0; i < c->count; i++) identity[i] = i;
  a->by = SMMA_UNLIKE_BY_CHANCE;
  if (a->not_repeated) return true;
  if (!differ(c, &as_seen[0], &as_seen[1], &always)) return false;
  if (!always) return true;
  if (!differ(c, &alone[0], &alone[1], &always)) return false;
  if (always) a->by = SMMA_UNLIKE_BY_PLACE;
  for (int n = 0; n < 2 && a->by == SMMA_UNLIKE_BY_CHANCE; n++)
    if (!differ(c, &as_seen[n], &alone[n], &always) || (always && !find_neighbour(c, as_seen[n]))) return false;
  return true;
}

void smma_tell_unlike(const smma_alikeness *a, char *text, size_t size) {
  switch (a->by) {
    case SMMA_UNLIKE_BY_CHANCE:
      snprintf(text, size, "cannot tell what decides: the same batches do not always give the same");
      break;
    case SMMA_UNLIKE_BY_PLACE:
      snprintf(text, size,
               "its place or the size of the batch decides: among its copies it has one result at place %zu of the "
               "first batch, another at place %zu of %zu",
               a->row, a->place, a->batch);
      break;
    case SMMA_UNLIKE_BY_NEIGHBOUR:
      snprintf(text, size,
               "a neighbour decides: among its copies it has one result, but with row %zu at place %zu another",
               a->neighbour, a->neighbour_place);
      break;
    case SMMA_UNLIKE_BY_SEVERAL:
      snprintf(text, size,
               "several neighbours decide: among its copies it has one result, among other rows another, but no single "
               "other row causes this");
      break;
  }
}

uint64_t smma_alike_rows(size_t count) {
  enum { WHOLE_BATCHES = 4 }; /* of ask_all */
  const size_t places = count < EVERYWHERE_ROWS ? count : EVERYWHERE_ROWS;
  size_t small = 0;
  for (size_t s = 0; s < SMALL_SIZES; s++) small += small_sizes[s] < count ? small_sizes[s] : count;
  return WHOLE_BATCHES * count + 2 * EVERYWHERE * places + SMALL_BATCHES * small;
}

bool smma_check_alike(smma_unit *unit, const smma_rows *rows, size_t count, smma_alikeness *alikeness,
                      smma_error *error) {
  checker c = {.unit = unit, .rows = rows, .count = count, .alikeness = alikeness, .error = error};
  bool good;
  *alikeness = (smma_alikeness){.asked = 0};
  if (count == 0) return true;
  c.order = malloc(3 * count * sizeof *c.order);
  c.seen = c.order + count;
  good = c.order != NULL && smma_rows_allocate(rows->instruction, count, &c.asked);
  good = good ? ask_all(&c) && ask_everywhere(&c) && ask_small(&c) : smma_no_memory(error);
  if (good && alikeness->not_repeated + alikeness->not_alike) good = explain(&c, c.seen + count);
  smma_rows_free(&c.asked);
  free(c.order);
  return good;
}
