/* arm_rows: reads test vectors as a `pipe:` unit does, and computes them with the Arm instruction that their header
   names. `arm_rows --list` lists the instructions that this CPU, or its emulator, has. For Linux on AArch64, without
   the library:

       cc -O2 -o arm_rows tests/arm_rows.c

   Each step computes as many test vectors as the instruction's tile has rows. They lie on a diagonal of the tile, a
   different diagonal each time. The elements that are not on the diagonal combine operands of different test vectors,
   and are ignored. */
#include <sys/auxv.h>

#define JUDGE "arm_rows"
#include "judge_rows.h"

/* Linux's bits for CPU features (asm/hwcap.h), which older headers lack: bits of AT_HWCAP; numbers from 64 on are bits
   of AT_HWCAP2. */
enum {
  HAS_DOTPROD = 20,
  HAS_SVE_F32MM = 64 + 10,
  HAS_SVE_F64MM = 64 + 11,
  HAS_I8MM = 64 + 13,
  HAS_BF16 = 64 + 14,
  HAS_SME = 64 + 23,
  HAS_SME_F64 = 64 + 25
};

enum { FPCR_EBF = 1 << 13, VECTOR_BYTES = 256 };

/* Operands of one step. The elements of a lane, or of a row of A and a column of B, are contiguous. The tile is C
   before the step and D after it. */
typedef struct {
  _Alignas(VECTOR_BYTES) uint8_t a[VECTOR_BYTES], b[VECTOR_BYTES], tile[VECTOR_BYTES * VECTOR_BYTES / 4];
} operands;

/* ---- Advanced SIMD ---- */

#define VECTOR_STEP(name, instruction)                                                                               \
  static void name(operands *o) {                                                                                    \
    __asm__ volatile(".arch armv8.6-a\n ldr q0, [%0]\n ldr q1, [%1]\n ldr q2, [%2]\n " instruction "\n str q2, [%2]" \
                     :                                                                                               \
                     : "r"(o->a), "r"(o->b), "r"(o->tile)                                                            \
                     : "v0", "v1", "v2", "memory");                                                                  \
  }
VECTOR_STEP(bfdot, "bfdot v2.4s, v0.8h, v1.8h")
VECTOR_STEP(bfmmla, "bfmmla v2.4s, v0.8h, v1.8h")
VECTOR_STEP(sdot, "sdot v2.4s, v0.16b, v1.16b")
VECTOR_STEP(udot, "udot v2.4s, v0.16b, v1.16b")
VECTOR_STEP(usdot, "usdot v2.4s, v0.16b, v1.16b")
VECTOR_STEP(sudot, "sudot v2.4s, v0.16b, v1.4b[0]")
VECTOR_STEP(smmla, "smmla v2.4s, v0.16b, v1.16b")
VECTOR_STEP(ummla, "ummla v2.4s, v0.16b, v1.16b")
VECTOR_STEP(usmmla, "usmmla v2.4s, v0.16b, v1.16b")

/* ---- SVE: the first segment of the vector, 128 bits of f32 and 256 of f64 ---- */

#define SEGMENT_STEP(name, type, load)                                                                    \
  static void name(operands *o) {                                                                         \
    __asm__ volatile(".arch armv8.6-a+sve+f32mm+f64mm\n ptrue p0." type ", vl4\n ld1" load " {z0." type   \
                     "}, p0/z, [%0]\n ld1" load " {z1." type "}, p0/z, [%1]\n ld1" load " {z2." type      \
                     "}, p0/z, [%2]\n"                                                                    \
                     " fmmla z2." type ", z0." type ", z1." type "\n st1" load " {z2." type "}, p0, [%2]" \
                     :                                                                                    \
                     : "r"(o->a), "r"(o->b), "r"(o->tile)                                                 \
                     : "v0", "v1", "v2", "memory");                                                       \
  }
SEGMENT_STEP(fmmla_s, "s", "w")
SEGMENT_STEP(fmmla_d, "d", "d")

/* ---- SME: load the tile into ZA row by row, compute the outer product, store the tile; vector lengths differ in
   streaming mode ---- */

#define OUTER_STEP(name, type, load, instruction)                                                                      \
  static void name(operands *o) {                                                                                      \
    uint8_t *in = o->tile, *out = o->tile;                                                                             \
    __asm__ volatile(".arch armv8.6-a+sve\n .arch_extension sme-f64\n smstart\n ptrue p0.b\n cnt" load                 \
                     " x9\n"                                                                                           \
                     " mov w12, #0\n1: ld1" load " {za0h." type                                                        \
                     "[w12, 0]}, p0/z, [%0]\n addvl %0, %0, #1\n"                                                      \
                     " add w12, w12, #1\n cmp w12, w9\n b.lo 1b\n ldr z0, [%2]\n ldr z1, [%3]\n " instruction          \
                     "\n mov w12, #0\n2: st1" load " {za0h." type                                                      \
                     "[w12, 0]}, p0, [%1]\n addvl %1, %1, #1\n"                                                        \
                     " add w12, w12, #1\n cmp w12, w9\n b.lo 2b\n smstop"                                              \
                     : "+r"(in), "+r"(out)                                                                             \
                     : "r"(o->a), "r"(o->b)                                                                            \
                     : "x9", "x12", "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", \
                       "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",      \
                       "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");                                        \
  }
OUTER_STEP(bfmopa, "s", "w", "bfmopa za0.s, p0/m, p0/m, z0.h, z1.h")
OUTER_STEP(fmopa_s_h, "s", "w", "fmopa za0.s, p0/m, p0/m, z0.h, z1.h")
OUTER_STEP(fmopa_s, "s", "w", "fmopa za0.s, p0/m, p0/m, z0.s, z1.s")
OUTER_STEP(fmopa_d, "d", "d", "fmopa za0.d, p0/m, p0/m, z0.d, z1.d")
OUTER_STEP(smopa, "s", "w", "smopa za0.s, p0/m, p0/m, z0.b, z1.b")
OUTER_STEP(umopa, "s", "w", "umopa za0.s, p0/m, p0/m, z0.b, z1.b")
OUTER_STEP(usmopa, "s", "w", "usmopa za0.s, p0/m, p0/m, z0.b, z1.b")
OUTER_STEP(sumopa, "s", "w", "sumopa za0.s, p0/m, p0/m, z0.b, z1.b")

/* Returns the bytes of a vector in streaming mode. */
static int streaming_bytes(void) {
  uint64_t bytes;
  __asm__(".arch armv8.6-a+sve\n .arch_extension sme\n rdsvl %0, #1" : "=r"(bytes));
  return (int)bytes;
}

/* ---- The instructions ---- */

typedef enum { LANES, FIRST_OF_B, TILE, OUTER } arrangement; /* FIRST_OF_B: one b for all lanes */

typedef struct {
  const char *name;
  void (*step)(operands *);
  int has; /* feature that the CPU must have */
  arrangement how;
  int k, bytes, result_bytes; /* bytes of an element of A and B, and of D */
  uint64_t fpcr;
} instruction;

static const instruction instructions[] = {
    {"bfmmla", bfmmla, HAS_BF16, TILE, 4, 2, 4, 0},
    {"bfdot", bfdot, HAS_BF16, LANES, 2, 2, 4, 0},
    {"bfmopa", bfmopa, HAS_SME, OUTER, 2, 2, 4, 0},
    {"bfmmla.ebf", bfmmla, HAS_BF16, TILE, 4, 2, 4, FPCR_EBF},
    {"bfdot.ebf", bfdot, HAS_BF16, LANES, 2, 2, 4, FPCR_EBF},
    {"bfmopa.ebf", bfmopa, HAS_SME, OUTER, 2, 2, 4, FPCR_EBF},
    {"fmopa.s.h", fmopa_s_h, HAS_SME, OUTER, 2, 2, 4, 0},
    {"fmmla.s", fmmla_s, HAS_SVE_F32MM, TILE, 2, 4, 4, 0},
    {"fmmla.d", fmmla_d, HAS_SVE_F64MM, TILE, 2, 8, 8, 0},
    {"fmopa.s", fmopa_s, HAS_SME, OUTER, 1, 4, 4, 0},
    {"fmopa.d", fmopa_d, HAS_SME_F64, OUTER, 1, 8, 8, 0},
    {"smmla", smmla, HAS_I8MM, TILE, 8, 1, 4, 0},
    {"ummla", ummla, HAS_I8MM, TILE, 8, 1, 4, 0},
    {"usmmla", usmmla, HAS_I8MM, TILE, 8, 1, 4, 0},
    {"sdot", sdot, HAS_DOTPROD, LANES, 4, 1, 4, 0},
    {"udot", udot, HAS_DOTPROD, LANES, 4, 1, 4, 0},
    {"usdot", usdot, HAS_I8MM, LANES, 4, 1, 4, 0},
    {"sudot", sudot, HAS_I8MM, FIRST_OF_B, 4, 1, 4, 0},
    {"smopa", smopa, HAS_SME, OUTER, 4, 1, 4, 0},
    {"umopa", umopa, HAS_SME, OUTER, 4, 1, 4, 0},
    {"usmopa", usmopa, HAS_SME, OUTER, 4, 1, 4, 0},
    {"sumopa", sumopa, HAS_SME, OUTER, 4, 1, 4, 0},
};
enum { COUNT = sizeof instructions / sizeof instructions[0] };

static int cpu_has(int bit) {
  return bit < 64 ? getauxval(AT_HWCAP) >> bit & 1 : getauxval(AT_HWCAP2) >> (bit - 64) & 1;
}

/* Sets the mode. Reports whether the CPU supports it: otherwise FPCR does not retain its bits. */
static int takes_mode(uint64_t fpcr) {
  uint64_t kept;
  __asm__ volatile("msr fpcr, %1\n mrs %0, fpcr" : "=&r"(kept) : "r"(fpcr));
  return kept == fpcr;
}

static int usable(const instruction *i) {
  return cpu_has(i->has) && (i->how != OUTER || cpu_has(HAS_SME)) && takes_mode(i->fpcr);
}

static const instruction *find(const char *name) {
  for (int i = 0; i < COUNT; i++) {
    if (strcmp(name, instructions[i].name) != 0) continue;
    if (!usable(&instructions[i])) fail("this CPU does not have ", name);
    return &instructions[i];
  }
  fail("it knows no ", name);
}

/* ---- Rows ---- */

/* Returns the position in the tile of the result of test vector `row`. */
static uint8_t *place(const instruction *i, operands *o, int width, int row, int turn) {
  const int column = i->how == LANES || i->how == FIRST_OF_B ? 0 : (row + turn) % width;
  return o->tile + (i->how == TILE || i->how == OUTER ? row * width + column : row) * i->result_bytes;
}

static void compute(const instruction *i, char *text) {
  static operands o;
  const int line = i->k * i->bytes;
  const int width = i->how == OUTER ? streaming_bytes() / i->result_bytes : i->how == TILE ? 2 : 4;
  for (int turn = 0, count = width; count == width; turn++) {
    const int lane = i->how == FIRST_OF_B ? turn % width : 0;
    for (count = 0; count < (i->how == FIRST_OF_B ? 1 : width); count++) {
      const int row = lane + count;
      const int column = i->how == FIRST_OF_B ? 0 : i->how == LANES ? row : (row + turn) % width;
      if (!read_numbers(&text, i->k, i->bytes, o.a + row * line)) break;
      if (!read_numbers(&text, i->k, i->bytes, o.b + column * line) ||
          !read_numbers(&text, 1, i->result_bytes, place(i, &o, width, row, turn)))
        fail("the last row has no end", "");
    }
    i->step(&o);
    for (int n = 0; n < count; n++) write_number(place(i, &o, width, lane + n, turn), i->result_bytes);
    if (i->how == FIRST_OF_B && count == 1) count = width;
  }
}

int main(int argc, char **argv) {
  const instruction *i;
  char *text, *at, name[64];
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (int n = 0; n < COUNT; n++)
      if (usable(&instructions[n])) puts(instructions[n].name);
    return 0;
  }
  if (argc > 1) fail("it takes --list or nothing, not ", argv[1]);
  text = at = read_all();
  read_header(&at, name);
  i = find(name);
  takes_mode(i->fpcr);
  compute(i, at);
  free(text);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
