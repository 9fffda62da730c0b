/* Writes a summation tree, or the sums of a plan, as Graphviz's input. */
#include "tree/planned.h"
#include "tree/text.h"

/* Colours of Okabe and Ito's palette, lightened: readers with colour blindness can distinguish them. Shapes carry the
   same information. */
static const char products_colour[] = "#cce3f2", c_colour[] = "#f9e2ae", fused_colour[] = "#cceadf";

/* Writes a text for an HTML-like label, with its reserved characters as entities. */
static void write_text(FILE *stream, const char *text) {
  for (; *text; text++) {
    if (*text == '&')
      fputs("&amp;", stream);
    else if (*text == '<')
      fputs("&lt;", stream);
    else if (*text == '>')
      fputs("&gt;", stream);
    else
      fputc(*text, stream);
  }
}

/* Writes a node with a table of the single products of a sum, at most eight in a line, and its edge to the sum. */
static void write_products(FILE *stream, int sum, const int *product, int count) {
  const int columns = count > 8 ? 8 : count > 4 ? (count + 1) / 2 : count;
  fprintf(stream,
          "  p%d [shape=plain, label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"5\">", sum);
  for (int i = 0; i < count; i++)
    fprintf(stream, "%s<td width=\"26\" bgcolor=\"%s\">%d</td>%s", i % columns ? "" : "<tr>", products_colour,
            product[i], i % columns == columns - 1 || i == count - 1 ? "</tr>" : "");
  fprintf(stream, "</table>>];\n  p%d -> n%d;\n", sum, sum);
}

static void write_leaf(FILE *stream, const smma_tree *t, int node) {
  char name[32];
  const bool is_c = node == t->summands.count - 1;
  fprintf(stream, "  n%d [shape=%s, style=filled, fillcolor=\"%s\", label=\"%s\"];\n", node, is_c ? "circle" : "box",
          is_c ? c_colour : products_colour, smma_summand_name(&t->summands, node, name));
}

static void write_sum(FILE *stream, const smma_tree *t, int node) {
  char name[48];
  if (smma_kind_of_sum(t, node) == SMMA_ADDITION)
    fprintf(stream, "  n%d [shape=circle, label=\"+\"];\n", node);
  else
    fprintf(stream, "  n%d [shape=box, style=\"rounded,filled\", fillcolor=\"%s\", penwidth=1.5, label=\"%s\"];\n",
            node, fused_colour, smma_sum_name(t, node, name));
}

static void write_node(FILE *stream, const smma_tree *t, int node) {
  int child[SMMA_MOST_SUMMANDS], product[SMMA_MOST_SUMMANDS], products = 0;
  const int count = smma_tree_children(t, node, child);
  if (smma_tree_is_leaf(t, node)) {
    write_leaf(stream, t, node);
    return;
  }
  write_sum(stream, t, node);
  for (int i = 0; i < count; i++) {
    if (t->summands.products == 1 && child[i] < t->summands.count - 1) {
      product[products++] = child[i];
      continue;
    }
    write_node(stream, t, child[i]);
    fprintf(stream, "  n%d -> n%d;\n", child[i], node);
  }
  if (products) write_products(stream, node, product, products);
}

static void begin_graph(FILE *stream, const char *title, const char *words) {
  fputs(
      "digraph tree {\n"
      "  graph [rankdir=BT, ordering=in, nodesep=0.3, ranksep=0.35, fontname=\"sans-serif\", bgcolor=white,\n"
      "         pad=0.2, labelloc=t, label=<<b>",
      stream);
  write_text(stream, title);
  fputs("</b><br/><font point-size=\"12\">", stream);
  write_text(stream, words);
  fputs(
      "; numbers are k of a[k] b[k]</font><br/> >];\n"
      "  node [fontname=\"sans-serif\", fontsize=13];\n"
      "  edge [arrowsize=0.7];\n"
      "  d [shape=plaintext, label=\"d\"];\n",
      stream);
}

void smma_write_tree_graph(FILE *stream, const smma_tree *t, const char *title) {
  char words[512];
  begin_graph(stream, title, smma_tree_words(t, words));
  write_node(stream, t, t->root);
  fprintf(stream, "  n%d -> d;\n}\n", t->root);
}

/* ---- Graphs of plans ---- */

/* Writes a text for an HTML-like label, with a line break in place of a colon or semicolon before a space. */
static void write_lines(FILE *stream, const char *text) {
  for (; *text; text++) {
    if ((*text == ':' || *text == ';') && text[1] == ' ')
      text++, fputs("<br/>", stream);
    else
      write_text(stream, (char[]){*text, 0});
  }
}

void smma_write_planned_graph(FILE *stream, const smma_planned_line *line, size_t count, const char *title,
                              const char *words) {
  begin_graph(stream, title, words);
  for (size_t i = 0; i < count; i++) {
    const smma_planned_kind kind = line[i].kind;
    const char *colour = kind == SMMA_PLANNED_C ? c_colour : kind == SMMA_PLANNED_CHAIN ? products_colour : "white";
    fprintf(stream, "  n%zu [shape=box, style=\"%s\", fillcolor=\"%s\", label=<", i,
            kind == SMMA_PLANNED_SUM ? "rounded,filled" : "filled", colour);
    write_lines(stream, line[i].text);
    fputs(">];\n", stream);
    if (line[i].parent == SMMA_NO_NODE)
      fprintf(stream, "  n%zu -> d;\n", i);
    else
      fprintf(stream, "  n%zu -> n%zu;\n", i, line[i].parent);
  }
  fputs("}\n", stream);
}
