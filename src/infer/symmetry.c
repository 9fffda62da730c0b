/* Finds evidence about shapes from the unit's symmetries, by permuting products. If a permutation changes d, every
   shape whose results it never changes is refuted. If it never changes d, shapes whose results it changes whatever the
   parameters are less likely. No parameter needs to be known. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "host/thread.h"
#include "infer/inference.h"
#include "rows/generate.h"

enum {
  BASE_ROWS = 96,     /* number of base vectors, to all of which each permutation is applied */
  MOST_PER_CALL = 16, /* maximum number of permutations in one call of the unit */
  MOST_CALLS = 8,     /* maximum number of calls in one search for evidence */
  MOST_PARTS = 512,   /* maximum number of permutations listed, without the exchanges of neighbouring products */
  MOST_PERMUTATIONS = MOST_PARTS + SMMA_MAXIMUM_K, /* maximum number of permutations listed */
  SEED_OF_BASE = 0x5717 /* changes the search's seed, so that the base differs from other generated vectors */
};

/* A permutation of products, and whether the unit's results change with it. */
typedef struct {
  unsigned char from[SMMA_MAXIMUM_K]; /* from[k]: index of the product that moves to k */
  bool asked;                         /* the unit has computed the permuted vectors, or need not compute them */
  bool changes;                       /* whether the permutation changed any of the unit's results */
  size_t row;                         /* index of the first base vector whose result changes */
  uint64_t d;                         /* the unit's result for that vector after the permutation */
} permutation;

/* ---- Effect of a permutation on a shape ---- */

static permutation identity(int k) {
  permutation x = {.asked = false};
  for (int i = 0; i < k; i++) x.from[i] = (unsigned char)i;
  return x;
}

/* Effects of a permutation on a shape's results. CAN_STAY alone: never changes them. CAN_CHANGE alone: changes them
   whatever the parameters. Both: depends on the parameters. */
typedef enum { CAN_CHANGE = 1, CAN_STAY = 2 } effect;

/* Hashes of a shape without a permutation (smma_shape_hash): with `strictly`, and without it. */
typedef struct {
  uint64_t strict, loose;
} shape_hashes;

static int effect_of(const smma_composition *p, int k, const permutation *x, shape_hashes same) {
  if (smma_shape_hash(p, k, x->from, true) == same.strict) return CAN_STAY;
  return smma_shape_hash(p, k, x->from, false) == same.loose ? CAN_CHANGE | CAN_STAY : CAN_CHANGE;
}

/* ---- Permutations ---- */

static bool moves(const permutation *x, int k) { return x->from[k] != k; }

static void swap(permutation *x, int i, int j) {
  const unsigned char kept = x->from[i];
  x->from[i] = x->from[j];
  x->from[j] = kept;
}

static int add(permutation *all, int count, int most, const permutation *x, int k) {
  for (int n = 0; n < count; n++)
    if (memcmp(all[n].from, x->from, (size_t)k) == 0) return count;
  if (count < most) all[count++] = *x;
  return count;
}

/* Adds the permutation that exchanges parts `one` and `other`. There are k / size parts of `size` products. The
   products of a part are adjacent; if `interleaved`, they have a distance of k / size. */
static int add_parts(permutation *all, int have, int k, int size, bool interleaved, int one, int other) {
  permutation x = identity(k);
  const int count = k / size;
  for (int i = 0; i < size; i++)
    swap(&x, interleaved ? i * count + one : one * size + i, interleaved ? i * count + other : other * size + i);
  return add(all, have, MOST_PARTS, &x, k);
}

/* Lists permutations, and returns their number: the reversal, and exchanges of two parts. Parts are single products or
   several, adjacent or interleaved. Each part is exchanged with the part 1, 2 or parts / 2 places before it, and with
   the first part. For large K, MOST_PARTS ends the list early. Then come the exchanges of every product with the next
   one, and of the last with the first, because only these show a single product that is unlike the others. */
static int make_permutations(int k, permutation *all) {
  int have = 0;
  permutation reversed = identity(k);
  for (int i = 0; i < k / 2; i++) swap(&reversed, i, k - 1 - i);
  have = add(all, have, MOST_PARTS, &reversed, k);
  for (int size = k / 2; size > 0; size--) {
    const int parts = k % size ? 0 : k / size;
    for (int interleaved = 0; interleaved <= (size > 1); interleaved++)
      for (int part = 1; part < parts; part++) {
        have = add_parts(all, have, k, size, interleaved, part - 1, part);
        have = add_parts(all, have, k, size, interleaved, 0, part);
        if (part >= 2) have = add_parts(all, have, k, size, interleaved, part - 2, part);
        if (part >= parts / 2) have = add_parts(all, have, k, size, interleaved, part - parts / 2, part);
      }
  }
  for (int i = 0; i < k; i++) {
    permutation x = identity(k);
    swap(&x, i, (i + 1) % k);
    have = add(all, have, MOST_PERMUTATIONS, &x, k);
  }
  return have;
}

/* ---- Vectors ---- */

static double product_of(const smma_instruction *i, const smma_row *row, int k) {
  return smma_format_decode(i->a, row->a[k]) * smma_format_decode(i->b, row->b[k]);
}

static void negate(smma_format format, uint64_t *code) {
  *code =
      smma_format_encode(format, -smma_format_decode(format, *code), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

/* Replaces a product, chosen by `number`, by the negated greatest product, so that the two cancel. */
static void cancel(const smma_instruction *i, smma_row *row, int number) {
  int greatest = 0, other;
  for (int k = 1; k < i->k; k++) {
    const double x = product_of(i, row, k), y = product_of(i, row, greatest);
    if (x * x > y * y) greatest = k;
  }
  other = (greatest + 1 + number % (i->k > 1 ? i->k - 1 : 1)) % i->k;
  row->a[other] = row->a[greatest];
  row->b[other] = row->b[greatest];
  negate(i->a, &row->a[other]);
}

/* Stores a vector in the base. Gives all products the first scale factors, so that a permutation of products does not
   change their values. */
static void put(smma_rows *base, size_t at, smma_row *row) {
  const int scales = smma_scale_count(base->instruction->k, base->instruction->scale_block);
  for (int s = 1; s < scales; s++) row->scale_a[s] = row->scale_a[0], row->scale_b[s] = row->scale_b[0];
  smma_rows_put(base, at, row);
}

/* Generates base vectors; in half of them the greatest product cancels with another product. */
static void make_base(const smma_inference_work *x, smma_rows *base) {
  smma_generate_rows(base, x->request->seed ^ SEED_OF_BASE, 0, BASE_ROWS, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
  for (int r = 0; r < BASE_ROWS; r++) {
    smma_row row;
    smma_rows_get(base, (size_t)r, &row);
    if (r % 2 && x->as.k > 1) cancel(&x->as, &row, r / 2);
    put(base, (size_t)r, &row);
  }
}

/* Makes base vectors from the mismatching vectors, unchanged and with a product or c negated. Mismatches show more of
   the structure than other vectors do. */
static void make_base_of_misfits(const smma_inference_work *x, smma_rows *base) {
  const size_t misfits = x->fit.wrong;
  for (size_t r = 0; r < BASE_ROWS; r++) {
    smma_row row;
    smma_rows_get(&x->samples.rows, x->fit.order[r % misfits], &row);
    if (r >= misfits) {
      const size_t k = (r - misfits) % ((size_t)x->as.k + 1);
      negate(k < (size_t)x->as.k ? x->as.a : x->as.c, k < (size_t)x->as.k ? &row.a[k] : &row.c);
    }
    put(base, r, &row);
  }
}

static smma_row permuted(const smma_row *row, int k, const permutation *x) {
  smma_row other = *row;
  for (int i = 0; i < k; i++) other.a[i] = row->a[x->from[i]], other.b[i] = row->b[x->from[i]];
  return other;
}

static void permute(const smma_rows *base, int k, const permutation *x, smma_rows *rows, size_t at) {
  for (size_t r = 0; r < BASE_ROWS; r++) {
    smma_row row;
    smma_rows_get(base, r, &row);
    row = permuted(&row, k, x);
    smma_rows_put(rows, at + r, &row);
  }
}

/* ---- Asking ---- */

/* The permutations, their effects on each shape, and the shapes refuted so far. */
typedef struct {
  permutation *all;
  int permutations;                          /* number of permutations in `all` */
  unsigned char (*effect)[SMMA_MOST_SHAPES]; /* effect[p][n]: effects of permutation p on shape n */
  bool refuted[SMMA_MOST_SHAPES];
  int before[SMMA_MOST_SHAPES]; /* evidence against each shape from an earlier call of smma_inference_weigh_shapes;
                                   INT_MAX: no earlier call */
} knowledge;

static void find_effects(const smma_shapes *shapes, int k, knowledge *known) {
#pragma omp parallel for num_threads(smma_default_threads()) schedule(dynamic, 16)
  for (int n = 0; n < shapes->count; n++) {
    const smma_composition *shape = &shapes->shape[n];
    const shape_hashes same = {smma_shape_hash(shape, k, NULL, true), smma_shape_hash(shape, k, NULL, false)};
    for (int p = 0; p < known->permutations; p++)
      known->effect[p][n] = (unsigned char)effect_of(shape, k, &known->all[p], same);
  }
}

static void note_change(const smma_operation *o, const smma_rows *base, const smma_rows *rows, size_t at,
                        permutation *x) {
  x->changes = false;
  for (size_t r = 0; r < BASE_ROWS && !x->changes; r++) {
    x->row = r;
    x->d = smma_rows_result(rows, at + r);
    x->changes = !smma_same_result(o, smma_rows_result(base, r), x->d);
  }
}

/* Returns how many likely shapes the unit's answer refutes or makes less likely, for the answer that does this to
   fewer. */
static int worth(const smma_shapes *shapes, const knowledge *known, int at) {
  const int most = smma_shapes_likely(shapes);
  int likely = 0, can_stay = 0, can_change = 0;
  for (int n = 0; n < shapes->count; n++) {
    const int e = known->refuted[n] || shapes->against[n] > most ? 0 : known->effect[at][n];
    likely += e != 0, can_stay += (e & CAN_STAY) != 0, can_change += (e & CAN_CHANGE) != 0;
  }
  return likely - (can_stay > can_change ? can_stay : can_change);
}

/* If the permutation changed the unit's results, refutes shape n if the permutation never changes its results. If not,
   adds evidence against the shape if the permutation changes its results whatever the parameters. */
static void judge_shape(smma_shapes *shapes, knowledge *known, int at, int n) {
  const int e = known->effect[at][n];
  if (known->all[at].changes)
    known->refuted[n] |= !(e & CAN_CHANGE);
  else
    shapes->against[n] += !(e & CAN_STAY);
}

static void judge(smma_shapes *shapes, knowledge *known, int at) {
  for (int n = 0; n < shapes->count; n++) judge_shape(shapes, known, at, n);
}

/* Returns the index of the permutation, among those not yet asked, that distinguishes the likely shapes best, or -1 if
   none distinguishes them. */
static int best_of(const smma_shapes *shapes, const knowledge *known) {
  int best = -1, most = 0;
  for (int n = 0; n < known->permutations; n++) {
    const int w = known->all[n].asked ? 0 : worth(shapes, known, n);
    if (w > most) most = w, best = n;
  }
  return best;
}

/* Chooses up to MOST_PER_CALL permutations that distinguish the likely shapes best, and marks them as asked. Returns
   their number. */
static int choose(const smma_shapes *shapes, knowledge *known, int which[MOST_PER_CALL]) {
  int count = 0;
  for (int at; count < MOST_PER_CALL && (at = best_of(shapes, known)) >= 0;) {
    known->all[at].asked = true;
    which[count++] = at;
  }
  return count;
}

/* Chooses up to MOST_PER_CALL permutations not yet asked that exchange only two products, and marks them as asked.
   Returns their number. */
static int choose_pairs(knowledge *known, int products, int which[MOST_PER_CALL]) {
  int count = 0;
  for (int n = 0; n < known->permutations && count < MOST_PER_CALL; n++) {
    int moved = 0;
    for (int k = 0; k < products; k++) moved += moves(&known->all[n], k);
    if (moved != 2 || known->all[n].asked) continue;
    known->all[n].asked = true;
    which[count++] = n;
  }
  return count;
}

/* Lets the unit compute the base with each of the chosen permutations, in one call, and judges the shapes by the
   results. */
static bool ask(smma_inference_work *x, knowledge *known, const int *which, int count, const smma_rows *base,
                smma_rows *rows) {
  const smma_operation o = smma_operation_of(&x->as);
  for (int n = 0; n < count; n++) permute(base, x->as.k, &known->all[which[n]], rows, (size_t)n * BASE_ROWS);
  if (!smma_inference_ask(x, rows, (size_t)count * BASE_ROWS)) return false;
  for (int n = 0; n < count; n++) {
    note_change(&o, base, rows, (size_t)n * BASE_ROWS, &known->all[which[n]]);
    judge(x->shapes, known, which[n]);
  }
  return true;
}

static bool ask_best(smma_inference_work *x, knowledge *known, const smma_rows *base, smma_rows *rows) {
  int which[MOST_PER_CALL];
  for (int call = 0; call < MOST_CALLS; call++) {
    const int count = choose(x->shapes, known, which);
    if (count == 0) break;
    if (!ask(x, known, which, count, base, rows)) return false;
  }
  return true;
}

/* ---- A product that the unit treats unlike the others ---- */

enum { NONE = -1 }; /* no product */

/* Judges all shapes again, using only the asked permutations that do not move product k (NONE: all that were asked).
   Returns the least evidence against any shape that is not refuted. */
static int judge_without(smma_shapes *shapes, knowledge *known, int k) {
  int least = INT_MAX;
  for (int n = 0; n < shapes->count; n++) {
    known->refuted[n] = false;
    shapes->against[n] = 0;
    for (int p = 0; p < known->permutations; p++) {
      const permutation *x = &known->all[p];
      if (!x->asked || (k != NONE && moves(x, k))) continue;
      judge_shape(shapes, known, p, n);
    }
    if (!known->refuted[n]) least = smma_minimum(least, shapes->against[n]);
  }
  return least;
}

/* Returns k of the product without which some shape becomes likely. Returns NONE if there is no such product, or if
   several do equally well. `least` is the least evidence against any shape with all products. */
static int find_odd(smma_shapes *shapes, knowledge *known, int products, int least) {
  int odd = NONE;
  for (int k = 0; k < products; k++) {
    const int evidence = judge_without(shapes, known, k);
    if (evidence > SMMA_SHAPES_LITTLE || evidence > least) continue;
    odd = evidence < least ? k : NONE;
    least = evidence;
  }
  return odd;
}

/* If no shape is likely, looks for one product without which some shape is. If there is one, sets x->odd to its k, and
   judges the shapes by the permutations that do not move it. */
static bool set_one_product_apart(smma_inference_work *x, knowledge *known, const smma_rows *base, smma_rows *rows) {
  const int least = judge_without(x->shapes, known, NONE);
  int which[MOST_PER_CALL], odd;
  if (least <= SMMA_SHAPES_LITTLE) return true;
  for (int count; (count = choose_pairs(known, x->as.k, which)) > 0;)
    if (!ask(x, known, which, count, base, rows)) return false;
  odd = find_odd(x->shapes, known, x->as.k, least);
  judge_without(x->shapes, known, odd);
  if (odd == NONE) return true;
  x->odd = odd;
  smma_inference_tell(x, "structure: the product at k = %d is unlike the others", odd);
  for (int n = 0; n < known->permutations; n++)
    if (moves(&known->all[n], odd)) known->all[n].asked = true; /* not to be asked */
  return ask_best(x, known, base, rows);
}

/* ---- Vectors that rule out shapes ---- */

static bool excludes(const knowledge *known, int at, int shape, int odd) {
  const permutation *x = &known->all[at];
  return known->refuted[shape] && x->asked && x->changes && !(odd >= 0 && moves(x, odd)) &&
         !(known->effect[at][shape] & CAN_CHANGE);
}

/* Counts the shapes that a permutation's vectors rule out, except the shapes marked in `accounted`. */
static int count_excluded(const smma_inference_work *x, const knowledge *known, int at, const bool *accounted) {
  int count = 0;
  for (int n = 0; n < x->shapes->count; n++) count += !accounted[n] && excludes(known, at, n, x->odd);
  return count;
}

static bool add_evidence(smma_inference_work *x, const permutation *p, const smma_rows *base, int structures) {
  smma_inference *found = x->found;
  smma_infer_evidence *all = realloc(found->evidence, (found->evidences + 1) * sizeof *all);
  if (!all) return smma_no_memory(x->error);
  found->evidence = all;
  smma_infer_evidence *e = &all[found->evidences++];
  e->structures = structures;
  smma_rows_get(base, p->row, &e->row[0]);
  e->row[1] = permuted(&e->row[0], x->as.k, p);
  e->row[1].d = p->d;
  return true;
}

/* Adds pairs of vectors to found->evidence until they rule out every refuted shape. Each time adds the pair that rules
   out the most shapes that are not yet ruled out. */
static bool list_evidence(smma_inference_work *x, const knowledge *known, const smma_rows *base) {
  static bool accounted[SMMA_MOST_SHAPES];
  memset(accounted, 0, sizeof accounted);
  for (;;) {
    int best = -1, most = 0;
    for (int p = 0; p < known->permutations; p++) {
      const int count = known->all[p].changes ? count_excluded(x, known, p, accounted) : 0;
      if (count > most) most = count, best = p;
    }
    if (best < 0) return true;
    if (!add_evidence(x, &known->all[best], base, most)) return false;
    for (int n = 0; n < x->shapes->count; n++) accounted[n] |= excludes(known, best, n, x->odd);
  }
}

/* Removes refuted shapes; if all are refuted, keeps all. Some vectors cannot show a shape and count against it wrongly,
   so each shape keeps the smaller of its old and its new evidence. */
static void leave_out_refuted(smma_shapes *shapes, const knowledge *known) {
  int kept = 0;
  for (int n = 0; n < shapes->count; n++) {
    if (known->refuted[n]) continue;
    shapes->shape[kept] = shapes->shape[n];
    shapes->published[kept] = shapes->published[n];
    shapes->against[kept++] = smma_minimum(shapes->against[n], known->before[n]);
  }
  if (kept) shapes->count = kept;
}

/* Sorts shapes by the evidence against them. Shapes with equal evidence keep their order. Returns false if memory runs
   out. */
static bool put_likely_first(smma_shapes *shapes) {
  smma_shapes *before = malloc(sizeof *before);
  int most = 0, at = 0;
  if (!before) return false;
  *before = *shapes;
  for (int n = 0; n < shapes->count; n++) most = smma_maximum(most, shapes->against[n]);
  for (int against = 0; against <= most; against++)
    for (int n = 0; n < shapes->count; n++) {
      if (before->against[n] != against) continue;
      shapes->shape[at] = before->shape[n];
      shapes->published[at] = before->published[n];
      shapes->against[at++] = against;
    }
  free(before);
  return true;
}

bool smma_inference_weigh_shapes(smma_inference_work *x) {
  const smma_instruction *i = x->request->instruction;
  knowledge *known = calloc(1, sizeof *known);
  smma_rows base = {.capacity = 0}, rows = {.capacity = 0};
  bool good = known != NULL;
  if (good) {
    known->all = malloc(MOST_PERMUTATIONS * sizeof *known->all);
    known->effect = malloc(MOST_PERMUTATIONS * sizeof *known->effect);
    good = known->all && known->effect && smma_rows_allocate(i, BASE_ROWS, &base) &&
           smma_rows_allocate(i, MOST_PER_CALL * BASE_ROWS, &rows);
  }
  if (!good) smma_no_memory(x->error);
  if (good) {
    known->permutations = make_permutations(i->k, known->all);
    for (int n = 0; n < x->shapes->count; n++) {
      known->before[n] = x->fit.wrong ? x->shapes->against[n] : INT_MAX;
      x->shapes->against[n] = 0;
    }
    find_effects(x->shapes, i->k, known);
    if (x->fit.wrong)
      make_base_of_misfits(x, &base);
    else
      make_base(x, &base);
  }
  good = good && smma_inference_learn(x, &base, BASE_ROWS);
  good = good && ask_best(x, known, &base, &rows);
  good = good && set_one_product_apart(x, known, &base, &rows) && list_evidence(x, known, &base);
  if (good) {
    const int before = x->shapes->count;
    leave_out_refuted(x->shapes, known);
    good = put_likely_first(x->shapes) || smma_no_memory(x->error);
    smma_inference_tell(x, "structure: %d of %d shapes are left", x->shapes->count, before);
  }
  smma_rows_free(&base);
  smma_rows_free(&rows);
  if (known) {
    free(known->all);
    free(known->effect);
  }
  free(known);
  return good;
}
