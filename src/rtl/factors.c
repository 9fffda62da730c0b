/* Operands: the conversion of c, and the factors: unpacked, widened, aligned in blocks, cut into slices. */
#include "isa/ascii.h"
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
static void put_convert(smma_rtl_unit *u, smma_rtl_shape s, smma_format to, smma_sum_overflow overflow,
                        const char *node) {
  const smma_rtl_rounding r = {
      .format = to, .rounding = SMMA_ROUND_NEAREST_EVEN, .overflow = overflow, .zero_sign = SMMA_ZERO_IEEE};
  put_magnitude(u, s, node);
  smma_rtl_put_encode(u, &r, s.width, s.least - s.fraction, s.most - s.fraction);
}

smma_rtl_words smma_rtl_convert_c(smma_rtl_unit *u) {
  const smma_encoding from = smma_encoding_of(u->o.c), to = smma_encoding_of(u->o.d);
  const smma_rtl_shape s = smma_rtl_shape_of(u, u->o.c);
  const smma_rtl_words name = smma_rtl_print("%s_convert_c", u->name);
  const smma_rtl_words decode = smma_rtl_decode(u, u->o.c, SMMA_SUBNORMALS_KEPT, s);
  const int flags = smma_rtl_flags_at(u, s), payload = u->payload_bits;
  smma_rtl_words ignored = {{0}};
  smma_rtl_writer *w = &u->modules;
  if (to.ignored_bits) ignored = smma_rtl_print(", %d'd0", to.ignored_bits);
  if (!smma_rtl_begin(u, name.text, "// Converts c to the format of d, which has all values of c.")) return name;
  smma_rtl_put(w, "    input  logic [%d:0] c,\n    output logic [%d:0] code\n);\n", from.bits - 1, to.bits - 1);
  smma_rtl_put(w, "  logic [%d:0] x;\n  %s decode (.code(c), .x(x));\n", smma_rtl_node_bits(u, s) - 1, decode.text);
  if (smma_rtl_has_only_numbers(u)) { /* none overflows */
    put_convert(u, s, u->o.d, SMMA_SUM_SATURATES, "x");
    smma_rtl_put(w, "  assign code = finite_code;\nendmodule\n");
    return name;
  }
  put_convert(u, s, u->o.d, SMMA_SUM_TO_INFINITY, "x");
  smma_rtl_put(w, "  assign code = x[%d] ? ", flags + 3);
  if (payload)
    smma_rtl_put(w, "%s | {negative, %d'd0, x[%d:%d]%s}", smma_rtl_hex(to.bits, smma_default_nan(to)).text,
                 to.exponent_bits, smma_rtl_payload_at(u, s) + payload - 1,
                 smma_rtl_payload_at(u, s) + payload - to.fraction_bits, ignored.text);
  else
    smma_rtl_put(w, "%s", smma_rtl_hex(to.bits, smma_nan_of(to, u->o.rule.nan)).text);
  smma_rtl_put(w, " : x[%d] ? (negative ? %s : %s) : finite_code;\nendmodule\n", flags + 2,
               smma_rtl_hex(to.bits, smma_overflowed(to, true, SMMA_OVERFLOW_INFINITY)).text,
               smma_rtl_hex(to.bits, smma_overflowed(to, false, SMMA_OVERFLOW_INFINITY)).text);
  return name;
}

/* ---- Factors ---- */

smma_rtl_side smma_rtl_side_of(const smma_rtl_unit *u, int side) {
  const smma_composition *p = &u->p;
  smma_rtl_side x = {'a', u->o.a, p->subnormal_a, p->block_bits_a, p->slice_a, p->first_phase + p->phases, 0};
  if (side) x = (smma_rtl_side){'b', u->o.b, p->subnormal_b, p->block_bits_b, p->slice_b, x.first_slice, 0};
  for (int phase = p->first_phase; phase < p->first_phase + p->phases; phase++) {
    const int slice = side ? phase % p->slices_b : phase / p->slices_b;
    x.first_slice = smma_minimum(x.first_slice, slice);
    x.last_slice = smma_maximum(x.last_slice, slice);
  }
  return x;
}

smma_rtl_words smma_rtl_factor(smma_rtl_unit *u, int side, smma_rtl_shape *shape) {
  const smma_rtl_side from = smma_rtl_side_of(u, side);
  const smma_rtl_shape own = smma_rtl_shape_of(u, from.format);
  const smma_format to = u->p.widen;
  const int flags = smma_rtl_flags_at(u, own), top = smma_rtl_node_bits(u, own) - 1;
  const smma_rtl_words plain = smma_rtl_decode(u, from.format, from.flush, own);
  smma_rtl_words name, decode;
  smma_rtl_writer *w = &u->modules;
  *shape = own;
  if (to == SMMA_NO_FORMAT) return plain;
  *shape = smma_rtl_shape_of(u, to);
  shape->special = !smma_rtl_has_only_numbers(u);
  decode = smma_rtl_decode(u, to, SMMA_SUBNORMALS_KEPT, *shape);
  name = smma_rtl_print("%s_widened", plain.text);
  if (!smma_rtl_begin(u, name.text, "// Converts a factor to the format that the rule widens factors to.")) return name;
  smma_rtl_put(w, "    input  logic [%d:0] code,\n    output logic [%d:0] x\n);\n",
               smma_encoding_of(from.format).bits - 1, smma_rtl_node_bits(u, *shape) - 1);
  smma_rtl_put(w, "  logic [%d:0] own;\n  logic [%d:0] wide;\n  %s decode_own (.code(code), .x(own));\n", top,
               smma_rtl_node_bits(u, *shape) - 1, plain.text);
  put_convert(u, own, to, SMMA_SUM_TO_INFINITY, "own");
  smma_rtl_put(w, "  %s decode_wide (.code(finite_code), .x(wide));\n", decode.text);
  smma_rtl_put(w, "  assign x = own[%d] || own[%d] ? {own[%d:%d], wide[%d:0]} : wide;\nendmodule\n", flags + 3,
               flags + 2, top, flags, smma_rtl_flags_at(u, *shape) - 1);
  return name;
}

/* ---- Blocks ---- */

int smma_rtl_block_elements(const smma_rtl_unit *u) { return u->p.block_elements ? u->p.block_elements : u->o.k; }

/* Writes the module that aligns one factor to the exponent of its block; ports `x`, `block` and `aligned`. */
static smma_rtl_words put_block_factor(smma_rtl_unit *u, smma_rtl_side of, smma_rtl_shape s, smma_rtl_shape aligned) {
  const smma_rtl_words name = smma_rtl_print("%s_block_%c_factor", u->name, of.letter);
  const int x = u->exponent_bits, n = of.block_bits, at = smma_rtl_flags_at(u, s), lower = smma_maximum(s.width - n, 0);
  smma_rtl_writer *w = &u->modules;
  if (!smma_rtl_begin(
          u, name.text,
          smma_rtl_print("// Aligns a factor of %c to the exponent of its block, and rounds it.", of.letter).text))
    return name;
  smma_rtl_put(w,
               "    input  logic [%d:0] x,\n    input  logic signed [%d:0] block, // exponent\n"
               "    output logic [%d:0] aligned\n);\n",
               smma_rtl_node_bits(u, s) - 1, x - 1, smma_rtl_node_bits(u, aligned) - 1);
  smma_rtl_put(w, "  localparam integer BLOCK_BITS_%c = %d;\n", smma_upper(of.letter), n);
  smma_rtl_put(w, "  logic negative, zero;\n  logic [%d:0] significand;\n  logic [%d:0] right; // places\n",
               s.width - 1, x - 1);
  smma_rtl_put(w, "  assign negative = x[%d];\n  assign significand = x[%d:0];\n", at, s.width - 1);
  smma_rtl_put(w, "  assign right = block - $signed(x[%d:%d]) + %s;\n", at - 1, s.width,
               smma_rtl_exponent(u, lower).text);
  smma_rtl_reach(u, 0, s.most - s.least + lower);
  smma_rtl_put_shift(u, u->p.block_rounding, s.width, smma_maximum(n - s.width, 0));
  smma_rtl_put(w, "  logic [BLOCK_BITS_%c-1:0] limited;\n", smma_upper(of.letter));
  smma_rtl_put(w, "  assign limited = rounded[%d] ? {%d{1'b1}} : rounded[%d:0];\n", n, n, n - 1);
  smma_rtl_put(w, "  assign zero = x[%d:%d] == 2'b00 && limited == %d'd0;\n", at + 3, at + 2, n);
  smma_rtl_put(w, "  assign aligned = {x[%d:%d], zero, negative, block, limited};\nendmodule\n",
               smma_rtl_node_bits(u, s) - 1, at + 2);
  return name;
}

smma_rtl_words smma_rtl_block(smma_rtl_unit *u, int side, smma_rtl_shape s, smma_rtl_shape *aligned) {
  const smma_rtl_side of = smma_rtl_side_of(u, side);
  const smma_rtl_words name = smma_rtl_print("%s_block_%c", u->name, of.letter);
  const int x = u->exponent_bits, count = smma_rtl_block_elements(u), bits = smma_rtl_node_bits(u, s);
  smma_rtl_words align;
  smma_rtl_writer *w = &u->modules;
  int to;
  *aligned = s;
  aligned->width = of.block_bits;
  aligned->fraction = of.block_bits - 1;
  to = smma_rtl_node_bits(u, *aligned);
  align = put_block_factor(u, of, s, *aligned);
  if (!smma_rtl_begin(
          u, name.text,
          smma_rtl_print("// Aligns the factors of a block of %c to its greatest exponent.", of.letter).text))
    return name;
  smma_rtl_put(w, "    input  logic [%d:0] factors,\n    output logic [%d:0] aligned\n);\n", count * bits - 1,
               count * to - 1);
  smma_rtl_put(w,
               "  logic signed [%d:0] greatest; // exponent of the finite factors, zeros included\n"
               "  always_comb begin\n    greatest = {1'b1, %d'd0};\n    for (int i = 0; i < %d; i++)\n",
               x - 1, x - 1, count);
  smma_rtl_put(w,
               "      if (factors[i*%d+%d +: 2] == 2'b00 && $signed(factors[i*%d+%d +: %d]) > greatest)\n"
               "        greatest = factors[i*%d+%d +: %d];\n  end\n",
               bits, smma_rtl_flags_at(u, s) + 2, bits, s.width, x, bits, s.width, x);
  smma_rtl_put(w,
               "  for (genvar i = 0; i < %d; i++) begin : g_align\n    %s align (.x(factors[i*%d +: %d]), "
               ".block(greatest), .aligned(aligned[i*%d +: %d]));\n  end\nendmodule\n",
               count, align.text, bits, bits, to, to);
  return name;
}

/* ---- Slices ---- */

bool smma_rtl_has_slices(const smma_rtl_unit *u) { return u->p.slice_a || u->p.slice_b; }

smma_rtl_words smma_rtl_slice(smma_rtl_unit *u, int side, smma_rtl_shape s, smma_rtl_shape *slice) {
  const smma_rtl_side of = smma_rtl_side_of(u, side);
  const smma_rtl_words name = smma_rtl_print("%s_slice_%c", u->name, of.letter);
  const int x = u->exponent_bits, n = of.slice_bits, zeros = smma_maximum((of.last_slice + 1) * n - s.width, 0);
  const int width = s.width + zeros, at = smma_rtl_flags_at(u, s);
  const char key = smma_upper(of.letter);
  smma_rtl_writer *w = &u->modules;
  *slice = (smma_rtl_shape){.fraction = n - 1,
                            .width = n,
                            .least = s.least - of.last_slice * n,
                            .most = s.most - of.first_slice * n,
                            .zero_least = s.zero_least - of.last_slice * n,
                            .special = s.special};
  smma_rtl_reach(u, slice->least, slice->most);
  smma_rtl_reach(u, 0, of.last_slice * n);
  if (!smma_rtl_begin(u, name.text,
                      smma_rtl_print("// Takes slice number INDEX of a factor of %c: SLICE_%c bits of its significand.",
                                     of.letter, key)
                          .text))
    return name;
  smma_rtl_put(w, "    input  logic [%d:0] x,\n    output logic [%d:0] slice\n);\n", smma_rtl_node_bits(u, s) - 1,
               smma_rtl_node_bits(u, *slice) - 1);
  smma_rtl_put(w,
               "  parameter integer INDEX = %d; // slice 0 has the first bits\n  localparam integer SLICE_%c = %d;\n",
               of.first_slice, key, n);
  smma_rtl_put(w, "  localparam signed [%d:0] PLACES = %d'(INDEX * SLICE_%c); // before the slice\n", x - 1, x, key);
  smma_rtl_put(w, "  logic [%d:0] significand;\n", width - 1);
  if (zeros)
    smma_rtl_put(w, "  assign significand = {x[%d:0], %d'd0}; // bits that factors do not have are zeros\n",
                 s.width - 1, zeros);
  else
    smma_rtl_put(w, "  assign significand = x[%d:0];\n", s.width - 1);
  smma_rtl_put(w,
               "  assign slice = {x[%d:%d], x[%d:%d] - PLACES, significand[%d - INDEX*SLICE_%c -: SLICE_%c]};\n"
               "endmodule\n",
               smma_rtl_node_bits(u, s) - 1, at, at - 1, s.width, width - 1, key, key);
  return name;
}
