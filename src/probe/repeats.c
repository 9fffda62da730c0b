/* Whether a unit is a function of its operands: the same row again, and at every place of a batch. */
#include <string.h>

#include "probe/probe.h"
#include "rows/generate.h"

enum { ROWS = 256 };

bool smma_probe_repeats(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_operation o = smma_operation_of(s->instruction);
  static _Thread_local smma_row rows[ROWS], again[ROWS];
  for (int i = 0; i < ROWS; i++) smma_generate_row(&o, 1, (uint64_t)i, (smma_row_kind)(i % SMMA_ROWS_KINDS), &rows[i]);
  memcpy(again, rows, sizeof again);
  if (!smma_ask_subject(s, rows, ROWS) || !smma_ask_subject(s, again, ROWS)) return false;
  for (int i = 0; i < ROWS; i++)
    if (rows[i].d != again[i].d) return smma_tell(f, &again[i], "no: row %d of a batch was another the second time", i);
  for (int i = 0; i < ROWS; i++) again[i] = rows[i * 37 % ROWS];
  if (!smma_ask_subject(s, again, ROWS)) return false;
  for (int i = 0; i < ROWS; i++)
    if (again[i].d != rows[i * 37 % ROWS].d)
      return smma_tell(f, &again[i], "no: it is another at place %d of a batch", i);
  return smma_tell(f, NULL, "yes, %d rows", ROWS);
}
