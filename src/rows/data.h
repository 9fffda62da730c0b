/* Kinds of operand data on which products are measured and tested: the contents of A, B, C and the scale factors. The
   numbers are the same on every machine, except those of `lognormal` and of `overflow`, because these use native
   arithmetic. */
#ifndef SMMA_ROWS_DATA_H
#define SMMA_ROWS_DATA_H

#include "host/error.h"
#include "rows/row.h"

typedef enum {
#define SMMA_DATA(symbol, ...) SMMA_DATA_##symbol,
#include "rows/data.def"
#undef SMMA_DATA
  SMMA_DATA_KINDS
} smma_data_kind;

typedef struct {
  const char *name, *what;
  double amount, greatest; /* the default amount and the greatest amount; both 0 if the kind has no amount */
} smma_data_info;

extern const smma_data_info smma_data_infos[SMMA_DATA_KINDS];

typedef struct {
  smma_data_kind kind;
  double amount;
  uint64_t seed; /* of the random numbers */
} smma_data;

/* Reads "nan" or "nan=0.0001", and leaves the seed unchanged. Returns false with one error line. */
bool smma_data_from_text(const char *text, smma_data *data, smma_error *error);

/* Writes the kind with its amount, for example "nan=0.01", as smma_data_from_text reads it. Returns `text`. */
const char *smma_data_text(smma_data data, char text[32]);

/* Reports whether the operation's formats can hold data of this kind, which may need NaN, infinities, subnormals, FP16
   sums or scale factors. */
bool smma_data_fits(smma_data data, const smma_operation *operation);

/* Reports whether C has values; otherwise it is zero. */
bool smma_data_has_c(smma_data data);

/* Arrays of encodings, each in its format's container. */
typedef struct {
  void *a, *b, *c, *scale_a, *scale_b; /* c and the scale factors are NULL if the operation does not have them */
} smma_data_arrays;

typedef struct {
  size_t a, b, c, scale_a, scale_b;
} smma_data_counts;

/* Fills the arrays. Operations of the same formats get the same numbers, whatever their K. `depth` is the number of
 * products in each sum, on which SMMA_DATA_OVERFLOW depends. */
void smma_data_fill(smma_data data, const smma_operation *operation, size_t depth, const smma_data_counts *counts,
                    const smma_data_arrays *arrays);

#endif
