/* Errors of products, and the tolerances that accept them. */
#include "binding.h"
#include "tolerance/sweep.h"

static bool write_text(FILE *stream, const void *result) { return smma_print_tolerance(stream, result); }

/* Returns (value, lines for a test, text). */
static PyObject *value_of(const smma_tolerance_result *result) {
  return Py_BuildValue("(NNN)", value_from(smma_tolerance_datum(result)), text_from(smma_tolerance_paste(result)),
                       text_from(written(write_text, result)));
}

/* Reads (targets, descriptions of A and of B, kind of generated data, seed, (M, N, K), whether there is a C, the format
   that results are stored in or None, the margin). Takes the targets last, so that they need no release if another
   argument is invalid. */
static bool take_request(PyObject *arguments, smma_tolerance_request *r, smma_product_target *target,
                         target_products **products) {
  PyObject *list, *stored;
  const char *data;
  unsigned long long seed;
  Py_ssize_t m, n, k;
  smma_error error;
  int with_c;
  *r = (smma_tolerance_request){.target = target};
  if (!PyArg_ParseTuple(arguments, "O!sssK(nnn)pOd", &PyTuple_Type, &list, &r->a, &r->b, &data, &seed, &m, &n, &k,
                        &with_c, &stored, &r->margin))
    return false;
  if (m < 0 || n < 0 || k < 0)
    return PyErr_Format(PyExc_ValueError, "shape: %zd x %zd x %zd: it is not negative", m, n, k), false;
  r->m = (size_t)m, r->n = (size_t)n, r->k = (size_t)k, r->with_c = with_c;
  r->stored = stored == Py_None ? SMMA_NO_FORMAT : array_format_named(stored, "store");
  if (PyErr_Occurred()) return false;
  if (!smma_data_from_text(data, &r->data, &error))
    return PyErr_Format(PyExc_ValueError, "data: %s", error.text), false;
  r->data.seed = seed;
  r->targets = (size_t)PyTuple_Size(list);
  return take_targets(list, target, products);
}

/* Computes tolerances, from the arguments of take_request. */
PyObject *python_tolerance(PyObject *module, PyObject *arguments) {
  smma_product_target target[SMMA_MOST_TARGETS];
  smma_tolerance_request r;
  PyObject *value = NULL;
  target_products *products;
  smma_error error;
  (void)module;
  if (!take_request(arguments, &r, target, &products)) return NULL;
  smma_tolerance_result *result = PyMem_Malloc(sizeof *result);
  if (result) {
    const suspended before = suspend_python();
    const bool done = smma_tolerance_run(&r, result, &error);
    if (resume_python(before)) value = done ? value_of(result) : fail_with(&error);
  } else {
    PyErr_NoMemory();
  }
  PyMem_Free(result);
  release_targets(products);
  return value;
}

/* Reads a matrix of an accurate product as dense rows of float64: a new reference, or NULL. */
static PyArrayObject *doubles_of(PyObject *object) {
  return (PyArrayObject *)PyArray_FROMANY(object, NPY_DOUBLE, 2, 2, NPY_ARRAY_CARRAY_RO);
}

static bool write_sweep(FILE *stream, const void *result) {
  smma_print_sweep(stream, result);
  return true;
}

/* Returns (value, text). */
static PyObject *swept(smma_sweep_request *r) {
  smma_sweep_result result;
  smma_error error;
  const suspended before = suspend_python();
  const bool done = smma_sweep_run(r, &result, &error);
  PyObject *value = NULL;
  if (resume_python(before))
    value = done
                ? Py_BuildValue("(NN)", value_from(smma_sweep_datum(&result)), text_from(written(write_sweep, &result)))
                : fail_with(&error);
  smma_sweep_free(&result);
  return value;
}

/* Reports whether a sweep computes accurate products. */
PyObject *python_sweep_is_accurate(PyObject *module, PyObject *text) {
  const char *words = text_of(text);
  smma_sweep sweep;
  smma_error error;
  (void)module;
  if (!words) return NULL;
  return smma_sweep_parse(words, &sweep, &error) ? PyBool_FromLong(smma_sweep_is_accurate(&sweep)) : fail_with(&error);
}

/* Returns (the errors of a sweep as a dict, text), from its text, A and B of an accurate product or None, and the tuple
   of arguments of take_request. */
PyObject *python_sweep(PyObject *module, PyObject *arguments) {
  smma_product_target target[SMMA_MOST_TARGETS];
  smma_sweep_request *r = PyMem_Calloc(1, sizeof *r);
  PyArrayObject *matrix[2] = {NULL, NULL};
  PyObject *of, *object[2], *value = NULL;
  target_products *products;
  const char *text;
  smma_error error;
  (void)module;
  if (!r) return PyErr_NoMemory();
  if (!PyArg_ParseTuple(arguments, "sOOO!", &text, &object[0], &object[1], &PyTuple_Type, &of) ||
      !take_request(of, &r->of, target, &products)) {
    PyMem_Free(r);
    return NULL;
  }
  for (int which = 0; which < 2 && object[which] != Py_None && !PyErr_Occurred(); which++)
    matrix[which] = doubles_of(object[which]);
  if (matrix[0] && matrix[1]) {
    r->a = PyArray_DATA(matrix[0]), r->b = PyArray_DATA(matrix[1]);
    r->of.m = (size_t)PyArray_DIM(matrix[0], 0), r->of.k = (size_t)PyArray_DIM(matrix[0], 1);
    r->of.n = (size_t)PyArray_DIM(matrix[1], 1);
  }
  if (r->a && (size_t)PyArray_DIM(matrix[1], 0) != r->of.k)
    PyErr_SetString(PyExc_ValueError, "a and b: the columns of a must be the rows of b");
  if (!PyErr_Occurred()) value = smma_sweep_parse(text, &r->sweep, &error) ? swept(r) : fail_with(&error);
  for (int which = 0; which < 2; which++) Py_XDECREF(matrix[which]);
  release_targets(products);
  PyMem_Free(r);
  return value;
}
