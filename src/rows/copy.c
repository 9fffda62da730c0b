#include "rows/copy.h"

/* Number of rows in a batch. The output stream is checked for errors after each batch. */
enum { BATCH = 1 << 15 };
_Static_assert(BATCH % SMMA_VECTOR_PART == 0, "batches are whole parts");

typedef struct {
  smma_vector_reader *reader;
  smma_vector_writer *writer;
  FILE *stream;
  smma_watcher *watch;
  void *context;
} copy;

static bool copy_rows(const copy *c, const smma_vector_header *header, smma_error *error) {
  const smma_instruction shape = smma_vector_shape(header);
  const smma_row_layout layout = smma_vector_layout(header);
  smma_vector_status status = SMMA_VECTOR_ROW;
  uint64_t all = 0, copied = 0;
  smma_rows rows;
  bool done = smma_rows_allocate_as(&shape, &layout, BATCH, &rows) || smma_no_memory(error);
  smma_vector_count(c->reader, &all);
  while (done && status == SMMA_VECTOR_ROW && !ferror(c->stream)) {
    size_t count;
    status = smma_vector_read_rows(c->reader, &rows, NULL, &count, error);
    done = status != SMMA_VECTOR_ERROR && smma_vector_write_rows(c->writer, &rows, count, error);
    copied += count;
    if (c->watch && c->watch(copied, all, c->context)) done = smma_fail(error, "interrupted");
  }
  smma_rows_free(&rows);
  return done && (ferror(c->stream) || smma_vector_finish(c->writer, error));
}

bool smma_vectors_copy(FILE *in, const char *path, FILE *out, smma_vector_format format, smma_watcher *watch,
                       void *context, smma_error *error) {
  smma_vector_header header;
  uint64_t rows = SMMA_ROWS_LATER;
  copy c = {.stream = out, .watch = watch, .context = context};
  bool done;
  c.reader = smma_vector_open(in, path, &header, error);
  done = c.reader && smma_instruction_of_header(&header, path, error);
  if (done) {
    smma_vector_count(c.reader, &rows);
    c.writer = smma_vector_create(out, format, &header, rows, error);
    done = c.writer && copy_rows(&c, &header, error);
  }
  smma_vector_free(c.writer);
  smma_vector_close(c.reader);
  return done;
}
