/* Questions about the overflow of integers. */
#include "question/operands.h"
#include "question/question.h"

static bool is_integer(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_INTEGER; }

enum { WRAPS = 0 };

/* Clamps after every `products` products, in order, starting from c. */
static uint64_t clamped_after(const smma_operation *model, smma_operands x, uint64_t c, int products) {
  const smma_integer p = {.overflow = products == WRAPS ? SMMA_INTEGER_WRAPS : SMMA_INTEGER_SATURATES};
  const int length = products == WRAPS || products > model->k ? model->k : products;
  smma_number term[SMMA_MAXIMUM_K + 1];
  for (int k = 0; k < model->k; k += length) {
    for (int i = 0; i < length; i++) term[i] = smma_product_at(model, x, k + i);
    term[length] = smma_decode(smma_encoding_of(SMMA_S32), c);
    c = smma_integer_sum(&p, term, length + 1);
  }
  return c;
}

static const smma_candidate overflows[] = {{"wraps", clamped_after, WRAPS},
                                           {"clamped once", clamped_after, SMMA_MAXIMUM_K},
                                           {"clamped after every 4 products", clamped_after, 4},
                                           {"clamped after every 8 products", clamped_after, 8},
                                           {"clamped after every 16 products", clamped_after, 16},
                                           {0}};

/* Sets c to the greatest number, and the first products to 1, so that the sum leaves the range. Except at index 0,
   equally many products of -1 follow, so that the sum returns to the range. */
static const char *row_of_overflows(const smma_operation *o, int index, smma_row *row) {
  static const char *const what[] = {"one product above the range", "four above the range, and back",
                                     "eight above the range, and back", "sixteen above the range, and back"};
  const int products = index == 0 ? 1 : 2 << index;
  const smma_encoding a = smma_encoding_of(o->a), b = smma_encoding_of(o->b);
  if (index == (int)(sizeof what / sizeof *what) || 2 * products > o->k) return NULL;
  clear_row(o, row);
  row->c = smma_largest_fields(smma_encoding_of(o->c));
  for (int k = 0; k < products; k++) set_product(row, k, 1, smma_products_of(&o->rule) == SMMA_PRODUCT_MULTIPLIED);
  if (index == 0) return what[0];
  if (!a.sign_bits && !b.sign_bits) return NULL;
  for (int k = products; k < 2 * products; k++)
    set_product(row, k, a.sign_bits ? smma_low_bits(~UINT64_C(0), a.bits) : 1,
                a.sign_bits ? 1 : smma_low_bits(~UINT64_C(0), b.bits));
  return what[index];
}

const smma_question smma_question_integer_overflow = {
    "integer-overflow",
    "whether integer sums wrap or are clamped, and after how many products",
    is_integer,
    row_of_overflows,
    false,
    overflows};
