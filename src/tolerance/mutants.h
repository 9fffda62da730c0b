/* Wrong products that a test should refuse: what faulty kernels return. */
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

/* Whether it differs from the product at all: a tile of K needs more of K, another order more than a row. */
bool smma_mutant_applies(smma_mutant mutant, const smma_gemm_arguments *product);

/* The values of D as the faulty kernel stores them in the format `stored`. `right` are those of the product, M x N. The
   product's matrices are dense and row-major, with operands. False without memory. */
bool smma_mutant_compute(smma_mutant mutant, const smma_instruction *instruction, const smma_gemm_arguments *product,
                         smma_format stored, const double *right, double *values);

/* The same of the product itself. */
bool smma_product_compute(const smma_instruction *instruction, const smma_gemm_arguments *product, smma_format stored,
                          double *values);

#endif
