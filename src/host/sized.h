/* Structs of the public headers grow at their end. A caller's struct may be shorter than this library's, because the
   program was compiled with an older header, or longer, because it was compiled with a newer one. A struct that callers
   fill in has a first member `size`, which its function `..._defaults` sets. */
#ifndef SMMA_HOST_SIZED_H
#define SMMA_HOST_SIZED_H

#include <stddef.h>

#include "softmma/status.h"

/* Copies this library's struct `own` to a caller's struct of `size` bytes: writes at most `size` bytes, and fills the
   rest of a longer struct with zeros. */
void smma_give_struct(void *to, size_t size, const void *own, size_t own_size);

/* Sets all defaults and the member `size` of a caller's struct of `size` bytes. Does nothing with NULL, or if the
   struct has no room for that member. */
void smma_give_defaults(void *to, size_t size, const void *defaults, size_t own_size);

/* Copies a caller's struct to `own`, which holds the defaults; they stay for members that the caller's struct lacks.
   Errors: SMMA_INVALID_ARGUMENT, with nothing copied, for NULL or a `size` that no header has; SMMA_NEWER_STRUCT if
   members that this library does not know are not zero. */
smma_status smma_take_struct(const void *from, void *own, size_t own_size);

#endif
