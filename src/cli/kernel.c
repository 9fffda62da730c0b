#include "cli/kernel.h"

#include <string.h>

#include "cli/cli.h"
#include "device/device.h"
#include "isa/key.h"

const char *smma_kernel_list(char text[128]) {
  text[0] = 0;
  for (size_t i = 0; smma_kernel_name(i); i++) smma_append_text(text, 128, "%s%s", i ? ", " : "", smma_kernel_name(i));
  return text;
}

bool smma_check_kernel(const char *kernel, smma_error *error) {
  const char *name;
  char list[128], message[SMMA_DEVICE_MESSAGE];
  if (!kernel) return true;
  for (size_t i = 0; (name = smma_kernel_name(i)); i++)
    if (strcmp(kernel, name) == 0) return true;
  if (smma_is_device_name(kernel))
    return smma_device_open(kernel, message) || smma_fail(error, "--kernel: %s", message);
  return smma_fail(error, "--kernel: this CPU has no kernel '%s'; it has %s; 'softmma version' lists devices, too",
                   kernel, smma_kernel_list(list));
}
