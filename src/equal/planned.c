#include "equal/planned.h"

#include <stdio.h>
#include <string.h>

#include "equal/planned_parts.h"
#include "equal/product.h"
#include "equal/sums.h"
#include "host/count.h"
#include "isa/catalogue.h"
#include "isa/formats.h"
#include "isa/key.h"

/* K to try if the request gives none: every K up to EVERY_K_UP_TO, then multiples of K_STRIDE up to MOST_K, and K
   suggested by a plan's numbers (at most MOST_SUGGESTED). At most MOST_SEARCHED of them are searched. */
enum { EVERY_K_UP_TO = 512, K_STRIDE = 64, MOST_K = 4096, MOST_SUGGESTED = 1 << 17, MOST_SEARCHED = 4 };

#define ADD(...) smma_append_text(text, size, __VA_ARGS__)

static const smma_plan one_chain = {.name = "one chain", .d = SMMA_NO_FORMAT, .starts_from_c = true};

/* ---- Operands ---- */

static bool takes_alpha(const smma_plan *p) {
  return smma_plan_has(p, SMMA_EPILOGUE_ALPHA) || smma_plan_has(p, SMMA_EPILOGUE_LINEAR);
}

/* Chooses the factors. An operand that only one target takes is neutral; an operand that both take also gets a
   second value. */
static void settle_factors(smma_planned_pair *x) {
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
      {smma_plan_takes_c(p) != smma_plan_takes_c(q), false, "C", "+0", NULL, 0},
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

static bool check_formats(const smma_planned_pair *x) {
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

static bool prepare(smma_planned_pair *x) {
  for (int t = 0; t < 2; t++) {
    x->plan[t] = x->target[t].plan ? x->target[t].plan : &one_chain;
    x->operation[t] = smma_operation_of(x->target[t].instruction);
  }
  x->takes_c = smma_plan_takes_c(x->plan[0]) && smma_plan_takes_c(x->plan[1]);
  settle_factors(x);
  return check_formats(x);
}

/* ---- One K ---- */

static void free_compiled(smma_planned_schedules *c) {
  for (int t = 0; t < 2; t++) smma_schedule_free(&c->schedule[t]);
}

/* Makes both schedules. Returns false with a message if a target cannot follow its plan. */
static bool compile(const smma_planned_pair *x, size_t k, smma_planned_schedules *c) {
  smma_error error;
  *c = (smma_planned_schedules){.k = k};
  for (int t = 0; t < 2; t++)
    if (smma_schedule_make(x->plan[t], &x->operation[t], k, &c->schedule[t], &error) != SMMA_OK) {
      free_compiled(c);
      return smma_fail(x->error, "%s: K = %zu: %s", x->target[t].label, k, error.text);
    }
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
  ADD("%zu call%s in %zu chain%s", s->steps, smma_plural(s->steps), chains, smma_plural(chains));
  if (additions) ADD(", %zu addition%s", additions, smma_plural(additions));
}

/* Describes where the targets differ: in the rule, the epilogue or the schedule. */
static void describe_difference(const smma_planned_pair *x, const smma_planned_schedules *c) {
  const smma_planned *t = x->target;
  char *text = x->result->why;
  const size_t size = sizeof x->result->why;
  char sum[2][96] = {"", ""};
  bool has_text = false;
  *text = 0;
  if (!smma_planned_same_rules(x)) has_text = smma_add_differences(t[0].instruction, t[1].instruction, text, size);
  if (!smma_same_epilogue(x->plan[0], x->plan[1])) ADD("%sthe epilogue", has_text ? ", " : ""), has_text = true;
  append_schedule(&c->schedule[0], sum[0], sizeof sum[0]);
  append_schedule(&c->schedule[1], sum[1], sizeof sum[1]);
  if (strcmp(sum[0], sum[1]) != 0)
    ADD("%sthe sum (%s: %s; %s: %s)", has_text ? ", " : "", t[0].label, sum[0], t[1].label, sum[1]);
  else if (!has_text)
    ADD("the sum (both: %s)", sum[0]);
}

static void describe_proof(smma_planned_equality *r, smma_planned_proof p) {
  r->answer = SMMA_PROVED;
  snprintf(r->why, sizeof r->why, "%s",
           p == SMMA_SUMS_EXACT
               ? "every sum on the way is exact, so that no order shows, and both add the same products"
               : "both add the same products, in the same fused sums and these in the same order, by the "
                 "same rule and with the same roundings");
}

static bool answer_for(const smma_planned_pair *x, size_t k, uint64_t rows, uint64_t seed) {
  smma_planned_equality *r = x->result;
  smma_planned_schedules c;
  smma_planned_proof p;
  bool done = true;
  if (!compile(x, k, &c)) return false;
  p = smma_planned_prove(x, &c);
  r->k = k;
  if (p == SMMA_SUMS_NO_MEMORY)
    done = smma_no_memory(x->error);
  else if (p != SMMA_SUMS_UNPROVED)
    describe_proof(r, p);
  else {
    done = smma_planned_search(x, &c, &(smma_planned_exchange){false}, rows, seed);
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
static size_t candidate_k(const smma_planned_pair *x, size_t i) {
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

/* Reports whether both targets can follow their plans for some K. If not, the error has the message of the last K. */
static bool has_some_k(const smma_planned_pair *x) {
  size_t k;
  for (size_t i = 0; (k = candidate_k(x, i)); i++) {
    smma_planned_schedules c;
    if (!compile(x, k, &c)) continue;
    free_compiled(&c);
    return true;
  }
  return false;
}

/* Searches the least K for which the sums are not proved equal, and then larger ones until a vector tells the
   targets apart. */
static bool answer_for_all(const smma_planned_pair *x, uint64_t rows, uint64_t seed) {
  smma_planned_equality *r = x->result;
  size_t k, followed = 0, greatest = 0, last = 0;
  if (!has_some_k(x)) return false;
  if (smma_planned_prove_for_all(x)) return r->answer = SMMA_PROVED, true;
  for (size_t i = 0; (k = candidate_k(x, i)) && r->searched < MOST_SEARCHED && !r->row.witness.found; i++) {
    smma_planned_schedules c;
    smma_planned_proof p;
    bool done = true;
    if (!compile(x, k, &c)) continue;
    p = smma_planned_prove(x, &c);
    followed++;
    if (k > greatest) greatest = k;
    if (p == SMMA_SUMS_NO_MEMORY) done = smma_no_memory(x->error);
    if (p == SMMA_SUMS_UNPROVED && k >= 2 * last) {
      done = smma_planned_search(x, &c, &(smma_planned_exchange){false}, rows / MOST_SEARCHED + 1, seed);
      r->searched++, last = k, r->k = k;
      describe_difference(x, &c);
    }
    free_compiled(&c);
    if (!done) return false;
  }
  if (r->row.witness.found)
    r->answer = SMMA_REFUTED;
  else if (r->searched == 0)
    snprintf(r->why, sizeof r->why, "the targets are proved equal for %zu values of K up to %zu, but not for every K",
             followed, greatest);
  return true;
}

bool smma_find_planned_equality(const smma_planned target[2], size_t k, uint64_t rows, uint64_t seed,
                                smma_planned_equality *r, smma_error *error) {
  smma_planned_pair x = {.target = target, .result = r, .error = error};
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
static bool exchanged_sum(const smma_planned_pair *x, smma_planned_schedules *c, smma_sums *sums, size_t first,
                          size_t second, size_t *sum) {
  smma_schedule *s = &c->schedule[0];
  bool done;
  exchange_in(s, first, second);
  done = smma_sums_add(sums, &x->operation[0], s, c->k, x->takes_c, sum);
  exchange_in(s, first, second);
  return done;
}

/* Returns how many k from 0 on have the scale factors of k = 0. */
static size_t k_of_one_factor(const smma_planned_pair *x, size_t k) {
  const size_t each = (size_t)x->operation[0].scale_block;
  return each && each < k ? each : k;
}

/* Appends the k below 512 that can provably be exchanged with k = 0 without a change of the sum, and counts them. Scale
   factors keep their places. */
static bool append_exchangeable(const smma_planned_pair *x, smma_planned_schedules *c, char *text, size_t size,
                                size_t *count) {
  const size_t same = k_of_one_factor(x, c->k), most = same < EVERY_K_UP_TO ? same : EVERY_K_UP_TO;
  smma_sums sums = {0};
  size_t own, sum, first = 0, before = 0;
  bool done = smma_sums_add(&sums, &x->operation[0], &c->schedule[0], c->k, x->takes_c, &own);
  for (size_t k = 1; done && k <= most; k++) {
    bool any = k < most;
    if (any) done = exchanged_sum(x, c, &sums, 0, k, &sum), any = done && sum == own;
    if (any && !first) first = k;
    if (any) before = k, ++*count;
    if (any || !first) continue;
    ADD(first == before ? "%s%zu" : "%s%zu to %zu", *text ? ", " : "", first, before);
    first = 0;
  }
  smma_sums_free(&sums);
  return done || smma_no_memory(x->error);
}

/* Proves, if possible, that any order of k gives the same sum, because all sums are exact. */
static bool prove_exact_order(const smma_planned_pair *x, const smma_planned_schedules *c) {
  smma_planned_equality *r = x->result;
  const bool exact = smma_planned_are_exact(x, c);
  if ((!exact && !smma_wraps(&x->operation[0])) || k_of_one_factor(x, c->k) < c->k) return false;
  for (size_t i = 0, used = 0; i < c->schedule[0].steps * c->schedule[0].k_per_step; i++) {
    used += c->schedule[0].k[i] != SMMA_NO_PRODUCT;
    if (i + 1 == c->schedule[0].steps * c->schedule[0].k_per_step && used < c->k) return false;
  }
  snprintf(r->why, sizeof r->why, "%s",
           exact ? "every sum on the way is exact" : "integers are added exactly modulo 2^32");
  r->answer = SMMA_PROVED, r->k = c->k;
  return true;
}

/* Proves, if possible, that any order of k gives the same sum: because sums are exact, or because every k can be
   exchanged with k = 0, so that every order is a series of such exchanges. Otherwise sets the k of such exchanges. */
static bool prove_any_order(const smma_planned_pair *x, smma_planned_schedules *c, smma_planned_freedom *f) {
  smma_planned_equality *r = x->result;
  size_t count = 0;
  if (prove_exact_order(x, c)) return true;
  if (!append_exchangeable(x, c, f->within, sizeof f->within, &count)) return false;
  if (count + 1 < c->k) return true;
  snprintf(r->why, sizeof r->why, "%s",
           c->k == 1 ? "there is one product" : "all products are in one fused sum, which has no order");
  r->answer = SMMA_PROVED, r->k = c->k;
  *f->within = 0;
  return true;
}

static bool find_order(const smma_planned_pair *x, smma_planned_schedules *c, uint64_t rows, uint64_t seed,
                       smma_planned_freedom *f) {
  const size_t group = x->operation[0].scale_block ? (size_t)x->operation[0].scale_block : 1;
  const size_t block = (size_t)smma_block_of(&x->operation[0]), k = c->k;
  const size_t other[] = {k - 1, block % k, k / 2, 1 % k, 2 % k};
  smma_planned_equality *r = x->result;
  if (!prove_any_order(x, c, f)) return false;
  if (r->answer == SMMA_PROVED) return true;
  for (size_t n = 0; n < sizeof other / sizeof *other && !r->row.witness.found; n++) {
    const smma_planned_exchange e = {true, {0, other[n]}};
    if (group > 1 || other[n] == 0) continue;
    if (!smma_planned_search(x, c, &e, rows / 4 + 1, seed)) return false;
    f->exchanged[0] = 0, f->exchanged[1] = other[n];
  }
  if (r->row.witness.found) r->answer = SMMA_REFUTED;
  return true;
}

/* Chooses the least K for which the plan makes two chains, or two calls. */
static bool choose_k(const smma_planned_pair *x, size_t *k, smma_planned_schedules *c) {
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
  smma_planned_pair x = {.target = both, .result = &f->order, .error = error};
  smma_planned_schedules c;
  bool done;
  *f = (smma_planned_freedom){.order = {.answer = SMMA_CANNOT_TELL}};
  if (!prepare(&x)) return false;
  if (k ? !compile(&x, k, &c) : !choose_k(&x, &k, &c)) return false;
  f->k = f->order.k = k;
  done = find_order(&x, &c, rows, seed, f);
  free_compiled(&c);
  return done;
}
