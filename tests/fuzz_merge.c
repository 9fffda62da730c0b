/* Reads any bytes as a shard's report. Expects an error line, or a report that is saved and read back unchanged.
   Merging it with other reports must give an error that names the missing part, or all test vectors. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/merge.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* Reads the report of a file in memory; returns NULL with an error line. */
static smma_read_report *read_bytes(const void *bytes, size_t size) {
  const int descriptor = memfd_create("report", 0);
  smma_error error = {.text = ""};
  smma_read_report *report;
  char path[64];
  if (descriptor < 0 || write(descriptor, bytes, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  report = smma_read_shard_report(NULL, path, &error);
  if (!report && !error.text[0]) abort();
  close(descriptor);
  return report;
}

static char *text_of(const smma_read_report *report) {
  smma_datum *data = smma_report_datum(&report->report);
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream || !smma_datum_write(data, stream, 1) || fclose(stream) != 0) abort();
  smma_datum_free(data);
  return text;
}

static uint64_t rows_of(const smma_read_report *report) {
  uint64_t rows = 0;
  for (size_t n = 0; n < report->report.count; n++) rows += report->report.results[n].result.rows;
  return rows;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  smma_read_report *both[2] = {read_bytes(bytes, size), NULL};
  const char *const names[] = {"first", "second"};
  smma_error error = {.text = ""};
  uint64_t rows;
  char *first, *second;
  if (!both[0]) return 0;
  first = text_of(both[0]);
  both[1] = read_bytes(first, strlen(first));
  if (!both[1]) abort();
  second = text_of(both[1]);
  if (strcmp(first, second) != 0) abort();
  if (smma_merge_reports(both, names, 2, &error) || !error.text[0]) abort(); /* merging a shard with itself must fail */
  rows = rows_of(both[0]);
  error.text[0] = 0;
  if (smma_merge_reports(both, names, 1, &error) ? rows_of(both[0]) != rows : !error.text[0]) abort();
  free(first);
  free(second);
  smma_read_report_free(both[0]);
  smma_read_report_free(both[1]);
  return 0;
}
