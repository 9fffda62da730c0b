/* A vector file of generated rows with a model's results. */
#ifndef SMMA_COVERAGE_GEN_H
#define SMMA_COVERAGE_GEN_H

#include "coverage/cover.h"
#include "rows/generate.h"
#include "rows/vectors.h"

typedef struct {
  const smma_instruction *instruction;
  uint64_t rows, seed;
  smma_row_kind kind; /* SMMA_ROWS_KINDS: the first six in turn */
  bool covers;        /* rows that make all events happen, and more like them up to `rows` */
  smma_vector_format format;
  /* Called now and then with rows done of all, or rows tried by the search for those that cover; true ends the work.
     NULL: not called. */
  bool (*watch)(uint64_t done, uint64_t all, void *context);
  void *context;
} smma_gen_request;

/* What was written, and of rows that cover: how many of the events that are not impossible they make happen, and how
   many rows were tried for them. */
typedef struct {
  uint64_t rows;
  size_t cover, events, possible;
  uint64_t tries;
} smma_gen_result;

/* Rows among which those that cover are searched. */
enum { SMMA_GEN_TRIES = 1 << 21 };

/* Writes rows 0 to rows - 1, the same on every machine, to the stream, on all cores. Ends early where the stream fails,
   which the caller looks for. False with one line, also after an interruption. */
bool smma_gen(const smma_gen_request *request, FILE *stream, smma_gen_result *result, smma_error *error);

#endif
