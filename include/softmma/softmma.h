/* SoftMMA: what GPU matrix units return for D = A*B + C, bit for bit.
 *
 * The library reproduces the dot-product-add of NVIDIA Tensor Cores (Volta to Blackwell), of AMD Matrix Cores (CDNA 1
 * to 3, RDNA 3 and 4), of Tenstorrent's units, and of the matrix instructions of Arm, Apple, Power10, RISC-V and x86.
 * Functions neither print nor exit, and do not depend on the locale. Results never depend on the number of threads or
 * on earlier calls.
 *
 * Threads: any function may be called from any number of threads at once. An object may be freed only when no other
 * call uses it. smma_gemm with more than one thread uses OpenMP and follows its settings. OpenMP's threads do not
 * survive fork, so a forked child must set `threads` to 1.
 *
 * The library caches three things until the process ends: the instruction sets of the CPU (read at the first call), the
 * name of each spelled format that smma_format_find found, and each device that was opened, with its driver's module
 * and the results of its self-checks.
 *
 * Elements are raw encodings in the smallest unsigned container: 1, 2, 4 or 8 bytes (smma_format_bytes). FP6 and FP4
 * take one byte an element, in its low bits; TF32 takes 4 bytes. Arrays may have any alignment and element type.
 *
 * Structs grow at their end in later versions. A program compiled with an older header keeps working: members that it
 * does not know have their defaults. A program compiled with a newer header works as long as the members that this
 * library does not know are zero; otherwise it gets SMMA_NEWER_STRUCT. A struct that the program fills in begins with
 * its size: smma_..._defaults(&x, sizeof x) sets the size and all defaults. A struct that a function fills in is passed
 * together with its size.
 *
 * From 1.0 on, this header and the headers that it includes keep their meaning until 2.0. The following headers are
 * separate and may change in any version: accurate products of FP64 matrices (softmma/accurate.h), devices and their
 * memory (device.h), products of sparse instructions (sparse.h), swizzled scale factors (scales.h), and generated test
 * vectors (rows.h). Before 1.0 each minor version has its own interface and soname. */
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

/* Returns the name of a format, for example "f16"; "none" for SMMA_NO_FORMAT and for unknown formats. */
SMMA_API const char *smma_format_name(smma_format format);

/* Returns the format with this name: a common name ("f16", "half", "float8_e4m3fn") or a spelled-out name ("e3m4",
 * "e4m3-bias11-fnuz", "s5": see docs/custom-units.md). Returns SMMA_NO_FORMAT if there is no such format. A format has
 * one number, whichever of its names is used. */
SMMA_API smma_format smma_format_find(const char *name);

/* Returns the bytes of one element: 1, 2, 4 or 8; 0 for SMMA_NO_FORMAT. */
SMMA_API size_t smma_format_bytes(smma_format format);

/* Returns the bits of an encoding, including ignored bits: 1 to 64; 0 for SMMA_NO_FORMAT. */
SMMA_API int smma_format_bits(smma_format format);

/* Rounds a value to a format and returns its encoding. -0 keeps its sign if the format has a -0. Unsigned formats
 * encode negative values as 0, and ue8m0 encodes 0 as its smallest value, 2^-127.
 *
 * NaN becomes the format's quiet NaN with the same sign. Exceptions, as CUDA converts: 0x80 (the encoding of -0) in
 * FNUZ formats, the largest finite number in FP6 and FP4, 0 in integers.
 *
 * Returns SMMA_NO_ENCODING, which no value rounds to, for an unknown format, rounding or overflow. */
#define SMMA_NO_ENCODING UINT64_MAX
SMMA_API uint64_t smma_format_encode(smma_format format, double value, smma_rounding rounding, smma_overflow overflow);

/* Returns the value of an encoding. It is exact, because every format fits a double. Bits above the format's are
 * ignored. Returns NaN for an unknown format. */
SMMA_API double smma_format_decode(smma_format format, uint64_t encoding);

/* Numbers of values that a conversion changed. A value in one of the other four counts is also in `changed`. */
typedef struct {
  size_t changed;   /* all values that are not preserved exactly; NaN to NaN counts as preserved */
  size_t infinite;  /* numbers that became infinity */
  size_t saturated; /* infinity, NaN, and numbers more than half a step beyond the format's range, that became the end
                       of the range */
  size_t zero;      /* nonzero numbers and NaN that became zero */
  size_t nan;       /* numbers and infinity that became NaN */
} smma_conversion;

/* Rounds `count` encodings of one format to another. `from` and `to` are arrays in the formats' containers and may not
 * overlap. `*conversion`, if not NULL, receives the counts of changed values. Errors: SMMA_INVALID_ARGUMENT. */
SMMA_API smma_status smma_convert(smma_format from_format, const void *from, smma_format to_format, void *to,
                                  size_t count, smma_rounding rounding, smma_overflow overflow,
                                  smma_conversion *conversion);

/* Stochastic roundings of IEEE P3109 (interim report 4.0, section 4.7.4) with N random bits R, for a value that is the
 * fraction v of the way from a number to the next one of larger magnitude. The value is rounded to the larger number if
 * the enumerator's condition holds. */
typedef enum {
  SMMA_STOCHASTIC_A = 0, /* floor(v 2^N) + R >= 2^N */
  SMMA_STOCHASTIC_B = 1, /* floor(v 2^(N+1)) + 2 R + 1 >= 2^(N+1) */
  SMMA_STOCHASTIC_C = 2  /* v 2^N, rounded to an integer (ties to even), + R >= 2^N */
} smma_stochastic;

/* Works like smma_convert, but rounds stochastically. Element i is rounded by the last `random_bits` bits (1 to
 * SMMA_MOST_RANDOM_BITS) of element i of `random`. Overflow is as in rounding to nearest. */
#define SMMA_MOST_RANDOM_BITS 30
SMMA_API smma_status smma_convert_stochastic(smma_format from_format, const void *from, smma_format to_format, void *to,
                                             size_t count, smma_stochastic variant, int random_bits,
                                             const uint32_t *random, smma_overflow overflow,
                                             smma_conversion *conversion);

/* ---- Instructions ---- */

typedef struct smma_instruction smma_instruction;

/* Finds an instruction of an architecture ("hopper") or GPU ("H100", "sm_90", "gfx942"). `name` is its canonical name
 * ("mma.m16n8k16.f32.f16.f16.f32") or an alias: a full PTX spelling, a SASS name, an AMD name with or without
 * "v_mfma_". Case does not matter.
 *
 * Returns NULL on an error. SMMA_NOT_FOUND: the error's text lists the nearest names, or the GPUs that have the
 * instruction. SMMA_AMBIGUOUS: the name fits instructions that compute differently. The call is faster if `error` is
 * NULL, because it then composes no text. */
SMMA_API const smma_instruction *smma_find(const char *gpu_or_arch, const char *name, smma_error *error);

/* Fills `formats` with the formats of A, B and D by name.
 *
 * `in` names one format for both A and B ("e4m3"), or one for each ("e4m3,e5m2" or "e4m3:e5m2"). Names with scale
 * factors: "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "nvfp4"; "mxfp8" means mxfp8_e4m3, and
 * "mxfp6" means mxfp6_e3m2. If `out` is NULL, D is f64 for inputs in f64, s32 for integers, otherwise f32.
 *
 * Errors: SMMA_NOT_FOUND if there is no such format, SMMA_INVALID_ARGUMENT if A and B do not have the same scale
 * factors. */
SMMA_API smma_status smma_formats_find(const char *in, const char *out, smma_formats *formats, smma_error *error);

/* Returns the preferred instruction with these formats: the widest; on Hopper wgmma, on Blackwell tcgen05. Returns NULL
 * with SMMA_NOT_FOUND if there is no such instruction, and with SMMA_INVALID_ARGUMENT if a format is not an operand
 * format. */
SMMA_API const smma_instruction *smma_find_by_formats(const char *gpu_or_arch, const smma_formats *formats,
                                                      smma_error *error);

/* The catalogue of instructions, architecture by architecture, in order of preference. `index` goes from 0 to
 * smma_instruction_count() - 1; smma_instruction_at returns NULL for a larger index. */
SMMA_API size_t smma_instruction_count(void);
SMMA_API const smma_instruction *smma_instruction_at(size_t index);

/* Description of an instruction: its arithmetic, and the evidence for it. Texts are static; the texts of a custom unit
 * live as long as the unit. */
typedef struct {
  const char *arch, *name; /* for a custom unit, `arch` is its origin */
  int m, n, k;
  smma_format a, b, c, d;
  smma_format scale;                   /* SMMA_NO_FORMAT without scale factors */
  int scale_block;                     /* elements along K that share a scale factor; 0 without scale factors */
  const char *model;                   /* the algorithm, for example "T-FDPA" */
  const char *rule;                    /* name of the rule: an algorithm with its parameters */
  const char *const *evidence;         /* ended by NULL */
  const char *const *questions;        /* open questions about the instruction; ended by NULL */
  const smma_instruction *instruction; /* the described instruction */
} smma_instruction_info;

/* Fills `*info` with the facts about an instruction. `size` is sizeof *info: the function writes at most `size` bytes,
 * and sets members that this library does not know to zero. Errors: SMMA_INVALID_ARGUMENT. */
SMMA_API smma_status smma_describe(const smma_instruction *instruction, smma_instruction_info *info, size_t size);

/* What the model of an instruction rests on: the best of its evidence. */
typedef enum {
  SMMA_BASIS_RECORDED = 0, /* results recorded on hardware are public, and agree */
  SMMA_BASIS_EMULATED = 1, /* an emulator agrees; nothing is recorded */
  SMMA_BASIS_REPORTED = 2, /* others report that it agrees with hardware; their results are not public */
  SMMA_BASIS_ASSUMED = 3,  /* documents, machine code, or the same unit of another GPU */
  SMMA_BASIS_CUSTOM = 4    /* the description of a custom unit */
} smma_basis;

/* Returns the basis of an instruction's model, or SMMA_BASIS_ASSUMED for NULL. */
SMMA_API smma_basis smma_instruction_basis(const smma_instruction *instruction);

/* Returns the name of a basis: "recorded", "emulated", "reported", "assumed" or "custom". */
SMMA_API const char *smma_basis_name(smma_basis basis);

/* Writes the parameters of the model, for example "F=25 L=16 rho=RZ-FP32 e_zero=-133". Writes at most `size` bytes,
 * including the final zero byte, and nothing if `text` is NULL. Returns the length of the whole text. */
SMMA_API size_t smma_instruction_parameters(const smma_instruction *instruction, char *text, size_t size);

/* Writes alias number `index` of an instruction, from 0, like smma_instruction_parameters. Returns 0 past the last. */
SMMA_API size_t smma_instruction_alias(const smma_instruction *instruction, size_t index, char *text, size_t size);

/* ---- Custom units ---- */

/* A custom unit: an instruction that the caller describes as an algorithm with parameters. */
typedef struct smma_custom smma_custom;

/* Creates a custom unit from a JSON text (docs/custom-units.md), which needs no final zero byte. `origin` is the name
 * of the file, or NULL for "custom"; messages begin with it, and smma_describe returns it as `arch`. Returns NULL with
 * SMMA_NO_MEMORY, or with SMMA_INVALID_TEXT and a line that contains ORIGIN:LINE:COLUMN, the mistake, and the allowed
 * values. */
SMMA_API smma_custom *smma_custom_parse(const char *origin, const char *text, size_t size, smma_error *error);

/* Returns the instruction of a custom unit, valid until smma_custom_free. It can be used like any instruction of the
 * catalogue. Returns NULL for NULL. */
SMMA_API const smma_instruction *smma_custom_instruction(const smma_custom *custom);

/* Frees a custom unit. Does nothing with NULL. */
SMMA_API void smma_custom_free(smma_custom *custom);

/* Writes any instruction, including those of the catalogue, as the JSON text of a custom unit. smma_custom_parse of
 * this text gives a unit that computes the same results. Writes at most `size` bytes, including the final zero byte.
 * Returns the length of the whole text. */
SMMA_API size_t smma_custom_text(const smma_instruction *instruction, char *text, size_t size);

/* ---- Plans ---- */

/* A plan: the steps of a library around an instruction, by which one element of a product is computed. It describes the
 * parts of K, the order of adding their sums, and the operations after the sum (the epilogue). docs/plans.md describes
 * the JSON form. */
typedef struct smma_plan smma_plan;

/* Creates a plan from a JSON text, which needs no final zero byte. `origin` is the name of the file, or NULL for
 * "plan"; messages begin with it. Returns NULL on an error, with the errors of smma_custom_parse. */
SMMA_API smma_plan *smma_plan_parse(const char *origin, const char *text, size_t size, smma_error *error);

/* Everything that a library's plan depends on. The nine numbers from `algo` to `cluster` are those of
 * cublasLtMatmulAlgoConfigGetAttribute, or -1 if unknown. */
typedef struct {
  size_t size;                         /* sizeof this struct; smma_plan_request_defaults sets it */
  const char *name;                    /* "cublaslt:13.1/H100", see smma_plan_library */
  const smma_instruction *instruction; /* it multiplies the operands; NULL for plans that do not depend on it */
  smma_format d;                       /* format of D; SMMA_NO_FORMAT: the instruction's */
  size_t m, n, k;
  int algo, tile, split_k, reduction, swizzle, custom, stages, inner, cluster;
  bool fast_accumulation;    /* FP8: whether partial sums stay in the unit, without promotion */
  bool with_c;               /* beta is not 0, or there is no bias and alpha is not 1 */
  bool a_strided, b_strided; /* elements of A (of B) with successive k are not adjacent in memory */
  int epilogue;              /* a cublasLtEpilogue_t: 1 or -1 for no epilogue, 4 for a bias, 6 for a bias and ReLU */
  /* Workspace in bytes that the caller allows the library, or -1. It replaces the nine numbers for shapes whose choice
   * of kernel is recorded with a workspace size. */
  long long workspace;
} smma_plan_request;

/* Sets `size` and all defaults: SMMA_NO_FORMAT for D; -1 for the nine numbers, the workspace and the epilogue. `size`
 * is sizeof *request. Does nothing with NULL. */
SMMA_API void smma_plan_request_defaults(smma_plan_request *request, size_t size);

/* Returns the plan of a library's product. Returns NULL on an error. SMMA_NOT_FOUND: the name is unknown, or no plan is
 * known for the product. SMMA_INVALID_ARGUMENT: the request lacks a number that only the library knows. SMMA_NO_MEMORY.
 */
SMMA_API smma_plan *smma_plan_for(const smma_plan_request *request, smma_error *error);

/* Returns the name of library number `index` among those with known plans; NULL past the last. */
SMMA_API const char *smma_plan_library(size_t index);

/* Frees a plan. Does nothing with NULL. */
SMMA_API void smma_plan_free(smma_plan *plan);

/* Writes a plan as JSON text. smma_plan_parse of this text gives an equal plan. Writes at most `size` bytes, including
 * the final zero byte. Returns the length of the whole text. */
SMMA_API size_t smma_plan_text(const smma_plan *plan, char *text, size_t size);

/* Checks whether a product with this K can follow the plan. Returns SMMA_OK, SMMA_INVALID_PLAN or SMMA_NO_MEMORY. */
SMMA_API smma_status smma_plan_check(const smma_plan *plan, const smma_instruction *instruction, size_t k,
                                     smma_error *error);

/* Returns the format of D with this plan: the plan's, or the instruction's if the plan names no format. */
SMMA_API smma_format smma_plan_d_format(const smma_plan *plan, const smma_instruction *instruction);

/* Returns the number of products that share a scale factor of the plan; 0 for a plan without scale factors. */
SMMA_API size_t smma_plan_scaled_k(const smma_plan *plan);

/* Returns how a library rounds the values of A or B to `format` (the instruction's format of a or b) before it
 * multiplies them. A plan that has "round_in" decides. Otherwise values are rounded to nearest even, except for TF32:
 * NVIDIA's libraries round to nearest, ties away from zero (on Hopper to even). AMD's libraries pass FP32 values on,
 * and the unit ignores the last 13 bits, which rounds toward zero (docs/libraries.md).
 *
 * Pass the result to smma_convert. smma_gemm itself takes encodings and ignores the last 13 bits of TF32. */
SMMA_API smma_rounding smma_operand_rounding(const smma_instruction *instruction, const smma_plan *plan,
                                             smma_format format);

/* ---- Computing ---- */

/* Computes one dot-product-add d = c + sum a_k b_k. a and b have K elements; scale_a and scale_b have K / scale_block
 * elements, and are NULL for an instruction without scale factors; c and d have one element. Each array is in the
 * container of its format. Errors: SMMA_INVALID_ARGUMENT, SMMA_MISSING_SCALE. */
SMMA_API smma_status smma_dot(const smma_instruction *instruction, const void *a, const void *b, const void *c,
                              const void *scale_a, const void *scale_b, void *d);

/* Independent test vectors, one a row. An array holds its rows one after another, with elements as in smma_dot: row i
 * of `a` starts at element i K. Arrays may have any alignment of their element type. Only `d` is written, and nothing
 * beyond its end. */
typedef struct {
  size_t size; /* sizeof(smma_batch); smma_batch_defaults sets it */
  size_t rows;
  const void *a, *b;             /* K elements a row */
  const void *c;                 /* 1 element a row */
  const void *scale_a, *scale_b; /* K / scale_block elements a row; NULL for an instruction without scale factors */
  void *d;                       /* results, 1 element a row */
} smma_batch;

/* Sets `size` and all defaults: no rows, pointers NULL. `size` is sizeof *batch. Does nothing with NULL. */
SMMA_API void smma_batch_defaults(smma_batch *batch, size_t size);

/* Computes smma_dot of every row with `threads` threads; 0: as many as OpenMP provides, at most one for each processor.
 * `c` may be NULL, which means +0. d may be c if their formats are the same. Errors: as smma_dot; SMMA_INVALID_ARGUMENT
 * also if, with two or more rows, d overlaps another array; SMMA_NEWER_STRUCT. */
SMMA_API smma_status smma_dot_rows(const smma_instruction *instruction, const smma_batch *batch, int threads);

/* Reports whether two results of an instruction are equal: bit for bit, except that any two NaN are equal if the model
 * leaves NaN payloads open. Returns false if `instruction` is NULL. */
SMMA_API bool smma_is_same_result(const smma_instruction *instruction, uint64_t d, uint64_t other);

/* Computes one instruction: D = A*B + C. All matrices are dense. A is M x K, C and D are M x N, all three row-major. B
 * is K x N, column-major (each column contiguous, as in mma's .row.col). scale_a is M x (K / scale_block), row-major;
 * scale_b is (K / scale_block) x N, column-major. D may be C if their formats are the same. Errors: as smma_dot, and
 * SMMA_NO_MEMORY. */
SMMA_API smma_status smma_mma(const smma_instruction *instruction, const void *a, const void *b, const void *c,
                              const void *scale_a, const void *scale_b, void *d);

typedef enum { SMMA_ROW_MAJOR, SMMA_COLUMN_MAJOR } smma_order;

/* The stage at which alpha and beta act. With alpha = 1 and beta = 1 or 0 nothing is scaled; by default C is then the
 * instruction's own operand, as in a plain product. By default any other alpha or beta acts after the sum, as in GPU
 * libraries. */
typedef enum {
  SMMA_SCALING_DEFAULT,  /* SMMA_SCALING_OPERANDS if alpha = 1 and beta = 1 or 0; otherwise SMMA_SCALING_EPILOGUE */
  SMMA_SCALING_OPERANDS, /* before the sum: A' = alpha A and C' = beta C, rounded to their formats,
                            SMMA_OVERFLOW_DEFAULT */
  SMMA_SCALING_EPILOGUE  /* after the sum: d = fma(alpha, acc, beta * c), each operation RNE in FP32 (FP64 for f64 and
                            s32) */
} smma_scaling;

/* A matrix product of any size, D = alpha A B + beta C, computed as the instruction computes it, over k in order.
 *
 * With leading dimension ld, element (i, j) of a row-major matrix is at i * ld + j, and of a column-major matrix at
 * i + j * ld. A leading dimension of 0 means dense. K is padded with +0 to a multiple of the instruction's K.
 *
 * An accumulator starts from c' (SMMA_SCALING_OPERANDS) or +0 (SMMA_SCALING_EPILOGUE) and passes through the
 * instruction's steps along K. With promote_every = P, it is added after every P of K (RNE in FP32, FP64 for f64) to an
 * outer accumulator, and starts again from +0; the outer accumulator then starts from c'. With split_k = S, K is cut
 * into S slices of ceil(steps / S) instruction steps each (with promote_every: of whole promotion intervals). Every
 * slice but the first starts from +0, and the results of the slices are added in order, RNE in FP32 (FP64). Finally the
 * result is rounded (RNE, overflow to infinity) to D's format. NaN and infinity are data like any other.
 *
 * If D is s32, all of these sums are integer sums: the outer accumulator and the sums of slices are s32. Values beyond
 * its range wrap or are clamped as the instruction does it. The result of the epilogue is rounded to an integer (RNE),
 * and wraps or is clamped in the same way.
 *
 * K = 0 gives D = beta C, and is an error with a plan; if M or N is 0, the call does nothing. With beta = 0, beta C
 * counts as +0 whatever C holds, and C may be NULL. */
typedef struct {
  size_t size; /* sizeof this struct; smma_gemm_defaults sets it, and smma_gemm refuses a struct without it */

  /* ---- Matrices ---- */

  size_t m, n, k;
  const void *a, *b; /* M x K and K x N in the instruction's formats */
  const void *c;     /* M x N in the instruction's format of C; NULL: beta C counts as +0 */
  void *d;           /* M x N in the instruction's format of D; may be C if formats and layout are the same */
  size_t lda, ldb, ldc, ldd;
  smma_order order_a, order_b, order_c, order_d;
  /* Block-scaled instructions only, both dense: scale_a is M x ceil(K / scale_block), row-major; scale_b is
   * ceil(K / scale_block) x N, column-major (the scale factors of one column are contiguous). */
  const void *scale_a, *scale_b;

  /* ---- Scaling ---- */

  double alpha, beta; /* the epilogue rounds them to FP32 (unless D is f64 or s32) */
  smma_scaling scaling;

  /* ---- Plan ---- */

  /* The steps of a library around the instruction. It must outlive the call. NULL: one chain over K, or the
   * sums that split_k and promote_every describe. With a plan, both of these must be 0 and scaling must be
   * SMMA_SCALING_DEFAULT, and D is in the plan's format.
   *
   * The plan decides which of the following arguments are used. It uses C and beta if it starts from C, or if its
   * epilogue has "linear" or "beta". It uses alpha if its epilogue has "linear" or "alpha". Arguments that it does not
   * use must be alpha = 1, beta = 1, C = NULL. `bias` has N numbers, for "bias"; `scale_d` is for "scale-d". If the
   * parts of the plan have scale factors, scale_a and scale_b are arrays of float, with one factor for every
   * smma_plan_scaled_k elements. */
  const smma_plan *plan;
  const float *bias;
  double scale_d;
  size_t split_k;       /* 0 or 1: one slice */
  size_t promote_every; /* 0: never; otherwise a multiple of the instruction's K */

  /* ---- Execution: threads, kernel, device ---- */

  int threads; /* 0: as many as OpenMP provides. At most one thread for each processor is used, and a single thread if
                  the system refuses to create more. */
  /* NULL: the fastest kernel on this CPU. Otherwise a name from smma_kernel_name, or a device: "opencl" or "cuda",
   * followed by a number if there are several ("cuda:1"). Every kernel gives the same D. */
  const char *kernel;
  /* True: all matrices, the scale factors and the bias are in the memory of the device that `kernel` names, and aligned
   * to their elements. Only "cuda" can do this, because addresses in other drivers' memory have no meaning outside
   * them. The memory belongs to the device's primary context, as that of the CUDA runtime does. The operands are read
   * after all earlier work on the device, in any stream, is complete. D is complete on return. */
  bool on_device;

  /* ---- Error and progress ---- */

  smma_error *error; /* receives the status that is returned; may be NULL */
  /* Called from time to time by the calling thread, with the number of rows done and M; may be NULL. If it returns
   * true, the product stops: smma_gemm returns SMMA_STOPPED, and D is partly written. It must not throw. */
  bool (*progress)(size_t rows_done, size_t rows, void *context);
  void *progress_context;
} smma_gemm_arguments;

/* Returns the name of a kernel that this CPU can run: "avx512", "avx2", "neon", "portable", or "core", which is the
 * reference itself. Every kernel gives the same bits. Index 0 is the fastest kernel, "core" is the last; returns NULL
 * past the last. */
SMMA_API const char *smma_kernel_name(size_t index);

/* Returns the name of the kernel that smma_gemm uses for this instruction when its argument `kernel` has this value
 * (NULL: the fastest). This is the requested kernel, or "core" if the requested kernel has no fast code for the
 * instruction. Returns NULL with SMMA_NO_KERNEL if this CPU has no such kernel, or if the named device cannot be used.
 */
SMMA_API const char *smma_kernel_for(const smma_instruction *instruction, const char *kernel, smma_error *error);

/* Sets `size` and all defaults: matrices of size 0, pointers NULL, row-major, alpha = beta = scale_d = 1,
 * SMMA_SCALING_DEFAULT, one slice, no promotion, all threads. `size` is sizeof *arguments. Does nothing with NULL. */
SMMA_API void smma_gemm_defaults(smma_gemm_arguments *arguments, size_t size);

/* Computes the product that `arguments` describes; see smma_gemm_arguments for the arithmetic and the layouts.
 *
 * Errors: SMMA_INVALID_ARGUMENT, SMMA_NEWER_STRUCT, SMMA_INVALID_DIMENSION, SMMA_INVALID_MULTIPLE, SMMA_MISSING_SCALE,
 * SMMA_INVALID_PLAN, SMMA_INVALID_SPARSITY, SMMA_NO_MEMORY, SMMA_NO_KERNEL, SMMA_STOPPED, SMMA_DEVICE_FAILED. After
 * SMMA_STOPPED and SMMA_DEVICE_FAILED, D may be partly written; after any other error, D is unchanged.
 *
 * SMMA_INVALID_ARGUMENT is also returned if D overlaps elements of A, B, the scale factors, the bias or C. D may
 * overlap C if beta is 0, or if D has the same address, format, order and leading dimension as C.
 *
 * The calling thread and each OpenMP thread need 256 KiB of stack. */
SMMA_API smma_status smma_gemm(const smma_instruction *instruction, const smma_gemm_arguments *arguments);

/* ---- Multipliers: one B, many products ---- */

/* A prepared product: everything but A, C, D and M is fixed. It holds the chosen kernel, and B in the layout that the
 * kernel reads. A multiplier never changes, so any number of threads may run it at once. */
typedef struct smma_multiplier smma_multiplier;

/* Creates a multiplier from an instruction and the arguments of smma_gemm; it ignores m, a, c, d and scale_a. The
 * multiplier holds copies of B, its scale factors and the bias (smma_multiplier_bytes), so neither the caller's arrays
 * nor the instruction are needed afterwards. `*multiplier` is NULL on an error. Errors: as smma_gemm;
 * SMMA_INVALID_ARGUMENT also for `on_device`. */
SMMA_API smma_status smma_multiplier_create(const smma_instruction *instruction, const smma_gemm_arguments *arguments,
                                            smma_multiplier **multiplier);

/* Computes D = alpha A B + beta C with M = m, with the result of smma_gemm for the multiplier's arguments. Leading
 * dimensions are those of these arguments; 0 there means dense. scale_a and c may be NULL under the conditions of
 * smma_gemm. Errors: as smma_gemm. */
SMMA_API smma_status smma_multiplier_run(const smma_multiplier *multiplier, size_t m, const void *a,
                                         const void *scale_a, const void *c, void *d);

/* Returns the bytes of memory that a multiplier holds: the encodings of B, with columns padded to a whole panel of the
 * kernel, scale factors, the bias and a plan's order of sums. A run needs more, like smma_gemm. Returns 0 for NULL. */
SMMA_API size_t smma_multiplier_bytes(const smma_multiplier *multiplier);

/* Frees a multiplier. Does nothing with NULL. */
SMMA_API void smma_multiplier_free(smma_multiplier *multiplier);

#ifdef __cplusplus
}
#endif

#endif
