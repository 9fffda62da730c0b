/* Threads of parallel loops; one without OpenMP. */
#ifndef SMMA_HOST_THREAD_H
#define SMMA_HOST_THREAD_H

#ifdef _OPENMP
#include <omp.h>
static inline int smma_this_thread(void) { return omp_get_thread_num(); }
/* More would only wait for each other. */
static inline int smma_most_threads(void) {
  return omp_get_num_procs() > omp_get_max_threads() ? omp_get_num_procs() : omp_get_max_threads();
}
#else
static inline int smma_this_thread(void) { return 0; }
static inline int smma_most_threads(void) { return 1; }
#endif

/* Returns how many threads a parallel loop takes: as many as are asked for (0: OpenMP's default), and no more than there
   are processors. Returns 1 if the system refuses to make them: OpenMP's libraries would end the process. */
int smma_threads(int asked);

static inline int smma_default_threads(void) { return smma_threads(0); }

/* NULL, or a function that smma_threads calls before it returns 1 because the system refuses `threads` threads, with
   the system's error number. The command sets it and does not return from it. */
extern void (*smma_threads_refused)(int threads, int error);

#endif
