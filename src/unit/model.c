/* The models of the catalogue as a unit: the reference core, on all cores of the machine or on a device. */
#include <stdio.h>

#include "device/rows.h"
#include "unit/unit.h"

static int model_open(const char *arguments, void **unit, char *message, size_t size) {
  char why[SMMA_DEVICE_MESSAGE];
  *unit = NULL;
  if (!arguments) return 0;
  *unit = (void *)smma_device_open(arguments, why);
  if (!*unit) snprintf(message, size, "%s", why);
  return *unit == NULL;
}

static void model_close(void *unit) { (void)unit; }

static void model_describe(void *unit, smma_unit_description *description) {
  const smma_device *device = unit;
  snprintf(description->device, sizeof description->device, "SoftMMA's models%s%.100s", device ? " on " : "",
           device ? device->is.name : "");
  snprintf(description->driver, sizeof description->driver, "%s%s%.40s", smma_version(), device ? ", " : "",
           device ? device->is.driver : "");
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

/* `selection` as in smma_device_rows. */
static bool run_on_device(const smma_device *device, const smma_instruction *i, const smma_row_selection *selection,
                          const smma_batch *x, char message[SMMA_DEVICE_MESSAGE]) {
  const smma_operation o = smma_operation_of(i);
  bool done;
  smma_device_lock(device);
  done = smma_device_rows(device, &o, selection, x, message);
  smma_device_unlock(device);
  return done;
}

bool smma_unit_generates(const smma_unit *u) { return u->methods == &smma_unit_model && u->state; }

bool smma_unit_generate(const smma_unit *u, const smma_row_selection *selection, size_t count, smma_rows *rows,
                        smma_error *error) {
  const smma_batch all = smma_rows_batch(rows, 0, count, NULL);
  char why[SMMA_DEVICE_MESSAGE];
  return run_on_device(u->state, rows->instruction, selection, &all, why) ||
         smma_fail(error, "%s: %s: %s", u->name, rows->instruction->name, why);
}

static int model_run(void *unit, const smma_instruction_info *info, const smma_batch *batch, char *message,
                     size_t size) {
  char why[SMMA_DEVICE_MESSAGE];
  if (!unit) return smma_unit_run_model(info->instruction, batch, message, size);
  if (run_on_device(unit, info->instruction, NULL, batch, why)) return 0;
  snprintf(message, size, "%s", why);
  return 1;
}

const smma_unit_methods smma_unit_model = {SMMA_UNIT_ABI,  model_open,     model_close,
                                           model_describe, model_computes, model_run};
