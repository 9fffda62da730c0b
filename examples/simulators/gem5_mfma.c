/* AMD's MFMA for a simulator of GPUs that executes an instruction on a wavefront's registers, as gem5 does: the drop-in
   is execute_mfma. It returns the bits of the GPU; std::fma in a loop over k returns those of a chain in FP32.

   scripts/amalgamate softmma_core.h && cc -std=c11 -I . examples/simulators/gem5_mfma.c -o gem5_mfma && ./gem5_mfma

   Source of the layouts: AMD's Matrix Instruction Calculator, with CBSZ, ABID and BLGP zero. */
#include <stdio.h>

#include "softmma_core.h"

enum { LANES = 64 };

/* A vector register: 32 bits for each lane. */
typedef struct {
  uint32_t lane[LANES];
} vector_register;

/* An element of an operand or result: which lane has it, and its position among the lane's elements. */
typedef struct {
  int lane, position;
} place;

/* Returns the place of element (i, k) of A in a block, or of (k, i) of B. A lane holds consecutive elements of one
   row. */
static place place_of_operand(const smma_core_instruction *x, int blocks, int block, int i, int k) {
  const int in_lane = blocks * x->m * x->k / LANES;
  const place p = {i + x->m * (block + blocks * (k / in_lane)), k % in_lane};
  return p;
}

/* Returns the place of element (i, j) of C or D in a block. A block consists of segments of 4 rows, in FP64 of 1
   row. */
static place place_of_result(const smma_core_instruction *x, int blocks, int block, int i, int j) {
  const int height = x->d == SMMA_F64 ? 1 : 4, segment = i / height, beside = LANES / x->m;
  place p;
  if (x->m == 4) {
    p.lane = j + 4 * (block + blocks * segment), p.position = i % height;
  } else {
    p.lane = j + x->m * (segment % beside);
    p.position = block * x->m * x->m / LANES + height * (segment / beside) + i % height;
  }
  return p;
}

static uint64_t read_element(const vector_register *registers, int bits, place p) {
  const int bit = p.position * bits;
  const uint64_t low = registers[bit / 32].lane[p.lane];
  if (bits == 64) return low | (uint64_t)registers[bit / 32 + 1].lane[p.lane] << 32;
  return low >> bit % 32 & ((UINT64_C(1) << bits) - 1);
}

static void write_element(vector_register *registers, int bits, place p, uint64_t element) {
  const int bit = p.position * bits;
  if (bits == 64) {
    registers[bit / 32].lane[p.lane] = (uint32_t)element;
    registers[bit / 32 + 1].lane[p.lane] = (uint32_t)(element >> 32);
  } else {
    const uint32_t mask = (uint32_t)(((UINT64_C(1) << bits) - 1) << bit % 32);
    uint32_t *word = &registers[bit / 32].lane[p.lane];
    *word = (*word & ~mask) | (uint32_t)(element << bit % 32);
  }
}

/* Executes v_mfma: vdst = src0 * src1 + src2 for each of `blocks` blocks (1, or what "_4b" in the name says). vdst may
   be src2: each element of D replaces the element of C that it is computed from. */
static void execute_mfma(const smma_core_instruction *x, int blocks, const vector_register *src0,
                         const vector_register *src1, const vector_register *src2, vector_register *vdst) {
  const int bits_a = smma_core_format_bits(x->a), bits_b = smma_core_format_bits(x->b),
            bits_d = smma_core_format_bits(x->d);
  uint64_t a[64], b[64];
  for (int element = 0; element < blocks * x->m * x->n; element++) {
    const int block = element / (x->m * x->n), i = element / x->n % x->m, j = element % x->n;
    const place p = place_of_result(x, blocks, block, i, j);
    for (int k = 0; k < x->k; k++) {
      a[k] = read_element(src0, bits_a, place_of_operand(x, blocks, block, i, k));
      b[k] = read_element(src1, bits_b, place_of_operand(x, blocks, block, j, k));
    }
    write_element(vdst, bits_d, p, smma_core_dot(x, a, b, read_element(src2, bits_d, p), NULL, NULL));
  }
}

/* ---- One instruction as an example: 32 x 32 x 8 of FP16 on an MI300X ---- */

enum { M = 32, K = 8 };

/* Returns a number for a place of a matrix. A third of the numbers are 4096 times larger, so that sums are rounded. */
static uint64_t some_number(smma_format format, int row, int column) {
  const double value = (row * 7 + column * 13) % 32 - 15.5;
  return smma_core_encode(format, column % 3 == 1 ? value * 0x1p9 : value * 0x1p-3, SMMA_ROUND_NEAREST_EVEN,
                          SMMA_OVERFLOW_DEFAULT);
}

int main(void) {
  static uint64_t a[M][K], b[M][K], c[M][M];
  static vector_register v_a[2], v_b[2], acc[16];
  smma_core_instruction x;
  int wrong = 0;
  if (smma_core_find("MI300X", "v_mfma_f32_32x32x8_f16", &x) != SMMA_CORE_FOUND) return 2;
  for (int i = 0; i < M; i++) {
    for (int k = 0; k < K; k++) a[i][k] = some_number(x.a, i, k), b[i][k] = some_number(x.b, i + 5, k);
    for (int j = 0; j < M; j++) c[i][j] = some_number(x.c, i, j);
  }
  /* The compiler's side: which elements a lane loads. */
  for (int lane = 0; lane < LANES; lane++) {
    for (int e = 0; e < 4; e++) {
      const place p = {lane, e};
      write_element(v_a, 16, p, a[lane % 32][4 * (lane / 32) + e]);
      write_element(v_b, 16, p, b[lane % 32][4 * (lane / 32) + e]);
    }
    for (int v = 0; v < 16; v++) acc[v].lane[lane] = (uint32_t)c[8 * (v / 4) + 4 * (lane / 32) + v % 4][lane % 32];
  }
  execute_mfma(&x, 1, v_a, v_b, acc, acc);
  for (int lane = 0; lane < LANES; lane++)
    for (int v = 0; v < 16; v++) {
      const int i = 8 * (v / 4) + 4 * (lane / 32) + v % 4, j = lane % 32;
      wrong += acc[v].lane[lane] != smma_core_dot(&x, a[i], b[j], c[i][j], NULL, NULL);
    }
  printf("%s on %s: %d of %d elements differ; D[0][0] = %.9g\n", x.name, x.arch, wrong, M * M,
         smma_core_value(x.d, acc[0].lane[0]));
  return wrong != 0;
}
