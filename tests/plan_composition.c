#include "plan_composition.h"

#include <stdlib.h>
#include <string.h>

#include "softmma/softmma.h"

/* A sequence of indices k. */
typedef struct {
  size_t *k, count;
} indices;

static size_t least(size_t x, size_t y) { return x < y ? x : y; }
static size_t divide_up(size_t x, size_t y) { return (x + y - 1) / y; }

static smma_format outer_of(const plan_operands *x) {
  const smma_format d = x->operation.d;
  return d == SMMA_F64 || d == SMMA_S32 ? d : SMMA_F32;
}

static smma_format d_of(const plan_operands *x) { return x->plan->d == SMMA_NO_FORMAT ? x->operation.d : x->plan->d; }

static smma_number number_of(smma_format f, uint64_t encoding) { return smma_decode(smma_encoding_of(f), encoding); }

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* ---- A chain ---- */

/* Calls the instruction once with these products. The factors of the remaining products are +0. */
static uint64_t call(const plan_operands *x, indices s, uint64_t d) {
  smma_operation chained = x->operation;
  const smma_operation *o = &chained;
  smma_decoded in;
  chained.c = chained.d; /* c is the result of the previous call */
  for (size_t i = 0; i < (size_t)o->k; i++) {
    in.a[i] = number_of(o->a, i < s.count ? x->a[s.k[i]] : 0);
    in.b[i] = number_of(o->b, i < s.count ? x->b[s.k[i]] : 0);
  }
  for (int i = 0; i < smma_scale_count(o->k, o->scale_block); i++) {
    const size_t first = (size_t)(i * o->scale_block);
    const uint64_t one = smma_encode_number(smma_encoding_of(o->scale), number_of(SMMA_F32, bits_of(1)),
                                            SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
    const bool there = first < s.count;
    in.scale_a[i] = number_of(o->scale, there ? x->scale_a[s.k[first] / (size_t)o->scale_block] : one);
    in.scale_b[i] = number_of(o->scale, there ? x->scale_b[s.k[first] / (size_t)o->scale_block] : one);
  }
  return smma_dot_add(o, smma_operands_of(&in), d);
}

static uint64_t calls(const plan_operands *x, indices s, size_t group, uint64_t d) {
  for (size_t i = 0; i < s.count; i += group) d = call(x, (indices){s.k + i, least(group, s.count - i)}, d);
  return d;
}

static uint64_t chain_of(const plan_operands *x, indices s, uint64_t start) {
  const smma_plan *p = x->plan;
  const smma_format outer = outer_of(x), d = x->operation.d;
  const smma_nan_policy nan = x->operation.rule.nan;
  const size_t group = p->group ? p->group : (size_t)x->operation.k;
  const size_t apart = p->residue == SMMA_RESIDUE_FIRST        ? s.count % group
                       : p->residue == SMMA_RESIDUE_FIRST_TILE ? s.count % p->tile
                                                               : 0;
  uint64_t sum = smma_reformat(outer, d, nan, start);
  sum = calls(x, (indices){s.k, apart}, group, sum);
  sum = calls(x, (indices){s.k + apart, s.count - apart}, group, sum);
  return smma_reformat(d, outer, nan, sum);
}

/* ---- Additions ---- */

static uint64_t rounded(const plan_operands *x, int to, uint64_t sum) {
  const smma_nan_policy nan = x->operation.rule.nan;
  const smma_format format = to == SMMA_STORED_AS_D ? d_of(x) : (smma_format)to;
  if (to == SMMA_STORED_AS_IS || outer_of(x) != SMMA_F32) return sum;
  return smma_reformat(format, SMMA_F32, nan, smma_reformat(SMMA_F32, format, nan, sum));
}

static uint64_t added(const plan_operands *x, uint64_t total, uint64_t part) {
  const smma_format outer = outer_of(x);
  if (outer == SMMA_S32)
    return (uint32_t)smma_integer_encode(smma_integer_overflow_of(&x->operation.rule),
                                         (int64_t)(int32_t)total + (int64_t)(int32_t)part);
  return smma_ieee_add(smma_encoding_of(outer), x->operation.rule.nan, total, part);
}

/* Adds a part to the total, with the factors of the part of K that begins with product k. */
static uint64_t folded(const plan_operands *x, const smma_plan_level *l, size_t k, uint64_t total, uint64_t part) {
  const smma_nan_policy nan = x->operation.rule.nan;
  const smma_encoding f = smma_encoding_of(SMMA_F32);
  uint64_t a, b, factor;
  if (l->with == SMMA_WITH_ADD) return added(x, total, part);
  a = bits_of(x->part_a[k / l->grain]), b = bits_of(x->part_b[k / l->grain]);
  factor = l->with == SMMA_WITH_FMA ? smma_ieee_multiply(f, nan, smma_decode(f, a), smma_decode(f, b)) : b;
  if (l->with == SMMA_WITH_MULTIPLY_B_FMA) {
    part = smma_ieee_multiply(f, nan, smma_decode(f, b), smma_decode(f, part));
    factor = a;
  }
  if (l->with == SMMA_WITH_MULTIPLY_FMA) part = smma_ieee_multiply(f, nan, smma_decode(f, a), smma_decode(f, part));
  return smma_ieee_fma(f, nan, smma_decode(f, factor), smma_decode(f, part), smma_decode(f, total));
}

/* ---- Levels ---- */

static uint64_t sum_of(const plan_operands *x, size_t depth, indices s, bool with_c);

/* Returns the part that element i of s belongs to. */
static size_t part_of(const smma_plan_level *l, indices s, size_t i) {
  size_t length, tile = l->grain;
  switch (l->deal) {
    case SMMA_DEAL_CONTIGUOUS: length = divide_up(divide_up(s.count, l->count), l->grain) * l->grain; return i / length;
    case SMMA_DEAL_EVERY: return i / l->grain;
    case SMMA_DEAL_INTERLEAVED:
      if (l->fits) tile = least(tile, divide_up(s.count, l->count));
      return i / tile % l->count;
    case SMMA_DEAL_LIST: break;
  }
  return 0;
}

/* Distributes s among parts, which are stored in `k` one after another. Returns the number of parts. */
static size_t deal(const smma_plan_level *l, indices s, size_t *k, indices *part) {
  size_t parts = l->deal == SMMA_DEAL_INTERLEAVED ? l->count : 0, used = 0;
  for (size_t r = 0; l->deal == SMMA_DEAL_LIST && r < l->ranges; r++) {
    const smma_plan_range *range = &l->range[r];
    if (range->part == parts) part[parts++] = (indices){k + used, 0};
    for (size_t i = range->first; i < range->end; i++) k[used++] = i, part[parts - 1].count++;
  }
  if (l->deal == SMMA_DEAL_LIST) return parts;
  for (size_t i = 0; i < s.count; i++)
    if (part_of(l, s, i) >= parts) parts = part_of(l, s, i) + 1;
  for (size_t n = 0; n < parts; n++) {
    part[n] = (indices){k + used, 0};
    for (size_t i = 0; i < s.count; i++)
      if (part_of(l, s, i) == n) k[used++] = s.k[i], part[n].count++;
  }
  return parts;
}

/* An intermediate sum: its value, and whether it is still an unadded part. A part is rounded to the format in which
   parts are stored. */
typedef struct {
  uint64_t value;
  bool is_part;
} term;

static term begun(const plan_operands *x, const smma_plan_level *l, term t) {
  const uint64_t stored = t.is_part ? rounded(x, l->stored, t.value) : t.value;
  return (term){rounded(x, l->total, stored), false};
}

static term plus(const plan_operands *x, const smma_plan_level *l, term total, term part) {
  const uint64_t y = part.is_part ? rounded(x, l->stored, part.value) : part.value;
  return (term){rounded(x, l->total, added(x, total.value, y)), false};
}

/* Reduces `count` terms to `left` terms. Term i becomes the sum, in order, of all terms whose indices are i modulo
   `left`. */
static size_t by_stride(const plan_operands *x, const smma_plan_level *l, size_t left, term *t, size_t count) {
  left = least(left, count);
  for (size_t i = 0; i < left; i++) {
    t[i] = begun(x, l, t[i]);
    for (size_t j = i + left; j < count; j += left) t[i] = plus(x, l, t[i], t[j]);
  }
  return left;
}

static void by_neighbours(const plan_operands *x, const smma_plan_level *l, term *t, size_t count) {
  do {
    for (size_t i = 0; i < divide_up(count, 2); i++) {
      const term second = t[2 * i + 1 < count ? 2 * i + 1 : 2 * i];
      t[i] = begun(x, l, t[2 * i]);
      if (2 * i + 1 < count) t[i] = plus(x, l, t[i], second);
    }
    count = divide_up(count, 2);
  } while (count > 1);
}

static void by_last(const plan_operands *x, const smma_plan_level *l, term *t, size_t count) {
  const size_t half = divide_up(count, 2);
  term total = begun(x, l, t[count - 1]);
  for (size_t i = 0; i < half; i++) {
    term pair = begun(x, l, t[i]);
    if (i + half < count - 1) pair = plus(x, l, pair, t[i + half]);
    if (i < count - 1) total = plus(x, l, total, pair);
  }
  t[0] = total;
}

static uint64_t fold(const plan_operands *x, const smma_plan_level *l, term *t, size_t count) {
  switch (l->fold) {
    case SMMA_FOLD_SERIAL: by_stride(x, l, 1, t, count); break;
    case SMMA_FOLD_HALVING:
      do count = by_stride(x, l, divide_up(count, 2), t, count);
      while (count > 1);
      break;
    case SMMA_FOLD_NEIGHBOURS: by_neighbours(x, l, t, count); break;
    case SMMA_FOLD_LAST_FIRST:
      if (count > 2)
        by_last(x, l, t, count);
      else
        by_stride(x, l, 1, t, count); /* p0 + p1 */
      break;
    case SMMA_FOLD_STRIDES:
      for (size_t i = 0; i < l->strides; i++) count = by_stride(x, l, l->stride[i], t, count);
      break;
  }
  return t[0].value;
}

/* Returns the value with which a sum that begins with C starts: beta * C, rounded to C's format. If the unit has only
   one NaN, any NaN in C is replaced by it. */
static uint64_t start_of(const plan_operands *x) {
  const smma_operation *o = &x->operation;
  const smma_nan_policy nan = o->rule.nan;
  const smma_encoding f = smma_encoding_of(o->c), outer = smma_encoding_of(outer_of(x));
  const smma_number beta = number_of(SMMA_F32, bits_of(x->beta));
  const uint64_t c = x->beta == 1 ? x->c : smma_encode_product(f, smma_decode(f, x->c), beta);
  const uint64_t start = smma_reformat(o->d, outer_of(x), nan, smma_reformat(o->c, o->d, nan, c));
  return smma_has_one_nan(nan) && smma_decode(outer, start).kind == SMMA_NAN ? smma_nan_of(outer, nan) : start;
}

static uint64_t total_from(const plan_operands *x, size_t depth, const indices *part, size_t parts, bool with_c) {
  const smma_plan_level *l = &x->plan->level[depth];
  uint64_t total = with_c ? rounded(x, l->total, start_of(x)) : 0;
  for (size_t n = 0; n < parts; n++) {
    const uint64_t sum = rounded(x, l->stored, sum_of(x, depth + 1, part[n], false));
    total = rounded(x, l->total, folded(x, l, part[n].count ? part[n].k[0] : 0, total, sum));
  }
  return total;
}

static uint64_t sum_of(const plan_operands *x, size_t depth, indices s, bool with_c) {
  const smma_plan_level *l = &x->plan->level[depth];
  indices *part;
  term *t;
  size_t *k, parts;
  uint64_t sum;
  if (depth == x->plan->levels || s.count == 0) return chain_of(x, s, with_c ? start_of(x) : 0);
  k = calloc(x->k + 1, sizeof *k);
  part = calloc(x->k + l->count + 1, sizeof *part), t = calloc(x->k + l->count + 1, sizeof *t);
  if (!k || !part || !t) abort();
  parts = deal(l, s, k, part);
  for (size_t n = 0; n < parts && !l->from_zero; n++)
    t[n] = (term){sum_of(x, depth + 1, part[n], with_c && n == 0), true};
  sum = l->from_zero ? total_from(x, depth, part, parts, with_c) : fold(x, l, t, parts);
  free(k), free(part), free(t);
  return sum;
}

/* ---- The element ---- */

/* Returns the number of products that the plan does not lose. */
static size_t kept_of(const smma_plan *p, size_t k) {
  const size_t tail = p->lost_tail ? k % p->lost_tail : 0;
  return tail && p->level[0].count > tail && k / p->lost_tail % p->level[0].count == 0 ? k - tail : k;
}

/* Clamps to the format's range of numbers. */
static uint64_t clamped(smma_format format, uint64_t sum) {
  const smma_encoding f = smma_encoding_of(format);
  const double most = smma_format_decode(format, smma_largest_fields(f) << f.ignored_bits);
  const double least = f.sign_bits ? -most : smma_format_decode(format, 0), number = smma_format_decode(SMMA_F32, sum);
  return number > most ? bits_of((float)most) : number < least ? bits_of((float)least) : sum;
}

static uint64_t operated(const plan_operands *x, const smma_epilogue *e, uint64_t sum) {
  const smma_encoding f = smma_encoding_of(SMMA_F32);
  const smma_operation *o = &x->operation;
  const smma_nan_policy nan = o->rule.nan;
  const smma_number n = smma_decode(f, sum), alpha = number_of(SMMA_F32, bits_of(x->alpha));
  const smma_number c = smma_decode(f, smma_reformat(o->c, SMMA_F32, nan, x->c));
  const uint64_t sign = sum & 0x80000000;
  switch (e->kind) {
    case SMMA_EPILOGUE_ALPHA: return smma_ieee_fma(f, nan, alpha, n, smma_decode(f, 0));
    case SMMA_EPILOGUE_LINEAR:
      return smma_ieee_fma(f, nan, alpha, n,
                           smma_decode(f, smma_ieee_multiply(f, nan, number_of(SMMA_F32, bits_of(x->beta)), c)));
    case SMMA_EPILOGUE_BETA: return smma_ieee_fma(f, nan, number_of(SMMA_F32, bits_of(x->beta)), c, n);
    case SMMA_EPILOGUE_BIAS: return smma_ieee_add(f, nan, sum, bits_of(x->bias));
    case SMMA_EPILOGUE_SCALE_D: return smma_ieee_multiply(f, nan, n, number_of(SMMA_F32, bits_of(x->scale_d)));
    case SMMA_EPILOGUE_RELU: return sign && n.kind != SMMA_NAN ? 0 : sum;
    case SMMA_EPILOGUE_ROUND: return rounded(x, (int)e->format, sum);
    case SMMA_EPILOGUE_CLAMP: return clamped(e->format, sum);
  }
  return sum;
}

uint64_t compose_plan(const plan_operands *x) {
  size_t *k = calloc(x->k, sizeof *k);
  uint64_t sum;
  if (!k) abort();
  for (size_t i = 0; i < x->k; i++) k[i] = i;
  sum = sum_of(x, 0, (indices){k, kept_of(x->plan, x->k)}, x->plan->starts_from_c);
  for (size_t i = 0; i < x->plan->epilogues; i++) sum = operated(x, &x->plan->epilogue[i], sum);
  free(k);
  return smma_reformat(outer_of(x), d_of(x), x->operation.rule.nan, sum);
}
