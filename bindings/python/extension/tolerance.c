/* Errors of products, and the tolerances that accept them. */
#include "tolerance/tolerance.h"

#include <stdlib.h>

#include "binding.h"

/* Returns (value, lines for a test). */
static PyObject *value_of(const smma_tolerance_result *result) {
  char *text = smma_tolerance_paste(result);
  PyObject *value = text ? Py_BuildValue("(Ns)", value_from(smma_tolerance_datum(result)), text) : PyErr_NoMemory();
  free(text);
  return value;
}

/* Computes tolerances, from targets, a description of A and B or the kind of generated data with (M, N, K) and whether
   there is a C, the format that results are stored in or None, and the margin. */
PyObject *python_tolerance(PyObject *module, PyObject *arguments) {
  smma_product_target target[SMMA_MOST_TARGETS];
  smma_tolerance_request r = {.target = target};
  PyObject *list, *stored, *value = NULL;
  target_products *products;
  const char *data;
  Py_ssize_t m, n, k;
  smma_error error;
  int with_c;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!sss(nnn)pOd", &PyTuple_Type, &list, &r.a, &r.b, &data, &m, &n, &k, &with_c,
                        &stored, &r.margin))
    return NULL;
  if (m < 0 || n < 0 || k < 0)
    return PyErr_Format(PyExc_ValueError, "shape: %zd x %zd x %zd: it is not negative", m, n, k);
  r.m = (size_t)m, r.n = (size_t)n, r.k = (size_t)k, r.with_c = with_c;
  r.stored = stored == Py_None ? SMMA_NO_FORMAT : array_format_named(stored, "store");
  if (PyErr_Occurred()) return NULL;
  if (!smma_data_from_text(data, &r.data, &error)) return PyErr_Format(PyExc_ValueError, "data: %s", error.text);
  if (!take_targets(list, target, &products)) return NULL;
  r.targets = (size_t)PyTuple_Size(list);
  smma_tolerance_result *result = PyMem_Malloc(sizeof *result);
  if (result) {
    PyThreadState *thread = suspend_targets(products);
    const bool done = smma_tolerance_run(&r, result, &error);
    PyEval_RestoreThread(thread);
    value = done ? value_of(result) : fail_with(&error);
  } else {
    PyErr_NoMemory();
  }
  PyMem_Free(result);
  release_targets(products);
  return value;
}
