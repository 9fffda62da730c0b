/* What was found in words and groups, for whoever reports it: the command as text, JSON and a page, and Python. */
#ifndef SMMA_INFER_REPORT_H
#define SMMA_INFER_REPORT_H

#include <stdio.h>

#include "datum/datum.h"
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

/* Lists those neighbours, of the parameter whose first one is at `at`, that are so: "24, 26", "all others" of words,
   "-" of none. Returns `text`. */
enum { SMMA_INFER_VALUES_SIZE = 400 };
const char *smma_infer_values(const smma_inference *found, size_t at, int is, char text[SMMA_INFER_VALUES_SIZE]);

/* Returns whether all neighbours of the parameter are so. */
bool smma_infer_values_are_all(const smma_inference *found, size_t at, int is);

/* "all" for step -1; "step 1" for 0. Returns `text`, or a constant. */
const char *smma_infer_place(int step, char text[SMMA_INFER_VALUES_SIZE]);

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

/* ---- The whole ---- */

/* Returns what was found as a record: what --json prints. */
smma_datum *smma_inference_datum(const smma_infer_request *request, const smma_inference *found);

/* Makes the parts of a page (page/page.h) of it, with a summary in lines. Returns false with one line without memory.
   Free
   `*page` in both cases. */
bool smma_inference_page(const smma_infer_request *request, const smma_inference *found, const char *summary,
                         smma_datum **page, smma_error *error);

/* Writes rows of the proof as a vector file: those that shut out a value or, with `undecided`, those that would. They
   are of the unit in the file `model`, or (NULL) of the request's instruction. Returns false without memory, or where
   the stream has failed. */
bool smma_write_inference_rows(FILE *stream, const char *model, const smma_infer_request *request,
                               const smma_inference *found, bool undecided);

#endif
