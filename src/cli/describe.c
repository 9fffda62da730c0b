#include "cli/describe.h"

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

void smma_print_instruction(const smma_instruction *i) {
  char scale[32], parameters[SMMA_MAXIMUM_STEPS * SMMA_PARAMETER_SIZE];
  bool any_alias = false;
  smma_parameters(i, parameters, sizeof parameters);
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
  printf("%-14s%s\n", "rule", i->rule->name);
  print_texts("evidence", i->rule->evidence);
  print_texts("open", i->rule->questions);
  smma_each_alias(i, print_alias, &any_alias);
}
