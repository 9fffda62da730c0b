/* The models of the catalogue as a unit: the reference core, on all cores of the machine. */
#include <stdio.h>

#include "host/thread.h"
#include "unit/unit.h"

static int model_open(const char *arguments, void **unit, char *message, size_t size) {
  (void)arguments, (void)message, (void)size;
  *unit = NULL;
  return 0;
}

static void model_close(void *unit) { (void)unit; }

static void model_describe(void *unit, smma_unit_description *description) {
  (void)unit;
  snprintf(description->device, sizeof description->device, "SoftMMA's models");
  snprintf(description->driver, sizeof description->driver, "%s", smma_version());
}

static int model_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  (void)unit, (void)i, (void)message, (void)size;
  return 0;
}

static const void *at(const void *array, size_t container_bytes, size_t index) {
  return array ? (const unsigned char *)array + container_bytes * index : NULL;
}

int smma_unit_run_model(const smma_instruction *i, const smma_batch *batch, char *message, size_t size) {
  size_t a = smma_format_bytes(i->a), b = smma_format_bytes(i->b);
  size_t c = smma_format_bytes(i->c), d = smma_format_bytes(i->d);
  size_t k = (size_t)i->k, scale = smma_format_bytes(i->scale);
  size_t scales = (size_t)smma_scale_count(i->k, i->scale_block);
  int status = SMMA_OK;
#pragma omp parallel for num_threads(smma_default_threads()) schedule(static) if (batch->rows > 256)
  for (size_t row = 0; row < batch->rows; row++) {
    if (smma_units_stopped()) continue;
    int s = smma_dot(i, at(batch->a, a, row * k), at(batch->b, b, row * k), at(batch->c, c, row),
                     at(batch->scale_a, scale, row * scales), at(batch->scale_b, scale, row * scales),
                     (unsigned char *)batch->d + d * row);
    if (s != SMMA_OK) {
#pragma omp atomic write
      status = s;
    }
  }
  if (smma_units_stopped()) status = SMMA_STOPPED;
  if (status != SMMA_OK) snprintf(message, size, "%s", smma_status_text((smma_status)status));
  return status;
}

static int model_run(void *unit, const smma_instruction_info *info, const smma_batch *batch, char *message,
                     size_t size) {
  (void)unit;
  return smma_unit_run_model(info->instruction, batch, message, size);
}

const smma_unit_methods smma_unit_model = {SMMA_UNIT_ABI,  model_open,     model_close,
                                           model_describe, model_computes, model_run};
