/* Reads the header of a vector file: lines "# key: value", or the values of a JSON record. */
#include <stdarg.h>

#include "isa/format_name.h"
#include "isa/key.h"
#include "rows/text_reader.h"

const char *const smma_text_keys[SMMA_KEY_COUNT] = {[SMMA_KEY_ARCH] = "arch",
                                                    [SMMA_KEY_INSTRUCTION] = "instruction",
                                                    [SMMA_KEY_K] = "k",
                                                    [SMMA_KEY_A] = "a",
                                                    [SMMA_KEY_B] = "b",
                                                    [SMMA_KEY_C] = "c",
                                                    [SMMA_KEY_D] = "d",
                                                    [SMMA_KEY_SCALE] = "scale",
                                                    [SMMA_KEY_RECORDED_ON] = "recorded on",
                                                    [SMMA_KEY_WAVE] = "wave",
                                                    [SMMA_KEY_FP16_OVFL] = "fp16_ovfl",
                                                    [SMMA_KEY_CLAMP] = "clamp",
                                                    [SMMA_KEY_FLAGS] = "flags"};

bool smma_text_fail(const smma_text_reader *reader, const char *place, smma_error *error, const char *format, ...) {
  char what[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return smma_fail(error, "%s: line %llu, column %zu: %s", reader->path, reader->line,
                   (size_t)(place - reader->text) + 1, what);
}

bool smma_split_key(smma_span line, smma_span *key, smma_span *value) {
  const char *colon = memchr(line.text, ':', line.length);
  if (!colon) return false;
  size_t before = (size_t)(colon - line.text);
  *key = smma_trim((smma_span){line.text + 1, before - 1});
  *value = smma_trim((smma_span){colon + 1, line.length - before - 1});
  return key->length > 0;
}

/* Reads a decimal count from 1 to the maximum K; returns 0 for anything else. */
static int parse_count(smma_span s) {
  int value = 0;
  if (s.length < 1 || s.length > 4) return 0;
  for (size_t i = 0; i < s.length; i++) {
    if (s.text[i] < '0' || s.text[i] > '9') return 0;
    value = value * 10 + (s.text[i] - '0');
  }
  return value <= SMMA_MAXIMUM_K ? value : 0;
}

static bool parse_text(const smma_text_reader *reader, smma_span value, char *to, size_t size, smma_error *error) {
  if (value.length >= size) return smma_text_fail(reader, value.text, error, "longer than %zu characters", size - 1);
  memcpy(to, value.text, value.length);
  to[value.length] = '\0';
  return true;
}

static bool parse_format(const smma_text_reader *reader, smma_span value, smma_format *format, smma_error *error) {
  char name[32] = "";
  if (value.length < sizeof name) memcpy(name, value.text, value.length);
  *format = smma_format_from_text(name);
  if (*format != SMMA_NO_FORMAT) return true;
  return smma_text_fail(reader, value.text, error, "'%.*s' is no number format; formats are f16, bf16, e4m3 and so on",
                        (int)(value.length < 64 ? value.length : 64), value.text);
}

/* Reads "FORMAT per N". */
static bool parse_scale(smma_text_reader *reader, smma_span value, smma_error *error) {
  static const char separator[] = " per ";
  const size_t width = sizeof separator - 1;
  for (size_t i = 0; i + width <= value.length; i++) {
    if (memcmp(value.text + i, separator, width) != 0) continue;
    smma_span format = smma_trim((smma_span){value.text, i});
    smma_span block = smma_trim((smma_span){value.text + i + width, value.length - i - width});
    reader->header.scale_block = parse_count(block);
    if (reader->header.scale_block == 0)
      return smma_text_fail(reader, block.text, error, "one scale per 1 to %d elements expected", SMMA_MAXIMUM_K);
    return parse_format(reader, format, &reader->header.scale, error);
  }
  return smma_text_fail(reader, value.text, error, "expected a scale like 'ue8m0 per 32'");
}

/* Reads a value that must be one of the numbers `one` and `other`. */
static bool parse_modifier(const smma_text_reader *reader, smma_span value, int one, int other, int *to,
                           smma_error *error) {
  char words[2][8];
  snprintf(words[0], sizeof words[0], "%d", one);
  snprintf(words[1], sizeof words[1], "%d", other);
  *to = smma_span_equals(value, words[1]) ? other : one;
  return smma_span_equals(value, words[0]) || smma_span_equals(value, words[1]) ||
         smma_text_fail(reader, value.text, error, "'%.*s' is neither %d nor %d",
                        (int)(value.length < 64 ? value.length : 64), value.text, one, other);
}

static bool parse_tininess(smma_text_reader *reader, smma_span value, smma_error *error) {
  smma_tininess t = SMMA_TININESS_BEFORE_ROUNDING;
  while (t <= SMMA_TININESS_AFTER_ROUNDING && !smma_span_equals(value, smma_tininess_lines[t])) t++;
  reader->header.tininess = t;
  return t <= SMMA_TININESS_AFTER_ROUNDING ||
         smma_text_fail(reader, value.text, error, "'%.*s' is neither '%s' nor '%s'",
                        (int)(value.length < 64 ? value.length : 64), value.text,
                        smma_tininess_lines[SMMA_TININESS_BEFORE_ROUNDING],
                        smma_tininess_lines[SMMA_TININESS_AFTER_ROUNDING]);
}

static bool parse_value(smma_text_reader *reader, smma_text_key key, smma_span value, smma_error *error) {
  smma_vector_header *header = &reader->header;
  switch (key) {
    case SMMA_KEY_ARCH: return parse_text(reader, value, header->arch, sizeof header->arch, error);
    case SMMA_KEY_INSTRUCTION:
      header->line = reader->line;
      return parse_text(reader, value, header->instruction, sizeof header->instruction, error);
    case SMMA_KEY_RECORDED_ON: return parse_text(reader, value, header->recorded_on, sizeof header->recorded_on, error);
    case SMMA_KEY_A: return parse_format(reader, value, &header->a, error);
    case SMMA_KEY_B: return parse_format(reader, value, &header->b, error);
    case SMMA_KEY_C: return parse_format(reader, value, &header->c, error);
    case SMMA_KEY_D: return parse_format(reader, value, &header->d, error);
    case SMMA_KEY_SCALE: return parse_scale(reader, value, error);
    case SMMA_KEY_WAVE: return parse_modifier(reader, value, 32, 64, &header->wave, error);
    case SMMA_KEY_FP16_OVFL: return parse_modifier(reader, value, 0, 1, &header->fp16_ovfl, error);
    case SMMA_KEY_CLAMP: return parse_modifier(reader, value, 0, 1, &header->clamp, error);
    case SMMA_KEY_FLAGS: return parse_tininess(reader, value, error);
    default: header->k = parse_count(value); break;
  }
  if (header->k > 0) return true;
  return smma_text_fail(reader, value.text, error, "k must be a count from 1 to %d", SMMA_MAXIMUM_K);
}

bool smma_text_set_key(smma_text_reader *reader, smma_text_key key, smma_span value, smma_error *error) {
  char *known = reader->values[key];
  const char *name = smma_text_keys[key];
  if (value.length == 0) return smma_text_fail(reader, value.text, error, "header key '%s' has no value", name);
  if (known[0] && smma_span_equals(value, known)) return true;
  if (known[0])
    return smma_text_fail(reader, value.text, error,
                          "header key '%s' was '%s' before; keep rows of different headers in files of their own", name,
                          known);
  if (reader->in_rows)
    return smma_text_fail(reader, value.text, error,
                          "header key '%s' after rows that had none; move it before the rows", name);
  return parse_text(reader, value, known, SMMA_KEY_VALUE_SIZE, error) && parse_value(reader, key, value, error);
}

bool smma_text_take_comment(smma_text_reader *reader, smma_span line, smma_error *error) {
  smma_span key, value;
  const char *nul = memchr(line.text, '\0', line.length);
  if (nul) return smma_text_fail(reader, nul, error, "a NUL byte; this is no text file");
  while (line.length && line.text[line.length - 1] == ',') line.length--; /* empty cells of a spreadsheet */
  if (!smma_split_key(line, &key, &value)) return true;
  for (int i = 0; i < SMMA_KEY_COUNT; i++)
    if (smma_span_equals(key, smma_text_keys[i])) return smma_text_set_key(reader, (smma_text_key)i, value, error);
  return true;
}

bool smma_text_check_header(const smma_text_reader *reader, smma_error *error) {
  const smma_vector_header *header = &reader->header;
  bool any = false;
  for (int i = 0; i < SMMA_KEY_SCALE; i++) any |= reader->values[i][0] != '\0';
  if (!any && reader->length >= 2 && memcmp(reader->text, "//", 2) == 0)
    return smma_text_fail(
        reader, reader->text, error,
        "this is a file for $readmemh, which cannot be read back; write the rows with --format text or "
        "binary, too");
  if (!any && reader->form != SMMA_FORM_TEXT)
    return smma_text_fail(reader, reader->text, error,
                          "no header; the first line is a record with arch, instruction, k, a, b, c and d");
  if (!any)
    return smma_text_fail(
        reader, reader->text, error,
        "no header; a vector file begins with lines '# key: value' for arch, instruction, k, a, b, c and d");
  for (int i = 0; i < SMMA_KEY_SCALE; i++)
    if (!reader->values[i][0] && reader->form != SMMA_FORM_TEXT)
      return smma_text_fail(reader, reader->text, error, "header key '%s' is missing in the record of the first line",
                            smma_text_keys[i]);
    else if (!reader->values[i][0])
      return smma_text_fail(reader, reader->text, error,
                            "header key '%s' is missing; add a line '# %s: ...' before the rows", smma_text_keys[i],
                            smma_text_keys[i]);
  if (header->scale_block > 0 && header->k % header->scale_block != 0)
    return smma_text_fail(reader, reader->text, error,
                          "a scale per %d elements does not divide k = %d; mend the header", header->scale_block,
                          header->k);
  if (smma_scale_count(header->k, header->scale_block) > SMMA_MAXIMUM_ROUNDED_K)
    return smma_text_fail(reader, reader->text, error,
                          "k = %d with a scale per %d elements has more than %d; mend the header", header->k,
                          header->scale_block, SMMA_MAXIMUM_ROUNDED_K);
  return true;
}
