#include "cli/method.h"

#include <string.h>

/* The position of `text` in a list of names that ends with NULL; 0 for NULL. */
static int choose(const char *option, const char *text, const char *const *names, const char *list) {
  if (!text) return 0;
  for (int i = 0; names[i]; i++)
    if (strcmp(text, names[i]) == 0) return i;
  smma_die("%s: unknown '%s'; there are %s", option, text, list);
}

/* Options that do nothing without a method. */
static void require_none(const smma_method_options *o) {
  const char *option = o->words ? "--words" : o->accuracy ? "--accuracy" : o->sum ? "--sum" : "--subnormals";
  if (o->words || o->accuracy || o->sum || o->subnormals)
    smma_die("%s: this is for --method words or --method markidis; name one", option);
}

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

bool smma_choose_method(const smma_method_options *o, const smma_instruction *i, smma_words *how) {
  static const char *const methods[] = {"words", "markidis", NULL};
  static const char *const sums[] = {"f64", "f32", "unit", "unit-scaled", NULL};
  static const char *const subnormals[] = {"on", "off", NULL};
  if (!o->method) {
    require_none(o);
    return false;
  }
  if (i->d == SMMA_FORMAT_s32)
    smma_die("--method: words are floating-point numbers, but %s takes integers; name another instruction", i->name);
  how->method = (smma_words_method)choose("--method", o->method, methods, "words, markidis");
  how->sum = (smma_words_sum)choose("--sum", o->sum, sums, "f64, f32, unit, unit-scaled");
  how->flush_subnormals = choose("--subnormals", o->subnormals, subnormals, "on, off");
  how->words = choose_words(o, i);
  if ((how->sum == SMMA_SUM_UNIT || how->sum == SMMA_SUM_UNIT_SCALED) && i->c != i->d)
    smma_die("--sum: %s has C in %s and D in %s, so its sums cannot go on; take f64 or f32", i->name,
             smma_format_text(i->c), smma_format_text(i->d));
  return true;
}
