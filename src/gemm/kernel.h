/* Kernels: one per vector instruction set. Each has one function table (family) per way to compute.

   A family packs the rows of A and the columns of B that a tile needs, then computes fused blocks for many elements
   of D at once. Accumulators are encodings in the multiplier's outer format: binary32, or f64 and s32 for D of these
   formats. It holds D of every rule. A family may leave out some cases. Packing replaces NaN and infinities by zero and
   flags their rows and columns; special.h adds their effect. smma_compute_lanes computes single results that a family
   does not. If a family makes an accumulator infinite, it stays infinite whatever products follow. */
#ifndef SMMA_GEMM_KERNEL_H
#define SMMA_GEMM_KERNEL_H

#include <stddef.h>

#include "gemm/gemm.h"
#include "host/float.h"

/* SMMA_FEW_ROWS is the most rows that the families of few rows compute. A tile has at most SMMA_TILE_ROWS rows and
   SMMA_TILE_COLUMNS columns; families may pack rows in groups of any divisor of SMMA_TILE_ROWS. SMMA_DEPTH elements of
   K are packed at a time, but at least SMMA_LEAST_STEPS instruction steps. */
enum { SMMA_FEW_ROWS = 8, SMMA_TILE_ROWS = 1024, SMMA_TILE_COLUMNS = 1024, SMMA_DEPTH = 128, SMMA_LEAST_STEPS = 4 };

/* Returns the number of instruction steps that are packed at a time. The greater it is, the less often accumulators
   are loaded and stored. */
static inline size_t smma_steps_at_once(const smma_multiplier *p) {
  const size_t steps = SMMA_DEPTH / (size_t)p->operation.k, most = steps < SMMA_LEAST_STEPS ? SMMA_LEAST_STEPS : steps;
  return p->steps < most ? p->steps : most;
}

/* Rows of A, or columns of B, to pack: `count` lines from `first` on, `steps` instruction steps from `step` on.
   Elements outside the matrix are +0, their scale factors 1. */
typedef struct {
  const smma_multiplier *multiplier;
  const smma_view *view; /* A or B, or a gathered copy of the section to pack */
  bool of_a;
  size_t first, count; /* count is a multiple of 16 for rows, and of the family's `columns` for columns */
  size_t step, steps;
  void *out; /* 64-byte aligned */
  unsigned char
      *special; /* count flags; set (never cleared) for lines with NaN or infinities, which are packed as zero */
} smma_pack;

/* Steps first..last - 1 of the `packed_steps` packed ones, for one panel of columns and the first `rows` packed
   rows. A family may compute more of the packed rows. */
typedef struct {
  const smma_multiplier *multiplier;
  const void *a, *b;
  void *accumulator;        /* packed rows x the family's columns */
  size_t rows, packed_rows; /* packed_rows is a multiple of 16 */
  size_t packed_steps, first, last;
  size_t row, column, step; /* position of the packed operands in D and along K */
  const smma_view *view;    /* B, or a gathered copy that contains the columns */
  unsigned char *special;   /* flags of the columns: see smma_pack */
} smma_run;

struct smma_kernel_family {
  bool (*takes)(const smma_operation *operation);
  size_t columns; /* per panel */
  /* Bytes that one step of a packed row, or of a packed column, occupies. */
  size_t (*row_bytes)(const smma_operation *operation), (*column_bytes)(const smma_operation *operation);
  /* pack_columns is NULL if `run` reads the columns without packing. */
  void (*pack_rows)(const smma_pack *pack), (*pack_columns)(const smma_pack *pack);
  void (*run)(const smma_run *run);
  smma_float_mode mode; /* floating-point mode for calls of `run`; packing rounds to nearest */
  bool interleaves;     /* packing only reorders elements: it reads matrices directly, not gathered copies */
  bool takes_lines;     /* packing processes one line at a time */
};

struct smma_kernel {
  const char *name;
  bool (*usable)(void); /* whether this CPU has the instructions */
  const smma_kernel_family *const
      *families;                          /* NULL-terminated; the first family that accepts an operation computes it */
  const smma_kernel_family *const *few;   /* like `families`, for at most SMMA_FEW_ROWS rows */
  const smma_kernel_family *const *small; /* like `families`, for products so small that packing would dominate */
  smma_lane_function *lanes;
  smma_row_function *row;
};

/* Every compiled kernel, fastest first; NULL-terminated. */
extern const smma_kernel *const smma_kernels[];

/* Chooses the family for an operation in the kernel of this name (NULL: the fastest usable kernel). `*family` is
   NULL if the core computes. Returns false if this CPU has no such kernel. `*kernel` becomes the name of the kernel
   that will compute. */
bool smma_choose_kernel(const smma_operation *operation, const char *name, const smma_kernel_family **family,
                        const char **kernel);

/* smma_few_family returns the family for few rows, whose panels have the same width. smma_small_family returns the
   family for small products. Both return NULL if the kernel has no such family. */
const smma_kernel_family *smma_few_family(const smma_operation *operation, const char *name);
const smma_kernel_family *smma_small_family(const smma_operation *operation, const char *name);

/* Makes the core compute one fused block (or one step, if the rule has no blocks) for the lanes of `mask`: elements
   (row, column + lane) of the run, block `block` counted from the first packed one. `start` and `result` are the
   accumulators before and after, in the outer format; lanes outside the matrix stay unchanged. */
void smma_compute_lanes(const smma_run *run, size_t row, size_t column, size_t block, uint64_t mask, const void *start,
                        void *result);

/* Steps for the core to compute: `steps` steps from `step` on of rows x columns elements. The accumulators lie in
   panels of `panel` columns: see smma_accumulator_index. */
typedef struct {
  const smma_multiplier *multiplier;
  void *accumulator;
  size_t row, column, rows, columns; /* position and size in D */
  size_t packed_rows, panel;         /* layout of the accumulators */
  size_t step, steps;
} smma_core_run;

/* smma_core_space returns how many numbers of working memory (`space`) smma_run_core needs. */
size_t smma_core_space(const smma_multiplier *multiplier);
void smma_run_core(const smma_core_run *run, smma_number *space);

static inline size_t smma_accumulator_index(size_t packed_rows, size_t panel, size_t i, size_t j) {
  return (j / panel * packed_rows + i) * panel + j % panel;
}

#endif
