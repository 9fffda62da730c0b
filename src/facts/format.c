/* Number formats as data: fields, range, and the encodings of infinity, NaN and zero. */
#include <math.h>

#include "facts/facts.h"
#include "isa/formats.h"
#include "softmma/softmma.h"

/* ---- Numbers. f64 has all numbers of all formats ---- */

static double value_of(smma_encoding f, uint64_t code) {
  const smma_number x = smma_decode(f, code << f.ignored_bits);
  const double magnitude = ldexp((double)x.significand, x.exponent - x.fraction_bits);
  return x.negative ? -magnitude : magnitude;
}

/* Returns the code of -0, or of the least integer. */
static uint64_t sign_of(smma_encoding f) {
  return f.sign_bits ? (uint64_t)1 << (f.exponent_bits + f.fraction_bits) : 0;
}

/* Reports whether the format has no exponent. */
static bool is_fixed_point(smma_encoding f) { return f.specials == SMMA_SPECIALS_INTEGER; }

static double least_of(smma_encoding f) {
  if (is_fixed_point(f)) return value_of(f, sign_of(f));
  return value_of(f, f.sign_bits ? sign_of(f) | smma_largest_fields(f) : 0);
}

/* Returns the number of a code, or null if the code is greater than that of the largest number. */
static smma_datum *number_datum(smma_encoding f, uint64_t code) {
  return code <= smma_largest_fields(f) ? smma_datum_real(value_of(f, code)) : smma_datum_null();
}

static void put_numbers(smma_datum *record, smma_encoding f) {
  const bool floating = !is_fixed_point(f), zero = f.specials != SMMA_SPECIALS_POWERS_OF_TWO;
  const uint64_t normal = zero ? (uint64_t)1 << f.fraction_bits : 0;
  smma_put_real(record, "max", value_of(f, smma_largest_fields(f)));
  smma_put_real(record, "min", least_of(f));
  smma_datum_put(record, "smallest_normal", floating ? number_datum(f, normal) : smma_datum_null());
  smma_datum_put(record, "smallest_subnormal",
                 floating && zero && f.fraction_bits ? number_datum(f, 1) : smma_datum_null());
}

/* ---- Encodings, as hexadecimal digits ---- */

static smma_datum *code_datum(smma_encoding f, uint64_t code) {
  return smma_datum_print("%0*llx", (f.bits + 3) / 4, (unsigned long long)(code << f.ignored_bits));
}

/* Appends the codes from `first` to `last`, as [first, last]. */
static void append_range(smma_datum *list, smma_encoding f, uint64_t first, uint64_t last) {
  smma_datum_append(list, smma_datum_list_of(2, code_datum(f, first), code_datum(f, last)));
}

static smma_datum *infinity_datum(smma_encoding f) {
  smma_datum *list = smma_datum_list();
  const uint64_t infinity = smma_largest_fields(f) + 1;
  if (!smma_has_infinity(f)) return list;
  smma_datum_append(list, code_datum(f, infinity));
  if (f.sign_bits) smma_datum_append(list, code_datum(f, sign_of(f) | infinity));
  return list;
}

static smma_datum *nan_datum(smma_encoding f) {
  smma_datum *list = smma_datum_list();
  const uint64_t ones = smma_low_bits(~(uint64_t)0, f.exponent_bits + f.fraction_bits),
                 first = smma_largest_fields(f) + 1 + smma_has_infinity(f);
  if (smma_has_nan_for_negative_zero(f)) {
    append_range(list, f, sign_of(f), sign_of(f));
    return list;
  }
  if (first > ones) return list;
  append_range(list, f, first, ones);
  if (f.sign_bits) append_range(list, f, sign_of(f) | first, sign_of(f) | ones);
  return list;
}

static smma_datum *zero_datum(smma_encoding f) {
  smma_datum *list = smma_datum_list();
  const bool negative = f.sign_bits && !is_fixed_point(f) && !smma_has_nan_for_negative_zero(f);
  if (f.specials == SMMA_SPECIALS_POWERS_OF_TWO) return list;
  smma_datum_append(list, code_datum(f, 0));
  if (negative) smma_datum_append(list, code_datum(f, sign_of(f)));
  return list;
}

smma_datum *smma_format_datum(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const bool fixed = is_fixed_point(f);
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "name", smma_format_text(format));
  smma_put_count(record, "bits", (uint64_t)f.bits);
  smma_datum_put(record, "exponent_bits", fixed ? smma_datum_null() : smma_datum_count(f.exponent_bits));
  smma_datum_put(record, "fraction_bits", fixed ? smma_datum_null() : smma_datum_count(f.fraction_bits));
  smma_datum_put(record, "bias", fixed ? smma_datum_null() : smma_datum_count(f.bias));
  put_numbers(record, f);
  smma_datum_put(record, "infinity", infinity_datum(f));
  smma_datum_put(record, "nan", nan_datum(f));
  smma_datum_put(record, "zero", zero_datum(f));
  return record;
}

/* Returns `count` bits of an encoding from bit `first` on, as binary digits. */
static smma_datum *bits_datum(uint64_t encoding, int first, int count) {
  char digits[65] = "";
  for (int i = 0; i < count; i++) digits[i] = (char)('0' + (encoding >> (first + count - 1 - i) & 1));
  return smma_datum_text(digits);
}

smma_datum *smma_encoding_datum(smma_format format, uint64_t encoding) {
  const smma_encoding f = smma_encoding_of(format);
  const int fraction = f.ignored_bits + f.fraction_bits, exponent = f.exponent_bits;
  const bool fixed = is_fixed_point(f);
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "format", smma_format_text(format));
  smma_datum_put(record, "encoding", code_datum(f, encoding >> f.ignored_bits));
  smma_datum_put(record, "sign",
                 fixed ? smma_datum_null() : bits_datum(encoding, fraction + exponent, f.sign_bits ? 1 : 0));
  smma_datum_put(record, "exponent", fixed ? smma_datum_null() : bits_datum(encoding, fraction, exponent));
  smma_datum_put(record, "fraction", fixed ? smma_datum_null() : bits_datum(encoding, f.ignored_bits, f.fraction_bits));
  smma_put_real(record, "value", smma_format_decode(format, encoding));
  return record;
}

static smma_datum *block_format_datum(const smma_block_format *format) {
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "name", format->name);
  smma_put_count(record, "block", (uint64_t)format->block);
  smma_datum_put(record, "element", smma_format_datum(format->element));
  smma_datum_put(record, "scale", smma_format_datum(format->scale));
  return record;
}

smma_datum *smma_named_format_datum(const char *name) {
  const smma_block_format *block = smma_find_block_format(name);
  const smma_format format = smma_format_from_text(name);
  const char *list = smma_formats_of_name(name);
  if (block || format != SMMA_NO_FORMAT) return block ? block_format_datum(block) : smma_format_datum(format);
  if (!list) return NULL;
  smma_datum *formats = smma_datum_list();
  while (*list) {
    char one[SMMA_FORMAT_NAME_SIZE];
    list = smma_next_format(list, one);
    smma_datum_append(formats, smma_format_datum(smma_format_from_text(one)));
  }
  return formats;
}
