#include "explain/difference.h"

#include <string.h>

#include "explain/decimal.h"
#include "explain/numbers.h"
#include "host/count.h"
#include "host/error.h"
#include "host/locale.h"
#include "host/utf8.h"
#include "isa/catalogue.h"
#include "isa/format_name.h"

bool smma_explain_row_of(smma_explained_row *x, const char *unit, const smma_instruction *i, const smma_row *row,
                         smma_error *error) {
  x->operation = smma_operation_of(i);
  if (!smma_explain(&x->operation, row, &x->explanation)) return smma_no_memory(error);
  x->explained = (smma_explained){unit, i->name, &x->operation, &x->explanation};
  return true;
}

smma_explained smma_named_apart(const smma_explained both[2], int index) {
  smma_explained x = both[index];
  if (strcmp(both[0].unit, both[1].unit) == 0) x.unit = x.instruction;
  return x;
}

bool smma_same_results(const smma_explained both[2], smma_format format, uint64_t first, uint64_t second) {
  for (int u = 0; u < 2; u++) {
    smma_operation o = *both[u].operation;
    o.d = format;
    if (smma_same_result(&o, first, second)) return true;
  }
  return false;
}

bool smma_have_same_result(const smma_explained both[2]) {
  const smma_explanation *const e[2] = {both[0].explanation, both[1].explanation};
  return smma_same_results(both, e[0]->result_format, e[0]->result, e[1]->result);
}

/* ---- Blocks: the stages that lead to one rounded result ---- */

/* The stages of `of` from which the result of stage `last` follows. They need not be consecutive: a composition first
   makes all sums of a step. */
typedef struct {
  const smma_explanation *of;
  size_t last;
} block;

static bool is_last(const smma_explanation *e, size_t stage) {
  return e->stage[stage].kind == SMMA_STAGE_STEPS || e->stage[stage].result_format != SMMA_NO_FORMAT ||
         e->stage[stage].term_of >= e->count;
}

/* Returns the next block after stage `*at`, and sets `*at` to the stage after the block's last one. */
static block next_block(const smma_explanation *e, size_t *at) {
  while (!is_last(e, *at)) ++*at;
  return (block){e, (*at)++};
}

static bool is_in(block b, size_t stage) {
  while (!is_last(b.of, stage)) stage = b.of->stage[stage].term_of;
  return stage == b.last;
}

static smma_stage *last_stage(block b) { return &b.of->stage[b.last]; }

static smma_explain_line *find_line(block b, const char *label, const smma_stage **stage) {
  for (size_t s = 0; s <= b.last; s++) {
    const smma_stage *x = &b.of->stage[s];
    for (int i = 0; i < x->line_count; i++) {
      if (x->kind == SMMA_STAGE_NOTE || strcmp(x->line[i].label, label) != 0 || !is_in(b, s)) continue;
      *stage = x;
      return &x->line[i];
    }
  }
  return NULL;
}

/* ---- Words ---- */

static void retained_text(char *text, size_t size, const smma_stage *stage, const smma_explain_line *line) {
  if (line->is_dropped)
    snprintf(text, size, "counts it as 0");
  else if (stage->kind == SMMA_STAGE_EXACT)
    snprintf(text, size, "adds it exactly");
  else if (!line->aligned)
    snprintf(text, size, "retains bits down to 2^%d, so nothing of it", line->cut);
  else
    snprintf(text, size, "retains bits down to 2^%d%s", line->cut, line->rounds_down ? ", rounding down" : "");
}

/* Writes that the two units have different values for a term or sum. */
static void tell_values(const smma_explained unit[2], const char *what, const smma_drawn value[2], smma_difference *d) {
  char text[2][40];
  const smma_locale locale = smma_locale_enter();
  for (int u = 0; u < 2; u++) smma_quantity_text(text[u], sizeof text[u], smma_drawn_quantity(&value[u]), 8);
  smma_locale_leave(locale);
  snprintf(d->text, sizeof d->text, "%s: %s has %s, %s %s", what, unit[0].unit, text[0], unit[1].unit, text[1]);
}

/* Reports whether the line of one unit and that of the other, which have the same label, are different. Sums of a step
   are only compared if they are equal before alignment: with the same label, they may sum other products. */
static bool compare_line(const smma_explained unit[2], const smma_stage *const stage[2],
                         smma_explain_line *const line[2], smma_difference *d) {
  const smma_drawn exact[2] = {smma_exact_term(line[0]), smma_exact_term(line[1])},
                   kept[2] = {smma_kept_term(stage[0], line[0]), smma_kept_term(stage[1], line[1])};
  const bool is_sum = !line[0]->product && strcmp(line[0]->label, "c") != 0;
  const bool same = smma_same_drawn(&exact[0], &exact[1]);
  char text[2][96], what[64];
  if (smma_same_drawn(&kept[0], &kept[1]) || (is_sum && !same)) return false;
  for (int u = 0; u < 2; u++) line[u]->is_first_difference = true;
  if (!same) {
    snprintf(what, sizeof what, "value of %s", line[0]->label);
    tell_values(unit, what, exact, d);
    return true;
  }
  for (int u = 0; u < 2; u++) retained_text(text[u], sizeof text[u], stage[u], line[u]);
  snprintf(d->text, sizeof d->text, "alignment of %s: %s %s; %s %s", line[0]->label, unit[0].unit, text[0],
           unit[1].unit, text[1]);
  return true;
}

static bool compare_lines(const smma_explained unit[2], const block b[2], smma_difference *d) {
  for (size_t s = 0; s <= b[0].last; s++) {
    if (b[0].of->stage[s].kind == SMMA_STAGE_NOTE) continue;
    for (int i = 0; i < b[0].of->stage[s].line_count && is_in(b[0], s); i++) {
      const smma_stage *stage[2] = {&b[0].of->stage[s], NULL};
      smma_explain_line *line[2] = {&b[0].of->stage[s].line[i], NULL};
      line[1] = find_line(b[1], line[0]->label, &stage[1]);
      if (line[1] && compare_line(unit, stage, line, d)) return true;
    }
  }
  return false;
}

static bool multiplies_slices(const smma_explained *unit) {
  const smma_rule *rule = &unit->operation->rule;
  return rule->algorithm == SMMA_COMPOSITION && (rule->with.composition.slice_a || rule->with.composition.slice_b);
}

/* Writes what the block adds at once: "8 products", or without noun "8". */
static void count_text(char *text, size_t size, const smma_explained *unit, block b, bool noun) {
  const int count = last_stage(b)->products;
  if (!count)
    snprintf(text, size, "only rounded sums");
  else
    snprintf(text, size, noun ? "%d product%s%s" : "%d", count, smma_plural((size_t)count),
             multiplies_slices(unit) ? " of slices" : "");
}

static bool compare_counts(const smma_explained unit[2], const block b[2], smma_difference *d) {
  const bool slices = multiplies_slices(&unit[0]) != multiplies_slices(&unit[1]);
  const int first = last_stage(b[0])->products;
  char text[2][48];
  if (first == last_stage(b[1])->products && !slices) return false;
  for (int u = 0; u < 2; u++) count_text(text[u], sizeof text[u], &unit[u], b[u], u == 0 || slices || !first);
  snprintf(d->text, sizeof d->text, "block sums: %s adds %s at once, %s %s", unit[0].unit, text[0], unit[1].unit,
           text[1]);
  return true;
}

static bool has_sum(const smma_stage *stage) {
  return stage->kind == SMMA_STAGE_ALIGN || stage->kind == SMMA_STAGE_EXACT ||
         (stage->kind == SMMA_STAGE_NOTE && stage->reason == SMMA_REASON_ZERO);
}

static bool compare_sums(const smma_explained unit[2], const smma_stage *const stage[2], smma_difference *d) {
  if (!has_sum(stage[0]) || !has_sum(stage[1])) return false;
  const smma_drawn sum[2] = {smma_sums_of(stage[0]).sum, smma_sums_of(stage[1]).sum};
  if (smma_same_drawn(&sum[0], &sum[1])) return false;
  tell_values(unit, "sum", sum, d);
  return true;
}

static bool is_special(const smma_stage *stage) {
  return stage->kind == SMMA_STAGE_NOTE && stage->reason == SMMA_REASON_SPECIAL;
}

static bool same_results(const smma_explained unit[2], const smma_stage *const stage[2]) {
  return smma_same_results(unit, stage[0]->result_format, stage[0]->result, stage[1]->result);
}

/* Writes that the two units return different encodings. */
static void tell_results(const smma_explained unit[2], const char *what, const smma_stage *const stage[2],
                         smma_difference *d) {
  char hex[2][24], value[2][40];
  const smma_locale locale = smma_locale_enter();
  for (int u = 0; u < 2; u++) {
    smma_encoding_hex(hex[u], sizeof hex[u], stage[u]->result_format, stage[u]->result);
    smma_encoding_text(value[u], sizeof value[u], stage[u]->result_format, stage[u]->result);
  }
  smma_locale_leave(locale);
  snprintf(d->text, sizeof d->text, "%s: %s returns %s = %s, %s %s = %s", what, unit[0].unit, hex[0], value[0],
           unit[1].unit, hex[1], value[1]);
}

/* Reports whether results differ of which at least one follows from special values. */
static bool compare_special(const smma_explained unit[2], const block b[2], smma_difference *d) {
  const smma_stage *const stage[2] = {last_stage(b[0]), last_stage(b[1])};
  const int decided = is_special(stage[0]) ? 0 : 1;
  if (same_results(unit, stage)) return false;
  if (is_special(stage[0]) && is_special(stage[1]) && compare_counts(unit, b, d)) return true;
  if (is_special(stage[0]) && is_special(stage[1]))
    tell_results(unit, "special values", stage, d);
  else
    snprintf(d->text, sizeof d->text, "special values: they decide in %s, but not in %s", unit[decided].unit,
             unit[1 - decided].unit);
  return true;
}

static bool is_zero_result(const smma_stage *stage) { return smma_stage_result(stage).kind == SMMA_ZERO; }

static bool compare_results(const smma_explained unit[2], const smma_stage *const stage[2], smma_difference *d) {
  if (same_results(unit, stage)) return false;
  if (compare_sums(unit, stage, d)) return true;
  if (is_zero_result(stage[0]) && is_zero_result(stage[1]))
    tell_results(unit, "sign of zero", stage, d);
  else
    snprintf(d->text, sizeof d->text, "rounding: %s %s%s; %s %s%s", unit[0].unit,
             stage[0]->rounds_down ? "down first, then " : "", stage[0]->rounding, unit[1].unit,
             stage[1]->rounds_down ? "down first, then " : "", stage[1]->rounding);
  return true;
}

/* Returns how the unit's steps round. */
static const char *rounding_of_steps(const smma_explained *unit) {
  const smma_rule *rule = &unit->operation->rule;
  return smma_rounding_words(rule->algorithm == SMMA_FMA ? rule->with.fma.rounding : SMMA_ROUND_NEAREST_EVEN);
}

static bool compare_steps(const smma_explained unit[2], smma_stage *const stage[2], smma_difference *d) {
  int most = stage[0]->step_count > stage[1]->step_count ? stage[0]->step_count : stage[1]->step_count;
  for (int i = 0; i < most; i++) {
    smma_explain_step *step[2];
    for (int u = 0; u < 2; u++) step[u] = i < stage[u]->step_count ? &stage[u]->step[i] : NULL;
    bool same_text = step[0] && step[1] && strcmp(step[0]->text, step[1]->text) == 0;
    if (same_text && smma_same_results(unit, step[0]->format, step[0]->result, step[1]->result)) continue;
    for (int u = 0; u < 2; u++) *(step[u] ? &step[u]->is_first_difference : &stage[u]->is_first_difference) = true;
    if (same_text)
      snprintf(d->text, sizeof d->text, "%s: %s rounds %s%s%s; %s rounds %s%s%s", step[0]->text, unit[0].unit,
               rounding_of_steps(&unit[0]), step[0]->note[0] ? ", with " : "", step[0]->note, unit[1].unit,
               rounding_of_steps(&unit[1]), step[1]->note[0] ? ", with " : "", step[1]->note);
    else
      snprintf(d->text, sizeof d->text, "order of operations: %s computes %s, %s %s", unit[0].unit,
               step[0] ? step[0]->text : "nothing more", unit[1].unit, step[1] ? step[1]->text : "nothing more");
    return true;
  }
  return false;
}

/* Writes that one unit rounds after each operation, and the other sums a block first. */
static void tell_order(const smma_explained unit[2], const block b[2], int steps, smma_difference *d) {
  char text[48];
  count_text(text, sizeof text, &unit[1 - steps], b[1 - steps], true);
  snprintf(d->text, sizeof d->text, "order of operations: %s rounds after each one, %s adds %s at once",
           unit[steps].unit, unit[1 - steps].unit, text);
}

/* Reports whether the last stages of the blocks have different outcomes. */
static bool compare_ends(const smma_explained unit[2], const block b[2], smma_difference *d) {
  smma_stage *const last[2] = {last_stage(b[0]), last_stage(b[1])};
  const smma_stage *const stage[2] = {last[0], last[1]};
  const bool steps[2] = {last[0]->kind == SMMA_STAGE_STEPS, last[1]->kind == SMMA_STAGE_STEPS};
  bool differ = true;
  if (steps[0] != steps[1])
    tell_order(unit, b, steps[0] ? 0 : 1, d);
  else if (is_special(last[0]) || is_special(last[1]))
    differ = compare_special(unit, b, d);
  else
    differ = compare_counts(unit, b, d) || compare_results(unit, stage, d);
  for (int u = 0; u < 2; u++) last[u]->is_first_difference = differ;
  return differ;
}

/* Reports whether the blocks' outcomes differ. */
static bool compare_blocks(const smma_explained unit[2], const block b[2], smma_difference *d) {
  smma_stage *const last[2] = {last_stage(b[0]), last_stage(b[1])};
  if (last[0]->kind == SMMA_STAGE_STEPS && last[1]->kind == SMMA_STAGE_STEPS) return compare_steps(unit, last, d);
  if (last[0]->kind != SMMA_STAGE_STEPS && last[1]->kind != SMMA_STAGE_STEPS && compare_lines(unit, b, d)) return true;
  return compare_ends(unit, b, d);
}

/* Finds the first difference between two computations with different names. */
static void find_difference(const smma_explained unit[2], smma_difference *d) {
  size_t at[2] = {0, 0};
  while (at[0] < unit[0].explanation->count && at[1] < unit[1].explanation->count) {
    block b[2] = {next_block(unit[0].explanation, &at[0]), next_block(unit[1].explanation, &at[1])};
    if (compare_blocks(unit, b, d)) return;
  }
  for (int u = 0; u < 2; u++) {
    if (at[u] == unit[u].explanation->count) continue;
    unit[u].explanation->stage[at[u]].is_first_difference = true;
    snprintf(d->text, sizeof d->text, "order of operations: %s goes on where %s ends", unit[u].unit, unit[1 - u].unit);
  }
}

smma_difference smma_find_difference(const smma_explained both[2]) {
  const smma_explained unit[2] = {smma_named_apart(both, 0), smma_named_apart(both, 1)};
  smma_difference d = {""};
  find_difference(unit, &d);
  smma_utf8_trim(d.text);
  return d;
}

/* ---- Operands ---- */

bool smma_same_operands(const smma_operation *one, const smma_operation *other, char *why, size_t size) {
  const struct {
    const char *name;
    smma_format format[2];
  } part[] = {
      {"a", {one->a, other->a}},
      {"b", {one->b, other->b}},
      {"c", {one->c, other->c}},
      {"d", {one->d, other->d}},
      {"the scales", {one->scale, other->scale}},
  };
  if (one->k != other->k || one->scale_block != other->scale_block) {
    bool k = one->k != other->k;
    snprintf(why, size, "%s is %d in one and %d in the other", k ? "K" : "the block that shares a scale",
             k ? one->k : one->scale_block, k ? other->k : other->scale_block);
    return false;
  }
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
    if (part[i].format[0] == part[i].format[1]) continue;
    snprintf(why, size, "%s: %s in one and %s in the other", part[i].name, smma_format_text(part[i].format[0]),
             smma_format_text(part[i].format[1]));
    return false;
  }
  return true;
}

bool smma_share_operands(const smma_operation *one, const smma_operation *other, char *why, size_t size) {
  smma_operation padded = *other;
  if (!one->scale_block && !other->scale_block) padded.k = one->k;
  return smma_same_operands(one, &padded, why, size);
}

/* ---- Results ---- */

void smma_encoding_bits(char *text, size_t size, smma_format format, uint64_t encoding) {
  smma_encoding f = smma_encoding_of(format);
  size_t length = 0;
  for (int i = f.bits - 1; i >= 0 && length + 2 < size; i--) {
    if (i == f.bits - 2 || i == f.bits - 2 - f.exponent_bits) text[length++] = ' ';
    text[length++] = encoding >> i & 1 ? '1' : '0';
  }
  text[length] = 0;
}

void smma_print_results(FILE *stream, smma_format format, const char *const *name, const uint64_t *result, int count,
                        bool marked) {
  char bits[80], first[80], hex[24], value[40], marks[80] = "";
  int width = 0;
  for (int i = 0; i < count; i++) width = (int)strlen(name[i]) > width ? (int)strlen(name[i]) : width;
  for (int i = 0; i < count; i++) {
    smma_encoding_bits(bits, sizeof bits, format, result[i]);
    smma_encoding_hex(hex, sizeof hex, format, result[i]);
    smma_encoding_text(value, sizeof value, format, result[i]);
    if (smma_encoding_of(format).bits > 32)
      fprintf(stream, "  %-*s  %s  %s\n", width, name[i], bits,
              value); /* bits and value on one line, otherwise it is too long */
    else
      fprintf(stream, "  %-*s  %s  %s = %s\n", width, name[i], bits, hex, value);
    if (i == 0) memcpy(first, bits, sizeof first);
    for (size_t b = 0; bits[b]; b++) {
      if (i == 0) marks[b + 1] = 0;
      if (i == 0 || marks[b] == ' ') marks[b] = bits[b] == first[b] ? ' ' : '^';
    }
  }
  for (size_t end = strlen(marks); end > 0 && marks[end - 1] == ' '; end--) marks[end - 1] = 0;
  if (marked && marks[0]) fprintf(stream, "  %*s  %s\n", width, "", marks);
}
