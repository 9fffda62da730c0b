/* Sorts mismatches into classes. A class holds the mismatches that one change of the model explains. Mismatches that no
   change explains are in one class if their simplest vectors differ at the same k and in the same way. Also finds the
   events that the vectors of a class have in common. */
#ifndef SMMA_CLASSES_CLASSES_H
#define SMMA_CLASSES_CLASSES_H

#include "classes/change.h"
#include "coverage/common.h"
#include "unit/unit.h"

/* Called from time to time with the number of vectors that the units have computed so far. `watch` may be NULL. */
typedef struct {
  void (*watch)(size_t asked, void *context);
  void *context;
} smma_class_watcher;

/* The mismatches to sort. Matching vectors serve for comparison: at least some hundred are needed to refute a
   change. */
typedef struct {
  const smma_instruction *instruction;
  smma_unit *unit, *against; /* both NULL if the units cannot compute further vectors */
  const smma_rows *rows;     /* vectors with the unit's d */
  size_t count;              /* number of vectors, all different */
  const uint64_t *expected;  /* for each vector, the other unit's result */
  const uint64_t *index;     /* for each vector, its number or line as the caller counts */
  const double *weight;      /* for each vector, the number of mismatches it represents */
  const smma_rows *matches;  /* vectors with the same d from both units */
  size_t matching;
  double match_weight; /* number of matching vectors that each of these represents */
  size_t most_asked;   /* maximum number of vectors that the units compute; after it no more vectors are minimised */
  smma_class_watcher watcher;
} smma_class_request;

enum {
  SMMA_MOST_CLASSES = 24, /* greatest number of classes */
  SMMA_MOST_PLACES = 64,  /* greatest K for which the k of mismatches are determined */
  SMMA_TOLD_EVENTS = 3,   /* events listed for a class */
  SMMA_TOLD_CHANGES = 3,  /* equivalent changes listed for a class */
  SMMA_OTHER_ROWS = 1024  /* greatest number of matching vectors whose events are compared */
};

typedef struct {
  size_t rows;       /* number of sorted vectors in the class */
  double mismatches; /* estimate of all mismatches in the class */
  bool is_changed;   /* the change alone gives the unit's results for these vectors */
  bool is_model;     /* the rule's model returns the unit's results, so the other unit deviates from the rule */
  smma_change change;
  smma_change other[SMMA_TOLD_CHANGES]; /* changes that no sorted vector distinguishes from `change` */
  size_t others;                        /* number of changes in `other` */
  bool is_partly;           /* no single change explains the whole class, but `change` explains its minimised vectors */
  int simples;              /* number of these minimised vectors */
  size_t refuting;          /* matching vectors that would differ with the change */
  bool is_estimate;         /* only minimised vectors were counted */
  smma_row row;             /* the simplest vector, with the unit's d */
  uint64_t expected, index; /* the other unit's result; index of the original vector */
  bool is_simplified;       /* `row` was minimised; otherwise it is an original vector */
  bool is_alone;            /* no other class's change matters for `row` */
  bool is_placed;           /* its products were moved to other k */
  uint64_t places; /* bit k: the mismatch occurs with a product at k (only k to which products were moved are known) */
  int events;
  smma_common_event event[SMMA_TOLD_EVENTS];
} smma_mismatch_class;

typedef struct {
  smma_mismatch_class list[SMMA_MOST_CLASSES];
  int count;
  size_t kept, matching;
  size_t together;            /* sorted vectors that need several changes at once */
  double together_mismatches; /* estimate of all mismatches that need several changes */
  size_t unsorted;            /* vectors that no change explains and that were not minimised */
  bool is_complete;           /* all changes together give the unit's result for every vector here */
  bool is_ended;              /* `most_asked` was reached before the work was complete */
  size_t asked;               /* vectors that the units were asked for */
  bool has_events;            /* the rule is a composition, so events are known */
  size_t tries;               /* number of changes tried */
  smma_event_space space;
} smma_classes;

/* Sorts mismatches. Returns false with a message if memory runs out, or if a unit fails. */
bool smma_classify(const smma_class_request *request, smma_classes *classes, smma_error *error);

#endif
