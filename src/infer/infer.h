/* A model of a unit that can only be asked, found without looking at any: whether it is a function, the shape of its
   sum, its parameters, and rows that shut out their neighbouring values.

   The loop is counterexample-guided synthesis with distinguishing inputs (Jha, Gulwani, Seshia, Tiwari, Oracle-guided
   component-based program synthesis, 2010) over compositions (core/composition.h). */
#ifndef SMMA_INFER_INFER_H
#define SMMA_INFER_INFER_H

#include "infer/asker.h"
#include "isa/custom.h"
#include "unit/alike.h"

typedef enum {
  SMMA_INFERRED,        /* the model has every bit of every row that was asked */
  SMMA_NOT_INFERRED,    /* no model that was tried has; the best of them, and the reason */
  SMMA_IS_NO_FUNCTION,  /* the same row had two results */
  SMMA_INFER_STOPPED,   /* smma_units_stopped; the best model so far, if the search had begun */
  SMMA_INFERRED_BUT_NAN /* as SMMA_INFERRED, except encodings of NaN, where no known policy has the unit's */
} smma_infer_outcome;

/* Why a search ended without a model that has every row. */
typedef enum {
  SMMA_INFER_SEARCHED_ALL, /* each structure that vectors leave was searched */
  SMMA_INFER_ODD_PRODUCT,  /* one product is unlike the others, which no composition can have */
  SMMA_INFER_BUDGET_SPENT,
  SMMA_INFER_ROWS_ASKED,  /* as many as the request allows */
  SMMA_INFER_ROUNDS_ENDED /* new rows refuted model after model */
} smma_infer_reason;

/* Vectors that models may compute in a search if nothing else is asked for: several times as many as most units need.
 */
enum { SMMA_INFER_BUDGET = 100000000 };

typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction; /* formats, K and name of the rows; its rule is not looked at */
  const char *record;                  /* the file of answers, or NULL */
  uint64_t seed;
  uint64_t fresh;      /* rows of another seed that the model must have in the end */
  uint64_t neighbours; /* rows to be searched for one that shows a neighbouring value */
  uint64_t budget;     /* vectors that models may compute until structure and parameters are found */
  uint64_t most_rows;  /* once so many were asked nothing new begins; 0: no limit */
  void (*tell)(const char *line, void *context); /* what is known so far; or NULL */
  void *context;
} smma_infer_request;

/* One parameter, and a value next to the model's. */
typedef struct {
  int step; /* -1: of the whole composition */
  const smma_key *key;
  int value, other;
  enum {
    SMMA_SHUT_OUT, /* by row `row` of the proof, for which the unit gives the model's d */
    SMMA_FREE,     /* no row of those searched tells them apart */
    SMMA_UNDECIDED /* rows tell them apart, but the recording has none: row `row` of the proof would, d is the model's
                    */
  } is;
  size_t row;
  uint64_t other_d; /* what the other value gives there */
} smma_infer_neighbour;

/* Another model that agrees with all rows of a recording, and row `row` of the proof, which would tell it from the
   model: d is the model's there, other_d its own. */
typedef struct {
  smma_composition model;
  size_t row;
  uint64_t other_d;
} smma_infer_rival;

/* What a row can hold for which a unit and a model have different results. */
typedef enum {
  SMMA_HOLDS_NAN_OPERAND,
  SMMA_HOLDS_INFINITE_OPERAND,
  SMMA_HOLDS_SUBNORMAL_FACTOR,
  SMMA_HOLDS_SUBNORMAL_C,
  SMMA_HOLDS_NAN_RESULT,       /* one of both results */
  SMMA_HOLDS_INFINITE_RESULT,  /* at least one of both */
  SMMA_HOLDS_SUBNORMAL_RESULT, /* at least one of both */
  SMMA_HOLDS_SIGN_OF_ZERO,     /* both results are zeros */
  SMMA_HOLDS_NEXT_RESULT,      /* encodings that differ by 1 */
  SMMA_HOLDINGS
} smma_infer_holding;

/* Rows that the model does not have; nothing was counted (asked 0) if it has all that it was fitted to. */
typedef struct {
  uint64_t asked, wrong; /* fresh rows of all kinds */
  uint64_t of_kind[SMMA_ROWS_IN_TURN], wrong_of[SMMA_ROWS_IN_TURN];
  uint64_t wrong_with[SMMA_HOLDINGS];
  int odd; /* the product that is unlike the others: its place alone refutes every shape; -1: none */
  int examples;
  smma_row example[16];  /* as simple as they go, the simplest first; d is the unit's */
  uint64_t expected[16]; /* the model's */
} smma_infer_misfit;

/* Two rows with the same products in different places. The unit's results differ, which shuts out structures in which
   they cannot. */
typedef struct {
  smma_row row[2];
  int structures;
} smma_infer_evidence;

typedef struct {
  smma_infer_outcome outcome;
  smma_infer_reason reason;      /* of SMMA_NOT_INFERRED */
  smma_custom model;             /* a composition; its instruction has the formats, and "inferred" for a name */
  size_t samples, wrong;         /* rows that the model was fitted to, and those of them that it has not */
  uint64_t rows, calls;          /* asked, without the fresh ones */
  uint64_t fresh;                /* rows of another seed, all of which the model has */
  int rounds;                    /* in which counterexamples were found */
  uint64_t tried, computed;      /* models, and the vectors that they computed */
  int structures, left;          /* those listed for this K, and those of them that no row shuts out */
  smma_infer_evidence *evidence; /* the rows that do, those that shut out most first */
  size_t evidences;
  bool nan_known;                  /* whether every NaN is the model's, sign and payload, too */
  uint64_t compared, nan_compared; /* vectors asked of both, and those of them whose results are both NaN */
  uint64_t nan_different; /* of these, with another encoding than the nearest policy's, which a model has that the rows'
                             own rule does not leave open */
  uint64_t same_different; /* of these, with another encoding than that of `same` */
  bool recording;
  const smma_instruction *same; /* an instruction of the catalogue which no row searched tells from it; or NULL */
  smma_infer_neighbour *neighbour;
  size_t neighbours;
  smma_infer_rival *rival; /* of a recording: of other shapes, or a rule of the catalogue */
  size_t rivals;
  bool more_rivals; /* there may be others: these are as many as are kept, or the budget was spent */
  smma_rows proof;  /* rows with the unit's d */
  size_t proof_count;
  smma_infer_misfit misfit;
  smma_alikeness alike; /* and the row of which the unit gave two results */
  smma_row unlike;
  double seconds, unit_seconds; /* all of them, and those that the unit took: told, and never decided by */
} smma_inference;

/* Returns whether the model has every row's result, encodings of NaN aside. */
static inline bool smma_has_inferred(const smma_inference *found) {
  return found->outcome == SMMA_INFERRED || found->outcome == SMMA_INFERRED_BUT_NAN;
}

/* Returns whether there is a model, be it right or not. */
static inline bool smma_inference_has_model(const smma_inference *found) {
  return found->outcome != SMMA_IS_NO_FUNCTION && found->model.named.rule.with.composition.steps > 0;
}

/* False with one line if the unit fails; free what it found in both cases. */
bool smma_infer(const smma_infer_request *request, smma_inference *found, smma_error *error);
void smma_free_inference(smma_inference *found);

#endif
