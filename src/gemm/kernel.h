/* Kernels: one per vector instruction set. A kernel has several families, which are function tables: one for each fast
   algorithm.

   A family packs the rows of A and the columns of B that a tile needs, then computes fused blocks for many elements
   of D at once. Accumulators are encodings in the multiplier's outer format: f64 or s32 if D has that format, otherwise
   binary32, in which every rule's D is exact.

   A family need not compute every case. Packing may replace NaN and infinities by zero and flag their rows and columns;
   special.h then adds their effect. smma_compute_lanes computes single results that a family does not. If a family
   makes an accumulator infinite, it stays infinite whatever products follow. */
#ifndef SMMA_GEMM_KERNEL_H
#define SMMA_GEMM_KERNEL_H

#include <stddef.h>

#include "gemm/gemm.h"
#include "host/float.h"

enum {
  SMMA_FEW_ROWS = 8,        /* the most rows that the families for few rows compute */
  SMMA_TILE_ROWS = 1024,    /* the most rows of a tile; families may pack rows in groups of any divisor of it */
  SMMA_TILE_COLUMNS = 1024, /* the most columns of a tile */
  SMMA_DEPTH = 128,         /* elements along K that are packed at a time, unless SMMA_LEAST_STEPS steps have more */
  SMMA_LEAST_STEPS = 4      /* instruction steps that are packed at a time at least */
};

/* Returns the number of instruction steps that are packed at a time. The greater this number, the less often
   accumulators are loaded and stored. */
static inline size_t smma_steps_at_once(const smma_multiplier *p) {
  const size_t steps = SMMA_DEPTH / (size_t)p->operation.k, most = steps < SMMA_LEAST_STEPS ? SMMA_LEAST_STEPS : steps;
  return p->steps < most ? p->steps : most;
}

/* Rows of A, or columns of B, to pack: `count` lines from `first` on, for `steps` instruction steps from `step` on.
   Elements outside the matrix are +0, and their scale factors are 1. */
typedef struct {
  const smma_multiplier *multiplier;
  const smma_view *view; /* A or B, or a gathered copy of the section to pack */
  bool of_a;
  size_t first, count; /* count is a multiple of 16 for rows, and of the family's `columns` for columns */
  size_t step, steps;
  void *out; /* the packed rows or columns, 64-byte aligned */
  /* `count` flags. Packing sets those of lines with NaN or infinities, if it packs these as zero; it clears none. */
  unsigned char *special;
} smma_pack;

/* A request to a family: steps first..last - 1 of the `packed_steps` packed steps, for one panel of columns and the
   first `rows` packed rows. A family may compute more of the packed rows. */
typedef struct {
  const smma_multiplier *multiplier;
  const void *a, *b;        /* packed rows, and the packed panel of columns */
  void *accumulator;        /* accumulators of the panel: packed_rows x the family's `columns` */
  size_t rows, packed_rows; /* packed_rows is a multiple of 16 */
  size_t packed_steps, first, last;
  size_t row, column, step; /* the row and the column of D, and the step, at which the packed operands begin */
  const smma_view *view;    /* B, or a gathered copy that contains the columns */
  unsigned char *special;   /* flags of the columns: see smma_pack */
} smma_run;

struct smma_kernel_family {
  bool (*takes)(const smma_operation *operation); /* whether the family computes an operation */
  size_t columns;                                 /* columns of a panel */
  /* Return the bytes that one step of a packed row, or of a packed column, occupies. */
  size_t (*row_bytes)(const smma_operation *operation), (*column_bytes)(const smma_operation *operation);
  /* pack_columns is NULL if `run` reads columns that are not packed. */
  void (*pack_rows)(const smma_pack *pack), (*pack_columns)(const smma_pack *pack);
  void (*run)(const smma_run *run);
  smma_float_mode mode; /* floating-point mode for calls of `run`; packing rounds to nearest */
  bool interleaves;     /* packing only reorders and converts elements, so that it rarely needs gathered copies */
  bool takes_lines; /* packing processes one line at a time and needs no gathered copies (see is_gathered in run.c) */
};

struct smma_kernel {
  const char *name;
  bool (*usable)(void); /* whether this CPU has the instructions */
  /* NULL-terminated lists. The first family of a list that accepts an operation computes it. */
  const smma_kernel_family *const *families; /* for products of any size */
  const smma_kernel_family *const *few;      /* for at most SMMA_FEW_ROWS rows */
  const smma_kernel_family *const *small;    /* for products so small that packing would dominate */
  smma_lane_function *lanes;
  smma_row_function *row;
};

/* All compiled kernels, fastest first; NULL-terminated. */
extern const smma_kernel *const smma_kernels[];

/* Chooses the family for an operation in the kernel called `name` (NULL: the fastest usable kernel; "core": the core).
   Sets `*family` to it, or to NULL if the core must compute, and `*kernel` to the name of the kernel that will compute.
   Returns false if this CPU has no such kernel. */
bool smma_choose_kernel(const smma_operation *operation, const char *name, const smma_kernel_family **family,
                        const char **kernel);

/* smma_few_family returns the family for few rows; its panels are as wide as those of the usual family.
   smma_small_family returns the family for small products. Both return NULL if the kernel has none that accepts the
   operation. */
const smma_kernel_family *smma_few_family(const smma_operation *operation, const char *name);
const smma_kernel_family *smma_small_family(const smma_operation *operation, const char *name);

/* Computes one fused block (or one step, if the rule has no blocks) with the core's bits, for the elements (row, column
   + i) of the run whose bit i is set in `mask`. `block` counts from the first packed block. Entry i of `start` and
   `result` is the accumulator of element i before and after the block, in the outer format. Entries of `result` for
   other elements, and for elements outside the matrix, are not changed. */
void smma_compute_lanes(const smma_run *run, size_t row, size_t column, size_t block, uint64_t mask, const void *start,
                        void *result);

/* A request to the core: `steps` steps from `step` on, for rows x columns elements. */
typedef struct {
  const smma_multiplier *multiplier;
  void *accumulator;
  size_t row, column, rows, columns; /* position and size in D */
  size_t packed_rows, panel;         /* layout of the accumulators: see smma_accumulator_index */
  size_t step, steps;
} smma_core_run;

/* smma_run_core computes the request. It needs working memory (`space`) for as many numbers as smma_core_space
   returns. */
size_t smma_core_space(const smma_multiplier *multiplier);
void smma_run_core(const smma_core_run *run, smma_number *space);

/* Returns the index of the accumulator of element (i, j). Accumulators are stored in panels of `panel` columns; a panel
   has packed_rows rows, each contiguous. */
static inline size_t smma_accumulator_index(size_t packed_rows, size_t panel, size_t i, size_t j) {
  return (j / panel * packed_rows + i) * panel + j % panel;
}

#endif
