#include <unistd.h>

#include "cli/output.h"
#include "cli/row.h"

enum { BATCH = 1 << 18 /* rows between two looks at what was written */ };

typedef struct {
  const smma_instruction *instruction;
  uint64_t rows, seed;
  smma_row_kind kind; /* SMMA_ROWS_KINDS: in turn */
} generation;

static void make_rows(void *context, uint64_t first, size_t count, smma_rows *rows) {
  const generation *g = context;
  const smma_batch view = smma_rows_batch(rows, 0, count, NULL);
  smma_generate_rows(rows, g->seed, first, count, g->kind == SMMA_ROWS_KINDS ? SMMA_ROWS_OF_GEN : 0, g->kind);
  smma_dot_rows(g->instruction, &view, 1);
}

/* Rows index 0 .. rows - 1. */
static bool write_rows(FILE *stream, generation *g, smma_vector_format format, smma_error *error) {
  smma_progress progress;
  smma_vector_header header;
  smma_vector_writer *writer;
  bool done;
  smma_vector_header_of(g->instruction, &header);
  writer = smma_vector_create(stream, format, &header, g->rows, error);
  done = writer != NULL;
  smma_progress_start(&progress, "rows", 1);
  if (isatty(fileno(stream))) progress.enabled = false; /* the rows show it */
  for (uint64_t index = 0; done && index < g->rows && !ferror(stream); index += BATCH) {
    const size_t count = g->rows - index < BATCH ? (size_t)(g->rows - index) : BATCH;
    done = smma_vector_produce(writer, g->instruction, index, count, make_rows, g, error);
    smma_progress_show(&progress, index, g->rows);
  }
  smma_progress_end();
  done = done && (ferror(stream) || smma_vector_finish(writer, error));
  smma_vector_free(writer);
  return done;
}

int smma_command_gen(int argc, const char **argv) {
  const char *gpu = NULL, *name = NULL, *kind_name = NULL, *format_name = NULL, *path = "-";
  long long rows = 1000, seed = 0;
  smma_row_kind kind = SMMA_ROWS_KINDS;
  const smma_instruction *i;
  smma_vector_format format;
  generation g;
  smma_output output;
  smma_error error;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &name, 0, "the instruction, by name or alias", "NAME"},
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "how many rows", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      {"kind", 'k', POPT_ARG_STRING, &kind_name, 0,
       "random, normal, edge, zeros, tiny, cancellation, ill or network; the first six in turn without it", "K"},
      SMMA_VECTOR_FORMAT_OPTION(&format_name, "; text without it"),
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write; - (without it): standard output", "FILE"},
      POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0,
                     "Row i of a seed is the same on every machine. 'softmma verify' reads what gen writes.\n");
  if (rows < 0) smma_die("--rows: %lld is negative", rows);
  format = smma_require_vector_format(format_name);
  if (kind_name) kind = smma_require_kind(kind_name);
  gpu = smma_require_option(gpu, "--on", "H100");
  i = smma_require_instruction(gpu, name, "--instr");
  g = (generation){i, (uint64_t)rows, (uint64_t)seed, kind};
  smma_begin_output(path, "--output", &output);
  if (write_rows(output.stream, &g, format, &error)) return smma_end_output(&output, "--output");
  smma_drop_output(&output);
  return smma_complain("%s", error.text);
}
