/* Prints C initialisers of the catalogue's operations: one of each function of an algorithm, which the argument names
   as in core/algorithm.def. The analysis in eva/ reads them. Without an argument, prints the names of the algorithms
   that have operations. */
#include <stdio.h>
#include <string.h>

#include "isa/instruction.h"
#include "softmma/softmma.h"

/* Prints a member of the union. All parameters, also those of steps, are as wide as an int. */
static void print_member(const char *member, const void *parameters, size_t size) {
  printf(".%s = {", member);
  for (size_t at = 0; at < size; at += sizeof(int)) {
    int value;
    memcpy(&value, (const char *)parameters + at, sizeof value);
    printf("%d, ", value);
  }
  printf("}");
}

static void print_parameters(const smma_rule *r) {
  switch (r->algorithm) {
#define SMMA_UNFUSED(symbol, name, member, block, dot) SMMA_FUSED(symbol, name, member, block, , )
#define SMMA_FUSED(symbol, name, member, block, product, sum)      \
  case SMMA_##symbol: {                                            \
    print_member(#member, &r->with.member, sizeof r->with.member); \
    break;                                                         \
  }
#include "core/algorithm.def"
  }
}

static void print_operation(const smma_instruction *instruction) {
  const smma_operation o = smma_operation_of(instruction);
  printf("    {{%d, %d, {", (int)o.rule.algorithm, (int)o.rule.nan);
  print_parameters(&o.rule);
  printf("}}, %d, %d, %d, %d, %d, %d, %d}, /* %s */\n", (int)o.a, (int)o.b, (int)o.c, (int)o.d, (int)o.scale, o.k,
         o.scale_block, instruction->name);
}

static bool is_first(size_t at) {
  for (size_t i = 0; i < at; i++)
    if (smma_same_operation(smma_instruction_at(i), smma_instruction_at(at))) return false;
  return true;
}

static const struct {
  const char *name;
  smma_algorithm algorithm;
} algorithms[] = {
#define SMMA_FUSED(symbol, ...) {#symbol, SMMA_##symbol},
#define SMMA_UNFUSED(symbol, ...) {#symbol, SMMA_##symbol},
#include "core/algorithm.def"
};

static bool has(size_t instruction, smma_algorithm algorithm) {
  return smma_operation_of(smma_instruction_at(instruction)).rule.algorithm == algorithm;
}

static void print_names(void) {
  for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
    for (size_t i = 0; i < smma_instruction_count(); i++)
      if (has(i, algorithms[a].algorithm)) {
        printf("%s\n", algorithms[a].name);
        break;
      }
}

static void print_operations(smma_algorithm algorithm) {
  printf("static const smma_operation operations[] = {\n");
  for (size_t i = 0; i < smma_instruction_count(); i++)
    if (has(i, algorithm) && is_first(i)) print_operation(smma_instruction_at(i));
  printf("};\n");
}

int main(int argc, char **argv) {
  bool found = false;
  if (argc == 1) return print_names(), 0;
  for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms && !found; a++)
    if ((found = strcmp(algorithms[a].name, argv[1]) == 0)) print_operations(algorithms[a].algorithm);
  return found ? 0 : 2;
}
