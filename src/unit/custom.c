/* A custom unit as a unit: its model, for every instruction with the same formats and K. */
#include <stdio.h>
#include <string.h>

#include "io/custom_file.h"
#include "unit/unit.h"

static int custom_open(const char *path, void **unit, char *message, size_t size) {
  smma_error error;
  const smma_instruction *i = smma_custom_load(path, &error);
  *unit = (void *)i;
  if (!i) snprintf(message, size, "%s", error.text);
  return i == NULL;
}

static void custom_close(void *unit) { (void)unit; }

static void custom_describe(void *unit, smma_unit_description *description) {
  const smma_instruction *i = unit;
  snprintf(description->device, sizeof description->device, "custom unit %s", i->name);
  snprintf(description->driver, sizeof description->driver, "%s", smma_version());
}

static int custom_computes(void *unit, const smma_instruction_info *other, char *message, size_t size) {
  smma_instruction_info own;
  smma_describe(unit, &own, sizeof own);
  if (own.k == other->k && own.a == other->a && own.b == other->b && own.c == other->c && own.d == other->d &&
      own.scale == other->scale && own.scale_block == other->scale_block)
    return 0;
  snprintf(message, size, "the custom unit has k = %d, a %s, b %s, c %s, d %s, scale %s per %d", own.k,
           smma_format_name(own.a), smma_format_name(own.b), smma_format_name(own.c), smma_format_name(own.d),
           smma_format_name(own.scale), own.scale_block);
  return 1;
}

static int custom_run(void *unit, const smma_instruction_info *other, const smma_batch *batch, char *message,
                      size_t size) {
  (void)other;
  return smma_unit_run_model(unit, batch, message, size);
}

const smma_unit_methods smma_unit_custom = {SMMA_UNIT_ABI,   custom_open,     custom_close,
                                            custom_describe, custom_computes, custom_run};
