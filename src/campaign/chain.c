#include "campaign/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "rows/rows.h"

typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction, *as;
  size_t steps;
  bool any_nan; /* the payload of NaN does not count */
  smma_common_operands common;
  smma_instruction cast; /* `as` with the instruction's formats of A and B */
} chain;

static void chain_close(void *state) { free(state); }

static void chain_describe(void *state, smma_unit_description *description) {
  const chain *x = state;
  *description = x->unit->description;
}

static int chain_computes(void *state, const smma_instruction_info *i, char *message, size_t size) {
  const chain *x = state;
  if (strcmp(i->name, x->as->name) == 0 && strcmp(i->arch, smma_arch_name(x->as)) == 0) return 0;
  snprintf(message, size, "it stands for %s alone", x->as->name);
  return 1;
}

/* Computes one step of every vector. Each operand consists of the elements along K that belong to this step, padded
   with zeros. c is the batch's c in the first step, and d of the previous step in later steps. */
static bool run_step(const chain *x, const smma_rows *rows, size_t step, smma_rows *parts, smma_error *error) {
  for (int p = 0; p < SMMA_PART_D; p++) {
    const smma_part *part = &parts->layout.part[p], *whole = &rows->layout.part[p];
    const size_t bytes = (size_t)part->count * part->bytes, all = (size_t)whole->count * whole->bytes;
    const size_t first = p == SMMA_PART_C ? 0 : step * bytes, left = first < all ? all - first : 0;
    const size_t taken = left < bytes ? left : bytes;
    if (p == SMMA_PART_C && step > 0) {
      memcpy(parts->part[p], parts->part[SMMA_PART_D], rows->capacity * bytes);
      continue;
    }
    if (taken < bytes) memset(parts->part[p], 0, rows->capacity * bytes);
    for (size_t i = 0; taken && i < rows->capacity; i++)
      memcpy(parts->part[p] + i * bytes, rows->part[p] + i * all + first, taken);
  }
  return smma_unit_ask(x->unit, parts, 0, rows->capacity, NULL, error);
}

/* Computes d of all vectors, step by step. */
static bool run_steps(const chain *x, const smma_rows *rows, const smma_batch *batch, smma_error *error) {
  smma_rows parts;
  bool good = smma_rows_allocate(x->instruction, batch->rows, &parts) || smma_no_memory(error);
  for (size_t step = 0; good && step < x->steps; step++) good = run_step(x, rows, step, &parts, error);
  if (good) memcpy(batch->d, parts.part[SMMA_PART_D], batch->rows * parts.layout.part[SMMA_PART_D].bytes);
  smma_rows_free(&parts);
  return good;
}

/* If NaN payloads do not count (`any_nan`), replaces every NaN in d by the NaN of instruction `as`. */
static void make_nan_known(const chain *x, const smma_batch *batch) {
  const smma_encoding f = smma_encoding_of(x->as->d);
  const size_t bytes = smma_container_bytes(f);
  const uint64_t nan = smma_nan_of(f, x->as->rule->rule.nan);
  if (!x->any_nan) return;
  for (size_t i = 0; i < batch->rows; i++)
    if (smma_decode(f, smma_load(bytes, batch->d, i)).kind == SMMA_NAN) smma_store(bytes, batch->d, i, nan);
}

/* Returns the number near an operand that both units' formats hold, encoded in the format of `cast`. */
static uint64_t cast_operand(const chain *x, int operand, uint64_t encoding) {
  const smma_format wanted = operand ? x->cast.b : x->cast.a, own = x->common.of[operand];
  const uint64_t number = smma_common_operand(&x->common, operand, encoding);
  if (wanted == own) return number;
  return smma_format_encode(wanted, smma_format_decode(own, number), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

/* Casts the operands of A, or of B. In a large batch, each encoding of up to 16 bits is cast only once. Then `known`
   has 1 + its cast, or 0 if it was not cast yet. */
static void cast_part(const chain *x, int operand, const smma_part *from, const smma_part *to,
                      const unsigned char *operands, unsigned char *cast, size_t count) {
  enum { ENCODINGS = 1 << 16 };
  uint64_t *known = count > ENCODINGS && from->bytes <= 2 ? calloc(ENCODINGS, sizeof *known) : NULL;
  for (size_t i = 0; i < count; i++) {
    const uint64_t encoding = smma_load(from->bytes, operands, i);
    const bool is_known = known && known[encoding];
    const uint64_t number = is_known ? known[encoding] - 1 : cast_operand(x, operand, encoding);
    if (known) known[encoding] = number + 1;
    smma_store(to->bytes, cast, i, number);
  }
  free(known);
}

/* Replaces each operand by a number that both units' formats hold, encoded in the formats of `cast`. */
static bool cast_rows(const chain *x, const smma_rows *rows, smma_rows *cast, smma_error *error) {
  if (!smma_rows_allocate(&x->cast, rows->capacity, cast)) return smma_no_memory(error);
  for (int p = 0; p < SMMA_PART_D; p++) {
    const smma_part *to = &cast->layout.part[p], *from = &rows->layout.part[p];
    const size_t count = rows->capacity * (size_t)from->count;
    if (p != SMMA_PART_A && p != SMMA_PART_B) {
      if (count) memcpy(cast->part[p], rows->part[p], count * from->bytes);
      continue;
    }
    cast_part(x, p == SMMA_PART_B, from, to, rows->part[p], cast->part[p], count);
  }
  return true;
}

static int chain_run(void *state, const smma_instruction_info *info, const smma_batch *batch, char *message,
                     size_t size) {
  const chain *x = state;
  const bool whole = x->instruction->k == x->as->k && x->steps == 1, casts = !smma_are_same_operands(&x->common);
  smma_rows rows = smma_rows_of_batch(x->as, batch), cast = {.memory = NULL};
  smma_error error = {SMMA_OK, ""};
  bool good = !casts || cast_rows(x, &rows, &cast, &error);
  (void)info;
  if (casts) rows = cast;
  rows.instruction = whole ? x->instruction : rows.instruction;
  if (good)
    good = whole ? smma_unit_ask(x->unit, &rows, 0, batch->rows, batch->d, &error) : run_steps(x, &rows, batch, &error);
  smma_rows_free(&cast);
  if (good)
    make_nan_known(x, batch);
  else
    snprintf(message, size, "%s", error.text);
  return !good;
}

static const smma_unit_methods methods = {SMMA_UNIT_ABI, NULL, chain_close, chain_describe, chain_computes, chain_run};

bool smma_chain_open(smma_unit *unit, const smma_instruction *i, const smma_instruction *as, int tile, bool any_nan,
                     smma_unit *result, smma_error *error) {
  const smma_common_operands same = {{as->a, as->b}, {as->a, as->b}, false};
  return smma_chain_open_common(unit, i, as, tile, any_nan, &same, result, error);
}

bool smma_chain_open_common(smma_unit *unit, const smma_instruction *i, const smma_instruction *as, int tile,
                            bool any_nan, const smma_common_operands *common, smma_unit *result, smma_error *error) {
  const int steps = (as->k + tile - 1) / tile * (tile / i->k);
  chain *x;
  const bool of_first = i->a == common->of[0] && i->b == common->of[1];
  const bool of_other = i->a == common->other[0] && i->b == common->other[1];
  if (!(of_first || of_other) || i->c != as->c || i->d != as->d || i->scale != as->scale ||
      i->scale_block != as->scale_block)
    return smma_fail(error, "%s and %s have not the same formats", i->name, as->name);
  if (steps > 1 && i->c != i->d) return smma_fail(error, "%s cannot go on: c and d differ in format", i->name);
  x = malloc(sizeof *x);
  if (!x) return smma_no_memory(error);
  *x = (chain){.unit = unit, .instruction = i, .as = as, .steps = (size_t)steps, .common = *common, .cast = *as};
  x->cast.a = i->a, x->cast.b = i->b;
  x->any_nan = any_nan || i->rule->rule.nan == SMMA_NAN_QUIET;
  *result = (smma_unit){.methods = &methods, .state = x, .description = unit->description};
  snprintf(result->name, sizeof result->name, "%s", unit->name);
  return true;
}
