#include "random_unit.h"

#include <string.h>

#include "isa/compose.h"
#include "random.h"

static int one_of(uint64_t *state, const int *list, int count) { return list[random_below(state, (unsigned)count)]; }

static int random_divisor(uint64_t *state, int of) {
  int d;
  do {
    d = random_between(state, 1, of);
  } while (of % d);
  return d;
}

/* Any allowed value of a key. */
static int random_value(uint64_t *state, const smma_key *key) {
  int count = 0, format;
  switch (key->kind) {
    case SMMA_KEY_FORMAT: do { format = random_between(state, 0, SMMA_FORMAT_COUNT - 1);
      } while (!(key->formats >> format & 1));
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

/* Every key of the unit's algorithm. */
static void set_keys(uint64_t *state, smma_custom *c) {
  for (const smma_key *key = NULL; (key = smma_next_key(c->named.rule.algorithm, key));)
    smma_custom_set(c, key, random_value(state, key));
}

/* What makes random values go together; operands at ease with exponents and cuts at hand. */
static void settle(uint64_t *state, smma_custom *c) {
  static const int lengths[] = {1, 2, 3, 4, 6, 8, 12, 16, 16, 32, 32, 64};
  smma_instruction *i = &c->instruction;
  smma_g_fdpa *p = &c->named.rule.with.g_fdpa;
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

smma_custom random_unit(uint64_t seed) {
  smma_custom c;
  smma_custom_fault fault;
  uint64_t state = seed;
  do {
    memset(&c, 0, sizeof c);
    c.instruction.name = "random";
    c.named.rule.algorithm = SMMA_G_FDPA;
    set_keys(&state, &c);
    if (random_below(&state, 2)) c.instruction.d = SMMA_F32;
    if (random_below(&state, 2)) c.instruction.c = c.instruction.d;
    settle(&state, &c);
  } while (!smma_custom_check(&c, &fault));
  return c;
}

/* The sizes that every algorithm of the catalogue takes, and the oracle, too. */
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
    case SMMA_FMA:
    case SMMA_T_FDPA:
    case SMMA_E_FDPA:
    case SMMA_FTZ_ADDMUL:
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
    case SMMA_FP8_BY_FP16:
    case SMMA_FTZ_FMA:
    case SMMA_INTEGER:
    case SMMA_G_FDPA:
    case SMMA_COMPOSITION: i->scale = SMMA_NO_FORMAT, i->scale_block = 0;
  }
  if (rule->algorithm == SMMA_GST_FDPA) {
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
    c.named.rule.algorithm = (smma_algorithm)(seed % SMMA_G_FDPA);
    set_keys(&state, &c);
    settle_catalogue(&state, &c);
  } while (!smma_custom_check(&c, &fault));
  return c;
}

/* Formats in which a one can vanish beside M. */
static void widen(uint64_t *state, smma_custom *c) {
  static const int operands[] = {SMMA_F32, SMMA_TF32, SMMA_BF16, SMMA_F16, SMMA_E5M2, SMMA_E4M3};
  static const int results[] = {SMMA_F32, SMMA_F32, SMMA_F32, SMMA_F64, SMMA_BF16, SMMA_TF32, SMMA_F16, SMMA_E5M2};
  smma_instruction *i = &c->instruction;
  i->a = (smma_format)one_of(state, operands, 6);
  i->b = random_below(state, 2) ? i->a : (smma_format)one_of(state, operands, 6);
  i->d = (smma_format)one_of(state, results, 8);
  i->c = random_below(state, 4) ? i->d : (smma_format)one_of(state, results, 8);
}

/* zero_exponent where the exponents of terms are, or below all of them, as NVIDIA's. */
static int random_zero_exponent(uint64_t *state) {
  return random_below(state, 3) ? random_between(state, -170, 130) : -133;
}

smma_custom random_any_unit(uint64_t seed) {
  static const int lengths[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 16, 24, 32, 32, 48, 64, 64};
  smma_custom_fault fault;
  uint64_t state = seed ^ UINT64_C(0x5eed0000000000);
  const smma_algorithm algorithm = random_below(&state, 3) ? SMMA_G_FDPA : (smma_algorithm)(seed % SMMA_G_FDPA);
  smma_custom c;
  do {
    memset(&c, 0, sizeof c);
    c.instruction.name = "random";
    c.named.rule.algorithm = algorithm;
    set_keys(&state, &c);
    if (algorithm == SMMA_G_FDPA)
      settle(&state, &c);
    else
      settle_catalogue(&state, &c);
    if (random_below(&state, 4)) widen(&state, &c);
    if (algorithm != SMMA_G_FDPA && !c.instruction.scale_block) c.instruction.k = one_of(&state, lengths, 17);
    switch (algorithm) {
      case SMMA_T_FDPA:
      case SMMA_ST_FDPA:
      case SMMA_FP8_BY_FP16: c.named.rule.with.t_fdpa.zero_exponent = random_zero_exponent(&state); break;
      case SMMA_GST_FDPA: c.named.rule.with.gst_fdpa.fused.zero_exponent = random_zero_exponent(&state); break;
      case SMMA_G_FDPA:
        if (c.named.rule.with.g_fdpa.zero_exponent != SMMA_NO_EXPONENT)
          c.named.rule.with.g_fdpa.zero_exponent = random_zero_exponent(&state);
        if (c.named.rule.with.g_fdpa.output < SMMA_E8M13 || c.instruction.d != SMMA_F32)
          c.named.rule.with.g_fdpa.output = c.instruction.d;
        break;
      default: break;
    }
  } while (!smma_custom_check(&c, &fault));
  return c;
}

/* ---- Compositions ---- */

/* One more often than not. */
static int usually(uint64_t *state, int usual, int otherwise) { return random_below(state, 4) ? usual : otherwise; }

static void settle_cut(uint64_t *state, smma_cut *cut) {
  cut->brings = (smma_brings)usually(state, SMMA_BRINGS_OWN, (int)random_below(state, 3));
  cut->offset = usually(state, 0, random_between(state, -4, 4));
  cut->least = usually(state, SMMA_NONE, random_between(state, -30, 5));
  cut->zero_exponent = random_below(state, 2)   ? SMMA_NO_EXPONENT
                       : random_below(state, 2) ? SMMA_OWN_EXPONENT
                                                : random_between(state, -160, 20);
  cut->bits = random_below(state, 5) ? random_between(state, 0, 40) : SMMA_EXACT_ALIGNMENT;
  if (random_below(state, 20) == 0) cut->bits = random_between(state, 60, 100);
  cut->drop = usually(state, SMMA_NONE, random_between(state, 0, 40));
}

static smma_step random_step(uint64_t *state, int count, bool last, smma_format d) {
  static const int outputs[] = {SMMA_F32, SMMA_F16, SMMA_BF16, SMMA_F64, SMMA_E8M13, SMMA_E5M2, SMMA_E4M3, SMMA_E2M1};
  smma_step s;
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));)
    smma_set_key_of_step(&s, key, random_value(state, key));
  s.window = random_below(state, 2) ? count : random_divisor(state, count);
  s.take = random_divisor(state, s.window);
  s.turn = random_divisor(state, s.take);
  s.join = last ? SMMA_JOIN_CHAIN : (smma_join)random_below(state, 3);
  if (s.join == SMMA_JOIN_TREE) {
    s.take = count % 2 ? count : 2, s.turn = random_divisor(state, s.take);
    for (s.window = s.take; count % (s.window * s.take) == 0 && s.window * s.take <= count && s.take > 1;)
      s.window *= s.take;
  }
  s.start = s.join == SMMA_JOIN_CHAIN && !last ? (smma_start)random_below(state, 2) : SMMA_START_NOTHING;
  s.chains = s.join == SMMA_JOIN_CHAIN && !last ? random_divisor(state, count / s.take) : 1;
  s.stride = s.join == SMMA_JOIN_CHAIN ? random_divisor(state, count / s.take) : 1;
  s.reference = usually(state, SMMA_NONE, random_between(state, -30, 20));
  settle_cut(state, &s.term);
  s.accumulator = s.term;
  if (s.join == SMMA_JOIN_CHAIN && random_below(state, 2)) settle_cut(state, &s.accumulator);
  s.opposing = (smma_opposing)usually(state, SMMA_OPPOSING_EXACT, SMMA_OPPOSING_COMPLEMENT);
  s.width = usually(state, SMMA_NONE, random_between(state, 2, 60));
  s.narrow_bits = usually(state, SMMA_NONE, random_between(state, 0, 52));
  s.output = last ? d : random_below(state, 2) ? SMMA_NO_FORMAT : (smma_format)one_of(state, outputs, 8);
  if (s.join != SMMA_JOIN_CHAIN) s.opposing = SMMA_OPPOSING_EXACT;
  if (s.term.bits == SMMA_EXACT_ALIGNMENT || s.accumulator.bits == SMMA_EXACT_ALIGNMENT) {
    s.width = SMMA_NONE, s.opposing = SMMA_OPPOSING_EXACT;
    if (s.output == SMMA_NO_FORMAT) s.output = SMMA_F32;
  }
  if (s.output == SMMA_NO_FORMAT) s.narrow_bits = SMMA_NONE;
  return s;
}

smma_custom random_composition(uint64_t seed) {
  static const int lengths[] = {1, 2, 3, 4, 6, 8, 12, 16, 16, 32, 64};
  smma_custom c;
  smma_custom_fault fault;
  smma_composition *p = &c.named.rule.with.composition;
  uint64_t state = seed ^ UINT64_C(0x57e95000000000);
  do {
    int count;
    memset(&c, 0, sizeof c);
    c.instruction.name = "random";
    c.named.rule.algorithm = SMMA_COMPOSITION;
    set_keys(&state, &c);
    c.instruction.d = random_below(&state, 2) ? SMMA_F32 : c.instruction.d;
    if (random_below(&state, 2)) c.instruction.c = c.instruction.d;
    c.instruction.k = count = one_of(&state, lengths, 11);
    if (count % 16 || random_below(&state, 3)) c.instruction.scale = SMMA_NO_FORMAT, c.instruction.scale_block = 0;
    if (c.instruction.scale_block) c.instruction.scale_block = 16 * random_divisor(&state, count / 16);
    p->subnormal_a = (smma_subnormal_policy)usually(&state, SMMA_SUBNORMALS_KEPT, (int)p->subnormal_a);
    p->subnormal_b = (smma_subnormal_policy)usually(&state, SMMA_SUBNORMALS_KEPT, (int)p->subnormal_b);
    p->widen = (smma_format)usually(&state, SMMA_NO_FORMAT, (int)p->widen);
    p->product_limit = usually(&state, SMMA_NONE, random_between(&state, -4, 128));
    p->scaled_step = usually(&state, 0, 1);
    do {
      p->step[p->steps] = random_step(&state, count, false, c.instruction.d);
      count = smma_composition_nodes(p, c.instruction.k, ++p->steps);
    } while (p->steps < SMMA_MAXIMUM_STEPS - 1 && random_below(&state, 2));
    p->step[p->steps++] = random_step(&state, count, true, c.instruction.d);
    p->step[p->steps - 1].start = SMMA_START_C;
  } while (!smma_custom_check(&c, &fault));
  return c;
}
