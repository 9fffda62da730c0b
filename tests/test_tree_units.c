/* Summation trees of custom units at random: each is told as it is, or it is said that it cannot be told; and soon. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "expected_tree.h"
#include "random_unit.h"
#include "support.h"
#include "tree/find.h"
#include "tree/text.h"

#define MOST_SECONDS 2.0

enum { UNITS = 400, PLACES = 3 };

typedef struct {
  int right, hidden, wrong, slow;
  double longest;
} tally;

/* More of them by hand. */
static int unit_count(void) {
  const char *text = getenv("SOFTMMA_CUSTOM_UNITS");
  return text ? atoi(text) : UNITS;
}

/* Of all that `softmma tree` does. */
static smma_tree_status find_and_write(smma_unit *unit, const smma_instruction *i, smma_tree *t, double *seconds) {
  const clock_t start = clock();
  FILE *nowhere = fopen("/dev/null", "w");
  smma_error error;
  const smma_tree_status status = smma_find_tree(unit, i, t, &error);
  assert_non_null(nowhere);
  if (status == SMMA_TREE_FOUND) {
    smma_print_tree(nowhere, t);
    smma_write_tree_graph(nowhere, t, i->name);
  }
  fclose(nowhere);
  *seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  return status;
}

static void print_unit(const smma_instruction *i, int number) {
  char text[4096];
  smma_custom_write(i, text, sizeof text);
  printf("unit %d is told wrong:\n%s", number, text);
}

/* Whichever products stand for their scale blocks. */
static bool is_right(const smma_instruction *i, const smma_tree *got, int number) {
  uint64_t random = (uint64_t)number;
  smma_tree expected;
  for (int place = 0; place < PLACES; place++) {
    int product[SMMA_MOST_SUMMANDS];
    for (int n = 0; n < got->summands.count; n++)
      product[n] = (int)random_below(&random, (unsigned)got->summands.products);
    expect_tree(i, &got->summands, product, &expected);
    if (same_trees(&expected, got)) continue;
    print_unit(i, number);
    print_difference(i, &expected, got);
    return false;
  }
  return true;
}

static void judge(smma_unit *unit, int number, tally *count) {
  const smma_custom custom = random_any_unit((uint64_t)number);
  const smma_instruction *i = smma_custom_make(&custom);
  smma_tree got;
  double seconds;
  const smma_tree_status status = find_and_write(unit, i, &got, &seconds);
  assert_int_not_equal(status, SMMA_TREE_FAILED);
  if (status == SMMA_TREE_HIDDEN)
    count->hidden++;
  else if (is_right(i, &got, number))
    count->right++;
  else
    count->wrong++;
  if (seconds > MOST_SECONDS) count->slow++, printf("unit %d takes %.1f s\n", number, seconds);
  if (seconds > count->longest) count->longest = seconds;
  smma_custom_release(i);
}

static void test_custom_units(void **state) {
  const int units = unit_count();
  tally count = {0};
  smma_unit unit;
  smma_error error;
  (void)state;
  assert_true(smma_unit_open("model", &unit, &error));
  for (int u = 0; u < units; u++) judge(&unit, u, &count);
  smma_unit_close(&unit);
  printf("%d units: %d right, %d cannot be told, %d wrong, %d slow; the longest %.2f s\n", units, count.right,
         count.hidden, count.wrong, count.slow, count.longest);
  assert_int_equal(count.wrong, 0);
  assert_int_equal(count.slow, 0);
  assert_true(count.right >= units * 2 / 5); /* many have formats too narrow to tell */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_custom_units)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
