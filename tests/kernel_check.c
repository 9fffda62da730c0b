#include "kernel_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_gemm.h"
#include "gemm/kernel.h"
#include "host/load.h"
#include "isa/catalogue.h"
#include "kernel_operands.h"
#include "random.h"

enum { UNTOUCHED = 0xa5 }; /* fills the gaps between and after the elements of D */
enum { MOST_REPEATS = 8 }; /* products of one operation in a round */

/* Added to the seed of an aimed product; the seeds of other products determine their theme. */
static const uint64_t aimed_seeds = UINT64_C(1) << 62;

/* ---- Operations and families ---- */

size_t kernel_operations(const smma_instruction *list[MOST_OPERATIONS]) {
  size_t count = 0;
  for (size_t i = 0; i < smma_catalogue_count() && count < MOST_OPERATIONS; i++) {
    const smma_instruction *x = smma_catalogue_at(i);
    size_t same = 0;
    while (same < count && !smma_same_operation(list[same], x)) same++;
    if (same == count) list[count++] = x;
  }
  return count;
}

const char *kernel_family_name(const smma_instruction *i) {
  const smma_rule *rule = &i->rule->rule;
  if (rule->algorithm == SMMA_T_FDPA && rule->with.t_fdpa.alignment_bits < 23) return "T-FDPA F=13";
  if (rule->algorithm == SMMA_T_FDPA && i->d == SMMA_F16) return "T-FDPA f16";
  if (rule->algorithm == SMMA_FMA)
    return i->d == SMMA_F64 ? "FMA f64" : i->d == SMMA_F32 ? "FMA f32" : "FMA of 16 bits";
  if (rule->algorithm == SMMA_COMPOSITION && !smma_has_whole_products(&rule->with.composition))
    return "composition of slices";
  if (rule->algorithm == SMMA_COMPOSITION && rule->with.composition.step[0].term.bits != SMMA_EXACT_ALIGNMENT)
    return i->scale_block ? "composition, scaled" : "composition, aligned";
  return smma_model_name(rule);
}

size_t kernel_names(const char *wanted, const char *names[MOST_KERNELS]) {
  const char *name;
  size_t count = 0;
  for (size_t i = 0; (name = smma_kernel_name(i)); i++)
    if (!wanted || strcmp(wanted, name) == 0) names[count++] = name;
  if (count == 0) names[count++] = wanted;
  return count;
}

/* ---- A product ---- */

typedef struct {
  const smma_instruction *instruction;
  smma_operation o;
  uint64_t seed;
  unsigned theme;
  smma_gemm_arguments with; /* except pointers into the memory below */
  enum { C_GIVEN, C_ABSENT, C_IN_PLACE_OF_D, C_CANCELS } of_c;
  kernel_operands x;
  size_t odd; /* offset of arrays from the start of their memory */
  unsigned char *a, *b, *c, *scale_a, *scale_b, *before, *expected, *got;
  size_t d_bytes; /* size of each of the last three, which hold D */
} product;

static size_t bytes_of(smma_format format) { return smma_container_bytes(smma_encoding_of(format)); }

static size_t index_of(smma_order order, size_t leading, size_t i, size_t j) {
  return order == SMMA_ROW_MAJOR ? i * leading + j : i + j * leading;
}

/* Layout of a matrix in memory. */
typedef struct {
  size_t rows, columns;
  smma_order order;
  size_t leading;
} layout;

static size_t extent(layout l) {
  size_t leading = l.leading ? l.leading : l.order == SMMA_ROW_MAJOR ? l.columns : l.rows;
  return index_of(l.order, leading, l.rows - 1, l.columns - 1) + 1;
}

/* Returns a copy of the matrix whose element (i, j) is x[i * of_row + j * of_column], in exactly the memory that it
   needs, so that a sanitizer notices a read past its end. Returns NULL if memory runs out. */
static unsigned char *place(const product *p, smma_format format, layout l, const uint64_t *x, size_t of_row,
                            size_t of_column) {
  size_t bytes = bytes_of(format), leading = l.leading ? l.leading : l.order == SMMA_ROW_MAJOR ? l.columns : l.rows;
  unsigned char *memory = malloc(p->odd + extent(l) * bytes);
  uint64_t above = ~smma_low_bits(~UINT64_C(0), smma_encoding_of(format).bits); /* ignored bits of a container */
  if (!memory) return NULL;
  memset(memory, UNTOUCHED, p->odd + extent(l) * bytes);
  for (size_t i = 0; i < l.rows; i++)
    for (size_t j = 0; j < l.columns; j++)
      smma_store(bytes, memory + p->odd, index_of(l.order, leading, i, j),
                 x[i * of_row + j * of_column] | (p->seed & 1 ? above : 0));
  return memory;
}

static layout layout_of_c(const product *p) { return (layout){p->with.m, p->with.n, p->with.order_c, p->with.ldc}; }

static layout layout_of_d(const product *p) { return (layout){p->with.m, p->with.n, p->with.order_d, p->with.ldd}; }

static bool place_operands(product *p) {
  const smma_gemm_arguments *g = &p->with;
  const kernel_operands *x = &p->x;
  p->a = place(p, p->o.a, (layout){g->m, g->k, g->order_a, g->lda}, x->a, g->k, 1);
  p->b = place(p, p->o.b, (layout){g->k, g->n, g->order_b, g->ldb}, x->b, 1, g->k);
  if (x->scales) {
    layout of_a = {g->m, x->scales, SMMA_ROW_MAJOR, 0}, of_b = {g->n, x->scales, SMMA_ROW_MAJOR, 0};
    p->scale_a = place(p, p->o.scale, of_a, x->scale_a, x->scales, 1);
    p->scale_b = place(p, p->o.scale, of_b, x->scale_b, x->scales, 1);
    if (!p->scale_a || !p->scale_b) return false;
  }
  return p->a && p->b;
}

/* Allocates C, and three blocks for D with three extra elements at the end. */
static bool place_results(product *p) {
  size_t bytes = p->odd + (extent(layout_of_d(p)) + 3) * bytes_of(p->o.d);
  p->c = place(p, p->o.c, layout_of_c(p), p->x.c, p->with.n, 1);
  p->before = malloc(bytes), p->expected = malloc(bytes), p->got = malloc(bytes);
  p->d_bytes = bytes;
  if (!p->c || !p->before || !p->expected || !p->got) return false;
  memset(p->before, UNTOUCHED, bytes);
  if (p->of_c == C_IN_PLACE_OF_D) memcpy(p->before, p->c, bytes - 3 * bytes_of(p->o.d));
  return true;
}

static void end_product(product *p) {
  free(p->a), free(p->b), free(p->c), free(p->scale_a), free(p->scale_b);
  free(p->before), free(p->expected), free(p->got);
  kernel_operands_free(&p->x);
}

static smma_gemm_arguments arguments_of(const product *p, const char *kernel, int threads) {
  smma_gemm_arguments g = p->with;
  g.a = p->a + p->odd, g.b = p->b + p->odd;
  if (p->x.scales) g.scale_a = p->scale_a + p->odd, g.scale_b = p->scale_b + p->odd;
  g.kernel = kernel, g.threads = threads;
  return g;
}

/* Computes the product with a multiplier. */
static smma_status multiply_kept(const product *p, const smma_gemm_arguments *g) {
  smma_multiplier *multiplier;
  smma_status status = smma_multiplier_create(p->instruction, g, &multiplier);
  if (status == SMMA_OK) status = smma_multiplier_run(multiplier, g->m, g->a, g->scale_a, g->c, g->d);
  smma_multiplier_free(multiplier);
  return status;
}

/* Computes the product with `kernel` and writes D to `memory`. If `kept`, uses a multiplier that holds B; kernels for
   small products do not support multipliers. */
static smma_status compute(const product *p, const char *kernel, int threads, bool kept, unsigned char *memory) {
  smma_gemm_arguments g = arguments_of(p, kernel, threads);
  memcpy(memory, p->before, p->d_bytes);
  g.d = memory + p->odd;
  if (p->of_c != C_ABSENT) g.c = p->of_c == C_IN_PLACE_OF_D ? memory + p->odd : p->c + p->odd;
  if (has_addresses(kernel)) return gemm_on_device(p->instruction, &g);
  return kept ? multiply_kept(p, &g) : smma_gemm(p->instruction, &g);
}

/* ---- Random products ---- */

static size_t random_size(uint64_t *g) {
  switch (random_below(g, 32)) {
    case 0: return 1;
    case 1: return 64 + random_below(g, 86);
    case 2: return 127 + random_below(g, 3);
    case 3:
    case 4: return 63 + random_below(g, 3);
    case 5:
    case 6: return 31 + random_below(g, 3);
    case 7:
    case 8: return 15 + random_below(g, 3);
    default: return 1 + random_below(g, 32);
  }
}

/* Draws a K. Mostly it is one step; sometimes it has so many steps that kernels process several steps at once. */
static size_t random_depth(uint64_t *g, size_t k) {
  switch (random_below(g, 12)) {
    case 0: return k + 1;
    case 1: return 2 * k;
    case 2: return 3 * k - 1;
    case 3: return 1 + random_below(g, 4 * (unsigned)k);
    case 4: return k * (1 + random_below(g, 10));
    case 5: return 1 + random_below(g, 160);
    default: return k;
  }
}

/* Draws M, N and K. Sometimes they exceed the rows or columns of a tile, or the K that is packed at a time. Sometimes M
   and N are so small that the kernels for small products are used, with any K. */
static void random_sizes(uint64_t *g, smma_gemm_arguments *with, size_t k) {
  with->m = random_size(g), with->n = random_size(g), with->k = random_depth(g, k);
  switch (random_below(g, 100)) {
    case 0: with->m = 512 + random_below(g, 40), with->n = 1 + random_below(g, 20); break;
    case 1: with->m = 1 + random_below(g, 8), with->n = 1024 + random_below(g, 140); break;
    case 3:
    case 4:
    case 5:
    case 11:
    case 12:
    case 13:
    case 14: with->m = 1 + random_below(g, 9), with->n = 1 + random_below(g, 200); break;
    case 6:
    case 7: with->m = 1 + random_below(g, 200), with->n = 1 + random_below(g, 9); break;
    case 2:
      with->m = 1 + random_below(g, 20), with->n = 1 + random_below(g, 20);
      with->k = 250 + random_below(g, 300);
      break;
    case 8:
    case 9:
      with->m = 1 + random_below(g, 20), with->n = 1 + random_below(g, 20);
      with->k = 1 + random_below(g, 70);
      break;
    case 10:
      with->m = 1 + random_below(g, 5), with->n = 1 + random_below(g, 5), with->k = 1 + random_below(g, 700);
      break;
    default: break;
  }
}

/* Draws sizes. Mostly there are many rows and few columns, or many columns and few rows. Each of the many rows or
   columns has its own distance between anchor and term. */
static void aimed_sizes(uint64_t *g, smma_gemm_arguments *with) {
  if (random_below(g, 32) == 0) return;
  with->m = 1 + random_below(g, 4), with->n = 1 + random_below(g, 4);
  if (random_below(g, 3))
    with->m += 8 + random_below(g, 32);
  else
    with->n += 8 + random_below(g, 16);
}

static void random_layout(uint64_t *g, size_t rows, size_t columns, smma_order *order, size_t *leading) {
  *order = random_below(g, 2) ? SMMA_COLUMN_MAJOR : SMMA_ROW_MAJOR;
  *leading = 0;
  if (random_below(g, 3) == 0) *leading = (*order == SMMA_ROW_MAJOR ? columns : rows) + random_below(g, 4);
}

static void random_options(uint64_t *g, smma_gemm_arguments *with, size_t k) {
  static const double factors[] = {1, 1, 0.5, -1, 0, 0x1.8p-1, -0x1.c8p-3};
  random_layout(g, with->m, with->k, &with->order_a, &with->lda);
  random_layout(g, with->k, with->n, &with->order_b, &with->ldb);
  random_layout(g, with->m, with->n, &with->order_c, &with->ldc);
  random_layout(g, with->m, with->n, &with->order_d, &with->ldd);
  if (random_below(g, 8) == 0) with->alpha = factors[random_below(g, 7)], with->beta = factors[random_below(g, 7)];
  with->scaling = random_below(g, 12) == 0 ? SMMA_SCALING_EPILOGUE : SMMA_SCALING_OPERANDS;
  if (random_below(g, 8) == 0) with->split_k = 2 + random_below(g, 3);
  if (random_below(g, 8) == 0) with->promote_every = k * (1 + random_below(g, 3));
}

static void random_c(uint64_t *g, product *p) {
  switch (random_below(g, 16)) {
    case 0: p->of_c = C_ABSENT; break;
    case 1: p->of_c = p->o.c == p->o.d ? C_IN_PLACE_OF_D : C_GIVEN; break;
    case 2:
    case 3: p->of_c = C_CANCELS; break;
    default: p->of_c = C_GIVEN; break;
  }
  if (p->of_c == C_IN_PLACE_OF_D) p->with.order_c = p->with.order_d, p->with.ldc = p->with.ldd;
}

/* Sets C to minus the sum of the products, half of the time changed by a few of its last bits. */
static bool cancel_sum(uint64_t *g, product *p) {
  smma_encoding c = smma_encoding_of(p->o.c), d = smma_encoding_of(p->o.d);
  smma_gemm_arguments sum = arguments_of(p, "core", 1);
  size_t bytes = bytes_of(p->o.d), count = sum.m * sum.n;
  smma_status status;
  void *sums = malloc(count * bytes);
  if (!sums) return false;
  sum.d = sums, sum.order_d = SMMA_ROW_MAJOR, sum.ldd = 0;
  status = smma_gemm(p->instruction, &sum);
  for (size_t e = 0; status == SMMA_OK && e < count; e++) {
    smma_number x = smma_decode(d, smma_load(bytes, sums, e));
    x.negative = !x.negative;
    p->x.c[e] = smma_encode_number(c, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
    if (x.kind == SMMA_FINITE && random_below(g, 2)) p->x.c[e] += (uint64_t)random_between(g, -3, 3) << c.ignored_bits;
    p->x.c[e] = smma_low_bits(p->x.c[e], c.bits);
  }
  free(sums);
  return status == SMMA_OK;
}

/* the FNV-1a hash of no bytes */
static const uint64_t hash_of_nothing = UINT64_C(0xcbf29ce484222325);
static uint64_t hash_byte(uint64_t hash, unsigned char byte) { return (hash ^ byte) * UINT64_C(0x100000001b3); }

static uint64_t hash_text(const char *text) {
  uint64_t hash = hash_of_nothing;
  for (; *text; text++) hash = hash_byte(hash, (unsigned char)*text);
  return hash;
}

static bool make_product(product *p, const smma_instruction *instruction, uint64_t seed) {
  uint64_t g = mixed_bits(seed) ^ hash_text(instruction->name);
  smma_gemm_arguments *with = &p->with;
  *p = (product){.instruction = instruction, .o = smma_operation_of(instruction), .seed = seed};
  p->theme = seed >= aimed_seeds ? THEME_AIMED : (unsigned)(seed % THEMES);
  smma_gemm_defaults(with, sizeof *with);
  random_sizes(&g, with, (size_t)p->o.k);
  if (p->theme == THEME_AIMED) aimed_sizes(&g, with);
  random_options(&g, with, (size_t)p->o.k);
  random_c(&g, p);
  p->odd = random_below(&g, 4) ? 0 : 1 + random_below(&g, 7);
  return kernel_operands_make(&p->o, with->m, with->n, with->k, p->theme, random_bits(&g), &p->x) &&
         place_operands(p) && (p->of_c != C_CANCELS || cancel_sum(&g, p)) && place_results(p);
}

/* ---- Comparing ---- */

static const char *text_of_c(const product *p) {
  static const char *const texts[] = {"given", "NULL", "d", "minus the sum"};
  return texts[p->of_c];
}

static void describe(const product *p, const char *kernel, int threads) {
  const smma_gemm_arguments *g = &p->with;
  fprintf(stderr, "%s %s, kernel %s, %d threads, theme %s: m=%zu n=%zu k=%zu",
          smma_architectures[p->instruction->arch].name, p->instruction->name, kernel, threads,
          kernel_theme_name(p->theme), g->m, g->n, g->k);
  fprintf(stderr, " ld=%zu,%zu,%zu,%zu order=%d,%d,%d,%d alpha=%a beta=%a %s split_k=%zu promote_every=%zu c=%s\n",
          g->lda, g->ldb, g->ldc, g->ldd, g->order_a, g->order_b, g->order_c, g->order_d, g->alpha, g->beta,
          g->scaling == SMMA_SCALING_OPERANDS ? "operands" : "epilogue", g->split_k, g->promote_every, text_of_c(p));
  fprintf(stderr, "replay: kernel_program replay %s %s %" PRIu64 "\n", smma_architectures[p->instruction->arch].name,
          p->instruction->name, p->seed);
}

static void print_list(const char *option, smma_format format, const uint64_t *x, size_t count) {
  fprintf(stderr, " %s ", option);
  for (size_t i = 0; i < count; i++)
    fprintf(stderr, "%s%0*" PRIx64, i ? "," : "", (smma_encoding_of(format).bits + 3) / 4, x[i]);
}

/* Prints the operands of element (i, j), if they fit one instruction, as the command that computes it. */
static void print_operands(const product *p, size_t i, size_t j) {
  const kernel_operands *x = &p->x;
  if (x->k != (size_t)p->o.k) return;
  fprintf(stderr, "softmma dot --on %s --instr %s --hex", smma_architectures[p->instruction->arch].name,
          p->instruction->name);
  print_list("--a", p->o.a, x->a + i * x->k, x->k);
  print_list("--b", p->o.b, x->b + j * x->k, x->k);
  print_list("--c", p->o.c, x->c + i * x->n + j, 1);
  if (x->scales) print_list("--scale-a", p->o.scale, x->scale_a + i * x->scales, x->scales);
  if (x->scales) print_list("--scale-b", p->o.scale, x->scale_b + j * x->scales, x->scales);
  fprintf(stderr, "\n");
}

/* Prints the first mismatch, and the number of mismatches. */
static void print_differences(const product *p) {
  size_t bytes = bytes_of(p->o.d), wrong = 0;
  layout l = layout_of_d(p);
  size_t leading = l.leading ? l.leading : l.order == SMMA_ROW_MAJOR ? l.columns : l.rows;
  for (size_t i = 0; i < l.rows; i++)
    for (size_t j = 0; j < l.columns; j++) {
      size_t at = index_of(l.order, leading, i, j);
      uint64_t expected = smma_load(bytes, p->expected + p->odd, at), got = smma_load(bytes, p->got + p->odd, at);
      if (expected == got || wrong++) continue;
      fprintf(stderr, "  element (%zu, %zu): expected %0*" PRIx64 " (%a), got %0*" PRIx64 " (%a)\n", i, j,
              (int)bytes * 2, expected, smma_format_decode(p->o.d, expected), (int)bytes * 2, got,
              smma_format_decode(p->o.d, got));
      print_operands(p, i, j);
    }
  fprintf(stderr, wrong ? "  %zu of %zu elements differ\n" : "  what lies between or behind D's elements differs\n",
          wrong, l.rows * l.columns);
}

/* Reports whether `kernel` writes the same D as the core. */
static bool agrees(const product *p, const char *kernel, int threads, bool kept) {
  smma_status status = compute(p, kernel, threads, kept, p->got);
  if (status == SMMA_OK && memcmp(p->expected, p->got, p->d_bytes) == 0) return true;
  describe(p, kernel, threads);
  if (kept) fprintf(stderr, "  by a multiplier\n");
  if (status == SMMA_OK)
    print_differences(p);
  else
    fprintf(stderr, "  %s\n", smma_status_text(status));
  return false;
}

/* ---- Lanes ---- */

/* Writes `count` elements of an operand to a lane. */
static void put_lane(smma_format format, const uint64_t *x, size_t count, size_t lane, smma_lane_codes *out) {
  for (size_t k = 0; k < count; k++) {
    if (format == SMMA_F64)
      memcpy(&out->f64[k][lane], &x[k], sizeof x[k]);
    else
      out->code[k][lane] = (uint32_t)x[k];
  }
}

static void decode_all(smma_format format, const uint64_t *x, int count, smma_number *out) {
  for (int i = 0; i < count; i++) out[i] = smma_decode(smma_encoding_of(format), x[i]);
}

/* Writes the operands of the first step of element (i, j) to a lane. Returns the core's result. */
static uint64_t put_row(const product *p, size_t i, size_t j, size_t lane, smma_lanes *lanes) {
  const smma_operation *o = &p->o;
  const kernel_operands *x = &p->x;
  const size_t k = (size_t)o->k;
  const int scales = smma_scale_count(o->k, o->scale_block);
  smma_decoded n;
  put_lane(o->a, x->a + i * x->k, k, lane, &lanes->a);
  put_lane(o->b, x->b + j * x->k, k, lane, &lanes->b);
  if (scales) {
    put_lane(o->scale, x->scale_a + i * x->scales, (size_t)scales, lane, &lanes->scale_a);
    put_lane(o->scale, x->scale_b + j * x->scales, (size_t)scales, lane, &lanes->scale_b);
    decode_all(o->scale, x->scale_a + i * x->scales, scales, n.scale_a);
    decode_all(o->scale, x->scale_b + j * x->scales, scales, n.scale_b);
  }
  lanes->c[lane] = x->c[i * x->n + j];
  decode_all(o->a, x->a + i * x->k, o->k, n.a);
  decode_all(o->b, x->b + j * x->k, o->k, n.b);
  return smma_dot_add(o, smma_operands_of(&n), lanes->c[lane]);
}

/* Reports whether the first `count` lanes that `function` computes equal the core's results. */
static bool lanes_agree(const product *p, const char *name, smma_lane_function *function, smma_lanes *lanes,
                        const size_t *element, const uint64_t *expected, size_t count) {
  const smma_lane_task task = {&p->o, SMMA_ALL_BLOCKS, p->o.c, p->o.d};
  const smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
  const uint32_t left = function(&task, lanes);
  smma_float_leave(state);
  for (size_t i = 0; i < count; i++) {
    if (left >> i & 1 || lanes->d[i] == expected[i]) continue;
    describe(p, name, 1);
    fprintf(stderr, "  as a row: expected %" PRIx64 ", got %" PRIx64 "\n", expected[i], lanes->d[i]);
    print_operands(p, element[i] / p->with.n, element[i] % p->with.n);
    return false;
  }
  return true;
}

/* Reports whether a row function computes the first row of `lanes` correctly from encodings in their containers. */
static bool row_agrees(const product *p, const char *name, smma_row_function *function, const smma_lanes *lanes,
                       size_t element, uint64_t expected) {
  const size_t bytes[] = {smma_container_bytes(smma_encoding_of(p->o.a)),
                          smma_container_bytes(smma_encoding_of(p->o.b))};
  unsigned char a[4 * SMMA_MAXIMUM_K], b[4 * SMMA_MAXIMUM_K];
  uint32_t got;
  for (int k = 0; k < p->o.k; k++) {
    smma_store(bytes[0], a, (size_t)k, lanes->a.code[k][0]);
    smma_store(bytes[1], b, (size_t)k, lanes->b.code[k][0]);
  }
  got = function(&p->o, a, b, (uint32_t)lanes->c[0]);
  if (got == expected) return true;
  describe(p, name, 1);
  fprintf(stderr, "  as a row alone: expected %" PRIx64 ", got %" PRIx32 "\n", expected, got);
  print_operands(p, element / p->with.n, element % p->with.n);
  return false;
}

/* Compares some elements of the product's first step, as test vectors, in the lanes of each kernel or of one kernel. */
static bool check_lanes(const product *p, const char *kernel) {
  const size_t elements = p->with.m * p->with.n;
  size_t element[SMMA_LANES];
  uint64_t expected[SMMA_LANES];
  smma_lanes lanes;
  if (p->x.k < (size_t)p->o.k || !smma_lanes_take(&p->o)) return true;
  for (size_t i = 0; i < SMMA_LANES; i++) {
    element[i] = (p->seed + i * (elements / SMMA_LANES + 1)) % elements;
    expected[i] = put_row(p, element[i] / p->with.n, element[i] % p->with.n, i, &lanes);
  }
  for (const smma_kernel *const *k = smma_kernels; *k; k++)
    if ((*k)->usable() && (!kernel || strcmp(kernel, (*k)->name) == 0) &&
        (!lanes_agree(p, (*k)->name, (*k)->lanes, &lanes, element, expected, SMMA_LANES) ||
         (p->o.rule.algorithm == SMMA_T_FDPA &&
          !row_agrees(p, (*k)->name, (*k)->row, &lanes, element[0], expected[0]))))
      return false;
  return lanes_agree(p, "one lane", smma_compute_one_lane, &lanes, element, expected, 1);
}

/* Returns the number of threads: sometimes two. */
static int threads_of(const product *p) { return p->seed % 19 == 7 ? 2 : 1; }

bool kernel_check_product(const smma_instruction *instruction, uint64_t seed, const char *kernel, size_t *outputs) {
  product p;
  bool same = make_product(&p, instruction, seed) && compute(&p, "core", 1, false, p.expected) == SMMA_OK;
  const char *names[MOST_KERNELS];
  size_t wrong = 0, kernels = kernel_names(kernel, names);
  *outputs = p.with.m * p.with.n;
  if (!same) fprintf(stderr, "%s, seed %" PRIu64 ": no memory\n", instruction->name, seed);
  for (size_t i = 0; same && i < kernels; i++)
    wrong += !agrees(&p, names[i], threads_of(&p), false) || !agrees(&p, names[i], threads_of(&p), true);
  if (same) wrong += !check_lanes(&p, kernel);
  end_product(&p);
  return same && !wrong;
}

/* ---- Whole families ---- */

static size_t index_in(const char *name, const char **names, size_t *count, size_t most) {
  size_t i = 0;
  while (i < *count && strcmp(names[i], name)) i++;
  if (i == *count && *count < most) names[(*count)++] = name;
  return i;
}

static bool is_wanted(const char *wanted, const char *name) { return !wanted || strcmp(wanted, name) == 0; }

/* Adds `outputs` to the counts of each kernel that computes the operation itself instead of calling the core. */
static void count_outputs(const smma_instruction *x, size_t outputs, kernel_counts *counts) {
  size_t family = index_in(kernel_family_name(x), counts->family, &counts->families, MOST_FAMILIES);
  for (size_t k = 0; k < counts->kernels; k++)
    if (strcmp(smma_kernel_for(x, counts->kernel[k], NULL), "core") != 0) counts->outputs[family][k] += outputs;
}

/* Adds an operation to the list eight times; operations on FP8, FP6 and FP4 only once, because these come in many pairs
   of formats and reach fewer cases. */
static size_t add_operation(const smma_instruction *x, const smma_instruction **list, size_t count) {
  int repeats = smma_encoding_of(x->a).bits > 8 ? MOST_REPEATS : 1;
  while (repeats-- > 0) list[count++] = x;
  return count;
}

/* Compares one product and adds its elements to `*outputs`. Returns false on a mismatch. */
static bool check_member(const kernel_amount *amount, const smma_instruction *x, uint64_t seed, kernel_counts *counts,
                         size_t *outputs) {
  size_t elements;
  const bool same = kernel_check_product(x, seed, amount->kernel, &elements);
  count_outputs(x, elements, counts);
  *outputs += elements;
  counts->wrong_products += !same;
  return same;
}

/* Runs each operation in turn with the next theme, until there are enough outputs and each theme was used twice; then
   aimed products of every operation. */
static void check_family(const kernel_amount *amount, const smma_instruction *const *list, size_t count,
                         kernel_counts *counts) {
  size_t outputs = 0;
  for (size_t round = 0; outputs < amount->outputs || round * count < 2 * THEMES; round++)
    for (size_t i = 0; i < count; i++)
      if (!check_member(amount, list[i], (amount->first + round) * THEMES + (round + i) % THEMES, counts, &outputs))
        return;
  outputs = 0;
  for (size_t round = 0; outputs < amount->aimed; round++)
    for (size_t i = 0; i < count; i++)
      if (!check_member(amount, list[i], aimed_seeds + (amount->first + round) * count + i, counts, &outputs)) return;
}

void kernel_check(const kernel_amount *amount, kernel_counts *counts) {
  static const smma_instruction *list[MOST_OPERATIONS], *members[MOST_REPEATS * MOST_OPERATIONS];
  const char *names[MOST_KERNELS];
  size_t operations = kernel_operations(list), kernels = kernel_names(amount->kernel, names);
  *counts = (kernel_counts){0};
  for (size_t i = 0; i < kernels; i++)
    if (strcmp(names[i], "core")) index_in(names[i], counts->kernel, &counts->kernels, MOST_KERNELS);
  for (size_t i = 0; i < operations; i++)
    if (is_wanted(amount->family, kernel_family_name(list[i])))
      index_in(kernel_family_name(list[i]), counts->family, &counts->families, MOST_FAMILIES);
  for (size_t f = 0; f < counts->families; f++) {
    size_t count = 0;
    if (amount->parts && f % amount->parts != amount->part) continue;
    for (size_t i = 0; i < operations; i++)
      if (strcmp(counts->family[f], kernel_family_name(list[i])) == 0 && (count == 0 || !amount->few))
        count = add_operation(list[i], members, count);
    check_family(amount, members, count, counts);
  }
}

void kernel_print_counts(const kernel_counts *counts) {
  printf("%-12s", "outputs of");
  for (size_t k = 0; k < counts->kernels; k++) printf(" %10s", counts->kernel[k]);
  printf("\n");
  for (size_t f = 0; f < counts->families; f++) {
    printf("%-12s", counts->family[f]);
    for (size_t k = 0; k < counts->kernels; k++) printf(" %10zu", counts->outputs[f][k]);
    printf("\n");
  }
}

/* ---- Digests ---- */

/* Computes a product of two steps that is wider than a tile, so that there is work for two threads. */
static bool digest_product(product *p, const smma_instruction *instruction, unsigned theme) {
  *p = (product){.instruction = instruction, .o = smma_operation_of(instruction), .theme = theme};
  smma_gemm_defaults(&p->with, sizeof p->with);
  p->with.m = 2, p->with.n = 140, p->with.k = 2 * (size_t)p->o.k - theme % 2;
  return kernel_operands_make(&p->o, p->with.m, p->with.n, p->with.k, theme, theme, &p->x) && place_operands(p) &&
         place_results(p);
}

static uint64_t hash_elements(uint64_t hash, const product *p) {
  size_t bytes = bytes_of(p->o.d);
  for (size_t e = 0; e < p->with.m * p->with.n; e++) {
    uint64_t d = smma_load(bytes, p->got, e);
    for (size_t byte = 0; byte < bytes; byte++, d >>= 8) hash = hash_byte(hash, (unsigned char)d);
  }
  return hash;
}

void kernel_digests(const smma_instruction *instruction, const kernel_run *runs, size_t count, uint64_t *digest) {
  bool failed = false;
  for (size_t r = 0; r < count; r++) digest[r] = hash_of_nothing;
  for (unsigned theme = 0; theme < THEMES; theme++) {
    product p;
    failed = !digest_product(&p, instruction, theme) || failed;
    for (size_t r = 0; !failed && r < count; r++) {
      failed = compute(&p, runs[r].kernel, runs[r].threads, false, p.got) != SMMA_OK;
      digest[r] = hash_elements(digest[r], &p);
    }
    end_product(&p);
  }
  for (size_t r = 0; failed && r < count; r++) digest[r] = 0;
}

/* Finds the digest of the operation in the file. It is on the line of some instruction that computes the same function.
   Prints a message if there is no such line. */
static bool read_digest(FILE *file, const smma_instruction *x, uint64_t *digest) {
  char arch[32], name[96];
  rewind(file);
  while (fscanf(file, "%31s %95s %" SCNx64, arch, name, digest) == 3) {
    const smma_instruction *named = smma_find(arch, name, NULL);
    if (named && smma_same_operation(named, x)) return true;
  }
  fprintf(stderr, "digests: no line of %s %s; scripts/regenerate digests writes it\n", smma_architectures[x->arch].name,
          x->name);
  return false;
}

static bool same_digests(const smma_instruction *x, const kernel_run *runs, size_t count, uint64_t expected) {
  uint64_t got[2 * MOST_KERNELS];
  bool same = true;
  kernel_digests(x, runs, count, got);
  for (size_t r = 0; r < count; r++) {
    if (got[r] == expected) continue;
    same = false;
    fprintf(stderr, "%s %s, kernel %s, %d threads: expected digest %016" PRIx64 ", got %016" PRIx64 "\n",
            smma_architectures[x->arch].name, x->name, runs[r].kernel, runs[r].threads, expected, got[r]);
  }
  return same;
}

bool kernel_check_digests(const char *path, const kernel_run *runs, size_t count, size_t every) {
  static const smma_instruction *list[MOST_OPERATIONS];
  const char *done[MOST_FAMILIES];
  size_t operations = kernel_operations(list), families = 0;
  FILE *file = fopen(path, "r");
  bool same = file != NULL;
  if (!file) fprintf(stderr, "%s cannot be read\n", path);
  for (size_t i = 0; file && i < operations; i++) {
    uint64_t digest;
    size_t before = families;
    if (!read_digest(file, list[i], &digest)) {
      same = false;
      break;
    }
    index_in(kernel_family_name(list[i]), done, &families, MOST_FAMILIES);
    if (i % every == 0 || families > before) same = same_digests(list[i], runs, count, digest) && same;
  }
  if (file) fclose(file);
  return same;
}

bool kernel_check_products(const char *path, const char *kernel) {
  char arch[32], name[96];
  uint64_t seed;
  size_t outputs, products = 0;
  FILE *file = fopen(path, "r");
  bool same = true;
  while (file && fscanf(file, "%31s %95s %" SCNu64, arch, name, &seed) == 3) {
    const smma_instruction *x = smma_find(arch, name, NULL);
    if (!x) fprintf(stderr, "%s: there is no %s %s\n", path, arch, name);
    same = x && kernel_check_product(x, seed, kernel, &outputs) && same;
    products++;
  }
  if (!products) fprintf(stderr, "%s: no product\n", path);
  if (file) fclose(file);
  return same && products;
}
