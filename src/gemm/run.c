/* Tiles of D: operands packed for a range of K at a time, kernel or core on them, promotion between, threads around. */
#include <stdlib.h>
#include <string.h>

#include "gemm/element.h"
#include "gemm/kernel.h"
#include "host/load.h"
#include "host/memory.h"
#include "host/thread.h"

/* Columns of a tile, elements of K packed at a time. Working memory of one thread is a few MiB. */
enum { TILE_COLUMNS = 1024, DEPTH = 128 };

/* Instruction steps that are packed at a time. */
static size_t steps_at_once(const smma_plan *p) {
  size_t most = DEPTH / (size_t)p->operation.k;
  return p->steps < most ? p->steps : most;
}

/* How the work is cut, the same for all threads. */
typedef struct {
  const smma_plan *plan;
  size_t tile_rows, tile_columns; /* of a whole tile, multiples of 16 and of the panel */
  size_t panel;                   /* columns of a panel */
  size_t steps;                   /* packed at a time */
  size_t element_bytes;           /* of an accumulator */
  size_t a_bytes, b_bytes, sums;  /* bytes of packed operands and of one tile of accumulators */
} layout;

/* One thread's memory. */
typedef struct {
  void *a, *b;
  unsigned char *accumulator, *interval, *total, *before; /* a tile each; the last three where needed */
  smma_core_space *core;
  unsigned char special_rows[SMMA_TILE_ROWS], special_columns[TILE_COLUMNS];
} workspace;

/* A tile on its way along K. */
typedef struct {
  const layout *l;
  workspace *w;
  size_t row, column, rows, columns; /* of D, edges cut off */
  size_t packed_rows, packed_columns;
  const unsigned char *b, *special_columns; /* of the part of K: the workspace's, or kept by the plan */
} tile;

static size_t round_up(size_t x, size_t unit) { return (x + unit - 1) / unit * unit; }
static size_t least(size_t x, size_t y) { return x < y ? x : y; }

static layout layout_of(const smma_plan *p, size_t threads) {
  const smma_kernel_family *f = p->family;
  size_t columns = f ? TILE_COLUMNS : 64, rows = f ? SMMA_TILE_ROWS : 64;
  layout l = {.plan = p, .panel = f ? f->columns : 16, .steps = steps_at_once(p)};
  l.tile_rows = least(round_up(p->with.m, 16), rows);
  /* Narrower tiles give every thread work where the product is small. */
  while (columns > 2 * l.panel && p->with.n / columns * ((p->with.m - 1) / l.tile_rows + 1) < threads) columns /= 2;
  l.element_bytes = smma_container_bytes(smma_encoding_of(p->outer));
  l.tile_columns = least(round_up(p->with.n, l.panel), columns);
  l.a_bytes = f ? round_up(l.tile_rows * l.steps * f->row_bytes(&p->operation), 64) : 0;
  l.b_bytes = f ? round_up(l.tile_columns * l.steps * f->column_bytes(&p->operation), 64) : 0;
  l.sums = round_up(l.tile_rows * l.tile_columns * l.element_bytes, 64);
  return l;
}

static bool has_outer_sums(const smma_plan *p) { return p->steps_per_interval || p->steps_per_slice < p->steps; }

static bool allocate(const layout *l, workspace *w) {
  size_t tiles = l->plan->family ? 2 : 1;
  unsigned char *sums;
  if (has_outer_sums(l->plan)) tiles += 2;
  memset(w, 0, sizeof *w);
  sums = smma_aligned_malloc(tiles * l->sums);
  w->accumulator = sums;
  w->core = malloc(smma_core_space_bytes());
  if (!sums || !w->core) return false;
  sums += l->sums;
  if (l->plan->family) {
    w->a = smma_aligned_malloc(l->a_bytes + 64);
    if (!l->plan->kept.b) w->b = smma_aligned_malloc(l->b_bytes + 64);
    w->before = sums, sums += l->sums;
    if (!w->a || (!w->b && !l->plan->kept.b)) return false;
  }
  if (has_outer_sums(l->plan)) w->interval = sums, w->total = sums + l->sums;
  return true;
}

static void release(workspace *w) {
  smma_aligned_free(w->accumulator);
  free(w->core);
  smma_aligned_free(w->a);
  smma_aligned_free(w->b);
}

/* The accumulators of row i from column j on, to the end of its panel. */
static unsigned char *row_of(const tile *t, unsigned char *sums, size_t i, size_t j) {
  return sums + smma_accumulator_index(t->packed_rows, t->l->panel, i, j) * t->l->element_bytes;
}

static size_t packed_count(const tile *t) { return t->packed_rows * t->packed_columns; }

static void begin(const tile *t) {
  const smma_plan *p = t->l->plan;
  unsigned char *start = p->steps_per_interval && p->steps ? t->w->interval : t->w->accumulator;
  memset(t->w->accumulator, 0, packed_count(t) * t->l->element_bytes);
  if (t->w->interval) memset(t->w->interval, 0, packed_count(t) * t->l->element_bytes);
  for (size_t i = 0; i < t->rows; i++)
    for (size_t j = 0; j < t->columns; j += t->l->panel)
      smma_start_row(p, t->row + i, t->column + j, least(t->l->panel, t->columns - j), row_of(t, start, i, j));
}

static void finish(const tile *t) {
  const smma_plan *p = t->l->plan;
  unsigned char *total = has_outer_sums(p) && p->steps ? t->w->total : t->w->accumulator;
  for (size_t i = 0; i < t->rows; i++)
    for (size_t j = 0; j < t->columns; j += t->l->panel)
      smma_finish_row(p, row_of(t, total, i, j), t->row + i, t->column + j, least(t->l->panel, t->columns - j));
}

/* What happens behind instruction step `step`: promotion, and the end of a slice. */
static void after_step(const tile *t, size_t step) {
  const smma_plan *p = t->l->plan;
  size_t count = packed_count(t), bytes = count * t->l->element_bytes;
  bool slice_ends = (step + 1) % p->steps_per_slice == 0 || step + 1 == p->steps;
  if (p->steps_per_interval && ((step + 1) % p->steps_per_interval == 0 || slice_ends)) {
    smma_outer_add(p, t->w->interval, t->w->accumulator, count);
    memset(t->w->accumulator, 0, bytes);
  }
  if (slice_ends) {
    unsigned char *sum = p->steps_per_interval ? t->w->interval : t->w->accumulator;
    if (step < p->steps_per_slice)
      memcpy(t->w->total, sum, bytes);
    else
      smma_outer_add(p, t->w->total, sum, count);
    memset(sum, 0, bytes);
  }
}

/* The first step from `step` on behind which something happens, plus one; at most `last`. */
static size_t next_boundary(const smma_plan *p, size_t step, size_t last) {
  size_t end = least(round_up(step + 1, p->steps_per_slice), last);
  return p->steps_per_interval ? least(end, round_up(step + 1, p->steps_per_interval)) : end;
}

/* One panel of columns of `steps` steps into its place among those of the same steps. */
static void pack_panel(const smma_plan *p, size_t column, size_t panel, size_t step, size_t steps, unsigned char *b,
                       unsigned char *special) {
  p->family->pack_columns(&(smma_pack){p, false, column, panel, step, steps, b, special});
}

static void pack(tile *t, size_t step, size_t steps) {
  const smma_plan *p = t->l->plan;
  size_t bytes = p->family->column_bytes(&p->operation), panel = t->l->panel;
  memset(t->w->special_rows, 0, sizeof t->w->special_rows);
  p->family->pack_rows(&(smma_pack){p, true, t->row, t->packed_rows, step, steps, t->w->a, t->w->special_rows});
  if (p->kept.b) {
    t->b = p->kept.b + (step * p->kept.columns + steps * t->column) * bytes;
    t->special_columns = p->kept.special + step / t->l->steps * p->kept.columns + t->column;
    return;
  }
  memset(t->w->special_columns, 0, sizeof t->w->special_columns);
  for (size_t j = 0; j < t->packed_columns; j += panel)
    pack_panel(p, t->column + j, panel, step, steps, (unsigned char *)t->w->b + j * steps * bytes,
               t->w->special_columns + j);
  t->b = t->w->b, t->special_columns = t->w->special_columns;
}

static void run_by_core(const tile *t, size_t first, size_t last, bool special_only) {
  smma_core_run r = {t->l->plan,     t->w->accumulator, t->row, t->column,    t->rows, t->columns,
                     t->packed_rows, t->l->panel,       first,  last - first, NULL,    NULL};
  if (special_only) r.special_rows = t->w->special_rows, r.special_columns = t->special_columns;
  smma_run_core(&r, t->w->core);
}

/* The elements that the core must compute, from where they were. */
static void redo_special(const tile *t, size_t first, size_t last) {
  for (size_t i = 0; i < t->rows; i++)
    for (size_t j = 0; j < t->columns; j++)
      if (t->w->special_rows[i] || t->special_columns[j])
        memcpy(row_of(t, t->w->accumulator, i, j), row_of(t, t->w->before, i, j), t->l->element_bytes);
  run_by_core(t, first, last, true);
}

static bool has_special(const tile *t) {
  return memchr(t->w->special_rows, 1, t->rows) || memchr(t->special_columns, 1, t->columns);
}

/* Steps first..last - 1, of those that were packed from `packed` on. */
static void run_steps(const tile *t, size_t packed, size_t packed_steps, size_t first, size_t last) {
  const smma_plan *p = t->l->plan;
  const smma_kernel_family *f = p->family;
  size_t panel_bytes = t->l->panel * packed_steps * f->column_bytes(&p->operation);
  bool special = has_special(t);
  smma_float_state state;
  if (special) memcpy(t->w->before, t->w->accumulator, packed_count(t) * t->l->element_bytes);
  state = smma_float_enter(f->mode);
  for (size_t j = 0; j < t->packed_columns; j += t->l->panel) {
    smma_run r = {p,
                  t->w->a,
                  t->b + j / t->l->panel * panel_bytes,
                  row_of(t, t->w->accumulator, 0, j),
                  t->packed_rows,
                  packed_steps,
                  first - packed,
                  last - packed,
                  t->row,
                  t->column + j,
                  packed};
    f->run(&r);
  }
  smma_float_leave(state);
  if (special) redo_special(t, first, last);
}

static void run_tile(const layout *l, workspace *w, size_t row, size_t column) {
  const smma_plan *p = l->plan;
  tile t = {.l = l, .w = w, .row = row, .column = column};
  t.rows = least(p->with.m - row, l->tile_rows);
  t.columns = least(p->with.n - column, l->tile_columns);
  t.packed_rows = round_up(t.rows, 16);
  t.packed_columns = round_up(t.columns, l->panel);
  begin(&t);
  for (size_t step = 0; step < p->steps; step += l->steps) {
    size_t end = least(step + l->steps, p->steps);
    if (p->family) pack(&t, step, end - step);
    for (size_t first = step, last; first < end; first = last) {
      last = next_boundary(p, first, end);
      if (p->family)
        run_steps(&t, step, end - step, first, last);
      else
        run_by_core(&t, first, last, false);
      if (has_outer_sums(p)) after_step(&t, last - 1);
    }
  }
  finish(&t);
}

/* No more than there are processors. */
static int thread_count(const smma_plan *p) {
  int threads = p->with.threads ? p->with.threads : smma_default_threads();
  return threads > smma_most_threads() ? smma_most_threads() : threads;
}

static bool allocate_all(const layout *l, workspace *w, int threads) {
  for (int i = 0; i < threads; i++)
    if (!allocate(l, &w[i])) return false;
  return true;
}

smma_status smma_plan_compute(const smma_plan *p) {
  const smma_gemm_arguments *g = &p->with;
  int threads = thread_count(p), stopped = 0;
  size_t done = 0, tile_rows, tile_columns, tiles;
  workspace *spaces;
  layout l;
  if (!g->m || !g->n) return SMMA_OK;
  l = layout_of(p, (size_t)threads);
  tile_rows = (g->m + l.tile_rows - 1) / l.tile_rows, tile_columns = (g->n + l.tile_columns - 1) / l.tile_columns;
  tiles = tile_rows * tile_columns;
  if ((size_t)threads > tiles) threads = (int)tiles;
  spaces = calloc((size_t)threads, sizeof *spaces);
  if (!spaces) return SMMA_NO_MEMORY;
  if (!allocate_all(&l, spaces, threads)) {
    for (int i = 0; i < threads; i++) release(&spaces[i]);
    free(spaces);
    return SMMA_NO_MEMORY;
  }
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (size_t i = 0; i < tiles; i++) {
    size_t finished;
    smma_float_state state;
    int stop;
#pragma omp atomic read
    stop = stopped;
    if (stop) continue;
    state = smma_float_enter(SMMA_MODE_NEAREST);
    run_tile(&l, &spaces[smma_this_thread()], i / tile_columns * l.tile_rows, i % tile_columns * l.tile_columns);
    smma_float_leave(state);
#pragma omp atomic capture
    finished = ++done;
    if (!g->progress || smma_this_thread() != 0) continue;
    stop = g->progress(finished * g->m / tiles, g->m, g->progress_context);
#pragma omp atomic write
    stopped = stop;
  }
  for (int i = 0; i < threads; i++) release(&spaces[i]);
  free(spaces);
  return stopped ? SMMA_STOPPED : SMMA_OK;
}

/* ---- Columns of B that a plan keeps ---- */

static size_t parts_of(const smma_plan *p) { return round_up(p->steps, steps_at_once(p)) / steps_at_once(p); }

size_t smma_kept_bytes(const smma_plan *p) {
  if (!p->kept.b) return 0;
  return p->kept.columns * (p->steps * p->family->column_bytes(&p->operation) + parts_of(p));
}

bool smma_plan_keep_columns(smma_plan *p) {
  size_t panel, bytes, at_once = steps_at_once(p), panels;
  smma_packed_columns *kept = &p->kept;
  if (!p->family || !p->with.n || !p->steps) return true; /* nothing to pack */
  panel = p->family->columns, bytes = p->family->column_bytes(&p->operation);
  kept->columns = round_up(p->with.n, panel), panels = kept->columns / panel;
  if (kept->columns > SIZE_MAX / 2 / bytes / p->steps) return false;
  kept->b = smma_aligned_malloc(kept->columns * p->steps * bytes + 64);
  kept->special = calloc(kept->columns, parts_of(p));
  if (!kept->b || !kept->special) return smma_plan_release_columns(p), false;
#pragma omp parallel for num_threads(thread_count(p)) schedule(static) if (thread_count(p) > 1)
  for (size_t i = 0; i < panels * parts_of(p); i++) {
    size_t column = i % panels * panel, part = i / panels, step = part * at_once;
    size_t steps = least(at_once, p->steps - step);
    smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST);
    pack_panel(p, column, panel, step, steps, kept->b + (step * kept->columns + steps * column) * bytes,
               kept->special + part * kept->columns + column);
    smma_float_leave(state);
  }
  return true;
}

void smma_plan_release_columns(smma_plan *p) {
  smma_aligned_free(p->kept.b);
  free(p->kept.special);
  p->kept = (smma_packed_columns){0};
}
