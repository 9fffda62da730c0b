/* Plug-ins: shared objects that make a device, simulator or program available as a unit. A unit computes test vectors,
 * d = c + a_0 b_0 + ... + a_(K-1) b_(K-1), as some hardware does.
 *
 * A plug-in exports
 *
 *     const smma_unit_methods *softmma_unit(void);
 *
 * and is named 'plugin:FILE' or 'plugin:FILE:ARGUMENTS' wherever the softmma command takes a unit. To build a plug-in,
 * libsoftmma is not needed. Functions that return int return 0 on success. On failure they return another value and
 * write one line to `message` (of `size` bytes): the mistake, its place, and how to correct it.
 *
 * The command runs a plug-in in a separate process, where one thread calls all of its functions. Standard input is
 * empty there, and standard output is redirected to standard error. If the process ends unexpectedly, the command
 * reports the request that it was computing and starts the plug-in again. When the command ends or is interrupted, the
 * process and all processes that it started end too. */
#ifndef SOFTMMA_UNIT_H
#define SOFTMMA_UNIT_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It is raised whenever a member of the structs here or of smma_instruction_info changes
 * in order, type or meaning. The numbers of formats are frozen (number.h), so `computes` may receive a format that is
 * newer than the plug-in, and must refuse it. */
#define SMMA_UNIT_VERSION 2

/* The value of smma_unit_methods.abi: the version, and the sizes of the structs that a plug-in receives. The command
 * refuses a plug-in that was built with other headers. */
#define SMMA_UNIT_ABI \
  ((unsigned)((SMMA_UNIT_VERSION << 24) | (sizeof(smma_instruction_info) << 12) | sizeof(smma_batch)))

/* The device and software that results come from; a text is empty if unknown. */
typedef struct {
  char device[128]; /* "NVIDIA H200" */
  char driver[64];  /* the driver and its version */
  char toolkit[64]; /* the toolkit that the unit was built with */
} smma_unit_description;

/* The functions of a plug-in. None may be NULL. */
typedef struct {
  unsigned abi; /* SMMA_UNIT_ABI */

  /* Opens the unit. `arguments` is the text after the file's name, or NULL. `*unit` receives a pointer that the other
     functions get. */
  int (*open)(const char *arguments, void **unit, char *message, size_t size);
  void (*close)(void *unit);

  void (*describe)(void *unit, smma_unit_description *description);

  /* Reports whether the unit can compute an instruction: returns 0 if it can; otherwise `message` receives the reason.
   */
  int (*computes)(void *unit, const smma_instruction_info *instruction, char *message, size_t size);

  int (*run)(void *unit, const smma_instruction_info *instruction, const smma_batch *batch, char *message, size_t size);
} smma_unit_methods;

#ifdef __cplusplus
}
#endif

#endif
