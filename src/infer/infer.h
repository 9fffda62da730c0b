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
  SMMA_INFERRED,       /* the model reproduces every sample and every vector of the final check bit for bit */
  SMMA_NOT_INFERRED,   /* no model tried does so, or the limit of vectors was reached before the final check; the result
                          has the best model and the reason */
  SMMA_IS_NO_FUNCTION, /* the same vector had two different results */
  SMMA_INFER_STOPPED,  /* the user stopped the search (smma_units_stopped); the result has the best model so far, if
                          there is one */
  SMMA_INFERRED_BUT_NAN /* like SMMA_INFERRED, except that no known policy gives the unit's NaN encodings */
} smma_infer_outcome;

/* Why a search ended without a model that reproduces every vector. */
typedef enum {
  SMMA_INFER_SEARCHED_ALL, /* parameters were tried for every likely structure */
  SMMA_INFER_ODD_PRODUCT,  /* the unit treats one product differently from all other products, which no composition can
                              do */
  SMMA_INFER_BUDGET_SPENT,
  SMMA_INFER_ROWS_ASKED,  /* the request's limit of vectors is reached */
  SMMA_INFER_ROUNDS_ENDED /* new vectors refuted every model */
} smma_infer_reason;

/* Default of smma_infer_request.budget: several times what most units need. */
enum { SMMA_INFER_BUDGET = 100000000 };

typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction; /* formats, K and name of the vectors; its rule is not used */
  const char *record;                  /* path of a record of answers (infer/asker.h), or NULL */
  uint64_t seed;
  uint64_t fresh;      /* number of new vectors, from another seed, that the model must reproduce at the end */
  uint64_t neighbours; /* maximum number of vectors searched for one that distinguishes the model from another: one with
                          a neighbouring value, a rival, or an instruction of the catalogue */
  uint64_t budget;     /* number of vectors computed by models after which no structure or parameter is tried; it also
                          ends the search for rivals of a recording */
  uint64_t most_rows;  /* number of vectors computed by the unit after which no new stage begins; 0: no limit */
  void (*tell)(const char *line, void *context); /* receives a line of progress; may be NULL */
  void *context;
} smma_infer_request;

/* One parameter of the model with one neighbouring value. */
typedef struct {
  int step;            /* index of the key's step; -1: a key of the whole composition */
  const smma_key *key; /* the parameter */
  int value, other;    /* the model's value, and the neighbouring value */
  enum {
    SMMA_EXCLUDED, /* ruled out by vector `row` of the proof: the unit gives the model's d */
    SMMA_FREE,     /* none of the searched vectors distinguishes the two values */
    SMMA_UNDECIDED /* the recording does not decide, but vector `row` of the proof would; its d is the model's result */
  } is;
  size_t row;       /* index of a vector of the proof; unused for SMMA_FREE */
  uint64_t other_d; /* the result of that vector with the neighbouring value */
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
  SMMA_HOLDS_NAN_RESULT,       /* exactly one of the two results is NaN */
  SMMA_HOLDS_INFINITE_RESULT,  /* at least one of the two results is infinite */
  SMMA_HOLDS_SUBNORMAL_RESULT, /* at least one of the two results is subnormal */
  SMMA_HOLDS_SIGN_OF_ZERO,     /* both results are zeros, with different signs */
  SMMA_HOLDS_NEXT_RESULT,      /* the two results are neighbouring numbers of d's format */
  SMMA_HOLDINGS
} smma_infer_holding;

/* Mismatches between unit and model. `asked` is 0 if the model agrees with all samples. */
typedef struct {
  uint64_t asked;    /* vectors compared: new vectors of all kinds, or the samples */
  uint64_t wrong;    /* how many of them the model gets wrong */
  bool of_samples;   /* the samples are compared: the unit is a recording or may compute no more, or no new vector has a
                        mismatch */
  uint64_t new_rows; /* if the samples are compared: new vectors without a mismatch that were compared before */
  uint64_t of_kind[SMMA_ROWS_IN_TURN];  /* new vectors of each kind */
  uint64_t wrong_of[SMMA_ROWS_IN_TURN]; /* how many of these the model gets wrong */
  uint64_t wrong_with[SMMA_HOLDINGS];   /* vectors with each property that the model gets wrong */
  int odd; /* k of the product that the unit treats differently from all other products; -1: none */
  int examples;
  smma_row example[16];  /* the first new vectors with a mismatch, minimised, or the simplest samples with a mismatch;
                            the simplest first; d is the unit's result */
  uint64_t expected[16]; /* the model's results */
} smma_infer_misfit;

/* Two vectors with the same products at different k. The unit's results differ. This rules out every structure that
   returns the same result for both. */
typedef struct {
  smma_row row[2];
  int structures; /* number of structures that this evidence rules out and earlier evidence does not */
} smma_infer_evidence;

typedef struct {
  smma_infer_outcome outcome;
  smma_infer_reason reason; /* for SMMA_NOT_INFERRED */
  smma_custom model;        /* its rule is a composition; its instruction has the formats, and "inferred" for a name */
  size_t samples;           /* number of vectors to which the model was fitted */
  size_t wrong;             /* how many of the samples disagree with the model */
  uint64_t rows, calls;     /* vectors that the unit computed, and calls of the unit, without the final check */
  uint64_t fresh;           /* number of vectors of the final check, all reproduced by the model */
  int rounds;               /* how often vectors refuted a model that agreed with all samples */
  uint64_t tries, computed; /* models tried, and results that these computed in all */
  int structures;           /* number of structures for this K */
  int left;                 /* how many of the structures no vector rules out */
  smma_infer_evidence *evidence; /* vectors that rule out structures, the most effective first */
  size_t evidences;
  bool nan_known;                  /* whether the NaN results agree with a NaN policy, which the model then has */
  uint64_t compared, nan_compared; /* vectors computed by unit and model; how many of them have a NaN from both */
  uint64_t nan_different;  /* of nan_compared, the vectors whose NaN differs from that of the nearest policy, which the
                              fewest vectors contradict */
  uint64_t same_different; /* of nan_compared, the vectors whose NaN differs from that of `same` */
  bool recording;          /* whether the unit is a recording */
  /* An instruction of the catalogue that no vector searched distinguishes from the model, or NULL. */
  const smma_instruction *same;
  smma_infer_neighbour *neighbour;
  size_t neighbours;
  smma_infer_rival *rival; /* other models that agree with a recording */
  size_t rivals;
  bool more_rivals; /* the list of rivals is full, or the search for them ended early; other models that agree may exist
                       in any case, because only the nearest candidates are fitted */
  smma_rows proof;  /* d is the unit's result, or the model's if the unit is a recording that lacks the vector */
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
