/* Loads plans from files. */
#ifndef SMMA_IO_PLAN_FILE_H
#define SMMA_IO_PLAN_FILE_H

#include "host/error.h"
#include "softmma/softmma.h"

/* Loads the plan that a file describes; the caller frees it. Returns NULL with one error line. */
smma_plan *smma_plan_load(const char *path, smma_error *error);

#endif
