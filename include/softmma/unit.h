/* Units: what computes d = c + a_0 b_0 + ... + a_(K-1) b_(K-1) as some hardware does.
 *
 * A plug-in is a shared object that exports
 *
 *     const smma_unit_methods *softmma_unit(void);
 *
 * and is used as 'plugin:FILE' or 'plugin:FILE:ARGUMENTS' wherever the softmma command takes a unit. Nothing of
 * libsoftmma is needed to build one. Functions that return int return 0 when done; else they leave one line in
 * `message`: what is wrong, where, how to mend it.
 *
 * It runs in a process of its own, whose functions are called by one thread. There standard input is empty, and what is
 * written to standard output goes to standard error. If it ends, the command says what it was asked, and opens it
 * again; when the command ends, or is interrupted, so does the process, with all that it started. */
#ifndef SOFTMMA_UNIT_H
#define SOFTMMA_UNIT_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a member of the structs here and of smma_instruction_info does, in order, type or meaning. Formats
 * have frozen numbers (number.h): `computes` may be asked of one that is newer than the plug-in, and refuses it. */
#define SMMA_UNIT_VERSION 2

/* With the sizes of what a plug-in is given, so that one which was built with other headers is refused. */
#define SMMA_UNIT_ABI \
  ((unsigned)((SMMA_UNIT_VERSION << 24) | (sizeof(smma_instruction_info) << 12) | sizeof(smma_batch)))

/* What results rest on; empty where there is nothing to say. */
typedef struct {
  char device[128]; /* "NVIDIA H200" */
  char driver[64];  /* and its version */
  char toolkit[64]; /* what the unit was built with */
} smma_unit_description;

/* No function may be missing. */
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
