/* Structs of the public headers that callers fill in, as seen by clients of older headers, whose structs are shorter,
   and of newer headers, whose structs are longer. The table has a row for each struct with a member `size`. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softmma/accurate.h"
#include "softmma/rows.h"
#include "softmma/sparse.h"
#include "support.h"

enum { CANARY = 0xee, MORE = 24, LARGEST = 512 };

static float c = 1, d;
static uint16_t a[16] = {0x3c00}, b[16] = {0x4000};
static double wide_a = 3, wide_b = 0.5, wide_d;
static uint16_t rows_of_a[16], rows_of_b[16];
static float row_of_c;
static unsigned char metadata[8] = {0, 1, 0, 1, 0, 1, 0, 1};

static const smma_instruction *dense(void) { return find("H100", "mma.m16n8k16.f32.f16.f16.f32"); }
static const smma_instruction *integers(void) { return find("A100", "mma.m16n8k32.s32.s8.s8.s32"); }
static const smma_instruction *sparse(void) { return find("A100", "mma.sp.m16n8k16.f32.f16.f16.f32"); }

/* ---- Values that each struct needs, and one use of it ---- */

static void fill_gemm(void *x) {
  smma_gemm_arguments *g = x;
  g->m = g->n = 1, g->k = 16, g->a = a, g->b = b, g->c = &c, g->d = &d;
}

static smma_status use_gemm(const void *x) { return smma_gemm(dense(), x); }
static smma_status use_gemm_sparse(const void *x) { return smma_gemm_sparse(sparse(), x, metadata); }

static smma_status use_multiplier(const void *x) {
  smma_multiplier *multiplier;
  smma_status status = smma_multiplier_create(dense(), x, &multiplier);
  if (status == SMMA_OK) status = smma_multiplier_run(multiplier, 1, a, NULL, &c, &d);
  smma_multiplier_free(multiplier);
  return status;
}

static void fill_batch(void *x) {
  smma_batch *batch = x;
  batch->rows = 1, batch->a = a, batch->b = b, batch->c = &c, batch->d = &d;
}

static smma_status use_batch(const void *x) { return smma_dot_rows(dense(), x, 1); }

static void fill_rows(void *x) {
  smma_row_request *request = x;
  request->rows = 1, request->seed = 7, request->a = rows_of_a, request->b = rows_of_b, request->c = &row_of_c;
}

static smma_status use_rows(const void *x) { return smma_make_rows(dense(), x); }

static void fill_plan(void *x) {
  smma_plan_request *request = x;
  request->name = "cutlass:fast";
}

static smma_status use_plan(const void *x) {
  smma_error error;
  smma_plan *plan = smma_plan_for(x, &error);
  assert_true(!plan == (error.status != SMMA_OK));
  smma_plan_free(plan);
  return error.status;
}

static void fill_product(void *x) {
  smma_f64_product *product = x;
  product->m = product->n = product->k = 1, product->a = &wide_a, product->b = &wide_b, product->d = &wide_d;
}

static smma_f64_product product_of_one(void) {
  smma_f64_product product;
  smma_f64_product_defaults(&product, sizeof product);
  fill_product(&product);
  return product;
}

static smma_status use_product(const void *x) {
  smma_words how;
  smma_words_defaults(&how, sizeof how);
  return smma_gemm_words(dense(), x, &how);
}

static smma_status use_product_of_slices(const void *x) {
  smma_slices how;
  smma_slices_defaults(&how, sizeof how);
  return smma_gemm_slices(integers(), x, &how);
}

static smma_status use_words(const void *x) {
  const smma_f64_product product = product_of_one();
  return smma_gemm_words(dense(), &product, x);
}

static smma_status use_slices(const void *x) {
  const smma_f64_product product = product_of_one();
  return smma_gemm_slices(integers(), &product, x);
}

static void fill_nothing(void *x) { (void)x; }

static void gemm_defaults(void *x, size_t size) { smma_gemm_defaults(x, size); }
static void batch_defaults(void *x, size_t size) { smma_batch_defaults(x, size); }
static void rows_defaults(void *x, size_t size) { smma_row_request_defaults(x, size); }
static void plan_defaults(void *x, size_t size) { smma_plan_request_defaults(x, size); }
static void product_defaults(void *x, size_t size) { smma_f64_product_defaults(x, size); }
static void words_defaults(void *x, size_t size) { smma_words_defaults(x, size); }
static void slices_defaults(void *x, size_t size) { smma_slices_defaults(x, size); }

/* ---- The structs ---- */

typedef struct {
  const char *name;
  size_t size, older; /* sizes of the struct, and of the shortest one that its use needs */
  size_t end;         /* end of the last member */
  void (*defaults)(void *x, size_t size);
  void (*fill)(void *x);
  smma_status (*use)(const void *x);
} sized;

#define END(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
/* STRUCT(type, the first member that an older client may lack, the last member, ...) */
#define STRUCT(type, lacks, last, ...) \
  { #type, sizeof(type), offsetof(type, lacks), END(type, last), __VA_ARGS__ }
static const sized structs[] = {
    STRUCT(smma_gemm_arguments, scaling, progress_context, gemm_defaults, fill_gemm, use_gemm),
    STRUCT(smma_gemm_arguments, scaling, progress_context, gemm_defaults, fill_gemm, use_gemm_sparse),
    STRUCT(smma_gemm_arguments, scaling, progress_context, gemm_defaults, fill_gemm, use_multiplier),
    {"smma_batch", sizeof(smma_batch), sizeof(smma_batch), END(smma_batch, d), batch_defaults, fill_batch, use_batch},
    STRUCT(smma_row_request, scale_a, scale_b, rows_defaults, fill_rows, use_rows),
    STRUCT(smma_plan_request, instruction, workspace, plan_defaults, fill_plan, use_plan),
    STRUCT(smma_f64_product, split_k, progress_context, product_defaults, fill_product, use_product),
    STRUCT(smma_f64_product, split_k, progress_context, product_defaults, fill_product, use_product_of_slices),
    STRUCT(smma_words, sum, sum, words_defaults, fill_nothing, use_words),
    STRUCT(smma_slices, products, used, slices_defaults, fill_nothing, use_slices),
};
enum { STRUCTS = sizeof structs / sizeof *structs };

static bool is_listed(const char *name) {
  for (size_t i = 0; i < STRUCTS; i++)
    if (strcmp(structs[i].name, name) == 0) return true;
  return false;
}

/* Checks that the table has every struct of a header that begins with its size. */
static void check_header(const char *path) {
  char text[1 << 16] = "";
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  for (char *at = text; (at = strstr(at, "typedef struct {\n  size_t size;"));) {
    char name[64] = "";
    at = strstr(at, "\n} ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\n} %63[a-z0-9_];", name), 1);
    if (!is_listed(name)) fail_msg("%s of %s is not in this test's table", name, path);
  }
}

static void test_table(void **state) {
  char list[] = HEADERS;
  int headers = 0;
  (void)state;
  for (char *path = strtok(list, ":"); path; path = strtok(NULL, ":"), headers++) check_header(path);
  assert_true(headers > 3);
  /* No struct may end with padding. A new member would use these bytes, which older clients leave undefined. */
  for (size_t i = 0; i < STRUCTS; i++)
    if (structs[i].end != structs[i].size) fail_msg("%s ends with padding", structs[i].name);
}

/* Functions that set defaults never write beyond the client's struct. To an older struct they write the same values as
   to a complete one. */
static void test_defaults(void **state) {
  (void)state;
  for (size_t i = 0; i < STRUCTS; i++) {
    const sized *s = &structs[i];
    unsigned char whole[LARGEST], x[LARGEST];
    assert_true(s->size + MORE <= sizeof whole);
    s->defaults(NULL, s->size);
    s->defaults(whole, s->size);
    assert_int_equal(*(size_t *)(void *)whole, s->size);
    for (size_t size = 0; size <= s->size + MORE; size += sizeof(int)) {
      const size_t own = size < s->size ? size : s->size;
      memset(x, CANARY, sizeof x);
      s->defaults(x, size);
      for (size_t at = size < sizeof size ? 0 : size; at < sizeof x; at++) assert_int_equal(x[at], CANARY);
      if (size < sizeof size) continue;
      assert_memory_equal(x, &size, sizeof size);
      assert_memory_equal(x + sizeof size, whole + sizeof size, own - sizeof size);
      for (size_t at = own; at < size; at++) assert_int_equal(x[at], 0);
    }
  }
}

typedef struct {
  float d, row_of_c;
  double wide_d;
  uint16_t rows_of_a[16];
} results;

/* Returns the status of a use, and its results. The struct lies at the end of its memory block. */
static smma_status use(const sized *s, const void *x, size_t size, results *r) {
  unsigned char *copy = malloc(size);
  smma_status status;
  memcpy(copy, x, size);
  d = row_of_c = -7, wide_d = -7;
  memset(rows_of_a, 0, sizeof rows_of_a);
  status = s->use(copy);
  free(copy);
  memset(r, 0, sizeof *r);
  r->d = d, r->row_of_c = row_of_c, r->wide_d = wide_d;
  memcpy(r->rows_of_a, rows_of_a, sizeof rows_of_a);
  return status;
}

static void test_clients(void **state) {
  (void)state;
  for (size_t i = 0; i < STRUCTS; i++) {
    const sized *s = &structs[i];
    _Alignas(max_align_t) unsigned char x[LARGEST];
    size_t *size = (size_t *)(void *)x;
    results expected, got;
    memset(x, 0, sizeof x);
    s->defaults(x, s->size);
    s->fill(x);
    assert_int_equal(use(s, x, s->size, &expected), SMMA_OK);
    *size = s->older;
    assert_int_equal(use(s, x, s->older, &got), SMMA_OK);
    assert_memory_equal(&got, &expected, sizeof got);
    *size = s->size + MORE;
    assert_int_equal(use(s, x, s->size + MORE, &got), SMMA_OK);
    assert_memory_equal(&got, &expected, sizeof got);
    x[s->size + MORE - 1] = 1;
    assert_int_equal(use(s, x, s->size + MORE, &got), SMMA_NEWER_STRUCT);
    for (int wrong = 0; wrong < 3; wrong++) {
      *size = (const size_t[]){0, sizeof(size_t) - 1, SIZE_MAX}[wrong];
      assert_int_equal(use(s, x, s->size, &got), SMMA_INVALID_ARGUMENT);
    }
  }
}

/* The error message for a newer client's arguments says what to do. */
static void test_error(void **state) {
  struct {
    smma_gemm_arguments g;
    int more;
  } newer;
  smma_error error;
  (void)state;
  memset(&newer, 0, sizeof newer);
  smma_gemm_defaults(&newer.g, sizeof newer);
  fill_gemm(&newer.g);
  newer.g.error = &error;
  assert_int_equal(smma_gemm(dense(), &newer.g), SMMA_OK);
  assert_int_equal(error.status, SMMA_OK);
  newer.more = 1;
  assert_int_equal(smma_gemm(dense(), &newer.g), SMMA_NEWER_STRUCT);
  assert_int_equal(error.status, SMMA_NEWER_STRUCT);
  assert_non_null(strstr(error.text, "newer header"));
}

/* A function writes no more than its caller's struct, and zeros to members that this library does not know. */
static void test_descriptions(void **state) {
  struct {
    smma_instruction_info info;
    unsigned char more[MORE];
  } x;
  (void)state;
  memset(&x, CANARY, sizeof x);
  assert_int_equal(smma_describe(dense(), &x.info, offsetof(smma_instruction_info, m)), SMMA_OK);
  assert_string_equal(x.info.arch, "hopper");
  assert_int_equal(*(unsigned char *)&x.info.m, CANARY);
  assert_int_equal(smma_describe(dense(), &x.info, sizeof x), SMMA_OK);
  assert_true(x.info.k == 16 && x.info.instruction == dense());
  for (size_t at = 0; at < sizeof x.more; at++) assert_int_equal(x.more[at], 0);
  assert_int_equal(smma_describe(dense(), &x.info, 0), SMMA_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table), cmocka_unit_test(test_defaults),     cmocka_unit_test(test_clients),
      cmocka_unit_test(test_error), cmocka_unit_test(test_descriptions),
  };
  return cmocka_run_group_tests_name("structs", tests, NULL, NULL);
}
