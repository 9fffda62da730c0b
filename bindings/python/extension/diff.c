/* Finds differences of two instructions, computed by models, by named units or by Python functions. */
#include <stdlib.h>

#include "binding.h"
#include "campaign/differences.h"

static PyObject *find(const smma_side side[2], const char *const on[2], uint64_t rows, uint64_t seed) {
  smma_unit_difference *d = calloc(1, sizeof *d);
  smma_error error = {SMMA_OK, ""};
  PyObject *value = NULL;
  suspended before;
  bool done = true;
  if (!d) return PyErr_NoMemory();
  before = suspend_python();
  for (int n = 0; n < 2 && done; n++) done = smma_unit_answers(side[n].unit, side[n].instruction, &error);
  done = done && smma_find_unit_difference(side, rows, seed, d, &error);
  if (resume_python(before)) value = done ? value_from(smma_unit_difference_datum(side, on, d)) : fail_with(&error);
  smma_free_unit_difference(d);
  free(d);
  return value;
}

static PyObject *find_several(const smma_differences_request *r) {
  smma_differences *d = calloc(1, sizeof *d);
  smma_error error = {SMMA_OK, ""};
  PyObject *value = NULL;
  suspended before;
  bool done = true;
  if (!d) return PyErr_NoMemory();
  before = suspend_python();
  for (size_t n = 0; n < r->sides && done; n++)
    done = smma_unit_answers(r->side[n].unit, r->side[n].instruction, &error);
  done = done && smma_find_differences(r, d, &error);
  if (resume_python(before)) value = done ? value_from(smma_differences_datum(d)) : fail_with(&error);
  smma_free_differences(d);
  free(d);
  return value;
}

/* Returns the differences of every two as a dict, from a tuple of (Instruction, label), the unit of the first, that of
   the others, rows and seed. */
PyObject *python_differences(PyObject *module, PyObject *arguments) {
  PyObject *list, *object, *computing[2], *value;
  const char *on[SMMA_MOST_SIDES];
  unsigned long long rows, seed;
  smma_side side[SMMA_MOST_SIDES];
  smma_unit unit[2];
  smma_error error = {SMMA_OK, ""};
  int opened = 0;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!OOKK", &PyTuple_Type, &list, &computing[0], &computing[1], &rows, &seed))
    return NULL;
  const Py_ssize_t sides = PyTuple_Size(list);
  if (sides > SMMA_MOST_SIDES)
    return PyErr_Format(PyExc_ValueError, "on: %zd units; 2 to %d are compared", sides, SMMA_MOST_SIDES);
  for (Py_ssize_t n = 0; n < sides; n++) {
    PyObject *pair = PyTuple_GetItem(list, n);
    if (!PyTuple_Check(pair)) return PyErr_Format(PyExc_TypeError, "on: each element is (Instruction, label)");
    if (!PyArg_ParseTuple(pair, "Os", &object, &on[n])) return NULL;
    side[n] = (smma_side){on[n], &unit[n > 0], instruction_of(object)};
    if (!side[n].instruction) return NULL;
  }
  const smma_differences_request r = {side, on, (size_t)sides, rows, seed};
  while (opened < 2 && open_unit(computing[opened], &unit[opened], &error)) opened++;
  value = opened == 2 ? find_several(&r) : fail_with(&error);
  while (opened-- > 0) smma_unit_close(&unit[opened]);
  return value;
}

/* Returns the differences as a dict, from (Instruction, label, unit) twice, rows and seed. */
PyObject *python_diff(PyObject *module, PyObject *arguments) {
  PyObject *object[2], *computing[2], *value = NULL;
  const char *on[2];
  unsigned long long rows, seed;
  smma_side side[2];
  smma_unit unit[2];
  smma_error error = {SMMA_OK, ""};
  int opened = 0;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "(OsO)(OsO)KK", &object[0], &on[0], &computing[0], &object[1], &on[1], &computing[1],
                        &rows, &seed))
    return NULL;
  for (int n = 0; n < 2; n++) {
    side[n] = (smma_side){on[n], &unit[n], instruction_of(object[n])};
    if (!side[n].instruction) return NULL;
  }
  while (opened < 2 && open_unit(computing[opened], &unit[opened], &error)) opened++;
  value = opened == 2 ? find(side, on, rows, seed) : fail_with(&error);
  while (opened-- > 0) smma_unit_close(&unit[opened]);
  return value;
}
