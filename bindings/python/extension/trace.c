/* Traces one element of a product, step by step. */
#include "trace/trace.h"

#include "binding.h"

/* Returns an array with a row for each event: kind, index, number of products, sum so far, rest, exact sum, error. */
static PyObject *events_of(const smma_trace *t) {
  enum { NUMBERS = 7 };
  npy_intp shape[2] = {(npy_intp)t->events, NUMBERS};
  PyObject *array = PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  double *to = array ? PyArray_DATA((PyArrayObject *)array) : NULL;
  for (size_t e = 0; array && e < t->events; e++, to += NUMBERS) {
    const smma_trace_event *x = &t->event[e];
    to[0] = x->kind, to[1] = (double)x->index, to[2] = (double)x->products;
    to[3] = x->value, to[4] = x->rest, to[5] = x->exact, to[6] = x->error;
  }
  return array;
}

/* Returns an array with a row for each instruction: the k of its products, or -1 for padding. */
static PyObject *indices_of(const smma_trace *t) {
  npy_intp shape[2] = {(npy_intp)t->schedule.steps, (npy_intp)t->schedule.k_per_step};
  PyObject *array = PyArray_SimpleNew(2, shape, NPY_INTP);
  npy_intp *to = array ? PyArray_DATA((PyArrayObject *)array) : NULL;
  for (npy_intp x = 0; array && x < shape[0] * shape[1]; x++)
    to[x] = t->schedule.k[x] == SMMA_NO_PRODUCT ? -1 : (npy_intp)t->schedule.k[x];
  return array;
}

/* Returns a list with a tuple for each target: the instruction (as target_chosen gives it), the traced element of D,
   the events, and the k of each instruction's products. */
static PyObject *traces_of(const smma_trace_result *result, const target_products *products) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < result->request->targets; i++) {
    const smma_trace *t = &result->trace[i];
    PyObject *each = Py_BuildValue("(NNNN)", target_chosen(products, i), array_of_encodings(t->d_format, &t->d, 1),
                                   events_of(t), indices_of(t));
    if (!each || PyList_Append(list, each) < 0) Py_CLEAR(list);
    Py_XDECREF(each);
  }
  return list;
}

static bool write_text(FILE *stream, const void *result) {
  static const char *const matrix[2] = {"a", "b"};
  return smma_print_trace(stream, result, matrix, LINE_WIDTH);
}

/* Returns (result as a dict, traces, the two targets that diverge or None, text). `every` is the step interval of the
   dict. */
static PyObject *value_of(const smma_trace_result *result, size_t every, const target_products *products) {
  const smma_explained_divergence *p = &result->divergence;
  PyObject *pair = p->found.diverges ? Py_BuildValue("(nn)", (Py_ssize_t)p->target[0], (Py_ssize_t)p->target[1])
                                     : Py_NewRef(Py_None);
  return Py_BuildValue("(NNNN)", value_from(smma_trace_datum(result, every)), traces_of(result, products), pair,
                       text_from(written(write_text, result)));
}

static bool take_owns(PyObject *owns, smma_trace_request *r, PyArrayObject *array[SMMA_MOST_OWN]) {
  return take_own_results(owns, r->target, r->targets, SMMA_MOST_OWN, r->own, &r->owns, array);
}

static bool take_at(PyObject *at, smma_trace_request *r) {
  Py_ssize_t i, j;
  r->finds_error = PyUnicode_Check(at);
  r->is_chosen = at != Py_None && !r->finds_error;
  if (r->finds_error && PyUnicode_CompareWithASCIIString(at, "worst") != 0)
    return PyErr_Format(PyExc_ValueError, "at: %R is neither (i, j) nor \"worst\"", at);
  if (!r->is_chosen) return true;
  if (!PyArg_ParseTuple(at, "nn;at is (i, j), a row and a column", &i, &j)) return false;
  r->at[0] = (size_t)i, r->at[1] = (size_t)j;
  if (i >= 0 && j >= 0 && r->at[0] < r->m && r->at[1] < r->n) return true;
  PyErr_Format(PyExc_IndexError, "at: (%zd, %zd) is not in the product, which is (%zu, %zu)", i, j, r->m, r->n);
  return false;
}

static PyObject *traced(smma_trace_request *r, size_t every, target_products *products) {
  smma_trace_result *result = PyMem_Malloc(sizeof *result);
  PyObject *value = NULL;
  smma_error error;
  suspended before;
  bool done;
  if (!result) return PyErr_NoMemory();
  r->watch = see_interrupt;
  before = suspend_python();
  done = smma_trace_run(r, result, &error);
  if (resume_python(before)) value = done ? value_of(result, every, products) : fail_with(&error);
  smma_trace_result_free(result);
  PyMem_Free(result);
  return value;
}

/* Traces an element, from (i, j), "worst" or None, results of the user's own, whether names include A's rounding, the
   step interval of the value, and targets. */
PyObject *python_trace(PyObject *module, PyObject *arguments) {
  smma_product_target target[SMMA_MOST_TARGETS];
  smma_trace_request r = {.target = target};
  PyArrayObject *array[SMMA_MOST_OWN] = {NULL};
  PyObject *at, *owns, *list, *value = NULL;
  target_products *products;
  int names_rounding;
  Py_ssize_t every;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO!pnO!", &at, &PyTuple_Type, &owns, &names_rounding, &every, &PyTuple_Type, &list))
    return NULL;
  if (every < 1 || !PyTuple_Size(list)) return PyErr_Format(PyExc_ValueError, "every, on: at least one");
  if (at != Py_None && !PyTuple_Check(at) && !PyUnicode_Check(at))
    return PyErr_Format(PyExc_TypeError, "at: %R is no row and column", at);
  if (!take_targets(list, target, &products)) return NULL;
  r.targets = (size_t)PyTuple_Size(list), r.names_rounding = names_rounding;
  r.m = target[0].product.m, r.n = target[0].product.n, r.k = target[0].product.k;
  if (take_at(at, &r) && take_owns(owns, &r, array)) value = traced(&r, (size_t)every, products);
  for (int i = 0; i < SMMA_MOST_OWN; i++) Py_XDECREF(array[i]);
  release_targets(products);
  return value;
}
