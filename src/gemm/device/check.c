/* Checks a device with the first product of an operation: its result from generated operands must have the core's
   bits, otherwise the device is not used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/draws.h"
#include "gemm/device/device.h"
#include "host/load.h"

enum {
  LINES_OF_A = 40, /* rows of D */
  LINES_OF_B = 72, /* columns of D: more than one group of 64, the second of which is incomplete */
  STEPS = 3        /* instruction steps */
};

/* Operands, the core's result (`expected`) and the device's (`got`), in one allocation. */
typedef struct {
  unsigned char *a, *b, *c, *scale_a, *scale_b, *expected, *got;
} matrices;

/* Returns the bytes that all matrices take. If `memory` is not NULL, sets their addresses in it. */
static size_t lay_out(const smma_operation *o, unsigned char *memory, matrices *x) {
  const size_t depth = STEPS * (size_t)o->k, scales = STEPS * (size_t)smma_scale_count(o->k, o->scale_block);
  const size_t sizes[] = {LINES_OF_A * depth * smma_bytes_of(o->a),      LINES_OF_B * depth * smma_bytes_of(o->b),
                          LINES_OF_A * LINES_OF_B * smma_bytes_of(o->c), LINES_OF_A * scales * smma_bytes_of(o->scale),
                          LINES_OF_B * scales * smma_bytes_of(o->scale), LINES_OF_A * LINES_OF_B * smma_bytes_of(o->d),
                          LINES_OF_A * LINES_OF_B * smma_bytes_of(o->d)};
  unsigned char **part[] = {&x->a, &x->b, &x->c, &x->scale_a, &x->scale_b, &x->expected, &x->got};
  size_t all = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    *part[i] = memory ? memory + all : NULL;
    all += sizes[i];
  }
  return all;
}

/* Stores `count` encodings as entry `at` of an array whose entries have `count` encodings. */
static void store(smma_format format, unsigned char *array, size_t at, size_t count, const uint64_t *codes) {
  for (size_t i = 0; i < count; i++) smma_store(smma_bytes_of(format), array, at * count + i, codes[i]);
}

/* Generates the operands: every other line has normal numbers, which fast kernels compute; the remaining lines have the
   kinds of smma_row_kind in turn, many of which fast kernels leave to the core. */
static void fill(const smma_operation *o, const matrices *x) {
  const smma_row_recipe recipe = smma_row_recipe_of(o);
  for (size_t line = 0; line < LINES_OF_A + LINES_OF_B; line++)
    for (size_t step = 0; step < STEPS; step++) {
      const bool of_a = line < LINES_OF_A;
      const size_t at = (of_a ? line : line - LINES_OF_A) * STEPS + step;
      smma_draws draws = smma_draws_of(1, line * STEPS + step);
      smma_row row;
      smma_fill_row(&draws, &recipe, line % 2 ? SMMA_ROWS_NORMAL : (smma_row_kind)(line / 2 % SMMA_ROWS_IN_TURN), &row);
      store(of_a ? o->a : o->b, of_a ? x->a : x->b, at, (size_t)recipe.k, of_a ? row.a : row.b);
      store(o->scale, of_a ? x->scale_a : x->scale_b, at, (size_t)recipe.scales, of_a ? row.scale_a : row.scale_b);
      for (size_t i = 0; !of_a && step == 0 && i < LINES_OF_A; i++)
        smma_store(smma_bytes_of(o->c), x->c, i * LINES_OF_B + line - LINES_OF_A, row.c);
    }
}

/* Computes the product of x's operands into d: on a device, or with the core if `device` is NULL. If `there`, the
   matrices are in the device's memory. */
static smma_status multiply(const smma_operation *o, const matrices *x, const smma_device *device, bool there, void *d,
                            char *message) {
  smma_gemm_arguments g = {.size = sizeof g, .alpha = 1, .beta = 1, .threads = 1, .kernel = "core"};
  smma_multiplier multiplier;
  smma_status status;
  smma_error error = {SMMA_OK, ""};
  g.m = LINES_OF_A, g.n = LINES_OF_B, g.k = STEPS * (size_t)o->k;
  g.a = x->a, g.b = x->b, g.c = x->c, g.d = d, g.order_b = SMMA_COLUMN_MAJOR;
  if (o->scale_block) g.scale_a = x->scale_a, g.scale_b = x->scale_b;
  g.error = &error;
  status = smma_multiplier_make(o, &g, false, &multiplier);
  if (status != SMMA_OK) return status;
  multiplier.device = device, multiplier.with.on_device = there;
  status = device ? smma_compute_unchecked(&multiplier) : smma_multiplier_compute(&multiplier);
  smma_multiplier_end(&multiplier);
  snprintf(message, SMMA_DEVICE_MESSAGE, "%s", error.text);
  return status;
}

/* Computes the product on the device into x->got. If other code can address the device's memory, the matrices are
   copied there first, because this checks more of the device's kernels. */
static smma_status multiply_there(const smma_operation *o, const matrices *x, unsigned char *memory, size_t bytes,
                                  const smma_device *device, char *message) {
  const smma_driver *driver = device->driver;
  const size_t result = (size_t)(x->got - memory);
  smma_status status = SMMA_DEVICE_FAILED;
  unsigned char *copy;
  matrices y;
  if (!driver->holds) return multiply(o, x, device, false, x->got, message);
  smma_device_lock(device);
  copy = driver->allocate(device->state, bytes, message);
  if (copy && driver->write(device->state, copy, memory, bytes, message)) status = SMMA_OK;
  smma_device_unlock(device);
  lay_out(o, copy, &y);
  if (status == SMMA_OK) status = multiply(o, &y, device, true, y.got, message);
  smma_device_lock(device);
  if (status == SMMA_OK && !driver->read(device->state, x->got, copy + result, bytes - result, message))
    status = SMMA_DEVICE_FAILED;
  driver->release(device->state, copy);
  smma_device_unlock(device);
  return status;
}

smma_status smma_check_device(const smma_device *device, const smma_operation *o, char message[SMMA_DEVICE_MESSAGE]) {
  const size_t bytes = smma_bytes_of(o->d), all = lay_out(o, NULL, &(matrices){0});
  unsigned char *memory = calloc(all, 1);
  size_t wrong = 0;
  smma_status status;
  matrices x;
  if (!memory) return SMMA_NO_MEMORY;
  lay_out(o, memory, &x);
  fill(o, &x);
  status = multiply(o, &x, NULL, false, x.expected, message);
  if (status == SMMA_OK) status = multiply_there(o, &x, memory, all, device, message);
  for (size_t i = 0; status == SMMA_OK && i < LINES_OF_A * LINES_OF_B; i++)
    wrong += memcmp(x.expected + i * bytes, x.got + i * bytes, bytes) != 0;
  free(memory);
  if (!wrong) return status;
  snprintf(message, SMMA_DEVICE_MESSAGE, "%.100s computes wrong: %zu of %d results of its check differ; it is not used",
           device->is.name, wrong, LINES_OF_A * LINES_OF_B);
  return SMMA_DEVICE_FAILED;
}
