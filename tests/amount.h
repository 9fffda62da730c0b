/* Amounts of work: numbers that the environment sets, so that one program serves both tiers (tests/CMakeLists.txt). */
#ifndef SOFTMMA_TESTS_AMOUNT_H
#define SOFTMMA_TESTS_AMOUNT_H

#include <stdint.h>
#include <stdlib.h>

/* Returns the number in an environment variable, or `otherwise` if the variable is not set. */
static inline uint64_t amount_of(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Returns a fixed seed plus SOFTMMA_SEED, which `scripts/check --all` draws and prints; set the variable to repeat a
   run. */
static inline uint64_t seed_of(uint64_t fixed) { return fixed + (amount_of("SOFTMMA_SEED", 0) << 32); }

#endif
