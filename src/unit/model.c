/* The models of the catalogue as a unit: the reference core, on all cores of the machine. */
#include <stdio.h>

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

/* Rows that are computed between looks at whether units are to stop: some milliseconds. */
enum { AT_ONCE = 8192 };

int smma_unit_run_model(const smma_instruction *i, const smma_batch *batch, char *message, size_t size) {
  const smma_rows rows = smma_rows_of_batch(i, batch);
  smma_status status = SMMA_OK;
  for (size_t first = 0; first < batch->rows && status == SMMA_OK; first += AT_ONCE) {
    const size_t left = batch->rows - first;
    const smma_batch part = smma_rows_batch(&rows, first, left < AT_ONCE ? left : AT_ONCE, NULL);
    status = smma_units_stopped() ? SMMA_STOPPED : smma_dot_rows(i, &part, 0);
  }
  if (status != SMMA_OK) snprintf(message, size, "%s", smma_status_text(status));
  return (int)status;
}

static int model_run(void *unit, const smma_instruction_info *info, const smma_batch *batch, char *message,
                     size_t size) {
  (void)unit;
  return smma_unit_run_model(info->instruction, batch, message, size);
}

const smma_unit_methods smma_unit_model = {SMMA_UNIT_ABI,  model_open,     model_close,
                                           model_describe, model_computes, model_run};
