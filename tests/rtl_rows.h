/* Compares a verilated unit with the results in a file of rtl_unit. */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
#include <verilated.h>

/* Returns the number of words of a port of `bits` bits. */
static int words_of(int bits) { return (bits + 31) / 32; }

template <class T> static void put_port(T &port, const uint32_t *w, int bits) {
  port = (T)(w[0] | (bits > 32 ? (uint64_t)w[1] << 32 : 0));
}
template <std::size_t N> static void put_port(VlWide<N> &port, const uint32_t *w, int) {
  for (std::size_t i = 0; i < N; i++) port[i] = w[i];
}

/* The bits of each port, and the number of stages. */
struct ports {
  int a, b, c, scale, d, stages;
};

/* Feeds all rows to a model; if it has stages, one row per clock cycle. Prints up to three mismatches, and returns the
   number of all mismatches. */
template <class M, class Put> static long compare(const char *name, const char *path, ports p, Put put) {
  const int row = words_of(p.a) + words_of(p.b) + words_of(p.c) + 2 * words_of(p.scale) + words_of(p.d);
  const int at_d = row - words_of(p.d);
  std::vector<uint32_t> rows;
  M model;
  long mismatches = 0;
  FILE *in = fopen(path, "rb");
  if (!in) return 1;
  std::vector<uint32_t> part(1 << 16);
  for (size_t n; (n = fread(part.data(), 4, part.size(), in));) rows.insert(rows.end(), part.begin(), part.begin() + n);
  fclose(in);
  const long count = (long)rows.size() / row;
  for (long r = 0; r < count + p.stages; r++) {
    if (r < count) put(model, &rows[r * row]);
    model.eval();
    if (p.stages) put.clock(model, 1);
    if (p.stages) put.clock(model, 0);
    const long of = p.stages ? r - p.stages + 1 : r;
    if (of < 0 || of >= count) continue;
    const uint32_t *d = &rows[of * row + at_d];
    const uint64_t expected = d[0] | (p.d > 32 ? (uint64_t)d[1] << 32 : 0), got = (uint64_t)model.d;
    if (expected != got && mismatches++ < 3) {
      printf("%s: row %ld: unit %llx, core %llx; words", name, of, (unsigned long long)got,
             (unsigned long long)expected);
      for (int i = 0; i < at_d; i++) printf(" %08x", rows[of * row + i]);
      puts("");
    }
  }
  printf("%s rows=%ld mismatches=%ld\n", name, count, mismatches);
  return mismatches + (count == 0);
}
