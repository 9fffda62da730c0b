/* Lists of a format's elements as text, such as "1.5 0*12 inf". */
#ifndef SMMA_ROWS_LIST_H
#define SMMA_ROWS_LIST_H

#include "host/error.h"
#include "host/notes.h"
#include "isa/formats.h"

/* How a list is read: elements are separated by commas or blanks. They are decimal or hexadecimal floating-point
   values, "inf", "nan", or, with `hex`, raw encodings. "0*12" stands for twelve zeros. A note names each value that the
   format does not have, which is rounded as `rounding` says. */
typedef struct {
  const char *option; /* the name of the list in notes and errors */
  smma_format format;
  smma_rounding rounding;
  bool hex;
  const smma_notes *notes;
  const char *for_hex; /* what encodings need, for notes and errors */
} smma_list_form;

/* Reads `count` elements. If the text has fewer and `pads` is set, zeros take the place of the others, and a note says
   so. */
bool smma_list_read(const char *text, const smma_list_form *form, int count, bool pads, uint64_t *out,
                    smma_error *error);

/* Like smma_list_read, but returns any number of elements up to SMMA_LONGEST_LIST, or NULL on an error. The caller
   frees them. */
enum { SMMA_LONGEST_LIST = 4096 };
uint64_t *smma_list_read_any(const char *text, const smma_list_form *form, int *count, smma_error *error);

#endif
