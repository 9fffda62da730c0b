/* Statuses that functions return, and error messages. */
#ifndef SOFTMMA_STATUS_H
#define SOFTMMA_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* On Windows, functions come from softmma.dll unless the program defines SMMA_STATIC to link the static library. The
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

/* The numbers are frozen: a new status takes the next free number. */
typedef enum {
  SMMA_OK = 0,
  SMMA_INVALID_ARGUMENT = 1,  /* a null pointer, an unknown enumerator, a value out of range */
  SMMA_INVALID_DIMENSION = 2, /* a leading dimension below the row or column length, or sizes whose product overflows */
  SMMA_INVALID_MULTIPLE = 3,  /* promote_every is not a multiple of the instruction's K */
  SMMA_MISSING_SCALE = 4,     /* a block-scaled instruction lacks scale factors, or another one has them */
  SMMA_NO_MEMORY = 5,
  SMMA_STOPPED = 6,   /* the caller's progress function stopped the call */
  SMMA_NO_KERNEL = 7, /* no kernel of that name, a kernel that this CPU cannot run, or a device that cannot be used */
  SMMA_INVALID_PLAN = 8,  /* this product cannot follow the plan: smma_plan_check gives the reason */
  SMMA_DEVICE_FAILED = 9, /* a device has too little memory, was lost, or its driver cannot compile the kernels */
  /* A sparse instruction in a function without metadata (use smma_gemm_sparse), or a dense instruction in
     smma_gemm_sparse. */
  SMMA_INVALID_SPARSITY = 10,
  SMMA_NOT_FOUND = 11,    /* no GPU, instruction, format or library has that name, or no plan is known */
  SMMA_AMBIGUOUS = 12,    /* the name fits instructions that compute differently */
  SMMA_INVALID_TEXT = 13, /* the text of a custom unit or plan is malformed, or has a value that is not allowed */
  SMMA_FAILED = 14,       /* any other failure, for example an unreadable file: the error's text gives the reason */
  SMMA_NEWER_STRUCT = 15  /* the program set a member of a newer header's struct that this library does not know */
} smma_status;

/* Returns one English sentence for a status; never NULL. */
SMMA_API const char *smma_status_text(smma_status status);

/* A status and its message. A function with an argument `error` fills it in unless it is NULL. On success it sets
 * SMMA_OK and an empty text. On failure it sets its status and one line of text, without a newline: the mistake, its
 * place, and how to correct it. Longer lines are truncated. */
typedef struct {
  smma_status status;
  char text[1024];
} smma_error;

#ifdef __cplusplus
}
#endif

#endif
