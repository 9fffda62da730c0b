/* The alignment of the terms of a sum. */
#include <string.h>

#include "rtl/sum.h"

/* Declares `rounded` from `kept` and from `lost_bits` bits that the shift dropped. */
static void put_rounding(smma_rtl_unit *u, smma_rounding rounding, int bits, int lost_bits) {
  smma_rtl_writer *w = &u->modules;
  smma_rtl_put(w, "  logic [%d:0] rounded;\n", bits - 1);
  if (rounding == SMMA_ROUND_TOWARD_ZERO) {
    smma_rtl_put(w, "  assign rounded = {1'b0, kept};\n");
    return;
  }
  smma_rtl_put(
      w, "  logic odd, half, rest;\n  assign odd = kept[0];\n  assign half = lost[%d];\n  assign rest = |lost[%d:0];\n",
      lost_bits - 1, lost_bits - 2);
  smma_rtl_put(w, "  assign rounded = {1'b0, kept} + {%d'd0, %s};\n", bits - 1, smma_rtl_rounds_up(rounding, "").text);
}

void smma_rtl_put_shift(smma_rtl_unit *u, smma_rounding rounding, int from, int zeros) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, bits = from + zeros, lost_bits = bits + 1;
  const smma_rtl_words all = zeros ? smma_rtl_print("{significand, %d'd0}", zeros) : smma_rtl_print("significand");
  smma_rtl_put(w, "  logic [%d:0] kept;\n", bits - 1);
  if (rounding == SMMA_ROUND_TOWARD_ZERO) {
    smma_rtl_put(w, "  assign kept = %s >> right;\n", all.text);
  } else {
    smma_rtl_reach(u, 0, lost_bits);
    smma_rtl_put(w, "  logic [%d:0] lost;\n", lost_bits - 1);
    smma_rtl_put(w, "  assign {kept, lost} = {significand, %d'd0} >> (right > %d'd%d ? %d'd%d : right);\n",
                 zeros + lost_bits, x, lost_bits, x, lost_bits);
  }
  put_rounding(u, rounding, bits + 1, lost_bits);
}

/* Declares `twice`: `rounded`, of `bits` bits, rounded once more, to a multiple of 2^again. Returns the number of its
   bits. */
static int put_again(smma_rtl_unit *u, const smma_cut *cut, int bits) {
  smma_rtl_writer *w = &u->modules;
  const int again = cut->again, all = smma_maximum(bits, again + 1), kept = all - again + 1;
  smma_rtl_put(w, "  localparam integer ROUND_AGAIN = %d;\n  logic [%d:0] once;\n", again, all - 1);
  if (all > bits)
    smma_rtl_put(w, "  assign once = {%d'd0, rounded};\n", all - bits);
  else
    smma_rtl_put(w, "  assign once = rounded;\n");
  smma_rtl_put(w, "  logic again_odd, again_half, again_rest, again_up;\n  assign again_odd = once[ROUND_AGAIN];\n");
  smma_rtl_put(w, "  assign again_half = once[ROUND_AGAIN-1];\n  assign again_rest = ");
  smma_rtl_put(w, again > 1 ? "|once[ROUND_AGAIN-2:0];\n" : "1'b0;\n");
  smma_rtl_put(w, "  assign again_up = %s;\n", smma_rtl_rounds_up(cut->rounding, "again_").text);
  smma_rtl_put(w, "  logic [%d:0] twice;\n", kept + again - 1);
  smma_rtl_put(w, "  assign twice = {{1'b0, once[%d:ROUND_AGAIN]} + {%d'd0, again_up}, %d'd0};\n", all - 1, kept - 1,
               again);
  return kept + again;
}

/* Writes the statements of an aligned term: assigns `magnitude`, in units of the sum. */
static void put_aligned(smma_rtl_unit *u, const smma_rtl_sum_plan *p, const smma_rtl_terms *c) {
  smma_rtl_writer *w = &u->modules;
  const smma_rtl_shape s = c->shape;
  const int x = u->exponent_bits, more = p->bits - c->cut->bits, limit = SMMA_MOST_TERM_BITS - more;
  const bool limited = smma_rtl_reaches_limit(p, c);
  int left = smma_rtl_bound_left(p, c);
  bool far_left = false;
  if (limited && left > limit) left = limit, far_left = true;
  if (smma_rtl_wraps(p->s) && left > p->width) left = p->width, far_left = true;
  smma_rtl_put(w, "  localparam signed [%d:0] ALIGNMENT_BITS = %s;\n", x - 1, smma_rtl_exponent(u, c->cut->bits).text);
  smma_rtl_put(w, "  logic signed [%d:0] places; // to the right, of the last bit to the unit\n  logic [%d:0] right;\n",
               x - 1, x - 1);
  smma_rtl_put(w, "  assign places = reference - ALIGNMENT_BITS - exponent + %s;\n",
               smma_rtl_exponent(u, s.fraction).text);
  smma_rtl_put(w, "  assign right = places + %s;\n", smma_rtl_exponent(u, left).text);
  smma_rtl_reach(u, -s.width - left, left + s.width);
  smma_rtl_put_shift(u, c->cut->rounding, s.width, left);
  if (far_left)
    smma_rtl_put(w, "  logic far_left;\n  assign far_left = places < -%s;\n", smma_rtl_exponent(u, left).text);
  if (limited) {
    smma_rtl_put(w, "  logic is_limited; // 2^%d units or more\n  assign is_limited = %s", SMMA_MOST_TERM_BITS,
                 far_left ? "(far_left && |significand)" : "1'b0");
    if (s.width + left > limit)
      smma_rtl_put(w, " || (%s|kept[%d:%d])", far_left ? "!far_left && " : "", s.width + left - 1, limit);
    smma_rtl_put(w, ";\n");
  }
  {
    const int bits = s.width + left + 1, rounded_bits = c->cut->again ? put_again(u, c->cut, bits) : bits;
    const int whole_bits = rounded_bits + more, magnitude_bits = p->width;
    smma_rtl_words value = smma_rtl_print(c->cut->again ? "twice" : "rounded");
    if (more) value = smma_rtl_print("{%s, %d'd0}", value.text, more);
    smma_rtl_put(w, "  logic [%d:0] whole;\n  assign whole = %s;\n", whole_bits - 1, value.text);
    smma_rtl_put(w, "  assign magnitude = ");
    if (limited) smma_rtl_put(w, "is_limited ? %d'd1 << %d : ", magnitude_bits, SMMA_MOST_TERM_BITS);
    if (far_left && !limited) smma_rtl_put(w, "far_left ? %d'd0 : ", magnitude_bits);
    if (whole_bits > magnitude_bits)
      smma_rtl_put(w, "whole[%d:0];\n", magnitude_bits - 1);
    else if (whole_bits < magnitude_bits)
      smma_rtl_put(w, "{%d'd0, whole};\n", magnitude_bits - whole_bits);
    else
      smma_rtl_put(w, "whole;\n");
  }
}

/* Writes the statements of a term of an exact sum: assigns `magnitude` in units of 2^unit. */
static void put_fixed(smma_rtl_unit *u, const smma_rtl_sum_plan *p, const smma_rtl_terms *c) {
  smma_rtl_writer *w = &u->modules;
  const smma_rtl_shape s = c->shape;
  const int x = u->exponent_bits, magnitude_bits = p->width;
  int bits = s.width;
  const char *value = "significand";
  smma_rtl_put(w, "  logic [%d:0] place;\n", x - 1);
  if (p->method == SMMA_RTL_ADD_MIXED && smma_rtl_is_cut(c)) {
    smma_rtl_put(w, "  localparam signed [%d:0] ALIGNMENT_BITS = %s;\n", x - 1,
                 smma_rtl_exponent(u, c->cut->bits).text);
    smma_rtl_put(w, "  logic signed [%d:0] places;\n  logic [%d:0] right;\n", x - 1, x - 1);
    smma_rtl_put(w, "  assign places = reference - ALIGNMENT_BITS - exponent + %s;\n",
                 smma_rtl_exponent(u, s.fraction).text);
    smma_rtl_put(w, "  assign right = places < %s ? %d'd0 : places;\n", smma_rtl_exponent(u, 0).text, x);
    smma_rtl_put_shift(u, c->cut->rounding, s.width, 0);
    smma_rtl_put(w, "  assign place = exponent + right - %s;\n", smma_rtl_exponent(u, s.fraction + p->unit).text);
    value = "rounded", bits = s.width + 1;
  } else {
    smma_rtl_put(w, "  assign place = exponent - %s;\n", smma_rtl_exponent(u, s.fraction + p->unit).text);
  }
  smma_rtl_reach(u, -s.fraction - p->unit, s.fraction + p->unit);
  smma_rtl_reach(u, s.fraction + p->unit, 0);
  if (bits < magnitude_bits)
    smma_rtl_put(w, "  assign magnitude = {%d'd0, %s} << place;\n", magnitude_bits - bits, value);
  else
    smma_rtl_put(w, "  assign magnitude = %s[%d:0] << place;\n", value, magnitude_bits - 1);
}

smma_rtl_words smma_rtl_align_module(smma_rtl_unit *u, const char *name, const smma_rtl_sum_plan *p,
                                     const smma_rtl_terms *c) {
  const smma_rtl_words module = smma_rtl_print("%s_align_%s", name, c->name);
  const smma_rtl_shape s = c->shape;
  const int x = u->exponent_bits, at = smma_rtl_flags_at(u, s);
  const bool drops = p->with_reference && c->cut->drop != SMMA_NONE;
  smma_rtl_writer *w = &u->modules;
  if (!smma_rtl_begin(
          u, module.text,
          smma_rtl_print(
              "// %s: aligns %s, %s.", smma_rtl_step(u, name), strcmp(c->name, "term") ? "the accumulator" : "a term",
              p->method == SMMA_RTL_ADD_ALIGNED ? "as a multiple of the sum's unit, 2^(reference - bits)" : "exactly")
              .text))
    return module;
  smma_rtl_put(w, "    input  logic [%d:0] x,\n", smma_rtl_node_bits(u, s) - 1);
  if (p->with_reference) smma_rtl_put(w, "    input  logic signed [%d:0] reference,\n", x - 1);
  if (drops) smma_rtl_put(w, "    input  logic dropped,\n");
  smma_rtl_put(w, "    output logic [%d:0] magnitude\n);\n", p->width - 1);
  smma_rtl_put(w, "  logic negative;\n  logic signed [%d:0] exponent;\n  logic [%d:0] significand;\n", x - 1,
               s.width - 1);
  smma_rtl_put(w, "  assign negative = x[%d];\n  assign exponent = x[%d:%d];\n  assign significand = ", at, at - 1,
               s.width);
  if (drops) smma_rtl_put(w, "dropped ? %d'd0 : ", s.width);
  smma_rtl_put(w, "x[%d:0];\n", s.width - 1);
  if (p->method == SMMA_RTL_ADD_ALIGNED)
    put_aligned(u, p, c);
  else
    put_fixed(u, p, c);
  smma_rtl_put(w, "endmodule\n");
  return module;
}

void smma_rtl_put_alignment(smma_rtl_unit *u, const smma_rtl_sum_plan *p, const smma_rtl_words module[2]) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, take = p->s->take, width = p->width;
  smma_rtl_put(w, "  // Alignment\n  logic [%d:0] magnitudes;\n", p->count * width - 1);
  for (int n = 0; n < p->classes; n++) {
    const smma_rtl_terms *c = &p->terms[n];
    const int node = smma_rtl_node_bits(u, c->shape);
    smma_rtl_words ports = smma_rtl_print("%s", p->with_reference ? ", .reference(reference)" : "");
    const smma_rtl_words index = n ? smma_rtl_print("%d", take) : smma_rtl_print("i");
    if (!n) smma_rtl_put(w, "  for (genvar i = 0; i < %d; i++) begin : g_align\n", take);
    if (p->with_reference && c->cut->drop != SMMA_NONE) {
      smma_rtl_put(w, "    localparam signed [%d:0] %s = %s;\n", x - 1, n ? "ACCUMULATOR_DROP" : "DROP",
                   smma_rtl_exponent(u, c->cut->drop).text);
      smma_rtl_put(w, "    logic %s;\n    assign %s = brings[%s] && $signed(e[%s*%d +: %d]) < reference - %s;\n",
                   n ? "accumulator_dropped" : "dropped", n ? "accumulator_dropped" : "dropped", index.text, index.text,
                   x, x, n ? "ACCUMULATOR_DROP" : "DROP");
      ports = smma_rtl_print("%s, .dropped(%s)", ports.text, n ? "accumulator_dropped" : "dropped");
    }
    if (n)
      smma_rtl_put(w, "  %s align_accumulator (.x(accumulator)%s, .magnitude(magnitudes[%d:%d]));\n", module[n].text,
                   ports.text, (take + 1) * width - 1, take * width);
    else
      smma_rtl_put(w, "    %s align_term (.x(terms[i*%d +: %d])%s, .magnitude(magnitudes[i*%d +: %d]));\n  end\n",
                   module[n].text, node, node, ports.text, width, width);
  }
}
