#include <limits.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/row.h"
#include "coverage/cover.h"

enum {
  BATCH = 1 << 18, /* rows between two looks at what was written */
  TRIES = 1 << 21  /* rows among which --cover searches */
};

typedef struct {
  const smma_instruction *instruction;
  uint64_t rows, seed;
  smma_row_kind kind;      /* SMMA_ROWS_KINDS: in turn */
  const smma_cover *cover; /* its rows, and more like them; or NULL */
} generation;

static void cover_rows(const generation *g, uint64_t first, size_t count, smma_rows *rows) {
  for (size_t n = 0; n < count; n++) {
    const uint64_t index = first + n;
    smma_row row;
    if (index < g->cover->count)
      smma_rows_get(&g->cover->rows, (size_t)index, &row);
    else
      smma_cover_row(g->cover, g->seed, index, &row);
    smma_rows_put(rows, n, &row);
  }
}

static void make_rows(void *context, uint64_t first, size_t count, smma_rows *rows) {
  const generation *g = context;
  const smma_batch view = smma_rows_batch(rows, 0, count, NULL);
  if (g->cover)
    cover_rows(g, first, count, rows);
  else
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

static bool show_search(uint64_t tries, size_t events, void *context) {
  (void)events;
  smma_progress_show(context, tries, TRIES);
  return false;
}

static smma_cover find_cover(const smma_instruction *i, uint64_t seed) {
  smma_event_space space;
  smma_cover cover;
  smma_progress progress;
  if (!smma_event_space_make(i, &space)) smma_die("--cover: no events are known of %s", i->name);
  smma_progress_start(&progress, "rows", 1);
  if (!smma_cover_find(&space, i, seed, TRIES, show_search, &progress, &cover)) smma_die("out of memory");
  smma_progress_end();
  smma_note("%zu rows make %zu of %zu events happen that are not impossible; %llu were tried", cover.count,
            cover.events, space.events - cover.excluded, (unsigned long long)cover.tries);
  return cover;
}

int smma_command_gen(int argc, const char **argv) {
  const char *gpu = NULL, *name = NULL, *kind_name = NULL, *format_name = NULL, *path = "-";
  long long rows = LLONG_MIN, seed = 0;
  int covers = 0;
  bool written;
  smma_cover cover;
  smma_row_kind kind = SMMA_ROWS_KINDS;
  const smma_instruction *i;
  smma_vector_format format;
  generation g;
  smma_output output;
  smma_error error;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &name, 0, "the instruction, by name or alias", "NAME"},
      {"rows", 'n', POPT_ARG_LONGLONG, &rows, 0, "how many rows (default: 1000)", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      {"kind", 'k', POPT_ARG_STRING, &kind_name, 0,
       "random, normal, edge, zeros, tiny, cancellation, ill, network, schryer or aimed; the first six in turn without "
       "it",
       "K"},
      {"cover", 0, POPT_ARG_NONE, &covers, 0,
       "few rows that make all happen that coverage counts; with --rows, more like them", NULL},
      SMMA_VECTOR_FORMAT_OPTION(&format_name, "; text without it"),
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write; - (without it): standard output", "FILE"},
      POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0,
                     "Row i of a seed is the same on every machine. 'softmma verify' reads what gen writes.\n");
  if (rows < 0 && rows != LLONG_MIN) smma_die("--rows: %lld is negative", rows);
  if (covers && kind_name) smma_die("--cover and --kind do not go together; leave one out");
  if (rows < 0) rows = covers ? 0 : 1000;
  format = smma_require_vector_format(format_name);
  if (kind_name) kind = smma_require_kind(kind_name);
  gpu = smma_require_option(gpu, "--on", "H100");
  i = smma_require_instruction(gpu, name, "--instr");
  g = (generation){i, (uint64_t)rows, (uint64_t)seed, kind, NULL};
  if (covers) {
    cover = find_cover(i, g.seed);
    g.cover = &cover;
    if (g.rows < cover.count) g.rows = cover.count;
  }
  smma_begin_output(path, "--output", &output);
  written = write_rows(output.stream, &g, format, &error);
  if (covers) smma_cover_free(&cover);
  if (written) return smma_end_output(&output, "--output");
  smma_drop_output(&output);
  return smma_complain("%s", error.text);
}
