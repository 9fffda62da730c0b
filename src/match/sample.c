#include "match/sample.h"

#include <math.h>
#include <stdlib.h>

#include "host/count.h"
#include "host/load.h"
#include "match/compare.h"
#include "plan/schedule.h"

enum {
  SAMPLE = SMMA_MATCH_SAMPLE,
  MOST_LINES = 128,       /* rows of A from which the sample is chosen */
  MOST_COLUMNS = 1 << 12, /* likewise columns of B */
  REFERENCE = 1 << 26,    /* about how many products are computed to choose the samples */
};

typedef struct {
  size_t row, column;
  double near, exact,
      total; /* near: distance from the nearest tie, divided by `total`; exact: sum of a b; total: sum of |a b| */
} element;

/* Returns the value of an element of D before rounding, nearly exactly. It is used only to choose elements. */
static double expected(const smma_match_data *data, const element *e) {
  double y = data->alpha * e->exact;
  if (data->c)
    y += data->beta * smma_format_decode(data->c_format, smma_load(smma_bytes_of(data->c_format), data->c,
                                                                   e->row * data->n + e->column));
  if (data->bias) y += data->bias[e->column];
  return y * data->scale_d;
}

static double distance_from_tie(const smma_match_data *data, const element *e) {
  const smma_encoding f = smma_encoding_of(data->d_format);
  const uint64_t d = smma_match_d(data, e->row, e->column), next = d ^ 1;
  const double x = smma_format_decode(data->d_format, d), y = expected(data, e);
  const double half = fabs(smma_format_decode(data->d_format, next) - x) / 2;
  if (smma_decode(f, d).kind > SMMA_FINITE || smma_decode(f, next).kind > SMMA_FINITE || e->total == 0) return INFINITY;
  return fmin(fabs(y - (x - half)), fabs(y - (x + half))) / e->total;
}

static int nearer(const void *x, const void *y) {
  const element *a = x, *b = y;
  if (a->near != b->near && !(isnan(a->near) && isnan(b->near))) return isnan(b->near) || a->near < b->near ? -1 : 1;
  return a->row != b->row ? (a->row < b->row ? -1 : 1) : a->column < b->column ? -1 : a->column > b->column;
}

static void decode_lines(smma_format format, const void *x, size_t first, size_t step, size_t count, double *to) {
  for (size_t i = 0; i < count; i++)
    to[i] = smma_format_decode(format, smma_load(smma_bytes_of(format), x, first + i * step));
}

/* Returns the i-th of `lines` lines spread evenly over all, including the first and the last. */
static size_t spread(size_t i, size_t lines, size_t all) { return lines > 1 ? i * (all - 1) / (lines - 1) : 0; }

static bool examine(const smma_match_data *data, size_t rows, size_t columns, element *e) {
  const size_t k = data->k;
  double *a = malloc(k * sizeof *a), *b = malloc(columns * k * sizeof *b);
  for (size_t j = 0; a && b && j < columns; j++)
    decode_lines(data->b_format, data->b, spread(j, columns, data->n), data->n, k, b + j * k);
  for (size_t i = 0; a && b && i < rows; i++) {
    decode_lines(data->a_format, data->a, spread(i, rows, data->m) * k, 1, k, a);
    for (size_t j = 0; j < columns; j++, e++) {
      *e = (element){spread(i, rows, data->m), spread(j, columns, data->n), 0, 0, 0};
      for (size_t x = 0; x < k; x++) e->exact += a[x] * b[j * k + x], e->total += fabs(a[x] * b[j * k + x]);
      e->near = distance_from_tie(data, e);
    }
  }
  free(a);
  free(b);
  return a && b;
}

/* Sets match->distance and match->factor. */
static void judge(const smma_match_data *data, const element *e, size_t count, smma_match *match) {
  double dy = 0, yy = 0, dd = 0, off = 0;
  for (size_t i = 0; i < count; i++) {
    const double d = smma_format_decode(data->d_format, smma_match_d(data, e[i].row, e[i].column)),
                 y = expected(data, &e[i]);
    if (!isfinite(d) || !isfinite(y)) continue;
    dy += d * y, yy += y * y, dd += d * d, off += (d - y) * (d - y);
  }
  match->distance = yy > 0 ? sqrt(off / yy) : 0;
  match->factor = yy > 0 && dd - dy * dy / yy < 1e-4 * dd ? dy / yy : 0;
}

bool smma_match_choose(const smma_match_data *data, smma_match_elements elements[SMMA_MATCH_SAMPLES], size_t *samples,
                       smma_match *match) {
  const size_t most = 1 + REFERENCE / data->k;
  const size_t rows = smma_least(data->m, smma_least(most, MOST_LINES));
  const size_t columns = smma_least(data->n, smma_least(1 + most / rows, MOST_COLUMNS)), count = rows * columns;
  element *e = malloc(count * sizeof *e);
  bool done = e && examine(data, rows, columns, e);
  if (done) {
    judge(data, e, count, match);
    qsort(e, count, sizeof *e, nearer);
  }
  for (size_t i = 0; done && i < SMMA_MATCH_SAMPLES * SAMPLE; i++) {
    smma_match_elements *to = &elements[i / SAMPLE];
    to->row[i % SAMPLE] = e[i % count].row, to->column[i % SAMPLE] = e[i % count].column;
  }
  free(e);
  for (*samples = 0; done && *samples < SMMA_MATCH_SAMPLES && (*samples == 0 || *samples * SAMPLE < count); ++*samples)
    done = smma_match_gather(data, &elements[*samples]);
  return done;
}

/* ---- Exact sums ---- */

/* Finds the exponent of the last bit of any element, and the largest magnitude. */
static void measure(smma_format format, const void *x, size_t count, int *last, double *most) {
  const smma_encoding f = smma_encoding_of(format);
  *last = INT32_MAX / 4, *most = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t code = smma_load(smma_bytes_of(format), x, i);
    const smma_number number = smma_decode(f, code);
    const int exponent = number.exponent - number.fraction_bits; /* of the significand's last bit */
    int bit = 0;
    if (number.kind == SMMA_ZERO) continue;
    if (number.kind > SMMA_FINITE) *most = INFINITY;
    while (!(number.significand >> bit & 1) && bit < 63) bit++;
    if (exponent + bit < *last) *last = exponent + bit;
    *most = fmax(*most, fabs(smma_format_decode(format, code)));
  }
}

bool smma_match_is_exact(const smma_match_data *data) {
  const smma_format outer = smma_outer_format(data->d_format);
  const int bits = outer == SMMA_F64 ? 53 : outer == SMMA_S32 ? 31 : 24;
  const int least = outer == SMMA_F64 ? -1074 : outer == SMMA_S32 ? 0 : -149, beyond = outer == SMMA_F64 ? 1023 : 127;
  int last[2];
  double most[2], sum;
  measure(data->a_format, data->a, data->m * data->k, &last[0], &most[0]);
  measure(data->b_format, data->b, data->n * data->k, &last[1], &most[1]);
  sum = (double)data->k * most[0] * most[1];
  if (sum == 0) return true;
  if (outer == SMMA_S32) return sum < ldexp(1, bits); /* s32 does not hold 2^31 */
  return last[0] + last[1] >= least && sum < ldexp(1, beyond) && sum <= ldexp(1, bits + last[0] + last[1]);
}

bool smma_match_has_negative_zero(const smma_match_data *data) {
  const smma_encoding f = smma_encoding_of(data->d_format);
  for (size_t i = 0; i < data->m * data->n; i++) {
    const smma_number x = smma_decode(f, smma_load(smma_bytes_of(data->d_format), data->d, i));
    if (x.kind == SMMA_ZERO && x.negative) return true;
  }
  return false;
}
