/* Finds the order in which a function sums products. */
#include <stdlib.h>

#include "binding.h"
#include "tree/function.h"

/* A Python function, and the formats of its arguments. */
typedef struct {
  PyObject *function;
  smma_format a, b;
  int k;
} asked_function;

static bool call(void *context, const uint64_t *a, const uint64_t *b, double *d) {
  const asked_function *f = context;
  PyObject *of_a = array_of_encodings(f->a, a, f->k), *of_b = array_of_encodings(f->b, b, f->k), *returned = NULL;
  if (of_a && of_b) returned = PyObject_CallFunctionObjArgs(f->function, of_a, of_b, NULL);
  Py_XDECREF(of_a);
  Py_XDECREF(of_b);
  *d = returned ? PyFloat_AsDouble(returned) : 0;
  Py_XDECREF(returned);
  return !PyErr_Occurred();
}

/* Returns the parent of each node. */
static PyObject *parents_of(const smma_sum_order *order) {
  PyObject *list = PyList_New(order->nodes);
  for (int n = 0; list && n < order->nodes; n++) PyList_SetItem(list, n, PyLong_FromLong(order->parent[n]));
  return list;
}

static PyObject *find(const smma_function *f) {
  const size_t nodes = 2 * (size_t)f->k;
  smma_sum_order order = {.parent = malloc(nodes * sizeof *order.parent), .exact = malloc(nodes)};
  PyObject *result = NULL;
  smma_error error;
  if (!order.parent || !order.exact) {
    PyErr_NoMemory();
  } else {
    const smma_tree_status status = smma_find_order_of_function(f, &order, &error);
    if (status == SMMA_TREE_FOUND)
      result = parents_of(&order);
    else if (status == SMMA_TREE_HIDDEN)
      PyErr_Format(PyExc_ValueError, "cannot tell: %s", error.text);
    else if (!PyErr_Occurred())
      PyErr_NoMemory();
  }
  free(order.parent);
  free(order.exact);
  return result;
}

/* Finds the order, from a function, K, the formats of A, B and D, and a seed. The function takes K elements of A and of
   B as arrays and returns D as a float. */
PyObject *python_tree(PyObject *module, PyObject *arguments) {
  PyObject *a, *b, *d;
  asked_function asked;
  smma_function f = {.call = call, .context = &asked};
  unsigned long long seed;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OiOOOK", &asked.function, &f.k, &a, &b, &d, &seed)) return NULL;
  if (f.k < 1 || f.k > SMMA_MOST_FUNCTION_K)
    return PyErr_Format(PyExc_ValueError, "k is %d; give a number from 1 to %d", f.k, SMMA_MOST_FUNCTION_K);
  f.seed = seed;
  asked.k = f.k;
  asked.a = f.a = array_format_named(a, "A");
  asked.b = f.b = array_format_named(b, "B");
  f.d = array_format_named(d, "f's result");
  return PyErr_Occurred() ? NULL : find(&f);
}
