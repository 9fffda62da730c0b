/* A target: what --on or an argument names, and the instruction that the options choose for it. */
#ifndef SMMA_CLI_TARGET_H
#define SMMA_CLI_TARGET_H

#include "cli/cli.h"

/* "GPU", "GPU:FORMAT", "GPU:FORMAT:FORMAT" (of A and of B), "GPU:INSTRUCTION" or the file of a custom unit. */
typedef struct {
  const char *text;               /* as given; the string must outlive this struct */
  char gpu[SMMA_GPU_TEXT_SIZE];   /* the text up to the colon; for a file, all of it */
  const char *more;               /* the text after the colon, or NULL */
  const smma_instruction *custom; /* the custom unit of a file; NULL for a GPU or an architecture */
  smma_arch_id arch;              /* the architecture; SMMA_ARCH_COUNT for a file */
} smma_target;

/* The options that choose an instruction of a GPU; NULL if not given. */
typedef struct {
  const char *instr, *in, *out;
  smma_format
      *rounded; /* the command rounds D if no instruction has its format (smma_resolve_rounded); NULL: it does not */
} smma_choice;

/* Entries for a command's table of options. `text` describes --on, and `usual` is the default of --in, such as
   " (default: f16)", or "". */
#define SMMA_ON_OPTION(variable, text) \
  { "on", 0, POPT_ARG_STRING, (variable), 0, text, "TARGET" }
#define SMMA_CHOICE_OPTIONS(choice, usual)                                                                              \
  {"instr", 0, POPT_ARG_STRING, &(choice).instr, 0, "the instruction, by name or alias", "NAME"},                       \
      {"in",         0, POPT_ARG_STRING,                                                                                \
       &(choice).in, 0, "instead of --instr: format of A and B, or A,B, which selects the preferred instruction" usual, \
       "FORMAT"},                                                                                                       \
  {                                                                                                                     \
    "out", 0, POPT_ARG_STRING, &(choice).out, 0,                                                                        \
        "with --in: format of D (default: f32; f64 for f64, s32 for integers)", "FORMAT"                                \
  }

/* An entry for a table of options: a list of targets, separated by commas. */
#define SMMA_LIST_OF_TARGETS(variable, text) \
  { "on", 0, POPT_ARG_STRING, (variable), 0, text, "TARGET,..." }

/* Size of a target's text with its NUL. */
enum { SMMA_TARGET_SIZE = 512 };

/* Copies the first target of a list, and returns the text after its comma. Ends the program with one line if the target
   is empty or too long. */
const char *smma_next_target(const char *list, char target[SMMA_TARGET_SIZE]);

/* Reports whether an argument of a command names a target: a GPU with a model, or a file that ends in .json. */
bool smma_names_target(const char *text);

/* Returns the target. Ends the program with one line if `on` is NULL or names no target. */
smma_target smma_require_target(const char *on);

/* Like smma_require_target, but `on` may be NULL: then text is NULL and arch SMMA_ARCH_COUNT. */
smma_target smma_target_or_none(const char *on);

/* Returns the target's instruction of that name. For a file, that is the custom unit, and `name` may be NULL. If there
   is no such instruction, ends the program with one line, which names `option` unless that is NULL. */
const smma_instruction *smma_require_of_target(const smma_target *target, const char *name, const char *option);

/* Returns the instruction that the target and the options choose, or NULL if they choose none. Ends the program with
   one line that names the option if they contradict each other. */
const smma_instruction *smma_chosen(const smma_target *target, const smma_choice *choice);

/* Returns the instruction of a command's one target. Ends the program with one line if nothing chooses it. */
const smma_instruction *smma_choose_instruction(const char *on, const smma_choice *choice);

/* Returns the instruction of one of several targets. The options apply to targets that name only a GPU, and the default
   of --in is f16. */
const smma_instruction *smma_choose_target(const char *text, const smma_choice *choice);

#endif
