/* What the parts of the Python extension share: CPython's stable ABI, NumPy's arrays, the library. A function that
   returns NULL or false has set a Python exception, unless it says otherwise. */
#ifndef SMMA_PYTHON_BINDING_H
#define SMMA_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#define PY_ARRAY_UNIQUE_SYMBOL softmma_numpy
#ifndef SMMA_PYTHON_MODULE /* the file that imports NumPy's functions for all */
#define NO_IMPORT_ARRAY
#endif
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdbool.h>

#include "compare/target.h"
#include "datum/datum.h"
#include "isa/instruction.h"
#include "product/take.h"
#include "softmma/softmma.h"
#include "unit/unit.h"

enum { MOST_AXES = 64 };

/* The exception of a status that is not SMMA_OK; for SMMA_STOPPED one is set already. Returns NULL. */
PyObject *fail_with_status(smma_status status);

/* Raises the exception of an error, with its text: a RuntimeError of a device that fails. NULL. */
PyObject *fail_with_error(const smma_error *error);

/* What a study has found as Python's objects: dict, list, str, int, float, bool and None. A new reference. Takes over
   the datum, whose missing memory is a MemoryError. */
PyObject *value_from(smma_datum *datum);

/* Notes into a list of texts, which `notes.context` is until list_of_notes takes it. */
smma_notes listed_notes(void);
PyObject *list_of_notes(smma_notes *notes);

/* MemoryError without memory, else ValueError with the error's text, in which options of the command ("--round-in")
   become the names of arguments ("round_in"); nothing if there is an exception already. NULL. */
PyObject *fail_with(const smma_error *error);

/* How many threads a product may have that was asked for `threads`: OpenMP does not survive fork. */
int threads_allowed(int threads);

/* ---- Arrays (array.c) ---- */

/* Learns which dtypes of NumPy and ml_dtypes are which formats. */
bool array_learn_dtypes(void);

/* The dtype whose elements are a format's encodings: a new reference. */
PyArray_Descr *array_dtype_of(smma_format format);

/* Whether one dtype holds the encodings of both. */
bool array_same_dtype(smma_format one, smma_format other);

/* SMMA_NO_FORMAT, without an exception, for a dtype that is none. */
smma_format array_format_of(const PyArrayObject *array);

/* The format that a name, a dtype or a scalar type means; SMMA_NO_FORMAT with an exception. `what` names the argument.
 */
smma_format array_format_named(PyObject *object, const char *what);

/* Anything that NumPy makes an array of, in native byte order; an array itself where it is so already. */
PyArrayObject *array_of(PyObject *object);

/* Reports whether an operand that must be there is one: false with an exception for None. `what` names it. */
bool array_is_given(PyObject *object, const char *what);

/* The array's values as encodings of `format`, rounded where it has others; an unsigned array of the width of a format
   that is no integer holds encodings already. No copy where there is nothing to round. Takes over `array`. */
PyArrayObject *array_as(PyArrayObject *array, const char *what, smma_format format, smma_rounding rounding);

/* Its values rounded by the caller's rules, with a warning of what is lost unless `quiet`; an unsigned array holds
   numbers like any other. Takes over `array`. */
PyArrayObject *array_rounded(PyArrayObject *array, const char *what, smma_format format, smma_rounding rounding,
                             smma_overflow overflow, bool quiet);

/* The shape of the arrays' leading axes, all but the last `own` of each, broadcast together as NumPy does. NULL
   entries are left out. Returns the number of axes, or -1. */
int array_broadcast(PyArrayObject *const *arrays, const char *const *names, const int *own, int count,
                    npy_intp shape[MOST_AXES]);

/* The array broadcast to a shape: itself, or a dense copy. Takes over `array`. */
PyArrayObject *array_spread(PyArrayObject *array, const char *what, int axes, const npy_intp *shape);

/* The shape as Python prints it: a new reference. */
PyObject *array_shape(PyArrayObject *array);

/* The rounding mode of a name ("nearest-away"); -1 with an exception, in which `what` names the argument. */
int rounding_named(const char *what, const char *name);

/* How the values of operand A, or B, of `format` are rounded: as `name` says, or without it (NULL) by the plan or the
   instruction's library. -1 with an exception. */
int operand_rounding_named(const char *name, const smma_instruction *instruction, const smma_plan *plan,
                           smma_format format);

/* Whether a format's encodings are what the array's elements hold: nothing is rounded. */
bool array_holds(const PyArrayObject *array, smma_format format);

/* An array of one or two axes as a matrix, for studies: `*array`, a new reference, holds its elements. Unsigned
   elements as wide as the format that is named (SMMA_NO_FORMAT: none is) are its encodings; otherwise the dtype says
   what they are. `what` names the argument, which may be None: then there is no such matrix. */
bool array_source(PyObject *object, const char *what, smma_format named, PyArrayObject **array, smma_source *source);

/* ---- Arrays in a device's memory (device.c) ---- */

/* Whether an object is an array that describes memory of a device, which the host must not touch. */
bool array_is_on_device(PyObject *object);

/* A new one, dense, in memory of its own on the device of that name. Takes over `dtype`. */
PyArrayObject *array_allocate_on(const char *device, int axes, const npy_intp *shape, PyArray_Descr *dtype);

/* ---- Instructions (instruction.c) ---- */

/* What chooses an instruction. on: a GPU's name or an Instruction; instr: a name, an Instruction or None; in: a
   format, a pair of formats for A and B, or None; out: a format or None. */
typedef struct {
  PyObject *on, *instr, *in, *out;
} choice;

/* The formats where the choice leaves them open: those of the arrays, SMMA_NO_FORMAT where they have none. */
typedef struct {
  smma_format a, b;
  bool scaled; /* there are scale factors: then */
  smma_format scale;
  npy_intp k, scale_blocks; /* K, and factors along it */
} array_formats;

/* Reads the input formats from `in`: a format for A and B, a pair, or a block-scaled format. None keeps `formats`. */
bool formats_of_inputs(PyObject *in, smma_formats *formats);

const smma_instruction *choose_instruction(const choice *choice, const array_formats *arrays);

/* What was chosen, for Python: the Instruction that the choice names, or a handle. A new reference. */
PyObject *chosen_object(const choice *choice, const smma_instruction *chosen);

/* The architecture of a GPU's name; SMMA_ARCH_COUNT with an exception. */
smma_arch_id arch_of(PyObject *gpu);

/* The library's instruction of a Python Instruction. */
const smma_instruction *instruction_of(PyObject *object);

/* An instruction's handle, which does not own it: a new reference. */
PyObject *handle_of(const smma_instruction *instruction);

/* A number where the text is one, else the text. */
PyObject *parameter_value(const char *text);

/* ---- Targets of studies (matmul.c) ---- */

/* What holds the arrays of targets' products. */
typedef struct target_products target_products;

/* Takes a tuple of (label, plan's text or None, arguments of matmul) with two matrices each, or None for both. Their
   products stop with Control-C. False with an exception; else release_targets behind the study. */
bool take_targets(PyObject *list, smma_product_target target[SMMA_MOST_TARGETS], target_products **products);
void release_targets(target_products *products);

/* Lets other threads of Python run while products are computed, until PyEval_RestoreThread. */
PyThreadState *suspend_targets(target_products *products);

/* A target's Instruction, or a handle of the one that was chosen: a new reference. */
PyObject *target_chosen(const target_products *products, size_t target);

/* ---- Plans (plan.c) ---- */

/* The library's plan of a handle; NULL for None. */
bool plan_of(PyObject *handle, const smma_plan **plan);

/* ---- Units (unit.c) ---- */

/* From here on other threads run, and units, between rows, see Control-C and functions' exceptions. */
typedef struct {
  PyThreadState *thread;
  bool watched;
} suspended;

suspended suspend_python(void);
bool resume_python(suspended before);

/* Between the two: what this thread's units do is to end, as there is an exception. */
void stop_units(void);

/* Once, when the module is made. */
void watch_units(void);

/* A function that computes d of rows, which must outlive the unit; a unit's name; None: the models. False with an
   exception, or with `error` alone. */
bool open_unit(PyObject *object, smma_unit *unit, smma_error *error);

/* `count` encodings as an array of the format's dtype: a new reference. */
PyObject *array_of_encodings(smma_format format, const uint64_t *encodings, npy_intp count);

/* A copy of what a batch has of one operand: (rows, columns), or with 0 columns (rows,). */
PyObject *array_of_batch(smma_format format, const void *data, size_t rows, int columns);

/* Copies of the first `number` rows: (a, b, c, d, scale factors of a, of b), the latter None without. */
PyObject *arrays_of_rows(const smma_rows *rows, size_t number);

/* ---- The module's functions: positional arguments, documented in softmma/_core.pyi ---- */

PyObject *python_register_instruction_type(PyObject *module, PyObject *type);
PyObject *python_gpus(PyObject *module, PyObject *none);
PyObject *python_formats(PyObject *module, PyObject *none);
PyObject *python_block_formats(PyObject *module, PyObject *none);
PyObject *python_format(PyObject *module, PyObject *object);
PyObject *python_dtype(PyObject *module, PyObject *object);
PyObject *python_catalogue(PyObject *module, PyObject *gpu);
PyObject *python_find_instruction(PyObject *module, PyObject *arguments);
PyObject *python_describe(PyObject *module, PyObject *handle);
PyObject *python_aliases(PyObject *module, PyObject *handle);
PyObject *python_custom(PyObject *module, PyObject *arguments);
PyObject *python_custom_text(PyObject *module, PyObject *handle);
PyObject *python_choose(PyObject *module, PyObject *arguments);
PyObject *python_plan(PyObject *module, PyObject *arguments);
PyObject *python_plan_text(PyObject *module, PyObject *handle);
PyObject *python_library_plan(PyObject *module, PyObject *arguments);
PyObject *python_plan_libraries(PyObject *module, PyObject *none);
PyObject *python_matmul(PyObject *module, PyObject *arguments);
PyObject *python_sparse_matmul(PyObject *module, PyObject *arguments);
PyObject *python_device_view(PyObject *module, PyObject *arguments);
PyObject *python_device_read(PyObject *module, PyObject *arguments);
PyObject *python_device_write(PyObject *module, PyObject *arguments);
PyObject *python_from_dlpack(PyObject *module, PyObject *capsule);
PyObject *python_to_dlpack(PyObject *module, PyObject *arguments);
PyObject *python_multiplier(PyObject *module, PyObject *arguments);
PyObject *python_multiplier_matmul(PyObject *module, PyObject *arguments);
PyObject *python_bound(PyObject *module, PyObject *arguments);
PyObject *python_trace(PyObject *module, PyObject *arguments);
PyObject *python_compare(PyObject *module, PyObject *arguments);
PyObject *python_tolerance(PyObject *module, PyObject *arguments);
PyObject *python_targets(PyObject *module, PyObject *arguments);
PyObject *python_dot(PyObject *module, PyObject *arguments);
PyObject *python_coverage(PyObject *module, PyObject *arguments);
PyObject *python_coverage_files(PyObject *module, PyObject *arguments);
PyObject *python_rows(PyObject *module, PyObject *arguments);
PyObject *python_explain(PyObject *module, PyObject *arguments);
PyObject *python_explain_planned(PyObject *module, PyObject *arguments);
PyObject *python_operand_rounding(PyObject *module, PyObject *arguments);
PyObject *python_round(PyObject *module, PyObject *arguments);
PyObject *python_quantize(PyObject *module, PyObject *arguments);
PyObject *python_operand(PyObject *module, PyObject *arguments);
PyObject *python_operand_scale(PyObject *module, PyObject *arguments);
PyObject *python_hadamard(PyObject *module, PyObject *arguments);
PyObject *python_same_lines(PyObject *module, PyObject *arguments);
PyObject *python_probe(PyObject *module, PyObject *arguments);
PyObject *python_diff(PyObject *module, PyObject *arguments);
PyObject *python_equal(PyObject *module, PyObject *arguments);
PyObject *python_unit_order(PyObject *module, PyObject *arguments);
PyObject *python_self_test(PyObject *module, PyObject *none);
PyObject *python_facts(PyObject *module, PyObject *name);
PyObject *python_instruction_value(PyObject *module, PyObject *object);
PyObject *python_gen(PyObject *module, PyObject *arguments);
PyObject *python_convert(PyObject *module, PyObject *arguments);
PyObject *python_experiment(PyObject *module, PyObject *arguments);
PyObject *python_campaign(PyObject *module, PyObject *arguments);
PyObject *python_ask(PyObject *module, PyObject *arguments);
PyObject *python_merge(PyObject *module, PyObject *reports);
PyObject *python_verify(PyObject *module, PyObject *arguments);
PyObject *python_record(PyObject *module, PyObject *arguments);
PyObject *python_recording_value(PyObject *module, PyObject *capsule);
PyObject *python_recording_write(PyObject *module, PyObject *arguments);
PyObject *python_next(PyObject *module, PyObject *arguments);
PyObject *python_match(PyObject *module, PyObject *arguments);
PyObject *python_gemm(PyObject *module, PyObject *arguments);
PyObject *python_infer(PyObject *module, PyObject *arguments);
PyObject *python_tree(PyObject *module, PyObject *arguments);
PyObject *python_forked(PyObject *module, PyObject *none);

#endif
