/* Threads of parallel loops; a single thread without OpenMP. */
#ifndef SMMA_HOST_THREAD_H
#define SMMA_HOST_THREAD_H

/* The greatest number of threads of --threads, and of requests that smma_check_threads checks. */
enum { SMMA_MOST_THREADS = 1024 };

#ifdef _OPENMP
#include <omp.h>
static inline int smma_this_thread(void) { return omp_get_thread_num(); }
/* Returns the largest useful number of threads. With more threads, some would only wait. */
static inline int smma_most_threads(void) {
  return omp_get_num_procs() > omp_get_max_threads() ? omp_get_num_procs() : omp_get_max_threads();
}
/* Sets the number of threads of later parallel loops. */
static inline void smma_set_threads(int threads) { omp_set_num_threads(threads); }
#else
static inline void smma_set_threads(int threads) { (void)threads; }
static inline int smma_this_thread(void) { return 0; }
static inline int smma_most_threads(void) { return 1; }
#endif

/* Returns the number of threads that a parallel loop uses: the requested number (0: OpenMP's default), but at most one
   for each processor. Returns 1 if the system refuses to create them, because OpenMP's libraries would then end the
   process. */
int smma_threads(int asked);

static inline int smma_default_threads(void) { return smma_threads(0); }

/* A function that smma_threads calls, with the system's error number, before it returns 1 because the system refuses
   `threads` threads; NULL for no function. The command sets it to a function that does not return. */
extern void (*smma_threads_refused)(int threads, int error);

#endif
