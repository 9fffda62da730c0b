/* Matrices on which a fast kernel could go wrong, for every pair of a row and a column: the same ones for the same
   operation, sizes, theme and seed on every machine (they are made of integers). */
#ifndef SOFTMMA_TESTS_KERNEL_OPERANDS_H
#define SOFTMMA_TESTS_KERNEL_OPERANDS_H

#include <stddef.h>

#include "core/rule.h"

typedef enum {
  THEME_ORDINARY,     /* uniform, of magnitude one and below */
  THEME_ANY_BITS,     /* random encodings */
  THEME_FULL_RANGE,   /* random exponents of the whole format */
  THEME_NEAR,         /* products near one exponent: at one, at underflow, at overflow; c up to 40 bits away */
  THEME_FAR_OPERANDS, /* the same, of operands that are large where their partners are small */
  THEME_UNDERFLOW,    /* sums around the least numbers of D */
  THEME_OVERFLOW,     /* sums around the greatest */
  THEME_CANCELLATION, /* products that cancel in pairs in every dot product, and a small rest */
  THEME_ZEROS,        /* zeros of both signs nearly everywhere: whole blocks, rows and columns */
  THEME_INTEGERS,     /* small ones: ties and exact cancellation */
  THEME_MAXIMAL,      /* equal exponents, all ones: the greatest sums of significands */
  THEME_TIES,         /* sums half way between two numbers of D, and next to it */
  THEME_SUBNORMAL,    /* operands and c */
  THEME_HUGE,
  THEME_OUTLIERS,    /* some elements far above or below the rest */
  THEME_ONE_SPECIAL, /* NaN or infinity once in a row, a column or a pair of scale factors, at each k in turn */
  THEME_MANY_SPECIALS,
  THEMES,               /* of random products and of digests */
  THEME_AIMED = THEMES, /* each row or column puts a term at the next distance below the greatest one */
  ALL_THEMES
} kernel_theme;

const char *kernel_theme_name(unsigned theme);

/* Encodings: a[i * k + e], b[j * k + e], c[i * n + j]; scale_a[i * scales + s] and scale_b[j * scales + s], NULL
   without. */
typedef struct {
  size_t m, n, k, scales;
  uint64_t *a, *b, *c, *scale_a, *scale_b;
} kernel_operands;

/* False if there is no memory. */
bool kernel_operands_make(const smma_operation *o, size_t m, size_t n, size_t k, unsigned theme, uint64_t seed,
                          kernel_operands *x);
void kernel_operands_free(kernel_operands *x);

#endif
