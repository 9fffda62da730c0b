#include <string.h>

#include "cli/cli.h"

const smma_command smma_commands[] = {
#define SMMA_COMMAND(name, arguments, summary, examples) {#name, arguments, summary, examples, smma_command_##name},
#define SMMA_COMMAND_OF_TWO(one, two, arguments, summary, examples) \
  {#one "-" #two, arguments, summary, examples, smma_command_##one##_##two},
#define SMMA_COMMAND_GROUP(heading)
#include "cli/command.def"
#undef SMMA_COMMAND_GROUP
#undef SMMA_COMMAND_OF_TWO
#undef SMMA_COMMAND
};
const size_t smma_command_count = sizeof smma_commands / sizeof smma_commands[0];

const smma_command *smma_find_command(const char *name) {
  for (size_t i = 0; i < smma_command_count; i++)
    if (strcmp(name, smma_commands[i].name) == 0) return &smma_commands[i];
  return NULL;
}
