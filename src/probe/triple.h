/* The basic experiment: X + (-X) + small, at three summands. Source: MMA-Sim, III-C and III-D. */
#ifndef SMMA_PROBE_TRIPLE_H
#define SMMA_PROBE_TRIPLE_H

#include "probe/subject.h"

/* Exponents of X and of the least number that the three summands and d have. */
typedef struct {
  int large, least;
} smma_span;

smma_span smma_span_of(const smma_subject *s, int i, int j, int k);

/* Sets summand i to 2^large, j to -2^large and k to significand * 2^exponent; all other summands are zero. Like
   smma_place, returns false if the formats do not have such numbers. */
bool smma_place_triple(const smma_subject *s, smma_row *row, int i, int j, int k, int large, int64_t significand,
                       int exponent);

#endif
