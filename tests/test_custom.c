/* Custom units: G-FDPA and the catalogue's algorithms against the oracle, the JSON form written and read back, error
   messages, and the public functions with custom units. SOFTMMA_CUSTOM_UNITS sets the number of random units. */
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "explain/explain.h"
#include "isa/compose.h"
#include "isa/custom.h"
#include "operands.h"
#include "oracle.h"
#include "random_unit.h"
#include "support.h"

#define DEFAULT_UNITS 600
#define ROWS 400
#define SEED 77

static int unit_count(void) { return (int)amount_of("SOFTMMA_CUSTOM_UNITS", DEFAULT_UNITS); }

static const smma_instruction *make(const smma_custom *c) {
  const smma_instruction *i = smma_custom_make(c);
  assert_non_null(i);
  return i;
}

/* ---- Reading and writing ---- */

static const smma_instruction *parse(const char *text) {
  smma_error error;
  const smma_instruction *i = smma_custom_read("unit.json", text, strlen(text), &error);
  if (!i) fail_msg("%s\n%s", error.text, text);
  return i;
}

/* Writes the instruction, reads the text, and writes it again. */
static const smma_instruction *there_and_back(const smma_instruction *i) {
  char text[4096], again[4096], name[4096];
  const smma_instruction *back;
  json_t *object;
  assert_true(smma_custom_text(i, text, sizeof text) < sizeof text);
  assert_int_equal(smma_custom_text(i, NULL, 0), strlen(text));
  assert_int_equal(smma_custom_text(i, NULL, 100), strlen(text));
  object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(object);
  json_decref(object);
  back = parse(text);
  smma_custom_text(back, again, sizeof again);
  assert_string_equal(text, again);
  assert_string_equal(i->name, back->name);
  assert_true(smma_same_operation(i, back));
  snprintf(name, sizeof name, "%.*s", 20, text);
  assert_int_equal(smma_custom_text(i, again, 21), strlen(text));
  assert_string_equal(name, again);
  return back;
}

/* Every instruction of the catalogue can be written and read back, and computes the same results. */
static void test_catalogue(void **state) {
  (void)state;
  for (size_t index = 0; index < smma_instruction_count(); index++) {
    const smma_instruction *i = smma_instruction_at(index), *back = there_and_back(i);
    smma_operation o = smma_operation_of(i);
    assert_non_null(smma_catalogue_twin(back));
    assert_string_equal(smma_kernel_for(i, NULL, NULL), smma_kernel_for(back, NULL, NULL));
    for (uint64_t row = 0; row < 8; row++) {
      smma_row x = operands_row(&o, SEED, row);
      assert_true(dot(i, &x) == dot(back, &x));
    }
    smma_custom_release(back);
  }
  smma_custom_release(smma_instruction_at(0));
  smma_custom_release(NULL);
}

/* ---- Results ---- */

static bool is_g_fdpa(const smma_instruction *i, smma_g_fdpa *g) {
  const smma_rule *r = &i->rule->rule;
  return r->algorithm == SMMA_COMPOSITION && smma_is_g_fdpa(&r->with.composition, i->k, i->d, g);
}

static void check_against_oracle(const smma_instruction *i, uint64_t first_row) {
  smma_operation o = smma_operation_of(i);
  char text[4096];
  for (uint64_t row = first_row; row < first_row + ROWS; row++) {
    smma_row x = operands_row(&o, seed_of(SEED), row);
    uint64_t expected = oracle_dot_add(&o, x.a, x.b, x.c, x.scale_a, x.scale_b), got = dot(i, &x);
    if (expected == got) continue;
    print_dot(i, &x, expected, got);
    smma_custom_text(i, text, sizeof text);
    fail_msg("row %" PRIu64 " of\n%s", row, text);
  }
}

static void check_explanation(const smma_instruction *i, uint64_t row) {
  smma_operation o = smma_operation_of(i);
  smma_row x = operands_row(&o, SEED, row);
  smma_explanation e;
  smma_g_fdpa g;
  FILE *nowhere = fopen("/dev/null", "w");
  assert_non_null(nowhere);
  assert_true(smma_explain(&o, &x, &e));
  if (e.result != dot(i, &x)) print_dot(i, &x, dot(i, &x), e.result);
  assert_true(e.result == dot(i, &x));
  for (size_t s = 0; s < e.count; s++) {
    int64_t sum = 0;
    for (int r = 0; r < e.stage[s].line_count; r++) sum += e.stage[s].line[r].aligned;
    if (is_g_fdpa(i, &g) && e.stage[s].kind == SMMA_STAGE_ALIGN) assert_true(sum == e.stage[s].sum);
  }
  smma_explain_print(nowhere, &o, &e, 120);
  fclose(nowhere);
  smma_explanation_free(&e);
}

static void test_random_units(void **state) {
  (void)state;
  for (int u = 0; u < unit_count(); u++) {
    smma_custom c = random_unit((uint64_t)u);
    const smma_instruction *i = make(&c), *back = there_and_back(i);
    check_against_oracle(back, (uint64_t)u * ROWS);
    for (uint64_t row = 0; row < 8; row++) check_explanation(back, row);
    smma_custom_release(i);
    smma_custom_release(back);
  }
}

/* ---- The table of keys ---- */

/* Returns the number of bytes of an algorithm's parameters. Not included are the block of GST-FDPA, which follows from
   the other parameters, the group, which C-FDPA lacks, and the steps of a composition, which have keys of their own. */
static size_t parameter_bytes(smma_algorithm algorithm) {
  const smma_rule *r = NULL; /* for sizeof */
  switch (algorithm) {
    case SMMA_GST_FDPA: return sizeof(smma_gst_fdpa) - sizeof(int);
    case SMMA_C_FDPA: return offsetof(smma_c_fdpa, group);
    case SMMA_COMPOSITION: return offsetof(smma_composition, steps);
    case SMMA_FTZ_FMA: return 0;
    default: break;
  }
  switch (algorithm) {
#define SMMA_UNFUSED(symbol, name, member, block, dot) SMMA_FUSED(symbol, name, member, block, , )
#define SMMA_FUSED(symbol, name, member, block, product, sum) \
  case SMMA_##symbol: {                                       \
    return sizeof r->with.member;                             \
  }
#include "core/algorithm.def"
  }
  return 0;
}

/* A parameter without an entry in the table would not be compared, described, read or written. */
static void test_every_parameter_has_a_key(void **state) {
  smma_rule rule = {.algorithm = SMMA_FMA};
  (void)state;
  for (; *smma_model_name(&rule); rule.algorithm++) {
    size_t bytes = 0;
    for (const smma_key *key = NULL; (key = smma_next_key(rule.algorithm, key));)
      if (key->of_rule && key->member >= offsetof(smma_rule, with)) bytes += sizeof(int);
    if (bytes != parameter_bytes(rule.algorithm))
      fail_msg("%s: keys of %zu bytes for parameters of %zu", smma_model_name(&rule), bytes,
               parameter_bytes(rule.algorithm));
  }
}

/* Rules with a different value of one parameter are different. */
static void test_every_key_counts(void **state) {
  (void)state;
  for (uint64_t u = 0; u < 200; u++) {
    smma_custom custom = u % 2 ? random_unit(u) : random_catalogue_unit(u);
    const smma_instruction *i = make(&custom);
    for (const smma_key *key = NULL; (key = smma_next_key(custom.named.rule.algorithm, key));) {
      smma_custom other = smma_custom_of(i);
      if (!key->of_rule) continue;
      smma_custom_set(&other, key, smma_custom_get(&other, key) ^ 1);
      other.instruction.rule = &other.named;
      if (smma_same_operation(i, &other.instruction))
        fail_msg("%s of %s is not compared", key->key, smma_model_name(&other.named.rule));
    }
    smma_custom_release(i);
  }
}

/* The limits of parameters ensure that the integers in the catalogue's algorithms stay exact. */
static void test_random_catalogue_units(void **state) {
  (void)state;
  for (int u = 0; u < unit_count(); u++) {
    smma_custom c = random_catalogue_unit((uint64_t)u);
    const smma_instruction *i = make(&c), *back = there_and_back(i);
    check_against_oracle(back, (uint64_t)u * ROWS);
    for (uint64_t row = 0; row < 8; row++) check_explanation(back, row);
    smma_custom_release(i);
    smma_custom_release(back);
  }
}

/* ---- G-FDPA ---- */

/* Writes the unit in the keys of G-FDPA. */
static void write_chain(const smma_custom *c, const smma_g_fdpa *g, char *text, size_t size) {
  char word[64];
  snprintf(text, size, "{\"softmma-unit\": 1, \"name\": \"x\", \"algorithm\": \"G-FDPA\"");
  for (const smma_key *key = NULL; (key = smma_next_key(SMMA_KEYS_OF_G_FDPA, key));) {
    const int value = key->of_chain ? smma_key_of_chain(g, key) : smma_custom_get(c, key);
    const bool bare =
        key->kind == SMMA_KEY_FLAG || (key->kind == SMMA_KEY_INTEGER && value >= key->least && value <= key->most);
    if (!key->of_chain && smma_custom_left_out(c, key)) continue;
    smma_append_text(text, size, bare ? ", \"%s\": %s" : ", \"%s\": \"%s\"", key->key,
                     smma_key_value(key, value, word, sizeof word));
  }
  smma_append_text(text, size, "}");
}

/* The description of the composition names its G-FDPA. */
static void check_parameters(const smma_instruction *i, const smma_g_fdpa *g) {
  const smma_composition p = smma_compose_g_fdpa(g, i->k, i->d);
  smma_g_fdpa again;
  assert_true(smma_is_g_fdpa(&p, i->k, i->d, &again));
  assert_memory_equal(g, &again, sizeof again);
}

/* Texts with the keys of G-FDPA and random values describe units whose results have the expected digests. The expected
   digests (FNV-1a, 64 bits) were computed by code written for G-FDPA alone. */
static void test_g_fdpa(void **state) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  (void)state;
  for (uint64_t u = 0; u < 150; u++) {
    smma_g_fdpa g;
    const smma_custom c = random_chain(u, &g);
    const smma_instruction *made = make(&c), *read;
    char text[4096];
    write_chain(&c, &g, text, sizeof text);
    read = parse(text);
    assert_true(smma_same_operation(made, read));
    check_parameters(read, &g);
    const smma_operation o = smma_operation_of(read);
    for (uint64_t row = 0; row < 40; row++) {
      const smma_row x = operands_row(&o, SEED, u * ROWS + row);
      digest = (digest ^ smma_row_compute(&o, &x)) * UINT64_C(0x100000001b3);
    }
    smma_custom_release(made);
    smma_custom_release(read);
  }
  if (digest != UINT64_C(0x7891a54b2325e3c6)) fail_msg("other results: %016" PRIx64, digest);
}

/* With the parameters of an algorithm of the catalogue, G-FDPA is that algorithm. */
static void test_contains_t_fdpa(void **state) {
  int compared = 0;
  (void)state;
  for (size_t index = 0; index < smma_instruction_count(); index++) {
    const smma_instruction *i = smma_instruction_at(index), *read;
    smma_custom c = smma_custom_of(i);
    const smma_t_fdpa *t = &c.named.rule.with.t_fdpa;
    const int block = t->block < i->k ? t->block : i->k;
    const smma_g_fdpa g = {.block = block,
                           .interleave = block,
                           .alignment_bits = t->alignment_bits,
                           .alignment_rounding = SMMA_ROUND_TOWARD_ZERO,
                           .zero_exponent = t->zero_exponent,
                           .output = t->output,
                           .rounding = t->rounding,
                           .zero_sign = SMMA_ZERO_ALWAYS_POSITIVE};
    char text[4096];
    if (c.named.rule.algorithm != SMMA_T_FDPA && c.named.rule.algorithm != SMMA_ST_FDPA) continue;
    if (i->n > 8) continue; /* wider ones are the same function */
    write_chain(&c, &g, text, sizeof text);
    read = parse(text);
    assert_int_equal(read->rule->rule.algorithm, c.named.rule.algorithm);
    if (block == t->block) assert_non_null(smma_catalogue_twin(read));
    compared++;
    smma_custom_release(read);
  }
  assert_true(compared > 100);
}

/* Returns a random number in the eight binades from 1 on, or 0. */
static uint64_t positive(smma_format format, uint64_t *state) {
  const double value = (1 + random_below(state, 1 << 16) * 0x1p-16) * (1 << random_below(state, 8));
  return random_below(state, 8) ? smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT) : 0;
}

/* CDNA 3's rule rounding toward zero, as in experiment bias. It must equal the catalogue's rule where rounding down is
   rounding toward zero: no operand is negative, the first product is not zero, and no exponent of c exceeds that of
   every product. */
static void check_toward_zero(const smma_instruction *cdna3, const char *text) {
  const smma_instruction *i = parse(text);
  const smma_instruction_info info = describe(i);
  uint64_t state = SEED;
  for (int row = 0; row < ROWS; row++) {
    smma_row x = {.c = smma_format_encode(SMMA_F32, (double)random_bits(&state) * 0x1p-64, SMMA_ROUND_TOWARD_ZERO,
                                          SMMA_OVERFLOW_DEFAULT)};
    for (int k = 0; k < info.k; k++) x.a[k] = positive(info.a, &state), x.b[k] = positive(info.b, &state);
    x.a[0] = x.b[0] = smma_format_encode(info.a, 1.5, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
    if (dot(cdna3, &x) != dot(i, &x)) print_dot(i, &x, dot(cdna3, &x), dot(i, &x));
    assert_true(dot(cdna3, &x) == dot(i, &x));
  }
  smma_custom_release(i);
}

#define TOWARD_ZERO(format, k)                                                                       \
  "{\"softmma-unit\": 1, \"name\": \"x\", \"algorithm\": \"G-FDPA\", \"k\": " k ", \"a\": \"" format \
  "\", \"b\": \"" format "\", \"d\": \"f32\", \"alignment_bits\": 24}"

static void test_contains_cdna3_toward_zero(void **state) {
  (void)state;
  check_toward_zero(find("MI300X", "v_mfma_f32_32x32x8_f16"), TOWARD_ZERO("f16", "8"));
  check_toward_zero(find("MI300X", "v_mfma_f32_32x32x8_bf16"), TOWARD_ZERO("bf16", "8"));
  check_toward_zero(find("MI300X", "v_mfma_f32_32x32x4_xf32"), TOWARD_ZERO("tf32", "4"));
}

/* A product with the K of one instruction equals smma_dot. A product with a greater K equals a chain of smma_dot. */
static void check_gemm(const smma_instruction *i) {
  smma_operation o = smma_operation_of(i);
  smma_instruction_info info = describe(i);
  smma_row x[2] = {operands_row(&o, SEED, 2), operands_row(&o, SEED, 5)};
  uint64_t a[2 * SMMA_MAXIMUM_K], b[2 * SMMA_MAXIMUM_K], scale_a[2 * SMMA_MAXIMUM_K], scale_b[2 * SMMA_MAXIMUM_K],
      c = 0, d = 0, expected;
  int scales = info.scale_block ? info.k / info.scale_block : 0;
  smma_gemm_arguments g;
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < info.k; k++) {
      store_element(info.a, a, (size_t)(s * info.k + k), x[s].a[k]);
      store_element(info.b, b, (size_t)(s * info.k + k), x[s].b[k]);
    }
    for (int k = 0; k < scales; k++) {
      store_element(info.scale, scale_a, (size_t)(s * scales + k), x[s].scale_a[k]);
      store_element(info.scale, scale_b, (size_t)(s * scales + k), x[s].scale_b[k]);
    }
  }
  x[0].c = smma_low_bits(x[0].c, smma_format_bits(info.c));
  store_element(info.c, &c, 0, x[0].c);
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = 2 * (size_t)info.k;
  g.a = a, g.b = b, g.c = &c, g.d = &d, g.order_b = SMMA_COLUMN_MAJOR;
  g.scale_a = scales ? scale_a : NULL, g.scale_b = scales ? scale_b : NULL;
  assert_int_equal(smma_gemm(i, &g), SMMA_OK);
  expected = dot(i, &x[0]);
  o.c = o.d;
  expected = oracle_dot_add(&o, x[1].a, x[1].b, expected, x[1].scale_a, x[1].scale_b);
  assert_true(load_element(info.d, &d, 0) == expected);
}

static void test_gemm(void **state) {
  (void)state;
  for (int u = 0; u < unit_count(); u++) {
    smma_custom c = random_unit((uint64_t)u + 5000);
    const smma_instruction *i = make(&c);
    if (i->rule->rule.algorithm == SMMA_COMPOSITION) assert_string_equal(smma_kernel_for(i, NULL, NULL), "core");
    check_gemm(i);
    smma_custom_release(i);
  }
}

/* ---- Integers ---- */

/* Returns the integer in the low bits of a byte, and ignores the high bits. */
static int integer_of(smma_format format, unsigned char byte) {
  const int bits = smma_format_bits(format), x = byte & ((1 << bits) - 1);
  return smma_format_name(format)[0] == 's' && x >> (bits - 1) ? x - (1 << bits) : x;
}

enum { INTEGER_M = 9, INTEGER_N = 37, INTEGER_K = 150 };

/* Computes a product in steps of 32, in plain C. */
static void check_integers(const smma_instruction *i, const char *kernel, bool is_xor, bool saturates,
                           uint64_t *state) {
  static unsigned char a[INTEGER_M * INTEGER_K], b[INTEGER_K * INTEGER_N];
  static int32_t c[INTEGER_M * INTEGER_N], d[INTEGER_M * INTEGER_N];
  const smma_instruction_info info = describe(i);
  smma_gemm_arguments g;
  for (int x = 0; x < INTEGER_M * INTEGER_K; x++) a[x] = (unsigned char)random_bits(state);
  for (int x = 0; x < INTEGER_K * INTEGER_N; x++) b[x] = (unsigned char)random_bits(state);
  for (int x = 0; x < INTEGER_M * INTEGER_N; x++)
    c[x] = x % 3 ? (int32_t)random_bits(state)
                 : (int32_t)((random_bits(state) & 1 ? INT32_MIN : INT32_MAX) ^ (int32_t)(random_bits(state) & 0xfff));
  smma_gemm_defaults(&g, sizeof g);
  g.m = INTEGER_M, g.n = INTEGER_N, g.k = INTEGER_K;
  g.a = a, g.b = b, g.c = c, g.d = d, g.kernel = kernel;
  assert_int_equal(smma_gemm(i, &g), SMMA_OK);
  for (int m = 0; m < INTEGER_M; m++)
    for (int n = 0; n < INTEGER_N; n++) {
      int64_t sum = c[m * INTEGER_N + n];
      for (int k = 0; k < INTEGER_K; k++) {
        const int x = integer_of(info.a, a[m * INTEGER_K + k]), y = integer_of(info.b, b[k * INTEGER_N + n]);
        sum += is_xor ? x != y : x * y;
        if (saturates && (k % 32 == 31 || k == INTEGER_K - 1))
          sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      }
      if (d[m * INTEGER_N + n] != (int32_t)(uint32_t)sum)
        fail_msg("%s x %s by %s: %d at %d, %d, expected %d", smma_format_name(info.a), smma_format_name(info.b), kernel,
                 d[m * INTEGER_N + n], m, n, (int32_t)(uint32_t)sum);
    }
}

static void test_integers(void **state) {
  static const char *const formats[] = {"s8", "u8", "s4", "u4", "b1"};
  enum { FORMATS = sizeof formats / sizeof *formats, PAIRS = 2 * FORMATS * FORMATS };
  uint64_t random = SEED;
  const char *kernel;
  (void)state;
  for (int f = 0; f < PAIRS + 2; f++) {
    const bool saturates = f % 2, is_xor = f >= PAIRS;
    const char *a = is_xor ? "b1" : formats[f / 2 % FORMATS], *b = is_xor ? "b1" : formats[f / 2 / FORMATS];
    const smma_instruction *i;
    char text[256];
    snprintf(text, sizeof text,
             "{\"softmma-unit\": 1, \"name\": \"x\", \"algorithm\": \"INTEGER\", \"k\": 32, \"a\": \"%s\", "
             "\"b\": \"%s\", \"d\": \"s32\", \"overflow\": \"%s\", \"product\": \"%s\"}",
             a, b, saturates ? "saturate" : "wrap", is_xor ? "xor" : "multiply");
    i = parse(text);
    for (size_t n = 0; (kernel = smma_kernel_name(n)); n++) check_integers(i, kernel, is_xor, saturates, &random);
    check_integers(i, NULL, is_xor, saturates, &random);
    check_integers(i, "core", is_xor, saturates, &random);
    smma_custom_release(i);
  }
}

/* ---- Complaints ---- */

#define HEAD "{\n  \"softmma-unit\": 1, \"name\": \"x\", \"algorithm\": "
#define GENERAL HEAD "\"G-FDPA\",\n  \"k\": 16, \"a\": \"f16\", \"b\": \"f16\", \"d\": \"f32\",\n  "
#define T_FDPA HEAD "\"T-FDPA\",\n  \"k\": 16, \"a\": \"f16\", \"b\": \"f16\", \"d\": \"f32\",\n  "

static const struct {
  const char *text, *place, *says, *allows;
} complaints[] = {
    {"", "1:1", "JSON object", "'{'"},
    {"{}", "1:2", "a key is missing", "double quotes"},
    {"{\"softmma-unit\": 1,\n \"name\": nothing}", "2:10", "\"name\"", "allowed: a word"},
    {"{\"name\": \"x\"}", "1:13", "\"softmma-unit\" is missing", "allowed: 1"},
    {"{\"softmma-unit\": 2}", "1:18", "\"softmma-unit\"", "allowed: 1"},
    {"{\"softmma-unit\": 1}", "1:19", "\"name\" is missing", "letters"},
    {"{\"softmma-unit\": 1, \"name\": \"x\"}", "1:32", "\"algorithm\" is missing", "FMA, T-FDPA, ST-FDPA"},
    {HEAD "\"T_FDPA\"}", "2:48", "\"algorithm\"", "G-FDPA"},
    {HEAD "\"T-FDPA\"} x", "2:58", "follows the object", "remove"},
    {HEAD "\"T-FDPA\" \"k\": 1}", "2:57", "comma", "','"},
    {HEAD "\"T-FDPA\",\n \"name\": \"y\"}", "3:2", "second time", "keep one"},
    {HEAD "\"T-FDPA\",\n \"na\\u006de\": \"y\"}", "3:5", "character", "printable ASCII"},
    {HEAD "\"T-FDPA\",\n \"k\": 16.5}", "3:7", "\"k\"", "whole number"},
    {HEAD "\"T-FDPA\",\n \"k\": \"16\"}", "3:7", "\"k\" cannot be \"16\"", "1 to 64"},
    {HEAD "\"T-FDPA\",\n \"a\": f16}", "3:7", "\"a\" cannot be f16", "double quotes"},
    {HEAD "\"T-FDPA\",\n \"k\": }", "3:7", "\"k\" has no value", "write one"},
    {HEAD "\"T-FDPA\" ,\n}", "2:57", "a comma precedes '}'", "remove it"},
    {HEAD "\"T-FDPA\",\n \"k\": 016}", "3:7", "\"k\"", "whole number"},
    {HEAD "\"T-FDPA\",\n \"k\": 99999999999}", "3:7", "\"k\"", "1 to 64"},
    {HEAD "\"T-FDPA\",\n \"k\": [16]}", "3:7", "\"k\"", "1 to 64"},
    {HEAD "\"T-FDPA\",\n \"k\": null}", "3:7", "\"k\"", "whole number"},
    {HEAD "\"T-FDPA\",\n \"k", "3:2", "ends inside a string", "close it"},
    {HEAD "\"T-FDPA\",\n \"k\" 3}", "3:6", "colon", "\"k\""},
    {HEAD "\"T-FDPA\"}", "2:56", "\"k\" is missing", "1 to 64"},
    {HEAD "\"T-FDPA\",\n \"k\": 65}", "3:9", "\"a\" is missing", "tf32"},
    {GENERAL "\"alignment_bit\": 25}", "4:3", "no key \"alignment_bit\"; nearest: alignment_bits", "sticky_bit"},
    {T_FDPA "\"sticky_bit\": true}", "4:3", "T-FDPA has no key \"sticky_bit\"", "alignment_bits"},
    {GENERAL "\"alignment_bits\": 51}", "4:21", "\"alignment_bits\": out of range", "0 to 50 or \"exact\""},
    {GENERAL "\"alignment_bits\": \"all\"}", "4:21", "cannot be all", "0 to 50 or \"exact\""},
    {GENERAL "\"alignment_bits\": -1}", "4:21", "\"alignment_bits\": out of range", "0 to 50"},
    {GENERAL "\"alignment_bits\": 25, \"rounding\": \"up\"}", "4:37", "\"rounding\" cannot be up", "toward-positive"},
    {GENERAL "\"alignment_bits\": 25, \"rounding\": 1}", "4:37", "\"rounding\" cannot be 1", "toward-positive"},
    {GENERAL "\"alignment_bits\": 25, \"sticky_bit\": 1}", "4:39", "\"sticky_bit\" cannot be 1", "false, true"},
    {GENERAL "\"alignment_bits\": 25, \"sticky_bit\": \"true\"}", "4:39", "cannot be true", "false, true"},
    {GENERAL "\"alignment_bits\": 25, \"block\": 5}", "4:34", "5 does not divide k", "1, 2, 4, 8, 16"},
    {GENERAL "\"alignment_bits\": 25, \"block\": 8, \"interleave\": 16}", "4:51", "divide block", "1, 2, 4, 8"},
    {GENERAL "\"alignment_bits\": 25, \"interleave\": 3}", "4:39", "does not divide block", "1, 2, 4, 8, 16"},
    {GENERAL "\"alignment_bits\": \"exact\", \"sticky_bit\": true}", "4:44", "truncates nothing", "false"},
    {GENERAL "\"alignment_bits\": \"exact\", \"alignment_rounding\": \"nearest-even\"}", "4:52", "exact",
     "toward-zero"},
    {GENERAL "\"alignment_bits\": \"exact\", \"product_exponent\": \"normalized\"}", "4:50", "exact", "of-factors"},
    {GENERAL "\"alignment_bits\": \"exact\", \"zero_exponent\": -133}", "4:47", "exact", "none"},
    {GENERAL "\"alignment_bits\": 9, \"sticky_bit\": true, \"alignment_rounding\": \"nearest-away\"}", "4:66",
     "no sticky bit", "toward-zero"},
    {GENERAL "\"alignment_bits\": 25, \"c_rounding\": \"toward-zero\"}", "4:39", "c_joins is first", "nearest-even"},
    {GENERAL "\"alignment_bits\": 25, \"scale\": \"ue8m0\"}", "4:41", "\"scale_block\": out of range", "4 to 64"},
    {GENERAL "\"alignment_bits\": 25, \"scale_block\": 16}", "4:42", "\"scale\": missing", "ue8m0, ue4m3"},
    {GENERAL "\"alignment_bits\": 25, \"scale\": \"ue8m0\", \"scale_block\": 32}", "4:58", "divide k", "16"},
    {GENERAL "\"alignment_bits\": 25, \"scale\": \"f32\", \"scale_block\": 16}", "4:34", "cannot be f32",
     "ue8m0, ue4m3"},
    {GENERAL "\"alignment_bits\": 25, \"c\": \"f64\"}", "4:30", "f64 is not allowed with d in f32", "f32, tf32, f16"},
    {GENERAL "\"alignment_bits\": 25, \"output\": \"f16\"}", "4:35", "cannot be held", "f32, tf32, e8m13"},
    {GENERAL "\"alignment_bits\": 25, \"zero_exponent\": 5000}", "4:42", "out of range", "-1000 to 1000 or \"none\""},
    {HEAD
     "\"G-FDPA\", \"k\": 8, \"a\": \"f16\", \"b\": \"f16\", \"d\": \"e5m2fnuz\",\n \"alignment_bits\": 9, \"nan\": "
     "\"all-ones\"}",
     "3:30", "is not NaN in e5m2fnuz", "quiet"},
    {HEAD "\"G-FDPA\", \"k\": 8, \"a\": \"f64\"}", "2:71", "cannot be f64", "f32, tf32"},
    {HEAD "\"FTZ-AddMul\", \"k\": 8, \"a\": \"f16\", \"b\": \"f16\", \"d\": \"f32\", \"pairwise\": 3}", "2:118",
     "no pairs", "2, 4"},
    {HEAD "\"FTZ-AddMul\", \"k\": 4, \"a\": \"bf16\", \"b\": \"bf16\", \"d\": \"f32\", \"pairwise\": 4, \"nan\": "
          "\"all-ones\"}",
     "2:130", "no other NaN", "quiet"},
    {HEAD "\"FMA\", \"k\": 4, \"a\": \"f32\", \"b\": \"f16\", \"d\": \"f16\", \"c\": \"f16\",\n\"nan\": \"b-sum-a\"}",
     "2:92", "f16 has no room for a NaN of f32", ""},
    {HEAD "\"E-FDPA\", \"k\": 4, \"a\": \"f16\", \"b\": \"f16\", \"d\": \"f32\", \"block\": 2,\n\"nan\": \"b-sum-a\"}",
     "3:8", "cannot be b-sum-a", "all-ones, quiet, default"},
    {HEAD "\"FP8-by-FP16\", \"k\": 9, \"a\": \"e4m3\", \"b\": \"e4m3\", \"d\": \"f32\", \"block\": 3, "
          "\"alignment_bits\": 9,\n"
          "\"zero_exponent\": 0, \"rounding\": \"toward-zero\"}",
     "2:118", "is odd", "even"},
    {HEAD "\"GST-FDPA\", \"k\": 64, \"a\": \"e2m1\", \"b\": \"e2m1\", \"d\": \"f32\", \"group\": 32, "
          "\"alignment_bits\": 35,\n"
          "\"scale\": \"ue8m0\", \"scale_block\": 16, \"zero_exponent\": 0, \"rounding\": \"toward-zero\"}",
     "2:116", "divide scale_block", "1, 2, 4, 8, 16"},
    {HEAD
     "\"TR-FDPA\", \"k\": 8, \"a\": \"f16\", \"b\": \"f16\", \"d\": \"f32\", \"block\": 8, \"alignment_bits\": 30,\n"
     "\"sum_bits\": 24}",
     "3:13", "less than alignment_bits", "30 to 40"},
};

/* Reports whether the error message names the position, the mistake and the allowed values. */
static bool complains(const char *text, const char *place, const char *says, const char *allows) {
  char begin[32];
  smma_error error;
  const smma_instruction *i = smma_custom_read("unit.json", text, strlen(text), &error);
  snprintf(begin, sizeof begin, "unit.json:%s: ", place);
  smma_custom_release(i);
  if (!i && strncmp(error.text, begin, strlen(begin)) == 0 && strstr(error.text, says) && strstr(error.text, allows) &&
      !strchr(error.text, '\n'))
    return true;
  print_error("%s\n%s\nis not '%s... %s ... %s'\n", text, i ? "no complaint" : error.text, begin, says, allows);
  return false;
}

static void test_complaints(void **state) {
  smma_error error;
  int missed = 0;
  (void)state;
  for (size_t c = 0; c < sizeof complaints / sizeof complaints[0]; c++)
    missed += !complains(complaints[c].text, complaints[c].place, complaints[c].says, complaints[c].allows);
  assert_int_equal(missed, 0);
  assert_null(smma_custom_parse(NULL, NULL, 0, &error));
  assert_int_equal(error.status, SMMA_INVALID_ARGUMENT);
  assert_non_null(strstr(error.text, "missing"));
  assert_null(smma_custom_parse(NULL, "{", 1, &error));
  assert_int_equal(error.status, SMMA_INVALID_TEXT);
  assert_null(smma_custom_parse(NULL, "{", 1, NULL));
}

/* ---- Lists of allowed values ---- */

/* Units with one number left out, of which each value from 1 to 70 is tried. */
static const char *const with_a_number[] = {
    HEAD
    "\"ST-FDPA\", \"k\": 48, \"a\": \"e4m3\", \"b\": \"e4m3\", \"d\": \"f32\", \"block\": 48, "
    "\"alignment_bits\": 25, \"zero_exponent\": 0, \"rounding\": \"toward-zero\", \"scale\": \"ue8m0\", "
    "\"scale_block\": %d}",
    HEAD
    "\"GST-FDPA\", \"k\": 48, \"a\": \"e2m1\", \"b\": \"e2m1\", \"d\": \"f32\", \"group\": 8, "
    "\"alignment_bits\": 35, \"zero_exponent\": 0, \"rounding\": \"toward-zero\", \"scale\": \"ue8m0\", "
    "\"scale_block\": %d}",
    HEAD
    "\"GST-FDPA\", \"k\": 64, \"a\": \"e2m1\", \"b\": \"e2m1\", \"d\": \"f32\", \"group\": %d, "
    "\"alignment_bits\": 35, \"zero_exponent\": 0, \"rounding\": \"toward-zero\", \"scale\": \"ue8m0\", "
    "\"scale_block\": 32}",
    GENERAL "\"alignment_bits\": 25, \"scale\": \"ue8m0\", \"scale_block\": %d}",
    GENERAL "\"alignment_bits\": 25, \"block\": %d, \"interleave\": 1}",
    HEAD
    "\"composition\", \"k\": 24, \"a\": \"f16\", \"b\": \"f16\", \"d\": \"f32\", \"scale\": \"ue8m0\", "
    "\"scale_block\": %d, \"steps\": [{\"take\": 1, \"join\": \"chain\", \"start\": \"c\", "
    "\"alignment_bits\": 25, \"output\": \"f32\"}]}",
    HEAD
    "\"FP8-by-FP16\", \"k\": 12, \"a\": \"e4m3\", \"b\": \"e4m3\", \"d\": \"f32\", \"block\": %d, "
    "\"alignment_bits\": 9, \"zero_exponent\": 0, \"rounding\": \"toward-zero\"}",
    HEAD "\"FTZ-AddMul\", \"k\": 6, \"a\": \"f16\", \"b\": \"f16\", \"d\": \"f32\", \"pairwise\": %d}",
};

/* Reads the next number of a list "1, 2, 4" and moves past it; returns 0 at the end. */
static int next_of(const char **list) {
  char *end;
  const long number = strtol(*list, &end, 10);
  *list = *end ? end + 2 : end;
  return (int)number;
}

/* If a number does not divide another, the message lists exactly the numbers that are accepted. */
static void test_listed_divisors(void **state) {
  static const char begin[] = "; allowed: ";
  (void)state;
  for (size_t n = 0; n < sizeof with_a_number / sizeof *with_a_number; n++) {
    bool accepted[71] = {false};
    char text[512], list[256] = "";
    smma_error error;
    for (int value = 1; value <= 70; value++) {
      snprintf(text, sizeof text, with_a_number[n], value);
      const smma_instruction *i = smma_custom_read("unit.json", text, strlen(text), &error);
      accepted[value] = i != NULL;
      smma_custom_release(i);
      const char *allowed = strstr(error.text, begin);
      if (!i && strstr(error.text, "does not divide") && allowed)
        snprintf(list, sizeof list, "%s", allowed + strlen(begin));
    }
    const char *at = list;
    int listed = next_of(&at);
    if (!listed) fail_msg("%s: no list of divisors; %s", with_a_number[n], error.text);
    for (int value = 1; value <= 70; value++) {
      const bool is_listed = value == listed;
      if (is_listed) listed = next_of(&at);
      if (accepted[value] != is_listed) fail_msg("%s: %d, of %s", with_a_number[n], value, list);
    }
  }
}

/* Formats of c: every format that is listed as allowed is accepted. */
static void test_listed_formats_of_c(void **state) {
  static const char *const units[] = {
      HEAD
      "\"G-FDPA\", \"k\": 8, \"a\": \"e4m3\", \"b\": \"e4m3\", \"d\": \"%s\", \"c\": \"%s\", "
      "\"alignment_bits\": 25}",
      HEAD "\"FMA\", \"k\": 8, \"a\": \"e4m3\", \"b\": \"e4m3\", \"d\": \"%s\", \"c\": \"%s\"}"};
  static const char begin[] = "not allowed with d in ";
  int lists = 0;
  (void)state;
  for (size_t n = 0; n < sizeof units / sizeof *units; n++)
    for (int pair = 0; pair < SMMA_FORMAT_COUNT * SMMA_FORMAT_COUNT; pair++) {
      const char *d = smma_format_text(smma_format_at(pair / SMMA_FORMAT_COUNT)),
                 *c = smma_format_text(smma_format_at(pair % SMMA_FORMAT_COUNT));
      char text[512], format[32];
      smma_error error = {.text = ""};
      snprintf(text, sizeof text, units[n], d, c);
      smma_custom_release(smma_custom_read("unit.json", text, strlen(text), &error));
      const char *list = strstr(error.text, begin);
      list = list ? strstr(list, "; allowed: ") : NULL;
      if (!list) continue;
      lists++;
      for (list += strlen("; allowed: "); sscanf(list, "%31[^,]", format) == 1; list += list[0] == ',' ? 2 : 0) {
        smma_error other;
        list += strlen(format);
        snprintf(text, sizeof text, units[n], d, format);
        const smma_instruction *i = smma_custom_read("unit.json", text, strlen(text), &other);
        if (!i) fail_msg("%s: %s", error.text, other.text);
        smma_custom_release(i);
      }
    }
  assert_true(lists > 20);
}

/* Keys that the text omits have the documented defaults. */
static void test_defaults(void **state) {
  const smma_instruction *i = parse(GENERAL "\"alignment_bits\": 25}");
  smma_g_fdpa g;
  const smma_g_fdpa *p = &g;
  (void)state;
  assert_true(is_g_fdpa(i, &g));
  assert_int_equal(i->m, 16);
  assert_int_equal(i->n, 8);
  assert_int_equal(i->c, SMMA_F32);
  assert_int_equal(i->scale, SMMA_NO_FORMAT);
  assert_int_equal(i->rule->rule.nan, SMMA_NAN_QUIET);
  assert_int_equal(p->block, 16);
  assert_int_equal(p->interleave, 16);
  assert_int_equal(p->alignment_rounding, SMMA_ROUND_TOWARD_ZERO);
  assert_int_equal(p->zero_exponent, SMMA_NO_EXPONENT);
  assert_int_equal(p->output, SMMA_F32);
  assert_int_equal(p->rounding, SMMA_ROUND_NEAREST_EVEN);
  assert_string_equal(describe(i).arch, "unit.json");
  assert_ptr_equal(describe(i).instruction, i);
  smma_custom_release(i);
}

/* Checks that setting a parameter to the instruction's own value does not change the rule, and that setting it to
   another value does. */
static void check_with(const smma_instruction *i, const smma_key *key) {
  const int own = smma_key_of_rule(&i->rule->rule, key);
  char text[64];
  const smma_instruction *same = smma_custom_with(i, key->key, smma_key_value(key, own, text, sizeof text), NULL);
  assert_non_null(same);
  assert_true(smma_same_rule(&same->rule->rule, &i->rule->rule));
  assert_string_equal(same->name, i->name);
  smma_custom_release(same);
  if (!key->symbol || strcmp(key->symbol, "F") != 0) return;
  snprintf(text, sizeof text, "%d", own - 1);
  same = smma_custom_with(i, "F", text, NULL);
  assert_non_null(same);
  assert_int_equal(smma_key_of_rule(&same->rule->rule, key), own - 1);
  smma_custom_release(same);
}

static void test_other_values(void **state) {
  int checked = 0;
  smma_error error;
  (void)state;
  for (size_t n = 0; n < smma_instruction_count(); n++) {
    const smma_instruction *i = smma_instruction_at(n);
    const smma_algorithm algorithm = i->rule->rule.algorithm;
    for (const smma_key *key = NULL; algorithm != SMMA_COMPOSITION && (key = smma_next_key(algorithm, key));)
      if (key->of_rule && strcmp(key->key, "nan") != 0) check_with(i, key), checked++;
  }
  assert_true(checked > 1000);
  const smma_instruction *h100 = smma_find("H100", "wgmma.m64n8k16.f32.f16.f16", NULL);
  assert_null(smma_custom_with(h100, "depth", "3", &error));
  assert_non_null(strstr(error.text, "it has alignment_bits, block, rounding, output, zero_exponent"));
  assert_null(smma_custom_with(h100, "F", "99", &error));
  assert_non_null(strstr(error.text, "alignment_bits = '99' is not allowed; allowed: 0 to "));
  assert_null(smma_custom_with(h100, "L", "3", &error));
  assert_non_null(strstr(error.text, "block = 3: 3 does not divide k"));
}

/* The argument is a pattern of the tests to run. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_catalogue),
      cmocka_unit_test(test_random_units),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_random_catalogue_units),
      cmocka_unit_test(test_g_fdpa),
      cmocka_unit_test(test_contains_t_fdpa),
      cmocka_unit_test(test_contains_cdna3_toward_zero),
      cmocka_unit_test(test_every_parameter_has_a_key),
      cmocka_unit_test(test_every_key_counts),
      cmocka_unit_test(test_gemm),
      cmocka_unit_test(test_complaints),
      cmocka_unit_test(test_listed_divisors),
      cmocka_unit_test(test_listed_formats_of_c),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_other_values),
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests_name("custom", tests, NULL, NULL);
}
