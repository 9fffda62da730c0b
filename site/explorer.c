#include "explorer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/decimal.h"
#include "explain/picture.h"
#include "isa/custom.h"
#include "isa/sum.h"
#include "reply.h"
#include "rows/generate.h"
#include "rows/place.h"
#include "rows/vectors.h"
#include "softmma/softmma.h"

enum { UNITS = 2, WIDTH = 120, OPERANDS = SMMA_PART_SCALE_B + 1 };

typedef struct {
  const smma_instruction *instruction;
  char label[128];
  smma_operation operation; /* of the pair's rows */
  smma_explanation explanation;
  smma_explained explained;
} site_unit;

static site_unit units[UNITS];
static int explained;          /* units whose explanations are made */
static smma_instruction shape; /* of the pair's rows */
static smma_row_layout layout;
static smma_row row;

/* ---- The catalogue ---- */

static void put_formats(smma_datum *record, const smma_instruction *i) {
  char parameters[4096];
  smma_instruction_parameters(i, parameters, sizeof parameters);
  smma_put_count(record, "k", (uint64_t)i->k);
  smma_put_text(record, "a", smma_format_text(i->a));
  smma_put_text(record, "b", smma_format_text(i->b));
  smma_put_text(record, "c", smma_format_text(i->c));
  smma_put_text(record, "d", smma_format_text(i->d));
  smma_put_text(record, "scale", smma_format_text(i->scale));
  smma_put_text(record, "model", smma_model_name(&i->rule->rule));
  smma_put_text(record, "parameters", parameters);
}

static smma_datum *architecture(smma_arch_id arch) {
  const smma_architecture *a = &smma_architectures[arch];
  smma_datum *record = smma_datum_record(), *gpus = smma_datum_list();
  smma_basis best = SMMA_BASIS_ASSUMED;
  for (size_t n = 0; n < a->table->count; n++) {
    const smma_basis basis = smma_instruction_basis(&a->table->row[n]);
    best = basis < best ? basis : best;
  }
  for (size_t g = 0; g < smma_gpu_count; g++)
    if (smma_gpus[g].arch == arch) smma_datum_append(gpus, smma_datum_text(smma_gpus[g].name));
  smma_put_text(record, "name", a->name);
  smma_put_text(record, "title", a->title);
  smma_put_text(record, "vendor", a->vendor);
  smma_datum_put(record, "gpus", gpus);
  smma_put_text(record, "basis", smma_basis_name(best));
  return record;
}

static smma_datum *instruction(const smma_instruction *i) {
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "arch", smma_arch_name(i));
  smma_put_text(record, "name", i->name);
  put_formats(record, i);
  smma_put_count(record, "sparse", (uint64_t)i->sparse);
  return record;
}

const char *site_catalogue(void) {
  static site_reply r;
  smma_datum *record = smma_datum_record(), *architectures = smma_datum_list(), *instructions = smma_datum_list(),
             *kinds = smma_datum_list();
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) smma_datum_append(architectures, architecture((smma_arch_id)a));
  for (size_t n = 0; n < smma_catalogue_count(); n++)
    smma_datum_append(instructions, instruction(smma_catalogue_at(n)));
  for (int kind = 0; kind < SMMA_ROWS_KINDS; kind++)
    smma_datum_append(kinds, smma_datum_text(smma_row_kind_text((smma_row_kind)kind)));
  smma_put_text(record, "version", smma_version());
  smma_datum_put(record, "architectures", architectures);
  smma_datum_put(record, "instructions", instructions);
  smma_datum_put(record, "kinds", kinds);
  return site_reply_of(&r, record);
}

/* ---- Choosing ---- */

static void forget(void) {
  for (; explained > 0; explained--) smma_explanation_free(&units[explained - 1].explanation);
}

static void set_unit(int slot, const smma_instruction *instruction, const char *label) {
  forget();
  smma_custom_release(units[slot].instruction);
  units[slot].instruction = instruction;
  snprintf(units[slot].label, sizeof units[slot].label, "%s", label);
}

const char *site_choose(int slot, const char *gpu, const char *name) {
  static smma_error error;
  const smma_instruction *found = smma_find(gpu, name, &error);
  if (!found) return error.text;
  set_unit(slot, found, gpu);
  return "";
}

const char *site_customise(int slot, const char *text) {
  static smma_error error;
  const smma_instruction *made = smma_custom_read("custom unit", text, strlen(text), &error);
  if (!made) return error.text;
  set_unit(slot, made, made->name);
  return "";
}

const char *site_about(int slot) {
  static site_reply r;
  smma_datum *record = smma_datum_record();
  const smma_instruction *i = units[slot].instruction;
  const size_t size = smma_custom_text(i, NULL, 0) + 1;
  const smma_operation operation = smma_operation_of(i);
  char *custom = malloc(size), sum[SMMA_SUM_WORDS_SIZE];
  if (!custom) abort();
  smma_custom_text(i, custom, size);
  smma_put_text(record, "label", units[slot].label);
  smma_put_text(record, "arch", smma_arch_name(i));
  smma_put_text(record, "name", i->name);
  put_formats(record, i);
  smma_put_text(record, "sum", smma_sum_words(&operation, sum));
  smma_put_text(record, "custom", custom);
  free(custom);
  return site_reply_of(&r, record);
}

/* ---- The row of one unit or two ---- */

/* Reports whether an instruction with more products would compute the same as several calls in a row, which holds if
   its blocks stay the same. */
static bool is_a_chain(const smma_operation *o) {
  switch (o->rule.algorithm) {
    case SMMA_FMA:
    case SMMA_FTZ_ADDMUL:
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_E_FDPA:
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: return true;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: return o->rule.with.c_fdpa.stride == 1;
    default: return false;
  }
}

/* Extends an operation to several calls with k products together; false if no operation computes that. */
static bool lengthen(smma_operation *o, int k) {
  smma_operation longer = *o;
  if (o->k == k) return true;
  longer.k = k;
  if (k % o->k || !is_a_chain(o) || smma_block_of(&longer) != smma_block_of(o)) return false;
  *o = longer;
  return true;
}

static void clear_row(void) { row = smma_zero_row(&shape); }

const char *site_pair(int count) {
  static char message[1024];
  const smma_instruction before = shape;
  int k = 0;
  forget();
  for (int u = 0; u < count; u++) {
    units[u].operation = smma_operation_of(units[u].instruction);
    if (units[u].operation.k > k) k = units[u].operation.k;
  }
  for (int u = 0; u < count; u++) {
    if (lengthen(&units[u].operation, k)) continue;
    snprintf(message, sizeof message,
             "K is %d on %s and %d on %s, and its calls in a row are not drawn as one: choose two of the same K",
             units[u].operation.k, units[u].label, k, units[!u].label);
    return message;
  }
  if (count > 1) {
    char why[256];
    if (!smma_same_operands(&units[0].operation, &units[1].operation, why, sizeof why)) {
      snprintf(message, sizeof message, "%s and %s do not take the same operands: %s", units[0].label, units[1].label,
               why);
      return message;
    }
  }
  shape = *units[0].instruction;
  shape.k = k;
  layout = smma_row_layout_of(&shape);
  if (before.k != k || before.a != shape.a || before.b != shape.b || before.c != shape.c ||
      before.scale != shape.scale || before.scale_block != shape.scale_block)
    clear_row();
  return "";
}

static smma_datum *part_of_layout(int p) {
  const smma_part *part = &layout.part[p];
  const smma_encoding f = smma_encoding_of(part->format);
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "name", part->name);
  smma_put_text(record, "format", smma_format_text(part->format));
  smma_put_count(record, "part", (uint64_t)p);
  smma_put_count(record, "count", (uint64_t)part->count);
  smma_put_count(record, "bits", (uint64_t)f.bits);
  smma_put_count(record, "sign", (uint64_t)f.sign_bits);
  smma_put_count(record, "exponent", (uint64_t)f.exponent_bits);
  smma_put_count(record, "fraction", (uint64_t)f.fraction_bits);
  smma_put_flag(record, "integer", smma_is_integer(part->format));
  return record;
}

const char *site_layout(void) {
  static site_reply r;
  smma_datum *record = smma_datum_record(), *parts = smma_datum_list();
  for (int p = 0; p < OPERANDS; p++)
    if (layout.part[p].count) smma_datum_append(parts, part_of_layout(p));
  smma_put_count(record, "k", (uint64_t)shape.k);
  smma_put_text(record, "d", smma_format_text(shape.d));
  smma_datum_put(record, "parts", parts);
  return site_reply_of(&r, record);
}

static uint64_t *element(int part, int index) { return smma_part_of(&row, &layout.part[part]) + index; }

static smma_datum *number(smma_format format, uint64_t code) {
  smma_datum *record = smma_datum_record();
  char hex[32], value[40];
  smma_encoding_hex(hex, sizeof hex, format, code);
  smma_encoding_text(value, sizeof value, format, code);
  smma_put_text(record, "hex", hex + 2);
  smma_put_text(record, "value", value);
  return record;
}

const char *site_element(int part, int index) {
  static site_reply r;
  return site_reply_of(&r, number(layout.part[part].format, *element(part, index)));
}

/* Puts the distance from a value to that of the next encoding, or null if the next encoding has no larger (or, for
   `step` -1, smaller) finite magnitude. */
static void put_distance(smma_datum *record, const char *key, smma_format format, uint64_t code, int step) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t sign = f.sign_bits ? (uint64_t)1 << (f.bits - 1) : 0;
  const double here = fabs(smma_format_decode(format, code)),
               next = smma_format_decode(format, (code & ~sign) + (uint64_t)step);
  const bool at_end =
      step < 0 ? (code & ~sign) == 0 : (code & ~sign) == (sign ? sign - 1 : ((uint64_t)2 << (f.bits - 1)) - 1);
  const bool right = !at_end && isfinite(here) && isfinite(next) && (next - here) * step > 0;
  char text[40];
  snprintf(text, sizeof text, "%.17g", fabs(next - here));
  smma_datum_put(record, key, right ? smma_datum_text(text) : smma_datum_null());
}

const char *site_details(int part, int index) {
  static site_reply r;
  enum { EXACT = 800 }; /* more digits than any double has */
  const smma_format format = layout.part[part].format;
  const uint64_t code = *element(part, index);
  const double value = smma_format_decode(format, code);
  smma_datum *record = smma_datum_record();
  char text[EXACT + 32];
  snprintf(text, sizeof text, "%.*g", EXACT, value);
  smma_put_text(record, "exact", text);
  snprintf(text, sizeof text, "%a", value);
  smma_put_text(record, "hexfloat", text);
  put_distance(record, "up", format, code, 1);
  put_distance(record, "down", format, code, -1);
  return site_reply_of(&r, record);
}

int site_set_hex(int part, int index, const char *digits) {
  const int bits = smma_encoding_of(layout.part[part].format).bits;
  char *stop;
  errno = 0;
  const unsigned long long code = strtoull(digits, &stop, 16);
  if (!*digits || *stop || strspn(digits, "0123456789abcdefABCDEF") != strlen(digits) || errno) return -1;
  if (bits < 64 && code >> bits) return -1;
  *element(part, index) = code;
  return 0;
}

/* Encodes a number in the format of an operand, rounded as the command rounds operands of the instruction. */
static uint64_t rounded_operand(const smma_instruction *i, smma_format format, double x) {
  return smma_format_encode(format, x, smma_operand_rounding(i, NULL, format), SMMA_OVERFLOW_DEFAULT);
}

int site_set_value(int part, int index, const char *text) {
  const smma_format format = layout.part[part].format;
  char *stop;
  errno = 0;
  const double value = strtod(text, &stop);
  if (stop == text || *stop) return -1;
  const bool out_of_range = errno == ERANGE;
  const uint64_t code = rounded_operand(&shape, format, value);
  const double rounded = smma_format_decode(format, code);
  *element(part, index) = code;
  return out_of_range || (rounded != value && !(isnan(value) && isnan(rounded)));
}

void site_flip(int part, int index, int bit) { *element(part, index) ^= (uint64_t)1 << bit; }

void site_make(const char *kind, unsigned seed) {
  const smma_row_kind found = smma_row_kind_from_text(kind);
  smma_operation operation = units[0].operation;
  clear_row();
  if (found == SMMA_ROWS_KINDS) return;
  smma_generate_row(&operation, seed, 0, found, &row);
}

/* ---- Explaining ---- */

/* Returns the instruction's result, computed call by call. */
static uint64_t called(const smma_instruction *instruction) {
  smma_operation o = smma_operation_of(instruction);
  uint64_t d = row.c;
  for (int first = 0; first < shape.k; first += o.k) {
    const int scales = smma_scale_count(o.k, o.scale_block), scale = smma_scale_count(first, o.scale_block);
    smma_row part = {.c = d};
    memcpy(part.a, row.a + first, (size_t)o.k * sizeof *part.a);
    memcpy(part.b, row.b + first, (size_t)o.k * sizeof *part.b);
    memcpy(part.scale_a, row.scale_a + scale, (size_t)scales * sizeof *part.scale_a);
    memcpy(part.scale_b, row.scale_b + scale, (size_t)scales * sizeof *part.scale_b);
    d = smma_row_compute(&o, &part);
    o.c = o.d;
  }
  return d;
}

static smma_datum *result(const char *label, smma_format format, uint64_t code) {
  smma_datum *record = number(format, code);
  char bits[80];
  smma_encoding_bits(bits, sizeof bits, format, code);
  smma_put_text(record, "label", label);
  smma_put_text(record, "bits", bits);
  return record;
}

const char *site_explain(int count) {
  static site_reply r;
  smma_datum *record = smma_datum_record(), *results = smma_datum_list();
  const smma_explanation *e = &units[0].explanation;
  smma_explained both[UNITS];
  smma_difference difference = {""};
  forget();
  for (; explained < count; explained++) {
    site_unit *u = &units[explained];
    if (!smma_explain(&u->operation, &row, &u->explanation)) abort();
    /* Never draw an explanation whose result is not the instruction's. */
    if (u->explanation.result != called(u->instruction)) abort();
    both[explained] = u->explained = (smma_explained){u->label, u->instruction->name, &u->operation, &u->explanation};
  }
  if (count > 1) difference = smma_find_difference(both);
  for (int u = 0; u < count; u++)
    smma_datum_append(results, result(units[u].label, shape.d, units[u].explanation.result));
  smma_put_text(record, "difference", difference.text);
  smma_datum_put(record, "results", results);
  smma_datum_put(record, "exact", e->finite ? result("exact sum", shape.d, e->correctly_rounded) : smma_datum_null());
  return site_reply_of(&r, record);
}

const char *site_picture(int slot, int width) {
  static site_reply pictures[UNITS + 1];
  const smma_explained both[UNITS] = {units[0].explained, units[1].explained};
  FILE *out = site_begin(&pictures[slot]);
  if (!smma_picture_write(out, slot < UNITS ? &both[slot] : both, slot < UNITS ? 1 : UNITS, width)) abort();
  return site_end(&pictures[slot]);
}

const char *site_words(void) {
  static site_reply r;
  const smma_explained both[UNITS] = {units[0].explained, units[1].explained};
  FILE *out = site_begin(&r);
  if (explained > 1)
    smma_explain_print_two(out, both, WIDTH);
  else
    smma_explain_print(out, both[0].operation, both[0].explanation, WIDTH);
  return site_end(&r);
}

/* ---- Vector files ---- */

static struct {
  char *text;
  size_t size;
} opened;

/* Reads the vector file up to row `index`. Returns the number of rows read. */
static int read_rows(int index, smma_vector_header *header, smma_row *found, smma_error *error) {
  FILE *stream = fmemopen(opened.text, opened.size, "r");
  smma_vector_reader *reader = stream ? smma_vector_open(stream, "the file", header, error) : NULL;
  smma_vector_status status = SMMA_VECTOR_ERROR;
  int rows = 0;
  if (reader)
    for (status = SMMA_VECTOR_ROW; rows <= index && status == SMMA_VECTOR_ROW; rows += status == SMMA_VECTOR_ROW)
      status = smma_vector_next(reader, found, error);
  if (reader) smma_vector_close(reader);
  if (stream) fclose(stream);
  return status == SMMA_VECTOR_ERROR ? -1 : rows;
}

const char *site_open(const char *text) {
  enum { MOST_ROWS = 1000000 };
  static site_reply r;
  static smma_row unused;
  smma_datum *record = smma_datum_record();
  smma_error error = {SMMA_FAILED, "the file is empty"};
  smma_vector_header header;
  const smma_instruction *own = NULL;
  int rows;
  free(opened.text);
  opened.size = strlen(text);
  opened.text = strdup(text);
  if (!opened.text) abort();
  rows = opened.size ? read_rows(MOST_ROWS, &header, &unused, &error) : -1;
  if (rows >= 0) own = smma_instruction_of_header(&header, "the file", &error);
  if (!own) {
    smma_put_text(record, "error", error.text);
  } else {
    smma_put_text(record, "arch", header.arch);
    smma_put_text(record, "instruction", own->name);
    smma_put_text(record, "recorded_on", header.recorded_on);
    smma_put_count(record, "rows", (uint64_t)rows);
  }
  return site_reply_of(&r, record);
}

const char *site_take(int index) {
  static char message[1200];
  smma_error error;
  smma_vector_header header;
  smma_row found = {.c = 0};
  if (index < 0 || read_rows(index, &header, &found, &error) != index + 1) {
    snprintf(message, sizeof message, "%s", "the file has no such row");
    return message;
  }
  const smma_row_layout own = smma_vector_layout(&header);
  for (int p = 0; p < OPERANDS; p++) {
    const smma_part *part = &own.part[p];
    if (part->count == layout.part[p].count && part->format == layout.part[p].format) continue;
    snprintf(message, sizeof message, "the file's rows have other operands than the units that are chosen");
    return message;
  }
  row = found;
  return "";
}

/* ---- Keys of custom units ---- */

static smma_datum *choices_of(const smma_key *key) {
  smma_datum *list = smma_datum_list();
  if (key->kind == SMMA_KEY_CHOICE || key->kind == SMMA_KEY_ROUNDING)
    for (int i = 0; key->choices[i]; i++) smma_datum_append(list, smma_datum_text(key->choices[i]));
  for (int f = 0; key->kind == SMMA_KEY_FORMAT && f < SMMA_FORMAT_COUNT; f++)
    if (key->formats & smma_format_bit(smma_format_at(f)))
      smma_datum_append(list, smma_datum_text(smma_format_text(smma_format_at(f))));
  return list;
}

static smma_datum *key_datum(const smma_key *key) {
  static const char *const kinds[] = {[SMMA_KEY_INTEGER] = "number",
                                      [SMMA_KEY_FORMAT] = "format",
                                      [SMMA_KEY_CHOICE] = "choice",
                                      [SMMA_KEY_ROUNDING] = "choice",
                                      [SMMA_KEY_FLAG] = "flag"};
  smma_datum *record = smma_datum_record();
  char value[80];
  smma_put_text(record, "key", key->key);
  smma_put_text(record, "kind", kinds[key->kind]);
  smma_datum_put(record, "least", smma_datum_count(key->least));
  smma_datum_put(record, "most", smma_datum_count(key->most));
  smma_datum_put(record, "choices", choices_of(key));
  if (key->word) smma_put_text(record, "word", key->word);
  if (key->like)
    smma_put_text(record, "like", key->like);
  else if (key->otherwise != SMMA_KEY_REQUIRED)
    smma_put_text(record, "default", smma_key_value(key, key->otherwise, value, sizeof value));
  return record;
}

const char *site_keys(const char *algorithm) {
  static site_reply r;
  smma_datum *list = smma_datum_list();
  for (int a = 0; a <= SMMA_KEYS_OF_G_FDPA; a++) {
    if (strcmp(smma_keys_name((smma_algorithm)a), algorithm) != 0) continue;
    for (const smma_key *key = NULL; (key = smma_next_key((smma_algorithm)a, key));)
      smma_datum_append(list, key_datum(key));
  }
  return site_reply_of(&r, list);
}

/* ---- Matrices ---- */

const char *site_product(int slot, int m, int n, int k, const double *a, const double *b, double *d, uint64_t *codes) {
  const smma_instruction *i = units[slot].instruction;
  smma_operation o = smma_operation_of(i);
  if (o.scale_block) return "the instruction takes scale factors, which matrices here have none of";
  for (int x = 0; x < m; x++)
    for (int y = 0; y < n; y++) {
      uint64_t sum = rounded_operand(i, o.d, 0);
      o.c = o.d;
      for (int first = 0; first < k; first += o.k) {
        smma_row part = {.c = sum};
        for (int e = 0; e < o.k && first + e < k; e++) {
          part.a[e] = rounded_operand(i, o.a, a[x * k + first + e]);
          part.b[e] = rounded_operand(i, o.b, b[(first + e) * n + y]);
        }
        sum = smma_row_compute(&o, &part);
      }
      codes[x * n + y] = sum;
      d[x * n + y] = smma_format_decode(o.d, sum);
    }
  return "";
}
