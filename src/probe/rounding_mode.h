/* Which rounding gives the results seen. Source: MMA-Sim, Tables I and II, and round to odd, which a sticky bit is. */
#ifndef SMMA_PROBE_ROUNDING_MODE_H
#define SMMA_PROBE_ROUNDING_MODE_H

#include <stdbool.h>
#include <stdint.h>

/* A number of units of 2^-bits, rounded to a whole number, is that many. */
typedef struct {
  const char *name;
  int64_t (*round)(int64_t x, int bits);
  bool alike_of_terms; /* rounding one term to the sum's last bit gives what rounding the sum does */
} smma_rounding_mode;

/* Quarters of a unit that tell all modes apart, asked with both signs. */
enum { SMMA_QUARTERS = 4, SMMA_ROUNDING_QUESTIONS = 2 * SMMA_QUARTERS };
extern const int smma_quarters[SMMA_ROUNDING_QUESTIONS];

enum { SMMA_MODE_TOWARD_ZERO, SMMA_MODES = 11 };
extern const smma_rounding_mode smma_rounding_modes[SMMA_MODES];

/* results[i]: what smma_quarters[i] became, in quarters of a unit. NULL if no mode gives them. Nothing rounded is a
   mode too, "not rounded", with no function. */
const smma_rounding_mode *smma_find_rounding_mode(const int64_t results[SMMA_ROUNDING_QUESTIONS]);

#endif
