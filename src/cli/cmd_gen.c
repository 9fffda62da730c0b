/* softmma vectors gen: writes test vectors with the results of the model. */
#include <limits.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/row.h"
#include "cli/target.h"
#include "coverage/gen.h"

static bool write_rows(FILE *stream, const void *content, smma_error *error) {
  const smma_gen_request *request = content;
  smma_progress *progress = request->context;
  smma_gen_result result;
  bool done;
  smma_progress_start(progress, "rows", 1);
  if (!request->covers && isatty(fileno(stream))) progress->enabled = false; /* the terminal shows the test vectors */
  done = smma_gen(request, stream, &result, error);
  smma_progress_end();
  if (done && request->covers && request->rows && request->rows < result.cover)
    smma_note("--rows: %llu test vectors cause fewer events than the %zu below, which are all written",
              (unsigned long long)request->rows, result.cover);
  if (done && request->covers)
    smma_note("%zu rows make %zu of %zu events happen that are not impossible; %llu were tried", result.cover,
              result.events, result.possible, (unsigned long long)result.tries);
  return done;
}

int smma_command_gen(int argc, const char **argv) {
  const char *gpu = NULL, *kind_name = NULL, *format_name = NULL, *path = "-", *tininess = NULL;
  long long rows = LLONG_MIN, seed = 0;
  smma_choice choice = {.instr = NULL};
  int covers = 0, flags = 0, status;
  smma_gen_request request;
  smma_progress progress;
  smma_error error;
  struct poptOption options[] = {
      SMMA_ON_OPTION(&gpu, "the target"),
      SMMA_CHOICE_OPTIONS(choice, ""),
      {"rows", 'n', POPT_ARG_LONGLONG, &rows, 0, "number of test vectors (default: 1000)", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      {"kind", 0, POPT_ARG_STRING, &kind_name, 0,
       "random, normal, edge, zeros, tiny, cancellation, ill, network, schryer or aimed (default: the first six in "
       "turn)",
       "KIND"},
      SMMA_FORMER_KIND(&kind_name),
      {"cover", 0, POPT_ARG_NONE, &covers, 0,
       "the few test vectors that cause all events that coverage counts; with --rows, more like them", NULL},
      SMMA_FLAGS_OPTIONS(&flags, &tininess, "add a column of exception flags, as TestFloat writes them"),
      SMMA_VECTOR_FORMAT_OPTION(&format_name,
                                " (default: by the ending of -o: .bin, .hex, .csv, .json or .jsonl, otherwise text)"),
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write; - is standard output (default: -)", "FILE"},
      POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "Test vector i of a seed is the same on every machine. 'softmma verify' reads what gen writes.\n", &status))
    return status;
  if (rows < 0 && rows != LLONG_MIN) smma_die("--rows: %lld is negative", rows);
  if (covers && kind_name) smma_die("--cover and --kind do not go together; leave one out");
  if (rows < 0) rows = covers ? 0 : 1000;
  request = (smma_gen_request){.rows = (uint64_t)rows,
                               .seed = (uint64_t)seed,
                               .kind = SMMA_ROWS_KINDS,
                               .covers = covers,
                               .flags = flags,
                               .watch = smma_progress_watch,
                               .context = &progress};
  smma_require(smma_read_kind_and_format(kind_name, format_name, path, &request.kind, &request.format, &error) &&
                   smma_read_tininess(flags, tininess, &request.tininess, &error) &&
                   (request.instruction = smma_choose_instruction(gpu, &choice, &error)),
               &error);
  return smma_write_output(path, "--output", write_rows, &request);
}
