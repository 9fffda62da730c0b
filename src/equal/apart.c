#include "equal/apart.h"

#include <stdlib.h>

#include "equal/witness.h"
#include "host/load.h"
#include "rows/datum.h"
#include "rows/generate.h"
#include "rows/text.h"

/* POOL: number of vectors that every unit computes. PAIRS: greatest number of pairs of units; the pool has room for one
   more vector for each pair. */
enum { POOL = 16384, PAIRS = SMMA_MOST_APART * (SMMA_MOST_APART - 1) / 2 };

typedef struct {
  const smma_apart_search *search;
  smma_operation operation;
  smma_rows pool;
  size_t count;
  uint64_t *result; /* result of unit u for vector r, at r * units + u */
  smma_error *error;
} work;

static bool differ(const work *w, size_t row, int x, int y) {
  const uint64_t *result = w->result + row * (size_t)w->search->units;
  return !smma_same_result(&w->operation, result[x], result[y]);
}

/* Computes d of `count` vectors of the pool, starting at `first`, by every unit. */
static bool ask(work *w, size_t first, size_t count) {
  const smma_apart_search *s = w->search;
  const size_t bytes = smma_bytes_of(s->as->d);
  unsigned char *d = malloc(count * bytes);
  bool good = d || smma_no_memory(w->error);
  for (int u = 0; good && u < s->units; u++) {
    good = smma_unit_ask(s->unit[u], &w->pool, first, count, d, w->error);
    for (size_t i = 0; good && i < count; i++)
      w->result[(first + i) * (size_t)s->units + (size_t)u] = smma_load(bytes, d, i);
  }
  free(d);
  return good;
}

/* Fills the pool: half generated vectors, half directed at sums truncated at 4, 8, ... bits. */
static void fill(work *w) {
  enum { CUTS = 9 };
  smma_rule rule[CUTS];
  smma_generate_rows(&w->pool, w->search->seed, 0, POOL / 2, SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM);
  for (int n = 0; n < CUTS; n++) {
    rule[n] = (smma_rule){.algorithm = SMMA_T_FDPA};
    rule[n].with.t_fdpa.alignment_bits = 4 + 4 * n;
    rule[n].with.t_fdpa.block = w->search->as->k;
  }
  for (size_t i = POOL / 2; i < POOL; i++) {
    const smma_search search = {
        .as = w->search->as, .rule = {&rule[i % CUTS], &rule[i % CUTS]}, .seed = w->search->seed};
    smma_row row = {.d = 0};
    smma_directed_row(&search, i, &row);
    smma_rows_put(&w->pool, i, &row);
  }
  w->count = POOL;
}

static bool is_told_apart_in_pool(const work *w, int x, int y) {
  for (size_t i = 0; i < w->count; i++)
    if (differ(w, i, x, y)) return true;
  return false;
}

/* Searches for a vector that tells a pair apart, if no vector of the pool does, and adds it to the pool. Sets `*found`
   if there is such a vector. */
static bool seek_pair(work *w, int x, int y, bool *found) {
  const smma_apart_search *s = w->search;
  const smma_search search = {.unit = {s->unit[x], s->unit[y]},
                              .as = s->as,
                              .rule = {&s->as->rule->rule, &s->as->rule->rule},
                              .rows = s->rows,
                              .seed = s->seed};
  smma_witness witness;
  *found = is_told_apart_in_pool(w, x, y);
  if (*found) return true;
  if (!smma_find_witness(&search, &witness, w->error)) return false;
  *found = witness.found;
  if (!witness.found) return true;
  smma_rows_put(&w->pool, w->count++, &witness.row);
  return ask(w, w->count - 1, 1);
}

/* ---- Choosing vectors ---- */

static int distinct_of(const work *w, size_t row) {
  int distinct = 0;
  for (int x = 0; x < w->search->units; x++) {
    bool is_new = true;
    for (int y = 0; y < x; y++) is_new = is_new && differ(w, row, y, x);
    distinct += is_new;
  }
  return distinct;
}

static int count_new_pairs(const work *w, const smma_apart *apart, size_t row) {
  int pairs = 0;
  for (int x = 0; x < w->search->units; x++)
    for (int y = x + 1; y < w->search->units; y++) pairs += !apart->is_separated[x][y] && differ(w, row, x, y);
  return pairs;
}

static void take(work *w, smma_apart *apart, size_t row) {
  const size_t units = (size_t)w->search->units, at = apart->count++;
  smma_rows_copy(&apart->rows, at, &w->pool, row, 1);
  for (size_t u = 0; u < units; u++) apart->other[at * units + u] = w->result[row * units + u];
  smma_store(apart->rows.layout.part[SMMA_PART_D].bytes, apart->rows.part[SMMA_PART_D], at, apart->other[at * units]);
  apart->distinct[at] = distinct_of(w, row);
  for (int x = 0; x < w->search->units; x++)
    for (int y = x + 1; y < w->search->units; y++) apart->is_separated[x][y] |= differ(w, row, x, y);
}

/* Chooses vectors one by one: each time the vector that tells the most pairs apart that no chosen vector does. Prefers,
   of several such vectors, the one with the most different results. */
static bool choose(work *w, smma_apart *apart) {
  bool *taken = calloc(w->count + 1, sizeof *taken);
  if (!taken) return smma_no_memory(w->error);
  while (apart->count < w->search->most) {
    size_t best = w->count;
    int most = 0;
    for (size_t i = 0; i < w->count; i++) {
      const int worth = taken[i] ? 0 : count_new_pairs(w, apart, i) * (SMMA_MOST_APART + 1) + distinct_of(w, i);
      if (!taken[i] && distinct_of(w, i) > 1 && worth > most) most = worth, best = i;
    }
    if (best == w->count) break;
    taken[best] = true;
    take(w, apart, best);
  }
  free(taken);
  return true;
}

bool smma_apart_check(smma_unit *unit, const smma_instruction *as, smma_error *error) {
  smma_error why;
  if (smma_unit_is_recording(unit)) return smma_fail(error, "%s knows only its own rows", unit->name);
  return smma_unit_computes(unit, as, &why) || smma_fail(error, "%s: %s", unit->name, why.text);
}

bool smma_find_apart(const smma_apart_search *s, smma_apart *apart, smma_error *error) {
  work w = {.search = s, .operation = smma_operation_of(s->as), .error = error};
  bool good;
  *apart = (smma_apart){.all_separated = true};
  w.result = malloc((POOL + PAIRS) * (size_t)s->units * sizeof *w.result);
  apart->other = malloc(s->most * (size_t)s->units * sizeof *apart->other);
  apart->distinct = malloc(s->most * sizeof *apart->distinct);
  good = (w.result && apart->other && apart->distinct && smma_rows_allocate(s->as, POOL + PAIRS, &w.pool) &&
          smma_rows_allocate(s->as, s->most, &apart->rows)) ||
         smma_no_memory(error);
  if (good) fill(&w);
  good = good && ask(&w, 0, POOL);
  for (int x = 0; good && x < s->units; x++)
    for (int y = x + 1; good && y < s->units; y++) good = seek_pair(&w, x, y, &apart->is_found[x][y]);
  good = good && choose(&w, apart);
  for (int x = 0; x < s->units; x++)
    for (int y = x + 1; y < s->units; y++) apart->all_separated = apart->all_separated && apart->is_separated[x][y];
  smma_rows_free(&w.pool);
  free(w.result);
  return good;
}

void smma_free_apart(smma_apart *apart) {
  smma_rows_free(&apart->rows);
  free(apart->other);
  free(apart->distinct);
  apart->other = NULL;
  apart->distinct = NULL;
}

void smma_apart_write(FILE *stream, const smma_apart_search *s, const smma_apart *apart) {
  const smma_row_layout layout = smma_row_layout_of(s->as);
  smma_vector_header header;
  smma_vector_header_of(s->as, &header);
  smma_text_write_header(stream, &header);
  for (size_t r = 0; r < apart->count; r++) {
    smma_row row;
    char hex[24];
    fprintf(stream, "# %d different results:", apart->distinct[r]);
    for (int u = 0; u < s->units; u++) {
      char name[sizeof s->unit[u]->name];
      memcpy(name, s->unit[u]->name, sizeof name);
      smma_make_printable(name); /* a line end would end the comment */
      fprintf(stream, "%s %s %s", u ? "," : "", name,
              smma_hex_text(s->as->d, apart->other[r * (size_t)s->units + (size_t)u], hex));
    }
    fputc('\n', stream);
    smma_rows_get(&apart->rows, r, &row);
    smma_text_write_row(stream, &layout, &row);
  }
}

smma_datum *smma_apart_datum(const smma_apart_search *s, const smma_apart *apart) {
  smma_datum *d = smma_datum_record(), *units = smma_datum_list(), *rows = smma_datum_list();
  smma_datum *open = smma_datum_list(), *need_more_rows = smma_datum_list();
  for (int u = 0; u < s->units; u++) smma_datum_append(units, smma_datum_text(s->unit[u]->name));
  for (size_t r = 0; r < apart->count; r++) {
    smma_datum *one = smma_datum_record();
    smma_row row;
    smma_rows_get(&apart->rows, r, &row);
    smma_put_operands(one, s->as, &row);
    smma_datum_put(one, "d", smma_encodings_datum(s->as->d, apart->other + r * (size_t)s->units, s->units));
    smma_put_count(one, "different", (uint64_t)apart->distinct[r]);
    smma_datum_append(rows, one);
  }
  for (int x = 0; x < s->units; x++)
    for (int y = x + 1; y < s->units; y++) {
      if (apart->is_separated[x][y]) continue;
      smma_datum_append(open, smma_datum_list_of(2, smma_datum_count(x), smma_datum_count(y)));
      if (apart->is_found[x][y])
        smma_datum_append(need_more_rows, smma_datum_list_of(2, smma_datum_count(x), smma_datum_count(y)));
    }
  smma_put_text(d, "arch", smma_arch_name(s->as));
  smma_put_text(d, "instr", s->as->name);
  smma_datum_put(d, "units", units);
  smma_datum_put(d, "rows", rows);
  smma_datum_put(d, "not_told_apart", open);
  smma_datum_put(d, "need_more_rows", need_more_rows);
  return d;
}
