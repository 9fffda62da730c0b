#include "product/method.h"

#include <stdio.h>
#include <string.h>

#include "host/count.h"
#include "io/count.h"
#include "isa/catalogue.h"
#include "numerics/words.h"

static const char *const method_names[] = {"words", "markidis", "bf16x9", "ozaki", "two-level", "fallback", NULL};

/* Finds the index of `text` in a list of names that ends with NULL. If `text` is NULL, the index is `otherwise`. */
static bool choose(const char *option, const char *text, const char *const *names, int otherwise, int *chosen,
                   smma_error *error) {
  char list[128] = "";
  *chosen = otherwise;
  if (!text) return true;
  for (int i = 0; names[i]; i++) {
    const size_t used = strlen(list);
    *chosen = i;
    if (strcmp(text, names[i]) == 0) return true;
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
  }
  return smma_fail(error, "%s: unknown '%s'; there are %s", option, text, list);
}

bool smma_method_is(const smma_method_options *o, const char *name) {
  return o->method && strcmp(o->method, name) == 0;
}

bool smma_check_method(const smma_method_options *o, smma_error *error) {
  const struct {
    const char *option;
    bool given;
    const char *methods; /* the methods that take this option; none of their names is a substring of another */
  } options[] = {{"--words", o->words != 0, "words, markidis"},
                 {"--accuracy", o->accuracy != 0, "words, markidis"},
                 {"--subnormals", o->subnormals != NULL, "words, markidis"},
                 {"--sum", o->sum != NULL, "words, markidis, ozaki"},
                 {"--slices", o->slices != NULL, "ozaki"},
                 {"--slice-bits", o->slice_bits != 0, "ozaki"},
                 {"--products", o->products != NULL, "ozaki"},
                 {"--through", o->through != NULL, "fallback"}};
  int chosen;
  if (smma_method_is(o, "exact"))
    return smma_fail(error, "--method: unknown 'exact'; --method ozaki gives the exact product");
  if (!choose("--method", o->method, method_names, 0, &chosen, error)) return false;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (options[i].given && (!o->method || !strstr(options[i].methods, o->method)))
      return smma_fail(error, "%s: this is for --method %s%s", options[i].option, options[i].methods,
                       o->method ? "; leave it out" : "; name one");
  return true;
}

/* ---- Words ---- */

static bool choose_words(const smma_method_options *o, const smma_instruction *i, int *words, smma_error *error) {
  *words = o->words;
  if (o->words && o->accuracy) return smma_fail(error, "--accuracy: --words gives their number; leave one out");
  if (!o->words && !o->accuracy) return smma_fail(error, "--words P or --accuracy X is missing; for example --words 2");
  if (o->words < 0 || o->words > SMMA_MOST_WORDS)
    return smma_fail(error, "--words: %d is not a number from 1 to %d", o->words, SMMA_MOST_WORDS);
  if (o->words) return true;
  if (!(o->accuracy > 0)) return smma_fail(error, "--accuracy: %g is not above 0; for example 1e-6", o->accuracy);
  *words = smma_words_for(i, o->accuracy);
  return *words || smma_fail(error, "--accuracy: %g is more than %d words of %s can give", o->accuracy, SMMA_MOST_WORDS,
                             smma_format_text(i->a));
}

/* Sets up the method bf16x9: three shifted BF16 words per number. The nine products are added for the K of one
   instruction, then for the next K, and so on. */
static bool take_bf16x9(const smma_instruction *i, smma_words *how, smma_error *error) {
  smma_words_defaults(how, sizeof *how);
  how->method = SMMA_WORDS_SHIFTED, how->words = 3, how->sum = SMMA_SUM_BLOCKS;
  return (i->a == SMMA_BF16 && i->b == SMMA_BF16 && i->c == SMMA_F32 && i->d == SMMA_F32) ||
         smma_fail(error, "--method bf16x9: %s does not multiply bf16 with results in f32; take --in bf16", i->name);
}

/* Fails unless A and B of the instruction have formats of words. */
static bool can_take_words(const smma_method_options *o, const smma_instruction *i, smma_error *error) {
  if (smma_is_fixed_point(i->a) || smma_is_fixed_point(i->b))
    return smma_fail(error,
                     "--method %s: %s takes integers; it needs a floating-point instruction (integers: --method ozaki)",
                     o->method, i->name);
  return (smma_is_word_format(i->a) && smma_is_word_format(i->b)) ||
         smma_fail(error, "--method %s: %s takes numbers without a sign in %s; A and B need a sign", o->method, i->name,
                   smma_format_text(smma_is_word_format(i->a) ? i->b : i->a));
}

static bool take_words(const smma_method_options *o, const smma_instruction *i, smma_words *how, smma_error *error) {
  static const char *const subnormals[] = {"on", "off", NULL};
  int sum, flush;
  smma_words_defaults(how, sizeof *how);
  how->method = smma_method_is(o, "words") ? SMMA_WORDS_SCALED : SMMA_WORDS_RESIDUAL;
  if (!can_take_words(o, i, error)) return false;
  if (!choose("--sum", o->sum, smma_words_sum_names, SMMA_SUM_F64, &sum, error) ||
      !choose("--subnormals", o->subnormals, subnormals, 0, &flush, error) || !choose_words(o, i, &how->words, error))
    return false;
  how->sum = (smma_words_sum)sum, how->flush_subnormals = flush != 0;
  if (how->sum == SMMA_SUM_F64 || how->sum == SMMA_SUM_F32 || i->c == i->d) return true;
  return smma_fail(error, "--sum: %s has C in %s and D in %s, so its sums cannot go on; take f64 or f32", i->name,
                   smma_format_text(i->c), smma_format_text(i->d));
}

/* ---- Slices ---- */

static bool take_slices(const smma_method_options *o, const smma_instruction *i, smma_slices *how, smma_error *error) {
  static const char *const sums[] = {"f64", "exact", NULL};
  static const char *const products[] = {"leading", "all", NULL};
  int which, sum;
  long long slices = 0;
  bool automatic;
  smma_slices_defaults(how, sizeof *how);
  if (o->slice_bits) how->bits = o->slice_bits;
  if (i->a != SMMA_S8 || i->b != SMMA_S8 || i->d != SMMA_S32)
    return smma_fail(
        error,
        "--method ozaki: %s does not multiply s8 by s8, as slices are; give the GPU with --in s8, or without a format",
        i->name);
  automatic = !o->slices || strcmp(o->slices, "auto") == 0;
  if (!automatic && (!smma_read_count(o->slices, &slices) || slices < 1 || slices > SMMA_MOST_SLICES))
    return smma_fail(error, "--slices: '%s' is neither a number from 1 to %d nor auto", o->slices, SMMA_MOST_SLICES);
  how->slices = (int)slices;
  if (how->bits < 1 || how->bits > 7)
    return smma_fail(error, "--slice-bits: %d is not a number from 1 to 7", how->bits);
  if (!choose("--products", o->products, products, automatic, &which, error) ||
      !choose("--sum", o->sum, sums, automatic, &sum, error))
    return false;
  how->products = (smma_products)which, how->sum = (smma_slices_sum)sum;
  return true;
}

/* ---- All ---- */

bool smma_choose_method(const smma_method_options *o, const smma_instruction *i, smma_method *m, smma_error *error) {
  m->kind = SMMA_METHOD_NONE;
  if (smma_method_is(o, "words") || smma_method_is(o, "markidis"))
    return m->kind = SMMA_METHOD_WORDS, take_words(o, i, &m->words, error);
  if (smma_method_is(o, "bf16x9")) return m->kind = SMMA_METHOD_WORDS, take_bf16x9(i, &m->words, error);
  if (smma_method_is(o, "ozaki")) return m->kind = SMMA_METHOD_SLICES, take_slices(o, i, &m->slices, error);
  return true;
}

bool smma_choose_fallback(const smma_method_options *o, smma_format data, const char **through, smma_error *error) {
  static const char *const formats[] = {"f16", "bf16", NULL};
  int chosen;
  if (!choose("--through", o->through, formats, 0, &chosen, error)) return false;
  *through = formats[chosen];
  if (data == SMMA_NO_FORMAT)
    return smma_fail(error, "--method fallback: --in FORMAT is missing: the format of the data; for example --in e4m3");
  if (smma_format_bits(data) <= 8 && !smma_is_fixed_point(data)) return true;
  return smma_fail(error, "--in: %s is no FP8, FP6 or FP4 format, which --method fallback is for",
                   smma_format_text(data));
}

const char *smma_method_text(const smma_method_options *o, const smma_method *m, char text[64]) {
  if (m->kind == SMMA_METHOD_SLICES)
    snprintf(text, 64, "ozaki, %d slice%s of A and %d of B, of %d bits", m->used[0], smma_plural((size_t)m->used[0]),
             m->used[1], m->slices.bits);
  else
    snprintf(text, 64, "%s, p = %d", o->method, m->words.words);
  return text;
}
