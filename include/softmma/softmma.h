/* SoftMMA: what GPU matrix units return for D = A*B + C, bit for bit.
 *
 * The library reproduces the dot-product-add of NVIDIA Tensor Cores (Volta to Blackwell), AMD Matrix Cores (CDNA 1 to
 * 3, RDNA 3 and 4), Arm's, Power10's and x86's matrix instructions. Functions neither print nor exit, and read no
 * locale. Results never depend on the number of threads, nor on earlier calls.
 *
 * All functions may be called by any number of threads at a time; only freeing an object needs that no other call uses
 * it. smma_gemm with more than one thread uses OpenMP, whose settings it follows and whose threads do not survive fork:
 * a forked child must ask for one thread. Kept until the process ends are which instruction sets the CPU has (read at
 * the first call), the name of each spelled format that was found (smma_format_find), and each device that was asked
 * for, with its driver's module and the operations that were found right on it.
 *
 * Elements travel as raw encodings in the smallest unsigned container: 1, 2, 4 or 8 bytes (smma_format_bytes), FP6 and
 * FP4 one per byte in the low bits, tf32 in 4 bytes. Arrays may have any alignment and element type.
 *
 * Structs grow at their end in later versions. A program that was compiled with an older header keeps working, and gets
 * the defaults of the members that it does not know. One that was compiled with a newer header works as long as it
 * leaves the members that this library does not know at zero, and else gets SMMA_NEWER_STRUCT. Structs that a
 * program fills in begin with their size: smma_..._defaults(&x, sizeof x) sets it, and fills in the rest. Structs that
 * a function fills in are given to it with their size.
 *
 * From 1.0 on this header and those that it includes keep their meaning until 2.0. Headers of their own, which may
 * change in any version, have accurate products of FP64 matrices (softmma/accurate.h), devices and their memory
 * (device.h), products of sparse instructions (sparse.h) and rows of operands (rows.h). Before 1.0 each minor version
 * has an interface of its own, and its own soname.
 */
#ifndef SOFTMMA_SOFTMMA_H
#define SOFTMMA_SOFTMMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softmma/number.h"
#include "softmma/status.h"
#include "softmma/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Number formats ---- */

/* "f16"; "none" for SMMA_NO_FORMAT and anything unknown. */
SMMA_API const char *smma_format_name(smma_format format);

/* By name or usual synonym ("f16", "half", "float8_e4m3fn"), or spelled out ("e3m4", "e4m3-bias11-fnuz", "s5": see
 * docs/custom-units.md); SMMA_NO_FORMAT if there is none. One format has one number, however it is called. */
SMMA_API smma_format smma_format_find(const char *name);

/* Bytes of one element: 1, 2, 4 or 8; 0 for SMMA_NO_FORMAT. */
SMMA_API size_t smma_format_bytes(smma_format format);

/* Bits of an encoding, counting ignored ones: 2 to 64; 0 for SMMA_NO_FORMAT. */
SMMA_API int smma_format_bits(smma_format format);

/* Rounds a value to a format and returns its encoding. NaN becomes the format's quiet NaN with the sign kept (FNUZ:
 * 0x80; FP6 and FP4: the greatest finite number, and integers: 0, as CUDA converts). -0 keeps its sign where the
 * format has one. Unsigned formats take 0 for negative values, and ue8m0 its least value, 2^-127, for 0. What no
 * enumerator stands for, a format, rounding or overflow, gives SMMA_NO_ENCODING, which no value rounds to. */
#define SMMA_NO_ENCODING UINT64_MAX
SMMA_API uint64_t smma_format_encode(smma_format format, double value, smma_rounding rounding, smma_overflow overflow);

/* The value of an encoding: exact, every format fits a double. Bits above the format's are ignored. An unknown format
 * gives NaN. */
SMMA_API double smma_format_decode(smma_format format, uint64_t encoding);

/* How many values a conversion changed, and how many of them to something else than a near number. */
typedef struct {
  size_t changed;   /* all that are not preserved exactly (NaN to NaN is preserved); the others are among these */
  size_t infinite;  /* numbers that became infinity */
  size_t saturated; /* numbers more than half a step beyond the format's range, infinity and NaN, that became its end */
  size_t zero;      /* numbers other than zero, and NaN, that became zero */
  size_t nan;       /* numbers and infinity that became NaN */
} smma_conversion;

/* Rounds `count` encodings of one format to another. `from` and `to` are arrays in the formats' containers and may not
 * overlap. `*conversion`, if not NULL, receives what was lost. Errors: SMMA_INVALID_ARGUMENT. */
SMMA_API smma_status smma_convert(smma_format from_format, const void *from, smma_format to_format, void *to,
                                  size_t count, smma_rounding rounding, smma_overflow overflow,
                                  smma_conversion *conversion);

/* ---- Instructions ---- */

typedef struct smma_instruction smma_instruction;

/* The instruction of an architecture ("hopper") or GPU ("H100", "sm_90", "gfx942") by its canonical name
 * ("mma.m16n8k16.f32.f16.f16.f32") or an alias: a full PTX spelling, a SASS name, an AMD name with or without
 * "v_mfma_". Case does not matter. NULL with SMMA_NOT_FOUND, the line naming the nearest names or the GPUs that have
 * the instruction, or with SMMA_AMBIGUOUS. Without an error nothing is explained, which takes less time. */
SMMA_API const smma_instruction *smma_find(const char *gpu_or_arch, const char *name, smma_error *error);

/* The formats of A, B and D by name. `in`: one for both A and B ("e4m3"), or one each ("e4m3,e5m2" or "e4m3:e5m2");
 * with scale factors "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "nvfp4"; "mxfp8" and "mxfp6" are
 * the first that begin so. `out` NULL: f32; f64 for f64 and s32 for integers. Errors: SMMA_NOT_FOUND if there is no
 * such format, SMMA_INVALID_ARGUMENT if A and B do not have the same scale factors. */
SMMA_API smma_status smma_formats_find(const char *in, const char *out, smma_formats *formats, smma_error *error);

/* The preferred instruction with these formats: the widest, on Hopper wgmma, on Blackwell tcgen05. NULL with
 * SMMA_NOT_FOUND if there is none, with SMMA_INVALID_ARGUMENT if a format is not an operand's. */
SMMA_API const smma_instruction *smma_find_by_formats(const char *gpu_or_arch, const smma_formats *formats,
                                                      smma_error *error);

/* Every instruction, architecture by architecture, in order of preference: index 0 to smma_instruction_count() - 1.
 * NULL past the end. */
SMMA_API size_t smma_instruction_count(void);
SMMA_API const smma_instruction *smma_instruction_at(size_t index);

/* What an instruction computes and what that rests on. All texts are static, those of a custom unit live as long as it.
 */
typedef struct {
  const char *arch, *name; /* of a custom unit arch is its origin */
  int m, n, k;
  smma_format a, b, c, d;
  smma_format scale;                   /* SMMA_NO_FORMAT without scale factors */
  int scale_block;                     /* elements along K that share a scale factor; 0 without */
  const char *model;                   /* the algorithm: "T-FDPA", ... */
  const char *rule;                    /* the named rule: algorithm with parameters */
  const char *const *evidence;         /* ended by NULL */
  const char *const *questions;        /* what is not settled; ended by NULL */
  const smma_instruction *instruction; /* itself */
} smma_instruction_info;

/* `size` is sizeof *info: no more is written, and what this library does not know is zero.
 * Errors: SMMA_INVALID_ARGUMENT. */
SMMA_API smma_status smma_describe(const smma_instruction *instruction, smma_instruction_info *info, size_t size);

/* The parameters of the model, as "F=25 L=16 rho=RZ-FP32 e_zero=-133". Returns the length of the whole text, of which
 * at most `size` bytes with the ending zero are written; none if `text` is NULL. */
SMMA_API size_t smma_instruction_parameters(const smma_instruction *instruction, char *text, size_t size);

/* The index-th other name, likewise; 0 past the last. */
SMMA_API size_t smma_instruction_alias(const smma_instruction *instruction, size_t index, char *text, size_t size);

/* ---- Custom units ---- */

/* An instruction of the caller's own: an algorithm with parameters. */
typedef struct smma_custom smma_custom;

/* The custom unit that a JSON text describes (docs/custom-units.md). `origin`, a file's name or NULL for
 * "custom", begins messages and is what smma_describe gives as `arch`. NULL with SMMA_INVALID_TEXT and a line that says
 * ORIGIN:LINE:COLUMN, what is wrong and what is allowed, or with SMMA_NO_MEMORY. The text needs no ending zero. */
SMMA_API smma_custom *smma_custom_parse(const char *origin, const char *text, size_t size, smma_error *error);

/* Its instruction, which can be used wherever one of the catalogue can, until smma_custom_free. NULL for NULL. */
SMMA_API const smma_instruction *smma_custom_instruction(const smma_custom *custom);

/* Does nothing with NULL. */
SMMA_API void smma_custom_free(smma_custom *custom);

/* Any instruction, of the catalogue too, in that form: parsed again, it computes the same. Returns the length of the
 * whole text, of which at most `size` bytes with the ending zero are written. */
SMMA_API size_t smma_custom_text(const smma_instruction *instruction, char *text, size_t size);

/* ---- Plans ---- */

/* How one element of a product comes about from an instruction's results: what the library around it does with K
   (parts, the order in which their sums are added, and what happens to the sum at last). docs/plans.md has the JSON
   form. */
typedef struct smma_plan smma_plan;

/* The plan that a JSON text describes. `origin`, a file's name or NULL for "plan", begins messages. NULL with an error
 * as smma_custom_parse. The text needs no ending zero. */
SMMA_API smma_plan *smma_plan_parse(const char *origin, const char *text, size_t size, smma_error *error);

/* What a library's plan depends on. The nine numbers are those of cublasLtMatmulAlgoConfigGetAttribute, -1 where they
 * are not known. */
typedef struct {
  size_t size;                         /* of this struct: smma_plan_request_defaults sets it */
  const char *name;                    /* "cublaslt:13.1/H100", see smma_plan_library */
  const smma_instruction *instruction; /* what its formats are multiplied with; NULL for what depends on none */
  smma_format d;                       /* of D; SMMA_NO_FORMAT: the instruction's */
  size_t m, n, k;
  int algo, tile, split_k, reduction, swizzle, custom, stages, inner, cluster;
  bool fast_accumulation;    /* FP8: whether partial sums stay in the unit */
  bool with_c;               /* beta is not 0; without a bias also: alpha is not 1 */
  bool a_strided, b_strided; /* A's, B's numbers with successive k do not lie one behind another in memory */
  int epilogue;              /* a cublasLtEpilogue_t: 1 or -1 for none, 4 for a bias, 6 for a bias and ReLU */
  /* Bytes that the caller allows the library, or -1: what stands for the nine numbers where the library's choice for
   * the shape is recorded with it. */
  long long workspace;
} smma_plan_request;

/* Fills in `size`, D's format none and -1 for the nine numbers, the workspace and the epilogue. `size` is sizeof
 * *request. Does nothing with NULL. */
SMMA_API void smma_plan_request_defaults(smma_plan_request *request, size_t size);

/* The plan of a library's product. NULL with SMMA_NOT_FOUND: the name is unknown, or no plan is known for the product;
 * with SMMA_INVALID_ARGUMENT: a number is missing that only the library knows; or with SMMA_NO_MEMORY. */
SMMA_API smma_plan *smma_plan_for(const smma_plan_request *request, smma_error *error);

/* The index-th library whose plans are known; NULL past the end. */
SMMA_API const char *smma_plan_library(size_t index);

/* Does nothing with NULL. */
SMMA_API void smma_plan_free(smma_plan *plan);

/* A plan in that form: parsed again, it means the same. Returns the length of the whole text, of which at most `size`
 * bytes with the ending zero are written. */
SMMA_API size_t smma_plan_text(const smma_plan *plan, char *text, size_t size);

/* Whether a product of this K can follow the plan: SMMA_OK, SMMA_INVALID_PLAN or SMMA_NO_MEMORY. */
SMMA_API smma_status smma_plan_check(const smma_plan *plan, const smma_instruction *instruction, size_t k,
                                     smma_error *error);

/* The format of D with that plan: the plan's or, where it names none, the instruction's. */
SMMA_API smma_format smma_plan_d_format(const smma_plan *plan, const smma_instruction *instruction);

/* The products that share a part's scale factors; 0 for a plan without. */
SMMA_API size_t smma_plan_scaled_k(const smma_plan *plan);

/* How a library rounds the values of A and B to their `format`, the instruction's a or b, before it multiplies them: as
 * the plan says ("round_in"), or without a plan (NULL) to nearest even. To TF32, NVIDIA's libraries round to nearest,
 * ties away from zero, on Hopper to even, and AMD's hand over FP32 itself, whose last 13 bits the unit drops
 * (docs/libraries.md).
 * smma_convert rounds so. smma_gemm takes encodings, and ignores the last 13 bits of TF32, which rounds toward zero. */
SMMA_API smma_rounding smma_operand_rounding(const smma_instruction *instruction, const smma_plan *plan,
                                             smma_format format);

/* ---- Computing ---- */

/* One dot-product-add d = c + sum a_k b_k. a and b: K elements; scale_a and scale_b: K / scale_block elements, NULL for
 * an instruction without scales; c and d: one element. Each in its format's container.
 * Errors: SMMA_INVALID_ARGUMENT, SMMA_MISSING_SCALE. */
SMMA_API smma_status smma_dot(const smma_instruction *instruction, const void *a, const void *b, const void *c,
                              const void *scale_a, const void *scale_b, void *d);

/* Independent rows. Elements lie as in smma_dot, row behind row: row i of `a` starts at element i K. Arrays may have
 * any alignment of their element type; only `d` can be written, and nothing lies behind its end. */
typedef struct {
  size_t size; /* of this struct: smma_batch_defaults sets it, or sizeof(smma_batch) */
  size_t rows;
  const void *a, *b;             /* K elements a row */
  const void *c;                 /* one */
  const void *scale_a, *scale_b; /* K / scale_block; NULL for an instruction without scale factors */
  void *d;                       /* one, to be written */
} smma_batch;

/* Fills in `size`; no rows, pointers NULL. `size` is sizeof *batch. Does nothing with NULL. */
SMMA_API void smma_batch_defaults(smma_batch *batch, size_t size);

/* smma_dot of every row, by `threads` threads: 0 for as many as OpenMP gives, at most one for each processor. `c` may
 * be NULL, which means +0, and d may be c if their formats are the same. Errors: as smma_dot;
 * SMMA_NEWER_STRUCT. */
SMMA_API smma_status smma_dot_rows(const smma_instruction *instruction, const smma_batch *batch, int threads);

/* Whether two results of an instruction are the same: bit for bit, but any two NaN where payloads are not known. False
 * for NULL. */
SMMA_API bool smma_is_same_result(const smma_instruction *instruction, uint64_t d, uint64_t other);

/* One instruction: D = A*B + C. A: M x K, C and D: M x N, row-major and dense; B: K x N, column-major and dense (each
 * column contiguous, as mma's .row.col). scale_a: M x (K / scale_block) row-major; scale_b: (K / scale_block) x N
 * column-major. D may be C if their formats are the same. Errors: as smma_dot, and SMMA_NO_MEMORY. */
SMMA_API smma_status smma_mma(const smma_instruction *instruction, const void *a, const void *b, const void *c,
                              const void *scale_a, const void *scale_b, void *d);

typedef enum { SMMA_ROW_MAJOR, SMMA_COLUMN_MAJOR } smma_order;

/* Where alpha and beta act. Without scaling, which is alpha = 1 and beta = 1 or 0, C is the instruction's own with
 * SMMA_SCALING_DEFAULT, as in a plain product; any other alpha or beta acts after the sum, as in GPU libraries. */
typedef enum {
  SMMA_SCALING_DEFAULT,  /* alpha = 1 and beta = 1 or 0: SMMA_SCALING_OPERANDS; else SMMA_SCALING_EPILOGUE */
  SMMA_SCALING_OPERANDS, /* before: A' = alpha A and C' = beta C, rounded to their formats, SMMA_OVERFLOW_DEFAULT */
  SMMA_SCALING_EPILOGUE  /* after: d = fma(alpha, acc, beta * c), each operation RNE in FP32 (FP64 for f64 and s32) */
} smma_scaling;

/* A matrix product of any size: D = alpha A B + beta C, computed as the instruction would over k in order.
 *
 * Element (i, j) of a row-major matrix with leading dimension ld is at i * ld + j, of a column-major one at i + j * ld.
 * A leading dimension of 0 means dense. K is padded with +0 to a multiple of the instruction's K.
 *
 * An accumulator starts from c' (SMMA_SCALING_OPERANDS) or +0 (SMMA_SCALING_EPILOGUE) and passes through the
 * instruction's steps along K. With promote_every = P, every P of K it is added (RNE in FP32, FP64 for f64) to an outer
 * accumulator and starts again from +0; c' then starts the outer one. With split_k = S, K is cut into S slices
 * of ceil(steps / S) instruction steps each (with promote_every, of whole promotion intervals); each slice but the
 * first starts from +0 and their results are added in order, RNE in FP32 (FP64). At last the result is rounded
 * (RNE, to infinity) to D's format. NaN and infinity are data like any other.
 *
 * With D in s32 all of these sums are of integers: the outer accumulator and those of slices are s32, and what leaves
 * its range wraps or is clamped as the instruction does it. So does what the epilogue gives, rounded to an integer
 * (RNE).
 *
 * K = 0 gives D = beta C; a zero M or N does nothing. beta = 0 takes C as +0 whatever it holds, and C may be NULL. */
typedef struct {
  size_t size; /* of this struct: smma_gemm_defaults sets it, and without it nothing is computed */
  size_t m, n, k;
  const void *a, *b; /* M x K and K x N in the instruction's formats */
  const void *c;     /* M x N in its C format; NULL means +0 */
  void *d;           /* M x N in its D format; may be C if formats and layout are the same */
  size_t lda, ldb, ldc, ldd;
  smma_order order_a, order_b, order_c, order_d;
  /* Block-scaled instructions only: scale_a is M x ceil(K / scale_block), dense, row-major; scale_b is
   * ceil(K / scale_block) x N, dense, column-major (the scales of one column are contiguous). */
  const void *scale_a, *scale_b;
  double alpha, beta; /* rounded to FP32 by the epilogue (not with D in f64 or s32) */
  smma_scaling scaling;
  /* What the library around the instruction does, which must outlive the call; NULL: one chain, or what split_k and
   * promote_every say, which must be 0 with a plan. D is then in the plan's format. C and beta count where the plan
   * starts from C or its epilogue has "linear" or "beta", alpha where it has "linear" or "alpha": else alpha and beta
   * must be 1 and C NULL, and scaling must be SMMA_SCALING_DEFAULT. bias: N numbers for "bias"; scale_d for "scale-d".
   * Where parts have scale factors, scale_a and scale_b are of floats, with smma_plan_scaled_k elements to each. */
  const smma_plan *plan;
  const float *bias;
  double scale_d;
  size_t split_k;       /* 0 or 1: one slice */
  size_t promote_every; /* 0: never; else a multiple of the instruction's K */
  int threads;          /* 0: as many as OpenMP gives; at most one for each processor is used, and one alone if the
                           system refuses to make threads */
  /* NULL: the fastest on this CPU; else a name of smma_kernel_name, or a device: "opencl", "cuda", with a number behind
   * where there are several ("cuda:1"). D is the same with each. */
  const char *kernel;
  /* Whether all matrices, scale factors and the bias are in the memory of the device that `kernel` names ("cuda"; of
   * other drivers' memory addresses mean nothing), aligned to their elements. They are read when all that was started
   * on the device before is done, in any stream, and D is there on return. With CUDA memory is of the device's primary
   * context, as its runtime's is. */
  bool on_device;
  smma_error *error; /* set with the status that is returned, unless it is NULL */
  /* Called now and then by the calling thread, if not NULL, with rows done and M. True stops the product, which
   * then returns SMMA_STOPPED with D partly written. It must not throw. */
  bool (*progress)(size_t rows_done, size_t rows, void *context);
  void *progress_context;
} smma_gemm_arguments;

/* How a product is computed: "avx512", "avx2", "neon", "portable" or "core", the reference itself. Every kernel gives
 * the same bits. This is the index-th that this CPU can run, fastest first, "core" last; NULL past the end. */
SMMA_API const char *smma_kernel_name(size_t index);

/* The kernel that smma_gemm takes for this instruction if it is asked for `kernel` (NULL: the fastest): that one, or
 * "core" where it has nothing faster for the instruction. NULL with SMMA_NO_KERNEL if this CPU has no such kernel, or
 * the device of that name cannot be used. */
SMMA_API const char *smma_kernel_for(const smma_instruction *instruction, const char *kernel, smma_error *error);

/* Fills in `size`; matrices of size 0, pointers NULL, row-major, alpha = beta = 1, SMMA_SCALING_DEFAULT, one slice, no
 * promotion, all threads. `size` is sizeof *arguments. Does nothing with NULL. */
SMMA_API void smma_gemm_defaults(smma_gemm_arguments *arguments, size_t size);

/* Errors: SMMA_INVALID_ARGUMENT, SMMA_NEWER_STRUCT, SMMA_INVALID_DIMENSION, SMMA_INVALID_MULTIPLE, SMMA_MISSING_SCALE,
 * SMMA_NO_MEMORY, SMMA_STOPPED, SMMA_NO_KERNEL, SMMA_DEVICE_FAILED. D is not touched on an error, but for the last and
 * SMMA_STOPPED. SMMA_INVALID_ARGUMENT also if D overlaps elements of A, B, scales or bias, or of C, unless beta is 0 or
 * D has C's address, format, order and leading dimension. The calling thread and each of OpenMP's need 256 KiB of
 * stack. */
SMMA_API smma_status smma_gemm(const smma_instruction *instruction, const smma_gemm_arguments *arguments);

/* ---- Multipliers: one B, many products ---- */

/* A product with everything decided but A, C, D and M: the kernel, and B in the form that it reads. A multiplier never
 * changes, so that any number of threads may run it at a time. */
typedef struct smma_multiplier smma_multiplier;

/* Makes `*multiplier` from an instruction and the arguments of smma_gemm, of which m, a, c, d and scale_a are not
 * looked at. It keeps copies of B and its scale factors (smma_multiplier_bytes): nothing of the caller's, nor the
 * instruction, is needed after. `*multiplier` is NULL on an error. Errors: as smma_gemm. */
SMMA_API smma_status smma_multiplier_create(const smma_instruction *instruction, const smma_gemm_arguments *arguments,
                                            smma_multiplier **multiplier);

/* D = alpha A B + beta C with M = m, as smma_gemm with the multiplier's arguments computes it. Leading dimensions are
 * those of the multiplier's arguments, dense where these have 0; scale_a and c may be NULL as there. Errors: as
 * smma_gemm. */
SMMA_API smma_status smma_multiplier_run(const smma_multiplier *multiplier, size_t m, const void *a,
                                         const void *scale_a, const void *c, void *d);

/* The memory that a multiplier keeps: B's encodings, columns up to the kernel's next whole panel, and its scale
 * factors. The memory of a run, as of smma_gemm, comes on top. 0 for NULL. */
SMMA_API size_t smma_multiplier_bytes(const smma_multiplier *multiplier);

/* Does nothing with NULL. */
SMMA_API void smma_multiplier_free(smma_multiplier *multiplier);

#ifdef __cplusplus
}
#endif

#endif
