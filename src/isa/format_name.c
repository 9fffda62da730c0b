#include "isa/format_name.h"

#include <stddef.h>

#include "isa/ascii.h"

static const char *const names[] = {
#define SMMA_FORMAT(name, ...) #name,
#include "core/format.def"
#undef SMMA_FORMAT
};

typedef struct {
  const char *text;
  smma_format_id format;
} synonym;

/* The names of C, NumPy, PyTorch, ml_dtypes, safetensors and the vendors' manuals. */
static const synonym synonyms[] = {
    {"fp64", SMMA_FORMAT_f64},
    {"float64", SMMA_FORMAT_f64},
    {"double", SMMA_FORMAT_f64},
    {"fp32", SMMA_FORMAT_f32},
    {"float32", SMMA_FORMAT_f32},
    {"float", SMMA_FORMAT_f32},
    {"single", SMMA_FORMAT_f32},
    {"xf32", SMMA_FORMAT_tf32},
    {"fp16", SMMA_FORMAT_f16},
    {"float16", SMMA_FORMAT_f16},
    {"half", SMMA_FORMAT_f16},
    {"bfloat16", SMMA_FORMAT_bf16},
    {"fp8_e5m2", SMMA_FORMAT_e5m2},
    {"f8_e5m2", SMMA_FORMAT_e5m2},
    {"float8_e5m2", SMMA_FORMAT_e5m2},
    {"e4m3fn", SMMA_FORMAT_e4m3},
    {"fp8_e4m3", SMMA_FORMAT_e4m3},
    {"fp8_e4m3fn", SMMA_FORMAT_e4m3},
    {"f8_e4m3", SMMA_FORMAT_e4m3},
    {"float8_e4m3fn", SMMA_FORMAT_e4m3},
    {"fp8_e5m2fnuz", SMMA_FORMAT_e5m2fnuz},
    {"f8_e5m2fnuz", SMMA_FORMAT_e5m2fnuz},
    {"float8_e5m2fnuz", SMMA_FORMAT_e5m2fnuz},
    {"fp8_e4m3fnuz", SMMA_FORMAT_e4m3fnuz},
    {"f8_e4m3fnuz", SMMA_FORMAT_e4m3fnuz},
    {"float8_e4m3fnuz", SMMA_FORMAT_e4m3fnuz},
    {"e3m2fn", SMMA_FORMAT_e3m2},
    {"fp6_e3m2", SMMA_FORMAT_e3m2},
    {"f6_e3m2", SMMA_FORMAT_e3m2},
    {"float6_e3m2fn", SMMA_FORMAT_e3m2},
    {"e2m3fn", SMMA_FORMAT_e2m3},
    {"fp6_e2m3", SMMA_FORMAT_e2m3},
    {"f6_e2m3", SMMA_FORMAT_e2m3},
    {"float6_e2m3fn", SMMA_FORMAT_e2m3},
    {"e2m1fn", SMMA_FORMAT_e2m1},
    {"fp4", SMMA_FORMAT_e2m1},
    {"f4", SMMA_FORMAT_e2m1},
    {"fp4_e2m1", SMMA_FORMAT_e2m1},
    {"float4_e2m1fn", SMMA_FORMAT_e2m1},
    {"float4_e2m1fn_x2", SMMA_FORMAT_e2m1},
    {"e8m0", SMMA_FORMAT_ue8m0},
    {"e8m0fnu", SMMA_FORMAT_ue8m0},
    {"f8_e8m0", SMMA_FORMAT_ue8m0},
    {"float8_e8m0fnu", SMMA_FORMAT_ue8m0},
    {"i8", SMMA_FORMAT_s8},
    {"int8", SMMA_FORMAT_s8},
    {"uint8", SMMA_FORMAT_u8},
    {"i32", SMMA_FORMAT_s32},
    {"int32", SMMA_FORMAT_s32},
};

const char *smma_format_text(smma_format_id format) {
  return (int)format >= 0 && format < SMMA_FORMAT_COUNT ? names[format] : "none";
}

/* But for the case of letters. */
static bool same_text(const char *x, const char *y) {
  while (*x && smma_lower(*x) == smma_lower(*y)) x++, y++;
  return *x == *y;
}

smma_format_id smma_format_from_text(const char *text) {
  for (int format = 0; format < SMMA_FORMAT_COUNT; format++)
    if (format != SMMA_FORMAT_e8m13 && same_text(text, names[format])) return (smma_format_id)format;
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
    if (same_text(text, synonyms[i].text)) return synonyms[i].format;
  return SMMA_FORMAT_none;
}
