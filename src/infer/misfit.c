/* Describes how a model fails: counts mismatches by kind of vector, and lists the simplest vectors with a mismatch. */

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
      [SMMA_HOLDS_NEXT_RESULT] = row->d - expected == 1 || expected - row->d == 1,
  };
  for (int h = 0; h < SMMA_HOLDINGS; h++) m->wrong_with[h] += holds[h];
}

/* ---- The simplest vectors ---- */

/* Inserts a vector into the examples, which are sorted by their number of terms, the fewest first. */
static void keep(const smma_inference_work *x, const smma_row *row, uint64_t expected) {
  smma_infer_misfit *m = &x->found->misfit;
  int at = m->examples++;
  for (; at > 0 && smma_row_terms(&x->as, &m->example[at - 1]) > smma_row_terms(&x->as, row); at--) {
    m->example[at] = m->example[at - 1];
    m->expected[at] = m->expected[at - 1];
  }
  m->example[at] = *row;
  m->expected[at] = expected;
}

static bool count(smma_inference_work *x, const smma_rows *rows, smma_unit *unit, smma_unit *model) {
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

/* Counts the vectors of a recording that disagree with the model, and keeps the first ones as examples. They cannot be
   minimised, because a recording has no results for other vectors. */
static void count_recorded(smma_inference_work *x) {
  smma_infer_misfit *m = &x->found->misfit;
  const smma_operation o = smma_fit_operation(&x->fit, smma_fit_composition(&x->fit));
  m->asked = x->samples.count;
  for (size_t i = 0; i < x->samples.count; i++) {
    smma_row row;
    if (smma_sample_agrees(&x->samples, &o, i)) continue;
    const uint64_t expected = smma_sample_computed(&x->samples, &o, i);
    m->wrong++;
    smma_rows_get(&x->samples.rows, i, &row);
    count_holdings(&x->as, &row, expected, m);
    if (m->examples < MOST_EXAMPLES) keep(x, &row, expected);
  }
}

bool smma_inference_examine_misfit(smma_inference_work *x) {
  smma_custom custom = x->fit.model;
  smma_rows rows;
  smma_unit unit, model;
  bool good;
  x->found->misfit = (smma_infer_misfit){.odd = x->odd};
  if (x->found->recording) return count_recorded(x), true;
  custom.instruction = x->as;
  custom.instruction.rule = &custom.named;
  custom.named.rule.nan = SMMA_NAN_QUIET;
  if (!smma_chain_open(x->request->unit, x->request->instruction, &x->as, x->as.k, false, &unit, x->error))
    return false;
  if (!smma_chain_open(&x->models, &custom.instruction, &x->as, x->as.k, false, &model, x->error)) {
    smma_unit_close(&unit);
    return false;
  }
  good = smma_rows_allocate(x->request->instruction, ROWS, &rows) || smma_no_memory(x->error);
  if (good) {
    smma_generate_rows(&rows, ~x->request->seed, 0, ROWS, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
    good = smma_inference_ask(x, &rows, ROWS) && count(x, &rows, &unit, &model);
  }
  smma_rows_free(&rows);
  smma_unit_close(&model);
  smma_unit_close(&unit);
  return good;
}
