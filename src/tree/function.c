#include "tree/function.h"

#include <math.h>
#include <stdlib.h>

#include "host/draw.h"
#include "rows/place.h"

enum {
  CHECKS = 64,                 /* number of random queries that check an order */
  MOST_PAIRS = 3,              /* maximum number of pairs of +M and -M in a random query */
  PRODUCTS_FOR_MORE_PAIRS = 8, /* with fewer products, a random query has only one pair */
  MOST_REACH = 70,             /* greatest distance of M, and of a one, from the middle of the range, in binades */
  LEAST_BITS = 25,             /* least distance between the sum of all ones and M, in binades */
  MOST_ONES_BITS = 20          /* one call has at most 2^MOST_ONES_BITS ones */
};

/* The factors of a product, as encodings. */
typedef struct {
  uint64_t a, b;
} factors;

typedef struct {
  const smma_function *function;
  smma_instruction formats;
  int huge, one;      /* M = 2^huge, and a one is 2^one */
  int ones;           /* greatest number of ones in one call, limited by d's format */
  factors kind[4];    /* factors of a product with each value, indexed by smma_summand */
  uint64_t *a, *b;    /* operands of a call */
  smma_summand *what; /* the current query: value of each product */
  int *turn;          /* the products in random order */
  smma_order_entry *entry;
  uint64_t random;
  smma_error *error;
} asker;

/* ---- Calls of the function ---- */

static smma_tree_status hide(const asker *s, const char *why) {
  smma_fail(s->error, "%s", why);
  return SMMA_TREE_HIDDEN;
}

/* Writes the operands of one call: +M and -M as in s->what, and the ones of s->what from product `from` on, up to
   s->ones of them. Sets `*ones` to the number of ones written, and returns the product from which the next call
   continues. */
static int put(asker *s, int from, int *ones) {
  int end = s->function->k;
  *ones = 0;
  for (int k = 0; k < s->function->k; k++) {
    smma_summand what = s->what[k];
    if (what == SMMA_SUMMAND_ONE && (k < from || k >= end)) what = SMMA_SUMMAND_ZERO;
    if (what == SMMA_SUMMAND_ONE && ++*ones == s->ones) end = k + 1;
    s->a[k] = s->kind[what].a, s->b[k] = s->kind[what].b;
  }
  return end;
}

static smma_tree_status call(asker *s, double *d) {
  return s->function->call(s->function->context, s->a, s->b, d) ? SMMA_TREE_FOUND : SMMA_TREE_FAILED;
}

/* Returns k of the first product with the value `what`, or the last k if there is none. */
static int place_of(const asker *s, smma_summand what) {
  int k = 0;
  while (k < s->function->k - 1 && s->what[k] != what) k++;
  return k;
}

static smma_tree_status refuse_count(const asker *s, int ones, double found) {
  smma_fail(s->error,
            "with +M at k = %d and -M at k = %d the result is %.17g ones, M = 2^%d, ones 2^%d: no number of %d",
            place_of(s, SMMA_SUMMAND_HUGE), place_of(s, SMMA_SUMMAND_MINUS_HUGE), found, s->huge, s->one, ones);
  return SMMA_TREE_HIDDEN;
}

/* Sets `*left` to the number of ones of s->what that reach d. Needs several calls if d's format cannot hold the sum of
   all ones. */
static smma_tree_status count(asker *s, int *left) {
  *left = 0;
  for (int from = 0, ones; from < s->function->k;) {
    smma_tree_status status;
    double d, found;
    from = put(s, from, &ones);
    if (!ones) break;
    status = call(s, &d);
    if (status != SMMA_TREE_FOUND) return status;
    found = ldexp(d, -s->one);
    if (!(found >= 0 && found <= ones && found == floor(found))) return refuse_count(s, ones, found);
    *left += (int)found;
  }
  return SMMA_TREE_FOUND;
}

static void set_all(asker *s, smma_summand what) {
  for (int k = 0; k < s->function->k; k++) s->what[k] = what;
}

static smma_tree_status ask_pairs(void *context, int plus, const int *minus, int number, int one, int *left) {
  asker *s = context;
  smma_tree_status status = SMMA_TREE_FOUND;
  for (int i = 0; i < number && status == SMMA_TREE_FOUND; i++) {
    set_all(s, one == SMMA_ALL_OTHERS ? SMMA_SUMMAND_ONE : SMMA_SUMMAND_ZERO);
    if (one != SMMA_ALL_OTHERS) s->what[one] = SMMA_SUMMAND_ONE;
    s->what[plus] = SMMA_SUMMAND_HUGE, s->what[minus[i]] = SMMA_SUMMAND_MINUS_HUGE;
    status = count(s, &left[i]);
  }
  return status;
}

static smma_tree_status refuse_pair(void *context, int plus, int minus) {
  const asker *s = context;
  smma_fail(s->error,
            "no order of additions explains k = %d with others, such as k = %d: sums may be exact, or 2^%d "
            "may not absorb ones",
            plus, minus, s->huge);
  return SMMA_TREE_HIDDEN;
}

/* ---- M and ones ---- */

/* Shuffles s->turn so that its first `number` products are random. */
static void draw(asker *s, int number) {
  for (int i = 0; i < number; i++) {
    const int other = i + smma_draw_below(&s->random, s->function->k - i), turn = s->turn[other];
    s->turn[other] = s->turn[i];
    s->turn[i] = turn;
  }
}

/* If `*good` is true, calls the function for s->what, and sets `*good` to whether d is `expected`. */
static smma_tree_status comes_through(asker *s, double expected, bool *good) {
  smma_tree_status status = SMMA_TREE_FOUND;
  double d;
  int ones;
  if (!*good) return status;
  put(s, 0, &ones);
  status = call(s, &d);
  *good = status == SMMA_TREE_FOUND && d == expected;
  return status;
}

/* Sets `*good` to whether M and ones reach d unchanged: M alone and a one alone at each of three products, and s->ones
   ones together. */
static smma_tree_status try_range(asker *s, bool *good) {
  const int k = s->function->k, alone[] = {0, k / 2, k - 1};
  smma_tree_status status;
  *good = true;
  set_all(s, SMMA_SUMMAND_ZERO);
  draw(s, s->ones);
  for (int i = 0; i < s->ones; i++) s->what[s->turn[i]] = SMMA_SUMMAND_ONE;
  status = comes_through(s, ldexp(s->ones, s->one), good);
  for (int what = SMMA_SUMMAND_ONE; what <= SMMA_SUMMAND_HUGE; what++)
    for (int i = 0; i < 3 && status == SMMA_TREE_FOUND; i++) {
      set_all(s, SMMA_SUMMAND_ZERO);
      s->what[alone[i]] = (smma_summand)what;
      status = comes_through(s, ldexp(1, what == SMMA_SUMMAND_ONE ? s->one : s->huge), good);
    }
  return status;
}

static void set_range(asker *s, int huge, int one) {
  const smma_instruction *i = &s->formats;
  factors *const p = s->kind;
  s->huge = huge, s->one = one;
  smma_split_product(i, one, 0, false, &p[SMMA_SUMMAND_ONE].a, &p[SMMA_SUMMAND_ONE].b);
  smma_split_product(i, huge, 0, false, &p[SMMA_SUMMAND_HUGE].a, &p[SMMA_SUMMAND_HUGE].b);
  smma_split_product(i, huge, 0, true, &p[SMMA_SUMMAND_MINUS_HUGE].a, &p[SMMA_SUMMAND_MINUS_HUGE].b);
}

/* Returns the exponent of the least power of two that both a product and d can represent: as normal numbers or, if
   `subnormal`, also as subnormal numbers. */
static int least_one(const asker *s, bool subnormal) {
  const smma_function *f = s->function;
  const int a = smma_encoding_of(f->a).fraction_bits, b = smma_encoding_of(f->b).fraction_bits;
  const int product = smma_summand_range(&s->formats, 0).least, d = smma_range_of_format(f->d).least;
  return smma_maximum(product - (subnormal ? a + b : 0), d - (subnormal ? smma_encoding_of(f->d).fraction_bits : 0));
}

/* Tries M and ones between 2^least and 2^greatest, at the largest useful distance, with at most 2^bits ones in a call.
   Sets `*good` to whether they can be used. */
static smma_tree_status try_reach(asker *s, int least, int greatest, int bits, bool *good) {
  const int reach = smma_minimum((greatest - least) / 2, MOST_REACH), middle = least + (greatest - least) / 2;
  *good = false;
  s->ones = smma_minimum(1 << bits, s->function->k);
  set_range(s, middle + reach, middle - reach);
  return 2 * reach - bits - 1 > LEAST_BITS ? try_range(s, good) : SMMA_TREE_FOUND;
}

/* Chooses the sizes of M and ones. M is so small that the sum of three M is in d's range. A call has as many ones as
   possible, so that a query needs few calls. Ones are normal numbers unless subnormal ones allow more ones in a
   call. */
static smma_tree_status settle(asker *s) {
  const smma_function *f = s->function;
  const int product = smma_summand_range(&s->formats, 0).greatest, d = smma_range_of_format(f->d).greatest;
  const int greatest = smma_minimum(product, d - 2);
  const int digits = smma_minimum(smma_encoding_of(f->d).fraction_bits + 1, MOST_ONES_BITS);
  bool good = false;
  for (int bits = smma_minimum(digits, smma_bit_length((uint64_t)f->k - 1)); bits >= 0; bits--)
    for (int subnormal = 0; subnormal < 2; subnormal++) {
      const smma_tree_status status = try_reach(s, least_one(s, subnormal), greatest, bits, &good);
      if (status != SMMA_TREE_FOUND || good) return status;
    }
  smma_fail(s->error, "2^%d, or ones of 2^%d, do not come through alone, or are too near to each other", s->huge,
            s->one);
  return SMMA_TREE_HIDDEN;
}

/* ---- Finding and checking ---- */

/* Makes a query with one to three pairs of +M and -M and with ones, all at random products. */
static void make_question(asker *s) {
  const int k = s->function->k;
  const int huge = 2 * (k < PRODUCTS_FOR_MORE_PAIRS ? 1 : 1 + smma_draw_below(&s->random, MOST_PAIRS));
  const int ones = smma_minimum(s->ones, 1 + smma_draw_below(&s->random, k - huge));
  set_all(s, SMMA_SUMMAND_ZERO);
  draw(s, huge + ones);
  for (int i = 0; i < huge + ones; i++)
    s->what[s->turn[i]] = i >= huge ? SMMA_SUMMAND_ONE : i % 2 ? SMMA_SUMMAND_MINUS_HUGE : SMMA_SUMMAND_HUGE;
}

static smma_tree_status check(asker *s, const smma_sum_order *order) {
  smma_tree_status status = SMMA_TREE_FOUND;
  smma_read_order(order, s->entry);
  for (int i = 0; i < CHECKS && order->count > 2 && status == SMMA_TREE_FOUND; i++) {
    int expected, found, greatest;
    make_question(s);
    expected = smma_predict(order, s->entry, s->what, &greatest).ones;
    status = count(s, &found);
    if (status != SMMA_TREE_FOUND || found == expected) continue;
    smma_fail(s->error,
              "at random, with M at k = %d and -M at k = %d, %d ones come through; in the order that pairs of them "
              "show, %d would",
              place_of(s, SMMA_SUMMAND_HUGE), place_of(s, SMMA_SUMMAND_MINUS_HUGE), found, expected);
    return SMMA_TREE_HIDDEN;
  }
  return status;
}

static smma_tree_status find(asker *s, smma_sum_order *order) {
  const smma_order_asker asker_of_pairs = {s, ask_pairs, refuse_pair};
  smma_tree_status status = settle(s);
  draw(s, order->count);
  if (status == SMMA_TREE_FOUND) status = smma_find_order(&asker_of_pairs, s->turn, order);
  for (int n = order->count; status == SMMA_TREE_FOUND && n < order->nodes; n++)
    if (order->exact[n]) return hide(s, "M does not absorb ones: sums may be exact");
  return status == SMMA_TREE_FOUND ? check(s, order) : status;
}

/* Allocates the arrays for K products, finds the order, and frees the arrays. */
static smma_tree_status find_with_room(asker *s, smma_sum_order *order) {
  const size_t k = (size_t)s->function->k;
  smma_tree_status status = SMMA_TREE_FAILED;
  smma_no_memory(s->error);
  s->a = calloc(2 * k, sizeof *s->a);
  s->what = calloc(k, sizeof *s->what);
  s->turn = calloc(k, sizeof *s->turn);
  s->entry = calloc(2 * k, sizeof *s->entry);
  s->b = s->a ? s->a + k : NULL;
  for (size_t n = 0; s->turn && n < k; n++) s->turn[n] = (int)n;
  if (s->a && s->what && s->turn && s->entry) status = find(s, order);
  free(s->a);
  free(s->what);
  free(s->turn);
  free(s->entry);
  return status;
}

smma_tree_status smma_find_order_of_function(const smma_function *f, smma_sum_order *order, smma_error *error) {
  asker s = {.function = f, .formats = {.a = f->a, .b = f->b, .d = f->d, .k = f->k}, .random = f->seed, .error = error};
  order->count = f->k;
  if (smma_is_integer(f->a) || smma_is_integer(f->b) || smma_is_integer(f->d))
    return hide(&s, "sums of integers are exact, in whatever order");
  if (!smma_encoding_of(f->a).sign_bits && !smma_encoding_of(f->b).sign_bits)
    return hide(&s, "neither A's format nor B's has a sign: no product cancels another");
  return find_with_room(&s, order);
}
