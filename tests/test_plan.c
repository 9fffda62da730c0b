/* Plans: their JSON form and its error messages, the order of additions that they describe, and their products,
   compared with the core's results element by element. */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_gemm.h"
#include "isa/custom.h"
#include "isa/instruction.h"
#include "plan/element.h"
#include "support.h"
#include "tree/planned.h"

#define HEAD "{\"softmma-plan\": 1, \"name\": \"test\""

static smma_plan *parse(const char *text) {
  smma_error error;
  smma_plan *plan = smma_plan_parse("plan.json", text, strlen(text), &error);
  if (!plan) fail_msg("%s\n%s", error.text, text);
  return plan;
}

/* Returns a plan with these members after the head. */
static smma_plan *plan_of(const char *members) {
  char text[4096];
  snprintf(text, sizeof text, HEAD ", %s}", members);
  return parse(text);
}

/* ---- The JSON form ---- */

static void check_there_and_back(const char *members) {
  char text[4096], again[4096];
  smma_plan *plan = plan_of(members), *back;
  json_t *object;
  assert_true(smma_plan_text(plan, text, sizeof text) < sizeof text);
  assert_int_equal(smma_plan_text(plan, NULL, 0), strlen(text));
  object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  if (!object) fail_msg("no JSON: %s", text);
  json_decref(object);
  back = parse(text);
  assert_int_equal(smma_plan_text(back, again, sizeof again), strlen(text));
  assert_string_equal(text, again);
  smma_plan_free(plan), smma_plan_free(back);
}

static void test_there_and_back(void **state) {
  (void)state;
  check_there_and_back("\"start\": \"c\"");
  check_there_and_back("\"round_in\": \"nearest-away\", \"d\": \"f16\"");
  check_there_and_back("\"sources\": [\"one\", \"two\"], \"d\": \"bf16\", \"group\": 8");
  check_there_and_back(
      "\"lost_tail\": 64, \"sum\": [{\"deal\": \"contiguous\", \"parts\": 9, \"grain\": 64, \"stored\": \"d\"},"
      "{\"deal\": \"interleaved\", \"parts\": 2, \"tile\": 32, \"fits\": true, \"whole\": true, \"fold\": \"halving\"},"
      "{\"deal\": \"every\", \"k\": 128, \"with\": \"fma\", \"from\": \"zero\", \"total\": \"f16\"}]");
  check_there_and_back(
      "\"sum\": [{\"deal\": \"list\", \"list\": [[[0, 4], [8, 12]], [[4, 8]]], \"fold\": \"strides\","
      "\"strides\": [128, 64, 1]}], \"residue\": \"first-tile\", \"tile\": 32");
  check_there_and_back(
      "\"sum\": [{\"deal\": \"every\", \"k\": 4, \"fold\": \"last-first\"},"
      "{\"deal\": \"every\", \"k\": 2, \"fold\": \"neighbours\", \"with\": \"add\"}]");
  check_there_and_back(
      "\"epilogue\": [\"alpha\", \"linear\", \"bias\", \"scale-d\", \"relu\", {\"round\": \"f16\"}, "
      "{\"clamp\": \"e4m3\"}]");
}

typedef struct {
  const char *text, *place, *part, *other;
} complaint;

/* Each error message names the position, the mistake and the allowed values. */
static void test_complaints(void **state) {
  static const complaint all[] = {
      {"", "1:1", "a plan is a JSON object", "'{'"},
      {"{", "1:2", "a key is missing", ""},
      {"{}", "1:2", "a key is missing", ""},
      {"{\"name\": \"x\"}", "1:13", "softmma-plan", "allowed: 1"},
      {"{\"softmma-plan\": 2}", "1:18", "softmma-plan", "allowed: 1"},
      {"{\"softmma-plan\": 1}", "1:19", "\"name\" is missing", ""},
      {HEAD, "1:35", "a comma or the object's end", ""},
      {HEAD ", \"sums\": []}", "1:37", "no key \"sums\"", "sum, group"},
      {HEAD ", \"d\": \"s8\"}", "1:42", "\"d\" cannot be s8", "f16"},
      {HEAD ", \"d\": 16}", "1:42", "\"d\" cannot be 16", "f16"},
      {HEAD ", \"start\": \"b\"}", "1:46", "\"start\" cannot be b", "zero, c"},
      {HEAD ", \"group\": 0}", "1:46", "\"group\" cannot be 0", "from 1 to"},
      {HEAD ", \"group\": 99999999999999}", "1:46", "\"group\" cannot be", "2^40"},
      {HEAD ", \"tile\": 8}", "1:37", "\"tile\" goes with", "first-tile"},
      {HEAD ", \"residue\": \"first-tile\"}", "1:60", "\"tile\" is missing", ""},
      {HEAD ", \"lost_tail\": 64}", "1:37", "lost_tail", "contiguous"},
      {HEAD ", \"group\": \"8\"}", "1:46", "\"group\" cannot be \"8\"", "from 1 to"},
      {HEAD ", \"epilogue\": [\"alpha\", ]}", "1:57", "a comma precedes ']'", "remove it"},
      {HEAD ", \"sum\": {}}", "1:45", "", ""},
      {HEAD ", \"sum\": [1]}", "1:45", "a level", ""},
      {HEAD ", \"sum\": [{\"k\": 3}]}", "1:52", "\"deal\" is missing", "interleaved"},
      {HEAD ", \"sum\": [{\"deal\": \"every\"}]}", "1:61", "\"k\" is missing", ""},
      {HEAD ", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"tile\": 4}]}", "1:71", "no key \"tile\"", "k"},
      {HEAD ", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"fold\": \"up\"}]}", "1:79", "\"fold\" cannot be up",
       "serial"},
      {HEAD ", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"fold\": \"strides\"}]}", "1:88", "\"strides\" is missing",
       "16"},
      {HEAD ", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"fold\": \"strides\", \"strides\": [4, 2]}]}", "1:101",
       "\"strides\" cannot be", "down to 1"},
      {HEAD ", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"strides\": [1]}]}", "1:71", "\"strides\" goes with", ""},
      {HEAD ", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"with\": \"fma\"}]}", "1:45", "\"fma\"",
       "\"from\": \"zero\""},
      {HEAD ", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"from\": \"zero\", \"fold\": \"halving\"}]}", "1:45", "zero",
       "serial"},
      {HEAD ", \"sum\": [{\"deal\": \"list\", \"list\": [[[4, 4]]]}]}", "1:72", "a range", "first < end"},
      {HEAD ", \"sum\": [{\"deal\": \"list\", \"list\": [4]}]}", "1:71", "a part is a list", ""},
      {HEAD ", \"sum\": [{\"deal\": \"every\", \"k\": 4}, {\"deal\": \"list\", \"list\": [[[0, 4]]]}]}", "1:72",
       "the whole K", "first level"},
      {HEAD ", \"sum\": [{\"deal\": \"interleaved\", \"parts\": 5000}]}", "1:78", "\"parts\" cannot be 5000", "4096"},
      {HEAD ", \"epilogue\": [\"gelu\"]}", "1:50", "whose bits are known", "relu"},
      {HEAD ", \"epilogue\": [{\"round\": \"s8\"}]}", "1:60", "\"round\" cannot be s8", "f16"},
      {HEAD ", \"d\": [\n1]}", "1:42", "\"d\" cannot be [;", "f16"},
      {HEAD ", \"sources\": [1]}", "1:48", "\"sources\"", "texts"},
      {HEAD "} x", "1:37", "text follows", ""},
      {"{\"softmma-plan\": 1, \"name\": \"\"}", "1:29", "\"name\" cannot be", "1 to 100 characters"},
      {HEAD ", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"total\": \"e4m3\"}]}", "1:80", "\"total\" cannot be e4m3",
       "tf32"},
      {HEAD ", \"sum\": [{\"deal\": \"list\", \"list\": []}]}", "1:70", "\"list\" cannot be", "a list a part"},
      {HEAD ", \"sum\": [{\"deal\": \"interleaved\", \"parts\": 2, \"from\": \"zero\", \"with\": \"fma\"}]}", "1:45",
       "\"fma\" goes with one level only", "every k"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    char place[64];
    smma_error error;
    smma_plan *plan = smma_plan_parse("plan.json", all[i].text, strlen(all[i].text), &error);
    snprintf(place, sizeof place, "plan.json:%s: ", all[i].place);
    if (plan || strncmp(error.text, place, strlen(place)) || !strstr(error.text, all[i].part) ||
        !strstr(error.text, all[i].other) || strchr(error.text, '\n'))
      fail_msg("%s\n'%s' is not '%s ... %s ... %s'", all[i].text, plan ? "" : error.text, place, all[i].part,
               all[i].other);
  }
  assert_null(smma_plan_parse(NULL, NULL, 0, NULL));
  smma_plan_free(NULL);
}

/* ---- The order of additions ---- */

enum { TEXT = 2048 };

/* A sum written as words: a chain is "0 1|2 3", with bars between the products of two instructions; "-" is +0. */
typedef struct {
  char chain[TEXT], registers[8][TEXT];
} expression;

static char *text_at(expression *e, int place) { return place == SMMA_IN_ACCUMULATOR ? e->chain : e->registers[place]; }

static void write_step(const smma_schedule *s, size_t step, char *chain) {
  size_t used = strlen(chain);
  used += (size_t)snprintf(chain + used, TEXT - used, "%s", *chain ? "|" : "");
  for (size_t i = 0; i < s->k_per_step; i++) {
    const size_t k = s->k[step * s->k_per_step + i];
    if (k == SMMA_NO_PRODUCT) continue;
    used += (size_t)snprintf(chain + used, TEXT - used, "%s%zu", i ? " " : "", k);
  }
}

static void write_task(expression *e, const smma_task *t) {
  char *to = text_at(e, t->to), *from = text_at(e, t->from), sum[TEXT], part[TEXT];
  snprintf(part, sizeof part, "%s", *from ? from : "-");
  snprintf(sum, sizeof sum, "%s", *to ? to : "-");
  if (t->kind == SMMA_TASK_CLEAR) snprintf(to, TEXT, "-");
  if (t->kind == SMMA_TASK_MOVE)
    snprintf(to, TEXT, "%.900s%s%s", part, t->stored >= 0 ? "'" : "", t->total >= 0 ? "'" : "");
  if (t->kind == SMMA_TASK_FOLD)
    snprintf(to, TEXT, "(%.900s%s%.900s%s)%s", sum, t->with == SMMA_WITH_ADD ? " + " : " * ", part,
             t->stored >= 0 ? "'" : "", t->total >= 0 ? "'" : "");
  if (t->from == SMMA_IN_ACCUMULATOR && t->kind != SMMA_TASK_CLEAR) *from = 0;
}

/* Writes the words of a tree's node. */
static void write_node(const smma_planned_tree *t, size_t node, char text[TEXT]) {
  const smma_planned_node *n = &t->node[node];
  char part[TEXT], sum[TEXT];
  size_t child = n->child;
  *text = 0;
  if (child != SMMA_NO_NODE) write_node(t, child, text);
  if (n->kind == SMMA_PLANNED_ZERO) strcpy(text, "-");
  if (n->kind == SMMA_PLANNED_C) strcpy(text, "c");
  if (n->kind == SMMA_PLANNED_ROUNDED) strcat(text, "'");
  for (size_t i = 0; i < n->steps; i++) write_step(t->schedule, n->step + i, text);
  if (n->kind != SMMA_PLANNED_SUM) return;
  while ((child = t->node[child].next) != SMMA_NO_NODE) {
    write_node(t, child, part);
    snprintf(sum, sizeof sum, "(%.900s%s%.900s%s)%s", text, n->with == SMMA_WITH_ADD ? " + " : " * ", part,
             n->stored >= 0 ? "'" : "", n->total >= 0 ? "'" : "");
    strcpy(text, sum);
  }
}

static void check_tree(const smma_schedule *s, bool starts_from_c, const char *expected) {
  smma_planned_tree tree;
  char text[TEXT];
  assert_true(smma_planned_tree_make(s, starts_from_c, &tree));
  write_node(&tree, tree.root, text);
  if (strcmp(text, expected)) fail_msg("the tree %s is not %s", text, expected);
  smma_planned_tree_free(&tree);
}

static void check_order(const char *members, size_t k, const char *expected) {
  const smma_operation o = {.rule = {.algorithm = SMMA_FMA}, .a = SMMA_F32, .b = SMMA_F32, .d = SMMA_F32, .k = 2};
  smma_plan *plan = plan_of(members);
  smma_schedule s;
  smma_error error = {SMMA_OK, ""};
  expression e = {.chain = ""};
  size_t task = 0;
  if (smma_schedule_make(plan, &o, k, &s, &error) != SMMA_OK) fail_msg("%s: %s", members, error.text);
  if (plan->starts_from_c) snprintf(text_at(&e, s.start), TEXT, "c");
  assert_true(s.registers <= 8);
  for (size_t step = 0;; step++) {
    for (; task < s.tasks && s.task[task].step == step; task++) write_task(&e, &s.task[task]);
    if (step == s.steps) break;
    write_step(&s, step, e.chain);
  }
  assert_int_equal(task, s.tasks);
  if (strcmp(text_at(&e, s.result), expected)) fail_msg("%s: %s is not %s", members, text_at(&e, s.result), expected);
  check_tree(&s, plan->starts_from_c, expected);
  smma_schedule_free(&s);
  smma_plan_free(plan);
}

static void check_refused(const char *members, size_t k, const char *words) {
  smma_plan *plan = plan_of(members);
  const smma_instruction *i = find("H100", "wgmma.m64n256k16.f32.f16.f16");
  smma_error error = {SMMA_OK, ""};
  assert_int_equal(smma_plan_check(plan, i, k, &error), SMMA_INVALID_PLAN);
  if (!strstr(error.text, words)) fail_msg("%s: '%s' is not '... %s'", members, error.text, words);
  smma_plan_free(plan);
}

static void test_orders(void **state) {
  (void)state;
  check_order("\"start\": \"zero\"", 5, "0 1|2 3|4");
  check_order("\"start\": \"c\"", 3, "c|0 1|2");
  check_order("\"residue\": \"first\"", 5, "0|1 2|3 4");
  check_order("\"group\": 1", 3, "0|1|2");
  check_order("\"residue\": \"first-tile\", \"tile\": 4", 7, "0 1|2|3 4|5 6");
  check_order("\"residue\": \"first-tile\", \"tile\": 4", 8, "0 1|2 3|4 5|6 7");
  check_order("\"sum\": [{\"deal\": \"contiguous\", \"parts\": 3}]", 8, "((0 1|2 + 3 4|5) + 6 7)");
  check_order("\"sum\": [{\"deal\": \"contiguous\", \"parts\": 3, \"grain\": 4}]", 8, "(0 1|2 3 + 4 5|6 7)");
  check_order("\"sum\": [{\"deal\": \"contiguous\", \"parts\": 1}]", 4, "0 1|2 3");
  check_order("\"sum\": [{\"deal\": \"every\", \"k\": 4, \"from\": \"zero\"}]", 9, "(((- + 0 1|2 3) + 4 5|6 7) + 8)");
  check_order("\"start\": \"c\", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"from\": \"zero\"}]", 5,
              "((c + 0 1|2 3) + 4)");
  check_order(
      "\"start\": \"c\", \"sum\": [{\"deal\": \"contiguous\", \"parts\": 2},"
      "{\"deal\": \"every\", \"k\": 2, \"from\": \"zero\"}]",
      8, "(((c + 0 1) + 2 3) + ((- + 4 5) + 6 7))");
  check_order("\"start\": \"c\", \"sum\": [{\"deal\": \"contiguous\", \"parts\": 2}]", 4, "(c|0 1 + 2 3)");
  check_order("\"sum\": [{\"deal\": \"interleaved\", \"parts\": 2, \"tile\": 2}]", 9, "(0 1|4 5|8 + 2 3|6 7)");
  check_order("\"sum\": [{\"deal\": \"interleaved\", \"parts\": 4, \"fold\": \"halving\"}]", 6,
              "((0 4 + 2) + (1 5 + 3))");
  check_order("\"sum\": [{\"deal\": \"interleaved\", \"parts\": 4, \"fold\": \"neighbours\"}]", 3,
              "((0 + 1) + (2 + -))");
  check_order("\"sum\": [{\"deal\": \"interleaved\", \"parts\": 2, \"tile\": 64, \"fits\": true}]", 6,
              "(0 1|2 + 3 4|5)");
  check_order("\"sum\": [{\"deal\": \"every\", \"k\": 1, \"fold\": \"neighbours\"}]", 5, "(((0 + 1) + (2 + 3)) + 4)");
  check_order("\"sum\": [{\"deal\": \"every\", \"k\": 1, \"fold\": \"last-first\"}]", 6,
              "(((5 + (0 + 3)) + (1 + 4)) + 2)");
  check_order("\"sum\": [{\"deal\": \"every\", \"k\": 1, \"fold\": \"last-first\"}]", 2, "(0 + 1)");
  /* C begins the first part, in whatever order the parts are added; a total that begins with C is rounded. */
  check_order("\"start\": \"c\", \"sum\": [{\"deal\": \"every\", \"k\": 1, \"fold\": \"last-first\"}]", 2, "(c|0 + 1)");
  check_order("\"start\": \"c\", \"sum\": [{\"deal\": \"every\", \"k\": 1, \"fold\": \"last-first\"}]", 3,
              "((2 + c|0) + 1)");
  check_order("\"start\": \"c\", \"sum\": [{\"deal\": \"every\", \"k\": 1, \"fold\": \"last-first\"}]", 6,
              "(((5 + (c|0 + 3)) + (1 + 4)) + 2)");
  check_order(
      "\"start\": \"c\", \"sum\": [{\"deal\": \"every\", \"k\": 2, \"fold\": \"last-first\"},"
      "{\"deal\": \"every\", \"k\": 1, \"from\": \"zero\", \"total\": \"bf16\"}]",
      6, "((((- + 4)' + 5)' + ((c' + 0)' + 1)') + ((- + 2)' + 3)')");
  check_order("\"start\": \"c\", \"sum\": [{\"deal\": \"every\", \"k\": 4, \"from\": \"zero\", \"total\": \"f16\"}]", 5,
              "((c' + 0 1|2 3)' + 4)'");
  check_order("\"sum\": [{\"deal\": \"every\", \"k\": 1, \"fold\": \"strides\", \"strides\": [4, 2, 1]}]", 7,
              "(((0 + 4) + (2 + 6)) + ((1 + 5) + 3))");
  check_order("\"sum\": [{\"deal\": \"list\", \"list\": [[[0, 2], [6, 8]], [[2, 5]]]}]", 8, "(0 1|6 7 + 2 3|4)");
  check_order("\"d\": \"f16\", \"sum\": [{\"deal\": \"contiguous\", \"parts\": 2, \"stored\": \"d\"}]", 4,
              "(0 1' + 2 3')");
  check_order("\"d\": \"f16\", \"sum\": [{\"deal\": \"contiguous\", \"parts\": 2, \"total\": \"d\"}]", 4,
              "(0 1' + 2 3)'");
  check_order("\"sum\": [{\"deal\": \"every\", \"k\": 2, \"with\": \"fma\", \"from\": \"zero\"}]", 4,
              "((- * 0 1) * 2 3)");
  check_order("\"lost_tail\": 4, \"sum\": [{\"deal\": \"contiguous\", \"parts\": 2, \"grain\": 4}]", 9,
              "(0 1|2 3 + 4 5|6 7)");
  check_order("\"lost_tail\": 4, \"sum\": [{\"deal\": \"contiguous\", \"parts\": 2, \"grain\": 4}]", 10,
              "(0 1|2 3|4 5|6 7 + 8 9)");
}

static void test_refused(void **state) {
  (void)state;
  check_refused("\"group\": 16", 0, "K is 0");
  check_refused("\"group\": 17", 32, "the instruction takes 16");
  check_refused("\"sum\": [{\"deal\": \"interleaved\", \"parts\": 4096}, {\"deal\": \"interleaved\", \"parts\": 4096}]",
                4096, "additions of parts");
  check_refused(
      "\"sum\": [{\"deal\": \"contiguous\", \"parts\": 2, \"grain\": 12}, {\"deal\": \"every\", \"k\": 16, "
      "\"with\": \"fma\", \"from\": \"zero\"}]",
      24, "do not share a scale factor");
  check_refused("\"residue\": \"none\"", 17, "no rule for what is left");
  check_refused("\"sum\": [{\"deal\": \"contiguous\", \"parts\": 9}]", 8, "9 parts of 8");
  check_refused("\"sum\": [{\"deal\": \"interleaved\", \"parts\": 2, \"tile\": 32, \"whole\": true}]", 96, "no rule");
  check_refused("\"sum\": [{\"deal\": \"interleaved\", \"parts\": 3, \"fold\": \"halving\"}]", 96, "halved");
  check_refused("\"sum\": [{\"deal\": \"list\", \"list\": [[[0, 4]], [[4, 9]]]}]", 8, "beyond K");
  check_refused("\"sum\": [{\"deal\": \"list\", \"list\": [[[0, 4]], [[3, 8]]]}]", 8, "k = 3 a second time");
}

/* ---- Products ---- */

enum { M = 5, N = 67, MOST_LENGTH = 300 };

typedef struct {
  const smma_instruction *instruction;
  smma_instruction_info info;
  smma_plan *plan;
  smma_gemm_arguments with;
  uint64_t a[M * MOST_LENGTH], b[MOST_LENGTH * N], c[M * N], d[M * N];
  float bias[N], scale_a[M * MOST_LENGTH], scale_b[MOST_LENGTH * N];
} product;

static float small_float(uint64_t *random) { return (float)(int)(random_bits(random) % 2001 - 1000) / 64; }

static uint64_t random_encoding(smma_format f, uint64_t *random) {
  const double x = (double)(int64_t)(random_bits(random) % 65537 - 32768) / 8192;
  if (random_bits(random) % 97 == 0) return random_bits(random) & ((UINT64_C(1) << smma_format_bits(f)) - 1);
  return smma_format_encode(f, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

static void fill(smma_format f, void *matrix, size_t count, uint64_t *random) {
  for (size_t i = 0; i < count; i++) store_element(f, matrix, i, random_encoding(f, random));
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Computes element (i, j) by the core alone. */
static uint64_t element(const product *p, const smma_schedule *s, size_t i, size_t j) {
  static smma_number a[MOST_LENGTH], b[MOST_LENGTH];
  static uint32_t part_a[MOST_LENGTH], part_b[MOST_LENGTH];
  const smma_gemm_arguments *g = &p->with;
  const size_t part_k = smma_plan_scaled_k(p->plan), parts = part_k ? (g->k + part_k - 1) / part_k : 0;
  smma_operation o = smma_operation_of(p->instruction);
  smma_plan_element e = {
      .operation = o, .schedule = s, .a = a, .b = b, .part_a = part_a, .part_b = part_b, .part_k = part_k};
  const uint64_t c = g->c ? load_element(p->info.c, p->c, i * N + j) : 0;
  uint64_t registers[16], sum;
  smma_epilogue_operands with = {.alpha = bits_of((float)g->alpha),
                                 .beta = bits_of((float)g->beta),
                                 .bias = bits_of(p->bias[j]),
                                 .scale_d = bits_of((float)g->scale_d)};
  e.operation.c = o.d;
  for (size_t k = 0; k < g->k; k++) {
    a[k] = smma_decode(smma_encoding_of(o.a), load_element(o.a, p->a, i * g->k + k));
    b[k] = smma_decode(smma_encoding_of(o.b), load_element(o.b, p->b, k * N + j));
  }
  for (size_t x = 0; x < parts; x++)
    part_a[x] = bits_of(p->scale_a[i * parts + x]), part_b[x] = bits_of(p->scale_b[j * parts + x]);
  if (p->plan->starts_from_c) e.start = smma_reformat(o.c, SMMA_F32, o.rule.nan, c);
  with.c = (uint32_t)smma_reformat(o.c, SMMA_F32, o.rule.nan, c);
  sum = smma_plan_sum(&e, registers, NULL, NULL);
  sum = smma_plan_finish(p->plan, o.rule.nan, &with, (uint32_t)sum);
  return smma_reformat(SMMA_F32, smma_plan_d_format(p->plan, p->instruction), o.rule.nan, sum);
}

static void check_elements(const product *p, const char *members) {
  smma_schedule s;
  smma_operation o = smma_operation_of(p->instruction);
  const smma_format d = smma_plan_d_format(p->plan, p->instruction);
  smma_error error;
  assert_int_equal(smma_schedule_make(p->plan, &o, p->with.k, &s, &error), SMMA_OK);
  for (size_t i = 0; i < M; i++)
    for (size_t j = 0; j < N; j++) {
      const uint64_t expected = element(p, &s, i, j), got = load_element(d, p->d, i * N + j);
      if (expected != got)
        fail_msg("%s, %s, K = %zu: (%zu, %zu) is %llx, not %llx", p->info.name, members, p->with.k, i, j,
                 (unsigned long long)got, (unsigned long long)expected);
    }
  smma_schedule_free(&s);
}

/* Checks a product with every kernel, and with a multiplier. */
static void check_product(const char *gpu, const char *name, size_t k, const char *members) {
  static product p;
  uint64_t random = k;
  smma_gemm_arguments *g = &p.with;
  smma_multiplier *kept;
  p.instruction = find(gpu, name), p.info = describe(p.instruction), p.plan = plan_of(members);
  smma_gemm_defaults(g, sizeof *g);
  g->m = M, g->n = N, g->k = k, g->a = p.a, g->b = p.b, g->d = p.d, g->plan = p.plan, g->scale_d = 0.37;
  fill(p.info.a, p.a, M * k, &random), fill(p.info.b, p.b, k * N, &random), fill(p.info.c, p.c, M * N, &random);
  for (size_t j = 0; j < N; j++) p.bias[j] = small_float(&random);
  for (size_t i = 0; i < M * k; i++) p.scale_a[i] = small_float(&random);
  for (size_t i = 0; i < k * N; i++) p.scale_b[i] = small_float(&random);
  if (smma_plan_has(p.plan, SMMA_EPILOGUE_BIAS)) g->bias = p.bias;
  if (smma_plan_scaled_k(p.plan)) g->scale_a = p.scale_a, g->scale_b = p.scale_b;
  if (p.plan->starts_from_c || smma_plan_adds_c(p.plan)) g->c = p.c;
  if (smma_plan_has(p.plan, SMMA_EPILOGUE_ALPHA)) g->alpha = 1.0 / 3;
  if (smma_plan_has(p.plan, SMMA_EPILOGUE_LINEAR)) g->alpha = -1.7;
  if (smma_plan_adds_c(p.plan)) g->beta = 0.3;
  for (size_t x = 0; smma_kernel_name(x); x++) {
    g->kernel = smma_kernel_name(x);
    memset(p.d, 0xee, sizeof p.d);
    assert_int_equal(smma_gemm(p.instruction, g), SMMA_OK);
    check_elements(&p, members);
  }
  g->kernel = "cuda"; /* the tests' own driver, with matrices in its memory */
  memset(p.d, 0xee, sizeof p.d);
  assert_int_equal(gemm_on_device(p.instruction, g), SMMA_OK);
  check_elements(&p, members);
  g->kernel = NULL;
  memset(p.d, 0xee, sizeof p.d);
  assert_int_equal(smma_multiplier_create(p.instruction, g, &kept), SMMA_OK);
  smma_plan_free(p.plan);
  p.plan = plan_of(members);
  assert_int_equal(smma_multiplier_run(kept, M, p.a, g->scale_a, g->c, p.d), SMMA_OK);
  check_elements(&p, members);
  smma_multiplier_free(kept);
  smma_plan_free(p.plan);
}

#define CONTIGUOUS "{\"deal\": \"contiguous\", \"parts\": 3, \"grain\": 8"
#define EVERY "{\"deal\": \"every\", \"k\": 32, \"from\": \"zero\""
#define LANES "{\"deal\": \"interleaved\", \"parts\": 4, \"tile\": 3, \"fold\": \"halving\"}"

static void test_products(void **state) {
  static const char *const plans[] = {
      "\"start\": \"zero\"",
      "\"start\": \"c\"",
      "\"group\": 8",
      "\"residue\": \"first\", \"sum\": [" CONTIGUOUS "}]",
      "\"residue\": \"first-tile\", \"tile\": 64, \"start\": \"c\", \"sum\": [" CONTIGUOUS ", \"stored\": \"d\"}]",
      "\"d\": \"bf16\", \"sum\": [" CONTIGUOUS ", \"total\": \"d\"}, " EVERY "}]",
      "\"d\": \"f16\", \"sum\": [" CONTIGUOUS ", \"fold\": \"last-first\", \"stored\": \"tf32\"}, " LANES "]",
      "\"start\": \"c\", \"sum\": [" EVERY "}]",
      "\"sum\": [" EVERY ", \"with\": \"fma\"}], \"d\": \"bf16\"",
      "\"sum\": [" EVERY ", \"with\": \"multiply-fma\"}], \"epilogue\": [\"alpha\"]",
      "\"sum\": [" LANES "], \"epilogue\": [\"linear\", \"bias\", \"relu\", {\"round\": \"f16\"}]",
      "\"sum\": [" CONTIGUOUS "}], \"epilogue\": [\"alpha\", {\"round\": \"bf16\"}, \"beta\", \"relu\"]",
      "\"d\": \"e4m3\", \"epilogue\": [\"alpha\", \"scale-d\", {\"clamp\": \"e4m3\"}]",
      "\"d\": \"e5m2\", \"sum\": [" CONTIGUOUS
      ", \"stored\": \"f16\"}], \"epilogue\": [{\"clamp\": \"e5m2\"}, \"bias\"]",
      "\"sum\": [{\"deal\": \"list\", \"list\": [[[60, 70], [0, 17]], [[17, 60]]]}]",
      "\"lost_tail\": 32, \"sum\": [{\"deal\": \"contiguous\", \"parts\": 4, \"grain\": 32}]",
  };
  static const size_t lengths[] = {70, 130, 257};
  (void)state;
  for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
    for (size_t x = 0; x < sizeof lengths / sizeof lengths[0]; x++) {
      check_product("H100", "wgmma.m64n256k16.f32.f16.f16", lengths[x], plans[i]);
      check_product("A100", "mma.m16n8k8.f32.bf16.bf16.f32", lengths[x], plans[i]);
      check_product("MI300X", "v_mfma_f32_16x16x32_fp8_fp8", lengths[x], plans[i]);
    }
}

/* split_k and promote_every have equivalent plans. */
static void test_simple_cases(void **state) {
  static product p, q;
  uint64_t random = 9;
  (void)state;
  p.instruction = find("H100", "wgmma.m64n256k16.f32.f16.f16"), p.info = describe(p.instruction);
  fill(SMMA_F16, p.a, M * 200, &random), fill(SMMA_F16, p.b, 200 * N, &random), fill(SMMA_F32, p.c, M * N, &random);
  smma_gemm_defaults(&p.with, sizeof p.with);
  p.with.m = M, p.with.n = N, p.with.k = 200, p.with.a = p.a, p.with.b = p.b, p.with.c = p.c, p.with.d = p.d;
  q.with = p.with, q.with.d = q.d;
  p.with.split_k = 3, p.with.promote_every = 32;
  q.with.plan = q.plan =
      plan_of("\"start\": \"c\", \"sum\": [{\"deal\": \"contiguous\", \"parts\": 3, \"grain\": 32}, " EVERY "}]");
  assert_int_equal(smma_gemm(p.instruction, &p.with), SMMA_OK);
  assert_int_equal(smma_gemm(p.instruction, &q.with), SMMA_OK);
  assert_memory_equal(p.d, q.d, M * N * 4);
  smma_plan_free(q.plan);
}

/* ---- Plans of libraries ---- */

#define F16 "wgmma.m64n256k16.f32.f16.f16"
#define BLACKWELL_F16 "tcgen05.m128n256k16.f32.f16.f16"

typedef struct {
  const char *name, *gpu, *instruction;
  size_t m, n, k;
  int algo, split_k, reduction, custom, stages;
  const char *expected; /* part of the plan's text, or of the error message */
} library_case;

static smma_plan_request request_of(const library_case *c) {
  smma_plan_request r;
  smma_plan_request_defaults(&r, sizeof r);
  r.name = c->name, r.instruction = find(c->gpu, c->instruction);
  r.m = c->m, r.n = c->n, r.k = c->k;
  r.algo = c->algo, r.split_k = c->split_k, r.reduction = c->reduction, r.custom = c->custom, r.stages = c->stages;
  return r;
}

static smma_plan *library_plan(const library_case *c, smma_error *error) {
  const smma_plan_request r = request_of(c);
  return smma_plan_for(&r, error);
}

/* Configurations, and the plans that bitequiv's planner derives from them (its tests' fixtures, sm_90, cuBLASLt 13.1).
 */
static void test_configurations(void **state) {
  static const library_case all[] = {
      {"cublaslt:13.1/H100", "H100", F16, 4096, 4096, 4096, 12, 1, 0, 0, 0,
       "\"group\": 8,\n  \"residue\": \"first-tile\",\n  \"tile\": 32"},
      {"cublaslt:13.1/H100", "H100", F16, 4096, 4096, 4096, 12, 2, 0, 0, 0,
       "\"parts\": 2, \"grain\": 64, \"fold\": \"serial\", \"from\": \"first\", \"total\": \"d\""},
      {"cublaslt:13.1/H100", "H100", F16, 4096, 4096, 4100, 23, 8, 4, 0, 13,
       "\"parts\": 8, \"grain\": 8, \"fold\": \"serial\", \"from\": \"first\", \"stored\": \"d\""},
      {"cublaslt:13.1/H100", "H100", F16, 4096, 4096, 4096, 66, 1, 0, 0, 35, "\"sum\": []"},
      {"cublaslt:13.1/H100", "H100", F16, 4096, 4096, 4096, 66, 592, 0, 0, 35, "\"lost_tail\": 64"},
      {"cublaslt:13.1/H100", "H100", "wgmma.m64n256k32.f32.e4m3.e4m3", 64, 64, 4096, 66, 2, 0, 0, 36,
       "\"parts\": 2, \"grain\": 128, \"fold\": \"serial\", \"from\": \"first\"},\n    {\"deal\": \"every\", \"k\": "
       "128"},
      {"cublaslt:13.1/GB200", "B200", "tcgen05.m128n256k32.f32.e4m3.e4m3", 64, 64, 4096, 66, 1, 0, 0, 36,
       "\"sum\": []"},
      {"cublaslt:12.8/RTX4060", "L40S", "mma.m16n8k32.f32.e4m3.e4m3.f32", 64, 64, 4096, 35, 3, 2, 1, 17,
       "\"parts\": 3, \"tile\": 64, \"fold\": \"last-first\", \"from\": \"first\"},\n    {\"deal\": \"every\", \"k\": "
       "128"},
      {"cutlass:2xacc", "H100", F16, 1, 1, 1, -1, -1, -1, -1, -1, "\"k\": 128"},
      {"torch:_scaled_mm", "H100", F16, 1, 1, 1, -1, -1, -1, -1, -1, "\"from\": \"zero\"}\n  ],\n  \"residue\""},
      {"torch:_scaled_mm:fast", "H100", F16, 1, 1, 1, -1, -1, -1, -1, -1, "\"epilogue\": [\"alpha\"]"},
      {"deepgemm", "H100", F16, 1, 1, 1, -1, -1, -1, -1, -1, "\"with\": \"fma\""},
      {"cublaslt:13.1/H100", "H100", F16, 8, 8, 4096, -1, -1, -1, -1, -1, "give algo"},
      {"cublaslt:13.1/H100", "H100", F16, 8, 8, 4096, 41, 1, 0, 0, 0, "no rule is known for algorithm 41"},
      {"cublaslt:13.1/H100", "H100", F16, 8, 8, 4096, 66, 1, 0, 0, 12, "no rule is known for stages 12"},
      {"cublaslt:13.1/H100", "H100", F16, 8, 8, 4096, 12, 4, -1, 0, 0, "give reduction"},
      {"cublaslt:13.1/H100", "H100", F16, 8, 8, 4096, 11, 1, 0, 0, 0, "CUDA cores"},
      {"cublaslt:13.1/H100", "A100", "mma.m16n8k16.f32.f16.f16.f32", 8, 8, 4096, 66, 1, 0, 0, 35, "H100 instructions"},
      {"cublaslt:13.1/H100", "H100", "wgmma.m64n256k8.f32.tf32.tf32", 8, 8, 4096, 66, 1, 0, 0, 35,
       "no rule is known for algorithm 66 with these formats"},
      {"cublaslt:13.1/GB200", "B200", "tcgen05.m64n8k8.f32.tf32.tf32", 8, 8, 4096, 66, 1, 0, 0, 35,
       "no rule is known for the formats of tcgen05"},
      {"cublaslt:13.1/H100", "H100", "wgmma.m64n256k8.f32.tf32.tf32", 64, 48, 1000, 43, -1, 2, 0, 34, "splitk -1"},
      {"cublaslt:13.1/H100", "H100", "wgmma.m64n256k8.f32.tf32.tf32", 64, 48, 1000, 43, 1, 0, 0, 34,
       "\"round_in\": \"nearest-even\""},
      {"cublaslt:13.1/H100", "H100", "mma.m16n8k16.f16.f16.f16.f16", 64, 48, 77, 24, 132, 2, 0, 0,
       "\"parts\": 10, \"grain\": 8, \"fold\": \"serial\", \"from\": \"first\", \"total\": \"f16\""},
      {"cublaslt:9", "H100", F16, 8, 8, 4096, 66, 1, 0, 0, 35, "known: cublaslt:12.8/H100"},
      {"cublaslt:13.1/H100", "H100", F16, 8, 8, 4096, 12, 4, 3, 0, 0, "reduction 3: no rule is known"},
      {"cublaslt:13.1/H100", "H100", F16, 8, 8, 64, 66, 2, 0, 0, 35, "the first would have all"},
      {"cublaslt:12.8/RTX4060", "L40S", "mma.m16n8k32.f32.e4m3.e4m3.f32", 64, 64, 4096, 35, 3, 2, -1, 17,
       "order is the library's choice: give custom"},
      {"cublaslt:12.8/RTX4060", "L40S", "mma.m16n8k32.f32.e4m3.e4m3.f32", 64, 64, 4096, 35, 3, 2, 3, 17,
       "custom 3: no rule is known"},
      {"cublaslt:12.8/GB200", "B200", BLACKWELL_F16, 1, 8, 4096, 13, 1, 0, -1, 0, "algorithm 13: give custom"},
      {"cublaslt:12.8/GB200", "B200", BLACKWELL_F16, 1, 8, 4096, 13, 1, 0, 99, 0, "no rule is known for option 99"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    char text[4096] = "";
    smma_error error;
    smma_plan *plan = library_plan(&all[i], &error);
    if (plan) smma_plan_text(plan, text, sizeof text);
    if (!strstr(plan ? text : error.text, all[i].expected))
      fail_msg("%zu: '%s' has no '%s'", i, plan ? text : error.text, all[i].expected);
    if (plan && all[i].algo >= 0)
      assert_int_equal(smma_plan_check(plan, find(all[i].gpu, all[i].instruction), all[i].k, NULL), SMMA_OK);
    smma_plan_free(plan);
  }
}

typedef struct {
  const char *name, *gpu, *instruction;
  size_t m, n, k;
  smma_format d;
  int fast;
  long long workspace;
  const char *expected;
} shape_case;

/* Choices of cuBLASLt 12.8.3.14 (mmaemu's tables), and shapes that were not recorded. */
static void test_recorded_shapes(void **state) {
  static const shape_case all[] = {
#define H100_12_8 "cublaslt:12.8/H100", "H100"
#define RTX_12_8 "cublaslt:12.8/RTX4060", "L40S"
#define HOPPER(a, b) "wgmma.m64n256k32.f32." a "." b
#define ADA(a, b) "mma.m16n8k32.f32." a "." b ".f32"
      {H100_12_8, HOPPER("e5m2", "e4m3"), 1, 3584, 18944, SMMA_BF16, 1, 33554432, "splitk 3 reduction 2 custom 1"},
      {H100_12_8, HOPPER("e5m2", "e4m3"), 2, 2048, 8192, SMMA_F32, 1, 1048576, "splitk 2 reduction 2 custom 1"},
      {H100_12_8, HOPPER("e4m3", "e4m3"), 9, 24576, 8192, SMMA_F16, 0, 1048576, "algo 66 stages 36 splitk 1 "},
      {H100_12_8, HOPPER("e4m3", "e5m2"), 11, 28672, 4096, SMMA_E5M2, 1, 1048576, "\"clamp\": \"e5m2\""},
      {RTX_12_8, ADA("e5m2", "e4m3"), 15, 64, 16, SMMA_F16, 0, 1048576, "algo 35 splitk 3 reduction 2 custom 1"},
      {RTX_12_8, ADA("e4m3", "e5m2"), 16, 96, 16384, SMMA_E5M2, 0, 1048576, "splitk 12 reduction 2 custom 1"},
      {H100_12_8, HOPPER("e5m2", "e4m3"), 1, 3584, 18945, SMMA_BF16, 1, 33554432, "not recorded"},
      {H100_12_8, HOPPER("e5m2", "e4m3"), 2200, 3584, 18944, SMMA_BF16, 1, 33554432, "not recorded"},
      {H100_12_8, HOPPER("e5m2", "e4m3"), 1, 3584, 18944, SMMA_BF16, 1, 33554431, "not recorded (with 1 MiB and 32"},
      {H100_12_8, HOPPER("e5m2", "e5m2"), 1, 3584, 18944, SMMA_BF16, 1, 33554432, "not recorded"},
      {H100_12_8, HOPPER("e5m2", "e4m3"), 1, 3584, 18944, SMMA_F64, 1, 33554432, "not recorded"},
      {H100_12_8, F16, 1, 3584, 18944, SMMA_F32, 0, 33554432, "not recorded"},
      {H100_12_8, HOPPER("e5m2", "e4m3"), 1, 3584, 18944, SMMA_BF16, 1, -1, "or workspace"},
      {"cublaslt:13.1/H100", "H100", HOPPER("e5m2", "e4m3"), 1, 3584, 18944, SMMA_BF16, 1, 33554432, "give algo"},
      {"cublaslt:12.8/GB200", "B200", BLACKWELL_F16, 1, 3584, 18944, SMMA_BF16, 1, 33554432, "give algo"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    const shape_case *c = &all[i];
    char text[4096] = "";
    smma_plan_request r;
    smma_plan *plan;
    smma_error error;
    smma_plan_request_defaults(&r, sizeof r);
    r.name = c->name, r.instruction = find(c->gpu, c->instruction), r.d = c->d;
    r.m = c->m, r.n = c->n, r.k = c->k, r.fast_accumulation = c->fast, r.workspace = c->workspace;
    plan = smma_plan_for(&r, &error);
    if (plan) smma_plan_text(plan, text, sizeof text);
    if (!strstr(plan ? text : error.text, c->expected))
      fail_msg("%zu: '%s' has no '%s'", i, plan ? text : error.text, c->expected);
    smma_plan_free(plan);
  }
}

/* The text of every plan of a library can be read again; what has no text is refused: D in formats of no plan, and more
   parts than a plan has. */
static void test_refused_requests(void **state) {
  static const smma_format formats[] = {(smma_format)777, (smma_format)-5, SMMA_S32, SMMA_B1, SMMA_E8M13};
  smma_plan_request r;
  smma_error error;
  smma_plan *plan;
  (void)state;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    smma_plan_request_defaults(&r, sizeof r);
    r.name = "cutlass:fast", r.d = formats[i];
    assert_null(smma_plan_for(&r, &error));
    assert_int_equal(error.status, SMMA_INVALID_ARGUMENT);
  }
  r.d = SMMA_S32, r.instruction = find("H100", "wgmma.m64n256k32.s32.s8.s8");
  plan = smma_plan_for(&r, &error);
  assert_non_null(plan);
  assert_int_equal(plan->d, SMMA_NO_FORMAT);
  smma_plan_free(plan);
  smma_plan_request_defaults(&r, sizeof r);
  r.name = "cublaslt:13.1/H100", r.instruction = find("H100", "wgmma.m64n256k8.f32.tf32.tf32");
  r.m = r.n = 64, r.k = 1 << 17, r.algo = 63, r.stages = 4, r.reduction = 2, r.custom = 0, r.split_k = 5000;
  assert_null(smma_plan_for(&r, &error));
  assert_non_null(strstr(error.text, "5000 interleaved parts: a plan has at most 4096"));
}

/* What a request adds to the configuration: C, an epilogue of cuBLASLt (7: an activation that is not known), a format
   of D, fast accumulation. */
static void test_epilogues(void **state) {
#define CUBLAS_13_1 "cublaslt:13.1/H100"
#define DEFAULT_D SMMA_NO_FORMAT
#define MMA_F16 "mma.m16n8k16.f32.f16.f16.f32"
#define TF32 "wgmma.m64n256k8.f32.tf32.tf32"
  static const struct {
    library_case plan;
    int epilogue;
    bool with_c, fast;
    smma_format d;
  } all[] = {
      {{CUBLAS_13_1, "H100", F16, 64, 64, 4096, 66, 1, 0, 0, 35, "[\"linear\"]"}, 1, true, false, DEFAULT_D},
      {{CUBLAS_13_1, "H100", F16, 64, 64, 4096, 12, 2, 0, 0, 0, "[\"alpha\", \"beta\"]"}, 1, true, false, DEFAULT_D},
      {{CUBLAS_13_1, "H100", F16, 64, 64, 4096, 66, 1, 0, 0, 35, "[\"bias\", \"relu\"]"}, 6, false, false, DEFAULT_D},
      {{CUBLAS_13_1, "H100", F16, 64, 64, 4096, 66, 1, 0, 0, 35, "epilogue 7: no rule"}, 7, false, false, DEFAULT_D},
      {{"cublaslt:12.8/H100", "H100", HOPPER("e4m3", "e4m3"), 64, 64, 4096, 66, 1, 0, 0, 36,
        "cublaslt:12.8/H100: no rule is known for C, bias"},
       1,
       true,
       false,
       DEFAULT_D},
      {{CUBLAS_13_1, "H100", HOPPER("e4m3", "e4m3"), 64, 64, 4096, 66, 1, 0, 0, 36, "with D in FP8"},
       4,
       false,
       false,
       SMMA_E4M3},
      {{CUBLAS_13_1, "H100", "wgmma.m64n8k32.s32.s8.s8", 64, 64, 4096, 20, 1, 0, 0, 0,
        "C, bias and activations by algorithm 20"},
       1,
       true,
       false,
       DEFAULT_D},
      {{CUBLAS_13_1, "H100", "mma.m16n8k16.f64.f64.f64.f64", 64, 64, 4096, 22, 1, 0, 0, 3, "a bias in f64"},
       4,
       false,
       false,
       DEFAULT_D},
      {{CUBLAS_13_1, "H100", "mma.m16n8k16.f64.f64.f64.f64", 64, 64, 4096, 22, 1, 0, 0, 3, "is added in f64"},
       1,
       true,
       false,
       DEFAULT_D},
      {{CUBLAS_13_1, "H100", TF32, 64, 64, 4096, 63, 2, 0, 0, 4, "C and 2 slices by algorithm 63"},
       1,
       true,
       false,
       DEFAULT_D},
      {{CUBLAS_13_1, "H100", MMA_F16, 64, 64, 4096, 66, 1, 0, 0, 35, "multiplies by wgmma on Hopper"},
       1,
       false,
       false,
       DEFAULT_D},
      {{"cutlass:fast", "H100", F16, 1, 1, 1, -1, -1, -1, -1, -1, "with_c: the plan cutlass:fast"},
       -1,
       true,
       false,
       DEFAULT_D},
      {{"cutlass:fast", "H100", F16, 1, 1, 1, -1, -1, -1, -1, -1, "fast: the plan cutlass:fast"},
       -1,
       false,
       true,
       DEFAULT_D},
      {{"deepgemm", "H100", F16, 1, 1, 1, -1, -1, -1, -1, -1, "deepgemm: D is in bf16, not in f16"},
       -1,
       false,
       false,
       SMMA_F16},
      {{"torch:_scaled_mm", "H100", F16, 1, 1, 1, -1, -1, -1, -1, -1, "\"scale-d\", {\"clamp\": \"e4m3\"}"},
       -1,
       false,
       false,
       SMMA_E4M3},
  };
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    char text[4096] = "";
    smma_plan_request r = request_of(&all[i].plan);
    smma_plan *plan;
    smma_error error;
    r.epilogue = all[i].epilogue, r.with_c = all[i].with_c, r.fast_accumulation = all[i].fast, r.d = all[i].d;
    plan = smma_plan_for(&r, &error);
    if (plan) smma_plan_text(plan, text, sizeof text);
    if (!strstr(plan ? text : error.text, all[i].plan.expected))
      fail_msg("%zu: '%s' has no '%s'", i, plan ? text : error.text, all[i].plan.expected);
    smma_plan_free(plan);
  }
}

/* Kernels on CUDA cores add in the order that was measured. */
static void test_cuda_cores(void **state) {
  static const char unit[] =
      "{\"softmma-unit\": 1, \"name\": \"fma\", \"algorithm\": \"FMA\", \"k\": 1, \"a\": \"f16\", \"b\": \"f16\", "
      "\"d\": \"f32\"}";
  static const struct {
    int algo, custom;
    bool strided;
    const char *expected;
  } all[] = {
      {11, 0, false,
       "\"parts\": 16, \"tile\": 1, \"fold\": \"serial\", \"from\": \"first\"},\n    {\"deal\": \"every\", \"k\": 16"},
      {11, 0, true,
       "\"parts\": 2, \"grain\": 1, \"fold\": \"serial\", \"from\": \"zero\"},\n    {\"deal\": \"every\", \"k\": 256"},
      {16, 0, false, "\"sum\": [],\n  \"group\": 1"},
      {13, 0, false,
       "\"parts\": 1, \"tile\": 1, \"fold\": \"serial\", \"from\": \"first\"},\n    {\"deal\": \"every\", \"k\": 512"},
      {13, 5, false, "\"parts\": 32, \"grain\": 1"},
      {13, 36, false, "\"parts\": 32, \"tile\": 64, \"fits\": true, \"fold\": \"halving\""},
      {14, 0, false, "\"strides\": [128, 64, 32, 4, 1]"}};
  smma_error error;
  const smma_instruction *i = smma_custom_read("custom", unit, strlen(unit), &error);
  (void)state;
  assert_non_null(i);
  for (size_t x = 0; x < sizeof all / sizeof all[0]; x++) {
    char text[4096] = "";
    smma_plan_request r;
    smma_plan *plan;
    smma_plan_request_defaults(&r, sizeof r);
    r.name = "cublaslt:13.1/H100", r.instruction = i, r.m = 1, r.n = 64, r.k = 4096;
    r.algo = all[x].algo, r.custom = all[x].custom, r.split_k = 1, r.b_strided = all[x].strided;
    plan = smma_plan_for(&r, &error);
    if (plan) smma_plan_text(plan, text, sizeof text);
    if (!strstr(text, all[x].expected))
      fail_msg("%d, %d: '%s' has no '%s'", all[x].algo, all[x].custom, text, all[x].expected);
    assert_int_equal(smma_plan_check(plan, i, 4096, &error), SMMA_OK);
    smma_plan_free(plan);
    r.m = 2;
    plan = smma_plan_for(&r, &error);
    if (!plan != (all[x].algo == 13 || all[x].algo == 14)) fail_msg("%d: M is 2: %s", all[x].algo, error.text);
    if (!plan) assert_non_null(strstr(error.text, "M "));
    smma_plan_free(plan);
  }
  smma_custom_release(i);
}

/* If a library loses the last, incomplete stage of K, products of ones show it. The expected results of cuBLASLt were
   recorded on GPUs (bitequiv, cublas_gemm_bug_reproduce.py). */
static void test_lost_tail(void **state) {
  static const struct {
    library_case plan;
    float value;
  } all[] = {{{"cublaslt:13.1/GB200", "B200", BLACKWELL_F16, 1, 8, 8648, 66, 9, 2, 0, 35, ""}, 8640},
             {{"cublaslt:13.1/GB300", "B200", BLACKWELL_F16, 1, 8, 8648, 66, 9, 2, 0, 35, ""}, 8640},
             {{"cublaslt:13.1/GB300", "B200", BLACKWELL_F16, 1, 8, 8648, 66, 1, 0, 0, 35, ""}, 8648},
             {{"cublaslt:13.1/H100", "H100", F16, 1, 8, 57608, 66, 45, 2, 0, 35, ""}, 57600},
             {{"cublaslt:13.1/GB300", "B200", BLACKWELL_F16, 1, 8, 57608, 66, 9, 2, 0, 35, ""}, 57600},
             {{"cublaslt:13.1/H100", "H100", F16, 1, 8, 11528, 66, 9, 2, 0, 35, ""}, 11520},
             {{"cublaslt:13.1/H100", "H100", F16, 1, 2, 1032, 23, 1, 0, 0, 13, ""}, 1032}};
  (void)state;
  for (size_t x = 0; x < sizeof all / sizeof all[0]; x++) {
    const library_case *c = &all[x].plan;
    smma_error error = {SMMA_OK, ""};
    smma_gemm_arguments g;
    uint16_t *ones = malloc(c->k * (c->n + 1) * sizeof *ones);
    float d[8];
    assert_non_null(ones);
    for (size_t i = 0; i < c->k * (c->n + 1); i++) ones[i] = 0x3c00;
    smma_gemm_defaults(&g, sizeof g);
    g.m = 1, g.n = c->n, g.k = c->k, g.a = ones, g.b = ones + c->k, g.d = d;
    g.plan = library_plan(c, &error);
    if (!g.plan) fail_msg("%s", error.text);
    assert_int_equal(smma_gemm(find(c->gpu, c->instruction), &g), SMMA_OK);
    for (size_t j = 0; j < c->n; j++)
      if (d[j] != all[x].value) fail_msg("%s, K = %zu: %g, not %g", c->name, c->k, (double)d[j], (double)all[x].value);
    smma_plan_free((smma_plan *)g.plan);
    free(ones);
  }
}

/* With K > 0, the epilogue is that of a sum, although the plan loses all products: fma(alpha, +0, beta c). */
static void test_all_lost(void **state) {
  smma_plan *plan = plan_of(
      "\"lost_tail\": 64, \"sum\": [{\"deal\": \"contiguous\", \"parts\": 16}], "
      "\"epilogue\": [\"linear\"]");
  const uint16_t ones[8] = {0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00};
  const float c = -0.0f;
  smma_gemm_arguments g;
  uint32_t d = 1;
  (void)state;
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = 8, g.a = g.b = ones, g.c = &c, g.d = &d, g.plan = plan, g.alpha = 2;
  assert_int_equal(smma_gemm(find("H100", F16), &g), SMMA_OK);
  assert_int_equal(d, 0);
  g.alpha = INFINITY;
  assert_int_equal(smma_gemm(find("H100", F16), &g), SMMA_OK);
  assert_int_equal(d, 0x7fffffff);
  smma_plan_free(plan);
}

/* Conversions to the formats of D keep NaN, whichever NaN the unit returns. */
static void test_nan_in_narrow_formats(void **state) {
  static const char *const units[][2] = {{"H100", F16},
                                         {"RX 7900 XTX", "v_wmma_f32_16x16x16_f16"},
                                         {"MI300X", "v_mfma_f32_16x16x16_f16"},
                                         {"x86", "vdpbf16ps"}};
  (void)state;
  for (int policy = 0; policy <= SMMA_NAN_MARKED; policy++)
    for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
      const smma_format to = smma_format_at(row);
      const smma_encoding f = smma_encoding_of(to);
      if (smma_decode(f, smma_default_nan(f)).kind != SMMA_NAN) continue;
      assert_int_equal(smma_decode(f, smma_nan_of(f, (smma_nan_policy)policy)).kind, SMMA_NAN);
      for (uint32_t bits = 0; bits < 1 << 10; bits++) {
        const uint32_t nan = bits << 22 | 0x7f800001;
        assert_int_equal(smma_decode(f, smma_reformat(SMMA_F32, to, (smma_nan_policy)policy, nan)).kind, SMMA_NAN);
      }
    }
  for (size_t u = 0; u < sizeof units / sizeof units[0]; u++)
    for (size_t t = 0; t < 4; t++) {
      static const char *const formats[] = {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"};
      static const smma_format format[] = {SMMA_E4M3, SMMA_E5M2, SMMA_E4M3FNUZ, SMMA_E5M2FNUZ};
      const smma_instruction *i = find(units[u][0], units[u][1]);
      const uint16_t nan[64] = {0x7fff};
      char members[32];
      smma_gemm_arguments g;
      uint8_t d = 0;
      snprintf(members, sizeof members, "\"d\": \"%s\"", formats[t]);
      smma_gemm_defaults(&g, sizeof g);
      g.m = g.n = 1, g.k = (size_t)describe(i).k, g.a = g.b = nan, g.d = &d, g.plan = plan_of(members);
      for (size_t x = 0; smma_kernel_name(x); x++) {
        g.kernel = smma_kernel_name(x);
        assert_int_equal(smma_gemm(i, &g), SMMA_OK);
        assert_int_equal(smma_decode(smma_encoding_of(format[t]), d).kind, SMMA_NAN);
      }
      smma_plan_free((smma_plan *)g.plan);
    }
}

/* On a device, a composition goes on from a NaN, which a step without NaN in its format makes a number. */
static void test_nan_that_a_step_loses(void **state) {
  static const char text[] =
      "{\"softmma-unit\": 1, \"name\": \"t\", \"algorithm\": \"composition\", \"k\": 32, \"a\": \"e3m2\", \"b\": "
      "\"e3m2\", "
      "\"c\": \"e4m3\", \"d\": \"e4m3\", \"nan\": \"all-ones\", \"steps\": [{\"take\": 1, \"join\": \"chain\", "
      "\"chains\": 32, "
      "\"start\": \"c\", \"alignment_bits\": \"exact\", \"output\": \"e3m2\"}, {\"take\": 32, \"join\": \"apart\", "
      "\"alignment_bits\": \"exact\", \"output\": \"e4m3\"}]}";
  uint8_t a[64] = {0}, d[2] = {0, 1};
  smma_gemm_arguments g;
  smma_error error;
  const smma_instruction *unit = smma_custom_read("custom", text, strlen(text), &error);
  (void)state;
  memset(a, 0x1f, 32); /* 28; the sum of the first 32 products overflows to NaN */
  if (!unit) fail_msg("%s", error.text);
  for (int device = 0; device < 2; device++) {
    smma_gemm_defaults(&g, sizeof g);
    g.m = g.n = 1, g.k = 64, g.a = g.b = a, g.d = &d[device], g.kernel = device ? "cuda" : "core";
    assert_int_equal(device ? gemm_on_device(unit, &g) : smma_gemm(unit, &g), SMMA_OK);
  }
  assert_int_equal(d[0], d[1]);
  assert_int_not_equal(d[0] & 0x7f, 0x7f);
  smma_custom_release(unit);
}

/* A and B are rounded in the mode that the plan names. If it names none, they are rounded in the mode of the unit's
   library. */
static void test_operand_rounding(void **state) {
  const smma_instruction *nvidia = smma_find("A100", "mma.m16n8k8.f32.tf32.tf32.f32", NULL);
  const smma_instruction *hopper = smma_find("H100", "wgmma.m64n8k8.f32.tf32.tf32", NULL);
  const smma_instruction *amd = smma_find("MI300X", "v_mfma_f32_16x16x8_xf32", NULL);
  smma_plan *silent = plan_of("\"start\": \"c\""), *even = plan_of("\"round_in\": \"nearest-even\""),
            *zero = plan_of("\"round_in\": \"toward-zero\"");
  (void)state;
  assert_int_equal(smma_operand_rounding(nvidia, NULL, SMMA_TF32), SMMA_ROUND_NEAREST_AWAY);
  assert_int_equal(smma_operand_rounding(nvidia, silent, SMMA_TF32), SMMA_ROUND_NEAREST_AWAY);
  assert_int_equal(smma_operand_rounding(nvidia, even, SMMA_TF32), SMMA_ROUND_NEAREST_EVEN);
  assert_int_equal(smma_operand_rounding(hopper, NULL, SMMA_TF32), SMMA_ROUND_NEAREST_EVEN);
  assert_int_equal(smma_operand_rounding(amd, NULL, SMMA_TF32), SMMA_ROUND_TOWARD_ZERO);
  assert_int_equal(smma_operand_rounding(NULL, NULL, SMMA_TF32), SMMA_ROUND_NEAREST_AWAY);
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
    const smma_format f = smma_format_at(row);
    if (f != SMMA_TF32) assert_int_equal(smma_operand_rounding(nvidia, NULL, f), SMMA_ROUND_NEAREST_EVEN);
    assert_int_equal(smma_operand_rounding(amd, zero, f), SMMA_ROUND_TOWARD_ZERO);
  }
  smma_plan_free(silent), smma_plan_free(even), smma_plan_free(zero);
}

/* With the default arguments, a plan whose epilogue multiplies by scale_d gives the results of the plan without it. */
static void test_default_factor(void **state) {
  static product p;
  static double with[M * N];
  uint64_t random = 1;
  smma_gemm_arguments *g = &p.with;
  const smma_instruction *i = find("H100", "wgmma.m64n256k16.f32.f16.f16");
  smma_plan *plain = plan_of("\"group\": 16"), *scaled = plan_of("\"group\": 16, \"epilogue\": [\"scale-d\"]");
  (void)state;
  fill(SMMA_F16, p.a, M * 32, &random), fill(SMMA_F16, p.b, 32 * N, &random);
  smma_gemm_defaults(g, sizeof *g);
  g->m = M, g->n = N, g->k = 32, g->a = p.a, g->b = p.b;
  g->d = with, g->plan = scaled;
  assert_int_equal(smma_gemm(i, g), SMMA_OK);
  g->d = p.d, g->plan = plain;
  assert_int_equal(smma_gemm(i, g), SMMA_OK);
  assert_memory_equal(with, p.d, M * N * sizeof(float));
  smma_plan_free(plain), smma_plan_free(scaled);
}

/* Arguments that a plan does not use are refused, and D is unchanged. */
static void test_refused_arguments(void **state) {
  static product p;
  smma_gemm_arguments *g = &p.with;
  const smma_instruction *i = find("H100", "wgmma.m64n256k16.f32.f16.f16");
  const smma_instruction *wide = find("A100", "mma.m8n8k4.f64.f64.f64.f64");
  smma_plan *plain = plan_of("\"group\": 16"), *bias = plan_of("\"epilogue\": [\"bias\"]");
  smma_plan *parts = plan_of("\"sum\": [" EVERY ", \"with\": \"fma\"}]");
  (void)state;
  smma_gemm_defaults(g, sizeof *g);
  g->m = M, g->n = N, g->k = 32, g->a = p.a, g->b = p.b, g->d = p.d, g->plan = plain;
  memset(p.d, 0xee, sizeof p.d);
  g->split_k = 2;
  assert_int_equal(smma_gemm(i, g), SMMA_INVALID_ARGUMENT);
  g->split_k = 0, g->promote_every = 32;
  assert_int_equal(smma_gemm(i, g), SMMA_INVALID_ARGUMENT);
  g->promote_every = 0, g->alpha = 2;
  assert_int_equal(smma_gemm(i, g), SMMA_INVALID_ARGUMENT);
  g->alpha = 1, g->c = p.c;
  assert_int_equal(smma_gemm(i, g), SMMA_INVALID_ARGUMENT);
  g->c = NULL, g->k = 0;
  assert_int_equal(smma_gemm(i, g), SMMA_INVALID_PLAN);
  g->k = 32, g->plan = bias;
  assert_int_equal(smma_gemm(i, g), SMMA_INVALID_ARGUMENT);
  g->plan = parts;
  assert_int_equal(smma_gemm(i, g), SMMA_MISSING_SCALE);
  g->plan = plain, g->scale_a = g->scale_b = p.a;
  assert_int_equal(smma_gemm(i, g), SMMA_MISSING_SCALE);
  g->scale_a = g->scale_b = NULL, g->plan = bias, g->bias = p.bias;
  assert_int_equal(smma_gemm(wide, g), SMMA_INVALID_PLAN);
  for (size_t x = 0; x < sizeof p.d; x++) assert_int_equal(((unsigned char *)p.d)[x], 0xee);
  assert_int_equal(smma_plan_check(NULL, i, 1, NULL), SMMA_INVALID_ARGUMENT);
  g->plan = plain, g->bias = NULL, g->m = 0, g->k = 0; /* nothing to compute */
  assert_int_equal(smma_gemm(i, g), SMMA_OK);
  g->plan = NULL, g->split_k = 2, g->ldb = 0, g->order_b = SMMA_COLUMN_MAJOR, g->m = g->n = 0;
  for (int bit = 32; bit < 64; bit++) {
    g->k = (size_t)1 << bit;
    assert_int_equal(smma_gemm(i, g), SMMA_OK);
    if (bit > 53) assert_int_equal(smma_plan_check(plain, i, g->k, NULL), SMMA_NO_MEMORY);
  }
  smma_plan_free(plain), smma_plan_free(bias), smma_plan_free(parts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_complaints),
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_simple_cases),
      cmocka_unit_test(test_default_factor),
      cmocka_unit_test(test_refused_arguments),
      cmocka_unit_test(test_operand_rounding),
      cmocka_unit_test(test_configurations),
      cmocka_unit_test(test_recorded_shapes),
      cmocka_unit_test(test_epilogues),
      cmocka_unit_test(test_cuda_cores),
      cmocka_unit_test(test_lost_tail),
      cmocka_unit_test(test_refused_requests),
      cmocka_unit_test(test_all_lost),
      cmocka_unit_test(test_nan_in_narrow_formats),
      cmocka_unit_test(test_nan_that_a_step_loses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
