#include "rows/check.h"

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
    uint64_t got = smma_row_compute(&operation, &row);
    totals->rows++;
    if (watcher->progress && totals->rows % 4096 == 0) watcher->progress(totals, watcher->context);
    if (smma_same_result(&operation, row.d, got)) continue;
    totals->mismatches++;
    if (watcher->mismatch)
      watcher->mismatch(&(smma_mismatch){path, smma_vector_line(reader), &header, &row, got}, watcher->context);
  }
  smma_vector_close(reader);
  return status == SMMA_VECTOR_END;
}
