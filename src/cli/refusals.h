/* Options in a command's table, and errors of command lines that cannot be read. The functions smma_refuse_* print one
   line and return SMMA_EXIT_FAILED. */
#ifndef SMMA_CLI_REFUSALS_H
#define SMMA_CLI_REFUSALS_H

#include "cli/cli.h"

/* Returns the option of that long name, or NULL. */
const struct poptOption *smma_find_option(const struct poptOption *table, const char *name);

/* Reports whether the option takes a list: the text for its argument is a list, such as "GPU,...". Further uses of the
   option add elements. */
bool smma_takes_list(const struct poptOption *option);

/* Complains of an unknown option, with the known options nearest to it. One letter has no nearest. */
int smma_refuse_unknown_option(const smma_command *command, const struct poptOption *table, const char *bad);

/* Complains of an option's value, as in "--rows: 'abc'". popt reports only the value or only the option,
   so the command line is searched for both. */
int smma_refuse_value(const struct poptOption *table, int argc, const char **argv, const char *bad, int code);

/* Complains of a second target of a command that takes one. */
int smma_refuse_target(const smma_command *command, const struct poptOption *table, const char *one, const char *other);

/* Complains of the first argument of a command that multiplies files, if it is neither a file nor looks like the name
   of one: it was meant as a GPU. Otherwise returns SMMA_EXIT_EQUAL. */
int smma_refuse_unknown_gpu(const smma_command *command, const struct poptOption *on, const char *text);

/* Complains of the first argument that is neither a file nor looks like the name of one, because it was meant as
   something else, such as a misspelled target. Returns SMMA_EXIT_EQUAL if there is no such argument. */
int smma_refuse_no_file(const struct poptOption *table, const char **arguments);

/* Complains of too many arguments. */
int smma_refuse_argument(const smma_command *command, const struct poptOption *table, const char **arguments, int most);

#endif
