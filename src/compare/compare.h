/* One product on several targets: how many results differ, and how far each is from the exact product. */
#ifndef SMMA_COMPARE_COMPARE_H
#define SMMA_COMPARE_COMPARE_H

#include "compare/target.h"
#include "numerics/compare.h"

/* Products have their matrices, and room for D, dense and row-major and of one format. */
typedef struct {
  smma_product_target *target; /* scale factors and a bias that a plan takes are added */
  size_t targets;
  smma_encoded_matrix a, b; /* as they were before they were rounded to the targets' formats */
  bool (*progress)(size_t done, size_t all, void *context); /* NULL: none; true stops the study */
  void *context;
} smma_compare_request;

typedef struct {
  const smma_compare_request *request; /* which must outlive this */
  smma_format d;
  smma_product_error error[SMMA_MOST_TARGETS];      /* against the exact product of the matrices before rounding */
  smma_product_error unit_error[SMMA_MOST_TARGETS]; /* against that of the matrices as the target takes them */
  smma_comparison pair[SMMA_MOST_TARGETS][SMMA_MOST_TARGETS]; /* of two targets' results, the earlier one first */
  bool same;                                                  /* all results are the same */
} smma_compare_result;

/* Computes the products, and compares each two. Returns false with one line. */
bool smma_compare_run(const smma_compare_request *request, smma_compare_result *result, smma_error *error);

/* Returns the result as a record: what --json prints. */
smma_datum *smma_compare_datum(const smma_compare_result *result);

#endif
