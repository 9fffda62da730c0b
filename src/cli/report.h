/* A campaign's report: what was compared, with what, and what came out; also the file from which a campaign goes on. */
#ifndef SMMA_CLI_REPORT_H
#define SMMA_CLI_REPORT_H

#include "campaign/campaign.h"
#include "classes/classes.h"
#include "cli/classes.h"
#include "cli/shard.h"

typedef struct {
  const smma_instruction *instruction;
  smma_campaign_result result;
  smma_sample kept;      /* result.kept */
  smma_classes *classes; /* of it; NULL: they were not looked for */
  size_t gone;           /* as in smma_classify_kept */
} smma_report_result;

typedef struct {
  const smma_campaign *campaign;
  smma_share shard; /* of all parts of all instructions; count 0: the whole */
  smma_report_result *results;
  size_t count;
  bool complete;
  char started[32]; /* UTC */
} smma_report;

/* Nothing known yet. Ends the program without memory. */
void smma_report_start(smma_report *report, const smma_campaign *campaign, const smma_instruction *const *list,
                       size_t count);
void smma_report_free(smma_report *report);

/* The shard's share of the rows of result number `n`: those with one part each take turns, too. */
smma_share smma_report_share(const smma_report *report, size_t n);

/* {"name", "device", "driver", "toolkit"}. */
json_t *smma_unit_json(const smma_unit *unit);

/* {"softmma", "date", "unit", "against", "seed", "rows", "kind", "complete", "instructions"}; an instruction has
   "kept", the rows that its classes are made from, and "classes" where they were looked for. A shard's has "shard"
   before "complete", and all instructions, also those of which it has no row. */
json_t *smma_report_json(const smma_report *report);

/* Whose classes they are. */
smma_class_words smma_report_class_words(const smma_report *report, const smma_report_result *result);

bool smma_report_save(const smma_report *report, const char *path, smma_error *error);

/* Takes what the file knows of the report's instructions. A file that is not there, or empty, knows nothing; one of
   another unit, seed, kind or shard, or with numbers that no campaign counts, is an error. */
bool smma_report_load(smma_report *report, const char *path, smma_error *error);

/* A report's file as JSON; NULL with one line. */
json_t *smma_report_parse(const char *path, smma_error *error);

/* The same of a file that is read, but for whose campaign it is. */
bool smma_report_take(smma_report *report, const json_t *file, const char *path, smma_error *error);

/* Adds what a shard knows of the same instructions. False without memory. */
bool smma_report_add(smma_report *whole, const smma_report *part);

/* When everything is known: what is kept, the same whichever row was compared first. */
void smma_report_settle(smma_report *report);

/* {"index", "of", "part"}, the index from 1. */
bool smma_report_read_shard(const json_t *object, smma_share *shard);

bool smma_report_read_count(const json_t *object, const char *key, uint64_t *count);

#endif
