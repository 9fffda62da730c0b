#define _DEFAULT_SOURCE /* flock, ftruncate, fmemopen and open_memstream */
#include "infer/asker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/clock.h"
#include "io/crc32c.h"
#include "io/file.h"
#include "isa/ascii.h"
#include "rows/text.h"

/* The line that ends each batch of answers. It has the checksum of all bytes of the record before it. */
static const char checksum_format[] = "# crc32c: %08" PRIx32 "\n";

enum {
  CHECKSUM_LINE = 32,
  LARGEST_RECORD = (1 << 30) - 1,
  ASKED_AGAIN = 256 /* maximum number of recorded vectors that the unit computes again when a search resumes */
};

/* ---- Counting ---- */

static int run_counted(void *state, const smma_instruction_info *info, const smma_batch *batch, char *message,
                       size_t size) {
  smma_asking *a = state;
  const double before = smma_seconds();
  const int status = a->unit->methods->run(a->unit->state, info, batch, message, size);
  a->calls++;
  a->computed += batch->rows;
  a->seconds += smma_seconds() - before;
  return status;
}

void smma_asking_open(smma_unit *unit, const smma_instruction *instruction, uint64_t seed, smma_error *error,
                      smma_asking *a) {
  static const smma_unit_methods methods = {.abi = SMMA_UNIT_ABI, .run = run_counted};
  *a = (smma_asking){.unit = unit, .counted = *unit, .instruction = instruction, .seed = seed, .error = error};
  a->counted.methods = &methods;
  a->counted.state = a;
}

/* ---- Answers ---- */

static bool is_known(const smma_asking *a, size_t index, const smma_rows *rows, size_t at) {
  smma_row known, row;
  smma_rows_get(&a->known, index, &known);
  smma_rows_get(rows, at, &row);
  return smma_same_operands_in(&rows->layout, &known, &row);
}

/* Returns the checksum of a text that ends with a checksum line. `checksum` is that of the text before this line. */
static uint32_t add_checksum_line(uint32_t checksum) {
  char line[CHECKSUM_LINE];
  const int length = snprintf(line, sizeof line, checksum_format, checksum);
  return smma_crc32c(checksum, line, (size_t)length);
}

/* Copies the results of the next vectors from the record, as far as the record has them, and sets `*taken` to the
   number of vectors copied. Fails if the record's vectors differ from the search's. */
static bool take_known(smma_asking *a, smma_rows *rows, size_t count, size_t *taken) {
  const smma_part *d = &rows->layout.part[SMMA_PART_D];
  for (*taken = 0; *taken < count && a->rows < a->known_count; (*taken)++, a->rows++, a->taken++) {
    if (!is_known(a, (size_t)a->rows, rows, *taken))
      return smma_fail(
          a->error,
          "--record: row %llu is not a row of this search: the file is another version's or of other options, or was "
          "changed; name another file",
          (unsigned long long)a->rows + 1);
    memcpy(rows->part[SMMA_PART_D] + *taken * d->bytes, a->known.part[SMMA_PART_D] + a->rows * d->bytes, d->bytes);
  }
  return true;
}

/* Appends the results of vectors `first` to count - 1, and a line with their checksum, to the record. */
static bool write_answers(smma_asking *a, const smma_rows *rows, size_t first, size_t count) {
  char *text = NULL;
  size_t size = 0;
  FILE *lines = open_memstream(&text, &size);
  if (!lines) return smma_no_memory(a->error);
  for (size_t i = first; i < count; i++) {
    smma_row row;
    smma_rows_get(rows, i, &row);
    smma_text_write_row(lines, &rows->layout, &row);
  }
  bool written = fclose(lines) == 0 && text;
  if (!written) smma_no_memory(a->error);
  if (written) {
    a->checksum = smma_crc32c(a->checksum, text, size);
    fwrite(text, 1, size, a->record);
    fprintf(a->record, checksum_format, a->checksum);
    written = fflush(a->record) == 0 || smma_fail(a->error, "--record: cannot write: %s", strerror(errno));
    a->checksum = add_checksum_line(a->checksum);
  }
  free(text);
  return written;
}

bool smma_asking_run(smma_asking *a, smma_rows *rows, size_t count) {
  size_t taken;
  if (!take_known(a, rows, count, &taken)) return false;
  if (taken == count) return true;
  if (!smma_unit_ask(&a->counted, rows, taken, count - taken, NULL, a->error)) return false;
  a->rows += count - taken;
  return !a->record || write_answers(a, rows, taken, count);
}

/* ---- Records ---- */

/* Writes a line of the header, with '?' for control characters; writes nothing if `value` is empty. */
static void write_key(FILE *stream, const char *key, const char *value) {
  if (!*value) return;
  fprintf(stream, "# %s: ", key);
  for (; *value; value++) putc(smma_is_control(*value) ? '?' : *value, stream);
  putc('\n', stream);
}

/* Returns the header of this search's record: unit, seed, instruction and formats. The caller frees the text. Returns
   NULL if memory runs out. */
static char *make_header(const smma_asking *a) {
  const smma_unit_description *d = &a->unit->description;
  smma_vector_header header;
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return NULL;
  write_key(stream, "unit", a->unit->name);
  write_key(stream, "device", d->device);
  write_key(stream, "driver", d->driver);
  write_key(stream, "toolkit", d->toolkit);
  fprintf(stream, "# seed: %" PRIu64 "\n", a->seed);
  smma_vector_header_of(a->instruction, &header);
  smma_text_write_header(stream, &header);
  if (fclose(stream) == 0) return text;
  free(text);
  return NULL;
}

/* Fails with a message that names the first line of the record that differs from this search's header. */
static bool refuse_header(const smma_asking *a, const char *path, const char *text, const char *header) {
  int line = 1;
  size_t found, wanted;
  for (;; line++, text += found + 1, header += wanted + 1) {
    found = strcspn(text, "\n"), wanted = strcspn(header, "\n");
    if (found != wanted || strncmp(text, header, found) != 0 || !text[found] || !header[wanted]) break;
  }
  return smma_fail(a->error, "%s: line %d: '%.*s', but this search's record has '%.*s'; name another file for --record",
                   path, line, (int)(found < 200 ? found : 200), text, (int)(wanted < 200 ? wanted : 200), header);
}

/* The text of a record. */
typedef struct {
  const char *path;
  const char *text; /* all bytes of the file */
  size_t header;    /* number of bytes of the header */
  size_t size;      /* number of bytes up to the end of the last complete line */
  int line;         /* number of the header's last line */
} record_text;

/* Checks every checksum line. Sets `*good` to the size up to and including the last checksum line, `*rows` to the
   number of lines with answers, `*sealed` to the number of those before the last checksum line, and a->checksum to the
   checksum of the first `*good` bytes. */
static bool check_lines(smma_asking *a, const record_text *r, size_t *good, size_t *rows, size_t *sealed) {
  uint32_t checksum = smma_crc32c(0, r->text, r->header);
  int number = r->line, from = number + 1;
  *good = r->header, *rows = *sealed = 0;
  for (const char *line = r->text + r->header, *end; line < r->text + r->size; line = end + 1) {
    char wanted[CHECKSUM_LINE];
    end = memchr(line, '\n', (size_t)(r->text + r->size - line));
    number++;
    if (line[0] == '#') {
      snprintf(wanted, sizeof wanted, checksum_format, checksum);
      if ((size_t)(end + 1 - line) != strlen(wanted) || memcmp(line, wanted, strlen(wanted)) != 0)
        return smma_fail(a->error, "%s: lines %d to %d are damaged; name another file for --record", r->path, from,
                         number);
      *good = (size_t)(end + 1 - r->text), *sealed = *rows, from = number + 1;
    } else {
      ++*rows;
    }
    checksum = smma_crc32c(checksum, line, (size_t)(end + 1 - line));
  }
  a->checksum = smma_crc32c(0, r->text, *good);
  return true;
}

/* Appends all vectors of the record to a->known; fails if a line cannot be read. */
static bool read_rows(smma_asking *a, const record_text *r) {
  smma_vector_header header;
  smma_vector_status status = SMMA_VECTOR_ERROR;
  smma_row row;
  FILE *stream = fmemopen((void *)r->text, r->size, "r");
  smma_vector_reader *reader = stream ? smma_vector_open(stream, r->path, &header, a->error) : NULL;
  bool good = reader != NULL || (!stream && smma_no_memory(a->error));
  while (good && (status = smma_vector_next(reader, &row, a->error)) == SMMA_VECTOR_ROW) {
    if (a->known_count == a->known.capacity && !smma_rows_grow(&a->known, 2 * a->known.capacity + 1024))
      good = smma_no_memory(a->error);
    if (good) smma_rows_put(&a->known, a->known_count++, &row);
  }
  if (reader) smma_vector_close(reader);
  if (stream) fclose(stream);
  return good && status == SMMA_VECTOR_END;
}

/* Reads the answers of a record into a->known. Answers after the last checksum line belong to an interrupted batch and
   are ignored; the unit will compute them again. Only the last line of the file may be incomplete. Sets `*good` to the
   size of the valid part: up to and including the last checksum line, or 0 if the header is incomplete. */
static bool take_record(smma_asking *a, const char *path, const smma_file_bytes *file, const char *header,
                        size_t *good) {
  record_text r = {path, file->bytes, strlen(header), file->size, 0};
  size_t rows, sealed;
  *good = 0;
  if (r.size < r.header && memcmp(r.text, header, r.size) == 0)
    return true; /* interrupted while its header was written */
  if (r.size < r.header || memcmp(r.text, header, r.header) != 0) return refuse_header(a, path, r.text, header);
  for (const char *c = header; *c; c++) r.line += *c == '\n';
  while (r.text[r.size - 1] != '\n') r.size--;
  if (!read_rows(a, &r) || !check_lines(a, &r, good, &rows, &sealed)) return false;
  if (rows != a->known_count)
    return smma_fail(a->error, "%s: %zu lines, but %zu rows: it was changed; name another file for --record", path,
                     rows, a->known_count);
  a->known_count = sealed;
  return true;
}

/* Lets the unit compute up to ASKED_AGAIN recorded vectors again, spread evenly over the record. Fails if a result
   differs, because the unit's name may now refer to a different unit. */
static bool still_answers_so(smma_asking *a, const char *path) {
  const size_t count = a->known_count < ASKED_AGAIN ? a->known_count : ASKED_AGAIN;
  const smma_part *d = &a->known.layout.part[SMMA_PART_D];
  smma_rows again = {0};
  bool good = count == 0 || smma_rows_allocate(a->instruction, count, &again) || smma_no_memory(a->error);
  for (size_t i = 0; good && i < count; i++) {
    smma_row row;
    smma_rows_get(&a->known, i * a->known_count / count, &row);
    smma_rows_put(&again, i, &row);
  }
  good = good && (count == 0 || smma_unit_ask(a->unit, &again, 0, count, NULL, a->error));
  for (size_t i = 0; good && i < count; i++) {
    const size_t at = i * a->known_count / count;
    if (memcmp(again.part[SMMA_PART_D] + i * d->bytes, a->known.part[SMMA_PART_D] + at * d->bytes, d->bytes) != 0)
      good = smma_fail(a->error,
                       "%s: the unit has another result for row %zu now: it was changed, or is no function of its "
                       "operands; name another file for --record",
                       path, at + 1);
  }
  smma_rows_free(&again);
  return good;
}

/* Opens the file and locks it for this search. Returns its descriptor, or -1 with a message. */
static int open_locked(const smma_asking *a, const char *path) {
  struct stat is;
  const int descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0) {
    smma_fail(a->error, "%s: cannot write: %s", path, strerror(errno));
    return -1;
  }
  if (fstat(descriptor, &is) != 0 || !S_ISREG(is.st_mode))
    smma_fail(a->error, "%s: not a regular file; name another file for --record", path);
  else if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return descriptor;
  else if (errno == EWOULDBLOCK)
    smma_fail(a->error, "%s: another search writes this record; wait for its end, or name another file for --record",
              path);
  else
    smma_fail(a->error, "%s: cannot lock: %s; name a file on another disk for --record", path, strerror(errno));
  close(descriptor);
  return -1;
}

/* Truncates the record to its first `good` bytes and opens it for appending. Writes the header if `good` is 0. */
static bool begin_record(smma_asking *a, int descriptor, const char *path, size_t good, const char *header) {
  if (ftruncate(descriptor, (off_t)good) != 0 || !(a->record = fdopen(descriptor, "a")))
    return smma_fail(a->error, "%s: cannot write: %s", path, strerror(errno));
  if (good == 0) a->checksum = smma_crc32c(0, header, strlen(header));
  if (good == 0) fputs(header, a->record);
  return fflush(a->record) == 0 || smma_fail(a->error, "%s: cannot write: %s", path, strerror(errno));
}

bool smma_asking_open_record(smma_asking *a, const char *path) {
  smma_file_bytes file = {NULL, 0};
  size_t kept = 0;
  char *header = make_header(a);
  bool good = (header && smma_rows_allocate(a->instruction, 1024, &a->known)) || smma_no_memory(a->error);
  const int descriptor = good ? open_locked(a, path) : -1;
  good = descriptor >= 0 && smma_file_load(path, LARGEST_RECORD, &file, a->error) &&
         take_record(a, path, &file, header, &kept) && still_answers_so(a, path) &&
         begin_record(a, descriptor, path, kept, header);
  if (!a->record && descriptor >= 0) close(descriptor);
  smma_file_release(&file);
  free(header);
  if (!good) smma_asking_close_record(a);
  return good;
}

void smma_asking_close_record(smma_asking *a) {
  if (a->record) fclose(a->record);
  a->record = NULL;
  smma_rows_free(&a->known);
  a->known_count = 0;
}
