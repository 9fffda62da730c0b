#include "rows/datum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/custom.h"
#include "isa/formats.h"
#include "softmma/softmma.h"

const char *smma_hex_text(smma_format format, uint64_t encoding, char text[24]) {
  snprintf(text, 24, "%0*llx", (smma_encoding_of(format).bits + 3) / 4, (unsigned long long)encoding);
  return text;
}

/* Reports whether the text reads back as the value: exactly, or after rounding to the format. */
static bool reads_back(const char *text, double value, smma_format format, bool exactly) {
  double read = strtod(text, NULL);
  if (exactly) return read == value;
  return smma_format_encode(format, read, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT) ==
         smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

const char *smma_value_text(smma_format format, uint64_t encoding, char text[40]) {
  double value = smma_format_decode(format, encoding);
  if (isnan(value)) return strcpy(text, "nan");
  if ((fabs(value) < 1e9 || smma_is_integer(format)) && floor(value) == value) { /* 40, not 4e+01 */
    snprintf(text, 40, "%.0f", value);
    return text;
  }
  for (int exactly = 1; exactly >= 0; exactly--)
    for (int digits = 1; digits <= (exactly ? 9 : 17); digits++) {
      snprintf(text, 40, "%.*g", digits, value);
      if (reads_back(text, value, format, exactly)) return text;
    }
  return text;
}

smma_datum *smma_encodings_datum(smma_format format, const uint64_t *encoding, int count) {
  smma_datum *list = smma_datum_list();
  char text[24];
  for (int e = 0; e < count; e++) smma_datum_append(list, smma_datum_text(smma_hex_text(format, encoding[e], text)));
  return list;
}

static bool read_encoding(const char *text, smma_format format, uint64_t *encoding) {
  if (!text || !*text || strlen(text) > 16 || strspn(text, "0123456789abcdefABCDEF") != strlen(text)) return false;
  *encoding = strtoull(text, NULL, 16);
  return *encoding == smma_low_bits(*encoding, smma_encoding_of(format).bits);
}

bool smma_encodings_read(const smma_datum *list, smma_format format, int count, uint64_t *encoding) {
  if (smma_datum_size(list) != (size_t)count) return false;
  for (int e = 0; e < count; e++)
    if (!read_encoding(smma_datum_text_of(smma_datum_at(list, (size_t)e)), format, &encoding[e])) return false;
  return true;
}

smma_datum *smma_description_datum(const smma_instruction *instruction) {
  const size_t size = smma_custom_write(instruction, NULL, 0);
  char *text = malloc(size + 1);
  smma_datum *datum = NULL;
  if (text) {
    smma_custom_write(instruction, text, size + 1);
    datum = smma_datum_read("a unit", text, size, NULL);
  }
  free(text);
  return datum;
}

void smma_put_operands(smma_datum *record, const smma_instruction *i, const smma_row *row) {
  const int scales = smma_scale_count(i->k, i->scale_block);
  smma_datum_put(record, "a", smma_encodings_datum(i->a, row->a, i->k));
  smma_datum_put(record, "b", smma_encodings_datum(i->b, row->b, i->k));
  smma_datum_put(record, "c", smma_encodings_datum(i->c, &row->c, 1));
  smma_datum_put(record, "scale_a", smma_encodings_datum(i->scale, row->scale_a, scales));
  smma_datum_put(record, "scale_b", smma_encodings_datum(i->scale, row->scale_b, scales));
}

bool smma_get_operands(const smma_datum *record, const smma_instruction *i, smma_row *row) {
  const int scales = smma_scale_count(i->k, i->scale_block);
  return smma_encodings_read(smma_datum_get(record, "a"), i->a, i->k, row->a) &&
         smma_encodings_read(smma_datum_get(record, "b"), i->b, i->k, row->b) &&
         smma_encodings_read(smma_datum_get(record, "c"), i->c, 1, &row->c) &&
         smma_encodings_read(smma_datum_get(record, "scale_a"), i->scale, scales, row->scale_a) &&
         smma_encodings_read(smma_datum_get(record, "scale_b"), i->scale, scales, row->scale_b);
}

smma_datum *smma_row_datum(const smma_instruction *i, const smma_row *row) {
  const int scales = smma_scale_count(i->k, i->scale_block);
  smma_datum *record = smma_datum_record();
  char text[24];
  smma_put_text(record, "arch", smma_arch_name(i));
  smma_put_text(record, "instruction", i->name);
  smma_datum_put(record, "a", smma_encodings_datum(i->a, row->a, i->k));
  smma_datum_put(record, "b", smma_encodings_datum(i->b, row->b, i->k));
  smma_put_text(record, "c", smma_hex_text(i->c, row->c, text));
  smma_put_text(record, "d", smma_hex_text(i->d, row->d, text));
  smma_put_real(record, "value", smma_format_decode(i->d, row->d));
  if (!scales) return record;
  smma_datum_put(record, "scale_a", smma_encodings_datum(i->scale, row->scale_a, scales));
  smma_datum_put(record, "scale_b", smma_encodings_datum(i->scale, row->scale_b, scales));
  return record;
}
