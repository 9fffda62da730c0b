/* Drives Frama-C: smma_dot_add of the catalogue's operations of one algorithm (operations.h), with any encodings. */
#include "dialect.h"

#define smma_align smma_align_in_core
#define smma_align_down smma_align_down_in_core
#include "core/term.h"
#undef smma_align
#undef smma_align_down

/* The bounds that comments of the core state, as contracts: a term is below 2^HEADROOM times the power of two of its
   exponent, which is at most emax. The lemmas `align` and `align_down` prove what the contracts ensure. */
/*@ requires 0 <= bits <= 58;
    requires x.significand < 1 << x.fraction_bits + HEADROOM;
    ensures -(1 << bits + HEADROOM) <= \result <= 1 << bits + HEADROOM; */
static int64_t smma_align(smma_number x, int emax, int bits) { return smma_align_in_core(x, emax, bits); }

/*@ requires 0 <= bits <= 58;
    requires x.significand < 1 << x.fraction_bits + HEADROOM;
    ensures -(1 << bits + HEADROOM) <= \result <= 1 << bits + HEADROOM; */
static int64_t smma_align_down(smma_number x, int emax, int bits) { return smma_align_down_in_core(x, emax, bits); }

#include "core/rule.h"
#include "operations.h"

volatile uint64_t any;

static void decode(smma_format format, int count, smma_number *x) {
  const smma_encoding f = smma_encoding_of(format);
  int i;
  for (i = 0; i < count; i++) x[i] = smma_decode(f, any);
}

int main(void) {
  uint64_t d = 0;
  unsigned at;
  //@ loop unroll 200;
  for (at = 0; at < sizeof operations / sizeof operations[0]; at++) {
    const smma_operation *o = &operations[at];
    const int scales = smma_scale_count(o->k, o->scale_block);
    smma_decoded x;
    decode(o->a, o->k, x.a), decode(o->b, o->k, x.b);
    decode(o->scale, scales, x.scale_a), decode(o->scale, scales, x.scale_b);
    d = smma_dot_add(o, smma_operands_of(&x), any);
  }
  return d != 0;
}
