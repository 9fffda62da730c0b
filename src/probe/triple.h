/* The basic experiment: adds X, -X and a small number at three summands. Source: MMA-Sim, III-C and III-D. */
#ifndef SMMA_PROBE_TRIPLE_H
#define SMMA_PROBE_TRIPLE_H

#include "probe/subject.h"

/* Exponents that the three summands and d can have: of X, and of the least small number. */
typedef struct {
  int large, least;
} smma_span;

/* Returns the exponents for X at summand i, -X at j and the small number at k. */
smma_span smma_span_of(const smma_subject *s, int i, int j, int k);

/* Sets summand i to 2^large, j to -2^large and k to significand * 2^exponent, and all other summands to zero. Returns
   false if the formats do not have such numbers. */
bool smma_place_triple(const smma_subject *s, smma_row *row, int i, int j, int k, int large, int64_t significand,
                       int exponent);

#endif
