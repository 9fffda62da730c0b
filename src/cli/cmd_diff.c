#include <stdlib.h>
#include <string.h>

#include "campaign/campaign.h"
#include "campaign/chain.h"
#include "cli/choose.h"
#include "cli/row.h"
#include "cli/values.h"
#include "probe/probe.h"
#include "rows/check.h"

enum { MOST_SUBJECTS = 16 };

typedef struct {
  char label[256];
  smma_unit *unit;
  const smma_instruction *instruction;
} subject;

/* What two subjects compute of the same rows: those of `as`, the instruction with the greater K. */
typedef struct {
  const subject *x, *y;
  const smma_instruction *as;
  smma_unit chain[2];
} pair;

/* The simplest row of which the results differ. */
typedef struct {
  bool found;
  int terms;
  smma_row row;      /* d: the first one's */
  uint64_t expected; /* the other's */
} example;

typedef struct {
  pair p;
  smma_examination *examination[2];
  example simplest;
  smma_campaign_result normal, all;
} difference;

/* ---- Two subjects ---- */

static void open_pair(const subject *x, const subject *y, pair *p) {
  smma_error error;
  *p = (pair){.x = x, .y = y, .as = x->instruction->k >= y->instruction->k ? x->instruction : y->instruction};
  if (!smma_chain_open(x->unit, x->instruction, p->as, &p->chain[0], &error) ||
      !smma_chain_open(y->unit, y->instruction, p->as, &p->chain[1], &error))
    smma_die("--on: %s and %s cannot be compared: %s", x->label, y->label, error.text);
}

static void close_pair(pair *p) {
  smma_unit_close(&p->chain[0]);
  smma_unit_close(&p->chain[1]);
}

static bool go_on(const smma_campaign_result *result, void *context) {
  (void)result, (void)context;
  return false;
}

/* Rows of one kind, or of all in turn. */
static smma_campaign_result compare_rows(pair *p, uint64_t rows, uint64_t seed, bool normal) {
  const smma_campaign c = {.unit = &p->chain[0],
                           .against = &p->chain[1],
                           .rows = rows,
                           .seed = seed,
                           .one_kind = normal,
                           .kind = SMMA_ROWS_NORMAL};
  smma_campaign_result result = {0};
  smma_error error;
  bool stopped;
  if (!smma_campaign_run(&c, p->as, go_on, NULL, &result, &stopped, &error)) smma_die("%s", error.text);
  return result;
}

static int terms_of(const smma_instruction *i, const smma_row *row) {
  const smma_encoding a = smma_encoding_of(i->a), b = smma_encoding_of(i->b);
  int count = smma_decode(smma_encoding_of(i->c), row->c).kind != SMMA_ZERO;
  for (int k = 0; k < i->k; k++)
    count += smma_decode(a, row->a[k]).kind != SMMA_ZERO && smma_decode(b, row->b[k]).kind != SMMA_ZERO;
  return count;
}

static void offer(example *simplest, const smma_instruction *i, const smma_row *row, uint64_t expected) {
  const int terms = terms_of(i, row);
  if (simplest->found && simplest->terms <= terms) return;
  *simplest = (example){.found = true, .terms = terms, .row = *row, .expected = expected};
}

/* What shows a feature of one is a row worth asking the other. */
static void try_witness(difference *d, const smma_row *witness) {
  const smma_operation o = smma_operation_of(d->p.as);
  smma_subject s[2] = {{.unit = &d->p.chain[0], .instruction = d->p.as},
                       {.unit = &d->p.chain[1], .instruction = d->p.as}};
  smma_row row[2] = {*witness, *witness};
  smma_error error;
  uint64_t expected;
  if (!smma_ask_subject(&s[0], &row[0], 1) || !smma_ask_subject(&s[1], &row[1], 1)) return;
  if (smma_same_result(&o, row[1].d, row[0].d)) return;
  expected = row[1].d;
  if (!smma_minimise(&d->p.chain[0], &d->p.chain[1], d->p.as, &row[0], &expected, &error)) smma_die("%s", error.text);
  offer(&d->simplest, d->p.as, &row[0], expected);
}

static bool told_apart(const difference *d, int probe) {
  const smma_finding *x = &d->examination[0]->findings[probe], *y = &d->examination[1]->findings[probe];
  return *x->value && *y->value && strcmp(x->value, y->value) != 0;
}

static void find_difference(const subject *x, const subject *y, uint64_t rows, uint64_t seed, difference *d) {
  smma_error error;
  *d = (difference){.examination = {NULL}};
  open_pair(x, y, &d->p);
  for (int s = 0; s < 2; s++) {
    d->examination[s] = malloc(sizeof *d->examination[s]);
    if (!d->examination[s]) smma_die("out of memory");
    if (!smma_examine(&d->p.chain[s], d->p.as, d->examination[s], &error)) smma_die("%s", error.text);
  }
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < SMMA_PROBE_COUNT; i++)
      if (d->examination[s]->findings[i].has_witness) try_witness(d, &d->examination[s]->findings[i].witness);
  d->all = compare_rows(&d->p, rows, seed, false);
  d->normal = compare_rows(&d->p, rows, seed, true);
  if (d->all.has_example) offer(&d->simplest, d->p.as, &d->all.example, d->all.expected);
  if (d->normal.has_example) offer(&d->simplest, d->p.as, &d->normal.example, d->normal.expected);
}

static void free_difference(difference *d) {
  free(d->examination[0]);
  free(d->examination[1]);
  close_pair(&d->p);
}

/* ---- Output ---- */

static void print_value(const smma_instruction *i, const char *label, uint64_t d) {
  char hex[24], value[40];
  printf("  %-12s %s  %s\n", label, smma_hex_text(i->d, d, hex), smma_value_text(i->d, d, value));
}

static void print_difference(const difference *d) {
  const pair *p = &d->p;
  for (int s = 0; s < 2; s++) {
    const subject *x = s ? p->y : p->x;
    const int steps = p->as->k / x->instruction->k;
    printf("%s: %s", x->label, x->instruction->name);
    if (steps > 1) printf(", %d in a row", steps);
    putchar('\n');
  }
  if (!d->simplest.found) {
    printf("no difference in %llu rows\n", (unsigned long long)(d->all.rows + d->normal.rows));
    return;
  }
  printf("features\n");
  for (int i = 0; i < SMMA_PROBE_COUNT; i++)
    if (told_apart(d, i))
      printf("  %s: %s | %s\n", smma_probes[i].title, d->examination[0]->findings[i].value,
             d->examination[1]->findings[i].value);
  printf("smallest row found, %d terms\n  ", d->simplest.terms);
  smma_print_dot_command(p->as, &d->simplest.row);
  putchar('\n');
  print_value(p->as, p->x->label, d->simplest.row.d);
  print_value(p->as, p->y->label, d->simplest.expected);
  printf("normal data: %llu of %llu results differ\n", (unsigned long long)d->normal.mismatches,
         (unsigned long long)d->normal.rows);
}

static json_t *difference_json(const difference *d) {
  const pair *p = &d->p;
  json_t *features = json_array(), *object;
  for (int i = 0; i < SMMA_PROBE_COUNT; i++)
    if (told_apart(d, i))
      json_array_append_new(features,
                            json_pack("{s:s, s:s, s:s}", "feature", smma_probes[i].name, "x",
                                      d->examination[0]->findings[i].value, "y", d->examination[1]->findings[i].value));
  object =
      json_pack("{s:[s, s], s:[s, s], s:s, s:b, s:I, s:I, s:I, s:I, s:o}", "on", p->x->label, p->y->label, "instr",
                p->x->instruction->name, p->y->instruction->name, "rows_of", p->as->name, "differ", d->simplest.found,
                "normal_rows", (json_int_t)d->normal.rows, "normal_mismatches", (json_int_t)d->normal.mismatches,
                "rows", (json_int_t)d->all.rows, "mismatches", (json_int_t)d->all.mismatches, "features", features);
  if (!d->simplest.found) return object;
  json_t *row = json_object();
  smma_add_operands(row, p->as, &d->simplest.row);
  json_object_set_new(row, "d",
                      json_pack("[o, o]", smma_hex_array(p->as->d, &d->simplest.row.d, 1),
                                smma_hex_array(p->as->d, &d->simplest.expected, 1)));
  json_object_set_new(object, "example", row);
  return object;
}

/* The share of results that differ on normal data; -1 if no row of any kind differs. */
static double rate_of(const subject *x, const subject *y, uint64_t rows, uint64_t seed) {
  double rate = -1;
  pair p;
  open_pair(x, y, &p);
  const smma_campaign_result all = compare_rows(&p, rows, seed, false), normal = compare_rows(&p, rows, seed, true);
  if (all.mismatches || normal.mismatches) rate = (double)normal.mismatches / (double)normal.rows;
  close_pair(&p);
  return rate;
}

static bool print_matrix(const subject *s, int count, uint64_t rows, uint64_t seed) {
  double rate[MOST_SUBJECTS][MOST_SUBJECTS];
  bool same = true;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) {
      rate[i][j] = rate[j][i] = rate_of(&s[i], &s[j], rows, seed);
      same = same && rate[i][j] < 0;
    }
  for (int i = 0; i < count; i++) printf("%-10s %s\n", s[i].label, s[i].instruction->name);
  printf("\n%-10s", "");
  for (int i = 0; i < count; i++) printf(" %9s", s[i].label);
  for (int i = 0; i < count; i++) {
    printf("\n%-10s", s[i].label);
    for (int j = 0; j < count; j++)
      if (i == j)
        printf(" %9s", "-");
      else if (rate[i][j] < 0)
        printf(" %9s", "=");
      else
        printf(" %8.2f%%", 100 * rate[i][j]);
  }
  printf("\n\nof %llu results on normal data differ; '=': none, of %llu rows of every kind neither\n",
         (unsigned long long)rows, (unsigned long long)rows);
  return same;
}

/* ---- The command ---- */

/* The next of a list; the last one again if there are no more. */
static const char *next_name(const char **list, char name[160]) {
  const size_t length = strcspn(*list, ",");
  if (length >= 160) smma_die("--instr: '%.40s...' is no name", *list);
  memcpy(name, *list, length);
  name[length] = 0;
  if ((*list)[length] == ',') *list += length + 1;
  return name;
}

int smma_command_diff(int argc, const char **argv) {
  const char *unit_name = "model", *against_name = NULL, *gpus = NULL, *names = NULL, *in = NULL, *out = NULL;
  long long rows = 100000, seed = 0;
  int json = 0, count = 0;
  subject s[MOST_SUBJECTS];
  smma_unit unit, against;
  smma_error error;
  bool same;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpus, 0, "two GPUs or architectures, or more for a table", "GPU,GPU"},
      {"instr", 0, POPT_ARG_STRING, &names, 0, "their instructions, or one name for all", "NAME,NAME"},
      {"in", 0, POPT_ARG_STRING, &in, 0, "or the preferred ones with A and B in this format", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &out, 0, "and D in that", "FORMAT"},
      {"unit", 'u', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &unit_name, 0, "the unit of the first GPU", "UNIT"},
      {"against", 0, POPT_ARG_STRING, &against_name, 0, "that of the others; the same without the option", "UNIT"},
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "random rows to compare", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  smma_parse_options(
      argc, argv, options, 0, 0,
      "Whether two units compute the same: first with rows that show a feature of one of them, then with\n"
      "random ones. An instruction with a smaller K goes on with its result. Exit status 1: they differ.\n"
      "Example: softmma diff --on A100,H100 --in f16\n");
  gpus = smma_require_option(gpus, "--on", "A100,H100");
  if (rows < 1) smma_die("--rows: %lld; it takes at least 1", rows);
  if (!smma_unit_open(unit_name, &unit, &error)) smma_die("--unit: %s", error.text);
  if (against_name && !smma_unit_open(against_name, &against, &error)) smma_die("--against: %s", error.text);
  while (*gpus) {
    const size_t length = strcspn(gpus, ",");
    subject *x = &s[count];
    char name[160];
    if (count == MOST_SUBJECTS) smma_die("--on: more than %d GPUs", MOST_SUBJECTS);
    if (length == 0 || length >= sizeof x->label) smma_die("--on: '%.*s' is not the name of a GPU", (int)length, gpus);
    memcpy(x->label, gpus, length);
    x->label[length] = 0;
    x->instruction = smma_choose_one_of_several(x->label, names ? next_name(&names, name) : NULL, in, out);
    x->unit = count > 0 && against_name ? &against : &unit;
    if (!smma_unit_computes(x->unit, x->instruction, &error))
      smma_die("--on: %s does not compute %s: %s", x->unit->name, x->instruction->name, error.text);
    if (smma_unit_is_recording(x->unit)) smma_die("--unit: a recording answers no questions but its own rows");
    count++;
    gpus += length + (gpus[length] == ',');
  }
  if (count < 2) smma_die("--on: two names, with a comma; for example --on A100,H100");
  if (count > 2) {
    if (json) smma_die("--json: of two GPUs, not of a table");
    same = print_matrix(s, count, (uint64_t)rows, (uint64_t)seed);
  } else {
    static difference d;
    find_difference(&s[0], &s[1], (uint64_t)rows, (uint64_t)seed, &d);
    if (json)
      smma_print_json(difference_json(&d));
    else
      print_difference(&d);
    same = !d.simplest.found;
    free_difference(&d);
  }
  smma_unit_close(&unit);
  if (against_name) smma_unit_close(&against);
  return smma_finish_output(same ? SMMA_EXIT_EQUAL : SMMA_EXIT_DIFFERENT);
}
