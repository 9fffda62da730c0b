/* A `pipe` unit that computes test vectors of Tenstorrent's MVMUL with the function mvmul of ttsim, Tenstorrent's
   simulator (tenstorrent/ttsim, Apache-2.0). tests/judge.sh copies that function and those that it calls from
   src/tensix.cpp to ttsim_mvmul.h, and defines TT_ARCH_VERSION: 0 Wormhole, 1 Blackhole. With --list: prints the
   instructions. */
#define JUDGE "tensix_rows"
#include <algorithm>
#include <cstdint>

#include "judge_rows.h"
#include "ttsim_mvmul.h"

enum { K = 16 };

static const char *const formats[][2] = {{"f32", "bf16"},  {"f32", "tf32"},  {"f32", "f16"},
                                         {"bf16", "bf16"}, {"bf16", "tf32"}, {"f16", "f16"}};

static int bytes_of(const char *format) { return strcmp(format, "bf16") == 0 || strcmp(format, "f16") == 0 ? 2 : 4; }

/* Converts an encoding to the 19 bits of a source register. */
static uint32_t source(const char *format, uint32_t x) {
  if (strcmp(format, "tf32") == 0) return x >> 13;
  return strcmp(format, "bf16") == 0 ? x << 3 : (x >> 15) << 18 | (x & 0x7fff);
}

/* Converts an encoding to a word of Dst, and back. */
static uint32_t to_dst(const char *format, uint32_t x) {
  if (strcmp(format, "f32") == 0) return x;
  return strcmp(format, "bf16") == 0 ? x << 16 : (x >> 15) << 31 | (x & 0x7fff) << 13;
}
static uint32_t from_dst(const char *format, uint32_t x) {
  if (strcmp(format, "f32") == 0) return x;
  return strcmp(format, "bf16") == 0 ? x >> 16 : (x >> 31) << 15 | (x >> 13 & 0x7fff);
}

/* Reads `count` encodings. Returns 0 if there are none. */
static int read_codes(char **at, int count, const char *format, uint32_t *to) {
  for (int n = 0; n < count; n++) {
    to[n] = 0;
    if (!read_numbers(at, 1, bytes_of(format), (uint8_t *)&to[n])) {
      if (n > 0) fail("a row has too few numbers", "");
      return 0;
    }
  }
  return 1;
}

int main(int argc, char **argv) {
  char *text, *at, name[64], d[8], a[8];
  uint32_t x[K], y[K], word;
  int phases;
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (const auto &f : formats)
      for (phases = 4; phases > 0; phases--) printf("mvmul.hifi%d.%s.%s.%s\n", phases, f[0], f[1], f[1]);
    return 0;
  }
  if (argc > 1) fail("it takes --list or nothing, not ", argv[1]);
  text = at = read_all();
  read_header(&at, name);
  if (sscanf(name, "mvmul.hifi%d.%7[^.].%7[^.].", &phases, d, a) != 3) fail("it does not have ", name);
  const bool is_f32 = strcmp(d, "f32") == 0, has_8_bits = strcmp(a, "f16") != 0;
  while (read_codes(&at, K, a, x)) {
    if (!read_codes(&at, K, a, y) || !read_codes(&at, 1, d, &word)) fail("the last row has no end", "");
    for (int k = 0; k < K; k++) x[k] = source(a, x[k]), y[k] = source(a, y[k]);
    word = to_dst(d, word);
    for (int phase = 0; phase < phases; phase++) /* SrcA is B */
      word =
          mvmul(y, x, word, fpu_exp_prod_adj(is_f32, (uint32_t)phase, has_8_bits), is_f32, (uint32_t)phase, has_8_bits);
    word = from_dst(d, word);
    write_number((const uint8_t *)&word, bytes_of(d));
  }
  free(text);
  return 0;
}
