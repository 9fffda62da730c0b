/* Public functions for number formats. */
#include <math.h>

#include "core/rounding.h"
#include "host/bits.h"
#include "host/load.h"
#include "isa/format_name.h"
#include "softmma/softmma.h"

static bool known(smma_format format) { return smma_is_format(format); }

static bool known_rounding(smma_rounding rounding) { return (unsigned)rounding <= SMMA_ROUND_TO_ODD; }

static bool known_overflow(smma_overflow overflow) { return (unsigned)overflow <= SMMA_OVERFLOW_BY_DIRECTION; }

const char *smma_format_name(smma_format format) { return smma_format_text(known(format) ? format : SMMA_NO_FORMAT); }

smma_format smma_format_find(const char *name) { return name ? smma_format_from_text(name) : SMMA_NO_FORMAT; }

size_t smma_format_bytes(smma_format format) { return known(format) ? smma_bytes_of(format) : 0; }

int smma_format_bits(smma_format format) { return known(format) ? smma_encoding_of(format).bits : 0; }

uint64_t smma_format_encode(smma_format format, double value, smma_rounding rounding, smma_overflow overflow) {
  smma_encoding f = smma_encoding_of(format);
  if (!known(format) || !known_rounding(rounding) || !known_overflow(overflow)) return SMMA_NO_ENCODING;
  return smma_encode_number(f, smma_number_of_f64(value), rounding, overflow);
}

static uint64_t to_f64(smma_encoding f, uint64_t encoding) {
  return smma_encode_number(smma_encoding_of(SMMA_F64), smma_decode(f, encoding), SMMA_ROUND_NEAREST_EVEN,
                            SMMA_OVERFLOW_INFINITY);
}

double smma_format_decode(smma_format format, uint64_t encoding) {
  return known(format) ? smma_f64_of_bits(to_f64(smma_encoding_of(format), encoding)) : NAN;
}
