#include "tree/parts.h"

#include "tree/stages.h"

enum { NO_PART = -1, MOST_PARTNERS = 4 };

/* A fused sum. One summand represents each of its terms. */
typedef struct {
  smma_asker *asker;
  smma_tree *tree;
  smma_summands cut; /* with the largest ones that are truncated next to M, of the sign that rounding may make larger */
  int sum, count;    /* the sum's node in the tree; its number of terms */
  int term[SMMA_MOST_SUMMANDS];    /* node of each term */
  int summand[SMMA_MOST_SUMMANDS]; /* the summand that represents each term */
  int part[SMMA_MOST_SUMMANDS];    /* number of the part that each term belongs to, or NO_PART */
  size_t checks;                   /* number of test vectors that only check the parts */
  bool comparable;                 /* whether M at any two terms shows which other terms are truncated with them */
  bool directed;                   /* whether a truncation rounds in one direction, so that the parts can show */
} fused_sum;

/* Lets the unit compute the test vectors; sets zero[i] to whether the result of q[i] is zero. Returns false if the unit
   fails, like the other functions of this file that return bool. */
static bool ask(fused_sum *s, const smma_summands *m, const smma_tree_question *q, size_t count, bool *zero) {
  uint64_t d[SMMA_MOST_QUESTIONS];
  if (smma_ask(s->asker, m, q, count, d) != SMMA_TREE_FOUND) return false;
  for (size_t i = 0; i < count; i++) zero[i] = smma_decode(smma_encoding_of(m->instruction->d), d[i]).kind == SMMA_ZERO;
  return true;
}

/* Sets s->cut.one to the greatest ones that are lost at the last term, with M and -M at the two terms before it. Then
   reverses the sign of s->cut's ones. */
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

/* Writes one test vector for each term except x, y and those marked in `without`: M at x, -M at y, and a one at the
   term. Returns the number of test vectors. */
static size_t write_rows(const fused_sum *s, int x, int y, const bool *without, smma_tree_question *q) {
  size_t count = 0;
  for (int i = 0; i < s->count; i++) {
    if (i == x || i == y || without[i]) continue;
    q[count] = smma_pair_question(&s->cut, s->summand[x], s->summand[y], SMMA_SUMMAND_ZERO);
    q[count++].what[s->summand[i]] = SMMA_SUMMAND_ONE;
  }
  return count;
}

/* Sets `*any` to whether a one reaches d from any term that is not marked in `together`, with M and -M at x and y. Ones
   have the size and sign of `ones`. */
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

/* Marks in `together` the terms that are truncated together with x or y: a one at these terms does not reach d. At all
   other terms a one reaches d, and a one of the opposite sign does not. If this is not so, M at x and y cannot decide,
   and s->comparable becomes false. If the smallest ones reach d, too, s->directed becomes true. */
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

/* Finds a partner for the last term x among the terms before it, so that some terms are truncated neither with x nor
   with the partner. Sets `*partner` to the number of terms if no term qualifies. */
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

/* Checks part 0: with M at one of its terms and -M at y outside the part, a one at the last term must be truncated,
   too. Otherwise sets s->comparable to false, because the parts are not valid. */
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

/* Finds part 0, the part of the last term x. Its terms are truncated both with M at x and y, and with M at x and z,
   where z is a term in neither x's nor y's part. `*found` is false if all terms belong to at most two parts. */
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

/* Finds the part of term x: the terms truncated with x and the last term that have no part yet. */
static bool find_next_part(fused_sum *s, int x, int part) {
  bool together[SMMA_MOST_SUMMANDS];
  if (!find_together(s, x, s->count - 1, together)) return false;
  for (int i = 0; i < s->count; i++)
    if (together[i] && s->part[i] == NO_PART) s->part[i] = part;
  return true;
}

/* Makes the terms of a part children of a new sum, unless they are all terms or a single one. In a sum of c and two
   products, c and one product are not a part. */
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
  /* Starts from the last term, which is a product. The first may be c or a result, and may be a part by itself. */
  if (!find_first_part(&s, &found)) return false;
  for (int x = s.count - 2; x > 0 && found; x--)
    if (s.part[x] == NO_PART && !find_next_part(&s, x, ++parts)) return false;
  for (int part = 0; part <= parts && s.comparable && s.directed; part++) make_part(&s, part);
  *checks += s.checks;
  return true;
}

/* Makes a new sum of each group of terms that is added first, and sets t->uneven[sum]. */
static void make_stages(smma_tree *t, int sum, const smma_stages *stages, fused_sum *s) {
  int groups = 0;
  for (int i = 0; i < s->count; i++) {
    s->part[i] = stages->c_is_apart ? i > 0 : stages->group[i];
    groups = s->part[i] >= groups ? s->part[i] + 1 : groups;
  }
  for (int part = 0; part < groups; part++) make_part(s, part);
  t->uneven[sum] = stages->c_counts_less && !stages->c_is_apart;
}

/* Finds the stages or, if there are none, the parts of a fused sum. If it has stages, increases `*nodes`, the number of
   nodes to examine, by the new sums. */
static bool find_stages_or_parts(smma_asker *asker, smma_tree *t, int sum, int *nodes, size_t *checks) {
  const size_t before = asker->asked;
  fused_sum s = fused_sum_of(asker, t, sum);
  smma_stages stages;
  int child[SMMA_MOST_SUMMANDS];
  if (!smma_find_stages(asker, &t->summands, s.summand, s.count, &stages)) return false;
  *checks += asker->asked - before;
  t->uneven[sum] = stages.uneven;
  t->hidden[sum] =
      !stages.uneven && stages.groups == 1; /* the sum has the same loss as the coarser sum that it is a term of */
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
      /* +M and -M leave a remainder, so no further query can show stages or parts */
      t->hidden[sum] = true;
      continue;
    }
    if (!find_stages_or_parts(asker, t, sum, &nodes, &checks)) return SMMA_TREE_FAILED;
  }
  t->rows += asker->asked - before - checks;
  return SMMA_TREE_FOUND;
}
