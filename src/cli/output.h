/* Output of an option: a file, which appears when it is complete, or standard output for "-". */
#ifndef SMMA_CLI_OUTPUT_H
#define SMMA_CLI_OUTPUT_H

#include <stdbool.h>

#include "datum/datum.h"
#include "io/file.h"
#include "softmma/softmma.h"

/* Reports whether the name is "-", which stands for standard output. ("./-" is a file.) */
bool smma_is_standard_output(const char *path);

/* Writes the content of an output. Returns false with an error if memory runs out, or what makes the content fails. A
   failure of the stream is found by the caller. */
typedef bool smma_output_writer(FILE *stream, const void *content, smma_error *error);

/* Writes the output of an option. Returns SMMA_EXIT_EQUAL, or prints one line and returns SMMA_EXIT_FAILED. A file then
   does not appear, and an interruption removes it. Text that was written to standard output remains there. */
int smma_write_output(const char *path, const char *option, smma_output_writer *write, const void *content);

/* Like smma_write_output. smma_write_text frees the text, smma_write_datum writes the datum as a line of JSON and frees
   it, and smma_write_page writes a page with these parts (page/page.h) and frees them. smma_write_plan writes the file
   of -o. */
int smma_write_text(const char *path, const char *option, char *text);
int smma_write_datum(const char *path, const char *option, smma_datum *datum);
int smma_write_page(const char *path, const char *option, smma_datum *parts);
int smma_write_unit(const char *path, const char *option, const smma_instruction *unit);
int smma_write_plan(const char *path, const smma_plan *plan);

/* From smma_redirect_output to smma_finish_redirection, standard output goes to a file. The file appears if `status` is
   not SMMA_EXIT_FAILED; otherwise nothing is left of it. Both return an exit status; smma_finish_redirection returns
   `status` if it succeeds. NULL and "-" have no effect. */
int smma_redirect_output(const char *path);
bool smma_output_is_redirected(void);
int smma_finish_redirection(int status);

/* Fails if the file could not be written. Call it before a long computation. Changes no file. */
bool smma_check_writable(const char *path, const char *option, smma_error *error);

/* Fails if the name is "-" although standard output already takes `taken_by`. */
bool smma_check_file(const char *path, const char *option, const char *taken_by, smma_error *error);

/* Returns the columns of the terminal, or 120 if there is no terminal. */
int smma_terminal_width(void);

#endif
