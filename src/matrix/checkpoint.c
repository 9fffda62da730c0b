/* Matrices of .safetensors files. Finds a tensor by its name or a part of it, and joins the tensors of a quantised
   matrix (checkpoint.def). A large checkpoint is several files with an index (transformers): a JSON object whose member
   "weight_map" has the name of the file of each tensor. */
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "isa/nearest.h"
#include "matrix/safetensors.h"
#include "matrix/stored.h"
#include "softmma/softmma.h"

/* ELEMENTS alone: a tensor that is stored as it is. */
typedef enum { ELEMENTS, SCALES, FACTOR, SHAPE, PARTS } part;

/* How the names of the parts of a matrix end. */
typedef struct {
  const char *end[PARTS];
  bool divides;
} naming;

enum { MULTIPLIES = false, DIVIDES = true };
#define SMMA_CHECKPOINT(elements, scales, factor, acts) {{elements, scales, factor, "_shape"}, acts},
#define SMMA_CHECKPOINT_UNREAD(elements, other, form)
static const naming namings[] = {
#include "matrix/checkpoint.def"
};
#undef SMMA_CHECKPOINT
#undef SMMA_CHECKPOINT_UNREAD

/* How the names of two tensors of a form end that is not read. */
typedef struct {
  const char *elements, *other, *form;
} unread_form;

#define SMMA_CHECKPOINT(elements, scales, factor, acts)
#define SMMA_CHECKPOINT_UNREAD(elements, other, form) {elements, other, form},
static const unread_form unread_forms[] = {
#include "matrix/checkpoint.def"
};
#undef SMMA_CHECKPOINT
#undef SMMA_CHECKPOINT_UNREAD

enum {
  NAMINGS = sizeof namings / sizeof *namings,
  UNREAD_FORMS = sizeof unread_forms / sizeof *unread_forms,
  MOST_NAME = 1024,
  MOST_LISTED = 256
};

/* The file of a part, if an index names it. */
typedef struct {
  char path[4096];
  smma_input input;
  smma_archive archive; /* tensors is NULL if it is not open */
} shard;

/* A matrix of a file. `archive` has the names of all tensors, from the file itself or from the index. */
typedef struct {
  smma_archive archive;
  bool is_index;
  shard shard[PARTS];  /* of an index */
  const naming *names; /* NULL: a tensor that is stored as it is */
  bool is_indexed;     /* the matrix is number `index` along the leading axis of `leading` matrices */
  size_t index, leading;
  bool has[PARTS];
  char name[PARTS][MOST_NAME];
  smma_archive_tensor part[PARTS];
  unsigned char *data[PARTS];
} checkpoint;

/* ---- Names ---- */

/* Writes the first `length` bytes of a name and an end; returns whether the file has a tensor of this name. */
static bool has_joined(const smma_archive *file, const char *name, size_t length, const char *end,
                       char joined[MOST_NAME]) {
  if (length > MOST_NAME || snprintf(joined, MOST_NAME, "%.*s%s", (int)length, name, end) >= MOST_NAME) return false;
  return smma_archive_has(file, joined);
}

/* Reports whether the name ends so, and sets `*length` to the length of what precedes. */
static bool ends(const char *name, const char *end, size_t *length) {
  const size_t all = strlen(name), tail = strlen(end);
  *length = all - tail;
  return all >= tail && strcmp(name + all - tail, end) == 0;
}

/* Reports whether the tensor belongs to the elements of another tensor. */
static bool is_part(const smma_archive *file, const char *name) {
  char elements[MOST_NAME];
  size_t length;
  for (const naming *n = namings; n < namings + NAMINGS; n++)
    for (int p = SCALES; p <= FACTOR; p++)
      if (*n->end[p] && ends(name, n->end[p], &length) && has_joined(file, name, length, n->end[ELEMENTS], elements))
        return true;
  for (const unread_form *u = unread_forms; u < unread_forms + UNREAD_FORMS; u++)
    if (ends(name, u->other, &length) && has_joined(file, name, length, u->elements, elements)) return true;
  return false;
}

/* Reports whether the tensor can be a weight: it has at least two axes, and is not a part of another tensor. An index
   has no shapes, so there only the name decides. */
static bool is_weight(const smma_archive *file, const char *name) {
  const smma_datum *tensor = smma_datum_get(file->tensors, name);
  size_t length;
  const bool is_indexed = smma_datum_text_of(tensor);
  bool fits = is_indexed ? ends(name, ".weight", &length) : smma_datum_size(smma_datum_get(tensor, "shape")) >= 2;
  for (const naming *n = namings; is_indexed && n < namings + NAMINGS && !fits; n++)
    fits = *n->end[ELEMENTS] && ends(name, n->end[ELEMENTS], &length);
  for (const unread_form *u = unread_forms; is_indexed && u < unread_forms + UNREAD_FORMS && !fits; u++)
    fits = *u->elements && ends(name, u->elements, &length);
  return fits && !is_part(file, name);
}

static bool is_end_of_elements(const char *text) {
  for (const naming *n = namings; n < namings + NAMINGS; n++)
    if (strcmp(text, n->end[ELEMENTS]) == 0) return true;
  return *text == '.';
}

/* Reports whether the name, or what follows a '.' in it, begins with `query`, which must be whole components of the
   name if `whole`. */
static bool begins(const char *name, const char *query, bool whole) {
  const size_t length = strlen(query);
  for (const char *at = name; at; at = strchr(at, '.'), at = at ? at + 1 : NULL)
    if (strncmp(at, query, length) == 0 && (!whole || is_end_of_elements(at + length))) return true;
  return false;
}

/* Finds a tensor that is named exactly, except for ".weight" and for the end of the elements' name. */
static bool find_exact(checkpoint *c, const char *query) {
  static const char *const layers[] = {"", ".weight"};
  char end[64];
  for (int l = 0; l < 2; l++)
    for (const naming *n = namings + NAMINGS; n-- > namings;) {
      snprintf(end, sizeof end, "%s%s", layers[l], n->end[ELEMENTS]);
      if (has_joined(&c->archive, query, strlen(query), end, c->name[ELEMENTS])) return true;
    }
  return false;
}

/* Finds the only tensor, of any shape, whose name ends with these components. */
static bool find_end(checkpoint *c, const char *query) {
  size_t count = 0, at = 0, length;
  for (const char *name; (name = smma_archive_next(&c->archive, &at));)
    if (strlen(name) < MOST_NAME && ends(name, query, &length) && length && name[length - 1] == '.' && !count++)
      strcpy(c->name[ELEMENTS], name);
  return count == 1;
}

/* Finds the weights whose names begin with `query`. Returns their number, but at most MOST_LISTED + 1. Takes the first
   of them as the tensor of elements. */
static size_t find_beginning(checkpoint *c, const char *query, bool whole) {
  size_t count = 0, at = 0;
  for (const char *name; count <= MOST_LISTED && (name = smma_archive_next(&c->archive, &at));)
    if (strlen(name) < MOST_NAME && begins(name, query, whole) && is_weight(&c->archive, name) && !count++)
      strcpy(c->name[ELEMENTS], name);
  return count;
}

/* Writes the part of a name that is compared with `query`: as many components at its end, without ".weight" and the
   end of the elements' name. */
static void write_form(const char *name, const char *query, char form[MOST_NAME]) {
  size_t length = strlen(name), kept;
  const char *at;
  int components = 1;
  for (const naming *n = namings; n < namings + NAMINGS; n++)
    if (ends(name, n->end[ELEMENTS], &kept) && kept < length) length = kept;
  snprintf(form, MOST_NAME, "%.*s", length < MOST_NAME ? (int)length : MOST_NAME, name);
  if (!strstr(query, ".weight") && ends(form, ".weight", &kept)) form[kept] = '\0';
  for (at = query; (at = strchr(at, '.')); at++) components++;
  for (at = form + strlen(form); at > form && (at[-1] != '.' || --components); at--) continue;
  memmove(form, at, strlen(at) + 1);
}

/* Writes a list of names such as "a, b, c and 5 more": the names that begin with `query`, or the names nearest to it.
   Leaves out tensors that are parts of other tensors. */
static void list_names(const smma_archive *file, const char *query, bool beginning, char *text, size_t size) {
  const bool is_long = smma_archive_count(file) > MOST_LISTED; /* looking for parts then takes too long */
  size_t total = 0, length, at = 0;
  char form[MOST_NAME] = "";
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
static bool find_only(checkpoint *c) {
  const smma_archive *file = &c->archive;
  const size_t count = smma_archive_count(file);
  size_t at = 0;
  if (count == 1) return snprintf(c->name[ELEMENTS], MOST_NAME, "%s", smma_archive_next(file, &at)) < MOST_NAME;
  return count <= MOST_LISTED && find_beginning(c, "", false) == 1;
}

/* Separates "NAME[3]" unless a tensor has this name. */
static bool take_index(checkpoint *c, const char *name, char query[MOST_NAME]) {
  const char *bracket = strrchr(name, '[');
  char end;
  if (strlen(name) >= MOST_NAME)
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

/* Finds the tensor of the elements. */
static bool choose(checkpoint *c, const char *name) {
  const smma_archive *file = &c->archive;
  char names[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE + 32], query[MOST_NAME];
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

/* ---- Parts ---- */

/* Returns the file of a part. */
static smma_archive *archive_of(checkpoint *c, part p) { return c->is_index ? &c->shard[p].archive : &c->archive; }

static bool fail_part(const checkpoint *c, part p, const char *what) {
  const char *path = c->is_index ? c->shard[p].path : c->archive.path;
  return smma_fail(c->archive.error, "%s: header (JSON from byte 8): tensor '%.100s': %s", path, c->name[p], what);
}

/* Reports whether elements of this type are useless without scale factors: they are narrow, or packed integers. */
static bool is_narrow(const checkpoint *c) {
  const smma_archive_type *type = c->part[ELEMENTS].type;
  return (type->bits <= 8 && type->format != SMMA_B1) || type->format == SMMA_S32;
}

/* Opens the file that the index names for a part; it lies in the folder of the index. */
static bool open_shard(checkpoint *c, part p) {
  shard *s = &c->shard[p];
  const char *file = smma_datum_text_of(smma_datum_get(c->archive.tensors, c->name[p])), *path = c->archive.path;
  const char *slash = strrchr(path, '/');
  const int folder = slash ? (int)(slash + 1 - path) : 0;
  if (!file || strchr(file, '/') ||
      snprintf(s->path, sizeof s->path, "%.*s%s", folder, path, file) >= (int)sizeof s->path)
    return smma_fail(c->archive.error, "%s: weight_map has no name of a file for tensor '%.100s'", path, c->name[p]);
  if (!smma_input_open(s->path, &s->input, c->archive.error)) return false;
  if (!smma_archive_open(&s->input, &s->archive, c->archive.error)) {
    smma_input_close(&s->input);
    return false;
  }
  return smma_archive_has(&s->archive, c->name[p]) ||
         smma_fail(c->archive.error, "%s: there is no tensor '%.100s', which %s lists", s->path, c->name[p], path);
}

static bool describe(checkpoint *c, part p) {
  c->has[p] = true;
  return (!c->is_index || open_shard(c, p)) && smma_archive_describe(archive_of(c, p), c->name[p], &c->part[p]);
}

/* Reports whether ComfyUI has written the file: it stores scale factors of blocks in the order of a GPU's kernel
   (comfy/quant_ops.py, TensorCoreNVFP4Layout). */
static bool is_comfy(const checkpoint *c) {
  static const char mark[] = "comfy_quant", layer[] = "weight";
  const smma_archive *file = c->is_index ? &c->shard[ELEMENTS].archive : &c->archive;
  const smma_datum *about = smma_datum_get(file->tensors, "__metadata__");
  char joined[MOST_NAME];
  size_t length;
  return smma_datum_get(about, "_quantization_metadata") ||
         (ends(c->name[ELEMENTS], layer, &length) && has_joined(&c->archive, c->name[ELEMENTS], length, mark, joined));
}

/* Fails if the elements belong to a form that is not read. */
static bool is_read(const checkpoint *c) {
  char other[MOST_NAME], what[160];
  size_t length;
  for (const unread_form *u = unread_forms; u < unread_forms + UNREAD_FORMS && is_narrow(c); u++)
    if (ends(c->name[ELEMENTS], u->elements, &length) &&
        has_joined(&c->archive, c->name[ELEMENTS], length, u->other, other)) {
      snprintf(what, sizeof what, "%s is not read; dequantise it with the package that wrote it, and save the numbers",
               u->form);
      return fail_part(c, ELEMENTS, what);
    }
  return true;
}

/* Finds the other parts of the elements. */
static bool find_parts(checkpoint *c) {
  size_t length = 0;
  if (!describe(c, ELEMENTS) || !is_read(c)) return false;
  for (const naming *n = namings; n < namings + NAMINGS && is_narrow(c) && !c->names; n++) {
    if (!ends(c->name[ELEMENTS], n->end[ELEMENTS], &length)) continue;
    if (has_joined(&c->archive, c->name[ELEMENTS], length, n->end[SCALES], c->name[SCALES]))
      c->names = n;
    else if (*n->end[ELEMENTS])
      return smma_fail(
          c->archive.error,
          "%s: tensor '%.100s' has no scale factors: the file lacks '%.100s'; save both in one file, or name the "
          "index of their files",
          c->archive.path, c->name[ELEMENTS], c->name[SCALES]);
  }
  if (!c->names) return true;
  for (part p = FACTOR; p <= SHAPE; p++)
    if (*c->names->end[p] && has_joined(&c->archive, c->name[ELEMENTS], length, c->names->end[p], c->name[p]) &&
        !describe(c, p))
      return false;
  return describe(c, SCALES) &&
         (c->part[SCALES].type->bits > 8 || !is_comfy(c) ||
          fail_part(c, SCALES,
                    "ComfyUI's order of scale factors is not read; dequantise it there, and save the numbers"));
}

/* ---- Shapes ---- */

/* Removes axes of extent 1 from the front until at most `most` axes are left. */
static void drop_ones(smma_shape *shape, int most) {
  while (shape->count > most && shape->extent[0] == 1)
    memmove(shape->extent, shape->extent + 1, (size_t)--shape->count * sizeof *shape->extent);
}

static size_t elements_of(const smma_shape *shape) {
  size_t elements = 1;
  for (int i = 0; i < shape->count; i++) elements *= shape->extent[i];
  return elements;
}

/* Reduces a part to the matrix that the index selects along its leading axis. */
static bool select_index(checkpoint *c, part p) {
  smma_archive_tensor *t = &c->part[p];
  const size_t all = t->shape.count ? t->shape.extent[0] : 0;
  char what[128];
  if (!c->is_indexed || (p != ELEMENTS && elements_of(&t->shape) == 1)) return true;
  snprintf(what, sizeof what, "it has no matrix [%zu]: its leading axis has %zu", c->index, all);
  if (p == ELEMENTS && t->shape.count < 3) return fail_part(c, p, "it is one matrix; leave out the number in []");
  if (c->index >= all || (p != ELEMENTS && all != c->leading)) return fail_part(c, p, what);
  c->leading = all;
  if ((t->end - t->begin) % all || elements_of(&t->shape) / all * (size_t)t->type->bits % 8)
    return fail_part(c, p, "its matrices do not fill whole bytes");
  const size_t bytes = (t->end - t->begin) / all;
  t->begin += c->index * bytes, t->end = t->begin + bytes;
  memmove(t->shape.extent, t->shape.extent + 1, (size_t)--t->shape.count * sizeof *t->shape.extent);
  return true;
}

/* Makes a matrix of the elements' shape. gpt-oss has one more axis, because it stores a row as blocks of bytes. */
static bool take_shape(checkpoint *c, smma_tensor *tensor) {
  smma_shape *shape = &c->part[ELEMENTS].shape;
  smma_error where;
  size_t elements;
  char text[SMMA_SHAPE_TEXT], what[2 * SMMA_SHAPE_TEXT];
  if (!select_index(c, ELEMENTS)) return false;
  if (c->names && strcmp(c->names->end[ELEMENTS], "_blocks") == 0) {
    drop_ones(shape, 3);
    if (shape->count >= 3) shape->extent[shape->count - 2] *= shape->extent[shape->count - 1], shape->count--;
  }
  drop_ones(shape, 2);
  smma_shape_text(shape, text);
  snprintf(what, sizeof what, "shape %s holds several matrices; name one as NAME[0]", text);
  if (shape->count == 3 && !c->is_indexed) return fail_part(c, ELEMENTS, what);
  smma_fail(&where, "%s: header (JSON from byte 8): tensor '%.100s'", c->archive.path, c->name[ELEMENTS]);
  return smma_shape_matrix(shape, where.text, tensor, &elements, c->archive.error);
}

/* ---- Data ---- */

/* Reads the parts in the order of the file. */
static bool read_parts(checkpoint *c) {
  for (bool read[PARTS] = {false};;) {
    int next = -1;
    for (int p = 0; p < PARTS; p++)
      if (c->has[p] && !read[p] && (next < 0 || c->part[p].begin < c->part[next].begin)) next = p;
    if (next < 0) return c->is_index || smma_archive_finish(&c->archive);
    read[next] = true;
    c->data[next] = smma_archive_take(archive_of(c, (part)next), c->part[next].begin, c->part[next].end);
    if (!c->data[next]) return false;
    const smma_archive_tensor *t = &c->part[next];
    if (t->type->bits > 8)
      smma_swap_elements(c->data[next], (t->end - t->begin) / (size_t)(t->type->bits / 8), t->type->bits / 8, false);
  }
}

/* Unpacks elements of 4 or 6 bits, the first in the lowest bits, to one byte each of `to`. */
static void unpack(unsigned char *to, const unsigned char *from, size_t elements, int bits) {
  unsigned pending = 0;
  int held = 0;
  for (size_t i = 0; i < elements; i++) {
    if (held < bits) {
      pending |= (unsigned)*from++ << held;
      held += 8;
    }
    to[i] = (unsigned char)(pending & ((1u << bits) - 1));
    pending >>= bits;
    held -= bits;
  }
}

/* Makes the tensor of elements that are stored as they are. */
static bool make_plain(checkpoint *c, smma_tensor *tensor) {
  const smma_archive_type *type = c->part[ELEMENTS].type;
  const size_t elements = tensor->rows * tensor->columns;
  tensor->format = type->format;
  tensor->bytes = type->bits < 8 ? 1 : type->bits / 8;
  tensor->integers = type->integers;
  if (type->bits >= 8) {
    tensor->data = c->data[ELEMENTS];
    c->data[ELEMENTS] = NULL;
    return true;
  }
  if (!smma_tensor_allocate(tensor, elements, c->archive.path, c->archive.error)) return false;
  unpack(tensor->data, c->data[ELEMENTS], elements, type->bits);
  return true;
}

/* ---- Quantised matrices ---- */

static bool is_power_of_two_scale(const checkpoint *c) {
  const smma_archive_type *type = c->part[SCALES].type;
  return type->format == SMMA_UE8M0 || type->format == SMMA_U8;
}

/* Reports whether the elements, stored as bytes, are FP6: each scale factor then has 24 bytes, which hold 32 elements.
   (In FP4 it has 16 bytes.) */
static bool is_fp6(const checkpoint *c, size_t bytes) {
  const smma_shape *scales = &c->part[SCALES].shape;
  return is_power_of_two_scale(c) && bytes && bytes % 24 == 0 && scales->count &&
         scales->extent[scales->count - 1] == bytes / 24;
}

/* Sets the format of packed integers, and the number of columns, from the tensor that stores their shape. */
static bool take_integers(checkpoint *c, smma_stored *s) {
  const size_t words = s->columns;
  const uint64_t *shape = c->has[SHAPE] ? (const uint64_t *)c->data[SHAPE] : NULL;
  const size_t axes = c->has[SHAPE] ? elements_of(&c->part[SHAPE].shape) : 0;
  if (!shape || c->part[SHAPE].type->bits != 64 || axes < 2 || shape[axes - 2] != s->rows)
    return fail_part(c, ELEMENTS, "packed integers need a tensor of the same name with _shape: rows and columns");
  const uint64_t columns = shape[axes - 1];
  s->element = columns / 8 + (columns % 8 != 0) == words ? SMMA_S4 : SMMA_S8;
  s->columns = (size_t)columns;
  return s->element == SMMA_S4 || columns / 4 + (columns % 4 != 0) == words ||
         fail_part(c, ELEMENTS, "its words do not hold the columns of the tensor _shape as integers of 4 or 8 bits");
}

/* Sets the format of the elements and the number of columns; the tensor has the columns of the stored bytes or words.
 */
static bool take_elements(checkpoint *c, smma_stored *s) {
  const smma_format type = c->part[ELEMENTS].type->format;
  if (type == SMMA_S32) return take_integers(c, s);
  if (type == SMMA_U8 && is_fp6(c, s->columns))
    s->element = SMMA_E2M3, s->columns = s->columns / 3 * 4;
  else if (type == SMMA_U8 || (type == SMMA_S8 && is_power_of_two_scale(c)))
    s->element = SMMA_E2M1, s->columns *= 2;
  else
    s->element = type;
  return true;
}

/* Unpacks rows of integers with an offset, which become two's complements. */
static void unpack_integers(const checkpoint *c, smma_stored *s) {
  const size_t bytes = c->part[ELEMENTS].shape.extent[c->part[ELEMENTS].shape.count - 1] * 4;
  const int bits = smma_format_bits(s->element);
  for (size_t row = 0; row < s->rows; row++) {
    unsigned char *to = s->element_codes + row * s->columns;
    unpack(to, c->data[ELEMENTS] + row * bytes, s->columns, bits);
    for (size_t i = 0; i < s->columns; i++) to[i] ^= (unsigned char)(1 << (bits - 1));
  }
}

static bool read_elements(checkpoint *c, smma_stored *s) {
  const smma_archive_type *type = c->part[ELEMENTS].type;
  size_t elements;
  if (!smma_multiply(s->rows, s->columns, &elements) || !(s->element_codes = malloc(elements + 1)))
    return smma_no_memory(c->archive.error);
  if (type->format == SMMA_S32)
    unpack_integers(c, s);
  else
    unpack(s->element_codes, c->data[ELEMENTS], elements, smma_format_bits(s->element));
  return true;
}

/* Returns the number of elements along an axis that share a factor. It is the whole axis or a power of two; 0 if the
   number of factors fits neither. */
static size_t share(size_t extent, size_t factors) {
  if (factors == 1) return extent ? extent : 1;
  for (size_t n = 1; n && n <= extent; n *= 2)
    if (extent / n + (extent % n != 0) == factors) return n;
  return 0;
}

/* Determines the blocks from the shape of the scale factors. They have two axes, or there is one factor for each row,
   or one for the whole matrix. */
static bool take_blocks(checkpoint *c, smma_stored *s) {
  const smma_shape *shape = &c->part[SCALES].shape;
  char of_scales[SMMA_SHAPE_TEXT], what[4 * SMMA_SHAPE_TEXT];
  drop_ones(&c->part[SCALES].shape, 2);
  const size_t rows = shape->count ? shape->extent[0] : 1, columns = shape->count == 2 ? shape->extent[1] : 1;
  const bool fits = shape->count <= 2 && (shape->count != 1 || rows == 1 || rows == s->rows);
  const size_t needed = s->scale == SMMA_UE4M3 ? 16 : 32;
  s->block[0] = share(s->rows, rows), s->block[1] = share(s->columns, columns);
  s->scale_columns = columns, s->scale_count = rows * columns;
  smma_shape_text(shape, of_scales);
  snprintf(what, sizeof what, "shape %s does not fit the %zu x %zu elements of '%.100s'", of_scales, s->rows,
           s->columns, c->name[ELEMENTS]);
  if (!fits || !s->block[0] || !s->block[1]) return fail_part(c, SCALES, what);
  if (s->scale == SMMA_F32 || s->block[0] > 1) return true;
  s->block[1] = needed; /* also if a row is shorter */
  return columns == s->columns / needed + (s->columns % needed != 0) || fail_part(c, SCALES, what);
}

static float number_at(const checkpoint *c, part p, size_t at) {
  const smma_archive_type *type = c->part[p].type;
  return (float)smma_format_decode(type->format, smma_load((size_t)type->bits / 8, c->data[p], at));
}

static bool is_real(const smma_archive_type *type) {
  return type->bits >= 16 && !type->integers && type->format != SMMA_NO_FORMAT;
}

/* Reads scale factors that are encodings of 8 bits. */
static bool read_codes(const checkpoint *c, smma_stored *s) {
  const unsigned char *codes = c->data[SCALES];
  memcpy(s->scale_codes, codes, s->scale_count);
  for (size_t i = 0; s->scale == SMMA_UE4M3 && i < s->scale_count; i++)
    if (codes[i] >> 7) return fail_part(c, SCALES, "a factor is negative");
  return true;
}

static bool read_scales(checkpoint *c, smma_stored *s) {
  const smma_archive_type *type = c->part[SCALES].type;
  s->scale = is_real(type) ? SMMA_F32 : is_power_of_two_scale(c) ? SMMA_UE8M0 : SMMA_UE4M3;
  if (s->scale == SMMA_UE4M3 && type->format != SMMA_E4M3)
    return fail_part(c, SCALES, "scale factors are of dtype F32, F16, BF16, F8_E4M3, F8_E8M0 or U8 (E8M0)");
  if (s->element == SMMA_E2M1 && c->part[ELEMENTS].type->format == SMMA_U8 && s->scale == SMMA_F32)
    return fail_part(c, ELEMENTS,
                     "U8 with scale factors in floating point is no form that is read; dequantise it with "
                     "the package that wrote it, and save the numbers");
  if (s->scale == SMMA_F32 && elements_of(&c->part[SCALES].shape) == 1 && !c->has[FACTOR]) {
    s->scale = SMMA_NO_FORMAT, s->block[0] = s->block[1] = 1;
    return true;
  }
  if (!take_blocks(c, s)) return false;
  s->scale_codes = malloc(s->scale_count * smma_format_bytes(s->scale) + 1);
  return s->scale_codes || smma_no_memory(c->archive.error);
}

static bool decode_scales(checkpoint *c, smma_stored *s) {
  s->factor = 1, s->divides = c->names->divides && c->has[FACTOR];
  if (c->has[FACTOR]) s->factor = number_at(c, FACTOR, 0);
  if (s->divides && s->factor == 0) return fail_part(c, FACTOR, "it is 0, and factors are divided by it");
  if (!s->scale_codes) s->factor = number_at(c, SCALES, 0);
  if (s->scale != SMMA_F32) return !s->scale_codes || read_codes(c, s);
  for (size_t i = 0; i < s->scale_count; i++) ((float *)s->scale_codes)[i] = number_at(c, SCALES, i);
  return true;
}

/* Makes the tensor of a quantised matrix: its numbers in FP32, and its stored form. */
static bool make_stored(checkpoint *c, smma_tensor *tensor) {
  smma_stored *s = tensor->stored = calloc(1, sizeof *s);
  if (!s) return smma_no_memory(c->archive.error);
  if (c->has[FACTOR] && (elements_of(&c->part[FACTOR].shape) != 1 || !is_real(c->part[FACTOR].type)))
    return fail_part(c, FACTOR, "one number in floating point is needed");
  s->rows = tensor->rows, s->columns = tensor->columns;
  if (!take_elements(c, s) || !read_elements(c, s) || !read_scales(c, s) || !decode_scales(c, s)) return false;
  tensor->format = SMMA_F32, tensor->bytes = 4, tensor->columns = s->columns;
  if (!smma_tensor_allocate(tensor, s->rows * s->columns, c->archive.path, c->archive.error)) return false;
  smma_stored_numbers(s, tensor->data);
  return true;
}

static bool read_matrix(checkpoint *c, const char *name, smma_tensor *tensor) {
  if (!choose(c, name) || !find_parts(c) || !take_shape(c, tensor)) return false;
  for (part p = SCALES; p <= FACTOR; p++)
    if (c->has[p] && !select_index(c, p)) return false;
  return read_parts(c) && (c->names ? make_stored(c, tensor) : make_plain(c, tensor));
}

/* Reads a matrix, after the names of its parts were found, and frees the parts' memory. */
static bool read_and_close(checkpoint *c, const char *name, smma_tensor *tensor) {
  smma_tensor result = {.format = SMMA_NO_FORMAT};
  const bool done = read_matrix(c, name, &result);
  for (int p = 0; p < PARTS; p++) {
    free(c->data[p]);
    if (!c->shard[p].archive.tensors) continue;
    smma_archive_close(&c->shard[p].archive);
    smma_input_close(&c->shard[p].input);
  }
  if (done)
    *tensor = result;
  else
    smma_tensor_free(&result);
  return done;
}

bool smma_safetensors_read(smma_input *input, const char *name, smma_tensor *tensor, smma_error *error) {
  checkpoint *c = calloc(1, sizeof *c);
  if (!c) return smma_no_memory(error);
  bool done = smma_archive_open(input, &c->archive, error);
  if (done) {
    done = read_and_close(c, name, tensor);
    smma_archive_close(&c->archive);
  }
  free(c);
  return done;
}

bool smma_safetensors_read_index(smma_input *input, const char *name, smma_tensor *tensor, smma_error *error) {
  const size_t size = input->size == SMMA_SIZE_UNKNOWN ? 0 : (size_t)input->size;
  size_t got = 0;
  char *text = smma_input_take(input, size, &got, error);
  if (!text) return false;
  smma_datum *index = smma_datum_read(input->path, text, got, error);
  const smma_datum *names = smma_datum_get(index, "weight_map");
  checkpoint *c = index ? calloc(1, sizeof *c) : NULL;
  bool done = c || (index && smma_no_memory(error));
  free(text);
  if (c && smma_datum_kind_of(names) != SMMA_DATUM_RECORD)
    done = smma_fail(error, "%s: this JSON is no index of .safetensors files: it has no 'weight_map'", input->path);
  if (c && done) {
    c->archive = (smma_archive){.path = input->path, .tensors = (smma_datum *)names, .error = error};
    c->is_index = true;
    done = read_and_close(c, name, tensor);
  }
  free(c);
  smma_datum_free(index);
  return done;
}
