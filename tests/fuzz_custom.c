/* Reads any bytes as a custom unit. Expects an error line with a position, or a unit whose text is valid JSON, is
   written and read back unchanged, and computes. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "isa/catalogue.h"
#include "isa/custom.h"
#include "softmma/softmma.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* Checks that jansson also accepts a text that the library accepts. */
static void check_json(const char *text, size_t size) {
  json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  if (!object) abort();
  json_decref(object);
}

static void check_computing(const smma_instruction *i) {
  static const unsigned char zeros[8 * SMMA_MAXIMUM_K];
  uint64_t d = 0;
  const void *scales = i->scale_block ? zeros : NULL;
  if (smma_dot(i, zeros, zeros, zeros, scales, scales, &d) != SMMA_OK) abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  char text[8192], again[8192];
  smma_error error;
  const smma_instruction *i = smma_custom_read("input", (const char *)bytes, size, &error), *back;
  if (!i) {
    if (strncmp(error.text, "input:", strlen("input:")) != 0 || strchr(error.text, '\n')) abort();
    return 0;
  }
  check_json((const char *)bytes, size);
  if (smma_custom_text(i, text, sizeof text) >= sizeof text) abort();
  back = smma_custom_read("input", text, strlen(text), &error);
  if (!back || !smma_same_operation(i, back)) abort();
  smma_custom_text(back, again, sizeof again);
  if (strcmp(text, again) != 0) abort();
  check_computing(i);
  smma_custom_release(i);
  smma_custom_release(back);
  return 0;
}
