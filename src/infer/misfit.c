/* What a model has not: how many rows of which kind, and the simplest of them. */
#include <string.h>

#include "campaign/campaign.h"
#include "campaign/chain.h"
#include "infer/inference.h"

enum { ROWS = 16384, MOST_EXAMPLES = 16 };

static int size_of(const smma_instruction *i, const smma_row *row) {
  int terms = row->c != 0;
  for (int k = 0; k < i->k; k++) terms += row->a[k] || row->b[k];
  return terms;
}

/* In order of their terms. */
static void keep(const smma_inference_work *x, const smma_row *row, uint64_t expected) {
  smma_infer_misfit *m = &x->found->misfit;
  int at = m->examples++;
  for (; at > 0 && size_of(&x->as, &m->example[at - 1]) > size_of(&x->as, row); at--) {
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
    if (m->examples == MOST_EXAMPLES) continue;
    if (!smma_minimise(unit, model, &x->as, &row, &expected, x->error)) return false;
    keep(x, &row, expected);
  }
  return true;
}

/* Of a recording its rows that differ, as they are. */
static void count_recorded(smma_inference_work *x) {
  smma_infer_misfit *m = &x->found->misfit;
  const smma_operation o = smma_fit_operation(&x->fit, smma_fit_composition(&x->fit));
  m->asked = x->samples.count;
  for (size_t i = 0; i < x->samples.count; i++) {
    smma_row row;
    if (smma_sample_agrees(&x->samples, &o, i)) continue;
    m->wrong++;
    smma_rows_get(&x->samples.rows, i, &row);
    if (m->examples < MOST_EXAMPLES) keep(x, &row, smma_sample_computed(&x->samples, &o, i));
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
  if (!smma_chain_open(x->request->unit, x->request->instruction, &x->as, x->as.k, &unit, x->error)) return false;
  if (!smma_chain_open(&x->models, &custom.instruction, &x->as, x->as.k, &model, x->error)) {
    smma_unit_close(&unit);
    return false;
  }
  good = smma_rows_allocate(x->request->instruction, ROWS, &rows) || smma_fail(x->error, "out of memory");
  if (good) {
    smma_generate_rows(&rows, ~x->request->seed, 0, ROWS, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
    good = smma_inference_ask(x, &rows, ROWS) && count(x, &rows, &unit, &model);
  }
  smma_rows_free(&rows);
  smma_unit_close(&model);
  smma_unit_close(&unit);
  return good;
}
