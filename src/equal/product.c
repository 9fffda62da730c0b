#include "equal/product.h"

#include <stdio.h>

#include "campaign/chain.h"

bool smma_product_rows(const smma_instruction *const target[2], int k, const int tile[2], smma_instruction *as) {
  const bool unknown = target[1]->rule->rule.nan == SMMA_NAN_QUIET;
  const int narrow = smma_narrower_operands(target);
  bool one_step = true;
  *as = *target[unknown];
  as->a = target[narrow]->a, as->b = target[narrow]->b;
  as->k = k;
  for (int t = 0; t < 2; t++) one_step = one_step && k <= target[t]->k && tile[t] <= target[t]->k;
  if (one_step || as->c == as->d) return true;
  as->c = as->d;
  return false;
}

bool smma_product_open(smma_product_unit *p, const smma_instruction *target, const smma_instruction *as, int tile,
                       const smma_common_operands *common, smma_error *error) {
  const bool any_nan = !smma_are_same_operands(common);
  p->step = *target;
  p->step.c = as->c;
  if (!smma_unit_open("model", &p->model, error)) return false;
  if (smma_chain_open_common(&p->model, &p->step, as, tile, any_nan, common, &p->unit, error)) return true;
  smma_unit_close(&p->model);
  return false;
}

void smma_product_close(smma_product_unit *p) {
  smma_unit_close(&p->unit);
  smma_unit_close(&p->model);
}

/* ---- Exchanging two groups ---- */

static void exchange(uint64_t *x, int count, int first, int second) {
  for (int i = 0; i < count; i++) {
    const uint64_t before = x[first * count + i];
    x[first * count + i] = x[second * count + i];
    x[second * count + i] = before;
  }
}

static void exchange_row(const smma_exchanged_unit *u, const smma_instruction *i, smma_row *row) {
  exchange(row->a, u->group, u->exchanged[0], u->exchanged[1]);
  exchange(row->b, u->group, u->exchanged[0], u->exchanged[1]);
  if (!i->scale_block) return;
  exchange(row->scale_a, u->group / i->scale_block, u->exchanged[0], u->exchanged[1]);
  exchange(row->scale_b, u->group / i->scale_block, u->exchanged[0], u->exchanged[1]);
}

static void close_exchanged(void *state) { (void)state; }

static void describe_exchanged(void *state, smma_unit_description *description) {
  *description = ((smma_exchanged_unit *)state)->inner->description;
}

static int exchanged_computes(void *state, const smma_instruction_info *i, char *message, size_t size) {
  (void)state, (void)i, (void)message, (void)size;
  return 0;
}

static int run_exchanged(void *state, const smma_instruction_info *info, const smma_batch *batch, char *message,
                         size_t size) {
  const smma_exchanged_unit *u = state;
  const smma_instruction *i = info->instruction;
  smma_rows rows = smma_rows_of_batch(i, batch), other;
  smma_error error;
  bool done = smma_rows_allocate(i, batch->rows, &other) || smma_no_memory(&error);
  for (size_t n = 0; done && n < batch->rows; n++) {
    smma_row row;
    smma_rows_get(&rows, n, &row);
    exchange_row(u, i, &row);
    smma_rows_put(&other, n, &row);
  }
  done = done && smma_unit_ask(u->inner, &other, 0, batch->rows, batch->d, &error);
  smma_rows_free(&other);
  if (!done) snprintf(message, size, "%s", error.text);
  return !done;
}

static const smma_unit_methods exchanged_methods = {
    SMMA_UNIT_ABI, NULL, close_exchanged, describe_exchanged, exchanged_computes, run_exchanged};

void smma_exchanged_open(smma_exchanged_unit *u, smma_unit *inner, int group, int first, int second) {
  *u = (smma_exchanged_unit){.inner = inner, .group = group, .exchanged = {first, second}};
  u->unit = (smma_unit){.methods = &exchanged_methods, .state = u, .description = inner->description};
  snprintf(u->unit.name, sizeof u->unit.name, "%.200s", inner->name);
}
