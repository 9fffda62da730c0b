/* The methods of --method: ways to compute a product that need more than one product of the instruction. */
#ifndef SMMA_PRODUCT_METHOD_H
#define SMMA_PRODUCT_METHOD_H

#include "host/error.h"
#include "isa/instruction.h"
#include "softmma/accurate.h"

/* The name of a method, and the options that belong to it. */
typedef struct {
  const char *method, *sum, *subnormals, *slices, *products, *through; /* NULL: not given */
  int words, slice_bits;                                               /* 0: not given */
  double accuracy;                                                     /* 0: not given */
} smma_method_options;

typedef enum { SMMA_METHOD_NONE, SMMA_METHOD_WORDS, SMMA_METHOD_SLICES } smma_method_kind;

/* The accurate product that a method computes. The methods two-level and fallback compute no accurate product; they
   only change the arguments or the instruction of an ordinary product. */
typedef struct {
  smma_method_kind kind;
  smma_words words;
  smma_slices slices;
  int used[2]; /* slices of A and of B, after the product */
} smma_method;

/* Number of products after which the method two-level promotes, unless promote_every is given. */
enum { SMMA_TWO_LEVEL_EVERY = 128 };

/* Reports whether --method NAME was given. */
bool smma_method_is(const smma_method_options *options, const char *name);

/* Fails if an option belongs to another method, or if no method has this name. */
bool smma_check_method(const smma_method_options *options, smma_error *error);

/* Sets up the accurate product if the method has one. Fails if the options contradict each other or the instruction. */
bool smma_choose_method(const smma_method_options *options, const smma_instruction *instruction, smma_method *method,
                        smma_error *error);

/* Applies the method fallback, which multiplies floating-point data of at most 8 bits in a wider format. `*through`
   becomes the input format of the instruction, f16 or bf16, which holds such data exactly. Fails if `data` is another
   format, or SMMA_NO_FORMAT. */
bool smma_choose_fallback(const smma_method_options *options, smma_format data, const char **through,
                          smma_error *error);

/* Writes the method of a finished product and its parameters, for example "words, p = 2", or "ozaki, 8 slices of A and
   9 of B, of 7 bits". */
const char *smma_method_text(const smma_method_options *options, const smma_method *method, char text[64]);

#endif
