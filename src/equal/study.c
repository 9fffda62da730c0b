#include "equal/study.h"

#include <stdio.h>

#include "isa/format_name.h"
#include "rows/datum.h"

/* ---- Answers ---- */

bool smma_equal(const smma_equal_request *r, smma_equal_result *result, smma_error *error) {
  smma_planned target[2];
  for (int n = 0; n < r->targets; n++) {
    const smma_equal_target *t = &r->target[n];
    snprintf(result->shown[n], sizeof result->shown[n], "%.511s%s%.511s", t->label, t->plan_name ? ", " : "",
             t->plan_name ? t->plan_name : "");
    target[n] = (smma_planned){result->shown[n], t->instruction, t->plan};
  }
  if (r->planned && r->targets == 2)
    return smma_find_planned_equality(target, r->k, r->rows, r->seed, &result->planned_equality, error);
  if (r->planned) return smma_find_planned_freedom(target, r->k, r->rows, r->seed, &result->planned_freedom, error);
  if (r->targets == 2)
    return smma_find_equality(target[0].instruction, target[1].instruction, r->rows, r->seed, &result->equality, error);
  return smma_find_freedom(target[0].instruction, r->rows, r->seed, &result->freedom, error);
}

smma_answer smma_equal_answer(const smma_equal_request *r, const smma_equal_result *result) {
  if (r->planned) return r->targets == 2 ? result->planned_equality.answer : result->planned_freedom.order.answer;
  return r->targets == 2 ? result->equality.answer : result->freedom.order.answer;
}

/* ---- Data ---- */

static const char *const answers[] = {"equal", "different", "cannot tell"};
static const char *const orders[] = {"any", "matters", "cannot tell"};
static const char *const zeros[] = {"change nothing", "matter", "cannot tell"};

static void put_instructions(smma_datum *record, const smma_equal_request *r) {
  const smma_equal_target *t = r->target;
  smma_datum_put(record, "targets", smma_datum_texts((const char *const[]){t[0].label, t[1].label}, 2));
  smma_datum_put(record, "instr",
                 smma_datum_texts((const char *const[]){t[0].instruction->name, t[1].instruction->name}, 2));
}

/* Returns the vector of a witness; with `planned`, also the product's k at which its terms stand. */
static smma_datum *row_datum(const smma_witness *w, const smma_planned_witness *planned) {
  smma_datum *record, *place;
  if (!w->found) return smma_datum_null();
  record = smma_datum_record();
  smma_put_count(record, "k", (uint64_t)w->as.k);
  smma_put_count(record, "terms", (uint64_t)w->terms);
  smma_put_text(record, "c_format", smma_format_text(w->as.c));
  smma_put_operands(record, &w->as, &w->row);
  smma_datum_put(
      record, "d",
      smma_datum_list_of(2, smma_encodings_datum(w->as.d, &w->row.d, 1), smma_encodings_datum(w->as.d, &w->other, 1)));
  if (planned) {
    place = smma_datum_list();
    for (int i = 0; i < w->as.k; i++) smma_datum_append(place, smma_datum_count((int64_t)planned->place[i]));
    smma_datum_put(record, "at", place);
    smma_put_count(record, "product_k", planned->k);
    smma_put_text(record, "with", planned->with);
  }
  smma_put_text(record, "d_format", smma_format_text(w->as.d));
  smma_put_text(record, "a_format", smma_format_text(w->as.a));
  smma_put_text(record, "b_format", smma_format_text(w->as.b));
  return record;
}

static void put_equality(smma_datum *record, const smma_equal_request *r, const smma_equality *e) {
  const bool proved = e->answer == SMMA_PROVED;
  put_instructions(record, r);
  smma_put_text(record, "answer", answers[e->answer]);
  smma_put_text(record, "why", e->why);
  smma_datum_put(record, "multiple_of", proved ? smma_datum_count(e->multiple) : smma_datum_null());
  smma_datum_put(record, "row", row_datum(&e->witness, NULL));
  smma_datum_put(record, "other_k", row_datum(&e->filled, NULL));
  smma_put_count(record, "rows", proved ? e->filled.rows : e->witness.rows);
}

static void put_planned_equality(smma_datum *record, const smma_equal_request *r, const smma_planned_equality *e) {
  put_instructions(record, r);
  smma_datum_put(record, "plans",
                 smma_datum_texts((const char *const[]){r->target[0].plan_name, r->target[1].plan_name}, 2));
  smma_put_text(record, "answer", answers[e->answer]);
  smma_put_text(record, "why", e->why);
  smma_datum_put(record, "k", e->k ? smma_datum_count((int64_t)e->k) : smma_datum_null());
  smma_put_text(record, "neutral", e->neutral);
  smma_datum_put(record, "row", row_datum(&e->row.witness, &e->row));
  smma_put_count(record, "rows", e->row.witness.rows);
  smma_put_count(record, "k_searched", e->searched);
}

static void put_order(smma_datum *record, smma_answer answer, const char *why, smma_datum *row, size_t one,
                      size_t other) {
  smma_put_text(record, "order", orders[answer]);
  smma_put_text(record, "why", why);
  smma_datum_put(record, "row", row);
  smma_datum_put(record, "exchanged",
                 answer == SMMA_REFUTED
                     ? smma_datum_list_of(2, smma_datum_count((int64_t)one), smma_datum_count((int64_t)other))
                     : smma_datum_null());
}

static void put_freedom(smma_datum *record, const smma_freedom *f) {
  put_order(record, f->order.answer, f->order.why, row_datum(&f->order.witness, NULL), (size_t)f->exchanged[0],
            (size_t)f->exchanged[1]);
  smma_put_count(record, "rows", f->order.witness.rows);
  smma_put_text(record, "any_order_of", f->within);
  smma_put_text(record, "block_k", f->tile);
  smma_put_text(record, "zeros", zeros[f->filled.answer]);
  smma_datum_put(record, "zeros_row", row_datum(&f->filled.witness, NULL));
}

static void put_planned_freedom(smma_datum *record, const smma_equal_request *r, const smma_planned_freedom *f) {
  smma_put_text(record, "plan", r->target[0].plan_name);
  smma_put_count(record, "k", f->k);
  put_order(record, f->order.answer, f->order.why, row_datum(&f->order.row.witness, &f->order.row), f->exchanged[0],
            f->exchanged[1]);
  smma_put_count(record, "rows", f->order.row.witness.rows);
  smma_put_text(record, "any_order_with_0", f->within);
}

smma_datum *smma_equal_datum(const smma_equal_request *r, const smma_equal_result *result) {
  smma_datum *record = smma_datum_record();
  if (r->targets == 1) {
    smma_put_text(record, "target", r->target[0].label);
    smma_put_text(record, "instr", r->target[0].instruction->name);
  }
  if (r->planned && r->targets == 2)
    put_planned_equality(record, r, &result->planned_equality);
  else if (r->planned)
    put_planned_freedom(record, r, &result->planned_freedom);
  else if (r->targets == 2)
    put_equality(record, r, &result->equality);
  else
    put_freedom(record, &result->freedom);
  return record;
}
