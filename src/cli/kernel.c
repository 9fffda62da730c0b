#include "cli/kernel.h"

#include <string.h>

#include "cli/cli.h"
#include "device/device.h"

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
