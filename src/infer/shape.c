#include "infer/shape.h"

#include <stdlib.h>
#include <string.h>

#include "host/draw.h"

enum { HASHES = 1 << 14 };

typedef struct {
  int k, scale_block;
  smma_format d;
  smma_shapes *shapes;
  uint64_t hash[HASHES]; /* open hash table of the listed shapes' hashes; 0: free */
  bool is_full;
} maker;

/* ---- Hashes ---- */

typedef struct {
  const smma_step *step;
  int number;    /* index of the step */
  bool strictly; /* see smma_shape_hash */
} hasher;

enum { HASH_OF_C = 1001, HASH_OF_ZERO, HASH_OF_STEP };

static uint64_t hash_of_sum(const hasher *h, const uint64_t *term, int count, bool has_accumulator,
                            uint64_t accumulator) {
  uint64_t sum = 0;
  if (!h->strictly && accumulator == HASH_OF_ZERO) has_accumulator = false;
  if (!h->strictly && count == 1 && !has_accumulator) return term[0];
  for (int i = 0; i < count; i++) sum += smma_mix(term[i]);
  if (has_accumulator) sum += h->strictly ? smma_mix(smma_mix(accumulator) + HASH_OF_STEP) : smma_mix(accumulator);
  return smma_mix(sum + (h->strictly ? (uint64_t)h->number : 0) + HASH_OF_STEP);
}

static int hash_apart(const hasher *h, int window, uint64_t *node, int count) {
  const smma_step *s = h->step;
  uint64_t term[SMMA_MAXIMUM_K], sum[SMMA_MAXIMUM_K];
  const int groups = count / s->take;
  for (int group = 0; group < groups; group++) {
    for (int i = 0; i < s->take; i++) term[i] = node[smma_dealt_index(s->take, s->turn, window, group, i)];
    sum[group] = hash_of_sum(h, term, s->take, false, 0);
  }
  memcpy(node, sum, (size_t)groups * sizeof *sum);
  return groups;
}

static int hash_chains(const hasher *h, uint64_t *node, int count) {
  const smma_step *s = h->step;
  uint64_t term[SMMA_MAXIMUM_K], sum[SMMA_MAXIMUM_K];
  const int groups = count / s->take;
  for (int chain = 0; chain < s->chains; chain++) {
    uint64_t accumulator = chain == 0 && s->start == SMMA_START_C ? HASH_OF_C : HASH_OF_ZERO;
    for (int link = 0; link < groups / s->chains; link++) {
      const int group = smma_chain_group(s, groups, chain, link);
      for (int i = 0; i < s->take; i++) term[i] = node[smma_dealt_index(s->take, s->turn, s->window, group, i)];
      accumulator = hash_of_sum(h, term, s->take, link > 0 || s->start != SMMA_START_NOTHING, accumulator);
    }
    sum[chain] = accumulator;
  }
  memcpy(node, sum, (size_t)s->chains * sizeof *sum);
  return s->chains;
}

uint64_t smma_shape_hash(const smma_composition *p, int k, const unsigned char *from, bool strictly) {
  uint64_t node[SMMA_MAXIMUM_K];
  int count = k;
  for (int i = 0; i < k; i++) node[i] = (uint64_t)(from ? from[i] : i) + 1;
  for (int n = 0; n < p->steps; n++) {
    const smma_step *s = &p->step[n];
    const hasher h = {s, n, strictly};
    int window = s->window;
    if (s->join == SMMA_JOIN_CHAIN) {
      count = hash_chains(&h, node, count);
      continue;
    }
    do {
      count = hash_apart(&h, window, node, count);
      window /= s->take;
    } while (s->join == SMMA_JOIN_TREE && window > 1);
  }
  return node[0];
}

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

/* Adds a hash to the hash table. Returns false if the table already has it. */
static bool add_hash(maker *m, uint64_t hash) {
  for (size_t at = hash % HASHES;; at = (at + 1) % HASHES) {
    if (m->hash[at] == hash) return false;
    if (m->hash[at]) continue;
    m->hash[at] = hash;
    return true;
  }
}

/* Reports whether a shape differs from every listed shape for some parameters; if so, adds its hash. */
static bool is_new(maker *m, const smma_composition *shape) {
  uint64_t hash = smma_shape_hash(shape, m->k, NULL, true);
  for (int s = 0; s < shape->steps; s++) hash = smma_mix(hash + (uint64_t)shape->step[s].output);
  return add_hash(m, smma_mix(hash + (uint64_t)(shape->steps + shape->scaled_step * SMMA_MAXIMUM_STEPS)));
}

static void put(maker *m, const smma_step *step, int steps) {
  smma_composition shape = smma_no_steps();
  if (steps > SMMA_MAXIMUM_STEPS) return;
  for (int s = 0; s < steps; s++) shape.step[s] = step[s];
  shape.steps = steps;
  for (int scaled = 0; scaled < (m->scale_block ? steps : 1); scaled++) {
    const int nodes = smma_composition_nodes(&shape, m->k, scaled);
    if (scaled && (step[scaled - 1].join == SMMA_JOIN_CHAIN || step[scaled - 1].turn != step[scaled - 1].take ||
                   !nodes || m->scale_block % (m->k / nodes)))
      break;
    shape.scaled_step = scaled;
    if (m->is_full || !is_new(m, &shape)) continue;
    m->is_full = m->shapes->count == SMMA_MOST_SHAPES;
    if (!m->is_full) m->shapes->shape[m->shapes->count++] = shape;
  }
}

/* Lists shapes that begin with the `steps` steps in `before` and end with a chain that starts from c and adds the
   `nodes` sums of these steps. */
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

/* Adds chains whose groups take products in turn, for example the even and the odd products, or every n-th product. */
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

/* Adds shapes in which groups of `take` products have unrounded sums, and several of these sums are added to c at a
   time. A group has adjacent products, or the even or odd products of a window. With take = 1 each product is truncated
   separately. */
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

/* Adds trees whose leaves are rounded sums of `take` products. If `take` is 1, the leaves are rounded products. */
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

/* Adds trees of unrounded sums. */
static void put_unrounded_trees(maker *m) {
  for (int window = 4; window <= m->k; window *= 2) {
    if (m->k % window) continue;
    for (int far = 0; far <= 1; far++) {
      const smma_step step = tree(window, far, SMMA_NO_FORMAT);
      put_chains(m, &step, 1, m->k / window);
    }
  }
}

/* Adds shapes with several chains of fused groups, whose sums are added in order or as a tree. c starts the first
   chain, or is added last. */
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

/* ---- Every shape of up to two steps that a custom unit can have ---- */

/* Maximum number of steps of a derived shape. */
enum { DERIVED_STEPS = 2 };

/* Maximum number of marks of a derived shape. A mark is a deviation from a plain step: nodes given to groups in turn, a
   window, several chains, a stride, or descending order. */
enum { MOST_MARKS = 3 };

typedef struct {
  maker *maker;
  smma_step step[DERIVED_STEPS];
  int steps, marks; /* numbers of steps and marks so far */
  bool has_c;       /* whether a step adds c */
} derivation;

static void derive(const derivation *from, int nodes, int marks);

/* Appends a step, which has `own` marks and `nodes` sums, to a copy of the derivation. Lists the shape if it is
   complete and has `marks` marks in all. Derives further steps if the shape is not complete. */
static void derive_with(const derivation *from, const smma_step *s, int own, int nodes, int marks) {
  derivation d = *from;
  d.step[d.steps++] = *s;
  d.marks += own;
  d.has_c |= s->start == SMMA_START_C;
  if (d.marks > marks) return;
  if (nodes == 1 && d.has_c && d.marks == marks && s->output != SMMA_NO_FORMAT) put(d.maker, d.step, d.steps);
  if ((nodes > 1 || !d.has_c) && d.steps < DERIVED_STEPS) derive(&d, nodes, marks);
}

static void derive_chains(const derivation *from, smma_step s, int own, int nodes, int marks) {
  const int groups = nodes / s.take;
  s.join = SMMA_JOIN_CHAIN;
  for (int start = SMMA_START_C; start >= SMMA_START_NOTHING; start--)
    for (s.chains = 1; s.chains <= groups; s.chains++)
      for (s.stride = 1; s.stride <= groups; s.stride++)
        for (s.descending = 0; s.descending <= 1; s.descending++) {
          const int more = (s.chains > 1) + (s.stride > 1) + s.descending;
          s.start = (smma_start)start;
          if (groups % s.chains || groups % s.stride || (from->has_c && start == SMMA_START_C)) continue;
          derive_with(from, &s, own + more, s.chains, marks);
        }
}

static bool is_power(int x, int of) {
  while (of > 1 && x > 1 && x % of == 0) x /= of;
  return x == 1;
}

/* Appends to the derivation every step that can add `nodes` nodes, and lists the complete shapes with `marks` marks. */
static void derive(const derivation *from, int nodes, int marks) {
  for (int take = nodes; take > 0; take--)
    for (int window = nodes; window >= take && nodes % take == 0; window--)
      for (int turn = take; turn > 0 && nodes % window == 0 && window % take == 0; turn--) {
        const smma_format output[] = {from->maker->d, SMMA_NO_FORMAT};
        const int dealt = turn < take, own = dealt + (window < nodes);
        if (take % turn) continue;
        for (int n = 0; n < 2; n++) {
          smma_step s = apart(take, turn, window, output[n]);
          derive_chains(from, s, own, nodes, marks);
          derive_with(from, &s, own, nodes / take, marks);
          s.join = SMMA_JOIN_TREE;
          if (take > 1 && is_power(window, take)) derive_with(from, &s, dealt, nodes / window, marks);
        }
      }
}

/* Lists all derived shapes that have exactly `marks` marks (see MOST_MARKS). Returns false and leaves the list
   unchanged if it has no room for all of them. */
static bool put_derived(maker *m, int marks) {
  const int before = m->shapes->count;
  const derivation nothing = {.maker = m};
  derive(&nothing, m->k, marks);
  if (m->is_full) m->shapes->count = before;
  return !m->is_full;
}

bool smma_make_shapes(int k, int scale_block, smma_format d, smma_shapes *shapes) {
  maker *m = calloc(1, sizeof *m);
  if (!m) return false;
  m->k = k, m->scale_block = scale_block, m->d = d, m->shapes = shapes;
  memset(shapes, 0, sizeof *shapes);
  put_chains(m, NULL, 0, k);
  put_unrounded(m);
  put_with_c_last(m, NULL, 0, k);
  put_dealt(m);
  put_trees(m);
  put_unrounded_trees(m);
  put_lanes(m);
  for (int n = 0; n < shapes->count; n++) shapes->published[n] = true;
  for (int marks = 0; marks <= MOST_MARKS && put_derived(m, marks); marks++) continue;
  free(m);
  return true;
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
