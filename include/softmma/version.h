/* The version of these headers, for the preprocessor, and of the library that runs. */
#ifndef SOFTMMA_VERSION_H
#define SOFTMMA_VERSION_H

#include "softmma/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SMMA_VERSION_MAJOR 0
#define SMMA_VERSION_MINOR 1
#define SMMA_VERSION_PATCH 0

/* "0.1.0": of the library, which may be another than the headers'. */
SMMA_API const char *smma_version(void);

#ifdef __cplusplus
}
#endif

#endif
