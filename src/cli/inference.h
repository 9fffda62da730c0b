/* What `infer` found, as text for people. */
#ifndef SMMA_CLI_INFERENCE_H
#define SMMA_CLI_INFERENCE_H

#include "cli/cli.h"
#include "infer/infer.h"

/* Prints it on stdout, and the part above the parameters alone; `datum` is what was found, as data. */
void smma_print_inference(const smma_infer_request *request, const smma_inference *found, const smma_datum *datum);
void smma_print_inference_summary(FILE *stream, const smma_infer_request *request, const smma_inference *found,
                                  const smma_datum *datum);

#endif
