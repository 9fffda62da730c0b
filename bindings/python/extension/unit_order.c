/* Finds the order in which a unit sums, and the order of a product with a plan. */
#include "tree/unit_order.h"

#include <stdlib.h>

#include "binding.h"

static PyObject *find(const smma_unit_order_request *r) {
  smma_unit_order *order = calloc(1, sizeof *order);
  smma_error error = {SMMA_OK, ""};
  PyObject *value = NULL;
  suspended before;
  bool done;
  if (!order) return PyErr_NoMemory();
  before = suspend_python();
  done = smma_unit_answers(r->unit, r->instruction, &error) && smma_find_unit_order(r, order, &error);
  if (resume_python(before)) value = done ? value_from(smma_unit_order_datum(r, order)) : fail_with(&error);
  smma_unit_order_free(order);
  free(order);
  return value;
}

/* Returns the order as a dict, from (unit, Instruction, plan or None, its name or None, K). */
PyObject *python_unit_order(PyObject *module, PyObject *arguments) {
  PyObject *computing, *instruction, *plan, *value;
  smma_unit_order_request r;
  smma_unit unit;
  smma_error error = {SMMA_OK, ""};
  Py_ssize_t k;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOzn", &computing, &instruction, &plan, &r.plan_name, &k) ||
      !(r.instruction = instruction_of(instruction)) || !plan_of(plan, &r.plan))
    return NULL;
  if (!r.plan_name) r.plan_name = "plan";
  if (!open_unit(computing, &unit, &error)) return fail_with(&error);
  r.unit = &unit, r.k = k > 0 ? (size_t)k : 0;
  value = find(&r);
  smma_unit_close(&unit);
  return value;
}
