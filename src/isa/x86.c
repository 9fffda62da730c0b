/* AVX-512 and AVX, where each 32-bit lane is a separate dot product; and AMX with its largest tiles. */
#include "isa/rows.h"

#define X86(name, m, n, k, d, a, b, rule) SMMA_ROW(x86, VECTOR, name, NULL, m, n, k, d, a, b, d, none, 0, x86_##rule)
#define VNNI(name, a, b, rule) X86(name, 1, 1, 4, s32, a, b, rule)
#define AMX(name, k, d, a, b, rule) X86(name, 16, 16, k, d, a, b, amx_##rule)

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
};
SMMA_TABLE(x86);
