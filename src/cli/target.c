#include "cli/target.h"

#include <string.h>

#include "io/custom_file.h"

/* ---- The text of a target ---- */

const char *smma_next_target(const char *list, char target[SMMA_TARGET_SIZE]) {
  const size_t length = strcspn(list, ",");
  if (!length || length >= SMMA_TARGET_SIZE)
    smma_die("--on: '%.*s' is not the name of a GPU", (int)(length < 40 ? length : 40), list);
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

smma_target smma_require_target(const char *on) {
  smma_target t = {.text = smma_require_option(on, "--on", "H100"), .arch = SMMA_ARCH_COUNT};
  smma_error error;
  if (strncmp(on, "custom:", strlen("custom:")) == 0) t.text = on += strlen("custom:"); /* as --unit has it */
  if (!*on || strlen(on) >= SMMA_TARGET_SIZE) smma_die("--on: '%.40s' is not the name of a GPU", on);
  if (*on == ':') smma_die("--on: '%.40s' has no GPU before it; for example H100:f16 :tf32", on);
  if (!smma_is_custom_file(on)) {
    t.more = smma_split_target(on, t.gpu);
    t.arch = smma_require_arch(t.gpu, "--on");
    return t;
  }
  snprintf(t.gpu, sizeof t.gpu, "%s", on);
  t.custom = smma_custom_load(on, &error);
  if (!t.custom) smma_die("--on: %s", error.text);
  return t;
}

smma_target smma_target_or_none(const char *on) {
  return on ? smma_require_target(on) : (smma_target){.arch = SMMA_ARCH_COUNT};
}

/* ---- Its instruction ---- */

static const char *before(const char *option) { return option ? option : ""; }

const smma_instruction *smma_require_of_target(const smma_target *t, const char *name, const char *option) {
  const char *colon = option ? ": " : "";
  smma_error error;
  const smma_instruction *i = t->custom;
  if (i && name && strcmp(name, i->name) != 0)
    smma_die("%s%s%s describes '%s', not '%s'", before(option), colon, t->text, i->name, name);
  if (i) return i;
  smma_require_option(t->text, "--on", "H100");
  smma_require_option(name, option, "mma.m16n8k16.f32.f16.f16.f32");
  i = smma_find(t->gpu, name, &error);
  if (!i) smma_die("%s%s%s (see 'softmma list %s')", before(option), colon, error.text, t->gpu);
  return smma_require_basis(i, t->gpu);
}

static const smma_instruction *by_formats(const char *gpu, const smma_formats *formats, const char *option,
                                          smma_format *rounded) {
  const smma_instruction *i = rounded ? smma_resolve_rounded(gpu, formats, rounded, NULL) : NULL;
  return i ? smma_require_basis(i, gpu) : smma_require_by_formats(gpu, formats, option);
}

/* Returns the instruction of the text after the colon: formats, or the name of an instruction. */
static const smma_instruction *after_colon(const smma_target *t, const smma_choice *c) {
  const char *out = c->out;
  const smma_format d = out ? smma_require_format(out, "--out") : SMMA_NO_FORMAT;
  const smma_instruction *named;
  smma_formats formats;
  smma_error error;
  if (smma_formats_from_text(t->more, d, &formats, &error) == SMMA_OK)
    return by_formats(t->gpu, &formats, NULL, c->rounded);
  named = smma_find(t->gpu, t->more, NULL);
  if (named && out) smma_die("--out: %s says it already; leave it out", t->text);
  if (named) return smma_require_basis(named, t->gpu);
  if (!strpbrk(t->more, "._")) smma_die("%s: %s", t->text, error.text); /* meant as a format */
  return smma_require_of_target(t, t->more, NULL);                      /* explains the name */
}

/* Returns the instruction of --instr, or of --in and --out, or NULL. */
static const smma_instruction *by_options(const smma_target *t, const smma_choice *c) {
  if (c->instr && (c->in || c->out)) smma_die("%s: --instr says it already; leave it out", c->in ? "--in" : "--out");
  if (c->instr) return smma_require_of_target(t, c->instr, "--instr");
  if (!c->in) return NULL;
  const smma_formats formats = smma_require_formats(c->in, "--in", c->out);
  smma_require_option(t->text, "--on", "H100");
  return by_formats(t->gpu, &formats, "--in", c->rounded);
}

const smma_instruction *smma_chosen(const smma_target *t, const smma_choice *c) {
  if (t->custom && (c->in || c->out)) smma_die("%s: --on says it already; leave it out", c->in ? "--in" : "--out");
  if (t->custom) return smma_require_of_target(t, c->instr, "--instr");
  if (t->more && (c->instr || c->in))
    smma_die("%s: %s says it already; leave it out", c->instr ? "--instr" : "--in", t->text);
  return t->more ? after_colon(t, c) : by_options(t, c);
}

const smma_instruction *smma_choose_instruction(const char *on, const smma_choice *choice) {
  const smma_target target = smma_require_target(on);
  const smma_instruction *i = smma_chosen(&target, choice);
  if (!i) smma_die("--instr NAME or --in FORMAT is missing; for example --in f16");
  return i;
}

const smma_instruction *smma_choose_target(const char *text, const smma_choice *choice) {
  const smma_target target = smma_require_target(text);
  smma_choice with_default = *choice;
  if (target.custom) return target.custom;
  if (target.more) return after_colon(&target, choice);
  if (!choice->instr && !choice->in) with_default.in = "f16";
  return by_options(&target, &with_default);
}
