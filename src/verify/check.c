#include "verify/check.h"

/* The first key of which header and instruction say different formats, as a line; false if there is none. */
static bool formats_disagree(const smma_vector_header *h, const smma_instruction *i, const char *path,
                             smma_error *error) {
  const struct {
    const char *key;
    smma_format_id said, has;
  } keys[] = {
      {"a", h->a, i->a}, {"b", h->b, i->b}, {"c", h->c, i->c}, {"d", h->d, i->d}, {"scale", h->scale, i->scale}};
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
    if (keys[k].said != keys[k].has)
      return !smma_fail(error, "%s: line %llu: the header says %s: %s, but %s has %s; mend the header", path, h->line,
                        keys[k].key, smma_format_text(keys[k].said), i->name, smma_format_text(keys[k].has));
  return false;
}

const smma_instruction *smma_instruction_of_header(const smma_vector_header *h, const char *path, smma_error *error) {
  char message[1024];
  const smma_instruction *i = smma_resolve_name(h->arch, h->instruction, message, sizeof message);
  if (!i) {
    smma_fail(error, "%s: line %llu: %s", path, h->line, message);
    return NULL;
  }
  if (h->k != i->k) {
    smma_fail(error, "%s: line %llu: the header says k: %d, but %s has k = %d; mend the header", path, h->line, h->k,
              i->name, i->k);
    return NULL;
  }
  if (formats_disagree(h, i, path, error)) return NULL;
  if (h->scale_block != i->scale_block) {
    smma_fail(error, "%s: line %llu: the header says a scale per %d elements, but %s has one per %d; mend the header",
              path, h->line, h->scale_block, i->name, i->scale_block);
    return NULL;
  }
  return i;
}

static void decode(smma_format_id format, const uint64_t *encoding, int count, smma_number *out) {
  smma_encoding f = smma_encoding_of(format);
  for (int i = 0; i < count; i++) out[i] = smma_decode(f, encoding[i]);
}

uint64_t smma_compute_row(const smma_operation *o, const smma_vector_row *row) {
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], scale_a[SMMA_MAXIMUM_K], scale_b[SMMA_MAXIMUM_K];
  smma_operands x = {a, b, scale_a, scale_b};
  int scales = o->scale_block ? o->k / o->scale_block : 0;
  decode(o->a, row->a, o->k, a);
  decode(o->b, row->b, o->k, b);
  decode(o->scale, row->scale_a, scales, scale_a);
  decode(o->scale, row->scale_b, scales, scale_b);
  return smma_dot_add(o, x, row->c);
}

bool smma_same_result(const smma_operation *o, uint64_t expected, uint64_t got) {
  smma_encoding d = smma_encoding_of(o->d);
  if (expected == got) return true;
  return o->rule.nan == SMMA_NAN_QUIET && smma_decode(d, expected).kind == SMMA_NAN &&
         smma_decode(d, got).kind == SMMA_NAN;
}

bool smma_check_stream(FILE *stream, const char *path, smma_check_totals *totals, const smma_check_watcher *watcher,
                       smma_error *error) {
  smma_vector_header header;
  smma_vector_row row;
  smma_vector_status status;
  smma_operation operation;
  const smma_instruction *instruction;
  smma_vector_reader *reader = smma_vector_open(stream, path, &header, error);
  if (!reader) return false;
  instruction = smma_instruction_of_header(&header, path, error);
  if (!instruction) {
    smma_vector_close(reader);
    return false;
  }
  operation = smma_operation_of(instruction);
  while ((status = smma_vector_next(reader, &row, error)) == SMMA_VECTOR_ROW) {
    uint64_t got = smma_compute_row(&operation, &row);
    totals->rows++;
    if (watcher->progress && totals->rows % 4096 == 0) watcher->progress(totals, watcher->context);
    if (smma_same_result(&operation, row.d, got)) continue;
    totals->mismatches++;
    if (watcher->mismatch) watcher->mismatch(&(smma_mismatch){path, &header, &row, got}, watcher->context);
  }
  smma_vector_close(reader);
  return status == SMMA_VECTOR_END;
}
