/* A matrix of a .safetensors file. It is a tensor that is stored as it is, or several tensors of a quantised matrix,
   whose names checkpoint.def lists. A large checkpoint is several files with an index (transformers): a JSON object
   whose member "weight_map" has the name of the file of each tensor. */
#ifndef SMMA_MATRIX_CHECKPOINT_H
#define SMMA_MATRIX_CHECKPOINT_H

#include "matrix/safetensors.h"

/* The tensors of a quantised matrix. A tensor that is stored as it is has only elements. */
typedef enum {
  SMMA_MATRIX_ELEMENTS,
  SMMA_MATRIX_SCALES,
  SMMA_MATRIX_FACTOR,
  SMMA_MATRIX_SHAPE,
  SMMA_MATRIX_PARTS
} smma_matrix_part;

/* The ends of the names of a matrix's parts. `divides`: the factor divides the numbers instead of multiplying them. */
typedef struct {
  const char *end[SMMA_MATRIX_PARTS];
  bool divides;
} smma_naming;

/* A stored form that is not supported, recognised by the ends of two tensors' names. */
typedef struct {
  const char *elements, *other, *form;
} smma_unread_form;

extern const smma_naming smma_namings[];
extern const smma_unread_form smma_unread_forms[];
extern const size_t smma_naming_count, smma_unread_form_count;

enum { SMMA_MOST_TENSOR_NAME = 1024 };

/* The file of a part, if an index names it. */
typedef struct {
  char path[4096];
  smma_input input;
  smma_archive archive; /* tensors is NULL if it is not open */
} smma_shard;

/* `archive` has the names of all tensors, from the file itself or from the index. */
typedef struct {
  smma_archive archive;
  bool is_index;
  smma_shard shard[SMMA_MATRIX_PARTS]; /* of an index */
  const smma_naming *names;            /* NULL: a tensor that is stored as it is */
  bool is_indexed;                     /* the matrix is number `index` along the leading axis of `leading` matrices */
  size_t index, leading;
  bool has[SMMA_MATRIX_PARTS];
  char name[SMMA_MATRIX_PARTS][SMMA_MOST_TENSOR_NAME];
  smma_archive_tensor part[SMMA_MATRIX_PARTS];
  unsigned char *data[SMMA_MATRIX_PARTS];
} smma_checkpoint;

/* ---- Names ---- */

/* Reports whether a name ends with `end`, and sets `*length` to the length of what precedes the end. */
bool smma_name_ends(const char *name, const char *end, size_t *length);

/* Writes the first `length` bytes of a name and an end; returns whether the file has a tensor of this name. */
bool smma_checkpoint_has(const smma_archive *file, const char *name, size_t length, const char *end,
                         char full_name[SMMA_MOST_TENSOR_NAME]);

/* Finds the tensor of the elements. `name` may be a part of the tensor's name, followed by an index in brackets
   ("NAME[3]"), or NULL. */
bool smma_checkpoint_choose(smma_checkpoint *c, const char *name);

/* Fails with a message that names the file, the part's tensor and the reason. */
bool smma_checkpoint_fail(const smma_checkpoint *c, smma_matrix_part p, const char *reason);

/* ---- Data ---- */

/* Unpacks elements of 4 or 6 bits, the first in the lowest bits, to one byte each of `to`. */
void smma_checkpoint_unpack(unsigned char *to, const unsigned char *from, size_t elements, int bits);

/* Makes the tensor of a quantised matrix, whose parts were read: its numbers in FP32, and its stored form. */
bool smma_checkpoint_make_stored(smma_checkpoint *c, smma_tensor *tensor);

#endif
