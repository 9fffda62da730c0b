#ifdef __linux__
#define _GNU_SOURCE /* prctl */
#include <sys/prctl.h>
#endif
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/clock.h"
#include "unit/child.h"
#include "unit/unit.h"

enum { MOST_CHILDREN = 16 };

/* The process ids of the running children, each the leader of a process group; 0: unused entry. Signal handlers read
   them. */
static _Atomic(pid_t) children[MOST_CHILDREN];

static bool exchange(pid_t from, pid_t to) {
  for (int i = 0; i < MOST_CHILDREN; i++) {
    pid_t expected = from;
    if (atomic_compare_exchange_strong(&children[i], &expected, to)) return true;
  }
  return false;
}

void smma_kill_children(void) {
  for (int i = 0; i < MOST_CHILDREN; i++) {
    const pid_t child = children[i];
    if (child > 0) kill(-child, SIGKILL);
  }
}

static const int handled[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM,
                              SIGCHLD, SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGABRT};
enum { HANDLED = sizeof handled / sizeof *handled };

/* Sets up the child: default signal handling as in a new program, its own process group, and, on Linux, an end with its
   parent. */
static void be_a_child(pid_t parent) {
  const struct sigaction usual = {.sa_handler = SIG_DFL};
  for (int i = 0; i < HANDLED; i++) sigaction(handled[i], &usual, NULL);
  for (int i = 0; i < MOST_CHILDREN; i++) children[i] = 0;
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(1);
}

pid_t smma_child_start(void) {
  const pid_t parent = getpid();
  sigset_t signals, before;
  pid_t child;
  sigemptyset(&signals);
  for (int i = 0; i < HANDLED; i++) sigaddset(&signals, handled[i]);
  fflush(NULL);                              /* otherwise a child that calls exit would write the buffers again */
  sigprocmask(SIG_BLOCK, &signals, &before); /* no handler runs between fork and the entry in the table */
  child = fork();
  if (child == 0) be_a_child(parent);
  if (child > 0) {
    setpgid(child, child);
    if (!exchange(0, child)) {
      kill(-child, SIGKILL);
      waitpid(child, NULL, 0);
      child = -1;
      errno = EAGAIN;
    }
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return child;
}

/* Reports whether the child has ended. Leaves it as a zombie, so that its process id is not reused yet. */
bool smma_child_has_ended(pid_t child) {
  siginfo_t information = {.si_pid = 0};
  return waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT | WNOHANG) != 0 || information.si_pid == child;
}

bool smma_child_end(pid_t child, double seconds, int *status) {
  const struct timespec moment = {.tv_nsec = 2000000};
  const double end = smma_seconds() + seconds;
  bool by_itself = smma_child_has_ended(child);
  while (!by_itself && smma_seconds() < end && !smma_units_stopped()) {
    nanosleep(&moment, NULL);
    by_itself = smma_child_has_ended(child);
  }
  kill(-child, SIGKILL);
  exchange(child, 0);
  *status = 0;
  while (waitpid(child, status, 0) < 0 && errno == EINTR) {
  }
  return by_itself;
}

void smma_child_end_text(int status, char *text, size_t size) {
  if (WIFSIGNALED(status))
    snprintf(text, size, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    snprintf(text, size, "called exit(%d)", WEXITSTATUS(status));
}

bool smma_child_survives(void (*work)(void *context), void *context, double seconds, char *text, size_t size) {
  int status = 0;
  bool has_ended;
  const pid_t child = smma_child_start();
  if (!child) {
    work(context);
    _exit(0);
  }
  if (child < 0) return true;
  has_ended = smma_child_end(child, seconds, &status);
  *text = 0;
  if (has_ended && status) smma_child_end_text(status, text, size);
  return has_ended && !status;
}
