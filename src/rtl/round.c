/* The rounding of a sum to the step's output. */
#include "isa/catalogue.h"
#include "rtl/unit.h"

smma_rtl_words smma_rtl_round(smma_rtl_unit *u, const char *name, int step, smma_rtl_total t) {
  const smma_step *s = &u->p.step[step];
  const smma_encoding f = smma_encoding_of(s->output);
  const smma_rtl_words module = smma_rtl_print("%s_round", name);
  const smma_rtl_rounding r = {s->output,          s->rounding, s->overflow, s->subnormal_outputs,
                               s->early_underflow, s->zero_sign};
  const int x = u->exponent_bits, bits = smma_rtl_total_bits(u, s->output, t);
  smma_rtl_writer *w = &u->modules;
  smma_rtl_total n = t;
  if (!smma_rtl_begin(u, module.text,
                      smma_rtl_print("// %s: rounds a sum to %s%s.", smma_rtl_step(u, name),
                                     s->narrow_bits == SMMA_NONE ? "" : "NARROW_BITS fraction bits and then to ",
                                     smma_format_text(s->output))
                          .text))
    return module;
  smma_rtl_put(w, "    input  logic [%d:0] sum,\n    output logic [%d:0] code\n);\n", bits - 1, f.bits - 1);
  if (t.special)
    smma_rtl_put(w, "  logic special;\n  logic [%d:0] special_code;\n  assign {special, special_code} = sum[%d:%d];\n",
                 f.bits - 1, bits - 1, bits - 1 - f.bits);
  smma_rtl_put(w, "  logic negative_zero, negative;\n  logic signed [%d:0] exponent;\n  logic [%d:0] magnitude;\n",
               x - 1, t.width - 1);
  smma_rtl_put(w, "  assign {negative_zero, negative, exponent, magnitude} = sum[%d:0];\n", t.width + x + 1);
  if (s->narrow_bits != SMMA_NONE) n = smma_rtl_put_narrow(u, s, t);
  smma_rtl_put(w, "  logic [%d:0] finite;\n", f.bits - 1);
  {
    const smma_rtl_words encode = smma_rtl_print("%s_encode", module.text);
    const bool narrows = s->narrow_bits != SMMA_NONE;
    smma_rtl_put(w, "  logic sign;\n  assign sign = |%s ? negative : ",
                 narrows && s->zero_sign != SMMA_ZERO_IEEE ? "narrowed" : "magnitude");
    smma_rtl_put(w, "negative_zero;\n");
    smma_rtl_put(w, "  %s encode (.negative(sign), .exponent(%s), .magnitude(%s), .code(finite));\n", encode.text,
                 narrows ? "narrowed_exponent" : "exponent", narrows ? "narrowed" : "magnitude");
    smma_rtl_put(w, "  assign code = %sfinite;\nendmodule\n", t.special ? "special ? special_code : " : "");
    smma_rtl_begin(u, encode.text,
                   smma_rtl_print("// %s: rounds (-1)^negative * magnitude * 2^exponent %s to %s.",
                                  smma_rtl_step(u, name), smma_rounding_words(s->rounding), smma_format_text(s->output))
                       .text);
    smma_rtl_put(w,
                 "    input  logic negative,\n    input  logic signed [%d:0] exponent,\n    input  logic [%d:0] "
                 "magnitude,\n    output logic [%d:0] code\n);\n",
                 x - 1, n.width - 1, f.bits - 1);
    smma_rtl_put_encode(u, &r, n.width, n.least, n.most);
    smma_rtl_put(w, "  assign code = finite_code;\nendmodule\n");
  }
  return module;
}
