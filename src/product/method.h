/* How a product is computed from an instruction beyond asking it once: the methods of --method. */
#ifndef SMMA_PRODUCT_METHOD_H
#define SMMA_PRODUCT_METHOD_H

#include "io/error.h"
#include "isa/instruction.h"
#include "softmma/accurate.h"

/* A method by its name, and the options that belong to it. */
typedef struct {
  const char *method, *sum, *subnormals, *slices, *products, *through; /* NULL: not given */
  int words, slice_bits;                                               /* 0: not given */
  double accuracy;                                                     /* 0: not given */
} smma_method_options;

typedef enum { SMMA_METHOD_NONE, SMMA_METHOD_WORDS, SMMA_METHOD_SLICES } smma_method_kind;

/* An accurate product, or none: two-level sums and the fallback are arguments and an instruction of an ordinary one. */
typedef struct {
  smma_method_kind kind;
  smma_words words;
  smma_slices slices;
} smma_method;

/* Products after which the method two-level promotes, unless promote_every says otherwise. */
enum { SMMA_TWO_LEVEL_EVERY = 128 };

/* Reports whether --method NAME was given. */
bool smma_method_is(const smma_method_options *options, const char *name);

/* Fails if an option belongs to another method or there is no method of that name. */
bool smma_check_method(const smma_method_options *options, smma_error *error);

/* Takes the accurate product that is asked for, if it is one. Fails if the options contradict each other or the
   instruction. */
bool smma_choose_method(const smma_method_options *options, const smma_instruction *instruction, smma_method *method,
                        smma_error *error);

/* The method fallback: `*through` becomes the input format of the instruction that takes data in the format `data`
   (SMMA_NO_FORMAT: not said), f16 or bf16, which holds them exactly. */
bool smma_choose_fallback(const smma_method_options *options, smma_format data, const char **through,
                          smma_error *error);

/* Writes "words, p = 2". */
const char *smma_method_text(const smma_method_options *options, const smma_method *method, char text[64]);

#endif
