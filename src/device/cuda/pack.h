/* Packs operands for the kernels of chain.h. */
#ifndef SMMA_DEVICE_CUDA_PACK_H
#define SMMA_DEVICE_CUDA_PACK_H

#include "device/cuda/chain.h"

/* An operand to pack: code[k * lines + line], `bytes` bytes each. scale[k / 32 * lines + line] are UE8M0 scale factors
   of blocks of 32 elements; `scale` is NULL without them. Elements outside the operand are zero. */
typedef struct {
  const void *code;
  const uint8_t *scale;
  uint64_t lines, depth;
  smma_format format;
  int bytes, base; /* base: the base of all numbers, if all blocks share it */
  bool of_a;
} smma_chain_operand;

SMMA_CORE uint32_t smma_chain_code(const smma_chain_operand *o, uint64_t at) {
  if (o->bytes == 1) return ((const uint8_t *)o->code)[at];
  if (o->bytes == 2) return ((const uint16_t *)o->code)[at];
  return ((const uint32_t *)o->code)[at];
}

SMMA_CORE smma_number smma_chain_number(const smma_chain_operand *o, uint64_t line, uint64_t k) {
  smma_number x;
  if (line >= o->lines || k >= o->depth) return smma_zero();
  x = smma_decode(smma_encoding_of(o->format), smma_chain_code(o, k * o->lines + line));
  if (!o->scale) return x;
  return smma_product(x, smma_decode(smma_encoding_of(SMMA_UE8M0), o->scale[k / 32 * o->lines + line]));
}

/* Returns the greatest exponent of those of `count` numbers from k on that are neither zero nor special, or
   CHAIN_NO_BASE. */
SMMA_CORE int smma_chain_base(const smma_chain_operand *o, uint64_t line, uint64_t k, int count) {
  int base = CHAIN_NO_BASE, i;
  for (i = 0; i < count; i++) {
    smma_number x = smma_chain_number(o, line, k + (uint64_t)i);
    if (x.kind == SMMA_FINITE) base = smma_maximum(base, x.exponent);
  }
  return base;
}

/* Returns the high word of a finite nonzero number times 2^scale, as a double; the low word is zero, because the
   significand has at most 21 bits. */
SMMA_CORE uint32_t smma_chain_high_word(smma_number x, int scale) {
  int length = smma_bit_length(x.significand), exponent = x.exponent - x.fraction_bits + length - 1 + scale;
  uint32_t fraction = (uint32_t)(x.significand << (21 - length)) & 0xfffffu;
  return (uint32_t)x.negative << 31 | (uint32_t)(exponent + CHAIN_BIAS) << 20 | fraction;
}

SMMA_CORE int smma_chain_lowest_bit(smma_number x) {
  return x.exponent - x.fraction_bits + smma_bit_length(x.significand & (0 - x.significand)) - 1;
}

/* Returns 16^(exponent - base) as bf16, scaled such that products have an exponent field of at least 4 CHAIN_TOP. All
   exponents more than CHAIN_SPAN below the base count as CHAIN_SPAN + 1 below it. */
SMMA_CORE uint32_t smma_chain_power(const smma_chain_operand *o, smma_number x, int base) {
  int below = smma_minimum(base - x.exponent, CHAIN_SPAN + 1);
  return x.kind == SMMA_ZERO ? 0 : (uint32_t)(127 + (o->of_a ? 61 : 60) - 4 * below) << 7;
}

/* Returns the element's deficit byte. Deficits of A are raised such that limit + deficit_a + deficit_b exceeds 127 if
   the product is not on the grid. */
SMMA_CORE uint32_t smma_chain_deficit(const smma_chain *p, const smma_chain_operand *o, smma_number x, int base) {
  int reach = smma_chain_reach(p), deficit;
  if (x.kind == SMMA_ZERO) return o->of_a ? 0 : (uint32_t)(reach + 1);
  deficit = smma_minimum(base - smma_chain_lowest_bit(x), p->wide ? reach + 1 : CHAIN_NARROW);
  return (uint32_t)(o->of_a ? deficit + 127 - reach : deficit);
}

/* Returns the k of the i-th product of a panel: in order, or even k before odd k. */
SMMA_CORE int smma_chain_product(const smma_chain *p, int i) {
  const int sums = smma_chain_sums(p), length = CHAIN_DEPTH / sums;
  return i % length * sums + i / length;
}

/* Packs CHAIN_DEPTH numbers of one line from `k` on; returns true if there are NaN or infinities, which become zero. */
SMMA_CORE bool smma_chain_pack(const smma_chain *p, const smma_chain_operand *o, uint64_t line, uint64_t k,
                               smma_chain_panel *panel) {
  const int at = (int)(line % CHAIN_LINES), place = smma_chain_place(o->of_a, at), in_16 = at % 16;
  int base = o->base, i;
  uint32_t deficit = 0, sign = 0, power = 0;
  bool special = false;
  for (i = 0; i < CHAIN_DEPTH; i++) {
    const uint64_t number = k + (uint64_t)smma_chain_product(p, i);
    const int byte = i % 4 * 8, thread = i % 8 / 2, half = i / 8;
    smma_number x = smma_chain_number(o, line, number);
    uint32_t high = 0;
    if (p->wide && (i == 0 || number % (uint64_t)p->block == 0)) {
      base = smma_chain_base(o, line, number - number % (uint64_t)p->block, p->block);
      panel->base[i / 4][at] = base * CHAIN_BINADE;
    }
    if (x.kind > SMMA_FINITE) {
      special = true;
      x.kind = SMMA_ZERO;
    }
    if (x.kind != SMMA_ZERO)
      high = smma_chain_high_word(x, o->of_a ? p->alignment_bits - 52 : 0);
    else if (!o->of_a)
      high = (uint32_t)(CHAIN_BIAS - 1000) << 20; /* its product with any number is below every grid */
    panel->value[i][at / 2].of[at % 2] = smma_double_of(high, 0);
    power |= smma_chain_power(o, x, base) << i % 2 * 16;
    if (i % 2) {
      if (o->of_a)
        panel->exponent[at / 16 * 32 + in_16 / 2 * 4 + thread].of[half].of[in_16 % 2] = power;
      else
        panel->exponent[at / 16 * 32 + in_16 % 8 * 4 + thread].of[half].of[in_16 / 8] = power;
      power = 0;
    }
    deficit |= smma_chain_deficit(p, o, x, base) << byte;
    if (x.kind != SMMA_ZERO) sign |= (uint32_t)x.negative << (byte + 7);
    if (i % 4 == 3) {
      panel->deficit[i / 4][place / 4].of[place % 4 / 2].of[place % 2] = deficit;
      panel->sign[i / 4][place / 4].of[place % 4 / 2].of[place % 2] = sign;
      deficit = sign = 0;
    }
  }
  return special;
}

#endif
