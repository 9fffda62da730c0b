#include "isa/id.h"

#include <stdio.h>

#include "isa/instruction.h"

const char *smma_instruction_id(const smma_instruction *i, char text[SMMA_ID_SIZE]) {
  if (i->origin) return NULL;
  snprintf(text, SMMA_ID_SIZE, "%s:%s", smma_arch_name(i), i->name);
  return text;
}

const char *smma_rule_id(const smma_instruction *i, char text[SMMA_ID_SIZE]) {
  snprintf(text, SMMA_ID_SIZE, "%s%s", i->rule->name, i->sparse ? "_sparse" : "");
  return text;
}
