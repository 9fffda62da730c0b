/* Encodings: unpacking them to nodes, and rounding to them. */
#include <string.h>

#include "core/policy.h"
#include "rtl/unit.h"

/* Returns the text of a bit field of the vector `code`; the field may have no bits. */
static smma_rtl_words field(const char *name, int low, int bits) {
  if (bits == 1) return smma_rtl_print("%s[%d]", name, low);
  return smma_rtl_print("%s[%d:%d]", name, low + bits - 1, low);
}

/* ---- Unpacking ---- */

/* Declares what an encoding consists of: negative, exponent, significand, nan, infinite. */
static void put_unpacked(smma_rtl_unit *u, smma_encoding f) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, low = f.ignored_bits, high = low + f.fraction_bits, width = f.fraction_bits + 1;
  const int fields = f.exponent_bits + f.fraction_bits;
  const uint64_t largest = smma_largest_fields(f), ones = smma_low_bits(~(uint64_t)0, fields);
  smma_rtl_put(w, "  logic negative, zero, infinite, nan;\n  logic signed [%d:0] exponent;\n", x - 1);
  smma_rtl_put(w, "  logic [%d:0] significand;\n  logic [%d:0] fields;\n", width - 1, fields - 1);
  smma_rtl_put(w, "  assign fields = %s;\n", field("code", low, fields).text);
  if (f.sign_bits)
    smma_rtl_put(w, "  assign negative = code[%d];\n", low + fields);
  else
    smma_rtl_put(w, "  assign negative = 1'b0;\n");
  if (f.specials == SMMA_SPECIALS_POWERS_OF_TWO) {
    smma_rtl_put(w, "  assign exponent = $signed({%d'd0, fields}) - %s;\n", x - f.exponent_bits,
                 smma_rtl_exponent(u, f.bias).text);
    smma_rtl_put(w, "  assign significand = 1'b1;\n");
  } else if (f.exponent_bits == 0) {
    smma_rtl_put(w, "  assign exponent = %s;\n", smma_rtl_exponent(u, 1 - f.bias).text);
    if (f.sign_bits)
      smma_rtl_put(w, "  assign significand = negative ? %s - {1'b0, fields} : {1'b0, fields};\n",
                   smma_rtl_hex(width, (uint64_t)1 << f.fraction_bits).text);
    else
      smma_rtl_put(w, "  assign significand = {1'b0, fields};\n");
  } else {
    const smma_rtl_words e = field("code", high, f.exponent_bits);
    smma_rtl_put(w, "  assign exponent = (%s == %d'd0 ? %s : $signed({%d'd0, %s})) - %s;\n", e.text, f.exponent_bits,
                 smma_rtl_exponent(u, 1).text, x - f.exponent_bits, e.text, smma_rtl_exponent(u, f.bias).text);
    if (f.fraction_bits)
      smma_rtl_put(w, "  assign significand = {%s != %d'd0, %s};\n", e.text, f.exponent_bits,
                   field("code", low, f.fraction_bits).text);
    else
      smma_rtl_put(w, "  assign significand = %s != %d'd0;\n", e.text, f.exponent_bits);
  }
  smma_rtl_reach(u, -f.bias, (1 << f.exponent_bits) + (f.bias < 0 ? -f.bias : 0));
  if (smma_has_infinity(f))
    smma_rtl_put(w, "  assign infinite = fields == %s;\n", smma_rtl_hex(fields, largest + 1).text);
  else
    smma_rtl_put(w, "  assign infinite = 1'b0;\n");
  if (smma_has_nan_for_negative_zero(f))
    smma_rtl_put(w, "  assign nan = negative && fields == %d'd0;\n", fields);
  else if (largest < ones)
    smma_rtl_put(w, "  assign nan = fields > %s && !infinite;\n", smma_rtl_hex(fields, largest).text);
  else
    smma_rtl_put(w, "  assign nan = 1'b0;\n");
}

smma_rtl_words smma_rtl_is_nan(smma_encoding f, const char *code) {
  const int fields = f.exponent_bits + f.fraction_bits;
  const uint64_t largest = smma_largest_fields(f), ones = smma_low_bits(~(uint64_t)0, fields);
  if (smma_has_nan_for_negative_zero(f))
    return smma_rtl_print("%s == %s", code, smma_rtl_hex(f.bits, (uint64_t)1 << (f.bits - 1)).text);
  if (largest < ones)
    return smma_rtl_print("%s > %s", field(code, f.ignored_bits, fields).text,
                          smma_rtl_hex(fields, largest + (smma_has_infinity(f) ? 1 : 0)).text);
  return (smma_rtl_words){""};
}

/* Assigns `zero`: the code is a zero, or a subnormal number that is flushed. */
static void put_flushed(smma_rtl_unit *u, smma_encoding f, smma_subnormal_policy flush) {
  smma_rtl_writer *w = &u->modules;
  const bool flushes = flush != SMMA_SUBNORMALS_KEPT && f.specials != SMMA_SPECIALS_POWERS_OF_TWO;
  smma_rtl_put(w, "  assign zero = !nan && !infinite && significand%s == %d'd0;\n",
               flushes ? smma_rtl_print("[%d]", f.fraction_bits).text : "", flushes ? 1 : f.fraction_bits + 1);
}

smma_rtl_words smma_rtl_decode(smma_rtl_unit *u, smma_format format, smma_subnormal_policy flush, smma_rtl_shape to) {
  const smma_encoding f = smma_rtl_encoding_of(u, format);
  const smma_rtl_shape own = smma_rtl_shape_of(u, format);
  const int more = to.fraction - own.fraction, high = to.width - own.width - more, p = u->payload_bits;
  smma_rtl_writer *w = &u->modules;
  smma_rtl_words name =
      smma_rtl_print("%s_decode%s%s%s_%d_%d_%d_%d_%d", u->name, f.sign_bits ? "" : "_unsigned", flush ? "_ftz" : "",
                     flush == SMMA_SUBNORMALS_TO_POSITIVE_ZERO ? "p" : "", f.bits, f.exponent_bits, f.fraction_bits,
                     f.bias < 0 ? 10000 - f.bias : f.bias, (int)f.specials);
  if (more || high) name = smma_rtl_print("%s_%d_%d", name.text, to.fraction, to.width);
  if (!smma_rtl_begin(u, name.text,
                      smma_rtl_print("// Unpacks an encoding: %d exponent bits, %d fraction bits, bias %d%s.",
                                     f.exponent_bits, f.fraction_bits, f.bias,
                                     flush == SMMA_SUBNORMALS_KEPT             ? ""
                                     : flush == SMMA_SUBNORMALS_TO_SIGNED_ZERO ? "; subnormals are zeros of their sign"
                                                                               : "; subnormals and -0 are +0")
                          .text))
    return name;
  smma_rtl_put(w, "    input  logic [%d:0] code,\n    output logic [%d:0] x\n);\n", f.bits - 1,
               smma_rtl_node_bits(u, to) - 1);
  put_unpacked(u, f);
  put_flushed(u, f, flush);
  smma_rtl_put(w, "  assign x = {");
  if (p && f.fraction_bits == p)
    smma_rtl_put(w, "%s, 2'b00, ", field("code", f.ignored_bits, f.fraction_bits).text);
  else if (p && f.fraction_bits && f.specials != SMMA_SPECIALS_POWERS_OF_TWO)
    smma_rtl_put(w, "%s, %d'd0, ", field("code", f.ignored_bits, f.fraction_bits).text, p - f.fraction_bits + 2);
  else if (p)
    smma_rtl_put(w, "%d'd0, ", p + 2);
  if (smma_rtl_has_beyond(u)) smma_rtl_put(w, "2'b00, ");
  smma_rtl_put(w, "%s, zero, negative%s, exponent, ", smma_rtl_has_only_numbers(u) ? "2'b00" : "nan, infinite",
               flush == SMMA_SUBNORMALS_TO_POSITIVE_ZERO ? " && !zero" : "");
  if (high > 0) smma_rtl_put(w, "%d'd0, ", high);
  smma_rtl_put(w, flush ? "zero ? %d'd0 : significand" : "significand", own.width);
  if (more > 0) smma_rtl_put(w, ", %d'd0", more);
  smma_rtl_put(w, "};\nendmodule\n");
  return name;
}

/* ---- Rounding ---- */

smma_rtl_words smma_rtl_rounds_up(smma_rounding direction, const char *p) {
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: return smma_rtl_print("%shalf && (%srest || %sodd)", p, p, p);
    case SMMA_ROUND_DOWN: return smma_rtl_print("negative && (%shalf || %srest)", p, p);
    case SMMA_ROUND_UP: return smma_rtl_print("!negative && (%shalf || %srest)", p, p);
    case SMMA_ROUND_NEAREST_AWAY: return smma_rtl_print("%shalf", p);
    case SMMA_ROUND_NEAREST_ZERO: return smma_rtl_print("%shalf && %srest", p, p);
    case SMMA_ROUND_NEAREST_UP: return smma_rtl_print("%shalf && (%srest || !negative)", p, p);
    case SMMA_ROUND_NEAREST_DOWN: return smma_rtl_print("%shalf && (%srest || negative)", p, p);
    case SMMA_ROUND_TO_ODD: return smma_rtl_print("!%sodd && (%shalf || %srest)", p, p, p);
    default: return smma_rtl_print("1'b0");
  }
}

/* Declares `zeros`, the number of zeros above the leading bit of a magnitude. */
static void put_zeros(smma_rtl_writer *w, const char *zeros, const char *magnitude, int width) {
  const int bits = smma_rtl_bits_for(width);
  smma_rtl_put(w, "  logic [%d:0] %s; // zeros above the leading bit\n", bits - 1, zeros);
  smma_rtl_put(w, "  always_comb begin\n    %s = %d'd%d;\n", zeros, bits, width);
  smma_rtl_put(w, "    for (int i = 0; i < %d; i++) if (%s[i]) %s = %d'(%d - i);\n  end\n", width, magnitude, zeros,
               bits, width - 1);
}

smma_rtl_total smma_rtl_put_narrow(smma_rtl_unit *u, const smma_step *s, smma_rtl_total t) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, n = t.width, lost = n + 1, bits = s->narrow_bits,
            kept = smma_minimum(n, bits + 1) + 1;
  const int least = smma_minimum_exponent(smma_encoding_of(s->output));
  smma_rtl_total narrow = {.width = kept, .special = t.special, .least = t.least};
  put_zeros(w, "above", "magnitude", n);
  smma_rtl_put(w, "  localparam signed [%d:0] NARROW_BITS = %s;\n", x - 1, smma_rtl_exponent(u, bits).text);
  smma_rtl_put(w, "  logic signed [%d:0] surplus%s; // places below NARROW_BITS\n", x - 1,
               s->narrow_subnormals ? ", least_surplus" : "");
  smma_rtl_put(w, "  logic [%d:0] narrow_places;\n", x - 1);
  if (s->narrow_subnormals) {
    smma_rtl_put(w, "  assign least_surplus = %s - NARROW_BITS - exponent;\n", smma_rtl_exponent(u, least).text);
    smma_rtl_put(w,
                 "  assign surplus = $signed(%s - NARROW_BITS - $signed({%d'd0, above})) > least_surplus\n"
                 "      ? %s - NARROW_BITS - $signed({%d'd0, above}) : least_surplus;\n",
                 smma_rtl_exponent(u, n - 1).text, x - smma_rtl_bits_for(n), smma_rtl_exponent(u, n - 1).text,
                 x - smma_rtl_bits_for(n));
    smma_rtl_reach(u, least - bits - t.most, least - bits - t.least);
  } else {
    smma_rtl_put(w, "  assign surplus = %s - NARROW_BITS - $signed({%d'd0, above});\n",
                 smma_rtl_exponent(u, n - 1).text, x - smma_rtl_bits_for(n));
  }
  smma_rtl_reach(u, -bits - n, n);
  smma_rtl_put(w, "  assign narrow_places = surplus < %s ? %d'd0 : surplus > %s ? %d'd%d : surplus;\n",
               smma_rtl_exponent(u, 0).text, x, smma_rtl_exponent(u, lost).text, x, lost);
  smma_rtl_put(w, "  logic [%d:0] narrow_all;\n  logic [%d:0] narrow_lost;\n", n - 1, lost - 1);
  smma_rtl_put(w, "  assign {narrow_all, narrow_lost} = {magnitude, %d'd0} >> narrow_places;\n", lost);
  smma_rtl_put(w, "  logic [%d:0] narrowed;\n  logic signed [%d:0] narrowed_exponent;\n  logic narrow_up;\n", kept - 1,
               x - 1);
  smma_rtl_put(w,
               "  logic narrow_odd, narrow_half, narrow_rest;\n  assign narrow_odd = narrow_all[0];\n"
               "  assign narrow_half = narrow_lost[%d];\n  assign narrow_rest = |narrow_lost[%d:0];\n",
               lost - 1, lost - 2);
  smma_rtl_put(w, "  assign narrow_up = %s;\n", smma_rtl_rounds_up(s->narrow_rounding, "narrow_").text);
  smma_rtl_put(w, "  assign narrowed = {1'b0, narrow_all[%d:0]} + {%d'd0, narrow_up};\n", kept - 2, kept - 1);
  smma_rtl_put(w, "  assign narrowed_exponent = surplus > %s ? exponent + surplus : exponent;\n",
               smma_rtl_exponent(u, 0).text);
  narrow.most = smma_maximum(t.most + smma_maximum(n - 1 - bits, 0), s->narrow_subnormals ? least - bits : t.most);
  smma_rtl_reach(u, narrow.least, narrow.most);
  return narrow;
}

/* Declares `places_left` and `aligned`. `aligned` has `bits` bits and contains the magnitude, shifted so that its
   leading bit is the highest bit. For results below the least normal number, the bit of that number's exponent is the
   highest instead. `field` is the exponent field less one. */
static void put_normalised(smma_rtl_unit *u, int width, int bits, int least, bool goes_right, int most_right) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, count = smma_rtl_bits_for(width);
  put_zeros(w, "zeros", "magnitude", width);
  smma_rtl_put(w, "  logic signed [%d:0] room, field; // the highest and the leading bit above the least exponent\n",
               x - 1);
  smma_rtl_put(w, "  assign room = exponent + %s;\n", smma_rtl_exponent(u, width - 1 - least).text);
  smma_rtl_put(w, "  assign field = room - $signed({%d'd0, zeros});\n", x - count);
  smma_rtl_put(w, "  logic [%d:0] aligned;\n", bits - 1);
  if (!goes_right) {
    smma_rtl_put(w, "  logic [%d:0] places_left;\n", x - 1);
    smma_rtl_put(w, "  assign places_left = field < %s ? room : {%d'd0, zeros};\n", smma_rtl_exponent(u, 0).text,
                 x - count);
    if (bits > width)
      smma_rtl_put(w, "  assign aligned = {magnitude, %d'd0} << places_left;\n", bits - width);
    else
      smma_rtl_put(w, "  assign aligned = magnitude << places_left;\n");
    return;
  }
  smma_rtl_put(w, "  logic [%d:0] places_left, places_right;\n", x - 1);
  smma_rtl_put(w, "  assign places_left = room < %s ? %d'd0 : field < %s ? room : {%d'd0, zeros};\n",
               smma_rtl_exponent(u, 0).text, x, smma_rtl_exponent(u, 0).text, x - count);
  smma_rtl_put(w, "  assign places_right = room >= %s ? %d'd0 : room < %s ? %d'd%d : -room;\n",
               smma_rtl_exponent(u, 0).text, x, smma_rtl_exponent(u, -most_right).text, x, most_right);
  smma_rtl_put(w, "  assign aligned = ({magnitude, %d'd0} << places_left) >> places_right;\n", bits - width);
}

/* Declares `rounded_fields`, exponent and fraction, from `aligned`. */
static void put_rounded(smma_rtl_unit *u, const smma_rtl_rounding *r, smma_encoding f, int bits) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, kept = f.fraction_bits + 1, fields = x + f.fraction_bits;
  const smma_rtl_words up = smma_rtl_rounds_up(r->rounding, "");
  smma_rtl_put(w, "  logic odd, half, rest, up;\n");
  if (smma_rounds_by_code(f))
    smma_rtl_put(w, "  assign odd = !field[0] && aligned[%d];\n", bits - 1);
  else
    smma_rtl_put(w, "  assign odd = aligned[%d];\n", bits - kept);
  smma_rtl_put(w, "  assign half = aligned[%d];\n  assign rest = |aligned[%d:0];\n", bits - kept - 1, bits - kept - 2);
  smma_rtl_put(w, "  assign up = %s;\n", up.text);
  smma_rtl_put(w, "  logic [%d:0] rounded;\n", fields - 1);
  smma_rtl_put(w, "  assign rounded = (field < %s ? %d'd0 : {field", smma_rtl_exponent(u, 0).text, fields);
  if (f.fraction_bits) smma_rtl_put(w, ", %d'd0", f.fraction_bits);
  smma_rtl_put(w, "})\n      + {%d'd0, aligned[%d:%d]} + {%d'd0, up};\n", fields - kept, bits - 1, bits - kept,
               fields - 1);
}

/* Declares `finite_code` from `rounded`. */
static void put_code(smma_rtl_unit *u, const smma_rtl_rounding *r, smma_encoding f) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, wide = x + f.fraction_bits, bits = f.exponent_bits + f.fraction_bits;
  smma_rtl_words largest[2];
  uint64_t code[2];
  for (int negative = 0; negative < 2; negative++) {
    const bool saturates = r->overflow == SMMA_SUM_SATURATES || (r->overflow == SMMA_SUM_BY_DIRECTION &&
                                                                 smma_rounds_away_from_infinity(r->rounding, negative));
    const smma_encoding readable = saturates ? smma_readable_encoding(u->o.rule.nan, f) : f;
    code[negative] = smma_overflowed(readable, negative, saturates ? SMMA_OVERFLOW_SATURATE : SMMA_OVERFLOW_INFINITY);
    largest[negative] = smma_rtl_hex(wide, smma_largest_fields(readable));
  }
  smma_rtl_put(w, "  logic overflows, tiny;\n  logic [%d:0] finite_fields;\n", bits - 1);
  if (strcmp(largest[0].text, largest[1].text) == 0)
    smma_rtl_put(w, "  assign overflows = |magnitude && rounded > %s;\n", largest[0].text);
  else
    smma_rtl_put(w, "  assign overflows = |magnitude && rounded > (negative ? %s : %s);\n", largest[1].text,
                 largest[0].text);
  smma_rtl_put(w, "  assign tiny = !(|magnitude)");
  if (r->flush != SMMA_SUBNORMALS_KEPT && f.exponent_bits) {
    smma_rtl_put(w, " || rounded < %s", smma_rtl_hex(wide, (uint64_t)1 << f.fraction_bits).text);
    if (r->early_underflow) smma_rtl_put(w, " || field < %s", smma_rtl_exponent(u, 0).text);
  }
  smma_rtl_put(w, "; // becomes zero\n");
  smma_rtl_put(w, "  assign finite_fields = tiny ? %d'd0 : rounded[%d:0];\n", bits, bits - 1);
  smma_rtl_put(w, "  logic [%d:0] finite_code;\n", f.bits - 1);
  smma_rtl_put(w, "  assign finite_code = overflows ? (negative ? %s : %s)\n", smma_rtl_hex(f.bits, code[1]).text,
               smma_rtl_hex(f.bits, code[0]).text);
  if (f.specials == SMMA_SPECIALS_INTEGER) {
    smma_rtl_put(w, "      : negative ? -{1'b0, finite_fields} : {1'b0, finite_fields};\n");
    return;
  }
  smma_rtl_put(w, "      : {negative");
  if (r->zero_sign == SMMA_ZERO_ALWAYS_POSITIVE || r->flush == SMMA_SUBNORMALS_TO_POSITIVE_ZERO ||
      smma_has_nan_for_negative_zero(f))
    smma_rtl_put(w, " && finite_fields != %d'd0", bits);
  smma_rtl_put(w, ", finite_fields");
  if (f.ignored_bits) smma_rtl_put(w, ", %d'd0", f.ignored_bits);
  smma_rtl_put(w, "};\n");
}

void smma_rtl_put_encode(smma_rtl_unit *u, const smma_rtl_rounding *r, int width, int least, int most) {
  const smma_encoding f = smma_encoding_of(r->format);
  const int from = smma_minimum_exponent(f), right = f.fraction_bits + 2;
  const bool goes_right = least + width - 1 < from;
  const int bits = width + smma_maximum(goes_right ? right : 0, f.fraction_bits + 3 - width);
  smma_rtl_reach(u, least, most);
  smma_rtl_reach(u, least - from - 1, most + width - from);
  smma_rtl_reach(u, 0, width - 1 - from > 0 ? width - 1 - from : from - width + 1);
  smma_rtl_reach(u, 0, width);
  put_normalised(u, width, bits, from, goes_right, right);
  put_rounded(u, r, f, bits);
  put_code(u, r, f);
}
