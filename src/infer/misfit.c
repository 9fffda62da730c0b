/* Describes how a model fails: counts mismatches by kind of vector, and lists simple vectors with a mismatch. */

#include "campaign/campaign.h"
#include "campaign/chain.h"
#include "infer/inference.h"

enum { ROWS = 16384, MOST_EXAMPLES = 16 };

/* ---- Properties of a vector ---- */

typedef struct {
  bool nan, infinite, subnormal;
} operand_kinds;

static bool is_subnormal(smma_format f, uint64_t code) {
  const smma_encoding e = smma_encoding_of(f);
  const smma_number x = smma_decode(e, code);
  return x.kind == SMMA_FINITE && !smma_is_fixed_point(f) && x.exponent == smma_minimum_exponent(e) &&
         x.significand >> x.fraction_bits == 0;
}

static void add_operand(smma_format f, uint64_t code, operand_kinds *kinds) {
  const smma_kind kind = smma_decode(smma_encoding_of(f), code).kind;
  kinds->nan |= kind == SMMA_NAN;
  kinds->infinite |= kind == SMMA_INFINITE;
  kinds->subnormal |= is_subnormal(f, code);
}

/* Returns the place of a number among the numbers of its format; -0 and +0 have the place 0. */
static int64_t place_of(smma_encoding f, uint64_t code) {
  const smma_number x = smma_decode(f, code);
  const uint64_t from_zero = f.specials == SMMA_SPECIALS_INTEGER
                                 ? x.significand
                                 : smma_low_bits(code >> f.ignored_bits, f.exponent_bits + f.fraction_bits);
  return x.negative ? -(int64_t)from_zero : (int64_t)from_zero;
}

/* Reports whether two encodings are finite numbers without another number of the format between them. */
static bool are_neighbours(smma_encoding f, uint64_t one, uint64_t other) {
  if (smma_decode(f, one).kind > SMMA_FINITE || smma_decode(f, other).kind > SMMA_FINITE) return false;
  const int64_t x = place_of(f, one), y = place_of(f, other);
  return x == y + 1 || y == x + 1;
}

/* Adds a vector with a mismatch to m->wrong_with, for each of its properties. The vector's d is the unit's result;
   `expected` is the model's. */
static void count_holdings(const smma_instruction *i, const smma_row *row, uint64_t expected, smma_infer_misfit *m) {
  operand_kinds factors = {false, false, false}, c = factors, d = factors;
  const smma_encoding e = smma_encoding_of(i->d);
  const smma_number x = smma_decode(e, row->d), y = smma_decode(e, expected);
  for (int k = 0; k < i->k; k++) add_operand(i->a, row->a[k], &factors), add_operand(i->b, row->b[k], &factors);
  for (int s = 0; s < smma_scale_count(i->k, i->scale_block); s++)
    add_operand(i->scale, row->scale_a[s], &factors), add_operand(i->scale, row->scale_b[s], &factors);
  add_operand(i->c, row->c, &c);
  add_operand(i->d, row->d, &d), add_operand(i->d, expected, &d);
  const bool holds[SMMA_HOLDINGS] = {
      [SMMA_HOLDS_NAN_OPERAND] = factors.nan || c.nan,
      [SMMA_HOLDS_INFINITE_OPERAND] = factors.infinite || c.infinite,
      [SMMA_HOLDS_SUBNORMAL_FACTOR] = factors.subnormal,
      [SMMA_HOLDS_SUBNORMAL_C] = c.subnormal,
      [SMMA_HOLDS_NAN_RESULT] = d.nan,
      [SMMA_HOLDS_INFINITE_RESULT] = d.infinite,
      [SMMA_HOLDS_SUBNORMAL_RESULT] = d.subnormal,
      [SMMA_HOLDS_SIGN_OF_ZERO] = x.kind == SMMA_ZERO && y.kind == SMMA_ZERO,
      [SMMA_HOLDS_NEXT_RESULT] = are_neighbours(e, row->d, expected),
  };
  for (int h = 0; h < SMMA_HOLDINGS; h++) m->wrong_with[h] += holds[h];
}

/* ---- Counting and listing ---- */

/* Inserts a vector into the examples, which are sorted by their number of terms, the fewest first. If there are
   MOST_EXAMPLES examples, replaces the last of them, or drops the vector if it has no fewer terms. */
static void keep(const smma_inference_work *x, const smma_row *row, uint64_t expected) {
  smma_infer_misfit *m = &x->found->misfit;
  const int terms = smma_row_terms(&x->as, row);
  int at = MOST_EXAMPLES - 1;
  if (m->examples < MOST_EXAMPLES)
    at = m->examples++;
  else if (smma_row_terms(&x->as, &m->example[at]) <= terms)
    return;
  for (; at > 0 && smma_row_terms(&x->as, &m->example[at - 1]) > terms; at--) {
    m->example[at] = m->example[at - 1];
    m->expected[at] = m->expected[at - 1];
  }
  m->example[at] = *row;
  m->expected[at] = expected;
}

/* Counts the new vectors that disagree with the model, and minimises the first of them as examples. */
static bool count_new(smma_inference_work *x, const smma_rows *rows, smma_unit *unit, smma_unit *model) {
  smma_infer_misfit *m = &x->found->misfit;
  const smma_operation o = smma_fit_operation(&x->fit, smma_fit_composition(&x->fit));
  m->asked = ROWS;
  for (size_t i = 0; i < ROWS; i++) {
    const int kind = (int)(i % SMMA_ROWS_IN_TURN);
    smma_row row;
    uint64_t expected;
    smma_rows_get(rows, i, &row);
    expected = smma_row_compute(&o, &row);
    m->of_kind[kind]++;
    if (smma_same_result(&o, row.d, expected)) continue;
    m->wrong++;
    m->wrong_of[kind]++;
    count_holdings(&x->as, &row, expected, m);
    if (m->examples == MOST_EXAMPLES) continue;
    if (!smma_minimise(unit, model, &x->as, &row, &expected, x->error)) return false;
    keep(x, &row, expected);
  }
  return true;
}

/* Counts the samples that disagree with the model, and keeps the simplest ones as examples. Does not minimise them,
   because the unit need not compute other vectors. */
static void count_samples(smma_inference_work *x) {
  smma_infer_misfit *m = &x->found->misfit;
  const smma_operation o = smma_fit_operation(&x->fit, smma_fit_composition(&x->fit));
  m->of_samples = true;
  m->asked = x->samples.count;
  for (size_t i = 0; i < x->samples.count; i++) {
    smma_row row;
    if (smma_sample_agrees(&x->samples, &o, i)) continue;
    const uint64_t expected = smma_sample_computed(&x->samples, &o, i);
    m->wrong++;
    smma_rows_get(&x->samples.rows, i, &row);
    count_holdings(&x->as, &row, expected, m);
    keep(x, &row, expected);
  }
}

/* Fills found->misfit with new vectors. The record does not get them, because a search with larger limits, which may
   continue from it, asks for other vectors in their place. */
static bool examine_new(smma_inference_work *x) {
  smma_custom custom = x->fit.model;
  smma_rows rows;
  smma_unit unit, model;
  bool good;
  custom.instruction = x->as;
  custom.instruction.rule = &custom.named;
  custom.named.rule.nan = SMMA_NAN_QUIET;
  if (!smma_chain_open(&x->asking.counted, x->request->instruction, &x->as, x->as.k, false, &unit, x->error))
    return false;
  if (!smma_chain_open(&x->models, &custom.instruction, &x->as, x->as.k, false, &model, x->error)) {
    smma_unit_close(&unit);
    return false;
  }
  good = smma_rows_allocate(x->request->instruction, ROWS, &rows) || smma_no_memory(x->error);
  if (good) {
    smma_generate_rows(&rows, x->request->seed ^ SMMA_MISFIT_SEED, 0, ROWS, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
    good = smma_unit_ask(&x->asking.counted, &rows, 0, ROWS, NULL, x->error) && count_new(x, &rows, &unit, &model);
  }
  smma_rows_free(&rows);
  smma_unit_close(&model);
  smma_unit_close(&unit);
  return good;
}

bool smma_inference_examine_misfit(smma_inference_work *x) {
  smma_infer_misfit *m = &x->found->misfit;
  const bool can_ask = !x->found->recording && !smma_inference_are_rows_asked(x);
  *m = (smma_infer_misfit){.odd = x->odd};
  if (can_ask && !examine_new(x)) return false;
  if (m->wrong) return true;
  *m = (smma_infer_misfit){.odd = x->odd, .new_rows = m->asked};
  count_samples(x);
  return true;
}
