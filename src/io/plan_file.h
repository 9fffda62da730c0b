/* Plans in files. */
#ifndef SMMA_IO_PLAN_FILE_H
#define SMMA_IO_PLAN_FILE_H

#include "host/error.h"
#include "softmma/softmma.h"

/* The plan that a file describes, which the caller frees; NULL with one line. */
smma_plan *smma_plan_load(const char *path, smma_error *error);

#endif
