#include "rows/check.h"

static void decode(smma_format format, const uint64_t *encoding, int count, smma_number *out) {
  smma_encoding f = smma_encoding_of(format);
  for (int i = 0; i < count; i++) out[i] = smma_decode(f, encoding[i]);
}

smma_decoded_row smma_decode_row(const smma_operation *o, const smma_row *row) {
  smma_decoded_row x;
  int scales = o->scale_block ? o->k / o->scale_block : 0;
  decode(o->a, row->a, o->k, x.a);
  decode(o->b, row->b, o->k, x.b);
  decode(o->scale, row->scale_a, scales, x.scale_a);
  decode(o->scale, row->scale_b, scales, x.scale_b);
  return x;
}

uint64_t smma_compute_row(const smma_operation *o, const smma_row *row) {
  const smma_decoded_row x = smma_decode_row(o, row);
  return smma_dot_add(o, (smma_operands){x.a, x.b, x.scale_a, x.scale_b}, row->c);
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
  smma_row row;
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
