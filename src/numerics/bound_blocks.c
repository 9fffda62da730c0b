/* Sums of blocks, whose terms are aligned under a common exponent. */
#include <math.h>

#include "numerics/bound_forms.h"

enum { LANES = SMMA_BOUND_LANES };

/* ---- Fused sums ---- */

/* How terms are aligned: each is rounded to a multiple of q, which is at most resolution * coarseness * 2^emax. */
typedef struct {
  double resolution; /* 2^-F; 0: terms are exact */
  double coarseness; /* greatest factor by which a coarse exponent raises q; 1: exponents are not coarse */
  double zero_lead;  /* 2^exponent of a zero term */
  bool normalized;   /* exponents are those of normalised products */
  bool truncates;    /* terms are rounded toward zero, so that the loss is at most the term itself */
  double positive_down, positive_up; /* share of q that a positive term can lose, downward and upward */
  double negative_down, negative_up; /* the shares for a negative term */
  double unit;                       /* `unit` of the sum, in multiples of q */
  smma_bound_rounding rounding;      /* the rounding of the sum */
} alignment;

static alignment truncating(int bits, int zero_exponent, smma_format format, smma_rounding direction) {
  return (alignment){.resolution = smma_power(-bits),
                     .coarseness = 1,
                     .zero_lead = smma_power(zero_exponent),
                     .truncates = true,
                     .positive_down = 1,
                     .negative_up = 1,
                     .unit = 1,
                     .rounding = smma_bound_rounding_to(format, direction)};
}

static alignment alignment_of_g_fdpa(const smma_g_fdpa *p) {
  alignment f = truncating(p->alignment_bits, p->zero_exponent, p->output, p->rounding);
  const smma_rounding direction = p->alignment_rounding;
  f.normalized = p->product_exponent == SMMA_EXPONENT_NORMALIZED;
  f.rounding.flushes = p->subnormal_outputs != SMMA_SUBNORMALS_KEPT;
  if (p->zero_exponent == SMMA_NO_EXPONENT) f.zero_lead = 0;
  if (p->alignment_bits == SMMA_EXACT_ALIGNMENT) f.resolution = 0;
  if (p->overflow != SMMA_SUM_TO_INFINITY)
    f.rounding.limit = smma_bound_rounding_to(p->output, SMMA_ROUND_DOWN).limit; /* above it a sum may saturate */
  if (!p->sticky_bit && direction == SMMA_ROUND_TOWARD_ZERO) return f;
  f.truncates = false;
  f.unit = p->sticky_bit ? 0.5 : 1;
  f.positive_down = f.negative_down = f.positive_up = f.negative_up = 0.5;
  if (p->sticky_bit || direction == SMMA_ROUND_NEAREST_EVEN || direction == SMMA_ROUND_NEAREST_AWAY) return f;
  f.positive_down = f.negative_down = direction == SMMA_ROUND_DOWN;
  f.positive_up = f.negative_up = direction == SMMA_ROUND_UP;
  return f;
}

static alignment alignment_of(const smma_rule *r) {
  const smma_t_fdpa *t = r->algorithm == SMMA_GST_FDPA ? &r->with.gst_fdpa.fused : &r->with.t_fdpa;
  alignment exact = truncating(0, 0, SMMA_F32, SMMA_ROUND_NEAREST_EVEN);
  exact.resolution = 0;
  if (r->algorithm == SMMA_E_FDPA) return exact;
  return truncating(t->alignment_bits, t->zero_exponent, t->output, t->rounding);
}

/* The unit's accumulator before a block. */
typedef struct {
  double from, to;    /* range of its value */
  double most, least; /* greatest and least magnitude */
  double last;        /* value of its last bit */
  double lead_most;   /* greatest 2^exponent; 0 if the accumulator is zero */
  double lead_least;  /* least 2^exponent; 0 if the accumulator may be zero */
} accumulator;

static accumulator accumulator_of(const smma_bound_sum *s, int lane, double slack, double least_normal) {
  accumulator c;
  smma_bound_range(s, lane, slack, &c.from, &c.to);
  c.most = smma_larger(-c.from, c.to);
  c.least = c.from > 0 ? c.from : c.to < 0 ? -c.to : 0;
  c.lead_most = c.most > 0 ? smma_larger(smma_power_below(c.most), least_normal) : 0;
  c.lead_least = c.least > 0 ? smma_larger(smma_power_below(c.least), least_normal) : 0;
  c.last = smma_larger(smma_larger(c.lead_least, least_normal) * smma_power(-s->fraction_bits), s->unit[lane]);
  return c;
}

/* Adds the truncation errors of the terms first, first + stride, ... to the bounds of the sum. Each lane has its own
   q. */
static void lose_terms(const alignment *f, const smma_bound_terms *t, int first, int stride, const double q[LANES],
                       smma_bound_sum *s) {
  double positive[LANES] = {0}, negative[LANES] = {0};
  for (int i = first; i < t->count; i += stride)
    for (int j = 0; j < LANES; j++) {
      const double value = t->value[i][j], unit = t->unit[i][j], cut = unit < q[j] ? q[j] : 0;
      const double part = unit < q[j] ? q[j] - unit : 0, magnitude = fabs(value);
      const double loss = !f->truncates ? cut : part < magnitude ? part : magnitude;
      positive[j] += value > 0 ? loss : 0;
      negative[j] += value < 0 ? loss : 0;
    }
  for (int j = 0; j < LANES; j++) {
    s->below[j] += positive[j] * f->positive_down + negative[j] * f->negative_down;
    s->above[j] += positive[j] * f->positive_up + negative[j] * f->negative_up;
  }
}

static void lose_accumulator(const alignment *f, const accumulator *c, double q, double *below, double *above) {
  double loss = c->last < q ? q : 0;
  if (f->truncates && loss > 0) loss = smma_smaller(q - c->last, c->most);
  if (c->most == 0) return;
  if (c->to > 0) *below += loss * f->positive_down, *above += loss * f->positive_up;
  if (c->from < 0 && !(c->to > 0 && f->positive_down == f->negative_down))
    *below += loss * f->negative_down, *above += loss * f->negative_up;
}

/* Accounts for one block of T-FDPA, ST-FDPA, GST-FDPA, E-FDPA or G-FDPA. `c` is the accumulator before the block. */
static void fuse(const alignment *f, const smma_bound_terms *t, const accumulator c[LANES], double slack,
                 smma_bound_sum *s) {
  double lead[LANES], q[LANES], surely[LANES];
  smma_bound_greatest_leads(t, 0, 1, lead);
  for (int j = 0; j < LANES; j++) {
    q[j] = smma_larger(smma_larger(lead[j], f->zero_lead), c[j].lead_most) * f->resolution * f->coarseness;
    surely[j] = smma_larger(lead[j], c[j].lead_least) * f->resolution * f->unit;
  }
  if (f->resolution == 0) smma_bound_lower_units(t, s->unit);
  if (f->resolution != 0) lose_terms(f, t, 0, 1, q, s);
  for (int j = 0; j < LANES; j++) {
    if (f->resolution != 0) {
      lose_accumulator(f, &c[j], q[j], &s->below[j], &s->above[j]);
      s->unit[j] = surely[j];
    }
    smma_bound_round(s, j, slack, &f->rounding);
    if (f->resolution != 0) s->unit[j] = 0;
  }
  s->fraction_bits = f->rounding.fraction_bits;
}

/* ---- TR-FDPA, GTR-FDPA ---- */

/* Accounts for the truncation of the products under their greatest exponent. With stride 2, even and odd products have
   separate exponents. Sets `joint_lead` to 2^exponent under which the sums are added. */
static void truncate_products(const smma_tr_fdpa *p, int stride, const smma_bound_terms *t, smma_bound_sum *s,
                              double joint_lead[LANES]) {
  const alignment f = {.truncates = true, .positive_down = 1, .negative_up = 1};
  const double resolution = smma_power(-p->alignment_bits);
  double lead[2][LANES] = {{0}}, q[LANES];
  for (int part = 0; part < stride; part++) {
    smma_bound_greatest_leads(t, part, stride, lead[part]);
    for (int j = 0; j < LANES; j++) q[j] = lead[part][j] * resolution;
    lose_terms(&f, t, part, stride, q, s);
  }
  for (int j = 0; j < LANES; j++) {
    joint_lead[j] = smma_larger(lead[0][j], lead[1][j]);
    if (stride == 2 && smma_smaller(lead[0][j], lead[1][j]) > 0 && lead[0][j] != lead[1][j])
      s->below[j] += joint_lead[j] * resolution; /* the smaller sum is rounded down */
  }
}

/* Accounts for the rounding of the sum of products and of c down under their common exponent, then of the total to F2
   bits and to FP32. `products` is 2^exponent of the sum of products. */
static void finish_rounding_down(const smma_rule *r, const accumulator *c, double products, double slack,
                                 smma_bound_sum *s, int lane) {
  const smma_tr_fdpa *p = &r->with.tr_fdpa;
  const smma_bound_rounding f32 = smma_bound_rounding_to(SMMA_F32, SMMA_ROUND_NEAREST_EVEN);
  const double common = smma_larger(smma_larger(products, c->lead_most), f32.least),
               resolution = smma_power(-p->alignment_bits);
  const double sum_unit = common * smma_power(-p->sum_bits - (p->revision > 1));
  double from, to;
  if (products > 0 && products * resolution < sum_unit) s->below[lane] += sum_unit;
  if (c->most > 0 && c->last < common * resolution) s->below[lane] += common * resolution;
  if (r->algorithm == SMMA_GTR_FDPA && c->from < 0 && products > 0)
    s->above[lane] +=
        smma_smaller(-c->from, common * resolution / 2); /* a c much smaller than the sum of products counts as zero */
  s->unit[lane] = 0;
  smma_bound_range(s, lane, slack, &from, &to);
  if (p->revision > 1)
    s->below[lane] += smma_larger(smma_power_below(smma_larger(-from, to)), f32.least) * smma_power(-p->sum_bits);
  smma_bound_round(s, lane, slack, &f32);
}

static void round_down_block(const smma_rule *r, const smma_bound_terms *t, const accumulator c[LANES], double slack,
                             smma_bound_sum *s) {
  double products[LANES];
  truncate_products(&r->with.tr_fdpa, r->algorithm == SMMA_GTR_FDPA ? 2 : 1, t, s, products);
  for (int i = 0; i < t->count; i++)
    for (int j = 0; j < LANES; j++)
      if (fabs(t->value[i][j]) >= 0x1p128) s->below[j] = s->above[j] = INFINITY;
  for (int j = 0; j < LANES; j++) finish_rounding_down(r, &c[j], products[j], slack, s, j);
  s->fraction_bits = smma_encoding_of(SMMA_F32).fraction_bits;
}

/* ---- C-FDPA, GD-FDPA ---- */

/* Accounts for the losses of C-FDPA's terms. In the direction of c's sign, each term is at most one unit q too small: a
   term with the sign of c is truncated, and a term of the opposite sign becomes its complement. A term with the sign of
   c and no bits below q is exact. A zero c may have either sign. */
static void lose_to_complements(const smma_bound_terms *t, const accumulator *c, double q, smma_bound_sum *s,
                                int lane) {
  double loss = c->last < q && c->most > 0 ? q : 0;
  for (int i = 0; i < t->count; i++) {
    const double value = t->value[i][lane];
    const bool agrees = (c->from > 0 && value > 0) || (c->to < 0 && value < 0);
    loss += agrees && t->unit[i][lane] >= q ? 0 : q;
  }
  if (c->to >= 0) s->below[lane] += loss;
  if (c->from <= 0) s->above[lane] += loss;
}

/* Accounts for terms that are rounded down: products within their group, then groups and c to multiples of the common
   unit q. A c with a magnitude below q counts as zero. */
static void lose_downward(const smma_c_fdpa *p, const smma_bound_terms *t, const accumulator *c, double q,
                          smma_bound_sum *s, int lane) {
  const int length = smma_minimum(p->group, t->count);
  for (int first = 0; first < t->count; first += length) {
    double lead = 0, unit;
    for (int i = first; i < first + length; i++) lead = smma_larger(lead, t->lead[i][lane]);
    unit = lead * smma_power(-p->alignment_bits);
    for (int i = first; i < first + length; i++)
      if (t->unit[i][lane] < unit) s->below[lane] += unit;
    if (lead > 0 && unit < q) s->below[lane] += q;
  }
  if (c->most > 0 && c->last < q) s->below[lane] += q;
  if (c->from < 0) s->above[lane] += smma_smaller(-c->from, q);
}

static void add_below_c(const smma_operation *o, const smma_bound_terms *t, const accumulator c[LANES], double slack,
                        smma_bound_sum *s) {
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  const smma_format wide = p->output == SMMA_BF16 ? SMMA_F32 : p->output;
  const smma_bound_rounding half = smma_bound_rounding_to(SMMA_BF16, SMMA_ROUND_TOWARD_ZERO);
  smma_bound_rounding rounding = smma_bound_rounding_to(wide, SMMA_ROUND_NEAREST_EVEN);
  double lead[LANES];
  rounding.flushes = o->rule.algorithm == SMMA_C_FDPA && smma_c_fdpa_subnormals(o->d) != SMMA_SUBNORMALS_KEPT;
  if (p->overflow != SMMA_SUM_TO_INFINITY)
    rounding.limit = smma_bound_rounding_to(wide, SMMA_ROUND_DOWN).limit; /* above it a sum may saturate */
  smma_bound_greatest_leads(t, 0, 1, lead);
  for (int j = 0; j < LANES; j++) {
    const double q = smma_larger(lead[j] * smma_power(-p->alignment_bits),
                                 smma_larger(c[j].lead_most, rounding.least) * smma_power(-p->c_bits));
    if (lead[j] > 0 || c[j].most > 0) {
      if (o->rule.algorithm == SMMA_C_FDPA)
        lose_to_complements(t, &c[j], q, s, j);
      else
        lose_downward(p, t, &c[j], q, s, j);
    }
    s->unit[j] = 0;
    smma_bound_round(s, j, slack, &rounding);
    if (wide != p->output) smma_bound_round(s, j, slack, &half);
  }
  s->fraction_bits = smma_encoding_of(p->output).fraction_bits;
}

/* ---- Blocks in order ---- */

static bool adds_below_c(const smma_rule *r) { return r->algorithm == SMMA_C_FDPA || r->algorithm == SMMA_GD_FDPA; }

void smma_bound_add_blocks(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                           const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const bool rounds_down = o->rule.algorithm == SMMA_TR_FDPA || o->rule.algorithm == SMMA_GTR_FDPA;
  alignment f = g                                       ? alignment_of_g_fdpa(g)
                : rounds_down || adds_below_c(&o->rule) ? (alignment){0}
                                                        : alignment_of(&o->rule);
  const int blocks = g ? o->k / g->block : smma_blocks_per_step(o);
  const double least = smma_power(smma_minimum_exponent(smma_encoding_of(o->d)));
  accumulator c[LANES];
  smma_bound_terms t;
  t.flushes = smma_bound_flushes_factors(&o->rule) || o->rule.algorithm == SMMA_C_FDPA;
  t.is_long = smma_bound_has_long_products(o);
  if (g) f.coarseness = smma_power(o->rule.with.composition.step[0].reference_multiple - 1);
  for (int block = 0; block < blocks; block++) {
    for (int j = 0; j < LANES; j++) c[j] = accumulator_of(s, j, slack, least);
    smma_bound_take_block(o, g, a, b, block, s, &t);
    if (f.normalized) smma_bound_normalize_leads(&t);
    if (adds_below_c(&o->rule))
      add_below_c(o, &t, c, slack, s);
    else if (rounds_down)
      round_down_block(&o->rule, &t, c, slack, s);
    else
      fuse(&f, &t, c, slack, s);
  }
}

void smma_bound_add_apart(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                          const smma_bound_factors *b, double slack, const smma_bound_rounding *rounding,
                          smma_bound_sum *s) {
  smma_bound_sum part = {.fraction_bits = s->fraction_bits};
  smma_bound_add_blocks(o, g, a, b, slack, &part);
  for (int j = 0; j < LANES; j++) {
    part.unit[j] = 0;
    smma_bound_join(&part, j, s);
    smma_bound_round(s, j, slack, rounding);
  }
  s->fraction_bits = rounding->fraction_bits;
}

void smma_bound_add_chain(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                          const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const double limit = smma_bound_rounding_to(o->d, g->c_rounding).limit;
  smma_bound_rounding rounding = alignment_of_g_fdpa(g).rounding;
  if (g->c_joins == SMMA_C_JOINS_FIRST) {
    smma_bound_add_blocks(o, g, a, b, slack, s);
    return;
  }
  rounding.direction = g->c_rounding;
  rounding.limit = smma_smaller(rounding.limit, limit);
  smma_bound_add_apart(o, g, a, b, slack, &rounding, s);
}
