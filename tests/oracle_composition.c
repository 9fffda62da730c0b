/* Compositions, computed as docs/algorithms/composition.md defines them: a sum is one exact integer, and truncations
   are divisions. */
#include "oracle_number.h"

/* Values are multiples of 2^-4096. Products with scale factors are multiples of 2^-2402. The units of sums are at most
   a hundred bits below exponents of about -2100, or below the previous unit, and a hundred more for each of six steps.
 */
#define UNIT 4096

/* The largest term has 2^112 units. */
#define MOST_BITS 112

typedef struct {
  mpz_t value; /* of a finite number, in units */
  int exponent;
  class_of_value class;
  bool negative;     /* also set for zeros, infinities and NaN */
  bool zero;         /* false for a sum that cancelled */
  bool brought;      /* NaN: from an operand */
  bool marked;       /* NaN from an operand: from a term of the sum, under a policy that marks such NaN */
  bool yields;       /* NaN from an operand: from the factor a, under a policy that puts it last */
  uint64_t fraction; /* fraction of a NaN from an operand, 52 bits */
  bool beyond[2];    /* contains products above the limit: positive, negative ones */
  uint64_t code;     /* encoding of a number in a format */
  int k;             /* first k that it contains */
} node;

typedef struct {
  const node *term[SMMA_MAXIMUM_K + 1]; /* the accumulator is the last */
  int count;
} terms;

static struct {
  bool ready;
  node product[SMMA_MAXIMUM_K], sum[SMMA_MAXIMUM_K], a, b, c, zero, result;
  quantity number;
  mpz_t total, cut, limit;
  bool all_numbers; /* infinities and NaN are numbers with the greatest exponent, too */
} work;

static void prepare(void) {
  if (work.ready) return;
  for (int i = 0; i < SMMA_MAXIMUM_K; i++) mpz_inits(work.product[i].value, work.sum[i].value, NULL);
  mpz_inits(work.a.value, work.b.value, work.c.value, work.zero.value, work.result.value, work.number.value, NULL);
  mpz_inits(work.total, work.cut, work.limit, NULL);
  work.ready = true;
}

/* Numbers of a format. */

/* floor(log2 |x|) of a value that is not zero. */
static int leading(const mpz_t x) { return (int)mpz_sizeinbase(x, 2) - 1 - UNIT; }

/* Returns the exponent of a number in a format; for integers that of the first bit. */
static int exponent_in(smma_format format, const mpz_t x) {
  layout f = oracle_layout(format);
  if (f.specials == OF_INTEGERS) return f.fraction_bits + f.least_exponent;
  return mpz_sgn(x) ? smma_maximum(leading(x), f.least_exponent) : f.least_exponent;
}

static bool is_zero(const node *x) { return x->class == FINITE && x->zero; }

/* Sets x to a number. Flushes subnormals of the format `flushed` as `policy` says. The exponent is that in the format
   `wider`. */
static void set_number(node *x, smma_format format, uint64_t code, smma_format flushed, smma_subnormal_policy policy,
                       smma_format wider) {
  layout f = oracle_layout(format);
  quantity *q = &work.number;
  oracle_decode(q, format, code);
  if (work.all_numbers) q->class = FINITE;
  oracle_flush(q, flushed, policy);
  mpz_mul_2exp(x->value, q->value, UNIT - OPERAND_UNIT);
  x->class = q->class;
  x->negative = q->negative;
  x->zero = mpz_sgn(x->value) == 0;
  x->exponent = exponent_in(wider, x->value);
  x->brought = x->class == NOT_A_NUMBER;
  x->yields = false;
  x->fraction = (code >> f.low_bits) % (UINT64_C(1) << f.fraction_bits) << (52 - f.fraction_bits);
  x->beyond[0] = x->beyond[1] = false;
  x->code = code;
  x->k = SMMA_MAXIMUM_K;
}

static uint64_t encode_zero(const smma_step *s, bool negative) {
  const layout f = oracle_layout(s->output);
  if (oracle_has_no_minus_zero(&f) || f.specials == OF_INTEGERS) return 0;
  return oracle_sign_bit(s->output, negative && s->subnormal_outputs != SMMA_SUBNORMALS_TO_POSITIVE_ZERO);
}

static bool saturates(const smma_step *s, bool negative) {
  if (s->overflow != SMMA_SUM_BY_DIRECTION) return s->overflow == SMMA_SUM_SATURATES;
  switch (s->rounding) {
    case SMMA_ROUND_TOWARD_ZERO:
    case SMMA_ROUND_TO_ODD: return true;
    case SMMA_ROUND_DOWN: return !negative;
    case SMMA_ROUND_UP: return negative;
    default: return false;
  }
}

/* Clamps a sum to an integer format, in two's complement. */
static uint64_t encode_integer(smma_format format, mpz_t x) {
  layout f = oracle_layout(format);
  int64_t end = INT64_C(1) << f.fraction_bits;
  mpz_fdiv_q_2exp(x, x, UNIT);
  if (mpz_cmp_si(x, end - 1) > 0) mpz_set_si(x, end - 1);
  if (mpz_cmp_si(x, -end) < 0) mpz_set_si(x, -end);
  mpz_fdiv_r_2exp(x, x, (mp_bitcnt_t)f.fraction_bits + 1);
  return mpz_get_ui(x);
}

static void round_at(mpz_t x, int last, smma_rounding direction) {
  oracle_round(x, (mp_bitcnt_t)(UNIT + last), direction);
}

/* Narrows and rounds x, and overwrites it; `negative` is the sign of a zero. */
static uint64_t encode(const smma_step *s, mpz_t x, bool negative) {
  layout f = oracle_layout(s->output);
  bool is_integer = f.specials == OF_INTEGERS, subnormal;
  quantity *greatest = &work.number;
  int least = is_integer ? NO_EXPONENT : f.least_exponent, top;
  uint64_t greatest_code;
  if (mpz_sgn(x) == 0) return encode_zero(s, negative);
  negative = mpz_sgn(x) < 0;
  if (s->narrow_bits != SMMA_NONE)
    round_at(x, smma_maximum(leading(x), s->narrow_subnormals ? least : NO_EXPONENT) - s->narrow_bits,
             s->narrow_rounding);
  if (mpz_sgn(x) == 0 && s->zero_sign != SMMA_ZERO_IEEE) return encode_zero(s, false);
  subnormal = mpz_sgn(x) && leading(x) < least;
  if (mpz_sgn(x)) round_at(x, is_integer ? 0 : smma_maximum(leading(x), least) - f.fraction_bits, s->rounding);
  if (mpz_sgn(x) == 0) return encode_zero(s, negative && s->zero_sign != SMMA_ZERO_ALWAYS_POSITIVE);
  if (is_integer) return encode_integer(s->output, x);
  top = leading(x);
  if (!s->early_underflow) subnormal = top < least;
  if (subnormal && s->subnormal_outputs != SMMA_SUBNORMALS_KEPT)
    return encode_zero(s, negative && s->zero_sign != SMMA_ZERO_ALWAYS_POSITIVE);
  greatest_code = oracle_greatest(s->output);
  if (work.all_numbers && saturates(s, negative)) /* all ones except the sign */
    greatest_code = ((UINT64_C(1) << (f.exponent_bits + f.fraction_bits)) - 1) << f.low_bits;
  oracle_decode(greatest, s->output, greatest_code);
  mpz_mul_2exp(greatest->value, greatest->value, UNIT - OPERAND_UNIT);
  if (mpz_cmpabs(x, greatest->value) > 0)
    return saturates(s, negative) ? oracle_sign_bit(s->output, negative) | greatest_code
                                  : oracle_infinity(s->output, negative);
  mpz_tdiv_q_2exp(x, x, (mp_bitcnt_t)(UNIT + smma_maximum(top, least) - f.fraction_bits));
  return oracle_sign_bit(s->output, negative) |
         (mpz_get_ui(x) + ((uint64_t)smma_maximum(top - least, 0) << f.fraction_bits)) << f.low_bits;
}

static uint64_t encode_special(smma_format format, const node *x, smma_nan_policy policy) {
  layout f = oracle_layout(format);
  if (f.specials == OF_INTEGERS && x->class == INFINITE)
    return oracle_greatest(format) + x->negative; /* one more is the smallest integer */
  if (f.specials == OF_INTEGERS) return policy == SMMA_NAN_ALL_ONES ? oracle_greatest(format) : 0;
  if (x->class == INFINITE) return oracle_infinity(format, x->negative);
  if (policy == SMMA_NAN_NUMBERS) return oracle_nan(format, SMMA_NAN_QUIET); /* of infinities above a limit */
  if (policy <= SMMA_NAN_DEFAULT) return oracle_nan(format, policy);
  if (x->marked || (policy == SMMA_NAN_MARKED && !x->brought)) return oracle_marked_nan(format);
  return oracle_sign_bit(format, x->brought ? x->negative : true) | oracle_nan(format, SMMA_NAN_QUIET) |
         (x->brought ? x->fraction >> (52 - f.fraction_bits) << f.low_bits : 0);
}

/* Products. */

/* Sets the class, the sign and the NaN of a product of two factors, or of a node and a scale factor. */
static void multiply(node *p, const node *x, const node *y) {
  const node *nan = x->class == NOT_A_NUMBER && x->brought ? x : y->class == NOT_A_NUMBER && y->brought ? y : NULL;
  bool infinite = x->class == INFINITE || y->class == INFINITE;
  bool invalid = x->class == NOT_A_NUMBER || (infinite && (is_zero(x) || is_zero(y)));
  mpz_mul(p->value, x->value, y->value);
  mpz_tdiv_q_2exp(p->value, p->value, UNIT);
  p->exponent = x->exponent == NO_EXPONENT ? NO_EXPONENT : x->exponent + y->exponent;
  p->brought = nan != NULL;
  p->fraction = nan ? nan->fraction : 0;
  p->negative = nan ? nan->negative : x->negative != y->negative;
  p->class = nan || invalid ? NOT_A_NUMBER : infinite ? INFINITE : FINITE;
  p->zero = x->zero || y->zero;
}

static void set_factor(node *x, smma_format format, uint64_t code, smma_subnormal_policy policy, smma_format widen) {
  const smma_step rounding = {.output = widen, .narrow_bits = SMMA_NONE};
  set_number(x, format, code, format, policy, format);
  if (widen == SMMA_NO_FORMAT || x->class != FINITE) return;
  mpz_set(work.total, x->value);
  set_number(x, widen, encode(&rounding, work.total, x->negative), widen, SMMA_SUBNORMALS_KEPT, widen);
}

/* Replaces a factor by its slice number `index`: the digit of weight 2^(exponent - index * bits) to the base 2^bits. */
static void take_slice(node *x, int bits, int index) {
  const int first = x->exponent - index * bits; /* the weight of the slice's first bit */
  if (bits == 0 || x->class != FINITE) return;
  x->exponent = first;
  mpz_tdiv_r_2exp(x->value, x->value, (mp_bitcnt_t)(UNIT + first + 1));
  mpz_tdiv_q_2exp(x->value, x->value, (mp_bitcnt_t)(UNIT + first + 1 - bits));
  mpz_mul_2exp(x->value, x->value, (mp_bitcnt_t)(UNIT + first + 1 - bits));
}

/* Sets x to the k-th factor. With `bits`, its block has one exponent, and x is rounded to so many bits below that. */
static void set_aligned(node *x, const smma_operation *o, smma_format format, const uint64_t *codes, int k,
                        smma_subnormal_policy policy, int bits) {
  const smma_composition *all = &o->rule.with.composition;
  const int length = all->block_elements ? all->block_elements : o->k;
  int greatest = NO_EXPONENT;
  for (int i = k - k % length; bits && i < k - k % length + length; i++) {
    set_factor(x, format, codes[i], policy, all->widen);
    if (x->class == FINITE) greatest = smma_maximum(greatest, x->exponent);
  }
  set_factor(x, format, codes[k], policy, all->widen);
  if (!bits || x->class != FINITE) return;
  round_at(x->value, greatest - bits + 1, all->block_rounding);
  mpz_set_ui(work.limit, 0);
  mpz_setbit(work.limit, (mp_bitcnt_t)(UNIT + greatest + 1));
  if (mpz_cmpabs(x->value, work.limit) >= 0) { /* the next number toward zero */
    mpz_clrbit(work.limit, (mp_bitcnt_t)(UNIT + greatest + 1));
    for (int i = 0; i < bits; i++) mpz_setbit(work.limit, (mp_bitcnt_t)(UNIT + greatest - i));
    mpz_set(x->value, work.limit);
    if (x->negative) mpz_neg(x->value, x->value);
  }
  x->exponent = greatest;
  x->zero = mpz_sgn(x->value) == 0;
}

static void set_product(node *p, const smma_operation *o, int k, int phase, const uint64_t *a, const uint64_t *b) {
  const smma_composition *all = &o->rule.with.composition;
  const int of_a = phase / all->slices_b, of_b = phase % all->slices_b;
  set_aligned(&work.a, o, o->a, a, k, all->subnormal_a, all->block_bits_a);
  set_aligned(&work.b, o, o->b, b, k, all->subnormal_b, all->block_bits_b);
  take_slice(&work.a, all->slice_a, of_a);
  take_slice(&work.b, all->slice_b, of_b);
  p->yields = o->rule.nan == SMMA_NAN_B_SUM_A && work.a.brought && !work.b.brought;
  if (o->rule.nan == SMMA_NAN_B_SUM_A)
    multiply(p, &work.b, &work.a);
  else
    multiply(p, &work.a, &work.b);
  if (is_zero(p) && all->zero_product != SMMA_OWN_EXPONENT)
    p->exponent = all->zero_product - of_a * all->slice_a - of_b * all->slice_b;
  if (all->product == SMMA_PRODUCT_XOR) { /* bits 0 and 1 */
    p->zero = mpz_cmp(work.a.value, work.b.value) == 0;
    mpz_set_ui(p->value, 0);
    if (!p->zero) mpz_setbit(p->value, UNIT);
  }
  p->k = k;
  p->beyond[0] = p->beyond[1] = false;
  if (all->product_limit == SMMA_NONE || p->class != FINITE || p->zero || leading(p->value) < all->product_limit)
    return;
  if (all->limit_joins)
    p->beyond[p->negative] = true;
  else
    p->class = INFINITE;
}

static void scale_nodes(const smma_operation *o, node *x, int count, const uint64_t *scale_a, const uint64_t *scale_b) {
  for (int i = 0; i < count; i++) {
    int block = x[i].k / o->scale_block;
    set_number(&work.a, o->scale, scale_a[block], o->scale, SMMA_SUBNORMALS_KEPT, o->scale);
    set_number(&work.b, o->scale, scale_b[block], o->scale, SMMA_SUBNORMALS_KEPT, o->scale);
    multiply(&x[i], &x[i], &work.a);
    multiply(&x[i], &x[i], &work.b);
  }
}

/* One sum. */

static const smma_cut *cut_of(const smma_step *s, int i) { return i < s->take ? &s->term : &s->accumulator; }

/* Computes the sum of the first `count` terms if it is NaN or infinite. */
static bool special_terms(const smma_step *s, const terms *t, int count, node *sum) {
  bool infinite[2] = {false, false}, beyond[2] = {false, false}, nan = false;
  const node *brought = NULL;
  sum->yields = false;
  for (int i = 0; i < count; i++) {
    const node *x = t->term[i];
    if (x->class == NOT_A_NUMBER && x->brought && (!brought || (brought->yields && !x->yields))) brought = x;
  }
  if (brought) {
    sum->class = NOT_A_NUMBER, sum->brought = true, sum->negative = brought->negative;
    sum->fraction = brought->fraction;
    return true;
  }
  for (int i = 0; i < count; i++) {
    const node *x = t->term[i];
    nan |= x->class == NOT_A_NUMBER;
    if (x->class == INFINITE) infinite[x->negative] = true;
    for (int sign = 0; sign < 2; sign++) beyond[sign] |= x->class == FINITE && x->beyond[sign];
  }
  if (!nan && !infinite[0] && !infinite[1] && s->join == SMMA_JOIN_CHAIN)
    infinite[0] = beyond[0], infinite[1] = beyond[1];
  sum->class = nan || (infinite[0] && infinite[1]) ? NOT_A_NUMBER : infinite[0] || infinite[1] ? INFINITE : FINITE;
  sum->negative = infinite[1];
  sum->brought = false;
  sum->beyond[0] = beyond[0], sum->beyond[1] = beyond[1];
  return sum->class != FINITE;
}

/* Computes the sum of all terms if it is NaN or infinite. A NaN of the terms that a group takes may come first. */
static bool special_sum(const smma_step *s, smma_nan_policy policy, const terms *t, node *sum) {
  const bool marks = policy == SMMA_NAN_BY_SOURCE || policy == SMMA_NAN_MARKED;
  bool made = false, brought = false;
  const node *last = t->term[t->count - 1];
  for (int i = 0; i < s->take; i++) brought |= t->term[i]->class == NOT_A_NUMBER && t->term[i]->brought;
  if (marks && !brought && t->count > s->take) {
    const smma_step plain = {.join = SMMA_JOIN_APART};
    made = special_terms(&plain, t, s->take, sum) && sum->class == NOT_A_NUMBER;
  }
  if (made && last->class == NOT_A_NUMBER) {
    sum->marked = false;
    return true;
  }
  special_terms(s, t, t->count, sum);
  sum->marked = marks && brought;
  return sum->class != FINITE;
}

/* Returns e(x), or NO_EXPONENT. */
static int brought_exponent(const smma_cut *cut, const node *x) {
  int e = x->exponent;
  if (cut->brings == SMMA_BRINGS_NOTHING || (x->zero && cut->zero_exponent == SMMA_NO_EXPONENT)) return NO_EXPONENT;
  if (x->zero && cut->zero_exponent != SMMA_OWN_EXPONENT) e = cut->zero_exponent;
  if (cut->brings == SMMA_BRINGS_NORMALIZED && mpz_sgn(x->value)) e = leading(x->value);
  if (e == NO_EXPONENT) return e;
  return smma_maximum(e + cut->offset, cut->least);
}

static int reference(const smma_step *s, const terms *t) {
  int greatest = NO_EXPONENT, own = NO_EXPONENT;
  if (s->reference != SMMA_NONE) return s->reference;
  for (int i = 0; i < t->count; i++) {
    greatest = smma_maximum(greatest, brought_exponent(cut_of(s, i), t->term[i]));
    if (!t->term[i]->zero) own = smma_maximum(own, t->term[i]->exponent);
  }
  if (greatest == NO_EXPONENT) greatest = own;
  while (greatest != NO_EXPONENT && greatest % s->reference_multiple != 0) greatest++;
  return greatest;
}

/* Sets work.cut to t(x), limited to work.limit unless that is zero. */
static void set_cut(const smma_cut *cut, const node *x, int e) {
  int own = brought_exponent(cut, x);
  mpz_set(work.cut, x->value);
  if (cut->bits != SMMA_EXACT_ALIGNMENT) round_at(work.cut, e - cut->bits, cut->rounding);
  if (cut->again) round_at(work.cut, e - cut->bits + cut->again, cut->rounding);
  if (cut->drop != SMMA_NONE && own != NO_EXPONENT && own < e - cut->drop) mpz_set_ui(work.cut, 0);
  if (mpz_sgn(work.limit) == 0 || mpz_cmpabs(work.cut, work.limit) <= 0) return;
  if (mpz_sgn(work.cut) < 0)
    mpz_neg(work.cut, work.limit);
  else
    mpz_set(work.cut, work.limit);
}

/* Limits x, in units of 2^last, to `width` bits. */
static void limit_width(mpz_t x, int width, smma_integer_overflow overflow, int last) {
  mpz_fdiv_q_2exp(x, x, (mp_bitcnt_t)(UNIT + last)); /* exact */
  mpz_set_ui(work.limit, 1);
  mpz_mul_2exp(work.limit, work.limit, (mp_bitcnt_t)width - 1);
  mpz_add(x, x, work.limit); /* the smallest number becomes zero */
  if (overflow == SMMA_INTEGER_WRAPS) mpz_fdiv_r_2exp(x, x, (mp_bitcnt_t)width);
  if (mpz_sgn(x) < 0) mpz_set_ui(x, 0);
  if ((int)mpz_sizeinbase(x, 2) > width) mpz_mul_2exp(x, work.limit, 1), mpz_sub_ui(x, x, 1);
  mpz_sub(x, x, work.limit);
  mpz_mul_2exp(x, x, (mp_bitcnt_t)(UNIT + last));
}

/* Sets work.total to S. */
static void set_total(const smma_step *s, const terms *t, int e) {
  bool accumulates = t->count > s->take;
  int bits = accumulates ? smma_maximum(s->term.bits, s->accumulator.bits) : s->term.bits; /* exact is the largest */
  bool exact = bits == SMMA_EXACT_ALIGNMENT;
  bool complement = s->opposing == SMMA_OPPOSING_COMPLEMENT && accumulates;
  bool negative = t->term[t->count - 1]->negative; /* the accumulator */
  mpz_set_ui(work.total, 0);
  for (int i = 0; i < t->count; i++) {
    const node *x = t->term[i];
    mpz_set_ui(work.limit, 0);
    if (!exact && (s->width == SMMA_NONE || s->width_overflow != SMMA_INTEGER_WRAPS))
      mpz_setbit(work.limit, (mp_bitcnt_t)(UNIT + e - bits + MOST_BITS));
    set_cut(cut_of(s, i), x, e);
    mpz_add(work.total, work.total, work.cut);
    if (!complement || x->negative == negative) continue;
    mpz_set_ui(work.cut, 0);
    mpz_setbit(work.cut, (mp_bitcnt_t)(UNIT + e - bits));
    if (x->negative)
      mpz_sub(work.total, work.total, work.cut);
    else
      mpz_add(work.total, work.total, work.cut);
  }
  if (s->width != SMMA_NONE) {
    if (complement && negative) mpz_neg(work.total, work.total);
    limit_width(work.total, s->width, s->width_overflow, e - bits);
    if (complement && negative) mpz_neg(work.total, work.total);
  }
  if (s->minus_one_shift == 0) return;
  mpz_set_ui(work.cut, 0);
  mpz_setbit(work.cut, (mp_bitcnt_t)(UNIT + e - bits));
  mpz_neg(work.cut, work.cut);
  if (mpz_cmp(work.total, work.cut) == 0) mpz_mul_2exp(work.total, work.total, (mp_bitcnt_t)s->minus_one_shift);
}

/* Reports whether a sum that is exactly zero is -0. */
static bool zero_is_negative(const smma_step *s, const terms *t) {
  int zeros[2] = {0, 0};
  if (s->zero_sign != SMMA_ZERO_IEEE) return false;
  for (int i = 0; i < t->count; i++) zeros[t->term[i]->negative] += t->term[i]->zero;
  if (zeros[0] == t->count) return false;
  return zeros[1] == t->count || s->rounding == SMMA_ROUND_DOWN;
}

static void set_result(const smma_step *s, uint64_t code, node *sum) {
  set_number(sum, s->output, code, s->output, SMMA_SUBNORMALS_KEPT, s->output);
}

static void set_sum(const smma_operation *o, const smma_step *s, const terms *t, node *sum) {
  bool zero = true, negative_zero = zero_is_negative(s, t);
  int e;
  for (int i = 0; i < t->count; i++) zero = zero && is_zero(t->term[i]);
  if (special_sum(s, o->rule.nan, t, sum)) {
    if (s->output != SMMA_NO_FORMAT) set_result(s, encode_special(s->output, sum, o->rule.nan), sum);
    return;
  }
  e = reference(s, t);
  zero = zero || (s->least_reference != SMMA_NONE && e < s->least_reference);
  if (zero)
    mpz_set_ui(work.total, 0);
  else
    set_total(s, t, e);
  if (s->output != SMMA_NO_FORMAT) {
    set_result(s, encode(s, work.total, negative_zero), sum);
    return;
  }
  mpz_set(sum->value, work.total);
  sum->exponent = e;
  sum->zero = zero || (s->cancelled_is_zero && mpz_sgn(work.total) == 0);
  sum->negative = mpz_sgn(sum->value) < 0;
}

static void sum_terms(const smma_operation *o, const smma_step *s, const terms *t, node *sum) {
  set_sum(o, s, t, sum);
  sum->k = SMMA_MAXIMUM_K;
  for (int i = 0; i < t->count; i++) sum->k = smma_minimum(sum->k, t->term[i]->k);
}

/* Steps. */

/* Returns the nodes of group g of windows of `window` nodes. */
static terms group_of(const smma_step *s, int window, int g, const node *x) {
  int groups = window / s->take, first = g / groups * window;
  terms t = {.count = 0};
  for (int i = 0; i < window; i++)
    if (i / s->turn % groups == g % groups) t.term[t.count++] = &x[first + i];
  return t;
}

static void copy(node *to, const node *from) {
  node old = *to;
  *to = *from;
  *to->value = *old.value;
  mpz_set(to->value, from->value);
}

static int sum_apart(const smma_operation *o, const smma_step *s, int window, int count, node *x) {
  int groups = count / s->take;
  for (int g = 0; g < groups; g++) {
    terms t = group_of(s, window, g, x);
    sum_terms(o, s, &t, &work.sum[g]);
  }
  for (int g = 0; g < groups; g++) copy(&x[g], &work.sum[g]);
  return groups;
}

static int sum_chains(const smma_operation *o, const smma_step *s, int count, node *x) {
  int groups = count / s->take, i = 0;
  for (int first = 0; first < s->stride; first++)
    for (int g = first; g < groups; g += s->stride, i++) {
      int chain = i % s->chains;
      terms t = group_of(s, s->window, s->descending ? groups - 1 - g : g, x);
      if (i >= s->chains)
        t.term[t.count++] = &work.sum[chain];
      else if (s->start != SMMA_START_NOTHING)
        t.term[t.count++] = s->start == SMMA_START_C && chain == 0 ? &work.c : &work.zero;
      sum_terms(o, s, &t, &work.result);
      copy(&work.sum[chain], &work.result);
    }
  for (int chain = 0; chain < s->chains; chain++) copy(&x[chain], &work.sum[chain]);
  return s->chains;
}

static int take_step(const smma_operation *o, const smma_step *s, int count, node *x) {
  switch (s->join) {
    case SMMA_JOIN_CHAIN: return sum_chains(o, s, count, x);
    case SMMA_JOIN_APART: return sum_apart(o, s, s->window, count, x);
    case SMMA_JOIN_TREE: break;
  }
  count = sum_apart(o, s, s->window, count, x);
  for (int window = s->window / s->take; window > 1; window /= s->take) count = sum_apart(o, s, window, count, x);
  return count;
}

uint64_t oracle_composition(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t c,
                            const uint64_t *scale_a, const uint64_t *scale_b) {
  const smma_composition *p = &o->rule.with.composition;
  int count = 0;
  prepare();
  work.all_numbers = o->rule.nan == SMMA_NAN_NUMBERS;
  set_number(&work.c, o->c, c, o->d, p->subnormal_c, o->d);
  set_number(&work.zero, o->d, 0, o->d, SMMA_SUBNORMALS_KEPT, o->d);
  for (int phase = p->first_phase; phase < p->first_phase + p->phases; phase++)
    for (int k = 0; k < o->k; k++) set_product(&work.product[count++], o, k, phase, a, b);
  for (int step = 0; step <= p->steps; step++) {
    if (step > 0) count = take_step(o, &p->step[step - 1], count, work.product);
    if (step == p->scaled_step && o->scale_block) scale_nodes(o, work.product, count, scale_a, scale_b);
  }
  return work.product[0].code;
}
