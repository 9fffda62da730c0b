/* A campaign's report: what was compared, with what, and what came out; also the file from which a campaign goes on. */
#ifndef SMMA_CLI_REPORT_H
#define SMMA_CLI_REPORT_H

#include "campaign/campaign.h"
#include "classes/classes.h"
#include "cli/classes.h"

typedef struct {
  const smma_instruction *instruction;
  smma_campaign_result result;
  smma_sample kept;      /* result.kept */
  smma_classes *classes; /* of it; NULL: they were not looked for */
  size_t gone;           /* as in smma_classify_kept */
} smma_report_result;

typedef struct {
  const smma_campaign *campaign;
  smma_report_result *results;
  size_t count;
  bool complete;
  char started[32]; /* UTC */
} smma_report;

/* Nothing known yet. Ends the program without memory. */
void smma_report_start(smma_report *report, const smma_campaign *campaign, const smma_instruction *const *list,
                       size_t count);
void smma_report_free(smma_report *report);

/* {"name", "device", "driver", "toolkit"}. */
json_t *smma_unit_json(const smma_unit *unit);

/* {"softmma", "date", "unit", "against", "seed", "rows", "kind", "complete", "instructions"}; an instruction has
   "kept", the rows that its classes are made from, and "classes" where they were looked for. */
json_t *smma_report_json(const smma_report *report);

/* Whose classes they are. */
smma_class_words smma_report_class_words(const smma_report *report, const smma_report_result *result);

bool smma_report_save(const smma_report *report, const char *path, smma_error *error);

/* Takes what the file knows of the report's instructions. A file that is not there, or empty, knows nothing; one of
   another unit, seed or kind, or with numbers that no campaign counts, is an error. */
bool smma_report_load(smma_report *report, const char *path, smma_error *error);

#endif
