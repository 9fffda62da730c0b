/* A rule is an algorithm with its parameters; an operation adds the formats and K. smma_dot_add computes one
   dot-product-add of any operation: it is the specification that everything else is compared with. */
#ifndef SMMA_CORE_RULE_H
#define SMMA_CORE_RULE_H

#include "c_fdpa.h"
#include "chains.h"
#include "composition.h"
#include "e_fdpa.h"
#include "ftz.h"
#include "g_fdpa.h"
#include "gst_fdpa.h"
#include "integer.h"
#include "pairs.h"
#include "t_fdpa.h"
#include "tr_fdpa.h"

typedef enum {
  SMMA_FMA,
  SMMA_T_FDPA,
  SMMA_ST_FDPA,
  SMMA_GST_FDPA,
  SMMA_E_FDPA,
  SMMA_FTZ_ADDMUL,
  SMMA_TR_FDPA,
  SMMA_GTR_FDPA,
  SMMA_FP8_BY_FP16, /* FP8 mma.sync on Hopper and Blackwell, widened to FP16 */
  SMMA_FTZ_FMA,
  SMMA_INTEGER,
  SMMA_C_FDPA,
  SMMA_GD_FDPA,
  SMMA_COMPOSITION /* Arm's, Power's and AMX's, and of custom units */
} smma_algorithm;

typedef struct {
  smma_rounding rounding;
} smma_fma_rule;

typedef struct {
  smma_algorithm algorithm;
  smma_nan_policy nan;
  union {
    smma_fma_rule fma;
    smma_t_fdpa t_fdpa; /* SMMA_T_FDPA, SMMA_ST_FDPA, SMMA_FP8_BY_FP16 */
    smma_gst_fdpa gst_fdpa;
    smma_e_fdpa e_fdpa;
    smma_ftz_addmul ftz_addmul;
    smma_tr_fdpa tr_fdpa; /* SMMA_TR_FDPA, SMMA_GTR_FDPA */
    smma_integer integer;
    smma_c_fdpa c_fdpa; /* SMMA_C_FDPA, SMMA_GD_FDPA */
    smma_composition composition;
  } with;
} smma_rule;

typedef struct {
  smma_rule rule;
  smma_format a, b, c, d, scale; /* scale: SMMA_NO_FORMAT without scales */
  int k;
  int scale_block; /* elements that share a scale factor; 0 without scales */
} smma_operation;

/* The algorithm: see SMMA_ALGORITHM. */
SMMA_CORE smma_algorithm smma_algorithm_of(const smma_rule *r) { return (smma_algorithm)SMMA_ALGORITHM(r); }

/* What the rule adds up. */
SMMA_CORE smma_product_kind smma_products_of(const smma_rule *r) {
  if (smma_algorithm_of(r) == SMMA_INTEGER) return r->with.integer.product;
  return smma_algorithm_of(r) == SMMA_COMPOSITION ? r->with.composition.product : SMMA_PRODUCT_MULTIPLIED;
}

/* Whether a format is one of the table, or an integer: the floating-point formats that are spelled out have exponents
   and significands of any range, which is the core's alone. */
SMMA_CORE bool smma_is_usual(smma_format format) { return !smma_is_spelled(format) || smma_is_integer(format); }

SMMA_CORE bool smma_has_usual_formats(const smma_operation *o) {
  return smma_is_usual(o->a) && smma_is_usual(o->b) && smma_is_usual(o->c) && smma_is_usual(o->d);
}

/* Scale factors of a, or of b, that k elements have. */
SMMA_CORE int smma_scale_count(int k, int scale_block) { return scale_block ? k / scale_block : 0; }

/* Decoded operands of one dot-product-add: a and b hold k numbers, scale_a and scale_b smma_scale_count. */
typedef struct {
  const smma_number *a, *b, *scale_a, *scale_b;
} smma_operands;

/* Room for the operands of any operation. */
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

/* No switch over the algorithm has a default: of a new one the compiler says where it is missing. */

/* L: the most products that one fused sum takes. */
SMMA_CORE int smma_block_limit(const smma_rule *r, int k) {
  switch (smma_algorithm_of(r)) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16: return r->with.t_fdpa.block;
    case SMMA_E_FDPA: return r->with.e_fdpa.block;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: return r->with.tr_fdpa.block;
    case SMMA_FTZ_ADDMUL: return r->with.ftz_addmul.pairwise;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: return r->with.c_fdpa.block;
    case SMMA_INTEGER: return r->with.integer.two_stages ? k / 2 : k;
    case SMMA_GST_FDPA:
    case SMMA_COMPOSITION: return k;
    case SMMA_FMA:
    case SMMA_FTZ_FMA: break;
  }
  return 1;
}

/* Products in one fused sum of this operation. */
SMMA_CORE int smma_block_of(const smma_operation *o) {
  int limit = smma_block_limit(&o->rule, o->k);
  return o->k < limit ? o->k : limit;
}

/* Whether smma_fused_terms and smma_fused_sum compute the operation's blocks. */
SMMA_CORE bool smma_is_fused(const smma_operation *o) {
  switch (smma_algorithm_of(&o->rule)) {
    case SMMA_FMA:
    case SMMA_FTZ_ADDMUL:
    case SMMA_FTZ_FMA:
    case SMMA_COMPOSITION: break;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_GST_FDPA:
    case SMMA_E_FDPA:
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
    case SMMA_FP8_BY_FP16:
    case SMMA_INTEGER:
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: return true;
  }
  return false;
}

/* Fused sums that follow each other in one instruction; 1 for algorithms that do not fuse. */
SMMA_CORE int smma_blocks_per_step(const smma_operation *o) { return smma_is_fused(o) ? o->k / smma_block_of(o) : 1; }

/* How many consecutive k go to each block in turn: all of a block, if they are not dealt out. FP8 by FP16 deals out
   pairs: with two blocks, k mod 4 < 2 to the first; INTEGER in two stages eights. */
SMMA_CORE int smma_dealt_products(const smma_operation *o) {
  switch (smma_algorithm_of(&o->rule)) {
    case SMMA_FP8_BY_FP16: return 2;
    case SMMA_INTEGER:
      if (o->rule.with.integer.two_stages) return 8;
      break;
    case SMMA_FMA:
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_GST_FDPA:
    case SMMA_E_FDPA:
    case SMMA_FTZ_ADDMUL:
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
    case SMMA_FTZ_FMA:
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA:
    case SMMA_COMPOSITION: break;
  }
  return smma_block_of(o);
}

/* Which block of consecutive products is the n-th: C-FDPA and GD-FDPA may take them in strides. */
SMMA_CORE int smma_block_in_order(const smma_operation *o, int n) {
  const smma_algorithm algorithm = smma_algorithm_of(&o->rule);
  const bool strides = algorithm == SMMA_C_FDPA || algorithm == SMMA_GD_FDPA;
  const int stride = strides ? o->rule.with.c_fdpa.stride : 1;
  int rows;
  if (stride == 1) return n;
  rows = o->k / smma_block_of(o) / stride;
  return n / rows + n % rows * stride;
}

/* The k of the i-th product of the n-th block. */
SMMA_CORE int smma_product_index(const smma_operation *o, int n, int i) {
  int length = smma_block_of(o), dealt = smma_dealt_products(o), block = smma_block_in_order(o, n);
  if (dealt == length) return block * length + i;
  return (i / dealt * (o->k / length) + block) * dealt + i % dealt;
}

/* A number as FP16 holds it: subnormals of E4M3 become normal. */
SMMA_CORE smma_number smma_widen_to_f16(smma_number x) {
  smma_encoding f16 = smma_encoding_of(SMMA_F16);
  return smma_decode(f16, smma_encode_number(f16, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY));
}

/* The product of the scale factors that belong to k; one without scales. */
SMMA_CORE smma_number smma_scale_at(const smma_operation *o, smma_operands x, int k) {
  smma_number one = {1, 0, 0, SMMA_FINITE, 0};
  if (!o->scale_block) return one;
  return smma_product(x.scale_a[k / o->scale_block], x.scale_b[k / o->scale_block]);
}

SMMA_CORE smma_number smma_product_at(const smma_operation *o, smma_operands x, int k) {
  switch (smma_algorithm_of(&o->rule)) {
    case SMMA_FP8_BY_FP16: return smma_product(smma_widen_to_f16(x.a[k]), smma_widen_to_f16(x.b[k]));
    case SMMA_ST_FDPA: return smma_product(smma_product(x.a[k], x.b[k]), smma_scale_at(o, x, k));
    case SMMA_C_FDPA:
      return smma_marked_product(smma_flush(smma_c_fdpa_subnormals(o->a), x.a[k]),
                                 smma_flush(smma_c_fdpa_subnormals(o->b), x.b[k]));
    case SMMA_GD_FDPA: return smma_marked_product(x.a[k], x.b[k]);
    case SMMA_INTEGER: return smma_product_of_kind(o->rule.with.integer.product, x.a[k], x.b[k]);
    case SMMA_FMA:
    case SMMA_T_FDPA:
    case SMMA_GST_FDPA:
    case SMMA_E_FDPA:
    case SMMA_FTZ_ADDMUL:
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
    case SMMA_FTZ_FMA:
    case SMMA_COMPOSITION: break;
  }
  return smma_product(x.a[k], x.b[k]);
}

/* x in another format, RNE; NaN is the unit's, or where a unit has several keeps its sign and, quiet, its payload. As
   it is in the same format. */
SMMA_CORE uint64_t smma_reformat(smma_format from, smma_format to, smma_nan_policy nan, uint64_t x) {
  const smma_encoding f = smma_encoding_of(to);
  const smma_number number = smma_decode(smma_encoding_of(from), x);
  if (from == to) return x;
  if (number.kind == SMMA_NAN) return smma_has_one_nan(nan) ? smma_nan_of(f, nan) : smma_quieted(f, number);
  return smma_encode_number(f, number, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

/* c in the format of d. */
SMMA_CORE uint64_t smma_widen_c(const smma_operation *o, uint64_t c) {
  return smma_reformat(o->c, o->d, o->rule.nan, c);
}

/* A rule's result as the unit returns it: a sum that overflowed to the NaN of a format without infinity has a sign,
   which a unit with one NaN does not show. */
SMMA_CORE uint64_t smma_returned(const smma_operation *o, uint64_t d) {
  const smma_encoding f = smma_encoding_of(o->d);
  if (f.specials != SMMA_SPECIALS_ONE_NAN || !smma_has_one_nan(o->rule.nan)) return d;
  return smma_decode(f, d).kind == SMMA_NAN ? smma_nan_of(f, o->rule.nan) : d;
}

/* Reports whether the operation is a composition that is G-FDPA within the bounds of g_fdpa.h. */
SMMA_CORE bool smma_is_short_g_fdpa(const smma_operation *o) {
  smma_g_fdpa g;
  if (smma_algorithm_of(&o->rule) != SMMA_COMPOSITION || o->k > SMMA_MAXIMUM_ROUNDED_K ||
      !smma_has_one_nan(o->rule.nan) || smma_is_integer(o->a) || smma_is_integer(o->b) || smma_is_integer(o->d) ||
      smma_encoding_of(o->a).fraction_bits > 23 || smma_encoding_of(o->b).fraction_bits > 23 ||
      !smma_is_g_fdpa(&o->rule.with.composition, o->k, o->d, &g))
    return false;
  return g.alignment_bits == SMMA_EXACT_ALIGNMENT || g.alignment_bits <= SMMA_MOST_ALIGNMENT_BITS;
}

/* ---- The evaluator: what is long, and so compiled once on the host (dialect.h) ---- */

/* The terms of one block of a fused algorithm: products (or scaled group sums), then the accumulator. Returns
   their number, at most SMMA_MAXIMUM_K + 1. */
SMMA_EVALUATOR int smma_fused_terms(const smma_operation *o, smma_operands x, int block, uint64_t accumulator,
                                    smma_number *term);

/* The rounded sum of one block's terms; NaN for algorithms that do not fuse. */
SMMA_EVALUATOR uint64_t smma_fused_sum(const smma_rule *r, const smma_number *term, int count);

/* A chain of fused sums: each block's result is the next one's c. */
SMMA_EVALUATOR uint64_t smma_fused_chain(const smma_operation *o, smma_operands x, uint64_t accumulator);

/* Computes a composition step by step, with c in the format of d. smma_dot_add does, too, unless the composition is
   G-FDPA, whose sum is faster; the results are the same. */
SMMA_EVALUATOR uint64_t smma_composition_dot(const smma_operation *o, smma_operands x, uint64_t c);

/* d = f(c, a, b): one dot-product-add. c and d are encodings. */
SMMA_EVALUATOR uint64_t smma_dot_add(const smma_operation *o, smma_operands x, uint64_t c);

#ifndef SMMA_EVALUATOR_IS_CALLED
#include "evaluate.inc"
#endif

#endif
