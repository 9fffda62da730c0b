#include "coverage/coverage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "host/load.h"
#include "isa/catalogue.h"
#include "page/page.h"

/* ---- Counting ---- */

smma_covered *smma_coverage_of(smma_coverage *coverage, const smma_instruction *instruction, smma_error *error) {
  smma_covered *one;
  for (size_t n = 0; n < coverage->count; n++)
    if (coverage->one[n].instruction == instruction) return &coverage->one[n];
  one = realloc(coverage->one, (coverage->count + 1) * sizeof *one);
  if (!one) return smma_no_memory(error), NULL;
  coverage->one = one;
  one += coverage->count;
  *one = (smma_covered){.instruction = instruction};
  if (!smma_event_space_make(instruction, &one->space)) {
    smma_fail(error, "%s: no events are known of blocks of %d products in %s", instruction->name,
              smma_block_of(&one->space.operation), smma_arch_name(instruction));
    return NULL;
  }
  one->hits = calloc(one->space.events, sizeof *one->hits);
  if (!one->hits) return smma_no_memory(error), NULL;
  coverage->count++;
  return one;
}

void smma_coverage_free(smma_coverage *coverage) {
  for (size_t n = 0; n < coverage->count; n++) {
    free(coverage->one[n].hits);
    free(coverage->one[n].found);
  }
  free(coverage->one);
  *coverage = (smma_coverage){0};
}

bool smma_coverage_count(smma_coverage *coverage, const smma_instruction *instruction, const smma_rows *rows,
                         size_t count, uint64_t *d, smma_error *error) {
  smma_covered *c = smma_coverage_of(coverage, instruction, error);
  if (!c) return false;
  if (!smma_count_events(&c->space, rows, count, c->hits, d)) return smma_no_memory(error);
  c->rows += count;
  return true;
}

bool smma_coverage_search(smma_coverage *coverage, uint64_t seed, uint64_t tries, smma_cover_watcher *watcher,
                          void *context, smma_error *error) {
  for (size_t n = 0; n < coverage->count; n++) {
    smma_covered *c = &coverage->one[n];
    smma_cover cover;
    if (!smma_cover_find(&c->space, c->instruction, seed, tries, watcher, context, &cover))
      return smma_no_memory(error);
    free(c->found);
    c->tries = cover.tries;
    c->found = cover.reached;
    cover.reached = NULL;
    smma_cover_free(&cover);
  }
  return true;
}

/* ---- Answers ---- */

smma_event_state smma_event_state_of(const smma_covered *c, size_t event) {
  return smma_event_state_in(&c->space, c->hits, c->found, event);
}

void smma_count_states(const smma_covered *c, smma_event_kind kind, size_t count[SMMA_EVENT_STATES]) {
  memset(count, 0, SMMA_EVENT_STATES * sizeof *count);
  for (int b = 0; b < c->space.blocks; b++) {
    const smma_event_block *block = &c->space.block[b];
    if (kind != SMMA_EVENT_KINDS && block->kind != kind) continue;
    for (size_t e = 0; e < (size_t)(block->places * block->values); e++)
      count[smma_event_state_of(c, block->first + e)]++;
  }
}

static smma_datum *event_datum(const smma_covered *c, size_t e) {
  const smma_event_state state = smma_event_state_of(c, e);
  smma_datum *event = smma_datum_record();
  char text[160];
  smma_put_text(event, "kind", smma_event_kind_names[smma_event_at(&c->space, e).block->kind]);
  smma_put_text(event, "event", smma_event_words(&c->space, e, text, sizeof text));
  smma_put_count(event, "hits", c->hits[e]);
  smma_put_text(event, "state", smma_event_state_names[state]);
  if (state == SMMA_IMPOSSIBLE) smma_put_text(event, "because", smma_event_excluded(&c->space, e));
  return event;
}

static smma_datum *covered_datum(const smma_covered *c) {
  smma_datum *record = smma_datum_record(), *events = smma_datum_list();
  size_t count[SMMA_EVENT_STATES];
  smma_count_states(c, SMMA_EVENT_KINDS, count);
  for (size_t e = 0; e < c->space.events; e++) smma_datum_append(events, event_datum(c, e));
  smma_put_text(record, "arch", smma_arch_name(c->instruction));
  smma_put_text(record, "instruction", c->instruction->name);
  smma_put_count(record, "rows", c->rows);
  smma_put_count(record, "hit", count[SMMA_HIT]);
  smma_put_count(record, "missed", count[SMMA_MISSED] + count[SMMA_FOUND]);
  smma_put_count(record, "impossible", count[SMMA_IMPOSSIBLE]);
  smma_put_count(record, "tried", c->tries);
  smma_datum_put(record, "events", events);
  return record;
}

smma_datum *smma_coverage_datum(const smma_coverage *coverage) {
  smma_datum *all = smma_datum_list();
  for (size_t n = 0; n < coverage->count; n++) smma_datum_append(all, covered_datum(&coverage->one[n]));
  return all;
}

/* ---- A page ---- */

static smma_datum *table_row(const char *name, const size_t count[SMMA_EVENT_STATES]) {
  return smma_datum_list_of(4, smma_datum_text(name), smma_datum_count((int64_t)count[SMMA_HIT]),
                            smma_datum_count((int64_t)(count[SMMA_MISSED] + count[SMMA_FOUND])),
                            smma_datum_count((int64_t)count[SMMA_IMPOSSIBLE]));
}

static smma_datum *counts_table(const smma_covered *c) {
  static const char *const header[] = {"events", "hit", "missed", "impossible"};
  smma_datum *table = smma_datum_list_of(1, smma_datum_texts(header, sizeof header / sizeof *header));
  for (int kind = 0; kind <= SMMA_EVENT_KINDS; kind++) {
    size_t count[SMMA_EVENT_STATES];
    smma_count_states(c, (smma_event_kind)kind, count);
    smma_datum_append(table, table_row(kind < SMMA_EVENT_KINDS ? smma_event_kind_names[kind] : "all", count));
  }
  return table;
}

/* Returns the events of a block as squares: one row for each place, with the values from left to right. */
static smma_datum *block_squares(const smma_covered *c, const smma_event_block *b) {
  smma_datum *squares = smma_datum_list();
  for (int place = 0; place < b->places; place++) {
    smma_datum *row = smma_datum_list();
    for (int value = 0; value < b->values; value++)
      smma_datum_append(row, event_datum(c, b->first + (size_t)(place * b->values + value)));
    smma_datum_append(squares, row);
  }
  return squares;
}

static void add_covered(smma_datum *parts, const smma_covered *c) {
  smma_page_add(parts, "heading", smma_datum_print("%s %s", smma_arch_name(c->instruction), c->instruction->name));
  smma_page_add(parts, "paragraph", smma_datum_print("%llu row%s", (unsigned long long)c->rows, smma_plural(c->rows)));
  smma_page_add(parts, "table", counts_table(c));
  for (int kind = 0, titled = -1; kind < SMMA_EVENT_KINDS; kind++)
    for (int b = 0; b < c->space.blocks; b++) {
      if (c->space.block[b].kind != (smma_event_kind)kind) continue;
      if (titled != kind) smma_page_add(parts, "subheading", smma_datum_text(smma_event_kind_names[kind]));
      titled = kind;
      smma_page_add(parts, "squares", block_squares(c, &c->space.block[b]));
    }
}

smma_datum *smma_coverage_page(const smma_coverage *coverage) {
  smma_datum *parts = smma_datum_list();
  smma_page_add(parts, "title", smma_datum_text("Coverage"));
  smma_page_add(parts, "legend", smma_datum_texts(smma_event_state_names, SMMA_EVENT_STATES));
  for (size_t n = 0; n < coverage->count; n++) add_covered(parts, &coverage->one[n]);
  return parts;
}
