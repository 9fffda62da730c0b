/* Computes a row in the core's way and reports the events of every sum. */

/* These macros are defined before the core is included. So this file gets a copy of the core that calls the functions
   below after every sum. */
#define SMMA_EVALUATOR static inline
static void watch_sum(const void *step, const void *term, int count, const void *sum);
static void watch_cut_sum(const void *sum);
#define SMMA_WATCH_SUM(step, term, count, sum) watch_sum(step, term, count, &(sum))
#define SMMA_WATCH_CUT_SUM(sum) watch_cut_sum(&(sum))

#include <stdlib.h>
#include <string.h>

#include "coverage/events.h"
#include "host/cpu.h"
#include "host/thread.h"

/* The state of one thread's watching: the row that it computes, and where its events go. */
typedef struct {
  const smma_event_space *space;
  const smma_event_watcher *watcher; /* or NULL: then events are counted in `hits`, or listed in `event_list` */
  uint64_t *hits;
  size_t *event_list;
  int count;
  int step, sum; /* step and number of the next sum */
  smma_node cut; /* the last sum of truncated terms, before rounding */
} watch;

static _Thread_local watch *watching;

static inline void record_event(watch *w, size_t event) {
  if (w->event_list)
    w->event_list[w->count++] = event;
  else if (w->hits)
    w->hits[event]++;
  else
    w->watcher->happened(w->watcher->context, event);
}

/* Reports the event of a block with this place and value. */
static inline void report(watch *w, int block, int place, int value) {
  const smma_event_block *b = &w->space->block[block];
  record_event(w, b->first + (size_t)(place * b->values + value));
}

static inline int block_of(const watch *w, smma_event_kind kind, smma_event_owner owner) {
  return w->space->of[kind][w->step][owner - SMMA_OWNER_TERMS];
}

/* ---- Terms ---- */

/* Returns how many binades term i begins below the reference exponent. */
static int gap_of(const smma_step *s, int i, smma_node term, int reference) {
  const int brought = smma_brought_exponent(smma_cut_of(s, i), term);
  return reference - (brought == SMMA_NO_EXPONENT ? term.exponent : brought);
}

static smma_lost lost_of(const smma_step *s, int i, smma_node term, int reference) {
  const int shift = reference - smma_cut_of(s, i)->bits - (term.exponent - term.fraction_bits);
  bool half, rest;
  if (smma_is_dropped(s, i, term, reference)) return SMMA_LOST_ALL;
  if (shift <= 0) return SMMA_LOST_NOTHING;
  if (shift > smma_bit_length_bits128(term.significand)) return SMMA_LOST_ALL;
  half = smma_shift_right_bits128(term.significand, shift - 1).low & 1;
  rest = smma_has_low_bits128(term.significand, shift - 1);
  return half ? (rest ? SMMA_LOST_MORE : SMMA_LOST_HALF) : rest ? SMMA_LOST_LESS : SMMA_LOST_NOTHING;
}

static void report_term(watch *w, const smma_step *s, int i, smma_node term, int place, int reference) {
  const smma_event_owner owner = i == s->take ? SMMA_OWNER_ACCUMULATORS : SMMA_OWNER_TERMS;
  const int block = block_of(w, SMMA_EVENT_GAP, owner), lost = block_of(w, SMMA_EVENT_LOST, owner);
  if (term.kind != SMMA_FINITE) return;
  if (block >= 0) {
    const int gap = gap_of(s, i, term, reference), more = w->space->block[block].values - 1;
    report(w, block, place, gap < 0 ? 0 : smma_minimum(gap + 1, more));
  }
  if (lost >= 0) report(w, lost, 0, 2 * (int)lost_of(s, i, term, reference) + term.negative);
}

static void report_lead(watch *w, const smma_step *s, const smma_node *term, const int *place, int count,
                        int reference) {
  int leading = 0, first = 0, zeros = 0;
  for (int i = 0; i < count; i++) {
    const int brought = smma_brought_exponent(smma_cut_of(s, i), term[i]);
    if (brought == SMMA_NO_EXPONENT || smma_coarse_exponent(s, brought) != reference) continue;
    if (leading++ == 0) first = i;
    zeros += term[i].kind == SMMA_ZERO;
  }
  if (leading == 1 && !zeros)
    report(w, block_of(w, SMMA_EVENT_LEAD, first == s->take ? SMMA_OWNER_ACCUMULATORS : SMMA_OWNER_TERMS), place[first],
           0);
  else
    report(w, block_of(w, SMMA_EVENT_LEAD, SMMA_OWNER_SUMS), 0,
           leading == 0       ? SMMA_LEAD_NONE
           : zeros == leading ? SMMA_LEAD_ZERO
           : leading == 2     ? SMMA_LEAD_TWO
                              : SMMA_LEAD_MORE);
}

/* ---- The sum ---- */

/* Returns the exponent of the greatest term's leading bit. */
static int greatest_of(const smma_node *term, int count) {
  int most = SMMA_NO_EXPONENT;
  for (int i = 0; i < count; i++)
    if (term[i].kind == SMMA_FINITE) most = smma_maximum(most, smma_node_leading_exponent(term[i]));
  return most;
}

static void report_shift(watch *w, smma_leading sum, const smma_node *term, int count) {
  const int block = block_of(w, SMMA_EVENT_SHIFT, SMMA_OWNER_SUMS), most = greatest_of(term, count);
  int shift;
  if (most == SMMA_NO_EXPONENT) return;
  shift = sum.significand ? smma_leading_exponent(sum) - most : 0;
  if (!sum.significand)
    report(w, block, 0, SMMA_SHIFTS - 1);
  else if (shift >= 0)
    report(w, block, 0, smma_minimum(shift, SMMA_MOST_CARRY));
  else
    report(w, block, 0, SMMA_MOST_CARRY + smma_minimum(-shift, SMMA_MOST_CANCELLED + 1));
}

/* Returns the bit of x that has the weight 2^at. */
static bool bit_at(smma_leading x, int at) {
  const int shift = at - x.exponent;
  return shift >= 0 && shift < 64 && (x.significand >> shift & 1);
}

static bool any_below(smma_leading x, int at) {
  const int shift = at - x.exponent;
  return x.sticky || (shift > 0 && smma_low_bits(x.significand, shift < 64 ? shift : 64) != 0);
}

static void report_zero(watch *w, const smma_node *term, int count, uint64_t code, smma_encoding f) {
  const int block = block_of(w, SMMA_EVENT_RESULT, SMMA_OWNER_SUMS);
  bool zeros = true;
  for (int i = 0; i < count; i++) zeros = zeros && term[i].kind == SMMA_ZERO;
  report(w, block, 0,
         !zeros                          ? SMMA_RESULT_CANCELLED
         : smma_decode(f, code).negative ? SMMA_RESULT_MINUS_ZERO
                                         : SMMA_RESULT_ZERO);
}

/* Returns the magnitude of x in units of 2^last, truncated. */
static uint64_t units_of(smma_leading x, int last) {
  const int shift = last - x.exponent;
  return shift >= 64 ? 0 : shift >= 0 ? x.significand >> shift : x.significand << -shift;
}

/* Reports whether rounding adds one unit of 2^last to a sum that has `kept` whole units. */
static bool is_rounded_up(const smma_step *s, smma_encoding f, smma_leading x, int last, uint64_t kept) {
  const int binade = smma_leading_exponent(x) - smma_minimum_exponent(f) + 1;
  const bool odd = smma_rounds_by_code(f) ? (binade & 1) && kept : kept & 1;
  return smma_rounds_up(s->rounding, x.negative, odd, bit_at(x, last - 1), any_below(x, last - 1));
}

/* Reports the events of a nonzero sum that is rounded to the output. */
static void report_rounding(watch *w, const smma_step *s, smma_leading x, uint64_t code) {
  const smma_nan_policy nan = w->space->operation.rule.nan;
  const smma_encoding of_output = smma_encoding_of(s->output);
  const smma_encoding f = s->overflow == SMMA_SUM_SATURATES ? smma_readable_encoding(nan, of_output) : of_output;
  const int result = block_of(w, SMMA_EVENT_RESULT, SMMA_OWNER_SUMS), least = smma_minimum_exponent(f);
  const smma_number most = smma_decode(f, smma_largest_fields(f) << f.ignored_bits), d = smma_decode(f, code);
  const int leads = smma_leading_exponent(x);
  const bool subnormal = leads < least;
  const int last = (subnormal ? least : leads) - f.fraction_bits;
  const bool guard = bit_at(x, last - 1), sticky = any_below(x, last - 1);
  const uint64_t kept = units_of(x, last);
  uint64_t units;
  if (leads > most.exponent || (leads == most.exponent && kept > most.significand)) {
    report(w, result, 0, SMMA_RESULT_OVERFLOW);
    return;
  }
  report(w, block_of(w, SMMA_EVENT_ROUND, SMMA_OWNER_SUMS), 0,
         (int)(kept & 1) | guard << 1 | sticky << 2 | x.negative << 3 | subnormal << 4);
  if (d.kind > SMMA_FINITE ||
      (leads == most.exponent && kept == most.significand && is_rounded_up(s, f, x, last, kept))) {
    report(w, result, 0, SMMA_RESULT_ROUNDED_OVERFLOW);
    return;
  }
  if (d.kind == SMMA_ZERO) {
    report(w, result, 0, SMMA_RESULT_UNDERFLOW);
    return;
  }
  units = d.significand << (d.exponent - d.fraction_bits - last);
  report(w, result, 0, !guard && !sticky ? SMMA_RESULT_EXACT : units > kept ? SMMA_RESULT_AWAY : SMMA_RESULT_TO_ZERO);
  if (smma_bit_length(units) > smma_bit_length(kept))
    report(w, result, 0,
           subnormal && smma_bit_length(units) > f.fraction_bits ? SMMA_RESULT_LEAST_NORMAL : SMMA_RESULT_NEXT_BINADE);
  if (smma_bit_length(units) + last <= least) report(w, result, 0, SMMA_RESULT_SUBNORMAL);
  if (d.exponent == most.exponent && d.significand == most.significand) report(w, result, 0, SMMA_RESULT_GREATEST);
}

static smma_leading unrounded(const watch *w, const smma_step *s, const smma_node *term, int count) {
  return smma_is_exact(s, count) ? smma_uncut_sum(s, term, count) : smma_leading_of(w->cut);
}

/* Returns how a nonzero sum becomes the integer d. A sum overflows if its rounded value is outside the format. */
static smma_result_event integer_result(const smma_step *s, smma_encoding f, smma_leading x, smma_number d) {
  const int last = smma_minimum_exponent(f) - f.fraction_bits;
  const uint64_t most = x.negative ? (f.sign_bits ? smma_largest_fields(f) + 1 : 0) : smma_largest_fields(f);
  uint64_t kept;
  bool up;
  if (smma_leading_exponent(x) - last >= f.bits) return SMMA_RESULT_OVERFLOW;
  kept = units_of(x, last);
  up = is_rounded_up(s, f, x, last, kept);
  if (kept + up > most) return SMMA_RESULT_OVERFLOW;
  if (d.kind == SMMA_ZERO) return SMMA_RESULT_UNDERFLOW;
  return !any_below(x, last) ? SMMA_RESULT_EXACT : up ? SMMA_RESULT_AWAY : SMMA_RESULT_TO_ZERO;
}

/* Reports the events of a nonzero sum that becomes an integer. */
static void report_integer(watch *w, const smma_step *s, smma_leading x, uint64_t code) {
  const smma_encoding f = smma_encoding_of(s->output);
  const smma_number d = smma_decode(f, code);
  const int result = block_of(w, SMMA_EVENT_RESULT, SMMA_OWNER_SUMS);
  report(w, result, 0, integer_result(s, f, x, d));
  if (d.significand == smma_largest_fields(f)) report(w, result, 0, SMMA_RESULT_GREATEST);
}

/* Reports whether the sum has more bits than its width. */
static bool exceeds_width(const watch *w, const smma_step *s, const smma_node *term, int count) {
  smma_step wide = *s;
  const smma_node limited = smma_is_exact(s, count) ? smma_cut_sum(s, term, count) : w->cut;
  smma_node whole;
  wide.width = SMMA_NONE;
  whole = smma_cut_sum(&wide, term, count);
  return whole.negative != limited.negative || whole.significand.high != limited.significand.high ||
         whole.significand.low != limited.significand.low;
}

static void report_width(watch *w) { report(w, block_of(w, SMMA_EVENT_RESULT, SMMA_OWNER_SUMS), 0, SMMA_RESULT_WIDTH); }

/* Reports the events of a nonzero sum; `code` is its encoding in the output's format. */
static void report_rounded(watch *w, const smma_step *s, smma_leading x, uint64_t code) {
  if (s->narrow_bits != SMMA_NONE)
    x = smma_narrowed(x, s->narrow_bits,
                      s->narrow_subnormals ? smma_minimum_exponent(smma_encoding_of(s->output)) : SMMA_NONE,
                      s->narrow_rounding);
  if (x.significand == 0) /* narrowed to zero */
    report(w, block_of(w, SMMA_EVENT_RESULT, SMMA_OWNER_SUMS), 0, SMMA_RESULT_UNDERFLOW);
  else if (smma_is_integer(s->output))
    report_integer(w, s, x, code);
  else
    report_rounding(w, s, x, code);
}

static void report_sum(watch *w, const smma_step *s, const smma_node *term, int count, smma_node sum) {
  const smma_leading x = unrounded(w, s, term, count);
  report_shift(w, x, term, count);
  if (s->output == SMMA_NO_FORMAT) return;
  if (s->width != SMMA_NONE && exceeds_width(w, s, term, count)) report_width(w);
  if (x.significand)
    report_rounded(w, s, x, sum.code);
  else
    report_zero(w, term, count, sum.code, smma_encoding_of(s->output));
}

/* Reports the result of a sum that is not finite. */
static void report_special_sum(watch *w, const smma_step *s, bool nan) {
  if (s->output != SMMA_NO_FORMAT)
    report(w, block_of(w, SMMA_EVENT_RESULT, SMMA_OWNER_SUMS), 0, nan ? SMMA_RESULT_NAN : SMMA_RESULT_INFINITE);
}

/* ---- Chains ---- */

static smma_link_event link_of(const smma_step *s, smma_node n) {
  switch (n.kind) {
    case SMMA_ZERO: return SMMA_LINK_ZERO;
    case SMMA_INFINITE: return SMMA_LINK_INFINITE;
    case SMMA_NAN: return SMMA_LINK_NAN;
    default: break;
  }
  return s->output != SMMA_NO_FORMAT && n.significand.low >> n.fraction_bits == 0 ? SMMA_LINK_SUBNORMAL
                                                                                  : SMMA_LINK_NORMAL;
}

/* Stores the sum of truncated terms. The core reports it before it rounds the sum and calls watch_sum. */
static void watch_cut_sum(const void *sum) {
  if (watching) watching->cut = *(const smma_node *)sum;
}

/* Reports the events of a sum. The core calls it for every sum of a row, in order. */
static void watch_sum(const void *step, const void *terms, int count, const void *of_sum) {
  watch *w = watching;
  const smma_step *s = step;
  const smma_node *term = terms, sum = *(const smma_node *)of_sum;
  const smma_event_step *has;
  int place[SMMA_MAXIMUM_K + 1], reference, number;
  bool special = false, beyond = false; /* beyond: a product above the limit takes part in the chain */
  if (!w) return;
  while (s != &w->space->operation.rule.with.composition.step[w->step]) w->step++, w->sum = 0;
  has = &w->space->step[w->step];
  number = w->sum++;
  for (int i = 0; i < s->take; i++) place[i] = has->place[number * s->take + i];
  place[s->take] = number;
  for (int i = 0; i < count; i++) {
    special = special || term[i].kind > SMMA_FINITE;
    beyond = beyond || (term[i].beyond && s->join == SMMA_JOIN_CHAIN);
  }
  if (count > s->take && block_of(w, SMMA_EVENT_LINK, SMMA_OWNER_ACCUMULATORS) >= 0)
    report(w, block_of(w, SMMA_EVENT_LINK, SMMA_OWNER_ACCUMULATORS), number, link_of(s, term[s->take]));
  if (special || beyond) {
    const bool nan = smma_special_terms(term, count).kind == SMMA_NAN || (beyond && sum.kind == SMMA_NAN);
    report_special_sum(w, s, nan);
    return;
  }
  reference = smma_reference_exponent(s, term, count);
  if (reference != SMMA_NO_EXPONENT) {
    for (int i = 0; i < count; i++) report_term(w, s, i, term[i], place[i], reference);
    if (s->reference == SMMA_NONE) report_lead(w, s, term, place, count, reference);
  }
  report_sum(w, s, term, count, sum);
}

/* ---- Operands ---- */

static smma_operand_class class_by_decoding(smma_encoding f, uint64_t code) {
  const smma_number x = smma_decode(f, code);
  const uint64_t fields = smma_low_bits(code >> f.ignored_bits, f.exponent_bits + f.fraction_bits);
  const uint64_t most = f.specials == SMMA_SPECIALS_INTEGER && x.negative ? 0 : smma_largest_fields(f);
  smma_operand_class class = SMMA_CLASS_NORMAL;
  if (x.kind == SMMA_NAN) return SMMA_CLASS_NAN;
  if (x.kind == SMMA_ZERO)
    class = SMMA_CLASS_ZERO;
  else if (x.kind == SMMA_INFINITE)
    class = SMMA_CLASS_INFINITE;
  else if (fields == most)
    class = SMMA_CLASS_GREATEST;
  else if (f.exponent_bits && fields >> f.fraction_bits == 0 && f.specials != SMMA_SPECIALS_POWERS_OF_TWO)
    class = SMMA_CLASS_SUBNORMAL;
  return (smma_operand_class)(class + x.negative);
}

/* Returns the class of an operand; `most` holds the fields of the greatest number. Tests for normal numbers first,
   because most operands are normal. */
static inline smma_operand_class class_of(smma_encoding f, uint64_t most, uint64_t code) {
  const uint64_t fields = smma_low_bits(code >> f.ignored_bits, f.exponent_bits + f.fraction_bits);
  if (f.exponent_bits && fields >> f.fraction_bits != 0 && fields < most)
    return (smma_operand_class)(SMMA_CLASS_NORMAL + (f.sign_bits && code >> (f.bits - 1) & 1));
  return class_by_decoding(f, code);
}

static void report_operands(watch *w, const smma_row *row) {
  const smma_event_space *space = w->space;
  for (int b = 0; b < space->blocks && space->block[b].kind == SMMA_EVENT_OPERAND; b++) {
    const smma_event_block *block = &space->block[b];
    const uint64_t *const codes[] = {row->a, row->b, &row->c, row->scale_a, row->scale_b};
    const smma_encoding f = smma_encoding_of(smma_event_format(space, block->owner));
    const uint64_t most = smma_largest_fields(f), *code = codes[block->owner];
    for (int i = 0; i < block->places; i++) report(w, b, i, class_of(f, most, code[i]));
  }
}

/* Which special values a row has: NaN in a, b, c or scale factors; 0 x infinity (`zero_times`) and infinity x 0
   (`times_zero`); an infinity in a, b or c (`infinite`), and in c. */
typedef struct {
  bool nan_a, nan_b, nan_c, nan_scale, zero_times, times_zero, infinite, infinite_c;
  bool positive, negative; /* signs of infinite products */
} specials;

static specials specials_of(const smma_operation *o, const smma_decoded *x, smma_number c) {
  specials s = {
      .nan_c = c.kind == SMMA_NAN, .infinite_c = c.kind == SMMA_INFINITE, .infinite = c.kind == SMMA_INFINITE};
  for (int k = 0; k < o->k; k++) {
    const smma_number a = x->a[k], b = x->b[k];
    s.nan_a = s.nan_a || a.kind == SMMA_NAN;
    s.nan_b = s.nan_b || b.kind == SMMA_NAN;
    s.zero_times = s.zero_times || (a.kind == SMMA_ZERO && b.kind == SMMA_INFINITE);
    s.times_zero = s.times_zero || (a.kind == SMMA_INFINITE && b.kind == SMMA_ZERO);
    s.infinite = s.infinite || a.kind == SMMA_INFINITE || b.kind == SMMA_INFINITE;
    if (smma_product(a, b).kind == SMMA_INFINITE) {
      if (a.negative != b.negative)
        s.negative = true;
      else
        s.positive = true;
    }
  }
  for (int i = 0; i < smma_scale_count(o->k, o->scale_block); i++)
    s.nan_scale = s.nan_scale || x->scale_a[i].kind == SMMA_NAN || x->scale_b[i].kind == SMMA_NAN;
  return s;
}

static bool any_special(const smma_operation *o, const smma_decoded *x, smma_number c) {
  bool special = c.kind > SMMA_FINITE;
  for (int k = 0; k < o->k; k++) special = special || x->a[k].kind > SMMA_FINITE || x->b[k].kind > SMMA_FINITE;
  for (int i = 0; i < smma_scale_count(o->k, o->scale_block); i++)
    special = special || x->scale_a[i].kind > SMMA_FINITE || x->scale_b[i].kind > SMMA_FINITE;
  return special;
}

static void report_special(watch *w, const smma_decoded *x, smma_number c) {
  const int block = block_of(w, SMMA_EVENT_SPECIAL, SMMA_OWNER_SUMS);
  specials s;
  if (block < 0 || w->space->operation.rule.nan == SMMA_NAN_NUMBERS || !any_special(&w->space->operation, x, c)) return;
  s = specials_of(&w->space->operation, x, c);
  const bool nan_factor = s.nan_a || s.nan_b || s.nan_scale, nan = nan_factor || s.nan_c;
  const bool infinite = s.positive || s.negative, both = s.positive && s.negative;
  const bool invalid = s.zero_times || s.times_zero, clean = !nan && !invalid;
  const bool alike = infinite && s.infinite_c && !both && s.negative == (c.negative != 0);
  const bool happened[SMMA_SPECIAL_EVENTS] = {
      [SMMA_SPECIAL_NAN_A] = s.nan_a && !s.nan_b && !s.nan_c && !s.nan_scale,
      [SMMA_SPECIAL_NAN_B] = s.nan_b && !s.nan_a && !s.nan_c && !s.nan_scale,
      [SMMA_SPECIAL_NAN_C] = s.nan_c && !nan_factor,
      [SMMA_SPECIAL_NAN_SCALE] = s.nan_scale,
      [SMMA_SPECIAL_NAN_BOTH] = s.nan_c && nan_factor,
      [SMMA_SPECIAL_NAN_AND_INFINITE] = nan && s.infinite,
      [SMMA_SPECIAL_ZERO_TIMES_INFINITE] = s.zero_times && !nan,
      [SMMA_SPECIAL_INFINITE_TIMES_ZERO] = s.times_zero && !nan,
      [SMMA_SPECIAL_INFINITE_PRODUCTS] = clean && both,
      [SMMA_SPECIAL_INFINITE_C_OPPOSED] = clean && infinite && s.infinite_c && !both && !alike,
      [SMMA_SPECIAL_INFINITE_C_ALIKE] = clean && alike,
      [SMMA_SPECIAL_INFINITE_PRODUCT] = clean && infinite && !both && !s.infinite_c,
      [SMMA_SPECIAL_INFINITE_C] = clean && s.infinite_c && !infinite};
  for (int e = 0; e < SMMA_SPECIAL_EVENTS; e++)
    if (happened[e]) report(w, block, 0, e);
}

/* ---- Rows ---- */

static uint64_t compute_row(watch *w, const smma_row *row) {
  const smma_event_space *space = w->space;
  const smma_operation *o = &space->operation;
  smma_decoded x;
  uint64_t d;
  smma_row_decode(o, row, &x);
  w->step = w->sum = 0;
  report_operands(w, row);
  report_special(w, &x, smma_decode(smma_encoding_of(space->c), row->c));
  watching = w;
  d = smma_returned(o,
                    smma_composition_dot(o, smma_operands_of(&x), smma_reformat(space->c, o->d, o->rule.nan, row->c)));
  watching = NULL;
  return d;
}

uint64_t smma_watch_row(const smma_event_space *space, const smma_row *row, const smma_event_watcher *watcher) {
  watch w = {.space = space, .watcher = watcher};
  return compute_row(&w, row);
}

/* ---- Many rows ---- */

#include "coverage/lanes.inc"

/* The rows whose events are counted, and one thread's counters and results. */
typedef struct {
  const smma_event_space *space;
  const smma_rows *rows;
  uint64_t *hits, *d; /* hits: one counter for each event, and one for lanes without an event; d: results, or NULL */
  lanes *lanes;       /* NULL: lanes do not support the rule */
} counter;

static __attribute__((noinline)) uint64_t count_row(const counter *c, size_t r) {
  watch w = {.space = c->space, .hits = c->hits};
  smma_row row;
  smma_rows_get(c->rows, r, &row);
  return compute_row(&w, &row);
}

static inline void count_part(const counter *c, size_t first, size_t count) {
  uint64_t d[LANES];
  if (c->lanes) count_lanes(c->lanes, c->rows, first, count, c->hits, d);
  for (size_t l = 0; l < count; l++) {
    if (!c->lanes || c->lanes->left[l]) d[l] = count_row(c, first + l);
    if (c->d) c->d[first + l] = d[l];
  }
}

typedef void count_function(const counter *c, size_t first, size_t count);

#ifdef __x86_64__
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"), flatten)) static void count_part_avx512(const counter *c,
                                                                                                     size_t first,
                                                                                                     size_t count) {
  count_part(c, first, count);
}

__attribute__((target("avx2"), flatten)) static void count_part_avx2(const counter *c, size_t first, size_t count) {
  count_part(c, first, count);
}
#endif

/* Returns the variant for the widest SIMD vectors of this CPU. */
static count_function *count_function_here(void) {
#ifdef __x86_64__
  if (smma_cpu_has(SMMA_CPU_AVX512)) return count_part_avx512;
  if (smma_cpu_has(SMMA_CPU_AVX2)) return count_part_avx2;
#endif
  return count_part;
}

static lanes *lanes_of(const smma_event_space *space) {
  lanes *x = smma_aligned_malloc(sizeof *x);
  if (!x) return NULL;
  x->space = space;
  for (int l = 0; l < LANES; l++) {
    x->row[l] = (watch){.space = space, .event_list = x->event_list[l]};
    lane_put(&x->zero, l, smma_decode(smma_encoding_of(space->operation.d), 0));
  }
  for (int n = 0; n < space->operation.rule.with.composition.steps; n++) x->step[n] = lane_step_of(space, n);
  return x;
}

bool smma_count_events(const smma_event_space *space, const smma_rows *rows, size_t count, uint64_t *hits,
                       uint64_t *d) {
  count_function *const count_rows = count_function_here();
  bool ok = true;
#pragma omp parallel num_threads(smma_default_threads()) if (count > 64) reduction(&& : ok)
  {
    counter c = {space, rows, calloc(space->events + 1, sizeof *hits), d, NULL};
    if (lanes_take(space)) c.lanes = lanes_of(space);
    ok = c.hits != NULL;
#pragma omp for schedule(static)
    for (size_t r = 0; r < count; r += LANES)
      if (c.hits) count_rows(&c, r, count - r < LANES ? count - r : LANES);
#pragma omp critical
    for (size_t e = 0; c.hits && e < space->events; e++) hits[e] += c.hits[e];
    free(c.hits);
    smma_aligned_free(c.lanes);
  }
  return ok;
}
