#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/row.h"
#include "rows/generate.h"
#include "rows/text.h"

/* Rows that are made together. */
enum { BATCH = 4096 };

/* Rows index 0 .. rows - 1. */
static void write_rows(FILE *stream, const smma_instruction *i, uint64_t rows, uint64_t seed, smma_row_kind kind) {
  smma_progress progress;
  smma_vector_header header;
  smma_rows batch;
  if (!smma_rows_allocate(i, BATCH, &batch)) smma_die("out of memory");
  smma_vector_header_of(i, &header);
  smma_vector_write_header(stream, &header);
  smma_progress_start(&progress, "rows", 1);
  if (isatty(fileno(stream))) progress.enabled = false; /* the rows show it */
  for (uint64_t index = 0; index < rows && !ferror(stream); index += BATCH) {
    const size_t count = rows - index < BATCH ? (size_t)(rows - index) : BATCH;
    const smma_batch view = smma_rows_batch(&batch, 0, count, NULL);
    smma_generate_rows(&batch, seed, index, count, kind == SMMA_ROWS_KINDS ? SMMA_ROWS_OF_GEN : 0, kind);
    smma_dot_rows(i, &view, 0);
    if (!smma_vector_write_rows(stream, &batch, count)) smma_die("out of memory");
    smma_progress_show(&progress, index, rows);
  }
  smma_progress_end();
  smma_rows_free(&batch);
}

int smma_command_gen(int argc, const char **argv) {
  const char *gpu = NULL, *name = NULL, *kind_name = NULL, *path = "-";
  long long rows = 1000, seed = 0;
  smma_row_kind kind = SMMA_ROWS_KINDS;
  const smma_instruction *i;
  smma_output output;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &name, 0, "the instruction, by name or alias", "NAME"},
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "how many rows", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      {"kind", 'k', POPT_ARG_STRING, &kind_name, 0,
       "random, normal, edge, zeros, tiny, cancellation, ill or network; the first six in turn without it", "K"},
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write; - (without it): standard output", "FILE"},
      POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0,
                     "Row i of a seed is the same on every machine. 'softmma verify' reads what gen writes.\n");
  if (rows < 0) smma_die("--rows: %lld is negative", rows);
  if (kind_name) kind = smma_require_kind(kind_name);
  gpu = smma_require_option(gpu, "--on", "H100");
  i = smma_require_instruction(gpu, name, "--instr");
  smma_begin_output(path, "--output", &output);
  write_rows(output.stream, i, (uint64_t)rows, (uint64_t)seed, kind);
  return smma_end_output(&output, "--output");
}
