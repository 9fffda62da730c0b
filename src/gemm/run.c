/* Computes D tile by tile, with tiles distributed to threads. For one range of K after the other, packs the operands
   and runs a kernel or the core on them. Between ranges, does the schedule's tasks. */
#include <stdlib.h>
#include <string.h>

#include "gemm/arrange.h"
#include "gemm/device/device.h"
#include "gemm/fold.h"
#include "gemm/gather.h"
#include "gemm/row.h"
#include "gemm/special.h"
#include "host/count.h"
#include "host/load.h"
#include "host/memory.h"
#include "host/thread.h"

/* Number of rows copied into one contiguous panel. */
enum { ROW_PANEL = 16 };

enum {
  /* With at most this many rows of D, packed columns are used only a few times, so that reading B from memory decides
     the speed. */
  FEW_ROWS = 64,
  /* Indices k packed at a time if D has few rows and elements of B with the same k are contiguous: a cache holds few
     lines whose addresses differ by a power of two. */
  FLAT_DEPTH = 32
};

enum {
  /* A matrix product is small if it has at most this many products of elements (M N K). One thread computes it. */
  SMALL_PRODUCTS = 1 << 16,
  /* The working memory of a small product is on the stack if it has at most this many bytes. */
  SMALL_BYTES = 48 << 10
};

/* Kernels may read this many bytes past the end of an operand (padding). */
enum { PADDING_BYTES = 64 };

/* The families for small products compute a matrix product that has at most TINY_PRODUCTS products of elements (M N K),
   or at most TINY_OUTPUTS elements of D. */
enum { TINY_PRODUCTS = 1 << 12, TINY_OUTPUTS = 16 };

/* Sections of a thread's working memory: see the members of workspace. */
enum { ACCUMULATORS, REGISTERS, PACKED_ROWS, PACKED_COLUMNS, GATHERED, OF_CORE, OF_SPECIAL, PARTS };

/* The division of the work, the same for all threads. */
typedef struct {
  const smma_multiplier *multiplier;
  size_t tile_rows, tile_columns; /* size of a full tile; multiples of 16 and of the panel */
  size_t panel;                   /* columns of a panel */
  size_t steps;                   /* steps packed at a time */
  size_t element_bytes;           /* bytes of an accumulator */
  size_t sums;                    /* bytes of one tile of accumulators */
  size_t part_bytes[PARTS];       /* bytes of each section of a thread's working memory */
  size_t bytes;                   /* bytes of all sections, a multiple of SMMA_ALIGNMENT */
} layout;

/* A thread's working memory. The pointers are to sections of one allocation. */
typedef struct {
  unsigned char *gathered;    /* copies of lines in interleaved panels: see is_gathered */
  unsigned char *a, *b;       /* packed rows of the tile, and packed columns of one panel */
  unsigned char *accumulator; /* accumulators of one tile */
  unsigned char *registers;   /* sums of one tile for each register of the schedule */
  smma_number *core;          /* decoded numbers for the core */
  float *special;             /* working memory of special.c, if the multiplier multiplies classes */
  /* Flags of rows and columns with infinite or NaN operands. */
  unsigned char special_rows[SMMA_TILE_ROWS], special_columns[SMMA_TILE_COLUMNS];
} workspace;

/* A tile of D and the state of its computation along K. */
typedef struct {
  const layout *l;
  workspace *w;
  size_t row, column, rows, columns;  /* position and size in D, inside the matrix */
  size_t packed_rows, packed_columns; /* the size rounded up to whole groups of rows and whole panels */
  size_t task;                        /* index of the next task of the schedule */
  smma_special special;
} tile;

static size_t round_up(size_t x, size_t unit) { return (x + unit - 1) / unit * unit; }

/* Reports whether lines are copied into interleaved panels before the family packs them. Only lines that are contiguous
   along K in the caller's matrix are copied. If the family's packing only reorders elements, it reads these lines
   directly, too, unless encodings have fewer than 4 bytes. */
static bool is_gathered(const smma_multiplier *p, const smma_view *x) {
  if (!p->family || p->family->takes_lines || x->panel != SIZE_MAX || !smma_is_along_k(x)) return false;
  return !p->family->interleaves || smma_bytes_of(x->format) < 4;
}

static size_t gathered_bytes(const smma_multiplier *p, const smma_view *x, size_t lines, size_t count) {
  if (!is_gathered(p, x)) return 0;
  return lines * smma_gathered_depth(count) * smma_bytes_of(x->format);
}

/* Packing a line of A or B takes about as long as computing this many elements of D along the same K. */
enum { PACKING = 32 };

/* Returns the lines of each of `parts` parts of `count` lines: a multiple of `unit`. */
static size_t lines_of(size_t count, size_t parts, size_t unit) { return round_up((count + parts - 1) / parts, unit); }

/* Sets the size of tiles, at most `rows` x `columns`, so that the threads take the shortest time for D. All tiles are
   about equal, because one of another size would make threads wait. */
static void choose_tiles(layout *l, const smma_gemm_arguments *g, size_t rows, size_t columns, size_t threads) {
  const size_t down = (g->m + rows - 1) / rows, across = (g->n + columns - 1) / columns;
  double least = 0;
  for (size_t parts = down; parts < down + threads; parts++)
    for (size_t more = 0; more < 2; more++) {
      /* As many parts across as fit in `rounds` tiles of each thread. */
      const size_t rounds = (parts * across + threads - 1) / threads + more;
      const size_t tile_rows = lines_of(g->m, parts, 16),
                   tile_columns = lines_of(g->n, rounds * threads / parts, l->panel);
      const double time = (double)rounds * ((double)tile_rows * (double)tile_columns +
                                            PACKING * ((double)tile_rows + (double)tile_columns));
      if (least != 0 && time >= least) continue;
      least = time, l->tile_rows = tile_rows, l->tile_columns = tile_columns;
    }
}

static layout layout_of(const smma_multiplier *p, size_t threads) {
  const smma_kernel_family *f = p->family;
  const bool flat = p->with.m <= FEW_ROWS && !p->kept && !smma_is_along_k(&p->b);
  const size_t k = (size_t)p->operation.k;
  const size_t steps = !flat ? smma_steps_at_once(p) : FLAT_DEPTH > k ? FLAT_DEPTH / k : 1;
  layout l = {.multiplier = p, .panel = f ? f->columns : 16, .steps = smma_least(p->steps, steps)};
  choose_tiles(&l, &p->with, f ? SMMA_TILE_ROWS : 64, f ? SMMA_TILE_COLUMNS : 64, threads);
  l.element_bytes = smma_bytes_of(p->outer);
  l.sums = l.tile_rows * l.tile_columns * l.element_bytes;
  l.part_bytes[ACCUMULATORS] = l.sums;
  l.part_bytes[REGISTERS] = p->schedule.registers * l.sums;
  l.part_bytes[PACKED_ROWS] = f ? l.tile_rows * l.steps * f->row_bytes(&p->operation) + PADDING_BYTES : 0;
  l.part_bytes[PACKED_COLUMNS] = f ? l.panel * l.steps * f->column_bytes(&p->operation) + PADDING_BYTES : 0;
  l.part_bytes[GATHERED] =
      gathered_bytes(p, &p->a, l.tile_rows, l.steps * k) + gathered_bytes(p, &p->b, l.panel, l.steps * k);
  if (l.part_bytes[GATHERED]) l.part_bytes[GATHERED] += PADDING_BYTES;
  l.part_bytes[OF_CORE] = smma_core_space(p) * sizeof(smma_number);
  l.part_bytes[OF_SPECIAL] = smma_special_space(p, l.tile_rows, l.tile_columns) * sizeof(float);
  for (size_t i = 0; i < PARTS; i++) {
    l.part_bytes[i] = round_up(l.part_bytes[i], SMMA_ALIGNMENT);
    l.bytes += l.part_bytes[i];
  }
  return l;
}

/* Returns the workspace whose sections are in `memory`, which is aligned and has l->bytes bytes. */
static workspace lay_out(const layout *l, unsigned char *memory) {
  unsigned char *part[PARTS];
  for (size_t i = 0; i < PARTS; i++) {
    part[i] = l->part_bytes[i] ? memory : NULL;
    memory += l->part_bytes[i];
  }
  return (workspace){.gathered = part[GATHERED],
                     .a = part[PACKED_ROWS],
                     .b = part[PACKED_COLUMNS],
                     .accumulator = part[ACCUMULATORS],
                     .registers = part[REGISTERS],
                     .core = (smma_number *)part[OF_CORE],
                     .special = (float *)part[OF_SPECIAL]};
}

/* Returns the part of `sums`, a tile, that holds row i of the panel whose first column is j. */
static unsigned char *row_of(const tile *t, unsigned char *sums, size_t i, size_t j) {
  return sums + (j * t->packed_rows + i * t->l->panel) * t->l->element_bytes;
}

/* Processes `count` consecutive elements of row i of C or D, from column j on, together with their accumulators
   `sums`. */
typedef void row_action(const smma_multiplier *multiplier, size_t i, size_t j, size_t count, void *sums);

/* Applies an action to each row of each panel of the tile, in the memory order of C or D. */
static void for_rows(const tile *t, smma_order order, row_action *act, unsigned char *sums) {
  const size_t panel = t->l->panel, inner = order == SMMA_ROW_MAJOR ? 1 : t->rows, rows = t->rows / inner;
  for (size_t row = 0; row < rows; row++)
    for (size_t j = 0; j < t->columns; j += panel)
      for (size_t i = row; i < row + inner; i++)
        act(t->l->multiplier, t->row + i, t->column + j, smma_least(panel, t->columns - j), row_of(t, sums, i, j));
}

static size_t packed_count(const tile *t) { return t->packed_rows * t->packed_columns; }

/* Returns the tile of sums at a place of the schedule: SMMA_IN_ACCUMULATOR or the number of a register. */
static unsigned char *place_of(const tile *t, int place) {
  return place == SMMA_IN_ACCUMULATOR ? t->w->accumulator : t->w->registers + (size_t)place * t->l->sums;
}

static void begin(tile *t) {
  const smma_multiplier *p = t->l->multiplier;
  unsigned char *start = place_of(t, p->schedule.start);
  memset(t->w->accumulator, 0, packed_count(t) * t->l->element_bytes);
  if (p->schedule.registers) memset(t->w->registers, 0, p->schedule.registers * t->l->sums);
  if (smma_starts_from_c(p)) for_rows(t, p->with.order_c, smma_start_row, start);
  if (!p->classes) return;
  t->special = (smma_special){.multiplier = p,
                              .row = t->row,
                              .column = t->column,
                              .rows = t->rows,
                              .columns = t->columns,
                              .accumulator = (float *)t->w->accumulator,
                              .packed_rows = t->packed_rows,
                              .panel = t->l->panel,
                              .space = t->w->special,
                              .core = t->w->core,
                              .from_c = start == t->w->accumulator};
  if (p->with.c) smma_special_take(&t->special);
}

static void finish(tile *t) {
  const smma_multiplier *p = t->l->multiplier;
  if (p->classes) smma_special_settle(&t->special, p->steps);
  for_rows(t, p->with.order_d, smma_finish_row, place_of(t, p->schedule.result));
}

/* Does the schedule's tasks that follow the first `steps` steps. They move or add results of chains from the
   accumulators to registers, and sums from register to register. Accumulators whose results were taken become 0. */
static void do_tasks(tile *t, size_t steps) {
  const smma_multiplier *p = t->l->multiplier;
  const smma_schedule *s = &p->schedule;
  if (t->task == s->tasks || s->task[t->task].step != steps) return;
  if (p->classes && steps) smma_special_settle(&t->special, steps);
  for (; t->task < s->tasks && s->task[t->task].step == steps; t->task++) {
    const smma_task *task = &s->task[t->task];
    const smma_fold_tile fold = {
        place_of(t, task->to), place_of(t, task->from), t->row,     t->column, t->rows, t->columns,
        t->packed_rows,        t->packed_columns,       t->l->panel};
    smma_fold_sums(p, task, &fold);
    if (task->from == SMMA_IN_ACCUMULATOR && task->kind != SMMA_TASK_CLEAR)
      memset(t->w->accumulator, 0, packed_count(t) * t->l->element_bytes);
  }
}

/* Returns the number of steps after which the next task must be done; at most `last`. */
static size_t next_boundary(const tile *t, size_t last) {
  const smma_schedule *s = &t->l->multiplier->schedule;
  return t->task < s->tasks ? smma_least(s->task[t->task].step, last) : last;
}

static void pack_rows(tile *t, size_t step, size_t steps) {
  const smma_multiplier *p = t->l->multiplier;
  const size_t k = (size_t)p->operation.k;
  smma_view view = p->a;
  if (is_gathered(p, &p->a))
    view = smma_gather(&p->a, t->row, t->packed_rows, ROW_PANEL, step * k, steps * k, t->w->gathered);
  memset(t->w->special_rows, 0, t->packed_rows);
  p->family->pack_rows(&(smma_pack){p, &view, true, t->row, t->packed_rows, step, steps, t->w->a, t->w->special_rows});
}

/* Packs the panel whose first column is the tile's column j, unless the family reads columns without packing. Returns a
   view of the panel before packing: its gathered copy if there is one, otherwise B. */
static smma_view pack_panel(tile *t, size_t j, size_t step, size_t steps) {
  const smma_multiplier *p = t->l->multiplier;
  const size_t k = (size_t)p->operation.k, panel = t->l->panel, first = t->column + j;
  unsigned char *special = t->w->special_columns + j;
  smma_view view = p->b;
  if (is_gathered(p, &p->b)) view = smma_gather(&p->b, first, panel, panel, step * k, steps * k, t->w->gathered);
  memset(special, 0, panel);
  if (p->family->pack_columns)
    p->family->pack_columns(&(smma_pack){p, &view, false, first, panel, step, steps, t->w->b, special});
  return view;
}

static void run_by_core(const tile *t, size_t step, size_t steps) {
  smma_run_core(&(smma_core_run){t->l->multiplier, t->w->accumulator, t->row, t->column, t->rows, t->columns,
                                 t->packed_rows, t->l->panel, step, steps},
                t->w->core);
}

static bool has_special(const tile *t) {
  return memchr(t->w->special_rows, 1, t->rows) || memchr(t->w->special_columns, 1, t->columns);
}

/* Computes `steps` steps from `step` on: packs the rows, then packs and computes one panel of columns after the other.
   At the end special.c adds the products of infinite and NaN operands. */
static void run_family(tile *t, size_t step, size_t steps) {
  const smma_multiplier *p = t->l->multiplier;
  const smma_kernel_family *f = p->family;
  pack_rows(t, step, steps);
  for (size_t j = 0; j < t->packed_columns; j += t->l->panel) {
    unsigned char *sums = row_of(t, t->w->accumulator, 0, j);
    const smma_view view = pack_panel(t, j, step, steps);
    const smma_float_state state = smma_float_enter(f->mode);
    f->run(&(smma_run){p, t->w->a, t->w->b, sums, t->rows, t->packed_rows, steps, 0, steps, t->row, t->column + j, step,
                       &view, t->w->special_columns + j});
    smma_float_leave(state);
  }
  if (has_special(t)) smma_special_add(&t->special, step, steps, t->w->special_rows, t->w->special_columns);
}

static void run_tile(const layout *l, workspace *w, size_t row, size_t column) {
  const smma_multiplier *p = l->multiplier;
  tile t = {.l = l, .w = w, .row = row, .column = column};
  t.rows = smma_least(p->with.m - row, l->tile_rows);
  t.columns = smma_least(p->with.n - column, l->tile_columns);
  t.packed_rows = round_up(t.rows, 16);
  t.packed_columns = round_up(t.columns, l->panel);
  begin(&t);
  do_tasks(&t, 0);
  for (size_t step = 0, end; step < p->steps; step = end) {
    end = next_boundary(&t, smma_least(step + l->steps, p->steps));
    if (p->family)
      run_family(&t, step, end - step);
    else
      run_by_core(&t, step, end - step);
    do_tasks(&t, end);
  }
  finish(&t);
}

/* Tiles of D, distributed to threads. */
typedef struct {
  const smma_multiplier *multiplier;
  size_t report; /* M of the caller's product: progress is reported in rows, also of a turned product */
  layout l;
  size_t tile_columns, tiles; /* number of tiles in one row of tiles, and of all tiles */
  size_t done;                /* number of tiles computed so far */
  int stopped;                /* 1 after a progress function asked to stop */
} job;

static void do_tile(job *j, workspace *w, size_t i, bool reports) {
  const smma_gemm_arguments *g = &j->multiplier->with;
  const smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
  size_t finished;
  run_tile(&j->l, w, i / j->tile_columns * j->l.tile_rows, i % j->tile_columns * j->l.tile_columns);
  smma_float_leave(state);
#pragma omp atomic capture
  finished = ++j->done;
  if (!g->progress || !reports) return;
  if (g->progress(finished * j->report / j->tiles, j->report, g->progress_context)) {
#pragma omp atomic write
    j->stopped = 1;
  }
}

static smma_status do_tiles(job *j, int threads) {
  const size_t bytes = j->l.bytes;
  unsigned char *memory = smma_aligned_malloc(bytes * (size_t)threads);
  if (!memory) return SMMA_NO_MEMORY;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    workspace w = lay_out(&j->l, memory + bytes * (size_t)smma_this_thread());
#pragma omp for schedule(static)
    for (size_t i = 0; i < j->tiles; i++) {
      int stop;
#pragma omp atomic read
      stop = j->stopped;
      if (!stop) do_tile(j, &w, i, smma_this_thread() == 0);
    }
  }
  smma_aligned_free(memory);
  return SMMA_OK;
}

/* Computes a small product in this thread, with working memory on the stack: allocating memory and starting threads
   would take longer than the product. */
static void do_at_once(job *j) {
  _Alignas(SMMA_ALIGNMENT) unsigned char memory[SMALL_BYTES];
  workspace w = lay_out(&j->l, memory);
  for (size_t i = 0; i < j->tiles && !j->stopped; i++) do_tile(j, &w, i, true);
}

/* Reports whether B^T A^T has fewer elements to compute than A B, counting whole panels, and gives the same bits. */
static bool is_better_turned(const smma_multiplier *p) {
  const smma_gemm_arguments *g = &p->with;
  if (!p->family || p->kept || !smma_can_turn(p)) return false;
  return (double)g->n * (double)round_up(g->m, p->family->columns) <
         (double)g->m * (double)round_up(g->n, p->family->columns);
}

/* Reports whether a product is so small that the usual family would spend most of the time packing. */
static bool is_tiny(const smma_multiplier *p) {
  const smma_gemm_arguments *g = &p->with;
  const double outputs = (double)g->m * (double)g->n;
  return p->small && !p->kept && (outputs <= TINY_OUTPUTS || outputs * (double)g->k <= TINY_PRODUCTS);
}

static smma_status compute(const smma_multiplier *multiplier) {
  const smma_gemm_arguments *g = &multiplier->with;
  const bool small = (double)g->m * (double)g->n * (double)g->k <= SMALL_PRODUCTS;
  const int threads = small ? 1 : smma_threads(g->threads);
  smma_multiplier own = *multiplier;
  job j = {.multiplier = &own, .report = g->m};
  size_t rows;
  if (!g->m || !g->n) return SMMA_OK;
  if (multiplier->device) return smma_compute_on_device(multiplier);
  if (is_tiny(multiplier)) own.family = own.small, own.few = NULL;
  if (is_better_turned(&own)) smma_turn_product(&own);
  if (own.few && own.with.m <= SMMA_FEW_ROWS) own.family = own.few;
  g = &own.with;
  j.l = layout_of(j.multiplier, (size_t)threads);
  rows = (g->m + j.l.tile_rows - 1) / j.l.tile_rows;
  j.tile_columns = (g->n + j.l.tile_columns - 1) / j.l.tile_columns, j.tiles = rows * j.tile_columns;
  if (small && j.l.bytes <= SMALL_BYTES) {
    do_at_once(&j);
  } else {
    const smma_status status = do_tiles(&j, j.tiles < (size_t)threads ? (int)j.tiles : threads);
    if (status != SMMA_OK) return status;
  }
  return j.stopped ? SMMA_STOPPED : SMMA_OK;
}

static smma_status arrange_and_compute(const smma_multiplier *multiplier) {
  smma_multiplier arranged = *multiplier;
  smma_status status = SMMA_NO_MEMORY;
  void *a, *b = NULL;
  a = smma_arrange(&multiplier->schedule, &arranged.a);
  if (!multiplier->kept) b = smma_arrange(&multiplier->schedule, &arranged.b);
  if (a && (b || multiplier->kept)) status = compute(&arranged);
  free(a), free(b);
  return status;
}

smma_status smma_multiplier_compute(const smma_multiplier *multiplier) {
  const smma_gemm_arguments *g = &multiplier->with;
  if (multiplier->schedule.in_order || g->on_device || !g->m || !g->n) return compute(multiplier);
  return arrange_and_compute(multiplier);
}

/* ---- Copies of B's columns in a multiplier ---- */

/* Returns the number of columns per panel of the copy. */
static size_t kept_panel(const smma_multiplier *p) { return p->family ? p->family->columns : 1; }

size_t smma_kept_bytes(const smma_multiplier *p) {
  return round_up(p->with.n, kept_panel(p)) * smma_gathered_depth(p->b.count) * smma_bytes_of(p->operation.b);
}

/* Copies B's columns, in the order of the multiplier's view of B, into panels, and changes the view to the copy.
   Returns false if there is no memory. */
static bool keep_columns(smma_multiplier *p) {
  const size_t panel = kept_panel(p), panels = round_up(p->with.n, panel) / panel;
  const size_t bytes = smma_kept_bytes(p) / (panels ? panels : 1);
  const int threads =
      panels * bytes < 1 << 20 ? 1 : smma_threads(p->with.threads); /* below 1 MiB, waking threads would take longer */
  p->kept = smma_aligned_malloc(panels * bytes);
  if (!p->kept) return false;
  (void)threads; /* unused without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (size_t i = 0; i < panels; i++) smma_gather(&p->b, i * panel, panel, panel, 0, p->b.count, p->kept + i * bytes);
  p->b = smma_gather(&p->b, 0, 0, panel, 0, p->b.count, p->kept);
  return true;
}

bool smma_multiplier_keep_columns(smma_multiplier *p) {
  void *arranged;
  bool kept;
  if (p->schedule.in_order) return keep_columns(p);
  arranged = smma_arrange(&p->schedule, &p->b);
  kept = arranged && keep_columns(p);
  free(arranged);
  return kept;
}

void smma_multiplier_release_columns(smma_multiplier *p) {
  smma_aligned_free(p->kept);
  p->kept = NULL;
}
