/* power_rows: reads test vectors as a `pipe:` unit does, and computes them with the instruction of Power's
   matrix-multiply assist that their header names. `power_rows --list` lists the instructions. For Linux on a
   little-endian Power10, without the library:

       gcc -mcpu=power10 -O2 -o power_rows tests/power_rows.c

   Each step computes as many test vectors as the accumulator has columns. They lie on a diagonal of the tile, a
   different diagonal each time. The elements that are not on the diagonal combine operands of different test vectors,
   and are not printed.

   Also computes the forms that the catalogue leaves out: without an accumulator, with signs, and masked. All elements
   of their accumulator must be what docs/algorithms/pairs.md states. */
#include <altivec.h>
#undef bool

#define JUDGE "power_rows"
#include "judge_rows.h"

typedef __vector unsigned char vector_of_bytes;

enum { ROWS = 4, ROW_BYTES = 16 };

/* Operands of one step. The elements of a row of A, and of a column of B, are contiguous. The tile is C before the step
   and D after it. */
typedef struct {
  _Alignas(64) uint8_t a[2 * ROW_BYTES], b[ROW_BYTES], tile[ROWS * ROW_BYTES];
} operands;

static vector_of_bytes load(const uint8_t *from) {
  vector_of_bytes v;
  memcpy(&v, from, sizeof v);
  return v;
}

/* Defines a function for one step. `pair`: double words of A fill two registers. */
#define STEP(name, builtin, of_a, ...)                                                                        \
  static void name(operands *o) {                                                                             \
    __vector_quad acc;                                                                                        \
    const vector_of_bytes vector = load(o->a);                                                                \
    __vector_pair pair;                                                                                       \
    __builtin_vsx_build_pair(&pair, vector, load(o->a + 16));                                                 \
    __builtin_mma_build_acc(&acc, load(o->tile), load(o->tile + 16), load(o->tile + 32), load(o->tile + 48)); \
    __builtin_mma_##builtin(&acc, of_a, load(o->b), ##__VA_ARGS__);                                           \
    __builtin_mma_disassemble_acc(o->tile, &acc);                                                             \
  }

/* Define the forms of a type; floating-point types also have forms with signs. The masks omit a row, a column, and the
   even elements. The first bit of a mask belongs to the last position in memory. */
#define FORMS(type, accumulating, of_a, ...)         \
  STEP(type##_plain, type, of_a)                     \
  STEP(type##accumulating, type##accumulating, of_a) \
  STEP(type##_masked, pm##type##accumulating, of_a, 13, __VA_ARGS__)
#define SIGNED_FORMS(type, of_a, ...) \
  FORMS(type, pp, of_a, __VA_ARGS__)  \
  STEP(type##pn, type##pn, of_a)      \
  STEP(type##np, type##np, of_a)      \
  STEP(type##nn, type##nn, of_a)

SIGNED_FORMS(xvf16ger2, vector, 11, 2)
SIGNED_FORMS(xvbf16ger2, vector, 11, 2)
SIGNED_FORMS(xvf32ger, vector, 11)
SIGNED_FORMS(xvf64ger, pair, 2)
FORMS(xvi8ger4, pp, vector, 11, 10)
FORMS(xvi4ger8, pp, vector, 11, 170)
STEP(xvi8ger4spp, xvi8ger4spp, vector)
STEP(xvi8ger4s_masked, pmxvi8ger4spp, load(o->a), 13, 11, 10)

/* ---- The instructions ---- */

typedef void step(operands *);

typedef struct {
  const char *name;
  step *pp, *masked, *plain, *pn, *np, *nn;
  int k, bits, result_bytes; /* of an element of A and B, and of D */
} instruction;

#define SIGNED(type) #type "pp", type##pp, type##_masked, type##_plain, type##pn, type##np, type##nn

static const instruction instructions[] = {
    {SIGNED(xvf16ger2), 2, 16, 4},
    {SIGNED(xvbf16ger2), 2, 16, 4},
    {SIGNED(xvf32ger), 1, 32, 4},
    {SIGNED(xvf64ger), 1, 64, 8},
    {"xvi8ger4pp", xvi8ger4pp, xvi8ger4_masked, xvi8ger4_plain, NULL, NULL, NULL, 4, 8, 4},
    {"xvi8ger4spp", xvi8ger4spp, xvi8ger4s_masked, xvi8ger4_plain, NULL, NULL, NULL, 4, 8, 4},
    {"xvi4ger8pp", xvi4ger8pp, xvi4ger8_masked, xvi4ger8_plain, NULL, NULL, NULL, 8, 4, 4},
};
enum { COUNT = sizeof instructions / sizeof instructions[0] };

static const instruction *find(const char *name) {
  for (int n = 0; n < COUNT; n++)
    if (strcmp(name, instructions[n].name) == 0) return &instructions[n];
  fail("it knows no ", name);
}

/* ---- The other forms ---- */

static int line_of(const instruction *i) { return i->k * i->bits / 8; }
static int columns_of(const instruction *i) { return ROW_BYTES / i->result_bytes; }

static uint64_t element(const instruction *i, const operands *o, int row, int column) {
  uint64_t d = 0;
  memcpy(&d, o->tile + row * ROW_BYTES + column * i->result_bytes, (size_t)i->result_bytes);
  return d;
}

/* Reports whether both are the same number, any NaN, or zeros of any sign. */
static int same(const instruction *i, uint64_t x, uint64_t y, int any_zero) {
  const int bits = 8 * i->result_bytes, fraction = bits == 32 ? 23 : 52;
  const uint64_t magnitude = ~(UINT64_C(1) << (bits - 1));
  const uint64_t infinity = ((UINT64_C(1) << (bits - 1 - fraction)) - 1) << fraction;
  const int both_nan = (x & magnitude) > infinity && (y & magnitude) > infinity;
  return x == y || (i->pn && both_nan) || (any_zero && ((x | y) & magnitude) == 0);
}

static void negate(uint8_t *numbers, int size, int bytes) {
  for (int n = bytes - 1; n < size; n += bytes) numbers[n] ^= 0x80;
}

/* Checks that `of` computes for `from` what the accumulating form computes for `as`. */
static void check(const instruction *i, step *of, const operands *from, operands as, int any_zero, const char *form) {
  operands o = *from;
  of(&o);
  i->pp(&as);
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < columns_of(i); column++)
      if (!same(i, element(i, &o, row, column), element(i, &as, row, column), any_zero)) {
        fprintf(stderr, JUDGE ": row %d, column %d: %llx, not %llx\n", row, column,
                (unsigned long long)element(i, &o, row, column), (unsigned long long)element(i, &as, row, column));
        fail(form, i->name);
      }
}

/* Checks the masked form, in which the even elements of the operands, and one row and one column of the result, are
   treated as zero. */
static void check_masked(const instruction *i, const operands *from) {
  const int hidden_column = columns_of(i) == 4 ? 2 : 0;
  operands o = *from, as = *from;
  i->masked(&o);
  for (int n = 0; n < ROW_BYTES; n++) {
    const int keeps = i->bits == 4 ? 0xf0 : i->k == 1 || n * 8 / i->bits % 2 ? 0xff : 0;
    as.a[n] &= keeps, as.b[n] &= keeps;
  }
  i->pp(&as);
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < columns_of(i); column++) {
      const int hidden = row == 1 || column == hidden_column;
      if (!same(i, element(i, &o, row, column), hidden ? 0 : element(i, &as, row, column), 0))
        fail("the masked form is not that of zeros: ", i->name);
    }
}

static void check_forms(const instruction *i, const operands *o) {
  const int a_size = ROWS * line_of(i), d_size = ROWS * ROW_BYTES;
  operands as = *o;
  check_masked(i, o);
  memset(as.tile, 0, sizeof as.tile);
  if (i->pn) negate(as.tile, d_size, i->result_bytes);
  check(i, i->plain, o, as, 0, "the form without accumulator is not that of -0: ");
  if (!i->pn) return;
  as = *o;
  negate(as.tile, d_size, i->result_bytes);
  check(i, i->pn, o, as, 0, "pn is not that of -C: ");
  negate(as.a, a_size, i->bits / 8);
  check(i, i->nn, o, as, 1, "nn is not that of -A and -C: ");
  negate(as.tile, d_size, i->result_bytes);
  check(i, i->np, o, as, 1, "np is not that of -A: ");
}

/* ---- Rows ---- */

/* With 4 bits, two elements share a byte. */
static int read_line(const instruction *i, char **text, uint8_t *to) {
  uint8_t number[8];
  if (i->bits >= 8) return read_numbers(text, i->k, i->bits / 8, to);
  if (!read_numbers(text, i->k, 1, number)) return 0;
  for (int n = 0; n < i->k; n += 2) to[n / 2] = (uint8_t)(number[n] | number[n + 1] << 4);
  return 1;
}

static void compute(const instruction *i, char *text) {
  const int line = line_of(i), columns = columns_of(i);
  operands o = {{0}, {0}, {0}};
  for (int turn = 0, count = columns; count == columns; turn++) {
    const int first = turn / columns * columns % ROWS;
    operands before;
    for (count = 0; count < columns; count++) {
      const int row = first + count, column = (row + turn) % columns;
      if (!read_line(i, &text, o.a + row * line)) break;
      if (!read_line(i, &text, o.b + column * line) ||
          !read_numbers(&text, 1, i->result_bytes, o.tile + row * ROW_BYTES + column * i->result_bytes))
        fail("the last row has no end", "");
    }
    before = o;
    i->pp(&o);
    for (int n = 0; n < count; n++)
      write_number(o.tile + (first + n) * ROW_BYTES + (first + n + turn) % columns * i->result_bytes, i->result_bytes);
    check_forms(i, &before);
  }
}

int main(int argc, char **argv) {
  char *text, *at, name[64];
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (int n = 0; n < COUNT; n++) puts(instructions[n].name);
    return 0;
  }
  if (argc > 1) fail("it takes --list or nothing, not ", argv[1]);
  text = at = read_all();
  read_header(&at, name);
  compute(find(name), at);
  free(text);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
