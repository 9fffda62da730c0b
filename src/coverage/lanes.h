/* Rows counted sixteen at a time, a row to a lane: the watched sums once more, in 64 bits, as plain loops over lanes,
   in arithmetic, as loops with branches become no vectors. Roundings, and what becomes of them, are the core's and the
   watcher's. Rows with special values, and whose sums need more bits, are left to see_row, as are all rows of a rule
   that lanes do not take. For watch.c alone. */
#ifndef SMMA_COVERAGE_LANES_H
#define SMMA_COVERAGE_LANES_H

#include <string.h>

#include "coverage/events.h"
#include "host/load.h"
#include "host/memory.h"

/* Terms are below 2^MOST_BITS in units of their sum, so that 512 of them do not overflow. */
enum { LANES = 16, MOST_BITS = 54, MOST_NODES = 192, MOST_SEEN = 768 };

#define LANE_BODY static inline __attribute__((always_inline))
#define FOR_LANES _Pragma("omp simd") for (int l = 0; l < LANES; l++)

/* A node of each row: its smma_node. Of truths all bits are set, but negative is 0 or 1; special is SMMA_INFINITE,
   SMMA_NAN or 0. */
typedef struct {
  _Alignas(SMMA_ALIGNMENT) uint64_t significand[LANES];
  int64_t exponent[LANES], negative[LANES], finite[LANES], special[LANES];
  int fraction_bits;
} lane_node;

/* Of a step: its blocks of events, and smma_rounds_up of (negative, odd, half, rest), as bits of a number, for terms
   and accumulators. */
typedef struct {
  const smma_step *s;
  const smma_event_step *has;
  const smma_event_block *block[SMMA_EVENT_KINDS][3];
  uint64_t rounds_up[2];
} lane_step;

typedef struct {
  const smma_event_space *space;
  lane_step step[SMMA_MAXIMUM_STEPS];
  _Alignas(SMMA_ALIGNMENT) uint64_t code[LANES];
  int64_t left[LANES];    /* not 0 of a row for see_row */
  int64_t special[LANES]; /* not 0 of a row with special operands */
  lane_node node[MOST_NODES], b[MOST_NODES], c, zero;
  lane_node scale_a[SMMA_MAXIMUM_ROUNDED_K], scale_b[SMMA_MAXIMUM_ROUNDED_K];
  _Alignas(SMMA_ALIGNMENT) int32_t event[MOST_SEEN][LANES];
  int seen; /* events that are seen in all rows at once; where there is none, one behind the last */
  uint64_t d[LANES];
  watch row[LANES]; /* what is told of one row, of its roundings */
  size_t told[LANES][MOST_SEEN];
} lanes;

LANE_BODY int64_t truth(bool x) { return -(int64_t)x; }
LANE_BODY int64_t choose(int64_t which, int64_t x, int64_t y) { return (which & x) | (~which & y); }
LANE_BODY int64_t greater(int64_t x, int64_t y) { return x > y ? x : y; }
LANE_BODY int64_t lesser(int64_t x, int64_t y) { return x < y ? x : y; }

/* The bits up to the leading one of x < 2^63, by a double's exponent; without the bit behind the leading one no
   rounding reaches the next power of two. Of zero some negative number. */
LANE_BODY int64_t bit_length(uint64_t x) {
  const double y = (double)(int64_t)(x & ~(x >> 1));
  int64_t bits;
  memcpy(&bits, &y, sizeof bits);
  return (bits >> 52) - 1022;
}

LANE_BODY void leading_exponents(const lane_node *n, int64_t *leads) {
  FOR_LANES {
    const int64_t leading = bit_length(n->significand[l]) - 1 + n->exponent[l] - n->fraction_bits;
    leads[l] = choose(truth(n->significand[l] != 0), leading, n->exponent[l]);
  }
}

/* (-1)^negative x; negative is 0 or 1. */
LANE_BODY uint64_t with_sign(uint64_t x, int64_t negative) {
  return (x ^ (0 - (uint64_t)negative)) + (uint64_t)negative;
}

LANE_BODY smma_number lane_number(const lane_node *n, int l) {
  const int64_t kind = n->special[l] ? n->special[l] : n->finite[l] ? SMMA_FINITE : SMMA_ZERO;
  return (smma_number){n->significand[l], (int32_t)n->exponent[l], (int16_t)n->fraction_bits, (uint8_t)kind,
                       (uint8_t)n->negative[l]};
}

LANE_BODY void lane_put(lane_node *n, int l, smma_number y) {
  n->significand[l] = y.significand;
  n->exponent[l] = y.exponent;
  n->negative[l] = y.negative;
  n->finite[l] = truth(y.kind == SMMA_FINITE);
  n->special[l] = y.kind > SMMA_FINITE ? y.kind : 0;
  n->fraction_bits = y.fraction_bits;
}

LANE_BODY void lane_see(lanes *x, const int64_t *event) {
  int32_t *to = x->event[x->seen++];
  FOR_LANES to[l] = (int32_t)event[l];
}

LANE_BODY int64_t event_of(const smma_event_block *block, int place) {
  return (int64_t)block->first + place * block->values;
}

/* ---- Operands ---- */

/* One element of each row, and its class, of which `first` is the first. */
LANE_BODY void lane_operand(lanes *x, smma_encoding f, int64_t first, lane_node *out) {
  const int64_t fraction = (int64_t)smma_low_bits(~UINT64_C(0), f.fraction_bits);
  const int64_t mask = (int64_t)smma_low_bits(~UINT64_C(0), f.exponent_bits + f.fraction_bits);
  const int64_t least = f.specials != SMMA_SPECIALS_POWERS_OF_TWO, most = (int64_t)smma_largest_fields(f);
  const int64_t subnormal = f.exponent_bits ? SMMA_CLASS_SUBNORMAL : SMMA_CLASS_NORMAL;
  const int64_t integer = truth(f.specials == SMMA_SPECIALS_INTEGER);
  const int64_t nan_is_zero = truth(f.specials == SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO);
  const int64_t infinity = f.specials == SMMA_SPECIALS_IEEE ? most + 1 : -1;
  int64_t event[LANES];
  out->fraction_bits = f.fraction_bits;
  FOR_LANES {
    const int64_t code = (int64_t)(x->code[l] >> f.ignored_bits), fields = code & mask;
    const int64_t field = fields >> f.fraction_bits, leading = truth(field >= least);
    const int64_t negative = code >> (f.exponent_bits + f.fraction_bits) & f.sign_bits,
                  complement = integer & -negative;
    const int64_t kept = (fields & fraction) | (leading & (fraction + 1));
    const int64_t significand = choose(complement, fraction + 1 - kept, kept), zero = truth(significand == 0);
    const int64_t special = choose(nan_is_zero, -negative & zero, truth(fields > most));
    const int64_t infinite = truth(fields == infinity), nan = special & ~infinite;
    const int64_t finite_class = choose(leading, SMMA_CLASS_NORMAL, subnormal);
    const int64_t greatest = truth(fields == (~complement & most));
    const int64_t class = choose(greatest, SMMA_CLASS_GREATEST, choose(infinite, SMMA_CLASS_INFINITE, finite_class));
    out->significand[l] = (uint64_t)significand;
    out->exponent[l] = greater(field, least) - f.bias;
    out->negative[l] = negative;
    out->finite[l] = ~zero & ~special;
    out->special[l] = special & choose(infinite, SMMA_INFINITE, SMMA_NAN);
    x->special[l] |= special;
    event[l] = first + choose(nan, SMMA_CLASS_NAN, (~zero & class) + negative);
  }
  lane_see(x, event);
}

/* x * y, exact; of more bits the row is left. */
LANE_BODY void lane_multiply(lanes *x, lane_node *y, const lane_node *z) {
  y->fraction_bits += z->fraction_bits;
  FOR_LANES {
    const int64_t special = truth((y->special[l] | z->special[l]) != 0);
    const int64_t zero = truth((y->finite[l] | y->special[l]) == 0) | truth((z->finite[l] | z->special[l]) == 0);
    const int64_t nan = zero | truth(y->special[l] == SMMA_NAN) | truth(z->special[l] == SMMA_NAN);
    x->left[l] |= ~special & (int64_t)((y->significand[l] | z->significand[l]) >> 31);
    y->significand[l] = (uint64_t)(uint32_t)y->significand[l] * (uint32_t)z->significand[l];
    y->exponent[l] += z->exponent[l];
    y->negative[l] ^= z->negative[l];
    y->special[l] = special & choose(nan, SMMA_NAN, SMMA_INFINITE);
    y->finite[l] &= z->finite[l];
  }
}

/* ---- One sum ---- */

typedef struct {
  _Alignas(SMMA_ALIGNMENT) int64_t reference[LANES], own[LANES],
      most[LANES];                                    /* exponents: the greatest brought, of terms, of leading bits */
  uint64_t sum[LANES];                                /* in two's complement */
  int64_t leading[LANES], zeros[LANES], alone[LANES]; /* terms that lead; zeros of them; the event if one alone does */
  int64_t finite[LANES], special[LANES];
} lane_sum;

LANE_BODY void lane_begin(lane_sum *sum) {
  FOR_LANES {
    sum->reference[l] = sum->own[l] = sum->most[l] = SMMA_NO_EXPONENT;
    sum->sum[l] = 0;
    sum->leading[l] = sum->zeros[l] = sum->alone[l] = sum->finite[l] = sum->special[l] = 0;
  }
}

/* What a term brings, and what it adds to greatest exponents. */
LANE_BODY void lane_bring(lane_sum *sum, const smma_cut *cut, const lane_node *term, int64_t *brought) {
  const int64_t normalized = truth(cut->brings == SMMA_BRINGS_NORMALIZED),
                nothing = truth(cut->brings == SMMA_BRINGS_NOTHING);
  const int64_t own_zero = truth(cut->zero_exponent == SMMA_OWN_EXPONENT), none = SMMA_NO_EXPONENT;
  int64_t leads[LANES];
  leading_exponents(term, leads);
  FOR_LANES {
    const int64_t exponent = term->exponent[l], finite = term->finite[l];
    const int64_t of_zero = choose(own_zero, exponent, cut->zero_exponent);
    const int64_t e = choose(finite, choose(normalized, leads[l], exponent), of_zero);
    brought[l] = choose(~nothing & truth(e > none), greater(e + cut->offset, cut->least), none);
    sum->reference[l] = greater(sum->reference[l], brought[l]);
    sum->own[l] = greater(sum->own[l], choose(finite, exponent, none));
    sum->most[l] = greater(sum->most[l], choose(finite, leads[l], none));
    sum->finite[l] |= finite;
    sum->special[l] |= truth(term->special[l] != 0);
  }
}

/* The reference exponent; where nothing is brought, the greatest of terms that are not zero, and none of special sums.
 */
LANE_BODY void lane_refer(lane_sum *sum, int reference) {
  const int64_t given = truth(reference != SMMA_NONE), no_exponent = SMMA_NO_EXPONENT;
  FOR_LANES {
    const int64_t none = truth(sum->reference[l] == no_exponent), special = sum->special[l];
    const int64_t brought = choose(none, sum->own[l], sum->reference[l]);
    sum->reference[l] = choose(special, no_exponent, choose(given, reference, brought));
    sum->most[l] = choose(special, no_exponent, sum->most[l]);
  }
}

/* Adds a term, with an eye on where it begins, what is cut and whether it leads. */
LANE_BODY void lane_add(lanes *x, lane_sum *sum, const lane_step *step, smma_event_owner owner, int sum_bits, int place,
                        const lane_node *term, const int64_t *brought) {
  const smma_cut *cut = owner == SMMA_OF_TERMS ? &step->s->term : &step->s->accumulator;
  const smma_event_block *const *block[] = {step->block[SMMA_EVENT_GAP], step->block[SMMA_EVENT_LEAD],
                                            step->block[SMMA_EVENT_LOST]};
  const smma_event_block *gap = block[0][owner - SMMA_OF_TERMS], *lead = block[1][owner - SMMA_OF_TERMS];
  const int64_t lost = event_of(block[2][owner - SMMA_OF_TERMS], 0), no_event = (int64_t)x->space->events;
  const uint64_t table = step->rounds_up[owner - SMMA_OF_TERMS];
  const int64_t up = sum_bits - cut->bits, least = SMMA_NO_EXPONENT, drops = truth(cut->drop != SMMA_NONE);
  int64_t losts[LANES];
  FOR_LANES {
    const uint64_t significand = term->significand[l];
    const int64_t reference = sum->reference[l], last = term->exponent[l] - term->fraction_bits;
    const int64_t shift = reference - cut->bits - last, below = truth(shift > 0), e = brought[l];
    const int64_t right = lesser(greater(shift - 1, 0), 63), left = lesser(greater(-shift, 0), 63);
    const int64_t dropped = drops & truth(e > least) & truth(e < reference - cut->drop);
    const int64_t counts = term->finite[l] & ~sum->special[l];
    const uint64_t halves = significand >> right;
    const int64_t half = below & 1 & (int64_t)halves, rest = below & 1 & truth(halves << right != significand);
    const uint64_t kept = (uint64_t)choose(below, (int64_t)(halves >> 1), (int64_t)(significand << left));
    const int64_t remainder = term->negative[l] | (int64_t)(kept & 1) << 1 | half << 2 | rest << 3;
    const uint64_t magnitude = (uint64_t)~dropped & ((kept + (table >> remainder & 1)) << up);
    const int64_t all = dropped | (below & truth(halves == 0)), part = rest + 2 * half;
    x->left[l] |= counts & ~dropped & (int64_t)(significand >> greater(MOST_BITS - up - left, 0));
    sum->sum[l] += with_sign(magnitude, term->negative[l]);
    losts[l] = choose(counts, lost + 2 * choose(all, SMMA_LOST_ALL, part) + term->negative[l], no_event);
  }
  lane_see(x, losts);
  if (!gap) return;
  const int64_t begins_at = event_of(gap, place), more = gap->values - 1, alone = event_of(lead, place);
  int64_t gaps[LANES];
  FOR_LANES {
    const int64_t e = brought[l], leads = truth(e == sum->reference[l]);
    const int64_t from = choose(truth(e > least), e, term->exponent[l]), value = sum->reference[l] - from + 1;
    sum->leading[l] -= leads;
    sum->zeros[l] -= leads & ~term->finite[l];
    sum->alone[l] = choose(leads, alone, sum->alone[l]);
    gaps[l] = choose(term->finite[l] & ~sum->special[l], begins_at + greater(lesser(value, more), 0), no_event);
  }
  lane_see(x, gaps);
}

/* Who brings the reference exponent. */
LANE_BODY void lane_see_lead(lanes *x, const lane_sum *sum, const smma_event_block *block) {
  const int64_t first = event_of(block, 0), no_event = (int64_t)x->space->events;
  int64_t event[LANES];
  FOR_LANES {
    const int64_t leading = sum->leading[l], zeros = sum->zeros[l];
    const int64_t several = choose(truth(leading == 2), SMMA_LEAD_TWO, SMMA_LEAD_MORE);
    const int64_t some = choose(truth(zeros == leading), SMMA_LEAD_ZERO, several);
    const int64_t value = choose(truth(leading == 0), SMMA_LEAD_NONE, some);
    const int64_t led = choose(truth(leading == 1) & truth(zeros == 0), sum->alone[l], first + value);
    event[l] = choose(truth(sum->reference[l] == SMMA_NO_EXPONENT), no_event, led);
  }
  lane_see(x, event);
}

/* How far the sum's leading bit is from the greatest term's. */
LANE_BODY void lane_see_shift(lanes *x, const lane_sum *sum, int sum_bits, const smma_event_block *block) {
  const int64_t first = event_of(block, 0), no_event = (int64_t)x->space->events;
  int64_t event[LANES];
  FOR_LANES {
    const uint64_t magnitude = with_sign(sum->sum[l], (int64_t)(sum->sum[l] >> 63));
    const int64_t shift = sum->reference[l] - sum_bits + bit_length(magnitude) - 1 - sum->most[l];
    const int64_t cancelled = SMMA_MOST_CARRY + lesser(-shift, SMMA_MOST_CANCELLED + 1);
    const int64_t some = choose(truth(shift < 0), cancelled, lesser(shift, SMMA_MOST_CARRY));
    const int64_t value = choose(truth(magnitude == 0), SMMA_SHIFTS - 1, some);
    event[l] = choose(truth(sum->most[l] == SMMA_NO_EXPONENT), no_event, first + value);
  }
  lane_see(x, event);
}

/* What the accumulator is that a sum takes. */
LANE_BODY void lane_see_link(lanes *x, const lane_step *step, int number, const lane_node *accumulator) {
  const int64_t first = event_of(step->block[SMMA_EVENT_LINK][SMMA_OF_ACCUMULATORS - SMMA_OF_TERMS], number);
  const int64_t subnormals = truth(step->s->output != SMMA_NO_FORMAT);
  int64_t event[LANES];
  FOR_LANES {
    const int64_t subnormal = subnormals & truth(accumulator->significand[l] >> accumulator->fraction_bits == 0);
    const int64_t some = choose(subnormal, SMMA_LINK_SUBNORMAL, SMMA_LINK_NORMAL);
    const int64_t special = accumulator->special[l], of_special = SMMA_LINK_INFINITE + special - SMMA_INFINITE;
    event[l] = first + choose(truth(special != 0), of_special, accumulator->finite[l] & some);
  }
  lane_see(x, event);
}

/* The sum as a node. */
LANE_BODY void lane_end(const lane_sum *sum, int bits, lane_node *out) {
  out->fraction_bits = bits;
  FOR_LANES {
    const int64_t negative = (int64_t)(sum->sum[l] >> 63);
    out->significand[l] = with_sign(sum->sum[l], negative);
    out->exponent[l] = sum->reference[l];
    out->negative[l] = negative;
    out->finite[l] = sum->finite[l];
    out->special[l] = 0;
  }
}

/* What a width holds of a row's sum. */
LANE_BODY uint64_t limit_lane(watch *w, const smma_step *s, uint64_t sum) {
  const smma_bits128 whole = {(int64_t)sum < 0 ? ~UINT64_C(0) : 0, sum};
  const uint64_t limited = smma_limit_width(whole, s->width, s->width_overflow).low;
  if (limited != sum && s->output != SMMA_NO_FORMAT) see_width(w);
  return limited;
}

/* The sum of one row rounded to the step's output, by the core. */
LANE_BODY void round_lane(lanes *x, const smma_step *s, const lane_node *const *term, int count, const lane_node *cut,
                          int l, lane_node *out) {
  const smma_encoding f = smma_encoding_of(s->output);
  const smma_leading sum = smma_leading_of(smma_node_of(lane_number(cut, l), 0));
  smma_node node[MOST_NODES + 1]; /* which nobody looks at where the sum is not zero */
  for (int i = 0; i < count && !sum.significand; i++) node[i] = smma_node_of(lane_number(term[i], l), 0);
  x->d[l] = smma_composed_code(s, sum, node, count);
  if (sum.significand)
    see_rounded(&x->row[l], s, sum, x->d[l]);
  else
    see_zero(&x->row[l], node, count, x->d[l], f);
  lane_put(out, l, smma_decode(f, x->d[l]));
}

/* The sum of one row of which a term is special, by the core. */
LANE_BODY void special_lane(lanes *x, const smma_step *s, const lane_node *const *term, int count, int l,
                            lane_node *out) {
  smma_node node[MOST_NODES + 1], sum;
  for (int i = 0; i < count; i++) node[i] = smma_node_of(lane_number(term[i], l), 0);
  sum = smma_fuse_unwatched(s, x->space->operation.rule.nan, node, count);
  see_special_sum(&x->row[l], s, smma_special_terms(node, count).kind == SMMA_NAN);
  x->d[l] = sum.code;
  if (s->output == SMMA_NO_FORMAT) sum.fraction_bits = (int16_t)out->fraction_bits; /* as the other rows have them */
  lane_put(out, l, (smma_number){sum.significand.low, sum.exponent, sum.fraction_bits, sum.kind, sum.negative});
}

/* smma_fuse, of which the accumulator is the last of `count` terms if there are more than a group takes. */
LANE_BODY void lane_fuse(lanes *x, const lane_step *step, int number, const lane_node *const *term, int count,
                         lane_node *out) {
  const smma_step *s = step->s;
  const bool accumulates = count > s->take;
  const int bits = smma_sum_bits(s, count), *place = step->has->place + number * s->take;
  lane_sum sum;
  _Alignas(SMMA_ALIGNMENT) int64_t brought[MOST_NODES + 1][LANES];
  lane_node cut;
  lane_begin(&sum);
  if (accumulates) lane_see_link(x, step, number, term[s->take]);
  for (int i = 0; i < count; i++) lane_bring(&sum, smma_cut_of(s, i), term[i], brought[i]);
  lane_refer(&sum, s->reference);
  for (int i = 0; i < s->take; i++) lane_add(x, &sum, step, SMMA_OF_TERMS, bits, place[i], term[i], brought[i]);
  if (accumulates) lane_add(x, &sum, step, SMMA_OF_ACCUMULATORS, bits, number, term[s->take], brought[s->take]);
  for (int l = 0; l < LANES && s->width != SMMA_NONE; l++)
    if (!sum.special[l]) sum.sum[l] = limit_lane(&x->row[l], s, sum.sum[l]);
  if (s->reference == SMMA_NONE) lane_see_lead(x, &sum, step->block[SMMA_EVENT_LEAD][SMMA_OF_SUMS - SMMA_OF_TERMS]);
  lane_see_shift(x, &sum, bits, step->block[SMMA_EVENT_SHIFT][SMMA_OF_SUMS - SMMA_OF_TERMS]);
  lane_end(&sum, bits, &cut);
  *out = cut;
  for (int l = 0; l < LANES; l++)
    if (x->left[l] && s->output != SMMA_NO_FORMAT)
      lane_put(out, l, smma_decode(smma_encoding_of(s->output), 0));
    else if (sum.special[l])
      special_lane(x, s, term, count, l, out);
    else if (s->output != SMMA_NO_FORMAT)
      round_lane(x, s, term, count, &cut, l, out);
}

/* ---- Steps ---- */

LANE_BODY lane_step lane_step_of(const smma_event_space *space, int n) {
  const smma_step *s = &space->operation.rule.with.composition.step[n];
  const smma_rounding rounding[] = {s->term.rounding, s->accumulator.rounding};
  lane_step step = {.s = s, .has = &space->step[n]};
  for (int kind = 0; kind < SMMA_EVENT_KINDS; kind++)
    for (int owner = 0; owner < 3; owner++)
      if (space->of[kind][n][owner] >= 0) step.block[kind][owner] = &space->block[space->of[kind][n][owner]];
  for (int i = 0; i < 32; i++)
    step.rounds_up[i / 16] |= (uint64_t)smma_rounds_up(rounding[i / 16], i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1)
                              << i % 16;
  return step;
}

/* Fuses the nodes of a step into `fused`. */
LANE_BODY void lane_take_step(lanes *x, const lane_step *step, int fused) {
  const smma_step *s = step->s;
  const smma_event_step *has = step->has;
  const bool chain = s->join == SMMA_JOIN_CHAIN;
  const int length = chain ? has->sums / s->chains : 1;
  const lane_node *term[MOST_NODES + 1];
  for (int l = 0; l < LANES; l++) x->row[l].step = (int)(step - x->step);
  for (int number = 0; number < has->sums; number++) {
    const int link = number % length;
    const bool alone = !chain || (link == 0 && s->start == SMMA_START_NOTHING);
    for (int i = 0; i < s->take; i++) term[i] = &x->node[has->place[number * s->take + i]];
    term[s->take] = &x->zero;
    if (link > 0) term[s->take] = &x->node[has->nodes + number - 1];
    if (number == 0 && s->start == SMMA_START_C) term[s->take] = &x->c;
    lane_fuse(x, step, number, term, alone ? s->take : s->take + 1, &x->node[has->nodes + number]);
  }
  for (int n = 0; n < fused; n++)
    x->node[n] = x->node[has->nodes + (chain ? (n + 1) * length - 1 : has->sums - fused + n)];
}

/* Whether lanes compute the rule's sums. */
static bool lanes_take(const smma_event_space *space) {
  const smma_operation *o = &space->operation;
  const smma_composition *p = &o->rule.with.composition;
  int seen = 2 * (o->k + smma_scale_count(o->k, o->scale_block)) + 2;
  if (p->product != SMMA_PRODUCT_MULTIPLIED || p->widen != SMMA_NO_FORMAT) return false;
  if (p->subnormal_a != SMMA_SUBNORMALS_KEPT || p->subnormal_b != SMMA_SUBNORMALS_KEPT) return false;
  if (smma_encoding_of(o->a).bits > 32 || smma_encoding_of(o->b).bits > 32) return false;
  for (int n = 0; n < p->steps; n++) {
    const smma_step *s = &p->step[n];
    const smma_event_step *has = &space->step[n];
    const bool chain = s->join == SMMA_JOIN_CHAIN;
    const int apart = chain ? abs(s->term.bits - s->accumulator.bits) : 0;
    if (s->term.bits == SMMA_EXACT_ALIGNMENT || apart > MOST_BITS || smma_complements(s, s->take + chain)) return false;
    if (has->nodes + has->sums > MOST_NODES) return false;
    seen += has->sums * (2 * s->take + 5);
  }
  return seen <= MOST_SEEN;
}

/* ---- Rows ---- */

/* The elements of a part of rows from `first` on. */
LANE_BODY void lane_part(lanes *x, const smma_rows *rows, size_t first, size_t count, smma_event_owner owner,
                         lane_node *out) {
  static const smma_part_id ids[] = {SMMA_PART_A, SMMA_PART_B, SMMA_PART_C, SMMA_PART_SCALE_A, SMMA_PART_SCALE_B};
  const smma_part_id id = ids[owner];
  const smma_part *part = &rows->layout.part[id];
  const smma_encoding f = smma_encoding_of(part->format);
  for (int i = 0; i < part->count; i++) {
    for (size_t l = 0; l < LANES; l++) {
      const size_t r = first + (l < count ? l : 0);
      x->code[l] = smma_load(part->bytes, rows->part[id] + r * smma_part_stride(part), (size_t)i);
    }
    lane_operand(x, f, event_of(&x->space->block[owner], i), &out[i]);
  }
}

/* C as a term, in the format of d. */
LANE_BODY void lane_addend(lanes *x) {
  const smma_operation *o = &x->space->operation;
  const smma_subnormal_policy subnormals = o->rule.with.composition.subnormal_c;
  for (int l = 0; l < LANES && (x->space->c != o->d || subnormals != SMMA_SUBNORMALS_KEPT); l++) {
    const uint64_t c = smma_reformat(x->space->c, o->d, o->rule.nan, x->code[l]);
    lane_put(&x->c, l, smma_flush(subnormals, smma_decode(smma_encoding_of(o->d), c)));
  }
}

/* Every node times its scale factors. */
LANE_BODY void lane_scale(lanes *x, int nodes) {
  const smma_operation *o = &x->space->operation;
  for (int i = 0; i < nodes && o->scale_block; i++) {
    const int s = o->k / nodes * i / o->scale_block;
    lane_multiply(x, &x->node[i], &x->scale_a[s]);
    lane_multiply(x, &x->node[i], &x->scale_b[s]);
  }
}

/* Leaves rows with products that are not below 2^limit. */
LANE_BODY void lane_limit(lanes *x, const lane_node *product, int limit) {
  int64_t leads[LANES];
  leading_exponents(product, leads);
  FOR_LANES x->left[l] |= product->finite[l] & truth(leads[l] >= limit);
}

/* What is special in a row, and whether its NaN are those of operands, which lanes do not keep. */
LANE_BODY void see_special_lane(lanes *x, int l) {
  const smma_operation *o = &x->space->operation;
  smma_decoded row;
  for (int k = 0; k < o->k; k++) row.a[k] = lane_number(&x->node[k], l), row.b[k] = lane_number(&x->b[k], l);
  for (int i = 0; i < smma_scale_count(o->k, o->scale_block); i++)
    row.scale_a[i] = lane_number(&x->scale_a[i], l), row.scale_b[i] = lane_number(&x->scale_b[i], l);
  x->row[l].step = 0;
  see_special(&x->row[l], &row, lane_number(&x->c, l));
  x->left[l] |= !smma_has_one_nan(o->rule.nan);
}

LANE_BODY void lane_products(lanes *x) {
  const smma_operation *o = &x->space->operation;
  const int limit = o->rule.with.composition.product_limit;
  for (int k = 0; k < o->k; k++) {
    lane_multiply(x, &x->node[k], &x->b[k]);
    if (limit != SMMA_NONE) lane_limit(x, &x->node[k], limit);
  }
}

/* Counts the events of at most LANES rows, but for those that are left. */
LANE_BODY void count_lanes(lanes *x, const smma_rows *rows, size_t first, size_t count, uint64_t *hits, uint64_t *d) {
  const smma_operation *o = &x->space->operation;
  const smma_composition *p = &o->rule.with.composition;
  x->seen = 0;
  for (size_t l = 0; l < LANES; l++) x->left[l] = l >= count, x->special[l] = x->row[l].count = 0;
  lane_part(x, rows, first, count, SMMA_OF_A, x->node);
  lane_part(x, rows, first, count, SMMA_OF_B, x->b);
  lane_part(x, rows, first, count, SMMA_OF_SCALE_A, x->scale_a);
  lane_part(x, rows, first, count, SMMA_OF_SCALE_B, x->scale_b);
  lane_part(x, rows, first, count, SMMA_OF_C, &x->c);
  for (int l = 0; l < (int)count; l++)
    if (x->special[l]) see_special_lane(x, l);
  lane_addend(x);
  lane_products(x);
  for (int step = 0; step <= p->steps; step++) {
    const int nodes = step < p->steps ? x->space->step[step].nodes : 1;
    if (step > 0) lane_take_step(x, &x->step[step - 1], nodes);
    if (step == p->scaled_step) lane_scale(x, nodes);
  }
  for (size_t l = 0; l < count; l++) {
    if (x->left[l]) continue;
    for (int n = 0; n < x->seen; n++) hits[x->event[n][l]]++;
    for (int n = 0; n < x->row[l].count; n++) hits[x->row[l].told[n]]++;
    d[l] = smma_returned(o, x->d[l]);
  }
}

#endif
