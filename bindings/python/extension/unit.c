/* Units: those with a name, and Python functions. */
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "binding.h"
#include "host/clock.h"
#include "host/load.h"

/* ---- Without the GIL ---- */

/* State of the checks of this thread's units for Control-C and exceptions. */
static _Thread_local struct {
  bool on, stopped;
  double next; /* time before which no check is due */
} watched;

/* Reports whether an exception has to end the thread's work; Control-C raises one. */
static bool is_stopped(void) {
  static const double moment = 0.05;
  PyGILState_STATE gil;
  if (!watched.on || watched.stopped || smma_seconds() < watched.next) return watched.stopped;
  gil = PyGILState_Ensure();
  watched.stopped = PyErr_Occurred() || PyErr_CheckSignals() != 0;
  PyGILState_Release(gil);
  watched.next = smma_seconds() + moment;
  return watched.stopped;
}

bool see_interrupt(size_t done, size_t all, void *context) {
  (void)done, (void)all, (void)context;
  return is_stopped();
}

void watch_units(void) { smma_units_stop_when(is_stopped); }

suspended suspend_python(void) {
  const bool before = watched.on;
  watched.on = true, watched.stopped = false, watched.next = 0;
  return (suspended){.thread = PyEval_SaveThread(), .watched = before};
}

/* Restores the state saved by suspend_python. An enclosing suspension has to see the exception, too. */
bool resume_python(suspended before) {
  PyEval_RestoreThread(before.thread);
  watched.on = before.watched, watched.stopped = false;
  return !PyErr_Occurred();
}

void stop_units(void) { watched.stopped = true; }

/* ---- Arrays of rows ---- */

PyObject *array_of_encodings(smma_format format, const uint64_t *x, npy_intp count) {
  PyObject *array = PyArray_NewFromDescr(&PyArray_Type, array_dtype_of(format), 1, &count, NULL, NULL, 0, NULL);
  for (npy_intp e = 0; array && e < count; e++)
    smma_store((int)smma_format_bytes(format), PyArray_DATA((PyArrayObject *)array), (size_t)e, x[e]);
  return array;
}

PyObject *array_of_batch(smma_format format, const void *data, size_t rows, int columns) {
  const npy_intp shape[2] = {(npy_intp)rows, columns};
  PyObject *array =
      PyArray_NewFromDescr(&PyArray_Type, array_dtype_of(format), columns ? 2 : 1, shape, NULL, NULL, 0, NULL);
  if (array && rows) memcpy(PyArray_DATA((PyArrayObject *)array), data, (size_t)PyArray_NBYTES((PyArrayObject *)array));
  return array;
}

static PyObject *part_of(const smma_rows *rows, int part, smma_format format, size_t number) {
  const smma_part *p = &rows->layout.part[part];
  if (!p->count) Py_RETURN_NONE;
  return array_of_batch(format, rows->part[part], number, part == SMMA_PART_C || part == SMMA_PART_D ? 0 : p->count);
}

PyObject *arrays_of_rows(const smma_rows *r, size_t number) {
  const smma_instruction *i = r->instruction;
  return Py_BuildValue("(NNNNNN)", part_of(r, SMMA_PART_A, i->a, number), part_of(r, SMMA_PART_B, i->b, number),
                       part_of(r, SMMA_PART_C, i->c, number), part_of(r, SMMA_PART_D, i->d, number),
                       part_of(r, SMMA_PART_SCALE_A, i->scale, number),
                       part_of(r, SMMA_PART_SCALE_B, i->scale, number));
}

/* ---- A Python function as a unit ---- */

static PyObject *call(PyObject *function, const smma_instruction_info *i, const smma_batch *x) {
  PyObject *a = array_of_batch(i->a, x->a, x->rows, i->k), *b = array_of_batch(i->b, x->b, x->rows, i->k);
  PyObject *c = array_of_batch(i->c, x->c, x->rows, 0), *scale_a = NULL, *scale_b = NULL, *result = NULL;
  if (i->scale_block) {
    scale_a = array_of_batch(i->scale, x->scale_a, x->rows, i->k / i->scale_block);
    scale_b = array_of_batch(i->scale, x->scale_b, x->rows, i->k / i->scale_block);
  }
  if (a && b && c && !PyErr_Occurred()) /* without factors the list ends at c */
    result = PyObject_CallFunctionObjArgs(function, a, b, c, scale_a, scale_b, NULL);
  Py_XDECREF(a);
  Py_XDECREF(b);
  Py_XDECREF(c);
  Py_XDECREF(scale_a);
  Py_XDECREF(scale_b);
  return result;
}

/* Reads the function's results as encodings of D. Returns false with its exception. */
static bool compute(PyObject *function, const smma_instruction_info *i, const smma_batch *batch) {
  PyObject *returned = call(function, i, batch);
  PyArrayObject *d = returned ? array_of(returned) : NULL, *dense;
  Py_XDECREF(returned);
  if (d && (PyArray_NDIM(d) != 1 || PyArray_DIM(d, 0) != (npy_intp)batch->rows)) {
    PyObject *shape = array_shape(d);
    if (shape)
      PyErr_Format(PyExc_ValueError, "the function returned %S for %zu rows; one result for each is needed", shape,
                   batch->rows);
    Py_XDECREF(shape);
    Py_CLEAR(d);
  }
  if (d) d = array_as(d, "the function's result", i->d, SMMA_ROUND_NEAREST_EVEN);
  dense = d ? PyArray_GETCONTIGUOUS(d) : NULL;
  Py_XDECREF(d);
  if (!dense) return false;
  memcpy(batch->d, PyArray_DATA(dense), (size_t)PyArray_NBYTES(dense));
  Py_DECREF(dense);
  return true;
}

static int function_run(void *function, const smma_instruction_info *i, const smma_batch *batch, char *message,
                        size_t size) {
  const PyGILState_STATE gil = PyGILState_Ensure();
  const bool good = compute(function, i, batch);
  PyGILState_Release(gil);
  if (good) return 0;
  stop_units();
  snprintf(message, size, "the function raised an exception");
  return 1;
}

static int function_open(const char *arguments, void **unit, char *message, size_t size) {
  (void)arguments, (void)unit;
  snprintf(message, size, "a function has no name");
  return 1;
}

static void function_close(void *function) { (void)function; }

static void function_describe(void *function, smma_unit_description *description) {
  (void)function;
  *description = (smma_unit_description){.device = "a Python function"};
}

static int function_computes(void *function, const smma_instruction_info *i, char *message, size_t size) {
  (void)function, (void)i, (void)message, (void)size;
  return 0;
}

bool open_unit(PyObject *unit, smma_unit *opened, smma_error *error) {
  static const smma_unit_methods methods = {SMMA_UNIT_ABI,     function_open,     function_close,
                                            function_describe, function_computes, function_run};
  const char *name = unit == Py_None ? "model" : NULL;
  suspended before;
  bool good;
  if (PyUnicode_Check(unit)) {
    name = text_of(unit);
    if (!name) return false;
  }
  if (!name) {
    *opened = (smma_unit){.name = "a Python function", .methods = &methods, .state = unit};
    return true;
  }
  before = suspend_python();
  good = smma_unit_open(name, opened, error);
  if (resume_python(before)) return good;
  if (good) smma_unit_close(opened);
  return false;
}
