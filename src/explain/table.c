#include "explain/table.h"

#include <string.h>

int smma_longer(int width, const char *text) {
  const int length = (int)strlen(text);
  return length > width ? length : width;
}

smma_table_row *smma_table_add(smma_table *t) {
  smma_table_row *row = &t->row[t->count++];
  memset(row, 0, sizeof *row);
  row->sign = ' ';
  return row;
}

void smma_table_measure(smma_table *t) {
  t->label_width = 4;
  t->value_width = 5;
  t->factors_width = t->rest_width = t->kept_width = 0;
  t->exponent_width = 1;
  for (int i = 0; i < t->count; i++) {
    const smma_table_row *row = &t->row[i];
    t->label_width = smma_longer(t->label_width, row->label);
    t->factors_width = smma_longer(t->factors_width, row->factors);
    t->value_width = smma_longer(t->value_width, row->value);
    t->exponent_width = smma_longer(t->exponent_width, row->exponent);
    t->rest_width = smma_longer(t->rest_width, row->rest);
    t->kept_width = smma_longer(t->kept_width, row->kept);
  }
}

/* Returns the width of the columns before the bits: indent, label, factors, value, exponent, sign. */
static int width_before_bits(const smma_table *t) {
  return 2 + t->label_width + (t->factors_width ? 2 + t->factors_width : 0) + 2 + t->value_width + 2 +
         t->exponent_width + 4;
}

int smma_table_width(const smma_table *t) {
  int kept = t->kept_width ? 2 + t->kept_width : 0, bits = t->ruler.length + t->rest_width + kept;
  return width_before_bits(t) + smma_longer(bits, t->labels);
}

/* Returns how many columns of bits fit in lines of `width`, with a margin for a label that starts in the last
   column. */
static int room_for_bits(const smma_table *t, int width) {
  int room = width - width_before_bits(t) - 6;
  return room < 16 ? 16 : room;
}

/* Prints a line without trailing blanks. */
static void put_line(FILE *stream, char *line) {
  size_t length = strlen(line);
  while (length > 0 && line[length - 1] == ' ') length--;
  line[length] = 0;
  fprintf(stream, "%s\n", line);
}

static void put_row(FILE *stream, const smma_table *t, const smma_table_row *row, int from, int to) {
  char line[SMMA_RULER_SIZE + 512];
  int length = snprintf(line, sizeof line, "%c %-*s", row->marked ? '>' : ' ', t->label_width, row->label);
  const char *bits = (int)strlen(row->bits) > from ? row->bits + from : "";
  if (t->factors_width)
    length += snprintf(line + length, sizeof line - (size_t)length, "  %-*s", t->factors_width, row->factors);
  length += snprintf(line + length, sizeof line - (size_t)length, "  %*s  %*s  %c %-*.*s", t->value_width, row->value,
                     t->exponent_width, row->exponent, row->sign, to - from, to - from, bits);
  if (to == t->ruler.length)
    snprintf(line + length, sizeof line - (size_t)length, "%-*s  %s", t->rest_width, row->rest, row->kept);
  put_line(stream, line);
}

static void put_rule(FILE *stream, const smma_table *t, int from, int to) {
  char rule[SMMA_RULER_SIZE + 1];
  int width = to - from - (t->ruler.bars && to == t->ruler.length ? 1 : 0);
  memset(rule, '-', (size_t)(width + 2));
  rule[width + 2] = 0;
  fprintf(stream, "%*s%s\n", width_before_bits(t) - 2, "", rule);
}

/* Reports whether a row has no bits at positions `from` to to - 1 of the drawing. */
static bool is_blank(const smma_table_row *row, int from, int to) {
  int length = (int)strlen(row->bits);
  for (int i = from; i < to && i < length; i++)
    if (row->bits[i] == '0' || row->bits[i] == '1') return false;
  return true;
}

static void put_panel(FILE *stream, const smma_table *t, int from, int to) {
  bool all = from == 0 && to == t->ruler.length;
  int labels_end = to;
  smma_table_row axis = {.label = "term", .value = "value", .exponent = "e", .sign = ' '};
  snprintf(axis.bits, sizeof axis.bits, "%s", t->labels);
  /* A label that the previous panel has completed is not continued here. */
  for (int i = from; from > 0 && axis.bits[i] && axis.bits[i] != ' ' && t->labels[i - 1] != ' '; i++)
    axis.bits[i] = ' ';
  while (labels_end < (int)strlen(axis.bits) && axis.bits[labels_end] != ' ' && axis.bits[labels_end - 1] != ' ')
    labels_end++;
  put_row(stream, t, &axis, from, labels_end);
  axis = (smma_table_row){.sign = ' '};
  snprintf(axis.bits, sizeof axis.bits, "%s", t->marks);
  put_row(stream, t, &axis, from, to);
  for (int i = 0; i < t->count; i++) {
    if (i == t->terms) put_rule(stream, t, from, to);
    if (all || i >= t->terms || !is_blank(&t->row[i], from, to)) put_row(stream, t, &t->row[i], from, to);
  }
}

void smma_table_print(FILE *stream, const smma_table *t, int width) {
  int room = room_for_bits(t, width), total = t->ruler.length, from = 0;
  if (smma_table_width(t) <= width || t->ruler.bars) {
    put_panel(stream, t, 0, total);
    return;
  }
  while (from < total) {
    int to = total;
    for (int i = 0; i < t->ruler.count && total - from > room; i++)
      if (t->ruler.column[i].at > from && t->ruler.column[i].at <= from + room) to = t->ruler.column[i].at;
    if (from > 0) fprintf(stream, "  further right:\n");
    put_panel(stream, t, from, to);
    from = to;
  }
}
