/* Impossible events. An event is reported as impossible only if that is proved from formats and ranges of exponents;
   other events may be impossible, too. */
#include "coverage/events.h"
#include "isa/compose.h"

/* Greater than every exponent. */
enum { FAR = 20000 };

/* Bounds on exponents, for all nonzero nodes of a kind: least and most of the nodes' own exponents, least and most of
   their leading bits, and the lowest bit. `above`: the leading bit is at most this far above the own exponent. */
typedef struct {
  int least, most, leading_least, leading_most, last, above;
} exponents;

/* Reports whether exponents have no known bounds: encodings of infinity and NaN are numbers, too, or products are not
   those of whole factors. */
static bool is_unbounded(const smma_event_space *space) {
  return space->operation.rule.nan == SMMA_NAN_NUMBERS || !smma_has_whole_products(smma_event_composition(space));
}

static exponents exponents_of(smma_format format, smma_subnormal_policy policy) {
  const smma_encoding f = smma_encoding_of(format);
  const int least = smma_minimum_exponent(f), field = (int)(smma_largest_fields(f) >> f.fraction_bits);
  const int most = smma_maximum(field, f.specials != SMMA_SPECIALS_POWERS_OF_TWO) - f.bias;
  const int last = f.specials == SMMA_SPECIALS_POWERS_OF_TWO ? least : least - f.fraction_bits;
  return (exponents){least,
                     most,
                     policy == SMMA_SUBNORMALS_KEPT ? last : least,
                     most + (f.specials == SMMA_SPECIALS_INTEGER),
                     last,
                     f.specials == SMMA_SPECIALS_INTEGER};
}

static exponents product_of(exponents x, exponents y) {
  return (exponents){
      x.least + y.least, x.most + y.most,      x.leading_least + y.leading_least, x.leading_most + y.leading_most + 1,
      x.last + y.last,   x.above + y.above + 1};
}

static int brought_least(const smma_cut *cut, exponents x) {
  if (cut->brings == SMMA_BRINGS_NOTHING) return x.least;
  return smma_maximum((cut->brings == SMMA_BRINGS_NORMALIZED ? x.leading_least : x.least) + cut->offset, cut->least);
}

static int brought_most(const smma_cut *cut, exponents x) {
  if (cut->brings == SMMA_BRINGS_NOTHING) return x.most;
  return smma_maximum((cut->brings == SMMA_BRINGS_NORMALIZED ? x.leading_most : x.most) + cut->offset, cut->least);
}

static exponents either(exponents x, exponents y) {
  return (exponents){smma_minimum(x.least, y.least),
                     smma_maximum(x.most, y.most),
                     smma_minimum(x.leading_least, y.leading_least),
                     smma_maximum(x.leading_most, y.leading_most),
                     smma_minimum(x.last, y.last),
                     smma_maximum(x.above, y.above)};
}

/* Reports whether a step can add a bit that no term has: by complementing terms, or by saturating at its width. */
static bool adds_bits(const smma_step *s) {
  return s->opposing == SMMA_OPPOSING_COMPLEMENT ||
         (s->width != SMMA_NONE && s->width_overflow == SMMA_INTEGER_SATURATES);
}

/* Reports whether a zero brings an exponent of its own. */
static bool zero_brings(const smma_cut *cut) {
  return cut->brings != SMMA_BRINGS_NOTHING && cut->zero_exponent != SMMA_NO_EXPONENT;
}

/* Reports whether a term with these bounds can be as great as 2^112 units of its sum. The core limits such a term,
   which then has bits at the limit. `least` is the least reference exponent. */
static bool limits_terms(const smma_step *s, const smma_cut *cut, exponents x, int least) {
  const int bits = s->join == SMMA_JOIN_CHAIN ? smma_maximum(s->term.bits, s->accumulator.bits) : s->term.bits;
  if (bits == SMMA_EXACT_ALIGNMENT) return false;
  if (s->reference == SMMA_NONE && cut->brings != SMMA_BRINGS_NOTHING)
    return x.above - cut->offset + bits >= SMMA_MOST_TERM_BITS;
  return x.leading_most - (least - bits) >= SMMA_MOST_TERM_BITS;
}

/* Returns the least exponent that terms with these bounds bring, zeros included. The own exponent of a zero is that of
   its format, which is not known here. */
static int least_with_zeros(const smma_cut *cut, exponents x) {
  const int least = brought_least(cut, x);
  if (!zero_brings(cut)) return least;
  return cut->zero_exponent == SMMA_OWN_EXPONENT
             ? -FAR
             : smma_minimum(least, smma_maximum(cut->zero_exponent + cut->offset, cut->least));
}

/* Reports whether sums of a step can have bits that none of their terms has. */
static bool has_own_bits(const smma_step *s, exponents terms) {
  const bool chain = s->join == SMMA_JOIN_CHAIN, wraps = s->width_overflow == SMMA_INTEGER_WRAPS;
  exponents sums = terms;
  int least;
  if (adds_bits(s)) return true;
  if (s->width != SMMA_NONE && wraps) return false; /* sums that wrap limit no term */
  if (chain) sums = exponents_of(s->output == SMMA_NO_FORMAT ? SMMA_F64 : s->output, SMMA_SUBNORMALS_KEPT);
  least = s->reference != SMMA_NONE
              ? s->reference
              : smma_minimum(least_with_zeros(&s->term, terms), least_with_zeros(&s->accumulator, sums));
  return limits_terms(s, &s->term, terms, least) || (chain && limits_terms(s, &s->accumulator, sums, least));
}

/* Returns the bounds for a sum rounded to the output, of terms that have no bit below 2^last. */
static exponents rounded(const smma_step *s, exponents terms, int last) {
  exponents x = exponents_of(s->output, s->subnormal_outputs);
  if (has_own_bits(s, terms)) return x;
  last = smma_minimum(
      last, x.most - smma_encoding_of(s->output)
                         .fraction_bits); /* last bit of the greatest number, which a sum becomes if it saturates */
  x.last = smma_maximum(x.last, last);
  x.leading_least = smma_maximum(x.leading_least, last);
  x.least = smma_maximum(x.least, last);
  return x;
}

/* The bounds if none are known. */
static const exponents any = {-FAR, FAR, -FAR, FAR, -FAR, FAR};

/* Returns the bounds for c. */
static exponents c_of(const smma_event_space *space) {
  return is_unbounded(space) ? any : exponents_of(space->operation.d, smma_event_composition(space)->subnormal_c);
}

/* Returns the bounds for the sums of a chain: the accumulators after the first. */
static exponents chained(const smma_event_space *space, const smma_step *s, exponents terms) {
  const exponents c = c_of(space);
  if (s->output == SMMA_NO_FORMAT || is_unbounded(space)) return any;
  return rounded(s, terms, s->start == SMMA_START_C ? smma_minimum(c.last, terms.last) : terms.last);
}

/* Returns the bounds for all accumulators: c, and the previous sums. */
static exponents accumulator_of(const smma_event_space *space, const smma_step *s, exponents terms) {
  const exponents c = c_of(space);
  return s->start == SMMA_START_C ? either(c, chained(space, s, terms)) : chained(space, s, terms);
}

/* Returns the greatest reference exponent of a step with these terms, including exponents that zeros bring. */
static int most_reference(const smma_event_space *space, const smma_step *s, exponents terms) {
  int most = brought_most(&s->term, terms);
  if (s->reference != SMMA_NONE) return s->reference;
  if (s->term.zero_exponent != SMMA_OWN_EXPONENT) most = smma_maximum(most, s->term.zero_exponent + s->term.offset);
  if (s->join == SMMA_JOIN_CHAIN) {
    most = smma_maximum(most, brought_most(&s->accumulator, accumulator_of(space, s, terms)));
    if (s->accumulator.zero_exponent != SMMA_OWN_EXPONENT)
      most = smma_maximum(most, s->accumulator.zero_exponent + s->accumulator.offset);
  }
  return smma_coarse_exponent(s, most);
}

/* Returns the bounds for sums that are not rounded to a format; they have the reference exponent. */
static exponents unrounded(const smma_event_space *space, const smma_step *s, exponents terms) {
  const int brought = smma_minimum(terms.least, brought_least(&s->term, terms));
  const int most = most_reference(space, s, terms), least = s->reference != SMMA_NONE ? s->reference : brought;
  const int last = smma_minimum(terms.last, least - SMMA_MOST_TERM_BITS);
  const int shifted = s->minus_one_shift ? most - s->term.bits + s->minus_one_shift
                                         : most; /* a sum of -1 unit can become as great as this */
  const int leads = smma_maximum(smma_maximum(most, terms.leading_most) + 8, shifted);
  return (exponents){least, most, last, leads, last, leads - least};
}

/* Returns the bounds for the nodes that a step produces. */
static exponents sums_of(const smma_event_space *space, const smma_step *s, exponents terms) {
  if (s->output == SMMA_NO_FORMAT) return s->join == SMMA_JOIN_APART ? unrounded(space, s, terms) : any;
  return s->join == SMMA_JOIN_CHAIN ? accumulator_of(space, s, terms) : rounded(s, terms, terms.last);
}

/* Returns the bounds for the terms of a step: the nodes before it, and in a tree also sums of these. */
static exponents terms_in(const smma_event_space *space, int step, exponents nodes) {
  const smma_step *s = &smma_event_composition(space)->step[step];
  if (s->join != SMMA_JOIN_TREE) return nodes;
  return s->output == SMMA_NO_FORMAT ? any : either(nodes, rounded(s, nodes, nodes.last));
}

static exponents terms_of(const smma_event_space *space, int step) {
  const smma_operation *o = &space->operation;
  const smma_composition *p = smma_event_composition(space);
  const smma_format a = p->widen == SMMA_NO_FORMAT ? o->a : p->widen, b = p->widen == SMMA_NO_FORMAT ? o->b : p->widen;
  const exponents scale = exponents_of(o->scale, SMMA_SUBNORMALS_KEPT);
  const bool widens = p->widen != SMMA_NO_FORMAT; /* the policies are of the formats before it */
  exponents x = product_of(exponents_of(a, widens ? SMMA_SUBNORMALS_KEPT : p->subnormal_a),
                           exponents_of(b, widens ? SMMA_SUBNORMALS_KEPT : p->subnormal_b));
  if (is_unbounded(space)) return any;
  for (int n = 0;; n++) {
    if (n == p->scaled_step && o->scale_block) x = product_of(product_of(x, scale), scale);
    x = terms_in(space, n, x);
    if (n == step) return x;
    x = sums_of(space, &p->step[n], x);
  }
}

/* Reports whether the greatest number is the only normal one, as in single-bit formats. */
static bool has_one_normal(smma_encoding f, bool negative) {
  const bool integer = f.specials == SMMA_SPECIALS_INTEGER;
  return smma_largest_fields(f) == (integer ? 1 : (uint64_t)1 << f.fraction_bits) && !(integer && negative);
}

static const char *operand_excluded(smma_format format, smma_operand_class class) {
  const smma_encoding f = smma_encoding_of(format);
  const bool integer = f.specials == SMMA_SPECIALS_INTEGER;
  const bool powers = f.specials == SMMA_SPECIALS_POWERS_OF_TWO;
  const bool negative = class != SMMA_CLASS_NAN && class % 2;
  if (negative && !f.sign_bits) return "the format has no sign";
  switch (class) {
    case SMMA_CLASS_ZERO: return powers ? "the format has no zero" : NULL;
    case SMMA_CLASS_MINUS_ZERO:
      return integer || smma_has_nan_for_negative_zero(f) || powers ? "the format has no -0" : NULL;
    case SMMA_CLASS_SUBNORMAL:
    case SMMA_CLASS_MINUS_SUBNORMAL:
      return integer || powers || f.fraction_bits == 0 ? "the format has no subnormal numbers" : NULL;
    case SMMA_CLASS_NORMAL:
    case SMMA_CLASS_MINUS_NORMAL:
      return has_one_normal(f, negative) ? "the format's only normal number is its greatest" : NULL;
    case SMMA_CLASS_GREATEST:
    case SMMA_CLASS_MINUS_GREATEST: return NULL;
    case SMMA_CLASS_INFINITE:
    case SMMA_CLASS_MINUS_INFINITE: return smma_has_infinity(f) ? NULL : "the format has no infinity";
    case SMMA_CLASS_NAN: return integer || f.specials == SMMA_SPECIALS_FINITE ? "the format has no NaN" : NULL;
    case SMMA_OPERAND_CLASSES: break;
  }
  return NULL;
}

static bool has(smma_format format, smma_operand_class class) {
  return format != SMMA_NO_FORMAT && !operand_excluded(format, class);
}

static const char *special_excluded(const smma_event_space *space, smma_special_event event) {
  const smma_operation *o = &space->operation;
  const bool nan_a = has(o->a, SMMA_CLASS_NAN), nan_b = has(o->b, SMMA_CLASS_NAN),
             nan_c = has(space->c, SMMA_CLASS_NAN);
  const bool nan_scale = has(o->scale, SMMA_CLASS_NAN);
  const bool a = has(o->a, SMMA_CLASS_INFINITE), b = has(o->b, SMMA_CLASS_INFINITE);
  const bool c = has(space->c, SMMA_CLASS_INFINITE);
  bool possible = true;
  if (o->rule.nan == SMMA_NAN_NUMBERS) return "encodings of infinities and NaN are numbers";
  switch (event) {
    case SMMA_SPECIAL_NAN_A: possible = nan_a; break;
    case SMMA_SPECIAL_NAN_B: possible = nan_b; break;
    case SMMA_SPECIAL_NAN_C: possible = nan_c; break;
    case SMMA_SPECIAL_NAN_SCALE: possible = nan_scale; break;
    case SMMA_SPECIAL_NAN_BOTH: possible = nan_c && (nan_a || nan_b || nan_scale); break;
    case SMMA_SPECIAL_NAN_AND_INFINITE: possible = (a || b || c) && (nan_a || nan_b || nan_c || nan_scale); break;
    case SMMA_SPECIAL_ZERO_TIMES_INFINITE: possible = b; break;
    case SMMA_SPECIAL_INFINITE_TIMES_ZERO: possible = a; break;
    case SMMA_SPECIAL_INFINITE_PRODUCTS: possible = (a || b) && o->k > 1; break;
    case SMMA_SPECIAL_INFINITE_C_OPPOSED:
    case SMMA_SPECIAL_INFINITE_C_ALIKE: possible = (a || b) && c; break;
    case SMMA_SPECIAL_INFINITE_PRODUCT: possible = a || b; break;
    case SMMA_SPECIAL_INFINITE_C: possible = c; break;
    case SMMA_SPECIAL_EVENTS: break;
  }
  return possible ? NULL : "the formats have no such values";
}

/* Reports whether the accumulator is the first of a chain that starts from zero. */
static bool starts_from_zero(const smma_event_space *space, smma_event e) {
  const smma_step *s = &smma_event_composition(space)->step[e.block->step];
  const int length = space->step[e.block->step].sums / s->chains;
  return e.place % length == 0 && (e.place != 0 || s->start != SMMA_START_C);
}

/* Reports whether a step rounds each node separately. */
static bool is_alone(const smma_step *s) { return s->take == 1 && s->join != SMMA_JOIN_CHAIN; }

static const char *gap_excluded(const smma_event_space *space, smma_event e) {
  const smma_step *s = &smma_event_composition(space)->step[e.block->step];
  const bool accumulators = e.block->owner == SMMA_OWNER_ACCUMULATORS;
  const smma_cut *cut = accumulators ? &s->accumulator : &s->term;
  const exponents terms = terms_of(space, e.block->step);
  const exponents own = accumulators ? accumulator_of(space, s, terms) : terms;
  const int gap = e.value - 1, most = most_reference(space, s, terms) - brought_least(cut, own);
  const bool brings = cut->brings != SMMA_BRINGS_NOTHING && s->reference == SMMA_NONE;
  if (accumulators && starts_from_zero(space, e)) return "a chain's first accumulator is zero";
  if (is_alone(s) && s->reference == SMMA_NONE && s->term.brings != SMMA_BRINGS_NOTHING && gap != 0 &&
      s->term.offset == 0 && s->term.least == SMMA_NONE && s->reference_multiple == 1)
    return "there is one term";
  if (gap < 0) return brings ? "the reference exponent is the greatest" : NULL;
  if (gap > most) return "exponents are not so far apart";
  return s->reference != SMMA_NONE && s->reference - brought_most(cut, own) > gap ? "the reference exponent is above it"
                                                                                  : NULL;
}

/* Returns why a term cannot lose bits: the last retained bit is never above the term's lowest bit. Returns NULL if it
   can. */
static const char *lost_excluded(const smma_event_space *space, smma_event e) {
  const smma_step *s = &smma_event_composition(space)->step[e.block->step];
  const bool accumulators = e.block->owner == SMMA_OWNER_ACCUMULATORS;
  const smma_cut *cut = accumulators ? &s->accumulator : &s->term;
  const exponents terms = terms_of(space, e.block->step);
  const exponents own = accumulators ? accumulator_of(space, s, terms) : terms;
  if (e.value / 2 == SMMA_LOST_NOTHING || cut->drop != SMMA_NONE) return NULL;
  return most_reference(space, s, terms) - cut->bits <= own.last ? "terms have no bits to truncate" : NULL;
}

/* ---- Sums ---- */

/* Properties of a step's sums. */
typedef struct {
  const smma_step *step;
  exponents terms, accumulator;
  int count;       /* number of terms, including the accumulator */
  bool truncates;  /* alignment never increases a term's magnitude */
  int last;        /* exponent of the output's lowest subnormal bit */
  int least, most; /* exponents of the output's normal numbers */
} parts;

static bool is_toward_zero(smma_rounding r) { return r == SMMA_ROUND_TOWARD_ZERO; }

static parts parts_of(const smma_event_space *space, int step) {
  const smma_step *s = &smma_event_composition(space)->step[step];
  const bool chain = s->join == SMMA_JOIN_CHAIN;
  const smma_encoding f = smma_encoding_of(s->output == SMMA_NO_FORMAT ? space->operation.d : s->output);
  parts p = {.step = s, .terms = terms_of(space, step), .count = s->take + chain};
  p.accumulator = chain ? accumulator_of(space, s, p.terms) : p.terms;
  p.truncates = s->opposing == SMMA_OPPOSING_EXACT &&
                (s->term.bits == SMMA_EXACT_ALIGNMENT || is_toward_zero(s->term.rounding)) &&
                (!chain || s->accumulator.bits == SMMA_EXACT_ALIGNMENT || is_toward_zero(s->accumulator.rounding));
  p.least = smma_minimum_exponent(f), p.last = p.least - f.fraction_bits;
  p.most = (int)(smma_largest_fields(f) >> f.fraction_bits) - f.bias;
  return p;
}

/* Returns the greatest carry, in bits, of a sum of p->count terms whose magnitude alignment does not increase: the sum
   is less than `count` times the next power of two above the greatest term. */
static int most_carry(const parts *p) {
  const int floor = smma_bit_length((uint64_t)p->count) - 1;
  return floor + (p->count != 1 << floor);
}

static const char *shift_excluded(const parts *p, int value) {
  const smma_step *s = p->step;
  const int cancelled = value - SMMA_MOST_CARRY;
  const int above = smma_maximum(p->terms.above, p->accumulator.above);
  const bool cut = s->term.bits != SMMA_EXACT_ALIGNMENT && s->accumulator.bits != SMMA_EXACT_ALIGNMENT;
  const bool all_bring = s->term.brings != SMMA_BRINGS_NOTHING && s->accumulator.brings != SMMA_BRINGS_NOTHING;
  if (is_alone(s) && value != 0 && value != SMMA_SHIFTS - 1 && s->term.bits == SMMA_EXACT_ALIGNMENT)
    return "there is one term";
  if (value == SMMA_SHIFTS - 1) return NULL;
  if (cancelled <= 0)
    return p->truncates && !s->minus_one_shift && value > most_carry(p) ? "so few terms carry no further" : NULL;
  if (has_own_bits(s, p->terms)) return NULL;
  if (cancelled > smma_maximum(p->terms.leading_most, p->accumulator.leading_most) -
                      smma_minimum(p->terms.last, p->accumulator.last))
    return "terms have no bits so far apart";
  if (!cut || !all_bring || s->reference != SMMA_NONE || s->term.offset < 0 || s->accumulator.offset < 0) return NULL;
  return cancelled > smma_maximum(s->term.bits, s->accumulator.bits) + above ? "it is below the last retained bit"
                                                                             : NULL;
}

/* Reports whether no sum has a bit below 2^last. */
static bool is_coarse(const parts *p, int last) {
  return !has_own_bits(p->step, p->terms) && p->terms.last >= last && p->accumulator.last >= last;
}

static const char *round_excluded(const parts *p, int value) {
  if (!(value & 16)) return NULL;
  if (is_coarse(p, p->least)) return "no sum is as small";
  return value & 6 && is_coarse(p, p->last) ? "terms have no bits below the last subnormal one" : NULL;
}

/* Reports whether sums cannot overflow: either all terms are too small, or products lie below the last retained bit of
   any c that is near overflow, and c itself needs no rounding. */
static bool cannot_overflow(const smma_event_space *space, const parts *p) {
  const smma_step *s = p->step;
  const int products = p->terms.leading_most + smma_bit_length((uint64_t)s->take);
  const int c_bits = smma_encoding_of(space->operation.d).fraction_bits;
  const bool c_fits =
      c_bits <= smma_encoding_of(s->output).fraction_bits && (s->narrow_bits == SMMA_NONE || c_bits <= s->narrow_bits);
  if (s->minus_one_shift) return false; /* a small sum may become a great one */
  if (p->truncates && p->accumulator.leading_most <= p->most &&
      smma_maximum(products, p->accumulator.leading_most) + 1 <= p->most)
    return true;
  return c_fits && s->join == SMMA_JOIN_CHAIN && p->truncates && s->reference == SMMA_NONE &&
         s->term.bits != SMMA_EXACT_ALIGNMENT && s->accumulator.brings != SMMA_BRINGS_NOTHING &&
         s->accumulator.offset >= 0 && p->accumulator.leading_most <= p->most && products < p->most - s->term.bits;
}

/* Reports whether terms of a sum can be infinite or NaN: from operands, from products above a limit, or from earlier
   sums that overflowed. */
static bool has_special_terms(const smma_event_space *space, const parts *p, bool nan) {
  const smma_composition *c = smma_event_composition(space);
  const bool chains = p->step->join == SMMA_JOIN_CHAIN && space->step[p->step - c->step].sums > 1;
  const bool before = c->steps > 1 || (chains && !cannot_overflow(space, p));
  const smma_special_event infinite[] = {SMMA_SPECIAL_INFINITE_PRODUCT, SMMA_SPECIAL_INFINITE_C};
  const smma_special_event nans[] = {SMMA_SPECIAL_NAN_A, SMMA_SPECIAL_NAN_B, SMMA_SPECIAL_NAN_C,
                                     SMMA_SPECIAL_NAN_SCALE};
  bool possible = c->product_limit != SMMA_NONE || c->widen != SMMA_NO_FORMAT || before;
  if (space->operation.rule.nan == SMMA_NAN_NUMBERS) return c->product_limit != SMMA_NONE;
  for (int i = 0; i < 2; i++) possible = possible || !special_excluded(space, infinite[i]);
  for (int i = 0; nan && i < 4; i++) possible = possible || !special_excluded(space, nans[i]);
  return possible;
}

/* Reports whether every sum within the width is within the range of the integer output. */
static bool is_limited_before(const smma_step *s) {
  const int bits = s->join == SMMA_JOIN_CHAIN ? smma_maximum(s->term.bits, s->accumulator.bits) : s->term.bits;
  return s->width != SMMA_NONE && s->reference != SMMA_NONE && s->reference <= bits &&
         s->width <= smma_format_bits(s->output) && s->narrow_bits == SMMA_NONE;
}

/* Returns the exponent of the lowest bit that rounding to the output, and narrowing before it, can retain in all
   sums. */
static int last_retained(const parts *p) {
  const smma_step *s = p->step;
  const bool narrows = s->narrow_bits != SMMA_NONE && s->narrow_subnormals;
  return narrows ? smma_maximum(p->last, p->least - s->narrow_bits) : p->last;
}

/* Reports whether no sum of a step with integer output has a fraction: no term has one, or alignment to a constant
   exponent truncates it. */
static bool has_whole_sums(const parts *p) {
  const smma_step *s = p->step;
  const bool chain = s->join == SMMA_JOIN_CHAIN;
  if (is_coarse(p, p->last)) return true;
  return s->reference != SMMA_NONE && s->opposing == SMMA_OPPOSING_EXACT && s->term.bits != SMMA_EXACT_ALIGNMENT &&
         s->reference - s->term.bits >= p->last &&
         (!chain || (s->accumulator.bits != SMMA_EXACT_ALIGNMENT && s->reference - s->accumulator.bits >= p->last));
}

static const char *integer_excluded(const parts *p, smma_result_event event) {
  switch (event) {
    case SMMA_RESULT_EXACT:
    case SMMA_RESULT_GREATEST:
    case SMMA_RESULT_ZERO:
    case SMMA_RESULT_CANCELLED: return NULL;
    case SMMA_RESULT_WIDTH: return p->step->width == SMMA_NONE ? "sums have no width" : NULL;
    case SMMA_RESULT_OVERFLOW: return is_limited_before(p->step) ? "the width of sums comes before" : NULL;
    case SMMA_RESULT_TO_ZERO: return has_whole_sums(p) ? "all sums are integers" : NULL;
    case SMMA_RESULT_AWAY:
      return is_toward_zero(p->step->rounding) ? "it rounds toward zero"
             : has_whole_sums(p)               ? "all sums are integers"
                                               : NULL;
    case SMMA_RESULT_UNDERFLOW:
      return has_whole_sums(p) && last_retained(p) == p->last ? "all sums are integers" : NULL;
    default: return "integers have no exponent";
  }
}

static const char *result_excluded(const smma_event_space *space, const parts *p, smma_result_event event) {
  const smma_step *s = p->step;
  const bool truncates = is_toward_zero(s->rounding) && s->narrow_bits == SMMA_NONE;
  const bool keeps = s->subnormal_outputs == SMMA_SUBNORMALS_KEPT;
  if (smma_is_integer(s->output) && event != SMMA_RESULT_INFINITE && event != SMMA_RESULT_NAN)
    return integer_excluded(p, event);
  switch (event) {
    case SMMA_RESULT_AWAY:
    case SMMA_RESULT_NEXT_BINADE: return truncates ? "it rounds toward zero" : NULL;
    case SMMA_RESULT_LEAST_NORMAL:
      return truncates ? "it rounds toward zero" : is_coarse(p, p->least) ? "no sum is as small" : NULL;
    case SMMA_RESULT_ROUNDED_OVERFLOW:
      return truncates ? "it rounds toward zero" : cannot_overflow(space, p) ? "no sum is as great" : NULL;
    case SMMA_RESULT_OVERFLOW: return cannot_overflow(space, p) ? "no sum is as great" : NULL;
    case SMMA_RESULT_UNDERFLOW: return is_coarse(p, keeps ? last_retained(p) : p->least) ? "no sum is as small" : NULL;
    case SMMA_RESULT_SUBNORMAL:
      return !keeps ? "subnormal results become zero" : is_coarse(p, p->least) ? "no sum is as small" : NULL;
    case SMMA_RESULT_MINUS_ZERO: return s->zero_sign != SMMA_ZERO_IEEE ? "zeros are positive" : NULL;
    case SMMA_RESULT_WIDTH: return s->width == SMMA_NONE ? "sums have no width" : NULL;
    case SMMA_RESULT_INFINITE: return has_special_terms(space, p, false) ? NULL : "no term is infinite";
    case SMMA_RESULT_NAN: return has_special_terms(space, p, true) ? NULL : "no term is NaN or infinite";
    case SMMA_RESULT_EXACT:
    case SMMA_RESULT_TO_ZERO:
    case SMMA_RESULT_GREATEST:
    case SMMA_RESULT_ZERO:
    case SMMA_RESULT_CANCELLED:
    case SMMA_RESULT_EVENTS: break;
  }
  return NULL;
}

static const char *lead_excluded(const smma_event_space *space, smma_event e) {
  const smma_step *s = &smma_event_composition(space)->step[e.block->step];
  const bool terms = zero_brings(&s->term),
             both = terms || (s->join == SMMA_JOIN_CHAIN && zero_brings(&s->accumulator));
  if (e.block->owner != SMMA_OWNER_SUMS)
    return e.block->owner == SMMA_OWNER_ACCUMULATORS && starts_from_zero(space, e)
               ? "a chain's first accumulator is zero"
               : NULL;
  if (is_alone(s) && (e.value == SMMA_LEAD_TWO || e.value == SMMA_LEAD_MORE)) return "there is one term";
  if (e.value == SMMA_LEAD_ZERO && !both) return "zeros bring no exponent";
  if (e.value == SMMA_LEAD_NONE && s->reference == SMMA_NONE && s->term.brings != SMMA_BRINGS_NOTHING &&
      (s->join != SMMA_JOIN_CHAIN || s->accumulator.brings != SMMA_BRINGS_NOTHING))
    return "every term that is not zero brings one";
  if (e.value == SMMA_LEAD_MORE && s->take + (s->join == SMMA_JOIN_CHAIN) < 3) return "there are two terms";
  return NULL;
}

static const char *link_excluded(const smma_event_space *space, smma_event e) {
  const parts p = parts_of(space, e.block->step);
  const exponents own = e.place == 0 ? c_of(space) : chained(space, p.step, p.terms);
  const smma_subnormal_policy subnormals =
      e.place == 0 ? smma_event_composition(space)->subnormal_c : p.step->subnormal_outputs;
  if (starts_from_zero(space, e)) return e.value != SMMA_LINK_ZERO ? "a chain's first accumulator is zero" : NULL;
  switch ((smma_link_event)e.value) {
    case SMMA_LINK_SUBNORMAL:
      if (is_unbounded(space)) return subnormals != SMMA_SUBNORMALS_KEPT ? "subnormal ones become zero" : NULL;
      return own.leading_least >= own.least ? "none is as small" : NULL;
    case SMMA_LINK_INFINITE: return has_special_terms(space, &p, false) ? NULL : "no term is infinite";
    case SMMA_LINK_NAN: return has_special_terms(space, &p, true) ? NULL : "no term is NaN or infinite";
    case SMMA_LINK_ZERO:
    case SMMA_LINK_NORMAL:
    case SMMA_LINK_EVENTS: break;
  }
  return NULL;
}

const char *smma_event_excluded(const smma_event_space *space, size_t index) {
  const smma_event e = smma_event_at(space, index);
  const parts p = parts_of(space, e.block->step < 0 ? 0 : e.block->step);
  switch (e.block->kind) {
    case SMMA_EVENT_OPERAND:
      return operand_excluded(smma_event_format(space, e.block->owner), (smma_operand_class)e.value);
    case SMMA_EVENT_SPECIAL: return special_excluded(space, (smma_special_event)e.value);
    case SMMA_EVENT_GAP: return gap_excluded(space, e);
    case SMMA_EVENT_LEAD: return lead_excluded(space, e);
    case SMMA_EVENT_SHIFT: return shift_excluded(&p, e.value);
    case SMMA_EVENT_ROUND: return round_excluded(&p, e.value);
    case SMMA_EVENT_RESULT: return result_excluded(space, &p, (smma_result_event)e.value);
    case SMMA_EVENT_LINK: return link_excluded(space, e);
    case SMMA_EVENT_LOST: return lost_excluded(space, e);
    case SMMA_EVENT_KINDS: break;
  }
  return NULL;
}

smma_event_state smma_event_state_in(const smma_event_space *space, const uint64_t *hits, const bool *found,
                                     size_t event) {
  if (hits[event]) return SMMA_HIT;
  if (smma_event_excluded(space, event)) return SMMA_IMPOSSIBLE;
  return found && found[event] ? SMMA_FOUND : SMMA_MISSED;
}
