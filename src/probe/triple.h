/* The basic experiment: X + (-X) + small, at three summands. Source: MMA-Sim, III-C and III-D. */
#ifndef SMMA_PROBE_TRIPLE_H
#define SMMA_PROBE_TRIPLE_H

#include "probe/subject.h"

/* Exponents of X and of the least number that the three summands and d have. */
typedef struct {
  int large, least;
} smma_span;

smma_span smma_span_of(const smma_subject *s, int i, int j, int k);

/* Places 2^large at summand i, its negative at j and significand * 2^exponent at k; all others are zero. Returns
   false as smma_place does. */
bool smma_place_triple(const smma_subject *s, smma_row *row, int i, int j, int k, int large, int64_t significand,
                       int exponent);

#endif
