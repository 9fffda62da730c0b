#include "cli/output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

bool smma_is_standard_output(const char *path) { return strcmp(path, "-") == 0; }

bool smma_begin_output(const char *path, const char *option, smma_output *output, smma_error *error) {
  smma_error why;
  *output = (smma_output){.stream = stdout, .path = NULL, .temporary = NULL};
  return smma_is_standard_output(path) || smma_output_open(path, output, &why) ||
         smma_fail(error, "%s: %s", option, why.text);
}

int smma_end_output(smma_output *output, const char *option) {
  smma_error error;
  bool written;
  if (output->stream == stdout) return smma_finish_output(SMMA_EXIT_EQUAL);
  written = smma_output_commit(output, &error);
  return written ? SMMA_EXIT_EQUAL : smma_complain("%s: %s", option, error.text);
}

int smma_write_text(const char *path, const char *option, char *text) {
  smma_output output;
  smma_error error;
  if (!smma_begin_output(path, option, &output, &error)) return free(text), smma_complain("%s", error.text);
  fputs(text, output.stream);
  free(text);
  return smma_end_output(&output, option);
}

int smma_write_plan(const char *path, const smma_plan *plan) {
  const size_t size = smma_plan_text(plan, NULL, 0) + 1;
  char *text = malloc(size);
  if (!text) return smma_complain("out of memory");
  smma_plan_text(plan, text, size);
  return smma_write_text(path, "-o", text);
}

void smma_drop_output(smma_output *output) {
  if (output->stream == stdout) return;
  smma_output_abandon(output);
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
