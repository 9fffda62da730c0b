#define _DEFAULT_SOURCE /* flock */
#include "experiment/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"

enum { LARGEST_FILE = 1 << 28 /* a thousand times the size of the largest experiment */ };

/* Returns the FNV-1a hash of a text. */
static uint64_t digest(const char *text, size_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash;
}

static const char end_format[] = "# cell %zu: %016" PRIx64 "\n";

/* Returns the number of the cell that `line` ends, if the line's checksum matches `rows`; otherwise returns `cells`. */
static size_t ended_cell(const char *line, size_t length, const char *rows, size_t cells) {
  char wanted[64];
  size_t cell;
  if (length >= sizeof wanted || sscanf(line, "# cell %zu:", &cell) != 1 || cell >= cells) return cells;
  snprintf(wanted, sizeof wanted, end_format, cell, digest(rows, (size_t)(line - rows)));
  return strlen(wanted) == length && memcmp(line, wanted, length) == 0 ? cell : cells;
}

/* Reads the cells of `text`, which ends with a zero byte; `*good` becomes the length of the complete cells. */
static bool take_cells(const char *path, const char *text, size_t *good, char **rows, size_t cells, smma_error *error) {
  const char *first = text, *line = text, *end;
  for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    size_t cell;
    if (line[0] != '#') continue;
    cell = ended_cell(line, (size_t)(end + 1 - line), first, cells);
    if (cell == cells || rows[cell])
      return smma_fail(error, "%s: byte %zu after the head: damaged; remove the file to start again", path,
                       (size_t)(line - text));
    rows[cell] = strndup(first, (size_t)(line - first));
    if (!rows[cell]) return smma_no_memory(error);
    first = end + 1;
  }
  *good = (size_t)(first - text);
  return true;
}

static bool take(const char *path, const char *head, char **rows, size_t cells, size_t *good, smma_error *error) {
  size_t length = strlen(head);
  smma_file_bytes file;
  bool taken = false;
  if (!smma_file_load(path, LARGEST_FILE, &file, error)) return false;
  const char *text = file.bytes;
  *good = 0;
  if (strlen(text) < length && strncmp(text, head, strlen(text)) == 0)
    taken = true; /* the run was interrupted while writing the head */
  else if (strncmp(text, head, length) != 0)
    smma_fail(error, "%s: rows of another version, seed or other parameters; use the same to go on, or remove the file",
              path);
  else if ((taken = take_cells(path, text + length, good, rows, cells, error)))
    *good += length;
  smma_file_release(&file);
  return taken;
}

bool smma_part_read(const char *path, const char *head, char **rows, size_t cells, smma_error *error) {
  char **found = calloc(cells + 1, sizeof *found);
  size_t good;
  const bool taken = found ? take(path, head, found, cells, &good, error) : smma_no_memory(error);
  for (size_t n = 0; found && n < cells; n++)
    if (taken && !rows[n])
      rows[n] = found[n];
    else
      free(found[n]);
  free(found);
  return taken;
}

static bool cannot_write(const smma_part *part, smma_error *error) {
  return smma_fail(error, "%s: cannot write: %s", part->path, strerror(errno));
}

bool smma_part_open(smma_part *part, const char *path, const char *head, char **rows, size_t cells, smma_error *error) {
  struct stat status;
  size_t good = 0;
  *part = (smma_part){NULL, path};
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
    return smma_fail(error, "%s: this is no file to which rows can be added; remove it", path);
  part->stream = fopen(path, "ab");
  if (!part->stream) return cannot_write(part, error);
  if (flock(fileno(part->stream), LOCK_EX | LOCK_NB) != 0)
    return smma_fail(error, "%s: another run of this experiment writes it; wait for its end, or name another folder",
                     path);
  if (fstat(fileno(part->stream), &status) != 0) return cannot_write(part, error);
  if (status.st_size > 0 && !take(path, head, rows, cells, &good, error)) return false;
  if (ftruncate(fileno(part->stream), (off_t)good) != 0) return cannot_write(part, error);
  if (good == 0 && (fputs(head, part->stream) < 0 || fflush(part->stream) != 0)) return cannot_write(part, error);
  return true;
}

bool smma_part_add(smma_part *part, size_t cell, const char *rows, smma_error *error) {
  fputs(rows, part->stream);
  fprintf(part->stream, end_format, cell, digest(rows, strlen(rows)));
  return fflush(part->stream) == 0 || cannot_write(part, error);
}

bool smma_part_close(smma_part *part, smma_error *error) {
  bool closed = !part->stream || fclose(part->stream) == 0;
  part->stream = NULL;
  return closed || cannot_write(part, error);
}
