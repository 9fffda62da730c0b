/* A product in pieces. The ranks form a grid over D; each rank computes one block of D, piece by piece. A piece uses
   the whole of K, so its elements are computed as in a single product. The rows of A of a piece stay in memory while
   the columns of B change. */
#include "product/pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"
#include "matrix/npy.h"

enum { EVEN = 64, MOST_PATH = 4096 };

/* The axis of D to which an axis of a file corresponds. ALL: it corresponds to neither, so every piece needs the whole
   axis. */
typedef enum { ROWS, COLUMNS, ALL } axis;

typedef struct {
  const char *path; /* NULL: there is no such matrix */
  smma_matrix_need need;
  smma_rounding rounding;
  axis down, across;
  smma_npy_file file;
  smma_conversion lost; /* counts of changed values, for the elements that this rank counts */
} source;

/* A range of rows and columns of D. */
typedef struct {
  size_t first[2], count[2];
} region;

typedef struct {
  const smma_pieces *with;
  smma_matrix_product *product;
  source of[SMMA_PRODUCT_MATRICES];
  region block;       /* of this rank */
  size_t most[2];     /* maximum rows and columns of a piece */
  smma_output output; /* of rank 0 */
  bool has_output;
  smma_npy_file d;
  char temporary[MOST_PATH];
  size_t done, all;
} job;

static size_t least(size_t x, size_t y) { return x < y ? x : y; }

/* ---- The files ---- */

static smma_tensor shape_of(const job *j, const source *s) {
  const smma_npy_layout *l = &s->file.layout;
  return (smma_tensor){.format = l->format,
                       .bytes = l->bytes,
                       .rows = l->rows,
                       .columns = l->columns,
                       .integers = l->integers,
                       .encodings = j->product->request->raw};
}

static bool refuse(const smma_product_request *r, const smma_matrix_product *p, smma_error *error) {
  if (p->method.kind != SMMA_METHOD_NONE || r->narrow != SMMA_NO_FORMAT)
    return smma_fail(error, "--method: %s is of whole matrices, not of pieces; leave out --memory and mpirun",
                     r->method.method);
  if (r->instruction->scale_block && !r->of[SMMA_OF_SCALE_A].path)
    return smma_fail(
        error,
        "A and B are quantised as a whole, not in pieces; give --scale-a and --scale-b, or leave out --memory and "
        "mpirun");
  return true;
}

static bool open_source(job *j, smma_product_matrix which, axis down, axis across, smma_error *error) {
  source *s = &j->of[which];
  s->path = j->product->request->of[which].path;
  s->down = down, s->across = across;
  if (!s->path) return true;
  if (strstr(s->path, ".safetensors")) {
    s->path = NULL;
    return smma_fail(error, "%s: pieces are read from .npy files; save it as .npy, or leave out --memory and mpirun",
                     j->product->request->of[which].path);
  }
  if (smma_npy_open(s->path, &s->file, error)) return true;
  s->path = NULL;
  return false;
}

static bool open_shaped(job *j, smma_product_matrix which, axis down, axis across, smma_error *error) {
  source *s = &j->of[which];
  smma_tensor shape;
  if (!open_source(j, which, down, across, error)) return false;
  s->need = smma_product_needs(j->product->request, which, &j->product->arguments);
  shape = shape_of(j, s);
  return !s->path || smma_check_shape(&shape, (smma_label){s->need.option, s->path}, s->need.rows, s->need.columns,
                                      s->need.needed_by, error);
}

static bool open_sources(job *j, smma_error *error) {
  smma_matrix_product *p = j->product;
  const smma_product_request *r = p->request;
  smma_tensor a, b;
  if (!open_source(j, SMMA_OF_A, r->transpose_a ? ALL : ROWS, r->transpose_a ? ROWS : ALL, error) ||
      !open_source(j, SMMA_OF_B, r->transpose_b ? COLUMNS : ALL, r->transpose_b ? ALL : COLUMNS, error))
    return false;
  a = shape_of(j, &j->of[SMMA_OF_A]), b = shape_of(j, &j->of[SMMA_OF_B]);
  if (!smma_product_check_scales(p, &a, &b, error) || !smma_product_size(p, &a, &b, error)) return false;
  for (int n = 0; n < 2; n++) {
    source *s = &j->of[n ? SMMA_OF_B : SMMA_OF_A];
    s->need = smma_product_needs(r, n ? SMMA_OF_B : SMMA_OF_A, &p->arguments);
    s->rounding = p->rounding[n];
  }
  return open_shaped(j, SMMA_OF_C, ROWS, COLUMNS, error) && open_shaped(j, SMMA_OF_SCALE_A, ROWS, ALL, error) &&
         open_shaped(j, SMMA_OF_SCALE_B, ALL, COLUMNS, error) && open_shaped(j, SMMA_OF_BIAS, ALL, COLUMNS, error) &&
         open_shaped(j, SMMA_OF_METADATA, ROWS, ALL, error);
}

/* ---- Blocks and pieces ---- */

/* Returns the bytes of a line along K, in the format of the file and in the format of the product. */
static size_t line_bytes(const job *j, smma_product_matrix which) {
  const source *s = &j->of[which];
  return j->product->arguments.k * ((size_t)s->file.layout.bytes + smma_format_bytes(s->need.format)) + 1;
}

/* Chooses the grid in which a rank reads the least, and this rank's block. */
static void choose_block(job *j) {
  const smma_gemm_arguments *g = &j->product->arguments;
  const double row = (double)line_bytes(j, SMMA_OF_A), column = (double)line_bytes(j, SMMA_OF_B);
  const size_t ranks = j->with->group->ranks, rank = j->with->group->rank;
  size_t down = 1, at[2];
  double fewest = 0;
  for (size_t n = 1; n <= ranks; n++) {
    const double reads = row * (double)(g->m / n) + column * (double)(g->n / (ranks / n));
    if (ranks % n == 0 && (fewest == 0 || reads < fewest)) fewest = reads, down = n;
  }
  at[0] = rank % down, at[1] = rank / down;
  for (int axis_of_d = 0; axis_of_d < 2; axis_of_d++) {
    const size_t size = axis_of_d ? g->n : g->m, parts = axis_of_d ? ranks / down : down, n = at[axis_of_d],
                 each = size / parts, more = size % parts; /* the first `more` parts have one element more */
    j->block.first[axis_of_d] = n * each + least(n, more);
    j->block.count[axis_of_d] = each + (n < more);
  }
}

static size_t even(size_t count) { return count < EVEN ? count : count / EVEN * EVEN; }

/* Chooses the size of pieces: lines of A, lines of B, and a piece of D with C each get a third of the memory. */
static bool choose_pieces(job *j, smma_error *error) {
  const size_t memory = (size_t)(j->with->memory ? j->with->memory : SMMA_PIECES_MEMORY), third = memory / 3,
               row = line_bytes(j, SMMA_OF_A), column = line_bytes(j, SMMA_OF_B),
               element = smma_format_bytes(j->product->d.format) + 2 * sizeof(double);
  if (row > third || column > third)
    return smma_fail(
        error,
        "--memory: %zu bytes do not hold a row of A and a column of B, of K = %zu, and what they become; give %zu",
        memory, j->product->arguments.k, 3 * (row > column ? row : column));
  j->most[0] = least(third / row, j->block.count[0]);
  j->most[1] = least(third / column, j->block.count[1]);
  while (j->most[0] * j->most[1] > third / element + 1)
    if (j->most[0] > j->most[1])
      j->most[0] = (j->most[0] + 1) / 2;
    else
      j->most[1] = (j->most[1] + 1) / 2;
  for (int n = 0; n < 2; n++) j->most[n] = even(j->most[n] ? j->most[n] : 1);
  return true;
}

/* ---- Pieces ---- */

static void range_of(axis along, const region *r, size_t all, size_t *first, size_t *count) {
  *first = along == ALL ? 0 : r->first[along];
  *count = along == ALL ? all : r->count[along];
}

static bool goes_along(const source *s, axis along) { return s->down == along || s->across == along; }

/* Reports whether this piece counts the changed values of a file. Several pieces read the same element if the file has
   no axis along rows or columns of D. Only the first piece along such an axis counts the values. */
static bool counts(const source *s, const region *r) {
  return (goes_along(s, ROWS) || r->first[ROWS] == 0) && (goes_along(s, COLUMNS) || r->first[COLUMNS] == 0);
}

static bool read_piece(const job *j, source *s, const region *r, smma_tensor *taken, smma_error *error) {
  const smma_npy_layout *l = &s->file.layout;
  size_t row, rows, column, columns;
  smma_conversion ignored = {0};
  smma_tensor part;
  bool done;
  range_of(s->down, r, l->rows, &row, &rows);
  range_of(s->across, r, l->columns, &column, &columns);
  if (!smma_npy_read_part(&s->file, row, rows, column, columns, &part, error)) return false;
  part.encodings = j->product->request->raw;
  done = smma_take_part(&part, row, column, s->need.format, s->rounding, (smma_label){s->need.what, s->path}, taken,
                        counts(s, r) ? &s->lost : &ignored, error);
  smma_tensor_free(&part);
  return done;
}

static bool take(job *j, smma_product_matrix which, const region *r, smma_error *error) {
  smma_tensor *to = &j->product->taken[which], turned;
  smma_tensor_free(to);
  if (!j->of[which].path) return true;
  if (!read_piece(j, &j->of[which], r, to, error)) return false;
  if (which != SMMA_OF_SCALE_B) return true;
  if (!smma_tensor_transpose(to, &turned, error)) return false; /* the library takes them column-major */
  smma_tensor_free(to);
  *to = turned;
  return true;
}

static bool take_rows(job *j, const region *r, smma_error *error) {
  return take(j, SMMA_OF_A, r, error) && take(j, SMMA_OF_SCALE_A, r, error) && take(j, SMMA_OF_METADATA, r, error);
}

static bool take_columns(job *j, const region *r, smma_error *error) {
  return take(j, SMMA_OF_B, r, error) && take(j, SMMA_OF_SCALE_B, r, error) && take(j, SMMA_OF_BIAS, r, error) &&
         take(j, SMMA_OF_C, r, error);
}

static bool write_piece(job *j, const region *r, smma_tensor *d, smma_error *error) {
  smma_error why;
  return smma_npy_write_part(&j->d, r->first[ROWS], r->first[COLUMNS], d, &why) || smma_fail(error, "-o: %s", why.text);
}

static bool compute(job *j, const region *r, smma_error *error) {
  smma_matrix_product piece = *j->product;
  smma_gemm_arguments *g = &piece.arguments;
  bool done;
  g->m = r->count[ROWS], g->n = r->count[COLUMNS];
  if (!smma_tensor_new(j->product->d.format, g->m, g->n, &piece.d, error)) return false;
  smma_product_fill(&piece);
  done = smma_product_run(&piece, error) && write_piece(j, r, &piece.d, error);
  smma_tensor_free(&piece.d);
  j->done += g->m * g->n;
  if (done && j->with->progress) j->with->progress(j->done, j->all, j->with->progress_context);
  return done;
}

static bool compute_block(job *j, smma_error *error) {
  const region *b = &j->block;
  j->all = b->count[ROWS] * b->count[COLUMNS];
  for (size_t row = 0; j->all && row < b->count[ROWS]; row += j->most[ROWS])
    for (size_t column = 0; column < b->count[COLUMNS]; column += j->most[COLUMNS]) {
      const region r = {
          {b->first[ROWS] + row, b->first[COLUMNS] + column},
          {least(j->most[ROWS], b->count[ROWS] - row), least(j->most[COLUMNS], b->count[COLUMNS] - column)}};
      if ((column == 0 && !take_rows(j, &r, error)) || !take_columns(j, &r, error) || !compute(j, &r, error))
        return false;
    }
  return true;
}

/* ---- D ---- */

/* Creates the file that all ranks write to, in the directory of the file for D. */
static bool make_file(job *j, smma_error *error) {
  const smma_gemm_arguments *g = &j->product->arguments;
  const smma_format format = j->product->d.format;
  const smma_tensor whole = {.format = format, .bytes = (int)smma_format_bytes(format), .rows = g->m, .columns = g->n};
  smma_error why;
  if (!smma_output_open(j->with->d, &j->output, &why)) return smma_fail(error, "-o: %s", why.text);
  j->has_output = true;
  if (!j->output.temporary || strlen(j->output.temporary) >= MOST_PATH)
    return smma_fail(error, "-o: %s: a pipe or device cannot be written in pieces; name a file", j->with->d);
  strcpy(j->temporary, j->output.temporary);
  return smma_npy_begin(j->output.stream, j->with->d, &whole, &j->d.layout, &why) ||
         smma_fail(error, "-o: %s", why.text);
}

/* Rank 0 creates the file and every rank opens it, so all machines must share the file system. */
static bool begin_d(job *j, smma_error *error) {
  const smma_group *group = j->with->group;
  if (group->rank == 0 && !make_file(j, error)) return false;
  group->share(j->temporary, sizeof j->temporary);
  group->share(&j->d.layout, sizeof j->d.layout);
  j->d.path = j->with->d;
  j->d.descriptor = open(j->temporary, O_WRONLY | O_CLOEXEC);
  return j->d.descriptor >= 0 ||
         smma_fail(
             error,
             "-o: %s, which the first rank writes, cannot be opened here: %s; name a file that all machines share",
             j->temporary, strerror(errno));
}

/* Adds up the counts of all ranks. Each rank sends its counts after it has written its pieces to the disk. */
static bool gather(job *j, smma_error *error) {
  const smma_group *group = j->with->group;
  smma_conversion own[SMMA_PRODUCT_MATRICES];
  if (fsync(j->d.descriptor) != 0 && errno != EINVAL && errno != ENOSYS)
    return smma_fail(error, "-o: %s: cannot write: %s", j->with->d, strerror(errno));
  for (int n = 0; n < SMMA_PRODUCT_MATRICES; n++) own[n] = j->of[n].lost;
  if (group->rank) group->send(own, sizeof own);
  for (size_t rank = 1; group->rank == 0 && rank < group->ranks; rank++) {
    size_t size;
    smma_conversion *theirs = group->receive(rank, &size);
    const bool has_losses = theirs && size == sizeof own;
    for (int n = 0; has_losses && n < SMMA_PRODUCT_MATRICES; n++) smma_add_loss(&j->of[n].lost, &theirs[n]);
    free(theirs);
    if (!has_losses) return smma_fail(error, "rank %zu did not report its losses", rank);
  }
  return true;
}

static bool end_d(job *j, smma_error *error) {
  smma_error why;
  if (j->with->group->rank) return true;
  for (int n = 0; n < SMMA_PRODUCT_MATRICES; n++) {
    const source *s = &j->of[n];
    const smma_tensor shape = shape_of(j, s);
    if (s->path)
      smma_note_taken(&shape, s->need.format, s->rounding, (smma_label){s->need.what, s->path},
                      shape.rows * shape.columns, &s->lost, j->with->notes);
  }
  smma_product_note_sums(j->product, j->with->notes);
  j->has_output = false;
  return smma_output_commit(&j->output, &why) || smma_fail(error, "-o: %s", why.text);
}

bool smma_product_in_pieces(smma_matrix_product *p, const smma_pieces *with, smma_error *error) {
  job j = {.with = with, .product = p, .d = {.descriptor = -1}};
  bool done = refuse(p->request, p, error) && open_sources(&j, error);
  if (done) choose_block(&j);
  done = done && choose_pieces(&j, error) && begin_d(&j, error) && compute_block(&j, error) && gather(&j, error);
  if (j.d.descriptor >= 0) smma_npy_close(&j.d);
  done = done && end_d(&j, error);
  if (j.has_output) smma_output_abandon(&j.output);
  for (int n = 0; n < SMMA_PRODUCT_MATRICES; n++)
    if (j.of[n].path) smma_npy_close(&j.of[n].file);
  return done;
}
