/* Infers random units. The search knows only their formats and K. Each unit must be identified exactly, or be reported
   as not found. */
#include <stdio.h>
#include <stdlib.h>

#include "amount.h"
#include "campaign/chain.h"
#include "equal/witness.h"
#include "infer/infer.h"
#include "random_unit.h"
#include "support.h"

/* Numbers of test vectors that must not distinguish the identified model from the unit: drawn with another seed, and
   searched for. */
enum { FRESH = 200000, NEIGHBOURS = 6000, JUDGED_ROWS = 60000 };

/* SHORT_UNITS is the number of short units, which take some seconds each; UNITS is the number of units of any length;
   TWO_STEP_UNITS is the number of short units with two steps, and COARSE_UNITS of those with coarse exponents. */
enum { SHORT_UNITS = 24, SHORT = 4, UNITS = 8, TWO_STEP_UNITS = 24, COARSE_UNITS = 24 };

typedef struct {
  int found, not_found, wrong;
  double seconds;
} tally;

/* Reads an environment variable "FROM-TO", a range of units to test by hand. One variable is for all units, another one
   for units of two steps. */
static bool is_by_hand(const char *variable, int *from, int *to) {
  const char *text = getenv(variable);
  if (!text) return false;
  assert_int_equal(sscanf(text, "%d-%d", from, to), 2);
  return true;
}

/* Reports whether one of the searched test vectors distinguishes two instructions. */
static bool differ(const smma_instruction *i, const smma_instruction *other, smma_unit *models) {
  smma_error error;
  smma_unit custom = *models, second;
  smma_witness witness;
  const smma_search search = {.unit = {&custom, &second},
                              .as = i,
                              .rule = {&i->rule->rule, &other->rule->rule},
                              .rows = JUDGED_ROWS,
                              .seed = 77};
  assert_true(smma_chain_open(models, other, i, i->k, false, &second, &error));
  assert_true(smma_find_witness(&search, &witness, &error));
  smma_unit_close(&second);
  return witness.found;
}

static void print_unit(const smma_instruction *i, int number, const char *what) {
  static char text[1 << 16];
  smma_custom_write(i, text, sizeof text);
  printf("unit %d: %s\n%s", number, what, text);
}

/* Tests one unit. NaN are compared only if the model claims to define them. */
static void judge(smma_unit *models, smma_custom custom, int number, tally *count) {
  smma_custom model;
  const smma_instruction *i = smma_custom_make(&custom), *other;
  const smma_infer_request request = {.unit = models,
                                      .instruction = i,
                                      .seed = (uint64_t)number,
                                      .fresh = FRESH,
                                      .neighbours = NEIGHBOURS,
                                      .budget = SMMA_INFER_BUDGET};
  smma_inference found;
  smma_error error;
  if (!smma_infer(&request, &found, &error)) fail_msg("unit %d: %s", number, error.text);
  model = found.model;
  model.instruction.name = "inferred";
  other = smma_custom_make(&model);
  assert_non_null(other);
  count->seconds += found.seconds;
  if (found.outcome != SMMA_INFERRED) {
    count->not_found++;
    printf("unit %d: not found, %.1f s, %llu vectors, %zu of %zu rows disagree\n", number, found.seconds,
           (unsigned long long)found.computed, found.wrong, found.samples);
    print_unit(i, number, "it is"), print_unit(other, number, "found");
  } else if (differ(i, other, models)) {
    count->wrong++;
    print_unit(i, number, "a wrong claim; it is");
    print_unit(other, number, "found");
  } else {
    count->found++;
    printf("unit %d: %.1f s, %llu vectors\n", number, found.seconds, (unsigned long long)found.computed);
    fflush(stdout);
  }
  smma_free_inference(&found);
  smma_custom_release(other);
  smma_custom_release(i);
}

/* Checks that no claim is wrong, and that at least this number of a hundred units is identified. Units of another seed
   may be harder: half of them must be identified. */
static void judge_all(tally count, int least) {
  const int units = count.found + count.not_found + count.wrong;
  if (!units) return;
  printf("%d units: %d found, %d not found, %d wrong claims; %.1f s each\n", units, count.found, count.not_found,
         count.wrong, count.seconds / units);
  assert_int_equal(count.wrong, 0);
  assert_true(count.found * 100 >= units * (amount_of("SOFTMMA_SEED", 0) ? 50 : least));
}

static void test_random_units(void **state) {
  tally count = {0};
  smma_unit models;
  smma_error error;
  int from = 0, to = UNITS;
  (void)state;
  is_by_hand("SOFTMMA_INFERRED_UNITS", &from, &to);
  assert_true(smma_unit_open("model", &models, &error));
  for (int u = from; u < to; u++) judge(&models, random_realistic_unit((uint64_t)u), u, &count);
  smma_unit_close(&models);
  judge_all(count, 95);
}

static void test_short_units(void **state) {
  tally count = {0};
  smma_unit models;
  smma_error error;
  int from, to, judged = 0;
  (void)state;
  if (is_by_hand("SOFTMMA_INFERRED_UNITS", &from, &to)) return;
  assert_true(smma_unit_open("model", &models, &error));
  for (int u = UNITS; judged < SHORT_UNITS; u++) {
    const smma_custom custom = random_realistic_unit((uint64_t)u);
    if (custom.instruction.k > SHORT) continue;
    judge(&models, custom, u, &count);
    judged++;
  }
  smma_unit_close(&models);
  judge_all(count, 95);
}

/* Judges the units from `from` to `to`, or those of a variable; these may have any length. */
static void judge_made(smma_custom (*make)(uint64_t), const char *variable, int from, int to, int least) {
  tally count = {0};
  smma_unit models;
  smma_error error;
  const bool by_hand = is_by_hand(variable, &from, &to);
  assert_true(smma_unit_open("model", &models, &error));
  for (int u = from; u < to; u++) {
    const smma_custom custom = make((uint64_t)u);
    if (by_hand || custom.instruction.k <= SHORT) judge(&models, custom, u, &count);
  }
  smma_unit_close(&models);
  judge_all(count, least);
}

static void test_two_step_units(void **state) {
  (void)state;
  judge_made(random_two_step_unit, "SOFTMMA_INFERRED_TWO_STEPS", 0, TWO_STEP_UNITS, 90);
}

static void test_coarse_units(void **state) {
  (void)state;
  judge_made(random_coarse_unit, "SOFTMMA_INFERRED_COARSE", 0, COARSE_UNITS, 70);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_units), cmocka_unit_test(test_short_units),
                                     cmocka_unit_test(test_two_step_units), cmocka_unit_test(test_coarse_units)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
