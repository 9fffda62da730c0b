/* AVX-512 and AVX, where each 32-bit lane is a separate dot product; AMX with its largest tiles; and ACE,
   outer products of two registers into a tile. */
#include "isa/rows.h"

#define X86(name, m, n, k, d, a, b, rule) SMMA_ROW(x86, VECTOR, name, NULL, m, n, k, d, a, b, d, none, 0, x86_##rule)
#define VNNI(name, a, b, rule) X86(name, 1, 1, 4, s32, a, b, rule)
#define AMX(name, k, d, a, b, rule) X86(name, 16, 16, k, d, a, b, amx_##rule)
#define ACE(name, k, d, a, b, rule) X86(name, 16, 16, k, d, a, b, ace_##rule)
#define ACE_SCALED(name, a, b) SMMA_ROW(x86, VECTOR, name, NULL, 16, 16, 4, f32, a, b, f32, ue8m0, 4, x86_ace_fp8)

/* vpdpbuuds is missing: it clamps to unsigned 32 bits, for which there is no format. */
static const smma_instruction rows[] = {
    X86("vdpbf16ps", 1, 1, 2, f32, bf16, bf16, bf16),
    VNNI("vpdpbusd", u8, s8, vnni),
    VNNI("vpdpbusds", u8, s8, vnni_saturates),
    VNNI("vpdpbssd", s8, s8, vnni_int8),
    VNNI("vpdpbssds", s8, s8, vnni_int8_saturates),
    VNNI("vpdpbsud", s8, u8, vnni_int8),
    VNNI("vpdpbsuds", s8, u8, vnni_int8_saturates),
    VNNI("vpdpbuud", u8, u8, vnni_int8),
    AMX("tdpbf16ps", 32, f32, bf16, bf16, bf16),
    AMX("tdpfp16ps", 32, f32, f16, f16, f16),
    AMX("tdpbssd", 64, s32, s8, s8, int8),
    AMX("tdpbsud", 64, s32, s8, u8, int8),
    AMX("tdpbusd", 64, s32, u8, s8, int8),
    AMX("tdpbuud", 64, s32, u8, u8, int8),
    AMX("tdpbf8ps", 64, f32, e5m2, e5m2, bf8),
    AMX("tdpbhf8ps", 64, f32, e5m2, e4m3, bhf8),
    AMX("tdphbf8ps", 64, f32, e4m3, e5m2, hbf8),
    AMX("tdphf8ps", 64, f32, e4m3, e4m3, hf8),
    ACE("top2bf16ps", 2, f32, bf16, bf16, bf16),
    ACE("top4bssd", 4, s32, s8, s8, int8),
    ACE("top4bsud", 4, s32, s8, u8, int8),
    ACE("top4busd", 4, s32, u8, s8, int8),
    ACE("top4buud", 4, s32, u8, u8, int8),
    ACE_SCALED("top4mxbf8ps", e5m2, e5m2),
    ACE_SCALED("top4mxbhf8ps", e5m2, e4m3),
    ACE_SCALED("top4mxhbf8ps", e4m3, e5m2),
    ACE_SCALED("top4mxhf8ps", e4m3, e4m3),
};
SMMA_TABLE(x86);
