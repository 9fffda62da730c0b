/* Computes one task for n lanes; n is a constant in all callers. */
#ifndef SMMA_GEMM_LANES_LANES_H
#define SMMA_GEMM_LANES_LANES_H

#include "gemm/lanes/fused.h"
#include "gemm/lanes/native.h"

/* Computes one block of a fused algorithm, or the whole dot-product-add of another algorithm. `d` holds c, then the
   result. Sets `rare` for lanes that the core must compute. */
LANE_BODY void lane_block(const lane_rule *r, const smma_lanes *x, int block, int n, uint32_t *d, int32_t *rare) {
  const smma_operation *o = r->operation;
  switch (o->rule.algorithm) {
    case SMMA_FMA: lane_fma_f32(o, x, n, d); break;
    case SMMA_T_FDPA: lane_t_fdpa(r, x, block, LANE_PLAIN, n, d); break;
    case SMMA_ST_FDPA: lane_t_fdpa(r, x, block, LANE_SCALED, n, d); break;
    case SMMA_FP8_BY_FP16: lane_t_fdpa(r, x, block, LANE_WIDENED, n, d); break;
    case SMMA_GST_FDPA: lane_gst_fdpa(r, x, n, d); break;
    case SMMA_E_FDPA: lane_e_fdpa(r, x, block, n, d, rare); break;
    case SMMA_FTZ_ADDMUL: lane_ftz_addmul(o, x, n, d); break;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: lane_tr_fdpa(r, x, block, n, d); break;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: lane_c_fdpa(r, x, block, n, d); break;
    case SMMA_FTZ_FMA: lane_ftz_fma(o, x, n, d, rare); break;
    case SMMA_INTEGER: lane_integer_sum(o, x, n, d); break;
    default: break; /* not accepted by lanes */
  }
}

/* Return the IEEE sum of x and y, which are both f32 or both f16. In f16 the exact sum is an integer in units of
   2^-24. */
LANE_BODY uint32_t lane_add_f32(const lane_rule *r, uint32_t x, uint32_t y) {
  const lane_number p = lane_decode(r->d, x), q = lane_decode(r->d, y);
  const int32_t specials = lane_specials(p.kind, p.negative) | lane_specials(q.kind, q.negative);
  return lane_with_specials(r->out, specials, lane_bits(lane_float(x) + lane_float(y)));
}

LANE_BODY uint32_t lane_add_f16(const lane_rule *r, uint32_t x, uint32_t y) {
  const lane_number p = lane_decode(r->d, x), q = lane_decode(r->d, y);
  const int32_t specials = lane_specials(p.kind, p.negative) | lane_specials(q.kind, q.negative);
  const int64_t s = (int64_t)p.significand << (p.exponent + 14), t = (int64_t)q.significand << (q.exponent + 14);
  const int64_t sum = lane_signed(s, p.negative) + lane_signed(t, q.negative);
  const uint32_t negative = (sum < 0) | ((sum == 0) & p.negative & q.negative);
  return lane_with_specials(r->out, specials,
                            lane_encode(r->out, SMMA_ROUND_NEAREST_EVEN, negative, lane_magnitude(sum), -24));
}

/* Computes x->d from x->c. Returns a mask of the lanes that the core must compute. A whole dot-product-add of FP8 by
   FP16 adds c after all blocks. */
LANE_BODY uint32_t lane_compute(const smma_lane_task *task, smma_lanes *x, int n) {
  const smma_operation *o = task->operation;
  uint32_t c[SMMA_LANES], d[SMMA_LANES], rare_lanes = 0;
  int32_t rare[SMMA_LANES] = {0};
  if (o->d == SMMA_F64) {
    memcpy(x->d, x->c, sizeof x->d);
    lane_fma_f64(o, x, n, x->d);
    return 0;
  }
  const lane_rule r = lane_rule_of(o);
  const bool joins_last = o->rule.algorithm == SMMA_FP8_BY_FP16 && task->block == SMMA_ALL_BLOCKS;
  const int first = task->block == SMMA_ALL_BLOCKS ? 0 : task->block;
  const int last = task->block == SMMA_ALL_BLOCKS ? smma_blocks_per_step(o) : first + 1;
  for (int i = 0; i < n; i++) c[i] = (uint32_t)x->c[i];
  if (task->start != o->d) {
    const lane_format from = lane_format_of(task->start);
    const lane_output to = r.out;
    for (int i = 0; i < n; i++) c[i] = lane_convert(from, to, c[i]);
  }
  for (int i = 0; i < n; i++) d[i] = joins_last ? 0 : c[i];
  for (int block = first; block < last; block++) lane_block(&r, x, block, n, d, rare);
  if (joins_last && o->d == SMMA_F32)
    for (int i = 0; i < n; i++) d[i] = lane_add_f32(&r, d[i], c[i]);
  else if (joins_last)
    for (int i = 0; i < n; i++) d[i] = lane_add_f16(&r, d[i], c[i]);
  if (task->end != o->d) {
    const lane_format from = r.d;
    const lane_output to = lane_output_of(task->end, o->rule.nan);
    for (int i = 0; i < n; i++) d[i] = lane_convert(from, to, d[i]);
  }
  for (int i = 0; i < n; i++) x->d[i] = d[i], rare_lanes |= (uint32_t)rare[i] << i;
  return rare_lanes;
}

#endif
