/* Custom units in files. What was loaded stays until the program ends, so that one file is one instruction. */
#ifndef SMMA_IO_CUSTOM_FILE_H
#define SMMA_IO_CUSTOM_FILE_H

#include "host/error.h"
#include "isa/instruction.h"

/* Whether a name that may be a GPU's is a file's: it has a slash, or ends in ".json". */
bool smma_is_custom_file(const char *name);

/* The unit that a file describes; NULL with one line. */
const smma_instruction *smma_custom_load(const char *path, smma_error *error);

/* The instruction of a GPU, an architecture or a custom unit's file, by name; NULL with one line. */
const smma_instruction *smma_resolve_instruction(const char *on, const char *name, smma_error *error);

#endif
