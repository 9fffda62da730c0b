/* A campaign that a group of processes shares: each rank compares a shard, and rank 0 merges the reports. */
#ifndef SMMA_REPORT_RANKS_H
#define SMMA_REPORT_RANKS_H

#include "io/group.h"
#include "report/report.h"

/* Fails on a rank that has another campaign than rank 0 (other units, seed, rows, instructions or `state`, the file to
   resume from, which may be NULL), or whose units have another device, driver, toolkit, file or size of a batch. */
bool smma_report_check_ranks(const smma_report *report, const char *state, const smma_group *group, smma_error *error);

/* Looks in the folder of `state` for the state files of ranks. Fails if they are of another number of ranks, because
   their work would be computed again. Removes unfinished files of ranks that died while they saved. */
bool smma_report_check_states(const char *state, size_t ranks, smma_error *error);

/* Returns the name of a rank's own state file, such as FILE.shard-2-of-4 for rank 1 of 4, or NULL if memory runs out.
   The caller frees it, and removes the file when FILE holds the merged report. */
char *smma_report_state_of(const char *state, size_t rank, size_t ranks);

/* Merges the reports of all ranks into the report of rank 0. */
bool smma_report_gather(smma_report *report, const smma_group *group, smma_error *error);

#endif
