/* Preloaded by faults.sh, kill.sh and cluster.sh. Variables of the environment: allocation number FAIL_AT fails. Signal
   SIGNAL is raised at call number AT of a function that handles files, or when a file whose name ends with COMPLETE has
   been renamed into place. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long number_of(const char *variable) {
  const char *text = getenv(variable);
  return text ? atol(text) : 0;
}

static int is_due(void) {
  static long count;
  return __sync_add_and_fetch(&count, 1) == number_of("FAIL_AT");
}

void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size), *__libc_realloc(void *old, size_t size);

void *malloc(size_t size) { return is_due() ? (errno = ENOMEM, NULL) : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return is_due() ? (errno = ENOMEM, NULL) : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return is_due() ? (errno = ENOMEM, NULL) : __libc_realloc(old, size); }

/* Called before each call of a function that creates, fills, renames or removes a file. */
static void signal_when_due(void) {
  static long count;
  if (++count == number_of("AT")) raise((int)number_of("SIGNAL"));
}

#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
  va_end(arguments);
  signal_when_due();
  const int descriptor = NEXT(open)(path, flags, mode);
  signal_when_due();
  return descriptor;
}

int rename(const char *from, const char *to) {
  const char *end = getenv("COMPLETE");
  signal_when_due();
  const int status = NEXT(rename)(from, to);
  if (end && strlen(to) >= strlen(end) && strcmp(to + strlen(to) - strlen(end), end) == 0)
    raise((int)number_of("SIGNAL"));
  return status;
}

int unlink(const char *path) {
  signal_when_due();
  return NEXT(unlink)(path);
}

int fsync(int descriptor) {
  signal_when_due();
  return NEXT(fsync)(descriptor);
}

int ftruncate(int descriptor, off_t size) {
  signal_when_due();
  return NEXT(ftruncate)(descriptor, size);
}

int fflush(FILE *stream) {
  signal_when_due();
  return NEXT(fflush)(stream);
}

int fclose(FILE *stream) {
  signal_when_due();
  return NEXT(fclose)(stream);
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream) {
  signal_when_due();
  return NEXT(fwrite)(bytes, size, count, stream);
}
