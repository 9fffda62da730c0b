/* Infers a model of a black-box unit from its results alone: whether the unit is a function, the shape of its sum, its
   parameters, and vectors that rule out neighbouring parameter values.

   The loop is counterexample-guided synthesis with distinguishing inputs (Jha, Gulwani, Seshia, Tiwari,
   Oracle-guided component-based program synthesis, 2010) over compositions (core/composition.h). */
#ifndef SMMA_INFER_INFER_H
#define SMMA_INFER_INFER_H

#include "infer/asker.h"
#include "isa/custom.h"
#include "unit/alike.h"

typedef enum {
  SMMA_INFERRED,        /* the model reproduces every queried vector bit for bit */
  SMMA_NOT_INFERRED,    /* no model tried reproduces every vector; holds the best model and the reason */
  SMMA_IS_NO_FUNCTION,  /* the same vector had two different results */
  SMMA_INFER_STOPPED,   /* the user stopped the search (smma_units_stopped); holds the best model so far, if the search
                           had begun */
  SMMA_INFERRED_BUT_NAN /* like SMMA_INFERRED, except that no known policy gives the unit's NaN encodings */
} smma_infer_outcome;

/* Why a search ended without a model that reproduces every vector. */
typedef enum {
  SMMA_INFER_SEARCHED_ALL, /* every structure that no vector refutes was searched */
  SMMA_INFER_ODD_PRODUCT,  /* the unit treats one product differently from all other products, which no composition can
                              do */
  SMMA_INFER_BUDGET_SPENT,
  SMMA_INFER_ROWS_ASKED,  /* the request's limit of vectors is reached */
  SMMA_INFER_ROUNDS_ENDED /* new vectors refuted every model */
} smma_infer_reason;

/* Default limit of the vectors that models may compute in a search: several times what most units need. */
enum { SMMA_INFER_BUDGET = 100000000 };

typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction; /* formats, K and name of the vectors; its rule is not used */
  const char *record;                  /* path of the file with answers, or NULL */
  uint64_t seed;
  uint64_t fresh;      /* new vectors, from another seed, that the model must reproduce at the end */
  uint64_t neighbours; /* number of vectors to search for one that distinguishes the model's value from a neighbouring
                          value */
  uint64_t budget;     /* maximum number of vectors that models compute until structure and parameters are found */
  uint64_t most_rows;  /* number of vectors computed by the unit after which no new stage begins; 0: no limit */
  void (*tell)(const char *line, void *context); /* receives a line of progress; may be NULL */
  void *context;
} smma_infer_request;

/* One parameter of the model with one neighbouring value. */
typedef struct {
  int step; /* -1: a key of the whole composition */
  const smma_key *key;
  int value, other;
  enum {
    SMMA_EXCLUDED, /* ruled out by vector `row` of the proof: the unit gives the model's d */
    SMMA_FREE,     /* none of the searched vectors distinguishes the two values */
    SMMA_UNDECIDED /* the recording does not decide, but vector `row` of the proof would; its d is the model's result */
  } is;
  size_t row;
  uint64_t other_d; /* the result of that vector with the other value */
} smma_infer_neighbour;

/* Another model that agrees with all vectors of a recording. Vector `row` of the proof distinguishes the two models:
   its d is the model's result, and other_d is the rival's. */
typedef struct {
  smma_composition model;
  size_t row;
  uint64_t other_d;
} smma_infer_rival;

/* Properties of a vector with a mismatch between unit and model. */
typedef enum {
  SMMA_HOLDS_NAN_OPERAND,
  SMMA_HOLDS_INFINITE_OPERAND,
  SMMA_HOLDS_SUBNORMAL_FACTOR,
  SMMA_HOLDS_SUBNORMAL_C,
  SMMA_HOLDS_NAN_RESULT,       /* exactly one of the two results */
  SMMA_HOLDS_INFINITE_RESULT,  /* at least one of the two results */
  SMMA_HOLDS_SUBNORMAL_RESULT, /* at least one of the two results */
  SMMA_HOLDS_SIGN_OF_ZERO,     /* both results are zeros */
  SMMA_HOLDS_NEXT_RESULT,      /* encodings that differ by 1 */
  SMMA_HOLDINGS
} smma_infer_holding;

/* Mismatches between unit and model. `asked` is 0 if the model agrees with all samples. */
typedef struct {
  uint64_t asked, wrong; /* asked: new vectors of all kinds; wrong: how many of them the model gets wrong */
  uint64_t of_kind[SMMA_ROWS_IN_TURN], wrong_of[SMMA_ROWS_IN_TURN];
  uint64_t wrong_with[SMMA_HOLDINGS];
  int odd; /* k of the product that the unit treats differently from all other products, which refutes every shape; -1:
              none */
  int examples;
  smma_row example[16];  /* minimised, the simplest first; d is the unit's result */
  uint64_t expected[16]; /* the model's results */
} smma_infer_misfit;

/* Two vectors with the same products at different k. The unit's results differ. This rules out every structure that
   returns the same result for both. */
typedef struct {
  smma_row row[2];
  int structures;
} smma_infer_evidence;

typedef struct {
  smma_infer_outcome outcome;
  smma_infer_reason reason; /* for SMMA_NOT_INFERRED */
  smma_custom model;        /* its rule is a composition; its instruction has the formats, and "inferred" for a name */
  size_t samples, wrong;    /* vectors to which the model was fitted; how many of these disagree with it */
  uint64_t rows, calls;     /* vectors that the unit computed, and its calls, without the final check */
  uint64_t fresh;           /* vectors of another seed, all reproduced by the model */
  int rounds;               /* rounds that found counterexamples */
  uint64_t tries, computed; /* models tried; vectors they computed */
  int structures, left; /* structures: number of structures for this K; left: how many of them no vector rules out */
  smma_infer_evidence *evidence; /* vectors that rule out structures, the most effective first */
  size_t evidences;
  bool nan_known;                  /* whether sign and payload of every NaN result are the model's */
  uint64_t compared, nan_compared; /* vectors computed by both; those with NaN from both */
  uint64_t nan_different;  /* of nan_compared, the vectors whose encoding differs from that of the nearest NaN policy.
                              The model has this policy, unless the rule of the request's instruction leaves NaN open */
  uint64_t same_different; /* of nan_compared, the vectors whose encoding differs from that of `same` */
  bool recording;
  const smma_instruction *same; /* equivalent instruction of the catalogue, as far as searched; or NULL */
  smma_infer_neighbour *neighbour;
  size_t neighbours;
  smma_infer_rival *rival; /* rivals of a recording's model: other shapes, or rules of the catalogue */
  size_t rivals;
  bool more_rivals; /* the list may be incomplete: it is full, or the budget was spent */
  smma_rows proof;  /* vectors with the unit's d */
  size_t proof_count;
  smma_infer_misfit misfit;
  smma_alikeness alike; /* whether the unit is a function; `unlike` is the vector that had two results */
  smma_row unlike;
  double seconds, unit_seconds; /* total time and the unit's share; for reports only, no decision depends on it */
} smma_inference;

/* Reports whether the model reproduces every vector's result, apart from NaN encodings. */
static inline bool smma_has_inferred(const smma_inference *found) {
  return found->outcome == SMMA_INFERRED || found->outcome == SMMA_INFERRED_BUT_NAN;
}

/* Reports whether there is a model, right or wrong. */
static inline bool smma_inference_has_model(const smma_inference *found) {
  return found->outcome != SMMA_IS_NO_FUNCTION && found->model.named.rule.with.composition.steps > 0;
}

/* Runs a search. Returns false with a message if the unit fails; release `found` in both cases. */
bool smma_infer(const smma_infer_request *request, smma_inference *found, smma_error *error);
void smma_free_inference(smma_inference *found);

#endif
