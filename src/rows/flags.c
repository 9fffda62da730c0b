#include "rows/flags.h"

#include <string.h>

#include "rows/rows.h"

static const struct {
  int flag;
  const char *name;
} names[] = {{SMMA_FLAG_INVALID, "invalid"},
             {SMMA_FLAG_DIVIDE_BY_ZERO, "division by zero"},
             {SMMA_FLAG_OVERFLOW, "overflow"},
             {SMMA_FLAG_UNDERFLOW, "underflow"},
             {SMMA_FLAG_INEXACT, "inexact"}};
enum { NAMES = sizeof names / sizeof names[0] };

const char *smma_flags_text(int flags, char text[SMMA_FLAGS_TEXT]) {
  int length = snprintf(text, SMMA_FLAGS_TEXT, "%02x", (unsigned)flags);
  const int digits = length;
  for (int n = 0; n < NAMES; n++)
    if (flags & names[n].flag)
      length +=
          snprintf(text + length, (size_t)(SMMA_FLAGS_TEXT - length), length > digits ? ", %s" : " %s", names[n].name);
  if (length == digits) snprintf(text + length, (size_t)(SMMA_FLAGS_TEXT - length), " none");
  return text;
}

bool smma_tininess_from_text(const char *text, smma_tininess *tininess, smma_error *error) {
  *tininess = !text                         ? SMMA_TININESS_OF_UNIT
              : strcmp(text, "before") == 0 ? SMMA_TININESS_BEFORE_ROUNDING
                                            : SMMA_TININESS_AFTER_ROUNDING;
  return !text || *tininess == SMMA_TININESS_BEFORE_ROUNDING || strcmp(text, "after") == 0 ||
         smma_fail(error, "'%s' is neither 'before' nor 'after'", text);
}

bool smma_row_compute_flags(const smma_instruction *i, smma_row *row, smma_tininess tininess, smma_error *error) {
  unsigned char flags = 0;
  smma_rows one;
  smma_batch batch;
  bool done;
  if (!smma_rows_allocate(i, 1, &one)) return smma_no_memory(error);
  smma_rows_put(&one, 0, row);
  batch = smma_rows_batch(&one, 0, 1, NULL);
  done = smma_dot_flags(i, &batch, tininess, 1, &flags, error) == SMMA_OK;
  smma_rows_free(&one);
  row->flags = flags;
  return done;
}

void smma_put_flags(smma_datum *record, int flags) {
  char text[SMMA_FLAGS_TEXT];
  smma_datum *list = smma_datum_list();
  for (int n = 0; n < NAMES; n++)
    if (flags & names[n].flag) smma_datum_append(list, smma_datum_text(names[n].name));
  snprintf(text, sizeof text, "%02x", (unsigned)flags);
  smma_put_text(record, "flags", text);
  smma_datum_put(record, "exceptions", list);
}
