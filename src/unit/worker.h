/* The process in which a shared object computes: nothing that it does, crash or end, touches the one that asks. */
#ifndef SMMA_UNIT_WORKER_H
#define SMMA_UNIT_WORKER_H

#include "unit/unit.h"

typedef enum { SMMA_ASK_OPEN, SMMA_ASK_COMPUTES, SMMA_ASK_RUN, SMMA_ASK_CLOSE } smma_request;

/* Memory that both processes have at the same place. The asker fills it in and sends a byte; the worker fills in what
   it was asked for and sends one back. */
typedef struct {
  smma_request request;
  const smma_instruction *instruction; /* of the catalogue: both have the same. NULL: that of the text */
  char custom[16384], origin[512];
  smma_batch batch; /* points into operands and results */
  int status;       /* the method's */
  char message[1024];
  smma_unit_description description; /* once it is open */
} smma_desk;

enum { SMMA_OPERAND_BYTES = 64 << 20, SMMA_RESULT_BYTES = 8 << 20 };

/* Behind the results is memory that nobody may touch. */
typedef struct {
  smma_desk *desk;
  unsigned char *operands, *results;
  void *memory;
  size_t bytes;
} smma_office;

bool smma_office_make(smma_office *office);
void smma_office_free(smma_office *office);

/* In the child: loads the shared object and answers until `channel` closes, or it was closed itself. */
_Noreturn void smma_worker_serve(const smma_office *office, int channel, const char *path, const char *arguments);

#endif
