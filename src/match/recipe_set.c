/* The recipes tried with one K, in the order of trial and by key. */
#include <stdlib.h>

#include "match/search.h"

/* Returns the slot of a key's first recipe, or the free slot where it belongs. */
static size_t *place_of(const smma_match_set *x, smma_match_key key) {
  size_t slot = key.word[0] & (2 * x->room - 1);
  while (x->place[slot] && !smma_match_same_key(x->entry[x->place[slot] - 1].key, key))
    slot = (slot + 1) & (2 * x->room - 1);
  return &x->place[slot];
}

static bool grow(smma_match_set *x) {
  const size_t room = x->room ? 2 * x->room : 1024;
  smma_match_entry *entries = realloc(x->entry, room * sizeof *entries);
  size_t *place = calloc(2 * room, sizeof *place), *first;
  if (entries) x->entry = entries;
  if (!entries || !place) {
    free(place);
    return false;
  }
  free(x->place);
  x->place = place, x->room = room;
  for (size_t i = 0; i < x->count; i++)
    if (!*(first = place_of(x, x->entry[i].key))) *first = i + 1;
  return true;
}

bool smma_match_remember(smma_match_set *x, const smma_recipe *recipe, smma_match_key key, bool *is_new) {
  size_t *first;
  if (x->count == x->room && !grow(x)) return false;
  first = place_of(x, key);
  *is_new = *first == 0;
  x->entry[x->count++] = (smma_match_entry){*recipe, key};
  if (*is_new) *first = x->count;
  return true;
}
