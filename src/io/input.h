/* Files that are read from front to back: regular ones, pipes, devices, memory. What a file says of its own length is
   not believed before that many bytes have come, so that one without an end costs no more than a short one. */
#ifndef SMMA_IO_INPUT_H
#define SMMA_IO_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/error.h"

#define SMMA_SIZE_UNKNOWN UINT64_MAX

enum { SMMA_INPUT_HEAD = 16 };

typedef struct {
  FILE *stream;
  const char *path;  /* the caller's, for messages */
  uint64_t size;     /* of a regular file when it was opened; SMMA_SIZE_UNKNOWN of a pipe or device */
  uint64_t position; /* bytes taken */
  unsigned char head[SMMA_INPUT_HEAD];
  size_t head_size; /* bytes looked at, and not taken yet */
} smma_input;

/* After success call smma_input_close. Memory stays the caller's. */
bool smma_input_open(const char *path, smma_input *input, smma_error *error);
bool smma_input_memory(const void *bytes, size_t size, const char *path, smma_input *input, smma_error *error);
void smma_input_close(smma_input *input);

/* The next bytes, which a later call takes: at most SMMA_INPUT_HEAD, fewer where the file ends. Only before anything
   was taken. */
bool smma_input_peek(smma_input *input, size_t count, size_t *got, smma_error *error);

/* Takes `count` bytes, fewer where the file ends. Fails where it cannot be read, or was shortened meanwhile. */
bool smma_input_read(smma_input *input, void *to, size_t count, size_t *got, smma_error *error);

/* The same in memory of its own, to be freed, with a zero byte behind them; NULL after an error. Of a pipe or device at
   most 1 GiB. */
void *smma_input_take(smma_input *input, size_t count, size_t *got, smma_error *error);

/* Takes `count` bytes, which are lost. `*got` as above. */
bool smma_input_skip(smma_input *input, uint64_t count, uint64_t *got, smma_error *error);

#endif
