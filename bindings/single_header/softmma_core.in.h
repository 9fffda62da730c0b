/* softmma_core.h, SoftMMA @VERSION@: what matrix instructions return, bit for bit, in one header for simulators.
 *
 * NVIDIA Tensor Cores, AMD Matrix Cores, and the matrix instructions of Arm, Apple, Power, RISC-V and x86:
 * D = A*B + C. C11 and C++17 with gcc or clang. No library to link, no allocation, no global state: every function may
 * be called from any number of threads, and several files of a program may include this header. Of the C library it
 * uses string.h alone.
 *
 *   smma_core_instruction i;
 *   if (smma_core_find("H100", "HMMA.16816.F32", &i) != SMMA_CORE_FOUND) return;
 *   d = smma_core_dot(&i, a, b, c, NULL, NULL);      // one element of D: a row of A, a column of B, one of C
 *
 * Elements are raw encodings, each in the low bits of a uint64_t. Formats, rounding modes and overflow are enumerations
 * (smma_format, smma_rounding, smma_overflow, below).
 *
 * scripts/amalgamate of SoftMMA's source writes this file; changes belong there. docs/single-header.md says more.
 *
 * Licensed under the Apache License, Version 2.0 (http://www.apache.org/licenses/LICENSE-2.0), without warranties or
 * conditions of any kind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SOFTMMA_CORE_H
#define SOFTMMA_CORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SMMA_CORE_VERSION "@VERSION@"

#include "softmma/number.h"

/* ---- The interface ---- */

/* An instruction. `k` is the number of products that one call of smma_core_dot adds to c. A sparse instruction counts
   stored elements of A, half of K in its name; `b` then holds the elements of B that the metadata selects. */
typedef struct {
  const char *arch; /* "hopper" */
  const char *rule; /* the name of the arithmetic: "hopper_f32" */
  char name[64];    /* "wgmma.m64n256k16.f32.f16.f16" */
  int m, n, k;
  smma_format a, b, c, d;
  smma_format scale; /* of scale factors; SMMA_NO_FORMAT without */
  int scale_block;   /* elements along K that share a scale factor; 0 without scale factors */
  int sparse_group;  /* number of elements of A in a group (2, 4 or 8), half of which are stored; 0 for a dense
                        instruction */
  int rule_index;    /* of the tables below */
} smma_core_instruction;

typedef enum {
  SMMA_CORE_FOUND,
  SMMA_CORE_UNKNOWN_GPU, /* no such GPU or architecture, or no model of it */
  SMMA_CORE_UNKNOWN_NAME,
  SMMA_CORE_AMBIGUOUS /* the name fits instructions that compute differently */
} smma_core_status;

/* Finds the instruction of a GPU ("H100", "sm_90", "gfx942", "NVIDIA A100-SXM4-80GB") or architecture ("hopper") by its
   name ("mma.m16n8k16.f32.f16.f16.f32"), by an alias (in PTX, SASS or AMD's manual, or a compiler's builtin), or by the
   beginning of an alias ("HMMA.16816"). Case does not matter. A search by an alias takes up to 20 ms, so search an
   instruction once and store it. */
static inline smma_core_status smma_core_find(const char *gpu_or_arch, const char *name, smma_core_instruction *found);

/* Describes the instruction with this index; all instructions are numbered, architecture by architecture. Returns false
   if the index is too large. */
static inline bool smma_core_at(size_t index, smma_core_instruction *found);

/* Returns d of one dot-product-add d = c + sum a_k b_k, as the instruction computes it. a and b: k elements; scale_a
   and scale_b: k / scale_block elements, NULL for an instruction without scale factors. Bits above a format's are
   ignored. Needs 24 KiB of stack. */
static inline uint64_t smma_core_dot(const smma_core_instruction *instruction, const uint64_t *a, const uint64_t *b,
                                     uint64_t c, const uint64_t *scale_a, const uint64_t *scale_b);

/* Reports whether two results of an instruction count as the same. They must be equal bit for bit, except that any two
   NaN are the same if the bits of the hardware's NaN are not known. */
static inline bool smma_core_same(const smma_core_instruction *instruction, uint64_t d, uint64_t other);

/* Returns the name of a format: "f16"; "none" for SMMA_NO_FORMAT. */
static inline const char *smma_core_format_name(smma_format format);

/* Returns the number of bits of an encoding, including ignored bits: 1 to 64. */
static inline int smma_core_format_bits(smma_format format);

/* Returns the value of an encoding. It is exact: every format fits a double. */
static inline double smma_core_value(smma_format format, uint64_t encoding);

/* Rounds a value to a format and returns its encoding. NaN becomes the format's quiet NaN. */
static inline uint64_t smma_core_encode(smma_format format, double value, smma_rounding rounding,
                                        smma_overflow overflow);

/* Rounds an encoding of one format to another format, as conversion instructions do. */
static inline uint64_t smma_core_convert(smma_format from, uint64_t encoding, smma_format to, smma_rounding rounding,
                                         smma_overflow overflow);

/* ---- What follows is SoftMMA's source ---- */

#define SMMA_EVALUATOR static inline
#include "core/row.h"
#include "isa/find.h"
#include "isa/print.h"
#include "isa/type.h"

static inline const char *smma_format_text(smma_format format) {
  switch ((int)format) {
#define SMMA_FORMAT(symbol, name, ...) \
  case SMMA_##symbol:                  \
    return #name;
#include "core/format.def"
#undef SMMA_FORMAT
    default: return "none";
  }
}

/* ---- The catalogue ---- */

/* A named rule. Its struct smma_rule consists of `count` ints of smma_rule_ints, starting at `first`, followed by
   zeros. */
typedef struct {
  const char *name;
  int first, count;
} smma_rule_row;

/* One instruction, or several that differ only in N. In the second case bit i of `each_n` is set if there is an
   instruction with N = 8 (i + 1), and `name` has a star instead of N. `first` is the number of the architecture's
   instructions in earlier rows. */
typedef struct {
  const char *name, *other_name;
  smma_family family;
  int m, n, k;
  smma_format d, a, b, c, scale;
  int scale_block, rule, sparse, first;
  uint32_t each_n;
} smma_instruction_row;

struct smma_instruction_table {
  const smma_instruction_row *row;
  size_t rows, count; /* count: of instructions */
};

#include "tables.h"

/* Memory that smma_core_at fills with one instruction of a table. */
typedef struct {
  smma_instruction instruction;
  smma_named_rule rule;
  char name[64];
} smma_row_room;

static inline void smma_set_rule(int index, smma_rule *rule) {
  memset(rule, 0, sizeof *rule);
  memcpy(rule, smma_rule_ints + smma_rules[index].first, (size_t)smma_rules[index].count * sizeof *smma_rule_ints);
}

/* Returns the row that has instruction `index` of a table. */
static inline const smma_instruction_row *smma_row_of(const smma_instruction_table *table, size_t index) {
  size_t row = table->rows - 1;
  while ((size_t)table->row[row].first > index) row--;
  return &table->row[row];
}

/* Returns the n-th N for which a row has an instruction. */
static inline int smma_n_of(const smma_instruction_row *row, size_t n) {
  int eights = 1;
  if (!row->each_n) return row->n;
  for (;; eights++)
    if (row->each_n >> (eights - 1) & 1 && n-- == 0) return 8 * eights;
}

/* Writes a row's name with N. */
static inline void smma_name_of(const smma_instruction_row *row, int n, char name[64]) {
  const size_t before = strcspn(row->name, "*");
  if (row->each_n)
    smma_print(name, 64, "%.*s%d%s", (int)before, row->name, n, row->name + before + 1);
  else
    smma_print(name, 64, "%s", row->name);
}

static inline const smma_instruction *smma_row_at(const smma_instruction_table *table, size_t index,
                                                  smma_row_room *room) {
  smma_instruction *i = &room->instruction;
  const smma_instruction_row *row = smma_row_of(table, index);
  i->m = row->m, i->n = smma_n_of(row, index - (size_t)row->first), i->k = row->k;
  smma_name_of(row, i->n, room->name);
  i->name = room->name, i->other_name = row->other_name, i->family = row->family;
  for (i->arch = (smma_arch_id)0; smma_architectures[i->arch].table != table;) i->arch = (smma_arch_id)(i->arch + 1);
  i->a = row->a, i->b = row->b, i->c = row->c, i->d = row->d, i->scale = row->scale;
  i->scale_block = row->scale_block, i->sparse = row->sparse, i->origin = NULL;
  room->rule.name = smma_rules[row->rule].name;
  room->rule.evidence = room->rule.questions = NULL;
  smma_set_rule(row->rule, &room->rule.rule);
  i->rule = &room->rule;
  return i;
}

static inline bool smma_same_operation(const smma_instruction *x, const smma_instruction *y) {
  return x->a == y->a && x->b == y->b && x->c == y->c && x->d == y->d && x->scale == y->scale && x->k == y->k &&
         x->scale_block == y->scale_block && memcmp(&x->rule->rule, &y->rule->rule, sizeof x->rule->rule) == 0;
}

#include "isa/alias.c"
#include "isa/find.c"

/* ---- The interface's functions ---- */

static inline void smma_core_describe(smma_arch_id arch, size_t index, smma_core_instruction *found) {
  const smma_instruction_row *row = smma_row_of(smma_architectures[arch].table, index);
  found->arch = smma_architectures[arch].name, found->rule = smma_rules[row->rule].name;
  found->m = row->m, found->n = smma_n_of(row, index - (size_t)row->first), found->k = row->k;
  smma_name_of(row, found->n, found->name);
  found->a = row->a, found->b = row->b, found->c = row->c, found->d = row->d, found->scale = row->scale;
  found->scale_block = row->scale_block, found->sparse_group = row->sparse, found->rule_index = row->rule;
}

static inline smma_core_status smma_core_find(const char *gpu_or_arch, const char *name, smma_core_instruction *found) {
  const smma_arch_id arch = smma_find_arch(gpu_or_arch);
  smma_query query;
  size_t index;
  bool ambiguous;
  if (arch == SMMA_ARCH_COUNT) return SMMA_CORE_UNKNOWN_GPU;
  smma_normal_form(name, query.form, sizeof query.form);
  if (!smma_find_index(arch, &query, &index, &ambiguous)) return SMMA_CORE_UNKNOWN_NAME;
  if (ambiguous) return SMMA_CORE_AMBIGUOUS;
  smma_core_describe(arch, index, found);
  return smma_gpu_has(gpu_or_arch, found->name) ? SMMA_CORE_FOUND : SMMA_CORE_UNKNOWN_NAME;
}

static inline bool smma_core_at(size_t index, smma_core_instruction *found) {
  for (int arch = 0; arch < SMMA_ARCH_COUNT; arch++) {
    const size_t count = smma_architectures[arch].table->count;
    if (index < count) {
      smma_core_describe((smma_arch_id)arch, index, found);
      return true;
    }
    index -= count;
  }
  return false;
}

static inline void smma_core_set_operation(const smma_core_instruction *i, smma_operation *o) {
  smma_set_rule(i->rule_index, &o->rule);
  o->a = i->a, o->b = i->b, o->c = i->c, o->d = i->d, o->scale = i->scale;
  o->k = i->k, o->scale_block = i->scale_block;
}

static inline uint64_t smma_core_dot(const smma_core_instruction *i, const uint64_t *a, const uint64_t *b, uint64_t c,
                                     const uint64_t *scale_a, const uint64_t *scale_b) {
  const int scales = smma_scale_count(i->k, i->scale_block);
  smma_operation o;
  smma_decoded x;
  smma_core_set_operation(i, &o);
  smma_decode_codes(i->a, a, i->k, x.a);
  smma_decode_codes(i->b, b, i->k, x.b);
  smma_decode_codes(i->scale, scale_a, scales, x.scale_a);
  smma_decode_codes(i->scale, scale_b, scales, x.scale_b);
  return smma_dot_add(&o, smma_operands_of(&x), c);
}

static inline bool smma_core_same(const smma_core_instruction *i, uint64_t d, uint64_t other) {
  smma_operation o;
  smma_core_set_operation(i, &o);
  return smma_same_result(&o, d, other);
}

static inline const char *smma_core_format_name(smma_format format) { return smma_format_text(format); }

static inline int smma_core_format_bits(smma_format format) { return smma_encoding_of(format).bits; }

static inline uint64_t smma_core_convert(smma_format from, uint64_t encoding, smma_format to, smma_rounding rounding,
                                         smma_overflow overflow) {
  return smma_encode_number(smma_encoding_of(to), smma_decode(smma_encoding_of(from), encoding), rounding, overflow);
}

static inline double smma_core_value(smma_format format, uint64_t encoding) {
  const uint64_t f64 = smma_core_convert(format, encoding, SMMA_F64, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
  double value;
  memcpy(&value, &f64, sizeof value);
  return value;
}

static inline uint64_t smma_core_encode(smma_format format, double value, smma_rounding rounding,
                                        smma_overflow overflow) {
  uint64_t f64;
  memcpy(&f64, &value, sizeof f64);
  return smma_core_convert(SMMA_F64, f64, format, rounding, overflow);
}

#endif
