/* The results of a campaign over many instructions: the units and rows compared, and the mismatches. Results can be
   exported as data and stored in a file; a campaign resumes from such a file. Shards and ranks exchange results in the
   same form. */
#ifndef SMMA_REPORT_REPORT_H
#define SMMA_REPORT_REPORT_H

#include "campaign/campaign.h"
#include "classes/datum.h"
#include "host/watch.h"

/* Version of the report form, stored in member "softmma-report". A file without this member has form 1. */
enum { SMMA_REPORT_FORM = 1 };

/* Mismatches are sorted into classes for at most this many instructions, the first that have any. */
enum { SMMA_MOST_CLASSIFIED = 8 };

typedef struct {
  const smma_instruction *instruction;
  smma_campaign_result result;
  smma_sample kept;      /* result.kept */
  smma_classes *classes; /* classes of the mismatches; NULL: not computed */
  size_t agreeing_again; /* as in smma_classify_kept */
} smma_report_result;

typedef struct {
  const smma_campaign *campaign;
  smma_share shard; /* the shard, counted in parts over all instructions; its count is 0 if the report is not sharded */
  smma_report_result *results;
  size_t count;
  bool complete;
  char started[32]; /* UTC */
} smma_report;

/* Begins a report without results for these instructions. Returns false with one error line when memory is short; free
   the report in both cases. */
bool smma_report_start(smma_report *report, const smma_campaign *campaign, const smma_instruction *const *list,
                       size_t count, smma_error *error);

/* Begins a report with the campaign and instructions of another report. */
bool smma_report_start_like(smma_report *report, const smma_report *other, smma_error *error);

/* Begins a report of the instruction `only`. If `only` is NULL, the report has all instructions of the GPU or
   architecture, or of all listed architectures if `gpu` is NULL. Instructions that one of the units does not compute
   are omitted. Returns false with one error line if no instruction remains. */
bool smma_report_choose(smma_report *report, const smma_campaign *campaign, const char *gpu,
                        const smma_instruction *only, smma_error *error);
void smma_report_free(smma_report *report);

/* Makes the report that of one shard: number `index`, from 0, of `count`. */
void smma_report_set_shard(smma_report *report, uint64_t index, uint64_t count);

/* Returns the shard's share of the rows of result number `n`. Instructions that have only one part are distributed over
   the shards in turn. */
smma_share smma_report_share(const smma_report *report, size_t n);

/* ---- Comparing ---- */

typedef struct {
  smma_watcher *watch; /* called after each batch with the number of rows compared */
  /* Saves the results so far, at the end and at intervals such that saving takes about a twentieth of the time. NULL:
     nothing is saved. */
  bool (*save)(const smma_report *report, void *context, smma_error *error);
  void *context;
} smma_report_watcher;

/* Compares every instruction, continuing from its last row. Sets `*stopped` if the watcher or smma_units_stopped ended
   the run. Returns false with one error line if a unit fails; the results so far are saved in all cases. */
bool smma_report_run(smma_report *report, const smma_report_watcher *watcher, bool *stopped, smma_error *error);

/* Sorts mismatches into classes, for the first instructions that have any. Calls `watch` of the watcher, which may be
   NULL, with the number of test vectors that the units have computed for this, and a total of 0. */
bool smma_report_classify(smma_report *report, const smma_report_watcher *watcher, smma_error *error);

/* Totals over all instructions: rows, mismatches, and instructions that have rows. */
typedef struct {
  uint64_t rows, mismatches;
  size_t instructions;
  bool is_clean; /* the units agree on all rows, and no unit returned a different result when it computed a row again */
} smma_report_totals;

smma_report_totals smma_report_sum(const smma_report *report);
bool smma_report_is_clean(const smma_campaign_result *result);

/* ---- As data ---- */

/* Returns {"softmma", "date", "unit", "against", "seed", "rows", "kind", "complete", "instructions", "softmma-report"}.
   An instruction with mismatches has "nan", the number of mismatches between two NaNs (null: not known, because only a
   sample of the mismatches was looked at), "kept", the rows from which its classes are made, and "classes" if they were
   computed. The report of a shard has "shard" before "complete", and lists all instructions, including those without
   rows in this shard. */
smma_datum *smma_report_datum(const smma_report *report);

/* Returns the names and counts that the description of a result's classes needs. */
smma_class_words smma_report_class_words(const smma_report *report, const smma_report_result *result);

/* Adds the results in `data` for the report's instructions; `origin` names the data in error messages. Data of another
   version, unit (also: device, driver, toolkit or contents of its file), seed, kind or shard, or with impossible
   numbers, are an error. */
bool smma_report_resume(smma_report *report, const smma_datum *data, const char *origin, smma_error *error);

/* Like smma_report_resume, without the check that the data belong to the same campaign. */
bool smma_report_take(smma_report *report, const smma_datum *data, const char *origin, smma_error *error);

/* Reads a report's file as data; returns NULL with one error line. */
smma_datum *smma_report_parse(const char *path, smma_error *error);

/* Resumes from a file. If the file is missing or empty, there are no results to resume from. */
bool smma_report_load(smma_report *report, const char *path, smma_error *error);
bool smma_report_save(const smma_report *report, const char *path, smma_error *error);

/* Reads {"index", "of", "part"}, the index from 1. */
bool smma_report_read_shard(const smma_datum *data, smma_share *shard);

/* ---- Merging ---- */

/* Adds a shard's results for the same instructions. Returns false with one error line when memory is short. */
bool smma_report_add(smma_report *whole, const smma_report *part, smma_error *error);

/* Sorts the retained rows once all are known, so that they do not depend on the order of comparison. */
void smma_report_settle(smma_report *report);

#endif
