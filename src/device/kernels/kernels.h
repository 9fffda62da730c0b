/* Includes every kernel: the source that a driver compiles. */
#include "device/kernels/core.h"
#include "device/kernels/fold.h"
#include "device/kernels/rows.h"
#if !defined(__OPENCL_C_VERSION__) && !defined(__OPENCL_VERSION__) /* OpenCL's memory has no addresses */
#include "device/kernels/matrix.h"
#endif
#if !defined(SMMA_WIDTH) || SMMA_WIDTH > 0 /* requires binary64 */
#include "device/kernels/e_fdpa.h"
#include "device/kernels/fma.h"
#include "device/kernels/ftz.h"
#include "device/kernels/gst_fdpa.h"
#include "device/kernels/integer.h"
#include "device/kernels/t_fdpa.h"
#include "device/kernels/tr_fdpa.h"
#endif
