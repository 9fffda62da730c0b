/* Whether two targets compute the same function, with plans or without. */
#include "equal/equal.h"

#include <stdlib.h>

#include "binding.h"
#include "equal/planned.h"

static const char *const answers[] = {"equal", "different", "cannot tell"};

/* (a, b, c, both d, scale factors or None, the place of each k, K of the product, what epilogues take), or None. */
static PyObject *row_of(const smma_witness *w, const size_t *place, size_t k, const char *with) {
  const smma_instruction *i = &w->as;
  const smma_row *row = &w->row;
  const int scales = i->scale_block ? i->k / i->scale_block : 0;
  PyObject *places, *factors;
  if (!w->found) Py_RETURN_NONE;
  places = PyTuple_New(i->k);
  for (int x = 0; places && x < i->k; x++) PyTuple_SetItem(places, x, PyLong_FromSize_t(place ? place[x] : (size_t)x));
  factors = scales ? Py_BuildValue("(NN)", array_of_encodings(i->scale, row->scale_a, scales),
                                   array_of_encodings(i->scale, row->scale_b, scales))
                   : Py_NewRef(Py_None);
  return Py_BuildValue("(NNNNNNNns)", array_of_encodings(i->a, row->a, i->k), array_of_encodings(i->b, row->b, i->k),
                       array_of_encodings(i->c, &row->c, 1), array_of_encodings(i->d, &row->d, 1),
                       array_of_encodings(i->d, &w->other, 1), factors, places, (Py_ssize_t)k, with);
}

/* (answer, why, K is a multiple of, K or 0, neutral operands, rows asked, row) */
static PyObject *plain(const smma_planned x[2], uint64_t rows, uint64_t seed, smma_error *error) {
  smma_equality *e = malloc(sizeof *e);
  PyObject *result = NULL;
  suspended before;
  bool done;
  if (!e) return PyErr_NoMemory();
  before = suspend_python();
  done = smma_find_equality(x[0].instruction, x[1].instruction, rows, seed, e, error);
  if (resume_python(before) && done) {
    const bool proved = e->answer == SMMA_PROVED;
    const smma_witness *w = proved ? &e->filled : &e->witness;
    result = Py_BuildValue("(ssinsKN)", answers[e->answer], e->why, proved ? e->multiple : 1, (Py_ssize_t)0, "",
                           (unsigned long long)w->rows, row_of(w, NULL, (size_t)w->as.k, ""));
  }
  free(e);
  return result;
}

static PyObject *planned(const smma_planned x[2], size_t k, uint64_t rows, uint64_t seed, smma_error *error) {
  smma_planned_equality *e = malloc(sizeof *e);
  PyObject *result = NULL;
  suspended before;
  bool done;
  if (!e) return PyErr_NoMemory();
  before = suspend_python();
  done = smma_find_planned_equality(x, k, rows, seed, e, error);
  if (resume_python(before) && done)
    result = Py_BuildValue("(ssinsKN)", answers[e->answer], e->why, 1, (Py_ssize_t)e->k, e->neutral,
                           (unsigned long long)e->row.witness.rows,
                           row_of(&e->row.witness, e->row.place, e->row.k, e->row.with));
  free(e);
  return result;
}

/* From (label, Instruction, plan) twice, K or 0, rows and seed. */
PyObject *python_equal(PyObject *module, PyObject *arguments) {
  smma_planned x[2];
  PyObject *instruction[2], *plan[2], *result;
  Py_ssize_t k;
  unsigned long long rows, seed;
  smma_error error = {SMMA_OK, ""};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "(sOO)(sOO)nKK", &x[0].label, &instruction[0], &plan[0], &x[1].label,
                        &instruction[1], &plan[1], &k, &rows, &seed))
    return NULL;
  for (int i = 0; i < 2; i++)
    if (!(x[i].instruction = instruction_of(instruction[i])) || !plan_of(plan[i], &x[i].plan)) return NULL;
  result = x[0].plan || x[1].plan || k ? planned(x, (size_t)k, rows, seed, &error) : plain(x, rows, seed, &error);
  if (!result && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, error.text);
  return result;
}
