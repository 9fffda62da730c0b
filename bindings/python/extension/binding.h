/* Declarations shared by the parts of the Python extension: CPython's stable ABI, NumPy's arrays, the library. A
   function that returns NULL or false has set a Python exception, unless its comment says otherwise. */
#ifndef SMMA_PYTHON_BINDING_H
#define SMMA_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#define PY_ARRAY_UNIQUE_SYMBOL softmma_numpy
#ifndef SMMA_PYTHON_MODULE /* defined by the one file that imports NumPy's functions for all files */
#define NO_IMPORT_ARRAY
#endif
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdbool.h>

#include "compare/own.h"
#include "datum/datum.h"
#include "isa/instruction.h"
#include "product/take.h"
#include "rows/flags.h"
#include "softmma/softmma.h"
#include "unit/unit.h"

enum { MOST_AXES = 64 };

/* Raises the exception of a status other than SMMA_OK; for SMMA_STOPPED an exception is already set. Returns NULL. */
PyObject *fail_with_status(smma_status status);

/* Raises the exception of an error, with its text; a device that fails raises RuntimeError. Returns NULL. */
PyObject *fail_with_error(const smma_error *error);

/* Returns a study's result as Python objects: dict, list, str, int, float, bool and None. A new reference. Takes over
   the datum; a NULL datum means lack of memory and raises MemoryError. */
PyObject *value_from(smma_datum *datum);

/* Lines of drawings in texts have at most this length. */
enum { LINE_WIDTH = 120 };

/* Writes a text for people. Returns false if memory runs out. */
typedef bool text_writer(FILE *stream, const void *content);

/* Returns what `write` writes, to be freed, or NULL if memory runs out. Needs no lock of Python. */
char *written(text_writer *write, const void *content);

/* Returns a text as a Python text: a new reference. A long name may be cut within a character, which becomes U+FFFD.
   Takes over the text; NULL means lack of memory and raises MemoryError. */
PyObject *text_from(char *text);

/* Returns a Python text in UTF-8, which lives as long as the object. Returns NULL with an exception if the object is no
   text, or has a zero character, where C would end the text. */
const char *text_of(PyObject *object);

/* listed_notes returns notes that are collected in a list, which is `notes.context`. list_of_notes converts the list to
   Python, a new reference, frees it, and sets `notes.context` to NULL. */
smma_notes listed_notes(void);
PyObject *list_of_notes(smma_notes *notes);

/* Raises MemoryError if memory ran out, otherwise ValueError with the error's text. Options of the command in the text
   ("--round-in") become names of arguments ("round_in"). Keeps an exception that is already set. Returns NULL. */
PyObject *fail_with(const smma_error *error);

/* Returns the number of threads for a product that requests `threads`; 1 after a fork, where OpenMP fails. */
int threads_allowed(int threads);

/* ---- Arrays (array.c) ---- */

/* Looks up the dtypes of NumPy and ml_dtypes for all formats. */
bool array_learn_dtypes(void);

/* Returns the dtype whose elements are a format's encodings: a new reference. */
PyArray_Descr *array_dtype_of(smma_format format);

/* Reports whether two formats share a dtype for their encodings. */
bool array_same_dtype(smma_format one, smma_format other);

/* Returns the format of a dtype; SMMA_NO_FORMAT, without an exception, for a dtype that is not a format's. */
smma_format array_format_of(const PyArrayObject *array);

/* Returns the format that a name, a dtype or a scalar type denotes; SMMA_NO_FORMAT with an exception. `what` names the
   argument. */
smma_format array_format_named(PyObject *object, const char *what);

/* Returns an object as an array in native byte order, a new reference; an array in native byte order is returned
   itself. An array in a device's memory is an error. */
PyArrayObject *array_of(PyObject *object);

/* Reports whether a required operand is given: false with an exception for None. `what` names it. */
bool array_is_given(PyObject *object, const char *what);

/* Reports whether the argument C is not a text: false with TypeError, because a text was meant as `on`. */
bool array_is_no_unit(PyObject *object);

/* Returns the array's values as encodings of `format`, rounded if the format lacks them. An unsigned array as wide as a
   non-integer format already holds encodings. Copies only if something has to be rounded. Takes over `array`. */
PyArrayObject *array_as(PyArrayObject *array, const char *what, smma_format format, smma_rounding rounding);

/* Returns unsigned integers as numbers in float64, so that array_as does not take them for encodings; other arrays
   unchanged. Takes over `array`. */
PyArrayObject *array_of_numbers(PyArrayObject *array, const char *what);

/* Returns the array's values as encodings of `format`, as array_as does, but only if all of them are numbers of the
   format. Otherwise returns NULL without an exception, and sets `*changed` to the number of other values. NULL with an
   exception leaves `*changed` 0. Takes over `array`. */
PyArrayObject *array_exact(PyArrayObject *array, const char *what, smma_format format, size_t *changed);

/* A stochastic rounding, with a random word for each element in C order. */
typedef struct {
  smma_stochastic variant;
  int bits;
  const uint32_t *words;
} random_draws;

/* Returns the array's values rounded to `format`: stochastically if `draws` is not NULL, otherwise by `rounding`. Warns
   about losses unless `quiet`. An unsigned array holds numbers, not encodings. Takes over `array`. */
PyArrayObject *array_rounded(PyArrayObject *array, const char *what, smma_format format, smma_rounding rounding,
                             const random_draws *draws, smma_overflow overflow, bool quiet);

/* Sets `shape` to the shape to which NumPy broadcasts the arrays' leading axes (all but the last own[i] axes of
   arrays[i]). Skips NULL arrays. Returns the number of leading axes, or -1 with an exception, which names the arrays by
   `names`. */
int array_broadcast(PyArrayObject *const *arrays, const char *const *names, const int *own, int count,
                    npy_intp shape[MOST_AXES]);

/* Broadcasts the array to a shape: returns the array itself, or a dense copy. Takes over `array`. */
PyArrayObject *array_spread(PyArrayObject *array, const char *what, int axes, const npy_intp *shape);

/* Returns the shape as Python prints it: a new reference. */
PyObject *array_shape(PyArrayObject *array);

/* Returns the index of a name among the choices, a list that NULL ends, or -1 with an exception, in which `what` names
   the argument. */
int choice_named(const char *what, const char *name, const char *const *choices);

/* Returns the smma_overflow of a name ("saturate"), or -1 with an exception. */
int overflow_named(const char *name);

/* Returns the rounding mode of a name ("nearest-away"), or -1 with an exception, in which `what` names the argument. */
int rounding_named(const char *what, const char *name);

/* Returns the rounding mode for values of operand A or B of `format`: `name`, or if it is NULL that of the plan or the
   instruction's library. -1 with an exception. */
int operand_rounding_named(const char *name, const smma_instruction *instruction, const smma_plan *plan,
                           smma_format format);

/* Reports whether the array's elements already are encodings of the format, so that nothing is rounded. */
bool array_holds(const PyArrayObject *array, smma_format format);

/* Reads an array of one or two axes as a matrix, for studies: `*array`, a new reference, holds its elements. Unsigned
   elements as wide as the format `named` (SMMA_NO_FORMAT: none is named) are encodings of it; otherwise the dtype gives
   their format. `what` names the argument. If the argument is None, there is no such matrix. */
bool array_source(PyObject *object, const char *what, smma_format named, PyArrayObject **array, smma_source *source);

/* ---- Arrays in a device's memory (device.c) ---- */

/* Reports whether an object is an array that describes a device's memory, which the host must not access. */
bool array_is_on_device(PyObject *object);

/* Makes a dense array in new memory on the device of that name. Takes over `dtype`. */
PyArrayObject *array_allocate_on(const char *device, int axes, const npy_intp *shape, PyArray_Descr *dtype);

/* ---- Instructions (instruction.c) ---- */

/* The arguments that choose an instruction. on: a GPU's name or an Instruction; instr: a name, an Instruction or None;
   in: a format, a pair of formats for A and B, or None; out: a format or None. `rounded` receives the format that D is
   rounded to if no instruction has it (smma_resolve_rounded); NULL: that is an error. */
typedef struct {
  PyObject *on, *instr, *in, *out;
  smma_format *rounded;
} choice;

/* The arrays' formats, or SMMA_NO_FORMAT if the arrays have no format. They are used if the choice names no formats. */
typedef struct {
  smma_format a, b;
  bool scaled; /* there are scale factors, which the next members describe */
  smma_format scale;
  npy_intp k, scale_blocks; /* K, and the number of scale factors along K */
} array_formats;

/* Reads the input formats from `in`: a format for A and B, a pair, or a block-scaled format. None keeps `formats`. */
bool formats_of_inputs(PyObject *in, smma_formats *formats);

const smma_instruction *choose_instruction(const choice *choice, const array_formats *arrays);

/* Reports whether the choice names formats or an instruction, so that unsigned integers can be encodings. */
bool names_formats(const choice *choice);

/* Returns the Instruction that the choice names, or a handle of `chosen` if it names none. A new reference. */
PyObject *chosen_object(const choice *choice, const smma_instruction *chosen);

/* Returns the architecture of a GPU's name; SMMA_ARCH_COUNT with an exception. */
smma_arch_id arch_of(PyObject *gpu);

/* Returns the library's instruction of a Python Instruction, which must stay alive while the result is used. */
const smma_instruction *instruction_of(PyObject *object);

/* Returns a handle of an instruction, which does not own it: a new reference. */
PyObject *handle_of(const smma_instruction *instruction);

/* Converts a text to a number if it is one; otherwise returns the text. */
PyObject *parameter_value(const char *text);

/* ---- Targets of studies (matmul.c) ---- */

/* Holds references to the arrays of the targets' products, until release_targets. */
typedef struct target_products target_products;

/* Reads a tuple of targets into `target`. Each is (label, plan's text or None, arguments of matmul), whose A and B are
   matrices or both None. Between suspend_python and resume_python, Control-C stops the targets' products. Returns false
   with an exception; on success call release_targets after the study. */
bool take_targets(PyObject *list, smma_product_target target[SMMA_MOST_TARGETS], target_products **products);
void release_targets(target_products *products);

/* Returns a target's Instruction, or a handle of the chosen instruction: a new reference. */
PyObject *target_chosen(const target_products *products, size_t target);

/* ---- Results of the user's own (compare.c) ---- */

/* Reads a tuple of (name, array) into `own`, which it appends to, and `array`, whose references the caller releases in
   all cases. Each array is a result in the targets' format of D, of the shape of their products. Returns false with an
   exception. */
bool take_own_results(PyObject *owns, const smma_product_target *target, size_t targets, size_t most,
                      smma_own_result *own, size_t *count, PyArrayObject **array);

/* ---- Plans (plan.c) ---- */

/* Gets the library's plan of a handle; NULL for None. */
bool plan_of(PyObject *handle, const smma_plan **plan);

/* ---- Units (unit.c) ---- */

/* State saved by suspend_python. Between suspend_python and resume_python, other threads run, and units check between
   vectors for Control-C and exceptions of Python functions. resume_python returns false if there is an exception. */
typedef struct {
  PyThreadState *thread;
  bool watched;
} suspended;

suspended suspend_python(void);
bool resume_python(suspended before);

/* Implements smma_watcher: reports whether an exception, such as that of Control-C, has to end the work. Call it in the
   thread of suspend_python; in other threads it returns false. */
bool see_interrupt(size_t done, size_t all, void *context);

/* Ends the work of this thread's units after an exception; call it between suspend_python and resume_python. */
void stop_units(void);

/* Initialises the checks for Control-C; call it once, when the module is made. */
void watch_units(void);

/* Opens a unit. `object` is a function that computes D of vectors (it must outlive the unit), a unit's name, or None
   for the models. Returns false with an exception, or with only `error` set. */
bool open_unit(PyObject *object, smma_unit *unit, smma_error *error);

/* Returns `count` encodings as an array of the format's dtype: a new reference. */
PyObject *array_of_encodings(smma_format format, const uint64_t *encodings, npy_intp count);

/* Copies one operand of a batch to an array: (rows, columns), or (rows,) if `columns` is 0. */
PyObject *array_of_batch(smma_format format, const void *data, size_t rows, int columns);

/* Copies the first `number` vectors: (a, b, c, d, scale factors of a, of b); the scale factors are None if unused. */
PyObject *arrays_of_rows(const smma_rows *rows, size_t number);

/* ---- The module's functions: positional arguments, documented in softmma/_core.pyi ---- */

PyObject *python_register_instruction_type(PyObject *module, PyObject *type);
PyObject *python_gpus(PyObject *module, PyObject *none);
PyObject *python_formats(PyObject *module, PyObject *none);
PyObject *python_block_formats(PyObject *module, PyObject *none);
PyObject *python_format(PyObject *module, PyObject *object);
PyObject *python_dtype(PyObject *module, PyObject *object);
PyObject *python_gpus_of(PyObject *module, PyObject *arguments);
PyObject *python_catalogue(PyObject *module, PyObject *arguments);
PyObject *python_find_instruction(PyObject *module, PyObject *arguments);
PyObject *python_describe(PyObject *module, PyObject *handle);
PyObject *python_aliases(PyObject *module, PyObject *handle);
PyObject *python_custom(PyObject *module, PyObject *arguments);
PyObject *python_custom_text(PyObject *module, PyObject *handle);
PyObject *python_rtl_text(PyObject *module, PyObject *arguments);
PyObject *python_split_target(PyObject *module, PyObject *on);
PyObject *python_choose(PyObject *module, PyObject *arguments);
PyObject *python_names_formats(PyObject *module, PyObject *arguments);
PyObject *python_numbers(PyObject *module, PyObject *arguments);
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
PyObject *python_sweep(PyObject *module, PyObject *arguments);
PyObject *python_sweep_is_accurate(PyObject *module, PyObject *text);
PyObject *python_targets(PyObject *module, PyObject *arguments);
PyObject *python_dot(PyObject *module, PyObject *arguments);
PyObject *python_dot_flags(PyObject *module, PyObject *arguments);

/* Reads when a result counts as tiny: "before" or "after" rounding; NULL keeps the default. Returns false with an
   exception. */
bool tininess_named(const char *text, smma_tininess *tininess);
PyObject *python_coverage(PyObject *module, PyObject *arguments);
PyObject *python_coverage_files(PyObject *module, PyObject *arguments);
PyObject *python_rows(PyObject *module, PyObject *arguments);
PyObject *python_explain(PyObject *module, PyObject *arguments);
PyObject *python_explain_planned(PyObject *module, PyObject *arguments);
PyObject *python_operand_rounding(PyObject *module, PyObject *arguments);
PyObject *python_round(PyObject *module, PyObject *arguments);
PyObject *python_decode(PyObject *module, PyObject *arguments);
PyObject *python_round_stochastically(PyObject *module, PyObject *arguments);
PyObject *python_quantize(PyObject *module, PyObject *arguments);
PyObject *python_swizzle(PyObject *module, PyObject *arguments);
PyObject *python_operand(PyObject *module, PyObject *arguments);
PyObject *python_weight(PyObject *module, PyObject *arguments);
PyObject *python_operand_scale(PyObject *module, PyObject *arguments);
PyObject *python_hadamard(PyObject *module, PyObject *arguments);
PyObject *python_same_lines(PyObject *module, PyObject *arguments);
PyObject *python_probe(PyObject *module, PyObject *arguments);
PyObject *python_diff(PyObject *module, PyObject *arguments);
PyObject *python_differences(PyObject *module, PyObject *arguments);
PyObject *python_equal(PyObject *module, PyObject *arguments);
PyObject *python_unit_order(PyObject *module, PyObject *arguments);
PyObject *python_self_test(PyObject *module, PyObject *none);
PyObject *python_facts(PyObject *module, PyObject *name);
PyObject *python_gpu(PyObject *module, PyObject *gpu);
PyObject *python_format_facts(PyObject *module, PyObject *name);
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
PyObject *python_row_kind(PyObject *module, PyObject *name);
PyObject *python_next(PyObject *module, PyObject *arguments);
PyObject *python_match(PyObject *module, PyObject *arguments);
PyObject *python_gemm(PyObject *module, PyObject *arguments);
PyObject *python_infer(PyObject *module, PyObject *arguments);
PyObject *python_tree(PyObject *module, PyObject *arguments);
PyObject *python_forked(PyObject *module, PyObject *none);

#endif
