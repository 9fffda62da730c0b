/* Searches for a small set of rows that together make every event happen, by mutating rows with rare events. */
#ifndef SMMA_COVERAGE_COVER_H
#define SMMA_COVERAGE_COVER_H

#include "coverage/events.h"

typedef struct {
  smma_rows rows; /* with results; the first `count` rows make every event happen that any tried row did */
  size_t count;
  uint64_t tries;          /* number of rows tried */
  bool *reached;           /* for each event: whether it happened */
  size_t events, excluded; /* number of events that happened, and number of events that are impossible */
} smma_cover;

/* Receives the number of rows tried and of events seen so far; returns true to end the search early. */
typedef bool smma_cover_watcher(uint64_t tries, size_t events, void *context);

/* Tries at most `tries` rows, on all cores. The result is the same on every machine and for any number of threads. Of
   all rows in which an event happened for the first time, a greedy choice is returned: each time the row that adds the
   most new events. Returns false when memory is short; then there is nothing to free. */
bool smma_cover_find(const smma_event_space *space, const smma_instruction *instruction, uint64_t seed, uint64_t tries,
                     smma_cover_watcher *watcher, void *context, smma_cover *cover);
void smma_cover_free(smma_cover *cover);

/* Fills `row` with number `index` of an endless sequence of rows that resemble the cover: a row of the cover with a few
   changes. Does not set d. */
void smma_cover_row(const smma_cover *cover, uint64_t seed, uint64_t index, smma_row *row);

#endif
