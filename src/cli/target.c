#include "cli/target.h"

#include <string.h>

#include "io/custom_file.h"
#include "product/product.h"
#include "unit/unit.h"

/* ---- The text of a target ---- */

const char *smma_next_target(const char *list, char target[SMMA_TARGET_SIZE], smma_error *error) {
  const size_t length = smma_custom_item(list);
  if (!length || length >= SMMA_TARGET_SIZE) {
    smma_fail(error, "--on: '%.*s' is not the name of a GPU", (int)(length < 40 ? length : 40), list);
    return NULL;
  }
  memcpy(target, list, length);
  target[length] = 0;
  return list + length + (list[length] == ',');
}

bool smma_names_target(const char *text) {
  char gpu[SMMA_GPU_TEXT_SIZE];
  if (smma_ends_with(text, ".json") || *text == ':') return true;
  smma_split_target(text, gpu);
  gpu[strcspn(gpu, ",")] = 0;
  return smma_resolve_arch(gpu, NULL) != SMMA_ARCH_COUNT;
}

bool smma_read_target(const char *on, smma_target *t, smma_error *error) {
  smma_error why;
  *t = (smma_target){.text = on, .arch = SMMA_ARCH_COUNT};
  if (!smma_is_given(on, "--on", "H100", error)) return false;
  if (strncmp(on, "custom:", strlen("custom:")) == 0)
    t->text = on += strlen("custom:"); /* --unit accepts this prefix, so --on accepts it, too */
  if (!*on || strlen(on) >= SMMA_TARGET_SIZE) return smma_fail(error, "--on: '%.40s' is not the name of a GPU", on);
  if (*on == ':') return smma_fail(error, "--on: '%.40s' has no GPU before it; for example H100:f16 :tf32", on);
  if (!smma_is_custom_file(on)) {
    t->more = smma_split_target(on, t->gpu);
    t->arch = smma_arch_of_option(t->gpu, "--on", error);
    return t->arch != SMMA_ARCH_COUNT;
  }
  snprintf(t->gpu, sizeof t->gpu, "%s", on);
  t->custom = smma_custom_load(on, &why);
  return t->custom || smma_fail(error, "--on: %s", why.text);
}

bool smma_read_target_or_none(const char *on, smma_target *t, smma_error *error) {
  *t = (smma_target){.arch = SMMA_ARCH_COUNT};
  return !on || smma_read_target(on, t, error);
}

/* ---- Its instruction ---- */

/* Fails because `option` says what `by` says already. */
static const smma_instruction *said_already(const char *option, const char *by, smma_error *error) {
  smma_fail(error, "%s: %s already gives it; leave it out", option, by);
  return NULL;
}

/* Returns the target's instruction of that name. For a file, that is the custom unit, and `name` may be NULL. The error
   names `option` unless that is NULL. */
static const smma_instruction *instruction_named(const smma_target *t, const char *name, const char *option,
                                                 smma_error *error) {
  const char *before = option ? option : "", *colon = option ? ": " : "";
  const smma_instruction *i = t->custom;
  smma_error why;
  if (i && name && strcmp(name, i->name) != 0) {
    smma_fail(error, "%s%s%s describes '%s', not '%s'", before, colon, t->text, i->name, name);
    return NULL;
  }
  if (i) return i;
  if (!smma_is_given(t->text, "--on", "H100", error) ||
      !smma_is_given(name, option, "mma.m16n8k16.f32.f16.f16.f32", error))
    return NULL;
  i = smma_find(t->gpu, name, &why);
  if (i) return smma_check_basis(i, t->gpu, error);
  smma_fail(error, "%s%s%s (see 'softmma list %s')", before, colon, why.text, t->gpu);
  return NULL;
}

static const smma_instruction *by_formats(const char *gpu, const smma_formats *formats, const char *option,
                                          smma_format *rounded, smma_error *error) {
  const smma_instruction *i = rounded ? smma_resolve_rounded(gpu, formats, rounded, NULL) : NULL;
  return i ? smma_check_basis(i, gpu, error) : smma_by_formats(gpu, formats, option, error);
}

/* Returns the instruction of the text after the colon: formats, or the name of an instruction. */
static const smma_instruction *after_colon(const smma_target *t, const smma_choice *c, smma_error *error) {
  const char *out = c->out;
  const smma_format d = out ? smma_format_of_option(out, "--out", error) : SMMA_NO_FORMAT;
  const smma_instruction *named;
  smma_formats formats;
  smma_error why;
  if (out && d == SMMA_NO_FORMAT) return NULL;
  if (smma_formats_from_text(t->more, d, &formats, &why) == SMMA_OK)
    return by_formats(t->gpu, &formats, NULL, c->rounded, error);
  named = smma_find(t->gpu, t->more, NULL);
  if (named && out) return said_already("--out", t->text, error);
  if (named) return smma_check_basis(named, t->gpu, error);
  if (strpbrk(t->more, "._") || smma_find(smma_architectures[t->arch].name, t->more, NULL))
    return instruction_named(t, t->more, NULL, error); /* explains the name */
  smma_fail(error, "%s: %s", t->text, why.text);       /* the text was meant as a format */
  return NULL;
}

/* Returns the instruction that --instr, --in and --out select. At least one of these options must be present. */
static const smma_instruction *by_options(const smma_target *t, const smma_choice *c, smma_error *error) {
  smma_formats formats;
  if (c->instr && (c->in || c->out)) return said_already(c->in ? "--in" : "--out", "--instr", error);
  if (c->instr) return instruction_named(t, c->instr, "--instr", error);
  if (!smma_formats_of_options(c->in, "--in", c->out, &formats, error) ||
      !smma_is_given(t->text, "--on", "H100", error))
    return NULL;
  return by_formats(t->gpu, &formats, "--in", c->rounded, error);
}

bool smma_chosen(const smma_target *t, const smma_choice *c, const smma_instruction **chosen, smma_error *error) {
  const bool is_given = t->custom || t->more || c->instr || c->in;
  if (t->custom && (c->in || c->out))
    *chosen = said_already(c->in ? "--in" : "--out", "--on", error);
  else if (t->custom)
    *chosen = instruction_named(t, c->instr, "--instr", error);
  else if (t->more && (c->instr || c->in))
    *chosen = said_already(c->instr ? "--instr" : "--in", t->text, error);
  else if (t->more)
    *chosen = after_colon(t, c, error);
  else if (!is_given && c->out)
    return smma_fail(error, "--out: it goes with --in, the format of A and B");
  else
    *chosen = is_given ? by_options(t, c, error) : NULL;
  return *chosen || !is_given;
}

const char *smma_target_of_unit(const char *on, const char *unit, const smma_choice *choice) {
  if (on || !unit || !smma_unit_is_program(unit)) return on;
  smma_note("the unit is called with the operands of an H100's instruction; a target, such as A100, names another");
  return choice->in || choice->instr ? "H100" : "H100:f16";
}

const smma_instruction *smma_choose_instruction(const char *on, const smma_choice *choice, smma_error *error) {
  smma_target target;
  const smma_instruction *i;
  if (!smma_read_target(on, &target, error) || !smma_chosen(&target, choice, &i, error)) return NULL;
  if (!i) smma_fail(error, "--instr NAME or --in FORMAT is missing; for example --in f16");
  return i;
}

const smma_instruction *smma_choose_target(const char *text, const smma_choice *choice, smma_error *error) {
  smma_target target;
  smma_choice with_default = *choice;
  if (!smma_read_target(text, &target, error)) return NULL;
  if (target.custom) return target.custom;
  if (target.more) return after_colon(&target, choice, error);
  if (!choice->instr && !choice->in) with_default.in = "f16";
  return by_options(&target, &with_default, error);
}

/* ---- Several targets ---- */

bool smma_check_choice(const char *list, const smma_choice *choice, smma_error *error) {
  const char *option = choice->instr ? "--instr" : choice->in ? "--in" : choice->out ? "--out" : NULL;
  const bool only_d = choice->out && !choice->instr && !choice->in;
  char text[SMMA_TARGET_SIZE], gpu[SMMA_GPU_TEXT_SIZE];
  const char *more = list;
  while (option && *more) {
    if (!(more = smma_next_target(more, text, error))) return false;
    if (!smma_is_custom_file(text) && (only_d || !smma_split_target(text, gpu))) return true;
  }
  return !option || smma_fail(error, "%s: %s already gives it; leave it out", option, list);
}

void smma_note_default_format(const char *list, const smma_instruction *first, const smma_choice *choice) {
  char text[SMMA_TARGET_SIZE], gpu[SMMA_GPU_TEXT_SIZE];
  bool names_format = false;
  smma_error error;
  if (choice->instr || choice->in || first->a == SMMA_F16) return;
  while (*list && (list = smma_next_target(list, text, &error))) {
    const bool names = smma_is_custom_file(text) || smma_split_target(text, gpu);
    if (!names && names_format)
      smma_note("%s is given without a format, so it computes in f16; %s:FORMAT names another", gpu, gpu);
    if (!names) return;
    names_format = true;
  }
}

static bool add_target(smma_prepared_targets *x, const char *text, const smma_choice *choice, smma_error *error) {
  smma_format rounded = SMMA_NO_FORMAT;
  smma_choice own = *choice;
  own.rounded = &rounded;
  const smma_instruction *i = smma_choose_target(text, &own, error);
  if (!i || !smma_add_target(x, text, i, error)) return false;
  x->target[x->count - 1].rounded = rounded;
  return true;
}

bool smma_add_targets(smma_prepared_targets *x, const char *list, size_t most, const smma_choice *choice,
                      smma_error *error) {
  const char *const all = list;
  char text[SMMA_TARGET_SIZE];
  smma_error one;
  bool done = true;
  if (!*list) return smma_fail(error, "--on: the list of targets is empty; for example --on V100,A100,H100");
  if (!smma_check_choice(list, choice, error)) return false;
  while (*list) {
    if (x->count == most) return smma_fail(error, "--on: more than %zu targets", most);
    if (!(list = smma_next_target(list, text, error))) return false;
    if (add_target(x, text, choice, &one)) continue;
    if (!done && strcmp(one.text, error->text) != 0) smma_complain("%s", error->text);
    *error = one, done = false;
  }
  if (done) smma_note_default_format(all, x->target->instruction, choice);
  return done;
}

bool smma_label_by_gpu(smma_prepared_targets *x, smma_error *error) {
  for (smma_prepared_target *t = x->target; t < x->target + x->count; t++) {
    smma_target target;
    if (t->instruction->origin) continue;
    if (!smma_read_target(t->label, &target, error)) return false;
    snprintf(t->label, sizeof t->label, "%s", target.gpu);
  }
  return true;
}

bool smma_check_places(const smma_prepared_targets *x, const smma_gemm_arguments *given, const char *option_of_c,
                       smma_error *error) {
  smma_gemm_arguments g = *given;
  for (const smma_prepared_target *t = x->target; t < x->target + x->count; t++) {
    char option[64];
    g.plan = t->plan.plan;
    const char *member = smma_find_misplaced(t->instruction, &g);
    if (!member) continue;
    smma_option_of(member, option);
    if (g.plan) return smma_fail_no_place(strcmp(member, "c") == 0 ? option_of_c : option, t->plan.text, error);
    return smma_fail(error, "%s: the product of %s has no place for it; leave it out, or give a plan", option,
                     t->label);
  }
  return true;
}
