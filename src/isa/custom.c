#include "isa/custom.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "isa/compose.h"

/* ---- Making a unit ---- */

static const char *const no_texts[] = {NULL};

smma_custom smma_custom_of(const smma_instruction *i) {
  smma_custom custom = {.instruction = *i, .named = *i->rule};
  return custom;
}

/* Sets values that follow from other values: the number of groups that GST-FDPA fuses; the NaN policy of integers,
   which have no NaN; and that of FTZ-FMA, which returns the operand's NaN. */
static void settle(smma_custom *c) {
  smma_rule *rule = &c->named.rule;
  if (rule->algorithm == SMMA_INTEGER) rule->nan = SMMA_NAN_QUIET;
  if (rule->algorithm == SMMA_FTZ_FMA) rule->nan = SMMA_NAN_OPERAND;
  if (rule->algorithm == SMMA_GST_FDPA) rule->with.gst_fdpa.fused.block = c->instruction.k / rule->with.gst_fdpa.group;
}

/* Replaces a composition that equals another algorithm by that algorithm, which has fast kernels, proofs and a name. */
static void recognise(smma_custom *c) {
  smma_custom other = *c;
  smma_custom_fault fault;
  smma_operation o;
  other.instruction.rule = &c->named;
  o = smma_operation_of(&other.instruction);
  if (c->named.rule.algorithm != SMMA_COMPOSITION || !smma_recognise(&o, &other.named.rule)) return;
  other.instruction.rule = NULL;
  if (smma_custom_check(&other, &fault)) c->named.rule = other.named.rule;
}

/* Completes a checked description to an instruction, except for its texts. */
static void complete(smma_custom *c) {
  c->instruction.other_name = NULL;
  c->instruction.arch = SMMA_ARCH_COUNT;
  c->instruction.family = SMMA_FAMILY_CUSTOM;
  c->instruction.rule = &c->named;
  c->named.evidence = c->named.questions = no_texts;
  recognise(c);
  settle(c);
}

smma_operation smma_custom_operation(const smma_custom *custom) {
  smma_custom made = *custom;
  complete(&made);
  return smma_operation_of(&made.instruction);
}

const smma_instruction *smma_custom_make(const smma_custom *custom) {
  const char *origin = custom->instruction.origin ? custom->instruction.origin : "custom";
  size_t name_size = strlen(custom->instruction.name) + 1, origin_size = strlen(origin) + 1;
  smma_custom *made = malloc(sizeof *made + name_size + origin_size);
  char *texts = (char *)(made + 1);
  if (!made) return NULL;
  *made = *custom;
  memcpy(texts, custom->instruction.name, name_size);
  memcpy(texts + name_size, origin, origin_size);
  made->instruction.name = made->named.name = texts;
  made->instruction.origin = texts + name_size;
  complete(made);
  return &made->instruction;
}

void smma_custom_release(const smma_instruction *instruction) {
  if (instruction && instruction->origin) free((void *)instruction);
}

/* ---- Another value of a parameter ---- */

static bool is_parameter(const smma_key *key) {
  return (key->of_rule || key->of_chain) && strcmp(key->key, "nan") != 0;
}

/* Finds a parameter of the rule by key or symbol; otherwise fails with a list of the parameters. */
static const smma_key *find_parameter(const smma_instruction *i, smma_algorithm algorithm, const char *name,
                                      smma_error *error) {
  char allowed[512] = "";
  for (const smma_key *key = NULL; (key = smma_next_key(algorithm, key));) {
    if (!is_parameter(key)) continue;
    if (strcmp(key->key, name) == 0 || (key->symbol && strcmp(key->symbol, name) == 0)) return key;
    smma_append_text(allowed, sizeof allowed, "%s%s", *allowed ? ", " : "", key->key);
  }
  smma_fail_as(error, SMMA_NOT_FOUND, "'%s' is no parameter of %s, whose rule is %s; it has %s", name, i->name,
               smma_model_name(&i->rule->rule), *allowed ? allowed : "none");
  return NULL;
}

static bool read_value(const smma_key *key, const char *text, int *value) {
  char *end;
  long number;
  if (smma_key_word(key, text, strlen(text), value)) return true;
  if (key->kind == SMMA_KEY_FLAG) *value = strcmp(text, "true") == 0;
  if (key->kind == SMMA_KEY_FLAG) return *value || strcmp(text, "false") == 0;
  number = strtol(text, &end, 10);
  *value = (int)number;
  return key->kind == SMMA_KEY_INTEGER && *text && !*end && *value == number && smma_key_allows(key, *value);
}

/* Sets a parameter of a composition that is G-FDPA. If blocks take k in order, they still do so after a change of the
   block's length. */
static bool set_of_chain(smma_custom *c, smma_g_fdpa *g, const smma_key *key, int value, smma_custom_fault *fault) {
  const bool in_order = g->interleave == g->block;
  smma_set_key_of_chain(g, key, value);
  if (in_order && strcmp(key->key, "block") == 0) g->interleave = g->block;
  if (!smma_custom_check_chain(c, g, fault)) return false;
  c->named.rule.with.composition = smma_compose_g_fdpa(g, c->instruction.k, c->instruction.d);
  return true;
}

const smma_instruction *smma_custom_with(const smma_instruction *i, const char *name, const char *text,
                                         smma_error *error) {
  smma_custom c = smma_custom_of(i);
  smma_custom_fault fault = {.step = -1};
  smma_g_fdpa g;
  const smma_instruction *made;
  const smma_key_values keys = smma_key_values_of(&c.named.rule, &g);
  const smma_key *key = find_parameter(i, keys.algorithm, name, error);
  char allowed[512];
  int value;
  bool good;
  if (!key) return NULL;
  if (!read_value(key, text, &value)) {
    smma_fail(error, "%s = '%s' is not allowed; allowed: %s", key->key, text,
              smma_key_allowed(key, allowed, sizeof allowed));
    return NULL;
  }
  if (key->of_chain)
    good = set_of_chain(&c, &g, key, value, &fault);
  else
    smma_custom_set(&c, key, value), good = true;
  if (!good || !smma_custom_check(&c, &fault)) {
    smma_fail(error, "%s = %s: %s%s%s", key->key, text, strcmp(fault.key, key->key) ? fault.key : "",
              strcmp(fault.key, key->key) ? ": " : "", fault.text);
    return NULL;
  }
  made = smma_custom_make(&c);
  if (!made) smma_no_memory(error);
  return made;
}
