#include "isa/key.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/format_name.h"

#define A(name) (1u << SMMA_##name)
#define TRUNCATED (A(T_FDPA) | A(ST_FDPA) | A(FP8_BY_FP16))
#define DOWN (A(TR_FDPA) | A(GTR_FDPA))
#define OPPOSING (A(C_FDPA) | A(GD_FDPA))
#define EVERY (~0u)
#define HAS_NAN (~(A(INTEGER) | A(FTZ_FMA))) /* integers have no NaN; FTZ-FMA returns the operand's */
#define STEPS A(COMPOSITION)
#define CHAIN (1u << SMMA_KEYS_OF_G_FDPA)
#define SINGLE (A(E_FDPA) | A(FTZ_ADDMUL) | DOWN | A(FTZ_FMA)) /* with FP32 results */

/* Bits in sets of formats. Each format up to SMMA_B1 has its own bit. All other formats share one bit for each kind:
   integers; signed floating point whose values f32 contains; unsigned floating point whose values f32 contains;
   floating point that needs f64; fixed point with fractions. */
enum { SPELLED_INTEGER = SMMA_B1 + 1, SPELLED_SIGNED, SPELLED_UNSIGNED, SPELLED_WIDE, SPELLED_FIXED };

#define F(name) (1u << SMMA_FORMAT_##name)
#define SPELLED(kind) (1u << SPELLED_##kind)
#define TABLE(formats) ((formats) & (SPELLED(INTEGER) - 1))
#define FP8 (F(e4m3) | F(e5m2))
#define RESULTS                                                                                          \
  (F(f32) | F(tf32) | F(f16) | F(bf16) | FP8 | F(e4m3fnuz) | F(e5m2fnuz) | F(e3m2) | F(e2m3) | F(e2m1) | \
   SPELLED(SIGNED))
#define OPERANDS (RESULTS | SPELLED(UNSIGNED))
#define WIDE (F(f64) | SPELLED(WIDE))
#define FLOATS (F(f32) | F(f16) | F(bf16))
#define SUMS (FLOATS | SPELLED(SIGNED))
#define OUTPUTS (RESULTS | F(f64) | F(e8m13))
#define INTEGERS (F(s8) | F(u8) | F(s4) | F(u4) | F(b1) | SPELLED(INTEGER))

const char *const smma_roundings[] = {"nearest-even",    "toward-zero",  "toward-negative",
                                      "toward-positive", "nearest-away", NULL};
const char *const smma_every_rounding[] = {
    "nearest-even", "toward-zero",      "toward-negative",  "toward-positive", "nearest-away",
    "nearest-zero", "nearest-positive", "nearest-negative", "to-odd",          NULL};
static const char *const nans[] = {"all-ones", "quiet", "default", NULL};
static const char *const nans_of_fma[] = {"all-ones", "quiet", "default", "b-sum-a", NULL};
static const char *const every_nan[] = {"all-ones",  "quiet",  "default", "b-sum-a", "operand",
                                        "by-source", "marked", "numbers", NULL};
static const char *const nans_of_opposing[] = {"all-ones", "quiet",     "default", "b-sum-a",
                                               "operand",  "by-source", "marked",  NULL};
static const char *const exponents[] = {"of-factors", "normalized", NULL};
static const char *const products[] = {"multiply", "xor", NULL};
static const char *const joins[] = {"first", "last", NULL};
static const char *const overflows[] = {"infinity", "saturate", "by-direction", NULL};
static const char *const integer_overflows[] = {"wrap", "saturate", NULL};
static const char *const subnormals[] = {"kept", "to-signed-zero", "to-positive-zero", NULL};
static const char *const zeros[] = {"positive", "ieee", "always-positive", NULL};
static const char *const brings[] = {"own", "normalized", "none", NULL};
static const char *const ways_to_join[] = {"apart", "tree", "chain", NULL};
static const char *const starts[] = {"nothing", "zero", "c", NULL};
static const char *const opposing[] = {"exact", "complement", NULL};

#define OF_INSTRUCTION(name) .member = offsetof(smma_instruction, name)
#define OF_RULE(name) .of_rule = true, .member = offsetof(smma_rule, name)
#define WITH(name) OF_RULE(with.name)
#define OF_CHAIN(name) .of_chain = true, .member = offsetof(smma_g_fdpa, name)
#define OF_STEP(name) .member = offsetof(smma_step, name)

/* Rows of the table of keys. The arguments after the limits are members of smma_key, by the macros below: the default,
   the words, and the symbol used in a rule's description. */
#define NUMBER(name, has, place, from, to, ...) \
  { .key = name, .algorithms = has, .kind = SMMA_KEY_INTEGER, place, .least = from, .most = to, __VA_ARGS__ }
#define FORMAT(name, has, place, allowed, ...) \
  { .key = name, .algorithms = has, .kind = SMMA_KEY_FORMAT, place, .formats = allowed, __VA_ARGS__ }
#define CHOICE(name, has, place, words, ...) \
  { .key = name, .algorithms = has, .kind = SMMA_KEY_CHOICE, place, .choices = words, __VA_ARGS__ }
#define ROUNDING(name, has, place, ...) \
  { .key = name, .algorithms = has, .kind = SMMA_KEY_ROUNDING, place, .choices = smma_roundings, __VA_ARGS__ }
#define EVERY_ROUNDING(name, has, place, ...) \
  { .key = name, .algorithms = has, .kind = SMMA_KEY_ROUNDING, place, .choices = smma_every_rounding, __VA_ARGS__ }
#define FLAG(name, has, place, ...) \
  { .key = name, .algorithms = has, .kind = SMMA_KEY_FLAG, place, .most = 1, __VA_ARGS__ }
#define NEEDED .otherwise = SMMA_KEY_REQUIRED
#define ELSE(value) .otherwise = value
#define AS(key) .like = key
#define WORD(text, value) .word = text, .meaning = value
#define NO_LIMIT WORD("none", SMMA_NONE)
#define TOLD(name) .symbol = name
#define TOLD_IF_OTHER(name) .symbol = name, .told_if_other = true

/* All keys, in the order in which descriptions and custom units list them. If several rows have the same key, an
   algorithm uses the first row whose set of algorithms contains it. The limits of an algorithm's numbers follow from
   the widths of the integers in which the core computes; each algorithm's header has the bounds. */
static const smma_key keys[] = {
    NUMBER("m", EVERY, OF_INSTRUCTION(m), 1, 1024, ELSE(16)),
    NUMBER("n", EVERY, OF_INSTRUCTION(n), 1, 1024, ELSE(8)),
    NUMBER("k", A(INTEGER) | STEPS, OF_INSTRUCTION(k), 1, SMMA_MAXIMUM_K, NEEDED),
    NUMBER("k", EVERY, OF_INSTRUCTION(k), 1, SMMA_MAXIMUM_ROUNDED_K, NEEDED),
    FORMAT("a", A(FMA), OF_INSTRUCTION(a), OPERANDS | WIDE, NEEDED),
    FORMAT("a", A(GST_FDPA), OF_INSTRUCTION(a), F(e2m1), NEEDED),
    FORMAT("a", A(FP8_BY_FP16), OF_INSTRUCTION(a), FP8, NEEDED),
    FORMAT("a", A(INTEGER), OF_INSTRUCTION(a), INTEGERS, NEEDED),
    FORMAT("a", STEPS, OF_INSTRUCTION(a), OPERANDS | WIDE | INTEGERS | SPELLED(FIXED), NEEDED),
    FORMAT("a", OPPOSING, OF_INSTRUCTION(a), TABLE(OPERANDS), NEEDED),
    FORMAT("a", EVERY, OF_INSTRUCTION(a), OPERANDS, NEEDED),
    FORMAT("b", A(FMA), OF_INSTRUCTION(b), OPERANDS | WIDE, NEEDED),
    FORMAT("b", A(GST_FDPA), OF_INSTRUCTION(b), F(e2m1), NEEDED),
    FORMAT("b", A(FP8_BY_FP16), OF_INSTRUCTION(b), FP8, NEEDED),
    FORMAT("b", A(INTEGER), OF_INSTRUCTION(b), INTEGERS, NEEDED),
    FORMAT("b", STEPS, OF_INSTRUCTION(b), OPERANDS | WIDE | INTEGERS | SPELLED(FIXED), NEEDED),
    FORMAT("b", OPPOSING, OF_INSTRUCTION(b), TABLE(OPERANDS), NEEDED),
    FORMAT("b", EVERY, OF_INSTRUCTION(b), OPERANDS, NEEDED),
    FORMAT("c", A(INTEGER), OF_INSTRUCTION(c), F(s32), AS("d")),
    FORMAT("c", STEPS, OF_INSTRUCTION(c), OPERANDS | WIDE | F(s32), AS("d")),
    FORMAT("c", EVERY, OF_INSTRUCTION(c), OPERANDS | WIDE, AS("d")),
    FORMAT("d", A(FMA), OF_INSTRUCTION(d), SUMS | F(f64), NEEDED),
    FORMAT("d", SINGLE, OF_INSTRUCTION(d), F(f32), NEEDED),
    FORMAT("d", A(FP8_BY_FP16), OF_INSTRUCTION(d), F(f32) | F(f16), NEEDED),
    FORMAT("d", CHAIN, OF_INSTRUCTION(d), RESULTS | F(f64), NEEDED),
    FORMAT("d", A(INTEGER), OF_INSTRUCTION(d), F(s32), NEEDED),
    FORMAT("d", STEPS, OF_INSTRUCTION(d), RESULTS | F(f64) | F(s32), NEEDED),
    FORMAT("d", OPPOSING, OF_INSTRUCTION(d), FLOATS, NEEDED),
    FORMAT("d", EVERY, OF_INSTRUCTION(d), SUMS, NEEDED),
    FORMAT("scale", A(ST_FDPA), OF_INSTRUCTION(scale), F(ue8m0), NEEDED),
    FORMAT("scale", A(GST_FDPA), OF_INSTRUCTION(scale), F(ue8m0) | F(ue4m3), NEEDED),
    FORMAT("scale", CHAIN | STEPS, OF_INSTRUCTION(scale), F(ue8m0) | F(ue4m3), ELSE(SMMA_NO_FORMAT)),
    NUMBER("scale_block", A(ST_FDPA) | A(GST_FDPA), OF_INSTRUCTION(scale_block), 16, SMMA_MAXIMUM_ROUNDED_K, NEEDED),
    NUMBER("scale_block", CHAIN | STEPS, OF_INSTRUCTION(scale_block), 4, SMMA_MAXIMUM_ROUNDED_K, ELSE(0)),

    NUMBER("alignment_bits", TRUNCATED, WITH(t_fdpa.alignment_bits), 0, SMMA_MOST_ALIGNMENT_BITS, NEEDED, TOLD("F")),
    NUMBER("block", TRUNCATED, WITH(t_fdpa.block), 1, SMMA_MAXIMUM_ROUNDED_K, NEEDED, TOLD("L")),
    ROUNDING("rounding", TRUNCATED, WITH(t_fdpa.rounding), NEEDED, TOLD("rho"), .told_with = "output"),
    FORMAT("output", TRUNCATED, WITH(t_fdpa.output), OUTPUTS, AS("d")),
    NUMBER("zero_exponent", TRUNCATED, WITH(t_fdpa.zero_exponent), -1000, 1000, NEEDED, TOLD("e_zero")),

    ROUNDING("rounding", A(FMA), WITH(fma.rounding), ELSE(SMMA_ROUND_NEAREST_EVEN), TOLD_IF_OTHER("rho")),

    NUMBER("group", A(GST_FDPA), WITH(gst_fdpa.group), 1, SMMA_MAXIMUM_ROUNDED_K, NEEDED, TOLD("G")),
    NUMBER("alignment_bits", A(GST_FDPA), WITH(gst_fdpa.fused.alignment_bits), 0, 45, NEEDED, TOLD("F")),
    ROUNDING("rounding", A(GST_FDPA), WITH(gst_fdpa.fused.rounding), NEEDED, TOLD("rho"), .told_with = "output"),
    FORMAT("output", A(GST_FDPA), WITH(gst_fdpa.fused.output), OUTPUTS, AS("d")),
    NUMBER("zero_exponent", A(GST_FDPA), WITH(gst_fdpa.fused.zero_exponent), -1000, 1000, NEEDED, TOLD("e_zero")),

    NUMBER("block", A(E_FDPA), WITH(e_fdpa.block), 1, SMMA_MAXIMUM_ROUNDED_K, NEEDED, TOLD("L")),
    NUMBER("pairwise", A(FTZ_ADDMUL), WITH(ftz_addmul.pairwise), 2, 4, NEEDED, TOLD("P")),

    CHOICE("overflow", A(INTEGER), WITH(integer.overflow), integer_overflows, NEEDED, TOLD("overflow")),
    CHOICE("product", A(INTEGER), WITH(integer.product), products, ELSE(SMMA_PRODUCT_MULTIPLIED),
           TOLD_IF_OTHER("product")),
    FLAG("two_stages", A(INTEGER), WITH(integer.two_stages), ELSE(0), TOLD_IF_OTHER("two_stages")),

    NUMBER("alignment_bits", DOWN, WITH(tr_fdpa.alignment_bits), 0, 30, NEEDED, TOLD("F")),
    NUMBER("sum_bits", DOWN, WITH(tr_fdpa.sum_bits), 23, 40, NEEDED, TOLD("F2")),
    NUMBER("block", DOWN, WITH(tr_fdpa.block), 1, SMMA_MAXIMUM_ROUNDED_K, NEEDED, TOLD("L")),
    NUMBER("revision", DOWN, WITH(tr_fdpa.revision), 1, 2, ELSE(2), TOLD("revision")),

    NUMBER("alignment_bits", OPPOSING, WITH(c_fdpa.alignment_bits), 0, 40, NEEDED, TOLD("F")),
    NUMBER("c_bits", OPPOSING, WITH(c_fdpa.c_bits), 0, 40, NEEDED, TOLD("Fc")),
    NUMBER("block", OPPOSING, WITH(c_fdpa.block), 1, SMMA_MAXIMUM_ROUNDED_K, NEEDED, TOLD("L")),
    NUMBER("group", A(GD_FDPA), WITH(c_fdpa.group), 1, SMMA_MAXIMUM_ROUNDED_K, NEEDED, TOLD("G")),
    NUMBER("stride", OPPOSING, WITH(c_fdpa.stride), 1, SMMA_MAXIMUM_ROUNDED_K, ELSE(1), TOLD_IF_OTHER("stride")),
    FORMAT("output", OPPOSING, WITH(c_fdpa.output), FLOATS, AS("d"), TOLD("output")),
    CHOICE("overflow", OPPOSING, WITH(c_fdpa.overflow), overflows, ELSE(SMMA_SUM_TO_INFINITY),
           TOLD_IF_OTHER("overflow")),

    NUMBER("alignment_bits", CHAIN, OF_CHAIN(alignment_bits), 0, SMMA_MOST_ALIGNMENT_BITS, NEEDED, TOLD("F"),
           .word = "exact", .meaning = SMMA_EXACT_ALIGNMENT),
    NUMBER("block", CHAIN, OF_CHAIN(block), 1, SMMA_MAXIMUM_ROUNDED_K, AS("k"), TOLD("L")),
    ROUNDING("rounding", CHAIN, OF_CHAIN(rounding), ELSE(SMMA_ROUND_NEAREST_EVEN), TOLD("rho"), .told_with = "output"),
    FORMAT("output", CHAIN, OF_CHAIN(output), OUTPUTS, AS("d")),
    NUMBER("zero_exponent", CHAIN, OF_CHAIN(zero_exponent), -1000, 1000, ELSE(SMMA_NO_EXPONENT),
           TOLD_IF_OTHER("e_zero"), .word = "none", .meaning = SMMA_NO_EXPONENT),
    ROUNDING("alignment_rounding", CHAIN, OF_CHAIN(alignment_rounding), ELSE(SMMA_ROUND_TOWARD_ZERO),
             TOLD_IF_OTHER("alignment")),
    FLAG("sticky_bit", CHAIN, OF_CHAIN(sticky_bit), ELSE(0), TOLD_IF_OTHER("sticky")),
    CHOICE("product_exponent", CHAIN, OF_CHAIN(product_exponent), exponents, ELSE(SMMA_EXPONENT_OF_FACTORS),
           TOLD_IF_OTHER("products")),
    NUMBER("interleave", CHAIN, OF_CHAIN(interleave), 1, SMMA_MAXIMUM_ROUNDED_K, AS("block"),
           TOLD_IF_OTHER("interleave")),
    CHOICE("c_joins", CHAIN, OF_CHAIN(c_joins), joins, ELSE(SMMA_C_JOINS_FIRST)),
    ROUNDING("c_rounding", CHAIN, OF_CHAIN(c_rounding), ELSE(SMMA_ROUND_NEAREST_EVEN), TOLD("c_last"),
             .told_where = "c_joins"),
    CHOICE("overflow", CHAIN, OF_CHAIN(overflow), overflows, ELSE(SMMA_SUM_TO_INFINITY), TOLD_IF_OTHER("overflow")),
    CHOICE("subnormal_inputs", CHAIN, OF_CHAIN(subnormal_inputs), subnormals, ELSE(SMMA_SUBNORMALS_KEPT),
           TOLD_IF_OTHER("inputs")),
    CHOICE("subnormal_outputs", CHAIN, OF_CHAIN(subnormal_outputs), subnormals, ELSE(SMMA_SUBNORMALS_KEPT),
           TOLD_IF_OTHER("outputs")),
    CHOICE("zero_sign", CHAIN, OF_CHAIN(zero_sign), zeros, ELSE(SMMA_ZERO_POSITIVE), TOLD_IF_OTHER("zero")),

    CHOICE("product", STEPS, WITH(composition.product), products, ELSE(SMMA_PRODUCT_MULTIPLIED),
           TOLD_IF_OTHER("product")),
    CHOICE("subnormal_a", STEPS, WITH(composition.subnormal_a), subnormals, ELSE(SMMA_SUBNORMALS_KEPT),
           TOLD_IF_OTHER("a")),
    CHOICE("subnormal_b", STEPS, WITH(composition.subnormal_b), subnormals, ELSE(SMMA_SUBNORMALS_KEPT),
           TOLD_IF_OTHER("b")),
    CHOICE("subnormal_c", STEPS, WITH(composition.subnormal_c), subnormals, ELSE(SMMA_SUBNORMALS_KEPT),
           TOLD_IF_OTHER("c")),
    FORMAT("widen", STEPS, WITH(composition.widen), FLOATS, ELSE(SMMA_NO_FORMAT), TOLD_IF_OTHER("widen"),
           WORD("none", SMMA_NO_FORMAT)),
    NUMBER("product_limit", STEPS, WITH(composition.product_limit), -1000, 1000, ELSE(SMMA_NONE),
           TOLD_IF_OTHER("limit"), NO_LIMIT),
    FLAG("limit_joins", STEPS, WITH(composition.limit_joins), ELSE(0), TOLD_IF_OTHER("limit_joins")),
    NUMBER("scaled_step", STEPS, WITH(composition.scaled_step), 0, SMMA_MAXIMUM_STEPS - 1, ELSE(0),
           TOLD_IF_OTHER("scaled_step")),
    NUMBER("slice_a", STEPS, WITH(composition.slice_a), 1, 32, ELSE(0), TOLD_IF_OTHER("slice_a"), WORD("whole", 0)),
    NUMBER("slice_b", STEPS, WITH(composition.slice_b), 1, 32, ELSE(0), TOLD_IF_OTHER("slice_b"), WORD("whole", 0)),
    NUMBER("slices_b", STEPS, WITH(composition.slices_b), 1, 32, ELSE(1), TOLD_IF_OTHER("slices_b")),
    NUMBER("block_bits_a", STEPS, WITH(composition.block_bits_a), 1, 53, ELSE(0), TOLD_IF_OTHER("block_bits_a"),
           WORD("whole", 0)),
    NUMBER("block_bits_b", STEPS, WITH(composition.block_bits_b), 1, 53, ELSE(0), TOLD_IF_OTHER("block_bits_b"),
           WORD("whole", 0)),
    NUMBER("block_elements", STEPS, WITH(composition.block_elements), 1, SMMA_MAXIMUM_K, ELSE(0),
           TOLD_IF_OTHER("block_elements"), WORD("all", 0)),
    EVERY_ROUNDING("block_rounding", STEPS, WITH(composition.block_rounding), ELSE(SMMA_ROUND_TOWARD_ZERO),
                   TOLD_IF_OTHER("block_rounding")),
    NUMBER("first_phase", STEPS, WITH(composition.first_phase), 0, 255, ELSE(0), TOLD_IF_OTHER("first_phase")),
    NUMBER("phases", STEPS, WITH(composition.phases), 1, SMMA_MAXIMUM_K, ELSE(1), TOLD_IF_OTHER("phases")),
    NUMBER("zero_product", STEPS, WITH(composition.zero_product), -2000, 2000, ELSE(SMMA_OWN_EXPONENT),
           TOLD_IF_OTHER("zero_product"), WORD("own", SMMA_OWN_EXPONENT)),

    CHOICE("nan", STEPS, OF_RULE(nan), every_nan, ELSE(SMMA_NAN_QUIET)),
    CHOICE("nan", OPPOSING, OF_RULE(nan), nans_of_opposing, ELSE(SMMA_NAN_QUIET)),
    CHOICE("nan", A(FMA), OF_RULE(nan), nans_of_fma, ELSE(SMMA_NAN_QUIET)),
    CHOICE("nan", HAS_NAN, OF_RULE(nan), nans, ELSE(SMMA_NAN_QUIET)),
};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* The keys of the terms, or of the accumulator, of a step (`class`). Their names begin with `before`. The macro
   otherwise(value, key) gives the default of a key. */
#define CUT(class, before, otherwise)                                                                             \
  CHOICE(before "exponent", STEPS, OF_STEP(class.brings), brings, otherwise(SMMA_BRINGS_OWN, "exponent")),        \
      NUMBER(before "exponent_offset", STEPS, OF_STEP(class.offset), -100, 100, otherwise(0, "exponent_offset")), \
      NUMBER(before "least_exponent", STEPS, OF_STEP(class.least), -2000, 2000,                                   \
             otherwise(SMMA_NONE, "least_exponent"), NO_LIMIT),                                                   \
      NUMBER(before "zero_exponent", STEPS, OF_STEP(class.zero_exponent), -2000, 2000,                            \
             otherwise(SMMA_NO_EXPONENT, "zero_exponent"), WORD("none", SMMA_NO_EXPONENT), .other_word = "own",   \
             .other_meaning = SMMA_OWN_EXPONENT),                                                                 \
      NUMBER(before "alignment_bits", STEPS, OF_STEP(class.bits), 0, 100,                                         \
             otherwise(SMMA_KEY_REQUIRED, "alignment_bits"), WORD("exact", SMMA_EXACT_ALIGNMENT)),                \
      EVERY_ROUNDING(before "alignment_rounding", STEPS, OF_STEP(class.rounding),                                 \
                     otherwise(SMMA_ROUND_TOWARD_ZERO, "alignment_rounding")),                                    \
      NUMBER(before "drop", STEPS, OF_STEP(class.drop), 0, 200, otherwise(SMMA_NONE, "drop"), NO_LIMIT),          \
      NUMBER(before "round_again", STEPS, OF_STEP(class.again), 0, 100, otherwise(0, "round_again"))
#define GIVEN(value, key) ELSE(value)
#define AS_OF_TERMS(value, key) AS(key)

/* The keys of a composition's step. The window "all" becomes a number as soon as the number of nodes is known. */
static const smma_key step_keys[] = {
    NUMBER("take", STEPS, OF_STEP(take), 1, SMMA_MAXIMUM_K, NEEDED),
    NUMBER("turn", STEPS, OF_STEP(turn), 1, SMMA_MAXIMUM_K, AS("take")),
    NUMBER("window", STEPS, OF_STEP(window), 1, SMMA_MAXIMUM_K, ELSE(SMMA_NONE), WORD("all", SMMA_NONE)),
    CHOICE("join", STEPS, OF_STEP(join), ways_to_join, NEEDED),
    CHOICE("start", STEPS, OF_STEP(start), starts, ELSE(SMMA_START_NOTHING)),
    NUMBER("chains", STEPS, OF_STEP(chains), 1, SMMA_MAXIMUM_K, ELSE(1)),
    NUMBER("stride", STEPS, OF_STEP(stride), 1, SMMA_MAXIMUM_K, ELSE(1)),
    FLAG("descending", STEPS, OF_STEP(descending), ELSE(0)),
    NUMBER("reference", STEPS, OF_STEP(reference), -2000, 2000, ELSE(SMMA_NONE), WORD("greatest", SMMA_NONE)),
    NUMBER("reference_multiple", STEPS, OF_STEP(reference_multiple), 1, 64, ELSE(1)),
    NUMBER("least_reference", STEPS, OF_STEP(least_reference), -2000, 2000, ELSE(SMMA_NONE), NO_LIMIT),
    CUT(term, "", GIVEN),
    CUT(accumulator, "accumulator_", AS_OF_TERMS),
    CHOICE("opposing", STEPS, OF_STEP(opposing), opposing, ELSE(SMMA_OPPOSING_EXACT)),
    NUMBER("minus_one_shift", STEPS, OF_STEP(minus_one_shift), 0, 60, ELSE(0)),
    NUMBER("width", STEPS, OF_STEP(width), 2, SMMA_MOST_TERM_BITS, ELSE(SMMA_NONE), NO_LIMIT),
    CHOICE("width_overflow", STEPS, OF_STEP(width_overflow), integer_overflows, ELSE(SMMA_INTEGER_WRAPS)),
    NUMBER("narrow_bits", STEPS, OF_STEP(narrow_bits), 0, 52, ELSE(SMMA_NONE), NO_LIMIT),
    EVERY_ROUNDING("narrow_rounding", STEPS, OF_STEP(narrow_rounding), ELSE(SMMA_ROUND_NEAREST_EVEN)),
    FLAG("narrow_subnormals", STEPS, OF_STEP(narrow_subnormals), ELSE(1)),
    FORMAT("output", STEPS, OF_STEP(output), OUTPUTS | F(s32), NEEDED, WORD("none", SMMA_NO_FORMAT)),
    EVERY_ROUNDING("rounding", STEPS, OF_STEP(rounding), ELSE(SMMA_ROUND_NEAREST_EVEN)),
    CHOICE("overflow", STEPS, OF_STEP(overflow), overflows, ELSE(SMMA_SUM_TO_INFINITY)),
    CHOICE("subnormal_outputs", STEPS, OF_STEP(subnormal_outputs), subnormals, ELSE(SMMA_SUBNORMALS_KEPT)),
    FLAG("early_underflow", STEPS, OF_STEP(early_underflow), ELSE(0)),
    CHOICE("zero_sign", STEPS, OF_STEP(zero_sign), zeros, ELSE(SMMA_ZERO_POSITIVE)),
    FLAG("cancelled_is_zero", STEPS, OF_STEP(cancelled_is_zero), ELSE(0)),
};
enum { STEP_KEYS = sizeof step_keys / sizeof step_keys[0] };

_Static_assert(sizeof(smma_format) == sizeof(int) && sizeof(smma_rounding) == sizeof(int),
               "members are read and written as int");

const smma_key *smma_find_key(smma_algorithm algorithm, const char *name, size_t length) {
  for (const smma_key *key = keys; key < keys + KEYS; key++)
    if (key->algorithms >> algorithm & 1 && strlen(key->key) == length && memcmp(key->key, name, length) == 0)
      return key;
  return NULL;
}

const smma_key *smma_next_key(smma_algorithm algorithm, const smma_key *previous) {
  for (const smma_key *key = previous ? previous + 1 : keys; key < keys + KEYS; key++)
    if (key->algorithms >> algorithm & 1 && smma_find_key(algorithm, key->key, strlen(key->key)) == key) return key;
  return NULL;
}

const smma_key *smma_find_step_key(const char *name, size_t length) {
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));)
    if (strlen(key->key) == length && memcmp(key->key, name, length) == 0) return key;
  return NULL;
}

const smma_key *smma_next_step_key(const smma_key *previous) {
  const smma_key *key = previous ? previous + 1 : step_keys;
  return key < step_keys + STEP_KEYS ? key : NULL;
}

static int value_at(const void *values, const smma_key *key) {
  int value;
  memcpy(&value, (const char *)values + key->member, sizeof value);
  return value;
}

int smma_key_of_step(const smma_step *step, const smma_key *key) { return value_at(step, key); }

void smma_set_key_of_step(smma_step *step, const smma_key *key, int value) {
  memcpy((char *)step + key->member, &value, sizeof value);
}

int smma_key_of_rule(const smma_rule *rule, const smma_key *key) { return value_at(rule, key); }

smma_key_values smma_key_values_of(const smma_rule *rule, smma_g_fdpa *g) {
  const smma_composition *p = &rule->with.composition;
  const smma_step *first = &p->step[0];
  /* These formats are not d's format, which is not known here; f32 stands for it. */
  const bool narrow = first->output == SMMA_E8M13 || first->output == SMMA_TF32;
  const bool is_chain =
      rule->algorithm == SMMA_COMPOSITION && smma_is_g_fdpa(p, first->window, narrow ? SMMA_F32 : first->output, g);
  return is_chain ? (smma_key_values){SMMA_KEYS_OF_G_FDPA, g} : (smma_key_values){rule->algorithm, rule};
}

int smma_value_of_key(const smma_key_values *values, const smma_key *key) { return value_at(values->values, key); }

int smma_key_of_chain(const smma_g_fdpa *g, const smma_key *key) { return value_at(g, key); }

void smma_set_key_of_chain(smma_g_fdpa *g, const smma_key *key, int value) {
  memcpy((char *)g + key->member, &value, sizeof value);
}

unsigned smma_operand_formats(void) { return OPERANDS | F(f64); }

unsigned smma_format_bit(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  if (!smma_is_format(format)) return 0;
  if (format <= SMMA_B1) return 1u << format;
  if (f.specials == SMMA_SPECIALS_POWERS_OF_TWO) return 0;
  if (smma_is_integer(format)) return f.bits <= 8 ? SPELLED(INTEGER) : 0;
  if (smma_is_fixed_point(format)) return SPELLED(FIXED);
  if (!smma_is_in_range_of_f32(f) || f.fraction_bits > 23) return SPELLED(WIDE);
  return f.sign_bits ? SPELLED(SIGNED) : SPELLED(UNSIGNED);
}

/* Returns the part of a list of allowed formats that stands for the spelled-out formats in the set `formats`. */
static const char *spelled_words(unsigned formats) {
  switch (formats >> SPELLED_INTEGER) {
    case 0: return "";
    case SPELLED(INTEGER) >> SPELLED_INTEGER: return ", s2 to s8, u2 to u8";
    case SPELLED(SIGNED) >> SPELLED_INTEGER: return ", eXmY within f32";
    case (SPELLED(SIGNED) | SPELLED(UNSIGNED)) >> SPELLED_INTEGER: return ", eXmY and ueXmY within f32";
    case (SPELLED(SIGNED) | SPELLED(UNSIGNED) | SPELLED(WIDE)) >> SPELLED_INTEGER: return ", eXmY, ueXmY";
    default: return ", eXmY, ueXmY, s2 to s8, u2 to u8";
  }
}

void smma_append_text(char *text, size_t size, const char *format, ...) {
  size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

void smma_name_places(const bool *set, int count, char *text, size_t size) {
  *text = 0;
  for (int i = 0; i < count; i++) {
    int last = i;
    if (!set[i]) continue;
    while (last + 1 < count && set[last + 1]) last++;
    if (last < i + 2) last = i;
    smma_append_text(text, size, last > i ? "%s%d to %d" : "%s%d", *text ? ", " : "", i, last);
    i = last;
  }
}

const char *smma_key_allowed(const smma_key *key, char *text, size_t size) {
  const char *comma = "";
  text[0] = 0;
  switch (key->kind) {
    case SMMA_KEY_INTEGER:
      smma_append_text(text, size, "%d to %d", key->least, key->most);
      if (key->word) smma_append_text(text, size, " or \"%s\"", key->word);
      if (key->other_word) smma_append_text(text, size, " or \"%s\"", key->other_word);
      break;
    case SMMA_KEY_FORMAT:
      for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
        if (!(key->formats & smma_format_bit(smma_format_at(row)))) continue;
        smma_append_text(text, size, "%s%s", comma, smma_format_text(smma_format_at(row)));
        comma = ", ";
      }
      smma_append_text(text, size, "%s", spelled_words(key->formats));
      if (key->word) smma_append_text(text, size, "%s%s", comma, key->word);
      break;
    case SMMA_KEY_CHOICE:
    case SMMA_KEY_ROUNDING:
      for (const char *const *word = key->choices; *word; word++, comma = ", ")
        smma_append_text(text, size, "%s%s", comma, *word);
      break;
    case SMMA_KEY_FLAG: smma_append_text(text, size, "false, true"); break;
  }
  return text;
}

bool smma_key_allows(const smma_key *key, int value) {
  int choices = 0;
  switch (key->kind) {
    case SMMA_KEY_FORMAT:
      if (key->word && value == key->meaning) return true;
      return key->formats & smma_format_bit((smma_format)value);
    case SMMA_KEY_CHOICE:
    case SMMA_KEY_ROUNDING:
      while (key->choices[choices]) choices++;
      return value >= 0 && value < choices;
    case SMMA_KEY_INTEGER:
    case SMMA_KEY_FLAG: break;
  }
  return (value >= key->least && value <= key->most) || (key->word && value == key->meaning) ||
         (key->other_word && value == key->other_meaning);
}

static bool is_word(const char *text, const char *word, size_t length) {
  return text && strlen(text) == length && memcmp(text, word, length) == 0;
}

bool smma_key_word(const smma_key *key, const char *word, size_t length, int *value) {
  if (is_word(key->word, word, length)) return *value = key->meaning, true;
  if (is_word(key->other_word, word, length)) return *value = key->other_meaning, true;
  if (key->kind == SMMA_KEY_FORMAT) {
    *value = (int)smma_spelled_from_text(word, length, NULL, 0);
    for (int row = 0; row < SMMA_FORMAT_COUNT; row++)
      if (is_word(smma_format_text(smma_format_at(row)), word, length)) *value = (int)smma_format_at(row);
    return key->formats & smma_format_bit((smma_format)*value);
  }
  if (key->kind == SMMA_KEY_CHOICE || key->kind == SMMA_KEY_ROUNDING)
    for (*value = 0; key->choices[*value]; ++*value)
      if (is_word(key->choices[*value], word, length)) return true;
  return false;
}

const char *smma_key_value(const smma_key *key, int value, char *text, size_t size) {
  const char *word = NULL;
  if (key->word && value == key->meaning) word = key->word;
  if (key->other_word && value == key->other_meaning) word = key->other_word;
  if (!word && key->kind == SMMA_KEY_FORMAT) word = smma_format_text((smma_format)value);
  if (!word && (key->kind == SMMA_KEY_CHOICE || key->kind == SMMA_KEY_ROUNDING)) word = key->choices[value];
  if (!word && key->kind == SMMA_KEY_FLAG) word = value ? "true" : "false";
  if (word)
    snprintf(text, size, "%s", word);
  else
    snprintf(text, size, "%d", value);
  return text;
}
