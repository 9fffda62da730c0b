/* The version of these headers, for the preprocessor, and of the library in use. */
#ifndef SOFTMMA_VERSION_H
#define SOFTMMA_VERSION_H

#include "softmma/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SMMA_VERSION_MAJOR 1
#define SMMA_VERSION_MINOR 0
#define SMMA_VERSION_PATCH 0

/* Returns the version of the library, for example "1.0.0"; it may differ from the version of the headers. */
SMMA_API const char *smma_version(void);

#ifdef __cplusplus
}
#endif

#endif
