#define _POSIX_C_SOURCE 200809L
#include "rows/vectors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "host/thread.h"
#include "rows/binary.h"
#include "rows/text.h"

/* ---- Reading ---- */

struct smma_vector_reader {
  smma_text_reader *text;
  smma_binary_reader *binary; /* exactly one of the two readers is set */
};

smma_vector_reader *smma_vector_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error) {
  smma_vector_reader *r = calloc(1, sizeof *r);
  const int first = getc(stream);
  if (first != EOF) ungetc(first, stream);
  if (!r)
    smma_fail(error, "%s: no memory", path);
  else if (first == smma_binary_magic[0])
    r->binary = smma_binary_open(stream, path, header, error);
  else
    r->text = smma_text_open(stream, path, header, error);
  if (r && (r->text || r->binary)) return r;
  free(r);
  return NULL;
}

void smma_vector_close(smma_vector_reader *r) {
  if (!r) return;
  smma_text_close(r->text);
  smma_binary_close(r->binary);
  free(r);
}

bool smma_vector_count(const smma_vector_reader *r, uint64_t *rows) {
  if (r->binary) *rows = smma_binary_rows(r->binary);
  return r->binary != NULL;
}

smma_vector_status smma_vector_next(smma_vector_reader *r, smma_row *row, smma_error *error) {
  return r->binary ? smma_binary_next(r->binary, row, error) : smma_text_next(r->text, row, error);
}

size_t smma_vector_take_rows(smma_vector_reader *r, smma_rows *rows, size_t first, size_t most) {
  return r->binary ? smma_binary_take_rows(r->binary, rows, first, most)
                   : smma_text_take_rows(r->text, rows, first, most);
}

unsigned long long smma_vector_place(const smma_vector_reader *r) {
  return r->binary ? smma_binary_row(r->binary) : smma_text_line(r->text);
}

const char *smma_vector_place_word(const smma_vector_reader *r) { return r->binary ? "row" : "line"; }

smma_vector_status smma_vector_read_rows(smma_vector_reader *r, smma_rows *rows, unsigned long long *at, size_t *count,
                                         smma_error *error) {
  *count = 0;
  while (*count < rows->capacity) {
    const size_t more = smma_vector_take_rows(r, rows, *count, rows->capacity - *count);
    smma_vector_status status;
    smma_row row;
    for (size_t i = 0; at && i < more; i++) at[*count + i] = smma_vector_place(r) - more + i + 1;
    *count += more;
    if (more > 0) continue;
    status = smma_vector_next(r, &row, error);
    if (status != SMMA_VECTOR_ROW) return status;
    if (at) at[*count] = smma_vector_place(r);
    smma_rows_put(rows, (*count)++, &row);
  }
  return SMMA_VECTOR_ROW;
}

bool smma_vector_is_binary(FILE *stream) {
  unsigned char head[SMMA_BINARY_MAGIC_BYTES];
  bool same;
  rewind(stream);
  same = fread(head, 1, sizeof head, stream) == sizeof head && memcmp(head, smma_binary_magic, sizeof head) == 0;
  rewind(stream);
  return same;
}

/* ---- Writing ---- */

struct smma_vector_writer {
  FILE *stream;
  smma_vector_format format;
  smma_vector_header header;
  smma_row_layout layout;
  uint64_t announced, rows;
  uint32_t *checksum; /* one for each block of a binary file */
  size_t blocks, room;
};

/* How files of a format without checksums are written: their header, lines of rows that all have the same length, and
   what stands after the last row. */
typedef struct {
  const char *name, *ending, *end;
  void (*write_header)(FILE *stream, const smma_vector_header *header);
  size_t (*line_length)(const smma_row_layout *layout);
  void (*put_rows)(char *text, const smma_rows *rows, size_t count);
} line_format;

static const line_format formats[SMMA_VECTOR_FORMATS] = {
    [SMMA_VECTOR_TEXT] = {"text", "txt", "", smma_text_write_header, smma_text_line_length, smma_text_put_rows},
    [SMMA_VECTOR_BINARY] = {"binary", "bin", "", NULL, NULL, NULL},
    [SMMA_VECTOR_READMEMH] = {"readmemh", "hex", "", smma_readmemh_write_header, smma_text_line_length,
                              smma_readmemh_put_rows},
    [SMMA_VECTOR_CSV] = {"csv", "csv", "", smma_csv_write_header, smma_csv_line_length, smma_csv_put_rows},
    [SMMA_VECTOR_JSON] = {"json", "json", "\n]}\n", smma_json_write_header, smma_json_line_length, smma_json_put_rows},
    [SMMA_VECTOR_JSONL] = {"jsonl", "jsonl", "", smma_jsonl_write_header, smma_jsonl_line_length, smma_jsonl_put_rows}};

smma_vector_format smma_vector_format_from_text(const char *text) {
  int format = 0;
  while (format < SMMA_VECTOR_FORMATS && strcmp(text, formats[format].name) != 0 &&
         strcmp(text, formats[format].ending) != 0)
    format++;
  return (smma_vector_format)format;
}

smma_vector_format smma_vector_format_of_file(const char *path) {
  const char *ending = path ? strrchr(path, '.') : NULL;
  int format = 0;
  if (ending && strcmp(ending, ".mem") == 0) return SMMA_VECTOR_READMEMH;
  while (ending && format < SMMA_VECTOR_FORMATS && strcmp(ending + 1, formats[format].ending) != 0) format++;
  return ending && format < SMMA_VECTOR_FORMATS ? (smma_vector_format)format : SMMA_VECTOR_TEXT;
}

/* Reports whether the header can be rewritten at the end: the stream is at the start of a seekable file and does not
   append. */
static bool can_go_back(FILE *stream) {
  const int flags = fcntl(fileno(stream), F_GETFL);
  return flags >= 0 && !(flags & O_APPEND) && ftello(stream) == 0 && fseeko(stream, 0, SEEK_SET) == 0;
}

static bool write_header(const smma_vector_writer *w, smma_error *error) {
  if (w->format == SMMA_VECTOR_BINARY)
    return smma_binary_write_header(w->stream, &w->header, w->announced == SMMA_ROWS_LATER ? w->rows : w->announced) ||
           smma_no_memory(error);
  formats[w->format].write_header(w->stream, &w->header);
  return true;
}

smma_vector_writer *smma_vector_create(FILE *stream, smma_vector_format format, const smma_vector_header *header,
                                       uint64_t rows, smma_error *error) {
  smma_vector_writer *w;
  if (format == SMMA_VECTOR_BINARY && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
    smma_fail(error, "binary vector files are little-endian, and this machine is not");
    return NULL;
  }
  if (format == SMMA_VECTOR_BINARY && rows == SMMA_ROWS_LATER && !can_go_back(stream)) {
    smma_fail(error,
              "a binary vector file begins with the number of its rows, which is known at the end only; "
              "write it to a file of its own");
    return NULL;
  }
  w = calloc(1, sizeof *w);
  if (!w) {
    smma_no_memory(error);
    return NULL;
  }
  *w = (smma_vector_writer){.stream = stream, .format = format, .header = *header, .announced = rows};
  w->layout = smma_vector_layout(header);
  if (write_header(w, error)) return w;
  free(w);
  return NULL;
}

void smma_vector_free(smma_vector_writer *w) {
  if (!w) return;
  free(w->checksum);
  free(w);
}

static size_t rows_bytes(const smma_vector_writer *w, size_t count) {
  if (w->format == SMMA_VECTOR_BINARY) return count * smma_binary_layout_of(&w->layout).row_bytes;
  return count * formats[w->format].line_length(&w->layout);
}

/* Returns the bytes of an encoded part: its rows, followed in a binary file by a checksum of each block. */
static size_t part_bytes(const smma_vector_writer *w, size_t count) {
  const size_t checksums = w->format == SMMA_VECTOR_BINARY ? smma_binary_blocks(count) * sizeof *w->checksum : 0;
  return rows_bytes(w, count) + checksums;
}

static void encode(const smma_vector_writer *w, const smma_rows *rows, size_t count, void *part) {
  if (w->format == SMMA_VECTOR_BINARY)
    smma_binary_put_rows(rows, count, part);
  else
    formats[w->format].put_rows(part, rows, count);
}

/* Retains the checksums of a part's blocks until the end of the file. */
static bool keep_checksums(smma_vector_writer *w, const void *checksums, size_t blocks) {
  if (w->blocks + blocks > w->room) {
    const size_t room = 2 * w->room + blocks + 1024;
    uint32_t *larger = realloc(w->checksum, room * sizeof *larger);
    if (!larger) return false;
    w->checksum = larger;
    w->room = room;
  }
  memcpy(w->checksum + w->blocks, checksums, blocks * sizeof *w->checksum);
  w->blocks += blocks;
  return true;
}

/* Appends an encoded part to the file. Returns false when memory is short. */
static bool append(smma_vector_writer *w, const void *part, size_t count) {
  const size_t bytes = rows_bytes(w, count);
  const size_t before = w->format == SMMA_VECTOR_JSON && !w->rows; /* the comma before the first row */
  if (count) fwrite((const char *)part + before, 1, bytes - before, w->stream);
  w->rows += count;
  return w->format != SMMA_VECTOR_BINARY || keep_checksums(w, (const char *)part + bytes, smma_binary_blocks(count));
}

bool smma_vector_produce(smma_vector_writer *w, const smma_instruction *i, uint64_t first, size_t count,
                         smma_vector_source *source, void *context, smma_error *error) {
  bool good = true;
#pragma omp parallel num_threads(smma_default_threads()) if (count > SMMA_VECTOR_PART) reduction(&& : good)
  {
    smma_rows rows;
    void *part = malloc(part_bytes(w, SMMA_VECTOR_PART));
    const bool there = smma_rows_allocate_as(i, &w->layout, SMMA_VECTOR_PART, &rows) && part;
    good = there;
#pragma omp for ordered schedule(static, 1)
    for (size_t at = 0; at < count; at += SMMA_VECTOR_PART) {
      const size_t now = count - at < SMMA_VECTOR_PART ? count - at : SMMA_VECTOR_PART;
      if (there) {
        source(context, first + at, now, &rows);
        encode(w, &rows, now, part);
      }
#pragma omp ordered
      if (there) good = append(w, part, now) && good;
    }
    smma_rows_free(&rows);
    free(part);
  }
  return good || smma_no_memory(error);
}

static void copy_rows(void *context, uint64_t first, size_t count, smma_rows *rows) {
  smma_rows_copy(rows, 0, context, (size_t)first, count);
}

bool smma_vector_write_rows(smma_vector_writer *w, const smma_rows *rows, size_t count, smma_error *error) {
  return smma_vector_produce(w, rows->instruction, 0, count, copy_rows, (void *)rows, error);
}

bool smma_vector_finish(smma_vector_writer *w, smma_error *error) {
  if (w->format != SMMA_VECTOR_BINARY) return fputs(formats[w->format].end, w->stream), true;
  if (w->blocks)
    fwrite(w->checksum, sizeof *w->checksum, w->blocks,
           w->stream); /* the condition is needed because without rows `checksum` is NULL */
  if (w->announced != SMMA_ROWS_LATER)
    return w->rows == w->announced || smma_fail(error, "%llu rows were announced, and %llu came",
                                                (unsigned long long)w->announced, (unsigned long long)w->rows);
  if (ferror(w->stream)) return true; /* the caller checks the stream and reports its error */
  if (fseeko(w->stream, 0, SEEK_SET) == 0 && write_header(w, error) && fseeko(w->stream, 0, SEEK_END) == 0) return true;
  return ferror(w->stream) || smma_fail(error, "the header cannot be completed: %s", strerror(errno));
}
