#ifdef __linux__
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE
#endif
#include "unit/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "isa/custom.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* The memory of a desk, which is a whole number of pages on every machine. */
enum { DESK_BYTES = 128 << 10 };
_Static_assert(sizeof(smma_desk) <= DESK_BYTES, "the desk has room");

bool smma_office_make(smma_office *o) {
  unsigned char *at;
  o->bytes = DESK_BYTES + (size_t)SMMA_OPERAND_BYTES + SMMA_RESULT_BYTES + page_size();
  o->memory = mmap(NULL, o->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (o->memory == MAP_FAILED) return false;
  at = o->memory;
  o->desk = o->memory;
  o->operands = at + DESK_BYTES;
  o->results = o->operands + SMMA_OPERAND_BYTES;
  mprotect(o->results + SMMA_RESULT_BYTES, page_size(), PROT_NONE);
  return true;
}

void smma_office_free(smma_office *o) { munmap(o->memory, o->bytes); }

/* ---- In the child ---- */

typedef struct {
  const smma_office *office;
  const smma_unit_methods *methods;
  void *state;
  const smma_instruction *custom; /* custom unit made from `text`, which is a copy of the desk's text; NULL: none yet */
  char text[sizeof((smma_desk *)NULL)->custom];
} worker;

static bool say(smma_desk *desk, const char *text) {
  snprintf(desk->message, sizeof desk->message, "%s", text);
  return false;
}

/* Reports whether the plug-in was built with the same headers, judged by `abi`: the version of softmma/unit.h and the
   sizes of structures. Otherwise writes a message. */
static bool same_headers(smma_desk *desk, const char *path, unsigned abi) {
  const unsigned version = abi >> 24 ? abi >> 24 : abi; /* in version 1 the whole number was the version */
  if (abi == SMMA_UNIT_ABI) return true;
  if (version != SMMA_UNIT_VERSION)
    snprintf(desk->message, sizeof desk->message,
             "%s was built for version %u of softmma/unit.h, this is version %d; build it again", path, version,
             SMMA_UNIT_VERSION);
  else
    snprintf(desk->message, sizeof desk->message,
             "%s was built with another softmma/softmma.h, whose smma_instruction_info has %u bytes instead of %zu and "
             "smma_batch %u instead of %zu; build it again",
             path, abi >> 12 & 0xfff, sizeof(smma_instruction_info), abi & 0xfff, sizeof(smma_batch));
  return false;
}

static const char *missing_method(const smma_unit_methods *m) {
  return !m->open ? "open" : !m->close ? "close" : !m->describe ? "describe" : !m->computes ? "computes" : "run";
}

static bool load(worker *w, const char *path) {
  smma_desk *desk = w->office->desk;
  const smma_unit_methods *(*get)(void);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
  if (!library) return say(desk, dlerror());
  symbol = dlsym(library, "softmma_unit");
  if (!symbol) {
    snprintf(desk->message, sizeof desk->message, "%s exports no function softmma_unit (see softmma/unit.h)", path);
    return false;
  }
  memcpy(&get, &symbol, sizeof get);
  w->methods = get();
  if (!w->methods) {
    snprintf(desk->message, sizeof desk->message, "softmma_unit of %s returned NULL", path);
    return false;
  }
  if (!same_headers(desk, path, w->methods->abi)) return false;
  if (w->methods->open && w->methods->close && w->methods->describe && w->methods->computes && w->methods->run)
    return true;
  snprintf(desk->message, sizeof desk->message, "%s has NULL for the function '%s' (see softmma/unit.h)", path,
           missing_method(w->methods));
  return false;
}

static int open_unit(worker *w, const char *path, const char *arguments) {
  smma_desk *desk = w->office->desk;
  int status;
  if (!load(w, path)) return 1;
  status = w->methods->open(arguments, &w->state, desk->message, sizeof desk->message);
  if (status != 0) return status;
  memset(&desk->description, 0, sizeof desk->description);
  w->methods->describe(w->state, &desk->description);
  return 0;
}

/* Returns the instruction of the request, or NULL with a message on failure. */
static const smma_instruction *instruction_of(worker *w) {
  smma_desk *desk = w->office->desk;
  smma_error error;
  if (desk->instruction) return desk->instruction;
  if (w->custom && strcmp(w->text, desk->custom) == 0) return w->custom;
  smma_custom_release(w->custom);
  memcpy(w->text, desk->custom, sizeof w->text);
  w->custom = smma_custom_read(desk->origin, w->text, strlen(w->text), &error);
  if (!w->custom) snprintf(desk->message, sizeof desk->message, "%s", error.text);
  return w->custom;
}

static int answer(worker *w, const char *path, const char *arguments) {
  smma_desk *desk = w->office->desk;
  smma_instruction_info info;
  desk->message[0] = 0;
  if (desk->request == SMMA_ASK_OPEN) return open_unit(w, path, arguments);
  if (desk->request == SMMA_ASK_CLOSE) {
    w->methods->close(w->state);
    return 0;
  }
  if (smma_describe(instruction_of(w), &info, sizeof info) != SMMA_OK) return 1;
  if (desk->request == SMMA_ASK_COMPUTES)
    return w->methods->computes(w->state, &info, desk->message, sizeof desk->message);
  return w->methods->run(w->state, &info, &desk->batch, desk->message, sizeof desk->message);
}

/* Redirects standard input to nothing, and standard output away from the command's results. */
static void redirect(void) {
  const int empty = open("/dev/null", O_RDONLY);
  if (empty >= 0) dup2(empty, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

void smma_worker_serve(const smma_office *office, int channel, const char *path, const char *arguments) {
  static worker w;
  char byte;
  w = (worker){.office = office};
  redirect();
  mprotect(office->operands, SMMA_OPERAND_BYTES, PROT_READ);
  for (;;) {
    const ssize_t count = read(channel, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count != 1) _exit(0);
    office->desk->status = answer(&w, path, arguments);
    if (write(channel, "", 1) != 1) _exit(0);
  }
}
