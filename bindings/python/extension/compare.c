/* Whether matrices are the same; how far results are from each other, and from the exact product. */
#include "numerics/compare.h"

#include <string.h>

#include "binding.h"
#include "host/thread.h"

/* A matrix whose rows are contiguous, at any distance. */
typedef struct {
  const char *data;
  npy_intp rows, bytes, pitch;
} lines;

static lines lines_of(PyArrayObject *x) {
  return (lines){PyArray_DATA(x), PyArray_DIM(x, 0), PyArray_DIM(x, 1) * PyArray_ITEMSIZE(x), PyArray_STRIDE(x, 0)};
}

static bool same_lines(lines x, lines y, int threads) {
  bool same = true;
  if (threads > smma_most_threads()) threads = smma_most_threads();
#pragma omp parallel for num_threads(threads) if (x.rows * x.bytes > 1 << 20) reduction(&& : same)
  for (npy_intp i = 0; i < x.rows; i++)
    same = same && !memcmp(x.data + i * x.pitch, y.data + i * y.pitch, (size_t)x.bytes);
  return same;
}

/* Whether two such matrices of one shape and dtype have the same bits. */
PyObject *python_same_lines(PyObject *module, PyObject *arguments) {
  PyArrayObject *one, *other;
  PyThreadState *thread;
  bool same;
  int threads;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!O!i", &PyArray_Type, &one, &PyArray_Type, &other, &threads)) return NULL;
  threads = threads_allowed(threads ? threads : smma_default_threads());
  thread = PyEval_SaveThread();
  same = same_lines(lines_of(one), lines_of(other), threads);
  PyEval_RestoreThread(thread);
  return PyBool_FromLong(same);
}

/* (results that differ, the largest difference in units in the last place, differences with NaN or infinity) of two
   arrays of one dtype and shape, whose format is named. */
PyObject *python_difference(PyObject *module, PyObject *arguments) {
  PyArrayObject *one, *other;
  const char *format;
  smma_comparison d;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!O!s", &PyArray_Type, &one, &PyArray_Type, &other, &format)) return NULL;
  d = smma_compare_results((smma_format)smma_format_find(format), PyArray_DATA(one), PyArray_DATA(other),
                           (size_t)PyArray_SIZE(one));
  return Py_BuildValue("(nKn)", (Py_ssize_t)d.different, (unsigned long long)d.largest_ulps, (Py_ssize_t)d.special);
}

static bool take_matrix(PyObject *object, const char *what, smma_format format, smma_rounding rounding,
                        smma_encoded_matrix *matrix, PyArrayObject **array) {
  PyArrayObject *x = array_of(object);
  *array = NULL;
  if (x && format == SMMA_NO_FORMAT) format = array_format_of(x) == SMMA_NO_FORMAT ? SMMA_F64 : array_format_of(x);
  x = x ? array_as(x, what, format, rounding) : NULL;
  *array = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  if (!*array) return false;
  *matrix = (smma_encoded_matrix){(smma_format)format, (size_t)PyArray_DIM(*array, 0), (size_t)PyArray_DIM(*array, 1),
                                  PyArray_DATA(*array)};
  return true;
}

/* (largest, root mean square, left out) of d against the exact a b: matrices of two axes; d's format is named, those of
   a and b are named or None for their own, and so is how they are rounded. */
PyObject *python_error(PyObject *module, PyObject *arguments) {
  PyObject *object[3], *result = NULL;
  const char *d_format, *a_format, *b_format, *mode;
  int rounding;
  PyArrayObject *array[3] = {NULL};
  smma_encoded_matrix a, b, d;
  smma_product_error error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOzzss", &object[0], &object[1], &object[2], &a_format, &b_format, &d_format,
                        &mode))
    return NULL;
  rounding = rounding_named("round_in", mode);
  if (rounding >= 0 &&
      take_matrix(object[0], "a", smma_format_find(a_format), (smma_rounding)rounding, &a, &array[0]) &&
      take_matrix(object[1], "b", smma_format_find(b_format), (smma_rounding)rounding, &b, &array[1]) &&
      take_matrix(object[2], "d", smma_format_find(d_format), SMMA_ROUND_NEAREST_EVEN, &d, &array[2])) {
    PyThreadState *thread = PyEval_SaveThread();
    bool done = smma_error_against_exact(&a, &b, &d, NULL, NULL, &error);
    PyEval_RestoreThread(thread);
    result = done ? Py_BuildValue("(ddn)", error.largest, error.root_mean_square, (Py_ssize_t)error.left_out)
                  : PyErr_NoMemory();
  }
  for (int i = 0; i < 3; i++) Py_XDECREF(array[i]);
  return result;
}
