/* Plug-ins that misbehave. The argument selects how:

       never           run never returns
       exit, abort, crash
                       the process ends in the row whose c is `mark`
       together        the process ends when it gets more than one row
       open, computes  the process ends in this function
       close           close never returns
       behind, operands
                       writes past the results, or to the operands
       prints          writes without end to standard output
       children        leaves a child process behind and never returns

   Plug-ins that never return or close first write "ready" on standard error. Without an argument, d is c. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softmma/unit.h"

/* -1048576 in f32; only the tests set c to this value. */
static const uint32_t mark = 0xc9800000;

static bool is(const void *unit, const char *how) { return strcmp(unit, how) == 0; }

static void wait_for_ever(void) {
  fprintf(stderr, "ready\n");
  for (;;) pause();
}

static int hostile_open(const char *arguments, void **unit, char *message, size_t size) {
  (void)message, (void)size;
  *unit = strdup(arguments ? arguments : "");
  if (is(*unit, "open")) exit(0);
  return 0;
}

static void hostile_close(void *unit) {
  if (is(unit, "close")) wait_for_ever();
  free(unit);
}

static void hostile_describe(void *unit, smma_unit_description *description) {
  (void)unit;
  snprintf(description->device, sizeof description->device, "a hostile unit");
}

static int hostile_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  if (is(unit, "computes")) raise(SIGSEGV);
  if (i->c == SMMA_F32 && i->d == SMMA_F32 && strcmp(i->arch, "ampere") == 0) return 0;
  snprintf(message, size, "it only has f32");
  return 1;
}

static void start_child(void) {
  if (fork() != 0) return;
  for (;;) pause();
}

static int hostile_run(void *unit, const smma_instruction_info *i, const smma_batch *batch, char *message,
                       size_t size) {
  const uint32_t *c = batch->c;
  uint32_t *d = batch->d;
  (void)i, (void)message, (void)size;
  if (is(unit, "children")) start_child();
  if (is(unit, "never") || is(unit, "children")) wait_for_ever();
  while (is(unit, "prints") && nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL) == 0)
    printf("There is more to say.\n"), fflush(stdout);
  if (is(unit, "together") && batch->rows > 1) abort();
  if (is(unit, "operands")) *(volatile uint32_t *)(uintptr_t)batch->c = 0;
  for (size_t row = 0; row < batch->rows; row++) {
    if (c[row] == mark && is(unit, "exit")) exit(0);
    if (c[row] == mark && is(unit, "abort")) abort();
    if (c[row] == mark && is(unit, "crash")) raise(SIGSEGV);
    d[row] = c[row];
  }
  if (is(unit, "behind")) d[batch->rows] = 0;
  return 0;
}

static const smma_unit_methods methods = {
#ifdef HOSTILE_STRUCTS
    .abi = SMMA_UNIT_ABI - 8, /* smma_batch was smaller */
#else
    .abi = SMMA_UNIT_ABI,
#endif
    .open = hostile_open,
    .close = hostile_close,
    .describe = hostile_describe,
#ifdef HOSTILE_NULL
    .computes = true ? NULL : hostile_computes,
#else
    .computes = hostile_computes,
#endif
    .run = hostile_run};

const smma_unit_methods *softmma_unit(void);
const smma_unit_methods *softmma_unit(void) { return &methods; }
