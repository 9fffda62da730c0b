#include "isa/sum.h"

#include <stdio.h>
#include <string.h>

#include "core/chains.h"
#include "host/count.h"
#include "isa/catalogue.h"
#include "isa/compose.h"
#include "isa/format_name.h"

/* Appends "16 products" or "1 product". */
static void add_products(char *text, int count) {
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%d product%s", count, smma_plural(count));
}

/* Appends the direction of a rounding, with its ties in brackets, such as "to nearest (ties away from zero)". */
static void add_direction(char *text, smma_rounding rounding) {
  const char *words = smma_rounding_words(rounding), *ties = strstr(words, ", ties");
  if (ties)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%.*s (%s)", (int)(ties - words), words, ties + 2);
  else
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%s", words);
}

/* Appends how a sum is rounded to a format, such as "rounded toward zero to f32". */
static void add_rounding(char *text, smma_rounding rounding, smma_format format) {
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "rounded ");
  add_direction(text, rounding);
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, " to %s", smma_format_text(format));
}

static void add_fused(char *text, const smma_t_fdpa *p) {
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, " and the sum so far, truncated to %d bits below the greatest exponent, ",
                   p->alignment_bits);
  add_rounding(text, p->rounding, p->output);
}

static void add_pairs(char *text, const smma_pairs *p) {
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%s, added to the sum so far, each addition ",
                   p->fused ? "the exact sum of 2 products" : "the sum of 2 rounded products");
  add_rounding(text, p->rounding, p->output);
  if (p->subnormals != SMMA_SUBNORMALS_KEPT) smma_append_text(text, SMMA_SUM_WORDS_SIZE, "; subnormals count as zero");
}

/* Appends what a step adds, such as "8 products at a time are added", or "each product" if the step only rounds. */
static void add_terms(char *text, const smma_step *s, const char *all) {
  const bool adds = s->take > 1 || s->join == SMMA_JOIN_CHAIN;
  if (s->take > 1)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%d%s at a time are added", s->take, all);
  else
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "each%s%s", all, adds ? " is added" : "");
  if (s->join == SMMA_JOIN_TREE) smma_append_text(text, SMMA_SUM_WORDS_SIZE, " in a tree");
}

static void add_chains(char *text, const smma_step *s) {
  if (s->join != SMMA_JOIN_CHAIN) return;
  if (s->chains > 1)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, " to one of %d chains in turn", s->chains);
  else
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, " to %s%s", s->start == SMMA_START_C ? "C" : "the sum before",
                     s->descending ? ", the last first" : "");
}

/* Appends how the terms of a step are aligned, such as ": each term is rounded to odd at 26 bits below the greatest
   exponent". */
static void add_alignment(char *text, const smma_step *s) {
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, ": each term is rounded ");
  add_direction(text, s->term.rounding);
  if (s->reference == SMMA_NONE)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, " at %d bits below the greatest exponent", s->term.bits);
  else
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, " to a multiple of 2^%d", s->reference - s->term.bits);
  if (s->reference_multiple > 1)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, " rounded up to a multiple of %d", s->reference_multiple);
  if (s->term.again)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", then again at %d bits", s->term.bits - s->term.again);
}

/* Appends how the sums of a step are rounded, such as "rounded to odd to f32" or "exact". */
static void add_result(char *text, const smma_step *s) {
  if (s->narrow_bits != SMMA_NONE) {
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "rounded ");
    add_direction(text, s->narrow_rounding);
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, " to %d bits%s, then ", s->narrow_bits + 1,
                     s->narrow_subnormals ? "" : " of any exponent");
    add_direction(text, s->rounding);
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, " to %s", smma_format_text(s->output));
  } else if (s->output == SMMA_NO_FORMAT) {
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "exact%s", s->cancelled_is_zero ? " (zero if it cancels)" : "");
  } else {
    add_rounding(text, s->rounding, s->output);
  }
}

/* Appends "slices of 7 bits of a", or "all bits of a" if there are no slices. */
static void add_slice(char *text, int bits, const char *of) {
  if (bits)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "slices of %d bits of %s", bits, of);
  else
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "all bits of %s", of);
}

/* Appends the number of phases and the slices, such as "each of 4 phases multiplies slices of 7 bits of a by slices of
   5 bits of b, and adds the products to C as follows; ". */
static void add_slices(char *text, const smma_composition *p) {
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, p->phases > 1 ? "each of %d phases multiplies " : "%d phase multiplies ",
                   p->phases);
  add_slice(text, p->slice_a, "a");
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, " by ");
  add_slice(text, p->slice_b, "b");
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", and adds the products to C as follows; ");
}

/* Appends how factors are aligned in blocks, such as "factors are aligned in blocks of 16, those of a to 8 bits, those
   of b to all bits; ". */
static void add_blocks(char *text, const smma_composition *p, int k) {
  char bits[2][12] = {"all", "all"};
  if (p->block_bits_a) snprintf(bits[0], sizeof bits[0], "%d", p->block_bits_a);
  if (p->block_bits_b) snprintf(bits[1], sizeof bits[1], "%d", p->block_bits_b);
  smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                   "factors are aligned in blocks of %d, those of a to %s bits, those of b to %s bits; ",
                   p->block_elements ? p->block_elements : k, bits[0], bits[1]);
}

/* Appends one step, such as "; 8 products at a time are added: each term is rounded to odd at 26 bits below the
   greatest exponent, and the sum is rounded to odd to f32". */
static void add_step(char *text, const smma_composition *p, int step) {
  const smma_step *s = &p->step[step];
  const bool single = s->take == 1 && s->join != SMMA_JOIN_CHAIN;
  if (step == 0 && (p->slice_a || p->slice_b)) add_slices(text, p);
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%s", step == 0 ? "" : "; ");
  add_terms(text, s, step ? " of these results" : s->take == 1 ? " product" : " products");
  add_chains(text, s);
  if (s->term.bits != SMMA_EXACT_ALIGNMENT) add_alignment(text, s);
  if (!single || s->term.bits != SMMA_EXACT_ALIGNMENT)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", and %s sum", s->join == SMMA_JOIN_TREE ? "every" : "the");
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, " is ");
  add_result(text, s);
  if (p->scaled_step == step + 1) smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", then multiplied by its scale factors");
}

static void add_composition(char *text, const smma_composition *p, int k) {
  smma_subnormal_policy of_factors;
  smma_pairs pairs;
  if (p->block_bits_a || p->block_bits_b) add_blocks(text, p, k);
  if (smma_is_sum_of_pairs(p, &pairs))
    add_pairs(text, &pairs);
  else if (smma_is_sum_of_chains(p, &of_factors))
    smma_append_text(
        text, SMMA_SUM_WORDS_SIZE,
        "two chains of fused multiply-adds from zero, of even and of odd k, added to each other and then to C; "
        "%s",
        of_factors == SMMA_SUBNORMALS_KEPT ? "subnormal factors are kept, other subnormals count as zero"
                                           : "subnormals count as zero");
  else
    for (int step = 0; step < p->steps; step++) add_step(text, p, step);
}

/* Appends the steps of a rule, if it can be written in steps. */
static void add_steps(char *text, const smma_operation *o) {
  smma_composition p;
  if (smma_compose(o, &p)) add_composition(text, &p, o->k);
}

static void add_integer(char *text, const smma_integer *p) {
  const bool wraps = p->overflow == SMMA_INTEGER_WRAPS;
  if (p->product == SMMA_PRODUCT_XOR)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "C plus the number of k for which the bits a[k] and b[k] differ");
  else
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "the exact sum of all products and C");
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "; a sum that does not fit in s32 %s%s",
                   wraps ? "wraps modulo 2^32" : "is clamped to the nearest limit",
                   p->two_stages ? ", in the middle and at the end" : "");
}

const char *smma_sum_words(const smma_operation *o, char text[SMMA_SUM_WORDS_SIZE]) {
  const smma_rule *r = &o->rule;
  const smma_tr_fdpa *tr = &r->with.tr_fdpa;
  const smma_c_fdpa *c = &r->with.c_fdpa;
  text[0] = 0;
  switch (smma_algorithm_of(r)) {
    case SMMA_FMA:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "a chain of fused multiply-adds in order of k, each ");
      add_rounding(text, r->with.fma.rounding, o->d);
      break;
    case SMMA_FTZ_FMA:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                       "a chain of fused multiply-adds from the last k to the first; subnormals count as zero");
      break;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
      add_products(text, smma_block_of(o));
      if (o->scale_block) smma_append_text(text, SMMA_SUM_WORDS_SIZE, " times their scale factors");
      add_fused(text, &r->with.t_fdpa);
      break;
    case SMMA_FP8_BY_FP16:
      add_products(text, smma_block_of(o));
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, " with k mod 4 < 2, then the other ");
      add_products(text, smma_block_of(o));
      add_fused(text, &r->with.t_fdpa);
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "; C is added last");
      break;
    case SMMA_GST_FDPA:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "exact sums of %d products times their scale factors",
                       r->with.gst_fdpa.group);
      add_fused(text, &r->with.gst_fdpa.fused);
      break;
    case SMMA_E_FDPA:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "the exact sum of ");
      add_products(text, smma_block_of(o));
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, " and the sum so far, ");
      add_rounding(text, SMMA_ROUND_NEAREST_EVEN, SMMA_F32);
      break;
    case SMMA_FTZ_ADDMUL:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                       "%d rounded products, added in pairs, then to the sum so far, in f32; subnormals count as zero",
                       r->with.ftz_addmul.pairwise);
      break;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "the sum of ");
      add_products(text, smma_block_of(o));
      smma_append_text(
          text, SMMA_SUM_WORDS_SIZE,
          ", each truncated to %d bits below the greatest exponent%s; this sum and the sum so far are added, "
          "rounded down to %d bits below the leading bit, then to nearest even to f32",
          tr->alignment_bits, r->algorithm == SMMA_GTR_FDPA ? " of even k or of odd k" : "", tr->sum_bits);
      break;
    case SMMA_C_FDPA:
      add_products(text, smma_block_of(o));
      smma_append_text(
          text, SMMA_SUM_WORDS_SIZE,
          " and the sum so far, all truncated to a common last bit (%d bits below the greatest exponent of the "
          "products, or %d below that of the sum so far); each term whose sign is not that of the sum so far "
          "takes away one more unit of this bit; the result is ",
          c->alignment_bits, c->c_bits);
      add_rounding(text, SMMA_ROUND_NEAREST_EVEN, c->output);
      break;
    case SMMA_GD_FDPA:
      add_products(text, smma_block_of(o));
      smma_append_text(
          text, SMMA_SUM_WORDS_SIZE,
          " in groups of %d, rounded down to %d bits below the greatest exponent of their group; the sums of the "
          "groups and the sum so far (%d bits) are rounded down to a common last bit, and their sum is ",
          c->group, c->alignment_bits, c->c_bits);
      add_rounding(text, SMMA_ROUND_NEAREST_EVEN, c->output);
      break;
    case SMMA_INTEGER: add_integer(text, &r->with.integer); break;
    default: add_steps(text, o);
  }
  return text;
}
