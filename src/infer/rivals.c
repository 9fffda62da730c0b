/* Finds other models that agree with all samples, and vectors that distinguish each of them from the model. */
#include <stdlib.h>
#include <string.h>

#include "infer/inference.h"
#include "infer/known.h"
#include "infer/shape.h"

enum {
  MOST_FITTED = 4,                       /* maximum number of models that are fitted before the unit is called */
  MOST_RIVALS = 48,                      /* maximum number of rivals that are listed or tested on the unit */
  MOST_SOUGHT = 2 * MOST_RIVALS,         /* maximum number of models for which a distinguishing vector is searched */
  MOST_CANDIDATES = 2 * SMMA_MOST_SHAPES /* maximum number of models from which rivals are taken */
};

typedef struct {
  smma_composition model;
  size_t wrong;
  int number; /* its index in the list */
} rival;

static int compare(const void *one, const void *other) {
  const rival *x = one, *y = other;
  if (x->wrong != y->wrong) return x->wrong < y->wrong ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static int add(const smma_fit *f, rival *all, int count, const smma_composition *p) {
  const size_t most = f->selected / 16; /* models with more mismatches are not worth fitting */
  if (count == MOST_CANDIDATES || !smma_fit_allows(f, p) || smma_same_composition(p, smma_fit_composition(f)))
    return count;
  for (int n = 0; n < count; n++)
    if (smma_same_composition(&all[n].model, p)) return count;
  all[count].model = *p;
  all[count].number = count;
  return count + smma_fit_has_at_most(f, p, most, &all[count].wrong);
}

/* Adds the rules of the catalogue to the candidates. */
static bool add_known(const smma_inference_work *x, rival *all, int *count) {
  smma_composition *known = malloc(SMMA_MOST_KNOWN * sizeof *known);
  const int rules = known ? smma_known_compositions(smma_operation_of(&x->as), known) : 0;
  for (int n = 0; n < rules; n++) *count = add(&x->fit, all, *count, &known[n]);
  free(known);
  return known || smma_no_memory(x->error);
}

/* Adds all likely shapes except the model's own, with the parameter values of the model's last step. */
static int add_shapes(const smma_inference_work *x, rival *all, int count) {
  const smma_composition *model = smma_fit_composition(&x->fit);
  const smma_step *last = &model->step[model->steps - 1];
  const smma_start_values values = {last->term.bits, last->term.rounding, last->rounding};
  const int likely = smma_shapes_likely(x->shapes);
  for (int n = 0; n < x->shapes->count; n++) {
    if (x->shapes->against[n] > likely) continue;
    smma_composition p = smma_shape_with(&x->shapes->shape[n], x->as.d, values);
    p.subnormal_a = model->subnormal_a;
    p.subnormal_b = model->subnormal_b;
    p.subnormal_c = model->subnormal_c;
    for (smma_step *s = p.step; s < p.step + p.steps; s++) {
      s->zero_sign = last->zero_sign;
      s->overflow = last->overflow;
      if (s->output != SMMA_NO_FORMAT) s->subnormal_outputs = last->subnormal_outputs;
    }
    count = add(&x->fit, all, count, &p);
  }
  return count;
}

/* Adds variants of the model: a step that truncates terms gets exact sums that are rounded twice, and vice versa,
   because both have the same results for most vectors. */
static int add_narrowed(const smma_inference_work *x, rival *all, int count) {
  const smma_composition *model = smma_fit_composition(&x->fit);
  for (int step = 0; step < model->steps; step++)
    for (int more = -1; more <= 1; more++) {
      smma_composition p = *model;
      smma_step *s = &p.step[step];
      if (s->term.bits != SMMA_EXACT_ALIGNMENT) {
        s->narrow_bits = s->term.bits + more;
        s->narrow_rounding = s->term.rounding;
        s->term.bits = s->accumulator.bits = SMMA_EXACT_ALIGNMENT;
        s->term.rounding = s->accumulator.rounding = SMMA_ROUND_TOWARD_ZERO;
      } else if (s->narrow_bits != SMMA_NONE) {
        s->term.bits = s->accumulator.bits = s->narrow_bits + more;
        s->term.rounding = s->accumulator.rounding = s->narrow_rounding;
        s->narrow_bits = SMMA_NONE;
      }
      count = add(&x->fit, all, count, &p);
    }
  return count;
}

/* Lists the candidates, those with the fewest mismatches first. */
static bool list(const smma_inference_work *x, rival *all, int *count) {
  *count = 0;
  if (!add_known(x, all, count)) return false;
  *count = add_narrowed(x, all, add_shapes(x, all, *count));
  qsort(all, (size_t)*count, sizeof *all, compare);
  return true;
}

/* Fits the first `most` candidates that do not yet agree with all samples. x->fit has its old model afterwards. */
static void fit_nearest(smma_inference_work *x, rival *all, int count, int most, smma_fit_watch watch) {
  const smma_composition model = *smma_fit_composition(&x->fit);
  for (int n = 0, fitted = 0; n < count && fitted < most && !watch.stop(watch.context); n++) {
    if (all[n].wrong == 0) continue;
    smma_fit_start(&x->fit, &all[n].model);
    while (x->fit.wrong && smma_fit_sweep(&x->fit, watch)) continue;
    all[n].model = *smma_fit_composition(&x->fit);
    all[n].wrong = x->fit.wrong;
    fitted++;
  }
  smma_fit_start(&x->fit, &model);
}

static bool must_end(void *context) { return smma_inference_must_end(context); }

bool smma_inference_ask_rivals(smma_inference_work *x, size_t *wrong) {
  rival *all = malloc(MOST_CANDIDATES * sizeof *all);
  int count = 0;
  smma_rows rows;
  size_t asked = 0;
  bool good = smma_rows_allocate(x->request->instruction, MOST_RIVALS, &rows) && all;
  *wrong = 0;
  if (!good) smma_no_memory(x->error);
  good = good && list(x, all, &count);
  if (good) {
    fit_nearest(x, all, count, MOST_FITTED, (smma_fit_watch){must_end, x}); /* the budget does not end this stage */
    for (int n = 0, sought = 0; n < count && good && asked < MOST_RIVALS && !smma_inference_must_end(x); n++) {
      smma_witness witness = {.found = false};
      if (all[n].wrong == 0 && sought++ < MOST_SOUGHT) good = smma_inference_find_witness(x, &all[n].model, &witness);
      if (good && witness.found) smma_rows_put(&rows, asked++, &witness.row);
    }
  }
  if (good && asked) {
    smma_inference_tell(x, "refining: %zu other models agree with all rows so far; asking for rows that tell", asked);
    good = smma_inference_learn(x, &rows, asked) && (smma_fit_select(&x->fit, SIZE_MAX) || smma_no_memory(x->error));
    *wrong = x->fit.wrong;
  }
  if (good && *wrong) /* one of the rivals may be right */
    for (int n = 0; n < count && x->fit.wrong; n++) {
      const smma_composition model = *smma_fit_composition(&x->fit);
      const size_t before = x->fit.wrong;
      if (all[n].wrong) continue;
      smma_fit_start(&x->fit, &all[n].model);
      if (x->fit.wrong > before) smma_fit_start(&x->fit, &model);
    }
  smma_rows_free(&rows);
  free(all);
  return good;
}

static bool is_listed(const smma_inference *found, const smma_composition *p) {
  for (size_t n = 0; n < found->rivals; n++)
    if (smma_same_composition(&found->rival[n].model, p)) return true;
  return false;
}

bool smma_inference_list_rivals(smma_inference_work *x) {
  const smma_fit_watch watch = smma_inference_watch(x);
  smma_inference *found = x->found;
  rival *all = malloc(MOST_CANDIDATES * sizeof *all);
  int count = 0;
  bool good;
  free(found->rival);
  found->rival = malloc(MOST_RIVALS * sizeof *found->rival);
  found->rivals = 0;
  good = (all && found->rival) || smma_no_memory(x->error);
  if (good) smma_inference_tell(x, "checking: other models that agree");
  good = good && list(x, all, &count);
  if (good) fit_nearest(x, all, count, MOST_RIVALS, watch);
  for (int n = 0; n < count && good && found->rivals < MOST_RIVALS && !smma_inference_must_end(x); n++) {
    smma_infer_rival r = {.model = all[n].model};
    smma_witness witness;
    if (all[n].wrong || is_listed(found, &r.model)) continue;
    good = smma_inference_find_witness(x, &r.model, &witness);
    if (!good || !witness.found) continue;
    good = smma_inference_add_proof(x, &witness.row, &r.row);
    r.other_d = witness.other;
    found->rival[found->rivals++] = r;
  }
  found->more_rivals = found->rivals == MOST_RIVALS || watch.stop(watch.context);
  free(all);
  return good;
}
