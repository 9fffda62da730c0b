/* A model of a unit that can only be asked: a function, or a unit's name. */
#include "infer/infer.h"

#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "infer/report.h"
#include "rows/generate.h"
#include "unit/recording.h"

typedef unsigned long long count;

static PyObject *arrays_of_few(const smma_instruction *i, const smma_row *row, int number) {
  PyObject *arrays;
  smma_rows rows;
  if (!smma_rows_allocate(i, number ? (size_t)number : 1, &rows)) return PyErr_NoMemory();
  for (int n = 0; n < number; n++) smma_rows_put(&rows, (size_t)n, &row[n]);
  arrays = arrays_of_rows(&rows, (size_t)number);
  smma_rows_free(&rows);
  return arrays;
}

/* ---- What was found ---- */

static PyObject *value_of(const smma_key *key, int value) {
  char text[64];
  return parameter_value(smma_key_value(key, value, text, sizeof text));
}

/* Appends to a list, NULL to none; NULL with an exception. Takes over both. */
static PyObject *appended(PyObject *list, PyObject *item) {
  if (!item || (list && PyList_Append(list, item) < 0)) Py_CLEAR(list);
  Py_XDECREF(item);
  return list;
}

/* (value, status, row of the proof or None, d with that value or None) */
static PyObject *neighbour_of(const smma_instruction *i, const smma_infer_neighbour *n) {
  const char *status = smma_infer_neighbour_text(n->is);
  if (n->is == SMMA_FREE) return Py_BuildValue("(NsOO)", value_of(n->key, n->other), status, Py_None, Py_None);
  return Py_BuildValue("(NsnN)", value_of(n->key, n->other), status, (Py_ssize_t)n->row,
                       array_of_encodings(i->d, &n->other_d, 1));
}

/* [(step from 1, 0: all, name, value, [neighbour])] */
static PyObject *parameters_of(const smma_instruction *i, const smma_inference *f) {
  PyObject *list = PyList_New(0);
  for (size_t at = 0, end; list && at < f->neighbours; at = end) {
    const smma_infer_neighbour *n = &f->neighbour[at];
    PyObject *neighbours = PyList_New(0);
    end = smma_next_inferred_key(f, at);
    for (size_t x = at; neighbours && x < end; x++)
      neighbours = appended(neighbours, neighbour_of(i, &f->neighbour[x]));
    list = appended(
        list,
        neighbours ? Py_BuildValue("(isNN)", n->step + 1, n->key->key, value_of(n->key, n->value), neighbours) : NULL);
  }
  return list;
}

/* [(kind, wrong, asked)]; none of a recording, whose rows have no kinds. */
static PyObject *kinds_of(const smma_infer_misfit *m) {
  PyObject *list = PyList_New(0);
  for (int kind = 0; list && kind < SMMA_ROWS_IN_TURN; kind++)
    if (m->of_kind[kind])
      list = appended(list, Py_BuildValue("(sKK)", smma_row_kind_text((smma_row_kind)kind), (count)m->wrong_of[kind],
                                          (count)m->of_kind[kind]));
  return list;
}

/* [(what rows hold, how many wrong ones do)] */
static PyObject *holdings_of(const smma_infer_misfit *m) {
  PyObject *list = PyList_New(0);
  for (int h = 0; list && h < SMMA_HOLDINGS; h++)
    if (m->wrong_with[h])
      list = appended(list,
                      Py_BuildValue("(sK)", smma_infer_holding_text((smma_infer_holding)h), (count)m->wrong_with[h]));
  return list;
}

/* (asked, wrong, kinds, what rows hold, the same in words, what the simplest have in common, those rows, what the model
   gives), or None. */
static PyObject *misfit_of(const smma_instruction *i, const smma_infer_misfit *m) {
  char text[SMMA_MISFIT_SIZE], holdings[SMMA_MISFIT_SIZE];
  if (!m->asked) Py_RETURN_NONE;
  smma_describe_misfit(i, m, text);
  smma_describe_holdings(m, holdings);
  return Py_BuildValue("(KKNNssNN)", (count)m->asked, (count)m->wrong, kinds_of(m), holdings_of(m), holdings, text,
                       arrays_of_few(i, m->example, m->examples), array_of_encodings(i->d, m->expected, m->examples));
}

/* (asked, others in the same batch, others elsewhere, row, place, of so many, at once, the row), or None. */
static PyObject *no_function_of(const smma_instruction *i, const smma_inference *f) {
  const smma_alikeness *a = &f->alike;
  char text[256];
  if (f->outcome != SMMA_IS_NO_FUNCTION) Py_RETURN_NONE;
  smma_tell_unlike(a, text, sizeof text);
  return Py_BuildValue("(KKKnnnNsNN)", (count)a->asked, (count)a->not_repeated, (count)a->not_alike, (Py_ssize_t)a->row,
                       (Py_ssize_t)a->place, (Py_ssize_t)a->batch, PyBool_FromLong(a->at_once), text,
                       a->by == SMMA_UNLIKE_BY_NEIGHBOUR ? PyLong_FromSize_t(a->neighbour) : Py_NewRef(Py_None),
                       arrays_of_few(i, &f->unlike, 1));
}

/* [(a model, its row of the proof, its d there)] */
static PyObject *rivals_of(const smma_instruction *i, const smma_inference *f) {
  PyObject *list = PyList_New(0);
  for (size_t n = 0; list && n < f->rivals; n++) {
    const smma_instruction *unit = smma_inferred_rival(f, n, "rival");
    list = appended(list, unit ? Py_BuildValue("(NnN)", handle_of(unit), (Py_ssize_t)f->rival[n].row,
                                               array_of_encodings(i->d, &f->rival[n].other_d, 1))
                               : PyErr_NoMemory());
  }
  return list;
}

/* [(structures, two rows)] */
static PyObject *evidence_of(const smma_instruction *i, const smma_inference *f) {
  PyObject *list = PyList_New(0);
  for (size_t n = 0; list && n < f->evidences; n++)
    list = appended(list, Py_BuildValue("(iN)", f->evidence[n].structures, arrays_of_few(i, f->evidence[n].row, 2)));
  return list;
}

static PyObject *model_of(const smma_inference *f) {
  const smma_instruction *unit;
  if (!smma_inference_has_model(f)) Py_RETURN_NONE;
  unit = smma_inferred_unit(f, "inferred");
  return unit ? handle_of(unit) : PyErr_NoMemory();
}

static PyObject *found_of(const smma_infer_request *r, const smma_inference *f) {
  const smma_instruction *i = r->instruction;
  char nan[SMMA_INFERRED_NAN_SIZE], reason[SMMA_INFER_REASON_SIZE];
  smma_describe_infer_reason(r, f, reason);
  smma_describe_inferred_nan(i, f, nan);
  return Py_BuildValue(
      "{s:s, s:s, s:N, s:N, s:z, s:N, s:N, s:N, s:N, s:N, s:N, s:K, s:K, s:K, s:i, s:K, s:K, s:i, s:i, s:N, s:K, s:K, "
      "s:d, s:d, s:K, s:K, s:s}",
      "outcome", smma_infer_outcome_text(f->outcome), "because", reason, "model", model_of(f), "same",
      f->same ? handle_of(f->same) : Py_NewRef(Py_None), "nan", smma_inferred_nan(f), "parameters", parameters_of(i, f),
      "proof", arrays_of_rows(&f->proof, f->proof_count), "rivals", rivals_of(i, f), "more_rivals",
      PyBool_FromLong(f->more_rivals), "misfit", misfit_of(i, &f->misfit), "no_function", no_function_of(i, f), "rows",
      (count)f->rows, "calls", (count)f->calls, "fresh", (count)f->fresh, "rounds", f->rounds, "tried", (count)f->tried,
      "computed", (count)f->computed, "structures", f->structures, "left", f->left, "evidence", evidence_of(i, f),
      "samples", (count)f->samples, "wrong", (count)f->wrong, "seconds", f->seconds, "unit_seconds", f->unit_seconds,
      "nan_different", (count)f->nan_different, "same_nan_different", (count)f->same_different, "nan_text", nan);
}

/* ---- Searching ---- */

static void tell(const char *line, void *progress) {
  const PyGILState_STATE gil = PyGILState_Ensure();
  if (!PyErr_Occurred()) {
    PyObject *returned = PyObject_CallFunction(progress, "s", line);
    if (!returned) stop_units();
    Py_XDECREF(returned);
  }
  PyGILState_Release(gil);
}

/* Of a unit that is open. */
static PyObject *search(smma_infer_request *r, smma_error *error) {
  smma_inference *found;
  PyObject *result = NULL;
  suspended before;
  bool done;
  if (!smma_unit_computes(r->unit, r->instruction, error)) return PyErr_SetString(PyExc_ValueError, error->text), NULL;
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
      result = found_of(r, found);
    else
      PyErr_SetString(PyExc_RuntimeError, error->text);
  }
  smma_free_inference(found);
  free(found);
  return result;
}

/* Of a function or a unit's name, Instruction, rows of another seed, rows searched, budget or 0, rows in all or 0,
   seed, the record's path or None, and a function that is told what goes on, or None. */
PyObject *python_infer(PyObject *module, PyObject *arguments) {
  PyObject *object, *instruction, *progress, *result;
  smma_infer_request r = {.seed = 0};
  count fresh, neighbours, budget, most_rows, seed;
  smma_unit unit;
  smma_error error = {""};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOKKKKKzO", &object, &instruction, &fresh, &neighbours, &budget, &most_rows, &seed,
                        &r.record, &progress) ||
      !(r.instruction = instruction_of(instruction)))
    return NULL;
  r.unit = &unit;
  r.budget = budget ? budget : SMMA_INFER_BUDGET;
  r.fresh = fresh, r.neighbours = neighbours, r.most_rows = most_rows, r.seed = seed;
  if (progress != Py_None) r.tell = tell, r.context = progress;
  if (!open_unit(object, &unit, &error)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, error.text);
    return NULL;
  }
  result = search(&r, &error);
  smma_unit_close(&unit);
  return result;
}
