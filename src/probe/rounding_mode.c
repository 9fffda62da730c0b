#include "probe/rounding_mode.h"

#include <stddef.h>

const int smma_quarters[SMMA_ROUNDING_QUESTIONS] = {1, 2, 3, 6, -1, -2, -3, -6};

/* down returns the greatest integer that is at most x * 2^-bits; rest_of returns the remainder in units of 2^-bits. */
static int64_t down(int64_t x, int bits) {
  const int64_t one = (int64_t)1 << bits;
  return x >= 0 ? x / one : -((-x + one - 1) / one);
}
static int64_t rest_of(int64_t x, int bits) { return x - down(x, bits) * ((int64_t)1 << bits); }

static int64_t up(int64_t x, int bits) { return down(x, bits) + (rest_of(x, bits) != 0); }
static int64_t toward_zero(int64_t x, int bits) { return x < 0 ? up(x, bits) : down(x, bits); }
static int64_t away_from_zero(int64_t x, int bits) { return x < 0 ? down(x, bits) : up(x, bits); }
static int64_t to_odd(int64_t x, int bits) { return down(x, bits) % 2 != 0 ? down(x, bits) : up(x, bits); }
static int64_t to_even(int64_t x, int bits) { return down(x, bits) % 2 == 0 ? down(x, bits) : up(x, bits); }

/* Rounds x * 2^-bits to the nearest integer, and ties by the mode `ties`. */
static int64_t nearest(int64_t x, int bits, int64_t (*ties)(int64_t, int)) {
  const int64_t twice = 2 * rest_of(x, bits), one = (int64_t)1 << bits;
  return twice == one ? ties(x, bits) : twice < one ? down(x, bits) : up(x, bits);
}
static int64_t nearest_even(int64_t x, int bits) { return nearest(x, bits, to_even); }
static int64_t nearest_odd(int64_t x, int bits) { return nearest(x, bits, to_odd); }
static int64_t nearest_up(int64_t x, int bits) { return nearest(x, bits, up); }
static int64_t nearest_down(int64_t x, int bits) { return nearest(x, bits, down); }
static int64_t nearest_zero(int64_t x, int bits) { return nearest(x, bits, toward_zero); }
static int64_t nearest_away(int64_t x, int bits) { return nearest(x, bits, away_from_zero); }

const smma_rounding_mode smma_rounding_modes[SMMA_MODES] = {{"toward zero", toward_zero, false},
                                                            {"down", down, true},
                                                            {"up", up, true},
                                                            {"away from zero", away_from_zero, false},
                                                            {"to odd", to_odd, true},
                                                            {"to nearest, ties to even", nearest_even, false},
                                                            {"to nearest, ties to odd", nearest_odd, false},
                                                            {"to nearest, ties up", nearest_up, false},
                                                            {"to nearest, ties down", nearest_down, false},
                                                            {"to nearest, ties toward zero", nearest_zero, false},
                                                            {"to nearest, ties away", nearest_away, false}};
static const smma_rounding_mode none = {"not rounded", NULL, false};

const smma_rounding_mode *smma_find_rounding_mode(const int64_t results[SMMA_ROUNDING_QUESTIONS]) {
  bool exact = true;
  for (int i = 0; i < SMMA_ROUNDING_QUESTIONS; i++) exact = exact && results[i] == smma_quarters[i];
  if (exact) return &none;
  for (int m = 0; m < SMMA_MODES; m++) {
    bool same = true;
    for (int i = 0; i < SMMA_ROUNDING_QUESTIONS; i++)
      same = same && results[i] == 4 * smma_rounding_modes[m].round(smma_quarters[i], 2);
    if (same) return &smma_rounding_modes[m];
  }
  return NULL;
}
