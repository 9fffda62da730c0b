/* A product, or a part of it, as an instruction and a plan compute it, against D. */
#ifndef SMMA_MATCH_COMPARE_H
#define SMMA_MATCH_COMPARE_H

#include "match/match.h"

/* An element of D. */
uint64_t smma_match_d(const smma_match_data *data, size_t i, size_t j);

/* C in an instruction's format, to be freed, NULL without C; `*fits`: that has all of its numbers. False without
   memory. */
bool smma_match_take_c(const smma_match_data *data, const smma_instruction *instruction, void **c, bool *fits);

/* A part of D, `rows` from row i and `columns` from column j on; `c` is the instruction's, the whole of it. */
smma_status smma_match_compare_part(const smma_match_data *data, const smma_instruction *instruction,
                                    const smma_plan *plan, const void *c, size_t i, size_t rows, size_t j,
                                    size_t columns, smma_match_difference *difference);

#endif
