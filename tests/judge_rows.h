/* Shared code of programs that read test vectors as a `pipe:` unit does and compute them with a CPU's instructions.
   JUDGE is the program's name. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define _Noreturn [[noreturn]]
#endif

_Noreturn static void fail(const char *what, const char *name) {
  fprintf(stderr, JUDGE ": %s%s\n", what, name);
  exit(2);
}

/* Reads all of standard input; the text ends with NUL. */
static char *read_all(void) {
  size_t size = 1 << 20, used = 0;
  char *text = (char *)malloc(size);
  for (size_t count = 1; text && count > 0; used += count) {
    if (size - used < 2) text = (char *)realloc(text, size *= 2);
    count = text ? fread(text + used, 1, size - used - 1, stdin) : 0;
  }
  if (!text) fail("no memory", "");
  text[used] = '\0';
  return text;
}

/* Reads the name of the instruction in the header, and moves `*text` past the header. */
static void read_header(char **text, char name[64]) {
  name[0] = '\0';
  while (**text == '#') {
    char *end = strchr(*text, '\n');
    if (!end) fail("the header has no end", "");
    sscanf(*text, "# instruction: %63s", name);
    *text = end + 1;
  }
  if (!*name) fail("the header names no instruction", "");
}

/* Reads `count` numbers of `bytes` bytes each. Returns 0 if there are none. */
static int read_numbers(char **text, int count, int bytes, uint8_t *to) {
  for (int n = 0; n < count; n++, to += bytes) {
    char *at = *text;
    uint64_t value = 0;
    while (*at == ' ' || *at == '\n') at++;
    if (*at == '\0' && n == 0) return 0;
    for (*text = at; *at > ' '; at++) value = value << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
    if (at == *text) fail("a row has too few numbers", "");
    memcpy(to, &value, (size_t)bytes);
    *text = at;
  }
  return 1;
}

static inline void write_number(const uint8_t *from, int bytes) {
  uint64_t d = 0;
  memcpy(&d, from, (size_t)bytes);
  printf("%0*llx\n", 2 * bytes, (unsigned long long)d);
}
