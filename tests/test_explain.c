/* The explanation of a dot-product-add: it has the core's result, its parts are consistent, and its text is the text in
   the documentation. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */

#include "amount.h"
#include "explain/decimal.h"
#include "explain/numbers.h"
#include "explain/picture.h"
#include "explain/unit_words.h"
#include "host/utf8.h"
#include "isa/catalogue.h"
#include "isa/compose.h"
#include "isa/custom.h"
#include "random.h"

#define WIDTH 120
#define ROWS 60    /* SOFTMMA_EXPLAIN_ROWS sets it */
#define PICTURES 6 /* number of test vectors that are also drawn */
#define MOST_OPERATIONS 512

/* Operands. */

static uint64_t encode_double(smma_format format, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return smma_encode_number(smma_encoding_of(format), smma_decode(smma_encoding_of(SMMA_F64), bits),
                            SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

/* Kinds of operands: any bits, numbers near one, mostly zeros, tiny numbers, a wide range, and any bits including
   special values. */
typedef enum { ANY, NEAR, SPARSE, TINY, WIDE, SPECIAL, KINDS } operand_kind;

static uint64_t random_element(uint64_t *state, smma_format format, operand_kind kind) {
  smma_encoding f = smma_encoding_of(format);
  double value = (double)(int64_t)random_bits(state) * 0x1p-62;
  uint64_t any = smma_low_bits(random_bits(state), f.bits), choice = random_bits(state) >> 60;
  int span = f.exponent_bits ? 1 << (f.exponent_bits - 1) : 2 * f.fraction_bits;
  switch (kind) {
    case NEAR: return encode_double(format, ldexp(value, (int)(choice % 4)));
    case SPARSE: return choice < 13 ? encode_double(format, choice & 1 ? -0.0 : 0.0) : encode_double(format, value);
    case TINY: return encode_double(format, ldexp(value, smma_minimum_exponent(f) + 1 - (int)(choice % 3)));
    case WIDE: return encode_double(format, ldexp(value, (int)(random_bits(state) % (uint64_t)span) - span / 2));
    case SPECIAL:
      return choice < 14    ? encode_double(format, value)
             : choice == 14 ? smma_overflowed(f, any & 1, SMMA_OVERFLOW_INFINITY)
                            : smma_default_nan(f);
    default: return any;
  }
}

static smma_row random_operands(const smma_operation *o, uint64_t seed) {
  uint64_t state = seed * 1000003;
  operand_kind kind = (operand_kind)(seed % KINDS);
  smma_row x;
  memset(&x, 0, sizeof x);
  for (int k = 0; k < o->k; k++) {
    x.a[k] = random_element(&state, o->a, kind);
    x.b[k] = random_element(&state, o->b, kind);
  }
  for (int s = 0; o->scale != SMMA_NO_FORMAT && s < o->k / o->scale_block; s++) {
    x.scale_a[s] = random_element(&state, o->scale, kind);
    x.scale_b[s] = random_element(&state, o->scale, kind);
  }
  x.c = random_element(&state, o->c, random_bits(&state) & 1 ? kind : WIDE);
  return x;
}

/* Returns an explanation with the core's result. */
static smma_explanation explain(const smma_operation *o, const smma_row *x) {
  smma_explanation e;
  assert_true(smma_explain(o, x, &e));
  return e;
}

/* Returns the explanation as text; free it after use. */
static char *text_of(const smma_operation *o, const smma_explanation *e, int width) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  smma_explain_print(stream, o, e, width);
  fclose(stream);
  return text;
}

/* Consistency of the parts. */

static double value_of(smma_number x) {
  double magnitude = ldexp((double)x.significand, x.exponent - x.fraction_bits);
  return x.kind == SMMA_ZERO ? 0 : x.negative ? -magnitude : magnitude;
}

/* Checks that the retained part is the exact value truncated toward zero, or down, by less than the last bit; allows
   for rounding in this test. */
static void check_row(const smma_explain_line *row, bool complements) {
  double exact = value_of(row->exact), kept = ldexp((double)row->aligned, row->cut), unit = ldexp(1, row->cut);
  assert_true(fabs(exact - kept) <= unit);
  if (complements)
    return;
  else if (row->rounds_down)
    assert_true(kept <= exact);
  else
    assert_true(fabs(kept) <= fabs(exact));
}

/* Checks that the retained part differs from the exact value by less than the last bit. */
static void check_near(const smma_explain_line *row) {
  const double unit = ldexp(1, row->cut);
  assert_true(fabs(value_of(row->exact) - (double)row->aligned * unit) <= unit); /* allows for rounding in this test */
}

static bool counts_as_zero(const smma_stage *stage) { return strstr(stage->note, "counts as 0") != NULL; }

static void check_aligned(const smma_operation *o, const smma_stage *stage) {
  int64_t sum = 0;
  int greatest = INT32_MIN;
  for (int i = 0; i < stage->line_count; i++) {
    const smma_explain_line *row = &stage->line[i];
    if (o->rule.algorithm == SMMA_COMPOSITION)
      check_near(row);
    else if (!counts_as_zero(stage) || i == 0)
      check_row(row, strstr(stage->note, "one unit less") != NULL);
    assert_true(row->cut >= stage->sum_exponent);
    sum += row->aligned * ((int64_t)1 << (row->cut - stage->sum_exponent));
    if (row->has_exponent && row->exponent > greatest) greatest = row->exponent;
  }
  assert_true(sum == stage->sum);
  if (o->rule.algorithm == SMMA_COMPOSITION) return; /* each step has its own reference and rounding */
  assert_int_equal(greatest, stage->emax);
  if (stage->result_format == SMMA_NO_FORMAT) return;
  smma_encoding f = smma_encoding_of(stage->result_format);
  smma_rounding direction = SMMA_ROUND_NEAREST_EVEN;
  if (o->rule.algorithm == SMMA_T_FDPA || o->rule.algorithm == SMMA_ST_FDPA || o->rule.algorithm == SMMA_FP8_BY_FP16)
    direction = o->rule.with.t_fdpa.rounding;
  if (o->rule.algorithm == SMMA_GST_FDPA) direction = o->rule.with.gst_fdpa.fused.rounding;
  if (o->rule.algorithm == SMMA_C_FDPA || o->rule.algorithm == SMMA_GD_FDPA)
    assert_true(
        stage->result ==
        smma_c_fdpa_round(&o->rule.with.c_fdpa, stage->sum < 0, smma_magnitude(stage->sum), stage->sum_exponent,
                          o->rule.algorithm == SMMA_C_FDPA && smma_c_fdpa_subnormals(o->d) != SMMA_SUBNORMALS_KEPT));
  else if (stage->rounds_down)
    assert_true(stage->result == smma_encode_number(f, stage->rounded_down, direction, SMMA_OVERFLOW_INFINITY));
  else if (o->rule.algorithm == SMMA_T_FDPA || o->rule.algorithm == SMMA_ST_FDPA ||
           o->rule.algorithm == SMMA_FP8_BY_FP16 || o->rule.algorithm == SMMA_GST_FDPA)
    assert_true(stage->result == smma_with_zero_sign(SMMA_ZERO_ALWAYS_POSITIVE, f,
                                                     smma_encode_sum(f, stage->sum, stage->sum_exponent, direction)));
  else
    assert_true(stage->result == smma_encode_sum(f, stage->sum, stage->sum_exponent, direction));
}

/* Checks that each product is in exactly one block. */
static void check_products(const smma_operation *o, const smma_explanation *e) {
  smma_composition composition;
  int products = 0;
  if (e->stage[0].kind == SMMA_STAGE_STEPS) return;
  for (size_t i = 0; i < e->count; i++)
    if (e->stage[i].result_format != SMMA_NO_FORMAT) products += e->stage[i].products;
  assert_int_equal(products, smma_compose(o, &composition) ? smma_product_nodes(&composition, o->k) : o->k);
}

static void check_explanation(const smma_operation *o, const smma_explanation *e) {
  const smma_stage *last = &e->stage[e->count - 1];
  uint64_t result = last->kind == SMMA_STAGE_STEPS ? last->step[last->step_count - 1].result : last->result;
  assert_true(result == e->result);
  check_products(o, e);
  for (size_t i = 0; i < e->count; i++)
    if (e->stage[i].kind == SMMA_STAGE_ALIGN) check_aligned(o, &e->stage[i]);
}

static void check_lines(const char *text, int width) {
  while (*text) {
    size_t length = strcspn(text, "\n");
    if (length > (size_t)width) fail_msg("a line of %zu columns: %.*s", length, (int)length, text);
    for (size_t i = 0; i < length; i++) assert_true(text[i] >= ' ' && text[i] <= '~');
    assert_true(length == 0 || text[length - 1] != ' ');
    assert_true(text[length] == '\n');
    text += length + 1;
  }
}

/* Pictures. */

/* Checks that XML is well-formed: every element is closed by its own name, in the right order, and nothing follows the
   root element. */
static void check_well_formed(const char *text) {
  char open[16][32];
  int depth = 0, elements = 0;
  for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
    const char *end = strchr(at, '>');
    char name[32];
    assert_non_null(end);
    if (at[1] == '?') continue;
    assert_true(sscanf(at + 1 + (at[1] == '/'), "%31[a-z]", name) == 1);
    if (at[1] == '/') {
      assert_true(depth > 0);
      assert_string_equal(name, open[--depth]);
    } else if (end[-1] != '/') {
      assert_true(depth < 16 && (depth > 0 || elements == 0));
      memcpy(open[depth++], name, sizeof name);
    }
    elements++;
  }
  assert_int_equal(depth, 0);
}

static void check_labels(const smma_svg *svg) {
  for (size_t i = 0; i < svg->labels; i++)
    for (size_t j = 0; j < i; j++)
      if (smma_svg_boxes_meet(svg->label[i], svg->label[j]))
        fail_msg("labels %zu and %zu overlap at %g, %g", j, i, svg->label[i].x, svg->label[i].y);
}

/* Counts the digits 1 in `title` after `part`, up to the next comma or tag. Returns 0 if `title` does not contain
   `part`. */
static int count_ones(const char *title, const char *part) {
  const char *end = strchr(title, '<'), *from = strstr(title, part);
  int ones = 0;
  if (!from || from > end) return 0;
  for (from += strlen(part); *from != ',' && *from != '<'; from++) ones += *from == '1';
  return ones;
}

/* Checks that the picture has a line for every nonzero term, with as many retained and truncated ones as the term has.
 */
static void check_terms(const smma_explanation *e, const char *picture) {
  static const char start[] = "<g class=\"term\"><title>";
  for (size_t s = 0; s < e->count; s++) {
    for (int i = 0; i < e->stage[s].line_count; i++) {
      const smma_explain_line *row = &e->stage[s].line[i];
      int cut = row->cut - (row->exact.exponent - row->exact.fraction_bits), all, kept;
      size_t length = strlen(row->label);
      if (row->exact.kind == SMMA_ZERO || !row->exact.significand) continue;
      do {
        picture = strstr(picture, start);
        if (!picture) fail_msg("%s is not drawn", row->label);
        picture += strlen(start);
      } while (strncmp(picture, row->label, length) != 0 || !strchr(": ", picture[length]));
      if (e->stage[s].kind != SMMA_STAGE_ALIGN) continue;
      all = __builtin_popcountll(row->exact.significand);
      kept = cut > 0 ? __builtin_popcountll(smma_shift_right(row->exact.significand, cut)) : all;
      assert_int_equal(count_ones(picture, ": retained "), kept);
      assert_int_equal(count_ones(picture, " truncated "), all - kept);
    }
  }
}

/* Returns the picture as text; free it after use. */
static char *picture_of(const smma_explained *unit, int count) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  smma_svg svg;
  assert_non_null(stream);
  assert_true(smma_svg_open(&svg));
  assert_true(smma_picture_draw(&svg, unit, count, 0));
  check_labels(&svg);
  smma_svg_write(stream, &svg, "title", 16);
  assert_true(svg.width < 5000); /* FP64, K = 16, whose sums stay finite */
  const double width = svg.width;
  smma_svg_close(&svg);
  fclose(stream);
  check_well_formed(text);
  assert_true(smma_svg_open(&svg));
  assert_true(smma_picture_draw(&svg, unit, count, 360));
  check_labels(&svg);
  assert_true(svg.width <= width);
  smma_svg_close(&svg);
  return text;
}

static void check_picture(const smma_instruction *instruction, const smma_operation *o, smma_explanation *e) {
  smma_explained unit = {"a unit", instruction->name, o, e};
  char *picture = picture_of(&unit, 1);
  check_terms(e, picture);
  free(picture);
}

static void check(const smma_instruction *instruction, const smma_operation *o, const smma_row *x, uint64_t seed) {
  smma_explanation e = explain(o, x);
  uint64_t expected = smma_row_compute(o, x);
  char *text = text_of(o, &e, WIDTH);
  if (e.result != expected)
    fail_msg("%s, seed %llu: expected 0x%llx, got 0x%llx", instruction->name, (unsigned long long)seed,
             (unsigned long long)expected, (unsigned long long)e.result);
  check_explanation(o, &e);
  check_lines(text, WIDTH);
  if (seed < PICTURES) check_picture(instruction, o, &e);
  free(text);
  smma_explanation_free(&e);
}

/* Lists instructions that compute different functions. */
static int distinct_instructions(const smma_instruction *list[MOST_OPERATIONS]) {
  int count = 0;
  for (size_t i = 0; i < smma_catalogue_count(); i++) {
    const smma_instruction *instruction = smma_catalogue_at(i);
    bool known = false;
    for (int j = 0; j < count && !known; j++) known = smma_same_operation(instruction, list[j]);
    if (known) continue;
    assert_true(count < MOST_OPERATIONS);
    list[count++] = instruction;
  }
  return count;
}

static void equals_the_core(void **state) {
  const smma_instruction *list[MOST_OPERATIONS];
  const uint64_t rows = amount_of("SOFTMMA_EXPLAIN_ROWS", ROWS);
  int count = distinct_instructions(list);
  (void)state;
  for (int i = 0; i < count; i++) {
    smma_operation o = smma_operation_of(list[i]);
    for (uint64_t seed = 0; seed < rows; seed++) {
      smma_row x = random_operands(&o, seed * 1009 + (uint64_t)i);
      check(list[i], &o, &x, seed);
    }
  }
}

/* Dot products with NaN or infinity in any position can be explained. */
static void survives_special_values(void **state) {
  const smma_instruction *list[MOST_OPERATIONS];
  const int every = (int)amount_of("SOFTMMA_EXPLAIN_EVERY", 1); /* tests one of this number of positions */
  int count = distinct_instructions(list);
  (void)state;
  for (int i = 0; i < count; i++) {
    smma_operation o = smma_operation_of(list[i]);
    for (int place = i % every; place < 2 * (2 * o.k + 1); place += every) {
      smma_row x = random_operands(&o, NEAR);
      int index = place / 2;
      smma_format format = index < o.k ? o.a : index < 2 * o.k ? o.b : o.c;
      smma_encoding f = smma_encoding_of(format);
      uint64_t special = place % 2 ? smma_default_nan(f) : smma_overflowed(f, place & 2, SMMA_OVERFLOW_INFINITY);
      *(index < o.k ? &x.a[index] : index < 2 * o.k ? &x.b[index - o.k] : &x.c) = special;
      check(list[i], &o, &x, (uint64_t)place);
    }
  }
}

/* Known drawings. */

static const smma_instruction *find(const char *gpu, const char *name) {
  smma_error error;
  const smma_instruction *instruction = smma_resolve_name(gpu, name, &error);
  if (!instruction) fail_msg("%s", error.text);
  return instruction;
}

/* Checks that the drawing of c + sum of factor[2 k] * factor[2 k + 1], with all scale factors 1, contains `expected`.
 */
static void check_drawing(const char *gpu, const char *name, double c, const double *factor, int products,
                          const char *expected) {
  smma_operation o = smma_operation_of(find(gpu, name));
  smma_row x;
  memset(&x, 0, sizeof x);
  for (int k = 0; k < products; k++) {
    x.a[k] = encode_double(o.a, factor[2 * k]);
    x.b[k] = encode_double(o.b, factor[2 * k + 1]);
  }
  for (int s = 0; s < SMMA_MAXIMUM_ROUNDED_K; s++) x.scale_a[s] = x.scale_b[s] = encode_double(SMMA_UE8M0, 1);
  x.c = encode_double(o.c, c);
  smma_explanation e = explain(&o, &x);
  char *text = text_of(&o, &e, WIDTH);
  if (!strstr(text, expected)) fail_msg("%s %s draws\n%s\ninstead of\n%s", gpu, name, text, expected);
  free(text);
  smma_explanation_free(&e);
}

static const double fact1[] = {-8192, 1024, -0.5, 1, -0.25, 1, -0.125, 1};

static void fact1_on_hopper(void **state) {
  (void)state;
  check_drawing(
      "h100", "mma.m16n8k16.f32.f16.f16.f32", 0x1p23, fact1, 4,
      "block 1 of 1, k = 0..15: emax = 23; products and c truncated toward zero at F = 25 bits below it (2^-2)\n"
      "  term                               value     e    2^23   2^16    2^8    2^-2\n"
      "                                                    |------|-------|-------+--|\n"
      "  a[0]*b[0]         -8192 * 1024  -8388608    23  - 1.........................|\n"
      "  a[1]*b[1]         -0.5 * 1          -0.5    -1  - ........................1.|\n"
      "  a[2]*b[2]         -0.25 * 1        -0.25    -2  - .........................1|\n"
      "  a[3]*b[3]         -0.125 * 1      -0.125    -3  - ..........................|1  -> 0\n"
      "  12 zero products                       0  -133    ..........................|\n"
      "  c                                8388608    23  + 1.........................|\n"
      "                                                  ----------------------------\n"
      "  sum                                -0.75        - ........................11\n"
      "  RZ-FP32, toward zero: 0xbf400000 = -0.75\n"
      "  lost (exact - retained): -0.125 in alignment, nothing in rounding\n"
      "\n"
      "d = 0xbf400000 = -0.75\n"
      "exact sum rounded once: 0xbf600000 = -0.875\n"
      "exact sum - d = -0.125\n");
}

static void fact1_on_cdna1(void **state) {
  (void)state;
  check_drawing("mi100", "v_mfma_f32_32x32x8_f16", 0x1p23, fact1, 4,
                "block 1 of 2, k = 0..3: products and c added exactly, the sum rounded once\n"
                "  term                        value   e    2^23  2^-1\n"
                "                                           |-~~~-|--\n"
                "  a[0]*b[0]  -8192 * 1024  -8388608  23  - 1.~~~....\n"
                "  a[1]*b[1]  -0.5 * 1          -0.5  -1  - ..~~~.1..\n"
                "  a[2]*b[2]  -0.25 * 1        -0.25  -2  - ..~~~..1.\n"
                "  a[3]*b[3]  -0.125 * 1      -0.125  -3  - ..~~~...1\n"
                "  c                         8388608  23  + 1.~~~....\n"
                "                                         -----------\n"
                "  sum                        -0.875      - ..~~~.111\n"
                "  RNE-FP32, to nearest even: 0xbf600000 = -0.875\n"
                "  lost (exact - retained): nothing in rounding\n"
                "\n"
                "block 2 of 2, k = 4..7: products and c added exactly, the sum rounded once\n"
                "  term              value   e    2^-1\n"
                "                                 |--\n"
                "  4 zero products       0        ...\n"
                "  c = block 1      -0.875  -1  - 111\n"
                "                               -----\n"
                "  sum              -0.875      - 111\n"
                "  RNE-FP32, to nearest even: 0xbf600000 = -0.875\n"
                "  lost (exact - retained): nothing in rounding\n"
                "\n"
                "d = 0xbf600000 = -0.875\n"
                "exact sum rounded once: the same, 0xbf600000 = -0.875\n");
}

static void fact1_on_cdna2(void **state) {
  (void)state;
  check_drawing(
      "mi210", "v_mfma_f32_32x32x8_f16", 0x1p23, fact1, 4,
      "k = 0..3: 4 products summed pairwise, then added to d; each operation rounded to nearest even in FP32\n"
      "  p0 = a[0] * b[0] = -8192 * 1024   = -8388608  0xcb000000  exact\n"
      "  p1 = a[1] * b[1] = -0.5 * 1       = -0.5      0xbf000000  exact\n"
      "  p2 = a[2] * b[2] = -0.25 * 1      = -0.25     0xbe800000  exact\n"
      "  p3 = a[3] * b[3] = -0.125 * 1     = -0.125    0xbe000000  exact\n"
      "  s = p0 + p1      = -2^23 + -0.5   = -8388608  0xcb000000  lost -0.5\n"
      "  t = p2 + p3      = -0.25 + -0.125 = -0.375    0xbec00000  exact\n"
      "  s = s + t        = -2^23 + -0.375 = -8388608  0xcb000000  lost -0.375\n"
      "  d = c + s        = 2^23 + -2^23   = 0         0x00000000  exact\n"
      "\n"
      "k = 4..7: 4 products summed pairwise, then added to d; each operation rounded to nearest even in FP32\n"
      "  p4 = a[4] * b[4] = 0 * 0 = 0  0x00000000  exact\n"
      "  p5 = a[5] * b[5] = 0 * 0 = 0  0x00000000  exact\n"
      "  p6 = a[6] * b[6] = 0 * 0 = 0  0x00000000  exact\n"
      "  p7 = a[7] * b[7] = 0 * 0 = 0  0x00000000  exact\n"
      "  s = p4 + p5      = 0 + 0 = 0  0x00000000  exact\n"
      "  t = p6 + p7      = 0 + 0 = 0  0x00000000  exact\n"
      "  s = s + t        = 0 + 0 = 0  0x00000000  exact\n"
      "  d = d + s        = 0 + 0 = 0  0x00000000  exact\n"
      "\n"
      "d = 0x00000000 = 0\n"
      "exact sum rounded once: 0xbf600000 = -0.875\n"
      "exact sum - d = -0.875\n");
}

static void fact2_on_cdna3(void **state) {
  const double factor[] = {2048, 2048, 2048, -2048};
  (void)state;
  check_drawing(
      "mi300x", "v_mfma_f32_32x32x8_f16", -1e-6, factor, 2,
      "block 1 of 1, k = 0..7, products: edot = 22; truncated toward zero at F = 24 bits below it (2^-2)\n"
      "  term                              value   e    2^22  2^16    2^8    2^-2\n"
      "                                                 |-----|-------|-------+--|\n"
      "  a[0]*b[0]        2048 * 2048    4194304  22  + 1........................|\n"
      "  a[1]*b[1]        2048 * -2048  -4194304  22  - 1........................|\n"
      "  6 zero products                       0        .........................|\n"
      "                                               ---------------------------\n"
      "  t                                     0        .........................\n"
      "  lost (exact - retained): nothing in alignment\n"
      "\n"
      "block 1 of 1, k = 0..7, t + c: E = 22; rounded down: t at F2 + 1 = 32 bits below it (2^-10), c at F = 24 "
      "(2^-2)\n"
      "  term              value    e    2^22  2^16    2^8    2^-2    2^-10\n"
      "                                  |-----|-------|-------+--|-----+--|\n"
      "  t                     0   22    ......................... ........|                            decides the "
      "exponent\n"
      "  c               ~-1e-06  -20  - .........................|........ .........1000011..+17 bits  -> -0.25\n"
      "    rounded down    -0.25       - ........................1|\n"
      "                                ------------------------------------\n"
      "  sum               -0.25       - ........................1 ........\n"
      "  RNE-FP32, to nearest even: 0xbe800000 = -0.25\n"
      "  lost (exact - retained): ~0.249999 in alignment, nothing in rounding\n"
      "\n"
      "d = 0xbe800000 = -0.25\n"
      "exact sum rounded once: 0xb58637bd = -1e-06\n"
      "exact sum - d = ~0.249999\n");
}

/* The first product is 2.25 both times, but its exponent is 0 as 1.5 * 1.5, and 1 as 1 * 2.25. */
static void fact3_on_volta(void **state) {
  const double halves[] = {1.5, 1.5, 0x1p-11, 0x1p-12, 0x1p-11, 0x1p-12},
               one[] = {1, 2.25, 0x1p-11, 0x1p-12, 0x1p-11, 0x1p-12};
  (void)state;
  check_drawing(
      "v100", "mma.m8n8k4.f32.f16.f16.f32", 0, halves, 3,
      "block 1 of 1, k = 0..3: emax = 0; products and c truncated toward zero at F = 23 bits below it (2^-23)\n"
      "  term                           value     e     2^0     2^-8       2^-23\n"
      "                                                -|-------|-------+-------|\n"
      "  a[0]*b[0]  1.5 * 1.5            2.25     0  + 1001.....................|\n"
      "  a[1]*b[1]  2^-11 * 2^-12       2^-23   -23  + ........................1|\n"
      "  a[2]*b[2]  2^-11 * 2^-12       2^-23   -23  + ........................1|\n"
      "  a[3]*b[3]  0 * 0                   0  -131    .........................|\n"
      "  c                                  0  -131    .........................|\n"
      "                                              ---------------------------\n"
      "  sum                       ~2.2500002        + 100100000000000000000001.\n"
      "  RZ-FP32, toward zero: 0x40100001 = 2.2500002\n"
      "  lost (exact - retained): nothing in alignment, nothing in rounding\n"
      "\n"
      "d = 0x40100001 = 2.2500002\n"
      "exact sum rounded once: the same, 0x40100001 = 2.2500002\n");
  check_drawing(
      "v100", "mma.m8n8k4.f32.f16.f16.f32", 0, one, 3,
      "block 1 of 1, k = 0..3: emax = 1; products and c truncated toward zero at F = 23 bits below it (2^-22)\n"
      "  term                      value     e    2^1      2^-8      2^-22\n"
      "                                           |+-------|-------+------|\n"
      "  a[0]*b[0]  1 * 2.25        2.25     1  + 1001....................|\n"
      "  a[1]*b[1]  2^-11 * 2^-12  2^-23   -23  + ........................|1  -> 0\n"
      "  a[2]*b[2]  2^-11 * 2^-12  2^-23   -23  + ........................|1  -> 0\n"
      "  a[3]*b[3]  0 * 0              0  -131    ........................|\n"
      "  c                             0  -131    ........................|\n"
      "                                         --------------------------\n"
      "  sum                        2.25        + 1001....................\n"
      "  RZ-FP32, toward zero: 0x40100000 = 2.25\n"
      "  lost (exact - retained): 2^-22 in alignment, nothing in rounding\n"
      "\n"
      "d = 0x40100000 = 2.25\n"
      "exact sum rounded once: 0x40100001 = 2.2500002\n"
      "exact sum - d = 2^-22\n");
}

/* The explanation of a special value names its cause. */
static void special_values_name_their_cause(void **state) {
  const double zero_by_infinity[] = {1, 2, 0, -INFINITY}, both[] = {INFINITY, 2, -INFINITY, 1}, nan[] = {1, 2, 3, NAN};
  const double one_infinity[] = {1, 2, 2, -INFINITY}, great[] = {0x1p100, 0x1p100};
  const char *hopper = "mma.m16n8k16.f32.f16.f16.f32", *cdna3 = "v_mfma_f32_32x32x8_bf16";
  (void)state;
  check_drawing("h100", hopper, 0, zero_by_infinity, 2, "\n  a[1]*b[1] = 0 * -infinity\n  result: 0x7fffffff = NaN\n");
  check_drawing("h100", hopper, 0, both, 2,
                "\n  infinities of both signs:\n  a[0]*b[0] = +infinity * 2\n  a[1]*b[1] = -infinity * 1\n");
  check_drawing("h100", hopper, 0, nan, 2, "\n  b[1] is NaN\n");
  check_drawing("h100", hopper, NAN, fact1, 2, "\n  c is NaN\n");
  check_drawing("h100", hopper, 0, one_infinity, 2,
                "\n  a[1]*b[1] = 2 * -infinity\n  result: 0xff800000 = -infinity\n");
  check_drawing("mi300x", cdna3, 0, great, 1, "\n  a[0]*b[0] = 2^100 * 2^100 counts as infinity: 2^128 or more\n");
}

/* A zero can have the largest exponent, which makes e_zero visible. */
static void zero_decides(void **state) {
  const double tiny[] = {0x1p-70, 0x1p-70};
  (void)state;
  check_drawing("h100", "mma.m16n8k16.f32.bf16.bf16.f32", 0, tiny, 1, "decides the exponent\n");
}

/* A sum of 64 terms, more than any sum of the catalogue has, can be drawn. */
static void is_drawn_with_64_terms(void **state) {
  const smma_instruction *instruction = find("h100", "mma.m16n8k16.f32.f16.f16.f32");
  smma_operation o = smma_operation_of(instruction);
  (void)state;
  o.k = o.rule.with.t_fdpa.block = 64;
  for (uint64_t seed = 0; seed < 2 * KINDS; seed++) {
    smma_row x = random_operands(&o, seed);
    check(instruction, &o, &x, seed % PICTURES);
  }
}

/* Two computations. */

static smma_explained explained(const smma_instruction *instruction, smma_operation *o, smma_explanation *e,
                                const smma_row *x) {
  *o = smma_operation_of(instruction);
  *e = explain(o, x);
  return (smma_explained){smma_arch_name(instruction), instruction->name, o, e};
}

static void check_text_of_two(const smma_explained unit[2]) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  smma_explain_print_two(stream, unit, WIDTH);
  fclose(stream);
  check_lines(text, WIDTH);
  free(text);
}

/* If two explanations have different results, a first difference is found. If both explain the same function, none is
   found. */
static void differences_are_found(void **state) {
  const smma_instruction *list[MOST_OPERATIONS];
  const int every = (int)amount_of("SOFTMMA_EXPLAIN_EVERY", 1); /* tests one of this number of pairs of instructions */
  int count = distinct_instructions(list), pairs = 0;
  (void)state;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j <= i; j++) {
      smma_operation o[2] = {smma_operation_of(list[i]), smma_operation_of(list[j])};
      char why[128];
      if (i != j && (i + j) % every != 0) continue;
      if (!smma_same_operands(&o[0], &o[1], why, sizeof why)) continue;
      pairs++;
      for (uint64_t seed = 0; seed < KINDS; seed++) {
        smma_row x = random_operands(&o[0], seed);
        smma_explanation e[2];
        smma_explained unit[2] = {explained(list[i], &o[0], &e[0], &x), explained(list[j], &o[1], &e[1], &x)};
        smma_difference d = smma_find_difference(unit);
        if (i == j) assert_string_equal(d.text, "");
        if (i != j) assert_string_not_equal(smma_named_apart(unit, 0).unit, smma_named_apart(unit, 1).unit);
        if (!smma_have_same_result(unit)) assert_true(d.text[0]);
        free(picture_of(unit, 2));
        check_text_of_two(unit);
        smma_explanation_free(&e[0]);
        smma_explanation_free(&e[1]);
      }
    }
  }
  assert_true(pairs > count);
}

static void check_difference(const char *gpu0, const char *name0, const char *gpu1, const char *name1, double c,
                             const double *factor, int products, const char *expected) {
  const smma_instruction *instruction[2] = {find(gpu0, name0), find(gpu1, name1)};
  smma_operation o[2];
  smma_explanation e[2];
  smma_explained unit[2];
  smma_row x;
  memset(&x, 0, sizeof x);
  o[0] = smma_operation_of(instruction[0]);
  for (int k = 0; k < products; k++) {
    x.a[k] = encode_double(o[0].a, factor[2 * k]);
    x.b[k] = encode_double(o[0].b, factor[2 * k + 1]);
  }
  x.c = encode_double(o[0].c, c);
  for (int u = 0; u < 2; u++) unit[u] = explained(instruction[u], &o[u], &e[u], &x);
  assert_string_equal(smma_find_difference(unit).text, expected);
  smma_explanation_free(&e[0]);
  smma_explanation_free(&e[1]);
}

static void differences_have_words(void **state) {
  const double small[] = {1, 0x1p-13, 1, 0x1p-14}, ones[] = {1, 1, 1, 1};
  const char *hopper = "mma.m16n8k16.f32.f16.f16.f32", *cdna = "v_mfma_f32_32x32x8_f16";
  (void)state;
  check_difference(
      "h100", hopper, "a100", hopper, 0x1p23, fact1, 4,
      "alignment of a[2]*b[2]: hopper retains bits down to 2^-2; ampere retains bits down to 2^-1, so nothing "
      "of it");
  check_difference("h100", hopper, "a100", hopper, 0, ones, 2, "block sums: hopper adds 16 products at once, ampere 8");
  check_difference(
      "h100", hopper, "mi300x", "v_mfma_f32_16x16x16_f16", 0x1p12, small, 2,
      "alignment of a[1]*b[1]: hopper retains bits down to 2^-13, so nothing of it; cdna3 retains bits down to 2^-37");
  check_difference("mi100", cdna, "mi210", cdna, 0, ones, 2,
                   "order of operations: cdna2 rounds after each one, cdna1 adds 4 products at once");
  check_difference("wormhole", "mvmul.hifi1.f32.bf16.bf16", "wormhole", "mvmul.hifi4.f32.bf16.bf16", 0, ones, 2,
                   "order of operations: mvmul.hifi4.f32.bf16.bf16 goes on where mvmul.hifi1.f32.bf16.bf16 ends");
}

/* Blocks are compared by the products that they add, also if products are zero or a composition sums them in steps. A
   NaN whose payload is not known equals any NaN. */
static void blocks_are_compared(void **state) {
  const double ones[] = {1, 1, 2, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, last[] = {0, 1, 0, 1, 0, 1, 0, 1, 1, 1},
               great[] = {0x1p100, 0x1p100, 0x1p100, -0x1p100, 1, 1}, nan[] = {NAN, 1},
               tie[] = {0x1.0000000000001p0, 1.5};
  const char *ampere = "mma.m16n8k16.f32.f16.f16.f32", *cdna3 = "v_mfma_f32_16x16x16_f16";
  const char *rdna3 = "v_wmma_f32_16x16x16_f16",
             *f64[] = {"mma.m8n8k4.f64.f64.f64.f64", "mma.m8n8k4.rz.f64.f64.f64.f64"};
  (void)state;
  check_difference("a100", ampere, "mi300x", cdna3, 0, ones, 3, "");
  check_difference("a100", ampere, "mi300x", cdna3, 0, nan, 1, "");
  check_difference("mi210", cdna3, "mi300x", cdna3, 0, last, 5,
                   "order of operations: cdna2 rounds after each one, cdna3 adds 8 products at once");
  check_difference("a100", "mma.m16n8k8.f32.tf32.tf32.f32", "mi300x", "v_mfma_f32_16x16x8_xf32", 0, great, 3,
                   "special values: they decide in cdna3, but not in ampere");
  check_difference("w7900", rdna3, "r9700", rdna3, 0, ones, 8, "block sums: rdna3 adds 2 products at once, rdna4 4");
  check_difference("h100", ampere, "r9700", rdna3, 0, ones, 8, "block sums: hopper adds 16 products at once, rdna4 4");
  check_difference("a100", "mma.m16n8k16.f32.bf16.bf16.f32", "wormhole", "mvmul.hifi4.f32.bf16.bf16", 0, ones, 8,
                   "block sums: ampere adds 8 products at once, wormhole 16 products of slices");
  check_difference("a100", f64[0], "a100", f64[1], 0, tie, 1,
                   "d = fma(a[0], b[0], c): mma.m8n8k4.f64.f64.f64.f64 rounds to nearest even; "
                   "mma.m8n8k4.rz.f64.f64.f64.f64 rounds toward zero");
}

/* Values outside the range of double, products of more than 64 bits, and integers of nine digits are shown exactly. */
static void values_of_any_size(void **state) {
  const double large[] = {1e200, 1e200}, ends[] = {0x1p600, 0x1p-600, 0x1p-1000, 0x1p-1000},
               many[] = {0x1.0000000000001p0, 0x1.0000000000001p0}, digits[] = {10000, 10000}, one[] = {1, 1},
               tiny[] = {0x1p-550, 0x1.8p-550};
  (void)state;
  check_drawing("a100", "mma.m8n8k4.rz.f64.f64.f64.f64", 0, large, 1, " lost ~1.707*2^1328\n");
  check_drawing("a100", "mma.m8n8k4.f64.f64.f64.f64", 0, tiny, 1, " lost 1.5*2^-1100\n");
  check_drawing("arm", "fmmla.d", 0, many, 1, "  lost (exact - retained): 2^-104 in rounding\n");
  check_drawing("arm", "fmmla.d", 0, ends, 2, "  a[0]*b[0]  2^600 * 2^-600      1  0  + 1\n");
  check_drawing("arm", "fmmla.d", 0, ends, 2, "  a[1]*b[1]  2^-1000 * 2^-1000  2^-2000  -2000  + 1\n");
  check_drawing("wormhole", "mvmul.hifi4.f32.bf16.bf16", INFINITY, one, 1, ": 0x7f800000 = 2^128\n");
  check_drawing("mi300x", "v_mfma_f32_16x16x16_f16", 0, digits, 1, "10000 * 10000  100000000  26  + ");
}

/* A drawing says what makes the value of a term: flushed factors, slices, scale factors; and which k a block has. */
static void terms_show_their_factors(void **state) {
  const double small[] = {0x1p-130, 1024, 1, 1}, slices[] = {1.9921875, 1.9921875}, three[] = {3, 1};
  (void)state;
  check_drawing("arm", "bfmmla", 0x1p-130, small, 2, "  a[0]*b[0]  2^-130 * 1024      0       .  flushed\n");
  check_drawing("arm", "bfmmla", 0x1p-130, small, 2, "  c            0       .  flushed\n");
  check_drawing("wormhole", "mvmul.hifi4.f32.bf16.bf16", 0, slices, 1,
                "  a0[0]*b1[0]      ~1.984 * 0.0546875  ~0.10852051");
  check_drawing("ace", "top4mxhf8ps", 0, three, 1, "  the last two factors are scale factors; ");
  check_drawing("ace", "top4mxhf8ps", 0, three, 1, "  sum 1.1  3 * 1 * 1      3  0  + 11\n");
  check_drawing("rdna4", "v_wmma_i32_16x16x32_iu4.s4.s4.clamp", 0, three, 1, "block 2 of 2, k = 8..15, 24..31: ");
}

/* A picture names the rounding of a sum beyond the format truly. */
static void check_picture_words(const char *gpu, const char *name, const double *factor, int products,
                                const char *expected) {
  const smma_instruction *i = find(gpu, name);
  smma_operation o;
  smma_explanation e;
  smma_row x;
  memset(&x, 0, sizeof x);
  o = smma_operation_of(i);
  for (int k = 0; k < products; k++) {
    x.a[k] = encode_double(o.a, factor[2 * k]);
    x.b[k] = encode_double(o.b, factor[2 * k + 1]);
  }
  const smma_explained unit = explained(i, &o, &e, &x);
  char *picture = picture_of(&unit, 1);
  if (!strstr(picture, expected)) fail_msg("%s is missing in %s", expected, picture);
  free(picture);
  smma_explanation_free(&e);
}

static void saturation_has_words(void **state) {
  const double large[] = {1e200, 1e200}, f16[] = {256, 1024, 256, 1024};
  (void)state;
  check_picture_words("a100", "mma.m8n8k4.rz.f64.f64.f64.f64", large, 1, "beyond the format: saturates<");
  check_picture_words("rdna3", "v_wmma_f16_16x16x16_f16.ovfl", f16, 2, "beyond the format: saturates<");
}

/* Custom units. */

/* Explains four products a[k] * b[k] on a composition with the formats `formats` (members a, b, d), other members and
   one step. Checks the text and the words of the unit, and draws a picture. */
static void check_custom(const char *formats, const char *step, const double a[4], const double b[4],
                         const char *expected, const char *unexpected) {
  char json[512], *words = NULL;
  size_t size = 0;
  smma_error error;
  snprintf(
      json, sizeof json,
      "{\"softmma-unit\": 1, \"name\": \"u\", \"algorithm\": \"composition\", \"k\": 4, %s, \"steps\": [{\"take\": 4, "
      "\"join\": \"chain\", \"start\": \"c\", %s}]}",
      formats, step);
  const smma_instruction *i = smma_custom_read("u.json", json, strlen(json), &error);
  if (!i) fail_msg("%s", error.text);
  smma_operation o;
  smma_explanation e;
  smma_row x;
  memset(&x, 0, sizeof x);
  o = smma_operation_of(i);
  for (int k = 0; k < 4; k++) x.a[k] = encode_double(o.a, a[k]), x.b[k] = encode_double(o.b, b[k]);
  const smma_explained unit = explained(i, &o, &e, &x);
  FILE *stream = open_memstream(&words, &size);
  assert_non_null(stream);
  smma_explain_print(stream, &o, &e, WIDTH);
  smma_print_composition(stream, i);
  fclose(stream);
  if (!strstr(words, expected) || (unexpected && strstr(words, unexpected))) fail_msg("%s: %s", expected, words);
  free(words);
  free(picture_of(&unit, 1));
  smma_explanation_free(&e);
  smma_custom_release(i);
}

static void custom_units_are_drawn(void **state) {
  const char *f64 = "\"a\": \"f64\", \"b\": \"f64\", \"d\": \"f64\"",
             *f16 = "\"a\": \"f16\", \"b\": \"f16\", \"d\": \"f32\"";
  const char *f32 = "\"a\": \"f32\", \"b\": \"f32\", \"d\": \"f32\"",
             *e4m3 = "\"a\": \"e4m3\", \"b\": \"e4m3\", \"d\": \"e4m3\"";
  const char *b1 = "\"a\": \"b1\", \"b\": \"b1\", \"d\": \"s32\", \"product\": \"xor\"";
  const double least[] = {0x1p-1074, 0, 0, 0}, one[] = {1, 0, 0, 0}, ones[] = {1, 1, 1, 1}, large[] = {16, 0, 0, 0},
               far[] = {1, 0x1p-12, 0, 0}, zeros[] = {0, 0, 1, 0}, spread[] = {0.125, 1024, 0x1p-9, 32};
  (void)state;
  /* the least bits, and more columns than a drawing has */
  check_custom(f64, "\"alignment_bits\": 60, \"exponent_offset\": -100, \"output\": \"f64\"", least, least,
               "60 bits below it (2^-2204)", NULL);
  check_custom(f32, "\"reference\": -1000, \"alignment_bits\": 30, \"width\": 32, \"output\": \"f32\"", one, one,
               "more bits than are drawn", NULL);
  check_custom(f16, "\"alignment_bits\": \"exact\", \"drop\": 10, \"output\": \"f32\"", far, ones, "  counts as 0\n",
               NULL);
  check_custom(f16, "\"alignment_bits\": \"exact\", \"drop\": 10, \"output\": \"f32\"", far, ones,
               ": 2^-12 in alignment, nothing in rounding", NULL);
  check_custom(
      f16,
      "\"reference\": 0, \"alignment_bits\": 20, \"width\": 24, \"width_overflow\": \"saturate\", \"output\": \"f32\"",
      large, ones, ": nothing in alignment, ~8.000001 in the sum, nothing in rounding", NULL);
  check_custom(f16, "\"alignment_bits\": 24, \"zero_exponent\": \"own\", \"output\": \"f32\"", zeros, spread,
               "-4    .........................|  decides the exponent\n", "zero products");
  check_custom(e4m3, "\"alignment_bits\": \"exact\", \"output\": \"e4m3\"", ones, ones, "Overflow becomes NaN.",
               "infinity.");
  check_custom(b1, "\"alignment_bits\": \"exact\", \"output\": \"s32\"", ones, zeros, "d = c + sum of a[k]^b[k]",
               "Products are exact");
}

/* Pictures are UTF-8, whatever bytes a name has. */
static void pictures_are_utf8(void **state) {
  static const char *const names[] = {"\xff", "a\xc3", "\xe2\x82", "\xed\xa0\x80", "\xef\xbf\xbe", "\xc3\xa9"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *text = NULL;
    size_t size = 0;
    smma_svg svg;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_true(smma_svg_open(&svg));
    smma_svg_text(&svg, 0, 0, &(smma_svg_font){.size = 10}, names[i]);
    smma_svg_write(stream, &svg, names[i], 0);
    smma_svg_close(&svg);
    fclose(stream);
    assert_true(smma_is_utf8(text) && !strstr(text, "\xef\xbf\xbe"));
    free(text);
  }
}

static void cut_texts_are_utf8(void **state) {
  static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
  (void)state;
  for (size_t length = 0; length <= strlen(text); length++) {
    char cut[sizeof text];
    snprintf(cut, length + 1, "%s", text);
    smma_utf8_trim(cut);
    assert_true(smma_is_utf8(cut) && length - strlen(cut) < 4);
  }
}

/* Reports whether the decimal, or decimal times a power of two, is exactly `sum`; computed with integers. */
static bool is_exactly(const char *text, smma_wide sum) {
  bool negative = *text == '-';
  int tens = 0, twos = 0, point = 0;
  uint64_t digits = 0;
  for (text += negative; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
    if (*text == '.') point = 1;
    if (*text == '.') continue;
    digits = 10 * digits + (uint64_t)(*text - '0');
    tens -= point;
  }
  if (*text == 'e') tens += (int)strtol(text + 1, (char **)&text, 10);
  if (*text == '*') text += 2;
  if (*text == '^') {
    if (tens == 0 && digits == 2 && text[-1] == '2') digits = 1;
    twos = (int)strtol(text + 1, NULL, 10);
  }
  for (; digits && digits % 2 == 0; digits /= 2) twos++;
  for (int i = tens; i < 0; i++, digits /= 5)
    if (digits % 5) return false;
  for (int i = 0; i < tens; i++, digits *= 5)
    if (digits >> 60) return false;
  smma_wide_add(&sum, !negative, digits, twos + tens);
  return smma_wide_leading(&sum).significand == 0;
}

/* A loss that is printed without "~" is exactly the exact sum minus the result, even with bits far below the result. */
static void what_is_lost_is_exact(void **state) {
  smma_operation o = smma_operation_of(find("h100", "mma.m16n8k16.f32.f16.f16.f32"));
  static char text[1 << 16];
  int exact = 0, rounded = 0;
  (void)state;
  for (int i = 0; i < 2000; i++) {
    const char *label = "exact sum - d = ";
    smma_row x = random_operands(&o, (uint64_t)i * KINDS + (i % 2 ? SPARSE : WIDE));
    smma_wide sum;
    if (i % 4 == 0) {
      memset(&x, 0, sizeof x);
      x.a[0] = x.b[0] = encode_double(o.a, 1);
      x.a[1] = encode_double(o.a, ldexp(1, -(i / 4 % 14)));
      x.b[1] = encode_double(o.b, 0x1p-13);
      x.c = encode_double(o.c, ldexp(1, -(i / 16)));
    }
    smma_explanation e = explain(&o, &x);
    FILE *stream = fmemopen(text, sizeof text, "w");
    assert_non_null(stream);
    smma_explain_print(stream, &o, &e, WIDTH);
    fclose(stream);
    const char *line = strstr(text, label);
    smma_wide_clear(&sum);
    for (int k = 0; k < o.k; k++)
      smma_wide_add_product(&sum, smma_decode(smma_encoding_of(o.a), x.a[k]),
                            smma_decode(smma_encoding_of(o.b), x.b[k]));
    smma_wide_add_number(&sum, smma_decode(smma_encoding_of(o.c), x.c), false);
    smma_wide_add_number(&sum, smma_decode(smma_encoding_of(o.d), e.result), true);
    if (line && line[strlen(label)] == '~') rounded++;
    if (line && line[strlen(label)] != '~') {
      exact++;
      if (!is_exactly(line + strlen(label), sum)) fail_msg("row %d: %.60s", i, line);
    }
    smma_explanation_free(&e);
  }
  assert_true(exact > 100 && rounded > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_lost_is_exact),
      cmocka_unit_test(equals_the_core),
      cmocka_unit_test(survives_special_values),
      cmocka_unit_test(fact1_on_hopper),
      cmocka_unit_test(fact1_on_cdna1),
      cmocka_unit_test(fact1_on_cdna2),
      cmocka_unit_test(fact2_on_cdna3),
      cmocka_unit_test(fact3_on_volta),
      cmocka_unit_test(special_values_name_their_cause),
      cmocka_unit_test(zero_decides),
      cmocka_unit_test(is_drawn_with_64_terms),
      cmocka_unit_test(differences_are_found),
      cmocka_unit_test(differences_have_words),
      cmocka_unit_test(blocks_are_compared),
      cmocka_unit_test(values_of_any_size),
      cmocka_unit_test(terms_show_their_factors),
      cmocka_unit_test(saturation_has_words),
      cmocka_unit_test(custom_units_are_drawn),
      cmocka_unit_test(pictures_are_utf8),
      cmocka_unit_test(cut_texts_are_utf8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
