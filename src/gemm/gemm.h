/* Matrix products of any size on one operation: multiplier -> pack -> run -> threads. docs/architecture.md tells the
 * whole.
 */
#ifndef SMMA_GEMM_GEMM_H
#define SMMA_GEMM_GEMM_H

#include "core/rule.h"
#include "gemm/lanes.h"
#include "plan/schedule.h"
#include "softmma/softmma.h"

typedef struct smma_kernel smma_kernel;
typedef struct smma_kernel_family smma_kernel_family;

/* A or B as lines along K, the rows of A or the columns of B, of which `count` elements each are there: see
   smma_element. Behind them lies +0. */
typedef struct {
  const void *data;
  smma_format format;
  size_t lines, count;
  size_t line_step, k_step;   /* from a line to the next of its panel, and along K */
  size_t panel, panel_step;   /* lines of a panel, and from one to the next */
  size_t line, k;             /* of the first element of `data` */
  double factor;              /* of each element, rounded to the format, but not of what lies behind; 1: none */
  const unsigned char *scale; /* scale factors, those of a line contiguous, one line behind another; or NULL */
} smma_view;

/* Checked arguments and what follows from them. Immutable while threads run. */
struct smma_multiplier {
  smma_operation operation; /* c in D's format: the start is widened before */
  smma_gemm_arguments with; /* leading dimensions filled in */
  smma_view a, b;
  size_t steps;  /* of the instruction, along K */
  size_t part_k; /* products of a part that has scale factors; 0 without */
  bool starts_from_c;
  smma_epilogue epilogue[SMMA_MOST_EPILOGUE]; /* of sums, in the outer format */
  size_t epilogues;
  smma_schedule schedule;         /* what happens between steps: with split_k, promote_every or the caller's plan */
  smma_format outer;              /* f32; f64 and s32 for those: accumulators, promoted and split sums */
  smma_format c_format, d_format; /* of the matrices */
  struct {
    size_t a, c, d;
  } leading;                         /* as they were given, 0 for dense: M may be another in each run of a multiplier */
  const smma_kernel_family *family;  /* how steps are computed; NULL: by the core */
  const smma_kernel_family *few;     /* how they are computed for few rows; NULL: in the same way */
  const smma_kernel_family *small;   /* how they are computed of small products; NULL: in the same way */
  const smma_kernel_family *classes; /* how classes of special operands are multiplied (special.h); or NULL */
  smma_lane_function *lanes;         /* computes what the family leaves; NULL: the core does */
  unsigned char *kept; /* what b shows, where the multiplier has a copy: smma_multiplier_keep_columns; else NULL */
  const struct smma_device *device; /* that computes steps; NULL: this machine's CPU */
  size_t *core_blocks;              /* grows by the fused blocks (or steps) that the family leaves; NULL: uncounted */
};

/* A if `of_a`, else B. */
static inline const smma_view *smma_view_of(const smma_multiplier *multiplier, bool of_a) {
  return of_a ? &multiplier->a : &multiplier->b;
}

/* Which element of its data an element of a view is. */
static inline size_t smma_element(const smma_view *x, size_t line, size_t k) {
  line -= x->line, k -= x->k;
  if (x->panel == SIZE_MAX) return line * x->line_step + k * x->k_step; /* divisions take time */
  return line / x->panel * x->panel_step + line % x->panel * x->line_step + k * x->k_step;
}

/* Whether the elements of a line are contiguous; else those of an index k are. */
static inline bool smma_is_along_k(const smma_view *view) { return view->k_step == 1; }

/* How many of `count` lines from `first` on are there. */
static inline size_t smma_lines_present(const smma_view *view, size_t first, size_t count) {
  const size_t present = first < view->lines ? view->lines - first : 0;
  return present < count ? present : count;
}

/* Fills in dense leading dimensions; checks that no matrix is missing and every index fits, at 8 bytes an element. */
smma_status smma_check_matrices(smma_gemm_arguments *arguments);

/* Fills the multiplier or says what is wrong with the arguments. What it holds is freed by smma_multiplier_end. */
smma_status smma_multiplier_make(const smma_operation *operation, const smma_gemm_arguments *arguments,
                                 smma_multiplier *multiplier);
void smma_multiplier_end(smma_multiplier *multiplier);

/* Sets the views of A, and of B unless that is kept, to what the arguments hold now. */
void smma_multiplier_look(smma_multiplier *multiplier);

/* Gives a copy of a multiplier other matrices, checked; D has m rows. */
smma_status smma_multiplier_take(smma_multiplier *multiplier, size_t m, const void *a, const void *scale_a,
                                 const void *c, void *d);

/* Whether B^T A^T gives the transpose of the same bits, by the same family; and turns a multiplier into that. */
bool smma_can_turn(const smma_multiplier *multiplier);
void smma_turn_product(smma_multiplier *multiplier);

/* SMMA_NO_MEMORY, SMMA_STOPPED or SMMA_OK. */
smma_status smma_multiplier_compute(const smma_multiplier *multiplier);

/* Takes a copy of B for all runs to come, its columns side by side in panels as the family reads them; false without
   memory. Bytes: smma_kept_bytes. */
bool smma_multiplier_keep_columns(smma_multiplier *multiplier);
void smma_multiplier_release_columns(smma_multiplier *multiplier);
size_t smma_kept_bytes(const smma_multiplier *multiplier);

#endif
