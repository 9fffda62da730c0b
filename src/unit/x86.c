/* The x86 instructions of this CPU as a unit: hardware that is available almost everywhere. */
#define _DEFAULT_SOURCE /* syscall */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cpu.h"
#include "unit/unit.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <emmintrin.h>
#include <immintrin.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* ---- Features of this CPU ---- */

typedef enum { EAX, EBX, ECX, EDX } cpuid_register;

/* One feature bit of CPUID: its leaf, subleaf, register and position. */
typedef struct {
  unsigned leaf, subleaf;
  cpuid_register reg;
  unsigned bit;
} cpuid_flag;

/* Bits of the register XCR0: the registers that the operating system saves. */
enum { KEEPS_AVX = 0x6, KEEPS_AVX512 = 0xe6, KEEPS_TILES = 0x60000 };

static bool has_flag(cpuid_flag flag) {
  unsigned r[4];
  return __get_cpuid_count(flag.leaf, flag.subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) &&
         (r[flag.reg] >> flag.bit & 1);
}

/* Reports whether the operating system saves these registers (KEEPS_...). */
static bool system_keeps(unsigned parts) {
  const unsigned osxsave = 1u << 27;
  unsigned r[4], low, high;
  if (!__get_cpuid(1, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) || !(r[ECX] & osxsave)) return false;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & parts) == parts;
}

/* Requests Linux's permission to use tiles, which a process needs. Returns false if it is refused. Source: Linux
   documentation, x86/xstate. */
static bool may_use_tiles(void) {
#ifdef __linux__
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XTILEDATA = 18 };
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA) == 0;
#else
  return false;
#endif
}

/* ---- Vector instructions: a row is a 32-bit lane ---- */

enum { LANES = 4 };

typedef __m128i lanes_function(__m128i a, __m128i b, __m128i c);

/* A function that runs one instruction, which computes xmm0 from xmm0, xmm1 and xmm2. `code` is its machine code in
   bytes, because not every assembler knows these instructions. */
#define ON_LANES(name, code)                             \
  static __m128i name(__m128i a, __m128i b, __m128i c) { \
    register __m128i d __asm__("xmm0") = c;              \
    register __m128i x __asm__("xmm1") = a;              \
    register __m128i y __asm__("xmm2") = b;              \
    __asm__(".byte " code : "+x"(d) : "x"(x), "x"(y));   \
    return d;                                            \
  }

ON_LANES(vdpbf16ps, "0x62, 0xf2, 0x76, 0x08, 0x52, 0xc2")
ON_LANES(evex_vpdpbusd, "0x62, 0xf2, 0x75, 0x08, 0x50, 0xc2")
ON_LANES(evex_vpdpbusds, "0x62, 0xf2, 0x75, 0x08, 0x51, 0xc2")
ON_LANES(vex_vpdpbusd, "0xc4, 0xe2, 0x71, 0x50, 0xc2")
ON_LANES(vex_vpdpbusds, "0xc4, 0xe2, 0x71, 0x51, 0xc2")
ON_LANES(vpdpbssd, "0xc4, 0xe2, 0x73, 0x50, 0xc2")
ON_LANES(vpdpbssds, "0xc4, 0xe2, 0x73, 0x51, 0xc2")
ON_LANES(vpdpbsud, "0xc4, 0xe2, 0x72, 0x50, 0xc2")
ON_LANES(vpdpbsuds, "0xc4, 0xe2, 0x72, 0x51, 0xc2")
ON_LANES(vpdpbuud, "0xc4, 0xe2, 0x70, 0x50, 0xc2")

static __m128i load_lanes(const void *from, size_t first, size_t count) {
  uint32_t x[LANES] = {0};
  __m128i v;
  memcpy(x, (const char *)from + first * sizeof *x, count * sizeof *x);
  memcpy(&v, x, sizeof v);
  return v;
}

static void run_lanes(lanes_function *compute, const smma_batch *batch) {
  for (size_t row = 0; row < batch->rows; row += LANES) {
    const size_t rows = batch->rows - row < LANES ? batch->rows - row : LANES;
    const __m128i d =
        compute(load_lanes(batch->a, row, rows), load_lanes(batch->b, row, rows), load_lanes(batch->c, row, rows));
    memcpy((char *)batch->d + row * sizeof(uint32_t), &d, rows * sizeof(uint32_t));
  }
}

/* ---- AMX: 16 rows are the diagonal of a tile ---- */

enum { TILE = 16 };

typedef uint32_t tile[TILE][TILE];
typedef void tiles_function(const tile a, const tile b, tile d);

/* The tile configuration, palette 1: tiles 0 to 2, of 16 rows of 64 bytes. */
static const struct {
  uint8_t palette, start_row, reserved[14];
  uint16_t bytes_per_row[16];
  uint8_t rows[16];
} tile_configuration = {1, 0, {0}, {64, 64, 64}, {TILE, TILE, TILE}};

/* A function that runs one tile instruction. `code` is its machine code, which computes tile 0 from tiles 0, 1 and 2.
   ldtilecfg and three tileloadd come before it, tilestored and tilerelease after it. */
#define ON_TILES(name, code)                                                                                  \
  static void name(const tile a, const tile b, tile d) {                                                      \
    __asm__ volatile(                                                                                         \
        ".byte 0xc4, 0xe2, 0x78, 0x49, 0x00\n\t.byte 0xc4, 0xe2, 0x7b, 0x4b, 0x04, 0x0f\n\t"                  \
        ".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x0c, 0x0e\n\t.byte 0xc4, 0xe2, 0x7b, 0x4b, 0x14, 0x0a\n\t.byte " code \
        "\n\t.byte 0xc4, 0xe2, 0x7a, 0x4b, 0x04, 0x0f\n\t.byte 0xc4, 0xe2, 0x78, 0x49, 0xc0"                  \
        :                                                                                                     \
        : "a"(&tile_configuration), "D"(d), "S"(a), "d"(b), "c"(sizeof *a)                                    \
        : "memory");                                                                                          \
  }

ON_TILES(tdpbf16ps, "0xc4, 0xe2, 0x6a, 0x5c, 0xc1")
ON_TILES(tdpfp16ps, "0xc4, 0xe2, 0x6b, 0x5c, 0xc1")
ON_TILES(tdpbssd, "0xc4, 0xe2, 0x6b, 0x5e, 0xc1")
ON_TILES(tdpbsud, "0xc4, 0xe2, 0x6a, 0x5e, 0xc1")
ON_TILES(tdpbusd, "0xc4, 0xe2, 0x69, 0x5e, 0xc1")
ON_TILES(tdpbuud, "0xc4, 0xe2, 0x68, 0x5e, 0xc1")
ON_TILES(tdpbf8ps, "0xc4, 0xe5, 0x68, 0xfd, 0xc1")
ON_TILES(tdpbhf8ps, "0xc4, 0xe5, 0x6b, 0xfd, 0xc1")
ON_TILES(tdphbf8ps, "0xc4, 0xe5, 0x6a, 0xfd, 0xc1")
ON_TILES(tdphf8ps, "0xc4, 0xe5, 0x69, 0xfd, 0xc1")

static void run_tiles(tiles_function *compute, const smma_batch *batch) {
  for (size_t row = 0; row < batch->rows; row += TILE) {
    const size_t rows = batch->rows - row < TILE ? batch->rows - row : TILE;
    tile a = {{0}}, b = {{0}}, d = {{0}}, of_b;
    memcpy(a, (const char *)batch->a + row * sizeof *a, rows * sizeof *a);
    memcpy(of_b, (const char *)batch->b + row * sizeof *of_b, rows * sizeof *of_b);
    for (size_t i = 0; i < rows; i++) {
      for (size_t k = 0; k < TILE; k++) b[k][i] = of_b[i][k];
      memcpy(&d[i][i], (const char *)batch->c + (row + i) * sizeof **d, sizeof **d);
    }
    compute((const uint32_t(*)[TILE])a, (const uint32_t(*)[TILE])b, d);
    for (size_t i = 0; i < rows; i++) memcpy((char *)batch->d + (row + i) * sizeof **d, &d[i][i], sizeof **d);
  }
}

/* ---- Instructions and their CPUID bits ---- */

/* An extension of the instruction set, shown by one or two bits of CPUID. `keeps` has the registers that the operating
   system must save. Source: Intel's manual, CPUID. */
typedef struct {
  const char *name;
  cpuid_flag flag[2];
  int flags;
  unsigned keeps;
} extension;

#define AVX512VL \
  { 7, 0, EBX, 31 }
#define AMX_TILE \
  { 7, 0, EDX, 24 }

static const extension avx512_bf16 = {"AVX512_BF16", {{7, 1, EAX, 5}, AVX512VL}, 2, KEEPS_AVX512},
                       avx512_vnni = {"AVX512_VNNI", {{7, 0, ECX, 11}, AVX512VL}, 2, KEEPS_AVX512},
                       avx_vnni = {"AVX-VNNI", {{7, 1, EAX, 4}}, 1, KEEPS_AVX},
                       avx_vnni_int8 = {"AVX-VNNI-INT8", {{7, 1, EDX, 4}}, 1, KEEPS_AVX},
                       amx_bf16 = {"AMX-BF16", {{7, 0, EDX, 22}, AMX_TILE}, 2, KEEPS_TILES},
                       amx_int8 = {"AMX-INT8", {{7, 0, EDX, 25}, AMX_TILE}, 2, KEEPS_TILES},
                       amx_fp16 = {"AMX-FP16", {{7, 1, EAX, 21}, AMX_TILE}, 2, KEEPS_TILES},
                       amx_fp8 = {"AMX-FP8", {{0x1e, 1, EAX, 4}, AMX_TILE}, 2, KEEPS_TILES};

/* Reports whether the CPU has the extension. All extensions here are newer than AVX2, so they count as missing if
   SOFTMMA_CPU hides AVX-512. */
static bool has(const extension *x) {
  if (smma_cpu_hides(SMMA_CPU_AVX512)) return false;
  for (int i = 0; i < x->flags; i++)
    if (!has_flag(x->flag[i])) return false;
  return system_keeps(x->keeps) && (x->keeps != KEEPS_TILES || may_use_tiles());
}

/* One form (encoding) of an instruction. All forms of an instruction that the CPU has must give the same result. */
typedef struct {
  const char *name;
  const extension *of;
  lanes_function *on_lanes;
  tiles_function *on_tiles;
} form;

static const form forms[] = {
    {"vdpbf16ps", &avx512_bf16, vdpbf16ps, NULL},   {"vpdpbusd", &avx512_vnni, evex_vpdpbusd, NULL},
    {"vpdpbusd", &avx_vnni, vex_vpdpbusd, NULL},    {"vpdpbusds", &avx512_vnni, evex_vpdpbusds, NULL},
    {"vpdpbusds", &avx_vnni, vex_vpdpbusds, NULL},  {"vpdpbssd", &avx_vnni_int8, vpdpbssd, NULL},
    {"vpdpbssds", &avx_vnni_int8, vpdpbssds, NULL}, {"vpdpbsud", &avx_vnni_int8, vpdpbsud, NULL},
    {"vpdpbsuds", &avx_vnni_int8, vpdpbsuds, NULL}, {"vpdpbuud", &avx_vnni_int8, vpdpbuud, NULL},
    {"tdpbf16ps", &amx_bf16, NULL, tdpbf16ps},      {"tdpfp16ps", &amx_fp16, NULL, tdpfp16ps},
    {"tdpbssd", &amx_int8, NULL, tdpbssd},          {"tdpbsud", &amx_int8, NULL, tdpbsud},
    {"tdpbusd", &amx_int8, NULL, tdpbusd},          {"tdpbuud", &amx_int8, NULL, tdpbuud},
    {"tdpbf8ps", &amx_fp8, NULL, tdpbf8ps},         {"tdpbhf8ps", &amx_fp8, NULL, tdpbhf8ps},
    {"tdphbf8ps", &amx_fp8, NULL, tdphbf8ps},       {"tdphf8ps", &amx_fp8, NULL, tdphf8ps},
};
enum { FORMS = sizeof forms / sizeof *forms };

static bool is_form_of(const form *f, const smma_instruction_info *i) {
  return strcmp(i->arch, "x86") == 0 && strcmp(i->name, f->name) == 0;
}

/* Returns the first form of an instruction that this CPU has, or NULL with a message with the reason. */
static const form *form_of(const smma_instruction_info *i, char *message, size_t size) {
  const form *known = NULL;
  for (const form *f = forms; f < forms + FORMS; f++) {
    if (!is_form_of(f, i)) continue;
    if (has(f->of)) return f;
    known = f;
  }
  if (!known)
    snprintf(message, size, "a CPU has only instructions of x86");
  else
    snprintf(message, size, "this CPU has no %s, or its system does not let it be used", known->of->name);
  return NULL;
}

static const char *why_not(void) {
  if (smma_cpu_hides(SMMA_CPU_AVX512)) return "SOFTMMA_CPU hides the instructions of this CPU that the unit has";
  for (const form *f = forms; f < forms + FORMS; f++)
    if (has(f->of)) return NULL;
  return "this CPU has none of AVX512_BF16, AVX512_VNNI, AVX-VNNI, AVX-VNNI-INT8 and AMX";
}

static void run_form(const form *f, const smma_batch *batch) {
  if (f->on_lanes)
    run_lanes(f->on_lanes, batch);
  else
    run_tiles(f->on_tiles, batch);
}

static int run_batch(const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  const form *first = form_of(i, message, size);
  if (!first) return 1;
  run_form(first, batch);
  for (const form *f = first + 1; f < forms + FORMS; f++) {
    smma_batch other = *batch;
    int differ;
    if (!is_form_of(f, i) || !has(f->of)) continue;
    other.d = malloc(batch->rows * sizeof(uint32_t) + 1);
    if (!other.d) {
      snprintf(message, size, "no memory for %zu results", batch->rows);
      return 1;
    }
    run_form(f, &other);
    differ = memcmp(other.d, batch->d, batch->rows * sizeof(uint32_t));
    free(other.d);
    if (!differ) continue;
    snprintf(message, size, "%s of %s and of %s gives other results", i->name, first->of->name, f->of->name);
    return 1;
  }
  return 0;
}

static int computes(const smma_instruction_info *i, char *message, size_t size) {
  return form_of(i, message, size) == NULL;
}

/* Describes the CPU: "AMD EPYC, family 25, model 17". Names alone do not distinguish generations. */
static void describe_cpu(char *text, size_t size) {
  unsigned name[13] = {0}, version = 0, others[3], family, model;
  size_t length;
  for (unsigned i = 0; i < 3; i++)
    __get_cpuid(0x80000002 + i, &name[4 * i], &name[4 * i + 1], &name[4 * i + 2], &name[4 * i + 3]);
  for (length = strlen((const char *)name); length > 0 && ((const char *)name)[length - 1] == ' ';) length--;
  __get_cpuid(1, &version, &others[0], &others[1], &others[2]);
  family = (version >> 8 & 15) + ((version >> 8 & 15) == 15 ? version >> 20 & 255 : 0);
  model = (version >> 4 & 15) | (version >> 16 & 15) << 4;
  snprintf(text, size, "%.*s, family %u, model %u", (int)length, (const char *)name, family, model);
}

#else

static const char no_x86[] = "this is no x86-64, or its compiler is neither GCC nor clang";
static const char *why_not(void) { return no_x86; }
static void describe_cpu(char *text, size_t size) { snprintf(text, size, "unknown"); }

static int computes(const smma_instruction_info *i, char *message, size_t size) {
  (void)i;
  snprintf(message, size, "%s", no_x86);
  return 1;
}

static int run_batch(const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  (void)batch;
  return computes(i, message, size);
}

#endif

static int x86_open(const char *arguments, void **unit, char *message, size_t size) {
  const char *why = why_not();
  (void)arguments;
  *unit = NULL;
  if (why) snprintf(message, size, "%s", why);
  return why != NULL;
}

static void x86_close(void *unit) { (void)unit; }

static void x86_describe(void *unit, smma_unit_description *description) {
  (void)unit;
  describe_cpu(description->device, sizeof description->device);
}

static int x86_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  (void)unit;
  return computes(i, message, size);
}

static int x86_run(void *unit, const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  (void)unit;
  return run_batch(i, batch, message, size);
}

const smma_unit_methods smma_unit_x86 = {SMMA_UNIT_ABI, x86_open, x86_close, x86_describe, x86_computes, x86_run};
