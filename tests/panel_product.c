#include "panel_product.h"

#include <stdlib.h>
#include <string.h>

#include "isa/catalogue.h"
#include "kernel_check.h"
#include "support.h"

int panel_code_bytes(smma_format format) { return (smma_encoding_of(format).bits + 7) / 8; }

void *panel_memory(size_t count, size_t size) {
  void *memory = NULL;
  assert_int_equal(posix_memalign(&memory, 16, count * size), 0);
  memset(memory, 0, count * size);
  return memory;
}

uint8_t *panel_codes(const panel_product *p, bool of_a) {
  const uint64_t *code = of_a ? p->x.a : p->x.b;
  const size_t lines = (size_t)(of_a ? p->rows : p->columns), bytes = (size_t)panel_code_bytes(of_a ? p->o.a : p->o.b);
  uint8_t *codes = panel_memory(p->x.k * lines, bytes);
  for (size_t line = 0; line < lines; line++)
    for (size_t i = 0; i < p->x.k; i++) memcpy(codes + (i * lines + line) * bytes, &code[line * p->x.k + i], bytes);
  return codes;
}

uint8_t *panel_scales(const panel_product *p, bool of_a) {
  const uint64_t *scale = of_a ? p->x.scale_a : p->x.scale_b;
  const size_t lines = (size_t)(of_a ? p->rows : p->columns);
  uint8_t *scales = scale ? panel_memory(p->x.scales, lines) : NULL;
  for (size_t line = 0; scale && line < lines; line++)
    for (size_t s = 0; s < p->x.scales; s++) scales[s * lines + line] = (uint8_t)scale[line * p->x.scales + s];
  return scales;
}

/* Returns the core's result of element (i, j). */
static uint32_t expected(const panel_product *p, size_t i, size_t j) {
  const smma_operation *o = &p->o;
  const size_t k = p->x.k, scales = p->x.scales, of_step = (size_t)smma_scale_count(o->k, o->scale_block);
  uint64_t d = p->x.c[i * (size_t)p->columns + j];
  smma_decoded x;
  for (size_t step = 0; step < k / (size_t)o->k; step++) {
    for (size_t e = 0; e < (size_t)o->k; e++) {
      x.a[e] = smma_decode(smma_encoding_of(o->a), p->x.a[i * k + step * (size_t)o->k + e]);
      x.b[e] = smma_decode(smma_encoding_of(o->b), p->x.b[j * k + step * (size_t)o->k + e]);
    }
    for (size_t s = 0; s < of_step; s++) {
      x.scale_a[s] = smma_decode(smma_encoding_of(o->scale), p->x.scale_a[i * scales + step * of_step + s]);
      x.scale_b[s] = smma_decode(smma_encoding_of(o->scale), p->x.scale_b[j * scales + step * of_step + s]);
    }
    d = smma_dot_add(o, smma_operands_of(&x), d);
  }
  return (uint32_t)d;
}

typedef struct {
  size_t decided, left, wrong;
} outcome;

static void compare(const panel_test *test, const smma_instruction *instruction, unsigned theme, uint64_t seed,
                    outcome *all) {
  const size_t elements = (size_t)test->rows * (size_t)test->columns;
  panel_product p = {.o = smma_operation_of(instruction),
                     .rows = test->rows,
                     .columns = test->columns,
                     .k = test->k,
                     .theme = theme,
                     .seed = seed,
                     .got = panel_memory(elements, sizeof *p.got),
                     .left = panel_memory(elements, sizeof *p.left)};
  assert_true(kernel_operands_make(&p.o, (size_t)p.rows, (size_t)p.columns, (size_t)p.k, theme, seed, &p.x));
  for (size_t e = 0; e < elements; e++) p.x.c[e] = smma_widen_c(&p.o, p.x.c[e]);
  p.o.c = p.o.d;
  test->compute(&p);
  for (size_t e = 0; e < elements; e++) {
    const size_t i = e / (size_t)p.columns, j = e % (size_t)p.columns;
    uint32_t wanted;
    if (p.left[e]) {
      all->left++;
      continue;
    }
    all->decided++;
    wanted = expected(&p, i, j);
    if (p.got[e] != wanted && all->wrong++ == 0) {
      const smma_instruction_info info = describe(instruction);
      print_error("%s %s, %s, seed %d: element %zu %zu is %08x, not %08x\n", info.arch, info.name,
                  kernel_theme_name(theme), (int)seed, i, j, p.got[e], wanted);
    }
  }
  kernel_operands_free(&p.x);
  free(p.got);
  free(p.left);
}

void panel_test_against_core(const panel_test *test) {
  static const smma_instruction *list[MOST_OPERATIONS];
  const size_t count = kernel_operations(list);
  outcome of_theme[THEMES] = {0};
  size_t operations = 0, wrong = 0;
  for (size_t i = 0; i < count && !wrong; i++) {
    const smma_operation o = smma_operation_of(list[i]);
    if (!test->takes(&o) || operations++ % (size_t)test->every) continue;
    for (unsigned theme = 0; theme < THEMES; theme++) {
      for (int seed = 1; seed <= test->seeds; seed++)
        compare(test, list[i], theme, operations * (uint64_t)test->seeds + (uint64_t)seed, &of_theme[theme]);
      wrong += of_theme[theme].wrong;
    }
  }
  for (unsigned theme = 0; theme < THEMES; theme++)
    print_message("%-14s %9zu decided, %9zu left\n", kernel_theme_name(theme), of_theme[theme].decided,
                  of_theme[theme].left);
  print_message("%zu operations\n", operations);
  assert_int_equal(wrong, 0);
  assert_int_not_equal(operations, 0);
  assert_int_equal(of_theme[THEME_ORDINARY].left, 0);
}
