/* Finds the instructions and plans that give a matrix's bits (softmma.match), and checks claims (softmma.claim). */
#include <stdlib.h>

#include "binding.h"
#include "host/clock.h"
#include "isa/catalogue.h"
#include "match/study.h"

/* The matrices of a call, in the order of its arguments. */
enum { OF_A, OF_B, OF_D, OF_C, OF_SCALE_A, OF_SCALE_B, OF_BIAS, MATRICES };

static const char *const names[MATRICES] = {"a", "b", "d", "c", "scale_a", "scale_b", "bias"};

/* The data of a call of softmma.match or softmma.claim. */
typedef struct {
  PyObject *object[MATRICES], *in, *out, *targets;
  PyObject *in_targets; /* the formats in the words of `on`, for example "f16" in "H100:f16"; or NULL */
  PyArrayObject *array[MATRICES];
  smma_match_target *target;
  size_t targets_count;
  choice claimed; /* the claimed instruction, for softmma.claim */
  smma_match_claim claim;
  smma_match_request request;
  smma_match_study study;
  double seconds; /* that the search took */
} call;

static smma_source *source_of(call *c, int matrix) {
  static const smma_product_matrix of[MATRICES] = {[OF_A] = SMMA_OF_A,
                                                   [OF_B] = SMMA_OF_B,
                                                   [OF_C] = SMMA_OF_C,
                                                   [OF_SCALE_A] = SMMA_OF_SCALE_A,
                                                   [OF_SCALE_B] = SMMA_OF_SCALE_B,
                                                   [OF_BIAS] = SMMA_OF_BIAS};
  return matrix == OF_D ? &c->request.d : &c->request.product.of[of[matrix]];
}

static bool take_formats(call *c) {
  smma_formats f = {SMMA_NO_FORMAT, SMMA_NO_FORMAT, SMMA_NO_FORMAT, SMMA_NO_FORMAT, 0};
  smma_match_request *q = &c->request;
  if (!formats_of_inputs(c->in, &f)) return false;
  if (f.scale_block) {
    PyErr_SetString(PyExc_ValueError,
                    "in_dtype: it has scale factors of blocks, of whose products no plans are known; give one without");
    return false;
  }
  q->a_format = f.a, q->b_format = f.b, q->d_format = SMMA_NO_FORMAT;
  if (c->out != Py_None) q->d_format = array_format_named(c->out, "out_dtype");
  return !PyErr_Occurred();
}

static bool take_arrays(call *c) {
  const smma_match_request *q = &c->request;
  const smma_format named[MATRICES] = {q->a_format,    q->b_format,    q->d_format,   SMMA_NO_FORMAT,
                                       SMMA_NO_FORMAT, SMMA_NO_FORMAT, SMMA_NO_FORMAT};
  for (int m = 0; m < MATRICES; m++)
    if ((m <= OF_D && !array_is_given(c->object[m], names[m])) ||
        !array_source(c->object[m], names[m], named[m], &c->array[m], source_of(c, m)))
      return false;
  return true;
}

/* Takes the formats of a target's text as those of the search. */
static bool take_formats_of_target(call *c, const char *text, const char *formats) {
  if (c->in == Py_None) c->in = c->in_targets = PyUnicode_FromString(formats);
  if (!c->in) return false;
  if (c->in_targets && PyUnicode_CompareWithASCIIString(c->in_targets, formats) == 0) return true;
  PyErr_Format(PyExc_ValueError, "on: %s: %s; search for the formats of this target apart", text,
               c->in_targets ? "another target has other formats" : "in_dtype gives the formats");
  return false;
}

/* Reads the name of a GPU or an architecture, also with formats or an instruction behind a colon, or an Instruction. */
static bool take_target(call *c, PyObject *object, smma_match_target *target) {
  const choice named = {.on = object, .instr = Py_None, .in = Py_None, .out = Py_None};
  const array_formats open = {.a = SMMA_NO_FORMAT, .b = SMMA_NO_FORMAT};
  const char *name = PyUnicode_Check(object) ? text_of(object) : NULL, *more;
  smma_formats formats;
  *target = (smma_match_target){.only = NULL};
  if (PyErr_Occurred()) return false;
  if (!name) return (target->only = instruction_of(object)) != NULL;
  more = smma_split_target(name, target->gpu);
  if (arch_of(object) == SMMA_ARCH_COUNT) return false;
  if (!more) return true;
  if (smma_formats_from_text(more, SMMA_NO_FORMAT, &formats, NULL) == SMMA_OK)
    return take_formats_of_target(c, name, more);
  target->only = choose_instruction(&named, &open);
  return target->only;
}

static bool take_searched(call *c) {
  Py_ssize_t count;
  if (!PyTuple_Check(c->targets)) return PyErr_SetString(PyExc_TypeError, "on: a tuple of targets is needed"), false;
  count = PyTuple_Size(c->targets);
  c->targets_count = (size_t)count;
  c->target = calloc(c->targets_count + 1, sizeof *c->target);
  if (!c->target) return PyErr_NoMemory(), false;
  for (Py_ssize_t i = 0; i < count; i++)
    if (!take_target(c, PyTuple_GetItem(c->targets, i), &c->target[i])) return false;
  return true;
}

/* Reads a claim: (text, plan, on, instr, in_dtype). */
static bool take_claim(call *c, PyObject *claim) {
  PyObject *plan;
  if (!PyTuple_Check(claim)) return PyErr_SetString(PyExc_TypeError, "claim: a tuple is needed"), false;
  return PyArg_ParseTuple(claim, "sOOOO", &c->claim.text, &plan, &c->claimed.on, &c->claimed.instr, &c->claimed.in) &&
         plan_of(plan, &c->claim.plan);
}

/* Finds the instruction of a claim that names it or its formats. For others, it depends on the matrices (check). */
static bool take_claimed(call *c) {
  const array_formats open = {.a = SMMA_NO_FORMAT, .b = SMMA_NO_FORMAT};
  PyObject *on = c->claimed.on;
  if (c->claimed.instr == Py_None && c->claimed.in == Py_None && PyUnicode_Check(on) &&
      PyUnicode_FindChar(on, ':', 0, PyUnicode_GetLength(on), 1) < 0)
    return true;
  c->request.claimed = choose_instruction(&c->claimed, &open);
  return c->request.claimed;
}

static bool load(call *c) {
  smma_error error;
  const suspended before = suspend_python();
  const bool done = smma_match_load(&c->request, &c->study, &error);
  if (resume_python(before) && done) return true;
  fail_with(&error);
  return false;
}

static bool write_text(FILE *stream, const void *content) {
  const call *c = content;
  smma_print_match(stream, &c->study, c->seconds);
  return true;
}

static smma_datum *search(call *c) {
  const double start = smma_seconds();
  smma_error error;
  const suspended before = suspend_python();
  const bool done = smma_match_run(&c->study, c->target, c->targets_count, NULL, &error);
  c->seconds = smma_seconds() - start;
  if (resume_python(before) && done) return smma_match_datum(&c->study, c->seconds);
  fail_with(&error);
  return NULL;
}

static smma_datum *check(call *c) {
  const array_formats formats = {.a = c->study.data.a_format, .b = c->study.data.b_format};
  smma_error error;
  suspended before;
  bool done;
  c->claim.instruction = c->request.claimed ? c->request.claimed : choose_instruction(&c->claimed, &formats);
  if (!c->claim.instruction) return NULL;
  before = suspend_python();
  done = smma_match_check(&c->study, &c->claim, &error);
  if (resume_python(before) && done) return smma_match_claim_datum(&c->study);
  fail_with(&error);
  return NULL;
}

/* Returns (the record of the command's --json, notes, text), from matrices and their formats, targets or None, followed
   by the claim (text, plan, on, instr, in_dtype), round_in, alpha, beta, scale_d, transposes, threads. */
PyObject *python_match(PyObject *module, PyObject *arguments) {
  call *c = calloc(1, sizeof *c);
  smma_product_request *r = c ? &c->request.product : NULL;
  PyObject **o = c ? c->object : NULL, *claim, *result = NULL;
  smma_notes notes = {NULL, NULL};
  smma_datum *found = NULL;
  int transposes[2];
  (void)module;
  if (!c) return PyErr_NoMemory();
  *r = smma_product_defaults();
  c->claimed.out = Py_None;
  if (PyArg_ParseTuple(arguments, "OOOOOOOOOOOzdddppi", &o[OF_A], &o[OF_B], &o[OF_D], &o[OF_C], &o[OF_SCALE_A],
                       &o[OF_SCALE_B], &o[OF_BIAS], &c->in, &c->out, &c->targets, &claim, &r->round_in, &r->alpha,
                       &r->beta, &r->scale_d, &transposes[0], &transposes[1], &r->threads) &&
      (claim == Py_None ? take_searched(c) : take_claim(c, claim) && take_claimed(c)) && take_formats(c) &&
      take_arrays(c)) {
    notes = listed_notes();
    r->transpose_a = transposes[0], r->transpose_b = transposes[1];
    c->request.notes = &notes;
    if (r->threads >= 0) r->threads = threads_allowed(r->threads);
    if (load(c)) found = claim == Py_None ? search(c) : check(c);
  }
  if (found)
    result = Py_BuildValue("(NNN)", value_from(found), list_of_notes(&notes),
                           claim == Py_None ? text_from(written(write_text, c)) : PyUnicode_FromString(""));
  smma_datum_free(notes.context);
  smma_match_study_free(&c->study);
  for (int m = 0; m < MATRICES; m++) Py_XDECREF(c->array[m]);
  Py_XDECREF(c->in_targets);
  free(c->target);
  free(c);
  return result;
}
