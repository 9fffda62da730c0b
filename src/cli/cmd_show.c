#include <string.h>

#include "cli/describe.h"

static bool print_alias(const char *alias, void *context) {
  printf("%-14s%s\n", *(bool *)context ? "" : "also", alias);
  *(bool *)context = true;
  return false;
}

static void print_texts(const char *label, const char *const *text) {
  for (bool first = true; *text; text++, first = false) printf("%-14s%s\n", first ? label : "", *text);
}

static void print_instruction(const smma_instruction *i) {
  const smma_architecture *arch = &smma_architectures[i->arch];
  char scale[32], parameters[96];
  bool any_alias = false;
  smma_parameters(i, parameters, sizeof parameters);
  printf("%-14s%s\n", "instruction", i->name);
  printf("%-14s%s (%s %s)\n", "architecture", arch->name, arch->vendor, arch->title);
  printf("%-14s%d x %d x %d (M x N x K)\n", "shape", i->m, i->n, i->k);
  printf("%-14sa %s, b %s, c %s, d %s%s%s\n", "formats", smma_format_text(i->a), smma_format_text(i->b),
         smma_format_text(i->c), smma_format_text(i->d), i->scale_block ? ", scales " : "", smma_scale_text(i, scale));
  printf("%-14s%s: %s\n", "model", smma_model_name(&i->rule->rule), parameters);
  printf("%-14s%s\n", "rule", i->rule->name);
  print_texts("evidence", i->rule->evidence);
  print_texts("open", i->rule->questions);
  smma_each_alias(i, print_alias, &any_alias);
}

int smma_command_show(int argc, const char **argv) {
  const char *gpu = NULL, **names;
  const smma_instruction *found[SMMA_ARCH_COUNT];
  char message[1024];
  size_t count = 1;
  int json = 0;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture; without it, every one that has NAME", "GPU"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON: an object with --on, an array without", NULL},
      POPT_TABLEEND};
  names = smma_parse_options(argc, argv, options, 1, 1,
                             "NAME: a canonical name as 'softmma list' prints it, or a PTX, SASS or AMD spelling.\n"
                             "Example: softmma show HMMA.16816.F32 --on A100\n");
  if (gpu)
    found[0] = smma_require_instruction(gpu, names[0], NULL);
  else
    count = smma_resolve_everywhere(names[0], found, message, sizeof message);
  if (count == 0) return smma_complain("%s (see 'softmma list')", message);
  if (json && gpu) {
    smma_print_json(smma_instruction_json(found[0]));
  } else if (json) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(array, smma_instruction_json(found[i]));
    smma_print_json(array);
  } else {
    for (size_t i = 0; i < count; i++) {
      if (i) putchar('\n');
      print_instruction(found[i]);
    }
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
