#include "rows/list.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "io/count.h"
#include "isa/format_name.h"

#define TOKEN_SIZE 80

static void skip_blanks(const char **text) {
  while (isspace((unsigned char)**text)) ++*text;
}

/* Copies the next token, and moves `*text` past it and one comma. `token` is empty at the end. */
static bool next_token(const char **text, char token[TOKEN_SIZE], const char *option, smma_error *error) {
  size_t length = 0;
  token[0] = 0;
  skip_blanks(text);
  if (!**text) return true;
  while (**text && !isspace((unsigned char)**text) && **text != ',') {
    if (length + 1 == TOKEN_SIZE)
      return smma_fail(error, "%s: an element of more than %d characters", option, TOKEN_SIZE - 1);
    token[length++] = *(*text)++;
  }
  token[length] = 0;
  if (length == 0) return smma_fail(error, "%s: no element before the comma at ',%.20s'", option, *text + 1);
  skip_blanks(text);
  if (**text == ',') ++*text;
  return true;
}

/* Splits "VALUE*COUNT": cuts the token after VALUE and sets `*count`, to 1 if there is no "*COUNT". */
static bool split_count(char *token, const char *option, int most, int *count, smma_error *error) {
  char *star = strchr(token, '*');
  long long value = 1;
  if (star) *star = 0;
  if (star && (!smma_read_count(star + 1, &value) || value < 0 || value > most))
    return smma_fail(error, "%s: '%s*%s': the count after '*' must be a number from 0 to %d", option, token, star + 1,
                     most);
  *count = (int)value;
  return true;
}

static bool read_hex(const char *token, const smma_list_form *f, int index, uint64_t *encoding, smma_error *error) {
  const int bits = smma_encoding_of(f->format).bits;
  char *end;
  errno = 0;
  *encoding = strtoull(token, &end, 16);
  if (*end || !isxdigit((unsigned char)token[0]))
    return smma_fail(error, "%s[%d]: '%s' is not hexadecimal", f->option, index, token);
  if (errno == ERANGE || (bits < 64 && *encoding >> bits))
    return smma_fail(error, "%s[%d]: '%s' does not fit the %d bits of %s", f->option, index, token, bits,
                     smma_format_text(f->format));
  return true;
}

/* Reports whether the token is "0x" and as many hexadecimal digits as an encoding of the format has. */
static bool looks_like_encoding(const char *token, smma_format format) {
  const size_t digits = (size_t)(smma_encoding_of(format).bits + 3) / 4;
  return token[0] == '0' && tolower((unsigned char)token[1]) == 'x' && strlen(token) == digits + 2 &&
         strspn(token + 2, "0123456789abcdefABCDEF") == digits;
}

/* Reads the number as strtod does, and also a power of two, such as -2^-24. */
static double read_number(const char *token, char **end) {
  const char *sign = token + strspn(token, "+-");
  const bool is_power = sign - token <= 1 && strncmp(sign, "2^", 2) == 0;
  if (!is_power) return strtod(token, end);
  const long exponent = strtol(sign + 2, end, 10);
  if (*end == sign + 2) *end = (char *)token; /* no exponent */
  if (exponent < -1074 || exponent > 1023) errno = ERANGE;
  return ldexp(*token == '-' ? -1 : 1, exponent < -1075 ? -1075 : exponent > 1024 ? 1024 : (int)exponent);
}

static bool read_value(const char *token, const smma_list_form *f, int index, uint64_t *encoding, smma_error *error) {
  char *end;
  double value, rounded;
  errno = 0;
  value = read_number(token, &end);
  if (*end || end == token)
    return smma_fail(error, "%s[%d]: '%s' is not a number, such as 1.5 or 2^-24 (encodings need %s)", f->option, index,
                     token, f->for_hex);
  if (looks_like_encoding(token, f->format))
    smma_say(f->notes, "%s[%d]: %s is read as the number %.17g; encodings take %s", f->option, index, token, value,
             f->for_hex);
  *encoding =
      smma_format_encode(f->format, value, f->rounding, isinf(value) ? SMMA_OVERFLOW_PROPAGATE : SMMA_OVERFLOW_DEFAULT);
  rounded = smma_format_decode(f->format, *encoding);
  if (errno == ERANGE || (rounded != value && !(isnan(value) && isnan(rounded))))
    smma_say(f->notes, "%s[%d]: %s is no value of %s and is taken as %.17g", f->option, index, token,
             smma_format_text(f->format), rounded);
  return true;
}

/* Reads all elements, and stores at most `most` of them in `out`. Sets `*count` to their number. */
static bool read_elements(const char *text, const smma_list_form *f, int most, uint64_t *out, int *count,
                          smma_error *error) {
  char token[TOKEN_SIZE];
  const char *rest = text;
  for (*count = 0;;) {
    int repeat;
    uint64_t encoding;
    if (!next_token(&rest, token, f->option, error)) return false;
    if (!*token) return true;
    if (!split_count(token, f->option, most > SMMA_MAXIMUM_K ? most : SMMA_MAXIMUM_K, &repeat, error) ||
        !(f->hex ? read_hex : read_value)(token, f, *count, &encoding, error))
      return false;
    for (; repeat > 0; repeat--, ++*count)
      if (*count < most) out[*count] = encoding;
    if (*count > SMMA_LONGEST_LIST) return smma_fail(error, "%s: more than %d elements", f->option, SMMA_LONGEST_LIST);
  }
}

bool smma_list_read(const char *text, const smma_list_form *f, int count, bool pads, uint64_t *out, smma_error *error) {
  int found;
  if (!read_elements(text, f, count, out, &found, error)) return false;
  if (found > count || found == 0 || (found < count && !pads))
    return smma_fail(error, "%s has %d element%s, but the instruction takes %d%s", f->option, found, smma_plural(found),
                     count, found < count && count > 1 ? " ('X*N' stands for N times X)" : "");
  if (found == count) return true;
  memset(out + found, 0, (size_t)(count - found) * sizeof *out);
  smma_say(f->notes, "%s has %d element%s; the other %d of K = %d are 0", f->option, found, smma_plural(found),
           count - found, count);
  return true;
}

uint64_t *smma_list_read_any(const char *text, const smma_list_form *f, int *count, smma_error *error) {
  uint64_t *list = calloc(SMMA_LONGEST_LIST, sizeof *list);
  if (!list) smma_no_memory(error);
  if (list && read_elements(text, f, SMMA_LONGEST_LIST, list, count, error)) return list;
  free(list);
  return NULL;
}
