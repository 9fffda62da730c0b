/* The functions of softmma_pkg.sv. They are compiled as C or C++ with the simulator's svdpi.h, and use only the
   functions for open arrays that IEEE 1800-2017, annex H, defines, and no extension of a simulator.

   One variable holds the last error, because simulators never call two impure functions at the same time. A separate
   thread generates test vectors in advance, so that the simulator does not wait for them. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softmma/rows.h"
#include "softmma/softmma.h"
#include "svdpi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { PART_A, PART_B, PART_C, PART_SCALE_A, PART_SCALE_B, PART_D, PARTS } part;

/* Elements of each part, in the containers of its format. */
typedef struct {
  unsigned char *part[PARTS];
  size_t capacity[PARTS];
} memory;

typedef struct {
  smma_instruction_info info;
  smma_format format[PARTS];
  size_t bytes[PARTS], count[PARTS]; /* bytes of an element of each part, and its elements in one test vector */
  int bits[PARTS];
} shape;

/* Test vectors that are generated, or that `thread` is generating. */
typedef struct {
  const shape *of;
  char kind[16];
  smma_row_request request; /* 0 rows: none */
  memory rows;
  smma_status status;
  pthread_t thread;
  int running;
} stock;

typedef struct {
  smma_custom *custom; /* NULL: the instruction is the catalogue's */
  shape is;
  memory own; /* copies of the caller's arrays */
  stock stocks[2];
  int now; /* index of the stock that vectors are taken from; the other stock has the vectors after these */
} model;

/* An argument of the running function. */
typedef struct {
  const char *name;
  svOpenArrayHandle array;
  size_t count; /* elements that it must have */
} argument;

static char message[2048], command[8192];

/* Stores an error message and returns 1, the result of a function that fails. (0 is success.) */
static int fail(const char *function, const char *format, ...) {
  va_list values;
  int length = snprintf(message, sizeof message, "%s: ", function);
  va_start(values, format);
  vsnprintf(message + length, sizeof message - (size_t)length, format, values);
  va_end(values);
  return 1;
}

const char *softmma_error(void) { return message; }

/* ---- Opening ---- */

static int is_file(const char *gpu) {
  const size_t length = strlen(gpu);
  return strchr(gpu, '/') || (length > 5 && strcmp(gpu + length - 5, ".json") == 0);
}

static smma_custom *open_file(const char *path) {
  static char text[1 << 16];
  smma_error error;
  smma_custom *found;
  FILE *file = fopen(path, "rb");
  size_t size;
  if (!file) {
    fail("softmma_open", "%s: %s", path, strerror(errno));
    return NULL;
  }
  size = fread(text, 1, sizeof text, file);
  if (ferror(file) || size == sizeof text) {
    fail("softmma_open", "%s: %s", path, ferror(file) ? strerror(errno) : "too long for the description of a unit");
    fclose(file);
    return NULL;
  }
  fclose(file);
  found = smma_custom_parse(path, text, size, &error);
  if (!found) fail("softmma_open", "%s", error.text);
  return found;
}

static const smma_instruction *find(const char *gpu, const char *name) {
  smma_error error;
  const smma_instruction *found = smma_find(gpu, name, &error);
  if (!found) fail("softmma_open", "%s", error.text);
  return found;
}

static void wait_for(stock *x) {
  if (x->running) pthread_join(x->thread, NULL);
  x->running = 0;
}

static void release(memory *x) {
  int p;
  for (p = 0; p < PARTS; p++) free(x->part[p]);
}

void softmma_close(void *unit) {
  model *m = (model *)unit;
  int i;
  if (!m) return;
  for (i = 0; i < 2; i++) {
    wait_for(&m->stocks[i]);
    release(&m->stocks[i].rows);
  }
  release(&m->own);
  smma_custom_free(m->custom);
  free(m);
}

static void set_shape(shape *x, const smma_instruction *instruction) {
  const smma_instruction_info *i = &x->info;
  int p;
  smma_describe(instruction, &x->info, sizeof x->info);
  const smma_format format[PARTS] = {i->a, i->b, i->c, i->scale, i->scale, i->d};
  const size_t k = (size_t)i->k, scales = i->scale_block ? k / (size_t)i->scale_block : 0;
  const size_t count[PARTS] = {k, k, 1, scales, scales, 1};
  for (p = 0; p < PARTS; p++) {
    x->format[p] = format[p];
    x->bytes[p] = smma_format_bytes(format[p]);
    x->bits[p] = smma_format_bits(format[p]);
    x->count[p] = count[p];
  }
}

void *softmma_open(const char *gpu, const char *instruction) {
  smma_custom *custom = is_file(gpu) ? open_file(gpu) : NULL;
  const smma_instruction *found = is_file(gpu) ? smma_custom_instruction(custom) : find(gpu, instruction);
  model *m;
  if (!found) return NULL;
  m = (model *)calloc(1, sizeof *m);
  if (!m) {
    smma_custom_free(custom);
    fail("softmma_open", "out of memory");
    return NULL;
  }
  m->custom = custom;
  set_shape(&m->is, found);
  m->stocks[0].of = m->stocks[1].of = &m->is;
  if (is_file(gpu) && *instruction && strcmp(instruction, m->is.info.name) != 0) {
    fail("softmma_open", "%s describes '%s', not '%s'; give that name or \"\"", gpu, m->is.info.name, instruction);
    softmma_close(m);
    return NULL;
  }
  return m;
}

static int check_open(const char *function, const void *unit) {
  return unit ? 0 : fail(function, "the unit is null: softmma_open has found none");
}

int softmma_describe(void *unit, int *m, int *n, int *k, int *a_bits, int *b_bits, int *c_bits, int *d_bits,
                     int *scale_bits, int *scale_block) {
  const shape *x = unit ? &((const model *)unit)->is : NULL;
  *m = *n = *k = *a_bits = *b_bits = *c_bits = *d_bits = *scale_bits = *scale_block = 0;
  if (check_open("softmma_describe", x)) return 1;
  *m = x->info.m, *n = x->info.n, *k = x->info.k;
  *a_bits = x->bits[PART_A], *b_bits = x->bits[PART_B], *c_bits = x->bits[PART_C], *d_bits = x->bits[PART_D];
  *scale_bits = x->bits[PART_SCALE_A], *scale_block = x->info.scale_block;
  return 0;
}

/* ---- Arrays ---- */

/* Elements from the lowest index on; they may be anywhere. */
static uint64_t *element(svOpenArrayHandle array, size_t i) {
  return (uint64_t *)svGetArrElemPtr1(array, svLow(array, 1) + (int)i);
}

/* Returns the address of the first of `count` elements if they are contiguous, otherwise NULL. */
static uint64_t *side_by_side(svOpenArrayHandle array, size_t count) {
  uint64_t *first = count ? element(array, 0) : NULL;
  return first && element(array, count - 1) == first + (count - 1) ? first : NULL;
}

static uint64_t mask_of(int bits) { return ~UINT64_C(0) >> (64 - bits); }

/* Convert elements between a format's container and SystemVerilog's. The size of the container is a constant in each
   loop, so that compilers vectorise it. */
#define NARROW(type)                                                    \
  do {                                                                  \
    type *out = (type *)(void *)to;                                     \
    for (i = 0; i < count; i++) all |= from[i], out[i] = (type)from[i]; \
  } while (0)
#define WIDEN(type)                                    \
  do {                                                 \
    const type *in = (const type *)(const void *)from; \
    for (i = 0; i < count; i++) to[i] = in[i];         \
  } while (0)

/* All bits that are set in any of them. */
static uint64_t narrow(size_t bytes, const uint64_t *from, size_t count, unsigned char *to) {
  uint64_t all = 0;
  size_t i;
  switch (bytes) {
    case 1: NARROW(uint8_t); break;
    case 2: NARROW(uint16_t); break;
    case 4: NARROW(uint32_t); break;
    default: NARROW(uint64_t); break;
  }
  return all;
}

static void widen(size_t bytes, const unsigned char *from, size_t count, uint64_t *to) {
  size_t i;
  switch (bytes) {
    case 1: WIDEN(uint8_t); break;
    case 2: WIDEN(uint16_t); break;
    case 4: WIDEN(uint32_t); break;
    default: WIDEN(uint64_t); break;
  }
}

static int check_size(const char *function, const argument *x) {
  if (svDimensions(x->array) != 1)
    return fail(function, "%s has %d dimensions; it must have one", x->name, svDimensions(x->array));
  if ((size_t)svSize(x->array, 1) != x->count)
    return fail(function, "%s has %d elements; it must have %zu", x->name, svSize(x->array, 1), x->count);
  return 0;
}

/* Memory for that many elements of a part. */
static int make_room(const char *function, const shape *x, memory *m, int p, size_t count) {
  const size_t size = count * x->bytes[p];
  unsigned char *larger;
  if (size <= m->capacity[p]) return 0;
  larger = (unsigned char *)realloc(m->part[p], size);
  if (!larger) return fail(function, "out of memory");
  m->part[p] = larger;
  m->capacity[p] = size;
  return 0;
}

static int too_wide(const char *function, const shape *x, int p, const char *name, uint64_t code) {
  return fail(function, "%s is 0x%llx; encodings of %s have %d bits", name, (unsigned long long)code,
              smma_format_name(x->format[p]), x->bits[p]);
}

/* An array's elements as the library takes them. */
static int take(const char *function, model *m, int p, const argument *x) {
  const size_t bytes = m->is.bytes[p];
  const uint64_t mask = mask_of(m->is.bits[p]), *from;
  unsigned char *to;
  char name[32];
  uint64_t all = 0;
  size_t i;
  if (check_size(function, x) || make_room(function, &m->is, &m->own, p, x->count)) return 1;
  from = side_by_side(x->array, x->count);
  to = m->own.part[p];
  if (from)
    all = narrow(bytes, from, x->count, to);
  else
    for (i = 0; i < x->count; i++) all |= narrow(bytes, element(x->array, i), 1, to + i * bytes);
  if ((all & ~mask) == 0) return 0;
  for (i = 0; (*element(x->array, i) & ~mask) == 0;) i++;
  snprintf(name, sizeof name, "%s[%d]", x->name, svLow(x->array, 1) + (int)i);
  return too_wide(function, &m->is, p, name, *element(x->array, i));
}

/* Copies `count` elements of `bytes` bytes each to an array, starting at its element `first`. */
static void give(size_t bytes, const unsigned char *from, const argument *x, size_t first, size_t count) {
  uint64_t *to = side_by_side(x->array, x->count);
  size_t i;
  if (to)
    widen(bytes, from, count, to + first);
  else
    for (i = 0; i < count; i++) widen(bytes, from + i * bytes, 1, element(x->array, first + i));
}

/* Whether scale factors are there exactly where the unit has them. */
static int check_scales(const char *function, const shape *x, int scaled) {
  if (scaled == (x->info.scale_block != 0)) return 0;
  if (scaled) return fail(function, "%s has no scale factors: call the function without _scaled", x->info.name);
  return fail(function, "%s has scale factors: call %s_scaled", x->info.name, function);
}

static int status(const char *function, smma_status s) {
  return s == SMMA_OK ? 0 : fail(function, "%s", smma_status_text(s));
}

/* ---- Computing ---- */

/* Computes D for the operands in memory, which belong to test vectors or, if `whole`, to one whole instruction. */
static smma_status run(const shape *x, const memory *m, size_t rows, int whole) {
  unsigned char *const *y = m->part;
  const void *scale_a = x->info.scale_block ? y[PART_SCALE_A] : NULL;
  const void *scale_b = x->info.scale_block ? y[PART_SCALE_B] : NULL;
  const smma_batch batch = {sizeof batch, rows, y[PART_A], y[PART_B], y[PART_C], scale_a, scale_b, y[PART_D]};
  return whole ? smma_mma(x->info.instruction, y[PART_A], y[PART_B], y[PART_C], scale_a, scale_b, y[PART_D])
               : smma_dot_rows(x->info.instruction, &batch, 1);
}

/* Reads the operands, computes D and writes it. `x` has the arrays in the order of `part`; an operand whose array is
   NULL is skipped. */
static int compute(const char *function, model *m, const argument x[PARTS], size_t rows, int whole) {
  smma_status s;
  int p;
  for (p = 0; p < PART_D; p++)
    if (x[p].array && take(function, m, p, &x[p])) return 1;
  if (check_size(function, &x[PART_D]) || make_room(function, &m->is, &m->own, PART_D, x[PART_D].count)) return 1;
  s = run(&m->is, &m->own, rows, whole);
  if (s == SMMA_OK) give(m->is.bytes[PART_D], m->own.part[PART_D], &x[PART_D], 0, x[PART_D].count);
  return status(function, s);
}

static int compute_rows(const char *function, void *unit, svOpenArrayHandle a, svOpenArrayHandle b, svOpenArrayHandle c,
                        svOpenArrayHandle scale_a, svOpenArrayHandle scale_b, svOpenArrayHandle d) {
  model *m = (model *)unit;
  if (check_open(function, m) || check_scales(function, &m->is, scale_a != NULL)) return 1;
  const size_t rows = (size_t)svSize(c, 1), *n = m->is.count;
  const argument x[PARTS] = {{"a", a, rows * n[PART_A]},
                             {"b", b, rows * n[PART_B]},
                             {"c", c, rows},
                             {"scale_a", scale_a, rows * n[PART_SCALE_A]},
                             {"scale_b", scale_b, rows * n[PART_SCALE_B]},
                             {"d", d, rows}};
  return compute(function, m, x, rows, 0);
}

int softmma_rows(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                 const svOpenArrayHandle d) {
  return compute_rows("softmma_rows", unit, a, b, c, NULL, NULL, d);
}

int softmma_rows_scaled(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                        const svOpenArrayHandle scale_a, const svOpenArrayHandle scale_b, const svOpenArrayHandle d) {
  return compute_rows("softmma_rows_scaled", unit, a, b, c, scale_a, scale_b, d);
}

static int compute_mma(const char *function, void *unit, svOpenArrayHandle a, svOpenArrayHandle b, svOpenArrayHandle c,
                       svOpenArrayHandle scale_a, svOpenArrayHandle scale_b, svOpenArrayHandle d) {
  model *u = (model *)unit;
  if (check_open(function, u) || check_scales(function, &u->is, scale_a != NULL)) return 1;
  const size_t m = (size_t)u->is.info.m, n = (size_t)u->is.info.n, *row = u->is.count;
  const argument x[PARTS] = {{"a", a, m * row[PART_A]},
                             {"b", b, n * row[PART_B]},
                             {"c", c, m * n},
                             {"scale_a", scale_a, m * row[PART_SCALE_A]},
                             {"scale_b", scale_b, n * row[PART_SCALE_B]},
                             {"d", d, m * n}};
  return compute(function, u, x, 0, 1);
}

int softmma_mma(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                const svOpenArrayHandle d) {
  return compute_mma("softmma_mma", unit, a, b, c, NULL, NULL, d);
}

int softmma_mma_scaled(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                       const svOpenArrayHandle scale_a, const svOpenArrayHandle scale_b, const svOpenArrayHandle d) {
  return compute_mma("softmma_mma_scaled", unit, a, b, c, scale_a, scale_b, d);
}

static int compute_dot(const char *function, void *unit, svOpenArrayHandle a, svOpenArrayHandle b, uint64_t c,
                       svOpenArrayHandle scale_a, svOpenArrayHandle scale_b, uint64_t *d) {
  model *m = (model *)unit;
  smma_status s;
  int p;
  *d = 0;
  if (check_open(function, m) || check_scales(function, &m->is, scale_a != NULL)) return 1;
  const size_t *n = m->is.count;
  const argument x[] = {{"a", a, n[PART_A]},
                        {"b", b, n[PART_B]},
                        {"c", NULL, 0},
                        {"scale_a", scale_a, n[PART_SCALE_A]},
                        {"scale_b", scale_b, n[PART_SCALE_B]}};
  for (p = 0; p < PART_D; p++)
    if (x[p].array && take(function, m, p, &x[p])) return 1;
  if (make_room(function, &m->is, &m->own, PART_C, 1) || make_room(function, &m->is, &m->own, PART_D, 1)) return 1;
  if (c & ~mask_of(m->is.bits[PART_C])) return too_wide(function, &m->is, PART_C, "c", c);
  narrow(m->is.bytes[PART_C], &c, 1, m->own.part[PART_C]);
  s = run(&m->is, &m->own, 1, 0);
  if (s == SMMA_OK) widen(m->is.bytes[PART_D], m->own.part[PART_D], 1, d);
  return status(function, s);
}

int softmma_dot(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, uint64_t c, uint64_t *d) {
  return compute_dot("softmma_dot", unit, a, b, c, NULL, NULL, d);
}

int softmma_dot_scaled(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, uint64_t c,
                       const svOpenArrayHandle scale_a, const svOpenArrayHandle scale_b, uint64_t *d) {
  return compute_dot("softmma_dot_scaled", unit, a, b, c, scale_a, scale_b, d);
}

/* ---- Rows ---- */

/* A stock holds the vectors of a call and, for the next calls, up to this many times as many, but no more than this
   number of them. */
enum { NEXT_CALLS = 15, MOST_NEXT_ROWS = 16384 };

static void *fill_stock(void *to_fill) {
  stock *x = (stock *)to_fill;
  x->status = smma_make_rows(x->of->info.instruction, &x->request);
  if (x->status == SMMA_OK) x->status = run(x->of, &x->rows, x->request.rows, 0);
  return NULL;
}

static int prepare_stock(const char *function, stock *x, const char *kind, uint64_t seed, uint64_t first, size_t rows) {
  unsigned char *const *y = x->rows.part;
  int p;
  x->request.rows = 0;
  for (p = 0; p < PARTS; p++)
    if (make_room(function, x->of, &x->rows, p, rows * x->of->count[p])) return 1;
  snprintf(x->kind, sizeof x->kind, "%s", kind);
  smma_row_request_defaults(&x->request, sizeof x->request);
  x->request.kind = *kind ? x->kind : NULL;
  x->request.seed = seed, x->request.first = first, x->request.rows = rows;
  x->request.a = y[PART_A], x->request.b = y[PART_B], x->request.c = y[PART_C];
  if (x->of->info.scale_block) x->request.scale_a = y[PART_SCALE_A], x->request.scale_b = y[PART_SCALE_B];
  return 0;
}

static int has_row(const stock *x, const char *kind, uint64_t seed, uint64_t row) {
  return x->request.rows && x->request.seed == seed && strcmp(x->kind, kind) == 0 &&
         row - x->request.first < x->request.rows;
}

/* Returns the stock that contains the vector. If neither stock does, generates `rows` vectors from it on. In each case
   starts generating the vectors after the returned stock. */
static stock *find_stock(const char *function, model *m, const char *kind, uint64_t seed, uint64_t row, size_t rows) {
  stock *x = &m->stocks[m->now], *next = &m->stocks[!m->now];
  if (has_row(x, kind, seed, row)) return x;
  wait_for(next);
  if (has_row(next, kind, seed, row)) {
    stock *before = x;
    x = next, next = before;
    m->now = !m->now;
  } else {
    if (prepare_stock(function, x, kind, seed, row, rows)) return NULL;
    fill_stock(x);
  }
  if (status(function, x->status)) {
    x->request.rows = 0;
    return NULL;
  }
  if (prepare_stock(function, next, kind, seed, x->request.first + x->request.rows, rows)) return NULL;
  next->running = pthread_create(&next->thread, NULL, fill_stock, next) == 0;
  if (!next->running) next->request.rows = 0; /* then they are made when they are asked for */
  return x;
}

static size_t rows_of_stock(size_t rows) {
  return rows + (rows < MOST_NEXT_ROWS / NEXT_CALLS ? NEXT_CALLS * rows : MOST_NEXT_ROWS);
}

static int make_rows(const char *function, void *unit, const char *kind, uint64_t seed, uint64_t first,
                     svOpenArrayHandle a, svOpenArrayHandle b, svOpenArrayHandle c, svOpenArrayHandle scale_a,
                     svOpenArrayHandle scale_b, svOpenArrayHandle d) {
  model *m = (model *)unit;
  smma_row_request none;
  size_t done = 0;
  int p;
  if (check_open(function, m) || check_scales(function, &m->is, scale_a != NULL)) return 1;
  const size_t rows = (size_t)svSize(c, 1), *n = m->is.count;
  const argument out[PARTS] = {{"a", a, rows * n[PART_A]},
                               {"b", b, rows * n[PART_B]},
                               {"c", c, rows},
                               {"scale_a", scale_a, rows * n[PART_SCALE_A]},
                               {"scale_b", scale_b, rows * n[PART_SCALE_B]},
                               {"d", d, rows}};
  for (p = 0; p < PARTS; p++)
    if (out[p].array && check_size(function, &out[p])) return 1;
  smma_row_request_defaults(&none, sizeof none);
  none.kind = *kind ? kind : NULL;
  if (smma_make_rows(m->is.info.instruction, &none) != SMMA_OK)
    return fail(
        function,
        "there is no kind '%s' of rows: it is random, normal, edge, zeros, tiny, cancellation, ill, network, schryer, "
        "aimed, or \"\" for the first eight in turn",
        kind);
  while (done < rows) {
    const stock *x = find_stock(function, m, kind, seed, first + done, rows_of_stock(rows));
    if (!x) return 1;
    const size_t from = (size_t)(first + done - x->request.first), have = x->request.rows - from;
    const size_t count = rows - done < have ? rows - done : have;
    for (p = 0; p < PARTS; p++)
      if (out[p].array)
        give(m->is.bytes[p], x->rows.part[p] + from * n[p] * m->is.bytes[p], &out[p], done * n[p], count * n[p]);
    done += count;
  }
  return 0;
}

int softmma_make_rows(void *unit, const char *kind, uint64_t seed, uint64_t first, const svOpenArrayHandle a,
                      const svOpenArrayHandle b, const svOpenArrayHandle c, const svOpenArrayHandle d) {
  return make_rows("softmma_make_rows", unit, kind, seed, first, a, b, c, NULL, NULL, d);
}

int softmma_make_rows_scaled(void *unit, const char *kind, uint64_t seed, uint64_t first, const svOpenArrayHandle a,
                             const svOpenArrayHandle b, const svOpenArrayHandle c, const svOpenArrayHandle scale_a,
                             const svOpenArrayHandle scale_b, const svOpenArrayHandle d) {
  return make_rows("softmma_make_rows_scaled", unit, kind, seed, first, a, b, c, scale_a, scale_b, d);
}

int softmma_same(void *unit, uint64_t d, uint64_t other) {
  return check_open("softmma_same", unit) == 0 &&
         smma_is_same_result(((const model *)unit)->is.info.instruction, d, other);
}

/* ---- Explaining ---- */

static void append(const char *format, ...) {
  const size_t length = strlen(command);
  va_list values;
  va_start(values, format);
  vsnprintf(command + length, sizeof command - length, format, values);
  va_end(values);
}

/* Appends a text in the single quotes of a shell. */
static void append_word(const char *text) {
  append("'");
  for (; *text; text++)
    if (*text == '\'')
      append("'\\''");
    else
      append("%c", *text);
  append("'");
}

static const char *explain(const char *function, void *unit, svOpenArrayHandle a, svOpenArrayHandle b,
                           svOpenArrayHandle c, svOpenArrayHandle scale_a, svOpenArrayHandle scale_b, unsigned row) {
  model *m = (model *)unit;
  int p;
  *command = 0;
  if (check_open(function, m) || check_scales(function, &m->is, scale_a != NULL)) return command;
  const size_t rows = (size_t)svSize(c, 1), *n = m->is.count;
  const argument in[] = {{"a", a, rows * n[PART_A]},
                         {"b", b, rows * n[PART_B]},
                         {"c", c, rows},
                         {"scale-a", scale_a, rows * n[PART_SCALE_A]},
                         {"scale-b", scale_b, rows * n[PART_SCALE_B]}};
  if (row >= rows) {
    fail(function, "there is no row %u: c has %zu elements", row, rows);
    return command;
  }
  for (p = 0; p < PART_D; p++)
    if (in[p].array && check_size(function, &in[p])) return command;
  append("softmma dot --on ");
  append_word(m->is.info.arch);
  append(" --instr %s --hex --explain", m->is.info.name);
  for (p = 0; p < PART_D; p++) {
    size_t i;
    if (!in[p].array) continue;
    append(" --%s", in[p].name);
    for (i = 0; i < n[p]; i++)
      append("%s%0*llx", i ? " " : " '", (m->is.bits[p] + 3) / 4,
             (unsigned long long)*element(in[p].array, row * n[p] + i));
    append("'");
  }
  return command;
}

const char *softmma_command(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                            unsigned row) {
  return explain("softmma_command", unit, a, b, c, NULL, NULL, row);
}

const char *softmma_command_scaled(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b,
                                   const svOpenArrayHandle c, const svOpenArrayHandle scale_a,
                                   const svOpenArrayHandle scale_b, unsigned row) {
  return explain("softmma_command_scaled", unit, a, b, c, scale_a, scale_b, row);
}

#ifdef __cplusplus
}
#endif
