/* A plan describes how one element of a product is computed from the results of instructions (docs/plans.md). A
   level divides the indices k into parts and adds the sums of the parts. The parts of the last level are chains of
   instructions. */
#ifndef SMMA_PLAN_PLAN_H
#define SMMA_PLAN_PLAN_H

#include <stddef.h>

#include "core/format.h"
#include "softmma/status.h"

/* How a sequence of n indices k is divided into parts. */
typedef enum {
  SMMA_DEAL_CONTIGUOUS,  /* `count` parts of equal length, a multiple of `grain`, and a last part with the remaining
                            indices; empty parts are omitted */
  SMMA_DEAL_EVERY,       /* parts of `grain` indices; the last part has the remaining ones */
  SMMA_DEAL_INTERLEAVED, /* tiles of `grain` indices are given to `count` parts in turn; a part without tiles is +0 */
  SMMA_DEAL_LIST         /* given ranges of the whole K */
} smma_deal;

/* The order of adding parts p_0, p_1, ... An addition with stride s adds all parts whose indices are equal modulo s,
   in order, which leaves s sums. */
typedef enum {
  SMMA_FOLD_SERIAL,     /* stride 1 */
  SMMA_FOLD_HALVING,    /* stride of half the number of sums (rounded up), repeated */
  SMMA_FOLD_NEIGHBOURS, /* adds pairs of neighbours, repeated */
  SMMA_FOLD_LAST_FIRST, /* With h = ceil(n / 2), adds p_(i + h) to p_i for each i < h if i + h < n - 1. Then adds these
                           sums in order to the last part, p_(n - 1). */
  SMMA_FOLD_STRIDES     /* the given strides in order; the last is 1 */
} smma_fold;

/* The addition of a part p to a total t, in the accumulators' format. s_a and s_b are the part's scale factors of A
   and B. */
typedef enum {
  SMMA_WITH_ADD,           /* t + p */
  SMMA_WITH_FMA,           /* fma(s_a * s_b, p, t) */
  SMMA_WITH_MULTIPLY_FMA,  /* fma(s_b, s_a * p, t) */
  SMMA_WITH_MULTIPLY_B_FMA /* fma(s_a, s_b * p, t) */
} smma_with;

/* Two values in addition to those of smma_format: the accumulators' format, and D's format. */
enum { SMMA_STORED_AS_IS = -1, SMMA_STORED_AS_D = -2 };

enum { SMMA_MOST_STRIDES = 16, SMMA_MOST_LEVELS = 8, SMMA_MOST_EPILOGUE = 16, SMMA_MOST_SOURCES = 16 };

/* The largest number of interleaved parts. */
enum { SMMA_MOST_LANES = 4096 };

typedef struct {
  size_t first, end; /* [first, end) */
  size_t part;
} smma_plan_range;

typedef struct {
  smma_deal deal;
  size_t count, grain;
  bool fits;  /* INTERLEAVED: if the sequence is too short to give each part a whole tile, the tiles are shortened to
                 equal shares of it */
  bool whole; /* INTERLEAVED: no rule is known for a length that is not a multiple of count * grain */
  const smma_plan_range *range; /* LIST: the ranges of each part in order */
  size_t ranges;
  smma_fold fold;
  size_t stride[SMMA_MOST_STRIDES], strides;
  smma_with with;
  bool from_zero;    /* the total starts from +0 (or C, see smma_plan_text); otherwise it starts from the first part */
  int stored, total; /* formats to which each part (stored) and each total are rounded: a smma_format or one of the
                        values above */
} smma_plan_level;

/* Which group of a sequence of n indices is shorter, if n is not a multiple of the group size. */
typedef enum {
  SMMA_RESIDUE_LAST,       /* the last */
  SMMA_RESIDUE_FIRST_TILE, /* the first n mod `tile` indices form separate groups; the last of these groups is short */
  SMMA_RESIDUE_FIRST,      /* the first */
  SMMA_RESIDUE_NONE        /* no rule is known */
} smma_residue;

typedef enum {
  SMMA_EPILOGUE_ALPHA,   /* fma(alpha, x, +0) */
  SMMA_EPILOGUE_LINEAR,  /* fma(alpha, x, beta * c) */
  SMMA_EPILOGUE_BETA,    /* fma(beta, c, x) */
  SMMA_EPILOGUE_BIAS,    /* x + bias */
  SMMA_EPILOGUE_SCALE_D, /* x * scale_d */
  SMMA_EPILOGUE_RELU,    /* the greater of x and +0; NaN is unchanged */
  SMMA_EPILOGUE_ROUND,   /* rounds to a format, RNE */
  SMMA_EPILOGUE_CLAMP    /* clamps to the finite range of a format; NaN is unchanged */
} smma_epilogue_kind;

typedef struct {
  smma_epilogue_kind kind;
  smma_format format; /* ROUND, CLAMP */
} smma_epilogue;

/* A plan, as described by its text. It owns all memory that it points to. */
typedef struct smma_plan {
  const char *name;
  const char *source[SMMA_MOST_SOURCES]; /* sources of the plan */
  size_t sources;
  smma_plan_level level[SMMA_MOST_LEVELS]; /* outermost first */
  size_t levels;
  size_t group; /* products per instruction; 0: the maximum */
  smma_residue residue;
  size_t tile;        /* SMMA_RESIDUE_FIRST_TILE */
  size_t lost_tail;   /* block size in k. For some numbers of parts the kernel omits a last block that is incomplete. 0:
                         it omits nothing */
  bool starts_from_c; /* C starts the first chain, or the outermost total that would otherwise start from +0 */
  bool has_operand_rounding;      /* the plan defines how A and B are rounded to the instruction's formats */
  smma_rounding operand_rounding; /* the rounding of A and B */
  smma_format d;                  /* format of D; SMMA_NO_FORMAT: the instruction's */
  smma_epilogue epilogue[SMMA_MOST_EPILOGUE];
  size_t epilogues;
} smma_plan;

/* Reads a plan from a JSON text. Returns NULL with a one-line message: origin, line and column, the error, and the
   allowed values. */
smma_plan *smma_plan_read(const char *origin, const char *text, size_t size, smma_error *error);
void smma_plan_release(smma_plan *plan);

/* Returns the sums that split_k and promote_every of smma_gemm describe, as a plan without a name. */
smma_plan smma_plan_of_sums(size_t split_k, size_t promote_every, size_t k_per_step);

/* Returns the plan of a library that computes these sums in FP32, then fma(alpha, sum, beta * c), and rounds the result
   to D's format, RNE. Returns NULL if memory runs out. */
smma_plan *smma_plan_of_rounding(smma_format d, size_t split_k, size_t promote_every, size_t k_per_step);

/* Returns the level whose parts have scale factors, or NULL if there is no such level. */
const smma_plan_level *smma_plan_scaled_level(const smma_plan *plan);

/* Reports whether the epilogue has an operation of this kind. */
bool smma_plan_has(const smma_plan *plan, smma_epilogue_kind kind);

/* Reports whether the epilogue has an operation that adds beta times C. */
bool smma_plan_adds_c(const smma_plan *plan);

/* Reports whether the plan uses C: it starts from C, or its epilogue adds it. */
bool smma_plan_takes_c(const smma_plan *plan);

/* Reports whether a plan can give D in the format. */
bool smma_plan_takes_d(smma_format d);

/* Writes a plan as JSON text, at most `size` bytes including the terminating zero. Returns the length of the whole
   text. */
size_t smma_plan_write(const smma_plan *plan, char *text, size_t size);

#endif
