#include "cli/row.h"

#include <string.h>

#include "cli/explanation.h"
#include "cli/values.h"

static void print_vector(FILE *stream, const char *option, smma_format format, const uint64_t *x, int count) {
  char text[24];
  fprintf(stream, " %s '", option);
  for (int i = 0; i < count; i++) fprintf(stream, "%s%s", i ? " " : "", smma_hex_text(format, x[i], text));
  fputc('\'', stream);
}

void smma_print_dot_command(FILE *stream, const smma_instruction *i, const smma_row *row) {
  int scales = smma_scale_count(i->k, i->scale_block);
  const char *on = smma_arch_name(i), *quote = strchr(on, ' ') ? "'" : "";
  fprintf(stream, "softmma dot --on %s%s%s --instr %s --hex --explain", quote, on, quote, i->name);
  print_vector(stream, "--a", i->a, row->a, i->k);
  print_vector(stream, "--b", i->b, row->b, i->k);
  print_vector(stream, "--c", i->c, &row->c, 1);
  if (!scales) return;
  print_vector(stream, "--scale-a", i->scale, row->scale_a, scales);
  print_vector(stream, "--scale-b", i->scale, row->scale_b, scales);
}

void smma_print_explanation(const smma_instruction *i, const smma_row *row) {
  smma_explained_row x;
  smma_explain_row_of(&x, smma_arch_name(i), i, row);
  smma_explain_print(stdout, &x.operation, &x.explanation, smma_terminal_width());
  smma_explanation_free(&x.explanation);
}

void smma_print_mismatch(const smma_instruction *i, const smma_row *row, const char *unit, const char *against,
                         uint64_t expected) {
  const char *name[2] = {unit, against};
  const uint64_t result[2] = {row->d, expected};
  smma_print_explanation(i, row);
  printf("\nresults, sign, exponent and fraction:\n");
  smma_print_results(stdout, i->d, name, result, 2);
}

smma_row_kind smma_require_kind(const char *text) {
  smma_row_kind kind = smma_row_kind_from_text(text);
  char list[128] = "";
  if (kind != SMMA_ROWS_KINDS) return kind;
  for (int k = 0, used = 0; k < SMMA_ROWS_KINDS && used < (int)sizeof list; k++)
    used +=
        snprintf(list + used, sizeof list - (size_t)used, "%s%s", k ? ", " : "", smma_row_kind_text((smma_row_kind)k));
  smma_die("--kind: unknown kind '%s'; kinds are %s", text, list);
}

smma_campaign_recipe smma_require_recipe(const char *kind, long long seed) {
  if (!kind) return smma_campaign_best((uint64_t)seed);
  return (smma_campaign_recipe){.seed = (uint64_t)seed, .kind = smma_require_kind(kind)};
}

smma_tininess smma_require_tininess(int flags, const char *text) {
  smma_tininess tininess;
  smma_error error;
  if (text && !flags) smma_die("--tininess: add --flags, which it is for");
  if (!smma_tininess_from_text(text, &tininess, &error)) smma_die("--tininess: %s", error.text);
  return tininess;
}

smma_vector_format smma_require_vector_format(const char *text) {
  const smma_vector_format format = text ? smma_vector_format_from_text(text) : SMMA_VECTOR_TEXT;
  if (format == SMMA_VECTOR_FORMATS) smma_die("--format: '%s' is none of text, binary and readmemh", text);
  return format;
}
