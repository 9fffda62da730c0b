/* Targets: what --on or an argument names, and the instructions that the options choose for them. All functions that
   take an error fill it if they fail; its line names the option. */
#ifndef SMMA_CLI_TARGET_H
#define SMMA_CLI_TARGET_H

#include "cli/cli.h"
#include "compare/prepare.h"

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
  smma_format *rounded; /* receives D's format if no instruction has it and the command must round D
                           (smma_resolve_rounded); NULL: such a format is an error */
} smma_choice;

/* Entries for a command's table of options. `text` describes --on, and `usual` is the default of --in, such as
   " (default: f16)", or "". */
#define SMMA_ON_OPTION(variable, text) \
  { "on", 0, POPT_ARG_STRING, (variable), 0, text, "TARGET" }
#define SMMA_FORMAT_OPTIONS(choice, usual)                                                                          \
  {"in",         0, POPT_ARG_STRING,                                                                                \
   &(choice).in, 0, "instead of --instr: format of A and B, or A,B, which selects the preferred instruction" usual, \
   "FORMAT"},                                                                                                       \
  {                                                                                                                 \
    "out", 0, POPT_ARG_STRING, &(choice).out, 0,                                                                    \
        "with --in: format of D (default: f32; f64 for f64, s32 for integers)", "FORMAT"                            \
  }
#define SMMA_CHOICE_OPTIONS(choice, usual)                                                        \
  {"instr", 0, POPT_ARG_STRING, &(choice).instr, 0, "the instruction, by name or alias", "NAME"}, \
      SMMA_FORMAT_OPTIONS(choice, usual)

/* An entry for a table of options: a list of targets, separated by commas. */
#define SMMA_LIST_OF_TARGETS(variable, text) \
  { "on", 0, POPT_ARG_STRING, (variable), 0, text, "TARGET,..." }

/* Entries for a table of options: the plans and the rounding modes of targets, called `targets` in the text. */
#define SMMA_PLANS_OPTION(text, targets)                                                         \
  {                                                                                              \
    "plan", 0, POPT_ARG_STRING, text, 0,                                                         \
        "how the library around the instruction sums (docs/plans.md): one plan for all " targets \
        ", or one for "                                                                          \
        "each; 'none' is one chain of instructions (default: none)",                             \
        "FILE|NAME,..."                                                                          \
  }
#define SMMA_ROUND_IN_OPTION(text, argument)                                                                        \
  {                                                                                                                 \
    "round-in", 0, POPT_ARG_STRING, text, 0,                                                                        \
        "how A and B are rounded to the instruction's formats: nearest-even, nearest-away, toward-zero, "           \
        "toward-negative, toward-positive, or default, the plan's or the library's way: nearest-away for tf32 (on " \
        "Hopper nearest-even), toward-zero for XF32 of AMD, nearest-even for other formats (default: default)",     \
        argument                                                                                                    \
  }

/* How to mend matrices that do not fit, in a command without --transpose-a and --transpose-b. */
#define SMMA_NO_TRANSPOSE " (if a file holds the transpose, save its transpose: x.T in NumPy)"

/* Size of a target's text with its NUL. */
enum { SMMA_TARGET_SIZE = 512 };

/* Copies the first target of a list, and returns the text after its comma. Returns NULL if the target is empty or too
   long. */
const char *smma_next_target(const char *list, char target[SMMA_TARGET_SIZE], smma_error *error);

/* Reports whether an argument of a command names a target: a GPU with a model, or a file that ends in .json. */
bool smma_names_target(const char *text);

/* Reads a target. Fails if `on` is NULL or names no target. */
bool smma_read_target(const char *on, smma_target *target, smma_error *error);

/* Like smma_read_target, but `on` may be NULL: then text is NULL and arch SMMA_ARCH_COUNT. */
bool smma_read_target_or_none(const char *on, smma_target *target, smma_error *error);

/* Sets `*chosen` to the instruction that the target and the options choose, or to NULL if they choose none. Fails if
   they contradict each other. */
bool smma_chosen(const smma_target *target, const smma_choice *choice, const smma_instruction **chosen,
                 smma_error *error);

/* The target of a command that examines a unit: `on` or, for a program or plug-in without a target, the H100, in FP16
   unless `choice` says otherwise. A note says in whose instruction the unit is then called. */
const char *smma_target_of_unit(const char *on, const char *unit, const smma_choice *choice);

/* Returns the instruction of the target of a command that takes one target. Returns NULL with an error if neither the
   target nor an option selects an instruction. */
const smma_instruction *smma_choose_instruction(const char *on, const smma_choice *choice, smma_error *error);

/* Returns the instruction of one of several targets, or NULL. The options apply to targets that name only a GPU, and
   the default of --in is f16. */
const smma_instruction *smma_choose_target(const char *text, const smma_choice *choice, smma_error *error);

/* Fails if the options choose an instruction, but each target of the list names its own. */
bool smma_check_choice(const char *list, const smma_choice *choice, smma_error *error);

/* Prints a note if the first target of a list names a format other than f16, and a later one none, which then gets
   f16. */
void smma_note_default_format(const char *list, const smma_instruction *first, const smma_choice *choice);

/* Adds the targets of --on, whose names are separated by commas. Fails if there are none or more than `most`, or if a
   target has a fault; the other targets are then added. If several have one, prints all faults except the last, which
   is the error. */
bool smma_add_targets(smma_prepared_targets *x, const char *list, size_t most, const smma_choice *choice,
                      smma_error *error);

/* Removes formats and instructions from the labels, for a command that shows them in separate columns. */
bool smma_label_by_gpu(smma_prepared_targets *x, smma_error *error);

/* Fails if a target cannot use an argument that the user has set: a member of `given` that differs from its default, or
   a pointer that is not NULL. */
bool smma_check_places(const smma_prepared_targets *x, const smma_gemm_arguments *given, const char *option_of_c,
                       smma_error *error);

#endif
