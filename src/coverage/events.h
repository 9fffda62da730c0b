/* Events of a rule's arithmetic: everything that operands can make happen in its sums, derived from the rule as a
   composition, and counts of how often it happened. Hardware verification calls such events the bins of a coverage
   model. */
#ifndef SMMA_COVERAGE_EVENTS_H
#define SMMA_COVERAGE_EVENTS_H

#include "rows/rows.h"

typedef enum {
  SMMA_EVENT_OPERAND, /* class of an operand: zero, subnormal, ... infinity, NaN, of each sign */
  SMMA_EVENT_SPECIAL, /* combinations of NaN and infinities, and the operands they come from */
  SMMA_EVENT_GAP,     /* how many binades below the reference exponent a term begins */
  SMMA_EVENT_LEAD,    /* which terms determine the reference exponent */
  SMMA_EVENT_LOST,    /* how much of a term lies below its last retained bit */
  SMMA_EVENT_SHIFT,   /* distance of the sum's leading bit from that of the greatest term: carry or cancellation */
  SMMA_EVENT_ROUND,   /* last bit, guard bit and sticky bit of a sum that is rounded */
  SMMA_EVENT_RESULT,  /* class of the rounded result: overflow, subnormal, zero, ... */
  SMMA_EVENT_LINK,    /* class of the accumulator that is passed from a sum of a chain to the next sum */
  SMMA_EVENT_KINDS
} smma_event_kind;

/* "operands", "special values", ... */
extern const char *const smma_event_kind_names[SMMA_EVENT_KINDS];

/* The owner of an event: an operand, or the terms, accumulators or sums of a step. */
typedef enum {
  SMMA_OWNER_A,
  SMMA_OWNER_B,
  SMMA_OWNER_C,
  SMMA_OWNER_SCALE_A,
  SMMA_OWNER_SCALE_B,
  SMMA_OWNER_TERMS,
  SMMA_OWNER_ACCUMULATORS,
  SMMA_OWNER_SUMS
} smma_event_owner;

/* A block of events of one kind. An event has a place (0 to places - 1) and a value (0 to values - 1); its number is
   first + place * values + value. */
typedef struct {
  smma_event_kind kind;
  smma_event_owner owner;
  int step; /* step of the composition, from 0; -1 for operands */
  int places, values;
  size_t first;
} smma_event_block;

enum { SMMA_MOST_EVENT_BLOCKS = 6 + 11 * SMMA_MAXIMUM_STEPS };

/* The sums of a step, and the nodes that each sum takes. `nodes`: number of nodes before the step; `sums`: number of
   sums. A node is named by its place among the nodes before the step; the nodes of a tree's later rounds follow after
   these. `places`: number of all these nodes. */
typedef struct {
  int nodes, sums, places;
  int place[2 * SMMA_MAXIMUM_K]; /* term i of sum s is place[s * take + i] */
} smma_event_step;

typedef struct {
  smma_operation operation; /* the instruction's operation; its rule is rewritten as a composition */
  smma_format c;            /* format of the operand c; the composition's c has the format of d */
  smma_event_step step[SMMA_MAXIMUM_STEPS];
  smma_event_block block[SMMA_MOST_EVENT_BLOCKS];
  int of[SMMA_EVENT_KINDS][SMMA_MAXIMUM_STEPS][3]; /* block index for terms, accumulators, sums; -1: no block */
  int blocks;
  size_t events;
} smma_event_space;

static inline const smma_composition *smma_event_composition(const smma_event_space *space) {
  return &space->operation.rule.with.composition;
}

/* Determines which events exist for an instruction. Returns false if its rule is not a composition: blocks of GTR-FDPA
   with an odd number of products. */
bool smma_event_space_make(const smma_instruction *instruction, smma_event_space *space);

/* Returns the format of an owner's elements; `owner` is SMMA_OWNER_A to SMMA_OWNER_SCALE_B. */
smma_format smma_event_format(const smma_event_space *space, smma_event_owner owner);

/* The block, place and value of an event. */
typedef struct {
  const smma_event_block *block;
  int place, value;
} smma_event;

smma_event smma_event_at(const smma_event_space *space, size_t index);

/* Appends to `text` what the event belongs to: "step 1, term 3", "a[2]"; with place -1 "step 1, a term", "an element of
   a". Appends nothing for events of special values. */
void smma_event_owner_words(const smma_event_space *space, smma_event event, char *text, size_t size);

/* Writes the event in words: "step 1, term 3: begins 17 binades below the reference exponent". Returns `text`. */
const char *smma_event_words(const smma_event_space *space, size_t index, char *text, size_t size);

/* Returns why the event is impossible, if that follows from formats and ranges of exponents; otherwise NULL. */
const char *smma_event_excluded(const smma_event_space *space, size_t index);

/* The state of an event: it happened in the counted rows, did not, happened only in a search, or is impossible. */
typedef enum { SMMA_HIT, SMMA_MISSED, SMMA_FOUND, SMMA_IMPOSSIBLE, SMMA_EVENT_STATES } smma_event_state;

/* "hit", "missed", "found by the search", "impossible". */
extern const char *const smma_event_state_names[SMMA_EVENT_STATES];

/* Returns the state of an event from the number of times each event happened (`hits`) and from the events that a search
   made happen (`found`, or NULL if there was no search). */
smma_event_state smma_event_state_in(const smma_event_space *space, const uint64_t *hits, const bool *found,
                                     size_t event);

/* ---- Watching ---- */

/* A receiver of events: `happened` is called, with `context`, each time an event happens. */
typedef struct {
  void (*happened)(void *context, size_t event);
  void *context;
} smma_event_watcher;

/* Computes d of a row and reports its events to the watcher. */
uint64_t smma_watch_row(const smma_event_space *space, const smma_row *row, const smma_event_watcher *watcher);

/* Adds to `hits` how often each event happened in the first `count` rows, on all cores. `d`, unless NULL, receives the
   results. Returns false when memory is short. */
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

/* Values of SMMA_EVENT_LEAD in a block of sums. (In a block of terms or accumulators the only value is: this place
   alone has the reference exponent.) */
typedef enum { SMMA_LEAD_TWO, SMMA_LEAD_MORE, SMMA_LEAD_ZERO, SMMA_LEAD_NONE, SMMA_LEADS } smma_lead_event;

/* How much of a term lies below its last retained bit. The value of a SMMA_EVENT_LOST event is twice this, plus 1 for a
   negative term. */
typedef enum { SMMA_LOST_NOTHING, SMMA_LOST_LESS, SMMA_LOST_HALF, SMMA_LOST_MORE, SMMA_LOST_ALL, SMMA_LOSTS } smma_lost;

/* Values of SMMA_EVENT_SHIFT: carries of 0 to SMMA_MOST_CARRY bits (the last means that or more), then cancellation of
   1 to SMMA_MOST_CANCELLED bits, then more, then a sum of zero. */
enum { SMMA_MOST_CARRY = 7, SMMA_MOST_CANCELLED = 30, SMMA_SHIFTS = SMMA_MOST_CARRY + SMMA_MOST_CANCELLED + 3 };

/* Values of SMMA_EVENT_ROUND: last bit, guard, sticky, negative, subnormal, as bits 0 to 4. */
enum { SMMA_ROUNDS = 32 };

/* Values of SMMA_EVENT_GAP: above the reference exponent; then 0 to F + 2 binades below it, where F is the number of
   retained fraction bits; then more. Sums in the fixed units of integers have no gaps and no leading terms. */

#endif
