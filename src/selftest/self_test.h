/* The self-test: compares this build on this CPU with digests of products and with rows that hardware returned. Both
   are compiled in. */
#ifndef SMMA_SELFTEST_SELF_TEST_H
#define SMMA_SELFTEST_SELF_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "datum/datum.h"
#include "host/error.h"
#include "isa/instruction.h"

enum { SMMA_SELF_TEST_KERNELS = 8 }; /* greatest number of kernels of a CPU */

/* An operation's digest, named by one of the instructions that compute it. */
typedef struct {
  const char *arch, *instruction;
  uint64_t digest;
} smma_self_test_digest;

/* The expected results. */
typedef struct {
  const smma_self_test_digest *digest;
  size_t digests;
  const char *recorded; /* text vector files, each ended by a form feed */
  size_t length;
} smma_self_test_data;

extern const smma_self_test_data smma_self_test_shipped;

/* The amounts of a run, and the differences found. */
typedef struct {
  size_t kernels;
  const char *kernel[SMMA_SELF_TEST_KERNELS];
  size_t operations, recordings;    /* recordings: files with rows that a device returned */
  unsigned long long outputs, rows; /* by each kernel */
  unsigned long long differences;   /* digests and rows that are not as expected */
  smma_datum *lines;                /* list of texts: one line for each difference */
} smma_self_test;

/* Computes an operation's digest by a kernel. Operands are of every kind of generated rows; products have one and two
   instructions along K, and many rows or a single one. Adds the number of outputs to `*outputs`. Returns false if
   memory runs out. */
bool smma_self_test_compute(const smma_instruction *instruction, const char *kernel, uint64_t *digest,
                            unsigned long long *outputs);

/* Returns the list of the recordings of hardware: {"id", "instruction", "recorded_on", "vectors"}. The id is the file's
   path in tests/vectors/recorded without ".txt", the instruction an id, too (smma_instruction_id). */
smma_datum *smma_recordings_datum(void);

/* Compares every digest and row of the data with the result of each kernel of this CPU. Returns false with a message if
   the comparison cannot be done, or was interrupted (smma_units_stop_when). Call smma_self_test_free in both cases. */
bool smma_self_test_run(const smma_self_test_data *data, smma_self_test *result, smma_error *error);
void smma_self_test_free(smma_self_test *result);

/* Returns the result as a record: what --json prints. Moves the lines into it. */
smma_datum *smma_self_test_datum(smma_self_test *result);

/* Writes one line with the kernels and the amounts. */
void smma_self_test_text(const smma_self_test *result, char *text, size_t size);

#endif
