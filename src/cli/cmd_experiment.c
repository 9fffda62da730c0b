/* softmma experiment: numerical experiments, each a CSV file, a picture and a summary. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cluster/ranks.h"
#include "experiment/datum.h"
#include "experiment/plot.h"
#include "experiment/run.h"
#include "io/count.h"

typedef struct {
  char *directory;
  const char **assignments;
  long long seed;
  uint64_t shard, shards; /* if shards is 0, all cells are computed */
  int small, no_plot, json;
} experiment_options;

/* ---- List and help ---- */

static const smma_experiment *require_experiment(const char *name) {
  smma_error error;
  const smma_experiment *e = smma_experiment_require(name, &error);
  if (!e) smma_die("%s (see 'softmma experiment')", error.text);
  return e;
}

static int list_experiments(bool json) {
  if (json)
    smma_print_datum(smma_experiments_datum());
  else
    for (size_t i = 0; i < smma_experiment_count; i++)
      printf("%-14s %s\n", smma_experiments[i]->name, smma_experiments[i]->title);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Returns what --help prints after the options: the parameters of the experiment that the command line names. */
static const char *details(int argc, const char **argv) {
  static char *text;
  const smma_experiment *e = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) smma_die("out of memory");
  for (int i = 1; i < argc && !e; i++) e = smma_experiment_find(argv[i]);
  if (e) {
    fprintf(out, "%s: %s\n", e->name, e->title);
    smma_experiment_print_source(e, out);
    fputs("Parameters, their values and those with --small:\n", out);
    for (const smma_experiment_parameter *p = e->parameters; p->name; p++)
      fprintf(out, "  %s=%s (%s)\n      %s\n", p->name, p->value, p->small, p->meaning);
  } else {
    fputs(
        "Without NAME, lists the experiments. 'softmma experiment NAME --help' lists its parameters.\n"
        "To continue an interrupted run, give the same command again.\n",
        out);
  }
  fclose(out);
  return text;
}

/* ---- Files ---- */

/* Makes the folder of -o and its parent folders, if they do not exist. */
static void make_directory(const char *name) {
  char *path = strdup(name);
  smma_error error;
  smma_require(smma_check_file(name, "-o", "the summary", &error), &error);
  if (!*name) smma_die("-o: the name of the folder is empty");
  if (!path) smma_die("out of memory");
  for (char *end = path; end;) {
    end = strchr(end + 1, '/');
    if (end) *end = '\0';
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
      smma_die("-o: %s: cannot make the folder: %s", path, strerror(errno));
    if (end) *end = '/';
  }
  free(path);
}

/* Returns DIRECTORY/NAME.ENDING. */
static char *file_name(const experiment_options *o, const smma_experiment *e, const char *ending) {
  size_t size = strlen(o->directory) + strlen(e->name) + strlen(ending) + 3;
  char *name = malloc(size);
  if (!name) smma_die("out of memory");
  snprintf(name, size, "%s/%s.%s", o->directory, e->name, ending);
  return name;
}

static bool write_csv(FILE *out, const void *run, smma_error *error) {
  (void)error;
  smma_experiment_print_csv(run, out);
  return true;
}

static bool write_text(FILE *out, const void *run, smma_error *error) {
  (void)error;
  smma_experiment_print_head(run, out);
  smma_experiment_print_summary(run, out);
  return true;
}

static bool write_svg(FILE *script, const void *run, smma_error *error) {
  (void)error;
  smma_plot_script(run, "svg", script);
  return true;
}

static bool write_png(FILE *script, const void *run, smma_error *error) {
  (void)error;
  smma_plot_script(run, "pngcairo", script);
  return true;
}

/* Draws a picture. Returns false after printing the reason if that fails. */
static bool draw(const smma_experiment_run *run, smma_output_writer *write, const char *path) {
  smma_error error;
  return smma_draw_file(&smma_gnuplot, write, run, path, &error) || (smma_complain("%s: %s", path, error.text), false);
}

/* Draws the pictures; sets `*drawn` to false if there are none. Returns false after printing the reason if drawing
   fails. */
static bool draw_both(const smma_experiment_run *run, const char *svg, const char *png, bool *drawn) {
  smma_error error;
  *drawn = smma_program_is_there(&smma_gnuplot, &error);
  if (!*drawn) smma_note("no pictures: %s", error.text);
  return !*drawn || (draw(run, write_svg, svg) && draw(run, write_png, png));
}

/* ---- Running ---- */

/* Removes partial results. Call it when the CSV and the text file are written: until then they allow to continue. */
static void remove_parts(const char *part, const glob_t *shards) {
  unlink(part);
  for (size_t n = 0; n < shards->gl_pathc; n++) unlink(shards->gl_pathv[n]);
}

static int finish(const experiment_options *o, const smma_experiment_run *run, const char *csv, const char *part,
                  const glob_t *shards) {
  char *text = file_name(o, run->experiment, "txt"), *svg = file_name(o, run->experiment, "svg"),
       *png = file_name(o, run->experiment, "png");
  bool drawn = !o->no_plot, done;
  if (smma_write_output(csv, "-o", write_csv, run) != SMMA_EXIT_EQUAL ||
      smma_write_output(text, "-o", write_text, run) != SMMA_EXIT_EQUAL)
    exit(SMMA_EXIT_FAILED);
  remove_parts(part, shards);
  done = o->no_plot || draw_both(run, svg, png, &drawn);
  if (done) smma_note("written: %s, .txt%s", csv, drawn ? ", .svg, .png" : "");
  if (o->json)
    smma_print_datum(smma_experiment_datum(run));
  else
    smma_experiment_print_summary(run, stdout);
  free(text);
  free(svg);
  free(png);
  return smma_finish_output(done ? SMMA_EXIT_EQUAL : SMMA_EXIT_FAILED);
}

/* Returns the name of the file for partial results: NAME.csv.part, or NAME.csv.shard-2-of-4 for a shard. */
static char *part_name(const experiment_options *o, const smma_experiment *e) {
  char ending[80] = "csv.part";
  if (o->shards)
    snprintf(ending, sizeof ending, "csv.shard-%llu-of-%llu", (unsigned long long)o->shard + 1,
             (unsigned long long)o->shards);
  return file_name(o, e, ending);
}

/* Finds the results of shards of the file `csv`, unless this run computes a shard itself. */
static void find_shards(const experiment_options *o, const char *csv, glob_t *found) {
  static const char ending[] = ".shard-*-of-*";
  char *pattern = malloc(2 * strlen(csv) + sizeof ending), *end = pattern;
  if (!pattern) smma_die("out of memory");
  for (; *csv; *end++ = *csv++)
    if (strchr("*?[\\", *csv)) *end++ = '\\'; /* the character itself, and no pattern */
  memcpy(end, ending, sizeof ending);
  *found = (glob_t){0};
  if (!o->shards && glob(pattern, 0, NULL, found) != 0) found->gl_pathc = 0;
  free(pattern);
}

static int run_experiment(const experiment_options *o, const smma_experiment *e) {
  smma_experiment_run run;
  smma_error error;
  smma_progress progress;
  char *csv = file_name(o, e, "csv"), *part = part_name(o, e);
  smma_experiment_state state = {.part = part, .shard = (size_t)o->shard, .shards = (size_t)o->shards};
  glob_t shards;
  bool computed, stopped = false;
  int status = SMMA_EXIT_EQUAL;
  smma_experiment_start(&run, e, o->small);
  run.seed = (uint64_t)o->seed;
  for (const char **a = o->assignments; a && *a; a++)
    if (!smma_experiment_set(&run, *a, &error)) smma_die("--set: %s", error.text);
  make_directory(o->directory);
  smma_require(smma_check_writable(csv, "-o", &error), &error);
  find_shards(o, csv, &shards);
  state.more = (const char *const *)shards.gl_pathv, state.count = shards.gl_pathc;
  smma_wait_for_interruption(); /* an interruption takes effect after the current cells */
  smma_progress_start(&progress, NULL, 1);
  computed = smma_experiment_compute(&run, 0, &state, smma_progress_watch, &progress, &stopped, &error);
  smma_progress_end();
  if (!computed)
    status = smma_complain("%s", error.text);
  else if (stopped)
    status = smma_rank() ? SMMA_EXIT_FAILED : smma_complain("interrupted; the same command goes on from %s", part);
  else if (!o->shards)
    status = finish(o, &run, csv, part, &shards);
  else if (smma_ranks() == 1)
    printf("%s: the shard is complete; 'softmma experiment %s' with the same options but --shard takes it\n", part,
           e->name);
  smma_experiment_end(&run);
  globfree(&shards);
  free(csv);
  free(part);
  return status;
}

/* Runs the experiment in ranks: every rank computes a shard into the shared folder, then rank 0 collects the shards. */
static int run_in_ranks(const experiment_options *o, const smma_experiment *e) {
  experiment_options own = *o;
  int status;
  own.shard = smma_rank(), own.shards = smma_ranks();
  status = run_experiment(&own, e);
  if (status != SMMA_EXIT_EQUAL) return status;
  smma_ranks_wait();
  return smma_rank() ? SMMA_EXIT_EQUAL : run_experiment(o, e);
}

int smma_command_experiment(int argc, const char **argv) {
  experiment_options o = {.directory = (char *)"."};
  const char **rest, *shard = NULL;
  smma_error error;
  int status, lists = 0;
  struct poptOption options[] = {
      {"set", 0, POPT_ARG_ARGV, &o.assignments, 0, "the value of a parameter; repeat the option for each parameter",
       "NAME=VALUE"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &o.seed, 0, "seed of the random numbers", "S"},
      {"small", 0, POPT_ARG_NONE, &o.small, 0, "small sizes that take seconds, as in the tests", NULL},
      {"output", 'o', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &o.directory, 0,
       "the folder to write NAME.csv, NAME.txt, NAME.svg and NAME.png to", "DIRECTORY"},
      {"shard", 0, POPT_ARG_STRING, &shard, 0,
       "only part I of N of the work, saved in the folder; the same command without --shard collects the parts", "I/N"},
      {"no-plot", 0, POPT_ARG_NONE, &o.no_plot, 0, "draw no pictures", NULL},
      {"list", 0, POPT_ARG_NONE, &lists, 0, "list the experiments, as without NAME", NULL},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print the list of experiments, or the data, as JSON", NULL},
      POPT_TABLEEND};
  rest = smma_parse_options(argc, argv, options, 0, 1, details(argc, argv), &status);
  if (!rest) return status;
  if (lists && *rest) smma_die("--list: it lists all experiments; leave out '%s'", *rest);
  if (!*rest) smma_require(smma_check_options("the list of experiments", "list json", &error), &error);
  smma_require(!shard || smma_read_shard(shard, &o.shard, &o.shards, &error), &error);
  if (!*rest) return smma_rank() ? SMMA_EXIT_EQUAL : list_experiments(o.json);
  return (smma_ranks() > 1 ? run_in_ranks : run_experiment)(&o, require_experiment(*rest));
}
