#include "random_unit.h"

#include <stdio.h>
#include <string.h>

#include "isa/compose.h"
#include "isa/format_name.h"
#include "random.h"

static int one_of(uint64_t *state, const int *list, int count) { return list[random_below(state, (unsigned)count)]; }

static int random_divisor(uint64_t *state, int of) {
  int d;
  do {
    d = random_between(state, 1, of);
  } while (of % d);
  return d;
}

/* Builds a name that spells out a format, so that names of known formats give those formats. */
smma_format random_spelled_format(uint64_t *state) {
  static const char *const words[] = {"", "", "", "-ieee", "-nan", "-fnuz", "-finite"};
  for (;;) {
    const int exponent_bits = random_between(state, 1, random_below(state, 3) ? 8 : 11);
    const int fraction_bits = random_between(state, 0, 15 - exponent_bits);
    const char *sign = random_below(state, 4) ? "" : "u", *word = words[random_below(state, 7)];
    char name[40], bias[16] = "";
    smma_format format;
    if (random_below(state, 4) == 0) snprintf(bias, sizeof bias, "-bias%d", random_between(state, -20, 140));
    snprintf(name, sizeof name, "%se%dm%d%s%s", sign, exponent_bits, fraction_bits, bias, word);
    if (random_below(state, 8) == 0) {
      sign = random_below(state, 2) ? "s" : "u";
      snprintf(name, sizeof name, "%s%d", sign, random_between(state, 2, 8));
    }
    format = smma_format_from_text(name);
    if (format != SMMA_NO_FORMAT) return format;
  }
}

/* Returns any allowed value of a key. */
static int random_value(uint64_t *state, const smma_key *key) {
  int count = 0, format;
  smma_format spelled;
  switch (key->kind) {
    case SMMA_KEY_FORMAT:
      for (int tries = random_below(state, 3) ? 0 : 40; tries > 0; tries--)
        if (key->formats & smma_format_bit(spelled = random_spelled_format(state))) return (int)spelled;
      do {
        format = random_between(state, SMMA_F64, SMMA_B1);
      } while (!(key->formats & smma_format_bit((smma_format)format)));
      return format;
    case SMMA_KEY_CHOICE:
    case SMMA_KEY_ROUNDING:
      while (key->choices[count]) count++;
      return random_between(state, 0, count - 1);
    case SMMA_KEY_INTEGER:
    case SMMA_KEY_FLAG: break;
  }
  return random_between(state, key->least, key->most);
}

/* Sets every key of the unit's algorithm to a random value. Products by xor are chosen only for single bits. */
static void set_keys(uint64_t *state, smma_custom *c) {
  const smma_key *product = smma_find_key(c->named.rule.algorithm, "product", strlen("product"));
  for (const smma_key *key = NULL; (key = smma_next_key(c->named.rule.algorithm, key));)
    smma_custom_set(c, key, random_value(state, key));
  if (product && (c->instruction.a != SMMA_B1 || c->instruction.b != SMMA_B1))
    smma_custom_set(c, product, SMMA_PRODUCT_MULTIPLIED);
}

/* Sets every key of G-FDPA: the unit's formats and K, and `p`. */
static void set_chain_keys(uint64_t *state, smma_custom *c, smma_g_fdpa *p) {
  for (const smma_key *key = NULL; (key = smma_next_key(SMMA_KEYS_OF_G_FDPA, key));)
    if (key->of_chain)
      smma_set_key_of_chain(p, key, random_value(state, key));
    else
      smma_custom_set(c, key, random_value(state, key));
}

/* Makes random values fit together, so that operands suit the exponents and truncations. */
static void settle(uint64_t *state, smma_custom *c, smma_g_fdpa *p) {
  static const int lengths[] = {1, 2, 3, 4, 6, 8, 12, 16, 16, 32, 32, 64};
  smma_instruction *i = &c->instruction;
  i->k = one_of(state, lengths, 12);
  p->block = random_divisor(state, i->k);
  p->interleave = random_divisor(state, p->block);
  p->zero_exponent = random_below(state, 2) ? random_between(state, -160, 20) : SMMA_NO_EXPONENT;
  p->output = i->d;
  if (i->d == SMMA_F32 && random_below(state, 3) == 0) p->output = random_below(state, 2) ? SMMA_E8M13 : SMMA_TF32;
  if (p->c_joins == SMMA_C_JOINS_FIRST) p->c_rounding = SMMA_ROUND_NEAREST_EVEN;
  if (random_below(state, 4) == 0) {
    p->alignment_bits = SMMA_EXACT_ALIGNMENT;
    p->sticky_bit = 0;
    p->product_exponent = SMMA_EXPONENT_OF_FACTORS;
    p->zero_exponent = SMMA_NO_EXPONENT;
    p->alignment_rounding = SMMA_ROUND_TOWARD_ZERO;
  }
  if (p->sticky_bit) p->alignment_rounding = SMMA_ROUND_TOWARD_ZERO;
  if (i->k % 16 || random_below(state, 3)) {
    i->scale = SMMA_NO_FORMAT;
    i->scale_block = 0;
  } else {
    i->scale_block = 16 * random_divisor(state, i->k / 16);
  }
}

/* Makes a unit with these G-FDPA parameters. Returns false if they are not a valid unit. */
static bool make_chain(smma_custom *c, const smma_g_fdpa *p) {
  smma_custom_fault fault;
  c->named.rule.algorithm = SMMA_COMPOSITION;
  if (!smma_custom_check_chain(c, p, &fault)) return false;
  c->named.rule.with.composition = smma_compose_g_fdpa(p, c->instruction.k, c->instruction.d);
  return smma_custom_check(c, &fault);
}

smma_custom random_chain(uint64_t seed, smma_g_fdpa *p) {
  smma_custom c;
  uint64_t state = seed;
  do {
    memset(&c, 0, sizeof c);
    c.instruction.name = "random";
    set_chain_keys(&state, &c, p);
    if (random_below(&state, 2)) c.instruction.d = SMMA_F32;
    if (random_below(&state, 2)) c.instruction.c = c.instruction.d;
    settle(&state, &c, p);
  } while (!make_chain(&c, p));
  return c;
}

smma_custom random_unit(uint64_t seed) {
  smma_g_fdpa p;
  return random_chain(seed, &p);
}

/* Sets sizes that every algorithm of the catalogue, and the oracle, accept. */
static void settle_catalogue(uint64_t *state, smma_custom *c) {
  static const int lengths[] = {4, 8, 16, 32, 64};
  smma_instruction *i = &c->instruction;
  smma_rule *rule = &c->named.rule;
  const smma_key *block = smma_find_key(rule->algorithm, "block", strlen("block"));
  i->k = rule->algorithm == SMMA_FTZ_FMA ? 2 : one_of(state, lengths, 5);
  i->c = i->d;
  if (block) smma_custom_set(c, block, rule->algorithm == SMMA_FP8_BY_FP16 ? i->k / 2 : random_divisor(state, i->k));
  switch (rule->algorithm) {
    case SMMA_ST_FDPA:
    case SMMA_GST_FDPA:
      i->k = 16 << random_below(state, 3);
      i->scale_block = 16 * random_divisor(state, i->k / 16);
      if (rule->algorithm == SMMA_ST_FDPA) rule->with.t_fdpa.block = random_divisor(state, i->k);
      break;
    default: i->scale = SMMA_NO_FORMAT, i->scale_block = 0;
  }
  if (rule->algorithm == SMMA_INTEGER && i->k % 16) rule->with.integer.two_stages = 0;
  if (rule->algorithm == SMMA_C_FDPA || rule->algorithm == SMMA_GD_FDPA) {
    smma_c_fdpa *p = &rule->with.c_fdpa;
    p->output = i->d;
    p->stride = random_divisor(state, i->k / p->block);
    if (rule->algorithm == SMMA_GD_FDPA) p->group = random_divisor(state, p->block);
  } else if (rule->algorithm == SMMA_GST_FDPA) {
    rule->with.gst_fdpa.group = random_divisor(state, i->scale_block);
    rule->with.gst_fdpa.fused.output = i->d;
  } else if (smma_find_key(rule->algorithm, "output", strlen("output"))) {
    rule->with.t_fdpa.output = i->d;
  }
}

smma_custom random_catalogue_unit(uint64_t seed) {
  smma_custom c;
  smma_custom_fault fault;
  uint64_t state = seed;
  do {
    memset(&c, 0, sizeof c);
    c.instruction.name = "random";
    c.named.rule.algorithm = (smma_algorithm)(seed % SMMA_COMPOSITION);
    set_keys(&state, &c);
    settle_catalogue(&state, &c);
  } while (!smma_custom_check(&c, &fault));
  return c;
}

/* Sets formats in which adding 1 to a large M has no effect. */
static void widen(uint64_t *state, smma_custom *c) {
  static const int operands[] = {SMMA_F32, SMMA_TF32, SMMA_BF16, SMMA_F16, SMMA_E5M2, SMMA_E4M3};
  static const int results[] = {SMMA_F32, SMMA_F32, SMMA_F32, SMMA_F64, SMMA_BF16, SMMA_TF32, SMMA_F16, SMMA_E5M2};
  smma_instruction *i = &c->instruction;
  i->a = (smma_format)one_of(state, operands, 6);
  i->b = random_below(state, 2) ? i->a : (smma_format)one_of(state, operands, 6);
  i->d = (smma_format)one_of(state, results, 8);
  i->c = random_below(state, 4) ? i->d : (smma_format)one_of(state, results, 8);
}

/* Returns a zero_exponent. It is within the range of terms' exponents, or below all of them, as on NVIDIA's units. */
static int random_zero_exponent(uint64_t *state) {
  return random_below(state, 3) ? random_between(state, -170, 130) : -133;
}

smma_custom random_any_unit(uint64_t seed) {
  static const int lengths[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 16, 24, 32, 32, 48, 64, 64};
  smma_custom_fault fault;
  uint64_t state = seed ^ UINT64_C(0x5eed0000000000);
  const bool chain = random_below(&state, 3);
  const smma_algorithm algorithm = chain ? SMMA_COMPOSITION : (smma_algorithm)(seed % SMMA_COMPOSITION);
  smma_custom c;
  smma_g_fdpa p;
  do {
    memset(&c, 0, sizeof c);
    c.instruction.name = "random";
    c.named.rule.algorithm = algorithm;
    if (chain)
      set_chain_keys(&state, &c, &p), settle(&state, &c, &p);
    else
      set_keys(&state, &c), settle_catalogue(&state, &c);
    if (random_below(&state, 4)) widen(&state, &c);
    if (!chain && !c.instruction.scale_block) c.instruction.k = one_of(&state, lengths, 17);
    switch (algorithm) {
      case SMMA_T_FDPA:
      case SMMA_ST_FDPA:
      case SMMA_FP8_BY_FP16: c.named.rule.with.t_fdpa.zero_exponent = random_zero_exponent(&state); break;
      case SMMA_GST_FDPA: c.named.rule.with.gst_fdpa.fused.zero_exponent = random_zero_exponent(&state); break;
      case SMMA_COMPOSITION:
        if (p.zero_exponent != SMMA_NO_EXPONENT) p.zero_exponent = random_zero_exponent(&state);
        if (p.output < SMMA_E8M13 || c.instruction.d != SMMA_F32) p.output = c.instruction.d;
        break;
      default: break;
    }
  } while (!(chain ? make_chain(&c, &p) : smma_custom_check(&c, &fault)));
  return c;
}

/* ---- Compositions ---- */

/* Returns `otherwise` once in `n` times, else `usual`. */
static int mostly(uint64_t *state, int n, int usual, int otherwise) {
  return random_below(state, (unsigned)n) ? usual : otherwise;
}

/* Sets exponents and truncations of similar size as those of the terms. Larger values would leave no bits of a sum that
   distinguish models. */
static void settle_cut(uint64_t *state, smma_cut *cut) {
  cut->brings = (smma_brings)mostly(state, 4, SMMA_BRINGS_OWN, (int)random_below(state, 3));
  cut->offset = mostly(state, 4, 0, random_between(state, -4, 4));
  cut->least = mostly(state, 6, SMMA_NONE, random_between(state, -140, 5));
  cut->zero_exponent = random_below(state, 2)   ? SMMA_NO_EXPONENT
                       : random_below(state, 2) ? SMMA_OWN_EXPONENT
                                                : random_between(state, -160, 10);
  cut->bits = random_below(state, 6) ? random_between(state, 4, 32) : SMMA_EXACT_ALIGNMENT;
  if (random_below(state, 12) == 0) cut->bits = random_between(state, 0, 100);
  cut->drop = mostly(state, 4, SMMA_NONE, random_between(state, 0, 24));
  cut->again = 0;
}

static void settle_dealing(uint64_t *state, smma_step *s, int count) {
  s->window = random_below(state, 2) ? count : random_divisor(state, count);
  s->take = random_divisor(state, s->window);
  if (s->join == SMMA_JOIN_TREE) {
    s->take = count % 2 ? count : 2;
    for (s->window = s->take; s->take > 1 && count % (s->window * s->take) == 0 && random_below(state, 4);)
      s->window *= s->take;
  }
  s->turn = random_divisor(state, s->take);
}

/* Sets the chains of a step before the last; their sums may also start from `c`. */
static void settle_chains(uint64_t *state, smma_step *s, int groups, bool last, bool c) {
  const bool chain = s->join == SMMA_JOIN_CHAIN;
  s->stride = chain ? random_divisor(state, groups) : 1;
  s->chains = chain && !last ? random_divisor(state, groups) : 1;
  s->start = chain ? (smma_start)random_below(state, 2) : SMMA_START_NOTHING;
  if (c) s->start = SMMA_START_C;
}

/* Returns a step that leaves several sums, or, as the last step, d. */
static smma_step random_step(uint64_t *state, int count, bool last, bool c, smma_format d) {
  static const int outputs[] = {SMMA_F32, SMMA_F32,   SMMA_F32,  SMMA_F16,  SMMA_BF16, SMMA_TF32,
                                SMMA_F64, SMMA_E8M13, SMMA_E5M2, SMMA_E4M3, SMMA_E2M1, SMMA_S32};
  smma_step s;
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));)
    smma_set_key_of_step(&s, key, random_value(state, key));
  s.join = c ? SMMA_JOIN_CHAIN : (smma_join)random_below(state, 3);
  settle_dealing(state, &s, count);
  settle_chains(state, &s, count / s.take, last, c);
  if (last && s.join == SMMA_JOIN_APART) s.take = s.window = count, s.turn = random_divisor(state, count);
  s.reference = mostly(state, 8, SMMA_NONE, random_between(state, -20, 20));
  s.reference_multiple = s.reference == SMMA_NONE ? mostly(state, 4, 1, 1 << random_between(state, 1, 6)) : 1;
  settle_cut(state, &s.term);
  s.accumulator = s.term;
  if (s.join == SMMA_JOIN_CHAIN && random_below(state, 2)) settle_cut(state, &s.accumulator);
  s.least_reference = SMMA_NONE, s.minus_one_shift = 0;
  s.opposing = (smma_opposing)(s.join == SMMA_JOIN_CHAIN && random_below(state, 3) == 0);
  s.output = last ? d : random_below(state, 2) ? SMMA_NO_FORMAT : (smma_format)one_of(state, outputs, 12);
  if (s.output == SMMA_F32 && random_below(state, 6) == 0) s.output = SMMA_E8M13;
  s.width = mostly(state, 6, SMMA_NONE, random_between(state, 12, 60));
  if (s.term.bits == SMMA_EXACT_ALIGNMENT || s.accumulator.bits == SMMA_EXACT_ALIGNMENT) {
    s.width = SMMA_NONE, s.opposing = SMMA_OPPOSING_EXACT, s.reference_multiple = 1;
    if (s.output == SMMA_NO_FORMAT) s.output = SMMA_F32;
  }
  s.narrow_bits = mostly(state, 3, SMMA_NONE, random_between(state, 0, 30));
  if (s.output == SMMA_NO_FORMAT) s.narrow_bits = SMMA_NONE;
  if (s.output != SMMA_NO_FORMAT) s.cancelled_is_zero = 0;
  return s;
}

static int again_of(uint64_t *state, const smma_cut *cut) {
  return mostly(state, 3, 0, random_between(state, 0, cut->bits));
}

/* Sets the keys of a step that only Tenstorrent's units have. */
static void extend_step(uint64_t *state, smma_step *s) {
  if (s->term.bits == SMMA_EXACT_ALIGNMENT || s->accumulator.bits == SMMA_EXACT_ALIGNMENT) return;
  s->least_reference = mostly(state, 3, SMMA_NONE, random_between(state, -130, 10));
  s->minus_one_shift = mostly(state, 3, 0, random_between(state, 1, 40));
  s->term.again = again_of(state, &s->term);
  s->accumulator.again = s->join == SMMA_JOIN_CHAIN ? again_of(state, &s->accumulator) : s->term.again;
}

/* Aligns factors in blocks in some of the units that are `extended`. */
static void settle_blocks(uint64_t *state, bool extended, const smma_instruction *i, smma_composition *p) {
  const bool aligned = extended && p->product == SMMA_PRODUCT_MULTIPLIED && random_below(state, 2);
  p->block_bits_a = aligned ? mostly(state, 3, random_between(state, 1, 12), random_between(state, 0, 53)) : 0;
  p->block_bits_b = aligned ? mostly(state, 3, random_between(state, 1, 12), random_between(state, 0, 53)) : 0;
  p->block_elements = mostly(state, 3, random_divisor(state, i->k), 0);
  if (p->block_bits_a || p->block_bits_b) return;
  p->block_elements = 0;
  p->block_rounding = SMMA_ROUND_TOWARD_ZERO;
}

/* Cuts the factors into slices if `extended`. */
static void settle_slices(uint64_t *state, bool extended, const smma_instruction *i, smma_composition *p) {
  p->slice_a = p->slice_b = p->first_phase = 0, p->slices_b = p->phases = 1;
  p->zero_product = SMMA_OWN_EXPONENT;
  if (i->scale_block || !extended) return;
  p->zero_product = mostly(state, 3, SMMA_OWN_EXPONENT, random_between(state, -60, 10));
  p->slice_a = random_between(state, 0, 9);
  p->slice_b = random_between(state, 0, 9);
  p->slices_b = p->slice_b ? random_between(state, 1, 3) : 1;
  p->first_phase = mostly(state, 2, 0, random_between(state, 0, 3));
  p->phases = random_between(state, 1, 4);
}

static void settle_operands(uint64_t *state, bool extended, smma_custom *c) {
  static const int lengths[] = {1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 16, 32, 64};
  smma_instruction *i = &c->instruction;
  smma_composition *p = &c->named.rule.with.composition;
  if (random_below(state, 3)) widen(state, c);
  if (random_below(state, 2)) i->c = i->d;
  i->k = one_of(state, lengths, 13);
  if (i->k % 16 || random_below(state, 2)) i->scale = SMMA_NO_FORMAT, i->scale_block = 0;
  if (i->scale_block) i->scale_block = 4 * random_divisor(state, i->k / 4);
  p->subnormal_a = (smma_subnormal_policy)mostly(state, 3, SMMA_SUBNORMALS_KEPT, (int)p->subnormal_a);
  p->subnormal_b = (smma_subnormal_policy)mostly(state, 3, SMMA_SUBNORMALS_KEPT, (int)p->subnormal_b);
  p->subnormal_c = (smma_subnormal_policy)mostly(state, 2, SMMA_SUBNORMALS_KEPT, (int)p->subnormal_c);
  p->widen = (smma_format)mostly(state, 8, SMMA_NO_FORMAT, (int)p->widen);
  p->product_limit = mostly(state, 8, SMMA_NONE, random_between(state, 0, 130));
  settle_blocks(state, extended, i, p);
  settle_slices(state, extended, i, p);
  if (!extended && c->named.rule.nan == SMMA_NAN_NUMBERS) c->named.rule.nan = SMMA_NAN_QUIET;
}

smma_custom random_composition(uint64_t seed) {
  smma_custom c;
  smma_custom_fault fault;
  smma_composition *p = &c.named.rule.with.composition;
  uint64_t state = seed ^ UINT64_C(0x57e95000000000);
  const bool extended = seed % 4 == 3; /* has keys that only Tenstorrent's units have */
  do {
    int count, steps = random_between(&state, 1, 3), start;
    if (random_below(&state, 8) == 0) steps = random_between(&state, 4, SMMA_MAXIMUM_STEPS);
    start = random_below(&state, 3) ? steps - 1 : random_between(&state, 0, steps - 1);
    memset(&c, 0, sizeof c);
    c.instruction.name = "random";
    c.named.rule.algorithm = SMMA_COMPOSITION;
    set_keys(&state, &c);
    settle_operands(&state, extended, &c);
    for (count = smma_product_nodes(p, c.instruction.k); p->steps < steps && count;
         count = smma_composition_nodes(p, c.instruction.k, p->steps)) {
      p->step[p->steps] = random_step(&state, count, p->steps == steps - 1, p->steps == start, c.instruction.d);
      if (extended) extend_step(&state, &p->step[p->steps]);
      p->steps++;
    }
    p->scaled_step = c.instruction.scale_block ? random_between(&state, 0, steps - 1) : 0;
  } while (!smma_custom_check(&c, &fault));
  return c;
}

/* ---- Compositions like published units ---- */

/* Returns how terms are truncated in a unit, the same in all its steps; values that few units have are chosen once in n
   times. */
static smma_cut realistic_cut(uint64_t *state, int fraction_bits) {
  static const int roundings[] = {SMMA_ROUND_TOWARD_ZERO, SMMA_ROUND_TOWARD_ZERO,  SMMA_ROUND_TOWARD_ZERO,
                                  SMMA_ROUND_DOWN,        SMMA_ROUND_NEAREST_EVEN, SMMA_ROUND_TO_ODD,
                                  SMMA_ROUND_NEAREST_AWAY};
  return (smma_cut){
      .brings = random_below(state, 4) ? SMMA_BRINGS_OWN : SMMA_BRINGS_NORMALIZED,
      .least = SMMA_NONE,
      .zero_exponent = mostly(state, 3, SMMA_NO_EXPONENT,
                              random_below(state, 2) ? SMMA_OWN_EXPONENT : random_between(state, -140, -120)),
      .bits = fraction_bits + random_between(state, -1, 10),
      .rounding = (smma_rounding)one_of(state, roundings, 7),
      .drop = mostly(state, 10, SMMA_NONE, random_between(state, 20, 30))};
}

static smma_step realistic_step(smma_join join, int take, int window, smma_format output, smma_cut cut) {
  smma_step s = smma_exact_step(take, output);
  s.join = join;
  s.window = window;
  s.term = s.accumulator = cut;
  return s;
}

static smma_step realistic_chain(int nodes, int take, smma_start start, smma_format output, smma_cut cut) {
  smma_step s = realistic_step(SMMA_JOIN_CHAIN, take, nodes, output, cut);
  s.start = start;
  return s;
}

static void add_step(smma_composition *p, smma_step s) { p->step[p->steps++] = s; }

static int power_of_two_up_to(uint64_t *state, int most) {
  int x = 1;
  while (2 * x <= most && random_below(state, 3)) x *= 2;
  return x;
}

/* Sets the steps to one of these structures: chains of blocks that start from c or have c added last; two stages;
   halves of even and odd products; trees of near and far terms; several chains; rounded leaves; fixed point. */
static void realistic_steps(uint64_t *state, smma_custom *c) {
  const int k = c->instruction.k, fraction_bits = smma_encoding_of(c->instruction.d).fraction_bits;
  const smma_format d = c->instruction.d;
  const smma_cut cut = realistic_cut(state, fraction_bits), whole = smma_exact_step(1, d).term;
  const smma_cut second = random_below(state, 2) ? cut : realistic_cut(state, fraction_bits);
  const smma_cut exact = random_below(state, 2) ? whole : cut;
  const int block = k / power_of_two_up_to(state, k), lanes = 2 * power_of_two_up_to(state, k / 2);
  smma_composition *p = &c->named.rule.with.composition;
  smma_step s;
  switch (random_below(state, 8)) {
    case 0: add_step(p, realistic_chain(k, block, SMMA_START_C, d, exact)); break;
    case 1:
      add_step(p, realistic_chain(k, block, random_below(state, 2) ? SMMA_START_ZERO : SMMA_START_NOTHING, d, exact));
      add_step(p, realistic_chain(1, 1, SMMA_START_C, d, whole));
      break;
    case 2:
      add_step(p, realistic_step(SMMA_JOIN_APART, block, k, SMMA_NO_FORMAT, cut));
      add_step(p, realistic_chain(k / block, power_of_two_up_to(state, k / block), SMMA_START_C, d, second));
      break;
    case 3:
      s = realistic_step(SMMA_JOIN_APART, k / 2, k, SMMA_NO_FORMAT, cut);
      s.turn = 1;
      add_step(p, s);
      add_step(p, realistic_step(SMMA_JOIN_APART, 2, 2, SMMA_NO_FORMAT, second));
      add_step(p, realistic_chain(1, 1, SMMA_START_C, d, second));
      break;
    case 4:
      if (random_below(state, 2)) add_step(p, realistic_step(SMMA_JOIN_APART, 1, k, d, whole));
      s = realistic_step(SMMA_JOIN_TREE, 2, lanes, d, whole);
      s.turn = 1 + (int)random_below(state, 2);
      add_step(p, s);
      add_step(p, realistic_chain(k / lanes, 1, SMMA_START_C, d, whole));
      break;
    case 5:
      s = realistic_chain(k, k / lanes, SMMA_START_NOTHING, d, exact);
      s.take = power_of_two_up_to(state, k / lanes);
      s.chains = lanes;
      add_step(p, s);
      add_step(p, realistic_step(SMMA_JOIN_TREE, 2, lanes, d, whole));
      add_step(p, realistic_chain(1, 1, SMMA_START_C, d, whole));
      break;
    case 6:
      s = realistic_chain(k, block, SMMA_START_C, d, cut);
      s.opposing = SMMA_OPPOSING_COMPLEMENT;
      add_step(p, s);
      break;
    default:
      s = realistic_chain(k, k, SMMA_START_C, d, cut);
      s.reference = random_between(state, 0, 12);
      s.term.bits = s.accumulator.bits = random_between(state, 12, 40);
      s.width = random_between(state, s.term.bits + s.reference + 1, s.term.bits + s.reference + 8);
      s.width_overflow = (smma_integer_overflow)random_below(state, 2);
      add_step(p, s);
  }
}

/* Sets values that are the same in every step that rounds to a format. */
static void realistic_outputs(uint64_t *state, smma_custom *c) {
  static const int roundings[] = {SMMA_ROUND_NEAREST_EVEN, SMMA_ROUND_NEAREST_EVEN, SMMA_ROUND_TOWARD_ZERO,
                                  SMMA_ROUND_TOWARD_ZERO,  SMMA_ROUND_DOWN,         SMMA_ROUND_TO_ODD,
                                  SMMA_ROUND_NEAREST_AWAY};
  smma_composition *p = &c->named.rule.with.composition;
  const smma_rounding rounding = (smma_rounding)one_of(state, roundings, 7);
  const smma_subnormal_policy flush =
      (smma_subnormal_policy)mostly(state, 4, SMMA_SUBNORMALS_KEPT, random_between(state, 1, 2));
  const smma_zero_sign zero_sign = (smma_zero_sign)random_below(state, 3);
  const smma_sum_overflow overflow =
      (smma_sum_overflow)mostly(state, 4, SMMA_SUM_TO_INFINITY, random_between(state, 1, 2));
  for (smma_step *s = p->step; s < p->step + p->steps; s++) {
    s->zero_sign = zero_sign;
    if (s->output == SMMA_NO_FORMAT) continue;
    s->rounding = rounding;
    s->overflow = overflow;
    s->subnormal_outputs = flush;
    if (s == p->step + p->steps - 1 && random_below(state, 5) == 0) {
      s->narrow_bits = smma_encoding_of(s->output).fraction_bits + random_between(state, 1, 8);
      s->narrow_rounding = SMMA_ROUND_DOWN;
    }
  }
  p->subnormal_a = p->subnormal_b = flush;
  p->subnormal_c = random_below(state, 2) ? flush : SMMA_SUBNORMALS_KEPT;
  c->named.rule.nan = random_below(state, 2) ? SMMA_NAN_QUIET : SMMA_NAN_ALL_ONES;
}

smma_custom random_realistic_unit(uint64_t seed) {
  static const smma_format formats[][3] = {{SMMA_F16, SMMA_F16, SMMA_F32},    {SMMA_F16, SMMA_F16, SMMA_F32},
                                           {SMMA_BF16, SMMA_BF16, SMMA_F32},  {SMMA_F16, SMMA_F16, SMMA_F16},
                                           {SMMA_BF16, SMMA_BF16, SMMA_BF16}, {SMMA_TF32, SMMA_TF32, SMMA_F32},
                                           {SMMA_E4M3, SMMA_E4M3, SMMA_F32},  {SMMA_E5M2, SMMA_E4M3, SMMA_F32},
                                           {SMMA_E4M3, SMMA_E5M2, SMMA_F16},  {SMMA_F32, SMMA_F32, SMMA_F32}};
  static const int lengths[] = {4, 8, 8, 16, 16, 32};
  smma_custom c;
  smma_custom_fault fault;
  uint64_t state = seed ^ UINT64_C(0x9ea1000000000000);
  do {
    const smma_format *f = formats[random_below(&state, 10)];
    memset(&c, 0, sizeof c);
    c.instruction =
        (smma_instruction){.name = "realistic", .m = 16, .n = 8, .a = f[0], .b = f[1], .c = f[2], .d = f[2]};
    c.instruction.scale = SMMA_NO_FORMAT;
    c.instruction.k = one_of(&state, lengths, 6);
    c.named.rule.algorithm = SMMA_COMPOSITION;
    c.named.rule.with.composition = smma_no_steps();
    realistic_steps(&state, &c);
    realistic_outputs(&state, &c);
  } while (!smma_custom_check(&c, &fault));
  return c;
}

/* ---- Compositions of two unrelated steps ---- */

static smma_cut cut_of_own(uint64_t *state, int fraction_bits) {
  smma_cut cut = realistic_cut(state, fraction_bits);
  cut.bits = fraction_bits + random_between(state, -12, 8);
  cut.brings = (smma_brings)mostly(state, 4, SMMA_BRINGS_OWN, random_between(state, 0, 1));
  cut.zero_exponent = mostly(state, 3, SMMA_NO_EXPONENT, random_between(state, -140, -120));
  cut.drop = SMMA_NONE;
  return cut;
}

/* Returns a first step: groups that stay separate, mostly of products; trees; chains. Sums of the first two kinds may
   stay unrounded. */
static smma_step first_of_two(uint64_t *state, int k, smma_format d, int fraction_bits) {
  const int take = random_below(state, 3) ? random_divisor(state, k) : 1;
  const smma_format output = random_below(state, 4) ? SMMA_NO_FORMAT : d;
  const smma_cut cut = cut_of_own(state, fraction_bits);
  smma_step s;
  switch (random_below(state, 6)) {
    case 0:
      s = realistic_step(SMMA_JOIN_TREE, 2, 2 * power_of_two_up_to(state, k / 2), output, cut);
      s.turn = 1 + (int)random_below(state, 2);
      return s;
    case 1:
      s = realistic_chain(k, take, random_below(state, 2) ? SMMA_START_ZERO : SMMA_START_NOTHING, d, cut);
      s.chains = power_of_two_up_to(state, k / take);
      return s;
    default:
      s = realistic_step(SMMA_JOIN_APART, take, k, output, cut);
      s.window = random_below(state, 2) ? k : take * random_divisor(state, k / take);
      s.turn = random_below(state, 2) ? take : random_divisor(state, take);
      return s;
  }
}

static smma_step second_of_two(uint64_t *state, int nodes, smma_format d, int fraction_bits) {
  const smma_cut cut = cut_of_own(state, fraction_bits);
  smma_step s = realistic_chain(nodes, random_divisor(state, nodes), SMMA_START_C, d, cut);
  if (random_below(state, 3) == 0) s.accumulator.bits = fraction_bits + random_between(state, -4, 8);
  if (random_below(state, 4) == 0) s.accumulator.rounding = realistic_cut(state, fraction_bits).rounding;
  if (random_below(state, 6) == 0) s.accumulator.brings = SMMA_BRINGS_NOTHING;
  return s;
}

smma_custom random_two_step_unit(uint64_t seed) {
  static const smma_format formats[][3] = {{SMMA_F16, SMMA_F16, SMMA_F32},
                                           {SMMA_BF16, SMMA_BF16, SMMA_F32},
                                           {SMMA_F16, SMMA_F16, SMMA_F16},
                                           {SMMA_E4M3, SMMA_E4M3, SMMA_F32}};
  smma_custom c;
  smma_custom_fault fault;
  smma_composition *p = &c.named.rule.with.composition;
  uint64_t state = seed ^ UINT64_C(0x25e9000000000000);
  do {
    const smma_format *f = formats[random_below(&state, 4)];
    const int fraction_bits = smma_encoding_of(f[2]).fraction_bits;
    int nodes;
    memset(&c, 0, sizeof c);
    c.instruction = (smma_instruction){.name = "two-step", .m = 16, .n = 8, .a = f[0], .b = f[1], .c = f[2], .d = f[2]};
    c.instruction.scale = SMMA_NO_FORMAT;
    c.instruction.k = 4 << random_below(&state, 3);
    c.named.rule.algorithm = SMMA_COMPOSITION;
    *p = smma_no_steps();
    add_step(p, first_of_two(&state, c.instruction.k, f[2], fraction_bits));
    nodes = smma_composition_nodes(p, c.instruction.k, 1);
    if (!nodes) continue;
    add_step(p, second_of_two(&state, nodes, f[2], fraction_bits));
    realistic_outputs(&state, &c);
  } while (!p->steps || !smma_custom_check(&c, &fault));
  return c;
}

smma_custom random_coarse_unit(uint64_t seed) {
  smma_custom c = random_two_step_unit(seed);
  smma_composition *p = &c.named.rule.with.composition;
  for (smma_step *s = p->step; s < p->step + p->steps; s++) {
    if (s->term.bits != SMMA_EXACT_ALIGNMENT && s->accumulator.bits != SMMA_EXACT_ALIGNMENT)
      s->reference_multiple = 4 << seed % 3;
    s->cancelled_is_zero = s->output == SMMA_NO_FORMAT;
  }
  return c;
}
