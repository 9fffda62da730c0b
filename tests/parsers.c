/* The parsers with sanitizers, for any compiler. Calls the functions that the fuzz targets call, on their seeds and on
   inputs derived from the seeds: truncated, with changed bytes, with a repeated or missing part. The inputs are the
   same each time.

       parsers INPUTS CORPUS
           runs INPUTS inputs for each seed in CORPUS/PARSER/
       parsers INPUTS CORPUS PARSER FILE NUMBER
           repeats one input that a failure has printed */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"

enum { MOST_BYTES = 1 << 16, MOST_FILES = 256, NAME = 256 };

typedef int target(const unsigned char *bytes, size_t size);
#define PARSER(name) target fuzz_##name;
#include "parsers.def"
#undef PARSER

static const struct {
  const char *name;
  target *parse;
} parsers[] = {
#define PARSER(name) {#name, fuzz_##name},
#include "parsers.def"
#undef PARSER
};

static char line[3 * NAME]; /* describes the current input */

static void say_which(int signal) {
  (void)signal;
  if (write(STDERR_FILENO, line, strlen(line)) < 0) _exit(1);
  _exit(1);
}

static size_t read_seed(const char *path, unsigned char *bytes) {
  FILE *in = fopen(path, "rb");
  size_t size;
  if (!in) {
    perror(path);
    exit(2);
  }
  size = fread(bytes, 1, MOST_BYTES / 2, in);
  fclose(in);
  return size;
}

/* Changes a seed of `size` bytes in one way. Returns the new size, at most twice the old one. */
static size_t change(unsigned char *bytes, size_t size, uint64_t *random) {
  static const unsigned char special[] = {0, 0xff, 0x80, '"', '{', '}', '[', ',', '-', '9', '\n', ' '};
  const size_t at = size ? random_below(random, (unsigned)size) : 0;
  const size_t length = size > at ? 1 + random_below(random, (unsigned)(size - at < 40 ? size - at : 40)) : 0;
  switch (size ? random_below(random, 5) : 0) {
    case 1: bytes[at] = (unsigned char)random_bits(random); return size;
    case 2: bytes[at] = special[random_below(random, sizeof special)]; return size;
    case 3: memmove(bytes + at, bytes + at + length, size - at - length); return size - length;
    case 4:
      if (size + length > MOST_BYTES) return size;
      memmove(bytes + at + length, bytes + at, size - at);
      return size + length;
    default: return at;
  }
}

/* Parses input `number` of a seed; number 0 is the seed itself. The input is in memory of exactly its size, so that
   reading past its end is detected. */
static void parse(size_t parser, const char *path, const char *file, long number) {
  static unsigned char bytes[MOST_BYTES];
  uint64_t random = (uint64_t)number;
  size_t size = read_seed(path, bytes);
  unsigned char *own;
  for (long n = number ? 1 + number % 4 : 0; n > 0; n--) size = change(bytes, size, &random);
  own = malloc(size ? size : 1);
  if (!own) abort();
  memcpy(own, bytes, size);
  snprintf(line, sizeof line, "FAILED: parsers 0 CORPUS %s %s %ld\n", parsers[parser].name, file, number);
  parsers[parser].parse(own, size);
  free(own);
}

static int by_name(const void *x, const void *y) { return strcmp(x, y); }

static size_t parse_all(size_t parser, const char *corpus, long inputs) {
  static char file[MOST_FILES][NAME];
  char folder[1024], path[2048];
  size_t count = 0;
  DIR *listed;
  snprintf(folder, sizeof folder, "%s/%s", corpus, parsers[parser].name);
  listed = opendir(folder);
  for (struct dirent *d; listed && count < MOST_FILES && (d = readdir(listed));)
    if (d->d_name[0] != '.') snprintf(file[count++], NAME, "%s", d->d_name);
  if (listed) closedir(listed);
  qsort(file, count, NAME, by_name);
  for (size_t f = 0; f < count; f++) {
    snprintf(path, sizeof path, "%s/%s", folder, file[f]);
    for (long n = 0; n <= inputs; n++) parse(parser, path, file[f], n);
  }
  return count;
}

int main(int argc, char **argv) {
  char path[2048];
  int missing = 0;
  if (argc != 3 && argc != 6) {
    fprintf(stderr, "usage: parsers INPUTS CORPUS [PARSER FILE NUMBER]\n");
    return 2;
  }
  signal(SIGABRT, say_which);
  signal(SIGSEGV, say_which);
  for (size_t p = 0; p < sizeof parsers / sizeof *parsers; p++) {
    if (argc == 6 && strcmp(argv[3], parsers[p].name) != 0) continue;
    if (argc == 6) {
      snprintf(path, sizeof path, "%s/%s/%s", argv[2], argv[3], argv[4]);
      parse(p, path, argv[4], atol(argv[5]));
      continue;
    }
    const size_t seeds = parse_all(p, argv[2], atol(argv[1]));
    printf("%s: %zu seeds, %s inputs of each\n", parsers[p].name, seeds, argv[1]);
    missing += seeds == 0;
  }
  return missing ? 1 : 0;
}
