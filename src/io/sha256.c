#include "io/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 };

static uint32_t rotated(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void add_block(uint32_t state[8], const unsigned char *block) {
  static const uint32_t constant[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
  uint32_t w[64], h[8];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
           block[4 * i + 3];
  for (int i = 16; i < 64; i++)
    w[i] = w[i - 16] + w[i - 7] + (rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy(h, state, sizeof h);
  for (int i = 0; i < 64; i++) {
    const uint32_t one = h[7] + (rotated(h[4], 6) ^ rotated(h[4], 11) ^ rotated(h[4], 25)) +
                         ((h[4] & h[5]) ^ (~h[4] & h[6])) + constant[i] + w[i];
    const uint32_t two =
        (rotated(h[0], 2) ^ rotated(h[0], 13) ^ rotated(h[0], 22)) + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
    memmove(h + 1, h, 7 * sizeof *h);
    h[4] += one;
    h[0] = one + two;
  }
  for (int i = 0; i < 8; i++) state[i] += h[i];
}

const char *smma_sha256(const void *bytes, size_t size, char text[65]) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const unsigned char *x = bytes;
  const size_t rest = size % BLOCK, whole = size - rest;
  unsigned char last[2 * BLOCK] = {0};
  const size_t ending = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
  for (size_t i = 0; i < whole; i += BLOCK) add_block(state, x + i);
  memcpy(last, x + whole, rest);
  last[rest] = 0x80;
  for (size_t i = 0; i < 8; i++) last[ending - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
  for (size_t i = 0; i < ending; i += BLOCK) add_block(state, last + i);
  for (int i = 0; i < 8; i++) snprintf(text + 8 * i, 9, "%08x", (unsigned)state[i]);
  return text;
}
