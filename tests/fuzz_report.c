/* Reads any bytes as a campaign's report. Expects an error line, or a report that is saved and read back unchanged. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/report.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* A file in memory and its path. */
typedef struct {
  int descriptor;
  char path[64];
} memory_file;

static memory_file make_file(const void *bytes, size_t size) {
  memory_file f = {.descriptor = memfd_create("report", 0)};
  if (f.descriptor < 0 || write(f.descriptor, bytes, size) != (ssize_t)size) abort();
  snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.descriptor);
  return f;
}

/* Returns the contents of a report as text; NULL with an error line if the file is not a report of this campaign. */
static char *load(const smma_campaign *campaign, const smma_instruction *const *list, const memory_file *file) {
  smma_report report;
  smma_error error = {.text = ""};
  char *text = NULL;
  if (!smma_report_start(&report, campaign, list, 2, &error)) abort();
  strcpy(report.started, "now");
  if (smma_report_load(&report, file->path, &error)) {
    smma_datum *data = smma_report_datum(&report);
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (!stream || !smma_datum_write(data, stream, 1) || fclose(stream) != 0) abort();
    smma_datum_free(data);
  } else if (!error.text[0]) {
    abort();
  }
  smma_report_free(&report);
  return text;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  const smma_instruction *const list[] = {
      smma_find("volta", "mma.m8n8k4.f32.f16.f16.f32", NULL),
      smma_find("blackwell", "tcgen05.m128n8k32.block32.f32.e4m3.e2m1.ue8m0", NULL)};
  smma_unit unit;
  smma_error error;
  smma_campaign campaign = {.unit = &unit, .against = &unit, .rows = 1000, .recipe = smma_campaign_best(0)};
  if (!smma_unit_open("model", &unit, &error)) abort();
  memory_file file = make_file(bytes, size);
  char *first = load(&campaign, list, &file);
  close(file.descriptor);
  if (first) {
    file = make_file(first, strlen(first));
    char *second = load(&campaign, list, &file);
    close(file.descriptor);
    if (!second || strcmp(first, second) != 0) abort();
    free(second);
  }
  free(first);
  smma_unit_close(&unit);
  return 0;
}
