/* Tests that every operation has a digest in the self-test, and that it reports wrong digests and rows. command.sh runs
   the whole self-test. */
#include <stdio.h>
#include <string.h>

#include "isa/catalogue.h"
#include "selftest/self_test.h"
#include "support.h"

typedef struct {
  size_t lines;
  char last[1024];
} told;

static void tell(const char *line, void *context) {
  told *t = context;
  t->lines++;
  snprintf(t->last, sizeof t->last, "%s", line);
}

static size_t kernels(void) {
  size_t count = 0;
  while (smma_kernel_name(count)) count++;
  return count;
}

static void test_every_operation(void **state) {
  const smma_self_test_data *data = &smma_self_test_shipped;
  (void)state;
  for (size_t i = 0; i < smma_catalogue_count(); i++) {
    const smma_instruction *x = smma_catalogue_at(i);
    size_t line = 0;
    while (line < data->digests &&
           !smma_same_operation(x, smma_find(data->digest[line].arch, data->digest[line].instruction, NULL)))
      line++;
    if (line == data->digests)
      fail_msg("%s has no digest; scripts/regenerate digests writes src/selftest/digests.def", x->name);
  }
}

/* A right digest and one with another bit. */
static void test_wrong_digest(void **state) {
  smma_self_test_digest digest[2] = {smma_self_test_shipped.digest[0], smma_self_test_shipped.digest[1]};
  const smma_self_test_data data = {.digest = digest, .digests = 2, .recorded = "", .length = 0};
  smma_self_test result;
  smma_error error;
  told t = {0};
  (void)state;
  assert_true(smma_self_test_run(&data, tell, &t, &result, &error));
  assert_int_equal(t.lines, 0);
  assert_int_equal(result.operations, 2);
  assert_true(result.outputs > 10000);
  digest[1].digest ^= 1;
  assert_true(smma_self_test_run(&data, tell, &t, &result, &error));
  assert_int_equal(t.lines, kernels());
  assert_int_equal(result.differences, kernels());
  assert_non_null(strstr(t.last, digest[1].instruction));
  assert_non_null(strstr(t.last, "the digest of kernel core is"));
}

/* d of the first recording's first row, with its last bit flipped. */
static void test_wrong_row(void **state) {
  static char text[1 << 20];
  const smma_self_test_data data = {.recorded = text, .length = smma_self_test_shipped.length};
  smma_self_test result;
  smma_error error;
  told t = {0};
  char *end;
  (void)state;
  assert_true(data.length > 100000 && data.length <= sizeof text);
  memcpy(text, smma_self_test_shipped.recorded, data.length);
  end = strchr(strstr(text, "\n# columns"), '\n');
  end = strchr(strchr(end + 1, '\n') + 1, '\n') - 1;
  *end = *end == '0' ? '1' : '0';
  assert_true(smma_self_test_run(&data, tell, &t, &result, &error));
  assert_true(result.recordings > 50 && result.rows > 1000);
  assert_int_equal(t.lines, kernels());
  assert_non_null(strstr(t.last, "kernel core returns"));
  text[0] = 'x';
  assert_false(smma_self_test_run(&data, tell, &t, &result, &error));
}

/* Every kernel has the same digest, and another instruction has another one. */
static void test_kernels(void **state) {
  const smma_instruction *i = find("H100", "wgmma.m64n8k16.f32.f16.f16"), *other = find("A100", "HMMA.16816.F32");
  unsigned long long outputs = 0;
  uint64_t digest, first;
  (void)state;
  assert_true(smma_self_test_compute(i, "core", &first, &outputs));
  for (size_t k = 0; smma_kernel_name(k); k++) {
    assert_true(smma_self_test_compute(i, smma_kernel_name(k), &digest, &outputs));
    assert_int_equal(digest, first);
    assert_true(smma_self_test_compute(other, smma_kernel_name(k), &digest, &outputs));
    assert_int_not_equal(digest, first);
  }
  assert_false(smma_self_test_compute(i, "none", &digest, &outputs));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_operation), cmocka_unit_test(test_wrong_digest),
                                     cmocka_unit_test(test_wrong_row), cmocka_unit_test(test_kernels)};
  return cmocka_run_group_tests_name("self_test", tests, NULL, NULL);
}
