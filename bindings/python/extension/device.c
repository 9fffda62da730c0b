/* Arrays in a device's memory: NumPy array objects that describe them, whose elements the host must not access.
   Converts them from and to the exchange protocols of array libraries (DLPack, https://dmlc.github.io/dlpack). */
#include "softmma/device.h"

#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* ---- DLPack's structs ---- */

enum { DL_CUDA = 2 };

typedef struct {
  int32_t type, id;
} dl_device;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} dl_type;

typedef struct {
  void *data;
  dl_device device;
  int32_t axes;
  dl_type type;
  int64_t *shape, *strides; /* in elements; NULL: dense rows */
  uint64_t offset;          /* in bytes */
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct dl_managed *);
} dl_managed;

/* Element types: DLPack's code and bits, and NumPy's name. */
static const struct {
  uint8_t code, bits;
  const char *name;
} types[] = {{0, 8, "int8"},         {0, 32, "int32"},           {1, 8, "uint8"},          {1, 16, "uint16"},
             {1, 32, "uint32"},      {1, 64, "uint64"},          {2, 16, "float16"},       {2, 32, "float32"},
             {2, 64, "float64"},     {4, 16, "bfloat16"},        {10, 8, "float8_e4m3fn"}, {11, 8, "float8_e4m3fnuz"},
             {12, 8, "float8_e5m2"}, {13, 8, "float8_e5m2fnuz"}, {14, 8, "float8_e8m0fnu"}};
enum { TYPES = sizeof types / sizeof types[0] };

/* ---- Descriptions ---- */

static const char owner_name[] = "softmma.device";

/* What a description keeps alive: memory that the library allocated, a DLPack tensor, or the object that owns the
   memory. */
typedef struct {
  char *device; /* NULL: the memory is not the library's */
  void *memory;
  dl_managed *managed;
  PyObject *owner;
} kept;

static void release_kept(PyObject *capsule) {
  kept *k = PyCapsule_GetPointer(capsule, owner_name);
  if (k->device) smma_device_release(k->device, k->memory);
  if (k->managed && k->managed->deleter) k->managed->deleter(k->managed);
  Py_XDECREF(k->owner);
  free(k->device);
  free(k);
}

bool array_is_on_device(PyObject *object) {
  while (object && PyArray_Check(object)) object = PyArray_BASE((PyArrayObject *)object);
  return object && PyCapsule_IsValid(object, owner_name);
}

/* Makes a description. Takes over `k` and `dtype`; strides are in bytes, or NULL. */
static PyArrayObject *describe(kept *k, void *data, int axes, const npy_intp *shape, const npy_intp *strides,
                               PyArray_Descr *dtype) {
  static char nothing[8]; /* address for empty arrays: NumPy allocates memory for a NULL pointer */
  PyObject *owner = PyCapsule_New(k, owner_name, release_kept), *array;
  array = owner ? PyArray_NewFromDescr(&PyArray_Type, dtype, axes, shape, strides, data ? data : nothing,
                                       NPY_ARRAY_WRITEABLE, NULL)
                : NULL;
  if (array && PyArray_SetBaseObject((PyArrayObject *)array, owner) < 0)
    Py_CLEAR(array);
  else if (!array)
    Py_XDECREF(owner);
  return (PyArrayObject *)array;
}

PyArrayObject *array_allocate_on(const char *device, int axes, const npy_intp *shape, PyArray_Descr *dtype) {
  const size_t bytes = (size_t)PyArray_MultiplyList(shape, axes) * (size_t)PyDataType_ELSIZE(dtype);
  smma_error error = {SMMA_NO_MEMORY, ""};
  kept *k = calloc(1, sizeof *k);
  if (k) k->device = malloc(strlen(device) + 1);
  if (k && k->device) {
    strcpy(k->device, device);
    smma_device_allocate(device, bytes, &k->memory, &error);
  }
  if (error.status == SMMA_OK) return describe(k, k->memory, axes, shape, NULL, dtype);
  if (k) free(k->device);
  free(k);
  Py_DECREF(dtype);
  fail_with_error(&error);
  return NULL;
}

/* ---- From Python ---- */

static PyArray_Descr *dtype_named(const char *name) {
  PyObject *module = PyImport_ImportModule("ml_dtypes"), *type = NULL;
  PyArray_Descr *dtype = NULL;
  if (!module) return NULL;
  type = PyObject_HasAttrString(module, name) ? PyObject_GetAttrString(module, name) : PyUnicode_FromString(name);
  Py_DECREF(module);
  if (type && !PyArray_DescrConverter(type, &dtype)) dtype = NULL;
  Py_XDECREF(type);
  return dtype;
}

/* Describes memory of another owner, from (address, shape, strides in bytes or None, dtype, owner). */
PyObject *python_device_view(PyObject *module, PyObject *arguments) {
  npy_intp size[MOST_AXES], step[MOST_AXES];
  PyObject *shape, *strides, *owner, *type;
  PyArray_Descr *dtype;
  unsigned long long address;
  Py_ssize_t axes;
  kept *k;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "KO!OOO", &address, &PyTuple_Type, &shape, &strides, &type, &owner)) return NULL;
  axes = PyTuple_Size(shape);
  if (axes > MOST_AXES || (strides != Py_None && (!PyTuple_Check(strides) || PyTuple_Size(strides) != axes))) {
    PyErr_SetString(PyExc_ValueError, "an array whose shape and strides do not belong together");
    return NULL;
  }
  for (Py_ssize_t i = 0; i < axes; i++) {
    size[i] = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
    step[i] = strides == Py_None ? 0 : PyLong_AsSsize_t(PyTuple_GetItem(strides, i));
  }
  if (PyErr_Occurred() || !PyArray_DescrConverter(type, &dtype)) return NULL;
  k = calloc(1, sizeof *k);
  if (!k) return PyErr_NoMemory();
  Py_INCREF(owner);
  k->owner = owner;
  return (PyObject *)describe(k, (void *)(uintptr_t)address, (int)axes, size, strides == Py_None ? NULL : step, dtype);
}

/* Describes the tensor of a DLPack capsule, and takes it over. */
PyObject *python_from_dlpack(PyObject *module, PyObject *capsule) {
  npy_intp shape[MOST_AXES], strides[MOST_AXES];
  const dl_tensor *t;
  dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
  PyArray_Descr *dtype = NULL;
  kept *k;
  (void)module;
  if (!managed) return NULL;
  t = &managed->tensor;
  for (size_t i = 0; i < TYPES && !dtype; i++)
    if (t->type.code == types[i].code && t->type.bits == types[i].bits && t->type.lanes == 1)
      dtype = dtype_named(types[i].name);
  if (!dtype || t->axes < 0 || t->axes > MOST_AXES) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "a tensor of DLPack's type %d with %d bits holds no number format",
                   (int)t->type.code, (int)t->type.bits);
    Py_XDECREF(dtype);
    return NULL;
  }
  for (int i = 0; i < t->axes; i++) {
    shape[i] = (npy_intp)t->shape[i];
    strides[i] = t->strides ? (npy_intp)t->strides[i] * PyDataType_ELSIZE(dtype) : 0;
  }
  k = calloc(1, sizeof *k);
  if (!k) return PyErr_NoMemory();
  k->managed = managed;
  PyCapsule_SetName(capsule, "used_dltensor");
  return (PyObject *)describe(k, (char *)t->data + t->offset, t->axes, shape, t->strides ? strides : NULL, dtype);
}

/* ---- To Python ---- */

/* A DLPack tensor and its shape and strides; the consumer of the capsule frees both by managed.deleter. */
typedef struct {
  dl_managed managed;
  int64_t numbers[]; /* shape and strides */
} lent;

/* Frees the tensor. Its consumer may call this in any thread, also after Python has ended. */
static void delete_lent(dl_managed *managed) {
  if (Py_IsInitialized()) {
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)managed->context);
    PyGILState_Release(state);
  }
  free(managed);
}

static void release_lent(PyObject *capsule) {
  dl_managed *managed;
  if (!PyCapsule_IsValid(capsule, "dltensor")) return; /* a consumer has taken the memory, and will release it */
  managed = PyCapsule_GetPointer(capsule, "dltensor");
  managed->deleter(managed);
}

/* Returns a DLPack capsule, from (description, number of the CUDA device). */
PyObject *python_to_dlpack(PyObject *module, PyObject *arguments) {
  PyArrayObject *x;
  int device, axes;
  PyObject *capsule, *name;
  const char *text;
  lent *l;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!i", &PyArray_Type, &x, &device)) return NULL;
  axes = PyArray_NDIM(x);
  l = calloc(1, sizeof *l + 2 * (size_t)axes * sizeof l->numbers[0]);
  if (!l) return PyErr_NoMemory();
  l->managed.tensor = (dl_tensor){.data = PyArray_DATA(x),
                                  .device = {DL_CUDA, device},
                                  .axes = axes,
                                  .shape = l->numbers,
                                  .strides = l->numbers + axes};
  for (int i = 0; i < axes; i++) {
    l->numbers[i] = PyArray_DIM(x, i);
    l->numbers[axes + i] = PyArray_STRIDE(x, i) / PyArray_ITEMSIZE(x);
  }
  name = PyObject_GetAttrString((PyObject *)PyArray_DESCR(x), "name");
  text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  for (size_t i = 0; text && i < TYPES; i++)
    if (strcmp(text, types[i].name) == 0) l->managed.tensor.type = (dl_type){types[i].code, types[i].bits, 1};
  if (text && !l->managed.tensor.type.lanes)
    PyErr_Format(PyExc_BufferError, "DLPack has no type for elements of %s", text);
  Py_XDECREF(name);
  l->managed.context = x, l->managed.deleter = delete_lent;
  capsule = PyErr_Occurred() ? NULL : PyCapsule_New(&l->managed, "dltensor", release_lent);
  if (!capsule) return free(l), NULL;
  Py_INCREF(x);
  return capsule;
}

/* Returns a copy, in host memory, of an array in the named device's memory: for tests and for printing. */
PyObject *python_device_read(PyObject *module, PyObject *arguments) {
  smma_error error;
  const char *device;
  PyArrayObject *x;
  PyObject *copy;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sO!", &device, &PyArray_Type, &x)) return NULL;
  if (!PyArray_IS_C_CONTIGUOUS(x)) return PyErr_Format(PyExc_ValueError, "an array with gaps");
  copy = PyArray_NewLikeArray(x, NPY_CORDER, NULL, 0);
  if (!copy) return NULL;
  smma_device_read(device, PyArray_DATA((PyArrayObject *)copy), PyArray_DATA(x), (size_t)PyArray_NBYTES(x), &error);
  if (error.status == SMMA_OK) return copy;
  Py_DECREF(copy);
  return fail_with_error(&error);
}

/* Copies an array to a device, from (device, array in host memory). */
PyObject *python_device_write(PyObject *module, PyObject *arguments) {
  smma_error error;
  const char *device;
  PyArrayObject *x, *there;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sO!", &device, &PyArray_Type, &x)) return NULL;
  if (!PyArray_IS_C_CONTIGUOUS(x)) return PyErr_Format(PyExc_ValueError, "an array with gaps");
  Py_INCREF(PyArray_DESCR(x));
  there = array_allocate_on(device, PyArray_NDIM(x), PyArray_DIMS(x), PyArray_DESCR(x));
  if (!there) return NULL;
  smma_device_write(device, PyArray_DATA(there), PyArray_DATA(x), (size_t)PyArray_NBYTES(x), &error);
  if (error.status == SMMA_OK) return (PyObject *)there;
  Py_DECREF(there);
  return fail_with_error(&error);
}
