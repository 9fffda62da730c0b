/* Results that are known independently of the models: reported by papers and hardware, or derived by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rows/check.h"
#include "support.h"

/* An expected result of d = c + a_0 b_0 + a_1 b_1 + ...; elements that are not given are +0. */
typedef struct {
  const char *gpu, *instruction;
  double a[4], b[4], c, d;
} fact;

/* c = 2^23, products -2^23, -0.5, -0.25, -0.125. */
#define CANCELLATION {-0x1p13, -0.5, -0.25, -0.125}, {0x1p10, 1, 1, 1}, 0x1p23
/* CANCELLATION times 2^-7, which is in the range of E4M3. */
#define SMALLER_CANCELLATION {-0x1p8, -0x1p-4, -0x1p-5, -0x1p-6}, {0x1p8, 0x1p-4, 0x1p-4, 0x1p-4}, 0x1p16

static const fact cancellation[] = {
    {"A100", "mma.m8n8k4.f64.f64.f64.f64", CANCELLATION, -0.875},
    {"RTX 4090", "mma.m8n8k4.f64.f64.f64.f64", CANCELLATION, -0.875},
    {"H100", "mma.m8n8k4.f64.f64.f64.f64", CANCELLATION, -0.875},
    {"H100", "mma.m16n8k16.f64.f64.f64.f64", CANCELLATION, -0.875},
    {"B200", "mma.m8n8k4.f64.f64.f64.f64", CANCELLATION, -0.875},
    {"MI250X", "v_mfma_f64_16x16x4f64", CANCELLATION, -0.875},
    {"MI300X", "v_mfma_f64_16x16x4_f64", CANCELLATION, -0.875},
    {"MI100", "v_mfma_f32_16x16x4f32", CANCELLATION, -0.875},
    {"MI100", "v_mfma_f32_16x16x16f16", CANCELLATION, -0.875},
    {"MI100", "v_mfma_f32_16x16x8bf16", CANCELLATION, -0.875},
    {"arm", "bfmmla", CANCELLATION, -1.375},
    {"arm", "bfmmla.ebf", CANCELLATION, -0.375},
    {"V100", "mma.m8n8k4.f32.f16.f16.f32", CANCELLATION, 0},
    {"RTX 4090", "mma.m16n8k16.f32.e5m2.e5m2.f32", CANCELLATION, 0},
    {"L40S", "mma.m16n8k32.f32.e5m2.e5m2.f32", CANCELLATION, 0},
    {"L40S", "mma.m16n8k32.f32.e4m3.e4m3.f32", SMALLER_CANCELLATION, 0},
    {"H100", "wgmma.m64n8k32.f32.e5m2.e5m2", CANCELLATION, 0},
    {"H100", "wgmma.m64n256k32.f32.e4m3.e4m3", SMALLER_CANCELLATION, 0},
    {"MI250X", "v_mfma_f32_16x16x16f16", CANCELLATION, 0},
    {"MI250X", "v_mfma_f32_16x16x16bf16_1k", CANCELLATION, 0},
    {"T4", "mma.m8n8k4.f32.f16.f16.f32", CANCELLATION, -0.5},
    {"T4", "mma.m16n8k8.f32.f16.f16.f32", CANCELLATION, -0.5},
    {"A100", "mma.m16n8k16.f32.f16.f16.f32", CANCELLATION, -0.5},
    {"A100", "mma.m16n8k16.f32.bf16.bf16.f32", CANCELLATION, -0.5},
    {"A100", "mma.m16n8k4.f32.tf32.tf32.f32", CANCELLATION, -0.5},
    {"A100", "mma.m16n8k8.f32.tf32.tf32.f32", CANCELLATION, -0.5},
    {"RTX 4090", "mma.m16n8k16.f32.f16.f16.f32", CANCELLATION, -0.5},
    {"RTX 4090", "mma.m16n8k16.f32.bf16.bf16.f32", CANCELLATION, -0.5},
    {"RTX 4090", "mma.m16n8k8.f32.tf32.tf32.f32", CANCELLATION, -0.5},
    {"MI300X", "v_mfma_f32_16x16x16_f16", CANCELLATION, -0.5},
    {"MI300X", "v_mfma_f32_16x16x16_bf16", CANCELLATION, -0.5},
    {"H100", "mma.m16n8k16.f32.f16.f16.f32", CANCELLATION, -0.75},
    {"H100", "mma.m16n8k16.f32.bf16.bf16.f32", CANCELLATION, -0.75},
    {"H100", "mma.m16n8k8.f32.tf32.tf32.f32", CANCELLATION, -0.75},
    {"H100", "wgmma.m64n8k16.f32.f16.f16", CANCELLATION, -0.75},
    {"H100", "wgmma.m64n8k16.f32.bf16.bf16", CANCELLATION, -0.75},
    {"H100", "wgmma.m64n8k8.f32.tf32.tf32", CANCELLATION, -0.75},
    {"B200", "mma.m16n8k16.f32.f16.f16.f32", CANCELLATION, -0.75},
    {"B200", "mma.m16n8k16.f32.bf16.bf16.f32", CANCELLATION, -0.75},
    {"B200", "mma.m16n8k8.f32.tf32.tf32.f32", CANCELLATION, -0.75},
    {"B200", "tcgen05.m64n8k16.f32.f16.f16", CANCELLATION, -0.75},
    {"B200", "tcgen05.m64n8k16.f32.bf16.bf16", CANCELLATION, -0.75},
    {"B200", "tcgen05.m64n8k8.f32.tf32.tf32", CANCELLATION, -0.75},
    {"B200", "tcgen05.m128n16k32.f32.e5m2.e5m2", CANCELLATION, -0.75},
    {"B200", "tcgen05.m128n16k32.f32.e4m3.e4m3", SMALLER_CANCELLATION, -0.75 * 0x1p-7},
    {"RTX PRO 6000", "mma.m16n8k16.f32.f16.f16.f32", CANCELLATION, -0.75},
    {"RTX PRO 6000", "mma.m16n8k16.f32.bf16.bf16.f32", CANCELLATION, -0.75},
    {"RTX PRO 6000", "mma.m16n8k8.f32.tf32.tf32.f32", CANCELLATION, -0.75},
    {"RTX PRO 6000", "mma.m16n8k32.f32.e5m2.e5m2.f32", CANCELLATION, -0.75},
    {"MI250X", "v_mfma_f32_16x16x8bf16", CANCELLATION, -0.375},
    {"MI250X", "v_mfma_f32_16x16x2bf16", {-0x1p13, -0.5}, {0x1p10, 1}, 0x1p23, 0},
    {"MI300X", "v_mfma_f32_16x16x32_bf8_bf8", CANCELLATION, -1},
};

/* Products 2^22 and -2^22, c = -1e-6: CDNA 3 rounds c down; units that truncate toward zero lose it. */
#define NEGATIVE_REST {2048, 2048}, {2048, -2048}, -1e-6

static const fact negative_rest[] = {
    {"MI300X", "v_mfma_f32_16x16x16_f16", NEGATIVE_REST, -0.25},
    {"V100", "mma.m8n8k4.f32.f16.f16.f32", NEGATIVE_REST, 0},
    {"T4", "mma.m16n8k8.f32.f16.f16.f32", NEGATIVE_REST, 0},
    {"A100", "mma.m16n8k16.f32.f16.f16.f32", NEGATIVE_REST, 0},
    {"RTX 4090", "mma.m16n8k16.f32.f16.f16.f32", NEGATIVE_REST, 0},
    {"H100", "mma.m16n8k16.f32.f16.f16.f32", NEGATIVE_REST, 0},
    {"H100", "wgmma.m64n8k16.f32.f16.f16", NEGATIVE_REST, 0},
    {"B200", "mma.m16n8k16.f32.f16.f16.f32", NEGATIVE_REST, 0},
    {"B200", "tcgen05.m64n8k16.f32.f16.f16", NEGATIVE_REST, 0},
    {"RTX PRO 6000", "mma.m16n8k16.f32.f16.f16.f32", NEGATIVE_REST, 0},
};

/* Products are not normalised, so the result depends on the factors of a product; and sums are not monotonic. */
static const fact volta[] = {
    {"V100", "HMMA.884.F32.F32", {1.5, 0x1p-12, 0x1p-12}, {1.5, 0x1p-11, 0x1p-11}, 0, 2.25 + 0x1p-22},
    {"V100", "HMMA.884.F32.F32", {1, 0x1p-12, 0x1p-12}, {2.25, 0x1p-11, 0x1p-11}, 0, 2.25},
    {"V100", "HMMA.884.F32.F32", {0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12}, 1, 1},
    {"V100",
     "HMMA.884.F32.F32",
     {0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12},
     {0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12},
     1 - 0x1p-24,
     1 + 0x1p-23},
};

static const fact turing_zero[] = {
    {"T4", "mma.m16n8k8.f32.f16.f16.f32", {-0.0}, {0}, -0.0, 0},
    {"T4", "mma.m16n8k8.f16.f16.f16.f16", {-0.0}, {0}, -0.0, 0},
    {"T4", "mma.m8n8k4.f32.f16.f16.f32", {-0.0, -0.0, -0.0, -0.0}, {0}, -0.0, 0},
    {"T4", "mma.m8n8k4.f32.f16.f16.f16", {-0.0, -0.0, -0.0, -0.0}, {0}, -0.0, 0},
    {"T4", "mma.m8n8k4.f16.f16.f16.f16", {-0.0, -0.0, -0.0, -0.0}, {0}, -0.0, 0},
};

#define S8 "mma.m16n8k32.s32.s8.s8.s32"
#define S8_SATURATING "mma.m16n8k32.satfinite.s32.s8.s8.s32"

/* Derived by hand. The last saturating sums leave the range and return to it. */
static const fact integers[] = {
    {"A100", S8, {-128, 127, 1}, {-128, -128, 3}, 5, 136},
    {"A100", S8, {1}, {1}, 0x7fffffff, -0x80000000p0},
    {"A100", S8, {-128}, {127}, -0x80000000p0, 0x80000000p0 - 16256},
    {"A100", S8_SATURATING, {1}, {1}, 0x7fffffff, 0x7fffffff},
    {"A100", S8_SATURATING, {-128}, {127}, -0x80000000p0, -0x80000000p0},
    {"A100", S8_SATURATING, {127, -128, 1}, {127, 127, -1}, 0x7fffffff, 0x7fffffff - 128},
    {"A100", S8_SATURATING, {127, -128}, {127, 127}, 0x7fffffff, 0x7fffffff - 127},
    {"T4", "mma.m8n8k16.s32.u8.s8.s32", {255, 255}, {-128, 127}, 0, -255},
    {"T4", "mma.m8n8k16.s32.u8.u8.s32", {255, 255, 255}, {255, 255, 255}, -1, 195074},
    {"H100", "wgmma.m64n8k32.s32.s8.u8", {-128, -128}, {255, 1}, 0, -32768},
    {"B200", "tcgen05.m64n8k32.satfinite.s32.u8.u8", {255}, {255}, 0x7fffffff - 65024, 0x7fffffff},
    {"MI100", "v_mfma_i32_4x4x4i8", {-128, -128, -128, -128}, {-128, -128, -128, -128}, 0x7fffffff, -2147418113},
    {"MI300X", "v_mfma_i32_16x16x32_i8", {-128}, {-128}, -16385, -1},
};

/* Returns the encoding of a value. If `exact`, checks that the format holds the value exactly. */
static uint64_t encode(smma_format format, double value, int exact) {
  uint64_t x = smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
  if (exact && smma_format_decode(format, x) != value) fail_msg("%s cannot hold %a", smma_format_name(format), value);
  return x;
}

static int holds(const fact *f) {
  const smma_instruction *i = find(f->gpu, f->instruction);
  smma_instruction_info info = describe(i);
  smma_row x = {.c = encode(info.c, f->c, 0)};
  uint64_t expected = encode(info.d, f->d, 1), got;
  for (int k = 0; k < 4 && k < info.k; k++) {
    x.a[k] = encode(info.a, f->a[k], 1);
    x.b[k] = encode(info.b, f->b[k], 1);
  }
  got = dot(i, &x);
  if (got != expected) print_dot(i, &x, expected, got);
  return got == expected;
}

static void check(const fact *facts, size_t count) {
  int failed = 0;
  for (size_t i = 0; i < count; i++) failed += !holds(&facts[i]);
  assert_int_equal(failed, 0);
}

#define CHECK(facts) check(facts, sizeof facts / sizeof facts[0])

static void test_cancellation(void **state) { (void)state, CHECK(cancellation); }
static void test_negative_rest(void **state) { (void)state, CHECK(negative_rest); }
static void test_volta(void **state) { (void)state, CHECK(volta); }
static void test_integers(void **state) { (void)state, CHECK(integers); }
static void test_turing_zero(void **state) { (void)state, CHECK(turing_zero); }

/* Facts about encodings, with operands and result in hexadecimal. Missing elements are zero, and missing scale factors
   are one. */
typedef struct {
  const char *gpu, *instruction, *a, *b, *scale_a, *scale_b;
  uint64_t c, d;
} encoded_fact;

/* Recorded on an H100 with c = 0. The products are far below the exponent with which a zero c takes part in the
   alignment. */
#define RECORDED_A "9b94 19f3 9a2e 1a67 9a25 9b4e 9b29 9a33 99e0 1a14 9914 99d1 9ae9 1b1a 9a9c 1b3a"
#define RECORDED_B "9aaf 99f3 9acc 1b7c 19ed 1b25 9a1b 9a20 9af7 9a48 1ae1 1b32 1b12 1b0e 9a68 1735"

#define NVFP4 "mma.m16n8k64.block16.f32.e2m1.e2m1.f32.ue4m3"
#define TCGEN05_NVFP4 "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3"

static const encoded_fact encoded_facts[] = {
    {"H100", "mma.m16n8k16.f32.bf16.bf16.f32", RECORDED_A, RECORDED_B, "", "", 0, 0x0000000b},
    {"H100", "wgmma.m64n8k16.f32.bf16.bf16", RECORDED_A, RECORDED_B, "", "", 0, 0x0000000b},
    /* A TF32 NaN reads as infinity if its fraction is only in the ignored bits; with higher fraction bits it stays NaN.
     */
    {"A100", "mma.m16n8k4.f32.tf32.tf32.f32", "7f800001", "3f800000", "", "", 0, 0x7f800000},
    {"H100", "wgmma.m64n8k8.f32.tf32.tf32", "7f801fff", "bf800000", "", "", 0, 0xff800000},
    {"A100", "mma.m16n8k4.f32.tf32.tf32.f32", "7f802000", "3f800000", "", "", 0, 0x7fffffff},
    {"MI300X", "v_mfma_f32_16x16x8_xf32", "7f800001", "3f800000", "", "", 0, 0x7f800000},
    /* 1 * 1 with both scale factors 2. Bit 7 of a UE4M3 scale factor is ignored, also in NaN. */
    {"RTX PRO 6000", NVFP4, "2", "2", "40 38 38 38", "40 38 38 38", 0, 0x40800000},
    {"RTX PRO 6000", NVFP4, "2", "2", "c0 b8 b8 b8", "40 38 38 b8", 0, 0x40800000},
    {"RTX PRO 6000", NVFP4, "2", "2", "40 38 38 7f", "40 38 38 38", 0, 0x7fffffff},
    {"RTX PRO 6000", NVFP4, "2", "2", "40 38 38 ff", "40 38 38 38", 0, 0x7fffffff},
    {"B200", TCGEN05_NVFP4, "2", "2", "c0 b8 b8 b8", "c0 38 38 b8", 0, 0x40800000},
    /* Step 1 of CDNA 3's first model treats an infinite operand before products that overflow; the later model treats
       both together. */
    {"cdna3-r1", "v_mfma_f32_32x32x8_bf16", "7f80 df80", "3f80 5f80", "", "", 0, 0x7f800000},
    {"cdna3-r1", "v_mfma_f32_32x32x8_bf16", "5f80", "5f80", "", "", 0xff800000, 0xff800000},
    {"cdna3-r1", "v_mfma_f32_32x32x8_bf16", "5f80 df80", "5f80 5f80", "", "", 0, 0x7fc00000},
    {"cdna3", "v_mfma_f32_32x32x8_bf16", "7f80 df80", "3f80 5f80", "", "", 0, 0x7fc00000},
    {"cdna3", "v_mfma_f32_32x32x8_bf16", "5f80", "5f80", "", "", 0xff800000, 0x7fc00000},
    /* Published as results of IBM's simulator and hardware (qemu-devel, L. Castro, May 2022). c is -0 for forms without
       an accumulator. */
    {"power", "xvbf16ger2pp", "0009 23da", "9d08 0000", "", "", 0x80000000, 0x80000000},
    {"power", "xvbf16ger2pp", "28c3 1f00", "000f 97ac", "", "", 0x80000000, 0x80000016},
    {"power", "xvbf16ger2pp", "0001 8540", "b709 2f00", "", "", 0x80000000, 0x80000001},
    /* The pair is 2^128 - 2^127, which by the Power ISA does not overflow. Derived by hand. */
    {"power", "xvbf16ger2pp", "7f00", "4000", "", "", 0xff000000, 0x7f000000},
    {"power", "xvf16ger2pp", "0001 8001", "0001 0001", "", "", 0x80000000, 0},
    /* x86 rounds to 24 bits before it decides whether the result is subnormal. */
    {"x86", "vdpbf16ps", "99ff 19ff", "1981 1981", "", "", 0x00800000, 0},
    /* AMX according to Intel's manual: even and odd products are in separate chains, and c is added last. Derived by
       hand. */
    {"x86", "tdpbf16ps", "3f80 3f80", "3f80 3f80", "", "", 0x4b800000, 0x4b800001},
    {"x86", "tdpbf16ps", "4580 3f80 c580", "4580 3f80 4580", "", "", 0, 0x3f800000},
    {"x86", "tdpbf16ps", "0001", "3f80", "", "", 0x80000001, 0},
    {"x86", "tdpfp16ps", "0001", "3c00", "", "", 0, 0x33800000},
    {"x86", "vpdpbusds", "ff ff", "7f 7f", "", "", 0x7fffffff, 0x7fffffff},
    {"x86", "vpdpbusd", "ff ff", "7f 7f", "", "", 0x7fffffff, 0x8000fd01},
};

static void parse(const char *text, uint64_t *numbers) {
  char *end;
  for (size_t i = 0; *text; i++, text = end) numbers[i] = strtoull(text, &end, 16);
}

static smma_row operands_of(const encoded_fact *f) {
  smma_row x = {.c = f->c};
  parse(f->a, x.a);
  parse(f->b, x.b);
  parse(f->scale_a, x.scale_a);
  parse(f->scale_b, x.scale_b);
  return x;
}

static void test_encoded_facts(void **state) {
  int failed = 0;
  (void)state;
  for (size_t f = 0; f < sizeof encoded_facts / sizeof encoded_facts[0]; f++) {
    const smma_instruction *i = find(encoded_facts[f].gpu, encoded_facts[f].instruction);
    smma_row x = operands_of(&encoded_facts[f]);
    uint64_t got = dot(i, &x);
    if (got == encoded_facts[f].d) continue;
    failed++;
    print_dot(i, &x, encoded_facts[f].d, got);
  }
  assert_int_equal(failed, 0);
}

/* The recorded test vector with other exponents of zero: no other value up to the smallest normal exponent gives the
   result. */
static void test_only_one_exponent_of_zero(void **state) {
  smma_operation o = smma_operation_of(find(encoded_facts[0].gpu, encoded_facts[0].instruction));
  smma_row x = operands_of(&encoded_facts[0]);
  smma_row row = {.c = x.c};
  (void)state;
  for (int k = 0; k < o.k; k++) row.a[k] = x.a[k], row.b[k] = x.b[k];
  for (int e_zero = -160; e_zero <= -126; e_zero++) {
    uint64_t got;
    o.rule.with.t_fdpa.zero_exponent = e_zero;
    got = smma_row_compute(&o, &row);
    if ((got == encoded_facts[0].d) != (e_zero == -133))
      fail_msg("e_zero = %d gives 0x%08llx", e_zero, (unsigned long long)got);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cancellation),
      cmocka_unit_test(test_negative_rest),
      cmocka_unit_test(test_volta),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_turing_zero),
      cmocka_unit_test(test_encoded_facts),
      cmocka_unit_test(test_only_one_exponent_of_zero),
  };
  return cmocka_run_group_tests_name("facts", tests, NULL, NULL);
}
