#include "tree/planned.h"

#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "isa/format_name.h"
#include "isa/key.h"

/* ---- The tree ---- */

static size_t add_node(smma_planned_tree *t, smma_planned_kind kind) {
  t->node[t->count] = (smma_planned_node){.kind = kind,
                                          .child = SMMA_NO_NODE,
                                          .last = SMMA_NO_NODE,
                                          .next = SMMA_NO_NODE,
                                          .stored = SMMA_STORED_AS_IS,
                                          .total = SMMA_STORED_AS_IS};
  return t->count++;
}

static void put_below(smma_planned_tree *t, size_t child, size_t parent) {
  smma_planned_node *p = &t->node[parent];
  const size_t height = t->node[child].height + (p->kind == SMMA_PLANNED_SUM);
  if (p->height < height) p->height = height;
  if (p->children++)
    t->node[p->last].next = child;
  else
    p->child = child;
  p->last = child;
}

static size_t add_rounding(smma_planned_tree *t, int format, size_t node) {
  size_t above;
  if (format == SMMA_STORED_AS_IS) return node;
  above = add_node(t, SMMA_PLANNED_ROUNDED);
  t->node[above].stored = format;
  put_below(t, node, above);
  return above;
}

/* Reports whether the addition of `part` to `total` makes `part` another child of `total`, instead of a new sum of
   both. This is so if `total` is a sum with the task's kind of addition and formats, and sums nest less deeply in
   `part` than in `total`. */
static bool can_extend(const smma_planned_tree *t, const smma_task *task, size_t total, size_t part) {
  const smma_planned_node *n = &t->node[total];
  return n->kind == SMMA_PLANNED_SUM && n->with == task->with && n->stored == task->stored && n->total == task->total &&
         t->node[part].height < n->height;
}

static size_t add_part(smma_planned_tree *t, const smma_task *task, size_t total, size_t part) {
  size_t sum = total;
  if (!can_extend(t, task, total, part)) {
    sum = add_node(t, SMMA_PLANNED_SUM);
    t->node[sum].with = task->with, t->node[sum].stored = task->stored, t->node[sum].total = task->total;
    put_below(t, total, sum);
  }
  put_below(t, part, sum);
  t->additions++;
  return sum;
}

static void do_task(smma_planned_tree *t, const smma_task *task, size_t *place) {
  size_t from = place[task->from];
  if (task->kind == SMMA_TASK_CLEAR) {
    place[task->to] = add_node(t, SMMA_PLANNED_ZERO);
    return;
  }
  if (task->kind == SMMA_TASK_MOVE)
    place[task->to] = add_rounding(t, task->total, add_rounding(t, task->stored, from));
  else
    place[task->to] = add_part(t, task, place[task->to], from);
  if (task->from == SMMA_IN_ACCUMULATOR) place[task->from] = add_node(t, SMMA_PLANNED_ZERO);
}

static void do_step(smma_planned_tree *t, size_t step, size_t *place) {
  size_t chain = *place;
  if (t->node[chain].kind != SMMA_PLANNED_CHAIN) {
    chain = add_node(t, SMMA_PLANNED_CHAIN);
    t->node[chain].step = step;
    if (t->node[*place].kind != SMMA_PLANNED_ZERO) put_below(t, *place, chain);
    *place = chain;
    t->chains++;
  }
  t->node[chain].steps++;
}

static size_t count_nodes(smma_planned_tree *t, size_t node) {
  size_t nodes = 1;
  for (size_t c = t->node[node].child; c != SMMA_NO_NODE; c = t->node[c].next) nodes += count_nodes(t, c);
  return t->node[node].nodes = nodes;
}

bool smma_planned_tree_make(const smma_schedule *s, bool starts_from_c, smma_planned_tree *t) {
  size_t *places = malloc((s->registers + 1) * sizeof *places), *place, task = 0;
  *t = (smma_planned_tree){.schedule = s};
  t->node = malloc((s->registers + 2 + 4 * s->tasks + s->steps) * sizeof *t->node);
  if (!places || !t->node) {
    free(places), free(t->node);
    return false;
  }
  place = places - SMMA_IN_ACCUMULATOR;
  for (size_t i = 0; i <= s->registers; i++) places[i] = add_node(t, SMMA_PLANNED_ZERO);
  if (starts_from_c) place[s->start] = add_node(t, SMMA_PLANNED_C);
  for (size_t step = 0; step <= s->steps; step++) {
    for (; task < s->tasks && s->task[task].step == step; task++) do_task(t, &s->task[task], place);
    if (step < s->steps) do_step(t, step, &place[SMMA_IN_ACCUMULATOR]);
  }
  t->root = place[s->result];
  count_nodes(t, t->root);
  free(places);
  return true;
}

void smma_planned_tree_free(smma_planned_tree *t) {
  free(t->node);
  *t = (smma_planned_tree){0};
}

size_t smma_products_of_call(const smma_schedule *s, size_t step) {
  size_t products = 0;
  for (size_t i = 0; i < s->k_per_step; i++) products += s->k[step * s->k_per_step + i] != SMMA_NO_PRODUCT;
  return products;
}

/* ---- Equal subtrees ---- */

static bool are_equal(const smma_planned_tree *t, size_t x, size_t y) {
  const smma_planned_node *a = &t->node[x], *b = &t->node[y];
  if (a->kind != b->kind || a->children != b->children || a->nodes != b->nodes || a->steps != b->steps ||
      a->with != b->with || a->stored != b->stored || a->total != b->total)
    return false;
  for (size_t i = 0; i < a->steps; i++)
    if (smma_products_of_call(t->schedule, a->step + i) != smma_products_of_call(t->schedule, b->step + i))
      return false;
  for (x = a->child, y = b->child; x != SMMA_NO_NODE; x = t->node[x].next, y = t->node[y].next)
    if (!are_equal(t, x, y)) return false;
  return true;
}

/* ---- Lines ---- */

typedef struct {
  const smma_planned_tree *tree;
  smma_planned_line *line;
  size_t count, room;
  bool failed;
} drawing;

#define ADD(...) smma_append_text(text, size, __VA_ARGS__)

/* The state of writing the k of a subtree in order, as text "0..15, 32..47, ..." with at most three ranges. */
typedef struct {
  size_t first, end; /* the current range is `first` to end - 1; it is empty if they are equal */
  size_t ranges;     /* number of ranges written */
} k_ranges;

static void append_range(k_ranges *r, char *text, size_t size) {
  if (r->end == r->first) return;
  if (r->ranges < 3) ADD("%s%zu", r->ranges ? ", " : "", r->first);
  if (r->ranges < 3 && r->end > r->first + 1) ADD("..%zu", r->end - 1);
  if (r->ranges == 3) ADD(", ...");
  r->ranges++;
}

static void append_chain_k(const smma_planned_tree *t, const smma_planned_node *n, k_ranges *r, char *text,
                           size_t size) {
  const smma_schedule *s = t->schedule;
  for (size_t i = n->step * s->k_per_step; i < (n->step + n->steps) * s->k_per_step; i++) {
    if (s->k[i] == SMMA_NO_PRODUCT) continue;
    if (s->k[i] != r->end || r->end == r->first) {
      append_range(r, text, size);
      r->first = s->k[i];
    }
    r->end = s->k[i] + 1;
  }
}

static void append_subtree_k(const smma_planned_tree *t, size_t node, k_ranges *r, char *text, size_t size) {
  for (size_t c = t->node[node].child; c != SMMA_NO_NODE; c = t->node[c].next) append_subtree_k(t, c, r, text, size);
  append_chain_k(t, &t->node[node], r, text, size);
}

static void append_k(const smma_planned_tree *t, size_t node, char *text, size_t size) {
  k_ranges r = {0, 0, 0};
  append_subtree_k(t, node, &r, text, size);
  append_range(&r, text, size);
}

/* Writes "8 calls of 16 products" or "5 calls of 1 to 16 products". */
static void append_calls(const smma_planned_tree *t, const smma_planned_node *n, char *text, size_t size) {
  size_t least = SIZE_MAX, most = 0;
  for (size_t i = 0; i < n->steps; i++) {
    const size_t products = smma_products_of_call(t->schedule, n->step + i);
    least = products < least ? products : least, most = products > most ? products : most;
  }
  ADD("%zu call%s of ", n->steps, smma_plural(n->steps));
  if (least != most) ADD("%zu to ", least);
  ADD("%zu product%s", most, smma_plural(most));
}

static void append_sum(const smma_planned_node *n, char *text, size_t size) {
  ADD("of %zu%s", n->children, n->children > 2 ? " in order" : "");
  if (n->with == SMMA_WITH_FMA) ADD(", by FMA with the parts' scale factors");
  if (n->with == SMMA_WITH_MULTIPLY_FMA) ADD(", by multiplication and FMA with the parts' scale factors");
  if (n->with == SMMA_WITH_MULTIPLY_B_FMA) ADD(", by multiplication and FMA with the parts' scale factors, B's first");
  if (n->stored != SMMA_STORED_AS_IS) ADD(", each part rounded to %s", smma_format_text((smma_format)n->stored));
  if (n->total != SMMA_STORED_AS_IS) ADD(", each total rounded to %s", smma_format_text((smma_format)n->total));
}

/* Appends the text of a node or, if `times` is greater than 1, of that number of equal nodes. */
static void append_node(const smma_planned_tree *t, size_t node, size_t times, char *text, size_t size) {
  const smma_planned_node *n = &t->node[node];
  const char *s = smma_plural(times);
  if (times > 1) ADD("%zu ", times);
  switch (n->kind) {
    case SMMA_PLANNED_ZERO: ADD("+0"); return;
    case SMMA_PLANNED_C: ADD("c"); return;
    case SMMA_PLANNED_ROUNDED: ADD("rounding%s to %s", s, smma_format_text((smma_format)n->stored)); return;
    case SMMA_PLANNED_SUM:
      ADD("sum%s ", s);
      append_sum(n, text, size);
      return;
    case SMMA_PLANNED_CHAIN: ADD("chain%s of ", s); append_calls(t, n, text, size);
  }
}

static size_t add_line(drawing *d, size_t parent, smma_planned_kind kind) {
  if (d->count == d->room) {
    const size_t room = 2 * d->room + 64;
    smma_planned_line *more = realloc(d->line, room * sizeof *more);
    if (!more) d->failed = true;
    if (!more) return 0;
    d->line = more, d->room = room;
  }
  d->line[d->count] = (smma_planned_line){.parent = parent, .kind = kind};
  return d->count++;
}

/* Returns the last of `times` siblings, of which `node` is the first. */
static size_t last_of(const smma_planned_tree *t, size_t node, size_t times) {
  while (--times) node = t->node[node].next;
  return node;
}

static void draw(drawing *d, size_t node, size_t times, size_t parent);

/* Draws the children of `node` below line `parent`. Equal siblings share a line if they are at least LEAST_EQUAL, or if
   each of them has at least LARGE nodes. */
static void draw_children(drawing *d, size_t node, size_t parent) {
  enum { LEAST_EQUAL = 4, LARGE = 8 };
  const smma_planned_tree *t = d->tree;
  for (size_t c = t->node[node].child, next; c != SMMA_NO_NODE; c = next) {
    size_t times = 1;
    for (next = t->node[c].next; next != SMMA_NO_NODE && are_equal(t, c, next); next = t->node[next].next) times++;
    if (times < LEAST_EQUAL && t->node[c].nodes < LARGE) next = t->node[c].next, times = 1;
    draw(d, c, times, parent);
  }
}

static void draw(drawing *d, size_t node, size_t times, size_t parent) {
  const smma_planned_tree *t = d->tree;
  const smma_planned_node *n = &t->node[node];
  const size_t at = d->failed ? 0 : add_line(d, parent, n->kind), size = sizeof d->line[0].text;
  char *text;
  if (d->failed) return;
  text = d->line[at].text;
  append_node(t, node, times, text, size);
  if (n->kind == SMMA_PLANNED_CHAIN || times > 1) {
    ADD(": k = ");
    append_k(t, node, text, size);
    if (times > 1) ADD("; ");
    if (times > 2) append_k(t, n->next, text, size), ADD("; ...; ");
    if (times > 1) append_k(t, last_of(t, node, times), text, size);
    if (times > 1 && n->children) ADD("; the first is");
  }
  draw_children(d, node, at);
}

smma_planned_line *smma_planned_lines(const smma_planned_tree *t, size_t *count) {
  drawing d = {.tree = t};
  draw(&d, t->root, 1, SMMA_NO_NODE);
  *count = d.count;
  if (!d.failed) return d.line;
  free(d.line);
  return NULL;
}

/* ---- Text ---- */

static bool is_last(const smma_planned_line *line, size_t count, size_t at) {
  for (size_t i = at + 1; i < count && line[i].parent >= line[at].parent; i++)
    if (line[i].parent == line[at].parent) return false;
  return true;
}

static void print_branches(FILE *stream, const smma_planned_line *line, size_t count, size_t at) {
  if (line[at].parent == SMMA_NO_NODE) return;
  print_branches(stream, line, count, line[at].parent);
  fputs(is_last(line, count, at) ? "   " : "|  ", stream);
}

void smma_print_planned_lines(FILE *stream, const smma_planned_line *line, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (line[i].parent == SMMA_NO_NODE) {
      fprintf(stream, "d = %s\n", line[i].text);
      continue;
    }
    fputs("    ", stream);
    print_branches(stream, line, count, line[i].parent);
    fprintf(stream, "%s%s\n", is_last(line, count, i) ? "`- " : "|- ", line[i].text);
  }
}
