/* Random custom units, the same on every machine. */
#ifndef SOFTMMA_TESTS_RANDOM_UNIT_H
#define SOFTMMA_TESTS_RANDOM_UNIT_H

#include "isa/custom.h"

/* Return compositions that are G-FDPA, with a random value of every key. `*g` receives the parameters of G-FDPA. */
smma_custom random_unit(uint64_t seed);
smma_custom random_chain(uint64_t seed, smma_g_fdpa *g);

/* Returns a unit whose algorithm is in the catalogue, with parameters and formats that no instruction of the catalogue
   has. */
smma_custom random_catalogue_unit(uint64_t seed);

/* Returns a unit of any algorithm and K. Three of four units have formats with wide exponent ranges, in which a
   reduction order is visible. */
smma_custom random_any_unit(uint64_t seed);

/* Returns a composition of one to six steps, with a random value of every key, usual values more often. */
smma_custom random_composition(uint64_t seed);

/* Returns any format that a name can spell out; a format with the parameters of a common format is that format. */
smma_format random_spelled_format(uint64_t *state);

/* Returns a composition similar to published units: it has their formats, structures and truncations, and one property
   that no published unit has. */
smma_custom random_realistic_unit(uint64_t seed);

/* Returns a composition of two steps, each with its own bits, rounding mode and structure; K is 4, 8 or 16. */
smma_custom random_two_step_unit(uint64_t seed);

/* Returns such a unit that aligns in steps of 4, 8 or 16 places, and whose unrounded sums are zeros if they cancel. */
smma_custom random_coarse_unit(uint64_t seed);

#endif
