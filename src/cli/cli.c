#include "cli/cli.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/target.h"
#include "cluster/ranks.h"
#include "io/count.h"
#include "io/file.h"
#include "isa/nearest.h"
#include "unit/child.h"
#include "unit/unit.h"

static void print_line(const char *prefix, const char *format, va_list arguments) {
  char text[4096];
  vsnprintf(text, sizeof text, format, arguments);
  smma_make_printable(text);
  smma_progress_end();
  if (smma_rank())
    fprintf(stderr, "%srank %zu: %s\n", prefix, smma_rank(), text);
  else
    fprintf(stderr, "%s%s\n", prefix, text);
}

int smma_complain(const char *format, ...) {
  va_list arguments;
  smma_ranks_defer();
  va_start(arguments, format);
  print_line("softmma: ", format, arguments);
  va_end(arguments);
  return SMMA_EXIT_FAILED;
}

/* popt and libgomp end the program with status 1 if they get no memory or no threads. */
static bool ends_itself;
static pid_t own_process; /* child processes run foreign code, which may exit with any status */

static void fail_with_library(void) {
  if (ends_itself || getpid() != own_process) return;
  smma_outputs_remove_unfinished(_exit, SMMA_EXIT_FAILED);
  smma_kill_children();
  _exit(SMMA_EXIT_FAILED);
}

void smma_handle_library_exits(void) {
  own_process = getpid();
  atexit(fail_with_library);
}

void smma_end_normally(void) { ends_itself = true; }

void smma_die(const char *format, ...) {
  va_list arguments;
  smma_ranks_defer();
  va_start(arguments, format);
  print_line("softmma: ", format, arguments);
  va_end(arguments);
  smma_outputs_remove_unfinished(_exit, SMMA_EXIT_FAILED);
  smma_ranks_abort(SMMA_EXIT_FAILED);
  smma_end_normally();
  exit(SMMA_EXIT_FAILED);
}

const char *smma_option_of(const char *member, char text[64]) {
  const bool is_c = strcmp(member, "c") == 0;
  snprintf(text, 64, is_c ? "-C" : "--%s", member);
  for (char *c = text; *c; c++)
    if (*c == '_') *c = '-';
  return text;
}

void smma_die_of(const smma_error *error) {
  const size_t length = strspn(error->text, "abcdefghijklmnopqrstuvwxyz_");
  char member[32], option[64];
  if (!length || length >= sizeof member || strncmp(error->text + length, ": ", 2) != 0) smma_die("%s", error->text);
  memcpy(member, error->text, length);
  member[length] = 0;
  smma_die("%s%s", smma_option_of(member, option), error->text + length);
}

void smma_note(const char *format, ...) {
  va_list arguments;
  if (smma_rank()) return;
  va_start(arguments, format);
  print_line("softmma: note: ", format, arguments);
  va_end(arguments);
}

enum { MOST_OPTIONS = 48, MOST_GROUPS = 8 };

struct poptOption smma_no_options[] = {POPT_TABLEEND};

/* The command that runs. */
static const smma_command *command;

int smma_run_command(const smma_command *one, int argc, const char **argv) {
  command = one;
  return command->run(argc, argv);
}

/* Memory that popt allocated: the context, which owns the remaining arguments, and the values of string options. */
static poptContext context;
static char *strings[MOST_OPTIONS];

static void free_options(void) {
  for (int i = 0; i < MOST_OPTIONS; i++) free(strings[i]);
  poptFreeContext(context);
}

/* Fills `values` with the values of string options, and with NULL for the other options. */
static void list_strings(const struct poptOption *table, char *values[MOST_OPTIONS]) {
  for (int i = 0; i < MOST_OPTIONS && (table[i].longName || table[i].arg); i++)
    values[i] = (table[i].argInfo & POPT_ARG_MASK) == POPT_ARG_STRING ? *(char **)table[i].arg : NULL;
}

/* Notes which strings popt has copied, to free them at exit: all that are no longer the table's defaults. */
static void own_strings(const struct poptOption *table, char *const defaults[MOST_OPTIONS]) {
  list_strings(table, strings);
  for (int i = 0; i < MOST_OPTIONS; i++)
    for (int j = 0; j < MOST_OPTIONS; j++) /* two names of one option have one string */
      if (strings[i] && (strings[i] == defaults[j] || (j < i && strings[i] == strings[j]))) strings[i] = NULL;
  atexit(free_options);
}

static void print_command_help(const char *details) {
  printf("%c%s.\n\n", toupper((unsigned char)command->summary[0]), command->summary + 1);
  fflush(stdout);
  poptPrintHelp(context, stdout, 0);
  if (details) printf("\n%s", details);
  smma_ranks_end();
  smma_end_normally();
  exit(smma_finish_output(SMMA_EXIT_EQUAL));
}

/* Ends the program because of an unknown option, with the known options nearest to it. One letter has no nearest. */
static _Noreturn void fail_unknown_option(const struct poptOption *table, const char *bad, const char *program_name) {
  const char *name = bad + strspn(bad, "-");
  char wanted[64], candidate[64], list[256];
  smma_nearest nearest;
  snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(name, "="), name);
  if (strlen(wanted) < 2) smma_die("%s: unknown option (see '%s --help')", bad, program_name);
  smma_nearest_start(&nearest, wanted);
  for (int i = 0; i < MOST_OPTIONS && (table[i].longName || table[i].arg); i++) {
    if (!table[i].longName || table[i].argInfo & POPT_ARGFLAG_DOC_HIDDEN) continue;
    snprintf(candidate, sizeof candidate, "--%s", table[i].longName);
    smma_nearest_consider(&nearest, candidate, table[i].longName);
  }
  smma_nearest_consider(&nearest, "--help", "help");
  smma_nearest_list(&nearest, list, sizeof list);
  smma_die("%s: unknown option; nearest: %s (see '%s --help')", bad, list, program_name);
}

/* Ends the program because of an option's value, as in "--rows: 'abc'". popt reports only the value or only the option,
   so the command line is searched for both. */
static _Noreturn void fail_option(int argc, const char **argv, const char *bad, int code) {
  for (int i = 2; i < argc; i++)
    if (bad[0] != '-' && argv[i - 1][0] == '-' && strcmp(argv[i], bad) == 0)
      smma_die("%s: '%s': %s (see '%s --help')", argv[i - 1], bad, poptStrerror(code), argv[0]);
  smma_die("%s: %s (see '%s --help')", bad, poptStrerror(code), argv[0]);
}

/* ---- The table that popt reads: smma_read_count reads integers instead of popt, and groups have headings ---- */

static struct poptOption counted[MOST_OPTIONS];       /* the command's table, as popt sees it */
static struct poptOption all_groups[MOST_GROUPS + 2]; /* parts of `counted` with their headings, and --help */
static char descriptions[MOST_OPTIONS][512];

static bool is_count(const struct poptOption *o) {
  const unsigned type = o->argInfo & POPT_ARG_MASK;
  return type == POPT_ARG_INT || type == POPT_ARG_LONGLONG;
}

/* Reports whether the option takes a list: the text for its argument is a list, such as "GPU,...". Further uses of the
   option add elements. */
static bool is_list(const struct poptOption *o) {
  return o->argDescrip && (strchr(o->argDescrip, ',') || strcmp(o->argDescrip, "LIST") == 0);
}

static bool is_string(const struct poptOption *o) { return (o->argInfo & POPT_ARG_MASK) == POPT_ARG_STRING; }

static long long count_of(const struct poptOption *o) {
  return (o->argInfo & POPT_ARG_MASK) == POPT_ARG_INT ? *(int *)o->arg : *(long long *)o->arg;
}

static bool is_group(const struct poptOption *o) { return o->arg == smma_no_options; }

/* Writes the default of a count or a string into its description. */
static void describe_default(const struct poptOption *o, char *text, size_t size) {
  if (!(o->argInfo & POPT_ARGFLAG_SHOW_DEFAULT))
    snprintf(text, size, "%s", o->descrip ? o->descrip : "");
  else if (is_count(o))
    snprintf(text, size, "%s (default: %lld)", o->descrip, count_of(o));
  else
    snprintf(text, size, "%s (default: %s)", o->descrip, *(char **)o->arg);
}

/* Fills `counted`: popt returns the index in the table, plus 1, for each count and string, and reads a count as a
   string. Fills `all_groups` with the groups, and returns their number. */
static int take_options(const struct poptOption *table) {
  int groups = 0;
  all_groups[groups++] = (struct poptOption){NULL, 0, POPT_ARG_INCLUDE_TABLE, counted, 0, "Options:", NULL};
  for (int i = 0; i < MOST_OPTIONS; i++) {
    counted[i] = table[i];
    if (!table[i].longName && !table[i].arg) break;
    if (is_group(&table[i])) {
      counted[i] = (struct poptOption)POPT_TABLEEND; /* of the group before */
      all_groups[groups++] =
          (struct poptOption){NULL, 0, POPT_ARG_INCLUDE_TABLE, &counted[i + 1], 0, table[i].descrip, NULL};
    }
    if (!is_string(&table[i]) && !is_count(&table[i])) continue;
    describe_default(&table[i], descriptions[i], sizeof descriptions[i]);
    counted[i].descrip = descriptions[i];
    counted[i].argInfo &= ~(unsigned)POPT_ARGFLAG_SHOW_DEFAULT;
    counted[i].val = i + 1;
    if (!is_count(&table[i])) continue;
    counted[i].argInfo = POPT_ARG_STRING;
    counted[i].arg = NULL;
  }
  return groups;
}

/* Reads the value of a count, which popt has just parsed. */
static void store_count(const struct poptOption *o) {
  char *text = poptGetOptArg(context);
  long long value = 0;
  const bool is_int = (o->argInfo & POPT_ARG_MASK) == POPT_ARG_INT;
  if (!text || !smma_read_count(text, &value) || (is_int && (value > INT_MAX || value < INT_MIN)))
    smma_die("--%s: '%s' is no " SMMA_COUNT_WORDS "%s", o->longName, text ? text : "",
             is_int ? ", or greater than a number can be here" : ", or not below 2^63");
  free(text);
  if (is_int)
    *(int *)o->arg = (int)value;
  else
    *(long long *)o->arg = value;
}

/* ---- Repeated options: a list gets further elements; for any other option the last value counts ---- */

/* Puts the elements that were given before in front of those in the option's variable. */
static void append_to_list(const struct poptOption *o, char *before) {
  char **now = o->arg;
  const size_t size = strlen(before) + strlen(*now) + 2;
  char *joined = malloc(size);
  if (!joined) smma_die("out of memory");
  snprintf(joined, size, "%s,%s", before, *now);
  free(*now);
  *now = joined;
}

/* Stores the value that popt has read for option `o` of the table. `given` holds the strings of earlier uses, at the
   index of the first option with the same variable. */
static void take_value(const struct poptOption *table, const struct poptOption *o, char *given[MOST_OPTIONS]) {
  int index = 0;
  while (table[index].arg != o->arg) index++;
  if (is_count(o)) store_count(o);
  if (!is_string(o)) return;
  if (!*(char **)o->arg) smma_die("out of memory"); /* popt failed to copy it */
  if (given[index] && is_list(o)) append_to_list(o, given[index]);
  free(given[index]);
  given[index] = *(char **)o->arg;
}

/* Writes what stands after the command's name in its help: the arguments, and the examples. */
static void describe_usage(char *text, size_t size) {
  const char *example = command->examples;
  size_t used = (size_t)snprintf(text, size, "%s\n\nExamples:", *command->arguments ? command->arguments : "[options]");
  while (*example && used < size) {
    const int length = (int)strcspn(example, "\n");
    used += (size_t)snprintf(text + used, size - used, "\n  %.*s", length, example);
    example += length + (example[length] == '\n');
  }
}

const char **smma_parse_options(int argc, const char **argv, struct poptOption *table, int least, int most,
                                const char *details) {
  static char program[64];
  static const char *none[] = {NULL};
  const char **rest;
  char *defaults[MOST_OPTIONS] = {NULL};
  char *given[MOST_OPTIONS] = {NULL};
  char usage[1024];
  int code, count = 0, help = 0, groups;
  struct poptOption help_table[] = {{"help", 'h', POPT_ARG_NONE, &help, 0, "show this help", NULL}, POPT_TABLEEND};
  snprintf(program, sizeof program, "softmma %s", command->name);
  argv[0] = program;
  groups = take_options(table);
  all_groups[groups++] = (struct poptOption){NULL, 0, POPT_ARG_INCLUDE_TABLE, help_table, 0, "Help:", NULL};
  all_groups[groups] = (struct poptOption)POPT_TABLEEND;
  context = poptGetContext(program, argc, argv, all_groups, 0);
  if (!context) smma_die("out of memory");
  describe_usage(usage, sizeof usage);
  poptSetOtherOptionHelp(context, usage);
  list_strings(table, defaults);
  while ((code = poptGetNextOpt(context)) > 0) take_value(table, &table[code - 1], given);
  own_strings(table, defaults);
  if (help) print_command_help(details);
  if (code == POPT_ERROR_BADOPT) fail_unknown_option(table, poptBadOption(context, POPT_BADOPTION_NOALIAS), program);
  if (code < -1) fail_option(argc, argv, poptBadOption(context, POPT_BADOPTION_NOALIAS), code);
  rest = poptGetArgs(context);
  if (!rest) rest = none;
  while (rest[count]) count++;
  if (count < least) smma_die("too few arguments: %s %s (see '%s --help')", program, command->arguments, program);
  if (count > most) smma_die("unexpected argument '%s' (see '%s --help')", rest[most], program);
  return rest;
}

smma_arch_id smma_require_arch(const char *gpu, const char *option) {
  smma_error error;
  smma_arch_id arch = smma_resolve_arch(gpu, &error);
  if (arch == SMMA_ARCH_COUNT) smma_die("%s: %s (see 'softmma list --gpus')", option, error.text);
  return arch;
}

const smma_instruction *smma_require_instruction(const char *gpu, const char *name, const char *option) {
  const smma_target target = smma_require_target(gpu);
  return smma_require_of_target(&target, name, option);
}

const smma_instruction *smma_require_by_formats(const char *gpu, const smma_formats *formats, const char *option) {
  smma_error error;
  const smma_instruction *i;
  smma_require_arch(gpu, "--on");
  i = smma_find_by_formats(gpu, formats, &error);
  if (!i) smma_die("%s%s%s", option ? option : "", option ? ": " : "", error.text);
  return i;
}

smma_format smma_require_format(const char *name, const char *option) {
  smma_format format = smma_format_from_text(name);
  smma_error error;
  if (format != SMMA_NO_FORMAT) return format;
  smma_refuse_unknown_format(name, false, &error);
  smma_die("%s: %s", option, error.text);
}

smma_formats smma_require_formats(const char *in, const char *option, const char *out) {
  smma_formats formats;
  smma_error error;
  smma_format d = out ? smma_require_format(out, "--out") : SMMA_NO_FORMAT;
  if (smma_formats_from_text(in, d, &formats, &error) != SMMA_OK) smma_die("%s: %s", option, error.text);
  return formats;
}

const char *smma_require_option(const char *value, const char *option, const char *example) {
  if (!value) smma_die("%s is missing; for example %s %s", option, option, example);
  return value;
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

static volatile sig_atomic_t interrupted, waits_for_interruption;

/* Removes unfinished files, kills child processes, and ends the program by the signal's default action. */
static void end_at_once(int number) {
  const struct sigaction usual = {.sa_handler = SIG_DFL};
  if (!smma_outputs_remove_unfinished(end_at_once, number)) return;
  smma_kill_children();
  sigaction(number, &usual, NULL);
  raise(number); /* takes effect when the handler returns */
}

static void handle_signal(int number) {
  if (waits_for_interruption && !interrupted) {
    interrupted = number;
    alarm(1);
  } else {
    end_at_once(number);
  }
}

static void end_late(int number) {
  (void)number;
  end_at_once(interrupted);
}

void smma_handle_signals(void) {
  struct sigaction ending = {.sa_handler = handle_signal}, late = {.sa_handler = end_late}, before;
  for (int i = 0; i < ENDING_SIGNALS; i++) { /* a signal that the parent process made ignored stays ignored */
    sigaddset(&ending.sa_mask, ending_signals[i]);
    if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(ending_signals[i], &ending, NULL);
  }
  sigaction(SIGALRM, &late, NULL);
}

void smma_wait_for_interruption(void) {
  waits_for_interruption = 1;
  smma_units_stop_when(smma_interrupted);
}

bool smma_interrupted(void) { return interrupted; }

void smma_print_datum(smma_datum *datum) {
  if (!smma_datum_is_complete(datum)) smma_die("out of memory");
  smma_datum_write(datum, stdout, SMMA_JSON_LINES);
  putchar('\n');
  smma_datum_free(datum);
}

int smma_finish_output(int status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  return smma_complain("could not write the output; is the disk full or the pipe closed?");
}

bool smma_ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Whether a progress line is on the terminal now. */
static bool line_is_up;

void smma_progress_start(smma_progress *p, const char *unit, double per_step) {
  *p = (smma_progress){unit, per_step, smma_seconds(), 0, isatty(STDERR_FILENO) != 0 && smma_rank() == 0};
}

void smma_progress_show(smma_progress *p, size_t done, size_t all) {
  double now = smma_seconds(), elapsed = now - p->started, rate;
  if (!p->enabled || done == 0 || elapsed < 1 || now - p->shown < 1) return;
  p->shown = now;
  rate = (double)done / elapsed;
  fputs("\r\033[K", stderr);
  if (p->unit) fprintf(stderr, "%.3g million %s/s%s", rate * p->per_step / 1e6, p->unit, all ? ", " : "");
  if (all)
    fprintf(stderr, "%.0f %% done, %.0f s left ", 100.0 * (double)done / (double)all, (double)(all - done) / rate);
  fflush(stderr);
  line_is_up = true;
}

void smma_progress_end(void) {
  if (line_is_up) fputs("\r\033[K", stderr);
  line_is_up = false;
}
