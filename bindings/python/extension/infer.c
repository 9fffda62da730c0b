/* Infers a model of a black box: a Python function, or a unit with a name. */
#include "infer/infer.h"

#include <stdlib.h>

#include "binding.h"
#include "infer/report.h"
#include "unit/recording.h"

static void tell(const char *line, void *progress) {
  const PyGILState_STATE gil = PyGILState_Ensure();
  if (!PyErr_Occurred()) {
    PyObject *returned = PyObject_CallFunction(progress, "s", line);
    if (!returned) stop_units();
    Py_XDECREF(returned);
  }
  PyGILState_Release(gil);
}

/* Runs the search on an open unit. */
static PyObject *search(smma_infer_request *r, smma_error *error) {
  smma_inference *found;
  PyObject *result = NULL;
  suspended before;
  bool done;
  if (!smma_unit_computes(r->unit, r->instruction, error)) return fail_with(error);
  if (r->record && smma_unit_is_recording(r->unit))
    return PyErr_Format(PyExc_ValueError, "record: %s is a recording already", r->unit->name);
  if (r->most_rows && smma_unit_is_recording(r->unit))
    return PyErr_Format(PyExc_ValueError, "most_rows: %s has its rows already", r->unit->name);
  found = calloc(1, sizeof *found);
  if (!found) return PyErr_NoMemory();
  before = suspend_python();
  done = smma_infer(r, found, error);
  if (resume_python(before)) {
    if (done)
      result = value_from(smma_inference_datum(r, found));
    else
      PyErr_SetString(PyExc_RuntimeError, error->text);
  }
  smma_free_inference(found);
  free(found);
  return result;
}

/* Returns the result as a dict, from a function or a unit's name, Instruction, number of check vectors, of vectors
   searched, budget or 0, limit of queried vectors or 0, seed, the record's path or None, and a progress function or
   None. */
PyObject *python_infer(PyObject *module, PyObject *arguments) {
  PyObject *object, *instruction, *progress, *result;
  smma_infer_request r = {.seed = 0};
  unsigned long long fresh, neighbours, budget, most_rows, seed;
  smma_unit unit;
  smma_error error = {SMMA_OK, ""};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOKKKKKzO", &object, &instruction, &fresh, &neighbours, &budget, &most_rows, &seed,
                        &r.record, &progress) ||
      !(r.instruction = instruction_of(instruction)))
    return NULL;
  r.unit = &unit;
  r.budget = budget ? budget : SMMA_INFER_BUDGET;
  r.fresh = fresh, r.neighbours = neighbours, r.most_rows = most_rows, r.seed = seed;
  if (progress != Py_None) r.tell = tell, r.context = progress;
  if (!open_unit(object, &unit, &error)) return fail_with(&error);
  result = search(&r, &error);
  smma_unit_close(&unit);
  return result;
}
