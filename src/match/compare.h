/* Compares D with the product, or a part of it, that an instruction and a plan compute. */
#ifndef SMMA_MATCH_COMPARE_H
#define SMMA_MATCH_COMPARE_H

#include "match/match.h"

/* Returns an element of D. */
uint64_t smma_match_d(const smma_match_data *data, size_t i, size_t j);

/* Converts C to an instruction's format. The caller frees `*c`, which is NULL if there is no C. Sets `*fits` to whether
   the format can represent every number of C. Returns false if memory runs out. */
bool smma_match_take_c(const smma_match_data *data, const smma_instruction *instruction, void **c, bool *fits);

/* Converts the first `columns` columns of a matrix, whose rows are `leading` elements apart, and adds the number of
   values that this changes to `*changed`. The caller frees the result; it is NULL if memory runs out. */
void *smma_match_convert(smma_format from, const void *x, size_t rows, size_t columns, size_t leading, smma_format to,
                         size_t *changed);

/* Compares the first rows and columns of D with the product by the instruction and the plan (NULL: a single chain).
   `c` is the whole C in the instruction's format. */
smma_status smma_match_compare_part(const smma_match_data *data, const smma_instruction *instruction,
                                    const smma_plan *plan, const void *c, size_t rows, size_t columns,
                                    smma_match_difference *difference);

#endif
