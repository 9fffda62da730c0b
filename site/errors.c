#include "errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "host/load.h"
#include "isa/compose.h"
#include "isa/custom.h"
#include "numerics/bound_sum.h"
#include "reply.h"
#include "rows/data.h"
#include "tolerance/measured.h"

enum { LINES = 64, K = 256, LANES = SMMA_BOUND_LANES };
enum { HALF = 0, NINETY_NINE_PERCENT = 2 }; /* indices in smma_quantiles */

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count + 1, size);
  if (!memory) abort(); /* a page cannot continue without memory */
  return memory;
}

/* ---- Units ---- */

static const smma_instruction *read_unit(const char *text, smma_error *error) {
  return smma_custom_read("custom unit", text, strlen(text), error);
}

static const char *fault(site_reply *r, const smma_error *error) {
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "fault", error->text);
  return site_reply_of(r, record);
}

const char *site_steps(const char *text) {
  static char *steps;
  static site_reply r;
  smma_error error;
  const smma_instruction *i = read_unit(text, &error);
  if (!i) return fault(&r, &error);
  const smma_operation o = smma_operation_of(i);
  smma_custom custom = smma_custom_of(i);
  if (smma_compose(&o, &custom.named.rule.with.composition)) {
    custom.instruction.rule = &custom.named;
    custom.named.rule.algorithm = SMMA_COMPOSITION;
  }
  const size_t size = smma_custom_text(&custom.instruction, NULL, 0) + 1;
  free(steps);
  steps = allocate(size, 1);
  smma_custom_text(&custom.instruction, steps, size);
  smma_custom_release(i);
  return steps;
}

/* ---- Operands ---- */

/* The rows of A, or the columns of B, decoded, one after the other. K is padded with zeros to whole instructions. */
typedef struct {
  size_t depth, scales; /* elements and scale factors of a line */
  smma_number *number, *scale;
} operand;

static const smma_number *number_of(const operand *x, size_t line, size_t k) { return x->number + line * x->depth + k; }

static const smma_number *scale_of(const operand *x, const smma_operation *o, size_t line, size_t k) {
  return x->scale + line * x->scales + (o->scale_block ? k / (size_t)o->scale_block : 0);
}

/* Decodes a line's `count` elements and pads them up to `size` elements. */
static void decode_line(smma_format format, const void *array, size_t first, size_t stride, size_t count,
                        double padding, size_t size, smma_number *line) {
  const smma_encoding f = smma_encoding_of(format);
  smma_decode_array(f, array, first, stride, count, line);
  for (size_t i = count; i < size; i++)
    line[i] = smma_decode(f, smma_format_encode(format, padding, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
}

static operand operand_of(const smma_operation *o, bool of_a, const void *elements, const void *scales) {
  const size_t block = (size_t)o->scale_block, factors = block ? smma_divide_up(K, block) : 0;
  operand x = {.depth = smma_divide_up(K, (size_t)o->k) * (size_t)o->k};
  x.scales = block ? x.depth / block : 1;
  x.number = allocate(LINES * x.depth, sizeof *x.number), x.scale = allocate(LINES * x.scales, sizeof *x.scale);
  for (size_t line = 0; line < LINES; line++) {
    smma_number *number = x.number + line * x.depth, *scale = x.scale + line * x.scales;
    decode_line(of_a ? o->a : o->b, elements, of_a ? line * K : line, of_a ? 1 : LINES, K, 0, x.depth, number);
    if (block)
      decode_line(o->scale, scales, line * factors, 1, factors, 1, x.scales, scale);
    else
      *scale = (smma_number){1, 0, 0, SMMA_FINITE, 0};
  }
  return x;
}

static void make_operands(const smma_operation *o, operand *a, operand *b) {
  const size_t block = (size_t)o->scale_block, factors = block ? smma_divide_up(K, block) : 0;
  const smma_data_counts counts = {LINES * K, LINES * K, 0, LINES * factors, LINES * factors};
  void *part[4];
  for (int i = 0; i < 4; i++) part[i] = allocate(LINES * K, sizeof(uint64_t));
  smma_data_fill((smma_data){SMMA_DATA_NORMAL, 0}, o, K, &counts,
                 &(smma_data_arrays){part[0], part[1], NULL, block ? part[2] : NULL, block ? part[3] : NULL});
  *a = operand_of(o, true, part[0], part[2]);
  *b = operand_of(o, false, part[1], part[3]);
  for (int i = 0; i < 4; i++) free(part[i]);
}

/* ---- Errors ---- */

static double unit_sum(const smma_operation *o, const operand *a, const operand *b, size_t i, size_t j) {
  uint64_t d = 0;
  for (size_t k = 0; k < a->depth; k += (size_t)o->k)
    d = smma_dot_add(
        o, (smma_operands){number_of(a, i, k), number_of(b, j, k), scale_of(a, o, i, k), scale_of(b, o, j, k)}, d);
  return smma_format_decode(o->d, d);
}

static void read_columns(const smma_operation *o, const operand *b, size_t first, smma_bound_factors *columns) {
  for (size_t k = 0; k < b->depth; k++)
    for (size_t j = 0; j < LANES; j++) {
      const smma_bound_factor x =
          smma_bound_factor_of(o, false, *number_of(b, first + j, k), *scale_of(b, o, first + j, k));
      columns[k].value[j] = x.value, columns[k].used[j] = x.used;
      columns[k].lead[j] = x.lead, columns[k].unit[j] = x.unit;
    }
}

static smma_bound_sum bound_of(const smma_operation *o, const operand *a, size_t row, smma_bound_factor *factors,
                               const smma_bound_factors *columns, double slack) {
  smma_bound_sum sum = smma_bound_empty(o->d);
  for (size_t k = 0; k < a->depth; k++)
    factors[k] = smma_bound_factor_of(o, true, *number_of(a, row, k), *scale_of(a, o, row, k));
  for (size_t k = 0; k < a->depth; k += (size_t)o->k) smma_bound_step(o, factors + k, columns + k, slack, &sum);
  return sum;
}

/* Magnitudes of the errors and of the exact results. Only finite results have an error. */
typedef struct {
  double error[LINES * LINES], exact[LINES * LINES], bound;
  size_t errors;
} site_measured;

static void measure(const smma_operation *o, site_measured *m) {
  operand a, b;
  make_operands(o, &a, &b);
  const double slack = smma_bound_slack(a.depth);
  smma_bound_factor *row = allocate(a.depth, sizeof *row);
  smma_bound_factors *columns = allocate(a.depth, sizeof *columns);
  m->errors = 0, m->bound = 0;
  for (size_t first = 0; first < LINES; first += LANES) {
    read_columns(o, &b, first, columns);
    for (size_t i = 0; i < LINES; i++) {
      const smma_bound_sum sum = bound_of(o, &a, i, row, columns, slack);
      for (size_t j = 0; j < LANES; j++) {
        const smma_bounded x = smma_bound_end(&sum, (int)j, slack);
        const double error = fabs(smma_bounded_error(&x, unit_sum(o, &a, &b, i, first + j)));
        m->exact[i * LINES + first + j] = fabs(x.exact);
        m->bound = fmax(m->bound, fmax(x.below, x.above));
        if (!isnan(error)) m->error[m->errors++] = error;
      }
    }
  }
  free(row), free(columns), free(a.number), free(a.scale), free(b.number), free(b.scale);
}

static smma_datum *finite_or_null(double x) { return isfinite(x) ? smma_datum_real(x) : smma_datum_null(); }

const char *site_errors(const char *text) {
  static site_reply r;
  static site_measured m;
  double error[SMMA_QUANTILES] = {[NINETY_NINE_PERCENT] = NAN}, exact[SMMA_QUANTILES] = {[HALF] = 1};
  smma_datum *record;
  smma_error why;
  const smma_instruction *i = read_unit(text, &why);
  if (!i) return fault(&r, &why);
  smma_operation o = smma_operation_of(i);
  o.c = o.d;
  m.bound = NAN;
  if (!smma_is_integer(o.d)) {
    measure(&o, &m);
    smma_take_quantiles(m.error, m.errors, error);
    smma_take_quantiles(m.exact, LINES * LINES, exact);
  }
  smma_custom_release(i);
  record = smma_datum_record();
  smma_put_count(record, "k", K);
  smma_datum_put(record, "error", finite_or_null(error[NINETY_NINE_PERCENT] / exact[HALF]));
  smma_datum_put(record, "bound", finite_or_null(m.bound / exact[HALF]));
  return site_reply_of(&r, record);
}
