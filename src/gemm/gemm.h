/* Matrix products of any size by one instruction. A multiplier holds the checked arguments of a product and all that
   is derived from them. docs/architecture.md describes how kernels and threads compute the product from it. */
#ifndef SMMA_GEMM_GEMM_H
#define SMMA_GEMM_GEMM_H

#include "core/rule.h"
#include "gemm/lanes.h"
#include "plan/schedule.h"
#include "softmma/softmma.h"

typedef struct smma_kernel smma_kernel;
typedef struct smma_kernel_family smma_kernel_family;

/* A view of A or B as lines along K: the rows of A or the columns of B. Each line has `count` elements in memory;
   elements after these are +0. Steps and distances count elements. smma_element returns the index of an element. */
typedef struct {
  const void *data;
  smma_format format;
  size_t lines, count;
  size_t line_step;           /* distance between lines within a panel */
  size_t k_step;              /* distance between elements with successive k */
  size_t panel;               /* lines per panel; SIZE_MAX: the lines are not divided into panels */
  size_t panel_step;          /* distance between panels */
  size_t line, k;             /* line and k of the first element of `data` */
  double factor;              /* multiplies each element in memory; the product is rounded to the format; 1: none */
  const unsigned char *scale; /* scale factors, contiguous for each line, line after line; or NULL */
} smma_view;

/* The checked arguments of a product and values derived from them. They do not change while threads run. */
struct smma_multiplier {
  smma_operation operation; /* operation.c is D's format, because C is converted before the first step */
  smma_gemm_arguments with; /* the caller's arguments, with dense leading dimensions filled in */
  smma_view a, b;
  size_t steps;  /* instruction steps along K */
  size_t part_k; /* indices k in each of a plan's blocks that have scale factors; 0: the plan has no scale factors */
  bool takes_c;  /* the plan, if there is one, uses C */
  bool starts_from_c; /* accumulators start from beta * C, if there is a C and beta is not 0; otherwise from 0 */
  bool turned;        /* computes B^T A^T: see smma_turn_product */
  smma_epilogue epilogue[SMMA_MOST_EPILOGUE]; /* what is done with the final sums, in the outer format */
  size_t epilogues;                           /* number of entries in `epilogue` */
  smma_schedule schedule; /* tasks between steps, from split_k, promote_every or the caller's plan */
  smma_format outer;      /* format of accumulators and of a plan's sums: f64 or s32 if D has it, otherwise f32 */
  smma_format c_format, d_format; /* formats of the matrices */
  /* Leading dimensions as the caller gave them. A 0 (dense) is filled in anew if a later run has another M. */
  struct {
    size_t a, c, d;
  } leading;
  const smma_kernel_family *family;  /* computes the steps; NULL: the core does */
  const smma_kernel_family *few;     /* computes the steps if there are few rows; NULL: `family` does */
  const smma_kernel_family *small;   /* computes the steps of small products; NULL: `family` does */
  const smma_kernel_family *classes; /* multiplies classes of special operands (special.h); or NULL */
  smma_lane_function *lanes; /* computes single results that the family cannot compute; NULL: the core computes them */
  unsigned char *kept;       /* the copy of B that smma_multiplier_keep_columns made; NULL: B is the caller's */
  const struct smma_device *device; /* computes the steps; NULL: the CPU does */
  size_t *core_blocks; /* counts the fused blocks (or steps) that the core or lanes compute; NULL: nothing is counted */
};

/* Returns the view of A if `of_a`, else of B. */
static inline const smma_view *smma_view_of(const smma_multiplier *multiplier, bool of_a) {
  return of_a ? &multiplier->a : &multiplier->b;
}

/* Returns the index, in the view's `data`, of element k of a line. */
static inline size_t smma_element(const smma_view *x, size_t line, size_t k) {
  line -= x->line, k -= x->k;
  if (x->panel == SIZE_MAX) return line * x->line_step + k * x->k_step; /* avoids slow divisions */
  return line / x->panel * x->panel_step + line % x->panel * x->line_step + k * x->k_step;
}

/* Reports whether the elements of a line are contiguous. Otherwise the elements with the same k of successive lines
   are. */
static inline bool smma_is_along_k(const smma_view *view) { return view->k_step == 1; }

/* Returns how many of the `count` lines that begin at line `first` are inside the matrix. */
static inline size_t smma_lines_present(const smma_view *view, size_t first, size_t count) {
  const size_t present = first < view->lines ? view->lines - first : 0;
  return present < count ? present : count;
}

/* Fills in leading dimensions that are 0 (dense). Checks that no matrix is missing, that orders and leading dimensions
   are valid, and that size_t holds every offset at 8 bytes per element. */
smma_status smma_check_matrices(smma_gemm_arguments *arguments);

/* smma_multiplier_make fills the multiplier, or returns the status of an error in the arguments; some errors also set
   arguments->error. is_kept: the multiplier is for several products, whose M is not known yet. smma_multiplier_end
   frees what it allocated. */
smma_status smma_multiplier_make(const smma_operation *operation, const smma_gemm_arguments *arguments, bool is_kept,
                                 smma_multiplier *multiplier);
void smma_multiplier_end(smma_multiplier *multiplier);

/* Sets the view of A, and that of B unless the multiplier has a copy of B, to the matrices in its arguments. */
void smma_multiplier_set_views(smma_multiplier *multiplier);

/* Replaces A, its scale factors, C and D by matrices of m rows, in a copy of a multiplier. Checks these matrices as
   smma_multiplier_make does. */
smma_status smma_multiplier_take(smma_multiplier *multiplier, size_t m, const void *a, const void *scale_a,
                                 const void *c, void *d);

/* smma_can_turn reports whether the multiplier's family, which must not be NULL, can compute B^T A^T, and whether the
   result is the transpose of D with the same bits. smma_turn_product changes a multiplier so that it computes B^T A^T;
   D keeps its place in memory. */
bool smma_can_turn(const smma_multiplier *multiplier);
void smma_turn_product(smma_multiplier *multiplier);

/* Computes the product. Returns SMMA_NO_MEMORY, SMMA_STOPPED or SMMA_OK. */
smma_status smma_multiplier_compute(const smma_multiplier *multiplier);

/* smma_multiplier_keep_columns copies B for all later runs, in the plan's order of k, with columns interleaved in
   panels as the family reads them. It returns false if there is no memory. smma_multiplier_release_columns frees the
   copy. smma_kept_bytes returns the size of the copy in bytes. */
bool smma_multiplier_keep_columns(smma_multiplier *multiplier);
void smma_multiplier_release_columns(smma_multiplier *multiplier);
size_t smma_kept_bytes(const smma_multiplier *multiplier);

#endif
