/* Question: which result a unit returns for FTTN's porting example. */
#include "question/operands.h"
#include "question/question.h"

/* The example of FTTN, section V: D = C - A B with K = 2^13 and C = 2^20. A[i][0] and B[0][j] are 2^10. For k > 0,
   A[i][k] is -2^-2 if k is odd and -2^-3 if k is even, and B[k][j] is 2^-3. The signs follow the paper's formula for
   D. */
enum { FTTN_K = 8192 };

/* Fills in the example's row; with `negated`, for -A B. */
static const char *fttn_row(const smma_operation *o, int index, bool negated, smma_row *row) {
  if (index == FTTN_K / o->k) return NULL;
  clear_row(o, row);
  for (int k = 0; k < o->k; k++) {
    const bool first = index == 0 && k == 0;
    set_product(row, k,
                power_of_two(o->a, negated == first,
                             first   ? 10
                             : k % 2 ? -2
                                     : -3),
                power_of_two(o->b, false, first ? 10 : -3));
  }
  return "a step of FTTN's loop over K";
}

static const char *row_from_c(const smma_operation *o, int index, smma_row *row) {
  const char *what = fttn_row(o, index, true, row);
  if (what) row->c = power_of_two(o->c, false, 20);
  return what;
}

static const char *row_from_zero(const smma_operation *o, int index, smma_row *row) {
  return fttn_row(o, index, false, row);
}

static bool is_f16_to_f32(const smma_instruction *i) {
  return i->a == SMMA_F16 && i->b == SMMA_F16 && i->c == SMMA_F32 && i->d == SMMA_F32 && i->k % 2 == 0;
}

/* Returns a fixed number of eighths, for any operands. */
static uint64_t eighths(const smma_operation *model, smma_operands x, uint64_t c, int parameter) {
  (void)x, (void)c;
  return smma_encode(smma_encoding_of(model->d), parameter < 0, smma_magnitude(parameter), -3, false,
                     SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

#define EIGHTHS(whole, rest) ((whole)*8 + (rest))
#define TWO_TO_20 (1 << 20)

static const smma_candidate fttn_from_c[] = {{"D = 0, FTTN's V100, A100 and MI250X", eighths, 0},
                                             {"D = 191.875, FTTN's H100", eighths, EIGHTHS(191, 7)},
                                             {"D = 255.875, FTTN's MI100", eighths, EIGHTHS(255, 7)},
                                             {0}};

static const smma_candidate fttn_from_zero[] = {
    {"A B = 2^20: D = 0, FTTN's V100, A100 and MI250X", eighths, EIGHTHS(TWO_TO_20, 0)},
    {"A B = 2^20 - 191.875, FTTN's H100", eighths, EIGHTHS(TWO_TO_20, 0) - EIGHTHS(191, 7)},
    {"A B = 2^20 - 255.875, FTTN's MI100", eighths, EIGHTHS(TWO_TO_20, 0) - EIGHTHS(255, 7)},
    {0}};

const smma_question smma_question_fttn_from_c = {
    "fttn-from-c", "FTTN's porting example, D = C - A B as a loop from C with A negated",
    is_f16_to_f32, row_from_c,
    true,          fttn_from_c};

const smma_question smma_question_fttn_from_zero = {
    "fttn-from-zero",
    "FTTN's porting example, D = C - A B as a loop for A B, then a subtraction",
    is_f16_to_f32,
    row_from_zero,
    true,
    fttn_from_zero};
