/* A recorded vector file as a unit. It knows only the test vectors of the file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "rows/vectors.h"
#include "unit/recording.h"
#include "unit/unit.h"

typedef struct {
  smma_rows rows;
  size_t count;
  char recorded_on[128];
  size_t *table, places; /* table: hash table of `places` entries. An entry is the index of a vector plus one, at the
                            hash of its operands; 0: empty */
} recording;

enum { MOST_ROWS = 1 << 24 /* most vectors held in memory, with their table; a recording has some 10,000 */ };

/* Returns a hash of all operands. The shifts bring the high bits of numbers to the low bits, which select the entry:
   the low bits of a power of two in FP64 are all zero. */
static uint64_t hash_row(const smma_row_layout *layout, const smma_row *row) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int p = 0; p < SMMA_PART_D; p++) {
    const smma_part *part = &layout->part[p];
    for (int i = 0; i < part->count; i++) {
      hash ^= smma_part_in(row, part)[i];
      hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
      hash ^= hash >> 32;
    }
  }
  return hash;
}

/* Returns the table's entry for the vector with these operands. If the table does not have the vector, the entry is
   empty. */
static size_t *find(const recording *r, const smma_row *row) {
  size_t at = (size_t)hash_row(&r->rows.layout, row) & (r->places - 1);
  smma_row other;
  for (; r->table[at]; at = (at + 1) & (r->places - 1)) {
    smma_rows_get(&r->rows, r->table[at] - 1, &other);
    if (smma_same_operands_in(&r->rows.layout, row, &other)) break;
  }
  return &r->table[at];
}

static void release(recording *r) {
  smma_rows_free(&r->rows);
  free(r->table);
  free(r);
}

/* Doubles the capacity, keeps the vectors and builds the table again. */
static bool grow(recording *r) {
  const size_t capacity = r->rows.capacity ? 2 * r->rows.capacity : 4096;
  smma_row row;
  if (!smma_rows_grow(&r->rows, capacity)) return false;
  free(r->table);
  r->places = 2 * capacity;
  r->table = calloc(r->places, sizeof *r->table);
  if (!r->table) return false;
  for (size_t i = 0; i < r->count; i++) {
    smma_rows_get(&r->rows, i, &row);
    *find(r, &row) = i + 1;
  }
  return true;
}

/* Adds a vector of the file. A repeated vector is accepted if its result is the same, and is otherwise an error. */
static bool add_row(recording *r, const smma_row *row, const char *path, const char *word, unsigned long long at,
                    smma_error *error) {
  size_t *place;
  if (r->count == MOST_ROWS)
    return smma_fail(error, "%s: %s %llu: more than %d rows; split the file", path, word, at, MOST_ROWS);
  if (r->count == r->rows.capacity && !grow(r)) return smma_fail(error, "%s: no memory for its rows", path);
  place = find(r, row);
  if (*place && smma_rows_result(&r->rows, *place - 1) != row->d)
    return smma_fail(error, "%s: %s %llu: an earlier %s has another result of the same operands", path, word, at, word);
  if (!*place) *place = r->count + 1;
  smma_rows_put(&r->rows, r->count++, row);
  return true;
}

static bool read_file(recording *r, FILE *stream, const char *path, smma_error *error) {
  smma_vector_header header;
  smma_row row;
  smma_vector_status status = SMMA_VECTOR_ERROR;
  smma_vector_reader *reader = smma_vector_open(stream, path, &header, error);
  if (!reader) return false;
  r->rows.instruction = smma_instruction_of_header(&header, path, error);
  snprintf(r->recorded_on, sizeof r->recorded_on, "%s", header.recorded_on);
  while (r->rows.instruction && (status = smma_vector_next(reader, &row, error)) == SMMA_VECTOR_ROW)
    if (!add_row(r, &row, path, smma_vector_place_word(reader), smma_vector_place(reader), error)) {
      status = SMMA_VECTOR_ERROR;
      break;
    }
  smma_vector_close(reader);
  if (status == SMMA_VECTOR_END && r->count == 0) return smma_fail(error, "%s: a header without rows", path);
  return status == SMMA_VECTOR_END;
}

static int file_open(const char *path, void **unit, char *message, size_t size) {
  recording *r = calloc(1, sizeof *r);
  FILE *stream = fopen(path, "r");
  smma_error error;
  bool read = false;
  if (!stream)
    smma_fail(&error, "%s: %s", path, strerror(errno));
  else if (!r)
    smma_fail(&error, "%s: no memory", path);
  else
    read = read_file(r, stream, path, &error);
  if (stream) fclose(stream);
  *unit = r;
  if (read) return 0;
  if (r) release(r);
  snprintf(message, size, "%s", error.text);
  return 1;
}

static void file_close(void *unit) { release(unit); }

static void file_describe(void *unit, smma_unit_description *description) {
  const recording *r = unit;
  snprintf(description->device, sizeof description->device, "%s",
           *r->recorded_on ? r->recorded_on : "a file without the name of a device");
}

static int file_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  const smma_instruction *has = ((const recording *)unit)->rows.instruction;
  if (has == i->instruction) return 0;
  snprintf(message, size, "the file has rows of %s %s only", smma_arch_name(has), has->name);
  return 1;
}

static int file_run(void *unit, const smma_instruction_info *info, const smma_batch *batch, char *message,
                    size_t size) {
  const recording *r = unit;
  const smma_rows asked = smma_rows_of_batch(r->rows.instruction, batch);
  for (size_t i = 0; i < batch->rows; i++) {
    smma_row row;
    size_t place;
    smma_rows_get(&asked, i, &row);
    place = *find(r, &row);
    if (!place) {
      snprintf(message, size, "row %zu is not in the file; a recording has results for its own rows only", i);
      return 1;
    }
    smma_store(smma_format_bytes(info->d), batch->d, i, smma_rows_result(&r->rows, place - 1));
  }
  return 0;
}

const smma_unit_methods smma_unit_file = {SMMA_UNIT_ABI, file_open, file_close, file_describe, file_computes, file_run};

const smma_rows *smma_recorded_rows(const smma_unit *unit, size_t *count) {
  const recording *r = unit->state;
  *count = r->count;
  return &r->rows;
}
