#include "explain/ruler.h"

#include <stdio.h>
#include <string.h>

#define RUN_WIDTH 5     /* width of a collapsed run in columns */
#define SHORTEST_RUN 10 /* number of weights in the shortest run that is collapsed */

/* Number of columns between two marks, except marks at the ends of runs and numbers. */
#define MARK_STEP 8

smma_drawn smma_drawn_wide(smma_wide *sum) {
  smma_drawn x = {.negative = smma_wide_leading(sum).negative, .zero = true};
  x.magnitude = *sum;
  for (int i = sum->first; i <= sum->last; i++) {
    uint64_t limb = (uint64_t)sum->limb[i];
    int weight = SMMA_WIDE_LEAST + 32 * i;
    if (!limb) continue;
    if (x.zero) x.bottom = weight + smma_bit_length(limb & (0 - limb)) - 1;
    x.top = weight + smma_bit_length(limb) - 1;
    x.zero = false;
  }
  return x;
}

smma_drawn smma_drawn_number(smma_number x) {
  smma_wide sum;
  smma_wide_clear(&sum);
  smma_wide_add_number(&sum, x, false);
  return smma_drawn_wide(&sum);
}

smma_drawn smma_drawn_sum(int64_t sum, int exponent) {
  smma_wide wide;
  smma_wide_clear(&wide);
  if (sum) smma_wide_add(&wide, sum < 0, smma_magnitude(sum), exponent);
  return smma_drawn_wide(&wide);
}

smma_quantity smma_drawn_quantity(const smma_drawn *x) {
  const smma_quantity magnitude = smma_quantity_of(&x->magnitude);
  return x->negative ? smma_quantity_negated(magnitude) : magnitude;
}

bool smma_same_drawn(const smma_drawn *x, const smma_drawn *y) {
  if (x->zero || y->zero) return x->zero && y->zero;
  if (x->negative != y->negative || x->top != y->top || x->bottom != y->bottom) return false;
  for (int weight = x->bottom; weight <= x->top; weight++)
    if (smma_drawn_bit(x, weight) != smma_drawn_bit(y, weight)) return false;
  return true;
}

char smma_drawn_bit(const smma_drawn *x, int weight) {
  int position = weight - SMMA_WIDE_LEAST;
  if (x->zero || weight > x->top || weight < x->bottom) return '.';
  return x->magnitude.limb[position / 32] >> position % 32 & 1 ? '1' : '0';
}

static void add_column(smma_ruler *r, int weight, bool run) {
  int width = run ? RUN_WIDTH : 1;
  if (r->length + width > SMMA_RULER_SIZE - SMMA_RULER_BARS)
    return; /* sums of scaled FP32 products may be wider: the remaining bits are not drawn */
  r->column[r->count++] = (smma_ruler_column){weight, r->length, run};
  r->length += width;
}

void smma_ruler_aligned(smma_ruler *r, int top, const int *cut, int cuts) {
  r->count = r->length = r->bars = 0;
  for (int weight = top; weight >= cut[cuts - 1]; weight--) {
    add_column(r, weight, false);
    if (r->bars < cuts && weight == cut[r->bars]) {
      r->bar[r->bars++] = weight;
      r->length++;
    }
  }
}

static bool same_digits(const smma_drawn *x, int count, int weight, int other) {
  for (int i = 0; i < count; i++)
    if (smma_drawn_bit(&x[i], weight) != smma_drawn_bit(&x[i], other)) return false;
  return true;
}

void smma_ruler_exact(smma_ruler *r, const smma_drawn *x, int count) {
  int top = 0, bottom = 0;
  bool empty = true;
  r->count = r->length = r->bars = 0;
  for (int i = 0; i < count; i++) {
    if (x[i].zero) continue;
    top = empty || x[i].top > top ? x[i].top : top;
    bottom = empty || x[i].bottom < bottom ? x[i].bottom : bottom;
    empty = false;
  }
  for (int weight = top, next; weight >= bottom; weight = next) {
    next = weight - 1;
    while (next >= bottom && same_digits(x, count, weight, next)) next--;
    if (weight - next >= SHORTEST_RUN) {
      add_column(r, weight, true);
      continue;
    }
    for (int w = weight; w > next; w--) add_column(r, w, false);
  }
}

/* Writes the label of a column, "2^-3", if there is room for it; if `ends_here`, so that it ends at the column. Returns
   whether there was room. */
static bool place_label(const smma_ruler *r, char *labels, char *marks, int column, bool ends_here) {
  char text[16];
  int length = snprintf(text, sizeof text, "2^%d", r->column[column].weight);
  int tick = r->column[column].at, at = ends_here && tick >= length - 1 ? tick - length + 1 : tick;
  for (int i = at ? at - 1 : 0; i <= at + length; i++)
    if (labels[i] != ' ') return false;
  memcpy(labels + at, text, (size_t)length);
  if (!ends_here) marks[tick] = '|';
  return true;
}

void smma_ruler_label(const smma_ruler *r, const int *emax, char *labels, char *marks) {
  memset(labels, ' ', SMMA_RULER_SIZE);
  labels[SMMA_RULER_SIZE] = 0;
  memset(marks, '-', (size_t)r->length);
  marks[r->length] = 0;
  for (int i = 0; i < r->count; i++)
    if (r->column[i].run) memset(marks + r->column[i].at + 1, '~', RUN_WIDTH - 2);
  for (int i = 0; emax && i < r->count; i++)
    if (r->column[i].weight == *emax) place_label(r, labels, marks, i, false);
  for (int bar = 0; bar < r->bars; bar++)
    for (int i = 0; i < r->count; i++)
      if (r->column[i].weight == r->bar[bar]) {
        place_label(r, labels, marks, i, true);
        marks[r->column[i].at + 1] = '|';
      }
  for (int i = 0; !emax && i < r->count; i++)
    if (i == 0 || r->column[i - 1].run || r->column[i].run) place_label(r, labels, marks, i, false);
  for (int i = 0; i < r->count; i++)
    if (!r->column[i].run && r->column[i].weight % MARK_STEP == 0 && !place_label(r, labels, marks, i, false) &&
        marks[r->column[i].at] == '-' && marks[r->column[i].at + 1] == '-')
      marks[r->column[i].at] = '+';
  for (int end = SMMA_RULER_SIZE; end > 0 && labels[end - 1] == ' '; end--) labels[end - 1] = 0;
}

static bool is_bar(const smma_ruler *r, int weight) {
  for (int i = 0; i < r->bars; i++)
    if (r->bar[i] == weight) return true;
  return false;
}

void smma_ruler_draw(const smma_ruler *r, const smma_drawn *x, const int *cut, char *text) {
  int length = 0;
  for (int i = 0; i < r->count; i++) {
    int weight = r->column[i].weight;
    char bit = smma_drawn_bit(x, weight);
    if (cut && weight < *cut && (x->zero || weight < x->bottom)) bit = ' ';
    text[length++] = bit;
    if (r->column[i].run) {
      text[length++] = '~';
      text[length++] = '~';
      text[length++] = '~';
      text[length++] = bit;
    }
    if (is_bar(r, weight)) text[length++] = cut && weight == *cut ? '|' : ' ';
  }
  text[length] = 0;
}

void smma_ruler_draw_rest(const smma_ruler *r, const smma_drawn *x, int most, char *text, size_t size) {
  int first = r->column[r->count - 1].weight - 1, length = 0;
  bool brief = most < 8;
  text[0] = 0;
  if (x->zero || x->bottom > first) return;
  if (x->top <= first - most) {
    snprintf(text, size, brief ? "(%d lower)" : "(%d places lower)", first - x->top);
    return;
  }
  for (int weight = first; weight > first - most && weight >= x->bottom; weight--)
    text[length++] = smma_drawn_bit(x, weight);
  text[length] = 0;
  if (first - most >= x->bottom)
    snprintf(text + length, size - (size_t)length, brief ? "..+%d" : "..+%d bits", first - most - x->bottom + 1);
}
