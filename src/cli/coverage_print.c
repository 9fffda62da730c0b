#include <inttypes.h>

#include "cli/coverage.h"

/* ---- Text ---- */

static void print_counts(const char *name, const size_t count[SMMA_EVENT_STATES], bool searched) {
  printf("  %-16s %7zu %7zu", name, count[SMMA_HIT], count[SMMA_MISSED] + count[SMMA_FOUND]);
  if (searched) printf(" %12zu", count[SMMA_FOUND]);
  printf(" %11zu\n", count[SMMA_IMPOSSIBLE]);
}

static void print_missed(const smma_covered *c, long long most) {
  long long listed = 0, more = 0;
  for (size_t e = 0; e < c->space.events; e++) {
    const smma_event_state state = smma_event_state_of(c, e);
    char text[160];
    if (state != SMMA_MISSED && state != SMMA_FOUND) continue;
    if (listed >= most) {
      more++;
      continue;
    }
    printf("  %s%s\n", smma_event_words(&c->space, e, text, sizeof text),
           state == SMMA_FOUND ? ": rows for it were found"
           : c->tried          ? ": no row for it was found"
                               : "");
    listed++;
  }
  if (more) printf("  ... and %lld more\n", more);
}

static void print_one(const smma_covered *c, long long most) {
  size_t count[SMMA_EVENT_STATES];
  smma_count_states(c, SMMA_EVENT_KINDS, count);
  printf("%s %s: %" PRIu64 " rows, %zu of %zu events that are not impossible\n", smma_arch_name(c->instruction),
         c->instruction->name, c->rows, count[SMMA_HIT], c->space.events - count[SMMA_IMPOSSIBLE]);
  printf("  %-16s %7s %7s", "", "hit", "missed");
  if (c->tried) printf(" %12s", "found by it");
  printf(" %11s\n", "impossible");
  for (int kind = 0; kind < SMMA_EVENT_KINDS; kind++) {
    size_t of_kind[SMMA_EVENT_STATES];
    smma_count_states(c, (smma_event_kind)kind, of_kind);
    if (of_kind[SMMA_HIT] + of_kind[SMMA_MISSED] + of_kind[SMMA_FOUND] + of_kind[SMMA_IMPOSSIBLE])
      print_counts(smma_event_kind_names[kind], of_kind, c->tried);
  }
  if (count[SMMA_MISSED] + count[SMMA_FOUND] == 0) return;
  printf("missed");
  if (c->tried) printf(", and whether a search of %" PRIu64 " rows made it happen", c->tried);
  puts(":");
  print_missed(c, most);
}

void smma_coverage_print(const smma_coverage *coverage, long long most) {
  for (size_t n = 0; n < coverage->count; n++) print_one(&coverage->one[n], most);
}

/* ---- JSON ---- */

static json_t *event_json(const smma_covered *c, size_t e) {
  const smma_event_state state = smma_event_state_of(c, e);
  const char *excluded = smma_event_excluded(&c->space, e);
  char text[160];
  json_t *event =
      json_pack("{s:s, s:s, s:I, s:s}", "kind", smma_event_kind_names[smma_event_at(&c->space, e).block->kind], "event",
                smma_event_words(&c->space, e, text, sizeof text), "hits", (json_int_t)c->hits[e], "state",
                smma_event_state_names[state]);
  if (state == SMMA_IMPOSSIBLE) json_object_set_new(event, "because", json_string(excluded));
  return event;
}

json_t *smma_coverage_json(const smma_coverage *coverage) {
  json_t *all = json_array();
  for (size_t n = 0; n < coverage->count; n++) {
    const smma_covered *c = &coverage->one[n];
    json_t *events = json_array();
    size_t count[SMMA_EVENT_STATES];
    smma_count_states(c, SMMA_EVENT_KINDS, count);
    for (size_t e = 0; e < c->space.events; e++) json_array_append_new(events, event_json(c, e));
    json_array_append_new(
        all,
        json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "arch", smma_json_text(smma_arch_name(c->instruction)),
                  "instruction", c->instruction->name, "rows", (json_int_t)c->rows, "hit", (json_int_t)count[SMMA_HIT],
                  "missed", (json_int_t)(count[SMMA_MISSED] + count[SMMA_FOUND]), "impossible",
                  (json_int_t)count[SMMA_IMPOSSIBLE], "tried", (json_int_t)c->tried, "events", events));
  }
  return all;
}

/* ---- HTML ---- */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\">\n"
    "<title>Coverage</title>\n<style>\n"
    "body{font:14px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\n"
    "table{border-collapse:collapse;margin:.5rem 0 1.5rem}td,th{padding:.1rem .6rem;text-align:right}\n"
    "th:first-child,td:first-child{text-align:left}\n.m td{width:.9rem;height:.9rem;padding:0;border:1px solid "
    "Canvas}\n"
    ".m th{font-weight:400;padding-right:.6rem;text-align:left}\n.h{background:#2a9d5c}.x{background:#d1495b}\n"
    ".f{background:#e8a33d}.i{background:#8886}\n</style>\n";

/* Rows of squares: a place each, its values from left to right; the title of each says what it is. */
static void write_block(FILE *stream, const smma_covered *c, const smma_event_block *b) {
  static const char *const classes[] = {"h", "x", "f", "i"};
  fprintf(stream, "<table class=\"m\">\n");
  for (int place = 0; place < b->places; place++) {
    fprintf(stream, "<tr>");
    for (int value = 0; value < b->values; value++) {
      const size_t e = b->first + (size_t)(place * b->values + value);
      const smma_event_state state = smma_event_state_of(c, e);
      const char *why = smma_event_excluded(&c->space, e);
      char text[160];
      fprintf(stream, "<td class=\"%s\" title=\"%s: %s", classes[state],
              smma_event_words(&c->space, e, text, sizeof text), smma_event_state_names[state]);
      if (state == SMMA_HIT) fprintf(stream, ", %" PRIu64 " times", c->hits[e]);
      if (state == SMMA_IMPOSSIBLE) fprintf(stream, ", %s", why);
      fprintf(stream, "\">");
    }
    fprintf(stream, "\n");
  }
  fprintf(stream, "</table>\n");
}

/* Names of files are the user's. */
static void write_escaped(FILE *stream, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      fputs("&lt;", stream);
    else if (*text == '&')
      fputs("&amp;", stream);
    else
      fputc(*text, stream);
  }
}

static void write_one(FILE *stream, const smma_covered *c) {
  fprintf(stream, "<h2>");
  write_escaped(stream, smma_arch_name(c->instruction));
  fprintf(stream, " ");
  write_escaped(stream, c->instruction->name);
  fprintf(stream, "</h2>\n<p>%" PRIu64 " rows</p>\n<table><tr><th>events<th>hit<th>missed<th>impossible\n", c->rows);
  for (int kind = 0; kind <= SMMA_EVENT_KINDS; kind++) {
    size_t count[SMMA_EVENT_STATES];
    smma_count_states(c, (smma_event_kind)kind, count);
    fprintf(stream, "<tr><td>%s<td>%zu<td>%zu<td>%zu\n",
            kind < SMMA_EVENT_KINDS ? smma_event_kind_names[kind] : "<b>all</b>", count[SMMA_HIT],
            count[SMMA_MISSED] + count[SMMA_FOUND], count[SMMA_IMPOSSIBLE]);
  }
  fprintf(stream, "</table>\n");
  for (int kind = 0; kind < SMMA_EVENT_KINDS; kind++) {
    bool titled = false;
    for (int b = 0; b < c->space.blocks; b++) {
      if (c->space.block[b].kind != (smma_event_kind)kind) continue;
      if (!titled) fprintf(stream, "<h3>%s</h3>\n", smma_event_kind_names[kind]);
      titled = true;
      write_block(stream, c, &c->space.block[b]);
    }
  }
}

void smma_coverage_html(const smma_coverage *coverage, FILE *stream) {
  fprintf(stream,
          "%s<h1>Coverage</h1>\n<p>Each square is an event, <span class=\"h\">hit</span>, <span class=\"x\">missed"
          "</span>, <span class=\"f\">missed, though rows for it were found</span>, or <span class=\"i\">"
          "impossible</span>: point at one to read it.</p>\n",
          head);
  for (size_t n = 0; n < coverage->count; n++) write_one(stream, &coverage->one[n]);
}
