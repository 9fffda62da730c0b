/* Records a unit's results for a campaign's vectors, or for those of a file, batch by batch. */
#ifndef SMMA_CAMPAIGN_RECORD_H
#define SMMA_CAMPAIGN_RECORD_H

#include "campaign/rows.h"
#include "host/watch.h"
#include "rows/vectors.h"
#include "unit/unit.h"

typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction;
  uint64_t rows;
  smma_campaign_recipe recipe;
  smma_watcher *watch; /* called after each batch with the number of rows done; may be NULL */
  void *context;
  smma_vector_reader *reader; /* a file whose vectors the unit computes; NULL: those of the campaign */
  smma_vector_header header;  /* of the file */
  const char *path;           /* of the file, for messages */
} smma_record_request;

/* Makes a file the source of the vectors. If the request has no instruction, sets it to the instruction that the
   file names; otherwise the file must have vectors of the instruction's formats and K. Returns false with a message if
   it fails. The caller still owns the stream, and closes the reader in both cases. */
bool smma_record_from(smma_record_request *request, FILE *stream, const char *path, smma_error *error);

/* Receives the next vectors of the recording: the first `count` vectors of `rows`. If it returns false with a message,
   the recording ends. */
typedef bool smma_record_taker(const smma_rows *rows, size_t count, void *taker, smma_error *error);

/* Reports whether the unit can compute these vectors; if not, returns false with a message. */
bool smma_record_check(const smma_record_request *request, smma_error *error);

/* Computes all test vectors with the unit. Returns false with a message if it fails. */
bool smma_record(const smma_record_request *request, smma_record_taker *take, void *taker, smma_error *error);

/* Fills in the header of a recording, with today's date. */
void smma_record_header(const smma_record_request *request, smma_vector_header *header);

/* Writes the recording as a vector file. The caller must check the stream for errors. */
bool smma_record_write(const smma_record_request *request, FILE *stream, smma_vector_format format, smma_error *error);

/* Appends the first `count` vectors to a list, each as a record of its operands and "d". */
void smma_append_rows(smma_datum *list, const smma_rows *rows, size_t count);

/* Returns a record with the keys "arch", "instr", "recorded_on" and "rows". Takes over the list of rows. */
smma_datum *smma_record_datum(const smma_vector_header *header, smma_datum *rows);

#endif
