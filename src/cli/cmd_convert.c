/* softmma vectors convert: writes a vector file in another format. */
#include <errno.h>
#include <string.h>

#include "cli/output.h"
#include "cli/row.h"
#include "rows/copy.h"

static bool show(uint64_t done, uint64_t all, void *progress) {
  smma_progress_show(progress, done, all);
  return false;
}

int smma_command_convert(int argc, const char **argv) {
  const char **files, *format_name = NULL, *path = "-";
  smma_vector_format format;
  smma_output output;
  smma_progress progress;
  smma_error error;
  FILE *in;
  bool done;
  int status;
  struct poptOption options[] = {
      SMMA_VECTOR_FORMAT_OPTION(&format_name, " (default: by the ending of -o: .txt, .bin or .hex)"),
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write; - is standard output (default: -)", "FILE"},
      POPT_TABLEEND};
  files = smma_parse_options(
      argc, argv, options, 1, 1,
      "FILE is text or binary, which its first byte shows; - is standard input. The header and the test\n"
      "vectors are copied; comments are not.\n",
      &status);
  if (!files) return status;
  smma_require(smma_read_vector_format(format_name, path, &format, &error), &error);
  if (!format_name && format == SMMA_VECTOR_TEXT && !smma_ends_with(path, ".txt"))
    smma_die("--format is missing: text, binary or readmemh, or -o FILE.txt, FILE.bin or FILE.hex");
  in = smma_is_standard_output(files[0]) ? stdin : fopen(files[0], "r");
  if (!in) smma_die("%s: %s", files[0], strerror(errno));
  smma_require(smma_begin_output(path, "--output", &output, &error), &error);
  smma_progress_start(&progress, "rows", 1);
  done =
      smma_vectors_copy(in, in == stdin ? "standard input" : files[0], output.stream, format, show, &progress, &error);
  smma_progress_end();
  if (in != stdin) fclose(in);
  if (done) return smma_end_output(&output, "--output");
  smma_drop_output(&output);
  return smma_complain("%s", error.text);
}
