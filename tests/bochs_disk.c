/* Converts test vectors on standard input, in the format of a `pipe` unit, to a disk image on standard output, which
   tests/bochs_rom.S reads. The first sector holds the number of the instruction and the number of test vectors. For
   each test vector follow 64 bytes of a, 64 of b and 4 of c. With --list: prints the instructions. */
#define JUDGE "bochs_disk"
#include "judge_rows.h"

enum { LINE = 64, ROW = 2 * LINE + 4, CYLINDER = 16 * 63 * 512 };

static const struct {
  const char *name;
  int k, bytes;
} instructions[] = {
#define INSTRUCTION(name, k, bytes, ...) {#name, k, bytes},
#include "bochs.def"
};
enum { COUNT = sizeof instructions / sizeof *instructions };

static void write_image(const uint8_t *image, size_t size) {
  if (fwrite(image, 1, size, stdout) != size || fflush(stdout) != 0) fail("cannot write", "");
}

int main(int argc, char **argv) {
  size_t used = 512, size = 1 << 20;
  uint8_t *image = calloc(size, 1);
  char *text, *at, name[64];
  uint32_t number = 0, rows = 0;
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (int n = 0; n < COUNT; n++) puts(instructions[n].name);
    return 0;
  }
  if (argc > 1) fail("it takes --list or nothing, not ", argv[1]);
  text = at = read_all();
  read_header(&at, name);
  while (number < COUNT && strcmp(instructions[number].name, name) != 0) number++;
  if (number == COUNT) fail("it does not have ", name);
  for (;; rows++, used += ROW) {
    const int k = instructions[number].k, bytes = instructions[number].bytes;
    if (size - used < ROW + CYLINDER) {
      image = realloc(image, 2 * size);
      if (image) memset(image + size, 0, size);
      size *= 2;
    }
    if (!image) fail("no memory", "");
    if (!read_numbers(&at, k, bytes, image + used)) break;
    if (!read_numbers(&at, k, bytes, image + used + LINE) || !read_numbers(&at, 1, 4, image + used + 2 * LINE))
      fail("the last row has no end", "");
  }
  memcpy(image, &number, sizeof number);
  memcpy(image + sizeof number, &rows, sizeof rows);
  write_image(image, (used + CYLINDER - 1) / CYLINDER * CYLINDER);
  free(image);
  free(text);
  return 0;
}
