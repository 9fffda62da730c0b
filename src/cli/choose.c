#include "cli/choose.h"

#include <string.h>

#include "io/custom_file.h"

const smma_instruction *smma_choose_instruction(const char *gpu, const char *name, const char *in, const char *out) {
  smma_require_option(gpu, "--on", "H100");
  if (name || smma_is_custom_file(gpu)) {
    if (in || out) smma_die("%s: %s says it already; leave it out", in ? "--in" : "--out", name ? "--instr" : "--on");
    return smma_require_instruction(gpu, name, "--instr");
  }
  if (!in) smma_die("--instr NAME or --in FORMAT is missing; for example --in f16");
  smma_formats formats = smma_require_formats(in, "--in", out);
  return smma_require_by_formats(gpu, &formats, "--in");
}

const smma_instruction *smma_choose_one_of_several(const char *gpu, const char *name, const char *in, const char *out) {
  if (smma_is_custom_file(gpu)) return smma_require_instruction(gpu, NULL, "--instr");
  return smma_choose_instruction(gpu, name, name || in ? in : "f16", out);
}

const char *smma_kernel_list(char text[128]) {
  const char *name;
  text[0] = 0;
  for (size_t i = 0; (name = smma_kernel_name(i)); i++) {
    size_t used = strlen(text);
    snprintf(text + used, 128 - used, "%s%s", i ? ", " : "", name);
  }
  return text;
}

void smma_check_kernel(const char *kernel) {
  const char *name;
  char list[128];
  if (!kernel) return;
  for (size_t i = 0; (name = smma_kernel_name(i)); i++)
    if (strcmp(kernel, name) == 0) return;
  smma_die("--kernel: this CPU has no kernel '%s'; it has %s", kernel, smma_kernel_list(list));
}
