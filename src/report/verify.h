/* Compares vector files with the models, or with a unit: counts the rows that differ, lists them, and sorts them into
   classes. */
#ifndef SMMA_REPORT_VERIFY_H
#define SMMA_REPORT_VERIFY_H

#include "classes/collected.h"
#include "report/report.h"
#include "rows/check.h"

/* The correct files. rows[n] is the number of vectors in file n if all of them are known to be correct, otherwise 0. */
typedef struct {
  uint64_t *rows;
  size_t count;
} smma_clean_files;

typedef struct {
  const char *const *paths;      /* files and folders; NULL ends the list */
  FILE *input;                   /* the stream for "-"; NULL: "-" is a file name */
  const smma_rows *rows;         /* rows in memory to check instead of files, named "rows" in messages; or NULL */
  size_t count;                  /* number of these rows */
  smma_unit *unit;               /* NULL: compare with the models */
  uint64_t most_shown;           /* maximum number of mismatches to show */
  const smma_clean_files *clean; /* files known to be correct, which are skipped; or NULL */
  /* Called for each mismatch to be shown; the result then has no list of them. May be NULL. */
  void (*mismatch)(const smma_mismatch *mismatch, void *context);
  /* Called with the reason when a file cannot be read; the other files are still checked. NULL: the first such file is
     an error. */
  void (*unreadable)(const char *why, void *context);
  /* Called for a file that has a header and no rows. May be NULL. */
  void (*empty)(const char *path, void *context);
  void (*progress)(uint64_t rows, void *context); /* may be NULL */
  void *context;
} smma_verify_request;

/* The mismatches of one instruction, with the instruction's name as in the files' headers. */
typedef struct {
  smma_vector_header header;
  smma_collection collection;
  smma_classes *classes;
} smma_verified_instruction;

typedef struct {
  uint64_t files;
  smma_check_totals totals;
  bool is_whole;              /* every file was readable */
  const char *unit, *against; /* `unit`: whose results the classes explain (a unit or a file); `against`: the unit with
                                 which they are compared */
  smma_datum *shown;          /* a record for each mismatch */
  smma_verified_instruction of[SMMA_MOST_CLASSIFIED];
  int count;
  uint64_t unsorted; /* mismatches of instructions beyond the limit */
  char **path;       /* path[smma_file_of_index(index)] is the file of a mismatch; NULL if the file has none */
  size_t paths;
} smma_verification;

/* Checks all files. In folders, checks binary vector files, and .txt, .csv, .json and .jsonl files that begin as
   vector files. Returns false with one
   error line if a path does not exist, no file was found, or the unit fails. Free the result in both cases. */
bool smma_verify(const smma_verify_request *request, smma_verification *result, smma_error *error);
void smma_verification_free(smma_verification *result);

/* Checks every file whose number modulo `ranks` is `rank`, and notes the correct files in `clean`, which the caller
   frees. */
bool smma_verify_survey(const smma_verify_request *request, size_t rank, size_t ranks, smma_clean_files *clean,
                        smma_error *error);

/* Notes the number of rows of a correct file. Returns false with one error line when memory is short. */
bool smma_note_clean(smma_clean_files *clean, size_t file, uint64_t rows, smma_error *error);

/* Returns the context (units, number of mismatches, paths) with which to describe the classes of instruction number
   `n`. */
smma_class_words smma_verification_words(const smma_verification *result, int n);

/* Returns {"files", "rows", "mismatches", "nan", "shown", "classes", "flags"}. Moves result->shown into the returned
 * record. */
smma_datum *smma_verification_datum(smma_verification *result);

#endif
