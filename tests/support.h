/* What the tests share: cmocka with the headers that it needs, random numbers, and one dot-product-add through the
   public interface, with its operands in print. */
#ifndef SOFTMMA_TESTS_SUPPORT_H
#define SOFTMMA_TESTS_SUPPORT_H

/* cmocka.h needs the four before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "random.h"
#include "rows/row.h"
#include "softmma/softmma.h"

/* What CTest takes as "skipped". */
#define SKIPPED 77

/* The longest dot product. */
#define MOST_K 64

/* The instruction, or a failed test. */
const smma_instruction *find(const char *gpu, const char *name);

smma_instruction_info describe(const smma_instruction *instruction);

/* Element `index` of an array in the format's container. */
uint64_t load_element(smma_format format, const void *array, size_t index);
void store_element(smma_format format, void *array, size_t index, uint64_t encoding);

/* smma_dot of an instruction that has these operands. */
uint64_t dot(const smma_instruction *instruction, const smma_row *operands);

/* A progress function of products, which fails the test unless `done` grows to at most `rows`: asks to stop at the call
   after `stop_after`. */
typedef struct {
  size_t rows, last, calls, stop_after;
} progress_log;
bool log_progress(size_t done, size_t rows, void *context);

/* Prints instruction and operands, as the command that replays them, expected and got. */
void print_dot(const smma_instruction *instruction, const smma_row *operands, uint64_t expected, uint64_t got);

/* Whether both are NaN of the format, or the same encoding. */
int same_or_nan(smma_format format, uint64_t x, uint64_t y);

#endif
