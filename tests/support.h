/* Shared by the tests: cmocka with the headers that it needs, random numbers, and one dot-product-add through the
   public interface, whose operands can be printed. */
#ifndef SOFTMMA_TESTS_SUPPORT_H
#define SOFTMMA_TESTS_SUPPORT_H

/* cmocka.h needs the four headers before it. */
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

/* CTest counts this status as "skipped". */
#define SKIPPED 77

/* The longest dot product. */
#define MOST_K 64

/* Returns the instruction; fails the test if there is none. */
const smma_instruction *find(const char *gpu, const char *name);

smma_instruction_info describe(const smma_instruction *instruction);

/* Returns element `index` of an array in the format's container. */
uint64_t load_element(smma_format format, const void *array, size_t index);
void store_element(smma_format format, void *array, size_t index, uint64_t encoding);

/* Computes smma_dot of an instruction with these operands. */
uint64_t dot(const smma_instruction *instruction, const smma_row *operands);

/* State of a progress function, which fails the test unless `done` grows and stays within `rows`. It stops the product
   at the call after `stop_after`. */
typedef struct {
  size_t rows, last, calls, stop_after;
} progress_log;
bool log_progress(size_t done, size_t rows, void *context);

/* Prints the instruction and the operands, as the command that repeats the computation, with the expected and the
   actual result. */
void print_dot(const smma_instruction *instruction, const smma_row *operands, uint64_t expected, uint64_t got);

/* Reports whether both are the same encoding, or both are NaN of the format. */
int same_or_nan(smma_format format, uint64_t x, uint64_t y);

#endif
