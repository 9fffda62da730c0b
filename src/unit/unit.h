/* Units by name: a model, an instruction of this CPU, a recorded file, a plug-in, a child process. */
#ifndef SMMA_UNIT_UNIT_H
#define SMMA_UNIT_UNIT_H

#include "core/generated.h"
#include "datum/datum.h"
#include "io/error.h"
#include "rows/rows.h"
#include "softmma/unit.h"

typedef struct {
  char name[256]; /* as given */
  const smma_unit_methods *methods;
  void *state;
  smma_unit_description description;
} smma_unit;

typedef enum { SMMA_NO_ARGUMENTS, SMMA_OPTIONAL_ARGUMENTS, SMMA_REQUIRED_ARGUMENTS } smma_unit_arguments;

/* The kinds of units, in the order of `softmma units`. */
typedef struct {
  const char *name;
  smma_unit_arguments takes;
  const char *arguments, *summary; /* what the arguments are; empty if there are none */
  const smma_unit_methods *methods;
} smma_unit_kind;

extern const smma_unit_kind smma_unit_kinds[];
extern const size_t smma_unit_kind_count;

/* `name` is "KIND" or "KIND:ARGUMENTS". */
bool smma_unit_open(const char *name, smma_unit *unit, smma_error *error);
void smma_unit_close(smma_unit *unit);

/* Returns {"name", "device", "driver", "toolkit"}. */
smma_datum *smma_unit_datum(const smma_unit *unit);

/* False with one line that says why not. */
bool smma_unit_computes(smma_unit *unit, const smma_instruction *instruction, smma_error *why);

/* Returns whether it computes any rows of the instruction, as a recording does not; if not, one line says why. */
bool smma_unit_answers(smma_unit *unit, const smma_instruction *instruction, smma_error *why);

/* d of every row. Results that a unit leaves wider than the format are an error. */
bool smma_unit_run(smma_unit *unit, const smma_instruction *instruction, const smma_batch *batch, smma_error *error);

/* d of `count` rows from `first` on, into `d`, or into the rows if it is NULL. */
bool smma_unit_ask(smma_unit *unit, const smma_rows *rows, size_t first, size_t count, void *d, smma_error *error);

/* Whether the unit makes generated rows itself: models on a device do. */
bool smma_unit_generates(const smma_unit *unit);

/* The first `count` rows of a selection, and d of each by such a unit. */
bool smma_unit_generate(const smma_unit *unit, const smma_row_selection *selection, size_t count, smma_rows *rows,
                        smma_error *error);

/* Whether both units are models on one device, which can then compare them without the rows leaving it: how many rows
   at a time. 0 where not. */
size_t smma_units_compare_at_once(const smma_unit *x, const smma_unit *y);

/* How many rows' results differ, as smma_same_result has it for the instruction, and which is the first. */
typedef struct {
  size_t rows, first;
} smma_rows_difference;

/* Of the first `count` rows of a selection, by such units. */
bool smma_units_compare(const smma_unit *x, const smma_unit *y, const smma_instruction *instruction,
                        const smma_row_selection *selection, size_t count, smma_rows_difference *found,
                        smma_error *error);

/* That rows, results and differences are the same as on this CPU, which is worth asking before all the others: drivers
   and their compilers are not ours. */
bool smma_units_check_compare(const smma_unit *x, const smma_unit *y, const smma_instruction *instruction,
                              const smma_row_selection *selection, size_t count, smma_error *error);

/* Whether the unit knows only rows of its own: those of a recording. */
bool smma_unit_is_recording(const smma_unit *unit);

/* For a program's signal handlers: from now on every smma_unit_run, also one that has begun, fails within a moment once
   `stopped` returns true. NULL, as at first: they never do. */
void smma_units_stop_when(bool (*stopped)(void));
bool smma_units_stopped(void);

/* The methods of each kind. */
extern const smma_unit_methods smma_unit_model, smma_unit_custom, smma_unit_x86, smma_unit_cuda, smma_unit_hip,
    smma_unit_file, smma_unit_plugin, smma_unit_pipe;

#endif
