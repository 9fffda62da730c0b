/* Operands: the conversion of c, products, and scale factors. */
#include "rtl/unit.h"

/* Declares `negative`, `exponent` and `magnitude` of the node `x`, as the encoder reads them. */
static void put_magnitude(smma_rtl_unit *u, smma_rtl_shape s, const char *node) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, flags = smma_rtl_flags_at(u, s);
  smma_rtl_put(w, "  logic negative;\n  logic signed [%d:0] exponent;\n  logic [%d:0] magnitude;\n", x - 1,
               s.width - 1);
  smma_rtl_put(w, "  assign negative = %s[%d];\n", node, flags);
  smma_rtl_put(w, "  assign exponent = $signed(%s[%d:%d]) - %s;\n", node, flags - 1, s.width,
               smma_rtl_exponent(u, s.fraction).text);
  smma_rtl_put(w, "  assign magnitude = %s[%d:0];\n", node, s.width - 1);
  smma_rtl_reach(u, s.least - s.fraction, s.most);
}

/* Writes an encoder that rounds a node's value to nearest even. */
static void put_convert(smma_rtl_unit *u, smma_rtl_shape s, smma_format to, const char *node) {
  const smma_rtl_rounding r = {.format = to, .rounding = SMMA_ROUND_NEAREST_EVEN, .zero_sign = SMMA_ZERO_IEEE};
  put_magnitude(u, s, node);
  smma_rtl_put_encode(u, &r, s.width, s.least - s.fraction, s.most - s.fraction);
}

smma_rtl_words smma_rtl_convert_c(smma_rtl_unit *u) {
  const smma_encoding from = smma_encoding_of(u->o.c), to = smma_encoding_of(u->o.d);
  const smma_rtl_shape s = smma_rtl_shape_of(u->o.c);
  const smma_rtl_words name = smma_rtl_print("%s_convert_c", u->name);
  const smma_rtl_words decode = smma_rtl_decode(u, u->o.c, SMMA_SUBNORMALS_KEPT, s);
  const int flags = smma_rtl_flags_at(u, s), payload = u->payload_bits;
  smma_rtl_writer *w = &u->modules;
  if (!smma_rtl_begin(u, name.text, "// Converts c to the format of d, which has all values of c.")) return name;
  smma_rtl_put(w, "    input  logic [%d:0] c,\n    output logic [%d:0] code\n);\n", from.bits - 1, to.bits - 1);
  smma_rtl_put(w, "  logic [%d:0] x;\n  %s decode (.code(c), .x(x));\n", smma_rtl_node_bits(u, s) - 1, decode.text);
  put_convert(u, s, u->o.d, "x");
  smma_rtl_put(w, "  assign code = x[%d] ? ", flags + 3);
  if (payload)
    smma_rtl_put(w, "%s | {negative, %d'd0, x[%d:%d]}", smma_rtl_hex(to.bits, smma_default_nan(to)).text,
                 to.bits - 1 - to.fraction_bits, smma_rtl_payload_at(u, s) + payload - 1,
                 smma_rtl_payload_at(u, s) + payload - to.fraction_bits);
  else
    smma_rtl_put(w, "%s", smma_rtl_hex(to.bits, smma_nan_of(to, u->o.rule.nan)).text);
  smma_rtl_put(w, " : x[%d] ? (negative ? %s : %s) : finite_code;\nendmodule\n", flags + 2,
               smma_rtl_hex(to.bits, smma_overflowed(to, true, SMMA_OVERFLOW_INFINITY)).text,
               smma_rtl_hex(to.bits, smma_overflowed(to, false, SMMA_OVERFLOW_INFINITY)).text);
  return name;
}

/* ---- Factors ---- */

/* Returns the module that prepares an element of a or b, and its shape: the element unpacked, and converted if the rule
   widens factors. The module's ports are `code`, the input, and `x`, the output. */
static smma_rtl_words put_factor(smma_rtl_unit *u, smma_format format, smma_subnormal_policy flush,
                                 smma_rtl_shape *shape) {
  const smma_rtl_shape own = smma_rtl_shape_of(format);
  const smma_format to = u->p.widen;
  const int flags = smma_rtl_flags_at(u, own), top = smma_rtl_node_bits(u, own) - 1;
  const smma_rtl_words plain = smma_rtl_decode(u, format, flush, own);
  smma_rtl_words name, decode;
  smma_rtl_writer *w = &u->modules;
  *shape = own;
  if (to == SMMA_NO_FORMAT) return plain;
  *shape = smma_rtl_shape_of(to);
  shape->special = true;
  decode = smma_rtl_decode(u, to, SMMA_SUBNORMALS_KEPT, *shape);
  name = smma_rtl_print("%s_widened", plain.text);
  if (!smma_rtl_begin(u, name.text, "// Converts a factor to the format that the rule widens factors to.")) return name;
  smma_rtl_put(w, "    input  logic [%d:0] code,\n    output logic [%d:0] x\n);\n", smma_encoding_of(format).bits - 1,
               smma_rtl_node_bits(u, *shape) - 1);
  smma_rtl_put(w, "  logic [%d:0] own;\n  logic [%d:0] wide;\n  %s decode_own (.code(code), .x(own));\n", top,
               smma_rtl_node_bits(u, *shape) - 1, plain.text);
  put_convert(u, own, to, "own");
  smma_rtl_put(w, "  %s decode_wide (.code(finite_code), .x(wide));\n", decode.text);
  smma_rtl_put(w, "  assign x = own[%d] || own[%d] ? {own[%d:%d], wide[%d:0]} : wide;\nendmodule\n", flags + 3,
               flags + 2, top, flags, smma_rtl_flags_at(u, *shape) - 1);
  return name;
}

/* ---- Products ---- */

/* Writes the fields nan, infinite, zero, negative of the product of x and y, and the fields for NaN operands. */
static void put_product_flags(smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape y) {
  smma_rtl_writer *w = &u->modules;
  const int at[2] = {smma_rtl_flags_at(u, x), smma_rtl_flags_at(u, y)};
  static const char *const names[2] = {"x", "y"};
  for (int n = 0; n < 2; n++)
    smma_rtl_put(w,
                 "  logic %s_negative, %s_zero, %s_infinite, %s_nan;\n"
                 "  assign {%s_nan, %s_infinite, %s_zero, %s_negative} = %s[%d:%d];\n",
                 names[n], names[n], names[n], names[n], names[n], names[n], names[n], names[n], names[n], at[n] + 3,
                 at[n]);
  smma_rtl_put(w, "  logic negative, zero, infinite, nan, invalid;\n");
  smma_rtl_put(w, "  assign invalid = !x_nan && !y_nan && ((x_infinite && y_zero) || (x_zero && y_infinite));\n");
  smma_rtl_put(w, "  assign nan = x_nan || y_nan || invalid;\n");
  smma_rtl_put(w, "  assign infinite = !nan && (x_infinite || y_infinite);\n");
  smma_rtl_put(w, "  assign zero = !nan && !infinite && (x_zero || y_zero);\n");
  if (u->payload_bits)
    smma_rtl_put(w, "  assign negative = x_nan ? x_negative : y_nan ? y_negative : x_negative ^ y_negative;\n");
  else
    smma_rtl_put(w, "  assign negative = x_negative ^ y_negative;\n");
}

/* Returns the shape of a product. */
static smma_rtl_shape product_shape(smma_rtl_shape x, smma_rtl_shape y) {
  return (smma_rtl_shape){.fraction = x.fraction + y.fraction,
                          .width = x.width + y.width,
                          .least = x.least + y.least,
                          .most = x.most + y.most,
                          .zero_least = x.zero_least + y.zero_least,
                          .special = x.special || y.special};
}

/* Declares `exponent` and `significand` of the product of the nodes x and y. */
static void put_product_value(smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape y) {
  smma_rtl_writer *w = &u->modules;
  const int width = x.width + y.width;
  smma_rtl_put(w, "  logic signed [%d:0] exponent;\n  logic [%d:0] significand;\n", u->exponent_bits - 1, width - 1);
  smma_rtl_put(w, "  assign exponent = $signed(x[%d:%d]) + $signed(y[%d:%d]);\n", smma_rtl_flags_at(u, x) - 1, x.width,
               smma_rtl_flags_at(u, y) - 1, y.width);
  smma_rtl_put(w, "  assign significand = {%d'd0, x[%d:0]} * {%d'd0, y[%d:0]};\n", y.width, x.width - 1, x.width,
               y.width - 1);
  smma_rtl_reach(u, x.least + y.least, x.most + y.most);
  smma_rtl_reach(u, x.zero_least + y.zero_least, 0);
}

/* Declares `limited`, which says that a product is at its limit or beyond. */
static void put_limit(smma_rtl_unit *u, smma_rtl_shape s) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits;
  smma_rtl_put(w, "  localparam signed [%d:0] PRODUCT_LIMIT = %s;\n", x - 1,
               smma_rtl_exponent(u, u->p.product_limit).text);
  smma_rtl_put(w, "  logic signed [%d:0] leading; // exponent of the leading bit\n", x - 1);
  smma_rtl_put(w,
               "  always_comb begin\n    leading = exponent;\n    for (int i = 0; i < %d; i++)\n"
               "      if (significand[i]) leading = exponent + %d'(i - %d);\n  end\n",
               s.width, x, s.fraction);
  smma_rtl_put(w, "  logic limited;\n  assign limited = !nan && !infinite && !zero && leading >= PRODUCT_LIMIT;\n");
  smma_rtl_reach(u, u->p.product_limit, u->p.product_limit);
  smma_rtl_reach(u, s.least - s.fraction, s.most + s.width);
  smma_rtl_reach(u, 0, s.width + s.fraction);
}

/* Writes the product node of the nodes x and y. */
static void put_product_node(smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape y) {
  smma_rtl_writer *w = &u->modules;
  const bool limit = u->p.product_limit != SMMA_NONE, prefers_b = u->o.rule.nan == SMMA_NAN_B_SUM_A;
  const int p = u->payload_bits, x_payload = smma_rtl_payload_at(u, x), y_payload = smma_rtl_payload_at(u, y);
  smma_rtl_put(w, "  assign product = {");
  if (p)
    smma_rtl_put(w, "%s_nan ? %s[%d:%d] : %s[%d:%d], %s, invalid, ", prefers_b ? "y" : "x", prefers_b ? "y" : "x",
                 (prefers_b ? y_payload : x_payload) + p - 1, prefers_b ? y_payload : x_payload, prefers_b ? "x" : "y",
                 (prefers_b ? x_payload : y_payload) + p - 1, prefers_b ? x_payload : y_payload,
                 prefers_b ? "x_nan && !y_nan" : "1'b0");
  if (smma_rtl_has_beyond(u)) smma_rtl_put(w, "limited && negative, limited && !negative, ");
  smma_rtl_put(w, "nan, infinite%s, zero, ", limit && !u->p.limit_joins ? " || limited" : "");
  if (p && prefers_b)
    smma_rtl_put(w, "y_nan ? y_negative : negative");
  else
    smma_rtl_put(w, "negative");
  smma_rtl_put(w, ", exponent, significand};\n");
}

smma_rtl_words smma_rtl_product(smma_rtl_unit *u, smma_rtl_shape *product) {
  const smma_rtl_words name = smma_rtl_print("%s_product", u->name);
  smma_rtl_shape x, y;
  const smma_rtl_words a = put_factor(u, u->o.a, u->p.subnormal_a, &x), b = put_factor(u, u->o.b, u->p.subnormal_b, &y);
  smma_rtl_writer *w = &u->modules;
  *product = product_shape(x, y);
  if (u->p.product_limit != SMMA_NONE) product->special = true;
  if (!smma_rtl_begin(u, name.text,
                      "// Multiplies one element of a by one of b, exactly; the product is not normalised."))
    return name;
  smma_rtl_put(w, "    input  logic [%d:0] a,\n    input  logic [%d:0] b,\n    output logic [%d:0] product\n);\n",
               smma_encoding_of(u->o.a).bits - 1, smma_encoding_of(u->o.b).bits - 1,
               smma_rtl_node_bits(u, *product) - 1);
  smma_rtl_put(w, "  logic [%d:0] x;\n  logic [%d:0] y;\n", smma_rtl_node_bits(u, x) - 1, smma_rtl_node_bits(u, y) - 1);
  smma_rtl_put(w, "  %s decode_a (.code(a), .x(x));\n  %s decode_b (.code(b), .x(y));\n", a.text, b.text);
  if (u->p.product == SMMA_PRODUCT_XOR) { /* single bits */
    smma_rtl_put(
        w,
        "  assign product = {%d'd0, a == b, 1'b0, $signed(x[%d:%d]) + $signed(y[%d:%d]), %d'd0, a ^ b};\nendmodule\n",
        smma_rtl_node_bits(u, *product) - smma_rtl_flags_at(u, *product) - 2, smma_rtl_flags_at(u, x) - 1, x.width,
        smma_rtl_flags_at(u, y) - 1, y.width, product->width - 1);
    return name;
  }
  put_product_flags(u, x, y);
  put_product_value(u, x, y);
  if (u->p.product_limit != SMMA_NONE) put_limit(u, *product);
  put_product_node(u, x, y);
  smma_rtl_put(w, "endmodule\n");
  return name;
}

/* ---- Scale factors ---- */

/* Writes a module that multiplies a node by one scale factor; ports `x`, `scale` and `scaled`. */
static smma_rtl_words put_scale_once(smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape *scaled) {
  const smma_rtl_shape y = smma_rtl_shape_of(u->o.scale);
  const smma_rtl_words decode = smma_rtl_decode(u, u->o.scale, SMMA_SUBNORMALS_KEPT, y);
  const smma_rtl_words name = smma_rtl_print("%s_scale_%d_%d", u->name, x.width, x.fraction);
  const int p = u->payload_bits, at = smma_rtl_payload_at(u, x), y_at = smma_rtl_payload_at(u, y);
  smma_rtl_writer *w = &u->modules;
  *scaled = product_shape(x, y);
  if (!smma_rtl_begin(u, name.text, "// Multiplies a number by a scale factor, exactly.")) return name;
  smma_rtl_put(w, "    input  logic [%d:0] x,\n    input  logic [%d:0] scale,\n    output logic [%d:0] scaled\n);\n",
               smma_rtl_node_bits(u, x) - 1, smma_encoding_of(u->o.scale).bits - 1, smma_rtl_node_bits(u, *scaled) - 1);
  smma_rtl_put(w, "  logic [%d:0] y;\n  %s decode (.code(scale), .x(y));\n", smma_rtl_node_bits(u, y) - 1, decode.text);
  put_product_flags(u, x, y);
  put_product_value(u, x, y);
  smma_rtl_put(w, "  assign scaled = {");
  if (p) smma_rtl_put(w, "x_nan ? x[%d:%d] : {y[%d:%d], 1'b0, invalid}, ", at + p - 1, at - 2, y_at + p - 1, y_at);
  if (smma_rtl_has_beyond(u))
    smma_rtl_put(w, "x_nan || !nan ? x[%d:%d] : 2'b00, ", smma_rtl_beyond_at(u, x) + 1, smma_rtl_beyond_at(u, x));
  smma_rtl_put(w, "nan, infinite, zero, negative, exponent, significand};\nendmodule\n");
  return name;
}

smma_rtl_words smma_rtl_scale(smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape *scaled) {
  const int bits = smma_encoding_of(u->o.scale).bits;
  const smma_rtl_words name = smma_rtl_print("%s_scale", u->name);
  smma_rtl_shape once;
  const smma_rtl_words first = put_scale_once(u, x, &once), second = put_scale_once(u, once, scaled);
  smma_rtl_writer *w = &u->modules;
  if (!smma_rtl_begin(u, name.text, "// Multiplies a number by the scale factors of its a and b.")) return name;
  smma_rtl_put(w,
               "    input  logic [%d:0] x,\n    input  logic [%d:0] scale_a,\n    input  logic [%d:0] scale_b,\n"
               "    output logic [%d:0] scaled\n);\n",
               smma_rtl_node_bits(u, x) - 1, bits - 1, bits - 1, smma_rtl_node_bits(u, *scaled) - 1);
  smma_rtl_put(w, "  logic [%d:0] y;\n  %s by_a (.x(x), .scale(scale_a), .scaled(y));\n",
               smma_rtl_node_bits(u, once) - 1, first.text);
  smma_rtl_put(w, "  %s by_b (.x(y), .scale(scale_b), .scaled(scaled));\nendmodule\n", second.text);
  return name;
}
