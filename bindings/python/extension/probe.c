/* Numerical features of a model, or of a Python function that computes dot products. */
#include "probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "host/load.h"

/* ---- A Python function as a unit ---- */

/* A copy of what a batch holds. */
static PyObject *batch_array(smma_format format, const void *data, size_t rows, int columns) {
  const npy_intp shape[2] = {(npy_intp)rows, columns};
  PyObject *array =
      PyArray_NewFromDescr(&PyArray_Type, array_dtype_of(format), columns ? 2 : 1, shape, NULL, NULL, 0, NULL);
  if (array) memcpy(PyArray_DATA((PyArrayObject *)array), data, (size_t)PyArray_NBYTES((PyArrayObject *)array));
  return array;
}

static PyObject *call(PyObject *function, const smma_instruction_info *i, const smma_batch *x) {
  PyObject *a = batch_array(i->a, x->a, x->rows, i->k), *b = batch_array(i->b, x->b, x->rows, i->k);
  PyObject *c = batch_array(i->c, x->c, x->rows, 0), *scale_a = NULL, *scale_b = NULL, *result = NULL;
  if (i->scale_block) {
    scale_a = batch_array(i->scale, x->scale_a, x->rows, i->k / i->scale_block);
    scale_b = batch_array(i->scale, x->scale_b, x->rows, i->k / i->scale_block);
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

/* The function's results as D's encodings; the exception it raises stays set. */
static int function_run(void *function, const smma_instruction_info *i, const smma_batch *batch, char *message,
                        size_t size) {
  PyObject *returned = call(function, i, batch);
  PyArrayObject *d = returned ? array_of(returned) : NULL, *dense;
  snprintf(message, size, "the function raised an exception");
  Py_XDECREF(returned);
  if (d && (PyArray_NDIM(d) != 1 || PyArray_DIM(d, 0) != (npy_intp)batch->rows)) {
    PyObject *shape = array_shape(d);
    if (shape)
      PyErr_Format(PyExc_ValueError, "the function returned %S for %zu rows; one result for each is needed", shape,
                   batch->rows);
    Py_XDECREF(shape);
    Py_CLEAR(d);
  }
  if (d) d = array_as(d, "the function's result", i->d);
  dense = d ? PyArray_GETCONTIGUOUS(d) : NULL;
  Py_XDECREF(d);
  if (!dense) return 1;
  memcpy(batch->d, PyArray_DATA(dense), (size_t)PyArray_NBYTES(dense));
  Py_DECREF(dense);
  return 0;
}

smma_unit unit_of_function(PyObject *function) {
  static const smma_unit_methods methods = {.abi = SMMA_UNIT_ABI, .run = function_run};
  return (smma_unit){.name = "a Python function", .methods = &methods, .state = function};
}

/* ---- Findings ---- */

PyObject *array_of_encodings(smma_format format, const uint64_t *x, npy_intp count) {
  PyObject *array = PyArray_NewFromDescr(&PyArray_Type, array_dtype_of(format), 1, &count, NULL, NULL, 0, NULL);
  for (npy_intp e = 0; array && e < count; e++)
    smma_store((int)smma_format_bytes(format), PyArray_DATA((PyArrayObject *)array), (size_t)e, x[e]);
  return array;
}

static PyObject *witness_of(const smma_instruction *i, const smma_finding *finding) {
  const smma_row *row = &finding->witness;
  if (!finding->has_witness) Py_RETURN_NONE;
  return Py_BuildValue("(NNNN)", array_of_encodings(i->a, row->a, i->k), array_of_encodings(i->b, row->b, i->k),
                       array_of_encodings(i->c, &row->c, 1), array_of_encodings(i->d, &row->d, 1));
}

/* (rows asked, [(name, title, source, value or None, why not, witness or None)]) */
static PyObject *findings_of(const smma_examination *x) {
  PyObject *list = PyList_New(0);
  for (int p = 0; list && p < SMMA_PROBE_COUNT; p++) {
    const smma_finding *f = &x->findings[p];
    PyObject *finding =
        Py_BuildValue("(ssszsN)", smma_probes[p].name, smma_probes[p].title, smma_probes[p].source,
                      *f->value ? f->value : NULL, *f->value ? "" : f->why, witness_of(x->subject.instruction, f));
    if (!finding || PyList_Append(list, finding) < 0) Py_CLEAR(list);
    Py_XDECREF(finding);
  }
  return list ? Py_BuildValue("(KN)", x->subject.rows, list) : NULL;
}

static bool examine_model(const smma_instruction *instruction, smma_examination *x, smma_error *error) {
  smma_unit unit;
  PyThreadState *thread = PyEval_SaveThread();
  bool done = smma_unit_open("model", &unit, error);
  if (done) {
    done = smma_examine(&unit, instruction, SMMA_REPEATED_ROWS, x, error);
    smma_unit_close(&unit);
  }
  PyEval_RestoreThread(thread);
  return done;
}

PyObject *python_probe(PyObject *module, PyObject *arguments) {
  PyObject *object, *function, *result = NULL;
  const smma_instruction *instruction;
  smma_unit unit;
  smma_examination *x;
  smma_error error;
  bool done;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO", &object, &function)) return NULL;
  instruction = instruction_of(object);
  if (!instruction) return NULL;
  x = calloc(1, sizeof *x);
  if (!x) return PyErr_NoMemory();
  unit = unit_of_function(function);
  done = function == Py_None ? examine_model(instruction, x, &error)
                             : smma_examine(&unit, instruction, SMMA_REPEATED_ROWS, x, &error);
  if (done)
    result = findings_of(x);
  else if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, error.text);
  free(x);
  return result;
}
