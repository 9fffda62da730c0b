#include "isa/format_name.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/ascii.h"

static const char *const names[SMMA_FORMAT_COUNT] = {
#define SMMA_FORMAT(symbol, name, ...) [SMMA_ROW_OF_##symbol] = #name,
#include "core/format.def"
#undef SMMA_FORMAT
};

static const smma_format formats[SMMA_FORMAT_COUNT] = {
#define SMMA_FORMAT(symbol, ...) [SMMA_ROW_OF_##symbol] = SMMA_##symbol,
#include "core/format.def"
#undef SMMA_FORMAT
};

smma_format smma_format_at(int row) { return formats[row]; }

/* Returns the row of format.def that has the format, or -1. */
static int row_of(smma_format format) {
  if ((unsigned)format <= SMMA_B1) return (int)format;
  for (int row = (int)SMMA_ROW_OF_B1 + 1; row < SMMA_FORMAT_COUNT; row++)
    if (formats[row] == format) return row;
  return -1;
}

typedef struct {
  const char *text;
  smma_format format;
} synonym;

/* Other names of formats: those in C, NumPy, PyTorch, ml_dtypes, safetensors and the vendors' manuals. */
static const synonym synonyms[] = {
    {"fp64", SMMA_F64},
    {"float64", SMMA_F64},
    {"double", SMMA_F64},
    {"fp32", SMMA_F32},
    {"float32", SMMA_F32},
    {"float", SMMA_F32},
    {"single", SMMA_F32},
    {"xf32", SMMA_TF32},
    {"fp16", SMMA_F16},
    {"float16", SMMA_F16},
    {"half", SMMA_F16},
    {"bfloat16", SMMA_BF16},
    {"fp8_e5m2", SMMA_E5M2},
    {"f8_e5m2", SMMA_E5M2},
    {"float8_e5m2", SMMA_E5M2},
    {"e4m3fn", SMMA_E4M3},
    {"fp8_e4m3", SMMA_E4M3},
    {"fp8_e4m3fn", SMMA_E4M3},
    {"f8_e4m3", SMMA_E4M3},
    {"float8_e4m3fn", SMMA_E4M3},
    {"fp8_e5m2fnuz", SMMA_E5M2FNUZ},
    {"f8_e5m2fnuz", SMMA_E5M2FNUZ},
    {"float8_e5m2fnuz", SMMA_E5M2FNUZ},
    {"fp8_e4m3fnuz", SMMA_E4M3FNUZ},
    {"f8_e4m3fnuz", SMMA_E4M3FNUZ},
    {"float8_e4m3fnuz", SMMA_E4M3FNUZ},
    {"e3m2fn", SMMA_E3M2},
    {"fp6_e3m2", SMMA_E3M2},
    {"f6_e3m2", SMMA_E3M2},
    {"float6_e3m2fn", SMMA_E3M2},
    {"e2m3fn", SMMA_E2M3},
    {"fp6_e2m3", SMMA_E2M3},
    {"f6_e2m3", SMMA_E2M3},
    {"float6_e2m3fn", SMMA_E2M3},
    {"e2m1fn", SMMA_E2M1},
    {"fp4", SMMA_E2M1},
    {"f4", SMMA_E2M1},
    {"fp4_e2m1", SMMA_E2M1},
    {"float4_e2m1fn", SMMA_E2M1},
    {"float4_e2m1fn_x2", SMMA_E2M1},
    {"e8m0", SMMA_UE8M0},
    {"e8m0fnu", SMMA_UE8M0},
    {"f8_e8m0", SMMA_UE8M0},
    {"float8_e8m0fnu", SMMA_UE8M0},
    {"i8", SMMA_S8},
    {"int8", SMMA_S8},
    {"uint8", SMMA_U8},
    {"i4", SMMA_S4},
    {"int4", SMMA_S4},
    {"uint4", SMMA_U4},
    {"bool", SMMA_B1},
    {"uint1", SMMA_B1},
    {"i32", SMMA_S32},
    {"int32", SMMA_S32},
    {"int2", SMMA_SPELLED_FORMAT(1, 0, 1, 0, SMMA_SPECIALS_INTEGER)},
    {"uint2", SMMA_SPELLED_FORMAT(0, 0, 2, -1, SMMA_SPECIALS_INTEGER)},
    {"float8_e3m4", SMMA_SPELLED_FORMAT(1, 3, 4, 3, SMMA_SPECIALS_IEEE)},
    {"float8_e4m3", SMMA_SPELLED_FORMAT(1, 4, 3, 7, SMMA_SPECIALS_IEEE)},
    {"float8_e4m3b11fnuz", SMMA_SPELLED_FORMAT(1, 4, 3, 11, SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO)},
};

/* ---- Spelled-out formats ---- */

enum { MOST_BITS = 16, LEAST_INTEGER = 2, MOST_INTEGER = 8, LEAST_P3109 = 3, NAME_SIZE = 32 };

/* For each format of format.def, the number that spells out its parameters; 0 for formats of more than MOST_BITS bits
   or with ignored bits. */
enum {
#define SMMA_FORMAT(symbol, name, stored, ignored, sign, exponent, fraction, bias, special)                  \
  SPELLED_##symbol = (stored) <= MOST_BITS && !(ignored)                                                     \
                         ? (int)SMMA_SPELLED_FORMAT(sign, exponent, fraction, bias, SMMA_SPECIALS_##special) \
                         : 0,
#include "core/format.def"
#undef SMMA_FORMAT
};

static const int spelled_numbers[SMMA_FORMAT_COUNT] = {
#define SMMA_FORMAT(symbol, ...) SPELLED_##symbol,
#include "core/format.def"
#undef SMMA_FORMAT
};

/* Checks the formats' numbers. Formats up to B1 have the numbers of their rows, because they are older than spelled-out
   formats. A format after B1 has the number that spells out its parameters, which it also had before it got a row. */
#define SMMA_FORMAT(symbol, ...)                                                                            \
  _Static_assert((int)SMMA_##symbol == ((int)SMMA_ROW_OF_##symbol <= (int)SMMA_B1 || !(int)SPELLED_##symbol \
                                            ? (int)SMMA_ROW_OF_##symbol                                     \
                                            : (int)SPELLED_##symbol),                                       \
                 "number.h: SMMA_" #symbol                                                                  \
                 " must be the number that spells out its parameters, see core/format.h;"                   \
                 " with more than 16 bits, or with ignored bits, the number of its row in format.def");
#include "core/format.def"
#undef SMMA_FORMAT

static const char *const specials_words[] = {[SMMA_SPECIALS_IEEE] = "ieee",
                                             [SMMA_SPECIALS_ONE_NAN] = "nan",
                                             [SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO] = "fnuz",
                                             [SMMA_SPECIALS_FINITE] = "finite"};
enum { SPECIALS_WORDS = sizeof specials_words / sizeof *specials_words };

/* Reports whether `format` is an operand format with the same numbers of sign, exponent and fraction bits as x. */
static bool has_shape(smma_format format, smma_encoding x) {
  const smma_encoding y = smma_encoding_of(format);
  return smma_is_operand_format(format) && y.ignored_bits == 0 &&
         (y.specials == SMMA_SPECIALS_INTEGER) == (x.specials == SMMA_SPECIALS_INTEGER) && y.sign_bits == x.sign_bits &&
         y.exponent_bits == x.exponent_bits && y.fraction_bits == x.fraction_bits;
}

/* Returns the special values of a spelled-out format without a suffix: those of the format up to B1 in format.def with
   the same numbers of bits, if there is one, otherwise those of IEEE 754. */
static smma_specials usual_specials(smma_encoding x) {
  for (int row = 0; row <= (int)SMMA_ROW_OF_B1; row++)
    if (has_shape(formats[row], x)) return smma_encoding_of(formats[row]).specials;
  return SMMA_SPECIALS_IEEE;
}

/* Returns the bias that every P3109 format with this many exponent bits has, and FNUZ formats usually have. */
static int bias_of_p3109(int exponent_bits) { return 1 << (exponent_bits - 1); }

static int usual_bias(int exponent_bits, smma_specials specials) {
  return bias_of_p3109(exponent_bits) - (specials != SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO);
}

/* Returns why the parameters do not form a valid format, or NULL if they do. */
static const char *fault_of(smma_encoding f) {
  smma_number most;
  if (f.specials == SMMA_SPECIALS_INTEGER) {
    if (f.exponent_bits || f.bias != 1 - f.fraction_bits) return "an integer has no exponent";
    return f.bits < LEAST_INTEGER || f.bits > MOST_INTEGER ? "integers have 2 to 8 bits" : NULL;
  }
  if ((int)f.specials >= SPECIALS_WORDS && !smma_is_p3109(f)) return "no such special encodings";
  if (f.exponent_bits < 1 || f.exponent_bits > 11) return "an exponent has 1 to 11 bits";
  if (f.bits < 2 || f.bits > MOST_BITS) return "sign, exponent and fraction have 2 to 16 bits together";
  if (smma_is_p3109(f) && f.bits < LEAST_P3109) return "P3109 formats have at least 3 bits";
  if (smma_is_p3109(f) && f.bias != bias_of_p3109(f.exponent_bits)) return "P3109 formats have no other bias";
  if (f.specials == SMMA_SPECIALS_P3109_FINITE && f.fraction_bits) return "the format has another number";
  if (f.specials == SMMA_SPECIALS_IEEE && f.fraction_bits == 0)
    return "infinity and NaN take a fraction bit; write -nan, -fnuz or -finite";
  if (f.specials == SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO && !f.sign_bits) return "without a sign there is no -0 for NaN";
  if (smma_largest_fields(f) >> f.fraction_bits == 0) return "it has no normal number";
  most = smma_decode(f, smma_largest_fields(f));
  if (1 - f.bias - f.fraction_bits < -1074 || most.exponent > 1023) return "it has numbers that f64 has not";
  return NULL;
}

/* Returns the format of format.def that has the parameters x; SMMA_NO_FORMAT if there is none. */
static smma_format of_table(smma_encoding x) {
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
    const smma_encoding y = smma_encoding_of(formats[row]);
    if (has_shape(formats[row], x) && y.bias == x.bias && y.specials == x.specials) return formats[row];
  }
  return SMMA_NO_FORMAT;
}

/* Skips `word` if the remaining text begins with it. Returns whether it does. */
static bool take(const char **at, const char *end, const char *word) {
  const size_t length = strlen(word);
  if ((size_t)(end - *at) < length || memcmp(*at, word, length) != 0) return false;
  *at += length;
  return true;
}

/* Reads a number of at most four digits. Returns false if there is none, or if it has leading zeros. */
static bool take_number(const char **at, const char *end, int *number) {
  const char *first = *at;
  for (*number = 0; *at < end && **at >= '0' && **at <= '9' && *at - first < 4; ++*at)
    *number = 10 * *number + (**at - '0');
  return *at > first && (*first != '0' || *at == first + 1);
}

static bool take_specials(const char **at, const char *end, smma_specials *specials) {
  for (int s = 0; s < SPECIALS_WORDS; s++)
    if (take(at, end, specials_words[s])) return *specials = (smma_specials)s, true;
  return false;
}

/* Reports whether the text has the form sN or uN of an integer format; if so, sets `*f`. */
static bool read_integer(const char *at, const char *end, smma_encoding *f) {
  f->sign_bits = take(&at, end, "s");
  if (!f->sign_bits && !take(&at, end, "u")) return false;
  if (!take_number(&at, end, &f->bits) || at != end || f->bits > 99) return false;
  f->fraction_bits = f->bits - f->sign_bits;
  f->bias = 1 - f->fraction_bits;
  f->specials = SMMA_SPECIALS_INTEGER;
  return true;
}

static bool read_floating(const char *at, const char *end, smma_encoding *f) {
  bool biased, negative = false;
  f->sign_bits = !take(&at, end, "u");
  if (!take(&at, end, "e") || !take_number(&at, end, &f->exponent_bits) || !take(&at, end, "m") ||
      !take_number(&at, end, &f->fraction_bits))
    return false;
  f->bits = f->sign_bits + f->exponent_bits + f->fraction_bits;
  biased = take(&at, end, "-bias");
  if (biased) negative = take(&at, end, "-");
  if (biased && !take_number(&at, end, &f->bias)) return false;
  if (negative) f->bias = -f->bias;
  f->specials = usual_specials(*f);
  if (take(&at, end, "-") && !take_specials(&at, end, &f->specials)) return false;
  if (!biased && f->exponent_bits >= 1 && f->exponent_bits <= MOST_BITS)
    f->bias = usual_bias(f->exponent_bits, f->specials);
  return at == end;
}

/* Returns the special values of a P3109 format whose domain is finite. */
static smma_specials finite_specials(const smma_encoding *f) {
  if (f->fraction_bits == 0) return SMMA_SPECIALS_P3109_FINITE;
  return f->sign_bits ? SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO : SMMA_SPECIALS_ONE_NAN;
}

/* Reads the name of a P3109 format: binaryKpP followed by its signedness (s or u) and domain (e or f), or the name that
   the Python package gfloat gives the format. Returns whether the text has this form. Sets `*why` if no format has
   these numbers of bits. */
static bool read_p3109(const char *at, const char *end, smma_encoding *f, const char **why) {
  int precision;
  if (!take(&at, end, "binary") && !take(&at, end, "p3109_k")) return false;
  if (!take_number(&at, end, &f->bits) || !take(&at, end, "p") || !take_number(&at, end, &precision)) return false;
  f->sign_bits = take(&at, end, "s");
  if (!f->sign_bits && !take(&at, end, "u")) return false;
  f->exponent_bits = f->bits - precision + !f->sign_bits;
  f->fraction_bits = precision - 1;
  if (take(&at, end, "e"))
    f->specials = SMMA_SPECIALS_P3109_EXTENDED;
  else if (take(&at, end, "f"))
    f->specials = finite_specials(f);
  else
    return false;
  if (f->bits < LEAST_P3109 || f->bits > MOST_BITS)
    *why = "P3109 formats have 3 to 16 bits";
  else if (precision < 1 || f->exponent_bits < 1)
    *why = "the precision is at least 1 and, with a sign, below the number of bits";
  else if (f->exponent_bits <= MOST_BITS)
    f->bias = bias_of_p3109(f->exponent_bits);
  return at == end;
}

static bool is_name(const char *name, const char *text, size_t length) {
  return strlen(name) == length && memcmp(name, text, length) == 0;
}

smma_format smma_spelled_from_text(const char *text, size_t length, char *why, size_t size) {
  const char *end = text + length, *fault = NULL;
  smma_encoding f = {0, 0, 0, 0, 0, 0, SMMA_SPECIALS_IEEE};
  smma_format known;
  if (size) *why = 0;
  if (!read_integer(text, end, &f) && !read_p3109(text, end, &f, &fault) && !read_floating(text, end, &f))
    return SMMA_NO_FORMAT;
  known = of_table(f);
  if (known != SMMA_NO_FORMAT) return known;
  if (!fault) fault = fault_of(f);
  if (!fault) return SMMA_SPELLED_FORMAT(f.sign_bits, f.exponent_bits, f.fraction_bits, f.bias, f.specials);
  if (size && !is_name(names[SMMA_ROW_OF_E8M13], text, length))
    snprintf(why, size, "%.*s: %s", (int)(length < 40 ? length : 40), text, fault);
  return SMMA_NO_FORMAT;
}

static void spell(smma_format format, char name[NAME_SIZE]) {
  const smma_encoding f = smma_encoding_of(format);
  char bias[16] = "";
  if (f.specials == SMMA_SPECIALS_INTEGER) {
    snprintf(name, NAME_SIZE, "%s%d", f.sign_bits ? "s" : "u", f.bits);
    return;
  }
  if (smma_is_p3109(f)) {
    snprintf(name, NAME_SIZE, "binary%dp%d%c%c", f.bits, f.fraction_bits + 1, f.sign_bits ? 's' : 'u',
             f.specials == SMMA_SPECIALS_P3109_EXTENDED ? 'e' : 'f');
    return;
  }
  if (f.bias != usual_bias(f.exponent_bits, f.specials)) snprintf(bias, sizeof bias, "-bias%d", f.bias);
  snprintf(name, NAME_SIZE, "%se%dm%d%s%s%s", f.sign_bits ? "" : "u", f.exponent_bits, f.fraction_bits, bias,
           f.specials == usual_specials(f) ? "" : "-",
           f.specials == usual_specials(f) ? "" : specials_words[f.specials]);
}

/* The name of a spelled-out format, made when it is first requested. Never freed, because callers retain its
   address. */
typedef struct spelled_name {
  smma_format format;
  char name[NAME_SIZE];
  struct spelled_name *next;
} spelled_name;

enum { LISTS = 256 };
static _Atomic(spelled_name *) spelled_names[LISTS];

static const char *name_of_spelled(smma_format format) {
  _Atomic(spelled_name *) *list = &spelled_names[(unsigned)format * 2654435761u >> 24];
  spelled_name *first = atomic_load(list), *made;
  for (const spelled_name *n = first; n; n = n->next)
    if (n->format == format) return n->name;
  made = malloc(sizeof *made);
  if (!made) return "a format, for whose name there is no memory";
  made->format = format;
  spell(format, made->name);
  do {
    for (const spelled_name *n = made->next = first; n; n = n->next)
      if (n->format == format) return free(made), n->name;
  } while (!atomic_compare_exchange_weak(list, &first, made));
  return made->name;
}

/* ---- Names ---- */

const char *smma_format_text(smma_format format) {
  const int row = row_of(format);
  if (row >= 0) return names[row];
  return smma_is_format(format) ? name_of_spelled(format) : "none";
}

bool smma_is_format(smma_format format) {
  if (row_of(format) >= 0) return true;
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++)
    if (spelled_numbers[row] == (int)format) return false;
  return smma_is_spelled(format) && !fault_of(smma_encoding_of(format));
}

bool smma_is_operand_format(smma_format format) { return format != SMMA_E8M13 && smma_is_format(format); }

/* Reports whether two texts are equal, without regard to case. */
static bool same_text(const char *x, const char *y) {
  while (*x && smma_lower(*x) == smma_lower(*y)) x++, y++;
  return *x == *y;
}

smma_format smma_format_from_text(const char *text) {
  char lower[NAME_SIZE];
  size_t length;
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++)
    if (smma_is_operand_format(formats[row]) && same_text(text, names[row])) return formats[row];
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
    if (same_text(text, synonyms[i].text)) return synonyms[i].format;
  for (length = 0; text[length] && length < sizeof lower; length++) lower[length] = smma_lower(text[length]);
  return smma_spelled_from_text(lower, length, NULL, 0);
}
