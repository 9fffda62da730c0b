/* What a campaign over many instructions has found: what was compared, with what, and what came out; as data, and as
   the file from which a campaign goes on. Shards and ranks share it in the same form. */
#ifndef SMMA_REPORT_REPORT_H
#define SMMA_REPORT_REPORT_H

#include "campaign/campaign.h"
#include "classes/datum.h"

/* A report's form, its member "softmma-report". A file without this member is of form 1. */
enum { SMMA_REPORT_FORM = 1 };

enum { SMMA_MOST_SHARDS = 1 << 20 };

/* Mismatches are sorted into classes for the first of so many instructions that have any. */
enum { SMMA_MOST_CLASSIFIED = 8 };

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

/* Begins a report that knows nothing yet of these instructions. False with one line without memory; free it in both
   cases. */
bool smma_report_start(smma_report *report, const smma_campaign *campaign, const smma_instruction *const *list,
                       size_t count, smma_error *error);

/* Begins a report of the same campaign and instructions as another one. */
bool smma_report_start_like(smma_report *report, const smma_report *other, smma_error *error);

/* Begins a report of one instruction, or of an architecture's, or with SMMA_ARCH_COUNT of all listed ones, as far as
   both units compute them. False with one line if none is left. */
bool smma_report_choose(smma_report *report, const smma_campaign *campaign, smma_arch_id arch,
                        const smma_instruction *only, smma_error *error);
void smma_report_free(smma_report *report);

/* Makes it the report of shard `index`, from 0, of `count`. */
void smma_report_set_shard(smma_report *report, uint64_t index, uint64_t count);

/* Returns the shard's share of the rows of result number `n`. Instructions of one part each take turns, too. */
smma_share smma_report_share(const smma_report *report, size_t n);

/* ---- Comparing ---- */

typedef struct {
  /* Told behind each batch how many rows of how many are compared; true stops there. */
  bool (*watch)(uint64_t done, uint64_t all, void *context);
  /* Keeps what is known, at the end and meanwhile: so often that it takes a twentieth of the time. NULL: nothing is
     kept. */
  bool (*save)(const smma_report *report, void *context, smma_error *error);
  void *context;
} smma_report_watcher;

/* Compares every instruction from where it stands. `*stopped`: the watcher ended it, or smma_units_stopped. False with
   one line if a unit fails; what is known before is saved in all cases. */
bool smma_report_run(smma_report *report, const smma_report_watcher *watcher, bool *stopped, smma_error *error);

/* Sorts the mismatches of the first instructions that have any into classes. */
bool smma_report_classify(smma_report *report, smma_error *error);

/* Counts rows and mismatches of all instructions, and instructions with rows. */
typedef struct {
  uint64_t rows, mismatches;
  size_t instructions;
  bool is_clean; /* nothing differs, not even when asked again */
} smma_report_totals;

smma_report_totals smma_report_sum(const smma_report *report);
bool smma_report_is_clean(const smma_campaign_result *result);

/* ---- As data ---- */

/* Returns {"softmma", "date", "unit", "against", "seed", "rows", "kind", "complete", "instructions", "softmma-report"}.
   An instruction has "kept", the rows that its classes are made from, and "classes" where they were looked for. A
   shard's report has "shard" before "complete", and all instructions, also those of which it has no row. */
smma_datum *smma_report_datum(const smma_report *report);

/* Whose the classes of a result are. */
smma_class_words smma_report_class_words(const smma_report *report, const smma_report_result *result);

/* Takes what the data know of the report's instructions; `origin` names them in errors. Data of another unit, seed,
   kind or shard, or with numbers that no campaign counts, are an error. */
bool smma_report_resume(smma_report *report, const smma_datum *data, const char *origin, smma_error *error);

/* Does the same without asking whose campaign it is. */
bool smma_report_take(smma_report *report, const smma_datum *data, const char *origin, smma_error *error);

/* Returns a report's file as data; NULL with one line. */
smma_datum *smma_report_parse(const char *path, smma_error *error);

/* Resumes from a file. One that is not there, or empty, knows nothing. */
bool smma_report_load(smma_report *report, const char *path, smma_error *error);
bool smma_report_save(const smma_report *report, const char *path, smma_error *error);

/* Reads {"index", "of", "part"}, the index from 1. */
bool smma_report_read_shard(const smma_datum *data, smma_share *shard);

/* ---- Putting together ---- */

/* Adds what a shard knows of the same instructions. False with one line without memory. */
bool smma_report_add(smma_report *whole, const smma_report *part, smma_error *error);

/* Once everything is known: orders what is kept, so that it is the same whichever row was compared first. */
void smma_report_settle(smma_report *report);

#endif
