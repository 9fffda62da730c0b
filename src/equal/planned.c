#include "equal/planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equal/planned_unit.h"
#include "equal/product.h"
#include "equal/sums.h"
#include "host/locale.h"
#include "isa/catalogue.h"
#include "isa/formats.h"
#include "isa/key.h"

/* K to try if the request gives none: every K up to EVERY_K_UP_TO, then multiples of K_STRIDE up to MOST_K, and K
   suggested by a plan's numbers (at most MOST_SUGGESTED). At most MOST_SEARCHED of them are searched. */
enum { EVERY_K_UP_TO = 512, K_STRIDE = 64, MOST_K = 4096, MOST_SUGGESTED = 1 << 17, MOST_SEARCHED = 4 };

#define ADD(...) smma_append_text(text, size, __VA_ARGS__)

static const smma_plan one_chain = {.name = "one chain", .d = SMMA_NO_FORMAT, .starts_from_c = true};

/* Two targets, and everything about them that does not depend on K. */
typedef struct {
  const smma_planned *target;
  const smma_plan *plan[2];
  smma_operation operation[2];
  bool takes_c;                    /* both take C */
  smma_planned_factors factors[2]; /* [0]: neutral factors; [1]: other values for the operands that both targets take */
  smma_planned_equality *result;
  smma_error *error;
} problem;

/* The schedules of both targets for one K. */
typedef struct {
  size_t k;
  smma_schedule schedule[2];
} compiled;

/* ---- Operands ---- */

static bool takes_c(const smma_plan *p) { return p->starts_from_c || smma_plan_adds_c(p); }

static bool takes_alpha(const smma_plan *p) {
  return smma_plan_has(p, SMMA_EPILOGUE_ALPHA) || smma_plan_has(p, SMMA_EPILOGUE_LINEAR);
}

/* Chooses the factors. An operand that only one target takes is neutral; an operand that both take also gets a
   second value. */
static void settle_factors(problem *x) {
  const smma_plan *p = x->plan[0], *q = x->plan[1];
  const size_t part[2] = {smma_plan_scaled_k(p), smma_plan_scaled_k(q)};
  const bool scaled_c = smma_plan_adds_c(p) && smma_plan_adds_c(q) && !p->starts_from_c && !q->starts_from_c;
  smma_planned_factors *other = &x->factors[1];
  /* one: only one target takes the operand; both: both take it, and *at becomes the second value. */
  const struct {
    bool one, both;
    const char *name, *neutral;
    uint32_t *at, value;
  } operand[] = {
      {takes_c(p) != takes_c(q), false, "C", "+0", NULL, 0},
      {takes_alpha(p) != takes_alpha(q), takes_alpha(p) && takes_alpha(q), "alpha", "1", &other->alpha, 0x3faaaaab},
      {smma_plan_adds_c(p) != smma_plan_adds_c(q), scaled_c, "beta", "1", &other->beta, 0x3f333333},
      {smma_plan_has(p, SMMA_EPILOGUE_BIAS) != smma_plan_has(q, SMMA_EPILOGUE_BIAS),
       smma_plan_has(p, SMMA_EPILOGUE_BIAS) && smma_plan_has(q, SMMA_EPILOGUE_BIAS), "bias", "+0", &other->bias,
       0x3eaaaaab},
      {smma_plan_has(p, SMMA_EPILOGUE_SCALE_D) != smma_plan_has(q, SMMA_EPILOGUE_SCALE_D),
       smma_plan_has(p, SMMA_EPILOGUE_SCALE_D) && smma_plan_has(q, SMMA_EPILOGUE_SCALE_D), "scale_d", "1",
       &other->scale_d, 0x3f99999a},
      {part[0] != part[1], part[0] && part[0] == part[1], "scale factors of A's parts", "1", &other->part_a,
       0x3f800003},
      {part[0] != part[1], part[0] && part[0] == part[1], "of B's", "1", &other->part_b, 0x3fc00001},
  };
  x->factors[0] = x->factors[1] = (smma_planned_factors){0x3f800000, 0x3f800000, 0, 0x3f800000, 0x3f800000, 0x3f800000};
  for (size_t i = 0; i < sizeof operand / sizeof *operand; i++) {
    char *text = x->result->neutral;
    const size_t size = sizeof x->result->neutral;
    if (operand[i].one) ADD("%s%s (%s)", *text ? ", " : "", operand[i].name, operand[i].neutral);
    if (operand[i].both) *operand[i].at = operand[i].value;
  }
}

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
      ADD("%s%s %.9g", *text ? ", " : "", each[i].name, smma_format_decode(SMMA_F32, each[i].value));
  smma_locale_leave(locale);
}

static bool check_formats(const problem *x) {
  const smma_planned *t = x->target;
  const smma_instruction *i = t[0].instruction, *j = t[1].instruction;
  const smma_format d[2] = {smma_plan_d_format(x->plan[0], i), smma_plan_d_format(x->plan[1], j)};
  const struct {
    const char *name;
    smma_format x, y;
  } part[] = {{"A", i->a, j->a}, {"B", i->b, j->b}, {"C", x->takes_c ? i->c : j->c, j->c}, {"D", d[0], d[1]}};
  for (int p = 0; p < 4; p++)
    if (part[p].x != part[p].y)
      return smma_fail(x->error, "%s and %s are no functions of the same operands: %s is %s and %s", t[0].label,
                       t[1].label, part[p].name, smma_format_text(part[p].x), smma_format_text(part[p].y));
  if (i->scale_block != j->scale_block || (i->scale_block && i->scale != j->scale))
    return smma_fail(x->error, "%s and %s are no functions of the same operands: their scale factors differ",
                     t[0].label, t[1].label);
  return true;
}

static bool prepare(problem *x) {
  for (int t = 0; t < 2; t++) {
    x->plan[t] = x->target[t].plan ? x->target[t].plan : &one_chain;
    x->operation[t] = smma_operation_of(x->target[t].instruction);
  }
  x->takes_c = takes_c(x->plan[0]) && takes_c(x->plan[1]);
  settle_factors(x);
  return check_formats(x);
}

/* ---- One K ---- */

static void free_compiled(compiled *c) {
  for (int t = 0; t < 2; t++) smma_schedule_free(&c->schedule[t]);
}

/* Makes both schedules. Returns false with a message if a target cannot follow its plan. */
static bool compile(const problem *x, size_t k, compiled *c) {
  smma_error error;
  *c = (compiled){.k = k};
  for (int t = 0; t < 2; t++)
    if (smma_schedule_make(x->plan[t], &x->operation[t], k, &c->schedule[t], &error) != SMMA_OK) {
      free_compiled(c);
      return smma_fail(x->error, "%s: K = %zu: %s", x->target[t].label, k, error.text);
    }
  return true;
}

/* ---- Proof ---- */

static bool same_epilogue(const smma_plan *x, const smma_plan *y) {
  if (x->epilogues != y->epilogues) return false;
  for (size_t i = 0; i < x->epilogues; i++)
    if (x->epilogue[i].kind != y->epilogue[i].kind ||
        (x->epilogue[i].kind >= SMMA_EPILOGUE_ROUND && x->epilogue[i].format != y->epilogue[i].format))
      return false;
  return true;
}

static bool same_rules(const problem *x) {
  const smma_operation *o = x->operation;
  const smma_form form[2] = {smma_form_of(&o[0]), smma_form_of(&o[1])};
  return smma_same_form(&form[0], &form[1]) && smma_same_nan(o[0].rule.nan, o[1].rule.nan);
}

static bool are_exact(const problem *x, const compiled *c) {
  for (int t = 0; t < 2; t++)
    if (x->takes_c || !smma_schedule_is_exact(&x->operation[t], &c->schedule[t], c->k)) return false;
  return true;
}

typedef enum { UNPROVED, SAME_SUMS, EXACT_SUMS, NO_MEMORY } proof;

/* Attempts a proof for one K. */
static proof prove(const problem *x, const compiled *c) {
  const bool exact = are_exact(x, c);
  smma_sums sums = {0};
  size_t sum[2];
  bool done = true;
  if (!same_epilogue(x->plan[0], x->plan[1]) || (!exact && !same_rules(x))) return UNPROVED;
  for (int t = 0; done && t < 2; t++)
    done = smma_sums_add(&sums, &x->operation[t], &c->schedule[t], c->k, x->takes_c, &sum[t]);
  smma_sums_free(&sums);
  if (!done) return NO_MEMORY;
  return sum[0] != sum[1] ? UNPROVED : exact ? EXACT_SUMS : SAME_SUMS;
}

/* ---- Proof for every K ---- */

/* Reports whether results can depend on the length of a group. They cannot if the length is a multiple of the chain's
   step and padding a group with zeros changes nothing. */
static bool are_groups_visible(const problem *x, int t, size_t group) {
  const smma_operation *o = &x->operation[t];
  const smma_form form = smma_form_of(o);
  const bool idle =
      smma_zeros_add_nothing(o) || (!x->takes_c && smma_is_off_negative_zero(o, true) && smma_zeros_keep_sums(o));
  return !form.chained || group % (size_t)form.step || !idle || x->plan[t]->residue != SMMA_RESIDUE_LAST;
}

/* Reports whether results can depend on totals starting from +0. They can if a part may be -0 or starts from C. */
static bool are_zeros_visible(const problem *x, int t) {
  const smma_plan *p = x->plan[t];
  bool plain = !x->takes_c && smma_is_off_negative_zero(&x->operation[t], true);
  for (size_t n = 0; n < p->levels; n++) {
    const smma_plan_level *l = &p->level[n];
    plain = plain && l->stored == SMMA_STORED_AS_IS && l->total == SMMA_STORED_AS_IS && l->with == SMMA_WITH_ADD;
  }
  return !plain;
}

/* Returns a plan with its defaults filled in, without properties that cannot change results and without levels of one
   part. */
static smma_plan normal_plan(const problem *x, int t) {
  const smma_plan *plan = x->plan[t];
  const bool zeros = are_zeros_visible(x, t);
  const smma_operation *o = &x->operation[t];
  smma_plan p = *plan;
  p.d = smma_plan_d_format(plan, x->target[t].instruction);
  if (p.group == 0) p.group = (size_t)o->k;
  if (!are_groups_visible(x, t, p.group)) p.group = (size_t)smma_form_of(o).step;
  if (!x->takes_c) p.starts_from_c = false;
  p.levels = 0;
  for (size_t n = 0; n < plan->levels; n++) {
    smma_plan_level l = plan->level[n];
    const bool one_part = (l.deal == SMMA_DEAL_CONTIGUOUS || l.deal == SMMA_DEAL_INTERLEAVED) && l.count == 1;
    if (l.stored == SMMA_STORED_AS_D) l.stored = (int)p.d;
    if (l.total == SMMA_STORED_AS_D) l.total = (int)p.d;
    l.from_zero = l.from_zero && zeros;
    if (one_part && !l.from_zero && !l.whole && l.stored < 0 && l.total < 0 && !p.lost_tail) continue;
    p.level[p.levels++] = l;
  }
  return p;
}

static bool same_level(const smma_plan_level *x, const smma_plan_level *y) {
  if (x->ranges != y->ranges || x->strides != y->strides) return false;
  if (x->ranges && memcmp(x->range, y->range, x->ranges * sizeof *x->range) != 0) return false;
  if (memcmp(x->stride, y->stride, x->strides * sizeof *x->stride) != 0) return false;
  return x->deal == y->deal && x->count == y->count && x->grain == y->grain && x->fits == y->fits &&
         x->whole == y->whole && x->fold == y->fold && x->with == y->with && x->from_zero == y->from_zero &&
         x->stored == y->stored && x->total == y->total;
}

static bool same_plan(const smma_plan *x, const smma_plan *y) {
  if (x->levels != y->levels || x->group != y->group || x->residue != y->residue || x->tile != y->tile ||
      x->lost_tail != y->lost_tail || x->starts_from_c != y->starts_from_c || x->d != y->d)
    return false;
  for (size_t n = 0; n < x->levels; n++)
    if (!same_level(&x->level[n], &y->level[n])) return false;
  return same_epilogue(x, y);
}

static bool has_every_k(const smma_plan *p) {
  for (size_t n = 0; n < p->levels; n++)
    if (p->level[n].deal == SMMA_DEAL_LIST) return false;
  return p->lost_tail == 0;
}

static bool wraps(const smma_operation *o) {
  return o->rule.algorithm == SMMA_INTEGER && o->rule.with.integer.overflow == SMMA_INTEGER_WRAPS;
}

static bool prove_for_all(const problem *x) {
  const smma_plan p = normal_plan(x, 0), q = normal_plan(x, 1);
  smma_planned_equality *r = x->result;
  const bool alike = smma_products_of(&x->operation[0].rule) == smma_products_of(&x->operation[1].rule);
  if (alike && wraps(&x->operation[0]) && wraps(&x->operation[1]) && has_every_k(&p) && has_every_k(&q)) {
    snprintf(r->why, sizeof r->why, "both add integers exactly modulo 2^32, where neither order nor parts count");
    return true;
  }
  if (!same_plan(&p, &q) || !same_rules(x)) return false;
  snprintf(r->why, sizeof r->why,
           "both plans differ only in what no result shows, and the "
           "instructions have the same rule");
  return true;
}

/* ---- Search ---- */

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
static size_t list_unshared(const compiled *c, size_t *k, size_t room) {
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
static int choose_places(const problem *x, const compiled *c, uint64_t seed, size_t *place) {
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
static smma_instruction rows_of(const problem *x, int count) {
  const smma_instruction *i = x->target[0].instruction, *j = x->target[1].instruction;
  smma_instruction as = j->rule->rule.nan == SMMA_NAN_QUIET ? *j : *i;
  as.k = count;
  as.d = smma_plan_d_format(x->plan[0], i);
  return as;
}

/* The comparison to make: of the first unit with the second or, if `exchanged`, with itself after two k are
   exchanged. */
typedef struct {
  bool exchanged;
  size_t k[2];
} exchange;

static bool search_at(const problem *x, const compiled *c, const exchange *e, const smma_planned_factors *factors,
                      uint64_t rows, uint64_t seed, smma_planned_witness *found) {
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

/* Searches with neutral factors and with others, for products at several choices of k. */
static bool search(const problem *x, const compiled *c, const exchange *e, uint64_t rows, uint64_t seed) {
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

/* ---- Answers ---- */

/* Appends, for example, "8 calls in 2 chains, 2 additions". */
static void append_schedule(const smma_schedule *s, char *text, size_t size) {
  size_t chains = 0, additions = 0, chain_end = SIZE_MAX;
  for (size_t i = 0; i < s->tasks; i++) {
    const smma_task *t = &s->task[i];
    if (t->from == SMMA_IN_ACCUMULATOR && t->kind != SMMA_TASK_CLEAR && t->step != chain_end)
      chains++, chain_end = t->step;
    additions += t->kind == SMMA_TASK_FOLD;
  }
  if (chain_end != s->steps) chains++;
  ADD("%zu call%s in %zu chain%s", s->steps, s->steps == 1 ? "" : "s", chains, chains == 1 ? "" : "s");
  if (additions) ADD(", %zu addition%s", additions, additions == 1 ? "" : "s");
}

/* Describes where the targets differ: in the rule, the epilogue or the schedule. */
static void describe_difference(const problem *x, const compiled *c) {
  const smma_planned *t = x->target;
  char *text = x->result->why;
  const size_t size = sizeof x->result->why;
  bool has_text = false;
  *text = 0;
  if (!same_rules(x)) has_text = smma_add_differences(t[0].instruction, t[1].instruction, text, size);
  if (!same_epilogue(x->plan[0], x->plan[1])) ADD("%sthe epilogue", has_text ? ", " : ""), has_text = true;
  ADD("%sthe sum (%s: ", has_text ? ", " : "", t[0].label);
  append_schedule(&c->schedule[0], text, size);
  ADD("; %s: ", t[1].label);
  append_schedule(&c->schedule[1], text, size);
  ADD(")");
}

static void describe_proof(smma_planned_equality *r, proof p) {
  r->answer = SMMA_PROVED;
  snprintf(r->why, sizeof r->why, "%s",
           p == EXACT_SUMS ? "every sum on the way is exact, so that no order shows, and both add the same products"
                           : "both add the same products, in the same fused sums and these in the same order, by the "
                             "same rule and with the same roundings");
}

static bool answer_for(const problem *x, size_t k, uint64_t rows, uint64_t seed) {
  smma_planned_equality *r = x->result;
  compiled c;
  proof p;
  bool done = true;
  if (!compile(x, k, &c)) return false;
  p = prove(x, &c);
  r->k = k;
  if (p == NO_MEMORY)
    done = smma_no_memory(x->error);
  else if (p != UNPROVED)
    describe_proof(r, p);
  else {
    done = search(x, &c, &(exchange){false}, rows, seed);
    if (r->row.witness.found) r->answer = SMMA_REFUTED;
    describe_difference(x, &c);
  }
  free_compiled(&c);
  return done;
}

/* ---- Every K ---- */

/* Returns the i-th K that a level suggests: one or two grains, one or two rounds of all parts, or one more than these.
   From such K on, the parts of two levels can differ. */
static size_t suggested_k(const smma_plan_level *l, size_t i) {
  const size_t grain = l->grain ? l->grain : 1, parts = l->count ? l->count : 1;
  const size_t times[] = {1, 2, parts, 2 * parts};
  if (grain > MOST_SUGGESTED || parts > MOST_SUGGESTED / 2 / grain) return 1;
  return grain * times[i / 2] + i % 2;
}

/* Returns the i-th K to try, or 0 after the last. */
static size_t candidate_k(const problem *x, size_t i) {
  enum { STEPS = (MOST_K - EVERY_K_UP_TO) / K_STRIDE, SUGGESTED = 8 };
  if (i < EVERY_K_UP_TO) return i + 1;
  if (i < EVERY_K_UP_TO + STEPS) return EVERY_K_UP_TO + (i - EVERY_K_UP_TO + 1) * K_STRIDE;
  i -= EVERY_K_UP_TO + STEPS;
  for (int t = 0; t < 2; t++) {
    const size_t count = SUGGESTED * x->plan[t]->levels;
    if (i < count) return suggested_k(&x->plan[t]->level[i / SUGGESTED], i % SUGGESTED);
    i -= count;
  }
  return 0;
}

/* Searches the least K for which the sums are not proved equal, and then larger ones until a vector tells the
   targets apart. */
static bool answer_for_all(const problem *x, uint64_t rows, uint64_t seed) {
  smma_planned_equality *r = x->result;
  size_t k, followed = 0, greatest = 0, searched = 0, last = 0;
  if (prove_for_all(x)) return r->answer = SMMA_PROVED, true;
  for (size_t i = 0; (k = candidate_k(x, i)) && searched < MOST_SEARCHED && !r->row.witness.found; i++) {
    compiled c;
    proof p;
    bool done = true;
    if (!compile(x, k, &c)) continue;
    p = prove(x, &c);
    followed++;
    if (k > greatest) greatest = k;
    if (p == NO_MEMORY) done = smma_no_memory(x->error);
    if (p == UNPROVED && k >= 2 * last) {
      done = search(x, &c, &(exchange){false}, rows / MOST_SEARCHED + 1, seed);
      searched++, last = k, r->k = k;
      describe_difference(x, &c);
    }
    free_compiled(&c);
    if (!done) return false;
  }
  if (followed == 0) return false; /* the error has the message of the last K */
  if (r->row.witness.found)
    r->answer = SMMA_REFUTED;
  else if (searched == 0)
    snprintf(r->why, sizeof r->why, "%zu K up to %zu are proved equal one by one, but not all others", followed,
             greatest);
  return true;
}

bool smma_find_planned_equality(const smma_planned target[2], size_t k, uint64_t rows, uint64_t seed,
                                smma_planned_equality *r, smma_error *error) {
  problem x = {.target = target, .result = r, .error = error};
  *r = (smma_planned_equality){.answer = SMMA_CANNOT_TELL};
  if (!prepare(&x)) return false;
  return k ? answer_for(&x, k, rows, seed) : answer_for_all(&x, rows, seed);
}

/* ---- The order of k ---- */

static void exchange_in(smma_schedule *s, size_t first, size_t second) {
  for (size_t i = 0; i < s->steps * s->k_per_step; i++)
    if (s->k[i] == first || s->k[i] == second) s->k[i] = first + second - s->k[i];
}

/* Adds the expression of the sum with two k exchanged. */
static bool exchanged_sum(const problem *x, compiled *c, smma_sums *sums, size_t first, size_t second, size_t *sum) {
  smma_schedule *s = &c->schedule[0];
  bool done;
  exchange_in(s, first, second);
  done = smma_sums_add(sums, &x->operation[0], s, c->k, x->takes_c, sum);
  exchange_in(s, first, second);
  return done;
}

/* Appends the k below 512 that can provably be exchanged with k = 0 without a change of the sum. */
static bool append_exchangeable(const problem *x, compiled *c, char *text, size_t size) {
  const size_t most = c->k < EVERY_K_UP_TO ? c->k : EVERY_K_UP_TO;
  smma_sums sums = {0};
  size_t own, sum, first = 0, before = 0;
  bool done = smma_sums_add(&sums, &x->operation[0], &c->schedule[0], c->k, x->takes_c, &own);
  for (size_t k = 1; done && k <= most; k++) {
    bool any = k < most;
    if (any) done = exchanged_sum(x, c, &sums, 0, k, &sum), any = done && sum == own;
    if (any && !first) first = k;
    if (any) before = k;
    if (any || !first) continue;
    ADD(first == before ? "%s%zu" : "%s%zu to %zu", *text ? ", " : "", first, before);
    first = 0;
  }
  smma_sums_free(&sums);
  return done || smma_no_memory(x->error);
}

/* Proves, if possible, that any order of k gives the same sum. */
static bool prove_any_order(const problem *x, const compiled *c) {
  smma_planned_equality *r = x->result;
  const bool exact = are_exact(x, c);
  if (!exact && !wraps(&x->operation[0])) return false;
  for (size_t i = 0, used = 0; i < c->schedule[0].steps * c->schedule[0].k_per_step; i++) {
    used += c->schedule[0].k[i] != SMMA_NO_PRODUCT;
    if (i + 1 == c->schedule[0].steps * c->schedule[0].k_per_step && used < c->k) return false;
  }
  snprintf(r->why, sizeof r->why, "%s",
           exact ? "every sum on the way is exact" : "integers are added exactly modulo 2^32");
  r->answer = SMMA_PROVED, r->k = c->k;
  return true;
}

static bool find_order(const problem *x, const compiled *c, uint64_t rows, uint64_t seed, smma_planned_freedom *f) {
  const size_t group = x->operation[0].scale_block ? (size_t)x->operation[0].scale_block : 1;
  const size_t block = (size_t)smma_block_of(&x->operation[0]), k = c->k;
  const size_t other[] = {k - 1, block % k, k / 2, 1 % k, 2 % k};
  smma_planned_equality *r = x->result;
  if (prove_any_order(x, c)) return true;
  for (size_t n = 0; n < sizeof other / sizeof *other && !r->row.witness.found; n++) {
    const exchange e = {true, {0, other[n]}};
    if (group > 1 || other[n] == 0) continue;
    if (!search(x, c, &e, rows / 4 + 1, seed)) return false;
    f->exchanged[0] = 0, f->exchanged[1] = other[n];
  }
  if (r->row.witness.found) r->answer = SMMA_REFUTED;
  return true;
}

/* Chooses the least K for which the plan makes two chains, or two calls. */
static bool choose_k(const problem *x, size_t *k, compiled *c) {
  bool followed = false;
  for (size_t i = 0; (*k = candidate_k(x, i)); i++) {
    if (!compile(x, *k, c)) continue;
    followed = true;
    if (c->schedule[0].steps > 1 && (c->schedule[0].tasks > 0 || x->plan[0]->levels == 0)) return true;
    free_compiled(c);
  }
  if (!followed) return false;
  *k = 2 * (size_t)x->operation[0].k;
  return compile(x, *k, c);
}

bool smma_find_planned_freedom(const smma_planned *target, size_t k, uint64_t rows, uint64_t seed,
                               smma_planned_freedom *f, smma_error *error) {
  const smma_planned both[2] = {*target, *target};
  problem x = {.target = both, .result = &f->order, .error = error};
  compiled c;
  bool done;
  *f = (smma_planned_freedom){.order = {.answer = SMMA_CANNOT_TELL}};
  if (!prepare(&x)) return false;
  if (k ? !compile(&x, k, &c) : !choose_k(&x, &k, &c)) return false;
  f->k = f->order.k = k;
  done = find_order(&x, &c, rows, seed, f) &&
         (f->order.answer == SMMA_PROVED || append_exchangeable(&x, &c, f->within, sizeof f->within));
  free_compiled(&c);
  return done;
}
