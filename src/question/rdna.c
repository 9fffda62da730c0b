/* RDNA 3 and 4: questions that recorded rows leave open. */
#include <math.h>

#include "host/bits.h"
#include "isa/compose.h"
#include "question/operands.h"
#include "question/question.h"

/* ---- Rows: two products of the first sum, and c ---- */

typedef struct {
  const char *what;
  double a[2], b[2], c;
} two_products;

static uint64_t code_of(smma_format format, double x) {
  return smma_encode_number(smma_encoding_of(format), smma_number_of_f64(x), SMMA_ROUND_NEAREST_EVEN,
                            SMMA_OVERFLOW_INFINITY);
}

static const char *set_row(const smma_operation *o, const two_products *x, smma_row *row) {
  clear_row(o, row);
  for (int i = 0; i < 2; i++) set_product(row, first_product(o, i), code_of(o->a, x->a[i]), code_of(o->b, x->b[i]));
  row->c = code_of(o->c, x->c);
  return x->what;
}

#define ROW_OF(list) (index < (int)(sizeof(list) / sizeof *(list)) ? set_row(o, &(list)[index], row) : NULL)

/* ---- Candidates ---- */

/* Returns the model as steps; candidates change one property of it. */
static smma_operation as_steps(const smma_operation *model) {
  smma_operation steps = *model;
  smma_compose(model, &steps.rule.with.composition);
  steps.rule.algorithm = SMMA_COMPOSITION;
  return steps;
}

static smma_step *last_step(smma_operation *o) {
  return &o->rule.with.composition.step[o->rule.with.composition.steps - 1];
}

static bool is_c_fdpa(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_C_FDPA; }
static bool is_gd_fdpa(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_GD_FDPA; }
static bool has_bytes(const smma_instruction *i) {
  return is_gd_fdpa(i) && smma_encoding_of(i->a).bits == 8 && smma_encoding_of(i->b).bits == 8;
}

/* ---- Bits of c ---- */

static uint64_t with_c_bits(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  o.rule.with.c_fdpa.c_bits = parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate c_bits[] = {{"25 bits", with_c_bits, 25}, {"27 bits", with_c_bits, 27}, {0}};

static const char *row_of_c_bits(const smma_operation *o, int index, smma_row *row) {
  static const two_products f32[] = {{"1 + 5 * 2^-26", {1.25, 0}, {0x1p-24, 0}, 1},
                                     {"1 + 9 * 2^-27", {1.125, 0}, {0x1p-24, 0}, 1}},
                            f16[] = {{"1 + 2^-11 + 2^-26", {0x1p-5, 0x1p-12}, {0x1p-6, 0x1p-14}, 1},
                                     {"1 + 2^-11 + 2^-27", {0x1p-5, 0x1p-12}, {0x1p-6, 0x1p-15}, 1}},
                            bf16[] = {{"1, and two zeros that oppose it", {-0.0, -0.0}, {1, 1}, 1},
                                      {"1 - 2^-26, and a zero that opposes it", {-1, -0.0}, {0x1p-26, 1}, 1}};
  if (o->d == SMMA_F16) return ROW_OF(f16);
  return o->d == SMMA_BF16 ? ROW_OF(bf16) : ROW_OF(f32);
}

const smma_question smma_question_rdna3_c_bits = {
    "rdna3-c-bits", "how many bits RDNA 3 keeps below the leading one of c", is_c_fdpa, row_of_c_bits, false, c_bits};

/* ---- The least exponent of c ---- */

static uint64_t with_least_exponent(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const int least = smma_minimum_exponent(smma_encoding_of(model->d)) + parameter;
  smma_operation o = as_steps(model);
  smma_step *s = last_step(&o);
  s->accumulator.least = least + s->accumulator.offset;
  s->accumulator.zero_exponent = least;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate floors[] = {{"one less", with_least_exponent, -1},
                                        {"one more", with_least_exponent, 1},
                                        {"two more", with_least_exponent, 2},
                                        {"three more", with_least_exponent, 3},
                                        {0}};

/* Half of the least result plus a smaller power of two. The smallest exponent of c decides whether the smaller power is
   truncated. The last row of f32 is three halves, which has no smaller power: there the half itself is truncated. */
static const char *row_of_floors(const smma_operation *o, int index, smma_row *row) {
  static const two_products f16[] = {{"2^-25 + 2^-41", {0x1p-14, 0x1p-17}, {0x1p-11, 0x1p-24}, 0},
                                     {"2^-25 + 2^-40", {0x1p-14, 0x1p-16}, {0x1p-11, 0x1p-24}, 0},
                                     {"2^-25 + 2^-39", {0x1p-14, 0x1p-15}, {0x1p-11, 0x1p-24}, 0},
                                     {"2^-25 + 2^-38", {0x1p-14, 0x1p-14}, {0x1p-11, 0x1p-24}, 0}},
                            f32[] = {{"2^-150 + 2^-153", {0x1p-75, 0x1p-76}, {0x1p-75, 0x1p-77}, 0},
                                     {"2^-150 + 2^-152", {0x1p-75, 0x1p-76}, {0x1p-75, 0x1p-76}, 0},
                                     {"2^-150 + 2^-151", {0x1p-75, 0x1p-75}, {0x1p-75, 0x1p-76}, 0},
                                     {"2^-149 + 2^-150", {0x1p-75, 0x1p-75}, {0x1p-74, 0x1p-75}, 0}};
  return o->d == SMMA_F16 ? ROW_OF(f16) : ROW_OF(f32);
}

static bool is_c_fdpa_f16(const smma_instruction *i) { return is_c_fdpa(i) && i->d == SMMA_F16; }

const smma_question smma_question_rdna3_f16_floor = {
    "rdna3-f16-floor", "the least exponent that c brings on RDNA 3", is_c_fdpa_f16, row_of_floors, false, floors};

static bool has_floor(const smma_instruction *i) {
  return is_gd_fdpa(i) && ((i->a == SMMA_F16 && i->d == SMMA_F16) || (i->a == SMMA_BF16 && i->d == SMMA_F32));
}

const smma_question smma_question_rdna4_floor = {
    "rdna4-floor", "the least exponent that c brings on RDNA 4", has_floor, row_of_floors, false, floors};

/* ---- A tiny negative c ---- */

static uint64_t without_tiny_c(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = as_steps(model);
  last_step(&o)->accumulator.least = SMMA_NONE;
  (void)parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate tiny_c[] = {{"it never counts", without_tiny_c, 0}, {0}};

static const char *row_of_tiny_c(const smma_operation *o, int index, smma_row *row) {
  const two_products x = {
      "2^-104 and the least negative c", {0x1p-52, 0}, {0x1p-52, 0}, -ldexp(1, least_exponent(o->c))};
  return index == 0 ? set_row(o, &x, row) : NULL;
}

static bool has_tiny_c(const smma_instruction *i) { return is_gd_fdpa(i) && i->a == SMMA_BF16 && i->b == SMMA_BF16; }

const smma_question smma_question_rdna4_tiny_c = {
    "rdna4-tiny-c", "whether a negative c below the last retained bit counts as one unit of it",
    has_tiny_c,     row_of_tiny_c,
    false,          tiny_c};

/* ---- Rounding to f16 ---- */

static uint64_t by_way_of_f32(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = as_steps(model);
  last_step(&o)->narrow_bits = smma_encoding_of(SMMA_F32).fraction_bits;
  (void)parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate f16_roundings[] = {{"rounded to f32 first", by_way_of_f32, 0}, {0}};

static const char *row_of_f16_roundings(const smma_operation *o, int index, smma_row *row) {
  static const two_products x = {"1 + 2^-11 + 2^-25", {0x1p-5, 0x1p-12}, {0x1p-6, 0x1p-13}, 1};
  return index == 0 ? set_row(o, &x, row) : NULL;
}

static bool is_gd_fdpa_f16(const smma_instruction *i) { return is_gd_fdpa(i) && i->d == SMMA_F16; }

const smma_question smma_question_rdna4_f16_rounding = {
    "rdna4-f16-rounding", "whether f16 results of RDNA 4 are rounded once", is_gd_fdpa_f16, row_of_f16_roundings, false,
    f16_roundings};

/* ---- Exponents of subnormal factors ---- */

static uint64_t with_normalized_products(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = as_steps(model);
  o.rule.with.composition.step[0].term.brings = SMMA_BRINGS_NORMALIZED;
  (void)parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate subnormal_exponents[] = {{"that of the leading bit", with_normalized_products, 0}, {0}};

static const char *row_of_subnormals(const smma_operation *o, int index, smma_row *row) {
  static const two_products x = {"2^-24 - 2^-48", {0x1p-24, 0x1p-24}, {1, -0x1p-24}, 0};
  return index == 0 ? set_row(o, &x, row) : NULL;
}

static bool has_f16_factors(const smma_instruction *i) {
  return is_gd_fdpa(i) && i->a == SMMA_F16 && i->b == SMMA_F16 && i->d == SMMA_F32;
}

const smma_question smma_question_rdna4_subnormal_exponent = {"rdna4-subnormal-exponent",
                                                              "the exponent that a subnormal factor brings on RDNA 4",
                                                              has_f16_factors,
                                                              row_of_subnormals,
                                                              false,
                                                              subnormal_exponents};

/* ---- FP8 ---- */

static uint64_t in_pairs(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  o.rule.with.c_fdpa.group = parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate fp8_groups[] = {{"pairs, as f16", in_pairs, 2}, {0}};

static const char *row_of_fp8_groups(const smma_operation *o, int index, smma_row *row) {
  static const two_products x = {"448^2 - 448^2 - 2^-18 - 2^-18", {448, 448}, {448, -448}, 0};
  if (index > 0) return NULL;
  set_row(o, &x, row);
  for (int i = 2; i < 4; i++) set_product(row, first_product(o, i), code_of(o->a, 0x1p-9), code_of(o->b, -0x1p-9));
  return x.what;
}

const smma_question smma_question_rdna4_fp8_groups = {"rdna4-fp8-groups",
                                                      "whether RDNA 4 truncates four FP8 products together, or pairs",
                                                      has_bytes,
                                                      row_of_fp8_groups,
                                                      false,
                                                      fp8_groups};

static uint64_t nan_by_source(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  o.rule.nan = (smma_nan_policy)parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate fp8_nans[] = {{"as of f16", nan_by_source, SMMA_NAN_BY_SOURCE}, {0}};

static const char *row_of_fp8_nans(const smma_operation *o, int index, smma_row *row) {
  const bool in_a = o->a == SMMA_E5M2;
  const two_products x = {"infinity times zero", {in_a ? INFINITY : 0, 0}, {in_a ? 0 : INFINITY, 0}, 0};
  return index == 0 ? set_row(o, &x, row) : NULL;
}

static bool has_infinite_bytes(const smma_instruction *i) {
  return has_bytes(i) && (i->a == SMMA_E5M2 || i->b == SMMA_E5M2);
}

const smma_question smma_question_rdna4_fp8_nan = {
    "rdna4-fp8-nan", "the NaN that infinite FP8 products make on RDNA 4", has_infinite_bytes, row_of_fp8_nans, false,
    fp8_nans};

static uint64_t in_other_order(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  o.rule.with.c_fdpa.stride = parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate fp8_orders[] = {
    {"k in order", in_other_order, 1}, {"k = 0-3, 8-11, 4-7, 12-15", in_other_order, 2}, {0}};

static bool has_chained_bytes(const smma_instruction *i) { return has_bytes(i) && i->k > 4; }

const smma_question smma_question_rdna4_fp8_order = {
    "rdna4-fp8-order", "in which order WMMA takes FP8 products", has_chained_bytes, NULL, false, fp8_orders};
