#include "selftest/self_test.h"

#include "binding.h"

/* The lines of differences, which are appended with the GIL. */
static void tell(const char *line, void *list) {
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *text = PyUnicode_FromString(line);
  if (!text || PyList_Append(list, text) != 0) stop_units();
  Py_XDECREF(text);
  PyGILState_Release(gil);
}

/* (kernels, operations, outputs, recordings, rows, differences, all of it as a line) */
PyObject *python_self_test(PyObject *module, PyObject *none) {
  smma_self_test result;
  smma_error error = {SMMA_OK, ""};
  char line[512];
  PyObject *differences = PyList_New(0), *kernels = NULL, *all = NULL;
  suspended before;
  bool done;
  (void)module, (void)none;
  if (!differences) return NULL;
  before = suspend_python();
  done = smma_self_test_run(&smma_self_test_shipped, tell, differences, &result, &error);
  if (resume_python(before) && !done) PyErr_SetString(PyExc_RuntimeError, error.text);
  if (done && !PyErr_Occurred()) kernels = PyTuple_New((Py_ssize_t)result.kernels);
  for (size_t k = 0; kernels && k < result.kernels; k++)
    PyTuple_SetItem(kernels, (Py_ssize_t)k, PyUnicode_FromString(result.kernel[k]));
  if (kernels && !PyErr_Occurred()) {
    smma_self_test_text(&result, line, sizeof line);
    all = Py_BuildValue("(OnKnKOs)", kernels, (Py_ssize_t)result.operations, result.outputs,
                        (Py_ssize_t)result.recordings, result.rows, differences, line);
  }
  Py_XDECREF(kernels);
  Py_DECREF(differences);
  return all;
}
