/* Tests whether a unit is a function of its operands: computes vectors of all kinds again, in other orders and among
   other vectors. */
#include "probe/probe.h"
#include "rows/generate.h"
#include "unit/alike.h"

static bool tell(const smma_rows *rows, const smma_alikeness *a, smma_finding *f) {
  smma_row row;
  smma_rows_get(rows, a->row, &row);
  if (a->not_repeated + a->not_alike == 0)
    return smma_tell(f, NULL, "yes: %zu test vectors, each at several positions of a call%s", rows->capacity,
                     a->other_nans ? ", except sign and payload of NaN" : "");
  return smma_tell(f, &row, "no: %llu of %llu results changed; test vector %zu %s position %zu of %zu",
                   (unsigned long long)(a->not_repeated + a->not_alike), (unsigned long long)a->asked, a->row,
                   a->at_once ? "when repeated at" : "at", a->place, a->batch);
}

bool smma_probe_repeats(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  smma_alikeness alikeness;
  smma_rows rows;
  bool good = smma_rows_allocate(s->instruction, s->repeated, &rows) || smma_no_memory(&s->error);
  if (good) {
    smma_generate_rows(&rows, 1, 0, s->repeated, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
    good = smma_unit_ask(s->unit, &rows, 0, s->repeated, NULL, &s->error) &&
           smma_check_alike(s->unit, &rows, s->repeated, &alikeness, &s->error);
    s->rows += s->repeated;
    s->calls++;
    if (good) {
      s->rows += alikeness.asked + alikeness.asked_why;
      s->calls += alikeness.calls;
      x->repeats = alikeness.not_repeated + alikeness.not_alike == 0;
      tell(&rows, &alikeness, f);
    }
  }
  smma_rows_free(&rows);
  return good;
}
