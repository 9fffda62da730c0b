/* A unit's results for a campaign's rows: recorded, batch by batch. */
#ifndef SMMA_CAMPAIGN_RECORD_H
#define SMMA_CAMPAIGN_RECORD_H

#include "campaign/rows.h"
#include "rows/vectors.h"
#include "unit/unit.h"

typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction;
  uint64_t rows;
  smma_campaign_recipe recipe;
  void (*progress)(uint64_t done, uint64_t all, void *context); /* or NULL */
  void *context;
} smma_record_request;

/* Takes the first `count` rows of `rows`, the next ones of the recording. False with one line ends it. */
typedef bool smma_record_taker(const smma_rows *rows, size_t count, void *taker, smma_error *error);

/* Reports whether the unit can be asked for these rows; false with one line. */
bool smma_record_check(const smma_record_request *request, smma_error *error);

/* Asks the unit for all rows. False with one line if it fails. */
bool smma_record(const smma_record_request *request, smma_record_taker *take, void *taker, smma_error *error);

/* The header of a recording, made now. */
void smma_record_header(const smma_record_request *request, smma_vector_header *header);

/* Writes the recording as a vector file; who looks for the stream's errors is the caller. */
bool smma_record_write(const smma_record_request *request, FILE *stream, smma_vector_format format, smma_error *error);

/* Appends the first `count` rows to a list, each a record of its operands and "d". */
void smma_append_rows(smma_datum *list, const smma_rows *rows, size_t count);

/* Returns {"arch", "instr", "recorded_on", "rows"}. The list of rows moves into it. */
smma_datum *smma_record_datum(const smma_vector_header *header, smma_datum *rows);

#endif
