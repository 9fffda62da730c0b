/* Functions that build the explanations of all algorithms. */
#include "explain/builder.h"

#include "isa/catalogue.h"

smma_stage *smma_explain_add_stage(smma_explain_builder *b, smma_stage_kind kind) {
  smma_stage *stage = &b->explanation->stage[b->explanation->count++];
  stage->kind = kind;
  stage->nan = b->operation->rule.nan;
  stage->term_of = b->explanation->count;
  stage->line = b->explanation->lines + b->lines_used;
  stage->step = b->explanation->steps + b->steps_used;
  stage->sum_name = "sum";
  stage->result_format = SMMA_NO_FORMAT;
  return stage;
}

static smma_stage *last_stage(smma_explain_builder *b) { return &b->explanation->stage[b->explanation->count - 1]; }

smma_explain_line *smma_explain_add_line(smma_explain_builder *b, const char *label, smma_number exact) {
  smma_stage *stage = last_stage(b);
  smma_explain_line *line = &stage->line[stage->line_count++];
  b->lines_used++;
  snprintf(line->label, sizeof line->label, "%s", label);
  line->exact = exact;
  line->exponent = exact.exponent;
  line->has_exponent = true;
  return line;
}

smma_explain_step *smma_explain_add_step(smma_explain_builder *b, smma_format format, uint64_t result) {
  smma_stage *stage = last_stage(b);
  smma_explain_step *step = &stage->step[stage->step_count++];
  b->steps_used++;
  step->format = format;
  step->result = result;
  return step;
}

smma_power_text smma_text_of_power(int exponent) {
  smma_power_text power;
  snprintf(power.text, sizeof power.text, "2^%d", exponent);
  return power;
}

void smma_explain_rounding(smma_rounding direction, smma_format format, char *text, size_t size) {
  char name[48];
  smma_rounding_to_text(direction, format, name, sizeof name);
  snprintf(text, size, "%s, %s", name, smma_rounding_words(direction));
}
