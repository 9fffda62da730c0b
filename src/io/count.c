#include "io/count.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static bool is_digit(char c) { return isdigit((unsigned char)c) != 0; }

/* Reads "e6", "E+06" or nothing, up to the end of the text. */
static bool read_exponent(const char *c, int *exponent) {
  *exponent = 0;
  if (!*c) return true;
  if (*c != 'e' && *c != 'E') return false;
  c += c[1] == '+' ? 2 : 1;
  if (!is_digit(*c)) return false;
  for (; is_digit(*c) && *exponent < 100; c++) *exponent = *exponent * 10 + (*c - '0');
  return !*c;
}

bool smma_read_count(const char *text, long long *count) {
  const bool negative = *text == '-';
  const char *c = text + negative;
  long long value = 0;
  int places = 0, exponent; /* places: digits after the decimal point */
  bool point = false;
  if (!is_digit(*c)) return false;
  for (; is_digit(*c) || ((*c == '_' || (*c == '.' && !point)) && is_digit(c[-1]) && is_digit(c[1])); c++) {
    point |= *c == '.';
    if (!is_digit(*c)) continue;
    if (value > (LLONG_MAX - (*c - '0')) / 10) return false;
    value = value * 10 + (*c - '0');
    places += point;
  }
  if (!read_exponent(c, &exponent)) return false;
  for (; places > exponent; places--, value /= 10)
    if (value % 10) return false;
  for (; exponent > places && value; exponent--) {
    if (value > LLONG_MAX / 10) return false;
    value *= 10;
  }
  *count = negative ? -value : value;
  return true;
}

bool smma_read_shard(const char *text, uint64_t *index, uint64_t *count, smma_error *error) {
  unsigned long long i, n;
  char end;
  if (strspn(text, "0123456789/") != strlen(text) || sscanf(text, "%llu/%llu%c", &i, &n, &end) != 2 || i < 1 || i > n ||
      n > SMMA_MOST_SHARDS)
    return smma_fail(error, "--shard: '%s' is not I/N, part I of N, from 1 to at most %d; for example 1/4", text,
                     SMMA_MOST_SHARDS);
  *index = i - 1, *count = n;
  return true;
}
