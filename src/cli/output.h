/* Output of an option: a file, which appears when it is complete, or standard output for "-". */
#ifndef SMMA_CLI_OUTPUT_H
#define SMMA_CLI_OUTPUT_H

#include <stdbool.h>

#include "io/file.h"
#include "softmma/softmma.h"

/* Reports whether the name is "-", which stands for standard output. ("./-" is a file.) */
bool smma_is_standard_output(const char *path);

/* Opens the output. An interruption removes the file. */
bool smma_begin_output(const char *path, const char *option, smma_output *output, smma_error *error);

/* Completes the output under its name. Returns SMMA_EXIT_EQUAL, or prints one line and returns SMMA_EXIT_FAILED. */
int smma_end_output(smma_output *output, const char *option);

/* Discards the file. Text that was written to standard output remains there. */
void smma_drop_output(smma_output *output);

/* Writes the text to the file or standard output, and frees it. Returns the exit status, as smma_end_output. */
int smma_write_text(const char *path, const char *option, char *text);

/* Writes the plan to the file of -o, and returns the exit status. */
int smma_write_plan(const char *path, const smma_plan *plan);

/* Fails if the file could not be written. Call it before a long computation. Changes no file. */
bool smma_check_writable(const char *path, const char *option, smma_error *error);

/* Fails if the name is "-" although standard output already takes `taken_by`. */
bool smma_check_file(const char *path, const char *option, const char *taken_by, smma_error *error);

/* Returns the columns of the terminal, or 120 if there is no terminal. */
int smma_terminal_width(void);

#endif
