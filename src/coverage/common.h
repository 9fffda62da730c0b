/* Finds events that a set of rows shares and that other rows rarely have. */
#ifndef SMMA_COVERAGE_COMMON_H
#define SMMA_COVERAGE_COMMON_H

#include "coverage/events.h"

/* One or more events that are reported as one: the values `least` to `greatest` of a block, at one place or at any
   place (-1). For rounding events: the values whose bits under `mask` equal `least`. */
typedef struct {
  int block, place, least, greatest, mask;
  size_t others; /* number of vectors in the comparison set that have at least one of these events */
} smma_common_event;

/* The events of several rows: bit e of a row's words is set if event e happened in that row. */
typedef struct {
  const smma_event_space *space;
  size_t words, rows;
  uint64_t *bits;
} smma_row_events;

/* Allocates an empty table with room for `most_rows` rows. Returns false when memory is short. */
bool smma_row_events_make(const smma_event_space *space, size_t most_rows, smma_row_events *events);
void smma_row_events_free(smma_row_events *events);

/* Adds a row and its events; the table must have room for it. */
void smma_row_events_add(smma_row_events *events, const smma_row *row);

/* Finds at most `most` events, of different kinds or steps, that happen in every row of `rows` and in at most half of
   `others`. Those that happen in the fewest of `others` come first. Omits what may be chance: if the rows were drawn at
   random from `others`, the probability that any reported event is shared by all of them is at most 1 in 100. Returns
   their number. */
int smma_common_events(const smma_row_events *rows, const smma_row_events *others, int most, smma_common_event *common);

/* Writes the event in words, for example "a term: begins 3 or more binades below the reference exponent". Returns
   `text`. */
const char *smma_common_event_words(const smma_event_space *space, const smma_common_event *event, char *text,
                                    size_t size);

#endif
