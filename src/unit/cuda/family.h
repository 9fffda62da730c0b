/* Parts of the unit of NVIDIA GPUs: families of instructions, each with its own kernels, and the placement of a
   batch's test vectors in tiles. */
#ifndef SMMA_UNIT_CUDA_FAMILY_H
#define SMMA_UNIT_CUDA_FAMILY_H

#include <cstdint>

#include "softmma/unit.h"

namespace cuda_unit {

/* A batch in the memory of the GPU. `unlike` counts results of the same test vector that differ between positions in a
   tile. */
struct device_batch {
  size_t rows;
  const unsigned char *a, *b, *c, *scale_a, *scale_b;
  unsigned char *d;
  unsigned *unlike;
};

/* Starts the kernel that computes a batch. */
using launcher = void(const smma_instruction_info &instruction, const device_batch &batch);

/* The families. find_FAMILY returns an instruction's launcher, or NULL if the instruction is not of the family, or
   if machine code for this compute capability (90: 9.0) does not have it. The capability is that of the target, which
   can be less than that of the device: a device of 8.9 also runs code for 8.0, in which kernels with FP8 are empty. */
launcher *find_mma(const smma_instruction_info &instruction, int capability);
launcher *find_mma_sp(const smma_instruction_info &instruction, int capability);
launcher *find_mma_volta(const smma_instruction_info &instruction, int capability);
launcher *find_mma_narrow(const smma_instruction_info &instruction, int capability);
launcher *find_wgmma(const smma_instruction_info &instruction, int capability);
launcher *find_tcgen05(const smma_instruction_info &instruction, int capability);

#ifdef __CUDACC__

/* The tile for PLACES test vectors of the batch. The rows of A hold these vectors in order and repeat them. The columns
   of B do the same, but start with another vector. Element (m, n) is valid if its row and its column belong to the same
   vector. The starting vectors change from tile to tile, so that every element of a tile is used. */
constexpr int PLACES = 8;

struct tile {
  size_t first, rows;
  int turn_a, turn_b;
  __device__ tile(size_t number, size_t rows)
      : first(number * PLACES), rows(rows), turn_a((int)(number % PLACES)), turn_b((int)(number / PLACES % PLACES)) {}
  __device__ int place_a(int m) const { return (m + turn_a) % PLACES; }
  __device__ int place_b(int n) const { return (n + turn_b) % PLACES; }
  /* Returns the number of the test vector at a place. After the end of the batch it is the last vector. */
  __device__ size_t row(int place) const { return first + (size_t)place < rows ? first + (size_t)place : rows - 1; }
  __device__ bool has(int place) const { return first + (size_t)place < rows; }
};

/* Returns the `count` scale factors of a test vector, repeated to fill four bytes. */
inline __device__ uint32_t scale_word(const unsigned char *scales, int count, size_t row) {
  uint32_t bits = 0;
  for (int i = 0; i < 4; i++) bits |= (uint32_t)scales[row * (size_t)count + (size_t)(i % count)] << 8 * i;
  return bits;
}

inline __host__ __device__ size_t tiles_of(size_t rows) { return (rows + PLACES - 1) / PLACES; }

#endif

}  // namespace cuda_unit

#endif
