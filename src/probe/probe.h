/* Numerical features of a unit, found from outside. Each probe is a function of its own; it may use what those before
   it in probe.def found, and says "cannot tell" rather than guess. */
#ifndef SMMA_PROBE_PROBE_H
#define SMMA_PROBE_PROBE_H

#include "datum/datum.h"
#include "probe/rounding_mode.h"
#include "probe/subject.h"

typedef enum {
#define SMMA_PROBE(name, ...) SMMA_PROBE_##name,
#include "probe/probe.def"
#undef SMMA_PROBE
  SMMA_PROBE_COUNT
} smma_probe_id;

/* What one probe found. */
typedef struct {
  char value[400]; /* empty: it cannot be told */
  char why[160];   /* then the reason */
  bool has_witness;
  smma_row witness; /* a row that shows it; d is the unit's */
} smma_finding;

/* Where a probe is asked. Products change places in turn: those of each block among each other, and whole blocks where
   all are alike; what is found at other places than at the first is told with them, "25; 23 at k = 5". */
typedef enum {
  SMMA_ONCE,        /* at places of its own */
  SMMA_AT_FIRST,    /* smma_first_product stands at every product */
  SMMA_WITH_C,      /* so it does, in blocks to which c comes as it is */
  SMMA_AT_LAST,     /* the last product of the first sum does */
  SMMA_IN_LAST_SUM, /* the last product of the last sum stands at every product of it */
} smma_focus;

/* The smallest sum that the product which joins first is part of, and what is known of it. */
typedef struct {
  bool known;
  bool product[SMMA_MAXIMUM_ROUNDED_K]; /* these are added at once */
  int products;
  bool has_c;
  bool c_is_apart;                   /* the products are aligned without it */
  bool c_may_be_apart;               /* the results do not tell whether they are */
  bool fused;                        /* more than two terms, in no order: neither is rounded before the others join */
  bool exact;                        /* no term loses bits as far as the formats reach */
  int other;                         /* a product of the last sum, or -1 if that is the first */
  bool last[SMMA_MAXIMUM_ROUNDED_K]; /* all of them */
  int block[SMMA_MAXIMUM_ROUNDED_K]; /* products with the same number join the first ones at once; 0 is the first sum */
  int blocks;
} smma_first_sum;

/* What alignment makes of a term. */
typedef struct {
  bool known, exact;                  /* exact: no bit within reach is lost */
  int bits;                           /* kept, below the greatest exponent */
  int floor;                          /* which that is at least, because of zeros */
  bool complemented;                  /* every term that opposes c loses a unit besides */
  const smma_rounding_mode *rounding; /* NULL if more than one gives the results, or the formats have no quarters */
  smma_row witness, rounding_witness;
  const char *why; /* neither known nor exact */
} smma_alignment;

typedef struct {
  smma_subject subject;
  smma_first_sum first;
  int left; /* X and -X may leave whole 2^-left X, of X at least as great as the small number needs; 0: nothing */
  smma_alignment alignment, alignment_c;
  bool aligned_otherwise[SMMA_MAXIMUM_ROUNDED_K]; /* products of which alignment keeps other bits, where they stand in
                                                     rows */
  size_t long_products; /* products of long significands that were asked for, of numbers that sums have exactly */
  bool inexact;         /* one of them is not the product */
  smma_row inexact_row;
  bool repeats; /* or nothing else can be told */
  bool output_known;
  int output_bits;                           /* fraction bits of d */
  const smma_rounding_mode *output_rounding; /* NULL if it is not known */
  int rounded_bits;                          /* below the last that decide its rounding; -1: all that alignment keeps */
  bool subnormal_c_is_kept, c_alone_is_kept;
  bool c_is_late; /* joins after all products */
  bool moved;     /* this is not the first place at which the probes are asked */
  smma_finding findings[SMMA_PROBE_COUNT];
} smma_examination;

/* One feature: fills finding; false if the unit failed (subject.error). */
typedef bool smma_probe_function(smma_examination *examination, smma_finding *finding);

typedef struct {
  const char *name, *title, *source;
  smma_focus focus;
  smma_probe_function *run;
} smma_probe;

extern const smma_probe smma_probes[SMMA_PROBE_COUNT];

#define SMMA_PROBE(name, ...) smma_probe_function smma_probe_##name;
#include "probe/probe.def"
#undef SMMA_PROBE

/* How many rows are asked again if nobody says. */
enum { SMMA_REPEATED_ROWS = 16384 };

/* All probes in order; `repeated` rows are asked again, about six times. False with one line if the unit fails. */
bool smma_examine(smma_unit *unit, const smma_instruction *instruction, size_t repeated, smma_examination *examination,
                  smma_error *error);

/* Returns what was found as a record: an element of what --json prints. */
smma_datum *smma_examination_datum(const smma_examination *examination);

/* ---- For probes ---- */

bool smma_tell(smma_finding *finding, const smma_row *witness, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool smma_cannot_tell(smma_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A probe that needs room for `count` rows, which are too many for a thread's own memory. */
bool smma_with_rows(smma_examination *examination, smma_finding *finding, size_t count,
                    bool (*probe)(smma_examination *, smma_finding *, smma_row *));

/* x->long_products and x->inexact, of the first product. */
bool smma_ask_long_products(smma_examination *examination);

/* Terms of the first sum in the order 0, 1, ..., c; returns their number. */
int smma_first_terms(const smma_examination *examination, int terms[SMMA_MAXIMUM_ROUNDED_K + 1]);

/* Terms of the sum whose result is d: the last, without what comes from those before it. */
int smma_last_terms(const smma_examination *examination, int terms[SMMA_MAXIMUM_ROUNDED_K + 1]);

/* A product of the first sum, or 0. */
int smma_first_product(const smma_examination *examination);

#endif
