/* The tile that a wavefront computes. This file is included once for each size of wavefront, in the namespace
   SMMA_WAVEFRONT.

   A wavefront executes one instruction, which multiplies one or more blocks, pairs of matrices with M = N. A block
   holds M / 2 test vectors. The columns of B hold the vectors' operands twice, rotated by a number of places; so do the
   rows of A, rotated by another number. Element (m, n) is valid if its row and column belong to the same vector. This
   holds at four places for each vector, and all four results must be the same. The rotations change from tile to tile,
   so that every element is used.

   An instruction is a struct { TARGETS, WAVE (lanes), M, BLOCKS, ITEMS (elements of C and D in a lane), STEP (every
   STEP-th element of the accumulators is an item), ROW (bytes of A in one test vector of the batch), operand,
   accumulators, element, operand_at(a row, lane), place_of(lane, item), run(a, b, accumulators) }. */
#include "family.h"

namespace {
namespace SMMA_WAVEFRONT {

template <class I>
struct tile {
  static constexpr int ROWS = I::M / 2; /* test vectors of the batch in a block */
  size_t rows, first;
  int lane, turn_a, turn_b;

  __device__ explicit tile(size_t count)
      : rows(count), first(__builtin_amdgcn_workgroup_id_x()), lane((int)__builtin_amdgcn_workitem_id_x()) {
    turn_a = (int)(first % ROWS), turn_b = (int)(first / ROWS % ROWS);
  }

  __device__ size_t row_at(int block, int position) const {
    return (first * I::BLOCKS + (size_t)block) * ROWS + (size_t)(position % ROWS);
  }

  /* Returns `row`, or the batch's last test vector if `row` is after the end of the batch. */
  __device__ size_t present(size_t row) const { return row < rows ? row : rows - 1; }

  __device__ typename I::operand operand(const unsigned char *rows_of_it, int turn) const {
    const size_t row = present(row_at(lane / I::M % I::BLOCKS, lane % I::M + turn));
    return I::operand_at(rows_of_it + row * I::ROW, lane);
  }

  __device__ typename I::accumulators c(const typename I::element *c) const {
    typename I::element elements[I::ITEMS * I::STEP] = {};
    typename I::accumulators x;
    static_assert(sizeof x == sizeof elements);
    for (int i = 0; i < I::ITEMS; i++) {
      const place p = I::place_of(lane, i);
      const size_t row = row_at(p.block, p.m + turn_a);
      if (row == row_at(p.block, p.n + turn_b)) elements[i * I::STEP] = c[present(row)];
    }
    __builtin_memcpy(&x, elements, sizeof x);
    return x;
  }

  /* Writes PLACES results per test vector. */
  __device__ void store(typename I::accumulators x, typename I::element *d) const {
    typename I::element elements[I::ITEMS * I::STEP];
    __builtin_memcpy(elements, &x, sizeof x);
    for (int i = 0; i < I::ITEMS; i++) {
      const place p = I::place_of(lane, i);
      const size_t row = row_at(p.block, p.m + turn_a);
      if (row == row_at(p.block, p.n + turn_b) && row < rows)
        d[PLACES * row + 2 * (p.m / ROWS) + p.n / ROWS] = elements[i * I::STEP];
    }
  }
};

template <class I>
__global__ __launch_bounds__(64) void compute(size_t rows, const unsigned char *a, const unsigned char *b,
                                              const typename I::element *c, typename I::element *d) {
  if constexpr ((I::TARGETS & TARGET) != 0) {
    const tile<I> t(rows);
    t.store(I::run(t.operand(a, t.turn_a), t.operand(b, t.turn_b), t.c(c)), d);
  } else {
    __builtin_trap(); /* the code is for a target without the instruction */
  }
}

template <class I>
void launch(size_t rows, const unsigned char *a, const unsigned char *b, const void *c, void *d) {
  using element = typename I::element;
  const size_t in_tile = I::BLOCKS * I::M / 2, tiles = (rows + in_tile - 1) / in_tile;
  const auto kernel = compute<I>;
  hipLaunchKernelGGL(kernel, dim3((unsigned)tiles), dim3(I::WAVE), 0, nullptr, rows, a, b,
                     static_cast<const element *>(c), static_cast<element *>(d));
}

}  // namespace SMMA_WAVEFRONT
}  // namespace
