/* Decides whether two targets compute the same function, or whether the order of k matters, with or without plans. */
#include <stdlib.h>

#include "binding.h"
#include "equal/study.h"

/* Reads a target: (label, Instruction, plan or None, its name or None). */
static bool target_of(PyObject *tuple, smma_equal_target *target) {
  PyObject *instruction, *plan;
  if (!PyTuple_Check(tuple)) return PyErr_SetString(PyExc_TypeError, "a target is a tuple"), false;
  return PyArg_ParseTuple(tuple, "sOOz", &target->label, &instruction, &plan, &target->plan_name) &&
         (target->instruction = instruction_of(instruction)) && plan_of(plan, &target->plan);
}

typedef struct {
  const smma_equal_request *request;
  const smma_equal_result *result;
} answered;

static bool write_text(FILE *stream, const void *content) {
  const answered *x = content;
  smma_print_equal(stream, x->request, x->result);
  return true;
}

static PyObject *answer(const smma_equal_request *request) {
  smma_equal_result *result = malloc(sizeof *result);
  smma_error error = {SMMA_OK, ""};
  PyObject *value = NULL;
  suspended before;
  bool done;
  if (!result) return PyErr_NoMemory();
  before = suspend_python();
  done = smma_equal(request, result, &error);
  if (resume_python(before))
    value = done ? Py_BuildValue("(NN)", value_from(smma_equal_datum(request, result)),
                                 text_from(written(write_text, &(answered){request, result})))
                 : fail_with(&error);
  free(result);
  return value;
}

/* Returns (the answer as a dict, text), from a tuple of one target or two, K or 0, rows and seed. */
PyObject *python_equal(PyObject *module, PyObject *arguments) {
  PyObject *targets;
  Py_ssize_t k;
  unsigned long long rows, seed;
  smma_equal_request r;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!nKK", &PyTuple_Type, &targets, &k, &rows, &seed)) return NULL;
  if (PyTuple_Size(targets) != 1 && PyTuple_Size(targets) != 2)
    return PyErr_SetString(PyExc_ValueError, "targets: one or two"), NULL;
  r = (smma_equal_request){
      .targets = (int)PyTuple_Size(targets), .planned = k != 0, .k = (size_t)k, .rows = rows, .seed = seed};
  for (int n = 0; n < r.targets; n++) {
    if (!target_of(PyTuple_GetItem(targets, n), &r.target[n])) return NULL;
    r.planned |= r.target[n].plan != NULL;
  }
  return answer(&r);
}
