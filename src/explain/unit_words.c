#include "explain/unit_words.h"

#include <string.h>

#include "isa/catalogue.h"
#include "isa/compose.h"
#include "isa/custom.h"
#include "isa/key.h"

static const char *subnormal_words(smma_subnormal_policy policy) {
  switch (policy) {
    case SMMA_SUBNORMALS_TO_SIGNED_ZERO: return "become zeros of their sign";
    case SMMA_SUBNORMALS_TO_POSITIVE_ZERO: return "and -0 become +0";
    default: return "are kept";
  }
}

/* Returns what overflow becomes. A format without infinity has NaN in its place, or neither. */
static const char *overflow_words(smma_sum_overflow overflow, smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_kind kind = (smma_kind)smma_decode(f, smma_overflowed(f, false, SMMA_OVERFLOW_INFINITY)).kind;
  if (overflow == SMMA_SUM_SATURATES || kind <= SMMA_FINITE) return "is the greatest finite magnitude";
  if (overflow == SMMA_SUM_BY_DIRECTION)
    return kind == SMMA_NAN ? "becomes what IEEE 754 says for the direction, with NaN for infinity"
                            : "becomes what IEEE 754 says for the direction";
  return kind == SMMA_NAN ? "becomes NaN" : "becomes infinity";
}

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
  if (nan == SMMA_NAN_NUMBERS) return "a number, and so is infinity: all encodings with the greatest exponent are";
  if (nan == SMMA_NAN_QUIET) return "not known: the format's quiet NaN stands for any NaN";
  return nan == SMMA_NAN_ALL_ONES ? "all ones except the sign" : "always the format's quiet NaN";
}

static void print_cut(FILE *out, const char *what, const smma_cut *cut) {
  char zero[32];
  fprintf(out, "    %s ", what);
  if (cut->bits == SMMA_EXACT_ALIGNMENT)
    fprintf(out, "are not truncated");
  else
    fprintf(out, "are rounded %s at %d bits below the reference exponent", smma_rounding_words(cut->rounding),
            cut->bits);
  if (cut->again) fprintf(out, ", then at %d", cut->bits - cut->again);
  fprintf(out, "; they bring %s",
          cut->brings == SMMA_BRINGS_NOTHING      ? "no exponent"
          : cut->brings == SMMA_BRINGS_NORMALIZED ? "the exponent of their leading bit"
                                                  : "their own exponent");
  if (cut->offset) fprintf(out, " %+d", cut->offset);
  if (cut->least != SMMA_NONE) fprintf(out, ", at least %d", cut->least);
  if (cut->brings != SMMA_BRINGS_NOTHING)
    fprintf(out, "; a zero brings %s",
            smma_key_value(smma_find_step_key("zero_exponent", strlen("zero_exponent")), cut->zero_exponent, zero,
                           sizeof zero));
  if (cut->drop != SMMA_NONE) fprintf(out, "; what brings less than the reference - %d is dropped", cut->drop);
  fprintf(out, ".\n");
}

static void print_groups(FILE *out, const smma_step *s, int count) {
  if (s->take == 1 && s->join == SMMA_JOIN_APART)
    fprintf(out, "each of the %d nodes by itself", count);
  else
    fprintf(out, "%d nodes, %d to a sum", count, s->take);
  if (s->turn != s->take) fprintf(out, ", dealt out in turns of %d", s->turn);
  if (s->window != count) fprintf(out, " within each %d", s->window);
  if (s->join == SMMA_JOIN_TREE)
    fprintf(out, ", again and again until %d %s left", count / s->window, count > s->window ? "are" : "is");
  if (s->join != SMMA_JOIN_CHAIN) return;
  if (s->chains > 1) fprintf(out, ", in %d chains", s->chains);
  fprintf(out, ", each with the sum before it; the first with %s",
          s->start == SMMA_START_C      ? "c"
          : s->start == SMMA_START_ZERO ? "+0"
                                        : "none");
  if (s->stride > 1) fprintf(out, "; every %d-th sum first", s->stride);
  if (s->descending) fprintf(out, "; the last first");
}

static void print_result_of(FILE *out, const smma_step *s) {
  if (s->least_reference != SMMA_NONE)
    fprintf(out, "    A sum whose reference exponent is below %d is zero.\n", s->least_reference);
  if (s->minus_one_shift)
    fprintf(out, "    A sum of -1 in units of its last bit counts as -2^%d units.\n", s->minus_one_shift);
  if (s->width != SMMA_NONE)
    fprintf(out, "    The sum has %d bits and %s.\n", s->width,
            s->width_overflow == SMMA_INTEGER_WRAPS ? "wraps" : "saturates");
  if (s->output == SMMA_NO_FORMAT) {
    fprintf(out, "    The sum is not rounded.%s\n", s->cancelled_is_zero ? " If it cancels, it counts as a zero." : "");
    return;
  }
  fprintf(out, "    The sum is rounded ");
  if (s->narrow_bits != SMMA_NONE)
    fprintf(out, "%s to %d fraction bits%s, then ", smma_rounding_words(s->narrow_rounding), s->narrow_bits,
            s->narrow_subnormals ? "" : " whatever its exponent");
  if (smma_is_integer(s->output)) {
    fprintf(out, "%s to %s.%s\n", smma_rounding_words(s->rounding), smma_format_text(s->output),
            s->width == SMMA_NONE || s->width > smma_format_bits(s->output)
                ? " Numbers beyond its range become the nearer end of it."
                : "");
    return;
  }
  fprintf(out, "%s to %s. Subnormal results %s%s.\n", smma_rounding_words(s->rounding), smma_format_text(s->output),
          subnormal_words(s->subnormal_outputs), s->early_underflow ? ", as they are before the last rounding" : "");
  fprintf(out, "    Overflow %s. A zero sum %s.\n", overflow_words(s->overflow, s->output), zero_words(s->zero_sign));
}

static void print_slices_of(FILE *out, const char *factor, int bits) {
  if (bits) fprintf(out, "  The significand of %s is cut into slices of %d bits, from its first bit.\n", factor, bits);
}

static void print_blocks_of(FILE *out, const char *factor, int bits, const smma_composition *p, int k) {
  if (bits)
    fprintf(out, "  Each %d consecutive %s are aligned to their greatest exponent and keep %d bits, rounded %s.\n",
            p->block_elements ? p->block_elements : k, factor, bits, smma_rounding_words(p->block_rounding));
}

static void print_slices(FILE *out, const smma_composition *p) {
  print_slices_of(out, "a", p->slice_a);
  print_slices_of(out, "b", p->slice_b);
  if (p->slice_a || p->slice_b) {
    fprintf(out, "  Nodes are the products of slices, phase by phase:");
    for (int phase = p->first_phase; phase < p->first_phase + p->phases; phase++)
      fprintf(out, "%s slice %d of a by slice %d of b", phase > p->first_phase ? "," : "", phase / p->slices_b,
              phase % p->slices_b);
    fprintf(out, ".\n");
  }
  if (p->zero_product != SMMA_OWN_EXPONENT)
    fprintf(out, "  A product with a zero factor has the exponent %d%s.\n", p->zero_product,
            p->slice_a || p->slice_b ? ", less the bits before its slices" : "");
}

void smma_print_composition(FILE *out, const smma_instruction *i) {
  const smma_composition *p = &i->rule->rule.with.composition;
  fprintf(out, p->product == SMMA_PRODUCT_XOR ? "  A product is a xor b of single bits." : "  Products are exact.");
  if (!smma_is_fixed_point(i->a)) fprintf(out, " Subnormal a %s.", subnormal_words(p->subnormal_a));
  if (!smma_is_fixed_point(i->b)) fprintf(out, " Subnormal b %s.", subnormal_words(p->subnormal_b));
  if (!smma_is_fixed_point(i->c)) fprintf(out, " Subnormal c %s.", subnormal_words(p->subnormal_c));
  fputc('\n', out);
  if (p->widen != SMMA_NO_FORMAT) fprintf(out, "  Factors have their exponents in %s.\n", smma_format_text(p->widen));
  print_blocks_of(out, "a", p->block_bits_a, p, i->k);
  print_blocks_of(out, "b", p->block_bits_b, p, i->k);
  print_slices(out, p);
  if (p->product_limit != SMMA_NONE)
    fprintf(out, "  Products of 2^%d or more are infinite%s.\n", p->product_limit,
            p->limit_joins ? " where they are added to a sum before, and nothing else there is special" : "");
  if (!smma_is_integer(i->d)) fprintf(out, "  NaN is %s.\n", nan_words(i->rule->rule.nan));
  for (int step = 0; step < p->steps; step++) {
    const smma_step *s = &p->step[step];
    fprintf(out, "  Step %d: ", step + 1);
    print_groups(out, s, smma_composition_nodes(p, i->k, step));
    fprintf(out, ".\n");
    if (s->reference != SMMA_NONE) fprintf(out, "    The reference exponent is %d.\n", s->reference);
    if (s->reference_multiple > 1)
      fprintf(out, "    The reference exponent is rounded up to a multiple of %d.\n", s->reference_multiple);
    print_cut(out, "Terms", &s->term);
    if (s->join == SMMA_JOIN_CHAIN) print_cut(out, "Sums before", &s->accumulator);
    if (s->opposing == SMMA_OPPOSING_COMPLEMENT)
      fprintf(out, "    Terms whose sign is not that of the sum before count one unit less, zeros, too.\n");
    print_result_of(out, s);
    if (i->scale_block && p->scaled_step == step + 1) fprintf(out, "    Then scale factors multiply.\n");
  }
}
