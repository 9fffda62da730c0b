#include <stdlib.h>

#include "cli/merge.h"
#include "cli/output.h"
#include "coverage/coverage.h"

static void merge_coverage(const char **files, const char *path) {
  smma_coverage coverage = {0};
  smma_output output;
  smma_error error;
  size_t count = 0;
  for (; files[count]; count++) {
    if (!smma_is_coverage_counts(files[count]))
      smma_die("%s is no file of coverage, as the first one is", files[count]);
    if (!smma_coverage_add_counts(&coverage, files[count], &error)) smma_die("%s", error.text);
  }
  smma_begin_output(path, "-o", &output);
  if (!smma_coverage_write_counts(&coverage, output.stream) && !ferror(output.stream)) smma_die("out of memory");
  if (smma_end_output(&output, "-o") != SMMA_EXIT_EQUAL) exit(SMMA_EXIT_FAILED);
  smma_coverage_free(&coverage);
  printf("%s: coverage of %zu files\n", path, count);
}

static void merge_reports(const char **files, const char *path) {
  smma_read_report **list;
  smma_report *whole;
  smma_error error;
  uint64_t rows = 0, mismatches = 0;
  size_t count = 0;
  while (files[count]) count++;
  list = calloc(count, sizeof *list);
  if (!list) smma_die("out of memory");
  for (size_t f = 0; f < count; f++)
    if (!(list[f] = smma_read_shard_report(files[f], &error))) smma_die("%s", error.text);
  if (!smma_merge_reports(list, files, count, &error)) smma_die("%s", error.text);
  whole = &list[0]->report;
  if (!smma_report_save(whole, path, &error)) smma_die("-o: %s", error.text);
  for (size_t n = 0; n < whole->count; n++)
    rows += whole->results[n].result.rows, mismatches += whole->results[n].result.mismatches;
  printf("%s: %zu shards, instructions=%zu rows=%llu mismatches=%llu\n", path, count, whole->count,
         (unsigned long long)rows, (unsigned long long)mismatches);
  for (size_t f = 0; f < count; f++) smma_read_report_free(list[f]);
  free(list);
}

int smma_command_merge(int argc, const char **argv) {
  const char *path = NULL, **files;
  struct poptOption options[] = {{"output", 'o', POPT_ARG_STRING, &path, 0, "where the whole goes", "FILE"},
                                 POPT_TABLEEND};
  files =
      smma_parse_options(argc, argv, options, 1, 1 << 20,
                         "FILE: the reports of all shards of one campaign, as --resume or --json write them, in any\n"
                         "order. The whole is what --resume FILE of one run without shards would hold; the same\n"
                         "campaign with it prints everything. Or counts that coverage -o kept, which are added.\n"
                         "Example: softmma merge part1.json part2.json -o whole.json\n");
  smma_require_file(smma_require_option(path, "-o", "whole.json"), "-o", "the summary");
  smma_require_writable(path, "-o");
  if (smma_is_coverage_counts(files[0]))
    merge_coverage(files, path);
  else
    merge_reports(files, path);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
