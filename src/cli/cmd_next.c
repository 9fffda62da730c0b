/* softmma vectors next: chooses test vectors on which candidate models differ. */
#include "cli/output.h"
#include "cli/target.h"
#include "equal/apart.h"

enum { MOST_ROWS = 10000 };

typedef struct {
  smma_unit unit[SMMA_MOST_APART];
  int units;
} subjects;

static void add_unit(subjects *s, const char *name, const char *option, const smma_instruction *i) {
  smma_unit *u = &s->unit[s->units];
  smma_error error;
  if (s->units == SMMA_MOST_APART) smma_die("%s: at most %d units together", option, SMMA_MOST_APART);
  if (!smma_unit_open(name, u, &error)) smma_die("%s: %s", option, error.text);
  if (!smma_apart_check(u, i, &error)) smma_die("%s: %s", option, error.text);
  s->units++;
}

/* The arguments of smma_apart_write. */
typedef struct {
  const smma_apart_search *search;
  const smma_apart *apart;
} found_rows;

static bool write_rows(FILE *stream, const void *content, smma_error *error) {
  const found_rows *found = content;
  (void)error;
  smma_apart_write(stream, found->search, found->apart);
  return true;
}

/* Prints the pairs of units that were not separated, on stderr, because stdout may take the test vectors. */
static void report(const subjects *s, const smma_apart *apart, long long searched) {
  for (int x = 0; x < s->units; x++)
    for (int y = x + 1; y < s->units; y++)
      if (!apart->is_separated[x][y] && apart->is_found[x][y])
        smma_note("no row written tells %s from %s, but one searched does; give more --rows", s->unit[x].name,
                  s->unit[y].name);
      else if (!apart->is_separated[x][y])
        smma_note("no row of %lld searched tells %s from %s", searched, s->unit[x].name, s->unit[y].name);
}

int smma_command_next(int argc, const char **argv) {
  const char *unit_name = NULL, *gpu = NULL, *path = "-", **against = NULL;
  long long rows = 16, searched = 200000, seed = 0;
  smma_choice choice = {.instr = NULL};
  int json = 0, status;
  static subjects s;
  smma_apart_search search = {.units = 0};
  smma_apart apart;
  smma_error error;
  struct poptOption options[] = {
      {"unit", 'u', POPT_ARG_STRING, &unit_name, 0, "a candidate: model, custom:FILE, plugin:FILE, pipe:COMMAND, ...",
       "UNIT"},
      {"against", 0, POPT_ARG_ARGV, &against, 0, "another candidate; repeat the option for up to 15", "UNIT"},
      SMMA_ON_OPTION(&gpu, "the target whose formats and K the test vectors have"),
      SMMA_CHOICE_OPTIONS(choice, ""),
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "largest number of test vectors to write",
       "N"},
      {"search", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &searched, 0, "test vectors to search for each pair",
       "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      {"output", 'o', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &path, 0, "the file to write; - is standard output",
       "FILE"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print the test vectors as JSON instead", NULL},
      POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "Writes a vector file to be run on the real unit, whose results decide between the candidates. In it,\n"
          "d holds the results of --unit, and the test vector that separates the most candidates comes first.\n"
          "Exit status 0: every two candidates are separated. 1: some are not, because the search found no\n"
          "such test vector, or because --rows is too small for all that it found.\n",
          &status))
    return status;
  if (rows < 1 || rows > MOST_ROWS) smma_die("--rows: %lld; it takes 1 to %d", rows, MOST_ROWS);
  if (searched < 1) smma_die("--search: %lld; it takes at least 1", searched);
  if (json && !smma_is_standard_output(path)) smma_die("--json prints the test vectors as JSON; it takes no --output");
  smma_require(smma_check_ending(path, "--output", ".txt", &error), &error);
  smma_require(smma_is_given(unit_name, "--unit", "model", &error), &error);
  if (!against) smma_die("--against is missing; for example --against custom:unit.json");
  search.as = smma_choose_instruction(gpu, &choice, &error);
  smma_require(search.as, &error);
  add_unit(&s, unit_name, "--unit", search.as);
  for (const char **other = against; *other; other++) add_unit(&s, *other, "--against", search.as);
  for (; search.units < s.units; search.units++) search.unit[search.units] = &s.unit[search.units];
  search.rows = (uint64_t)searched;
  search.seed = (uint64_t)seed;
  search.most = (size_t)rows;
  smma_require((json || smma_is_standard_output(path) || smma_check_writable(path, "--output", &error)) &&
                   smma_find_apart(&search, &apart, &error),
               &error);
  report(&s, &apart, searched);
  if (json)
    smma_print_datum(smma_apart_datum(&search, &apart));
  else
    status = smma_write_output(path, "--output", write_rows, &(found_rows){&search, &apart});
  if (status == SMMA_EXIT_EQUAL && !apart.all_separated) status = SMMA_EXIT_DIFFERENT;
  smma_free_apart(&apart);
  for (int u = 0; u < s.units; u++) smma_unit_close(&s.unit[u]);
  return smma_finish_output(status);
}
