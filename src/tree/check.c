#include "tree/check.h"

#include <stdlib.h>

#include "host/draw.h"

enum {
  RANDOM_BATCHES = 4, /* number of batches of random test vectors */
  RANDOM_ROWS = 64,   /* number of test vectors in such a batch */
  MOST_PAIRS = 3,     /* maximum number of pairs of +M and -M in a random test vector */
  MOST_LEAN = 16      /* greatest absolute value of smma_tree_question.lean in a random test vector */
};

/* ---- Properties of every order ---- */

/* Writes one test vector for each summand: the summand has the value `what`, and all other summands are zero. */
static void write_alone(const smma_summands *m, smma_summand what, smma_tree_question *q) {
  for (int n = 0; n < m->count; n++) {
    q[n] = (smma_tree_question){.what = {SMMA_SUMMAND_ZERO}};
    q[n].what[n] = what;
  }
}

static smma_tree_status complain(smma_asker *asker, const smma_summands *m, const smma_tree_question *q) {
  char text[256];
  smma_fail(asker->error, "with %s and zeros elsewhere the result is not their sum", smma_question_text(m, q, text));
  return SMMA_TREE_HIDDEN;
}

static smma_tree_status check_huge(smma_asker *asker, const smma_summands *m, smma_summand what) {
  smma_tree_question q[SMMA_MOST_SUMMANDS];
  uint64_t d[SMMA_MOST_SUMMANDS];
  smma_tree_status status;
  write_alone(m, what, q);
  status = smma_ask(asker, m, q, (size_t)m->count, d);
  for (int n = 0; status == SMMA_TREE_FOUND && n < m->count; n++)
    if (!smma_is_huge(m, d[n], what == SMMA_SUMMAND_MINUS_HUGE)) return complain(asker, m, &q[n]);
  return status;
}

static smma_tree_status check_ones(smma_asker *asker, const smma_summands *m) {
  smma_tree_question q[SMMA_MOST_SUMMANDS], all = {.what = {SMMA_SUMMAND_ZERO}};
  uint64_t d[SMMA_MOST_SUMMANDS];
  smma_tree_status status;
  for (int n = 0; n < m->count; n++) all.what[n] = SMMA_SUMMAND_ONE;
  write_alone(m, SMMA_SUMMAND_ONE, q);
  status = smma_ask(asker, m, q, (size_t)m->count, d);
  for (int n = 0; status == SMMA_TREE_FOUND && n < m->count; n++)
    if (smma_count_ones(m, d[n]) != 1) return complain(asker, m, &q[n]);
  if (status == SMMA_TREE_FOUND) status = smma_ask(asker, m, &all, 1, d);
  if (status == SMMA_TREE_FOUND && smma_count_ones(m, d[0]) != m->count) return complain(asker, m, &all);
  return status;
}

static smma_tree_status check_both_signs(smma_asker *asker, smma_summands m, int one) {
  smma_tree_status status;
  m.one = one;
  m.negative_ones = false;
  status = check_ones(asker, &m);
  m.negative_ones = true;
  return status == SMMA_TREE_FOUND ? check_ones(asker, &m) : status;
}

/* Checks the largest ones that may be used, 2^one and -2^one, alone and all together. */
static smma_tree_status check_greatest(smma_asker *asker, const smma_summands *m, int one) {
  const smma_tree_status status = check_both_signs(asker, *m, one);
  if (status == SMMA_TREE_HIDDEN) {
    const smma_error why = *asker->error;
    smma_fail(asker->error, "%s; larger numbers there are too near to the largest, 2^%d", why.text, m->huge);
  }
  return status;
}

/* The distinct results of test vectors with only M and -M. */
typedef struct {
  int count;
  uint64_t d[SMMA_MOST_QUESTIONS];
} remainders;

/* Adds d to the remainders, unless it is zero or already listed. Increases m->left so that all remainders are multiples
   of 2^(huge - left). Returns false if there are too many remainders. */
static bool add_remainder(remainders *r, smma_summands *m, uint64_t d) {
  const smma_encoding f = smma_encoding_of(m->instruction->d);
  const smma_number x = smma_decode(f, d);
  int n = 0;
  if (x.kind != SMMA_FINITE) return true;
  while (n < r->count && r->d[n] != d) n++;
  if (n == SMMA_MOST_QUESTIONS) return false;
  if (n == r->count) r->d[r->count++] = d;
  m->left = smma_maximum(m->left, m->huge - (x.exponent - x.fraction_bits + __builtin_ctzll(x.significand)));
  m->left = smma_maximum(m->left,
                         f.fraction_bits + 1); /* exponent of the last bit of a number just below M, relative to M's */
  return true;
}

/* Finds the remainders of M and -M at all pairs of summands. For example, on RDNA 3 a term whose sign is opposite to
   c's subtracts a unit of the last retained bit. */
static smma_tree_status find_remainders(smma_asker *asker, smma_summands *m, remainders *r) {
  smma_tree_status status = SMMA_TREE_FOUND;
  r->count = 0;
  for (int plus = 0; plus < m->count && status == SMMA_TREE_FOUND; plus++) {
    smma_tree_question q[SMMA_MOST_QUESTIONS];
    uint64_t d[SMMA_MOST_QUESTIONS];
    int count = 0;
    for (int minus = 0; minus < m->count; minus++)
      if (minus != plus) q[count++] = smma_pair_question(m, plus, minus, SMMA_SUMMAND_ZERO);
    status = smma_ask(asker, m, q, (size_t)count, d);
    for (int n = 0; n < count && status == SMMA_TREE_FOUND; n++)
      if (!add_remainder(r, m, d[n])) status = complain(asker, m, &q[n]);
  }
  return status;
}

/* Checks that ones at all products, and a one at the last product alone, are added correctly to each remainder, which
   the test vector has as c. */
static smma_tree_status check_ones_with_remainder(smma_asker *asker, const smma_summands *m, const remainders *r) {
  const smma_instruction *i = m->instruction;
  for (int n = 0; n < 2 * r->count; n++) {
    const int ones = n % 2 ? m->count - 1 : 1;
    smma_tree_question q = {.what = {SMMA_SUMMAND_ZERO}};
    smma_row row;
    for (int k = 0; k < ones; k++) q.what[m->count - 2 - k] = SMMA_SUMMAND_ONE;
    smma_put_summands(m, &q, &asker->rows, 0);
    smma_rows_get(&asker->rows, 0, &row);
    row.c = smma_encode_number(smma_encoding_of(i->c), smma_decode(smma_encoding_of(i->d), r->d[n / 2]),
                               SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_INFINITY);
    smma_rows_put(&asker->rows, 0, &row);
    asker->asked++;
    asker->calls++;
    if (!smma_unit_ask(asker->unit, &asker->rows, 0, 1, NULL, asker->error)) return SMMA_TREE_FAILED;
    if (smma_count_ones(m, smma_rows_result(&asker->rows, 0)) == ones) continue;
    smma_fail(asker->error, "2^%d and -2^%d do not cancel, and the rest absorbs ones of %s2^%d", m->huge, m->huge,
              m->negative_ones ? "-" : "", m->one);
    return SMMA_TREE_HIDDEN;
  }
  return SMMA_TREE_FOUND;
}

/* Chooses the ones if M and -M leave a remainder. Then there is only one size of ones, because results do not reach
   far below the remainder. */
static smma_tree_status settle_ones_with_remainder(smma_asker *asker, smma_summands *m, const remainders *r) {
  smma_summands negative = *m;
  smma_tree_status status;
  m->one = negative.one = smma_greatest_one(m);
  negative.negative_ones = true;
  status = check_ones_with_remainder(asker, m, r);
  return status == SMMA_TREE_FOUND ? check_ones_with_remainder(asker, &negative, r) : status;
}

/* If M and -M leave a remainder, checks that the formats can hold ones of the size `greatest`. */
static smma_tree_status check_reach(smma_asker *asker, const smma_summands *m, int greatest) {
  if (!m->left || greatest >= m->one) return SMMA_TREE_FOUND;
  smma_fail(asker->error,
            "2^%d and -2^%d leave something, and ones that are less than that, all together, are too small", m->huge,
            m->huge);
  return SMMA_TREE_HIDDEN;
}

smma_tree_status smma_settle_ones(smma_asker *asker, smma_summands *m) {
  remainders r;
  int greatest;
  smma_tree_status status = check_huge(asker, m, SMMA_SUMMAND_HUGE);
  if (status == SMMA_TREE_FOUND) status = check_huge(asker, m, SMMA_SUMMAND_MINUS_HUGE);
  if (status == SMMA_TREE_FOUND) status = find_remainders(asker, m, &r);
  greatest = smma_greatest_one(m);
  if (status == SMMA_TREE_FOUND) status = check_reach(asker, m, greatest);
  if (status == SMMA_TREE_FOUND) status = check_greatest(asker, m, greatest);
  if (status == SMMA_TREE_FOUND && m->left) status = settle_ones_with_remainder(asker, m, &r);
  while (status == SMMA_TREE_FOUND && m->one < greatest) {
    const int middle = m->one + (greatest - m->one) / 2;
    const smma_tree_status one = check_both_signs(asker, *m, middle);
    if (one == SMMA_TREE_FAILED) status = one;
    if (one == SMMA_TREE_FOUND) greatest = middle;
    if (one == SMMA_TREE_HIDDEN) m->one = middle + 1;
  }
  return status;
}

/* ---- Checking ---- */

typedef struct {
  const smma_tree *tree;
  smma_sum_order order;
  smma_order_entry entry[SMMA_MOST_TREE_NODES];
} reader;

static smma_sum_of_ones predict(reader *r, const smma_tree_question *q, int *greatest) {
  return smma_predict(&r->order, r->entry, q->what, greatest);
}

static bool agrees(const smma_summands *m, smma_sum_of_ones expected, uint64_t d) {
  return expected.huge ? smma_is_huge(m, d, expected.huge < 0) : smma_count_ones(m, d) == expected.ones;
}

static smma_tree_status check_rows(smma_asker *asker, reader *r, const smma_tree_question *q, size_t count) {
  const smma_summands *m = &r->tree->summands;
  uint64_t d[SMMA_MOST_QUESTIONS];
  const smma_tree_status status = smma_ask(asker, m, q, count, d);
  int greatest;
  for (size_t i = 0; status == SMMA_TREE_FOUND && i < count; i++)
    if (!agrees(m, predict(r, &q[i], &greatest), d[i])) return smma_refuse(asker, m, &q[i]);
  return status;
}

static smma_tree_status check_pairs(smma_asker *asker, reader *r) {
  const smma_summands *m = &r->tree->summands;
  smma_tree_status status = SMMA_TREE_FOUND;
  for (int plus = 1; plus < m->count && status == SMMA_TREE_FOUND; plus++) {
    smma_tree_question q[SMMA_MOST_QUESTIONS];
    for (int minus = 0; minus < plus; minus++) q[minus] = smma_pair_question(m, plus, minus, SMMA_SUMMAND_ONE);
    status = check_rows(asker, r, q, (size_t)plus);
  }
  return status;
}

/* Draws a test vector: ones at a quarter, half, three quarters or all of the summands, and up to three pairs of +M and
   -M, with factors of random sizes. Removes M from summands until no sum is a multiple of M greater than M, which might
   overflow. If M and -M leave a remainder, there is at most one pair, because two remainders may hide ones. */
static smma_tree_question random_question(reader *r, uint64_t *state) {
  const smma_summands *m = &r->tree->summands;
  const int quarters = 1 + smma_draw_below(state, 4);
  smma_tree_question q = {.what = {SMMA_SUMMAND_ZERO}};
  int huge[2 * MOST_PAIRS], count = 2 * smma_draw_below(state, (m->left ? 1 : MOST_PAIRS) + 1), greatest;
  for (int n = 0; n < m->count; n++) {
    q.what[n] = smma_draw_below(state, 4) < quarters ? SMMA_SUMMAND_ONE : SMMA_SUMMAND_ZERO;
    q.product[n] = smma_draw_below(state, m->products);
    q.lean[n] = smma_draw_below(state, 2 * MOST_LEAN + 1) - MOST_LEAN;
  }
  for (int i = 0; i < count; i++) {
    huge[i] = smma_draw_below(state, m->count);
    q.what[huge[i]] = i % 2 ? SMMA_SUMMAND_MINUS_HUGE : SMMA_SUMMAND_HUGE;
  }
  while (predict(r, &q, &greatest), greatest > 1) q.what[huge[--count]] = SMMA_SUMMAND_ZERO;
  return q;
}

smma_tree_status smma_check_tree(smma_asker *asker, smma_tree *t) {
  reader r = {.tree = t, .order = smma_order_of(t)};
  uint64_t state = 0;
  smma_tree_status status;
  smma_read_order(&r.order, r.entry);
  status = check_pairs(asker, &r);
  for (int batch = 0; batch < RANDOM_BATCHES && status == SMMA_TREE_FOUND; batch++) {
    smma_tree_question q[RANDOM_ROWS];
    for (int i = 0; i < RANDOM_ROWS; i++) q[i] = random_question(&r, &state);
    status = check_rows(asker, &r, q, RANDOM_ROWS);
  }
  return status;
}
