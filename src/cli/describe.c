#include "cli/describe.h"

#include <math.h>
#include <string.h>

#include "host/count.h"
#include "isa/id.h"
#include "isa/sum.h"

static bool print_alias(const char *alias, void *context) {
  printf("%-14s%s\n", *(bool *)context ? "" : "also", alias);
  *(bool *)context = true;
  return false;
}

static void print_texts(const char *label, const char *const *text) {
  for (bool first = true; *text; text++, first = false) printf("%-14s%s\n", first ? label : "", *text);
}

static void print_architecture(const smma_architecture *arch) {
  printf("%-14s%s (%s %s)\n", "architecture", arch->name, arch->vendor, arch->title);
}

void smma_shown_parameters(const smma_instruction *i, char *text, size_t size) {
  char *steps;
  smma_instruction_parameters(i, text, size);
  steps = strstr(text, "step1=");
  if (!steps) return;
  if (steps > text) steps--; /* the blank before it */
  snprintf(steps, size - (size_t)(steps - text), "%s%d step%s", steps > text ? ", " : "",
           i->rule->rule.with.composition.steps, smma_plural(i->rule->rule.with.composition.steps));
}

void smma_print_instruction(const smma_instruction *i) {
  char id[SMMA_ID_SIZE], scale[32], words[SMMA_SUM_WORDS_SIZE], parameters[SMMA_MAXIMUM_STEPS * SMMA_PARAMETER_SIZE];
  bool any_alias = false;
  const smma_operation o = smma_operation_of(i);
  smma_shown_parameters(i, parameters, sizeof parameters);
  printf("%-14s%s\n", "instruction", i->name);
  if (i->origin)
    printf("%-14s%s (custom)\n", "file", i->origin);
  else
    print_architecture(&smma_architectures[i->arch]);
  printf("%-14s%d x %d x %d (M x N x K)\n", "shape", i->m, i->n, i->k);
  printf("%-14sa %s, b %s, c %s, d %s%s%s\n", "formats", smma_format_text(i->a), smma_format_text(i->b),
         smma_format_text(i->c), smma_format_text(i->d), i->scale_block ? ", scales " : "", smma_scale_text(i, scale));
  if (i->sparse) printf("%-14s%d of %d elements of A; k counts these\n", "sparse", i->sparse / 2, i->sparse);
  printf("%-14s%s%s%s\n", "model", smma_model_name(&i->rule->rule), *parameters ? ": " : "", parameters);
  printf("%-14s%s\n", "sum", smma_sum_words(&o, words));
  printf("%-14s%s\n", "rule", smma_rule_id(i, id));
  printf("%-14s%s\n", "basis", smma_basis_name(smma_instruction_basis(i)));
  if (smma_instruction_id(i, id)) printf("%-14s%s\n", "id", id);
  print_texts("evidence", i->rule->evidence);
  print_texts("open", i->rule->questions);
  smma_each_alias(i, print_alias, &any_alias);
}

static bool is_mixed(const smma_datum *inputs, size_t i) {
  return strchr(smma_datum_text_of(smma_datum_at(inputs, i)), ',');
}

/* Prints the formats of A and B. Pairs of different formats are "mixed" if there are several formats to be mixed. */
static void print_inputs(const smma_datum *inputs) {
  size_t alike = 0, printed = 0;
  for (size_t i = 0; i < smma_datum_size(inputs); i++) alike += !is_mixed(inputs, i);
  for (size_t i = 0; i < smma_datum_size(inputs); i++)
    if (alike < 2 || !is_mixed(inputs, i))
      printf("%s%s", printed++ ? alike < 2 ? "; " : ", " : "", smma_datum_text_of(smma_datum_at(inputs, i)));
  if (printed < smma_datum_size(inputs)) printf(", and mixed");
}

/* Prints "f16, bf16 -> f32" and, below, how these instructions sum. */
static void print_sum(const smma_datum *sum) {
  const long long others = smma_datum_integer_of(smma_datum_get(sum, "instructions")) - 1;
  print_inputs(smma_datum_get(sum, "inputs"));
  printf(" -> %s\n  %s\n  %s", smma_text_at(sum, "d"), smma_text_at(sum, "sum"), smma_text_at(sum, "instruction"));
  if (others) printf(" and %lld other%s", others, smma_plural(others));
  putchar('\n');
}

static void print_list_of(const char *title, const smma_datum *texts) {
  if (smma_datum_size(texts)) printf("\n%s\n", title);
  for (size_t i = 0; i < smma_datum_size(texts); i++) printf("  %s\n", smma_datum_text_of(smma_datum_at(texts, i)));
}

void smma_print_gpu(const smma_datum *gpu, const char *name) {
  const smma_datum *sums = smma_datum_get(gpu, "sums");
  const size_t instructions = (size_t)smma_datum_integer_of(smma_datum_get(gpu, "instructions"));
  const smma_architecture *arch = &smma_architectures[smma_resolve_arch(name, NULL)];
  printf("%s: %s %s, %zu instructions ('softmma list %s')\n\n", name, arch->vendor, arch->title, instructions,
         instructions == arch->table->count ? arch->name : name);
  for (size_t i = 0; i < smma_datum_size(sums); i++) print_sum(smma_datum_at(sums, i));
  print_list_of("Evidence", smma_datum_get(gpu, "evidence"));
  print_list_of("Open questions", smma_datum_get(gpu, "questions"));
}

/* ---- Formats ---- */

static int integer_at(const smma_datum *record, const char *key) {
  return (int)smma_datum_integer_of(smma_datum_get(record, key));
}

/* Prints how the bits of an encoding are used. */
static void print_bits(const smma_datum *format) {
  const int bits = integer_at(format, "bits"), exponent = integer_at(format, "exponent_bits"),
            fraction = integer_at(format, "fraction_bits");
  const bool sign = smma_datum_real_of(smma_datum_get(format, "min")) < 0,
             integer = smma_datum_kind_of(smma_datum_get(format, "bias")) == SMMA_DATUM_NULL;
  const int ignored = integer ? 0 : bits - sign - exponent - fraction;
  printf("%-20s%d", "bits", bits);
  if (integer) printf(", %s", sign ? "two's complement" : "without a sign");
  if (!integer) printf(": %s%d of the exponent, %d of the fraction", sign ? "sign, " : "", exponent, fraction);
  if (ignored) printf(", %d ignored", ignored);
  putchar('\n');
  if (!integer) printf("%-20s%d\n", "bias", integer_at(format, "bias"));
}

/* Prints a number in decimal, and in hexadecimal unless it is an integer of few digits. */
static void print_number(const smma_datum *format, const char *label, const char *key) {
  const smma_datum *number = smma_datum_get(format, key);
  const double value = smma_datum_real_of(number);
  if (smma_datum_kind_of(number) == SMMA_DATUM_NULL) return;
  printf("%-20s%.17g", label, value);
  if (fabs(value) > INT32_MAX || value != floor(value)) printf(" = %a", value);
  putchar('\n');
}

/* Prints encodings, or ranges of encodings. */
static void print_codes(const smma_datum *format, const char *label, const char *key) {
  const smma_datum *codes = smma_datum_get(format, key);
  printf("%-20s", label);
  for (size_t i = 0; i < smma_datum_size(codes); i++) {
    const smma_datum *code = smma_datum_at(codes, i);
    const bool is_range = smma_datum_kind_of(code) == SMMA_DATUM_LIST;
    const char *first = smma_datum_text_of(is_range ? smma_datum_at(code, 0) : code),
               *last = smma_datum_text_of(is_range ? smma_datum_at(code, 1) : code);
    printf("%s0x%s", i ? ", " : "", first);
    if (strcmp(first, last) != 0) printf(" to 0x%s", last);
  }
  printf("%s\n", smma_datum_size(codes) ? "" : "none");
}

/* Prints the block-scaled formats whose elements or scale factors have this format. */
static void print_blocks(const char *name) {
  for (size_t i = 0; i < smma_block_format_count; i++) {
    const smma_block_format *f = &smma_block_formats[i];
    const bool is_element = strcmp(name, smma_format_text(f->element)) == 0;
    if (!is_element && strcmp(name, smma_format_text(f->scale)) != 0) continue;
    printf("%-20s%s (%d %s elements share a scale factor in %s)\n", is_element ? "elements of" : "scale factors of",
           f->name, f->block, smma_format_text(f->element), smma_format_text(f->scale));
  }
}

static void print_plain_format(const smma_datum *format) {
  const char *name = smma_text_at(format, "name");
  printf("%-20s%s\n", "format", name);
  print_bits(format);
  print_number(format, "largest", "max");
  print_number(format, "least", "min");
  print_number(format, "smallest normal", "smallest_normal");
  print_number(format, "smallest subnormal", "smallest_subnormal");
  print_codes(format, "zero", "zero");
  print_codes(format, "infinity", "infinity");
  print_codes(format, "NaN", "nan");
  print_blocks(name);
}

void smma_print_encoding(const smma_datum *encoding) {
  static const char *const parts[] = {"sign", "exponent", "fraction"};
  const smma_datum *value = smma_datum_get(encoding, "value");
  bool first = true;
  printf("%-20s0x%s", smma_text_at(encoding, "format"), smma_text_at(encoding, "encoding"));
  for (int i = 0; i < 3; i++) {
    const char *bits = smma_datum_text_of(smma_datum_get(encoding, parts[i]));
    if (!bits || !*bits) continue;
    printf("%s %s %s", first ? ":" : ",", parts[i], bits);
    first = false;
  }
  putchar('\n');
  if (smma_datum_text_of(value))
    printf("%-20s%s\n", "value", smma_datum_text_of(value));
  else
    print_number(encoding, "value", "value");
}

void smma_print_format(const smma_datum *format) {
  const smma_datum *element = smma_datum_get(format, "element");
  const char *name = smma_text_at(format, "name");
  if (!element) {
    print_plain_format(format);
  } else {
    printf("%-20s%s: blocks of %d elements, with one scale factor each\n\nelements\n", "format", name,
           integer_at(format, "block"));
    print_plain_format(element);
    printf("\nscale factors\n");
    print_plain_format(smma_datum_get(format, "scale"));
  }
  printf("%-20s'softmma list %s' lists those that take it\n", "instructions", name);
}
