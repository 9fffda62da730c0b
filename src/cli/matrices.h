/* Matrices from files. The functions return false with an error, and print notes on stderr. */
#ifndef SMMA_CLI_MATRICES_H
#define SMMA_CLI_MATRICES_H

#include "cli/cli.h"
#include "cli/target.h"
#include "compare/files.h"

/* Set by --raw: integers in files are encodings (smma_tensor). */
extern int smma_raw_encodings;

#define SMMA_RAW_OPTION                                                                                          \
  {                                                                                                              \
    "raw", 0, POPT_ARG_NONE, &smma_raw_encodings, 0,                                                             \
        "integers in files are encodings of the format, not numbers; unsigned integers for a format that NumPy " \
        "lacks, such as BF16 and E4M3, always are",                                                              \
        NULL                                                                                                     \
  }

bool smma_load_matrix(const char *path, smma_tensor *tensor, smma_error *error);

/* Reads "MxNxK". */
bool smma_read_shape(const char *text, size_t *m, size_t *n, size_t *k, smma_error *error);

/* Adds the targets of --on for a product of files, whose paths the caller has set. The format of --in is also that of
   files that do not name their own, and it is that alone if each target names its format. Prints errors by smma_check:
   of the targets and, if they have any, also of the files. */
void smma_add_targets_of_files(smma_prepared_targets *targets, const char *list, size_t most, const smma_choice *choice,
                               smma_files *files);

#endif
