/* Vector files as bytes, to be mapped into memory and indexed: a header with the text's header in it, the rows, and a
   checksum of each block of rows. docs/vector-files.md has the layout. For reading see vectors.h. */
#ifndef SMMA_ROWS_BINARY_H
#define SMMA_ROWS_BINARY_H

#include "rows/vectors.h"

/* "\x89softmma\r\n\x1a\n": no text, and not the same behind what changes the ends of lines or the eighth bit. */
enum { SMMA_BINARY_MAGIC_BYTES = 12, SMMA_BINARY_VERSION = 1 };
extern const unsigned char smma_binary_magic[SMMA_BINARY_MAGIC_BYTES];

/* A row as a C compiler lays out a struct of its parts, in the order of smma_part_id. */
typedef struct {
  size_t offset[SMMA_PARTS], row_bytes;
} smma_binary_layout;

smma_binary_layout smma_binary_layout_of(const smma_row_layout *layout);

/* ---- Reading ---- */

typedef struct smma_binary_reader smma_binary_reader;

/* The magic is there. */
smma_binary_reader *smma_binary_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error);
uint64_t smma_binary_rows(const smma_binary_reader *reader);
smma_vector_status smma_binary_next(smma_binary_reader *reader, smma_row *row, smma_error *error);
size_t smma_binary_take_rows(smma_binary_reader *reader, smma_rows *rows, size_t first, size_t most);

/* How many rows were returned. */
uint64_t smma_binary_row(const smma_binary_reader *reader);
void smma_binary_close(smma_binary_reader *reader);

/* ---- Writing ---- */

/* Rows whose checksum is one. */
enum { SMMA_BINARY_BLOCK = 1024 };

static inline size_t smma_binary_blocks(size_t rows) { return (rows + SMMA_BINARY_BLOCK - 1) / SMMA_BINARY_BLOCK; }

/* At the stream's position. False without memory. */
bool smma_binary_write_header(FILE *stream, const smma_vector_header *header, uint64_t rows);

/* The first `count` rows, and behind them a checksum of each block of them. */
void smma_binary_put_rows(const smma_rows *rows, size_t count, void *to);

#endif
