/* The special values of a sum: flags, infinities, and the NaN that it returns. */
#include "rtl/sum.h"

void smma_rtl_put_flags(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const int take = p->s->take, bits = smma_rtl_node_bits(u, p->terms[0].shape);
  smma_rtl_put(w, "  logic [%d:0] nan, infinite, zero, negative;\n", p->count - 1);
  if (smma_rtl_has_beyond(u)) smma_rtl_put(w, "  logic [%d:0] beyond_positive, beyond_negative;\n", p->count - 1);
  if (u->payload_bits) smma_rtl_put(w, "  logic [%d:0] invalid, of_a;\n", p->count - 1);
  for (int n = 0; n < p->classes; n++) {
    const smma_rtl_shape s = p->terms[n].shape;
    const smma_rtl_words i = n ? smma_rtl_print("%d", take) : smma_rtl_print("i");
    const smma_rtl_words from = n ? smma_rtl_print("accumulator[") : smma_rtl_print("terms[i*%d+", bits);
    const int at = smma_rtl_flags_at(u, s);
    if (n == 0) smma_rtl_put(w, "  for (genvar i = 0; i < %d; i++) begin : g_flags\n", take);
    smma_rtl_put(w, "    assign negative[%s] = %s%d];\n    assign zero[%s] = %s%d];\n", i.text, from.text, at, i.text,
                 from.text, at + 1);
    smma_rtl_put(w, "    assign infinite[%s] = %s%d];\n    assign nan[%s] = %s%d];\n", i.text, from.text, at + 2,
                 i.text, from.text, at + 3);
    if (smma_rtl_has_beyond(u))
      smma_rtl_put(w, "    assign beyond_positive[%s] = %s%d];\n    assign beyond_negative[%s] = %s%d];\n", i.text,
                   from.text, smma_rtl_beyond_at(u, s), i.text, from.text, smma_rtl_beyond_at(u, s) + 1);
    if (u->payload_bits)
      smma_rtl_put(w, "    assign invalid[%s] = %s%d];\n    assign of_a[%s] = %s%d];\n", i.text, from.text,
                   smma_rtl_invalid_at(u, s), i.text, from.text, smma_rtl_invalid_at(u, s) + 1);
    if (n == 0) smma_rtl_put(w, "  end\n");
  }
}

/* Declares the NaN of an operand that a sum returns: `operand`, `operand_negative`, `payload`. The accumulator is a
   candidate only if the unit does not mark NaN. */
static void put_operand_nan(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const int bits = u->payload_bits, take = p->s->take;
  const bool marks = smma_marks_nan(u->o.rule.nan);
  smma_rtl_put(w, "  logic operand, operand_negative; // the first NaN of an operand\n  logic [%d:0] payload;\n",
               bits - 1);
  smma_rtl_put(w, "  always_comb begin\n    operand = 1'b0;\n    operand_negative = 1'b0;\n    payload = %d'd0;\n",
               bits);
  for (int yields = 1; yields >= 0; yields--) {
    const char *which = yields ? "" : "!";
    if (p->classes > 1 && !marks)
      smma_rtl_put(w,
                   "    if (nan[%d] && !invalid[%d] && %sof_a[%d]) begin\n      operand = 1'b1;\n"
                   "      operand_negative = negative[%d];\n      payload = accumulator[%d:%d];\n    end\n",
                   take, take, which, take, take, smma_rtl_payload_at(u, p->terms[1].shape) + bits - 1,
                   smma_rtl_payload_at(u, p->terms[1].shape));
    smma_rtl_put(
        w,
        "    for (int i = %d; i >= 0; i--)\n      if (nan[i] && !invalid[i] && %sof_a[i]) begin\n"
        "        operand = 1'b1;\n        operand_negative = negative[i];\n        payload = terms[i*%d+%d +: %d];\n"
        "      end\n",
        take - 1, which, smma_rtl_node_bits(u, p->terms[0].shape), smma_rtl_payload_at(u, p->terms[0].shape), bits);
  }
  smma_rtl_put(w, "  end\n");
}

void smma_rtl_put_special(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const bool marks = smma_marks_nan(u->o.rule.nan) && p->classes > 1;
  const bool beyond = smma_rtl_has_beyond(u) && p->s->join == SMMA_JOIN_CHAIN;
  const int take = p->s->take;
  smma_rtl_put(w, "  // Special values\n  logic conflict, any_infinite, is_nan, is_infinite, is_negative;\n");
  smma_rtl_put(w, "  assign conflict = |(infinite & negative) && |(infinite & ~negative);\n");
  smma_rtl_put(w, "  assign any_infinite = |infinite;\n");
  if (u->payload_bits) {
    put_operand_nan(u, p);
    smma_rtl_put(w,
                 "  logic of_terms, is_invalid;\n  assign of_terms = |nan[%d:0] || (|(infinite[%d:0] & negative[%d:0]) "
                 "&& |(infinite[%d:0] & ~negative[%d:0]));\n",
                 take - 1, take - 1, take - 1, take - 1, take - 1);
  }
  if (beyond) {
    smma_rtl_put(w, "  logic finite, beyond_both, beyond_one;\n");
    smma_rtl_put(w, "  assign finite = !(|nan) && !any_infinite;\n");
    smma_rtl_put(w, "  assign beyond_both = finite && |beyond_positive && |beyond_negative;\n");
    smma_rtl_put(w, "  assign beyond_one = finite && (|beyond_positive ^ |beyond_negative);\n");
  }
  smma_rtl_put(w, "  assign is_nan = |nan || conflict%s;\n", beyond ? " || beyond_both" : "");
  smma_rtl_put(w, "  assign is_infinite = !is_nan && (any_infinite%s);\n", beyond ? " || beyond_one" : "");
  smma_rtl_put(w, "  assign is_negative = |(infinite & negative)%s;\n",
               beyond ? " || (beyond_one && |beyond_negative)" : "");
  if (!u->payload_bits) return;
  smma_rtl_put(w, "  logic nan_negative;\n  logic [%d:0] nan_payload;\n", u->payload_bits - 1);
  if (marks) {
    const int at = smma_rtl_payload_at(u, p->terms[1].shape);
    smma_rtl_put(w, "  logic of_accumulator;\n  assign of_accumulator = !of_terms && nan[%d];\n", take);
    smma_rtl_put(w, "  assign is_invalid = of_accumulator ? invalid[%d] : !operand;\n", take);
    smma_rtl_put(w, "  assign nan_negative = of_accumulator ? negative[%d] : operand_negative;\n", take);
    smma_rtl_put(w, "  assign nan_payload = of_accumulator ? accumulator[%d:%d] : payload;\n", at + u->payload_bits - 1,
                 at);
  } else {
    smma_rtl_put(w,
                 "  assign is_invalid = !operand;\n  assign nan_negative = operand_negative;\n  assign nan_payload = "
                 "payload;\n");
  }
}

void smma_rtl_put_special_code(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const smma_encoding f = smma_encoding_of(p->s->output);
  const smma_nan_policy nan = u->o.rule.nan;
  const smma_rtl_words none = smma_rtl_hex(f.bits, smma_nan_of(f, nan));
  smma_rtl_put(w, "  logic [%d:0] special_code;\n  assign special_code = is_infinite ? (is_negative ? %s : %s)\n",
               f.bits - 1, smma_rtl_hex(f.bits, smma_overflowed(f, true, SMMA_OVERFLOW_INFINITY)).text,
               smma_rtl_hex(f.bits, smma_overflowed(f, false, SMMA_OVERFLOW_INFINITY)).text);
  if (!u->payload_bits) {
    smma_rtl_put(w, "      : %s;\n", none.text);
    return;
  }
  smma_rtl_put(w, "      : is_invalid ? %s\n", none.text);
  if (smma_marks_nan(nan)) smma_rtl_put(w, "      : of_terms ? %s\n", smma_rtl_hex(f.bits, smma_marked_nan(f)).text);
  smma_rtl_put(w, "      : %s | {nan_negative, %d'd0, nan_payload", smma_rtl_hex(f.bits, smma_default_nan(f)).text,
               f.exponent_bits);
  if (f.fraction_bits < u->payload_bits)
    smma_rtl_put(w, "[%d:%d]", u->payload_bits - 1, u->payload_bits - f.fraction_bits);
  if (f.fraction_bits > u->payload_bits || f.ignored_bits)
    smma_rtl_put(w, ", %d'd0", smma_maximum(f.fraction_bits - u->payload_bits, 0) + f.ignored_bits);
  smma_rtl_put(w, "};\n");
}
