/* Where subnormal numbers are kept and where they become zero: operands, products, results. Each number is asked beside
   a control that has the same bits and is normal: what alignment cuts off is no question of subnormals. */
#include "probe/probe.h"

/* What rows that belong together are to give. */
typedef struct {
  smma_row row, control;
  int64_t significand, lost,
      control_significand; /* of d if the number is kept, if it becomes zero; of the control's d */
  int exponent;
} question;

static bool tell_kept(smma_examination *x, smma_finding *f, question *q) {
  smma_subject *s = &x->subject;
  smma_row rows[] = {q->row, q->control};
  if (!smma_ask_subject(s, rows, 2)) return false;
  if (!smma_is_exactly(smma_result(s, &rows[1]), q->control_significand, q->exponent))
    return smma_cannot_tell(f, "a normal number with the same bits is lost, too");
  if (smma_is_exactly(smma_result(s, &rows[0]), q->significand, q->exponent)) return smma_tell(f, &rows[0], "kept");
  if (smma_is_exactly(smma_result(s, &rows[0]), q->lost, q->exponent)) return smma_tell(f, &rows[0], "become zero");
  return smma_cannot_tell(f, "the result is with neither the number nor zero");
}

/* A subnormal factor has its leading bit below that of a normal one: whether alignment keeps a bit behind the first,
   which 3/2 alone shows where no alignment is known. */
static bool ask_whether_bits_are_kept(smma_examination *x, bool *kept) {
  smma_subject *s = &x->subject;
  smma_row row = smma_blank_row(s);
  *kept = x->first.known && (x->alignment_exact || (x->alignment_known && x->alignment_bits >= 2));
  if (*kept || !x->first.known || x->first.fused || !smma_place(s, &row, 0, 3, -1)) return true;
  if (!smma_ask_subject(s, &row, 1)) return false;
  *kept = smma_is_exactly(smma_result(s, &row), 3, -1);
  return true;
}

static const char few_bits[] = "alignment may keep too few bits to see one";

/* Half the least normal number of one factor, times a power of two that makes the product normal in d. */
static bool probe_factor(smma_examination *x, smma_finding *f, bool is_a) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const smma_encoding own = smma_encoding_of(is_a ? i->a : i->b), other = smma_encoding_of(is_a ? i->b : i->a);
  const smma_range d = smma_range_of_d(s);
  const int half = smma_minimum_exponent(own) - 1;
  const int power = smma_minimum(smma_range_of_format(is_a ? i->b : i->a).greatest, d.greatest - half);
  question q = {.row = smma_blank_row(s),
                .control = smma_blank_row(s),
                .significand = 1,
                .control_significand = 1,
                .exponent = half + power};
  bool bits_are_kept;
  const uint64_t subnormal = (uint64_t)1 << (own.fraction_bits - 1 + own.ignored_bits);
  const uint64_t factor = smma_encode(other, false, 1, power, false, SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_SATURATE);
  if (!ask_whether_bits_are_kept(x, &bits_are_kept)) return false;
  if (!bits_are_kept) return smma_cannot_tell(f, few_bits);
  q.row.a[0] = is_a ? subnormal : factor;
  q.row.b[0] = is_a ? factor : subnormal;
  if (q.exponent < d.least || !smma_place(s, &q.control, 0, 1, q.exponent))
    return smma_cannot_tell(f, "products with them are not normal in the output's format");
  return tell_kept(x, f, &q);
}

bool smma_probe_subnormal_a(smma_examination *x, smma_finding *f) { return probe_factor(x, f, true); }
bool smma_probe_subnormal_b(smma_examination *x, smma_finding *f) { return probe_factor(x, f, false); }

/* Half the least normal c beside a product that is the least normal result; the control adds 3/2 to nothing. */
bool smma_probe_subnormal_c(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_encoding c = smma_encoding_of(s->instruction->c);
  const int least = smma_range_of_d(s).least, k = s->instruction->k;
  question q = {.row = smma_blank_row(s),
                .control = smma_blank_row(s),
                .significand = 3,
                .lost = 2,
                .control_significand = 3,
                .exponent = least - 1};
  if (s->instruction->c != s->instruction->d) return smma_cannot_tell(f, "c and d differ in format");
  q.row.c = (uint64_t)1 << (c.fraction_bits - 1 + c.ignored_bits);
  if (!smma_place(s, &q.row, 0, 1, least))
    return smma_cannot_tell(f, "no product is as small as the least normal result");
  if (!smma_place(s, &q.control, k, 3, least - 1)) return smma_cannot_tell(f, "c has no such bits");
  return tell_kept(x, f, &q);
}

/* c alone. */
bool smma_probe_subnormal_alone(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_encoding c = smma_encoding_of(s->instruction->c);
  const int half = smma_minimum_exponent(c) - 1;
  question q = {.row = smma_blank_row(s),
                .control = smma_blank_row(s),
                .significand = 1,
                .control_significand = 3,
                .exponent = half};
  q.row.c = (uint64_t)1 << (c.fraction_bits - 1 + c.ignored_bits);
  if (!smma_place(s, &q.control, s->instruction->k, 3, half)) return smma_cannot_tell(f, "c has no such bits");
  return tell_kept(x, f, &q);
}

/* Two products of half the least normal result that are added at once, else one and c: the sum is normal. The control
   is 3/2 and 1/2. */
bool smma_probe_subnormal_product(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int least = smma_range_of_d(s).least;
  question q = {.row = smma_blank_row(s),
                .control = smma_blank_row(s),
                .significand = 2,
                .control_significand = 3,
                .exponent = least - 1};
  int terms[SMMA_MAXIMUM_K + 1];
  bool bits_are_kept;
  if (!ask_whether_bits_are_kept(x, &bits_are_kept)) return false;
  if (!bits_are_kept) return smma_cannot_tell(f, few_bits);
  if (smma_first_terms(x, terms) < 2) return smma_cannot_tell(f, "no sum of two terms is known");
  if (terms[1] == s->instruction->k && x->findings[SMMA_PROBE_subnormal_c].value[0] != 'k')
    return smma_cannot_tell(f, "a product is added to c alone, and subnormal c is not known to be kept");
  if (!smma_place(s, &q.row, terms[0], 1, least - 1) ||
      (terms[1] == s->instruction->k ? !smma_place_subnormal_c(s, &q.row, 1, least - 1)
                                     : !smma_place(s, &q.row, terms[1], 1, least - 1)) ||
      !smma_place(s, &q.control, terms[0], 3, least - 1))
    return smma_cannot_tell(f, "products of normal operands are not as small");
  if (terms[1] == s->instruction->k) q.lost = 1;
  return tell_kept(x, f, &q);
}

/* Three halves of the least normal result less one; the control has two and a half less one. */
bool smma_probe_subnormal_sum(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const int least = smma_range_of_d(s).least, k = s->instruction->k;
  question q = {.row = smma_blank_row(s),
                .control = smma_blank_row(s),
                .significand = 1,
                .control_significand = 3,
                .exponent = least - 1};
  bool bits_are_kept;
  if (!ask_whether_bits_are_kept(x, &bits_are_kept)) return false;
  if (!bits_are_kept) return smma_cannot_tell(f, few_bits);
  if (!smma_place(s, &q.row, k, 3, least - 1) || !smma_place(s, &q.control, k, 5, least - 1) ||
      !smma_place(s, &q.row, 0, -1, least) || !smma_place(s, &q.control, 0, -1, least))
    return smma_cannot_tell(f, "products are not as small as the least normal result");
  return tell_kept(x, f, &q);
}
