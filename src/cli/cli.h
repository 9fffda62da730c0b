/* Functions for all commands: options, errors, output, progress. */
#ifndef SMMA_CLI_CLI_H
#define SMMA_CLI_CLI_H

#include <popt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "datum/datum.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/notes.h"
#include "isa/catalogue.h"
#include "isa/formats.h"
#include "softmma/softmma.h"

/* Exit statuses of the program, as softmma(1) documents them. */
enum { SMMA_EXIT_EQUAL = 0, SMMA_EXIT_DIFFERENT = 1, SMMA_EXIT_FAILED = 2 };

/* A command. `summary` is an imperative sentence without its full stop; `examples` holds one command line per line. */
typedef struct {
  const char *name, *arguments, *summary, *examples;
  int (*run)(int argc, const char **argv);
} smma_command;

extern const smma_command smma_commands[];
extern const size_t smma_command_count;

/* Another name of a command. `line` is the command line that it stands for, such as "vectors gen". A former name prints
   a note with the new name. */
typedef struct {
  const char *name, *line;
  bool former;
} smma_command_name;

extern const smma_command_name smma_command_names[];
extern const size_t smma_command_name_count;

#define SMMA_COMMAND(name, ...) int smma_command_##name(int argc, const char **argv);
#define SMMA_COMMAND_OF_TWO(one, two, ...) int smma_command_##one##_##two(int argc, const char **argv);
#define SMMA_COMMAND_IN(word, name, ...) int smma_command_##name(int argc, const char **argv);
#include "cli/commands.h"

/* Returns a command line in which argv[1] is the full name of a command, or NULL without memory. The caller frees the
   array. */
const char **smma_command_line(int *argc, const char **argv);

/* Prints a note if the command line has a former name of a command. */
void smma_note_former_name(void);

/* Prints "softmma: " and one line on stderr, with control characters replaced by '?'. Returns SMMA_EXIT_FAILED. */
int smma_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the same line as smma_complain, then ends the program and all its ranks with SMMA_EXIT_FAILED. */
_Noreturn void smma_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program with the error's line unless `good`. For cmd_*.c only, like smma_die: all other functions return
   whether they succeeded and fill an error, so that only a command's own function ends the program. */
static inline void smma_require(bool good, const smma_error *error) {
  if (!good) smma_die("%s", error->text);
}

/* For checks that do not depend on each other, so that all their errors are reported: smma_check prints the error's
   line unless `good`, which it returns. Then smma_end_of_checks ends the program with SMMA_EXIT_FAILED if a check
   failed. */
bool smma_check(bool good, const smma_error *error);
void smma_end_of_checks(void);

/* Ends the program with a study's error. If its text is "MEMBER: reason", prints the option that sets this member of
   the request in place of the member. */
_Noreturn void smma_die_of(const smma_error *error);

/* Returns the option that sets a member of a study's request: "--split-k" for "split_k", "-C" for "c". */
const char *smma_option_of(const char *member, char text[64]);

/* Whether --quiet was given, which stops notes and progress. */
extern bool smma_is_quiet;

/* Set by --strict: commands refuse instructions whose model is based only on reports or assumptions. */
extern bool smma_is_strict;

/* Prints a note on stderr ("softmma: note: ..."), for information that is not an error. Only rank 0 prints notes. */
void smma_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The receiver that prints notes of the library in this way. */
extern const smma_notes smma_notes_printed;

/* An entry of a table of options that starts a new group in --help. The options before the first such entry stand under
   "Options:". */
extern struct poptOption smma_no_options[];
#define SMMA_OPTION_GROUP(heading) \
  { NULL, 0, POPT_ARG_INCLUDE_TABLE, smma_no_options, 0, heading, NULL }

/* Parses the command's options into the variables of the table. Returns the remaining arguments, followed by NULL;
   there must be `least` to `most` of them, and they live as long as the program, as do the values of options. If the
   table has the option "on", arguments that name targets (smma_names_target) become values of this option instead.
   Returns NULL if the command is to return `*status` at once: --help has printed the help, with `details` (may be NULL)
   after the options, or an error one line. */
const char **smma_parse_options(int argc, const char **argv, struct poptOption *table, int least, int most,
                                const char *details, int *status);

/* Returns the name of an option among `names`, separated by blanks, that the command line has, or NULL. */
const char *smma_given_option(const char *names);

/* Fails if the command line has an option that has no effect in this use of the command: one that is not among `used`,
   which are long names separated by spaces. The error names the use, such as "--list". */
bool smma_check_options(const char *use, const char *used, smma_error *error);

/* Returns the command of that name, which may have two words, or NULL if the name is unknown. */
const smma_command *smma_find_command(const char *name);

/* Runs a command, which calls smma_parse_options itself. argv[0] is the command's name. */
int smma_run_command(const smma_command *command, int argc, const char **argv);

/* Returns the instruction, or NULL with --strict if its model rests on reports or assumptions alone. Prints a note,
   once, if the model rests on a report without rows. */
const smma_instruction *smma_check_basis(const smma_instruction *instruction, const char *gpu, smma_error *error);

/* Return the instruction, architecture or format that the text names; NULL, SMMA_ARCH_COUNT or SMMA_NO_FORMAT with an
   error if the name is unknown. The error names `option`, which may be NULL for an instruction. `gpu` is the name of a
   GPU or architecture. */
const smma_instruction *smma_by_formats(const char *gpu, const smma_formats *formats, const char *option,
                                        smma_error *error);
smma_arch_id smma_arch_of_option(const char *gpu, const char *option, smma_error *error);
smma_format smma_format_of_option(const char *name, const char *option, smma_error *error);

/* Fails if the text is spelled like a format, such as e9m9, but there is no such format. */
bool smma_check_spelling(const char *text, smma_error *error);

/* Reads the formats of --in (or of the option that `option` names) and of --out, which may be NULL. */
bool smma_formats_of_options(const char *in, const char *option, const char *out, smma_formats *formats,
                             smma_error *error);

/* Reports whether the option is given, that is, whether `value` is not NULL. If it is not given, the error names the
   option and shows an example. */
bool smma_is_given(const char *value, const char *option, const char *example, smma_error *error);

/* Installs handlers: SIGINT, SIGTERM, SIGHUP and SIGQUIT end the program and its child processes and remove unfinished
   files. Call it at the start of the program. */
void smma_handle_signals(void);

/* Changes how libraries end the program: with status 2 and without unfinished files if they call exit(), and with one
   line if OpenMP gets no threads. Call this at the start of the program, and smma_end_normally before the program calls
   exit() itself. */
void smma_handle_library_exits(void);
void smma_end_normally(void);

/* Changes the effect of the first interruption: smma_interrupted becomes true, units stop, and the command has one
   second to save its state. After that second, or on a second interruption, the program ends. */
void smma_wait_for_interruption(void);
bool smma_interrupted(void);

/* Returns the text of a record's element, or NULL if there is no such text. */
static inline const char *smma_text_at(const smma_datum *record, const char *key) {
  return smma_datum_text_of(smma_datum_get(record, key));
}

/* Set by --csv: smma_print_datum prints the table of a result as CSV. */
extern bool smma_prints_csv;

/* Prints a study's result as JSON or CSV and frees it. If that fails, because memory ran out or there is no table,
   smma_finish_output says so. */
void smma_print_datum(smma_datum *datum);

/* Flushes stdout. Returns `status`, or complains and returns SMMA_EXIT_FAILED if not all output was written. Call it at
   the end of each command. */
int smma_finish_output(int status);

/* Reports whether the command has finished its output. This can be so although its status is SMMA_EXIT_FAILED, which
   some commands also return for an answer such as "cannot tell". */
bool smma_output_is_finished(void);

/* Progress of long work: a line on stderr, updated once a second, if stderr is a terminal. The line shows the rate and,
   if `all` is not 0, the remaining time. */
typedef struct {
  const char *unit; /* such as "products"; if NULL, no rate is shown */
  double per_step;  /* units in one step; 0: the line shows `unit` and the number of steps, and no rate */
  double started, shown;
  bool enabled;
} smma_progress;

void smma_progress_start(smma_progress *progress, const char *unit, double per_step);

/* A watcher of studies (host/watch.h), whose context is a smma_progress: shows it, and returns smma_interrupted(). */
bool smma_progress_watch(size_t done, size_t all, void *progress);
void smma_progress_show(smma_progress *progress, size_t done, size_t all);
void smma_progress_end(void);

bool smma_ends_with(const char *text, const char *end);

/* Fails if the name of an output file ends as files of another format do. `right`: the endings of its own format. */
bool smma_check_ending(const char *path, const char *option, const char *right, smma_error *error);

#endif
