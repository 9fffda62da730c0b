/* The result of `infer`, as text. */
#ifndef SMMA_CLI_INFERENCE_H
#define SMMA_CLI_INFERENCE_H

#include "cli/cli.h"
#include "infer/infer.h"

/* The first prints the whole result on stdout, the second only the part above the parameters. `datum` is the result as
   data. */
void smma_print_inference(const smma_infer_request *request, const smma_inference *found, const smma_datum *datum);
void smma_print_inference_summary(FILE *stream, const smma_infer_request *request, const smma_inference *found,
                                  const smma_datum *datum);

#endif
