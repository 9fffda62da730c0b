/* The keys of a custom unit's description: their values, and the check of each value and of the values together. A
   fault names the key and what is allowed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/compose.h"
#include "isa/custom.h"
#include "isa/custom_room.h"

/* ---- Values ---- */

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
  fault->step = -1;
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

/* ---- Values that are allowed together ---- */

/* The divisors that a key allows: those from `least` to `most` that are multiples of `step`. */
typedef struct {
  int least, most, step;
} allowed_divisors;

static const allowed_divisors any_divisor = {1, SMMA_MAXIMUM_K, 1};

/* Writes the allowed divisors of `of`: "1, 2, 4, 8". */
static const char *divisors(int of, allowed_divisors allowed, char *text, size_t size) {
  text[0] = 0;
  for (int d = allowed.least; d <= smma_minimum(of, allowed.most); d++)
    if (of % d == 0 && d % allowed.step == 0) smma_append_text(text, size, "%s%d", *text ? ", " : "", d);
  return *text ? text : "none";
}

static bool divides(smma_custom_fault *fault, const char *key, int value, const char *whole, int of,
                    allowed_divisors allowed) {
  char list[128];
  if (of % value == 0) return true;
  return fail(fault, key, "%d does not divide %s, which is %d; allowed: %s", value, whole, of,
              divisors(of, allowed, list, sizeof list));
}

/* Checks that scale_block comes with a format of scale factors. Algorithms without scale factors have neither key. */
static bool check_scales(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_instruction *i = &custom->instruction;
  if (i->scale == SMMA_NO_FORMAT && i->scale_block)
    return fail(fault, "scale", "missing; scale_block needs it; allowed: ue8m0, ue4m3");
  return true;
}

/* Returns the greatest finite number. */
static double greatest_of(smma_encoding f) {
  const smma_number x = smma_decode(f, smma_largest_fields(f) << f.ignored_bits);
  return ldexp((double)x.significand, x.exponent - x.fraction_bits);
}

/* Reports whether the outer format is the inner, or is an IEEE format that has every value of the inner, including
   infinity and NaN. */
static bool format_holds(smma_format outer, smma_format inner) {
  smma_encoding y = smma_encoding_of(outer), x = smma_encoding_of(inner);
  if (outer == inner) return true;
  return y.specials == SMMA_SPECIALS_IEEE && y.sign_bits >= x.sign_bits && y.fraction_bits >= x.fraction_bits &&
         smma_minimum_exponent(y) - y.fraction_bits <= smma_minimum_exponent(x) - x.fraction_bits &&
         greatest_of(y) >= greatest_of(x);
}

static bool check_c(const smma_instruction *i, smma_custom_fault *fault) {
  char list[128] = "";
  if (format_holds(i->d, i->c)) return true;
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
    const smma_format f = smma_format_at(row);
    if (smma_operand_formats() & smma_format_bit(f) && format_holds(i->d, f))
      smma_append_text(list, sizeof list, "%s%s", *list ? ", " : "", smma_format_text(f));
  }
  return fail(fault, "c", "%s is not allowed with d in %s; allowed: %s", smma_format_text(i->c), smma_format_text(i->d),
              list);
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
  if (rule->nan != SMMA_NAN_ALL_ONES || d.specials == SMMA_SPECIALS_INTEGER) return true;
  if (rule->algorithm == SMMA_FTZ_ADDMUL)
    return fail(fault, "nan", "%s has no other NaN; allowed: quiet, default", smma_model_name(rule));
  if (d.specials == SMMA_SPECIALS_IEEE || d.specials == SMMA_SPECIALS_ONE_NAN) return true;
  return fail(fault, "nan", "all ones is not NaN in %s; allowed: quiet, default",
              smma_format_text(custom->instruction.d));
}

/* Checks that K is a multiple of the block, unless the block is at least as long as K. */
static bool check_block(const smma_instruction *i, int block, smma_custom_fault *fault) {
  return block >= i->k || divides(fault, "block", block, "k", i->k, any_divisor);
}

static bool check_gst(const smma_instruction *i, const smma_gst_fdpa *p, smma_custom_fault *fault) {
  return divides(fault, "group", p->group, "scale_block", i->scale_block, any_divisor) &&
         check_output(i, p->fused.output, fault);
}

/* Checks that a block holds pairs, because products are dealt to blocks in pairs. */
static bool check_fp8_by_fp16(const smma_instruction *i, const smma_t_fdpa *p, smma_custom_fault *fault) {
  if (p->block % 2)
    return fail(fault, "block", "%d is odd, but products are dealt out in pairs; allowed: 2 to 64, even", p->block);
  return divides(fault, "block", p->block, "k", i->k, (allowed_divisors){2, SMMA_MAXIMUM_ROUNDED_K, 2});
}

static bool check_exact(const smma_g_fdpa *p, smma_custom_fault *fault) {
  if (p->alignment_bits != SMMA_EXACT_ALIGNMENT) return true;
  if (p->sticky_bit) return fail(fault, "sticky_bit", "an exact sum truncates nothing; allowed: false");
  if (p->alignment_rounding != SMMA_ROUND_TOWARD_ZERO)
    return fail(fault, "alignment_rounding", "an exact sum rounds no term; allowed: toward-zero");
  if (p->product_exponent != SMMA_EXPONENT_OF_FACTORS)
    return fail(fault, "product_exponent", "an exact sum aligns nothing; allowed: of-factors");
  if (p->zero_exponent != SMMA_NO_EXPONENT)
    return fail(fault, "zero_exponent", "an exact sum aligns nothing; allowed: \"none\"");
  return true;
}

bool smma_custom_check_chain(const smma_custom *custom, const smma_g_fdpa *p, smma_custom_fault *fault) {
  const int k = custom->instruction.k;
  char allowed[256];
  for (const smma_key *key = NULL; (key = smma_next_key(SMMA_KEYS_OF_G_FDPA, key));) {
    const int value = key->of_chain ? smma_key_of_chain(p, key) : k;
    if ((key->of_chain || key->member == offsetof(smma_instruction, k)) && !smma_key_allows(key, value))
      return fail(fault, key->key, "out of range; allowed: %s", smma_key_allowed(key, allowed, sizeof allowed));
  }
  if (!divides(fault, "block", p->block, "k", k, any_divisor)) return false;
  if (!divides(fault, "interleave", p->interleave, "block", p->block, any_divisor)) return false;
  if (!check_exact(p, fault)) return false;
  if (p->sticky_bit && p->alignment_rounding != SMMA_ROUND_TOWARD_ZERO)
    return fail(fault, "alignment_rounding", "terms that are rounded leave no sticky bit; allowed: toward-zero");
  if (p->c_joins == SMMA_C_JOINS_FIRST && p->c_rounding != SMMA_ROUND_NEAREST_EVEN)
    return fail(fault, "c_rounding", "c is no addition of its own where c_joins is first; allowed: nearest-even");
  return check_output(&custom->instruction, p->output, fault);
}

static bool check_product(const smma_instruction *i, smma_product_kind product, smma_custom_fault *fault) {
  if (product == SMMA_PRODUCT_MULTIPLIED || (i->a == SMMA_B1 && i->b == SMMA_B1)) return true;
  return fail(fault, "product", "xor is of single bits, and a is %s, b %s; allowed: multiply, or b1 for both",
              smma_format_text(i->a), smma_format_text(i->b));
}

/* ---- Compositions ---- */

static bool check_step_ranges(const smma_step *s, smma_custom_fault *fault) {
  char allowed[256];
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));)
    if (!smma_key_allows(key, smma_key_of_step(s, key)))
      return fail(fault, key->key, "out of range; allowed: %s", smma_key_allowed(key, allowed, sizeof allowed));
  return true;
}

static bool is_power(int x, int of) {
  while (of > 1 && x % of == 0) x /= of;
  return x == 1;
}

/* Checks how `count` nodes are distributed over sums. */
static bool check_dealing(const smma_step *s, int count, smma_custom_fault *fault) {
  const bool chain = s->join == SMMA_JOIN_CHAIN;
  if (!divides(fault, "window", s->window, "the number of nodes", count, any_divisor)) return false;
  if (!divides(fault, "take", s->take, "window", s->window, any_divisor)) return false;
  if (!divides(fault, "turn", s->turn, "take", s->take, any_divisor)) return false;
  if (s->join == SMMA_JOIN_TREE && !is_power(s->window, s->take))
    return fail(fault, "window", "a tree of %d needs a power of that, and not %d", s->take, s->window);
  if (!chain && s->start != SMMA_START_NOTHING)
    return fail(fault, "start", "only chains start from anything; allowed: nothing");
  if (!chain && s->chains > 1) return fail(fault, "chains", "\"join\" is not \"chain\"; allowed: 1");
  if (!divides(fault, "chains", s->chains, "the number of groups", count / s->take, any_divisor)) return false;
  return divides(fault, "stride", s->stride, "the number of groups", chain ? count / s->take : 1, any_divisor);
}

static bool is_cut(const smma_cut *cut) { return cut->bits != SMMA_EXACT_ALIGNMENT; }

/* Checks that keys without effect have their default values. Keys of the accumulator have no effect in a step without
   an accumulator. */
static bool check_idle(const smma_step *s, smma_custom_fault *fault) {
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));)
    if (s->join != SMMA_JOIN_CHAIN && key->like && strncmp(key->key, "accumulator_", strlen("accumulator_")) == 0 &&
        smma_key_of_step(s, key) != smma_key_of_step(s, smma_find_step_key(key->like, strlen(key->like))))
      return fail(fault, key->key, "only chains have an accumulator; allowed: nothing, or as \"%s\"", key->like);
  return true;
}

/* Checks that a second rounding removes no more bits than the first leaves below the reference. */
static bool check_again(const smma_cut *cut, bool is_aligned, const char *key, smma_custom_fault *fault) {
  if (cut->again == 0) return true;
  if (!is_aligned) return fail(fault, key, "an exact sum rounds no term; allowed: 0");
  return cut->again <= cut->bits ||
         fail(fault, key, "%d is more than the bits that alignment leaves; allowed: 0 to %d", cut->again, cut->bits);
}

static bool check_sum(const smma_step *s, smma_custom_fault *fault) {
  const bool cut = is_cut(&s->term) && is_cut(&s->accumulator);
  if (!cut && s->width != SMMA_NONE) return fail(fault, "width", "exact sums have all bits; allowed: none");
  if (!cut && s->output == SMMA_NO_FORMAT)
    return fail(fault, "output", "an exact sum is rounded in its step; allowed: a format");
  if (!cut && s->least_reference != SMMA_NONE)
    return fail(fault, "least_reference", "an exact sum aligns nothing; allowed: none");
  if (s->reference_multiple & (s->reference_multiple - 1))
    return fail(fault, "reference_multiple", "%d is no power of two; allowed: 1, 2, 4, 8, 16, 32, 64",
                s->reference_multiple);
  if (!cut && s->reference_multiple > 1)
    return fail(fault, "reference_multiple", "an exact sum aligns nothing; allowed: 1");
  if (s->reference != SMMA_NONE && s->reference_multiple > 1)
    return fail(fault, "reference_multiple", "the reference exponent is fixed; allowed: 1");
  if (!cut && s->minus_one_shift) return fail(fault, "minus_one_shift", "exact terms have no last bit; allowed: 0");
  if (!check_again(&s->term, cut, "round_again", fault) ||
      !check_again(&s->accumulator, cut, "accumulator_round_again", fault))
    return false;
  if (!cut && s->opposing != SMMA_OPPOSING_EXACT)
    return fail(fault, "opposing", "exact terms have no last bit; allowed: exact");
  if (s->join != SMMA_JOIN_CHAIN && s->opposing != SMMA_OPPOSING_EXACT)
    return fail(fault, "opposing", "there is no accumulator; allowed: exact");
  if (s->output == SMMA_NO_FORMAT && s->narrow_bits != SMMA_NONE)
    return fail(fault, "narrow_bits", "there is no output; allowed: none");
  if (s->output != SMMA_NO_FORMAT && s->cancelled_is_zero)
    return fail(fault, "cancelled_is_zero", "a rounded sum that cancels is a zero anyway; allowed: false");
  return true;
}

static bool is_ieee(smma_format format) { return smma_encoding_of(format).specials == SMMA_SPECIALS_IEEE; }

static int fraction_bits_of(smma_format format) { return smma_encoding_of(format).fraction_bits; }

/* Checks that the format of a sum can represent an operand's NaN; `key` names that format. */
static bool check_operand_nan(const smma_custom *custom, const char *key, smma_format sum, smma_custom_fault *fault) {
  const smma_instruction *i = &custom->instruction;
  const smma_format of[] = {i->d, i->a, i->b, i->scale};
  const int kept =
      smma_marks_nan(custom->named.rule.nan) ? 1 : 4; /* with marked NaN, the payloads of factors are not preserved */
  if (!is_ieee(sum)) return fail(fault, key, "%s has no NaN of operands", smma_format_text(sum));
  for (int n = 0; n < kept; n++)
    if (fraction_bits_of(of[n]) > fraction_bits_of(sum))
      return fail(fault, key, "%s has no room for a NaN of %s", smma_format_text(sum), smma_format_text(of[n]));
  return true;
}

/* Checks that an operand's NaN reaches d through every step. */
static bool check_nan_of_step(const smma_custom *custom, int step, smma_custom_fault *fault) {
  const smma_composition *p = &custom->named.rule.with.composition;
  const smma_format output = p->step[step].output;
  if (!check_operand_nan(custom, "output", output, fault)) return false;
  while (step-- > 0)
    if (fraction_bits_of(p->step[step].output) > fraction_bits_of(output))
      return fail(fault, "output", "%s has no room for a NaN of step %d", smma_format_text(output), step + 1);
  return true;
}

/* Checks the alignment of factors in blocks. */
static bool check_blocks(const smma_instruction *i, const smma_composition *p, smma_custom_fault *fault) {
  const bool aligned = p->block_bits_a || p->block_bits_b;
  if (!aligned && p->block_elements) return fail(fault, "block_elements", "factors are whole; allowed: all");
  if (!aligned && p->block_rounding != SMMA_ROUND_TOWARD_ZERO)
    return fail(fault, "block_rounding", "factors are whole; allowed: toward-zero");
  if (aligned && p->product != SMMA_PRODUCT_MULTIPLIED)
    return fail(fault, "product", "xor aligns no bits; allowed: multiply");
  return !p->block_elements || divides(fault, "block_elements", p->block_elements, "k", i->k, any_divisor);
}

/* Checks that significands of that many bits have the last slice of a factor that phases multiply. */
static bool check_slice(const char *key, int bits, int last, int significand, smma_custom_fault *fault) {
  if (last == 0) return true;
  if (bits == 0) return fail(fault, key, "phases multiply slice %d; allowed: a number of bits", last);
  return last * bits < significand || fail(fault, "phases", "slice %d of %s begins after the last of its %d bits", last,
                                           key + strlen("slice_"), significand);
}

/* Checks the slices of significands, and the number of nodes that their phases make. */
static bool check_slices(const smma_instruction *i, const smma_composition *p, smma_custom_fault *fault) {
  const int most = smma_is_integer(i->d) ? SMMA_MAXIMUM_K : SMMA_MAXIMUM_ROUNDED_K,
            last = p->first_phase + p->phases - 1;
  const smma_format a = p->widen == SMMA_NO_FORMAT ? i->a : p->widen, b = p->widen == SMMA_NO_FORMAT ? i->b : p->widen;
  const int bits_a = p->block_bits_a ? p->block_bits_a : fraction_bits_of(a) + 1,
            bits_b = p->block_bits_b ? p->block_bits_b : fraction_bits_of(b) + 1;
  if (p->phases == 1 && !p->slice_a && !p->slice_b && p->zero_product == SMMA_OWN_EXPONENT) return true;
  if (p->product != SMMA_PRODUCT_MULTIPLIED) return fail(fault, "product", "xor takes no slices; allowed: multiply");
  if (i->scale_block) return fail(fault, "scale", "products of slices take no scale factors; allowed: none");
  if (p->phases > most / i->k)
    return fail(fault, "phases", "%d phases of %d products; allowed: 1 to %d", p->phases, i->k, most / i->k);
  return check_slice("slice_a", p->slice_a, last / p->slices_b, bits_a, fault) &&
         check_slice("slice_b", p->slice_b, smma_last_slice_of_b(p), bits_b, fault);
}

/* Checks that the formats' special encodings can be read as numbers. */
static bool check_numbers(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_instruction *i = &custom->instruction;
  const smma_format of[] = {i->a, i->b, i->c, i->d};
  if (custom->named.rule.nan != SMMA_NAN_NUMBERS) return true;
  if (i->scale_block) return fail(fault, "nan", "scale factors have a NaN; allowed: quiet, or no scale factors");
  for (int n = 0; n < 4; n++) switch (smma_encoding_of(of[n]).specials) {
      case SMMA_SPECIALS_IEEE:
      case SMMA_SPECIALS_ONE_NAN:
      case SMMA_SPECIALS_FINITE:
      case SMMA_SPECIALS_INTEGER: break;
      default: return fail(fault, "nan", "the NaN of %s cannot be a number; allowed: quiet", smma_format_text(of[n]));
    }
  return true;
}

/* Checks steps on fixed-point numbers, which have neither subnormals nor a leading bit. */
static bool check_integers(const smma_instruction *i, const smma_composition *p, smma_custom_fault *fault) {
  const bool kept[] = {p->subnormal_a == SMMA_SUBNORMALS_KEPT, p->subnormal_b == SMMA_SUBNORMALS_KEPT,
                       p->subnormal_c == SMMA_SUBNORMALS_KEPT};
  const smma_format of[] = {i->a, i->b, i->d};
  const char *const keys[] = {"subnormal_a", "subnormal_b", "subnormal_c"};
  for (int n = 0; n < 3; n++)
    if (smma_is_fixed_point(of[n]) && !kept[n])
      return fail(fault, keys[n], "%s has no subnormal numbers; allowed: kept", smma_format_text(of[n]));
  return true;
}

static bool check_integer_output(const smma_step *s, smma_custom_fault *fault) {
  if (!smma_is_integer(s->output)) return true;
  if (s->subnormal_outputs != SMMA_SUBNORMALS_KEPT)
    return fail(fault, "subnormal_outputs", "integers are never subnormal; allowed: kept");
  return s->narrow_bits == SMMA_NONE || fail(fault, "narrow_bits", "integers have no fraction; allowed: none");
}

/* Checks that the sums which scale factors multiply consist of consecutive products with the same scale factor. */
static bool check_scaled_step(const smma_instruction *i, const smma_composition *p, smma_custom_fault *fault) {
  if (p->scaled_step >= p->steps)
    return fail(fault, "scaled_step", "the last step's result is d; allowed: 0 to %d", p->steps - 1);
  for (int step = 0; i->scale_block && step < p->scaled_step; step++)
    if (p->step[step].join == SMMA_JOIN_CHAIN || p->step[step].turn != p->step[step].take)
      return fail(fault, "scaled_step", "step %d does not add consecutive products; allowed: 0 to %d", step + 1, step);
  if (i->scale_block && i->scale_block % (i->k / smma_composition_nodes(p, i->k, p->scaled_step)))
    return fail(fault, "scaled_step", "its sums have products of several blocks of scale factors");
  return true;
}

static bool check_step(const smma_custom *custom, int step, int count, smma_custom_fault *fault) {
  const smma_composition *p = &custom->named.rule.with.composition;
  const smma_step *s = &p->step[step];
  if (!check_step_ranges(s, fault) || !check_dealing(s, count, fault) || !check_idle(s, fault) ||
      !check_sum(s, fault) || !check_integer_output(s, fault))
    return false;
  if (!smma_has_one_nan(custom->named.rule.nan) && custom->named.rule.nan != SMMA_NAN_NUMBERS &&
      s->output != SMMA_NO_FORMAT && !check_nan_of_step(custom, step, fault))
    return false;
  return step < p->steps - 1 || check_output(&custom->instruction, s->output, fault);
}

/* Reports whether f32 lacks some numbers of a format. Scale factors do not multiply products of such numbers. */
static bool needs_f64(smma_format format) { return !smma_is_in_range_of_f32(smma_encoding_of(format)); }

/* Checks that the exact accumulator has room for the terms of exact sums. */
static bool check_room(const smma_instruction *i, const smma_composition *p, smma_custom_fault *fault) {
  smma_lack_of_room lack;
  if (smma_has_room(i, p, &lack)) return true;
  fail(fault, lack.of_terms ? "alignment_bits" : "accumulator_alignment_bits",
       "an exact sum of terms from 2^%d to 2^%d; allowed: from 2^%d to below 2^%d", lack.least, lack.most,
       SMMA_WIDE_LEAST, SMMA_WIDE_MOST);
  fault->step = lack.step;
  return false;
}

static bool check_composition(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_composition *p = &custom->named.rule.with.composition;
  const smma_instruction *i = &custom->instruction;
  int starts = 0;
  if (p->steps < 1) return fail(fault, "steps", "there are none; allowed: 1 to %d", SMMA_MAXIMUM_STEPS);
  if (i->k > SMMA_MAXIMUM_ROUNDED_K && !smma_is_integer(i->d))
    return fail(fault, "k", "%d products to d in %s; allowed: 1 to %d, or more where d is s32", i->k,
                smma_format_text(i->d), SMMA_MAXIMUM_ROUNDED_K);
  if (!check_product(i, p->product, fault) || !check_integers(i, p, fault) || !check_blocks(i, p, fault) ||
      !check_slices(i, p, fault) || !check_numbers(custom, fault))
    return false;
  if (i->scale_block && (needs_f64(i->a) || needs_f64(i->b)))
    return fail(fault, "scale", "products of %s take no scale factors; allowed: none",
                smma_format_text(needs_f64(i->a) ? i->a : i->b));
  for (int step = 0; step < p->steps; step++) {
    const bool fits = check_step(custom, step, smma_composition_nodes(p, i->k, step), fault);
    fault->step = step;
    if (!fits) return false;
    starts += p->step[step].start == SMMA_START_C;
  }
  fault->step = -1;
  if (smma_composition_nodes(p, i->k, p->steps) != 1)
    return fail(fault, "steps", "%d sums are left after the last one; it must leave 1",
                smma_composition_nodes(p, i->k, p->steps));
  if (starts != 1) return fail(fault, "steps", "c starts %d chains; allowed: one, by \"start\": \"c\"", starts);
  return check_scaled_step(i, p, fault) && check_room(i, p, fault);
}

/* Checks C-FDPA and GD-FDPA: NaN policy, overflow, block and output; groups must divide a block (GD-FDPA), and the
   stride must divide the number of blocks. */
static bool check_opposing(const smma_instruction *i, const smma_rule *rule, smma_custom_fault *fault) {
  const smma_c_fdpa *p = &rule->with.c_fdpa;
  const int block = smma_minimum(p->block, i->k);
  if (!smma_has_one_nan(rule->nan) && !smma_marks_nan(rule->nan))
    return fail(fault, "nan", "%s does not keep operands' NaN; allowed: all-ones, quiet, default, by-source, marked",
                smma_model_name(rule));
  if (p->overflow == SMMA_SUM_BY_DIRECTION)
    return fail(fault, "overflow", "%s rounds to nearest; allowed: infinity, saturate", smma_model_name(rule));
  return check_block(i, p->block, fault) && check_output(i, p->output, fault) &&
         (rule->algorithm == SMMA_C_FDPA || p->group >= block ||
          divides(fault, "group", p->group, "block", block, any_divisor)) &&
         (p->stride == 1 || divides(fault, "stride", p->stride, "k / block", i->k / block, any_divisor));
}

/* Checks that K is a multiple of 16, because two stages take groups of eight products in turn. */
static bool check_two_stages(const smma_instruction *i, smma_custom_fault *fault) {
  return i->k % 16 == 0 || fail(fault, "k", "%d is no multiple of 16, of which two stages take eights in turn", i->k);
}

/* Checks the block and the output, if the algorithm has such parameters. */
static bool check_block_and_output(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_key *block = smma_find_key(custom->named.rule.algorithm, "block", strlen("block")),
                 *output = smma_find_key(custom->named.rule.algorithm, "output", strlen("output"));
  return (!block || check_block(&custom->instruction, smma_custom_get(custom, block), fault)) &&
         (!output || check_output(&custom->instruction, (smma_format)smma_custom_get(custom, output), fault));
}

/* Checks parameters that depend on each other, or on the formats. */
static bool check_algorithm(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_instruction *i = &custom->instruction;
  const smma_rule *rule = &custom->named.rule;
  const smma_tr_fdpa *tr = &rule->with.tr_fdpa;
  switch (rule->algorithm) {
    case SMMA_FP8_BY_FP16:
      return check_fp8_by_fp16(i, &rule->with.t_fdpa, fault) && check_output(i, rule->with.t_fdpa.output, fault);
    case SMMA_GST_FDPA: return check_gst(i, &rule->with.gst_fdpa, fault);
    case SMMA_FTZ_ADDMUL:
      if (rule->with.ftz_addmul.pairwise == 3)
        return fail(fault, "pairwise", "3 products make no pairs; allowed: 2, 4");
      return divides(fault, "pairwise", rule->with.ftz_addmul.pairwise, "k", i->k, (allowed_divisors){2, 4, 2});
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
      if (tr->sum_bits < tr->alignment_bits)
        return fail(fault, "sum_bits", "%d is less than alignment_bits; allowed: %d to 40", tr->sum_bits,
                    tr->alignment_bits);
      return check_block(i, tr->block, fault);
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: return check_opposing(i, rule, fault);
    case SMMA_COMPOSITION: return check_composition(custom, fault);
    case SMMA_FMA: return smma_has_one_nan(rule->nan) || check_operand_nan(custom, "d", i->d, fault);
    case SMMA_INTEGER:
      return check_product(i, rule->with.integer.product, fault) &&
             (!rule->with.integer.two_stages || check_two_stages(i, fault));
    default: return check_block_and_output(custom, fault);
  }
}

static bool check_name(const char *name, smma_custom_fault *fault) {
  const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (name && *name && strlen(name) <= 100 && strspn(name, letters) == strlen(name)) return true;
  return fail(fault, "name", "no name; allowed: 1 to 100 letters, digits, '.', '_' and '-'");
}

static bool check_scale_block(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_instruction *i = &custom->instruction;
  const smma_key *key = smma_find_key(custom->named.rule.algorithm, "scale_block", strlen("scale_block"));
  return i->scale_block == 0 ||
         divides(fault, "scale_block", i->scale_block, "k", i->k, (allowed_divisors){key->least, key->most, 1});
}

bool smma_custom_check(const smma_custom *custom, smma_custom_fault *fault) {
  const smma_instruction *i = &custom->instruction;
  if (!check_name(i->name, fault) || !check_scales(custom, fault) || !check_ranges(custom, fault) ||
      !check_scale_block(custom, fault))
    return false;
  return check_c(i, fault) && check_nan(custom, fault) && check_algorithm(custom, fault);
}
