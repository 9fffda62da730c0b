/* Number formats by name: the names of format.def, and what other tools call the same formats. */
#ifndef SMMA_ISA_FORMAT_NAME_H
#define SMMA_ISA_FORMAT_NAME_H

#include "core/format.h"

/* The formats by name, for tables of instructions and rules. */
#define SMMA_FORMAT_NAMED(name) ((smma_format)SMMA_FORMAT_##name)
enum {
#define SMMA_FORMAT(symbol, name, ...) SMMA_FORMAT_##name = SMMA_##symbol,
#include "core/format.def"
#undef SMMA_FORMAT
  SMMA_FORMAT_none = SMMA_NO_FORMAT
};

/* The name in format.def; "none" for SMMA_NO_FORMAT. */
const char *smma_format_text(smma_format format);

/* All but e8m13, which only results are rounded to. */
bool smma_is_operand_format(smma_format format);

/* The format of a name, in either case of letters; SMMA_NO_FORMAT when it is unknown. Names that mean different
   formats to different makers (fp8, bf8) are unknown; so is e8m13, which is no operand format. */
smma_format smma_format_from_text(const char *text);

#endif
