/* Writes the result of a tolerance study as a record, and as lines for a kernel's test. */
#include <stdio.h>
#include <stdlib.h>

#include "host/bits.h"
#include "host/locale.h"
#include "isa/format_name.h"
#include "plan/plan.h"
#include "plan/schedule.h"
#include "rows/datum.h"
#include "tolerance/measured.h"

const char *smma_tolerance_operands(const smma_tolerance_request *request, char text[SMMA_OPERANDS_TEXT]) {
  char kind[32];
  if (request->target[0].product.a)
    snprintf(text, SMMA_OPERANDS_TEXT, "%s times %s", request->a, request->b);
  else
    snprintf(text, SMMA_OPERANDS_TEXT, request->data.seed ? "data %s, seed %llu" : "data %s",
             smma_data_text(request->data, kind), (unsigned long long)request->data.seed);
  return text;
}

/* ---- The record ---- */

static smma_datum *accepted(bool there, smma_tolerance t) {
  smma_datum *record = there ? smma_datum_record() : smma_datum_null();
  if (!there) return record;
  smma_put_real(record, "rtol", t.relative);
  smma_put_real(record, "atol", t.absolute);
  return record;
}

smma_datum *smma_quantiles_datum(const double value[SMMA_QUANTILES]) {
  smma_datum *record = smma_datum_record();
  const smma_locale locale = smma_locale_enter();
  for (int q = 0; q < SMMA_QUANTILES; q++) {
    char name[16];
    snprintf(name, sizeof name, q == SMMA_QUANTILES - 1 ? "max" : "%g", 100 * smma_quantiles[q]);
    smma_put_real(record, name, value[q]);
  }
  smma_locale_leave(locale);
  return record;
}

void smma_put_target_error(smma_datum *record, const smma_product_target *t, const smma_target_error *e) {
  smma_put_target(record, t);
  if (t->plan) smma_put_text(record, "plan", t->plan);
  smma_datum_put(record, "error", smma_quantiles_datum(e->error));
  smma_datum_put(record, "bound", e->unbounded ? smma_datum_null() : smma_datum_real(e->most_bound));
  smma_put_count(record, "unbounded", e->unbounded);
  smma_put_count(record, "left_out", e->special);
  smma_put_count(record, "overflowed", e->overflowed);
}

static smma_datum *verdict_datum(const smma_tolerance_result *x, smma_mutant mutant) {
  const smma_verdict *v = &x->verdict[mutant];
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "wrong", smma_mutant_name(mutant));
  smma_datum_put(record, "measured", x->is_measured ? smma_datum_real(v->measured) : smma_datum_null());
  smma_datum_put(record, "proven", x->is_proven ? smma_datum_real(v->proven) : smma_datum_null());
  smma_put_real(record, "bound", v->bound);
  smma_put_flag(record, "some_tolerance_refuses", v->possible);
  return record;
}

smma_datum *smma_tolerance_datum(const smma_tolerance_result *x) {
  const smma_tolerance_request *r = x->request;
  smma_datum *record = smma_datum_record(), *units = smma_datum_list(), *mutants = smma_datum_list();
  char text[SMMA_OPERANDS_TEXT];
  for (size_t i = 0; i < r->targets; i++) {
    smma_datum *unit = smma_datum_record();
    smma_put_target_error(unit, &r->target[i], &x->target[i]);
    smma_put_text(unit, "stored", smma_format_text(x->target[i].stored));
    smma_datum_append(units, unit);
  }
  for (int m = 0; m < SMMA_MUTANTS; m++)
    if (x->verdict[m].applies) smma_datum_append(mutants, verdict_datum(x, (smma_mutant)m));
  smma_put_count(record, "m", x->m);
  smma_put_count(record, "n", x->n);
  smma_put_count(record, "k", x->k);
  smma_put_text(record, "data", smma_tolerance_operands(r, text));
  smma_put_text(record, "stored", smma_format_text(x->target[0].stored));
  smma_put_count(record, "elements", x->rows * x->columns);
  smma_put_real(record, "margin", r->margin);
  smma_datum_put(record, "units", units);
  smma_datum_put(record, "measured", accepted(x->is_measured, x->measured));
  smma_datum_put(record, "proven", accepted(x->is_proven, x->proven));
  smma_datum_put(record, "mutants", mutants);
  return record;
}

/* ---- Lines for a test ---- */

/* Reports whether the exact result has operations other than alpha A B + beta C. */
static bool means_more(const smma_plan *p) {
  return p && (smma_plan_scaled_k(p) || smma_plan_has(p, SMMA_EPILOGUE_BIAS) || smma_plan_has(p, SMMA_EPILOGUE_RELU) ||
               smma_plan_has(p, SMMA_EPILOGUE_SCALE_D) || smma_plan_has(p, SMMA_EPILOGUE_CLAMP));
}

/* Writes a factor as the epilogue takes it. */
static void write_factor(double factor, bool single, FILE *stream) {
  const double taken = single ? (double)(float)factor : factor;
  char text[40];
  fprintf(stream, "%s", smma_value_text(SMMA_F64, smma_bits_of_f64(taken), text));
}

/* Writes the exact result. This is the user's variable `expected` if the plan means more, or if double precision is the
   unit's own, so that the expression would have errors as large as the unit's. */
static void write_expression(const smma_tolerance_result *x, FILE *stream) {
  const smma_product_target *t = &x->request->target[0];
  const smma_gemm_arguments *g = &t->product;
  const bool single = smma_outer_format(t->instruction->d) == SMMA_F32;
  for (size_t i = 0; i < x->request->targets; i++)
    if (means_more(x->request->target[i].product.plan) || x->request->target[i].instruction->d == SMMA_F64) {
      fprintf(stream, "expected");
      return;
    }
  if (g->alpha != 1) write_factor(g->alpha, single, stream), fprintf(stream, " * (");
  fprintf(stream, "A.double() @ B.double()%s", g->alpha != 1 ? ")" : "");
  if (!x->has_c) return;
  fprintf(stream, " + ");
  if (g->beta != 1) write_factor(g->beta, single, stream), fprintf(stream, " * ");
  fprintf(stream, "C.double()");
}

/* Reports whether exact results are NaN or infinite. */
static bool has_special(const smma_tolerance_result *x) {
  bool has = false;
  for (size_t i = 0; i < x->request->targets; i++) has = has || x->target[i].special;
  return has;
}

static void write_line(const smma_tolerance_result *x, smma_tolerance t, const char *what, FILE *stream) {
  const smma_tolerance_request *r = x->request;
  char text[SMMA_OPERANDS_TEXT];
  fprintf(stream, "# softmma tolerance: %s; K = %zu, %s", what, x->k, smma_tolerance_operands(r, text));
  for (size_t i = 0; i < r->targets; i++)
    fprintf(stream, "%s%s%s%s", i ? ", " : "; ", r->target[i].label, r->target[i].plan ? " with plan " : "",
            r->target[i].plan ? r->target[i].plan : "");
  fprintf(stream, "\ntorch.testing.assert_close(D.double(), ");
  write_expression(x, stream);
  fprintf(stream, ", rtol=%.1e, atol=%.1e%s)\n", t.relative, t.absolute, has_special(x) ? ", equal_nan=True" : "");
}

char *smma_tolerance_paste(const smma_tolerance_result *x) {
  char what[64], *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  smma_locale locale;
  if (!stream) return NULL;
  locale = smma_locale_enter();
  snprintf(what, sizeof what, x->request->margin == 1 ? "measured" : "%g times what was measured", x->request->margin);
  if (x->is_measured) write_line(x, x->measured, what, stream);
  if (x->is_proven) write_line(x, x->proven, "proven for these operands", stream);
  smma_locale_leave(locale);
  if (fclose(stream) == 0) return text;
  free(text);
  return NULL;
}
