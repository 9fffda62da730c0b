/* The public functions about number formats. */
#include <math.h>
#include <string.h>

#include "core/rounding.h"
#include "host/load.h"
#include "isa/format_name.h"
#include "softmma/softmma.h"

static bool known(smma_format format) { return (unsigned)format < SMMA_FORMAT_COUNT; }

static bool known_rounding(smma_rounding rounding) { return (unsigned)rounding <= SMMA_ROUND_NEAREST_AWAY; }

static bool known_overflow(smma_overflow overflow) { return (unsigned)overflow <= SMMA_OVERFLOW_INFINITY; }

const char *smma_format_name(smma_format format) { return smma_format_text(known(format) ? format : SMMA_NO_FORMAT); }

smma_format smma_format_find(const char *name) { return name ? smma_format_from_text(name) : SMMA_NO_FORMAT; }

size_t smma_format_bytes(smma_format format) {
  return known(format) ? smma_container_bytes(smma_encoding_of(format)) : 0;
}

int smma_format_bits(smma_format format) { return known(format) ? smma_encoding_of(format).bits : 0; }

uint64_t smma_round(smma_format format, double value, smma_rounding rounding, smma_overflow overflow) {
  smma_encoding f = smma_encoding_of(format);
  uint64_t encoding;
  if (!known(format) || !known_rounding(rounding) || !known_overflow(overflow)) return SMMA_NO_ENCODING;
  memcpy(&encoding, &value, sizeof encoding);
  return smma_encode_number(f, smma_decode(smma_encoding_of(SMMA_F64), encoding), rounding, overflow);
}

static uint64_t to_f64(smma_encoding f, uint64_t encoding) {
  return smma_encode_number(smma_encoding_of(SMMA_F64), smma_decode(f, encoding), SMMA_ROUND_NEAREST_EVEN,
                            SMMA_OVERFLOW_INFINITY);
}

double smma_value(smma_format format, uint64_t encoding) {
  double value;
  if (!known(format)) return NAN;
  encoding = to_f64(smma_encoding_of(format), encoding);
  memcpy(&value, &encoding, sizeof value);
  return value;
}

/* Whether both are NaN, or the same value with the same sign. */
static bool preserved(smma_encoding from, uint64_t x, smma_encoding to, uint64_t y) {
  smma_number a = smma_decode(from, x), b = smma_decode(to, y);
  if (a.kind == SMMA_NAN || b.kind == SMMA_NAN) return a.kind == b.kind;
  return to_f64(from, x) == to_f64(to, y);
}

/* An end of a format's finite values, and what lies half a step beyond it. */
typedef struct {
  double end, beyond;
} range_end;

/* `outward`: infinity of the end's sign. */
static range_end end_of_range(smma_format format, double outward) {
  const double end = smma_value(format, smma_round(format, outward, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
  const uint64_t inside = smma_round(format, nextafter(end, -outward), outward > 0 ? SMMA_ROUND_DOWN : SMMA_ROUND_UP,
                                     SMMA_OVERFLOW_SATURATE);
  return (range_end){end, end + (end - smma_value(format, inside)) / 2};
}

/* x became y, which is something else. */
static void count_change(double x, double y, range_end least, range_end greatest, smma_conversion *counts) {
  counts->changed++;
  if (isnan(y))
    counts->nan++;
  else if (isinf(y))
    counts->infinite++;
  else if (y == 0)
    counts->zero += x != 0;
  else if (isnan(x) || (y == greatest.end && x > greatest.beyond) || (y == least.end && x < least.beyond))
    counts->saturated++;
}

smma_status smma_convert(smma_format from_format, const void *from, smma_format to_format, void *to, size_t count,
                         smma_rounding rounding, smma_overflow overflow, smma_conversion *conversion) {
  smma_encoding f = smma_encoding_of(from_format), t = smma_encoding_of(to_format);
  smma_conversion counts = {0};
  if (!known(from_format) || !known(to_format) || (count && (!from || !to))) return SMMA_INVALID_ARGUMENT;
  if (!known_rounding(rounding) || !known_overflow(overflow)) return SMMA_INVALID_ARGUMENT;
  const range_end least = end_of_range(to_format, -INFINITY), greatest = end_of_range(to_format, INFINITY);
  for (size_t i = 0; i < count; i++) {
    uint64_t x = smma_load(smma_container_bytes(f), from, i);
    uint64_t y = smma_encode_number(t, smma_decode(f, x), rounding, overflow);
    smma_store(smma_container_bytes(t), to, i, y);
    if (!preserved(f, x, t, y))
      count_change(smma_value(from_format, x), smma_value(to_format, y), least, greatest, &counts);
  }
  if (conversion) *conversion = counts;
  return SMMA_OK;
}
