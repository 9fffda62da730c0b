/* Reports of shards, read without their campaigns, and put together. */
#ifndef SMMA_REPORT_MERGE_H
#define SMMA_REPORT_MERGE_H

#include "report/report.h"

/* A report and its campaign, as data tell: the units are names, which cannot be asked. */
typedef struct {
  smma_unit unit, against;
  smma_campaign campaign;
  smma_report report;
} smma_read_report;

/* Returns the report of a shard, by this version. Its data are `data`, or those of the file `origin` if that is NULL.
   To be freed, also NULL; NULL with one line. */
smma_read_report *smma_read_shard_report(const smma_datum *data, const char *origin, smma_error *error);
void smma_read_report_free(smma_read_report *report);

/* Puts all shards of one campaign together, complete, each once: the first one's report becomes their whole. */
bool smma_merge_reports(smma_read_report *const *list, const char *const *origin, size_t count, smma_error *error);

#endif
