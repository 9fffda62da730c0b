/* Reads the rows of text files in the form in which this library writes them. Their lines all have the same length, so
   that threads can read them at the same time, each with SIMD vectors. */
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "host/cpu.h"
#include "host/load.h"
#include "host/thread.h"
#include "rows/text_reader.h"

/* ---- Lines ---- */

/* Reports whether all characters of a line are those of `form`, or hexadecimal digits where `form` has 0. */
typedef bool form_function(const char *text, size_t length, const char *form);

/* Stores the numbers of a part, whose digits are valid, in their containers. Reports whether every number has at most
   the bits of the part's format. */
typedef bool part_function(const char *text, const smma_part *part, void *to);

/* Reads a line of the usual length as a row and stores it at `index`. `form` is from find_form. Returns false if the
   line has another form. */
typedef bool line_function(const char *text, size_t length, const char *form, const smma_row_layout *layout,
                           smma_rows *rows, size_t index);

static inline __attribute__((always_inline)) bool take_line(const char *text, size_t length, const char *form,
                                                            const smma_row_layout *layout, smma_rows *rows,
                                                            size_t index, form_function *has_form,
                                                            part_function *store) {
  bool good = has_form(text, length, form);
  for (int p = 0; good && p < SMMA_PARTS; p++) {
    const smma_part *part = &layout->part[p];
    const size_t count = (size_t)part->count;
    if (count == 0) continue;
    if (rows->part[p]) good = store(text, part, rows->part[p] + index * count * part->bytes);
    text += count * (size_t)(smma_text_digits(part->format) + 1);
  }
  return good;
}

/* ---- On any CPU ---- */

static inline bool is_digit(char c) { return ((uint8_t)(c - '0') < 10) | ((uint8_t)((c | 0x20) - 'a') < 6); }

static inline uint8_t value_of_digit(char c) { return (uint8_t)(c + (c > '9' ? 9 : 0)) & 15; }

static inline bool has_form_anywhere(const char *text, size_t length, const char *form) {
  uint8_t wrong = 0;
#pragma omp simd reduction(| : wrong)
  for (size_t i = 0; i < length; i++) wrong |= (uint8_t)((is_digit(text[i]) ? '0' : text[i]) ^ form[i]);
  return wrong == 0;
}

/* Returns the number of `digits` hexadecimal digits. pair[i] holds digits i and i + 1. */
static inline uint64_t join_digits(const uint8_t *pair, int digits) {
  uint64_t number = 0;
#pragma GCC unroll 8
  for (int d = 0; d + 1 < digits; d += 2) number = number << 8 | pair[d];
  return digits % 2 ? number << 4 | pair[digits - 1] >> 4 : number;
}

/* Stores numbers of `digits` digits each, with one character between them, in containers of `bytes` bytes. For the
   usual formats, `digits` and `bytes` are constants. Reports whether every number has at most `bits` bits. */
static inline bool store_numbers(const uint8_t *pair, int digits, int bits, size_t bytes, void *to, size_t count) {
  uint64_t used = 0;
  for (size_t i = 0; i < count; i++, pair += digits + 1) {
    const uint64_t number = join_digits(pair, digits);
    used |= number;
    smma_store(bytes, to, i, number);
  }
  return smma_low_bits(used, bits) == used;
}

static inline bool store_part_anywhere(const char *text, const smma_part *part, void *to) {
  const int digits = smma_text_digits(part->format), bits = smma_encoding_of(part->format).bits;
  const size_t count = (size_t)part->count, last = count * (size_t)(digits + 1) - 1;
  uint8_t pair[SMMA_LONGEST_LINE];
#pragma omp simd
  for (size_t i = 0; i < last; i++) pair[i] = (uint8_t)(value_of_digit(text[i]) << 4 | value_of_digit(text[i + 1]));
  switch (digits) {
    case 1: return store_numbers(pair, 1, bits, 1, to, count);
    case 2: return store_numbers(pair, 2, bits, 1, to, count);
    case 4: return store_numbers(pair, 4, bits, 2, to, count);
    case 8: return store_numbers(pair, 8, bits, 4, to, count);
    default: return store_numbers(pair, digits, bits, part->bytes, to, count);
  }
}

static bool take_line_anywhere(const char *text, size_t length, const char *form, const smma_row_layout *layout,
                               smma_rows *rows, size_t index) {
  return take_line(text, length, form, layout, rows, index, has_form_anywhere, store_part_anywhere);
}

/* ---- With AVX2 ---- */

#ifdef __x86_64__
#define FOR_AVX2 __attribute__((target("avx2"), always_inline)) static inline

FOR_AVX2 bool has_form_avx2(const char *text, size_t length, const char *form) {
  if (length < 32) return has_form_anywhere(text, length, form);
  const __m256i zero = _mm256_set1_epi8('0'), a = _mm256_set1_epi8('a'), lower_case = _mm256_set1_epi8(0x20);
  __m256i wrong = _mm256_setzero_si256();
  for (size_t at = 0; at < length; at += 32) {
    const size_t i = at + 32 <= length ? at : length - 32;
    const __m256i x = _mm256_loadu_si256((const __m256i *)(text + i));
    const __m256i number = _mm256_sub_epi8(x, zero), letter = _mm256_sub_epi8(_mm256_or_si256(x, lower_case), a);
    const __m256i is_number = _mm256_cmpeq_epi8(_mm256_min_epu8(number, _mm256_set1_epi8(9)), number);
    const __m256i is_letter = _mm256_cmpeq_epi8(_mm256_min_epu8(letter, _mm256_set1_epi8(5)), letter);
    const __m256i seen = _mm256_blendv_epi8(x, zero, _mm256_or_si256(is_number, is_letter));
    wrong = _mm256_or_si256(wrong, _mm256_xor_si256(seen, _mm256_loadu_si256((const __m256i *)(form + i))));
  }
  return _mm256_testz_si256(wrong, wrong);
}

/* Returns the values of sixteen hexadecimal digits. */
FOR_AVX2 __m128i values_avx2(const char *digit) {
  const __m128i x = _mm_loadu_si128((const __m128i *)digit);
  const __m128i of_letter = _mm_and_si128(_mm_cmpgt_epi8(x, _mm_set1_epi8('9')), _mm_set1_epi8(9));
  return _mm_and_si128(_mm_add_epi8(x, of_letter), _mm_set1_epi8(15));
}

/* Stores the numbers of a part whose format fills all digits, as many at a time as fit into 16 characters. `digits`,
   which is 1, 2, 4, 8 or 16, and `bytes`, the size of a container, are compile-time constants. Reads fewer than
   SMMA_BEHIND_LINE characters behind the part. */
FOR_AVX2 void store_numbers_avx2(const char *digit, int digits, size_t bytes, unsigned char *to, size_t count) {
  const int each = digits == 16 ? 1 : 16 / (digits + 1);
  const __m128i zero = _mm_setzero_si128();
  const __m128i to_bytes = _mm_set1_epi16(0x0110),
                to_halves = _mm_set1_epi32(0x00010100); /* weights of two neighbours */
  const __m128i reversed = _mm_set_epi64x(-1, digits == 8 ? (long long)0xffffffff00010203 : 0x0001020304050607);
  int8_t place[16]; /* of each digit in the text; -1: none */
  for (int i = 0; i < 16; i++) place[i] = (int8_t)(i / digits < each ? i / digits * (digits + 1) + i % digits : -1);
  const __m128i places = _mm_loadu_si128((const __m128i *)place);
  for (size_t i = 0; i < count; i += (size_t)each, digit += each * (digits + 1)) {
    __m128i x = _mm_shuffle_epi8(values_avx2(digit), places);
    if (digits > 1) x = _mm_maddubs_epi16(x, to_bytes);
    if (digits == 4)
      x = _mm_packus_epi32(_mm_madd_epi16(x, to_halves), zero);
    else if (digits > 1)
      x = _mm_packus_epi16(x, zero);
    if (digits > 4) x = _mm_shuffle_epi8(x, reversed);
    uint64_t numbers = (uint64_t)_mm_cvtsi128_si64(x);
    if ((count - i) * bytes >= sizeof numbers) /* the next pass overwrites what is written behind these numbers */
      memcpy(to + i * bytes, &numbers, sizeof numbers);
    else
      for (size_t b = i * bytes; b < count * bytes && b < (i + (size_t)each) * bytes; b++, numbers >>= 8)
        to[b] = (unsigned char)numbers;
  }
}

FOR_AVX2 bool store_part_avx2(const char *text, const smma_part *part, void *to) {
  const int digits = smma_text_digits(part->format), bits = smma_encoding_of(part->format).bits;
  const size_t count = (size_t)part->count;
  if (bits != 4 * digits) return store_part_anywhere(text, part, to);
  switch (digits) {
    case 1: store_numbers_avx2(text, 1, 1, to, count); break;
    case 2: store_numbers_avx2(text, 2, 1, to, count); break;
    case 4: store_numbers_avx2(text, 4, 2, to, count); break;
    case 8: store_numbers_avx2(text, 8, 4, to, count); break;
    case 16: store_numbers_avx2(text, 16, 8, to, count); break;
    default: return store_part_anywhere(text, part, to);
  }
  return true;
}

__attribute__((target("avx2"))) static bool take_line_avx2(const char *text, size_t length, const char *form,
                                                           const smma_row_layout *layout, smma_rows *rows,
                                                           size_t index) {
  return take_line(text, length, form, layout, rows, index, has_form_avx2, store_part_avx2);
}
#endif

static line_function *line_function_here(void) {
#ifdef __x86_64__
  if (smma_cpu_has(SMMA_CPU_AVX2)) return take_line_avx2;
#endif
  return take_line_anywhere;
}

/* ---- All lines ---- */

/* Fills `form` with a line in the usual form whose digits are all 0. */
static void find_form(const smma_row_layout *layout, char *form) {
  char *c = form;
  for (int p = 0; p < SMMA_PARTS; p++)
    for (int i = 0; i < layout->part[p].count; i++, *c++ = ' ')
      for (int d = smma_text_digits(layout->part[p].format); d > 0; d--) *c++ = '0';
  c[-1] = '\n';
}

size_t smma_text_take_rows(smma_text_reader *reader, smma_rows *rows, size_t first, size_t most) {
  const smma_row_layout *layout = &reader->layout;
  const size_t length = smma_text_line_length(layout);
  const char *text = reader->chunk + reader->taken;
  line_function *const take = line_function_here();
  char form[SMMA_LONGEST_LINE];
  size_t count = (reader->filled - reader->taken) / length, good;
  if (reader->pending || reader->too_long || reader->form != SMMA_FORM_TEXT) return 0;
  if (count > most) count = most;
  good = count;
  reader->together = true;
  find_form(layout, form);
#pragma omp parallel for num_threads(smma_default_threads()) schedule(static) reduction(min : good) if (count > 256)
  for (size_t i = 0; i < count; i++)
    if (i < good && !take(text + i * length, length, form, layout, rows, first + i)) good = i;
  reader->taken += good * length;
  reader->line += good;
  return good;
}
