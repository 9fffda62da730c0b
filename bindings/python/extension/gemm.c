/* Computes a product as the command does: from arrays in any format, by a method, with notes on rounded values. */
#include <string.h>

#include "binding.h"
#include "host/clock.h"
#include "plan/plan.h"
#include "product/product.h"

/* The matrices of a call, in the order of its arguments. */
static const struct {
  const char *name;
  smma_product_matrix which;
} matrices[] = {{"a", SMMA_OF_A},
                {"b", SMMA_OF_B},
                {"c", SMMA_OF_C},
                {"scale_a", SMMA_OF_SCALE_A},
                {"scale_b", SMMA_OF_SCALE_B},
                {"bias", SMMA_OF_BIAS},
                {"metadata", SMMA_OF_METADATA}};

enum { MATRICES = sizeof matrices / sizeof matrices[0] };

typedef struct {
  PyObject *object[MATRICES];
  PyArrayObject *array[MATRICES];
  choice choice;
  smma_product_request request;
  smma_matrix_product product;
  smma_plan *own_plan; /* the plan of the request if the caller gave none; otherwise NULL */
} call;

static smma_format format_of(PyObject *object) {
  PyArrayObject *array = object == Py_None ? NULL : array_of(object);
  const smma_format format = array ? array_format_of(array) : SMMA_NO_FORMAT;
  Py_XDECREF(array);
  return format;
}

/* Chooses the instruction. For the method "fallback", chooses one whose input format can hold the values of the data's
   format. If no instruction has the requested format of D, makes a plan that rounds D to it. */
static bool choose(call *c) {
  smma_product_request *r = &c->request;
  const array_formats formats = {.a = format_of(c->object[0]), .b = format_of(c->object[1])};
  choice x = c->choice;
  PyObject *text = NULL;
  const char *through;
  smma_format rounded = SMMA_NO_FORMAT;
  smma_error error;
  if (PyErr_Occurred()) return false;
  if (!smma_check_method(&r->method, &error)) return fail_with(&error), false;
  if (smma_method_is(&r->method, "fallback")) {
    if (x.in != Py_None && (r->narrow = array_format_named(x.in, "in_dtype")) == SMMA_NO_FORMAT) return false;
    if (!smma_choose_fallback(&r->method, r->narrow, &through, &error)) return fail_with(&error), false;
    if (!(x.in = text = PyUnicode_FromString(through))) return false;
  }
  x.rounded = &rounded;
  r->instruction = choose_instruction(&x, &formats);
  Py_XDECREF(text);
  if (!r->instruction || rounded == SMMA_NO_FORMAT || (r->plan && r->plan->d == rounded)) return r->instruction;
  if (!smma_product_round(r, rounded, &error)) return fail_with(&error), false;
  c->own_plan = (smma_plan *)r->plan;
  return true;
}

/* Reads a matrix. Unsigned integers are encodings of `format` if the caller names formats (never of FP32 of a bias or
   of scale factors). */
static bool take_array(call *c, int m, smma_format format) {
  const smma_product_matrix which = matrices[m].which;
  const bool named = which == SMMA_OF_C ? names_formats(&c->choice) : format != SMMA_F32;
  PyArrayObject *numbers;
  bool taken;
  if (named || which == SMMA_OF_A || which == SMMA_OF_B || c->object[m] == Py_None)
    return array_source(c->object[m], matrices[m].name, format, &c->array[m], &c->request.of[which]);
  numbers = array_of(c->object[m]);
  if (numbers) numbers = array_of_numbers(numbers, matrices[m].name);
  taken = numbers && array_source((PyObject *)numbers, matrices[m].name, format, &c->array[m], &c->request.of[which]);
  Py_XDECREF(numbers);
  return taken;
}

/* Reads the arrays as encodings of the formats in which they are multiplied. Methods that convert the numbers
   themselves get them unchanged. */
static bool take_arrays(call *c) {
  smma_product_request *r = &c->request;
  const bool converts = smma_method_is(&r->method, "words") || smma_method_is(&r->method, "markidis") ||
                        smma_method_is(&r->method, "bf16x9") || smma_method_is(&r->method, "ozaki");
  if (!array_is_no_unit(c->object[2])) return false;
  for (int m = 0; m < MATRICES; m++) {
    const smma_product_matrix which = matrices[m].which;
    const bool narrows = which >= SMMA_OF_A && r->narrow != SMMA_NO_FORMAT;
    const smma_gemm_arguments none = {0};
    const smma_format format = narrows ? r->narrow : smma_product_needs(r, which, &none).format;
    if ((m < 2 && !array_is_given(c->object[m], matrices[m].name)) ||
        !take_array(c, m, converts ? SMMA_NO_FORMAT : format))
      return false;
  }
  return true;
}

static bool multiply(call *c, const smma_notes *notes) {
  smma_matrix_product *p = &c->product;
  smma_error error;
  const suspended before = suspend_python();
  bool done = smma_product_begin(&c->request, p, &error) && smma_product_take(p, notes, &error);
  p->arguments.progress = see_interrupt;
  done = done && smma_product_run(p, &error);
  if (resume_python(before) && done) return true;
  fail_with(&error);
  return false;
}

static PyObject *array_of_d(const smma_tensor *d) {
  const npy_intp shape[2] = {(npy_intp)d->rows, (npy_intp)d->columns};
  PyObject *array = PyArray_NewFromDescr(&PyArray_Type, array_dtype_of(d->format), 2, shape, NULL, NULL, 0, NULL);
  if (array) memcpy(PyArray_DATA((PyArrayObject *)array), d->data, d->rows * d->columns * (size_t)d->bytes);
  return array;
}

/* Returns (D, the record of the command's --json, notes), from (matrices, arguments that choose the instruction,
   (method and its options), further members of smma_product_request). */
PyObject *python_gemm(PyObject *module, PyObject *arguments) {
  const double start = smma_seconds();
  call c = {.request = smma_product_defaults()};
  smma_product_request *r = &c.request;
  smma_method_options *method = &r->method;
  PyObject **o = c.object, *plan, *result = NULL;
  smma_notes notes = {NULL, NULL};
  int transposes[2];
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOOOOOOOOO(zzzzzziid)dddzLLOzzppi", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5],
                        &o[6], &c.choice.on, &c.choice.instr, &c.choice.in, &c.choice.out, &method->method,
                        &method->sum, &method->subnormals, &method->slices, &method->products, &method->through,
                        &method->words, &method->slice_bits, &method->accuracy, &r->alpha, &r->beta, &r->scale_d,
                        &r->scaling, &r->split_k, &r->promote_every, &plan, &r->round_in, &r->kernel, &transposes[0],
                        &transposes[1], &r->threads) ||
      !plan_of(plan, &r->plan))
    return NULL;
  r->transpose_a = transposes[0], r->transpose_b = transposes[1];
  if (r->plan) r->plan_name = r->plan->name;
  if (choose(&c) && take_arrays(&c)) {
    notes = listed_notes();
    if (r->threads >= 0) r->threads = threads_allowed(r->threads);
    if (multiply(&c, &notes))
      result = Py_BuildValue("(NNN)", array_of_d(&c.product.d),
                             value_from(smma_product_datum(&c.product, NULL, smma_seconds() - start)),
                             list_of_notes(&notes));
    smma_product_free(&c.product);
  }
  smma_datum_free(notes.context);
  smma_plan_free(c.own_plan);
  for (int m = 0; m < MATRICES; m++) Py_XDECREF(c.array[m]);
  return result;
}
