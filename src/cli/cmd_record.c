/* softmma vectors record: writes the results of a unit to a vector file. */
#include <errno.h>
#include <string.h>

#include "campaign/record.h"
#include "cli/output.h"
#include "cli/row.h"
#include "cli/target.h"

static bool append_rows(const smma_rows *rows, size_t count, void *list, smma_error *error) {
  (void)error;
  smma_append_rows(list, rows, count);
  return true;
}

static int print_rows(const smma_record_request *q) {
  smma_datum *rows = smma_datum_list();
  smma_vector_header header;
  smma_error error;
  bool good;
  smma_record_header(q, &header);
  good = smma_record(q, append_rows, rows, &error);
  smma_progress_end();
  if (good)
    smma_print_datum(smma_record_datum(&header, rows));
  else
    smma_datum_free(rows);
  return good ? smma_finish_output(SMMA_EXIT_EQUAL) : smma_complain("%s", error.text);
}

/* The recording, and the format of its file. */
typedef struct {
  smma_record_request request;
  smma_vector_format format;
} recording;

static bool write_rows(FILE *stream, const void *content, smma_error *error) {
  const recording *r = content;
  const bool good = smma_record_write(&r->request, stream, r->format, error);
  smma_progress_end();
  return good;
}

/* Opens the file whose test vectors are computed. */
static FILE *open_vectors(smma_record_request *q, const char *path) {
  const bool is_input = smma_is_standard_output(path); /* "-" */
  FILE *stream = is_input ? stdin : fopen(path, "r");
  smma_error error;
  if (!stream) smma_die("%s: %s", path, strerror(errno));
  smma_require(smma_record_from(q, stream, is_input ? "standard input" : path, &error), &error);
  return stream;
}

int smma_command_record(int argc, const char **argv) {
  const char **files, *unit_name = NULL, *gpu = NULL, *kind = NULL, *format_name = NULL, *path = NULL;
  long long rows = 10000, seed = 0;
  smma_choice choice = {.instr = NULL};
  int json = 0, status;
  smma_progress progress;
  recording r = {.request = {.watch = smma_progress_watch, .context = &progress}};
  smma_record_request *q = &r.request;
  smma_unit unit;
  smma_error error;
  struct poptOption options[] = {
      {"unit", 'u', POPT_ARG_STRING, &unit_name, 0,
       "the unit: model, x86, cuda, hip, plugin:FILE, pipe:COMMAND (default: model)", "UNIT"},
      SMMA_ON_OPTION(&gpu, "the target (default: that of FILE)"),
      SMMA_CHOICE_OPTIONS(choice, ""),
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "number of test vectors", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      SMMA_KIND_OPTION(&kind),
      SMMA_VECTOR_FORMAT_OPTION(&format_name,
                                " (default: by the ending of -o: .bin, .hex, .csv, .json or .jsonl, otherwise text)"),
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write; - is standard output", "FILE"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print the test vectors as JSON instead", NULL},
      POPT_TABLEEND};
  files = smma_parse_options(
      argc, argv, options, 0, 1,
      "With FILE, the unit computes the test vectors of this file (- is standard input). Without it, they\n"
      "are those that 'softmma test' runs for the same seed. The header has the device and the date.\n"
      "'softmma verify' checks the results against the model.\n",
      &status);
  if (!files) return status;
  if (*files) smma_require(smma_check_options("a file", "unit on instr in out format output json", &error), &error);
  if (rows < 1) smma_die("--rows: %lld; it takes at least 1", rows);
  if (json && (path || format_name)) smma_die("--json prints the rows as JSON; it takes no --output and --format");
  smma_require(smma_read_kind_and_format(kind, format_name, path, &q->recipe.kind, &r.format, &error) &&
                   (json || smma_is_given(path, "--output", "rows.txt", &error)),
               &error);
  if (!*files && unit_name) gpu = smma_target_of_unit(gpu, unit_name, &choice);
  if (!*files || gpu || choice.instr || choice.in || choice.out)
    smma_require((q->instruction = smma_choose_instruction(gpu, &choice, &error)), &error);
  FILE *const stream = *files ? open_vectors(q, *files) : NULL;
  if (!unit_name) smma_note("SoftMMA's model computes the results; --unit names another unit");
  if (!unit_name) unit_name = "model";
  if (!smma_unit_open(unit_name, &unit, &error)) smma_die("--unit: %s", error.text);
  q->unit = &unit, q->rows = (uint64_t)rows;
  smma_require(smma_read_recipe(kind, seed, &q->recipe, &error), &error);
  if (!smma_record_check(q, &error)) smma_die("--unit: %s", error.text);
  smma_progress_start(&progress, "rows", 1);
  status = json ? print_rows(q) : smma_write_output(path, "--output", write_rows, &r);
  smma_unit_close(&unit);
  smma_vector_close(q->reader);
  if (stream && stream != stdin) fclose(stream);
  return status;
}
