/* Rounding to formats, and block-scaled quantisation. */
#include <limits.h>
#include <string.h>

#include "binding.h"
#include "host/load.h"
#include "isa/custom.h"
#include "isa/key.h"
#include "numerics/blocks.h"
#include "softmma/scales.h"

/* ---- Names ---- */

static void fail_choice(const char *what, const char *name, const char *const *choices) {
  char list[256] = "";
  for (size_t used = 0; *choices && used < sizeof list; choices++)
    used += (size_t)PyOS_snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", *choices);
  PyErr_Format(PyExc_ValueError, "%s: '%s' is not one of %s", what, name, list);
}

int choice_named(const char *what, const char *name, const char *const *choices) {
  for (int i = 0; choices[i]; i++)
    if (strcmp(choices[i], name) == 0) return i;
  fail_choice(what, name, choices);
  return -1;
}

/* Returns the rounding mode of a name, one of those that custom units use. */
int rounding_named(const char *what, const char *name) { return choice_named(what, name, smma_roundings); }

int operand_rounding_named(const char *name, const smma_instruction *instruction, const smma_plan *plan,
                           smma_format format) {
  if (!name) return (int)smma_operand_rounding(instruction, plan, format);
  if (!instruction->scale_block) return rounding_named("round_in", name);
  PyErr_Format(PyExc_ValueError,
               "round_in: %s takes blocks with scale factors, which have a rule of their own; leave "
               "it out",
               instruction->name);
  return -1;
}

/* Stochastic roundings, whose names follow those of the other roundings. */
static const char *const stochastic[] = {[SMMA_STOCHASTIC_A] = "stochastic-a",
                                         [SMMA_STOCHASTIC_B] = "stochastic-b",
                                         [SMMA_STOCHASTIC_C] = "stochastic-c",
                                         NULL};

int overflow_named(const char *name) {
  static const char *const overflows[] = {
      [SMMA_OVERFLOW_DEFAULT] = "default",           [SMMA_OVERFLOW_SATURATE] = "saturate",
      [SMMA_OVERFLOW_INFINITY] = "infinity",         [SMMA_OVERFLOW_PROPAGATE] = "propagate",
      [SMMA_OVERFLOW_BY_DIRECTION] = "by-direction", NULL};
  return choice_named("overflow", name, overflows);
}

/* Returns the name of the rounding mode for operands in a format, from (Instruction, format). None as the Instruction
   gives the mode that does not depend on a unit. */
PyObject *python_operand_rounding(PyObject *module, PyObject *arguments) {
  const smma_instruction *instruction = NULL;
  PyObject *object;
  const char *format;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Os", &object, &format)) return NULL;
  if (object != Py_None && !(instruction = instruction_of(object))) return NULL;
  return PyUnicode_FromString(smma_roundings[smma_operand_rounding(instruction, NULL, smma_format_find(format))]);
}

PyObject *python_round(PyObject *module, PyObject *arguments) {
  PyObject *x, *dtype;
  const char *mode, *overflow;
  int rounding, policy, quiet;
  smma_format format;
  PyArrayObject *array;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOssp", &x, &dtype, &mode, &overflow, &quiet)) return NULL;
  format = array_format_named(dtype, "dtype");
  rounding = format == SMMA_NO_FORMAT ? -1 : choice_named("mode", mode, smma_every_rounding);
  policy = rounding < 0 ? -1 : overflow_named(overflow);
  array = policy < 0 ? NULL : array_of(x);
  if (array) array = array_rounded(array, "x", format, (smma_rounding)rounding, NULL, (smma_overflow)policy, quiet);
  return array ? PyArray_Return(array) : NULL;
}

/* Returns the numbers of an array of encodings in float64, from (encodings, format). */
PyObject *python_decode(PyObject *module, PyObject *arguments) {
  PyObject *object, *name, *values;
  smma_format format;
  PyArrayObject *array, *codes;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO", &object, &name)) return NULL;
  format = array_format_named(name, "format");
  array = format == SMMA_NO_FORMAT ? NULL : array_of(object);
  codes = array ? PyArray_GETCONTIGUOUS(array) : NULL;
  Py_XDECREF(array);
  if (!codes) return NULL;
  values = PyArray_SimpleNew(PyArray_NDIM(codes), PyArray_DIMS(codes), NPY_DOUBLE);
  for (npy_intp i = 0; values && i < PyArray_SIZE(codes); i++)
    ((double *)PyArray_DATA((PyArrayObject *)values))[i] =
        smma_format_decode(format, smma_load((size_t)PyArray_ITEMSIZE(codes), PyArray_DATA(codes), (size_t)i));
  Py_DECREF(codes);
  return values;
}

/* Rounds x with the last `bits` bits of a random word for each element: an array of uint32, of x's shape, in C order.
 */
static PyObject *rounded_with(PyArrayObject *x, smma_format format, random_draws draws, PyArrayObject *words,
                              smma_overflow overflow) {
  if (PyArray_NDIM(x) == PyArray_NDIM(words) &&
      PyArray_CompareLists(PyArray_DIMS(x), PyArray_DIMS(words), PyArray_NDIM(x))) {
    draws.words = PyArray_DATA(words);
    x = array_rounded(x, "x", format, SMMA_ROUND_NEAREST_EVEN, &draws, overflow, false);
    return x ? PyArray_Return(x) : NULL;
  }
  PyErr_SetString(PyExc_ValueError, "random: not of x's shape; it has one integer for each element of x");
  Py_DECREF(x);
  return NULL;
}

/* Returns x rounded stochastically, from (x, dtype, mode, overflow, random, bits). */
PyObject *python_round_stochastically(PyObject *module, PyObject *arguments) {
  PyObject *x, *dtype, *random, *result = NULL;
  const char *mode, *overflow;
  random_draws draws = {SMMA_STOCHASTIC_A, 0, NULL};
  int variant, policy;
  smma_format format;
  PyArrayObject *array, *words;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOssOi", &x, &dtype, &mode, &overflow, &random, &draws.bits)) return NULL;
  if (draws.bits < 1 || draws.bits > SMMA_MOST_RANDOM_BITS)
    return PyErr_Format(PyExc_ValueError, "random_bits is %d; allowed: 1 to %d", draws.bits, SMMA_MOST_RANDOM_BITS);
  format = array_format_named(dtype, "dtype");
  variant = format == SMMA_NO_FORMAT ? -1 : choice_named("mode", mode, stochastic);
  policy = variant < 0 ? -1 : overflow_named(overflow);
  if (policy < 0) return NULL;
  draws.variant = (smma_stochastic)variant;
  words = (PyArrayObject *)PyArray_FROM_OTF(random, NPY_UINT32, NPY_ARRAY_C_CONTIGUOUS);
  array = words ? array_of(x) : NULL;
  if (array) result = rounded_with(array, format, draws, words, (smma_overflow)policy);
  Py_XDECREF(words);
  return result;
}

/* ---- Blocks with a common scale factor ---- */

static PyArrayObject *new_like(PyArrayObject *x, smma_format format, npy_intp last) {
  npy_intp shape[MOST_AXES];
  for (int axis = 0; axis < PyArray_NDIM(x); axis++) shape[axis] = PyArray_DIM(x, axis);
  shape[PyArray_NDIM(x) - 1] = last;
  return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, array_dtype_of(format), PyArray_NDIM(x), shape, NULL,
                                               NULL, 0, NULL);
}

/* Quantises along the last axis. Returns (values, scales, factor). */
static PyObject *quantize(PyArrayObject *x, const smma_block_format *f) {
  npy_intp length = PyArray_DIM(x, PyArray_NDIM(x) - 1), blocks = (length + f->block - 1) / f->block;
  npy_intp rows = length ? PyArray_SIZE(x) / length : 0;
  PyArrayObject *values = new_like(x, f->element, length), *scales = new_like(x, f->scale, blocks);
  if (values && scales) {
    PyThreadState *thread = PyEval_SaveThread();
    float factor = 0;
    const smma_status status = smma_quantize(f, PyArray_DATA(x), (size_t)rows, (size_t)length, true, &factor,
                                             PyArray_DATA(values), PyArray_DATA(scales));
    PyEval_RestoreThread(thread);
    if (status == SMMA_OK) return Py_BuildValue("(NNd)", values, scales, (double)factor);
    fail_with_status(status);
  }
  Py_XDECREF(values);
  Py_XDECREF(scales);
  return NULL;
}

/* Converts scale factors, `blocks` for each of `lines` lines, from the swizzled layout if `back` is true, otherwise to
   it. Takes and returns contiguous arrays of bytes. */
PyObject *python_swizzle(PyObject *module, PyObject *arguments) {
  PyArrayObject *x, *y;
  Py_ssize_t lines, blocks;
  int back;
  npy_intp plain, swizzled;
  smma_status status;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!nnp", &PyArray_Type, &x, &lines, &blocks, &back)) return NULL;
  if (lines < 0 || blocks < 0 || smma_swizzled_bytes((size_t)lines, (size_t)blocks) > PTRDIFF_MAX)
    return PyErr_Format(PyExc_ValueError, "%zd lines with %zd blocks", lines, blocks);
  plain = lines * blocks, swizzled = (npy_intp)smma_swizzled_bytes((size_t)lines, (size_t)blocks);
  if (PyArray_TYPE(x) != NPY_UINT8 || !PyArray_IS_C_CONTIGUOUS(x) || PyArray_SIZE(x) != (back ? swizzled : plain))
    return PyErr_Format(PyExc_ValueError, "scales: %zd bytes without gaps are needed", back ? swizzled : plain);
  y = (PyArrayObject *)PyArray_SimpleNew(1, back ? &plain : &swizzled, NPY_UINT8);
  if (!y) return NULL;
  status = (back ? smma_unswizzle_scales : smma_swizzle_scales)(PyArray_DATA(x), (size_t)lines, (size_t)blocks,
                                                                PyArray_DATA(y));
  if (status == SMMA_OK) return (PyObject *)y;
  Py_DECREF(y);
  return fail_with_status(status);
}

/* Returns (values, scales, the tensor's factor), from (x, element format, scale format, block), along the last of at
   least one axis. */
PyObject *python_quantize(PyObject *module, PyObject *arguments) {
  PyObject *object;
  const char *element, *scale;
  Py_ssize_t block;
  PyArrayObject *x, *dense;
  PyObject *result;
  smma_block_format f;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Ossn", &object, &element, &scale, &block)) return NULL;
  f = (smma_block_format){"", smma_format_find(element), smma_format_find(scale), (int)block};
  if (f.element == SMMA_NO_FORMAT || f.scale == SMMA_NO_FORMAT || block < 1 || block > INT_MAX)
    return PyErr_Format(PyExc_ValueError, "%s in blocks of %zd with factors in %s: no block-scaled format", element,
                        block, scale);
  x = array_of(object);
  x = x ? array_rounded(x, "x", SMMA_F64, SMMA_ROUND_NEAREST_EVEN, NULL, SMMA_OVERFLOW_DEFAULT, true) : NULL;
  if (x && PyArray_NDIM(x) == 0) {
    PyErr_SetString(PyExc_ValueError, "x is a number; blocks lie along an axis of an array");
    Py_CLEAR(x);
  }
  dense = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  if (!dense) return NULL;
  result = quantize(dense, &f);
  Py_DECREF(dense);
  return result;
}
