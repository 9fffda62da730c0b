/* Plans: Python's handles of plans, and the plans of libraries. */
#include <stdlib.h>

#include "binding.h"

static const char capsule_name[] = "softmma.plan";

static void release(PyObject *capsule) { smma_plan_free(PyCapsule_GetPointer(capsule, capsule_name)); }

static PyObject *handle_or_complaint(smma_plan *plan, const smma_error *error) {
  if (plan) return PyCapsule_New(plan, capsule_name, release);
  PyErr_SetString(PyExc_ValueError, error->text);
  return NULL;
}

bool plan_of(PyObject *handle, const smma_plan **plan) {
  *plan = handle == Py_None ? NULL : PyCapsule_GetPointer(handle, capsule_name);
  return *plan || handle == Py_None;
}

PyObject *python_plan(PyObject *module, PyObject *arguments) {
  const char *origin, *text;
  Py_ssize_t size;
  smma_error error;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "ss#", &origin, &text, &size)) return NULL;
  return handle_or_complaint(smma_plan_parse(origin, text, (size_t)size, &error), &error);
}

PyObject *python_plan_text(PyObject *module, PyObject *handle) {
  const smma_plan *plan = PyCapsule_GetPointer(handle, capsule_name);
  const size_t length = plan ? smma_plan_text(plan, NULL, 0) : 0;
  char *text = plan ? malloc(length + 1) : NULL;
  PyObject *result;
  (void)module;
  if (!plan) return NULL;
  if (!text) return PyErr_NoMemory();
  smma_plan_text(plan, text, length + 1);
  result = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
  free(text);
  return result;
}

/* Makes a library's plan, from (name, Instruction or None, format of D or None, (M, N, K), cuBLASLt's nine numbers,
   fast, workspace or -1, epilogue, with C, A strided, B strided). */
PyObject *python_library_plan(PyObject *module, PyObject *arguments) {
  smma_plan_request r;
  PyObject *instruction, *d;
  Py_ssize_t m, n, k;
  int fast, with_c, a_strided, b_strided;
  smma_error error;
  (void)module;
  smma_plan_request_defaults(&r, sizeof r);
  if (!PyArg_ParseTuple(arguments, "sOO(nnn)(iiiiiiiii)pLippp", &r.name, &instruction, &d, &m, &n, &k, &r.algo, &r.tile,
                        &r.split_k, &r.reduction, &r.swizzle, &r.custom, &r.stages, &r.inner, &r.cluster, &fast,
                        &r.workspace, &r.epilogue, &with_c, &a_strided, &b_strided))
    return NULL;
  r.fast_accumulation = fast, r.with_c = with_c, r.a_strided = a_strided, r.b_strided = b_strided;
  if (m < 0 || n < 0 || k < 0) return PyErr_SetString(PyExc_ValueError, "m, n, k: a size is not negative"), NULL;
  r.m = (size_t)m, r.n = (size_t)n, r.k = (size_t)k;
  if (instruction != Py_None && !(r.instruction = instruction_of(instruction))) return NULL;
  if (d != Py_None && (r.d = array_format_named(d, "out_dtype")) == SMMA_NO_FORMAT) return NULL;
  return handle_or_complaint(smma_plan_for(&r, &error), &error);
}

PyObject *python_plan_libraries(PyObject *module, PyObject *none) {
  PyObject *list = PyList_New(0);
  (void)module, (void)none;
  for (size_t i = 0; list && smma_plan_library(i); i++) {
    PyObject *name = PyUnicode_FromString(smma_plan_library(i));
    if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}
