/* Preload this library to make a program behave as on a system that refuses to create threads. */
#include <errno.h>
#include <pthread.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
  (void)thread, (void)attributes, (void)run, (void)context;
  return EAGAIN;
}
