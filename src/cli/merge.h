/* Reports of shards, read without their campaigns, and put together. */
#ifndef SMMA_CLI_MERGE_H
#define SMMA_CLI_MERGE_H

#include "cli/report.h"

/* A report and its campaign, as a file tells: the units are names, which cannot be asked. */
typedef struct {
  smma_unit unit, against;
  smma_campaign campaign;
  smma_report report;
} smma_read_report;

/* One of a shard, by this version. To be freed, also its NULL; NULL with one line. */
smma_read_report *smma_read_shard_report(const char *path, smma_error *error);
void smma_read_report_free(smma_read_report *report);

/* All shards of one campaign, complete, each once: their whole, which is the first one's report afterwards. */
bool smma_merge_reports(smma_read_report *const *list, const char *const *path, size_t count, smma_error *error);

#endif
