#include "host/thread.h"

#include <stddef.h>

void (*smma_threads_refused)(int threads, int error);

#ifdef _OPENMP

#include <pthread.h>
#include <stdlib.h>

static void *wait_for_all(void *gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/* Creates the threads of an OpenMP team (except the caller), all alive at once, and ends them. Returns 0, or the error
   number of the first thread that the system refused. */
static int try_threads(int team) {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t *threads = malloc((size_t)team * sizeof *threads);
  int made = 0, error = 0;
  if (!threads) return 0; /* the caller's own allocation reports the lack of memory */
  pthread_mutex_lock(&gate);
  while (made < team - 1 && !error) {
    error = pthread_create(&threads[made], NULL, wait_for_all, &gate);
    if (!error) made++;
  }
  pthread_mutex_unlock(&gate);
  while (made > 0) pthread_join(threads[--made], NULL);
  free(threads);
  return error;
}

/* Returns the error number if the system refuses a team of this size; otherwise 0. OpenMP keeps the team of each thread
   that starts parallel loops, so each thread tries only teams that are greater than its previous ones. */
static int refusal_of(int team) {
  static _Thread_local int had = 1;
  const int error = team > had ? try_threads(team) : 0;
  if (!error && team > had) had = team;
  return error;
}

int smma_threads(int asked) {
  int threads = asked ? asked : omp_get_max_threads(), error;
  if (threads > smma_most_threads()) threads = smma_most_threads();
  error = refusal_of(threads);
  if (!error) return threads;
  if (smma_threads_refused) smma_threads_refused(threads, error);
  return 1;
}

#else

int smma_threads(int asked) {
  (void)asked;
  return 1;
}

#endif
