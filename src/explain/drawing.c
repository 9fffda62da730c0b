#include "explain/drawing.h"

#include <math.h>
#include <string.h>

#include "explain/numbers.h"
#include "explain/table.h"

#define DIGITS 8

/* The detail of a drawing. Levels are tried in order until the lines are short enough. */
typedef struct {
  bool factors; /* whether factors are shown */
  int rest;     /* bits shown after the last retained bit */
  int digits;   /* digits of values */
} drawing_detail;

static const drawing_detail details[] = {{true, 16, DIGITS}, {true, 8, DIGITS}, {true, 8, 6}, {true, 4, 6},
                                         {false, 8, DIGITS}, {false, 4, 6},     {false, 4, 4}};

static void set_sign(smma_table_row *line, const smma_drawn *x) {
  line->sign = x->zero ? ' ' : x->negative ? '-' : '+';
}

/* Adds a row for a term: its exact value and its value after alignment. */
static void add_term(smma_table *t, const smma_stage *stage, const smma_shown_term *term, drawing_detail detail) {
  smma_table_row *line = smma_table_add(t);
  const bool align = stage->kind == SMMA_STAGE_ALIGN;
  memcpy(line->label, term->label, sizeof term->label);
  line->marked = term->line->is_first_difference;
  if (detail.factors) snprintf(line->factors, sizeof line->factors, "%s", term->factors);
  smma_term_text(line->value, sizeof line->value, term, detail.digits);
  memcpy(line->exponent, term->exponent, sizeof term->exponent);
  snprintf(line->kept, sizeof line->kept, "%s", term->remark);
  set_sign(line, &term->exact);
  smma_ruler_draw(&t->ruler, &term->exact, align ? &term->line->cut : NULL, line->bits);
  if (!align) return;
  smma_ruler_draw_rest(&t->ruler, &term->exact, detail.rest, line->rest, sizeof line->rest);
  if (!term->is_cut) return;
  memcpy(line->kept, "-> ", 3);
  smma_quantity_text(line->kept + 3, sizeof line->kept - 3, smma_drawn_quantity(&term->kept), detail.digits);
}

/* Adds a row for a sum or its rounded value. */
static void add_sum(smma_table *t, const char *label, int digits, const smma_drawn *x) {
  smma_table_row *line = smma_table_add(t);
  snprintf(line->label, sizeof line->label, "%s", label);
  smma_quantity_text(line->value, sizeof line->value, smma_drawn_quantity(x), digits);
  set_sign(line, x);
  smma_ruler_draw(&t->ruler, x, NULL, line->bits);
}

/* If a negative term was rounded down, adds a row with the rounded value. */
static void add_rounded_down(smma_table *t, const smma_shown_term *term, int digits) {
  if (!term->line->rounds_down || !term->is_cut || !term->exact.negative || term->kept.zero) return;
  add_sum(t, "  rounded down", digits, &term->kept);
  smma_ruler_draw(&t->ruler, &term->kept, &term->line->cut, t->row[t->count - 1].bits);
}

static void add_terms(smma_table *t, const smma_stage *stage, drawing_detail detail) {
  smma_shown_term term[SMMA_MAXIMUM_K + 1];
  const int count = smma_shown_terms(stage, term);
  for (int i = 0; i < count; i++) {
    add_term(t, stage, &term[i], detail);
    add_rounded_down(t, &term[i], detail.digits);
  }
  t->terms = t->count;
}

/* Reports whether the bits of aligned terms are so far below the result's bits that they do not fit in one line. This
   happens if rounding up gave the result. */
static bool is_far_below(const smma_stage *stage, const smma_stage_sums *s) {
  const int most = 60;
  return stage->kind == SMMA_STAGE_ALIGN && s->has_result && !s->sum.zero && !s->result.zero &&
         s->result.top - s->sum.top > most;
}

/* Adds rows for the sum, for its rounding down and for the result. A rounding has a row only if it changes the
   value. */
static void add_sums(smma_table *t, const smma_stage *stage, const smma_stage_sums *s, int digits) {
  const smma_drawn *before = &s->sum;
  char name[sizeof t->row->label];
  add_sum(t, stage->sum_name, digits, &s->sum);
  if (stage->rounds_down && !smma_same_drawn(&s->rounded_down, before)) {
    before = &s->rounded_down;
    add_sum(t, "rounded down", digits, before);
  }
  if (!s->has_result || is_far_below(stage, s) || smma_same_drawn(&s->result, before)) return;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(stage->rounding, ","), stage->rounding);
  add_sum(t, name, digits, &s->result);
  if (stage->result_format == SMMA_F32 || s->result.zero)
    smma_result_text(t->row[t->count - 1].value, sizeof t->row->value, stage);
}

static int highest(int top, const smma_drawn *x) { return x->zero || x->top < top ? top : x->top; }

static int top_of(const smma_stage *stage, const smma_stage_sums *s) {
  int top = highest(highest(stage->emax, &s->sum), &s->rounded_down);
  if (!is_far_below(stage, s)) top = highest(top, &s->result);
  for (int i = 0; i < stage->line_count; i++) {
    smma_drawn exact = smma_exact_term(&stage->line[i]), kept = smma_kept_term(stage, &stage->line[i]);
    top = highest(highest(top, &exact), &kept);
  }
  return top;
}

static void align_ruler(smma_ruler *r, const smma_stage *stage, int top) {
  int cut[2], cuts = 0;
  for (int i = 0; i < stage->line_count; i++)
    if (cuts == 0 || (cuts == 1 && stage->line[i].cut != cut[0])) cut[cuts++] = stage->line[i].cut;
  if (cuts == 2 && cut[0] < cut[1]) {
    int higher = cut[1];
    cut[1] = cut[0];
    cut[0] = higher;
  }
  smma_ruler_aligned(r, top, cut, cuts);
}

static void exact_ruler(smma_ruler *r, const smma_stage *stage, const smma_stage_sums *s) {
  smma_drawn x[SMMA_MAXIMUM_K + 3];
  int count = 0;
  for (int i = 0; i < stage->line_count; i++) x[count++] = smma_exact_term(&stage->line[i]);
  x[count++] = s->sum;
  x[count++] = s->result;
  smma_ruler_exact(r, x, count);
}

/* Prints a part of the lost amount, such as "-0.125 in alignment", after `before`, which then becomes ", ". */
static void print_part_lost(FILE *stream, const char **before, const smma_wide *lost, const char *where) {
  const smma_quantity value = smma_quantity_of(lost);
  char text[40];
  smma_quantity_text(text, sizeof text, value, DIGITS);
  fprintf(stream, "%s%s in %s", *before, value.significand == 0 ? "nothing" : text, where);
  *before = ", ";
}

static bool drops_terms(const smma_stage *stage) {
  for (int i = 0; i < stage->line_count; i++)
    if (stage->line[i].is_dropped) return true;
  return false;
}

/* Returns whether digits after the point are lost, or only integers beyond the range of the format. */
static const char *loss_of_result(const smma_stage *stage, const smma_stage_sums *s) {
  return smma_is_integer(stage->result_format) && (s->sum.zero || s->sum.bottom >= 0) ? "overflow" : "rounding";
}

static void print_lost(FILE *stream, const smma_stage *stage, const smma_stage_sums *s) {
  const bool align = stage->kind == SMMA_STAGE_ALIGN;
  const char *before = "  lost (exact - retained): ";
  smma_wide lost = smma_stage_exact_sum(stage), kept = smma_stage_kept_sum(stage), sum = s->sum.magnitude;
  smma_wide_add_wide(&lost, &kept, true);
  if (align || drops_terms(stage)) print_part_lost(stream, &before, &lost, "alignment");
  if (s->sum.negative) smma_wide_negate(&sum);
  smma_wide_add_wide(&kept, &sum, true);
  if (smma_quantity_of(&kept).significand != 0) print_part_lost(stream, &before, &kept, "the sum");
  if (s->has_result) {
    smma_wide_add_number(&sum, smma_stage_result(stage), true);
    print_part_lost(stream, &before, &sum, loss_of_result(stage, s));
  }
  if (*before == ',') fprintf(stream, "\n");
}

static void print_result(FILE *stream, const smma_stage *stage) {
  char hex[24], value[40];
  if (stage->result_format == SMMA_NO_FORMAT) return;
  smma_encoding_hex(hex, sizeof hex, stage->result_format, stage->result);
  smma_result_text(value, sizeof value, stage);
  fprintf(stream, "  %s: %s = %s%s\n", stage->rounding, hex, value,
          smma_stage_result(stage).kind > SMMA_FINITE ? ", overflow" : "");
}

static void widen(int *width, int other) {
  if (*width < other) *width = other;
}

/* Makes the table of a stage. Sums of 32-bit integers are shown with all their digits, at most ten. */
static void make_table(smma_table *t, const smma_stage *stage, const smma_stage_sums *s, drawing_detail detail,
                       const smma_drawing_frame *frame) {
  bool align = stage->kind == SMMA_STAGE_ALIGN;
  int top = align ? top_of(stage, s) : 0;
  if (smma_is_integer(stage->result_format)) detail.digits = 10;
  t->count = 0;
  if (align)
    align_ruler(&t->ruler, stage, frame && frame->top > top ? frame->top : top);
  else
    exact_ruler(&t->ruler, stage, s);
  smma_ruler_label(&t->ruler, align ? &stage->emax : NULL, t->labels, t->marks);
  add_terms(t, stage, detail);
  add_sums(t, stage, s, detail.digits);
  smma_table_measure(t);
  if (!frame || !align) return;
  widen(&t->label_width, frame->label_width);
  widen(&t->factors_width, frame->factors_width);
  widen(&t->value_width, frame->value_width);
  widen(&t->exponent_width, frame->exponent_width);
}

void smma_drawing_widen(smma_drawing_frame *frame, const smma_stage *stage) {
  smma_table table;
  smma_stage_sums sums;
  if (stage->kind != SMMA_STAGE_ALIGN) return;
  sums = smma_sums_of(stage);
  make_table(&table, stage, &sums, details[0], NULL);
  widen(&frame->top, top_of(stage, &sums));
  widen(&frame->label_width, table.label_width);
  widen(&frame->factors_width, table.factors_width);
  widen(&frame->value_width, table.value_width);
  widen(&frame->exponent_width, table.exponent_width);
}

/* Makes the table with the most detail that fits in `width`. If no detail fits, makes it with the least detail and
   returns false. */
static bool fit_table(smma_table *t, const smma_stage *stage, const smma_stage_sums *s, int width,
                      const smma_drawing_frame *frame) {
  for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
    make_table(t, stage, s, details[i], frame);
    if (smma_table_width(t) <= width) return true;
  }
  return false;
}

void smma_print_drawing(FILE *stream, const smma_stage *stage, int width, const smma_drawing_frame *frame) {
  smma_table table;
  smma_stage_sums sums = smma_sums_of(stage);
  if (!frame || !fit_table(&table, stage, &sums, width, frame)) fit_table(&table, stage, &sums, width, NULL);
  smma_table_print(stream, &table, width);
  print_result(stream, stage);
  print_lost(stream, stage, &sums);
}
