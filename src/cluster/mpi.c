/* The module that connects ranks through MPI. The command loads it, so only the module needs MPI's library. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "cluster/module.h"

enum { TAG = 1, MOST_AT_ONCE = 1 << 30, MILLISECOND = 1000000 };

static void doze(void) {
  const struct timespec moment = {0, MILLISECOND};
  nanosleep(&moment, NULL);
}

static void finish(MPI_Request *request) {
  int done = 0;
  for (;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    doze();
  }
}

static bool start(size_t *rank, size_t *ranks) {
  int provided, own, all;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return false;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  *rank = (size_t)own, *ranks = (size_t)all;
  return true;
}

/* Returns the size of the next piece of a message: MPI's counts are of type int. */
static int piece_of(size_t left) { return left < MOST_AT_ONCE ? (int)left : MOST_AT_ONCE; }

static void send(const void *bytes, size_t size) {
  uint64_t announced = size;
  const char *at = bytes;
  MPI_Request request;
  MPI_Isend(&announced, 1, MPI_UINT64_T, 0, TAG, MPI_COMM_WORLD, &request);
  finish(&request);
  for (; size; size -= (size_t)piece_of(size)) {
    MPI_Isend(at, piece_of(size), MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
    finish(&request);
    at += piece_of(size);
  }
}

static void *receive(size_t from, size_t *size) {
  uint64_t announced = 0;
  char *bytes, *at;
  MPI_Request request;
  MPI_Irecv(&announced, 1, MPI_UINT64_T, (int)from, TAG, MPI_COMM_WORLD, &request);
  finish(&request);
  at = bytes = announced < SIZE_MAX ? malloc((size_t)announced + 1) : NULL;
  if (!bytes) return NULL;
  for (size_t left = (size_t)announced; left; left -= (size_t)piece_of(left)) {
    MPI_Irecv(at, piece_of(left), MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, &request);
    finish(&request);
    at += piece_of(left);
  }
  *at = 0;
  *size = (size_t)announced;
  return bytes;
}

static void share(void *bytes, size_t size) {
  MPI_Request request;
  for (char *at = bytes; size; size -= (size_t)piece_of(size)) {
    MPI_Ibcast(at, piece_of(size), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    finish(&request);
    at += piece_of(size);
  }
}

static void wait_for_all(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  finish(&request);
}

static void abort_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

static void end(void) { MPI_Finalize(); }

static const char *version(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(text, &length);
  for (char *c = text; *c; c++)
    if (*c == ',' || *c == '\n') *c = 0; /* keeps "Open MPI v4.1.4", removes how it was built */
  return text;
}

__attribute__((visibility("default"))) const smma_ranks_module *smma_ranks_of_module(void);

const smma_ranks_module *smma_ranks_of_module(void) {
  static const smma_ranks_module module = {SMMA_RANKS_ABI, start,     send, receive, share,
                                           wait_for_all,   abort_all, end,  version};
  return &module;
}
