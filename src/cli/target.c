#include "cli/target.h"

#include <string.h>

#include "io/custom_file.h"

smma_target smma_require_target(const char *on) {
  smma_target t = {.text = smma_require_option(on, "--on", "H100"), .arch = SMMA_ARCH_COUNT};
  smma_error error;
  if (!smma_is_custom_file(on)) {
    t.arch = smma_require_arch(on, "--on");
    return t;
  }
  t.custom = smma_custom_load(on, &error);
  if (!t.custom) smma_die("--on: %s", error.text);
  return t;
}

smma_target smma_target_or_none(const char *on) {
  return on ? smma_require_target(on) : (smma_target){.arch = SMMA_ARCH_COUNT};
}

smma_target smma_require_target_and_more(char *on, const char **more) {
  char *colon = smma_is_custom_file(on) ? NULL : strchr(on, ':');
  if (colon) *colon = 0;
  *more = colon ? colon + 1 : NULL;
  return smma_require_target(on);
}

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
  i = smma_find(t->text, name, &error);
  if (!i) smma_die("%s%s%s (see 'softmma list --arch %s')", before(option), colon, error.text, t->text);
  return i;
}
