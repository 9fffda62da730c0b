/* Every family on the vocabulary that was included before; defines smma_kernel_NAME. */
#include "gemm/kernel.h"

/* In front of a short loop over rows or vectors, whose arrays are registers. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum { PANEL = 4 * LANES }; /* columns of a panel: as many as there are bytes in a vector */

#include "gemm/family/deficits.h"
#include "gemm/family/e_fdpa.h"
#include "gemm/family/fma.h"
#include "gemm/family/ftz.h"
#include "gemm/family/gst_fdpa.h"
#include "gemm/family/integer.h"
#include "gemm/family/t_fdpa.h"
#include "gemm/family/tr_fdpa.h"
/* These use t_fdpa.h. */
#include "gemm/family/fp8_by_f16.h"
#include "gemm/family/t_fdpa_narrow.h"

static const smma_kernel_family *const families[] = {
    &t_fdpa_family,     &t_fdpa_narrow_family, &fp8_by_f16_family, &tr_fdpa_family, &fma_f32_family, &fma_f64_family,
    &ftz_addmul_family, &ftz_fma_family,       &gst_fdpa_family,   &e_fdpa_family,  &integer_family, NULL};
