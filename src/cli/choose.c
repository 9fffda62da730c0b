#include "cli/choose.h"

#include <string.h>

#include "cli/target.h"
#include "device/device.h"

static const smma_instruction *choose(const smma_target *target, const char *name, const char *in, const char *out) {
  if (name || target->custom) {
    if (in || out) smma_die("%s: %s says it already; leave it out", in ? "--in" : "--out", name ? "--instr" : "--on");
    return smma_require_of_target(target, name, "--instr");
  }
  if (!in) smma_die("--instr NAME or --in FORMAT is missing; for example --in f16");
  smma_formats formats = smma_require_formats(in, "--in", out);
  return smma_require_by_formats(target->text, &formats, "--in");
}

const smma_instruction *smma_choose_instruction(const char *gpu, const char *name, const char *in, const char *out) {
  const smma_target target = smma_require_target(gpu);
  return choose(&target, name, in, out);
}

const smma_instruction *smma_choose_one_of_several(const char *gpu, const char *name, const char *in, const char *out) {
  const smma_target target = smma_require_target(gpu);
  return target.custom ? target.custom : choose(&target, name, name || in ? in : "f16", out);
}

const smma_instruction *smma_choose_target(const char *text, const char *name, const char *in, const char *out) {
  char gpu[512];
  const char *more;
  smma_formats formats;
  if (!*text || strlen(text) >= sizeof gpu) smma_die("'%.40s' is not the name of a GPU", text);
  snprintf(gpu, sizeof gpu, "%s", text);
  const smma_target target = smma_require_target_and_more(gpu, &more);
  if (target.custom) return target.custom;
  if (!more) return smma_choose_one_of_several(gpu, name, in, out);
  const smma_format d = out ? smma_require_format(out, "--out") : SMMA_NO_FORMAT;
  if (smma_formats_from_text(more, d, &formats, NULL) == SMMA_OK) return smma_require_by_formats(gpu, &formats, NULL);
  return smma_require_of_target(&target, more, NULL);
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
  char list[128], message[SMMA_DEVICE_MESSAGE];
  if (!kernel) return;
  for (size_t i = 0; (name = smma_kernel_name(i)); i++)
    if (strcmp(kernel, name) == 0) return;
  if (smma_is_device_name(kernel) && !smma_device_open(kernel, message)) smma_die("--kernel: %s", message);
  if (smma_is_device_name(kernel)) return;
  smma_die("--kernel: this CPU has no kernel '%s'; it has %s; 'softmma version' lists devices, too", kernel,
           smma_kernel_list(list));
}
