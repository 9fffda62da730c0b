/* The child process in which a shared object computes. A crash or exit of the shared object does not affect the
   calling process. */
#ifndef SMMA_UNIT_WORKER_H
#define SMMA_UNIT_WORKER_H

#include "unit/unit.h"

typedef enum { SMMA_ASK_OPEN, SMMA_ASK_COMPUTES, SMMA_ASK_RUN, SMMA_ASK_CLOSE } smma_request;

/* Memory at the same address in both processes. The caller fills it in and sends a byte; the worker adds the results
   and sends a byte back. */
typedef struct {
  smma_request request;
  const smma_instruction *instruction; /* an instruction of the catalogue, which has the same address in both processes;
                                          NULL: the custom unit `custom` */
  char custom[16384], origin[512];
  smma_batch batch; /* points into operands and results */
  int status;       /* what the unit's method returned; 0: success */
  char message[1024];
  smma_unit_description description; /* valid after the unit is open */
} smma_desk;

enum { SMMA_OPERAND_BYTES = 64 << 20, SMMA_RESULT_BYTES = 8 << 20 };

/* The shared memory. The page after the results is protected, so that a shared object that writes beyond them ends its
   process. */
typedef struct {
  smma_desk *desk;
  unsigned char *operands, *results;
  void *memory;
  size_t bytes;
} smma_office;

bool smma_office_make(smma_office *office);
void smma_office_free(smma_office *office);

/* Runs in the child: loads the shared object and answers until `channel` or the unit is closed. */
_Noreturn void smma_worker_serve(const smma_office *office, int channel, const char *path, const char *arguments);

#endif
