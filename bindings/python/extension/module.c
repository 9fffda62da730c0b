/* softmma._core: the functions that the Python package calls. */
#define SMMA_PYTHON_MODULE
#include "binding.h"
#include "host/cpu.h"

#ifdef _OPENMP
#include <omp.h>
#endif

PyObject *fail_with_status(smma_status status) {
  if (status == SMMA_NO_MEMORY) return PyErr_NoMemory();
  if (status != SMMA_STOPPED) PyErr_SetString(PyExc_ValueError, smma_status_text(status));
  return NULL;
}

PyObject *fail_with_error(const smma_error *error) {
  if (error->status == SMMA_NO_MEMORY || error->status == SMMA_STOPPED) return fail_with_status(error->status);
  PyErr_SetString(error->status == SMMA_DEVICE_FAILED ? PyExc_RuntimeError : PyExc_ValueError, error->text);
  return NULL;
}

static bool forked; /* this process is the child of a fork, and the parent may have had threads */

int threads_allowed(int threads) { return forked ? 1 : threads; }

PyObject *python_forked(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  forked = true;
#ifdef _OPENMP
  omp_set_num_threads(1); /* for loops without a requested number of threads */
#endif
  Py_RETURN_NONE;
}

/* Sets the number of threads, 1 or more, of this thread's later loops without a requested number, and returns the
   previous number. After a fork the number stays 1. */
static PyObject *python_limit_threads(PyObject *module, PyObject *threads) {
  const long count = PyLong_AsLong(threads);
  long before = 1;
  (void)module;
  if (PyErr_Occurred()) return NULL;
#ifdef _OPENMP
  before = omp_get_max_threads();
  if (!forked) omp_set_num_threads((int)count);
#endif
  return PyLong_FromLong(before);
}

static PyObject *version(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  return PyUnicode_FromString(smma_version());
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, NULL},
    {"forked", python_forked, METH_NOARGS, NULL},
    {"limit_threads", python_limit_threads, METH_O, NULL},
    {"register_instruction_type", python_register_instruction_type, METH_O, NULL},
    {"gpus", python_gpus, METH_NOARGS, NULL},
    {"formats", python_formats, METH_NOARGS, NULL},
    {"block_formats", python_block_formats, METH_NOARGS, NULL},
    {"format", python_format, METH_O, NULL},
    {"dtype", python_dtype, METH_O, NULL},
    {"gpus_of", python_gpus_of, METH_VARARGS, NULL},
    {"catalogue", python_catalogue, METH_VARARGS, NULL},
    {"find_instruction", python_find_instruction, METH_VARARGS, NULL},
    {"choose", python_choose, METH_VARARGS, NULL},
    {"names_formats", python_names_formats, METH_VARARGS, NULL},
    {"numbers", python_numbers, METH_VARARGS, NULL},
    {"split_target", python_split_target, METH_O, NULL},
    {"describe", python_describe, METH_O, NULL},
    {"aliases", python_aliases, METH_O, NULL},
    {"custom", python_custom, METH_VARARGS, NULL},
    {"custom_text", python_custom_text, METH_O, NULL},
    {"rtl_text", python_rtl_text, METH_VARARGS, NULL},
    {"plan", python_plan, METH_VARARGS, NULL},
    {"plan_text", python_plan_text, METH_O, NULL},
    {"library_plan", python_library_plan, METH_VARARGS, NULL},
    {"plan_libraries", python_plan_libraries, METH_NOARGS, NULL},
    {"device_view", python_device_view, METH_VARARGS, NULL},
    {"device_read", python_device_read, METH_VARARGS, NULL},
    {"device_write", python_device_write, METH_VARARGS, NULL},
    {"from_dlpack", python_from_dlpack, METH_O, NULL},
    {"to_dlpack", python_to_dlpack, METH_VARARGS, NULL},
    {"matmul", python_matmul, METH_VARARGS, NULL},
    {"sparse_matmul", python_sparse_matmul, METH_VARARGS, NULL},
    {"multiplier", python_multiplier, METH_VARARGS, NULL},
    {"multiplier_matmul", python_multiplier_matmul, METH_VARARGS, NULL},
    {"bound", python_bound, METH_VARARGS, NULL},
    {"decode", python_decode, METH_VARARGS, NULL},
    {"trace", python_trace, METH_VARARGS, NULL},
    {"compare", python_compare, METH_VARARGS, NULL},
    {"tolerance", python_tolerance, METH_VARARGS, NULL},
    {"sweep", python_sweep, METH_VARARGS, NULL},
    {"sweep_is_accurate", python_sweep_is_accurate, METH_O, NULL},
    {"targets", python_targets, METH_VARARGS, NULL},
    {"dot", python_dot, METH_VARARGS, NULL},
    {"dot_flags", python_dot_flags, METH_VARARGS, NULL},
    {"coverage", python_coverage, METH_VARARGS, NULL},
    {"coverage_files", python_coverage_files, METH_VARARGS, NULL},
    {"rows", python_rows, METH_VARARGS, NULL},
    {"explain", python_explain, METH_VARARGS, NULL},
    {"explain_planned", python_explain_planned, METH_VARARGS, NULL},
    {"operand_rounding", python_operand_rounding, METH_VARARGS, NULL},
    {"round", python_round, METH_VARARGS, NULL},
    {"round_stochastically", python_round_stochastically, METH_VARARGS, NULL},
    {"quantize", python_quantize, METH_VARARGS, NULL},
    {"swizzle", python_swizzle, METH_VARARGS, NULL},
    {"operand", python_operand, METH_VARARGS, NULL},
    {"weight", python_weight, METH_VARARGS, NULL},
    {"operand_scale", python_operand_scale, METH_VARARGS, NULL},
    {"hadamard", python_hadamard, METH_VARARGS, NULL},
    {"same_lines", python_same_lines, METH_VARARGS, NULL},
    {"probe", python_probe, METH_VARARGS, NULL},
    {"diff", python_diff, METH_VARARGS, NULL},
    {"differences", python_differences, METH_VARARGS, NULL},
    {"equal", python_equal, METH_VARARGS, NULL},
    {"unit_order", python_unit_order, METH_VARARGS, NULL},
    {"self_test", python_self_test, METH_NOARGS, NULL},
    {"facts", python_facts, METH_O, NULL},
    {"gpu", python_gpu, METH_O, NULL},
    {"format_facts", python_format_facts, METH_O, NULL},
    {"instruction_value", python_instruction_value, METH_O, NULL},
    {"gen", python_gen, METH_VARARGS, NULL},
    {"convert", python_convert, METH_VARARGS, NULL},
    {"experiment", python_experiment, METH_VARARGS, NULL},
    {"campaign", python_campaign, METH_VARARGS, NULL},
    {"run_open_questions", python_ask, METH_VARARGS, NULL},
    {"merge", python_merge, METH_O, NULL},
    {"verify", python_verify, METH_VARARGS, NULL},
    {"record", python_record, METH_VARARGS, NULL},
    {"recording_value", python_recording_value, METH_O, NULL},
    {"recording_write", python_recording_write, METH_VARARGS, NULL},
    {"row_kind", python_row_kind, METH_O, NULL},
    {"next", python_next, METH_VARARGS, NULL},
    {"match", python_match, METH_VARARGS, NULL},
    {"gemm", python_gemm, METH_VARARGS, NULL},
    {"infer", python_infer, METH_VARARGS, NULL},
    {"tree", python_tree, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "softmma._core", .m_size = -1,
                                 .m_methods = functions};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void) {
  import_array();
  if (smma_cpu_complaint()) return PyErr_SetString(PyExc_ImportError, smma_cpu_complaint()), NULL;
  watch_units();
  return array_learn_dtypes() ? PyModule_Create(&definition) : NULL;
}
