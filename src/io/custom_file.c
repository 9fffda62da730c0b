#include "io/custom_file.h"

#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "isa/ascii.h"
#include "isa/catalogue.h"
#include "isa/custom.h"

enum {
  LONGEST_PATH = 511,    /* a path must fit the field `arch` of a vector file's header */
  LARGEST_FILE = 1 << 20 /* a description has about 300 bytes */
};

typedef struct loaded {
  const smma_instruction *instruction; /* instruction->origin is the path of the file */
  struct loaded *next;
} loaded;

static loaded *all;

static bool names_file(const char *name, size_t length) {
  const size_t ending = strlen(".json");
  return memchr(name, '/', length) || (length >= ending && memcmp(name + length - ending, ".json", ending) == 0);
}

bool smma_is_custom_file(const char *name) { return names_file(name, strlen(name)); }

size_t smma_custom_item(const char *list) {
  const size_t prefix = strncmp(list, "custom:", strlen("custom:")) == 0 ? strlen("custom:") : 0;
  const size_t length = prefix + smma_list_item(list + prefix);
  return names_file(list, length) ? length : strcspn(list, ",");
}

/* Reports whether a vector file's header can hold a path. Readers of a header remove blanks around a value and commas
   after it. Line ends and other control characters are not allowed in a value. */
static bool is_header_value(const char *path) {
  const size_t length = strlen(path);
  for (const char *c = path; *c; c++)
    if (smma_is_control(*c)) return false;
  return length && path[0] != ' ' && path[length - 1] != ' ' && path[length - 1] != ',';
}

static const smma_instruction *read_file(const char *path, smma_error *error) {
  smma_file_bytes file;
  const smma_instruction *i;
  if (strlen(path) > LONGEST_PATH || !is_header_value(path)) {
    smma_fail(error,
              "%.40s...: the path is longer than %d bytes, has a control character, or begins or ends with a blank or "
              "comma; rename the file",
              path, LONGEST_PATH);
    return NULL;
  }
  if (!smma_file_load(path, LARGEST_FILE, &file, error)) return NULL;
  i = smma_custom_read(path, file.bytes, file.size, error);
  smma_file_release(&file);
  return i;
}

const smma_instruction *smma_custom_load(const char *path, smma_error *error) {
  loaded *found = all;
  while (found && strcmp(found->instruction->origin, path) != 0) found = found->next;
  if (found) return found->instruction;
  found = malloc(sizeof *found);
  if (!found) {
    smma_no_memory(error);
    return NULL;
  }
  *found = (loaded){read_file(path, error), all};
  if (!found->instruction) {
    free(found);
    return NULL;
  }
  all = found;
  return found->instruction;
}

const smma_instruction *smma_resolve_instruction(const char *on, const char *name, smma_error *error) {
  const smma_instruction *i;
  if (!smma_is_custom_file(on)) return smma_resolve_name(on, name, error);
  i = smma_custom_load(on, error);
  if (!i || strcmp(i->name, name) == 0) return i;
  smma_fail(error, "%s describes '%s', not '%s'", on, i->name, name);
  return NULL;
}
