#include "gemm/lanes/lanes.h"

#include "gemm/kernel.h"

static bool is_ieee(smma_format format) { return smma_encoding_of(format).specials == SMMA_SPECIALS_IEEE; }

static bool is_integer_factor(smma_format format) {
  return smma_is_integer(format) && smma_encoding_of(format).bits <= 8;
}

/* Reports whether a format's significand is short enough for factors of a fused sum. */
static bool is_factor(smma_format format) {
  return !smma_is_integer(format) && smma_encoding_of(format).fraction_bits <= 10;
}

static bool takes_formats(const smma_operation *o) {
  switch (o->rule.algorithm) {
    case SMMA_FMA:
      if (o->rule.with.fma.rounding != SMMA_ROUND_NEAREST_EVEN) return false;
      if (o->rule.nan == SMMA_NAN_B_SUM_A && o->d != SMMA_F64) return false;
      return o->a == o->d && o->b == o->d && o->c == o->d && (o->d == SMMA_F32 || o->d == SMMA_F64);
    case SMMA_FTZ_FMA: return o->a == SMMA_BF16 && o->b == SMMA_BF16 && o->c == SMMA_F32 && o->d == SMMA_F32;
    case SMMA_INTEGER:
      if (o->rule.with.integer.two_stages) return false;
      return is_integer_factor(o->a) && is_integer_factor(o->b) && o->c == o->d && o->d == SMMA_S32;
    case SMMA_ST_FDPA: return is_factor(o->a) && is_factor(o->b) && o->scale == SMMA_UE8M0;
    case SMMA_GST_FDPA: return o->a == SMMA_E2M1 && o->b == SMMA_E2M1;
    case SMMA_FP8_BY_FP16:
      return (o->a == SMMA_E4M3 || o->a == SMMA_E5M2) && (o->b == SMMA_E4M3 || o->b == SMMA_E5M2) &&
             (o->d == SMMA_F32 || o->d == SMMA_F16);
    case SMMA_FTZ_ADDMUL:
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
    case SMMA_E_FDPA: return is_factor(o->a) && is_factor(o->b) && o->d == SMMA_F32;
    case SMMA_T_FDPA: return is_factor(o->a) && is_factor(o->b);
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA:
      return is_factor(o->a) && is_factor(o->b) && o->c == o->d && o->rule.with.c_fdpa.output == o->d &&
             o->rule.with.c_fdpa.alignment_bits == 24 && o->rule.with.c_fdpa.c_bits == 26 && /* all published units */
             smma_encoding_of(o->a).fraction_bits + smma_encoding_of(o->b).fraction_bits <= 24;
    default: break;
  }
  return false;
}

/* Lanes compute results in IEEE formats or 32-bit integers. */
bool smma_lanes_take(const smma_operation *o) {
  const bool encodes = o->d == SMMA_S32 || o->d == SMMA_F64 || (is_ieee(o->c) && is_ieee(o->d) && o->c != SMMA_F64);
  return encodes && smma_has_usual_formats(o) && takes_formats(o);
}

static const smma_kernel *kernel_here(void) {
  const smma_kernel *const *k = smma_kernels;
  while (*k && !(*k)->usable()) k++;
  return *k;
}

smma_lane_function *smma_lane_function_here(void) {
  const smma_kernel *k = kernel_here();
  return k ? k->lanes : NULL;
}

smma_row_function *smma_row_function_here(void) {
  const smma_kernel *k = kernel_here();
  return k ? k->row : NULL;
}

uint32_t smma_compute_one_lane(const smma_lane_task *task, smma_lanes *lanes) { return lane_compute(task, lanes, 1); }
