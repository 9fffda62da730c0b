/* T-FDPA and ST-FDPA: the truncated fused dot-product-add of NVIDIA's units, plain and with UE8M0 scales.
   Source: docs/algorithms/t-fdpa.md and st-fdpa.md; FDA and CoFDA in MMA-Sim, section IV-C and D. */
#ifndef SMMA_CORE_T_FDPA_H
#define SMMA_CORE_T_FDPA_H

#include "policy.h"
#include "term.h"

typedef struct {
  int alignment_bits; /* F: fraction bits below the greatest exponent */
  int block;          /* L: products in one fused sum */
  int zero_exponent;  /* e_zero: exponent of a zero term in the alignment */
  smma_format output;
  smma_rounding rounding; /* rho: rounding of the sum to `output` */
} smma_t_fdpa;

SMMA_CORE int smma_t_fdpa_exponent(const smma_t_fdpa *p, smma_number term) {
  return term.kind == SMMA_ZERO ? p->zero_exponent : term.exponent;
}

/* Returns emax, the greatest exponent of all terms. */
SMMA_CORE int smma_t_fdpa_greatest_exponent(const smma_t_fdpa *p, const smma_number *term, int count) {
  int emax = smma_t_fdpa_exponent(p, term[0]), i;
  for (i = 1; i < count; i++) emax = smma_maximum(emax, smma_t_fdpa_exponent(p, term[i]));
  return emax;
}

/* Computes one block: the rounded sum of `count` terms (products and c), which may be infinite or NaN. A zero result
   is +0, also for a negative sum that rounds to zero (recorded on an H100: docs/evidence.md). */
SMMA_CORE uint64_t smma_t_fdpa_sum(const smma_t_fdpa *p, smma_nan_policy nan, const smma_number *term, int count) {
  smma_encoding output = smma_encoding_of(p->output);
  smma_number special = smma_special_sum(term, count);
  int64_t sum = 0;
  int emax, i;
  if (special.kind != SMMA_FINITE) return smma_encode_special(output, special, nan);
  emax = smma_t_fdpa_greatest_exponent(p, term, count);
  for (i = 0; i < count; i++) sum += smma_align(term[i], emax, p->alignment_bits);
  return smma_with_zero_sign(SMMA_ZERO_ALWAYS_POSITIVE, output,
                             smma_encode_sum(output, sum, emax - p->alignment_bits, p->rounding));
}

#endif
