/* What was found in words and groups, for whoever reports it: the command as text, JSON and a page, and Python. */
#ifndef SMMA_INFER_REPORT_H
#define SMMA_INFER_REPORT_H

#include "infer/infer.h"

/* "found", "not found", "no function", "stopped", "found, except NaN encodings". */
const char *smma_infer_outcome_text(smma_infer_outcome outcome);

/* Says why no model was found, as "the budget of ... is spent"; empty for other outcomes. */
enum { SMMA_INFER_REASON_SIZE = 300 };
void smma_describe_infer_reason(const smma_infer_request *request, const smma_inference *found,
                                char text[SMMA_INFER_REASON_SIZE]);

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

/* What a row holds: "a NaN among operands". */
const char *smma_infer_holding_text(smma_infer_holding holding);

/* Says how many of them hold what: "every one of them: a subnormal factor". Empty if they share nothing of the kinds
   that are looked for. */
void smma_describe_holdings(const smma_infer_misfit *misfit, char text[SMMA_MISFIT_SIZE]);

/* What the simplest of them have in common: the places of products, the exponents of the greatest, whether c takes
   part; empty if there is none. */
void smma_describe_misfit(const smma_instruction *instruction, const smma_infer_misfit *misfit,
                          char text[SMMA_MISFIT_SIZE]);

#endif
