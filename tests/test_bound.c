/* The bounds of numerics/bound.h hold: no result of any unit is further from the exact product, on data of every kind
   and on operands designed to come near the bounds. The bounds are also tight enough: errors reach a minimum share of
   them.

   `test_bound print` prints the share that each algorithm reaches on each kind of data; `test_bound NAME` runs one
   test. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "core/wide.h"
#include "host/load.h"
#include "isa/catalogue.h"
#include "numerics/bound.h"
#include "numerics/envelope.h"
#include "random_unit.h"
#include "rows/data.h"
#include "support.h"

enum { ROWS = 5, COLUMNS = 19, MOST_OPERATIONS = 512 };

/* Up to this K every result is compared with an exact accumulator; for a larger K, some results are. */
enum { MOST_EXACT = 256 };

/* Changes to data before they are multiplied. */
typedef enum {
  AS_IT_IS,
  POSITIVE,         /* all signs positive: all truncations go in the same direction */
  CANCELLED,        /* the second half of K repeats the first with A negated: only rounding errors remain */
  CANCELLED_NEARLY, /* like CANCELLED, except the last product */
  LAST_BITS,        /* every significand ends in a one, so that alignment always truncates */
  TREATMENTS
} treatment;

typedef struct {
  const smma_instruction *instruction;
  smma_data data;
  treatment treatment;
  size_t k, split_k, promote_every;
  double alpha, beta;
  smma_format stored;
  bool has_c;
  const char *members; /* members of a plan, or NULL */
} setting;

typedef struct {
  smma_operation operation;
  smma_data_arrays x;
  void *d;
  smma_gemm_arguments g;
  smma_format d_format;
  size_t blocks, parts;
  smma_plan *plan;
  float *part_a, *part_b, bias[COLUMNS];
} product;

static void *array_of(smma_format format, size_t count) {
  void *array = calloc(count + 1, smma_container_bytes(smma_encoding_of(format)));
  assert_non_null(array);
  return array;
}

/* ---- Operands ---- */

static uint64_t treated(treatment t, smma_format format, uint64_t x) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_number number = smma_decode(f, x);
  const uint64_t sign = (uint64_t)f.sign_bits << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  if (number.kind > SMMA_FINITE || f.specials == SMMA_SPECIALS_INTEGER) return x;
  if (t == POSITIVE) return x & ~sign;
  if (t == LAST_BITS && number.kind == SMMA_FINITE) {
    const uint64_t odd = x | (uint64_t)1 << f.ignored_bits;
    return smma_decode(f, odd).kind == SMMA_FINITE ? odd : x;
  }
  return x;
}

static uint64_t negated(smma_format format, uint64_t x) {
  const smma_encoding f = smma_encoding_of(format);
  smma_number number = smma_decode(f, x);
  if (number.kind > SMMA_FINITE) return x;
  number.negative ^= 1;
  return smma_encode_number(f, number, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

static void treat(const setting *s, product *p) {
  const smma_operation *o = &p->operation;
  const size_t a = smma_container_bytes(smma_encoding_of(o->a)), b = smma_container_bytes(smma_encoding_of(o->b));
  const size_t half = s->k / 2;
  for (size_t i = 0; i < ROWS * s->k; i++)
    smma_store(a, p->x.a, i, treated(s->treatment, o->a, smma_load(a, p->x.a, i)));
  for (size_t i = 0; i < COLUMNS * s->k; i++)
    smma_store(b, p->x.b, i, treated(s->treatment, o->b, smma_load(b, p->x.b, i)));
  if (s->treatment != CANCELLED && s->treatment != CANCELLED_NEARLY) return;
  for (size_t k = 0; k < half - (s->treatment == CANCELLED_NEARLY); k++) {
    for (size_t i = 0; i < ROWS; i++)
      smma_store(a, p->x.a, i * s->k + half + k, negated(o->a, smma_load(a, p->x.a, i * s->k + k)));
    for (size_t j = 0; j < COLUMNS; j++)
      smma_store(b, p->x.b, (half + k) * COLUMNS + j, smma_load(b, p->x.b, k * COLUMNS + j));
  }
}

/* Fills C with numbers as large as the sums, or with random encodings. */
static void fill_c(const setting *s, product *p) {
  smma_operation o = p->operation;
  const smma_data_counts counts = {.a = ROWS * COLUMNS};
  smma_data_arrays arrays = {.a = p->x.c};
  o.a = o.b = o.c;
  if (s->data.kind == SMMA_DATA_C || s->data.kind == SMMA_DATA_C_ANY) return;
  smma_data_fill((smma_data){.kind = SMMA_DATA_NORMAL}, &o, s->k, &counts, &arrays);
}

/* ---- Plans ---- */

static smma_plan *plan_of(const char *members) {
  char text[2048];
  smma_error error;
  smma_plan *plan;
  snprintf(text, sizeof text, "{\"softmma-plan\": 1, \"name\": \"test\", %s}", members);
  plan = smma_plan_parse("plan.json", text, strlen(text), &error);
  if (!plan) fail_msg("%s\n%s", error.text, text);
  return plan;
}

/* Returns a scale factor of 13 bits; FP32 cannot hold the product of two exactly. */
static float random_factor(uint64_t *seed) {
  return (float)((int)random_below(seed, 8192) | 1) / 1024 * (random_below(seed, 4) ? 1 : -1);
}

static void take_plan(const setting *s, product *p) {
  uint64_t seed = s->k;
  size_t part;
  if (!s->members) return;
  p->plan = plan_of(s->members), p->g.plan = p->plan, p->g.split_k = 0;
  p->d_format = smma_plan_d_format(p->plan, s->instruction);
  part = smma_plan_scaled_k(p->plan), p->parts = part ? (s->k + part - 1) / part : 0;
  p->part_a = array_of(SMMA_F32, ROWS * p->parts), p->part_b = array_of(SMMA_F32, COLUMNS * p->parts);
  for (size_t i = 0; i < ROWS * p->parts; i++) p->part_a[i] = random_factor(&seed);
  for (size_t i = 0; i < COLUMNS * p->parts; i++) p->part_b[i] = random_factor(&seed);
  for (size_t j = 0; j < COLUMNS; j++) p->bias[j] = strstr(s->members, "bias") ? random_factor(&seed) : 0;
  if (part) p->g.scale_a = p->part_a, p->g.scale_b = p->part_b;
  if (strstr(s->members, "bias")) p->g.bias = p->bias;
}

/* Fills a product in place, because the arguments point to its member `bias`. */
static void make_product(const setting *s, product *p) {
  *p = (product){.operation = smma_operation_of(s->instruction)};
  const smma_operation *o = &p->operation;
  p->blocks = o->scale_block ? (s->k + (size_t)o->scale_block - 1) / (size_t)o->scale_block : 0;
  const smma_data_counts counts = {ROWS * s->k, COLUMNS * s->k, ROWS * COLUMNS, ROWS * p->blocks, COLUMNS * p->blocks};
  p->x = (smma_data_arrays){array_of(o->a, counts.a), array_of(o->b, counts.b), array_of(o->c, counts.c),
                            o->scale_block ? array_of(o->scale, counts.scale_a) : NULL,
                            o->scale_block ? array_of(o->scale, counts.scale_b) : NULL};
  p->d = array_of(SMMA_F64, ROWS * COLUMNS), p->d_format = o->d;
  smma_data_fill(s->data, o, s->k, &counts, &p->x);
  treat(s, p);
  fill_c(s, p);
  smma_gemm_defaults(&p->g, sizeof p->g);
  p->g.m = ROWS, p->g.n = COLUMNS, p->g.k = s->k, p->g.a = p->x.a, p->g.b = p->x.b, p->g.d = p->d;
  p->g.c = s->has_c ? p->x.c : NULL, p->g.scale_a = p->x.scale_a, p->g.scale_b = p->x.scale_b;
  p->g.alpha = s->alpha, p->g.beta = s->beta, p->g.split_k = s->split_k, p->g.promote_every = s->promote_every;
  p->g.threads = 1;
  take_plan(s, p);
}

static void free_product(product *p) {
  free(p->x.a), free(p->x.b), free(p->x.c), free(p->x.scale_a), free(p->x.scale_b), free(p->d);
  free(p->part_a), free(p->part_b), smma_plan_free(p->plan);
}

/* ---- The exact result ---- */

static smma_number at(smma_format format, const void *array, size_t index) {
  const smma_encoding f = smma_encoding_of(format);
  return smma_decode(f, smma_load(smma_container_bytes(f), array, index));
}

/* Adds a finite x times an integer. */
static void add_times(smma_wide *w, smma_number x, int times) {
  for (int i = 0; i < abs(times); i++)
    smma_wide_add(w, x.negative != (times < 0), x.significand, x.exponent - x.fraction_bits);
}

/* Computes alpha A B + beta C for integers alpha and beta; returns false if an operand is not finite. */
static bool exact_element(const setting *s, const product *p, size_t i, size_t j, smma_wide *w) {
  const smma_operation *o = &p->operation;
  smma_wide_clear(w);
  for (size_t k = 0; k < s->k; k++) {
    smma_number a = at(o->a, p->x.a, i * s->k + k), b = at(o->b, p->x.b, k * COLUMNS + j);
    if (a.kind > SMMA_FINITE || b.kind > SMMA_FINITE) return false;
    if (smma_products_of(&o->rule) == SMMA_PRODUCT_XOR) { /* for single bits: 1 if they differ */
      a = smma_decode(smma_encoding_of(o->a), a.significand != b.significand);
      b = smma_decode(smma_encoding_of(o->b), 1);
    }
    if (o->scale_block) {
      const size_t block = k / (size_t)o->scale_block;
      const smma_number x = at(o->scale, p->x.scale_a, i * p->blocks + block);
      const smma_number y = at(o->scale, p->x.scale_b, j * p->blocks + block);
      if (x.kind > SMMA_FINITE || y.kind > SMMA_FINITE) return false;
      a = smma_product(a, x), b = smma_product(b, y);
    }
    if (p->parts) {
      const size_t part = k / smma_plan_scaled_k(p->plan);
      a = smma_product(a, at(SMMA_F32, p->part_a, i * p->parts + part));
      b = smma_product(b, at(SMMA_F32, p->part_b, j * p->parts + part));
    }
    for (int n = 0; n < abs((int)s->alpha); n++) {
      smma_number signed_a = a;
      signed_a.negative ^= s->alpha < 0;
      smma_wide_add_product(w, signed_a, b);
    }
  }
  if (p->g.bias) add_times(w, at(SMMA_F32, p->bias, j), 1);
  if (!s->has_c) return true;
  const smma_number c = at(o->c, p->x.c, i * COLUMNS + j);
  if (c.kind > SMMA_FINITE) return false;
  if (c.kind == SMMA_FINITE) add_times(w, c, (int)s->beta);
  return true;
}

/* Returns d - exact. */
static double error_of(const smma_wide *exact, double d) {
  smma_wide sum;
  const smma_encoding f64 = smma_encoding_of(SMMA_F64);
  uint64_t encoding;
  memcpy(&encoding, &d, sizeof d);
  const smma_number x = smma_decode(f64, encoding);
  smma_wide_clear(&sum);
  for (int i = exact->first; i <= exact->last; i++) {
    smma_wide_use(&sum, i, i);
    sum.limb[i] = -exact->limb[i];
  }
  if (x.kind == SMMA_FINITE) smma_wide_add(&sum, x.negative, x.significand, x.exponent - x.fraction_bits);
  return smma_format_decode(SMMA_F64, smma_wide_round(&sum, f64));
}

/* ---- Checking ---- */

typedef struct {
  size_t elements, bounded, special;
  double used; /* the largest share of a bound that an error reached */
} tally;

static double stored_value(const setting *s, smma_format format, const void *d, size_t index) {
  const double value = smma_format_decode(format, smma_load(smma_container_bytes(smma_encoding_of(format)), d, index));
  if (s->stored == SMMA_NO_FORMAT) return value;
  return smma_format_decode(s->stored,
                            smma_format_encode(s->stored, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
}

static void complain(const setting *s, size_t i, size_t j, const smma_bounded *b, double d, double error) {
  char text[32], json[4096];
  print_error(
      "%s %s, data %s, treatment %d, K = %zu, split %zu, promote %zu, alpha %g, beta %g, stored %s: [%zu, %zu] "
      "is %a, exact %a + %a, bound -%a +%a, error %a\n",
      smma_arch_name(s->instruction), s->instruction->name, smma_data_text(s->data, text), (int)s->treatment, s->k,
      s->split_k, s->promote_every, s->alpha, s->beta, smma_format_name(s->stored), i, j, d, b->exact, b->rest,
      b->below, b->above, error);
  if (s->members) print_error("plan %s\n", s->members);
  if (s->instruction->arch != SMMA_ARCH_COUNT) return;
  smma_custom_text(s->instruction, json, sizeof json);
  print_error("%s\n", json);
}

static bool clamps(const setting *s) {
  return s->members && (strstr(s->members, "relu") || strstr(s->members, "clamp"));
}

/* Returns the exact sum after an epilogue that ends in clamping to E4M3, or in ReLU. */
static double clamped(const setting *s, double exact) {
  return strstr(s->members, "relu") ? fmax(exact, 0) : fmin(fmax(exact, -448), 448);
}

/* Returns the number of elements outside their bounds. */
static int check(const setting *s, tally *t) {
  smma_bounded bounds[ROWS * COLUMNS];
  product p;
  int wrong = 0;
  smma_wide exact = {.last = -1};
  make_product(s, &p);
  assert_int_equal(smma_gemm(s->instruction, &p.g), SMMA_OK);
  assert_int_equal(smma_bound_rows(s->instruction, &p.g, s->stored, 0, 2, bounds), SMMA_OK);
  assert_int_equal(smma_bound_rows(s->instruction, &p.g, s->stored, 2, ROWS - 2, bounds + 2 * COLUMNS), SMMA_OK);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < COLUMNS; j++) {
      const smma_bounded *b = &bounds[i * COLUMNS + j];
      const double d = stored_value(s, p.d_format, p.d, i * COLUMNS + j);
      const bool exactly = s->k <= MOST_EXACT || (i + 7 * j) % 16 == 0;
      const bool finite = exactly ? exact_element(s, &p, i, j, &exact) : !isnan(smma_bounded_error(b, 0));
      double error = NAN;
      bool right = smma_bounded_accepts(b, d);
      t->elements++;
      if (finite && isfinite(d) && isfinite(b->exact)) {
        error = exactly ? error_of(&exact, d) : smma_bounded_error(b, d);
        if (exactly && clamps(s)) error = d - clamped(s, -error_of(&exact, 0));
        right = right && error >= -b->below && error <= b->above;
      }
      if (finite && !isinf(b->below)) right = right && isfinite(d);
      if (!finite) t->special += !isinf(b->below);
      if (finite && !isinf(b->below)) {
        const double bound = error < 0 ? b->below : b->above;
        t->bounded++;
        if (bound > 0 && fabs(error) / bound > t->used) t->used = fabs(error) / bound;
      }
      if (right) continue;
      if (wrong++ < 3) complain(s, i, j, b, d, error);
    }
  free_product(&p);
  return wrong;
}

/* ---- Units ---- */

static const smma_instruction *operations[MOST_OPERATIONS];
static int operation_count;

/* Lists one instruction for each function of the catalogue. */
static int find_operations(void **state) {
  const int every = (int)amount_of("SOFTMMA_BOUND_EVERY", 1);
  (void)state;
  for (size_t i = 0; i < smma_catalogue_count(); i++) {
    const smma_instruction *each = smma_catalogue_at(i);
    bool known = false;
    for (int j = 0; j < operation_count && !known; j++) known = smma_same_operation(each, operations[j]);
    if (!known && operation_count < MOST_OPERATIONS) operations[operation_count++] = each;
  }
  for (int i = 0; i * every < operation_count; i++) operations[i] = operations[i * every];
  operation_count = (operation_count + every - 1) / every;
  return operation_count == 0;
}

/* Reports whether A and B have different formats. If sums are long or settings many, such pairs of narrow formats are
   skipped. */
static bool is_pair(const smma_instruction *i) { return i->a != i->b; }

static bool printing;

static void print_tally(const setting *s, const tally *t) {
  char text[32];
  if (!printing) return;
  printf("%-14s %-52s %-14s %d  K %5zu  bounded %5.1f %%  used %.3f\n", smma_model_name(&s->instruction->rule->rule),
         s->instruction->name, smma_data_text(s->data, text), (int)s->treatment, s->k,
         100 * (double)t->bounded / (double)t->elements, t->used);
}

static setting plain(const smma_instruction *i, smma_data data, treatment t, size_t k) {
  return (setting){i, data, t, k, 1, 0, 1, 1, SMMA_NO_FORMAT, smma_data_has_c(data), NULL};
}

/* ---- Tests ---- */

static int check_kinds(const smma_instruction *i, size_t k, treatment t) {
  const smma_operation o = smma_operation_of(i);
  int wrong = 0;
  for (int kind = 0; kind < SMMA_DATA_KINDS; kind++) {
    const smma_data data = {(smma_data_kind)kind, smma_data_infos[kind].amount, 0};
    setting s = plain(i, data, t, k);
    tally all = {0, 0, 0, 0};
    if (!smma_data_fits(data, &o)) continue;
    wrong += check(&s, &all);
    print_tally(&s, &all);
  }
  return wrong;
}

/* The bounds hold for every function of the catalogue on data of every kind. */
static void test_kinds(void **state) {
  int wrong = 0;
  (void)state;
  for (int i = 0; i < operation_count; i++) {
    wrong += check_kinds(operations[i], (size_t)operations[i]->k, AS_IT_IS);
    wrong += check_kinds(operations[i], 5 * (size_t)operations[i]->k + 3, AS_IT_IS);
  }
  assert_int_equal(wrong, 0);
}

static void test_treatments(void **state) {
  int wrong = 0;
  (void)state;
  for (int i = 0; i < operation_count; i++)
    for (int t = AS_IT_IS + 1; t < TREATMENTS && !is_pair(operations[i]); t++)
      wrong += check_kinds(operations[i], 4 * (size_t)operations[i]->k, (treatment)t);
  assert_int_equal(wrong, 0);
}

/* The bounds hold for long sums: of N(0, 1) unchanged, positive and cancelled, and of numbers with exponents far apart.
 */
static void test_long_sums(void **state) {
  static const smma_data mixed = {SMMA_DATA_MIXED, 20, 0}, normal = {SMMA_DATA_NORMAL, 0, 0};
  int wrong = 0;
  (void)state;
  for (int i = 0; i < operation_count; i++) {
    const smma_operation o = smma_operation_of(operations[i]);
    for (int t = AS_IT_IS; t < TREATMENTS && !is_pair(operations[i]); t++) {
      setting s = plain(operations[i], t == LAST_BITS && smma_data_fits(mixed, &o) ? mixed : normal, (treatment)t,
                        t == AS_IT_IS ? 4096 : 600);
      tally all = {0, 0, 0, 0};
      wrong += check(&s, &all);
      print_tally(&s, &all);
    }
  }
  assert_int_equal(wrong, 0);
}

/* The bounds hold for products with C, factors, slices, promotion, and results stored in another format. */
static void test_around(void **state) {
  static const smma_data normal = {SMMA_DATA_NORMAL, 0, 0};
  static const smma_format stored[] = {SMMA_NO_FORMAT, SMMA_BF16, SMMA_F16, SMMA_E4M3};
  int wrong = 0;
  (void)state;
  for (int i = 0; i < operation_count; i++) {
    const size_t k = (size_t)operations[i]->k;
    for (int n = i % 2; n < 32 && !is_pair(operations[i]); n += 2) {
      setting s = plain(operations[i], normal, n & 16 ? POSITIVE : AS_IT_IS, 9 * k - 2);
      tally t = {0, 0, 0, 0};
      s.has_c = n / 2 % 3 != 0;
      if (n & 2) s.alpha = 3, s.beta = -2;
      if (n & 4) s.split_k = 3;
      if (n & 8) s.promote_every = 2 * k;
      s.stored = operations[i]->d == SMMA_S32 ? SMMA_NO_FORMAT : stored[(n / 2 + i) % 4];
      wrong += check(&s, &t);
    }
  }
  assert_int_equal(wrong, 0);
}

#define SPLIT "{\"deal\": \"contiguous\", \"parts\": 3"
#define EVERY(k) "{\"deal\": \"every\", \"k\": " #k ", \"from\": \"zero\""
#define TURNS "{\"deal\": \"interleaved\", \"parts\": 5, \"tile\": 8"

/* Every way to combine parts, rounding, order of k, loss and epilogue. An epilogue's alpha is 3 and its beta is -2. */
static const char *const recipes[] = {
    "\"sum\": [" SPLIT "}]",
    "\"sum\": [" SPLIT ", \"grain\": 8, \"fold\": \"neighbours\"}, " EVERY(32) "}]",
    "\"sum\": [" TURNS ", \"fold\": \"last-first\"}], \"start\": \"c\"",
    "\"sum\": [" TURNS ", \"fold\": \"strides\", \"strides\": [4, 2, 1]}, " SPLIT "}]",
    "\"sum\": [{\"deal\": \"list\", \"list\": [[[8, 16]], [[20, 30], [0, 3]]]}]",
    "\"group\": 1",
    "\"residue\": \"first\", \"start\": \"c\"",
    "\"lost_tail\": 32, \"sum\": [{\"deal\": \"contiguous\", \"parts\": 32}]",
    "\"d\": \"bf16\", \"sum\": [" SPLIT ", \"stored\": \"d\"}]",
    "\"d\": \"f16\", \"sum\": [" SPLIT ", \"total\": \"d\", \"from\": \"zero\"}, " EVERY(48) ", \"stored\": \"tf32\"}]",
    "\"d\": \"bf16\", \"sum\": [" EVERY(32) ", \"with\": \"fma\"}]",
    "\"sum\": [" EVERY(48) ", \"with\": \"multiply-fma\", \"total\": \"bf16\"}]",
    "\"sum\": [" EVERY(32) ", \"with\": \"fma\"}], \"epilogue\": [\"alpha\", \"bias\"]",
    "\"d\": \"f16\", \"epilogue\": [\"linear\", {\"round\": \"f16\"}, \"bias\"]",
    "\"epilogue\": [\"alpha\", \"beta\"], \"sum\": [" SPLIT "}]",
    "\"epilogue\": [\"linear\", \"relu\"], \"sum\": [" SPLIT "}]",
    "\"epilogue\": [\"alpha\", {\"clamp\": \"e4m3\"}], \"d\": \"e4m3\"",
};

/* Plans around every function, on data of several kinds, positive, cancelled and badly aligned. */
static void test_plans(void **state) {
  static const smma_data_kind kinds[] = {SMMA_DATA_NORMAL, SMMA_DATA_MIXED, SMMA_DATA_ENCODINGS, SMMA_DATA_SUBNORMAL};
  size_t bounded = 0, elements = 0;
  int wrong = 0;
  (void)state;
  for (int i = 0; i < operation_count; i++)
    for (size_t n = 0; n < sizeof recipes / sizeof *recipes; n++) {
      const smma_data_kind kind = kinds[(n + (size_t)i / 2) % 4];
      const treatment how = (treatment)((i + (int)n) % TREATMENTS);
      const smma_data data = {kind, smma_data_infos[kind].amount, 0};
      const smma_operation o = smma_operation_of(operations[i]);
      setting s = plain(operations[i], data, how, n % 2 ? 100 : 131);
      tally t = {0, 0, 0, 0};
      smma_plan *plan = plan_of(recipes[n]);
      smma_error error;
      const bool followed = smma_plan_check(plan, operations[i], s.k, &error) == SMMA_OK;
      smma_plan_free(plan);
      if (!followed || !smma_data_fits(data, &o) || is_pair(operations[i])) continue;
      s.members = recipes[n];
      if (strstr(recipes[n], "alpha") || strstr(recipes[n], "linear")) s.alpha = 3;
      if (strstr(recipes[n], "linear") || strstr(recipes[n], "beta")) s.beta = -2;
      s.has_c = strstr(recipes[n], "linear") || strstr(recipes[n], "beta") || strstr(recipes[n], "start");
      wrong += check(&s, &t);
      print_tally(&s, &t);
      bounded += t.bounded, elements += t.elements;
    }
  print_message("%zu of %zu elements have a bound\n", bounded, elements);
  assert_int_equal(wrong, 0);
  assert_true(2 * bounded > elements);
}

static int check_custom(smma_custom custom, size_t *bounded) {
  const smma_instruction *unit = smma_custom_make(&custom);
  static const smma_data_kind kinds[] = {SMMA_DATA_NORMAL, SMMA_DATA_ENCODINGS, SMMA_DATA_SUBNORMAL, SMMA_DATA_C};
  int wrong = 0;
  for (size_t n = 0; n < sizeof kinds / sizeof kinds[0]; n++) {
    const smma_data data = {kinds[n], smma_data_infos[kinds[n]].amount, 0};
    setting s = plain(unit, data, (treatment)(n % 3 == 2 ? LAST_BITS : AS_IT_IS), 3 * (size_t)unit->k);
    const smma_operation o = smma_operation_of(unit);
    tally t = {0, 0, 0, 0};
    if (!smma_data_fits(data, &o)) continue;
    s.has_c = true;
    wrong += check(&s, &t);
    *bounded += t.bounded;
    print_tally(&s, &t);
  }
  smma_custom_release(unit);
  return wrong;
}

/* Returns a unit of one chain with coarse exponents, unless its sums are exact. */
static smma_custom coarse_unit(uint64_t seed) {
  smma_custom c = random_unit(seed);
  smma_step *s = &c.named.rule.with.composition.step[0];
  if (s->term.bits != SMMA_EXACT_ALIGNMENT) s->reference_multiple = 2 << seed % 6;
  return c;
}

/* The bounds hold for custom units with random parameters. */
static void test_custom_units(void **state) {
  size_t bounded = 0, coarse = 0;
  int wrong = 0;
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    wrong += check_custom(random_unit(seed), &bounded);
    wrong += check_custom(random_catalogue_unit(seed), &bounded);
    wrong += check_custom(coarse_unit(seed), &coarse);
  }
  assert_int_equal(wrong, 0);
  assert_true(bounded > 10000);
  assert_true(coarse > 10000);
}

#define UNIT(a, d, members)                                                                         \
  "{\"softmma-unit\": 1, \"name\": \"unit\", \"algorithm\": \"composition\", \"k\": 4, \"a\": \"" a \
  "\", "                                                                                            \
  "\"b\": \"" a "\", \"d\": \"" d "\", " members "}"
#define CHAIN "\"join\": \"chain\", \"start\": \"c\", "
#define APART "\"join\": \"apart\", "
#define EXACT "\"alignment_bits\": \"exact\", \"rounding\": \"nearest-even\", "

/* Units near those that have a bound, each with one property that the bound must take into account: two roundings of
   subnormal results; a C cut under a fixed exponent; terms of more than 112 bits; products with factors that are scaled
   or cut; factors, products and sums that become infinite. */
static const char *const near_units[] = {
    UNIT("f32", "f32", "\"steps\": [{\"take\": 2, " CHAIN EXACT "\"narrow_bits\": 23, \"output\": \"f32\"}]"),
    UNIT("f16", "f32",
         "\"steps\": [{\"take\": 4, " CHAIN "\"reference\": 32, \"alignment_bits\": 80, \"output\": \"none\"}, "
         "{\"take\": 1, " APART EXACT "\"output\": \"f32\"}]"),
    UNIT("bf16", "f32",
         "\"steps\": [{\"take\": 4, " APART "\"reference\": -200, \"alignment_bits\": 66, \"output\": \"none\"}, "
         "{\"take\": 1, " CHAIN EXACT "\"output\": \"f32\"}]"),
    UNIT("e4m3", "f32",
         "\"scale\": \"ue8m0\", \"scale_block\": 4, \"steps\": [{\"take\": 4, " APART
         "\"reference\": 0, \"alignment_bits\": "
         "40, \"output\": \"none\"}, {\"take\": 1, " CHAIN EXACT "\"output\": \"f32\"}]"),
    UNIT("bf16", "f32",
         "\"widen\": \"f16\", \"steps\": [{\"take\": 4, " CHAIN "\"alignment_bits\": 25, \"output\": \"f32\"}]"),
    UNIT("bf16", "f32",
         "\"product_limit\": 10, \"steps\": [{\"take\": 4, " CHAIN "\"alignment_bits\": 25, \"output\": \"f32\"}]"),
    UNIT("bf16", "f32",
         "\"steps\": [{\"take\": 2, " APART EXACT "\"output\": \"f16\"}, {\"take\": 2, " CHAIN EXACT
         "\"output\": \"f32\"}]"),
    UNIT("bf16", "f16", "\"steps\": [{\"take\": 4, " CHAIN EXACT "\"output\": \"f16\"}]"),
};

static void test_near_units(void **state) {
  size_t bounded = 0;
  int wrong = 0;
  (void)state;
  for (size_t n = 0; n < sizeof near_units / sizeof *near_units; n++) {
    smma_error error;
    const smma_instruction *unit = smma_custom_read("unit", near_units[n], strlen(near_units[n]), &error);
    if (!unit) fail_msg("%s\n%s", error.text, near_units[n]);
    wrong += check_custom(smma_custom_of(unit), &bounded);
    smma_custom_release(unit);
  }
  assert_int_equal(wrong, 0);
}

/* Aligns the terms of a step exactly; of a step that does not round, under a fixed exponent. */
static void align_exactly(uint64_t *state, smma_step *s) {
  const bool fixed = s->output == SMMA_NO_FORMAT;
  s->term.bits = s->accumulator.bits = fixed ? (int)random_below(state, 80) : SMMA_EXACT_ALIGNMENT;
  s->reference = fixed ? (int)random_below(state, 90) - 50 : SMMA_NONE;
  s->reference_multiple = 1;
  s->term.drop = s->accumulator.drop = SMMA_NONE;
  s->term.again = s->accumulator.again = 0;
  s->least_reference = s->width = SMMA_NONE;
  s->minus_one_shift = 0;
  s->opposing = SMMA_OPPOSING_EXACT;
}

/* Makes a second rounding of a step equal to its first, except for subnormal results. */
static void round_twice_alike(uint64_t *state, smma_step *s) {
  if (s->output == SMMA_NO_FORMAT || s->narrow_bits == SMMA_NONE) return;
  s->narrow_bits = smma_encoding_of(s->output).fraction_bits;
  s->narrow_rounding = s->rounding;
  s->narrow_subnormals = random_below(state, 4) == 0;
}

/* Returns a composition in which most steps have exact sums. */
static smma_custom nearly_exact_unit(uint64_t seed) {
  smma_custom c = random_composition(seed), checked;
  smma_composition *p = &c.named.rule.with.composition;
  uint64_t state = seed;
  smma_custom_fault fault;
  for (smma_step *s = p->step; s < p->step + p->steps; s++) {
    checked = c;
    if (random_below(&state, 8)) align_exactly(&state, s);
    if (random_below(&state, 8)) s->overflow = SMMA_SUM_TO_INFINITY, s->stride = 1, s->descending = 0;
    if (random_below(&state, 4) == 0) s->narrow_bits = SMMA_NONE;
    if (random_below(&state, 4)) round_twice_alike(&state, s);
    if (!smma_custom_check(&c, &fault)) c = checked;
  }
  checked = c;
  if (random_below(&state, 8)) p->widen = SMMA_NO_FORMAT, p->product_limit = SMMA_NONE;
  return smma_custom_check(&c, &fault) ? c : checked;
}

/* Returns a unit that is G-FDPA, except one random key of its first step. */
static smma_custom changed_unit(uint64_t seed) {
  const smma_custom c = random_unit(seed), other = random_composition(seed);
  uint64_t state = seed;
  for (int tries = 0; tries < 30; tries++) {
    const smma_key *key = smma_next_step_key(NULL);
    smma_custom x = c;
    smma_custom_fault fault;
    for (uint64_t n = random_below(&state, 64); n > 0; n--)
      if (!(key = smma_next_step_key(key))) key = smma_next_step_key(NULL);
    smma_set_key_of_step(&x.named.rule.with.composition.step[0], key,
                         smma_key_of_step(&other.named.rule.with.composition.step[0], key));
    if (smma_custom_check(&x, &fault)) return x;
  }
  return c;
}

/* The bounds hold for random compositions near those that have a bound. SOFTMMA_BOUND_UNITS sets their number. */
static void test_compositions(void **state) {
  size_t exact = 0, changed = 0;
  int wrong = 0;
  (void)state;
  for (uint64_t seed = 0; seed < amount_of("SOFTMMA_BOUND_UNITS", 300); seed++) {
    wrong += check_custom(nearly_exact_unit(seed), &exact);
    wrong += check_custom(changed_unit(seed), &changed);
  }
  assert_int_equal(wrong, 0);
  assert_true(exact > 10000 && changed > 10000);
}

/* Compositions have no bound, but the reference for their errors is the exact sum, including scale factors. It is held
   in two doubles, which lose almost nothing for short sums. */
static void check_sums(const smma_instruction *unit, smma_data_kind kind) {
  const smma_data data = {kind, smma_data_infos[kind].amount, 0};
  const smma_operation o = smma_operation_of(unit);
  setting s = plain(unit, data, AS_IT_IS, 3 * (size_t)unit->k);
  smma_bounded bounds[ROWS * COLUMNS];
  product p;
  if (!smma_data_fits(data, &o)) return;
  s.has_c = true;
  make_product(&s, &p);
  assert_int_equal(smma_bound_rows(unit, &p.g, SMMA_NO_FORMAT, 0, ROWS, bounds), SMMA_OK);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < COLUMNS; j++) {
      const smma_bounded *b = &bounds[i * COLUMNS + j];
      smma_wide exact = {.last = -1};
      double size = fabs(smma_format_decode(o.c, smma_load(smma_format_bytes(o.c), p.x.c, i * COLUMNS + j))), rest;
      if (!exact_element(&s, &p, i, j, &exact) || !isfinite(b->exact)) continue;
      for (size_t k = 0; k < s.k; k++) {
        const size_t block = o.scale_block ? k / (size_t)o.scale_block : 0;
        double term = smma_format_decode(o.a, smma_load(smma_format_bytes(o.a), p.x.a, i * s.k + k)) *
                      smma_format_decode(o.b, smma_load(smma_format_bytes(o.b), p.x.b, k * COLUMNS + j));
        if (o.scale_block)
          term *= smma_format_decode(o.scale, smma_load(1, p.x.scale_a, i * p.blocks + block)) *
                  smma_format_decode(o.scale, smma_load(1, p.x.scale_b, j * p.blocks + block));
        size += fabs(term);
      }
      rest = -error_of(&exact, b->exact);
      if (fabs(rest - b->rest) <= size * 0x1p-90 + 0x1p-1060) continue;
      complain(&s, i, j, b, 0, rest);
      fail_msg("the rest is %a", rest);
    }
  free_product(&p);
}

static void test_sums_of_compositions(void **state) {
  int scaled = 0;
  (void)state;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    const smma_custom custom = random_composition(seed);
    const smma_instruction *unit = smma_custom_make(&custom);
    if (unit->rule->rule.algorithm == SMMA_COMPOSITION && (unit->scale_block || seed % 8 == 0)) {
      scaled += unit->scale_block != 0;
      check_sums(unit, SMMA_DATA_NORMAL);
      check_sums(unit, SMMA_DATA_ENCODINGS);
      check_sums(unit, SMMA_DATA_SCALES);
    }
    smma_custom_release(unit);
  }
  assert_true(scaled > 100);
}

/* For every function that has a bound, some error comes near it. In a single instruction on N(0, 1) the greatest error
   is at least a tenth of the bound, unless all errors are zero. */
static void test_not_idle(void **state) {
  int wrong = 0;
  (void)state;
  for (int i = 0; i < operation_count; i++) {
    setting s = plain(operations[i], (smma_data){.kind = SMMA_DATA_NORMAL}, AS_IT_IS, (size_t)operations[i]->k);
    tally t = {0, 0, 0, 0};
    wrong += check(&s, &t);
    if (smma_has_bound(operations[i]) ? t.bounded == t.elements && (t.used == 0 || t.used >= 0.1) : t.bounded == 0)
      continue;
    print_error("%s: %zu of %zu elements have a bound, at most %g of one is used\n", operations[i]->name, t.bounded,
                t.elements, t.used);
    wrong++;
  }
  assert_int_equal(wrong, 0);
}

/* A C of integers times a fraction is rounded before the sum starts from it. */
static void test_fractions_of_integers(void **state) {
  const smma_instruction *i = find("A100", "mma.m16n8k32.s32.s8.s8.s32");
  const int8_t a[32] = {3, -5}, b[32] = {7, 2};
  smma_gemm_arguments g;
  (void)state;
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = 32, g.a = a, g.b = b, g.scaling = SMMA_SCALING_OPERANDS;
  for (int32_t c = -2000; c < 2000; c += 7) {
    int32_t d = 0;
    smma_bounded x;
    g.c = &c, g.d = &d, g.beta = 1.0003;
    assert_int_equal(smma_gemm(i, &g), SMMA_OK);
    assert_int_equal(smma_bound_rows(i, &g, SMMA_NO_FORMAT, 0, 1, &x), SMMA_OK);
    assert_true(smma_bounded_accepts(&x, d) && x.above <= 0.5);
  }
}

/* So many rows that factors of A are kept for some of them at a time: their bounds are those of single rows. */
static void test_many_rows(void **state) {
  enum { MANY = 1100, LONG = 1008 };
  static uint16_t a[MANY * LONG], b[LONG];
  static smma_bounded bounds[MANY];
  const smma_instruction *i = find("V100", "mma.m8n8k4.f32.f16.f16.f32");
  uint64_t seed = 5;
  smma_gemm_arguments g;
  (void)state;
  for (size_t n = 0; n < MANY * LONG; n++) a[n] = (uint16_t)(random_bits(&seed) % 0x7800);
  for (size_t n = 0; n < LONG; n++) b[n] = (uint16_t)(random_bits(&seed) % 0x3c00);
  a[1040 * LONG + 7] = 0x7c00;
  smma_gemm_defaults(&g, sizeof g);
  g.m = MANY, g.n = 1, g.k = LONG, g.a = a, g.b = b;
  assert_int_equal(smma_bound_rows(i, &g, SMMA_NO_FORMAT, 0, MANY, bounds), SMMA_OK);
  for (size_t row = 0; row < MANY; row += row < 1030 ? 103 : 1) {
    smma_bounded x;
    assert_int_equal(smma_bound_rows(i, &g, SMMA_NO_FORMAT, row, 1, &x), SMMA_OK);
    assert_memory_equal(&x, &bounds[row], sizeof x);
  }
}

/* A plan's sum starts from beta C, which is clamped if it leaves the range of s32, whether or not sums wrap. */
static void test_plans_from_c_of_integers(void **state) {
  static const char *const names[] = {"mma.m16n8k32.s32.s8.s8.s32", "mma.m16n8k32.satfinite.s32.s8.s8.s32"};
  int8_t a[64], b[64];
  smma_plan *plan = plan_of("\"start\": \"c\"");
  smma_gemm_arguments g;
  (void)state;
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = 64, g.a = a, g.b = b, g.plan = plan, g.beta = 2;
  for (int k = 0; k < 64; k++) a[k] = k < 32 ? 1 : -2, b[k] = 1;
  for (int n = 0; n < 2; n++)
    for (int32_t c = (1 << 30) - 60; c < (1 << 30) + 60; c++)
      for (int sign = -1; sign <= 1; sign += 2) {
        const int32_t signed_c = sign * c;
        int32_t d = 0;
        smma_bounded x;
        g.c = &signed_c, g.d = &d;
        assert_int_equal(smma_gemm(find("A100", names[n]), &g), SMMA_OK);
        assert_int_equal(smma_bound_rows(find("A100", names[n]), &g, SMMA_NO_FORMAT, 0, 1, &x), SMMA_OK);
        assert_true(smma_bounded_accepts(&x, d));
        if (c < (1 << 30) - 50) assert_true(x.below == 0 && x.above == 0);
      }
  smma_plan_free(plan);
}

/* Every edge of an envelope is a tolerance that accepts all points and touches one of them. Also checks, with a grid of
   tolerances, which points some tolerance refuses. */
static void test_envelope(void **state) {
  enum { POINTS = 40, SLOPES = 400 };
  smma_error_point points[POINTS];
  uint64_t seed = 1;
  (void)state;
  for (int round = 0; round < 200; round++) {
    const double unit = ldexp(1, (round / 8 % 3 - 1) * 800); /* products of two numbers are outside double's range */
    double most = 0;
    for (int i = 0; i < POINTS; i++) {
      points[i].exact = (double)random_below(&seed, 30) / 10;
      points[i].error = (double)random_below(&seed, round % 2 ? 1000 : 5) * points[i].exact + random_below(&seed, 4);
      points[i].exact *= unit, points[i].error *= unit;
      most = fmax(most, points[i].error);
    }
    const smma_envelope e = smma_envelope_of(points, 0, 0);
    assert_int_equal(e.edges, 1); /* nothing to accept except zeros */
    assert_true(e.edge[0].relative == 0 && e.edge[0].absolute == 0);
    smma_error_point copy[POINTS];
    memcpy(copy, points, sizeof copy);
    const smma_envelope x = smma_envelope_of(copy, POINTS, round % 3 ? 0 : 0.2);
    for (int n = 0; n < x.edges; n++) {
      const smma_tolerance t = x.edge[n], up = smma_tolerance_rounded_up(t);
      bool meets = false;
      for (int i = 0; i < POINTS; i++) {
        assert_true(smma_tolerance_accepts(t, points[i]) && smma_tolerance_accepts(up, points[i]));
        meets = meets || round % 3 == 0 || points[i].error >= (t.absolute + t.relative * points[i].exact) * (1 - 1e-9);
      }
      assert_true(meets && t.absolute >= 0 && t.relative >= 0 && up.absolute <= 1.1001 * t.absolute);
    }
    /* Tests a grid of tolerances that accept all points. If the envelope says that every such tolerance accepts a
       point, none of the grid may refuse it. */
    for (int n = 0; n < SLOPES; n++) {
      const smma_error_point p = {unit * (double)random_below(&seed, 40) / 10,
                                  most * (double)random_below(&seed, 1000) / 900};
      smma_tolerance t = {(double)n * 5, 0};
      for (int i = 0; i < POINTS; i++) t.absolute = fmax(t.absolute, points[i].error - t.relative * points[i].exact);
      if (round % 3 && !smma_tolerance_accepts(t, p))
        assert_true(smma_envelope_refuses(&x, (smma_error_point){p.exact, p.error * (1 + 1e-9)}));
    }
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_treatments),
      cmocka_unit_test(test_long_sums),
      cmocka_unit_test(test_around),
      cmocka_unit_test(test_custom_units),
      cmocka_unit_test(test_near_units),
      cmocka_unit_test(test_compositions),
      cmocka_unit_test(test_not_idle),
      cmocka_unit_test(test_fractions_of_integers),
      cmocka_unit_test(test_plans_from_c_of_integers),
      cmocka_unit_test(test_many_rows),
      cmocka_unit_test(test_envelope),
      cmocka_unit_test(test_plans),
      cmocka_unit_test(test_sums_of_compositions),
  };
  printing = argc == 2 && strcmp(argv[1], "print") == 0;
  if (argc == 2 && !printing) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests_name("bound", tests, find_operations, NULL);
}
