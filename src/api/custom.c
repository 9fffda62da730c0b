/* The public functions about custom units. */
#include "isa/custom.h"

#include <stdio.h>

#include "api/text.h"
#include "softmma/softmma.h"

const smma_instruction *smma_custom_parse(const char *origin, const char *text, size_t size, char *message,
                                          size_t message_size) {
  message_size = smma_start_text(message, message_size);
  if (!text) {
    snprintf(message, message_size, "the text of the custom unit is missing");
    return NULL;
  }
  return smma_custom_read(origin ? origin : "custom", text, size, message, message_size);
}

void smma_custom_free(const smma_instruction *instruction) { smma_custom_release(instruction); }

size_t smma_custom_text(const smma_instruction *instruction, char *text, size_t size) {
  size = smma_start_text(text, size);
  return instruction ? smma_custom_write(instruction, text, size) : 0;
}
