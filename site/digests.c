/* Prints digests of the explorer's results for rows, and of its drawings as text and picture. There is a line for each
   instruction of the catalogue; of instructions that differ only in M or N, for the first. tests/site_digests.js prints
   the same from WebAssembly, and the test compares both. */
#include <stdio.h>
#include <stdlib.h>

#include "explorer.h"
#include "io/sha256.h"
#include "isa/catalogue.h"

static const char *const kinds[] = {"random", "normal", "edge", "zeros", "tiny", "cancellation", "ill", "network"};
enum { ROWS = sizeof kinds / sizeof *kinds, DRAWN = 1 };

static int print_digest(const smma_instruction *i) {
  char *text, digest[65];
  size_t size;
  FILE *all = open_memstream(&text, &size);
  if (!all || *site_choose(0, smma_arch_name(i), i->name) || *site_pair(1)) return 1;
  for (unsigned row = 0; row < ROWS; row++) {
    site_make(kinds[row], row);
    fputs(site_explain(1), all);
    if (row < DRAWN) fputs(site_words(), all);
    if (row < DRAWN) fputs(site_picture(0, 0), all);
  }
  if (fclose(all)) return 1;
  printf("%s %s %s\n", smma_arch_name(i), i->name, smma_sha256(text, size, digest));
  free(text);
  return 0;
}

static int same_but_for_size(const smma_instruction *x, const smma_instruction *y) {
  return x->arch == y->arch && x->rule == y->rule && x->k == y->k && x->a == y->a && x->b == y->b && x->c == y->c &&
         x->d == y->d && x->scale_block == y->scale_block;
}

int main(void) {
  for (size_t n = 0; n < smma_catalogue_count(); n++)
    if (n == 0 || !same_but_for_size(smma_catalogue_at(n), smma_catalogue_at(n - 1)))
      if (print_digest(smma_catalogue_at(n))) return EXIT_FAILURE;
  return EXIT_SUCCESS;
}
