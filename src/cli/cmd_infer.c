/* softmma infer: finds a model of a black-box unit from its results. */
#include <unistd.h>

#include "cli/output.h"
#include "cli/target.h"
#include "infer/report.h"
#include "unit/recording.h"

typedef struct {
  const char *model, *proof, *next, *page;
  int json;
} outputs;

/* ---- Files ---- */

static void require_files(const outputs *o) {
  const char *const path[] = {o->model, o->proof, o->next, o->page};
  static const char *const option[] = {"--output", "--proof", "--next", "--page"};
  smma_error error;
  for (int n = 0; n < 4; n++)
    smma_require(!path[n] || (smma_check_file(path[n], option[n], "the report", &error) &&
                              smma_check_writable(path[n], option[n], &error)),
                 &error);
  if (o->proof && !o->model) smma_die("--proof: its rows are of the model's file; give -o, too");
}

static int write_model(const char *path, const smma_inference *found) {
  const smma_instruction *unit = smma_inferred_unit(found, "inferred");
  int status;
  if (!unit) smma_die("out of memory");
  status = smma_write_unit(path, "--output", unit);
  smma_custom_release(unit);
  return status;
}

/* The arguments of smma_write_inference_rows. */
typedef struct {
  const char *model;
  const smma_infer_request *request;
  const smma_inference *found;
  bool undecided;
} proof_rows;

static bool write_rows(FILE *stream, const void *content, smma_error *error) {
  const proof_rows *p = content;
  return smma_write_inference_rows(stream, p->model, p->request, p->found, p->undecided) || ferror(stream) ||
         smma_no_memory(error);
}

static int write_page(const char *path, const smma_infer_request *request, const smma_inference *found) {
  smma_datum *page;
  smma_error error;
  if (!smma_inference_page(request, found, &page, &error)) smma_die("--page: %s", error.text);
  return smma_write_page(path, "--page", page);
}

/* Writes the files of the options. The best model is written even if it does not reproduce all results, which the
   report states. */
static int write_files(const outputs *o, const smma_infer_request *request, const smma_inference *found) {
  int status = SMMA_EXIT_EQUAL;
  if (o->page) status = write_page(o->page, request, found);
  if (!smma_inference_has_model(found)) return status;
  if (o->model && status == SMMA_EXIT_EQUAL) status = write_model(o->model, found);
  if (o->proof && status == SMMA_EXIT_EQUAL)
    status = smma_write_output(o->proof, "--proof", write_rows, &(proof_rows){o->model, request, found, false});
  if (o->next && status == SMMA_EXIT_EQUAL)
    status = smma_write_output(o->next, "--next", write_rows, &(proof_rows){NULL, request, found, true});
  return status;
}

/* ---- The command ---- */

static void tell(const char *line, void *context) {
  (void)context;
  fprintf(stderr, "infer: %s\n", line);
}

int smma_command_infer(int argc, const char **argv) {
  const char *unit_name = NULL, *gpu = NULL, *record = NULL;
  long long fresh = 1000000, neighbours = 50000, budget = SMMA_INFER_BUDGET, most_rows = 0, seed = 0;
  smma_choice choice = {.instr = NULL};
  outputs o = {NULL, NULL, NULL, NULL, 0};
  static smma_inference found;
  smma_infer_request request = {0};
  smma_datum *datum;
  smma_unit unit;
  smma_error error;
  int status;
  struct poptOption options[] = {
      {"unit", 'u', POPT_ARG_STRING, &unit_name, 0,
       "the black box: cuda, hip, x86, plugin:FILE, pipe:COMMAND, file:ROWS, model (default: model)", "UNIT"},
      SMMA_ON_OPTION(&gpu, "the target whose formats and K the test vectors have"),
      SMMA_CHOICE_OPTIONS(choice, ""),
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print as JSON", NULL},
      SMMA_OPTION_GROUP("Files:"),
      {"output", 'o', POPT_ARG_STRING, &o.model, 0, "write the model, as a custom unit", "MODEL.json"},
      {"proof", 0, POPT_ARG_STRING, &o.proof, 0,
       "write the test vectors that rule out other parameter values, for verify", "FILE"},
      {"next", 0, POPT_ARG_STRING, &o.next, 0, "for a recording: write the test vectors to record next", "FILE"},
      {"page", 0, POPT_ARG_STRING, &o.page, 0, "write the report as an HTML page", "FILE.html"},
      {"record", 0, POPT_ARG_STRING, &record, 0,
       "save the unit's results in this file; if the file exists, continue from it", "FILE"},
      SMMA_OPTION_GROUP("Search:"),
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &fresh, 0,
       "number of fresh test vectors, of another seed, for a final check", "N"},
      {"search", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &neighbours, 0,
       "search at most this many test vectors for one that rules out a neighbouring value, a rival or an instruction",
       "N"},
      {"budget", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &budget, 0,
       "end without a model once candidate models have computed this many test vectors and none reproduces all "
       "results; "
       "not a limit of the unit's rows, which is --most-rows",
       "N"},
      {"most-rows", 0, POPT_ARG_LONGLONG, &most_rows, 0,
       "begin no new stage once the unit has computed this many test vectors (default: no limit)", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "Uses only the unit's formats, K and results. Finds a custom unit that computes the same bits, and\n"
          "test vectors that rule out the neighbouring values of its parameters. Exit status 0: found. 1: no\n"
          "model reproduces all results, or all except NaN encodings, or the unit is not a function. 2: the\n"
          "search failed, or was interrupted; then it prints the best model so far. Bits of NaN are compared;\n"
          "any two NaN are equal if the instruction's rule leaves its NaN open ('softmma show').\n",
          &status))
    return status;
  if (fresh < 0) smma_die("--rows: %lld is negative", fresh);
  if (neighbours < 1) smma_die("--search: %lld; it takes at least 1", neighbours);
  if (budget < 1) smma_die("--budget: %lld; it takes at least 1", budget);
  if (most_rows < 0) smma_die("--most-rows: %lld is negative", most_rows);
  if (!gpu && !choice.instr && unit_name && strncmp(unit_name, "custom:", strlen("custom:")) == 0) gpu = unit_name;
  if (!choice.instr) gpu = smma_target_of_unit(gpu, unit_name, &choice);
  smma_require((request.instruction = smma_choose_instruction(gpu, &choice, &error)), &error);
  require_files(&o);
  const bool examines_model = !unit_name;
  if (examines_model) unit_name = "model";
  if (!smma_unit_open(unit_name, &unit, &error)) smma_die("--unit: %s", error.text);
  if (!smma_unit_computes(&unit, request.instruction, &error)) smma_die("--unit: %s", error.text);
  if (o.next && !smma_unit_is_recording(&unit))
    smma_die("--next: %s computes any test vector; --next is for recordings", unit_name);
  if (record && smma_unit_is_recording(&unit)) smma_die("--record: %s is a recording already", unit_name);
  if (most_rows && smma_unit_is_recording(&unit)) smma_die("--most-rows: %s has its rows already", unit_name);
  request.unit = &unit;
  request.record = record;
  request.seed = (uint64_t)seed;
  request.fresh = (uint64_t)fresh;
  request.neighbours = (uint64_t)neighbours;
  request.budget = (uint64_t)budget;
  request.most_rows = (uint64_t)most_rows;
  request.tell = isatty(STDERR_FILENO) && !smma_is_quiet ? tell : NULL;
  smma_wait_for_interruption(); /* the report has the best model so far */
  smma_require(smma_infer(&request, &found, &error), &error);
  datum = smma_inference_datum(&request, &found);
  if (!smma_datum_is_complete(datum)) smma_die("out of memory");
  status = write_files(&o, &request, &found);
  if (!o.json && examines_model) printf("SoftMMA's own model is the black box; --unit names another\n");
  if (!o.json) smma_print_inference(stdout, &request, &found, datum);
  if (o.json)
    smma_print_datum(datum);
  else
    smma_datum_free(datum);
  if (status == SMMA_EXIT_EQUAL && found.outcome != SMMA_INFERRED)
    status = found.outcome == SMMA_INFER_STOPPED ? SMMA_EXIT_FAILED : SMMA_EXIT_DIFFERENT;
  smma_free_inference(&found);
  smma_unit_close(&unit);
  return smma_finish_output(status);
}
