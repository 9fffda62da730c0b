/* The module of one sum: the addition of its aligned terms, and the node or the total that it returns. */
#include "rtl/sum.h"

/* ---- Addition ---- */

/* Declares `total`, the sum in two's complement, of the aligned terms. */
static void put_addition(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const int bits = p->sum_width, width = p->width;
  const bool complements = smma_complements(p->s, p->count);
  const smma_rtl_words extended = bits > width
                                      ? smma_rtl_print("{%d'd0, magnitudes[i*%d +: %d]}", bits - width, width, width)
                                      : smma_rtl_print("magnitudes[i*%d +: %d]", width, width);
  smma_rtl_put(w, "  // The sum\n  logic [%d:0] total;\n", bits - 1);
  if (complements)
    smma_rtl_put(w,
                 "  logic frame; // the accumulator's sign: terms of the other sign are complements, one unit less\n  "
                 "assign frame = negative[%d];\n",
                 p->s->take);
  smma_rtl_put(w, "  always_comb begin%s\n    total = %d'd0;\n    for (int i = 0; i < %d; i++)\n",
               complements ? "" : " // a negative term is its complement plus 1", bits, p->count);
  smma_rtl_put(w, "      total = total + (negative[i]%s ? ~%s : %s)", complements ? " != frame" : "", extended.text,
               extended.text);
  if (!complements) smma_rtl_put(w, " + {%d'd0, negative[i]}", bits - 1);
  smma_rtl_put(w, ";\n  end\n");
}

/* Declares `magnitude` from `units`, its value in units, of `width` bits: a sum of -1 unit is far too great. */
static void put_minus_one(smma_rtl_unit *u, const smma_rtl_sum_plan *p, int width) {
  smma_rtl_writer *w = &u->modules;
  const int all = p->total.width;
  const smma_rtl_words units = all > width ? smma_rtl_print("{%d'd0, units}", all - width) : smma_rtl_print("units");
  smma_rtl_put(w, "  localparam integer MINUS_ONE_SHIFT = %d; // -1 unit becomes -2^MINUS_ONE_SHIFT units\n",
               p->s->minus_one_shift);
  smma_rtl_put(w, "  logic [%d:0] magnitude;\n", all - 1);
  smma_rtl_put(w, "  assign magnitude = sum_negative && units == %d'd1 ? %d'd1 << MINUS_ONE_SHIFT : %s;\n", width, all,
               units.text);
}

/* Declares `below`, `magnitude` and `sum_negative` from `total`. */
static void put_magnitude(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const smma_step *s = p->s;
  const int bits = p->sum_width, width = smma_minimum(p->total.width, bits);
  const char *value = "total", *magnitude = s->minus_one_shift ? "units" : "magnitude";
  if (s->width != SMMA_NONE && s->width_overflow == SMMA_INTEGER_SATURATES && s->width < bits) {
    smma_rtl_put(w, "  localparam integer WIDTH = %d;\n  logic [%d:0] limited; // saturates\n", s->width, bits - 1);
    smma_rtl_put(w,
                 "  assign limited = total[%d:WIDTH-1] == {%d{total[%d]}} ? total\n      : total[%d] ? {{%d{1'b1}}, "
                 "%d'd0} : {{%d{1'b0}}, {%d{1'b1}}};\n",
                 bits - 1, bits - s->width + 1, bits - 1, bits - 1, bits - s->width + 1, s->width - 1,
                 bits - s->width + 1, s->width - 1);
    value = "limited";
  } else if (smma_rtl_wraps(s)) {
    smma_rtl_put(w, "  localparam integer WIDTH = %d; // the sum wraps\n", s->width);
  }
  smma_rtl_put(w, "  logic below, sum_negative;\n  logic [%d:0] absolute;\n  logic [%d:0] %s;\n", bits - 1, width - 1,
               magnitude);
  smma_rtl_put(w, "  assign below = %s[%d];\n  assign absolute = below ? -%s : %s;\n", value, bits - 1, value, value);
  smma_rtl_put(w, "  assign %s = absolute[%d:0];\n", magnitude, width - 1);
  if (smma_complements(s, p->count))
    smma_rtl_put(w, "  assign sum_negative = below ^ (frame && |%s);\n", magnitude);
  else
    smma_rtl_put(w, "  assign sum_negative = below;\n");
  if (s->minus_one_shift) put_minus_one(u, p, width);
}

/* Writes the statements of the exact sum of two numbers. Both get their leading bit at the top of `width` bits; the
   smaller one moves right, and the bits that it loses are ORed into its last bit. */
static void put_two(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, width = p->width, count = smma_rtl_bits_for(width);
  static const char *const names[] = {"p", "q"};
  for (int n = 0; n < 2; n++) {
    const smma_rtl_terms *c = &p->terms[p->classes > 1 ? n : 0];
    const smma_rtl_shape s = c->shape;
    const int node = smma_rtl_node_bits(u, s), base = p->classes == 1 && n ? node : 0;
    const char *from = p->classes > 1 && n ? "accumulator" : "terms";
    const int pad = width - 1 - s.width;
    smma_rtl_put(w, "  logic [%d:0] %s_plain, %s;\n  logic signed [%d:0] %s_exponent;\n  logic [%d:0] %s_zeros;\n",
                 width - 1, names[n], names[n], x - 1, names[n], count - 1, names[n]);
    smma_rtl_put(w, "  assign %s_plain = {1'b0, %s[%d:%d], %d'd0};\n", names[n], from, base + s.width - 1, base, pad);
    smma_rtl_put(w,
                 "  always_comb begin\n    %s_zeros = %d'd0;\n    for (int i = 0; i < %d; i++) if (%s_plain[i]) "
                 "%s_zeros = %d'(%d - i);\n  end\n",
                 names[n], count, width - 1, names[n], names[n], count, width - 2);
    smma_rtl_put(w, "  assign %s = %s_plain << %s_zeros;\n", names[n], names[n], names[n]);
    smma_rtl_put(
        w, "  assign %s_exponent = |%s_plain ? $signed(%s[%d:%d]) - %s - $signed({%d'd0, %s_zeros}) : {1'b1, %d'd0};\n",
        names[n], names[n], from, base + s.width + x - 1, base + s.width, smma_rtl_exponent(u, s.fraction + pad).text,
        x - count, names[n], x - 1);
    smma_rtl_reach(u, s.least - s.fraction - 2 * width, s.most + 2 * width);
    smma_rtl_reach(u, 0, s.fraction + pad > 0 ? s.fraction + pad : -(s.fraction + pad));
  }
  smma_rtl_put(w, "  logic swap;\n  assign swap = q_exponent > p_exponent;\n");
  smma_rtl_put(w, "  logic signed [%d:0] apart;\n  logic [%d:0] larger, smaller;\n  logic [%d:0] near, far;\n", x,
               width - 1, width - 1);
  smma_rtl_put(w, "  logic [%d:0] sum_exponent;\n", x - 1);
  smma_rtl_put(w,
               "  assign apart = swap ? $signed({q_exponent[%d], q_exponent}) - $signed({p_exponent[%d], p_exponent})\n"
               "      : $signed({p_exponent[%d], p_exponent}) - $signed({q_exponent[%d], q_exponent});\n",
               x - 1, x - 1, x - 1, x - 1);
  smma_rtl_put(w, "  assign larger = swap ? q : p;\n  assign smaller = swap ? p : q;\n");
  smma_rtl_put(w, "  assign {near, far} = {smaller, %d'd0} >> (apart > %d'sd%d ? %d'd%d : apart);\n", width, x + 1,
               width, x + 1, width);
  smma_rtl_put(w, "  assign sum_exponent = swap ? q_exponent : p_exponent;\n");
  smma_rtl_put(w, "  logic opposite, larger_negative;\n  logic [%d:0] addend, total;\n", width);
  smma_rtl_put(w,
               "  assign opposite = negative[0] != negative[1];\n  assign larger_negative = swap ? negative[1] : "
               "negative[0];\n");
  smma_rtl_put(w, "  assign addend = {1'b0, near[%d:1], near[0] || |far};\n", width - 1);
  smma_rtl_put(w, "  assign total = opposite ? {1'b0, larger} - addend : {1'b0, larger} + addend;\n");
  smma_rtl_put(w, "  logic sum_negative;\n  logic [%d:0] magnitude;\n", p->total.width - 1);
  smma_rtl_put(w, "  assign sum_negative = |magnitude && (total[%d] ^ larger_negative);\n", width);
  smma_rtl_put(w, "  logic [%d:0] absolute;\n  assign absolute = total[%d] ? -total : total;\n", width, width);
  smma_rtl_put(w, "  assign magnitude = %sabsolute[%d:0]%s;\n", p->total.width > width + 1 ? "{1'b0, " : "",
               smma_minimum(p->total.width, width + 1) - 1, p->total.width > width + 1 ? "}" : "");
}

/* ---- The module ---- */

int smma_rtl_total_bits(const smma_rtl_unit *u, smma_format output, smma_rtl_total t) {
  return t.width + u->exponent_bits + 2 + (t.special ? 1 + smma_encoding_of(output).bits : 0);
}

static void put_negative_zero(smma_rtl_unit *u, const smma_step *s) {
  smma_rtl_writer *w = &u->modules;
  smma_rtl_put(w, "  logic negative_zero; // the sign of a sum that is zero\n");
  if (s->zero_sign != SMMA_ZERO_IEEE) {
    smma_rtl_put(w, "  assign negative_zero = 1'b0;\n");
    return;
  }
  smma_rtl_put(w, "  assign negative_zero = %s;\n",
               s->rounding == SMMA_ROUND_DOWN ? "|(negative | ~zero)" : "&(negative & zero)");
}

/* Declares `magnitude`, `sum_negative` and `sum_exponent`. */
static void put_sum_value(smma_rtl_unit *u, const smma_rtl_sum_plan *p, const smma_rtl_words align[2]) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits;
  const smma_rtl_shape s = p->terms[0].shape;
  if (p->method == SMMA_RTL_ADD_TWO) {
    put_two(u, p);
  } else if (p->method == SMMA_RTL_ADD_ONE) {
    smma_rtl_put(w, "  logic sum_negative;\n  logic [%d:0] magnitude;\n  logic [%d:0] sum_exponent;\n",
                 p->total.width - 1, x - 1);
    smma_rtl_put(w, "  assign sum_negative = negative[0];\n  assign magnitude = terms[%d:0];\n", s.width - 1);
    smma_rtl_put(w, "  assign sum_exponent = $signed(terms[%d:%d]) - %s;\n", s.width + x - 1, s.width,
                 smma_rtl_exponent(u, s.fraction).text);
    smma_rtl_reach(u, s.least - s.fraction, s.fraction);
  } else {
    smma_rtl_put_alignment(u, p, align);
    put_addition(u, p);
    put_magnitude(u, p);
    smma_rtl_put(w, "  logic [%d:0] sum_exponent;\n", x - 1);
    if (p->method == SMMA_RTL_ADD_ALIGNED)
      smma_rtl_put(w, "  assign sum_exponent = reference%s%s;\n", p->s->output == SMMA_NO_FORMAT ? "" : " - ",
                   p->s->output == SMMA_NO_FORMAT ? "" : smma_rtl_exponent(u, p->bits).text);
    else
      smma_rtl_put(w, "  assign sum_exponent = %s;\n", smma_rtl_exponent(u, p->unit).text);
  }
}

/* Declares `low` if sums of low exponents are zeros. */
static void put_least_reference(smma_rtl_unit *u, const smma_step *s) {
  smma_rtl_writer *w = &u->modules;
  if (s->least_reference == SMMA_NONE) return;
  smma_rtl_put(w, "  localparam signed [%d:0] LEAST_REFERENCE = %s;\n", u->exponent_bits - 1,
               smma_rtl_exponent(u, s->least_reference).text);
  smma_rtl_put(w, "  logic low; // the sum counts as zero\n  assign low = reference < LEAST_REFERENCE;\n");
}

/* Assigns the port `sum`: a node of that shape. */
static void put_sum_node(smma_rtl_unit *u, const smma_rtl_sum_plan *p, smma_rtl_shape shape) {
  smma_rtl_writer *w = &u->modules;
  const int more = shape.fraction - p->bits, high = shape.width - p->total.width - more;
  const bool cancels = p->s->cancelled_is_zero, low = p->s->least_reference != SMMA_NONE;
  const char *zero = cancels || low ? "is_zero" : "&zero";
  if (cancels || low)
    smma_rtl_put(w, "  logic is_zero; // every term is zero%s%s\n  assign is_zero = %s%s&zero;\n",
                 cancels ? ", or they cancel" : "", low ? ", or the reference is too low" : "",
                 cancels ? "~|magnitude || " : "", low ? "low || " : "");
  smma_rtl_put(w, "  assign sum = {");
  if (u->payload_bits && p->total.special)
    smma_rtl_put(w, "nan_payload, 1'b0, is_invalid, ");
  else if (u->payload_bits)
    smma_rtl_put(w, "%d'd0, ", u->payload_bits + 2);
  if (smma_rtl_has_beyond(u)) smma_rtl_put(w, "|beyond_negative, |beyond_positive, ");
  if (p->total.special)
    smma_rtl_put(w,
                 "is_nan, is_infinite, !is_nan && !is_infinite && %s, is_nan ? %s : is_infinite ? is_negative : ", zero,
                 u->payload_bits ? "nan_negative" : "1'b0");
  else
    smma_rtl_put(w, "2'b00, %s, ", zero);
  smma_rtl_put(w, "sum_negative && !(%s), sum_exponent, ", zero);
  if (high > 0) smma_rtl_put(w, "%d'd0, ", high);
  smma_rtl_put(w, "%s ? %d'd0 : magnitude", zero, p->total.width + smma_minimum(high, 0));
  if (high < 0) smma_rtl_put(w, "[%d:0]", p->total.width + high - 1);
  if (more > 0) smma_rtl_put(w, ", %d'd0", more);
  smma_rtl_put(w, "};\n");
}

/* Returns the condition under which a sum is set to zero: complements of zeros are not zero. Returns an empty text if
   there is no such condition. */
static const char *zero_condition(const smma_rtl_sum_plan *p) {
  const bool complements = smma_complements(p->s, p->count);
  if (p->s->least_reference == SMMA_NONE) return complements ? "&zero" : "";
  return complements ? "low || &zero" : "low";
}

/* Assigns the port `sum` for a sum that will be rounded. */
static void put_sum_total(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const char *zero = zero_condition(p);
  put_negative_zero(u, p->s);
  if (p->total.special) smma_rtl_put_special_code(u, p);
  smma_rtl_put(w, "  assign sum = {%snegative_zero, sum_negative, sum_exponent, ",
               p->total.special ? "is_nan || is_infinite, special_code, " : "");
  if (*zero) smma_rtl_put(w, "%s ? %d'd0 : ", zero, p->total.width);
  smma_rtl_put(w, "magnitude};\n");
}

static void put_sum_ports(smma_rtl_unit *u, const smma_rtl_sum_plan *p, int sum_bits) {
  smma_rtl_writer *w = &u->modules;
  smma_rtl_put(w, "    input  logic [%d:0] terms,\n", p->s->take * smma_rtl_node_bits(u, p->terms[0].shape) - 1);
  if (p->classes > 1)
    smma_rtl_put(w, "    input  logic [%d:0] accumulator,\n", smma_rtl_node_bits(u, p->terms[1].shape) - 1);
  smma_rtl_put(w, "    output logic [%d:0] sum\n);\n", sum_bits - 1);
}

smma_rtl_words smma_rtl_sum(smma_rtl_unit *u, const char *name, int step, smma_rtl_shape term,
                            const smma_rtl_shape *accumulator, smma_rtl_shape node, smma_rtl_total *total) {
  const smma_step *s = &u->p.step[step];
  const smma_rtl_sum_plan p = smma_rtl_plan_sum(s, term, accumulator);
  const smma_rtl_words module = smma_rtl_print("%s_sum", name);
  const bool is_node = s->output == SMMA_NO_FORMAT;
  smma_rtl_words exponent[2] = {{{0}}}, align[2] = {{{0}}};
  *total = p.total;
  smma_rtl_reach_of_sum(u, &p);
  for (int n = 0; n < p.classes; n++) {
    if (p.with_exponents && p.terms[n].cut->brings != SMMA_BRINGS_NOTHING)
      exponent[n] = smma_rtl_exponent_module(u, name, &p.terms[n]);
    if (p.method != SMMA_RTL_ADD_ONE && p.method != SMMA_RTL_ADD_TWO)
      align[n] = smma_rtl_align_module(u, name, &p, &p.terms[n]);
  }
  if (!smma_rtl_begin(u, module.text,
                      smma_rtl_print("// %s: adds the terms of one group%s.", smma_rtl_step(u, name),
                                     accumulator ? " and the accumulator" : "")
                          .text))
    return module;
  put_sum_ports(u, &p, is_node ? smma_rtl_node_bits(u, node) : smma_rtl_total_bits(u, s->output, p.total));
  smma_rtl_put_flags(u, &p);
  if (p.total.special) smma_rtl_put_special(u, &p);
  if (p.with_reference) smma_rtl_put_reference(u, &p, exponent);
  put_sum_value(u, &p, align);
  put_least_reference(u, s);
  if (is_node)
    put_sum_node(u, &p, node);
  else
    put_sum_total(u, &p);
  smma_rtl_put(&u->modules, "endmodule\n");
  return module;
}
