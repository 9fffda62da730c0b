/* What --on names, told apart in one place: a GPU or an architecture, or the file of a custom unit. */
#ifndef SMMA_CLI_TARGET_H
#define SMMA_CLI_TARGET_H

#include "cli/cli.h"

typedef struct {
  const char *text;               /* as given, which must outlive this */
  const smma_instruction *custom; /* what the file describes; NULL for a GPU or an architecture */
  smma_arch_id arch;              /* of that; SMMA_ARCH_COUNT for a file */
} smma_target;

/* Ends the program with one line if `on` is NULL, or there is no such thing. */
smma_target smma_require_target(const char *on);

/* The same where --on may be left out: text NULL, arch SMMA_ARCH_COUNT. */
smma_target smma_target_or_none(const char *on);

/* The same of "GPU:MORE", which is cut at the colon: `*more` is what stands behind it, or NULL. Names of files may have
   colons of their own. */
smma_target smma_require_target_and_more(char *on, const char **more);

/* The instruction of that name, or of a file, which may be named; ends the program with one line, which names the
   option (if not NULL), if there is none. */
const smma_instruction *smma_require_of_target(const smma_target *target, const char *name, const char *option);

#endif
