/* What `infer` found, as text, JSON and a page. */
#ifndef SMMA_CLI_INFERENCE_H
#define SMMA_CLI_INFERENCE_H

#include "cli/cli.h"
#include "infer/infer.h"

void smma_print_inference(const smma_infer_request *request, const smma_inference *found);
json_t *smma_inference_json(const smma_infer_request *request, const smma_inference *found);

/* HTML that needs no other file: what was found, the parameters beside the catalogue's nearest rule, the summation
   tree, and the picture of a row. */
void smma_write_inference_page(FILE *stream, const smma_infer_request *request, const smma_inference *found);

/* Rows of the proof that shut out a value, or those that would. */
bool smma_write_inference_rows(FILE *stream, const char *model, const smma_infer_request *request,
                               const smma_inference *found, bool undecided);

#endif
