/* Tests whether a greater operand can produce a smaller d.

   Source: M. Mikaitis, "Monotonicity of Multi-Term Floating-Point Adders", IEEE Transactions on Computers 73 (2024);
   M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer
   Science 7 (2021). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rounding.h"
#include "experiment/distinct.h"
#include "experiment/experiment.h"
#include "experiment/plot.h"
#include "experiment/random.h"
#include "isa/custom.h"
#include "softmma/softmma.h"

/* ---- The unit ---- */

typedef struct {
  smma_operation operation;
  int precision;       /* significand bits of a block's result */
  int alignment_bits;  /* F; if nothing is aligned, the fraction bits of a result */
  int least, greatest; /* range of the exponents E for which products of 2^(E - F - 2) and c = 2^E can be represented */
} subject;

static int least_exponent(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  return smma_minimum_exponent(f) - f.fraction_bits;
}

static int greatest_exponent(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  return smma_decode(f, smma_largest_fields(f) << f.ignored_bits).exponent;
}

/* Returns the value of a rule's parameter; `otherwise` if the rule does not have it. */
static int parameter_of(const smma_rule *rule, const char *name, int otherwise) {
  const smma_key *key = smma_find_key(rule->algorithm, name, strlen(name));
  return key ? smma_key_of_rule(rule, key) : otherwise;
}

static void read_rule(subject *s) {
  const smma_rule *rule = &s->operation.rule;
  const smma_format output = (smma_format)parameter_of(rule, "output", (int)s->operation.d);
  s->precision = smma_encoding_of(output).fraction_bits + 1;
  s->alignment_bits = parameter_of(rule, "alignment_bits", smma_encoding_of(s->operation.d).fraction_bits);
}

static bool adds_c_last(const subject *s) { return s->operation.rule.algorithm == SMMA_FP8_BY_FP16; }

static subject subject_of(const smma_instruction *i) {
  const int least_product = least_exponent(i->a) + least_exponent(i->b);
  const int greatest_product = greatest_exponent(i->a) + greatest_exponent(i->b);
  subject s = {.operation = smma_operation_of(i)};
  read_rule(&s);
  s.least = least_product + smma_maximum(s.alignment_bits, s.precision) + 2;
  s.least = smma_maximum(s.least, least_exponent(i->c) + 1); /* c also holds the number below 2^least */
  s.greatest = smma_minimum(greatest_exponent(i->c), greatest_exponent(i->d)) - 2;
  s.greatest =
      smma_minimum(s.greatest, adds_c_last(&s) ? greatest_product - 1 : greatest_product + s.alignment_bits - 2);
  s.greatest = smma_maximum(s.least, s.greatest);
  return s;
}

/* Reports whether d can fall, by a bound. c, or the block's equivalent of c, crosses 2^E with a step of 2^(E - t),
   where t is the number of its retained bits; each of L products loses up to 2^(E - 1 - F). */
static bool can_fall(const subject *s) {
  const smma_operation *o = &s->operation;
  int kept;
  switch (o->rule.algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA: kept = smma_minimum(smma_encoding_of(o->c).fraction_bits, s->alignment_bits) + 1; break;
    case SMMA_FP8_BY_FP16: kept = s->precision; break;
    default: return false;
  }
  return smma_block_of(o) > 1 << (s->alignment_bits + 1 - kept);
}

/* ---- Rows ---- */

typedef struct {
  smma_number a[SMMA_MAXIMUM_ROUNDED_K], b[SMMA_MAXIMUM_ROUNDED_K], scale[SMMA_MAXIMUM_ROUNDED_K];
  uint64_t c;
} operands;

/* Two test vectors that differ in one operand, so that the exact sum grows. */
typedef struct {
  operands before, after;
} pair;

/* The source of random numbers for one pair of vectors: 64 bits for each k, and 64 bits for the pair as a whole. */
typedef struct {
  uint64_t seed, index;
  uint32_t stream;
} source;

static uint64_t bits_of(const source *x, int k) {
  return smma_random_bits(x->seed, x->stream, x->index * (SMMA_MAXIMUM_ROUNDED_K + 1) + (uint64_t)k);
}

static uint64_t encoding_of(smma_format format, bool negative, uint64_t significand, int exponent) {
  return smma_encode(smma_encoding_of(format), negative, significand, exponent, false, SMMA_ROUND_NEAREST_EVEN,
                     SMMA_OVERFLOW_SATURATE);
}

static smma_number number_of(smma_format format, uint64_t encoding) {
  return smma_decode(smma_encoding_of(format), encoding);
}

/* Sets all operands to zero and all scale factors to one. */
static void clear(const smma_operation *o, operands *r) {
  for (int k = 0; k < o->k; k++) {
    r->a[k] = number_of(o->a, 0);
    r->b[k] = number_of(o->b, 0);
    r->scale[k] = number_of(o->scale, encoding_of(o->scale, false, 1, 0));
  }
  r->c = 0;
}

/* Sets product k to (+-) x y 2^exponent. */
static void put_product(const smma_operation *o, operands *r, int k, bool negative, uint64_t x, uint64_t y,
                        int exponent) {
  const int half = exponent / 2;
  r->a[k] = number_of(o->a, encoding_of(o->a, negative, x, half));
  r->b[k] = number_of(o->b, encoding_of(o->b, false, y, exponent - half));
}

/* Sets product k to a value near the last bit that is retained below 2^(E - 1), or to zero. If `mixed`, the sign is
   random. */
static void put_small_product(const subject *s, operands *r, int k, int exponent, bool mixed, uint64_t bits) {
  const int place = exponent - 2 - s->alignment_bits + (int)((bits >> 32) % 3);
  const bool power = bits & 1, none = (bits >> 1 & 7) == 0, negative = mixed && bits >> 4 & 1;
  const uint64_t x = power ? 0 : bits >> 5 & 1023, y = power ? 0 : bits >> 15 & 1023;
  if (!none) put_product(&s->operation, r, k, negative, 1024 + x, 1024 + y, place - 20);
}

static double d_of(const subject *s, const operands *r) {
  const smma_operands x = {r->a, r->b, r->scale, r->scale};
  return smma_format_decode(s->operation.d, smma_dot_add(&s->operation, x, r->c));
}

/* ---- Families of pairs ---- */

static int choose_exponent(const subject *s, uint64_t bits) {
  return s->least + (int)((bits >> 8) % (uint64_t)(s->greatest - s->least + 1));
}

/* Makes a pair in which c steps from the number below a power of two to that power, with small products. */
static void raise_c(const subject *s, const source *x, pair *p) {
  const smma_operation *o = &s->operation;
  const uint64_t bits = bits_of(x, o->k);
  const int exponent = choose_exponent(s, bits);
  clear(o, &p->before);
  for (int k = 0; k < o->k; k++) put_small_product(s, &p->before, k, exponent, bits & 1, bits_of(x, k));
  p->after = p->before;
  p->after.c = encoding_of(o->c, false, 1, exponent);
  p->before.c = p->after.c - 1;
}

/* Sets the sum of the first block to the number below 2^exponent. It is put in c or, if the unit adds c last, in
   products that are 1, 3, 7 or 15 times a power of two. Returns the number of products used. */
static int put_number_below(const subject *s, operands *r, int exponent) {
  static const uint8_t factors[][2] = {{0, 0}, {1, 1}, {3, 1}, {7, 1}, {5, 3}};
  const smma_operation *o = &s->operation;
  int used = 0, left = s->precision;
  if (!adds_c_last(s)) {
    r->c = encoding_of(o->c, false, ((uint64_t)1 << left) - 1, exponent - left);
    return 0;
  }
  for (; left > 0; used++) {
    const int bits = smma_minimum(left, 4);
    exponent -= bits;
    left -= bits;
    put_product(o, r, smma_product_index(o, 0, used), false, factors[bits][0], factors[bits][1], exponent);
  }
  return used;
}

/* Puts small products in all blocks except the first. If there is only one block, puts them in this block. */
static void put_small_products(const subject *s, const source *x, operands *r, int exponent, bool mixed) {
  const smma_operation *o = &s->operation;
  const int block = smma_block_of(o), blocks = o->k / block;
  for (int b = blocks > 1; b < blocks; b++)
    for (int i = 0; i < block; i++) {
      const int k = smma_product_index(o, b, i);
      put_small_product(s, r, k, exponent, mixed, bits_of(x, k));
    }
}

/* Makes a pair in which a product of the first block grows so that the block's sum reaches a power of two, with
   small products. */
static void raise_product(const subject *s, const source *x, pair *p) {
  const smma_operation *o = &s->operation;
  const uint64_t bits = bits_of(x, o->k);
  const int exponent = choose_exponent(s, bits), place = exponent - s->precision;
  const bool of_a = bits & 2;
  const smma_format format = of_a ? o->a : o->b;
  const uint64_t raised = encoding_of(format, false, 1, of_a ? place / 2 : place - place / 2);
  int k;
  clear(o, &p->before);
  put_small_products(s, x, &p->before, exponent, bits & 1);
  k = smma_product_index(o, 0, put_number_below(s, &p->before, exponent));
  put_product(o, &p->before, k, false, 1, 1, place);
  p->after = p->before;
  *(of_a ? &p->before.a[k] : &p->before.b[k]) =
      number_of(format, raised - ((uint64_t)1 << smma_encoding_of(format).ignored_bits));
}

static double normal_of(const source *x, int k) {
  return smma_random_normal(x->seed, x->stream, x->index * (2 * SMMA_MAXIMUM_ROUNDED_K + 1) + (uint64_t)k);
}

static uint64_t encode_normal(smma_format format, double value) {
  return smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

/* Returns the next encoding toward infinity, or toward minus infinity (`down`); passes through +0. */
static uint64_t next_to(smma_format format, uint64_t encoding, bool down) {
  const smma_number x = number_of(format, encoding);
  const uint64_t one = (uint64_t)1 << smma_encoding_of(format).ignored_bits;
  if (x.kind == SMMA_ZERO) return encoding_of(format, down, 1, least_exponent(format));
  if (x.negative == down) return encoding + one;
  return x.significand == 1 ? 0 : encoding - one; /* 1: the least subnormal */
}

/* Makes a pair of vectors that differ in one operand, which grows by one step. All operands are normally distributed.
   In every second pair the growing operand is c. */
static void raise_any(const subject *s, const source *x, pair *p) {
  const smma_operation *o = &s->operation;
  const uint64_t bits = bits_of(x, o->k);
  const int raised = (int)((bits >> 1) % (uint64_t)o->k);
  clear(o, &p->before);
  for (int k = 0; k < o->k; k++) p->before.b[k] = number_of(o->b, encode_normal(o->b, normal_of(x, 2 * k)));
  for (int k = 0; k < o->k; k++) p->before.a[k] = number_of(o->a, encode_normal(o->a, normal_of(x, 2 * k + 1)));
  p->before.c = encode_normal(o->c, normal_of(x, 2 * SMMA_MAXIMUM_ROUNDED_K));
  p->after = p->before;
  if (bits & 1)
    p->after.c = next_to(o->c, p->before.c, false);
  else
    p->after.a[raised] =
        number_of(o->a, next_to(o->a, encode_normal(o->a, normal_of(x, 2 * raised + 1)), p->before.b[raised].negative));
}

static const struct {
  const char *name;
  void (*raise)(const subject *s, const source *x, pair *p);
} families[] = {{"c at a power of two", raise_c}, {"product at a power of two", raise_product}, {"any", raise_any}};
enum { FAMILIES = sizeof families / sizeof *families };

/* ---- Curves ---- */

/* Curves of d for c around 1 and `products` products of 2^exponent, which the unit adds at once. They show the bits
   that d retains for c < 1. */
static const struct {
  const char *title, *gpu, *instruction;
  int products, exponent, unit, reach; /* c - 1 is up to +-reach in units of 2^unit */
} curves[] = {{"V100 FP16", "V100", "mma.m8n8k4.f32.f16.f16.f32", 4, -24, -24, 8},
              {"A100 FP16", "A100", "mma.m16n8k8.f32.f16.f16.f32", 8, -25, -24, 8},
              {"H100 FP16", "H100", "wgmma.m64n8k16.f32.f16.f16", 16, -26, -24, 8},
              {"MI100 FP16", "MI100", "v_mfma_f32_32x32x4f16", 4, -24, -24, 8},
              {"MI300X FP16", "MI300X", "v_mfma_f32_32x32x8_f16", 8, -25, -24, 8},
              {"H100 FP8", "H100", "wgmma.m64n8k32.f32.e4m3.e4m3", 32, -14, -14, 40}};
enum { CURVES = sizeof curves / sizeof *curves };

static const char no_number[] = "none";

static void add_point(smma_experiment_run *run, int curve, double c, double d) {
  smma_row_text(run, "curve");
  smma_row_text(run, curves[curve].title);
  smma_row_text(run, curves[curve].instruction);
  smma_row_text(run, "c");
  for (int i = 0; i < 6; i++) smma_row_text(run, no_number);
  smma_row_number(run, c);
  smma_row_number(run, d);
}

static bool compute_curve(smma_experiment_run *run, int curve, smma_error *error) {
  const smma_instruction *i = smma_find(curves[curve].gpu, curves[curve].instruction, error);
  subject s;
  operands r;
  if (!i) return false;
  s = subject_of(i);
  clear(&s.operation, &r);
  for (int k = 0; k < curves[curve].products; k++)
    put_product(&s.operation, &r, k, false, 1, 1, curves[curve].exponent);
  for (int step = -curves[curve].reach; step <= curves[curve].reach; step++) {
    const double c = 1 + ldexp(step, curves[curve].unit);
    r.c = smma_format_encode(SMMA_F32, c, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
    if (smma_format_decode(SMMA_F32, r.c) == c) add_point(run, curve, c, d_of(&s, &r));
  }
  return true;
}

/* ---- Adders of few terms ---- */

/* Adders of two to five terms, c and products, by V100's rule. The theorem says that d can fall from four terms on. */
enum { LEAST_TERMS = 2, ADDERS = 4 };

/* Returns an adder, or NULL with a one-line message. */
static const smma_instruction *make_adder(int terms, smma_error *error) {
  char text[300];
  snprintf(text, sizeof text,
           "{\"softmma-unit\": 1, \"name\": \"%d-terms\", \"algorithm\": \"T-FDPA\", \"k\": %d, \"a\": \"f16\", \"b\": "
           "\"f16\", \"d\": \"f32\", \"block\": %d, \"alignment_bits\": 23, \"zero_exponent\": -131, \"rounding\": "
           "\"toward-zero\"}",
           terms, terms - 1, terms - 1);
  return smma_custom_read("adder", text, strlen(text), error);
}

/* ---- The experiment ---- */

/* The cells are the curves, the instructions, the adders. */
typedef struct {
  const smma_instruction **instructions;
  size_t count, pairs;
} setup;

static bool prepare(smma_experiment_run *run, size_t *cells, smma_error *error) {
  setup *s = run->context;
  if (!smma_parameter_count(run, "pairs", 1, 100000000, &s->pairs, error)) return false;
  s->count = smma_distinct_instructions(NULL);
  s->instructions = malloc(s->count * sizeof *s->instructions);
  if (!s->instructions) return smma_no_memory(error);
  smma_distinct_instructions(s->instructions);
  *cells = CURVES + s->count + ADDERS;
  return true;
}

static void finish(smma_experiment_run *run) {
  setup *s = run->context;
  free(s->instructions);
}

/* The violations that a search has found: their number, and the greatest drop of d with d before and after it. The drop
   is in units of the last place in the binade of the greater d. */
typedef struct {
  size_t count;
  double drop, before, after;
} violations;

static violations search(const smma_experiment_run *run, const subject *s, int family, uint32_t stream) {
  const setup *x = run->context;
  violations v = {0};
  for (size_t i = 0; i < x->pairs; i++) {
    const source from = {run->seed, i, stream};
    double before, after, ulp;
    int exponent;
    pair p;
    families[family].raise(s, &from, &p);
    before = d_of(s, &p.before);
    after = d_of(s, &p.after);
    if (!(after < before)) continue;
    v.count++;
    frexp(fmax(fabs(before), fabs(after)), &exponent);
    ulp = ldexp(1, exponent - s->precision);
    if ((before - after) / ulp > v.drop) v = (violations){v.count, (before - after) / ulp, before, after};
  }
  return v;
}

static void add_searches(smma_experiment_run *run, const char *part, const smma_instruction *i, size_t cell) {
  const setup *x = run->context;
  const subject s = subject_of(i);
  for (int f = 0; f < FAMILIES; f++) {
    const violations v = search(run, &s, f, (uint32_t)(cell * FAMILIES) + (uint32_t)f);
    smma_row_text(run, part);
    smma_row_text(run, smma_arch_name(i));
    smma_row_text(run, i->name);
    smma_row_text(run, families[f].name);
    smma_row_text(run, can_fall(&s) ? "yes" : "no");
    smma_row_count(run, x->pairs);
    smma_row_count(run, v.count);
    smma_row_number(run, v.drop);
    smma_row_number(run, v.before);
    smma_row_number(run, v.after);
    smma_row_text(run, no_number);
    smma_row_text(run, no_number);
  }
}

static bool compute(smma_experiment_run *run, size_t cell, smma_error *error) {
  const setup *x = run->context;
  const smma_instruction *adder;
  if (cell < CURVES) return compute_curve(run, (int)cell, error);
  if (cell < CURVES + x->count) {
    add_searches(run, "search", x->instructions[cell - CURVES], cell);
    return true;
  }
  adder = make_adder(LEAST_TERMS + (int)(cell - CURVES - x->count), error);
  if (!adder) return false;
  add_searches(run, "terms", adder, cell);
  smma_custom_release(adder);
  return true;
}

/* ---- Summary ---- */

static double on_curve(const smma_experiment_run *run, int curve, double c) {
  char text[40];
  const char *const where[] = {"part", "curve", "unit", curves[curve].title, "c", text, NULL};
  snprintf(text, sizeof text, "%.17g", c);
  return smma_table_find(run, where, "d");
}

static void summarise_curves(const smma_experiment_run *run, FILE *out) {
  fputs("d - 1 of c and as many equal products as the unit adds at once, for c below 1 and for c = 1:\n", out);
  for (int i = 0; i < CURVES; i++) {
    const double ulp = ldexp(1, curves[i].unit), below = on_curve(run, i, 1 - ulp), at = on_curve(run, i, 1);
    fprintf(out, "  %-12s  %2d x 2^%d:  c = 1 - 2^%d gives %4g x 2^%d,  c = 1 gives %3g x 2^%d\n", curves[i].title,
            curves[i].products, curves[i].exponent, curves[i].unit, (below - 1) / ulp, curves[i].unit, (at - 1) / ulp,
            curves[i].unit);
  }
}

static double violations_of(const smma_experiment_run *run, size_t first, int family) {
  return smma_table_number(run, first + (size_t)family, "violations");
}

/* Prints violations per million pairs of each family, and the greatest drop; `first` is the instruction's first row. */
static void print_violations(const smma_experiment_run *run, size_t first, FILE *out) {
  double drop = 0;
  fprintf(out, "%-13s  %-41s", smma_table_text(run, first, "unit"), smma_table_text(run, first, "instruction"));
  for (int f = 0; f < FAMILIES; f++) {
    drop = fmax(drop, smma_table_number(run, first + (size_t)f, "drop"));
    fprintf(out, "  %8.0f", 1e6 * violations_of(run, first, f) / smma_table_number(run, first, "pairs"));
  }
  fprintf(out, "  %4g\n", drop);
}

static bool violates(const smma_experiment_run *run, size_t first) {
  for (int f = 0; f < FAMILIES; f++)
    if (violations_of(run, first, f) > 0) return true;
  return false;
}

static void print_monotone(const smma_experiment_run *run, size_t first, FILE *out) {
  fprintf(out, "  %-13s  %s\n", smma_table_text(run, first, "unit"), smma_table_text(run, first, "instruction"));
}

/* Returns the first row of a part. */
static size_t first_of(const smma_experiment_run *run, const char *part) {
  size_t row = 0;
  while (strcmp(smma_table_text(run, row, "part"), part) != 0) row++;
  return row;
}

static void summarise(const smma_experiment_run *run, FILE *out) {
  const size_t first = first_of(run, "search"), end = first_of(run, "terms");
  size_t none = 0, as_bound = 0;
  summarise_curves(run, out);
  fprintf(out, "\nViolations in a million pairs, and the greatest drop in ulps:\n%-56s  %8s  %8s  %8s  drop\n", "", "c",
          "product", "any");
  for (size_t row = first; row < end; row += FAMILIES) {
    const bool found = violates(run, row);
    none += !found;
    as_bound += found == (smma_table_text(run, row, "bound")[0] == 'y');
    if (found) print_violations(run, row, out);
  }
  fputs("\nV100's rule with one to four products and c:\n", out);
  for (size_t row = end; row < smma_table_rows(run); row += FAMILIES) print_violations(run, row, out);
  fprintf(out, "\nThe bound L > 2^(F + 1 - t) says the same for %zu of %zu instructions. None found in %zu:\n",
          as_bound, (end - first) / FAMILIES, none);
  for (size_t row = first; row < end; row += FAMILIES)
    if (!violates(run, row)) print_monotone(run, row, out);
}

/* ---- The picture ---- */

/* Writes the points at which d drops: d is below the d of the previous, smaller c. */
static void write_drops(const smma_experiment_run *run, FILE *script, const char *const *where) {
  double last = 0;
  fputs("$drops << END\n", script);
  for (size_t row = 0; row < smma_table_rows(run); row++) {
    if (!smma_table_has(run, row, where)) continue;
    if (smma_table_number(run, row, "d") < last)
      fprintf(script, "%s %s\n", smma_table_text(run, row, "c"), smma_table_text(run, row, "d"));
    last = smma_table_number(run, row, "d");
  }
  fputs("END\n", script);
}

static void plot_curve(const smma_experiment_run *run, FILE *script, int curve) {
  static const char *const columns[] = {"c", "d", NULL};
  const char *const where[] = {"part", "curve", "unit", curves[curve].title, NULL};
  const int unit = curves[curve].unit, reach = curves[curve].reach;
  smma_plot_block(run, script, "$curve", where, columns);
  write_drops(run, script, where);
  fprintf(script, "scale = 2.0**%d\nsum = %d * 2.0**%d\nsize = %g\n", -unit, curves[curve].products,
          curves[curve].exponent - unit, reach > 8 ? 0.4 : 0.7);
  fprintf(script, "set title '%s: %d products of 2^{%d}'\nset xrange [-%d:%d]\nset xtics %d\n", curves[curve].title,
          curves[curve].products, curves[curve].exponent, reach, reach, reach / 2);
  fprintf(script, "set yrange [-%d:%g]\nset ytics %d\n", reach, 1.5 * reach + (reach > 8 ? 20 : 2), reach / 2);
  fprintf(script, "set xlabel 'c - 1 in units of 2^{%d}'\nset ylabel 'd - 1 in units of 2^{%d}'\n", unit, unit);
  fputs(
      "plot x + sum with lines linetype 8 title 'exact', "
      "$curve using (($1 - 1) * scale):(($2 - 1) * scale) with linespoints linetype 1 linewidth 0.7 pointsize size "
      "title 'd', "
      "NaN with points linetype 2 pointsize 1.6 title 'd falls'",
      script);
  fputs(", $drops using (($1 - 1) * scale):(($2 - 1) * scale) with points linetype 2 pointsize 1.6 notitle\n", script);
}

static void plot(const smma_experiment_run *run, FILE *script) {
  fputs("set format '%g'\nset key top left reverse Left samplen 1.5\nset multiplot layout 2,3\n", script);
  for (int i = 0; i < CURVES; i++) plot_curve(run, script, i);
  fputs("unset multiplot\n", script);
}

static const smma_experiment_parameter parameters[] = {
    {"pairs", "50000", "200", "pairs of rows for each instruction and way to raise an operand"},
    {NULL, NULL, NULL, NULL}};
static const char *const columns[] = {"part", "unit",   "instruction", "raised", "bound", "pairs", "violations",
                                      "drop", "before", "after",       "c",      "d",     NULL};

const smma_experiment smma_experiment_monotonicity = {
    .name = "monotonicity",
    .title = "whether a greater operand can make a smaller result, and by how much",
    .source = "M. Mikaitis, Monotonicity of Multi-Term Floating-Point Adders, 2024",
    .parameters = parameters,
    .columns = columns,
    .width = 1100,
    .height = 700,
    .context_bytes = sizeof(setup),
    .prepare = prepare,
    .compute = compute,
    .summarise = summarise,
    .plot = plot,
    .finish = finish,
};
