#include <stdlib.h>
#include <string.h>

#include "cli/describe.h"
#include "cli/target.h"
#include "io/custom_file.h"
#include "isa/compose.h"
#include "isa/custom.h"

/* ---- What a unit computes, in words ---- */

static const char *subnormal_words(smma_subnormal_policy policy) {
  switch (policy) {
    case SMMA_SUBNORMALS_TO_SIGNED_ZERO: return "become zeros of their sign";
    case SMMA_SUBNORMALS_TO_POSITIVE_ZERO: return "and -0 become +0";
    default: return "are kept";
  }
}

static const char *const overflow_words[] = {"becomes infinity", "is the greatest finite magnitude",
                                             "becomes what IEEE 754 says for the direction"};

static const char *zero_words(smma_zero_sign sign) {
  if (sign == SMMA_ZERO_ALWAYS_POSITIVE) return "is +0, also a negative one that rounds to zero";
  return sign == SMMA_ZERO_IEEE ? "has the sign that IEEE 754 gives it" : "is +0";
}

static const char *nan_words(smma_nan_policy nan) {
  if (nan == SMMA_NAN_OPERAND) return "the first of the operands', made quiet";
  if (nan == SMMA_NAN_B_SUM_A) return "b's, or else the sum's, or else a's, made quiet, or the negative quiet one";
  if (smma_marks_nan(nan))
    return nan == SMMA_NAN_MARKED ? "c's, made quiet, or else that of factors (0xa3d)"
                                  : "that of factors (0xa3d), c's, made quiet, or the negative quiet one";
  if (nan == SMMA_NAN_QUIET) return "not known: the format's quiet NaN stands for any NaN";
  return nan == SMMA_NAN_ALL_ONES ? "all ones but for the sign" : "always the format's quiet NaN";
}

static void print_cut(const char *what, const smma_cut *cut) {
  char zero[32];
  printf("    %s ", what);
  if (cut->bits == SMMA_EXACT_ALIGNMENT)
    printf("are not cut");
  else
    printf("are rounded %s at %d bits below the reference exponent", smma_rounding_words(cut->rounding), cut->bits);
  printf("; they bring %s", cut->brings == SMMA_BRINGS_NOTHING      ? "no exponent"
                            : cut->brings == SMMA_BRINGS_NORMALIZED ? "the exponent of their leading bit"
                                                                    : "their own exponent");
  if (cut->offset) printf(" %+d", cut->offset);
  if (cut->least != SMMA_NONE) printf(", at least %d", cut->least);
  if (cut->brings != SMMA_BRINGS_NOTHING)
    printf("; a zero brings %s", smma_key_value(smma_find_step_key("zero_exponent", strlen("zero_exponent")),
                                                cut->zero_exponent, zero, sizeof zero));
  if (cut->drop != SMMA_NONE) printf("; what brings less than the reference - %d is dropped", cut->drop);
  printf(".\n");
}

static void print_groups(const smma_step *s, int count) {
  if (s->take == 1 && s->join == SMMA_JOIN_APART)
    printf("each of the %d nodes by itself", count);
  else
    printf("%d nodes, %d to a sum", count, s->take);
  if (s->turn != s->take) printf(", dealt out in turns of %d", s->turn);
  if (s->window != count) printf(" within each %d", s->window);
  if (s->join == SMMA_JOIN_TREE)
    printf(", again and again until %d %s left", count / s->window, count > s->window ? "are" : "is");
  if (s->join != SMMA_JOIN_CHAIN) return;
  if (s->chains > 1) printf(", in %d chains", s->chains);
  printf(", each with the sum before it; the first with %s", s->start == SMMA_START_C      ? "c"
                                                             : s->start == SMMA_START_ZERO ? "+0"
                                                                                           : "none");
  if (s->stride > 1) printf("; every %d-th sum first", s->stride);
  if (s->descending) printf("; the last first");
}

static void print_result_of(const smma_step *s) {
  if (s->width != SMMA_NONE)
    printf("    The sum has %d bits and %s.\n", s->width,
           s->width_overflow == SMMA_INTEGER_WRAPS ? "wraps" : "saturates");
  if (s->output == SMMA_NO_FORMAT) {
    printf("    The sum is not rounded.\n");
    return;
  }
  printf("    The sum is rounded ");
  if (s->narrow_bits != SMMA_NONE)
    printf("%s to %d fraction bits%s, then ", smma_rounding_words(s->narrow_rounding), s->narrow_bits,
           s->narrow_subnormals ? "" : " whatever its exponent");
  if (smma_is_integer(s->output)) {
    printf("%s to %s.%s\n", smma_rounding_words(s->rounding), smma_format_text(s->output),
           s->width == SMMA_NONE || s->width > smma_format_bits(s->output)
               ? " Numbers beyond its range become the nearer end of it."
               : "");
    return;
  }
  printf("%s to %s. Subnormal results %s%s.\n", smma_rounding_words(s->rounding), smma_format_text(s->output),
         subnormal_words(s->subnormal_outputs), s->early_underflow ? ", as they are before the last rounding" : "");
  printf("    Overflow %s. A zero sum %s.\n", overflow_words[s->overflow], zero_words(s->zero_sign));
}

static void print_steps(const smma_instruction *i, const smma_composition *p) {
  printf("  Products are exact.");
  if (!smma_is_integer(i->a)) printf(" Subnormal a %s.", subnormal_words(p->subnormal_a));
  if (!smma_is_integer(i->b)) printf(" Subnormal b %s.", subnormal_words(p->subnormal_b));
  if (!smma_is_integer(i->c)) printf(" Subnormal c %s.", subnormal_words(p->subnormal_c));
  putchar('\n');
  if (p->widen != SMMA_NO_FORMAT) printf("  Factors have their exponents in %s.\n", smma_format_text(p->widen));
  if (p->product_limit != SMMA_NONE)
    printf("  Products of 2^%d or more are infinite%s.\n", p->product_limit,
           p->limit_joins ? " where they are added to a sum before, and nothing else there is special" : "");
  if (!smma_is_integer(i->d)) printf("  NaN is %s.\n", nan_words(i->rule->rule.nan));
  for (int step = 0; step < p->steps; step++) {
    const smma_step *s = &p->step[step];
    printf("  Step %d: ", step + 1);
    print_groups(s, smma_composition_nodes(p, i->k, step));
    printf(".\n");
    if (s->reference != SMMA_NONE) printf("    The reference exponent is %d.\n", s->reference);
    print_cut("Terms", &s->term);
    if (s->join == SMMA_JOIN_CHAIN) print_cut("Sums before", &s->accumulator);
    if (s->opposing == SMMA_OPPOSING_COMPLEMENT)
      printf("    Terms whose sign is not that of the sum before count one unit less, zeros, too.\n");
    print_result_of(s);
    if (i->scale_block && p->scaled_step == step + 1) printf("    Then scale factors multiply.\n");
  }
}

static void print_words(const smma_instruction *i) {
  const smma_rule *rule = &i->rule->rule;
  const smma_instruction *twin = smma_catalogue_twin(i);
  if (twin) printf("%-14s%s %s\n", "the same as", smma_arch_name(twin), twin->name);
  if (rule->algorithm == SMMA_COMPOSITION) print_steps(i, &rule->with.composition);
}

/* ---- The command ---- */

static int check_file(const char *path, bool json) {
  smma_error error;
  const smma_instruction *i = smma_custom_load(path, &error);
  if (!i) return smma_complain("%s", error.text);
  if (json) {
    smma_print_datum(smma_instruction_datum(i));
  } else {
    smma_print_instruction(i);
    print_words(i);
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

static int write_text(const smma_instruction *i) {
  const size_t length = smma_custom_text(i, NULL, 0);
  char *text = malloc(length + 1);
  if (!text) smma_die("out of memory");
  smma_custom_text(i, text, length + 1);
  fputs(text, stdout);
  free(text);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Returns the instruction as a composition of steps. */
static int write_steps(const smma_instruction *i) {
  const smma_operation o = smma_operation_of(i);
  smma_custom custom = smma_custom_of(i);
  custom.instruction.rule = &custom.named;
  custom.named.rule.algorithm = SMMA_COMPOSITION;
  if (!smma_compose(&o, &custom.named.rule.with.composition))
    smma_die("--steps: %s cannot be written in steps", i->name);
  return write_text(&custom.instruction);
}

int smma_command_custom(int argc, const char **argv) {
  const char *gpu = NULL, **paths;
  smma_choice choice = {.instr = NULL};
  int json = 0, steps = 0;
  struct poptOption options[] = {
      {"from", 0, POPT_ARG_STRING, &gpu, 0, "write the description of this target's instruction", "TARGET"},
      {"on", 0, POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &gpu, 0, NULL, NULL},
      SMMA_CHOICE_OPTIONS(choice, ""),
      {"steps", 0, POPT_ARG_NONE, &steps, 0, "with --from: write it as a composition of steps", NULL},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON what a file describes", NULL},
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 0, 1,
      "FILE: a custom unit as JSON. Other commands accept the file as --on FILE, and as unit custom:FILE.\n");
  if (!gpu && (choice.instr || choice.in))
    smma_die("%s: it goes with --from TARGET", choice.instr ? "--instr" : "--in");
  if (!gpu && steps) smma_die("--steps: it goes with --from TARGET");
  if (gpu && *paths) smma_die("unexpected argument '%s': with --from a description is written, not read", *paths);
  if (gpu) return (steps ? write_steps : write_text)(smma_choose_instruction(gpu, &choice));
  if (!*paths) smma_die("a file is missing: softmma custom FILE, or --from TARGET");
  return check_file(*paths, json);
}
