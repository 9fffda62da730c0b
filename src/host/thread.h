/* Threads of parallel loops; one without OpenMP. */
#ifndef SMMA_HOST_THREAD_H
#define SMMA_HOST_THREAD_H

#ifdef _OPENMP
#include <omp.h>
static inline int smma_this_thread(void) { return omp_get_thread_num(); }
static inline int smma_default_threads(void) { return omp_get_max_threads(); }
/* More would only wait for each other, and a system may refuse them, which ends the program. */
static inline int smma_most_threads(void) {
  return omp_get_num_procs() > omp_get_max_threads() ? omp_get_num_procs() : omp_get_max_threads();
}
#else
static inline int smma_this_thread(void) { return 0; }
static inline int smma_default_threads(void) { return 1; }
static inline int smma_most_threads(void) { return 1; }
#endif

/* As many as are asked for, 0: by default, and no more than there are processors. */
static inline int smma_threads(int asked) {
  const int threads = asked ? asked : smma_default_threads();
  return threads > smma_most_threads() ? smma_most_threads() : threads;
}

#endif
