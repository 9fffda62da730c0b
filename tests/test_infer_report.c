/* The report of a search: what it counts, which limits it keeps, and how it describes units that no model describes. */
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "infer/fit.h"
#include "infer/report.h"
#include "rows/generate.h"
#include "support.h"

/* A unit that computes an instruction with faults, and counts what it computes. */
typedef struct {
  unsigned every; /* about one vector in `every` has a wrong last bit, by a hash of its operands; 0: none */
  int odd;        /* the product at this k loses the last bit of a; -1: none */
  bool zero_is_minus_one;
  uint64_t rows, calls;
} faulty_unit;

static uint64_t hash_of(const smma_instruction *i, const smma_row *row) {
  uint64_t hash = row->c;
  for (int k = 0; k < i->k; k++) hash = (hash ^ row->a[k] << 32 ^ row->b[k]) * UINT64_C(0x9e3779b97f4a7c15);
  return (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 32;
}

static int run_faulty(void *state, const smma_instruction_info *info, const smma_batch *batch, char *message,
                      size_t size) {
  faulty_unit *x = state;
  const smma_instruction *i = info->instruction;
  const smma_encoding d = smma_encoding_of(i->d);
  const smma_operation o = smma_operation_of(i);
  (void)message, (void)size;
  x->calls++;
  x->rows += batch->rows;
  smma_rows rows = smma_rows_of_batch(i, batch);
  for (size_t r = 0; r < batch->rows; r++) {
    smma_row row;
    smma_rows_get(&rows, r, &row);
    if (x->odd >= 0) row.a[x->odd] &= ~UINT64_C(1);
    row.d = smma_row_compute(&o, &row);
    if (x->every && hash_of(i, &row) % x->every == 1 && smma_decode(d, row.d).kind <= SMMA_FINITE) row.d ^= 1;
    if (x->zero_is_minus_one && row.d == 0) row.d = UINT32_MAX;
    smma_store(smma_container_bytes(d), batch->d, r, row.d);
  }
  return 0;
}

static const smma_unit_methods faulty_methods = {.abi = SMMA_UNIT_ABI, .run = run_faulty};

/* Infers a faulty unit. Checks that the report counts all that the unit computed, and that nothing in it belongs to
   another model. */
static void infer_faulty(const char *gpu, const char *name, faulty_unit *x, smma_infer_request request,
                         smma_inference *found) {
  enum { CHECKED_AT_ONCE = 16384 };
  smma_unit unit = {.name = "faulty", .methods = &faulty_methods, .state = x};
  smma_error error;
  request.unit = &unit;
  request.instruction = smma_find(gpu, name, NULL);
  assert_non_null(request.instruction);
  if (!smma_infer(&request, found, &error)) fail_msg("%s", error.text);
  assert_int_equal(found->rows + found->fresh, x->rows);
  assert_int_equal(found->calls + (found->fresh + CHECKED_AT_ONCE - 1) / CHECKED_AT_ONCE, x->calls);
  if (!found->wrong) return;
  assert_int_equal(found->outcome, SMMA_NOT_INFERRED);
  assert_null(found->same);
  assert_int_equal(found->neighbours + found->proof_count + found->fresh, 0);
  assert_true(found->misfit.wrong > 0 && found->misfit.examples > 0);
}

static void test_counts(void **state) {
  static const char name[] = "mma.m8n8k4.f32.f16.f16.f32";
  static const struct {
    unsigned every;
    uint64_t most_rows;
    bool is_found;
  } tests[] = {{0, 0, true}, {0, 40000, true}, {0, 34000, false}, {300, 0, false}, {300, 1, false}, {40000, 0, false}};
  (void)state;
  for (size_t n = 0; n < sizeof tests / sizeof *tests; n++) {
    faulty_unit x = {.every = tests[n].every, .odd = -1};
    smma_inference found;
    infer_faulty(
        "V100", name, &x,
        (smma_infer_request){.fresh = 400000, .neighbours = 500, .budget = 300000, .most_rows = tests[n].most_rows},
        &found);
    assert_int_equal(smma_has_inferred(&found), tests[n].is_found);
    if (tests[n].most_rows > 30000) assert_true(x.rows <= tests[n].most_rows + 1000);
    if (tests[n].most_rows == 1) assert_true(x.rows < 31000);
    smma_free_inference(&found);
  }
}

static void test_odd_product(void **state) {
  enum { ODD = 60 };
  faulty_unit x = {.odd = ODD};
  smma_inference found;
  (void)state;
  infer_faulty("A100", "mma.m16n8k64.s32.s4.s4.s32", &x,
               (smma_infer_request){.fresh = 1000, .neighbours = 500, .budget = 1000}, &found);
  assert_int_equal(found.reason, SMMA_INFER_ODD_PRODUCT);
  assert_int_equal(found.misfit.odd, ODD);
  smma_free_inference(&found);
}

/* The results -1 and 0 are neighbouring integers, although their encodings are far apart. */
static void test_neighbouring_results(void **state) {
  faulty_unit x = {.odd = -1, .zero_is_minus_one = true};
  smma_inference found;
  (void)state;
  infer_faulty("A100", "mma.m16n8k16.s32.s8.s8.s32", &x,
               (smma_infer_request){.fresh = 1000, .neighbours = 500, .budget = 1000}, &found);
  assert_int_equal(found.misfit.wrong_with[SMMA_HOLDS_NEXT_RESULT], found.misfit.wrong);
  smma_free_inference(&found);
}

/* A selection of all samples has each of them once, whatever their number. */
static void test_selection(void **state) {
  static const size_t counts[] = {1, 5000, 7918, 7919, 3 * 7919};
  const smma_instruction *i = smma_find("V100", "mma.m8n8k4.f32.f16.f16.f32", NULL);
  (void)state;
  for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
    smma_samples samples;
    smma_rows rows;
    smma_fit fit;
    bool *seen = calloc(counts[n], sizeof *seen);
    assert_true(seen && smma_rows_allocate(i, counts[n], &rows) && smma_samples_open(i, &samples) &&
                smma_samples_add(&samples, &rows, 0, counts[n]) && smma_fit_open(&samples, i, &fit));
    assert_int_equal(fit.selected, counts[n]);
    for (size_t s = 0; s < fit.selected; s++) {
      assert_true(fit.order[s] < counts[n] && !seen[fit.order[s]]);
      seen[fit.order[s]] = true;
    }
    smma_fit_close(&fit);
    smma_samples_close(&samples);
    smma_rows_free(&rows);
    free(seen);
  }
}

/* The description of vectors with many products is not cut. */
static void test_long_description(void **state) {
  static smma_infer_misfit m = {.odd = -1, .examples = 1};
  const smma_instruction *i = smma_find("A100", "mma.m16n8k256.s32.b1.b1.s32.and.popc", NULL);
  static const char end[] = ", 252, 253, 255; the greatest always of exponent 2; c is zero";
  char text[SMMA_MISFIT_SIZE];
  (void)state;
  assert_non_null(i);
  for (int k = 0; k < i->k; k++) m.example[0].a[k] = m.example[0].b[k] = k % 3 < 2;
  smma_describe_misfit(i, &m, text);
  if (strlen(text) < sizeof end || strcmp(text + strlen(text) + 1 - sizeof end, end) != 0) fail_msg("%.900s", text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_odd_product),
                                     cmocka_unit_test(test_selection), cmocka_unit_test(test_neighbouring_results),
                                     cmocka_unit_test(test_long_description)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
