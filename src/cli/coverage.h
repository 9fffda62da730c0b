/* Coverage of runs: how often each event of an instruction happened; kept in files, merged, reported. */
#ifndef SMMA_CLI_COVERAGE_H
#define SMMA_CLI_COVERAGE_H

#include "cli/cli.h"
#include "coverage/cover.h"
#include "host/error.h"

/* One instruction, or custom unit. */
typedef struct {
  const smma_instruction *instruction;
  smma_event_space space;
  uint64_t *hits, rows;
  uint64_t tried; /* rows of a search for what is missing; 0: none was made */
  bool *found;    /* events that it made happen; NULL */
} smma_covered;

typedef struct {
  smma_covered *one;
  size_t count;
} smma_coverage;

/* The instruction's, which is added if it is not there. False with one line where its events are not known. */
bool smma_coverage_of(smma_coverage *coverage, const smma_instruction *instruction, smma_covered **covered,
                      smma_error *error);

void smma_coverage_free(smma_coverage *coverage);

smma_event_state smma_event_state_of(const smma_covered *covered, size_t event);

/* How many events of a kind, or of all with SMMA_EVENT_KINDS, are in each state. */
void smma_count_states(const smma_covered *covered, smma_event_kind kind, size_t count[SMMA_EVENT_STATES]);

/* Files: "softmma-coverage" as JSON. Adding one ends in one line, and changes nothing, where it is none, or was made by
   another rule. */
bool smma_coverage_is_file(const char *path);
bool smma_coverage_add_file(smma_coverage *coverage, const char *path, smma_error *error);
void smma_coverage_write(const smma_coverage *coverage, FILE *stream);

/* Reports; `most` events that were missed are listed of each instruction. */
void smma_coverage_print(const smma_coverage *coverage, long long most);
json_t *smma_coverage_json(const smma_coverage *coverage);
void smma_coverage_html(const smma_coverage *coverage, FILE *stream);

#endif
