#include "experiment/distinct.h"

#include <string.h>

#include "isa/print.h"
#include "softmma/softmma.h"

static bool same_chain(const smma_instruction *x, const smma_instruction *y) {
  const smma_operation p = smma_operation_of(x), q = smma_operation_of(y);
  return x->arch == y->arch && x->rule == y->rule && x->a == y->a && x->b == y->b && x->c == y->c && x->d == y->d &&
         x->scale == y->scale && x->scale_block == y->scale_block && smma_block_of(&p) == smma_block_of(&q);
}

/* Reports whether an earlier row of the catalogue has the same chain; `before` is the number of earlier rows. */
static bool is_known(const smma_instruction *instruction, size_t before) {
  for (size_t i = 0; i < before; i++)
    if (same_chain(smma_catalogue_at(i), instruction)) return true;
  return false;
}

size_t smma_distinct_instructions(const smma_instruction **found) {
  size_t count = 0;
  for (size_t i = 0; i < smma_catalogue_count(); i++) {
    const smma_instruction *instruction = smma_catalogue_at(i);
    if (!smma_architectures[instruction->arch].listed || instruction->a != instruction->b) continue;
    if (smma_is_fixed_point(instruction->a) || instruction->sparse) continue;
    if (is_known(instruction, i)) continue;
    if (found) found[count] = instruction;
    count++;
  }
  return count;
}

const char *smma_rule_in_words(const smma_instruction *instruction, char text[SMMA_RULE_WORDS]) {
  char parameters[SMMA_RULE_WORDS_SIZE];
  const char *model = smma_model_name(&instruction->rule->rule);
  smma_instruction_parameters(instruction, parameters, sizeof parameters);
  smma_print(text, SMMA_RULE_WORDS, "%s %s", model, strchr(parameters, ',') ? instruction->rule->name : parameters);
  return text;
}
