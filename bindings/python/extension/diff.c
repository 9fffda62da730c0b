/* Finds differences of two instructions, computed by models, by named units or by Python functions. */
#include <stdlib.h>

#include "binding.h"
#include "campaign/difference.h"

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
