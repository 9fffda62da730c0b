#include "explain/difference.h"

#include <math.h>
#include <string.h>

#include "explain/decimal.h"
#include "explain/numbers.h"
#include "host/error.h"
#include "host/locale.h"
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

/* ---- Outcomes ---- */

/* The amount (-1)^negative * magnitude * 2^exponent. The magnitude is odd or zero, so that equal amounts have equal
   members. */
typedef struct {
  bool negative;
  uint64_t magnitude;
  int exponent;
} amount;

static amount amount_of(bool negative, uint64_t magnitude, int exponent) {
  amount x = {negative, magnitude, exponent};
  if (!magnitude) return (amount){false, 0, 0};
  while (!(x.magnitude & 1)) {
    x.magnitude >>= 1;
    x.exponent++;
  }
  return x;
}

static bool same_amount(amount x, amount y) {
  return x.negative == y.negative && x.magnitude == y.magnitude && x.exponent == y.exponent;
}

/* Returns the amount that a line contributes to the stage's sum. */
static amount line_outcome(const smma_stage *stage, const smma_explain_line *line) {
  if (stage->kind == SMMA_STAGE_ALIGN) return amount_of(line->aligned < 0, smma_magnitude(line->aligned), line->cut);
  return amount_of(line->exact.negative, line->exact.kind == SMMA_ZERO ? 0 : line->exact.significand,
                   line->exact.exponent - line->exact.fraction_bits);
}

/* ---- Blocks: the stages that lead to one rounded result ---- */

typedef struct {
  smma_stage *stage;
  size_t count;
} block;

static block next_block(const smma_explanation *e, size_t *at) {
  block b = {e->stage + *at, 0};
  while (*at < e->count) {
    const smma_stage *stage = &e->stage[(*at)++];
    b.count++;
    if (stage->kind == SMMA_STAGE_STEPS || stage->result_format != SMMA_NO_FORMAT) break;
  }
  return b;
}

static smma_stage *last_stage(block b) { return &b.stage[b.count - 1]; }

static int count_products(block b) {
  int count = 0;
  for (size_t s = 0; s < b.count; s++)
    for (int i = 0; i < b.stage[s].line_count; i++) count += b.stage[s].line[i].product;
  return count;
}

static smma_explain_line *find_line(block b, const char *label, const smma_stage **stage) {
  for (size_t s = 0; s < b.count; s++)
    for (int i = 0; i < b.stage[s].line_count; i++)
      if (strcmp(b.stage[s].line[i].label, label) == 0) {
        *stage = &b.stage[s];
        return &b.stage[s].line[i];
      }
  return NULL;
}

/* ---- Words ---- */

static void retained_text(char *text, size_t size, const smma_stage *stage, const smma_explain_line *line) {
  if (stage->kind == SMMA_STAGE_EXACT)
    snprintf(text, size, "adds it exactly");
  else if (!line->aligned)
    snprintf(text, size, "retains bits down to 2^%d, so nothing of it", line->cut);
  else
    snprintf(text, size, "retains bits down to 2^%d%s", line->cut, line->rounds_down ? ", rounding down" : "");
}

static bool compare_lines(const smma_explained unit[2], const block b[2], smma_difference *d) {
  for (size_t s = 0; s < b[0].count; s++) {
    for (int i = 0; i < b[0].stage[s].line_count; i++) {
      const smma_stage *stage[2] = {&b[0].stage[s], NULL};
      smma_explain_line *line = &b[0].stage[s].line[i], *other = find_line(b[1], line->label, &stage[1]);
      char first[96], second[96];
      if (!other || same_amount(line_outcome(stage[0], line), line_outcome(stage[1], other))) continue;
      line->is_first_difference = other->is_first_difference = true;
      retained_text(first, sizeof first, stage[0], line);
      retained_text(second, sizeof second, stage[1], other);
      snprintf(d->text, sizeof d->text, "alignment of %s: %s %s; %s %s", line->label, unit[0].unit, first, unit[1].unit,
               second);
      return true;
    }
  }
  return false;
}

static bool compare_counts(const smma_explained unit[2], const block b[2], smma_difference *d) {
  int first = count_products(b[0]), second = count_products(b[1]);
  if (first == second) return false;
  snprintf(d->text, sizeof d->text, "block sums: %s adds %d products at once, %s %d", unit[0].unit, first, unit[1].unit,
           second);
  return true;
}

static bool compare_sums(const smma_explained unit[2], const smma_stage *const stage[2], smma_difference *d) {
  char first[32], second[32];
  double sum[2];
  if (stage[0]->kind != SMMA_STAGE_ALIGN || stage[1]->kind != SMMA_STAGE_ALIGN) return false;
  for (int u = 0; u < 2; u++) sum[u] = ldexp((double)stage[u]->sum, stage[u]->sum_exponent);
  if (sum[0] == sum[1]) return false;
  const smma_locale locale = smma_locale_enter();
  smma_decimal_text(first, sizeof first, sum[0], smma_fits_double(smma_magnitude(stage[0]->sum)), 8);
  smma_decimal_text(second, sizeof second, sum[1], smma_fits_double(smma_magnitude(stage[1]->sum)), 8);
  smma_locale_leave(locale);
  snprintf(d->text, sizeof d->text, "sum: %s has %s, %s %s", unit[0].unit, first, unit[1].unit, second);
  return true;
}

static void rounding_words(char *text, size_t size, const smma_stage *stage) {
  if (stage->kind == SMMA_STAGE_NOTE)
    snprintf(text, size, "special values decide");
  else
    snprintf(text, size, "%s%s", stage->rounds_down ? "down first, then " : "", stage->rounding);
}

static bool compare_results(const smma_explained unit[2], const block b[2], smma_difference *d) {
  const smma_stage *const last[2] = {last_stage(b[0]), last_stage(b[1])};
  char first[128], second[128];
  if (last[0]->result == last[1]->result) return false;
  if (compare_sums(unit, last, d)) return true;
  rounding_words(first, sizeof first, last[0]);
  rounding_words(second, sizeof second, last[1]);
  snprintf(d->text, sizeof d->text, "rounding: %s %s; %s %s", unit[0].unit, first, unit[1].unit, second);
  return true;
}

static bool compare_steps(const smma_explained unit[2], smma_stage *const stage[2], smma_difference *d) {
  int most = stage[0]->step_count > stage[1]->step_count ? stage[0]->step_count : stage[1]->step_count;
  for (int i = 0; i < most; i++) {
    smma_explain_step *step[2];
    for (int u = 0; u < 2; u++) step[u] = i < stage[u]->step_count ? &stage[u]->step[i] : NULL;
    bool same_text = step[0] && step[1] && strcmp(step[0]->text, step[1]->text) == 0;
    if (same_text && step[0]->result == step[1]->result) continue;
    for (int u = 0; u < 2; u++) *(step[u] ? &step[u]->is_first_difference : &stage[u]->is_first_difference) = true;
    if (same_text)
      snprintf(d->text, sizeof d->text, "%s: %s rounds%s%s; %s rounds%s%s", step[0]->text, unit[0].unit,
               step[0]->note[0] ? ", with " : "", step[0]->note, unit[1].unit, step[1]->note[0] ? ", with " : "",
               step[1]->note);
    else
      snprintf(d->text, sizeof d->text, "order of operations: %s computes %s, %s %s", unit[0].unit,
               step[0] ? step[0]->text : "nothing more", unit[1].unit, step[1] ? step[1]->text : "nothing more");
    return true;
  }
  return false;
}

/* Reports whether the last stages of the blocks have different outcomes. */
static bool compare_ends(const smma_explained unit[2], const block b[2], smma_difference *d) {
  bool steps[2] = {last_stage(b[0])->kind == SMMA_STAGE_STEPS, last_stage(b[1])->kind == SMMA_STAGE_STEPS};
  bool differ = true;
  if (steps[0] != steps[1])
    snprintf(d->text, sizeof d->text, "order of operations: %s rounds after each one, %s adds %d products at once",
             unit[steps[0] ? 0 : 1].unit, unit[steps[0] ? 1 : 0].unit, count_products(b[steps[0] ? 1 : 0]));
  else
    differ = compare_counts(unit, b, d) || compare_results(unit, b, d);
  for (int u = 0; u < 2; u++) last_stage(b[u])->is_first_difference = differ;
  return differ;
}

/* Reports whether the blocks' outcomes differ. */
static bool compare_blocks(const smma_explained unit[2], const block b[2], smma_difference *d) {
  smma_stage *const last[2] = {last_stage(b[0]), last_stage(b[1])};
  if (last[0]->kind == SMMA_STAGE_STEPS && last[1]->kind == SMMA_STAGE_STEPS) return compare_steps(unit, last, d);
  if (last[0]->kind != SMMA_STAGE_STEPS && last[1]->kind != SMMA_STAGE_STEPS && compare_lines(unit, b, d)) return true;
  return compare_ends(unit, b, d);
}

smma_difference smma_find_difference(const smma_explained both[2]) {
  const smma_explained unit[2] = {smma_named_apart(both, 0), smma_named_apart(both, 1)};
  smma_difference d = {""};
  size_t at[2] = {0, 0};
  while (at[0] < unit[0].explanation->count && at[1] < unit[1].explanation->count) {
    block b[2] = {next_block(unit[0].explanation, &at[0]), next_block(unit[1].explanation, &at[1])};
    if (compare_blocks(unit, b, &d)) return d;
  }
  for (int u = 0; u < 2; u++) {
    if (at[u] == unit[u].explanation->count) continue;
    unit[u].explanation->stage[at[u]].is_first_difference = true;
    snprintf(d.text, sizeof d.text, "order of operations: %s goes on where %s ends", unit[u].unit, unit[1 - u].unit);
  }
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

void smma_print_results(FILE *stream, smma_format format, const char *const *name, const uint64_t *result, int count) {
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
  if (marks[0]) fprintf(stream, "  %*s  %s\n", width, "", marks);
}
