#include "isa/custom.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int smma_custom_get(const smma_custom *custom, const smma_key *key) {
  int value;
  if (key->of_rule) return smma_key_of_rule(&custom->named.rule, key);
  memcpy(&value, (const char *)&custom->instruction + key->member, sizeof value);
  return value;
}

void smma_custom_set(smma_custom *custom, const smma_key *key, int value) {
  char *whole = key->of_rule ? (char *)&custom->named.rule : (char *)&custom->instruction;
  memcpy(whole + key->member, &value, sizeof value);
}

bool smma_custom_left_out(const smma_custom *custom, const smma_key *key) {
  const smma_instruction *i = &custom->instruction;
  bool of_scales = strcmp(key->key, "scale") == 0 || strcmp(key->key, "scale_block") == 0;
  return of_scales && i->scale == SMMA_NO_FORMAT && i->scale_block == 0;
}

/* ---- Allowed values ---- */

static bool fail(smma_custom_fault *fault, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(smma_custom_fault *fault, const char *key, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fault->key = key;
  vsnprintf(fault->text, sizeof fault->text, format, arguments);
  va_end(arguments);
  return false;
}

static bool check_ranges(const smma_custom *custom, smma_custom_fault *fault) {
  char allowed[256];
  for (const smma_key *key = NULL; (key = smma_next_key(custom->named.rule.algorithm, key));) {
    if (smma_custom_left_out(custom, key) && key->otherwise != SMMA_KEY_REQUIRED) continue;
    if (!smma_key_allows(key, smma_custom_get(custom, key)))
      return fail(fault, key->key, "out of range; allowed: %s", smma_key_allowed(key, allowed, sizeof allowed));
  }
  return true;
}

/* ---- What goes together ---- */

/* The divisors of `of` from `least` on: "1, 2, 4, 8". */
static const char *divisors(int of, int least, char *text, size_t size) {
  text[0] = 0;
  for (int d = least; d <= of; d++)
    if (of % d == 0) smma_append_text(text, size, "%s%d", *text ? ", " : "", d);
  return *text ? text : "none";
}

static bool divides(smma_custom_fault *fault, const char *key, int value, const char *whole, int of, int least) {
  char list[128];
  if (of % value == 0) return true;
  return fail(fault, key, "%d does not divide %s, which is %d; allowed: %s", value, whole, of,
              divisors(of, least, list, sizeof list));
}

/* Scale factors and their block are there together, or not at all. */
static bool check_scales(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_instruction *i = &custom->instruction;
  const smma_rule *rule = &custom->named.rule;
  if (i->scale == SMMA_NO_FORMAT && i->scale_block == 0) return true;
  if (!smma_find_key(rule->algorithm, "scale", strlen("scale")))
    return fail(fault, "scale", "%s takes no scale factors; allowed: none", smma_model_name(rule));
  if (i->scale == SMMA_NO_FORMAT) return fail(fault, "scale", "missing beside scale_block; allowed: ue8m0, ue4m3");
  return true;
}

/* Whether every value of x, infinity and NaN is one of y's. */
static bool format_holds(smma_format outer, smma_format inner) {
  smma_encoding y = smma_encoding_of(outer), x = smma_encoding_of(inner);
  if (outer == inner) return true;
  return y.specials == SMMA_SPECIALS_IEEE && y.fraction_bits >= x.fraction_bits &&
         (y.exponent_bits > x.exponent_bits ||
          (y.exponent_bits == x.exponent_bits && x.specials == SMMA_SPECIALS_IEEE));
}

static bool check_c(const smma_instruction *i, smma_custom_fault *fault) {
  char list[128] = "";
  if (format_holds(i->d, i->c)) return true;
  for (int f = 0; f < SMMA_FORMAT_COUNT; f++)
    if (smma_operand_formats() >> f & 1 && format_holds(i->d, (smma_format)f))
      smma_append_text(list, sizeof list, "%s%s", *list ? ", " : "", smma_format_text((smma_format)f));
  return fail(fault, "c", "%s has values that d, %s, has not; allowed: %s", smma_format_text(i->c),
              smma_format_text(i->d), list);
}

static bool check_output(const smma_instruction *i, smma_format output, smma_custom_fault *fault) {
  bool narrower = i->d == SMMA_F32 && (output == SMMA_E8M13 || output == SMMA_TF32);
  if (output == i->d || narrower) return true;
  return fail(fault, "output", "%s cannot be held in d, %s; allowed: %s%s", smma_format_text(output),
              smma_format_text(i->d), smma_format_text(i->d), i->d == SMMA_F32 ? ", tf32, e8m13" : "");
}

static bool check_nan(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_rule *rule = &custom->named.rule;
  smma_encoding d = smma_encoding_of(custom->instruction.d);
  if (rule->nan != SMMA_NAN_ALL_ONES || rule->algorithm == SMMA_INTEGER) return true;
  if (rule->algorithm == SMMA_FTZ_ADDMUL)
    return fail(fault, "nan", "%s has no other NaN; allowed: quiet", smma_model_name(rule));
  if (d.specials == SMMA_SPECIALS_IEEE || d.specials == SMMA_SPECIALS_ONE_NAN) return true;
  return fail(fault, "nan", "all ones is a number in %s; allowed: quiet", smma_format_text(custom->instruction.d));
}

/* L need not be at most K, but K be a multiple of what is left of it. */
static bool check_block(const smma_instruction *i, int block, smma_custom_fault *fault) {
  return block >= i->k || divides(fault, "block", block, "k", i->k, 1);
}

static bool check_gst(const smma_instruction *i, const smma_gst_fdpa *p, smma_custom_fault *fault) {
  return divides(fault, "group", p->group, "scale_block", i->scale_block, 1) && check_output(i, p->fused.output, fault);
}

/* Pairs of k are dealt out. */
static bool check_fp8_by_fp16(const smma_instruction *i, const smma_t_fdpa *p, smma_custom_fault *fault) {
  if (p->block % 2)
    return fail(fault, "block", "%d is odd, but products are dealt out in pairs; allowed: 2 to 64, even", p->block);
  return divides(fault, "block", p->block, "k", i->k, 2);
}

static bool check_exact(const smma_g_fdpa *p, smma_custom_fault *fault) {
  if (p->alignment_bits != SMMA_EXACT_ALIGNMENT) return true;
  if (p->sticky_bit) return fail(fault, "sticky_bit", "an exact sum cuts nothing off; allowed: false");
  if (p->alignment_rounding != SMMA_ROUND_TOWARD_ZERO)
    return fail(fault, "alignment_rounding", "an exact sum rounds no term; allowed: toward-zero");
  if (p->product_exponent != SMMA_EXPONENT_OF_FACTORS)
    return fail(fault, "product_exponent", "an exact sum aligns nothing; allowed: of-factors");
  if (p->zero_exponent != SMMA_NO_EXPONENT)
    return fail(fault, "zero_exponent", "an exact sum aligns nothing; allowed: \"none\"");
  return true;
}

static bool check_general(const smma_instruction *i, const smma_g_fdpa *p, smma_custom_fault *fault) {
  if (!divides(fault, "block", p->block, "k", i->k, 1)) return false;
  if (!divides(fault, "interleave", p->interleave, "block", p->block, 1)) return false;
  if (!check_exact(p, fault)) return false;
  if (p->sticky_bit && p->alignment_rounding != SMMA_ROUND_TOWARD_ZERO)
    return fail(fault, "alignment_rounding", "terms that are rounded leave no sticky bit; allowed: toward-zero");
  if (p->c_joins == SMMA_C_JOINS_FIRST && p->c_rounding != SMMA_ROUND_NEAREST_EVEN)
    return fail(fault, "c_rounding", "c is no addition of its own where c_joins is first; allowed: nearest-even");
  return check_output(i, p->output, fault);
}

static bool check_algorithm(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_instruction *i = &custom->instruction;
  const smma_rule *rule = &custom->named.rule;
  const smma_tr_fdpa *tr = &rule->with.tr_fdpa;
  switch (rule->algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
      return check_block(i, rule->with.t_fdpa.block, fault) && check_output(i, rule->with.t_fdpa.output, fault);
    case SMMA_FP8_BY_FP16:
      return check_fp8_by_fp16(i, &rule->with.t_fdpa, fault) && check_output(i, rule->with.t_fdpa.output, fault);
    case SMMA_GST_FDPA: return check_gst(i, &rule->with.gst_fdpa, fault);
    case SMMA_E_FDPA: return check_block(i, rule->with.e_fdpa.block, fault);
    case SMMA_FTZ_ADDMUL:
      if (rule->with.ftz_addmul.pairwise == 3)
        return fail(fault, "pairwise", "3 products make no pairs; allowed: 2, 4");
      return divides(fault, "pairwise", rule->with.ftz_addmul.pairwise, "k", i->k, 2);
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
      if (tr->sum_bits < tr->alignment_bits)
        return fail(fault, "sum_bits", "%d is less than alignment_bits; allowed: %d to 40", tr->sum_bits,
                    tr->alignment_bits);
      return check_block(i, tr->block, fault);
    case SMMA_G_FDPA: return check_general(i, &rule->with.g_fdpa, fault);
    case SMMA_FMA:
    case SMMA_FTZ_FMA:
    case SMMA_INTEGER: return true;
  }
  return false;
}

static bool check_name(const char *name, smma_custom_fault *fault) {
  const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (name && *name && strlen(name) <= 100 && strspn(name, letters) == strlen(name)) return true;
  return fail(fault, "name", "no name; allowed: 1 to 100 letters, digits, '.', '_' and '-'");
}

bool smma_custom_check(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_instruction *i = &custom->instruction;
  if (!check_name(i->name, fault) || !check_scales(custom, fault) || !check_ranges(custom, fault)) return false;
  if (i->scale_block && !divides(fault, "scale_block", i->scale_block, "k", i->k, 16)) return false;
  return check_c(i, fault) && check_nan(custom, fault) && check_algorithm(custom, fault);
}

/* ---- Making one ---- */

static const char *const no_texts[] = {NULL};

smma_custom smma_custom_of(const smma_instruction *i) {
  smma_custom custom = {.instruction = *i, .named = *i->rule};
  return custom;
}

/* What follows from other values: the groups that GST-FDPA fuses; integers have no NaN of any kind, FTZ-FMA
   an operand's. */
static void settle(smma_custom *c) {
  smma_rule *rule = &c->named.rule;
  if (rule->algorithm == SMMA_INTEGER) rule->nan = SMMA_NAN_QUIET;
  if (rule->algorithm == SMMA_FTZ_FMA) rule->nan = SMMA_NAN_OPERAND;
  if (rule->algorithm == SMMA_GST_FDPA) rule->with.gst_fdpa.fused.block = c->instruction.k / rule->with.gst_fdpa.group;
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
  made->instruction.other_name = NULL;
  made->instruction.arch = SMMA_ARCH_COUNT;
  made->instruction.family = SMMA_FAMILY_CUSTOM;
  made->instruction.rule = &made->named;
  made->named.evidence = made->named.questions = no_texts;
  settle(made);
  return &made->instruction;
}

void smma_custom_release(const smma_instruction *instruction) {
  if (instruction && instruction->origin) free((void *)instruction);
}
