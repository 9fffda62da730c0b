#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/row.h"
#include "host/thread.h"
#include "rows/generate.h"
#include "rows/text.h"

/* Rows that are written together, and those of them that one thread makes at a time. */
enum { BATCH = 16384, PART = 256 };

typedef struct {
  const smma_instruction *instruction;
  uint64_t rows, seed;
  smma_row_kind kind; /* SMMA_ROWS_KINDS: in turn */
} generation;

/* Rows from `first` on, as many as there is room for, as text. */
static void make_part(const generation *g, uint64_t first, size_t count, smma_rows *room, char *text) {
  const smma_batch view = smma_rows_batch(room, 0, count, NULL);
  smma_generate_rows(room, g->seed, first, count, g->kind == SMMA_ROWS_KINDS ? SMMA_ROWS_OF_GEN : 0, g->kind);
  smma_dot_rows(g->instruction, &view, 1);
  smma_vector_put_rows(text, room, count);
}

/* The same on all cores. */
static void make_batch(const generation *g, uint64_t first, size_t count, size_t length, char *text) {
#pragma omp parallel num_threads(smma_default_threads()) if (count > PART)
  {
    smma_rows room;
    if (!smma_rows_allocate(g->instruction, PART, &room)) smma_die("out of memory");
#pragma omp for schedule(dynamic)
    for (size_t at = 0; at < count; at += PART)
      make_part(g, first + at, count - at < PART ? count - at : PART, &room, text + at * length);
    smma_rows_free(&room);
  }
}

/* Rows index 0 .. rows - 1. */
static void write_rows(FILE *stream, const generation *g) {
  const smma_row_layout layout = smma_row_layout_of(g->instruction);
  const size_t length = smma_vector_line_length(&layout);
  char *text = malloc(BATCH * length);
  smma_progress progress;
  smma_vector_header header;
  if (!text) smma_die("out of memory");
  smma_vector_header_of(g->instruction, &header);
  smma_vector_write_header(stream, &header);
  smma_progress_start(&progress, "rows", 1);
  if (isatty(fileno(stream))) progress.enabled = false; /* the rows show it */
  for (uint64_t index = 0; index < g->rows && !ferror(stream); index += BATCH) {
    const size_t count = g->rows - index < BATCH ? (size_t)(g->rows - index) : BATCH;
    make_batch(g, index, count, length, text);
    fwrite(text, 1, count * length, stream);
    smma_progress_show(&progress, index, g->rows);
  }
  smma_progress_end();
  free(text);
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
  write_rows(output.stream, &(generation){i, (uint64_t)rows, (uint64_t)seed, kind});
  return smma_end_output(&output, "--output");
}
