#include "cli/sweep.h"

#include "cli/output.h"
#include "cli/program.h"

static bool is_svg(const char *path) { return smma_ends_with(path, ".svg"); }

bool smma_check_picture(const char *path, smma_error *error) {
  smma_error why;
  if (!is_svg(path) && !smma_ends_with(path, ".png"))
    return smma_fail(error, "--plot: '%s' ends with neither .svg nor .png", path);
  return smma_check_writable(path, "--plot", error) &&
         (smma_program_is_there(&smma_gnuplot, &why) || smma_fail(error, "--plot: %s", why.text));
}

static bool write_svg(FILE *script, const void *sweep, smma_error *error) {
  return smma_sweep_plot(sweep, "svg", script, error);
}

static bool write_png(FILE *script, const void *sweep, smma_error *error) {
  return smma_sweep_plot(sweep, "pngcairo", script, error);
}

int smma_sweep_draw(const smma_sweep_result *x, const char *path) {
  smma_error error;
  return smma_draw_file(&smma_gnuplot, is_svg(path) ? write_svg : write_png, x, path, &error)
             ? SMMA_EXIT_EQUAL
             : smma_complain("--plot: %s", error.text);
}
