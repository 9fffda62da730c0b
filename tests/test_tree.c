/* Summation trees: those of the models against what their algorithms say, and random ones of a unit made for it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "isa/catalogue.h"
#include "support.h"
#include "tree/text.h"

/* ---- Trees ---- */

static bool is_below(const smma_tree *t, int node, int sum) {
  while (node != SMMA_NO_PARENT && node != sum) node = t->parent[node];
  return node == sum;
}

static bool same_summands(const smma_tree *x, int sum_x, const smma_tree *y, int sum_y) {
  for (int n = 0; n < x->summands.count; n++)
    if (is_below(x, n, sum_x) != is_below(y, n, sum_y)) return false;
  return true;
}

/* Whether both have sums of the same summands. */
static bool same_trees(const smma_tree *x, const smma_tree *y) {
  if (x->nodes != y->nodes || x->summands.count != y->summands.count) return false;
  for (int i = x->summands.count; i < x->nodes; i++) {
    int j = y->summands.count;
    while (j < y->nodes && !same_summands(x, i, y, j)) j++;
    if (j == y->nodes) return false;
  }
  return true;
}

static void print_difference(const smma_instruction *i, const smma_tree *expected, const smma_tree *got) {
  printf("%s %s: expected\n", smma_architectures[i->arch].name, i->name);
  smma_print_tree(stdout, expected);
  printf("got\n");
  smma_print_tree(stdout, got);
}

/* ---- What an algorithm says ---- */

/* A new sum of `first`, unless that is none, and `count` summands from `from` on in steps of `step`. */
static int add_sum(smma_tree *t, int first, int from, int count, int step) {
  const int sum = t->nodes++;
  t->parent[sum] = SMMA_NO_PARENT;
  if (first >= 0) t->parent[first] = sum;
  for (int i = 0; i < count; i++) t->parent[from + i * step] = sum;
  return sum;
}

static int add_pair(smma_tree *t, int x, int y) {
  const int sum = add_sum(t, x, 0, 0, 1);
  t->parent[y] = sum;
  return sum;
}

static int pairwise_sum(smma_tree *t, int from, int count) {
  if (count == 1) return from;
  return add_pair(t, pairwise_sum(t, from, count / 2), pairwise_sum(t, from + count / 2, count / 2));
}

static int fp8_by_fp16_chain(const smma_operation *o, smma_tree *t) {
  int sum = -1;
  const int blocks = smma_blocks_per_step(o);
  for (int block = 0; block < blocks; block++) {
    sum = add_sum(t, sum, 0, 0, 1);
    for (int k = 0; k < o->k; k++)
      if (k / 2 % blocks == block) t->parent[k] = sum;
  }
  return sum;
}

/* The sum of block `from / block` with what was before. */
static int add_block(const smma_operation *o, smma_tree *t, int before, int from, int block) {
  int sum;
  switch (o->rule.algorithm) {
    case SMMA_FMA: return add_pair(t, before, from);
    case SMMA_FTZ_FMA: return add_pair(t, before, o->k - 1 - from);
    case SMMA_FTZ_ADDMUL: return add_pair(t, before, pairwise_sum(t, from, block));
    case SMMA_TR_FDPA: return add_pair(t, before, add_sum(t, -1, from, block, 1));
    case SMMA_GTR_FDPA:
      sum = add_pair(t, before, add_sum(t, -1, from, block / 2, 2));
      t->parent[add_sum(t, -1, from + 1, block / 2, 2)] = sum;
      return sum;
    default: return add_sum(t, before, from, block, 1);
  }
}

static void expect_tree(const smma_operation *o, const smma_summands *summands, smma_tree *t) {
  const int products = summands->count - 1;
  const int block = o->rule.algorithm == SMMA_GST_FDPA ? products : smma_block_of(o);
  int sum = products;
  *t = (smma_tree){.summands = *summands, .nodes = products + 1};
  for (int i = 0; i < SMMA_MOST_TREE_NODES; i++) t->parent[i] = SMMA_NO_PARENT;
  if (o->rule.algorithm == SMMA_FP8_BY_FP16)
    sum = add_pair(t, sum, fp8_by_fp16_chain(o, t));
  else
    for (int from = 0; from < products; from += block) sum = add_block(o, t, sum, from, block);
  t->root = sum;
}

/* ---- The models ---- */

static bool is_narrow(smma_format format) { return format == SMMA_E3M2 || format == SMMA_E2M3 || format == SMMA_E2M1; }

/* Whether the order cannot be seen: narrow products that no second scale block helps; but those of E5M2 are wide. */
static bool is_hidden(const smma_instruction *i) {
  if (i->a == SMMA_E5M2 || i->b == SMMA_E5M2) return false;
  return (is_narrow(i->a) || is_narrow(i->b)) && (!i->scale_block || i->scale_block == i->k);
}

static void check_instruction(smma_unit *unit, const smma_instruction *i) {
  const smma_operation o = smma_operation_of(i);
  smma_tree expected, got;
  smma_error error = {""};
  const smma_tree_status status = smma_find_tree(unit, i, &got, &error);
  if (smma_is_integer(i->d)) {
    assert_int_equal(status, SMMA_TREE_HIDDEN);
    assert_non_null(strstr(error.text, "exact"));
    return;
  }
  if (is_hidden(i)) {
    assert_int_equal(status, SMMA_TREE_HIDDEN);
    assert_non_null(strstr(error.text, "too few"));
    return;
  }
  if (status != SMMA_TREE_FOUND) printf("%s: %s\n", i->name, error.text);
  assert_int_equal(status, SMMA_TREE_FOUND);
  expect_tree(&o, &got.summands, &expected);
  if (!same_trees(&expected, &got)) print_difference(i, &expected, &got);
  assert_true(same_trees(&expected, &got));
  /* That all products are in one fused sum only all pairs show. */
  if (i->k >= 16 && (smma_blocks_per_step(&o) > 1 || !smma_is_fused(&o)))
    assert_in_range(got.rows, 1, i->k * i->k / 2 - 1);
}

static void test_models(void **state) {
  const size_t count = smma_catalogue_count();
  const smma_instruction **done = malloc(count * sizeof *done);
  size_t different = 0;
  smma_unit unit;
  smma_error error;
  (void)state;
  assert_non_null(done);
  assert_true(smma_unit_open("model", &unit, &error));
  for (size_t n = 0; n < count; n++) {
    const smma_instruction *i = smma_catalogue_at(n);
    size_t same = 0;
    while (same < different && !smma_same_operation(done[same], i)) same++;
    if (same < different) continue;
    done[different++] = i;
    check_instruction(&unit, i);
  }
  assert_true(different > 100);
  smma_unit_close(&unit);
  free(done);
}

/* ---- Random trees ---- */

enum { TREES = 200 };

/* How a sum of more than two adds, before it is rounded to FP32; or all are rounded in one direction. */
typedef enum { EXACTLY, CUT_OFF, EITHER, EACH_DOWN, DOWNWARD, TOWARD_ZERO } way;

typedef struct {
  smma_tree tree;
  way ways[SMMA_MOST_TREE_NODES];
} random_unit;

/* Terms are near +-M or small; both kinds sum exactly. */
static double add_terms(const random_unit *u, int node, const double *term, int count) {
  double huge = 0, small = 0;
  bool any = false;
  for (int i = 0; i < count; i++) {
    if (term[i] > 256 || term[i] < -256)
      huge += term[i], any = true;
    else
      small += term[i];
  }
  if (count > 2 && u->ways[node] == CUT_OFF && any) small = 0;
  if (count > 2 && u->ways[node] == EACH_DOWN && any) small = small < 0 ? -256 : 0;
  if (u->ways[node] == DOWNWARD && huge != 0) return small < 0 ? huge - ldexp(huge < 0 ? -huge : huge, -23) : huge;
  if (u->ways[node] == TOWARD_ZERO && huge * small < 0) return huge - ldexp(huge, -24);
  return (float)(huge + small);
}

static double evaluate(const random_unit *u, int node, const double *summand) {
  int child[SMMA_MOST_SUMMANDS];
  double term[SMMA_MOST_SUMMANDS];
  const int count = smma_tree_is_leaf(&u->tree, node) ? 0 : smma_tree_children(&u->tree, node, child);
  if (count == 0) return summand[node];
  for (int i = 0; i < count; i++) term[i] = evaluate(u, child[i], summand);
  return add_terms(u, node, term, count);
}

static double number_at(smma_format format, const void *array, size_t index) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_number x = smma_decode(f, smma_load(smma_container_bytes(f), array, index));
  const double magnitude = ldexp((double)x.significand, x.exponent - x.fraction_bits);
  return x.negative ? -magnitude : magnitude;
}

static int run(void *unit, const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  (void)message, (void)size;
  for (size_t row = 0; row < batch->rows; row++) {
    double summand[SMMA_MOST_SUMMANDS];
    float d;
    for (size_t k = 0; k < (size_t)i->k; k++)
      summand[k] =
          number_at(i->a, batch->a, row * (size_t)i->k + k) * number_at(i->b, batch->b, row * (size_t)i->k + k);
    summand[i->k] = number_at(i->c, batch->c, row);
    d = (float)evaluate(unit, ((random_unit *)unit)->tree.root, summand);
    memcpy((unsigned char *)batch->d + 4 * row, &d, sizeof d);
  }
  return 0;
}

/* Sums of two, and of up to `most`, of what is left, until one is left. */
static void make_tree(uint64_t *random, const smma_instruction *i, unsigned most, way kind, random_unit *u) {
  int left[SMMA_MOST_SUMMANDS], count = i->k + 1;
  u->tree = (smma_tree){.summands = {.instruction = i, .count = count, .products = 1}, .nodes = count};
  for (int n = 0; n < count; n++) left[n] = n;
  while (count > 1) {
    int terms = random_below(random, 3) ? 2 : random_between(random, 2, (int)most);
    const int sum = u->tree.nodes++;
    u->ways[sum] = kind == EITHER ? (way)random_below(random, EITHER) : kind;
    for (terms = terms < count ? terms : count; terms > 0; terms--) {
      const unsigned n = random_below(random, (unsigned)count);
      u->tree.parent[left[n]] = sum;
      left[n] = left[--count];
    }
    left[count++] = sum;
  }
  u->tree.root = left[0];
  u->tree.parent[left[0]] = SMMA_NO_PARENT;
}

/* Random trees are found as they are; with rounding toward zero they may be hidden, but none is taken for another. */
static void find_random(const smma_instruction *i, unsigned most, way kind) {
  static const smma_unit_methods methods = {.abi = SMMA_UNIT_ABI, .run = run};
  random_unit made;
  smma_unit unit = {.name = "random", .methods = &methods, .state = &made};
  uint64_t random = (uint64_t)i->k + 1000 * most + 100000 * (uint64_t)kind;
  for (int n = 0; n < TREES; n++) {
    smma_tree got;
    smma_error error;
    smma_tree_status status;
    make_tree(&random, i, most, kind, &made);
    status = smma_find_tree(&unit, i, &got, &error);
    if (status == SMMA_TREE_HIDDEN && kind == TOWARD_ZERO) continue;
    assert_int_equal(status, SMMA_TREE_FOUND);
    if (!same_trees(&made.tree, &got)) print_difference(i, &made.tree, &got);
    assert_true(same_trees(&made.tree, &got));
  }
}

static void test_random_trees(void **state) {
  const smma_instruction *const shapes[] = {find("A100", "mma.m16n8k8.f32.bf16.bf16.f32"),
                                            find("A100", "mma.m16n8k16.f32.f16.f16.f32"),
                                            find("H100", "mma.m16n8k32.f32.e5m2.e5m2.f32")};
  (void)state;
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
    find_random(shapes[s], 2, EXACTLY);
    find_random(shapes[s], 2, DOWNWARD);
    find_random(shapes[s], 2, TOWARD_ZERO);
    find_random(shapes[s], 7, EXACTLY);
    find_random(shapes[s], 7, CUT_OFF);
    find_random(shapes[s], 7, EITHER);
    find_random(shapes[s], 7, EACH_DOWN);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models), cmocka_unit_test(test_random_trees)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
