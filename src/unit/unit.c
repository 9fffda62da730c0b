#include "unit/unit.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/load.h"
#include "isa/nearest.h"

const smma_unit_kind smma_unit_kinds[] = {
#define SMMA_UNIT(kind, arguments, summary, methods) {#kind, arguments, summary, methods},
#include "unit/unit.def"
#undef SMMA_UNIT
};
const size_t smma_unit_kind_count = sizeof smma_unit_kinds / sizeof smma_unit_kinds[0];

static const smma_unit_kind *find_kind(const char *name, size_t length, smma_error *error) {
  smma_nearest nearest;
  char kind[64], list[256];
  snprintf(kind, sizeof kind, "%.*s", (int)length, name);
  smma_nearest_start(&nearest, kind);
  for (size_t i = 0; i < smma_unit_kind_count; i++) {
    if (strcmp(smma_unit_kinds[i].name, kind) == 0) return &smma_unit_kinds[i];
    smma_nearest_consider(&nearest, smma_unit_kinds[i].name, smma_unit_kinds[i].name);
  }
  smma_nearest_list(&nearest, list, sizeof list);
  smma_fail(error, "unknown unit '%s'; nearest: %s (see 'softmma units')", kind, list);
  return NULL;
}

/* Takes the methods from a shared object. */
static bool load(smma_unit *u, const char *path, smma_error *error) {
  const smma_unit_methods *(*get)(void);
  void *symbol;
  u->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!u->library) return smma_fail(error, "%s", dlerror());
  symbol = dlsym(u->library, "softmma_unit");
  if (!symbol) return smma_fail(error, "%s exports no function softmma_unit (see softmma/unit.h)", path);
  memcpy(&get, &symbol, sizeof get);
  u->methods = get();
  if (!u->methods) return smma_fail(error, "softmma_unit of %s returned NULL", path);
  if (u->methods->abi == SMMA_UNIT_ABI) return true;
  smma_fail(error, "%s was built for version %u of softmma/unit.h, this is version %u; build it again", path,
            u->methods->abi, SMMA_UNIT_ABI);
  u->methods = NULL;
  return false;
}

/* FILE of "FILE" or "FILE:ARGUMENTS"; `*arguments` is what is left. Without a slash the system would look among its own
   libraries only. */
static bool load_plugin(smma_unit *u, const char **arguments, smma_error *error) {
  char path[sizeof u->name + 2];
  const char *end = strchr(*arguments, ':');
  const int length = end ? (int)(end - *arguments) : (int)strlen(*arguments);
  snprintf(path, sizeof path, "%s%.*s", memchr(*arguments, '/', (size_t)length) ? "" : "./", length, *arguments);
  *arguments = end ? end + 1 : NULL;
  return load(u, path, error);
}

/* softmma-unit-KIND.so from $SOFTMMA_UNITS, else from where it is installed, seen from the program. */
static bool load_module(smma_unit *u, const char *kind, smma_error *error) {
  const char *folder = getenv("SOFTMMA_UNITS");
  char program[1024] = "", path[2048], option[32] = "";
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  char *slash = length > 0 ? strrchr(program, '/') : NULL;
  if (slash) *slash = 0;
  if (folder)
    snprintf(path, sizeof path, "%s/softmma-unit-%s.so", folder, kind);
  else
    snprintf(path, sizeof path, "%s/../%s/softmma-unit-%s.so", program, SMMA_UNIT_FOLDER, kind);
  for (size_t i = 0; kind[i] && i + 1 < sizeof option; i++) option[i] = (char)toupper((unsigned char)kind[i]);
  if (access(path, R_OK) != 0)
    return smma_fail(error,
                     "softmma-unit-%s.so is not there; build it with -DSOFTMMA_%s=ON, or name its folder in "
                     "SOFTMMA_UNITS",
                     kind, option);
  return load(u, path, error);
}

/* Finds the methods; `*arguments` becomes what they are to be opened with. */
static bool find_methods(smma_unit *u, const smma_unit_kind *kind, const char **arguments, smma_error *error) {
  u->methods = kind->methods;
  if (u->methods) return true;
  return strcmp(kind->name, "plugin") == 0 ? load_plugin(u, arguments, error) : load_module(u, kind->name, error);
}

bool smma_unit_open(const char *name, smma_unit *u, smma_error *error) {
  const char *colon = strchr(name, ':'), *arguments = colon ? colon + 1 : NULL;
  const smma_unit_kind *kind = find_kind(name, colon ? (size_t)(colon - name) : strlen(name), error);
  char message[sizeof error->text] = "";
  smma_error inner;
  *u = (smma_unit){0};
  if (!kind) return false;
  if (snprintf(u->name, sizeof u->name, "%s", name) >= (int)sizeof u->name)
    return smma_fail(error, "%.20s...: the unit's name is too long", name);
  if (*kind->arguments && *kind->arguments != '[' && !(arguments && *arguments))
    return smma_fail(error, "%s: %s is missing; write %s:%s", kind->name, kind->arguments, kind->name, kind->arguments);
  if (!*kind->arguments && arguments)
    return smma_fail(error, "%s takes no arguments; write %s", kind->name, kind->name);
  if (!find_methods(u, kind, &arguments, &inner)) {
    u->methods = NULL;
    smma_unit_close(u);
    return smma_fail(error, "%s: %s", kind->name, inner.text);
  }
  if (u->methods->open(arguments, &u->state, message, sizeof message) != 0) {
    smma_fail(error, "%s: %s", u->name, *message ? message : "the unit cannot be opened and does not say why");
    u->methods = NULL;
    smma_unit_close(u);
    return false;
  }
  u->methods->describe(u->state, &u->description);
  return true;
}

void smma_unit_close(smma_unit *u) {
  if (u->methods) u->methods->close(u->state);
  if (u->library) dlclose(u->library);
  *u = (smma_unit){0};
}

bool smma_unit_computes(smma_unit *u, const smma_instruction *i, smma_error *why) {
  smma_instruction_info info;
  char message[sizeof why->text] = "";
  smma_describe(i, &info);
  if (u->methods->computes(u->state, &info, message, sizeof message) == 0) return true;
  return smma_fail(why, "%s: %s %s: %s", u->name, info.arch, info.name,
                   *message ? message : "the unit does not say why not");
}

/* Bits beyond the format's would be compared, and printed, as if they were results. */
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
  smma_describe(i, &info);
  if (batch->rows == 0) return true;
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
