#include "tree/stages.h"

#include <string.h>

enum { MOST_PLACES = 8, NO_GROUP = -1 };

/* With at most this many terms, M at c and two halves of -M leave no room for two ones. */
enum { MOST_WITHOUT_ROOM = 4 };

/* Two terms that hold +M and -M. */
typedef struct {
  int plus, minus;
} place;

typedef struct {
  smma_asker *asker;
  smma_summands m;              /* its ones are those of the current test vector */
  const int *summand;           /* the summand that represents each term */
  int count;                    /* number of terms */
  int vanishing;                /* exponent of ones that vanish at each term */
  bool has_c;                   /* whether the first term is represented by c */
  int lost[SMMA_MOST_SUMMANDS]; /* for each term, the exponent of the greatest ones that vanish there */
  place at[MOST_PLACES];        /* the places at which M and -M are tried */
  int places;                   /* number of places */
  int other;                    /* the first term outside the group of term 1; `count` if there is none */
  int with;                     /* the last term after term 1 except `other`; 0 if there is none */
} search;

/* Returns a test vector with +M and -M at a place and zeros elsewhere. */
static smma_tree_question row_at(const search *s, place at) {
  return smma_pair_question(&s->m, s->summand[at.plus], s->summand[at.minus], SMMA_SUMMAND_ZERO);
}

/* Lets the unit compute the test vectors q, with ones of size 2^one[i] in q[i]; d[i] receives the result. Returns false
   if the unit fails, like the other functions of this file that return bool. */
static bool ask(search *s, const int *one, const smma_tree_question *q, size_t count, uint64_t *d) {
  smma_asker *asker = s->asker;
  for (size_t from = 0, now; from < count; from += now) {
    now = count - from < SMMA_MOST_QUESTIONS ? count - from : SMMA_MOST_QUESTIONS;
    for (size_t i = 0; i < now; i++) {
      s->m.one = one[from + i];
      smma_put_summands(&s->m, &q[from + i], &asker->rows, i);
    }
    asker->asked += now;
    asker->calls++;
    if (!smma_unit_ask(asker->unit, &asker->rows, 0, now, NULL, asker->error)) return false;
    for (size_t i = 0; i < now; i++) d[from + i] = smma_rows_result(&asker->rows, i);
  }
  return true;
}

static bool is_zero(const search *s, uint64_t d) {
  return smma_decode(smma_encoding_of(s->m.instruction->d), d).kind == SMMA_ZERO;
}

/* ---- Loss next to M ---- */

/* Runs each test vector also with M and -M exchanged, and sets lost[i] if either result is zero. Both are necessary: a
   one in the group of the M with the same sign is lost, but a one in the group of the M with the opposite sign reduces
   M, which rounding may turn into a whole unit. */
static bool ask_lost(search *s, const int *one, const smma_tree_question *q, size_t count, bool *lost) {
  smma_tree_question turned[SMMA_MOST_QUESTIONS];
  uint64_t d[SMMA_MOST_QUESTIONS], d_turned[SMMA_MOST_QUESTIONS];
  memcpy(turned, q, count * sizeof *q);
  for (size_t i = 0; i < count; i++)
    for (int n = 0; n < s->m.count; n++) {
      if (q[i].what[n] == SMMA_SUMMAND_HUGE) turned[i].what[n] = SMMA_SUMMAND_MINUS_HUGE;
      if (q[i].what[n] == SMMA_SUMMAND_MINUS_HUGE) turned[i].what[n] = SMMA_SUMMAND_HUGE;
    }
  if (!ask(s, one, q, count, d) || !ask(s, one, turned, count, d_turned)) return false;
  for (size_t i = 0; i < count; i++) lost[i] = is_zero(s, d[i]) || is_zero(s, d_turned[i]);
  return true;
}

static bool is_at(place at, int term) { return at.plus == term || at.minus == term; }

/* Fills s->lost: for each term the exponent of the greatest ones that vanish, for the place of M and -M where this is
   least. Bisects between the original ones, which vanish, and M. */
static bool find_lost(search *s) {
  smma_tree_question q[SMMA_MOST_SUMMANDS];
  int least[SMMA_MOST_SUMMANDS], greatest[SMMA_MOST_SUMMANDS], middle[SMMA_MOST_SUMMANDS];
  bool lost[SMMA_MOST_SUMMANDS];
  for (int i = 0; i < s->count; i++) s->lost[i] = s->m.huge;
  for (int p = 0; p < s->places; p++) {
    for (int i = 0; i < s->count; i++) least[i] = s->vanishing, greatest[i] = s->m.huge;
    for (int distance = s->m.huge - s->vanishing; distance > 1; distance = (distance + 1) / 2) {
      for (int i = 0; i < s->count; i++) {
        middle[i] = least[i] + (greatest[i] - least[i]) / 2;
        q[i] = row_at(s, s->at[p]);
        if (!is_at(s->at[p], i)) q[i].what[s->summand[i]] = SMMA_SUMMAND_ONE;
      }
      if (!ask_lost(s, middle, q, (size_t)s->count, lost)) return false;
      for (int i = 0; i < s->count; i++)
        if (lost[i])
          least[i] = middle[i];
        else
          greatest[i] = middle[i];
    }
    for (int i = 0; i < s->count; i++)
      if (!is_at(s->at[p], i)) s->lost[i] = least[i] < s->lost[i] ? least[i] : s->lost[i];
  }
  return true;
}

/* Chooses places, which are pairs of terms for M and -M. For any group, and for any pair of terms other than c, at
   least one place lies outside of it. If c is a term, every place has M at c. Otherwise the places are the first, last
   and middle terms, as neighbours and at distance two; for four terms, every pair. */
static void choose_places(search *s) {
  const int n = s->count, middle = n / 2;
  const place with_c[] = {{0, 1}, {0, 2}, {0, n - 1}, {0, middle}, {0, middle + 1}};
  const place without[] = {{0, 1},         {n - 2, n - 1}, {0, 2}, {1, 3}, {middle, middle + 1},
                           {n - 3, n - 1}, {0, 3},         {1, 2}};
  const place *list = s->has_c ? with_c : without;
  const int count = s->has_c ? 5 : n == 4 ? 8 : 6;
  for (int p = 0; p < count; p++) {
    bool known = list[p].minus >= n || list[p].plus < 0 || list[p].minus <= list[p].plus;
    for (int other = 0; other < s->places; other++)
      known |= s->at[other].plus == list[p].plus && s->at[other].minus == list[p].minus;
    if (!known) s->at[s->places++] = list[p];
  }
}

/* ---- Pairs ---- */

/* Sets together[i] to whether ones at terms x and y[i] reach d together, for any place of M and -M, although each of
   them alone is lost. */
static bool ask_pairs(search *s, int x, const int *y, int count, bool *together) {
  for (int i = 0; i < count; i++) together[i] = false;
  for (int p = 0; p < s->places; p++) {
    smma_tree_question q[SMMA_MOST_QUESTIONS];
    bool lost[SMMA_MOST_QUESTIONS];
    int asked[SMMA_MOST_QUESTIONS], one[SMMA_MOST_QUESTIONS];
    size_t rows = 0;
    if (is_at(s->at[p], x)) continue;
    for (int i = 0; i < count; i++) {
      if (together[i] || is_at(s->at[p], y[i])) continue;
      q[rows] = row_at(s, s->at[p]);
      q[rows].what[s->summand[x]] = q[rows].what[s->summand[y[i]]] = SMMA_SUMMAND_ONE;
      asked[rows++] = i;
    }
    for (size_t r = 0; r < rows; r++) one[r] = s->lost[x];
    if (!ask_lost(s, one, q, rows, lost)) return false;
    for (size_t r = 0; r < rows; r++) together[asked[r]] = !lost[r];
  }
  return true;
}

/* Makes groups from pairs of terms whose ones reach d together. Sets stages->uneven if this is so for x and y, and for
   y and z, but not for x and z. */
static bool find_groups(search *s, smma_stages *stages) {
  for (int i = 0; i < s->count; i++) stages->group[i] = NO_GROUP;
  stages->groups = 0;
  for (int x = 0; x < s->count; x++) {
    int y[SMMA_MOST_SUMMANDS], others = 0;
    bool together[SMMA_MOST_SUMMANDS];
    if (stages->group[x] == NO_GROUP) stages->group[x] = stages->groups++;
    if (x < s->has_c) continue;
    for (int i = x + 1; i < s->count; i++)
      if (s->lost[i] == s->lost[x]) y[others++] = i;
    if (!ask_pairs(s, x, y, others, together)) return false;
    for (int i = 0; i < others; i++) {
      int *group = &stages->group[y[i]];
      const bool new = *group == NO_GROUP, same = *group == stages->group[x];
      stages->uneven |= together[i] ? !new && !same : same;
      if (together[i] && new) *group = stages->group[x];
    }
  }
  return true;
}

/* Checks that a term has the same loss for every position of M. +M and -M are at the first term and at each other term
   in turn. If M is at a term of the same group, a larger loss is allowed. */
static bool check_evenness(search *s, smma_stages *stages) {
  const int *group = stages->group;
  for (int minus = 1; minus < s->count; minus++)
    for (int more = 0; more < 2; more++) {
      smma_tree_question q[SMMA_MOST_SUMMANDS];
      int one[SMMA_MOST_SUMMANDS];
      bool lost[SMMA_MOST_SUMMANDS], within[SMMA_MOST_SUMMANDS];
      size_t rows = 0;
      for (int term = 1; term < s->count; term++) {
        if (term == minus) continue;
        q[rows] = row_at(s, (place){0, minus});
        q[rows].what[s->summand[term]] = SMMA_SUMMAND_ONE;
        within[rows] = group[term] == group[minus] || group[term] == group[0];
        one[rows++] = s->lost[term] + more;
      }
      if (!ask_lost(s, one, q, rows, lost)) return false;
      for (size_t r = 0; r < rows; r++) {
        if (within[r] && more)
          stages->more_within |= lost[r];
        else
          stages->uneven |= lost[r] == more;
      }
    }
  return true;
}

/* ---- c ---- */

/* A test vector with M at c, to which a one is added. The result is nearly M, and the one may change it. */
typedef struct {
  smma_tree_question row; /* the test vector without ones */
  int term;               /* the term that gets the one */
  bool negative_ones;
  int near; /* exponent of the greatest product of the test vector; of M if it has no products */
} huge_c_row;

/* Sets `*lost` to the exponent of the greatest ones at b->term that do not change d of b->row: s->vanishing - 1 if all
   ones change d, and b->near if no ones do. */
static bool find_lost_with_huge_c(search *s, const huge_c_row *b, int *lost) {
  smma_tree_question q[] = {b->row, b->row};
  int greatest = b->near;
  q[1].what[s->summand[b->term]] = SMMA_SUMMAND_ONE;
  s->m.negative_ones = b->negative_ones;
  *lost = s->vanishing - 1;
  while (greatest - *lost > 1) {
    const int middle = *lost + (greatest - *lost) / 2, one[] = {middle, middle};
    uint64_t d[2];
    if (!ask(s, one, q, 2, d)) return false;
    if (d[0] == d[1])
      *lost = middle;
    else
      greatest = middle;
  }
  if (greatest == b->near) *lost = b->near;
  return true;
}

/* Whether the other terms are added before they are aligned with c (APART) or aligned with c (TOGETHER). */
typedef enum { UNCLEAR, APART, TOGETHER } judgement;

static void put(search *s, smma_tree_question *q, int term, bool negative, int exponent) {
  q->what[s->summand[term]] = negative ? SMMA_SUMMAND_MINUS_HUGE : SMMA_SUMMAND_HUGE;
  q->smaller[s->summand[term]] = s->m.huge - exponent;
}

/* Sets `*undone` to whether a one of the opposite sign and twice the size, at term `other`, undoes the effect of the
   one at b->term on d. */
static bool ask_opposite(search *s, const huge_c_row *b, int other, bool *undone) {
  const int one[] = {s->vanishing + 1, s->vanishing + 1};
  smma_tree_question q[] = {b->row, b->row};
  uint64_t d[2];
  q[0].what[s->summand[b->term]] = q[1].what[s->summand[b->term]] = SMMA_SUMMAND_ONE;
  put(s, &q[1], other, !b->negative_ones, one[0] + 1);
  s->m.negative_ones = b->negative_ones;
  if (!ask(s, one, q, 2, d)) return false;
  *undone = d[0] != d[1];
  return true;
}

/* Judges whether c is apart, in the case that ones of every size change d, because a directed rounding turns any one
   into a unit of the last retained bit. If an opposite one at another term undoes the change, the two ones are added
   before they are aligned with c. But if c undoes the change in the same way while M is at that other term, the whole
   sum is rounded. */
static bool judge_directed(search *s, const huge_c_row *b, judgement *j) {
  huge_c_row turned = *b;
  bool by_other, by_c;
  turned.row = (smma_tree_question){.what = {SMMA_SUMMAND_ZERO}};
  put(s, &turned.row, s->other, false, s->m.huge);
  if (!ask_opposite(s, b, s->other, &by_other) || !ask_opposite(s, &turned, 0, &by_c)) return false;
  *j = by_other && !by_c ? APART : TOGETHER;
  return true;
}

/* Judges whether c is apart, in the case that ones up to 2^lost do not change d. Adds a second one of 2^lost at
   s->other. If each one is truncated separately, the limit remains the same. If the two are added first, ones of 2^lost
   now change d, and smaller ones do not. Any other result may come from the rounding of d. */
static bool judge_lost(search *s, const huge_c_row *b, int lost, judgement *j) {
  huge_c_row both = *b;
  int now;
  put(s, &both.row, s->other, b->negative_ones, lost);
  if (!find_lost_with_huge_c(s, &both, &now)) return false;
  *j = now == lost - 1 ? APART : now == lost ? TOGETHER : UNCLEAR;
  return true;
}

/* Judges with one test vector whether c is apart, from the greatest ones at b->term that do not change d. */
static bool judge_row(search *s, const huge_c_row *b, judgement *j) {
  int lost;
  *j = UNCLEAR;
  if (!find_lost_with_huge_c(s, b, &lost)) return false;
  if (lost == b->near) return true;
  if (lost < s->vanishing) return b->near < s->m.huge || judge_directed(s, b, j);
  if (b->near < s->m.huge && b->near - lost == s->m.huge - s->lost[b->term]) {
    *j = APART; /* the one is lost next to the greatest product, although c is greater */
    return true;
  }
  return lost > s->lost[b->term] || judge_lost(s, b, lost, j);
}

/* Judges with several test vectors whether c is apart. At term s->with the vectors have 0, half or a quarter of an ulp
   of d, with either sign; half an ulp makes the rounding of d a tie. A finding of one test vector is valid unless
   another test vector contradicts it. */
static bool judge_rows(search *s, smma_stages *stages) {
  const int fraction = smma_encoding_of(s->m.instruction->d).fraction_bits;
  const int near[] = {0, fraction + 1, fraction + 2};
  bool seen[3] = {false};
  for (int n = 0; n < (s->with ? 3 : 1); n++)
    for (int signs = 0; signs < (n ? 4 : 2); signs++) {
      huge_c_row b = {.term = 1, .negative_ones = signs & 1, .near = s->m.huge - near[n]};
      judgement j;
      if (b.near <= s->vanishing) continue;
      put(s, &b.row, 0, false, s->m.huge);
      if (n) put(s, &b.row, s->with, signs & 2, b.near);
      if (!judge_row(s, &b, &j)) return false;
      seen[j] = true;
    }
  stages->c_is_apart = seen[APART] && !seen[TOGETHER];
  stages->c_may_be_apart = s->count <= MOST_WITHOUT_ROOM && seen[APART] == seen[TOGETHER];
  return true;
}

/* Returns a test vector with an odd c at term 0, 2^near or -2^near, which is near the last place of d, at term 2, and a
   one of the opposite sign at term 1. */
static huge_c_row opposing(search *s, int near, bool negative_ones) {
  huge_c_row b = {.row = {.odd_c = true}, .term = 1, .negative_ones = negative_ones, .near = near};
  put(s, &b.row, 0, false, s->m.huge);
  put(s, &b.row, 2, !negative_ones, near);
  return b;
}

/* Distinguishes a fused sum of c and two terms from a sum of the two terms followed by c. In a fused sum, M at c
   causes the same loss in a one at term 1 for every value at term 2. If the loss is smaller, c counts less than a
   term. If the loss doubles when term 2 doubles, term 2 causes it, and the two terms are added first. */
static bool judge_two(search *s, smma_stages *stages) {
  const int fraction = smma_encoding_of(s->m.instruction->d).fraction_bits;
  if (smma_encoding_of(s->m.instruction->c).fraction_bits < fraction) return true;
  for (int negative = 0; negative < 2; negative++)
    for (int near = s->m.huge - fraction - 1, before = s->vanishing - 1; near <= s->m.huge - fraction + 1; near++) {
      const huge_c_row b = opposing(s, near, negative);
      int lost;
      if (near <= s->vanishing) continue;
      if (!find_lost_with_huge_c(s, &b, &lost)) return false;
      if (lost < s->vanishing || lost == near || lost >= s->lost[1]) lost = s->vanishing - 1;
      stages->c_counts_less |= lost >= s->vanishing;
      stages->c_is_apart |= before >= s->vanishing && lost == before + 1;
      before = lost;
    }
  stages->c_may_be_apart &= !stages->c_is_apart && !stages->c_counts_less;
  return true;
}

/* Sets `*halves` to two terms, 1 and 2 or else term 1 and another term of its group, and `*last` to the last term
   outside their groups. Returns false if there is no such term. */
static bool find_halves(const search *s, const int *group, place *halves, int *last) {
  for (int y = 2; y < s->count; y++) {
    if (y > 2 && group[y] != group[1]) continue;
    for (int term = s->count - 1; term > 0; term--) {
      if (group[term] == group[1] || group[term] == group[y]) continue;
      *halves = (place){1, y};
      *last = term;
      return true;
    }
  }
  return false;
}

/* Tests with M at c and half of -M at two terms whether other terms keep one bit more than next to -M, because c's
   exponent does not count or counts less; sets `*more`. Uses two ones if terms of two groups are available, because two
   ones do not make a tie. Sets `*asked` to false if no group is left for a one. */
static bool ask_halves(search *s, const int *group, bool *asked, bool *more) {
  smma_tree_question q = {.what = {SMMA_SUMMAND_ZERO}};
  place halves;
  int last, second;
  uint64_t d;
  *asked = find_halves(s, group, &halves, &last);
  if (!*asked) return true;
  put(s, &q, 0, false, s->m.huge);
  put(s, &q, halves.plus, true, s->m.huge - 1);
  put(s, &q, halves.minus, true, s->m.huge - 1);
  q.what[s->summand[last]] = SMMA_SUMMAND_ONE;
  for (second = last - 1; second > 0; second--)
    if (group[second] != group[last] && group[second] != group[halves.plus] && group[second] != group[halves.minus])
      break;
  if (second > 0) q.what[s->summand[second]] = SMMA_SUMMAND_ONE;
  if (!ask(s, &s->lost[last], &q, 1, &d)) return false;
  *more = !is_zero(s, d);
  return true;
}

/* Determines whether the terms other than c are added before they are aligned with c, and whether c counts less. */
static bool find_whether_c_is_apart(search *s, smma_stages *stages) {
  bool asked;
  if (!s->has_c) return true;
  if (!ask_halves(s, stages->group, &asked, &stages->c_counts_less)) return false;
  if (s->count > MOST_WITHOUT_ROOM && asked && !stages->c_counts_less) return true;
  for (s->other = 2; s->other < s->count && stages->group[s->other] == stages->group[1];) s->other++;
  s->with = s->count - 1 - (s->other == s->count - 1);
  if (s->with == 1) s->with = 0;
  return s->other == s->count || (judge_rows(s, stages) && (s->count > MOST_WITHOUT_ROOM || judge_two(s, stages)));
}

/* Sets `*all` to whether the original ones vanish at every term, for all places of M and -M. */
static bool ask_whether_lost(search *s, bool *all) {
  *all = true;
  for (int p = 0; p < s->places; p++) {
    smma_tree_question q[SMMA_MOST_SUMMANDS];
    int one[SMMA_MOST_SUMMANDS];
    bool lost[SMMA_MOST_SUMMANDS];
    size_t rows = 0;
    for (int term = 0; term < s->count; term++) {
      if (is_at(s->at[p], term)) continue;
      q[rows] = row_at(s, s->at[p]);
      q[rows].what[s->summand[term]] = SMMA_SUMMAND_ONE;
      one[rows++] = s->vanishing;
    }
    if (!ask_lost(s, one, q, rows, lost)) return false;
    for (size_t r = 0; r < rows; r++) *all &= lost[r];
  }
  return true;
}

bool smma_find_stages(smma_asker *asker, const smma_summands *m, const int *summand, int count, smma_stages *stages) {
  search s = {.asker = asker, .m = *m, .summand = summand, .count = count, .vanishing = m->one};
  s.has_c = summand[0] == m->count - 1;
  *stages = (smma_stages){.groups = count};
  choose_places(&s);
  if (!ask_whether_lost(&s, &stages->known)) return false;
  if (!stages->known) return true;
  return find_lost(&s) && find_groups(&s, stages) && check_evenness(&s, stages) && find_whether_c_is_apart(&s, stages);
}
