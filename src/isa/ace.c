/* AI Compute Extensions of x86: outer products of two registers, added to a tile. */
#include "isa/rows.h"

#define ACE(name, k, d, a, b, rule) SMMA_ROW(ace, VECTOR, name, NULL, 16, 16, k, d, a, b, d, none, 0, ace_##rule)
#define ACE_SCALED(name, a, b, rule) SMMA_ROW(ace, VECTOR, name, NULL, 16, 16, 4, f32, a, b, f32, ue8m0, 4, ace_##rule)

static const smma_instruction rows[] = {
    ACE("top2bf16ps", 2, f32, bf16, bf16, bf16), ACE("top4bssd", 4, s32, s8, s8, int8),
    ACE("top4bsud", 4, s32, s8, u8, int8),       ACE("top4busd", 4, s32, u8, s8, int8),
    ACE("top4buud", 4, s32, u8, u8, int8),       ACE_SCALED("top4mxbf8ps", e5m2, e5m2, fp8),
    ACE_SCALED("top4mxbhf8ps", e5m2, e4m3, fp8), ACE_SCALED("top4mxhbf8ps", e4m3, e5m2, fp8),
    ACE_SCALED("top4mxhf8ps", e4m3, e4m3, fp8),  ACE_SCALED("top4mxbssps", ocp_int8, ocp_int8, mxint8),
};
SMMA_TABLE(ace);
