#include "rows/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "host/locale.h"
#include "host/philox.h"
#include "rows/generate.h"
#include "softmma/softmma.h"

enum { FIRST_SEED = 1 }; /* that of seed 0 */

const smma_data_info smma_data_infos[SMMA_DATA_KINDS] = {
#define SMMA_DATA(symbol, name, amount, greatest, what) {name, what, amount, greatest},
#include "rows/data.def"
#undef SMMA_DATA
};

/* ---- Names ---- */

static bool unknown(const char *text, smma_error *error) {
  char names[256] = "";
  for (int kind = 0; kind < SMMA_DATA_KINDS; kind++) {
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", kind ? ", " : "", smma_data_infos[kind].name);
  }
  return smma_fail(error, "no data are called '%s'; there are %s", text, names);
}

bool smma_data_from_text(const char *text, smma_data *data, smma_error *error) {
  const size_t length = strcspn(text, "=");
  const char *amount = text[length] ? text + length + 1 : NULL;
  const smma_data_info *info = smma_data_infos;
  smma_locale locale;
  int kind = 0;
  char *end;
  while (kind < SMMA_DATA_KINDS && (strlen(info->name) != length || strncmp(text, info->name, length) != 0))
    kind++, info++;
  if (kind == SMMA_DATA_KINDS) return unknown(text, error);
  data->kind = (smma_data_kind)kind, data->amount = info->amount;
  if (!amount) return true;
  if (info->greatest == 0) return smma_fail(error, "'%s': %s takes no amount", text, info->name);
  locale = smma_locale_enter();
  data->amount = strtod(amount, &end);
  smma_locale_leave(locale);
  if (*end || end == amount || !(data->amount > 0 && data->amount <= info->greatest))
    return smma_fail(error, "'%s': the amount is a number above 0, at most %g", text, info->greatest);
  return true;
}

const char *smma_data_text(smma_data data, char text[32]) {
  const smma_data_info *info = &smma_data_infos[data.kind];
  const smma_locale locale = smma_locale_enter();
  snprintf(text, 32, info->greatest > 0 ? "%s=%g" : "%s", info->name, data.amount);
  smma_locale_leave(locale);
  return text;
}

/* ---- Properties of formats ---- */

static bool has_nan(smma_encoding f) {
  return f.specials != SMMA_SPECIALS_FINITE && f.specials != SMMA_SPECIALS_INTEGER;
}

bool smma_data_has_c(smma_data data) { return data.kind == SMMA_DATA_C || data.kind == SMMA_DATA_C_ANY; }

bool smma_data_fits(smma_data data, const smma_operation *o) {
  const smma_encoding a = smma_encoding_of(o->a);
  switch (data.kind) {
    case SMMA_DATA_MIXED:
    case SMMA_DATA_UNIFORM:
    case SMMA_DATA_LOGNORMAL:
    case SMMA_DATA_SUBNORMAL:
    case SMMA_DATA_LARGE: return a.specials != SMMA_SPECIALS_INTEGER;
    case SMMA_DATA_ANY:
    case SMMA_DATA_NAN: return has_nan(a);
    case SMMA_DATA_INFINITY: return smma_has_infinity(a);
    case SMMA_DATA_OVERFLOW: return o->d == SMMA_F16;
    case SMMA_DATA_C_ANY: return has_nan(smma_encoding_of(o->c));
    case SMMA_DATA_SCALES:
    case SMMA_DATA_SCALES_NAN: return o->scale_block != 0;
    default: return true;
  }
}

/* ---- Numbers ---- */

/* The random bits of one element. dice_of returns them for element `index` of a part. */
typedef struct {
  uint64_t bits;
  uint32_t small;  /* independent bits, for small choices */
  double interval; /* in [0, 1) */
} dice;

static dice dice_of(smma_data data, smma_part_id part, size_t index) {
  const smma_philox_block counter = {{(uint32_t)index, (uint32_t)((uint64_t)index >> 32), 0, (uint32_t)part}};
  const smma_philox_block r = smma_philox(counter, FIRST_SEED + data.seed);
  return (dice){(uint64_t)r.word[1] << 32 | r.word[0], r.word[2], r.word[3] * 0x1p-32};
}

static int greatest_exponent(smma_encoding f) { return (int)(smma_largest_fields(f) >> f.fraction_bits) - f.bias; }

static uint64_t sign_of(smma_encoding f, const dice *x) {
  return (x->bits >> 63 & (uint64_t)f.sign_bits) << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
}

/* Returns a number with this exponent, clamped to the format's normal range, and with random sign and fraction. */
static uint64_t at_exponent(smma_encoding f, const dice *x, int exponent) {
  const int least = smma_minimum_exponent(f), greatest = greatest_exponent(f);
  const uint64_t fraction = smma_low_bits(x->bits, f.fraction_bits);
  uint64_t fields;
  if (exponent < least) exponent = least;
  if (exponent > greatest) exponent = greatest;
  fields = (uint64_t)(exponent + f.bias) << f.fraction_bits | fraction;
  if (fields > smma_largest_fields(f)) fields = smma_largest_fields(f);
  return (fields << f.ignored_bits) | sign_of(f, x);
}

/* Returns a random finite encoding. If the drawn encoding is an infinity or NaN, clears its highest exponent bit. In
   formats whose NaN has the encoding of negative zero, returns zero instead. */
static uint64_t finite(smma_encoding f, const dice *x) {
  const uint64_t encoding = smma_low_bits(x->bits, f.bits);
  if (smma_decode(f, encoding).kind <= SMMA_FINITE) return encoding;
  if (smma_has_nan_for_negative_zero(f)) return 0;
  return encoding ^ (uint64_t)1 << (f.exponent_bits + f.fraction_bits + f.ignored_bits - 1);
}

static uint64_t infinity(smma_encoding f, const dice *x) {
  return (smma_largest_fields(f) + 1) << f.ignored_bits | sign_of(f, x);
}

static uint64_t subnormal(smma_encoding f, const dice *x) {
  const uint64_t fraction = smma_low_bits(x->bits, f.fraction_bits);
  return fraction ? fraction << f.ignored_bits | sign_of(f, x) : 0;
}

/* Returns the share of random walks that leave [-x, x] at any step, with x in standard deviations of their end points:
   Feller's series. */
static double share_outside(double x) {
  double inside = 0;
  for (int k = 0; k < 40; k++) {
    const double odd = 2 * k + 1, term = exp(-odd * odd * 0x1.3bd3cc9be45dep+3 / (8 * x * x)) / odd; /* pi^2 */
    inside += k % 2 ? -term : term;
  }
  return 1 - 0x1.45f306dc9c883p+0 * inside; /* 4 / pi */
}

/* Returns the standard deviation of the elements of A and B for which the fraction `share` of all sums of `depth`
   products leaves FP16's range. */
static double overflowing_deviation(double share, size_t depth) {
  double low = 0.1, high = 10;
  for (int i = 0; i < 40; i++) {
    const double middle = (low + high) / 2;
    if (share_outside(middle) > share)
      low = middle;
    else
      high = middle;
  }
  return sqrt(65504 / (low * sqrt((double)depth)));
}

/* Returns exp(deviation N(0, 1)), by the Box-Muller method. */
static double lognormal(const dice *x, double deviation) {
  const double radius = sqrt(-2 * log(((double)(x->bits >> 32) + 1) * 0x1p-32));
  return exp(deviation * radius * cos(0x1.921fb54442d18p+2 * x->interval)); /* 2 pi */
}

/* ---- Arrays ---- */

/* Fills A and B, in memory order, with the elements of consecutive generated rows. All rows have one length, so that
   operations of different K get the same numbers. */
static void fill_normal(smma_data data, const smma_operation *operation, const smma_data_counts *counts,
                        const smma_data_arrays *arrays) {
  enum { row_length = 16 };
  smma_operation one = *operation, *const o = &one;
  one.k = row_length;
  const size_t a_bytes = smma_bytes_of(o->a), b_bytes = smma_bytes_of(o->b);
  smma_row row;
  for (size_t first = 0; first < counts->a || first < counts->b; first += row_length) {
    smma_generate_row(o, FIRST_SEED + data.seed, first / row_length, SMMA_ROWS_NORMAL, &row);
    for (size_t k = 0; k < row_length; k++) {
      if (first + k < counts->a) smma_store(a_bytes, arrays->a, first + k, row.a[k]);
      if (first + k < counts->b) smma_store(b_bytes, arrays->b, first + k, row.b[k]);
    }
  }
}

/* Returns the element of A or B that takes the place of `normal`, a normally distributed one. `factor` is used by
   SMMA_DATA_OVERFLOW. */
static uint64_t element(smma_data data, smma_format format, double factor, const dice *x, uint64_t normal) {
  const smma_encoding f = smma_encoding_of(format);
  const bool chosen = x->interval < data.amount;
  const int range = (int)data.amount;
  switch (data.kind) {
    case SMMA_DATA_ENCODINGS: return finite(f, x);
    case SMMA_DATA_ANY: return smma_low_bits(x->bits, f.bits);
    case SMMA_DATA_MIXED: return at_exponent(f, x, (int)(x->small % (2 * (uint32_t)range + 1)) - range);
    case SMMA_DATA_UNIFORM:
      return smma_format_encode(format, x->interval, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
    case SMMA_DATA_LOGNORMAL:
      return smma_format_encode(format, lognormal(x, data.amount), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
    case SMMA_DATA_SUBNORMAL: return subnormal(f, x);
    case SMMA_DATA_LARGE: return at_exponent(f, x, greatest_exponent(f) - (int)(x->small % 3));
    case SMMA_DATA_ZEROS: return chosen ? 0 : normal;
    case SMMA_DATA_NAN: return chosen ? smma_default_nan(f) : normal;
    case SMMA_DATA_INFINITY: return chosen ? infinity(f, x) : normal;
    case SMMA_DATA_OVERFLOW:
      return smma_format_encode(format, factor * smma_format_decode(format, normal), SMMA_ROUND_NEAREST_EVEN,
                                SMMA_OVERFLOW_SATURATE);
    default: return normal;
  }
}

static void change(smma_data data, smma_format format, smma_part_id part, double factor, size_t count, void *array) {
  const size_t bytes = smma_bytes_of(format);
  for (size_t i = 0; i < count; i++) {
    const dice x = dice_of(data, part, i);
    smma_store(bytes, array, i, element(data, format, factor, &x, smma_load(bytes, array, i)));
  }
}

static bool changes_elements(smma_data data) { return data.kind != SMMA_DATA_NORMAL && data.kind < SMMA_DATA_C; }

static void fill_c(smma_data data, smma_format format, size_t count, void *array) {
  const smma_encoding f = smma_encoding_of(format);
  const size_t bytes = smma_bytes_of(format);
  for (size_t i = 0; i < count; i++) {
    const dice x = dice_of(data, SMMA_PART_C, i);
    smma_store(bytes, array, i, data.kind == SMMA_DATA_C ? finite(f, &x) : smma_low_bits(x.bits, f.bits));
  }
}

/* Returns a scale factor from 1/4 to 4 (ue8m0) or from 1/2 to 2 (ue4m3). */
static uint64_t usual_scale(smma_format format, const dice *x) {
  const uint64_t one = smma_format_encode(format, 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  const uint32_t span = format == SMMA_UE8M0 ? 2 : 8;
  return one - span + x->small % (2 * span + 1);
}

static void fill_scales(smma_data data, smma_format format, smma_part_id part, size_t count, void *array) {
  const smma_encoding f = smma_encoding_of(format);
  for (size_t i = 0; i < count; i++) {
    const dice x = dice_of(data, part, i);
    uint64_t scale = usual_scale(format, &x);
    if (data.kind == SMMA_DATA_SCALES) scale = finite(f, &x);
    if (data.kind == SMMA_DATA_SCALES_NAN && x.interval < data.amount) scale = smma_default_nan(f);
    smma_store(smma_bytes_of(format), array, i, scale);
  }
}

void smma_data_fill(smma_data data, const smma_operation *o, size_t depth, const smma_data_counts *counts,
                    const smma_data_arrays *arrays) {
  const double factor = data.kind == SMMA_DATA_OVERFLOW ? overflowing_deviation(data.amount, depth) : 1;
  fill_normal(data, o, counts, arrays);
  if (changes_elements(data)) {
    change(data, o->a, SMMA_PART_A, factor, counts->a, arrays->a);
    change(data, o->b, SMMA_PART_B, factor, counts->b, arrays->b);
  }
  if (arrays->c) fill_c(data, o->c, counts->c, arrays->c);
  if (arrays->scale_a) fill_scales(data, o->scale, SMMA_PART_SCALE_A, counts->scale_a, arrays->scale_a);
  if (arrays->scale_b) fill_scales(data, o->scale, SMMA_PART_SCALE_B, counts->scale_b, arrays->scale_b);
}
