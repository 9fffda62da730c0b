/* Makes test vectors that reach an instruction's corner cases. */
#include "softmma/rows.h"

#include "binding.h"

enum { A, B, C, SCALE_A, SCALE_B, OPERANDS };

/* Returns (a, b, c, scale_a, scale_b) of vectors `first` to first + count - 1, with None for unused scale factors, from
   (instruction, kind or None, seed, first, count). */
PyObject *python_rows(PyObject *module, PyObject *arguments) {
  PyObject *instruction, *tuple;
  const smma_instruction *i;
  smma_row_request request;
  unsigned long long seed, first;
  Py_ssize_t count;
  smma_status status;
  (void)module;
  smma_row_request_defaults(&request, sizeof request);
  if (!PyArg_ParseTuple(arguments, "OzKKn", &instruction, &request.kind, &seed, &first, &count)) return NULL;
  i = instruction_of(instruction);
  if (!i) return NULL;
  tuple = PyTuple_New(OPERANDS);
  if (!tuple) return NULL;
  const smma_format format[OPERANDS] = {i->a, i->b, i->c, i->scale, i->scale};
  void **const data[OPERANDS] = {&request.a, &request.b, &request.c, &request.scale_a, &request.scale_b};
  for (int x = 0; x < OPERANDS; x++) {
    const npy_intp shape[] = {count, x < C ? i->k : x > C && i->scale_block ? i->k / i->scale_block : 1};
    PyObject *array = Py_None;
    if (x > C && !i->scale_block)
      Py_INCREF(array);
    else
      array =
          PyArray_NewFromDescr(&PyArray_Type, array_dtype_of(format[x]), x == C ? 1 : 2, shape, NULL, NULL, 0, NULL);
    if (!array) {
      Py_DECREF(tuple);
      return NULL;
    }
    if (array != Py_None) *data[x] = PyArray_DATA((PyArrayObject *)array);
    PyTuple_SetItem(tuple, x, array);
  }
  request.seed = seed, request.first = first, request.rows = (size_t)count;
  Py_BEGIN_ALLOW_THREADS;
  status = smma_make_rows(i, &request);
  Py_END_ALLOW_THREADS;
  if (status == SMMA_OK) return tuple;
  Py_DECREF(tuple);
  return fail_with_status(status), NULL;
}
