/* Test vectors of sparse instructions: the content of B, and the metadata.

   A test vector has K products, but B has 2 K positions. The metadata selects the positions of the K elements of b in
   B. At the unselected positions B holds other elements of the same vector, taken some groups further on. They are
   encodings of the same kind, and must have no effect on the result.

   The positions depend on the digits of the vector's number in the batch, one digit for each of four groups. So all
   groups of a vector, and 1,296 vectors (16 with TF32), have different positions. A campaign repeats its first vectors
   with other numbers in the batch, and therefore with other selected positions and other elements at the unselected
   positions.

   PTX ISA, "Sparse matrix storage": a group of A has four bits, two positions in quarters of the group, the lower one
   first. Positions count elements, or pairs of elements for 4-bit integers; TF32 has one element, two quarters, in a
   group.

   Four groups fill 16 bits, after which positions repeat. So registers are the same for every thread of a group of
   four, in both halves, and it does not matter which threads supply the metadata of which groups: rows g and g + 8
   of A, for which the PTX ISA shows the layout of metadata only in pictures, hold the same test vector. */
#ifndef SMMA_UNIT_CUDA_SPARSE_H
#define SMMA_UNIT_CUDA_SPARSE_H

#include <cstddef>
#include <cstdint>

namespace cuda_unit {

/* The selected positions of one test vector. GROUP: number of elements in a group of B's rows; half of them are
   selected. */
template <int GROUP, int K>
class selection {
  static constexpr int PERIOD = 4; /* groups of elements after which the positions repeat */
  uint32_t groups;
  int turn;

  /* Returns the metadata of a group for a digit. */
  static __device__ constexpr uint32_t code(unsigned digit) {
    if constexpr (GROUP == 2)
      return digit ? 0xe : 0x4;
    else
      return 0xedc984u >> 4 * digit & 15;
  }

 public:
  explicit __device__ selection(size_t row) : groups(0), turn(K / 4 + (int)(row % (K / 2))) {
    constexpr unsigned CODES = GROUP == 2 ? 2 : 6;
    for (int i = 0; i < PERIOD; i++, row /= CODES) groups |= code((unsigned)((row + i + 1) % CODES)) << 4 * i;
  }

  /* Returns the metadata register, which is the same for every thread. */
  __device__ uint32_t metadata() const { return groups | groups << 16; }

  /* Returns the index of the element of b in row k of B: the selected one, or at an unselected position another one. */
  __device__ int source(int k) const {
    const int group = k / GROUP, quarter = k % GROUP * 4 / GROUP, in_quarter = GROUP == 8 ? k % 2 : 0;
    const int positions = (int)(groups >> group % PERIOD * 4 & 15), stored = group * (GROUP / 2) + in_quarter;
    if (quarter == positions % 4) return stored;
    if (quarter == positions / 4) return stored + GROUP / 4;
    return (k / 2 + turn) % K;
  }
};

/* The elements of b of one test vector in the layout of B, as an array of bytes; each element has BYTES bytes. */
template <int GROUP, int K, int BYTES>
struct spread_row {
  const unsigned char *row;
  selection<GROUP, K> selected;
  __device__ unsigned char operator[](int byte) const {
    return row[selected.source(byte / BYTES) * BYTES + byte % BYTES];
  }
};

}  // namespace cuda_unit

#endif
