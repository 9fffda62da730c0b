#include "experiment/random.h"

#include <math.h>
#include <stdbool.h>

#include "host/philox.h"

/* Returns 128 bits for attempt `attempt` of an index. */
static smma_philox_block draw(uint64_t seed, uint32_t stream, uint64_t index, uint32_t attempt) {
  smma_philox_block counter = {{(uint32_t)index, (uint32_t)(index >> 32), stream, attempt}};
  return smma_philox(counter, seed);
}

static uint64_t join(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

static double unit_interval(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

uint64_t smma_random_bits(uint64_t seed, uint32_t stream, uint64_t index) {
  smma_philox_block r = draw(seed, stream, index, 0);
  return join(r.word[0], r.word[1]);
}

double smma_random_uniform(uint64_t seed, uint32_t stream, uint64_t index) {
  return unit_interval(smma_random_bits(seed, stream, index));
}

/* Reports whether x^2 <= -4 log u. For u = m 2^e with m in [1/2, 1), log u = 2 artanh((m - 1) / (m + 1)) + e log 2. The
   series of artanh is computed here up to terms below 2^-53, so that every machine accepts the same numbers. */
static bool accepted(double x, double u) {
  int e;
  double m = frexp(u, &e), z = (m - 1) / (m + 1), sum = 0;
  for (int k = 33; k > 0; k -= 2) sum = sum * (z * z) + 1.0 / k;
  return x * x <= -4 * (2 * z * sum + e * 0x1.62e42fefa39efp-1);
}

/* Uses the ratio of uniforms (Kinderman and Monahan 1977): v / u is normal for (u, v) uniform where v^2 <= -4 u^2
   log u. */
double smma_random_normal(uint64_t seed, uint32_t stream, uint64_t index) {
  const double width = 0x1.b72cd3f331398p+0; /* 2 sqrt(2 / e) */
  for (uint32_t attempt = 0;; attempt++) {
    smma_philox_block r = draw(seed, stream, index, attempt);
    double u = unit_interval(join(r.word[0], r.word[1])), v = unit_interval(join(r.word[2], r.word[3])), x;
    if (u == 0) continue;
    x = width * (v - 0.5) / u;
    if (accepted(x, u)) return x;
  }
}

/* Returns 2^x. Uses the Taylor series of exp for the fraction; its next term is below 2^-57. */
static double power_of_two(double x) {
  static const double inverse_factorial[] = {1.0,
                                             1.0,
                                             1.0 / 2,
                                             1.0 / 6,
                                             1.0 / 24,
                                             1.0 / 120,
                                             1.0 / 720,
                                             1.0 / 5040,
                                             1.0 / 40320,
                                             1.0 / 362880,
                                             1.0 / 3628800,
                                             1.0 / 39916800,
                                             1.0 / 479001600.0,
                                             1.0 / 6227020800.0,
                                             1.0 / 87178291200.0,
                                             1.0 / 1307674368000.0,
                                             1.0 / 20922789888000.0};
  double whole = floor(x), t = (x - whole) * 0x1.62e42fefa39efp-1, sum = 0;
  for (int k = 16; k >= 0; k--) sum = sum * t + inverse_factorial[k];
  return ldexp(sum, (int)whole);
}

double smma_random_decades(uint64_t seed, uint32_t stream, uint64_t index, double decades) {
  smma_philox_block r = draw(seed, stream, index, 0);
  double logarithm = (2 * unit_interval(join(r.word[0], r.word[1])) - 1) * decades;
  double magnitude = power_of_two(logarithm * 0x1.a934f0979a371p+1); /* log2(10) */
  return r.word[2] & 1 ? -magnitude : magnitude;
}
