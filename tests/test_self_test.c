/* Every operation has a digest in the self-test, and the self-test reports wrong digests and test vectors. self_test.sh
   runs the whole self-test. */
#include <stdio.h>
#include <string.h>

#include "isa/catalogue.h"
#include "selftest/self_test.h"
#include "support.h"

/* Returns the last line of the result, which must have this number of lines. */
static const char *last_line(const smma_self_test *result, size_t lines) {
  assert_int_equal(smma_datum_size(result->lines), lines);
  assert_int_equal(result->differences, lines);
  return smma_datum_text_of(smma_datum_at(result->lines, lines - 1));
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

/* Compares a correct digest, and one with a flipped bit. */
static void test_wrong_digest(void **state) {
  smma_self_test_digest digest[2] = {smma_self_test_shipped.digest[0], smma_self_test_shipped.digest[1]};
  const smma_self_test_data data = {.digest = digest, .digests = 2, .recorded = "", .length = 0};
  smma_self_test result;
  smma_error error;
  (void)state;
  assert_true(smma_self_test_run(&data, &result, &error));
  assert_int_equal(smma_datum_size(result.lines), 0);
  assert_int_equal(result.operations, 2);
  assert_true(result.outputs > 10000);
  smma_self_test_free(&result);
  digest[1].digest ^= 1;
  assert_true(smma_self_test_run(&data, &result, &error));
  assert_non_null(strstr(last_line(&result, kernels()), digest[1].instruction));
  assert_non_null(strstr(last_line(&result, kernels()), "the digest of kernel core is"));
  smma_self_test_free(&result);
}

/* Flips the last bit of d in the first test vector of the first recording. */
static void test_wrong_row(void **state) {
  static char text[1 << 21];
  const smma_self_test_data data = {.recorded = text, .length = smma_self_test_shipped.length};
  smma_self_test result;
  smma_error error;
  char *end;
  (void)state;
  assert_true(data.length > 100000 && data.length <= sizeof text);
  memcpy(text, smma_self_test_shipped.recorded, data.length);
  end = strchr(strstr(text, "\n# columns"), '\n');
  end = strchr(strchr(end + 1, '\n') + 1, '\n') - 1;
  *end = *end == '0' ? '1' : '0';
  assert_true(smma_self_test_run(&data, &result, &error));
  assert_true(result.recordings > 50 && result.rows > 1000);
  assert_non_null(strstr(last_line(&result, kernels()), "kernel core returns"));
  smma_self_test_free(&result);
  text[0] = 'x';
  assert_false(smma_self_test_run(&data, &result, &error));
  smma_self_test_free(&result);
}

/* Every kernel has the same digest; another instruction has a different one. */
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
