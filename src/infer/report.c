#include "infer/report.h"

#include <stdio.h>

#include "isa/key.h"
#include "rows/datum.h"
#include "rows/generate.h"
#include "rows/text.h"

/* ---- Words ---- */

const char *smma_infer_outcome_text(smma_infer_outcome outcome) {
  static const char *const texts[] = {"found", "not found", "no function", "stopped", "found, except NaN encodings"};
  return texts[outcome];
}

void smma_describe_infer_reason(const smma_infer_request *r, const smma_inference *f,
                                char text[SMMA_INFER_REASON_SIZE]) {
  enum { size = SMMA_INFER_REASON_SIZE };
  const unsigned long long rows = r->most_rows, budget = r->budget;
  *text = 0;
  if (f->outcome != SMMA_NOT_INFERRED) return;
  switch (f->reason) {
    case SMMA_INFER_ODD_PRODUCT:
      snprintf(text, size, "the product at k = %d is unlike the others, and models treat all products alike",
               f->misfit.odd);
      break;
    case SMMA_INFER_BUDGET_SPENT:
      snprintf(text, size, "models have computed the budget of %llu vectors, and none has all rows", budget);
      break;
    case SMMA_INFER_ROWS_ASKED: snprintf(text, size, "the limit of %llu rows is reached", rows); break;
    case SMMA_INFER_ROUNDS_ENDED:
      snprintf(text, size, "new rows refuted model after model, %d times", f->rounds);
      break;
    default: snprintf(text, size, "no parameters tried for the likely structures give all rows");
  }
}

void smma_describe_infer_limits(const smma_infer_request *r, const smma_inference *f,
                                char text[SMMA_INFER_LIMITS_SIZE]) {
  enum { size = SMMA_INFER_LIMITS_SIZE };
  const unsigned long long rows = f->rows + f->fresh, computed = f->computed, budget = r->budget, most = r->most_rows;
  *text = 0;
  if (budget != SMMA_INFER_BUDGET) {
    smma_append_text(text, size, "candidate models computed %llu vectors; the budget of %llu ends a search", computed,
                     budget);
    smma_append_text(text, size, " only while no model reproduces all rows%s",
                     f->recording ? ", and the search for other models"
                     : most       ? ""
                                  : ", and does not limit the rows of the unit (--most-rows does)");
  }
  if (!most) return;
  smma_append_text(text, size, "%sthe unit computed %llu rows of at most %llu", *text ? "; " : "", rows, most);
  if (rows > most) smma_append_text(text, size, ", because a stage that has begun is finished");
  if (smma_has_inferred(f) && f->fresh < r->fresh)
    smma_append_text(text, size, "; the final check had %llu of %llu vectors", (unsigned long long)f->fresh,
                     (unsigned long long)r->fresh);
}

static const smma_instruction *make(const smma_inference *found, const smma_composition *p, const char *name) {
  smma_custom custom = found->model;
  custom.named.rule.with.composition = *p;
  custom.instruction.name = name;
  custom.instruction.origin = NULL;
  custom.instruction.other_name = NULL;
  return smma_custom_make(&custom);
}

const smma_instruction *smma_inferred_unit(const smma_inference *found, const char *name) {
  return make(found, &found->model.named.rule.with.composition, name);
}

const smma_instruction *smma_inferred_rival(const smma_inference *found, size_t rival, const char *name) {
  return make(found, &found->rival[rival].model, name);
}

const char *smma_inferred_nan(const smma_inference *found) {
  const smma_key *key = smma_find_key(SMMA_COMPOSITION, "nan", 3);
  return found->nan_known ? key->choices[found->model.named.rule.nan] : NULL;
}

void smma_describe_inferred_nan(const smma_instruction *i, const smma_inference *f, char text[SMMA_INFERRED_NAN_SIZE]) {
  static const char *const words[] = {[SMMA_NAN_ALL_ONES] = "all ones",
                                      [SMMA_NAN_DEFAULT] = "the format's quiet NaN",
                                      [SMMA_NAN_B_SUM_A] = "of each step b's, else the sum's, else a's, made quiet",
                                      [SMMA_NAN_OPERAND] = "an operand's, made quiet",
                                      [SMMA_NAN_BY_SOURCE] = "by its source, as RDNA's",
                                      [SMMA_NAN_MARKED] = "by its source, as those of RDNA 4's FP8",
                                      [SMMA_NAN_NUMBERS] = "numbers, as on Tenstorrent's units"};
  const unsigned long long different = f->nan_different, compared = f->compared, nan = f->nan_compared;
  enum { size = SMMA_INFERRED_NAN_SIZE };
  *text = 0;
  if (!nan)
    return;
  else if (f->nan_known)
    snprintf(text, size, "%s", words[f->model.named.rule.nan]);
  else if (f->model.named.rule.nan != SMMA_NAN_QUIET)
    snprintf(text, size,
             "%llu of %llu vectors differ from the nearest policy, \"%s\", which the model has: all hold a NaN in both "
             "results, with another sign or payload; `softmma test` counts them as mismatches",
             different, compared, words[f->model.named.rule.nan]);
  else if (different)
    snprintf(text, size,
             "the model does not give sign and payload: %llu of the %llu NaN that were compared are not the nearest "
             "policy's; "
             "the rule of %s leaves them open, so any two NaN are equal",
             different, nan, i->name);
  else
    snprintf(text, size, "sign and payload are not determined: several policies agree with all rows");
}

/* ---- Neighbours ---- */

const char *smma_infer_neighbour_text(int is) {
  static const char *const texts[] = {"excluded", "free", "undecided"};
  return texts[is];
}

size_t smma_next_inferred_key(const smma_inference *f, size_t at) {
  const smma_infer_neighbour *n = &f->neighbour[at];
  while (at < f->neighbours && f->neighbour[at].key == n->key && f->neighbour[at].step == n->step) at++;
  return at;
}

bool smma_infer_values_are_all(const smma_inference *f, size_t at, int is) {
  for (size_t i = at; i < smma_next_inferred_key(f, at); i++)
    if ((int)f->neighbour[i].is != is) return false;
  return true;
}

const char *smma_infer_values(const smma_inference *f, size_t at, int is, char text[SMMA_INFER_VALUES_SIZE]) {
  const size_t end = smma_next_inferred_key(f, at);
  *text = 0;
  if (f->neighbour[at].key->kind != SMMA_KEY_INTEGER && end - at > 2 && smma_infer_values_are_all(f, at, is))
    return "all others";
  for (size_t i = at; i < end; i++) {
    const smma_infer_neighbour *n = &f->neighbour[i];
    char value[64];
    if ((int)n->is != is) continue;
    smma_append_text(text, SMMA_INFER_VALUES_SIZE, "%s%s", *text ? ", " : "",
                     smma_key_value(n->key, n->other, value, sizeof value));
  }
  return *text ? text : "-";
}

const char *smma_infer_place(int step, char text[SMMA_INFER_VALUES_SIZE]) {
  if (step < 0) return "all";
  snprintf(text, SMMA_INFER_VALUES_SIZE, "step %d", step + 1);
  return text;
}

/* ---- Vectors that disagree with the model ---- */

const char *smma_infer_holding_text(smma_infer_holding holding) {
  static const char *const texts[] = {[SMMA_HOLDS_NAN_OPERAND] = "a NaN among operands",
                                      [SMMA_HOLDS_INFINITE_OPERAND] = "an infinite operand",
                                      [SMMA_HOLDS_SUBNORMAL_FACTOR] = "a subnormal factor",
                                      [SMMA_HOLDS_SUBNORMAL_C] = "a subnormal c",
                                      [SMMA_HOLDS_NAN_RESULT] = "NaN as one of both results",
                                      [SMMA_HOLDS_INFINITE_RESULT] = "an infinite result",
                                      [SMMA_HOLDS_SUBNORMAL_RESULT] = "a subnormal result",
                                      [SMMA_HOLDS_SIGN_OF_ZERO] = "zeros as results, of different signs",
                                      [SMMA_HOLDS_NEXT_RESULT] = "results that differ by one unit in the last place"};
  return texts[holding];
}

void smma_describe_misfit_counts(const smma_inference *f, char text[SMMA_MISFIT_SIZE]) {
  enum { size = SMMA_MISFIT_SIZE };
  const smma_infer_misfit *m = &f->misfit;
  *text = 0;
  smma_append_text(text, size, "the best model disagrees with %llu of %llu %s", (unsigned long long)m->wrong,
                   (unsigned long long)m->asked,
                   f->recording    ? "recorded rows"
                   : m->of_samples ? "rows that it was fitted to"
                                   : "new rows");
  if (m->new_rows) smma_append_text(text, size, "; none of %llu new rows shows it", (unsigned long long)m->new_rows);
  for (int kind = 0; kind < SMMA_ROWS_IN_TURN && !m->of_samples; kind++)
    smma_append_text(text, size, "%s %s %.3g %%", kind ? "," : ":", smma_row_kind_text((smma_row_kind)kind),
                     m->of_kind[kind] ? 100.0 * (double)m->wrong_of[kind] / (double)m->of_kind[kind] : 0.0);
}

void smma_describe_holdings(const smma_infer_misfit *m, char text[SMMA_MISFIT_SIZE]) {
  enum { size = SMMA_MISFIT_SIZE };
  *text = 0;
  for (int all = 1; all >= 0; all--)
    for (int h = 0, listed = 0; h < SMMA_HOLDINGS; h++) {
      const uint64_t with = m->wrong_with[h];
      if (!with || (with == m->wrong) != all) continue;
      smma_append_text(text, size, "%s", listed ? ", " : !*text ? all ? "every one of them: " : "" : "; ");
      if (!listed++ && !all) smma_append_text(text, size, "some of them: ");
      smma_append_text(text, size, "%s", smma_infer_holding_text((smma_infer_holding)h));
      if (!all) smma_append_text(text, size, " (%llu)", (unsigned long long)with);
    }
}

/* Size of a list of k. The longest list has two of every three k: 171 numbers of up to 3 digits. */
enum { LIST = 900 };

typedef struct {
  bool product[SMMA_MAXIMUM_K]; /* [k]: the product at k is nonzero in some vector */
  bool every[SMMA_MAXIMUM_K];   /* [k]: the product at k is nonzero in all vectors */
  bool with_c, without_c;       /* some vector has a nonzero c; some vector has a zero c */
  int least, greatest;          /* range of the exponents of the vectors' largest products */
  bool finite;                  /* some vector has a finite nonzero product */
} misfit_class;

/* Summarises the positions and exponents of nonzero products in the examples. */
static misfit_class classify(const smma_instruction *i, const smma_infer_misfit *m) {
  misfit_class c = {.least = 100000, .greatest = -100000};
  for (int k = 0; k < i->k; k++) c.every[k] = m->examples > 0;
  for (int n = 0; n < m->examples; n++) {
    int top = -100000;
    for (int k = 0; k < i->k; k++) {
      const smma_number a = smma_decode(smma_encoding_of(i->a), m->example[n].a[k]),
                        b = smma_decode(smma_encoding_of(i->b), m->example[n].b[k]);
      const bool is = a.kind != SMMA_ZERO && b.kind != SMMA_ZERO;
      c.product[k] |= is;
      c.every[k] &= is;
      if (is && a.kind == SMMA_FINITE && b.kind == SMMA_FINITE && a.exponent + b.exponent > top)
        top = a.exponent + b.exponent;
    }
    if (smma_decode(smma_encoding_of(i->c), m->example[n].c).kind == SMMA_ZERO)
      c.without_c = true;
    else
      c.with_c = true;
    if (top == -100000) continue;
    c.finite = true;
    if (top < c.least) c.least = top;
    if (top > c.greatest) c.greatest = top;
  }
  return c;
}

void smma_describe_misfit(const smma_instruction *i, const smma_infer_misfit *m, char text[SMMA_MISFIT_SIZE]) {
  enum { size = SMMA_MISFIT_SIZE };
  const misfit_class c = classify(i, m);
  char list[LIST];
  *text = 0;
  if (!m->examples) return;
  if (m->odd >= 0) smma_append_text(text, size, "the product at k = %d is unlike the others; ", m->odd);
  smma_append_text(text, size, m->of_samples ? "the simplest %d: " : "the first %d, minimised: ", m->examples);
  smma_name_places(c.every, i->k, list, sizeof list);
  if (*list) smma_append_text(text, size, "all with a product at k = %s; ", list);
  smma_name_places(c.product, i->k, list, sizeof list);
  smma_append_text(text, size, "products at k = %s; ", *list ? list : "none");
  if (c.finite && c.least == c.greatest)
    smma_append_text(text, size, "the greatest always of exponent %d; ", c.least);
  else if (c.finite)
    smma_append_text(text, size, "the greatest of exponents %d to %d; ", c.least, c.greatest);
  smma_append_text(text, size, "%s",
                   c.with_c && c.without_c ? "with c and without"
                   : c.with_c              ? "c is never zero"
                                           : "c is zero");
}

/* ---- Vectors of the proof ---- */

static void write_neighbour(FILE *stream, const smma_infer_request *r, const smma_inference *f,
                            const smma_infer_neighbour *n, const smma_row_layout *layout) {
  char place[SMMA_INFER_VALUES_SIZE], value[2][64], hex[24];
  smma_row row;
  smma_rows_get(&f->proof, n->row, &row);
  fprintf(stream, "# %s, %s is %s; with %s d would be %s\n", smma_infer_place(n->step, place), n->key->key,
          smma_key_value(n->key, n->value, value[0], sizeof value[0]),
          smma_key_value(n->key, n->other, value[1], sizeof value[1]),
          smma_hex_text(r->instruction->d, n->other_d, hex));
  smma_text_write_row(stream, layout, &row);
}

static bool write_rival(FILE *stream, const smma_infer_request *r, const smma_inference *f, size_t n,
                        const smma_row_layout *layout) {
  const smma_instruction *unit = smma_inferred_rival(f, n, "rival");
  char words[SMMA_RULE_WORDS_SIZE], hex[24];
  smma_row row;
  if (!unit) return false;
  smma_rows_get(&f->proof, f->rival[n].row, &row);
  fprintf(stream, "# of %s d would be %s\n", smma_rule_words(&unit->rule->rule, words, sizeof words),
          smma_hex_text(r->instruction->d, f->rival[n].other_d, hex));
  smma_text_write_row(stream, layout, &row);
  smma_custom_release(unit);
  return true;
}

bool smma_write_inference_rows(FILE *stream, const char *model, const smma_infer_request *r, const smma_inference *f,
                               bool undecided) {
  const smma_row_layout layout = smma_row_layout_of(r->instruction);
  smma_vector_header header;
  smma_vector_header_of(r->instruction, &header);
  if (model) {
    snprintf(header.arch, sizeof header.arch, "%s", model);
    snprintf(header.instruction, sizeof header.instruction, "%s", "inferred");
  }
  smma_text_write_header(stream, &header);
  for (size_t i = 0; i < f->neighbours; i++)
    if (f->neighbour[i].is == (undecided ? SMMA_UNDECIDED : SMMA_EXCLUDED))
      write_neighbour(stream, r, f, &f->neighbour[i], &layout);
  for (size_t n = 0; n < f->rivals && undecided; n++)
    if (!write_rival(stream, r, f, n, &layout)) return false;
  return !ferror(stream);
}
