#include <errno.h>
#include <string.h>

#include "cli/output.h"
#include "cli/row.h"

/* Rows that are read together, and between two looks at what was written. */
enum { BATCH = 1 << 15 };
_Static_assert(BATCH % SMMA_VECTOR_PART == 0, "batches are whole parts");

/* All rows of an open reader. */
static bool copy_rows(smma_vector_reader *reader, smma_vector_writer *writer, const smma_vector_header *header,
                      FILE *stream, smma_error *error) {
  const smma_instruction shape = smma_vector_shape(header);
  smma_vector_status status = SMMA_VECTOR_ROW;
  smma_progress progress;
  uint64_t all = 0, copied = 0;
  smma_rows rows;
  bool done = smma_rows_allocate(&shape, BATCH, &rows) || smma_no_memory(error);
  smma_vector_count(reader, &all);
  smma_progress_start(&progress, "rows", 1);
  while (done && status == SMMA_VECTOR_ROW && !ferror(stream)) {
    size_t count;
    status = smma_vector_read_rows(reader, &rows, NULL, &count, error);
    done = status != SMMA_VECTOR_ERROR && smma_vector_write_rows(writer, &rows, count, error);
    copied += count;
    smma_progress_show(&progress, copied, all);
  }
  smma_progress_end();
  smma_rows_free(&rows);
  return done && (ferror(stream) || smma_vector_finish(writer, error));
}

/* The header must name an instruction, as everything that reads the copy asks for. */
static bool convert(FILE *in, const char *path, FILE *out, smma_vector_format format, smma_error *error) {
  smma_vector_header header;
  smma_vector_writer *writer = NULL;
  uint64_t rows = SMMA_ROWS_LATER;
  smma_vector_reader *reader = smma_vector_open(in, path, &header, error);
  bool done = reader && smma_instruction_of_header(&header, path, error);
  if (done) {
    smma_vector_count(reader, &rows);
    writer = smma_vector_create(out, format, &header, rows, error);
    done = writer && copy_rows(reader, writer, &header, out, error);
  }
  smma_vector_free(writer);
  smma_vector_close(reader);
  return done;
}

int smma_command_convert(int argc, const char **argv) {
  const char **files, *format_name = NULL, *path = "-";
  smma_vector_format format;
  smma_output output;
  smma_error error;
  FILE *in;
  bool done;
  struct poptOption options[] = {
      SMMA_VECTOR_FORMAT_OPTION(&format_name, ""),
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write; - (without it): standard output", "FILE"},
      POPT_TABLEEND};
  files =
      smma_parse_options(argc, argv, options, 1, 1,
                         "FILE is text or binary, which its first byte tells; - is standard input. Header and rows\n"
                         "are kept, comments are not.\n"
                         "Example: softmma convert rows.txt --format binary -o rows.bin\n");
  format = smma_require_vector_format(smma_require_option(format_name, "--format", "binary"));
  in = smma_is_standard_output(files[0]) ? stdin : fopen(files[0], "r");
  if (!in) smma_die("%s: %s", files[0], strerror(errno));
  smma_begin_output(path, "--output", &output);
  done = convert(in, in == stdin ? "standard input" : files[0], output.stream, format, &error);
  if (in != stdin) fclose(in);
  if (done) return smma_end_output(&output, "--output");
  smma_drop_output(&output);
  return smma_complain("%s", error.text);
}
