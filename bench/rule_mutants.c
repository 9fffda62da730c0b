/* Measures how many faults of rules the test vectors of each generator detect, and how soon. Takes one instruction for
   each rule of the catalogue. The faults (rule_mutants.h) are parameters changed by one step, operands misread at one
   k, terms lost at one distance, and wrong carries and roundings. Prints tables for docs/coverage.md, and lists the
   mutants that no vector detects.

     rule_mutants [-n ROWS] [-s SEED] [-f FIRST] [-r RULES] [-m OF_EACH] [-t TRIES] [-c FILE]

   Takes RULES rules from FIRST on (default: all), and at most OF_EACH mutants of each class and rule; parameters have
   all their mutants. TRIES is the number of vectors that the search of --cover tries. FILE receives the curve, one line
   for each power of two. */
#include "rule_mutants.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/rows.h"
#include "equal/equal.h"
#include "rows/generate.h"

enum { MOST_RULES = 128, MOST_POWERS = 24, EQUAL_ROWS = 1 << 14, CHECK_ROWS = 2048 };

static struct {
  size_t rows, first, rules, of_each;
  uint64_t seed, tries;
  const char *curve;
} asked = {.rows = 1 << 16, .rules = MOST_RULES, .of_each = 3, .seed = 0, .tries = 1 << 18};

/* ---- Generators ---- */

typedef struct {
  const char *name;
  int kinds; /* the first `kinds` kinds of vectors in turn; 0: only the kind `one` */
  smma_row_kind one;
  enum { OF_KINDS, OF_COVER, OF_CAMPAIGN } of; /* OF_COVER: the vectors of --cover, followed by similar ones */
} generator;

static const generator generators[] = {
    {"random", 0, SMMA_ROWS_RANDOM, OF_KINDS},
    {"normal", 0, SMMA_ROWS_NORMAL, OF_KINDS},
    {"edge", 0, SMMA_ROWS_EDGE, OF_KINDS},
    {"zeros", 0, SMMA_ROWS_ZEROS, OF_KINDS},
    {"tiny", 0, SMMA_ROWS_TINY, OF_KINDS},
    {"cancellation", 0, SMMA_ROWS_CANCELLATION, OF_KINDS},
    {"ill", 0, SMMA_ROWS_ILL, OF_KINDS},
    {"network", 0, SMMA_ROWS_NETWORK, OF_KINDS},
    {"schryer", 0, SMMA_ROWS_SCHRYER, OF_KINDS},
    {"aimed", 0, SMMA_ROWS_AIMED, OF_KINDS},
    {"first eight in turn", SMMA_ROWS_IN_TURN, SMMA_ROWS_RANDOM, OF_KINDS},
    {"all ten in turn", SMMA_ROWS_KINDS, SMMA_ROWS_RANDOM, OF_KINDS},
    {"--cover", 0, SMMA_ROWS_RANDOM, OF_COVER},
    {"campaign", 0, SMMA_ROWS_RANDOM, OF_CAMPAIGN},
};
enum { GENERATORS = sizeof generators / sizeof generators[0] };

/* Fills `rows` with the vectors of --cover, followed by similar vectors. */
static void make_cover(const smma_cover *cover, smma_rows *rows) {
  const size_t covered = cover->count < asked.rows ? cover->count : asked.rows;
  if (covered) smma_rows_copy(rows, 0, &cover->rows, 0, covered);
  for (size_t n = covered; cover->count && n < asked.rows; n++) {
    smma_row row;
    smma_cover_row(cover, asked.seed, n, &row);
    smma_rows_put(rows, n, &row);
  }
}

static void make_campaign(smma_rows *rows) {
  const smma_campaign_recipe best = smma_campaign_best(asked.seed);
  smma_campaign_rows numbered = {0};
  if (!smma_campaign_rows_of(&best, rows->instruction, &numbered)) exit(2);
  smma_campaign_rows_fill(&numbered, 0, asked.rows, rows);
  smma_campaign_rows_free(&numbered);
}

static void make(const generator *g, const smma_cover *cover, smma_rows *rows) {
  const smma_batch all = smma_rows_batch(rows, 0, asked.rows, NULL);
  smma_generate_rows(rows, asked.seed, 0, asked.rows, g->kinds, g->one);
  if (g->of == OF_COVER) make_cover(cover, rows);
  if (g->of == OF_CAMPAIGN) make_campaign(rows);
  smma_dot_rows(rows->instruction, &all, 0);
}

/* ---- What is known of mutants ---- */

typedef struct {
  smma_mutant_class of;
  size_t killed_by[GENERATORS]; /* number of vectors that it took to detect the mutant; 0: no vector detected it */
  bool equal;                   /* proved */
} fate;

static struct {
  fate *list;
  size_t count, capacity, rules, mutants_of[SMMA_MUTANT_CLASSES], equal;
} known;

static fate *fates_of(size_t count) {
  if (known.count + count > known.capacity) {
    known.capacity = 2 * known.capacity + count;
    known.list = realloc(known.list, known.capacity * sizeof *known.list);
    if (!known.list) exit(2);
  }
  memset(known.list + known.count, 0, count * sizeof *known.list);
  known.count += count;
  return known.list + known.count - count;
}

/* Reports whether two results count as the same. As in the proofs of `equal`, all NaN are the same if the payloads of
   one of the two units are not known. */
static bool same(const smma_mutants *of, const smma_mutant *m, uint64_t d, uint64_t other) {
  return smma_same_result(&of->operation, d, other) || (m->made && smma_is_same_result(m->made, d, other));
}

/* Returns the number, from 1, of the first vector that detects the mutant; 0 if none of the `count` vectors does. */
static size_t killer(const smma_mutants *of, const smma_mutant *m, const smma_rows *rows, size_t count) {
  for (size_t n = 0; n < count; n++) {
    smma_row row;
    smma_rows_get(rows, n, &row);
    if (!same(of, m, row.d, smma_mutant_row(of, m, &row))) return n + 1;
  }
  return 0;
}

static void survive(const smma_mutants *of, const smma_mutant *m, fate *f) {
  char words[256];
  smma_equality equality = {.answer = SMMA_CANNOT_TELL};
  smma_error error;
  for (int g = 0; g < GENERATORS; g++)
    if (f->killed_by[g]) return;
  if (m->made && !f->equal && smma_find_equality(of->instruction, m->made, EQUAL_ROWS, asked.seed, &equality, &error))
    f->equal = equality.answer == SMMA_PROVED;
  printf("%s %s: %s: %s\n", smma_arch_name(of->instruction), of->instruction->name,
         smma_mutant_words(of, m, words, sizeof words),
         f->equal                          ? "the same function, proved"
         : equality.answer == SMMA_REFUTED ? "equal's search alone finds a row"
         : m->made                         ? "no row, nor one of equal's search"
                                           : "no row");
}

static void try_mutants(const smma_mutants *of, const smma_cover *cover) {
  fate *fates = fates_of(of->count);
  smma_rows rows;
  if (!smma_rows_allocate(of->instruction, asked.rows, &rows)) exit(2);
  for (size_t m = 0; m < of->count; m++) {
    int multiple;
    fates[m].of = of->list[m].of;
    fates[m].equal =
        of->list[m].made && smma_prove_equal(of->instruction, of->list[m].made, &multiple) && multiple == 1;
  }
  for (int g = 0; g < GENERATORS; g++) {
    make(&generators[g], cover, &rows);
#pragma omp parallel for schedule(dynamic)
    for (size_t m = 0; m < of->count; m++) {
      /* For mutants that are proved equal, a few vectors check the proof. */
      const bool few = fates[m].equal && CHECK_ROWS < asked.rows;
      fates[m].killed_by[g] = killer(of, &of->list[m], &rows, few ? CHECK_ROWS : asked.rows);
    }
  }
  smma_rows_free(&rows);
  for (size_t m = 0; m < of->count; m++) {
    for (int g = 0; g < GENERATORS; g++)
      if (fates[m].equal && fates[m].killed_by[g]) {
        char words[256];
        fprintf(stderr, "%s: %s: proved equal, and row %zu of %s tells it apart\n", of->instruction->name,
                smma_mutant_words(of, &of->list[m], words, sizeof words), fates[m].killed_by[g], generators[g].name);
        exit(1);
      }
    survive(of, &of->list[m], &fates[m]);
  }
}

/* ---- Rules ---- */

static bool same_rule(const smma_rule *x, const smma_rule *y) {
  if (x->algorithm != y->algorithm || x->nan != y->nan) return false;
  if (x->algorithm == SMMA_COMPOSITION) return memcmp(x, y, sizeof *x) == 0;
  for (const smma_key *key = NULL; (key = smma_next_key(x->algorithm, key));)
    if (key->of_rule && smma_key_of_rule(x, key) != smma_key_of_rule(y, key)) return false;
  return true;
}

/* Lists the first instruction of each rule, and returns their number. */
static size_t instructions_of_rules(const smma_instruction **list) {
  size_t count = 0;
  for (int a = 0; a < SMMA_ARCH_COUNT; a++)
    for (size_t n = 0; n < smma_architectures[a].table->count; n++) {
      const smma_instruction *i = &smma_architectures[a].table->row[n];
      bool there = false;
      for (size_t r = 0; r < count && !there; r++) there = same_rule(&list[r]->rule->rule, &i->rule->rule);
      if (!there && count < MOST_RULES) list[count++] = i;
    }
  return count;
}

static void try_rule(const smma_instruction *i) {
  smma_mutants of;
  smma_cover cover = {.count = 0};
  if (!smma_mutants_make(i, asked.of_each, &of)) exit(2);
  if (of.has_events && !smma_cover_find(&of.space, i, asked.seed, asked.tries, NULL, NULL, &cover)) exit(2);
  if (!of.has_events) smma_rows_allocate(i, 1, &cover.rows);
  try_mutants(&of, &cover);
  smma_cover_free(&cover);
  smma_mutants_free(&of);
  known.rules++;
  fflush(stdout);
}

/* ---- Tables ---- */

static size_t count_killed(int g, int of, size_t rows) {
  size_t killed = 0;
  for (size_t m = 0; m < known.count; m++) {
    const fate *f = &known.list[m];
    killed += (of < 0 || (int)f->of == of) && f->killed_by[g] && f->killed_by[g] <= rows;
  }
  return killed;
}

static bool killed_by_any(const fate *f) {
  for (int g = 0; g < GENERATORS; g++)
    if (f->killed_by[g]) return true;
  return false;
}

static void print_by_rows(void) {
  printf("\n| rows of |");
  for (size_t n = 16; n <= asked.rows; n *= 8) printf(" %zu |", n);
  printf("\n|---|");
  for (size_t n = 16; n <= asked.rows; n *= 8) printf("---|");
  for (int g = 0; g < GENERATORS; g++) {
    printf("\n| %s |", generators[g].name);
    for (size_t n = 16; n <= asked.rows; n *= 8) printf(" %zu |", count_killed(g, -1, n));
  }
  putchar('\n');
}

static void print_by_class(void) {
  size_t can[SMMA_MUTANT_CLASSES] = {0}, equal[SMMA_MUTANT_CLASSES] = {0}, all[SMMA_MUTANT_CLASSES] = {0};
  for (size_t m = 0; m < known.count; m++) {
    const fate *f = &known.list[m];
    all[f->of]++, can[f->of] += killed_by_any(f), equal[f->of] += f->equal;
  }
  printf("\n| of %zu rows |", asked.rows);
  for (int c = 0; c < SMMA_MUTANT_CLASSES; c++) printf(" %s |", smma_mutant_class_names[c]);
  printf("\n|---|---|---|---|---|---|");
  for (int g = 0; g < GENERATORS; g++) {
    printf("\n| %s |", generators[g].name);
    for (int c = 0; c < SMMA_MUTANT_CLASSES; c++) printf(" %zu |", count_killed(g, c, asked.rows));
  }
  printf("\n| any of these |");
  for (int c = 0; c < SMMA_MUTANT_CLASSES; c++) printf(" %zu |", can[c]);
  printf("\n| proved to be the same function |");
  for (int c = 0; c < SMMA_MUTANT_CLASSES; c++) printf(" %zu |", equal[c]);
  printf("\n| mutants |");
  for (int c = 0; c < SMMA_MUTANT_CLASSES; c++) printf(" %zu |", all[c]);
  printf("\n\nrules=%zu mutants=%zu\n", known.rules, known.count);
}

static void write_curve(void) {
  FILE *out = fopen(asked.curve, "w");
  if (!out) exit(2);
  fprintf(out, "rows");
  for (int g = 0; g < GENERATORS; g++) fprintf(out, "\t%s", generators[g].name);
  for (size_t n = 1; n <= asked.rows; n *= 2) {
    fprintf(out, "\n%zu", n);
    for (int g = 0; g < GENERATORS; g++)
      fprintf(out, "\t%.2f", 100.0 * (double)count_killed(g, -1, n) / (double)known.count);
  }
  fputc('\n', out);
  if (fclose(out)) exit(2);
}

int main(int argc, char **argv) {
  const smma_instruction *list[MOST_RULES];
  const size_t rules = instructions_of_rules(list);
  for (int option; (option = getopt(argc, argv, "n:s:f:r:m:t:c:")) != -1;) {
    const unsigned long long number = optarg && option != 'c' ? strtoull(optarg, NULL, 10) : 0;
    switch (option) {
      case 'n': asked.rows = number; break;
      case 's': asked.seed = number; break;
      case 'f': asked.first = number; break;
      case 'r': asked.rules = number; break;
      case 'm': asked.of_each = number; break;
      case 't': asked.tries = number; break;
      case 'c': asked.curve = optarg; break;
      default: return 2;
    }
  }
  for (size_t r = asked.first; r < rules && r - asked.first < asked.rules; r++) {
    fprintf(stderr, "%zu of %zu: %s %s\n", r + 1, rules, smma_arch_name(list[r]), list[r]->name);
    try_rule(list[r]);
  }
  print_by_rows();
  print_by_class();
  if (asked.curve) write_curve();
  free(known.list);
  return 0;
}
