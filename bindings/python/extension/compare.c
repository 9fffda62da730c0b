/* Compares matrices, and one product on several targets. */
#include "compare/compare.h"

#include <string.h>

#include "binding.h"
#include "host/thread.h"

/* A matrix whose rows are contiguous: `bytes` is the size of a row, `pitch` the distance of two rows in bytes. */
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

/* Reports whether two matrices of one shape and dtype, with contiguous rows, have the same bits; from (one, other,
   threads). */
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

/* ---- Targets ---- */

/* Returns the format in which a target reads A or B: the instruction's format if the array can hold its encodings,
   otherwise the format of the array's dtype. */
static smma_format format_read(const smma_instruction *i, bool of_a, const PyArrayObject *x) {
  const smma_format input = of_a ? i->a : i->b;
  return !i->scale_block && array_holds(x, input) ? input : array_format_of(x);
}

/* Finds the format in which all targets read an array. Fails with an exception if they read it in several. */
static bool find_format(const smma_compare_request *r, const PyArrayObject *x, bool of_a, smma_format *format) {
  *format = r->targets ? format_read(r->target[0].instruction, of_a, x) : array_format_of(x);
  for (size_t i = 1; i < r->targets; i++) {
    if (format_read(r->target[i].instruction, of_a, x) == *format) continue;
    PyErr_Format(PyExc_ValueError,
                 "%s: %S may be numbers or encodings, and the targets have several formats; give an array whose dtype "
                 "names its format, such as x.view(ml_dtypes.float8_e4m3fn)",
                 of_a ? "a" : "b", PyArray_DESCR(x));
    return false;
  }
  return true;
}

/* Reads A or B in the format in which the targets read it; numbers without a format become float64. */
static bool take_matrix(PyObject *object, const smma_compare_request *r, bool of_a, smma_encoded_matrix *matrix,
                        PyArrayObject **array) {
  PyArrayObject *x = array_of(object);
  const char *what = of_a ? "a" : "b";
  smma_format format;
  *array = NULL;
  if (x && PyArray_NDIM(x) != 2) {
    PyErr_Format(PyExc_ValueError, "%s has %d axes; a matrix has two", what, PyArray_NDIM(x));
    Py_CLEAR(x);
  }
  if (x && !find_format(r, x, of_a, &format)) Py_CLEAR(x);
  if (x && format == SMMA_NO_FORMAT) {
    format = SMMA_F64;
    x = array_rounded(x, what, format, SMMA_ROUND_NEAREST_EVEN, NULL, SMMA_OVERFLOW_DEFAULT, true);
  }
  *array = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  if (!*array) return false;
  *matrix = (smma_encoded_matrix){format, (size_t)PyArray_DIM(*array, 0), (size_t)PyArray_DIM(*array, 1),
                                  PyArray_DATA(*array)};
  return true;
}

/* ---- Results of the user's own ---- */

/* Returns a result of the user's own in the targets' format, given as encodings or as numbers that the format holds
   exactly. */
static PyArrayObject *take_own(PyObject *object, const char *name, smma_format format, size_t m, size_t n) {
  PyArrayObject *x = array_of(object), *dense;
  size_t changed = 0;
  if (x && (PyArray_NDIM(x) != 2 || (size_t)PyArray_DIM(x, 0) != m || (size_t)PyArray_DIM(x, 1) != n)) {
    PyErr_Format(PyExc_ValueError, "d: %s is not %zu x %zu, as the product is", name, m, n);
    Py_CLEAR(x);
  }
  if (x) x = array_exact(x, name, format, &changed);
  if (changed)
    PyErr_Format(PyExc_ValueError, "d: %zu values of %s are not numbers of %s, the format of the targets' results",
                 changed, name, smma_format_name(format));
  dense = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  return dense;
}

bool take_own_results(PyObject *owns, const smma_product_target *target, size_t targets, size_t most,
                      smma_own_result *own, size_t *count, PyArrayObject **array) {
  const smma_format d = smma_common_d(target, targets);
  const Py_ssize_t given = PyTuple_Size(owns);
  if (given > (Py_ssize_t)most)
    return PyErr_Format(PyExc_ValueError, "d: %zd results; at most %zu are compared", given, most);
  if (given && d == SMMA_NO_FORMAT) {
    PyErr_SetString(PyExc_ValueError, "d: results of the targets are in different formats; give targets with one");
    return false;
  }
  for (Py_ssize_t i = 0; i < given; i++) {
    const char *name;
    PyObject *object, *each = PyTuple_GetItem(owns, i);
    if (!PyTuple_Check(each)) return PyErr_Format(PyExc_TypeError, "d: %R is no name and array", each);
    if (!PyArg_ParseTuple(each, "sO;a result is (name, array)", &name, &object) ||
        !(array[i] = take_own(object, name, d, target->product.m, target->product.n)))
      return false;
    own[(*count)++] = (smma_own_result){name, PyArray_DATA(array[i])};
  }
  return true;
}

/* Makes an array for each target's D: a new list. */
static PyObject *make_results(smma_product_target *target, size_t targets) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < targets; i++) {
    smma_gemm_arguments *g = &target[i].product;
    const npy_intp shape[2] = {(npy_intp)g->m, (npy_intp)g->n};
    PyArray_Descr *dtype = array_dtype_of(smma_plan_d_format(g->plan, target[i].instruction));
    PyObject *d = PyArray_NewFromDescr(&PyArray_Type, dtype, 2, shape, NULL, NULL, 0, NULL);
    if (d) g->d = PyArray_DATA((PyArrayObject *)d);
    if (!d || PyList_Append(list, d) < 0) Py_CLEAR(list);
    Py_XDECREF(d);
  }
  return list;
}

static bool check_shapes(const smma_compare_request *r) {
  const smma_gemm_arguments *g = &r->target[0].product;
  if (r->targets && r->a.rows == g->m && r->a.columns == g->k && r->b.rows == g->k && r->b.columns == g->n) return true;
  PyErr_SetString(PyExc_ValueError, "a and b are not those of the targets");
  return false;
}

static bool write_text(FILE *stream, const void *result) {
  static const char *const matrix[2] = {"a", "b"};
  smma_print_comparison(stream, result, matrix);
  return true;
}

/* Computes the products of a request, whose results are the arrays of `list`. Returns (comparison as a dict, list,
   text). */
static PyObject *compared(smma_compare_request *r, PyObject *list) {
  smma_compare_result *result = PyMem_Malloc(sizeof *result);
  PyObject *value = NULL;
  smma_error error;
  suspended before;
  bool done;
  if (!result) return PyErr_NoMemory();
  r->watch = see_interrupt;
  before = suspend_python();
  done = smma_compare_run(r, result, &error);
  if (resume_python(before))
    value = done ? Py_BuildValue("(NON)", value_from(smma_compare_datum(result)), list,
                                 text_from(written(write_text, result)))
                 : fail_with(&error);
  PyMem_Free(result);
  return value;
}

/* Appends the arrays of the user's own results to the list of results. */
static bool append_results(PyObject *list, PyArrayObject *const *array, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (PyList_Append(list, (PyObject *)array[i]) < 0) return false;
  return true;
}

/* Compares the targets' products and results of the user's own, from (a, b, tuple of (name, array), tuple of targets,
   rtol, atol); both tolerances are None, or none is.
   Returns (comparison as a dict, list of each target's D and of the results, text). */
PyObject *python_compare(PyObject *module, PyObject *arguments) {
  PyObject *object[2], *owns, *list, *tolerance[2], *results = NULL, *value = NULL;
  PyArrayObject *array[2] = {NULL, NULL}, *result[SMMA_MOST_TARGETS] = {NULL};
  smma_own_result own[SMMA_MOST_TARGETS];
  smma_product_target target[SMMA_MOST_TARGETS];
  target_products *products;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOO!O!OO", &object[0], &object[1], &PyTuple_Type, &owns, &PyTuple_Type, &list,
                        &tolerance[0], &tolerance[1]) ||
      !take_targets(list, target, &products))
    return NULL;
  smma_compare_request r = {.target = target, .targets = (size_t)PyTuple_Size(list), .own = own};
  r.has_tolerances = tolerance[0] != Py_None;
  r.rtol = r.has_tolerances ? PyFloat_AsDouble(tolerance[0]) : 0;
  r.atol = r.has_tolerances ? PyFloat_AsDouble(tolerance[1]) : 0;
  if (!PyErr_Occurred() && take_matrix(object[0], &r, true, &r.a, &array[0]) &&
      take_matrix(object[1], &r, false, &r.b, &array[1]) && check_shapes(&r) &&
      take_own_results(owns, target, r.targets, SMMA_MOST_TARGETS - r.targets, own, &r.owns, result) &&
      (results = make_results(target, r.targets)) && append_results(results, result, r.owns))
    value = compared(&r, results);
  Py_XDECREF(results);
  for (int i = 0; i < 2; i++) Py_XDECREF(array[i]);
  for (size_t i = 0; i < SMMA_MOST_TARGETS; i++) Py_XDECREF(result[i]);
  release_targets(products);
  return value;
}
