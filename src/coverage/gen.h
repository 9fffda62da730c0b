/* Writes vector files of generated rows with a model's results. */
#ifndef SMMA_COVERAGE_GEN_H
#define SMMA_COVERAGE_GEN_H

#include "coverage/cover.h"
#include "host/watch.h"
#include "rows/generate.h"
#include "rows/vectors.h"

typedef struct {
  const smma_instruction *instruction;
  uint64_t rows, seed;
  smma_row_kind kind; /* SMMA_ROWS_KINDS: the first six kinds in turn */
  bool covers;        /* begin with rows that make every reachable event happen, then similar rows up to `rows` */
  bool flags;         /* write a column of exception flags, as `tininess` says */
  smma_tininess tininess;
  smma_vector_format format;
  /* Called at intervals with the number of rows done, or with the number of rows tried while a cover is searched. May
     be NULL. */
  smma_watcher *watch;
  void *context;
} smma_gen_request;

/* The number of rows written. With `covers` also: the number of rows in the cover, the number of events that happen in
   them, the number of events that are not known to be impossible, and the number of rows tried. */
typedef struct {
  uint64_t rows;
  size_t cover, events, possible;
  uint64_t tries;
} smma_gen_result;

/* Number of rows tried when a cover is searched. */
enum { SMMA_GEN_TRIES = 1 << 21 };

/* Writes the requested number of rows to the stream, or the whole cover if that has more, on all cores; they are the
   same on every machine. Ends early when the stream fails, which the caller has to check. Returns false with one error
   line, also after an interruption, and for an instruction without flags if these are requested. */
bool smma_gen(const smma_gen_request *request, FILE *stream, smma_gen_result *result, smma_error *error);

#endif
