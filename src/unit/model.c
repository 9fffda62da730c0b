/* Models as units. The catalogue's models each compute their own instruction. A file's model computes every
   instruction with the same formats and K. The reference core runs them, on all CPU cores of the machine or on a
   device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/rows.h"
#include "io/custom_file.h"
#include "rows/generate.h"
#include "unit/unit.h"

typedef struct {
  const smma_device *device;      /* NULL: this CPU */
  const smma_instruction *custom; /* a file's unit; NULL: the catalogue's models */
} model;

static const model *model_of(const smma_unit *u) {
  return u->methods == &smma_unit_model || u->methods == &smma_unit_custom ? u->state : NULL;
}

const smma_instruction *smma_unit_custom_instruction(const smma_unit *u) {
  const model *m = model_of(u);
  return m ? m->custom : NULL;
}

/* Returns the instruction whose model computes instruction i. */
static const smma_instruction *modelled(const model *m, const smma_instruction *i) { return m->custom ? m->custom : i; }

/* ---- Opening ---- */

/* Opens a model: `device` is the name of a device or NULL for this CPU; `path` is a file that describes the model, or
   NULL for the catalogue's models. */
static int open_model(const char *device, const char *path, void **unit, char *message, size_t size) {
  char why[SMMA_DEVICE_MESSAGE];
  model opened = {NULL, NULL}, *kept;
  smma_error error;
  if (path && !(opened.custom = smma_custom_load(path, &error))) return snprintf(message, size, "%s", error.text), 1;
  if (device && !(opened.device = smma_device_open(device, why))) return snprintf(message, size, "%s", why), 1;
  kept = malloc(sizeof *kept);
  if (!kept) return snprintf(message, size, "out of memory"), 1;
  *kept = opened;
  *unit = kept;
  return 0;
}

static int model_open(const char *arguments, void **unit, char *message, size_t size) {
  return open_model(arguments, NULL, unit, message, size);
}

/* Opens "FILE" or "DEVICE:FILE". The device may include a number. */
static int custom_open(const char *arguments, void **unit, char *message, size_t size) {
  const char *path = arguments;
  char device[64] = "";
  for (const char *colon = strchr(arguments, ':'); colon; colon = strchr(colon + 1, ':')) {
    char prefix[sizeof device];
    if (snprintf(prefix, sizeof prefix, "%.*s", (int)(colon - arguments), arguments) >= (int)sizeof prefix) break;
    if (smma_is_device_name(prefix)) path = colon + 1, memcpy(device, prefix, sizeof device);
  }
  return open_model(*device ? device : NULL, path, unit, message, size);
}

static void close_model(void *unit) { free(unit); }

static void describe_model(void *unit, smma_unit_description *description) {
  const model *m = unit;
  char what[110] = "SoftMMA's models";
  if (m->custom) snprintf(what, sizeof what, "custom unit %.97s", m->custom->name);
  snprintf(description->device, sizeof description->device, "%s%s%.*s", what, m->device ? " on " : "",
           (int)(sizeof description->device - strlen(what) - sizeof " on "), m->device ? m->device->is.name : "");
  snprintf(description->driver, sizeof description->driver, "%s%s%.40s", smma_version(), m->device ? ", " : "",
           m->device ? m->device->is.driver : "");
}

static int computes(void *unit, const smma_instruction_info *other, char *message, size_t size) {
  const model *m = unit;
  smma_instruction_info own;
  if (!m->custom) return 0;
  smma_describe(m->custom, &own, sizeof own);
  if (own.k == other->k && own.a == other->a && own.b == other->b && own.c == other->c && own.d == other->d &&
      own.scale == other->scale && own.scale_block == other->scale_block)
    return 0;
  snprintf(message, size, "the custom unit has k = %d, a %s, b %s, c %s, d %s, scale %s per %d", own.k,
           smma_format_name(own.a), smma_format_name(own.b), smma_format_name(own.c), smma_format_name(own.d),
           smma_format_name(own.scale), own.scale_block);
  return 1;
}

/* ---- Rows ---- */

/* Number of test vectors computed between checks for a stop request: some milliseconds. */
enum { BATCH_ROWS = 8192 };

static int run_on_cpu(const smma_instruction *i, const smma_batch *batch, char *message, size_t size) {
  const smma_rows rows = smma_rows_of_batch(i, batch);
  smma_status status = SMMA_OK;
  for (size_t first = 0; first < batch->rows && status == SMMA_OK; first += BATCH_ROWS) {
    const size_t left = batch->rows - first;
    const smma_batch part = smma_rows_batch(&rows, first, left < BATCH_ROWS ? left : BATCH_ROWS, NULL);
    status = smma_units_stopped() ? SMMA_STOPPED : smma_dot_rows(i, &part, 0);
  }
  if (status != SMMA_OK) snprintf(message, size, "%s", smma_status_text(status));
  return (int)status;
}

/* Computes test vectors on the device; `selection` as in smma_device_rows. */
static bool run_on_device(const model *m, const smma_instruction *i, const smma_row_selection *selection,
                          const smma_batch *x, char message[SMMA_DEVICE_MESSAGE]) {
  const smma_operation o = smma_operation_of(modelled(m, i));
  bool done;
  smma_device_lock(m->device);
  done = smma_device_rows(m->device, &o, selection, x, message);
  smma_device_unlock(m->device);
  return done;
}

static int run(void *unit, const smma_instruction_info *info, const smma_batch *batch, char *message, size_t size) {
  const model *m = unit;
  char why[SMMA_DEVICE_MESSAGE];
  if (!m->device) return run_on_cpu(modelled(m, info->instruction), batch, message, size);
  if (run_on_device(m, info->instruction, NULL, batch, why)) return 0;
  snprintf(message, size, "%s", why);
  return 1;
}

bool smma_unit_generates(const smma_unit *u) {
  const model *m = model_of(u);
  return m && m->device;
}

bool smma_unit_generate(const smma_unit *u, const smma_row_selection *selection, size_t count, smma_rows *rows,
                        smma_error *error) {
  const smma_batch all = smma_rows_batch(rows, 0, count, NULL);
  char why[SMMA_DEVICE_MESSAGE];
  return run_on_device(model_of(u), rows->instruction, selection, &all, why) ||
         smma_fail(error, "%s: %s: %s", u->name, rows->instruction->name, why);
}

/* ---- Comparing on a device ---- */

/* Number of test vectors compared at a time: some milliseconds of a GPU, and some tenths of a second of a CPU. */
enum { BY_GPU = 1 << 22, BY_CPU = 1 << 16 };

size_t smma_units_compare_at_once(const smma_unit *x, const smma_unit *y) {
  const model *m = model_of(x), *n = model_of(y);
  if (!m || !n || !m->device || m->device != n->device) return 0;
  return m->device->is.width > 1 ? BY_CPU : BY_GPU;
}

bool smma_units_compare(const smma_unit *x, const smma_unit *y, const smma_instruction *i,
                        const smma_row_selection *selection, size_t count, smma_rows_difference *found,
                        smma_error *error) {
  const model *m = model_of(x), *n = model_of(y);
  const smma_operation o = smma_operation_of(i),
                       both[] = {smma_operation_of(modelled(m, i)), smma_operation_of(modelled(n, i))};
  char why[SMMA_DEVICE_MESSAGE];
  smma_device_difference on_device;
  bool done;
  smma_device_lock(m->device);
  done = smma_device_compare(m->device, both, o.rule.nan == SMMA_NAN_QUIET, selection, count, &on_device, why);
  smma_device_unlock(m->device);
  *found = (smma_rows_difference){on_device.rows, on_device.first};
  return done || smma_fail(error, "%s: %s: %s", x->name, i->name, why);
}

/* Makes and computes the test vectors of a selection on the device (`there`) and on this CPU (`here`). Returns false
   if vectors or results differ. */
static bool same_rows(const smma_unit *u, const smma_row_selection *selection, smma_rows *there, smma_rows *here,
                      smma_error *error) {
  const smma_row_selection *s = selection;
  const smma_batch batch = smma_rows_batch(here, 0, here->capacity, NULL);
  char why[SMMA_DEVICE_MESSAGE];
  if (!smma_unit_generate(u, s, there->capacity, there, error)) return false;
  smma_generate_rows(here, s->seed, s->first, here->capacity, s->kinds, (smma_row_kind)s->one);
  if (run_on_cpu(modelled(model_of(u), here->instruction), &batch, why, sizeof why) != 0)
    return smma_fail(error, "%s: %s: %s", u->name, here->instruction->name, why);
  for (int p = 0; p < SMMA_PARTS; p++)
    if (here->part[p] &&
        memcmp(here->part[p], there->part[p], here->capacity * smma_part_stride(&here->layout.part[p])) != 0)
      return smma_fail(error, "%s: %s: %s makes or computes other rows than this CPU; it is not used", u->name,
                       here->instruction->name, model_of(u)->device->is.name);
  return true;
}

static smma_rows_difference difference_of(const smma_operation *o, const smma_rows *x, const smma_rows *y) {
  smma_rows_difference d = {0, 0};
  for (size_t i = x->capacity; i-- > 0;)
    if (!smma_same_result(o, smma_rows_result(x, i), smma_rows_result(y, i))) d.rows++, d.first = i;
  return d;
}

/* Checks a comparison against this CPU. `rows` have room for all vectors that are checked. */
static bool check_compare(const smma_unit *x, const smma_unit *y, const smma_row_selection *selection,
                          smma_rows rows[3], smma_error *error) {
  const smma_instruction *i = rows[0].instruction;
  const smma_operation o = smma_operation_of(i);
  smma_rows_difference found, expected;
  if (!same_rows(x, selection, &rows[0], &rows[1], error) || !same_rows(y, selection, &rows[0], &rows[2], error) ||
      !smma_units_compare(x, y, i, selection, rows[0].capacity, &found, error))
    return false;
  expected = difference_of(&o, &rows[1], &rows[2]);
  if (found.rows == expected.rows && (!found.rows || found.first == expected.first)) return true;
  return smma_fail(error, "%s: %s: %s compares wrong: it finds %zu rows that differ, and there are %zu; it is not used",
                   x->name, i->name, model_of(x)->device->is.name, found.rows, expected.rows);
}

bool smma_units_check_compare(const smma_unit *x, const smma_unit *y, const smma_instruction *i,
                              const smma_row_selection *selection, size_t count, smma_error *error) {
  smma_rows rows[3] = {{.instruction = NULL}};
  bool done = true;
  for (int n = 0; n < 3; n++) done = done && smma_rows_allocate(i, count, &rows[n]);
  done = done ? check_compare(x, y, selection, rows, error) : smma_no_memory(error);
  for (int n = 0; n < 3; n++) smma_rows_free(&rows[n]);
  return done;
}

const smma_unit_methods smma_unit_model = {SMMA_UNIT_ABI, model_open, close_model, describe_model, computes, run};
const smma_unit_methods smma_unit_custom = {SMMA_UNIT_ABI, custom_open, close_model, describe_model, computes, run};
