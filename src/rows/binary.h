/* Binary vector files, which can be mapped into memory and indexed: a binary header that contains the text header, the
   rows, and a checksum for each block of rows. docs/vector-files.md describes the layout. See vectors.h for reading. */
#ifndef SMMA_ROWS_BINARY_H
#define SMMA_ROWS_BINARY_H

#include "rows/vectors.h"

/* "\x89softmma\r\n\x1a\n": not text, and damaged by any transfer that converts line ends or clears the eighth bit. */
enum { SMMA_BINARY_MAGIC_BYTES = 12, SMMA_BINARY_VERSION = 1 };
extern const unsigned char smma_binary_magic[SMMA_BINARY_MAGIC_BYTES];

/* The layout of one row. It is that of a C struct whose members are the parts of the row, in the order of
   smma_part_id. */
typedef struct {
  size_t offset[SMMA_PARTS], row_bytes;
} smma_binary_layout;

smma_binary_layout smma_binary_layout_of(const smma_row_layout *layout);

/* ---- Reading ---- */

typedef struct smma_binary_reader smma_binary_reader;

/* Opens a file whose magic number has been recognised. */
smma_binary_reader *smma_binary_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error);
uint64_t smma_binary_rows(const smma_binary_reader *reader);
smma_vector_status smma_binary_next(smma_binary_reader *reader, smma_row *row, smma_error *error);
size_t smma_binary_take_rows(smma_binary_reader *reader, smma_rows *rows, size_t first, size_t most);

/* Returns the number of rows returned so far. */
uint64_t smma_binary_row(const smma_binary_reader *reader);
void smma_binary_close(smma_binary_reader *reader);

/* ---- Writing ---- */

/* Number of rows that share one checksum. */
enum { SMMA_BINARY_BLOCK = 1024 };

static inline size_t smma_binary_blocks(size_t rows) { return (rows + SMMA_BINARY_BLOCK - 1) / SMMA_BINARY_BLOCK; }

/* Writes the header at the stream's position. Returns false when memory is short. */
bool smma_binary_write_header(FILE *stream, const smma_vector_header *header, uint64_t rows);

/* Encodes the first `count` rows, followed by one checksum for each block of them. */
void smma_binary_put_rows(const smma_rows *rows, size_t count, void *to);

#endif
