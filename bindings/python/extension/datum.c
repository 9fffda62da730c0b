/* Results of studies as Python's objects. */
#include "datum/datum.h"

#include "binding.h"

static PyObject *object_of(const smma_datum *d);

static PyObject *list_of(const smma_datum *d) {
  const size_t size = smma_datum_size(d);
  PyObject *list = PyList_New((Py_ssize_t)size);
  for (size_t i = 0; list && i < size; i++) {
    PyObject *element = object_of(smma_datum_at(d, i));
    if (!element || PyList_SetItem(list, (Py_ssize_t)i, element) != 0) Py_CLEAR(list);
  }
  return list;
}

static PyObject *dict_of(const smma_datum *d) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict && i < smma_datum_size(d); i++) {
    PyObject *element = object_of(smma_datum_at(d, i));
    if (!element || PyDict_SetItemString(dict, smma_datum_key(d, i), element) != 0) Py_CLEAR(dict);
    Py_XDECREF(element);
  }
  return dict;
}

static PyObject *object_of(const smma_datum *d) {
  switch (smma_datum_kind_of(d)) {
    case SMMA_DATUM_NULL: Py_RETURN_NONE;
    case SMMA_DATUM_FLAG: return PyBool_FromLong(smma_datum_flag_of(d));
    case SMMA_DATUM_COUNT: return PyLong_FromLongLong(smma_datum_integer_of(d));
    case SMMA_DATUM_REAL: return PyFloat_FromDouble(smma_datum_real_of(d));
    case SMMA_DATUM_TEXT: return PyUnicode_FromString(smma_datum_text_of(d));
    case SMMA_DATUM_LIST: return list_of(d);
    case SMMA_DATUM_RECORD: return dict_of(d);
  }
  return NULL;
}

PyObject *value_from(smma_datum *datum) {
  PyObject *value = smma_datum_is_complete(datum) ? object_of(datum) : PyErr_NoMemory();
  smma_datum_free(datum);
  return value;
}

PyObject *fail_with(const smma_error *error) {
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, error->text);
  return NULL;
}
