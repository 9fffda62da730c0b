/* Numerical features of a model, or of a Python function that computes dot products. */
#include "probe/probe.h"

#include <stdlib.h>

#include "binding.h"

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

static bool examine(PyObject *computing, const smma_instruction *instruction, smma_examination *x, smma_error *error) {
  suspended before;
  smma_unit unit;
  bool done;
  if (!open_unit(computing, &unit, error)) return false;
  before = suspend_python();
  done = smma_examine(&unit, instruction, SMMA_REPEATED_ROWS, x, error);
  smma_unit_close(&unit);
  return resume_python(before) && done;
}

PyObject *python_probe(PyObject *module, PyObject *arguments) {
  PyObject *object, *function, *result = NULL;
  const smma_instruction *instruction;
  smma_examination *x;
  smma_error error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO", &object, &function)) return NULL;
  instruction = instruction_of(object);
  if (!instruction) return NULL;
  x = calloc(1, sizeof *x);
  if (!x) return PyErr_NoMemory();
  if (examine(function, instruction, x, &error))
    result = findings_of(x);
  else if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, error.text);
  free(x);
  return result;
}
