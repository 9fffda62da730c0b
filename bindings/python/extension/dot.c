/* Dot-product-adds: many at once, with coverage counted, or one explained. */
#include <stdio.h>
#include <stdlib.h>

#include "binding.h"
#include "coverage/coverage.h"
#include "explain/datum.h"
#include "explain/picture.h"
#include "host/load.h"
#include "isa/catalogue.h"
#include "trace/planned.h"

enum { A, B, C, SCALE_A, SCALE_B, OPERANDS };

static const char *const names[OPERANDS] = {"a", "b", "c", "scale_a", "scale_b"};
static const int own_axes[OPERANDS] = {1, 1, 0, 1, 1};

/* A batch of test vectors: row i of each array holds that operand of vector i. */
typedef struct {
  const smma_instruction *instruction;
  PyArrayObject *operand[OPERANDS]; /* NULL: not given */
  const char *round_in;             /* rounding mode of A and B; NULL: that of the instruction's library */
  bool named;                       /* formats are named, so that an unsigned C holds encodings */
  bool with_flags;                  /* for exception flags, which no instruction with scale factors has */
  int axes;
  npy_intp shape[MOST_AXES]; /* leading axes */
} rows;

static smma_format format_of(const smma_instruction *i, int operand) {
  const smma_format format[OPERANDS] = {i->a, i->b, i->c, i->scale, i->scale};
  return format[operand];
}

static npy_intp length_of(const smma_instruction *i, int operand) {
  if (operand == C) return 1;
  return operand < C ? i->k : i->k / i->scale_block;
}

/* Makes an array of zeros whose last axis has `length` elements, and copies `x` to the first of them. */
static PyArrayObject *lengthened(PyArrayObject *x, npy_intp length) {
  int axes = PyArray_NDIM(x);
  npy_intp shape[MOST_AXES];
  PyArrayObject *whole, *beginning = NULL;
  for (int axis = 0; axis < axes; axis++) shape[axis] = PyArray_DIM(x, axis);
  shape[axes - 1] = length;
  Py_INCREF(PyArray_DESCR(x));
  whole = (PyArrayObject *)PyArray_Zeros(axes, shape, PyArray_DESCR(x), 0);
  if (!whole) return NULL;
  Py_INCREF(PyArray_DESCR(x));
  beginning =
      (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(x), axes, PyArray_DIMS(x),
                                            PyArray_STRIDES(whole), PyArray_DATA(whole), NPY_ARRAY_WRITEABLE, NULL);
  if (!beginning || PyArray_CopyInto(beginning, x) < 0) Py_CLEAR(whole);
  Py_XDECREF(beginning);
  return whole;
}

/* Pads a or b with +0 to the instruction's number of elements. Takes over `x`. */
static PyArrayObject *fill_up(PyArrayObject *x, int operand, const rows *r, npy_intp length) {
  npy_intp have = PyArray_DIM(x, PyArray_NDIM(x) - 1);
  PyArrayObject *whole = NULL;
  if (have == length) return x;
  if (have > length || operand > C)
    PyErr_Format(PyExc_ValueError, "%s has %zd elements; %s takes %zd%s", names[operand], (Py_ssize_t)have,
                 r->instruction->name, (Py_ssize_t)length, operand > C ? "" : " at most (matmul takes any number)");
  else
    whole = lengthened(x, length);
  Py_DECREF(x);
  return whole;
}

/* Makes an operand dense, in the instruction's format. */
static bool make_rows(rows *r, int operand) {
  PyArrayObject *x = r->operand[operand], *dense;
  npy_intp shape[MOST_AXES];
  int axes = r->axes + own_axes[operand], rounding = SMMA_ROUND_NEAREST_EVEN;
  if (!x) return true;
  if (operand == A || operand == B)
    rounding = operand_rounding_named(r->round_in, r->instruction, NULL, format_of(r->instruction, operand));
  if (rounding < 0) return false;
  if (operand == C && !r->named) x = array_of_numbers(x, names[operand]);
  if (x) x = array_as(x, names[operand], format_of(r->instruction, operand), (smma_rounding)rounding);
  if (x && own_axes[operand]) x = fill_up(x, operand, r, length_of(r->instruction, operand));
  for (int axis = 0; axis < r->axes; axis++) shape[axis] = r->shape[axis];
  shape[r->axes] = length_of(r->instruction, operand);
  if (x) x = array_spread(x, names[operand], axes, shape);
  dense = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  r->operand[operand] = dense;
  return dense != NULL;
}

static bool check_scales(const rows *r) {
  const smma_instruction *i = r->instruction;
  if (!r->operand[SCALE_A] == !i->scale_block && !r->operand[SCALE_B] == !i->scale_block) return true;
  PyErr_Format(PyExc_ValueError,
               !i->scale_block ? "%s takes no scale factors; leave out scale_a and scale_b"
               : r->with_flags ? "%s has no exception flags: it takes scale factors"
                               : "%s takes scale factors; give scale_a and scale_b (softmma.quantize makes them)",
               i->name);
  return false;
}

static bool take_arrays(rows *r, PyObject *const object[OPERANDS]) {
  for (int x = 0; x < OPERANDS; x++) {
    if (x < C && !array_is_given(object[x], names[x])) return false;
    if (object[x] == Py_None) continue;
    r->operand[x] = array_of(object[x]);
    if (!r->operand[x]) return false;
    if (PyArray_NDIM(r->operand[x]) < own_axes[x]) {
      PyErr_Format(PyExc_ValueError, "%s is a number; a dot product takes arrays", names[x]);
      return false;
    }
  }
  return true;
}

static bool choose(rows *r, const choice *x) {
  array_formats formats = {.a = array_format_of(r->operand[A]), .b = array_format_of(r->operand[B])};
  if (r->operand[SCALE_A]) {
    formats.scaled = true, formats.scale = array_format_of(r->operand[SCALE_A]);
    formats.k = PyArray_DIM(r->operand[A], PyArray_NDIM(r->operand[A]) - 1);
    formats.scale_blocks = PyArray_DIM(r->operand[SCALE_A], PyArray_NDIM(r->operand[SCALE_A]) - 1);
  }
  r->named = names_formats(x);
  r->instruction = choose_instruction(x, &formats);
  return r->instruction != NULL;
}

/* Reads operands (a, b, c, scale_a, scale_b) as vectors of the instruction that the choice names. */
static bool prepare(rows *r, PyObject *const object[OPERANDS], const choice *x) {
  if (!take_arrays(r, object) || !choose(r, x) || !check_scales(r)) return false;
  r->axes = array_broadcast(r->operand, names, own_axes, OPERANDS, r->shape);
  for (int operand = 0; operand < OPERANDS && r->axes >= 0; operand++)
    if (!make_rows(r, operand)) return false;
  return r->axes >= 0;
}

static void release(rows *r) {
  for (int x = 0; x < OPERANDS; x++) Py_XDECREF(r->operand[x]);
}

/* ---- Many ---- */

static const void *data_of(const rows *r, int operand) {
  return r->operand[operand] ? PyArray_DATA(r->operand[operand]) : NULL;
}

static smma_batch batch_of(const rows *r, PyArrayObject *d) {
  return (smma_batch){.size = sizeof(smma_batch),
                      .rows = (size_t)PyArray_SIZE(d),
                      .a = data_of(r, A),
                      .b = data_of(r, B),
                      .c = data_of(r, C),
                      .scale_a = data_of(r, SCALE_A),
                      .scale_b = data_of(r, SCALE_B),
                      .d = PyArray_DATA(d)};
}

/* Makes an array with one element for each vector. Takes over `dtype`. */
static PyArrayObject *result_array(const rows *r, PyArray_Descr *dtype) {
  return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, dtype, r->axes, r->shape, NULL, NULL, 0, NULL);
}

/* Computes the results `d` of all vectors and, if `flags` is not NULL, their exception flags. Returns false with an
   exception, also after Control-C. */
static bool compute(const rows *r, PyArrayObject *d, PyArrayObject *flags, smma_tininess tininess) {
  enum { PIECE = 1 << 16 }; /* vectors between checks for Control-C */
  const smma_batch batch = batch_of(r, d);
  const smma_rows all = smma_rows_of_batch(r->instruction, &batch);
  const int threads = threads_allowed(0);
  smma_error error = {SMMA_OK, ""};
  const suspended before = suspend_python();
  size_t first = 0;
  do { /* once without vectors, too: there may be an error */
    const size_t count = batch.rows - first < PIECE ? batch.rows - first : PIECE;
    const smma_batch piece = smma_rows_batch(&all, first, count, NULL);
    if (flags)
      smma_dot_flags(r->instruction, &piece, tininess, threads, (uint8_t *)PyArray_DATA(flags) + first, &error);
    else
      error.status = smma_dot_rows(r->instruction, &piece, threads);
    first += count;
  } while (first < batch.rows && error.status == SMMA_OK && !see_interrupt(first, batch.rows, NULL));
  if (!resume_python(before)) return false;
  if (error.status != SMMA_OK && flags) fail_with(&error);
  if (error.status != SMMA_OK && !flags) fail_with_status(error.status);
  return error.status == SMMA_OK;
}

PyObject *python_dot(PyObject *module, PyObject *arguments) {
  PyObject *object[OPERANDS];
  rows r = {.axes = 0};
  choice x = {.rounded = NULL};
  PyArrayObject *d = NULL;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOOOOOOOz", &object[A], &object[B], &object[C], &x.on, &x.instr, &x.in, &x.out,
                        &object[SCALE_A], &object[SCALE_B], &r.round_in) ||
      !array_is_no_unit(object[C]))
    return NULL;
  if (prepare(&r, object, &x)) d = result_array(&r, array_dtype_of(r.instruction->d));
  if (d && !compute(&r, d, NULL, SMMA_TININESS_OF_UNIT)) Py_CLEAR(d);
  release(&r);
  return d ? PyArray_Return(d) : NULL;
}

bool tininess_named(const char *text, smma_tininess *tininess) {
  smma_error error;
  const bool known = smma_tininess_from_text(text, tininess, &error);
  if (!known) PyErr_Format(PyExc_ValueError, "tininess: %s", error.text);
  return known;
}

/* Returns (d, flags), from (a, b, c, choice, rounding mode or None, tininess or None). */
PyObject *python_dot_flags(PyObject *module, PyObject *arguments) {
  PyObject *object[OPERANDS] = {[SCALE_A] = Py_None, [SCALE_B] = Py_None};
  rows r = {.with_flags = true};
  choice x = {.rounded = NULL};
  const char *when;
  smma_tininess tininess;
  PyArrayObject *d = NULL, *flags = NULL;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOOOOOzz", &object[A], &object[B], &object[C], &x.on, &x.instr, &x.in, &x.out,
                        &r.round_in, &when) ||
      !tininess_named(when, &tininess))
    return NULL;
  if (prepare(&r, object, &x)) d = result_array(&r, array_dtype_of(r.instruction->d));
  if (d) flags = result_array(&r, PyArray_DescrFromType(NPY_UINT8));
  if (flags && !compute(&r, d, flags, tininess)) Py_CLEAR(flags);
  release(&r);
  if (flags) return Py_BuildValue("(NN)", PyArray_Return(d), PyArray_Return(flags));
  Py_XDECREF(d);
  return NULL;
}

/* ---- Many, with coverage counted ---- */

static bool tell_search(uint64_t tries, size_t events, void *context) {
  return see_interrupt((size_t)tries, events, context);
}

/* Counts the events of all vectors. Does not use Python. */
static bool count_events(smma_coverage *coverage, const rows *r, smma_error *error) {
  smma_rows all = {.instruction = r->instruction, .layout = smma_row_layout_of(r->instruction)};
  size_t count = 1;
  for (int axis = 0; axis < r->axes; axis++) count *= (size_t)r->shape[axis];
  for (int operand = 0; operand < OPERANDS; operand++) all.part[operand] = (void *)data_of(r, operand);
  all.layout.part[SMMA_PART_D].count = 0;
  return smma_coverage_count(coverage, r->instruction, &all, count, NULL, error);
}

/* Counts the events of the vectors `r`, or of the NULL-terminated list of files if `r` is NULL. If `tries` is not 0,
   then searches vectors with the missed events. Returns the coverage. */
static PyObject *cover(const rows *r, const char *const *files, uint64_t tries, uint64_t seed) {
  smma_coverage coverage = {.one = NULL};
  smma_error error = {SMMA_OK, ""};
  PyObject *value = NULL;
  const suspended before = suspend_python();
  bool done = !r || count_events(&coverage, r, &error);
  for (size_t n = 0; done && files && files[n]; n++)
    done = smma_coverage_add_file(&coverage, files[n], NULL, NULL, &error);
  if (done && tries) done = smma_coverage_search(&coverage, seed, tries, tell_search, NULL, &error);
  if (resume_python(before)) value = done ? value_from(smma_coverage_datum(&coverage)) : fail_with(&error);
  smma_coverage_free(&coverage);
  return value;
}

/* Returns (Instruction, coverage), from (operands, choice, search, seed). */
PyObject *python_coverage(PyObject *module, PyObject *arguments) {
  PyObject *object[OPERANDS], *value = NULL, *result = NULL;
  unsigned long long tries, seed;
  rows r = {.axes = 0};
  choice x = {.rounded = NULL};
  (void)module;
  if (PyArg_ParseTuple(arguments, "OOOOOOOOOKK", &object[A], &object[B], &object[C], &x.on, &x.instr, &x.in, &x.out,
                       &object[SCALE_A], &object[SCALE_B], &tries, &seed) &&
      array_is_given(object[C], names[C]) && prepare(&r, object, &x))
    value = cover(&r, NULL, tries, seed);
  if (value) result = Py_BuildValue("(NN)", chosen_object(&x, r.instruction), value);
  release(&r);
  return result;
}

/* Returns the coverage of files, from (a tuple of paths, search, seed). */
PyObject *python_coverage_files(PyObject *module, PyObject *arguments) {
  PyObject *paths, *value = NULL;
  unsigned long long tries, seed;
  const char **path;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "O!KK", &PyTuple_Type, &paths, &tries, &seed)) return NULL;
  path = calloc((size_t)PyTuple_Size(paths) + 1, sizeof *path);
  if (!path) return PyErr_NoMemory();
  for (Py_ssize_t n = 0; n < PyTuple_Size(paths) && !PyErr_Occurred(); n++)
    path[n] = text_of(PyTuple_GetItem(paths, n));
  if (!PyErr_Occurred()) value = cover(NULL, path, tries, seed);
  free(path);
  return value;
}

/* ---- One, explained ---- */

enum { MOST_UNITS = 2 };

typedef struct {
  smma_explained unit[MOST_UNITS];
  smma_operation operation[MOST_UNITS];
  smma_explanation explanation[MOST_UNITS];
  int count;
} explained;

static void load(uint64_t *encodings, const rows *r, int operand) {
  smma_format f = format_of(r->instruction, operand);
  for (npy_intp e = 0; r->operand[operand] && e < length_of(r->instruction, operand); e++)
    encodings[e] = smma_load((int)smma_format_bytes(f), PyArray_DATA(r->operand[operand]), (size_t)e);
}

static bool explain_row(explained *x, const rows *r, const char *label) {
  smma_row row = {.c = 0};
  uint64_t *const values[OPERANDS] = {
      [A] = row.a, [B] = row.b, [C] = &row.c, [SCALE_A] = row.scale_a, [SCALE_B] = row.scale_b};
  int n = x->count;
  for (int operand = 0; operand < OPERANDS; operand++) load(values[operand], r, operand);
  x->operation[n] = smma_operation_of(r->instruction);
  if (!smma_explain(&x->operation[n], &row, &x->explanation[n])) {
    PyErr_NoMemory();
    return false;
  }
  x->unit[n] = (smma_explained){label, r->instruction->name, &x->operation[n], &x->explanation[n]};
  x->count++;
  return true;
}

static bool check_same_operands(const explained *x) {
  char why[256];
  if (x->count < 2 || smma_share_operands(&x->operation[0], &x->operation[1], why, sizeof why)) return true;
  PyErr_Format(PyExc_ValueError, "%s and %s do not take the same operands: %s", x->unit[0].instruction,
               x->unit[1].instruction, why);
  return false;
}

static bool write_text(FILE *stream, const void *content) {
  const explained *x = content;
  if (x->count > 1)
    smma_explain_print_two(stream, x->unit, LINE_WIDTH);
  else
    smma_explain_print(stream, x->unit->operation, x->unit->explanation, LINE_WIDTH);
  return true;
}

static bool write_picture(FILE *stream, const void *content) {
  const explained *x = content;
  return smma_picture_write(stream, x->unit, x->count, 0);
}

/* Returns (name of D's format, result, exact sum rounded once) of each unit. The last two are encodings; the exact sum
   is None if it is not finite. */
static PyObject *results_of(const explained *x) {
  PyObject *tuple = PyTuple_New(x->count);
  for (int n = 0; tuple && n < x->count; n++) {
    const smma_explanation *e = &x->explanation[n];
    PyObject *exact = e->finite ? PyLong_FromUnsignedLongLong(e->correctly_rounded) : Py_None;
    if (!e->finite) Py_INCREF(exact);
    PyTuple_SetItem(tuple, n,
                    Py_BuildValue("(sKN)", smma_format_text(e->result_format), (unsigned long long)e->result, exact));
  }
  return tuple;
}

/* Returns (text, picture, the first difference, results, value) of one vector on one or two units, from (operands...,
   units), each unit being (label, on, instr, in, out). */
PyObject *python_explain(PyObject *module, PyObject *arguments) {
  PyObject *object[OPERANDS], *units, *result = NULL;
  explained x = {.count = 0};
  const char *round_in;
  bool good;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOOOO!z", &object[A], &object[B], &object[C], &object[SCALE_A], &object[SCALE_B],
                        &PyTuple_Type, &units, &round_in))
    return NULL;
  good = PyTuple_Size(units) >= 1 && PyTuple_Size(units) <= MOST_UNITS;
  if (!good) PyErr_SetString(PyExc_ValueError, "on: one unit can be explained, or at most two units together");
  for (Py_ssize_t n = 0; good && n < PyTuple_Size(units); n++) {
    rows r = {.round_in = round_in};
    const char *label;
    PyObject *unit;
    choice c = {.rounded = NULL};
    good = PyArg_Parse(PyTuple_GetItem(units, n), "O!", &PyTuple_Type, &unit) &&
           PyArg_ParseTuple(unit, "sOOOO", &label, &c.on, &c.instr, &c.in, &c.out) && prepare(&r, object, &c);
    if (good && r.axes) {
      PyErr_SetString(PyExc_ValueError, "explain takes one dot product: a and b with one axis, c a number");
      good = false;
    }
    good = good && explain_row(&x, &r, label);
    release(&r);
  }
  if (good && check_same_operands(&x)) {
    smma_difference difference = {""};
    if (x.count > 1) difference = smma_find_difference(x.unit);
    result = Py_BuildValue("(NNsNN)", text_from(written(write_text, &x)), text_from(written(write_picture, &x)),
                           difference.text, results_of(&x), value_from(smma_explanations_datum(x.unit, x.count)));
  }
  for (int n = 0; n < x.count; n++) smma_explanation_free(&x.explanation[n]);
  return result;
}

/* ---- Explanation of an element with a plan ---- */

/* Returns the encodings of a number or a one-axis array in the format, to be freed, or NULL with an exception. */
static uint64_t *encodings_of(PyObject *object, const char *name, smma_format format, smma_rounding rounding,
                              size_t *count) {
  PyArrayObject *x = array_of(object), *dense;
  uint64_t *encoding = NULL;
  if (x && PyArray_NDIM(x) > 1) {
    PyErr_Format(PyExc_ValueError, "%s has %d axes; a row has one", name, PyArray_NDIM(x));
    Py_CLEAR(x);
  }
  if (x) x = array_as(x, name, format, rounding);
  dense = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  if (!dense) return NULL;
  *count = (size_t)PyArray_SIZE(dense);
  encoding = malloc((*count + 1) * sizeof *encoding);
  for (size_t e = 0; encoding && e < *count; e++)
    encoding[e] = smma_load(smma_format_bytes(format), PyArray_DATA(dense), e);
  Py_DECREF(dense);
  return encoding ? encoding : (PyErr_NoMemory(), NULL);
}

typedef struct {
  PyObject *object[3]; /* a, b and c, which may be None */
  uint64_t *encoding[3];
  size_t count[3];
} planned_row;

static bool take_planned(planned_row *x, const smma_instruction *i, const smma_plan *plan, const char *round_in) {
  const smma_format format[] = {i->a, i->b, i->c};
  for (int n = A; n <= C; n++) {
    const int rounding = n < C ? operand_rounding_named(round_in, i, plan, format[n]) : SMMA_ROUND_NEAREST_EVEN;
    if (x->object[n] == Py_None && n == C) continue;
    if (rounding < 0 || !array_is_given(x->object[n], names[n])) return false;
    x->encoding[n] = encodings_of(x->object[n], names[n], format[n], (smma_rounding)rounding, &x->count[n]);
    if (!x->encoding[n]) return false;
  }
  if (x->count[A] == x->count[B] && (x->count[C] == 1 || x->object[C] == Py_None)) return true;
  PyErr_Format(PyExc_ValueError, "a has %zu elements, b %zu and c %zu; a and b have as many as each other, c one",
               x->count[A], x->count[B], x->count[C]);
  return false;
}

static bool write_planned(FILE *stream, const void *result) {
  smma_planned_print(stream, result, LINE_WIDTH);
  return true;
}

static PyObject *planned_object(const smma_planned_request *request) {
  smma_planned_result result;
  smma_error error = {SMMA_OK, ""};
  PyObject *object = NULL;
  if (smma_planned_run(request, &result, &error))
    object = Py_BuildValue("(NN)", text_from(written(write_planned, &result)), value_from(smma_planned_datum(&result)));
  else
    fail_with(&error);
  smma_planned_free(&result);
  return object;
}

/* Returns (text, value), from (a, b, c, label, instruction, plan, its name, rounding mode or None). */
PyObject *python_explain_planned(PyObject *module, PyObject *arguments) {
  planned_row x = {.encoding = {NULL}};
  smma_planned_request request = {.label = NULL};
  PyObject *instruction, *handle, *result = NULL;
  const char *round_in;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOsOOsz", &x.object[A], &x.object[B], &x.object[C], &request.label, &instruction,
                        &handle, &request.plan_text, &round_in) ||
      !(request.instruction = instruction_of(instruction)) || !plan_of(handle, &request.plan))
    return NULL;
  if (take_planned(&x, request.instruction, request.plan, round_in)) {
    request.a = x.encoding[A], request.b = x.encoding[B], request.c = x.encoding[C], request.k = x.count[A];
    result = planned_object(&request);
  }
  for (int n = A; n <= C; n++) free(x.encoding[n]);
  return result;
}
