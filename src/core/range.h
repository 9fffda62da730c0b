/* The ends of a format's range, as encodings. */
#ifndef SMMA_CORE_RANGE_H
#define SMMA_CORE_RANGE_H

#include "format.h"

/* Returns the encoding of the greatest finite number. */
SMMA_CORE uint64_t smma_greatest_of(smma_encoding f) { return smma_largest_fields(f) << f.ignored_bits; }

/* Returns the encoding of the least finite number: the negated greatest; for unsigned formats the number that code 0
   encodes. */
SMMA_CORE uint64_t smma_least_of(smma_encoding f) {
  const uint64_t sign = (uint64_t)f.sign_bits << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  return f.sign_bits ? sign | smma_greatest_of(f) : 0;
}

#endif
