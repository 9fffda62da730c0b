/* Common parts of the instructions of the AMD unit: targets, types, and the host's description of an instruction.

   Nothing of ROCm's device library is used. */
#ifndef SMMA_UNIT_HIP_FAMILY_H
#define SMMA_UNIT_HIP_FAMILY_H

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>

namespace {

/* ---- Targets ---- */

enum target : unsigned { GFX908 = 1, GFX90A = 2, GFX942 = 4, GFX11 = 8, GFX12 = 16, GFX950 = 32 };

/* The target of this compilation. */
#if defined(__gfx908__)
constexpr unsigned TARGET = GFX908;
#elif defined(__gfx90a__)
constexpr unsigned TARGET = GFX90A;
#elif defined(__gfx942__)
constexpr unsigned TARGET = GFX942;
#elif defined(__gfx950__)
constexpr unsigned TARGET = GFX950;
#elif defined(__GFX11__)
constexpr unsigned TARGET = GFX11;
#elif defined(__GFX12__)
constexpr unsigned TARGET = GFX12;
#else
constexpr unsigned TARGET = 0; /* the host */
#endif

/* ---- Types ---- */

template <class T, int COUNT>
struct vector_of {
  typedef T type __attribute__((ext_vector_type(COUNT)));
};

template <class T>
struct vector_of<T, 1> {
  using type = T;
};

template <int BYTES>
struct bits_of;

template <>
struct bits_of<2> {
  using type = uint16_t;
};

template <>
struct bits_of<4> {
  using type = uint32_t;
};

template <>
struct bits_of<8> {
  using type = uint64_t;
};

/* An element of C and D: its block, row and column. */
struct place {
  int block, m, n;
};

/* ---- Description of an instruction, for the host ---- */

constexpr int PLACES = 4; /* places of one test vector in a tile */

using launcher = void(size_t rows, const unsigned char *a, const unsigned char *b, const void *c, void *d);

struct wrapper {
  const char *name;
  unsigned targets;
  size_t row, element; /* row: bytes of A in one test vector; element: bytes of an element of C */
  int places;          /* number of results per test vector */
  launcher *run;
};

}  // namespace

#endif
