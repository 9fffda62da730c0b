#include "coverage/events.h"

#include <stdio.h>
#include <string.h>

#include "isa/compose.h"
#include "isa/key.h"

const char *const smma_event_kind_names[SMMA_EVENT_KINDS] = {
    "operands", "special values", "gaps", "leading terms", "lost bits", "carries", "rounding", "results", "chains"};

const char *const smma_event_state_names[SMMA_EVENT_STATES] = {"hit", "missed", "found by the search", "impossible"};

const char *const smma_operand_class_texts[SMMA_OPERAND_CLASSES] = {
#define SMMA_OPERAND_CLASS(symbol, text) text,
#include "coverage/events.def"
#undef SMMA_OPERAND_CLASS
};

static const char *const special_texts[] = {
#define SMMA_SPECIAL_EVENT(symbol, text) text,
#include "coverage/events.def"
#undef SMMA_SPECIAL_EVENT
};

static const char *const result_texts[] = {
#define SMMA_RESULT_EVENT(symbol, text) text,
#include "coverage/events.def"
#undef SMMA_RESULT_EVENT
};

static const char *const link_texts[] = {
#define SMMA_LINK_EVENT(symbol, text) text,
#include "coverage/events.def"
#undef SMMA_LINK_EVENT
};

/* ---- The events of a rule ---- */

static void add_block(smma_event_space *space, smma_event_kind kind, smma_event_owner owner, int step, int places,
                      int values) {
  if (places == 0) return;
  if (owner >= SMMA_OWNER_TERMS) space->of[kind][step][owner - SMMA_OWNER_TERMS] = space->blocks;
  space->block[space->blocks++] = (smma_event_block){kind, owner, step, places, values, space->events};
  space->events += (size_t)(places * values);
}

/* Records the next sum of a step: the places of the nodes that group number `group` takes. `first` is the place of the
   first node of this round. */
static void add_sum(smma_event_step *to, const smma_step *s, int window, int group, int first) {
  for (int i = 0; i < s->take; i++)
    to->place[to->sums * s->take + i] = first + smma_dealt_index(s->take, s->turn, window, group, i);
  to->sums++;
}

static void place_chains(smma_event_step *to, const smma_step *s) {
  const int groups = to->nodes / s->take;
  for (int chain = 0; chain < s->chains; chain++)
    for (int link = 0; link < groups / s->chains; link++)
      add_sum(to, s, s->window, smma_chain_group(s, groups, chain, link), 0);
}

/* Records all groups: those of one round, or in a tree those of all rounds until one node remains of each window. */
static void place_groups(smma_event_step *to, const smma_step *s) {
  int count = to->nodes, window = s->window, first = 0;
  do {
    for (int group = 0; group < count / s->take; group++) add_sum(to, s, window, group, first);
    first += count;
    count /= s->take;
    window /= s->take;
  } while (s->join == SMMA_JOIN_TREE && window > 1);
  to->places = first;
}

/* Returns the number of fraction bits below the reference exponent that GAP events distinguish: those that a term
   retains, within a limit. In exact sums it is two more than the output has. */
static int bits_of(const smma_event_space *space, const smma_step *s, const smma_cut *cut) {
  const smma_format output = s->output == SMMA_NO_FORMAT ? space->operation.d : s->output;
  const int own = smma_encoding_of(output).fraction_bits + 2;
  return cut->bits == SMMA_EXACT_ALIGNMENT ? own : cut->bits < 0 ? 0 : smma_minimum(cut->bits, SMMA_MOST_TERM_BITS);
}

static void add_cut(smma_event_space *space, int n, smma_event_owner owner, const smma_cut *cut, int places) {
  const smma_step *s = &smma_event_composition(space)->step[n];
  if (s->reference == SMMA_NONE) {
    add_block(space, SMMA_EVENT_GAP, owner, n, places, bits_of(space, s, cut) + 5);
    add_block(space, SMMA_EVENT_LEAD, owner, n, places, 1);
  }
  if (cut->bits != SMMA_EXACT_ALIGNMENT) add_block(space, SMMA_EVENT_LOST, owner, n, 1, 2 * SMMA_LOSTS);
}

static void add_step(smma_event_space *space, int n) {
  const smma_step *s = &smma_event_composition(space)->step[n];
  smma_event_step *to = &space->step[n];
  const bool chain = s->join == SMMA_JOIN_CHAIN;
  to->nodes = to->places = smma_composition_nodes(smma_event_composition(space), space->operation.k, n);
  if (chain)
    place_chains(to, s);
  else
    place_groups(to, s);
  add_cut(space, n, SMMA_OWNER_TERMS, &s->term, to->places);
  if (chain) add_cut(space, n, SMMA_OWNER_ACCUMULATORS, &s->accumulator, to->sums);
  if (s->reference == SMMA_NONE) add_block(space, SMMA_EVENT_LEAD, SMMA_OWNER_SUMS, n, 1, SMMA_LEADS);
  add_block(space, SMMA_EVENT_SHIFT, SMMA_OWNER_SUMS, n, 1, SMMA_SHIFTS);
  if (s->output != SMMA_NO_FORMAT && !smma_is_integer(s->output))
    add_block(space, SMMA_EVENT_ROUND, SMMA_OWNER_SUMS, n, 1, SMMA_ROUNDS);
  if (s->output != SMMA_NO_FORMAT) add_block(space, SMMA_EVENT_RESULT, SMMA_OWNER_SUMS, n, 1, SMMA_RESULT_EVENTS);
  if (chain) add_block(space, SMMA_EVENT_LINK, SMMA_OWNER_ACCUMULATORS, n, to->sums, SMMA_LINK_EVENTS);
}

bool smma_event_space_make(const smma_instruction *instruction, smma_event_space *space) {
  const smma_operation o = smma_operation_of(instruction);
  const int scales = smma_scale_count(o.k, o.scale_block);
  *space = (smma_event_space){.operation = o, .c = o.c};
  if (!smma_compose(&o, &space->operation.rule.with.composition)) return false;
  space->operation.rule.algorithm = SMMA_COMPOSITION;
  memset(space->of, -1, sizeof space->of);
  add_block(space, SMMA_EVENT_OPERAND, SMMA_OWNER_A, -1, o.k, SMMA_OPERAND_CLASSES);
  add_block(space, SMMA_EVENT_OPERAND, SMMA_OWNER_B, -1, o.k, SMMA_OPERAND_CLASSES);
  add_block(space, SMMA_EVENT_OPERAND, SMMA_OWNER_C, -1, 1, SMMA_OPERAND_CLASSES);
  add_block(space, SMMA_EVENT_OPERAND, SMMA_OWNER_SCALE_A, -1, scales, SMMA_OPERAND_CLASSES);
  add_block(space, SMMA_EVENT_OPERAND, SMMA_OWNER_SCALE_B, -1, scales, SMMA_OPERAND_CLASSES);
  add_block(space, SMMA_EVENT_SPECIAL, SMMA_OWNER_SUMS, 0, 1, SMMA_SPECIAL_EVENTS);
  for (int n = 0; n < smma_event_composition(space)->steps; n++) add_step(space, n);
  return true;
}

smma_format smma_event_format(const smma_event_space *space, smma_event_owner owner) {
  const smma_operation *o = &space->operation;
  switch (owner) {
    case SMMA_OWNER_A: return o->a;
    case SMMA_OWNER_B: return o->b;
    case SMMA_OWNER_C: return space->c;
    case SMMA_OWNER_SCALE_A:
    case SMMA_OWNER_SCALE_B: return o->scale;
    case SMMA_OWNER_TERMS:
    case SMMA_OWNER_ACCUMULATORS:
    case SMMA_OWNER_SUMS: break;
  }
  return SMMA_NO_FORMAT;
}

smma_event smma_event_at(const smma_event_space *space, size_t index) {
  const smma_event_block *b = space->block;
  while (index >= b->first + (size_t)(b->places * b->values)) b++;
  return (smma_event){b, (int)(index - b->first) / b->values, (int)(index - b->first) % b->values};
}

/* ---- Descriptions of events ---- */

static void tell_element(smma_event e, char *text, size_t size) {
  static const char *const operands[] = {"a", "b", "c", "scale_a", "scale_b"};
  const smma_event_owner owner = e.block->owner;
  if (e.place < 0)
    smma_append_text(text, size, "an element of %s", operands[owner]);
  else if (owner == SMMA_OWNER_C)
    smma_append_text(text, size, "c");
  else
    smma_append_text(text, size, "%s[%d]", operands[owner], e.place);
}

void smma_event_owner_words(const smma_event_space *space, smma_event e, char *text, size_t size) {
  const smma_event_block *b = e.block;
  if (b->owner < SMMA_OWNER_TERMS) {
    tell_element(e, text, size);
    return;
  }
  if (b->kind == SMMA_EVENT_SPECIAL) return;
  if (smma_event_composition(space)->steps > 1) smma_append_text(text, size, "step %d, ", b->step + 1);
  if (b->owner == SMMA_OWNER_SUMS)
    smma_append_text(text, size, "sum");
  else if (b->places == 1)
    smma_append_text(text, size, "%s", b->owner == SMMA_OWNER_TERMS ? "terms" : "accumulator");
  else if (e.place < 0)
    smma_append_text(text, size, "%s", b->owner == SMMA_OWNER_TERMS ? "a term" : "an accumulator");
  else
    smma_append_text(text, size, b->owner == SMMA_OWNER_TERMS ? "term %d" : "accumulator %d", e.place);
}

static void tell_gap(smma_event e, char *text, size_t size) {
  const int gap = e.value - 1;
  if (e.value == 0)
    smma_append_text(text, size, "begins above the reference exponent");
  else
    smma_append_text(text, size, "begins %d%s binades below the reference exponent", gap,
                     e.value == e.block->values - 1 ? " or more" : "");
}

static void tell_lead(smma_event e, char *text, size_t size) {
  static const char *const texts[SMMA_LEADS] = {
      "two terms bring the reference exponent", "three or more terms bring the reference exponent",
      "only zeros bring the reference exponent", "no term brings the reference exponent"};
  smma_append_text(text, size, "%s",
                   e.block->owner == SMMA_OWNER_SUMS ? texts[e.value] : "brings the reference exponent alone");
}

static void tell_lost(smma_event e, char *text, size_t size) {
  static const char *const texts[SMMA_LOSTS] = {"nothing", "less than half of the last bit", "half of the last bit",
                                                "more than half of the last bit", "all"};
  smma_append_text(text, size, "a %s one loses %s", e.value % 2 ? "negative" : "positive", texts[e.value / 2]);
}

static void tell_shift(smma_event e, char *text, size_t size) {
  const int cancelled = e.value - SMMA_MOST_CARRY;
  if (e.value == SMMA_SHIFTS - 1)
    smma_append_text(text, size, "zero of terms that are not");
  else if (cancelled > 0)
    smma_append_text(text, size, "begins %d%s binades below the greatest term", cancelled,
                     cancelled > SMMA_MOST_CANCELLED ? " or more" : "");
  else
    smma_append_text(text, size, "begins %d%s binades above the greatest term", e.value,
                     e.value == SMMA_MOST_CARRY ? " or more" : "");
}

static void tell_round(smma_event e, char *text, size_t size) {
  smma_append_text(text, size, "last bit %d, guard %d, sticky %d, %s, %s", e.value & 1, e.value >> 1 & 1,
                   e.value >> 2 & 1, e.value & 8 ? "negative" : "positive", e.value & 16 ? "subnormal" : "normal");
}

const char *smma_event_words(const smma_event_space *space, size_t index, char *text, size_t size) {
  const smma_event e = smma_event_at(space, index);
  *text = 0;
  smma_event_owner_words(space, e, text, size);
  if (*text) smma_append_text(text, size, ": ");
  switch (e.block->kind) {
    case SMMA_EVENT_OPERAND: smma_append_text(text, size, "%s", smma_operand_class_texts[e.value]); break;
    case SMMA_EVENT_SPECIAL: smma_append_text(text, size, "%s", special_texts[e.value]); break;
    case SMMA_EVENT_GAP: tell_gap(e, text, size); break;
    case SMMA_EVENT_LEAD: tell_lead(e, text, size); break;
    case SMMA_EVENT_LOST: tell_lost(e, text, size); break;
    case SMMA_EVENT_SHIFT: tell_shift(e, text, size); break;
    case SMMA_EVENT_ROUND: tell_round(e, text, size); break;
    case SMMA_EVENT_RESULT: smma_append_text(text, size, "%s", result_texts[e.value]); break;
    case SMMA_EVENT_LINK: smma_append_text(text, size, "%s", link_texts[e.value]); break;
    case SMMA_EVENT_KINDS: break;
  }
  return text;
}
