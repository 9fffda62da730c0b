#include <stdlib.h>
#include <string.h>

#include "cli/describe.h"
#include "io/custom_file.h"
#include "isa/custom.h"

/* ---- What a unit computes, in words ---- */

static const char *direction_words(smma_rounding direction) {
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: return "to nearest, ties to even";
    case SMMA_ROUND_TOWARD_ZERO: return "toward zero";
    case SMMA_ROUND_DOWN: return "toward negative";
    case SMMA_ROUND_UP: return "toward positive";
    case SMMA_ROUND_NEAREST_AWAY: return "to nearest, ties away from zero";
  }
  return "";
}

static const char *subnormal_words(smma_subnormal_policy policy) {
  switch (policy) {
    case SMMA_SUBNORMALS_TO_SIGNED_ZERO: return "become zeros of their sign";
    case SMMA_SUBNORMALS_TO_POSITIVE_ZERO: return "and -0 become +0";
    default: return "are kept";
  }
}

static void print_products(const smma_instruction *i, const smma_g_fdpa *p) {
  printf("  Products are exact%s. Subnormal operands %s.\n", i->scale_block ? ", times their two scale factors" : "",
         subnormal_words(p->subnormal_inputs));
  printf("  The %d products go to %d block%s of %d", i->k, i->k / p->block, i->k > p->block ? "s" : "", p->block);
  if (i->k == p->block)
    printf(".\n");
  else if (p->interleave == p->block)
    printf(", in order of k.\n");
  else
    printf(", dealt out in turns of %d.\n", p->interleave);
}

static void print_alignment(const smma_g_fdpa *p) {
  if (p->alignment_bits == SMMA_EXACT_ALIGNMENT) {
    printf("  The terms of a block are added exactly.\n");
    return;
  }
  printf("  The terms of a block are aligned: each is rounded %s at %d bits below the greatest exponent",
         direction_words(p->alignment_rounding), p->alignment_bits);
  printf("%s.\n  A product has the exponent of %s; ", p->sticky_bit ? ", with one sticky bit" : "",
         p->product_exponent == SMMA_EXPONENT_NORMALIZED ? "its leading bit" : "its factors, added");
  if (p->zero_exponent == SMMA_NO_EXPONENT)
    printf("a zero has none.\n");
  else
    printf("a zero has %d.\n", p->zero_exponent);
}

static void print_result(const smma_rule *rule, const smma_g_fdpa *p) {
  static const char *const overflow[] = {"becomes infinity", "is the greatest finite magnitude",
                                         "becomes what IEEE 754 says for the direction"};
  printf("  The sum is rounded once, %s to %s. Overflow %s. Subnormal results %s.\n", direction_words(p->rounding),
         smma_format_text(p->output), overflow[p->overflow], subnormal_words(p->subnormal_outputs));
  printf("  A zero sum %s. NaN is %s.\n",
         p->zero_sign == SMMA_ZERO_IEEE ? "has the sign that IEEE 754 gives it" : "is +0",
         rule->nan == SMMA_NAN_ALL_ONES ? "all ones but for the sign" : "the format's quiet NaN");
  if (p->c_joins == SMMA_C_JOINS_FIRST)
    printf("  c is a term of the first block, each block's result one of the next.\n");
  else
    printf(
        "  The first block starts from +0, each block's result is a term of the next; c is added last, rounded %s.\n",
        direction_words(p->c_rounding));
}

static void print_words(const smma_instruction *i) {
  const smma_rule *rule = &i->rule->rule;
  const smma_instruction *twin = smma_catalogue_twin(i);
  if (twin) printf("%-14s%s %s\n", "the same as", smma_arch_name(twin), twin->name);
  if (rule->algorithm != SMMA_G_FDPA) return;
  print_products(i, &rule->with.g_fdpa);
  print_alignment(&rule->with.g_fdpa);
  print_result(rule, &rule->with.g_fdpa);
}

/* ---- The command ---- */

static int check_file(const char *path, bool json) {
  smma_error error;
  const smma_instruction *i = smma_custom_load(path, &error);
  if (!i) return smma_complain("%s", error.text);
  if (json) {
    smma_print_json(smma_instruction_json(i));
  } else {
    smma_print_instruction(i);
    print_words(i);
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

static int write_text(const smma_instruction *i) {
  char text[4096];
  smma_custom_text(i, text, sizeof text);
  fputs(text, stdout);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

int smma_command_custom(int argc, const char **argv) {
  const char *gpu = NULL, *name = NULL, **paths;
  int json = 0;
  struct poptOption options[] = {
      {"from", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture whose instruction is written", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &name, 0, "the instruction, by name or alias", "NAME"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print what a file describes as JSON", NULL},
      POPT_TABLEEND};
  paths =
      smma_parse_options(argc, argv, options, 0, 1,
                         "FILE: a custom unit as JSON; other commands take it for --on, and custom:FILE as a unit.\n"
                         "Example: softmma custom --from H100 --instr HGMMA.64x8x16.F32 > unit.json\n");
  if (!gpu && name) smma_die("--instr: it goes with --from GPU");
  if (gpu && *paths) smma_die("unexpected argument '%s': with --from a description is written, not read", *paths);
  if (gpu) return write_text(smma_require_instruction(gpu, name, "--instr"));
  if (!*paths) smma_die("a file is missing: softmma custom FILE, or --from GPU --instr NAME");
  return check_file(*paths, json);
}
