#include "facts/sum.h"

#include <stdio.h>
#include <string.h>

#include "core/chains.h"
#include "isa/formats.h"
#include "isa/key.h"

/* ---- A rule in one sentence ---- */

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

static void add_composition(char *text, const smma_composition *p) {
  smma_subnormal_policy of_factors;
  smma_pairs pairs;
  if (smma_is_sum_of_pairs(p, &pairs))
    add_pairs(text, &pairs);
  else if (smma_is_sum_of_chains(p, &of_factors))
    smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                     "two chains of fused multiply-adds, of even and of odd k, added at the end; subnormals count as "
                     "zero");
  else
    smma_append_text(text, SMMA_SUM_WORDS_SIZE, "%d step%s, which 'softmma custom' describes", p->steps,
                     p->steps == 1 ? "" : "s");
}

static void add_integer(char *text, const smma_integer *p) {
  const bool wraps = p->overflow == SMMA_INTEGER_WRAPS;
  smma_append_text(text, SMMA_SUM_WORDS_SIZE, "the exact sum of all %s and C, which %s%s",
                   p->product == SMMA_PRODUCT_XOR ? "exclusive ors" : "products", wraps ? "wraps" : "saturates",
                   p->two_stages ? " in the middle and at the end" : "");
}

const char *smma_sum_words(const smma_instruction *i, char text[SMMA_SUM_WORDS_SIZE]) {
  const smma_operation o = smma_operation_of(i);
  const smma_rule *r = &o.rule;
  const smma_tr_fdpa *tr = &r->with.tr_fdpa;
  const smma_c_fdpa *c = &r->with.c_fdpa;
  text[0] = 0;
  switch (smma_algorithm_of(r)) {
    case SMMA_FMA:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "a chain of fused multiply-adds in order of k, each ");
      add_rounding(text, r->with.fma.rounding, i->d);
      break;
    case SMMA_FTZ_FMA:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                       "a chain of fused multiply-adds from the last k to the first; subnormals count as zero");
      break;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
      add_products(text, smma_block_of(&o));
      if (i->scale_block) smma_append_text(text, SMMA_SUM_WORDS_SIZE, " times their scale factors");
      add_fused(text, &r->with.t_fdpa);
      break;
    case SMMA_FP8_BY_FP16:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "two sums, then C, each of ");
      add_products(text, smma_block_of(&o));
      add_fused(text, &r->with.t_fdpa);
      break;
    case SMMA_GST_FDPA:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "exact sums of %d products times their scale factors",
                       r->with.gst_fdpa.group);
      add_fused(text, &r->with.gst_fdpa.fused);
      break;
    case SMMA_E_FDPA:
      smma_append_text(text, SMMA_SUM_WORDS_SIZE, "the exact sum of ");
      add_products(text, smma_block_of(&o));
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
      add_products(text, smma_block_of(&o));
      smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                       " truncated to %d bits below the greatest%s, then the sum so far, rounded down at %d bits, ",
                       tr->alignment_bits, r->algorithm == SMMA_GTR_FDPA ? " of even and of odd k" : "", tr->sum_bits);
      add_rounding(text, SMMA_ROUND_NEAREST_EVEN, SMMA_F32);
      break;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA:
      add_products(text, smma_block_of(&o));
      smma_append_text(text, SMMA_SUM_WORDS_SIZE,
                       r->algorithm == SMMA_C_FDPA
                           ? " and the sum so far, truncated to %d and %d bits, those of opposite sign complemented, "
                           : ", rounded down to %d bits below the greatest, and the sum so far, to %d, ",
                       c->alignment_bits, c->c_bits);
      add_rounding(text, SMMA_ROUND_NEAREST_EVEN, c->output);
      break;
    case SMMA_INTEGER: add_integer(text, &r->with.integer); break;
    case SMMA_COMPOSITION: add_composition(text, &r->with.composition); break;
  }
  return text;
}

/* ---- A GPU ---- */

enum { MOST_SUMS = 128 };

/* All instructions with the same sum and format of D. */
typedef struct {
  char words[SMMA_SUM_WORDS_SIZE];
  const smma_instruction *first;
  uint64_t count;
  smma_datum *inputs;
} instruction_sum;

/* Appends a text that the list does not contain yet. */
static void add_text(smma_datum *list, const char *text) {
  for (size_t i = 0; i < smma_datum_size(list); i++)
    if (strcmp(smma_datum_text_of(smma_datum_at(list, i)), text) == 0) return;
  smma_datum_append(list, smma_datum_text(text));
}

static void add_texts(smma_datum *list, const char *const *text) {
  for (; *text; text++) add_text(list, *text);
}

/* Adds an instruction to those that sum as it does. Returns the number of different sums. */
static size_t add_instruction(instruction_sum *sum, size_t count, const smma_instruction *i) {
  char words[SMMA_SUM_WORDS_SIZE], inputs[SMMA_INPUTS_TEXT_SIZE];
  size_t n = 0;
  smma_sum_words(i, words);
  while (n < count && (sum[n].first->d != i->d || strcmp(sum[n].words, words) != 0)) n++;
  if (n == MOST_SUMS) return n;
  if (n == count) {
    sum[count++] = (instruction_sum){.first = i, .inputs = smma_datum_list()};
    snprintf(sum[n].words, sizeof sum[n].words, "%s", words);
  }
  sum[n].count++;
  add_text(sum[n].inputs, smma_inputs_text(i, inputs));
  return count;
}

static smma_datum *sum_datum(const instruction_sum *sum) {
  smma_datum *record = smma_datum_record();
  smma_datum_put(record, "inputs", sum->inputs);
  smma_put_text(record, "d", smma_format_text(sum->first->d));
  smma_put_text(record, "sum", sum->words);
  smma_put_text(record, "instruction", sum->first->name);
  smma_put_count(record, "instructions", sum->count);
  return record;
}

smma_datum *smma_gpu_datum(smma_arch_id arch) {
  const smma_architecture *a = &smma_architectures[arch];
  smma_datum *gpu = smma_datum_record(), *sums = smma_datum_list(), *evidence = smma_datum_list(),
             *questions = smma_datum_list();
  instruction_sum sum[MOST_SUMS];
  size_t count = 0;
  for (const smma_instruction *i = a->table->row; i < a->table->row + a->table->count; i++) {
    count = add_instruction(sum, count, i);
    add_texts(evidence, i->rule->evidence);
    add_texts(questions, i->rule->questions);
  }
  for (size_t n = 0; n < count; n++) smma_datum_append(sums, sum_datum(&sum[n]));
  smma_put_text(gpu, "arch", a->name);
  smma_put_text(gpu, "vendor", a->vendor);
  smma_put_text(gpu, "title", a->title);
  smma_put_count(gpu, "instructions", a->table->count);
  smma_datum_put(gpu, "sums", sums);
  smma_datum_put(gpu, "evidence", evidence);
  smma_datum_put(gpu, "questions", questions);
  return gpu;
}
