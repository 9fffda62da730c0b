#include "equal/equal.h"

#include <stdio.h>
#include <string.h>

#include "equal/product.h"
#include "isa/catalogue.h"
#include "isa/compose.h"
#include "isa/formats.h"
#include "isa/key.h"

static int common_multiple(int x, int y) {
  int multiple = x;
  while (multiple % y) multiple += x;
  return multiple;
}

static bool have_same_operands(const smma_instruction *x, const smma_instruction *y) {
  return x->a == y->a && x->b == y->b;
}

/* ---- Proof ---- */

/* Reports whether the number of every operand has the same exponent in both formats, so that a rule cannot tell them
   apart. The exponents of numbers below a format's least normal number differ if the least exponents do. */
static bool have_same_exponents(smma_format x, smma_format y, smma_algorithm algorithm) {
  if (x == y) return true;
  if (smma_is_fixed_point(x) || smma_is_fixed_point(y))
    return algorithm == SMMA_INTEGER && smma_is_integer(x) && smma_is_integer(y);
  return smma_minimum_exponent(smma_encoding_of(x)) == smma_minimum_exponent(smma_encoding_of(y));
}

/* Reports whether a form ignores the exponents that operands bring: products are normalised or never truncated, and
   subnormal operands are kept. */
static bool ignores_exponents(const smma_form *f) {
  const smma_g_fdpa *g = &f->chain;
  return f->is_chain && g->subnormal_inputs == SMMA_SUBNORMALS_KEPT &&
         (g->alignment_bits == SMMA_EXACT_ALIGNMENT || g->product_exponent == SMMA_EXPONENT_NORMALIZED);
}

/* Reports whether an operand's exponent in the other format is at most that in the format of the vectors. */
static bool has_no_greater_exponents(smma_format of, smma_format other) {
  return !smma_is_fixed_point(of) && !smma_is_fixed_point(other) &&
         smma_minimum_exponent(smma_encoding_of(of)) >= smma_minimum_exponent(smma_encoding_of(other));
}

/* Reports whether products of the common operands are equal if those of instructions with the narrower formats are. */
static bool may_narrow(const smma_instruction *x, const smma_instruction *y, const smma_form *form) {
  const smma_common_operands c = smma_common_operands_of((const smma_instruction *const[]){x, y});
  const smma_algorithm algorithm = x->rule->rule.algorithm;
  if (have_same_exponents(x->a, y->a, algorithm) && have_same_exponents(x->b, y->b, algorithm)) return true;
  return ignores_exponents(form) && has_no_greater_exponents(c.of[0], c.other[0]) &&
         has_no_greater_exponents(c.of[1], c.other[1]);
}

/* Returns the instruction with the narrower of both instructions' formats of A and B. */
static smma_instruction narrowed(const smma_instruction *i, const smma_instruction *x, const smma_instruction *y) {
  const smma_common_operands common = smma_common_operands_of((const smma_instruction *const[]){x, y});
  smma_instruction narrow = *i;
  narrow.a = common.of[0], narrow.b = common.of[1];
  return narrow;
}

bool smma_prove_equal(const smma_instruction *given_x, const smma_instruction *given_y, int *multiple) {
  const smma_instruction narrow_x = narrowed(given_x, given_x, given_y), narrow_y = narrowed(given_y, given_x, given_y);
  const smma_instruction *x = &narrow_x, *y = &narrow_y;
  const smma_operation of_x = smma_operation_of(x), of_y = smma_operation_of(y);
  const smma_form form_x = smma_form_of(&of_x), form_y = smma_form_of(&of_y);
  const bool zeros = smma_zeros_add_nothing(&of_x) && smma_zeros_add_nothing(&of_y);
  const bool same_operands = have_same_operands(given_x, given_y);
  *multiple = x->k == y->k || zeros ? 1 : common_multiple(x->k, y->k);
  return smma_same_form(&form_x, &form_y) &&
         (same_operands ? smma_same_nan(of_x.rule.nan, of_y.rule.nan) : may_narrow(given_x, given_y, &form_x));
}

/* ---- Reasons ---- */

#define ADD(...) smma_append_text(text, size, __VA_ARGS__)

/* Returns the value of a rule's parameter as text, or NULL. */
static const char *parameter(const smma_rule *r, const char *query, char value[SMMA_PARAMETER_SIZE]) {
  const char *name;
  for (int p = 0; smma_parameter(r, p, &name, value, SMMA_PARAMETER_SIZE); p++)
    if (strcmp(name, query) == 0) return value;
  return NULL;
}

static void write_value(const smma_key *key, int value, char text[SMMA_PARAMETER_SIZE]) {
  if (key->kind == SMMA_KEY_ROUNDING)
    snprintf(text, SMMA_PARAMETER_SIZE, "%s", smma_rounding_name((smma_rounding)value));
  else if (key->kind == SMMA_KEY_FLAG)
    snprintf(text, SMMA_PARAMETER_SIZE, "%d", value);
  else
    smma_key_value(key, value, text, SMMA_PARAMETER_SIZE);
}

/* Writes how the last step of an instruction's floating-point sum overflows. Returns false for sums of integers. */
static bool find_overflow(const smma_instruction *instruction, char text[SMMA_PARAMETER_SIZE]) {
  const smma_operation o = smma_operation_of(instruction);
  smma_composition p;
  if (o.rule.algorithm == SMMA_INTEGER || !smma_compose(&o, &p)) return false;
  for (const smma_key *key = NULL; (key = smma_next_key(SMMA_KEYS_OF_G_FDPA, key));) {
    if (!key->symbol || strcmp(key->symbol, "overflow") != 0) continue;
    write_value(key, (int)p.step[p.steps - 1].overflow, text);
    return true;
  }
  return false;
}

/* Writes the value of a parameter that the description of `instruction` omits because it is the default. If the
   other instruction has another algorithm, only `overflow` has the same meaning in both; otherwise returns false. */
static bool find_omitted_value(const smma_instruction *instruction, const smma_instruction *with, const char *name,
                               char text[SMMA_PARAMETER_SIZE]) {
  const smma_rule *rule = &instruction->rule->rule, *other = &with->rule->rule;
  smma_g_fdpa g, of_other;
  const smma_key_values keys = smma_key_values_of(rule, &g);
  if (keys.algorithm != smma_key_values_of(other, &of_other).algorithm)
    return other->algorithm != SMMA_INTEGER && strcmp(name, "overflow") == 0 && find_overflow(instruction, text);
  for (const smma_key *key = NULL; (key = smma_next_key(keys.algorithm, key));) {
    if (!key->symbol || strcmp(key->symbol, name) != 0) continue;
    write_value(key, smma_value_of_key(&keys, key), text);
    return true;
  }
  return false;
}

/* Appends the parameters in which two chains of fused sums differ, although their rules are written in other
   parameters: T-FDPA and G-FDPA. Returns false if one rule is no such chain, or both are written alike. */
static bool add_differences_of_chains(const smma_instruction *x, const smma_instruction *y, char *text, size_t size) {
  const smma_operation of_x = smma_operation_of(x), of_y = smma_operation_of(y);
  const smma_form form_x = smma_form_of(&of_x), form_y = smma_form_of(&of_y);
  const char *comma = "";
  char one[SMMA_PARAMETER_SIZE], other[SMMA_PARAMETER_SIZE];
  const bool mixed = (of_x.rule.algorithm == SMMA_COMPOSITION) != (of_y.rule.algorithm == SMMA_COMPOSITION);
  if (!form_x.is_chain || !form_y.is_chain || !mixed) return false;
  for (const smma_key *key = NULL; (key = smma_next_key(SMMA_KEYS_OF_G_FDPA, key));) {
    const int value_x = key->of_chain ? smma_key_of_chain(&form_x.chain, key) : 0;
    const int value_y = key->of_chain ? smma_key_of_chain(&form_y.chain, key) : 0;
    if (value_x == value_y) continue;
    write_value(key, value_x, one), write_value(key, value_y, other);
    ADD("%s%s (%s and %s)", comma, key->symbol ? key->symbol : key->key, one, other);
    comma = ", ";
  }
  return *comma;
}

static bool has_item(const char *list, const char *item, size_t length) {
  for (; *list; list += strcspn(list, ","), list += *list == ',')
    if (strcspn(list, ",") == length && strncmp(list, item, length) == 0) return true;
  return false;
}

/* Removes the items of a list "key:value,key:value" that another list has, too. If all are removed, the text becomes
   "default", because the keys that a step does not list have their defaults. */
static void remove_items(char list[SMMA_PARAMETER_SIZE], const char *other) {
  char *end = list;
  size_t length;
  for (const char *item = list, *next; *item; item = next) {
    length = strcspn(item, ",");
    next = item + length + (item[length] == ',');
    if (has_item(other, item, length)) continue;
    if (end > list) *end++ = ',';
    memmove(end, item, length);
    end += length;
  }
  snprintf(end, (size_t)(list + SMMA_PARAMETER_SIZE - end), "%s", end == list ? "default" : "");
}

/* Reduces the descriptions of two steps to the keys in which the steps differ. */
static void remove_shared_items(char one[SMMA_PARAMETER_SIZE], char other[SMMA_PARAMETER_SIZE]) {
  char whole[SMMA_PARAMETER_SIZE];
  snprintf(whole, sizeof whole, "%s", one);
  remove_items(one, other);
  remove_items(other, whole);
}

bool smma_add_differences(const smma_instruction *x, const smma_instruction *y, char *text, size_t size) {
  const smma_rule *of_x = &x->rule->rule, *of_y = &y->rule->rule;
  const char *name, *comma = "";
  char one[SMMA_PARAMETER_SIZE], other[SMMA_PARAMETER_SIZE];
  const bool chains = add_differences_of_chains(x, y, text, size);
  if (chains) comma = ", ";
  if (!chains && of_x->algorithm != of_y->algorithm) {
    ADD("the algorithm (%s and %s)", smma_model_name(of_x), smma_model_name(of_y));
    comma = ", ";
  }
  for (int p = 0; !chains && smma_parameter(of_x, p, &name, one, sizeof one); p++) {
    if (!parameter(of_y, name, other) && !find_omitted_value(y, x, name, other)) continue;
    if (strcmp(one, other) == 0) continue;
    if (strncmp(name, "step", 4) == 0) remove_shared_items(one, other);
    ADD("%s%s (%s and %s)", comma, name, one, other);
    comma = ", ";
  }
  for (int p = 0; !chains && smma_parameter(of_y, p, &name, other, sizeof other); p++) {
    if (parameter(of_x, name, one) || !find_omitted_value(x, y, name, one)) continue;
    if (strcmp(one, other) == 0) continue;
    ADD("%s%s (%s and %s)", comma, name, one, other);
    comma = ", ";
  }
  if (!*comma && !smma_same_nan(of_x->nan, of_y->nan)) {
    ADD("NaN");
    comma = ", ";
  }
  if (x->k != y->k) {
    ADD("%sK of one instruction (%d and %d)", comma, x->k, y->k);
    comma = ", ";
  }
  return *comma;
}

/* Adds to the text what both instructions do, in the form that they share. */
static void add_form(const smma_operation *o, const smma_form *form, char *text, size_t size) {
  const smma_rule *r = &form->rule;
  if (form->is_chain && form->chained && form->step == 1) {
    ADD("both add one product after the other in order of k, each by the same rule");
    return;
  }
  if (form->is_chain && form->chained) {
    ADD("both are one chain over k, %d products and the sum before them at a time, by the same rule", form->step);
    return;
  }
  switch (r->algorithm) {
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
      ADD("both are one chain over k, %d products and the sum before them at a time, by the same rule", form->step);
      return;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA:
      if (!form->chained) break;
      ADD("both are one chain over k, %d products and the sum before them at a time, by the same rule", form->step);
      return;
    case SMMA_FTZ_ADDMUL:
      ADD("both add %d products, then the sum before them, by the same rule", r->with.ftz_addmul.pairwise);
      if (form->chained) ADD("; no sum in between is -0, which the next instruction would read as +0");
      return;
    case SMMA_INTEGER:
      if (r->with.integer.overflow == SMMA_INTEGER_WRAPS)
        ADD("both add integers exactly modulo 2^32, where neither order nor steps count");
      else if (form->chained)
        ADD("no product is negative: sums only grow, and clamped once or at every step they end alike");
      else
        ADD("both add the sum before and %d products exactly, then clamp", smma_block_of(o));
      return;
    default: break;
  }
  ADD("both compute every %d products by the same rule", form->step);
}

static void add_idle(const smma_instruction *x, const smma_instruction *y, char *text, size_t size) {
  const smma_operation o[2] = {smma_operation_of(x), smma_operation_of(y)};
  const smma_form form[2] = {smma_form_of(&o[0]), smma_form_of(&o[1])};
  const int last_product = smma_last_bit_of_products(&o[0]), last_sum = smma_last_bit_of_sums(&o[0]);
  const int last = last_product < last_sum ? last_product : last_sum;
  char one[SMMA_PARAMETER_SIZE], other[SMMA_PARAMETER_SIZE];
  if (form[0].exact || form[1].exact) ADD(". F truncates nothing with these formats");
  if (!parameter(&x->rule->rule, "e_zero", one) || !parameter(&y->rule->rule, "e_zero", other) ||
      strcmp(one, other) == 0 || form[0].exact)
    return;
  if (form[0].zero_without_bits && form[1].zero_without_bits)
    ADD(". e_zero, %s and %s, has no effect: no term has a bit below 2^%d, the last bit that a zero would leave", one,
        other, last);
  else
    ADD(". e_zero, %s and %s, has no effect: no other term has so small an exponent", one, other);
}

/* Appends the formats of A and B of both instructions: "e4m3 and f16". */
static void add_inputs(const smma_instruction *x, const smma_instruction *y, char *text, size_t size) {
  char one[SMMA_INPUTS_TEXT_SIZE], other[SMMA_INPUTS_TEXT_SIZE];
  ADD("%s and %s", smma_inputs_text(x, one), smma_inputs_text(y, other));
}

static void explain_proof(const smma_instruction *given_x, const smma_instruction *given_y, smma_equality *e) {
  const smma_instruction narrow_x = narrowed(given_x, given_x, given_y), narrow_y = narrowed(given_y, given_x, given_y);
  const smma_instruction *x = &narrow_x, *y = &narrow_y;
  const smma_operation o = smma_operation_of(x);
  const smma_form form = smma_form_of(&o);
  char *text = e->why;
  const size_t size = sizeof e->why;
  add_form(&o, &form, text, size);
  if (x->k != y->k && form.step > 1) ADD(", whether an instruction has K = %d or %d", x->k, y->k);
  add_idle(x, y, text, size);
  if (!have_same_operands(given_x, given_y)) {
    ADD(". Operands are the numbers that both formats hold, ");
    add_inputs(given_x, given_y, text, size);
    if (!smma_is_integer(x->d)) ADD("; which NaN a unit returns does not count");
    return;
  }
  if (x->rule->rule.nan == SMMA_NAN_QUIET || y->rule->rule.nan == SMMA_NAN_QUIET)
    if (!smma_is_integer(x->d)) ADD(". Which NaN a unit returns is not known and does not count");
}

/* ---- Search ---- */

/* Searches vectors of this K; each product is filled up with zeros to its tile. */
static bool search(const smma_instruction *const target[2], int k, const int tile[2], uint64_t rows, uint64_t seed,
                   smma_witness *witness, smma_error *error) {
  smma_product_unit product[2];
  smma_instruction as;
  const bool any_c = smma_product_rows(target, k, tile, &as);
  const smma_common_operands common = smma_common_operands_of(target);
  smma_search s = {.unit = {&product[0].unit, &product[1].unit},
                   .as = &as,
                   .common = &common,
                   .rule = {&target[0]->rule->rule, &target[1]->rule->rule},
                   .without_c = !any_c,
                   .rows = rows,
                   .seed = seed};
  bool done;
  if (!smma_product_open(&product[0], target[0], &as, tile[0], &common, error)) return false;
  if (!smma_product_open(&product[1], target[1], &as, tile[1], &common, error)) {
    smma_product_close(&product[0]);
    return false;
  }
  done = smma_find_witness(&s, witness, error);
  smma_product_close(&product[0]);
  smma_product_close(&product[1]);
  return done;
}

/* Fails if the products cannot be compared: C, D or the scale factors have different formats, or one product counts
   bits and the other does not. */
static bool same_formats(const smma_instruction *x, const smma_instruction *y, smma_error *error) {
  const struct {
    const char *name;
    smma_format x, y;
  } part[] = {{"C", x->c, y->c}, {"D", x->d, y->d}};
  for (int p = 0; p < 2; p++)
    if (part[p].x != part[p].y)
      return smma_fail(error, "%s and %s are no functions of the same operands: %s is %s and %s", x->name, y->name,
                       part[p].name, smma_format_text(part[p].x), smma_format_text(part[p].y));
  if (x->scale_block != y->scale_block || (x->scale_block && x->scale != y->scale))
    return smma_fail(error, "%s and %s are no functions of the same operands: their scale factors differ", x->name,
                     y->name);
  return true;
}

/* Searches for a vector with different results: first with a K that is a multiple of both instructions' K, then with
   the smaller K, which the other instruction fills up with zeros. */
static bool search_both(const smma_instruction *const t[2], uint64_t rows, uint64_t seed, smma_equality *e,
                        smma_error *error) {
  const int tile[2] = {t[0]->k, t[1]->k}, least = tile[0] < tile[1] ? tile[0] : tile[1];
  const int common = common_multiple(tile[0], tile[1]);
  smma_witness filled;
  if (common <= SMMA_MAXIMUM_K && !search(t, common, tile, rows, seed, &e->witness, error)) return false;
  if (e->witness.found || tile[0] == tile[1]) return true;
  if (!search(t, least, tile, rows, seed, &filled, error)) return false;
  filled.rows += e->witness.rows;
  e->witness = filled;
  return true;
}

/* Appends what differs between the instructions: the formats of A and B, and the parameters of the rules. If these are
   the same, only the NaN that the units return differs. */
static void add_reasons(const smma_instruction *x, const smma_instruction *y, char *text, size_t size) {
  const bool same = have_same_operands(x, y);
  char others[600] = "";
  if (!smma_add_differences(x, y, others, sizeof others) && same) snprintf(others, sizeof others, "NaN");
  if (!same) {
    ADD("the formats of A and B (");
    add_inputs(x, y, text, size);
    ADD(")%s", *others ? ", " : "");
  }
  ADD("%s", others);
}

bool smma_find_equality(const smma_instruction *x, const smma_instruction *y, uint64_t rows, uint64_t seed,
                        smma_equality *e, smma_error *error) {
  const smma_instruction *const target[2] = {x, y};
  const int tile[2] = {x->k, y->k}, least = x->k < y->k ? x->k : y->k;
  *e = (smma_equality){.answer = SMMA_CANNOT_TELL};
  if (!same_formats(x, y, error)) return false;
  if (smma_prove_equal(x, y, &e->multiple)) {
    e->answer = SMMA_PROVED;
    explain_proof(x, y, e);
    return e->multiple == 1 || search(target, least, tile, rows, seed, &e->filled, error);
  }
  if (!search_both(target, rows, seed, e, error)) return false;
  add_reasons(x, y, e->why, sizeof e->why);
  if (e->witness.found) e->answer = SMMA_REFUTED;
  return true;
}

/* ---- The order of k ---- */

/* Two groups of `group` indices k each, number `first` and number `second`, to exchange. Groups that share scale
   factors move as a whole; if one group contains several sums, products within it are exchanged as well. */
typedef struct {
  int group, first, second;
} exchange;

static int exchanges_of(const smma_operation *o, int k, exchange *x) {
  const smma_form form = smma_form_of(o);
  const int group = o->scale_block ? o->scale_block : 1, groups = k / group, block = form.block;
  const exchange all[] = {{group, 0, groups - 1}, {1, 0, block % k}, {group, 0, 1 % groups},
                          {group, 0, 2 % groups}, {1, 0, k / 2},     {1, 0, 16 % k}};
  int count = 0;
  for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
    const bool within = all[n].group == group || all[n].second < group;
    if (within && all[n].first != all[n].second) x[count++] = all[n];
  }
  return count;
}

static bool search_exchanged(const smma_instruction *i, int k, exchange x, uint64_t rows, uint64_t seed,
                             smma_witness *witness, smma_error *error) {
  const smma_instruction *const target[2] = {i, i};
  const int tile[2] = {i->k, i->k};
  smma_product_unit product;
  smma_exchanged_unit exchanged;
  smma_instruction as;
  const bool any_c = smma_product_rows(target, k, tile, &as);
  const smma_common_operands common = smma_common_operands_of(target);
  const smma_search s = {.unit = {&product.unit, &exchanged.unit},
                         .as = &as,
                         .rule = {&i->rule->rule, &i->rule->rule},
                         .without_c = !any_c,
                         .rows = rows,
                         .seed = seed};
  bool done;
  if (!smma_product_open(&product, i, &as, i->k, &common, error)) return false;
  smma_exchanged_open(&exchanged, &product.unit, x.group, x.first, x.second);
  done = smma_find_witness(&s, witness, error);
  smma_product_close(&product);
  return done;
}

static bool find_order(const smma_instruction *i, uint64_t rows, uint64_t seed, smma_freedom *f, smma_error *error) {
  const smma_operation o = smma_operation_of(i);
  const int k = 2 * i->k <= SMMA_MAXIMUM_ROUNDED_K ? 2 * i->k : i->k;
  smma_equality *e = &f->order;
  exchange x[8];
  int count = exchanges_of(&o, k, x);
  uint64_t asked = 0;
  if (smma_any_order(&o)) {
    const bool wraps = o.rule.with.integer.overflow == SMMA_INTEGER_WRAPS;
    e->answer = SMMA_PROVED;
    e->multiple = 1;
    snprintf(e->why, sizeof e->why, "%s",
             wraps ? "integers are added exactly modulo 2^32"
                   : "no product is negative: sums only grow, and end alike wherever they are clamped");
    return true;
  }
  for (int n = 0; n < count && !e->witness.found; n++) {
    if (!search_exchanged(i, k, x[n], rows / (uint64_t)count + 1, seed, &e->witness, error)) return false;
    f->exchanged[0] = x[n].first * x[n].group;
    f->exchanged[1] = x[n].second * x[n].group;
    asked += e->witness.rows;
  }
  e->witness.rows = asked;
  if (e->witness.found) e->answer = SMMA_REFUTED;
  return true;
}

/* Writes which k of a fused sum of `block` products may change places. Products of several scale blocks have different
   factors. */
static void tell_fused(const smma_operation *o, int block, char *text, size_t size) {
  if (o->scale_block && o->scale_block < block)
    ADD("the %d products of each scale block, and scale blocks of one fused sum with their factors", o->scale_block);
  else if (block > 1)
    ADD("the %d products of each fused sum, which has no order", block);
}

/* Writes which k may change places. A sum of aligned or exact terms has no order. In a chain of rounded additions, only
   the two terms of one addition may change places. */
static void tell_within(const smma_operation *o, const smma_form *form, char *text, size_t size) {
  const int block = form->block;
  if (o->rule.nan == SMMA_NAN_OPERAND || o->rule.nan == SMMA_NAN_B_SUM_A)
    return; /* the order decides which NaN is returned */
  if (form->is_chain) {
    tell_fused(o, block, text, size);
    return;
  }
  switch (o->rule.algorithm) {
    case SMMA_TR_FDPA:
    case SMMA_FP8_BY_FP16:
    case SMMA_C_FDPA: tell_fused(o, block, text, size); return;
    case SMMA_GD_FDPA:
      ADD("the %d products of each group, and the groups of each %d products, which a sum joins",
          smma_minimum(o->rule.with.c_fdpa.group, block), block);
      return;
    case SMMA_GTR_FDPA: ADD("even k among themselves and odd k among themselves, of each %d", block); return;
    case SMMA_GST_FDPA:
      ADD("the %d products of each group, and groups of one instruction with their scale factors",
          o->rule.with.gst_fdpa.group);
      return;
    case SMMA_FTZ_ADDMUL: ADD("the two products that are added first, of which addition has no order"); return;
    case SMMA_INTEGER: ADD("the %d products of one sum, which is exact", block); return;
    default: return;
  }
}

static void tell_tile(const smma_instruction *i, const smma_form *form, char *text, size_t size) {
  ADD("tiles of K do not matter: instructions pass the sum on, so every multiple of K = %d is the same chain", i->k);
  if (!form->chained)
    ADD("; an instruction with another K would be another function");
  else if (form->step == 1)
    ADD("; nor does K of the instruction");
  else
    ADD("; nor does K of the instruction, as long as it is a multiple of %d", form->step);
}

bool smma_find_freedom(const smma_instruction *i, uint64_t rows, uint64_t seed, smma_freedom *f, smma_error *error) {
  const smma_operation o = smma_operation_of(i);
  const smma_form form = smma_form_of(&o);
  const smma_instruction *const target[2] = {i, i};
  const int tile[2] = {i->k, 2 * i->k};
  *f = (smma_freedom){.order = {.answer = SMMA_CANNOT_TELL}, .filled = {.answer = SMMA_CANNOT_TELL}};
  if (!find_order(i, rows, seed, f, error)) return false;
  if (f->order.answer != SMMA_PROVED) tell_within(&o, &form, f->within, sizeof f->within);
  tell_tile(i, &form, f->tile, sizeof f->tile);
  if (smma_zeros_add_nothing(&o)) {
    f->filled.answer = SMMA_PROVED;
    f->filled.multiple = 1;
    return true;
  }
  if (!search(target, i->k, tile, rows, seed, &f->filled.witness, error)) return false;
  if (f->filled.witness.found) f->filled.answer = SMMA_REFUTED;
  return true;
}
