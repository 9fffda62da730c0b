#include "compare/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/bits.h"
#include "isa/key.h"

const char *smma_shown_inputs(const smma_product_target *t, char text[SMMA_SHOWN_INPUTS_SIZE]) {
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  snprintf(text, SMMA_SHOWN_INPUTS_SIZE, "%s%s%s%s%s", smma_inputs_text(t->instruction, inputs), t->plan ? ", " : "",
           t->plan ? t->plan : "", t->shows_rounding ? ", " : "", t->shows_rounding ? smma_roundings[t->rounding] : "");
  return text;
}

const char *smma_inputs_heading(const smma_product_target *target, size_t targets) {
  for (size_t i = 0; i < targets; i++)
    if (target[i].plan) return "inputs, plan";
  return "inputs";
}

int smma_column_width(const smma_product_target *target, size_t targets, smma_target_column column, int least) {
  int width = least;
  for (const smma_product_target *t = target; t < target + targets; t++) {
    char inputs[SMMA_SHOWN_INPUTS_SIZE];
    const char *const text[] = {t->label, smma_shown_inputs(t, inputs), t->instruction->name};
    width = smma_maximum(width, (int)strlen(text[column]));
  }
  return width;
}

const char *smma_error_text(double error, char text[32]) {
  snprintf(text, 32, isnan(error) ? "-" : "%.2e", error);
  return text;
}
