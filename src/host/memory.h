/* Memory at addresses that are multiples of 64, for vectors. It uses only malloc of standard C, which every system has.
 */
#ifndef SMMA_HOST_MEMORY_H
#define SMMA_HOST_MEMORY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SMMA_ALIGNMENT = 64 };

/* Allocates memory; returns NULL if memory runs out. The pointer that malloc returned is stored in front of the block.
 */
static inline void *smma_aligned_malloc(size_t bytes) {
  unsigned char *memory, *aligned;
  if (bytes > SIZE_MAX - SMMA_ALIGNMENT - sizeof memory) return NULL;
  memory = malloc(bytes + SMMA_ALIGNMENT + sizeof memory);
  if (!memory) return NULL;
  aligned = memory + sizeof memory;
  aligned += (SMMA_ALIGNMENT - (uintptr_t)aligned % SMMA_ALIGNMENT) % SMMA_ALIGNMENT;
  memcpy(aligned - sizeof memory, &memory, sizeof memory);
  return aligned;
}

/* Frees memory that smma_aligned_malloc returned. Does nothing with NULL. */
static inline void smma_aligned_free(void *aligned) {
  unsigned char *memory;
  if (!aligned) return;
  memcpy(&memory, (unsigned char *)aligned - sizeof memory, sizeof memory);
  free(memory);
}

#endif
