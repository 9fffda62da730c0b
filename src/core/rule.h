/* A rule is an algorithm with its parameters; an operation adds the formats and K. smma_dot_add computes one
   dot-product-add of any operation. It is the specification: tests compare all other implementations with it. */
#ifndef SMMA_CORE_RULE_H
#define SMMA_CORE_RULE_H

/* algorithm.def includes the headers of the algorithms. */
#include "algorithm.def"
#include "chains.h"
#include "pairs.h"

typedef enum {
#define SMMA_FUSED(symbol, ...) SMMA_##symbol,
#define SMMA_UNFUSED(symbol, ...) SMMA_##symbol,
#include "algorithm.def"
} smma_algorithm;

typedef struct {
  smma_rounding rounding;
} smma_fma_rule;

typedef struct {
  smma_algorithm algorithm;
  smma_nan_policy nan;
  union {
#define SMMA_PARAMETERS(type, member) type member;
#include "algorithm.def"
  } with;
} smma_rule;

typedef struct {
  smma_rule rule;
  smma_format a, b, c, d, scale; /* scale: SMMA_NO_FORMAT if there are no scale factors */
  int k;
  int scale_block; /* elements that share a scale factor; 0: no scale factors */
} smma_operation;

/* Returns the number of bytes at the beginning of a rule that its algorithm can use. Only `composition` is longer than
   `c_fdpa`. */
SMMA_CORE int smma_used_bytes(const smma_rule *r) {
  return (int)(sizeof *r - (r->algorithm == SMMA_COMPOSITION ? 0 : sizeof r->with - sizeof r->with.c_fdpa));
}

/* Returns the algorithm (see SMMA_ALGORITHM). */
SMMA_CORE smma_algorithm smma_algorithm_of(const smma_rule *r) { return (smma_algorithm)SMMA_ALGORITHM(r); }

/* Returns the kind of products that a rule adds. */
SMMA_CORE smma_product_kind smma_products_of(const smma_rule *r) {
  if (smma_algorithm_of(r) == SMMA_INTEGER) return r->with.integer.product;
  return smma_algorithm_of(r) == SMMA_COMPOSITION ? r->with.composition.product : SMMA_PRODUCT_MULTIPLIED;
}

/* Returns what a rule with d in s32 does with a sum outside the range of s32. A composition wraps if its last step
   wraps to 32 bits; every other last step is clamped when it is encoded. */
SMMA_CORE smma_integer_overflow smma_integer_overflow_of(const smma_rule *r) {
  const smma_composition *p = &r->with.composition;
  const smma_step *last;
  if (smma_algorithm_of(r) == SMMA_INTEGER) return r->with.integer.overflow;
  if (smma_algorithm_of(r) != SMMA_COMPOSITION) return SMMA_INTEGER_SATURATES;
  last = &p->step[p->steps - 1];
  return last->width == 32 ? last->width_overflow : SMMA_INTEGER_SATURATES;
}

/* E3M4 of RTX Blackwell, whose only special encoding is NaN, all ones. */
#define SMMA_E3M4_NAN SMMA_SPELLED_FORMAT(1, 3, 4, 3, SMMA_SPECIALS_ONE_NAN)

/* Reports whether a format is named in format.def, or has fixed point, or is E3M4, the only other spelled-out format in
   the catalogue. Other spelled-out floating-point formats can have exponents and significands of any width; only the
   core supports them. */
SMMA_CORE bool smma_is_usual(smma_format format) {
  return !smma_is_spelled(format) || smma_is_fixed_point(format) || format == SMMA_E3M4_NAN;
}

SMMA_CORE bool smma_has_usual_formats(const smma_operation *o) {
  return smma_is_usual(o->a) && smma_is_usual(o->b) && smma_is_usual(o->c) && smma_is_usual(o->d);
}

/* Returns the most numbers that are summed at once: K products, or the products of all phases of a composition. */
SMMA_CORE int smma_most_nodes(const smma_operation *o) {
  return smma_algorithm_of(&o->rule) == SMMA_COMPOSITION ? smma_product_nodes(&o->rule.with.composition, o->k) : o->k;
}

/* Returns how many scale factors k elements of a, or of b, have. */
SMMA_CORE int smma_scale_count(int k, int scale_block) { return scale_block ? k / scale_block : 0; }

/* Decoded operands of one dot-product-add: a and b hold k numbers, scale_a and scale_b smma_scale_count numbers. */
typedef struct {
  const smma_number *a, *b, *scale_a, *scale_b;
} smma_operands;

/* Storage for the operands of any operation. */
typedef struct {
  smma_number a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], scale_a[SMMA_MAXIMUM_ROUNDED_K], scale_b[SMMA_MAXIMUM_ROUNDED_K];
} smma_decoded;

SMMA_CORE smma_operands smma_operands_of(const smma_decoded *x) {
  smma_operands operands;
  operands.a = x->a;
  operands.b = x->b;
  operands.scale_a = x->scale_a;
  operands.scale_b = x->scale_b;
  return operands;
}

/* Returns L, the most products in one fused sum. */
SMMA_CORE int smma_block_limit(const smma_rule *r, int k) {
  switch (smma_algorithm_of(r)) {
#define SMMA_UNFUSED(symbol, name, member, block, dot) SMMA_FUSED(symbol, name, member, block, , )
#define SMMA_FUSED(symbol, name, member, block, product, sum) \
  case SMMA_##symbol: {                                       \
    return block;                                             \
  }
#include "algorithm.def"
  }
  return 1;
}

/* Returns the number of products in one fused sum of this operation. */
SMMA_CORE int smma_block_of(const smma_operation *o) {
  int limit = smma_block_limit(&o->rule, o->k);
  return o->k < limit ? o->k : limit;
}

/* Reports whether smma_fused_terms and smma_fused_sum compute the operation's blocks. */
SMMA_CORE bool smma_is_fused(const smma_operation *o) {
  switch (smma_algorithm_of(&o->rule)) {
#define SMMA_FUSED(symbol, ...) case SMMA_##symbol:
#include "algorithm.def"
    return true;
    default: return false;
  }
}

/* Returns the number of consecutive fused sums in one instruction; 1 for algorithms that do not fuse. */
SMMA_CORE int smma_blocks_per_step(const smma_operation *o) { return smma_is_fused(o) ? o->k / smma_block_of(o) : 1; }

/* Returns how many consecutive k are dealt to a block at a time; the whole block if products are not dealt out. FP8 by
   FP16 deals out pairs (with two blocks, k mod 4 < 2 goes to the first), INTEGER in two stages deals out groups of
   eight. */
SMMA_CORE int smma_dealt_products(const smma_operation *o) {
  const smma_algorithm algorithm = smma_algorithm_of(&o->rule);
  if (algorithm == SMMA_FP8_BY_FP16) return 2;
  if (algorithm == SMMA_INTEGER && o->rule.with.integer.two_stages) return 8;
  return smma_block_of(o);
}

/* Returns the index of the block that is computed as the n-th. C-FDPA and GD-FDPA can visit blocks with a stride. */
SMMA_CORE int smma_block_in_order(const smma_operation *o, int n) {
  const smma_algorithm algorithm = smma_algorithm_of(&o->rule);
  const bool strides = algorithm == SMMA_C_FDPA || algorithm == SMMA_GD_FDPA;
  const int stride = strides ? o->rule.with.c_fdpa.stride : 1;
  int rows;
  if (stride == 1) return n;
  rows = o->k / smma_block_of(o) / stride;
  return n / rows + n % rows * stride;
}

/* Returns the k of the i-th product of the n-th block. */
SMMA_CORE int smma_product_index(const smma_operation *o, int n, int i) {
  int length = smma_block_of(o), dealt = smma_dealt_products(o), block = smma_block_in_order(o, n);
  if (dealt == length) return block * length + i;
  return (i / dealt * (o->k / length) + block) * dealt + i % dealt;
}

/* Converts a number to FP16; subnormals of E4M3 become normal. */
SMMA_CORE smma_number smma_widen_to_f16(smma_number x) {
  smma_encoding f16 = smma_encoding_of(SMMA_F16);
  return smma_decode(f16, smma_encode_number(f16, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY));
}

/* Returns the product of the scale factors for k; 1 without scale factors. */
SMMA_CORE smma_number smma_scale_at(const smma_operation *o, smma_operands x, int k) {
  smma_number one = {1, 0, 0, SMMA_FINITE, 0};
  if (!o->scale_block) return one;
  return smma_product(x.scale_a[k / o->scale_block], x.scale_b[k / o->scale_block]);
}

SMMA_CORE smma_number smma_product_at(const smma_operation *o, smma_operands x, int k) {
  switch (smma_algorithm_of(&o->rule)) {
#define SMMA_FUSED(symbol, name, member, block, product, sum) \
  case SMMA_##symbol: {                                       \
    return product;                                           \
  }
#include "algorithm.def"
    default: break;
  }
  return smma_product(x.a[k], x.b[k]);
}

/* Converts x to another format, to nearest even. A NaN becomes the unit's NaN; if the unit has several NaNs, it
   becomes quiet and retains its sign and payload. If the formats are equal, x stays unchanged. */
SMMA_CORE uint64_t smma_reformat(smma_format from, smma_format to, smma_nan_policy nan, uint64_t x) {
  const smma_encoding f = smma_readable_encoding(nan, smma_encoding_of(to));
  const smma_number number = smma_decode(smma_readable_encoding(nan, smma_encoding_of(from)), x);
  if (from == to) return x;
  if (number.kind == SMMA_NAN) return smma_has_one_nan(nan) ? smma_nan_of(f, nan) : smma_quieted(f, number);
  return smma_encode_number(f, number, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

/* Converts c to the format of d. */
SMMA_CORE uint64_t smma_widen_c(const smma_operation *o, uint64_t c) {
  return smma_reformat(o->c, o->d, o->rule.nan, c);
}

/* Returns what the unit returns for a rule's result `d`. A sum that overflows to the NaN of a format without infinity
   has a sign; a unit that has only one NaN returns that NaN. */
SMMA_CORE uint64_t smma_returned(const smma_operation *o, uint64_t d) {
  const smma_encoding f = smma_encoding_of(o->d);
  if (f.specials != SMMA_SPECIALS_ONE_NAN || !smma_has_one_nan(o->rule.nan)) return d;
  return smma_decode(f, d).kind == SMMA_NAN ? smma_nan_of(f, o->rule.nan) : d;
}

/* Reports whether an operation is a composition that is G-FDPA within the bounds of g_fdpa.h. */
SMMA_CORE bool smma_is_short_g_fdpa(const smma_operation *o) {
  smma_g_fdpa g;
  if (smma_algorithm_of(&o->rule) != SMMA_COMPOSITION || o->k > SMMA_MAXIMUM_ROUNDED_K ||
      !smma_has_one_nan(o->rule.nan) || smma_is_fixed_point(o->a) || smma_is_fixed_point(o->b) ||
      smma_is_integer(o->d) || smma_encoding_of(o->a).fraction_bits > 23 || smma_encoding_of(o->b).fraction_bits > 23 ||
      !smma_is_g_fdpa(&o->rule.with.composition, o->k, o->d, &g))
    return false;
  return g.alignment_bits == SMMA_EXACT_ALIGNMENT || g.alignment_bits <= SMMA_MOST_ALIGNMENT_BITS;
}

/* ---- The evaluator: long functions, compiled once on the host (dialect.h) ---- */

/* Computes the terms of one block of a fused algorithm: products (or scaled group sums), then the accumulator.
   Returns their number, at most SMMA_MAXIMUM_K + 1. */
SMMA_EVALUATOR int smma_fused_terms(const smma_operation *o, smma_operands x, int block, uint64_t accumulator,
                                    smma_number *term);

/* Returns the rounded sum of one block's terms; NaN for algorithms that do not fuse. */
SMMA_EVALUATOR uint64_t smma_fused_sum(const smma_rule *r, const smma_number *term, int count);

/* Computes a chain of fused sums: each block's result is the accumulator of the next block. */
SMMA_EVALUATOR uint64_t smma_fused_chain(const smma_operation *o, smma_operands x, uint64_t accumulator);

/* Computes a composition step by step, with c in the format of d. smma_dot_add uses it unless the composition is
   G-FDPA, whose sum is faster and gives the same results. */
SMMA_EVALUATOR uint64_t smma_composition_dot(const smma_operation *o, smma_operands x, uint64_t c);

/* Computes one dot-product-add d = f(c, a, b). c and d are encodings. */
SMMA_EVALUATOR uint64_t smma_dot_add(const smma_operation *o, smma_operands x, uint64_t c);

#ifndef SMMA_EVALUATOR_IS_CALLED
#include "evaluate.inc"
#endif

#endif
