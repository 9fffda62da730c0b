/* Random custom units, the same on every machine. */
#ifndef SOFTMMA_TESTS_RANDOM_UNIT_H
#define SOFTMMA_TESTS_RANDOM_UNIT_H

#include "isa/custom.h"

/* Compositions that are G-FDPA, with a random value of every key; `*p` receives the G-FDPA. */
smma_custom random_unit(uint64_t seed);
smma_custom random_chain(uint64_t seed, smma_g_fdpa *g);

/* Returns a unit of an algorithm of the catalogue, with parameters and formats that no instruction there has. */
smma_custom random_catalogue_unit(uint64_t seed);

/* Returns a unit of any algorithm and K; three of four have formats with many exponents, in which a reduction order can
   be seen. */
smma_custom random_any_unit(uint64_t seed);

/* Returns a composition of one to six steps, with a random value of every key, usual values more often. */
smma_custom random_composition(uint64_t seed);

/* Returns any format that a name can spell out; a format with the parameters of a common format is that format. */
smma_format random_spelled_format(uint64_t *state);

/* Returns a composition like published units, with their formats, structures and truncations, and one property that
   none of them has. */
smma_custom random_realistic_unit(uint64_t seed);

/* Returns a composition of two steps, each with its own bits, rounding mode and structure; K is 4, 8 or 16. */
smma_custom random_two_step_unit(uint64_t seed);

#endif
