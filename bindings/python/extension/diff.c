/* What tells two instructions apart: those of models, or one that a Python function computes. */
#include <stdlib.h>

#include "binding.h"
#include "campaign/difference.h"

/* [(title, the first one's value, the other's)] */
static PyObject *features_of(const smma_unit_difference *d) {
  PyObject *list = PyList_New(0);
  for (int p = 0; list && p < SMMA_PROBE_COUNT; p++) {
    PyObject *feature;
    if (!smma_feature_differs(d, (smma_probe_id)p)) continue;
    feature = Py_BuildValue("(sss)", smma_probes[p].title, d->examination[0]->findings[p].value,
                            d->examination[1]->findings[p].value);
    if (!feature || PyList_Append(list, feature) < 0) Py_CLEAR(list);
    Py_XDECREF(feature);
  }
  return list;
}

/* (a, b, c, the first one's d, the other's, scale factors of a, of b), the latter None without. */
static PyObject *row_of(const smma_unit_difference *d) {
  const smma_instruction *i = d->as;
  const smma_row *row = &d->row;
  const int scales = i->scale_block ? i->k / i->scale_block : 0;
  PyObject *scale_a = NULL, *scale_b = NULL;
  if (!d->found) Py_RETURN_NONE;
  if (scales) {
    scale_a = array_of_encodings(i->scale, row->scale_a, scales);
    scale_b = array_of_encodings(i->scale, row->scale_b, scales);
  } else {
    scale_a = Py_NewRef(Py_None), scale_b = Py_NewRef(Py_None);
  }
  return Py_BuildValue("(NNNNNNN)", array_of_encodings(i->a, row->a, i->k), array_of_encodings(i->b, row->b, i->k),
                       array_of_encodings(i->c, &row->c, 1), array_of_encodings(i->d, &row->d, 1),
                       array_of_encodings(i->d, &d->expected, 1), scale_a, scale_b);
}

/* A function takes the place of the first one's model. */
static bool find(const smma_instruction *const i[2], const char *const label[2], PyObject *function, uint64_t rows,
                 uint64_t seed, smma_unit_difference *d, smma_error *error) {
  smma_unit unit, model;
  suspended before;
  bool done = open_unit(function, &unit, error);
  if (!done) return false;
  before = suspend_python();
  done = smma_unit_open("model", &model, error);
  if (done) {
    const smma_side side[2] = {{label[0], &unit, i[0]}, {label[1], &model, i[1]}};
    done = smma_find_unit_difference(side, rows, seed, d, error);
    smma_unit_close(&model);
  }
  smma_unit_close(&unit);
  return resume_python(before) && done;
}

/* (which instruction's rows, terms, row or None, features, (normal rows, differing), (rows of all kinds, differing)) */
PyObject *python_diff(PyObject *module, PyObject *arguments) {
  PyObject *object[2], *function, *result = NULL;
  const smma_instruction *i[2];
  const char *label[2];
  unsigned long long rows, seed;
  smma_unit_difference *d;
  smma_error error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOssOKK", &object[0], &object[1], &label[0], &label[1], &function, &rows, &seed))
    return NULL;
  i[0] = instruction_of(object[0]);
  i[1] = i[0] ? instruction_of(object[1]) : NULL;
  if (!i[1]) return NULL;
  d = calloc(1, sizeof *d);
  if (!d) return PyErr_NoMemory();
  if (find(i, label, function, rows, seed, d, &error))
    result = Py_BuildValue("(iiNN(KK)(KK))", d->as == i[0] ? 0 : 1, d->terms, row_of(d), features_of(d),
                           (unsigned long long)d->normal.rows, (unsigned long long)d->normal.mismatches,
                           (unsigned long long)d->all.rows, (unsigned long long)d->all.mismatches);
  else if (!PyErr_Occurred())
    PyErr_SetString(PyExc_ValueError, error.text);
  smma_free_unit_difference(d);
  free(d);
  return result;
}
