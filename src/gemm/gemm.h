/* Matrix products of any size for one operation: multiplier -> pack -> run -> threads. docs/architecture.md has the
 * overview. */
#ifndef SMMA_GEMM_GEMM_H
#define SMMA_GEMM_GEMM_H

#include "core/rule.h"
#include "gemm/lanes.h"
#include "plan/schedule.h"
#include "softmma/softmma.h"

typedef struct smma_kernel smma_kernel;
typedef struct smma_kernel_family smma_kernel_family;

/* A view of A or B as lines along K: the rows of A or the columns of B. Each line has `count` elements in memory;
   elements after them are +0. smma_element returns the index of an element in memory. */
typedef struct {
  const void *data;
  smma_format format;
  size_t lines, count;
  size_t line_step, k_step;   /* distance between lines within a panel, and between successive k */
  size_t panel, panel_step;   /* lines per panel, and elements from one panel to the next */
  size_t line, k;             /* line and k of the first element of `data` */
  double factor;              /* multiplies each present element, rounded to the format; 1: no factor */
  const unsigned char *scale; /* scale factors, contiguous for each line, line after line; or NULL */
} smma_view;

/* Checked arguments and derived values. They do not change while threads run. */
struct smma_multiplier {
  smma_operation operation; /* its c has D's format: C is converted before the first step */
  smma_gemm_arguments with; /* leading dimensions filled in */
  smma_view a, b;
  size_t steps;  /* instruction steps along K */
  size_t part_k; /* number of products in a block of K that has scale factors; 0: blocks have no scale factors */
  bool starts_from_c;
  bool turned;                                /* computes B^T A^T: see smma_turn_product */
  smma_epilogue epilogue[SMMA_MOST_EPILOGUE]; /* operations on the final sums, in the outer format */
  size_t epilogues;
  smma_schedule schedule; /* tasks between steps, from split_k, promote_every or the caller's plan */
  smma_format outer; /* format of accumulators, promoted and split sums: f32, or f64 and s32 if D has that format */
  smma_format c_format, d_format; /* formats of the matrices */
  struct {
    size_t a, c, d;
  } leading;                         /* as given, 0 for dense matrices: M can differ between runs of a multiplier */
  const smma_kernel_family *family;  /* computes the steps; NULL: the core does */
  const smma_kernel_family *few;     /* computes the steps if there are few rows; NULL: `family` does */
  const smma_kernel_family *small;   /* computes the steps of small products; NULL: `family` does */
  const smma_kernel_family *classes; /* multiplies classes of special operands (special.h); or NULL */
  smma_lane_function *lanes; /* computes single results that the family cannot compute; NULL: the core computes them */
  unsigned char *kept;       /* the multiplier's copy of B: see smma_multiplier_keep_columns; else NULL */
  const struct smma_device *device; /* computes the steps; NULL: the CPU does */
  size_t *core_blocks; /* counter of the fused blocks (or steps) that the family does not compute; NULL: they are not
                          counted */
};

/* Returns the view of A if `of_a`, else of B. */
static inline const smma_view *smma_view_of(const smma_multiplier *multiplier, bool of_a) {
  return of_a ? &multiplier->a : &multiplier->b;
}

/* Returns the index of an element of a view in its data. */
static inline size_t smma_element(const smma_view *x, size_t line, size_t k) {
  line -= x->line, k -= x->k;
  if (x->panel == SIZE_MAX) return line * x->line_step + k * x->k_step; /* avoids slow divisions */
  return line / x->panel * x->panel_step + line % x->panel * x->line_step + k * x->k_step;
}

/* Reports whether the elements of a line are contiguous; otherwise the elements of the same k are. */
static inline bool smma_is_along_k(const smma_view *view) { return view->k_step == 1; }

/* Returns how many of `count` lines from `first` on are inside the matrix. */
static inline size_t smma_lines_present(const smma_view *view, size_t first, size_t count) {
  const size_t present = first < view->lines ? view->lines - first : 0;
  return present < count ? present : count;
}

/* Fills in dense leading dimensions. Checks that no matrix is missing and that every index fits at 8 bytes per
   element. */
smma_status smma_check_matrices(smma_gemm_arguments *arguments);

/* Fills the multiplier, or reports the error in the arguments. smma_multiplier_end frees its memory. */
smma_status smma_multiplier_make(const smma_operation *operation, const smma_gemm_arguments *arguments,
                                 smma_multiplier *multiplier);
void smma_multiplier_end(smma_multiplier *multiplier);

/* Sets the view of A, and of B unless B is copied, to the matrices in the arguments. */
void smma_multiplier_look(smma_multiplier *multiplier);

/* Sets other, checked matrices in a copy of a multiplier; D has m rows. */
smma_status smma_multiplier_take(smma_multiplier *multiplier, size_t m, const void *a, const void *scale_a,
                                 const void *c, void *d);

/* smma_can_turn reports whether B^T A^T gives the transpose with the same bits by the same family. smma_turn_product
   turns a multiplier into that product. */
bool smma_can_turn(const smma_multiplier *multiplier);
void smma_turn_product(smma_multiplier *multiplier);

/* Computes the product. Returns SMMA_NO_MEMORY, SMMA_STOPPED or SMMA_OK. */
smma_status smma_multiplier_compute(const smma_multiplier *multiplier);

/* Copies B for all later runs, with its columns interleaved in panels as the family reads them. Returns false if
   there is no memory. The copy takes smma_kept_bytes. */
bool smma_multiplier_keep_columns(smma_multiplier *multiplier);
void smma_multiplier_release_columns(smma_multiplier *multiplier);
size_t smma_kept_bytes(const smma_multiplier *multiplier);

#endif
