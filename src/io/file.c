#define _XOPEN_SOURCE 700 /* POSIX 2008 with realpath */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads to the end of the file; for files that cannot be mapped. */
static bool read_all(int descriptor, const char *path, smma_file_bytes *file, smma_error *error) {
  size_t capacity = 65536, size = 0;
  unsigned char *bytes = malloc(capacity);
  while (bytes) {
    ssize_t count = read(descriptor, bytes + size, capacity - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      smma_fail(error, "%s: byte %zu: cannot read: %s", path, size, strerror(errno));
      free(bytes);
      return false;
    }
    if (count == 0) {
      *file = (smma_file_bytes){.bytes = bytes, .size = size, .mapped = false};
      return true;
    }
    size += (size_t)count;
    if (size == capacity) {
      unsigned char *larger = capacity <= SIZE_MAX / 2 ? realloc(bytes, capacity * 2) : NULL;
      if (!larger) free(bytes);
      bytes = larger;
      capacity *= 2;
    }
  }
  return smma_fail(error, "%s: no memory for a file of more than %zu bytes", path, size);
}

bool smma_file_load(const char *path, smma_file_bytes *file, smma_error *error) {
  struct stat status;
  bool loaded = false;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return smma_fail(error, "%s: cannot open: %s", path, strerror(errno));
  if (fstat(descriptor, &status) != 0) {
    smma_fail(error, "%s: cannot read: %s", path, strerror(errno));
  } else if (S_ISDIR(status.st_mode)) {
    smma_fail(error, "%s: this is a directory; name a file in it", path);
  } else if (S_ISREG(status.st_mode) && status.st_size > 0 && (uintmax_t)status.st_size <= SIZE_MAX) {
    size_t size = (size_t)status.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes != MAP_FAILED) {
      *file = (smma_file_bytes){.bytes = bytes, .size = size, .mapped = true};
      loaded = true;
    } else {
      loaded = read_all(descriptor, path, file, error);
    }
  } else {
    loaded = read_all(descriptor, path, file, error);
  }
  close(descriptor);
  return loaded;
}

void smma_file_release(smma_file_bytes *file) {
  if (file->mapped)
    munmap((void *)file->bytes, file->size);
  else
    free((void *)file->bytes);
  *file = (smma_file_bytes){.bytes = NULL, .size = 0, .mapped = false};
}

/* Creates a new file beside output->path, with the permissions the umask leaves. Returns its descriptor or -1. */
static int create_temporary(smma_output *output) {
  size_t size = strlen(output->path) + 48;
  output->temporary = malloc(size);
  if (!output->temporary) return -1;
  for (int attempt = 0; attempt < 1000; attempt++) {
    snprintf(output->temporary, size, "%s.%ld-%d.tmp", output->path, (long)getpid(), attempt);
    int descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

static void free_names(smma_output *output) {
  free(output->path);
  free(output->temporary);
  *output = (smma_output){.stream = NULL, .path = NULL, .temporary = NULL};
}

bool smma_output_open(const char *path, smma_output *output, smma_error *error) {
  struct stat status;
  bool exists = stat(path, &status) == 0;
  bool direct = exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  int descriptor = -1;
  *output = (smma_output){.stream = NULL, .path = NULL, .temporary = NULL};
  if (exists && S_ISDIR(status.st_mode))
    return smma_fail(error, "%s: cannot write: this is a directory; name a file in it", path);
  output->path = exists && !direct ? realpath(path, NULL) : strdup(path);
  if (output->path) descriptor = direct ? open(path, O_WRONLY | O_CLOEXEC) : create_temporary(output);
  if (descriptor >= 0) output->stream = fdopen(descriptor, "wb");
  if (output->stream) return true;
  smma_fail(error, "%s: cannot write: %s", path, strerror(errno));
  if (descriptor >= 0) {
    close(descriptor);
    if (output->temporary) unlink(output->temporary);
  }
  free_names(output);
  return false;
}

bool smma_output_commit(smma_output *output, smma_error *error) {
  bool written = !ferror(output->stream);
  int cause = written ? 0 : errno ? errno : EIO; /* errno: of the write that failed, unless a later call changed it */
  if (fflush(output->stream) != 0) {
    written = false;
    cause = errno;
  }
  if (fclose(output->stream) != 0 && written) {
    written = false;
    cause = errno;
  }
  if (written && output->temporary && rename(output->temporary, output->path) != 0) {
    written = false;
    cause = errno;
  }
  if (!written) {
    if (output->temporary) unlink(output->temporary);
    smma_fail(error, "%s: cannot write: %s%s", output->path, strerror(cause),
              output->temporary ? "; what was there before is unchanged" : "");
  }
  free_names(output);
  return written;
}

void smma_output_abandon(smma_output *output) {
  fclose(output->stream);
  if (output->temporary) unlink(output->temporary);
  free_names(output);
}
