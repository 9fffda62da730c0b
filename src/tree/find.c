#include "tree/find.h"

#include "tree/build.h"
#include "tree/check.h"
#include "tree/parts.h"

static smma_tree_status build_and_check(smma_asker *asker, smma_tree *t) {
  const size_t before = asker->asked;
  smma_tree_status status = smma_build_tree(asker, t);
  t->rows = asker->asked - before;
  return status == SMMA_TREE_FOUND ? smma_check_tree(asker, t) : status;
}

/* Finds the tree with positive ones, then with negative ones, because units that round down or up lose ones of only one
   sign. Takes the tree that passes its checks; if both do, they must be the same. */
static smma_tree_status find_with_signs(smma_asker *asker, smma_tree *t) {
  smma_tree negative = {.summands = t->summands};
  smma_error *error = asker->error, second;
  smma_tree_status status = build_and_check(asker, t), other;
  if (status == SMMA_TREE_FAILED) return status;
  negative.summands.negative_ones = true;
  asker->error = &second;
  other = build_and_check(asker, &negative);
  asker->error = error;
  if (other == SMMA_TREE_FAILED) *error = second;
  if (other != SMMA_TREE_FOUND) return other == SMMA_TREE_FAILED ? other : status;
  if (status == SMMA_TREE_FOUND && !smma_same_order(t, &negative)) {
    smma_fail(error, "ones of 2^%d and of -2^%d show different orders", t->summands.one, t->summands.one);
    return SMMA_TREE_HIDDEN;
  }
  if (status == SMMA_TREE_HIDDEN) *t = negative;
  return SMMA_TREE_FOUND;
}

/* Checks that M = 2^huge and ones of 2^one do not lead to another tree. Results that determine no tree are accepted. */
static smma_tree_status confirm_at(smma_asker *asker, const smma_tree *t, int huge, int one) {
  smma_tree other = {.summands = t->summands};
  smma_error *error = asker->error, nowhere;
  smma_tree_status status;
  other.summands.huge = huge, other.summands.one = one;
  asker->error = &nowhere;
  status = smma_build_tree(asker, &other);
  if (status == SMMA_TREE_FOUND && !smma_same_order(t, &other)) status = smma_check_tree(asker, &other);
  asker->error = error;
  if (status == SMMA_TREE_FAILED) *error = nowhere;
  if (status != SMMA_TREE_FOUND || smma_same_order(t, &other))
    return status == SMMA_TREE_FAILED ? status : SMMA_TREE_FOUND;
  smma_fail(error, "M = 2^%d with ones of 2^%d shows another order than M = 2^%d with ones of 2^%d", huge, one,
            t->summands.huge, t->summands.one);
  return SMMA_TREE_HIDDEN;
}

/* Confirms the tree with smaller M and ones, for the case that M and -M leave a remainder: with the smallest possible
   ones, and with ones halfway between these and the old ones. M keeps its distance from the ones. */
static smma_tree_status confirm_smaller(smma_asker *asker, const smma_tree *t) {
  smma_summands least;
  smma_error nowhere;
  smma_tree_status status;
  int less;
  if (!smma_choose_summands(t->summands.instruction, &least, &nowhere)) return SMMA_TREE_FOUND;
  less = t->summands.one - least.one;
  status = confirm_at(asker, t, t->summands.huge - less, t->summands.one - less);
  if (status != SMMA_TREE_FOUND) return status;
  return confirm_at(asker, t, t->summands.huge - less / 2, t->summands.one - less / 2);
}

static smma_tree_status confirm(smma_asker *asker, const smma_tree *t) {
  const int bits = smma_necessary_bits(&t->summands), huge = t->summands.huge, one = t->summands.one;
  const int spare = huge - one - bits;
  smma_tree_status status = SMMA_TREE_FOUND;
  if (t->summands.left) return confirm_smaller(asker, t);
  if (spare > 0) status = confirm_at(asker, t, huge, huge - bits);
  if (spare > 0 && status == SMMA_TREE_FOUND) status = confirm_at(asker, t, one + bits, one);
  if (spare > 1 && status == SMMA_TREE_FOUND) status = confirm_at(asker, t, huge - spare / 2, one + spare / 4);
  return status;
}

static smma_tree_status find(smma_asker *asker, smma_tree *t) {
  smma_tree_status status = smma_settle_ones(asker, &t->summands);
  if (status == SMMA_TREE_FOUND) status = find_with_signs(asker, t);
  if (status == SMMA_TREE_FOUND) status = confirm(asker, t);
  if (status == SMMA_TREE_FOUND) status = smma_find_parts(asker, t);
  t->checks = asker->asked - t->rows;
  return status;
}

smma_tree_status smma_find_tree(smma_unit *unit, const smma_instruction *i, smma_tree *t, smma_error *error) {
  smma_tree_status status = SMMA_TREE_FAILED;
  smma_asker asker = {.unit = unit, .error = error};
  *t = (smma_tree){.root = 0};
  if (!smma_choose_summands(i, &t->summands, error)) return SMMA_TREE_HIDDEN;
  if (smma_rows_allocate(i, SMMA_MOST_QUESTIONS, &asker.rows))
    status = find(&asker, t);
  else
    smma_fail(error, "no memory for %d rows of %s", SMMA_MOST_QUESTIONS, i->name);
  smma_rows_free(&asker.rows);
  return status;
}
