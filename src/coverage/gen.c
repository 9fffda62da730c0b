#include "coverage/gen.h"

#include "softmma/softmma.h"

enum { BATCH = 1 << 18 /* rows between two checks of the stream */ };

typedef struct {
  const smma_gen_request *request;
  smma_cover cover;       /* without rows unless the request has `covers` */
  smma_tininess tininess; /* SMMA_TININESS_OF_UNIT: rows have no flags */
} generation;

static void cover_rows(const generation *g, uint64_t first, size_t count, smma_rows *rows) {
  for (size_t n = 0; n < count; n++) {
    const uint64_t index = first + n;
    smma_row row;
    if (index < g->cover.count)
      smma_rows_get(&g->cover.rows, (size_t)index, &row);
    else
      smma_cover_row(&g->cover, g->request->seed, index, &row);
    smma_rows_put(rows, n, &row);
  }
}

static void make_rows(void *context, uint64_t first, size_t count, smma_rows *rows) {
  const generation *g = context;
  const smma_gen_request *r = g->request;
  const smma_batch view = smma_rows_batch(rows, 0, count, NULL);
  if (r->covers)
    cover_rows(g, first, count, rows);
  else
    smma_generate_rows(rows, r->seed, first, count, r->kind == SMMA_ROWS_KINDS ? SMMA_ROWS_OF_GEN : 0, r->kind);
  if (g->tininess)
    smma_dot_flags(r->instruction, &view, g->tininess, 1, rows->part[SMMA_PART_FLAGS], NULL);
  else
    smma_dot_rows(r->instruction, &view, 1);
}

static bool is_stopped(const smma_gen_request *r, uint64_t done, uint64_t all) {
  return r->watch && r->watch(done, all, r->context);
}

static bool watch_search(uint64_t tries, size_t events, void *request) {
  (void)events;
  return is_stopped(request, tries, SMMA_GEN_TRIES);
}

static bool find_cover(generation *g, smma_gen_result *result, smma_error *error) {
  const smma_gen_request *r = g->request;
  smma_event_space space;
  if (!smma_event_space_make(r->instruction, &space))
    return smma_fail(error, "--cover: no events are known of %s", r->instruction->name);
  if (!smma_cover_find(&space, r->instruction, r->seed, SMMA_GEN_TRIES, watch_search, (void *)r, &g->cover))
    return smma_no_memory(error);
  result->cover = g->cover.count, result->events = g->cover.events, result->tries = g->cover.tries;
  result->possible = space.events - g->cover.excluded;
  return true;
}

static bool write_rows(const generation *g, uint64_t rows, FILE *stream, smma_error *error) {
  const smma_gen_request *r = g->request;
  smma_vector_header header;
  smma_vector_writer *writer;
  bool done;
  smma_vector_header_of(r->instruction, &header);
  header.tininess = g->tininess;
  writer = smma_vector_create(stream, r->format, &header, rows, error);
  done = writer != NULL;
  for (uint64_t index = 0; done && index < rows && !ferror(stream); index += BATCH) {
    const size_t count = rows - index < BATCH ? (size_t)(rows - index) : BATCH;
    done = smma_vector_produce(writer, r->instruction, index, count, make_rows, (void *)g, error);
    if (is_stopped(r, index, rows)) done = smma_fail(error, "interrupted");
  }
  done = done && (ferror(stream) || smma_vector_finish(writer, error));
  smma_vector_free(writer);
  return done;
}

bool smma_gen(const smma_gen_request *request, FILE *stream, smma_gen_result *result, smma_error *error) {
  const smma_batch none = {.size = sizeof none};
  generation g = {.request = request};
  bool done;
  *result = (smma_gen_result){.rows = request->rows};
  if (request->flags) {
    if (smma_dot_flags(request->instruction, &none, request->tininess, 1, NULL, error) != SMMA_OK) return false;
    g.tininess = request->tininess ? request->tininess : smma_tininess_of(request->instruction);
  }
  if (request->covers && !find_cover(&g, result, error)) return false;
  if (result->rows < result->cover) result->rows = result->cover;
  done = write_rows(&g, result->rows, stream, error);
  if (request->covers) smma_cover_free(&g.cover);
  return done;
}
