/* Encodings and rows in the form of data (smma_datum). */
#ifndef SMMA_ROWS_DATUM_H
#define SMMA_ROWS_DATUM_H

#include "core/row.h"
#include "datum/datum.h"
#include "isa/instruction.h"

/* Writes an encoding with all its hexadecimal digits; returns `text`. */
const char *smma_hex_text(smma_format format, uint64_t encoding, char text[24]);

/* Writes the exact value if nine digits suffice, otherwise the shortest decimal that rounds back to the encoding;
   returns `text`. */
const char *smma_value_text(smma_format format, uint64_t encoding, char text[40]);

/* Returns a list of encodings as hexadecimal texts. */
smma_datum *smma_encodings_datum(smma_format format, const uint64_t *encoding, int count);

/* Reads a list of encodings. Returns false if it does not have exactly `count` encodings of the format. */
bool smma_encodings_read(const smma_datum *list, smma_format format, int count, uint64_t *encoding);

/* Returns an instruction in the form of a custom unit's file. */
smma_datum *smma_description_datum(const smma_instruction *instruction);

/* Puts "a", "b", "c", "scale_a" and "scale_b" into a record, each a list of encodings. */
void smma_put_operands(smma_datum *record, const smma_instruction *instruction, const smma_row *row);

/* Reads the members that smma_put_operands puts into a record. Returns false if one of them does not fit the
   instruction. */
bool smma_get_operands(const smma_datum *record, const smma_instruction *instruction, smma_row *row);

/* Returns a test vector with its result as a record: {"arch", "instruction", "a", "b", "c", "d", "value"}, and
   "scale_a" and "scale_b" if the instruction has scale factors. "c" and "d" are strings. */
smma_datum *smma_row_datum(const smma_instruction *instruction, const smma_row *row);

#endif
