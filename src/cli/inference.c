#include "cli/inference.h"

#include <stdlib.h>
#include <string.h>

#include "cli/row.h"
#include "cli/values.h"
#include "explain/picture.h"
#include "infer/report.h"
#include "isa/compose.h"
#include "isa/custom.h"
#include "rows/text.h"
#include "tree/find.h"
#include "tree/text.h"

/* Released with smma_custom_release; or the end of the program without memory. */
static const smma_instruction *inferred_unit(const smma_inference *found) {
  const smma_instruction *unit = smma_inferred_unit(found, "inferred");
  if (!unit) smma_die("out of memory");
  return unit;
}

static const smma_instruction *rival_unit(const smma_inference *found, size_t rival) {
  const smma_instruction *unit = smma_inferred_rival(found, rival, "rival");
  if (!unit) smma_die("out of memory");
  return unit;
}

/* ---- Words ---- */

/* "T-FDPA F=25 L=16" */
static void describe(const smma_rule *rule, char *text, size_t size) {
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  snprintf(text, size, "%s", smma_model_name(rule));
  for (int p = 0; smma_parameter(rule, p, &name, value, sizeof value); p++)
    smma_append_text(text, size, " %s=%s", name, value);
}

static const char *place_of(int step, char text[16]) {
  if (step < 0) return "all";
  snprintf(text, 16, "step %d", step + 1);
  return text;
}

enum { LIST = 400 };

/* "24, 26" of those neighbours of a key, from number `from` on, that are so. */
static void list_values(const smma_inference *f, size_t from, int is, char text[LIST]) {
  const smma_infer_neighbour *n = &f->neighbour[from];
  *text = 0;
  for (const smma_infer_neighbour *x = n; x < f->neighbour + f->neighbours && x->key == n->key && x->step == n->step;
       x++) {
    char value[64];
    if ((int)x->is != is) continue;
    smma_append_text(text, LIST, "%s%s", *text ? ", " : "", smma_key_value(x->key, x->other, value, sizeof value));
  }
}

static size_t count_neighbours(const smma_inference *f, int is) {
  size_t count = 0;
  for (size_t i = 0; i < f->neighbours; i++) count += (int)f->neighbour[i].is == is;
  return count;
}

/* ---- Text ---- */

/* Whether a row shuts out all of a key's neighbours, or none. */
static bool are_all(const smma_inference *f, size_t at, int is) {
  for (size_t i = at; i < smma_next_inferred_key(f, at); i++)
    if ((int)f->neighbour[i].is != is) return false;
  return true;
}

/* "all others" of words; a list of numbers. */
static const char *shown_values(const smma_inference *f, size_t at, int is, char text[LIST]) {
  if (f->neighbour[at].key->kind != SMMA_KEY_INTEGER && smma_next_inferred_key(f, at) - at > 2 && are_all(f, at, is))
    return "all others";
  list_values(f, at, is, text);
  return *text ? text : "-";
}

static void print_parameters(FILE *stream, const smma_inference *f) {
  bool some = false;
  fprintf(stream, "\n%-6s  %-30s %-18s %-30s %-24s%s\n", "", "parameter", "value", "shut out by a row",
          "no row searched shows", f->recording ? " left open" : "");
  for (size_t i = 0; i < f->neighbours; i = smma_next_inferred_key(f, i)) {
    const smma_infer_neighbour *n = &f->neighbour[i];
    char place[16], value[64], shut[LIST], is_free[LIST], open[LIST];
    if (are_all(f, i, SMMA_FREE)) continue;
    fprintf(stream, "%-6s  %-30s %-18s %-30s %-24s", place_of(n->step, place), n->key->key,
            smma_key_value(n->key, n->value, value, sizeof value), shown_values(f, i, SMMA_SHUT_OUT, shut),
            shown_values(f, i, SMMA_FREE, is_free));
    fprintf(stream, "%s%s\n", f->recording ? " " : "", f->recording ? shown_values(f, i, SMMA_UNDECIDED, open) : "");
  }
  fprintf(stream, "\nno row searched shows any other value of:");
  for (size_t i = 0; i < f->neighbours; i = smma_next_inferred_key(f, i)) {
    char place[16];
    if (!are_all(f, i, SMMA_FREE)) continue;
    fprintf(stream, "%s %s (%s)", some ? "," : "", f->neighbour[i].key->key, place_of(f->neighbour[i].step, place));
    some = true;
  }
  fprintf(stream, "%s\n", some ? "" : " none");
}

static void print_row(FILE *stream, const smma_instruction *i, const smma_row *row, uint64_t expected) {
  char hex[24], value[40];
  fprintf(stream, "  ");
  smma_print_dot_command(stream, i, row);
  fprintf(stream, "\n    the unit %s %s", smma_hex_text(i->d, row->d, hex), smma_value_text(i->d, row->d, value));
  fprintf(stream, ", the model %s %s\n", smma_hex_text(i->d, expected, hex), smma_value_text(i->d, expected, value));
}

static void print_misfit(FILE *stream, const smma_instruction *i, const smma_inference *f) {
  const smma_infer_misfit *m = &f->misfit;
  char text[SMMA_MISFIT_SIZE];
  fprintf(stream, "\nthe best model disagrees with %llu of %llu %s rows", (unsigned long long)m->wrong,
          (unsigned long long)m->asked, f->recording ? "recorded" : "new");
  for (int kind = 0; kind < SMMA_ROWS_IN_TURN && !f->recording; kind++)
    fprintf(stream, "%s %s %.3g %%", kind ? "," : ":", smma_row_kind_text((smma_row_kind)kind),
            m->of_kind[kind] ? 100.0 * (double)m->wrong_of[kind] / (double)m->of_kind[kind] : 0.0);
  fputc('\n', stream);
  if (!m->examples) {
    fprintf(stream, "%s\n", "no new row shows it; only rows that were made for its own bits do");
    return;
  }
  smma_describe_holdings(m, text);
  if (*text) fprintf(stream, "%s\n", text);
  smma_describe_misfit(i, m, text);
  fprintf(stream, "%s\n", text);
  for (int n = 0; n < m->examples && n < 4; n++) print_row(stream, i, &m->example[n], m->expected[n]);
}

/* The rows that shut out most structures. */
static void print_structures(FILE *stream, const smma_instruction *i, const smma_inference *f) {
  enum { SHOWN = 3 };
  fprintf(stream, "\nstructures: %d of %d are shut out by rows, %d are left\n", f->structures - f->left, f->structures,
          f->left);
  for (size_t n = 0; n < f->evidences && n < SHOWN; n++) {
    const smma_infer_evidence *e = &f->evidence[n];
    fprintf(stream, "%d of them, because results differ when products change places:\n", e->structures);
    for (int row = 0; row < 2; row++) {
      char hex[24];
      fprintf(stream, "  ");
      smma_print_dot_command(stream, i, &e->row[row]);
      fprintf(stream, "\n    the unit %s\n", smma_hex_text(i->d, e->row[row].d, hex));
    }
  }
}

static void print_no_function(FILE *stream, const smma_instruction *i, const smma_inference *f) {
  const smma_alikeness *a = &f->alike;
  char text[256];
  fprintf(
      stream,
      "no function of its operands: %llu of %llu results were others when asked again, %llu of them in the same batch "
      "at the same place\n",
      (unsigned long long)(a->not_repeated + a->not_alike), (unsigned long long)a->asked,
      (unsigned long long)a->not_repeated);
  fprintf(stream, "first seen: row %zu, %s place %zu of %zu\n", a->row, a->at_once ? "asked again at" : "at", a->place,
          a->batch);
  fprintf(stream, "  ");
  smma_print_dot_command(stream, i, &f->unlike);
  smma_tell_unlike(a, text, sizeof text);
  fprintf(stream, "\n%s\n", text);
}

static void print_rivals(FILE *stream, const smma_inference *f) {
  enum { SHOWN = 8 };
  fprintf(stream, "other models that agree with all these rows: %zu%s%s\n", f->rivals, f->rivals ? "" : " were found",
          f->more_rivals ? ", and there may be more" : "");
  for (size_t n = 0; n < f->rivals && n < SHOWN; n++) {
    const smma_instruction *unit = rival_unit(f, n);
    char text[4096];
    describe(&unit->rule->rule, text, sizeof text);
    fprintf(stream, "  %s\n", text);
    smma_custom_release(unit);
  }
  if (f->rivals > SHOWN) fprintf(stream, "  and %zu more, which --json has\n", f->rivals - SHOWN);
}

static void print_summary(FILE *stream, const smma_infer_request *r, const smma_inference *f) {
  const smma_instruction *i = r->instruction, *unit;
  char text[4096], nan[SMMA_INFERRED_NAN_SIZE], reason[SMMA_INFER_REASON_SIZE];
  smma_describe_infer_reason(r, f, reason);
  fprintf(stream, "%s %s on %s: %s%s%s\n", smma_arch_name(i), i->name, r->unit->name,
          smma_infer_outcome_text(f->outcome), *reason ? ", because " : "", reason);
  if (f->outcome == SMMA_IS_NO_FUNCTION) {
    print_no_function(stream, i, f);
    return;
  }
  if (smma_inference_has_model(f)) {
    unit = inferred_unit(f);
    describe(&unit->rule->rule, text, sizeof text);
    fprintf(stream, "model: %s\n", text);
    smma_custom_release(unit);
  }
  if (f->same) {
    fprintf(stream, "no row searched tells it from %s of %s, in whose words it is", f->same->name,
            smma_arch_name(f->same));
    if (f->same_different)
      fprintf(stream, ", except NaN encodings: those of %llu of %llu vectors differ",
              (unsigned long long)f->same_different, (unsigned long long)f->compared);
    fputc('\n', stream);
  }
  fprintf(stream, "asked: %llu rows in %llu calls", (unsigned long long)f->rows, (unsigned long long)f->calls);
  if (!f->recording && smma_has_inferred(f))
    fprintf(stream, ", then %llu of another seed, which all agree", (unsigned long long)f->fresh);
  fprintf(stream, "; %.1f s, of which the unit took %.1f\n", f->seconds, f->unit_seconds);
  smma_describe_inferred_nan(i, f, nan);
  if (*nan && smma_has_inferred(f)) fprintf(stream, "NaN: %s\n", nan);
  if (f->neighbours) {
    fprintf(stream, "neighbouring values: %zu shut out by rows, %zu that no row of %llu searched shows",
            count_neighbours(f, SMMA_SHUT_OUT), count_neighbours(f, SMMA_FREE), (unsigned long long)r->neighbours);
    if (f->recording) fprintf(stream, ", %zu that these rows leave open", count_neighbours(f, SMMA_UNDECIDED));
    fputc('\n', stream);
  }
  if (f->recording && smma_has_inferred(f)) print_rivals(stream, f);
  if (f->misfit.asked) print_misfit(stream, i, f);
  if (f->outcome == SMMA_NOT_INFERRED && !f->recording) print_structures(stream, i, f);
  if (f->outcome == SMMA_INFER_STOPPED && smma_inference_has_model(f))
    fprintf(stream, "\ninterrupted: the best model so far disagrees with %zu of the %zu rows that it was fitted to\n",
            f->wrong, f->samples);
  if (f->outcome == SMMA_INFER_STOPPED && !smma_inference_has_model(f))
    fprintf(stream, "\ninterrupted before the search began: there is no model yet\n");
}

void smma_print_inference(const smma_infer_request *r, const smma_inference *f) {
  print_summary(stdout, r, f);
  if (f->neighbours) print_parameters(stdout, f);
}

/* ---- JSON ---- */

static json_t *row_json(const smma_instruction *i, const smma_row *row, uint64_t other, const char *others) {
  json_t *object = json_object();
  smma_add_operands(object, i, row);
  json_object_set_new(object, "d", smma_hex_array(i->d, &row->d, 1));
  if (others) json_object_set_new(object, others, smma_hex_array(i->d, &other, 1));
  return object;
}

static json_t *neighbour_json(const smma_instruction *i, const smma_inference *f, const smma_infer_neighbour *n) {
  char value[64];
  json_t *object = json_pack("{s:s, s:s}", "value", smma_key_value(n->key, n->other, value, sizeof value), "is",
                             smma_infer_neighbour_text(n->is));
  smma_row row;
  if (n->is == SMMA_FREE) return object;
  smma_rows_get(&f->proof, n->row, &row);
  json_object_set_new(object, "row", row_json(i, &row, n->other_d, "with_value"));
  return object;
}

static json_t *parameters_json(const smma_instruction *i, const smma_inference *f) {
  json_t *array = json_array();
  for (size_t at = 0; at < f->neighbours; at = smma_next_inferred_key(f, at)) {
    const smma_infer_neighbour *n = &f->neighbour[at];
    char value[64];
    json_t *neighbours = json_array();
    for (size_t x = at; x < smma_next_inferred_key(f, at); x++)
      json_array_append_new(neighbours, neighbour_json(i, f, &f->neighbour[x]));
    json_array_append_new(
        array, json_pack("{s:o, s:s, s:s, s:o}", "step", n->step < 0 ? json_null() : json_integer(n->step + 1), "key",
                         n->key->key, "value", smma_key_value(n->key, n->value, value, sizeof value), "neighbours",
                         neighbours));
  }
  return array;
}

static json_t *misfit_json(const smma_instruction *i, const smma_inference *f) {
  const smma_infer_misfit *m = &f->misfit;
  json_t *kinds = json_object(), *rows = json_array(), *holds = json_object();
  char text[SMMA_MISFIT_SIZE];
  if (!m->asked) return json_decref(kinds), json_decref(rows), json_decref(holds), json_null();
  for (int h = 0; h < SMMA_HOLDINGS; h++)
    if (m->wrong_with[h])
      json_object_set_new(holds, smma_infer_holding_text((smma_infer_holding)h),
                          json_integer((json_int_t)m->wrong_with[h]));
  for (int kind = 0; kind < SMMA_ROWS_IN_TURN && !f->recording; kind++)
    json_object_set_new(kinds, smma_row_kind_text((smma_row_kind)kind),
                        json_pack("[I, I]", (json_int_t)m->wrong_of[kind], (json_int_t)m->of_kind[kind]));
  for (int n = 0; n < m->examples; n++)
    json_array_append_new(rows, row_json(i, &m->example[n], m->expected[n], "model"));
  smma_describe_misfit(i, m, text);
  return json_pack("{s:I, s:I, s:o, s:o, s:s, s:o}", "asked", (json_int_t)m->asked, "wrong", (json_int_t)m->wrong,
                   "kinds", kinds, "hold", holds, "class", text, "rows", rows);
}

static json_t *no_function_json(const smma_instruction *i, const smma_inference *f) {
  const smma_alikeness *a = &f->alike;
  char text[256];
  if (f->outcome != SMMA_IS_NO_FUNCTION) return json_null();
  smma_tell_unlike(a, text, sizeof text);
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:o, s:o}", "asked", (json_int_t)a->asked, "not_repeated",
                   (json_int_t)a->not_repeated, "not_alike", (json_int_t)a->not_alike, "row", (json_int_t)a->row,
                   "place", (json_int_t)a->place, "batch", (json_int_t)a->batch, "why", text, "neighbour",
                   a->by == SMMA_UNLIKE_BY_NEIGHBOUR ? json_integer((json_int_t)a->neighbour) : json_null(), "operands",
                   row_json(i, &f->unlike, 0, NULL));
}

static json_t *structures_json(const smma_instruction *i, const smma_inference *f) {
  json_t *array = json_array();
  for (size_t n = 0; n < f->evidences; n++) {
    const smma_infer_evidence *e = &f->evidence[n];
    json_array_append_new(array, json_pack("{s:i, s:[o, o]}", "structures", e->structures, "rows",
                                           row_json(i, &e->row[0], 0, NULL), row_json(i, &e->row[1], 0, NULL)));
  }
  return json_pack("{s:i, s:i, s:o}", "listed", f->structures, "left", f->left, "shut_out_by", array);
}

/* A unit as its file has it; null where there is none. */
static json_t *unit_json(const smma_instruction *unit) {
  static char text[1 << 16];
  return smma_custom_write(unit, text, sizeof text) < sizeof text ? json_loads(text, 0, NULL) : json_null();
}

static json_t *rivals_json(const smma_instruction *i, const smma_inference *f) {
  json_t *array = json_array();
  for (size_t n = 0; n < f->rivals; n++) {
    const smma_instruction *unit = rival_unit(f, n);
    char words[4096];
    smma_row row;
    smma_rows_get(&f->proof, f->rival[n].row, &row);
    describe(&unit->rule->rule, words, sizeof words);
    json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "rule", words, "model", unit_json(unit), "row",
                                           row_json(i, &row, f->rival[n].other_d, "with_rival")));
    smma_custom_release(unit);
  }
  return array;
}

json_t *smma_inference_json(const smma_infer_request *r, const smma_inference *f) {
  const smma_instruction *i = r->instruction;
  json_t *model = json_null();
  char words[4096] = "", reason[SMMA_INFER_REASON_SIZE];
  smma_describe_infer_reason(r, f, reason);
  if (smma_inference_has_model(f)) {
    const smma_instruction *unit = inferred_unit(f);
    model = unit_json(unit);
    describe(&unit->rule->rule, words, sizeof words);
    smma_custom_release(unit);
  }
  return json_pack(
      "{s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:o, s:I, s:I, s:I, "
      "s:o, s:o, s:b, s:o, s:o, s:o}",
      "arch", smma_arch_name(i), "instr", i->name, "unit", smma_json_text(r->unit->name), "outcome",
      smma_infer_outcome_text(f->outcome), "because", reason, "model", model, "rule", words, "same_as",
      f->same ? json_pack("[s, s]", smma_arch_name(f->same), f->same->name) : json_null(), "rows", (json_int_t)f->rows,
      "calls", (json_int_t)f->calls, "fresh", (json_int_t)f->fresh, "rounds", (json_int_t)f->rounds, "tried",
      (json_int_t)f->tried, "computed", (json_int_t)f->computed, "samples", (json_int_t)f->samples, "wrong",
      (json_int_t)f->wrong, "seconds", f->seconds, "unit_seconds", f->unit_seconds, "nan",
      f->nan_known ? json_string(smma_inferred_nan(f)) : json_null(), "compared", (json_int_t)f->compared,
      "nan_different", (json_int_t)f->nan_different, "same_nan_different", (json_int_t)f->same_different, "parameters",
      parameters_json(i, f), "rivals", rivals_json(i, f), "more_rivals", f->more_rivals, "misfit", misfit_json(i, f),
      "structures", structures_json(i, f), "no_function", no_function_json(i, f));
}

/* ---- Rows ---- */

bool smma_write_inference_rows(FILE *stream, const char *model, const smma_infer_request *r, const smma_inference *f,
                               bool undecided) {
  const smma_row_layout layout = smma_row_layout_of(r->instruction);
  smma_vector_header header;
  smma_vector_header_of(r->instruction, &header);
  if (model) {
    snprintf(header.arch, sizeof header.arch, "%s", model);
    snprintf(header.instruction, sizeof header.instruction, "%s", "inferred");
  }
  smma_text_write_header(stream, &header);
  for (size_t i = 0; i < f->neighbours; i++) {
    const smma_infer_neighbour *n = &f->neighbour[i];
    char place[16], value[2][64], hex[24];
    smma_row row;
    if (n->is != (undecided ? SMMA_UNDECIDED : SMMA_SHUT_OUT)) continue;
    smma_rows_get(&f->proof, n->row, &row);
    fprintf(stream, "# %s, %s is %s; with %s d would be %s\n", place_of(n->step, place), n->key->key,
            smma_key_value(n->key, n->value, value[0], sizeof value[0]),
            smma_key_value(n->key, n->other, value[1], sizeof value[1]),
            smma_hex_text(r->instruction->d, n->other_d, hex));
    smma_text_write_row(stream, &layout, &row);
  }
  for (size_t n = 0; n < f->rivals && undecided; n++) {
    const smma_instruction *unit = rival_unit(f, n);
    char words[4096], hex[24];
    smma_row row;
    smma_rows_get(&f->proof, f->rival[n].row, &row);
    describe(&unit->rule->rule, words, sizeof words);
    fprintf(stream, "# of %s d would be %s\n", words, smma_hex_text(r->instruction->d, f->rival[n].other_d, hex));
    smma_text_write_row(stream, &layout, &row);
    smma_custom_release(unit);
  }
  return !ferror(stream);
}

/* ---- A page ---- */

static void put_escaped(FILE *stream, const char *text) {
  for (; *text; text++) switch (*text) {
      case '<': fputs("&lt;", stream); break;
      case '>': fputs("&gt;", stream); break;
      case '&': fputs("&amp;", stream); break;
      default: fputc(*text, stream);
    }
}

/* What is written to it becomes text on a page. */
typedef struct {
  FILE *stream;
  char *text;
  size_t size;
} page_text;

static FILE *begin_text(page_text *t) {
  *t = (page_text){NULL, NULL, 0};
  t->stream = open_memstream(&t->text, &t->size);
  if (!t->stream) smma_die("out of memory");
  return t->stream;
}

static void end_text(FILE *stream, page_text *t) {
  fclose(t->stream);
  fputs("<pre>", stream);
  put_escaped(stream, t->text);
  fputs("</pre>\n", stream);
  free(t->text);
}

static void put_summary(FILE *stream, const smma_infer_request *r, const smma_inference *f) {
  page_text text;
  print_summary(begin_text(&text), r, f);
  end_text(stream, &text);
}

static void put_cell(FILE *stream, const char *text) {
  fputs("<td>", stream);
  put_escaped(stream, text);
  fputs("</td>", stream);
}

static void put_parameters(FILE *stream, const smma_inference *f) {
  fprintf(stream,
          "<h2>Parameters</h2>\n<table><tr><th></th><th>parameter</th><th>value</th><th>shut out by a row</th>"
          "<th>no row searched shows</th>%s</tr>\n",
          f->recording ? "<th>not decided by these rows</th>" : "");
  for (size_t i = 0; i < f->neighbours; i = smma_next_inferred_key(f, i)) {
    const smma_infer_neighbour *n = &f->neighbour[i];
    char place[16], value[64], list[LIST];
    fputs("<tr>", stream);
    put_cell(stream, place_of(n->step, place));
    put_cell(stream, n->key->key);
    put_cell(stream, smma_key_value(n->key, n->value, value, sizeof value));
    for (int is = SMMA_SHUT_OUT; is <= (f->recording ? SMMA_UNDECIDED : SMMA_FREE); is++)
      put_cell(stream, shown_values(f, i, is, list));
    fputs("</tr>\n", stream);
  }
  fputs("</table>\n", stream);
}

/* The order in which the model adds, and a row that shuts out a value of how it cuts. */
static void put_pictures(FILE *stream, const smma_inference *f) {
  const smma_instruction *unit = inferred_unit(f);
  const smma_operation operation = smma_operation_of(unit);
  smma_tree tree;
  smma_unit models;
  smma_error error;
  if (!smma_unit_open("model", &models, &error)) smma_die("%s", error.text);
  fputs("<h2>Order of the sum</h2>\n", stream);
  if (smma_find_tree(&models, unit, &tree, &error) == SMMA_TREE_FOUND) {
    page_text text;
    smma_print_tree(begin_text(&text), &tree);
    end_text(stream, &text);
  } else {
    fputs("<p>cannot tell: ", stream);
    put_escaped(stream, error.text);
    fputs("</p>\n", stream);
  }
  smma_unit_close(&models);
  for (size_t i = 0; i < f->neighbours; i++) {
    const smma_infer_neighbour *n = &f->neighbour[i];
    smma_explanation explanation;
    smma_row row;
    char value[64];
    if (n->is != SMMA_SHUT_OUT || strcmp(n->key->key, "alignment_bits") != 0) continue;
    smma_rows_get(&f->proof, n->row, &row);
    if (!smma_explain(&operation, &row, &explanation)) smma_die("out of memory");
    fprintf(stream, "<h2>A row that shuts out alignment_bits %s</h2>\n",
            smma_key_value(n->key, n->other, value, sizeof value));
    const smma_explained explained = {"inferred", unit->name, &operation, &explanation};
    if (!smma_picture_write(stream, &explained, 1)) smma_die("out of memory");
    smma_explanation_free(&explanation);
    break;
  }
  smma_custom_release(unit);
}

void smma_write_inference_page(FILE *stream, const smma_infer_request *r, const smma_inference *f) {
  fprintf(stream,
          "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n<style>"
          "body{font:16px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
          "table{border-collapse:collapse}td,th{padding:.1em .8em;border-bottom:1px solid #ccc;"
          "text-align:left;vertical-align:top}pre{overflow-x:auto}svg{max-width:100%%;height:auto}"
          "</style></head><body>\n<h1>%s</h1>\n",
          r->instruction->name, r->instruction->name);
  put_summary(stream, r, f);
  if (smma_inference_has_model(f)) {
    if (f->neighbours) put_parameters(stream, f);
    put_pictures(stream, f);
  }
  fputs("</body></html>\n", stream);
}
