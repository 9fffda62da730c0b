/* Tensor Cores and WMMA for an emulator that passes each operand as fragments, element by element and lane by lane, as
   tinygrad's does: the drop-in is wmma. It returns the bits of the GPU; a sum in Python returns those of FP64.

   scripts/amalgamate softmma_core.h && cc -std=c11 -I . examples/simulators/tinygrad_wmma.c -o wmma && ./wmma

   Sources of the layouts: PTX ISA, "Matrix Fragments for mma.m16n8k16"; AMD's RDNA 3 ISA, WMMA. */
#include <stdio.h>

#include "softmma_core.h"

/* Which lane has an element of a matrix, and its position in that lane's fragment. */
typedef struct {
  int lane, element;
} place;

/* A fragment layout: the lanes that execute the instruction together, and the place of A[i][k], B[k][j] and C[i][j]. */
typedef struct {
  int lanes, elements_c; /* elements_c: of C and D in a lane */
  place (*a)(int i, int k), (*b)(int k, int j), (*c)(int i, int j);
} layout;

static place place_at(int lane, int element) {
  const place p = {lane, element};
  return p;
}

/* NVIDIA, mma.m16n8k16 of 16-bit elements. */
static place nvidia_a(int i, int k) { return place_at(i % 8 * 4 + k % 8 / 2, k % 2 + i / 8 * 2 + k / 8 * 4); }
static place nvidia_b(int k, int j) { return place_at(j * 4 + k % 8 / 2, k % 2 + k / 8 * 2); }
static place nvidia_c(int i, int j) { return place_at(i % 8 * 4 + j / 2, j % 2 + i / 8 * 2); }

/* RDNA 3, v_wmma_f32_16x16x16 in 32 lanes: the upper 16 lanes have A and B once more. */
static place rdna3_a(int i, int k) { return place_at(i, k); }
static place rdna3_b(int k, int j) { return place_at(j, k); }
static place rdna3_c(int i, int j) { return place_at(i % 2 * 16 + j, i / 2); }

/* D = A*B + C for every warp among `threads` lanes. Element e of lane t's fragment is x[e * threads + t]. d may be c.
 */
static void wmma(const smma_core_instruction *x, const layout *l, int threads, const uint64_t *a, const uint64_t *b,
                 const uint64_t *c, uint64_t *d) {
  uint64_t row[64], column[64];
  for (int warp = 0; warp < threads; warp += l->lanes)
    for (int i = 0; i < x->m; i++)
      for (int j = 0; j < x->n; j++) {
        const place at = l->c(i, j);
        const int result = at.element * threads + warp + at.lane;
        for (int k = 0; k < x->k; k++) {
          const place of_a = l->a(i, k), of_b = l->b(k, j);
          row[k] = a[of_a.element * threads + warp + of_a.lane];
          column[k] = b[of_b.element * threads + warp + of_b.lane];
        }
        d[result] = smma_core_dot(x, row, column, c[result], NULL, NULL);
      }
}

/* ---- Two warps as an example ---- */

enum { K = 16, WARPS = 2, THREADS = 32 * WARPS };

static uint64_t encoded(smma_format format, double value) {
  return smma_core_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

/* Returns a number for a place of a matrix. A third of the numbers are 4096 times larger, so that sums are rounded. */
static double some_number(int warp, int x, int y) {
  return ((warp * 3 + x * 7 + y * 13) % 32 - 15.5) * (y % 3 == 1 ? 0x1p9 : 0x1p-3);
}

/* Computes A*B of 16 x 16 x 16 (16 x 8 x 16) numbers. `row_of` and `column_of` say which element of D a lane holds. */
static int run(const char *gpu, const char *name, const layout *l, int (*row_of)(int lane, int e),
               int (*column_of)(int lane, int e)) {
  static uint64_t a[16 * THREADS], b[16 * THREADS], d[16 * THREADS];
  smma_core_instruction x;
  int wrong = 0;
  if (smma_core_find(gpu, name, &x) != SMMA_CORE_FOUND) return 2;
  for (int warp = 0; warp < WARPS; warp++)
    for (int k = 0; k < K; k++) {
      for (int i = 0; i < x.m; i++)
        a[l->a(i, k).element * THREADS + 32 * warp + l->a(i, k).lane] = encoded(x.a, some_number(warp, i, k));
      for (int j = 0; j < x.n; j++)
        b[l->b(k, j).element * THREADS + 32 * warp + l->b(k, j).lane] = encoded(x.b, some_number(warp, j + 5, k));
    }
  memset(d, 0, sizeof d);
  wmma(&x, l, THREADS, a, b, d, d);
  for (int warp = 0; warp < WARPS; warp++)
    for (int lane = 0; lane < 32; lane++)
      for (int e = 0; e < l->elements_c; e++) {
        uint64_t row[K], column[K];
        for (int k = 0; k < K; k++) {
          row[k] = encoded(x.a, some_number(warp, row_of(lane, e), k));
          column[k] = encoded(x.b, some_number(warp, column_of(lane, e) + 5, k));
        }
        wrong += d[e * THREADS + 32 * warp + lane] != smma_core_dot(&x, row, column, 0, NULL, NULL);
      }
  printf("%s on %s: %d of %d elements differ; D[0][0] = %.9g\n", x.name, x.arch, wrong, WARPS * x.m * x.n,
         smma_core_value(x.d, d[0]));
  return wrong != 0;
}

static int nvidia_row(int lane, int e) { return lane / 4 + e / 2 * 8; }
static int nvidia_column(int lane, int e) { return lane % 4 * 2 + e % 2; }
static int rdna3_row(int lane, int e) { return 2 * e + lane / 16; }
static int rdna3_column(int lane, int e) {
  (void)e;
  return lane % 16;
}

int main(void) {
  const layout nvidia = {32, 4, nvidia_a, nvidia_b, nvidia_c};
  const layout rdna3 = {32, 8, rdna3_a, rdna3_b, rdna3_c};
  return run("A100", "mma.m16n8k16.f32.f16.f16.f32", &nvidia, nvidia_row, nvidia_column) ||
         run("RX 7900 XTX", "v_wmma_f32_16x16x16_f16", &rdna3, rdna3_row, rdna3_column);
}
