#include "equal/planned_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "host/thread.h"

/* ---- One element ---- */

typedef struct {
  uint64_t *registers;
  smma_number *block_a, *block_b; /* scale factors of all blocks */
} workspace;

static size_t blocks_of(const smma_planned_unit *u) {
  return u->schedule.steps * (size_t)smma_scale_count(u->operation.k, u->operation.scale_block);
}

static bool make_workspace(const smma_planned_unit *u, workspace *w) {
  const smma_number one = {1, 0, 0, SMMA_FINITE, 0};
  const size_t blocks = blocks_of(u);
  w->registers = calloc(u->schedule.registers + 1, sizeof *w->registers);
  w->block_a = calloc(2 * blocks + 1, sizeof *w->block_a);
  if (!w->registers || !w->block_a) return false;
  w->block_b = w->block_a + blocks;
  for (size_t i = 0; i < 2 * blocks; i++) w->block_a[i] = one;
  return true;
}

static void free_workspace(workspace *w) { free(w->registers), free(w->block_a); }

static uint64_t compute(const smma_planned_unit *u, workspace *w, const smma_row *row) {
  const smma_operation rows = smma_operation_of(u->as);
  const smma_nan_policy nan = u->operation.rule.nan;
  const smma_format outer = smma_outer_format(u->operation.d);
  const smma_planned_factors *f = &u->factors;
  const smma_format d = u->operation.d;
  const uint64_t c = u->takes_c ? row->c : 0, start = smma_reformat(u->as->c, d, nan, c);
  smma_decoded x;
  smma_row_decode(&rows, row, &x);
  for (int i = 0; i < smma_scale_count(rows.k, rows.scale_block); i++)
    w->block_a[u->block[i]] = x.scale_a[i], w->block_b[u->block[i]] = x.scale_b[i];
  const smma_plan_element e = {.operation = u->operation,
                               .schedule = &u->schedule,
                               .a = x.a,
                               .b = x.b,
                               .block_a = w->block_a,
                               .block_b = w->block_b,
                               .part_a = u->part[0],
                               .part_b = u->part[1],
                               .part_k = u->part_k,
                               .start = u->starts_from_c ? smma_reformat(d, outer, nan, start) : 0};
  uint64_t sum = smma_plan_sum(&e, w->registers, NULL, NULL);
  if (u->plan->epilogues) {
    const smma_epilogue_operands with = {f->alpha, f->beta, (uint32_t)smma_reformat(u->as->c, SMMA_F32, nan, c),
                                         f->bias, f->scale_d};
    sum = smma_plan_finish(u->plan, nan, &with, (uint32_t)sum);
  }
  return smma_reformat(outer, u->as->d, nan, sum);
}

/* ---- The unit ---- */

static void close_unit(void *state) { (void)state; }

static void describe(void *state, smma_unit_description *description) {
  (void)state;
  memset(description, 0, sizeof *description);
}

static int computes(void *state, const smma_instruction_info *i, char *message, size_t size) {
  (void)state, (void)i, (void)message, (void)size;
  return 0;
}

static int run(void *state, const smma_instruction_info *info, const smma_batch *batch, char *message, size_t size) {
  const smma_planned_unit *u = state;
  const smma_rows rows = smma_rows_of_batch(u->as, batch);
  const size_t bytes = smma_bytes_of(u->as->d);
  int failed = 0;
  (void)info;
#pragma omp parallel num_threads(smma_default_threads())
  {
    workspace w = {0};
    const bool made = make_workspace(u, &w);
#pragma omp for schedule(static)
    for (size_t i = 0; i < batch->rows; i++) {
      smma_row row;
      if (made) {
        smma_rows_get(&rows, i, &row);
        smma_store(bytes, batch->d, i, compute(u, &w, &row));
      } else {
#pragma omp atomic write
        failed = 1;
      }
    }
    free_workspace(&w);
  }
  if (failed) snprintf(message, size, "out of memory");
  return failed;
}

static const smma_unit_methods methods = {SMMA_UNIT_ABI, NULL, close_unit, describe, computes, run};

/* ---- Steps that matter ---- */

static size_t number_of(const size_t *place, size_t count, size_t k) {
  for (size_t i = 0; i < count; i++)
    if (place[i] == k) return i;
  return SMMA_NO_PRODUCT;
}

/* Copies the schedule without steps that add only zeros, if these are proved to change no sum. Keeps the first step,
   which may read C. */
static bool copy_schedule(smma_planned_unit *u, const smma_schedule *s, const size_t *place, bool keep_all) {
  const size_t width = s->k_per_step, count = (size_t)u->as->k;
  smma_schedule *copy = &u->schedule;
  size_t task = 0;
  *copy = *s;
  copy->steps = 0;
  copy->k = malloc((s->steps * width + 1) * sizeof *copy->k);
  copy->task = malloc((s->tasks + 1) * sizeof *copy->task);
  if (!copy->k || !copy->task) return false;
  for (size_t step = 0; step <= s->steps; step++) {
    size_t *k = copy->k + copy->steps * width, products = 0;
    for (; task < s->tasks && s->task[task].step == step; task++)
      copy->task[task] = s->task[task], copy->task[task].step = copy->steps;
    if (step == s->steps) break;
    for (size_t i = 0; i < width; i++) products += (k[i] = number_of(place, count, s->k[step * width + i])) != SIZE_MAX;
    copy->steps += keep_all || step == 0 || products;
  }
  return true;
}

static bool zeros_change_nothing(const smma_planned_unit *u) {
  const smma_operation *o = &u->operation;
  if (smma_zeros_add_nothing(o)) return true;
  return !u->starts_from_c && smma_is_off_negative_zero(o, true) && smma_zeros_keep_sums(o);
}

static bool make_parts(smma_planned_unit *u, size_t k) {
  const size_t count = u->part_k ? k / u->part_k + 1 : 0;
  u->part[0] = calloc(2 * count + 1, sizeof **u->part);
  if (!u->part[0]) return false;
  u->part[1] = u->part[0] + count;
  for (size_t i = 0; i < count; i++) u->part[0][i] = u->factors.part_a, u->part[1][i] = u->factors.part_b;
  return true;
}

bool smma_planned_open(smma_planned_unit *u, const smma_planned *t, const smma_plan *plan, const smma_schedule *s,
                       size_t k, const smma_instruction *as, const size_t *place, bool takes_c,
                       const smma_planned_factors *factors, smma_error *error) {
  const int group = as->scale_block;
  *u = (smma_planned_unit){.as = as,
                           .operation = smma_operation_of(t->instruction),
                           .plan = plan,
                           .takes_c = takes_c,
                           .starts_from_c = takes_c && plan->starts_from_c,
                           .factors = *factors,
                           .part_k = smma_plan_scaled_k(plan)};
  u->unit = (smma_unit){.methods = &methods, .state = u};
  snprintf(u->unit.name, sizeof u->unit.name, "%.200s", t->label);
  for (int i = 0; i < smma_scale_count(as->k, group); i++) u->block[i] = place[i * group] / (size_t)group;
  if (copy_schedule(u, s, place, group || !zeros_change_nothing(u)) && make_parts(u, k)) {
    u->operation.c = u->operation.d;
    return true;
  }
  smma_planned_close(u);
  return smma_no_memory(error);
}

void smma_planned_close(smma_planned_unit *u) {
  smma_schedule_free(&u->schedule);
  free(u->part[0]);
}
