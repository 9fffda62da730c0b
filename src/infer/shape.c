#include "infer/shape.h"

#include <string.h>

typedef struct {
  int k, scale_block;
  smma_format d;
  smma_shapes *shapes;
} maker;

/* ---- Steps ---- */

static smma_step apart(int take, int turn, int window, smma_format output) {
  smma_step s = smma_exact_step(take, output);
  s.turn = turn;
  s.window = window;
  return s;
}

static smma_step tree(int window, bool far, smma_format output) {
  smma_step s = apart(2, far ? 1 : 2, window, output);
  s.join = SMMA_JOIN_TREE;
  return s;
}

static smma_step chain(int nodes, int take, smma_start start, smma_format output) {
  smma_step s = apart(take, take, nodes, output);
  s.join = SMMA_JOIN_CHAIN;
  s.start = start;
  return s;
}

/* ---- Shapes ---- */

static void put(maker *m, const smma_step *step, int steps) {
  smma_composition shape = smma_no_steps();
  if (steps > SMMA_MAXIMUM_STEPS) return;
  for (int s = 0; s < steps; s++) shape.step[s] = step[s];
  shape.steps = steps;
  for (int scaled = 0; scaled < (m->scale_block ? steps : 1) && m->shapes->count < SMMA_MOST_SHAPES; scaled++) {
    const int nodes = smma_composition_nodes(&shape, m->k, scaled);
    if (scaled && (step[scaled - 1].join == SMMA_JOIN_CHAIN || step[scaled - 1].turn != step[scaled - 1].take ||
                   !nodes || m->scale_block % (m->k / nodes)))
      break;
    shape.scaled_step = scaled;
    m->shapes->shape[m->shapes->count++] = shape;
  }
}

/* The steps so far, then a chain over `nodes` from c, or from nothing with c behind it. */
static void put_chains(maker *m, const smma_step *before, int steps, int nodes) {
  smma_step step[SMMA_MAXIMUM_STEPS + 2];
  for (int s = 0; s < steps; s++) step[s] = before[s];
  for (int take = nodes; take > 0; take--) {
    if (nodes % take) continue;
    step[steps] = chain(nodes, take, SMMA_START_C, m->d);
    put(m, step, steps + 1);
    if (nodes == take || take > 4) continue;
    for (int stride = 2; stride < nodes / take; stride *= 2) {
      if (nodes / take % stride) continue;
      step[steps].stride = stride;
      put(m, step, steps + 1);
    }
    step[steps].stride = 1;
    step[steps].descending = 1;
    put(m, step, steps + 1);
  }
}

static void put_with_c_last(maker *m, const smma_step *before, int steps, int nodes) {
  smma_step step[SMMA_MAXIMUM_STEPS + 2];
  for (int s = 0; s < steps; s++) step[s] = before[s];
  step[steps + 1] = chain(1, 1, SMMA_START_C, m->d);
  for (int take = nodes; take > 0; take--) {
    if (nodes % take) continue;
    for (int start = SMMA_START_NOTHING; start <= SMMA_START_ZERO; start++) {
      step[steps] = chain(nodes, take, (smma_start)start, m->d);
      put(m, step, steps + 2);
    }
  }
}

/* Even and odd ones, or every n-th, to a group. */
static void put_dealt(maker *m) {
  for (int take = m->k / 2; take > 1; take--) {
    smma_step step[] = {chain(m->k, take, SMMA_START_C, m->d), chain(1, 1, SMMA_START_C, m->d)};
    if (m->k % take) continue;
    for (int turn = 1; turn < take && turn <= 2; turn++) {
      step[0].turn = turn;
      step[0].start = SMMA_START_C;
      put(m, step, 1);
      step[0].start = SMMA_START_ZERO;
      put(m, step, 2);
    }
  }
}

/* Sums of `take` that stay as they are, of neighbours or even and odd ones in a window, added to c in groups; of one
   they are products, each cut by itself. */
static void put_unrounded(maker *m) {
  for (int take = m->k; take > 0; take--) {
    smma_step step[3];
    if (m->k % take) continue;
    step[0] = apart(take, take, m->k, SMMA_NO_FORMAT);
    put_chains(m, step, 1, m->k / take);
    if (take > 1 && m->k % (2 * take) == 0) {
      step[0] = apart(take, 1, 2 * take, SMMA_NO_FORMAT);
      step[1] = apart(2, 2, m->k / take, SMMA_NO_FORMAT);
      put_chains(m, step, 2, m->k / take / 2);
      step[0].turn = take;
      put_chains(m, step, 2, m->k / take / 2);
    }
  }
}

/* Rounded sums of `take`, which are products where that is 1, in trees. */
static void put_trees(maker *m) {
  smma_step step[SMMA_MAXIMUM_STEPS + 1];
  for (int take = 1; take <= m->k; take++) {
    if (m->k % take) continue;
    step[0] = apart(take, take, m->k, m->d);
    put_chains(m, step, 1, m->k / take);
    for (int window = 2; window <= m->k / take; window *= 2) {
      if (m->k / take % window) continue;
      for (int far = 0; far <= (window > 2); far++) {
        step[1] = tree(window, far, m->d);
        put_chains(m, step, 2, m->k / take / window);
      }
    }
  }
}

/* Trees of sums that are not rounded. */
static void put_unrounded_trees(maker *m) {
  for (int window = 4; window <= m->k; window *= 2) {
    if (m->k % window) continue;
    for (int far = 0; far <= 1; far++) {
      const smma_step step = tree(window, far, SMMA_NO_FORMAT);
      put_chains(m, &step, 1, m->k / window);
    }
  }
}

/* `chains` of groups, whose sums are fused, added in order, or as a tree; c begins the first, or comes last. */
static void put_lanes(maker *m) {
  smma_step step[3];
  for (int chains = 2; chains <= m->k; chains *= 2)
    for (int take = m->k / chains; take > 0; take--) {
      if (m->k / chains % take) continue;
      for (int start = SMMA_START_NOTHING; start <= SMMA_START_C; start++) {
        step[0] = chain(m->k, take, (smma_start)start, m->d);
        step[0].chains = chains;
        if (start != SMMA_START_C) {
          put_chains(m, step, 1, chains);
          step[1] = tree(chains, false, m->d);
          put_chains(m, step, 2, 1);
          step[1].turn = 1;
          if (chains > 2) put_chains(m, step, 2, 1);
          continue;
        }
        for (int far = 0; far <= (chains > 2); far++) {
          step[1] = tree(chains, far, m->d);
          put(m, step, 2);
        }
        step[1] = chain(chains, 1, SMMA_START_NOTHING, m->d);
        put(m, step, 2);
        step[1] = apart(chains, chains, chains, m->d);
        if (chains > 2) put(m, step, 2);
      }
    }
}

void smma_make_shapes(int k, int scale_block, smma_format d, smma_shapes *shapes) {
  maker m = {k, scale_block, d, shapes};
  memset(shapes, 0, sizeof *shapes);
  put_chains(&m, NULL, 0, k);
  put_unrounded(&m);
  put_with_c_last(&m, NULL, 0, k);
  put_dealt(&m);
  put_trees(&m);
  put_unrounded_trees(&m);
  put_lanes(&m);
}

int smma_shapes_likely(const smma_shapes *shapes) {
  int least = shapes->count ? shapes->against[0] : 0;
  for (int n = 1; n < shapes->count; n++)
    if (shapes->against[n] < least) least = shapes->against[n];
  return least + SMMA_SHAPES_LITTLE;
}

smma_composition smma_shape_with(const smma_composition *shape, smma_format d, smma_start_values values) {
  smma_composition p = *shape;
  for (int n = 0; n < p.steps; n++) {
    smma_step *s = &p.step[n];
    const bool unrounded = s->output == SMMA_NO_FORMAT;
    s->rounding = values.rounding;
    s->term.rounding = values.alignment;
    s->term.bits =
        unrounded && values.bits == SMMA_EXACT_ALIGNMENT ? 2 * smma_encoding_of(d).fraction_bits : values.bits;
    if (s->term.bits == SMMA_EXACT_ALIGNMENT) s->term.rounding = SMMA_ROUND_TOWARD_ZERO;
    s->zero_sign = SMMA_ZERO_POSITIVE;
    s->accumulator = s->term;
  }
  return p;
}
