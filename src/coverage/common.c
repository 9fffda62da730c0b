#include "coverage/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/key.h"

enum { LAST = 1, GUARD = 2, STICKY = 4, NEGATIVE = 8, SUBNORMAL = 16 };

bool smma_row_events_make(const smma_event_space *space, size_t most, smma_row_events *e) {
  *e = (smma_row_events){.space = space, .words = (space->events + 63) / 64};
  e->bits = calloc(most ? most * e->words : 1, sizeof *e->bits);
  return e->bits != NULL;
}

void smma_row_events_free(smma_row_events *e) {
  free(e->bits);
  e->bits = NULL;
}

static void happened(void *context, size_t event) {
  uint64_t *bits = context;
  bits[event / 64] |= UINT64_C(1) << event % 64;
}

void smma_row_events_add(smma_row_events *e, const smma_row *row) {
  const smma_event_watcher watcher = {happened, e->bits + e->rows++ * e->words};
  smma_watch_row(e->space, row, &watcher);
}

/* ---- Searching for shared events ---- */

static bool takes(const smma_common_event *c, int value) {
  return c->mask ? (value & c->mask) == c->least : value >= c->least && value <= c->greatest;
}

static bool happens(const smma_row_events *e, size_t row, const smma_common_event *c) {
  const smma_event_block *b = &e->space->block[c->block];
  const uint64_t *bits = e->bits + row * e->words;
  const int first = c->place < 0 ? 0 : c->place, last = c->place < 0 ? b->places - 1 : c->place;
  for (int place = first; place <= last; place++)
    for (int value = c->mask ? 0 : c->least; value <= (c->mask ? b->values - 1 : c->greatest); value++) {
      const size_t event = b->first + (size_t)(place * b->values + value);
      if (takes(c, value) && bits[event / 64] >> event % 64 & 1) return true;
    }
  return false;
}

typedef struct {
  const smma_row_events *rows, *others;
  size_t looked; /* number of candidates examined */
  smma_common_event *found;
  size_t count, capacity;
} search;

static void look_at(search *s, smma_common_event c) {
  s->looked++;
  for (size_t r = 0; r < s->rows->rows; r++)
    if (!happens(s->rows, r, &c)) return;
  for (size_t r = 0; r < s->others->rows; r++) c.others += happens(s->others, r, &c);
  if (2 * c.others <= s->others->rows && s->count < s->capacity) s->found[s->count++] = c;
}

/* Examines the candidates of a block at one place, or at any place (-1): each single value, each value of either sign,
   and each range from a value to the greatest. */
static void look_at_place(search *s, int block, int place) {
  static const int masks[] = {GUARD, STICKY, NEGATIVE, SUBNORMAL, GUARD | STICKY, LAST | GUARD | STICKY};
  const smma_event_block *b = &s->rows->space->block[block];
  const bool signs = b->kind == SMMA_EVENT_OPERAND || b->kind == SMMA_EVENT_LOST;
  for (int value = 0; value < b->values; value++) look_at(s, (smma_common_event){block, place, value, value, 0, 0});
  for (int value = 0; signs && value + 1 < b->values; value += 2)
    look_at(s, (smma_common_event){block, place, value, value + 1, 0, 0});
  if (b->kind == SMMA_EVENT_OPERAND) {
    look_at(s, (smma_common_event){block, place, 1, 1, 1, 0});
    look_at(s, (smma_common_event){block, place, SMMA_CLASS_INFINITE, SMMA_CLASS_NAN, 0, 0});
  }
  if (b->kind == SMMA_EVENT_LOST)
    look_at(s, (smma_common_event){block, place, 2 * SMMA_LOST_LESS, b->values - 1, 0, 0});
  for (int value = 2; b->kind == SMMA_EVENT_GAP && value < b->values - 1; value++)
    look_at(s, (smma_common_event){block, place, value, b->values - 1, 0, 0});
  for (int value = 1; b->kind == SMMA_EVENT_SHIFT && value < SMMA_SHIFTS - 2; value++)
    if (value != SMMA_MOST_CARRY)
      look_at(s, (smma_common_event){block, place, value, value < SMMA_MOST_CARRY ? SMMA_MOST_CARRY : SMMA_SHIFTS - 2,
                                     0, 0});
  for (size_t m = 0; b->kind == SMMA_EVENT_ROUND && m < sizeof masks / sizeof masks[0]; m++)
    for (int value = 0; value < b->values; value++)
      if ((value & ~masks[m]) == 0) look_at(s, (smma_common_event){block, place, value, value, masks[m], 0});
}

static int width(const smma_common_event *c) { return c->mask ? 1 : c->greatest - c->least; }

/* Orders candidates: those in the fewest other rows first, and among these the most specific first. */
static int compare(const void *x, const void *y) {
  const smma_common_event *c = x, *d = y;
  if (c->others != d->others) return c->others < d->others ? -1 : 1;
  if ((c->place < 0) != (d->place < 0)) return c->place < 0 ? 1 : -1;
  if (width(c) != width(d)) return width(c) < width(d) ? -1 : 1;
  if (c->block != d->block) return c->block < d->block ? -1 : 1;
  if (c->place != d->place) return c->place < d->place ? -1 : 1;
  if (c->mask != d->mask) return c->mask > d->mask ? -1 : 1;
  return c->least < d->least ? -1 : c->least > d->least;
}

/* Reports whether a candidate is unlikely to be chance: if the rows were drawn at random from the others, the
   probability that they all share any of the examined candidates, each as frequent as `c`, is below 1 in 100. */
static bool is_no_chance(const search *s, const smma_common_event *c) {
  const double rate = ((double)c->others + 1) / ((double)s->others->rows + 1);
  return (double)s->looked * pow(rate, (double)s->rows->rows) < 0.01;
}

static bool is_listed(const search *s, const smma_common_event *common, int count, const smma_common_event *c) {
  const smma_event_block *b = &s->rows->space->block[c->block];
  for (int n = 0; n < count; n++) {
    const smma_event_block *listed = &s->rows->space->block[common[n].block];
    if (listed->kind == b->kind && listed->step == b->step && (b->step >= 0 || listed->owner == b->owner)) return true;
  }
  return false;
}

int smma_common_events(const smma_row_events *rows, const smma_row_events *others, int most,
                       smma_common_event *common) {
  search s = {.rows = rows, .others = others, .capacity = 8 * rows->space->events + 256};
  int count = 0;
  if (rows->rows == 0 || others->rows == 0) return 0;
  s.found = malloc(s.capacity * sizeof *s.found);
  if (!s.found) return 0;
  for (int block = 0; block < rows->space->blocks; block++)
    for (int place = rows->space->block[block].places > 1 ? -1 : 0; place < rows->space->block[block].places; place++)
      look_at_place(&s, block, place);
  qsort(s.found, s.count, sizeof *s.found, compare);
  for (size_t n = 0; n < s.count && count < most; n++)
    if (is_no_chance(&s, &s.found[n]) && !is_listed(&s, common, count, &s.found[n])) common[count++] = s.found[n];
  free(s.found);
  return count;
}

/* ---- Descriptions of events ---- */

static void tell_round(const smma_common_event *c, char *text, size_t size) {
  static const char *const texts[][2] = {{"last bit 0", "last bit 1"},
                                         {"guard 0", "guard 1"},
                                         {"sticky 0", "sticky 1"},
                                         {"positive", "negative"},
                                         {"normal", "subnormal"}};
  const char *comma = "";
  for (int bit = 0; bit < 5; bit++)
    if (c->mask >> bit & 1) {
      smma_append_text(text, size, "%s%s", comma, texts[bit][c->least >> bit & 1]);
      comma = ", ";
    }
}

static void tell_lost(const smma_common_event *c, char *text, size_t size) {
  static const char *const texts[SMMA_LOSTS] = {"nothing", "less than half of the last bit", "half of the last bit",
                                                "more than half of the last bit", "all"};
  if (c->greatest - c->least > 1)
    smma_append_text(text, size, "one loses bits");
  else
    smma_append_text(text, size, "one loses %s", texts[c->least / 2]);
}

static void tell_shift(const smma_common_event *c, char *text, size_t size) {
  if (c->least <= SMMA_MOST_CARRY)
    smma_append_text(text, size, "begins %d or more binades above the greatest term", c->least);
  else
    smma_append_text(text, size, "begins %d or more binades below the greatest term", c->least - SMMA_MOST_CARRY);
}

const char *smma_common_event_words(const smma_event_space *space, const smma_common_event *c, char *text,
                                    size_t size) {
  const smma_event e = {&space->block[c->block], c->place, c->least};
  char one[200];
  *text = 0;
  smma_event_owner_words(space, e, text, size);
  if (*text) smma_append_text(text, size, ": ");
  if (c->mask && e.block->kind == SMMA_EVENT_OPERAND) return smma_append_text(text, size, "negative"), text;
  if (c->mask) return tell_round(c, text, size), text;
  if (c->least < c->greatest) switch (e.block->kind) {
      case SMMA_EVENT_OPERAND:
        if (c->greatest == SMMA_CLASS_NAN)
          smma_append_text(text, size, "infinity or NaN");
        else
          smma_append_text(text, size, "%s or %s", smma_operand_class_texts[c->least],
                           smma_operand_class_texts[c->greatest]);
        return text;
      case SMMA_EVENT_LOST: return tell_lost(c, text, size), text;
      case SMMA_EVENT_SHIFT: return tell_shift(c, text, size), text;
      case SMMA_EVENT_GAP:
        smma_append_text(text, size, "begins %d or more binades below the reference exponent", c->least - 1);
        return text;
      default: break;
    }
  /* One value: its words at the first place, without the words for the owner. */
  smma_event_words(space, e.block->first + (size_t)c->least, one, sizeof one);
  smma_append_text(text, size, "%s", *text && strstr(one, ": ") ? strstr(one, ": ") + 2 : one);
  return text;
}
