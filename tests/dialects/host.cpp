// The public header as C++: it compiles alone, and its functions link and run.
#include <cstring>

#include "softmma/softmma.h"

int main() {
  const smma_instruction *instruction = smma_find("H100", "HMMA.16816.F32");
  uint16_t a[16] = {0x3c00}, b[16] = {0x4000};
  float c = 1, d = 0;
  if (!instruction || smma_dot(instruction, a, b, &c, nullptr, nullptr, &d) != SMMA_OK) return 1;
  smma_gemm_arguments arguments;
  smma_gemm_defaults(&arguments);
  return d == 3 && arguments.alpha == 1 && std::strlen(smma_version()) > 0 ? 0 : 1;
}
