/* Converts tensors to operands of recipes. */
#include "numerics/operand.h"

#include <string.h>

#include "binding.h"

static PyArrayObject *new_array(PyArray_Descr *dtype, int axes, const npy_intp *shape) {
  return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, dtype, axes, shape, NULL, NULL, 0, NULL);
}

/* Reads a format; NULL stays no format. */
static bool format_of(const char *name, smma_format *format) {
  *format = name ? smma_format_find(name) : SMMA_NO_FORMAT;
  if (*format != SMMA_NO_FORMAT || !name) return true;
  PyErr_Format(PyExc_LookupError, "format: '%s' is none", name);
  return false;
}

/* Makes the arrays that the rule fills: for each line its blocks, and a factor for each line or for the tensor. */
static bool make_arrays(const smma_operand_rule *rule, const PyArrayObject *x, const smma_operand *o,
                        PyArrayObject *made[3]) {
  const int axes = PyArray_NDIM(x);
  const smma_format enters = rule->compute != SMMA_NO_FORMAT ? rule->compute : rule->format;
  const bool blocks = rule->rows && rule->columns;
  npy_intp shape[MOST_AXES], ones[MOST_AXES];
  for (int i = 0; i < axes; i++) shape[i] = PyArray_DIM(x, i), ones[i] = 1;
  made[0] = new_array(array_dtype_of(enters), axes, shape);
  if (!made[0]) return false;
  if (rule->factor == SMMA_NO_FORMAT || rule->compute != SMMA_NO_FORMAT) return true;
  shape[axes - 2] = (npy_intp)(o->k_inner ? o->outer : o->inner);
  if (blocks) {
    const size_t k = o->k_inner ? o->inner : o->outer;
    shape[axes - 1] = (npy_intp)((k + rule->columns - 1) / rule->columns);
    made[1] = new_array(array_dtype_of(rule->factor), axes, shape);
  }
  shape[axes - 1] = 1;
  if (!blocks || rule->factor == SMMA_UE4M3)
    made[2] = new_array(array_dtype_of(SMMA_F32), axes, rule->rows && !blocks ? shape : ones);
  return (!blocks || made[1]) && ((blocks && rule->factor != SMMA_UE4M3) || made[2]);
}

static PyObject *given_or_none(PyArrayObject *x) { return x ? (PyObject *)x : Py_NewRef(Py_None); }

static PyObject *statistics_of(const smma_operand *o) {
  const smma_operand_statistics *s = &o->statistics;
  if (!o->measure) return Py_NewRef(Py_None);
  return Py_BuildValue("(nnnndd)", (Py_ssize_t)s->zeros, (Py_ssize_t)s->saturated, (Py_ssize_t)s->infinite,
                       (Py_ssize_t)s->nan, s->error, s->norm);
}

static bool is_dense(PyArrayObject *x, int type) { return PyArray_TYPE(x) == type && PyArray_IS_C_CONTIGUOUS(x); }

static bool make(const smma_operand_rule *rule, PyArrayObject *x, smma_operand *o, PyArrayObject *made[3]) {
  const int axes = PyArray_NDIM(x);
  PyThreadState *thread;
  smma_status status;
  o->f64 = PyArray_TYPE(x) == NPY_DOUBLE, o->x = PyArray_DATA(x);
  o->batch = (size_t)PyArray_MultiplyList(PyArray_DIMS(x), axes - 2);
  o->outer = (size_t)PyArray_DIM(x, axes - 2), o->inner = (size_t)PyArray_DIM(x, axes - 1);
  o->threads = threads_allowed(o->threads);
  if (!make_arrays(rule, x, o, made)) return false;
  o->values = PyArray_DATA(made[0]), o->scales = made[1] ? PyArray_DATA(made[1]) : NULL;
  o->factor = made[2] ? PyArray_DATA(made[2]) : NULL;
  thread = PyEval_SaveThread();
  status = smma_make_operand(rule, o);
  PyEval_RestoreThread(thread);
  return status == SMMA_OK || fail_with_status(status);
}

/* Returns (values, scale factors of blocks, factor, greatest magnitude, statistics). */
PyObject *python_operand(PyObject *module, PyObject *arguments) {
  PyArrayObject *x, *made[3] = {NULL};
  PyObject *random;
  const char *format, *factor, *compute, *mode;
  int rounding, k_inner, power_of_two, round_up, measure;
  Py_ssize_t rows, columns;
  smma_operand_rule rule = {.rows = 0};
  smma_operand o = {.x = NULL};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!psznnppzfOpis", &PyArray_Type, &x, &k_inner, &format, &factor, &rows, &columns,
                        &power_of_two, &round_up, &compute, &rule.given, &random, &measure, &o.threads, &mode))
    return NULL;
  if (rows < 0 || columns < 0) return PyErr_Format(PyExc_ValueError, "rows is %zd, columns %zd", rows, columns);
  rounding = rounding_named("rounding", mode);
  if (rounding < 0) return NULL;
  rule.rounding = (smma_rounding)rounding;
  rule.rows = (size_t)rows, rule.columns = (size_t)columns;
  rule.power_of_two = power_of_two, rule.round_up = round_up, o.k_inner = k_inner, o.measure = measure;
  if (!format_of(format, &rule.format) || !format_of(factor, &rule.factor) || !format_of(compute, &rule.compute))
    return NULL;
  if (PyArray_NDIM(x) < 2 || !(is_dense(x, NPY_FLOAT) || is_dense(x, NPY_DOUBLE))) {
    PyErr_SetString(PyExc_ValueError, "x: no matrices of float32 or float64 without gaps");
    return NULL;
  }
  if (random != Py_None && !(PyArray_Check(random) && is_dense((PyArrayObject *)random, NPY_DOUBLE) &&
                             PyArray_SIZE((PyArrayObject *)random) == PyArray_SIZE(x)))
    return PyErr_Format(PyExc_ValueError, "random: as many numbers of float64 as x has elements, without gaps");
  if (random != Py_None) rule.random = PyArray_DATA((PyArrayObject *)random);
  if (make(&rule, x, &o, made))
    return Py_BuildValue("(NNNdN)", made[0], given_or_none(made[1]), given_or_none(made[2]), (double)o.greatest,
                         statistics_of(&o));
  for (int i = 0; i < 3; i++) Py_XDECREF(made[i]);
  return NULL;
}

/* Computes a scale, from the greatest magnitude and a format. */
PyObject *python_operand_scale(PyObject *module, PyObject *arguments) {
  float greatest;
  const char *name;
  smma_format format;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "fs", &greatest, &name) || !format_of(name, &format)) return NULL;
  return PyFloat_FromDouble(smma_operand_scale(greatest, format, false));
}

PyObject *python_hadamard(PyObject *module, PyObject *arguments) {
  PyArrayObject *x, *signs, *y;
  npy_intp shape[MOST_AXES], k, lines;
  int axes;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!O!", &PyArray_Type, &x, &PyArray_Type, &signs)) return NULL;
  axes = PyArray_NDIM(x);
  if (axes < 1 || !is_dense(x, NPY_FLOAT) || !is_dense(signs, NPY_DOUBLE) || PyArray_SIZE(signs) != 16) {
    PyErr_SetString(PyExc_ValueError, "x, signs: no lines of float32, and 16 of float64, without gaps");
    return NULL;
  }
  for (int i = 0; i < axes; i++) shape[i] = PyArray_DIM(x, i);
  k = shape[axes - 1], lines = PyArray_MultiplyList(shape, axes - 1);
  shape[axes - 1] = (k + 15) / 16 * 16;
  y = new_array(array_dtype_of(SMMA_F32), axes, shape);
  if (y) {
    PyThreadState *thread = PyEval_SaveThread();
    smma_hadamard(PyArray_DATA(x), (size_t)lines, (size_t)k, PyArray_DATA(signs), PyArray_DATA(y));
    PyEval_RestoreThread(thread);
  }
  return (PyObject *)y;
}
