/* Names the terms of a block, and explains the effect of special values among them. */
#include <string.h>

#include "explain/builder.h"
#include "isa/key.h"
#include "isa/print.h"

#define MOST_RANGES 2 /* a block with more ranges of consecutive k is described by a remainder of k */

void smma_explain_factors(char *text, size_t size, const smma_number *factor, int count) {
  text[0] = 0;
  for (int i = 0; i < count; i++) {
    smma_quantity value = smma_quantity_of_number(factor[i]);
    char decimal[40];
    smma_quantity_text(decimal, sizeof decimal, value, 6);
    value.exact = value.exact && decimal[0] != '~';
    if (!value.exact) smma_quantity_text(decimal, sizeof decimal, value, 4);
    smma_append_text(text, size, "%s%s", i ? " * " : "", decimal);
  }
}

void smma_explain_xor(char *text, size_t size, const smma_number factor[2]) {
  snprintf(text, size, "%d xor %d", (int)factor[0].significand, (int)factor[1].significand);
}

/* Writes the k of a block that takes more than MOST_RANGES ranges of consecutive k: "k mod 4 = 0, 1". */
static void modulo_text(int first, int dealt, int blocks, char *text, size_t size) {
  smma_print(text, size, dealt > 2 ? "k mod %d = %d..%d" : "k mod %d = %d, %d", dealt * blocks, first,
             first + dealt - 1);
}

/* Writes the k of a block as ranges: "k = 0..7, 16..23". */
static void ranges_text(const smma_operation *o, int block, char *text, size_t size) {
  const int length = smma_block_of(o);
  snprintf(text, size, "k = ");
  for (int i = 0, last; i < length; i = last + 1) {
    const int first = smma_product_index(o, block, i);
    for (last = i; last + 1 < length && smma_product_index(o, block, last + 1) == first + last + 1 - i;) last++;
    smma_append_text(text, size, last > i ? "%s%d..%d" : "%s%d", i ? ", " : "", first, first + last - i);
  }
}

void smma_explain_block_text(const smma_explain_builder *b, int block, char *text, size_t size) {
  const smma_operation *o = b->operation;
  const int length = smma_block_of(o), blocks = o->k / length, dealt = smma_dealt_products(o);
  char which[40];
  if (blocks > 1 && length > MOST_RANGES * dealt)
    modulo_text(smma_product_index(o, block, 0), dealt, blocks, which, sizeof which);
  else
    ranges_text(o, block, which, sizeof which);
  snprintf(text, size, "block %d of %d, %s", block + 1, blocks, which);
}

static void describe_accumulator(const smma_explain_builder *b, int block, smma_explain_line *line) {
  if (block)
    snprintf(line->label, sizeof line->label, "c = block %d", block);
  else
    snprintf(line->label, sizeof line->label, "%s", b->operation->rule.algorithm == SMMA_FP8_BY_FP16 ? "start" : "c");
}

/* Returns the exact sum of the group of products that starts at k, before the group is scaled. */
static smma_number unscaled_group(const smma_explain_builder *b, int k) {
  smma_number one = smma_decode(smma_encoding_of(SMMA_UE8M0), 127);
  return smma_gst_fdpa_group(b->x.a + k, b->x.b + k, b->operation->rule.with.gst_fdpa.group, one, one);
}

static void describe_group(const smma_explain_builder *b, int group, smma_explain_line *line) {
  const smma_operation *o = b->operation;
  int k = group * o->rule.with.gst_fdpa.group, s = k / o->scale_block;
  smma_number factor[3] = {unscaled_group(b, k), b->x.scale_a[s], b->x.scale_b[s]};
  snprintf(line->label, sizeof line->label, "group %d", group);
  smma_explain_factors(line->factors, sizeof line->factors, factor, 3);
}

void smma_explain_describe_term(const smma_explain_builder *b, int block, int i, int count, smma_explain_line *line) {
  const smma_operation *o = b->operation;
  int k;
  if (i == count - 1) {
    describe_accumulator(b, block, line);
    return;
  }
  line->product = true;
  if (o->rule.algorithm == SMMA_GST_FDPA) {
    describe_group(b, i, line);
    return;
  }
  k = smma_product_index(o, block, i);
  smma_number factor[2] = {b->x.a[k], b->x.b[k]};
  if (smma_products_of(&o->rule) == SMMA_PRODUCT_XOR) { /* single bits */
    snprintf(line->label, sizeof line->label, "a[%d]^b[%d]", k, k);
    smma_explain_xor(line->factors, sizeof line->factors, factor);
    return;
  }
  snprintf(line->label, sizeof line->label, "a[%d]*b[%d]", k, k);
  smma_explain_factors(line->factors, sizeof line->factors, factor, 2);
}

/* Writes which scale factor of product k is NaN: "scale_a[1] is NaN". Writes an empty text if none is. */
static void scale_reason(const smma_explain_builder *b, int k, char *text, size_t size) {
  int s = b->operation->scale == SMMA_NO_FORMAT ? 0 : k / b->operation->scale_block;
  text[0] = 0;
  if (b->operation->scale == SMMA_NO_FORMAT) return;
  if (b->x.scale_a[s].kind == SMMA_NAN)
    snprintf(text, size, "scale_a[%d] is NaN", s);
  else if (b->x.scale_b[s].kind == SMMA_NAN)
    snprintf(text, size, "scale_b[%d] is NaN", s);
}

/* Writes why product k is not finite: "a[1]*b[1] = 0 * +infinity". `line` has its label and factors. */
static void product_reason(const smma_explain_builder *b, int k, const smma_explain_line *line, char *text,
                           size_t size) {
  scale_reason(b, k, text, size);
  if (b->x.a[k].kind == SMMA_NAN)
    snprintf(text, size, "a[%d] is NaN", k);
  else if (b->x.b[k].kind == SMMA_NAN)
    snprintf(text, size, "b[%d] is NaN", k);
  else if (!text[0] && b->x.a[k].kind <= SMMA_FINITE && b->x.b[k].kind <= SMMA_FINITE)
    snprintf(text, size, "%s = %s counts as infinity: 2^128 or more", line->label, line->factors);
  else if (!text[0])
    snprintf(text, size, "%s = %s", line->label, line->factors);
}

static void term_reason(const smma_explain_builder *b, int block, int i, const smma_number *term, int count, char *text,
                        size_t size) {
  smma_explain_line line = {.product = false};
  smma_explain_describe_term(b, block, i, count, &line);
  if (i == count - 1)
    snprintf(text, size, "%s is %s", line.label,
             term[i].kind == SMMA_NAN ? "NaN"
             : term[i].negative       ? "-infinity"
                                      : "+infinity");
  else if (b->operation->rule.algorithm == SMMA_GST_FDPA)
    scale_reason(b, i * b->operation->rule.with.gst_fdpa.group, text, size);
  else
    product_reason(b, smma_product_index(b->operation, block, i), &line, text, size);
}

/* Returns the index of the first term of this kind and, unless the kind is NaN, this sign; -1 if there is no such
   term. */
static int find_term(const smma_number *term, int count, smma_kind kind, bool negative) {
  for (int i = 0; i < count; i++)
    if (term[i].kind == kind && (kind == SMMA_NAN || negative == (term[i].negative != 0))) return i;
  return -1;
}

void smma_explain_special(const smma_explain_builder *b, int block, const smma_number *term, int count, char *text,
                          size_t size) {
  int nan = find_term(term, count, SMMA_NAN, false);
  int plus = find_term(term, count, SMMA_INFINITE, false), minus = find_term(term, count, SMMA_INFINITE, true);
  char first[160], second[160];
  if (nan < 0 && plus >= 0 && minus >= 0) {
    term_reason(b, block, plus, term, count, first, sizeof first);
    term_reason(b, block, minus, term, count, second, sizeof second);
    snprintf(text, size, "infinities of both signs:\n  %s\n  %s", first, second);
    return;
  }
  term_reason(b, block, nan >= 0 ? nan : plus >= 0 ? plus : minus, term, count, first, sizeof first);
  snprintf(text, size, "%s", first);
}
