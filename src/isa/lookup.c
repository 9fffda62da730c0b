#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "isa/ascii.h"
#include "isa/catalogue.h"
#include "isa/key.h"
#include "isa/nearest.h"

static bool ignored_in_gpu(char c) { return smma_blank(c) || c == '-' || c == '_'; }

/* Without the letters for tensor core and matrix core that the models of Khattak and Mikaitis (2025) have behind a
   GPU's name: "H100TC", "MI300XMC". */
static void squeeze(const char *name, char *out, size_t size) {
  size_t used = 0;
  for (; *name; name++)
    if (!ignored_in_gpu(*name) && used + 1 < size) out[used++] = smma_lower(*name);
  out[used] = 0;
  if (used > 2 && (strcmp(out + used - 2, "tc") == 0 || strcmp(out + used - 2, "mc") == 0)) out[used - 2] = 0;
}

static bool same_gpu(const char *x, const char *y) {
  char a[SMMA_NAME_SIZE], b[SMMA_NAME_SIZE];
  squeeze(x, a, sizeof a);
  squeeze(y, b, sizeof b);
  return strcmp(a, b) == 0;
}

const smma_gpu smma_gpus[] = {
#define SMMA_GPU(name, symbol) {name, SMMA_ARCH_##symbol},
#define SMMA_GPU_WITHOUT_MODEL(...)
#include "isa/gpus.def"
#undef SMMA_GPU
#undef SMMA_GPU_WITHOUT_MODEL
};
const size_t smma_gpu_count = sizeof smma_gpus / sizeof smma_gpus[0];

/* Those without a model, with the architecture that is nearest by generation; `candidates` in the same order, "" where
   none is named, and experiments. */
#define SMMA_GPU(...)
#define SMMA_UNMODELLED(...)
static const smma_gpu without_model[] = {
#define SMMA_GPU_WITHOUT_MODEL(name, symbol) {name, SMMA_ARCH_##symbol},
#define SMMA_UNMODELLED_GPU(name, symbol, experiment, candidates) {name, SMMA_ARCH_##symbol},
#include "isa/gpus.def"
#include "isa/unmodelled.def"
#undef SMMA_GPU_WITHOUT_MODEL
#undef SMMA_UNMODELLED_GPU
};
static const char *const gpu_candidates[] = {
#define SMMA_GPU_WITHOUT_MODEL(...) "",
#define SMMA_UNMODELLED_GPU(name, symbol, experiment, candidates) candidates,
#include "isa/gpus.def"
#include "isa/unmodelled.def"
#undef SMMA_GPU_WITHOUT_MODEL
#undef SMMA_UNMODELLED_GPU
};
static const char *const gpu_experiments[] = {
#define SMMA_GPU_WITHOUT_MODEL(...) NULL,
#define SMMA_UNMODELLED_GPU(name, symbol, experiment, candidates) experiment,
#include "isa/gpus.def"
#include "isa/unmodelled.def"
#undef SMMA_GPU_WITHOUT_MODEL
#undef SMMA_UNMODELLED_GPU
};
#undef SMMA_GPU
#undef SMMA_UNMODELLED
static const size_t count_without_model = sizeof without_model / sizeof without_model[0];

/* Instructions without a model: what their names contain. */
static const struct {
  const char *word;
  smma_arch_id arch;
  const char *candidates;
} unmodelled[] = {
#define SMMA_UNMODELLED_GPU(...)
#define SMMA_UNMODELLED(word, symbol, candidates) {word, SMMA_ARCH_##symbol, candidates},
#include "isa/unmodelled.def"
#undef SMMA_UNMODELLED_GPU
#undef SMMA_UNMODELLED
};
static const size_t unmodelled_count = sizeof unmodelled / sizeof unmodelled[0];

/* The name behind a vendor's brand: "NVIDIA GeForce RTX 4090" is "RTX 4090". */
static const char *without_brand(const char *name) {
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

/* The GPU of that name, one that has a model or one that has none. Drivers print more behind a name ("NVIDIA
 * A100-SXM4-80GB", "gfx942:sramecc+"): words are taken away from the end until one is known. */
static const smma_gpu *find_gpu(const char *name, bool *has_model) {
  char rest[SMMA_NAME_SIZE];
  snprintf(rest, sizeof rest, "%s", name);
  for (;;) {
    const smma_gpu *found = find_in_list(smma_gpus, smma_gpu_count, rest);
    size_t length = strlen(rest);
    *has_model = found != NULL;
    if (!found) found = find_in_list(without_model, count_without_model, rest);
    if (found) return found;
    while (length && !strchr(" -:", rest[length - 1])) length--;
    if (length == 0) return NULL;
    rest[length - 1] = 0;
  }
}

smma_arch_id smma_find_arch(const char *name) {
  const smma_gpu *gpu;
  bool has_model;
  name = without_brand(name);
  for (int i = 0; i < SMMA_ARCH_COUNT; i++)
    if (same_gpu(name, smma_architectures[i].name) || same_gpu(name, smma_architectures[i].title))
      return (smma_arch_id)i;
  gpu = find_gpu(name, &has_model);
  return gpu && has_model ? gpu->arch : SMMA_ARCH_COUNT;
}

static void explain_unknown_gpu(const char *name, smma_error *error) {
  smma_nearest nearest;
  char form[SMMA_NAME_SIZE], list[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  bool has_model;
  const smma_gpu *gpu = find_gpu(without_brand(name), &has_model);
  if (gpu) {
    const char *candidates = gpu_candidates[gpu - without_model], *nearest_arch = smma_architectures[gpu->arch].name;
    if (*candidates)
      smma_set_error(error, SMMA_NOT_FOUND,
                     "no model of %s: no published results are known; candidates: %s; nearest by generation is %s",
                     gpu->name, candidates, nearest_arch);
    else
      smma_set_error(error, SMMA_NOT_FOUND,
                     "no model of %s yet: nearest by generation is %s, which may compute otherwise", gpu->name,
                     nearest_arch);
    return;
  }
  squeeze(without_brand(name), form, sizeof form);
  smma_nearest_start(&nearest, form);
  for (int i = 0; i < SMMA_ARCH_COUNT; i++) {
    squeeze(smma_architectures[i].name, form, sizeof form);
    smma_nearest_consider(&nearest, smma_architectures[i].name, form);
  }
  for (size_t i = 0; i < smma_gpu_count; i++) {
    squeeze(smma_gpus[i].name, form, sizeof form);
    smma_nearest_consider(&nearest, smma_gpus[i].name, form);
  }
  smma_nearest_list(&nearest, list, sizeof list);
  smma_set_error(error, SMMA_NOT_FOUND, "unknown GPU or architecture '%.100s'; nearest: %s", name, list);
}

const char *smma_experiment_of_gpu(const char *name, smma_arch_id *nearest) {
  bool has_model;
  const smma_gpu *gpu = find_gpu(without_brand(name), &has_model);
  if (smma_find_arch(name) != SMMA_ARCH_COUNT || !gpu || has_model) return NULL;
  *nearest = gpu->arch;
  return gpu_experiments[gpu - without_model];
}

smma_arch_id smma_resolve_arch(const char *gpu, smma_error *error) {
  smma_arch_id arch = smma_find_arch(gpu);
  if (arch == SMMA_ARCH_COUNT && error) explain_unknown_gpu(gpu, error);
  return arch;
}

/* The normal form of a name that is being looked for, whole or as the beginning of one ("HMMA.16816"). */
typedef struct {
  char form[SMMA_NAME_SIZE];
  bool beginning;
} query;

static bool matches(const char *alias, void *context) {
  const query *q = context;
  char form[SMMA_NAME_SIZE];
  size_t length = strlen(q->form);
  smma_normal_form(alias, form, sizeof form);
  return strncmp(form, q->form, length) == 0 && (form[length] == 0 || (q->beginning && length && form[length] == '.'));
}

static bool answers_to(const smma_instruction *i, query *q) {
  return matches(i->name, q) || smma_each_alias(i, matches, q);
}

/* Names for the error line: the distinct operations among several matches. */
static void explain_ambiguous(const char *name, const smma_instruction_table *table, query *q, smma_error *error) {
  const smma_instruction *shown[4], *last = NULL;
  size_t count = 0;
  for (size_t i = 0; i < table->count; i++) {
    const smma_instruction *row = &table->row[i];
    if ((last && smma_same_operation(row, last)) || !answers_to(row, q)) continue;
    last = row;
    if (count < 4) shown[count] = row;
    count++;
  }
  smma_set_error(error, SMMA_AMBIGUOUS, "'%.150s' fits %zu instructions that compute differently; name one: ", name,
                 count);
  for (size_t i = 0; i < count && i < 4; i++)
    smma_append_text(error->text, sizeof error->text, "%s%s", i ? ", " : "", shown[i]->name);
  if (count > 4) smma_append_text(error->text, sizeof error->text, ", ...");
}

/* The first match, or NULL; `ambiguous` tells whether matches differ in what they compute. */
static const smma_instruction *find_matches(const smma_instruction_table *table, query *q, bool *ambiguous) {
  const smma_instruction *found = NULL;
  *ambiguous = false;
  for (size_t i = 0; i < table->count; i++) {
    if (!answers_to(&table->row[i], q)) continue;
    if (!found)
      found = &table->row[i];
    else if (!smma_same_operation(found, &table->row[i]))
      *ambiguous = true;
  }
  return found;
}

/* The same: by canonical name, else by alias, else by the beginning of either. */
static const smma_instruction *find_in(const smma_instruction_table *table, query *q, bool *ambiguous) {
  const smma_instruction *found;
  *ambiguous = q->beginning = false;
  for (size_t i = 0; i < table->count; i++)
    if (strcmp(table->row[i].name, q->form) == 0) return &table->row[i];
  found = find_matches(table, q, ambiguous);
  if (found) return found;
  q->beginning = true;
  return find_matches(table, q, ambiguous);
}

enum { MOST_SHOWN = 5 };

/* "ampere (A100, A30, ...)": compilers' targets, and more than a few, are left out. */
static void append_gpus(int arch, smma_error *error) {
  const char *before = " (";
  int shown = 0;
  smma_append_text(error->text, sizeof error->text, "%s", smma_architectures[arch].name);
  for (size_t g = 0; g < smma_gpu_count && shown <= MOST_SHOWN; g++) {
    const char *name = smma_gpus[g].name;
    if ((int)smma_gpus[g].arch != arch || strncmp(name, "sm_", 3) == 0 || strncmp(name, "gfx", 3) == 0) continue;
    smma_append_text(error->text, sizeof error->text, "%s%s", before, shown < MOST_SHOWN ? name : "...");
    before = ", ";
    shown++;
  }
  if (*before == ',') smma_append_text(error->text, sizeof error->text, ")");
}

/* The architectures and GPUs that have the name; false if none has. */
static bool explain_elsewhere(const char *gpu, const char *name, query *q, smma_error *error) {
  bool any = false, ambiguous;
  smma_set_error(error, SMMA_NOT_FOUND, "%s has no instruction '%.150s'; it is on: ", gpu, name);
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    if (!smma_architectures[a].listed || !find_in(smma_architectures[a].table, q, &ambiguous)) continue;
    if (any) smma_append_text(error->text, sizeof error->text, ", ");
    append_gpus(a, error);
    any = true;
  }
  return any;
}

/* Whether an instruction without a model is of that architecture, or of any but it; then the line. */
static bool explain_unmodelled(smma_arch_id arch, bool of_it, const char *gpu, const char *name, const query *q,
                               smma_error *error) {
  for (size_t i = 0; i < unmodelled_count; i++) {
    const char *has = smma_architectures[unmodelled[i].arch].name;
    if (!strstr(q->form, unmodelled[i].word) || (unmodelled[i].arch == arch) != of_it) continue;
    if (of_it || !gpu)
      smma_set_error(error, SMMA_NOT_FOUND,
                     "no model of '%.150s' on %s: no published results are known; candidates: %s", name,
                     of_it ? gpu : has, unmodelled[i].candidates);
    else
      smma_set_error(error, SMMA_NOT_FOUND, "%s has no instruction '%.150s'; %s has it, but there is no model", gpu,
                     name, has);
    return true;
  }
  return false;
}

static bool consider_alias(const char *alias, void *context) {
  char form[SMMA_NAME_SIZE];
  smma_normal_form(alias, form, sizeof form);
  smma_nearest_consider(context, alias, form);
  return false;
}

static void consider_table(const smma_instruction_table *table, smma_nearest *nearest) {
  for (size_t i = 0; i < table->count; i++) {
    consider_alias(table->row[i].name, nearest);
    smma_each_alias(&table->row[i], consider_alias, nearest);
  }
}

static void explain_unknown_name(const char *gpu, const char *name, const smma_instruction_table *table, query *q,
                                 smma_error *error) {
  smma_nearest nearest;
  char list[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  smma_nearest_start(&nearest, q->form);
  consider_table(table, &nearest);
  smma_nearest_list(&nearest, list, sizeof list);
  smma_set_error(error, SMMA_NOT_FOUND, "%s has no instruction '%.150s'; nearest: %s", gpu, name, list);
}

size_t smma_resolve_everywhere(const char *name, const smma_instruction *found[SMMA_ARCH_COUNT], smma_error *error) {
  size_t count = 0;
  smma_nearest nearest;
  char list[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  bool ambiguous;
  query q;
  smma_normal_form(name, q.form, sizeof q.form);
  smma_clear_error(error);
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction *i = find_in(smma_architectures[a].table, &q, &ambiguous);
    if (i && !ambiguous) found[count++] = i;
    if (i && ambiguous && !error->status) explain_ambiguous(name, smma_architectures[a].table, &q, error);
  }
  if (count || error->status || explain_unmodelled(SMMA_ARCH_COUNT, false, NULL, name, &q, error)) return count;
  smma_nearest_start(&nearest, q.form);
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) consider_table(smma_architectures[a].table, &nearest);
  smma_nearest_list(&nearest, list, sizeof list);
  smma_set_error(error, SMMA_NOT_FOUND, "no instruction '%.150s'; nearest: %s", name, list);
  return 0;
}

const smma_instruction *smma_resolve_name(const char *gpu, const char *name, smma_error *error) {
  smma_arch_id arch = smma_resolve_arch(gpu, error);
  const smma_instruction_table *table;
  const smma_instruction *found;
  bool ambiguous;
  query q;
  if (arch == SMMA_ARCH_COUNT) return NULL;
  table = smma_architectures[arch].table;
  smma_normal_form(name, q.form, sizeof q.form);
  found = find_in(table, &q, &ambiguous);
  if (found && !ambiguous) return found;
  if (!error) return NULL;
  if (found)
    explain_ambiguous(name, table, &q, error);
  else if (!explain_unmodelled(arch, true, gpu, name, &q, error) && !explain_elsewhere(gpu, name, &q, error) &&
           !explain_unmodelled(arch, false, gpu, name, &q, error))
    explain_unknown_name(gpu, name, table, &q, error);
  return NULL;
}
