#define _POSIX_C_SOURCE 200809L
#include "rows/binary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/load.h"
#include "host/thread.h"
#include "io/crc32c.h"
#include "isa/format_name.h"
#include "rows/text.h"

enum {
  ALIGNMENT = 64,      /* alignment of the first row: one cache line */
  MOST_TEXT = 1 << 16, /* most bytes of a header's text */
  BLOCKS = 8           /* number of blocks read together */
};

/* Limit for data from a pipe: more than a pipe usually carries, less than what fills a disk. */
static const uint64_t pipe_limit = UINT64_C(1) << 30;

const unsigned char smma_binary_magic[SMMA_BINARY_MAGIC_BYTES] = {0x89, 's', 'o',  'f',  't',  'm',
                                                                  'm',  'a', '\r', '\n', 0x1a, '\n'};

/* The fixed part at the start of a file, little-endian. The header text follows, then zeros up to the first row. */
typedef struct {
  unsigned char magic[SMMA_BINARY_MAGIC_BYTES];
  uint32_t version;
  uint64_t rows;
  uint32_t row_bytes, first_row /* byte position of the first row */, block_rows, text_bytes;
  uint32_t checksum; /* CRC-32C of everything before the first row, with this field zero */
  uint32_t zero;
} file_header;

_Static_assert(sizeof(file_header) == 48, "the layout of files");
_Static_assert(SMMA_VECTOR_PART % SMMA_BINARY_BLOCK == 0, "parts are whole blocks");

static bool is_little_endian(void) { return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__; }

static size_t rounded_up(size_t x, size_t multiple) { return (x + multiple - 1) / multiple * multiple; }

smma_binary_layout smma_binary_layout_of(const smma_row_layout *l) {
  smma_binary_layout b = {.row_bytes = 0};
  size_t widest = 1;
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &l->part[p];
    if (!part->count) continue;
    b.offset[p] = rounded_up(b.row_bytes, part->bytes);
    b.row_bytes = b.offset[p] + smma_part_stride(part);
    if (part->bytes > widest) widest = part->bytes;
  }
  b.row_bytes = rounded_up(b.row_bytes, widest);
  return b;
}

/* ---- Columns of rows ---- */

/* Copies `count` pieces of `size` bytes; the strides are the distances of the pieces. Most callers pass a constant
   size, for which compilers inline memcpy. */
static inline void copy_pieces(size_t size, const unsigned char *from, size_t from_stride, unsigned char *to,
                               size_t to_stride, size_t count) {
  for (size_t i = 0; i < count; i++) memcpy(to + i * to_stride, from + i * from_stride, size);
}

static void copy_column(size_t size, const unsigned char *from, size_t from_stride, unsigned char *to, size_t to_stride,
                        size_t count) {
  switch (size) {
    case 1: copy_pieces(1, from, from_stride, to, to_stride, count); break;
    case 2: copy_pieces(2, from, from_stride, to, to_stride, count); break;
    case 4: copy_pieces(4, from, from_stride, to, to_stride, count); break;
    case 8: copy_pieces(8, from, from_stride, to, to_stride, count); break;
    case 16: copy_pieces(16, from, from_stride, to, to_stride, count); break;
    case 32: copy_pieces(32, from, from_stride, to, to_stride, count); break;
    case 64: copy_pieces(64, from, from_stride, to, to_stride, count); break;
    default: copy_pieces(size, from, from_stride, to, to_stride, count); break;
  }
}

/* ---- Writing ---- */

bool smma_binary_write_header(FILE *stream, const smma_vector_header *header, uint64_t rows) {
  static const unsigned char zeros[ALIGNMENT];
  const smma_row_layout layout = smma_vector_layout(header);
  char *text = NULL;
  size_t size = 0, padding;
  FILE *memory = open_memstream(&text, &size);
  file_header h = {.version = SMMA_BINARY_VERSION, .rows = rows, .block_rows = SMMA_BINARY_BLOCK};
  if (!memory) return false;
  smma_text_write_header(memory, header);
  if (fclose(memory) != 0) return free(text), false;
  memcpy(h.magic, smma_binary_magic, sizeof h.magic);
  h.row_bytes = (uint32_t)smma_binary_layout_of(&layout).row_bytes;
  h.text_bytes = (uint32_t)size;
  h.first_row = (uint32_t)rounded_up(sizeof h + size, ALIGNMENT);
  padding = h.first_row - sizeof h - size;
  h.checksum = smma_crc32c(smma_crc32c(smma_crc32c(0, &h, sizeof h), text, size), zeros, padding);
  fwrite(&h, 1, sizeof h, stream);
  fwrite(text, 1, size, stream);
  fwrite(zeros, 1, padding, stream);
  free(text);
  return true;
}

/* Writes the checksum of each block of rows to `to`. */
static void put_checksums(const unsigned char *rows, size_t row_bytes, size_t count, unsigned char *to) {
  const size_t block_bytes = SMMA_BINARY_BLOCK * row_bytes;
  size_t left = count * row_bytes;
  uint32_t checksum[4];
  for (; left >= 4 * block_bytes; left -= 4 * block_bytes, rows += 4 * block_bytes, to += sizeof checksum) {
    smma_crc32c_of_four(rows, block_bytes, checksum);
    memcpy(to, checksum, sizeof checksum);
  }
  while (left > 0) {
    const size_t size = left < block_bytes ? left : block_bytes;
    checksum[0] = smma_crc32c(0, rows, size);
    memcpy(to, checksum, sizeof checksum[0]);
    left -= size, rows += size, to += sizeof checksum[0];
  }
}

void smma_binary_put_rows(const smma_rows *rows, size_t count, void *to) {
  const smma_binary_layout b = smma_binary_layout_of(&rows->layout);
  size_t used = 0;
  for (int p = 0; p < SMMA_PARTS; p++) used += smma_part_stride(&rows->layout.part[p]);
  if (used < b.row_bytes) memset(to, 0, count * b.row_bytes);
  for (int p = 0; p < SMMA_PARTS; p++) {
    const size_t stride = smma_part_stride(&rows->layout.part[p]);
    if (stride) copy_column(stride, rows->part[p], stride, (unsigned char *)to + b.offset[p], b.row_bytes, count);
  }
  put_checksums(to, b.row_bytes, count, (unsigned char *)to + count * b.row_bytes);
}

/* ---- Reading ---- */

/* The state of a block. */
typedef enum { BLOCK_GOOD, BLOCK_UNREADABLE, BLOCK_SHORTENED, BLOCK_DAMAGED, BLOCK_TOO_WIDE } block_state;

struct smma_binary_reader {
  char *path;
  FILE *copy;          /* temporary copy of data from a pipe; NULL: none */
  uint64_t copied;     /* bytes copied so far */
  int descriptor;      /* file descriptor of the stream or of the copy */
  uint64_t start;      /* byte position in the stream at which the vector file starts */
  uint64_t first_row;  /* byte position of the first row, relative to `start` */
  uint64_t rows, next; /* number of rows in the file, and number returned so far */
  smma_binary_layout layout;
  uint32_t *checksum;    /* checksum of each block */
  unsigned char *buffer; /* blocks in the form of the file */
  smma_rows ahead;       /* the same blocks as rows */
  size_t taken, filled;  /* number of rows of `ahead` that were returned, and number of valid rows */
  block_state state;     /* state of the block after the valid rows */
  int cause;             /* errno if that block is unreadable */
};

/* Reads `size` bytes at a position. Returns how many were read, which is fewer at the end of the file, or -1 with errno
   set. */
static ssize_t read_at(int descriptor, void *to, size_t size, uint64_t position) {
  size_t got = 0;
  while (got < size) {
    const ssize_t more = pread(descriptor, (char *)to + got, size - got, (off_t)(position + got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return -1;
    if (more == 0) break;
    got += (size_t)more;
  }
  return (ssize_t)got;
}

static bool read_all(const smma_binary_reader *r, void *to, size_t size, uint64_t position, smma_error *error) {
  const ssize_t got = read_at(r->descriptor, to, size, r->start + position);
  if (got < 0) return smma_fail(error, "%s: cannot read: %s", r->path, strerror(errno));
  return got == (ssize_t)size || smma_fail(error, "%s: the file was shortened while it was read", r->path);
}

/* Copies bytes of the stream to r->copy until that has `until` bytes or the stream ends. */
static bool copy_stream(smma_binary_reader *r, FILE *stream, uint64_t until, smma_error *error) {
  char bytes[1 << 16];
  size_t got = 1;
  for (; r->copied < until && got > 0; r->copied += got) {
    const uint64_t left = until - r->copied;
    got = fread(bytes, 1, left < sizeof bytes ? (size_t)left : sizeof bytes, stream);
    if (fwrite(bytes, 1, got, r->copy) != got) break;
  }
  if (ferror(stream)) return smma_fail(error, "%s: cannot read: %s", r->path, strerror(errno));
  if (fflush(r->copy) != 0 || ferror(r->copy))
    return smma_fail(error, "%s: cannot be stored in a temporary file: %s", r->path, strerror(errno));
  return true;
}

/* Starts a temporary copy of a stream that is not a regular file or has no position, such as a pipe. Copies enough for
   the header. */
static bool begin_copy(smma_binary_reader *r, FILE *stream, smma_error *error) {
  r->copy = tmpfile();
  if (!r->copy) return smma_fail(error, "%s: cannot make a temporary file: %s", r->path, strerror(errno));
  r->descriptor = fileno(r->copy);
  return copy_stream(r, stream, sizeof(file_header) + MOST_TEXT + ALIGNMENT, error);
}

/* Sets r->descriptor and r->start, for a pipe those of a temporary copy, and `*size` to the number of bytes from the
   start on. */
static bool find_file(smma_binary_reader *r, FILE *stream, uint64_t *size, smma_error *error) {
  struct stat status;
  off_t position;
  r->descriptor = fileno(stream);
  if (r->descriptor >= 0 && fstat(r->descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      (position = ftello(stream)) >= 0)
    r->start = (uint64_t)position;
  else if (!begin_copy(r, stream, error))
    return false;
  if (fstat(r->descriptor, &status) != 0) return smma_fail(error, "%s: cannot read: %s", r->path, strerror(errno));
  *size = (uint64_t)status.st_size > r->start ? (uint64_t)status.st_size - r->start : 0;
  return true;
}

static bool fail_cut(const smma_binary_reader *r, uint64_t size, const char *what, smma_error *error) {
  return smma_fail(error, "%s: %llu bytes, too few for %s of a binary vector file: it is truncated", r->path,
                   (unsigned long long)size, what);
}

/* Reads the header's fixed part and checks what does not depend on the text. */
static bool read_fixed(const smma_binary_reader *r, uint64_t size, file_header *h, smma_error *error) {
  size_t known = sizeof h->magic + sizeof h->version;
  memset(h, 0, sizeof *h);
  if (size < known) return fail_cut(r, size, "the header", error);
  if (!read_all(r, h, size < sizeof *h ? (size_t)size : sizeof *h, 0, error)) return false;
  if (memcmp(h->magic, smma_binary_magic, sizeof h->magic) != 0)
    return smma_fail(error,
                     "%s: begins nearly as a binary vector file does: it is damaged, or was taken for text on its way",
                     r->path);
  if (h->version != SMMA_BINARY_VERSION)
    return smma_fail(error, "%s: version %lu of binary vector files; this program reads version %d", r->path,
                     (unsigned long)h->version, SMMA_BINARY_VERSION);
  if (size < sizeof *h) return fail_cut(r, size, "the header", error);
  if (h->text_bytes == 0 || h->text_bytes > MOST_TEXT || h->block_rows != SMMA_BINARY_BLOCK || h->zero != 0 ||
      h->first_row != rounded_up(sizeof *h + h->text_bytes, ALIGNMENT))
    return smma_fail(error, "%s: the header is damaged", r->path);
  return size >= h->first_row || fail_cut(r, size, "the header", error);
}

/* Parses the header's text, which may only contain keys, with the reader of text files. */
static bool parse_text(const smma_binary_reader *r, char *text, size_t size, smma_vector_header *header,
                       smma_error *error) {
  char where[4096];
  FILE *stream = fmemopen(text, size, "r");
  smma_text_reader *reader;
  bool good;
  snprintf(where, sizeof where, "%s: header", r->path);
  reader = stream ? smma_text_open(stream, where, header, error) : NULL;
  good = reader != NULL;
  if (!stream) smma_fail(error, "%s: no memory", r->path);
  if (good) {
    smma_row row;
    good = smma_text_next(reader, &row, error) == SMMA_VECTOR_END ||
           smma_fail(error, "%s: line %llu: nothing may follow the keys", where, smma_text_line(reader));
    smma_text_close(reader);
  }
  if (stream) fclose(stream);
  return good;
}

/* Reads everything before the first row, checks it against the checksum in the fixed part `h`, and parses the text into
   `header`. */
static bool read_header(const smma_binary_reader *r, file_header *h, smma_vector_header *header, smma_error *error) {
  const uint32_t checksum = h->checksum;
  uint32_t found;
  char *bytes = malloc(h->first_row);
  bool good;
  if (!bytes) return smma_fail(error, "%s: no memory", r->path);
  good = read_all(r, bytes, h->first_row, 0, error);
  if (good) {
    h->checksum = 0;
    memcpy(bytes, h, sizeof *h);
    found = smma_crc32c(0, bytes, h->first_row);
    good =
        found == checksum || smma_fail(error, "%s: the header's checksum is %08lx and should be %08lx: it is damaged",
                                       r->path, (unsigned long)found, (unsigned long)checksum);
  }
  good = good && parse_text(r, bytes + sizeof *h, h->text_bytes, header, error);
  free(bytes);
  return good;
}

/* Returns the file size that follows from the header, or 0 with an error if there are more rows than a file can have or
   than are read from a pipe. */
static uint64_t expected_size(const smma_binary_reader *r, const file_header *h, smma_error *error) {
  const uint64_t per_row = (uint64_t)h->row_bytes + 4,
                 blocks = h->rows / SMMA_BINARY_BLOCK + (h->rows % SMMA_BINARY_BLOCK > 0);
  const uint64_t size = h->first_row + h->rows * h->row_bytes + 4 * blocks;
  if (h->rows > (UINT64_MAX >> 2) / per_row)
    return smma_fail(error, "%s: the header says %llu rows, more than any file has", r->path,
                     (unsigned long long)h->rows);
  if (r->copy && size > pipe_limit)
    return smma_fail(
        error, "%s: %llu bytes expected, and no more than %llu are read from a pipe or device; put them in a file",
        r->path, (unsigned long long)size, (unsigned long long)pipe_limit);
  return size;
}

/* Checks that the file has exactly the size that follows from its header. Before that, copies the rest of a pipe. */
static bool check_size(smma_binary_reader *r, FILE *stream, const file_header *h, uint64_t size, smma_error *error) {
  const uint64_t expected = expected_size(r, h, error);
  if (!expected || (r->copy && !copy_stream(r, stream, expected + 1, error))) return false;
  if (r->copy) size = r->copied;
  return size == expected ||
         smma_fail(error, "%s: %llu bytes, but %llu rows are %llu: %s", r->path, (unsigned long long)size,
                   (unsigned long long)h->rows, (unsigned long long)expected,
                   size < expected ? "it is truncated" : "data follows them");
}

static bool open_file(smma_binary_reader *r, FILE *stream, smma_vector_header *header, smma_error *error) {
  smma_instruction shape;
  smma_row_layout layout;
  file_header h;
  uint64_t size = 0;
  size_t table, capacity;
  if (!is_little_endian())
    return smma_fail(error, "%s: binary vector files are little-endian, and this machine is not", r->path);
  if (!find_file(r, stream, &size, error) || !read_fixed(r, size, &h, error) || !read_header(r, &h, header, error))
    return false;
  layout = smma_vector_layout(header);
  r->layout = smma_binary_layout_of(&layout);
  if (h.row_bytes != r->layout.row_bytes)
    return smma_fail(error, "%s: the header says %lu bytes a row, but its formats and k take %zu", r->path,
                     (unsigned long)h.row_bytes, r->layout.row_bytes);
  if (!check_size(r, stream, &h, size, error)) return false;
  r->first_row = h.first_row;
  r->rows = h.rows;
  table = (size_t)smma_binary_blocks((size_t)h.rows) * sizeof *r->checksum;
  capacity = h.rows < BLOCKS * SMMA_BINARY_BLOCK ? (size_t)h.rows : BLOCKS * SMMA_BINARY_BLOCK;
  shape = smma_vector_shape(header);
  r->checksum = malloc(table + 1);
  r->buffer = malloc(capacity * h.row_bytes + 1);
  if (!r->checksum || !r->buffer || !smma_rows_allocate_as(&shape, &layout, capacity + 1, &r->ahead))
    return smma_fail(error, "%s: no memory", r->path);
  r->ahead.instruction = NULL; /* `shape` ends with this function */
  return read_all(r, r->checksum, table, h.first_row + h.rows * h.row_bytes, error);
}

smma_binary_reader *smma_binary_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error) {
  smma_binary_reader *r = calloc(1, sizeof *r);
  if (r) r->path = strdup(path);
  if (!r || !r->path)
    smma_fail(error, "%s: no memory", path);
  else if (open_file(r, stream, header, error))
    return r;
  smma_binary_close(r);
  return NULL;
}

void smma_binary_close(smma_binary_reader *r) {
  if (!r) return;
  if (r->copy) fclose(r->copy);
  smma_rows_free(&r->ahead);
  free(r->checksum);
  free(r->buffer);
  free(r->path);
  free(r);
}

uint64_t smma_binary_rows(const smma_binary_reader *r) { return r->rows; }
uint64_t smma_binary_row(const smma_binary_reader *r) { return r->next; }

/* Returns the index of the first element that has a bit outside its format, or `count` if no element has. `bytes` is a
   compile-time constant in each call. */
static inline size_t first_too_wide(size_t bytes, const void *array, size_t count, int bits) {
  uint64_t surplus = 0;
  for (size_t i = 0; i < count; i++) surplus |= smma_load(bytes, array, i);
  if (smma_low_bits(surplus, bits) == surplus) return count;
  for (size_t i = 0; i < count; i++)
    if (smma_low_bits(smma_load(bytes, array, i), bits) != smma_load(bytes, array, i)) return i;
  return count;
}

/* Returns the first of rows `first` to end - 1 with an element that has bits outside its format, or `end`. */
static size_t first_wrong_row(const smma_rows *rows, size_t first, size_t end) {
  size_t wrong = end;
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &rows->layout.part[p];
    const int bits = part->count ? smma_encoding_of(part->format).bits : 0;
    if (!part->count || (size_t)bits == 8 * part->bytes) continue;
    const size_t count = (end - first) * (size_t)part->count;
    const unsigned char *array = rows->part[p] + first * smma_part_stride(part);
    const size_t at = part->bytes == 1   ? first_too_wide(1, array, count, bits)
                      : part->bytes == 2 ? first_too_wide(2, array, count, bits)
                                         : first_too_wide(part->bytes, array, count, bits);
    if (at < count && first + at / (size_t)part->count < wrong) wrong = first + at / (size_t)part->count;
  }
  return wrong;
}

/* Reads one of several blocks that threads read at the same time: rows `first` to end - 1 of `ahead`. `index` is the
   block's number in the file. If an element is too wide, `*wrong` receives its row; if reading fails, `*wrong` receives
   errno. */
static block_state read_block(smma_binary_reader *r, size_t index, size_t first, size_t end, size_t *wrong) {
  const size_t row_bytes = r->layout.row_bytes, size = (end - first) * row_bytes;
  const uint64_t position = r->start + r->first_row + (r->next + first) * row_bytes;
  unsigned char *bytes = r->buffer + first * row_bytes;
  const ssize_t got = read_at(r->descriptor, bytes, size, position);
  if (got < 0) return *wrong = (size_t)errno, BLOCK_UNREADABLE;
  if (got != (ssize_t)size) return BLOCK_SHORTENED;
  if (smma_crc32c(0, bytes, size) != r->checksum[index]) return BLOCK_DAMAGED;
  for (int p = 0; p < SMMA_PARTS; p++) {
    const size_t stride = smma_part_stride(&r->ahead.layout.part[p]);
    if (stride)
      copy_column(stride, bytes + r->layout.offset[p], row_bytes, r->ahead.part[p] + first * stride, stride,
                  end - first);
  }
  *wrong = first_wrong_row(&r->ahead, first, end);
  return *wrong < end ? BLOCK_TOO_WIDE : BLOCK_GOOD;
}

/* Reads the next blocks once all rows were returned. Rows after a faulty block are not valid. */
static void fill(smma_binary_reader *r) {
  const uint64_t left = r->rows - r->next;
  const size_t count = left < BLOCKS * SMMA_BINARY_BLOCK ? (size_t)left : BLOCKS * SMMA_BINARY_BLOCK;
  const size_t blocks = smma_binary_blocks(count), before = (size_t)(r->next / SMMA_BINARY_BLOCK);
  block_state state[BLOCKS];
  size_t wrong[BLOCKS];
  if (r->taken < r->filled || r->state != BLOCK_GOOD) return;
#pragma omp parallel for num_threads(smma_default_threads()) schedule(static) if (blocks > 1)
  for (size_t b = 0; b < blocks; b++) {
    const size_t first = b * SMMA_BINARY_BLOCK, end = first + SMMA_BINARY_BLOCK;
    state[b] = read_block(r, before + b, first, end < count ? end : count, &wrong[b]);
  }
  r->taken = 0;
  r->filled = count;
  for (size_t b = 0; b < blocks && r->state == BLOCK_GOOD; b++) {
    r->state = state[b];
    if (r->state == BLOCK_GOOD) continue;
    r->filled = r->state == BLOCK_TOO_WIDE ? wrong[b] : b * SMMA_BINARY_BLOCK;
    r->cause = r->state == BLOCK_UNREADABLE ? (int)wrong[b] : 0;
  }
}

/* Reports the element that is too wide, in the row after the valid ones. */
static void fail_wide(const smma_binary_reader *r, smma_error *error) {
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &r->ahead.layout.part[p];
    const int bits = part->count ? smma_encoding_of(part->format).bits : 64;
    const unsigned char *array = r->ahead.part[p] + r->filled * smma_part_stride(part);
    for (size_t i = 0; i < (size_t)part->count; i++) {
      const uint64_t number = smma_load(part->bytes, array, i);
      if (smma_low_bits(number, bits) == number) continue;
      smma_fail(error,
                part->count > 1 ? "%s: row %llu: %llx does not fit %s's %d bits (%s[%zu])"
                                : "%s: row %llu: %llx does not fit %s's %d bits (%s)",
                r->path, (unsigned long long)r->next + 1, (unsigned long long)number, smma_format_text(part->format),
                bits, part->name, i);
      return;
    }
  }
}

static smma_vector_status fail_block(const smma_binary_reader *r, smma_error *error) {
  const uint64_t first = r->next / SMMA_BINARY_BLOCK * SMMA_BINARY_BLOCK, end = first + SMMA_BINARY_BLOCK;
  const unsigned long long from = first + 1, to = end < r->rows ? end : r->rows;
  switch (r->state) {
    case BLOCK_UNREADABLE:
      smma_fail(error, "%s: rows %llu to %llu: cannot read: %s", r->path, from, to, strerror(r->cause));
      break;
    case BLOCK_SHORTENED: smma_fail(error, "%s: the file was shortened while it was read", r->path); break;
    case BLOCK_TOO_WIDE: fail_wide(r, error); break;
    default:
      smma_fail(error, "%s: the checksum of rows %llu to %llu is wrong: they are damaged", r->path, from, to);
      break;
  }
  return SMMA_VECTOR_ERROR;
}

smma_vector_status smma_binary_next(smma_binary_reader *r, smma_row *row, smma_error *error) {
  fill(r);
  if (r->taken == r->filled) return r->state == BLOCK_GOOD ? SMMA_VECTOR_END : fail_block(r, error);
  smma_rows_get(&r->ahead, r->taken++, row);
  r->next++;
  return SMMA_VECTOR_ROW;
}

size_t smma_binary_take_rows(smma_binary_reader *r, smma_rows *rows, size_t first, size_t most) {
  size_t count;
  fill(r);
  count = r->filled - r->taken < most ? r->filled - r->taken : most;
  smma_rows_copy(rows, first, &r->ahead, r->taken, count);
  r->taken += count;
  r->next += count;
  return count;
}
