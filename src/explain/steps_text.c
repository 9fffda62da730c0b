/* Prints the steps of a rule that rounds after each operation, one line for each operation: operands, result and
   loss. */
#include <math.h>
#include <string.h>

#include "explain/decimal.h"
#include "explain/drawing.h"
#include "explain/table.h"

typedef struct {
  char value[40], hex[24], remark[104];
} step_text;

static void describe_step(const smma_explain_step *step, step_text *text) {
  char lost[32];
  smma_encoding_text(text->value, sizeof text->value, step->format, step->result);
  smma_encoding_hex(text->hex, sizeof text->hex, step->format, step->result);
  smma_quantity_text(lost, sizeof lost, step->lost, 4);
  if (isnan(step->lost.significand))
    snprintf(text->remark, sizeof text->remark, "%s", step->note);
  else
    snprintf(text->remark, sizeof text->remark, "%s%s%s%s", step->lost.significand == 0 ? "exact" : "lost ",
             step->lost.significand == 0 ? "" : lost, step->note[0] ? ", " : "", step->note);
}

void smma_print_steps(FILE *stream, const smma_stage *stage, int width) {
  int text_width = 0, operands_width = 0, value_width = 0, remark_width = 0, total;
  step_text text;
  for (int i = 0; i < stage->step_count; i++) {
    describe_step(&stage->step[i], &text);
    text_width = smma_longer(text_width, stage->step[i].text);
    operands_width = smma_longer(operands_width, stage->step[i].operands);
    value_width = smma_longer(value_width, text.value);
    remark_width = smma_longer(remark_width, text.remark);
  }
  total = 2 + text_width + 3 + value_width + 2 + (int)strlen(text.hex) + 2 + remark_width;
  for (int i = 0; i < stage->step_count; i++) {
    describe_step(&stage->step[i], &text);
    fprintf(stream, "%c %-*s", stage->step[i].is_first_difference ? '>' : ' ', text_width, stage->step[i].text);
    if (total + 3 + operands_width <= width) fprintf(stream, " = %-*s", operands_width, stage->step[i].operands);
    fprintf(stream, " = %-*s  %s%s%s\n", value_width, text.value, text.hex, text.remark[0] ? "  " : "", text.remark);
  }
}
