/* Products of sparse instructions.
 *
 * This header may change in any version, unlike softmma.h. The rules of softmma.h for threads, errors and structs
 * apply. */
#ifndef SOFTMMA_SPARSE_H
#define SOFTMMA_SPARSE_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the group size G of a sparse instruction: of every G consecutive elements of A along K, half are stored. G is
 * 4 (two elements stored), 2 (TF32: one stored) or 8 (4-bit integers, and FP4 of kind::mxf4 and kind::mxf4nvf4: two
 * pairs of neighbours stored). Returns 0 for a dense instruction and for NULL.
 *
 * For a sparse instruction, smma_instruction_info's k, test vectors and smma_dot count only the products of stored
 * elements; K in the instruction's name is twice that number. */
SMMA_API int smma_sparse_group(const smma_instruction *instruction);

/* Computes a product with a sparse instruction; apart from the following rules, works like smma_gemm.
 *
 * `arguments->k` is K, the number of rows of B, and must be a multiple of G = smma_sparse_group. A is M x K/2 and holds
 * the stored elements. Scale factors, promote_every, split_k and plans count stored elements: with scale_block B,
 * scale_a is M x ceil(K/2 / B), row-major, and scale_b ceil(K/2 / B) x N, column-major. Operands are in the host's
 * memory.
 *
 * `metadata` is M x K/2, row-major and dense, with one byte for each stored element: its position in its group, from 0
 * to G - 1. Positions ascend within a group. With G = 8 the stored elements form pairs, at positions 2p and 2p + 1.
 * For tcgen05, positions (of pairs) may also be 2, 1, which is the only selector of PTX in descending order.
 * Stored element j at position p is multiplied with row j / (G/2) * G + p of B (integer division).
 *
 * Errors: as smma_gemm; SMMA_INVALID_ARGUMENT also for invalid metadata, SMMA_INVALID_DIMENSION for a K that is not a
 * multiple of G, SMMA_INVALID_SPARSITY for a dense instruction.
 *
 * Each row of A selects its own rows of B, so a product takes as long as M products with one row. */
SMMA_API smma_status smma_gemm_sparse(const smma_instruction *instruction, const smma_gemm_arguments *arguments,
                                      const unsigned char *metadata);

#ifdef __cplusplus
}
#endif

#endif
