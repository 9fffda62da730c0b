/* Kinds of operands on which products are measured and tested: what is in A, B, C and the scale factors. The same
   numbers on every machine, whatever the matrix, but for `overflow`, whose factor comes from native arithmetic, and
   `lognormal`. */
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
  double amount, greatest; /* the usual and the greatest; 0 where there is none */
} smma_data_info;

extern const smma_data_info smma_data_infos[SMMA_DATA_KINDS];

typedef struct {
  smma_data_kind kind;
  double amount;
} smma_data;

/* "nan", "nan=0.0001"; false with one line. */
bool smma_data_from_text(const char *text, smma_data *data, smma_error *error);

/* The reverse, with the amount: "nan=0.01". */
const char *smma_data_text(smma_data data, char text[32]);

/* Whether the operation's formats have it: NaN, infinity, subnormals, FP16 sums, scale factors. */
bool smma_data_fits(smma_data data, const smma_operation *operation);

/* Whether C takes part; else it is zero. */
bool smma_data_has_c(smma_data data);

/* Arrays of encodings, each in its format's container. */
typedef struct {
  void *a, *b, *c, *scale_a, *scale_b; /* the last three NULL where there are none */
} smma_data_arrays;

typedef struct {
  size_t a, b, c, scale_a, scale_b;
} smma_data_counts;

/* Fills them. `depth` is the K of the sums. */
void smma_data_fill(smma_data data, const smma_operation *operation, size_t depth, const smma_data_counts *counts,
                    const smma_data_arrays *arrays);

#endif
