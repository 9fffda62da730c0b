/* Probes find the parameters that the rules state, for every operation of the catalogue and for custom units with
   random parameters, or report that they cannot. SOFTMMA_CUSTOM_UNITS sets the number of custom units. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "probe/elsewhere.h"
#include "probe/probe.h"
#include "random_unit.h"
#include "rows/check.h"
#include "support.h"

enum { REPEATED_ROWS = 256 };

static smma_unit model;

static const char *rounding_name(smma_rounding r) {
  switch (r) {
    case SMMA_ROUND_TOWARD_ZERO: return "toward zero";
    case SMMA_ROUND_DOWN: return "down";
    case SMMA_ROUND_UP: return "up";
    case SMMA_ROUND_NEAREST_AWAY: return "to nearest, ties away";
    case SMMA_ROUND_TO_ODD: return "to odd";
    default: return "to nearest, ties to even";
  }
}

/* The features of an instruction's rule, in the words of the probes; NULL or -1 if the rule does not have the feature.
 */
typedef struct {
  int products; /* products that are added at once */
  bool fused_products, exact;
  const char *c_joins;
  bool loses_products; /* some slices of factors are not multiplied */
  int group, every; /* groups of `group` products, at a distance of `every`, are added before the rest of the block; 0:
                       there are no such groups */
  int alignment_bits, output_bits;
  const char *alignment, *alignment_c, *output, *c_rounding, *product_rounding;
  const char *subnormals, *subnormal_results, *normalised;
  const char *subnormals_b, *subnormals_c; /* NULL: as subnormals of a */
  int zero_exponent;
} expectation;

static expectation of_fused(const smma_operation *o, const smma_t_fdpa *p) {
  return (expectation){.products = smma_block_of(o),
                       .c_joins = "with the first products",
                       .alignment_bits = p->alignment_bits,
                       .output_bits = smma_encoding_of(p->output).fraction_bits,
                       .alignment = "toward zero",
                       .alignment_c = "toward zero",
                       .output = rounding_name(p->rounding),
                       .subnormals = "retained",
                       .subnormal_results = "retained",
                       .normalised = "not normalised",
                       .zero_exponent = p->zero_exponent};
}

static expectation of_general(const smma_operation *o, const smma_g_fdpa *p) {
  const int block = p->block;
  const bool exact = p->alignment_bits == SMMA_EXACT_ALIGNMENT;
  /* Blocks of one product: the first product is added to +0, then the second to the result. */
  const bool pair = block == 1 && o->k > 1 && p->c_joins == SMMA_C_JOINS_LAST;
  /* With one product, only its sum with c can be observed. */
  const bool one_sum = o->k == 1 && p->c_joins == SMMA_C_JOINS_LAST;
  return (expectation){
      .products = pair ? 2 : block,
      .fused_products = !pair,
      .exact = exact,
      .c_joins = p->c_joins == SMMA_C_JOINS_FIRST ? "with the first products" : "after all products",
      .c_rounding = p->c_joins == SMMA_C_JOINS_FIRST ? NULL : rounding_name(p->c_rounding),
      .alignment_bits = exact || one_sum ? -1 : p->alignment_bits + p->sticky_bit,
      .output_bits = smma_encoding_of(one_sum ? o->d : p->output).fraction_bits,
      .alignment = exact           ? NULL
                   : p->sticky_bit ? "to odd"
                                   : rounding_name(p->alignment_rounding),
      .alignment_c = exact           ? NULL
                     : p->sticky_bit ? "to odd"
                                     : rounding_name(p->alignment_rounding),
      .output = rounding_name(one_sum ? p->c_rounding : p->rounding),
      .subnormals = p->subnormal_inputs == SMMA_SUBNORMALS_KEPT ? "retained" : "flushed to zero",
      .subnormal_results = p->subnormal_outputs == SMMA_SUBNORMALS_KEPT ? "retained" : "flushed to zero",
      .normalised = p->product_exponent == SMMA_EXPONENT_NORMALIZED ? "normalised" : "not normalised",
      .zero_exponent = p->zero_exponent};
}

/* Returns the features of Arm's sums of pairs. For two terms, rounding to odd cannot be distinguished from truncation;
   for three terms, where c is added, it can. */
static expectation of_pairs(const smma_operation *o) {
  const char *even = "to nearest, ties to even";
  smma_pairs pairs;
  expectation e = {.products = 2,
                   .c_joins = o->k > 2 ? "after the first products" : "after all products",
                   .alignment_bits = -1,
                   .output_bits = smma_encoding_of(o->d).fraction_bits,
                   .subnormals = "retained",
                   .subnormal_results = "retained",
                   .normalised = "not normalised"};
  assert_true(smma_is_sum_of_pairs(&o->rule.with.composition, &pairs));
  if (pairs.subnormals != SMMA_SUBNORMALS_KEPT) e.subnormals = e.subnormal_results = "flushed to zero";
  e.c_rounding = pairs.rounding == SMMA_ROUND_TO_ODD ? "to odd" : even;
  if (pairs.rounding == SMMA_ROUND_NEAREST_EVEN) e.output = even;
  if (!pairs.fused) e.product_rounding = e.output;
  e.fused_products = pairs.fused;
  return e;
}

/* Returns the features of AMX's chains, whose first sum consists of two products in a chain. */
static expectation of_chains(const smma_operation *o, smma_subnormal_policy of_factors) {
  return (expectation){.products = 2,
                       .c_joins = "after all products",
                       .c_rounding = "to nearest, ties to even",
                       .alignment_bits = -1,
                       .output_bits = smma_encoding_of(o->d).fraction_bits,
                       .subnormals = of_factors == SMMA_SUBNORMALS_KEPT ? "retained" : "flushed to zero",
                       .subnormals_c = "flushed to zero",
                       .subnormal_results = "flushed to zero",
                       .normalised = "not normalised"};
}

/* Returns the features of Tenstorrent's products of slices: two groups of products are aligned by themselves, then
   together with c. Some bits of long significands are in no slice. */
static expectation of_slices(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  const smma_step *first = p->step, *last = p->step + 1;
  return (expectation){.products = first->take * last->take,
                       .group = first->take,
                       .every = 1,
                       .c_joins = "with the first products",
                       .loses_products = true,
                       .alignment_bits = last->accumulator.bits - last->accumulator.again,
                       .alignment = rounding_name(first->term.rounding),
                       .alignment_c = rounding_name(last->accumulator.rounding),
                       .output_bits = smma_encoding_of(o->d).fraction_bits,
                       .output = rounding_name(last->narrow_rounding),
                       .subnormals = "flushed to zero",
                       .subnormal_results = "flushed to zero",
                       .normalised = "not normalised",
                       .zero_exponent = SMMA_NO_EXPONENT};
}

/* Returns the features of other compositions of the catalogue, which add groups of products, then c. A fixed reference
   retains all bits of products. */
static expectation of_steps(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  const smma_step *first = p->step, *last = p->step + p->steps - 1;
  const int products = first->take;
  const bool fixed = first->reference != SMMA_NONE, aligned = first->term.bits != SMMA_EXACT_ALIGNMENT && !fixed;
  const char *rounding = rounding_name(last->rounding);
  return (expectation){
      .products = products,
      .exact = fixed,
      .c_joins = products == 1 ? "with the first products" : "after all products",
      .c_rounding = products == 1 ? NULL : rounding,
      .product_rounding = products == 1 ? rounding : NULL,
      .alignment_bits = aligned ? first->term.bits : -1,
      .alignment = aligned ? rounding_name(first->term.rounding) : NULL,
      .output_bits = smma_encoding_of(o->d).fraction_bits,
      .output = products == 2 ? NULL : rounding,
      .subnormals = p->subnormal_a == SMMA_SUBNORMALS_KEPT ? "retained" : "flushed to zero",
      .subnormals_b = p->subnormal_b == SMMA_SUBNORMALS_KEPT ? "retained" : "flushed to zero",
      .subnormals_c = p->subnormal_c == SMMA_SUBNORMALS_KEPT ? "retained" : "flushed to zero",
      .subnormal_results = last->subnormal_outputs == SMMA_SUBNORMALS_KEPT ? "retained" : "flushed to zero",
      .normalised = "not normalised"};
}

static const char *of_c_fdpa(smma_format format) {
  return smma_c_fdpa_subnormals(format) == SMMA_SUBNORMALS_KEPT ? "retained" : "flushed to zero";
}

static expectation expect(const smma_operation *o) {
  const char *even = "to nearest, ties to even";
  const int fraction = smma_encoding_of(o->d).fraction_bits;
  smma_subnormal_policy of_factors;
  smma_pairs pairs;
  smma_g_fdpa g;
  expectation e = {.products = 1,
                   .c_joins = "with the first products",
                   .alignment_bits = -1,
                   .output_bits = fraction,
                   .output = even,
                   .subnormals = "retained",
                   .subnormal_results = "retained",
                   .normalised = "not normalised"};
  switch (o->rule.algorithm) {
    case SMMA_FMA:
      if (o->rule.with.fma.rounding == SMMA_ROUND_TOWARD_ZERO) e.output = "toward zero";
      if (o->rule.with.fma.rounding == SMMA_ROUND_DOWN) e.output = "down";
      if (o->rule.with.fma.rounding == SMMA_ROUND_UP) e.output = "up";
      return e;
    case SMMA_FTZ_FMA: e.subnormals = e.subnormal_results = "flushed to zero"; return e;
    case SMMA_FTZ_ADDMUL:
      e.subnormals = e.subnormal_results = "flushed to zero";
      e.products = o->rule.with.ftz_addmul.pairwise == 1 ? 1 : 2;
      e.c_joins = o->k > o->rule.with.ftz_addmul.pairwise ? "after the first products" : "after all products";
      e.c_rounding = even;
      return e;
    case SMMA_E_FDPA:
      e.products = smma_block_of(o);
      e.exact = true;
      return e;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
      e.products = smma_block_of(o);
      if (o->rule.algorithm == SMMA_GTR_FDPA) e.group = e.products / 2, e.every = 2;
      e.alignment_bits = o->rule.with.tr_fdpa.alignment_bits;
      e.alignment = "toward zero";
      e.alignment_c = "down";
      return e;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA:
      e.products = smma_block_of(o);
      e.alignment_bits = o->rule.with.c_fdpa.alignment_bits;
      if (o->rule.algorithm == SMMA_C_FDPA) {
        e.subnormals = of_c_fdpa(o->a);
        e.subnormals_b = of_c_fdpa(o->b);
        e.subnormals_c = e.subnormal_results = of_c_fdpa(o->d);
        e.fused_products = true;
      }
      if (o->d == SMMA_BF16) e.output = "toward zero";
      if (o->rule.algorithm == SMMA_GD_FDPA && o->rule.with.c_fdpa.group > 1)
        e.group = o->rule.with.c_fdpa.group, e.every = 1;
      e.alignment =
          o->rule.algorithm == SMMA_GD_FDPA ? "down" : "toward zero, and 1 less in the last bit where it opposes c";
      e.alignment_c = o->rule.algorithm == SMMA_GD_FDPA ? "down" : "toward zero";
      return e;
    case SMMA_FP8_BY_FP16:
      e = of_fused(o, &o->rule.with.t_fdpa);
      e.c_joins = "after all products";
      e.c_rounding = even;
      return e;
    case SMMA_GST_FDPA: return of_fused(o, &o->rule.with.gst_fdpa.fused);
    case SMMA_COMPOSITION:
      if (smma_is_g_fdpa(&o->rule.with.composition, o->k, o->d, &g)) return of_general(o, &g);
      if (smma_is_sum_of_chains(&o->rule.with.composition, &of_factors)) return of_chains(o, of_factors);
      if (!smma_has_whole_products(&o->rule.with.composition)) return of_slices(o);
      return smma_is_sum_of_pairs(&o->rule.with.composition, &pairs) ? of_pairs(o) : of_steps(o);
    default: return of_fused(o, &o->rule.with.t_fdpa);
  }
}

/* Counts of findings: equal to the expectation, or missing. */
static unsigned long long found_features, missing_features;

static void check(const smma_examination *x, smma_probe_id id, const char *expected) {
  const smma_finding *f = &x->findings[id];
  if (!*f->value) {
    assert_true(*f->why != 0);
    missing_features++;
    return;
  }
  found_features++;
  if (expected && strcmp(f->value, expected) == 0) return;
  char text[4000];
  smma_custom_write(x->subject.instruction, text, sizeof text);
  fail_msg("%s %s: %s: '%s', not '%s'\n%s", smma_arch_name(x->subject.instruction), x->subject.instruction->name,
           smma_probes[id].name, f->value, expected ? expected : "cannot tell", text);
}

static void check_number(const smma_examination *x, smma_probe_id id, int expected) {
  char text[32];
  snprintf(text, sizeof text, "%d", expected);
  check(x, id, text);
}

/* "none, or at most N" is correct if the exponent is not greater. */
static void check_zero_exponent(const smma_examination *x, const expectation *e) {
  const smma_finding *f = &x->findings[SMMA_PROBE_zero_exponent];
  int most;
  if (sscanf(f->value, "none, or at most %d", &most) == 1)
    assert_true(e->zero_exponent <= most);
  else
    check_number(x, SMMA_PROBE_zero_exponent, e->zero_exponent);
}

/* "all, at least N" is correct if the number of bits is not less. */
static void check_bits_of_c(const smma_examination *x, const expectation *e) {
  int least;
  if (sscanf(x->findings[SMMA_PROBE_alignment_bits_c].value, "all, at least %d", &least) == 1)
    assert_true(e->alignment_bits >= least);
  else
    check_number(x, SMMA_PROBE_alignment_bits_c, e->alignment_bits);
}

static void check_extra_bits(const smma_examination *x, int expected) {
  const char *value = x->findings[SMMA_PROBE_extra_bits].value;
  if (strcmp(value, "enough for correct rounding") == 0)
    assert_true(expected >= 2); /* a sticky bit may be the second one */
  else if (expected < 3 || strcmp(value, "3 or more") != 0)
    check_number(x, SMMA_PROBE_extra_bits, expected);
}

/* Reports whether products are aligned without c, which is added to their sum. This includes rules whose c has so many
   more bits that its truncation of products never shows in d. */
static bool joins_apart(const smma_operation *o) {
  const smma_c_fdpa *c = &o->rule.with.c_fdpa;
  switch (o->rule.algorithm) {
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: return true;
    case SMMA_GD_FDPA: return c->group == smma_block_of(o) || c->c_bits - c->alignment_bits > 24;
    default: return false;
  }
}

/* With two products, no test vector shows whether they are added before c. */
static void check_structure(const smma_examination *x, const expectation *e) {
  const char *apart = "with the sum of the first products, which are aligned without c";
  const smma_operation o = smma_operation_of(x->subject.instruction);
  bool group[SMMA_MAXIMUM_ROUNDED_K] = {false};
  char text[300], places[160];
  for (int i = 0; i < e->group; i++) group[i * e->every] = true;
  smma_name_places(group, SMMA_MAXIMUM_ROUNDED_K, places, sizeof places);
  if (x->first.products + x->first.has_c > 2) assert_true(x->first.exact || !e->exact);
  if (e->group > 1 && e->group < e->products && strstr(x->findings[SMMA_PROBE_first_sum].value, "stages"))
    snprintf(text, sizeof text, "%d in stages; the first stage aligns %d products (k = %s)", e->products, e->group,
             places);
  else
    snprintf(text, sizeof text, "%d%s", e->products,
             x->first.exact ? ", added exactly over the range of the formats" : "");
  check(x, SMMA_PROBE_first_sum, text);
  check(x, SMMA_PROBE_c_joins, x->first.c_is_apart && joins_apart(&o) ? apart : e->c_joins);
}

static void check_findings(const smma_examination *x, const expectation *e) {
  const bool aligned = e->alignment_bits >= 0;
  const char *of_c = e->subnormals_c ? e->subnormals_c : e->subnormals;
  const smma_encoding c = smma_encoding_of(x->subject.instruction->c), d = smma_encoding_of(x->subject.instruction->d);
  const int c_least = smma_minimum_exponent(c), d_least = smma_minimum_exponent(d);
  for (int i = 0; i < SMMA_PROBE_COUNT; i++) assert_true(*x->findings[i].value || *x->findings[i].why);
  check(x, SMMA_PROBE_repeats, "yes: 256 test vectors, each at several positions of a call");
  check(x, SMMA_PROBE_subnormal_a, e->subnormals);
  check(x, SMMA_PROBE_subnormal_b, e->subnormals_b ? e->subnormals_b : e->subnormals);
  check(x, SMMA_PROBE_subnormal_c, of_c);
  /* c is first widened to d's format, in which subnormal numbers of a format with fewer exponents are normal. */
  if (c_least > d_least && c_least - c.fraction_bits >= d_least)
    check(x, SMMA_PROBE_subnormal_alone, "retained");
  else if (c_least <= d_least)
    check(x, SMMA_PROBE_subnormal_alone, strcmp(of_c, "retained") == 0 ? e->subnormal_results : of_c);
  check(x, SMMA_PROBE_subnormal_product, e->fused_products ? "retained" : e->subnormal_results);
  if (!strstr(x->findings[SMMA_PROBE_subnormal_sum].value,
              "; cannot tell what at k")) /* if c is changed before it is added */
    check(x, SMMA_PROBE_subnormal_sum, e->subnormal_results);
  check_structure(x, e);
  if (aligned && !x->alignment.exact) {
    check_number(x, SMMA_PROBE_alignment_bits, e->alignment_bits);
    check_extra_bits(x, e->alignment_bits - e->output_bits);
    check_zero_exponent(x, e);
    check(x, SMMA_PROBE_products_normalised, e->normalised);
    check(x, SMMA_PROBE_normalisation, "once, at the end");
  }
  if (aligned) check_bits_of_c(x, e);
  if (x->alignment.exact) assert_true(e->exact || x->alignment.bits <= e->alignment_bits);
  check(x, SMMA_PROBE_alignment_rounding, e->alignment);
  check(x, SMMA_PROBE_alignment_rounding_c, e->alignment_c);
  check_number(x, SMMA_PROBE_output_bits, e->output_bits);
  check(x, SMMA_PROBE_output_rounding, e->output);
  check(x, SMMA_PROBE_block_rounding, e->output);
  check(x, SMMA_PROBE_c_rounding, e->c_rounding);
  if (strcmp(x->findings[SMMA_PROBE_product_rounding].value, "exact") != 0 &&
      !(e->loses_products && strncmp(x->findings[SMMA_PROBE_product_rounding].value, "not exact", 9) == 0))
    check(x, SMMA_PROBE_product_rounding, e->product_rounding ? e->product_rounding : "not rounded");
}

/* Checks that the witness gives the unit's result again. */
static void check_witnesses(const smma_examination *x) {
  const smma_operation o = smma_operation_of(x->subject.instruction);
  for (int i = 0; i < SMMA_PROBE_COUNT; i++)
    if (x->findings[i].has_witness)
      assert_int_equal(smma_row_compute(&o, &x->findings[i].witness), x->findings[i].witness.d);
}

/* Reports whether an earlier row of the table computes the same function. */
static bool is_repeated(const smma_instruction_table *table, size_t index) {
  for (size_t i = 0; i < index; i++)
    if (smma_same_operation(&table->row[i], &table->row[index])) return true;
  return false;
}

static void every_operation_of_the_catalogue(void **state) {
  static smma_examination x;
  const int every = (int)amount_of("SOFTMMA_PROBE_EVERY", 1);
  int number = 0;
  (void)state;
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction_table *table = smma_architectures[a].table;
    for (size_t i = 0; i < table->count; i++) {
      const smma_instruction *instruction = &table->row[i];
      const smma_operation o = smma_operation_of(instruction);
      const expectation e = expect(&o);
      smma_error error;
      if (is_repeated(table, i) || number++ % every != 0) continue;
      if (!smma_examine(&model, instruction, REPEATED_ROWS, &x, &error)) fail_msg("%s", error.text);
      check_findings(&x, &e);
      check_witnesses(&x);
    }
  }
  printf("%llu features found, %llu not\n", found_features, missing_features);
}

/* ---- Custom units ---- */

enum { DEFAULT_UNITS = 100 };

static int unit_count(void) {
  const char *text = getenv("SOFTMMA_CUSTOM_UNITS");
  const int count = text ? atoi(text) : 0;
  return count > 0 ? count : DEFAULT_UNITS;
}

/* Checks the order of the products of the first block. */
static void check_order(const smma_examination *x, const smma_operation *o) {
  bool first[SMMA_MAXIMUM_ROUNDED_K] = {false};
  smma_g_fdpa g;
  const bool general = smma_is_short_g_fdpa(o) && smma_is_g_fdpa(&o->rule.with.composition, o->k, o->d, &g);
  const int block = general ? g.block : smma_block_of(o);
  if (!x->first.known || x->first.products > block) return;
  for (int i = 0; i < block; i++)
    first[general ? smma_dealt_index(g.block, g.interleave, o->k, 0, i) : smma_product_index(o, 0, i)] = true;
  assert_memory_equal(first, x->first.product, sizeof first);
}

/* Reports whether all these parameters were found. */
static bool all_found(const smma_examination *x) {
  static const smma_probe_id wanted[] = {SMMA_PROBE_first_sum,   SMMA_PROBE_c_joins,         SMMA_PROBE_alignment_bits,
                                         SMMA_PROBE_output_bits, SMMA_PROBE_output_rounding, SMMA_PROBE_subnormal_a};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
    if (!*x->findings[wanted[i]].value) return false;
  return true;
}

static void random_custom_units(void **state) {
  static smma_examination x;
  int found = 0;
  (void)state;
  found_features = missing_features = 0;
  for (int u = 0; u < unit_count(); u++) {
    const smma_custom custom = random_unit((uint64_t)u);
    const smma_instruction *instruction = smma_custom_make(&custom);
    const smma_operation o = smma_operation_of(instruction);
    const expectation e = expect(&o);
    smma_error error;
    if (!smma_examine(&model, instruction, REPEATED_ROWS, &x, &error)) fail_msg("unit %d: %s", u, error.text);
    check_findings(&x, &e);
    check_order(&x, &o);
    check_witnesses(&x);
    found += all_found(&x);
    smma_custom_release(instruction);
  }
  printf("%d custom units, %d with all of block, c, alignment, output and subnormals; %llu features found, %llu not\n",
         unit_count(), found, found_features, missing_features);
}

/* ---- Units with more than one alignment ---- */

#define UNIT_OF(k, steps)                                                                 \
  "{\"softmma-unit\": 1, \"name\": \"built\", \"algorithm\": \"composition\", \"k\": " #k \
  ", \"a\": \"f16\", \"b\": "                                                             \
  "\"f16\", "                                                                             \
  "\"d\": \"f32\", \"steps\": [" steps "]}"
#define UNIT(steps) UNIT_OF(16, steps)
#define GROUPS(bits, turn)                                                                             \
  "{\"take\": 4, \"turn\": " #turn ", \"window\": 16, \"join\": \"apart\", \"alignment_bits\": " #bits \
  ", \"output\": \"none\"}, "
#define CHAIN(take, bits) \
  "{\"take\": " #take ", \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": " #bits ", \"output\": \"f32\"}"
#define ALL(take, bits) \
  "{\"take\": " #take ", \"join\": \"apart\", \"alignment_bits\": " #bits ", \"output\": \"none\"}, "
#define CUT_PRODUCTS(bits) "{\"take\": 1, \"join\": \"apart\", \"alignment_bits\": " #bits ", \"output\": \"none\"}, "
#define GUARD(bits, rounding)                                                                                    \
  "{\"take\": 16, \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": \"exact\", \"narrow_bits\": " #bits \
  ", "                                                                                                           \
  "\"narrow_rounding\": \"" rounding "\", \"output\": \"f32\"}"
#define C_BRINGS_NONE(bits)                                                          \
  "{\"take\": 16, \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": " #bits \
  ", \"accumulator_exponent\": \"none\", "                                           \
  "\"output\": \"f32\"}"

#define ROUNDED_AWAY(bits)                                                           \
  "{\"take\": 16, \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": " #bits \
  ", \"alignment_rounding\": \"nearest-away\", \"output\": \"f32\", \"rounding\": \"toward-zero\"}"
#define CUT_ACCUMULATOR(bits)                                                     \
  "{\"take\": 8, \"join\": \"chain\", \"start\": \"c\", \"alignment_bits\": 24, " \
  "\"accumulator_alignment_bits\": " #bits ", \"output\": \"f32\", \"rounding\": \"toward-zero\"}"

static const char in_order[] = "16 in stages; the first stage aligns 4 products (k = 0 to 3)";
static const char interleaved[] = "16 in stages; the first stage aligns 4 products (k = 0, 4, 8, 12)";
static const char inexact[] = "not exact: products of long significands lose bits";
static const char apart[] = "with the sum of the first products, which are aligned without c";

static const struct {
  const char *unit;
  smma_probe_id probe;
  const char *value; /* "": cannot tell */
} built[] = {
    {UNIT(GROUPS(14, 4) CHAIN(4, 24)), SMMA_PROBE_first_sum, in_order},
    {UNIT(GROUPS(14, 4) CHAIN(4, 24)), SMMA_PROBE_alignment_bits, ""},
    {UNIT(GROUPS(25, 4) CHAIN(4, 25)), SMMA_PROBE_first_sum, in_order},
    {UNIT(GROUPS(25, 4) CHAIN(4, 25)), SMMA_PROBE_alignment_bits, "25"},
    {UNIT(GROUPS(27, 1) CHAIN(4, 23)), SMMA_PROBE_first_sum, interleaved},
    {UNIT(GROUPS(10, 1) CHAIN(4, 30)), SMMA_PROBE_first_sum, interleaved},
    {UNIT(CHAIN(16, 24)), SMMA_PROBE_first_sum, "16"},
    {UNIT(CHAIN(16, 24)), SMMA_PROBE_alignment_bits, "24"},
    {UNIT(CHAIN(16, 24)), SMMA_PROBE_product_rounding, "exact"},
    {UNIT(CUT_PRODUCTS(12) CHAIN(8, 24)), SMMA_PROBE_product_rounding, inexact},
    {UNIT(CUT_PRODUCTS(12) CHAIN(8, 24)), SMMA_PROBE_alignment_bits, ""},
    {UNIT(CUT_PRODUCTS(16) CHAIN(16, 26)), SMMA_PROBE_product_rounding, inexact},
    {UNIT(CUT_PRODUCTS(19) CHAIN(4, 30)), SMMA_PROBE_product_rounding, inexact},
    {UNIT(CUT_PRODUCTS(20) CHAIN(4, 30)), SMMA_PROBE_product_rounding, "exact"},
    {UNIT(GUARD(25, "toward-zero")), SMMA_PROBE_output_rounding,
     "to nearest, ties to even, by the 2 bits below the last alone"},
    {UNIT(GUARD(25, "toward-zero")), SMMA_PROBE_extra_bits, "2"},
    {UNIT(GUARD(26, "toward-zero")), SMMA_PROBE_extra_bits, "3"},
    {UNIT(GUARD(31, "toward-negative")), SMMA_PROBE_extra_bits, "8"},
    {UNIT(GUARD(26, "to-odd")), SMMA_PROBE_output_rounding, "to nearest, ties to even"},
    {UNIT(C_BRINGS_NONE(23)), SMMA_PROBE_c_joins, apart},
    {UNIT_OF(3, ALL(3, 19) CHAIN(1, 19)), SMMA_PROBE_c_joins, apart},
    {UNIT_OF(2, ALL(2, 12) CHAIN(1, 26)), SMMA_PROBE_c_joins, ""},
    {UNIT_OF(2, ALL(2, 26) CHAIN(1, 13)), SMMA_PROBE_c_joins, apart},
    {UNIT(GROUPS(20, 4) CUT_PRODUCTS(22) CHAIN(4, 24)), SMMA_PROBE_first_sum, in_order},
    {UNIT(CHAIN(16, 24)), SMMA_PROBE_extra_bits_preserved, "preserved: 1 + 3 * ulp/2 is not 1"},
    {UNIT(CHAIN(16, 23)), SMMA_PROBE_extra_bits_preserved, "truncated: 1 + 3 * ulp/2 is 1"},
    {UNIT(ROUNDED_AWAY(23)), SMMA_PROBE_extra_bits_preserved, ""},
    {UNIT(CUT_ACCUMULATOR(20)), SMMA_PROBE_extra_bits_preserved, ""},
};

static void units_that_are_not_one_alignment(void **state) {
  static smma_examination x;
  (void)state;
  for (size_t n = 0; n < sizeof built / sizeof built[0]; n++) {
    smma_error error;
    const smma_instruction *i = smma_custom_read("built", built[n].unit, strlen(built[n].unit), &error);
    if (!i) fail_msg("%s", error.text);
    if (!smma_examine(&model, i, REPEATED_ROWS, &x, &error)) fail_msg("%s", error.text);
    if (strcmp(x.findings[built[n].probe].value, built[n].value) != 0)
      fail_msg("%s: %s is '%s', not '%s'", built[n].unit, smma_probes[built[n].probe].name,
               x.findings[built[n].probe].value, built[n].value);
    smma_custom_release(i);
  }
}

/* ---- Units with faults ---- */

/* A chain of FMAs in FP32 that flushes c below 2^-143 and a from 3/4 of the least normal number on, and that returns 0
   if an addition overflows to infinity. Counts the rows and calls that it computes. */
static unsigned long long rows_run, calls_run;

static bool is_flushed(float x, float least, float greatest) { return fabsf(x) >= least && fabsf(x) < greatest; }

static int run_faulty(void *unit, const smma_instruction_info *info, const smma_batch *batch, char *message,
                      size_t size) {
  const float *a = batch->a, *b = batch->b, *c = batch->c;
  (void)unit, (void)message, (void)size;
  rows_run += batch->rows;
  calls_run++;
  for (size_t r = 0; r < batch->rows; r++) {
    float d = is_flushed(c[r], 0, 0x1p-143F) ? 0 : c[r];
    for (int k = 0; k < info->k; k++) {
      const float x = a[r * (size_t)info->k + (size_t)k], y = b[r * (size_t)info->k + (size_t)k];
      const float sum = fmaf(is_flushed(x, 0x1.8p-127F, 0x1p-126F) ? 0 : x, y, d);
      d = isinf(sum) && isfinite(x) && isfinite(y) && isfinite(d) ? 0 : sum;
    }
    ((float *)batch->d)[r] = d;
  }
  return 0;
}

static void faults_at_few_numbers(void **state) {
  static const smma_unit_methods methods = {.abi = SMMA_UNIT_ABI, .run = run_faulty};
  static smma_examination x;
  smma_unit unit = {.methods = &methods};
  smma_error error;
  (void)state;
  if (!smma_examine(&unit, find("MI250X", "v_mfma_f32_16x16x4f32"), REPEATED_ROWS, &x, &error))
    fail_msg("%s", error.text);
  assert_string_equal(x.findings[SMMA_PROBE_subnormal_a].value, "some are flushed to zero");
  assert_string_equal(x.findings[SMMA_PROBE_subnormal_alone].value, "some are flushed to zero");
  assert_string_equal(x.findings[SMMA_PROBE_subnormal_b].value, "retained");
  assert_null(strstr(x.findings[SMMA_PROBE_sum_overflow].value, "retained"));
  assert_int_equal(x.subject.rows, rows_run);
  assert_int_equal(x.subject.calls, calls_run);
}

/* A NaN in c is tested if neither factor has a NaN; the number of extra bits counts from the last bit of d. */
static void formats_that_lack_numbers(void **state) {
  static smma_examination x;
  smma_error error;
  (void)state;
  assert_true(smma_examine(&model, find("ACE", "top4mxbssps"), REPEATED_ROWS, &x, &error));
  assert_string_equal(x.findings[SMMA_PROBE_nan_input].value, "NaN 0x7fc00000");
  assert_true(smma_examine(&model, find("H100", "wgmma.m64n8k32.f32.e4m3.e4m3"), REPEATED_ROWS, &x, &error));
  assert_string_equal(x.findings[SMMA_PROBE_extra_bits].value, "0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_of_the_catalogue), cmocka_unit_test(random_custom_units),
      cmocka_unit_test(units_that_are_not_one_alignment), cmocka_unit_test(faults_at_few_numbers),
      cmocka_unit_test(formats_that_lack_numbers)};
  smma_error error;
  if (!smma_unit_open("model", &model, &error)) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
