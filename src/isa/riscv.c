/* Zvbdota: the dot products of one vector (a row of A, vs1) and of eight (columns of B, vs2), with LMUL = 1. K is the
   number of elements of a register. The names end in the length of a register and in formats, which SEW and altfmt
   choose. Instructions of Zvdota compute one of the eight. */
#include "isa/rows.h"

#define RISCV(name, k, d, a, b, rule) SMMA_ROW(riscv, RISCV, name, NULL, 1, 8, k, d, a, b, d, none, 0, riscv_##rule)

#define BF16(length, k) RISCV("vfwbdota.vv.vlen" #length ".bf16", k, f32, bf16, bf16, bulk_##k)
#define F32(length, k) RISCV("vfbdota.vv.vlen" #length ".f32", k, f32, f32, f32, f32)
#define FP8_OF(name, a, b, length, k) RISCV(name ".vlen" #length "." #a "." #b, k, f32, a, b, bulk_##k)
#define FP8(...)                                                                                        \
  FP8_OF("vfqwbdota.vv", e4m3, e4m3, __VA_ARGS__), FP8_OF("vfqwbdota.alt.vv", e4m3, e5m2, __VA_ARGS__), \
      FP8_OF("vfqwbdota.vv", e5m2, e4m3, __VA_ARGS__), FP8_OF("vfqwbdota.alt.vv", e5m2, e5m2, __VA_ARGS__)
#define S8(sign, a, b, length, k) RISCV("vqwbdota" #sign ".vv.vlen" #length "." #a "." #b, k, s32, a, b, integer)
#define INTEGERS(length, k) \
  S8(u, u8, u8, length, k), S8(u, s8, u8, length, k), S8(s, u8, s8, length, k), S8(s, s8, s8, length, k)

static const smma_instruction rows[] = {
    BF16(128, 8), BF16(256, 16), BF16(512, 32), BF16(1024, 64),    FP8(128, 16),      FP8(256, 32),      FP8(512, 64),
    F32(128, 4),  F32(256, 8),   F32(512, 16),  INTEGERS(128, 16), INTEGERS(256, 32), INTEGERS(512, 64),
};
SMMA_TABLE(riscv);
