#include "isa/custom.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN(name) offsetof(smma_custom, instruction.name)
#define RULE(name) offsetof(smma_custom, named.rule.name)
#define WITH(name) offsetof(smma_custom, named.rule.with.name)

#define A(name) (1u << SMMA_##name)
#define TRUNCATED (A(T_FDPA) | A(ST_FDPA) | A(FP8_BY_FP16))
#define EVERY (~0u)
#define HAS_NAN (~(A(INTEGER) | A(FTZ_FMA))) /* integers have none, that of FTZ-FMA is an operand's */
#define SINGLE (A(E_FDPA) | A(FTZ_ADDMUL) | A(TR_FDPA) | A(GTR_FDPA) | A(FTZ_FMA)) /* with FP32 results */

#define F(name) (1u << SMMA_FORMAT_##name)
#define FP8 (F(e4m3) | F(e5m2))
#define OPERANDS (F(f32) | F(tf32) | F(f16) | F(bf16) | FP8 | F(e4m3fnuz) | F(e5m2fnuz) | F(e3m2) | F(e2m3) | F(e2m1))
#define FLOATS (F(f32) | F(f16) | F(bf16))
#define OUTPUTS (OPERANDS | F(f64) | F(e8m13))
#define INTEGERS (F(s8) | F(u8))

static const char *const roundings[] = {"nearest-even",    "toward-zero",  "toward-negative",
                                        "toward-positive", "nearest-away", NULL};
static const char *const nans[] = {"all-ones", "quiet", NULL};
static const char *const exponents[] = {"of-factors", "normalized", NULL};
static const char *const joins[] = {"first", "last", NULL};
static const char *const overflows[] = {"infinity", "saturate", "by-direction", NULL};
static const char *const integer_overflows[] = {"wrap", "saturate", NULL};
static const char *const subnormals[] = {"kept", "to-signed-zero", "to-positive-zero", NULL};
static const char *const zeros[] = {"positive", "ieee", NULL};

/* Last: the key that it is like, or NULL; else its value. */
#define NUMBER(key, algorithms, member, least, most, ...) \
  { key, algorithms, SMMA_CUSTOM_INTEGER, member, least, most, NULL, 0, 0, NULL, __VA_ARGS__ }
#define NUMBER_OR(key, algorithms, member, least, most, word, meaning, otherwise) \
  { key, algorithms, SMMA_CUSTOM_INTEGER, member, least, most, word, meaning, 0, NULL, NULL, otherwise }
#define FORMAT(key, algorithms, member, formats, ...) \
  { key, algorithms, SMMA_CUSTOM_FORMAT, member, 0, 0, NULL, 0, formats, NULL, __VA_ARGS__ }
#define CHOICE(key, algorithms, member, choices, otherwise) \
  { key, algorithms, SMMA_CUSTOM_CHOICE, member, 0, 0, NULL, 0, 0, choices, NULL, otherwise }
#define FLAG(key, algorithms, member) \
  { key, algorithms, SMMA_CUSTOM_FLAG, member, 0, 1, NULL, 0, 0, NULL, NULL, 0 }
#define NEEDED NULL, SMMA_CUSTOM_REQUIRED

/* In the order in which they are written. The limits of each algorithm's numbers are those of its integers: see the
   bounds in its header. */
const smma_custom_key smma_custom_keys[] = {
    NUMBER("m", EVERY, IN(m), 1, 1024, NULL, 16),
    NUMBER("n", EVERY, IN(n), 1, 1024, NULL, 8),
    NUMBER("k", EVERY, IN(k), 1, SMMA_MAXIMUM_K, NEEDED),
    FORMAT("a", A(FMA), IN(a), OPERANDS | F(f64), NEEDED),
    FORMAT("a", A(GST_FDPA), IN(a), F(e2m1), NEEDED),
    FORMAT("a", A(FP8_BY_FP16), IN(a), FP8, NEEDED),
    FORMAT("a", A(INTEGER), IN(a), INTEGERS, NEEDED),
    FORMAT("a", EVERY, IN(a), OPERANDS, NEEDED),
    FORMAT("b", A(FMA), IN(b), OPERANDS | F(f64), NEEDED),
    FORMAT("b", A(GST_FDPA), IN(b), F(e2m1), NEEDED),
    FORMAT("b", A(FP8_BY_FP16), IN(b), FP8, NEEDED),
    FORMAT("b", A(INTEGER), IN(b), INTEGERS, NEEDED),
    FORMAT("b", EVERY, IN(b), OPERANDS, NEEDED),
    FORMAT("c", A(INTEGER), IN(c), F(s32), "d", 0),
    FORMAT("c", EVERY, IN(c), OPERANDS | F(f64), "d", 0),
    FORMAT("d", A(FMA), IN(d), FLOATS | F(f64), NEEDED),
    FORMAT("d", SINGLE, IN(d), F(f32), NEEDED),
    FORMAT("d", A(FP8_BY_FP16), IN(d), F(f32) | F(f16), NEEDED),
    FORMAT("d", A(G_FDPA), IN(d), OPERANDS | F(f64), NEEDED),
    FORMAT("d", A(INTEGER), IN(d), F(s32), NEEDED),
    FORMAT("d", EVERY, IN(d), FLOATS, NEEDED),
    FORMAT("scale", A(ST_FDPA), IN(scale), F(ue8m0), NEEDED),
    FORMAT("scale", A(GST_FDPA), IN(scale), F(ue8m0) | F(ue4m3), NEEDED),
    FORMAT("scale", A(G_FDPA), IN(scale), F(ue8m0) | F(ue4m3), NULL, SMMA_NO_FORMAT),
    NUMBER("scale_block", A(ST_FDPA) | A(GST_FDPA), IN(scale_block), 16, SMMA_MAXIMUM_K, NEEDED),
    NUMBER("scale_block", A(G_FDPA), IN(scale_block), 16, SMMA_MAXIMUM_K, NULL, 0),

    NUMBER("block", TRUNCATED, WITH(t_fdpa.block), 1, SMMA_MAXIMUM_K, NEEDED),
    NUMBER("alignment_bits", TRUNCATED, WITH(t_fdpa.alignment_bits), 0, SMMA_MOST_ALIGNMENT_BITS, NEEDED),
    NUMBER("zero_exponent", TRUNCATED, WITH(t_fdpa.zero_exponent), -1000, 1000, NEEDED),
    FORMAT("output", TRUNCATED, WITH(t_fdpa.output), OUTPUTS, "d", 0),
    CHOICE("rounding", TRUNCATED, WITH(t_fdpa.rounding), roundings, SMMA_CUSTOM_REQUIRED),

    NUMBER("group", A(GST_FDPA), WITH(gst_fdpa.group), 1, SMMA_MAXIMUM_K, NEEDED),
    NUMBER("alignment_bits", A(GST_FDPA), WITH(gst_fdpa.fused.alignment_bits), 0, 45, NEEDED),
    NUMBER("zero_exponent", A(GST_FDPA), WITH(gst_fdpa.fused.zero_exponent), -1000, 1000, NEEDED),
    FORMAT("output", A(GST_FDPA), WITH(gst_fdpa.fused.output), OUTPUTS, "d", 0),
    CHOICE("rounding", A(GST_FDPA), WITH(gst_fdpa.fused.rounding), roundings, SMMA_CUSTOM_REQUIRED),

    NUMBER("block", A(E_FDPA), WITH(e_fdpa.block), 1, SMMA_MAXIMUM_K, NEEDED),
    NUMBER("pairwise", A(FTZ_ADDMUL), WITH(ftz_addmul.pairwise), 2, 4, NEEDED),

    CHOICE("overflow", A(INTEGER), WITH(integer.overflow), integer_overflows, SMMA_CUSTOM_REQUIRED),

    NUMBER("block", A(TR_FDPA) | A(GTR_FDPA), WITH(tr_fdpa.block), 1, SMMA_MAXIMUM_K, NEEDED),
    NUMBER("alignment_bits", A(TR_FDPA) | A(GTR_FDPA), WITH(tr_fdpa.alignment_bits), 0, 30, NEEDED),
    NUMBER("sum_bits", A(TR_FDPA) | A(GTR_FDPA), WITH(tr_fdpa.sum_bits), 23, 40, NEEDED),
    NUMBER("revision", A(TR_FDPA) | A(GTR_FDPA), WITH(tr_fdpa.revision), 1, 2, NULL, 2),

    NUMBER("block", A(G_FDPA), WITH(g_fdpa.block), 1, SMMA_MAXIMUM_K, "k", 0),
    NUMBER("interleave", A(G_FDPA), WITH(g_fdpa.interleave), 1, SMMA_MAXIMUM_K, "block", 0),
    NUMBER_OR("alignment_bits", A(G_FDPA), WITH(g_fdpa.alignment_bits), 0, SMMA_MOST_ALIGNMENT_BITS, "exact",
              SMMA_EXACT_ALIGNMENT, SMMA_CUSTOM_REQUIRED),
    CHOICE("alignment_rounding", A(G_FDPA), WITH(g_fdpa.alignment_rounding), roundings, SMMA_ROUND_TOWARD_ZERO),
    FLAG("sticky_bit", A(G_FDPA), WITH(g_fdpa.sticky_bit)),
    CHOICE("product_exponent", A(G_FDPA), WITH(g_fdpa.product_exponent), exponents, SMMA_EXPONENT_OF_FACTORS),
    NUMBER_OR("zero_exponent", A(G_FDPA), WITH(g_fdpa.zero_exponent), -1000, 1000, "none", SMMA_NO_EXPONENT,
              SMMA_NO_EXPONENT),
    CHOICE("c_joins", A(G_FDPA), WITH(g_fdpa.c_joins), joins, SMMA_C_JOINS_FIRST),
    CHOICE("c_rounding", A(G_FDPA), WITH(g_fdpa.c_rounding), roundings, SMMA_ROUND_NEAREST_EVEN),
    FORMAT("output", A(G_FDPA), WITH(g_fdpa.output), OUTPUTS, "d", 0),
    CHOICE("rounding", A(G_FDPA), WITH(g_fdpa.rounding), roundings, SMMA_ROUND_NEAREST_EVEN),
    CHOICE("overflow", A(G_FDPA), WITH(g_fdpa.overflow), overflows, SMMA_SUM_TO_INFINITY),
    CHOICE("subnormal_inputs", A(G_FDPA), WITH(g_fdpa.subnormal_inputs), subnormals, SMMA_SUBNORMALS_KEPT),
    CHOICE("subnormal_outputs", A(G_FDPA), WITH(g_fdpa.subnormal_outputs), subnormals, SMMA_SUBNORMALS_KEPT),
    CHOICE("zero_sign", A(G_FDPA), WITH(g_fdpa.zero_sign), zeros, SMMA_ZERO_POSITIVE),
    CHOICE("nan", HAS_NAN, RULE(nan), nans, SMMA_NAN_QUIET),
};
const size_t smma_custom_key_count = sizeof smma_custom_keys / sizeof smma_custom_keys[0];

_Static_assert(sizeof(smma_format) == sizeof(int) && sizeof(smma_rounding) == sizeof(int),
               "members are read and written as int");

const smma_custom_key *smma_custom_find_key(smma_algorithm algorithm, const char *name, size_t length) {
  for (size_t i = 0; i < smma_custom_key_count; i++) {
    const smma_custom_key *key = &smma_custom_keys[i];
    if (key->algorithms >> algorithm & 1 && strlen(key->key) == length && memcmp(key->key, name, length) == 0)
      return key;
  }
  return NULL;
}

int smma_custom_get(const smma_custom *custom, const smma_custom_key *key) {
  int value;
  memcpy(&value, (const char *)custom + key->member, sizeof value);
  return value;
}

void smma_custom_set(smma_custom *custom, const smma_custom_key *key, int value) {
  memcpy((char *)custom + key->member, &value, sizeof value);
}

bool smma_custom_left_out(const smma_custom *custom, const smma_custom_key *key) {
  bool of_scales = key->member == IN(scale) || key->member == IN(scale_block);
  return of_scales && custom->instruction.scale == SMMA_NO_FORMAT && custom->instruction.scale_block == 0;
}

/* ---- Allowed values ---- */

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...) {
  size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

const char *smma_custom_allowed(const smma_custom_key *key, char *text, size_t size) {
  const char *comma = "";
  text[0] = 0;
  switch (key->kind) {
    case SMMA_CUSTOM_INTEGER:
      append(text, size, "%d to %d", key->least, key->most);
      if (key->word) append(text, size, " or \"%s\"", key->word);
      break;
    case SMMA_CUSTOM_FORMAT:
      for (int f = 0; f < SMMA_FORMAT_COUNT; f++) {
        if (!(key->formats >> f & 1)) continue;
        append(text, size, "%s%s", comma, smma_format_text((smma_format)f));
        comma = ", ";
      }
      break;
    case SMMA_CUSTOM_CHOICE:
      for (const char *const *word = key->choices; *word; word++, comma = ", ")
        append(text, size, "%s%s", comma, *word);
      break;
    case SMMA_CUSTOM_FLAG: append(text, size, "false, true"); break;
  }
  return text;
}

static bool in_range(const smma_custom_key *key, int value) {
  int choices = 0;
  switch (key->kind) {
    case SMMA_CUSTOM_FORMAT: return value >= 0 && value < SMMA_FORMAT_COUNT && key->formats >> value & 1;
    case SMMA_CUSTOM_CHOICE:
      while (key->choices[choices]) choices++;
      return value >= 0 && value < choices;
    default: return (value >= key->least && value <= key->most) || (key->word && value == key->meaning);
  }
}

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
  smma_algorithm algorithm = custom->named.rule.algorithm;
  char allowed[256];
  for (size_t i = 0; i < smma_custom_key_count; i++) {
    const smma_custom_key *key = &smma_custom_keys[i];
    if (smma_custom_find_key(algorithm, key->key, strlen(key->key)) != key) continue;
    if (smma_custom_left_out(custom, key) && key->otherwise != SMMA_CUSTOM_REQUIRED) continue;
    if (!in_range(key, smma_custom_get(custom, key)))
      return fail(fault, key->key, "out of range; allowed: %s", smma_custom_allowed(key, allowed, sizeof allowed));
  }
  return true;
}

/* ---- What goes together ---- */

/* The divisors of `of` from `least` on: "1, 2, 4, 8". */
static const char *divisors(int of, int least, char *text, size_t size) {
  text[0] = 0;
  for (int d = least; d <= of; d++)
    if (of % d == 0) append(text, size, "%s%d", *text ? ", " : "", d);
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
  if (!smma_custom_find_key(rule->algorithm, "scale", strlen("scale")))
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
  for (int f = 0; f < SMMA_E8M13; f++)
    if ((OPERANDS | F(f64)) >> f & 1 && format_holds(i->d, (smma_format)f))
      append(list, sizeof list, "%s%s", *list ? ", " : "", smma_format_text((smma_format)f));
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
