/* Converts between NumPy's arrays and arrays of encodings. */
#include "binding.h"
#include "core/format.h"

/* The formats that have a NumPy dtype, each with that dtype. */
static struct known_format {
  smma_format format;
  PyArray_Descr *dtype;
} * known;
static size_t known_count;

static PyArray_Descr *dtype_of(smma_format format) {
  for (size_t i = 0; i < known_count; i++)
    if (known[i].format == format) return known[i].dtype;
  return NULL;
}

/* Stores the dtype of a format, unless the format is SMMA_NO_FORMAT or already has a dtype. Returns false, with an
   exception, if memory runs out. */
static bool add_known(smma_format format, PyArray_Descr *dtype) {
  struct known_format *more;
  if (format == SMMA_NO_FORMAT || dtype_of(format)) return true;
  more = realloc(known, (known_count + 1) * sizeof *known);
  if (!more) return PyErr_NoMemory(), false;
  known = more;
  Py_INCREF(dtype);
  known[known_count++] = (struct known_format){format, dtype};
  return true;
}

/* Stores the dtype of a format if the library knows its name. Takes over `dtype`. */
static bool learn(PyArray_Descr *dtype) {
  PyObject *name = PyObject_GetAttrString((PyObject *)dtype, "name");
  const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  const bool learnt = text && add_known(smma_format_find(text), dtype);
  Py_XDECREF(name);
  Py_DECREF(dtype);
  return learnt;
}

bool array_learn_dtypes(void) {
  static const smma_format same_encodings[][2] = {
      {SMMA_TF32, SMMA_F32}, {SMMA_E8M13, SMMA_F32}, {SMMA_UE4M3, SMMA_E4M3}};
  PyObject *module = PyImport_ImportModule("ml_dtypes"), *value;
  Py_ssize_t position = 0;
  if (!module) return false;
  for (int type = NPY_BYTE; type <= NPY_DOUBLE; type++)
    if (!learn(PyArray_DescrFromType(type))) return false;
  if (!learn(PyArray_DescrFromType(NPY_HALF)) || !learn(PyArray_DescrFromType(NPY_BOOL))) return false;
  while (PyDict_Next(PyModule_GetDict(module), &position, NULL, &value)) {
    PyArray_Descr *dtype;
    if (!PyType_Check(value) || !PyType_IsSubtype((PyTypeObject *)value, &PyGenericArrType_Type)) continue;
    if (!PyArray_DescrConverter(value, &dtype) || !learn(dtype)) return false;
  }
  Py_DECREF(module);
  for (size_t i = 0; i < sizeof same_encodings / sizeof *same_encodings; i++)
    if (!add_known(same_encodings[i][0], dtype_of(same_encodings[i][1]))) return false;
  return !PyErr_Occurred();
}

/* Encodings of a format without a dtype are unsigned integers as wide as the format. */
PyArray_Descr *array_dtype_of(smma_format format) {
  static const int unsigned_types[] = {[1] = NPY_UINT8, [2] = NPY_UINT16, [4] = NPY_UINT32, [8] = NPY_UINT64};
  PyArray_Descr *dtype = dtype_of(format);
  if (!dtype) return PyArray_DescrFromType(unsigned_types[smma_format_bytes(format)]);
  Py_INCREF(dtype);
  return dtype;
}

bool array_same_dtype(smma_format one, smma_format other) {
  return other != SMMA_NO_FORMAT && dtype_of(one) && dtype_of(one) == dtype_of(other);
}

static smma_format format_of_type(int type) {
  for (size_t i = 0; i < known_count; i++)
    if (known[i].dtype->type_num == type) return known[i].format;
  return SMMA_NO_FORMAT;
}

smma_format array_format_of(const PyArrayObject *array) { return format_of_type(PyArray_TYPE(array)); }

smma_format array_format_named(PyObject *object, const char *what) {
  PyArray_Descr *dtype = NULL;
  smma_format format = SMMA_NO_FORMAT;
  if (PyUnicode_Check(object)) {
    const char *name = text_of(object);
    if (!name) return SMMA_NO_FORMAT;
    format = smma_format_find(name);
  } else if (object != Py_None && PyArray_DescrConverter(object, &dtype)) { /* for None it returns float64 */
    format = format_of_type(dtype->type_num);
    Py_DECREF(dtype);
  } else {
    PyErr_Clear();
  }
  if (format == SMMA_NO_FORMAT)
    PyErr_Format(PyExc_LookupError, "%s: %R is no number format; softmma.formats() lists them", what, object);
  return format;
}

PyArrayObject *array_of(PyObject *object) {
  PyArrayObject *array, *native;
  if (array_is_on_device(object)) {
    PyErr_SetString(PyExc_TypeError, "an array in a device's memory: products alone take it");
    return NULL;
  }
  array = (PyArrayObject *)PyArray_FROM_O(object);
  if (!array || !PyArray_ISBYTESWAPPED(array)) return array;
  native = (PyArrayObject *)PyArray_CastToType(array, PyArray_DescrNewByteorder(PyArray_DESCR(array), NPY_NATIVE), 0);
  Py_DECREF(array);
  return native;
}

bool array_is_given(PyObject *object, const char *what) {
  if (object != Py_None) return true;
  PyErr_Format(PyExc_TypeError, "%s is None; give an array", what);
  return false;
}

bool array_is_no_unit(PyObject *object) {
  if (!PyUnicode_Check(object)) return true;
  PyErr_Format(PyExc_TypeError, "c is %R; a unit is given by keyword: on=%R", object, object);
  return false;
}

/* Returns the array if its memory has no gaps, otherwise a dense copy with the same order of axes in memory. Takes over
   `array`. */
static PyArrayObject *gapless(PyArrayObject *array) {
  PyArrayObject *copy;
  if (PyArray_IS_C_CONTIGUOUS(array) || PyArray_IS_F_CONTIGUOUS(array)) return array;
  copy = (PyArrayObject *)PyArray_NewCopy(array, NPY_KEEPORDER);
  Py_DECREF(array);
  return copy;
}

/* Returns the array in C order. Takes over `array`. */
static PyArrayObject *contiguous(PyArrayObject *array) {
  PyArrayObject *result = PyArray_GETCONTIGUOUS(array);
  Py_DECREF(array);
  return result;
}

/* Returns a copy in the format `to`. Rounds stochastically if `draws` is not NULL, otherwise by `rounding`. Unless
   `lost` is NULL, counts in it the values that the conversion loses. Takes over `array`. */
static PyArrayObject *convert(PyArrayObject *array, smma_format from, smma_format to, smma_rounding rounding,
                              const random_draws *draws, smma_overflow overflow, smma_conversion *lost) {
  PyArrayObject *result;
  array = draws ? contiguous(array) : gapless(array);
  if (!array) return NULL;
  result = (PyArrayObject *)PyArray_NewLikeArray(array, NPY_KEEPORDER, array_dtype_of(to), 0);
  if (result) {
    const void *source = PyArray_DATA(array);
    void *target = PyArray_DATA(result);
    size_t count = (size_t)PyArray_SIZE(array);
    PyThreadState *state = PyEval_SaveThread();
    if (draws)
      smma_convert_stochastic(from, source, to, target, count, draws->variant, draws->bits, draws->words, overflow,
                              lost);
    else
      smma_convert(from, source, to, target, count, rounding, overflow, lost);
    PyEval_RestoreThread(state);
  }
  Py_DECREF(array);
  return result;
}

/* Reports whether float64 holds all integers of the array; otherwise sets an exception. */
static bool are_doubles(PyArrayObject *array, const char *what) {
  const bool is_unsigned = PyArray_ISUNSIGNED(array);
  PyArray_Descr *type = PyArray_DescrFromType(is_unsigned ? NPY_ULONGLONG : NPY_LONGLONG);
  PyArrayObject *wide = (PyArrayObject *)PyArray_CastToType(array, type, 0);
  const long long *number = wide ? PyArray_DATA(wide) : NULL;
  bool good = wide;
  for (npy_intp i = 0; good && i < PyArray_SIZE(wide); i++) {
    const unsigned long long bits = (unsigned long long)number[i];
    unsigned long long magnitude = !is_unsigned && number[i] < 0 ? 0 - bits : bits;
    while (magnitude && magnitude % 2 == 0) magnitude /= 2;
    good = magnitude >> 53 == 0;
    if (!good && is_unsigned)
      PyErr_Format(PyExc_ValueError, "%s: float64 does not hold %llu exactly; convert it to float64", what, bits);
    else if (!good)
      PyErr_Format(PyExc_ValueError, "%s: float64 does not hold %lld exactly; convert it to float64", what, number[i]);
  }
  Py_XDECREF(wide);
  return good;
}

PyArrayObject *array_of_numbers(PyArrayObject *array, const char *what) {
  PyArrayObject *result = NULL;
  if (!PyArray_ISUNSIGNED(array)) return array;
  if (PyArray_ITEMSIZE(array) < 8 || are_doubles(array, what))
    result = (PyArrayObject *)PyArray_CastToType(array, PyArray_DescrFromType(NPY_DOUBLE), 0);
  Py_DECREF(array);
  return result;
}

/* Returns an array's numbers, from (array, its name): unsigned integers in float64, other arrays unchanged. */
PyObject *python_numbers(PyObject *module, PyObject *arguments) {
  PyArrayObject *array;
  PyObject *object;
  const char *what;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Os", &object, &what) || !(array = array_of(object))) return NULL;
  return (PyObject *)array_of_numbers(array, what);
}

/* Returns the array if its dtype is a format's. Converts other integers, and booleans, to float64; other dtypes fail,
   and integers that float64 does not hold. Takes over `array`. */
static PyArrayObject *as_known(PyArrayObject *array, const char *what) {
  PyArrayObject *result = NULL;
  if (array_format_of(array) != SMMA_NO_FORMAT) return array;
  if (PyArray_ISINTEGER(array) || PyArray_ISBOOL(array)) {
    if (PyArray_ITEMSIZE(array) < 8 || are_doubles(array, what))
      result = (PyArrayObject *)PyArray_CastToType(array, PyArray_DescrFromType(NPY_DOUBLE), 0);
  } else {
    PyErr_Format(PyExc_TypeError, "%s: its dtype, %S, is no number format; softmma.formats() lists them", what,
                 PyArray_DESCR(array));
  }
  Py_DECREF(array);
  return result;
}

/* Warns of values that rounding replaced by infinity, zero, NaN or the greatest number. Returns false if Python turns
   the warning into an exception. */
static bool warn_of_loss(const char *what, smma_format format, const smma_conversion *lost) {
  if (!lost->infinite && !lost->saturated && !lost->zero && !lost->nan) return true;
  return PyErr_WarnFormat(
             PyExc_RuntimeWarning, 2,
             "%s: rounded to %s, %zu values became infinite, %zu saturated, %zu became zero, %zu became NaN", what,
             smma_format_name(format), lost->infinite, lost->saturated, lost->zero, lost->nan) == 0;
}

bool array_holds(const PyArrayObject *array, smma_format format) {
  const bool encodings = PyArray_ISUNSIGNED(array) && (size_t)PyArray_ITEMSIZE(array) == smma_format_bytes(format) &&
                         !smma_is_integer(format);
  return encodings || array_format_of(array) == format;
}

PyArrayObject *array_as(PyArrayObject *array, const char *what, smma_format format, smma_rounding rounding) {
  smma_conversion lost;
  PyArrayObject *result;
  if (array_holds(array, format)) return array;
  array = as_known(array, what);
  if (!array) return NULL;
  result = convert(array, array_format_of(array), format, rounding, NULL, SMMA_OVERFLOW_DEFAULT, &lost);
  if (!result || warn_of_loss(what, format, &lost)) return result;
  Py_DECREF(result);
  return NULL;
}

PyArrayObject *array_exact(PyArrayObject *array, const char *what, smma_format format, size_t *changed) {
  smma_conversion lost = {0};
  *changed = 0;
  if (array_holds(array, format)) return array;
  array = as_known(array, what);
  if (!array) return NULL;
  array = convert(array, array_format_of(array), format, SMMA_ROUND_NEAREST_EVEN, NULL, SMMA_OVERFLOW_INFINITY, &lost);
  *changed = lost.changed;
  if (array && !*changed) return array;
  Py_XDECREF(array);
  return NULL;
}

PyArrayObject *array_rounded(PyArrayObject *array, const char *what, smma_format format, smma_rounding rounding,
                             const random_draws *draws, smma_overflow overflow, bool quiet) {
  smma_conversion lost;
  PyArrayObject *result;
  array = as_known(array, what);
  if (!array) return NULL;
  result = convert(array, array_format_of(array), format, rounding, draws, overflow, quiet ? NULL : &lost);
  if (!result || quiet || warn_of_loss(what, format, &lost)) return result;
  Py_DECREF(result);
  return NULL;
}

PyObject *array_shape(PyArrayObject *array) { return PyObject_GetAttrString((PyObject *)array, "shape"); }

static void fail_to_broadcast(PyArrayObject *one, const char *name, PyArrayObject *other, const char *other_name) {
  PyObject *shape = array_shape(one), *other_shape = array_shape(other);
  if (shape && other_shape)
    PyErr_Format(PyExc_ValueError, "%s is %S and %s is %S: their leading axes do not broadcast", name, shape,
                 other_name, other_shape);
  Py_XDECREF(shape);
  Py_XDECREF(other_shape);
}

int array_broadcast(PyArrayObject *const *arrays, const char *const *names, const int *own, int count,
                    npy_intp shape[MOST_AXES]) {
  int axes = 0, said_by[MOST_AXES] = {0};
  for (int x = 0; x < count; x++)
    if (arrays[x] && PyArray_NDIM(arrays[x]) - own[x] > axes) axes = PyArray_NDIM(arrays[x]) - own[x];
  for (int x = 0; x < count; x++) {
    if (!arrays[x] || axes + own[x] <= MOST_AXES) continue;
    PyErr_Format(PyExc_ValueError, "%s would be broadcast to %d axes; NumPy's arrays have at most %d", names[x],
                 axes + own[x], MOST_AXES);
    return -1;
  }
  for (int axis = 0; axis < axes; axis++) shape[axis] = 1;
  for (int x = 0; x < count; x++) {
    int leading = arrays[x] ? PyArray_NDIM(arrays[x]) - own[x] : 0;
    for (int axis = 0; axis < leading; axis++) {
      npy_intp size = PyArray_DIM(arrays[x], axis), *common = &shape[axes - leading + axis];
      if (size == 1 || size == *common) continue;
      if (*common != 1) {
        int other = said_by[axes - leading + axis];
        fail_to_broadcast(arrays[other], names[other], arrays[x], names[x]);
        return -1;
      }
      *common = size;
      said_by[axes - leading + axis] = x;
    }
  }
  return axes;
}

PyArrayObject *array_spread(PyArrayObject *array, const char *what, int axes, const npy_intp *shape) {
  PyArrayObject *result;
  if (PyArray_NDIM(array) == axes && PyArray_CompareLists(PyArray_DIMS(array), shape, axes)) return array;
  Py_INCREF(PyArray_DESCR(array));
  result = (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(array), axes, shape, NULL, NULL, 0, NULL);
  if (result && PyArray_CopyInto(result, array) < 0) {
    PyObject *from = array_shape(array), *to = array_shape(result);
    if (from && to) PyErr_Format(PyExc_ValueError, "%s is %S; it must broadcast to %S", what, from, to);
    Py_XDECREF(from);
    Py_XDECREF(to);
    Py_CLEAR(result);
  }
  Py_DECREF(array);
  return result;
}

/* Sets the element size and the format of `t` from the array's dtype. Unsigned elements as wide as the format `named`
   are marked as encodings, which have that format. Returns false, with an exception, for a dtype without a format. */
static bool describe_elements(const PyArrayObject *array, const char *what, smma_format named, smma_tensor *t) {
  const bool holds = named != SMMA_NO_FORMAT && array_holds(array, named);
  const smma_format own = array_format_of(array);
  t->bytes = (int)PyArray_ITEMSIZE(array);
  t->format = own;
  if (holds && own != named) {
    t->format = SMMA_NO_FORMAT;
    return t->encodings = true;
  }
  if (PyArray_ISINTEGER(array)) t->integers = PyArray_ISSIGNED(array) ? SMMA_SIGNED_INTEGERS : SMMA_UNSIGNED_INTEGERS;
  if (own != SMMA_NO_FORMAT || PyArray_ISINTEGER(array)) return true;
  PyErr_Format(PyExc_TypeError, "%s: its dtype, %S, is no number format; softmma.formats() lists them", what,
               PyArray_DESCR(array));
  return false;
}

bool array_source(PyObject *object, const char *what, smma_format named, PyArrayObject **array, smma_source *source) {
  PyArrayObject *x;
  smma_tensor *t = &source->tensor;
  *array = NULL, *source = (smma_source){.path = NULL};
  if (object == Py_None) return true;
  if (!(x = array_of(object))) return false;
  if (PyArray_NDIM(x) < 1 || PyArray_NDIM(x) > 2) {
    PyErr_Format(PyExc_ValueError, "%s has %d axes; a matrix has two", what, PyArray_NDIM(x));
    Py_DECREF(x);
    return false;
  }
  *array = PyArray_GETCONTIGUOUS(x);
  Py_DECREF(x);
  if (!*array) return false;
  source->path = what;
  t->rows = PyArray_NDIM(*array) == 2 ? (size_t)PyArray_DIM(*array, 0) : 1;
  t->columns = (size_t)PyArray_DIM(*array, PyArray_NDIM(*array) - 1);
  t->data = PyArray_DATA(*array);
  return describe_elements(*array, what, named, t);
}
