/* Finds instructions, architectures and GPUs by the names that users type. For a GPU or an instruction without a model,
   finds the candidate rules, and the experiment that would decide between them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "isa/catalogue.h"
#include "isa/key.h"
#include "isa/nearest.h"

/* For each GPU of smma_gpus_without_model, in that order: a text with its candidate rules, or "" if there are none, and
   the name of its experiment, or NULL. */
#define SMMA_GPU(...)
#define SMMA_FEATURE(...)
#define SMMA_UNMODELLED(...)
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
#undef SMMA_FEATURE
#undef SMMA_UNMODELLED

/* Instructions without a model, by a text that their names contain (the empty text: every instruction that is not in
   the architecture's table). */
static const struct {
  const char *text;
  smma_arch_id arch;
  const char *candidates;
} unmodelled[] = {
#define SMMA_UNMODELLED_GPU(...)
#define SMMA_UNMODELLED(text, symbol, candidates) {text, SMMA_ARCH_##symbol, candidates},
#include "isa/unmodelled.def"
#undef SMMA_UNMODELLED_GPU
#undef SMMA_UNMODELLED
};
static const size_t unmodelled_count = sizeof unmodelled / sizeof unmodelled[0];

/* Accelerators without a model, by the first letters of their names without blanks and hyphens (smma_squeeze). */
static const struct {
  const char *prefix, *title;
} unmodelled_accelerators[] = {
    {"tpu", "Google's TPUs"},
    {"googletpu", "Google's TPUs"},
    {"gaudi", "Intel's Gaudi"},
    {"intel", "Intel's accelerators"},
    {"xmx", "Intel's XMX"},
    {"arcb", "Intel's Arc"},
    {"ponte", "Intel's Ponte Vecchio"},
    {"trainium", "Amazon's Trainium"},
    {"inferentia", "Amazon's Inferentia"},
    {"apple", "Apple's other units"},
    {"ascend", "Huawei's Ascend"},
    {"tenstorrent", "Tenstorrent's other units"},
};

/* Facts about some of these accelerators, for the entry with the same prefix. */
#define DPAS "Intel's compiler documents the steps of DPAS (src0, then 8 of 4, 2 or 1 products), not their roundings"
static const struct {
  const char *prefix, *text;
} known[] = {
    {"intel", DPAS},
    {"xmx", DPAS},
    {"arcb", DPAS},
    {"ponte", DPAS},
    {"apple", "AMX of M1 to M4 has one (Apple M1, Apple M2); of M5's GPU only operands of about 11 bits are reported"},
};
#undef DPAS

/* Returns the first architecture from `arch` on whose vendor no earlier architecture has, or SMMA_ARCH_COUNT. */
static int next_vendor(int arch) {
  for (; arch < SMMA_ARCH_COUNT; arch++) {
    int first = 0;
    while (strcmp(smma_architectures[first].vendor, smma_architectures[arch].vendor) != 0) first++;
    if (first == arch) break;
  }
  return arch;
}

/* Appends the vendors of all architectures that have a model, as in "NVIDIA, AMD and Arm". */
static void append_vendors(smma_error *error) {
  const char *before = "";
  for (int a = 0, next; a < SMMA_ARCH_COUNT; a = next) {
    next = next_vendor(a + 1);
    smma_append_text(error->text, sizeof error->text, "%s%s", before, smma_architectures[a].vendor);
    before = next_vendor(next + 1) == SMMA_ARCH_COUNT ? " and " : ", ";
  }
}

/* Sets the error that lists the architectures of the vendor whose normal form is `form`. Returns false if there is no
   such vendor. */
static bool explain_vendor(const char *form, smma_error *error) {
  char vendor[SMMA_NAME_SIZE];
  for (int first = 0; first < SMMA_ARCH_COUNT; first = next_vendor(first + 1)) {
    const char *before = "";
    smma_squeeze(smma_architectures[first].vendor, vendor, sizeof vendor);
    if (strcmp(vendor, form) != 0) continue;
    smma_set_error(error, SMMA_NOT_FOUND,
                   "'%s' is a vendor: name a GPU or an architecture: ", smma_architectures[first].vendor);
    for (int a = first; a < SMMA_ARCH_COUNT; a++) {
      if (!smma_architectures[a].listed || strcmp(smma_architectures[a].vendor, smma_architectures[first].vendor) != 0)
        continue;
      smma_append_text(error->text, sizeof error->text, "%s%s", before, smma_architectures[a].name);
      before = ", ";
    }
    return true;
  }
  return false;
}

/* Sets the error for the name of a vendor, or of a GPU or other accelerator without a model. Returns false for other
   names. */
static bool explain_known_name(const char *name, smma_error *error) {
  bool has_model;
  char form[SMMA_NAME_SIZE];
  const smma_gpu *gpu = smma_find_gpu(smma_without_brand(name), &has_model);
  smma_squeeze(name, form, sizeof form);
  if (explain_vendor(form, error)) return true;
  smma_squeeze(smma_without_brand(name), form, sizeof form);
  for (size_t i = 0; i < sizeof unmodelled_accelerators / sizeof *unmodelled_accelerators; i++)
    if (strncmp(form, unmodelled_accelerators[i].prefix, strlen(unmodelled_accelerators[i].prefix)) == 0) {
      const char *text = NULL;
      for (size_t n = 0; n < sizeof known / sizeof *known && !text; n++)
        if (strcmp(known[n].prefix, unmodelled_accelerators[i].prefix) == 0) text = known[n].text;
      smma_set_error(error, SMMA_NOT_FOUND, "no model of %s: no published results are known; %s%smodels are of ",
                     unmodelled_accelerators[i].title, text ? text : "", text ? "; " : "");
      append_vendors(error);
      return true;
    }
  if (gpu && !has_model) {
    const char *candidates = gpu_candidates[gpu - smma_gpus_without_model],
               *nearest_arch = smma_architectures[gpu->arch].name;
    if (*candidates)
      smma_set_error(error, SMMA_NOT_FOUND,
                     "no model of %s: no published results are known; candidates: %s; nearest by generation is %s",
                     gpu->name, candidates, nearest_arch);
    else
      smma_set_error(error, SMMA_NOT_FOUND,
                     "no model of %s yet: nearest by generation is %s, which may compute otherwise", gpu->name,
                     nearest_arch);
    return true;
  }
  return false;
}

static void consider_squeezed(const char *name, smma_nearest *nearest) {
  char form[SMMA_NAME_SIZE];
  smma_squeeze(name, form, sizeof form);
  smma_nearest_consider(nearest, name, form);
}

/* Adds the names of vendors, architectures and GPUs to the candidates for the nearest names. */
static void consider_gpus(smma_nearest *nearest) {
  for (int i = 0; i < SMMA_ARCH_COUNT; i++) {
    consider_squeezed(smma_architectures[i].name, nearest);
    consider_squeezed(smma_architectures[i].vendor, nearest);
  }
  for (size_t i = 0; i < smma_gpu_count; i++) consider_squeezed(smma_gpus[i].name, nearest);
}

static void explain_unknown_gpu(const char *name, smma_error *error) {
  smma_nearest nearest;
  char form[SMMA_NAME_SIZE], list[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  if (explain_known_name(name, error)) return;
  if (strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".json") == 0) {
    smma_set_error(error, SMMA_NOT_FOUND,
                   "'%.100s' is no GPU; a custom unit is read by smma_custom_parse, and by softmma.Custom in Python",
                   name);
    return;
  }
  smma_squeeze(smma_without_brand(name), form, sizeof form);
  smma_nearest_start(&nearest, form);
  consider_gpus(&nearest);
  smma_nearest_hint(&nearest, list, sizeof list);
  smma_set_error(error, SMMA_NOT_FOUND, "unknown GPU or architecture '%.100s'%s", name, list);
}

const char *smma_experiment_of_gpu(const char *name, smma_arch_id *nearest) {
  bool has_model;
  const smma_gpu *gpu = smma_find_gpu(smma_without_brand(name), &has_model);
  if (smma_find_arch(name) != SMMA_ARCH_COUNT || !gpu || has_model) return NULL;
  *nearest = gpu->arch;
  return gpu_experiments[gpu - smma_gpus_without_model];
}

/* Returns the colon that ends the GPU's name in a target, or NULL. A colon before a feature, such as in
   "gfx942:xnack-", does not end the name. */
static const char *end_of_gpu(const char *target) {
  const char *colon = strchr(target, ':');
  while (colon) {
    const size_t length = strcspn(colon + 1, ":");
    if (!length || !strchr("+-", colon[length])) return colon;
    colon = strchr(colon + 1, ':');
  }
  return NULL;
}

const char *smma_split_target(const char *target, char gpu[SMMA_GPU_TEXT_SIZE]) {
  const char *colon = end_of_gpu(target);
  const size_t length = colon ? (size_t)(colon - target) : strlen(target);
  snprintf(gpu, SMMA_GPU_TEXT_SIZE, "%.*s", (int)(length < SMMA_GPU_TEXT_SIZE ? length : SMMA_GPU_TEXT_SIZE - 1),
           target);
  return colon ? colon + 1 : NULL;
}

smma_arch_id smma_resolve_arch(const char *gpu, smma_error *error) {
  smma_arch_id arch = smma_find_arch(gpu);
  if (arch == SMMA_ARCH_COUNT && error) explain_unknown_gpu(gpu, error);
  return arch;
}

/* Returns the instruction of the architecture that smma_find_index finds, or NULL. Sets `*ambiguous` if there is
   one. */
static const smma_instruction *find_in(int arch, smma_query *q, bool *ambiguous) {
  size_t index;
  if (!smma_find_index((smma_arch_id)arch, q, &index, ambiguous)) return NULL;
  return &smma_architectures[arch].table->row[index];
}

/* Sets the error for an ambiguous name: it lists one instruction for each function that the matches compute. */
static void explain_ambiguous(const char *name, const smma_instruction_table *table, smma_query *q, smma_error *error) {
  const smma_instruction *shown[4], *last = NULL;
  size_t count = 0;
  for (size_t i = 0; i < table->count; i++) {
    const smma_instruction *row = &table->row[i];
    if ((last && smma_same_operation(row, last)) || smma_name_fit_of(row, q) != q->fit) continue;
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

enum { MOST_SHOWN = 5 };

/* Appends an architecture and its GPUs, as in "ampere (A100, A30, ...)". Omits compiler targets, and GPUs after the
   first MOST_SHOWN. */
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

/* Sets the error that names the architectures that have this instruction, and their GPUs. Returns false if no
   architecture has it. */
static bool explain_elsewhere(const char *gpu, const char *name, smma_query *q, smma_error *error) {
  bool any = false, ambiguous;
  smma_set_error(error, SMMA_NOT_FOUND, "%s has no instruction '%.150s'; it is on: ", gpu, name);
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    if (!smma_architectures[a].listed || !find_in(a, q, &ambiguous)) continue;
    if (any) smma_append_text(error->text, sizeof error->text, ", ");
    append_gpus(a, error);
    any = true;
  }
  return any;
}

/* Sets the error if an instruction without a model matches the query: one of this architecture if `here`, otherwise one
   of another architecture. Returns whether there is one. */
static bool explain_unmodelled(smma_arch_id arch, bool here, const char *gpu, const char *name, const smma_query *q,
                               smma_error *error) {
  for (size_t i = 0; i < unmodelled_count; i++) {
    const char *owner = smma_architectures[unmodelled[i].arch].name;
    if (!strstr(q->form, unmodelled[i].text) || (unmodelled[i].arch == arch) != here) continue;
    if (!*unmodelled[i].text && !here) continue;
    if (here || !gpu)
      smma_set_error(error, SMMA_NOT_FOUND,
                     "no model of '%.150s' on %s: no published results are known; candidates: %s", name,
                     here ? gpu : owner, unmodelled[i].candidates);
    else
      smma_set_error(error, SMMA_NOT_FOUND, "%s has no instruction '%.150s'; %s has it, but there is no model", gpu,
                     name, owner);
    return true;
  }
  return false;
}

const char *smma_candidates_for_formats(smma_arch_id arch, const char *formats) {
  for (size_t i = 0; i < unmodelled_count; i++)
    if (unmodelled[i].arch == arch && strstr(formats, unmodelled[i].text)) return unmodelled[i].candidates;
  return NULL;
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

static void explain_unknown_name(const char *gpu, const char *name, const smma_instruction_table *table, smma_query *q,
                                 smma_error *error) {
  smma_nearest nearest;
  char list[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  smma_nearest_start(&nearest, q->form);
  consider_table(table, &nearest);
  smma_nearest_hint(&nearest, list, sizeof list);
  smma_set_error(error, SMMA_NOT_FOUND, "%s has no instruction '%.150s'%s", gpu, name, list);
}

size_t smma_resolve_everywhere(const char *name, const smma_instruction *found[SMMA_ARCH_COUNT], smma_error *error) {
  size_t count = 0;
  smma_nearest nearest;
  char list[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  bool ambiguous;
  smma_query q;
  smma_normal_form(name, q.form, sizeof q.form);
  smma_clear_error(error);
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction *i = find_in(a, &q, &ambiguous);
    if (i && !ambiguous) found[count++] = i;
    if (i && ambiguous && !error->status) explain_ambiguous(name, smma_architectures[a].table, &q, error);
  }
  if (count || error->status || explain_unmodelled(SMMA_ARCH_COUNT, false, NULL, name, &q, error)) return count;
  if (explain_known_name(name, error)) return 0;
  smma_nearest_start(&nearest, q.form);
  consider_gpus(&nearest);
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) consider_table(smma_architectures[a].table, &nearest);
  smma_nearest_hint(&nearest, list, sizeof list);
  smma_set_error(error, SMMA_NOT_FOUND, "no instruction or GPU '%.150s'%s", name, list);
  return 0;
}

/* Sets the error for an instruction that this extension of a CPU does not have; names the extensions that have it. */
static void explain_other_feature(const char *extension, const smma_instruction *i, smma_error *error) {
  const char *before = "";
  smma_set_error(error, SMMA_NOT_FOUND, "%s has no instruction '%s'; it is in ", extension, i->name);
  for (size_t g = 0; g < smma_gpu_count; g++) {
    if (smma_gpus[g].arch != i->arch || !smma_gpu_has(smma_gpus[g].name, i->name)) continue;
    smma_append_text(error->text, sizeof error->text, "%s%s", before, smma_gpus[g].name);
    before = ", ";
  }
}

const smma_instruction *smma_resolve_name(const char *gpu, const char *name, smma_error *error) {
  smma_arch_id arch = smma_resolve_arch(gpu, error);
  const smma_instruction_table *table;
  const smma_instruction *found;
  bool ambiguous;
  smma_query q;
  if (arch == SMMA_ARCH_COUNT) return NULL;
  table = smma_architectures[arch].table;
  smma_normal_form(name, q.form, sizeof q.form);
  found = find_in((int)arch, &q, &ambiguous);
  if (found && !ambiguous && smma_gpu_has(gpu, found->name)) return found;
  if (!error) return NULL;
  if (found && !ambiguous)
    explain_other_feature(gpu, found, error);
  else if (found)
    explain_ambiguous(name, table, &q, error);
  else if (!explain_unmodelled(arch, true, gpu, name, &q, error) && !explain_elsewhere(gpu, name, &q, error) &&
           !explain_unmodelled(arch, false, gpu, name, &q, error))
    explain_unknown_name(gpu, name, table, &q, error);
  return NULL;
}
