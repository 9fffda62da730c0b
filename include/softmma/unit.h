/* Units: what computes d = c + a_0 b_0 + ... + a_(K-1) b_(K-1) as some hardware does.
 *
 * A plug-in is a shared object that exports
 *
 *     const smma_unit_methods *softmma_unit(void);
 *
 * and is used as 'plugin:FILE' or 'plugin:FILE:ARGUMENTS' wherever the softmma command takes a unit. Nothing of
 * libsoftmma is needed to build one. Functions that return int return 0 when done; else they leave one line in
 * `message`: what is wrong, where, how to mend it. They are called by one thread at a time. */
#ifndef SOFTMMA_UNIT_H
#define SOFTMMA_UNIT_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever anything in this header does. */
#define SMMA_UNIT_ABI 1

/* What results rest on; empty where there is nothing to say. */
typedef struct {
  char device[128]; /* "NVIDIA H200" */
  char driver[64];  /* and its version */
  char toolkit[64]; /* what the unit was built with */
} smma_unit_description;

/* Independent rows. Elements lie as in smma_dot, row behind row: row i of `a` starts at element i K. */
typedef struct {
  size_t rows;
  const void *a, *b;             /* K elements a row */
  const void *c;                 /* one */
  const void *scale_a, *scale_b; /* K / scale_block; NULL for an instruction without scale factors */
  void *d;                       /* one, to be written */
} smma_batch;

typedef struct {
  unsigned abi; /* SMMA_UNIT_ABI */

  /* `arguments`: the text behind the file's name, or NULL. `*unit` goes to the other functions. */
  int (*open)(const char *arguments, void **unit, char *message, size_t size);
  void (*close)(void *unit);

  void (*describe)(void *unit, smma_unit_description *description);

  /* Whether the unit computes that instruction: 0, or a line that says why not. */
  int (*computes)(void *unit, const smma_instruction_info *instruction, char *message, size_t size);

  int (*run)(void *unit, const smma_instruction_info *instruction, const smma_batch *batch, char *message, size_t size);
} smma_unit_methods;

#ifdef __cplusplus
}
#endif

#endif
