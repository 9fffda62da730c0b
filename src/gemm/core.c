/* The core as a kernel: it computes products for which there is no family, and single results that a family cannot
   compute. */
#include "gemm/element.h"
#include "gemm/kernel.h"
#include "host/count.h"
#include "host/load.h"

enum {
  TILE = 32,  /* the most rows, and the most columns, that are decoded at a time */
  DEPTH = 512 /* the most elements of a row or column that are decoded at a time */
};

/* Decoded rows and columns. In each array all numbers of one row or column are contiguous. */
typedef struct {
  size_t steps;                           /* steps decoded at a time */
  size_t depth, scales;                   /* elements, and scale factors, of a row or column in these steps */
  smma_number *a, *b, *scale_a, *scale_b; /* elements, and scale factors, of the rows of A and the columns of B */
} decoded;

/* Returns the sizes, without arrays. */
static decoded sizes_of(const smma_multiplier *p) {
  const size_t k = (size_t)p->operation.k, steps = smma_least(DEPTH / k, p->steps);
  return (decoded){.steps = steps,
                   .depth = steps * k,
                   .scales = steps * (size_t)smma_scale_count(p->operation.k, p->operation.scale_block)};
}

/* Returns the sizes, with arrays in `space`. */
static decoded decoded_in(const smma_multiplier *p, smma_number *space) {
  decoded s = sizes_of(p);
  s.a = space, s.b = s.a + smma_least(p->with.m, TILE) * s.depth;
  s.scale_a = s.b + smma_least(p->with.n, TILE) * s.depth,
  s.scale_b = s.scale_a + smma_least(p->with.m, TILE) * s.scales;
  return s;
}

size_t smma_core_space(const smma_multiplier *p) {
  const decoded s = sizes_of(p);
  return (smma_least(p->with.m, TILE) + smma_least(p->with.n, TILE)) * (s.depth + s.scales);
}

/* Decodes the run's rows of A (or columns of B) first..first + count - 1, for `steps` steps from `step` on. */
static void decode(const smma_core_run *r, bool of_a, size_t first, size_t count, size_t step, size_t steps,
                   const decoded *s) {
  smma_number *out = of_a ? s->a : s->b, *scales = of_a ? s->scale_a : s->scale_b;
  size_t k = (size_t)r->multiplier->operation.k, origin = of_a ? r->row : r->column;
  for (size_t i = 0; i < count; i++) {
    smma_decode_vector(r->multiplier, of_a, origin + first + i, step * k, steps * k, out + i * s->depth);
    if (r->multiplier->operation.scale_block)
      smma_decode_scales(r->multiplier, of_a, origin + first + i, step * k, steps * k, scales + i * s->scales);
  }
}

static void count_blocks(const smma_multiplier *p, size_t blocks) {
  if (!p->core_blocks) return;
#pragma omp atomic
  *p->core_blocks += blocks;
}

/* Computes `steps` steps of the run's element (i, j), from row x and column y of the decoded ones. */
static void run_element(const smma_core_run *r, const decoded *s, size_t i, size_t j, size_t x, size_t y,
                        size_t steps) {
  const smma_operation *o = &r->multiplier->operation;
  size_t k = (size_t)o->k, scales = (size_t)smma_scale_count(o->k, o->scale_block);
  size_t bytes = smma_bytes_of(r->multiplier->outer);
  size_t at = smma_accumulator_index(r->packed_rows, r->panel, i, j);
  uint64_t d = smma_narrow(r->multiplier, smma_load(bytes, r->accumulator, at));
  for (size_t step = 0; step < steps; step++) {
    smma_operands operands = {s->a + x * s->depth + step * k, s->b + y * s->depth + step * k,
                              s->scale_a + x * s->scales + step * scales, s->scale_b + y * s->scales + step * scales};
    d = smma_dot_add(o, operands, d);
  }
  smma_store(bytes, r->accumulator, at, smma_widen(r->multiplier, d));
  count_blocks(r->multiplier, steps * (size_t)smma_blocks_per_step(o));
}

/* Computes the run's steps for at most TILE x TILE elements, from (row, column) of the run on. */
static void run_part(const smma_core_run *r, const decoded *s, size_t row, size_t column) {
  size_t rows = smma_least(r->rows - row, TILE), columns = smma_least(r->columns - column, TILE);
  for (size_t done = 0; done < r->steps; done += s->steps) {
    size_t steps = smma_least(r->steps - done, s->steps);
    decode(r, true, row, rows, r->step + done, steps, s);
    decode(r, false, column, columns, r->step + done, steps, s);
    for (size_t i = 0; i < rows; i++)
      for (size_t j = 0; j < columns; j++) run_element(r, s, row + i, column + j, i, j, steps);
  }
}

void smma_run_core(const smma_core_run *r, smma_number *space) {
  const decoded s = decoded_in(r->multiplier, space);
  for (size_t row = 0; row < r->rows; row += TILE)
    for (size_t column = 0; column < r->columns; column += TILE) run_part(r, &s, row, column);
}

/* Returns the accumulator, which was d, after one fused block of `o`, or after a step if the rule has no blocks. */
static uint64_t compute_block(const smma_operation *o, smma_operands x, size_t block, uint64_t d) {
  smma_number term[SMMA_MAXIMUM_K + 1];
  if (!smma_is_fused(o)) return smma_dot_add(o, x, d);
  return smma_fused_sum(&o->rule, term, smma_fused_terms(o, x, (int)block, d, term));
}

/* Returns the accumulator of element (row, column) of D after block `block` of the step whose first index k is `at`. It
   was `start` before; both are in the outer format. */
static uint64_t compute_lane(const smma_multiplier *p, size_t row, size_t column, size_t at, size_t block,
                             uint64_t start) {
  const smma_operation *o = &p->operation;
  const size_t k = (size_t)o->k;
  smma_decoded x;
  uint64_t d = smma_narrow(p, start);
  smma_decode_vector(p, true, row, at, k, x.a);
  smma_decode_vector(p, false, column, at, k, x.b);
  if (o->scale_block) {
    smma_decode_scales(p, true, row, at, k, x.scale_a);
    smma_decode_scales(p, false, column, at, k, x.scale_b);
  }
  return smma_widen(p, compute_block(o, smma_operands_of(&x), block, d));
}

/* A request to smma_compute_lanes: lane i computes element (row, column[i]) in the step whose first index is k. */
typedef struct {
  const smma_multiplier *multiplier;
  size_t row, column[SMMA_LANES], lanes; /* lanes: number of lanes */
  size_t k;
} lane_request;

/* Returns the encoding of an element. If special.c adds the effect of infinities and NaN, they count as +0 here. */
static uint32_t code_of(const smma_multiplier *p, bool of_a, size_t line, size_t k) {
  const smma_encoding f = smma_encoding_of(of_a ? p->operation.a : p->operation.b);
  const uint64_t code = smma_code_at(p, of_a, line, k);
  return p->classes && smma_decode(f, code).kind > SMMA_FINITE ? 0 : (uint32_t)code;
}

/* Loads the factors of the step's product `at` in all lanes. */
static void gather(const lane_request *q, size_t at, smma_lanes *x) {
  const uint32_t a = code_of(q->multiplier, true, q->row, q->k + at);
  for (size_t i = 0; i < q->lanes; i++) {
    x->a.code[at][i] = a;
    x->b.code[at][i] = code_of(q->multiplier, false, q->column[i], q->k + at);
  }
}

/* Loads the step's pair of scale factors number `at` in all lanes. */
static void gather_scales(const lane_request *q, size_t at, smma_lanes *x) {
  const size_t first = q->k / (size_t)q->multiplier->operation.scale_block;
  const uint32_t a = (uint32_t)smma_scale_code_at(q->multiplier, true, q->row, first + at);
  for (size_t i = 0; i < q->lanes; i++) {
    x->scale_a.code[at][i] = a;
    x->scale_b.code[at][i] = (uint32_t)smma_scale_code_at(q->multiplier, false, q->column[i], first + at);
  }
}

/* Computes one block for all lanes, with accumulators x->c before and x->d after it in the outer format. The core
   computes the lanes that the lane function leaves to it. */
static void run_lanes(const lane_request *q, size_t block, smma_lanes *x) {
  const smma_operation *o = &q->multiplier->operation;
  const smma_lane_task task = {o, smma_is_fused(o) ? (int)block : SMMA_ALL_BLOCKS, q->multiplier->outer,
                               q->multiplier->outer};
  const int products = smma_is_fused(o) ? smma_block_of(o) : o->k;
  uint32_t left;
  smma_float_state state;
  for (int i = 0; i < products; i++)
    gather(q, (size_t)(smma_is_fused(o) ? smma_product_index(o, (int)block, i) : i), x);
  for (int i = 0; i < smma_scale_count(o->k, o->scale_block); i++) gather_scales(q, (size_t)i, x);
  state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
  left = (q->lanes == 1 ? smma_compute_one_lane : q->multiplier->lanes)(&task, x);
  smma_float_leave(state);
  for (size_t i = 0; left; i++, left >>= 1)
    if (left & 1) x->d[i] = compute_lane(q->multiplier, q->row, q->column[i], q->k, block, x->c[i]);
}

void smma_compute_lanes(const smma_run *r, size_t row, size_t column, size_t block, uint64_t mask, const void *start,
                        void *result) {
  const smma_multiplier *p = r->multiplier;
  const size_t bytes = smma_bytes_of(p->outer);
  const size_t blocks = (size_t)smma_blocks_per_step(&p->operation), k = (size_t)p->operation.k;
  lane_request q = {.multiplier = p, .row = r->row + row, .k = (r->step + block / blocks) * k};
  size_t lane[SMMA_LANES];
  smma_lanes x;
  if (q.row >= p->with.m) return;
  for (size_t i = 0; mask; i++, mask >>= 1)
    if (mask & 1 && r->column + column + i < p->with.n) lane[q.lanes++] = i;
  count_blocks(p, q.lanes);
  if (q.lanes == 0) return;
  const size_t count = q.lanes;
  if (count > 1) q.lanes = SMMA_LANES; /* surplus lanes repeat the last element */
  for (size_t i = 0; i < q.lanes; i++) {
    if (i >= count) lane[i] = lane[count - 1];
    q.column[i] = r->column + column + lane[i];
    x.c[i] = smma_load(bytes, start, lane[i]);
  }
  if (p->lanes)
    run_lanes(&q, block % blocks, &x);
  else
    for (size_t i = 0; i < count; i++) x.d[i] = compute_lane(p, q.row, q.column[i], q.k, block % blocks, x.c[i]);
  for (size_t i = 0; i < count; i++) smma_store(bytes, result, lane[i], x.d[i]);
}
