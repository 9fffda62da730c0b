/* The reference exponent of a sum, to which terms are aligned. */
#include <string.h>

#include "rtl/sum.h"

smma_rtl_words smma_rtl_exponent_module(smma_rtl_unit *u, const char *name, const smma_rtl_terms *c) {
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

/* Rounds `reference` up to a multiple of a power of two, unless it stands for no exponent. */
static void put_coarse(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  const int x = u->exponent_bits, multiple = p->s->reference_multiple, bits = smma_rtl_bits_for(multiple - 1);
  smma_rtl_writer *w = &u->modules;
  smma_rtl_put(w, "    // up to a multiple of %d\n    ", multiple);
  if (u->no_exponent) smma_rtl_put(w, "if (reference != %s)\n      ", smma_rtl_exponent(u, SMMA_NO_EXPONENT).text);
  smma_rtl_put(w, "reference = (reference + %s) & {{%d{1'b1}}, %d'd0};\n", smma_rtl_exponent(u, multiple - 1).text,
               x - bits, bits);
}

void smma_rtl_put_reference(smma_rtl_unit *u, const smma_rtl_sum_plan *p, const smma_rtl_words module[2]) {
  smma_rtl_writer *w = &u->modules;
  const int x = u->exponent_bits, take = p->s->take;
  bool nothing = false;
  for (int n = 0; n < p->classes; n++) nothing = nothing || p->terms[n].cut->brings == SMMA_BRINGS_NOTHING;
  smma_rtl_put(w, "  // The reference exponent\n");
  if (p->with_exponents) {
    smma_rtl_put(w, "  logic [%d:0] brings;\n  logic [%d:0] e;\n", p->count - 1, p->count * x - 1);
    for (int n = 0; n < p->classes; n++) {
      const smma_rtl_terms *c = &p->terms[n];
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
    const smma_rtl_shape s = p->terms[0].shape;
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
          take, p->terms[1].shape.width + x - 1, p->terms[1].shape.width, p->terms[1].shape.width + x - 1,
          p->terms[1].shape.width);
    smma_rtl_put(w, "    end\n");
  }
  if (p->s->reference_multiple > 1) put_coarse(u, p);
  smma_rtl_put(w, "  end\n");
}
