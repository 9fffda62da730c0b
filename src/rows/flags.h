/* Exception flags of one row, and their names. */
#ifndef SMMA_ROWS_FLAGS_H
#define SMMA_ROWS_FLAGS_H

#include "datum/datum.h"
#include "host/error.h"
#include "rows/row.h"
#include "softmma/flags.h"

enum { SMMA_FLAGS_TEXT = 64 };

/* Writes the flags as TestFloat does, with their names: "05 overflow, inexact", "00 none". Returns `text`. */
const char *smma_flags_text(int flags, char text[SMMA_FLAGS_TEXT]);

/* Reads "before" or "after"; NULL is SMMA_TININESS_OF_UNIT. Returns false with one error line. */
bool smma_tininess_from_text(const char *text, smma_tininess *tininess, smma_error *error);

/* Computes the flags of a row into row->flags. Returns false with one error line if the instruction has no flags, or
   when memory is short. */
bool smma_row_compute_flags(const smma_instruction *instruction, smma_row *row, smma_tininess tininess,
                            smma_error *error);

/* Puts "flags", a text of two digits, and "exceptions", a list of names, into a record. */
void smma_put_flags(smma_datum *record, int flags);

#endif
