/* The tensors of a .safetensors file, described by its header and read one after another. */
#ifndef SMMA_MATRIX_SAFETENSORS_H
#define SMMA_MATRIX_SAFETENSORS_H

#include "datum/datum.h"
#include "io/input.h"
#include "matrix/shape.h"

/* A dtype of the format. */
typedef struct {
  const char *text;
  smma_format format; /* SMMA_NO_FORMAT: integers that are not one of the formats */
  int bits;
  smma_integer_type integers;
} smma_archive_type;

/* A file with its parsed header. `tensors` is the header's JSON object; its member "__metadata__" is not a tensor. */
typedef struct {
  const char *path;
  smma_input *input;
  size_t data_start;  /* position in the file */
  uint64_t data_size; /* SMMA_SIZE_UNKNOWN for a pipe */
  size_t data_end;    /* end of the last tensor, counted from the start of the data */
  size_t position;    /* bytes of the data read or skipped */
  smma_datum *tensors;
  smma_error *error;
} smma_archive;

/* A tensor of the archive. Its bytes are those from `begin` to `end` of the data. */
typedef struct {
  const char *name; /* the archive's */
  const smma_archive_type *type;
  smma_shape shape;
  size_t begin, end;
} smma_archive_tensor;

/* Parses the header, from the first byte of the file, and checks that the tensors fill the data. After success call
   smma_archive_close. */
bool smma_archive_open(smma_input *input, smma_archive *archive, smma_error *error);
void smma_archive_close(smma_archive *archive);

size_t smma_archive_count(const smma_archive *archive);

/* Returns the name of the next tensor, from member `*at` of the header on, and moves `*at` past it, or NULL after the
   last. Start with 0. */
const char *smma_archive_next(const smma_archive *archive, size_t *at);

bool smma_archive_has(const smma_archive *archive, const char *name);

/* Describes the tensor of this name, which must exist, and checks that its bytes are those of its dtype and shape. */
bool smma_archive_describe(const smma_archive *archive, const char *name, smma_archive_tensor *tensor);

/* Returns the bytes from `begin` to `end` of the data, which the caller frees, or NULL after an error. Calls must go
   forward: `begin` is at least the previous `end`. */
void *smma_archive_take(smma_archive *archive, size_t begin, size_t end);

/* Reads a pipe to the end of the data, to check that nothing is missing. */
bool smma_archive_finish(smma_archive *archive);

#endif
