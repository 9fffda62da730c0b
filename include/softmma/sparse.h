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

/* Of how many elements of A, side by side along K, a sparse instruction takes half: 4 (of which two are stored), 2
 * (TF32, one), 8 (4-bit integers, two pairs). 0 for a dense one, and for NULL. K of a sparse instruction, its rows and
 * smma_dot count the products of stored elements alone: its name has twice that. */
SMMA_API int smma_sparse_group(const smma_instruction *instruction);

/* As smma_gemm, of a sparse instruction. `arguments->k` is K of B, a multiple of smma_sparse_group; A is M x K/2, the
 * stored elements. metadata is M x K/2, row-major and dense, a byte for each of these: its position in its group, from
 * 0 on. Positions ascend in a group; with groups of 8 each is of a pair, 2p and 2p + 1. Position p of stored element j
 * is multiplied with row j / (G/2) * G + p of B. promote_every, split_k and plans count stored elements. Operands are
 * in the host's memory. Errors besides those of smma_gemm: SMMA_INVALID_ARGUMENT for other metadata,
 * SMMA_INVALID_DIMENSION for another K, SMMA_INVALID_SPARSITY for a dense instruction. Each row of A has a B of its
 * own, so that a product takes as long as M products of one row. */
SMMA_API smma_status smma_gemm_sparse(const smma_instruction *instruction, const smma_gemm_arguments *arguments,
                                      const unsigned char *metadata);

#ifdef __cplusplus
}
#endif

#endif
