/* Lemmas that functions of src/core have no undefined behaviour, for alarms that Frama-C cannot exclude
   (eva/alarms.txt). Compiled with checks for signed overflow, too; the functions' results do not matter. */
#include "core/rule.h"
#include "lemma.h"

static volatile uint64_t result;

/* Fused multiply-adds, additions and products of any numbers of FP64, which has the longest significands. */
LEMMA(defined_fma)(uint64_t x, uint64_t y, uint64_t z, uint8_t direction) {
  const smma_encoding f = smma_encoding_of(SMMA_F64);
  ASSUME(direction <= SMMA_ROUND_TO_ODD);
  result = smma_ieee_fma_in(f, SMMA_NAN_QUIET, (smma_rounding)direction, smma_decode(f, x), smma_decode(f, y),
                            smma_decode(f, z));
  return true;
}

LEMMA(defined_add)(uint64_t x, uint64_t y) {
  result = smma_ieee_add(smma_encoding_of(SMMA_F64), SMMA_NAN_QUIET, x, y);
  return true;
}

/* TR-FDPA and GTR-FDPA from the sums of products on: the catalogue's two revisions, and the greatest parameters of
   custom units. */
static inline bool tr_is_defined(smma_tr_fdpa p, int64_t even, int64_t odd, int e, int f, uint32_t code) {
  const smma_number c = smma_decode(smma_encoding_of(SMMA_F32), code);
  const smma_partial_sum x = {even, e}, y = {odd, f};
  const int64_t most = (int64_t)1 << (p.alignment_bits + 7); /* of 32 products */
  ASSUME(even >= -most && even <= most && odd >= -most && odd <= most && c.kind <= SMMA_FINITE);
  ASSUME((e == SMMA_NO_EXPONENT || (e >= -1000 && e <= 1000)) && (f == SMMA_NO_EXPONENT || (f >= -1000 && f <= 1000)));
  const smma_partial_sum products = smma_join_down(x, y);
  const int emax = smma_tr_fdpa_exponent(products, c);
  result = smma_tr_fdpa_finish(&p, smma_tr_fdpa_align_products(&p, products, emax),
                               smma_align_down(c, emax, p.alignment_bits), emax);
  return true;
}

#define TR_IS_DEFINED(name, ...)                                                          \
  LEMMA(defined_tr_fdpa_##name)(int64_t even, int64_t odd, int e, int f, uint32_t code) { \
    return tr_is_defined((smma_tr_fdpa){__VA_ARGS__}, even, odd, e, f, code);             \
  }
TR_IS_DEFINED(1, 24, 31, 16, 1)
TR_IS_DEFINED(2, 24, 31, 16, 2)
TR_IS_DEFINED(greatest, 30, 40, 64, 2)

/* Alignment of a term, as the lemma `align` has it. */
LEMMA(defined_align)(bool negative, uint64_t significand, int exponent, int fraction_bits, int emax, int bits) {
  ASSUME(exponent >= -10000 && exponent <= emax && emax <= 10000 && fraction_bits >= 0 && fraction_bits <= 46);
  ASSUME(bits >= 0 && bits <= SMMA_MOST_ALIGNMENT_BITS && significand >> (fraction_bits + 12) == 0);
  const smma_number x = {significand, exponent, (int16_t)fraction_bits, SMMA_FINITE, negative};
  result = (uint64_t)(smma_align(x, emax, bits) + smma_align_down(x, emax, bits));
  return true;
}
