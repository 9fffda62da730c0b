/* Describes the outcome of a search in words and as data, for all that report it: the command's text, JSON and page,
   and Python. */
#ifndef SMMA_INFER_REPORT_H
#define SMMA_INFER_REPORT_H

#include <stdio.h>

#include "datum/datum.h"
#include "infer/infer.h"

/* Returns "found", "not found", "no function", "stopped" or "found, except NaN encodings". */
const char *smma_infer_outcome_text(smma_infer_outcome outcome);

/* Writes why no model was found, for example "the limit of 1000 rows is reached"; writes an empty text for other
   outcomes. */
enum { SMMA_INFER_REASON_SIZE = 300 };
void smma_describe_infer_reason(const smma_infer_request *request, const smma_inference *found,
                                char text[SMMA_INFER_REASON_SIZE]);

/* Writes how far the limits that the request sets were used, and what each of them limits; writes an empty text if the
   request sets none. */
enum { SMMA_INFER_LIMITS_SIZE = 500 };
void smma_describe_infer_limits(const smma_infer_request *request, const smma_inference *found,
                                char text[SMMA_INFER_LIMITS_SIZE]);

/* Returns the model as an instruction named `name`, or NULL if memory runs out. Release it with smma_custom_release. */
const smma_instruction *smma_inferred_unit(const smma_inference *found, const char *name);

/* Returns a rival as an instruction, like smma_inferred_unit. */
const smma_instruction *smma_inferred_rival(const smma_inference *found, size_t rival, const char *name);

/* Returns the name that the model's NaN policy has in custom units' files, or NULL if the policy is not known. */
const char *smma_inferred_nan(const smma_inference *found);

/* Writes which encodings NaN results have, without a line end; writes an empty text if no result is NaN. */
enum { SMMA_INFERRED_NAN_SIZE = 400 };
void smma_describe_inferred_nan(const smma_instruction *instruction, const smma_inference *found,
                                char text[SMMA_INFERRED_NAN_SIZE]);

/* ---- Neighbours ---- */

/* Returns "excluded", "free" or "undecided". */
const char *smma_infer_neighbour_text(int is);

/* Returns the index of the first neighbour of the next parameter, or found->neighbours after the last parameter.
   Neighbours of one parameter are adjacent in found->neighbour; `at` is the index of one of them. */
size_t smma_next_inferred_key(const smma_inference *found, size_t at);

/* Lists the values in state `is` of the parameter whose first neighbour has index `at`, for example "24, 26". Returns
   "all others" if the key is not a number and all its other values are in this state, and "-" if no value is. Returns
   `text` or a constant. */
enum { SMMA_INFER_VALUES_SIZE = 400 };
const char *smma_infer_values(const smma_inference *found, size_t at, int is, char text[SMMA_INFER_VALUES_SIZE]);

/* Reports whether all neighbours of the parameter whose first neighbour has index `at` are in state `is`. */
bool smma_infer_values_are_all(const smma_inference *found, size_t at, int is);

/* Returns "all" for step -1, "step 1" for 0 and so on, in `text` or as a constant. */
const char *smma_infer_place(int step, char text[SMMA_INFER_VALUES_SIZE]);

/* ---- Vectors that disagree with the model ---- */

enum { SMMA_MISFIT_SIZE = 2200 };

/* Returns the words for a property of vectors, for example "a NaN among operands". */
const char *smma_infer_holding_text(smma_infer_holding holding);

/* Writes how many vectors disagree with the model: new vectors of each kind, or samples. */
void smma_describe_misfit_counts(const smma_inference *found, char text[SMMA_MISFIT_SIZE]);

/* Writes how many of the vectors with a mismatch have each property, for example "every one of them: a subnormal
   factor". Writes an empty text if none has a property. */
void smma_describe_holdings(const smma_infer_misfit *misfit, char text[SMMA_MISFIT_SIZE]);

/* Writes the common properties of misfit->example: positions of nonzero products, exponents of the largest products,
   and whether c is zero. Writes an empty text if there are no examples. */
void smma_describe_misfit(const smma_instruction *instruction, const smma_infer_misfit *misfit,
                          char text[SMMA_MISFIT_SIZE]);

/* ---- Whole reports ---- */

/* Returns the outcome as the record that --json prints. */
smma_datum *smma_inference_datum(const smma_infer_request *request, const smma_inference *found);

/* smma_print_inference_summary prints the outcome without the parameters; smma_print_inference prints all of it.
   `datum` is the complete record of the outcome. */
void smma_print_inference_summary(FILE *stream, const smma_infer_request *request, const smma_inference *found,
                                  const smma_datum *datum);
void smma_print_inference(FILE *stream, const smma_infer_request *request, const smma_inference *found,
                          const smma_datum *datum);

/* Makes the parts of the report's page (page/page.h). Returns false with a message if memory runs out. Free `*page` in
   both cases. */
bool smma_inference_page(const smma_infer_request *request, const smma_inference *found, smma_datum **page,
                         smma_error *error);

/* Writes vectors of the proof as a vector file: with `undecided`, the vectors that would rule out a value or a rival
   model, otherwise those that do rule out a value. The header names the custom unit in file `model` or, if that is
   NULL, the request's instruction. Returns false if memory runs out, or if the stream has failed. */
bool smma_write_inference_rows(FILE *stream, const char *model, const smma_infer_request *request,
                               const smma_inference *found, bool undecided);

#endif
