#include "explain/lines.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "explain/numbers.h"
#include "host/utf8.h"

#define DIGITS 8              /* digits of values */
#define DIGITS_OF_INTEGERS 10 /* digits of sums of 32-bit integers, which are shown in full */

#define BITS_BELOW_LIMIT 12      /* number of bits drawn below the last retained bit */
#define BITS_BELOW_LIMIT_BRIEF 6 /* the same number for brief pictures */

/* Bits are drawn at least this far below a term's leading bit, even if the term is entirely below the last retained
   bit. */
#define LOWEST 3

static smma_line *add_line(smma_lines *l, smma_line_kind kind) {
  smma_line *line = &l->lost;
  if (l->count == l->capacity && !l->failed) {
    int capacity = l->capacity ? 2 * l->capacity : 64;
    smma_line *more = realloc(l->line, (size_t)capacity * sizeof *more);
    l->failed = !more;
    if (more) l->line = more, l->capacity = capacity;
  }
  if (!l->failed) line = &l->line[l->count++];
  memset(line, 0, sizeof *line);
  line->kind = kind;
  line->bits.zero = true;
  line->floor = SMMA_WIDE_LEAST;
  line->highest = SMMA_AXIS_TOP;
  return line;
}

__attribute__((format(printf, 3, 4))) static smma_line *add_text(smma_lines *l, smma_line_kind kind, const char *format,
                                                                 ...) {
  smma_line *line = add_line(l, kind);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line->text, sizeof line->text, format, arguments);
  va_end(arguments);
  smma_utf8_trim(line->text);
  return line;
}

/* Adds a line for each line of a note. */
static void add_note(smma_lines *l, const char *note) {
  while (*note) {
    int length = (int)strcspn(note, "\n");
    while (length > 0 && *note == ' ') note++, length--;
    add_text(l, SMMA_LINE_NOTE, "%.*s", length, note);
    note += length + (note[length] == '\n');
  }
}

static smma_line *add_number(smma_lines *l, smma_line_kind kind, const char *label, const smma_drawn *bits) {
  smma_line *line = add_line(l, kind);
  snprintf(line->label, sizeof line->label, "%s", label);
  smma_quantity_text(line->value, sizeof line->value, smma_drawn_quantity(bits), l->digits);
  line->bits = *bits;
  return line;
}

static void set_limit(const smma_lines *l, smma_line *line, int top, int limit) {
  line->top = top;
  line->has_limit = true;
  line->limit = limit;
  line->floor = limit - (l->brief ? BITS_BELOW_LIMIT_BRIEF : BITS_BELOW_LIMIT);
  if (!line->bits.zero && !l->brief && line->bits.top - LOWEST < line->floor) line->floor = line->bits.top - LOWEST;
}

/* ---- The rounding of a number ---- */

static int bit_of(const smma_drawn *x, int weight) { return smma_drawn_bit(x, weight) == '1'; }

/* Reports whether the result is the sum truncated at 2^last. */
static bool is_truncation(const smma_drawn *sum, const smma_drawn *result, int last) {
  int top = sum->top > result->top && !sum->zero ? sum->top : result->top;
  for (int weight = result->zero ? sum->top : top; weight >= last; weight--)
    if (bit_of(sum, weight) != bit_of(result, weight)) return false;
  return true;
}

/* Reports whether the magnitude of x is less than that of y. */
static bool is_smaller(const smma_drawn *x, const smma_drawn *y) {
  if (x->zero || y->zero || x->top != y->top) return !y->zero && (x->zero || x->top < y->top);
  for (int weight = x->top; weight >= x->bottom || weight >= y->bottom; weight--)
    if (bit_of(x, weight) != bit_of(y, weight)) return bit_of(y, weight);
  return false;
}

/* Describes the rounding to `result`. `greatest`: it is the format's greatest finite magnitude; `overflow`: it is
   infinity or NaN. */
static void describe_rounding(smma_line *line, const smma_drawn *result, bool greatest, bool overflow) {
  const smma_drawn *sum = &line->bits;
  const bool truncated = is_truncation(sum, result, line->limit);
  int guard = line->limit - 1;
  if (overflow)
    snprintf(line->remark, sizeof line->remark, "beyond the format");
  else if (result->zero && sum->top >= line->limit)
    snprintf(line->remark, sizeof line->remark, "below the normal numbers");
  else if (greatest && !truncated && is_smaller(result, sum))
    snprintf(line->remark, sizeof line->remark, "beyond the format: saturates");
  else if (sum->bottom >= line->limit && truncated)
    snprintf(line->remark, sizeof line->remark, "nothing to round");
  else
    snprintf(line->remark, sizeof line->remark, "last %d, guard %d, rest %s: %s", bit_of(sum, line->limit),
             bit_of(sum, guard), sum->bottom < guard ? "not 0" : "0",
             is_smaller(sum, result) ? "away from zero" : "toward zero");
}

/* Adds the rounding of `x` to the encoding `result` of `number`. First adds a line with `x` normalised and the format's
   last bit, if the format is not an integer and either bits are lost or `always` is true. Then adds and returns the
   line of the result. */
static smma_line *add_rounding(smma_lines *l, const smma_drawn *x, smma_format format, uint64_t result,
                               smma_number number, const char *label, bool always) {
  smma_encoding f = smma_encoding_of(format);
  smma_drawn bits = smma_drawn_number(number.kind <= SMMA_FINITE ? number : smma_zero());
  int least = smma_minimum_exponent(f), exponent = x->zero || x->top < least ? least : x->top;
  int last = exponent - f.fraction_bits;
  smma_line *line;
  if (!x->zero && !smma_is_integer(format) && (always || x->bottom < last)) {
    const smma_quantity value = smma_drawn_quantity(x);
    line = add_number(l, SMMA_LINE_NORMALISED, "normalised", x);
    smma_decimal_text(line->value, sizeof line->value - 8, ldexp(value.significand, value.exponent - exponent),
                      value.exact, 8);
    snprintf(line->value + strlen(line->value), sizeof line->value - strlen(line->value), "*2^%d", exponent);
    set_limit(l, line, exponent, last);
    describe_rounding(line, &bits, result == smma_overflowed(f, number.negative, SMMA_OVERFLOW_SATURATE),
                      number.kind > SMMA_FINITE);
  }
  line = add_number(l, SMMA_LINE_RESULT, label, &bits);
  smma_encoding_text(line->value, sizeof line->value, format, result);
  smma_encoding_hex(line->remark, sizeof line->remark, format, result);
  return line;
}

/* ---- Stages with rows ---- */

static void add_term(smma_lines *l, const smma_stage *stage, const smma_shown_term *t) {
  const smma_explain_line *row = t->line;
  smma_line *line = add_number(l, SMMA_LINE_TERM, t->label, &t->exact);
  smma_term_text(line->value, sizeof line->value, t, l->digits);
  line->marked = row->is_first_difference;
  snprintf(line->factors, sizeof line->factors, "%s", t->factors);
  snprintf(line->exponent, sizeof line->exponent, "%s", t->exponent);
  snprintf(line->remark, sizeof line->remark, "%s", t->remark);
  if (stage->kind != SMMA_STAGE_ALIGN) return;
  set_limit(l, line, stage->emax, row->cut);
  if (t->exact.zero || is_truncation(&t->exact, &t->kept, row->cut)) return;
  line = add_number(l, SMMA_LINE_TERM, row->rounds_down ? "  rounded down" : "  rounded", &t->kept);
  set_limit(l, line, stage->emax, row->cut);
}

static void add_terms(smma_lines *l, const smma_stage *stage) {
  smma_shown_term term[SMMA_MAXIMUM_K + 1];
  const int count = smma_shown_terms(stage, term);
  for (int i = 0; i < count; i++) add_term(l, stage, &term[i]);
}

static void add_axis(smma_lines *l, const smma_stage *stage) {
  smma_line *line = add_line(l, SMMA_LINE_AXIS);
  snprintf(line->label, sizeof line->label, "%s", stage->kind == SMMA_STAGE_STEPS ? "" : "term");
  snprintf(line->value, sizeof line->value, "value");
  if (stage->kind != SMMA_STAGE_STEPS) snprintf(line->exponent, sizeof line->exponent, "e");
  if (stage->kind != SMMA_STAGE_ALIGN) return;
  line->marks[line->mark_count++] = stage->emax;
  for (int i = 0; i < stage->line_count && line->mark_count < 3; i++)
    if (line->mark_count == 1 || stage->line[i].cut != line->marks[1])
      line->marks[line->mark_count++] = stage->line[i].cut;
}

/* Returns the highest bit of the aligned terms. */
static int highest_bit(const smma_stage *stage) {
  int highest = SMMA_WIDE_LEAST;
  for (int i = 0; i < stage->line_count; i++) {
    smma_drawn x = smma_kept_term(stage, &stage->line[i]);
    if (!x.zero && x.top > highest) highest = x.top;
  }
  return highest;
}

static void add_sum(smma_lines *l, const smma_stage *stage, const smma_stage_sums *s) {
  smma_line *line = add_number(l, SMMA_LINE_SUM, stage->sum_name, &s->sum);
  line->highest = highest_bit(stage);
  if (s->sum.zero)
    snprintf(line->remark, sizeof line->remark, "zero");
  else if (s->sum.top > line->highest)
    snprintf(line->remark, sizeof line->remark, "carry into 2^%d", s->sum.top);
  else if (s->sum.top < line->highest)
    snprintf(line->remark, sizeof line->remark, "%d leading bit%s cancelled", line->highest - s->sum.top,
             line->highest - s->sum.top > 1 ? "s" : "");
}

static void add_rows(smma_lines *l, const smma_stage *stage) {
  smma_stage_sums s = smma_sums_of(stage);
  const smma_drawn *x = &s.sum;
  char label[16];
  add_axis(l, stage);
  add_terms(l, stage);
  add_line(l, SMMA_LINE_RULE);
  add_sum(l, stage, &s);
  if (stage->rounds_down && !smma_same_drawn(&s.rounded_down, x)) {
    x = &s.rounded_down;
    add_number(l, SMMA_LINE_SUM, "rounded down", x);
  }
  snprintf(label, sizeof label, "%.*s", (int)strcspn(stage->rounding, ","), stage->rounding);
  if (stage->result_format == SMMA_NO_FORMAT) return;
  smma_line *line = add_rounding(l, x, stage->result_format, stage->result, smma_stage_result(stage), label, true);
  smma_result_text(line->value, sizeof line->value, stage);
}

/* ---- Stages with steps ---- */

static bool is_special(const smma_explain_step *step) {
  bool special = smma_decode(smma_encoding_of(step->format), step->result).kind > SMMA_FINITE;
  for (int i = 0; i < step->factors; i++) special |= step->factor[i].kind > SMMA_FINITE;
  for (int i = 0; i < step->addends; i++) special |= step->addend[i].kind > SMMA_FINITE;
  return special;
}

static bool has_product(const smma_explain_step *step) {
  return step->factors && step->factor[0].kind != SMMA_ZERO && step->factor[1].kind != SMMA_ZERO;
}

/* Reports whether the step only adds zeros to at most one number, and changes nothing. */
static bool is_idle(const smma_explain_step *step) {
  int addends = 0;
  for (int i = 0; i < step->addends; i++) addends += step->addend[i].kind != SMMA_ZERO;
  return !is_special(step) && !has_product(step) && addends <= 1 && !step->note[0] && step->lost.significand == 0;
}

/* Adds a line for a term of a step, and adds the term to `sum`. A flushed term is shown as completely truncated, and
   not added. */
static void add_step_term(smma_lines *l, smma_wide *exact, const char *label, bool flushed, smma_wide *sum) {
  smma_drawn bits = smma_drawn_wide(exact);
  smma_line *line = add_number(l, SMMA_LINE_TERM, label, &bits);
  if (!flushed) {
    smma_wide_add_wide(sum, &bits.magnitude, bits.negative);
    return;
  }
  snprintf(line->remark, sizeof line->remark, "flushed");
  if (bits.zero) return;
  line->has_limit = true;
  line->top = bits.top;
  line->limit = bits.top + 1;
  line->floor = bits.top - LOWEST;
}

static void add_step_terms(smma_lines *l, const smma_explain_step *step, smma_wide *sum) {
  smma_wide term;
  if (step->factors) {
    smma_wide_clear(&term);
    smma_wide_add_product(&term, step->factor[0], step->factor[1]);
    add_step_term(l, &term, "product", step->product_flushed, sum);
  }
  for (int i = 0; i < step->addends; i++) {
    smma_wide_clear(&term);
    smma_wide_add_number(&term, step->addend[i], false);
    add_step_term(l, &term, "addend", step->addend_flushed, sum);
  }
}

static void add_step(smma_lines *l, const smma_explain_step *step) {
  smma_wide sum;
  smma_drawn bits;
  smma_line *line;
  char text[40];
  add_text(l, SMMA_LINE_NOTE, "%s = %s%s%s", step->text, step->operands, step->note[0] ? ": " : "", step->note)
      ->marked = step->is_first_difference;
  smma_wide_clear(&sum);
  if (is_special(step)) {
    smma_encoding_text(text, sizeof text, step->format, step->result);
    add_text(l, SMMA_LINE_NOTE, "= %s", text);
    return;
  }
  add_step_terms(l, step, &sum);
  bits = smma_drawn_wide(&sum);
  if (step->addends && has_product(step) + step->addends > 1) add_number(l, SMMA_LINE_SUM, "sum", &bits);
  snprintf(text, sizeof text, "%.*s", (int)strcspn(step->text, " "), step->text);
  line = add_rounding(l, &bits, step->format, step->result, smma_decode(smma_encoding_of(step->format), step->result),
                      text, false);
  if (step->result_flushed)
    snprintf(line->remark + strlen(line->remark), sizeof line->remark - strlen(line->remark), ", flushed");
}

static void add_steps(smma_lines *l, const smma_stage *stage) {
  int idle = 0;
  for (int i = 0; i <= stage->step_count; i++) {
    const smma_explain_step *step = &stage->step[i];
    if (i < stage->step_count && !step->is_first_difference && is_idle(step)) {
      idle++;
      continue;
    }
    if (idle)
      add_text(l, SMMA_LINE_NOTE, "%d operation%s that only add%s zeros", idle, idle > 1 ? "s" : "",
               idle > 1 ? "" : "s");
    idle = 0;
    if (i < stage->step_count) add_step(l, step);
  }
}

/* ---- The whole ---- */

static void add_stage(smma_lines *l, const smma_stage *stage) {
  l->digits = smma_is_integer(stage->result_format) ? DIGITS_OF_INTEGERS : DIGITS;
  add_text(l, SMMA_LINE_TITLE, "%s", stage->title)->marked = stage->is_first_difference;
  add_note(l, stage->note);
  if (stage->kind == SMMA_STAGE_STEPS) {
    add_axis(l, stage);
    add_steps(l, stage);
  } else if (stage->kind != SMMA_STAGE_NOTE) {
    add_rows(l, stage);
  } else if (stage->result_format != SMMA_NO_FORMAT) {
    char value[40];
    smma_encoding_text(value, sizeof value, stage->result_format, stage->result);
    add_text(l, SMMA_LINE_NOTE, "result: %s", value);
  }
}

static void add_encoding(smma_lines *l, const char *label, smma_format format, uint64_t encoding, uint64_t other) {
  smma_line *line = add_line(l, SMMA_LINE_ENCODING);
  snprintf(line->label, sizeof line->label, "%s", label);
  smma_utf8_trim(line->label);
  smma_encoding_text(line->value, sizeof line->value, format, encoding);
  smma_encoding_hex(line->remark, sizeof line->remark, format, encoding);
  line->format = format;
  line->encoding = encoding;
  line->other = other;
}

static void add_results(smma_lines *l, const smma_explained *unit, int count) {
  const smma_explanation *first = unit->explanation;
  const bool differ = count > 1 && !smma_have_same_result(unit);
  smma_format format = first->result_format;
  add_text(l, SMMA_LINE_TITLE, "sign, exponent and fraction of %s; bits that differ are framed",
           count > 1 ? "both results" : "the result");
  for (int u = 0; u < count; u++)
    add_encoding(l, unit[u].unit, format, unit[u].explanation->result, unit[differ ? 1 - u : u].explanation->result);
  if (first->finite)
    add_encoding(l, "exact sum", format, first->correctly_rounded,
                 count > 1 ? first->correctly_rounded : first->result);
}

static void add_difference(smma_lines *l, const smma_explained unit[2]) {
  smma_difference difference = smma_find_difference(unit);
  if (difference.text[0])
    add_text(l, SMMA_LINE_DIFFERENCE, "first difference: %s", difference.text);
  else
    add_text(l, SMMA_LINE_HEADING, "no difference: every step has the same outcome");
}

bool smma_lines_make(smma_lines *l, const smma_explained *explained, int count, bool brief) {
  smma_explained unit[2] = {*explained};
  for (int u = 0; count > 1 && u < 2; u++) unit[u] = smma_named_apart(explained, u);
  memset(l, 0, sizeof *l);
  l->brief = brief;
  if (count > 1) add_difference(l, unit);
  for (int u = 0; u < count; u++) {
    smma_explain_heading heading = smma_explain_heading_of(unit[u].operation);
    add_text(l, SMMA_LINE_UNIT, "%s: %s", explained[u].unit, unit[u].instruction);
    add_text(l, SMMA_LINE_HEADING, "%s", heading.model);
    if (u == 0) add_text(l, SMMA_LINE_HEADING, "%s", heading.formats);
    for (size_t s = 0; s < unit[u].explanation->count; s++) add_stage(l, &unit[u].explanation->stage[s]);
  }
  add_results(l, unit, count);
  return !l->failed;
}

void smma_lines_free(smma_lines *l) {
  free(l->line);
  memset(l, 0, sizeof *l);
}
