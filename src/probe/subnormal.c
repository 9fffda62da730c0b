/* Finds whether subnormal operands, products and results are retained or become zero. Each test has a control vector
   with the same bits in a normal number. It shows whether these bits are lost for another reason: because alignment
   truncates them. */
#include <stdlib.h>

#include "probe/elsewhere.h"
#include "probe/probe.h"

static const char few_bits[] = "alignment may retain too few bits to show a subnormal number";

/* Vectors of one test with the expected results, which are significands times 2^exponent. */
typedef struct {
  smma_row row, control;
  int64_t significand, lost;   /* d of `row` if the subnormal number is retained, and if it becomes zero */
  int64_t control_significand; /* d of `control` */
  int exponent;
  bool has_depth; /* whether there is a vector `depth`: a normal number with a bit as far below its leading bit as the
                     subnormal number's last bit is below the least normal number; alignment may truncate that bit */
  smma_row depth;
  int64_t depth_significand;
} question;

/* Each fraction bit alone, and all of them, with both signs. FP64 has the most fraction bits. At the places to which
   products are moved, fewer bits are tested alone. */
enum { MOST_FRACTION_BITS = 52, MOST_QUESTIONS = 2 * (MOST_FRACTION_BITS + 1), MOVED_BITS = 16 };

typedef struct {
  question *list;
  int count, most; /* number of tests; room for them */
} questions;

/* Runs a probe with room for MOST_QUESTIONS tests. */
static bool with_questions(smma_examination *x, smma_finding *f, bool is_a,
                           bool (*probe)(smma_examination *, smma_finding *, bool, questions *)) {
  questions q = {.list = malloc(MOST_QUESTIONS * sizeof *q.list), .most = MOST_QUESTIONS};
  const bool done = q.list ? probe(x, f, is_a, &q) : smma_no_memory(&x->subject.error);
  free(q.list);
  return done;
}

/* Returns the distance between the fraction bits that are tested alone. */
static int step_of_bits(const smma_examination *x, int fraction_bits) {
  return x->moved ? (fraction_bits + MOVED_BITS - 1) / MOVED_BITS : 1;
}

static uint64_t sign_of(smma_format format) { return smma_sign_and_fields(smma_encoding_of(format), true, 0); }

/* Adds a copy of the test that was added last, with all signs inverted. In products, negates a if its format has a
   sign, otherwise b. Adds nothing if neither format has a sign. */
static void add_negative(const smma_examination *x, questions *q) {
  const smma_instruction *i = x->subject.instruction;
  const uint64_t of_a = sign_of(i->a), of_b = of_a ? 0 : sign_of(i->b);
  question n = q->list[q->count - 1];
  if (!of_a && !of_b) return;
  smma_row *rows[] = {&n.row, &n.control, &n.depth};
  for (int r = 0; r < 3; r++) {
    for (int k = 0; k < i->k; k++)
      if (smma_decode(smma_encoding_of(i->a), rows[r]->a[k]).kind != SMMA_ZERO)
        rows[r]->a[k] ^= of_a, rows[r]->b[k] ^= of_b;
    if (smma_decode(smma_encoding_of(i->c), rows[r]->c).kind != SMMA_ZERO) rows[r]->c = rows[r]->c ^ sign_of(i->c);
  }
  n.significand = -n.significand;
  n.lost = -n.lost;
  n.control_significand = -n.control_significand;
  n.depth_significand = -n.depth_significand;
  if (q->count < q->most) q->list[q->count++] = n;
}

/* Like tell_kept, with `rows`, room for the vectors of all tests. */
static bool tell_kept_of(smma_examination *x, smma_finding *f, const questions *q, smma_row *rows, bool *all_kept) {
  smma_subject *s = &x->subject;
  const smma_row *kept_row = NULL, *lost_row = NULL;
  for (int n = 0; n < q->count; n++) {
    rows[3 * n] = q->list[n].row;
    rows[3 * n + 1] = q->list[n].control;
    rows[3 * n + 2] = q->list[n].depth;
  }
  *all_kept = false;
  if (!smma_ask_subject(s, rows, (size_t)(3 * q->count))) return false;
  for (int n = 0; n < q->count; n++) {
    const question *one = &q->list[n];
    const smma_row *row = &rows[3 * n];
    if (one->has_depth && !smma_is_exactly(smma_result(s, &row[2]), one->depth_significand, one->exponent)) continue;
    if (!smma_is_exactly(smma_result(s, &row[1]), one->control_significand, one->exponent)) {
      if (n < 2) return smma_cannot_tell(f, "a normal number with the same bits is lost, too");
      continue;
    }
    if (smma_is_exactly(smma_result(s, row), one->significand, one->exponent))
      kept_row = kept_row ? kept_row : row;
    else if (smma_is_exactly(smma_result(s, row), one->lost, one->exponent))
      lost_row = lost_row ? lost_row : row;
    else
      return smma_cannot_tell(f, "the result fits neither the number nor zero");
  }
  *all_kept = kept_row && !lost_row;
  if (!kept_row && !lost_row) return smma_cannot_tell(f, few_bits);
  if (kept_row && lost_row) return smma_tell(f, lost_row, "some are flushed to zero");
  return smma_tell(f, kept_row ? kept_row : lost_row, kept_row ? "retained" : "flushed to zero");
}

/* Writes the finding, and sets `*all_kept` to whether all numbers are retained. A number counts only if its control
   vector gives the exact result. The first number and its negative must count; otherwise the finding is "cannot
   tell". */
static bool tell_kept(smma_examination *x, smma_finding *f, const questions *q, bool *all_kept) {
  smma_row *rows = malloc((size_t)(3 * q->count) * sizeof *rows);
  const bool done = rows ? tell_kept_of(x, f, q, rows, all_kept) : smma_no_memory(&x->subject.error);
  free(rows);
  return done;
}

/* Sets `*kept` to whether alignment retains a second bit, which the tests need because the leading bit of a subnormal
   factor is below that of a normal factor. If alignment is not known, a product of 3/2 alone shows it. */
static bool ask_whether_bits_are_kept(smma_examination *x, bool *kept) {
  smma_subject *s = &x->subject;
  smma_row row = smma_blank_row(s);
  *kept = x->first.known && (x->alignment.exact || (x->alignment.known && x->alignment.bits >= 2));
  if (*kept || !x->first.known || x->first.fused || !smma_place(s, &row, smma_first_product(x), 3, -1)) return true;
  if (!smma_ask_subject(s, &row, 1)) return false;
  *kept = smma_is_exactly(smma_result(s, &row), 3, -1);
  return true;
}

/* Adds a test of a product of 2^power and a subnormal factor with these fraction bits, and of its negative. Returns
   false if the formats have no such numbers. */
static bool add_factor(const smma_examination *x, bool is_a, uint64_t fraction, int power, questions *q) {
  const smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const smma_encoding own = smma_encoding_of(is_a ? i->a : i->b), other = smma_encoding_of(is_a ? i->b : i->a);
  const int k = smma_first_product(x), zeros = __builtin_ctzll(fraction), depth = own.fraction_bits - zeros;
  const int last = smma_minimum_exponent(own) - depth + power; /* exponent of the product's last bit */
  const int64_t significand = (int64_t)(fraction >> zeros), longest = ((int64_t)1 << depth) + 1;
  const uint64_t factor = smma_encode(other, false, 1, power, false, SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_SATURATE);
  question one = {.row = smma_blank_row(s),
                  .control = smma_blank_row(s),
                  .depth = smma_blank_row(s),
                  .has_depth = true,
                  .significand = significand,
                  .control_significand = significand,
                  .depth_significand = longest,
                  .exponent = last};
  one.row.a[k] = is_a ? fraction << own.ignored_bits : factor;
  one.row.b[k] = is_a ? factor : fraction << own.ignored_bits;
  if (last + smma_bit_length((uint64_t)significand) - 1 < smma_range_of_d(s).least || q->count + 2 > q->most ||
      !smma_place(s, &one.control, k, significand, last) || !smma_place(s, &one.depth, k, longest, last))
    return false;
  q->list[q->count++] = one;
  add_negative(x, q);
  return true;
}

/* Examines subnormal numbers of one factor, times a power of two that makes the product normal in d: half the least
   normal number, each other single bit, and all bits. */
static bool ask_factor(smma_examination *x, smma_finding *f, bool is_a, questions *q) {
  const smma_instruction *i = x->subject.instruction;
  const smma_encoding own = smma_encoding_of(is_a ? i->a : i->b);
  const int half = smma_minimum_exponent(own) - 1;
  const int power =
      smma_minimum(smma_range_of_format(is_a ? i->b : i->a).greatest, smma_range_of_d(&x->subject).greatest - half - 1);
  bool bits_are_kept, unused;
  if (smma_is_fixed_point(is_a ? i->a : i->b)) return smma_cannot_tell(f, "the format has no subnormal numbers");
  if (!ask_whether_bits_are_kept(x, &bits_are_kept)) return false;
  if (!bits_are_kept) return smma_cannot_tell(f, few_bits);
  if (own.fraction_bits < 1 || !add_factor(x, is_a, (uint64_t)1 << (own.fraction_bits - 1), power, q))
    return smma_cannot_tell(f, "no product with a subnormal factor is normal in the output's format");
  for (int bit = 0; bit < own.fraction_bits - 1; bit += step_of_bits(x, own.fraction_bits))
    add_factor(x, is_a, (uint64_t)1 << bit, power, q);
  add_factor(x, is_a, ((uint64_t)1 << own.fraction_bits) - 1, power, q);
  return tell_kept(x, f, q, &unused);
}

bool smma_probe_subnormal_a(smma_examination *x, smma_finding *f) { return with_questions(x, f, true, ask_factor); }
bool smma_probe_subnormal_b(smma_examination *x, smma_finding *f) { return with_questions(x, f, false, ask_factor); }

static bool tell_one(smma_examination *x, smma_finding *f, const question *one, bool *kept) {
  question list[2] = {*one};
  questions q = {list, .count = 1, .most = 2};
  list[0].depth = one->control;
  add_negative(x, &q);
  return tell_kept(x, f, &q, kept);
}

/* Adds a c of half the least normal number to a product that is the least normal result. The control is a c of 3/2 of
   the least normal number. */
bool smma_probe_subnormal_c(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_encoding c = smma_encoding_of(s->instruction->c);
  const int least = smma_range_of_d(s).least, k = s->instruction->k;
  question one = {.row = smma_blank_row(s),
                  .control = smma_blank_row(s),
                  .significand = 3,
                  .lost = 2,
                  .control_significand = 3,
                  .exponent = least - 1};
  if (s->instruction->c != s->instruction->d) return smma_cannot_tell(f, "c and d differ in format");
  if (c.fraction_bits < 1) return smma_cannot_tell(f, "c has no subnormal numbers");
  one.row.c = (uint64_t)1 << (c.fraction_bits - 1 + c.ignored_bits);
  if (!smma_place(s, &one.row, smma_first_product(x), 1, least))
    return smma_cannot_tell(f, "no product is as small as the least normal result");
  if (!smma_place(s, &one.control, k, 3, least - 1))
    return smma_cannot_tell(f, "c lacks the bits that this test needs");
  return tell_one(x, f, &one, &x->subnormal_c_is_kept);
}

/* Examines subnormal c with products of zero: half the least normal number, every other single bit, and all bits. */
static bool ask_alone(smma_examination *x, smma_finding *f, bool unused, questions *q) {
  smma_subject *s = &x->subject;
  const smma_encoding c = smma_encoding_of(s->instruction->c);
  const int k = s->instruction->k;
  (void)unused;
  if (c.fraction_bits < 1) return smma_cannot_tell(f, "c has no subnormal numbers");
  for (int n = 0; n <= c.fraction_bits && q->count + 2 <= q->most; n++) {
    const uint64_t fraction = n == c.fraction_bits ? ((uint64_t)1 << n) - 1 : (uint64_t)1 << (c.fraction_bits - 1 - n);
    const int zeros = __builtin_ctzll(fraction), depth = c.fraction_bits - zeros;
    question one = {.row = smma_blank_row(s),
                    .control = smma_blank_row(s),
                    .depth = smma_blank_row(s),
                    .has_depth = true,
                    .significand = (int64_t)(fraction >> zeros),
                    .control_significand = 3,
                    .depth_significand = ((int64_t)1 << depth) + 1,
                    .exponent = smma_minimum_exponent(c) - depth};
    one.row.c = fraction << c.ignored_bits;
    if (!smma_place(s, &one.control, k, 3, one.exponent + depth - 1))
      return smma_cannot_tell(f, "c lacks the bits that this test needs");
    one.control_significand = (int64_t)3 << (depth - 1);
    if (!smma_place(s, &one.depth, k, one.depth_significand, one.exponent)) continue;
    q->list[q->count++] = one;
    add_negative(x, q);
  }
  if (q->count == 0) return smma_cannot_tell(f, "c lacks the bits that this test needs");
  return tell_kept(x, f, q, &x->c_alone_is_kept);
}

bool smma_probe_subnormal_alone(smma_examination *x, smma_finding *f) { return with_questions(x, f, false, ask_alone); }

/* Adds two products of half the least normal result, whose sum is normal. If no two products are added at once, adds
   one product and a c of that size. The control is a single product of 3/2 of the least normal result. */
bool smma_probe_subnormal_product(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int least = smma_range_of_d(s).least;
  bool unused;
  question one = {.row = smma_blank_row(s),
                  .control = smma_blank_row(s),
                  .significand = 2,
                  .control_significand = 3,
                  .exponent = least - 1};
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  bool bits_are_kept;
  if (!ask_whether_bits_are_kept(x, &bits_are_kept)) return false;
  if (!bits_are_kept) return smma_cannot_tell(f, few_bits);
  if (smma_first_terms(x, terms) < 2) return smma_cannot_tell(f, "no sum of two terms is known");
  if (terms[1] == s->instruction->k && !x->subnormal_c_is_kept)
    return smma_cannot_tell(f, "a product is added to c alone, and subnormal c may be flushed to zero");
  if (!smma_place(s, &one.row, terms[0], 1, least - 1) ||
      (terms[1] == s->instruction->k ? !smma_place_subnormal_c(s, &one.row, 1, least - 1)
                                     : !smma_place(s, &one.row, terms[1], 1, least - 1)) ||
      !smma_place(s, &one.control, terms[0], 3, least - 1))
    return smma_cannot_tell(f, "no product of normal operands is subnormal in the output's format");
  if (terms[1] == s->instruction->k) one.lost = 1;
  return tell_one(x, f, &one, &unused);
}

/* Subtracts the least normal result from 3/2 of it; the control vector subtracts it from 5/2 of it. Both terms are
   products of the same sum, so that every block can be examined. If the unit never adds two products at once, one term
   is c. */
bool smma_probe_subnormal_sum(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int least = smma_range_of_d(s).least, k = s->instruction->k;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  const bool two = smma_first_terms(x, terms) > 1 && terms[1] < k;
  const int great = two ? terms[1] : k;
  bool unused;
  question one = {.row = smma_blank_row(s),
                  .control = smma_blank_row(s),
                  .significand = 1,
                  .control_significand = 3,
                  .exponent = least - 1};
  bool bits_are_kept;
  if (!ask_whether_bits_are_kept(x, &bits_are_kept)) return false;
  if (!bits_are_kept) return smma_cannot_tell(f, few_bits);
  if (!two && x->moved && !smma_normal_c_passes(x)) return smma_cannot_tell(f, "c does not reach this block unchanged");
  if (!smma_place(s, &one.row, great, 3, least - 1) || !smma_place(s, &one.control, great, 5, least - 1) ||
      !smma_place(s, &one.row, smma_first_product(x), -1, least) ||
      !smma_place(s, &one.control, smma_first_product(x), -1, least))
    return smma_cannot_tell(f, "no product is as small as the least normal result");
  return tell_one(x, f, &one, &unused);
}
