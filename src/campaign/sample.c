#include "campaign/sample.h"

#include <stdlib.h>

#include "host/draw.h"

enum { OF_ZERO, OF_SUBNORMAL, OF_NORMAL, OF_INFINITE, OF_NAN };
enum { NEAR_ENCODINGS = 16 };

static int class_of(smma_encoding f, smma_number x) {
  switch (x.kind) {
    case SMMA_ZERO: return OF_ZERO;
    case SMMA_INFINITE: return OF_INFINITE;
    case SMMA_NAN: return OF_NAN;
    default: break;
  }
  return f.exponent_bits && smma_is_subnormal(x) ? OF_SUBNORMAL : OF_NORMAL;
}

/* Returns a class of the distance between two numbers: equal, adjacent, some encodings apart or many, and whether `got`
   is nearer to zero than `expected`. */
static int distance_of(smma_encoding f, uint64_t expected, uint64_t got) {
  const uint64_t fields = smma_low_bits(~UINT64_C(0), f.bits - (f.sign_bits != 0));
  const uint64_t x = expected & fields, y = got & fields, apart = (x < y ? y - x : x - y) >> f.ignored_bits;
  return (apart == 0 ? 0 : apart == 1 ? 1 : apart < NEAR_ENCODINGS ? 2 : 3) * 2 + (x < y);
}

static int sort_of(const smma_operation *o, int kind, uint64_t expected, uint64_t got) {
  const smma_encoding f = smma_encoding_of(o->d);
  const smma_number x = smma_decode(f, expected), y = smma_decode(f, got);
  const int classes = class_of(f, x) * SMMA_NUMBER_CLASSES + class_of(f, y);
  const bool numbers = x.kind <= SMMA_FINITE && y.kind <= SMMA_FINITE;
  return ((kind * SMMA_NUMBER_CLASSES * SMMA_NUMBER_CLASSES + classes) * 2 + (x.negative != y.negative)) *
             SMMA_DISTANCES +
         (numbers ? distance_of(f, expected, got) : 0);
}

static uint64_t hash(uint64_t x) { return smma_draw(&x); }

smma_sort *smma_sample_add_sort(smma_sample *s, int sort) {
  if (sort < 0 || sort >= SMMA_SORTS || s->place[sort]) return NULL;
  if (s->count == s->capacity) {
    const size_t capacity = s->capacity ? 2 * s->capacity : 8;
    smma_sort *larger = realloc(s->sort, capacity * sizeof *larger);
    if (!larger) return NULL;
    s->sort = larger;
    s->capacity = capacity;
  }
  s->sort[s->count] = (smma_sort){.sort = sort};
  s->place[sort] = (uint16_t)(s->count + 1);
  return &s->sort[s->count++];
}

/* Stores a vector in its sort if its hash is among the smallest. Returns its index there, or -1 if it is not stored. */
static int keep(smma_sort *to, uint64_t row) {
  int at = 0;
  if (to->kept < SMMA_KEPT_OF_SORT) {
    at = to->kept++;
  } else {
    for (int i = 1; i < to->kept; i++)
      if (hash(to->row[i]) > hash(to->row[at])) at = i;
    if (hash(row) >= hash(to->row[at])) return -1;
  }
  to->row[at] = row;
  return at;
}

bool smma_sample_add(smma_sample *s, const smma_operation *o, int kind, uint64_t row, uint64_t expected, uint64_t got,
                     size_t *slot) {
  const int sort = sort_of(o, kind, expected, got);
  smma_sort *to = s->place[sort] ? &s->sort[s->place[sort] - 1] : smma_sample_add_sort(s, sort);
  int at;
  if (slot) *slot = SIZE_MAX;
  if (!to) return false;
  to->count++;
  at = keep(to, row);
  if (slot && at >= 0) *slot = (size_t)(to - s->sort) * SMMA_KEPT_OF_SORT + (size_t)at;
  return true;
}

uint64_t smma_sample_nan(const smma_sample *s) {
  enum { CLASSES = SMMA_NUMBER_CLASSES * SMMA_NUMBER_CLASSES, BOTH_NAN = OF_NAN * SMMA_NUMBER_CLASSES + OF_NAN };
  uint64_t count = 0;
  for (size_t n = 0; n < s->count; n++)
    if (s->sort[n].sort / (2 * SMMA_DISTANCES) % CLASSES == BOTH_NAN) count += s->sort[n].count;
  return count;
}

uint64_t smma_sample_mismatches(const smma_sample *s) {
  uint64_t count = 0;
  for (size_t n = 0; n < s->count; n++) count += s->sort[n].count;
  return count;
}

bool smma_sample_merge(smma_sample *s, const smma_sample *other) {
  for (size_t n = 0; n < other->count; n++) {
    const smma_sort *from = &other->sort[n];
    const int sort = from->sort;
    smma_sort *to = s->place[sort] ? &s->sort[s->place[sort] - 1] : smma_sample_add_sort(s, sort);
    if (!to) return false;
    to->count += from->count;
    for (int i = 0; i < from->kept; i++) keep(to, from->row[i]);
  }
  return true;
}

static int by_sort(const void *x, const void *y) { return ((const smma_sort *)x)->sort - ((const smma_sort *)y)->sort; }

static int by_hash(const void *x, const void *y) {
  const uint64_t a = hash(*(const uint64_t *)x), b = hash(*(const uint64_t *)y);
  return (a > b) - (a < b);
}

void smma_sample_settle(smma_sample *s) {
  if (!s->count) return;
  qsort(s->sort, s->count, sizeof *s->sort, by_sort);
  for (size_t n = 0; n < s->count; n++) {
    qsort(s->sort[n].row, (size_t)s->sort[n].kept, sizeof *s->sort[n].row, by_hash);
    s->place[s->sort[n].sort] = (uint16_t)(n + 1);
  }
}

void smma_sample_free(smma_sample *s) {
  free(s->sort);
  *s = (smma_sample){0};
}
