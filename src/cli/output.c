#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cluster/ranks.h"
#include "page/page.h"

bool smma_is_standard_output(const char *path) { return strcmp(path, "-") == 0; }

int smma_write_output(const char *path, const char *option, smma_output_writer *write, const void *content) {
  smma_output output = {.stream = stdout};
  const bool to_file = !smma_is_standard_output(path);
  smma_error error;
  if (to_file && !smma_output_open(path, &output, &error)) return smma_complain("%s: %s", option, error.text);
  if (!write(output.stream, content, &error)) {
    if (to_file) smma_output_abandon(&output);
    return smma_complain("%s", error.text);
  }
  if (!to_file) return smma_finish_output(SMMA_EXIT_EQUAL);
  return smma_output_commit(&output, &error) ? SMMA_EXIT_EQUAL : smma_complain("%s: %s", option, error.text);
}

/* ---- -o of commands that print: standard output becomes a file ---- */

static smma_output redirected; /* the file that standard output goes to; the stream is NULL if there is none */

int smma_redirect_output(const char *path) {
  smma_error error;
  if (!path || smma_is_standard_output(path) || smma_rank()) return SMMA_EXIT_EQUAL;
  if (!*path) return smma_complain("-o: the name of the file is empty");
  if (!smma_output_open(path, &redirected, &error)) return smma_complain("-o: %s", error.text);
  fflush(stdout);
  if (dup2(fileno(redirected.stream), STDOUT_FILENO) >= 0) return SMMA_EXIT_EQUAL;
  smma_output_abandon(&redirected);
  return smma_complain("-o: %s: cannot write: %s", path, strerror(errno));
}

bool smma_output_is_redirected(void) { return redirected.stream != NULL; }

/* Reports whether nothing was written to a file. */
static bool is_empty(const smma_output *output) {
  struct stat status;
  return fstat(fileno(output->stream), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

int smma_finish_redirection(int status) {
  smma_error error;
  if (!redirected.stream) return status;
  if (status != SMMA_EXIT_FAILED) status = smma_finish_output(status);
  const bool empty = is_empty(&redirected);
  if (status != SMMA_EXIT_FAILED && empty)
    status = smma_complain("-o: %s: nothing was printed; leave -o out", redirected.path);
  if (smma_output_is_finished() && !empty)
    return smma_output_commit(&redirected, &error) ? status : smma_complain("-o: %s", error.text);
  smma_output_abandon(&redirected);
  return status;
}

/* ---- Files of other options ---- */

static bool write_text(FILE *stream, const void *text, smma_error *error) {
  (void)error;
  fputs(text, stream);
  return true;
}

int smma_write_text(const char *path, const char *option, char *text) {
  const int status = smma_write_output(path, option, write_text, text);
  free(text);
  return status;
}

static bool write_datum(FILE *stream, const void *datum, smma_error *error) {
  if (!smma_datum_is_complete(datum)) return smma_no_memory(error);
  smma_datum_write(datum, stream, SMMA_JSON_COMPACT);
  fputc('\n', stream);
  return true;
}

int smma_write_datum(const char *path, const char *option, smma_datum *datum) {
  const int status = smma_write_output(path, option, write_datum, datum);
  smma_datum_free(datum);
  return status;
}

static bool write_page(FILE *stream, const void *parts, smma_error *error) {
  return smma_page_write(stream, parts) || ferror(stream) || smma_no_memory(error);
}

int smma_write_page(const char *path, const char *option, smma_datum *parts) {
  const int status = smma_write_output(path, option, write_page, parts);
  smma_datum_free(parts);
  return status;
}

int smma_write_unit(const char *path, const char *option, const smma_instruction *unit) {
  const size_t size = smma_custom_text(unit, NULL, 0) + 1;
  char *text = malloc(size);
  if (!text) return smma_complain("out of memory");
  smma_custom_text(unit, text, size);
  return smma_write_text(path, option, text);
}

int smma_write_plan(const char *path, const smma_plan *plan) {
  const size_t size = smma_plan_text(plan, NULL, 0) + 1;
  char *text = malloc(size);
  if (!text) return smma_complain("out of memory");
  smma_plan_text(plan, text, size);
  return smma_write_text(path, "-o", text);
}

bool smma_check_writable(const char *path, const char *option, smma_error *error) {
  struct stat status;
  smma_output output;
  smma_error why;
  const bool direct = stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  if (!*path) return smma_fail(error, "%s: the name of the file is empty", option);
  if (direct || smma_is_standard_output(path))
    return true; /* a pipe that is opened and closed would end for its reader */
  if (!smma_output_open(path, &output, &why)) return smma_fail(error, "%s: %s", option, why.text);
  smma_output_abandon(&output);
  return true;
}

bool smma_check_file(const char *path, const char *option, const char *taken_by, smma_error *error) {
  return !smma_is_standard_output(path) ||
         smma_fail(error, "%s: '-' is standard output, which takes %s; name a file (./- for one of that name)", option,
                   taken_by);
}

int smma_terminal_width(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 80) return size.ws_col > 120 ? 120 : size.ws_col;
  return 120;
}
