/* Measures numerical features of a unit from its results alone. Each probe is a function that measures one feature. It
   may use the findings of probes that come earlier in probe.def. If results do not determine the feature, the finding
   is "cannot tell". */
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

/* The finding of one probe. */
typedef struct {
  char value[400]; /* the feature in words; empty: cannot tell */
  char why[160];   /* the reason, if `value` is empty */
  bool has_witness;
  smma_row witness; /* a vector that shows the value, with the unit's d */
} smma_finding;

/* The products at which a probe runs. The probe is repeated with products moved within their blocks and, if all blocks
   are alike, with whole blocks moved. If findings differ, they are listed with their k, for example "25; 23 at k =
   5". */
typedef enum {
  SMMA_OWN_PLACES_ONLY, /* only at the products that the probe itself chooses */
  SMMA_AT_FIRST,        /* smma_first_product moves to every product */
  SMMA_WITH_C,          /* smma_first_product moves to every product, but only in blocks that receive c unchanged */
  SMMA_AT_LAST,         /* the last product of the first sum moves to every product */
  SMMA_IN_LAST_SUM,     /* the last product of the last sum moves to every product of that sum */
} smma_focus;

/* The smallest sum that contains the product added first, and its properties. */
typedef struct {
  bool known;                           /* whether the members below are known */
  bool product[SMMA_MAXIMUM_ROUNDED_K]; /* the products in the sum */
  int products;                         /* their number */
  bool has_c;                           /* whether c is in the sum */
  bool c_is_apart;                      /* the products are aligned without c */
  bool c_may_be_apart;                  /* results do not show whether the products are aligned without c */
  bool fused; /* more than two terms without an order: no partial sum is rounded before all terms are added */
  bool exact; /* no term loses bits within the range of the formats */
  int other;  /* a product of the last sum, or -1 if the first sum is the last */
  bool last[SMMA_MAXIMUM_ROUNDED_K]; /* all products of the last sum */
  int block[SMMA_MAXIMUM_ROUNDED_K]; /* number of each product's block; products of block 0 are in the first sum, and
                                        products of another block are added to it together */
  int blocks;                        /* number of blocks */
} smma_first_sum;

/* The effect of alignment on a term. */
typedef struct {
  bool known;                         /* whether `bits`, `floor` and `complemented` explain all results */
  bool exact;                         /* no bit is lost within the range of the formats */
  int bits;                           /* number of bits retained below the greatest exponent */
  int floor;                          /* least value of the greatest exponent, because of zeros */
  bool complemented;                  /* every term whose sign differs from c's also loses 1 in its last bit */
  const smma_rounding_mode *rounding; /* NULL if several roundings fit, or if the formats have no quarters */
  smma_row witness, rounding_witness;
  const char *why; /* the reason, if neither known nor exact */
} smma_alignment;

typedef struct {
  smma_subject subject;
  smma_first_sum first;
  int left; /* if not 0, X and -X leave a remainder: a multiple of X * 2^-left */
  smma_alignment alignment, alignment_c;
  bool aligned_otherwise[SMMA_MAXIMUM_ROUNDED_K]; /* for each k in vectors: whether alignment retains more or fewer bits
                                                     of the product there than of the examined product */
  size_t long_products; /* number of tested products with long significands whose values sums can represent exactly */
  bool inexact;         /* the unit computed one of the long_products inexactly */
  smma_row inexact_row;
  bool repeats;                              /* results repeat; otherwise no other probe runs */
  bool output_known;                         /* whether `output_bits` is known */
  int output_bits;                           /* number of fraction bits that d retains */
  const smma_rounding_mode *output_rounding; /* NULL: not known */
  int rounded_bits; /* number of bits below the last bit of d that decide its rounding; -1: all bits that alignment
                       retains */
  bool subnormal_c_is_kept; /* a subnormal c is not flushed to zero if products are added to it */
  bool c_alone_is_kept;     /* a subnormal c is not flushed to zero if all products are zero */
  bool c_is_late;           /* c is added after all products */
  bool moved;               /* products were moved from their natural places */
  smma_finding findings[SMMA_PROBE_COUNT];
} smma_examination;

/* Measures one feature and fills the finding. Returns false if the unit failed; examination->subject.error has the
   reason. */
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

/* Default number of vectors that the unit computes again to check that results repeat. */
enum { SMMA_REPEATED_ROWS = 16384 };

/* Runs all probes in the order of probe.def. The unit computes `repeated` vectors about six times, to check that
   results repeat. Returns false with a message if the unit fails. */
bool smma_examine(smma_unit *unit, const smma_instruction *instruction, size_t repeated, smma_examination *examination,
                  smma_error *error);

/* Returns the findings as the record that --json prints for a unit. */
smma_datum *smma_examination_datum(const smma_examination *examination);

/* ---- For probes ---- */

/* smma_tell sets the finding's value and witness, smma_cannot_tell the reason why it is unknown. Both return true, for
   a probe to return. */
bool smma_tell(smma_finding *finding, const smma_row *witness, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool smma_cannot_tell(smma_finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports whether two findings have the same value, or are both unknown for the same reason. */
bool smma_same_finding(const smma_finding *x, const smma_finding *y);

/* Runs a probe with room for `count` vectors, which would not fit on a thread's stack. */
bool smma_with_rows(smma_examination *examination, smma_finding *finding, size_t count,
                    bool (*probe)(smma_examination *, smma_finding *, smma_row *));

/* Sets long_products, inexact and inexact_row of the examination, for the first product. */
bool smma_ask_long_products(smma_examination *examination);

/* Lists the terms of the first sum in the order 0, 1, ..., c; returns their number. */
int smma_first_terms(const smma_examination *examination, int terms[SMMA_MAXIMUM_ROUNDED_K + 1]);

/* Lists the terms of the last sum, whose result is d, without the previous sum; returns their number. */
int smma_last_terms(const smma_examination *examination, int terms[SMMA_MAXIMUM_ROUNDED_K + 1]);

/* Returns the first product of the first sum, or 0 if the first sum is not known. */
int smma_first_product(const smma_examination *examination);

#endif
