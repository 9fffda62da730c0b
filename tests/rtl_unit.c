/* Writes units as SystemVerilog, each with test vectors for rtl_rows.cpp.
   Usage: rtl_unit KIND FIRST COUNT ROWS FOLDER
   KIND: catalogue (distinct functions in the order of the catalogue), narrow (units of narrow formats, with all
   operands as test vectors), formats (units of formats with every kind of special values), composition, realistic,
   two_step or any (random units). Writes FOLDER/uI.sv and FOLDER/uI.rows for COUNT numbers I, starting at FIRST. Prints
   a line for each unit: I, its number of stages, its name. The number of stages is I mod 3, but not more than the rule
   allows. ROWS is the number of test vectors in addition to those that cover all events. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coverage/cover.h"
#include "isa/custom.h"
#include "operands.h"
#include "random_unit.h"
#include "rows/generate.h"
#include "softmma/rtl.h"

enum { WORDS = 80, TRIES = 1 << 14 };

/* Packs elements of `bits` bits into words; writes them. */
static void put_port(FILE *out, const uint64_t *x, int count, int bits) {
  uint32_t words[WORDS] = {0};
  const int all = (count * bits + 31) / 32;
  for (int i = 0; i < count; i++)
    for (int bit = 0; bit < bits; bit++) {
      const int place = i * bits + bit;
      words[place / 32] |= (uint32_t)(x[i] >> bit & 1) << place % 32;
    }
  fwrite(words, sizeof *words, (size_t)all, out);
}

static void put_row(FILE *out, const smma_operation *o, smma_row *row) {
  const int scales = smma_scale_count(o->k, o->scale_block), scale_bits = smma_encoding_of(o->scale).bits;
  row->d = smma_row_compute(o, row);
  put_port(out, row->a, o->k, smma_encoding_of(o->a).bits);
  put_port(out, row->b, o->k, smma_encoding_of(o->b).bits);
  put_port(out, &row->c, 1, smma_encoding_of(o->c).bits);
  put_port(out, row->scale_a, scales, scale_bits);
  put_port(out, row->scale_b, scales, scale_bits);
  put_port(out, &row->d, 1, smma_encoding_of(o->d).bits);
}

static uint64_t put_cover(FILE *out, const smma_instruction *i, const smma_operation *o) {
  smma_event_space space;
  smma_cover cover;
  smma_row row;
  uint64_t count;
  if (!smma_event_space_make(i, &space)) return 0;
  if (!smma_cover_find(&space, i, 0, TRIES, NULL, NULL, &cover)) exit(2);
  count = cover.count;
  for (size_t r = 0; r < count; r++) {
    smma_rows_get(&cover.rows, r, &row);
    put_row(out, o, &row);
  }
  smma_cover_free(&cover);
  return count;
}

static void put_rows(const char *path, const smma_instruction *i, uint64_t rows) {
  const smma_operation o = smma_operation_of(i);
  FILE *out = fopen(path, "wb");
  smma_row row;
  if (!out) exit(2);
  for (uint64_t r = 0; r < rows / 2; r++) {
    operands_generate(&o, 5, r, &row);
    put_row(out, &o, &row);
    smma_generate_row(&o, 5, r, (smma_row_kind)(r % SMMA_ROWS_KINDS), &row);
    put_row(out, &o, &row);
  }
  put_cover(out, i, &o);
  fclose(out);
}

/* Units with at most 24 bits of operands: the comparison of all of them proves that module and core are equal. */
#define NARROW(algorithm, more)                                                                               \
  "{\"softmma-unit\": 1, \"name\": \"narrow\", \"k\": 2, \"a\": \"e2m1-ieee\", \"b\": \"e2m1-ieee\", \"c\": " \
  "\"e4m2-ieee\""                                                                                             \
  ", \"d\": \"e4m2-ieee\", \"algorithm\": \"" algorithm "\", " more "}"
static const char *const narrow[] = {
    NARROW("T-FDPA", "\"block\": 2, \"alignment_bits\": 3, \"zero_exponent\": -2, \"rounding\": \"toward-zero\""),
    NARROW("T-FDPA", "\"block\": 1, \"alignment_bits\": 4, \"zero_exponent\": -9, \"rounding\": \"nearest-even\""),
    NARROW("FMA", "\"rounding\": \"nearest-even\""), NARROW("FMA", "\"rounding\": \"toward-negative\""),
    /* TR-FDPA: two stages, rounded down, then to nearest */
    NARROW("composition",
           "\"product_limit\": 3, \"steps\": [{\"take\": 2, \"join\": \"apart\", \"alignment_bits\": 3, "
           "\"output\": \"none\"}, {\"take\": 1, \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": 5, "
           "\"alignment_rounding\": \"toward-negative\", \"accumulator_zero_exponent\": \"own\", "
           "\"accumulator_alignment_bits\": 3, \"narrow_bits\": 4, \"narrow_rounding\": "
           "\"toward-negative\", \"output\": \"e4m2-ieee\"}]"),
    /* C-FDPA: terms of the other sign than c are complements, and subnormal results are zero */
    NARROW("composition",
           "\"subnormal_c\": \"to-signed-zero\", \"nan\": \"by-source\", \"steps\": [{\"take\": 2, \"join\": "
           "\"chain\", \"start\": "
           "\"c\", \"alignment_bits\": 3, \"accumulator_exponent\": \"normalized\", "
           "\"accumulator_exponent_offset\": -2, \"opposing\": \"complement\", \"narrow_bits\": 2, "
           "\"narrow_subnormals\": false, \"subnormal_outputs\": \"to-positive-zero\", "
           "\"early_underflow\": true, \"output\": \"e4m2-ieee\"}]"),
    /* MVMUL: products of slices, one phase after another; all encodings are numbers */
    NARROW("composition",
           "\"nan\": \"numbers\", \"subnormal_a\": \"to-signed-zero\", \"subnormal_b\": \"to-signed-zero\", "
           "\"subnormal_c\": \"to-signed-zero\", \"slice_a\": 1, \"slice_b\": 1, \"slices_b\": 2, \"phases\": 4, "
           "\"zero_product\": -1, \"steps\": [{\"take\": 2, \"window\": 2, \"join\": \"apart\", \"zero_exponent\": "
           "\"own\", \"least_reference\": -1, \"alignment_bits\": 1, \"alignment_rounding\": \"nearest-away\", "
           "\"output\": \"none\"}, {\"take\": 1, \"join\": \"chain\", \"start\": \"c\", \"zero_exponent\": \"own\", "
           "\"accumulator_zero_exponent\": \"none\", \"least_reference\": -6, \"alignment_bits\": 4, "
           "\"alignment_rounding\": \"nearest-positive\", \"round_again\": 1, \"accumulator_alignment_rounding\": "
           "\"nearest-away\", \"accumulator_round_again\": 0, \"minus_one_shift\": 5, \"narrow_bits\": 2, "
           "\"narrow_rounding\": \"nearest-away\", \"narrow_subnormals\": false, \"subnormal_outputs\": "
           "\"to-positive-zero\", \"early_underflow\": true, \"zero_sign\": \"always-positive\", \"overflow\": "
           "\"saturate\", \"output\": \"e4m2-ieee\"}]"),
    /* block floating point */
    NARROW("composition",
           "\"block_bits_a\": 1, \"block_bits_b\": 3, \"block_rounding\": \"nearest-even\", \"steps\": [{\"take\": 2, "
           "\"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": 3, \"output\": \"e4m2-ieee\"}]"),
    /* an exact sum */
    NARROW("composition",
           "\"steps\": [{\"take\": 2, \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": \"exact\", "
           "\"output\": \"e4m2-ieee\"}]")};

static const smma_instruction *narrow_at(size_t number) {
  smma_error error;
  const smma_instruction *i;
  if (number >= sizeof narrow / sizeof narrow[0]) return NULL;
  i = smma_custom_read("narrow", narrow[number], strlen(narrow[number]), &error);
  if (!i) fprintf(stderr, "rtl_unit: %s\n", error.text), exit(2);
  return i;
}

/* Units of formats whose names are spelled out: A and B, and D. */
static const char *const formats[][2] = {{"binary8p3se", "binary8p4se"},
                                         {"binary8p3sf", "binary8p3sf"},
                                         {"binary3p1se", "binary3p1se"},
                                         {"binary3p1sf", "binary3p1sf"},
                                         {"binary10p6se", "binary10p6se"},
                                         {"binary8p1se", "binary12p5sf"},
                                         {"binary8p3ue", "f32"},
                                         {"binary8p4uf", "f16"},
                                         {"binary8p1ue", "binary8p1sf"},
                                         {"e3m2-fnuz", "e5m4-fnuz"},
                                         {"e4m3-ieee", "e3m2-nan"},
                                         {"ue5m3", "e5m3-nan"},
                                         {"ue5m3-ieee", "e4m3-bias11-fnuz"},
                                         {"ue4m3-ieee", "e1m6-bias-4-finite"},
                                         {"ue5m0-finite", "e3m4"}};

static const smma_instruction *formats_at(size_t number) {
  smma_error error;
  const smma_instruction *i;
  char text[300];
  if (number >= sizeof formats / sizeof formats[0]) return NULL;
  snprintf(text, sizeof text,
           "{\"softmma-unit\": 1, \"name\": \"%s\", \"k\": 4, \"algorithm\": \"G-FDPA\", \"a\": \"%s\", \"b\": "
           "\"%s\", \"c\": \"%s\", \"d\": \"%s\", \"alignment_bits\": \"exact\"}",
           formats[number][0], formats[number][0], formats[number][0], formats[number][1], formats[number][1]);
  i = smma_custom_read("formats", text, strlen(text), &error);
  if (!i) fprintf(stderr, "rtl_unit: %s\n", error.text), exit(2);
  return i;
}

static uint64_t element(uint64_t packed, int index, int bits) {
  return packed >> index * bits & ((UINT64_C(1) << bits) - 1);
}

static void put_all_operands(const char *path, const smma_instruction *i) {
  const smma_operation o = smma_operation_of(i);
  const int bits = smma_encoding_of(o.a).bits, c_bits = smma_encoding_of(o.c).bits, all = 2 * o.k * bits + c_bits;
  FILE *out = fopen(path, "wb");
  smma_row row = {.c = 0};
  if (!out) exit(2);
  for (uint64_t packed = 0; packed < UINT64_C(1) << all; packed++) {
    for (int k = 0; k < o.k; k++) row.a[k] = element(packed, k, bits), row.b[k] = element(packed, o.k + k, bits);
    row.c = packed >> 2 * o.k * bits;
    put_row(out, &o, &row);
  }
  fclose(out);
}

static const smma_instruction *catalogue_at(size_t number) {
  for (size_t index = 0; index < smma_instruction_count(); index++) {
    bool is_new = true;
    for (size_t earlier = 0; earlier < index && is_new; earlier++)
      is_new = !smma_same_operation(smma_instruction_at(earlier), smma_instruction_at(index));
    if (is_new && number-- == 0) return smma_instruction_at(index);
  }
  return NULL;
}

static const smma_instruction *unit_at(const char *kind, size_t number) {
  smma_custom c;
  if (strcmp(kind, "catalogue") == 0) return catalogue_at(number);
  if (strcmp(kind, "narrow") == 0) return narrow_at(number);
  if (strcmp(kind, "formats") == 0) return formats_at(number);
  if (strcmp(kind, "composition") == 0)
    c = random_composition(number);
  else if (strcmp(kind, "realistic") == 0)
    c = random_realistic_unit(number);
  else if (strcmp(kind, "two_step") == 0)
    c = random_two_step_unit(number);
  else
    c = random_any_unit(number);
  return smma_custom_make(&c);
}

/* Writes one unit; reports whether there is a unit of that number. */
static bool put_unit(const char *kind, size_t number, uint64_t rows, const char *folder) {
  const smma_instruction *i = unit_at(kind, number);
  char path[4096], name[32];
  smma_error error;
  int stages = (int)(number % 3);
  size_t length;
  char *text;
  FILE *out;
  if (!i) return false;
  snprintf(name, sizeof name, "u%zu", number);
  length = smma_rtl_text(i, name, stages, 0, NULL, 0, &error);
  if (!length) {
    printf("%zu refused %s: %s\n", number, i->name, error.text);
    return true;
  }
  text = malloc(length + 1);
  if (!text) exit(2);
  smma_rtl_text(i, name, stages, 0, text, length + 1, &error);
  snprintf(path, sizeof path, "%s/%s.sv", folder, name);
  out = fopen(path, "w");
  if (!out) exit(2);
  fputs(text, out);
  fclose(out);
  free(text);
  snprintf(path, sizeof path, "%s/%s.json", folder, name);
  out = fopen(path, "w");
  if (!out) exit(2);
  text = malloc(65536);
  smma_custom_text(i, text, 65536);
  fputs(text, out);
  fclose(out);
  free(text);
  snprintf(path, sizeof path, "%s/%s.rows", folder, name);
  if (strcmp(kind, "narrow") == 0)
    put_all_operands(path, i);
  else
    put_rows(path, i, rows);
  printf("%zu %d %d %s\n", number, stages, i->scale_block, i->name);
  smma_custom_release(i);
  return true;
}

int main(int argc, char **argv) {
  size_t first, count;
  if (argc != 6) return 2;
  first = strtoul(argv[2], NULL, 10), count = strtoul(argv[3], NULL, 10);
  for (size_t number = first; number < first + count; number++)
    if (!put_unit(argv[1], number, strtoull(argv[4], NULL, 10), argv[5])) break;
  return 0;
}
