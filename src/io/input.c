#define _POSIX_C_SOURCE 200809L
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_ROOM = 1 << 16 };

/* Limit of data from a pipe: more than a pipe usually carries, and too little to make a machine swap. */
static const uint64_t pipe_limit = UINT64_C(1) << 30;

bool smma_input_open(const char *path, smma_input *input, smma_error *error) {
  struct stat status = {.st_mode = 0};
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  *input = (smma_input){.path = path, .size = SMMA_SIZE_UNKNOWN};
  if (descriptor < 0) return smma_fail(error, "%s: cannot open: %s", path, strerror(errno));
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(descriptor);
    return smma_fail(error, "%s: this is a directory; name a file in it", path);
  }
  /* System files, such as those in /proc, report size zero although they have content. */
  if (S_ISREG(status.st_mode) && status.st_size > 0) input->size = (uint64_t)status.st_size;
  input->stream = fdopen(descriptor, "rb");
  if (input->stream) return true;
  close(descriptor);
  return smma_fail(error, "%s: cannot open: %s", path, strerror(errno));
}

bool smma_input_memory(const void *bytes, size_t size, const char *path, smma_input *input, smma_error *error) {
  *input = (smma_input){.path = path, .size = size};
  input->stream = size ? fmemopen((void *)bytes, size, "rb") : fopen("/dev/null", "rb");
  return input->stream || smma_fail(error, "%s: cannot open: %s", path, strerror(errno));
}

void smma_input_close(smma_input *input) {
  fclose(input->stream);
  *input = (smma_input){.stream = NULL};
}

static bool check_stream(const smma_input *input, smma_error *error) {
  if (!ferror(input->stream)) return true;
  return smma_fail(error, "%s: byte %llu: cannot read: %s", input->path, (unsigned long long)input->position,
                   strerror(errno));
}

/* Checks that reading has not failed, and, if the last read was `missing` bytes short, that the file has not become
   shorter since it was opened. */
static bool check_end(const smma_input *input, uint64_t missing, smma_error *error) {
  if (!check_stream(input, error)) return false;
  if (!missing || input->size == SMMA_SIZE_UNKNOWN || input->position >= input->size) return true;
  return smma_fail(error, "%s: byte %llu: the file was shortened while it was read; it had %llu bytes", input->path,
                   (unsigned long long)input->position, (unsigned long long)input->size);
}

bool smma_input_peek(smma_input *input, size_t count, size_t *got, smma_error *error) {
  if (count > SMMA_INPUT_HEAD) count = SMMA_INPUT_HEAD;
  if (input->head_size < count)
    input->head_size += fread(input->head + input->head_size, 1, count - input->head_size, input->stream);
  *got = input->head_size < count ? input->head_size : count;
  return check_stream(input, error);
}

bool smma_input_read(smma_input *input, void *to, size_t count, size_t *got, smma_error *error) {
  unsigned char *out = to;
  size_t of_head = count < input->head_size ? count : input->head_size;
  memcpy(out, input->head, of_head);
  input->head_size -= of_head;
  memmove(input->head, input->head + of_head, input->head_size);
  *got = of_head + fread(out + of_head, 1, count - of_head, input->stream);
  input->position += *got;
  return check_end(input, count - *got, error);
}

/* Returns the number of bytes to allocate for `count` bytes, of which `got` have arrived: those that the file still has
   if its size is known, otherwise twice those that have arrived. */
static size_t room_for(const smma_input *input, size_t count, size_t got) {
  uint64_t left = input->size - input->position;
  if (input->size != SMMA_SIZE_UNKNOWN) return left < count - got ? got + (size_t)left : count;
  if (got < FIRST_ROOM / 2) return count < FIRST_ROOM ? count : FIRST_ROOM;
  return got < count / 2 ? 2 * got : count;
}

void *smma_input_take(smma_input *input, size_t count, size_t *got, smma_error *error) {
  unsigned char *bytes = NULL;
  size_t room = 0;
  *got = 0;
  if (input->size == SMMA_SIZE_UNKNOWN && count > pipe_limit) {
    smma_fail(error, "%s: %zu bytes expected, and no more than %llu are read from a pipe or device; put them in a file",
              input->path, count, (unsigned long long)pipe_limit);
    return NULL;
  }
  do {
    size_t more;
    room = room_for(input, count, *got);
    unsigned char *larger = room < SIZE_MAX ? realloc(bytes, room + 1) : NULL;
    if (!larger) smma_fail(error, "%s: no memory for %zu bytes", input->path, room);
    if (!larger || !smma_input_read(input, larger + *got, room - *got, &more, error)) {
      free(larger ? larger : bytes);
      return NULL;
    }
    bytes = larger;
    *got += more;
  } while (*got == room && room < count && input->size == SMMA_SIZE_UNKNOWN);
  bytes[*got] = 0;
  return bytes;
}

bool smma_input_skip(smma_input *input, uint64_t count, uint64_t *got, smma_error *error) {
  unsigned char scratch[4096];
  *got = 0;
  if (input->size != SMMA_SIZE_UNKNOWN && input->head_size == 0) {
    const uint64_t left = input->size - input->position;
    *got = count < left ? count : left;
    input->position += *got;
    if (fseeko(input->stream, (off_t)*got, SEEK_CUR) == 0) return true;
    return smma_fail(error, "%s: cannot read: %s", input->path, strerror(errno));
  }
  while (*got < count) {
    size_t more, wanted = count - *got < sizeof scratch ? (size_t)(count - *got) : sizeof scratch;
    if (!smma_input_read(input, scratch, wanted, &more, error)) return false;
    *got += more;
    if (more < wanted) break;
  }
  return true;
}
