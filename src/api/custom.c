/* The public functions about custom units. */
#include "isa/custom.h"

#include "api/text.h"
#include "host/error.h"
#include "softmma/softmma.h"

const smma_instruction *smma_custom_parse(const char *origin, const char *text, size_t size, smma_error *error) {
  smma_clear_error(error);
  if (text) return smma_custom_read(origin ? origin : "custom", text, size, error);
  smma_set_error(error, SMMA_INVALID_ARGUMENT, "the text of the custom unit is missing");
  return NULL;
}

void smma_custom_free(const smma_instruction *instruction) { smma_custom_release(instruction); }

size_t smma_custom_text(const smma_instruction *instruction, char *text, size_t size) {
  size = smma_start_text(text, size);
  return instruction ? smma_custom_write(instruction, text, size) : 0;
}
