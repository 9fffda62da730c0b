#include "isa/format_name.h"

#include <stddef.h>

#include "isa/ascii.h"

static const char *const names[SMMA_FORMAT_COUNT] = {
#define SMMA_FORMAT(symbol, name, ...) [SMMA_##symbol] = #name,
#include "core/format.def"
#undef SMMA_FORMAT
};

typedef struct {
  const char *text;
  smma_format format;
} synonym;

/* The names of C, NumPy, PyTorch, ml_dtypes, safetensors and the vendors' manuals. */
static const synonym synonyms[] = {
    {"fp64", SMMA_F64},
    {"float64", SMMA_F64},
    {"double", SMMA_F64},
    {"fp32", SMMA_F32},
    {"float32", SMMA_F32},
    {"float", SMMA_F32},
    {"single", SMMA_F32},
    {"xf32", SMMA_TF32},
    {"fp16", SMMA_F16},
    {"float16", SMMA_F16},
    {"half", SMMA_F16},
    {"bfloat16", SMMA_BF16},
    {"fp8_e5m2", SMMA_E5M2},
    {"f8_e5m2", SMMA_E5M2},
    {"float8_e5m2", SMMA_E5M2},
    {"e4m3fn", SMMA_E4M3},
    {"fp8_e4m3", SMMA_E4M3},
    {"fp8_e4m3fn", SMMA_E4M3},
    {"f8_e4m3", SMMA_E4M3},
    {"float8_e4m3fn", SMMA_E4M3},
    {"fp8_e5m2fnuz", SMMA_E5M2FNUZ},
    {"f8_e5m2fnuz", SMMA_E5M2FNUZ},
    {"float8_e5m2fnuz", SMMA_E5M2FNUZ},
    {"fp8_e4m3fnuz", SMMA_E4M3FNUZ},
    {"f8_e4m3fnuz", SMMA_E4M3FNUZ},
    {"float8_e4m3fnuz", SMMA_E4M3FNUZ},
    {"e3m2fn", SMMA_E3M2},
    {"fp6_e3m2", SMMA_E3M2},
    {"f6_e3m2", SMMA_E3M2},
    {"float6_e3m2fn", SMMA_E3M2},
    {"e2m3fn", SMMA_E2M3},
    {"fp6_e2m3", SMMA_E2M3},
    {"f6_e2m3", SMMA_E2M3},
    {"float6_e2m3fn", SMMA_E2M3},
    {"e2m1fn", SMMA_E2M1},
    {"fp4", SMMA_E2M1},
    {"f4", SMMA_E2M1},
    {"fp4_e2m1", SMMA_E2M1},
    {"float4_e2m1fn", SMMA_E2M1},
    {"float4_e2m1fn_x2", SMMA_E2M1},
    {"e8m0", SMMA_UE8M0},
    {"e8m0fnu", SMMA_UE8M0},
    {"f8_e8m0", SMMA_UE8M0},
    {"float8_e8m0fnu", SMMA_UE8M0},
    {"i8", SMMA_S8},
    {"int8", SMMA_S8},
    {"uint8", SMMA_U8},
    {"i4", SMMA_S4},
    {"int4", SMMA_S4},
    {"uint4", SMMA_U4},
    {"i32", SMMA_S32},
    {"int32", SMMA_S32},
};

const char *smma_format_text(smma_format format) {
  return (int)format >= 0 && (int)format < SMMA_FORMAT_COUNT ? names[format] : "none";
}

bool smma_is_operand_format(smma_format format) { return format != SMMA_E8M13 && (unsigned)format < SMMA_FORMAT_COUNT; }

/* But for the case of letters. */
static bool same_text(const char *x, const char *y) {
  while (*x && smma_lower(*x) == smma_lower(*y)) x++, y++;
  return *x == *y;
}

smma_format smma_format_from_text(const char *text) {
  for (int format = 0; format < SMMA_FORMAT_COUNT; format++)
    if (smma_is_operand_format((smma_format)format) && same_text(text, names[format])) return (smma_format)format;
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
    if (same_text(text, synonyms[i].text)) return synonyms[i].format;
  return SMMA_NO_FORMAT;
}
