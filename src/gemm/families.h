/* Families and lane functions of one instruction set. The files in family/ and lanes/ are compiled once for each
   instruction set, with the vector operations of SMMA_WORDS. For each set there is a file kernel_SET.c, which defines
   smma_kernel_SET from them. */
#ifndef SMMA_GEMM_FAMILIES_H
#define SMMA_GEMM_FAMILIES_H

#include "gemm/family/words.h"

extern const smma_kernel_family SMMA_OF_KERNEL(bulk), SMMA_OF_KERNEL(c_fdpa), SMMA_OF_KERNEL(chains),
    SMMA_OF_KERNEL(e_fdpa), SMMA_OF_KERNEL(fma_bf16), SMMA_OF_KERNEL(fma_f16), SMMA_OF_KERNEL(fma_f32),
    SMMA_OF_KERNEL(fma_f64), SMMA_OF_KERNEL(fma_f64_down), SMMA_OF_KERNEL(fma_f64_up), SMMA_OF_KERNEL(fma_f64_zero),
    SMMA_OF_KERNEL(fours), SMMA_OF_KERNEL(fp8_by_f16), SMMA_OF_KERNEL(ftz_addmul), SMMA_OF_KERNEL(ftz_fma),
    SMMA_OF_KERNEL(gst_fdpa), SMMA_OF_KERNEL(integer), SMMA_OF_KERNEL(pairs), SMMA_OF_KERNEL(pairs_f64),
    SMMA_OF_KERNEL(pairs_flushed), SMMA_OF_KERNEL(chains_fp8), SMMA_OF_KERNEL(pairs_odd), SMMA_OF_KERNEL(slices),
    SMMA_OF_KERNEL(small_t), SMMA_OF_KERNEL(small_tr), SMMA_OF_KERNEL(t_fdpa), SMMA_OF_KERNEL(t_fdpa_few),
    SMMA_OF_KERNEL(t_fdpa_narrow), SMMA_OF_KERNEL(tr_fdpa);
smma_lane_function SMMA_OF_KERNEL(lanes);
smma_row_function SMMA_OF_KERNEL(row);

/* All families for products of any size. The first one that accepts an operation computes it. */
static const smma_kernel_family *const families[] = {
    &SMMA_OF_KERNEL(t_fdpa),       &SMMA_OF_KERNEL(t_fdpa_narrow), &SMMA_OF_KERNEL(fp8_by_f16),
    &SMMA_OF_KERNEL(tr_fdpa),      &SMMA_OF_KERNEL(fma_f32),       &SMMA_OF_KERNEL(fma_f64),
    &SMMA_OF_KERNEL(fma_f64_zero), &SMMA_OF_KERNEL(fma_f64_down),  &SMMA_OF_KERNEL(fma_f64_up),
    &SMMA_OF_KERNEL(ftz_addmul),   &SMMA_OF_KERNEL(ftz_fma),       &SMMA_OF_KERNEL(gst_fdpa),
    &SMMA_OF_KERNEL(e_fdpa),       &SMMA_OF_KERNEL(integer),       &SMMA_OF_KERNEL(c_fdpa),
    &SMMA_OF_KERNEL(pairs_odd),    &SMMA_OF_KERNEL(pairs),         &SMMA_OF_KERNEL(pairs_f64),
    &SMMA_OF_KERNEL(chains),       &SMMA_OF_KERNEL(pairs_flushed), &SMMA_OF_KERNEL(chains_fp8),
    &SMMA_OF_KERNEL(bulk),         &SMMA_OF_KERNEL(fma_f16),       &SMMA_OF_KERNEL(fma_bf16),
    &SMMA_OF_KERNEL(fours),        &SMMA_OF_KERNEL(slices),        NULL};

/* Families for at most SMMA_FEW_ROWS rows (few_families), and for products so small that packing would dominate
   (small_families). */
static const smma_kernel_family *const few_families[] = {&SMMA_OF_KERNEL(t_fdpa_few), NULL};
static const smma_kernel_family *const small_families[] = {&SMMA_OF_KERNEL(small_t), &SMMA_OF_KERNEL(small_tr), NULL};

#endif
