/* Reads reports of shards without their campaigns, and merges them. */
#ifndef SMMA_REPORT_MERGE_H
#define SMMA_REPORT_MERGE_H

#include "report/report.h"

/* A report and its campaign, both reconstructed from data: the units are only names and cannot compute. */
typedef struct {
  smma_unit unit, against;
  smma_campaign campaign;
  smma_report report;
} smma_read_report;

/* Reads the report of a shard, written by this version, from `data`, or from the file `origin` if `data` is NULL. The
   caller frees it (NULL is permitted). Returns NULL with one error line. */
smma_read_report *smma_read_shard_report(const smma_datum *data, const char *origin, smma_error *error);
void smma_read_report_free(smma_read_report *report);

/* Merges all shards of one campaign, each complete and present once: the first report becomes the whole. */
bool smma_merge_reports(smma_read_report *const *list, const char *const *origin, size_t count, smma_error *error);

#endif
