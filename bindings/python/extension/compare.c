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
#pragma omp parallel for num_threads(threads) if (x.rows * x.bytes > 1 << 20) reduction(&& : same)
  for (npy_intp i = 0; i < x.rows; i++)
    same = same && !memcmp(x.data + i * x.pitch, y.data + i * y.pitch, (size_t)x.bytes);
  return same;
}

static bool are_lines(PyArrayObject *x) {
  return PyArray_NDIM(x) == 2 && (PyArray_DIM(x, 1) < 2 || PyArray_STRIDE(x, 1) == PyArray_ITEMSIZE(x));
}

/* Whether two such matrices of one shape and dtype have the same bits. */
PyObject *python_same_lines(PyObject *module, PyObject *arguments) {
  PyArrayObject *one, *other;
  PyThreadState *thread;
  bool same;
  int threads;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!O!i", &PyArray_Type, &one, &PyArray_Type, &other, &threads)) return NULL;
  if (!are_lines(one) || !are_lines(other) || !PyArray_SAMESHAPE(one, other) ||
      PyArray_ITEMSIZE(one) != PyArray_ITEMSIZE(other))
    return PyErr_Format(PyExc_ValueError, "two matrices of one shape and dtype, whose rows have no gaps, are needed");
  threads = threads_allowed(smma_threads(threads));
  thread = PyEval_SaveThread();
  same = same_lines(lines_of(one), lines_of(other), threads);
  PyEval_RestoreThread(thread);
  return PyBool_FromLong(same);
}

/* (results that differ, the largest difference in units in the last place, differences with NaN or infinity, the
   largest difference over the largest result of the first) of two
   arrays of one dtype and shape, whose format is named. */
PyObject *python_difference(PyObject *module, PyObject *arguments) {
  PyArrayObject *one, *other;
  const char *name;
  smma_format format;
  smma_comparison d;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!O!s", &PyArray_Type, &one, &PyArray_Type, &other, &name)) return NULL;
  format = smma_format_find(name);
  if (format == SMMA_NO_FORMAT || !array_holds(one, format) || !array_holds(other, format) ||
      !PyArray_SAMESHAPE(one, other) || !PyArray_IS_C_CONTIGUOUS(one) || !PyArray_IS_C_CONTIGUOUS(other))
    return PyErr_Format(PyExc_ValueError, "two arrays of one shape in %s, without gaps, are needed", name);
  d = smma_compare_results(format, PyArray_DATA(one), PyArray_DATA(other), (size_t)PyArray_SIZE(one));
  return Py_BuildValue("(nKnd)", (Py_ssize_t)d.different, (unsigned long long)d.largest_ulps, (Py_ssize_t)d.special,
                       smma_relative_difference(d));
}

static bool take_matrix(PyObject *object, const char *what, smma_format format, smma_rounding rounding,
                        smma_encoded_matrix *matrix, PyArrayObject **array) {
  PyArrayObject *x = array_of(object);
  *array = NULL;
  if (x && format == SMMA_NO_FORMAT) format = array_format_of(x) == SMMA_NO_FORMAT ? SMMA_F64 : array_format_of(x);
  if (x && PyArray_NDIM(x) != 2) {
    PyErr_Format(PyExc_ValueError, "%s has %d axes; a matrix has two", what, PyArray_NDIM(x));
    Py_CLEAR(x);
  }
  if (x && !array_holds(x, format)) /* the product has warned of what is lost */
    x = array_rounded(x, what, format, rounding, SMMA_OVERFLOW_DEFAULT, true);
  *array = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  if (!*array) return false;
  *matrix = (smma_encoded_matrix){(smma_format)format, (size_t)PyArray_DIM(*array, 0), (size_t)PyArray_DIM(*array, 1),
                                  PyArray_DATA(*array)};
  return true;
}

static bool check_shapes(const smma_encoded_matrix *a, const smma_encoded_matrix *b, const smma_encoded_matrix *d) {
  if (a->columns == b->rows && a->rows == d->rows && b->columns == d->columns) return true;
  PyErr_Format(PyExc_ValueError, "a is %zu x %zu, b %zu x %zu and d %zu x %zu: d is not the shape of a b", a->rows,
               a->columns, b->rows, b->columns, d->rows, d->columns);
  return false;
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
      take_matrix(object[2], "d", smma_format_find(d_format), SMMA_ROUND_NEAREST_EVEN, &d, &array[2]) && check_shapes(&a, &b, &d)) {
    PyThreadState *thread = PyEval_SaveThread();
    bool done = smma_error_against_exact(&a, &b, &d, NULL, NULL, &error);
    PyEval_RestoreThread(thread);
    result = done ? Py_BuildValue("(ddn)", error.largest, error.root_mean_square, (Py_ssize_t)error.left_out)
                  : PyErr_NoMemory();
  }
  for (int i = 0; i < 3; i++) Py_XDECREF(array[i]);
  return result;
}
