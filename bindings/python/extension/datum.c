/* Converts results of studies to Python objects. */
#include "datum/datum.h"

#include <stdlib.h>
#include <string.h>

#include "binding.h"

static PyObject *object_of(const smma_datum *d);

static PyObject *list_of(const smma_datum *d) {
  const size_t size = smma_datum_size(d);
  PyObject *list = PyList_New((Py_ssize_t)size);
  for (size_t i = 0; list && i < size; i++) {
    PyObject *element = object_of(smma_datum_at(d, i));
    if (!element || PyList_SetItem(list, (Py_ssize_t)i, element) != 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *dict_of(const smma_datum *d) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < smma_datum_size(d); i++) {
    PyObject *element = object_of(smma_datum_at(d, i));
    if (!element || PyDict_SetItemString(dict, smma_datum_key(d, i), element) != 0) Py_CLEAR(dict);
    Py_XDECREF(element);
  }
  return dict;
}

static PyObject *object_of(const smma_datum *d) {
  switch (smma_datum_kind_of(d)) {
    case SMMA_DATUM_NULL: Py_RETURN_NONE;
    case SMMA_DATUM_FLAG: return PyBool_FromLong(smma_datum_flag_of(d));
    case SMMA_DATUM_COUNT: return PyLong_FromLongLong(smma_datum_integer_of(d));
    case SMMA_DATUM_REAL: return PyFloat_FromDouble(smma_datum_real_of(d));
    case SMMA_DATUM_TEXT: return PyUnicode_FromString(smma_datum_text_of(d));
    case SMMA_DATUM_LIST: return list_of(d);
    case SMMA_DATUM_RECORD: return dict_of(d);
  }
  return NULL;
}

PyObject *value_from(smma_datum *datum) {
  PyObject *value = smma_datum_is_complete(datum) ? object_of(datum) : PyErr_NoMemory();
  smma_datum_free(datum);
  return value;
}

char *written(text_writer *write, const void *content) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  bool done = stream && write(stream, content);
  done = stream && fclose(stream) == 0 && done;
  if (done) return text;
  free(text);
  return NULL;
}

const char *text_of(PyObject *object) {
  Py_ssize_t length;
  const char *text = NULL;
  if (!PyUnicode_Check(object))
    PyErr_Format(PyExc_TypeError, "%R is no text", object);
  else
    text = PyUnicode_AsUTF8AndSize(object, &length);
  if (!text || strlen(text) == (size_t)length) return text;
  PyErr_Format(PyExc_ValueError, "%R has a zero character; names and paths have none", object);
  return NULL;
}

PyObject *text_from(char *text) {
  PyObject *object = text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : PyErr_NoMemory();
  free(text);
  return object;
}

/* Appends to `to` the name of the Python argument that corresponds to the command's option ("round_in" for "--round-
   in"). Returns the text after the option. */
static const char *append_argument(const char *option, char *to, size_t size) {
  static const char *const others[][2] = {{"--in", "in_dtype"}, {"--out", "out_dtype"}, {"-C", "c"}};
  const char *name = option + strspn(option, "-");
  const size_t length = (size_t)(name - option) + strspn(name, "abcdefghijklmnopqrstuvwxyzC-");
  char *end = to + strlen(to);
  snprintf(end, size - (size_t)(end - to), "%.*s", (int)(option + length - name), name);
  for (char *c = end; *c; c++)
    if (*c == '-') *c = '_';
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (strlen(others[i][0]) == length && strncmp(option, others[i][0], length) == 0)
      snprintf(end, size - (size_t)(end - to), "%s", others[i][1]);
  return option + length;
}

static bool is_option(const char *text) {
  return (text[0] == '-' && text[1] == '-' && strspn(text + 2, "abcdefghijklmnopqrstuvwxyz")) ||
         (strncmp(text, "-C", 2) == 0 && !strspn(text + 2, "abcdefghijklmnopqrstuvwxyz"));
}

PyObject *fail_with(const smma_error *error) {
  char text[2 * sizeof error->text] = "";
  const char *from = error->text;
  if (PyErr_Occurred()) return NULL;
  if (error->status == SMMA_NO_MEMORY) return PyErr_NoMemory();
  while (*from) {
    const bool starts = from == error->text || strchr(" (", from[-1]);
    const size_t used = strlen(text);
    if (starts && is_option(from))
      from = append_argument(from, text, sizeof text);
    else
      snprintf(text + used, sizeof text - used, "%c", *from++);
  }
  PyErr_SetString(PyExc_ValueError, text);
  return NULL;
}

/* ---- Notes ---- */

static void append_note(const char *text, void *list) { smma_datum_append(list, smma_datum_text(text)); }

smma_notes listed_notes(void) { return (smma_notes){append_note, smma_datum_list()}; }

PyObject *list_of_notes(smma_notes *notes) {
  smma_datum *list = notes->context;
  notes->context = NULL;
  return value_from(list);
}
