/* The experiments: what is open, the answers that there could be, and operands that tell them apart. */
#include <string.h>

#include "question/question.h"

/* ---- Operands ---- */

static uint64_t power_of_two(smma_format format, bool negative, int exponent) {
  return smma_encode(smma_encoding_of(format), negative, 1, exponent, false, SMMA_ROUND_NEAREST_EVEN,
                     SMMA_OVERFLOW_INFINITY);
}

static uint64_t zero_of(smma_format format, bool negative) {
  return smma_sign_and_fields(smma_encoding_of(format), negative, 0);
}

/* Products (+0)(+0), c = +0, scale factors of one. */
static void clear_row(const smma_operation *o, smma_row *row) {
  for (int k = 0; k < o->k; k++) row->a[k] = row->b[k] = 0;
  for (int s = 0; s < smma_scale_count(o->k, o->scale_block); s++)
    row->scale_a[s] = row->scale_b[s] = power_of_two(o->scale, false, 0);
  row->c = 0;
}

static void set_product(smma_row *row, int k, uint64_t a, uint64_t b) {
  row->a[k] = a;
  row->b[k] = b;
}

/* The least exponent that the format has with subnormals. */
static int least_exponent(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  return smma_minimum_exponent(f) - (f.specials == SMMA_SPECIALS_POWERS_OF_TWO ? 0 : f.fraction_bits);
}

/* Whether 2^exponent is a product of the operation's inputs. */
static bool reaches(const smma_operation *o, int exponent) {
  return least_exponent(o->a) + least_exponent(o->b) <= exponent;
}

/* +-2^exponent as a product, half of the exponent in a. */
static void set_power(const smma_operation *o, smma_row *row, int k, bool negative, int exponent) {
  const int half = exponent / 2;
  set_product(row, k, power_of_two(o->a, negative, half), power_of_two(o->b, false, exponent - half));
}

/* The k of product i in the first block, and of one that is added last: a chain's later blocks would hide a sign. */
static int first_product(const smma_operation *o, int i) { return smma_product_index(o, 0, i); }

static int last_product(const smma_operation *o) {
  return o->rule.algorithm == SMMA_FTZ_FMA ? 0 : smma_product_index(o, o->k / smma_block_of(o) - 1, 0);
}

static bool is_f16_output(const smma_instruction *i) { return i->d == SMMA_F16; }

static bool is_any(const smma_instruction *i) {
  (void)i;
  return true;
}

/* ---- The exponent of zero for f16 output ---- */

/* FP8 and narrower inputs cannot show it: their products are multiples of 2^-32, which nothing below cuts off. */
static bool is_f16_to_f16(const smma_instruction *i) { return i->a == SMMA_F16 && is_f16_output(i); }

static uint64_t with_zero_exponent(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  o.rule.with.t_fdpa.zero_exponent = parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate exponents_of_zero[] = {{"e_zero = -19", with_zero_exponent, -19},
                                                   {"e_zero = -20", with_zero_exponent, -20},
                                                   {"e_zero = -21", with_zero_exponent, -21},
                                                   {"e_zero = -22", with_zero_exponent, -22},
                                                   {"e_zero = -133, as for f32 output", with_zero_exponent, -133},
                                                   {0}};

/* Half the least f16 and one more bit: the sum rounds up if that bit is kept, which is at F bits below an e_zero of
   -19, -20 and so on, and to zero if it is cut. */
static const char *row_of_exponents(const smma_operation *o, int index, smma_row *row) {
  static const char *const what[] = {
      "a bit F below 2^-19 on half the least f16", "a bit F below 2^-20 on half the least f16",
      "a bit F below 2^-21 on half the least f16", "a bit F below 2^-22 on half the least f16",
      "a bit F below 2^-23 on half the least f16"};
  if (index == (int)(sizeof what / sizeof *what)) return NULL;
  clear_row(o, row);
  set_power(o, row, first_product(o, 0), false, -25);
  set_power(o, row, first_product(o, 1), false, -19 - index - o->rule.with.t_fdpa.alignment_bits);
  return what[index];
}

/* ---- Rounding of subnormal f16 results ---- */

/* To 11 bits with the exponents of f32, then to f16. */
static uint64_t round_twice(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const smma_encoding f16 = smma_encoding_of(SMMA_F16), wide = smma_encoding_of(SMMA_TF32);
  const bool adds_c = model->rule.algorithm == SMMA_FP8_BY_FP16;
  smma_rule rule = model->rule;
  smma_number term[SMMA_MAXIMUM_K + 1];
  uint64_t d = adds_c ? 0 : c;
  (void)parameter;
  rule.with.t_fdpa.output = SMMA_TF32;
  for (int block = 0; block < smma_blocks_per_step(model); block++) {
    const int count = smma_fused_terms(model, x, block, d, term);
    d = smma_encode_number(f16, smma_decode(wide, smma_fused_sum(&rule, term, count)), SMMA_ROUND_NEAREST_EVEN,
                           SMMA_OVERFLOW_INFINITY);
  }
  return adds_c ? smma_ieee_add(f16, rule.nan, d, c) : d;
}

static const smma_candidate subnormal_roundings[] = {{"rounded twice: to 11 bits, then to a subnormal", round_twice, 0},
                                                     {0}};

static const char *row_of_roundings(const smma_operation *o, int index, smma_row *row) {
  if (index > 0) return NULL;
  clear_row(o, row);
  set_power(o, row, first_product(o, 0), false, -15);
  set_power(o, row, first_product(o, 1), false, -25);
  set_power(o, row, first_product(o, 2), false, -27);
  return "2^-15 + 2^-25 + 2^-27";
}

static bool has_fine_products(const smma_instruction *i) {
  const smma_operation o = smma_operation_of(i);
  return is_f16_output(i) && reaches(&o, -27);
}

/* ---- Signs of zero ---- */

typedef enum { ALL_NEGATIVE, ANY_NEGATIVE, SIGN_OF_C, NO_NEGATIVE } zero_rule;

/* The model, but for the sign of a zero. */
static uint64_t with_sign_of_zero(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const uint64_t d = smma_dot_add(model, x, c);
  bool c_negative = smma_decode(smma_encoding_of(model->c), c).negative, all = c_negative, any = c_negative;
  if (smma_decode(smma_encoding_of(model->d), d).kind != SMMA_ZERO) return d;
  for (int k = 0; k < model->k; k++) {
    const bool negative = x.a[k].negative != x.b[k].negative;
    all = all && negative;
    any = any || negative;
  }
  switch ((zero_rule)parameter) {
    case ALL_NEGATIVE: return zero_of(model->d, all);
    case ANY_NEGATIVE: return zero_of(model->d, any);
    case SIGN_OF_C: return zero_of(model->d, c_negative);
    default: return zero_of(model->d, false);
  }
}

static const smma_candidate signs_of_zero[] = {
    {"every zero sum is +0", with_sign_of_zero, NO_NEGATIVE},
    {"-0 if every term is negative, else +0 (IEEE 754)", with_sign_of_zero, ALL_NEGATIVE},
    {"-0 if any term is negative (IEEE 754, rounding down)", with_sign_of_zero, ANY_NEGATIVE},
    {"the sign of c", with_sign_of_zero, SIGN_OF_C},
    {0}};

/* A sum that is exactly zero: c, the first two products, all others. */
typedef enum { MINUS_ONE, MINUS_ZERO, PLUS_ZERO, PLUS_ONE, ZERO_BY_ZERO } zero_term;
typedef struct {
  const char *what;
  zero_term c, first, second, others;
} zero_case;

static const zero_case zero_cases[] = {
    {"-0 + (-1)(+0) + ...", MINUS_ZERO, MINUS_ZERO, MINUS_ZERO, MINUS_ZERO},
    {"+0 + (-1)(+0) + ...", PLUS_ZERO, MINUS_ZERO, MINUS_ZERO, MINUS_ZERO},
    {"-0 + (+1)(+0) + ...", MINUS_ZERO, PLUS_ZERO, PLUS_ZERO, PLUS_ZERO},
    {"+0 + (+1)(+0) + ...", PLUS_ZERO, PLUS_ZERO, PLUS_ZERO, PLUS_ZERO},
    {"-1 + 1 + (+1)(+0) + ...", MINUS_ONE, PLUS_ONE, PLUS_ZERO, PLUS_ZERO},
    {"1 - 1 + (-1)(+0) + ...", PLUS_ONE, MINUS_ONE, MINUS_ZERO, MINUS_ZERO},
    {"-0 + (-1)(+0) + (+1)(+0) + (-1)(+0) + ...", MINUS_ZERO, MINUS_ZERO, PLUS_ZERO, MINUS_ZERO},
    {"-0 + 1 - 1 + (-1)(+0) + ...", MINUS_ZERO, PLUS_ONE, MINUS_ONE, MINUS_ZERO},
    {"-0 + (-0)(+0) + ...", MINUS_ZERO, ZERO_BY_ZERO, ZERO_BY_ZERO, ZERO_BY_ZERO}};

static void set_zero_term(const smma_operation *o, smma_row *row, int k, zero_term term) {
  const bool negative = term == MINUS_ONE || term == MINUS_ZERO;
  const bool zero = term == MINUS_ZERO || term == PLUS_ZERO;
  if (k >= o->k) return;
  set_product(row, k, term == ZERO_BY_ZERO ? zero_of(o->a, true) : power_of_two(o->a, negative, 0),
              zero || term == ZERO_BY_ZERO ? 0 : power_of_two(o->b, false, 0));
}

/* Whether K products and the format of a can make the case. */
static bool has_case(const smma_operation *o, const zero_case *z) {
  if (o->k == 1 && z->second != z->others) return false;
  return z->first != ZERO_BY_ZERO || smma_encoding_of(o->a).specials != SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO;
}

static const char *row_of_zeros(const smma_operation *o, int index, smma_row *row) {
  for (size_t n = 0; n < sizeof zero_cases / sizeof *zero_cases; n++) {
    const zero_case *z = &zero_cases[n];
    const bool negative = z->c == MINUS_ONE || z->c == MINUS_ZERO;
    if (!has_case(o, z) || index-- > 0) continue;
    clear_row(o, row);
    row->c = z->c == MINUS_ONE || z->c == PLUS_ONE ? power_of_two(o->c, negative, 0) : zero_of(o->c, negative);
    for (int k = 0; k < o->k; k++) set_zero_term(o, row, k, k == 0 ? z->first : k == 1 ? z->second : z->others);
    return z->what;
  }
  return NULL;
}

/* The model, but for the sign of a zero where a product is negative and not zero. */
static uint64_t with_sign_of_underflow(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const uint64_t d = smma_dot_add(model, x, c);
  bool negative = false;
  for (int k = 0; k < model->k; k++)
    negative =
        negative || (x.a[k].kind == SMMA_FINITE && x.b[k].kind == SMMA_FINITE && x.a[k].negative != x.b[k].negative);
  if (!negative || smma_decode(smma_encoding_of(model->d), d).kind != SMMA_ZERO) return d;
  return zero_of(model->d, parameter);
}

static const smma_candidate signs_of_underflow[] = {{"+0 for every underflow", with_sign_of_underflow, false},
                                                    {"-0 for every negative underflow", with_sign_of_underflow, true},
                                                    {0}};

/* One product is negative. In scaled instructions, which are one block, the first scale factors make it small. */
static const char *row_of_underflows(const smma_operation *o, int index, smma_row *row) {
  static const char *const what[] = {"-1/4 of the least result, c = +0", "-1/4 of the least result, c = -0",
                                     "the least negative product, c = +0", "the least negative product, c = -0"};
  const int quarter = least_exponent(o->d) - 2, k = last_product(o);
  if (!o->scale_block && !reaches(o, quarter)) index += 2;
  if (index >= (int)(sizeof what / sizeof *what)) return NULL;
  clear_row(o, row);
  row->c = zero_of(o->c, index % 2);
  if (o->scale_block) {
    const int least = least_exponent(o->scale);
    set_power(o, row, k, true, 0);
    row->scale_a[0] = power_of_two(o->scale, false, index < 2 ? quarter / 2 : least);
    row->scale_b[0] = power_of_two(o->scale, false, index < 2 ? quarter - quarter / 2 : least);
  } else if (index < 2) {
    set_power(o, row, k, true, quarter);
  } else {
    set_product(row, k, power_of_two(o->a, true, least_exponent(o->a)),
                power_of_two(o->b, false, least_exponent(o->b)));
  }
  return what[index];
}

/* ---- FP8 through mma.sync ---- */

static bool is_fp8_by_fp16(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_FP8_BY_FP16; }

static bool is_fp8_k16(const smma_instruction *i) { return is_fp8_by_fp16(i) && i->k == 16; }

typedef enum { OTHER_HALF_FIRST, HALVES_OF_K, EVEN_AND_ODD } fp8_order;

/* The model with other elements in its two blocks. */
static uint64_t with_order(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K];
  const int half = smma_block_of(model);
  for (int block = 0; block < 2; block++)
    for (int i = 0; i < half; i++) {
      const int to = smma_product_index(model, block, i);
      const int from = parameter == OTHER_HALF_FIRST ? smma_product_index(model, 1 - block, i)
                       : parameter == HALVES_OF_K    ? block * half + i
                                                     : 2 * i + block;
      a[to] = x.a[from], b[to] = x.b[from];
    }
  return smma_dot_add(model, (smma_operands){a, b, NULL, NULL}, c);
}

/* One sum of all products: of c too, or c added last. */
static uint64_t in_one_sum(const smma_operation *model, smma_operands x, uint64_t c, int with_c) {
  smma_operation o = *model;
  o.rule.with.t_fdpa.block = o.k;
  return with_c ? smma_fused_chain(&o, x, c) : smma_dot_add(&o, x, c);
}

/* The first half's sum takes c. */
static uint64_t from_c(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  (void)parameter;
  return smma_fused_chain(model, x, c);
}

/* Both halves' sums from zero, added, then c. */
static uint64_t both_from_zero(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const smma_encoding f = smma_encoding_of(model->d);
  smma_number term[SMMA_MAXIMUM_K + 1];
  uint64_t half[2];
  (void)parameter;
  for (int block = 0; block < 2; block++) {
    const int count = smma_fused_terms(model, x, block, 0, term);
    half[block] = smma_fused_sum(&model->rule, term, count);
  }
  return smma_ieee_add(f, model->rule.nan, smma_ieee_add(f, model->rule.nan, half[0], half[1]), c);
}

static const smma_candidate fp8_k16_sums[] = {{"k < 8, then the others, then c", with_order, HALVES_OF_K},
                                              {"even k, then odd k, then c", with_order, EVEN_AND_ODD},
                                              {"one sum of all k, then c", in_one_sum, false},
                                              {"one sum of all k and c", in_one_sum, true},
                                              {0}};

static const smma_candidate fp8_halves[] = {{"k mod 4 >= 2 first", with_order, OTHER_HALF_FIRST},
                                            {"c in the first half's sum", from_c, 0},
                                            {"both halves from zero, added, then c", both_from_zero, 0},
                                            {0}};

/* ---- FP6 inputs ---- */

static bool is_fp6(smma_format format) { return format == SMMA_E3M2 || format == SMMA_E2M3; }

static bool has_fp6(const smma_instruction *i) { return is_fp6(i->a) || is_fp6(i->b); }

static uint64_t with_alignment(const smma_operation *model, smma_operands x, uint64_t c, int bits) {
  smma_operation o = *model;
  o.rule.with.t_fdpa.alignment_bits = bits;
  return smma_dot_add(&o, x, c);
}

static uint64_t with_block(const smma_operation *model, smma_operands x, uint64_t c, int block) {
  smma_operation o = *model;
  o.rule.with.t_fdpa.block = block;
  return smma_dot_add(&o, x, c);
}

/* As FP8 mma.sync; not with scale factors, which the FP16 unit does not have. */
static uint64_t by_fp16(const smma_operation *model, smma_operands x, uint64_t c, int block) {
  smma_operation o = *model;
  if (!o.scale_block) o.rule.algorithm = SMMA_FP8_BY_FP16;
  o.rule.with.t_fdpa.block = block;
  return smma_dot_add(&o, x, c);
}

/* Subnormal inputs have the exponent of their leading bit. */
static uint64_t with_normal_inputs(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K];
  (void)parameter;
  for (int k = 0; k < model->k; k++) a[k] = smma_widen_to_f16(x.a[k]), b[k] = smma_widen_to_f16(x.b[k]);
  return smma_dot_add(model, (smma_operands){a, b, x.scale_a, x.scale_b}, c);
}

static const smma_candidate fp6_sums[] = {
    {"F = 13", with_alignment, 13},
    {"blocks of 16", with_block, 16},
    {"widened to f16, two halves, then c (as FP8 mma.sync of Hopper)", by_fp16, 16},
    {"subnormal inputs count as normal", with_normal_inputs, 0},
    {0}};

/* ---- Scale factors ---- */

static bool is_gst_fdpa(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_GST_FDPA; }

/* ST-FDPA of inputs without an exponent below zero, whose sums scaled_sums takes exactly. */
static bool is_st_fdpa_of_e2(const smma_instruction *i) {
  return i->rule->rule.algorithm == SMMA_ST_FDPA && smma_minimum_exponent(smma_encoding_of(i->a)) >= 0 &&
         smma_minimum_exponent(smma_encoding_of(i->b)) >= 0;
}

/* GST-FDPA with `group` products to a sum. */
static uint64_t scaled_sums(const smma_operation *model, smma_operands x, uint64_t c, int group) {
  smma_operation o = *model;
  o.rule.algorithm = SMMA_GST_FDPA;
  o.rule.with.gst_fdpa = (smma_gst_fdpa){group, model->rule.with.t_fdpa};
  return smma_dot_add(&o, x, c);
}

static const smma_candidate scales_of_sums[] = {
    {"groups of 32 summed, then scaled", scaled_sums, 32}, {"groups of 16 summed, then scaled", scaled_sums, 16}, {0}};

/* ST-FDPA: every product scaled, all in one sum. */
static uint64_t scaled_products(const smma_operation *model, smma_operands x, uint64_t c, int bits) {
  smma_operation o = *model;
  o.rule.algorithm = SMMA_ST_FDPA;
  o.rule.with.t_fdpa = model->rule.with.gst_fdpa.fused;
  o.rule.with.t_fdpa.block = o.k;
  o.rule.with.t_fdpa.alignment_bits = bits;
  return smma_dot_add(&o, x, c);
}

static uint64_t with_group_alignment(const smma_operation *model, smma_operands x, uint64_t c, int bits) {
  smma_operation o = *model;
  o.rule.with.gst_fdpa.fused.alignment_bits = bits;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate scales_of_groups[] = {{"every product scaled, F = 35", scaled_products, 35},
                                                  {"every product scaled, F = 25", scaled_products, 25},
                                                  {"F = 25", with_group_alignment, 25},
                                                  {0}};

/* ---- NaN ---- */

static bool has_unknown_nan(const smma_instruction *i) { return i->rule->rule.nan == SMMA_NAN_QUIET; }

/* The first NaN among c, a, b; NULL if the sum makes its own. */
static const smma_number *operand_nan(const smma_operation *o, const smma_operands *x, const smma_number *c) {
  if (c->kind == SMMA_NAN) return c;
  for (int k = 0; k < o->k; k++) {
    if (x->a[k].kind == SMMA_NAN) return &x->a[k];
    if (x->b[k].kind == SMMA_NAN) return &x->b[k];
  }
  return NULL;
}

typedef enum { ALL_ONES, NEGATIVE, OPERAND, OPERAND_OR_NEGATIVE } nan_rule;

static uint64_t with_nan(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const smma_encoding f = smma_encoding_of(model->d);
  const smma_number number = smma_decode(smma_encoding_of(model->c), c), *nan = operand_nan(model, &x, &number);
  const uint64_t d = smma_dot_add(model, x, c);
  if (smma_decode(f, d).kind != SMMA_NAN) return d;
  if (parameter == ALL_ONES) return smma_nan_of(f, SMMA_NAN_ALL_ONES);
  if (parameter != NEGATIVE && nan) return smma_quieted(f, *nan);
  return smma_default_nan(f) | smma_sign_and_fields(f, parameter != OPERAND, 0);
}

static const smma_candidate nans[] = {
    {"all ones but the sign (0x7fffffff of f32)", with_nan, ALL_ONES},
    {"the quiet NaN with a sign (0xffc00000 of f32)", with_nan, NEGATIVE},
    {"the operand's NaN made quiet, else the quiet NaN", with_nan, OPERAND},
    {"the operand's NaN made quiet, else the quiet NaN with a sign", with_nan, OPERAND_OR_NEGATIVE},
    {0}};

/* A NaN of the format with its sign and the payload 1 where it has those. */
static uint64_t nan_with_payload(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  if (f.specials != SMMA_SPECIALS_IEEE) return smma_default_nan(f);
  return smma_default_nan(f) | smma_sign_and_fields(f, true, 1);
}

static const char *row_of_nans(const smma_operation *o, int index, smma_row *row) {
  const smma_encoding a = smma_encoding_of(o->a), c = smma_encoding_of(o->c);
  const uint64_t infinity_of_c = smma_largest_fields(c) + 1;
  const uint64_t one = power_of_two(o->b, false, 0);
  clear_row(o, row);
  switch (index) {
    case 0: set_product(row, 0, smma_default_nan(a), one); return "NaN times 1";
    case 1: set_product(row, 0, nan_with_payload(o->a), one); return "another NaN times 1";
    case 2: row->c = nan_with_payload(o->c); return "c is a negative NaN with payload";
    case 3: row->c = infinity_of_c | 1; return "c is a signalling NaN";
    default: break;
  }
  if (a.specials != SMMA_SPECIALS_IEEE) return NULL;
  set_product(row, 0, smma_overflowed(a, true, SMMA_OVERFLOW_INFINITY), index == 4 ? 0 : one);
  if (index == 4) return "-infinity times 0";
  row->c = infinity_of_c;
  return index == 5 ? "infinity - infinity" : NULL;
}

/* ---- Turing's mma.m8n8k4 ---- */

static bool is_turing_k4(const smma_instruction *i) { return i->rule == &smma_rule_turing_k4_f32 && i->d == SMMA_F32; }

static uint64_t with_alignment_bits(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  smma_operation o = *model;
  o.rule.with.t_fdpa.alignment_bits = parameter;
  return smma_dot_add(&o, x, c);
}

static const smma_candidate turing_k4_bits[] = {{"F = 23, as Volta", with_alignment_bits, 23}, {0}};

/* ---- CDNA 1 ---- */

static bool is_e_fdpa(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_E_FDPA; }

/* Products summed in pairs, the pairs of a block too, then d: every step rounded to f32. */
static uint64_t in_pairs(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  const smma_encoding f32 = smma_encoding_of(SMMA_F32);
  const smma_nan_policy nan = model->rule.nan;
  const int block = smma_block_of(model);
  uint64_t d = smma_widen_c(model, c), product[SMMA_MAXIMUM_K];
  (void)parameter;
  for (int k = 0; k < model->k; k++) product[k] = smma_ieee_multiply(f32, nan, x.a[k], x.b[k]);
  for (int k = 0; k < model->k; k += block) {
    for (int width = 1; width < block; width *= 2)
      for (int i = k; i + width < k + block; i += 2 * width)
        product[i] = smma_ieee_add(f32, nan, product[i], product[i + width]);
    d = smma_ieee_add(f32, nan, d, product[k]);
  }
  return d;
}

static const smma_candidate cdna1_sums[] = {{"products summed in pairs, each sum rounded", in_pairs, 0}, {0}};

/* ---- CDNA 2 ---- */

static bool is_ftz_addmul(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_FTZ_ADDMUL; }

/* Products added to d one at a time. */
static uint64_t one_at_a_time(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  uint64_t d = smma_ftz_addmul_start(smma_widen_c(model, c));
  (void)parameter;
  for (int k = 0; k < model->k; k++) d = smma_ftz_add(d, smma_ftz_multiply(x.a[k], x.b[k]));
  return d;
}

static const smma_candidate cdna2_widths[] = {{"one at a time, FTTN's width of 1", one_at_a_time, 0}, {0}};

/* ---- Overflow of integers ---- */

static bool is_integer(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_INTEGER; }

enum { WRAPS = 0 };

/* Clamped after so many products, in order from c on. */
static uint64_t clamped_after(const smma_operation *model, smma_operands x, uint64_t c, int products) {
  const smma_integer p = {products == WRAPS ? SMMA_INTEGER_WRAPS : SMMA_INTEGER_SATURATES};
  const int length = products == WRAPS || products > model->k ? model->k : products;
  smma_number term[SMMA_MAXIMUM_K + 1];
  for (int k = 0; k < model->k; k += length) {
    for (int i = 0; i < length; i++) term[i] = smma_product_at(model, x, k + i);
    term[length] = smma_decode(smma_encoding_of(SMMA_S32), c);
    c = smma_integer_sum(&p, term, length + 1);
  }
  return c;
}

static const smma_candidate overflows[] = {{"wraps", clamped_after, WRAPS},
                                           {"clamped once", clamped_after, SMMA_MAXIMUM_K},
                                           {"clamped after every 4 products", clamped_after, 4},
                                           {"clamped after every 8 products", clamped_after, 8},
                                           {"clamped after every 16 products", clamped_after, 16},
                                           {0}};

/* c is the greatest number; products of one, then as many of minus one. */
static const char *row_of_overflows(const smma_operation *o, int index, smma_row *row) {
  static const char *const what[] = {"one product above the range", "four above the range, and back",
                                     "eight above the range, and back", "sixteen above the range, and back"};
  const int products = index == 0 ? 1 : 2 << index;
  const uint64_t minus_one = 0xff;
  const bool a_has_sign = o->a == SMMA_S8, b_has_sign = o->b == SMMA_S8;
  if (index == (int)(sizeof what / sizeof *what) || 2 * products > o->k) return NULL;
  clear_row(o, row);
  row->c = smma_largest_fields(smma_encoding_of(o->c));
  for (int k = 0; k < products; k++) set_product(row, k, 1, 1);
  if (index == 0) return what[0];
  if (!a_has_sign && !b_has_sign) return NULL;
  for (int k = products; k < 2 * products; k++)
    set_product(row, k, a_has_sign ? minus_one : 1, a_has_sign ? 1 : minus_one);
  return what[index];
}

/* ---- FTTN's porting example ---- */

/* FTTN, section V: D = C - A B with 2^13 elements to a row; C = 2^20, A[i][0] = B[0][j] = 2^10, the other A[i][k] -2^-2
   for odd and -2^-3 for even k, the other B[k][j] 2^-3: the signs of its formula for D. */
enum { FTTN_K = 8192 };

/* With `negated`, of -A B. */
static const char *fttn_row(const smma_operation *o, int index, bool negated, smma_row *row) {
  if (index == FTTN_K / o->k) return NULL;
  clear_row(o, row);
  for (int k = 0; k < o->k; k++) {
    const bool first = index == 0 && k == 0;
    set_product(row, k,
                power_of_two(o->a, negated == first,
                             first   ? 10
                             : k % 2 ? -2
                                     : -3),
                power_of_two(o->b, false, first ? 10 : -3));
  }
  return "a step of FTTN's loop over K";
}

static const char *row_from_c(const smma_operation *o, int index, smma_row *row) {
  const char *what = fttn_row(o, index, true, row);
  if (what) row->c = power_of_two(o->c, false, 20);
  return what;
}

static const char *row_from_zero(const smma_operation *o, int index, smma_row *row) {
  return fttn_row(o, index, false, row);
}

static bool is_f16_to_f32(const smma_instruction *i) {
  return i->a == SMMA_F16 && i->b == SMMA_F16 && i->c == SMMA_F32 && i->d == SMMA_F32 && i->k % 2 == 0;
}

/* So many eighths, whatever the operands. */
static uint64_t eighths(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  (void)x, (void)c;
  return smma_encode(smma_encoding_of(model->d), parameter < 0, smma_magnitude(parameter), -3, false,
                     SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

#define EIGHTHS(whole, rest) ((whole)*8 + (rest))
#define TWO_TO_20 (1 << 20)

static const smma_candidate fttn_from_c[] = {{"D = 0, FTTN's V100, A100 and MI250X", eighths, 0},
                                             {"D = 191.875, FTTN's H100", eighths, EIGHTHS(191, 7)},
                                             {"D = 255.875, FTTN's MI100", eighths, EIGHTHS(255, 7)},
                                             {0}};

static const smma_candidate fttn_from_zero[] = {
    {"A B = 2^20: D = 0, FTTN's V100, A100 and MI250X", eighths, EIGHTHS(TWO_TO_20, 0)},
    {"A B = 2^20 - 191.875, FTTN's H100", eighths, EIGHTHS(TWO_TO_20, 0) - EIGHTHS(191, 7)},
    {"A B = 2^20 - 255.875, FTTN's MI100", eighths, EIGHTHS(TWO_TO_20, 0) - EIGHTHS(255, 7)},
    {0}};

/* ---- All of them ---- */

const smma_question smma_questions[] = {
    {"f16-exponent-of-zero", "the exponent that a zero term brings to the alignment, for f16 output", is_f16_to_f16,
     row_of_exponents, false, exponents_of_zero},
    {"f16-subnormal-rounding", "whether a subnormal f16 result is rounded once or twice", has_fine_products,
     row_of_roundings, false, subnormal_roundings},
    {"zero-sign", "the sign of a sum that is exactly zero", is_any, row_of_zeros, false, signs_of_zero},
    {"underflow-sign", "the sign of a negative sum that rounds to zero", is_any, row_of_underflows, false,
     signs_of_underflow},
    {"fp8-mma-sync-k16", "FP8 mma.sync with K = 16: two halves or one sum, and of which k", is_fp8_k16, NULL, false,
     fp8_k16_sums},
    {"fp8-mma-sync-halves", "FP8 mma.sync: which half of k comes first, and where c is added", is_fp8_by_fp16, NULL,
     false, fp8_halves},
    {"nan-payload", "sign and payload of NaN results, where they are not known", has_unknown_nan, row_of_nans, false,
     nans},
    {"fp6-sum", "whether FP6 inputs are summed as FP8 and FP4 are", has_fp6, NULL, false, fp6_sums},
    {"scaled-products", "MXFP8, MXFP6, MXFP4: whether products are scaled, or sums of them", is_st_fdpa_of_e2, NULL,
     false, scales_of_sums},
    {"scaled-groups", "MXFP4 and NVFP4 with K = 64: whether sums are scaled, or products", is_gst_fdpa, NULL, false,
     scales_of_groups},
    {"turing-k4-bits", "how many bits Turing's mma.m8n8k4 keeps of aligned products", is_turing_k4, NULL, false,
     turing_k4_bits},
    {"cdna1-pairs", "whether CDNA 1 sums exactly or in pairs", is_e_fdpa, NULL, false, cdna1_sums},
    {"cdna2-width", "how many products CDNA 2 adds before they join d", is_ftz_addmul, NULL, false, cdna2_widths},
    {"integer-overflow", "whether integer sums wrap or are clamped, and after how many products", is_integer,
     row_of_overflows, false, overflows},
    {"fttn-from-c", "FTTN's porting example, D = C - A B as a loop from C with A negated", is_f16_to_f32, row_from_c,
     true, fttn_from_c},
    {"fttn-from-zero", "FTTN's porting example, D = C - A B as a loop for A B, then a subtraction", is_f16_to_f32,
     row_from_zero, true, fttn_from_zero},
};
const size_t smma_question_count = sizeof smma_questions / sizeof *smma_questions;
