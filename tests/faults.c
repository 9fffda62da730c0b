/* Preloaded by faults.sh: allocation FAIL_AT fails, or signal SIGNAL arrives in the call of open or rename number AT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

static void signal_when_due(void) {
  static long count;
  if (++count == number_of("AT")) raise((int)number_of("SIGNAL"));
}

int open(const char *path, int flags, ...) {
  int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  va_list arguments;
  va_start(arguments, flags);
  const int descriptor = next(path, flags, flags & O_CREAT ? va_arg(arguments, int) : 0);
  va_end(arguments);
  signal_when_due();
  return descriptor;
}

int rename(const char *from, const char *to) {
  int (*next)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  signal_when_due();
  return next(from, to);
}
