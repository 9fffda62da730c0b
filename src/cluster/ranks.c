#include "cluster/ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster/module.h"

/* Environment variables that launchers set: Open MPI's mpirun; MPICH and others, Slurm's pmi2; PRRTE and Slurm's
   pmix, which do not give a number of ranks. */
static const char *const size_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, pmix_rank[] = "PMIX_RANK";

static const smma_ranks_module *module;
static size_t own_rank, rank_count = 1;

/* Returns the number of ranks that the launcher gives, or 0 if none does. */
static size_t launched_number(void) {
  for (size_t i = 0; i < sizeof size_variables / sizeof *size_variables; i++) {
    const char *text = getenv(size_variables[i]);
    if (text) return strtoul(text, NULL, 10);
  }
  return 0;
}

bool smma_ranks_launched(void) { return launched_number() ? launched_number() > 1 : getenv(pmix_rank) != NULL; }

/* Loads the module from its folder, relative to the program. Its symbols are global, because MPI's own components
   need them. */
static const smma_ranks_module *load(smma_error *error) {
  char program[1024] = "", path[2048];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  char *slash = length > 0 ? strrchr(program, '/') : NULL;
  void *library;
  union {
    void *symbol;
    smma_ranks_getter *get;
  } found;
  if (slash) *slash = 0;
  snprintf(path, sizeof path, "%s/../%s/softmma-mpi.so", program, SMMA_UNIT_FOLDER);
  if (access(path, R_OK) != 0) {
    smma_fail(error, "softmma-mpi.so is not there; build with -DSOFTMMA_MPI=ON");
    return NULL;
  }
  library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  found.symbol = library ? dlsym(library, "smma_ranks_of_module") : NULL;
  if (!found.symbol) {
    smma_fail(error, "%s", dlerror());
    return NULL;
  }
  if (found.get()->abi == SMMA_RANKS_ABI) return found.get();
  smma_fail(error, "softmma-mpi.so is of another version of SoftMMA");
  return NULL;
}

bool smma_ranks_start(smma_error *error) {
  const size_t launched = launched_number();
  smma_error why;
  module = load(&why);
  if (!module)
    return smma_fail(error, "a launcher of MPI has started this, but %s, or leave the launcher out (--shard)",
                     why.text);
  if (!module->start(&own_rank, &rank_count)) return smma_fail(error, "MPI does not start");
  for (size_t i = 0; i < sizeof size_variables / sizeof *size_variables; i++) unsetenv(size_variables[i]);
  unsetenv(pmix_rank);
  if (!launched || launched == rank_count) return true;
  return smma_fail(error, "the launcher has started %zu processes, but %s knows of %zu; start them with its own mpirun",
                   launched, module->version(), rank_count);
}

const char *smma_ranks_library(smma_error *error) {
  const smma_ranks_module *m = module ? module : load(error);
  return m ? m->version() : NULL;
}

size_t smma_rank(void) { return own_rank; }
size_t smma_ranks(void) { return rank_count; }

void smma_ranks_send(const void *bytes, size_t size) { module->send(bytes, size); }
void *smma_ranks_receive(size_t from, size_t *size) { return module->receive(from, size); }

void smma_ranks_share(void *bytes, size_t size) {
  if (rank_count > 1) module->share(bytes, size);
}

smma_group smma_ranks_group(void) {
  return (smma_group){own_rank, rank_count, smma_ranks_share, smma_ranks_send, smma_ranks_receive};
}

void smma_ranks_wait(void) {
  if (rank_count > 1) module->wait();
}

void smma_ranks_end(void) {
  if (!module) return;
  module->wait();
  module->end();
  module = NULL;
}

void smma_ranks_defer(void) {
  const struct timespec patience = {3, 0};
  if (own_rank > 0) nanosleep(&patience, NULL);
}

void smma_ranks_abort(int status) {
  if (rank_count > 1) module->abort(status);
}
