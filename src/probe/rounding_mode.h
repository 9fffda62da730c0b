/* Finds the rounding mode that gives the observed results. The modes are those of MMA-Sim, Tables I and II, and round
   to odd, which a sticky bit implements. */
#ifndef SMMA_PROBE_ROUNDING_MODE_H
#define SMMA_PROBE_ROUNDING_MODE_H

#include <stdbool.h>
#include <stdint.h>

/* A rounding mode. `round` rounds x * 2^-bits to an integer. */
typedef struct {
  const char *name;
  int64_t (*round)(int64_t x, int bits);
  bool alike_of_terms; /* rounding one term to the sum's last bit gives the same result as rounding the sum */
} smma_rounding_mode;

/* smma_quarters are numbers of quarters of an ulp, with both signs. The results for these distinguish all modes. */
enum { SMMA_QUARTERS = 4, SMMA_ROUNDING_QUESTIONS = 2 * SMMA_QUARTERS };
extern const int smma_quarters[SMMA_ROUNDING_QUESTIONS];

enum { SMMA_MODE_TOWARD_ZERO, SMMA_MODES = 11 };
extern const smma_rounding_mode smma_rounding_modes[SMMA_MODES];

/* Finds the mode; results[i] is the result for smma_quarters[i], in quarters of an ulp. Returns NULL if no mode gives
   these results. If nothing was rounded, returns the mode "not rounded", whose function is NULL. */
const smma_rounding_mode *smma_find_rounding_mode(const int64_t results[SMMA_ROUNDING_QUESTIONS]);

#endif
