/* What was found in words and groups, for whoever reports it: the command as text, JSON and a page, and Python. */
#ifndef SMMA_INFER_REPORT_H
#define SMMA_INFER_REPORT_H

#include "infer/infer.h"

/* "found", "not found", "no function", "stopped", "found, except NaN encodings". */
const char *smma_infer_outcome_text(smma_infer_outcome outcome);

/* The model as an instruction of its own, named `name`; NULL without memory. Release it with smma_custom_release. */
const smma_instruction *smma_inferred_unit(const smma_inference *found, const char *name);

/* The same of a rival. */
const smma_instruction *smma_inferred_rival(const smma_inference *found, size_t rival, const char *name);

/* The word that custom units have for the model's NaN; NULL where it cannot be told. */
const char *smma_inferred_nan(const smma_inference *found);

/* Says what encodings NaN have, in a line without its end; empty where no result is NaN. */
enum { SMMA_INFERRED_NAN_SIZE = 400 };
void smma_describe_inferred_nan(const smma_instruction *instruction, const smma_inference *found,
                                char text[SMMA_INFERRED_NAN_SIZE]);

/* ---- Neighbours ---- */

/* "shut out", "free", "undecided". */
const char *smma_infer_neighbour_text(int is);

/* Neighbours of one parameter stand side by side: the first of the next one's, behind the one at `at`. */
size_t smma_next_inferred_key(const smma_inference *found, size_t at);

/* ---- Rows that the model does not have ---- */

enum { SMMA_MISFIT_SIZE = 1000 };

/* What the simplest of them have in common: the places of products, the exponents of the greatest, whether c takes
   part; empty if there is none. */
void smma_describe_misfit(const smma_instruction *instruction, const smma_infer_misfit *misfit,
                          char text[SMMA_MISFIT_SIZE]);

#endif
