#define _POSIX_C_SOURCE 200809L
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/load.h"
#include "io/crc32c.h"
#include "isa/catalogue.h"
#include "isa/custom.h"
#include "isa/nearest.h"
#include "unit/recording.h"

const smma_unit_kind smma_unit_kinds[] = {
#define SMMA_UNIT(kind, takes, arguments, summary, methods) {#kind, SMMA_##takes, arguments, summary, methods},
#include "unit/unit.def"
#undef SMMA_UNIT
};
const size_t smma_unit_kind_count = sizeof smma_unit_kinds / sizeof smma_unit_kinds[0];

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static const smma_unit_kind *find_kind(const char *name, size_t length, smma_error *error) {
  smma_nearest nearest;
  char kind[64], list[256];
  snprintf(kind, sizeof kind, "%.*s", (int)length, name);
  smma_nearest_start(&nearest, kind);
  for (size_t i = 0; i < smma_unit_kind_count; i++) {
    if (strcmp(smma_unit_kinds[i].name, kind) == 0) return &smma_unit_kinds[i];
    smma_nearest_consider(&nearest, smma_unit_kinds[i].name, smma_unit_kinds[i].name);
  }
  smma_nearest_hint(&nearest, list, sizeof list);
  struct stat file;
  char path[4096]; /* the name, of which `kind` may have only the first characters */
  snprintf(path, sizeof path, "%.*s", (int)length, name);
  if (strchr(path, '/') && length < sizeof path && stat(path, &file))
    smma_fail(error, "%s: there is no such file", path);
  else if (strchr(path, '/') && length < sizeof path && S_ISREG(file.st_mode) && !ends_with(path, ".so") &&
           access(path, X_OK) != 0)
    smma_fail(error, "%s: it is not executable; type chmod +x %s", path, path);
  else if (ends_with(kind, ".so"))
    smma_fail(error, "unknown unit '%s'; a plug-in is plugin:%s", kind, kind);
  else if (strchr(kind, '/') || ends_with(kind, ".py") || ends_with(kind, ".sh"))
    smma_fail(error, "unknown unit '%s'; a program is pipe:%s%s", kind, strchr(kind, '/') ? "" : "./", kind);
  else if (smma_find_arch(kind) != SMMA_ARCH_COUNT)
    smma_fail(error, "'%s' is a GPU, and no unit; give it as an argument, or with --on", kind);
  else
    smma_fail(error, "unknown unit '%s'%s (see 'softmma units')", kind, list);
  return NULL;
}

bool smma_unit_is_kind(const char *text) {
  const size_t length = strcspn(text, ":");
  for (size_t i = 0; i < smma_unit_kind_count; i++)
    if (strlen(smma_unit_kinds[i].name) == length && strncmp(smma_unit_kinds[i].name, text, length) == 0) return true;
  return false;
}

bool smma_unit_of_file(const char *text, char *name, size_t size) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,=@%";
  static const char *const data[] = {".txt", ".bin", ".hex", ".csv", ".json", ".jsonl", ".npy"};
  const bool plugin = ends_with(text, ".so");
  struct stat file;
  if (text[strspn(text, plain)] || stat(text, &file) || !S_ISREG(file.st_mode) || (!plugin && access(text, X_OK) != 0))
    return false;
  if (smma_unit_is_kind(text)) return false;
  for (size_t i = 0; i < sizeof data / sizeof *data; i++)
    if (ends_with(text, data[i])) return false; /* on a file system where each file can be executed */
  const int length = snprintf(name, size, "%s:%s%s", plugin ? "plugin" : "pipe", strchr(text, '/') ? "" : "./", text);
  return length < (int)size;
}

bool smma_unit_is_program(const char *text) {
  char name[sizeof((smma_unit *)NULL)->name];
  return strncmp(text, "pipe:", strlen("pipe:")) == 0 || strncmp(text, "plugin:", strlen("plugin:")) == 0 ||
         smma_unit_of_file(text, name, sizeof name);
}

/* Like smma_unit_of_file, also of the file of a custom unit, which is "custom:PATH". */
static bool name_of_file(const char *text, char *name, size_t size) {
  if (smma_unit_of_file(text, name, size)) return true;
  return ends_with(text, ".json") && !smma_unit_is_kind(text) && snprintf(name, size, "custom:%s", text) < (int)size;
}

/* Sets `*checksum` to the CRC-32C of a custom unit's text, as smma_custom_write writes it. Returns false if memory runs
   out. */
static bool custom_checksum(const smma_instruction *i, uint32_t *checksum) {
  const size_t size = smma_custom_write(i, NULL, 0) + 1;
  char *text = malloc(size);
  if (!text) return false;
  smma_custom_write(i, text, size);
  *checksum = smma_crc32c(0, text, size - 1);
  free(text);
  return true;
}

/* Returns the CRC-32C of all rows of a recording. */
static uint32_t recording_checksum(const smma_unit *u) {
  size_t count;
  const smma_rows *rows = smma_recorded_rows(u, &count);
  uint32_t checksum = 0;
  for (int p = 0; p < SMMA_PARTS; p++)
    if (rows->part[p]) checksum = smma_crc32c(checksum, rows->part[p], count * smma_part_stride(&rows->layout.part[p]));
  return checksum;
}

/* Sets u->crc32c. Returns false if memory runs out. */
static bool set_checksum(smma_unit *u) {
  const smma_instruction *custom = smma_unit_custom_instruction(u);
  uint32_t checksum = 0;
  if (!custom && !smma_unit_is_recording(u)) return true;
  if (custom && !custom_checksum(custom, &checksum)) return false;
  if (!custom) checksum = recording_checksum(u);
  snprintf(u->crc32c, sizeof u->crc32c, "%08lx", (unsigned long)checksum);
  return true;
}

bool smma_unit_open(const char *given, smma_unit *u, smma_error *error) {
  char program[sizeof u->name];
  const char *name = name_of_file(given, program, sizeof program) ? program : given;
  const char *colon = strchr(name, ':'), *arguments = colon ? colon + 1 : NULL;
  const smma_unit_kind *kind = find_kind(name, colon ? (size_t)(colon - name) : strlen(name), error);
  char message[sizeof error->text] = "";
  *u = (smma_unit){0};
  if (!kind) return false;
  if (snprintf(u->name, sizeof u->name, "%s", name) >= (int)sizeof u->name)
    return smma_fail(error, "%.20s...: the unit's name is too long", name);
  if (kind->takes == SMMA_REQUIRED_ARGUMENTS && !(arguments && *arguments))
    return smma_fail(error, "%s: %s is missing; write %s:%s", kind->name, kind->arguments, kind->name, kind->arguments);
  if (kind->takes == SMMA_NO_ARGUMENTS && arguments)
    return smma_fail(error, "%s takes no arguments; write %s", kind->name, kind->name);
  if (kind->methods->open(arguments, &u->state, message, sizeof message) != 0)
    return smma_fail(error, "%s: %s", u->name, *message ? message : "the unit cannot be opened and does not say why");
  u->methods = kind->methods;
  u->methods->describe(u->state, &u->description);
  smma_make_printable(u->description.device);
  smma_make_printable(u->description.driver);
  smma_make_printable(u->description.toolkit);
  if (set_checksum(u)) return true;
  smma_unit_close(u);
  return smma_no_memory(error);
}

void smma_unit_close(smma_unit *u) {
  if (u->methods) u->methods->close(u->state);
  *u = (smma_unit){0};
}

smma_datum *smma_unit_datum(const smma_unit *u) {
  smma_datum *d = smma_datum_record();
  smma_put_text(d, "name", u->name);
  smma_put_text(d, "device", u->description.device);
  smma_put_text(d, "driver", u->description.driver);
  smma_put_text(d, "toolkit", u->description.toolkit);
  if (*u->crc32c) smma_put_text(d, "crc32c", u->crc32c);
  return d;
}

static bool read_text(const smma_datum *record, const char *key, char *to, size_t size) {
  const char *text = smma_datum_text_of(smma_datum_get(record, key));
  return text && snprintf(to, size, "%s", text) < (int)size;
}

bool smma_unit_read(const smma_datum *record, smma_unit *u) {
  smma_unit_description *d = &u->description;
  *u = (smma_unit){0};
  return read_text(record, "name", u->name, sizeof u->name) &&
         read_text(record, "device", d->device, sizeof d->device) &&
         read_text(record, "driver", d->driver, sizeof d->driver) &&
         read_text(record, "toolkit", d->toolkit, sizeof d->toolkit) &&
         (!smma_datum_get(record, "crc32c") || read_text(record, "crc32c", u->crc32c, sizeof u->crc32c));
}

const char *smma_unit_changed(const smma_unit *x, const smma_unit *y) {
  return strcmp(x->name, y->name) != 0                                 ? "name"
         : strcmp(x->description.device, y->description.device) != 0   ? "device"
         : strcmp(x->description.driver, y->description.driver) != 0   ? "driver"
         : strcmp(x->description.toolkit, y->description.toolkit) != 0 ? "toolkit"
         : strcmp(x->crc32c, y->crc32c) != 0                           ? "file"
                                                                       : NULL;
}

bool smma_unit_computes(smma_unit *u, const smma_instruction *i, smma_error *why) {
  smma_instruction_info info;
  char message[sizeof why->text] = "";
  smma_describe(i, &info, sizeof info);
  if (u->methods->computes(u->state, &info, message, sizeof message) == 0) return true;
  return smma_fail(why, "%s: %s %s: %s", u->name, info.arch, info.name,
                   *message ? message : "the unit does not say why not");
}

/* Checks that no result has bits beyond its format. Otherwise these bits would be compared and printed. */
static bool results_fit(const smma_unit *u, const smma_instruction *i, const smma_batch *batch, smma_error *error) {
  smma_encoding d = smma_encoding_of(i->d);
  size_t bytes = smma_container_bytes(d);
  if (d.bits == 8 * (int)bytes) return true;
  for (size_t row = 0; row < batch->rows; row++)
    if (smma_load(bytes, batch->d, row) != smma_low_bits(smma_load(bytes, batch->d, row), d.bits))
      return smma_fail(error, "%s: %s: the result of row %zu is wider than %d bits", u->name, i->name, row, d.bits);
  return true;
}

bool smma_unit_run(smma_unit *u, const smma_instruction *i, const smma_batch *batch, smma_error *error) {
  smma_instruction_info info;
  char message[sizeof error->text] = "";
  smma_describe(i, &info, sizeof info);
  if (batch->rows == 0) return true;
  if (smma_units_stopped()) return smma_fail(error, "%s: interrupted", u->name);
  if (u->methods->run(u->state, &info, batch, message, sizeof message) != 0)
    return smma_fail(error, "%s: %s: %s", u->name, info.name,
                     *message ? message : "the unit failed and does not say why");
  return results_fit(u, i, batch, error);
}

bool smma_unit_ask(smma_unit *u, const smma_rows *rows, size_t first, size_t count, void *d, smma_error *error) {
  const smma_batch batch = smma_rows_batch(rows, first, count, d);
  return smma_unit_run(u, rows->instruction, &batch, error);
}

bool smma_unit_is_recording(const smma_unit *u) { return u->methods == &smma_unit_file; }

bool smma_unit_answers(smma_unit *u, const smma_instruction *i, smma_error *why) {
  if (smma_unit_is_recording(u)) return smma_fail(why, "%s knows only the rows that were recorded", u->name);
  return smma_unit_computes(u, i, why);
}
