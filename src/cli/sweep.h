/* Prints and draws the sweep of `softmma tolerance --sweep`. */
#ifndef SMMA_CLI_SWEEP_H
#define SMMA_CLI_SWEEP_H

#include "cli/targets.h"
#include "tolerance/sweep.h"

/* Adds the targets of a sweep over formats: every format of the sweep that a GPU of the list has. Ends the program with
   one line if a GPU has no format of the sweep. */
void smma_require_format_targets(smma_command_targets *x, const char *list, const smma_sweep *sweep, const char *out);

/* Ends the program with one line if a picture cannot be written to the file, whose name ends with .svg or .png. */
void smma_require_picture(const char *path);

void smma_sweep_print(const smma_sweep_result *result);

/* Draws the sweep as the file, by gnuplot. Returns an exit status. */
int smma_sweep_draw(const smma_sweep_result *result, const char *path);

#endif
