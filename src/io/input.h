/* Reads files sequentially: regular files, pipes, devices, memory. A length that the file itself states is not trusted
   until that many bytes have arrived, so that an endless file costs no more memory than a short one. */
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
  const char *path;  /* owned by the caller; for messages */
  uint64_t size;     /* size of a regular file when it was opened; SMMA_SIZE_UNKNOWN for a pipe, a device or a file that
                        reports size 0 */
  uint64_t position; /* number of bytes taken */
  unsigned char head[SMMA_INPUT_HEAD];
  size_t head_size; /* number of bytes peeked at and not yet taken */
} smma_input;

/* smma_input_open opens a file by its path; smma_input_memory reads from memory, which the caller owns. After success
   call smma_input_close. */
bool smma_input_open(const char *path, smma_input *input, smma_error *error);
bool smma_input_memory(const void *bytes, size_t size, const char *path, smma_input *input, smma_error *error);
void smma_input_close(smma_input *input);

/* Reads ahead: makes the first `count` bytes visible (at most SMMA_INPUT_HEAD; fewer if the file is shorter) and leaves
   them unread. May only be called before any byte is read. */
bool smma_input_peek(smma_input *input, size_t count, size_t *got, smma_error *error);

/* Takes `count` bytes, fewer at the end of the file. Fails if the file cannot be read or has become shorter. */
bool smma_input_read(smma_input *input, void *to, size_t count, size_t *got, smma_error *error);

/* Takes bytes as smma_input_read does, and returns them in new memory, followed by a zero byte. The caller frees the
   memory. Takes at most 1 GiB from a pipe or device. Returns NULL after an error. */
void *smma_input_take(smma_input *input, size_t count, size_t *got, smma_error *error);

/* Takes `count` bytes and discards them. `*got` receives the number of bytes taken. */
bool smma_input_skip(smma_input *input, uint64_t count, uint64_t *got, smma_error *error);

#endif
