/* Prints an explanation as text. */
#include <math.h>
#include <string.h>

#include "explain/decimal.h"
#include "explain/difference.h"
#include "explain/drawing.h"
#include "host/locale.h"
#include "isa/catalogue.h"
#include "isa/format_name.h"
#include "isa/sum.h"

/* Reports whether the heading omits a parameter, because the drawing or the rule in words shows it. This is so for the
   steps, slices and blocks of compositions. */
static bool is_drawn(const char *name) {
  static const char *const begin[] = {"step", "slice", "block_", "phases", "first_phase", "zero_product"};
  for (size_t n = 0; n < sizeof begin / sizeof *begin; n++)
    if (strncmp(name, begin[n], strlen(begin[n])) == 0) return true;
  return false;
}

const char *smma_explain_sum_text(const smma_operation *o) {
  return smma_products_of(&o->rule) == SMMA_PRODUCT_XOR ? "c + sum of a[k]^b[k]" : "c + sum of a[k]*b[k]";
}

smma_explain_heading smma_explain_heading_of(const smma_operation *o) {
  smma_explain_heading heading;
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  size_t size = sizeof heading.model, length;
  length = (size_t)snprintf(heading.model, size, "%s", smma_model_name(&o->rule));
  for (int i = 0; length < size && smma_parameter(&o->rule, i, &name, value, sizeof value); i++)
    if (!is_drawn(name)) length += (size_t)snprintf(heading.model + length, size - length, ", %s = %s", name, value);
  size = sizeof heading.formats;
  length = (size_t)snprintf(heading.formats, size, "d = %s, K = %d, a: %s, b: %s, c: %s, d: %s",
                            smma_explain_sum_text(o), o->k, smma_format_text(o->a), smma_format_text(o->b),
                            smma_format_text(o->c), smma_format_text(o->d));
  if (o->scale != SMMA_NO_FORMAT && length < size)
    snprintf(heading.formats + length, size - length, ", scales: %s for %d", smma_format_text(o->scale),
             o->scale_block);
  return heading;
}

static void print_result(FILE *stream, const char *before, smma_format format, uint64_t encoding) {
  char hex[32], value[40];
  smma_encoding_hex(hex, sizeof hex, format, encoding);
  smma_encoding_text(value, sizeof value, format, encoding);
  fprintf(stream, "%s%s = %s\n", before, hex, value);
}

static void print_conclusion(FILE *stream, const smma_explanation *e) {
  char lost[32];
  print_result(stream, "d = ", e->result_format, e->result);
  if (!e->finite) return;
  print_result(stream,
               e->correctly_rounded == e->result ? "exact sum rounded once: the same, " : "exact sum rounded once: ",
               e->result_format, e->correctly_rounded);
  if (isnan(e->lost.significand) || e->lost.significand == 0) return;
  smma_quantity_text(lost, sizeof lost, e->lost, 8);
  fprintf(stream, "exact sum - d = %s\n", lost);
}

static const char align_legend[] =
    "Columns are powers of two. \".\" is 0; bits to the right of \"|\" are removed; \"~\" is a rounded decimal. e is "
    "the exponent\n"
    "that a term brings to the alignment: a product has the sum of its factors' exponents and is not normalised.\n";

static const char exact_legend[] =
    "Columns are powers of two. \".\" is 0; in columns \"~~~\" no digit changes; \"~\" is a rounded decimal. e is the "
    "exponent of a\n"
    "term's encoding.\n";

static const char steps_legend[] = "\"~\" is a rounded decimal.\n";

/* Prints the legend of the first drawing; without drawings, that of steps. */
static void print_legend(FILE *stream, const smma_explanation *e) {
  bool has_steps = false;
  for (size_t i = 0; i < e->count; i++) {
    if (e->stage[i].kind == SMMA_STAGE_ALIGN || e->stage[i].kind == SMMA_STAGE_EXACT) {
      fprintf(stream, "%s", e->stage[i].kind == SMMA_STAGE_ALIGN ? align_legend : exact_legend);
      return;
    }
    has_steps = has_steps || e->stage[i].kind == SMMA_STAGE_STEPS;
  }
  if (has_steps) fprintf(stream, "%s", steps_legend);
}

/* Prints words and a newline, wrapped to the width. The first line begins at column `column`. */
static void print_wrapped(FILE *stream, int column, const char *word, int width) {
  for (bool first = true; *word; first = false) {
    const int length = (int)strcspn(word, " ");
    const bool fits = first || column + 1 + length <= width;
    fprintf(stream, "%s%.*s", first ? "" : fits ? " " : "\n  ", length, word);
    column = (fits ? column + !first : 2) + length;
    word += length + (word[length] == ' ');
  }
  fprintf(stream, "\n");
}

/* Prints the lines of a note, each indented and wrapped. */
static void print_note(FILE *stream, const char *note, int width) {
  char line[sizeof((smma_stage *)0)->note];
  for (size_t length; *note; note += length + (note[length] == '\n')) {
    length = strcspn(note, "\n");
    snprintf(line, sizeof line, "%.*s", (int)length, note);
    fprintf(stream, "  ");
    print_wrapped(stream, 2, line + strspn(line, " "), width);
  }
}

static void print_stage(FILE *stream, const smma_stage *stage, int width, const smma_drawing_frame *frame) {
  fprintf(stream, "\n%s", stage->is_first_difference ? "> " : "");
  print_wrapped(stream, stage->is_first_difference ? 2 : 0, stage->title, width);
  if (stage->note[0]) print_note(stream, stage->note, width);
  if (stage->kind == SMMA_STAGE_STEPS)
    smma_print_steps(stream, stage, width);
  else if (stage->kind != SMMA_STAGE_NOTE)
    smma_print_drawing(stream, stage, width, frame);
  else if (stage->result_format != SMMA_NO_FORMAT)
    print_result(stream, "  result: ", stage->result_format, stage->result);
}

/* Prints the rule with its parameters, and in words. */
static void print_rule(FILE *stream, const smma_operation *operation, int width) {
  char words[SMMA_SUM_WORDS_SIZE];
  fprintf(stream, "%s\n", smma_explain_heading_of(operation).model);
  print_wrapped(stream, 0, smma_sum_words(operation, words), width);
}

void smma_explain_print(FILE *stream, const smma_operation *operation, const smma_explanation *explanation, int width) {
  const smma_locale locale = smma_locale_enter();
  print_rule(stream, operation, width);
  fprintf(stream, "%s\n", smma_explain_heading_of(operation).formats);
  print_legend(stream, explanation);
  for (size_t i = 0; i < explanation->count; i++) print_stage(stream, &explanation->stage[i], width, NULL);
  fprintf(stream, "\n");
  print_conclusion(stream, explanation);
  smma_locale_leave(locale);
}

/* Prints one of two computations: unit, rule and stages, without the heading that both share. */
static void print_one(FILE *stream, const smma_explained *unit, int width, const smma_drawing_frame *frame) {
  const smma_explanation *e = unit->explanation;
  fprintf(stream, "\n%s: %s\n", unit->unit, unit->instruction);
  print_rule(stream, unit->operation, width);
  for (size_t i = 0; i < e->count; i++) print_stage(stream, &e->stage[i], width, frame);
}

/* Prints the difference, wrapped to the width. */
static void print_difference(FILE *stream, const smma_difference *d, int width) {
  const char *before = "first difference: ";
  fprintf(stream, "%s", *d->text ? before : "no difference: every step has the same outcome");
  print_wrapped(stream, (int)strlen(before), d->text, width);
}

/* Reports whether the bits of a result in this format fit into a line behind a unit's name. */
static bool fits_results(smma_format format, const char *name) {
  enum { LONGEST_NAME = 24 }; /* of 64 bits; 32 bits leave room for all names */
  return smma_encoding_of(format).bits <= 32 || strlen(name) <= LONGEST_NAME;
}

void smma_explain_print_two(FILE *stream, const smma_explained both[2], int width) {
  const smma_explained unit[2] = {smma_named_apart(both, 0), smma_named_apart(both, 1)};
  const smma_explanation *const e[2] = {unit[0].explanation, unit[1].explanation};
  const bool fit = fits_results(e[0]->result_format, unit[0].unit) && fits_results(e[0]->result_format, unit[1].unit);
  const char *name[3] = {fit ? unit[0].unit : "first", fit ? unit[1].unit : "second", "exact sum"};
  const uint64_t result[3] = {e[0]->result, e[1]->result, e[0]->correctly_rounded};
  smma_difference d = smma_find_difference(unit);
  smma_drawing_frame frame = {.top = SMMA_WIDE_LEAST};
  const smma_locale locale = smma_locale_enter();
  print_difference(stream, &d, width);
  fprintf(stream, "%s", smma_explain_heading_of(unit[0].operation).formats);
  if (unit[1].operation->k != unit[0].operation->k) fprintf(stream, "; %s: K = %d", unit[1].unit, unit[1].operation->k);
  putc('\n', stream);
  print_legend(stream, e[0]);
  for (int u = 0; u < 2; u++)
    for (size_t i = 0; i < e[u]->count; i++) smma_drawing_widen(&frame, &e[u]->stage[i]);
  for (int u = 0; u < 2; u++) print_one(stream, &both[u], width, &frame);
  fprintf(stream, "\nresults:\n");
  smma_print_results(stream, e[0]->result_format, name, result, e[0]->finite ? 3 : 2,
                     e[0]->finite || !smma_have_same_result(unit));
  smma_locale_leave(locale);
}
