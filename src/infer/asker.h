/* A unit as a search asks it: rows counted, kept and, from a record of an earlier search, not asked twice. */
#ifndef SMMA_INFER_ASKER_H
#define SMMA_INFER_ASKER_H

#include <stdio.h>

#include "unit/unit.h"

typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction;
  uint64_t rows, calls; /* asked so far, with those that the record answered */
  uint64_t seed;        /* of the search, for the record's header */
  FILE *record;         /* to which answers are added as a vector file; NULL: none */
  uint32_t checksum;    /* CRC-32C of all bytes of the record */
  smma_rows known;      /* the record's when the search began, which are those that it asks first */
  size_t known_count;
  smma_error *error;
} smma_asking;

/* d of the first `count` rows, into the rows. A search asks the same rows in the same order each time, so that what a
   record has of them is not asked again. False with one line if the unit fails, or the record is another search's. */
bool smma_asking_run(smma_asking *asking, smma_rows *rows, size_t count);

/* Takes the answers in a file, if it is there, and from now on appends new ones. The file is locked until it is closed.
   Its header names unit, seed, instruction and formats; a checksum line stands behind each batch. False with one line,
   and the file unchanged, if another search writes the file, its header is not this search's, or anything except an
   incomplete last line is damaged. */
bool smma_asking_open_record(smma_asking *asking, const char *path);
void smma_asking_close_record(smma_asking *asking);

#endif
