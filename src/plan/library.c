#include "plan/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "host/error.h"
#include "isa/format_name.h"
#include "isa/key.h"
#include "plan/shapes.h"

enum { ANY = -1, CUDA_CORES = 1 };

/* Architectures of the GPUs on which libraries have been measured. */
typedef enum { H100, GB200, GB300, RTX4060, NO_GPU } gpu;

static const struct {
  const char *name;
  smma_arch_id arch;
} gpus[] = {{"H100", SMMA_ARCH_hopper},
            {"GB200", SMMA_ARCH_blackwell},
            {"GB300", SMMA_ARCH_blackwell},
            {"RTX4060", SMMA_ARCH_ada}};

/* The formats in which kernels multiply and sum. */
typedef enum {
  HALF,     /* f16 or bf16, sums in f32 */
  F16,      /* f16 only: FP32 operands that cuBLASLt rounds to it */
  BF16,     /* bf16 only: FP32 operands that cuBLASLt rounds to it */
  F16_SUMS, /* f16, sums in f16 */
  FP8,      /* e4m3 or e5m2 */
  TF32,
  SINGLE, /* f32 on CUDA cores */
  DOUBLE,
  INT8,
  F16_CORES, /* f16 on CUDA cores */
  FLOATS     /* f16, bf16, f32 or f64 on CUDA cores */
} inputs;

/* How a kernel sums; its parameters are in brackets. */
typedef enum {
  NVJET, /* (stage, restart): one chain; slices are multiples of `stage`; FP8 without fast accumulation begins a new sum
            every `restart` k */
  CHAIN, /* one chain of wgmma, K not split */
  CUTLASS, /* (tile, group or 0, bytes of an element of A): the first tile takes the residue, in separate groups */
  XMMA,    /* (tile, restart): tiles are given to slices in turn */
  EXACT,   /* integers: the order has no effect on the result */
  GEMMSN, /* (parts, products, lanes, products): K is divided into parts, and each part into smaller parts of `products`
             products (0: no smaller parts). But if A and B are contiguous along K and `lanes` is not 0, products are
             given to lanes in turn, and each lane sums chunks of the second number of products */
  GEMV, /* (products, lanes, tiles, halved): products are given to lanes in turn, `products` at a time; if the number is
           negative, at most -products, and half of that in f64. If `tiles` is not 0, a lane sums chunks of so many
           tiles. `halved`: lanes are added by halving */
  GEMV_SLICES, /* (lanes, products): each lane has a slice of K, in chunks */
  DOT /* (products or 0): tiles of 128 threads are given to blocks in turn. Each thread takes this number of products
         (0: two if N is 1, otherwise one), or one product if A or B is strided along K */
} way;

typedef struct {
  gpu on;
  inputs of;
  int algo, first_stages, last_stages, custom;
  way how;
  int with[4];
} kernel;

#define SMMA_KERNEL(on, of, algo, first, last, custom, how, x, y, z, w) \
  {on, of, algo, first, last, custom, how, {x, y, z, w}},
static const kernel cublaslt_12_8[] = {
#include "plan/cublaslt_12_8.def"
};
static const kernel cublaslt_13_1[] = {
#include "plan/cublaslt_13_1.def"
};
#undef SMMA_KERNEL

/* A plan that needs no configuration, or a table of kernels. */
typedef struct {
  const char *name;
  const char *text; /* the plan; or NULL */
  gpu on;
  const kernel *kernels;
  size_t count;
  const char *source;
} library;

#define KERNELS(array) array, sizeof(array) / sizeof(array)[0]
static const char recorded_choice[] =
    "the choice for this shape and workspace: mmaemu 0.1.0, its table of cuBLASLt 12.8.3.14";

#define BITEQUIV "bitequiv (facebookexperimental/triton, bitequiv/cublas_match, 2026)"

static const library libraries[] = {
    {"cublaslt:12.8/H100", NULL, H100, KERNELS(cublaslt_12_8),
     "mmaemu 0.1.0 (Ding, 2026): 374 products without and 3,465 with split K on an H100 PCIe, cuBLASLt 12.8.3.14"},
    {"cublaslt:12.8/RTX4060", NULL, RTX4060, KERNELS(cublaslt_12_8), "mmaemu 0.1.0 (Ding, 2026): cuBLASLt 12.8.3.14"},
    {"cublaslt:12.8/GB200", NULL, GB200, KERNELS(cublaslt_12_8), BITEQUIV ": cuBLASLt 12.8.5"},
    {"cublaslt:13.1/H100", NULL, H100, KERNELS(cublaslt_13_1),
     BITEQUIV ": 648,717 of 648,720 shapes have a plan, 99.817 % of the compared bytes are equal; SoftMMA, 2026-11-26: "
              "recorded on an H100 SXM, cuBLASLt 13.1.1 (docs/libraries.md)"},
    {"cublaslt:13.1/GB200", NULL, GB200, KERNELS(cublaslt_13_1),
     BITEQUIV
     ": cuBLASLt 13.1.1; on sm_100 99.891 % of the shapes with a plan are equal, of 100,692 without a version"},
    {"cublaslt:13.1/GB300", NULL, GB300, KERNELS(cublaslt_13_1),
     BITEQUIV ": cuBLASLt 13.1.1; 99.791 % of 496,906 shapes are equal"},
#define SMMA_PLAN(name, source, text) {name, text, NO_GPU, NULL, 0, source},
#include "plan/named.def"
#undef SMMA_PLAN
};

enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

const char *smma_plan_library_name(size_t index) { return index < LIBRARIES ? libraries[index].name : NULL; }

typedef struct {
  const smma_plan_request *with;
  smma_plan_request recorded; /* with the library's choice, if it is recorded */
  const library *from;
  const kernel *kernel;
  smma_plan *plan;
  smma_error *error;
} maker;

/* UNKNOWN sets the error that no plan is known, with the reason. MISSING sets the error that the request lacks an
   argument. Both evaluate to false. */
#define UNKNOWN(m, ...) smma_fail_as((m)->error, SMMA_NOT_FOUND, __VA_ARGS__)
#define MISSING(m, ...) smma_fail_as((m)->error, SMMA_INVALID_ARGUMENT, __VA_ARGS__)

/* ---- Levels ---- */

static smma_plan_level *add_level(maker *m, smma_deal deal, size_t count, size_t grain) {
  smma_plan_level *l = &m->plan->level[m->plan->levels++];
  *l = (smma_plan_level){
      .deal = deal, .count = count, .grain = grain, .stored = SMMA_STORED_AS_IS, .total = SMMA_STORED_AS_IS};
  return l;
}

static size_t slices_of(const maker *m) { return m->with->split_k > 1 ? (size_t)m->with->split_k : 1; }

/* Sets how slices are merged, by REDUCTION_SCHEME. */
static bool merge(maker *m, smma_plan_level *l) {
  if (m->kernel->of == F16_SUMS) return l->total = SMMA_F16, true;
  if (m->kernel->of == DOUBLE) return true; /* D has the format of accumulators */
  switch (m->with->reduction) {
    case 2: return true;                               /* CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE */
    case 4: return l->stored = SMMA_STORED_AS_D, true; /* ..._OUTPUT_TYPE */
    case 0:
    case 1: return l->total = SMMA_STORED_AS_D, true; /* ..._INPLACE */
    case ANY: return MISSING(m, "the slices' merge is the library's choice: give reduction, its REDUCTION_SCHEME");
  }
  return UNKNOWN(m, "reduction %d: no rule is known; those of 0, 1, 2 and 4 are", m->with->reduction);
}

static void restart(maker *m, size_t every) {
  if (every) add_level(m, SMMA_DEAL_EVERY, 0, every)->from_zero = true;
}

/* ---- Kernels ---- */

static bool make_nvjet(maker *m) {
  const size_t stage = (size_t)m->kernel->with[0], slices = slices_of(m);
  const bool fast = m->with->fast_accumulation && m->kernel->of == FP8;
  if (slices > 1) {
    const size_t length = smma_divide_up(smma_divide_up(m->with->k, slices), stage) * stage;
    if (length >= m->with->k)
      return UNKNOWN(m,
                     "%zu slices of K = %zu in stages of %zu: the first would have all, which is not known to happen",
                     slices, m->with->k, stage);
    add_level(m, SMMA_DEAL_CONTIGUOUS, slices, stage);
    if (m->kernel->of == HALF || (m->from->kernels == cublaslt_13_1 && m->from->on == H100)) m->plan->lost_tail = stage;
  }
  if (!fast) restart(m, (size_t)m->kernel->with[1]);
  return true;
}

/* Makes a CUTLASS plan. Slices start at multiples of 128 bytes, a cache line, if A or B is contiguous along K and K
   fills whole lines; otherwise at multiples of 16 bytes (CUTLASS, gemm/kernel/params_universal_base.h). Slices that
   would start beyond K are omitted. */
static bool make_cutlass(maker *m) {
  const size_t bytes = (size_t)m->kernel->with[2], line = 128 / bytes, k = m->with->k;
  const size_t grain = (m->with->a_strided && m->with->b_strided) || k % line ? 16 / bytes : line;
  const size_t slices = slices_of(m) > k ? smma_divide_up(k, grain) : slices_of(m);
  m->plan->group = (size_t)m->kernel->with[1];
  if (m->plan->group > 1) m->plan->residue = SMMA_RESIDUE_FIRST_TILE, m->plan->tile = (size_t)m->kernel->with[0];
  return slices <= 1 || merge(m, add_level(m, SMMA_DEAL_CONTIGUOUS, slices, grain));
}

/* Makes a plan of one chain. cuBLASLt's SPLITK_NUM -1 is a stream-K kernel. */
static bool make_chain(maker *m) {
  return m->with->split_k == 1 ||
         UNKNOWN(m, "splitk %d by algorithm %d: no rule is known, only of splitk 1", m->with->split_k, m->with->algo);
}

static bool make_xmma(maker *m) {
  const size_t tile = (size_t)m->kernel->with[0], slices = slices_of(m);
  smma_plan_level *l;
  if (slices > 1) {
    l = add_level(m, SMMA_DEAL_INTERLEAVED, slices, tile);
    if (m->with->custom == 1) l->fold = SMMA_FOLD_LAST_FIRST;
    if (m->with->custom == ANY)
      return MISSING(m, "the slices' order is the library's choice: give custom, its CUSTOM_OPTION");
    if (m->with->custom < 0 || m->with->custom > 2) return UNKNOWN(m, "custom %d: no rule is known", m->with->custom);
  }
  restart(m, (size_t)m->kernel->with[1]);
  return true;
}

/* Checks that K is not split, for families without slices. */
static bool unsplit(maker *m) {
  return slices_of(m) == 1 ||
         UNKNOWN(m, "%d slices by algorithm %d: no rule is known", m->with->split_k, m->with->algo);
}

static bool is_strided(const maker *m) { return m->with->a_strided || m->with->b_strided; }

static bool make_gemmsn(maker *m) {
  const int *x = m->kernel->with;
  m->plan->group = CUDA_CORES;
  if (x[2] && !is_strided(m)) {
    add_level(m, SMMA_DEAL_INTERLEAVED, (size_t)x[2], 1);
    add_level(m, SMMA_DEAL_EVERY, 0, (size_t)x[3]);
    return unsplit(m);
  }
  if (!x[0]) return UNKNOWN(m, "algorithm %d with A or B strided along K: no rule is known", m->with->algo);
  if (x[0] > 1) add_level(m, SMMA_DEAL_CONTIGUOUS, (size_t)x[0], 1)->from_zero = true;
  restart(m, (size_t)x[1]);
  return unsplit(m);
}

static bool is_vector(maker *m) {
  return m->with->m == 1 || m->with->n == 1 ||
         UNKNOWN(m, "algorithm %d takes a vector: M or N is 1, not %zu and %zu", m->with->algo, m->with->m, m->with->n);
}

static bool make_gemv(maker *m) {
  const int *x = m->kernel->with;
  const size_t load = (size_t)abs(x[0]) / (x[0] < 0 && m->with->instruction->a == SMMA_F64 ? 2 : 1);
  const size_t lanes = (size_t)x[1];
  smma_plan_level *l;
  m->plan->group = CUDA_CORES;
  if (slices_of(m) > 1) add_level(m, SMMA_DEAL_CONTIGUOUS, slices_of(m), 1);
  l = add_level(m, SMMA_DEAL_INTERLEAVED, lanes, load);
  l->fits = x[0] < 0;
  if (x[3]) l->fold = SMMA_FOLD_HALVING;
  if (x[2]) add_level(m, SMMA_DEAL_EVERY, 0, (size_t)x[2] * load);
  return is_vector(m);
}

static bool make_gemv_slices(maker *m) {
  m->plan->group = CUDA_CORES;
  add_level(m, SMMA_DEAL_CONTIGUOUS, (size_t)m->kernel->with[0], 1);
  add_level(m, SMMA_DEAL_EVERY, 0, (size_t)m->kernel->with[1]);
  if (m->with->m != 1) return UNKNOWN(m, "algorithm 13 with option 5 takes M = 1, not %zu", m->with->m);
  return unsplit(m);
}

static bool make_dot(maker *m) {
  static const size_t strides[] = {128, 64, 32, 4, 1};
  const size_t most = (size_t)m->kernel->with[0];
  const size_t load = most ? (is_strided(m) ? 1 : most) : m->with->n == 1 ? 2 : 1;
  smma_plan_level *l = add_level(m, SMMA_DEAL_INTERLEAVED, slices_of(m), load * 128);
  l->fold = SMMA_FOLD_STRIDES, l->strides = sizeof strides / sizeof strides[0];
  memcpy(l->stride, strides, sizeof strides);
  add_level(m, SMMA_DEAL_INTERLEAVED, 128, load)->fold = SMMA_FOLD_HALVING;
  if (load > 1) add_level(m, SMMA_DEAL_INTERLEAVED, load, 1);
  m->plan->group = CUDA_CORES;
  return is_vector(m);
}

static bool make_kernel(maker *m) {
  switch (m->kernel->how) {
    case NVJET: return make_nvjet(m);
    case CHAIN: return make_chain(m);
    case CUTLASS: return make_cutlass(m);
    case XMMA: return make_xmma(m);
    case EXACT: return true;
    case GEMMSN: return make_gemmsn(m);
    case GEMV: return make_gemv(m);
    case GEMV_SLICES: return make_gemv_slices(m);
    case DOT: return make_dot(m);
  }
  return false;
}

/* ---- Requests ---- */

/* Finds a library by its name, or by the name that PyTorch's ScalingType gives the factors. */
static const library *find_library(const char *name) {
  static const char *const others[][2] = {{"torch:_scaled_mm:tensorwise", "torch:_scaled_mm"},
                                          {"torch:_scaled_mm:tensorwise:fast", "torch:_scaled_mm:fast"},
                                          {"torch:_scaled_mm:rowwise", "torch:_scaled_mm:row"},
                                          {"torch:_scaled_mm:rowwise:fast", "torch:_scaled_mm:row:fast"}};
  for (size_t i = 0; i < LIBRARIES; i++)
    if (libraries[i].name == name) return &libraries[i]; /* a name that smma_plan_library_name returned */
  for (size_t i = 0; name && i < sizeof others / sizeof others[0]; i++)
    if (strcmp(others[i][0], name) == 0) name = others[i][1];
  for (size_t i = 0; name && i < LIBRARIES; i++)
    if (strcmp(libraries[i].name, name) == 0) return &libraries[i];
  return NULL;
}

bool smma_plan_library_kernel(const char *name, size_t index, smma_plan_request *request) {
  const library *l = find_library(name);
  if (!l) return false;
  request->name = l->name;
  if (l->text) return index == 0;
  for (size_t i = 0; i < l->count; i++) {
    const kernel *k = &l->kernels[i];
    if (k->on != l->on || index--) continue;
    request->algo = k->algo, request->stages = k->first_stages, request->custom = k->custom;
    return true;
  }
  return false;
}

static bool is_fma(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_FMA; }

bool smma_plan_library_suits(const char *name, const smma_instruction *i) {
  const library *l = find_library(name);
  return l && (l->text || is_fma(i) || i->arch == gpus[l->on].arch);
}

static bool fail_unknown(maker *m, const char *name) {
  char list[512] = "";
  for (size_t i = 0; i < LIBRARIES; i++) smma_append_text(list, sizeof list, "%s%s", i ? ", " : "", libraries[i].name);
  return UNKNOWN(m, "no plans are known of '%s'; known: %s", name, list);
}

static bool is_one_of(smma_format f, smma_format x, smma_format y) { return f == x || f == y; }

static bool is_fp8(smma_format f) { return is_one_of(f, SMMA_E4M3, SMMA_E5M2); }

/* Reports whether a kernel multiplies an instruction's formats. */
static bool takes(inputs of, const smma_instruction *i) {
  if (of == FP8) return is_fp8(i->a) && is_fp8(i->b) && !i->scale_block;
  if (i->a != i->b) return false;
  switch (of) {
    case HALF: return is_one_of(i->a, SMMA_F16, SMMA_BF16) && i->d != SMMA_F16;
    case F16:
    case F16_CORES: return i->a == SMMA_F16 && i->d != SMMA_F16;
    case BF16: return i->a == SMMA_BF16;
    case F16_SUMS: return i->a == SMMA_F16 && i->d == SMMA_F16;
    case TF32: return i->a == SMMA_TF32;
    case SINGLE: return i->a == SMMA_F32;
    case DOUBLE: return i->a == SMMA_F64;
    case INT8: return i->a == SMMA_S8;
    case FLOATS: return takes(HALF, i) || takes(SINGLE, i) || takes(DOUBLE, i);
    default: return false;
  }
}

/* Returns the inputs of kernels that multiply an instruction's formats: bit number x is that of inputs x. */
static unsigned inputs_of(const smma_instruction *i) {
  unsigned set = 0;
  for (int of = HALF; of <= FLOATS; of++)
    if (takes((inputs)of, i)) set |= 1U << of;
  return set;
}

/* Checks that some kernel of the library multiplies the instruction's formats. */
static bool check_formats(maker *m, unsigned formats) {
  const library *l = m->from;
  for (size_t i = 0; i < l->count; i++)
    if (l->kernels[i].on == l->on && formats >> l->kernels[i].of & 1) return true;
  return UNKNOWN(m, "%s: no rule is known for the formats of %s", l->name, m->with->instruction->name);
}

/* Finds the configuration that the library chose for the shape. */
static bool find_choice(maker *m) {
  static const char numbers[] =
      "give algo, stages, splitk, reduction and custom, as cublasLtMatmulAlgoConfigGetAttribute returns them";
  const smma_plan_request *w = m->with;
  const bool old = m->from->kernels == cublaslt_12_8;
  const char *workspaces = old ? smma_recorded_workspaces(gpus[m->from->on].name) : "";
  smma_recorded_choice choice;
  if (w->algo != ANY) return true;
  if (!old || !smma_find_recorded(gpus[m->from->on].name, w, &choice)) {
    if (!*workspaces) return MISSING(m, "which kernel multiplies is cuBLASLt's choice: %s", numbers);
    if (w->workspace < 0)
      return MISSING(m,
                     "which kernel multiplies is cuBLASLt's choice: %s; or workspace, as choices are recorded with %s",
                     numbers, workspaces);
    return UNKNOWN(
        m, "%zu x %zu x %zu with a workspace of %lld bytes: the choice is not recorded (with %s others are): %s", w->m,
        w->n, w->k, w->workspace, workspaces, numbers);
  }
  m->recorded = *w;
  m->recorded.algo = m->from->on == H100 ? 66 : w->fast_accumulation ? 60 : 35;
  m->recorded.stages = m->from->on == H100 ? 36 : 17;
  m->recorded.split_k = choice.slices, m->recorded.custom = choice.custom;
  m->recorded.reduction = choice.slices > 1 ? 2 : 0;
  m->with = &m->recorded;
  return true;
}

/* Finds the table row of the configuration. */
static bool find_kernel(maker *m) {
  const smma_plan_request *w;
  bool algo = false, stages = false;
  unsigned formats;
  if (!m->with->instruction) return MISSING(m, "%s: the instruction is missing", m->from->name);
  if (!find_choice(m)) return false;
  w = m->with;
  formats = inputs_of(w->instruction);
  for (size_t i = 0; i < m->from->count; i++) {
    const kernel *k = &m->from->kernels[i];
    if (k->on != m->from->on || k->algo != w->algo || !(formats >> k->of & 1)) continue;
    algo = true;
    if (k->first_stages != ANY && (w->stages < k->first_stages || w->stages > k->last_stages)) continue;
    stages = true;
    if (k->custom != ANY && k->custom != w->custom) continue;
    return m->kernel = k, true;
  }
  if (!algo && !check_formats(m, formats)) return false;
  if (!algo) return UNKNOWN(m, "%s: no rule is known for algorithm %d with these formats", m->from->name, w->algo);
  if (!stages && w->stages == ANY) return MISSING(m, "algorithm %d: give stages, its STAGES_ID", w->algo);
  if (!stages) return UNKNOWN(m, "algorithm %d: no rule is known for stages %d", w->algo, w->stages);
  if (w->custom == ANY) return MISSING(m, "algorithm %d: give custom, its CUSTOM_OPTION", w->algo);
  return UNKNOWN(m, "algorithm %d: no rule is known for option %d", w->algo, w->custom);
}

/* Checks the instruction. It must be a tensor-core instruction of the library's GPU, or FP32 FMA for kernels that use
   CUDA cores. Kernels of nvjet use instructions that are new in the GPU's generation. Kernels of CUTLASS 2.x use
   mma.sync; an instruction that can compute the same groups is also accepted. */
static bool check_instruction(maker *m) {
  const smma_instruction *i = m->with->instruction;
  const inputs of = m->kernel->of;
  const smma_format sums = i->a == SMMA_F64 ? SMMA_F64 : of == F16_SUMS ? SMMA_F16 : of == INT8 ? SMMA_S32 : SMMA_F32;
  const bool fma = is_fma(i) && i->d == sums;
  if (m->kernel->how >= GEMMSN || of == SINGLE || of == DOUBLE || of == F16_CORES)
    return fma || UNKNOWN(m, "algorithm %d uses CUDA cores, FMA in %s, which %s is not: see examples/custom/fma32.json",
                          m->with->algo, smma_format_text(sums), i->name);
  if (i->arch != gpus[m->from->on].arch || i->d != sums)
    return UNKNOWN(m, "%s is of %s instructions with D in %s, not of %s", m->from->name, gpus[m->from->on].name,
                   smma_format_text(sums), i->name);
  if ((m->kernel->how == NVJET || m->kernel->how == CHAIN) && i->family != SMMA_FAMILY_WGMMA &&
      i->family != SMMA_FAMILY_TCGEN05)
    return UNKNOWN(m, "algorithm %d multiplies by wgmma on Hopper and by tcgen05.mma on Blackwell, not by %s",
                   m->with->algo, i->name);
  return true;
}

static char *copy_of(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

static void add_epilogue(smma_plan *p, smma_epilogue_kind kind) { p->epilogue[p->epilogues++].kind = kind; }

/* Adds the operations of cuBLASLt after alpha for D in FP8. */
static void saturate(smma_plan *p) {
  if (!is_fp8(p->d)) return;
  add_epilogue(p, SMMA_EPILOGUE_SCALE_D);
  p->epilogue[p->epilogues++] = (smma_epilogue){SMMA_EPILOGUE_CLAMP, p->d};
}

/* Adds the operation for C, which comes before the bias. */
static bool finish_with_c(maker *m) {
  if (!m->with->with_c) return true;
  if (m->kernel->of == F16_SUMS || m->kernel->of == DOUBLE)
    return UNKNOWN(m, "C by algorithm %d is added in %s, and a plan's epilogue is in f32", m->with->algo,
                   smma_format_text(m->with->instruction->d));
  if (slices_of(m) > 1 && (m->kernel->how == XMMA || m->kernel->of == FP8))
    return UNKNOWN(m, "C and %zu slices by algorithm %d with these formats: no rule is known", slices_of(m),
                   m->with->algo);
  if (slices_of(m) == 1) return add_epilogue(m->plan, SMMA_EPILOGUE_LINEAR), true;
  add_epilogue(m->plan, SMMA_EPILOGUE_ALPHA); /* the kernel that merges slices multiplies by alpha */
  add_epilogue(m->plan, SMMA_EPILOGUE_BETA);
  return true;
}

/* Adds the epilogue: alpha and C, then the bias, then the activation. */
static bool finish(maker *m) {
  enum { NONE = 1, BIAS = 4, RELU_BIAS = 6 }; /* of cublasLtEpilogue_t */
  const smma_plan_request *w = m->with;
  const int asked = w->epilogue == ANY ? NONE : w->epilogue;
  const bool more = w->with_c || asked != NONE, measured = m->from->kernels == cublaslt_13_1 && m->from->on == H100;
  if (asked != NONE && asked != BIAS && asked != RELU_BIAS)
    return UNKNOWN(m, "epilogue %d: no rule is known; those of 1, 4 (bias) and 6 (bias and ReLU) are", asked);
  if (more && (!measured || is_fp8(w->d)))
    return UNKNOWN(m, "%s: no rule is known for C, bias and activations%s", m->from->name,
                   is_fp8(w->d) ? " with D in FP8" : "");
  if (more && (m->kernel->how == EXACT || m->kernel->how >= GEMMSN))
    return UNKNOWN(m, "C, bias and activations by algorithm %d: no rule is known", w->algo);
  if (asked != NONE && m->kernel->of == DOUBLE) return UNKNOWN(m, "a bias in f64: a plan's epilogue is in f32");
  if (m->kernel->of == FP8 && !w->with_c) add_epilogue(m->plan, SMMA_EPILOGUE_ALPHA);
  if (!finish_with_c(m)) return false;
  saturate(m->plan);
  if (asked != NONE) add_epilogue(m->plan, SMMA_EPILOGUE_BIAS);
  if (asked == RELU_BIAS) add_epilogue(m->plan, SMMA_EPILOGUE_RELU);
  return true;
}

/* Checks the limits of plans. A number of parts that the caller gives can exceed them. */
static bool check_levels(const maker *m) {
  for (size_t n = 0; n < m->plan->levels; n++)
    if (m->plan->level[n].deal == SMMA_DEAL_INTERLEAVED && m->plan->level[n].count > SMMA_MOST_LANES)
      return UNKNOWN(m, "%zu interleaved parts: a plan has at most %d", m->plan->level[n].count, SMMA_MOST_LANES);
  return true;
}

static bool fill(maker *m) {
  const smma_plan_request *w = m->with;
  char name[100], stages[24] = "";
  /* A recorded choice does not name the stages if the kernel has several; all of them sum in the same way. */
  if (w != &m->recorded || m->kernel->first_stages == m->kernel->last_stages)
    snprintf(stages, sizeof stages, " stages %d", w->stages);
  snprintf(name, sizeof name, "%s algo %d%s splitk %d reduction %d custom %d", m->from->name, w->algo, stages,
           w->split_k, w->reduction, w->custom);
  m->plan->name = copy_of(name);
  m->plan->source[m->plan->sources++] = copy_of(m->from->source);
  m->plan->d = w->d == SMMA_S32 ? SMMA_NO_FORMAT : w->d; /* plans name no integer format; the instruction's stays */
  if (w == &m->recorded) m->plan->source[m->plan->sources++] = copy_of(recorded_choice);
  if (!m->plan->name || !m->plan->source[0] || !m->plan->source[m->plan->sources - 1]) return smma_no_memory(m->error);
  /* Measured on Hopper: FP32 operands become TF32, FP16 or BF16 to nearest even. */
  if (m->kernel->of == TF32) m->plan->has_operand_rounding = true, m->plan->operand_rounding = SMMA_ROUND_NEAREST_EVEN;
  return finish(m) && make_kernel(m) && check_levels(m);
}

/* Checks D's format. Plans name no integer format: s32 is the instruction's own. */
static bool check_d(const maker *m) {
  const smma_format d = m->with->d;
  if (d == SMMA_NO_FORMAT || smma_plan_takes_d(d)) return true;
  if (d == SMMA_S32 && m->with->instruction && m->with->instruction->d == SMMA_S32) return true;
  return MISSING(m, "d: %d is not a format in which %s gives D", (int)d, m->from->name);
}

/* Checks that the request has nothing that only plans of cuBLASLt depend on. */
static bool check_named(maker *m) {
  const smma_plan_request *w = m->with;
  const struct {
    const char *name;
    long long value;
  } settings[] = {{"algo", w->algo},           {"tile", w->tile},        {"splitk", w->split_k},
                  {"reduction", w->reduction}, {"swizzle", w->swizzle},  {"custom", w->custom},
                  {"stages", w->stages},       {"inner", w->inner},      {"cluster", w->cluster},
                  {"workspace", w->workspace}, {"epilogue", w->epilogue}};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
    if (settings[i].value != ANY)
      return MISSING(m, "%s: the plan %s does not depend on it; leave it out", settings[i].name, m->from->name);
  if (w->with_c) return UNKNOWN(m, "with_c: the plan %s is of products without C; leave it out", m->from->name);
  if (w->fast_accumulation)
    return MISSING(m,
                   "fast: the plan %s does not depend on it; plans with fast accumulation have names of their own, "
                   "such as torch:_scaled_mm:fast",
                   m->from->name);
  return true;
}

/* Reads the plan from its text, and sets D's format if the text names no format. */
static bool read_named(maker *m) {
  const smma_format d = m->with->d;
  if (!check_named(m)) return false;
  m->plan = smma_plan_read(m->from->name, m->from->text, strlen(m->from->text), m->error);
  if (!m->plan) return false;
  if (!(m->plan->source[0] = copy_of(m->from->source))) return smma_no_memory(m->error);
  m->plan->sources = 1;
  if (d == SMMA_NO_FORMAT || d == m->plan->d) return true;
  if (m->plan->d != SMMA_NO_FORMAT)
    return UNKNOWN(m, "%s: D is in %s, not in %s", m->from->name, smma_format_text(m->plan->d), smma_format_text(d));
  m->plan->d = d == SMMA_S32 ? SMMA_NO_FORMAT : d;
  if (smma_plan_has(m->plan, SMMA_EPILOGUE_ALPHA)) saturate(m->plan);
  return true;
}

smma_plan *smma_plan_of_library(const smma_plan_request *with, smma_error *error) {
  maker m = {.with = with, .from = find_library(with->name), .error = error};
  if (!m.from) return fail_unknown(&m, with->name ? with->name : ""), NULL;
  if (!check_d(&m)) return NULL;
  if (m.from->text) {
    if (read_named(&m)) return m.plan;
  } else if (find_kernel(&m) && check_instruction(&m)) {
    m.plan = calloc(1, sizeof *m.plan);
    if (m.plan ? fill(&m) : smma_no_memory(error)) return m.plan;
  }
  smma_plan_release(m.plan);
  return NULL;
}
