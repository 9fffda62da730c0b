/* Units by name: a model, an instruction of this CPU, a recorded file, a plug-in, a child process. */
#ifndef SMMA_UNIT_UNIT_H
#define SMMA_UNIT_UNIT_H

#include "core/generated.h"
#include "datum/datum.h"
#include "host/error.h"
#include "rows/rows.h"
#include "softmma/unit.h"

typedef struct {
  char name[256]; /* the name with which the unit was opened */
  const smma_unit_methods *methods;
  void *state;
  smma_unit_description description;
  char crc32c[16]; /* checksum, in hexadecimal, of the custom unit or the rows in the unit's file; otherwise empty */
} smma_unit;

typedef enum { SMMA_NO_ARGUMENTS, SMMA_OPTIONAL_ARGUMENTS, SMMA_REQUIRED_ARGUMENTS } smma_unit_arguments;

/* A kind of unit. smma_unit_kinds lists all kinds, in the order of `softmma units`. */
typedef struct {
  const char *name;
  smma_unit_arguments takes;
  /* arguments: their form, empty if the kind takes none; summary: one line for `softmma units` */
  const char *arguments, *summary;
  const smma_unit_methods *methods;
} smma_unit_kind;

extern const smma_unit_kind smma_unit_kinds[];
extern const size_t smma_unit_kind_count;

/* Reports whether the text is KIND or KIND:ARGUMENTS of a kind of unit. */
bool smma_unit_is_kind(const char *text);

/* Writes the name of the unit that a file is, "pipe:PATH" for a program and "plugin:PATH" for a shared library. Returns
   false for other files, for the name of a kind, and for a path with characters that a shell changes. */
bool smma_unit_of_file(const char *text, char *name, size_t size);

/* Reports whether a unit is a program or a plug-in, which computes what it wants whatever instruction it is called
   for. */
bool smma_unit_is_program(const char *text);

/* Opens a unit and describes it in `unit`; `name` is "KIND", "KIND:ARGUMENTS", a file of smma_unit_of_file,
   or the file of a custom unit, which ends with ".json". */
bool smma_unit_open(const char *name, smma_unit *unit, smma_error *error);
void smma_unit_close(smma_unit *unit);

/* Returns {"name", "device", "driver", "toolkit"}, and "crc32c" unless that is empty. */
smma_datum *smma_unit_datum(const smma_unit *unit);

/* Reads the name, description and crc32c of such a record; returns false if it is not one. */
bool smma_unit_read(const smma_datum *record, smma_unit *unit);

/* Returns what differs first between two units: "name", "device", "driver", "toolkit" or "file"; NULL: nothing. */
const char *smma_unit_changed(const smma_unit *x, const smma_unit *y);

/* Returns the instruction that the file of a custom unit describes; NULL for other kinds of units. */
const smma_instruction *smma_unit_custom_instruction(const smma_unit *unit);

/* Reports whether the unit computes the instruction; if not, `why` is one line with the reason. */
bool smma_unit_computes(smma_unit *unit, const smma_instruction *instruction, smma_error *why);

/* Reports whether the unit computes arbitrary test vectors of the instruction, which a recording does not; if not,
   `why` is one line with the reason. */
bool smma_unit_answers(smma_unit *unit, const smma_instruction *instruction, smma_error *why);

/* Computes d of every test vector of the batch. Results with bits beyond d's format are an error. */
bool smma_unit_run(smma_unit *unit, const smma_instruction *instruction, const smma_batch *batch, smma_error *error);

/* Computes d of `count` test vectors from `first` on, into `d`, or into the vectors if `d` is NULL. */
bool smma_unit_ask(smma_unit *unit, const smma_rows *rows, size_t first, size_t count, void *d, smma_error *error);

/* Reports whether the unit generates test vectors itself, as models on a device do. */
bool smma_unit_generates(const smma_unit *unit);

/* Generates the first `count` test vectors of a selection, and computes d of each. The unit must satisfy
   smma_unit_generates. */
bool smma_unit_generate(const smma_unit *unit, const smma_row_selection *selection, size_t count, smma_rows *rows,
                        smma_error *error);

/* Returns how many test vectors can be compared at a time without leaving the device, if both units are models on
   one device; otherwise 0. */
size_t smma_units_compare_at_once(const smma_unit *x, const smma_unit *y);

/* The number of test vectors for which two units have different results (smma_same_result), and the index of the first
   of these vectors. */
typedef struct {
  size_t rows, first;
} smma_rows_difference;

/* Compares the first `count` test vectors of a selection. smma_units_compare_at_once must not be 0. */
bool smma_units_compare(const smma_unit *x, const smma_unit *y, const smma_instruction *instruction,
                        const smma_row_selection *selection, size_t count, smma_rows_difference *found,
                        smma_error *error);

/* Checks that vectors, results and differences are the same as on this CPU. Call it before smma_units_compare,
   because drivers and their compilers may have errors. */
bool smma_units_check_compare(const smma_unit *x, const smma_unit *y, const smma_instruction *instruction,
                              const smma_row_selection *selection, size_t count, smma_error *error);

/* Reports whether the unit is a recording. A recording has results only for its own test vectors. */
bool smma_unit_is_recording(const smma_unit *unit);

/* After smma_units_stop_when, every smma_unit_run, including one in progress, fails within a moment after `stopped`
   returns true, for example because a signal handler has set a flag. NULL, the initial value: never. smma_units_stopped
   calls `stopped`. */
void smma_units_stop_when(bool (*stopped)(void));
bool smma_units_stopped(void);

/* The methods of each kind. */
extern const smma_unit_methods smma_unit_model, smma_unit_custom, smma_unit_x86, smma_unit_cuda, smma_unit_hip,
    smma_unit_file, smma_unit_plugin, smma_unit_pipe;

#endif
