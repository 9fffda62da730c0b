/* Rows that make every event happen: a search that changes rows which made rare ones happen. */
#ifndef SMMA_COVERAGE_COVER_H
#define SMMA_COVERAGE_COVER_H

#include "coverage/events.h"

typedef struct {
  smma_rows rows; /* of which the first `count` make all events happen that any tried row did; with results */
  size_t count;
  uint64_t tries;          /* rows that were tried */
  bool *reached;           /* of every event, whether it happened */
  size_t events, excluded; /* that happened, and that no row makes happen */
} smma_cover;

/* Whoever may end the search early; told how many rows were tried and how many events happened. */
typedef bool smma_cover_watcher(uint64_t tries, size_t events, void *context);

/* Tries at most so many rows, on all cores; the same rows on every machine and with any number of threads. Few rows
   are kept: of all that made an event happen first, again and again the one with most events that none before it has.
   False without memory, with nothing to free. */
bool smma_cover_find(const smma_event_space *space, const smma_instruction *instruction, uint64_t seed, uint64_t tries,
                     smma_cover_watcher *watcher, void *context, smma_cover *cover);
void smma_cover_free(smma_cover *cover);

/* Row `index` of many that are like those of a cover: one of them with a few changes. d is left alone. */
void smma_cover_row(const smma_cover *cover, uint64_t seed, uint64_t index, smma_row *row);

#endif
