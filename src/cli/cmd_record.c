#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "campaign/campaign.h"
#include "cli/output.h"
#include "cli/row.h"
#include "unit/recording.h"

enum { BATCH = 65536 };

/* "DEVICE; DRIVER; TOOLKIT; DATE", as far as they are known: where rows come from. */
static void fill_provenance(const smma_unit *u, char *text, size_t size) {
  const char *const parts[] = {*u->description.device ? u->description.device : u->name, u->description.driver,
                               u->description.toolkit};
  const time_t now = time(NULL);
  struct tm utc;
  size_t used = 0;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (*parts[i] && used < size) used += (size_t)snprintf(text + used, size - used, "%s; ", parts[i]);
  if (used < size) strftime(text + used, size - used, "%Y-%m-%d", gmtime_r(&now, &utc));
}

/* Asks the unit for the campaign's rows, batch by batch. */
static bool write_rows(FILE *stream, const smma_campaign *c, const smma_instruction *i, smma_vector_format format,
                       smma_error *error) {
  smma_progress progress;
  smma_vector_header header;
  smma_vector_writer *writer;
  smma_campaign_rows numbered = {0};
  smma_rows rows;
  bool done = smma_rows_allocate(i, BATCH, &rows) && smma_campaign_rows_of(&c->recipe, i, &numbered);
  if (!done) return smma_fail(error, "no memory for %d rows", BATCH);
  smma_vector_header_of(i, &header);
  fill_provenance(c->unit, header.recorded_on, sizeof header.recorded_on);
  writer = smma_vector_create(stream, format, &header, c->rows, error);
  done = writer != NULL;
  smma_progress_start(&progress, "rows", 1);
  for (uint64_t first = 0; done && first < c->rows && !ferror(stream); first += BATCH) {
    const size_t count = c->rows - first < BATCH ? (size_t)(c->rows - first) : BATCH;
    smma_campaign_rows_fill(&numbered, first, count, &rows);
    done = smma_unit_ask(c->unit, &rows, 0, count, NULL, error);
    done = done && smma_vector_write_rows(writer, &rows, count, error);
    smma_progress_show(&progress, first + count, c->rows);
  }
  smma_progress_end();
  done = done && (ferror(stream) || smma_vector_finish(writer, error));
  smma_vector_free(writer);
  smma_campaign_rows_free(&numbered);
  smma_rows_free(&rows);
  return done;
}

static int write_file(const char *path, const smma_campaign *c, const smma_instruction *i, smma_vector_format format) {
  smma_output output;
  smma_error error;
  smma_begin_output(path, "--output", &output);
  if (write_rows(output.stream, c, i, format, &error)) return smma_end_output(&output, "--output");
  smma_drop_output(&output);
  return smma_complain("%s", error.text);
}

int smma_command_record(int argc, const char **argv) {
  const char *unit_name = NULL, *gpu = NULL, *name = NULL, *kind = NULL, *format_name = NULL, *path = NULL;
  long long rows = 10000, seed = 0;
  const smma_instruction *i;
  smma_campaign c = {0};
  smma_vector_format format;
  smma_unit unit;
  smma_error error;
  int status;
  struct poptOption options[] = {
      {"unit", 'u', POPT_ARG_STRING, &unit_name, 0, "the unit: model, x86, cuda, hip, plugin:FILE, pipe:COMMAND",
       "UNIT"},
      {"on", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &name, 0, "the instruction, by name or alias", "NAME"},
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "how many rows", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      SMMA_KIND_OPTION(&kind),
      SMMA_VECTOR_FORMAT_OPTION(&format_name, "; text without it"),
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write; -: standard output", "FILE"},
      POPT_TABLEEND};
  smma_parse_options(
      argc, argv, options, 0, 0,
      "Rows are those of 'softmma campaign' with the same seed. The header says what they were recorded\n"
      "on and when; 'softmma verify' checks them against the model.\n"
      "Example: softmma record --unit x86 --on x86 --instr vdpbf16ps -o vdpbf16ps.txt\n");
  if (rows < 1) smma_die("--rows: %lld; it takes at least 1", rows);
  format = smma_require_vector_format(format_name);
  smma_require_option(unit_name, "--unit", "x86");
  smma_require_option(path, "--output", "rows.txt");
  gpu = smma_require_option(gpu, "--on", "H100");
  i = smma_require_instruction(gpu, name, "--instr");
  if (!smma_unit_open(unit_name, &unit, &error)) smma_die("--unit: %s", error.text);
  if (smma_unit_is_recording(&unit)) smma_die("--unit: %s is a recording already; copy it", unit_name);
  if (!smma_unit_computes(&unit, i, &error)) smma_die("--unit: %s", error.text);
  c.unit = &unit, c.rows = (uint64_t)rows, c.recipe = smma_require_recipe(kind, seed);
  status = write_file(path, &c, i, format);
  smma_unit_close(&unit);
  return status;
}
