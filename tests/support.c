#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "host/load.h"

/* OpenMP never frees what it allocates for its threads. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libomp\nleak:libgomp\n"; }

const smma_instruction *find(const char *gpu, const char *name) {
  smma_error error;
  const smma_instruction *i = smma_find(gpu, name, &error);
  if (!i) fail_msg("%s", error.text);
  return i;
}

smma_instruction_info describe(const smma_instruction *instruction) {
  smma_instruction_info info;
  assert_int_equal(smma_describe(instruction, &info, sizeof info), SMMA_OK);
  return info;
}

uint64_t load_element(smma_format format, const void *array, size_t index) {
  return smma_load(smma_format_bytes(format), array, index);
}

void store_element(smma_format format, void *array, size_t index, uint64_t encoding) {
  smma_store(smma_format_bytes(format), array, index, encoding);
}

static void pack(smma_format format, const uint64_t *from, int count, uint64_t *to) {
  for (int i = 0; i < count; i++) store_element(format, to, (size_t)i, from[i]);
}

uint64_t dot(const smma_instruction *instruction, const smma_row *x) {
  smma_instruction_info info = describe(instruction);
  uint64_t a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], scale_a[SMMA_MAXIMUM_ROUNDED_K], scale_b[SMMA_MAXIMUM_ROUNDED_K], c,
      d = 0;
  int scales = info.scale_block ? info.k / info.scale_block : 0;
  pack(info.a, x->a, info.k, a);
  pack(info.b, x->b, info.k, b);
  pack(info.scale, x->scale_a, scales, scale_a);
  pack(info.scale, x->scale_b, scales, scale_b);
  pack(info.c, &x->c, 1, &c);
  assert_int_equal(smma_dot(instruction, a, b, &c, scales ? scale_a : NULL, scales ? scale_b : NULL, &d), SMMA_OK);
  return load_element(info.d, &d, 0);
}

static void print_list(const char *option, smma_format format, const uint64_t *x, int count) {
  print_error(" %s ", option);
  for (int i = 0; i < count; i++) print_error("%s%0*" PRIx64, i ? "," : "", (smma_format_bits(format) + 3) / 4, x[i]);
}

void print_dot(const smma_instruction *instruction, const smma_row *x, uint64_t expected, uint64_t got) {
  smma_instruction_info info = describe(instruction);
  int scales = info.scale_block ? info.k / info.scale_block : 0, digits = (smma_format_bits(info.d) + 3) / 4;
  print_error("softmma dot --on %s --instr %s --hex", info.arch, info.name);
  print_list("--a", info.a, x->a, info.k);
  print_list("--b", info.b, x->b, info.k);
  print_list("--c", info.c, &x->c, 1);
  if (scales) print_list("--scale-a", info.scale, x->scale_a, scales);
  if (scales) print_list("--scale-b", info.scale, x->scale_b, scales);
  print_error("\n  expected %0*" PRIx64 " (%a), got %0*" PRIx64 " (%a)\n", digits, expected,
              smma_format_decode(info.d, expected), digits, got, smma_format_decode(info.d, got));
}

int same_or_nan(smma_format format, uint64_t x, uint64_t y) {
  return x == y || (isnan(smma_format_decode(format, x)) && isnan(smma_format_decode(format, y)));
}

bool log_progress(size_t done, size_t rows, void *context) {
  progress_log *log = context;
  assert_true(done >= log->last && done <= rows && rows == log->rows);
  log->last = done;
  return ++log->calls > log->stop_after;
}
