/* The study behind `softmma coverage`: how often rows made each event of instructions' rules happen; counted from rows
   and files, searched for what is missing, kept, merged and reported as data. */
#ifndef SMMA_COVERAGE_COVERAGE_H
#define SMMA_COVERAGE_COVERAGE_H

#include <stdio.h>

#include "coverage/cover.h"
#include "datum/datum.h"
#include "rows/check.h"

/* One instruction, or custom unit. */
typedef struct {
  const smma_instruction *instruction;
  smma_event_space space;
  uint64_t *hits, rows;
  uint64_t tried; /* rows of a search for what is missing; 0: none was made */
  bool *found;    /* events that it made happen; NULL */
} smma_covered;

/* All zero: nothing was counted yet. */
typedef struct {
  smma_covered *one;
  size_t count;
  smma_check_totals totals; /* of rows whose results were compared with the model's */
} smma_coverage;

void smma_coverage_free(smma_coverage *coverage);

/* ---- Counting. Each returns false with one line where an instruction's events are not known, or without memory. ----
 */

/* Counts the events of the first `count` rows; `d` receives the model's results. */
bool smma_coverage_count(smma_coverage *coverage, const smma_instruction *instruction, const smma_rows *rows,
                         size_t count, uint64_t *d, smma_error *error);

/* Returns the instruction's coverage, which is added if it is not there; NULL with one line. */
smma_covered *smma_coverage_of(smma_coverage *coverage, const smma_instruction *instruction, smma_error *error);

/* Adds a file: kept counts, or a vector file, whose results are compared with the model's. "-" is the standard input.
   Also returns false for a file that is neither, was changed, or (its counts) was counted by another rule. `progress`
   is told now and then how many rows there were. */
bool smma_coverage_add_file(smma_coverage *coverage, const char *path, void (*progress)(uint64_t rows, void *context),
                            void *context, smma_error *error);

/* Searches rows that make the missing events happen, among `tries` for each instruction. */
bool smma_coverage_search(smma_coverage *coverage, uint64_t seed, uint64_t tries, smma_cover_watcher *watcher,
                          void *context, smma_error *error);

/* ---- Answers ---- */

smma_event_state smma_event_state_of(const smma_covered *covered, size_t event);

/* Fills in how many events of a kind, or of all with SMMA_EVENT_KINDS, are in each state. */
void smma_count_states(const smma_covered *covered, smma_event_kind kind, size_t count[SMMA_EVENT_STATES]);

/* Returns every event with its count: what --json prints. */
smma_datum *smma_coverage_datum(const smma_coverage *coverage);

/* Writes the counts as a file keeps them. Returns false without memory, or where the stream has failed. */
bool smma_coverage_write_counts(const smma_coverage *coverage, FILE *stream);

/* Returns whether a regular file holds such counts, and adds those of one, or nothing with one line. */
bool smma_is_coverage_counts(const char *path);
bool smma_coverage_add_counts(smma_coverage *coverage, const char *path, smma_error *error);

/* Returns the parts of a page (page/page.h): tables of counts, and each event a square. */
smma_datum *smma_coverage_page(const smma_coverage *coverage);

#endif
