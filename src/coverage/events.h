/* Events of a rule's arithmetic: all that rows can make happen in its sums, derived from the rule as a composition, and
   how often rows did. Hardware verification calls such events bins of a coverage model. */
#ifndef SMMA_COVERAGE_EVENTS_H
#define SMMA_COVERAGE_EVENTS_H

#include "rows/rows.h"

typedef enum {
  SMMA_EVENT_OPERAND, /* an operand of a class: zero, subnormal, ... infinity, NaN, of each sign */
  SMMA_EVENT_SPECIAL, /* where NaN and infinities meet, and come from */
  SMMA_EVENT_GAP,     /* a term begins so many binades below the reference exponent */
  SMMA_EVENT_LEAD,    /* which terms bring the reference exponent */
  SMMA_EVENT_LOST,    /* what of a term lies below its cut */
  SMMA_EVENT_SHIFT,   /* how far the sum's leading bit is from the greatest term's: carries, cancellation */
  SMMA_EVENT_ROUND,   /* last bit, guard and sticky of a sum that is rounded */
  SMMA_EVENT_RESULT,  /* what became of it: overflow, subnormal, zero, ... */
  SMMA_EVENT_LINK,    /* what one sum of a chain gives to the next */
  SMMA_EVENT_KINDS
} smma_event_kind;

/* "operand", "special", ... */
extern const char *const smma_event_kind_names[SMMA_EVENT_KINDS];

/* Whose events: an operand's, or those of terms or accumulators of a step. */
typedef enum {
  SMMA_OF_A,
  SMMA_OF_B,
  SMMA_OF_C,
  SMMA_OF_SCALE_A,
  SMMA_OF_SCALE_B,
  SMMA_OF_TERMS,
  SMMA_OF_ACCUMULATORS,
  SMMA_OF_SUMS
} smma_event_owner;

/* Events that differ in their place and value: event first + place * values + value. */
typedef struct {
  smma_event_kind kind;
  smma_event_owner owner;
  int step; /* of the composition, from 0; -1: of operands */
  int places, values;
  size_t first;
} smma_event_block;

enum { SMMA_MOST_EVENT_BLOCKS = 6 + 11 * SMMA_MAXIMUM_STEPS };

/* The sums of a step, and the nodes that each takes, by their places among all that are there before the step. A
   tree's later rounds follow behind these. */
typedef struct {
  int nodes, sums, places;
  int place[2 * SMMA_MAXIMUM_K]; /* of sum s its i-th term: place[s * take + i] */
} smma_event_step;

typedef struct {
  smma_operation operation; /* its rule as a composition */
  smma_format c;            /* as operands have it: the composition's is d's */
  smma_event_step step[SMMA_MAXIMUM_STEPS];
  smma_event_block block[SMMA_MOST_EVENT_BLOCKS];
  int of[SMMA_EVENT_KINDS][SMMA_MAXIMUM_STEPS][3]; /* the block of terms, accumulators and sums; -1: none */
  int blocks;
  size_t events;
} smma_event_space;

/* Which events there are; false if the instruction's rule is no composition: blocks of GTR-FDPA with an odd number of
   products. */
bool smma_event_space_make(const smma_instruction *instruction, smma_event_space *space);

/* The format of an owner's elements, SMMA_OF_A to SMMA_OF_SCALE_B. */
smma_format smma_event_format(const smma_event_space *space, smma_event_owner owner);

/* The block of an event, its place and value. */
typedef struct {
  const smma_event_block *block;
  int place, value;
} smma_event;

smma_event smma_event_at(const smma_event_space *space, size_t index);

/* Whose it is, behind `text`: "step 1, term 3", "a[2]"; with place -1 "step 1, a term", "an element of a"; of special
   values nothing. */
void smma_event_owner_words(const smma_event_space *space, smma_event event, char *text, size_t size);

/* "step 1, term 3: begins 17 binades below the reference exponent"; returns `text`. */
const char *smma_event_words(const smma_event_space *space, size_t index, char *text, size_t size);

/* Why no row makes it happen, where that follows from formats and ranges of exponents; else NULL. */
const char *smma_event_excluded(const smma_event_space *space, size_t index);

/* What has become of an event. */
typedef enum { SMMA_HIT, SMMA_MISSED, SMMA_FOUND, SMMA_IMPOSSIBLE, SMMA_EVENT_STATES } smma_event_state;

/* "hit", "missed", "found by the search", "impossible". */
extern const char *const smma_event_state_names[SMMA_EVENT_STATES];

/* By how often each event happened, and which ones a search made happen; NULL: there was none. */
smma_event_state smma_event_state_in(const smma_event_space *space, const uint64_t *hits, const bool *found,
                                     size_t event);

/* ---- Watching ---- */

/* Whom events are told, as they happen. */
typedef struct {
  void (*happened)(void *context, size_t event);
  void *context;
} smma_event_watcher;

/* Computes d of a row and tells what happens. */
uint64_t smma_watch_row(const smma_event_space *space, const smma_row *row, const smma_event_watcher *watcher);

/* Adds to how often each event happened in the first `count` rows, on all cores; `d`, unless NULL, receives results.
   False without memory. */
bool smma_count_events(const smma_event_space *space, const smma_rows *rows, size_t count, uint64_t *hits, uint64_t *d);

/* ---- Values of events ---- */

/* Classes of operands. */
typedef enum {
#define SMMA_OPERAND_CLASS(symbol, text) SMMA_CLASS_##symbol,
#include "coverage/events.def"
#undef SMMA_OPERAND_CLASS
  SMMA_OPERAND_CLASSES
} smma_operand_class;

extern const char *const smma_operand_class_texts[SMMA_OPERAND_CLASSES];

typedef enum {
#define SMMA_SPECIAL_EVENT(symbol, text) SMMA_SPECIAL_##symbol,
#include "coverage/events.def"
#undef SMMA_SPECIAL_EVENT
  SMMA_SPECIAL_EVENTS
} smma_special_event;

typedef enum {
#define SMMA_RESULT_EVENT(symbol, text) SMMA_RESULT_##symbol,
#include "coverage/events.def"
#undef SMMA_RESULT_EVENT
  SMMA_RESULT_EVENTS
} smma_result_event;

typedef enum {
#define SMMA_LINK_EVENT(symbol, text) SMMA_LINK_##symbol,
#include "coverage/events.def"
#undef SMMA_LINK_EVENT
  SMMA_LINK_EVENTS
} smma_link_event;

/* Of SMMA_EVENT_LEAD the values: at a place that it leads alone; and in a block of sums: */
typedef enum { SMMA_LEAD_TWO, SMMA_LEAD_MORE, SMMA_LEAD_ZERO, SMMA_LEAD_NONE, SMMA_LEADS } smma_lead_event;

/* Of SMMA_EVENT_LOST: what is below the cut, times 2, plus the sign. */
typedef enum { SMMA_LOST_NOTHING, SMMA_LOST_LESS, SMMA_LOST_HALF, SMMA_LOST_MORE, SMMA_LOST_ALL, SMMA_LOSTS } smma_lost;

/* Of SMMA_EVENT_SHIFT: carries of 0 to SMMA_MOST_CARRY bits, then cancellation of 1 to SMMA_MOST_CANCELLED and more,
   then a sum of zero. */
enum { SMMA_MOST_CARRY = 7, SMMA_MOST_CANCELLED = 30, SMMA_SHIFTS = SMMA_MOST_CARRY + SMMA_MOST_CANCELLED + 3 };

/* Of SMMA_EVENT_ROUND: last bit, guard, sticky, negative, subnormal, as bits 0 to 4. */
enum { SMMA_ROUNDS = 32 };

/* Of SMMA_EVENT_GAP: above the reference exponent, then 0 to two more binades below it than bits are kept, then more.
   Sums in integers' fixed units have no gaps and no leading terms. */

#endif
