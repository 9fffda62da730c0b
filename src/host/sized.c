#include "host/sized.h"

#include <string.h>

/* No struct grows by this number of bytes, so a larger size means that the caller did not set it. */
enum { MOST_GROWTH = 4096 };

static size_t least(size_t x, size_t y) { return x < y ? x : y; }

void smma_give_struct(void *to, size_t size, const void *own, size_t own_size) {
  memset(to, 0, size);
  memcpy(to, own, least(size, own_size));
}

void smma_give_defaults(void *to, size_t size, const void *defaults, size_t own_size) {
  if (!to || size < sizeof size) return;
  smma_give_struct(to, size, defaults, own_size);
  memcpy(to, &size, sizeof size);
}

smma_status smma_take_struct(const void *from, void *own, size_t own_size) {
  const unsigned char *bytes = from;
  size_t size;
  if (!from) return SMMA_INVALID_ARGUMENT;
  memcpy(&size, from, sizeof size);
  if (size < sizeof size || size > own_size + MOST_GROWTH) return SMMA_INVALID_ARGUMENT;
  memcpy(own, from, least(size, own_size));
  memcpy(own, &own_size, sizeof own_size);
  for (size_t i = own_size; i < size; i++)
    if (bytes[i]) return SMMA_NEWER_STRUCT;
  return SMMA_OK;
}
