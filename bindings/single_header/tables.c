/* Prints the catalogue in the form that the single header needs (softmma_core.in.h). scripts/amalgamate compiles this
   program with src/isa/rules.c and the files of the architectures, and runs it. */
#include <stdio.h>
#include <string.h>

#include "isa/instruction.h"

static const struct {
  const char *symbol, *name, *title, *vendor;
  bool listed;
  const smma_instruction_table *table;
} architectures[] = {
#define SMMA_ARCHITECTURE(symbol, ...) {#symbol, __VA_ARGS__, &smma_table_##symbol},
#include "isa/architectures.def"
#undef SMMA_ARCHITECTURE
};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

/* The rules, each with the text of its row in rules.def. Sparse instructions have the same rules. */
static const struct {
  const smma_named_rule *rule, *of_sparse;
  const char *text;
} rules[] = {
#define SMMA_RULE(name, rule, ...) {&smma_rule_##name, &smma_sparse_rule_##name, #rule},
#include "isa/rules.def"
#undef SMMA_RULE
};
enum { RULES = sizeof rules / sizeof *rules, RULE_INTS = sizeof(smma_rule) / sizeof(int) };

static const char *const families[] = {
    [SMMA_FAMILY_MMA] = "MMA",     [SMMA_FAMILY_WGMMA] = "WGMMA",  [SMMA_FAMILY_TCGEN05] = "TCGEN05",
    [SMMA_FAMILY_MFMA] = "MFMA",   [SMMA_FAMILY_WMMA] = "WMMA",    [SMMA_FAMILY_VECTOR] = "VECTOR",
    [SMMA_FAMILY_ARM] = "ARM",     [SMMA_FAMILY_APPLE] = "APPLE",  [SMMA_FAMILY_POWER] = "POWER",
    [SMMA_FAMILY_RISCV] = "RISCV", [SMMA_FAMILY_TENSIX] = "TENSIX"};

/* ---- Rules ---- */

/* Copies a rule's struct as ints. All its members are ints and enumerations, so it has no padding. */
static void ints_of(const smma_rule *rule, int ints[RULE_INTS]) { memcpy(ints, rule, sizeof *rule); }

static int length_of(const int ints[RULE_INTS]) {
  int length = RULE_INTS;
  while (length && ints[length - 1] == 0) length--;
  return length;
}

static void print_rules(void) {
  int ints[RULE_INTS], first = 0;
  printf("static const int smma_rule_ints[] = {\n");
  for (int r = 0; r < RULES; r++) {
    ints_of(&rules[r].rule->rule, ints);
    for (int i = 0; i < length_of(ints); i++) printf("%s%d,", i ? " " : "    ", ints[i]);
    printf(" /* %s */\n", rules[r].rule->name);
  }
  printf("};\n\nstatic const smma_rule_row smma_rules[] = {\n");
  for (int r = 0; r < RULES; r++) {
    ints_of(&rules[r].rule->rule, ints);
    printf("    {\"%s\", %d, %d}, /* %s */\n", rules[r].rule->name, first, length_of(ints), rules[r].text);
    first += length_of(ints);
  }
  printf("};\n\n/* The ints above are members of a struct smma_rule of %d bytes. */\n", (int)sizeof(smma_rule));
  printf("typedef char smma_rule_has_its_size[sizeof(smma_rule) == %d ? 1 : -1];\n\n", (int)sizeof(smma_rule));
}

static int index_of(const smma_named_rule *rule) {
  int r = 0;
  while (rules[r].rule != rule && rules[r].of_sparse != rule) r++;
  return r;
}

/* ---- Instructions ---- */

/* Writes the name with a star instead of N. Returns false if the name does not have the form of those that come with
   many N. */
static bool star(const smma_instruction *i, char name[64]) {
  char shape[32];
  const char *at;
  snprintf(shape, sizeof shape, ".m%dn%dk", i->m, i->n);
  at = strstr(i->name, shape);
  if (!at || i->n % 8 || i->n > 256) return false;
  return snprintf(name, 64, "%.*s.m%dn*k%s", (int)(at - i->name), i->name, i->m, at + strlen(shape)) < 64;
}

/* Reports whether two instructions differ only in N. */
static bool differ_in_n(const smma_instruction *x, const smma_instruction *y) {
  smma_instruction like_x = *y;
  char name_x[64], name_y[64];
  like_x.name = x->name, like_x.n = x->n;
  return star(x, name_x) && star(y, name_y) && strcmp(name_x, name_y) == 0 && x->n < y->n &&
         memcmp(x, &like_x, sizeof *x) == 0;
}

/* Returns a format's symbol, or its number if it has none; `text` is the memory for the latter. */
static const char *format_of(smma_format format, char text[32]) {
  switch ((int)format) {
#define SMMA_FORMAT(symbol, ...) \
  case SMMA_##symbol:            \
    return "SMMA_" #symbol;
#include "core/format.def"
#undef SMMA_FORMAT
    case SMMA_NO_FORMAT: return "SMMA_NO_FORMAT";
    default: snprintf(text, 32, "(smma_format)0x%x", (unsigned)format); return text;
  }
}

/* Prints the instructions of a table, starting at `index`, that differ only in N, as one row. Returns their number. */
static size_t print_row(const smma_instruction_table *table, size_t index) {
  const smma_instruction *first = &table->row[index];
  const size_t left = table->count - index;
  char name[64], text[5][32];
  size_t count = 1;
  unsigned each_n = 0;
  while (count < left && differ_in_n(&first[count - 1], &first[count])) count++;
  if (count == 1 || !star(first, name)) snprintf(name, sizeof name, "%s", first->name);
  for (size_t i = 0; count > 1 && i < count; i++) each_n |= 1u << (first[i].n / 8 - 1);
  printf("    {\"%s\", ", name);
  if (first->other_name)
    printf("\"%s\"", first->other_name);
  else
    printf("NULL");
  printf(", SMMA_FAMILY_%s, %d, %d, %d, %s, %s, %s, %s, %s, %d, %d, %d, %d, 0x%x},\n", families[first->family],
         first->m, first->n, first->k, format_of(first->d, text[0]), format_of(first->a, text[1]),
         format_of(first->b, text[2]), format_of(first->c, text[3]), format_of(first->scale, text[4]),
         first->scale_block, index_of(first->rule), first->sparse, (int)index, each_n);
  return count;
}

int main(void) {
  print_rules();
  for (int a = 0; a < ARCHITECTURES; a++) {
    const smma_instruction_table *table = architectures[a].table;
    int rows = 0;
    printf("static const smma_instruction_row smma_rows_%s[] = {\n", architectures[a].symbol);
    for (size_t i = 0; i < table->count; rows++) i += print_row(table, i);
    printf("};\nstatic const smma_instruction_table smma_table_%s = {smma_rows_%s, %d, %zu};\n\n",
           architectures[a].symbol, architectures[a].symbol, rows, table->count);
  }
  printf("static const smma_architecture smma_architectures[SMMA_ARCH_COUNT] = {\n");
  for (int a = 0; a < ARCHITECTURES; a++)
    printf("    {\"%s\", \"%s\", \"%s\", %s, &smma_table_%s},\n", architectures[a].name, architectures[a].title,
           architectures[a].vendor, architectures[a].listed ? "true" : "false", architectures[a].symbol);
  printf("};\n");
  return 0;
}
