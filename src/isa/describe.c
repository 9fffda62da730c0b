/* Describes rules as text: the name of the algorithm, its parameters, and its roundings in words. */
#include <stdio.h>
#include <string.h>

#include "isa/ascii.h"
#include "isa/catalogue.h"
#include "isa/compose.h"

const char *smma_model_name(const smma_rule *rule) {
  switch (rule->algorithm) {
#define SMMA_UNFUSED(symbol, name, member, block, dot) SMMA_FUSED(symbol, name, member, block, , )
#define SMMA_FUSED(symbol, name, member, block, product, sum) \
  case SMMA_##symbol: {                                       \
    return name;                                              \
  }
#include "core/algorithm.def"
  }
  return "";
}

const char *smma_keys_name(smma_algorithm algorithm) {
  return algorithm == SMMA_KEYS_OF_G_FDPA ? "G-FDPA" : smma_model_name(&(smma_rule){.algorithm = algorithm});
}

const char *smma_rounding_name(smma_rounding direction) {
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: return "RNE";
    case SMMA_ROUND_TOWARD_ZERO: return "RZ";
    case SMMA_ROUND_DOWN: return "RD";
    case SMMA_ROUND_UP: return "RU";
    case SMMA_ROUND_NEAREST_AWAY: return "RNA";
    case SMMA_ROUND_NEAREST_ZERO: return "RNZ";
    case SMMA_ROUND_NEAREST_UP: return "RNU";
    case SMMA_ROUND_NEAREST_DOWN: return "RND";
    case SMMA_ROUND_TO_ODD: return "RO";
  }
  return "";
}

const char *smma_rounding_words(smma_rounding direction) {
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: return "to nearest even";
    case SMMA_ROUND_TOWARD_ZERO: return "toward zero";
    case SMMA_ROUND_DOWN: return "toward negative infinity";
    case SMMA_ROUND_UP: return "toward positive infinity";
    case SMMA_ROUND_NEAREST_AWAY: return "to nearest, ties away from zero";
    case SMMA_ROUND_NEAREST_ZERO: return "to nearest, ties toward zero";
    case SMMA_ROUND_NEAREST_UP: return "to nearest, ties toward positive infinity";
    case SMMA_ROUND_NEAREST_DOWN: return "to nearest, ties toward negative infinity";
    case SMMA_ROUND_TO_ODD: return "to odd";
  }
  return "";
}

void smma_rounding_to_text(smma_rounding direction, smma_format format, char *text, size_t size) {
  const char *name = smma_format_text(format);
  bool plain = format == SMMA_F64 || format == SMMA_F32 || format == SMMA_F16;
  snprintf(text, size, "%s-%s%s", smma_rounding_name(direction), plain ? "FP" : "", name + plain);
  for (; *text; text++) *text = smma_upper(*text);
}

/* ---- Parameters ---- */

static const smma_key *key_named(const smma_key_values *t, const char *name) {
  return smma_find_key(t->algorithm, name, strlen(name));
}

/* Reports whether a key's value differs from the key's default. */
static bool is_other(const smma_key_values *t, const smma_key *key) {
  int otherwise = key->like ? smma_value_of_key(t, key_named(t, key->like)) : key->otherwise;
  return smma_value_of_key(t, key) != otherwise;
}

static bool is_described(const smma_key_values *t, const smma_key *key) {
  if (!key->symbol || (key->told_if_other && !is_other(t, key))) return false;
  return !key->told_where || is_other(t, key_named(t, key->told_where));
}

static void value_to_text(const smma_key_values *t, const smma_key *key, char *text, size_t size) {
  int value = smma_value_of_key(t, key);
  switch (key->kind) {
    case SMMA_KEY_INTEGER:
      if (!key->word || value != key->meaning) break;
      snprintf(text, size, "%s", key->word);
      return;
    case SMMA_KEY_FORMAT: snprintf(text, size, "%s", smma_format_text((smma_format)value)); return;
    case SMMA_KEY_CHOICE: snprintf(text, size, "%s", key->choices[value]); return;
    case SMMA_KEY_ROUNDING:
      if (key->told_with)
        smma_rounding_to_text((smma_rounding)value, (smma_format)smma_value_of_key(t, key_named(t, key->told_with)),
                              text, size);
      else
        snprintf(text, size, "%s", smma_rounding_name((smma_rounding)value));
      return;
    case SMMA_KEY_FLAG: break;
  }
  snprintf(text, size, "%d", value);
}

/* Returns the order of k in the rule's chain, if the algorithm has only one; otherwise NULL. */
static const char *order_of(const smma_rule *rule) {
  if (rule->algorithm == SMMA_FMA) return "ascending";
  return rule->algorithm == SMMA_FTZ_FMA ? "descending" : NULL;
}

/* Describes a step by those of its keys whose values differ from their defaults. Returns false past the last step. */
static bool step_parameter(const smma_composition *p, int step, const char **name, char *value, size_t size) {
  static const char *const names[SMMA_MAXIMUM_STEPS] = {"step1", "step2", "step3", "step4", "step5", "step6"};
  char text[32];
  if (step >= p->steps) return false;
  *name = names[step];
  value[0] = 0;
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));)
    if (smma_step_key_is_told(p, 0, step, key))
      smma_append_text(value, size, "%s%s:%s", *value ? "," : "", key->key,
                       smma_key_value(key, smma_key_of_step(&p->step[step], key), text, sizeof text));
  return true;
}

/* Describes the window of a chain whose blocks do not take consecutive products, as parameter 0. */
static bool window_parameter(const smma_composition *p, int i, const char **name, char *value, size_t size) {
  if (i > 0 || p->step[0].turn == p->step[0].take) return false;
  *name = "window";
  snprintf(value, size, "%d", p->step[0].window);
  return true;
}

/* Describes parameter i of a sum of pairs. Returns false past the last parameter. */
static bool pairs_parameter(const smma_pairs *pairs, int i, const char **name, char *value, size_t size) {
  static const char *const names[] = {"pairs", "rho", "subnormals", "range"};
  const bool flushes = pairs->subnormals != SMMA_SUBNORMALS_KEPT;
  if (i >= 2 + flushes + (pairs->range != pairs->output)) return false;
  if (i == 2 && !flushes) i = 3;
  *name = names[i];
  if (i == 0)
    snprintf(value, size, "%s", pairs->fused ? "fused" : "rounded");
  else if (i == 1)
    smma_rounding_to_text(pairs->rounding, pairs->output, value, size);
  else if (i == 3)
    snprintf(value, size, "%s", smma_format_text(pairs->range));
  else
    snprintf(value, size, "%s", pairs->subnormals == SMMA_SUBNORMALS_TO_SIGNED_ZERO ? "signed-zero" : "positive-zero");
  return true;
}

/* Describes parameter i of a sum in two chains. Returns false past the last parameter. */
static bool chains_parameter(smma_subnormal_policy of_factors, int i, const char **name, char *value, size_t size) {
  static const char *const names[] = {"chains", "rho", "subnormals", "factors"};
  if (i >= 3 + (of_factors == SMMA_SUBNORMALS_KEPT)) return false;
  *name = names[i];
  if (i == 1)
    smma_rounding_to_text(SMMA_ROUND_NEAREST_EVEN, SMMA_F32, value, size);
  else
    snprintf(value, size, "%s", i == 0 ? "2" : i == 2 ? "signed-zero" : "kept");
  return true;
}

bool smma_parameter(const smma_rule *rule, int i, const char **name, char *value, size_t size) {
  const char *order = order_of(rule);
  smma_subnormal_policy of_factors;
  smma_pairs pairs;
  smma_g_fdpa g;
  const smma_key_values keys = smma_key_values_of(rule, &g);
  if (rule->algorithm == SMMA_COMPOSITION && smma_is_sum_of_pairs(&rule->with.composition, &pairs))
    return pairs_parameter(&pairs, i, name, value, size);
  if (rule->algorithm == SMMA_COMPOSITION && smma_is_sum_of_chains(&rule->with.composition, &of_factors))
    return chains_parameter(of_factors, i, name, value, size);
  if (order && i-- == 0) {
    *name = "order";
    snprintf(value, size, "%s", order);
    return true;
  }
  for (const smma_key *key = NULL; (key = smma_next_key(keys.algorithm, key));) {
    if (!is_described(&keys, key) || i-- > 0) continue;
    *name = key->symbol;
    value_to_text(&keys, key, value, size);
    return true;
  }
  if (keys.algorithm == SMMA_KEYS_OF_G_FDPA) return window_parameter(&rule->with.composition, i, name, value, size);
  return rule->algorithm == SMMA_COMPOSITION && step_parameter(&rule->with.composition, i, name, value, size);
}

const char *smma_rule_words(const smma_rule *rule, char *text, size_t size) {
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  snprintf(text, size, "%s", smma_model_name(rule));
  for (int p = 0; smma_parameter(rule, p, &name, value, sizeof value); p++)
    smma_append_text(text, size, " %s=%s", name, value);
  return text;
}
