/* Describes matches in words and as data. */
#include "rows/datum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/sha256.h"
#include "isa/catalogue.h"
#include "isa/key.h"
#include "match/study.h"

enum { MOST_ULPS_WRITTEN = 1000 };

/* Writes, for example, "rows 61 to 63"; an empty text if the elements are spread over more than half of the lines. */
static void lines_text(const char *what, size_t first, size_t last, size_t all, char *text, size_t size) {
  text[0] = 0;
  if (last - first + 1 > all / 2) return;
  if (first == last)
    snprintf(text, size, "%s %zu", what, first);
  else
    snprintf(text, size, "%ss %zu to %zu", what, first, last);
}

void smma_match_difference_text(const smma_match_study *x, const smma_match_difference *d, char *text, size_t size) {
  char rows[64], columns[64];
  char ulps[64] = "";
  if (!d->special && d->largest_ulps == 1)
    snprintf(ulps, sizeof ulps, ", by one unit in the last place");
  else if (!d->special && d->largest_ulps < MOST_ULPS_WRITTEN)
    snprintf(ulps, sizeof ulps, ", by at most %llu units in the last place", (unsigned long long)d->largest_ulps);
  lines_text("row", d->first_row, d->last_row, x->data.m, rows, sizeof rows);
  lines_text("column", d->first_column, d->last_column, x->data.n, columns, sizeof columns);
  if (d->different == 1)
    snprintf(text, size, "one element, [%zu, %zu]%s", d->row, d->column, ulps);
  else
    snprintf(text, size, "%zu of %zu elements%s%s%s%s%s", d->different, x->data.m * x->data.n,
             *rows || *columns ? ", all in " : "", rows, *rows && *columns ? " and " : "", columns, ulps);
}

const char *smma_match_hint(const smma_match *m, char *text, size_t size) {
  text[0] = 0;
  if (m->factor && fabs(m->factor - 1) > 0.05)
    snprintf(text, size, "D is %.4g times what A, B and the rest give: --alpha?", m->factor);
  else if (m->distance > 0.1)
    snprintf(text, size,
             "D is not near the product, but off by %.2g of it: other matrices, a transposed one, another format?",
             m->distance);
  return text;
}

/* ---- Data ---- */

static smma_datum *plan_datum(const smma_plan *plan) {
  const size_t size = plan ? smma_plan_text(plan, NULL, 0) : 0;
  char *text = plan ? malloc(size + 1) : NULL;
  smma_datum *d = NULL;
  if (!plan) return smma_datum_null();
  if (text) {
    smma_plan_text(plan, text, size + 1);
    d = smma_datum_read("plan", text, size, NULL);
  }
  free(text);
  return d;
}

static smma_datum *element_datum(smma_format f, uint64_t x) {
  smma_datum *r = smma_datum_record();
  char hex[24];
  smma_put_text(r, "hex", smma_hex_text(f, x, hex));
  smma_put_real(r, "value", smma_format_decode(f, x));
  return r;
}

static smma_datum *pair_datum(size_t one, size_t other) {
  smma_datum *list = smma_datum_list();
  smma_datum_append(list, smma_datum_count((int64_t)one));
  smma_datum_append(list, smma_datum_count((int64_t)other));
  return list;
}

static smma_datum *difference_datum(const smma_match_study *x, const smma_match_difference *d) {
  const smma_format f = x->data.d_format;
  smma_datum *r = smma_datum_record();
  char text[256] = "";
  smma_put_count(r, "different", d->different);
  if (!d->different) return r;
  smma_match_difference_text(x, d, text, sizeof text);
  smma_put_text(r, "in_words", text);
  smma_datum_put(r, "first", pair_datum(d->row, d->column));
  smma_datum_put(r, "d", element_datum(f, d->expected));
  smma_datum_put(r, "computed", element_datum(f, d->got));
  smma_datum_put(r, "rows", pair_datum(d->first_row, d->last_row));
  smma_datum_put(r, "columns", pair_datum(d->first_column, d->last_column));
  smma_put_count(r, "largest_ulps", d->largest_ulps <= INT64_MAX ? d->largest_ulps : INT64_MAX);
  smma_put_count(r, "special", d->special);
  return r;
}

static smma_datum *instructions_datum(const smma_match_class *c) {
  smma_datum *list = smma_datum_list();
  for (size_t i = 0; i < c->members; i++) {
    smma_datum *r = smma_datum_record();
    smma_put_text(r, "arch", smma_arch_name(c->member[i]));
    smma_put_text(r, "instruction", c->member[i]->name);
    smma_datum_append(list, r);
  }
  return list;
}

static smma_datum *libraries_datum(const smma_match_candidate *c) {
  smma_datum *list = smma_datum_list();
  for (const smma_match_library *l = c->library; l < c->library + c->libraries; l++) {
    smma_datum *r = smma_datum_record();
    smma_put_text(r, "library", l->name);
    smma_put_text(r, "configuration", l->text);
    smma_put_count(r, "others", l->others);
    smma_datum_append(list, r);
  }
  return list;
}

static smma_datum *candidate_datum(const smma_match_study *x, const smma_match_candidate *c) {
  smma_datum *r = smma_datum_record();
  smma_datum_put(r, "instructions", instructions_datum(&x->found.class[c->of]));
  smma_put_text(r, "in_words", c->text);
  smma_datum_put(r, "plan", plan_datum(c->plan));
  smma_datum_put(r, "libraries", libraries_datum(c));
  smma_put_count(r, "differs_at_random", (uint64_t)c->differs_at_random);
  smma_datum_put(r, "difference", difference_datum(x, &c->difference));
  return r;
}

static const char *mode_name(const smma_match_study *x) { return x->rounded ? smma_roundings[x->mode[x->kept]] : NULL; }

smma_datum *smma_match_datum(const smma_match_study *x, double seconds) {
  const smma_match *m = &x->found;
  smma_datum *r = smma_datum_record(), *fits = smma_datum_list(), *roundings = smma_datum_list();
  char hint[256];
  for (size_t f = 0; f < m->fits; f++) smma_datum_append(fits, candidate_datum(x, &m->fit[f]));
  for (size_t i = 0; x->rounded && i < x->modes; i++)
    smma_datum_append(roundings, smma_datum_text(smma_roundings[x->mode[i]]));
  smma_put_count(r, "m", x->data.m);
  smma_put_count(r, "n", x->data.n);
  smma_put_count(r, "k", x->data.k);
  smma_put_text(r, "a_format", smma_format_text(x->data.a_format));
  smma_put_text(r, "b_format", smma_format_text(x->data.b_format));
  smma_put_text(r, "d_format", smma_format_text(x->data.d_format));
  smma_put_text(r, "round_in", mode_name(x));
  smma_datum_put(r, "round_in_tried", roundings);
  smma_put_count(r, "plans", m->plans);
  smma_put_count(r, "functions", m->classes);
  smma_put_count(r, "candidates", m->candidates);
  smma_put_count(r, "chain_products", m->products);
  smma_datum_put(r, "fits", fits);
  smma_put_count(r, "untried", m->untried);
  smma_datum_put(r, "near", m->has_near ? candidate_datum(x, &m->near) : smma_datum_null());
  smma_put_flag(r, "exact", m->exact);
  smma_put_text(r, "hint", m->fits ? "" : smma_match_hint(m, hint, sizeof hint));
  smma_put_real(r, "seconds", seconds);
  smma_put_real(r, "distance", m->distance);
  smma_put_real(r, "factor", m->factor);
  return r;
}

/* ---- A claim ---- */

static smma_datum *digest_datum(const smma_tensor *t, const char *path) {
  smma_datum *r;
  char digest[65];
  if (!path) return smma_datum_null();
  r = smma_datum_record();
  smma_put_text(r, "file", path);
  smma_put_text(r, "format", smma_format_text(t->format));
  smma_put_count(r, "rows", t->rows);
  smma_put_count(r, "columns", t->columns);
  smma_put_text(r, "sha256", smma_sha256(t->data, t->rows * t->columns * (size_t)t->bytes, digest));
  return r;
}

static smma_datum *inputs_datum(const smma_match_study *x) {
  static const struct {
    const char *key;
    int which;
  } inputs[] = {{"a", SMMA_OF_A},
                {"b", SMMA_OF_B},
                {"c", SMMA_OF_C},
                {"d", SMMA_MATCH_OF_D},
                {"scale_a", SMMA_OF_SCALE_A},
                {"scale_b", SMMA_OF_SCALE_B},
                {"bias", SMMA_OF_BIAS}};
  const smma_match_request *q = x->request;
  smma_datum *r = smma_datum_record();
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
    const int which = inputs[i].which;
    const smma_tensor *taken = &x->taken[which];
    smma_datum_put(r, inputs[i].key,
                   digest_datum(taken->data ? taken : &x->given[which],
                                which == SMMA_MATCH_OF_D ? q->d.path : q->product.of[which].path));
  }
  return r;
}

smma_datum *smma_match_claim_datum(const smma_match_study *x) {
  const smma_match_claim *c = x->claim;
  smma_datum *r = smma_datum_record();
  smma_put_text(r, "claim", c->text);
  smma_put_flag(r, "equal", x->difference.different == 0);
  smma_put_text(r, "round_in", mode_name(x));
  smma_put_text(r, "arch", smma_arch_name(c->instruction));
  smma_put_text(r, "instruction", c->instruction->name);
  smma_put_text(r, "rule", c->instruction->rule->name);
  smma_datum_put(r, "plan", plan_datum(c->plan));
  smma_datum_put(r, "difference", difference_datum(x, &x->difference));
  smma_datum_put(r, "inputs", inputs_datum(x));
  smma_put_real(r, "alpha", x->data.alpha);
  smma_put_real(r, "beta", x->data.beta);
  smma_put_real(r, "scale_d", x->data.scale_d);
  smma_put_text(r, "softmma", smma_version());
  smma_put_count(r, "elements", x->data.m * x->data.n);
  return r;
}
