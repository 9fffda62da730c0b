/* Products by matmul and by multipliers: converts numpy.matmul's shapes to the layouts of smma_gemm. */
#include <string.h>

#include "binding.h"
#include "core/format.h"
#include "gemm/gemm.h"
#include "isa/format_name.h"
#include "isa/instruction.h"
#include "isa/key.h"
#include "numerics/bound.h"
#include "plan/plan.h"
#include "product/product.h"
#include "softmma/sparse.h"

enum { A, B, C, D, SCALE_A, SCALE_B, OPERANDS };

/* BOUND_NUMBERS: a bound is four numbers (exact result, rest, lower and upper bound). BOUND_ROWS: number of rows of
   bounds that are computed between two checks for Control-C. */
enum { BOUND_NUMBERS = 4, BOUND_ROWS = 64 };
_Static_assert(sizeof(smma_bounded) == BOUND_NUMBERS * sizeof(double), "bounds without gaps");

static const char *const names[OPERANDS] = {"a", "b", "c", "d", "scale_a", "scale_b"};

typedef struct {
  const smma_instruction *instruction;
  const smma_multiplier *multiplier; /* holds the elements of B and its scale factors; or NULL */
  PyArrayObject *operand[OPERANDS];  /* NULL: not given */
  const char *round_in;              /* rounding mode of A and B; NULL: that of the plan or the instruction's library */
  bool rounds_operands;              /* A or B is not in its format, and has no block scale factors */
  bool vector[OPERANDS];             /* the argument has one axis */
  bool on_device;                    /* arrays are in a device's memory */
  bool named;                        /* formats are named, so that an unsigned C holds encodings */
  bool bounds;                       /* D receives bounds of its elements */
  bool completed;                    /* a plan's missing scale factors are 1, and a missing bias is 0 */
  smma_format stored;                /* format that results with these bounds are rounded to */
  smma_format d, scale;              /* formats of D and of scale factors */
  PyArrayObject *bias;               /* N numbers; NULL: no bias */
  smma_plan *own_plan;               /* the plan of `with` if the caller gave none; otherwise NULL */
  PyArrayObject *metadata;           /* positions of the elements of a sparse A, bytes of A's shape; NULL: A is dense */
  smma_gemm_arguments with;
  int axes; /* number of batch axes */
  npy_intp batch[MOST_AXES];
  int result_axes;
  npy_intp result[MOST_AXES + 1]; /* the shape returned to the caller; bounds have one more axis */
  smma_error error;
} product;

static npy_intp rows_of(PyArrayObject *x) { return PyArray_DIM(x, PyArray_NDIM(x) - 2); }
static npy_intp columns_of(PyArrayObject *x) { return PyArray_DIM(x, PyArray_NDIM(x) - 1); }

/* ---- Layout ---- */

/* Reports whether `count` lines form a matrix that kernels can read: the `length` elements of a line must be
   contiguous, and the lines must not overlap. Elements have `item` bytes and lie `step` bytes apart, lines `pitch`
   bytes apart. Sets `*leading` to the distance of two lines in elements. */
static bool lines_fit(npy_intp count, npy_intp pitch, npy_intp length, npy_intp step, npy_intp item, size_t *leading) {
  if (length > 1 && step != item) return false;
  *leading = (size_t)(count > 1 ? pitch / item : length);
  return count <= 1 || (pitch % item == 0 && pitch / item >= length);
}

static bool layout_of(PyArrayObject *x, smma_order *order, size_t *leading) {
  int last = PyArray_NDIM(x) - 1;
  npy_intp rows = rows_of(x), columns = columns_of(x), item = PyArray_ITEMSIZE(x);
  npy_intp down = PyArray_STRIDE(x, last - 1), along = PyArray_STRIDE(x, last);
  *order = SMMA_ROW_MAJOR, *leading = 0;
  if (rows == 0 || columns == 0 || lines_fit(rows, down, columns, along, item, leading)) return true;
  *order = SMMA_COLUMN_MAJOR;
  return lines_fit(columns, along, rows, down, item, leading);
}

/* Reports whether scale factors have the required layout: dense, A's in rows and B's in columns. */
static bool is_laid_out(int operand, PyArrayObject *x) {
  int last = PyArray_NDIM(x) - 1;
  npy_intp rows = rows_of(x), columns = columns_of(x), item = PyArray_ITEMSIZE(x);
  npy_intp down = PyArray_STRIDE(x, last - 1), along = PyArray_STRIDE(x, last);
  smma_order order;
  size_t leading;
  if (operand < SCALE_A || rows == 0 || columns == 0) return layout_of(x, &order, &leading);
  if (operand == SCALE_A) return lines_fit(rows, down, columns, along, item, &leading) && leading == (size_t)columns;
  return lines_fit(columns, along, rows, down, item, &leading) && leading == (size_t)rows;
}

/* Returns an operand in the memory order that kernels require: scale factors in their own order, other operands
   row-major. Copies it if necessary. Takes over `x`. */
static PyArrayObject *lay_out(int operand, PyArrayObject *x) {
  PyArrayObject *turned, *copy;
  if (is_laid_out(operand, x)) return x;
  if (array_is_on_device((PyObject *)x)) {
    PyErr_Format(PyExc_ValueError,
                 "%s: on a device nothing is rearranged: its last two axes must be a matrix in rows or columns%s",
                 names[operand], operand >= SCALE_A ? ", K innermost and without gaps" : "");
    Py_DECREF(x);
    return NULL;
  }
  turned = operand == SCALE_B ? (PyArrayObject *)PyArray_SwapAxes(x, -2, -1) : x;
  copy = turned ? (PyArrayObject *)PyArray_NewCopy(turned, NPY_CORDER) : NULL;
  if (turned != x) Py_XDECREF(turned);
  Py_DECREF(x);
  if (!copy || operand != SCALE_B) return copy;
  turned = (PyArrayObject *)PyArray_SwapAxes(copy, -2, -1);
  Py_DECREF(copy);
  return turned;
}

/* Makes an array with a shape and a dtype, but without memory for its elements. Takes over `dtype`. */
static PyObject *outline(npy_intp rows, npy_intp columns, PyArray_Descr *dtype) {
  static uint64_t element;
  const npy_intp shape[] = {rows, columns}, strides[] = {0, 0};
  return PyArray_NewFromDescr(&PyArray_Type, dtype, 2, shape, strides, &element, 0, NULL);
}

/* ---- Shapes ---- */

static bool fail_shapes(const product *p, int one, int other, const char *rule) {
  PyObject *shape = array_shape(p->operand[one]), *other_shape = array_shape(p->operand[other]);
  if (shape && other_shape)
    PyErr_Format(PyExc_ValueError, "%s is %S and %s is %S: %s", names[one], shape, names[other], other_shape, rule);
  Py_XDECREF(shape);
  Py_XDECREF(other_shape);
  return false;
}

/* Converts vectors: to a row of A and of its scale factors, to a column of B and of its scale factors. */
static bool make_matrix(product *p, int operand) {
  PyArrayObject *x = p->operand[operand];
  npy_intp size[2] = {1, 1};
  PyArray_Dims shape = {size, 2};
  if (PyArray_NDIM(x) >= 2) return true;
  if (PyArray_NDIM(x) == 0) {
    PyErr_Format(PyExc_ValueError, "%s is a number; a product of matrices takes arrays of one axis or more",
                 names[operand]);
    return false;
  }
  p->vector[operand] = true;
  size[operand == A || operand == SCALE_A] = PyArray_DIM(x, 0);
  p->operand[operand] = (PyArrayObject *)PyArray_Newshape(x, &shape, NPY_CORDER);
  Py_DECREF(x);
  return p->operand[operand] != NULL;
}

/* Reports whether an operand seems to hold two FP4 elements per byte: it has bytes, and half as many along K as the
   other operand has elements. */
static bool looks_packed(PyArrayObject *x, npy_intp along_k, npy_intp other) {
  return PyArray_ITEMSIZE(x) == 1 && PyArray_ISINTEGER(x) && 2 * along_k == other;
}

static bool check_inner(const product *p) {
  const npy_intp columns = columns_of(p->operand[A]), rows = rows_of(p->operand[B]);
  if (p->metadata)
    return columns * 2 == rows || fail_shapes(p, A, B, "of a sparse a the columns must be half of b's rows");
  if (columns == rows) return true;
  if (looks_packed(p->operand[A], columns, rows) || looks_packed(p->operand[B], rows, columns))
    return fail_shapes(p, A, B,
                       "K differs; unpack bytes that hold two FP4 each into arrays of ml_dtypes.float4_e2m1fn");
  return fail_shapes(p, A, B, "the columns of a must be the rows of b");
}

/* Sets the formats of D and of scale factors from the instruction and the plan, and checks the scale factors' shapes.
 */
static bool check_scales(product *p) {
  PyArrayObject *const *x = p->operand;
  const smma_instruction *i = p->instruction;
  const size_t part = p->multiplier ? p->multiplier->part_k : smma_plan_scaled_k(p->with.plan);
  const bool completed = p->completed && part && !x[SCALE_A] && !x[SCALE_B];
  const smma_scales scales =
      completed ? (smma_scales){.each = 0} : smma_scales_from(part, (size_t)i->scale_block, i->scale);
  npy_intp blocks;
  p->d = p->multiplier ? p->multiplier->d_format : smma_plan_d_format(p->with.plan, p->instruction);
  p->scale = scales.format;
  if (!x[SCALE_A] != !x[SCALE_B] || !x[SCALE_A] != !scales.each) {
    if (!part && scales.each)
      PyErr_Format(PyExc_ValueError,
                   "%s takes scale factors; give scale_a and scale_b, which softmma.quantize makes with the values, or "
                   "use softmma.gemm, which quantises",
                   i->name);
    else
      PyErr_Format(PyExc_ValueError,
                   scales.each ? "%s takes scale factors; give scale_a and scale_b"
                               : "%s takes no scale factors; leave out scale_a and scale_b",
                   part ? "the plan" : i->name);
    return false;
  }
  if (!scales.each) return true;
  blocks = (npy_intp)smma_scales_along(scales, (size_t)columns_of(x[A]));
  if (columns_of(x[SCALE_B]) != columns_of(x[B]) || rows_of(x[SCALE_B]) != blocks)
    return fail_shapes(p, B, SCALE_B, "scale_b must be (..., ceil(K / scale_block), N)");
  if (rows_of(x[SCALE_A]) != rows_of(x[A]) || columns_of(x[SCALE_A]) != blocks)
    return fail_shapes(p, A, SCALE_A, "scale_a must be (..., M, ceil(K / scale_block))");
  return true;
}

/* Computes the shapes of the batch and of the result. An operand that is a vector adds no axis to the result. */
static bool find_batch(product *p) {
  PyArrayObject *const matrices[] = {p->operand[A], p->operand[B], p->operand[SCALE_A], p->operand[SCALE_B]};
  static const char *const matrix_names[] = {"a", "b", "scale_a", "scale_b"};
  static const int own[] = {2, 2, 2, 2};
  p->result_axes = p->axes = array_broadcast(matrices, matrix_names, own, 4, p->batch);
  if (p->axes < 0) return false;
  for (int i = 0; i < p->axes; i++) p->result[i] = p->batch[i];
  if (!p->vector[A]) p->result[p->result_axes++] = rows_of(p->operand[A]);
  if (!p->vector[B]) p->result[p->result_axes++] = columns_of(p->operand[B]);
  return true;
}

/* Writes to `shape` the shape of a batch of matrices with these rows and columns, and returns it. */
static PyArray_Dims matrices(const product *p, npy_intp rows, npy_intp columns, npy_intp shape[MOST_AXES]) {
  for (int i = 0; i < p->axes; i++) shape[i] = p->batch[i];
  shape[p->axes] = rows, shape[p->axes + 1] = columns;
  return (PyArray_Dims){shape, p->axes + 2};
}

/* Broadcasts C to the result; keeps a C that is one matrix with the result's rows and columns. */
static bool shape_c(product *p) {
  npy_intp shape[MOST_AXES];
  PyArray_Dims batched = matrices(p, rows_of(p->operand[A]), columns_of(p->operand[B]), shape);
  PyArrayObject *c = p->operand[C];
  if (!c) return true;
  if (p->result_axes == batched.len && PyArray_NDIM(c) == 2 &&
      PyArray_CompareLists(PyArray_DIMS(c), shape + p->axes, 2))
    return true;
  if (p->on_device &&
      !(PyArray_NDIM(c) == p->result_axes && PyArray_CompareLists(PyArray_DIMS(c), p->result, p->result_axes))) {
    PyErr_SetString(PyExc_ValueError, "c: on a device it is not broadcast; it must have the result's shape");
    return false;
  }
  c = p->operand[C] = array_spread(c, "c", p->result_axes, p->result);
  if (!c || p->result_axes == batched.len) return c != NULL;
  p->operand[C] = (PyArrayObject *)PyArray_Newshape(c, &batched, NPY_CORDER);
  Py_DECREF(c);
  return p->operand[C] != NULL;
}

/* Makes the batch's matrices dense, in rows, for a multiplier. Takes over `x`. */
static PyArrayObject *spread(const product *p, int operand, PyArrayObject *x) {
  npy_intp shape[MOST_AXES];
  PyArray_Dims batched = matrices(p, rows_of(x), columns_of(x), shape);
  PyArrayObject *dense;
  x = array_spread(x, names[operand], batched.len, shape);
  dense = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  return dense;
}

/* Reports whether a multiplier holds the operand already: B or its scale factors. */
static bool is_held(const product *p, int operand) { return p->multiplier && (operand == B || operand == SCALE_B); }

/* Lays out the operands that no multiplier holds. */
static bool lay_out_operands(product *p) {
  for (int i = 0; i < OPERANDS; i++) {
    PyArrayObject **x = &p->operand[i];
    if (!*x || is_held(p, i)) continue;
    *x = p->multiplier ? spread(p, i, *x) : lay_out(i, *x);
    if (!*x) return false;
  }
  return true;
}

/* Reports whether an operand has all of the batch's matrices, stored densely one after another. */
static bool rows_follow(const product *p, PyArrayObject *x) {
  return PyArray_NDIM(x) == p->axes + 2 && PyArray_IS_C_CONTIGUOUS(x) &&
         PyArray_CompareLists(PyArray_DIMS(x), p->batch, p->axes);
}

/* Joins all matrices of A into one matrix with all their rows, if they share one B. */
static bool join_rows(product *p) {
  static const int with_rows[] = {A, C, SCALE_A};
  const npy_intp count = PyArray_MultiplyList(p->batch, p->axes);
  if (PyArray_NDIM(p->operand[B]) > 2 || (p->operand[SCALE_B] && PyArray_NDIM(p->operand[SCALE_B]) > 2)) return true;
  for (int i = 0; i < 3; i++)
    if (p->operand[with_rows[i]] && !rows_follow(p, p->operand[with_rows[i]])) return true;
  for (int i = 0; i < 3; i++) {
    PyArrayObject **x = &p->operand[with_rows[i]], *batched = *x;
    npy_intp shape[2];
    if (!batched) continue;
    shape[0] = count * rows_of(batched), shape[1] = columns_of(batched);
    *x = (PyArrayObject *)PyArray_Newshape(batched, &(PyArray_Dims){shape, 2}, NPY_CORDER);
    Py_DECREF(batched);
    if (!*x) return false;
  }
  p->axes = 0;
  return true;
}

static bool make_result(product *p) {
  npy_intp shape[MOST_AXES];
  const npy_intp columns = columns_of(p->operand[B]) * (p->bounds ? BOUND_NUMBERS : 1);
  PyArray_Dims batched = matrices(p, rows_of(p->operand[A]), columns, shape);
  PyArray_Descr *dtype = array_dtype_of(p->bounds ? SMMA_F64 : p->d);
  p->operand[D] = p->on_device ? array_allocate_on(p->with.kernel, batched.len, shape, dtype)
                               : (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, dtype, batched.len, shape, NULL,
                                                                       NULL, 0, NULL);
  return p->operand[D] != NULL;
}

/* ---- Computing ---- */

static npy_intp batch_stride(const product *p, PyArrayObject *x, int axis) {
  int own = axis - (p->axes - (PyArray_NDIM(x) - 2));
  return own < 0 || PyArray_DIM(x, own) == 1 ? 0 : PyArray_STRIDE(x, own);
}

/* Advances to the next matrices of the batch. Returns false after the last. */
static bool advance(const product *p, npy_intp index[MOST_AXES], char *data[OPERANDS]) {
  for (int axis = p->axes - 1; axis >= 0; axis--) {
    bool more = ++index[axis] < p->batch[axis];
    for (int x = 0; x < OPERANDS; x++)
      if (p->operand[x]) data[x] += batch_stride(p, p->operand[x], axis) * (more ? 1 : 1 - p->batch[axis]);
    if (more) return true;
    index[axis] = 0;
  }
  return false;
}

static smma_status bound(product *p, smma_bounded *bounds) {
  const smma_gemm_arguments *g = &p->with;
  for (size_t row = 0; row < g->m; row += BOUND_ROWS) {
    const size_t rows = g->m - row < BOUND_ROWS ? g->m - row : BOUND_ROWS;
    const smma_status status = smma_bound_rows(p->instruction, g, p->stored, row, rows, bounds + row * g->n);
    if (status != SMMA_OK) return status;
    if (see_interrupt(row, g->m, NULL)) return SMMA_STOPPED;
  }
  return SMMA_OK;
}

static smma_status multiply(product *p, char *const data[OPERANDS]) {
  smma_gemm_arguments *g = &p->with;
  if (p->multiplier) return smma_multiplier_run(p->multiplier, g->m, data[A], data[SCALE_A], data[C], data[D]);
  g->a = data[A], g->b = data[B], g->c = data[C], g->d = data[D];
  g->scale_a = data[SCALE_A], g->scale_b = data[SCALE_B];
  if (p->metadata) return smma_gemm_sparse(p->instruction, g, PyArray_DATA(p->metadata));
  return p->bounds ? bound(p, g->d) : smma_gemm(p->instruction, g);
}

static smma_status run(product *p) {
  npy_intp index[MOST_AXES] = {0};
  char *data[OPERANDS];
  smma_status status;
  if (PyArray_SIZE(p->operand[D]) == 0) return SMMA_OK;
  for (int x = 0; x < OPERANDS; x++) data[x] = p->operand[x] ? PyArray_DATA(p->operand[x]) : NULL;
  do {
    status = multiply(p, data);
  } while (status == SMMA_OK && advance(p, index, data));
  return status;
}

/* Raises the exception of a status, with the reason if a device fails or K does not fit the plan. */
static bool fail_product(const product *p, smma_status status) {
  smma_error error = p->error;
  if (status != SMMA_INVALID_PLAN || !p->with.plan)
    return error.status == status ? fail_with_error(&error) : fail_with_status(status);
  smma_plan_check(p->with.plan, p->instruction, p->with.k, &error);
  PyErr_Format(PyExc_ValueError, "plan '%s': K = %zu: %s", p->with.plan->name, p->with.k, error.text);
  return false;
}

/* Sets the sizes of the product, and the layouts of A, B and C. */
static void describe_matrices(product *p) {
  smma_gemm_arguments *g = &p->with;
  g->m = (size_t)rows_of(p->operand[A]), g->k = (size_t)rows_of(p->operand[B]);
  g->n = (size_t)columns_of(p->operand[B]);
  layout_of(p->operand[A], &g->order_a, &g->lda);
  layout_of(p->operand[B], &g->order_b, &g->ldb);
  if (p->operand[C]) layout_of(p->operand[C], &g->order_c, &g->ldc);
}

static bool compute(product *p) {
  smma_gemm_arguments *g = &p->with;
  suspended before;
  smma_status status;
  describe_matrices(p);
  g->progress = see_interrupt, g->error = &p->error;
  before = suspend_python();
  status = run(p);
  return resume_python(before) && (status == SMMA_OK || fail_product(p, status));
}

/* ---- Conversion from and to Python ---- */

/* Determines whether the arrays are in a device's memory. Either all arrays or none must be there; otherwise returns
   false with an exception. */
static bool find_place(product *p, PyObject *const object[OPERANDS], PyObject *bias) {
  p->with.on_device = p->on_device = array_is_on_device(object[A]);
  for (int x = 0; x <= OPERANDS; x++) {
    PyObject *one = x < OPERANDS ? object[x] : bias;
    if (x == D || one == Py_None || array_is_on_device(one) == p->on_device) continue;
    PyErr_Format(PyExc_TypeError, "a is in a device's memory, and %s is not, or the reverse",
                 x < OPERANDS ? names[x] : "the bias");
    return false;
  }
  if (!p->on_device || p->with.kernel) return true;
  PyErr_SetString(PyExc_ValueError, "arrays in a device's memory need kernel='cuda', or another device's number");
  return false;
}

static PyArrayObject *array_anywhere(const product *p, PyObject *object) {
  if (!p->on_device) return array_of(object);
  Py_INCREF(object);
  return (PyArrayObject *)object;
}

static bool take_arrays(product *p, PyObject *const object[OPERANDS]) {
  for (int x = 0; x < OPERANDS; x++) {
    if (x <= B && !array_is_given(object[x], names[x])) return false;
    if (x == D || object[x] == Py_None) continue;
    p->operand[x] = array_anywhere(p, object[x]);
    if (!p->operand[x] || (x != C && !make_matrix(p, x))) return false;
  }
  return check_inner(p);
}

/* Chooses the instruction. If no instruction has D's format, D is rounded after the epilogue. */
static bool choose_and_round(product *p, const choice *x, const array_formats *formats) {
  smma_gemm_arguments *g = &p->with;
  smma_format rounded = SMMA_NO_FORMAT;
  choice own = *x;
  own.rounded = &rounded;
  p->instruction = choose_instruction(&own, formats);
  if (!p->instruction || rounded == SMMA_NO_FORMAT || (g->plan && g->plan->d == rounded)) return p->instruction;
  if (g->plan || g->scaling == SMMA_SCALING_OPERANDS) {
    PyErr_Format(PyExc_ValueError, "out_dtype: %s",
                 g->plan ? "the plan has no D in this format; give it \"d\", or use softmma.plan(..., out_dtype=)"
                         : "D is rounded after alpha and beta, so scaling cannot be 'operands'");
    return false;
  }
  if (g->promote_every % (size_t)p->instruction->k) return fail_with_status(SMMA_INVALID_MULTIPLE);
  g->plan = p->own_plan = smma_plan_of_rounding(rounded, g->split_k, g->promote_every, (size_t)p->instruction->k);
  g->split_k = 1, g->promote_every = 0, g->scaling = SMMA_SCALING_DEFAULT;
  return g->plan || PyErr_NoMemory();
}

static bool choose(product *p, const choice *x) {
  p->named = names_formats(x);
  array_formats formats = {
      .a = array_format_of(p->operand[A]), .b = array_format_of(p->operand[B]), .k = columns_of(p->operand[A])};
  if (p->operand[SCALE_A] && !smma_plan_scaled_k(p->with.plan)) {
    formats.scaled = true;
    formats.scale = array_format_of(p->operand[SCALE_A]);
    formats.scale_blocks = columns_of(p->operand[SCALE_A]);
  }
  return choose_and_round(p, x, &formats);
}

/* Checks that the dtype of an array in a device's memory is the format that is multiplied, because such arrays are
   never rounded. */
static bool is_encoded(PyArrayObject *x, const char *name, smma_format format) {
  if (array_holds(x, format)) return true;
  PyErr_Format(PyExc_TypeError, "%s: on a device values are not rounded: its dtype is %S, and %s is multiplied", name,
               PyArray_DESCR(x), smma_format_name(format));
  return false;
}

/* Rounds the operands that no multiplier holds to the formats that are multiplied. */
static bool encode_operands(product *p) {
  const smma_instruction *i = p->instruction;
  const smma_format format[OPERANDS] = {i->a, i->b, i->c, p->d, p->scale, p->scale};
  for (int x = 0; x < OPERANDS; x++) {
    if (!p->operand[x] || is_held(p, x)) continue;
    if (p->on_device && !is_encoded(p->operand[x], names[x], format[x])) return false;
    const int rounding = x == A || x == B ? operand_rounding_named(p->round_in, i, p->with.plan, format[x])
                                          : (int)SMMA_ROUND_NEAREST_EVEN;
    if (rounding < 0) return false;
    p->rounds_operands |= (x == A || x == B) && !i->scale_block && !array_holds(p->operand[x], format[x]);
    if (!p->on_device && (x == C ? !p->named : x > C && format[x] == SMMA_F32)) /* nobody names FP32 of a factor */
      p->operand[x] = array_of_numbers(p->operand[x], names[x]);
    if (p->operand[x]) p->operand[x] = array_as(p->operand[x], names[x], format[x], (smma_rounding)rounding);
    if (!p->operand[x]) return false;
  }
  return true;
}

static bool check_numbers(const product *p, Py_ssize_t split_k, Py_ssize_t promote_every) {
  if (split_k >= 1 && promote_every >= 0 && p->with.threads >= 0) return true;
  PyErr_SetString(PyExc_ValueError, split_k < 1         ? "split_k: the least number of slices is 1"
                                    : promote_every < 0 ? "promote_every: a multiple of K, or 0 for never"
                                                        : "threads: a number, or 0 for all cores");
  return false;
}

/* Returns the result in the caller's shape, with bounds in a last axis. Takes over p->operand[D]. */
static PyObject *give_result(product *p) {
  if (p->bounds) p->result[p->result_axes++] = BOUND_NUMBERS;
  PyArray_Dims final = {p->result, p->result_axes};
  PyArrayObject *d = p->operand[D];
  PyObject *result;
  p->operand[D] = NULL;
  if (p->result_axes == PyArray_NDIM(d) && PyArray_CompareLists(PyArray_DIMS(d), p->result, p->result_axes))
    return p->on_device ? (PyObject *)d : PyArray_Return(d);
  result = PyArray_Newshape(d, &final, NPY_CORDER);
  Py_DECREF(d);
  return result && !p->on_device ? PyArray_Return((PyArrayObject *)result) : result;
}

/* Sets the scaling by name; NULL: the default. */
static bool choose_scaling(const char *name, smma_scaling *scaling) {
  if (!name) return true;
  *scaling = strcmp(name, "epilogue") == 0 ? SMMA_SCALING_EPILOGUE : SMMA_SCALING_OPERANDS;
  if (*scaling == SMMA_SCALING_EPILOGUE || strcmp(name, "operands") == 0) return true;
  PyErr_Format(PyExc_ValueError, "scaling: '%s' is neither epilogue nor operands", name);
  return false;
}

/* Checks that the plan takes the given arguments, and that none it needs is missing. */
static bool check_plan(const product *p, PyObject *const object[OPERANDS], PyObject *bias) {
  const smma_gemm_arguments *g = &p->with;
  const char *superfluous = smma_plan_refuses(g->plan, g, object[C] != Py_None, bias != Py_None);
  if (superfluous)
    PyErr_Format(
        PyExc_ValueError,
        "%s: the plan '%s' has no place for it; leave it out, or give the plan its place: \"start\": \"c\" for c, "
        "\"epilogue\": [\"linear\"] for alpha, beta and c, [\"bias\"] or [\"scale-d\"]",
        superfluous, g->plan->name);
  else if (smma_plan_has(g->plan, SMMA_EPILOGUE_BIAS) && bias == Py_None && !p->completed)
    PyErr_Format(PyExc_ValueError, "bias: the plan '%s' adds one; give N numbers", g->plan->name);
  return !PyErr_Occurred();
}

static bool check_no_plan(const product *p, PyObject *bias) {
  if (bias == Py_None && p->with.scale_d == 1) return true;
  PyErr_Format(PyExc_ValueError, "%s: it takes a plan whose epilogue has it", bias == Py_None ? "scale_d" : "bias");
  return false;
}

/* Converts the bias to the library's layout. */
static bool take_bias(product *p, PyObject *bias) {
  PyArrayObject *x;
  if (bias == Py_None) return true;
  x = array_anywhere(p, bias);
  if (x && (PyArray_NDIM(x) != 1 || PyArray_DIM(x, 0) != columns_of(p->operand[B]))) {
    PyObject *shape = array_shape(x);
    if (shape)
      PyErr_Format(PyExc_ValueError, "bias is %S, but b has %zd columns", shape, (Py_ssize_t)columns_of(p->operand[B]));
    Py_XDECREF(shape);
    Py_CLEAR(x);
  }
  if (x && p->on_device && (!is_encoded(x, "bias", SMMA_F32) || !PyArray_IS_C_CONTIGUOUS(x))) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "bias: on a device it must lie without gaps");
    Py_CLEAR(x);
  }
  if (x && !p->on_device) x = array_of_numbers(x, "bias");
  x = x ? array_as(x, "bias", SMMA_F32, SMMA_ROUND_NEAREST_EVEN) : NULL;
  p->bias = x ? PyArray_GETCONTIGUOUS(x) : NULL;
  Py_XDECREF(x);
  if (p->bias) p->with.bias = PyArray_DATA(p->bias);
  return p->bias != NULL;
}

static void release_operands(product *p) {
  smma_plan_free(p->own_plan);
  p->own_plan = NULL;
  Py_CLEAR(p->bias);
  Py_CLEAR(p->metadata);
  for (int i = 0; i < OPERANDS; i++) Py_CLEAR(p->operand[i]);
}

static PyObject *multiplied(product *p) {
  return find_batch(p) && encode_operands(p) && shape_c(p) && lay_out_operands(p) && join_rows(p) && make_result(p) &&
                 compute(p)
             ? give_result(p)
             : NULL;
}

/* Reads the arguments of matmul and multiplier; for a multiplier A, C and A's scale factors are None. */
static bool read_arguments(PyObject *arguments, product *p, PyObject *object[OPERANDS], choice *x, PyObject **bias) {
  Py_ssize_t split_k, promote_every;
  PyObject *plan;
  const char *scaling;
  smma_gemm_defaults(&p->with, sizeof p->with);
  if (!PyArg_ParseTuple(arguments, "OOOOOOOOOddznnOOdizz", &object[A], &object[B], &object[C], &x->on, &x->instr,
                        &x->in, &x->out, &object[SCALE_A], &object[SCALE_B], &p->with.alpha, &p->with.beta, &scaling,
                        &split_k, &promote_every, &plan, bias, &p->with.scale_d, &p->with.threads, &p->with.kernel,
                        &p->round_in))
    return false;
  if (!array_is_no_unit(object[C]) || !check_numbers(p, split_k, promote_every) ||
      !choose_scaling(scaling, &p->with.scaling))
    return false;
  p->with.split_k = (size_t)split_k, p->with.promote_every = (size_t)promote_every;
  p->with.threads = threads_allowed(p->with.threads);
  if (!plan_of(plan, &p->with.plan)) return false;
  return p->with.plan ? check_plan(p, object, *bias) : check_no_plan(p, *bias);
}

PyObject *python_matmul(PyObject *module, PyObject *arguments) {
  PyObject *object[OPERANDS] = {[D] = Py_None}, *bias, *result = NULL;
  product p = {.axes = 0};
  choice x = {.rounded = NULL};
  (void)module;
  if (!read_arguments(arguments, &p, object, &x, &bias)) return NULL;
  if (find_place(&p, object, bias) && take_arrays(&p, object) && choose(&p, &x) && check_scales(&p) &&
      take_bias(&p, bias))
    result = multiplied(&p);
  release_operands(&p);
  return result;
}

/* Reads the metadata: a byte for each stored element of A, its position in the group. */
static bool take_metadata(product *p, PyObject *metadata, PyObject *a) {
  PyArrayObject *of_a = array_of(a);
  const bool fits = of_a && PyArray_Check(metadata) && PyArray_TYPE((PyArrayObject *)metadata) == NPY_UINT8 &&
                    PyArray_IS_C_CONTIGUOUS((PyArrayObject *)metadata) && PyArray_NDIM(of_a) <= 2 &&
                    PyArray_SAMESHAPE((PyArrayObject *)metadata, of_a);
  if (of_a && !fits)
    PyErr_SetString(PyExc_ValueError, "metadata: it must have the shape of a, of one or two axes, without a batch");
  Py_XDECREF(of_a);
  if (fits) p->metadata = (PyArrayObject *)Py_NewRef(metadata);
  return fits;
}

/* Computes the product of a sparse A, from the metadata and the arguments of matmul. */
PyObject *python_sparse_matmul(PyObject *module, PyObject *arguments) {
  PyObject *object[OPERANDS] = {[D] = Py_None}, *bias, *metadata, *rest, *result = NULL;
  product p = {.axes = 0};
  choice x = {.rounded = NULL};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO!", &metadata, &PyTuple_Type, &rest)) return NULL;
  if (!read_arguments(rest, &p, object, &x, &bias) || !take_metadata(&p, metadata, object[A])) return NULL;
  if (take_arrays(&p, object) && PyArray_NDIM(p.operand[B]) > 2)
    PyErr_SetString(PyExc_ValueError, "b: a sparse product is of two matrices, not of a batch of them");
  if (!PyErr_Occurred() && choose(&p, &x) && check_scales(&p) && take_bias(&p, bias)) result = multiplied(&p);
  release_operands(&p);
  return result;
}

/* Returns (bounds, the instruction's name, whether a rounding mode can change A or B, D's format), from the format that
   results are stored in and the arguments of matmul. */
PyObject *python_bound(PyObject *module, PyObject *arguments) {
  PyObject *object[OPERANDS] = {[D] = Py_None}, *result = NULL, *rest, *bias, *bounds;
  product p = {.bounds = true};
  const char *stored;
  choice x = {.rounded = NULL};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "zO!", &stored, &PyTuple_Type, &rest)) return NULL;
  if (!read_arguments(rest, &p, object, &x, &bias)) return NULL;
  p.stored = stored ? smma_format_find(stored) : SMMA_NO_FORMAT;
  if (take_arrays(&p, object) && choose(&p, &x) && check_scales(&p) && take_bias(&p, bias) && (bounds = multiplied(&p)))
    result =
        Py_BuildValue("(NsNs)", bounds, p.instruction->name, PyBool_FromLong(p.rounds_operands), smma_format_text(p.d));
  release_operands(&p);
  return result;
}

/* ---- Targets of studies ---- */

struct target_products {
  size_t count;
  product product[SMMA_MOST_TARGETS];
  choice choice[SMMA_MOST_TARGETS];
};

/* Reads two matrices in the instruction's formats, or no matrices for generated data. */
static bool take_matrices(product *p, PyObject *const object[OPERANDS], PyObject *bias, const choice *x) {
  const array_formats open = {.a = SMMA_NO_FORMAT, .b = SMMA_NO_FORMAT};
  const void *data[OPERANDS];
  if (object[A] == Py_None && object[B] == Py_None) return (p->instruction = choose_instruction(x, &open));
  if (!take_arrays(p, object) || !choose(p, x) || !check_scales(p) || !take_bias(p, bias) || !find_batch(p))
    return false;
  if (p->axes) {
    PyErr_SetString(PyExc_ValueError, "a, b: a study is of two matrices, not of a batch of them");
    return false;
  }
  if (!encode_operands(p) || !shape_c(p) || !lay_out_operands(p)) return false;
  describe_matrices(p);
  for (int n = 0; n < OPERANDS; n++) data[n] = p->operand[n] ? PyArray_DATA(p->operand[n]) : NULL;
  p->with.a = data[A], p->with.b = data[B], p->with.c = data[C];
  p->with.scale_a = data[SCALE_A], p->with.scale_b = data[SCALE_B];
  return true;
}

static bool take_target(PyObject *given, product *p, choice *x, smma_product_target *target) {
  PyObject *object[OPERANDS] = {[D] = Py_None}, *bias, *rest;
  int rounding;
  *target = (smma_product_target){NULL};
  p->completed = true;
  if (!PyArg_ParseTuple(given, "szO!;a target is (label, plan, arguments of matmul)", &target->label, &target->plan,
                        &PyTuple_Type, &rest) ||
      !read_arguments(rest, p, object, x, &bias) || !take_matrices(p, object, bias, x))
    return false;
  rounding = operand_rounding_named(p->round_in, p->instruction, p->with.plan, p->instruction->a);
  if (rounding < 0) return false;
  p->with.progress = see_interrupt;
  target->instruction = p->instruction, target->rounding = (smma_rounding)rounding, target->product = p->with;
  target->shows_rounding = p->round_in != NULL;
  return true;
}

bool take_targets(PyObject *list, smma_product_target target[SMMA_MOST_TARGETS], target_products **products) {
  const Py_ssize_t count = PyTuple_Size(list);
  bool taken = count >= 0, shows_rounding = false;
  *products = NULL;
  if (count > SMMA_MOST_TARGETS) {
    PyErr_Format(PyExc_ValueError, "on: more than %d targets", SMMA_MOST_TARGETS);
    return false;
  }
  if (taken && !(*products = PyMem_Calloc(1, sizeof **products))) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; taken && i < count; i++) {
    PyObject *given = PyTuple_GetItem(list, i);
    (*products)->count++;
    taken = PyTuple_Check(given) && take_target(given, &(*products)->product[i], &(*products)->choice[i], &target[i]);
    if (!taken && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a target is a tuple");
    if (taken) shows_rounding |= target[i].shows_rounding;
  }
  for (Py_ssize_t i = 0; taken && i < count; i++) target[i].shows_rounding = shows_rounding;
  if (!taken) release_targets(*products), *products = NULL;
  return taken;
}

void release_targets(target_products *products) {
  for (size_t i = 0; products && i < products->count; i++) release_operands(&products->product[i]);
  PyMem_Free(products);
}

PyObject *target_chosen(const target_products *products, size_t target) {
  return chosen_object(&products->choice[target], products->product[target].instruction);
}

/* ---- Multipliers ---- */

static const char multiplier_name[] = "softmma.multiplier";

static void release_multiplier(PyObject *capsule) {
  smma_multiplier_free(PyCapsule_GetPointer(capsule, multiplier_name));
}

/* Reads B and its scale factors. Until an instruction is chosen, matrices without rows and with B's dtypes take the
   places of A and its scale factors. */
static bool take_b(product *p, PyObject *const object[OPERANDS]) {
  static const int of_b[] = {B, SCALE_B}, of_a[] = {A, SCALE_A};
  if (!array_is_given(object[B], names[B])) return false;
  for (int i = 0; i < 2; i++) {
    PyArrayObject **x = &p->operand[of_b[i]];
    if (object[of_b[i]] == Py_None) continue;
    if (!(*x = array_of(object[of_b[i]]))) return false;
    if (PyArray_NDIM(*x) != 2) {
      PyErr_Format(PyExc_ValueError, "%s: %d axes; a multiplier keeps a matrix, which has two", names[of_b[i]],
                   PyArray_NDIM(*x));
      return false;
    }
    Py_INCREF(PyArray_DESCR(*x));
    p->operand[of_a[i]] = (PyArrayObject *)outline(0, rows_of(*x), PyArray_DESCR(*x));
    if (!p->operand[of_a[i]]) return false;
  }
  return true;
}

static bool forget_a(product *p) {
  Py_CLEAR(p->operand[A]);
  Py_CLEAR(p->operand[SCALE_A]);
  return true;
}

static smma_multiplier *make_multiplier(product *p) {
  smma_gemm_arguments *g = &p->with;
  smma_multiplier *multiplier;
  PyThreadState *thread;
  smma_status status;
  g->k = (size_t)rows_of(p->operand[B]), g->n = (size_t)columns_of(p->operand[B]);
  layout_of(p->operand[B], &g->order_b, &g->ldb);
  g->b = PyArray_DATA(p->operand[B]), g->scale_b = p->operand[SCALE_B] ? PyArray_DATA(p->operand[SCALE_B]) : NULL;
  thread = PyEval_SaveThread();
  status = smma_multiplier_create(p->instruction, g, &multiplier);
  PyEval_RestoreThread(thread);
  if (status != SMMA_OK) fail_product(p, status);
  return multiplier;
}

/* Returns the name of the rounding mode of a multiplier's A, or NULL if A has block scale factors, which have their own
   rule. */
static const char *rounding_of_a(const product *p) {
  const smma_instruction *i = p->instruction;
  if (i->scale_block) return NULL;
  return smma_roundings[operand_rounding_named(p->round_in, i, p->with.plan, i->a)];
}

/* Returns (multiplier, instruction as chosen_object gives it, K, N, bytes, rounding mode of A, whether formats are
   named). */
PyObject *python_multiplier(PyObject *module, PyObject *arguments) {
  PyObject *object[OPERANDS] = {[D] = Py_None}, *bias, *result = NULL;
  product p = {.axes = 0};
  smma_multiplier *multiplier = NULL;
  choice x = {.rounded = NULL};
  (void)module;
  if (!read_arguments(arguments, &p, object, &x, &bias)) return NULL;
  if (take_b(&p, object) && choose(&p, &x) && check_scales(&p) && take_bias(&p, bias) && forget_a(&p) &&
      encode_operands(&p) && lay_out_operands(&p))
    multiplier = make_multiplier(&p);
  if (multiplier)
    result =
        Py_BuildValue("(NNnnnzN)", PyCapsule_New(multiplier, multiplier_name, release_multiplier),
                      chosen_object(&x, p.instruction), (Py_ssize_t)multiplier->with.k, (Py_ssize_t)multiplier->with.n,
                      (Py_ssize_t)smma_multiplier_bytes(multiplier), rounding_of_a(&p), PyBool_FromLong(p.named));
  release_operands(&p);
  return result;
}

static PyObject *outline_of_b(const smma_multiplier *multiplier, const smma_instruction *i) {
  return outline((npy_intp)multiplier->with.k, (npy_intp)multiplier->with.n, array_dtype_of(i->b));
}

static PyObject *outline_of_scale_b(const smma_multiplier *multiplier, const smma_instruction *i) {
  const smma_scales scales = smma_scales_from(multiplier->part_k, (size_t)i->scale_block, i->scale);
  return scales.each ? outline((npy_intp)smma_scales_along(scales, multiplier->with.k), (npy_intp)multiplier->with.n,
                               array_dtype_of(scales.format))
                     : Py_NewRef(Py_None);
}

static bool takes_c(const smma_multiplier *multiplier) {
  for (size_t i = 0; i < multiplier->epilogues; i++)
    if (multiplier->epilogue[i].kind == SMMA_EPILOGUE_LINEAR || multiplier->epilogue[i].kind == SMMA_EPILOGUE_BETA)
      return true;
  return multiplier->starts_from_c;
}

/* Computes the product by a multiplier, for the Instruction that it was made for. */
PyObject *python_multiplier_matmul(PyObject *module, PyObject *arguments) {
  PyObject *object[OPERANDS] = {[D] = Py_None}, *capsule, *instruction, *result = NULL;
  product p = {.axes = 0};
  const smma_multiplier *kept;
  smma_multiplier multiplier;
  int named;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOOOzp", &capsule, &instruction, &object[A], &object[C], &object[SCALE_A],
                        &p.round_in, &named))
    return NULL;
  p.named = named;
  kept = PyCapsule_GetPointer(capsule, multiplier_name);
  if (!kept) return NULL;
  multiplier = *kept;
  multiplier.with.threads = threads_allowed(multiplier.with.threads);
  multiplier.with.progress = see_interrupt;
  p.multiplier = &multiplier, p.instruction = instruction_of(instruction);
  if (!p.instruction) return NULL;
  if (object[C] != Py_None && !takes_c(&multiplier)) {
    PyErr_SetString(PyExc_ValueError, "c: the multiplier's plan has no place for it; leave it out");
    return NULL;
  }
  object[B] = outline_of_b(&multiplier, p.instruction),
  object[SCALE_B] = outline_of_scale_b(&multiplier, p.instruction);
  if (object[B] && object[SCALE_B] && take_arrays(&p, object) && check_scales(&p)) result = multiplied(&p);
  Py_XDECREF(object[B]);
  Py_XDECREF(object[SCALE_B]);
  release_operands(&p);
  return result;
}
