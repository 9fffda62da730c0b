#include "isa/find.h"

#include <string.h>

#include "isa/ascii.h"
#include "isa/instruction.h"
#include "isa/print.h"

/* ---- GPUs ---- */

const smma_gpu smma_gpus[] = {
#define SMMA_GPU(name, symbol) {name, SMMA_ARCH_##symbol, NULL},
#define SMMA_FEATURE(name, symbol, prefixes) {name, SMMA_ARCH_##symbol, prefixes},
#define SMMA_GPU_WITHOUT_MODEL(...)
#include "isa/gpus.def"
#undef SMMA_GPU
#undef SMMA_FEATURE
#undef SMMA_GPU_WITHOUT_MODEL
};
const size_t smma_gpu_count = sizeof smma_gpus / sizeof smma_gpus[0];

#define SMMA_GPU(...)
#define SMMA_FEATURE(...)
#define SMMA_UNMODELLED(...)
const smma_gpu smma_gpus_without_model[] = {
#define SMMA_GPU_WITHOUT_MODEL(name, symbol) {name, SMMA_ARCH_##symbol, NULL},
#define SMMA_UNMODELLED_GPU(name, symbol, experiment, candidates) {name, SMMA_ARCH_##symbol, NULL},
#include "isa/gpus.def"
#include "isa/unmodelled.def"
#undef SMMA_GPU_WITHOUT_MODEL
#undef SMMA_UNMODELLED_GPU
};
#undef SMMA_GPU
#undef SMMA_FEATURE
#undef SMMA_UNMODELLED
const size_t smma_gpu_without_model_count = sizeof smma_gpus_without_model / sizeof smma_gpus_without_model[0];

static bool ignored_in_gpu(char c) { return smma_blank(c) || c == '-' || c == '_'; }

/* Removes a final "TC" (tensor core) or "MC" (matrix core), because the models of Khattak and Mikaitis (2025) append
   these to a GPU's name: "H100TC", "MI300XMC". */
void smma_squeeze(const char *name, char *out, size_t size) {
  size_t used = 0;
  for (; *name; name++)
    if (!ignored_in_gpu(*name) && used + 1 < size) out[used++] = smma_lower(*name);
  out[used] = 0;
  if (used > 2 && (strcmp(out + used - 2, "tc") == 0 || strcmp(out + used - 2, "mc") == 0)) out[used - 2] = 0;
}

/* Returns the first character that smma_squeeze would keep. */
static char first_kept(const char *name) {
  while (ignored_in_gpu(*name)) name++;
  return smma_lower(*name);
}

static bool same_gpu(const char *x, const char *y) {
  char a[SMMA_NAME_SIZE], b[SMMA_NAME_SIZE];
  if (first_kept(x) != first_kept(y)) return false; /* rejects nearly all, and much faster */
  smma_squeeze(x, a, sizeof a);
  smma_squeeze(y, b, sizeof b);
  return strcmp(a, b) == 0;
}

const char *smma_without_brand(const char *name) {
  static const char *const brands[] = {"nvidia ", "geforce ", "tesla ", "amd ", "instinct ", "radeon ", "ai ", "pro "};
  for (size_t i = 0; i < sizeof brands / sizeof brands[0]; i++) {
    size_t length = strlen(brands[i]), j;
    for (j = 0; j < length && smma_lower(name[j]) == brands[i][j]; j++) continue;
    if (j == length) name += length;
  }
  return name;
}

static const smma_gpu *find_in_list(const smma_gpu *list, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (same_gpu(name, list[i].name)) return &list[i];
  return NULL;
}

const smma_gpu *smma_find_gpu(const char *name, bool *has_model) {
  char rest[SMMA_NAME_SIZE];
  smma_print(rest, sizeof rest, "%s", name);
  for (;;) {
    const smma_gpu *found = find_in_list(smma_gpus, smma_gpu_count, rest);
    size_t length = strlen(rest);
    *has_model = found != NULL;
    if (!found) found = find_in_list(smma_gpus_without_model, smma_gpu_without_model_count, rest);
    if (found) return found;
    while (length && !strchr(" -:", rest[length - 1])) length--;
    if (length == 0) return NULL;
    rest[length - 1] = 0;
  }
}

/* Returns the architecture with this name or title, or SMMA_ARCH_COUNT. */
static smma_arch_id arch_named(const char *name) {
  for (int i = 0; i < SMMA_ARCH_COUNT; i++)
    if (same_gpu(name, smma_architectures[i].name) || same_gpu(name, smma_architectures[i].title))
      return (smma_arch_id)i;
  return SMMA_ARCH_COUNT;
}

smma_arch_id smma_find_arch(const char *name) {
  const smma_gpu *gpu;
  bool has_model;
  name = smma_without_brand(name);
  if (arch_named(name) != SMMA_ARCH_COUNT) return arch_named(name);
  gpu = smma_find_gpu(name, &has_model);
  return gpu && has_model ? gpu->arch : SMMA_ARCH_COUNT;
}

const char *smma_prefixes_of(const char *name) {
  const smma_gpu *gpu;
  bool has_model;
  if (!name) return NULL;
  name = smma_without_brand(name);
  gpu = arch_named(name) == SMMA_ARCH_COUNT ? smma_find_gpu(name, &has_model) : NULL;
  return gpu ? gpu->prefixes : NULL;
}

bool smma_has_a_prefix(const char *instruction, const char *prefixes) {
  if (!prefixes) return true;
  for (const char *word = prefixes; *word; word += *word == ' ') {
    const size_t length = strcspn(word, " ");
    if (strncmp(instruction, word, length) == 0) return true;
    word += length;
  }
  return false;
}

bool smma_gpu_has(const char *name, const char *instruction) {
  return smma_has_a_prefix(instruction, smma_prefixes_of(name));
}

/* ---- Instructions ---- */

/* Reports whether the query is the alias. If the query is the alias's beginning up to a dot, sets q->begins. Compares
   first letters before normal forms, which is faster: an alias never begins with a qualifier, so both begin with the
   same letter. */
static bool matches(const char *alias, void *context) {
  smma_query *q = (smma_query *)context;
  char form[SMMA_NAME_SIZE];
  size_t length = strlen(q->form);
  if (smma_lower(*alias) != *q->form) return false;
  smma_normal_form(alias, form, sizeof form);
  if (strncmp(form, q->form, length) != 0) return false;
  q->begins = q->begins || (length && form[length] == '.');
  return form[length] == 0;
}

smma_name_fit smma_name_fit_of(const smma_instruction *i, smma_query *q) {
  q->begins = false;
  if (matches(i->name, q) || smma_each_alias(i, matches, q)) return SMMA_FITS_NAME;
  return q->begins ? SMMA_FITS_BEGINNING : SMMA_FITS_NOTHING;
}

bool smma_find_index(smma_arch_id arch, smma_query *q, size_t *index, bool *ambiguous) {
  const smma_instruction_table *table = smma_architectures[arch].table;
  smma_row_room room, first;
  *ambiguous = false;
  q->fit = SMMA_FITS_NAME;
  for (*index = 0; *index < table->count; ++*index)
    if (strcmp(smma_row_at(table, *index, &room)->name, q->form) == 0) return true;
  q->fit = SMMA_FITS_NOTHING;
  for (size_t i = 0; i < table->count; i++) {
    const smma_instruction *row = smma_row_at(table, i, &room);
    const smma_name_fit fit = smma_name_fit_of(row, q);
    if (fit < q->fit || fit == SMMA_FITS_NOTHING) continue;
    if (fit > q->fit) *index = i, *ambiguous = false;
    q->fit = fit;
    *ambiguous = *ambiguous || !smma_same_operation(smma_row_at(table, *index, &first), row);
  }
  return q->fit != SMMA_FITS_NOTHING;
}
