#include "cli/row.h"

#include <string.h>

#include "cli/output.h"
#include "explain/difference.h"
#include "isa/key.h"

bool smma_print_explanation(const smma_instruction *i, const smma_row *row, smma_error *error) {
  smma_explained_row x;
  if (!smma_explain_row_of(&x, smma_arch_name(i), i, row, error)) return false;
  smma_explain_print(stdout, &x.operation, &x.explanation, smma_terminal_width());
  smma_explanation_free(&x.explanation);
  return true;
}

bool smma_read_kind(const char *text, smma_row_kind *kind, smma_error *error) {
  char list[128] = "";
  *kind = smma_row_kind_from_text(text);
  if (*kind != SMMA_ROWS_KINDS && strcmp(text, smma_row_kind_text(*kind)) != 0)
    smma_note("the kind '%s' is '%s' (docs/units.md)", text, smma_row_kind_text(*kind));
  if (*kind != SMMA_ROWS_KINDS) return true;
  for (smma_row_kind k = 0; k < SMMA_ROWS_KINDS; k++)
    smma_append_text(list, sizeof list, "%s%s", k ? ", " : "", smma_row_kind_text(k));
  return smma_fail(error, "--kind: unknown kind '%s'; kinds are %s", text, list);
}

bool smma_read_recipe(const char *kind, long long seed, smma_campaign_recipe *recipe, smma_error *error) {
  *recipe = kind ? (smma_campaign_recipe){.seed = (uint64_t)seed} : smma_campaign_best((uint64_t)seed);
  return !kind || smma_read_kind(kind, &recipe->kind, error);
}

bool smma_read_tininess(int flags, const char *text, smma_tininess *tininess, smma_error *error) {
  smma_error why;
  if (text && !flags) return smma_fail(error, "--tininess: add --flags, which it is for");
  return smma_tininess_from_text(text, tininess, &why) || smma_fail(error, "--tininess: %s", why.text);
}

bool smma_read_vector_format(const char *text, const char *path, smma_vector_format *format, smma_error *error) {
  if (!text && path &&
      !smma_check_ending(path, "--output", ".txt, .bin (binary), .hex (readmemh), .csv, .json or .jsonl", error))
    return false;
  *format = text ? smma_vector_format_from_text(text) : smma_vector_format_of_file(path);
  return *format != SMMA_VECTOR_FORMATS || smma_fail(error, "--format: '%s' is not " SMMA_VECTOR_FORMAT_NAMES, text);
}

bool smma_read_kind_and_format(const char *kind_text, const char *format_text, const char *path, smma_row_kind *kind,
                               smma_vector_format *format, smma_error *error) {
  smma_error of_kind;
  const bool kind_is_known = !kind_text || smma_read_kind(kind_text, kind, &of_kind);
  const bool format_is_known = smma_read_vector_format(format_text, path, format, error);
  if (kind_is_known) return format_is_known;
  if (format_is_known) return smma_fail(error, "%s", of_kind.text);
  const smma_error of_format = *error;
  return smma_fail(error, "%s; and %s", of_kind.text, of_format.text);
}
