/* One sum of a step: its special values, the alignment of its terms, and their addition. */
#include <string.h>

#include "rtl/unit.h"

/* The terms of one class: the nodes of the group, or the accumulator. */
typedef struct {
  const char *name;
  const smma_cut *cut;
  smma_rtl_shape shape;
  int count;
} class_of_terms;

/* How a sum adds its terms. */
typedef enum {
  ADD_ALIGNED, /* as multiples of one unit */
  ADD_FIXED,   /* exactly, as multiples of the least unit that any term can have */
  ADD_MIXED,   /* like ADD_FIXED, after a class of terms has been rounded at the alignment */
  ADD_TWO,     /* two terms exactly, with a sticky bit */
  ADD_ONE      /* a single term */
} addition;

typedef struct {
  const smma_step *s;
  class_of_terms of[2];
  int classes, count; /* of all terms */
  addition how;
  int reference_least, reference_most;
  bool with_reference, with_exponents;
  int bits;             /* fraction bits of an aligned sum */
  int unit;             /* exponent of the last bit (ADD_FIXED, ADD_MIXED) */
  int width;            /* bits of a term's magnitude */
  int sum_width;        /* bits of the sum in two's complement */
  smma_rtl_total total; /* the magnitude */
} sum_plan;

/* ---- Bounds ---- */

static int logarithm(int count) { return smma_rtl_bits_for(count - 1); }

static bool is_cut(const class_of_terms *c) { return c->cut->bits != SMMA_EXACT_ALIGNMENT; }

/* Widens the range [*least, *most] by the exponents that the class's nonzero terms bring. */
static void add_range(const class_of_terms *c, int *least, int *most) {
  const smma_rtl_shape s = c->shape;
  const bool normalized = c->cut->brings == SMMA_BRINGS_NORMALIZED;
  int low = (normalized ? smma_minimum(s.least, s.least - s.fraction) : s.least) + c->cut->offset;
  int high = (normalized ? smma_maximum(smma_rtl_leading(s), s.most) : s.most) + c->cut->offset;
  if (c->cut->least != SMMA_NONE) low = smma_maximum(low, c->cut->least), high = smma_maximum(high, c->cut->least);
  *least = smma_minimum(*least, low);
  *most = smma_maximum(*most, high);
}

/* Like add_range, for terms that are zero. */
static void add_zero_range(const class_of_terms *c, int *least, int *most) {
  int low = c->cut->zero_exponent, high = low;
  if (low == SMMA_NO_EXPONENT || c->cut->brings == SMMA_BRINGS_NOTHING) return;
  if (low == SMMA_OWN_EXPONENT) low = c->shape.zero_least, high = c->shape.most;
  low += c->cut->offset, high += c->cut->offset;
  if (c->cut->least != SMMA_NONE) low = smma_maximum(low, c->cut->least), high = smma_maximum(high, c->cut->least);
  *least = smma_minimum(*least, low);
  *most = smma_maximum(*most, high);
}

/* Sets the range of the reference exponent of sums that are not all zero. */
static void bound_reference(sum_plan *p) {
  int least = 1000000, most = -1000000, nothing = 0;
  for (int n = 0; n < p->classes; n++) {
    const class_of_terms *c = &p->of[n];
    if (c->cut->brings == SMMA_BRINGS_NOTHING)
      nothing = 1, least = smma_minimum(least, c->shape.least), most = smma_maximum(most, c->shape.most);
    else
      add_range(c, &least, &most);
  }
  for (int n = 0; n < p->classes; n++) {
    int unused = least;
    add_zero_range(&p->of[n], nothing ? &least : &unused, &most);
  }
  if (p->s->reference != SMMA_NONE) least = most = p->s->reference;
  p->reference_least = smma_coarse_exponent(p->s, least);
  p->reference_most = smma_coarse_exponent(p->s, most);
}

/* Returns an upper bound of the exponent of a term's leading bit, from the reference exponent. */
static int bound_leading(const sum_plan *p, const class_of_terms *c) {
  const smma_rtl_shape s = c->shape;
  const int any = smma_rtl_leading(s) - p->reference_least;
  if (p->s->reference != SMMA_NONE || c->cut->brings == SMMA_BRINGS_NOTHING) return any;
  return smma_minimum(any, (c->cut->brings == SMMA_BRINGS_OWN ? s.width - 1 - s.fraction : 0) - c->cut->offset);
}

/* Returns an upper bound on the number of bits by which a significand is shifted to the left. */
static int bound_left(const sum_plan *p, const class_of_terms *c) {
  const smma_rtl_shape s = c->shape;
  int places = s.most - s.fraction - p->reference_least + c->cut->bits;
  if (p->s->reference == SMMA_NONE && c->cut->brings == SMMA_BRINGS_OWN)
    places = smma_minimum(places, c->cut->bits - s.fraction - c->cut->offset);
  if (p->s->reference == SMMA_NONE && c->cut->brings == SMMA_BRINGS_NORMALIZED)
    places = smma_minimum(places, c->cut->bits - c->cut->offset);
  return smma_maximum(places, 0);
}

static bool wraps(const smma_step *s) { return s->width != SMMA_NONE && s->width_overflow == SMMA_INTEGER_WRAPS; }

/* Reports whether a term can reach 2^112 units, the greatest term of a sum that does not wrap. */
static bool reaches_limit(const sum_plan *p, const class_of_terms *c) {
  return p->how == ADD_ALIGNED && !wraps(p->s) && bound_leading(p, c) + p->bits >= SMMA_MOST_TERM_BITS;
}

static void plan_aligned(sum_plan *p) {
  const smma_step *s = p->s;
  p->bits = smma_sum_bits(s, p->count);
  p->width = 1;
  for (int n = 0; n < p->classes; n++) {
    const class_of_terms *c = &p->of[n];
    const int bits = reaches_limit(p, c) ? SMMA_MOST_TERM_BITS + 1 : bound_leading(p, c) + p->bits + 2;
    p->width = smma_maximum(p->width, bits);
  }
  p->sum_width = p->width + logarithm(p->count) + 1 + (smma_complements(s, p->count) ? 1 : 0);
  p->total.width = p->sum_width - 1;
  if (wraps(s)) p->width = p->sum_width = p->total.width = s->width;
  if (s->width != SMMA_NONE) p->total.width = smma_minimum(p->total.width, s->width);
  p->total.least = p->reference_least - p->bits;
  p->total.most = p->reference_most - p->bits;
}

/* Plans an exact sum, and chooses how it is computed. */
static void plan_exact(sum_plan *p, bool whole) {
  int low = 1000000, high = -1000000, precision = smma_encoding_of(p->s->output).fraction_bits, two = 0;
  for (int n = 0; n < p->classes; n++) {
    const class_of_terms *c = &p->of[n];
    low = smma_minimum(low, c->shape.least - c->shape.fraction);
    high = smma_maximum(high, smma_rtl_leading(c->shape) + 1);
    two = smma_maximum(two, c->shape.width);
    if (!whole && is_cut(c)) high = smma_maximum(high, p->reference_most - c->cut->bits + 1);
  }
  p->how = whole ? ADD_FIXED : ADD_MIXED;
  p->unit = low;
  p->width = high - low + 1;
  if (p->s->narrow_bits != SMMA_NONE) precision = smma_maximum(precision, p->s->narrow_bits);
  two = smma_maximum(two, precision + 1) + 4;
  if (whole && p->count == 1) p->how = ADD_ONE, p->width = p->of[0].shape.width;
  if (whole && p->count == 2 && p->width > two + 8) p->how = ADD_TWO, p->width = two;
  p->sum_width = p->width + logarithm(p->count) + 1;
  p->total.width = p->sum_width - 1;
  p->total.least = p->total.most = p->unit;
  if (p->how == ADD_ONE || p->how == ADD_TWO) {
    p->total.least = low - (p->how == ADD_TWO ? two : 0);
    p->total.most = high;
  }
}

static sum_plan plan_sum(const smma_step *s, smma_rtl_shape term, const smma_rtl_shape *accumulator) {
  sum_plan p = {.s = s,
                .of = {{"term", &s->term, term, s->take}, {"accumulator", &s->accumulator, term, 1}},
                .classes = accumulator ? 2 : 1,
                .count = s->take + (accumulator != NULL)};
  bool drops = false, whole;
  if (accumulator) p.of[1].shape = *accumulator;
  for (int n = 0; n < p.classes; n++) {
    p.total.special = p.total.special || p.of[n].shape.special;
    drops = drops || p.of[n].cut->drop != SMMA_NONE;
  }
  whole = smma_adds_whole_terms(s, p.count);
  p.with_reference = !whole;
  p.with_exponents = !whole && (s->reference == SMMA_NONE || drops);
  bound_reference(&p);
  if (smma_is_exact(s, p.count))
    plan_exact(&p, whole);
  else
    plan_aligned(&p);
  return p;
}

smma_rtl_shape smma_rtl_sum_shape(smma_rtl_unit *u, const smma_step *s, smma_rtl_shape term,
                                  const smma_rtl_shape *accumulator) {
  const sum_plan p = plan_sum(s, term, accumulator);
  smma_rtl_shape shape = {.fraction = p.bits, .width = p.total.width, .special = p.total.special};
  int unused = 0;
  shape.least = shape.zero_least = p.reference_least;
  shape.most = p.reference_most;
  if (s->reference == SMMA_NONE)
    for (int n = 0; n < p.classes; n++) add_zero_range(&p.of[n], &shape.zero_least, &unused);
  if (u->no_exponent && s->reference == SMMA_NONE) shape.zero_least = smma_minimum(shape.zero_least, SMMA_NO_EXPONENT);
  return shape;
}

/* ---- Special values ---- */

/* Declares vectors with the flags of all terms: nan, infinite, zero and negative, and, if needed, beyond, invalid and
   of_a. The terms of the group come first. */
static void put_flags(smma_rtl_unit *u, const sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const int take = p->s->take, bits = smma_rtl_node_bits(u, p->of[0].shape);
  smma_rtl_put(w, "  logic [%d:0] nan, infinite, zero, negative;\n", p->count - 1);
  if (smma_rtl_has_beyond(u)) smma_rtl_put(w, "  logic [%d:0] beyond_positive, beyond_negative;\n", p->count - 1);
  if (u->payload_bits) smma_rtl_put(w, "  logic [%d:0] invalid, of_a;\n", p->count - 1);
  for (int n = 0; n < p->classes; n++) {
    const smma_rtl_shape s = p->of[n].shape;
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
static void put_operand_nan(smma_rtl_unit *u, const sum_plan *p) {
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
                   take, take, which, take, take, smma_rtl_payload_at(u, p->of[1].shape) + bits - 1,
                   smma_rtl_payload_at(u, p->of[1].shape));
    smma_rtl_put(
        w,
        "    for (int i = %d; i >= 0; i--)\n      if (nan[i] && !invalid[i] && %sof_a[i]) begin\n"
        "        operand = 1'b1;\n        operand_negative = negative[i];\n        payload = terms[i*%d+%d +: %d];\n"
        "      end\n",
        take - 1, which, smma_rtl_node_bits(u, p->of[0].shape), smma_rtl_payload_at(u, p->of[0].shape), bits);
  }
  smma_rtl_put(w, "  end\n");
}

/* Declares is_nan, is_infinite and is_negative; with payloads also is_invalid, nan_negative and nan_payload. */
static void put_special(smma_rtl_unit *u, const sum_plan *p) {
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
    const int at = smma_rtl_payload_at(u, p->of[1].shape);
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

/* Declares `special_code`, the encoding of a special sum. */
static void put_special_code(smma_rtl_unit *u, const sum_plan *p) {
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

/* ---- The reference exponent ---- */

/* Writes the module that computes a term's exponent for the alignment. Its ports are the term `x`, whether it has such
   an exponent (`brings`), and the exponent `e`. */
static smma_rtl_words put_exponent_module(smma_rtl_unit *u, const char *name, const class_of_terms *c) {
  const smma_rtl_words module = smma_rtl_print("%s_exponent_of_%s", name, c->name);
  const smma_rtl_shape s = c->shape;
  const smma_cut *cut = c->cut;
  const int x = u->exponent_bits, at = smma_rtl_flags_at(u, s);
  const bool none = cut->zero_exponent == SMMA_NO_EXPONENT, own = cut->zero_exponent == SMMA_OWN_EXPONENT;
  smma_rtl_writer *w = &u->modules;
  if (!smma_rtl_begin(u, module.text,
                      smma_rtl_print("// %s: the exponent e(x) that %s brings to the reference exponent.",
                                     smma_rtl_step(u, name), strcmp(c->name, "term") ? "the accumulator" : "a term")
                          .text))
    return module;
  smma_rtl_put(w, "    input  logic [%d:0] x,\n    output logic brings,\n    output logic signed [%d:0] e\n);\n",
               smma_rtl_node_bits(u, s) - 1, x - 1);
  smma_rtl_put(w, "  logic signed [%d:0] own, nonzero, brought;\n  assign own = x[%d:%d];\n", x - 1, at - 1, s.width);
  if (cut->brings == SMMA_BRINGS_NORMALIZED)
    smma_rtl_put(
        w,
        "  always_comb begin // the exponent of the leading bit\n    nonzero = own;\n    for (int i = 0; i < %d; i++)\n"
        "      if (x[i]) nonzero = own + %d'(i - %d);\n  end\n",
        s.width, x, s.fraction);
  else
    smma_rtl_put(w, "  assign nonzero = own;\n");
  if (none)
    smma_rtl_put(w, "  assign brings = !x[%d];\n  assign brought = nonzero", at + 1);
  else if (own && u->no_exponent)
    smma_rtl_put(w, "  assign brings = !x[%d] || own > %s;\n  assign brought = (x[%d] ? own : nonzero)", at + 1,
                 smma_rtl_exponent(u, SMMA_NO_EXPONENT).text, at + 1);
  else if (own)
    smma_rtl_put(w, "  assign brings = 1'b1;\n  assign brought = (x[%d] ? own : nonzero)", at + 1);
  else
    smma_rtl_put(w,
                 "  localparam signed [%d:0] ZERO_EXPONENT = %s;\n  assign brings = 1'b1;\n"
                 "  assign brought = (x[%d] ? ZERO_EXPONENT : nonzero)",
                 x - 1, smma_rtl_exponent(u, cut->zero_exponent).text, at + 1);
  if (cut->offset) smma_rtl_put(w, " + %s", smma_rtl_exponent(u, cut->offset).text);
  smma_rtl_put(w, ";\n");
  if (cut->least != SMMA_NONE)
    smma_rtl_put(w,
                 "  localparam signed [%d:0] LEAST_EXPONENT = %s;\n  assign e = brought < LEAST_EXPONENT ? "
                 "LEAST_EXPONENT : brought;\n",
                 x - 1, smma_rtl_exponent(u, cut->least).text);
  else
    smma_rtl_put(w, "  assign e = brought;\n");
  smma_rtl_put(w, "endmodule\n");
  return module;
}

/* Notes the ranges of all exponents that a sum computes. */
static void reach_of_sum(smma_rtl_unit *u, const sum_plan *p) {
  for (int n = 0; n < p->classes; n++) {
    const class_of_terms *c = &p->of[n];
    const smma_rtl_shape s = c->shape;
    const int bits = is_cut(c) ? c->cut->bits : 0, drop = c->cut->drop == SMMA_NONE ? 0 : c->cut->drop;
    int least = p->reference_least, most = p->reference_most;
    add_zero_range(c, &least, &most);
    smma_rtl_reach(u, least - bits - drop, most + bits);
    smma_rtl_reach(u, least - s.most - bits - s.width, most - s.least + s.fraction + s.width + bits);
    smma_rtl_reach(u, s.least - s.fraction - p->unit, s.most + s.width - p->unit);
    smma_rtl_reach(u, s.zero_least + c->cut->offset, s.most);
    smma_rtl_reach(u, c->cut->zero_exponent > -3000 ? c->cut->zero_exponent : 0,
                   c->cut->least > -3000 ? c->cut->least : 0);
    smma_rtl_reach(u, c->cut->least > -3000 ? c->cut->least : 0, 0);
  }
  smma_rtl_reach(u, p->total.least - p->width, p->total.most + p->width);
  if (u->no_exponent) smma_rtl_reach(u, 2 * SMMA_NO_EXPONENT, 0);
}

/* Rounds `reference` up to a multiple of a power of two, unless it stands for no exponent. */
static void put_coarse(smma_rtl_unit *u, const sum_plan *p) {
  const int x = u->exponent_bits, multiple = p->s->reference_multiple, bits = smma_rtl_bits_for(multiple - 1);
  smma_rtl_writer *w = &u->modules;
  smma_rtl_put(w, "    // up to a multiple of %d\n    ", multiple);
  if (u->no_exponent) smma_rtl_put(w, "if (reference != %s)\n      ", smma_rtl_exponent(u, SMMA_NO_EXPONENT).text);
  smma_rtl_put(w, "reference = (reference + %s) & {{%d{1'b1}}, %d'd0};\n", smma_rtl_exponent(u, multiple - 1).text,
               x - bits, bits);
}

/* Declares `reference`, the exponent to which terms are aligned, and `e` and `brings` of all terms. */
static void put_reference(smma_rtl_unit *u, const sum_plan *p, const smma_rtl_words module[2]) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, take = p->s->take;
  bool nothing = false;
  for (int n = 0; n < p->classes; n++) nothing = nothing || p->of[n].cut->brings == SMMA_BRINGS_NOTHING;
  smma_rtl_put(w, "  // The reference exponent\n");
  if (p->with_exponents) {
    smma_rtl_put(w, "  logic [%d:0] brings;\n  logic [%d:0] e;\n", p->count - 1, p->count * x - 1);
    for (int n = 0; n < p->classes; n++) {
      const class_of_terms *c = &p->of[n];
      const int node = smma_rtl_node_bits(u, c->shape);
      if (c->cut->brings == SMMA_BRINGS_NOTHING)
        smma_rtl_put(w, "  assign brings[%d:%d] = %d'd0;\n  assign e[%d:%d] = %d'd0;\n", n ? take : take - 1,
                     n ? take : 0, c->count, n ? (take + 1) * x - 1 : take * x - 1, n ? take * x : 0, c->count * x);
      else if (n)
        smma_rtl_put(w, "  %s accumulator_exponent (.x(accumulator), .brings(brings[%d]), .e(e[%d:%d]));\n",
                     module[n].text, take, (take + 1) * x - 1, take * x);
      else
        smma_rtl_put(w,
                     "  for (genvar i = 0; i < %d; i++) begin : g_exponent\n    %s term_exponent (.x(terms[i*%d +: "
                     "%d]), .brings(brings[i]), .e(e[i*%d +: %d]));\n  end\n",
                     take, module[n].text, node, node, x, x);
    }
  }
  smma_rtl_put(w, "  logic signed [%d:0] reference;\n", x - 1);
  if (p->s->reference != SMMA_NONE) {
    smma_rtl_put(w, "  assign reference = %s;\n", smma_rtl_exponent(u, p->s->reference).text);
    return;
  }
  smma_rtl_put(w, "  logic [%d:0] candidates; // of all terms, then the greater one of each pair of candidates\n",
               (2 * p->count - 1) * x - 1);
  smma_rtl_put(
      w,
      "  always_comb begin\n    for (int i = 0; i < %d; i++) candidates[i*%d +: %d] = brings[i] ? e[i*%d +: %d] : "
      "%s;\n",
      p->count, x, x, x, x,
      u->no_exponent ? smma_rtl_exponent(u, SMMA_NO_EXPONENT).text : smma_rtl_print("{1'b1, %d'd0}", x - 1).text);
  if (p->count > 1)
    smma_rtl_put(w,
                 "    for (int i = 0; i < %d; i++)\n      candidates[(%d+i)*%d +: %d] =\n"
                 "          $signed(candidates[2*i*%d +: %d]) > $signed(candidates[(2*i+1)*%d +: %d])\n"
                 "          ? candidates[2*i*%d +: %d] : candidates[(2*i+1)*%d +: %d];\n",
                 p->count - 1, p->count, x, x, x, x, x, x, x, x, x, x);
  smma_rtl_put(w, "    reference = $signed(candidates[%d:%d]);\n", (2 * p->count - 1) * x - 1, (2 * p->count - 2) * x);
  if (nothing) {
    const smma_rtl_shape s = p->of[0].shape;
    const int node = smma_rtl_node_bits(u, s);
    smma_rtl_put(
        w,
        "    if (!(|brings)) begin // the greatest exponent of the nonzero terms\n      for (int i = 0; i < %d; i++)\n"
        "        if (!zero[i] && $signed(terms[i*%d+%d +: %d]) > reference) reference = $signed(terms[i*%d+%d +: "
        "%d]);\n",
        take, node, s.width, x, node, s.width, x);
    if (p->classes > 1)
      smma_rtl_put(
          w,
          "      if (!zero[%d] && $signed(accumulator[%d:%d]) > reference) reference = $signed(accumulator[%d:%d]);\n",
          take, p->of[1].shape.width + x - 1, p->of[1].shape.width, p->of[1].shape.width + x - 1, p->of[1].shape.width);
    smma_rtl_put(w, "    end\n");
  }
  if (p->s->reference_multiple > 1) put_coarse(u, p);
  smma_rtl_put(w, "  end\n");
}

/* ---- Alignment ---- */

/* Writes the part of an alignment module that rounds `kept`: declares `rounded`, of `bits` bits. */
static void put_cut_rounding(smma_rtl_unit *u, const smma_cut *cut, int bits, int lost) {
  smma_rtl_writer *w = &u->modules;
  smma_rtl_put(w, "  logic [%d:0] rounded;\n", bits - 1);
  if (cut->rounding == SMMA_ROUND_TOWARD_ZERO) {
    smma_rtl_put(w, "  assign rounded = {1'b0, kept};\n");
    return;
  }
  smma_rtl_put(
      w, "  logic odd, half, rest;\n  assign odd = kept[0];\n  assign half = lost[%d];\n  assign rest = |lost[%d:0];\n",
      lost - 1, lost - 2);
  smma_rtl_put(w, "  assign rounded = {1'b0, kept} + {%d'd0, %s};\n", bits - 1,
               smma_rtl_rounds_up(cut->rounding, "").text);
}

/* Declares `kept`, a significand of `from` bits that has `before` zeros appended and is then shifted to the right by
   `right` bits. Also declares `lost`, the bits that the shift drops, if they matter. */
static void put_shift(smma_rtl_unit *u, const smma_cut *cut, int from, int before, int *lost) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, bits = from + before;
  const smma_rtl_words all = before ? smma_rtl_print("{significand, %d'd0}", before) : smma_rtl_print("significand");
  *lost = bits + 1;
  smma_rtl_put(w, "  logic [%d:0] kept;\n", bits - 1);
  if (cut->rounding == SMMA_ROUND_TOWARD_ZERO) {
    smma_rtl_put(w, "  assign kept = %s >> right;\n", all.text);
    return;
  }
  smma_rtl_reach(u, 0, *lost);
  smma_rtl_put(w, "  logic [%d:0] lost;\n", *lost - 1);
  smma_rtl_put(w, "  assign {kept, lost} = {significand, %d'd0} >> (right > %d'd%d ? %d'd%d : right);\n",
               before + *lost, x, *lost, x, *lost);
}

/* Writes the statements of an aligned term: assigns `magnitude`, in units of the sum. */
static void put_aligned(smma_rtl_unit *u, const sum_plan *p, const class_of_terms *c) {
  smma_rtl_writer *w = &u->modules;
  const smma_rtl_shape s = c->shape;
  const int x = u->exponent_bits, more = p->bits - c->cut->bits, limit = SMMA_MOST_TERM_BITS - more;
  const bool limited = reaches_limit(p, c);
  int left = bound_left(p, c), lost;
  bool far_left = false;
  if (limited && left > limit) left = limit, far_left = true;
  if (wraps(p->s) && left > p->width) left = p->width, far_left = true;
  smma_rtl_put(w, "  localparam signed [%d:0] ALIGNMENT_BITS = %s;\n", x - 1, smma_rtl_exponent(u, c->cut->bits).text);
  smma_rtl_put(w, "  logic signed [%d:0] places; // to the right, of the last bit to the unit\n  logic [%d:0] right;\n",
               x - 1, x - 1);
  smma_rtl_put(w, "  assign places = reference - ALIGNMENT_BITS - exponent + %s;\n",
               smma_rtl_exponent(u, s.fraction).text);
  smma_rtl_put(w, "  assign right = places + %s;\n", smma_rtl_exponent(u, left).text);
  smma_rtl_reach(u, -s.width - left, left + s.width);
  put_shift(u, c->cut, s.width, left, &lost);
  put_cut_rounding(u, c->cut, s.width + left + 1, lost);
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
    const int have = s.width + left + 1 + more, need = p->width;
    smma_rtl_words value = smma_rtl_print("rounded");
    if (more) value = smma_rtl_print("{rounded, %d'd0}", more);
    smma_rtl_put(w, "  logic [%d:0] whole;\n  assign whole = %s;\n", have - 1, value.text);
    smma_rtl_put(w, "  assign magnitude = ");
    if (limited) smma_rtl_put(w, "is_limited ? %d'd1 << %d : ", need, SMMA_MOST_TERM_BITS);
    if (far_left && !limited) smma_rtl_put(w, "far_left ? %d'd0 : ", need);
    if (have > need)
      smma_rtl_put(w, "whole[%d:0];\n", need - 1);
    else if (have < need)
      smma_rtl_put(w, "{%d'd0, whole};\n", need - have);
    else
      smma_rtl_put(w, "whole;\n");
  }
}

/* Writes the statements of a term of an exact sum: assigns `magnitude` in units of 2^unit. */
static void put_fixed(smma_rtl_unit *u, const sum_plan *p, const class_of_terms *c) {
  smma_rtl_writer *w = &u->modules;
  const smma_rtl_shape s = c->shape;
  const int x = u->exponent_bits, need = p->width;
  int lost, bits = s.width;
  const char *value = "significand";
  smma_rtl_put(w, "  logic [%d:0] place;\n", x - 1);
  if (p->how == ADD_MIXED && is_cut(c)) {
    smma_rtl_put(w, "  localparam signed [%d:0] ALIGNMENT_BITS = %s;\n", x - 1,
                 smma_rtl_exponent(u, c->cut->bits).text);
    smma_rtl_put(w, "  logic signed [%d:0] places;\n  logic [%d:0] right;\n", x - 1, x - 1);
    smma_rtl_put(w, "  assign places = reference - ALIGNMENT_BITS - exponent + %s;\n",
                 smma_rtl_exponent(u, s.fraction).text);
    smma_rtl_put(w, "  assign right = places < %s ? %d'd0 : places;\n", smma_rtl_exponent(u, 0).text, x);
    put_shift(u, c->cut, s.width, 0, &lost);
    put_cut_rounding(u, c->cut, s.width + 1, lost);
    smma_rtl_put(w, "  assign place = exponent + right - %s;\n", smma_rtl_exponent(u, s.fraction + p->unit).text);
    value = "rounded", bits = s.width + 1;
  } else {
    smma_rtl_put(w, "  assign place = exponent - %s;\n", smma_rtl_exponent(u, s.fraction + p->unit).text);
  }
  smma_rtl_reach(u, -s.fraction - p->unit, s.fraction + p->unit);
  smma_rtl_reach(u, s.fraction + p->unit, 0);
  if (bits < need)
    smma_rtl_put(w, "  assign magnitude = {%d'd0, %s} << place;\n", need - bits, value);
  else
    smma_rtl_put(w, "  assign magnitude = %s[%d:0] << place;\n", value, need - 1);
}

/* Writes the module that aligns a term; ports `x`, `reference`, `dropped` and `magnitude`. */
static smma_rtl_words put_align_module(smma_rtl_unit *u, const char *name, const sum_plan *p, const class_of_terms *c) {
  const smma_rtl_words module = smma_rtl_print("%s_align_%s", name, c->name);
  const smma_rtl_shape s = c->shape;
  const int x = u->exponent_bits, at = smma_rtl_flags_at(u, s);
  const bool drops = p->with_reference && c->cut->drop != SMMA_NONE;
  smma_rtl_writer *w = &u->modules;
  if (!smma_rtl_begin(
          u, module.text,
          smma_rtl_print("// %s: aligns %s, %s.", smma_rtl_step(u, name),
                         strcmp(c->name, "term") ? "the accumulator" : "a term",
                         p->how == ADD_ALIGNED ? "as a multiple of the sum's unit, 2^(reference - bits)" : "exactly")
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
  if (p->how == ADD_ALIGNED)
    put_aligned(u, p, c);
  else
    put_fixed(u, p, c);
  smma_rtl_put(w, "endmodule\n");
  return module;
}

/* Declares `magnitudes`, those of all terms, aligned. */
static void put_alignment(smma_rtl_unit *u, const sum_plan *p, const smma_rtl_words module[2]) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, take = p->s->take, width = p->width;
  smma_rtl_put(w, "  // Alignment\n  logic [%d:0] magnitudes;\n", p->count * width - 1);
  for (int n = 0; n < p->classes; n++) {
    const class_of_terms *c = &p->of[n];
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

/* ---- Addition ---- */

/* Declares `total`, the sum in two's complement, of the aligned terms. */
static void put_addition(smma_rtl_unit *u, const sum_plan *p) {
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

/* Declares `below`, `magnitude` and `sum_negative` from `total`. */
static void put_magnitude(smma_rtl_unit *u, const sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const smma_step *s = p->s;
  const int bits = p->sum_width, width = p->total.width;
  const char *value = "total";
  if (s->width != SMMA_NONE && s->width_overflow == SMMA_INTEGER_SATURATES && s->width < bits) {
    smma_rtl_put(w, "  localparam integer WIDTH = %d;\n  logic [%d:0] limited; // saturates\n", s->width, bits - 1);
    smma_rtl_put(w,
                 "  assign limited = total[%d:WIDTH-1] == {%d{total[%d]}} ? total\n      : total[%d] ? {{%d{1'b1}}, "
                 "%d'd0} : {{%d{1'b0}}, {%d{1'b1}}};\n",
                 bits - 1, bits - s->width + 1, bits - 1, bits - 1, bits - s->width + 1, s->width - 1,
                 bits - s->width + 1, s->width - 1);
    value = "limited";
  } else if (wraps(s)) {
    smma_rtl_put(w, "  localparam integer WIDTH = %d; // the sum wraps\n", s->width);
  }
  smma_rtl_put(w, "  logic below, sum_negative;\n  logic [%d:0] absolute;\n  logic [%d:0] magnitude;\n", bits - 1,
               width - 1);
  smma_rtl_put(w, "  assign below = %s[%d];\n  assign absolute = below ? -%s : %s;\n", value, bits - 1, value, value);
  smma_rtl_put(w, "  assign magnitude = absolute[%d:0];\n", width - 1);
  if (smma_complements(s, p->count))
    smma_rtl_put(w, "  assign sum_negative = below ^ (frame && |magnitude);\n");
  else
    smma_rtl_put(w, "  assign sum_negative = below;\n");
}

/* Writes the statements of the exact sum of two numbers. Both get their leading bit at the top of `width` bits; the
   smaller one moves right, and the bits that it loses are ORed into its last bit. */
static void put_two(smma_rtl_unit *u, const sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, width = p->width, count = smma_rtl_bits_for(width);
  static const char *const names[] = {"p", "q"};
  for (int n = 0; n < 2; n++) {
    const class_of_terms *c = &p->of[p->classes > 1 ? n : 0];
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
static void put_sum_value(smma_rtl_unit *u, const sum_plan *p, const smma_rtl_words align[2]) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits;
  const smma_rtl_shape s = p->of[0].shape;
  if (p->how == ADD_TWO) {
    put_two(u, p);
  } else if (p->how == ADD_ONE) {
    smma_rtl_put(w, "  logic sum_negative;\n  logic [%d:0] magnitude;\n  logic [%d:0] sum_exponent;\n",
                 p->total.width - 1, x - 1);
    smma_rtl_put(w, "  assign sum_negative = negative[0];\n  assign magnitude = terms[%d:0];\n", s.width - 1);
    smma_rtl_put(w, "  assign sum_exponent = $signed(terms[%d:%d]) - %s;\n", s.width + x - 1, s.width,
                 smma_rtl_exponent(u, s.fraction).text);
    smma_rtl_reach(u, s.least - s.fraction, s.fraction);
  } else {
    put_alignment(u, p, align);
    put_addition(u, p);
    put_magnitude(u, p);
    smma_rtl_put(w, "  logic [%d:0] sum_exponent;\n", x - 1);
    if (p->how == ADD_ALIGNED)
      smma_rtl_put(w, "  assign sum_exponent = reference%s%s;\n", p->s->output == SMMA_NO_FORMAT ? "" : " - ",
                   p->s->output == SMMA_NO_FORMAT ? "" : smma_rtl_exponent(u, p->bits).text);
    else
      smma_rtl_put(w, "  assign sum_exponent = %s;\n", smma_rtl_exponent(u, p->unit).text);
  }
}

/* Assigns the port `sum`: a node of that shape. */
static void put_sum_node(smma_rtl_unit *u, const sum_plan *p, smma_rtl_shape shape) {
  smma_rtl_writer *w = &u->modules;
  const int more = shape.fraction - p->bits, high = shape.width - p->total.width - more;
  const char *zero = p->s->cancelled_is_zero ? "is_zero" : "&zero";
  if (p->s->cancelled_is_zero)
    smma_rtl_put(w,
                 "  logic is_zero; // every term is zero, or they cancel\n  assign is_zero = ~|magnitude || &zero;\n");
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

/* Reports whether a sum of zeros must be set to zero: complements of zeros are not zero. */
static bool clears_zeros(const sum_plan *p) { return smma_complements(p->s, p->count); }

/* Assigns the port `sum` for a sum that will be rounded. */
static void put_sum_total(smma_rtl_unit *u, const sum_plan *p) {
  smma_rtl_writer *w = &u->modules;
  put_negative_zero(u, p->s);
  if (p->total.special) put_special_code(u, p);
  smma_rtl_put(w, "  assign sum = {%snegative_zero, sum_negative, sum_exponent, ",
               p->total.special ? "is_nan || is_infinite, special_code, " : "");
  smma_rtl_put(w, clears_zeros(p) ? "&zero ? %d'd0 : magnitude};\n" : "magnitude};\n", p->total.width);
}

static void put_sum_ports(smma_rtl_unit *u, const sum_plan *p, int sum_bits) {
  smma_rtl_writer *w = &u->modules;
  smma_rtl_put(w, "    input  logic [%d:0] terms,\n", p->s->take * smma_rtl_node_bits(u, p->of[0].shape) - 1);
  if (p->classes > 1)
    smma_rtl_put(w, "    input  logic [%d:0] accumulator,\n", smma_rtl_node_bits(u, p->of[1].shape) - 1);
  smma_rtl_put(w, "    output logic [%d:0] sum\n);\n", sum_bits - 1);
}

smma_rtl_words smma_rtl_sum(smma_rtl_unit *u, const char *name, int step, smma_rtl_shape term,
                            const smma_rtl_shape *accumulator, smma_rtl_shape node, smma_rtl_total *total) {
  const smma_step *s = &u->p.step[step];
  const sum_plan p = plan_sum(s, term, accumulator);
  const smma_rtl_words module = smma_rtl_print("%s_sum", name);
  const bool is_node = s->output == SMMA_NO_FORMAT;
  smma_rtl_words exponent[2] = {{{0}}}, align[2] = {{{0}}};
  *total = p.total;
  reach_of_sum(u, &p);
  for (int n = 0; n < p.classes; n++) {
    if (p.with_exponents && p.of[n].cut->brings != SMMA_BRINGS_NOTHING)
      exponent[n] = put_exponent_module(u, name, &p.of[n]);
    if (p.how != ADD_ONE && p.how != ADD_TWO) align[n] = put_align_module(u, name, &p, &p.of[n]);
  }
  if (!smma_rtl_begin(u, module.text,
                      smma_rtl_print("// %s: adds the terms of one group%s.", smma_rtl_step(u, name),
                                     accumulator ? " and the accumulator" : "")
                          .text))
    return module;
  put_sum_ports(u, &p, is_node ? smma_rtl_node_bits(u, node) : smma_rtl_total_bits(u, s->output, p.total));
  put_flags(u, &p);
  if (p.total.special) put_special(u, &p);
  if (p.with_reference) put_reference(u, &p, exponent);
  put_sum_value(u, &p, align);
  if (is_node)
    put_sum_node(u, &p, node);
  else
    put_sum_total(u, &p);
  smma_rtl_put(&u->modules, "endmodule\n");
  return module;
}
