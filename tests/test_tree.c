/* Summation trees: trees of the models compared with their algorithms, and random trees of a unit that computes them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expected_tree.h"
#include "host/load.h"
#include "isa/catalogue.h"
#include "support.h"
#include "tree/find.h"
#include "tree/function.h"

/* ---- The models ---- */

static bool is_narrow(smma_format format) {
  return smma_encoding_of(format).exponent_bits <= 3;
}

/* Reports whether the order cannot be observed because products have too narrow a range. Products of E5M2 are wide
   enough, and a second scale block extends the range. */
static bool is_hidden(const smma_instruction *i) {
  if (i->a == SMMA_E5M2 || i->b == SMMA_E5M2) return false;
  return (is_narrow(i->a) || is_narrow(i->b)) && (!i->scale_block || i->scale_block == i->k);
}

/* Reports whether ones next to M appear as something else, because they change sums that are much larger. */
static bool shows_ones(const smma_rule *rule) {
  switch (rule->algorithm) {
    case SMMA_FMA: return rule->with.fma.rounding == SMMA_ROUND_TOWARD_ZERO;
    case SMMA_COMPOSITION: return rule->with.composition.step[0].rounding == SMMA_ROUND_TO_ODD;
    default: return false;
  }
}

/* Reports whether ones next to M are subnormal results of FP16, which become zero. */
static bool flushes_ones(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  return o->rule.algorithm == SMMA_COMPOSITION && o->d == SMMA_F16 &&
         p->step[p->steps - 1].subnormal_outputs != SMMA_SUBNORMALS_KEPT;
}

/* Reports whether products are added in two stages: in groups, whose sums are then aligned and added with c. */
static bool has_two_stages(const smma_operation *o) {
  return o->rule.algorithm == SMMA_GD_FDPA ||
         (o->rule.algorithm == SMMA_COMPOSITION && o->rule.with.composition.step[0].output == SMMA_NO_FORMAT);
}

static void check_instruction(smma_unit *unit, const smma_instruction *i) {
  const smma_operation o = smma_operation_of(i);
  smma_tree got;
  bool stages;
  smma_error error = {SMMA_OK, ""};
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
  if (shows_ones(&o.rule)) {
    assert_int_equal(status, SMMA_TREE_HIDDEN);
    assert_non_null(strstr(error.text, "no order of additions"));
    return;
  }
  if (flushes_ones(&o)) {
    assert_int_equal(status, SMMA_TREE_HIDDEN);
    assert_non_null(strstr(error.text, "the result is not their sum"));
    return;
  }
  if (status != SMMA_TREE_FOUND) printf("%s: %s\n", i->name, error.text);
  assert_int_equal(status, SMMA_TREE_FOUND);
  assert_true(is_expected_tree(i, NULL, &got, &stages));
  /* With only two products and c, no test vector of M, -M and ones shows the stages. */
  if (o.rule.algorithm == SMMA_GTR_FDPA || (o.rule.algorithm == SMMA_GD_FDPA && smma_block_of(&o) > 2))
    assert_true(stages);
  /* To show that all products are in one fused sum, all pairs must be tested. So any other order needs fewer test
     vectors. */
  if (i->k >= 16 && (smma_blocks_per_step(&o) > 1 || !smma_is_fused(&o)))
    assert_in_range(got.rows, 1, i->k * i->k / (has_two_stages(&o) ? 1 : 2) - 1);
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

enum { TREES = 60 };

/* How a sum of more than two terms is computed before it is rounded to FP32. The last two values apply to all sums:
   they are rounded in one direction. */
typedef enum { EXACTLY, CUT_OFF, EITHER, EACH_DOWN, DOWNWARD, TOWARD_ZERO } way;

typedef struct {
  smma_tree tree;
  way ways[SMMA_MOST_TREE_NODES];
  int children[SMMA_MOST_TREE_NODES], child[SMMA_MOST_TREE_NODES][SMMA_MOST_SUMMANDS];
} random_unit;

/* Adds terms. Terms near the largest term, and terms far smaller than it, are summed separately and exactly. */
static double add_terms(const random_unit *u, int node, const double *term, int count) {
  double huge = 0, small = 0, greatest = 0;
  for (int i = 0; i < count; i++) greatest = fmax(greatest, fabs(term[i]));
  for (int i = 0; i < count; i++) {
    if (fabs(term[i]) >= ldexp(greatest, -16))
      huge += term[i];
    else
      small += term[i];
  }
  if (count > 2 && u->ways[node] == CUT_OFF) small = 0;
  if (count > 2 && u->ways[node] == EACH_DOWN) small = small < 0 ? -ldexp(greatest, -20) : 0;
  if (u->ways[node] == DOWNWARD && huge != 0) return small < 0 ? huge - ldexp(fabs(huge), -23) : huge;
  if (u->ways[node] == TOWARD_ZERO && huge * small < 0) return huge - ldexp(huge, -24);
  return (float)(huge + small);
}

static double evaluate(const random_unit *u, int node, const double *summand) {
  double term[SMMA_MOST_SUMMANDS];
  const int count = u->children[node];
  if (smma_tree_is_leaf(&u->tree, node)) return summand[node];
  for (int i = 0; i < count; i++) term[i] = evaluate(u, u->child[node][i], summand);
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

/* Makes a tree: repeatedly replaces two, or up to `most`, of the remaining nodes by their sum, until one node remains.
 */
static void make_tree(uint64_t *random, const smma_instruction *i, unsigned most, way kind, random_unit *u) {
  int left[SMMA_MOST_SUMMANDS], count = i->k + 1;
  u->tree = (smma_tree){.summands = {.instruction = i, .count = count, .products = 1}, .nodes = count};
  for (int n = 0; n < count; n++) left[n] = n;
  while (count > 1) {
    int terms = random_below(random, 3) ? 2 : random_between(random, 2, (int)most);
    const int sum = u->tree.nodes++;
    u->ways[sum] = kind == EITHER ? (way)random_below(random, EITHER) : kind;
    u->tree.exact[sum] = u->ways[sum] == EXACTLY;
    u->children[sum] = 0;
    for (terms = terms < count ? terms : count; terms > 0; terms--) {
      const unsigned n = random_below(random, (unsigned)count);
      u->child[sum][u->children[sum]++] = left[n];
      u->tree.parent[left[n]] = sum;
      left[n] = left[--count];
    }
    left[count++] = sum;
  }
  u->tree.root = left[0];
  u->tree.parent[left[0]] = SMMA_NO_PARENT;
}

/* Random trees are found exactly. With rounding toward zero they may be hidden, but must not be found as a different
   tree. */
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

/* ---- Functions ---- */

enum { MOST_TERMS = 3000 };

/* A function that sums FP32 products and returns d in another format. It sums in an order, or all at once. */
typedef struct {
  smma_sum_order order;
  int parent[2 * MOST_TERMS];
  bool exact[2 * MOST_TERMS];
  smma_order_entry entry[2 * MOST_TERMS];
  float sum[2 * MOST_TERMS];
  enum { IN_ORDER, FUSED, KEEPS_ALL, FAILS } way;
  smma_function asked;
  long calls;
} known_function;

static known_function known; /* too large for a stack */

static float product_of(const uint64_t *a, const uint64_t *b, int k) {
  const uint32_t codes[] = {(uint32_t)a[k], (uint32_t)b[k]};
  float x[2];
  memcpy(x, codes, sizeof x);
  return x[0] * x[1];
}

/* Sums all terms at once. Terms that are far smaller than the largest term are lost, except in KEEPS_ALL if the large
   terms cancel. */
static float sum_at_once(const known_function *f, const uint64_t *a, const uint64_t *b) {
  double huge = 0, small = 0, greatest = 0;
  for (int k = 0; k < f->asked.k; k++) greatest = fmax(greatest, fabs((double)product_of(a, b, k)));
  for (int k = 0; k < f->asked.k; k++) {
    const double x = (double)product_of(a, b, k);
    *(fabs(x) >= ldexp(greatest, -16) ? &huge : &small) += x;
  }
  return (float)(huge != 0 || f->way == FUSED ? huge : small);
}

static float sum_in_order(known_function *f, const uint64_t *a, const uint64_t *b) {
  const smma_sum_order *o = &f->order;
  for (int n = 0; n < o->nodes; n++) f->sum[n] = n < o->count ? product_of(a, b, n) : 0;
  for (int i = 0; i < o->nodes - 1; i++) f->sum[o->parent[f->entry[i].sequence]] += f->sum[f->entry[i].sequence];
  return f->sum[o->root];
}

static bool compute_known(void *context, const uint64_t *a, const uint64_t *b, double *d) {
  known_function *f = context;
  const float x = f->way == IN_ORDER ? sum_in_order(f, a, b) : sum_at_once(f, a, b);
  uint64_t code = 0;
  smma_convert(SMMA_F32, &x, f->asked.d, &code, 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY, NULL);
  *d = number_at(f->asked.d, &code, 0);
  return ++f->calls < 10 || f->way != FAILS;
}

static void begin_function(int k, smma_format d) {
  memset(&known, 0, sizeof known);
  known.order = (smma_sum_order){k, k, 0, known.parent, known.exact};
  known.asked = (smma_function){
      .k = k, .a = SMMA_F32, .b = SMMA_F32, .d = d, .seed = (uint64_t)k, .call = compute_known, .context = &known};
}

static int add_nodes(int x, int y) {
  known.parent[x] = known.parent[y] = known.order.nodes;
  known.parent[known.order.nodes] = SMMA_NO_PARENT;
  return known.order.root = known.order.nodes++;
}

static int pairs_of(int first, int count) {
  return count == 1 ? first : add_nodes(pairs_of(first, count / 2), pairs_of(first + count / 2, count - count / 2));
}

static void make_random_order(void) {
  int left[MOST_TERMS], count = known.asked.k;
  uint64_t random = 1;
  for (int n = 0; n < count; n++) left[n] = n;
  while (count > 1) {
    const unsigned x = random_below(&random, (unsigned)count);
    const int node = left[x];
    unsigned y;
    left[x] = left[--count];
    y = random_below(&random, (unsigned)count);
    left[y] = add_nodes(node, left[y]);
  }
}

static int compare_words(const void *x, const void *y) {
  const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return (a > b) - (a < b);
}

/* Computes a digest for each sum, from the summands below it in ascending order. */
static void digest_sums(const smma_sum_order *o, uint64_t *word) {
  static smma_order_entry entry[2 * MOST_TERMS];
  static uint64_t of[2 * MOST_TERMS];
  smma_read_order(o, entry);
  for (int n = 0; n < o->nodes; n++) of[n] = n < o->count ? mixed_bits((uint64_t)n + 1) : 0;
  for (int i = 0; i < o->nodes - 1; i++) of[o->parent[entry[i].sequence]] += of[entry[i].sequence];
  memcpy(word, of + o->count, (size_t)(o->nodes - o->count) * sizeof *word);
  qsort(word, (size_t)(o->nodes - o->count), sizeof *word, compare_words);
}

static smma_tree_status find_known(smma_sum_order *found, smma_error *error) {
  static int parent[2 * MOST_TERMS];
  static bool exact[2 * MOST_TERMS];
  *found = (smma_sum_order){.parent = parent, .exact = exact};
  smma_read_order(&known.order, known.entry);
  return smma_find_order_of_function(&known.asked, found, error);
}

/* Checks that the order is found with at most `most` calls. */
static void find_function(long most) {
  static uint64_t expected[2 * MOST_TERMS], got[2 * MOST_TERMS];
  smma_sum_order found;
  smma_error error = {SMMA_OK, ""};
  const smma_tree_status status = find_known(&found, &error);
  if (status != SMMA_TREE_FOUND || known.calls > most)
    printf("K = %d: %s, %ld calls\n", known.asked.k, error.text, known.calls);
  assert_int_equal(status, SMMA_TREE_FOUND);
  assert_true(known.calls <= most);
  assert_int_equal(found.nodes, known.order.nodes);
  digest_sums(&known.order, expected);
  digest_sums(&found, got);
  assert_memory_equal(expected, got, (size_t)(found.nodes - found.count) * sizeof *got);
}

static void test_functions(void **state) {
  (void)state;
  for (int downward = 0; downward < 2; downward++) {
    begin_function(MOST_TERMS, SMMA_F32);
    for (int k = 1, sum = downward ? MOST_TERMS - 1 : 0; k < MOST_TERMS; k++)
      sum = add_nodes(sum, downward ? MOST_TERMS - 1 - k : k);
    find_function(4L * MOST_TERMS);
  }
  begin_function(2048, SMMA_F32);
  pairs_of(0, 2048);
  find_function(2048L * 13);
  begin_function(500, SMMA_F32);
  make_random_order();
  find_function(500L * 30);
  begin_function(700, SMMA_F16); /* which can hold the sum of 512 ones */
  pairs_of(0, 700);
  find_function(2 * 700L * 13);
  for (int k = 1; k < 4; k++) {
    begin_function(k, SMMA_F32);
    pairs_of(0, k);
    find_function(100);
  }
}

static void test_fused_function(void **state) {
  (void)state;
  begin_function(40, SMMA_F32);
  for (int k = 0; k < 40; k++) known.parent[k] = 40;
  known.parent[40] = SMMA_NO_PARENT, known.order.nodes = 41, known.order.root = 40;
  known.way = FUSED;
  find_function(40 * 39 / 2 + 100);
}

static void test_functions_that_hide(void **state) {
  smma_sum_order found;
  smma_error error = {SMMA_OK, ""};
  (void)state;
  begin_function(20, SMMA_F32);
  pairs_of(0, 20);
  known.way = KEEPS_ALL;
  assert_int_equal(find_known(&found, &error), SMMA_TREE_HIDDEN);
  assert_non_null(strstr(error.text, "sums may be exact"));
  known.way = IN_ORDER;
  known.asked.d = SMMA_E4M3;
  assert_int_equal(find_known(&found, &error), SMMA_TREE_HIDDEN);
  assert_non_null(strstr(error.text, "too near to each other"));
  known.asked.d = SMMA_S32;
  assert_int_equal(find_known(&found, &error), SMMA_TREE_HIDDEN);
  assert_non_null(strstr(error.text, "integers"));
  known.asked.d = SMMA_F32, known.asked.a = known.asked.b = SMMA_UE8M0;
  assert_int_equal(find_known(&found, &error), SMMA_TREE_HIDDEN);
  assert_non_null(strstr(error.text, "sign"));
  known.asked.a = known.asked.b = SMMA_F32;
  known.way = FAILS, known.calls = 0;
  assert_int_equal(find_known(&found, &error), SMMA_TREE_FAILED);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models), cmocka_unit_test(test_random_trees),
                                     cmocka_unit_test(test_functions), cmocka_unit_test(test_fused_function),
                                     cmocka_unit_test(test_functions_that_hide)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
