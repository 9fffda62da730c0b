/* Finds differences of instructions, computed by models, by named units or by Python functions. */
#include <stdlib.h>

#include "binding.h"
#include "campaign/differences.h"

/* What a request's sides differ in: as data, and as text. */
typedef struct {
  smma_datum *datum;
  char *text;
} found_differences;

typedef bool finder(const smma_differences_request *request, found_differences *found, smma_error *error);

typedef struct {
  const smma_differences_request *request;
  const smma_unit_difference *difference;
} difference_of_two;

static bool write_two(FILE *stream, const void *content) {
  const difference_of_two *x = content;
  smma_print_difference(stream, x->request->side, x->request->on, x->difference);
  return true;
}

static bool find_of_two(const smma_differences_request *r, found_differences *found, smma_error *error) {
  smma_unit_difference *d = calloc(1, sizeof *d);
  bool done;
  if (!d) return smma_no_memory(error);
  done = smma_find_unit_difference(r->side, r->rows, r->seed, d, error);
  if (done) {
    found->datum = smma_unit_difference_datum(r->side, r->on, d);
    found->text = written(write_two, &(difference_of_two){r, d});
  }
  smma_free_unit_difference(d);
  free(d);
  return done;
}

static bool write_several(FILE *stream, const void *differences) {
  smma_print_differences(stream, differences);
  return true;
}

static bool find_of_several(const smma_differences_request *r, found_differences *found, smma_error *error) {
  smma_differences *d = calloc(1, sizeof *d);
  bool done;
  if (!d) return smma_no_memory(error);
  done = smma_find_differences(r, d, error);
  if (done) *found = (found_differences){smma_differences_datum(d), written(write_several, d)};
  smma_free_differences(d);
  free(d);
  return done;
}

/* Returns (value, text). */
static PyObject *run(const smma_differences_request *r, finder *find) {
  smma_error error = {SMMA_OK, ""};
  found_differences found = {NULL, NULL};
  bool done = true;
  const suspended before = suspend_python();
  for (size_t n = 0; n < r->sides && done; n++)
    done = smma_unit_answers(r->side[n].unit, r->side[n].instruction, &error);
  done = done && find(r, &found, &error);
  if (resume_python(before))
    return done ? Py_BuildValue("(NN)", value_from(found.datum), text_from(found.text)) : fail_with(&error);
  smma_datum_free(found.datum);
  free(found.text);
  return NULL;
}

/* Returns (the differences as a dict, text), from a tuple of `least` to `most` (Instruction, label), the unit of the
   first, that of the others, rows and seed. */
static PyObject *differences(PyObject *arguments, Py_ssize_t least, Py_ssize_t most, finder *find) {
  PyObject *list, *object, *computing[2], *value;
  const char *on[SMMA_MOST_SIDES];
  unsigned long long rows, seed;
  smma_side side[SMMA_MOST_SIDES];
  char label[SMMA_MOST_SIDES][SMMA_SIDE_LABEL_SIZE];
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
    side[n] = (smma_side){NULL, &unit[n > 0], instruction_of(object)};
    if (!side[n].instruction) return NULL;
  }
  const smma_differences_request r = {side, on, (size_t)sides, rows, seed};
  while (opened < 2 && open_unit(computing[opened], &unit[opened], &error)) opened++;
  for (Py_ssize_t n = 0; opened == 2 && n < sides; n++) side[n].label = smma_side_label(side[n].unit, on[n], label[n]);
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
