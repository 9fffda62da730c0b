#include "tree/parts.h"

#include "tree/stages.h"

enum { NO_PART = -1, MOST_PARTNERS = 4 };

/* A fused sum; each of its terms has a summand that stands for it. */
typedef struct {
  smma_asker *asker;
  smma_tree *tree;
  smma_summands cut; /* with ones that are just cut off beside M, but of the sign that rounding may make larger */
  int sum, count, term[SMMA_MOST_SUMMANDS], summand[SMMA_MOST_SUMMANDS];
  int part[SMMA_MOST_SUMMANDS];
  size_t checks;
  bool comparable; /* whether M at any two terms tells which others are cut off */
  bool directed;   /* whether there is a rounding in one direction */
} fused_sum;

/* Whether the results are zero. */
static bool ask(fused_sum *s, const smma_summands *m, const smma_tree_question *q, size_t count, bool *zero) {
  uint64_t d[SMMA_MOST_QUESTIONS];
  if (smma_ask(s->asker, m, q, count, d) != SMMA_TREE_FOUND) return false;
  for (size_t i = 0; i < count; i++) zero[i] = smma_decode(smma_encoding_of(m->instruction->d), d[i]).kind == SMMA_ZERO;
  return true;
}

/* The largest ones that are cut off at the last term beside M at the first two; then their sign is turned. */
static bool find_cut(fused_sum *s) {
  const int last = s->count - 1;
  smma_tree_question q = smma_pair_question(&s->cut, s->summand[last - 1], s->summand[last - 2], SMMA_SUMMAND_ZERO);
  int greatest = s->cut.huge;
  q.what[s->summand[last]] = SMMA_SUMMAND_ONE;
  while (greatest - s->cut.one > 1) {
    const int least = s->cut.one, middle = least + (greatest - least) / 2;
    bool zero;
    s->cut.one = middle;
    if (!ask(s, &s->cut, &q, 1, &zero)) return false;
    if (zero) continue;
    s->cut.one = least;
    greatest = middle;
  }
  s->cut.negative_ones = !s->cut.negative_ones;
  return true;
}

/* One row for each term but x and y, in order, with a one there. */
static size_t write_rows(const fused_sum *s, int x, int y, const bool *without, smma_tree_question *q) {
  size_t count = 0;
  for (int i = 0; i < s->count; i++) {
    if (i == x || i == y || without[i]) continue;
    q[count] = smma_pair_question(&s->cut, s->summand[x], s->summand[y], SMMA_SUMMAND_ZERO);
    q[count++].what[s->summand[i]] = SMMA_SUMMAND_ONE;
  }
  return count;
}

/* Whether any term that is not `together` shows a one, of the size and the sign of `ones`, beside M at x and y. */
static bool ask_others(fused_sum *s, const smma_summands *ones, int x, int y, const bool *together, bool *any) {
  smma_tree_question q[SMMA_MOST_QUESTIONS];
  bool zero[SMMA_MOST_QUESTIONS];
  const size_t count = write_rows(s, x, y, together, q);
  const bool good = ask(s, ones, q, count, zero);
  s->checks += count;
  *any = false;
  for (size_t i = 0; good && i < count; i++) *any |= !zero[i];
  return good;
}

/* The terms that are cut off together with x or y: a one at any of them does not show. At all others it does, but one
   of the other sign does not; else M at x and y is no measure for them, and `s->comparable` becomes false. A one that
   shows however small it is becomes `s->directed`. */
static bool find_together(fused_sum *s, int x, int y, bool *together) {
  smma_tree_question q[SMMA_MOST_QUESTIONS];
  smma_summands turned = s->cut, small = s->cut;
  bool zero[SMMA_MOST_QUESTIONS], none[SMMA_MOST_SUMMANDS] = {false};
  const size_t count = write_rows(s, x, y, none, q);
  bool any;
  int at = 0;
  if (!ask(s, &s->cut, q, count, zero)) return false;
  for (int i = 0; i < s->count; i++) together[i] = i == x || i == y || zero[at++];
  turned.negative_ones = !turned.negative_ones;
  small.one = s->tree->summands.one;
  if (!ask_others(s, &turned, x, y, together, &any)) return false;
  s->comparable &= !any;
  if (!ask_others(s, &small, x, y, together, &any)) return false;
  s->directed |= any;
  return true;
}

/* Of the terms next to the last, x, one that leaves others which are cut off neither with x nor with it; the number of
   terms if there is none. */
static bool find_partner(fused_sum *s, int *partner) {
  smma_tree_question q[MOST_PARTNERS];
  bool zero[MOST_PARTNERS];
  const int x = s->count - 1, count = x < MOST_PARTNERS ? x : MOST_PARTNERS;
  for (int n = 0; n < count; n++) {
    const int y = x - 1 - n;
    q[n] = smma_pair_question(&s->cut, s->summand[x], s->summand[y], SMMA_SUMMAND_ZERO);
    for (int i = 0; i < x; i++)
      if (i != y) q[n].what[s->summand[i]] = SMMA_SUMMAND_ONE;
  }
  if (!ask(s, &s->cut, q, (size_t)count, zero)) return false;
  *partner = s->count;
  for (int n = count - 1; n >= 0; n--)
    if (!zero[n]) *partner = x - 1 - n;
  return true;
}

/* What is cut off with the last term must cut that off, too, beside M at it and at y, outside; else the parts are none.
 */
static bool confirm_first_part(fused_sum *s, int y) {
  const int x = s->count - 1;
  bool together[SMMA_MOST_SUMMANDS];
  int other = 0;
  while (other < x && s->part[other] != 0) other++;
  if (other == x || s->part[y] == 0) return true;
  if (!find_together(s, other, y, together)) return false;
  s->comparable &= together[x];
  s->checks += (size_t)s->count - 2;
  return true;
}

/* The part of the last term, number 0: what is cut off both with it and y, and with it and z, where z is in neither's
   part. */
static bool find_first_part(fused_sum *s, bool *found) {
  const int x = s->count - 1;
  bool with_y[SMMA_MOST_SUMMANDS], with_z[SMMA_MOST_SUMMANDS];
  int y, z = 0;
  *found = false;
  if (!find_partner(s, &y)) return false;
  if (y == s->count) return true;
  if (!find_together(s, x, y, with_y)) return false;
  while (z < s->count && with_y[z]) z++;
  if (z == s->count) return true;
  if (!find_together(s, x, z, with_z)) return false;
  for (int i = 0; i < s->count; i++)
    if (with_y[i] && with_z[i]) s->part[i] = 0;
  *found = true;
  return confirm_first_part(s, s->part[y] == 0 ? z : y);
}

/* The part of term x: what is cut off with it and the last term, but is in no part yet. */
static bool find_next_part(fused_sum *s, int x, int part) {
  bool together[SMMA_MOST_SUMMANDS];
  if (!find_together(s, x, s->count - 1, together)) return false;
  for (int i = 0; i < s->count; i++)
    if (together[i] && s->part[i] == NO_PART) s->part[i] = part;
  return true;
}

/* Terms of a part become children of a sum of their own; of c and two others, c and another are none. */
static void make_part(fused_sum *s, int part) {
  smma_tree *t = s->tree;
  int members = 0;
  for (int i = 0; i < s->count; i++) members += s->part[i] == part;
  if (members < 2 || members == s->count) return;
  if (s->count == 3 && s->summand[0] == s->cut.count - 1 && s->part[0] == part) return;
  for (int i = 0; i < s->count; i++)
    if (s->part[i] == part) t->parent[s->term[i]] = t->nodes;
  t->parent[t->nodes++] = s->sum;
}

static int any_summand(const smma_tree *t, int node) {
  int child[SMMA_MOST_SUMMANDS];
  while (!smma_tree_is_leaf(t, node)) {
    smma_tree_children(t, node, child);
    node = child[0];
  }
  return node;
}

static fused_sum fused_sum_of(smma_asker *asker, smma_tree *t, int sum) {
  fused_sum s = {.asker = asker, .tree = t, .cut = t->summands, .sum = sum, .comparable = true};
  s.count = smma_tree_children(t, sum, s.term);
  for (int i = 0; i < s.count; i++) s.summand[i] = any_summand(t, s.term[i]), s.part[i] = NO_PART;
  return s;
}

static bool find_parts_of(smma_asker *asker, smma_tree *t, int sum, size_t *checks) {
  fused_sum s = fused_sum_of(asker, t, sum);
  bool found;
  int parts = 0;
  if (!find_cut(&s)) return false;
  /* The last term is a product; the first may be c or a result, and alone. */
  if (!find_first_part(&s, &found)) return false;
  for (int x = s.count - 2; x > 0 && found; x--)
    if (s.part[x] == NO_PART && !find_next_part(&s, x, ++parts)) return false;
  for (int part = 0; part <= parts && s.comparable && s.directed; part++) make_part(&s, part);
  *checks += s.checks;
  return true;
}

/* Makes sums of the groups of a fused sum that are added first, if there are any. */
static void make_stages(smma_tree *t, int sum, const smma_stages *stages, fused_sum *s) {
  int groups = 0;
  for (int i = 0; i < s->count; i++) {
    s->part[i] = stages->c_is_apart ? i > 0 : stages->group[i];
    groups = s->part[i] >= groups ? s->part[i] + 1 : groups;
  }
  for (int part = 0; part < groups; part++) make_part(s, part);
  t->uneven[sum] = stages->c_counts_less && !stages->c_is_apart;
}

/* `*nodes`: those whose stages are to be found, to which new ones are added. */
static bool find_stages_or_parts(smma_asker *asker, smma_tree *t, int sum, int *nodes, size_t *checks) {
  const size_t before = asker->asked;
  fused_sum s = fused_sum_of(asker, t, sum);
  smma_stages stages;
  int child[SMMA_MOST_SUMMANDS];
  if (!smma_find_stages(asker, &t->summands, s.summand, s.count, &stages)) return false;
  *checks += asker->asked - before;
  t->uneven[sum] = stages.uneven;
  t->hidden[sum] = !stages.uneven && stages.groups == 1; /* which a coarser sum shows, into which it goes */
  if (stages.uneven || t->hidden[sum]) return true;
  if (stages.groups < s.count || stages.c_is_apart) {
    make_stages(t, sum, &stages, &s);
    *nodes = t->nodes;
    return true;
  }
  if (!find_parts_of(asker, t, sum, checks)) return false;
  if (smma_tree_children(t, sum, child) < 3) return true;
  t->uneven[sum] = stages.c_counts_less;
  t->hidden[sum] = !stages.known || stages.c_may_be_apart;
  return true;
}

smma_tree_status smma_find_parts(smma_asker *asker, smma_tree *t) {
  const size_t before = asker->asked;
  size_t checks = 0;
  for (int sum = t->summands.count, nodes = t->nodes; sum < nodes; sum++) {
    int child[SMMA_MOST_SUMMANDS];
    if (smma_tree_children(t, sum, child) < 3 || t->exact[sum]) continue;
    if (t->summands.left) {
      t->hidden[sum] = true; /* +M and -M leave something, beside which nothing can be asked */
      continue;
    }
    if (!find_stages_or_parts(asker, t, sum, &nodes, &checks)) return SMMA_TREE_FAILED;
  }
  t->rows += asker->asked - before - checks;
  return SMMA_TREE_FOUND;
}
