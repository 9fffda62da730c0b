/* Public functions: they check arguments and call the core, the catalogue and the engine. */
#include <stdio.h>
#include <string.h>

#include "api/multiplier.h"
#include "api/text.h"
#include "host/error.h"
#include "host/load.h"
#include "host/sized.h"
#include "isa/catalogue.h"
#include "isa/formats.h"
#include "softmma/softmma.h"

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *smma_version(void) { return VERSION_TEXT(SMMA_VERSION_MAJOR, SMMA_VERSION_MINOR, SMMA_VERSION_PATCH); }

smma_status smma_describe(const smma_instruction *i, smma_instruction_info *info, size_t size) {
  smma_instruction_info all;
  if (!i || !info || !size) return SMMA_INVALID_ARGUMENT;
  all = (smma_instruction_info){
      .arch = smma_arch_name(i),
      .name = i->name,
      .m = i->m,
      .n = i->n,
      .k = i->k,
      .a = i->a,
      .b = i->b,
      .c = i->c,
      .d = i->d,
      .scale = i->scale,
      .scale_block = i->scale_block,
      .model = smma_model_name(&i->rule->rule),
      .rule = i->rule->name,
      .evidence = i->rule->evidence,
      .questions = i->rule->questions,
      .instruction = i,
  };
  smma_give_struct(info, size, &all, sizeof all);
  return SMMA_OK;
}

/* Reports whether an evidence text is about recordings on an H100, and belongs to rules that other architectures share:
   it is the first evidence of such a rule, for integers through wgmma or only mma, or for FP64. */
static bool is_of_h100(const char *text) {
  return text == *smma_rule_nvidia_integer.evidence || text == *smma_rule_nvidia_b1_and.evidence ||
         text == *smma_rule_nvidia_fma.evidence;
}

/* Reports whether an evidence text is about recordings on another architecture (H100, B200) that shares the
   instruction's rule. */
static bool is_of_other(const smma_instruction *i, const char *text) {
  return (i->arch != SMMA_ARCH_hopper && is_of_h100(text)) ||
         (i->arch != SMMA_ARCH_blackwell && text == *smma_rule_tcgen05_mx.evidence);
}

smma_basis smma_instruction_basis(const smma_instruction *i) {
  enum { MOST = 16 };
  const char *own[MOST + 1];
  smma_named_rule rule = {.evidence = own};
  size_t count = 0;
  if (!i) return SMMA_BASIS_ASSUMED;
  if (i->origin) return SMMA_BASIS_CUSTOM;
  for (const char *const *text = i->rule->evidence; *text && count < MOST; text++)
    if (!is_of_other(i, *text)) own[count++] = *text;
  own[count] = NULL;
  return smma_basis_of_rule(&rule);
}

const char *smma_basis_name(smma_basis basis) {
  static const char *const names[] = {"recorded", "emulated", "reported", "assumed", "custom"};
  return (size_t)basis < sizeof names / sizeof *names ? names[basis] : "unknown";
}

/* Appends `part` to a text of length `length`, as far as it fits in `size` bytes. Returns the length that the whole
   text would have. */
static size_t append(char *text, size_t size, size_t length, const char *part) {
  if (length < size) snprintf(text + length, size - length, "%s", part);
  return length + strlen(part);
}

size_t smma_instruction_parameters(const smma_instruction *i, char *text, size_t size) {
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  size_t length = 0;
  size = smma_start_text(text, size);
  for (int p = 0; i && smma_parameter(&i->rule->rule, p, &name, value, sizeof value); p++) {
    if (p) length = append(text, size, length, " ");
    length = append(text, size, length, name);
    length = append(text, size, length, "=");
    length = append(text, size, length, value);
  }
  return length;
}

typedef struct {
  size_t left, size, length;
  char *text;
} alias_query;

static bool take_alias(const char *alias, void *context) {
  alias_query *q = context;
  if (q->left--) return false;
  q->length = append(q->text, q->size, 0, alias);
  return true;
}

size_t smma_instruction_alias(const smma_instruction *i, size_t index, char *text, size_t size) {
  alias_query q = {index, smma_start_text(text, size), 0, text};
  if (i) smma_each_alias(i, take_alias, &q);
  return q.length;
}

const smma_instruction *smma_find(const char *gpu, const char *name, smma_error *error) {
  smma_clear_error(error);
  if (gpu && name) return smma_resolve_name(gpu, name, error);
  smma_set_error(error, SMMA_INVALID_ARGUMENT, "the name of the GPU or of the instruction is missing");
  return NULL;
}

smma_status smma_formats_find(const char *in, const char *out, smma_formats *formats, smma_error *error) {
  smma_format d = out ? smma_format_from_text(out) : SMMA_NO_FORMAT;
  smma_clear_error(error);
  if (!in || !formats) return smma_set_error(error, SMMA_INVALID_ARGUMENT, "the formats of A and B are missing");
  if (out && d == SMMA_NO_FORMAT) return smma_refuse_unknown_format(out, false, error);
  return smma_formats_from_text(in, d, formats, error);
}

const smma_instruction *smma_find_by_formats(const char *gpu, const smma_formats *f, smma_error *error) {
  smma_clear_error(error);
  if (gpu && f && smma_is_operand_format(f->a) && smma_is_operand_format(f->b) && smma_is_operand_format(f->d) &&
      f->scale_block >= 0 && (f->scale_block == 0 || smma_is_operand_format(f->scale)))
    return smma_resolve_formats(gpu, f, error);
  smma_set_error(error, SMMA_INVALID_ARGUMENT, "the GPU is missing, or a format is not an operand's");
  return NULL;
}

size_t smma_instruction_count(void) { return smma_catalogue_count(); }

const smma_instruction *smma_instruction_at(size_t index) { return smma_catalogue_at(index); }

smma_status smma_mma(const smma_instruction *i, const void *a, const void *b, const void *c, const void *scale_a,
                     const void *scale_b, void *d) {
  smma_gemm_arguments g;
  if (!i || !a || !b || !c || !d) return SMMA_INVALID_ARGUMENT;
  smma_gemm_defaults(&g, sizeof g);
  g.m = (size_t)i->m, g.n = (size_t)i->n, g.k = (size_t)i->k;
  g.a = a, g.b = b, g.c = c, g.d = d;
  g.scale_a = scale_a, g.scale_b = scale_b;
  g.order_b = SMMA_COLUMN_MAJOR;
  g.threads = 1;
  return smma_gemm(i, &g);
}

smma_status smma_gemm(const smma_instruction *i, const smma_gemm_arguments *arguments) {
  smma_multiplier multiplier;
  smma_status status = smma_multiplier_for(i, arguments, false, &multiplier);
  if (status != SMMA_OK) return status;
  status = smma_end_error(multiplier.with.error, smma_multiplier_compute(&multiplier));
  smma_multiplier_end(&multiplier);
  return status;
}
