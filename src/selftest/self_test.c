#include "selftest/self_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "isa/catalogue.h"
#include "isa/id.h"
#include "rows/check.h"
#include "rows/generate.h"
#include "unit/unit.h"

enum { SIDE = 32 }; /* the greatest M and N */

static const smma_self_test_digest digests[] = {
#define SMMA_DIGEST(arch, instruction, digest) {arch, instruction, UINT64_C(digest)},
#include "selftest/digests.def"
#undef SMMA_DIGEST
};

static const char recorded[] = {
#include "recorded_rows.inc"
};

const smma_self_test_data smma_self_test_shipped = {digests, sizeof digests / sizeof *digests, recorded,
                                                    sizeof recorded - 1};

/* ---- Products of rows ---- */

/* Computes D = A B + C from rows' operands. Each row of A, and each column of B, consists of the operands of `steps`
   rows, one after the other along K. Element (i, j) of C is the c of row 2 i - j. With one step, each element on D's
   diagonal is therefore the result of a row. Rows of sparse instructions hold only the selected products, so the dense
   instruction is used for them. */
static smma_status multiply(const smma_instruction *instruction, const char *kernel, const smma_batch *rows, size_t m,
                            size_t n, size_t steps, void *d, smma_error *error) {
  smma_instruction dense = *instruction;
  const size_t bytes = smma_format_bytes(instruction->c);
  unsigned char c[SIDE * SIDE * sizeof(uint64_t)];
  smma_gemm_arguments g;
  smma_gemm_defaults(&g, sizeof g);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++)
      memcpy(c + (i * n + j) * bytes, (const char *)rows->c + (2 * i + rows->rows - j) % rows->rows * bytes, bytes);
  g.m = m, g.n = n, g.k = steps * (size_t)instruction->k;
  g.a = rows->a, g.b = rows->b, g.c = c, g.d = d;
  g.order_b = SMMA_COLUMN_MAJOR;
  if (instruction->scale_block) g.scale_a = rows->scale_a, g.scale_b = rows->scale_b;
  g.kernel = kernel;
  g.error = error;
  dense.sparse = 0;
  return smma_gemm(&dense, &g);
}

/* ---- Digests ---- */

/* Adds `count` elements to an FNV-1a hash and returns it. */
static uint64_t hash_elements(uint64_t hash, size_t bytes, const void *x, size_t count) {
  for (size_t e = 0; e < count; e++) {
    uint64_t bits = smma_load(bytes, x, e);
    for (size_t byte = 0; byte < bytes; byte++, bits >>= 8) hash = (hash ^ (bits & 0xff)) * UINT64_C(0x100000001b3);
  }
  return hash;
}

bool smma_self_test_compute(const smma_instruction *instruction, const char *kernel, uint64_t *digest,
                            unsigned long long *outputs) {
  static const struct { size_t m, n, steps; } products[] = {{SIDE / 2, SIDE, 1}, {1, SIDE, 1}, {SIDE / 4, SIDE / 2, 2}};
  const size_t bytes = smma_format_bytes(instruction->d);
  uint64_t d[SIDE * SIDE];
  smma_rows rows;
  bool done = smma_rows_allocate(instruction, SIDE, &rows);
  *digest = UINT64_C(0xcbf29ce484222325);
  if (!done) return false;
  for (int kind = 0; done && kind < SMMA_ROWS_KINDS; kind++) {
    smma_generate_rows(&rows, 1, 0, SIDE, 0, (smma_row_kind)kind);
    const smma_batch batch = smma_rows_batch(&rows, 0, SIDE, NULL);
    for (size_t p = 0; done && p < sizeof products / sizeof *products; p++) {
      const size_t count = products[p].m * products[p].n;
      done = multiply(instruction, kernel, &batch, products[p].m, products[p].n, products[p].steps, d, NULL) == SMMA_OK;
      *digest = hash_elements(*digest, bytes, d, count);
      *outputs += count;
    }
  }
  smma_rows_free(&rows);
  return done;
}

/* ---- A run ---- */

typedef struct {
  smma_self_test *result;
  const char *kernel; /* kernel that computes the rows */
} run;

static void differs(const run *r, const char *line) {
  r->result->differences++;
  smma_datum_append(r->result->lines, smma_datum_text(line));
}

static bool check_digest(const run *r, const smma_self_test_digest *expected, smma_error *error) {
  const smma_instruction *i = smma_find(expected->arch, expected->instruction, NULL);
  unsigned long long outputs = 0;
  char line[256];
  if (!i) return smma_fail(error, "%s has no instruction %s", expected->arch, expected->instruction);
  for (size_t k = 0; k < r->result->kernels; k++) {
    const char *kernel = r->result->kernel[k];
    uint64_t got;
    outputs = 0;
    if (smma_units_stopped()) return smma_fail(error, "interrupted");
    if (!smma_self_test_compute(i, kernel, &got, &outputs)) return smma_no_memory(error);
    snprintf(line, sizeof line, "%s %s: the digest of kernel %s is %016" PRIx64 ", not %016" PRIx64, expected->arch,
             expected->instruction, kernel, got, expected->digest);
    if (got != expected->digest) differs(r, line);
  }
  r->result->operations++;
  r->result->outputs += outputs;
  return true;
}

/* Computes recorded rows by a kernel, as the diagonals of products of at most SIDE rows. */
static bool compute_rows(const smma_instruction *i, const smma_batch *batch, void *context, smma_error *error) {
  const smma_rows rows = smma_rows_of_batch(i, batch);
  const size_t bytes = smma_format_bytes(i->d);
  for (size_t first = 0, count; first < batch->rows; first += count) {
    uint64_t d[SIDE * SIDE];
    count = batch->rows - first < SIDE ? batch->rows - first : SIDE;
    const smma_batch some = smma_rows_batch(&rows, first, count, NULL);
    if (multiply(i, ((const run *)context)->kernel, &some, count, count, 1, d, error) != SMMA_OK) return false;
    for (size_t row = 0; row < count; row++)
      memcpy((char *)batch->d + (first + row) * bytes, (char *)d + row * (count + 1) * bytes, bytes);
  }
  return true;
}

static void report_row(const smma_mismatch *m, void *context) {
  const run *r = context;
  char line[1024];
  snprintf(line, sizeof line,
           "%s %s: kernel %s returns %" PRIx64 " for a row (line %llu) of which %s returned %" PRIx64, m->header->arch,
           m->header->instruction, r->kernel, m->got, m->line, m->header->recorded_on, m->row->d);
  differs(r, line);
}

/* Computes one file by each kernel. Counts its rows once. */
static bool check_recording(run *r, const char *text, size_t length, smma_error *error) {
  const smma_check_watcher watcher = {.compute = compute_rows, .mismatch = report_row, .context = r};
  for (size_t k = 0; k < r->result->kernels; k++) {
    smma_check_totals totals = {0};
    FILE *stream = fmemopen((void *)text, length, "r");
    r->kernel = r->result->kernel[k];
    const bool done = stream && smma_check_stream(stream, "a recording", &totals, &watcher, error);
    if (!stream) return smma_no_memory(error);
    fclose(stream);
    if (!done) return false;
    if (k == 0) r->result->rows += totals.rows;
  }
  r->result->recordings++;
  return true;
}

/* Returns the record of one file, or NULL if memory runs out. The first line, which cmake/recorded.cmake writes, has
   the id and the number of test vectors of the whole file. */
static smma_datum *recording(const char *text, size_t length) {
  FILE *stream = fmemopen((void *)text, length, "r");
  smma_datum *record = smma_datum_record();
  smma_vector_reader *reader;
  smma_vector_header header;
  smma_error error;
  const smma_instruction *i;
  char id[256], instruction[SMMA_ID_SIZE];
  unsigned long long vectors;
  if (!stream || sscanf(text, "# recording: %255[^,], %llu vectors", id, &vectors) != 2 ||
      !(reader = smma_vector_open(stream, id, &header, &error))) {
    if (stream) fclose(stream);
    smma_datum_free(record);
    return NULL;
  }
  i = smma_instruction_of_header(&header, id, &error);
  smma_put_text(record, "id", id);
  smma_put_text(record, "instruction", i ? smma_instruction_id(i, instruction) : NULL);
  smma_put_text(record, "recorded_on", header.recorded_on);
  smma_put_count(record, "vectors", vectors);
  smma_vector_close(reader);
  fclose(stream);
  return record;
}

smma_datum *smma_recordings_datum(void) {
  smma_datum *list = smma_datum_list();
  for (const char *text = recorded, *end; (end = memchr(text, '\f', (size_t)(recorded + sizeof recorded - 1 - text)));
       text = end + 1)
    smma_datum_append(list, recording(text, (size_t)(end - text)));
  return list;
}

bool smma_self_test_run(const smma_self_test_data *data, smma_self_test *result, smma_error *error) {
  run r = {result, NULL};
  const char *text = data->recorded, *end;
  *result = (smma_self_test){.lines = smma_datum_list()};
  for (const char *name; (name = smma_kernel_name(result->kernels)) && result->kernels < SMMA_SELF_TEST_KERNELS;)
    result->kernel[result->kernels++] = name;
  for (size_t d = 0; d < data->digests; d++)
    if (!check_digest(&r, &data->digest[d], error)) return false;
  for (; (end = memchr(text, '\f', (size_t)(data->recorded + data->length - text))); text = end + 1)
    if (!check_recording(&r, text, (size_t)(end - text), error)) return false;
  return smma_datum_is_complete(result->lines) || smma_no_memory(error);
}

void smma_self_test_free(smma_self_test *result) {
  smma_datum_free(result->lines);
  result->lines = NULL;
}

void smma_self_test_text(const smma_self_test *result, char *text, size_t size) {
  char kernels[128] = "";
  for (size_t k = 0, used = 0; k < result->kernels && used < sizeof kernels; k++)
    used += (size_t)snprintf(kernels + used, sizeof kernels - used, "%s%s", k ? ", " : "", result->kernel[k]);
  snprintf(text, size,
           "%zu kernels (%s), each: %llu outputs of %zu operations, and %llu rows of %zu recordings from hardware; "
           "%llu differences",
           result->kernels, kernels, result->outputs, result->operations, result->rows, result->recordings,
           result->differences);
}

smma_datum *smma_self_test_datum(smma_self_test *result) {
  smma_datum *record = smma_datum_record(), *kernels = smma_datum_list();
  char text[512];
  for (size_t k = 0; k < result->kernels; k++) smma_datum_append(kernels, smma_datum_text(result->kernel[k]));
  smma_self_test_text(result, text, sizeof text);
  smma_datum_put(record, "kernels", kernels);
  smma_put_count(record, "operations", result->operations);
  smma_put_count(record, "outputs", result->outputs);
  smma_put_count(record, "recordings", result->recordings);
  smma_put_count(record, "rows", result->rows);
  smma_datum_put(record, "differences", result->lines);
  smma_put_text(record, "text", text);
  result->lines = NULL;
  return record;
}
