/* softmma vectors convert: writes a vector file in another format. */
#include <errno.h>
#include <string.h>

#include "cli/output.h"
#include "cli/row.h"
#include "rows/copy.h"

/* The input, and the format of the output. */
typedef struct {
  FILE *stream;
  const char *name;
  smma_vector_format format;
} conversion;

static bool write_rows(FILE *stream, const void *content, smma_error *error) {
  const conversion *c = content;
  smma_progress progress;
  bool done;
  smma_progress_start(&progress, "rows", 1);
  done = smma_vectors_copy(c->stream, c->name, stream, c->format, smma_progress_watch, &progress, error);
  smma_progress_end();
  return done;
}

int smma_command_convert(int argc, const char **argv) {
  const char **files, *format_name = NULL, *path = NULL;
  conversion c;
  smma_error error;
  int status;
  struct poptOption options[] = {
      SMMA_VECTOR_FORMAT_OPTION(&format_name,
                                " (default: by the ending of -o: .txt, .bin, .hex, .csv, .json or .jsonl)"),
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write; - is standard output (default: -)", "FILE"},
      POPT_TABLEEND};
  files = smma_parse_options(
      argc, argv, options, 1, 2,
      "FILE has any form but readmemh; its beginning shows which. - is standard input. The header and the test\n"
      "vectors are copied; comments are not.\n",
      &status);
  if (!files) return status;
  if (files[1] && path) smma_die("-o: '%s' is the file to write already; leave one out", files[1]);
  if (files[1]) path = files[1];
  if (!path) path = "-";
  smma_require(smma_read_vector_format(format_name, path, &c.format, &error), &error);
  if (!format_name && c.format == SMMA_VECTOR_TEXT && !smma_ends_with(path, ".txt"))
    smma_die("--format is missing: " SMMA_VECTOR_FORMAT_NAMES
             ", or -o FILE with the ending .txt, .bin, .hex, .csv, .json or .jsonl");
  c.stream = smma_is_standard_output(files[0]) ? stdin : fopen(files[0], "r");
  if (!c.stream) smma_die("%s: %s", files[0], strerror(errno));
  c.name = c.stream == stdin ? "standard input" : files[0];
  status = smma_write_output(path, "--output", write_rows, &c);
  if (c.stream != stdin) fclose(c.stream);
  return status;
}
