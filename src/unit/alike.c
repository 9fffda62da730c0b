#include "unit/alike.h"

#include <stdlib.h>
#include <string.h>

enum { EVERYWHERE_ROWS = 4096, EVERYWHERE = 4, SMALL_BATCHES = 3, LARGEST_SMALL = 31 };

/* `order` says which row stands where in the batch that is asked. */
typedef struct {
  smma_unit *unit;
  const smma_rows *rows;
  size_t count;
  smma_rows asked;
  size_t *order;
  smma_alikeness *alikeness;
  smma_error *error;
} checker;

/* Asks for the first `batch` rows of the order; `again`: they stand where they stood at first. */
static bool ask(checker *c, size_t batch, bool again) {
  const smma_encoding d = smma_encoding_of(c->rows->instruction->d);
  smma_alikeness *a = c->alikeness;
  for (size_t i = 0; i < batch; i++) smma_rows_copy(&c->asked, i, c->rows, c->order[i], 1);
  memset(c->asked.part[SMMA_PART_D], 0, batch * c->rows->layout.part[SMMA_PART_D].bytes);
  const smma_batch view = smma_rows_batch(&c->asked, 0, batch, NULL);
  if (!smma_unit_run(c->unit, c->rows->instruction, &view, c->error)) return false;
  a->asked += batch;
  for (size_t i = 0; i < batch; i++) {
    const uint64_t first = smma_rows_result(c->rows, c->order[i]), now = smma_rows_result(&c->asked, i);
    if (now == first) continue;
    if (smma_decode(d, now).kind == SMMA_NAN && smma_decode(d, first).kind == SMMA_NAN) {
      a->other_nans++;
      continue;
    }
    if (a->not_repeated + a->not_alike == 0) a->at_once = again, a->row = c->order[i], a->place = i, a->batch = batch;
    *(again ? &a->not_repeated : &a->not_alike) += 1;
  }
  return true;
}

/* A number below `limit` from a counter: splitmix64. */
static size_t number_below(size_t limit, uint64_t *counter) {
  uint64_t x = *counter += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return (size_t)((x ^ x >> 31) % limit);
}

static void shuffle(checker *c) {
  uint64_t counter = 1;
  for (size_t i = c->count; i > 1; i--) {
    const size_t j = number_below(i, &counter), held = c->order[i - 1];
    c->order[i - 1] = c->order[j];
    c->order[j] = held;
  }
}

/* All rows as they stood, from the last to the first, one place on, and at random. */
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

/* A few batches of few rows, cut out of the order at random. */
static bool ask_small(checker *c) {
  static const size_t sizes[] = {1, 2, 3, LARGEST_SMALL};
  uint64_t counter = 2;
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
    for (int n = 0; n < SMALL_BATCHES; n++) {
      const size_t batch = sizes[s] < c->count ? sizes[s] : c->count;
      for (size_t i = 0; i < batch; i++) c->order[i] = number_below(c->count, &counter);
      if (!ask(c, batch, false)) return false;
    }
  return true;
}

/* One row at every second place, other rows between, then the other way round; the last of them beside itself. */
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

bool smma_check_alike(smma_unit *unit, const smma_rows *rows, size_t count, smma_alikeness *alikeness,
                      smma_error *error) {
  checker c = {.unit = unit, .rows = rows, .count = count, .alikeness = alikeness, .error = error};
  bool good;
  *alikeness = (smma_alikeness){.asked = 0};
  if (count == 0) return true;
  c.order = malloc(count * sizeof *c.order);
  good = c.order != NULL && smma_rows_allocate(rows->instruction, count, &c.asked);
  good = good ? ask_all(&c) && ask_everywhere(&c) && ask_small(&c) : smma_fail(error, "out of memory");
  smma_rows_free(&c.asked);
  free(c.order);
  return good;
}
