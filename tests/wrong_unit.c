/* Plug-ins that make mistakes on purpose. The argument is the name of a mistake in the list below. */
#define SMMA_EVALUATOR static inline /* this module contains nothing else of the library */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/rule.h"
#include "softmma/unit.h"

#define WAYS(WAY)                                                                                 \
  WAY(right, "as the model")                                                                      \
  WAY(closed, "open fails")                                                                       \
  WAY(failing, "run fails with a line")                                                           \
  WAY(silent, "run fails without one")                                                            \
  WAY(bit, "one alignment bit too few")                                                           \
  WAY(zero, "a zero has the sign of c")                                                           \
  WAY(odd, "the last bit is set")                                                                 \
  WAY(shuffled, "products in another order")                                                      \
  WAY(interrupts, "as the model; its 35th run interrupts the program that asks")                  \
  WAY(hand, "as the model, computed here")                                                        \
  WAY(place, "another result of the same row at an odd place of a batch")                         \
  WAY(moody, "another result whenever asked again")                                               \
  WAY(every17, "another result at every 17th place")                                              \
  WAY(last, "another result of a batch's last row")                                               \
  WAY(single, "another result of a row alone in its batch")                                       \
  WAY(late, "another result from place 1000 on")                                                  \
  WAY(previous, "another result behind a row with a negative c")                                  \
  WAY(same, "another result behind the same c")                                                   \
  WAY(nans, "NaN is negative at odd places of a batch")                                           \
  WAY(payloads, "NaN in c comes through as it is")                                                \
  WAY(seldom, "another result once in 1000 rows, at random")                                      \
  WAY(lane, "two alignment bits too few at k = 5")                                                \
  WAY(lane_of_second_block, "two alignment bits too few at k = 13")                               \
  WAY(lane_rounding, "aligned to nearest at k = 3")                                               \
  WAY(negative_rounding, "negative terms aligned to nearest, ties away; positive ones truncated") \
  WAY(window, "terms at most 21 below the greatest exponent whole, others dropped")               \
  WAY(wraps, "a shift of 64 or more wraps around")                                                \
  WAY(one_exponent, "two alignment bits too few where the greatest exponent is 3")                \
  WAY(low_exponents, "two alignment bits too few where the greatest exponent is below -100")      \
  WAY(second_block, "two alignment bits too few in the second block")                             \
  WAY(block27, "F = 40, and sums of blocks truncated to 27 fraction bits")                        \
  WAY(sixteenths, "aligned to odd if more than 15/16 of a unit are cut off, else truncated")      \
  WAY(negative_c, "a negative c is aligned to nearest")                                           \
  WAY(late_c, "a negative c is added at the end")                                                 \
  WAY(few_carries, "sums of 16 units of the greatest exponent wrap around")                       \
  WAY(flushed_b, "subnormal b becomes zero at k = 5")                                             \
  WAY(flushed_negative, "negative subnormal a becomes zero")                                      \
  WAY(flushed_tiny, "a of the least subnormal becomes zero")                                      \
  WAY(deaf, "NaN in a is zero at k = 7")                                                          \
  WAY(finite, "infinity in b is the greatest number at k = 9")                                    \
  WAY(minus_zero, "x - x is -0 at k = 4")                                                         \
  WAY(small_results, "results below 1 are rounded up, greater ones toward zero")                  \
  WAY(blocks, "the second eight products are two blocks of four")

typedef enum {
#define WAY(name, meaning) WAY_##name,
  WAYS(WAY)
#undef WAY
      WAY_COUNT
} way;

static const char *const names[] = {
#define WAY(name, meaning) #name,
    WAYS(WAY)
#undef WAY
};

typedef struct {
  way how;
  unsigned runs;
  uint64_t random;
} wrong_unit;

/* Returns Ampere's mma.m16n8k16.f32.f16.f16.f32, with F = alignment_bits (24 is correct). */
static smma_operation ampere(int alignment_bits) {
  smma_operation o = {.a = SMMA_F16, .b = SMMA_F16, .c = SMMA_F32, .d = SMMA_F32, .k = 16};
  o.scale = SMMA_NO_FORMAT;
  o.rule.algorithm = SMMA_T_FDPA;
  o.rule.nan = SMMA_NAN_ALL_ONES;
  o.rule.with.t_fdpa = (smma_t_fdpa){alignment_bits, 8, -132, SMMA_F32, SMMA_ROUND_TOWARD_ZERO};
  return o;
}

static int wrong_open(const char *arguments, void **unit, char *message, size_t size) {
  const char *how = arguments ? arguments : "right";
  wrong_unit *u = calloc(1, sizeof *u);
  while (u && u->how < WAY_COUNT && strcmp(how, names[u->how]) != 0) u->how++;
  if (!u || u->how == WAY_COUNT || u->how == WAY_closed) {
    snprintf(message, size, "%s",
             u && u->how == WAY_closed ? "it is closed today" : "there is no such way to be wrong");
    free(u);
    return 1;
  }
  *unit = u;
  return 0;
}

static void wrong_close(void *unit) { free(unit); }

static void wrong_describe(void *unit, smma_unit_description *description) {
  (void)unit;
  snprintf(description->device, sizeof description->device, "a wrong unit");
  snprintf(description->driver, sizeof description->driver, "0");
}

static int wrong_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  (void)unit;
  if (strcmp(i->arch, "ampere") == 0 && strcmp(i->name, "mma.m16n8k16.f32.f16.f16.f32") == 0) return 0;
  if (i->d == SMMA_F16 && strcmp(i->arch, "ampere") == 0 && i->k == 16) return 0;
  snprintf(message, size, "it only has mma.m16n8k16 with f16 on ampere");
  return 1;
}

/* ---- A dot-product-add computed step by step, so that any step can be wrong ---- */

typedef struct {
  smma_number term;
  int k; /* 16: c; 17: the result of the previous block */
} summand;

enum { C = 16, SUM = 17, F = 24, EXACT = 44 };

/* Returns x in units of 2^(emax - bits), with the last bit rounded to nearest, ties away. */
static int64_t nearest(smma_number x, int emax, int bits) {
  const int64_t twice = smma_align(x, emax, bits + 1);
  return (twice + (twice < 0 ? -1 : 1)) / 2;
}

/* Returns one term in units of 2^(emax - EXACT). */
static int64_t aligned(way how, summand s, int emax, bool second) {
  const smma_number x = s.term;
  const int64_t unit = (int64_t)1 << (EXACT - F);
  const bool narrow = (how == WAY_lane && s.k == 5) || (how == WAY_lane_of_second_block && s.k == 13) ||
                      (how == WAY_one_exponent && emax == 3) || (how == WAY_low_exponents && emax < -100) ||
                      (how == WAY_second_block && second);
  const bool to_nearest = (how == WAY_lane_rounding && s.k == 3) || (how == WAY_negative_rounding && x.negative) ||
                          (how == WAY_negative_c && s.k == C && x.negative);
  if (x.kind == SMMA_ZERO) return 0;
  if (how == WAY_window) return x.exponent < emax - 21 ? 0 : smma_align(x, emax, EXACT);
  if (how == WAY_block27) return smma_align(x, emax, 40) * ((int64_t)1 << (EXACT - 40));
  if (how == WAY_wraps && emax - x.exponent >= 64)
    return smma_align(x, x.exponent + (emax - x.exponent) % 64, F) * unit;
  if (how == WAY_sixteenths && smma_magnitude(smma_align(x, emax, EXACT)) % (uint64_t)unit > (uint64_t)unit / 16 * 15)
    return (smma_align(x, emax, F) | 1) * unit;
  if (narrow) return smma_align(x, emax, F - 2) * 4 * unit;
  return (to_nearest ? nearest(x, emax, F) : smma_align(x, emax, F)) * unit;
}

/* Returns a number that may have more bits than any format. */
static smma_number number_of(int64_t sum, int exponent) {
  smma_number n = smma_zero();
  if (sum == 0) return n;
  n.kind = SMMA_FINITE;
  n.negative = sum < 0;
  n.significand = smma_magnitude(sum);
  n.fraction_bits = (int16_t)(smma_bit_length(n.significand) - 1);
  n.exponent = exponent + n.fraction_bits;
  return n;
}

/* Returns a block's sum as FP32; `*next` receives the value that enters the next block. */
static uint32_t sum_of(way how, const summand *s, int count, bool second, smma_number *next) {
  int emax = -132;
  int64_t sum = 0;
  for (int i = 0; i < count; i++)
    if (s[i].term.kind != SMMA_ZERO) emax = smma_maximum(emax, s[i].term.exponent);
  for (int i = 0; i < count; i++) sum += aligned(how, s[i], emax, second);
  if (how == WAY_few_carries && smma_magnitude(sum) >> (EXACT + 4)) sum = -sum;
  const bool small = how == WAY_small_results && smma_bit_length(smma_magnitude(sum)) + emax - EXACT <= 0;
  const uint32_t d =
      (uint32_t)smma_encode(smma_encoding_of(SMMA_F32), sum < 0, smma_magnitude(sum), emax - EXACT, false,
                            small ? SMMA_ROUND_UP : SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_INFINITY);
  *next = smma_decode(smma_encoding_of(SMMA_F32), d);
  if (how == WAY_block27) {
    const int cut = smma_maximum(0, smma_bit_length(smma_magnitude(sum)) - 28);
    *next = number_of(sum / ((int64_t)1 << cut) * ((int64_t)1 << cut), emax - EXACT);
  }
  return d;
}

static bool is_subnormal(uint16_t x) { return (x & 0x7c00) == 0 && (x & 0x3ff) != 0; }

/* Reads the operands with the mistakes that concern them. */
static void take_operands(way how, const smma_batch *batch, size_t row, uint16_t a[16], uint16_t b[16]) {
  memcpy(a, (const uint16_t *)batch->a + row * 16, 16 * sizeof *a);
  memcpy(b, (const uint16_t *)batch->b + row * 16, 16 * sizeof *b);
  for (int k = 0; k < 16; k++) {
    if (how == WAY_flushed_b && k == 5 && is_subnormal(b[k])) b[k] &= 0x8000;
    if (how == WAY_flushed_negative && is_subnormal(a[k]) && a[k] >> 15) a[k] = 0x8000;
    if (how == WAY_flushed_tiny && (a[k] & 0x7fff) == 1) a[k] &= 0x8000;
    if (how == WAY_deaf && k == 7 && (a[k] & 0x7fff) > 0x7c00) a[k] = 0;
    if (how == WAY_finite && k == 9 && (b[k] & 0x7fff) == 0x7c00) b[k]--;
  }
}

static uint32_t compute(way how, const smma_batch *batch, size_t row) {
  static const int eights[] = {0, 8, 16, 16}, fours[] = {0, 8, 12, 16};
  const int *starts = how == WAY_blocks ? fours : eights;
  const uint32_t c = ((const uint32_t *)batch->c)[row];
  const smma_encoding f16 = smma_encoding_of(SMMA_F16);
  const smma_operation o = ampere(how == WAY_bit ? F - 1 : F);
  smma_number x[16], y[16], sum = smma_decode(smma_encoding_of(SMMA_F32), c), late = smma_zero();
  bool special = sum.kind > SMMA_FINITE;
  uint16_t a[16], b[16];
  uint32_t d = 0;
  take_operands(how, batch, row, a, b);
  for (int k = 0; k < 16; k++) {
    const int from = how == WAY_shuffled ? k * 5 % 16 : k;
    x[k] = smma_decode(f16, a[from]);
    y[k] = smma_decode(f16, b[from]);
    special |= x[k].kind > SMMA_FINITE || y[k].kind > SMMA_FINITE;
  }
  if (special || how < WAY_hand) return (uint32_t)smma_dot_add(&o, (smma_operands){x, y, NULL, NULL}, c);
  if (how == WAY_late_c && sum.negative) late = sum, sum = smma_zero();
  for (int block = 0; starts[block] < 16; block++) {
    summand s[10] = {{sum, block ? SUM : C}};
    int count = 1;
    if (sum.kind > SMMA_FINITE) return d;
    for (int k = starts[block]; k < starts[block + 1]; k++) s[count++] = (summand){smma_product(x[k], y[k]), k};
    d = sum_of(how, s, count, block > 0, &sum);
  }
  if (late.kind != SMMA_ZERO && sum.kind <= SMMA_FINITE)
    d = sum_of(how, (summand[]){{sum, SUM}, {late, C}}, 2, true, &sum);
  if (how == WAY_minus_zero && d == 0 && x[4].kind != SMMA_ZERO && y[4].kind != SMMA_ZERO) d = 0x80000000;
  return d;
}

static bool is_nan(uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; }

/* Reports whether this call, or this row, returns a different result. */
static bool is_off(wrong_unit *u, const smma_batch *batch, size_t row) {
  const uint32_t *c = batch->c;
  u->random = u->random * 6364136223846793005 + 1442695040888963407;
  switch (u->how) {
    case WAY_place: return row % 2;
    case WAY_moody: return u->runs % 2 == 0;
    case WAY_every17: return row % 17 == 16;
    case WAY_last: return batch->rows > 3 && row + 1 == batch->rows;
    case WAY_single: return batch->rows == 1;
    case WAY_late: return row >= 1000;
    case WAY_previous: return row > 0 && c[row - 1] >> 31;
    case WAY_same: return row > 0 && c[row - 1] == c[row];
    case WAY_seldom: return (u->random >> 33) % 1000 == 0;
    default: return false;
  }
}

static int wrong_run(void *unit, const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  wrong_unit *u = unit;
  uint32_t *d = batch->d;
  u->runs++;
  if (u->how == WAY_interrupts && u->runs == 35) kill(getppid(), SIGINT);
  if (u->how == WAY_failing) snprintf(message, size, "the device fell off the bus");
  if (u->how == WAY_failing || u->how == WAY_silent || i->d == SMMA_F16) return 1;
  for (size_t row = 0; row < batch->rows; row++) {
    d[row] = compute(u->how, batch, row);
    if (u->how == WAY_zero && d[row] == 0) d[row] = ((const uint32_t *)batch->c)[row] & 0x80000000;
    if (u->how == WAY_odd) d[row] |= 1;
    if (u->how == WAY_nans && d[row] == 0x7fffffff) d[row] |= (uint32_t)(row % 2) << 31;
    if (u->how == WAY_payloads && is_nan(((const uint32_t *)batch->c)[row])) d[row] = ((const uint32_t *)batch->c)[row];
    d[row] ^= is_off(u, batch, row);
  }
  return 0;
}

static const smma_unit_methods methods = {
#ifdef WRONG_ABI
    .abi = 1, /* the first version of softmma/unit.h */
#else
    .abi = SMMA_UNIT_ABI,
#endif
    .open = wrong_open,
    .close = wrong_close,
    .describe = wrong_describe,
    .computes = wrong_computes,
    .run = wrong_run};

const smma_unit_methods *softmma_unit(void);
const smma_unit_methods *softmma_unit(void) { return &methods; }
