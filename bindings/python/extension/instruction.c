/* Instructions, GPUs and formats of the catalogue; choosing an instruction; custom units. */
#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "facts/facts.h"
#include "isa/catalogue.h"
#include "isa/find.h"
#include "isa/formats.h"
#include "softmma/rtl.h"
#include "softmma/sparse.h"

static const char capsule_name[] = "softmma.instruction";
static PyObject *instruction_type; /* softmma.Instruction; its handle is a capsule */

PyObject *python_register_instruction_type(PyObject *module, PyObject *type) {
  (void)module;
  Py_INCREF(type);
  Py_XDECREF(instruction_type);
  instruction_type = type;
  Py_RETURN_NONE;
}

/* ---- Handles ---- */

/* Frees the custom unit of a handle, which is the capsule's context; a handle of the catalogue has none. */
static void release(PyObject *capsule) { smma_custom_free(PyCapsule_GetContext(capsule)); }

PyObject *handle_of(const smma_instruction *instruction) {
  return PyCapsule_New((void *)instruction, capsule_name, release);
}

static const smma_instruction *from_handle(PyObject *capsule) { return PyCapsule_GetPointer(capsule, capsule_name); }

static bool is_instruction(PyObject *object) { return PyObject_IsInstance(object, instruction_type) == 1; }

/* Returns the library's instruction of an Instruction object. The object keeps the instruction alive, so the caller
   must keep the object. */
const smma_instruction *instruction_of(PyObject *object) {
  PyObject *capsule = is_instruction(object) ? PyObject_GetAttrString(object, "_handle") : NULL;
  const smma_instruction *instruction = capsule ? from_handle(capsule) : NULL;
  if (!capsule && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%R is not an Instruction", object);
  Py_XDECREF(capsule);
  return instruction;
}

/* ---- Lists ---- */

/* Returns (name, architecture, title, vendor) for every name that `on` takes. */
PyObject *python_gpus(PyObject *module, PyObject *none) {
  PyObject *list = PyList_New(0);
  (void)module, (void)none;
  for (size_t i = 0; list && i < smma_gpu_count; i++) {
    const smma_architecture *arch = &smma_architectures[smma_gpus[i].arch];
    PyObject *gpu = Py_BuildValue("(ssss)", smma_gpus[i].name, arch->name, arch->title, arch->vendor);
    if (!gpu || PyList_Append(list, gpu) < 0) Py_CLEAR(list);
    Py_XDECREF(gpu);
  }
  return list;
}

/* Returns (name, bits, bytes of the container, dtype) for every format that a matrix can have. */
PyObject *python_formats(PyObject *module, PyObject *none) {
  PyObject *list = PyList_New(0);
  (void)module, (void)none;
  for (int row = 0; list && row < SMMA_FORMAT_COUNT; row++) {
    smma_format f = smma_format_at(row);
    PyObject *format;
    if (smma_format_find(smma_format_name(f)) != f) continue; /* e8m13 is internal */
    format = Py_BuildValue("(siiN)", smma_format_name(f), smma_format_bits(f), (int)smma_format_bytes(f),
                           (PyObject *)array_dtype_of(f));
    if (!format || PyList_Append(list, format) < 0) Py_CLEAR(list);
    Py_XDECREF(format);
  }
  return list;
}

PyObject *python_block_formats(PyObject *module, PyObject *none) {
  PyObject *list = PyList_New(0);
  (void)module, (void)none;
  for (size_t i = 0; list && i < smma_block_format_count; i++) {
    const smma_block_format *f = &smma_block_formats[i];
    PyObject *format =
        Py_BuildValue("(sssi)", f->name, smma_format_name(f->element), smma_format_name(f->scale), f->block);
    if (!format || PyList_Append(list, format) < 0) Py_CLEAR(list);
    Py_XDECREF(format);
  }
  return list;
}

PyObject *python_format(PyObject *module, PyObject *object) {
  smma_format format = array_format_named(object, "format");
  (void)module;
  return format == SMMA_NO_FORMAT ? NULL : PyUnicode_FromString(smma_format_name(format));
}

/* Returns the dtype of arrays in a format. */
PyObject *python_dtype(PyObject *module, PyObject *object) {
  smma_format format = array_format_named(object, "format");
  (void)module;
  return format == SMMA_NO_FORMAT ? NULL : (PyObject *)array_dtype_of(format);
}

smma_arch_id arch_of(PyObject *gpu) {
  smma_error error;
  const char *name = text_of(gpu);
  smma_arch_id arch = name ? smma_resolve_arch(name, &error) : SMMA_ARCH_COUNT;
  if (name && arch == SMMA_ARCH_COUNT) PyErr_SetString(PyExc_LookupError, error.text);
  return arch;
}

/* Reads the formats that instructions are to have, which are None or text; sets a LookupError if it fails. */
static bool filter_of(const char *in, const char *out, smma_format_filter *filter) {
  const smma_format d = out ? smma_format_from_text(out) : SMMA_NO_FORMAT;
  smma_error error;
  if (out && d == SMMA_NO_FORMAT)
    smma_refuse_unknown_format(out, false, &error);
  else if (smma_format_filter_from_text(in, d, filter, &error) == SMMA_OK)
    return true;
  PyErr_Format(PyExc_LookupError, "%s: %s", out && d == SMMA_NO_FORMAT ? "out_dtype" : "in_dtype", error.text);
  return false;
}

/* Returns the record of each GPU that has an instruction with these formats of A and B, and of D, which may be None. */
PyObject *python_gpus_of(PyObject *module, PyObject *arguments) {
  const char *in, *out;
  smma_format_filter filter;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "zz", &in, &out) || !filter_of(in, out, &filter)) return NULL;
  return value_from(smma_gpus_datum(SMMA_ARCH_COUNT, &filter));
}

/* Returns the handles of a GPU's instructions in order of preference. If the GPU is None, returns the instructions of
   all listed architectures. The formats of A and B, and of D, may be None. */
PyObject *python_catalogue(PyObject *module, PyObject *arguments) {
  PyObject *gpu, *list;
  const char *in, *out, *prefixes;
  smma_format_filter filter;
  smma_arch_id only;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Ozz", &gpu, &in, &out)) return NULL;
  only = gpu == Py_None ? SMMA_ARCH_COUNT : arch_of(gpu);
  if (PyErr_Occurred() || !filter_of(in, out, &filter)) return NULL;
  prefixes = gpu == Py_None ? NULL : smma_prefixes_of(text_of(gpu));
  list = PyList_New(0);
  for (int a = 0; list && a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction_table *table = smma_architectures[a].table;
    if (gpu == Py_None ? !smma_architectures[a].listed : a != (int)only) continue;
    for (size_t i = 0; list && i < table->count; i++) {
      PyObject *handle;
      if (!smma_has_a_prefix(table->row[i].name, prefixes)) continue;
      if (!smma_passes_filter(&table->row[i], &filter)) continue;
      handle = handle_of(&table->row[i]);
      if (!handle || PyList_Append(list, handle) < 0) Py_CLEAR(list);
      Py_XDECREF(handle);
    }
  }
  return list;
}

/* ---- Fields ---- */

static PyObject *texts(const char *const *text) {
  Py_ssize_t count = 0;
  PyObject *tuple;
  while (text[count]) count++;
  tuple = PyTuple_New(count);
  for (Py_ssize_t i = 0; tuple && i < count; i++) PyTuple_SetItem(tuple, i, PyUnicode_FromString(text[i]));
  return tuple;
}

PyObject *parameter_value(const char *text) {
  char *end;
  long number = strtol(text, &end, 10);
  return *end ? PyUnicode_FromString(text) : PyLong_FromLong(number);
}

static PyObject *parameters(const smma_instruction *instruction) {
  PyObject *dictionary = PyDict_New();
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  for (int i = 0; dictionary && smma_parameter(&instruction->rule->rule, i, &name, value, sizeof value); i++) {
    PyObject *object = parameter_value(value);
    if (!object || PyDict_SetItemString(dictionary, name, object) < 0) Py_CLEAR(dictionary);
    Py_XDECREF(object);
  }
  return dictionary;
}

/* Returns the fields of softmma.Instruction in their order; the handle comes last. */
PyObject *python_describe(PyObject *module, PyObject *handle) {
  const smma_instruction *instruction = from_handle(handle);
  smma_instruction_info i;
  (void)module;
  if (!instruction) return NULL;
  smma_describe(instruction, &i, sizeof i);
  return Py_BuildValue("(ssiiissssziisNsNNsO)", i.arch, i.name, i.m, i.n, i.k, smma_format_name(i.a),
                       smma_format_name(i.b), smma_format_name(i.c), smma_format_name(i.d),
                       i.scale_block ? smma_format_name(i.scale) : NULL, i.scale_block, smma_sparse_group(instruction),
                       i.model, parameters(instruction), i.rule, texts(i.evidence), texts(i.questions),
                       smma_basis_name(smma_instruction_basis(instruction)), handle);
}

static bool append_alias(const char *alias, void *list) {
  PyObject *text = PyUnicode_FromString(alias);
  bool failed = !text || PyList_Append(list, text) < 0;
  Py_XDECREF(text);
  return failed;
}

PyObject *python_aliases(PyObject *module, PyObject *handle) {
  const smma_instruction *instruction = from_handle(handle);
  PyObject *list = instruction ? PyList_New(0) : NULL;
  (void)module;
  if (list && smma_each_alias(instruction, append_alias, list)) Py_CLEAR(list);
  return list;
}

PyObject *python_find_instruction(PyObject *module, PyObject *arguments) {
  const char *gpu, *name;
  smma_error error;
  const smma_instruction *found;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "ss", &gpu, &name)) return NULL;
  found = smma_find(gpu, name, &error);
  if (found) return handle_of(found);
  PyErr_SetString(PyExc_LookupError, error.text);
  return NULL;
}

/* ---- Custom units ---- */

PyObject *python_custom(PyObject *module, PyObject *arguments) {
  const char *origin, *text;
  Py_ssize_t size;
  smma_error error;
  smma_custom *unit;
  PyObject *handle;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "ss#", &origin, &text, &size)) return NULL;
  unit = smma_custom_parse(origin, text, (size_t)size, &error);
  if (!unit) return fail_with_error(&error);
  handle = handle_of(smma_custom_instruction(unit));
  if (!handle) return smma_custom_free(unit), NULL;
  PyCapsule_SetContext(handle, unit);
  return handle;
}

PyObject *python_custom_text(PyObject *module, PyObject *handle) {
  const smma_instruction *instruction = from_handle(handle);
  size_t length = instruction ? smma_custom_text(instruction, NULL, 0) : 0;
  char *text = instruction ? malloc(length + 1) : NULL;
  PyObject *result;
  (void)module;
  if (!instruction) return NULL;
  if (!text) return PyErr_NoMemory();
  smma_custom_text(instruction, text, length + 1);
  result = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
  free(text);
  return result;
}

/* Returns the instruction as SystemVerilog. */
PyObject *python_rtl_text(PyObject *module, PyObject *arguments) {
  PyObject *object, *result;
  const smma_instruction *instruction;
  const char *name;
  int stages, assertion;
  smma_error error;
  size_t length;
  char *text;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Ozip:rtl_text", &object, &name, &stages, &assertion)) return NULL;
  instruction = instruction_of(object);
  if (!instruction) return NULL;
  length = smma_rtl_text(instruction, name, stages, assertion, NULL, 0, &error);
  if (!length) return fail_with_error(&error);
  text = malloc(length + 1);
  if (!text) return PyErr_NoMemory();
  smma_rtl_text(instruction, name, stages, assertion, text, length + 1, &error);
  result = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
  free(text);
  return result;
}

/* ---- Choosing ---- */

/* Reads formats from a text such as "mxfp8", "nvfp4", "mxfp8,mxfp4" or "e4m3,e5m2". Returns false for any other text,
   including the name of a single format without blocks. */
static bool read_text(PyObject *in, smma_formats *f) {
  const char *text = PyUnicode_Check(in) ? text_of(in) : NULL;
  smma_formats read;
  if (!text || smma_formats_from_text(text, SMMA_NO_FORMAT, &read, NULL) != SMMA_OK) return false;
  if (!read.scale_block && !strpbrk(text, ",:")) return false;
  *f = read;
  return true;
}

bool formats_of_inputs(PyObject *in, smma_formats *f) {
  PyObject *one = NULL, *other = NULL;
  if (in == Py_None || read_text(in, f)) return true;
  if (PyErr_Occurred()) return false;
  if (!PyTuple_Check(in)) {
    f->a = f->b = array_format_named(in, "in_dtype");
    return f->a != SMMA_NO_FORMAT;
  }
  if (!PyArg_ParseTuple(in, "OO;in_dtype: a format, or a pair of formats for A and B", &one, &other)) return false;
  f->a = array_format_named(one, "in_dtype");
  f->b = f->a == SMMA_NO_FORMAT ? f->a : array_format_named(other, "in_dtype");
  return f->b != SMMA_NO_FORMAT;
}

static bool read_formats(const choice *x, const array_formats *arrays, smma_formats *f) {
  *f = (smma_formats){arrays->a, arrays->b, SMMA_NO_FORMAT, SMMA_NO_FORMAT, 0};
  if (!formats_of_inputs(x->in, f)) return false;
  if (x->out != Py_None) {
    f->d = array_format_named(x->out, "out_dtype");
    return f->d != SMMA_NO_FORMAT;
  }
  f->d = f->a == SMMA_NO_FORMAT ? SMMA_NO_FORMAT : smma_usual_output(f->a);
  return true;
}

/* Checks that formats that are given together with an instruction's name are those of this instruction. Formats
   without scale factors ("e2m1") also name a block-scaled instruction's elements. */
static const smma_instruction *check_named(const smma_instruction *i, const choice *x, const smma_formats *f) {
  const bool scales = !f->scale_block || (f->scale_block == i->scale_block && f->scale == i->scale);
  bool in = x->in == Py_None || (f->a == i->a && f->b == i->b && scales);
  bool out = x->out == Py_None || f->d == i->d;
  if (in && out) return i;
  if (!scales && i->scale_block)
    return PyErr_Format(PyExc_ValueError, "in_dtype: %s has scale factors in %s, one for %d elements; leave it out",
                        i->name, smma_format_name(i->scale), i->scale_block),
           NULL;
  PyErr_Format(PyExc_ValueError, "%s: %s computes %s x %s -> %s; leave it out", in ? "out_dtype" : "in_dtype", i->name,
               smma_format_name(i->a), smma_format_name(i->b), smma_format_name(i->d));
  return NULL;
}

static bool takes_scales(const smma_instruction *i, const smma_formats *f, const array_formats *arrays) {
  bool same = i->a == f->a && i->b == f->b && i->d == f->d;
  return same && i->scale_block && array_same_dtype(i->scale, arrays->scale) &&
         (arrays->k + i->scale_block - 1) / i->scale_block == arrays->scale_blocks;
}

static const smma_instruction *find_scaled(PyObject *gpu, const smma_formats *f, const array_formats *arrays) {
  smma_arch_id arch = arch_of(gpu);
  const smma_instruction_table *table;
  const smma_instruction *found = NULL;
  if (arch == SMMA_ARCH_COUNT) return NULL;
  table = smma_architectures[arch].table;
  for (size_t i = 0; i < table->count; i++)
    if (takes_scales(&table->row[i], f, arrays) && smma_is_preferred(&table->row[i], found)) found = &table->row[i];
  if (found) return found;
  if (arrays->scale == SMMA_F32 && arrays->scale_blocks == 1) {
    PyErr_SetString(PyExc_LookupError,
                    "scale_a, scale_b: one f32 factor for each row of A and column of B acts after the product: use "
                    "softmma.scaled_matmul(a, b, scale_a, scale_b)");
    return NULL;
  }
  PyErr_Format(PyExc_LookupError,
               "%s has no block-scaled instruction for %s x %s -> %s with %zd factors in %s for K = %zd; "
               "softmma.find(%R, 'block') lists what it has",
               smma_architectures[arch].name, smma_format_name(f->a), smma_format_name(f->b), smma_format_name(f->d),
               (Py_ssize_t)arrays->scale_blocks, smma_format_name(arrays->scale), (Py_ssize_t)arrays->k, gpu);
  return NULL;
}

static const smma_instruction *find_by_formats(PyObject *gpu, const smma_formats *f, bool asked, smma_format *rounded) {
  smma_error error;
  const char *name = text_of(gpu);
  const smma_instruction *found;
  if (!name) return NULL;
  found = rounded ? smma_resolve_rounded(name, f, rounded, &error) : smma_resolve_formats(name, f, &error);
  if (!found)
    PyErr_Format(PyExc_LookupError, "%s%s", error.text, asked ? "" : "; in_dtype rounds A and B to another format");
  return found;
}

static const smma_instruction *look_up_name(PyObject *gpu, PyObject *name) {
  smma_error error;
  const char *on = text_of(gpu), *text = on ? text_of(name) : NULL;
  const smma_instruction *found = text ? smma_find(on, text, &error) : NULL;
  if (text && !found) PyErr_SetString(PyExc_LookupError, error.text);
  return found;
}

/* Searching all aliases takes longer than a small product, so results are cached. */
static const smma_instruction *find_by_name(PyObject *gpu, PyObject *name) {
  static PyObject *known; /* {(gpu, name): handle} */
  PyObject *key = PyTuple_Pack(2, gpu, name), *handle;
  const smma_instruction *found = NULL;
  if (!known) known = PyDict_New();
  handle = key && known ? PyDict_GetItemWithError(known, key) : NULL;
  if (handle) {
    found = from_handle(handle);
  } else if (!PyErr_Occurred()) {
    found = look_up_name(gpu, name);
    handle = found ? handle_of(found) : NULL;
    if (handle) PyDict_SetItem(known, key, handle);
    Py_XDECREF(handle);
  }
  Py_XDECREF(key);
  return PyErr_Occurred() ? NULL : found;
}

/* Returns the instruction that the caller has passed as an object or by name. Returns NULL with an exception if it is
   invalid, and NULL without an exception if the caller has passed no instruction. */
static const smma_instruction *find_named(const choice *x) {
  if (is_instruction(x->instr)) return instruction_of(x->instr);
  if (is_instruction(x->on)) {
    if (x->instr == Py_None) return instruction_of(x->on);
    PyErr_SetString(PyExc_TypeError, "instr: on is an instruction already; leave it out");
    return NULL;
  }
  if (!PyUnicode_Check(x->on) || (x->instr != Py_None && !PyUnicode_Check(x->instr))) {
    PyErr_Format(PyExc_TypeError, "%R is neither a name nor an Instruction", PyUnicode_Check(x->on) ? x->instr : x->on);
    return NULL;
  }
  return x->instr == Py_None ? NULL : find_by_name(x->on, x->instr);
}

static const smma_instruction *choose_of_gpu(const choice *x, const array_formats *arrays) {
  const smma_instruction *named = find_named(x);
  smma_formats f;
  if (PyErr_Occurred() || !read_formats(x, arrays, &f)) return NULL;
  if (named) return check_named(named, x, &f);
  if (f.a == SMMA_NO_FORMAT || f.b == SMMA_NO_FORMAT) {
    PyErr_SetString(
        PyExc_TypeError,
        "in_dtype is missing, and the arrays' dtypes are no formats of matrix units; give in_dtype, for example 'f16'");
    return NULL;
  }
  return arrays->scaled && !f.scale_block ? find_scaled(x->on, &f, arrays)
                                          : find_by_formats(x->on, &f, x->in != Py_None, x->rounded);
}

/* Splits a target "GPU:MORE": writes the GPU's name to `gpu` and returns MORE. Returns NULL if there is no colon. */
static const char *split_target(PyObject *on, char gpu[SMMA_GPU_TEXT_SIZE]) {
  const char *text = PyUnicode_Check(on) ? text_of(on) : NULL;
  return text ? smma_split_target(text, gpu) : NULL;
}

/* Returns (gpu, more) for a target "GPU:MORE"; `more` is None if the target has no colon. */
PyObject *python_split_target(PyObject *module, PyObject *on) {
  char gpu[SMMA_GPU_TEXT_SIZE];
  const char *more;
  (void)module;
  if (!PyUnicode_Check(on)) return PyErr_Format(PyExc_TypeError, "%R is no text", on);
  more = split_target(on, gpu);
  return PyErr_Occurred() ? NULL : Py_BuildValue("(sz)", gpu, more);
}

const smma_instruction *choose_instruction(const choice *x, const array_formats *arrays) {
  char gpu[SMMA_GPU_TEXT_SIZE];
  const char *more = split_target(x->on, gpu);
  const smma_instruction *found;
  choice own = *x;
  smma_formats f;
  smma_error error;
  PyObject *rest;
  if (PyErr_Occurred()) return NULL;
  if (!more) return choose_of_gpu(x, arrays);
  if (x->instr != Py_None || x->in != Py_None) {
    PyErr_Format(PyExc_ValueError, "%s: on=%R already gives it; leave it out",
                 x->instr != Py_None ? "instr" : "in_dtype", x->on);
    return NULL;
  }
  own.on = PyUnicode_FromString(gpu);
  rest = PyUnicode_FromString(more);
  if (smma_formats_from_text(more, SMMA_NO_FORMAT, &f, &error) == SMMA_OK) {
    own.in = rest;
  } else {
    own.instr = rest;
    if (!strpbrk(more, "._") && !smma_find(gpu, more, NULL)) PyErr_Format(PyExc_LookupError, "on: %s", error.text);
  }
  found = own.on && rest && !PyErr_Occurred() ? choose_of_gpu(&own, arrays) : NULL;
  Py_XDECREF(own.on);
  Py_XDECREF(rest);
  return found;
}

bool names_formats(const choice *x) {
  return is_instruction(x->on) || x->instr != Py_None || x->in != Py_None || x->out != Py_None ||
         (PyUnicode_Check(x->on) && PyUnicode_FindChar(x->on, ':', 0, PyUnicode_GetLength(x->on), 1) >= 0);
}

PyObject *chosen_object(const choice *x, const smma_instruction *chosen) {
  PyObject *given = is_instruction(x->instr) ? x->instr : x->on;
  return is_instruction(given) ? Py_NewRef(given) : handle_of(chosen);
}

/* Reports whether (on, instr, in_dtype, out_dtype) name formats, so that an unsigned C holds encodings. */
PyObject *python_names_formats(PyObject *module, PyObject *arguments) {
  choice x = {.rounded = NULL};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOO", &x.on, &x.instr, &x.in, &x.out)) return NULL;
  return PyBool_FromLong(names_formats(&x));
}

/* Returns the handle of the instruction that (on, instr, in_dtype, out_dtype) choose without arrays; on and instr are
   names. */
PyObject *python_choose(PyObject *module, PyObject *arguments) {
  const array_formats open = {.a = SMMA_NO_FORMAT, .b = SMMA_NO_FORMAT};
  const smma_instruction *chosen;
  char gpu[SMMA_GPU_TEXT_SIZE];
  choice x = {.rounded = NULL};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "UOOO", &x.on, &x.instr, &x.in, &x.out)) return NULL;
  if (x.instr == Py_None && x.in == Py_None && !split_target(x.on, gpu))
    return PyErr_Format(PyExc_TypeError,
                        "instr and in_dtype are missing; give one of them, for example in_dtype='f16'");
  chosen = choose_instruction(&x, &open);
  return chosen ? handle_of(chosen) : NULL;
}

/* Returns [(label, handle)] for every architecture that has the formats in_dtype and out_dtype. */
PyObject *python_targets(PyObject *module, PyObject *arguments) {
  const array_formats open = {.a = SMMA_NO_FORMAT, .b = SMMA_NO_FORMAT};
  smma_product_target target[SMMA_MOST_TARGETS];
  smma_formats f;
  choice x = {.on = NULL};
  PyObject *list;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO", &x.in, &x.out) || !read_formats(&x, &open, &f)) return NULL;
  if (f.a == SMMA_NO_FORMAT)
    return PyErr_Format(PyExc_TypeError, "in_dtype is missing; give a format, for example 'f16'");
  list = PyList_New(0);
  for (size_t i = 0, count = smma_find_targets(&f, target); list && i < count; i++) {
    PyObject *each = Py_BuildValue("(sN)", target[i].label, handle_of(target[i].instruction));
    if (!each || PyList_Append(list, each) < 0) Py_CLEAR(list);
    Py_XDECREF(each);
  }
  return list;
}
