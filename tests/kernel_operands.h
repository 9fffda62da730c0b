/* Matrices that may reveal mistakes of a fast kernel, for every pair of a row and a column. They are made with integer
   arithmetic, so the same operation, sizes, theme and seed give the same matrices on every machine. */
#ifndef SOFTMMA_TESTS_KERNEL_OPERANDS_H
#define SOFTMMA_TESTS_KERNEL_OPERANDS_H

#include <stddef.h>

#include "core/rule.h"

typedef enum {
  THEME_ORDINARY,       /* uniform, with magnitudes up to 1 */
  THEME_ANY_BITS,       /* random encodings */
  THEME_FULL_RANGE,     /* random exponents of the whole format */
  THEME_NEAR,           /* products near one exponent (1, underflow or overflow); c up to 40 bits away */
  THEME_FAR_OPERANDS,   /* like THEME_NEAR, with operands that are large where the other factor is small */
  THEME_UNDERFLOW,      /* sums around the smallest numbers of D */
  THEME_OVERFLOW,       /* sums around the largest numbers of D */
  THEME_CANCELLATION,   /* products that cancel in pairs in every dot product, and a small remainder */
  THEME_ZEROS,          /* zeros of both signs nearly everywhere: whole blocks, rows and columns */
  THEME_INTEGERS,       /* small integers: ties and exact cancellation */
  THEME_MAXIMAL,        /* equal exponents and significands of ones: the largest sums of significands */
  THEME_TIES,           /* sums halfway between two numbers of D, and next to that */
  THEME_SUBNORMAL,      /* subnormal factors, sometimes also a subnormal c */
  THEME_HUGE,           /* factors near the largest numbers of their formats */
  THEME_OUTLIERS,       /* some elements far above or below the rest */
  THEME_ONE_SPECIAL,    /* another theme, with one NaN or infinity in each row or column */
  THEME_MANY_SPECIALS,  /* another theme, with many NaN and infinities */
  THEMES,               /* number of the themes of random products and of digests */
  THEME_AIMED = THEMES, /* each row or column puts a term at the next distance below its largest term */
  ALL_THEMES
} kernel_theme;

const char *kernel_theme_name(unsigned theme);

/* Encodings: a[i * k + e], b[j * k + e], c[i * n + j]; scale_a[i * scales + s] and scale_b[j * scales + s], NULL
   without scale factors. */
typedef struct {
  size_t m, n, k, scales;
  uint64_t *a, *b, *c, *scale_a, *scale_b;
} kernel_operands;

/* Fills `x`. Returns false if memory runs out. */
bool kernel_operands_make(const smma_operation *o, size_t m, size_t n, size_t k, unsigned theme, uint64_t seed,
                          kernel_operands *x);
void kernel_operands_free(kernel_operands *x);

#endif
