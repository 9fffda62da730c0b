// The public headers as C++: they compile, and their functions link and run.
#include <cstdio>
#include <cstring>

#include "softmma/accurate.h"
#include "softmma/device.h"
#include "softmma/flags.h"
#include "softmma/rows.h"
#include "softmma/scales.h"
#include "softmma/sparse.h"
#include "softmma/unit.h"

int main() {
  const smma_instruction *instruction = smma_find("H100", "HMMA.16816.F32", NULL);
  uint16_t a[16] = {0x3c00}, b[16] = {0x4000};
  float c = 1, d = 0;
  if (!instruction || smma_dot(instruction, a, b, &c, nullptr, nullptr, &d) != SMMA_OK) return 1;
  smma_gemm_arguments arguments;
  smma_gemm_defaults(&arguments, sizeof arguments);
  const double x = 3, y = 0.375;
  double z = 0;
  smma_f64_product product;
  smma_f64_product_defaults(&product, sizeof product);
  product.m = product.n = product.k = 1, product.a = &x, product.b = &y, product.d = &z;
  smma_words words;
  smma_words_defaults(&words, sizeof words);
  if (smma_gemm_words(instruction, &product, &words) != SMMA_OK || z != 1.125) return 1;
  smma_slices slices;
  smma_slices_defaults(&slices, sizeof slices);
  z = 0;
  if (smma_gemm_slices(smma_find("A100", "mma.m16n8k32.s32.s8.s8.s32", NULL), &product, &slices) != SMMA_OK ||
      z != 1.125)
    return 1;
  const char text[] =
      "{\"softmma-unit\": 1, \"name\": \"fma\", \"algorithm\": \"FMA\", \"k\": 1, \"a\": \"f16\", \"b\": \"f16\", "
      "\"d\": \"f32\"}";
  smma_error error;
  smma_custom *custom = smma_custom_parse(nullptr, text, sizeof text - 1, &error);
  smma_instruction_info info;
  if (!custom || error.status != SMMA_OK ||
      smma_describe(smma_custom_instruction(custom), &info, sizeof info) != SMMA_OK)
    return 1;
  if (std::strcmp(info.name, "fma") != 0 || smma_dot(info.instruction, a, b, &c, nullptr, nullptr, &d) != SMMA_OK)
    return 1;
  smma_custom_free(custom);
  smma_custom_free(nullptr);
  if (smma_custom_instruction(nullptr) || smma_custom_parse(nullptr, text, 5, &error) ||
      error.status != SMMA_INVALID_TEXT)
    return 1;
  if (smma_swizzled_bytes(1, 1) != 512) return 1;
  char version[32];
  std::snprintf(version, sizeof version, "%d.%d.%d", SMMA_VERSION_MAJOR, SMMA_VERSION_MINOR, SMMA_VERSION_PATCH);
  if (std::strcmp(version, smma_version()) != 0) return 1;
  return d == 3 && arguments.alpha == 1 && std::strlen(smma_version()) > 0 ? 0 : 1;
}
