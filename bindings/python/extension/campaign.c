/* Campaigns, merged shards, open questions, vector files, recordings, and test vectors that distinguish units. */
#include <errno.h>
#include <string.h>

#include "binding.h"
#include "campaign/record.h"
#include "equal/apart.h"
#include "io/count.h"
#include "io/file.h"
#include "question/ask.h"
#include "report/merge.h"
#include "report/verify.h"

/* Sets the recipe for vectors of a kind. If `kind` is NULL, it is a campaign's default recipe. Returns false with an
   exception if there is no such kind. */
static bool recipe_of(const char *kind, unsigned long long seed, smma_campaign_recipe *recipe) {
  *recipe = smma_campaign_best(seed);
  if (!kind) return true;
  *recipe = (smma_campaign_recipe){.seed = seed, .kind = smma_row_kind_from_text(kind)};
  if (recipe->kind == SMMA_ROWS_KINDS) PyErr_Format(PyExc_ValueError, "kind: there is no '%s'", kind);
  return recipe->kind != SMMA_ROWS_KINDS;
}

/* Gets the library's instruction of an Instruction, or NULL for None. Returns false with an exception. */
static bool instruction_or_none(PyObject *object, const smma_instruction **instruction) {
  *instruction = object == Py_None ? NULL : instruction_of(object);
  return object == Py_None || *instruction;
}

/* Gets the architecture of a GPU's name, or SMMA_ARCH_COUNT for None. Returns false with an exception. */
static bool arch_or_none(PyObject *gpu, smma_arch_id *arch) {
  *arch = gpu == Py_None ? SMMA_ARCH_COUNT : arch_of(gpu);
  return gpu == Py_None || *arch != SMMA_ARCH_COUNT;
}

/* Gets the name of a GPU, which lives as long as the object, or NULL for None. Returns false with an exception. */
static bool gpu_or_none(PyObject *gpu, const char **name) {
  smma_arch_id arch;
  *name = NULL;
  return arch_or_none(gpu, &arch) && (gpu == Py_None || (*name = text_of(gpu)) != NULL);
}

/* ---- Campaigns ---- */

typedef struct {
  smma_campaign what;
  const char *gpu; /* NULL: every listed architecture */
  const smma_instruction *only;
  unsigned long long shard, shards; /* shard: from 1; 0: all vectors */
  const char *path, *text;          /* the progress file, or a report's text; NULL */
  Py_ssize_t length;
} request;

static bool save(const smma_report *report, void *path, smma_error *error) {
  smma_error why;
  return smma_report_save(report, path, &why) || smma_fail(error, "resume: %s", why.text);
}

static bool go_on(const request *q, smma_report *report, smma_error *error) {
  smma_datum *data;
  bool good;
  if (q->path) return smma_report_load(report, q->path, error);
  if (!q->text) return true;
  data = smma_datum_read("resume", q->text, (size_t)q->length, error);
  good = data && smma_report_resume(report, data, "resume", error);
  smma_datum_free(data);
  return good;
}

/* Returns the report as data, or NULL with an error. */
static smma_datum *compare(const request *q, smma_error *error) {
  const smma_report_watcher watcher = {NULL, q->path ? save : NULL, (void *)q->path};
  smma_datum *data = NULL;
  smma_report report;
  bool stopped, good = smma_report_choose(&report, &q->what, q->gpu, q->only, error);
  if (good && q->shard) smma_report_set_shard(&report, q->shard - 1, q->shards);
  good = good && go_on(q, &report, error) && smma_report_run(&report, &watcher, &stopped, error) && !stopped;
  good = good && (q->shard || smma_report_classify(&report, NULL, error));
  if (good) data = smma_report_datum(&report);
  smma_report_free(&report);
  return data;
}

/* Runs a campaign, from (unit, against, GPU or None, Instruction or None, rows, seed, kind or None, (shard, shards),
   progress file or None, text of a report to continue or None). Returns the report as a dict. */
PyObject *python_campaign(PyObject *module, PyObject *arguments) {
  PyObject *objects[2], *gpu, *only;
  request q = {.text = NULL};
  unsigned long long rows, seed;
  const char *kind;
  smma_unit unit, against;
  smma_error error = {SMMA_OK, ""};
  smma_datum *data = NULL;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOOKKz(KK)zz#", &objects[0], &objects[1], &gpu, &only, &rows, &seed, &kind,
                        &q.shard, &q.shards, &q.path, &q.text, &q.length))
    return NULL;
  if (q.shard > q.shards || q.shards > SMMA_MOST_SHARDS)
    return PyErr_Format(PyExc_ValueError, "shard: it is part I of N, from 1 to at most %d", SMMA_MOST_SHARDS);
  if (!recipe_of(kind, seed, &q.what.recipe) || !gpu_or_none(gpu, &q.gpu) || !instruction_or_none(only, &q.only))
    return NULL;
  q.what.rows = rows, q.what.unit = &unit, q.what.against = &against;
  if (!open_unit(objects[0], &unit, &error)) return fail_with(&error);
  if (open_unit(objects[1], &against, &error)) {
    const suspended before = suspend_python();
    data = compare(&q, &error);
    smma_unit_close(&against);
    if (!resume_python(before)) smma_datum_free(data), data = NULL;
  }
  smma_unit_close(&unit);
  return data ? value_from(data) : fail_with(&error);
}

/* Asks open questions, from (unit, GPU or None, Instruction or None, whether to ask about every instruction, question
   or None). */
PyObject *python_ask(PyObject *module, PyObject *arguments) {
  PyObject *object, *gpu, *instruction;
  smma_question_request q = {.arch = SMMA_ARCH_COUNT};
  smma_open_answers answers = {.list = NULL};
  const char *only, *name = NULL;
  smma_unit unit;
  smma_error error = {SMMA_OK, ""};
  suspended before;
  PyObject *value = NULL;
  int every;
  bool done;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOpz", &object, &gpu, &instruction, &every, &only)) return NULL;
  if (!instruction_or_none(instruction, &q.instruction)) return NULL;
  if (gpu != Py_None && !(name = text_of(gpu))) return NULL;
  if (name && !smma_question_of_gpu(name, &only, &q.arch, &error)) return fail_with(&error);
  if (q.arch == SMMA_ARCH_COUNT && !arch_or_none(gpu, &q.arch)) return NULL;
  q.gpu = name;
  if (only && !(q.only = smma_require_question(only, &error))) return fail_with(&error);
  if (!open_unit(object, &unit, &error)) return fail_with(&error);
  q.unit = &unit, q.every = every;
  before = suspend_python();
  done = smma_ask_questions(&q, &answers, &error);
  if (resume_python(before)) value = done ? value_from(smma_open_answers_datum(&answers, &unit)) : fail_with(&error);
  smma_free_open_answers(&answers);
  smma_unit_close(&unit);
  return value;
}

/* ---- Shards ---- */

static smma_read_report *read_report(const char *origin, const char *text, Py_ssize_t length, smma_error *error) {
  smma_datum *data = text ? smma_datum_read(origin, text, (size_t)length, error) : NULL;
  smma_read_report *report = text && !data ? NULL : smma_read_shard_report(data, origin, error);
  smma_datum_free(data);
  return report;
}

/* Reads a report from (file, None) or (name, text), and sets `origin` to the file or name. Returns NULL with an
   exception or an error. */
static smma_read_report *report_of(PyObject *object, const char **origin, smma_error *error) {
  const char *text;
  Py_ssize_t length;
  if (PyTuple_Check(object))
    return PyArg_ParseTuple(object, "sz#", origin, &text, &length) ? read_report(*origin, text, length, error) : NULL;
  PyErr_SetString(PyExc_TypeError, "a report is a tuple of its name and its text");
  return NULL;
}

/* Merges a tuple of reports. */
PyObject *python_merge(PyObject *module, PyObject *reports) {
  const Py_ssize_t count = PyTuple_Check(reports) ? PyTuple_Size(reports) : 0;
  smma_read_report **list = PyMem_Calloc((size_t)count + 1, sizeof *list);
  const char **origin = PyMem_Calloc((size_t)count + 1, sizeof *origin);
  smma_error error = {SMMA_FAILED, "reports: there are none; give the reports of all shards"};
  PyObject *value;
  bool good = list && origin && count > 0;
  (void)module;
  if (!list || !origin) PyErr_NoMemory();
  for (Py_ssize_t n = 0; good && n < count; n++)
    good = (list[n] = report_of(PyTuple_GetItem(reports, n), &origin[n], &error));
  good = good && smma_merge_reports(list, origin, (size_t)count, &error);
  value = good ? value_from(smma_report_datum(&list[0]->report)) : fail_with(&error);
  for (Py_ssize_t n = 0; list && n < count; n++) smma_read_report_free(list[n]);
  PyMem_Free(list);
  PyMem_Free((void *)origin);
  return value;
}

/* ---- Vector files ---- */

/* Copies one operand of the given vectors, or their results, to rows->part[part], as encodings of `format`. Returns
   false with an exception, also if a machine with this format cannot have had one of the values. */
static bool take_part(PyObject *object, const char *what, smma_format format, int part, npy_intp count,
                      smma_rows *rows) {
  const smma_part *p = &rows->layout.part[part];
  const bool is_column = part == SMMA_PART_C || part == SMMA_PART_D;
  PyArrayObject *array, *dense;
  size_t changed = 0;
  bool good;
  if (!p->count) return true;
  array = array_is_given(object, what) ? array_of(object) : NULL;
  if (array) array = array_exact(array, what, format, &changed);
  if (changed)
    PyErr_Format(PyExc_ValueError, "%s: %zu values are not numbers of %s, the instruction's format; round them first",
                 what, changed, smma_format_name(format));
  dense = array ? PyArray_GETCONTIGUOUS(array) : NULL;
  Py_XDECREF(array);
  if (!dense) return false;
  good = PyArray_NDIM(dense) == (is_column ? 1 : 2) && PyArray_DIM(dense, 0) == count &&
         (is_column || PyArray_DIM(dense, 1) == p->count);
  if (good)
    memcpy(rows->part[part], PyArray_DATA(dense), (size_t)PyArray_NBYTES(dense));
  else
    PyErr_Format(PyExc_ValueError, "%s: of %zd rows it is (%zd%s) for this instruction", what, count, count,
                 is_column ? "," : ", K, or K / block of scale factors");
  Py_DECREF(dense);
  return good;
}

/* Reads vectors from (Instruction, a, b, c, d, scale factors of a, of b). Returns false with an exception. */
static bool take_rows(PyObject *given, smma_rows *rows, size_t *count) {
  static const char *const what[] = {"a", "b", "c", "d", "scale_a", "scale_b"};
  static const int part[] = {SMMA_PART_A, SMMA_PART_B, SMMA_PART_C, SMMA_PART_D, SMMA_PART_SCALE_A, SMMA_PART_SCALE_B};
  const smma_instruction *i;
  PyObject *object, *operand[6];
  Py_ssize_t length;
  bool good = true;
  if (!PyTuple_Check(given)) return PyErr_SetString(PyExc_TypeError, "rows are no tuple"), false;
  if (!PyArg_ParseTuple(given, "OOOOOOO", &object, &operand[0], &operand[1], &operand[2], &operand[3], &operand[4],
                        &operand[5]) ||
      !(i = instruction_of(object)) || (length = PyObject_Size(operand[3])) < 0)
    return false;
  const smma_format format[] = {i->a, i->b, i->c, i->d, i->scale, i->scale};
  if (!smma_rows_allocate(i, length ? (size_t)length : 1, rows)) return PyErr_NoMemory(), false;
  for (int x = 0; good && x < 6; x++) good = take_part(operand[x], what[x], format[x], part[x], length, rows);
  *count = (size_t)length;
  return good;
}

/* Verifies the vectors, by the unit `object` unless it is None. Returns the result as a dict, or NULL with an exception
   or an error. */
static PyObject *verify(smma_verify_request *q, PyObject *object, smma_error *error) {
  smma_verification v;
  smma_unit unit;
  PyObject *value = NULL;
  suspended before;
  bool good;
  if (object != Py_None && !open_unit(object, &unit, error)) return NULL;
  if (object != Py_None) q->unit = &unit;
  before = suspend_python();
  good = smma_verify(q, &v, error);
  if (resume_python(before) && good) value = value_from(smma_verification_datum(&v));
  smma_verification_free(&v);
  if (q->unit) smma_unit_close(&unit);
  return value;
}

/* Verifies vectors, from (paths of vector files, vectors in memory instead of files or None, unit or None, number of
   mismatches to list). */
PyObject *python_verify(PyObject *module, PyObject *arguments) {
  PyObject *paths, *given, *object, *value = NULL;
  smma_verify_request q = {.unit = NULL};
  unsigned long long shown;
  smma_rows rows = {0};
  smma_error error = {SMMA_OK, ""};
  const char **list;
  bool good = true;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!OOK", &PyTuple_Type, &paths, &given, &object, &shown)) return NULL;
  list = PyMem_Calloc((size_t)PyTuple_Size(paths) + 1, sizeof *list);
  if (!list) return PyErr_NoMemory();
  for (Py_ssize_t n = 0; good && n < PyTuple_Size(paths); n++) good = (list[n] = text_of(PyTuple_GetItem(paths, n)));
  if (good && given != Py_None) good = take_rows(given, &rows, &q.count);
  q.paths = list, q.most_shown = shown, q.rows = given != Py_None ? &rows : NULL;
  if (good) value = verify(&q, object, &error);
  smma_rows_free(&rows);
  PyMem_Free((void *)list);
  return value ? value : fail_with(&error);
}

/* ---- Recordings ---- */

static const char recording_name[] = "softmma.recording";

/* All vectors of a recording, in memory. */
typedef struct {
  PyObject *instruction; /* kept alive */
  smma_vector_header header;
  smma_rows rows;
  size_t count;
} recording;

static void free_recording(recording *r) {
  smma_rows_free(&r->rows);
  Py_XDECREF(r->instruction);
  PyMem_Free(r);
}

static void release(PyObject *capsule) { free_recording(PyCapsule_GetPointer(capsule, recording_name)); }

static bool copy_rows(const smma_rows *rows, size_t count, void *taker, smma_error *error) {
  recording *r = taker;
  if (r->count + count > r->rows.capacity && !smma_rows_grow(&r->rows, 2 * (r->count + count)))
    return smma_fail(error, "there is no memory for so many rows");
  smma_rows_copy(&r->rows, r->count, rows, 0, count);
  r->count += count;
  return true;
}

static bool record(const smma_record_request *q, recording *r, smma_error *error) {
  if (!smma_record_check(q, error)) return false;
  if (!smma_rows_allocate(q->instruction, q->reader ? 1 : (size_t)q->rows, &r->rows))
    return smma_fail(error, "rows is %llu: there is no memory for so many", (unsigned long long)q->rows);
  smma_record_header(q, &r->header);
  return smma_record(q, copy_rows, r, error);
}

/* Opens the file whose vectors are recorded. */
static bool open_vectors(smma_record_request *q, const char *path, FILE **stream, smma_error *error) {
  *stream = fopen(path, "r");
  if (!*stream) return smma_fail(error, "vectors: %s: %s", path, strerror(errno));
  return smma_record_from(q, *stream, path, error);
}

/* Records a unit's results, from (Instruction or None, unit, rows, seed, kind or None, path of a vector file or None).
   Returns (Instruction or its handle, recording, device and date, arrays). The Instruction may be None if the file
   names it. */
PyObject *python_record(PyObject *module, PyObject *arguments) {
  PyObject *object, *computing, *capsule;
  unsigned long long rows, seed;
  const char *kind, *path;
  smma_record_request q = {.unit = NULL};
  smma_unit unit;
  smma_error error = {SMMA_OK, ""};
  FILE *stream = NULL;
  recording *r;
  suspended before;
  bool good;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOKKzz", &object, &computing, &rows, &seed, &kind, &path)) return NULL;
  if (object != Py_None && !(q.instruction = instruction_of(object))) return NULL;
  if (!recipe_of(kind, seed, &q.recipe)) return NULL;
  r = PyMem_Calloc(1, sizeof *r);
  if (!r) return PyErr_NoMemory();
  good = !path || open_vectors(&q, path, &stream, &error);
  if (good) r->instruction = object == Py_None ? handle_of(q.instruction) : Py_NewRef(object);
  good = good && (r->instruction || smma_no_memory(&error));
  if (good && open_unit(computing, &unit, &error)) {
    q.unit = &unit, q.rows = rows;
    before = suspend_python();
    good = record(&q, r, &error);
    smma_unit_close(&unit);
    good = resume_python(before) && good;
  } else {
    good = false;
  }
  smma_vector_close(q.reader);
  if (stream) fclose(stream);
  capsule = good ? PyCapsule_New(r, recording_name, release) : NULL;
  if (capsule)
    return Py_BuildValue("(ONsN)", r->instruction, capsule, r->header.recorded_on, arrays_of_rows(&r->rows, r->count));
  free_recording(r);
  return fail_with(&error);
}

PyObject *python_recording_value(PyObject *module, PyObject *capsule) {
  const recording *r = PyCapsule_GetPointer(capsule, recording_name);
  smma_datum *rows;
  (void)module;
  if (!r) return NULL;
  rows = smma_datum_list();
  smma_append_rows(rows, &r->rows, r->count);
  return value_from(smma_record_datum(&r->header, rows));
}

/* Writes a recording, from (recording, path, format). */
PyObject *python_recording_write(PyObject *module, PyObject *arguments) {
  PyObject *capsule;
  const recording *r;
  const char *path, *name;
  smma_vector_format format;
  smma_vector_writer *writer;
  smma_output output;
  smma_error error;
  bool good;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Oss", &capsule, &path, &name)) return NULL;
  r = PyCapsule_GetPointer(capsule, recording_name);
  if (!r) return NULL;
  format = smma_vector_format_from_text(name);
  if (format == SMMA_VECTOR_FORMATS)
    return PyErr_Format(PyExc_ValueError, "format: '%s' is not " SMMA_VECTOR_FORMAT_NAMES, name);
  if (!smma_output_open(path, &output, &error)) return fail_with(&error);
  writer = smma_vector_create(output.stream, format, &r->header, r->count, &error);
  good = writer && smma_vector_write_rows(writer, &r->rows, r->count, &error) && smma_vector_finish(writer, &error);
  smma_vector_free(writer);
  if (good)
    good = smma_output_commit(&output, &error);
  else
    smma_output_abandon(&output);
  if (!good) return fail_with(&error);
  Py_RETURN_NONE;
}

/* Returns the name of the kind of test vectors that another name stands for, or None. */
PyObject *python_row_kind(PyObject *module, PyObject *name) {
  const char *text = text_of(name);
  const smma_row_kind kind = text ? smma_row_kind_from_text(text) : SMMA_ROWS_KINDS;
  (void)module;
  if (!text) return NULL;
  if (kind == SMMA_ROWS_KINDS) Py_RETURN_NONE;
  return PyUnicode_FromString(smma_row_kind_text(kind));
}

/* ---- Test vectors that distinguish units ---- */

/* Finds test vectors on which units' results differ, from (Instruction, units, greatest number of vectors to return,
   number of vectors to search for each pair of units, seed). */
PyObject *python_next(PyObject *module, PyObject *arguments) {
  PyObject *object, *units, *value = NULL;
  unsigned long long rows, searched, seed;
  smma_unit unit[SMMA_MOST_APART];
  smma_apart_search search = {.units = 0};
  smma_apart apart;
  smma_error error = {SMMA_OK, ""};
  Py_ssize_t count;
  bool good = true;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO!KKK", &object, &PyTuple_Type, &units, &rows, &searched, &seed)) return NULL;
  search.as = instruction_of(object);
  if (!search.as) return NULL;
  count = PyTuple_Size(units);
  if (count < 2 || count > SMMA_MOST_APART)
    return PyErr_Format(PyExc_ValueError, "units: %zd; give 2 to %d", count, SMMA_MOST_APART);
  search.rows = searched, search.seed = seed, search.most = (size_t)rows;
  while (good && search.units < count) {
    good = open_unit(PyTuple_GetItem(units, search.units), &unit[search.units], &error);
    if (!good) break;
    search.unit[search.units] = &unit[search.units];
    good = smma_apart_check(&unit[search.units++], search.as, &error);
  }
  if (good) {
    const suspended before = suspend_python();
    good = smma_find_apart(&search, &apart, &error);
    if (resume_python(before) && good) value = value_from(smma_apart_datum(&search, &apart));
    smma_free_apart(&apart);
  }
  for (int u = 0; u < search.units; u++) smma_unit_close(&unit[u]);
  return value ? value : fail_with(&error);
}
