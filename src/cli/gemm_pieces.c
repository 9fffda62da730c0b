/* A product in pieces: the ranks stand in a grid over D, each has a block of it and goes through the block piece by
   piece, each with the whole of K, so that a piece's elements are computed as in one product. A piece's rows of A stay
   while columns of B pass. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/gemm.h"
#include "cli/output.h"
#include "cluster/ranks.h"
#include "host/count.h"
#include "matrix/npy.h"

enum { EVEN = 64, MOST_PATH = 4096 };

/* What an axis of a file goes along: D's rows, D's columns, or neither, so that a piece has all of it. */
typedef enum { ROWS, COLUMNS, ALL } axis;

typedef struct {
  const char *path, *what;
  smma_format wanted;
  smma_rounding rounding;
  axis down, across;
  smma_npy_file file;
  smma_conversion lost; /* of elements that this rank is the one to count */
} source;

/* In the order in which a whole product notes what it rounds. */
enum { OF_SCALE_A, OF_SCALE_B, OF_BIAS, OF_METADATA, OF_C, OF_A, OF_B, SOURCES };

/* Rows and columns of D. */
typedef struct {
  size_t first[2], count[2];
} region;

typedef struct {
  const smma_gemm_options *options;
  smma_gemm_product *product;
  source of[SOURCES]; /* path NULL: there is none */
  region block;       /* of this rank */
  size_t most[2];     /* rows and columns of a piece */
  smma_output output; /* of rank 0 */
  smma_npy_file d;
  char temporary[MOST_PATH];
  smma_progress progress;
  size_t done, all;
} job;

/* ---- What there is ---- */

static smma_tensor shape_of(const smma_npy_layout *l) {
  return (smma_tensor){l->format, l->bytes, l->rows, l->columns, NULL, l->integers};
}

static void open_source(source *s, const char *path, const char *what, smma_format wanted, axis down, axis across) {
  smma_error error;
  *s = (source){.path = path, .what = what, .wanted = wanted, .down = down, .across = across};
  if (!smma_npy_open(path, &s->file, &error)) smma_die("%s", error.text);
}

static void open_shaped(source *s, const char *path, const char *option, smma_format wanted, axis down, axis across,
                        size_t rows, size_t columns, const char *needed_by) {
  smma_tensor shape;
  open_source(s, path, option, wanted, down, across);
  shape = shape_of(&s->file.layout);
  smma_require_shape(&shape, path, option, rows, columns, needed_by);
}

static void refuse(const smma_gemm_options *o, const smma_gemm_product *p) {
  if (p->method.kind != SMMA_METHOD_NONE || smma_method_is(&o->method, "fallback"))
    smma_die("--method: %s is of whole matrices, not of pieces; leave out --memory and mpirun", o->method.method);
  if (p->instruction->scale_block && !o->scale_a)
    smma_die(
        "A and B are quantised as a whole, not in pieces; give --scale-a and --scale-b, or leave out --memory and "
        "mpirun");
}

static void open_sources(job *j, const char **paths) {
  const smma_gemm_options *o = j->options;
  smma_gemm_product *p = j->product;
  const smma_instruction *i = p->instruction;
  smma_gemm_arguments *g = &p->arguments;
  smma_tensor a, b;
  open_source(&j->of[OF_A], paths[0], "A", i->a, o->transpose_a ? ALL : ROWS, o->transpose_a ? ROWS : ALL);
  open_source(&j->of[OF_B], paths[1], "B", i->b, o->transpose_b ? COLUMNS : ALL, o->transpose_b ? ALL : COLUMNS);
  a = shape_of(&j->of[OF_A].file.layout), b = shape_of(&j->of[OF_B].file.layout);
  smma_require_meaning(&a, i->a, "A", paths[0]);
  smma_require_meaning(&b, i->b, "B", paths[1]);
  j->of[OF_A].rounding = p->rounding.a, j->of[OF_B].rounding = p->rounding.b;
  smma_gemm_take_shapes(o, paths, &a, &b, i->sparse, g);
  if (o->c) open_shaped(&j->of[OF_C], o->c, "-C", i->c, ROWS, COLUMNS, g->m, g->n, "A*B is");
  if (o->c) j->of[OF_C].what = "C";
  if (o->scale_a) {
    const size_t part = smma_plan_scaled_k(p->plan), each = part ? part : (size_t)i->scale_block;
    const size_t blocks = g->k / each + (g->k % each != 0);
    const smma_format format = part ? SMMA_F32 : i->scale;
    open_shaped(&j->of[OF_SCALE_A], o->scale_a, "--scale-a", format, ROWS, ALL, g->m, blocks, "this product needs");
    open_shaped(&j->of[OF_SCALE_B], o->scale_b, "--scale-b", format, ALL, COLUMNS, blocks, g->n, "this product needs");
  }
  if (o->bias) open_shaped(&j->of[OF_BIAS], o->bias, "--bias", SMMA_F32, ALL, COLUMNS, 1, g->n, "this product needs");
  if (o->metadata)
    open_shaped(&j->of[OF_METADATA], o->metadata, "--metadata", SMMA_U8, ROWS, ALL, g->m, g->k / 2,
                "this product needs");
}

/* ---- Who computes what ---- */

/* Bytes of a line along K: as it is read and as it is multiplied. */
static size_t line_bytes(const job *j, int which) {
  const source *s = &j->of[which];
  return j->product->arguments.k * ((size_t)s->file.layout.bytes + smma_format_bytes(s->wanted)) + 1;
}

/* The grid in which a rank reads least, and this rank's block. */
static void choose_block(job *j) {
  const smma_gemm_arguments *g = &j->product->arguments;
  const double row = (double)line_bytes(j, OF_A), column = (double)line_bytes(j, OF_B);
  const size_t ranks = smma_ranks();
  size_t down = 1, at[2];
  double fewest = 0;
  for (size_t n = 1; n <= ranks; n++) {
    const double reads = row * (double)(g->m / n) + column * (double)(g->n / (ranks / n));
    if (ranks % n == 0 && (fewest == 0 || reads < fewest)) fewest = reads, down = n;
  }
  at[0] = smma_rank() % down, at[1] = smma_rank() / down;
  for (int axis_of_d = 0; axis_of_d < 2; axis_of_d++) {
    const size_t size = axis_of_d ? g->n : g->m, parts = axis_of_d ? ranks / down : down, n = at[axis_of_d],
                 each = size / parts, more = size % parts; /* the first `more` have one more */
    j->block.first[axis_of_d] = n * each + smma_least(n, more);
    j->block.count[axis_of_d] = each + (n < more);
  }
}

static size_t even(size_t count) { return count < EVEN ? count : count / EVEN * EVEN; }

/* A third of the memory each for lines of A, lines of B, and the piece of D with C. */
static void choose_pieces(job *j) {
  const size_t memory = (size_t)(j->options->memory ? j->options->memory : SMMA_GEMM_MEMORY), third = memory / 3,
               row = line_bytes(j, OF_A), column = line_bytes(j, OF_B),
               element = smma_format_bytes(j->product->d.format) + 2 * sizeof(double);
  if (row > third || column > third)
    smma_die("--memory: %zu bytes do not hold a row of A and a column of B, of K = %zu, and what they become; give %zu",
             memory, j->product->arguments.k, 3 * (row > column ? row : column));
  j->most[0] = smma_least(third / row, j->block.count[0]);
  j->most[1] = smma_least(third / column, j->block.count[1]);
  while (j->most[0] * j->most[1] > third / element + 1)
    if (j->most[0] > j->most[1])
      j->most[0] = (j->most[0] + 1) / 2;
    else
      j->most[1] = (j->most[1] + 1) / 2;
  for (int n = 0; n < 2; n++) j->most[n] = even(j->most[n] ? j->most[n] : 1);
}

/* ---- Pieces ---- */

static void range_of(axis along, const region *r, size_t all, size_t *first, size_t *count) {
  *first = along == ALL ? 0 : r->first[along];
  *count = along == ALL ? all : r->count[along];
}

static bool goes_along(const source *s, axis along) { return s->down == along || s->across == along; }

/* An element that several pieces read counts in those at the start of the axis that it does not go along. */
static bool counts(const source *s, const region *r) {
  return (goes_along(s, ROWS) || r->first[ROWS] == 0) && (goes_along(s, COLUMNS) || r->first[COLUMNS] == 0);
}

static smma_tensor read_piece(source *s, const region *r) {
  const smma_npy_layout *l = &s->file.layout;
  size_t row, rows, column, columns;
  smma_conversion ignored = {0};
  smma_tensor part, taken;
  smma_error error;
  range_of(s->down, r, l->rows, &row, &rows);
  range_of(s->across, r, l->columns, &column, &columns);
  if (!smma_npy_read_part(&s->file, row, rows, column, columns, &part, &error)) smma_die("%s", error.text);
  taken =
      smma_part_as(&part, row, column, s->wanted, s->rounding, s->what, s->path, counts(s, r) ? &s->lost : &ignored);
  smma_tensor_free(&part);
  return taken;
}

static void take(job *j, int which, const region *r, smma_tensor *to) {
  if (to->data) smma_tensor_free(to);
  to->data = NULL;
  if (j->of[which].path) *to = read_piece(&j->of[which], r);
}

static void take_rows(job *j, const region *r) {
  smma_gemm_product *p = j->product;
  take(j, OF_A, r, &p->a);
  take(j, OF_SCALE_A, r, &p->scale_a);
  take(j, OF_METADATA, r, &p->metadata);
}

static void take_columns(job *j, const region *r) {
  smma_gemm_product *p = j->product;
  take(j, OF_B, r, &p->b);
  take(j, OF_SCALE_B, r, &p->scale_b);
  if (p->scale_b.data) smma_turn_matrix(&p->scale_b); /* the library takes them column by column */
  take(j, OF_BIAS, r, &p->bias);
  take(j, OF_C, r, &p->c);
}

static void compute(job *j, const region *r) {
  smma_gemm_product piece = *j->product;
  smma_gemm_arguments *g = &piece.arguments;
  smma_status status;
  smma_error error = {""};
  g->m = r->count[ROWS], g->n = r->count[COLUMNS];
  piece.d = smma_new_matrix(j->product->d.format, g->m, g->n);
  smma_gemm_fill(j->options, &piece);
  g->message = error.text, g->message_size = sizeof error.text;
  status = smma_gemm_multiply(&piece);
  if (status != SMMA_OK) smma_die("%s", error.text[0] ? error.text : smma_status_text(status));
  if (!smma_npy_write_part(&j->d, r->first[ROWS], r->first[COLUMNS], &piece.d, &error)) smma_die("-o: %s", error.text);
  smma_tensor_free(&piece.d);
  smma_progress_show(&j->progress, j->done += g->m * g->n, j->all);
}

static void compute_block(job *j) {
  const region *b = &j->block;
  j->all = b->count[ROWS] * b->count[COLUMNS];
  for (size_t row = 0; j->all && row < b->count[ROWS]; row += j->most[ROWS])
    for (size_t column = 0; column < b->count[COLUMNS]; column += j->most[COLUMNS]) {
      const region r = {
          {b->first[ROWS] + row, b->first[COLUMNS] + column},
          {smma_least(j->most[ROWS], b->count[ROWS] - row), smma_least(j->most[COLUMNS], b->count[COLUMNS] - column)}};
      if (column == 0) take_rows(j, &r);
      take_columns(j, &r);
      compute(j, &r);
    }
}

/* ---- D ---- */

/* The first rank makes the file, all open it: it must be one file for all. */
static void begin_d(job *j) {
  const smma_gemm_arguments *g = &j->product->arguments;
  const smma_format format = j->product->d.format;
  const smma_tensor whole = {format, (int)smma_format_bytes(format), g->m, g->n, NULL, SMMA_NO_INTEGERS};
  smma_error error;
  if (smma_rank() == 0) {
    if (!smma_output_open(j->options->d, &j->output, &error)) smma_die("-o: %s", error.text);
    if (!j->output.temporary || strlen(j->output.temporary) >= MOST_PATH)
      smma_die("-o: %s: a pipe or device has no places for pieces; name a file", j->options->d);
    strcpy(j->temporary, j->output.temporary);
    if (!smma_npy_begin(j->output.stream, j->options->d, &whole, &j->d.layout, &error)) smma_die("-o: %s", error.text);
  }
  smma_ranks_share(j->temporary, sizeof j->temporary);
  smma_ranks_share(&j->d.layout, sizeof j->d.layout);
  j->d.path = j->options->d;
  j->d.descriptor = open(j->temporary, O_WRONLY | O_CLOEXEC);
  if (j->d.descriptor < 0)
    smma_die("-o: %s, which the first rank writes, cannot be opened here: %s; name a file that all machines share",
             j->temporary, strerror(errno));
}

/* What every rank has lost by rounding; that it is told means that its pieces are on the disk. */
static void gather(job *j) {
  smma_conversion own[SOURCES];
  if (fsync(j->d.descriptor) != 0 && errno != EINVAL && errno != ENOSYS)
    smma_die("-o: %s: cannot write: %s", j->options->d, strerror(errno));
  smma_npy_close(&j->d);
  for (int n = 0; n < SOURCES; n++) own[n] = j->of[n].lost;
  if (smma_rank()) smma_ranks_send(own, sizeof own);
  for (size_t rank = 1; smma_rank() == 0 && rank < smma_ranks(); rank++) {
    size_t size;
    smma_conversion *theirs = smma_ranks_receive(rank, &size);
    if (!theirs || size != sizeof own) smma_die("rank %zu did not tell what it has lost", rank);
    for (int n = 0; n < SOURCES; n++) {
      smma_conversion *sum = &j->of[n].lost;
      sum->changed += theirs[n].changed, sum->infinite += theirs[n].infinite;
      sum->saturated += theirs[n].saturated, sum->zero += theirs[n].zero, sum->nan += theirs[n].nan;
    }
    free(theirs);
  }
}

static void note(const source *s) {
  const smma_npy_layout *l = &s->file.layout;
  const smma_tensor shape = shape_of(l);
  if (!s->path) return;
  smma_note_conversion(&shape, s->wanted, s->rounding, s->what, s->path, l->rows * l->columns, &s->lost);
}

static void end_d(job *j) {
  smma_error error;
  if (smma_rank()) return;
  smma_progress_end();
  for (int n = 0; n < SOURCES; n++) note(&j->of[n]);
  if (!smma_output_commit(&j->output, &error)) smma_die("-o: %s", error.text);
}

void smma_gemm_in_pieces(const smma_gemm_options *o, const char **paths, smma_gemm_product *p) {
  job j = {.options = o, .product = p};
  smma_error error;
  refuse(o, p);
  open_sources(&j, paths);
  if (p->plan && smma_plan_check(p->plan, p->instruction, p->arguments.k, error.text, sizeof error.text) != SMMA_OK)
    smma_die("--plan: %s: %s", o->plan, error.text);
  p->d.format = smma_plan_d(p->plan, p->instruction);
  choose_block(&j);
  choose_pieces(&j);
  begin_d(&j);
  smma_progress_start(&j.progress, "products", (double)p->arguments.k);
  compute_block(&j);
  gather(&j);
  end_d(&j);
  p->arguments.kernel = o->kernel;
  for (int n = 0; n < SOURCES; n++)
    if (j.of[n].path) smma_npy_close(&j.of[n].file);
}
