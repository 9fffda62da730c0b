/* Summation trees of random custom units: each is found correctly, or reported as not determinable, within a time
   limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "expected_tree.h"
#include "isa/compose.h"
#include "random_unit.h"
#include "support.h"
#include "tree/find.h"
#include "tree/text.h"

#define MOST_SECONDS 20.0 /* most units take far less than one second; a slow or loaded machine may take more */

enum { UNITS = 400, PLACES = 3 };

typedef struct {
  int right, doubted, hidden, wrong, slow;
  double longest;
} tally;

/* Returns the number of units; set a larger number by hand. */
static int unit_count(void) {
  const char *text = getenv("SOFTMMA_CUSTOM_UNITS");
  return text ? atoi(text) : UNITS;
}

/* Finds and writes a tree, as `softmma tree` does, and measures the time. */
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

/* Return whether the tree reports that the terms of a sum are truncated differently, or that the order may be
   incomplete. */
static bool is_uneven(const smma_tree *t) {
  bool any = false;
  for (int n = t->summands.count; n < t->nodes; n++) any |= t->uneven[n];
  return any;
}

static bool has_doubts(const smma_tree *t) {
  bool any = is_uneven(t);
  for (int n = t->summands.count; n < t->nodes; n++) any |= t->hidden[n];
  return any;
}

/* Reports whether the tree is right, whichever products represent their scale blocks. */
static bool is_right(const smma_instruction *i, const smma_tree *got, int number) {
  uint64_t random = (uint64_t)number;
  bool stages;
  for (int place = 0; place < PLACES; place++) {
    int product[SMMA_MOST_SUMMANDS];
    for (int n = 0; n < got->summands.count; n++)
      product[n] = (int)random_below(&random, (unsigned)got->summands.products);
    if (is_expected_tree(i, product, got, &stages)) continue;
    print_unit(i, number);
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
  assert_true(count.right >= units * 2 / 5); /* many units have formats too narrow to show an order */
}

/* ---- Stages ---- */

enum { STAGED_UNITS = 150 };

/* A composition and its tree. Groups of products are aligned separately, possibly again in larger groups, and then with
   c, all at once or in a chain. */
typedef struct {
  smma_custom custom;
  int group[2], turn; /* products in a group of each stage (0: no such stage) */
  int blocks;         /* number of groups in the chain; c is in the first */
} staged;

static smma_rounding random_cut(uint64_t *state) {
  static const smma_rounding cuts[] = {SMMA_ROUND_TOWARD_ZERO, SMMA_ROUND_TOWARD_ZERO, SMMA_ROUND_NEAREST_EVEN,
                                       SMMA_ROUND_DOWN};
  return cuts[random_below(state, 4)];
}

static smma_step staged_step(uint64_t *state, smma_join join, int take, int window, smma_format output) {
  smma_step s = smma_exact_step(take, output);
  s.join = join;
  s.window = window;
  s.start = join == SMMA_JOIN_CHAIN ? SMMA_START_C : SMMA_START_NOTHING;
  s.term.bits = random_between(state, 8, 30);
  s.term.rounding = random_cut(state);
  s.accumulator = s.term;
  return s;
}

static staged random_staged(uint64_t seed) {
  uint64_t state = seed ^ UINT64_C(0x57a6ed);
  smma_custom_fault fault;
  staged u;
  smma_composition *p = &u.custom.named.rule.with.composition;
  memset(&u, 0, sizeof u);
  do {
    const int k = (2 + (int)random_below(&state, 2)) << random_below(&state, 5);
    const int first =
        random_below(&state, 5) ? smma_minimum((2 + (int)random_below(&state, 2)) << random_below(&state, 2), k) : k;
    const int second = random_below(&state, 3) == 0 && k > 2 * first ? 2 * first : 0;
    if (k % first || (second && k % second)) continue;
    const int groups = k / (second ? second : first);
    smma_step s;
    memset(&u, 0, sizeof u);
    u.group[0] = first, u.group[1] = second;
    u.custom.instruction = (smma_instruction){.name = "staged",
                                              .m = 16,
                                              .n = 8,
                                              .k = k,
                                              .a = SMMA_BF16,
                                              .b = SMMA_BF16,
                                              .c = SMMA_F32,
                                              .d = SMMA_F32,
                                              .scale = SMMA_NO_FORMAT};
    u.custom.named.rule.algorithm = SMMA_COMPOSITION;
    *p = smma_no_steps();
    s = staged_step(&state, SMMA_JOIN_APART, first, k, SMMA_NO_FORMAT);
    u.turn = second || random_below(&state, 2) ? first : 1;
    s.turn = u.turn;
    if (random_below(&state, 3) == 0)
      s.output = SMMA_F32, s.rounding = random_below(&state, 2) ? SMMA_ROUND_NEAREST_EVEN : SMMA_ROUND_TOWARD_ZERO;
    p->step[p->steps++] = s;
    if (second) p->step[p->steps++] = staged_step(&state, SMMA_JOIN_APART, 2, 2, SMMA_NO_FORMAT);
    u.blocks = groups == 1 || random_below(&state, 2) ? 1 : groups / 2;
    s = staged_step(&state, SMMA_JOIN_CHAIN, groups / u.blocks, groups / u.blocks, SMMA_F32);
    s.window = groups;
    if (random_below(&state, 3) == 0) s.accumulator.bits = random_between(&state, 8, 30);
    s.turn = s.take;
    s.rounding = random_below(&state, 2) ? SMMA_ROUND_NEAREST_EVEN : SMMA_ROUND_TOWARD_ZERO;
    p->step[p->steps++] = s;
  } while (!smma_custom_check(&u.custom, &fault));
  return u;
}

/* Makes sums of `take` nodes each; nodes are distributed `turn` at a time. Returns the number of sums. */
static int expect_groups(smma_tree *t, int *node, int count, int take, int turn) {
  const int groups = count / take;
  int sum[SMMA_MOST_SUMMANDS];
  for (int g = 0; g < groups; g++) sum[g] = t->nodes++;
  for (int n = 0; n < count; n++) t->parent[node[n]] = sum[n / turn % groups];
  memcpy(node, sum, (size_t)groups * sizeof *node);
  return groups;
}

static smma_tree expect_staged(const staged *u, const smma_tree *got) {
  smma_tree t = {.summands = got->summands, .nodes = got->summands.count};
  const int c = t.summands.count - 1;
  int node[SMMA_MOST_SUMMANDS], count = c, before = c;
  for (int n = 0; n < SMMA_MOST_TREE_NODES; n++) t.parent[n] = SMMA_NO_PARENT;
  for (int k = 0; k < c; k++) node[k] = k;
  count = expect_groups(&t, node, count, u->group[0], u->turn);
  if (u->group[1]) count = expect_groups(&t, node, count, 2, 2);
  for (int n = 0; n < count; n++) {
    if (n % (count / u->blocks) == 0) {
      t.parent[before] = t.nodes;
      before = t.nodes++;
    }
    t.parent[node[n]] = before;
  }
  t.root = before;
  return t;
}

static void judge_staged(const staged *u, const smma_instruction *i, int number, const smma_tree *got, tally *count) {
  const smma_tree expected = expect_staged(u, got);
  const bool right = same_trees(&expected, got);
  if (right && !is_uneven(got)) {
    count->right++;
  } else if (!right && has_doubts(got)) {
    count->doubted++;
  } else {
    count->wrong++;
    print_unit(i, number);
    print_difference(i, &expected, got);
  }
}

static void test_staged_units(void **state) {
  tally count = {0};
  smma_unit unit;
  smma_error error;
  (void)state;
  assert_true(smma_unit_open("model", &unit, &error));
  for (int n = 0; n < STAGED_UNITS; n++) {
    const staged u = random_staged((uint64_t)n);
    const smma_instruction *i = smma_custom_make(&u.custom);
    smma_tree got;
    const smma_tree_status status = smma_find_tree(&unit, i, &got, &error);
    assert_int_not_equal(status, SMMA_TREE_FAILED);
    if (status == SMMA_TREE_HIDDEN)
      count.hidden++;
    else
      judge_staged(&u, i, n, &got, &count);
    smma_custom_release(i);
  }
  smma_unit_close(&unit);
  printf("%d units: %d right, %d with doubts, %d cannot be told, %d wrong\n", STAGED_UNITS, count.right, count.doubted,
         count.hidden, count.wrong);
  assert_int_equal(count.wrong, 0);
  assert_true(count.right >= STAGED_UNITS * 3 / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_custom_units), cmocka_unit_test(test_staged_units)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
