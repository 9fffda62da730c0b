/* Finds number formats by name: by the names of format.def, and by those that other tools use for the same formats. */
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

/* Returns the format's name in format.def, or its spelled-out form ("e3m4", "e4m3-bias11-fnuz", "s5"). Returns "none"
   if the number is not that of a format. The text is valid until the program ends. */
const char *smma_format_text(smma_format format);

/* Reports whether the number denotes a format. Each format has only one number, so a number that spells out the
   parameters of a format with another number does not. */
bool smma_is_format(smma_format format);

/* Reports whether operands can have the format: every format except e8m13, which is only for rounding results. */
bool smma_is_operand_format(smma_format format);

/* Returns the format that a lower-case text of the form [u]eXmY[-biasN][-ieee|-nan|-fnuz|-finite], sN or uN spells out;
   this is the format of format.def with these parameters if there is one. Returns SMMA_NO_FORMAT for other texts.
   Writes one line to `why` if the text has this form but the format is not valid; otherwise writes an empty text. */
smma_format smma_spelled_from_text(const char *text, size_t length, char *why, size_t size);

/* Returns the format with this name, in upper or lower case, or with this spelled-out form. Returns SMMA_NO_FORMAT if
   the name is unknown. Names that different vendors use for different formats (fp8, bf8) count as unknown; so does
   e8m13, which operands cannot have. */
smma_format smma_format_from_text(const char *text);

#endif
