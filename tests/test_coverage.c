/* Events of rules: watched test vectors have the model's results, impossible events never happen, and the test vectors
   of a cover reach every event that the search reached. */
#include <stdlib.h>
#include <string.h>

#include "coverage/cover.h"
#include "isa/catalogue.h"
#include "operands.h"
#include "random_unit.h"
#include "rows/generate.h"
#include "support.h"

/* The number of test vectors among which a cover is searched, and the number of random units. */
#ifndef COVERAGE_TRIES
#define COVERAGE_TRIES 12000
#define COVERAGE_UNITS 500
#endif

enum { ROWS = COVERAGE_TRIES / 8, TRIES = COVERAGE_TRIES, UNITS = COVERAGE_UNITS };

static const char *const instructions[][2] = {{"H100", "mma.m16n8k16.f32.f16.f16.f32"},
                                              {"H100", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
                                              {"A100", "mma.m8n8k4.f64.f64.f64.f64"},
                                              {"V100", "mma.m8n8k4.f16.f16.f16.f16"},
                                              {"B200", "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3"},
                                              {"RTX5090", "mma.m16n8k32.block32.f32.e4m3.e4m3.f32.ue8m0"},
                                              {"T4", "mma.m8n8k16.satfinite.s32.s8.s8.s32"},
                                              {"MI100", "v_mfma_f32_16x16x16f16"},
                                              {"MI250X", "v_mfma_f32_16x16x16f16"},
                                              {"MI300X", "v_mfma_f32_16x16x16_f16"},
                                              {"MI300X", "v_mfma_f32_16x16x32_fp8_fp8"},
                                              {"gfx1100", "v_wmma_f32_16x16x16_f16"},
                                              {"gfx1201", "v_wmma_i32_16x16x16_iu8.s8.s8.clamp"},
                                              {"arm", "bfmmla"},
                                              {"x86", "vdpbf16ps"},
                                              {"x86", "tdpfp16ps"},
                                              {"wormhole", "mvmul.hifi2.f32.f16.f16"},
                                              {"blackhole", "mvmul.hifi3.f16.f16.f16"}};

/* ---- Impossible events ---- */

typedef struct {
  const smma_event_space *space;
  const smma_instruction *instruction;
  int results[SMMA_MAXIMUM_STEPS]; /* for each step, how many sums had a result event */
} watched;

/* Reports whether this is a main result event: every sum that is rounded to a format has exactly one of them. */
static bool is_main_result(smma_event e) {
  if (e.block->kind != SMMA_EVENT_RESULT) return false;
  switch ((smma_result_event)e.value) {
    case SMMA_RESULT_NEXT_BINADE:
    case SMMA_RESULT_GREATEST:
    case SMMA_RESULT_SUBNORMAL:
    case SMMA_RESULT_LEAST_NORMAL:
    case SMMA_RESULT_WIDTH: return false;
    default: return true;
  }
}

static void expect_possible(void *context, size_t event) {
  watched *w = context;
  const char *excluded = smma_event_excluded(w->space, event);
  const smma_event e = smma_event_at(w->space, event);
  char words[200], unit[8192];
  if (is_main_result(e)) w->results[e.block->step]++;
  if (!excluded) return;
  smma_custom_text(w->instruction, unit, sizeof unit);
  print_error("%s", unit);
  fail_msg("%s %s: \"%s\" happened: %s", smma_arch_name(w->instruction), w->instruction->name,
           smma_event_words(w->space, event, words, sizeof words), excluded);
}

/* Every sum that is rounded to a format has one main result event. */
static void check_results(const watched *w) {
  const smma_composition *p = smma_event_composition(w->space);
  char unit[8192];
  for (int n = 0; n < p->steps; n++) {
    if (p->step[n].output == SMMA_NO_FORMAT || w->results[n] == w->space->step[n].sums) continue;
    smma_custom_text(w->instruction, unit, sizeof unit);
    fail_msg("%s: step %d has %d sums and %d results", unit, n, w->space->step[n].sums, w->results[n]);
  }
}

/* A test vector whose events are recorded still gives the model's result, and records only events that can occur, with
   one main result event for each sum. */
static void check_row(const smma_instruction *i, const smma_row *row) {
  const smma_operation o = smma_operation_of(i);
  smma_event_space space;
  watched w = {.space = &space, .instruction = i};
  if (!smma_event_space_make(i, &space)) return;
  assert_int_equal(smma_watch_row(&space, row, &(smma_event_watcher){expect_possible, &w}), smma_row_compute(&o, row));
  check_results(&w);
}

static void check_rows(const smma_instruction *i, int rows) {
  const smma_operation o = smma_operation_of(i);
  for (int r = 0; r < rows; r++) {
    const smma_row row = operands_row(&o, 3, (uint64_t)r);
    check_row(i, &row);
  }
}

static void check_cover(const smma_instruction *i) {
  smma_event_space space;
  smma_cover cover;
  uint64_t *hits, *d;
  if (!smma_event_space_make(i, &space)) return;
  assert_true(smma_cover_find(&space, i, 5, TRIES, NULL, NULL, &cover));
  hits = calloc(space.events, sizeof *hits), d = calloc(cover.count, sizeof *d);
  assert_true(smma_count_events(&space, &cover.rows, cover.count, hits, d));
  for (size_t e = 0; e < space.events; e++) {
    char words[200];
    if (!cover.reached[e] != !hits[e])
      fail_msg("%s: \"%s\": %s by the search, %s by its rows", i->name,
               smma_event_words(&space, e, words, sizeof words), cover.reached[e] ? "reached" : "not reached",
               hits[e] ? "reached" : "not reached");
    if (hits[e]) expect_possible(&(watched){.space = &space, .instruction = i}, e);
  }
  for (size_t r = 0; r < cover.count; r++) assert_int_equal(d[r], smma_rows_result(&cover.rows, r));
  free(hits);
  free(d);
  smma_cover_free(&cover);
}

/* ---- Many test vectors at once ---- */

static void count(void *context, size_t event) { ((uint64_t *)context)[event]++; }

/* Counting many test vectors at once gives the same events as watching them one by one. The vectors are operands for
   corner cases, then generated operands of all kinds in turn. Their number is not a multiple of the number of SIMD
   lanes. */
static void check_counts(const smma_instruction *i, size_t rows) {
  const smma_operation o = smma_operation_of(i);
  smma_event_space space;
  smma_rows all;
  uint64_t *together, *one_by_one, *d;
  if (!smma_event_space_make(i, &space)) return;
  assert_true(smma_rows_allocate(i, rows, &all));
  smma_generate_rows(&all, 9, 0, rows, SMMA_ROWS_KINDS, SMMA_ROWS_RANDOM);
  for (size_t r = 0; r < rows / 2; r++) {
    const smma_row row = operands_row(&o, 4, r);
    smma_rows_put(&all, r, &row);
  }
  together = calloc(2 * space.events + rows, sizeof *together);
  assert_non_null(together);
  one_by_one = together + space.events, d = one_by_one + space.events;
  assert_true(smma_count_events(&space, &all, rows, together, d));
  for (size_t r = 0; r < rows; r++) {
    smma_row row;
    smma_rows_get(&all, r, &row);
    assert_int_equal(d[r], smma_watch_row(&space, &row, &(smma_event_watcher){count, one_by_one}));
  }
  for (size_t e = 0; e < space.events; e++) {
    char words[200];
    if (together[e] != one_by_one[e])
      fail_msg("%s %s: \"%s\": %llu rows together, %llu one by one", smma_arch_name(i), i->name,
               smma_event_words(&space, e, words, sizeof words), (unsigned long long)together[e],
               (unsigned long long)one_by_one[e]);
  }
  free(together);
  smma_rows_free(&all);
}

static void test_counts(void **state) {
  (void)state;
  for (size_t n = 0; n < smma_catalogue_count(); n++) {
    const smma_instruction *i = smma_catalogue_at(n);
    if (smma_catalogue_twin(i) == i) check_counts(i, ROWS / 4 + 3);
  }
  for (uint64_t u = 0; u < 4 * UNITS; u++) {
    const smma_custom c = random_composition(1000 + u);
    const smma_instruction *i = smma_custom_make(&c);
    assert_non_null(i);
    check_counts(i, 67);
    smma_custom_release(i);
  }
}

static void test_instructions(void **state) {
  (void)state;
  for (size_t n = 0; n < sizeof instructions / sizeof instructions[0]; n++) {
    const smma_instruction *i = find(instructions[n][0], instructions[n][1]);
    check_rows(i, ROWS);
    check_cover(i);
  }
}

static void test_random_units(void **state) {
  smma_custom (*const make[])(uint64_t) = {random_any_unit, random_composition, random_realistic_unit, random_unit};
  (void)state;
  for (uint64_t u = 0; u < UNITS; u++) {
    const smma_custom c = make[u % 4](u);
    const smma_instruction *i = smma_custom_make(&c);
    assert_non_null(i);
    check_rows(i, ROWS / 4);
    check_counts(i, ROWS / 4 + 3);
    if (u % 4 == 0) check_cover(i);
    smma_custom_release(i);
  }
}

/* Products beyond a limit are infinite, also if the encodings of infinities are numbers. */
static void test_infinite_numbers(void **state) {
  static const char text[] =
      "{\"softmma-unit\": 1, \"name\": \"numbers\", \"algorithm\": \"composition\", \"k\": 2, \"a\": \"bf16\","
      " \"b\": \"bf16\", \"d\": \"f32\", \"product_limit\": 8, \"nan\": \"numbers\", \"steps\": [{\"take\": 2,"
      " \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": 24, \"output\": \"f32\"}]}";
  smma_error error;
  const smma_instruction *i = smma_custom_read("numbers.json", text, sizeof text - 1, &error);
  (void)state;
  assert_non_null(i);
  check_rows(i, ROWS / 4);
  smma_custom_release(i);
}

/* ---- Single events ---- */

/* Returns how often the event with this description happens in a test vector. */
static uint64_t happens_in(const smma_instruction *i, const smma_row *row, const char *words) {
  smma_event_space space;
  smma_rows rows;
  uint64_t *hits, count = 0;
  bool known = false;
  assert_true(smma_event_space_make(i, &space) && smma_rows_allocate(i, 1, &rows));
  smma_rows_put(&rows, 0, row);
  hits = calloc(space.events, sizeof *hits);
  assert_true(smma_count_events(&space, &rows, 1, hits, NULL));
  for (size_t e = 0; e < space.events; e++) {
    char text[200];
    if (strcmp(smma_event_words(&space, e, text, sizeof text), words) != 0) continue;
    known = true;
    count = hits[e];
  }
  if (!known) fail_msg("no event \"%s\"", words);
  free(hits);
  smma_rows_free(&rows);
  return count;
}

static uint64_t happens(const smma_row *row, const char *words) {
  return happens_in(find("H100", "mma.m16n8k16.f32.f16.f16.f32"), row, words);
}

#define UNIT(k, a, d, keys)                                                                             \
  "{\"softmma-unit\": 1, \"name\": \"unit\", \"algorithm\": \"composition\", \"k\": " k ", \"a\": \"" a \
  "\","                                                                                                 \
  " \"b\": \"" a "\", \"d\": \"" d "\"" keys "}"
#define ADD_C(d, keys) \
  "{\"take\": 1, \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": \"exact\", \"output\": \"" d "\"" keys "}"

/* Units with a rare combination of keys, each with a test vector and the event that its last sum has. */
static const struct {
  const char *unit;
  uint64_t a, b, c;
  const char *event;
} rare[] = {
    {UNIT("1", "f16", "s32", ", \"steps\": [" ADD_C("s32", "") "]"), 0x4500, 0x3c00, 0, "sum: exact"}, /* 5 */
    {UNIT("1", "f16", "s32", ", \"steps\": [" ADD_C("s32", "") "]"), 0x3e00, 0x3c00, 1, "sum: rounded toward zero"},
    {UNIT("1", "f16", "s32", ", \"steps\": [" ADD_C("s32", "") "]"), 0x3400, 0x3c00, 0,
     "sum: a sum that is not zero becomes zero"},
    {UNIT("1", "f16", "s32", ", \"steps\": [" ADD_C("s32", "") "]"), 0x7bff, 0x7bff, 0,
     "sum: overflow before rounding"},
    {UNIT("1", "f16", "s32", ", \"steps\": [" ADD_C("s32", "") "]"), 0xbc00, 0x3c00, 0x80000001, "sum: exact"},
    {UNIT("1", "f16", "f16", ", \"steps\": [" ADD_C("f16", ", \"overflow\": \"saturate\"") "]"), 0x4c00, 0x3c00, 0x7bff,
     "sum: overflow by rounding"}, /* 16 + 65504 */
    {UNIT("2", "e2m1", "f16",
          ", \"steps\": [{\"take\": 2, \"join\": \"apart\", \"alignment_bits\": 0, \"exponent_offset\": 100,"
          " \"alignment_rounding\": \"toward-positive\", \"output\": \"f16\"}, " ADD_C("f16", "") "]"),
     2, 2, 0, "step 1, sum: overflow before rounding"},
    {UNIT("2", "f32", "f32",
          ", \"widen\": \"f16\", \"subnormal_a\": \"to-signed-zero\", \"subnormal_b\": \"to-signed-zero\","
          " \"steps\": [{\"take\": 2, \"join\": \"apart\", \"alignment_bits\": 100, \"exponent\": \"normalized\","
          " \"output\": \"f32\"}, " ADD_C("f32", "") "]"),
     0x33800000, 0x3f800000, 0, "step 1, sum: exact"}, /* 2^-24, subnormal in f16 */
};

static void test_rare_units(void **state) {
  (void)state;
  for (size_t n = 0; n < sizeof rare / sizeof rare[0]; n++) {
    const smma_row row = {.a = {rare[n].a}, .b = {rare[n].b}, .c = rare[n].c};
    smma_error error;
    const smma_instruction *i = smma_custom_read("unit.json", rare[n].unit, strlen(rare[n].unit), &error);
    if (!i) fail_msg("%s", error.text);
    if (happens_in(i, &row, rare[n].event) != 1) fail_msg("%zu: no \"%s\"", n, rare[n].event);
    check_row(i, &row);
    check_rows(i, ROWS / 4);
    check_counts(i, 67);
    smma_custom_release(i);
  }
}

/* A sum that narrowing makes zero has an event. */
static void test_narrowed_zero(void **state) {
  const smma_row row = {.a = {0x0d80}, .b = {0x2280}}; /* 2^-158 */
  (void)state;
  check_row(find("MI300X", "v_mfma_f32_16x16x16_bf16"), &row);
}

static void test_events(void **state) {
  enum { ONE = 0x3c00, MINUS_TWO = 0xc000, INFINITY16 = 0x7c00, TINY = 1 };
  smma_row row = {.a = {ONE, ONE}, .b = {ONE, TINY}, .c = 0x3f800000};
  (void)state;
  assert_int_equal(happens(&row, "a[0]: normal"), 1);
  assert_int_equal(happens(&row, "a[2]: +0"), 1);
  assert_int_equal(happens(&row, "b[1]: subnormal"), 1);
  assert_int_equal(happens(&row, "term 0: begins 0 binades below the reference exponent"), 1);
  assert_int_equal(happens(&row, "term 1: begins 14 binades below the reference exponent"), 1);
  assert_int_equal(happens(&row, "sum: two terms bring the reference exponent"), 1);
  assert_int_equal(happens(&row, "sum: begins 1 binades above the greatest term"), 1);
  assert_int_equal(happens(&row, "sum: last bit 0, guard 0, sticky 1, positive, normal"), 1); /* 2 + 2^-24 */
  assert_int_equal(happens(&row, "sum: rounded toward zero"), 1);
  assert_int_equal(happens(&row, "sum: exact"), 0);
  row.c = 0x4b800000; /* 2^24 */
  assert_int_equal(happens(&row, "accumulator: brings the reference exponent alone"), 1);
  assert_int_equal(happens(&row, "terms: a positive one loses nothing"), 1);
  assert_int_equal(happens(&row, "terms: a positive one loses all"), 1);
  row = (smma_row){.a = {ONE, ONE}, .b = {ONE, ONE}, .c = 0xc0000000};
  assert_int_equal(happens(&row, "sum: zero by cancellation or truncation"), 1);
  assert_int_equal(happens(&row, "sum: zero of terms that are not"), 1);
  row = (smma_row){.a = {MINUS_TWO, INFINITY16, 0}, .b = {ONE, ONE, INFINITY16}};
  assert_int_equal(happens(&row, "0 x infinity"), 1);
  assert_int_equal(happens(&row, "infinite products of one sign alone"), 0);
  assert_int_equal(happens(&row, "sum: NaN"), 1);
  row.b[2] = 0, row.c = 0x7f800000;
  assert_int_equal(happens(&row, "an infinite product and an infinite c of one sign"), 1);
  assert_int_equal(happens(&row, "accumulator: an infinity"), 1);
  row.c = 0xff800000;
  assert_int_equal(happens(&row, "an infinite product against an infinite c"), 1);
}

static void test_repeats(void **state) {
  const smma_instruction *i = find("MI300X", "v_mfma_f32_16x16x16_f16");
  smma_event_space space;
  smma_cover x, y;
  (void)state;
  assert_true(smma_event_space_make(i, &space));
  assert_true(smma_cover_find(&space, i, 1, TRIES, NULL, NULL, &x) &&
              smma_cover_find(&space, i, 1, TRIES, NULL, NULL, &y));
  assert_int_equal(x.count, y.count);
  for (size_t r = 0; r < x.count; r++) {
    smma_row one, other;
    smma_rows_get(&x.rows, r, &one);
    smma_rows_get(&y.rows, r, &other);
    assert_true(smma_same_operands_in(&x.rows.layout, &one, &other));
  }
  smma_cover_free(&x);
  smma_cover_free(&y);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_events),           cmocka_unit_test(test_rare_units),
                                     cmocka_unit_test(test_narrowed_zero),    cmocka_unit_test(test_counts),
                                     cmocka_unit_test(test_instructions),     cmocka_unit_test(test_random_units),
                                     cmocka_unit_test(test_infinite_numbers), cmocka_unit_test(test_repeats)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
