#include "explain/axis.h"

#include <string.h>

#define SHORTEST_EMPTY 6 /* number of weights without bits from which on a run becomes a gap */
/* Number of weights, at which every number repeats its digit, from which on a run becomes a gap. */
#define SHORTEST_RUN 12

/* An axis of at most this length has no gaps, so that distances are visible. */
#define LONGEST_WHOLE 72

static char digit(const smma_axis_row *row, int weight) {
  return weight < row->floor ? '.' : smma_drawn_bit(row->x, weight);
}

/* Reports whether every row has equal digits at the two weights. Sets `*empty` to false if a row has a bit at `weight`,
   not a blank. */
static bool same_digits(const smma_axis_row *row, int rows, int weight, int other, bool *empty) {
  for (int i = 0; i < rows; i++) {
    char bit = digit(&row[i], weight);
    if (bit != digit(&row[i], other)) return false;
    if (bit != '.') *empty = false;
  }
  return true;
}

static bool is_marked(const int *mark, int marks, int weight) {
  for (int i = 0; i < marks; i++)
    if (weight == mark[i] || weight == mark[i] - 1) return true;
  return false;
}

static void find_range(smma_axis *axis, const smma_axis_row *row, int rows, const int *mark, int marks) {
  bool any = false;
  for (int i = 0; i < rows + marks; i++) {
    bool number = i < rows;
    int top = number ? row[i].x->top : mark[i - rows], bottom = top;
    if (number) bottom = row[i].x->bottom > row[i].floor ? row[i].x->bottom : row[i].floor;
    if (number && (row[i].x->zero || bottom > top)) continue;
    axis->first = any && axis->first > top ? axis->first : top;
    axis->last = any && axis->last < bottom ? axis->last : bottom;
    any = true;
  }
  if (!any) axis->first = axis->last = 0;
}

void smma_axis_make(smma_axis *axis, const smma_axis_row *row, int rows, const int *mark, int marks) {
  bool whole;
  find_range(axis, row, rows, mark, marks);
  whole = axis->first - axis->last < LONGEST_WHOLE;
  axis->cells = 0;
  for (int weight = axis->first, next; weight >= axis->last; weight = next) {
    bool empty = !is_marked(mark, marks, weight), gap;
    next = weight - 1;
    if (!whole && empty)
      while (next >= axis->last && !is_marked(mark, marks, next) && same_digits(row, rows, weight, next, &empty))
        next--;
    gap = !whole && weight - next >= (empty ? SHORTEST_EMPTY : SHORTEST_RUN);
    for (int w = weight; w > next; w--) {
      axis->at[w - SMMA_WIDE_LEAST] = (int16_t)axis->cells;
      axis->gap[w - SMMA_WIDE_LEAST] = gap;
      if (!gap) axis->cells++;
    }
    if (gap) axis->cells += SMMA_AXIS_GAP;
  }
}

static int cell(const smma_axis *axis, int weight, bool gap) {
  int index = weight - SMMA_WIDE_LEAST;
  return weight > axis->first || weight < axis->last || axis->gap[index] != gap ? -1 : axis->at[index];
}

int smma_axis_cell(const smma_axis *axis, int weight) { return cell(axis, weight, false); }

int smma_axis_gap(const smma_axis *axis, int weight) { return cell(axis, weight, true); }
