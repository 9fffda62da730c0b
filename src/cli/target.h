/* The target that --on names: a GPU, an architecture, or the file of a custom unit. */
#ifndef SMMA_CLI_TARGET_H
#define SMMA_CLI_TARGET_H

#include "cli/cli.h"

typedef struct {
  const char *text;               /* as given; the string must outlive this struct */
  const smma_instruction *custom; /* the custom unit of a file; NULL for a GPU or an architecture */
  smma_arch_id arch;              /* the architecture; SMMA_ARCH_COUNT for a file */
} smma_target;

/* Returns the target. Ends the program with one line if `on` is NULL or names no target. */
smma_target smma_require_target(const char *on);

/* Like smma_require_target, but `on` may be NULL: then text is NULL and arch SMMA_ARCH_COUNT. */
smma_target smma_target_or_none(const char *on);

/* Like smma_require_target, for "GPU:MORE". Replaces the colon by a NUL and sets `*more` to the text after it, or to
   NULL if `on` has no colon. Colons in names of files are part of the name. */
smma_target smma_require_target_and_more(char *on, const char **more);

/* Returns the target's instruction of that name. For a file, that is the custom unit, and `name` may be NULL. If there
   is no such instruction, ends the program with one line, which names `option` unless that is NULL. */
const smma_instruction *smma_require_of_target(const smma_target *target, const char *name, const char *option);

#endif
