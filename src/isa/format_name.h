/* Number formats by name: the names of format.def, and what other tools call the same formats. */
#ifndef SMMA_ISA_FORMAT_NAME_H
#define SMMA_ISA_FORMAT_NAME_H

#include "core/format.h"

/* The name in format.def; "none" for SMMA_FORMAT_none. */
const char *smma_format_text(smma_format_id format);

/* The format of a name, in either case of letters; SMMA_FORMAT_none when it is unknown. Names that mean different
   formats to different makers (fp8, bf8) are unknown; so is e8m13, which is no operand format. */
smma_format_id smma_format_from_text(const char *text);

#endif
