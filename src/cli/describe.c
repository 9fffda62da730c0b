#include "cli/describe.h"

#include <string.h>

#include "isa/id.h"
#include "isa/sum.h"

static bool print_alias(const char *alias, void *context) {
  printf("%-14s%s\n", *(bool *)context ? "" : "also", alias);
  *(bool *)context = true;
  return false;
}

static void print_texts(const char *label, const char *const *text) {
  for (bool first = true; *text; text++, first = false) printf("%-14s%s\n", first ? label : "", *text);
}

static void print_architecture(const smma_architecture *arch) {
  printf("%-14s%s (%s %s)\n", "architecture", arch->name, arch->vendor, arch->title);
}

void smma_shown_parameters(const smma_instruction *i, char *text, size_t size) {
  char *steps;
  smma_instruction_parameters(i, text, size);
  steps = strstr(text, "step1=");
  if (!steps) return;
  if (steps > text) steps--; /* the blank before it */
  snprintf(steps, size - (size_t)(steps - text), "%s%d step%s", steps > text ? ", " : "",
           i->rule->rule.with.composition.steps, i->rule->rule.with.composition.steps == 1 ? "" : "s");
}

void smma_print_instruction(const smma_instruction *i) {
  char id[SMMA_ID_SIZE], scale[32], words[SMMA_SUM_WORDS_SIZE], parameters[SMMA_MAXIMUM_STEPS * SMMA_PARAMETER_SIZE];
  bool any_alias = false;
  const smma_operation o = smma_operation_of(i);
  smma_shown_parameters(i, parameters, sizeof parameters);
  printf("%-14s%s\n", "instruction", i->name);
  if (i->origin)
    printf("%-14s%s (custom)\n", "file", i->origin);
  else
    print_architecture(&smma_architectures[i->arch]);
  printf("%-14s%d x %d x %d (M x N x K)\n", "shape", i->m, i->n, i->k);
  printf("%-14sa %s, b %s, c %s, d %s%s%s\n", "formats", smma_format_text(i->a), smma_format_text(i->b),
         smma_format_text(i->c), smma_format_text(i->d), i->scale_block ? ", scales " : "", smma_scale_text(i, scale));
  if (i->sparse) printf("%-14s%d of %d elements of A; k counts these\n", "sparse", i->sparse / 2, i->sparse);
  printf("%-14s%s%s%s\n", "model", smma_model_name(&i->rule->rule), *parameters ? ": " : "", parameters);
  printf("%-14s%s\n", "sum", smma_sum_words(&o, words));
  printf("%-14s%s\n", "rule", smma_rule_id(i, id));
  printf("%-14s%s\n", "basis", smma_basis_name(smma_instruction_basis(i)));
  if (smma_instruction_id(i, id)) printf("%-14s%s\n", "id", id);
  print_texts("evidence", i->rule->evidence);
  print_texts("open", i->rule->questions);
  smma_each_alias(i, print_alias, &any_alias);
}

static bool is_mixed(const smma_datum *inputs, size_t i) {
  return strchr(smma_datum_text_of(smma_datum_at(inputs, i)), ',');
}

/* Prints the formats of A and B. Pairs of different formats are "mixed" if there are several formats to be mixed. */
static void print_inputs(const smma_datum *inputs) {
  size_t alike = 0, printed = 0;
  for (size_t i = 0; i < smma_datum_size(inputs); i++) alike += !is_mixed(inputs, i);
  for (size_t i = 0; i < smma_datum_size(inputs); i++)
    if (alike < 2 || !is_mixed(inputs, i))
      printf("%s%s", printed++ ? alike < 2 ? "; " : ", " : "", smma_datum_text_of(smma_datum_at(inputs, i)));
  if (printed < smma_datum_size(inputs)) printf(", and mixed");
}

/* Prints "f16, bf16 -> f32" and, below, how these instructions sum. */
static void print_sum(const smma_datum *sum) {
  const long long others = smma_datum_integer_of(smma_datum_get(sum, "instructions")) - 1;
  print_inputs(smma_datum_get(sum, "inputs"));
  printf(" -> %s\n  %s\n  %s", smma_text_at(sum, "d"), smma_text_at(sum, "sum"), smma_text_at(sum, "instruction"));
  if (others) printf(" and %lld other%s", others, others == 1 ? "" : "s");
  putchar('\n');
}

static void print_list_of(const char *title, const smma_datum *texts) {
  if (smma_datum_size(texts)) printf("\n%s\n", title);
  for (size_t i = 0; i < smma_datum_size(texts); i++) printf("  %s\n", smma_datum_text_of(smma_datum_at(texts, i)));
}

void smma_print_gpu(const smma_datum *gpu, const char *name) {
  const smma_datum *sums = smma_datum_get(gpu, "sums");
  const size_t instructions = (size_t)smma_datum_integer_of(smma_datum_get(gpu, "instructions"));
  const smma_architecture *arch = &smma_architectures[smma_resolve_arch(name, NULL)];
  printf("%s: %s %s, %zu instructions ('softmma list %s')\n\n", name, arch->vendor, arch->title, instructions,
         instructions == arch->table->count ? arch->name : name);
  for (size_t i = 0; i < smma_datum_size(sums); i++) print_sum(smma_datum_at(sums, i));
  print_list_of("Evidence", smma_datum_get(gpu, "evidence"));
  print_list_of("Open questions", smma_datum_get(gpu, "questions"));
}
