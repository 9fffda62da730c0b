#include "cli/method.h"

#include <stdlib.h>
#include <string.h>

#include "cli/choose.h"
#include "core/format.h"
#include "numerics/words.h"

static const char *const method_names[] = {"words", "markidis", "ozaki", "two-level", "fallback", NULL};

/* The position of `text` in a list of names that ends with NULL; `otherwise` for NULL. */
static int choose(const char *option, const char *text, const char *const *names, int otherwise) {
  char list[128] = "";
  if (!text) return otherwise;
  for (int i = 0; names[i]; i++) {
    size_t used = strlen(list);
    if (strcmp(text, names[i]) == 0) return i;
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
  }
  smma_die("%s: unknown '%s'; there are %s", option, text, list);
}

bool smma_method_is(const smma_method_options *o, const char *name) {
  return o->method && strcmp(o->method, name) == 0;
}

void smma_check_method(const smma_method_options *o) {
  const struct {
    const char *option;
    bool given;
    const char *methods; /* those it belongs to; none of their names is part of another */
  } options[] = {{"--words", o->words != 0, "words, markidis"},
                 {"--accuracy", o->accuracy != 0, "words, markidis"},
                 {"--subnormals", o->subnormals != NULL, "words, markidis"},
                 {"--sum", o->sum != NULL, "words, markidis, ozaki"},
                 {"--slices", o->slices != NULL, "ozaki"},
                 {"--slice-bits", o->slice_bits != 0, "ozaki"},
                 {"--products", o->products != NULL, "ozaki"},
                 {"--through", o->through != NULL, "fallback"}};
  choose("--method", o->method, method_names, 0);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (options[i].given && (!o->method || !strstr(options[i].methods, o->method)))
      smma_die("%s: this is for --method %s%s", options[i].option, options[i].methods,
               o->method ? "; leave it out" : "; name one");
}

/* ---- Words ---- */

static int choose_words(const smma_method_options *o, const smma_instruction *i) {
  int words;
  if (o->words && o->accuracy) smma_die("--accuracy: --words says how many; leave one out");
  if (!o->words && !o->accuracy) smma_die("--words P or --accuracy X is missing; for example --words 2");
  if (o->words < 0 || o->words > SMMA_MOST_WORDS)
    smma_die("--words: %d is not a number from 1 to %d", o->words, SMMA_MOST_WORDS);
  if (o->words) return o->words;
  if (!(o->accuracy > 0)) smma_die("--accuracy: %g is not above 0; for example 1e-6", o->accuracy);
  words = smma_words_for(i, o->accuracy);
  if (words == 0)
    smma_die("--accuracy: %g is more than %d words of %s can give", o->accuracy, SMMA_MOST_WORDS,
             smma_format_text(i->a));
  return words;
}

static smma_words words_of(const smma_method_options *o, const smma_instruction *i) {
  static const char *const subnormals[] = {"on", "off", NULL};
  smma_words how;
  smma_words_defaults(&how, sizeof how);
  how.method = smma_method_is(o, "words") ? SMMA_WORDS_SCALED : SMMA_WORDS_RESIDUAL;
  if (smma_is_integer(i->a))
    smma_die("--method %s: %s takes integers; it needs a floating-point instruction (integers: --method ozaki)",
             o->method, i->name);
  how.sum = (smma_words_sum)choose("--sum", o->sum, smma_words_sum_names, SMMA_SUM_F64);
  how.flush_subnormals = choose("--subnormals", o->subnormals, subnormals, 0);
  how.words = choose_words(o, i);
  if ((how.sum == SMMA_SUM_UNIT || how.sum == SMMA_SUM_UNIT_SCALED) && i->c != i->d)
    smma_die("--sum: %s has C in %s and D in %s, so its sums cannot go on; take f64 or f32", i->name,
             smma_format_text(i->c), smma_format_text(i->d));
  return how;
}

/* ---- Slices ---- */

static smma_slices slices_of(const smma_method_options *o, const smma_instruction *i) {
  static const char *const sums[] = {"f64", "exact", NULL};
  static const char *const products[] = {"leading", "all", NULL};
  smma_slices how;
  bool automatic;
  char *end;
  smma_slices_defaults(&how, sizeof how);
  if (o->slice_bits) how.bits = o->slice_bits;
  if (i->a != SMMA_S8 || i->b != SMMA_S8 || i->d != SMMA_S32)
    smma_die("--method ozaki: %s is no instruction with A and B in s8; take --in s8", i->name);
  if (!o->slices) smma_die("--slices S is missing; for example --slices 8, or --slices auto");
  automatic = strcmp(o->slices, "auto") == 0;
  how.slices = automatic ? 0 : (int)strtol(o->slices, &end, 10);
  if (!automatic && (*end || how.slices < 1 || how.slices > SMMA_MOST_SLICES))
    smma_die("--slices: '%s' is neither a number from 1 to %d nor auto", o->slices, SMMA_MOST_SLICES);
  if (how.bits < 1 || how.bits > 7) smma_die("--slice-bits: %d is not a number from 1 to 7", how.bits);
  how.products = (smma_products)choose("--products", o->products, products, automatic);
  how.sum = (smma_slices_sum)choose("--sum", o->sum, sums, automatic);
  return how;
}

/* ---- All ---- */

smma_method smma_choose_method(const smma_method_options *o, const smma_instruction *i) {
  smma_method m = {.kind = SMMA_METHOD_NONE};
  if (smma_method_is(o, "words") || smma_method_is(o, "markidis"))
    m.kind = SMMA_METHOD_WORDS, m.words = words_of(o, i);
  else if (smma_method_is(o, "ozaki"))
    m.kind = SMMA_METHOD_SLICES, m.slices = slices_of(o, i);
  return m;
}

const smma_instruction *smma_choose_fallback(const smma_method_options *o, const char *gpu, const char *in,
                                             const char *out) {
  static const char *const formats[] = {"f16", "bf16", NULL};
  const char *through = formats[choose("--through", o->through, formats, 0)];
  if (!in) smma_die("--method fallback: --in FORMAT is missing: the format of the data; for example --in e4m3");
  if (smma_format_bits(smma_require_format(in, "--in")) > 8 || smma_is_integer(smma_require_format(in, "--in")))
    smma_die("--in: %s is no FP8, FP6 or FP4 format, which --method fallback is for", in);
  return smma_choose_instruction(gpu, NULL, through, out);
}

const char *smma_method_text(const smma_method_options *o, const smma_method *m, char text[64]) {
  if (m->kind == SMMA_METHOD_SLICES)
    snprintf(text, 64, "ozaki, %s slices of %d bits", o->slices, m->slices.bits);
  else
    snprintf(text, 64, "%s, p = %d", o->method, m->words.words);
  return text;
}
