/* Reads matrices of .safetensors files: joins the tensors of a matrix, checks their shapes, and reads their data. */
#include "matrix/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "matrix/stored.h"

/* ---- Parts ---- */

/* Returns the archive that holds a part: with an index, the part's own file. */
static smma_archive *archive_of(smma_checkpoint *c, smma_matrix_part p) {
  return c->is_index ? &c->shard[p].archive : &c->archive;
}

/* Reports whether elements of this type are useless without scale factors: they are narrow, or packed integers. */
static bool is_narrow(const smma_checkpoint *c) {
  const smma_archive_type *type = c->part[SMMA_MATRIX_ELEMENTS].type;
  return (type->bits <= 8 && type->format != SMMA_B1) || type->format == SMMA_S32;
}

/* Opens the file that the index names for a part; it lies in the folder of the index. */
static bool open_shard(smma_checkpoint *c, smma_matrix_part p) {
  smma_shard *s = &c->shard[p];
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

static bool describe(smma_checkpoint *c, smma_matrix_part p) {
  c->has[p] = true;
  return (!c->is_index || open_shard(c, p)) && smma_archive_describe(archive_of(c, p), c->name[p], &c->part[p]);
}

/* Reports whether ComfyUI has written the file: it stores scale factors of blocks in the order of a GPU's kernel
   (comfy/quant_ops.py, TensorCoreNVFP4Layout). */
static bool is_comfy(const smma_checkpoint *c) {
  static const char mark[] = "comfy_quant", layer[] = "weight";
  const smma_archive *file = c->is_index ? &c->shard[SMMA_MATRIX_ELEMENTS].archive : &c->archive;
  const smma_datum *about = smma_datum_get(file->tensors, "__metadata__");
  char full_name[SMMA_MOST_TENSOR_NAME];
  size_t length;
  return smma_datum_get(about, "_quantization_metadata") ||
         (smma_name_ends(c->name[SMMA_MATRIX_ELEMENTS], layer, &length) &&
          smma_checkpoint_has(&c->archive, c->name[SMMA_MATRIX_ELEMENTS], length, mark, full_name));
}

/* Fails if the elements belong to a form that is not read. */
static bool is_read(const smma_checkpoint *c) {
  char other_name[SMMA_MOST_TENSOR_NAME], reason[160];
  size_t length;
  for (const smma_unread_form *u = smma_unread_forms; u < smma_unread_forms + smma_unread_form_count && is_narrow(c);
       u++)
    if (smma_name_ends(c->name[SMMA_MATRIX_ELEMENTS], u->elements, &length) &&
        smma_checkpoint_has(&c->archive, c->name[SMMA_MATRIX_ELEMENTS], length, u->other, other_name)) {
      snprintf(reason, sizeof reason,
               "%s is not read; dequantise it with the package that wrote it, and save the numbers", u->form);
      return smma_checkpoint_fail(c, SMMA_MATRIX_ELEMENTS, reason);
    }
  return true;
}

/* Finds the names of the scale factors and of the other parts that belong to the elements, if the elements need
   them. */
static bool find_parts(smma_checkpoint *c) {
  size_t length = 0;
  if (!describe(c, SMMA_MATRIX_ELEMENTS) || !is_read(c)) return false;
  for (const smma_naming *n = smma_namings; n < smma_namings + smma_naming_count && is_narrow(c) && !c->names; n++) {
    if (!smma_name_ends(c->name[SMMA_MATRIX_ELEMENTS], n->end[SMMA_MATRIX_ELEMENTS], &length)) continue;
    if (smma_checkpoint_has(&c->archive, c->name[SMMA_MATRIX_ELEMENTS], length, n->end[SMMA_MATRIX_SCALES],
                            c->name[SMMA_MATRIX_SCALES]))
      c->names = n;
    else if (*n->end[SMMA_MATRIX_ELEMENTS])
      return smma_fail(
          c->archive.error,
          "%s: tensor '%.100s' has no scale factors: the file lacks '%.100s'; save both in one file, or name the "
          "index of their files",
          c->archive.path, c->name[SMMA_MATRIX_ELEMENTS], c->name[SMMA_MATRIX_SCALES]);
  }
  if (!c->names) return true;
  for (smma_matrix_part p = SMMA_MATRIX_FACTOR; p <= SMMA_MATRIX_SHAPE; p++)
    if (*c->names->end[p] &&
        smma_checkpoint_has(&c->archive, c->name[SMMA_MATRIX_ELEMENTS], length, c->names->end[p], c->name[p]) &&
        !describe(c, p))
      return false;
  return describe(c, SMMA_MATRIX_SCALES) &&
         (c->part[SMMA_MATRIX_SCALES].type->bits > 8 || !is_comfy(c) ||
          smma_checkpoint_fail(
              c, SMMA_MATRIX_SCALES,
              "ComfyUI's order of scale factors is not read; dequantise it there, and save the numbers"));
}

/* ---- Shapes ---- */

/* Reduces a part to the matrix that the index selects along its leading axis. */
static bool select_index(smma_checkpoint *c, smma_matrix_part p) {
  smma_archive_tensor *t = &c->part[p];
  const size_t all = t->shape.count ? t->shape.extent[0] : 0;
  char reason[128];
  if (!c->is_indexed || (p != SMMA_MATRIX_ELEMENTS && smma_shape_elements(&t->shape) == 1)) return true;
  snprintf(reason, sizeof reason, "it has no matrix [%zu]: its leading axis has %zu", c->index, all);
  if (p == SMMA_MATRIX_ELEMENTS && t->shape.count < 3)
    return smma_checkpoint_fail(c, p, "it is one matrix; leave out the number in []");
  if (c->index >= all || (p != SMMA_MATRIX_ELEMENTS && all != c->leading)) return smma_checkpoint_fail(c, p, reason);
  c->leading = all;
  if ((t->end - t->begin) % all || smma_shape_elements(&t->shape) / all * (size_t)t->type->bits % 8)
    return smma_checkpoint_fail(c, p, "its matrices do not fill whole bytes");
  const size_t bytes = (t->end - t->begin) / all;
  t->begin += c->index * bytes, t->end = t->begin + bytes;
  memmove(t->shape.extent, t->shape.extent + 1, (size_t)--t->shape.count * sizeof *t->shape.extent);
  return true;
}

/* Drops axes of length 1 before a matrix from its shape and from that of its rows' factors, as an index [0] does. */
static void drop_leading_ones(smma_shape *elements, smma_shape *scales) {
  while (elements->count > 2 && elements->extent[0] == 1 && scales->count == elements->count - 1 &&
         scales->extent[0] == 1) {
    smma_shape_drop_ones(elements, elements->count - 1);
    smma_shape_drop_ones(scales, scales->count - 1);
  }
}

/* Makes a matrix of the elements' shape. gpt-oss has one more axis, because it stores a row as blocks of bytes. */
static bool take_shape(smma_checkpoint *c, smma_tensor *tensor) {
  smma_shape *shape = &c->part[SMMA_MATRIX_ELEMENTS].shape;
  smma_error where;
  size_t elements;
  char text[SMMA_SHAPE_TEXT], reason[2 * SMMA_SHAPE_TEXT];
  if (!select_index(c, SMMA_MATRIX_ELEMENTS)) return false;
  if (c->names && !c->is_indexed) drop_leading_ones(shape, &c->part[SMMA_MATRIX_SCALES].shape);
  if (c->names && strcmp(c->names->end[SMMA_MATRIX_ELEMENTS], "_blocks") == 0) {
    smma_shape_drop_ones(shape, 3);
    if (shape->count >= 3) shape->extent[shape->count - 2] *= shape->extent[shape->count - 1], shape->count--;
  }
  smma_shape_drop_ones(shape, 2);
  smma_shape_text(shape, text);
  snprintf(reason, sizeof reason, "shape %s holds several matrices; name one as NAME[0]", text);
  if (shape->count == 3 && !c->is_indexed) return smma_checkpoint_fail(c, SMMA_MATRIX_ELEMENTS, reason);
  smma_fail(&where, "%s: header (JSON from byte 8): tensor '%.100s'", c->archive.path, c->name[SMMA_MATRIX_ELEMENTS]);
  return smma_shape_matrix(shape, where.text, tensor, &elements, c->archive.error);
}

/* ---- Data ---- */

/* Reads the parts in the order of the file. */
static bool read_parts(smma_checkpoint *c) {
  for (bool read[SMMA_MATRIX_PARTS] = {false};;) {
    int next = -1;
    for (int p = 0; p < SMMA_MATRIX_PARTS; p++)
      if (c->has[p] && !read[p] && (next < 0 || c->part[p].begin < c->part[next].begin)) next = p;
    if (next < 0) return c->is_index || smma_archive_finish(&c->archive);
    read[next] = true;
    c->data[next] = smma_archive_take(archive_of(c, (smma_matrix_part)next), c->part[next].begin, c->part[next].end);
    if (!c->data[next]) return false;
    const smma_archive_tensor *t = &c->part[next];
    if (t->type->bits > 8)
      smma_swap_elements(c->data[next], (t->end - t->begin) / (size_t)(t->type->bits / 8), t->type->bits / 8, false);
  }
}

/* Makes the tensor of elements that are stored as they are. */
static bool make_plain(smma_checkpoint *c, smma_tensor *tensor) {
  const smma_archive_type *type = c->part[SMMA_MATRIX_ELEMENTS].type;
  const size_t elements = tensor->rows * tensor->columns;
  tensor->format = type->format;
  tensor->bytes = type->bits < 8 ? 1 : type->bits / 8;
  tensor->integers = type->integers;
  if (type->bits >= 8) {
    tensor->data = c->data[SMMA_MATRIX_ELEMENTS];
    c->data[SMMA_MATRIX_ELEMENTS] = NULL;
    return true;
  }
  if (!smma_tensor_allocate(tensor, elements, c->archive.path, c->archive.error)) return false;
  smma_checkpoint_unpack(tensor->data, c->data[SMMA_MATRIX_ELEMENTS], elements, type->bits);
  return true;
}

static bool read_matrix(smma_checkpoint *c, const char *name, smma_tensor *tensor) {
  if (!smma_checkpoint_choose(c, name) || !find_parts(c) || !take_shape(c, tensor)) return false;
  for (smma_matrix_part p = SMMA_MATRIX_SCALES; p <= SMMA_MATRIX_FACTOR; p++)
    if (c->has[p] && !select_index(c, p)) return false;
  return read_parts(c) && (c->names ? smma_checkpoint_make_stored(c, tensor) : make_plain(c, tensor));
}

/* Reads a matrix, after the names of its parts were found, and frees the parts' memory. */
static bool read_and_close(smma_checkpoint *c, const char *name, smma_tensor *tensor) {
  smma_tensor result = {.format = SMMA_NO_FORMAT};
  const bool done = read_matrix(c, name, &result);
  for (int p = 0; p < SMMA_MATRIX_PARTS; p++) {
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
  smma_checkpoint *c = calloc(1, sizeof *c);
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
  size_t bytes_read = 0;
  char *text = smma_input_take(input, size, &bytes_read, error);
  if (!text) return false;
  smma_datum *index = smma_datum_read(input->path, text, bytes_read, error);
  const smma_datum *names = smma_datum_get(index, "weight_map");
  smma_checkpoint *c = index ? calloc(1, sizeof *c) : NULL;
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
