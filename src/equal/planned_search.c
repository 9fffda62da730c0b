/* Searches for a test vector that tells two products with plans apart. A vector gives the operands at a few k, near
   which the plans differ. */
#include <stdlib.h>
#include <string.h>

#include "equal/planned_parts.h"
#include "host/locale.h"
#include "isa/catalogue.h"
#include "isa/key.h"

/* ---- Which k ---- */

/* Lists the k of the first and last product of each step before or after a task. Tasks run between steps. */
static size_t list_ends(const smma_schedule *s, size_t *k, size_t room) {
  size_t count = 0, before = SIZE_MAX;
  for (size_t task = 0; task <= s->tasks; task++) {
    const size_t step = task < s->tasks ? s->task[task].step : s->steps;
    if (step == before) continue;
    before = step;
    for (size_t near = step ? step - 1 : 0; near <= step && near < s->steps; near++) {
      const size_t *of_step = s->k + near * s->k_per_step;
      size_t last = s->k_per_step;
      while (last && of_step[last - 1] == SMMA_NO_PRODUCT) last--;
      if (last && count + 2 <= room) k[count++] = of_step[0], k[count++] = of_step[last - 1];
    }
  }
  return count;
}

/* Lists each k whose product only one of the targets adds. */
static size_t list_unshared(const smma_planned_schedules *c, size_t *k, size_t room) {
  unsigned char *used = calloc(c->k, 1);
  size_t count = 0;
  for (int t = 0; used && t < 2; t++)
    for (size_t i = 0; i < c->schedule[t].steps * c->schedule[t].k_per_step; i++)
      if (c->schedule[t].k[i] != SMMA_NO_PRODUCT) used[c->schedule[t].k[i]] |= (unsigned char)(1 << t);
  for (size_t i = 0; used && i < c->k && count < room; i++)
    if (used[i] == 1 || used[i] == 2) k[count++] = i;
  free(used);
  return count;
}

/* Inserts the group of k that contains `k` into the ascending list `place`, if the list lacks it and has room (`most`
   entries). */
static void take_place(size_t k, size_t group, size_t most, size_t *place, size_t *count) {
  size_t at = *count;
  k -= k % group;
  for (size_t i = 0; i < *count; i += group)
    if (place[i] == k) return;
  if (*count + group > most) return;
  for (; at && place[at - 1] > k; at--) place[at + group - 1] = place[at - 1];
  for (size_t i = 0; i < group; i++) place[at + i] = k + i;
  *count += group;
}

static uint64_t draw(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

/* Chooses the k of the vectors' products: all k if K is short; otherwise the first and the last k, each k next to a
   plan's boundaries, and random k. Chooses all k that share a scale factor together. */
static int choose_places(const smma_planned_pair *x, const smma_planned_schedules *c, uint64_t seed, size_t *place) {
  enum { MOST_ENDS = 4096 };
  const size_t group = x->operation[0].scale_block ? (size_t)x->operation[0].scale_block : 1;
  const size_t all = (c->k + group - 1) / group * group;
  size_t ends[2 * MOST_ENDS + 8], listed = 0, count = 0;
  uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + c->k;
  if (all <= SMMA_MAXIMUM_ROUNDED_K) {
    for (size_t i = 0; i < all; i++) place[i] = i;
    return (int)all;
  }
  for (int t = 0; t < 2; t++) listed += list_ends(&c->schedule[t], ends + listed, MOST_ENDS);
  if (group == 1) {
    take_place(0, group, SMMA_MAXIMUM_ROUNDED_K, place, &count);
    take_place(c->k - 1, group, SMMA_MAXIMUM_ROUNDED_K, place, &count);
  }
  for (size_t unshared = list_unshared(c, ends + listed, 8); unshared; unshared--)
    take_place(ends[listed + unshared - 1], group, SMMA_MAXIMUM_ROUNDED_K, place, &count);
  for (int tries = 0; listed && tries < SMMA_MAXIMUM_ROUNDED_K; tries++)
    take_place(ends[draw(&state) % listed], group, SMMA_MAXIMUM_ROUNDED_K - (group == 1 ? 8 : 0), place, &count);
  for (int tries = 0; tries < SMMA_MAXIMUM_ROUNDED_K; tries++)
    take_place((size_t)draw(&state) % c->k, group, SMMA_MAXIMUM_ROUNDED_K, place, &count);
  return (int)count;
}

/* Returns the instruction for which vectors are generated: a target's, with `count` products. Prefers a target whose
   NaN payload is not known, so that all NaN are equal. */
static smma_instruction rows_of(const smma_planned_pair *x, int count) {
  const smma_instruction *i = x->target[0].instruction, *j = x->target[1].instruction;
  smma_instruction as = j->rule->rule.nan == SMMA_NAN_QUIET ? *j : *i;
  as.k = count;
  as.d = smma_plan_d_format(x->plan[0], i);
  return as;
}

/* ---- Search ---- */

/* Appends the factors that are not neutral, for example "alpha 1.3333334, scale_d 1.2". */
static void append_factors(const smma_planned_factors *f, char *text, size_t size) {
  const struct {
    const char *name;
    uint32_t value, neutral;
  } each[] = {{"alpha", f->alpha, 0x3f800000},
              {"beta", f->beta, 0x3f800000},
              {"bias", f->bias, 0},
              {"scale_d", f->scale_d, 0x3f800000},
              {"scale of A", f->part_a, 0x3f800000},
              {"scale of B", f->part_b, 0x3f800000}};
  const smma_locale locale = smma_locale_enter();
  for (size_t i = 0; i < sizeof each / sizeof *each; i++)
    if (each[i].value != each[i].neutral)
      smma_append_text(text, size, "%s%s %.9g", *text ? ", " : "", each[i].name,
                       smma_format_decode(SMMA_F32, each[i].value));
  smma_locale_leave(locale);
}

static bool search_at(const smma_planned_pair *x, const smma_planned_schedules *c, const smma_planned_exchange *e,
                      const smma_planned_factors *factors, uint64_t rows, uint64_t seed, smma_planned_witness *found) {
  smma_planned_unit unit[2];
  size_t *const place = found->place;
  size_t other[SMMA_MAXIMUM_ROUNDED_K], count = (size_t)choose_places(x, c, seed, place);
  smma_search s = {.unit = {&unit[0].unit, &unit[1].unit},
                   .rule = {&x->operation[0].rule, &x->operation[1].rule},
                   .without_c = !x->takes_c,
                   .rows = rows,
                   .seed = seed};
  smma_instruction as;
  bool done;
  if (e->exchanged) {
    const size_t group = x->operation[0].scale_block ? (size_t)x->operation[0].scale_block : 1;
    for (int i = 0; i < 2; i++) {
      if (count == SMMA_MAXIMUM_ROUNDED_K && c->k > count) count -= group;
      take_place(e->k[i], group, SMMA_MAXIMUM_ROUNDED_K, place, &count);
    }
  }
  as = rows_of(x, (int)count), s.as = &as;
  memcpy(other, place, sizeof other);
  for (size_t i = 0; e->exchanged && i < count; i++)
    other[i] = place[i] == e->k[0] ? e->k[1] : place[i] == e->k[1] ? e->k[0] : place[i];
  if (!smma_planned_open(&unit[0], &x->target[0], x->plan[0], &c->schedule[0], c->k, &as, place, x->takes_c, factors,
                         x->error))
    return false;
  if (!smma_planned_open(&unit[1], &x->target[1], x->plan[1], &c->schedule[1], c->k, &as, other, x->takes_c, factors,
                         x->error)) {
    smma_planned_close(&unit[0]);
    return false;
  }
  done = smma_find_witness(&s, &found->witness, x->error);
  smma_planned_close(&unit[0]), smma_planned_close(&unit[1]);
  found->k = c->k;
  if (found->witness.found) append_factors(factors, found->with, sizeof found->with);
  return done;
}

bool smma_planned_search(const smma_planned_pair *x, const smma_planned_schedules *c, const smma_planned_exchange *e,
                         uint64_t rows, uint64_t seed) {
  enum { CHOICES = 16 };
  const bool both = memcmp(&x->factors[0], &x->factors[1], sizeof x->factors[0]) != 0;
  smma_planned_witness *found = &x->result->row;
  uint64_t asked = found->witness.rows;
  for (int n = 0; n < CHOICES; n++) {
    const smma_planned_factors *factors = &x->factors[both ? n % 2 : 0];
    *found = (smma_planned_witness){.k = c->k};
    if (!search_at(x, c, e, factors, rows / CHOICES + 1, seed + (uint64_t)n, found)) return false;
    asked += found->witness.rows;
    if (found->witness.found) break;
  }
  found->witness.rows = asked;
  return true;
}
