/* How a product is computed from an instruction beyond asking it once: --method and the options that belong to it. */
#ifndef SMMA_CLI_METHOD_H
#define SMMA_CLI_METHOD_H

#include "cli/cli.h"
#include "softmma/accurate.h"

typedef struct {
  const char *method, *sum, *subnormals, *slices, *products, *through;
  int words, slice_bits; /* 0: not given */
  double accuracy;       /* 0: not given */
} smma_method_options;

typedef enum { SMMA_METHOD_NONE, SMMA_METHOD_WORDS, SMMA_METHOD_SLICES } smma_method_kind;

/* An accurate product, or none: two-level sums and the fallback are arguments and an instruction of an ordinary one. */
typedef struct {
  smma_method_kind kind;
  smma_words words;
  smma_slices slices;
} smma_method;

/* Whether --method NAME was given. */
bool smma_method_is(const smma_method_options *o, const char *name);

/* Ends the program with one line if an option belongs to another method or there is none of that name. */
void smma_check_method(const smma_method_options *o);

/* The accurate product that is asked for, if it is one. Ends the program with one line if the options contradict each
   other or the instruction. */
smma_method smma_choose_method(const smma_method_options *o, const smma_instruction *instruction);

/* --method fallback: the instruction in f16 or bf16 for data in the format `in`, which it holds exactly. */
const smma_instruction *smma_choose_fallback(const smma_method_options *o, const char *gpu, const char *in,
                                             const char *out);

/* "words, p = 2" */
const char *smma_method_text(const smma_method_options *o, const smma_method *m, char text[64]);

#endif
