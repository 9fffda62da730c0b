/* Defines the rules of rules.def, each with its evidence and open questions, for the instructions of the catalogue. */
#include "isa/compose.h"
#include "isa/format_name.h"
#include "isa/instruction.h"

#define SMMA_EVIDENCE(name, basis, text) static const char name[] = text;
#include "isa/evidence.def"
#undef SMMA_EVIDENCE
#define SMMA_QUESTION(name, text) static const char name[] = text;
#include "isa/questions.def"
#undef SMMA_QUESTION

#define NONE NULL
#define EVIDENCE(...) ((const char *const[]){__VA_ARGS__, NULL})
#define QUESTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FP8_BY_FP16_QUESTIONS(...) QUESTIONS(__VA_ARGS__)
#define GST_FDPA_QUESTIONS(...) QUESTIONS(__VA_ARGS__)
#define INTEGER_QUESTIONS(...) ((const char *const[]){__VA_ARGS__, NULL}) /* the order of exact sums does not matter */
#define HOPPER_MMA_EVIDENCE(...) EVIDENCE(MMA_ON_H100, __VA_ARGS__)
#define HOPPER_WGMMA_EVIDENCE(...) EVIDENCE(WGMMA_ON_H100, __VA_ARGS__)
#define HOPPER_INTEGER_MMA_EVIDENCE(...) EVIDENCE(INTEGER_MMA_ON_H100, __VA_ARGS__)
#define HOPPER_INTEGER_WGMMA_EVIDENCE(...) EVIDENCE(INTEGER_WGMMA_ON_H100, __VA_ARGS__)
#define TCGEN05_EVIDENCE(...) EVIDENCE(RECORDED_B200_TCGEN05, __VA_ARGS__)
#define TCGEN05_SCALED_EVIDENCE(...) TCGEN05_EVIDENCE(__VA_ARGS__)
#define TCGEN05_F16_EVIDENCE(...) EVIDENCE(RECORDED_B200_TCGEN05, __VA_ARGS__)

#define FUSED(algorithm, nan, F, L, e_zero, format, direction)                      \
  {                                                                                 \
    algorithm, nan, {                                                               \
      .t_fdpa = { F, L, e_zero, SMMA_FORMAT_NAMED(format), SMMA_ROUND_##direction } \
    }                                                                               \
  }
#define T_FDPA(...) FUSED(SMMA_T_FDPA, SMMA_NAN_ALL_ONES, __VA_ARGS__)
#define ST_FDPA(...) FUSED(SMMA_ST_FDPA, SMMA_NAN_ALL_ONES, __VA_ARGS__)
#define FP8_BY_FP16(...) FUSED(SMMA_FP8_BY_FP16, SMMA_NAN_ALL_ONES, __VA_ARGS__)
#define GST_FDPA(G, F, e_zero)                                                                     \
  {                                                                                                \
    SMMA_GST_FDPA, SMMA_NAN_ALL_ONES, {                                                            \
      .gst_fdpa = { G, {F, SMMA_MAXIMUM_ROUNDED_K / G, e_zero, SMMA_F32, SMMA_ROUND_TOWARD_ZERO} } \
    }                                                                                              \
  }
#define TR_FDPA(algorithm, F, F2, L, revision) \
  {                                            \
    SMMA_##algorithm, SMMA_NAN_QUIET, {        \
      .tr_fdpa = { F, F2, L, revision }        \
    }                                          \
  }
#define OPPOSING(algorithm, nan, L, G, stride, format, overflow)                         \
  {                                                                                      \
    SMMA_##algorithm, SMMA_NAN_##nan, {                                                  \
      .c_fdpa = { 24, 26, L, stride, SMMA_FORMAT_NAMED(format), SMMA_SUM_##overflow, G } \
    }                                                                                    \
  }
#define C_FDPA(format, overflow) OPPOSING(C_FDPA, BY_SOURCE, 2, 0, 1, format, overflow)
#define GD_FDPA(stride, format, overflow) OPPOSING(GD_FDPA, BY_SOURCE, 4, 2, stride, format, overflow)
#define GD_FDPA_FP8(stride) OPPOSING(GD_FDPA, MARKED, 4, 4, stride, f32, TO_INFINITY)
#define E_FDPA(L)                  \
  {                                \
    SMMA_E_FDPA, SMMA_NAN_QUIET, { \
      .e_fdpa = { L }              \
    }                              \
  }
#define FTZ_ADDMUL(P)                  \
  {                                    \
    SMMA_FTZ_ADDMUL, SMMA_NAN_QUIET, { \
      .ftz_addmul = { P }              \
    }                                  \
  }
#define INTEGER_OF(product, two_stages, overflow)                                \
  {                                                                              \
    SMMA_INTEGER, SMMA_NAN_QUIET, {                                              \
      .integer = { SMMA_INTEGER_##overflow, two_stages, SMMA_PRODUCT_##product } \
    }                                                                            \
  }
#define INTEGER_IN(two_stages, overflow) INTEGER_OF(MULTIPLIED, two_stages, overflow)
#define INTEGER(overflow) INTEGER_IN(0, overflow)
#define INTEGER_XOR(overflow) INTEGER_OF(XOR, 0, overflow)
#define FMA_WITH(policy, direction)                                                                    \
  {                                                                                                    \
    .algorithm = SMMA_FMA, .nan = SMMA_NAN_##policy, .with.fma = {.rounding = SMMA_ROUND_##direction } \
  }
#define FMA() FMA_WITH(QUIET, NEAREST_EVEN)
#define FTZ_FMA() \
  { .algorithm = SMMA_FTZ_FMA, .nan = SMMA_NAN_OPERAND }

/* A composition of `count` steps with scale factors. The scale factors multiply the products if `scaled` is 0,
   otherwise the sums of step number `scaled`, from 1. */
#define COMPOSED(nan_policy, of_a, of_b, of_c, scaled, count, ...)                     \
  {                                                                                    \
    .algorithm = SMMA_COMPOSITION, .nan = SMMA_NAN_##nan_policy, .with.composition = { \
      .subnormal_a = SMMA_SUBNORMALS_##of_a,                                           \
      .subnormal_b = SMMA_SUBNORMALS_##of_b,                                           \
      .subnormal_c = SMMA_SUBNORMALS_##of_c,                                           \
      .widen = SMMA_NO_FORMAT,                                                         \
      .product_limit = SMMA_NONE,                                                      \
      .slices_b = 1,                                                                   \
      .block_rounding = SMMA_ROUND_TOWARD_ZERO,                                        \
      .phases = 1,                                                                     \
      .zero_product = SMMA_OWN_EXPONENT,                                               \
      .scaled_step = scaled,                                                           \
      .steps = count,                                                                  \
      .step = {__VA_ARGS__}                                                            \
    }                                                                                  \
  }
#define IN_STEPS(nan, subnormals, count, ...) COMPOSED(nan, subnormals, subnormals, subnormals, 0, count, __VA_ARGS__)
#define ROUNDED(count, way, format, direction, subnormals)                                           \
  SMMA_EXACT_STEP(count, SMMA_FORMAT_NAMED(format), SMMA_ROUND_##direction, .join = SMMA_JOIN_##way, \
                  .start = SMMA_JOIN_##way == SMMA_JOIN_CHAIN ? SMMA_START_C : SMMA_START_NOTHING,   \
                  .subnormal_outputs = SMMA_SUBNORMALS_##subnormals)
/* Sums of pairs: two products, or their two rounded values, are added, then the accumulator, one pair after another. */
#define PAIRS(nan, format, direction, subnormals)                                \
  IN_STEPS(nan, subnormals, 3, ROUNDED(1, APART, format, direction, subnormals), \
           ROUNDED(2, APART, format, direction, subnormals), ROUNDED(1, CHAIN, format, direction, subnormals))
#define FUSED_PAIRS(nan) \
  IN_STEPS(nan, KEPT, 2, ROUNDED(2, APART, f32, NEAREST_EVEN, KEPT), ROUNDED(1, CHAIN, f32, NEAREST_EVEN, KEPT))

/* A pair has the precision of binary32 and the exponent range of binary64. */
#define WIDE_PAIRS(nan)                                                                                            \
  IN_STEPS(nan, KEPT, 2, SMMA_NARROWED_STEP(2, SMMA_F64, SMMA_ROUND_NEAREST_EVEN, 23, 0, .join = SMMA_JOIN_APART), \
           ROUNDED(1, CHAIN, f32, NEAREST_EVEN, KEPT))

/* AMX flushes subnormal results as FTZ-FMA does: it first rounds the sum as if exponents were unlimited, then
   flushes. */
#define FLUSHED(count, nodes, chain_count, ...)                                        \
  SMMA_DEALT_STEP(count, nodes, chain_count, SMMA_F32, SMMA_ROUND_NEAREST_EVEN, 23, 0, \
                  .subnormal_outputs = SMMA_SUBNORMALS_TO_SIGNED_ZERO, .early_underflow = 1, __VA_ARGS__)
/* AMX: nodes with even and with odd index form two chains, which start from zero; then both sums are added, then c. */
#define TWO_CHAINS(nodes)                                                  \
  FLUSHED(1, nodes, 2, .join = SMMA_JOIN_CHAIN, .start = SMMA_START_ZERO), \
      ROUNDED(2, APART, f32, NEAREST_EVEN, TO_SIGNED_ZERO), ROUNDED(1, CHAIN, f32, NEAREST_EVEN, TO_SIGNED_ZERO)
/* AMX: the chains add products by fused multiply-adds. FP16 factors count as normal, because they are converted to
   FP32, which represents all of them as normal numbers. */
#define EVEN_AND_ODD(count, of_factors) COMPOSED(QUIET, of_factors, of_factors, TO_SIGNED_ZERO, 0, 3, TWO_CHAINS(count))
/* AMX-FP8: the chains add rounded sums of two products. */
#define EVEN_AND_ODD_PAIRS(count, of_a, of_b)                                                             \
  COMPOSED(QUIET, of_a, of_b, TO_SIGNED_ZERO, 0, 4, ROUNDED(2, APART, f32, NEAREST_EVEN, TO_SIGNED_ZERO), \
           TWO_CHAINS(count / 2))

#define CUT_AT(fraction, direction)                                                                              \
  {                                                                                                              \
    .least = SMMA_NONE, .zero_exponent = SMMA_NO_EXPONENT, .bits = fraction, .rounding = SMMA_ROUND_##direction, \
    .drop = SMMA_NONE                                                                                            \
  }
/* Sums of `count` consecutive nodes, aligned at `fraction` bits below the reference. */
#define ALIGNED(count, at, fraction, direction, format)                                                                \
  {                                                                                                                    \
    .take = count, .turn = count, .window = count, .join = SMMA_JOIN_APART, .chains = 1, .stride = 1, .reference = at, \
    .reference_multiple = 1, .least_reference = SMMA_NONE, .term = CUT_AT(fraction, direction),                        \
    .accumulator = CUT_AT(fraction, direction), .width = SMMA_NONE, .narrow_bits = SMMA_NONE, .narrow_subnormals = 1,  \
    .output = format, .rounding = SMMA_ROUND_##direction                                                               \
  }
/* ACE: the exact sum of four products of FP8 or MXINT8, which are multiples of 2^-32, times their scale factors, is
   rounded; then c is added. */
#define SCALED_FOUR()                                                                               \
  COMPOSED(QUIET, KEPT, KEPT, TO_SIGNED_ZERO, 1, 3, ALIGNED(4, 0, 32, TOWARD_ZERO, SMMA_NO_FORMAT), \
           FLUSHED(1, 1, 1, .join = SMMA_JOIN_APART), ROUNDED(1, CHAIN, f32, NEAREST_EVEN, TO_SIGNED_ZERO))

/* RISC-V's bulk normalization: n products are aligned to the greatest exponent, with log2(n) guard bits and a sticky
   bit. Their sum is rounded to odd, and so is its sum with c. */
#define BULK(n, guard) \
  IN_STEPS(DEFAULT, KEPT, 2, ALIGNED(n, SMMA_NONE, 23 + guard, TO_ODD, SMMA_F32), ROUNDED(1, CHAIN, f32, TO_ODD, KEPT))
/* Each product is rounded, then added to the sum, which starts as c. */
#define MULTIPLY_THEN_ADD(nan, format) \
  IN_STEPS(nan, KEPT, 2, ROUNDED(1, APART, format, NEAREST_EVEN, KEPT), ROUNDED(1, CHAIN, format, NEAREST_EVEN, KEPT))

/* Tenstorrent: the products of 7-bit slices of a (SrcB) and 5-bit slices of b (SrcA) are aligned in two groups of
   eight; the two sums and the accumulator are aligned again and added. For results of 16 bits, the aligned terms are
   rounded a second time, to `more` bits less. `bits` is the number of fraction bits of results, `least` their least
   exponent. */
#define TENSIX_CUT(fraction, direction, zero, more)                                                  \
  {                                                                                                  \
    .least = SMMA_NONE, .zero_exponent = zero, .bits = fraction, .rounding = SMMA_ROUND_##direction, \
    .drop = SMMA_NONE, .again = more                                                                 \
  }
#define TENSIX_GROUPS(zero, least)                                                                                \
  {                                                                                                               \
    .take = 8, .turn = 8, .window = 8, .join = SMMA_JOIN_APART, .chains = 1, .stride = 1, .reference = SMMA_NONE, \
    .reference_multiple = 1, .least_reference = least, .term = TENSIX_CUT(10, NEAREST_AWAY, zero, 0),             \
    .accumulator = TENSIX_CUT(10, NEAREST_AWAY, zero, 0), .width = SMMA_NONE, .narrow_bits = SMMA_NONE,           \
    .narrow_subnormals = 1, .output = SMMA_NO_FORMAT                                                              \
  }
#define TENSIX_SUM(zero, least, more, shift, bits, format, on_overflow)                                                \
  {                                                                                                                    \
    .take = 2, .turn = 2, .window = 2, .join = SMMA_JOIN_CHAIN, .start = SMMA_START_C, .chains = 1, .stride = 1,       \
    .reference = SMMA_NONE, .reference_multiple = 1, .least_reference = least,                                         \
    .term = TENSIX_CUT(23, NEAREST_UP, zero, more),                                                                    \
    .accumulator = TENSIX_CUT(23, NEAREST_AWAY, SMMA_NO_EXPONENT, more), .minus_one_shift = shift, .width = SMMA_NONE, \
    .narrow_bits = bits, .narrow_rounding = SMMA_ROUND_NEAREST_AWAY, .output = SMMA_FORMAT_NAMED(format),              \
    .overflow = SMMA_SUM_##on_overflow, .subnormal_outputs = SMMA_SUBNORMALS_TO_POSITIVE_ZERO, .early_underflow = 1,   \
    .zero_sign = SMMA_ZERO_ALWAYS_POSITIVE                                                                             \
  }
#define TENSIX(count, zero_factor, groups, sum)                                   \
  {                                                                               \
    .algorithm = SMMA_COMPOSITION, .nan = SMMA_NAN_NUMBERS, .with.composition = { \
      .subnormal_a = SMMA_SUBNORMALS_TO_SIGNED_ZERO,                              \
      .subnormal_b = SMMA_SUBNORMALS_TO_SIGNED_ZERO,                              \
      .subnormal_c = SMMA_SUBNORMALS_TO_SIGNED_ZERO,                              \
      .widen = SMMA_NO_FORMAT,                                                    \
      .product_limit = SMMA_NONE,                                                 \
      .slice_a = 7,                                                               \
      .slice_b = 5,                                                               \
      .slices_b = 2,                                                              \
      .block_rounding = SMMA_ROUND_TOWARD_ZERO,                                   \
      .phases = count,                                                            \
      .zero_product = zero_factor,                                                \
      .steps = 2,                                                                 \
      .step = {groups, sum}                                                       \
    }                                                                             \
  }
#define TENSIX_16(phases, bits, format, least, overflow)                    \
  TENSIX(phases, SMMA_OWN_EXPONENT, TENSIX_GROUPS(SMMA_NO_EXPONENT, least), \
         TENSIX_SUM(SMMA_NO_EXPONENT, least, 13, 0, bits, format, overflow))
#define TENSIX_F32(phases, shift)                                          \
  TENSIX(phases, SMMA_OWN_EXPONENT, TENSIX_GROUPS(SMMA_NO_EXPONENT, -126), \
         TENSIX_SUM(SMMA_NO_EXPONENT, -126, 0, shift, 23, f32, TO_INFINITY))
/* A zero factor in FP16 has the exponent -15, so its product has -30. The sum of a group of zeros takes part in the
   alignment with the exponent of its products. */
#define TENSIX_F32_OF_F16(phases, shift)                      \
  TENSIX(phases, -30, TENSIX_GROUPS(SMMA_OWN_EXPONENT, -126), \
         TENSIX_SUM(SMMA_OWN_EXPONENT, -126, 0, shift, 23, f32, TO_INFINITY))

#define SMMA_RULE(name, rule, evidence, questions) \
  const smma_named_rule smma_rule_##name = {#name, rule, evidence, questions};
#include "isa/rules.def"
#undef SMMA_RULE

#undef EVIDENCE
#undef QUESTIONS
#undef FP8_BY_FP16_QUESTIONS
#undef GST_FDPA_QUESTIONS
#undef HOPPER_MMA_EVIDENCE
#undef HOPPER_WGMMA_EVIDENCE
#undef HOPPER_INTEGER_MMA_EVIDENCE
#undef HOPPER_INTEGER_WGMMA_EVIDENCE
#undef TCGEN05_EVIDENCE
#undef TCGEN05_SCALED_EVIDENCE
#undef TCGEN05_F16_EVIDENCE
#define EVIDENCE(...) ((const char *const[]){SPARSE_ASSUMED, NULL})
#define QUESTIONS(...) ((const char *const[]){SPARSE_RULE, __VA_ARGS__, NULL})
#define FP8_BY_FP16_QUESTIONS(...) ((const char *const[]){SPARSE_FP8, __VA_ARGS__, NULL})
#define GST_FDPA_QUESTIONS(...) ((const char *const[]){SPARSE_GROUPS, __VA_ARGS__, NULL})
#define HOPPER_MMA_EVIDENCE(...) ((const char *const[]){MMA_ON_H100, NULL})
#define HOPPER_WGMMA_EVIDENCE(...) ((const char *const[]){WGMMA_ON_H100, NULL})
#define HOPPER_INTEGER_MMA_EVIDENCE(...) ((const char *const[]){INTEGER_MMA_ON_H100, NULL})
#define HOPPER_INTEGER_WGMMA_EVIDENCE(...) ((const char *const[]){INTEGER_WGMMA_ON_H100, NULL})
#define TCGEN05_EVIDENCE(...) ((const char *const[]){REPORTED_B200_SPARSE, NULL})
#define TCGEN05_F16_EVIDENCE(...) EVIDENCE()
#define TCGEN05_SCALED_EVIDENCE(...) ((const char *const[]){RECORDED_B200_SPARSE, REPORTED_B200_SPARSE, NULL})
#define SMMA_RULE(name, rule, evidence, questions) \
  const smma_named_rule smma_sparse_rule_##name = {#name, rule, evidence, questions};
#include "isa/rules.def"
#undef SMMA_RULE

smma_basis smma_basis_of_rule(const smma_named_rule *rule) {
  static const struct {
    const char *text;
    smma_basis basis;
  } all[] = {
#define SMMA_EVIDENCE(name, basis, text) {name, SMMA_BASIS_##basis},
#include "isa/evidence.def"
#undef SMMA_EVIDENCE
  };
  smma_basis best = SMMA_BASIS_ASSUMED;
  for (const char *const *text = rule->evidence; *text; text++)
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      if (all[i].text == *text && all[i].basis < best) best = all[i].basis;
  return best;
}
