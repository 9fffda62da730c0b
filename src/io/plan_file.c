#include "io/plan_file.h"

#include "io/file.h"

enum { LARGEST_FILE = 1 << 24 /* enough for a list of a million ranges */ };

smma_plan *smma_plan_load(const char *path, smma_error *error) {
  smma_file_bytes file;
  smma_plan *plan;
  if (!smma_file_load(path, LARGEST_FILE, &file, error)) return NULL;
  plan = smma_plan_parse(path, file.bytes, file.size, error);
  smma_file_release(&file);
  return plan;
}
