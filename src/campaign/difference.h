/* Determines whether two units compute the same function. If not: which features differ, the smallest vector that
   shows it, and how often results differ. */
#ifndef SMMA_CAMPAIGN_DIFFERENCE_H
#define SMMA_CAMPAIGN_DIFFERENCE_H

#include "campaign/campaign.h"
#include "probe/probe.h"

/* One side of a comparison: an instruction on a unit. */
typedef struct {
  const char *label; /* used in messages and texts: smma_side_label */
  smma_unit *unit;
  const smma_instruction *instruction;
} smma_side;

/* Size of a side's label with its NUL; longer names are cut. */
enum { SMMA_SIDE_LABEL_SIZE = 772 };

/* Writes the label of a side: its name in the user's words, such as "H100", after the name of a unit that is not the
   model: "cuda as H100". Returns `text`. */
const char *smma_side_label(const smma_unit *unit, const char *on, char text[SMMA_SIDE_LABEL_SIZE]);

typedef struct {
  const smma_instruction *as; /* the instruction whose vectors both units computed. It has the greater K, or, if the
                                 formats of A and B differ, the narrower formats */
  smma_examination *examination[2];
  bool found;
  int terms;                        /* number of nonzero terms in `row` */
  smma_row row;                     /* the smallest vector found; d is the first unit's result */
  uint64_t expected;                /* the second unit's result */
  smma_campaign_result normal, all; /* results for normal vectors, and for vectors of all kinds in turn */
} smma_unit_difference;

/* Compares the units on vectors that show a feature of one of them, then on `rows` normal vectors and on `rows` vectors
   of all kinds. An instruction with a smaller K computes a vector in several calls; each result is the next call's c.
   Returns false with a message if the units cannot be compared, or if one fails. Release `difference` with
   smma_free_unit_difference in any case. */
bool smma_find_unit_difference(const smma_side side[2], uint64_t rows, uint64_t seed, smma_unit_difference *difference,
                               smma_error *error);
void smma_free_unit_difference(smma_unit_difference *difference);

/* Prints the outcome as text. `on` names the sides in the user's words. */
void smma_print_difference(FILE *stream, const smma_side side[2], const char *const on[2],
                           const smma_unit_difference *difference);

/* Returns the outcome as the record that --json prints. `on` names the sides in the user's words. */
smma_datum *smma_unit_difference_datum(const smma_side side[2], const char *const on[2],
                                       const smma_unit_difference *difference);

/* Reports whether a feature is known of both units and has different values. */
bool smma_feature_differs(const smma_unit_difference *difference, smma_probe_id probe);

/* Sets `*rate` to the share of mismatches in `rows` normal vectors. It is -1 if neither these vectors nor `rows`
   vectors of all kinds have a mismatch. */
bool smma_find_difference_rate(const smma_side side[2], uint64_t rows, uint64_t seed, double *rate, smma_error *error);

#endif
