/* Explains compositions step by step: every sum of a step, with its terms aligned or exact. */
#include <string.h>

#include "explain/builder.h"
#include "explain/numbers.h"
#include "isa/catalogue.h"
#include "isa/key.h"
#include "isa/print.h"

/* Numbers of 2^MOST_EXPONENT or more are not drawn. */
#define MOST_EXPONENT (SMMA_WIDE_LEAST + 32 * (SMMA_WIDE_LIMBS - 4))

/* A node of a composition (a product or sum) and its name. */
typedef struct {
  smma_node node;
  char label[24];
  int k;          /* index of a product; otherwise -1 */
  int products;   /* number of products since the last rounding that the node sums; 1 for a product */
  bool is_summed; /* whether it is the sum of `stage`, not rounded */
  size_t stage;
  char factors[72]; /* "1.5 * 2.25"; empty for a node that is not a product */
  bool is_flushed;  /* the node is zero because of a flushed operand */
  bool is_scaled;   /* the last two factors are scale factors */
} named;

/* The sum to explain. */
typedef struct {
  smma_explain_builder *builder;
  const smma_step *step;
  char where[64]; /* the sum's name in titles: "step 2 of 3, sum 1" */
  const named *term;
  int count; /* number of terms; the accumulator is the last one if there are more terms than a group has */
} sum;

/* Returns the leading 64 bits of the node as a number. */
static smma_number number_of(smma_node n) {
  const smma_leading x = smma_leading_of(n);
  return (smma_number){.significand = x.significand,
                       .exponent = n.exponent,
                       .fraction_bits = (int16_t)(n.exponent - x.exponent),
                       .kind = n.kind,
                       .negative = n.negative};
}

/* Returns the bits of the node below its leading 64 bits as a number. */
static smma_number low_bits_of(smma_node n) {
  const int more = smma_maximum(smma_bit_length_bits128(n.significand) - 64, 0);
  return (smma_number){.significand = smma_low_bits(n.significand.low, more),
                       .exponent = n.exponent,
                       .fraction_bits = n.fraction_bits,
                       .kind = more ? n.kind : SMMA_ZERO,
                       .negative = n.negative};
}

/* Reports whether the rule flushes a finite number. */
static bool is_flushed(smma_subnormal_policy policy, smma_nan_policy nan, smma_number x) {
  const smma_number read = smma_with_policy(nan, x);
  return read.kind == SMMA_FINITE && smma_flush(policy, read).kind == SMMA_ZERO;
}

/* Returns the factor of a[k] (or b[k]) in a phase as the explanation shows it: aligned in its block if factors are, and
   only the slice that the phase multiplies. Sets `*flushed` if it is flushed, and then returns it unchanged. */
static smma_number shown_factor(const smma_explain_builder *b, bool of_a, int k, int phase, bool *flushed) {
  const smma_operation *o = b->operation;
  const smma_composition *p = &o->rule.with.composition;
  const smma_number *factor = of_a ? b->x.a : b->x.b;
  const smma_subnormal_policy policy = of_a ? p->subnormal_a : p->subnormal_b;
  const int bits = of_a ? p->block_bits_a : p->block_bits_b;
  smma_number x = factor[k];
  if (is_flushed(policy, o->rule.nan, x)) {
    *flushed = true;
    return x;
  }
  if (bits) x = smma_block_factor(p, policy, o->rule.nan, bits, factor, o->k, k);
  return smma_significand_slice(x, of_a ? p->slice_a : p->slice_b, of_a ? phase / p->slices_b : phase % p->slices_b);
}

static void set_factors(const smma_explain_builder *b, named *n, int k, int phase) {
  bool flushed = false;
  const smma_number factor[2] = {shown_factor(b, true, k, phase, &flushed), shown_factor(b, false, k, phase, &flushed)};
  n->is_flushed = flushed && n->node.kind == SMMA_ZERO;
  if (b->operation->rule.with.composition.product == SMMA_PRODUCT_XOR)
    smma_explain_xor(n->factors, sizeof n->factors, factor);
  else
    smma_explain_factors(n->factors, sizeof n->factors, factor, 2);
}

static void add_terms(const sum *s) {
  for (int i = 0; i < s->count; i++) {
    const named *term = &s->term[i];
    smma_explain_line *line = smma_explain_add_line(s->builder, term->label, number_of(term->node));
    line->low = low_bits_of(term->node);
    line->exponent = smma_brought_exponent(smma_cut_of(s->step, i), term->node);
    line->has_exponent = line->exponent != SMMA_NO_EXPONENT;
    if (!line->has_exponent) line->exponent = term->node.exponent;
    line->product = term->k >= 0;
    line->is_flushed = term->is_flushed;
    memcpy(line->factors, term->factors, sizeof line->factors);
  }
}

static bool fits(smma_bits128 x) { return x.high == 0 && x.low >> 62 == 0; }

static int64_t signed_value(smma_bits128 magnitude, bool negative) {
  return negative ? -(int64_t)magnitude.low : (int64_t)magnitude.low;
}

/* Fills the lines of the stage with the terms as the sum adds them: aligned and cut. Returns false if a term or the sum
   has more bits than can be drawn. */
static bool align(const sum *s, smma_stage *stage, const smma_node *term, smma_node total) {
  const int bits = smma_sum_bits(s->step, s->count);
  const smma_bits128 zero = {0, 0};
  const bool complements = smma_complements(s->step, s->count);
  const bool frame = complements && term[s->count - 1].negative;
  if (!fits(total.significand) || total.exponent - bits < SMMA_WIDE_LEAST || total.exponent - bits + 62 > MOST_EXPONENT)
    return false;
  for (int i = 0; i < s->count; i++) {
    const smma_cut *cut = smma_cut_of(s->step, i);
    smma_bits128 kept = smma_cut_term(s->step, i, s->count, term[i], total.exponent, frame);
    const bool below = kept.high >> 63;
    if (below) kept = smma_subtract_bits128(zero, kept);
    if (!fits(kept)) return false;
    stage->line[i].cut = complements ? total.exponent - bits : total.exponent - cut->bits + cut->again;
    const int shift = stage->line[i].cut -
                      (total.exponent - bits); /* aligned terms have at most 62 bits, so a shift by 62 removes all */
    stage->line[i].aligned = signed_value(kept, below != frame) >> (shift < 62 ? shift : 62);
    stage->line[i].rounds_down =
        cut->rounding == SMMA_ROUND_DOWN && !smma_is_dropped(s->step, i, term[i], total.exponent);
  }
  stage->emax = total.exponent;
  stage->sum = signed_value(total.significand, total.negative);
  stage->sum_exponent = total.exponent - bits;
  return true;
}

/* Reports whether the aligned terms and their sum have too many columns for a drawing. */
static bool is_wide(const smma_stage *stage) {
  int top = stage->emax;
  for (int i = 0; i < stage->line_count; i++)
    if (stage->line[i].exact.kind == SMMA_FINITE) top = smma_maximum(top, smma_exact_term(&stage->line[i]).top);
  top = smma_maximum(top, stage->sum_exponent + smma_bit_length(smma_magnitude(stage->sum)));
  return top - stage->sum_exponent >= SMMA_RULER_SIZE - SMMA_RULER_BARS;
}

static void tell_cut(const char *what, const smma_cut *cut, int reference, char *text, size_t size) {
  if (cut->bits == SMMA_EXACT_ALIGNMENT)
    smma_append_text(text, size, "; %s exact", what);
  else
    smma_append_text(text, size, "; %s rounded %s at %d bits below it (%s)", what, smma_rounding_words(cut->rounding),
                     cut->bits, smma_text_of_power(reference - cut->bits).text);
  if (cut->again) smma_append_text(text, size, ", then at %d", cut->bits - cut->again);
}

static void tell_cuts(const sum *s, int reference, char *text, size_t size) {
  const smma_cut *term = &s->step->term, *accumulator = &s->step->accumulator;
  const bool alike =
      term->bits == accumulator->bits && term->rounding == accumulator->rounding && term->again == accumulator->again;
  smma_append_text(text, size, ": E = %d", reference);
  if (s->step->reference_multiple > 1) smma_append_text(text, size, ", a multiple of %d", s->step->reference_multiple);
  if (alike && s->count > s->step->take) {
    tell_cut("all", term, reference, text, size);
    return;
  }
  tell_cut("terms", &s->step->term, reference, text, size);
  if (s->count > s->step->take) tell_cut("the accumulator", &s->step->accumulator, reference, text, size);
}

/* Writes a note on the operations on a sum other than its rounding to the output: complements (on a separate line), a
   limited width, a first rounding, flushing. */
static void note_sum(const sum *s, char *note, size_t size) {
  const smma_step *p = s->step;
  for (int i = 0; i < s->count && !*note; i++)
    if (s->term[i].is_scaled) smma_append_text(note, size, "the last two factors are scale factors; ");
  if (p->opposing == SMMA_OPPOSING_COMPLEMENT)
    smma_append_text(note, size, "terms whose sign is not the accumulator's count one unit less, zeros, too\n  ");
  if (p->minus_one_shift) smma_append_text(note, size, "a sum of -1 unit counts as -2^%d units; ", p->minus_one_shift);
  if (p->width != SMMA_NONE)
    smma_append_text(note, size, "the sum has %d bits and %s; ", p->width,
                     p->width_overflow == SMMA_INTEGER_WRAPS ? "wraps" : "saturates");
  if (p->narrow_bits != SMMA_NONE)
    smma_append_text(note, size, "first rounded %s to %d fraction bits; ", smma_rounding_words(p->narrow_rounding),
                     p->narrow_bits);
  if (p->subnormal_outputs != SMMA_SUBNORMALS_KEPT) smma_append_text(note, size, "a subnormal result becomes zero; ");
  for (size_t end = strlen(note); end > 0 && strchr(" ;\n", note[end - 1]); end--) note[end - 1] = 0;
}

static bool is_dropped(const sum *s, const smma_node *term, int i, int reference) {
  return term[i].kind == SMMA_FINITE && smma_is_dropped(s->step, i, term[i], reference);
}

/* Writes a note on terms that count as zero because they are too small. */
static void note_dropped(const sum *s, const smma_node *term, int reference, char *note, size_t size) {
  for (int i = 0; i < s->count; i++)
    if (is_dropped(s, term, i, reference))
      smma_append_text(note, size, "%s%s counts as 0, so far below the sum", *note ? "\n  " : "", s->term[i].label);
}

/* Reports whether an exact sum can hold the terms. */
static bool are_drawable(const sum *s, const smma_node *term) {
  for (int i = 0; i < s->count; i++)
    if (term[i].kind == SMMA_FINITE && (term[i].exponent - term[i].fraction_bits < SMMA_WIDE_LEAST ||
                                        smma_node_leading_exponent(term[i]) >= MOST_EXPONENT))
      return false;
  return true;
}

static void note_undrawn(smma_stage *stage) {
  stage->kind = SMMA_STAGE_NOTE;
  stage->reason = SMMA_REASON_UNDRAWN;
  smma_append_text(stage->note, sizeof stage->note, "%smore bits than are drawn", *stage->note ? "; " : "");
}

static smma_stage *explain_special(const sum *s) {
  smma_stage *stage = smma_explain_add_stage(s->builder, SMMA_STAGE_NOTE);
  snprintf(stage->title, sizeof stage->title, "%s: special values decide, without arithmetic", s->where);
  stage->reason = SMMA_REASON_SPECIAL;
  for (int i = 0; i < s->count; i++) {
    const smma_node *n = &s->term[i].node;
    const bool finite = n->kind <= SMMA_FINITE;
    if (finite && !n->beyond) continue;
    smma_append_text(stage->note, sizeof stage->note, "%s%s %s", *stage->note ? ", " : "", s->term[i].label,
                     finite                ? "has a product beyond the limit"
                     : n->kind == SMMA_NAN ? "is NaN"
                     : n->negative         ? "is -infinity"
                                           : "is +infinity");
  }
  return stage;
}

/* Marks and notes the terms of an exact sum that count as zero. */
static void mark_dropped(const sum *s, smma_stage *stage, const smma_node *term) {
  const int reference = smma_reference_exponent(s->step, term, s->count);
  for (int i = 0; i < stage->line_count; i++) stage->line[i].is_dropped = is_dropped(s, term, i, reference);
  note_dropped(s, term, reference, stage->note, sizeof stage->note);
}

/* Explains a sum whose terms are exact, or in which only the products or only the accumulator are truncated. */
static smma_stage *explain_exact(const sum *s, const smma_node *term) {
  const bool cut = s->step->term.bits != s->step->accumulator.bits && s->count > s->step->take;
  smma_stage *stage = smma_explain_add_stage(s->builder, cut ? SMMA_STAGE_NOTE : SMMA_STAGE_EXACT);
  snprintf(stage->title, sizeof stage->title, "%s%s", s->where, cut ? "" : ": exact");
  if (cut) stage->reason = SMMA_REASON_UNDRAWN;
  if (cut) tell_cuts(s, smma_reference_exponent(s->step, term, s->count), stage->title, sizeof stage->title);
  if (!cut) add_terms(s);
  note_sum(s, stage->note, sizeof stage->note);
  if (!smma_adds_whole_terms(s->step, s->count)) mark_dropped(s, stage, term);
  if (!cut && !are_drawable(s, term)) note_undrawn(stage);
  return stage;
}

static bool is_every_zero(const sum *s, const smma_node *term) {
  for (int i = 0; i < s->count; i++)
    if (term[i].kind != SMMA_ZERO) return false;
  return true;
}

static smma_stage *explain_cut(const sum *s, const smma_node *term) {
  const smma_node total = smma_cut_sum(s->step, term, s->count);
  const bool zeros = is_every_zero(s, term), low = !zeros && smma_is_below_reference(s->step, total.exponent);
  smma_stage *stage = smma_explain_add_stage(s->builder, zeros || low ? SMMA_STAGE_NOTE : SMMA_STAGE_ALIGN);
  snprintf(stage->title, sizeof stage->title, "%s%s", s->where,
           zeros ? ": every term is zero"
           : low ? ": the reference exponent is too low, so it is zero"
                 : "");
  stage->reason = SMMA_REASON_ZERO;
  if (zeros || low) return stage;
  tell_cuts(s, total.exponent, stage->title, sizeof stage->title);
  add_terms(s);
  note_sum(s, stage->note, sizeof stage->note);
  note_dropped(s, term, total.exponent, stage->note, sizeof stage->note);
  if (total.kind == SMMA_ZERO)
    smma_append_text(stage->note, sizeof stage->note, "%sit cancelled, so it counts as a zero",
                     *stage->note ? "\n  " : "");
  if (!are_drawable(s, term) || !align(s, stage, term, total) || is_wide(stage)) note_undrawn(stage);
  return stage;
}

static smma_node explain_sum(const sum *s) {
  const smma_step *step = s->step;
  smma_node term[SMMA_MAXIMUM_K + 1], result;
  smma_stage *stage;
  for (int i = 0; i < s->count; i++) term[i] = s->term[i].node;
  result = smma_fuse(step, s->builder->operation->rule.nan, term, s->count);
  if (smma_special_node(step, s->builder->operation->rule.nan, term, s->count).kind != SMMA_FINITE)
    stage = explain_special(s);
  else if (smma_is_exact(step, s->count))
    stage = explain_exact(s, term);
  else
    stage = explain_cut(s, term);
  if (step->output == SMMA_NO_FORMAT) return result;
  smma_explain_rounding(step->rounding, step->output, stage->rounding, sizeof stage->rounding);
  stage->result_format = step->output;
  stage->result = result.code;
  return result;
}

/* Sets the number of products of the last stage, which sums the terms, and connects their stages with it. Returns the
   number. */
static int connect_terms(const sum *s) {
  smma_explanation *e = s->builder->explanation;
  smma_stage *stage = &e->stage[e->count - 1];
  for (int i = 0; i < s->count; i++) {
    stage->products += s->term[i].products;
    if (s->term[i].is_summed) e->stage[s->term[i].stage].term_of = e->count - 1;
  }
  return stage->products;
}

/* ---- Steps ---- */

typedef struct {
  smma_explain_builder *builder;
  int step, sums; /* index of the current step; number of its sums so far */
  named node[SMMA_MAXIMUM_K];
  int count; /* number of nodes */
} walk;

static const smma_composition *composition_of(const walk *w) { return &w->builder->operation->rule.with.composition; }

/* Explains the next sum of a step; returns its value with its name. */
static named next_sum(walk *w, const named *term, int count) {
  const smma_composition *p = composition_of(w);
  sum s = {.builder = w->builder, .step = &p->step[w->step], .term = term, .count = count};
  named result = {.k = -1};
  snprintf(s.where, sizeof s.where, "step %d of %d, sum %d", w->step + 1, p->steps, ++w->sums);
  snprintf(result.label, sizeof result.label, "sum %d.%d", w->step + 1, w->sums);
  result.node = explain_sum(&s);
  const int products = connect_terms(&s);
  if (s.step->output != SMMA_NO_FORMAT) return result;
  result.products = products;
  result.is_summed = true;
  result.stage = w->builder->explanation->count - 1;
  return result;
}

static void take_group(const walk *w, int window, int group, named *term) {
  const smma_step *s = &composition_of(w)->step[w->step];
  for (int i = 0; i < s->take; i++) term[i] = w->node[smma_dealt_index(s->take, s->turn, window, group, i)];
}

static void explain_apart(walk *w, int window) {
  const int take = composition_of(w)->step[w->step].take, groups = w->count / take;
  named term[SMMA_MAXIMUM_K], fused[SMMA_MAXIMUM_K];
  for (int group = 0; group < groups; group++) {
    take_group(w, window, group, term);
    fused[group] = next_sum(w, term, take);
  }
  memcpy(w->node, fused, (size_t)groups * sizeof *fused);
  w->count = groups;
}

static void explain_chains(walk *w) {
  const smma_step *s = &composition_of(w)->step[w->step];
  const smma_operation *o = w->builder->operation;
  const smma_number read = smma_with_policy(o->rule.nan, smma_decode(smma_encoding_of(o->d), w->builder->c));
  const smma_number c = smma_flush(composition_of(w)->subnormal_c, read);
  const int groups = w->count / s->take;
  named term[SMMA_MAXIMUM_K + 1], fused[SMMA_MAXIMUM_K];
  for (int chain = 0; chain < s->chains; chain++) {
    named before = {.node = smma_node_zero(o->d), .label = "start", .k = -1};
    if (chain == 0 && s->start == SMMA_START_C)
      before =
          (named){.node = smma_node_of(c, w->builder->c), .label = "c", .k = -1, .is_flushed = c.kind != read.kind};
    for (int link = 0; link < groups / s->chains; link++) {
      take_group(w, s->window, smma_chain_group(s, groups, chain, link), term);
      term[s->take] = before;
      before = next_sum(w, term, link == 0 && s->start == SMMA_START_NOTHING ? s->take : s->take + 1);
    }
    fused[chain] = before;
  }
  memcpy(w->node, fused, (size_t)s->chains * sizeof *fused);
  w->count = s->chains;
}

static void explain_step(walk *w) {
  const smma_step *s = &composition_of(w)->step[w->step];
  w->sums = 0;
  switch (s->join) {
    case SMMA_JOIN_APART: explain_apart(w, s->window); return;
    case SMMA_JOIN_TREE:
      explain_apart(w, s->window);
      for (int window = s->window / s->take; window > 1; window /= s->take) explain_apart(w, window);
      return;
    case SMMA_JOIN_CHAIN: explain_chains(w); return;
  }
}

/* Adds the scale factors to the factors of a product, or to a sum that they multiply. */
static void show_scales(named *n, smma_number scale_a, smma_number scale_b) {
  char scales[40];
  smma_explain_factors(scales, sizeof scales, (smma_number[]){scale_a, scale_b}, 2);
  if (n->k < 0) smma_explain_factors(n->factors, sizeof n->factors, (smma_number[]){number_of(n->node)}, 1);
  smma_append_text(n->factors, sizeof n->factors, " * %s", scales);
  n->is_scaled = true;
}

static void scale(walk *w) {
  const smma_operation *o = w->builder->operation;
  smma_node node[SMMA_MAXIMUM_K];
  for (int i = 0; i < w->count; i++) {
    const int s = o->scale_block ? o->k / w->count * i / o->scale_block : 0;
    node[i] = w->node[i].node;
    if (o->scale_block) show_scales(&w->node[i], w->builder->x.scale_a[s], w->builder->x.scale_b[s]);
  }
  smma_scale_nodes(node, w->count, o->k, o->scale_block, w->builder->x.scale_a, w->builder->x.scale_b);
  for (int i = 0; i < w->count; i++) w->node[i].node = node[i];
}

/* Names a product, such as "a[3]*b[3]", or a product of slices: "a0[3]*b1[3]" is the product of the first slice of a[3]
   and the second slice of b[3]. */
static void name_product(const smma_composition *p, int k, int phase, char *label, size_t size) {
  if (p->slice_a || p->slice_b)
    smma_print(label, size, "a%d[%d]*b%d[%d]", phase / p->slices_b, k, phase % p->slices_b, k);
  else
    smma_print(label, size, p->product == SMMA_PRODUCT_XOR ? "a[%d]^b[%d]" : "a[%d]*b[%d]", k, k);
}

uint64_t smma_explain_composition(smma_explain_builder *b) {
  const smma_operation *o = b->operation;
  const smma_composition *p = &o->rule.with.composition;
  walk w = {.builder = b, .count = smma_product_nodes(p, o->k)};
  for (int i = 0; i < w.count; i++) {
    const int k = i % o->k, phase = p->first_phase + i / o->k;
    w.node[i] = (named){
        .node = smma_composition_product(p, o->rule.nan, b->x.a, b->x.b, o->k, k, phase), .k = k, .products = 1};
    name_product(p, k, phase, w.node[i].label, sizeof w.node[i].label);
    set_factors(b, &w.node[i], k, phase);
  }
  for (int step = 0; step <= p->steps; step++) {
    w.step = step - 1;
    if (step > 0) explain_step(&w);
    if (step == p->scaled_step) scale(&w);
  }
  return w.node[0].node.code;
}
