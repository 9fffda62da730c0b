/* Every family on the words of SMMA_WORDS, and the lanes; the kernel's file defines smma_kernel_NAME with them. */
#ifndef SMMA_GEMM_FAMILIES_H
#define SMMA_GEMM_FAMILIES_H

#include "gemm/family/c_fdpa.h"
#include "gemm/family/chains.h"
#include "gemm/family/e_fdpa.h"
#include "gemm/family/fma.h"
#include "gemm/family/fp8_by_f16.h"
#include "gemm/family/ftz.h"
#include "gemm/family/gst_fdpa.h"
#include "gemm/family/integer.h"
#include "gemm/family/pairs.h"
#include "gemm/family/small.h"
#include "gemm/family/t_fdpa.h"
#include "gemm/family/t_fdpa_few.h"
#include "gemm/family/t_fdpa_narrow.h"
#include "gemm/family/tr_fdpa.h"
#include "gemm/lanes/lanes.h"
#include "gemm/lanes/row.h"

static const smma_kernel_family *const families[] = {&t_fdpa_family,
                                                     &t_fdpa_narrow_family,
                                                     &fp8_by_f16_family,
                                                     &tr_fdpa_family,
                                                     &fma_f32_family,
                                                     &fma_f64_family,
                                                     &fma_f64_zero_family,
                                                     &fma_f64_down_family,
                                                     &fma_f64_up_family,
                                                     &ftz_addmul_family,
                                                     &ftz_fma_family,
                                                     &gst_fdpa_family,
                                                     &e_fdpa_family,
                                                     &integer_family,
                                                     &c_fdpa_family,
                                                     &pairs_odd_family,
                                                     &pairs_family,
                                                     &pairs_f64_family,
                                                     &chains_family,
                                                     NULL};

static const smma_kernel_family *const few_families[] = {&t_fdpa_few_family, NULL};

static const smma_kernel_family *const small_families[] = {&small_t_family, &small_tr_family, NULL};

static uint32_t compute_lanes(const smma_lane_task *task, smma_lanes *lanes) {
  return lane_compute(task, lanes, SMMA_LANES);
}

static uint32_t compute_row(const smma_operation *operation, const void *a, const void *b, uint32_t c) {
  return lane_row(operation, a, b, c);
}

#endif
