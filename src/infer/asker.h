/* Calls a unit on behalf of a search: counts the test vectors, records the answers, and uses the answers recorded by an
   earlier search instead of calling the unit twice. */
#ifndef SMMA_INFER_ASKER_H
#define SMMA_INFER_ASKER_H

#include <stdio.h>

#include "unit/unit.h"

typedef struct {
  smma_unit *unit;
  smma_unit counted; /* the same unit; every run of it adds to `computed` and `calls` */
  const smma_instruction *instruction;
  uint64_t rows;     /* test vectors of smma_asking_run so far, answered by the unit or from the record */
  uint64_t computed; /* test vectors that `counted` has computed */
  uint64_t calls;    /* calls of `counted` */
  double seconds;    /* time that these calls took */
  uint64_t taken;    /* test vectors that the unit need not compute, because the record has their results */
  uint64_t seed;     /* the search's seed, for the record's header */
  FILE *record;      /* answers are appended to this file; NULL: no record */
  uint32_t checksum; /* CRC-32C of all bytes of the record */
  smma_rows known; /* the vectors, with results, that the record held when the search began; a repeated search asks for
                      them first */
  size_t known_count;
  smma_error *error;
} smma_asking;

/* Opens an asking without a record. The asking must stay where it is, because `counted` points to it. */
void smma_asking_open(smma_unit *unit, const smma_instruction *instruction, uint64_t seed, smma_error *error,
                      smma_asking *asking);

/* Sets d of the first `count` test vectors. A search that is repeated uses the same test vectors in the same order, so
   answers from the record replace calls of the unit. Returns false with a message if the unit fails, or if the record
   belongs to another search. */
bool smma_asking_run(smma_asking *asking, smma_rows *rows, size_t count);

/* Reads the answers in the file, if it exists, and lets smma_asking_run append later answers to it. The file stays
   locked until smma_asking_close_record. Its header names unit, seed, instruction and formats; a checksum line follows
   each batch of answers. Returns false with a message, and leaves the file unchanged, if another search is writing the
   file, if its header is not this search's, if anything but an incomplete last line is damaged, or if the unit no
   longer gives the recorded answers. */
bool smma_asking_open_record(smma_asking *asking, const char *path);
void smma_asking_close_record(smma_asking *asking);

#endif
