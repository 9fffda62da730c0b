#include "tolerance/mutants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"

const char *smma_mutant_name(smma_mutant mutant) {
  static const char *const names[] = {
#define SMMA_MUTANT(symbol, name) name,
#include "tolerance/mutants.def"
#undef SMMA_MUTANT
  };
  return names[mutant];
}

/* Returns the number of products along K that the mutant drops. */
static size_t dropped(smma_mutant mutant) {
  switch (mutant) {
    case SMMA_MUTANT_LAST_64: return 64;
    case SMMA_MUTANT_LAST_32: return 32;
    case SMMA_MUTANT_LAST_16: return 16;
    case SMMA_MUTANT_LAST_1: return 1;
    default: return 0;
  }
}

bool smma_mutant_applies(smma_mutant mutant, const smma_gemm_arguments *g) {
  switch (mutant) {
    case SMMA_MUTANT_ORDER_A: return g->m > 1 && g->k > 1;
    case SMMA_MUTANT_ORDER_B: return g->n > 1 && g->k > 1;
    case SMMA_MUTANT_ORDER_D: return g->m > 1 && g->n > 1;
    case SMMA_MUTANT_ONE_ELEMENT: return g->m * g->n > 1;
    case SMMA_MUTANT_WITHOUT_C: return g->c && g->beta != 0;
    default: return dropped(mutant) < g->k;
  }
}

static double stored_value(smma_format stored, double value) {
  return smma_format_decode(stored, smma_format_encode(stored, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
}

bool smma_product_compute(const smma_instruction *instruction, const smma_gemm_arguments *product, smma_format stored,
                          double *values) {
  smma_gemm_arguments g = *product;
  const smma_format d = smma_plan_d_format(g.plan, instruction);
  const size_t count = g.m * g.n, bytes = smma_format_bytes(d);
  g.d = calloc(count + 1, bytes);
  if (!g.d || smma_gemm(instruction, &g) != SMMA_OK) {
    free(g.d);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    values[i] = smma_format_decode(d, smma_load(bytes, g.d, i));
    if (stored != d) values[i] = stored_value(stored, values[i]);
  }
  free(g.d);
  return true;
}

/* Multiplies with the last columns of A set to zero, so that scale factors keep their positions. */
static bool without_last(const smma_instruction *instruction, const smma_gemm_arguments *product, size_t count,
                         smma_format stored, double *values) {
  smma_gemm_arguments g = *product;
  smma_instruction_info info;
  size_t bytes;
  unsigned char *a;
  bool done;
  if (smma_describe(instruction, &info, sizeof info) != SMMA_OK) return false;
  bytes = smma_format_bytes(info.a);
  a = malloc(g.m * g.k * bytes);
  if (!a) return false;
  memcpy(a, g.a, g.m * g.k * bytes);
  for (size_t i = 0; i < g.m; i++) memset(a + ((i + 1) * g.k - count) * bytes, 0, count * bytes);
  g.a = a;
  done = smma_product_compute(instruction, &g, stored, values);
  free(a);
  return done;
}

/* Stores the product column-major and reads it row-major. */
static void turn(size_t m, size_t n, const double *right, double *values) {
  for (size_t x = 0; x < m * n; x++) values[x] = right[x % m * n + x / m];
}

bool smma_mutant_compute(smma_mutant mutant, const smma_instruction *instruction, const smma_gemm_arguments *product,
                         smma_format stored, const double *right, double *values) {
  const size_t count = product->m * product->n;
  smma_gemm_arguments g = *product;
  if (dropped(mutant)) return without_last(instruction, product, dropped(mutant), stored, values);
  memcpy(values, right, count * sizeof *values);
  switch (mutant) {
    case SMMA_MUTANT_ORDER_A: g.order_a = SMMA_COLUMN_MAJOR; break;
    case SMMA_MUTANT_ORDER_B: g.order_b = SMMA_COLUMN_MAJOR; break;
    case SMMA_MUTANT_WITHOUT_C: g.c = NULL; break;
    case SMMA_MUTANT_ORDER_D: turn(g.m, g.n, right, values); return true;
    case SMMA_MUTANT_ONE_ELEMENT: values[count / 2] = right[count / 2 - 1]; return true;
    default: {
      const double factor = mutant == SMMA_MUTANT_ZEROS ? 0 : mutant == SMMA_MUTANT_TWICE ? 2 : 1.1;
      for (size_t i = 0; i < count; i++) values[i] = stored_value(stored, factor == 0 ? 0 : factor * right[i]);
      return true;
    }
  }
  return smma_product_compute(instruction, &g, stored, values);
}
