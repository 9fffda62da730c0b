/* The study `match`: loads matrices, searches for instructions and plans that give exactly D, or tests a claim.
   Returns the result as text and data. */
#ifndef SMMA_MATCH_STUDY_H
#define SMMA_MATCH_STUDY_H

#include <stdio.h>

#include "datum/datum.h"
#include "isa/catalogue.h"
#include "match/match.h"
#include "product/product.h"

enum { SMMA_ROUNDING_MODES = SMMA_ROUND_NEAREST_AWAY + 1 };

/* Input of the study. `product` needs no instruction; only its matrices (without metadata), transposes, raw,
   round_in, alpha, beta, scale_d and threads are used. */
typedef struct {
  smma_product_request product;
  smma_source d;
  smma_format a_format, b_format, d_format; /* SMMA_NO_FORMAT: the format of the matrices' elements */
  const smma_instruction *claimed; /* if not NULL, A and B without a format are rounded to its formats, if they hold
                                      FP32, FP64, other integers or encodings */
  const smma_notes *notes;
  void (*progress)(size_t done, size_t all,
                   void *context); /* may be NULL; the counts start again with each rounding mode */
  void *context;
} smma_match_request;

/* A target of the search: all instructions of a GPU or architecture, or the instruction of a custom unit. */
typedef struct {
  const smma_instruction *only; /* NULL: all instructions of `gpu` */
  char gpu[SMMA_GPU_TEXT_SIZE];
} smma_match_target;

/* A claim about what computed D. */
typedef struct {
  const char *text;
  const smma_instruction *instruction;
  const smma_plan *plan; /* NULL: a single chain */
} smma_match_claim;

/* Indices of the request's matrices: those of a product, then D. */
enum { SMMA_MATCH_OF_D = SMMA_PRODUCT_MATRICES, SMMA_MATCH_MATRICES };

/* The matrices in the formats of the comparison, and the result. */
typedef struct {
  const smma_match_request *request;
  smma_tensor given[SMMA_MATCH_MATRICES]; /* transposed if requested */
  smma_tensor taken[SMMA_MATCH_MATRICES];
  smma_tensor scale_b;                     /* the transpose of the scale factors of B */
  bool owns[SMMA_MATCH_MATRICES];          /* the study owns `given` */
  bool rounded;                            /* rounding changes some value of A or B */
  smma_rounding mode[SMMA_ROUNDING_MODES]; /* modes to try; each gives different matrices A and B */
  char same_as[SMMA_ROUNDING_MODES][96];   /* other modes that give the same matrices, for example ", nearest-away" */
  size_t modes, kept;                      /* number of modes; index of the result's mode */
  smma_match_data data;
  const smma_instruction **instruction; /* the instructions to search */
  size_t instructions, room;
  /* The FMA of CUDA cores in FP32, or in FP64 for operands in FP64, which libraries use for small products; NULL if it
     cannot compute the product's formats. */
  const smma_instruction *cuda_cores;
  smma_match found; /* result of a search */
  const smma_match_claim *claim;
  smma_match_difference difference; /* result of testing a claim */
} smma_match_study;

/* Reads and checks the matrices. The request must outlive the study. Free the study with smma_match_study_free in
   any case. */
bool smma_match_load(const smma_match_request *request, smma_match_study *study, smma_error *error);

/* Searches the targets' instructions (all instructions if there are no targets), with A and B rounded in each mode
   until something fits. The plans of fits then say how A and B are rounded. All processes of a group search
   together; rank 0 has the result. Fails if it is interrupted (smma_units_stop_when). */
bool smma_match_run(smma_match_study *study, const smma_match_target *targets, size_t count, const smma_group *group,
                    smma_error *error);

/* Compares D with the claimed product, with A and B rounded as the plan says, or otherwise in each mode until it is
   equal. */
bool smma_match_check(smma_match_study *study, const smma_match_claim *claim, smma_error *error);

void smma_match_study_free(smma_match_study *study);

/* Writes a likely cause if no candidate comes near, otherwise an empty text. Returns `text`. */
const char *smma_match_hint(const smma_match *match, char *text, size_t size);

/* Writes, for example, "one element, [3, 5], by one unit in the last place". */
void smma_match_difference_text(const smma_match_study *study, const smma_match_difference *difference, char *text,
                                size_t size);

/* Prints the result of smma_match_run as text. `seconds` is the time that the search took. */
void smma_print_match(FILE *stream, const smma_match_study *study, double seconds);

/* Return the results of smma_match_run and smma_match_check as records. */
smma_datum *smma_match_datum(const smma_match_study *study, double seconds);
smma_datum *smma_match_claim_datum(const smma_match_study *study);

#endif
