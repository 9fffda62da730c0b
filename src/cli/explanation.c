#include "cli/explanation.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/values.h"
#include "explain/decimal.h"

void smma_explain_row_of(smma_explained_row *x, const char *unit, const smma_instruction *i, const smma_row *row) {
  x->operation = smma_operation_of(i);
  if (!smma_explain(&x->operation, row, &x->explanation)) smma_die("out of memory");
  x->explained = (smma_explained){unit, i->name, &x->operation, &x->explanation};
}

int smma_terminal_width(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 80) return size.ws_col > 120 ? 120 : size.ws_col;
  return 120;
}

/* ---- JSON ---- */

static json_t *row_json(const smma_stage *stage, const smma_explain_row *row) {
  json_t *object =
      json_pack("{s:s, s:o}", "label", row->label, "value", smma_json_value(smma_number_value(row->exact)));
  if (stage->kind != SMMA_STAGE_ALIGN) return object;
  json_object_set_new(object, "exponent", row->counts ? json_integer(row->exponent) : json_null());
  json_object_set_new(object, "kept", smma_json_value(ldexp((double)row->kept, row->cut)));
  json_object_set_new(object, "last_bit", json_integer(row->cut));
  return object;
}

static json_t *step_json(const smma_explain_step *step) {
  char hex[24];
  return json_pack("{s:s, s:s, s:s, s:s, s:o}", "step", step->text, "operands", step->operands, "note", step->note,
                   "result", smma_hex_text(step->format, step->result, hex), "lost", smma_json_value(step->lost));
}

static json_t *stage_json(const smma_stage *stage) {
  static const char *const kinds[] = {[SMMA_STAGE_ALIGN] = "aligned sum",
                                      [SMMA_STAGE_EXACT] = "exact sum",
                                      [SMMA_STAGE_STEPS] = "steps",
                                      [SMMA_STAGE_NOTE] = "note"};
  json_t *object = json_pack("{s:s, s:s, s:s}", "kind", kinds[stage->kind], "title", stage->title, "note", stage->note);
  json_t *parts = json_array();
  char hex[24];
  for (int i = 0; i < stage->row_count; i++) json_array_append_new(parts, row_json(stage, &stage->row[i]));
  for (int i = 0; i < stage->step_count; i++) json_array_append_new(parts, step_json(&stage->step[i]));
  json_object_set_new(object, stage->kind == SMMA_STAGE_STEPS ? "steps" : "terms", parts);
  if (stage->kind == SMMA_STAGE_ALIGN) {
    json_object_set_new(object, "greatest_exponent", json_integer(stage->emax));
    json_object_set_new(object, "sum", smma_json_value(ldexp((double)stage->sum, stage->sum_exponent)));
  }
  if (stage->result_format == SMMA_NO_FORMAT) return object;
  json_object_set_new(object, "rounding", json_string(stage->rounding));
  json_object_set_new(object, "result", json_string(smma_hex_text(stage->result_format, stage->result, hex)));
  return object;
}

json_t *smma_explanation_json(const smma_explained *unit) {
  const smma_explanation *e = unit->explanation;
  smma_explain_heading heading = smma_explain_heading_of(unit->operation);
  json_t *stages = json_array(), *object;
  char hex[24];
  for (size_t i = 0; i < e->count; i++) json_array_append_new(stages, stage_json(&e->stage[i]));
  object =
      json_pack("{s:o, s:s, s:s, s:o, s:s, s:o}", "unit", smma_json_text(unit->unit), "instruction", unit->instruction,
                "model", heading.model, "stages", stages, "d", smma_hex_text(e->result_format, e->result, hex), "value",
                smma_json_value(smma_format_decode(e->result_format, e->result)));
  json_object_set_new(object, "exact",
                      e->finite ? json_string(smma_hex_text(e->result_format, e->exact, hex)) : json_null());
  return object;
}
