/* One product of matrices, D = alpha A B + beta C with a plan. Its operands and options are checked once and become the
   arguments of smma_gemm. */
#ifndef SMMA_PRODUCT_PRODUCT_H
#define SMMA_PRODUCT_PRODUCT_H

#include "datum/datum.h"
#include "plan/scales.h"
#include "product/method.h"
#include "product/take.h"

/* The operands of a product, in the order of notes. */
typedef enum {
  SMMA_OF_SCALE_A,
  SMMA_OF_SCALE_B,
  SMMA_OF_BIAS,
  SMMA_OF_METADATA,
  SMMA_OF_C,
  SMMA_OF_A,
  SMMA_OF_B,
  SMMA_PRODUCT_MATRICES
} smma_product_matrix;

typedef struct {
  const smma_instruction *instruction;
  const smma_plan *plan; /* NULL: one chain */
  const char *plan_name; /* name of the plan in error messages */
  smma_source of[SMMA_PRODUCT_MATRICES];
  bool transpose_a, transpose_b, raw; /* raw: integers in files are encodings */
  smma_format narrow; /* format to which A and B are first rounded; SMMA_NO_FORMAT: they are not rounded */
  smma_method_options method;
  const char *round_in, *scaling, *kernel; /* NULL: the default */
  double alpha, beta, scale_d;
  long long split_k, promote_every; /* promote_every 0: never */
  bool rounds;                      /* the plan is smma_product_round's, which sums by these two */
  int threads;
} smma_product_request;

/* Returns a request in which alpha, beta, scale_d and split_k are 1, and all other members have their defaults. */
smma_product_request smma_product_defaults(void);

/* The product, with its matrices in the formats in which they are multiplied. The request must outlive it. */
typedef struct {
  const smma_product_request *request;
  smma_method method;
  smma_rounding rounding[2]; /* of A and of B */
  float factor[2];           /* of the tensors A and B (smma_blocks): the result is multiplied by both */
  bool wide;                 /* D of an accurate product is f64 */
  smma_tensor taken[SMMA_PRODUCT_MATRICES], d;
  smma_gemm_arguments arguments;
} smma_matrix_product;

/* The requirements of a product for one of its matrices. */
typedef struct {
  const char *option, *what; /* "--scale-a"; `what`: its name in notes, "--scale-a" or "C" */
  smma_format format;
  size_t rows, columns;
  const char *needed_by;
} smma_matrix_need;

/* Returns the requirements for a matrix; for A and B only the format. The sizes in `arguments` must be set. */
smma_matrix_need smma_product_needs(const smma_product_request *request, smma_product_matrix which,
                                    const smma_gemm_arguments *arguments);

/* Makes a product without matrices, and checks everything that can be checked before a matrix is read. */
bool smma_product_begin(const smma_product_request *request, smma_matrix_product *product, smma_error *error);

/* Fails if the product needs scale factors that the caller has not passed and that are not stored with A and B. */
bool smma_product_check_scales(const smma_matrix_product *product, const smma_tensor *a, const smma_tensor *b,
                               smma_error *error);

/* Makes the product round D, whose sums are in FP32, to `d`, as libraries do after their epilogue. The caller frees
   `request->plan`, unless it had one. Fails if the request has a plan with another D, or a method with sums of its
   own. */
bool smma_product_round(smma_product_request *request, smma_format d, smma_error *error);

/* Sets the sizes and orders from the shapes of A and B; does not read their data. Checks that the shapes fit, that the
   meaning of their elements is known, and that K can follow the plan. */
bool smma_product_size(smma_matrix_product *product, const smma_tensor *a, const smma_tensor *b, smma_error *error);

/* Points the arguments at the product's matrices. */
void smma_product_fill(smma_matrix_product *product);

/* Notes slices that are empty, and a distance between promotions that K does not reach. */
void smma_product_note_sums(const smma_matrix_product *product, const smma_notes *notes);

/* Reads, checks and converts all matrices, and allocates D. Frees everything if it fails. */
bool smma_product_take(smma_matrix_product *product, const smma_notes *notes, smma_error *error);

/* Multiplies. `arguments.progress` may be set before. */
bool smma_product_run(smma_matrix_product *product, smma_error *error);

void smma_product_free(smma_matrix_product *product);

/* Returns the summary of a product that has been computed. `d` is the file of D, or NULL if D is not written. */
smma_datum *smma_product_datum(const smma_matrix_product *product, const char *d, double seconds);

/* Reports whether a number of threads is from 0 to SMMA_MOST_THREADS; if it is not, sets an error. */
bool smma_check_threads(int threads, smma_error *error);

/* Reports whether the plan has an epilogue step that multiplies by alpha, which can then include the factors of A and
   B. NULL means no plan, which has this step. */
bool smma_takes_factor(const smma_plan *plan);

/* Checks that A and B may be quantised for the instruction: the factors that NVFP4 has for each tensor multiply the
   sum, so a plan must have a place for alpha, and alpha must not act on the operands. */
bool smma_check_quantised(const smma_instruction *instruction, const smma_plan *plan, const char *plan_name,
                          smma_scaling scaling, smma_error *error);

/* Returns the name of the first argument that the plan does not use, for example "c" or "scale_d", or NULL. Checks the
   arguments that are not neutral, and C and the bias if they are given. */
const char *smma_plan_refuses(const smma_plan *plan, const smma_gemm_arguments *arguments, bool has_c, bool has_bias);

/* Sets the error that the plan does not use an argument, which smma_plan_refuses returned, and returns false. */
bool smma_fail_misplaced(const char *argument, const char *plan, smma_error *error);

/* Sets the error that the plan does not use an option, and returns false. The message says what to write into the
   plan. */
bool smma_fail_no_place(const char *option, const char *plan, smma_error *error);

#endif
