/* Plans of products that are described without one: by split_k, promote_every and the format of D. */
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

smma_plan smma_plan_of_sums(size_t split_k, size_t promote_every, size_t k_per_step) {
  smma_plan p = {.d = SMMA_NO_FORMAT, .starts_from_c = true};
  if (split_k > 1)
    p.level[p.levels++] = (smma_plan_level){.deal = SMMA_DEAL_CONTIGUOUS,
                                            .count = split_k,
                                            .grain = promote_every ? promote_every : k_per_step,
                                            .stored = SMMA_STORED_AS_IS,
                                            .total = SMMA_STORED_AS_IS};
  if (promote_every)
    p.level[p.levels++] = (smma_plan_level){.deal = SMMA_DEAL_EVERY,
                                            .grain = promote_every,
                                            .from_zero = true,
                                            .stored = SMMA_STORED_AS_IS,
                                            .total = SMMA_STORED_AS_IS};
  return p;
}

smma_plan *smma_plan_of_rounding(smma_format d, size_t split_k, size_t promote_every, size_t k_per_step) {
  static const char name[] = "rounding of D";
  smma_plan *p = malloc(sizeof *p);
  char *own = malloc(sizeof name);
  if (!p || !own) {
    free(p), free(own);
    return NULL;
  }
  *p = smma_plan_of_sums(split_k, promote_every, k_per_step);
  p->name = memcpy(own, name, sizeof name);
  p->starts_from_c = false;
  p->d = d;
  p->epilogue[p->epilogues++] = (smma_epilogue){.kind = SMMA_EPILOGUE_LINEAR};
  return p;
}
