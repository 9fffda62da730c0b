#include "match/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gemm/element.h"
#include "gemm/fold.h"
#include "gemm/lanes.h"
#include "gemm/row.h"
#include "host/count.h"
#include "host/load.h"
#include "match/compare.h"
#include "plan/schedule.h"

enum {
  SAMPLE = SMMA_MATCH_SAMPLE,
  FIRST = 4, /* elements that are computed at first, unless SIMD lanes compute all of them */
  WIDE = 16  /* products of an FMA chain that one call computes */
};

/* Values of the sample's elements in the outer format. */
typedef union {
  float f32[SAMPLE];
  double f64[SAMPLE];
} sums;

/* State for computing and folding the chains of one class. */
typedef struct {
  smma_instruction step,
      wide; /* the class's first instruction with c in D's format; `wide` is the same, or takes WIDE products at once */
  smma_multiplier with; /* arguments of folding and of the epilogue */
  size_t first;         /* elements computed at first: FIRST, or SAMPLE in SIMD lanes */
  bool has_kernel;      /* kernels compute its chains faster than the core, and no SIMD lanes do */
  unsigned char c[8 * SAMPLE], d[8 * SAMPLE];
  float bias[SAMPLE];
} worker;

/* A chain's values for one class. */
typedef struct {
  sums value;
  size_t elements; /* number of elements computed; the sums of the others are 0 */
} chain_sums;

/* A memoised chain: a sequence of calls that starts from +0 or C. */
typedef struct {
  smma_match_key key;
  chain_sums *sum; /* the chain's values for each class; NULL: a free slot of the table */
} memo;

/* A chain of the plan: consecutive steps of its schedule. */
typedef struct {
  size_t first, end; /* the chain's first step, and the step after its last one */
  smma_match_key key;
  size_t chain; /* slot in the table */
} segment;

struct smma_evaluator {
  const smma_match_data *data;
  const smma_match_elements *elements;
  bool signed_zeros;
  worker *worker;
  size_t workers, first, step,
      products; /* this evaluator computes the classes of worker[first], worker[first + step], ... */
  memo *table;  /* memoised chains: an open hash table */
  size_t room, chains;
  const smma_plan *plan;
  smma_schedule schedule;
  segment *segment;
  size_t segments, segment_room;
  sums *registers;
  smma_match_key *key; /* keys of the values in `registers` */
  size_t register_room;
  const void *line[2];  /* the sample's rows of A and columns of B */
  void *widened[2];     /* `line` in the format of the sums; or NULL */
  size_t bytes[2];      /* bytes of a number in `line` */
  unsigned char *a, *b; /* operands of one chain */
  size_t gather_room;   /* number of products that fit into `a` and `b` */
};

/* ---- Elements ---- */

bool smma_match_gather(const smma_match_data *data, smma_match_elements *e) {
  const size_t a = smma_bytes_of(data->a_format), b = smma_bytes_of(data->b_format), k = data->k;
  e->a = malloc(SAMPLE * k * a), e->b = malloc(SAMPLE * k * b);
  if (!e->a || !e->b) return false;
  for (size_t i = 0; i < SAMPLE; i++) {
    memcpy((char *)e->a + i * k * a, (const char *)data->a + e->row[i] * k * a, k * a);
    for (size_t x = 0; x < k; x++) smma_store(b, e->b, i * k + x, smma_load(b, data->b, x * data->n + e->column[i]));
    e->d[i] = smma_load(smma_bytes_of(data->d_format), data->d, e->row[i] * data->n + e->column[i]);
  }
  return true;
}

void smma_match_elements_free(smma_match_elements *e) {
  free(e->a);
  free(e->b);
}

/* ---- Creating an evaluator ---- */

static void prepare(const smma_evaluator *e, worker *w, const smma_match_class *class) {
  const smma_match_data *data = e->data;
  const smma_instruction *i = class->member[0];
  const size_t c_bytes = smma_bytes_of(i->c);
  smma_multiplier *m = &w->with;
  smma_gemm_arguments *g = &m->with;
  w->step = *i;
  w->step.c = i->d;
  w->wide = w->step;
  m->operation = smma_operation_of(&w->step);
  m->outer = smma_outer_format(i->d);
  m->c_format = i->c, m->d_format = data->d_format, m->steps = 1;
  smma_gemm_defaults(g, sizeof *g);
  g->m = 1, g->n = SAMPLE, g->k = data->k, g->ldc = SAMPLE, g->ldd = SAMPLE, g->d = w->d;
  g->alpha = data->alpha, g->beta = data->beta, g->scale_d = data->scale_d;
  for (size_t s = 0; s < SAMPLE; s++) {
    const size_t at = e->elements->row[s] * data->n + e->elements->column[s];
    if (class->c) smma_store(c_bytes, w->c, s, smma_load(c_bytes, class->c, at));
    if (data->bias) w->bias[s] = data->bias[e->elements->column[s]];
  }
  if (class->c) g->c = w->c;
  g->bias = w->bias;
}

/* Lets one call compute WIDE products if every class is one FMA. All classes share the operands that gather_chain lays
   out call by call, so their calls must have the same numbers of products. */
static void widen_calls(smma_evaluator *e) {
  for (size_t i = 0; i < e->workers; i++)
    if (e->worker[i].step.rule->rule.algorithm != SMMA_FMA || e->worker[i].step.k != 1) return;
  for (size_t i = 0; i < e->workers; i++) e->worker[i].wide.k = WIDE;
}

/* Returns the format of sums if every class computes chains of FMAs in the same format; otherwise SMMA_NO_FORMAT. */
static smma_format format_of_fmas(const smma_evaluator *e) {
  const smma_format d = e->worker[0].step.d;
  for (size_t i = 0; i < e->workers; i++) {
    const smma_instruction *step = &e->worker[i].step;
    if (step->rule->rule.algorithm != SMMA_FMA || step->d != d) return SMMA_NO_FORMAT;
  }
  return d;
}

/* Converts the elements' lines to the format of the sums, because SIMD lanes compute only FMAs of a single format.
   Leaves them as they are if the conversion would change a number. Returns false if memory runs out. */
static bool widen(smma_evaluator *e) {
  const smma_format d = format_of_fmas(e), from[2] = {e->data->a_format, e->data->b_format};
  size_t changed = 0;
  for (int i = 0; i < 2 && d != SMMA_NO_FORMAT; i++) {
    e->widened[i] = smma_match_convert(from[i], e->line[i], SAMPLE, e->data->k, e->data->k, d, &changed);
    if (!e->widened[i]) return false;
  }
  if (d == SMMA_NO_FORMAT || changed) return true;
  for (int i = 0; i < 2; i++) e->line[i] = e->widened[i], e->bytes[i] = smma_bytes_of(d);
  for (size_t i = 0; i < e->workers; i++) {
    worker *w = &e->worker[i];
    w->step.a = w->step.b = w->wide.a = w->wide.b = d;
    w->with.operation = smma_operation_of(&w->step);
  }
  return true;
}

smma_evaluator *smma_evaluator_new(const smma_match_data *data, const smma_match_elements *elements,
                                   const smma_match_class *const *class, size_t classes, size_t first, size_t step,
                                   bool signed_zeros) {
  smma_evaluator *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->data = data, e->elements = elements, e->signed_zeros = signed_zeros, e->workers = classes;
  e->first = first, e->step = step;
  e->line[0] = elements->a, e->bytes[0] = smma_bytes_of(data->a_format);
  e->line[1] = elements->b, e->bytes[1] = smma_bytes_of(data->b_format);
  e->worker = calloc(classes, sizeof *e->worker);
  e->room = 1 << 10;
  e->table = calloc(e->room, sizeof *e->table);
  if (!e->worker || !e->table) {
    smma_evaluator_free(e);
    return NULL;
  }
  for (size_t i = 0; i < classes; i++) prepare(e, &e->worker[i], class[i]);
  widen_calls(e);
  if (!widen(e)) {
    smma_evaluator_free(e);
    return NULL;
  }
  for (size_t i = 0; i < classes; i++) {
    worker *w = &e->worker[i];
    const bool lanes = smma_lanes_take(&w->with.operation);
    w->first = lanes ? SAMPLE : FIRST;
    w->has_kernel = !lanes && strcmp(smma_kernel_for(&w->step, NULL, NULL), "core") != 0;
  }
  return e;
}

void smma_evaluator_free(smma_evaluator *e) {
  if (!e) return;
  for (size_t i = 0; e->table && i < e->room; i++) free(e->table[i].sum);
  smma_schedule_free(&e->schedule);
  free(e->worker);
  free(e->table);
  free(e->segment);
  free(e->registers);
  free(e->key);
  free(e->widened[0]);
  free(e->widened[1]);
  free(e->a);
  free(e->b);
  free(e);
}

size_t smma_evaluator_products(const smma_evaluator *e) { return e->products; }

/* ---- Keys ---- */

/* Mixes a number into both hashes of a key. */
static void stir(smma_match_key *key, uint64_t x) {
  for (int i = 0; i < 2; i++) {
    uint64_t h = (key->word[i] ^ x) * (i ? UINT64_C(0x9e3779b97f4a7c15) : UINT64_C(0xd6e8feb86659fd93));
    key->word[i] = h ^ h >> 32;
  }
}

bool smma_match_same_key(smma_match_key x, smma_match_key y) {
  return x.word[0] == y.word[0] && x.word[1] == y.word[1];
}

static const smma_match_key zero_key; /* key of +0 */

static smma_match_key empty_key(void) { return (smma_match_key){{1, 2}}; }

static bool starts_with_c(const smma_evaluator *e, const segment *s) {
  return s == e->segment && e->plan->starts_from_c && e->schedule.start == SMMA_IN_ACCUMULATOR;
}

/* Returns how many products a call has; the remaining ones are +0. */
static size_t products_of(const smma_schedule *s, size_t step) {
  size_t count = 0;
  while (count < s->k_per_step && s->k[step * s->k_per_step + count] != SMMA_NO_PRODUCT) count++;
  return count;
}

/* Reports whether zeros fill up calls only after a multiple of `multiple` products, except at the end of the chain. */
static bool fills_between(const smma_schedule *s, const segment *x, size_t multiple) {
  for (size_t i = x->first; i + 1 < x->end; i++)
    if (products_of(s, i) % multiple) return false;
  return true;
}

/* Mixes `length` consecutive indices into a key. */
static void stir_run(smma_match_key *key, size_t first, size_t length) {
  stir(key, first);
  stir(key, length);
}

static smma_match_key key_of_chain(const smma_evaluator *e, const segment *x, size_t multiple) {
  const smma_schedule *s = &e->schedule;
  const bool flat = multiple && fills_between(s, x, multiple);
  smma_match_key key = empty_key();
  size_t first = 0, length = 0;
  stir(&key, starts_with_c(e, x));
  stir(&key, flat);
  for (size_t i = x->first * s->k_per_step; i < x->end * s->k_per_step; i++) {
    if (flat && s->k[i] == SMMA_NO_PRODUCT) continue;
    if (length == 0 || s->k[i] != first + length) {
      stir_run(&key, first, length);
      first = s->k[i], length = 0;
    }
    length++;
  }
  stir_run(&key, first, length);
  return key;
}

static bool takes_chain(const smma_task *t) { return t->kind != SMMA_TASK_CLEAR && t->from == SMMA_IN_ACCUMULATOR; }

/* Returns the key of a value that is rounded to a format. */
static smma_match_key rounded_key(smma_match_key key, int format) {
  if (format != SMMA_STORED_AS_IS) stir(&key, (uint64_t)(unsigned)format);
  return key;
}

/* Returns the key of a fold's result. Addition is commutative, and adding +0 changes only the sign of a zero. */
static smma_match_key folded_key(const smma_evaluator *e, const smma_task *t, smma_match_key to, smma_match_key from) {
  const bool signs = e->signed_zeros, adds = t->with == SMMA_WITH_ADD;
  const bool first = t->kind == SMMA_TASK_MOVE || (adds && !signs && smma_match_same_key(to, zero_key));
  smma_match_key sum = empty_key();
  if (adds && !signs && t->kind == SMMA_TASK_FOLD && smma_match_same_key(from, zero_key)) return to;
  from = rounded_key(from, t->stored);
  if (first) return rounded_key(from, t->total);
  stir(&sum, adds ? 0 : (uint64_t)t->with);
  if (!adds) stir(&sum, t->k);
  for (int i = 0; i < 2; i++) stir(&sum, adds ? to.word[i] + from.word[i] : to.word[i] * 3 + from.word[i]);
  return rounded_key(sum, t->total);
}

/* Returns the key of the plan's next chain, `**x`, and advances `*x`. */
static smma_match_key next_key(const smma_evaluator *e, const segment **x, size_t step) {
  const segment *chain = (*x)++;
  if (chain->first == chain->end && !starts_with_c(e, chain)) return zero_key;
  return step ? key_of_chain(e, chain, step) : chain->key;
}

smma_match_key smma_evaluator_key(const smma_evaluator *e, size_t step) {
  const smma_schedule *s = &e->schedule;
  const segment *x = e->segment;
  smma_match_key key;
  if (s->start != SMMA_IN_ACCUMULATOR) {
    e->key[s->start] = empty_key();
    stir(&e->key[s->start], e->plan->starts_from_c);
  }
  for (size_t i = 0; i < s->tasks; i++) {
    const smma_task *t = &s->task[i];
    if (t->kind == SMMA_TASK_CLEAR)
      e->key[t->to] = zero_key;
    else
      e->key[t->to] = folded_key(e, t, e->key[t->to], takes_chain(t) ? next_key(e, &x, step) : e->key[t->from]);
  }
  key = s->result == SMMA_IN_ACCUMULATOR ? next_key(e, &x, step) : e->key[s->result];
  for (size_t i = 0; i < e->plan->epilogues; i++) {
    const smma_epilogue *o = &e->plan->epilogue[i];
    if (o->kind == SMMA_EPILOGUE_ALPHA && e->data->alpha == 1 && !e->signed_zeros) continue;
    stir(&key, (uint64_t)o->kind << 32 | (unsigned)o->format);
  }
  return key;
}

/* ---- Chains ---- */

/* Reports whether indices are consecutive. */
static bool is_run(const size_t *index, size_t count) {
  for (size_t x = 0; x < count; x++)
    if (index[x] == SMMA_NO_PRODUCT || index[x] != index[0] + x) return false;
  return true;
}

static void gather_line(size_t bytes, const void *from, const size_t *index, bool run, size_t count, void *to) {
  if (run)
    memcpy(to, (const char *)from + index[0] * bytes, count * bytes);
  else
    for (size_t x = 0; x < count; x++)
      smma_store(bytes, to, x, index[x] != SMMA_NO_PRODUCT ? smma_load(bytes, from, index[x]) : 0);
}

/* Gathers a chain's operands, call by call: `wide` products for each call while there are enough, then `narrow`. */
static bool gather_chain(smma_evaluator *e, const segment *s, size_t wide, size_t narrow) {
  if (s->first == s->end) return true;
  const size_t a = e->bytes[0], b = e->bytes[1], k = e->data->k;
  const size_t count = (s->end - s->first) * narrow, *index = e->schedule.k + s->first * narrow;
  if (count > e->gather_room) {
    free(e->a);
    free(e->b);
    e->a = malloc(SAMPLE * count * a), e->b = malloc(SAMPLE * count * b);
    e->gather_room = e->a && e->b ? count : 0;
    if (!e->gather_room) return false;
  }
  for (size_t at = 0, each; at < count; at += each) {
    each = count - at >= wide ? wide : narrow;
    const bool run = is_run(index + at, each);
    for (size_t i = 0; i < SAMPLE; i++) {
      gather_line(a, (const char *)e->line[0] + i * k * a, index + at, run, each, e->a + (SAMPLE * at + i * each) * a);
      gather_line(b, (const char *)e->line[1] + i * k * b, index + at, run, each, e->b + (SAMPLE * at + i * each) * b);
    }
  }
  return true;
}

/* Gathers the operands of a chain for the first `count` elements, each along K. */
static void gather_lines(const smma_evaluator *e, const segment *s, int which, size_t count, void *to) {
  const size_t products = (s->end - s->first) * e->schedule.k_per_step, bytes = e->bytes[which];
  const size_t *index = e->schedule.k + s->first * e->schedule.k_per_step;
  const bool run = is_run(index, products);
  for (size_t i = 0; i < count; i++)
    gather_line(bytes, (const char *)e->line[which] + i * e->data->k * bytes, index, run, products,
                (char *)to + i * products * bytes);
}

/* Computes a chain for the sample's first `elements` elements by a kernel: they are the diagonal of a product of their
   rows and columns, which takes less time than the core needs for them alone. `c` holds the addends, and then the
   results. Returns false if memory runs out. */
static bool multiply_chain(const smma_evaluator *e, const worker *w, const segment *s, size_t elements,
                           unsigned char *c) {
  const size_t products = (s->end - s->first) * e->schedule.k_per_step, bytes = smma_bytes_of(w->step.d);
  unsigned char start[8 * SAMPLE * SAMPLE] = {0}, d[8 * SAMPLE * SAMPLE];
  void *a = malloc(elements * products * e->bytes[0]), *b = malloc(elements * products * e->bytes[1]);
  smma_gemm_arguments g;
  bool done = false;
  if (a && b) {
    gather_lines(e, s, 0, elements, a);
    gather_lines(e, s, 1, elements, b);
    for (size_t i = 0; i < elements; i++) smma_store(bytes, start, i * elements + i, smma_load(bytes, c, i));
    smma_gemm_defaults(&g, sizeof g);
    g.m = g.n = elements, g.k = products, g.a = a, g.b = b, g.order_b = SMMA_COLUMN_MAJOR, g.c = start, g.d = d;
    g.threads = 1;
    done = smma_gemm(&w->step, &g) == SMMA_OK;
  }
  for (size_t i = 0; done && i < elements; i++) smma_store(bytes, c, i, smma_load(bytes, d, i * elements + i));
  free(a);
  free(b);
  return done;
}

/* Computes a chain as multiply_chain does, but call by call. gather_chain must have gathered its operands. */
static bool dot_chain(const smma_evaluator *e, const worker *w, const segment *s, size_t elements, unsigned char *c) {
  const size_t wide = (size_t)w->wide.k, count = (s->end - s->first) * e->schedule.k_per_step;
  for (size_t at = 0; at < count;) {
    const smma_instruction *i = count - at >= wide ? &w->wide : &w->step;
    const smma_batch batch = {sizeof batch,
                              elements,
                              e->a + SAMPLE * at * smma_bytes_of(i->a),
                              e->b + SAMPLE * at * smma_bytes_of(i->b),
                              c,
                              NULL,
                              NULL,
                              c};
    if (smma_dot_rows(i, &batch, 1) != SMMA_OK) return false;
    at += (size_t)i->k;
  }
  return true;
}

/* Computes a chain for the sample's first `elements` elements. Returns false if memory runs out. */
static bool compute_chain(const smma_evaluator *e, worker *w, const segment *s, size_t elements, chain_sums *to) {
  const smma_rule *rule = &w->with.operation.rule;
  const smma_format d = w->step.d, outer = w->with.outer;
  const size_t bytes = smma_bytes_of(d);
  unsigned char c[8 * SAMPLE] = {0};
  sums *sum = &to->value;
  *to = (chain_sums){.elements = elements};
  if (starts_with_c(e, s)) {
    w->with.starts_from_c = true;
    smma_start_row(&w->with, 0, 0, SAMPLE, sum);
    for (size_t i = 0; i < SAMPLE; i++)
      smma_store(bytes, c, i, smma_reformat(outer, d, rule->nan, smma_load(smma_bytes_of(outer), sum, i)));
  }
  if (s->first < s->end && !(w->has_kernel ? multiply_chain : dot_chain)(e, w, s, elements, c)) return false;
  for (size_t i = 0; i < elements; i++)
    smma_store(smma_bytes_of(outer), sum, i, smma_reformat(d, outer, rule->nan, smma_load(bytes, c, i)));
  return true;
}

static bool gather_for_all(smma_evaluator *e, const segment *s) {
  return gather_chain(e, s, (size_t)e->worker->wide.k, (size_t)e->worker->step.k);
}

static size_t place_of(const smma_evaluator *e, smma_match_key key) {
  size_t at = key.word[0] & (e->room - 1);
  while (e->table[at].sum && !smma_match_same_key(e->table[at].key, key)) at = (at + 1) & (e->room - 1);
  return at;
}

static bool grow(smma_evaluator *e) {
  memo *old = e->table;
  const size_t room = e->room;
  if (2 * e->chains < room) return true;
  e->table = calloc(4 * room, sizeof *e->table);
  if (!e->table) return e->table = old, false;
  e->room = 4 * room;
  for (size_t i = 0; i < room; i++)
    if (old[i].sum) e->table[place_of(e, old[i].key)] = old[i];
  free(old);
  return true;
}

/* Finds a chain in the table; if it is new, computes its first elements for all classes. */
static bool find_chain(smma_evaluator *e, const segment *s) {
  memo *c;
  if (!grow(e)) return false;
  c = &e->table[place_of(e, s->key)];
  if (c->sum) return true;
  c->sum = malloc(e->workers * sizeof *c->sum);
  if (!c->sum) return false;
  c->key = s->key;
  e->chains++;
  for (size_t i = e->first; i < e->workers; i += e->step) e->products += (s->end - s->first) * e->schedule.k_per_step;
  if (!gather_for_all(e, s)) return false;
  for (size_t i = e->first; i < e->workers; i += e->step)
    if (!compute_chain(e, &e->worker[i], s, e->worker[i].first, &c->sum[i])) return false;
  return true;
}

bool smma_evaluator_compute(smma_evaluator *e) {
  for (size_t i = 0; i < e->segments; i++)
    if (!find_chain(e, &e->segment[i])) return false;
  for (size_t i = 0; i < e->segments; i++) e->segment[i].chain = place_of(e, e->segment[i].key);
  return true;
}

bool smma_evaluator_complete(smma_evaluator *e, size_t of) {
  for (size_t i = 0; i < e->segments; i++) {
    chain_sums *sum = &e->table[e->segment[i].chain].sum[of];
    if (sum->elements == SAMPLE) continue;
    if (!e->worker[of].has_kernel && !gather_for_all(e, &e->segment[i])) return false;
    if (!compute_chain(e, &e->worker[of], &e->segment[i], SAMPLE, sum)) return false;
  }
  return true;
}

/* ---- A plan ---- */

static bool add_segment(smma_evaluator *e, size_t first, size_t end) {
  if (e->segments == e->segment_room) {
    const size_t room = 2 * e->segment_room + 64;
    segment *more = realloc(e->segment, room * sizeof *more);
    if (!more) return false;
    e->segment = more, e->segment_room = room;
  }
  e->segment[e->segments] = (segment){first, end, {{0}}, 0};
  e->segment[e->segments].key = key_of_chain(e, &e->segment[e->segments], 0);
  e->segments++;
  return true;
}

/* Divides the plan into chains. Every task that reads the accumulator ends a chain. */
static bool cut(smma_evaluator *e) {
  const smma_schedule *s = &e->schedule;
  size_t first = 0;
  e->segments = 0;
  for (size_t i = 0; i < s->tasks; i++)
    if (takes_chain(&s->task[i])) {
      if (!add_segment(e, first, s->task[i].step)) return false;
      first = s->task[i].step;
    }
  return s->result != SMMA_IN_ACCUMULATOR || add_segment(e, first, s->steps);
}

bool smma_evaluator_take(smma_evaluator *e, const smma_plan *plan) {
  const smma_operation *o = &e->worker[0].with.operation;
  smma_schedule_free(&e->schedule);
  e->plan = plan;
  if (smma_schedule_make(plan, o, e->data->k, &e->schedule, NULL) != SMMA_OK || !cut(e)) return false;
  if (e->schedule.registers > e->register_room) {
    free(e->registers);
    free(e->key);
    e->registers = calloc(e->schedule.registers, sizeof *e->registers);
    e->key = calloc(e->schedule.registers, sizeof *e->key);
    e->register_room = e->registers && e->key ? e->schedule.registers : 0;
    if (!e->register_room) return false;
  }
  return true;
}

static void round_to(const worker *w, int format, sums *x) {
  if (format != SMMA_STORED_AS_IS) smma_round_sums(&w->with, (smma_format)format, x->f32, SAMPLE);
}

/* Adds `from` to `to` with the scale factors of the part of K that contains t->k. */
static void fold_scaled(const smma_evaluator *e, const smma_task *t, sums *to, const sums *from) {
  const smma_match_data *data = e->data;
  const size_t part = t->k / smma_plan_scaled_k(e->plan);
  for (size_t i = 0; i < SAMPLE; i++) {
    const float a = data->scale_a[e->elements->row[i] * data->parts + part];
    const float b = data->scale_b[e->elements->column[i] * data->parts + part];
    to->f32[i] = smma_add_scaled(t->with, a, b, from->f32[i], to->f32[i]);
  }
}

static void do_task(smma_evaluator *e, worker *w, const smma_task *t, sums *from) {
  sums *to = &e->registers[t->to];
  round_to(w, t->stored, from);
  if (t->kind == SMMA_TASK_MOVE)
    *to = *from;
  else if (t->with == SMMA_WITH_ADD)
    smma_outer_add(&w->with, to, from, SAMPLE);
  else
    fold_scaled(e, t, to, from);
  if (t->kind == SMMA_TASK_FOLD) smma_unify_nan(&w->with, to, SAMPLE);
  round_to(w, t->total, to);
}

/* Returns the values of chain number `chain` of the plan. Lowers `*elements` to the number of elements that are
   computed. */
static sums chain_of(const smma_evaluator *e, size_t chain, size_t of, size_t *elements) {
  const chain_sums *sum = &e->table[e->segment[chain].chain].sum[of];
  *elements = smma_least(*elements, sum->elements);
  return sum->value;
}

size_t smma_evaluator_run(smma_evaluator *e, size_t of, uint64_t d[SMMA_MATCH_SAMPLE]) {
  const smma_schedule *s = &e->schedule;
  worker *w = &e->worker[of];
  size_t chain = 0, elements = SAMPLE;
  sums from = {{0}};
  if (s->start != SMMA_IN_ACCUMULATOR) {
    w->with.starts_from_c = true;
    smma_start_row(&w->with, 0, 0, SAMPLE, &e->registers[s->start]);
  }
  for (size_t i = 0; i < s->tasks; i++) {
    const smma_task *t = &s->task[i];
    if (t->kind == SMMA_TASK_CLEAR) {
      memset(&e->registers[t->to], 0, sizeof *e->registers);
      continue;
    }
    from = t->from == SMMA_IN_ACCUMULATOR ? chain_of(e, chain++, of, &elements) : e->registers[t->from];
    do_task(e, w, t, &from);
  }
  from = s->result == SMMA_IN_ACCUMULATOR ? chain_of(e, chain, of, &elements) : e->registers[s->result];
  w->with.epilogues = e->plan->epilogues;
  memcpy(w->with.epilogue, e->plan->epilogue, sizeof w->with.epilogue);
  smma_finish_row(&w->with, 0, 0, SAMPLE, &from);
  for (size_t i = 0; i < elements; i++) d[i] = smma_load(smma_bytes_of(e->data->d_format), w->d, i);
  return elements;
}
