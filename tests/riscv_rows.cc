/* A `pipe` unit that computes test vectors of RISC-V's dot products with the functions of Spike, the RISC-V ISA
   simulator (riscv-software-src/riscv-isa-sim, BSD-3). Compile it with -I SPIKE/riscv and -I SPIKE/softfloat, and link
   the files of SPIKE/softfloat. With --list: prints the instructions. */
#define JUDGE "riscv_rows"
#include "judge_rows.h"

extern "C" {
#include "softfloat.h"
}

/* The only function of Spike's decode_macros.h that zvbdot.h calls. */
static inline float32_t f32(uint32_t bits) { return float32_t{bits}; }
#include "zvbdot.h"

typedef uint32_t computation(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b, uint32_t c);

template <typename T> static T element(const std::vector<uint8_t> &x, size_t k) {
  T value;
  memcpy(&value, &x[k * sizeof value], sizeof value);
  return value;
}

static uint32_t bf16(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b, uint32_t c) {
  std::vector<uint16_t> x, y;
  for (size_t k = 0; k < a.size() / 2; k++) x.push_back(element<uint16_t>(a, k)), y.push_back(element<uint16_t>(b, k));
  return zvfwbdot16bf_dot_acc(x, y, f32(c)).v;
}

template <typename A, typename B>
static uint32_t fp8(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b, uint32_t c) {
  return zvfqbdot8f_dot_acc<A, B>(a, b, f32(c)).v;
}

/* Computes what riscv/insns/vfbdot_vv.h computes. */
static uint32_t binary32(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b, uint32_t c) {
  float32_t sum = f32(c);
  for (size_t k = 0; k < a.size() / 4; k++)
    sum = f32_add(sum, f32_mul(f32(element<uint32_t>(a, k)), f32(element<uint32_t>(b, k))));
  return sum.v;
}

template <typename A, typename B>
static uint32_t integer(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b, uint32_t c) {
  for (size_t k = 0; k < a.size(); k++) c += (uint32_t)((int32_t)(A)a[k] * (int32_t)(B)b[k]);
  return c;
}

static const struct {
  const char *name, *formats;
  int bytes;
  computation *compute;
} instructions[] = {
    {"vfwbdota.vv", "bf16", 2, bf16},
    {"vfqwbdota.vv", "e4m3.e4m3", 1, fp8<ofp8_e4m3, ofp8_e4m3>},
    {"vfqwbdota.alt.vv", "e4m3.e5m2", 1, fp8<ofp8_e4m3, ofp8_e5m2>},
    {"vfqwbdota.vv", "e5m2.e4m3", 1, fp8<ofp8_e5m2, ofp8_e4m3>},
    {"vfqwbdota.alt.vv", "e5m2.e5m2", 1, fp8<ofp8_e5m2, ofp8_e5m2>},
    {"vfbdota.vv", "f32", 4, binary32},
    {"vqwbdotau.vv", "u8.u8", 1, integer<uint8_t, uint8_t>},
    {"vqwbdotau.vv", "s8.u8", 1, integer<int8_t, uint8_t>},
    {"vqwbdotas.vv", "u8.s8", 1, integer<uint8_t, int8_t>},
    {"vqwbdotas.vv", "s8.s8", 1, integer<int8_t, int8_t>},
};

int main(int argc, char **argv) {
  char *text, *at, name[64], mnemonic[64], formats[64];
  int length;
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (const auto &i : instructions)
      for (length = 128; length <= (i.bytes == 2 ? 1024 : 512); length *= 2)
        printf("%s.vlen%d.%s\n", i.name, length, i.formats);
    return 0;
  }
  if (argc > 1) fail("it takes --list or nothing, not ", argv[1]);
  text = at = read_all();
  read_header(&at, name);
  softfloat_roundingMode = softfloat_round_near_even;
  const char *vlen = strstr(name, ".vlen");
  if (!vlen || sscanf(vlen, ".vlen%d.%63s", &length, formats) != 2) fail("it does not have ", name);
  snprintf(mnemonic, sizeof mnemonic, "%.*s", (int)(vlen - name), name);
  for (const auto &i : instructions) {
    if (strcmp(i.name, mnemonic) != 0 || strcmp(i.formats, formats) != 0) continue;
    const int k = length / 8 / i.bytes;
    std::vector<uint8_t> a((size_t)length / 8), b = a;
    uint32_t c;
    while (read_numbers(&at, k, i.bytes, a.data())) {
      if (!read_numbers(&at, k, i.bytes, b.data()) || !read_numbers(&at, 1, 4, (uint8_t *)&c))
        fail("the last row has no end", "");
      const uint32_t d = i.compute(a, b, c);
      write_number((const uint8_t *)&d, 4);
    }
    free(text);
    return 0;
  }
  fail("it does not have ", name);
}
