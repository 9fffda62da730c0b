#include "cli/output.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

bool smma_is_standard_output(const char *path) { return strcmp(path, "-") == 0; }

void smma_begin_output(const char *path, const char *option, smma_output *output) {
  smma_error error;
  if (smma_is_standard_output(path)) {
    *output = (smma_output){.stream = stdout, .path = NULL, .temporary = NULL};
    return;
  }
  if (!smma_output_open(path, output, &error)) smma_die("%s: %s", option, error.text);
}

int smma_end_output(smma_output *output, const char *option) {
  smma_error error;
  bool written;
  if (output->stream == stdout) return smma_finish_output(SMMA_EXIT_EQUAL);
  written = smma_output_commit(output, &error);
  return written ? SMMA_EXIT_EQUAL : smma_complain("%s: %s", option, error.text);
}

void smma_drop_output(smma_output *output) {
  if (output->stream == stdout) return;
  smma_output_abandon(output);
}

void smma_require_writable(const char *path, const char *option) {
  struct stat status;
  smma_output output;
  smma_error error;
  const bool direct = stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  if (!*path) smma_die("%s: the name of the file is empty", option);
  if (direct || smma_is_standard_output(path)) return; /* a pipe that is opened and closed would end for its reader */
  if (!smma_output_open(path, &output, &error)) smma_die("%s: %s", option, error.text);
  smma_output_abandon(&output);
}

void smma_require_file(const char *path, const char *option, const char *taken_by) {
  if (!smma_is_standard_output(path)) return;
  smma_die("%s: '-' is standard output, which takes %s; name a file (./- for one of that name)", option, taken_by);
}
