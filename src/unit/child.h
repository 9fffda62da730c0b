/* Child processes that end with this process. Each has its own process group, so that a terminal's signals reach
   only this process, and so that a child can be ended with all processes that it started. */
#ifndef SMMA_UNIT_CHILD_H
#define SMMA_UNIT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts a child. Returns like fork; in the child, signal handling is the default. Only the thread that started a child
   may use it, because on Linux the child ends with that thread. */
pid_t smma_child_start(void);

/* Reports whether the child has ended; it then stays a zombie until smma_child_end. */
bool smma_child_has_ended(pid_t child);

/* Waits at most `seconds` for the child to end; a stop request (smma_units_stop_when) shortens the wait. Then ends the
   child, and all processes that it started. `*status` is that of waitpid. Returns whether the child ended by itself. */
bool smma_child_end(pid_t child, double seconds, int *status);

/* Describes how a child ended: "called exit(0)", "was ended by signal 11 (Segmentation fault)". */
void smma_child_end_text(int status, char *text, size_t size);

/* Tries `work`, which foreign code may end or hang: runs it in a child for at most `seconds`. Returns true if the child
   has survived it, or if no child can be started. Otherwise writes how the child ended; nothing if its time was up. */
bool smma_child_survives(void (*work)(void *context), void *context, double seconds, char *text, size_t size);

/* Ends all children immediately. For signal handlers. */
void smma_kill_children(void);

#endif
