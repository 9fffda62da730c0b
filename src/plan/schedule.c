#include "plan/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "host/error.h"

/* Maximum number of tasks in addition to sixteen per index, because parts without products are summed, too. */
enum { MOST_TASKS = 1 << 20 };

/* A sequence of indices. */
typedef struct {
  const size_t *k;
  size_t count;
} sequence;

typedef struct {
  const smma_plan *plan;
  size_t whole; /* K */
  smma_format d;
  smma_schedule *out;
  size_t step_room, task_room;
  size_t used;        /* registers in use */
  bool c_given;       /* C has already started a sum */
  smma_status status; /* of a failure */
  smma_error *error;
} maker;

/* Reports that the plan cannot be followed, and gives false. */
#define FAIL(m, ...) smma_fail_as((m)->error, SMMA_INVALID_PLAN, __VA_ARGS__)

static bool no_memory(maker *m) {
  m->status = SMMA_NO_MEMORY;
  return smma_no_memory(m->error);
}

/* ---- Writing the schedule ---- */

static bool add_step(maker *m, const size_t *k, size_t count) {
  smma_schedule *s = m->out;
  if (s->steps == m->step_room) {
    const size_t room = 2 * m->step_room + 16;
    size_t *more =
        room <= SIZE_MAX / sizeof *more / s->k_per_step ? realloc(s->k, room * s->k_per_step * sizeof *more) : NULL;
    if (!more) return no_memory(m);
    s->k = more, m->step_room = room;
  }
  for (size_t i = 0; i < s->k_per_step; i++) s->k[s->steps * s->k_per_step + i] = i < count ? k[i] : SMMA_NO_PRODUCT;
  s->steps++;
  return true;
}

static bool add_task(maker *m, smma_task task) {
  smma_schedule *s = m->out;
  if (s->tasks == MOST_TASKS + 16 * m->whole)
    return FAIL(m, "more than %zu additions of parts: most of these are empty", s->tasks);
  if (s->tasks == m->task_room) {
    const size_t room = 2 * m->task_room + 16;
    smma_task *more = realloc(s->task, room * sizeof *more);
    if (!more) return no_memory(m);
    s->task = more, m->task_room = room;
  }
  task.step = s->steps;
  s->task[s->tasks++] = task;
  return true;
}

static int take_register(maker *m) {
  if (++m->used > m->out->registers) m->out->registers = m->used;
  return (int)m->used - 1;
}

/* ---- A chain ---- */

/* Adds steps for groups of at most `group` indices, from the first index on. */
static bool add_groups(maker *m, sequence s, size_t group) {
  for (size_t i = 0; i < s.count; i += group)
    if (!add_step(m, s.k + i, smma_least(group, s.count - i))) return false;
  return true;
}

static bool add_chain(maker *m, sequence s) {
  const smma_plan *p = m->plan;
  const size_t group = p->group ? p->group : m->out->k_per_step;
  size_t residue = 0;
  if (p->residue == SMMA_RESIDUE_FIRST_TILE) residue = s.count % p->tile;
  if (p->residue == SMMA_RESIDUE_FIRST) residue = s.count % group;
  if (p->residue == SMMA_RESIDUE_NONE && s.count % group)
    return FAIL(m, "a chain of %zu products is no multiple of %zu, and the plan has no rule for what is left", s.count,
                group);
  return add_groups(m, (sequence){s.k, residue}, group) &&
         add_groups(m, (sequence){s.k + residue, s.count - residue}, group);
}

/* ---- Dealing out ---- */

/* The parts of a sequence: indices part after part, and the end of each part. */
typedef struct {
  size_t *k, *end;
  size_t parts;
} dealt;

static sequence part_of(const dealt *d, size_t i) {
  const size_t first = i ? d->end[i - 1] : 0;
  return (sequence){d->k + first, d->end[i] - first};
}

static void deal_contiguous(dealt *d, sequence s, size_t length) {
  for (size_t i = 0; i < s.count; i += length) d->end[d->parts++] = smma_least(i + length, s.count);
  memcpy(d->k, s.k, s.count * sizeof *s.k);
}

static void deal_tiles(dealt *d, sequence s, size_t count, size_t tile) {
  size_t used = 0;
  for (d->parts = 0; d->parts < count; d->end[d->parts++] = used)
    for (size_t i = d->parts * tile; i < s.count; i += count * tile)
      for (size_t j = i; j < smma_least(i + tile, s.count); j++) d->k[used++] = s.k[j];
}

static void deal_list(dealt *d, const smma_plan_level *l) {
  size_t used = 0;
  for (size_t i = 0; i < l->ranges; i++) {
    for (size_t k = l->range[i].first; k < l->range[i].end; k++) d->k[used++] = k;
    d->parts = l->range[i].part + 1;
    d->end[l->range[i].part] = used;
  }
}

/* Marks the indices of a range. Returns false with a message if an index is beyond K or already marked. */
static bool mark(maker *m, const smma_plan_range *range, unsigned char *marks) {
  if (range->end > m->whole)
    return FAIL(m, "part %zu of the list ends at %zu, beyond K, which is %zu", range->part, range->end, m->whole);
  for (size_t k = range->first; k < range->end; k++)
    if (marks[k]++) return FAIL(m, "the list has k = %zu a second time, in part %zu", k, range->part);
  return true;
}

static bool check_list(maker *m, const smma_plan_level *l) {
  unsigned char *marks = calloc(m->whole, 1);
  bool fits = marks || no_memory(m);
  for (size_t i = 0; fits && i < l->ranges; i++) fits = mark(m, &l->range[i], marks);
  free(marks);
  return fits;
}

static bool check_deal(maker *m, const smma_plan_level *l, sequence s) {
  if (l->deal == SMMA_DEAL_CONTIGUOUS && l->count > s.count)
    return FAIL(m, "%zu parts of %zu products: some would have none", l->count, s.count);
  if (l->whole && s.count % (l->count * l->grain))
    return FAIL(m, "%zu products are no multiple of %zu tiles of %zu, and the plan has no rule for what is left",
                s.count, l->count, l->grain);
  return l->deal != SMMA_DEAL_LIST || check_list(m, l);
}

/* Divides a sequence into parts. The caller frees d->k for any return value. */
static bool deal(maker *m, const smma_plan_level *l, sequence s, dealt *d) {
  const size_t share = smma_divide_up(s.count, l->count ? l->count : 1);
  const size_t parts = l->deal == SMMA_DEAL_INTERLEAVED ? l->count : l->deal == SMMA_DEAL_LIST ? l->ranges : s.count;
  *d = (dealt){0};
  if (!check_deal(m, l, s)) return false;
  d->k = malloc((s.count + parts + 1) * sizeof *d->k);
  if (!d->k) return no_memory(m);
  d->end = d->k + s.count;
  switch (l->deal) {
    case SMMA_DEAL_CONTIGUOUS: deal_contiguous(d, s, smma_divide_up(share, l->grain) * l->grain); break;
    case SMMA_DEAL_EVERY: deal_contiguous(d, s, l->grain); break;
    case SMMA_DEAL_INTERLEAVED:
      deal_tiles(d, s, l->count, l->fits && share ? smma_least(l->grain, share) : l->grain);
      break;
    case SMMA_DEAL_LIST: deal_list(d, l); break;
  }
  return true;
}

/* ---- Folding ----

   The terms of stage 0 are the parts. A term of a later stage is the sum, in order, of some terms of the previous
   stage. The last stage has one term. */

typedef struct {
  maker *m;
  size_t depth; /* index of the level */
  const smma_plan_level *level;
  dealt parts;
  size_t stages;
  size_t terms[64]; /* number of terms of each stage */
} folding;

static size_t stride_of(const folding *f, size_t stage) {
  switch (f->level->fold) {
    case SMMA_FOLD_SERIAL:
    case SMMA_FOLD_LAST_FIRST: break;                                      /* this stride is used in the second stage */
    case SMMA_FOLD_HALVING: return smma_divide_up(f->terms[stage - 1], 2); /* a power of two, or 1 */
    case SMMA_FOLD_NEIGHBOURS: return smma_divide_up(f->terms[stage - 1], 2);
    case SMMA_FOLD_STRIDES: return f->level->stride[stage - 1];
  }
  return 1;
}

/* Plans stages until one term is left. */
static bool plan_stages(folding *f) {
  const size_t n = f->parts.parts;
  f->terms[f->stages = 0] = n;
  if (f->level->fold == SMMA_FOLD_HALVING && (n & (n - 1))) return FAIL(f->m, "%zu parts cannot be halved to one", n);
  if (f->level->fold == SMMA_FOLD_LAST_FIRST && n > 2) f->terms[f->stages = 1] = 1 + smma_divide_up(n, 2);
  do {
    f->stages++;
    f->terms[f->stages] = smma_least(stride_of(f, f->stages), f->terms[f->stages - 1]);
  } while (f->terms[f->stages] > 1);
  return true;
}

/* Returns the j-th summand of term i of a stage, as an index in the previous stage. After the last summand, returns
   a value not less than that stage's number of terms. */
static size_t summand(const folding *f, size_t stage, size_t i, size_t j) {
  const size_t n = f->terms[stage - 1];
  if (f->level->fold == SMMA_FOLD_NEIGHBOURS) return j < 2 ? 2 * i + j : n;
  if (f->level->fold == SMMA_FOLD_LAST_FIRST && stage == 1 && f->stages == 2) {
    const size_t pair = i - 1 + smma_divide_up(n, 2);
    if (i == 0) return j ? n : n - 1;
    return j == 0 ? i - 1 : j == 1 && pair < n - 1 ? pair : n;
  }
  return i + j * stride_of(f, stage);
}

static bool sum_level(maker *m, size_t depth, sequence s, int *at);

static bool sum_term(folding *f, size_t stage, size_t i, int *at);

/* Reports whether C still has to start a sum: the next part that is summed, or the first part of that part. */
static bool awaits_c(const maker *m) { return m->plan->starts_from_c && !m->c_given; }

/* Starts a total with +0, or with C rounded to the format of totals. */
static bool begin_total(maker *m, int total, int *at) {
  *at = take_register(m);
  if (!awaits_c(m)) return add_task(m, (smma_task){.kind = SMMA_TASK_CLEAR, .to = *at});
  m->c_given = true;
  m->out->start = *at;
  if (total == SMMA_STORED_AS_IS) return true;
  return add_task(
      m, (smma_task){.kind = SMMA_TASK_MOVE, .to = *at, .from = *at, .stored = SMMA_STORED_AS_IS, .total = total});
}

/* Makes the first term the total. Moves it to a register if it is rounded, or if other terms are added (not `alone`)
   and it is in the accumulator. */
static bool first_term(folding *f, smma_task task, bool alone, int *at) {
  const bool rounded = task.stored != SMMA_STORED_AS_IS || task.total != SMMA_STORED_AS_IS;
  *at = task.from;
  if (!rounded && (alone || task.from != SMMA_IN_ACCUMULATOR)) return true;
  if (task.from == SMMA_IN_ACCUMULATOR) *at = take_register(f->m);
  task.kind = SMMA_TASK_MOVE, task.to = *at;
  return add_task(f->m, task);
}

/* Returns the format to which parts or totals are rounded. */
static int stored_as(const maker *m, int stored) {
  const int format = stored == SMMA_STORED_AS_D ? (int)m->d : stored;
  const bool wide = format == SMMA_F32 || format == SMMA_F64 || format == SMMA_S32;
  return wide ? SMMA_STORED_AS_IS : format;
}

/* Sums term i of the first stage into a register. */
static bool term_in_register(folding *f, size_t i, int *at) {
  smma_task task = {.kind = SMMA_TASK_MOVE, .stored = SMMA_STORED_AS_IS, .total = SMMA_STORED_AS_IS};
  if (!sum_term(f, 1, i, &task.from)) return false;
  return first_term(f, task, false, at);
}

/* Returns the first index of a part. If parts have scale factors, checks that all indices of the part are in one block
   of those that share a factor. */
static bool find_factor(folding *f, const sequence *part, size_t *first) {
  const size_t each = f->level->with == SMMA_WITH_ADD ? 0 : f->level->grain;
  *first = part->count ? part->k[0] : 0;
  const size_t start = each ? *first / each * each : 0; /* the first k of that block */
  for (size_t i = 0; each && i < part->count; i++)
    if (part->k[i] < start || part->k[i] - start >= each)
      return FAIL(f->m,
                  "a part has k = %zu and k = %zu, which do not share a scale factor: there is one for every %zu k, "
                  "so the levels before it must divide K at multiples of %zu",
                  *first, part->k[i], each, each);
  return true;
}

static bool sum_terms(folding *f, size_t stage, size_t i, int *at) {
  maker *m = f->m;
  const smma_plan_level *l = f->level;
  const size_t terms = f->terms[stage - 1];
  const bool has_start = l->from_zero && stage == f->stages, alone = summand(f, stage, i, 1) >= terms;
  smma_task task = {.kind = SMMA_TASK_FOLD,
                    .with = l->with,
                    .stored = stage == 1 ? stored_as(m, l->stored) : SMMA_STORED_AS_IS,
                    .total = stored_as(m, l->total)};
  /* The part that C starts is computed first, although last-first adds it as the second term. */
  const bool second_first = awaits_c(m) && l->fold == SMMA_FOLD_LAST_FIRST && stage == 2;
  int second = SMMA_IN_ACCUMULATOR;
  size_t used;
  if (has_start && !begin_total(m, task.total, at)) return false;
  if (second_first && !term_in_register(f, 1, &second)) return false;
  for (size_t j = 0, x; (x = summand(f, stage, i, j)) < terms; j++) {
    used = m->used;
    task.from = second;
    if (!(second_first && j == 1) && !sum_term(f, stage - 1, x, &task.from)) return false;
    if (stage == 1) {
      const sequence part = part_of(&f->parts, x);
      if (!find_factor(f, &part, &task.k)) return false;
    }
    if (j == 0 && !has_start) {
      if (!first_term(f, task, alone, at)) return false;
    } else {
      task.to = *at;
      if (!add_task(m, task)) return false;
      m->used = used;
    }
  }
  return true;
}

static bool sum_term(folding *f, size_t stage, size_t i, int *at) {
  return stage ? sum_terms(f, stage, i, at) : sum_level(f->m, f->depth + 1, part_of(&f->parts, i), at);
}

/* Sums a sequence, by the levels from `depth` on. */
static bool sum_level(maker *m, size_t depth, sequence s, int *at) {
  folding f = {.m = m, .depth = depth};
  bool done;
  if (depth == m->plan->levels || s.count == 0) {
    *at = SMMA_IN_ACCUMULATOR;
    m->c_given = true;
    return add_chain(m, s);
  }
  f.level = &m->plan->level[depth];
  done = deal(m, f.level, s, &f.parts) && plan_stages(&f) && sum_term(&f, f.stages, 0, at);
  free(f.parts.k);
  return done;
}

/* ---- The whole ---- */

/* Returns the number of indices of K that are summed. */
static size_t used_of(const smma_plan *p, size_t k) {
  const size_t block = p->lost_tail, parts = p->levels ? p->level[0].count : 1;
  if (!block || k % block == 0 || k / block % parts || parts <= k % block) return k;
  return k - k % block;
}

static bool are_in_order(const smma_schedule *s, size_t k) {
  for (size_t i = 0; i < s->steps * s->k_per_step; i++)
    if (s->k[i] != (i < k ? i : SMMA_NO_PRODUCT)) return false;
  return true;
}

static bool make(maker *m) {
  const smma_plan *p = m->plan;
  const sequence s = {NULL, used_of(p, m->whole)};
  size_t *k;
  bool made;
  if (m->whole > SIZE_MAX / 1024) return no_memory(m); /* arrays below take up to some hundred bytes for each index */
  if (p->group > m->out->k_per_step)
    return FAIL(m, "groups of %zu products, but the instruction takes %zu", p->group, m->out->k_per_step);
  k = malloc(s.count * sizeof *k);
  if (!k) return no_memory(m);
  for (size_t i = 0; i < s.count; i++) k[i] = i;
  made = sum_level(m, 0, (sequence){k, s.count}, &m->out->result);
  free(k);
  if (made) m->out->in_order = are_in_order(m->out, m->whole);
  return made;
}

smma_format smma_outer_format(smma_format d) { return d == SMMA_F64 || d == SMMA_S32 ? d : SMMA_F32; }

/* Checks features that are defined only for accumulators in FP32. */
static bool check_accumulators(maker *m, smma_format d) {
  const smma_plan *p = m->plan;
  bool single = p->epilogues || (p->d != SMMA_NO_FORMAT && p->d != d);
  for (size_t i = 0; i < p->levels; i++)
    if (p->level[i].stored != SMMA_STORED_AS_IS || p->level[i].total != SMMA_STORED_AS_IS ||
        p->level[i].with != SMMA_WITH_ADD)
      single = true;
  if (!single || smma_outer_format(d) == SMMA_F32) return true;
  return FAIL(m, "roundings, scale factors, an epilogue and another D go with accumulators in FP32 only");
}

smma_status smma_schedule_make(const smma_plan *plan, const smma_operation *o, size_t k, smma_schedule *schedule,
                               smma_error *error) {
  maker m = {.plan = plan,
             .whole = k,
             .d = plan->d == SMMA_NO_FORMAT ? o->d : plan->d,
             .out = schedule,
             .status = SMMA_INVALID_PLAN,
             .error = error};
  *schedule = (smma_schedule){.k_per_step = (size_t)o->k, .start = SMMA_IN_ACCUMULATOR};
  if (k == 0)
    FAIL(&m, "K is 0: there is nothing to sum");
  else if (o->scale_block && smma_plan_scaled_level(plan))
    FAIL(&m, "the instruction has scale factors of its own, so the plan cannot have any");
  else if (check_accumulators(&m, o->d) && make(&m)) {
    if (schedule->in_order || !o->scale_block) return SMMA_OK;
    FAIL(&m, "the plan takes k in another order, for which an instruction with scale factors has no rule");
  }
  smma_schedule_free(schedule);
  return m.status;
}

void smma_schedule_free(smma_schedule *schedule) {
  free(schedule->k);
  free(schedule->task);
  *schedule = (smma_schedule){0};
}
