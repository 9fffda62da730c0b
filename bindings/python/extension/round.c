/* Rounding to formats, and block-scaled quantisation. */
#include <math.h>
#include <string.h>

#include "binding.h"
#include "host/load.h"
#include "isa/custom.h"

/* ---- Names ---- */

static void fail_choice(const char *what, const char *name, const char *const *choices) {
  char list[256] = "";
  for (size_t used = 0; *choices && used < sizeof list; choices++)
    used += (size_t)PyOS_snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", *choices);
  PyErr_Format(PyExc_ValueError, "%s: '%s' is none of %s", what, name, list);
}

/* The index of a name, or -1 with an exception. */
static int index_of(const char *what, const char *name, const char *const *choices) {
  for (int i = 0; choices[i]; i++)
    if (strcmp(choices[i], name) == 0) return i;
  fail_choice(what, name, choices);
  return -1;
}

/* The words of custom units. */
static int rounding_named(const char *name) {
  return index_of("mode", name, smma_custom_find_key(SMMA_G_FDPA, "rounding", strlen("rounding"))->choices);
}

static int overflow_named(const char *name) {
  static const char *const overflows[] = {[SMMA_OVERFLOW_DEFAULT] = "default",
                                          [SMMA_OVERFLOW_SATURATE] = "saturate",
                                          [SMMA_OVERFLOW_INFINITY] = "infinity",
                                          NULL};
  return index_of("overflow", name, overflows);
}

PyObject *python_round(PyObject *module, PyObject *arguments) {
  PyObject *x, *dtype;
  const char *mode, *overflow;
  int rounding, policy;
  smma_format format;
  PyArrayObject *array;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOss", &x, &dtype, &mode, &overflow)) return NULL;
  format = array_format_named(dtype, "dtype");
  rounding = format == SMMA_NO_FORMAT ? -1 : rounding_named(mode);
  policy = rounding < 0 ? -1 : overflow_named(overflow);
  array = policy < 0 ? NULL : array_of(x);
  if (array) array = array_rounded(array, "x", format, (smma_rounding)rounding, (smma_overflow)policy);
  return array ? PyArray_Return(array) : NULL;
}

/* ---- Blocks with a common scale factor ---- */

typedef struct {
  smma_format element, scale;
  double greatest; /* of the elements */
  npy_intp block;
} block_format;

/* The scale factor of a block whose greatest magnitude is given. A power of two, as OCP's Microscaling Formats 1.0,
   6.3, has it: the exponent of the greatest magnitude less that of the format. Else the quotient of the greatest
   magnitudes, rounded to nearest even. */
static uint64_t scale_of(const block_format *f, double greatest) {
  double quotient = greatest / f->greatest;
  if (f->scale != SMMA_UE8M0) return smma_round(f->scale, quotient, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
  if (greatest > 0) quotient = ldexp(1, ilogb(greatest) - ilogb(f->greatest));
  return smma_round(SMMA_UE8M0, quotient, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

/* A block: elements are the quotients by the scale factor, rounded to nearest even and saturated. NaN and infinity
   make the scale factor NaN. */
static void quantize_block(const block_format *f, const double *x, npy_intp count, unsigned char *values,
                           unsigned char *scale) {
  double greatest = 0, factor;
  uint64_t encoding;
  for (npy_intp i = 0; i < count; i++) greatest = isnan(x[i]) || isnan(greatest) ? NAN : fmax(greatest, fabs(x[i]));
  if (isinf(greatest)) greatest = NAN;
  encoding = scale_of(f, greatest);
  factor = smma_value(f->scale, encoding);
  smma_store(1, scale, 0, encoding);
  for (npy_intp i = 0; i < count; i++) {
    double quotient = factor == 0 ? copysign(0, x[i]) : x[i] / factor;
    smma_store(1, values, (size_t)i, smma_round(f->element, quotient, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
  }
}

static PyArrayObject *new_like(PyArrayObject *x, smma_format format, npy_intp last) {
  npy_intp shape[MOST_AXES];
  for (int axis = 0; axis < PyArray_NDIM(x); axis++) shape[axis] = PyArray_DIM(x, axis);
  shape[PyArray_NDIM(x) - 1] = last;
  return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, array_dtype_of(format), PyArray_NDIM(x), shape, NULL,
                                               NULL, 0, NULL);
}

/* Along the last axis; the exponent of x in [2^e, 2^(e+1)) is exact in binary64. */
static PyObject *quantize(PyArrayObject *x, const block_format *f) {
  npy_intp length = PyArray_DIM(x, PyArray_NDIM(x) - 1), blocks = (length + f->block - 1) / f->block;
  npy_intp rows = length ? PyArray_SIZE(x) / length : 0;
  PyArrayObject *values = new_like(x, f->element, length), *scales = new_like(x, f->scale, blocks);
  if (values && scales) {
    const double *source = PyArray_DATA(x);
    unsigned char *value = PyArray_DATA(values), *scale = PyArray_DATA(scales);
    PyThreadState *thread = PyEval_SaveThread();
    for (npy_intp row = 0; row < rows; row++)
      for (npy_intp block = 0; block < blocks; block++) {
        npy_intp first = row * length + block * f->block, left = length - block * f->block;
        quantize_block(f, source + first, left < f->block ? left : f->block, value + first,
                       scale + row * blocks + block);
      }
    PyEval_RestoreThread(thread);
    return Py_BuildValue("(NN)", values, scales);
  }
  Py_XDECREF(values);
  Py_XDECREF(scales);
  return NULL;
}

/* (values, scales) of (x, element format, scale format, block), along the last axis of at least one. */
PyObject *python_quantize(PyObject *module, PyObject *arguments) {
  PyObject *object;
  const char *element, *scale;
  Py_ssize_t block;
  PyArrayObject *x, *dense;
  PyObject *result;
  block_format f;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Ossn", &object, &element, &scale, &block)) return NULL;
  f = (block_format){.element = smma_format_find(element), .scale = smma_format_find(scale), .block = block};
  f.greatest = smma_value(f.element, smma_round(f.element, INFINITY, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
  x = array_of(object);
  x = x ? array_rounded(x, "x", SMMA_F64, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT) : NULL;
  dense = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  if (!dense) return NULL;
  result = quantize(dense, &f);
  Py_DECREF(dense);
  return result;
}
