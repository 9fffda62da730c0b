/* Number formats by name: the names of format.def, and what other tools call the same formats. */
#ifndef SMMA_ISA_FORMAT_NAME_H
#define SMMA_ISA_FORMAT_NAME_H

#include <stddef.h>

#include "core/format.h"

/* The formats by name, for tables of instructions and rules. */
#define SMMA_FORMAT_NAMED(name) ((smma_format)SMMA_FORMAT_##name)
enum {
#define SMMA_FORMAT(symbol, name, ...) SMMA_FORMAT_##name = SMMA_##symbol,
#include "core/format.def"
#undef SMMA_FORMAT
  SMMA_FORMAT_none = SMMA_NO_FORMAT
};

/* The name in format.def, or what spells the format out ("e3m4", "e4m3-bias11-fnuz", "s5"); "none" for what is no
   format. The text stays. */
const char *smma_format_text(smma_format format);

/* Whether the number is a format's: of format.def, or spelled out. */
bool smma_is_format(smma_format format);

/* All but e8m13, which only results are rounded to. */
bool smma_is_operand_format(smma_format format);

/* The format that a text of the form [u]eXmY[-biasN][-ieee|-nan|-fnuz|-finite], sN or uN spells out, in lower case; one
   of format.def if it has those parameters. SMMA_NO_FORMAT if it spells none, and then, if the text has that form, one
   line in `why`, which is else empty. */
smma_format smma_spelled_from_text(const char *text, size_t length, char *why, size_t size);

/* The format of a name, in either case of letters, or spelled out; SMMA_NO_FORMAT when it is unknown. Names that mean
   different formats to different makers (fp8, bf8) are unknown; so is e8m13, which is no operand format. */
smma_format smma_format_from_text(const char *text);

#endif
