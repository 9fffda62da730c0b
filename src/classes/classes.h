/* Mismatches sorted into classes: those that one change of the model has, too, and of the others those of which the
   simplest rows differ at the same places and in the same way; what the rows of a class have in common. */
#ifndef SMMA_CLASSES_CLASSES_H
#define SMMA_CLASSES_CLASSES_H

#include "classes/change.h"
#include "coverage/common.h"
#include "unit/unit.h"

/* What there is to be sorted. Rows that were kept and match are compared with, at least some hundred if they are to
   shut anything out. */
typedef struct {
  const smma_instruction *instruction;
  smma_unit *unit, *against; /* both NULL: rows cannot be asked for, only those here are known */
  const smma_rows *rows;     /* d: the unit's */
  size_t count;              /* of them, none twice */
  const uint64_t *expected;  /* of each row: the other's result */
  const uint64_t *index;     /* which one it is, in the words of whoever asks */
  const double *weight;      /* for so many mismatches it stands */
  const smma_rows *matches;  /* d: of both */
  size_t matching;
  double match_weight; /* for so many rows each of these stands */
  size_t most_asked;   /* once the units were asked for so many rows no row is made simpler any more */
} smma_class_request;

/* Events are looked for in SMMA_OTHER_ROWS matching rows, if there are so many; places in no longer K than
   SMMA_MOST_PLACES. */
enum {
  SMMA_MOST_CLASSES = 24,
  SMMA_MOST_PLACES = 64,
  SMMA_TOLD_EVENTS = 3,
  SMMA_TOLD_CHANGES = 3,
  SMMA_OTHER_ROWS = 1024
};

typedef struct {
  size_t rows;       /* of those kept */
  double mismatches; /* about so many of all */
  bool is_changed;   /* its rows have the unit's results with this change alone */
  bool is_model;     /* the rule's own model has the unit's results: the other unit differs from it */
  smma_change change;
  smma_change other[SMMA_TOLD_CHANGES]; /* that no row here tells from it */
  size_t others;                        /* how many there are */
  bool is_partly;           /* no single change has all its rows, but this one those that were made simple */
  int simples;              /* so many; */
  size_t refuting;          /* so many matching rows would differ with the change */
  bool is_estimate;         /* rows were counted among those that were made simpler alone */
  smma_row row;             /* the simplest; d: the unit's */
  uint64_t expected, index; /* index: of the row that it was made from */
  bool is_simplified;       /* else it is as it was kept */
  bool is_alone;            /* no other class's change matters in it */
  bool is_placed;           /* its products were moved to other k */
  uint64_t places;          /* bit k: it takes a product at one of these k, as far as they were moved there */
  int events;
  smma_common_event event[SMMA_TOLD_EVENTS];
} smma_mismatch_class;

typedef struct {
  smma_mismatch_class list[SMMA_MOST_CLASSES];
  int count;
  size_t kept, matching;
  size_t together;            /* rows kept that take several changes at once */
  double together_mismatches; /* about so many of all */
  size_t unsorted;            /* rows kept that no change explains, and that were not made simpler */
  bool is_complete;           /* with all changes at once the model has the unit's result in every row here */
  bool is_ended;              /* `most_asked` was reached before all that could be asked was */
  size_t asked;               /* rows that the units were asked for */
  bool has_events;            /* the rule is a composition, of which events are known */
  size_t tried;               /* changes */
  smma_event_space space;
} smma_classes;

/* False with one line without memory, or if a unit fails. */
bool smma_classify(const smma_class_request *request, smma_classes *classes, smma_error *error);

#endif
