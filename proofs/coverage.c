/* Lemmas on which the impossible events of `coverage` rest. */
#include "coverage/excluded.c"
#include "lemma.h"

/* `count` terms below 2^n have a sum below 2^(n + most_carry). */
LEMMA(most_carry)(uint16_t count, uint64_t term) {
  const parts p = {.count = count};
  ASSUME(count >= 1 && count <= SMMA_MAXIMUM_K + 1 && term >> 50 == 0);
  return (count * term) >> 50 >> most_carry(&p) == 0;
}
