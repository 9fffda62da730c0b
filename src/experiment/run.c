#include "experiment/run.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/part.h"
#include "host/thread.h"
#include "softmma/softmma.h"

void smma_experiment_start(smma_experiment_run *run, const smma_experiment *experiment, bool small) {
  *run = (smma_experiment_run){.experiment = experiment};
  for (size_t i = 0; experiment->parameters[i].name; i++)
    run->value[i] = small ? experiment->parameters[i].small : experiment->parameters[i].value;
}

bool smma_experiment_set(smma_experiment_run *run, const char *assignment, smma_error *error) {
  const smma_experiment *e = run->experiment;
  size_t length = strcspn(assignment, "=");
  if (!assignment[length]) return smma_fail(error, "'%s' is not NAME=VALUE", assignment);
  for (size_t i = 0; e->parameters[i].name; i++) {
    if (strlen(e->parameters[i].name) != length || strncmp(e->parameters[i].name, assignment, length) != 0) continue;
    run->value[i] = assignment + length + 1;
    if (strpbrk(run->value[i], "\r\n")) return smma_fail(error, "%s: a value is one line", e->parameters[i].name);
    return true;
  }
  return smma_fail(error, "%s has no parameter '%.*s' (see 'softmma experiment %s --help')", e->name, (int)length,
                   assignment, e->name);
}

/* ---- Text ---- */

void smma_experiment_print_head(const smma_experiment_run *run, FILE *out) {
  const smma_experiment *e = run->experiment;
  fprintf(out, "# experiment: %s\n# softmma: %s\n# seed: %lld\n", e->name, smma_version(), (long long)run->seed);
  for (size_t i = 0; e->parameters[i].name; i++) fprintf(out, "# %s: %s\n", e->parameters[i].name, run->value[i]);
}

static void print_head_and_columns(const smma_experiment_run *run, FILE *out) {
  const char *const *column = run->experiment->columns;
  smma_experiment_print_head(run, out);
  for (; *column; column++) fprintf(out, "%s%c", *column, column[1] ? ',' : '\n');
}

void smma_experiment_print_source(const smma_experiment *e, FILE *out) {
  enum { COLUMNS = 98 };
  const char *word = e->source;
  size_t column = 1;
  putc('(', out);
  while (*word) {
    size_t length = strcspn(word, " ");
    bool breaks = column + 1 + length > COLUMNS;
    if (word != e->source) putc(breaks ? '\n' : ' ', out);
    fwrite(word, 1, length, out);
    column = (breaks ? 0 : column + 1) + length;
    word += length + (word[length] == ' ');
  }
  fputs(")\n", out);
}

void smma_experiment_print_summary(const smma_experiment_run *run, FILE *out) {
  fprintf(out, "%s: %s\n", run->experiment->name, run->experiment->title);
  smma_experiment_print_source(run->experiment, out);
  putc('\n', out);
  run->experiment->summarise(run, out);
}

static char *head_text(const smma_experiment_run *run) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  print_head_and_columns(run, out);
  return fclose(out) == 0 ? text : NULL;
}

void smma_experiment_print_csv(const smma_experiment_run *run, FILE *out) {
  const char *const *field = run->field;
  print_head_and_columns(run, out);
  for (size_t row = 0; row < run->row_count; row++)
    for (const char *const *column = run->experiment->columns; *column; column++)
      fprintf(out, "%s%c", *field++, column[1] ? ',' : '\n');
}

/* ---- The table ---- */

static char *join(char *const *rows, size_t cells) {
  size_t size = 1, used = 0;
  char *text;
  for (size_t i = 0; i < cells; i++) size += strlen(rows[i]);
  text = malloc(size);
  for (size_t i = 0; text && i < cells; used += strlen(rows[i++])) strcpy(text + used, rows[i]);
  return text;
}

/* Splits the text into fields. */
static bool make_table(smma_experiment_run *run, char *const *rows, size_t cells, smma_error *error) {
  size_t fields = 0, columns = 0;
  char *at;
  while (run->experiment->columns[columns]) columns++;
  run->text = join(rows, cells);
  for (at = run->text; at && *at; at++) fields += *at == ',' || *at == '\n';
  run->field = malloc((fields + 1) * sizeof *run->field);
  if (!run->text || !run->field) return smma_no_memory(error);
  at = run->text;
  for (size_t i = 0; i < fields; i++) {
    run->field[i] = at;
    at += strcspn(at, ",\n");
    *at++ = '\0';
  }
  run->row_count = fields / columns;
  return true;
}

void smma_experiment_end(smma_experiment_run *run) {
  free(run->text);
  free(run->field);
}

/* ---- Cells ---- */

typedef struct {
  const smma_experiment_state *state;
  smma_part part;
  char **rows;             /* rows of each cell; NULL: not computed */
  size_t cells, all, done; /* cells: number of cells in all shards; all: number in this shard; done: number of these
                              that are computed */
  smma_watcher *watcher;
  void *context;
  bool stopped, failed;
  smma_error *error;
} progress;

/* Returns the rows of one cell, or NULL with a one-line message. */
static char *compute_cell(const smma_experiment_run *run, size_t cell, smma_error *error) {
  smma_experiment_run own = *run;
  char *text = NULL;
  size_t size;
  bool computed;
  own.fields = 0;
  own.rows = open_memstream(&text, &size);
  computed = own.rows && run->experiment->compute(&own, cell, error);
  if (!own.rows || fclose(own.rows) != 0) {
    smma_no_memory(error);
    computed = false;
  }
  if (computed) return text;
  free(text);
  return NULL;
}

/* Stores the rows of a cell. Called by one thread at a time. */
static void keep(progress *p, size_t cell, char *rows, const smma_error *error) {
  p->rows[cell] = rows;
  if (p->failed) return;
  if (!rows)
    *p->error = *error;
  else if (!p->state->part || smma_part_add(&p->part, cell, rows, p->error))
    p->stopped |= p->watcher && p->watcher(++p->done, p->all, p->context);
  else
    rows = NULL;
  p->failed = !rows;
}

static bool is_own(const progress *p, size_t cell) {
  return p->state->shards == 0 || cell % p->state->shards == p->state->shard;
}

static bool wants_more(progress *p) {
  bool more;
#pragma omp critical(smma_experiment)
  more = !p->stopped && !p->failed;
  return more;
}

static void compute_cells(const smma_experiment_run *run, progress *p, int threads) {
  (void)threads; /* without OpenMP */
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (size_t cell = 0; cell < p->cells; cell++) {
    smma_error error;
    char *rows;
    if (p->rows[cell] || !is_own(p, cell) || !wants_more(p)) continue;
    rows = compute_cell(run, cell, &error);
#pragma omp critical(smma_experiment)
    keep(p, cell, rows, &error);
  }
}

/* Opens this shard's file, which is continued, and the files of other shards. Copies the rows that they hold. */
static bool open_files(smma_experiment_run *run, progress *p) {
  char *head = head_text(run);
  bool opened = head || smma_no_memory(p->error);
  if (p->state->part) opened = opened && smma_part_open(&p->part, p->state->part, head, p->rows, p->cells, p->error);
  for (size_t n = 0; opened && n < p->state->count; n++)
    opened = smma_part_read(p->state->more[n], head, p->rows, p->cells, p->error);
  free(head);
  return opened;
}

static bool compute_and_keep(smma_experiment_run *run, int threads, progress *p) {
  if (!open_files(run, p)) return false;
  for (size_t i = 0; i < p->cells; i++) p->all += is_own(p, i), p->done += is_own(p, i) && p->rows[i] != NULL;
  compute_cells(run, p, smma_threads(threads));
  return !p->failed;
}

bool smma_experiment_compute(smma_experiment_run *run, int threads, const smma_experiment_state *state,
                             smma_watcher *watcher, void *context, bool *stopped, smma_error *error) {
  progress p = {.state = state, .watcher = watcher, .context = context, .error = error};
  bool done;
  run->context = calloc(1, run->experiment->context_bytes + 1);
  done = (run->context || smma_no_memory(error)) && run->experiment->prepare(run, &p.cells, error);
  if (done) p.rows = calloc(p.cells + 1, sizeof *p.rows);
  done = done && (p.rows || smma_no_memory(error)) && compute_and_keep(run, threads, &p);
  done = smma_part_close(&p.part, done ? error : NULL) && done;
  *stopped = done && p.done < p.all;
  if (done && !*stopped && p.all == p.cells) done = make_table(run, p.rows, p.cells, error);
  for (size_t i = 0; p.rows && i < p.cells; i++) free(p.rows[i]);
  free(p.rows);
  if (run->context && run->experiment->finish) run->experiment->finish(run);
  free(run->context);
  return done;
}
