/* What the commands share: options, errors, output, progress. */
#ifndef SMMA_CLI_CLI_H
#define SMMA_CLI_CLI_H

#include <popt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "datum/datum.h"
#include "host/clock.h"
#include "isa/catalogue.h"
#include "isa/formats.h"
#include "softmma/softmma.h"

/* Exit statuses (docs: softmma(1)). */
enum { SMMA_EXIT_EQUAL = 0, SMMA_EXIT_DIFFERENT = 1, SMMA_EXIT_FAILED = 2 };

typedef struct {
  const char *name, *arguments, *summary;
  int (*run)(int argc, const char **argv);
} smma_command;

extern const smma_command smma_commands[];
extern const size_t smma_command_count;

#define SMMA_COMMAND(name, ...) int smma_command_##name(int argc, const char **argv);
#define SMMA_COMMAND_OF_TWO(one, two, ...) SMMA_COMMAND(one##_##two)
#include "cli/command.def"
#undef SMMA_COMMAND_OF_TWO
#undef SMMA_COMMAND

/* Prints "softmma: " and one line on stderr, control characters as '?'; returns SMMA_EXIT_FAILED. */
int smma_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then ends the program, and with it all ranks. */
_Noreturn void smma_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The option that gives a member of a study's request: "--split-k" of "split_k", "-C" of "c". */
const char *smma_option_of(const char *member, char text[64]);

/* Dies of a study's error, where "MEMBER: what is wrong" becomes the option's line. */
_Noreturn void smma_die_of(const smma_error *error);

/* A note on stderr ("softmma: note: ..."), for what the user should know but need not mend; of several ranks by the
   first. */
void smma_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Parses the command's options into the table's variables and returns the remaining arguments, of which there must be
   between `least` and `most`. On --help prints it and ends; on an error prints one line and ends. `details` is printed
   by --help behind the options. The result is ended by NULL and lives as long as the program. */
const char **smma_parse_options(int argc, const char **argv, struct poptOption *table, int least, int most,
                                const char *details);

/* The row of that name in the table; NULL without one. */
const smma_command *smma_find_command(const char *name);

/* Runs a command, whose options smma_parse_options parses then. argv[0] is its name. */
int smma_run_command(const smma_command *command, int argc, const char **argv);

/* Each ends the program with one line, which names the option (if not NULL), if there is no such thing. The GPU is that
   of --on; where it is the file of a custom unit, that one is the instruction, and the name may be NULL. */
const smma_instruction *smma_require_instruction(const char *gpu, const char *name, const char *option);
const smma_instruction *smma_require_by_formats(const char *gpu, const smma_formats *formats, const char *option);
smma_arch_id smma_require_arch(const char *gpu, const char *option);
smma_format smma_require_format(const char *name, const char *option);

/* Likewise those of --in (or whatever `option` is) and --out, which may be NULL. */
smma_formats smma_require_formats(const char *in, const char *option, const char *out);

/* "value" of a missing option is an error that names it. */
const char *smma_require_option(const char *value, const char *option, const char *example);

/* At the start of the program: from then on SIGINT, SIGTERM, SIGHUP and SIGQUIT end it and all child processes, and
 * remove unfinished files. */
void smma_handle_signals(void);

/* At the start of the program: from then on an exit that a library calls ends it with status 2, and removes unfinished
   files. Before an exit of the program's own: smma_end_normally. */
void smma_handle_library_exits(void);
void smma_end_normally(void);

/* From now on the first interruption makes smma_interrupted true, units stop, and the command has a second to end where
   it can go on later; then, or with a second interruption, the program ends. */
void smma_wait_for_interruption(void);
bool smma_interrupted(void);

/* Prints a study's result as JSON and releases it; ends the program with one line where it is incomplete. */
void smma_print_datum(smma_datum *datum);

/* Whether everything written to stdout arrived; else complains and returns SMMA_EXIT_FAILED instead of `status`. */
int smma_finish_output(int status);

/* Progress of long work: silent unless stderr is a terminal; a line with rate and, where `all` is known (not 0),
   remaining time, once a second. */
typedef struct {
  const char *unit; /* "products"; NULL: no rate is shown */
  double per_step;  /* units in one step */
  double started, shown;
  bool enabled;
} smma_progress;

void smma_progress_start(smma_progress *progress, const char *unit, double per_step);
void smma_progress_show(smma_progress *progress, size_t done, size_t all);
void smma_progress_end(void);

bool smma_ends_with(const char *text, const char *end);

#endif
