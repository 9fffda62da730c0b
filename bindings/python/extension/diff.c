/* Finds differences of instructions, computed by models, by named units or by Python functions. */
#include <stdlib.h>

#include "binding.h"
#include "campaign/differences.h"

/* Returns the differences of a request's sides as data, or NULL with an error. */
typedef smma_datum *finder(const smma_differences_request *request, smma_error *error);

static smma_datum *find_of_two(const smma_differences_request *r, smma_error *error) {
  smma_unit_difference *d = calloc(1, sizeof *d);
  smma_datum *found = NULL;
  if (!d) return smma_no_memory(error), NULL;
  if (smma_find_unit_difference(r->side, r->rows, r->seed, d, error))
    found = smma_unit_difference_datum(r->side, r->on, d);
  smma_free_unit_difference(d);
  free(d);
  return found;
}

static smma_datum *find_of_several(const smma_differences_request *r, smma_error *error) {
  smma_differences *d = calloc(1, sizeof *d);
  smma_datum *found = NULL;
  if (!d) return smma_no_memory(error), NULL;
  if (smma_find_differences(r, d, error)) found = smma_differences_datum(d);
  smma_free_differences(d);
  free(d);
  return found;
}

static PyObject *run(const smma_differences_request *r, finder *find) {
  smma_error error = {SMMA_OK, ""};
  smma_datum *found = NULL;
  bool done = true;
  const suspended before = suspend_python();
  for (size_t n = 0; n < r->sides && done; n++)
    done = smma_unit_answers(r->side[n].unit, r->side[n].instruction, &error);
  if (done) found = find(r, &error);
  if (resume_python(before)) return found ? value_from(found) : fail_with(&error);
  smma_datum_free(found);
  return NULL;
}

/* Returns the differences as a dict, from a tuple of `least` to `most` (Instruction, label), the unit of the first,
   that of the others, rows and seed. */
static PyObject *differences(PyObject *arguments, Py_ssize_t least, Py_ssize_t most, finder *find) {
  PyObject *list, *object, *computing[2], *value;
  const char *on[SMMA_MOST_SIDES];
  unsigned long long rows, seed;
  smma_side side[SMMA_MOST_SIDES];
  smma_unit unit[2];
  smma_error error = {SMMA_OK, ""};
  int opened = 0;
  if (!PyArg_ParseTuple(arguments, "O!OOKK", &PyTuple_Type, &list, &computing[0], &computing[1], &rows, &seed))
    return NULL;
  const Py_ssize_t sides = PyTuple_Size(list);
  if (sides < least || sides > most)
    return PyErr_Format(PyExc_ValueError, "on: %zd units; %zd to %zd are compared", sides, least, most);
  for (Py_ssize_t n = 0; n < sides; n++) {
    PyObject *pair = PyTuple_GetItem(list, n);
    if (!PyTuple_Check(pair)) return PyErr_Format(PyExc_TypeError, "on: each element is (Instruction, label)");
    if (!PyArg_ParseTuple(pair, "Os", &object, &on[n])) return NULL;
    side[n] = (smma_side){on[n], &unit[n > 0], instruction_of(object)};
    if (!side[n].instruction) return NULL;
  }
  const smma_differences_request r = {side, on, (size_t)sides, rows, seed};
  while (opened < 2 && open_unit(computing[opened], &unit[opened], &error)) opened++;
  value = opened == 2 ? run(&r, find) : fail_with(&error);
  while (opened-- > 0) smma_unit_close(&unit[opened]);
  return value;
}

PyObject *python_diff(PyObject *module, PyObject *arguments) {
  (void)module;
  return differences(arguments, 2, 2, find_of_two);
}

PyObject *python_differences(PyObject *module, PyObject *arguments) {
  (void)module;
  return differences(arguments, 2, SMMA_MOST_SIDES, find_of_several);
}
