/* Finds which products are added at once, in what order, and when c joins. */
#include <stdlib.h>
#include <string.h>

#include "isa/key.h"
#include "probe/elsewhere.h"
#include "probe/triple.h"
#include "tree/stages.h"

enum { SUMMANDS = SMMA_MAXIMUM_ROUNDED_K + 1 };

/* Which small numbers survive X and -X. */
typedef struct {
  int base, count; /* the product that holds X; number of summands */
  bool unclear;    /* some result shows neither that the small number survives nor that it is lost */
  /* [j][k]: a small number at k is in the result after X and -X at j have cancelled. */
  bool survives[SUMMANDS][SUMMANDS];
  int outside[SUMMANDS]; /* [j]: the number of k with survives[j][k] */
} relations;

/* If X and -X leave a remainder, small numbers are this many bits smaller: a quarter of its unit. */
enum { BITS_BELOW_LEFT = 2 };

/* Returns exponents of X and of the small number that every summand can have. */
static smma_span common_span(const smma_examination *x) {
  const smma_subject *s = &x->subject;
  const int k = s->instruction->k;
  const smma_span products = smma_span_of(s, 0, 0, 0), c = smma_span_of(s, k, k, k);
  smma_span span = {.large = smma_minimum(products.large, c.large), .least = smma_maximum(products.least, c.least)};
  if (x->left) span.least = smma_maximum(span.least, span.large - x->left - BITS_BELOW_LEFT);
  return span;
}

/* Reports whether d contains the small number, with sign `sign`, in addition to a remainder of X and -X. Sets
   `*unclear` if d is neither such a sum nor a remainder alone. */
static bool survives(const smma_examination *x, const smma_row *row, int sign, smma_span span, bool *unclear) {
  const smma_dyadic d = smma_result(&x->subject, row);
  int64_t units;
  if (!x->left) return smma_is_exactly(d, sign, span.least);
  if (!smma_in_units(d, span.least, &units)) {
    *unclear = true;
    return false;
  }
  *unclear |= units % (1 << BITS_BELOW_LEFT) != 0 && (units - sign) % (1 << BITS_BELOW_LEFT) != 0;
  return (units - sign) % (1 << BITS_BELOW_LEFT) == 0;
}

static void place_signed(const smma_subject *s, smma_row *row, const int at[3], smma_span span, int sign) {
  *row = smma_blank_row(s);
  smma_place(s, row, at[0], sign, span.large);
  smma_place(s, row, at[1], -sign, span.large);
  smma_place(s, row, at[2], sign, span.least);
}

/* Fills `r` for X at product `base` and every j and k. If `swapped`, -X is at k and the small number at j. If
   `negative`, all signs are inverted. */
static bool ask_relations(smma_examination *x, int base, bool swapped, bool negative, relations *r) {
  smma_subject *s = &x->subject;
  const int n = s->instruction->k + 1;
  const smma_span span = common_span(x);
  smma_row *rows = calloc((size_t)(n * n), sizeof *rows);
  bool good = rows != NULL || smma_no_memory(&s->error);
  memset(r, 0, sizeof *r);
  r->base = base;
  r->count = n;
  for (int j = 0; good && j < n; j++)
    for (int k = 0; k < n; k++)
      if (j != k && j != base && k != base)
        place_signed(s, &rows[j * n + k], (int[]){base, swapped ? k : j, swapped ? j : k}, span, negative ? -1 : 1);
      else
        rows[j * n + k] = smma_blank_row(s);
  good = good && smma_ask_subject(s, rows, (size_t)(n * n));
  for (int j = 0; good && j < n; j++)
    for (int k = 0; k < n; k++) {
      const bool asked = j != k && j != base && k != base;
      r->survives[j][k] = asked && survives(x, &rows[j * n + k], negative ? -1 : 1, span, &r->unclear);
      r->outside[j] += r->survives[j][k];
    }
  free(rows);
  return good;
}

/* Sets first->block and first->blocks. r->outside counts the small numbers that survive with -X at each product:
   products with equal counts are added to the base together, and a greater count means that the product is added
   earlier. */
static void number_blocks(const relations *r, smma_first_sum *first) {
  const int k = r->count - 1;
  first->blocks = 0;
  for (int outside = r->count; outside >= 0; outside--) {
    bool any = false;
    for (int j = 0; j < k; j++) {
      const bool here = outside == r->count ? first->product[j] : !first->product[j] && r->outside[j] == outside;
      if (here) first->block[j] = first->blocks, any = true;
    }
    first->blocks += any;
  }
}

/* Finds the first sum of the base: the summands that are added to the base first. With -X at one of these, the most
   small numbers survive. */
static void find_first_sum(const relations *r, smma_first_sum *first) {
  const int k = r->count - 1;
  int most = 0, least = r->count;
  *first = (smma_first_sum){.known = true, .products = 1, .other = -1};
  first->product[r->base] = true;
  for (int j = 0; j <= k; j++)
    if (j != r->base) most = smma_maximum(most, r->outside[j]);
  for (int j = 0; j <= k; j++) {
    if (j == r->base) continue;
    if (r->outside[j] == most && j < k) first->product[j] = true, first->products++;
    if (r->outside[j] == most && j == k) first->has_c = true;
    if (j < k && r->outside[j] < least) least = r->outside[j], first->other = j;
  }
  if (first->other >= 0 && first->product[first->other]) first->other = -1;
  number_blocks(r, first);
  for (int j = 0; first->other >= 0 && j < k; j++) first->last[j] = j != r->base && r->outside[j] == least;
}

/* Sets first->fused and first->exact. In a fused sum terms have no order, so with X, -X and the small number at any
   three terms, either no small number survives or all do. */
static void find_whether_fused(const smma_examination *x, const relations *r, const relations *swapped,
                               smma_first_sum *first) {
  int terms[SUMMANDS];
  const int count = smma_first_terms(x, terms);
  bool any = false, all = true;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      if (i == j || terms[i] == r->base || terms[j] == r->base) continue;
      any |= r->survives[terms[i]][terms[j]] || swapped->survives[terms[i]][terms[j]];
      all &= r->survives[terms[i]][terms[j]] && swapped->survives[terms[i]][terms[j]];
    }
  first->fused = count > 2 && (!any || all);
  first->exact = count > 2 && all;
}

/* Sets `*alike` to whether three terms of a later block behave like those of the first block, for all choices with the
   block's first term. */
static bool ask_whether_alike(smma_examination *x, int block, bool *alike) {
  smma_subject *s = &x->subject;
  const smma_span span = common_span(x);
  bool unclear = false;
  int member[SMMA_MAXIMUM_ROUNDED_K], count = 0;
  size_t asked = 0;
  for (int k = 0; k < s->instruction->k; k++)
    if (x->first.block[k] == block) member[count++] = k;
  smma_row *rows = calloc((size_t)(count * count), sizeof *rows);
  bool good = rows != NULL || smma_no_memory(&s->error);
  for (int i = 1; good && i < count; i++)
    for (int j = 1; j < count; j++)
      if (i != j) place_signed(s, &rows[asked++], (int[]){member[0], member[i], member[j]}, span, 1);
  good = good && smma_ask_subject(s, rows, asked);
  *alike = true;
  for (size_t n = 0; good && n < asked; n++)
    *alike = *alike && survives(x, &rows[n], 1, span, &unclear) == x->first.exact && !unclear;
  free(rows);
  return good;
}

/* Splits what looked like one block because its parts are added to the first block at the same time. The products that
   are first added to the block's first product stay in the block; the others become a new block. */
static bool split_block(smma_examination *x, int block) {
  static _Thread_local relations r;
  const int k = x->subject.instruction->k;
  smma_first_sum sum;
  int base = 0, others = 0;
  while (x->first.block[base] != block) base++;
  if (!ask_relations(x, base, false, false, &r)) return false;
  find_first_sum(&r, &sum);
  for (int i = 0; i < k; i++) others += x->first.block[i] == block && !sum.product[i];
  for (int i = 0; i < k && others; i++)
    if (x->first.block[i] == block && !sum.product[i]) x->first.block[i] = x->first.blocks;
  x->first.blocks += others > 0;
  return true;
}

/* Writes the number of products in the first block, and the products of later blocks that differ. */
static bool tell_blocks(smma_examination *x, smma_finding *f) {
  const int k = x->subject.instruction->k;
  bool other[SMMA_MAXIMUM_ROUNDED_K] = {false}, unlike[SMMA_MAXIMUM_ROUNDED_K] = {false}, any_other = false,
       any_unlike = false;
  char places[160] = "";
  for (int b = 1; b < x->first.blocks; b++) {
    int size = 0;
    bool alike;
    if (!ask_whether_alike(x, b, &alike)) return false;
    if (!alike && (!split_block(x, b) || !ask_whether_alike(x, b, &alike))) return false;
    for (int i = 0; i < k; i++) size += x->first.block[i] == b;
    for (int i = 0; i < k; i++) {
      other[i] |= alike && x->first.fused && x->first.block[i] == b && size != x->first.products;
      unlike[i] |= !alike && x->first.fused && x->first.block[i] == b;
      any_other |= other[i];
      any_unlike |= unlike[i];
    }
  }
  smma_name_places(any_unlike ? unlike : other, k, places, sizeof places);
  return smma_tell(f, NULL, "%d%s%s%s", x->first.products,
                   x->first.exact ? ", added exactly over the range of the formats" : "",
                   any_unlike  ? "; not so at k = "
                   : any_other ? "; another number at k = "
                               : "",
                   places);
}

/* Resets the first sum to unknown; every product is then a separate block. */
static void reset_first_sum(smma_examination *x) {
  x->first.known = false;
  x->first.blocks = x->subject.instruction->k;
  for (int j = 0; j < x->first.blocks; j++) x->first.block[j] = j;
}

/* ---- Stages ---- */

/* Finds the stages of the first sum by smma_find_stages. */
static bool ask_stages(smma_examination *x, smma_stages *stages) {
  smma_subject *s = &x->subject;
  const int k = s->instruction->k;
  const smma_span span = common_span(x);
  smma_summands summands = {
      .instruction = s->instruction, .count = k + 1, .products = 1, .huge = span.large, .one = span.least};
  smma_asker asker = {.unit = s->unit, .error = &s->error};
  int terms[SUMMANDS], count = smma_first_terms(x, terms);
  bool good = smma_rows_allocate(s->instruction, SMMA_MOST_QUESTIONS, &asker.rows) || smma_no_memory(&s->error);
  if (x->first.has_c) { /* smma_find_stages expects c as the first term */
    memmove(terms + 1, terms, (size_t)(count - 1) * sizeof *terms);
    terms[0] = k;
  }
  good = good && smma_find_stages(&asker, &summands, terms, count, stages);
  summands.negative_ones = true; /* for units that round positive small numbers up, so that they do not vanish */
  if (good && !stages->known) good = smma_find_stages(&asker, &summands, terms, count, stages);
  smma_rows_free(&asker.rows);
  s->rows += asker.asked;
  s->calls += asker.calls;
  return good;
}

/* Writes which products are added first. Resets the first sum to unknown if the bits that a product retains depend on
   which other products are large. */
static bool tell_stages(smma_examination *x, const smma_stages *stages, smma_finding *f) {
  const int products = x->first.products, c = x->first.has_c;
  bool group[SMMA_MAXIMUM_ROUNDED_K] = {false};
  char places[160];
  int terms[SUMMANDS], size = 0;
  smma_first_terms(x, terms);
  for (int i = 0; i < products; i++) {
    group[terms[i]] = stages->group[i + c] == stages->group[c];
    size += group[terms[i]];
  }
  smma_name_places(group, x->subject.instruction->k, places, sizeof places);
  if (stages->uneven || stages->more_within) reset_first_sum(x);
  if (stages->uneven || size < 2)
    return smma_tell(f, NULL, "%d, but the bits that each product loses depend on which other products are large",
                     products);
  return smma_tell(f, NULL, "%d in stages; the first stage aligns %d products (k = %s)", products, size, places);
}

/* Writes the number of products in the first block, and its stages or, if it has none, which later blocks differ. */
static bool tell_first_sum(smma_examination *x, smma_finding *f) {
  smma_stages stages = {.known = false};
  if (!x->left && x->first.fused && !x->first.exact && !ask_stages(x, &stages)) return false;
  x->first.c_is_apart = stages.c_is_apart;
  x->first.c_may_be_apart = !stages.c_is_apart && (stages.c_counts_less || stages.c_may_be_apart);
  if (stages.uneven || (stages.known && stages.groups > 1 && stages.groups < x->first.products + x->first.has_c))
    return tell_stages(x, &stages, f);
  return tell_blocks(x, f);
}

static bool same_relations(const relations *x, const relations *y) {
  return memcmp(x->survives, y->survives, sizeof x->survives) == 0;
}

static const char needs_range[] = "the formats' range is too narrow for a large number to absorb a small one";

/* Sets `*come_through` to whether X alone and the small number alone are returned, at every summand. If not, zeros or c
   take part in alignment, and a number may be lost for reasons other than X. */
static bool ask_whether_alone(smma_examination *x, bool *come_through) {
  smma_subject *s = &x->subject;
  const int n = s->instruction->k + 1;
  const smma_span span = common_span(x);
  smma_row rows[2 * SUMMANDS];
  *come_through = true;
  for (int r = 0; r < 2 * n; r++) {
    rows[r] = smma_blank_row(s);
    smma_place(s, &rows[r], r / 2, 1, r % 2 ? span.large : span.least);
  }
  if (!smma_ask_subject(s, rows, (size_t)(2 * n))) return false;
  for (int r = 0; r < 2 * n; r++)
    *come_through = *come_through && smma_is_exactly(smma_result(s, &rows[r]), 1, r % 2 ? span.large : span.least);
  return true;
}

/* Sets `*come_through` to whether a small number at the first and at the last product survives with each remainder at
   c. */
static bool ask_with_remainders(smma_examination *x, const smma_row *left, size_t count, bool *come_through) {
  smma_subject *s = &x->subject;
  const smma_span span = common_span(x);
  bool unclear = false;
  *come_through = true;
  for (size_t n = 0; *come_through && n < 4 * count; n++) {
    const smma_dyadic d = smma_result(s, &left[n / 4]);
    const int k = n % 2 ? s->instruction->k - 1 : 0, sign = n / 2 % 2 ? -1 : 1;
    smma_row row = smma_blank_row(s);
    if (d.significand == 0) continue;
    *come_through =
        smma_place(s, &row, s->instruction->k, d.significand, d.exponent) && smma_place(s, &row, k, sign, span.least);
    if (*come_through && !smma_ask_subject(s, &row, 1)) return false;
    *come_through = *come_through && survives(x, &row, sign, span, &unclear);
  }
  return true;
}

/* Measures the remainder of X and -X for all pairs of summands that contain the first or the last product, and sets
   x->left. Sets `*good` to whether results are numbers and small numbers survive next to each remainder. */
static bool ask_what_is_left(smma_examination *x, bool *good) {
  smma_subject *s = &x->subject;
  const int n = s->instruction->k + 1, precision = smma_encoding_of(s->instruction->d).fraction_bits + 1;
  const smma_span span = common_span(x);
  smma_row rows[4 * SUMMANDS];
  size_t count = 0;
  *good = true;
  for (int base = 0; base<n - 1; base += n> 2 ? n - 2 : 1)
    for (int j = 0; j < n; j++)
      for (int sign = -1; sign <= 1 && j != base; sign += 2) {
        rows[count] = smma_blank_row(s);
        *good = smma_place(s, &rows[count], base, sign, span.large) && *good;
        *good = smma_place(s, &rows[count++], j, -sign, span.large) && *good;
      }
  if (!smma_ask_subject(s, rows, count)) return false;
  for (size_t r = 0; r < count; r++) {
    const smma_dyadic d = smma_result(s, &rows[r]);
    *good = *good && d.kind == SMMA_IS_DYADIC;
    if (d.kind == SMMA_IS_DYADIC && d.significand)
      x->left = smma_maximum(x->left, smma_maximum(precision, span.large - d.exponent));
  }
  return !x->left || !*good || ask_with_remainders(x, rows, count, good);
}

/* Reports whether a product that can be X can also be -X, which it cannot be if neither factor has a sign. */
static bool can_be_negative(const smma_examination *x) {
  const smma_span span = common_span(x);
  smma_row row = smma_blank_row(&x->subject);
  return !smma_place(&x->subject, &row, 0, 1, span.large) || smma_place(&x->subject, &row, 0, -1, span.large);
}

/* Examines the first sum of product 0 and the first sum of product k - 1. Takes the sum with fewer products, because
   one of these two products may be added only at the very end. */
bool smma_probe_first_sum(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int k = s->instruction->k;
  static _Thread_local relations r, swapped, negative;
  smma_first_sum at_end;
  smma_span span;
  bool alone, good;
  reset_first_sum(x);
  if (!can_be_negative(x)) return smma_cannot_tell(f, "products cannot be negative");
  if (!ask_what_is_left(x, &good)) return false;
  if (!good) return smma_cannot_tell(f, "a number minus itself is not zero, and the remainder hides small numbers");
  span = common_span(x);
  /* The small number must be lost if it is added to X before X is cancelled. */
  if (span.large - span.least <= smma_encoding_of(s->instruction->d).fraction_bits + 1)
    return smma_cannot_tell(f, "%s", needs_range);
  if (!ask_whether_alone(x, &alone)) return false;
  if (!alone) return smma_cannot_tell(f, "a small or a large number is not returned even if it is the only term");
  if (x->left && span.least != span.large - x->left - BITS_BELOW_LEFT)
    return smma_cannot_tell(
        f, "a number minus itself is not zero, and no product is small enough compared with the remainder");
  if (!ask_relations(x, k - 1, false, false, &r)) return false;
  find_first_sum(&r, &at_end);
  if (!ask_relations(x, 0, false, false, &r)) return false;
  find_first_sum(&r, &x->first);
  if (at_end.products < x->first.products) {
    if (!ask_relations(x, k - 1, false, false, &r)) return false;
    x->first = at_end;
  }
  if (!ask_relations(x, r.base, true, false, &swapped)) return false;
  find_whether_fused(x, &r, &swapped, &x->first);
  x->c_is_late = !x->first.has_c && (x->first.other < 0 || r.survives[x->first.other][k]);
  if (x->first.products + x->first.has_c > 2 && !x->first.fused) {
    reset_first_sum(x);
    return smma_cannot_tell(f, "no three terms of the sum are related in the same way");
  }
  if (!ask_relations(x, r.base, true, true, &negative)) return false;
  if (x->left && x->first.exact) {
    reset_first_sum(x);
    return smma_cannot_tell(f, "a number minus itself is not zero, and the remainder does not absorb small numbers");
  }
  if (r.unclear || swapped.unclear || negative.unclear) {
    reset_first_sum(x);
    return smma_cannot_tell(f,
                            "a number minus itself is not zero, and a small number is neither retained beside the "
                            "remainder nor absorbed by it");
  }
  if (!same_relations(&swapped, &negative)) {
    reset_first_sum(x);
    return smma_cannot_tell(f, "the products that are added at once depend on signs");
  }
  return tell_first_sum(x, f);
}

bool smma_probe_order(smma_examination *x, smma_finding *f) {
  char text[sizeof f->value];
  if (!x->first.known) return smma_cannot_tell(f, "the structure of the first sum is not fully known");
  smma_name_places(x->first.product, x->subject.instruction->k, text, sizeof text);
  return smma_tell(f, NULL, "%s", text);
}

bool smma_probe_c_joins(smma_examination *x, smma_finding *f) {
  if (!x->first.known) return smma_cannot_tell(f, "the structure of the first sum is not fully known");
  if (x->subject.instruction->k == 1) return smma_cannot_tell(f, "there is only one product, and c is added to it");
  if (x->first.c_is_apart) return smma_tell(f, NULL, "with the sum of the first products, which are aligned without c");
  if (x->first.c_may_be_apart)
    return smma_cannot_tell(f, "results do not show whether the first products are aligned without c");
  if (x->first.has_c) return smma_tell(f, NULL, "with the first products");
  return smma_tell(f, NULL, "%s", x->c_is_late ? "after all products" : "after the first products");
}
