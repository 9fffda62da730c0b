/* Number formats by name: the names of format.def, and the names that other tools use for the same formats. */
#ifndef SMMA_ISA_FORMAT_NAME_H
#define SMMA_ISA_FORMAT_NAME_H

#include <stddef.h>

#include "core/format.h"

/* A format by its name, for tables of instructions and rules. */
#define SMMA_FORMAT_NAMED(name) ((smma_format)SMMA_FORMAT_##name)
enum {
#define SMMA_FORMAT(symbol, name, ...) SMMA_FORMAT_##name = SMMA_##symbol,
#include "core/format.def"
#undef SMMA_FORMAT
  SMMA_FORMAT_none = SMMA_NO_FORMAT
};

/* Returns the format of a row of format.def. */
smma_format smma_format_at(int row);

/* Returns the name in format.def, or the spelled-out form ("e3m4", "e4m3-bias11-fnuz", "s5"); "none" if it is not a
   format. The text is valid until the program ends. */
const char *smma_format_text(smma_format format);

/* Reports whether the number denotes a format. A number that spells out the parameters of a format with another number
   does not: one format has one number. */
bool smma_is_format(smma_format format);

/* Reports whether operands can have the format: every format except e8m13, which is only for rounding results. */
bool smma_is_operand_format(smma_format format);

/* Returns the format spelled out by a lower-case text of the form [u]eXmY[-biasN][-ieee|-nan|-fnuz|-finite], sN or uN;
   if format.def has a format with these parameters, that format. Otherwise returns SMMA_NO_FORMAT. If the text has this
   form but is not a valid format, `why` receives one line, otherwise an empty text. */
smma_format smma_spelled_from_text(const char *text, size_t length, char *why, size_t size);

/* Returns the format of a name, in upper or lower case, or spelled out; SMMA_NO_FORMAT if it is unknown. Names that
   different vendors use for different formats (fp8, bf8) are unknown; so is e8m13, which operands cannot have. */
smma_format smma_format_from_text(const char *text);

#endif
