/* smma_dot_flags: computes rows in the core's way, and observes the flags of every sum. */

/* These macros are defined before the core is included, so that this file gets its own copy of the core, which calls
   watch_sum after every sum. */
#define SMMA_EVALUATOR static inline
static void watch_sum(const void *step, const void *term, int count, const void *sum);
#define SMMA_WATCH_SUM(step, term, count, sum) watch_sum(step, term, count, &(sum))
#define SMMA_WATCH_CUT_SUM(sum)

#include "softmma/flags.h"

#include "core/flags.h"
#include "host/error.h"
#include "host/load.h"
#include "host/sized.h"
#include "host/thread.h"
#include "isa/compose.h"

_Static_assert((int)SMMA_FLAG_INEXACT == (int)SMMA_RAISES_INEXACT &&
                   (int)SMMA_FLAG_UNDERFLOW == (int)SMMA_RAISES_UNDERFLOW &&
                   (int)SMMA_FLAG_OVERFLOW == (int)SMMA_RAISES_OVERFLOW &&
                   (int)SMMA_FLAG_INVALID == (int)SMMA_RAISES_INVALID,
               "the core's flags are the public ones");

/* The flags of the row that this thread computes. */
static _Thread_local struct {
  bool early; /* tininess is detected before rounding */
  int flags;
} raised;

static void watch_sum(const void *step, const void *term, int count, const void *sum) {
  raised.flags |= smma_flags_of_sum(step, term, count, *(const smma_node *)sum, raised.early);
}

/* Constants of a call that all rows share. */
typedef struct {
  smma_operation operation; /* the instruction's operation; its rule is rewritten as a composition */
  const smma_batch *batch;
  bool early;
} flag_plan;

/* Decodes the elements of one row; raises invalid if one of them is a signaling NaN. */
static void decode(smma_format format, const void *array, size_t row, size_t count, smma_number *out) {
  const smma_encoding f = smma_encoding_of(format);
  for (size_t i = 0; i < count; i++) {
    out[i] = smma_decode(f, smma_load(smma_format_bytes(format), array, row * count + i));
    if (smma_is_signaling(f, out[i])) raised.flags |= SMMA_RAISES_INVALID;
  }
}

/* Computes the flags of one row, and d if the batch has room for it. */
static void compute_row(const flag_plan *p, size_t row, unsigned char *flags) {
  const smma_operation *o = &p->operation;
  const smma_batch *batch = p->batch;
  const uint64_t c = batch->c ? smma_load(smma_format_bytes(o->c), batch->c, row) : 0;
  smma_number addend;
  smma_decoded x;
  uint64_t d;
  raised.early = p->early;
  raised.flags = 0;
  decode(o->a, batch->a, row, (size_t)o->k, x.a);
  decode(o->b, batch->b, row, (size_t)o->k, x.b);
  decode(o->c, batch->c, row, batch->c != NULL, &addend);
  d = smma_returned(o, smma_composition_dot(o, smma_operands_of(&x), smma_widen_c(o, c)));
  flags[row] = (unsigned char)raised.flags;
  if (batch->d) smma_store(smma_format_bytes(o->d), batch->d, row, d);
}

/* Sets `o` to the operation with its rule as a composition. Returns false if the rule has no flags. */
static bool compose(const smma_instruction *i, smma_operation *o) {
  const smma_operation own = smma_operation_of(i);
  *o = own;
  o->rule.algorithm = SMMA_COMPOSITION;
  return !own.scale_block && smma_compose(&own, &o->rule.with.composition) &&
         smma_is_ieee_composition(&o->rule.with.composition);
}

/* Arm and Power detect tininess before rounding. Sources: FPRound in the pseudocode of Arm's DDI 0487, with FPCR.AH =
   0; "Underflow Exception" in Power ISA 3.1. */
smma_tininess smma_tininess_of(const smma_instruction *i) {
  smma_operation o;
  if (!i || !compose(i, &o)) return SMMA_TININESS_OF_UNIT;
  switch ((int)i->arch) {
    case SMMA_ARCH_arm:
    case SMMA_ARCH_apple_m1:
    case SMMA_ARCH_apple_m2:
    case SMMA_ARCH_power: return SMMA_TININESS_BEFORE_ROUNDING;
    default: return SMMA_TININESS_AFTER_ROUNDING;
  }
}

static smma_status check(const smma_instruction *i, const smma_batch *x, smma_tininess tininess, int threads,
                         const unsigned char *flags) {
  if (!i || threads < 0 || (int)tininess < 0 || tininess > SMMA_TININESS_AFTER_ROUNDING) return SMMA_INVALID_ARGUMENT;
  if (x->rows && (!x->a || !x->b || !flags)) return SMMA_INVALID_ARGUMENT;
  return x->scale_a || x->scale_b ? SMMA_MISSING_SCALE : SMMA_OK;
}

smma_status smma_dot_flags(const smma_instruction *i, const smma_batch *batch, smma_tininess tininess, int threads,
                           unsigned char *flags, smma_error *error) {
  smma_batch own = {.rows = 0};
  smma_status status = smma_take_struct(batch, &own, sizeof own);
  flag_plan p = {.batch = &own};
  smma_clear_error(error);
  if (status == SMMA_OK) status = check(i, &own, tininess, threads, flags);
  if (status != SMMA_OK) return smma_end_error(error, status);
  if (!compose(i, &p.operation))
    return smma_set_error(error, SMMA_INVALID_ARGUMENT,
                          "%s has no exception flags: its rule has other operations than those of IEEE 754. FP64 of "
                          "NVIDIA, FP32 and FP64 of CDNA, fmmla, fmopa and .ebf of Arm, floating point of Power and "
                          "custom units with algorithm FMA have flags",
                          i->name);
  p.early = (tininess ? tininess : smma_tininess_of(i)) == SMMA_TININESS_BEFORE_ROUNDING;
#pragma omp parallel for num_threads(smma_threads(threads)) schedule(static) if (own.rows > 256 && threads != 1)
  for (size_t row = 0; row < own.rows; row++) compute_row(&p, row, flags);
  return SMMA_OK;
}
