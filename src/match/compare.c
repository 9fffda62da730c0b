#include "match/compare.h"

#include <stdlib.h>

#include "host/load.h"
#include "plan/schedule.h"
#include "unit/unit.h"

uint64_t smma_match_d(const smma_match_data *data, size_t i, size_t j) {
  return smma_load(smma_bytes_of(data->d_format), data->d, i * data->n + j);
}

/* Returns an integer in the order of the values of encodings; -0 and +0 are adjacent. */
static int64_t order_of(smma_format format, uint64_t x) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t sign = UINT64_C(1) << (f.bits - 1);
  if (f.specials == SMMA_SPECIALS_INTEGER) return (int64_t)(int32_t)x;
  return x & sign ? -1 - (int64_t)(x & ~sign) : (int64_t)x;
}

static void note_difference(const smma_match_data *data, size_t i, size_t j, uint64_t got, smma_match_difference *d) {
  const smma_encoding f = smma_encoding_of(data->d_format);
  const uint64_t expected = smma_match_d(data, i, j);
  const smma_kind x = smma_decode(f, expected).kind, y = smma_decode(f, got).kind;
  uint64_t apart;
  int64_t of_expected, of_got;
  if (expected == got || (x == SMMA_NAN && y == SMMA_NAN)) return;
  d->zeros += x == SMMA_ZERO && y == SMMA_ZERO;
  if (d->different++ == 0) {
    d->row = d->first_row = i, d->column = d->first_column = d->last_column = j;
    d->expected = expected, d->got = got;
  }
  d->last_row = i;
  if (j < d->first_column) d->first_column = j;
  if (j > d->last_column) d->last_column = j;
  if (x > SMMA_FINITE || y > SMMA_FINITE) {
    d->special++;
    return;
  }
  of_expected = order_of(data->d_format, expected), of_got = order_of(data->d_format, got);
  apart = of_expected > of_got ? (uint64_t)of_expected - (uint64_t)of_got : (uint64_t)of_got - (uint64_t)of_expected;
  if (apart > d->largest_ulps) d->largest_ulps = apart;
}

bool smma_match_take_c(const smma_match_data *data, const smma_instruction *i, void **c, bool *fits) {
  smma_conversion lost = {0};
  *c = NULL, *fits = true;
  if (!data->c) return true;
  *c = malloc(data->m * data->n * smma_bytes_of(i->c));
  if (!*c) return false;
  smma_convert(data->c_format, data->c, i->c, *c, data->m * data->n, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT,
               &lost);
  *fits = lost.changed == 0;
  return true;
}

static bool is_stopped(size_t done, size_t all, void *context) {
  (void)done, (void)all, (void)context;
  return smma_units_stopped();
}

void *smma_match_convert(smma_format from, const void *x, size_t rows, size_t columns, size_t leading, smma_format to,
                         size_t *changed) {
  char *y = malloc(rows * columns * smma_bytes_of(to) + 1);
  for (size_t i = 0; y && i < rows; i++) {
    smma_conversion lost = {0};
    smma_convert(from, (const char *)x + i * leading * smma_bytes_of(from), to, y + i * columns * smma_bytes_of(to),
                 columns, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, &lost);
    *changed += lost.changed;
  }
  return y;
}

/* The operands of an FMA, converted to the format of its sums: kernels compute FMA of FP32 and FP64, but not of every
   narrower format. `a` and `b` are NULL if the operands have this format, or if it does not hold all their numbers. */
typedef struct {
  smma_instruction instruction;
  void *a, *b;
} wide_operands;

/* Returns false if memory runs out. */
static bool widen(const smma_match_data *data, const smma_instruction *i, size_t rows, size_t columns,
                  wide_operands *x) {
  size_t changed = 0;
  bool complete;
  *x = (wide_operands){.instruction = *i};
  if (i->rule->rule.algorithm != SMMA_FMA || (i->a == i->d && i->b == i->d)) return true;
  x->a = smma_match_convert(i->a, data->a, rows, data->k, data->k, i->d, &changed);
  x->b = smma_match_convert(i->b, data->b, data->k, columns, data->n, i->d, &changed);
  complete = x->a && x->b;
  if (complete && !changed) {
    x->instruction.a = x->instruction.b = i->d;
  } else {
    free(x->a);
    free(x->b);
    x->a = x->b = NULL;
  }
  return complete;
}

smma_status smma_match_compare_part(const smma_match_data *data, const smma_instruction *instruction,
                                    const smma_plan *plan, const void *c, size_t rows, size_t columns,
                                    smma_match_difference *difference) {
  const smma_format to = smma_plan_d_format(plan, instruction);
  unsigned char *d = malloc(rows * columns * smma_bytes_of(to) + 1);
  smma_status status = SMMA_NO_MEMORY;
  smma_gemm_arguments g;
  wide_operands wide;
  *difference = (smma_match_difference){0};
  if (d && widen(data, instruction, rows, columns, &wide)) {
    smma_gemm_defaults(&g, sizeof g);
    g.m = rows, g.n = columns, g.k = data->k, g.lda = data->k, g.ldc = data->n;
    g.a = wide.a ? wide.a : data->a;
    g.b = wide.b ? wide.b : data->b, g.ldb = wide.b ? columns : data->n;
    g.c = c, g.d = d, g.plan = plan, g.threads = data->threads;
    if (plan && smma_plan_has(plan, SMMA_EPILOGUE_BIAS)) g.bias = data->bias;
    if (smma_plan_scaled_k(plan)) g.scale_a = data->scale_a, g.scale_b = data->scale_b;
    g.alpha = data->alpha, g.scale_d = data->scale_d, g.progress = is_stopped;
    if (c) g.beta = data->beta;
    status = smma_gemm(&wide.instruction, &g);
    free(wide.a);
    free(wide.b);
  }
  for (size_t x = 0; status == SMMA_OK && x < rows * columns; x++)
    note_difference(data, x / columns, x % columns, smma_load(smma_bytes_of(to), d, x), difference);
  free(d);
  return status;
}

bool smma_match_compare(const smma_match_data *data, const smma_instruction *instruction, const smma_plan *plan,
                        smma_match_difference *difference, smma_error *error) {
  void *c;
  bool fits;
  smma_status status = smma_match_take_c(data, instruction, &c, &fits) ? SMMA_OK : SMMA_NO_MEMORY;
  if (status == SMMA_OK && !fits) {
    free(c);
    return smma_fail(error, "-C: not all of its numbers are of the instruction's format");
  }
  if (status == SMMA_OK) status = smma_match_compare_part(data, instruction, plan, c, data->m, data->n, difference);
  free(c);
  return status == SMMA_OK || smma_fail(error, "%s", smma_status_text(status));
}
