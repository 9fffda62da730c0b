/* Matrices from files. The functions return false with an error, and print notes on stderr. */
#ifndef SMMA_CLI_MATRICES_H
#define SMMA_CLI_MATRICES_H

#include "cli/cli.h"
#include "compare/prepare.h"

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

/* Prints, by smma_check, what is wrong with the files of A and B although targets have faults: a file that cannot be
   read, or elements that are encodings of the format of the first target without a fault, which targets of other
   formats do not read. `remedy` says how to mend this; NULL: the format of the files is known. */
void smma_check_files(const smma_prepared_targets *targets, const char *const path[2], const char *remedy);

/* Replaces a tensor by another, if that has elements, and frees it. */
void smma_replace_tensor(smma_tensor *tensor, const smma_tensor *by);

#endif
