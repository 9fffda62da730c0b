/* Selects the mistake of tests/kernel_mutations.txt in a program with mutated headers: variable SMMA_MUTANT of the
   environment. */
#include <stdlib.h>

extern int smma_mutant;
int smma_mutant;

__attribute__((constructor)) static void choose(void) {
  const char *number = getenv("SMMA_MUTANT");
  if (number) smma_mutant = atoi(number);
}
