/* Reads the weights of checkpoints. */
#include <string.h>

#include "binding.h"
#include "isa/format_name.h"
#include "matrix/stored.h"

static PyObject *array_of_matrix(smma_format format, const void *data, size_t rows, size_t columns) {
  const npy_intp shape[2] = {(npy_intp)rows, (npy_intp)columns};
  PyObject *array = PyArray_NewFromDescr(&PyArray_Type, array_dtype_of(format), 2, shape, NULL, NULL, 0, NULL);
  if (array) memcpy(PyArray_DATA((PyArrayObject *)array), data, (size_t)PyArray_NBYTES((PyArrayObject *)array));
  return array;
}

/* Returns the parts of a block-scaled or quantised matrix: its elements, its scale factors as stored (one for each
   block; None if there are none), and what follows them in python_weight's tuple. */
static PyObject *stored_parts(const smma_tensor *t) {
  const smma_stored *s = t->stored;
  char form[SMMA_STORED_TEXT];
  smma_tensor values, none;
  smma_error error;
  float factor;
  PyObject *scales =
      s->scale_codes ? array_of_matrix(s->scale, s->scale_codes, s->scale_count / s->scale_columns, s->scale_columns)
                     : Py_NewRef(Py_None);
  if (!scales) return NULL;
  if (!smma_stored_split(s, true, SMMA_NO_FORMAT, 0, &values, &none, &factor, &error)) {
    Py_DECREF(scales);
    return fail_with(&error);
  }
  PyObject *elements = array_of_matrix(values.format, values.data, values.rows, values.columns);
  smma_tensor_free(&values);
  return Py_BuildValue("(NNdnnsN)", elements, scales, (double)factor, (Py_ssize_t)(s->scale_codes ? s->block[0] : 0),
                       (Py_ssize_t)(s->scale_codes ? s->block[1] : 0), smma_stored_text(s, form),
                       array_of_matrix(SMMA_F32, t->data, t->rows, t->columns));
}

/* Returns the parts of a matrix of plain numbers, in python_weight's order: its elements and the name of their format,
   or of NumPy's dtype ("uint64") for integers that are not one of the formats; no scale factors. The two kinds of names
   are distinct: "u8" is a format of 8 bits, and NumPy's uint64. */
static PyObject *plain_parts(const smma_tensor *t) {
  static const smma_format of_bytes[] = {[1] = SMMA_U8, [2] = SMMA_F16, [4] = SMMA_F32, [8] = SMMA_F64};
  const bool is_named = t->format != SMMA_NO_FORMAT;
  PyObject *values = array_of_matrix(is_named ? t->format : of_bytes[t->bytes], t->data, t->rows, t->columns);
  const char *kind = t->integers == SMMA_UNSIGNED_INTEGERS ? "uint" : t->integers ? "int" : "V";
  char dtype[16];
  snprintf(dtype, sizeof dtype, "%s%d", kind, t->integers ? 8 * t->bytes : t->bytes);
  return Py_BuildValue("(NOdnnsO)", values, Py_None, 1.0, (Py_ssize_t)0, (Py_ssize_t)0,
                       is_named ? smma_format_text(t->format) : dtype, Py_None);
}

static bool read_weight(PyObject *source, const char *path, const char *name, smma_tensor *t, smma_error *error) {
  smma_input input;
  char *bytes;
  Py_ssize_t size;
  if (source == Py_None) return smma_tensor_read_named(path, name, t, error);
  if (PyBytes_AsStringAndSize(source, &bytes, &size) < 0) return false;
  if (!smma_input_memory(bytes, (size_t)size, path, &input, error)) return false;
  const bool done = smma_safetensors_read(&input, name, t, error);
  smma_input_close(&input);
  return done;
}

/* Reads a weight, from (path, name or None, the file's bytes or None). Returns (elements, scale factors, factor, rows
   and columns of a block, name of the form, numbers as f32 or None). */
PyObject *python_weight(PyObject *module, PyObject *arguments) {
  PyObject *source, *parts;
  const char *path, *name;
  smma_tensor t;
  smma_error error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "szO", &path, &name, &source)) return NULL;
  if (!read_weight(source, path, name, &t, &error)) return PyErr_Occurred() ? NULL : fail_with(&error);
  parts = t.stored ? stored_parts(&t) : plain_parts(&t);
  smma_tensor_free(&t);
  return parts;
}
