#include "cli/explanation.h"

#include <sys/ioctl.h>
#include <unistd.h>

void smma_explain_row_of(smma_explained_row *x, const char *unit, const smma_instruction *i, const smma_row *row) {
  x->operation = smma_operation_of(i);
  if (!smma_explain(&x->operation, row, &x->explanation)) smma_die("out of memory");
  x->explained = (smma_explained){unit, i->name, &x->operation, &x->explanation};
}

int smma_terminal_width(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 80) return size.ws_col > 120 ? 120 : size.ws_col;
  return 120;
}
