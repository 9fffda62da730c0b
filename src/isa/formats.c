#include "isa/formats.h"

#include <stdio.h>
#include <string.h>

#include "host/error.h"
#include "isa/ascii.h"
#include "isa/catalogue.h"
#include "isa/find.h"
#include "isa/key.h"

const smma_block_format smma_block_formats[] = {
#define SMMA_BLOCK_FORMAT(name, element, scale, block) {name, SMMA_##element, SMMA_##scale, block},
#include "isa/block_formats.def"
#undef SMMA_BLOCK_FORMAT
};
const size_t smma_block_format_count = sizeof smma_block_formats / sizeof smma_block_formats[0];

smma_format smma_usual_output(smma_format in) {
  if (smma_is_integer(in)) return SMMA_S32;
  return in == SMMA_F64 ? SMMA_F64 : SMMA_F32;
}

/* ---- From text ---- */

/* Reports whether `name` names a block-scaled format: by its full name, or by the part before the underscore. */
static bool answers_to(const smma_block_format *format, const char *name) {
  size_t i = 0;
  for (; name[i]; i++)
    if (smma_lower(name[i]) != format->name[i]) return false;
  return format->name[i] == 0 || (i && format->name[i] == '_');
}

const smma_block_format *smma_find_block_format(const char *name) {
  for (size_t f = 0; f < smma_block_format_count; f++)
    if (answers_to(&smma_block_formats[f], name)) return &smma_block_formats[f];
  return NULL;
}

/* Names that stand for several formats, and the formats: as advice, and as a list of all. */
static const struct {
  const char *word, *advice, *list;
} ambiguous[] = {
    {"fp8", "e4m3 or e5m2; with scale factors of blocks, mxfp8 or mxfp8_e5m2", "e4m3,e5m2,e4m3fnuz,e5m2fnuz"},
    {"f8", "e4m3 or e5m2; with scale factors of blocks, mxfp8 or mxfp8_e5m2", "e4m3,e5m2,e4m3fnuz,e5m2fnuz"},
    {"float8", "e4m3 or e5m2; with scale factors of blocks, mxfp8 or mxfp8_e5m2", "e4m3,e5m2,e4m3fnuz,e5m2fnuz"},
    {"bf8", "e5m2, or e5m2fnuz on CDNA 3", "e5m2,e5m2fnuz"},
    {"fp6", "e3m2 or e2m3; with scale factors of blocks, mxfp6_e3m2 or mxfp6_e2m3", "e3m2,e2m3"},
    {"f6", "e3m2 or e2m3; with scale factors of blocks, mxfp6_e3m2 or mxfp6_e2m3", "e3m2,e2m3"},
    {"float", "f32 or f64", "f32,f64"}};

enum { AMBIGUOUS = sizeof ambiguous / sizeof *ambiguous };

/* Returns the index of a name in `ambiguous`, or AMBIGUOUS. */
static size_t find_ambiguous(const char *name) {
  char form[SMMA_NAME_SIZE];
  size_t i = 0;
  smma_squeeze(name, form, sizeof form);
  while (i < AMBIGUOUS && strcmp(form, ambiguous[i].word) != 0) i++;
  return i;
}

const char *smma_formats_of_name(const char *name) {
  const size_t i = find_ambiguous(name);
  return i < AMBIGUOUS ? ambiguous[i].list : NULL;
}

const char *smma_next_format(const char *list, char name[SMMA_FORMAT_NAME_SIZE]) {
  const size_t length = strcspn(list, ",");
  snprintf(name, SMMA_FORMAT_NAME_SIZE, "%.*s", length < SMMA_FORMAT_NAME_SIZE ? (int)length : SMMA_FORMAT_NAME_SIZE,
           list);
  return list + length + (list[length] == ',');
}

smma_status smma_refuse_unknown_format(const char *name, bool blocks, smma_error *error) {
  char why[160], list[600] = "";
  const size_t several = find_ambiguous(name);
  smma_spelled_from_text(name, strlen(name), why, sizeof why);
  if (*why) return smma_set_error(error, SMMA_NOT_FOUND, "%s", why);
  if (several < AMBIGUOUS)
    return smma_set_error(error, SMMA_NOT_FOUND, "'%s' names several formats; type %s", name,
                          ambiguous[several].advice);
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++)
    if (smma_is_operand_format(smma_format_at(row)))
      smma_append_text(list, sizeof list, "%s, ", smma_format_text(smma_format_at(row)));
  smma_append_text(list, sizeof list, "[u]eXmY, sN, uN");
  for (size_t f = 0; blocks && f < smma_block_format_count; f++)
    smma_append_text(list, sizeof list, ", %s", smma_block_formats[f].name);
  return smma_set_error(error, SMMA_NOT_FOUND, "unknown format '%.100s'; formats are %s", name, list);
}

/* Reads the format of one matrix. Sets input->block to 0 if the format has no scale factors. */
static smma_status read_input(const char *name, smma_block_format *input, smma_error *error) {
  *input = (smma_block_format){name, smma_format_from_text(name), SMMA_NO_FORMAT, 0};
  if (input->element != SMMA_NO_FORMAT) return SMMA_OK;
  if (smma_find_block_format(name)) return *input = *smma_find_block_format(name), SMMA_OK;
  return smma_refuse_unknown_format(name, true, error);
}

smma_status smma_formats_from_text(const char *in, smma_format d, smma_formats *formats, smma_error *error) {
  char first[64];
  size_t length = strcspn(in, ",:");
  smma_block_format a, b;
  smma_status status;
  snprintf(first, sizeof first, "%.*s", length < sizeof first ? (int)length : (int)sizeof first - 1, in);
  status = read_input(first, &a, error);
  if (status == SMMA_OK) status = read_input(in[length] ? in + length + 1 : first, &b, error);
  if (status != SMMA_OK) return status;
  if (a.block != b.block || a.scale != b.scale)
    return smma_set_error(error, SMMA_INVALID_ARGUMENT,
                          "'%.100s': A and B must have the same scale factors, for as many elements", in);
  if (d == SMMA_NO_FORMAT) d = smma_usual_output(a.element);
  *formats = (smma_formats){a.element, b.element, d, a.scale, a.block};
  return SMMA_OK;
}

/* ---- As text ---- */

const char *smma_input_text(const smma_formats *f, smma_format element, char text[SMMA_INPUT_TEXT_SIZE]) {
  const char *name = smma_format_text(element);
  for (size_t i = 0; i < smma_block_format_count && f->scale_block; i++) {
    const smma_block_format *block = &smma_block_formats[i];
    if (block->element != element || block->scale != f->scale || block->block != f->scale_block) continue;
    return block->name;
  }
  if (!f->scale_block) return name;
  snprintf(text, SMMA_INPUT_TEXT_SIZE, "%s with %s per %d", name, smma_format_text(f->scale), f->scale_block);
  return text;
}

static smma_formats formats_of(const smma_instruction *i) {
  return (smma_formats){i->a, i->b, i->d, i->scale, i->scale_block};
}

static bool same_formats(const smma_formats *x, const smma_formats *y) {
  return x->a == y->a && x->b == y->b && x->d == y->d && x->scale_block == y->scale_block &&
         (!x->scale_block || x->scale == y->scale);
}

const char *smma_inputs_text(const smma_instruction *i, char text[SMMA_INPUTS_TEXT_SIZE]) {
  smma_formats f = formats_of(i);
  char a[SMMA_INPUT_TEXT_SIZE], b[SMMA_INPUT_TEXT_SIZE];
  snprintf(text, SMMA_INPUTS_TEXT_SIZE, f.a == f.b ? "%s" : "%s,%s", smma_input_text(&f, f.a, a),
           smma_input_text(&f, f.b, b));
  return text;
}

smma_block_format smma_input_of(const smma_instruction *i, bool of_a) {
  return (smma_block_format){NULL, of_a ? i->a : i->b, i->scale, i->scale_block};
}

/* ---- Filters ---- */

/* Appends the formats of a name to a filter's formats of A (`matrix` 0) or of B (1). */
static smma_status add_inputs(smma_format_filter *filter, int matrix, const char *name, smma_error *error) {
  const char *list = smma_formats_of_name(name);
  if (!list) list = name;
  while (*list) {
    char one[SMMA_FORMAT_NAME_SIZE];
    list = smma_next_format(list, one);
    const smma_status status = read_input(one, &filter->input[matrix][filter->inputs[matrix]++], error);
    if (status != SMMA_OK) return status;
  }
  return SMMA_OK;
}

smma_status smma_format_filter_from_text(const char *in, smma_format d, smma_format_filter *filter, smma_error *error) {
  const size_t length = in ? strcspn(in, ",:") : 0;
  char first[64];
  *filter = (smma_format_filter){.d = d};
  if (!in) return SMMA_OK;
  snprintf(first, sizeof first, "%.*s", length < sizeof first ? (int)length : (int)sizeof first - 1, in);
  const smma_status status = add_inputs(filter, 0, *first ? first : in, error);
  return status == SMMA_OK && in[length] ? add_inputs(filter, 1, in + length + 1, error) : status;
}

/* Reports whether the format of the instruction's A (`of_a`) or B is among the filter's formats of `matrix`. */
static bool passes(const smma_instruction *i, bool of_a, const smma_format_filter *filter, int matrix) {
  const smma_block_format own = smma_input_of(i, of_a);
  for (const smma_block_format *x = filter->input[matrix]; x < filter->input[matrix] + filter->inputs[matrix]; x++)
    if (x->element == own.element && (!x->block || (x->block == own.block && x->scale == own.scale))) return true;
  return false;
}

/* Reports whether the format of the instruction's scale factors is among the filter's formats of A. */
static bool passes_as_scale(const smma_instruction *i, const smma_format_filter *filter) {
  for (const smma_block_format *x = filter->input[0]; i->scale_block && x < filter->input[0] + filter->inputs[0]; x++)
    if (!x->block && x->element == i->scale) return true;
  return false;
}

bool smma_passes_filter(const smma_instruction *i, const smma_format_filter *filter) {
  if (filter->d != SMMA_NO_FORMAT && filter->d != i->d) return false;
  if (filter->inputs[1]) return passes(i, true, filter, 0) && passes(i, false, filter, 1);
  return !filter->inputs[0] || passes(i, true, filter, 0) || passes(i, false, filter, 0) || passes_as_scale(i, filter);
}

/* ---- The instruction ---- */

static bool takes_scales(const smma_instruction_table *table) {
  for (size_t i = 0; i < table->count; i++)
    if (table->row[i].scale_block) return true;
  return false;
}

/* Reports whether D is A B + C. Some single-bit instructions count the bits of a xor b instead; such instructions can
   only be selected by name. */
static bool multiplies(const smma_instruction *i) {
  return smma_products_of(&i->rule->rule) == SMMA_PRODUCT_MULTIPLIED;
}

/* Lists the formats that the GPU multiplies, with or without scale factors, as "e4m3->f32, e4m3->f16, ...".
   Lists only products in which A and B have the same format. */
static void list_formats(const char *gpu, const smma_instruction_table *table, bool scaled, char *text, size_t size) {
  const char *prefixes = smma_prefixes_of(gpu);
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < table->count; i++) {
    smma_formats f = formats_of(&table->row[i]), earlier;
    bool seen = f.a != f.b || (f.scale_block != 0) != scaled || !multiplies(&table->row[i]) ||
                !smma_has_a_prefix(table->row[i].name, prefixes);
    char name[SMMA_INPUT_TEXT_SIZE];
    for (size_t j = 0; j < i && !seen; j++) earlier = formats_of(&table->row[j]), seen = same_formats(&earlier, &f);
    if (seen || used >= size) continue;
    used += (size_t)snprintf(text + used, size - used, "%s%s->%s", used ? ", " : "", smma_input_text(&f, f.a, name),
                             smma_format_text(f.d));
  }
}

bool smma_is_preferred(const smma_instruction *later, const smma_instruction *found) {
  return !found || (later->scale_block && later->k > found->k);
}

const smma_instruction *smma_resolve_formats(const char *gpu, const smma_formats *f, smma_error *error) {
  smma_arch_id arch = smma_resolve_arch(gpu, error);
  const smma_instruction_table *table;
  const smma_instruction *found = NULL, *other = NULL;
  const char *candidates, *prefixes;
  char list[512], a[SMMA_INPUT_TEXT_SIZE], b[SMMA_INPUT_TEXT_SIZE], end[SMMA_NAME_SIZE];
  smma_formats single = *f;
  bool rounds = false; /* a plan can round results in f32 to D's format */
  single.d = SMMA_F32;
  if (arch == SMMA_ARCH_COUNT) return NULL;
  table = smma_architectures[arch].table;
  prefixes = smma_prefixes_of(gpu);
  for (size_t i = 0; i < table->count; i++) {
    smma_formats has = formats_of(&table->row[i]);
    if (!smma_has_a_prefix(table->row[i].name, prefixes)) continue;
    rounds |= same_formats(&has, &single) && !smma_is_integer(f->d);
    if (!same_formats(&has, f)) continue;
    if (!multiplies(&table->row[i]))
      other = &table->row[i];
    else if (smma_is_preferred(&table->row[i], found))
      found = &table->row[i];
  }
  if (found) return found;
  if (other) {
    smma_set_error(error, SMMA_NOT_FOUND, "%s multiplies no %s; it counts a xor b: name the instruction, %s", gpu,
                   smma_format_text(f->a), other->name);
    return NULL;
  }
  list_formats(gpu, table, f->scale_block && takes_scales(table), list, sizeof list);
  snprintf(end, sizeof end, ".%s.%s.%s", smma_format_text(f->d), smma_format_text(f->a), smma_format_text(f->b));
  candidates = smma_candidates_for_formats(arch, end);
  if (candidates) {
    smma_set_error(error, SMMA_NOT_FOUND,
                   "no model of %s x %s -> %s on %s: no published results are known; candidates: %s; it has: %s",
                   smma_input_text(f, f->a, a), smma_input_text(f, f->b, b), smma_format_text(f->d), gpu, candidates,
                   list);
    return NULL;
  }
  smma_set_error(error, SMMA_NOT_FOUND, "%s has no instruction for %s x %s -> %s; it has: %s%s%s%s", gpu,
                 smma_input_text(f, f->a, a), smma_input_text(f, f->b, b), smma_format_text(f->d), list,
                 rounds ? "; a plan with \"d\": \"" : "", rounds ? smma_format_text(f->d) : "",
                 rounds ? "\" rounds f32 to it" : "");
  return NULL;
}

const smma_instruction *smma_resolve_rounded(const char *gpu, const smma_formats *f, smma_format *rounded,
                                             smma_error *error) {
  const smma_instruction *found = smma_resolve_formats(gpu, f, error);
  smma_formats single = *f;
  *rounded = SMMA_NO_FORMAT;
  if (found || (f->d != SMMA_F16 && f->d != SMMA_BF16)) return found;
  single.d = SMMA_F32;
  found = smma_resolve_formats(gpu, &single, NULL);
  if (found) *rounded = f->d;
  return found;
}
