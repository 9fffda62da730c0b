/* Kernels: one for each vector instruction set, each with one function table (family) for each way to compute.

   A family packs the rows of A and the columns of B that a tile needs, then computes fused blocks for many elements
   of D at once. Accumulators are encodings in the multiplier's outer format (D's value widened to binary32; f64 and s32
   as they are), which every rule's D fits. Families need not compute everything: rows and columns with NaN or
   infinities are marked while packing, and special.h adds what these bring; single results are handed to lanes by
   smma_compute_lanes. An accumulator that a family has made infinite stays so whatever products follow. */
#ifndef SMMA_GEMM_KERNEL_H
#define SMMA_GEMM_KERNEL_H

#include <stddef.h>

#include "gemm/gemm.h"
#include "host/float.h"

/* The most rows that one tile has, of which families may pack groups of any divisor, the most columns, and the elements
   of K, or at least instruction steps, that are packed at a time. */
enum { SMMA_FEW_ROWS = 8, SMMA_TILE_ROWS = 1024, SMMA_TILE_COLUMNS = 1024, SMMA_DEPTH = 128, SMMA_LEAST_STEPS = 4 };

/* Instruction steps that are packed at a time: the more, the less often accumulators go through memory. */
static inline size_t smma_steps_at_once(const smma_multiplier *p) {
  const size_t steps = SMMA_DEPTH / (size_t)p->operation.k, most = steps < SMMA_LEAST_STEPS ? SMMA_LEAST_STEPS : steps;
  return p->steps < most ? p->steps : most;
}

/* Rows of A, or columns of B, to be packed: `count` of them from `first` on, `steps` instruction steps from `step` on.
   What lies behind the matrix is +0, its scale factors one. */
typedef struct {
  const smma_multiplier *multiplier;
  const smma_view *view; /* of A or B, or of the part of it that is to be packed, gathered */
  bool of_a;
  size_t first, count; /* count is a multiple of 16 for rows, and the family's columns for columns */
  size_t step, steps;
  void *out;              /* 64-byte aligned */
  unsigned char *special; /* count flags, set (never cleared) where there are NaN or infinities, packed as zero */
} smma_pack;

/* The steps first..last - 1 of the `packed_steps` that were packed, for one panel of columns and the first `rows` of
   the packed rows; a family may compute more of these. */
typedef struct {
  const smma_multiplier *multiplier;
  const void *a, *b;
  void *accumulator;        /* packed rows x the family's columns */
  size_t rows, packed_rows; /* the latter a multiple of 16 */
  size_t packed_steps, first, last;
  size_t row, column, step; /* where the packed operands lie in D and along K */
  const smma_view *view;    /* B, or the part of it that the columns are in */
  unsigned char *special;   /* the columns' flags: see smma_pack */
} smma_run;

struct smma_kernel_family {
  bool (*takes)(const smma_operation *operation);
  size_t columns; /* of one panel */
  /* Bytes that one row and one column take in a step. */
  size_t (*row_bytes)(const smma_operation *operation), (*column_bytes)(const smma_operation *operation);
  /* The latter is NULL where `run` reads the columns as they are. */
  void (*pack_rows)(const smma_pack *pack), (*pack_columns)(const smma_pack *pack);
  void (*run)(const smma_run *run);
  smma_float_mode mode; /* in which `run` is called; packing rounds to nearest */
  bool interleaves;     /* packing is little more than an order: it reads matrices as they lie, not gathered */
  bool takes_lines;     /* packing takes one line after the other */
};

struct smma_kernel {
  const char *name;
  bool (*usable)(void);                      /* on this CPU */
  const smma_kernel_family *const *families; /* ended by NULL; the first that takes an operation computes it */
  const smma_kernel_family *const *few;      /* the same for at most SMMA_FEW_ROWS rows, where it is another family */
  const smma_kernel_family *const *small;    /* and for products of which packing is most of the work */
  smma_lane_function *lanes;
  smma_row_function *row;
};

/* Every kernel that was compiled, fastest first; ended by NULL. */
extern const smma_kernel *const smma_kernels[];

/* The family that computes an operation with the kernel of this name (NULL: the fastest usable one); `*family` is NULL
   for the core. False if there is no such kernel on this CPU. `*kernel` is the name of what will compute. */
bool smma_choose_kernel(const smma_operation *operation, const char *name, const smma_kernel_family **family,
                        const char **kernel);

/* The family for few rows, whose panels are as wide, and that for small products; NULL where there is no other. */
const smma_kernel_family *smma_few_family(const smma_operation *operation, const char *name);
const smma_kernel_family *smma_small_family(const smma_operation *operation, const char *name);

/* Has the core compute one fused block (where the rule has blocks; else one step) for the lanes of `mask`: elements
   (row, column + lane) of the run, block `block` counted from the first packed one. `start` and `result` are the
   accumulators before and after, in the outer format; the lanes behind the matrix are left alone. */
void smma_compute_lanes(const smma_run *run, size_t row, size_t column, size_t block, uint64_t mask, const void *start,
                        void *result);

/* `steps` steps from `step` on of rows x columns elements, by the core. The accumulators lie in panels of `panel`
   columns: see smma_accumulator_index. */
typedef struct {
  const smma_multiplier *multiplier;
  void *accumulator;
  size_t row, column, rows, columns; /* of D */
  size_t packed_rows, panel;         /* how accumulators lie */
  size_t step, steps;
} smma_core_run;

/* `space`: so many numbers of working memory. */
size_t smma_core_space(const smma_multiplier *multiplier);
void smma_run_core(const smma_core_run *run, smma_number *space);

static inline size_t smma_accumulator_index(size_t packed_rows, size_t panel, size_t i, size_t j) {
  return (j / panel * packed_rows + i) * panel + j % panel;
}

#endif
