/* Lists of the library, files of test vectors, and experiments. */
#include "facts/facts.h"

#include <string.h>

#include "binding.h"
#include "coverage/gen.h"
#include "experiment/datum.h"
#include "experiment/run.h"
#include "facts/gpu.h"
#include "io/file.h"
#include "isa/formats.h"
#include "rows/copy.h"

/* Returns the list of that name: "formats", "questions", "units" or "experiments"; or "all" facts. */
PyObject *python_facts(PyObject *module, PyObject *name) {
  const char *kind = text_of(name);
  suspended before;
  smma_datum *list = NULL;
  (void)module;
  if (!kind) return NULL;
  before = suspend_python();
  if (strcmp(kind, "all") == 0) list = smma_facts_datum();
  if (strcmp(kind, "formats") == 0) list = smma_formats_datum();
  if (strcmp(kind, "questions") == 0) list = smma_questions_datum();
  if (strcmp(kind, "units") == 0) list = smma_units_datum();
  if (strcmp(kind, "experiments") == 0) list = smma_experiments_datum();
  if (resume_python(before)) return value_from(list);
  smma_datum_free(list);
  return NULL;
}

/* Returns the record of a format; raises LookupError for a name that is none, or that of several formats. */
PyObject *python_format_facts(PyObject *module, PyObject *name) {
  const char *text = text_of(name);
  smma_datum *format = text ? smma_named_format_datum(text) : NULL;
  smma_error error;
  (void)module;
  if (!text) return NULL;
  if (format && smma_datum_kind_of(format) == SMMA_DATUM_RECORD) return value_from(format);
  smma_datum_free(format);
  smma_refuse_unknown_format(text, true, &error);
  PyErr_Format(PyExc_LookupError, "name: %s", error.text);
  return NULL;
}

/* Returns the record of a GPU or architecture. */
PyObject *python_gpu(PyObject *module, PyObject *gpu) {
  const bool known = arch_of(gpu) != SMMA_ARCH_COUNT;
  (void)module;
  return known ? value_from(smma_gpu_datum(text_of(gpu))) : NULL;
}

PyObject *python_instruction_value(PyObject *module, PyObject *object) {
  const smma_instruction *i = instruction_of(object);
  (void)module;
  return i ? value_from(smma_instruction_datum(i)) : NULL;
}

/* Returns the vector file format of that name; SMMA_VECTOR_FORMATS with an exception. */
static smma_vector_format vector_format(const char *name) {
  const smma_vector_format format = smma_vector_format_from_text(name);
  if (format == SMMA_VECTOR_FORMATS)
    PyErr_Format(PyExc_ValueError, "format: '%s' is not " SMMA_VECTOR_FORMAT_NAMES, name);
  return format;
}

static smma_datum *gen_datum(const smma_gen_request *request, const smma_gen_result *r) {
  smma_datum *record = smma_datum_record();
  smma_put_count(record, "rows", r->rows);
  if (!request->covers) return record;
  smma_put_count(record, "cover", r->cover);
  smma_put_count(record, "events", r->events);
  smma_put_count(record, "possible", r->possible);
  smma_put_count(record, "tries", r->tries);
  return record;
}

/* Writes a vector file, from (path, instruction, rows, seed, kind or None, cover, format, flags,
   tininess or None); returns a dict of counts. */
PyObject *python_gen(PyObject *module, PyObject *arguments) {
  const char *path, *kind, *format, *tininess;
  PyObject *instruction;
  unsigned long long rows, seed;
  int covers, flags;
  smma_gen_request request = {.kind = SMMA_ROWS_KINDS, .watch = see_interrupt};
  smma_gen_result result;
  smma_output output;
  smma_error error;
  suspended before;
  bool done;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sOKKzpspz", &path, &instruction, &rows, &seed, &kind, &covers, &format, &flags,
                        &tininess) ||
      !(request.instruction = instruction_of(instruction)) ||
      (request.format = vector_format(format)) == SMMA_VECTOR_FORMATS)
    return NULL;
  if (kind) request.kind = smma_row_kind_from_text(kind);
  request.rows = rows, request.seed = seed, request.covers = covers, request.flags = flags;
  if (!tininess_named(tininess, &request.tininess)) return NULL;
  before = suspend_python();
  done = smma_output_open(path, &output, &error);
  if (done && !smma_gen(&request, output.stream, &result, &error)) {
    smma_output_abandon(&output);
    done = false;
  }
  done = done && smma_output_commit(&output, &error);
  if (!resume_python(before)) return NULL;
  return done ? value_from(gen_datum(&request, &result)) : fail_with(&error);
}

/* Converts a vector file, from (path, path of the copy, its format). */
PyObject *python_convert(PyObject *module, PyObject *arguments) {
  const char *path, *to, *name;
  smma_vector_format format;
  smma_output output;
  smma_error error;
  suspended before;
  FILE *in;
  bool done;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sss", &path, &to, &name) || (format = vector_format(name)) == SMMA_VECTOR_FORMATS)
    return NULL;
  in = fopen(path, "r");
  if (!in) return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
  before = suspend_python();
  done = smma_output_open(to, &output, &error);
  if (done && !smma_vectors_copy(in, path, output.stream, format, see_interrupt, NULL, &error)) {
    smma_output_abandon(&output);
    done = false;
  }
  done = done && smma_output_commit(&output, &error);
  fclose(in);
  if (!resume_python(before)) return NULL;
  if (!done) return fail_with(&error);
  Py_RETURN_NONE;
}

/* ---- Experiments ---- */

/* Sets parameters from a tuple of "name=value"; the tuple must stay alive until the run ends. */
static bool set_parameters(smma_experiment_run *run, PyObject *assignments) {
  smma_error error;
  for (Py_ssize_t n = 0; n < PyTuple_Size(assignments); n++) {
    const char *text = text_of(PyTuple_GetItem(assignments, n));
    if (!text) return false;
    if (!smma_experiment_set(run, text, &error)) return fail_with(&error), false;
  }
  return true;
}

/* Runs an experiment, from (name, small, seed, threads, tuple of assignments, file to continue from or None). Returns a
   dict, or None after an interruption. */
PyObject *python_experiment(PyObject *module, PyObject *arguments) {
  const char *name;
  PyObject *assignments, *value = NULL;
  smma_experiment_state state = {.part = NULL};
  smma_experiment_run run;
  const smma_experiment *e;
  unsigned long long seed;
  smma_error error;
  suspended before;
  int small, threads;
  bool done, stopped = false;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "spKiO!z", &name, &small, &seed, &threads, &PyTuple_Type, &assignments, &state.part))
    return NULL;
  e = smma_experiment_require(name, &error);
  if (!e) return fail_with(&error);
  smma_experiment_start(&run, e, small);
  run.seed = seed;
  if (!set_parameters(&run, assignments)) return NULL;
  before = suspend_python();
  done = smma_experiment_compute(&run, threads_allowed(threads), &state, see_interrupt, NULL, &stopped, &error);
  if (resume_python(before)) value = done ? value_from(smma_experiment_datum(&run)) : fail_with(&error);
  smma_experiment_end(&run);
  return value;
}
