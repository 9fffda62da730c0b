#include "infer/start.h"

#include <stdlib.h>
#include <string.h>

#include "host/thread.h"
#include "infer/parameter.h"
#include "unit/unit.h"

enum {
  MOST_SETTINGS = 4096,    /* maximum number of uniform settings (all steps of a shape truncate and round alike) */
  FAMILIES = 5,            /* number of families of settings */
  STARTS_PER_FAMILY = 2,   /* number of candidates taken from each family */
  SEPARATE_CANDIDATES = 4, /* maximum number of candidates whose steps get separate values */
  SUBSET_DIVISOR = 3,      /* separate values are first tried on 1 / SUBSET_DIVISOR of the vectors */
  MOST_BITS = 48           /* largest alignment width tried */
};

/* Stages of the comparison of settings. */
static const struct {
  size_t part;   /* the stage uses 1 / part of the vectors */
  int of_family; /* the stage compares this many settings of each family, the best of the previous stage */
} stages[] = {{12, MOST_SETTINGS}, {3, 128}, {1, 32}};
enum { STAGES = sizeof stages / sizeof stages[0] };

/* A uniform setting: how every step of a shape truncates and rounds. */
typedef struct {
  enum { CUT_OWN, CUT_NORMALIZED, DROPPED, NARROWED, FIXED } family;
  smma_brings brings;
  int reference, bits, drop; /* if bits is SMMA_EXACT_ALIGNMENT, rounded sums are exact before they are rounded */
  smma_rounding alignment, rounding, narrow_rounding;
  smma_opposing opposing;
  int narrow_bits;
  size_t wrong; /* number of vectors that disagree with the setting */
  int number;   /* index in the list, which decides between equally good settings */
} setting;

typedef struct {
  setting *all;
  int count;
} setting_list;

static void add(setting_list *w, setting x) {
  x.number = w->count;
  if (w->count < MOST_SETTINGS) w->all[w->count++] = x;
}

static const smma_rounding roundings[] = {SMMA_ROUND_NEAREST_EVEN, SMMA_ROUND_TOWARD_ZERO,  SMMA_ROUND_DOWN,
                                          SMMA_ROUND_TO_ODD,       SMMA_ROUND_NEAREST_AWAY, SMMA_ROUND_UP};
enum { ROUNDINGS = sizeof roundings / sizeof roundings[0] };

static void add_cut(setting_list *w, int fraction_bits, bool chains) {
  for (int bits = fraction_bits - 2; bits <= fraction_bits + 12; bits++)
    for (int r = 0; r < ROUNDINGS; r++)
      for (int a = 0; a < ROUNDINGS; a++)
        for (int opposing = 0; opposing <= chains; opposing++)
          for (int normalized = 0; normalized <= 1; normalized++)
            add(w, (setting){.family = normalized ? CUT_NORMALIZED : CUT_OWN,
                             .brings = normalized ? SMMA_BRINGS_NORMALIZED : SMMA_BRINGS_OWN,
                             .reference = SMMA_NONE,
                             .bits = bits,
                             .drop = SMMA_NONE,
                             .alignment = roundings[a],
                             .rounding = roundings[r],
                             .opposing = (smma_opposing)opposing,
                             .narrow_bits = SMMA_NONE});
}

/* Adds settings that drop small terms entirely instead of truncating them. */
static void add_dropped(setting_list *w, int fraction_bits) {
  for (int drop = fraction_bits - 3; drop <= fraction_bits + 12; drop++)
    for (int r = 0; r < ROUNDINGS; r++)
      for (int normalized = 0; normalized <= 1; normalized++)
        add(w, (setting){.family = DROPPED,
                         .brings = normalized ? SMMA_BRINGS_NORMALIZED : SMMA_BRINGS_OWN,
                         .reference = SMMA_NONE,
                         .bits = SMMA_EXACT_ALIGNMENT,
                         .drop = drop,
                         .alignment = SMMA_ROUND_TOWARD_ZERO,
                         .rounding = roundings[r],
                         .narrow_bits = SMMA_NONE});
}

static void add_narrowed(setting_list *w, int fraction_bits) {
  for (int more = 0; more <= 10; more++)
    for (int r = 0; r < ROUNDINGS; r++)
      for (int n = 0; n < (more ? ROUNDINGS : 1); n++)
        add(w, (setting){.family = NARROWED,
                         .reference = SMMA_NONE,
                         .bits = SMMA_EXACT_ALIGNMENT,
                         .drop = SMMA_NONE,
                         .alignment = SMMA_ROUND_TOWARD_ZERO,
                         .rounding = roundings[r],
                         .narrow_rounding = roundings[n],
                         .narrow_bits = more ? fraction_bits + more : SMMA_NONE});
}

/* Adds settings that add in fixed point, with 0 to 60 bits below the binary point. */
static void add_fixed(setting_list *w) {
  for (int bits = 0; bits <= 60; bits += 2)
    for (int r = 0; r < ROUNDINGS; r++)
      for (int a = 0; a < (bits ? ROUNDINGS : 1); a++)
        add(w, (setting){.family = FIXED,
                         .bits = bits,
                         .drop = SMMA_NONE,
                         .alignment = roundings[a],
                         .rounding = roundings[r],
                         .narrow_bits = SMMA_NONE});
}

static smma_composition composed(const smma_composition *shape, smma_format d, const setting *x) {
  const bool is_integer = smma_is_integer(d);
  smma_composition p = *shape;
  for (smma_step *s = p.step; s < p.step + p.steps; s++) {
    const bool unrounded = s->output == SMMA_NO_FORMAT;
    s->reference = x->reference;
    s->rounding = x->rounding;
    s->term.brings = x->brings;
    s->term.rounding = x->alignment;
    s->term.bits = x->bits;
    s->term.drop = x->drop;
    if (unrounded && x->bits == SMMA_EXACT_ALIGNMENT) s->term.bits = 2 * smma_encoding_of(d).fraction_bits;
    s->accumulator = s->term;
    s->zero_sign = SMMA_ZERO_POSITIVE;
    if (s->join == SMMA_JOIN_CHAIN) s->opposing = x->opposing;
    if (s == p.step + p.steps - 1) s->narrow_bits = x->narrow_bits, s->narrow_rounding = x->narrow_rounding;
    if (is_integer && x->family == FIXED) s->width = smma_encoding_of(d).bits;
  }
  return p;
}

static int compare(const void *one, const void *other) {
  const setting *x = one, *y = other;
  if (x->wrong != y->wrong) return x->wrong < y->wrong ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

/* Makes candidates from the STARTS_PER_FAMILY best settings of each family. The list of settings must be sorted, best
   first. */
static int take_best(const smma_fit *f, const smma_composition *shape, const setting_list *w,
                     smma_candidate best[SMMA_MOST_STARTS]) {
  int taken[FAMILIES] = {0}, count = 0;
  for (int n = 0; n < w->count && count < SMMA_MOST_STARTS; n++) {
    const setting *x = &w->all[n];
    if (x->wrong == SIZE_MAX || taken[x->family]++ >= STARTS_PER_FAMILY) continue;
    best[count++] = (smma_candidate){composed(shape, f->model.instruction.d, x), x->wrong};
  }
  return count;
}

/* Counts for each setting how many of the first `count` selected samples disagree with it. Then sorts the settings,
   the best first. */
static void count_wrong(const smma_fit *f, const smma_composition *shape, setting_list *w, size_t count) {
  smma_fit some = *f;
  some.selected = count;
#pragma omp parallel for num_threads(smma_default_threads()) schedule(dynamic, 16)
  for (int n = 0; n < w->count; n++) {
    const smma_composition p = composed(shape, f->model.instruction.d, &w->all[n]);
    w->all[n].wrong = !smma_units_stopped() && smma_fit_allows(f, &p) ? smma_fit_count(&some, &p, count) : SIZE_MAX;
  }
  qsort(w->all, (size_t)w->count, sizeof *w->all, compare);
}

/* Removes all settings except the first `of_family` of each family and those without mismatches. */
static void keep_best(setting_list *w, int of_family) {
  int taken[FAMILIES] = {0}, kept = 0;
  for (int n = 0; n < w->count; n++)
    if (taken[w->all[n].family]++ < of_family || w->all[n].wrong == 0) w->all[kept++] = w->all[n];
  w->count = kept;
}

/* ---- Separate values for each step, and for accumulator and terms ---- */

/* Replaces the candidate by another composition if fewer vectors disagree with that. */
static void try_composition(const smma_fit *f, smma_candidate *c, const smma_composition *p) {
  if (c->wrong == 0 || smma_units_stopped() || !smma_fit_allows(f, p)) return;
  const size_t wrong = smma_fit_count(f, p, c->wrong - 1);
  if (wrong < c->wrong) *c = (smma_candidate){*p, wrong};
}

static void try_value(const smma_fit *f, smma_candidate *c, int step, const smma_key *key, int value) {
  smma_composition p = c->model;
  smma_parameter_set(&p.step[step], key, value, true);
  if (smma_key_allows(key, value)) try_composition(f, c, &p);
}

/* Tries each treatment of subnormal factors, of a subnormal c and of subnormal results. */
static void try_flushes(const smma_fit *f, smma_candidate *c) {
  for (int policy = SMMA_SUBNORMALS_KEPT; policy <= SMMA_SUBNORMALS_TO_POSITIVE_ZERO; policy++)
    for (int of = 0; of < 3; of++) {
      smma_composition p = c->model;
      if (of == 0) p.subnormal_a = p.subnormal_b = (smma_subnormal_policy)policy;
      if (of == 1) p.subnormal_c = (smma_subnormal_policy)policy;
      for (smma_step *s = p.step; of == 2 && s < p.step + p.steps; s++)
        if (s->output != SMMA_NO_FORMAT) s->subnormal_outputs = (smma_subnormal_policy)policy;
      try_composition(f, c, &p);
    }
}

/* Tries alignment bits, alignment rounding and exponent of one step's terms, or of its accumulator. */
static void let_step_differ(const smma_fit *f, smma_candidate *c, int step, bool accumulator) {
  static const char *const names[][3] = {
      {"alignment_bits", "alignment_rounding", "exponent"},
      {"accumulator_alignment_bits", "accumulator_alignment_rounding", "accumulator_exponent"}};
  const smma_key *key[3];
  for (int n = 0; n < 3; n++) key[n] = smma_find_step_key(names[accumulator][n], strlen(names[accumulator][n]));
  for (int bits = 0; bits <= MOST_BITS; bits++) try_value(f, c, step, key[0], bits);
  for (int r = 0; r < ROUNDINGS; r++) try_value(f, c, step, key[1], (int)roundings[r]);
  for (int brings = 0; brings < smma_parameter_choices(key[2]); brings++) try_value(f, c, step, key[2], brings);
}

/* Changes single values of single steps of each candidate until no change makes fewer vectors disagree. */
static void let_steps_differ(const smma_fit *f, smma_candidate *c, int count) {
#pragma omp parallel for num_threads(smma_default_threads()) schedule(dynamic, 1)
  for (int n = 0; n < count; n++)
    for (size_t wrong = c[n].wrong + 1; c[n].wrong < wrong;) {
      wrong = c[n].wrong;
      try_flushes(f, &c[n]);
      for (int step = 0; step < c[n].model.steps; step++) {
        let_step_differ(f, &c[n], step, false);
        if (c[n].model.step[step].join == SMMA_JOIN_CHAIN) let_step_differ(f, &c[n], step, true);
      }
    }
}

void smma_sort_candidates(smma_candidate *c, int count) {
  for (int n = 1; n < count; n++) {
    const smma_candidate candidate = c[n];
    int at = n;
    for (; at > 0 && c[at - 1].wrong > candidate.wrong; at--) c[at] = c[at - 1];
    c[at] = candidate;
  }
}

/* Refines the first candidates on some of the vectors, then the best candidate on all vectors. */
static void refine_starts(const smma_fit *f, smma_candidate *c, int count) {
  const int separated = count < SEPARATE_CANDIDATES ? count : SEPARATE_CANDIDATES;
  smma_fit some = *f;
  some.selected = f->selected / SUBSET_DIVISOR;
  for (int n = 0; n < separated; n++) c[n].wrong = smma_fit_count(&some, &c[n].model, SIZE_MAX - 1);
  let_steps_differ(&some, c, separated);
  for (int n = 0; n < separated; n++) c[n].wrong = smma_fit_count(f, &c[n].model, SIZE_MAX - 1);
  smma_sort_candidates(c, count);
  let_steps_differ(f, c, count > 0);
}

int smma_fit_starts(const smma_fit *f, const smma_composition *shape, smma_candidate best[SMMA_MOST_STARTS]) {
  const smma_format d = f->model.instruction.d;
  const int fraction_bits = smma_encoding_of(d).fraction_bits;
  setting_list w = {malloc(MOST_SETTINGS * sizeof *w.all), 0};
  bool chains = false;
  int count;
  if (!w.all) return -1;
  for (int s = 0; s < shape->steps; s++) chains = chains || shape->step[s].join == SMMA_JOIN_CHAIN;
  if (!smma_is_integer(d)) add_cut(&w, fraction_bits, chains);
  add_dropped(&w, fraction_bits);
  add_narrowed(&w, fraction_bits);
  add_fixed(&w);
  for (int n = 0; n < STAGES; n++) {
    keep_best(&w, stages[n].of_family);
    count_wrong(f, shape, &w, f->selected / stages[n].part);
  }
  count = take_best(f, shape, &w, best);
  refine_starts(f, best, count);
  free(w.all);
  return count;
}
