#include "cli/cli.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/ranks.h"
#include "host/thread.h"
#include "io/file.h"
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

static void refuse_threads(int threads, int error) {
  smma_die(
      "the system refuses to make %d threads: %s; let this user have more processes, or set OMP_NUM_THREADS=1 or "
      "--threads 1",
      threads, strerror(error));
}

void smma_handle_library_exits(void) {
  own_process = getpid();
  smma_threads_refused = refuse_threads;
  atexit(fail_with_library);
}

void smma_end_normally(void) { ends_itself = true; }

static _Noreturn void end_failed(void) {
  smma_outputs_remove_unfinished(_exit, SMMA_EXIT_FAILED);
  smma_ranks_abort(SMMA_EXIT_FAILED);
  smma_end_normally();
  exit(SMMA_EXIT_FAILED);
}

void smma_die(const char *format, ...) {
  va_list arguments;
  smma_ranks_defer();
  va_start(arguments, format);
  print_line("softmma: ", format, arguments);
  va_end(arguments);
  end_failed();
}

static bool has_failed_check;

bool smma_check(bool good, const smma_error *error) {
  if (!good) smma_complain("%s", error->text);
  has_failed_check |= !good;
  return good;
}

void smma_end_of_checks(void) {
  if (has_failed_check) end_failed();
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

bool smma_is_quiet, smma_is_strict;

void smma_note(const char *format, ...) {
  va_list arguments;
  if (smma_rank() || smma_is_quiet) return;
  va_start(arguments, format);
  print_line("softmma: note: ", format, arguments);
  va_end(arguments);
}

static void print_note(const char *text, void *context) {
  (void)context;
  smma_note("%s", text);
}

const smma_notes smma_notes_printed = {print_note, NULL};

smma_arch_id smma_arch_of_option(const char *gpu, const char *option, smma_error *error) {
  smma_error why;
  const smma_arch_id arch = smma_resolve_arch(gpu, &why);
  if (arch == SMMA_ARCH_COUNT) smma_fail(error, "%s: %s (see 'softmma list --gpus')", option, why.text);
  return arch;
}

const smma_instruction *smma_check_basis(const smma_instruction *i, const char *gpu, smma_error *error) {
  static const char report[] = "Only a report without results is known";
  static bool is_noted;
  const smma_basis basis = smma_instruction_basis(i);
  const char *evidence = *i->rule->evidence;
  if (smma_is_strict && (basis == SMMA_BASIS_REPORTED || basis == SMMA_BASIS_ASSUMED)) {
    smma_fail(error,
              "--strict: the model of %s on %s is only %s ('softmma show %s %s' has its evidence); leave --strict out "
              "to use it",
              i->name, gpu, smma_basis_name(basis), gpu, i->name);
    return NULL;
  }
  if (!is_noted && evidence && strncmp(evidence, report, strlen(report)) == 0) {
    smma_note("%s: %s", gpu, evidence);
    is_noted = true;
  }
  return i;
}

const smma_instruction *smma_by_formats(const char *gpu, const smma_formats *formats, const char *option,
                                        smma_error *error) {
  smma_error why;
  const smma_instruction *i;
  if (smma_arch_of_option(gpu, "--on", error) == SMMA_ARCH_COUNT) return NULL;
  i = smma_find_by_formats(gpu, formats, &why);
  if (i) return smma_check_basis(i, gpu, error);
  smma_fail(error, "%s%s%s", option ? option : "", option ? ": " : "", why.text);
  return NULL;
}

bool smma_check_spelling(const char *text, smma_error *error) {
  char why[160];
  smma_spelled_from_text(text, strlen(text), why, sizeof why);
  return !*why || smma_fail(error, "%s", why);
}

smma_format smma_format_of_option(const char *name, const char *option, smma_error *error) {
  const smma_format format = smma_format_from_text(name);
  smma_error why;
  if (format != SMMA_NO_FORMAT) return format;
  smma_refuse_unknown_format(name, false, &why);
  smma_fail(error, "%s: %s", option, why.text);
  return SMMA_NO_FORMAT;
}

bool smma_formats_of_options(const char *in, const char *option, const char *out, smma_formats *formats,
                             smma_error *error) {
  smma_error why;
  const smma_format d = out ? smma_format_of_option(out, "--out", error) : SMMA_NO_FORMAT;
  if (out && d == SMMA_NO_FORMAT) return false;
  return smma_formats_from_text(in, d, formats, &why) == SMMA_OK || smma_fail(error, "%s: %s", option, why.text);
}

bool smma_is_given(const char *value, const char *option, const char *example, smma_error *error) {
  return value || smma_fail(error, "%s is missing; for example %s %s", option, option, example);
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

static void go_on(int number) { (void)number; }

void smma_handle_signals(void) {
  struct sigaction ending = {.sa_handler = handle_signal}, late = {.sa_handler = end_late},
                   full = {.sa_handler = go_on}, before;
  for (int i = 0; i < ENDING_SIGNALS; i++) { /* a signal that the parent process made ignored stays ignored */
    sigaddset(&ending.sa_mask, ending_signals[i]);
    if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(ending_signals[i], &ending, NULL);
  }
  sigaction(SIGALRM, &late, NULL);
  sigaction(SIGXFSZ, &full, NULL); /* a file that reaches its limit is an error of writing */
}

void smma_wait_for_interruption(void) {
  waits_for_interruption = 1;
  smma_units_stop_when(smma_interrupted);
}

bool smma_interrupted(void) { return interrupted; }

bool smma_prints_csv;
static smma_error of_output; /* why a result was not printed, or no text */

void smma_print_datum(smma_datum *datum) {
  smma_error why;
  if (!smma_datum_is_complete(datum)) {
    smma_no_memory(&of_output);
  } else if (!smma_prints_csv) {
    smma_datum_write(datum, stdout, SMMA_JSON_LINES);
    putchar('\n');
  } else if (!smma_datum_write_csv(datum, stdout, &why)) {
    smma_fail(&of_output, "--csv: %s; type --json", why.text);
  }
  smma_datum_free(datum);
}

static bool is_finished;

bool smma_output_is_finished(void) { return is_finished; }

int smma_finish_output(int status) {
  if (*of_output.text) return smma_complain("%s", of_output.text);
  is_finished = fflush(stdout) == 0 && !ferror(stdout);
  if (is_finished) return status;
  return smma_complain("could not write the output; is the disk full or the pipe closed?");
}

bool smma_ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool smma_check_ending(const char *path, const char *option, const char *right, smma_error *error) {
  static const char *const endings[] = {".json", ".csv",         ".tsv",   ".parquet", ".npy",  ".npz",  ".svg",
                                        ".png",  ".safetensors", ".pt",    ".xlsx",    ".html", ".yaml", ".txt",
                                        ".bin",  ".hex",         ".jsonl", ".ndjson",  ".pkl",  ".pdf",  ".h5"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (smma_ends_with(path, endings[i]) && !strstr(right, endings[i]))
      return smma_fail(error, "%s: '%s': no %s file is written here; name a %s file", option, path, endings[i] + 1,
                       right);
  return true;
}

/* Whether a progress line is on the terminal now. */
static bool line_is_up;

void smma_progress_start(smma_progress *p, const char *unit, double per_step) {
  *p = (smma_progress){unit, per_step, smma_seconds(), 0,
                       isatty(STDERR_FILENO) != 0 && smma_rank() == 0 && !smma_is_quiet};
}

void smma_progress_show(smma_progress *p, size_t done, size_t all) {
  double now = smma_seconds(), elapsed = now - p->started, rate;
  if (!p->enabled || done == 0 || elapsed < 1 || now - p->shown < 1) return;
  p->shown = now;
  rate = (double)done / elapsed;
  fputs("\r\033[K", stderr);
  if (p->unit && p->per_step == 0) fprintf(stderr, "%s: %zu", p->unit, done);
  if (p->unit && p->per_step > 0)
    fprintf(stderr, "%.3g million %s/s%s", rate * p->per_step / 1e6, p->unit, all ? ", " : "");
  if (all) fprintf(stderr, "%.0f %% done", 100.0 * (double)done / (double)all);
  if (all && done >= all / 100) fprintf(stderr, ", %.0f s left", (double)(all - done) / rate);
  fflush(stderr);
  line_is_up = true;
}

bool smma_progress_watch(size_t done, size_t all, void *progress) {
  smma_progress_show(progress, done, all);
  return smma_interrupted();
}

void smma_progress_end(void) {
  if (line_is_up) fputs("\r\033[K", stderr);
  line_is_up = false;
}
