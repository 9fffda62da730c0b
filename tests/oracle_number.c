#include "oracle_number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softmma/softmma.h"

/* Returns the layout of a format that its name spells out: docs/custom-units.md. */
static layout layout_of_name(const char *name) {
  layout f = {0, 0, 0, name[0] != 'u', 0, OF_GREATEST_EXPONENT};
  const char *at = name + !f.is_signed, *word = strrchr(name, '-');
  char is_signed, is_extended;
  int bits, bias, precision;
  if (sscanf(name, "binary%dp%d%c%c", &bits, &precision, &is_signed, &is_extended) == 4) {
    f.is_signed = is_signed == 's';
    f.exponent_bits = bits - precision + !f.is_signed, f.fraction_bits = precision - 1;
    f.least_exponent = 1 - (1 << (f.exponent_bits - 1));
    f.specials = is_extended == 'e' ? OF_P3109 : MINUS_ZERO;
    if (f.specials == MINUS_ZERO && !f.is_signed) f.specials = ALL_ONES;
    return f;
  }
  if (sscanf(name, "s%d", &bits) == 1 || sscanf(name, "u%d", &bits) == 1)
    return (layout){0, bits - f.is_signed, 0, f.is_signed, 0, OF_INTEGERS};
  if (sscanf(at, "e%dm%d", &f.exponent_bits, &f.fraction_bits) != 2) abort();
  if (strncmp(at, "e4m3", 4) == 0 && !isdigit((unsigned char)at[4])) f.specials = ALL_ONES;
  if (strncmp(name, "e3m2", 4) == 0 || strncmp(name, "e2m3", 4) == 0 || strncmp(name, "e2m1", 4) == 0)
    if (!isdigit((unsigned char)name[4])) f.specials = NO_SPECIALS;
  if (word && strcmp(word, "-ieee") == 0) f.specials = OF_GREATEST_EXPONENT;
  if (word && strcmp(word, "-nan") == 0) f.specials = ALL_ONES;
  if (word && strcmp(word, "-fnuz") == 0) f.specials = MINUS_ZERO;
  if (word && strcmp(word, "-finite") == 0) f.specials = NO_SPECIALS;
  bias = (1 << f.exponent_bits) / 2 - (f.specials == MINUS_ZERO ? 0 : 1);
  word = strstr(name, "-bias");
  if (word) bias = atoi(word + strlen("-bias"));
  f.least_exponent = 1 - bias;
  return f;
}

static layout spelled_layout(smma_format format) {
  static _Thread_local smma_format last;
  static _Thread_local layout f;
  if (last != format) f = layout_of_name(smma_format_name(format)), last = format;
  return f;
}

/* Written from the standards, not from core/format.def. The switch has no default, so that the compiler reports a
   missing format. */
layout oracle_layout(smma_format format) {
  switch (format) {
    case SMMA_F64: return (layout){11, 52, 0, true, -1022, OF_GREATEST_EXPONENT};
    case SMMA_F32: return (layout){8, 23, 0, true, -126, OF_GREATEST_EXPONENT};
    case SMMA_E8M13: return (layout){8, 13, 10, true, -126, OF_GREATEST_EXPONENT};
    case SMMA_TF32: return (layout){8, 10, 13, true, -126, OF_GREATEST_EXPONENT};
    case SMMA_BF16: return (layout){8, 7, 0, true, -126, OF_GREATEST_EXPONENT};
    case SMMA_F16: return (layout){5, 10, 0, true, -14, OF_GREATEST_EXPONENT};
    case SMMA_E5M2: return (layout){5, 2, 0, true, -14, OF_GREATEST_EXPONENT};
    case SMMA_E5M2FNUZ: return (layout){5, 2, 0, true, -15, MINUS_ZERO};
    case SMMA_E4M3: return (layout){4, 3, 0, true, -6, ALL_ONES};
    case SMMA_E4M3FNUZ: return (layout){4, 3, 0, true, -7, MINUS_ZERO};
    case SMMA_UE4M3: return (layout){4, 3, 0, false, -6, ALL_ONES};
    case SMMA_E3M2: return (layout){3, 2, 0, true, -2, NO_SPECIALS};
    case SMMA_E2M3: return (layout){2, 3, 0, true, 0, NO_SPECIALS};
    case SMMA_E2M1: return (layout){2, 1, 0, true, 0, NO_SPECIALS};
    case SMMA_UE8M0: return (layout){8, 0, 0, false, -127, OF_POWERS};
    case SMMA_S8: return (layout){0, 7, 0, true, 0, OF_INTEGERS};
    case SMMA_U8: return (layout){0, 8, 0, false, 0, OF_INTEGERS};
    case SMMA_S4: return (layout){0, 3, 0, true, 0, OF_INTEGERS};
    case SMMA_U4: return (layout){0, 4, 0, false, 0, OF_INTEGERS};
    case SMMA_B1: return (layout){0, 1, 0, false, 0, OF_INTEGERS};
    case SMMA_S32: return (layout){0, 31, 0, true, 0, OF_INTEGERS};
    case SMMA_OCP_INT8: return (layout){0, 7, 0, true, -6, OF_INTEGERS};
    case SMMA_NO_FORMAT:
    case SMMA_SPELLED_FORMATS: break;
  }
  if (format > SMMA_SPELLED_FORMATS) return spelled_layout(format);
  return (layout){0, 0, 0, false, 0, NO_SPECIALS};
}

bool oracle_has_no_minus_zero(const layout *f) {
  return f->specials == MINUS_ZERO || (f->specials == OF_P3109 && f->is_signed);
}

static class_of_value class_of_fields(layout f, bool negative, uint64_t exponent, uint64_t fraction) {
  bool last_exponent = exponent + 1 == UINT64_C(1) << f.exponent_bits;
  bool last_fraction = fraction + 1 == UINT64_C(1) << f.fraction_bits;
  uint64_t code, last;
  switch (f.specials) {
    case OF_GREATEST_EXPONENT: return !last_exponent ? FINITE : fraction ? NOT_A_NUMBER : INFINITE;
    case ALL_ONES:
    case OF_POWERS: return last_exponent && last_fraction ? NOT_A_NUMBER : FINITE;
    case MINUS_ZERO: return negative && exponent == 0 && fraction == 0 ? NOT_A_NUMBER : FINITE;
    case OF_P3109:
      code = exponent << f.fraction_bits | fraction;
      last = (UINT64_C(1) << (f.exponent_bits + f.fraction_bits)) - 1;
      if (f.is_signed ? negative && code == 0 : code == last) return NOT_A_NUMBER;
      return code == last - !f.is_signed ? INFINITE : FINITE;
    case NO_SPECIALS:
    case OF_INTEGERS: break;
  }
  return FINITE;
}

/* Decodes a multiple of the last bit; in a signed format (two's complement) the first bit has a negative weight. */
static void decode_integer(quantity *q, layout f, uint64_t encoding) {
  int bits = f.fraction_bits + f.is_signed;
  q->negative = f.is_signed && encoding >> (bits - 1);
  q->class = FINITE;
  q->exponent = 0;
  mpz_set_si(q->value, (long)encoding - (q->negative ? 1L << bits : 0));
  mpz_mul_2exp(q->value, q->value, (mp_bitcnt_t)(OPERAND_UNIT + f.least_exponent));
}

void oracle_decode(quantity *q, smma_format format, uint64_t encoding) {
  layout f = oracle_layout(format);
  uint64_t fields = encoding >> f.low_bits;
  uint64_t fraction = fields % (UINT64_C(1) << f.fraction_bits);
  uint64_t exponent = (fields >> f.fraction_bits) % (UINT64_C(1) << f.exponent_bits);
  bool hidden_one = exponent > 0 || f.specials == OF_POWERS;
  if (f.specials == OF_INTEGERS) {
    decode_integer(q, f, encoding);
    return;
  }
  q->negative = f.is_signed && (fields >> f.fraction_bits >> f.exponent_bits & 1);
  q->class = class_of_fields(f, q->negative, exponent, fraction);
  q->exponent = f.least_exponent;
  if (f.specials == OF_POWERS)
    q->exponent += (int)exponent;
  else if (exponent > 0)
    q->exponent += (int)exponent - 1;
  mpz_set_ui(q->value, fraction + (hidden_one ? UINT64_C(1) << f.fraction_bits : 0));
  mpz_mul_2exp(q->value, q->value, (mp_bitcnt_t)(OPERAND_UNIT + q->exponent - f.fraction_bits));
  if (q->negative) mpz_neg(q->value, q->value);
}

void oracle_flush(quantity *q, smma_format format, smma_subnormal_policy policy) {
  int least = oracle_layout(format).least_exponent;
  if (q->class != FINITE || policy == SMMA_SUBNORMALS_KEPT) return;
  if (mpz_sgn(q->value) && (int)mpz_sizeinbase(q->value, 2) - 1 - OPERAND_UNIT >= least) return;
  mpz_set_ui(q->value, 0);
  q->negative = q->negative && policy == SMMA_SUBNORMALS_TO_SIGNED_ZERO;
}

/* Rounds down first, and up again if needed. mpz_tstbit and mpz_scan1 see two's complement, whose last bits are the
   distance from the multiple below. */
void oracle_round(mpz_t x, mp_bitcnt_t bits, smma_rounding direction) {
  const bool negative = mpz_sgn(x)<0, half = bits> 0 && mpz_tstbit(x, bits - 1);
  const bool less = mpz_sgn(x) && mpz_scan1(x, 0) + 1 < bits, exact = !half && !less; /* bits below the half */
  bool odd, up = false;
  mpz_fdiv_q_2exp(x, x, bits);
  odd = mpz_odd_p(x);
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: up = half && (less || odd); break;
    case SMMA_ROUND_NEAREST_AWAY: up = half && (less || !negative); break;
    case SMMA_ROUND_NEAREST_ZERO: up = half && (less || negative); break;
    case SMMA_ROUND_NEAREST_UP: up = half; break;
    case SMMA_ROUND_NEAREST_DOWN: up = half && less; break;
    case SMMA_ROUND_TOWARD_ZERO: up = negative && !exact; break;
    case SMMA_ROUND_UP: up = !exact; break;
    case SMMA_ROUND_DOWN: break;
    case SMMA_ROUND_TO_ODD: up = !odd && !exact; break;
  }
  if (up) mpz_add_ui(x, x, 1);
  mpz_mul_2exp(x, x, bits);
}

uint64_t oracle_sign_bit(smma_format format, bool negative) {
  layout f = oracle_layout(format);
  return negative ? UINT64_C(1) << (f.exponent_bits + f.fraction_bits + f.low_bits) : 0;
}

uint64_t oracle_greatest(smma_format format) {
  layout f = oracle_layout(format);
  uint64_t ones = (UINT64_C(1) << (f.exponent_bits + f.fraction_bits)) - 1;
  if (f.specials == OF_GREATEST_EXPONENT) ones -= UINT64_C(1) << f.fraction_bits;
  if (f.specials == ALL_ONES || f.specials == OF_POWERS) ones--;
  if (f.specials == OF_P3109) ones -= f.is_signed ? 1 : 2;
  return ones << f.low_bits;
}

/* Returns NaN. All ones means: bits 0 to 30 of f32 and e8m13, bits 0 to 14 of f16. */
uint64_t oracle_nan(smma_format format, smma_nan_policy policy) {
  layout f = oracle_layout(format);
  switch (f.specials) {
    case OF_GREATEST_EXPONENT:
      if (policy == SMMA_NAN_ALL_ONES) return oracle_sign_bit(format, true) - 1;
      return oracle_infinity(format, false) | UINT64_C(1) << (f.fraction_bits + f.low_bits - 1);
    case ALL_ONES:
    case OF_POWERS: return oracle_sign_bit(format, true) - 1;
    case MINUS_ZERO: return oracle_sign_bit(format, true);
    case OF_P3109: return oracle_sign_bit(format, true) - !f.is_signed;
    case NO_SPECIALS: return oracle_greatest(format);
    case OF_INTEGERS: break;
  }
  return 0;
}

/* Returns ffc00a3d in f32, fe3d in f16, fffd in bf16; the only NaN in formats with one NaN. */
uint64_t oracle_marked_nan(smma_format format) {
  layout f = oracle_layout(format);
  uint64_t nan = oracle_nan(format, SMMA_NAN_QUIET);
  if (f.specials == ALL_ONES || f.specials == OF_POWERS) return nan | oracle_sign_bit(format, true);
  if (f.specials != OF_GREATEST_EXPONENT) return nan;
  return oracle_sign_bit(format, true) | nan | 0xa3d % (UINT64_C(1) << f.fraction_bits) << f.low_bits;
}

uint64_t oracle_infinity(smma_format format, bool negative) {
  layout f = oracle_layout(format);
  uint64_t sign = oracle_sign_bit(format, negative), ones = (UINT64_C(1) << f.exponent_bits) - 1;
  if (f.specials == OF_GREATEST_EXPONENT) return sign | ones << (f.fraction_bits + f.low_bits);
  if (f.specials == OF_P3109) return sign | (oracle_greatest(format) + 1);
  return sign | oracle_nan(format, SMMA_NAN_QUIET); /* in formats of class MINUS_ZERO this is the sign */
}
