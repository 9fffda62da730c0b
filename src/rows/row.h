/* The layout of one row: a test vector's operands and result. */
#ifndef SMMA_ROWS_ROW_H
#define SMMA_ROWS_ROW_H

#include "core/row.h"
#include "isa/instruction.h"

/* The parts of a row, in the order of vector files. */
typedef enum {
  SMMA_PART_A,
  SMMA_PART_B,
  SMMA_PART_C,
  SMMA_PART_SCALE_A,
  SMMA_PART_SCALE_B,
  SMMA_PART_D,
  SMMA_PART_FLAGS /* exception flags, which few files have */
} smma_part_id;
enum { SMMA_PARTS = SMMA_PART_FLAGS + 1 };

/* One part of a row: its numbers have one format. */
typedef struct {
  const char *name; /* for example "a" */
  smma_format format;
  int count;     /* 0: the row does not have this part */
  size_t bytes;  /* bytes of one element in memory; 0 if the row does not have this part */
  size_t offset; /* offset of the first element in smma_row */
} smma_part;

typedef struct {
  smma_part part[SMMA_PARTS];
} smma_row_layout;

/* smma_row_layout_of returns the layout of an instruction's rows without flags; smma_row_layout_add_flags adds the
   flags. */
smma_row_layout smma_row_layout_of(const smma_instruction *instruction);
void smma_row_layout_add_flags(smma_row_layout *layout);

static inline uint64_t *smma_part_of(smma_row *row, const smma_part *part) {
  return (uint64_t *)((char *)row + part->offset);
}

static inline const uint64_t *smma_part_in(const smma_row *row, const smma_part *part) {
  return (const uint64_t *)((const char *)row + part->offset);
}

/* Reports whether a, b, c and the scale factors have the same encodings in both rows. */
bool smma_same_operands_in(const smma_row_layout *layout, const smma_row *x, const smma_row *y);

#endif
