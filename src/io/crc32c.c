#include "io/crc32c.h"

#include <string.h>

#include "host/cpu.h"
#ifdef __x86_64__
#include <nmmintrin.h>
#endif

/* Table for the portable code, which takes four bits at a time. The polynomial with its bits reversed is 0x82f63b78. */
static const uint32_t of_digit[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                      0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                      0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};

static uint32_t portable(uint32_t crc, const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    crc = of_digit[(crc ^ bytes[i]) & 15] ^ crc >> 4;
    crc = of_digit[(crc ^ bytes[i] >> 4) & 15] ^ crc >> 4;
  }
  return crc;
}

#ifdef __x86_64__
static inline uint64_t load(const unsigned char *bytes) {
  uint64_t x;
  memcpy(&x, bytes, sizeof x);
  return x;
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const unsigned char *bytes,
                                                                 size_t size) {
  size_t at = 0;
  for (; at + 8 <= size; at += 8) crc = (uint32_t)_mm_crc32_u64(crc, load(bytes + at));
  for (; at < size; at++) crc = _mm_crc32_u8(crc, bytes[at]);
  return crc;
}

/* Computes the checksums of four pieces of `size` bytes at once. The instruction has a latency of three cycles and a
   throughput of one per cycle, so four chains overlap. */
__attribute__((target("sse4.2"))) static void four_by_instruction(const unsigned char *bytes, size_t size,
                                                                  uint32_t checksum[4]) {
  uint64_t crc[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  size_t at = 0;
  for (; at + 8 <= size; at += 8)
    for (size_t i = 0; i < 4; i++) crc[i] = _mm_crc32_u64(crc[i], load(bytes + i * size + at));
  for (size_t i = 0; i < 4; i++) checksum[i] = ~by_instruction((uint32_t)crc[i], bytes + i * size + at, size - at);
}
#endif

uint32_t smma_crc32c(uint32_t before, const void *bytes, size_t size) {
#ifdef __x86_64__
  if (smma_cpu_has(SMMA_CPU_SSE42)) return ~by_instruction(~before, bytes, size);
#endif
  return ~portable(~before, bytes, size);
}

void smma_crc32c_of_four(const void *bytes, size_t size, uint32_t checksum[4]) {
#ifdef __x86_64__
  if (smma_cpu_has(SMMA_CPU_SSE42)) {
    four_by_instruction(bytes, size, checksum);
    return;
  }
#endif
  for (size_t i = 0; i < 4; i++) checksum[i] = smma_crc32c(0, (const unsigned char *)bytes + i * size, size);
}
