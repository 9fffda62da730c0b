/* softmma vectors next: chooses test vectors on which candidate models differ. */
#include "cli/output.h"
#include "cli/row.h"
#include "cli/target.h"
#include "equal/apart.h"
#include "rows/text.h"

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

/* Writes the test vectors, each after a comment with the result of every unit. */
static void write_rows(FILE *stream, const smma_instruction *i, const subjects *s, const smma_apart *apart) {
  const smma_row_layout layout = smma_row_layout_of(i);
  smma_vector_header header;
  smma_vector_header_of(i, &header);
  smma_text_write_header(stream, &header);
  for (size_t r = 0; r < apart->count; r++) {
    smma_row row;
    char hex[24];
    fprintf(stream, "# %d different results:", apart->distinct[r]);
    for (int u = 0; u < s->units; u++)
      fprintf(stream, "%s %s %s", u ? "," : "", s->unit[u].name,
              smma_hex_text(i->d, apart->other[r * (size_t)s->units + (size_t)u], hex));
    fputc('\n', stream);
    smma_rows_get(&apart->rows, r, &row);
    smma_text_write_row(stream, &layout, &row);
  }
}

/* Prints the pairs of units that were not separated, on stderr, because stdout may take the test vectors. */
static void report(const subjects *s, const smma_apart *apart, long long searched) {
  for (int x = 0; x < s->units; x++)
    for (int y = x + 1; y < s->units; y++)
      if (!apart->is_separated[x][y])
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
          "Exit status 0: every two candidates are separated. 1: the search did not separate some of them.\n",
          &status))
    return status;
  if (rows < 1 || rows > MOST_ROWS) smma_die("--rows: %lld; it takes 1 to %d", rows, MOST_ROWS);
  if (searched < 1) smma_die("--search: %lld; it takes at least 1", searched);
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
  if (json) {
    smma_print_datum(smma_apart_datum(&search, &apart));
  } else {
    smma_output output;
    smma_require(smma_begin_output(path, "--output", &output, &error), &error);
    write_rows(output.stream, search.as, &s, &apart);
    status = smma_end_output(&output, "--output");
  }
  if (status == SMMA_EXIT_EQUAL && !apart.all_separated) status = SMMA_EXIT_DIFFERENT;
  smma_free_apart(&apart);
  for (int u = 0; u < s.units; u++) smma_unit_close(&s.unit[u]);
  return smma_finish_output(status);
}
