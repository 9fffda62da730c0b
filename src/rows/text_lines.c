/* Reads the lines of a vector file as text. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/thread.h"
#include "rows/text_reader.h"

static smma_vector_status fail_long_line(const smma_text_reader *reader, smma_error *error) {
  smma_text_fail(reader, reader->text, error, "longer than %d characters; this is no vector file", SMMA_LINE_LIMIT);
  return SMMA_VECTOR_ERROR;
}

/* Reads the next chunk of a regular file on several threads, because one thread alone copies bytes from the system's
   memory more slowly than all threads take rows from them. Returns the number of bytes read. Returns 0 on an error, and
   if the file has less than a whole chunk left, is no regular file, or only one thread may be used: then fread reads.
 */
static size_t read_by_threads(smma_text_reader *reader) {
  enum { PIECES = 8, PIECE = SMMA_CHUNK / PIECES };
  const int descriptor = reader->together ? fileno(reader->stream) : -1;
  const off_t position = descriptor < 0 ? -1 : ftello(reader->stream);
  struct stat status;
  ssize_t got[PIECES];
  size_t filled = 0;
  if (position < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size - position < SMMA_CHUNK)
    return 0;
  const int threads = smma_default_threads();
  if (threads == 1) return 0;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int p = 0; p < PIECES; p++)
    got[p] = pread(descriptor, reader->chunk + p * PIECE, PIECE, position + (off_t)p * PIECE);
  for (int p = 0; p < PIECES && filled == (size_t)p * PIECE; p++) filled += got[p] > 0 ? (size_t)got[p] : 0;
  return fseeko(reader->stream, position + (off_t)filled, SEEK_SET) == 0 ? filled : 0;
}

/* Reads the next chunk if all bytes of the present one were used. Returns false at the end of the stream or on an
   error. */
static bool fill_chunk(smma_text_reader *reader) {
  if (reader->taken < reader->filled) return true;
  reader->taken = 0;
  reader->filled = read_by_threads(reader);
  if (reader->filled == 0) reader->filled = fread(reader->chunk, 1, SMMA_CHUNK, reader->stream);
  return reader->filled > 0;
}

/* Appends bytes of the chunk to the line, up to the end of the line or of the chunk. Sets `ended` and `too_long`. */
static void take_bytes(smma_text_reader *reader) {
  const char *from = reader->chunk + reader->taken;
  const size_t there = reader->filled - reader->taken, room = SMMA_LINE_LIMIT - reader->length;
  const char *end = memchr(from, '\n', there);
  size_t count = end ? (size_t)(end - from) : there;
  reader->too_long = count > room;
  if (reader->too_long) count = room;
  memcpy(reader->text + reader->length, from, count);
  reader->ended = end && !reader->too_long;
  reader->length += count;
  reader->taken += count + reader->ended;
}

/* Removes the byte order mark with which some programs begin text in UTF-8. */
static void skip_byte_order_mark(smma_text_reader *reader) {
  if (reader->length < 3 || memcmp(reader->text, "\xef\xbb\xbf", 3) != 0) return;
  reader->length -= 3;
  memmove(reader->text, reader->text + 3, reader->length);
}

smma_vector_status smma_text_read_line(smma_text_reader *reader, smma_error *error) {
  if (reader->too_long) return fail_long_line(reader, error);
  reader->length = 0;
  reader->ended = false;
  reader->line++;
  while (!reader->ended && !reader->too_long && fill_chunk(reader)) take_bytes(reader);
  if (reader->too_long) return fail_long_line(reader, error);
  if (!reader->ended && ferror(reader->stream)) {
    smma_fail(error, "%s: line %llu: cannot read: %s", reader->path, reader->line, strerror(errno));
    return SMMA_VECTOR_ERROR;
  }
  if (reader->line == 1) skip_byte_order_mark(reader);
  return reader->ended || reader->length > 0 ? SMMA_VECTOR_ROW : SMMA_VECTOR_END;
}

smma_vector_status smma_text_next_line(smma_text_reader *reader, smma_error *error) {
  for (int lines = 0; lines < SMMA_LINES_WITHOUT_ROW; lines++) {
    smma_vector_status status = smma_text_read_line(reader, error);
    if (status != SMMA_VECTOR_ROW) return status;
    smma_span line = smma_trim((smma_span){reader->text, reader->length});
    if (line.length == 0) continue;
    if (line.text[0] != '#') return SMMA_VECTOR_ROW;
    if (!smma_text_take_comment(reader, line, error)) return SMMA_VECTOR_ERROR;
  }
  smma_text_fail(reader, reader->text, error, "%d lines without a row; this is no vector file", SMMA_LINES_WITHOUT_ROW);
  return SMMA_VECTOR_ERROR;
}
