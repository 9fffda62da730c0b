#include "campaign/rows.h"

/* Number of vectors that the search for coverage tries. It takes at most a quarter of a second on one core. */
enum { TRIES = 1 << 14 };

bool smma_campaign_rows_of(const smma_campaign_recipe *recipe, const smma_instruction *i, smma_campaign_rows *x) {
  smma_event_space space;
  if (x->instruction && x->recipe.seed == recipe->seed && x->recipe.covers == recipe->covers &&
      smma_same_operation(x->instruction, i)) {
    x->recipe = *recipe;
    return true;
  }
  smma_campaign_rows_free(x);
  *x = (smma_campaign_rows){.recipe = *recipe, .instruction = i};
  return !recipe->covers || !smma_event_space_make(i, &space) ||
         smma_cover_find(&space, i, recipe->seed, TRIES, NULL, NULL, &x->cover);
}

void smma_campaign_rows_free(smma_campaign_rows *x) {
  smma_cover_free(&x->cover);
  *x = (smma_campaign_rows){0};
}

smma_row_selection smma_campaign_rows_selection(const smma_campaign_rows *x, uint64_t first) {
  return (smma_row_selection){x->recipe.seed, first, x->recipe.kinds, (int)x->recipe.kind};
}

int smma_campaign_rows_kind(const smma_campaign_rows *x, uint64_t number) {
  const smma_row_selection selection = smma_campaign_rows_selection(x, 0);
  return number < x->cover.count ? SMMA_ROWS_COVER : (int)smma_kind_of_row(&selection, number);
}

void smma_campaign_rows_fill(const smma_campaign_rows *x, uint64_t first, size_t count, smma_rows *out) {
  const smma_campaign_recipe *r = &x->recipe;
  smma_generate_rows(out, r->seed, first, count, r->kinds, r->kind);
  for (size_t n = 0; n < count && first + n < x->cover.count; n++) {
    smma_row row;
    smma_campaign_rows_get(x, first + n, &row);
    smma_rows_put(out, n, &row);
  }
}

void smma_campaign_rows_get(const smma_campaign_rows *x, uint64_t number, smma_row *row) {
  const smma_operation o = smma_operation_of(x->instruction);
  if (number < x->cover.count)
    smma_rows_get(&x->cover.rows, (size_t)number, row);
  else
    smma_generate_row(&o, x->recipe.seed, number, (smma_row_kind)smma_campaign_rows_kind(x, number), row);
  row->d = 0;
}
