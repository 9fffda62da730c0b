/* Products of factors, and scale factors. */
#include "rtl/unit.h"

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

/* Declares `exponent` and `significand` of the product of the nodes x and y. `of_zero` is an empty text, or says which
   exponent a zero has: "zero ? EXPONENT : ". */
static void put_product_value(smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape y, const char *of_zero) {
  smma_rtl_writer *w = &u->modules;
  const int width = x.width + y.width;
  smma_rtl_put(w, "  logic signed [%d:0] exponent;\n  logic [%d:0] significand;\n", u->exponent_bits - 1, width - 1);
  smma_rtl_put(w, "  assign exponent = %s$signed(x[%d:%d]) + $signed(y[%d:%d]);\n", of_zero,
               smma_rtl_flags_at(u, x) - 1, x.width, smma_rtl_flags_at(u, y) - 1, y.width);
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
  smma_rtl_put(w, "  logic limited;\n  assign limited = !nan && !infinite && !zero%s && leading >= PRODUCT_LIMIT;\n",
               smma_rtl_has_slices(u) ? " && |significand" : "");
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

/* Returns the shape of the products of factors, after their limit. */
static smma_rtl_shape limited_shape(const smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape y) {
  smma_rtl_shape product = product_shape(x, y);
  if (u->p.product_limit != SMMA_NONE) product.special = true;
  return product;
}

/* Writes the product of the nodes x and y, with its special values and its limit. */
static void put_product(smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape y, const char *of_zero) {
  put_product_flags(u, x, y);
  put_product_value(u, x, y, of_zero);
  if (u->p.product_limit != SMMA_NONE) put_limit(u, product_shape(x, y));
  put_product_node(u, x, y);
  smma_rtl_put(&u->modules, "endmodule\n");
}

smma_rtl_words smma_rtl_product(smma_rtl_unit *u, smma_rtl_shape *product) {
  const smma_rtl_words name = smma_rtl_print("%s_product", u->name);
  smma_rtl_shape x, y;
  const smma_rtl_words a = smma_rtl_factor(u, 0, &x), b = smma_rtl_factor(u, 1, &y);
  smma_rtl_writer *w = &u->modules;
  *product = limited_shape(u, x, y);
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
  put_product(u, x, y, "");
  return name;
}

/* Widens the range of a product's exponents by that of zeros, if the rule has one. */
static void bound_zero_product(smma_rtl_unit *u, smma_rtl_shape *product) {
  const smma_rtl_side a = smma_rtl_side_of(u, 0), b = smma_rtl_side_of(u, 1);
  const int of_zero = u->p.zero_product;
  if (of_zero == SMMA_OWN_EXPONENT) return;
  product->zero_least = of_zero - a.last_slice * a.slice_bits - b.last_slice * b.slice_bits;
  product->most = smma_maximum(product->most, of_zero);
  smma_rtl_reach(u, smma_minimum(product->zero_least, of_zero), product->most);
}

smma_rtl_words smma_rtl_product_of_factors(smma_rtl_unit *u, const smma_rtl_shape factor[2], smma_rtl_shape *product) {
  const smma_rtl_words name = smma_rtl_print("%s_product", u->name);
  const bool sliced = smma_rtl_has_slices(u);
  const int x = u->exponent_bits, of_zero = u->p.zero_product;
  smma_rtl_words slice[2] = {{{0}}};
  smma_rtl_shape shape[2] = {factor[0], factor[1]};
  smma_rtl_writer *w = &u->modules;
  for (int side = 0; side < 2; side++)
    if (smma_rtl_side_of(u, side).slice_bits) slice[side] = smma_rtl_slice(u, side, factor[side], &shape[side]);
  *product = limited_shape(u, shape[0], shape[1]);
  bound_zero_product(u, product);
  if (!smma_rtl_begin(u, name.text,
                      sliced
                          ? "// Multiplies a slice of a factor of a by one of a factor of b, exactly, as phase number "
                            "PHASE does."
                          : "// Multiplies a factor of a by one of b, exactly; the product is not normalised."))
    return name;
  smma_rtl_put(w, "    input  logic [%d:0] a,\n    input  logic [%d:0] b,\n    output logic [%d:0] product\n);\n",
               smma_rtl_node_bits(u, factor[0]) - 1, smma_rtl_node_bits(u, factor[1]) - 1,
               smma_rtl_node_bits(u, *product) - 1);
  if (sliced)
    smma_rtl_put(w, "  parameter integer PHASE = %d;\n  localparam integer SLICES_B = %d; // of a factor\n",
                 u->p.first_phase, u->p.slices_b);
  for (int side = 0; side < 2; side++) {
    const char from = "ab"[side], to = "xy"[side];
    smma_rtl_put(w, "  logic [%d:0] %c;\n", smma_rtl_node_bits(u, shape[side]) - 1, to);
    if (slice[side].text[0])
      smma_rtl_put(w, "  %s #(.INDEX(PHASE %c SLICES_B)) slice_%c (.x(%c), .slice(%c));\n", slice[side].text,
                   side ? '%' : '/', from, from, to);
    else
      smma_rtl_put(w, "  assign %c = %c;\n", to, from);
  }
  if (of_zero != SMMA_OWN_EXPONENT) {
    smma_rtl_put(w, "  localparam signed [%d:0] ZERO_PRODUCT = %s;\n", x - 1, smma_rtl_exponent(u, of_zero).text);
    if (sliced)
      smma_rtl_put(w, "  localparam signed [%d:0] PLACES = %d'(PHASE / SLICES_B * %d + PHASE %% SLICES_B * %d);\n",
                   x - 1, x, u->p.slice_a, u->p.slice_b);
  }
  put_product(u, shape[0], shape[1],
              of_zero == SMMA_OWN_EXPONENT ? ""
              : sliced                     ? "zero ? ZERO_PRODUCT - PLACES : "
                                           : "zero ? ZERO_PRODUCT : ");
  return name;
}

/* ---- Scale factors ---- */

/* Writes a module that multiplies a node by one scale factor; ports `x`, `scale` and `scaled`. */
static smma_rtl_words put_scale_once(smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape *scaled) {
  const smma_rtl_shape y = smma_rtl_shape_of(u, u->o.scale);
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
  put_product_value(u, x, y, "");
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
