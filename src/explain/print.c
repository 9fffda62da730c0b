/* The text of an explanation. */
#include <math.h>
#include <string.h>

#include "explain/decimal.h"
#include "explain/drawing.h"
#include "isa/catalogue.h"
#include "isa/format_name.h"

static void print_heading(FILE *stream, const smma_operation *o) {
  const char *name;
  char value[32], line[640];
  int length = snprintf(line, sizeof line, "%s", smma_model_name(&o->rule));
  for (int i = 0; smma_parameter(&o->rule, i, &name, value, sizeof value); i++)
    length += snprintf(line + length, sizeof line - (size_t)length, ", %s = %s", name, value);
  fprintf(stream, "%s\n", line);
  fprintf(stream, "d = c + sum of a[k]*b[k], K = %d, a: %s, b: %s, c: %s, d: %s", o->k, smma_format_text(o->a),
          smma_format_text(o->b), smma_format_text(o->c), smma_format_text(o->d));
  if (o->scale != SMMA_FORMAT_none) fprintf(stream, ", scales: %s for %d", smma_format_text(o->scale), o->scale_block);
  fprintf(stream, "\n");
}

static void print_result(FILE *stream, const char *before, smma_format_id format, uint64_t encoding) {
  char hex[32], value[40];
  smma_encoding_hex(hex, sizeof hex, format, encoding);
  smma_encoding_text(value, sizeof value, format, encoding);
  fprintf(stream, "%s%s = %s\n", before, hex, value);
}

static void print_conclusion(FILE *stream, const smma_explanation *e) {
  char lost[32];
  print_result(stream, "d = ", e->result_format, e->result);
  if (!e->finite) return;
  print_result(stream, e->exact == e->result ? "exact sum rounded once: the same, " : "exact sum rounded once: ",
               e->result_format, e->exact);
  if (!isfinite(e->lost) || e->lost == 0) return;
  smma_lost_text(lost, sizeof lost, e->lost, 8);
  fprintf(stream, "exact sum - d = %s\n", lost);
}

static const char align_legend[] =
    "Columns are powers of two, \".\" is 0; \"|\" is the cut, bits to the right of it are lost. e is the exponent that "
    "a term\n"
    "brings to the alignment: a product has the sum of its factors' exponents and is not normalised. \"~\": rounded "
    "decimal.\n";

static const char exact_legend[] =
    "Columns are powers of two, \".\" is 0; \"~~~\" stands for a run of columns in which no digit changes. e is the "
    "exponent\n"
    "that a term has from its encoding; behind \"~\" is a rounded decimal.\n";

static void print_legend(FILE *stream, const smma_explanation *e) {
  for (size_t i = 0; i < e->count; i++) {
    if (e->stage[i].kind == SMMA_STAGE_ALIGN || e->stage[i].kind == SMMA_STAGE_EXACT) {
      fprintf(stream, "%s", e->stage[i].kind == SMMA_STAGE_ALIGN ? align_legend : exact_legend);
      return;
    }
  }
}

void smma_explain_print(FILE *stream, const smma_operation *operation, const smma_explanation *explanation, int width) {
  print_heading(stream, operation);
  print_legend(stream, explanation);
  for (size_t i = 0; i < explanation->count; i++) {
    const smma_stage *stage = &explanation->stage[i];
    fprintf(stream, "\n%s\n", stage->title);
    if (stage->note[0]) fprintf(stream, "  %s\n", stage->note);
    if (stage->kind == SMMA_STAGE_STEPS) {
      smma_print_steps(stream, stage, width);
      continue;
    }
    if (stage->kind != SMMA_STAGE_NOTE)
      smma_print_drawing(stream, stage, width);
    else if (stage->result_format != SMMA_FORMAT_none)
      print_result(stream, "  result: ", stage->result_format, stage->result);
  }
  fprintf(stream, "\n");
  print_conclusion(stream, explanation);
}
