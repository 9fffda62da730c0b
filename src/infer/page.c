/* Makes the report page of a search: summary, parameters, reduction order, and the drawing of a vector that excludes a
   parameter value. */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "explain/picture.h"
#include "infer/report.h"
#include "isa/compose.h"
#include "tree/find.h"
#include "tree/text.h"

static smma_datum *parameters_table(const smma_inference *f) {
  static const char *const header[] = {"",         "parameter", "value", "excluded by a row", "no effect in any row",
                                       "left open"};
  const int columns = f->recording ? 6 : 5;
  smma_datum *table = smma_datum_list_of(1, smma_datum_texts(header, (size_t)columns));
  for (size_t i = 0; i < f->neighbours; i = smma_next_inferred_key(f, i)) {
    const smma_infer_neighbour *n = &f->neighbour[i];
    char value[64], text[SMMA_INFER_VALUES_SIZE];
    smma_datum *row =
        smma_datum_list_of(3, smma_datum_text(smma_infer_place(n->step, text)), smma_datum_text(n->key->key),
                           smma_datum_text(smma_key_value(n->key, n->value, value, sizeof value)));
    for (int is = SMMA_EXCLUDED; is < SMMA_EXCLUDED + columns - 3; is++)
      smma_datum_append(row, smma_datum_text(smma_infer_values(f, i, is, text)));
    smma_datum_append(table, row);
  }
  return table;
}

/* Adds the reduction order of the model, or why it is not known. */
static bool add_order(smma_datum *parts, const smma_instruction *unit, smma_error *error) {
  smma_tree tree;
  smma_unit models;
  smma_error why;
  smma_tree_status status;
  char *text = NULL;
  size_t size;
  FILE *stream;
  if (!smma_unit_open("model", &models, error)) return false;
  status = smma_find_tree(&models, unit, &tree, &why);
  smma_unit_close(&models);
  smma_page_add(parts, "heading", smma_datum_text("Order of the sum"));
  if (status != SMMA_TREE_FOUND) {
    smma_page_add(parts, "paragraph", smma_datum_print("cannot tell: %s", why.text));
    return true;
  }
  stream = open_memstream(&text, &size);
  if (!stream) return smma_no_memory(error);
  smma_print_tree(stream, &tree);
  fclose(stream);
  smma_page_add(parts, "lines", smma_datum_text(text));
  free(text);
  return true;
}

static smma_datum *picture_datum(const smma_instruction *unit, const smma_row *row) {
  const smma_operation operation = smma_operation_of(unit);
  smma_explanation explanation;
  smma_datum *picture = NULL;
  char *text = NULL;
  size_t size;
  FILE *stream;
  if (!smma_explain(&operation, row, &explanation)) return NULL;
  stream = open_memstream(&text, &size);
  if (stream) {
    const smma_explained explained = {"inferred", unit->name, &operation, &explanation};
    const bool drawn = smma_picture_write(stream, &explained, 1, 0);
    if (fclose(stream) == 0 && drawn) picture = smma_datum_text(text);
  }
  free(text);
  smma_explanation_free(&explanation);
  return picture;
}

/* Adds a drawing of the first vector of the proof that rules out a value of alignment_bits, if there is one. */
static void add_picture(smma_datum *parts, const smma_inference *f, const smma_instruction *unit) {
  for (size_t i = 0; i < f->neighbours; i++) {
    const smma_infer_neighbour *n = &f->neighbour[i];
    smma_row row;
    char value[64];
    if (n->is != SMMA_EXCLUDED || strcmp(n->key->key, "alignment_bits") != 0) continue;
    smma_rows_get(&f->proof, n->row, &row);
    smma_page_add(parts, "heading",
                  smma_datum_print("A row that excludes alignment_bits %s",
                                   smma_key_value(n->key, n->other, value, sizeof value)));
    smma_page_add(parts, "drawing", picture_datum(unit, &row));
    return;
  }
}

/* Returns the summary as text, or NULL if memory runs out. */
static smma_datum *summary_datum(const smma_infer_request *r, const smma_inference *f, const smma_datum *datum) {
  smma_datum *summary = NULL;
  char *text = NULL;
  size_t size;
  FILE *stream = smma_datum_is_complete(datum) ? open_memstream(&text, &size) : NULL;
  if (!stream) return NULL;
  smma_print_inference_summary(stream, r, f, datum);
  if (fclose(stream) == 0) summary = smma_datum_text(text);
  free(text);
  return summary;
}

bool smma_inference_page(const smma_infer_request *r, const smma_inference *f, smma_datum **page, smma_error *error) {
  smma_datum *parts = *page = smma_datum_list(), *datum = smma_inference_datum(r, f);
  const smma_instruction *unit;
  bool done = true;
  smma_page_add(parts, "title", smma_datum_text(r->instruction->name));
  smma_page_add(parts, "lines", summary_datum(r, f, datum));
  if (smma_inference_has_model(f)) {
    if (f->neighbours) {
      smma_page_add(parts, "heading", smma_datum_text("Parameters"));
      smma_page_add(parts, "table", parameters_table(f));
    }
    unit = smma_inferred_unit(f, "inferred");
    done = unit ? add_order(parts, unit, error) : smma_no_memory(error);
    if (unit) add_picture(parts, f, unit), smma_custom_release(unit);
  }
  smma_page_add(parts, "data", datum);
  return done && (smma_datum_is_complete(parts) || smma_no_memory(error));
}
