/* The study `match`: loads matrices, searches for instructions and plans that give exactly D, or tests a claim, and
   returns the result as text and data. */
#ifndef SMMA_MATCH_STUDY_H
#define SMMA_MATCH_STUDY_H

#include "datum/datum.h"
#include "match/match.h"
#include "product/product.h"

enum { SMMA_ROUNDING_MODES = SMMA_ROUND_NEAREST_AWAY + 1 };

/* `product` needs no instruction: of it count the matrices (but metadata), transposes, raw, round_in, alpha, beta,
   scale_d and threads. */
typedef struct {
  smma_product_request product;
  smma_source d;
  smma_format a_format, b_format, d_format; /* SMMA_NO_FORMAT: what the matrices hold */
  const smma_notes *notes;
} smma_match_request;

/* A target of the search: all instructions of an architecture, or the instruction of a custom unit. */
typedef struct {
  const smma_instruction *only; /* NULL: those of `arch` */
  smma_arch_id arch;
} smma_match_target;

/* A claim about what computed D. */
typedef struct {
  const char *text;
  const smma_instruction *instruction;
  const smma_plan *plan; /* NULL: one chain */
} smma_match_claim;

/* The places of the request's matrices: those of a product, then D. */
enum { SMMA_MATCH_OF_D = SMMA_PRODUCT_MATRICES, SMMA_MATCH_MATRICES };

/* The matrices in the formats of the comparison, and the result. */
typedef struct {
  const smma_match_request *request;
  smma_tensor given[SMMA_MATCH_MATRICES]; /* transposed where the request says so */
  smma_tensor taken[SMMA_MATCH_MATRICES];
  bool owns[SMMA_MATCH_MATRICES];          /* `given` is the study's own */
  bool rounded;                            /* some value of A or B is not in its format */
  smma_rounding mode[SMMA_ROUNDING_MODES]; /* how A and B may have been rounded, to different matrices each */
  char same_as[SMMA_ROUNDING_MODES][96];   /* other modes that make the same matrices: ", nearest-away" */
  size_t modes, kept;                      /* kept: the mode of the result */
  smma_match_data data;
  const smma_instruction **instruction; /* that are searched */
  size_t instructions, room;
  const smma_instruction *cuda_cores; /* FP32 FMA, which libraries use for small products; or NULL */
  smma_match found;                   /* of a search */
  const smma_match_claim *claim;
  smma_match_difference difference; /* of a claim */
} smma_match_study;

/* Reads and checks the matrices. The request must outlive the study, which smma_match_study_free frees in any case. */
bool smma_match_load(const smma_match_request *request, smma_match_study *study, smma_error *error);

/* Searches the targets' instructions (no targets: all), with A and B rounded in each mode until something fits. Plans
   of fits then say how A and B are rounded. All processes of a group search together; rank 0 has the result. Fails if
   it is interrupted (smma_units_stop_when). */
bool smma_match_run(smma_match_study *study, const smma_match_target *targets, size_t count, const smma_group *group,
                    smma_error *error);

/* Compares D with the claimed product: with A and B rounded as the plan says, or else in each mode until it is equal.
 */
bool smma_match_check(smma_match_study *study, const smma_match_claim *claim, smma_error *error);

void smma_match_study_free(smma_match_study *study);

/* Writes a likely cause if no candidate comes near, or an empty text; returns `text`. */
const char *smma_match_hint(const smma_match *match, char *text, size_t size);

/* "one element, [3, 5], by one unit in the last place" */
void smma_match_difference_text(const smma_match_study *study, const smma_match_difference *difference, char *text,
                                size_t size);

/* Returns what smma_match_run or smma_match_check has found. */
smma_datum *smma_match_datum(const smma_match_study *study, double seconds);
smma_datum *smma_match_claim_datum(const smma_match_study *study);

#endif
