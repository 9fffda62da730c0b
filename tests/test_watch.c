/* Every study that calls a watcher (host/watch.h) ends early when the watcher returns true. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/record.h"
#include "compare/compare.h"
#include "coverage/gen.h"
#include "experiment/run.h"
#include "isa/find.h"
#include "report/report.h"
#include "rows/copy.h"
#include "support.h"
#include "tolerance/sweep.h"

enum { ROWS = 200000, SIZE = 8 };

static const smma_instruction *unit_instruction(void) { return find("H100", "mma.m16n8k16.f32.f16.f16.f32"); }

/* Ends the work, and counts its calls. */
static bool end_at_once(size_t done, size_t all, void *calls) {
  assert_true(all == 0 || done <= all);
  ++*(int *)calls;
  return true;
}

static void expect_interrupted(bool done, const int *calls, const smma_error *error) {
  assert_false(done);
  assert_string_equal(error->text, "interrupted");
  assert_int_equal(*calls, 1);
}

/* ---- Vector files ---- */

static smma_gen_request rows_to_write(void) {
  return (smma_gen_request){
      .instruction = unit_instruction(), .rows = ROWS, .kind = SMMA_ROWS_NORMAL, .format = SMMA_VECTOR_BINARY};
}

static void test_gen(void **state) {
  smma_gen_request request = rows_to_write();
  smma_gen_result result;
  smma_error error;
  int calls = 0;
  FILE *stream = tmpfile();
  (void)state;
  assert_non_null(stream);
  request.watch = end_at_once, request.context = &calls;
  expect_interrupted(smma_gen(&request, stream, &result, &error), &calls, &error);
  fclose(stream);
}

static void test_copy(void **state) {
  const smma_gen_request request = rows_to_write();
  smma_gen_result result;
  smma_error error;
  int calls = 0;
  FILE *in = tmpfile(), *out = tmpfile();
  (void)state;
  assert_true(in && out);
  assert_true(smma_gen(&request, in, &result, &error));
  rewind(in);
  expect_interrupted(smma_vectors_copy(in, "rows", out, SMMA_VECTOR_TEXT, end_at_once, &calls, &error), &calls, &error);
  fclose(in), fclose(out);
}

/* ---- Units ---- */

static bool take_nothing(const smma_rows *rows, size_t count, void *taker, smma_error *error) {
  (void)rows, (void)count, (void)taker, (void)error;
  return true;
}

static void test_record(void **state) {
  smma_unit unit;
  smma_error error;
  int calls = 0;
  (void)state;
  assert_true(smma_unit_open("model", &unit, &error));
  const smma_record_request request = {.unit = &unit,
                                       .instruction = unit_instruction(),
                                       .rows = ROWS,
                                       .recipe = smma_campaign_best(0),
                                       .watch = end_at_once,
                                       .context = &calls};
  expect_interrupted(smma_record(&request, take_nothing, NULL, &error), &calls, &error);
  smma_unit_close(&unit);
}

static void test_campaign(void **state) {
  smma_unit unit, against;
  smma_report report;
  smma_error error;
  int calls = 0;
  bool stopped = false;
  const smma_report_watcher watcher = {end_at_once, NULL, &calls};
  (void)state;
  assert_true(smma_unit_open("model", &unit, &error) && smma_unit_open("model", &against, &error));
  smma_campaign what = {.unit = &unit, .against = &against, .rows = ROWS, .recipe = smma_campaign_best(0)};
  assert_true(smma_report_choose(&report, &what, NULL, unit_instruction(), &error));
  assert_true(smma_report_run(&report, &watcher, &stopped, &error));
  assert_true(stopped);
  assert_int_equal(calls, 1);
  smma_report_free(&report);
  smma_unit_close(&unit), smma_unit_close(&against);
}

/* ---- Products ---- */

static void test_compare(void **state) {
  static const uint16_t a[SIZE * SIZE], b[SIZE * SIZE];
  static float d[2][SIZE * SIZE];
  smma_product_target target[2];
  smma_compare_request request = {.target = target,
                                  .targets = 2,
                                  .a = {SMMA_F16, SIZE, SIZE, a},
                                  .b = {SMMA_F16, SIZE, SIZE, b},
                                  .watch = end_at_once};
  smma_compare_result result;
  smma_error error;
  int calls = 0;
  (void)state;
  request.context = &calls;
  for (int t = 0; t < 2; t++) {
    target[t] = (smma_product_target){.label = "H100", .instruction = unit_instruction()};
    smma_gemm_defaults(&target[t].product, sizeof target[t].product);
    target[t].product.m = target[t].product.n = target[t].product.k = SIZE;
    target[t].product.a = a, target[t].product.b = b, target[t].product.d = d[t];
  }
  assert_false(smma_compare_run(&request, &result, &error));
  assert_true(calls > 0);
}

static smma_tolerance_request products_to_measure(const smma_product_target *target, size_t count, int *calls) {
  smma_tolerance_request r = {.target = target, .targets = count, .m = SIZE, .n = SIZE, .k = SIZE};
  smma_error error;
  assert_true(smma_data_from_text("normal", &r.data, &error));
  r.stored = SMMA_NO_FORMAT, r.margin = 2, r.watch = end_at_once, r.context = calls;
  return r;
}

static size_t find_targets(smma_product_target target[SMMA_MOST_TARGETS]) {
  const smma_formats formats = {SMMA_F16, SMMA_F16, SMMA_F32, SMMA_NO_FORMAT, 0};
  const size_t count = smma_find_targets(&formats, target);
  assert_true(count > 1);
  for (size_t t = 0; t < count; t++) {
    assert_true(smma_gpu_has(target[t].label, target[t].instruction->name));
    smma_gemm_defaults(&target[t].product, sizeof target[t].product);
    target[t].product.scale_d = 1;
  }
  return count;
}

static void test_tolerance(void **state) {
  smma_product_target target[SMMA_MOST_TARGETS];
  smma_tolerance_result result;
  smma_error error;
  int calls = 0;
  const smma_tolerance_request request = products_to_measure(target, find_targets(target), &calls);
  (void)state;
  expect_interrupted(smma_tolerance_run(&request, &result, &error), &calls, &error);
}

static void test_sweep(void **state) {
  static smma_sweep_request request;
  smma_product_target target[SMMA_MOST_TARGETS];
  smma_sweep_result result;
  smma_error error;
  int calls = 0;
  (void)state;
  find_targets(target);
  request.of = products_to_measure(target, 1, &calls);
  assert_true(smma_sweep_parse("k=64..1024", &request.sweep, &error));
  expect_interrupted(smma_sweep_run(&request, &result, &error), &calls, &error);
  smma_sweep_free(&result);
}

/* ---- Experiments ---- */

static void test_experiment(void **state) {
  const smma_experiment *e = smma_experiment_find("monotonicity");
  const smma_experiment_state files = {.part = NULL};
  smma_experiment_run run;
  smma_error error;
  int calls = 0;
  bool stopped = false;
  (void)state;
  assert_non_null(e);
  smma_experiment_start(&run, e, true);
  assert_true(smma_experiment_compute(&run, 1, &files, end_at_once, &calls, &stopped, &error));
  assert_true(stopped);
  assert_int_equal(calls, 1);
  smma_experiment_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gen),     cmocka_unit_test(test_copy),
                                     cmocka_unit_test(test_record),  cmocka_unit_test(test_campaign),
                                     cmocka_unit_test(test_compare), cmocka_unit_test(test_tolerance),
                                     cmocka_unit_test(test_sweep),   cmocka_unit_test(test_experiment)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
