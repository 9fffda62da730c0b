/* Probes the numerical features of a unit: a model, or a Python function that computes dot products. */
#include "probe/probe.h"

#include <stdlib.h>

#include "binding.h"

/* Returns the features as a dict, from (Instruction, unit, number of vectors that are queried again). */
PyObject *python_probe(PyObject *module, PyObject *arguments) {
  PyObject *object, *computing, *value = NULL;
  const smma_instruction *instruction;
  smma_examination *x;
  smma_unit unit;
  smma_error error = {SMMA_OK, ""};
  suspended before;
  Py_ssize_t rows;
  bool done;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOn", &object, &computing, &rows) || !(instruction = instruction_of(object)))
    return NULL;
  if (!open_unit(computing, &unit, &error)) return fail_with(&error);
  x = calloc(1, sizeof *x);
  if (x) {
    before = suspend_python();
    done = smma_unit_answers(&unit, instruction, &error) && smma_examine(&unit, instruction, (size_t)rows, x, &error);
    if (resume_python(before)) value = done ? value_from(smma_examination_datum(x)) : fail_with(&error);
  } else {
    PyErr_NoMemory();
  }
  smma_unit_close(&unit);
  free(x);
  return value;
}
