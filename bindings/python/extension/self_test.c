#include "selftest/self_test.h"

#include "binding.h"

/* Returns the result of the self-test as a dict. */
PyObject *python_self_test(PyObject *module, PyObject *none) {
  smma_self_test result;
  smma_error error = {SMMA_OK, ""};
  PyObject *value = NULL;
  suspended before = suspend_python();
  const bool done = smma_self_test_run(&smma_self_test_shipped, &result, &error);
  (void)module, (void)none;
  if (resume_python(before)) value = done ? value_from(smma_self_test_datum(&result)) : fail_with(&error);
  smma_self_test_free(&result);
  return value;
}
