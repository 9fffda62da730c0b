/* Which rounding gives the results seen. Source: MMA-Sim, Tables I and II, and round to odd, which a sticky bit is. */
#ifndef SMMA_PROBE_ROUNDING_MODE_H
#define SMMA_PROBE_ROUNDING_MODE_H

#include <stdbool.h>
#include <stdint.h>

/* Quarters of a unit that tell all modes apart, asked with both signs. */
enum { SMMA_QUARTERS = 4, SMMA_ROUNDING_QUESTIONS = 2 * SMMA_QUARTERS };
extern const int smma_quarters[SMMA_ROUNDING_QUESTIONS];

/* results[i]: what smma_quarters[i] became, in quarters of a unit. The mode's name; NULL if no mode gives them. Nothing
   rounded is a mode too: "not rounded". */
const char *smma_rounding_mode(const int64_t results[SMMA_ROUNDING_QUESTIONS]);

#endif
