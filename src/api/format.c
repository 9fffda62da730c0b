/* The public functions about number formats. */
#include <string.h>

#include "core/rounding.h"
#include "host/load.h"
#include "isa/format_name.h"
#include "softmma/softmma.h"

/* The public enumerators name the rows of format.def. */
#define SMMA_SAME(public_name, core_name) \
  _Static_assert((int)public_name == (int)SMMA_FORMAT_##core_name, "softmma.h and format.def disagree")
SMMA_SAME(SMMA_F64, f64);
SMMA_SAME(SMMA_F32, f32);
SMMA_SAME(SMMA_TF32, tf32);
SMMA_SAME(SMMA_F16, f16);
SMMA_SAME(SMMA_BF16, bf16);
SMMA_SAME(SMMA_E5M2, e5m2);
SMMA_SAME(SMMA_E4M3, e4m3);
SMMA_SAME(SMMA_E5M2FNUZ, e5m2fnuz);
SMMA_SAME(SMMA_E4M3FNUZ, e4m3fnuz);
SMMA_SAME(SMMA_E3M2, e3m2);
SMMA_SAME(SMMA_E2M3, e2m3);
SMMA_SAME(SMMA_E2M1, e2m1);
SMMA_SAME(SMMA_UE8M0, ue8m0);
SMMA_SAME(SMMA_UE4M3, ue4m3);
SMMA_SAME(SMMA_S8, s8);
SMMA_SAME(SMMA_U8, u8);
SMMA_SAME(SMMA_S32, s32);
SMMA_SAME(SMMA_E8M13, e8m13);
SMMA_SAME(SMMA_NO_FORMAT, none);
_Static_assert((int)SMMA_ROUND_NEAREST_EVEN == (int)SMMA_NEAREST_EVEN &&
                   (int)SMMA_ROUND_TOWARD_ZERO == (int)SMMA_TOWARD_ZERO &&
                   (int)SMMA_ROUND_DOWN == (int)SMMA_TOWARD_NEGATIVE &&
                   (int)SMMA_ROUND_UP == (int)SMMA_TOWARD_POSITIVE &&
                   (int)SMMA_ROUND_NEAREST_AWAY == (int)SMMA_NEAREST_AWAY,
               "softmma.h and rounding.h disagree");

static bool known(smma_format format) { return (unsigned)format < SMMA_FORMAT_COUNT; }

static smma_encoding encoding_of(smma_format format) { return smma_encoding_of((smma_format_id)format); }

const char *smma_format_name(smma_format format) {
  return smma_format_text(known(format) ? (smma_format_id)format : SMMA_FORMAT_none);
}

smma_format smma_format_find(const char *name) {
  return name ? (smma_format)smma_format_from_text(name) : SMMA_NO_FORMAT;
}

size_t smma_format_bytes(smma_format format) { return known(format) ? smma_container_bytes(encoding_of(format)) : 0; }

int smma_format_bits(smma_format format) { return known(format) ? encoding_of(format).bits : 0; }

static smma_overflow_policy policy_of(smma_encoding f, smma_overflow overflow) {
  if (overflow == SMMA_OVERFLOW_DEFAULT) return smma_default_overflow(f);
  return overflow == SMMA_OVERFLOW_SATURATE ? SMMA_OVERFLOW_SATURATES : SMMA_OVERFLOW_TO_INFINITY;
}

uint64_t smma_round(smma_format format, double value, smma_rounding rounding, smma_overflow overflow) {
  smma_encoding f = encoding_of(format);
  uint64_t encoding;
  if (!known(format)) return 0;
  memcpy(&encoding, &value, sizeof encoding);
  return smma_encode_number(f, smma_decode(smma_encoding_of(SMMA_FORMAT_f64), encoding),
                            (smma_rounding_direction)rounding, policy_of(f, overflow));
}

static uint64_t to_f64(smma_encoding f, uint64_t encoding) {
  return smma_encode_number(smma_encoding_of(SMMA_FORMAT_f64), smma_decode(f, encoding), SMMA_NEAREST_EVEN,
                            SMMA_OVERFLOW_TO_INFINITY);
}

double smma_value(smma_format format, uint64_t encoding) {
  double value;
  if (!known(format)) return 0;
  encoding = to_f64(encoding_of(format), encoding);
  memcpy(&value, &encoding, sizeof value);
  return value;
}

/* Whether both are NaN, or the same value with the same sign. */
static bool preserved(smma_encoding from, uint64_t x, smma_encoding to, uint64_t y) {
  smma_number a = smma_decode(from, x), b = smma_decode(to, y);
  if (a.kind == SMMA_NAN || b.kind == SMMA_NAN) return a.kind == b.kind;
  return to_f64(from, x) == to_f64(to, y);
}

smma_status smma_convert(smma_format from_format, const void *from, smma_format to_format, void *to, size_t count,
                         smma_rounding rounding, smma_overflow overflow, size_t *changed) {
  smma_encoding f = encoding_of(from_format), t = encoding_of(to_format);
  smma_overflow_policy policy = policy_of(t, overflow);
  size_t lost = 0;
  if (!known(from_format) || !known(to_format) || (count && (!from || !to))) return SMMA_INVALID_ARGUMENT;
  if ((unsigned)rounding > SMMA_ROUND_NEAREST_AWAY || (unsigned)overflow > SMMA_OVERFLOW_INFINITY)
    return SMMA_INVALID_ARGUMENT;
  for (size_t i = 0; i < count; i++) {
    uint64_t x = smma_load(smma_container_bytes(f), from, i);
    uint64_t y = smma_encode_number(t, smma_decode(f, x), (smma_rounding_direction)rounding, policy);
    smma_store(smma_container_bytes(t), to, i, y);
    lost += !preserved(f, x, t, y);
  }
  if (changed) *changed = lost;
  return SMMA_OK;
}
