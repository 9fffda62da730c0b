/* Vector files held against the models, or against a unit: how many rows differ, which, and in which classes. */
#ifndef SMMA_REPORT_VERIFY_H
#define SMMA_REPORT_VERIFY_H

#include "classes/collected.h"
#include "report/report.h"
#include "rows/check.h"

/* How many rows each file has, by its number, if all of them are right; 0 if that is not known. */
typedef struct {
  uint64_t *rows;
  size_t count;
} smma_clean_files;

typedef struct {
  const char *const *paths;      /* files and folders, ended by NULL */
  FILE *input;                   /* what "-" stands for; NULL: a file of that name */
  const smma_rows *rows;         /* rows in memory, instead of files, whose name is "rows"; or NULL */
  size_t count;                  /* of them */
  smma_unit *unit;               /* NULL: the models */
  uint64_t most_shown;           /* mismatches */
  const smma_clean_files *clean; /* files that need no look; or NULL */
  /* Told of each mismatch to be shown, of which the result then has no list; or NULL. */
  void (*mismatch)(const smma_mismatch *mismatch, void *context);
  /* Told why a file cannot be read; the others are still checked. NULL: the first such file is an error. */
  void (*unreadable)(const char *why, void *context);
  /* Told of a file that has a header and no rows; or NULL. */
  void (*empty)(const char *path, void *context);
  void (*progress)(uint64_t rows, void *context); /* or NULL */
  void *context;
} smma_verify_request;

/* The mismatches of one instruction, as headers name it. */
typedef struct {
  smma_vector_header header;
  smma_collection collection;
  smma_classes *classes;
} smma_verified_instruction;

typedef struct {
  uint64_t files;
  smma_check_totals totals;
  bool is_whole;              /* every file could be read */
  const char *unit, *against; /* whose results the classes explain, and whose they are compared with */
  smma_datum *shown;          /* a record for each mismatch */
  smma_verified_instruction of[SMMA_MOST_CLASSIFIED];
  int count;
  uint64_t unsorted; /* mismatches of other instructions */
  char **path;       /* of files with mismatches: smma_file_of_index */
  size_t paths;
} smma_verification;

/* Checks all files. Folders are searched for binary vector files, and for .txt files with the header of one. False with
   one line if a path is not there, nothing was found, or the unit fails. Free the result in both cases. */
bool smma_verify(const smma_verify_request *request, smma_verification *result, smma_error *error);
void smma_verification_free(smma_verification *result);

/* Looks at every file whose number leaves the rest `rank`, of `ranks`, and notes those that are right. `clean` is the
   caller's to free. */
bool smma_verify_survey(const smma_verify_request *request, size_t rank, size_t ranks, smma_clean_files *clean,
                        smma_error *error);

/* Notes how many rows a clean file has. False with one line without memory. */
bool smma_note_clean(smma_clean_files *clean, size_t file, uint64_t rows, smma_error *error);

/* Whose the classes of instruction number `n` are. */
smma_class_words smma_verification_words(const smma_verification *result, int n);

/* Returns {"files", "rows", "mismatches", "nan", "shown", "classes"}. The mismatches move into it. */
smma_datum *smma_verification_datum(smma_verification *result);

#endif
