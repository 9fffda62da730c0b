/* Units with foreign code, which are plug-ins and the modules of GPUs. Each unit computes in its own child process.

   The child is a plain fork, without exec. So no separate program is needed, which would be missing in Python's
   process, and shared memory has the same address in both processes. The rules of fork apply: the child has only one of
   this process's threads and does not use OpenMP, and the context of a GPU is only created in the child. A plug-in that
   uses OpenMP itself must be opened before this process uses OpenMP, which the command ensures. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rows/rows.h"
#include "unit/child.h"
#include "unit/worker.h"

typedef struct {
  char path[2048];
  char *arguments; /* NULL: none */
  smma_office office;
  pid_t child; /* 0: none */
  int channel;
} foreign;

typedef enum { ANSWERED, ENDED, STOPPED } outcome;

/* Time limit for a child to close its unit, or to end after it has closed its channel. */
static const double closing_seconds = 2;

static void end_child(foreign *f, double seconds, char how[96]) {
  int status;
  close(f->channel);
  smma_child_end(f->child, seconds, &status);
  f->child = 0;
  if (how) smma_child_end_text(status, how, 96);
}

/* Writes a request to the desk (worker.h), sends it to the child and waits for the answer. Returns ENDED if the child
   ended, with a description in `how`, or STOPPED after a stop request, which also ends the child. */
static outcome exchange(foreign *f, smma_request request, char how[96]) {
  enum { MOMENT = 100 }; /* poll interval in ms, because another thread may receive the signals */
  struct pollfd end = {.fd = f->channel, .events = POLLIN};
  char byte;
  f->office.desk->request = request;
  if (send(f->channel, "", 1, MSG_NOSIGNAL) != 1) {
    end_child(f, closing_seconds, how);
    return ENDED;
  }
  for (;;) {
    const int ready = poll(&end, 1, MOMENT);
    if (smma_units_stopped()) {
      end_child(f, 0, NULL);
      return STOPPED;
    }
    if (ready < 0 || (ready == 0 && !smma_child_has_ended(f->child))) continue;
    if (ready > 0 && read(f->channel, &byte, 1) == 1) break;
    end_child(f, closing_seconds, how);
    return ENDED;
  }
  f->office.desk->message[sizeof f->office.desk->message - 1] = 0;
  return ANSWERED;
}

static bool fork_worker(foreign *f) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  f->child = smma_child_start();
  if (f->child == 0) {
    close(ends[0]);
    smma_worker_serve(&f->office, ends[1], f->path, f->arguments);
  }
  close(ends[1]);
  f->channel = ends[0];
  if (f->child > 0) return true;
  f->child = 0;
  close(f->channel);
  return false;
}

static int say_outcome(outcome o, const char *how, const char *doing, char *message, size_t size) {
  if (o == STOPPED)
    snprintf(message, size, "interrupted");
  else
    snprintf(message, size, "it %s %s", how, doing);
  return 1;
}

/* Starts a child and opens the unit in it, unless the unit has a child. Returns 1 with a message on failure. */
static int start(foreign *f, char *message, size_t size) {
  char how[96];
  outcome o;
  if (f->child) return 0;
  if (!fork_worker(f)) {
    snprintf(message, size, "cannot start its process: %s", strerror(errno));
    return 1;
  }
  o = exchange(f, SMMA_ASK_OPEN, how);
  if (o != ANSWERED) return say_outcome(o, how, "while it was opened", message, size);
  if (f->office.desk->status == 0) return 0;
  snprintf(message, size, "%s", f->office.desk->message);
  end_child(f, 0, NULL);
  return 1;
}

static void put_instruction(foreign *f, const smma_instruction *i) {
  smma_desk *desk = f->office.desk;
  desk->instruction = i->origin ? NULL : i;
  if (!i->origin) return;
  smma_custom_text(i, desk->custom, sizeof desk->custom);
  snprintf(desk->origin, sizeof desk->origin, "%s", i->origin);
}

/* ---- The methods ---- */

static void release(foreign *f) {
  smma_office_free(&f->office);
  free(f->arguments);
  free(f);
}

static foreign *make(const char *path, const char *arguments) {
  foreign *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  snprintf(f->path, sizeof f->path, "%s", path);
  f->arguments = arguments ? strdup(arguments) : NULL;
  if ((!arguments || f->arguments) && smma_office_make(&f->office)) return f;
  free(f->arguments);
  free(f);
  return NULL;
}

static int open_foreign(const char *path, const char *arguments, void **unit, char *message, size_t size) {
  foreign *f = make(path, arguments);
  if (!f) {
    snprintf(message, size, "no memory that it could share with its process");
    return 1;
  }
  *unit = f;
  if (start(f, message, size) == 0) return 0;
  release(f);
  return 1;
}

/* Opens a plug-in. Prepends "./" to a path without a slash, because otherwise the system searches only its own
   libraries. */
static int plugin_open(const char *arguments, void **unit, char *message, size_t size) {
  const size_t length = strcspn(arguments, ":");
  char path[2048];
  snprintf(path, sizeof path, "%s%.*s", memchr(arguments, '/', length) ? "" : "./", (int)length, arguments);
  return open_foreign(path, arguments[length] ? arguments + length + 1 : NULL, unit, message, size);
}

/* Opens softmma-unit-KIND.so from $SOFTMMA_UNITS, or else from its installed place relative to the program. */
static int module_open(const char *kind, const char *arguments, void **unit, char *message, size_t size) {
  const char *folder = getenv("SOFTMMA_UNITS");
  char program[1024] = "", path[2048], option[32] = "";
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  char *slash = length > 0 ? strrchr(program, '/') : NULL;
  if (slash) *slash = 0;
  if (folder)
    snprintf(path, sizeof path, "%s/softmma-unit-%s.so", folder, kind);
  else
    snprintf(path, sizeof path, "%s/../%s/softmma-unit-%s.so", program, SMMA_UNIT_FOLDER, kind);
  for (size_t i = 0; kind[i] && i + 1 < sizeof option; i++) option[i] = (char)toupper((unsigned char)kind[i]);
  if (access(path, R_OK) == 0) return open_foreign(path, arguments, unit, message, size);
  snprintf(message, size,
           "softmma-unit-%s.so is not there; build it with -DSOFTMMA_%s=ON, or name its folder in SOFTMMA_UNITS", kind,
           option);
  return 1;
}

static int cuda_open(const char *arguments, void **unit, char *message, size_t size) {
  return module_open("cuda", arguments, unit, message, size);
}

static int hip_open(const char *arguments, void **unit, char *message, size_t size) {
  return module_open("hip", arguments, unit, message, size);
}

/* Closes the unit. Errors of the child while it closes are ignored. */
static void foreign_close(void *unit) {
  foreign *f = unit;
  if (f->child) {
    struct pollfd end = {.fd = f->channel, .events = POLLIN};
    f->office.desk->request = SMMA_ASK_CLOSE;
    if (send(f->channel, "", 1, MSG_NOSIGNAL) == 1) poll(&end, 1, (int)(1000 * closing_seconds));
    end_child(f, 0, NULL);
  }
  release(f);
}

static void foreign_describe(void *unit, smma_unit_description *description) {
  *description = ((foreign *)unit)->office.desk->description;
  description->device[sizeof description->device - 1] = 0;
  description->driver[sizeof description->driver - 1] = 0;
  description->toolkit[sizeof description->toolkit - 1] = 0;
}

static int foreign_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  foreign *f = unit;
  char how[96];
  outcome o;
  if (start(f, message, size) != 0) return 1;
  put_instruction(f, i->instruction);
  o = exchange(f, SMMA_ASK_COMPUTES, how);
  if (o != ANSWERED) return say_outcome(o, how, "before it answered whether it has the instruction", message, size);
  snprintf(message, size, "%s", f->office.desk->message);
  return f->office.desk->status;
}

/* ---- Batches ---- */

enum { ALIGNMENT = 64 };

/* Returns the number of test vectors that fit in the shared memory. */
static size_t most_rows(const smma_row_layout *layout) {
  const size_t by_results = SMMA_RESULT_BYTES / smma_part_stride(&layout->part[SMMA_PART_D]);
  size_t operands = 0, by_operands;
  for (int p = 0; p < SMMA_PART_D; p++) operands += smma_part_stride(&layout->part[p]);
  by_operands = (SMMA_OPERAND_BYTES - SMMA_PARTS * ALIGNMENT) / operands;
  return by_operands < by_results ? by_operands : by_results;
}

/* Returns test vectors in memory shared with the child. The results end at a protected page. */
static smma_rows shared_rows(const foreign *f, const smma_instruction *i, size_t count) {
  smma_rows r = {.instruction = i, .layout = smma_row_layout_of(i), .capacity = count};
  unsigned char *at = f->office.operands;
  for (int p = 0; p < SMMA_PART_D; p++) {
    const size_t bytes = count * smma_part_stride(&r.layout.part[p]);
    if (bytes) r.part[p] = at;
    at += (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  }
  r.part[SMMA_PART_D] = f->office.results + SMMA_RESULT_BYTES - count * smma_part_stride(&r.layout.part[SMMA_PART_D]);
  return r;
}

/* Runs `count` test vectors of the batch, from `first` on, and copies their results to the batch. */
static outcome run_rows(foreign *f, const smma_instruction *i, const smma_batch *batch, size_t first, size_t count,
                        char how[96]) {
  const smma_rows all = smma_rows_of_batch(i, batch);
  smma_rows part = shared_rows(f, i, count);
  const size_t width = smma_part_stride(&part.layout.part[SMMA_PART_D]);
  outcome o;
  put_instruction(f, i);
  smma_rows_copy(&part, 0, &all, first, count);
  memset(part.part[SMMA_PART_D], 0, count * width); /* removes results that an earlier run left */
  f->office.desk->batch = smma_rows_batch(&part, 0, count, NULL);
  o = exchange(f, SMMA_ASK_RUN, how);
  if (o == ANSWERED && f->office.desk->status == 0)
    memcpy((unsigned char *)batch->d + first * width, part.part[SMMA_PART_D], count * width);
  return o;
}

/* Finds the test vector, of `rows` vectors from `*first` on, that makes the child end, and sets `*first` to it.
   Bisects, with a new child after each end. Returns false if no single vector ends the child, or if it does not end it
   every time. */
static bool find_culprit(foreign *f, const smma_instruction *i, const smma_batch *batch, size_t *first, size_t rows,
                         char how[96]) {
  char message[256];
  bool ended = false;
  while (rows > 1 || !ended) {
    const size_t half = rows > 1 ? rows / 2 : 1;
    outcome o;
    if (start(f, message, sizeof message) != 0) return false;
    o = run_rows(f, i, batch, *first, half, how);
    if (o == STOPPED || (o == ANSWERED && rows == 1)) return false;
    ended = o == ENDED;
    if (!ended) *first += half;
    rows = ended ? half : rows - half;
  }
  return true;
}

static int say_culprit(foreign *f, const smma_instruction *i, const smma_batch *batch, size_t first, size_t rows,
                       const char *how, char *message, size_t size) {
  char again[96];
  size_t culprit = first;
  if (find_culprit(f, i, batch, &culprit, rows, again))
    snprintf(message, size, "it %s in row %zu of the batch (from 0)", again, culprit);
  else if (smma_units_stopped())
    snprintf(message, size, "interrupted");
  else
    snprintf(message, size, "it %s in rows %zu to %zu of the batch (from 0), but no row alone does it again", how,
             first, first + rows - 1);
  return 1;
}

static int foreign_run(void *unit, const smma_instruction_info *info, const smma_batch *batch, char *message,
                       size_t size) {
  foreign *f = unit;
  const smma_instruction *i = info->instruction;
  const smma_row_layout layout = smma_row_layout_of(i);
  const size_t most = most_rows(&layout);
  char how[96];
  for (size_t first = 0; first < batch->rows; first += most) {
    const size_t rows = batch->rows - first < most ? batch->rows - first : most;
    outcome o;
    if (start(f, message, size) != 0) return 1;
    o = run_rows(f, i, batch, first, rows, how);
    if (o == STOPPED) return say_outcome(o, how, "", message, size);
    if (o == ENDED) return say_culprit(f, i, batch, first, rows, how, message, size);
    if (f->office.desk->status != 0) {
      snprintf(message, size, "%s", f->office.desk->message);
      return f->office.desk->status;
    }
  }
  return 0;
}

const smma_unit_methods smma_unit_plugin = {SMMA_UNIT_ABI,    plugin_open,      foreign_close,
                                            foreign_describe, foreign_computes, foreign_run};
const smma_unit_methods smma_unit_cuda = {SMMA_UNIT_ABI,    cuda_open,        foreign_close,
                                          foreign_describe, foreign_computes, foreign_run};
const smma_unit_methods smma_unit_hip = {SMMA_UNIT_ABI,    hip_open,         foreign_close,
                                         foreign_describe, foreign_computes, foreign_run};
