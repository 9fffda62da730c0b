#include "probe/triple.h"

smma_span smma_span_of(const smma_subject *s, int i, int j, int k) {
  /* 3 binades below the greatest exponent, so that sums of eight numbers do not overflow */
  smma_span span = {.large = smma_range_of_d(s).greatest - 3, .least = smma_range_of_d(s).least};
  const int summand[] = {i, j, k};
  for (int n = 0; n < 3; n++) {
    const smma_range r = smma_range_of(s, summand[n]);
    if (n < 2) span.large = smma_minimum(span.large, r.greatest);
    if (n == 2) span.least = smma_maximum(span.least, r.least);
  }
  return span;
}

bool smma_place_triple(const smma_subject *s, smma_row *row, int i, int j, int k, int large, int64_t significand,
                       int exponent) {
  *row = smma_blank_row(s);
  return smma_place(s, row, i, 1, large) && smma_place(s, row, j, -1, large) &&
         smma_place(s, row, k, significand, exponent);
}
