#include "cli/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/count.h"

#define TOKEN_SIZE 80

static void skip_blanks(const char **text) {
  while (isspace((unsigned char)**text)) ++*text;
}

/* Copies the next token, and moves `*text` past it and one comma. Returns false at the end. */
static bool next_token(const char **text, char token[TOKEN_SIZE], const char *option) {
  size_t length = 0;
  skip_blanks(text);
  if (!**text) return false;
  while (**text && !isspace((unsigned char)**text) && **text != ',') {
    if (length + 1 == TOKEN_SIZE) smma_die("%s: an element of more than %d characters", option, TOKEN_SIZE - 1);
    token[length++] = *(*text)++;
  }
  token[length] = 0;
  if (length == 0) smma_die("%s: no element before the comma at ',%.20s'", option, *text + 1);
  skip_blanks(text);
  if (**text == ',') ++*text;
  return true;
}

/* Splits "VALUE*COUNT" and returns COUNT, or 1 if there is no count. */
static int repetitions(char *token, const char *option, int most) {
  char *star = strchr(token, '*');
  long long count;
  if (!star) return 1;
  *star = 0;
  if (!smma_read_count(star + 1, &count) || count < 0 || count > most)
    smma_die("%s: '%s*%s': the count behind '*' must be a number from 0 to %d", option, token, star + 1, most);
  return (int)count;
}

static uint64_t parse_hex(const char *token, const char *option, int index, smma_format format) {
  int bits = smma_encoding_of(format).bits;
  unsigned long long encoding;
  char *end;
  errno = 0;
  encoding = strtoull(token, &end, 16);
  if (*end || !isxdigit((unsigned char)token[0])) smma_die("%s[%d]: '%s' is not hexadecimal", option, index, token);
  if (errno == ERANGE || (bits < 64 && encoding >> bits))
    smma_die("%s[%d]: '%s' does not fit the %d bits of %s", option, index, token, bits, smma_format_text(format));
  return encoding;
}

static uint64_t parse_value(const char *token, const char *option, int index, smma_format format,
                            smma_rounding rounding) {
  char *end;
  double value, rounded;
  uint64_t encoding;
  errno = 0;
  value = strtod(token, &end);
  if (*end || end == token) smma_die("%s[%d]: '%s' is not a number (raw encodings need --hex)", option, index, token);
  encoding =
      smma_format_encode(format, value, rounding, isinf(value) ? SMMA_OVERFLOW_PROPAGATE : SMMA_OVERFLOW_DEFAULT);
  rounded = smma_format_decode(format, encoding);
  if (errno == ERANGE || (rounded != value && !(isnan(value) && isnan(rounded)))) {
    smma_note("%s[%d]: %s is no value of %s and is taken as %.17g", option, index, token, smma_format_text(format),
              rounded);
  }
  return encoding;
}

/* Reads all elements, and stores at most `most` of them in `out`. Returns how many there are. */
static int read_elements(const char *text, const char *option, smma_format format, smma_rounding rounding, bool hex,
                         int most, uint64_t *out) {
  char token[TOKEN_SIZE];
  const char *rest = text;
  int found = 0;
  while (next_token(&rest, token, option)) {
    int repeat = repetitions(token, option, most > SMMA_MAXIMUM_K ? most : SMMA_MAXIMUM_K);
    uint64_t encoding =
        hex ? parse_hex(token, option, found, format) : parse_value(token, option, found, format, rounding);
    for (; repeat > 0; repeat--, found++)
      if (found < most) out[found] = encoding;
    if (found > SMMA_LONGEST_LIST) smma_die("%s: more than %d elements", option, SMMA_LONGEST_LIST);
  }
  return found;
}

void smma_read_list(const char *text, const char *option, smma_format format, smma_rounding rounding, bool hex,
                    int count, bool pads, uint64_t *out) {
  const int found = read_elements(text, option, format, rounding, hex, count, out);
  if (found > count || found == 0 || (found < count && !pads))
    smma_die("%s has %d element%s, but the instruction takes %d%s", option, found, found == 1 ? "" : "s", count,
             found < count && count > 1 ? " ('X*N' stands for N times X)" : "");
  if (found == count) return;
  memset(out + found, 0, (size_t)(count - found) * sizeof *out);
  smma_note("%s has %d element%s; the other %d of K = %d are 0", option, found, found == 1 ? "" : "s", count - found,
            count);
}

uint64_t *smma_read_any_list(const char *text, const char *option, smma_format format, smma_rounding rounding, bool hex,
                             int *count) {
  uint64_t *list = calloc(SMMA_LONGEST_LIST, sizeof *list);
  if (!list) smma_die("out of memory");
  *count = read_elements(text, option, format, rounding, hex, SMMA_LONGEST_LIST, list);
  return list;
}
