#include "explain/datum.h"

#include <math.h>

#include "explain/decimal.h"
#include "rows/datum.h"
#include "softmma/softmma.h"

static smma_datum *row_datum(const smma_stage *stage, const smma_explain_line *line) {
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "label", line->label);
  smma_put_real(record, "value", smma_number_value(line->exact));
  if (stage->kind != SMMA_STAGE_ALIGN) return record;
  smma_datum_put(record, "exponent", line->has_exponent ? smma_datum_count(line->exponent) : smma_datum_null());
  smma_put_real(record, "kept", ldexp((double)line->aligned, line->cut));
  smma_datum_put(record, "last_bit", smma_datum_count(line->cut));
  return record;
}

static smma_datum *step_datum(const smma_explain_step *step) {
  smma_datum *record = smma_datum_record();
  char hex[24];
  smma_put_text(record, "step", step->text);
  smma_put_text(record, "operands", step->operands);
  smma_put_text(record, "note", step->note);
  smma_put_text(record, "result", smma_hex_text(step->format, step->result, hex));
  smma_put_real(record, "lost", smma_quantity_rounded(step->lost));
  return record;
}

static smma_datum *stage_datum(const smma_stage *stage) {
  static const char *const kinds[] = {[SMMA_STAGE_ALIGN] = "aligned sum",
                                      [SMMA_STAGE_EXACT] = "exact sum",
                                      [SMMA_STAGE_STEPS] = "steps",
                                      [SMMA_STAGE_NOTE] = "note"};
  smma_datum *record = smma_datum_record(), *parts = smma_datum_list();
  char hex[24];
  for (int i = 0; i < stage->line_count; i++) smma_datum_append(parts, row_datum(stage, &stage->line[i]));
  for (int i = 0; i < stage->step_count; i++) smma_datum_append(parts, step_datum(&stage->step[i]));
  smma_put_text(record, "kind", kinds[stage->kind]);
  smma_put_text(record, "title", stage->title);
  smma_put_text(record, "note", stage->note);
  smma_datum_put(record, stage->kind == SMMA_STAGE_STEPS ? "steps" : "terms", parts);
  if (stage->kind == SMMA_STAGE_ALIGN) {
    smma_datum_put(record, "greatest_exponent", smma_datum_count(stage->emax));
    smma_put_real(record, "sum", ldexp((double)stage->sum, stage->sum_exponent));
  }
  if (stage->result_format == SMMA_NO_FORMAT) return record;
  smma_put_text(record, "rounding", stage->rounding);
  smma_put_text(record, "result", smma_hex_text(stage->result_format, stage->result, hex));
  return record;
}

smma_datum *smma_explanation_datum(const smma_explained *unit) {
  const smma_explanation *e = unit->explanation;
  smma_datum *record = smma_datum_record(), *stages = smma_datum_list();
  char hex[24];
  for (size_t i = 0; i < e->count; i++) smma_datum_append(stages, stage_datum(&e->stage[i]));
  smma_put_text(record, "unit", unit->unit);
  smma_put_text(record, "instruction", unit->instruction);
  smma_put_text(record, "model", smma_explain_heading_of(unit->operation).model);
  smma_datum_put(record, "stages", stages);
  smma_put_text(record, "d", smma_hex_text(e->result_format, e->result, hex));
  smma_put_real(record, "value", smma_format_decode(e->result_format, e->result));
  smma_put_text(record, "exact", e->finite ? smma_hex_text(e->result_format, e->correctly_rounded, hex) : NULL);
  return record;
}

smma_datum *smma_explanations_datum(const smma_explained *unit, int count) {
  smma_datum *record, *units;
  if (count == 1) return smma_explanation_datum(unit);
  record = smma_datum_record(), units = smma_datum_list();
  for (int u = 0; u < count; u++) smma_datum_append(units, smma_explanation_datum(&unit[u]));
  smma_put_text(record, "first_difference", smma_find_difference(unit).text);
  smma_datum_put(record, "units", units);
  return record;
}
