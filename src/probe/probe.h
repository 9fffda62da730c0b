/* Numerical features of a unit, found from outside. Each probe is a function of its own; it may use what those before
   it in probe.def found, and says "cannot tell" rather than guess. */
#ifndef SMMA_PROBE_PROBE_H
#define SMMA_PROBE_PROBE_H

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

/* The smallest sum that the product which joins first is part of, and what is known of it. */
typedef struct {
  bool known;
  bool product[SMMA_MAXIMUM_K]; /* these are added at once */
  int products;
  bool has_c;
  bool fused;                /* more than two terms, in no order: neither is rounded before the others join */
  bool exact;                /* no term loses bits as far as the formats reach */
  int other;                 /* a product of the last sum, or -1 if that is the first */
  bool last[SMMA_MAXIMUM_K]; /* all of them */
} smma_first_sum;

typedef struct {
  smma_subject subject;
  smma_first_sum first;
  bool alignment_known, alignment_exact;
  int alignment_bits; /* of products, below the greatest exponent */
  bool output_known;
  int output_bits; /* fraction bits of d */
  bool c_is_late;  /* joins after all products */
  smma_finding findings[SMMA_PROBE_COUNT];
} smma_examination;

/* One feature: fills finding; false if the unit failed (subject.error). */
typedef bool smma_probe_function(smma_examination *examination, smma_finding *finding);

typedef struct {
  const char *name, *title, *source;
  smma_probe_function *run;
} smma_probe;

extern const smma_probe smma_probes[SMMA_PROBE_COUNT];

#define SMMA_PROBE(name, ...) smma_probe_function smma_probe_##name;
#include "probe/probe.def"
#undef SMMA_PROBE

/* All probes in order. False with one line if the unit fails. */
bool smma_examine(smma_unit *unit, const smma_instruction *instruction, smma_examination *examination,
                  smma_error *error);

/* ---- For probes ---- */

bool smma_tell(smma_finding *finding, const smma_row *witness, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool smma_cannot_tell(smma_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Terms of the first sum in the order 0, 1, ..., c; returns their number. */
int smma_first_terms(const smma_examination *examination, int terms[SMMA_MAXIMUM_K + 1]);

/* Terms of the sum whose result is d: the last, without what comes from those before it. */
int smma_last_terms(const smma_examination *examination, int terms[SMMA_MAXIMUM_K + 1]);

#endif
