/* smma_rtl_text: a rule as SystemVerilog. */
#include "softmma/rtl.h"

#include <stdio.h>
#include <string.h>

#include "host/count.h"
#include "host/error.h"
#include "isa/ascii.h"
#include "isa/catalogue.h"
#include "isa/compose.h"
#include "rtl/unit.h"

/* ---- The rule as steps ---- */

/* Returns how many bits of a NaN's payload the unit must keep. */
static int payload_bits(const smma_rtl_unit *u) {
  const smma_format formats[] = {u->o.a, u->o.b, u->o.c, u->o.d, u->o.scale, u->p.widen};
  int bits = 1;
  if (smma_has_one_nan(u->o.rule.nan) || smma_rtl_has_only_numbers(u)) return 0;
  for (int i = 0; i < 6; i++) bits = smma_maximum(bits, smma_encoding_of(formats[i]).fraction_bits);
  for (const smma_step *s = u->p.step; s < u->p.step + u->p.steps; s++)
    bits = smma_maximum(bits, smma_encoding_of(s->output).fraction_bits);
  return bits;
}

/* Reports whether a step reads the exponents of zeros that may have none: of unrounded sums of zeros. Sets `*missing`
   to whether the nodes have such zeros: before the step, then after it. */
static bool reads_missing_exponents(const smma_step *s, bool *missing) {
  const bool own = s->term.zero_exponent == SMMA_OWN_EXPONENT, reads = own && *missing;
  const bool brings_none = s->term.brings == SMMA_BRINGS_NOTHING || s->term.zero_exponent == SMMA_NO_EXPONENT;
  *missing = s->output == SMMA_NO_FORMAT && s->reference == SMMA_NONE && (brings_none || reads);
  return reads || (*missing && s->accumulator.zero_exponent == SMMA_OWN_EXPONENT);
}

static bool needs_no_exponent(const smma_composition *p) {
  bool missing = false, needs = false;
  for (const smma_step *s = p->step; s < p->step + p->steps; s++) needs = reads_missing_exponents(s, &missing) || needs;
  return needs;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return smma_lower(c) >= 'a' && smma_lower(c) <= 'z'; }

/* Reports whether a module cannot have this name. */
static bool is_reserved(const char *name) {
  static const char *const reserved[] = {
#define SMMA_RESERVED(word) word,
#include "rtl/reserved.def"
#undef SMMA_RESERVED
  };
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (strcmp(reserved[i], name) == 0) return true;
  return false;
}

/* Sets the name of the module: letters, digits and _, with "u_" before a digit or a reserved name. */
static void name_module(smma_rtl_unit *u, const char *name, bool lower) {
  char word[sizeof u->name - 2];
  size_t length = 0;
  for (; *name && length + 1 < sizeof word; name++)
    word[length++] = is_digit(*name) || is_letter(*name) ? (lower ? smma_lower(*name) : *name) : '_';
  word[length] = 0;
  snprintf(u->name, sizeof u->name, "%s%s", is_digit(word[0]) || is_reserved(word) ? "u_" : "", word);
}

/* ---- The text ---- */

static void put_header_comment(smma_rtl_writer *w, const smma_instruction *i) {
  char words[SMMA_RULE_WORDS_SIZE];
  const smma_operation o = smma_operation_of(i);
  smma_rtl_put(w, "// %s (%s): d = c + the sum of a[k] * b[k], k < %d.\n", i->name, smma_arch_name(i), o.k);
  if (i->rule->rule.algorithm != SMMA_COMPOSITION)
    smma_rtl_put(w, "// Rule: %s\n", smma_rule_words(&i->rule->rule, words, sizeof words));
  smma_rtl_put(w, "// a: %s, b: %s, c: %s, d: %s", smma_format_text(o.a), smma_format_text(o.b), smma_format_text(o.c),
               smma_format_text(o.d));
  if (o.scale_block)
    smma_rtl_put(w, "; scale factors: %s, one for %d elements", smma_format_text(o.scale), o.scale_block);
  smma_rtl_put(w, ". Element 0 is in the low bits.\n");
}

static void put_ports(smma_rtl_writer *w, const smma_rtl_unit *u, int stages) {
  const smma_operation *o = &u->o;
  if (stages) smma_rtl_put(w, "    input  logic clk,\n");
  smma_rtl_put(w, "    input  logic [%d:0] a,\n    input  logic [%d:0] b,\n    input  logic [%d:0] c,\n",
               o->k * smma_encoding_of(o->a).bits - 1, o->k * smma_encoding_of(o->b).bits - 1,
               smma_encoding_of(o->c).bits - 1);
  if (o->scale_block) {
    const int bits = o->k / o->scale_block * smma_encoding_of(o->scale).bits;
    smma_rtl_put(w, "    input  logic [%d:0] scale_a,\n    input  logic [%d:0] scale_b,\n", bits - 1, bits - 1);
  }
}

static void put_text(smma_rtl_writer *w, const smma_instruction *i, const smma_rtl_unit *u, int stages) {
  put_header_comment(w, i);
  if (stages)
    smma_rtl_put(w, "// d follows the operands after %d clock cycle%s.\n", stages, stages > 1 ? "s" : "");
  else
    smma_rtl_put(w, "// Combinational.\n");
  smma_rtl_put(
      w,
      "//\n// A number inside the unit is {flags, exponent, significand}; the flags are negative, zero, infinite and\n"
      "// NaN, from the low bit. Its value is significand * 2^(exponent - fraction bits).\n");
  smma_rtl_put(w, "module %s (\n", u->name);
  put_ports(w, u, stages);
  smma_rtl_put(w, "    output logic [%d:0] d\n);\n%sendmodule\n", smma_encoding_of(u->o.d).bits - 1,
               smma_rtl_text_of(&u->body));
  smma_rtl_put(w, "%s", smma_rtl_text_of(&u->modules));
}

static void put_assertion(smma_rtl_writer *w, const smma_rtl_unit *u, int stages) {
  const smma_encoding d = smma_encoding_of(u->o.d);
  const smma_rtl_words of_design = smma_rtl_is_nan(d, "d");
  const char *agree = "d === expected";
  const char *scales = u->o.scale_block ? ".scale_a(scale_a), .scale_b(scale_b), " : "";
  smma_rtl_put(
      w,
      "\n// Compares a design with the reference, in every clock cycle whose result has valid operands. For example:\n"
      "//     bind my_unit %s_check check (.valid(valid_in), .*);\n",
      u->name);
  smma_rtl_put(w, "module %s_check (\n    input  logic valid, // the operands are valid\n", u->name);
  if (!stages) smma_rtl_put(w, "    input  logic clk,\n");
  put_ports(w, u, stages);
  smma_rtl_put(w, "    input  logic [%d:0] d // the design's result, %d clock cycle%s after its operands\n);\n",
               smma_encoding_of(u->o.d).bits - 1, stages, smma_plural(stages));
  smma_rtl_put(w, "  logic [%d:0] expected;\n", smma_encoding_of(u->o.d).bits - 1);
  smma_rtl_put(w, "  %s reference (%s.a(a), .b(b), .c(c), %s.d(expected));\n", u->name, stages ? ".clk(clk), " : "",
               scales);
  if (u->o.rule.nan == SMMA_NAN_QUIET && *of_design.text) {
    smma_rtl_put(w, "  // The rule leaves the payload and sign of a NaN open: any two NaN are equal.\n");
    smma_rtl_put(w, "  logic both_nan;\n  assign both_nan = %s && %s;\n", of_design.text,
                 smma_rtl_is_nan(d, "expected").text);
    agree = "d === expected || both_nan";
  }
  if (stages) {
    smma_rtl_put(w, "  logic [%d:0] pending = %d'd0; // operands were valid 1, 2, ... cycles ago\n", stages,
                 stages + 1);
    smma_rtl_put(w, "  always_ff @(posedge clk) pending <= {pending[%d:0], valid};\n", stages - 1);
    smma_rtl_put(w, "  always @(posedge clk) if (pending[%d]) assert (%s);\nendmodule\n", stages - 1, agree);
  } else {
    smma_rtl_put(w, "  always @(posedge clk) if (valid) assert (%s);\nendmodule\n", agree);
  }
}

/* ---- Passes ---- */

static bool has_failed(const smma_rtl_unit *u) { return u->body.failed || u->modules.failed; }

/* The first of two passes: finds the number of positions for registers, and the range of exponents. */
static void measure_unit(smma_rtl_unit *u) {
  u->register_positions = smma_rtl_put_unit(u, 0);
  smma_rtl_free(&u->body);
  smma_rtl_free(&u->modules);
  u->exponent_bits = smma_rtl_bits_for(u->reach) + 2;
}

static bool is_identifier(const char *name) {
  size_t length = 0;
  for (; name[length]; length++)
    if (!is_letter(name[length]) && name[length] != '_' && (length == 0 || !is_digit(name[length]))) return false;
  return length > 0 && length <= 100;
}

static bool init_unit(smma_rtl_unit *u, const smma_instruction *i, const char *name, smma_error *error) {
  if (!i) return smma_fail_as(error, SMMA_INVALID_ARGUMENT, "the instruction is missing");
  if (name && !is_identifier(name))
    return smma_fail_as(error, SMMA_INVALID_ARGUMENT,
                        "'%s' is not a module name; allowed: 1 to 100 letters, digits and _, not a digit first", name);
  if (name && is_reserved(name))
    return smma_fail_as(error, SMMA_INVALID_ARGUMENT,
                        "'%s' is not a module name: it is a keyword of SystemVerilog or a port of the module", name);
  u->o = smma_operation_of(i);
  if (!smma_compose(&u->o, &u->p))
    return smma_fail_as(error, SMMA_INVALID_ARGUMENT,
                        "%s cannot be written in steps: GTR-FDPA with an odd number of products in a block", i->name);
  name_module(u, name ? name : i->name, !name);
  u->exponent_bits = 24; /* provisional, for the first pass */
  u->payload_bits = payload_bits(u);
  u->no_exponent = needs_no_exponent(&u->p);
  return true;
}

size_t smma_rtl_text(const smma_instruction *i, const char *name, int stages, int assertion, char *text, size_t size,
                     smma_error *error) {
  smma_rtl_unit u = {.payload_bits = 0};
  smma_rtl_writer w = {.text = NULL};
  size_t length = 0;
  smma_clear_error(error);
  if (!init_unit(&u, i, name, error)) return 0;
  measure_unit(&u);
  if (stages < 0 || stages > u.register_positions) {
    smma_fail_as(error, SMMA_INVALID_ARGUMENT, "%d stages: the rule of %s has places for 0 to %d registers", stages,
                 i->name, u.register_positions);
    return 0;
  }
  smma_rtl_put_unit(&u, stages);
  put_text(&w, i, &u, stages);
  if (assertion) put_assertion(&w, &u, stages);
  if (has_failed(&u) || w.failed)
    smma_no_memory(error);
  else
    length = w.length;
  if (text && size && length) {
    const size_t part = length < size ? length : size - 1;
    memcpy(text, w.text, part);
    text[part] = 0;
  }
  smma_rtl_free(&u.body), smma_rtl_free(&u.modules), smma_rtl_free(&w);
  return length;
}
