/* The study behind `softmma coverage`: how often each event of an instruction's rule happened. Counts events in rows
   and files, searches for rows in which missing events happen, and stores, merges and reports the counts as data. */
#ifndef SMMA_COVERAGE_COVERAGE_H
#define SMMA_COVERAGE_COVERAGE_H

#include <stdio.h>

#include "coverage/cover.h"
#include "datum/datum.h"
#include "rows/check.h"

/* The coverage of one instruction or custom unit. */
typedef struct {
  const smma_instruction *instruction;
  smma_event_space space;
  uint64_t *hits, rows;
  uint64_t tries; /* rows tried by a search for the missing events; 0 if there was no search */
  bool *found;    /* for each event: whether the search made it happen; NULL if there was no search */
} smma_covered;

/* The coverage of any number of instructions. All zero: nothing is counted yet. */
typedef struct {
  smma_covered *one;
  size_t count;
  smma_check_totals totals; /* rows whose results were compared with the model's, and mismatches */
} smma_coverage;

void smma_coverage_free(smma_coverage *coverage);

/* ---- Counting. Each function returns false with one error line if an instruction has no event space or memory is
   short. ---- */

/* Counts the events of the first `count` rows; `d` receives the model's results. */
bool smma_coverage_count(smma_coverage *coverage, const smma_instruction *instruction, const smma_rows *rows,
                         size_t count, uint64_t *d, smma_error *error);

/* Returns the instruction's coverage, adding an empty one if needed, or NULL with one error line. */
smma_covered *smma_coverage_of(smma_coverage *coverage, const smma_instruction *instruction, smma_error *error);

/* Adds a file: stored counts, or a vector file, whose results are compared with the model's. "-" is the standard input.
   Also returns false if the file is neither, is damaged, or holds counts of another rule. Calls `progress` at intervals
   with the number of rows read. */
bool smma_coverage_add_file(smma_coverage *coverage, const char *path, void (*progress)(uint64_t rows, void *context),
                            void *context, smma_error *error);

/* Searches for rows in which the missing events happen; tries `tries` rows for each instruction. */
bool smma_coverage_search(smma_coverage *coverage, uint64_t seed, uint64_t tries, smma_cover_watcher *watcher,
                          void *context, smma_error *error);

/* ---- Answers ---- */

smma_event_state smma_event_state_of(const smma_covered *covered, size_t event);

/* Sets count[s] to the number of events of a kind (SMMA_EVENT_KINDS: of all kinds) in each state s. */
void smma_count_states(const smma_covered *covered, smma_event_kind kind, size_t count[SMMA_EVENT_STATES]);

/* Returns every event with its count and state, which is what `softmma coverage --json` prints. */
smma_datum *smma_coverage_datum(const smma_coverage *coverage);

/* Returns the counts as a counts file holds them, in one line of compact JSON. */
smma_datum *smma_coverage_counts(const smma_coverage *coverage);

/* smma_is_coverage_counts reports whether a path is a regular file of stored counts. smma_coverage_add_counts adds the
   counts of such a file; if it fails, with an error line, it adds nothing. */
bool smma_is_coverage_counts(const char *path);
bool smma_coverage_add_counts(smma_coverage *coverage, const char *path, smma_error *error);

/* Returns the parts of a page (page/page.h): tables of counts, and a square for each event. */
smma_datum *smma_coverage_page(const smma_coverage *coverage);

#endif
