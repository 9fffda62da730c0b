/* Loads custom units from files. A loaded unit stays in memory until the program ends, so that a file always yields the
   same instruction. */
#ifndef SMMA_IO_CUSTOM_FILE_H
#define SMMA_IO_CUSTOM_FILE_H

#include "host/error.h"
#include "isa/instruction.h"

/* Reports whether a name that could be a GPU's is a file name: it contains a slash or ends in ".json". */
bool smma_is_custom_file(const char *name);

/* Returns the length of the first item of a list of names and custom files, whose items are separated by commas. Files
   may have "custom:" before them. If their names contain commas, smma_list_item finds their end. */
size_t smma_custom_item(const char *list);

/* Loads the unit that a file describes; returns NULL with one error line. */
const smma_instruction *smma_custom_load(const char *path, smma_error *error);

/* Finds an instruction by name on a GPU, an architecture or a custom unit's file; returns NULL with one error line. */
const smma_instruction *smma_resolve_instruction(const char *on, const char *name, smma_error *error);

#endif
