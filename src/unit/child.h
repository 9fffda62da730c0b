/* Child processes that end with this one, each in a process group of its own, so that a terminal's signals reach this
   process alone, and so that a child can be ended with all that it started. */
#ifndef SMMA_UNIT_CHILD_H
#define SMMA_UNIT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* As fork. The child has the usual signal handlers. Only the thread that starts a child may go on to use it: on Linux
   it ends with that thread. */
pid_t smma_child_start(void);

/* Whether it waits to be ended by smma_child_end. */
bool smma_child_has_ended(pid_t child);

/* Waits at most `seconds`, less once smma_units_stopped, for the child to end, then ends it; ends what it has started.
   `*status` is that of waitpid. Whether it ended by itself. */
bool smma_child_end(pid_t child, double seconds, int *status);

/* "called exit(0)", "was ended by signal 11 (Segmentation fault)". */
void smma_child_end_text(int status, char *text, size_t size);

/* Ends all children at once. For signal handlers. */
void smma_kill_children(void);

#endif
