/* What functions return, and how they say what was wrong. */
#ifndef SOFTMMA_STATUS_H
#define SOFTMMA_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* On Windows functions come from softmma.dll, unless the program defines SMMA_STATIC to link the static library. The
 * library's own build defines SMMA_BUILDING. */
#if defined(_WIN32) && defined(SMMA_BUILDING)
#define SMMA_API __declspec(dllexport)
#elif defined(_WIN32) && !defined(SMMA_STATIC)
#define SMMA_API __declspec(dllimport)
#elif !defined(_WIN32) && defined(__GNUC__)
#define SMMA_API __attribute__((visibility("default")))
#else
#define SMMA_API
#endif

/* Numbers are frozen: a new status takes the next one. */
typedef enum {
  SMMA_OK = 0,
  SMMA_INVALID_ARGUMENT = 1,  /* a null pointer, an unknown enumerator, a value out of range */
  SMMA_INVALID_DIMENSION = 2, /* a leading dimension below the row or column length, or sizes that overflow */
  SMMA_INVALID_MULTIPLE = 3,  /* promote_every that is not a multiple of the instruction's K */
  SMMA_MISSING_SCALE = 4,     /* a block-scaled instruction without scale factors, or the reverse */
  SMMA_NO_MEMORY = 5,
  SMMA_STOPPED = 6,       /* the caller's progress function asked for it */
  SMMA_NO_KERNEL = 7,     /* no kernel of that name, or not on this CPU; a device that cannot be used */
  SMMA_INVALID_PLAN = 8,  /* a plan that this product cannot follow: smma_plan_check says why */
  SMMA_DEVICE_FAILED = 9, /* a device: too little memory, lost, kernels that its driver cannot compile */
  /* A sparse instruction where A has no metadata (smma_gemm_sparse takes it), or a dense one there. */
  SMMA_INVALID_SPARSITY = 10,
  SMMA_NOT_FOUND = 11,    /* no GPU, instruction, format or library of that name; no plan that is known */
  SMMA_AMBIGUOUS = 12,    /* a name that fits instructions that compute differently */
  SMMA_INVALID_TEXT = 13, /* a custom unit's or a plan's text: malformed, or a value that is not allowed */
  SMMA_FAILED = 14,       /* anything else, a file that cannot be read for example: the error's text says what */
  SMMA_NEWER_STRUCT = 15  /* a struct of a newer header has a member set that this library does not know */
} smma_status;

/* One English sentence; never NULL. */
SMMA_API const char *smma_status_text(smma_status status);

/* What went wrong. A function that takes an `error` sets it, unless it is NULL: on success to SMMA_OK and an empty
 * text, else to its status and one line, without a newline, that says what is wrong, where, and how to mend it. Longer
 * lines are cut. */
typedef struct {
  smma_status status;
  char text[1024];
} smma_error;

#ifdef __cplusplus
}
#endif

#endif
