/* Public functions for custom units. */
#include "isa/custom.h"

#include "api/text.h"
#include "host/error.h"
#include "softmma/softmma.h"

_Static_assert(offsetof(smma_custom, instruction) == 0, "an instruction that was made is its custom unit");

smma_custom *smma_custom_parse(const char *origin, const char *text, size_t size, smma_error *error) {
  smma_clear_error(error);
  if (text) return (smma_custom *)smma_custom_read(origin ? origin : "custom", text, size, error);
  smma_set_error(error, SMMA_INVALID_ARGUMENT, "the text of the custom unit is missing");
  return NULL;
}

const smma_instruction *smma_custom_instruction(const smma_custom *custom) {
  return custom ? &custom->instruction : NULL;
}

void smma_custom_free(smma_custom *custom) { smma_custom_release(smma_custom_instruction(custom)); }

size_t smma_custom_text(const smma_instruction *instruction, char *text, size_t size) {
  size = smma_start_text(text, size);
  return instruction ? smma_custom_write(instruction, text, size) : 0;
}
