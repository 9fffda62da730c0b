#include "infer/known.h"

#include "isa/catalogue.h"

/* Reports whether no earlier instruction has the rule of instruction n. */
static bool is_new(size_t n) {
  size_t first = 0;
  /* Neighbours usually have the same rule, and a search from the first instruction on takes long. */
  if (n && smma_catalogue_at(n - 1)->rule == smma_catalogue_at(n)->rule) return false;
  while (smma_catalogue_at(first)->rule != smma_catalogue_at(n)->rule) first++;
  return first == n;
}

int smma_known_compositions(smma_operation o, smma_composition known[SMMA_MOST_KNOWN]) {
  int count = 0;
  for (size_t n = 0; n < smma_catalogue_count() && count < SMMA_MOST_KNOWN; n++) {
    if (!is_new(n)) continue;
    o.rule = smma_catalogue_at(n)->rule->rule;
    o.rule.nan = SMMA_NAN_QUIET;
    if (smma_block_of(&o) > 0 && o.k % smma_block_of(&o) == 0 && smma_compose(&o, &known[count])) count++;
  }
  return count;
}
