/* Plans: how one element of a product comes about from an instruction's results (docs/plans.md). A level deals k out to
   parts and folds their sums into one; what the last level deals is a chain of instructions. */
#ifndef SMMA_PLAN_PLAN_H
#define SMMA_PLAN_PLAN_H

#include <stddef.h>

#include "core/format.h"
#include "softmma/status.h"

/* How a sequence of n indices k is dealt out. */
typedef enum {
  SMMA_DEAL_CONTIGUOUS,  /* `count` parts, as long as each other but the last, multiples of `grain`; empty ones are none
                          */
  SMMA_DEAL_EVERY,       /* parts of `grain`, the last as long as is left */
  SMMA_DEAL_INTERLEAVED, /* tiles of `grain` to `count` parts in turn; one that gets none is +0 */
  SMMA_DEAL_LIST         /* ranges of the whole K, given */
} smma_deal;

/* In which order parts p_0, p_1, ... are added. By a stride s: those with the same index modulo s, one behind another,
   which leaves s sums. */
typedef enum {
  SMMA_FOLD_SERIAL,     /* by 1 */
  SMMA_FOLD_HALVING,    /* by half as many as there are, again and again */
  SMMA_FOLD_NEIGHBOURS, /* two that follow each other, again and again */
  SMMA_FOLD_LAST_FIRST, /* p_i + p_(i + ceil(n / 2)) where there are two before the last; these in order onto the last
                         */
  SMMA_FOLD_STRIDES     /* by those given, one after another; the last is 1 */
} smma_fold;

/* What an addition is, in the accumulators' format; s: the part's scale factors of A and B. */
typedef enum {
  SMMA_WITH_ADD,         /* t + p */
  SMMA_WITH_FMA,         /* fma(s_a * s_b, p, t) */
  SMMA_WITH_MULTIPLY_FMA /* fma(s_b, s_a * p, t) */
} smma_with;

/* Two values beside smma_format: as accumulators are, and D's own. */
enum { SMMA_STORED_AS_IS = -1, SMMA_STORED_AS_D = -2 };

enum { SMMA_MOST_STRIDES = 16, SMMA_MOST_LEVELS = 8, SMMA_MOST_EPILOGUE = 16, SMMA_MOST_SOURCES = 16 };

typedef struct {
  size_t first, end; /* [first, end) */
  size_t part;
} smma_plan_range;

typedef struct {
  smma_deal deal;
  size_t count, grain;
  bool fits;                    /* INTERLEAVED: a tile is at most what each part gets of a shorter sequence */
  bool whole;                   /* INTERLEAVED: no rule is known for what is no multiple of count * grain */
  const smma_plan_range *range; /* LIST: part by part, in order */
  size_t ranges;
  smma_fold fold;
  size_t stride[SMMA_MOST_STRIDES], strides;
  smma_with with;
  bool from_zero;    /* the total starts from +0 (or C, see smma_plan_text), else from the first part */
  int stored, total; /* a smma_format or one of the above: what each part, and each total, is rounded to */
} smma_plan_level;

/* Which group of a sequence of n the one is that is short, where n is no multiple of the group. */
typedef enum {
  SMMA_RESIDUE_LAST,       /* the last */
  SMMA_RESIDUE_FIRST_TILE, /* the sequence's first n mod `tile` have groups of their own, the last of them short */
  SMMA_RESIDUE_FIRST,      /* the first */
  SMMA_RESIDUE_NONE        /* no rule is known */
} smma_residue;

typedef enum {
  SMMA_EPILOGUE_ALPHA,   /* fma(alpha, x, +0) */
  SMMA_EPILOGUE_LINEAR,  /* fma(alpha, x, beta * c) */
  SMMA_EPILOGUE_BETA,    /* fma(beta, c, x) */
  SMMA_EPILOGUE_BIAS,    /* x + bias */
  SMMA_EPILOGUE_SCALE_D, /* x * scale_d */
  SMMA_EPILOGUE_RELU,    /* the greater of x and +0; NaN stays */
  SMMA_EPILOGUE_ROUND,   /* to a format, RNE */
  SMMA_EPILOGUE_CLAMP    /* to the finite range of a format; NaN stays */
} smma_epilogue_kind;

typedef struct {
  smma_epilogue_kind kind;
  smma_format format; /* ROUND, CLAMP */
} smma_epilogue;

/* A plan as its text says it. What it points to is its own. */
typedef struct smma_plan {
  const char *name;
  const char *source[SMMA_MOST_SOURCES]; /* what it rests on */
  size_t sources;
  smma_plan_level level[SMMA_MOST_LEVELS]; /* outermost first */
  size_t levels;
  size_t group; /* products that an instruction takes; 0: as many as it can */
  smma_residue residue;
  size_t tile;        /* SMMA_RESIDUE_TILE */
  size_t lost_tail;   /* the block of k whose incomplete last one is lost with some numbers of parts; 0: none is */
  bool starts_from_c; /* the first chain, or the outermost total that would start from +0 */
  bool has_operand_rounding;      /* the plan says how A and B are rounded to the instruction's formats: */
  smma_rounding operand_rounding; /* so */
  smma_format d;                  /* of D; SMMA_NO_FORMAT: the instruction's */
  smma_epilogue epilogue[SMMA_MOST_EPILOGUE];
  size_t epilogues;
} smma_plan;

/* The plan that a JSON text describes, or NULL with one line: origin, line and column, what is wrong, what is allowed.
 */
smma_plan *smma_plan_read(const char *origin, const char *text, size_t size, smma_error *error);
void smma_plan_release(smma_plan *plan);

/* The level whose parts have scale factors; NULL without. */
const smma_plan_level *smma_plan_scaled_level(const smma_plan *plan);

/* Whether an epilogue has an operation. */
bool smma_plan_has(const smma_plan *plan, smma_epilogue_kind kind);

/* Whether an epilogue has an operation that adds beta times C. */
bool smma_plan_adds_c(const smma_plan *plan);

/* A plan as such a text; returns the length of the whole, of which at most `size` bytes with the ending zero are
   written. */
size_t smma_plan_write(const smma_plan *plan, char *text, size_t size);

#endif
