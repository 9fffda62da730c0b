/* Rows of sparse instructions: what B holds, and the metadata.

   A row has K products, selected of twice as many. The K elements of b go where the metadata says. Between them B holds
   others of the same row, from some groups on: encodings of the kind that the row has, which must not matter.

   Where is chosen by the row's number in the batch: by its digits, one for each of four groups, so that all groups
   of a row, and 1,296 rows (with TF32 16), have positions of their own. A campaign asks for its first rows at other
   places of a batch, too, and so with other positions and other elements between.

   PTX ISA, "Sparse matrix storage": a group of A has four bits, two positions in quarters of the group, the lower one
   first. These are elements, with 4-bit integers pairs of them; TF32 has one element, two quarters, in a group.

   Four groups fill 16 bits, after which positions repeat. So registers are the same for every thread of a group of
   four, in both halves, and it need not be known which of them bring the metadata of which groups: rows g and g + 8 of
   A, whose metadata the PTX ISA lays out in pictures only, are the same row of the batch. */
#ifndef SMMA_UNIT_CUDA_SPARSE_H
#define SMMA_UNIT_CUDA_SPARSE_H

#include <cstddef>
#include <cstdint>

namespace cuda_unit {

/* GROUP: elements, of which half are stored. */
template <int GROUP, int K>
class selection {
  static constexpr int PERIOD = 4; /* groups */
  uint32_t groups;
  int turn;

  /* What the metadata of a group may be. */
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

  /* The register of any thread. */
  __device__ uint32_t metadata() const { return groups | groups << 16; }

  /* Which of the K elements of b is row k of B. */
  __device__ int source(int k) const {
    const int group = k / GROUP, quarter = k % GROUP * 4 / GROUP, in_quarter = GROUP == 8 ? k % 2 : 0;
    const int positions = (int)(groups >> group % PERIOD * 4 & 15), stored = group * (GROUP / 2) + in_quarter;
    if (quarter == positions % 4) return stored;
    if (quarter == positions / 4) return stored + GROUP / 4;
    return (k / 2 + turn) % K;
  }
};

/* A row of b as B has it, BYTES an element. */
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
