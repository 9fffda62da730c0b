/* Custom units at random, the same on every machine. */
#ifndef SOFTMMA_TESTS_RANDOM_UNIT_H
#define SOFTMMA_TESTS_RANDOM_UNIT_H

#include "isa/custom.h"

/* Compositions that are G-FDPA, with every key of that at random; and which it is. */
smma_custom random_unit(uint64_t seed);
smma_custom random_chain(uint64_t seed, smma_g_fdpa *g);

/* Of an algorithm of the catalogue, with other parameters and formats than any instruction there. */
smma_custom random_catalogue_unit(uint64_t seed);

/* Of any algorithm and K; of every four, three in formats of many exponents, in which an order can be seen. */
smma_custom random_any_unit(uint64_t seed);

/* Compositions: of one to six steps, every key at random, usual values more often. */
smma_custom random_composition(uint64_t seed);

/* Any format that a name spells out; where that has the parameters of a usual one, that. */
smma_format random_spelled_format(uint64_t *state);

/* Compositions as published units are: their formats, structures, and cuts; one thing at a time that none of them has.
 */
smma_custom random_realistic_unit(uint64_t seed);

/* Compositions of two steps, each with bits, rounding and structure of its own; K is 4, 8 or 16. */
smma_custom random_two_step_unit(uint64_t seed);

#endif
