/* Draws the sweep of `softmma tolerance --sweep`. */
#ifndef SMMA_CLI_SWEEP_H
#define SMMA_CLI_SWEEP_H

#include "cli/cli.h"
#include "tolerance/sweep.h"

/* Fails if a picture cannot be written to the file, whose name ends with .svg or .png. */
bool smma_check_picture(const char *path, smma_error *error);

/* Draws the sweep as the file, by gnuplot. Returns an exit status. */
int smma_sweep_draw(const smma_sweep_result *result, const char *path);

#endif
