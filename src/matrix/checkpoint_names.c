/* Finds the tensor of a matrix's elements by its name or a part of it. */
#include <string.h>

#include "isa/nearest.h"
#include "matrix/checkpoint.h"

enum { MULTIPLIES = false, DIVIDES = true };
#define SMMA_CHECKPOINT(elements, scales, factor, acts) {{elements, scales, factor, "_shape"}, acts},
#define SMMA_CHECKPOINT_UNREAD(elements, other, form)
const smma_naming smma_namings[] = {
#include "matrix/checkpoint.def"
};
#undef SMMA_CHECKPOINT
#undef SMMA_CHECKPOINT_UNREAD

#define SMMA_CHECKPOINT(elements, scales, factor, acts)
#define SMMA_CHECKPOINT_UNREAD(elements, other, form) {elements, other, form},
const smma_unread_form smma_unread_forms[] = {
#include "matrix/checkpoint.def"
};
#undef SMMA_CHECKPOINT
#undef SMMA_CHECKPOINT_UNREAD

const size_t smma_naming_count = sizeof smma_namings / sizeof *smma_namings;
const size_t smma_unread_form_count = sizeof smma_unread_forms / sizeof *smma_unread_forms;

enum { MOST_LISTED = 256 };

bool smma_checkpoint_has(const smma_archive *file, const char *name, size_t length, const char *end,
                         char full_name[SMMA_MOST_TENSOR_NAME]) {
  if (length > SMMA_MOST_TENSOR_NAME ||
      snprintf(full_name, SMMA_MOST_TENSOR_NAME, "%.*s%s", (int)length, name, end) >= SMMA_MOST_TENSOR_NAME)
    return false;
  return smma_archive_has(file, full_name);
}

bool smma_name_ends(const char *name, const char *end, size_t *length) {
  const size_t all = strlen(name), tail = strlen(end);
  *length = all - tail;
  return all >= tail && strcmp(name + all - tail, end) == 0;
}

/* Reports whether the tensor belongs to the elements of another tensor. */
static bool is_part(const smma_archive *file, const char *name) {
  char elements[SMMA_MOST_TENSOR_NAME];
  size_t length;
  for (const smma_naming *n = smma_namings; n < smma_namings + smma_naming_count; n++)
    for (int p = SMMA_MATRIX_SCALES; p <= SMMA_MATRIX_FACTOR; p++)
      if (*n->end[p] && smma_name_ends(name, n->end[p], &length) &&
          smma_checkpoint_has(file, name, length, n->end[SMMA_MATRIX_ELEMENTS], elements))
        return true;
  for (const smma_unread_form *u = smma_unread_forms; u < smma_unread_forms + smma_unread_form_count; u++)
    if (smma_name_ends(name, u->other, &length) && smma_checkpoint_has(file, name, length, u->elements, elements))
      return true;
  return false;
}

/* Reports whether the tensor can be a weight: it has at least two axes, and is not a part of another tensor. An index
   has no shapes, so there only the name decides. */
static bool is_weight(const smma_archive *file, const char *name) {
  const smma_datum *tensor = smma_datum_get(file->tensors, name);
  size_t length;
  const bool is_indexed = smma_datum_text_of(tensor);
  bool fits =
      is_indexed ? smma_name_ends(name, ".weight", &length) : smma_datum_size(smma_datum_get(tensor, "shape")) >= 2;
  for (const smma_naming *n = smma_namings; is_indexed && n < smma_namings + smma_naming_count && !fits; n++)
    fits = *n->end[SMMA_MATRIX_ELEMENTS] && smma_name_ends(name, n->end[SMMA_MATRIX_ELEMENTS], &length);
  for (const smma_unread_form *u = smma_unread_forms;
       is_indexed && u < smma_unread_forms + smma_unread_form_count && !fits; u++)
    fits = *u->elements && smma_name_ends(name, u->elements, &length);
  return fits && !is_part(file, name);
}

static bool is_end_of_elements(const char *text) {
  for (const smma_naming *n = smma_namings; n < smma_namings + smma_naming_count; n++)
    if (strcmp(text, n->end[SMMA_MATRIX_ELEMENTS]) == 0) return true;
  return *text == '.';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reports whether `query` may be a short form of a name that goes on with `rest`: "layers.1" is not a short
   form of "layers.10", nor is "l.weight" one of "l.weight_scale". */
static bool is_short_form(const char *query, const char *rest) {
  const size_t length = strlen(query);
  size_t before;
  if (!length || !*rest) return true;
  if (is_digit(query[length - 1]) && is_digit(*rest)) return false;
  return *rest != '_' || !smma_name_ends(query, "weight", &before);
}

/* Reports whether the name, or what follows a '.' in it, begins with `query`, which must be whole components of the
   name if `whole`. */
static bool begins(const char *name, const char *query, bool whole) {
  const size_t length = strlen(query);
  for (const char *at = name; at; at = strchr(at, '.'), at = at ? at + 1 : NULL)
    if (strncmp(at, query, length) == 0 &&
        (whole ? is_end_of_elements(at + length) : is_short_form(query, at + length)))
      return true;
  return false;
}

/* Finds a tensor that is named exactly, except for ".weight" and for the end of the elements' name. */
static bool find_exact(smma_checkpoint *c, const char *query) {
  static const char *const layers[] = {"", ".weight"};
  char end[64];
  for (int l = 0; l < 2; l++)
    for (const smma_naming *n = smma_namings + smma_naming_count; n-- > smma_namings;) {
      snprintf(end, sizeof end, "%s%s", layers[l], n->end[SMMA_MATRIX_ELEMENTS]);
      if (smma_checkpoint_has(&c->archive, query, strlen(query), end, c->name[SMMA_MATRIX_ELEMENTS])) return true;
    }
  return false;
}

/* Finds the only tensor, of any shape, whose name ends with these components. */
static bool find_end(smma_checkpoint *c, const char *query) {
  size_t count = 0, at = 0, length;
  for (const char *name; (name = smma_archive_next(&c->archive, &at));)
    if (strlen(name) < SMMA_MOST_TENSOR_NAME && smma_name_ends(name, query, &length) && length &&
        name[length - 1] == '.' && !count++)
      strcpy(c->name[SMMA_MATRIX_ELEMENTS], name);
  return count == 1;
}

/* Finds the weights whose names begin with `query`. Returns their number, but at most MOST_LISTED + 1. Takes the first
   of them as the tensor of elements. */
static size_t find_beginning(smma_checkpoint *c, const char *query, bool whole) {
  size_t count = 0, at = 0;
  for (const char *name; count <= MOST_LISTED && (name = smma_archive_next(&c->archive, &at));)
    if (strlen(name) < SMMA_MOST_TENSOR_NAME && begins(name, query, whole) && is_weight(&c->archive, name) && !count++)
      strcpy(c->name[SMMA_MATRIX_ELEMENTS], name);
  return count;
}

/* Writes the part of a name that is compared with `query`: as many of its last components as `query` has, without
   ".weight" and the end of the elements' name. */
static void write_form(const char *name, const char *query, char form[SMMA_MOST_TENSOR_NAME]) {
  size_t length = strlen(name), length_without;
  const char *at;
  int components = 1;
  for (const smma_naming *n = smma_namings; n < smma_namings + smma_naming_count; n++)
    if (smma_name_ends(name, n->end[SMMA_MATRIX_ELEMENTS], &length_without) && length_without < length)
      length = length_without;
  snprintf(form, SMMA_MOST_TENSOR_NAME, "%.*s", length < SMMA_MOST_TENSOR_NAME ? (int)length : SMMA_MOST_TENSOR_NAME,
           name);
  if (!strstr(query, ".weight") && smma_name_ends(form, ".weight", &length_without)) form[length_without] = '\0';
  for (at = query; (at = strchr(at, '.')); at++) components++;
  for (at = form + strlen(form); at > form && (at[-1] != '.' || --components); at--) continue;
  memmove(form, at, strlen(at) + 1);
}

/* Writes a list of names such as "a, b, c and 5 more": the names that begin with `query`, or the names nearest to it.
   Leaves out tensors that are parts of other tensors. */
static void list_names(const smma_archive *file, const char *query, bool beginning, char *text, size_t size) {
  const bool is_long = smma_archive_count(file) > MOST_LISTED; /* looking for parts then takes too long */
  size_t total = 0, length, at = 0;
  char form[SMMA_MOST_TENSOR_NAME] = "";
  smma_nearest nearest;
  smma_nearest_start(&nearest, beginning ? "" : query);
  for (const char *name; (!beginning || total <= MOST_LISTED) && (name = smma_archive_next(file, &at));) {
    if (beginning ? !begins(name, query, false) || !is_weight(file, name) : !is_long && is_part(file, name)) continue;
    if (!beginning && *query) write_form(name, query, form);
    smma_nearest_consider(&nearest, name, form);
    total++;
  }
  smma_nearest_list(&nearest, text, size);
  length = strlen(text);
  if (total > (size_t)nearest.count)
    snprintf(text + length, size - length, " and %zu more", total - (size_t)nearest.count);
}

/* Finds the only tensor of a file, or its only weight. */
static bool find_only(smma_checkpoint *c) {
  const smma_archive *file = &c->archive;
  const size_t count = smma_archive_count(file);
  size_t at = 0;
  if (count == 1)
    return snprintf(c->name[SMMA_MATRIX_ELEMENTS], SMMA_MOST_TENSOR_NAME, "%s", smma_archive_next(file, &at)) <
           SMMA_MOST_TENSOR_NAME;
  return count <= MOST_LISTED && find_beginning(c, "", false) == 1;
}

/* Separates "NAME[3]" unless a tensor has this name. */
static bool take_index(smma_checkpoint *c, const char *name, char query[SMMA_MOST_TENSOR_NAME]) {
  const char *bracket = strrchr(name, '[');
  char end;
  if (strlen(name) >= SMMA_MOST_TENSOR_NAME)
    return smma_fail(c->archive.error, "%s: no name of a tensor is as long as '%.60s...'", c->archive.path, name);
  strcpy(query, name);
  if (smma_archive_has(&c->archive, name) || !bracket || name[strlen(name) - 1] != ']') return true;
  if (strspn(bracket + 1, "0123456789") > 15 || strspn(bracket + 1, "0123456789]") != strlen(bracket + 1) ||
      sscanf(bracket, "[%zu%c", &c->index, &end) != 2 || end != ']')
    return smma_fail(c->archive.error, "%s: '%.60s' is no number of a matrix along the leading axis; for example [0]",
                     c->archive.path, bracket);
  query[bracket - name] = '\0';
  return c->is_indexed = true;
}

bool smma_checkpoint_choose(smma_checkpoint *c, const char *name) {
  const smma_archive *file = &c->archive;
  char names[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE + 32], query[SMMA_MOST_TENSOR_NAME];
  size_t count;
  if (smma_archive_count(file) == 0) return smma_fail(file->error, "%s: the file holds no tensor", file->path);
  if (!name) {
    if (find_only(c)) return true;
    list_names(file, "", false, names, sizeof names);
    return smma_fail(file->error, "%s: the file holds %zu tensors; name one as FILE:NAME, from %s", file->path,
                     smma_archive_count(file), names);
  }
  if (!take_index(c, name, query)) return false;
  if (find_exact(c, query) || (*query && (find_end(c, query) || find_beginning(c, query, true) == 1))) return true;
  count = *query ? find_beginning(c, query, false) : 0;
  if (count == 1) return true;
  list_names(file, query, count > 1, names, sizeof names);
  if (count > 1)
    return smma_fail(file->error, "%s: the names of %zu%s tensors begin with '%.100s'; name one: %s", file->path, count,
                     count > MOST_LISTED ? " or more" : "", query, names);
  return smma_fail(file->error, "%s: no tensor is named '%.100s'; there are %s", file->path, query, names);
}
