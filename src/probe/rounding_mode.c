#include "probe/rounding_mode.h"

#include <stddef.h>

const int smma_quarters[SMMA_ROUNDING_QUESTIONS] = {1, 2, 3, 6, -1, -2, -3, -6};

/* Floors of quarters, ties and the rest: floor(x), and what is left of x in quarters, 0 to 3. */
static int64_t floor_of(int64_t x) { return x >= 0 ? x / 4 : -((-x + 3) / 4); }
static int rest_of(int64_t x) { return (int)(x - 4 * floor_of(x)); }

static int64_t down(int64_t x) { return floor_of(x); }
static int64_t up(int64_t x) { return floor_of(x) + (rest_of(x) != 0); }
static int64_t toward_zero(int64_t x) { return x < 0 ? up(x) : down(x); }
static int64_t away_from_zero(int64_t x) { return x < 0 ? down(x) : up(x); }
static int64_t to_odd(int64_t x) { return down(x) % 2 != 0 ? down(x) : up(x); }

/* To the nearest; ties by another mode. */
static int64_t nearest(int64_t x, int64_t (*ties)(int64_t)) {
  return rest_of(x) == 2 ? ties(x) : rest_of(x) < 2 ? down(x) : up(x);
}
static int64_t to_even(int64_t x) { return down(x) % 2 == 0 ? down(x) : up(x); }
static int64_t nearest_even(int64_t x) { return nearest(x, to_even); }
static int64_t nearest_odd(int64_t x) { return nearest(x, to_odd); }
static int64_t nearest_up(int64_t x) { return nearest(x, up); }
static int64_t nearest_down(int64_t x) { return nearest(x, down); }
static int64_t nearest_zero(int64_t x) { return nearest(x, toward_zero); }
static int64_t nearest_away(int64_t x) { return nearest(x, away_from_zero); }

static const struct {
  const char *name;
  int64_t (*round)(int64_t);
} modes[] = {{"toward zero", toward_zero},
             {"down", down},
             {"up", up},
             {"away from zero", away_from_zero},
             {"to odd", to_odd},
             {"to nearest, ties to even", nearest_even},
             {"to nearest, ties to odd", nearest_odd},
             {"to nearest, ties up", nearest_up},
             {"to nearest, ties down", nearest_down},
             {"to nearest, ties toward zero", nearest_zero},
             {"to nearest, ties away", nearest_away}};

const char *smma_rounding_mode(const int64_t results[SMMA_ROUNDING_QUESTIONS]) {
  bool exact = true;
  for (int i = 0; i < SMMA_ROUNDING_QUESTIONS; i++) exact = exact && results[i] == smma_quarters[i];
  if (exact) return "not rounded";
  for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
    bool same = true;
    for (int i = 0; i < SMMA_ROUNDING_QUESTIONS; i++) same = same && results[i] == 4 * modes[m].round(smma_quarters[i]);
    if (same) return modes[m].name;
  }
  return NULL;
}
