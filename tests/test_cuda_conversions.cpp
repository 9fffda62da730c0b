// Compares smma_format_encode with the host functions of the CUDA toolkit: on and around every midpoint, and at random.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "softmma/softmma.h"

namespace {

struct conversion {
  smma_format format;
  smma_rounding rounding;
  smma_overflow overflow;
  unsigned (*cuda)(double);
  const char *name;
};

template <__nv_saturation_t saturation, __nv_fp8_interpretation_t format>
unsigned to_fp8(double x) {
  return __nv_cvt_double_to_fp8(x, saturation, format);
}

template <__nv_fp6_interpretation_t format>
unsigned to_fp6(double x) {
  return __nv_cvt_double_to_fp6(x, format, cudaRoundNearest);
}

unsigned to_fp4(double x) { return __nv_cvt_double_to_fp4(x, __NV_E2M1, cudaRoundNearest); }

template <__nv_saturation_t saturation, cudaRoundMode rounding>
unsigned to_e8m0(double x) {
  return __nv_cvt_double_to_e8m0(x, saturation, rounding);
}

const conversion conversions[] = {
    {SMMA_E4M3, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, to_fp8<__NV_SATFINITE, __NV_E4M3>, "e4m3 satfinite"},
    {SMMA_E5M2, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, to_fp8<__NV_SATFINITE, __NV_E5M2>, "e5m2 satfinite"},
    {SMMA_E4M3, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY, to_fp8<__NV_NOSAT, __NV_E4M3>, "e4m3 nosat"},
    {SMMA_E5M2, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY, to_fp8<__NV_NOSAT, __NV_E5M2>, "e5m2 nosat"},
    {SMMA_E3M2, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, to_fp6<__NV_E3M2>, "e3m2"},
    {SMMA_E2M3, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, to_fp6<__NV_E2M3>, "e2m3"},
    {SMMA_E2M1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, to_fp4, "e2m1"},
    {SMMA_UE8M0, SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_DEFAULT, to_e8m0<__NV_SATFINITE, cudaRoundZero>,
     "e8m0 toward zero, satfinite"},
    {SMMA_UE8M0, SMMA_ROUND_UP, SMMA_OVERFLOW_DEFAULT, to_e8m0<__NV_SATFINITE, cudaRoundPosInf>, "e8m0 up, satfinite"},
    {SMMA_UE8M0, SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_INFINITY, to_e8m0<__NV_NOSAT, cudaRoundZero>,
     "e8m0 toward zero, nosat"},
    {SMMA_UE8M0, SMMA_ROUND_UP, SMMA_OVERFLOW_INFINITY, to_e8m0<__NV_NOSAT, cudaRoundPosInf>, "e8m0 up, nosat"},
};

// Reports whether softmma.h defines another result. For e8m0, CUDA takes the magnitude of negative numbers; rounding
// toward zero, it stops at the largest number even without saturation.
bool is_defined_otherwise(const conversion &c, double value) {
  bool overflows = c.rounding == SMMA_ROUND_TOWARD_ZERO && c.overflow == SMMA_OVERFLOW_INFINITY && value >= 0x1p128;
  return c.format == SMMA_UE8M0 && (std::signbit(value) || (overflows && !std::isinf(value)));
}

bool agrees(const conversion &c, double value) {
  if (is_defined_otherwise(c, value)) return true;
  unsigned expected = c.cuda(value);
  uint64_t got = smma_format_encode(c.format, value, c.rounding, c.overflow);
  bool both_nan = std::isnan(smma_format_decode(c.format, expected)) && std::isnan(smma_format_decode(c.format, got));
  if (expected == got || both_nan) return true;
  std::fprintf(stderr, "%a to %s: CUDA gives %02x, smma_format_encode %02x\n", value, c.name, expected, (unsigned)got);
  return false;
}

// Returns every value, the midpoint to the next value, both signs, and the adjacent doubles.
std::vector<double> values_around(smma_format format) {
  std::vector<double> values = {0, 5e-324, 1e-300, 1e300, INFINITY, NAN};
  double last = 0;
  for (unsigned e = 0; e < 256; e++) {
    double value = smma_format_decode(format, e);
    if (!std::isfinite(value) || std::signbit(value)) break;
    for (double x : {value, last + (value - last) / 2, value + (value - last) / 2}) {
      values.push_back(x);
      values.push_back(std::nextafter(x, 0));
      values.push_back(std::nextafter(x, INFINITY));
    }
    last = value;
  }
  return values;
}

uint64_t random_bits(uint64_t &state) {  // SplitMix64
  uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// Returns a random double, mostly within the range of small formats.
double random_double(uint64_t &state) {
  double fraction = (double)(int64_t)random_bits(state) * 0x1p-63;
  return std::ldexp(fraction, (int)(random_bits(state) % (random_bits(state) % 8 ? 40 : 300)) - 20);
}

long count_differences(const conversion &c) {
  long differences = 0;
  uint64_t state = 1;
  for (double value : values_around(c.format)) differences += !agrees(c, value) + !agrees(c, -value);
  for (int i = 0; i < 1000000 && differences < 10; i++) differences += !agrees(c, random_double(state));
  return differences;
}

}  // namespace

int main() {
  long differences = 0;
  for (const conversion &c : conversions) differences += count_differences(c);
  return differences != 0;
}
