/* What some rows have in common that others hardly have. */
#ifndef SMMA_COVERAGE_COMMON_H
#define SMMA_COVERAGE_COMMON_H

#include "coverage/events.h"

/* Events that are told as one: values `least` to `greatest` of a block at a place, or anywhere (-1); of rounding those
   whose bits of `mask` are `least`. */
typedef struct {
  int block, place, least, greatest, mask;
  size_t others; /* rows of those compared with in which one of them happens */
} smma_common_event;

/* Which events happened in each of some rows: bit e of a row's words. */
typedef struct {
  const smma_event_space *space;
  size_t words, rows;
  uint64_t *bits;
} smma_row_events;

/* None yet; false without memory. */
bool smma_row_events_make(const smma_event_space *space, size_t most_rows, smma_row_events *events);
void smma_row_events_free(smma_row_events *events);

/* One more row, of which there is room. */
void smma_row_events_add(smma_row_events *events, const smma_row *row);

/* At most `most` events of different kinds or steps that happen in all of some rows and in at most half of the others,
   those first that happen in fewest of these. What so many rows may have in common by chance is left out: were the rows
   drawn from the others, one of the events told would be so in at most one of a hundred cases. */
int smma_common_events(const smma_row_events *rows, const smma_row_events *others, int most, smma_common_event *common);

/* "a term: begins 3 or more binades below the reference exponent"; returns `text`. */
const char *smma_common_event_words(const smma_event_space *space, const smma_common_event *event, char *text,
                                    size_t size);

#endif
