/* Wrong products, as faulty kernels return them, which a test should refuse. */
#ifndef SMMA_TOLERANCE_MUTANTS_H
#define SMMA_TOLERANCE_MUTANTS_H

#include <stdbool.h>

#include "softmma/softmma.h"

typedef enum {
#define SMMA_MUTANT(symbol, name) SMMA_MUTANT_##symbol,
#include "tolerance/mutants.def"
#undef SMMA_MUTANT
  SMMA_MUTANTS
} smma_mutant;

const char *smma_mutant_name(smma_mutant mutant);

/* Reports whether the mutant can differ from the product. A mutant that drops a tile of K needs a K larger than a tile,
   and another storage order needs more than one row. */
bool smma_mutant_applies(smma_mutant mutant, const smma_gemm_arguments *product);

/* Computes the values of D that the faulty kernel stores, in the format `stored`. `right` has those of the correct
   product, M x N. The product's matrices are dense and row-major, with operands. Returns false if memory runs out. */
bool smma_mutant_compute(smma_mutant mutant, const smma_instruction *instruction, const smma_gemm_arguments *product,
                         smma_format stored, const double *right, double *values);

/* Computes the values of D of the correct product. */
bool smma_product_compute(const smma_instruction *instruction, const smma_gemm_arguments *product, smma_format stored,
                          double *values);

#endif
