/* Which products are added at once, in what order, and when c joins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe.h"
#include "probe/triple.h"

enum { SUMMANDS = SMMA_MAXIMUM_K + 1 };

/* survives[j][k]: whether a small number at k is still there when X at product `base` and -X at j have cancelled. */
typedef struct {
  int base, count;
  bool survives[SUMMANDS][SUMMANDS];
  int outside[SUMMANDS]; /* how many of them do */
} relations;

/* Exponents that every summand has. */
static smma_span common_span(const smma_subject *s) {
  const int k = s->instruction->k;
  const smma_span products = smma_span_of(s, 0, 0, 0), c = smma_span_of(s, k, k, k);
  return (smma_span){.large = smma_minimum(products.large, c.large), .least = smma_maximum(products.least, c.least)};
}

/* Asks for every j and k; `swapped` puts -X at k and the small number at j. */
static bool ask_relations(smma_subject *s, int base, bool swapped, relations *r) {
  const int n = s->instruction->k + 1;
  const smma_span span = common_span(s);
  smma_row *rows = calloc((size_t)(n * n), sizeof *rows);
  bool good = rows != NULL || smma_fail(&s->error, "out of memory");
  memset(r, 0, sizeof *r);
  r->base = base;
  r->count = n;
  for (int j = 0; good && j < n; j++)
    for (int k = 0; k < n; k++)
      if (j != k && j != base && k != base)
        smma_place_triple(s, &rows[j * n + k], base, swapped ? k : j, swapped ? j : k, span.large, 1, span.least);
      else
        rows[j * n + k] = smma_blank_row(s);
  good = good && smma_ask_subject(s, rows, (size_t)(n * n));
  for (int j = 0; good && j < n; j++)
    for (int k = 0; k < n; k++) {
      r->survives[j][k] = smma_is_exactly(smma_result(s, &rows[j * n + k]), 1, span.least);
      r->outside[j] += r->survives[j][k];
    }
  free(rows);
  return good;
}

/* The summands that join the base first: those whose smallest common sum leaves the most outside. */
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
  for (int j = 0; first->other >= 0 && j < k; j++) first->last[j] = j != r->base && r->outside[j] == least;
}

/* Three terms of one sum in no order: none survives, or each does. */
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

static const char needs_range[] = "the formats' range is too narrow to lose a small number beside a large one";

/* Whether X alone and the small number alone come through, at every summand: else zeros or c bring an exponent of their
   own, and what is lost is not lost beside X. */
static bool ask_whether_alone(smma_subject *s, bool *come_through) {
  const int n = s->instruction->k + 1;
  const smma_span span = common_span(s);
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

/* Of the first and the last product, the one whose first sum is the smaller: the other may join at the very end. */
bool smma_probe_first_sum(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int k = s->instruction->k;
  static _Thread_local relations r, swapped;
  const smma_span span = common_span(s);
  smma_first_sum at_end;
  bool alone;
  /* Beside X the small number must be lost where it is added before X is gone. */
  if (span.large - span.least <= smma_encoding_of(s->instruction->d).fraction_bits + 1)
    return smma_cannot_tell(f, "%s", needs_range);
  if (!ask_whether_alone(s, &alone)) return false;
  if (!alone) return smma_cannot_tell(f, "a small or a great number is not returned even alone");
  if (!ask_relations(s, k - 1, false, &r)) return false;
  find_first_sum(&r, &at_end);
  if (!ask_relations(s, 0, false, &r)) return false;
  find_first_sum(&r, &x->first);
  if (at_end.products < x->first.products) {
    if (!ask_relations(s, k - 1, false, &r)) return false;
    x->first = at_end;
  }
  if (!ask_relations(s, r.base, true, &swapped)) return false;
  find_whether_fused(x, &r, &swapped, &x->first);
  x->c_is_late = !x->first.has_c && (x->first.other < 0 || r.survives[x->first.other][k]);
  if (x->first.products + x->first.has_c > 2 && !x->first.fused) {
    x->first.known = false;
    return smma_cannot_tell(f, "no three terms of the sum stand in one relation");
  }
  return smma_tell(f, NULL, "%d%s", x->first.products, x->first.exact ? ", exactly as far as the formats reach" : "");
}

/* "0 to 7", or "0, 1, 4, 5, ...". */
bool smma_probe_order(smma_examination *x, smma_finding *f) {
  const smma_first_sum *first = &x->first;
  const int count = x->subject.instruction->k;
  char text[400] = "";
  if (!first->known) return smma_cannot_tell(f, "the block is not known");
  for (int i = 0, length = 0; i < count; i++) {
    int last = i;
    if (!first->product[i]) continue;
    while (last + 1 < count && first->product[last + 1]) last++;
    if (last < i + 2) last = i;
    length += snprintf(text + length, sizeof text - (size_t)length, "%s%d", length ? ", " : "", i);
    if (last > i) length += snprintf(text + length, sizeof text - (size_t)length, " to %d", last);
    i = last;
  }
  return smma_tell(f, NULL, "%s", text);
}

bool smma_probe_c_joins(smma_examination *x, smma_finding *f) {
  if (!x->first.known) return smma_cannot_tell(f, "the block is not known");
  if (x->subject.instruction->k == 1) return smma_cannot_tell(f, "there is one product: c joins it in any case");
  if (x->first.has_c) return smma_tell(f, NULL, "with the first products");
  return smma_tell(f, NULL, "%s", x->c_is_late ? "after all products" : "after the first products");
}
