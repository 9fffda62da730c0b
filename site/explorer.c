#include "explorer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/decimal.h"
#include "explain/picture.h"
#include "isa/custom.h"
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

/* ---- Texts ---- */

typedef struct {
  FILE *stream;
  char *text;
  size_t size;
} reply;

static FILE *begin(reply *r) {
  free(r->text);
  *r = (reply){NULL, NULL, 0};
  r->stream = open_memstream(&r->text, &r->size);
  if (!r->stream) abort(); /* without memory a page cannot go on */
  return r->stream;
}

static const char *end(reply *r) {
  if (fclose(r->stream) != 0) abort();
  return r->text;
}

static void put_string(FILE *out, const char *text) {
  putc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fprintf(out, "\\%c", *text);
    else if ((unsigned char)*text < ' ')
      fprintf(out, "\\u%04x", (unsigned)*text);
    else
      putc(*text, out);
  }
  putc('"', out);
}

/* "key": "text", behind `before`. */
static void put_pair(FILE *out, const char *before, const char *key, const char *text) {
  fprintf(out, "%s\"%s\":", before, key);
  put_string(out, text);
}

static void put_list(FILE *out, const char *key, const char *const *text) {
  fprintf(out, ",\"%s\":[", key);
  for (int i = 0; text[i]; i++) {
    if (i) putc(',', out);
    put_string(out, text[i]);
  }
  putc(']', out);
}

/* ---- The catalogue ---- */

static void put_formats(FILE *out, const smma_instruction *i) {
  char parameters[4096];
  smma_parameters(i, parameters, sizeof parameters);
  fprintf(out, ",\"k\":%d", i->k);
  put_pair(out, ",", "a", smma_format_text(i->a));
  put_pair(out, ",", "b", smma_format_text(i->b));
  put_pair(out, ",", "c", smma_format_text(i->c));
  put_pair(out, ",", "d", smma_format_text(i->d));
  put_pair(out, ",", "scale", smma_format_text(i->scale));
  put_pair(out, ",", "model", smma_model_name(&i->rule->rule));
  put_pair(out, ",", "parameters", parameters);
}

/* Whether it is the one before with another N. */
static bool differs_in_n(const smma_instruction *i, const smma_instruction *before) {
  const bool sized = i->family == SMMA_FAMILY_WGMMA || i->family == SMMA_FAMILY_TCGEN05;
  return sized && before->family == i->family && before->rule == i->rule && before->m == i->m && before->k == i->k &&
         before->a == i->a && before->b == i->b && before->c == i->c && before->d == i->d &&
         before->scale == i->scale && before->scale_block == i->scale_block && before->sparse == i->sparse;
}

static void put_architecture(FILE *out, int arch) {
  const smma_architecture *a = &smma_architectures[arch];
  bool first = true;
  put_pair(out, arch ? ",{" : "{", "name", a->name);
  put_pair(out, ",", "title", a->title);
  put_pair(out, ",", "vendor", a->vendor);
  fprintf(out, ",\"gpus\":[");
  for (size_t g = 0; g < smma_gpu_count; g++) {
    if ((int)smma_gpus[g].arch != arch) continue;
    if (!first) putc(',', out);
    first = false;
    put_string(out, smma_gpus[g].name);
  }
  fprintf(out, "]}");
}

const char *site_catalogue(void) {
  static reply r;
  FILE *out = begin(&r);
  const smma_instruction *before = NULL;
  put_pair(out, "{", "version", smma_version());
  fprintf(out, ",\"architectures\":[");
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) put_architecture(out, a);
  fprintf(out, "],\"instructions\":[");
  for (size_t n = 0; n < smma_catalogue_count(); n++) {
    const smma_instruction *i = smma_catalogue_at(n);
    const bool again = before && before->arch == i->arch && differs_in_n(i, before);
    if (!again) {
      put_pair(out, before ? ",{" : "{", "arch", smma_arch_name(i));
      put_pair(out, ",", "name", i->name);
      put_formats(out, i);
      fprintf(out, ",\"sparse\":%d}", i->sparse);
    }
    before = i;
  }
  fprintf(out, "],\"kinds\":[");
  for (int kind = 0; kind < SMMA_ROWS_KINDS; kind++) {
    if (kind) putc(',', out);
    put_string(out, smma_row_kind_text((smma_row_kind)kind));
  }
  fprintf(out, "]}");
  return end(&r);
}

/* ---- Choosing ---- */

static void forget(void) {
  for (; explained > 0; explained--) smma_explanation_free(&units[explained - 1].explanation);
}

static void set_unit(int slot, const smma_instruction *instruction, const char *label) {
  forget();
  if (units[slot].instruction) smma_custom_free(units[slot].instruction);
  units[slot].instruction = instruction;
  snprintf(units[slot].label, sizeof units[slot].label, "%s", label);
}

const char *site_choose(int slot, const char *gpu, const char *name) {
  static char message[1024];
  const smma_instruction *found = smma_find_or_explain(gpu, name, message, sizeof message);
  if (!found) return message;
  set_unit(slot, found, gpu);
  return "";
}

const char *site_customise(int slot, const char *text) {
  static char message[1024];
  const smma_instruction *made = smma_custom_parse("custom unit", text, strlen(text), message, sizeof message);
  if (!made) return message;
  set_unit(slot, made, made->name);
  return "";
}

const char *site_about(int slot) {
  static reply r;
  FILE *out = begin(&r);
  const smma_instruction *i = units[slot].instruction;
  const size_t size = smma_custom_text(i, NULL, 0) + 1;
  char *custom = malloc(size);
  if (!custom) abort();
  smma_custom_text(i, custom, size);
  put_pair(out, "{", "label", units[slot].label);
  put_pair(out, ",", "arch", smma_arch_name(i));
  put_pair(out, ",", "name", i->name);
  fprintf(out, ",\"m\":%d,\"n\":%d", i->m, i->n);
  put_formats(out, i);
  put_list(out, "evidence", i->rule->evidence);
  put_list(out, "questions", i->rule->questions);
  put_pair(out, ",", "custom", custom);
  putc('}', out);
  free(custom);
  return end(&r);
}

/* ---- The row of one unit or two ---- */

/* Whether an instruction that took more products would compute what calls in a row do: if its blocks stay as they are.
 */
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
    case SMMA_FTZ_FMA:
    case SMMA_GST_FDPA:
    case SMMA_FP8_BY_FP16:
    case SMMA_INTEGER:
    case SMMA_COMPOSITION: break;
  }
  return false;
}

/* The operation of several calls, of k products together; false if no operation is that. */
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

const char *site_layout(void) {
  static reply r;
  FILE *out = begin(&r);
  bool first = true;
  fprintf(out, "{\"k\":%d", shape.k);
  put_pair(out, ",", "d", smma_format_text(shape.d));
  fprintf(out, ",\"parts\":[");
  for (int p = 0; p < OPERANDS; p++) {
    const smma_part *part = &layout.part[p];
    const smma_encoding f = smma_encoding_of(part->format);
    if (!part->count) continue;
    put_pair(out, first ? "{" : ",{", "name", part->name);
    put_pair(out, ",", "format", smma_format_text(part->format));
    fprintf(out, ",\"part\":%d,\"count\":%d,\"bits\":%d,\"sign\":%d,\"exponent\":%d,\"fraction\":%d,\"integer\":%s}", p,
            part->count, f.bits, f.sign_bits, f.exponent_bits, f.fraction_bits,
            smma_is_integer(part->format) ? "true" : "false");
    first = false;
  }
  fprintf(out, "]}");
  return end(&r);
}

static uint64_t *element(int part, int index) { return smma_part_of(&row, &layout.part[part]) + index; }

const char *site_element(int part, int index) {
  static reply r;
  FILE *out = begin(&r);
  const smma_format format = layout.part[part].format;
  char hex[32], value[40];
  smma_encoding_hex(hex, sizeof hex, format, *element(part, index));
  smma_encoding_text(value, sizeof value, format, *element(part, index));
  put_pair(out, "{", "hex", hex + 2);
  put_pair(out, ",", "value", value);
  putc('}', out);
  return end(&r);
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

int site_set_value(int part, int index, const char *text) {
  const smma_format format = layout.part[part].format;
  char *stop;
  errno = 0;
  const double value = strtod(text, &stop);
  if (stop == text || *stop) return -1;
  const bool out_of_range = errno == ERANGE;
  const uint64_t code = smma_round(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  const double rounded = smma_value(format, code);
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

/* What the instruction returns, call by call. */
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

static void put_result(FILE *out, const char *label, smma_format format, uint64_t code) {
  char hex[32], value[40], bits[80];
  smma_encoding_hex(hex, sizeof hex, format, code);
  smma_encoding_text(value, sizeof value, format, code);
  smma_encoding_bits(bits, sizeof bits, format, code);
  put_pair(out, "{", "label", label);
  put_pair(out, ",", "hex", hex + 2);
  put_pair(out, ",", "value", value);
  put_pair(out, ",", "bits", bits);
  putc('}', out);
}

const char *site_explain(int count) {
  static reply r;
  FILE *out;
  smma_explained both[UNITS];
  smma_difference difference = {""};
  forget();
  for (; explained < count; explained++) {
    site_unit *u = &units[explained];
    if (!smma_explain(&u->operation, &row, &u->explanation)) abort();
    /* The drawing is of the number that the instruction gives, or there is none. */
    if (u->explanation.result != called(u->instruction)) abort();
    both[explained] = u->explained = (smma_explained){u->label, u->instruction->name, &u->operation, &u->explanation};
  }
  if (count > 1) difference = smma_find_difference(both);
  out = begin(&r);
  put_pair(out, "{", "difference", difference.text);
  fprintf(out, ",\"results\":[");
  for (int u = 0; u < count; u++) {
    if (u) putc(',', out);
    put_result(out, units[u].label, shape.d, units[u].explanation.result);
  }
  fprintf(out, "],\"exact\":");
  if (units[0].explanation.finite)
    put_result(out, "exact sum", shape.d, units[0].explanation.exact);
  else
    fprintf(out, "null");
  putc('}', out);
  return end(&r);
}

const char *site_picture(int slot) {
  static reply pictures[UNITS + 1];
  const smma_explained both[UNITS] = {units[0].explained, units[1].explained};
  FILE *out = begin(&pictures[slot]);
  if (!smma_picture_write(out, slot < UNITS ? &both[slot] : both, slot < UNITS ? 1 : UNITS)) abort();
  return end(&pictures[slot]);
}

const char *site_words(void) {
  static reply r;
  const smma_explained both[UNITS] = {units[0].explained, units[1].explained};
  FILE *out = begin(&r);
  if (explained > 1)
    smma_explain_print_two(out, both, WIDTH);
  else
    smma_explain_print(out, both[0].operation, both[0].explanation, WIDTH);
  return end(&r);
}

/* ---- Vector files ---- */

static struct {
  char *text;
  size_t size;
} opened;

/* Reads the file up to row `index`; how many rows there were. */
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
  static reply r;
  static smma_row unused;
  FILE *out = begin(&r);
  smma_error error = {"the file is empty"};
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
    put_pair(out, "{", "error", error.text);
  } else {
    put_pair(out, "{", "arch", header.arch);
    put_pair(out, ",", "instruction", own->name);
    put_pair(out, ",", "recorded_on", header.recorded_on);
    fprintf(out, ",\"rows\":%d", rows);
  }
  putc('}', out);
  return end(&r);
}

const char *site_take(int index) {
  static char message[1200];
  smma_error error;
  smma_vector_header header;
  smma_row found = {.c = 0};
  if (read_rows(index, &header, &found, &error) != index + 1) {
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

static void put_words(FILE *out, const smma_key *key) {
  char value[80];
  fprintf(out, ",\"choices\":[");
  if (key->kind == SMMA_KEY_CHOICE || key->kind == SMMA_KEY_ROUNDING)
    for (int i = 0; key->choices[i]; i++) {
      if (i) putc(',', out);
      put_string(out, key->choices[i]);
    }
  if (key->kind == SMMA_KEY_FORMAT) {
    bool first = true;
    for (int f = 0; f < SMMA_FORMAT_COUNT; f++) {
      if (!(key->formats & smma_format_bit((smma_format)f))) continue;
      if (!first) putc(',', out);
      first = false;
      put_string(out, smma_format_text((smma_format)f));
    }
  }
  putc(']', out);
  if (key->word) put_pair(out, ",", "word", key->word);
  if (key->like)
    put_pair(out, ",", "like", key->like);
  else if (key->otherwise != SMMA_KEY_REQUIRED)
    put_pair(out, ",", "default", smma_key_value(key, key->otherwise, value, sizeof value));
}

const char *site_keys(const char *algorithm) {
  static const char *const kinds[] = {[SMMA_KEY_INTEGER] = "number",
                                      [SMMA_KEY_FORMAT] = "format",
                                      [SMMA_KEY_CHOICE] = "choice",
                                      [SMMA_KEY_ROUNDING] = "choice",
                                      [SMMA_KEY_FLAG] = "flag"};
  static reply r;
  FILE *out = begin(&r);
  bool first = true;
  putc('[', out);
  for (int a = 0; a <= SMMA_KEYS_OF_G_FDPA; a++) {
    if (strcmp(smma_keys_name((smma_algorithm)a), algorithm) != 0) continue;
    for (const smma_key *key = NULL; (key = smma_next_key((smma_algorithm)a, key));) {
      put_pair(out, first ? "{" : ",{", "key", key->key);
      put_pair(out, ",", "kind", kinds[key->kind]);
      fprintf(out, ",\"least\":%d,\"most\":%d", key->least, key->most);
      put_words(out, key);
      putc('}', out);
      first = false;
    }
  }
  putc(']', out);
  return end(&r);
}

/* ---- Matrices ---- */

static uint64_t rounded(smma_format format, double x) {
  return smma_round(format, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

const char *site_product(int slot, int m, int n, int k, const double *a, const double *b, double *d, uint64_t *codes) {
  const smma_instruction *i = units[slot].instruction;
  smma_operation o = smma_operation_of(i);
  if (o.scale_block) return "the instruction takes scale factors, which matrices here have none of";
  for (int x = 0; x < m; x++)
    for (int y = 0; y < n; y++) {
      uint64_t sum = rounded(o.d, 0);
      o.c = o.d;
      for (int first = 0; first < k; first += o.k) {
        smma_row part = {.c = sum};
        for (int e = 0; e < o.k && first + e < k; e++) {
          part.a[e] = rounded(o.a, a[x * k + first + e]);
          part.b[e] = rounded(o.b, b[(first + e) * n + y]);
        }
        sum = smma_row_compute(&o, &part);
      }
      codes[x * n + y] = sum;
      d[x * n + y] = smma_value(o.d, sum);
    }
  return "";
}
