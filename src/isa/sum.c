#include "isa/sum.h"

#include <stdio.h>
#include <string.h>

#include "core/chains.h"
#include "isa/catalogue.h"
#include "isa/format_name.h"
#include "isa/key.h"

/* Appends "16 products" or "1 product". */
static void add_products(char *text, int count) {
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%d product%s", count, count == 1 ? "" : "s");
}

/* Appends how a sum is rounded to a format, such as "rounded toward zero to f32". */
static void add_rounding(char *text, smma_rounding rounding, smma_format format) {
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "rounded %s to %s", smma_rounding_words(rounding),
                   smma_format_text(format));
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

/* Appends the terms that a step adds, such as "sums of 8 products". */
static void add_groups(char *text, const smma_step *s, const char *node) {
  if (s->join == SMMA_JOIN_TREE)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "a tree of sums of %d %ss", s->take, node);
  else if (s->take == 1)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "each %s", node);
  else
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "sums of %d %ss", s->take, node);
}

static void add_chains(char *text, const smma_step *s) {
  if (s->join != SMMA_JOIN_CHAIN) return;
  if (s->chains > 1)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, " added in %d chains", s->chains);
  else
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, " added to %s%s", s->start == SMMA_START_C ? "C" : "the one before",
                     s->descending ? ", the last first" : "");
}

/* Appends the number of phases and the slices, such as "4 phases of products of slices of 7 and 5 bits; ". */
static void add_slices(char *text, const smma_composition *p) {
  char bits[2][12] = {"all", "all"};
  if (p->slice_a) snprintf(bits[0], sizeof bits[0], "%d", p->slice_a);
  if (p->slice_b) snprintf(bits[1], sizeof bits[1], "%d", p->slice_b);
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%d phase%s of products of slices of %s and %s bits; ", p->phases,
                   p->phases == 1 ? "" : "s", bits[0], bits[1]);
}

/* Appends how factors are aligned in blocks, such as "factors aligned in blocks of 16 to 8 and all bits; ". */
static void add_blocks(char *text, const smma_composition *p, int k) {
  char bits[2][12] = {"all", "all"};
  if (p->block_bits_a) snprintf(bits[0], sizeof bits[0], "%d", p->block_bits_a);
  if (p->block_bits_b) snprintf(bits[1], sizeof bits[1], "%d", p->block_bits_b);
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "factors aligned in blocks of %d to %s and %s bits; ",
                   p->block_elements ? p->block_elements : k, bits[0], bits[1]);
}

/* Appends one step, such as "; sums of 8 products, rounded to odd at 26 bits below the greatest exponent, rounded to
   odd to f32". */
static void add_step(char *text, const smma_composition *p, int step) {
  const smma_step *s = &p->step[step];
  const char *node = step == 0 ? "product" : "sum";
  if (step == 0 && (p->slice_a || p->slice_b)) add_slices(text, p);
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%s", step == 0 ? "" : "; ");
  add_groups(text, s, node);
  add_chains(text, s);
  if (s->term.bits != SMMA_EXACT_ALIGNMENT)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", terms rounded %s at %d bits below %s",
                     smma_rounding_words(s->term.rounding), s->term.bits,
                     s->reference == SMMA_NONE ? "the greatest exponent" : "a fixed exponent");
  if (s->reference_multiple > 1)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", rounded up to a multiple of %d", s->reference_multiple);
  if (s->term.again) smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", then at %d", s->term.bits - s->term.again);
  if (s->narrow_bits != SMMA_NONE)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", rounded %s to %d bits", smma_rounding_words(s->narrow_rounding),
                     s->narrow_bits + 1);
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", ");
  if (s->output == SMMA_NO_FORMAT)
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "exact%s", s->cancelled_is_zero ? ", a zero if it cancels" : "");
  else
    add_rounding(text, s->rounding, s->output);
  if (p->scaled_step == step + 1) smma_append_text(text, SMMA_SUM_WORDS_SIZE, ", times their scale factors");
}

static void add_composition(char *text, const smma_composition *p, int k) {
  smma_subnormal_policy of_factors;
  smma_pairs pairs;
  if (p->block_bits_a || p->block_bits_b) add_blocks(text, p, k);
  if (smma_is_sum_of_pairs(p, &pairs))
    add_pairs(text, &pairs);
  else if (smma_is_sum_of_chains(p, &of_factors))
    smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                     "two chains of fused multiply-adds, of even and of odd k, added at the end; subnormals count as "
                     "zero");
  else
    for (int step = 0; step < p->steps; step++) add_step(text, p, step);
}

static void add_integer(char *text, const smma_integer *p) {
  const bool wraps = p->overflow == SMMA_INTEGER_WRAPS;
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "the exact sum of all %s and C; the sum %s%s",
                   p->product == SMMA_PRODUCT_XOR ? "exclusive ors" : "products", wraps ? "wraps" : "saturates",
                   p->two_stages ? " in the middle and at the end" : "");
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
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "two sums, then C, each of ");
      add_products(text, smma_block_of(o));
      add_fused(text, &r->with.t_fdpa);
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
      add_products(text, smma_block_of(o));
      smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                       " truncated to %d bits below the greatest%s, then the sum so far, rounded down at %d bits, ",
                       tr->alignment_bits, r->algorithm == SMMA_GTR_FDPA ? " of even and of odd k" : "", tr->sum_bits);
      add_rounding(text, SMMA_ROUND_NEAREST_EVEN, SMMA_F32);
      break;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA:
      add_products(text, smma_block_of(o));
      smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                       r->algorithm == SMMA_C_FDPA
                           ? " and the sum so far, truncated to %d and %d bits, those of opposite sign complemented, "
                           : " and the sum so far, rounded down to %d and %d bits below the greatest, ",
                       c->alignment_bits, c->c_bits);
      add_rounding(text, SMMA_ROUND_NEAREST_EVEN, c->output);
      break;
    case SMMA_INTEGER: add_integer(text, &r->with.integer); break;
    case SMMA_COMPOSITION: add_composition(text, &r->with.composition, o->k); break;
  }
  return text;
}
