/* softmma vectors merge: merges reports of a campaign's shards, or counts of coverage runs. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "coverage/coverage.h"
#include "report/merge.h"

/* Adds up coverage counts. Prints the sum as JSON if `path` is NULL; otherwise writes the file and prints a line. */
static int merge_coverage(const char **files, const char *path) {
  smma_coverage coverage = {0};
  smma_error error;
  size_t count = 0;
  int status;
  for (; files[count]; count++) {
    if (!smma_is_coverage_counts(files[count]))
      smma_die("%s is no file of coverage, as the first one is", files[count]);
    smma_require(smma_coverage_add_counts(&coverage, files[count], &error), &error);
  }
  status = smma_write_datum(path ? path : "-", "-o", smma_coverage_counts(&coverage));
  smma_coverage_free(&coverage);
  if (path && status == SMMA_EXIT_EQUAL) printf("%s: coverage of %zu files\n", path, count);
  return status;
}

/* Merges campaign reports. Prints the result as JSON if `path` is NULL; otherwise writes the file and prints a line. */
static int merge_reports(const char **files, const char *path) {
  smma_read_report **list;
  smma_report_totals totals;
  smma_error error;
  size_t count = 0;
  while (files[count]) count++;
  list = calloc(count, sizeof *list);
  if (!list) smma_die("out of memory");
  for (size_t f = 0; f < count; f++) {
    list[f] = smma_read_shard_report(NULL, files[f], &error);
    smma_require(list[f], &error);
  }
  smma_require(smma_merge_reports(list, files, count, &error), &error);
  totals = smma_report_sum(&list[0]->report);
  if (path && !smma_report_save(&list[0]->report, path, &error)) smma_die("-o: %s", error.text);
  if (path)
    printf("%s: %zu shards, instructions=%zu rows=%llu mismatches=%llu\n", path, count, list[0]->report.count,
           (unsigned long long)totals.rows, (unsigned long long)totals.mismatches);
  else
    smma_print_datum(smma_report_datum(&list[0]->report));
  for (size_t f = 0; f < count; f++) smma_read_report_free(list[f]);
  free(list);
  return SMMA_EXIT_EQUAL;
}

int smma_command_merge(int argc, const char **argv) {
  const char *path = NULL, **files;
  int json = 0, status;
  smma_error error;
  struct poptOption options[] = {
      {"output", 'o', POPT_ARG_STRING, &path, 0, "the file to write the merged report to", "FILE"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print the merged report as JSON instead", NULL},
      POPT_TABLEEND};
  files = smma_parse_options(
      argc, argv, options, 1, 1 << 20,
      "FILE: the reports of all shards of one campaign, in any order, as --resume or --json write them. The\n"
      "merged report equals the --resume file of a run without shards; the same campaign with --resume FILE\n"
      "then prints it in full. FILE may also be counts that 'softmma coverage -o' wrote, which are added.\n",
      &status);
  if (!files) return status;
  if (json && path) smma_die("-o and --json: the whole is written to a file or printed; give one of them");
  smma_require(json || (smma_is_given(path, "-o", "whole.json", &error) &&
                        smma_check_file(path, "-o", "the summary", &error) && smma_check_writable(path, "-o", &error)),
               &error);
  return smma_finish_output((smma_is_coverage_counts(files[0]) ? merge_coverage : merge_reports)(files, path));
}
