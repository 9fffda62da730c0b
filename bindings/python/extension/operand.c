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
  PyErr_Format(PyExc_LookupError, "format: '%s' is not a format", name);
  return false;
}

/* Makes the arrays that the rule fills: made[0] the values, made[1] the scale factors of blocks, made[2] the factors of
   lines or of the tensor, made[3] the zero points. Arrays that the rule does not use stay NULL. */
static bool make_arrays(const smma_operand_rule *rule, const PyArrayObject *x, const smma_operand *o,
                        PyArrayObject *made[4]) {
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
    if (!made[1]) return false;
  } else {
    shape[axes - 1] = 1;
  }
  if (rule->zero_points) {
    made[3] = new_array(PyArray_DescrFromType(NPY_INT32), axes, rule->rows ? shape : ones);
    if (!made[3]) return false;
  }
  shape[axes - 1] = 1;
  if (blocks && rule->factor != SMMA_UE4M3) return true;
  made[2] = new_array(array_dtype_of(SMMA_F32), axes, (blocks ? rule->line_factors : rule->rows != 0) ? shape : ones);
  return made[2];
}

static PyObject *given_or_none(PyArrayObject *x) { return x ? (PyObject *)x : Py_NewRef(Py_None); }

static PyObject *statistics_of(const smma_operand *o) {
  const smma_operand_statistics *s = &o->statistics;
  if (!o->measure) return Py_NewRef(Py_None);
  return Py_BuildValue("(nnnndd)", (Py_ssize_t)s->zeros, (Py_ssize_t)s->saturated, (Py_ssize_t)s->infinite,
                       (Py_ssize_t)s->nan, s->error, s->norm);
}

static bool is_dense(PyArrayObject *x, int type) { return PyArray_TYPE(x) == type && PyArray_IS_C_CONTIGUOUS(x); }

static bool make(const smma_operand_rule *rule, PyArrayObject *x, smma_operand *o, PyArrayObject *made[4]) {
  const int axes = PyArray_NDIM(x);
  PyThreadState *thread;
  smma_status status;
  o->f64 = PyArray_TYPE(x) == NPY_DOUBLE, o->x = PyArray_DATA(x);
  o->batch = (size_t)PyArray_MultiplyList(PyArray_DIMS(x), axes - 2);
  o->outer = (size_t)PyArray_DIM(x, axes - 2), o->inner = (size_t)PyArray_DIM(x, axes - 1);
  o->threads = threads_allowed(o->threads);
  if (!make_arrays(rule, x, o, made)) return false;
  o->values = PyArray_DATA(made[0]), o->scales = made[1] ? PyArray_DATA(made[1]) : NULL;
  o->factor = made[2] ? PyArray_DATA(made[2]) : NULL, o->zero_points = made[3] ? PyArray_DATA(made[3]) : NULL;
  thread = PyEval_SaveThread();
  status = smma_make_operand(rule, o);
  PyEval_RestoreThread(thread);
  return status == SMMA_OK || fail_with_status(status);
}

/* Reads the names of a rule's formats and formulas. */
static bool read_names(smma_operand_rule *rule, const char *format, const char *factor, const char *compute,
                       const char *names[5]) {
  const int formula = choice_named("formula", names[0], smma_scale_formulas);
  const int scale_rounding = formula < 0 ? -1 : choice_named("scale_rounding", names[1], smma_scale_roundings);
  const int overflow = scale_rounding < 0 ? -1 : overflow_named(names[3]);
  const int rounding = overflow < 0 ? -1 : rounding_named("rounding", names[4]);
  if (rounding < 0) return false;
  rule->formula = (smma_scale_formula)formula, rule->scale_rounding = (smma_scale_rounding)scale_rounding;
  rule->overflow = (smma_overflow)overflow, rule->rounding = (smma_rounding)rounding;
  return format_of(format, &rule->format) && format_of(factor, &rule->factor) && format_of(compute, &rule->compute) &&
         format_of(names[2], &rule->tensor);
}

/* Reports whether the arrays are as smma_make_operand needs them. */
static bool check_arrays(PyArrayObject *x, PyObject *random) {
  if (PyArray_NDIM(x) < 2 || !(is_dense(x, NPY_FLOAT) || is_dense(x, NPY_DOUBLE))) {
    PyErr_SetString(PyExc_ValueError, "x: no matrices of float32 or float64 without gaps");
    return false;
  }
  if (random == Py_None || (PyArray_Check(random) && is_dense((PyArrayObject *)random, NPY_DOUBLE) &&
                            PyArray_SIZE((PyArrayObject *)random) == PyArray_SIZE(x)))
    return true;
  PyErr_SetString(PyExc_ValueError, "random: as many numbers of float64 as x has elements, without gaps");
  return false;
}

/* Reports whether zero points and factors of lines go with the other parts of the rule. */
static bool check_rule(const smma_operand_rule *rule, Py_ssize_t rows, Py_ssize_t columns) {
  if (rows < 0 || columns < 0) {
    PyErr_Format(PyExc_ValueError, "rows is %zd, columns %zd", rows, columns);
    return false;
  }
  if ((!rule->zero_points || rule->factor == SMMA_F32) &&
      (!rule->line_factors || (rule->factor == SMMA_UE4M3 && rule->rows == 1)) &&
      (rule->factor != SMMA_UE4M3 || (rule->rows <= 16 && rule->columns == 16)))
    return true;
  PyErr_SetString(PyExc_ValueError, "zero_points, line_factors: not with these factors");
  return false;
}

/* Returns (values, scale factors of blocks, factors of lines or of the tensor, zero points, greatest magnitude,
   statistics). Parts that the rule does not use are None. */
PyObject *python_operand(PyObject *module, PyObject *arguments) {
  PyArrayObject *x, *made[4] = {NULL};
  PyObject *random;
  const char *format, *factor, *compute, *names[5];
  int k_inner, power_of_two, zero_points, line_factors, keeps_nan, measure;
  Py_ssize_t rows, columns;
  smma_operand_rule rule = {.rows = 0};
  smma_operand o = {.x = NULL};
  (void)module;
  if (!PyArg_ParseTuple(arguments,
                        "O!psznnsspppp"
                        "zfzOpiss",
                        &PyArray_Type, &x, &k_inner, &format, &factor, &rows, &columns, &names[0], &names[1],
                        &power_of_two, &zero_points, &line_factors, &keeps_nan, &compute, &rule.given, &names[2],
                        &random, &measure, &o.threads, &names[3], &names[4]) ||
      !read_names(&rule, format, factor, compute, names))
    return NULL;
  rule.rows = (size_t)rows, rule.columns = (size_t)columns;
  rule.power_of_two = power_of_two, rule.zero_points = zero_points, rule.line_factors = line_factors;
  rule.keeps_nan = keeps_nan, o.k_inner = k_inner, o.measure = measure;
  if (!check_rule(&rule, rows, columns) || !check_arrays(x, random)) return NULL;
  if (random != Py_None) rule.random = PyArray_DATA((PyArrayObject *)random);
  if (make(&rule, x, &o, made))
    return Py_BuildValue("(NNNNdN)", made[0], given_or_none(made[1]), given_or_none(made[2]), given_or_none(made[3]),
                         (double)o.greatest, statistics_of(&o));
  for (int i = 0; i < 4; i++) Py_XDECREF(made[i]);
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
  const char *name;
  smma_format format;
  npy_intp shape[MOST_AXES], k, lines;
  int axes;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!O!s", &PyArray_Type, &x, &PyArray_Type, &signs, &name) ||
      !format_of(name, &format))
    return NULL;
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
    smma_hadamard(PyArray_DATA(x), (size_t)lines, (size_t)k, PyArray_DATA(signs), format, PyArray_DATA(y));
    PyEval_RestoreThread(thread);
  }
  return (PyObject *)y;
}
